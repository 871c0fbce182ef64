# A short front for meson. Everything real is in meson.build.
#
#	make install PREFIX=/opt/kin GPROF=no DESTDIR=/tmp/package
#
# PREFIX: /usr/local unless said otherwise; GPROF=no: without the command "gprof".
BUILD ?= build
PACKAGES := $(shell sed '/^\#/d' packages.txt)
BUILD_PACKAGES := $(shell sed -n '/^\# build/,/^\# test/{/^\#/!p}' packages.txt)

SETTINGS := $(if $(PREFIX),-Dprefix=$(abspath $(PREFIX))) $(if $(GPROF),-Dgprof=$(if $(filter no false 0,$(GPROF)),false,true))

all: $(BUILD)/build.ninja
	$(if $(strip $(SETTINGS)),@meson setup --reconfigure $(BUILD) $(SETTINGS) >$(BUILD)/settings.log || { cat $(BUILD)/settings.log; exit 1; })
	ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || $(MAKE) deps-build
	meson setup $(BUILD) --buildtype=debugoptimized >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

# Installs what is missing; elsewhere than on Debian that is up to you.
deps: WANTED = $(PACKAGES)
deps-build: WANTED = $(BUILD_PACKAGES)
deps deps-build:
	@command -v dpkg-query >/dev/null || exit 0; \
	missing=$$(for p in $(WANTED); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		echo "installing $$(echo $$missing)"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; fi

# What a change breaks first: a minute.
quick: all
	test/run.sh $(BUILD) quick

# What needs no special machine.
check: deps all
	test/run.sh $(BUILD) check

# Everything, in builds of their own.
check-all: deps
	test/all.sh

demo: deps-build $(BUILD)/build.ninja
	demo/run.sh $(BUILD)

bench: all
	bench/run.sh $(BUILD)

# What other load on the machine does not change: instructions, allocations, bytes read, page faults.
bench-guard: all
	python3 bench/guard.py $(BUILD)

install: all
	meson install -C $(BUILD) --no-rebuild --quiet
	@cp $(BUILD)/meson-logs/install-log.txt $(BUILD)/installed.txt

# One tar file, which runs where it is unpacked.
dist: all
	./dist.sh $(BUILD)

# Takes away what the last "make install" of this build put there, and folders that are empty then.
uninstall:
	@[ -f $(BUILD)/installed.txt ] || { echo "nothing was installed from $(BUILD)"; exit 1; }
	@sed '/^#/d' $(BUILD)/installed.txt | while read -r f; do \
		if [ -d "$$f" ] && [ ! -L "$$f" ]; then rmdir --ignore-fail-on-non-empty "$$f"; else rm -f "$$f"; fi; done
	@rm $(BUILD)/installed.txt

clean:
	rm -rf $(BUILD)

.PHONY: all deps deps-build quick check check-all demo bench bench-guard dist install uninstall clean

# A short front for meson. Everything real is in meson.build.
BUILD ?= build
PACKAGES := $(shell sed '/^\#/d' packages.txt)

all: $(BUILD)/build.ninja
	ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || $(MAKE) deps
	meson setup $(BUILD) --buildtype=debugoptimized --optimization=3 >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

deps: # install what is missing of packages.txt; elsewhere than on Debian that is up to you
	@command -v dpkg-query >/dev/null || exit 0; \
	missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		echo "installing $$(echo $$missing)"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; fi

check: deps all
	test/run.sh $(BUILD)

demo: deps all
	demo/run.sh $(BUILD)

bench: all
	bench/run.sh $(BUILD)

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD)

.PHONY: all deps check demo bench install clean

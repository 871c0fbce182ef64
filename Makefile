# A short front for meson. Everything real is in meson.build.
BUILD ?= build
PACKAGES := $(shell sed '/^\#/d' packages.txt)
BUILD_PACKAGES := $(shell sed -n '/^\# build/,/^\# test/{/^\#/!p}' packages.txt)

all: $(BUILD)/build.ninja
	ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || $(MAKE) deps-build
	meson setup $(BUILD) --buildtype=debugoptimized --optimization=3 >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
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

check: deps all
	test/run.sh $(BUILD)

demo: deps-build all
	demo/run.sh $(BUILD)

bench: all
	bench/run.sh $(BUILD)

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD)

.PHONY: all deps deps-build check demo bench install clean

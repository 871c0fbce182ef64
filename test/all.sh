#!/bin/bash
# all.sh - "make check-all": three builds, by gcc, by clang, and with the address and undefined behaviour sanitizers, all
# with warnings as errors. Quick checks first. Every suite in the first, unit tests and fuzz corpora in each, and the
# command line under sanitizers. Logs are in build-all.
set -u
cd "$(dirname "$0")/.." || exit 2
logs=$PWD/build-all
rm -rf "$logs" && mkdir -p "$logs"
export TEST_TOTALS=$logs/totals
: >"$TEST_TOTALS"

section() {
	echo "== $* ($SECONDS s)"
}
suite() { # name command...: a driver that prints TAP
	python3 test/lib/summary.py "$1" "$logs/$1.tap" "${@:2}" || true
}
build() { # folder, compiler, options of meson
	rm -rf "$1" && CC=$2 CXX=$3 meson setup "$1" --werror "${@:4}" && ninja -C "$1" --quiet -k 0 all meson-test-prereq
}
export -f build
step() { # name command...: one point, the command works. Its output is shown if it does not
	suite "$1" bash -c '. test/lib/tap.sh; check "$@"; finish' bash "$@"
}

section packages
if ! make deps >"$logs/deps.log" 2>&1; then
	tail -n 30 "$logs/deps.log"
	echo 'the packages of packages.txt cannot be installed'
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
fi

section builds
step build-gcc bash -c 'build build-gcc gcc g++ --buildtype=debugoptimized'
step build-clang bash -c 'build build-clang clang clang++ --buildtype=debugoptimized'
step build-san bash -c \
	'build build-san gcc g++ --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false'

section "make check and what takes more"
test/run.sh build-gcc all

section other builds
test/run.sh build-clang unit fuzz
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# What libtraceevent forgets where it refuses a description.
export LSAN_OPTIONS=suppressions=$PWD/test/lib/leaks:print_suppressions=0
test/run.sh build-san unit fuzz golden cli cases
suite install test/check/install.sh "$PWD" build-clang

section total
python3 test/lib/summary.py --total

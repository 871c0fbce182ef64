#!/bin/sh
# bench/unwind/run.sh BUILD: programs in C, C++ and Rust (if there is a compiler), built with -O2,
# sampled with copies of their stacks; kin's unwinder and libdw walk the same copies in one run.
build=${1:?usage: $0 BUILD}
here=$(dirname "$0")
ninja -C "$build" --quiet test/unwind_compare test/unwind_work || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
run() { # name, program ...
	echo "$1"
	shift
	"$build/test/unwind_compare" "$@" || exit 1
}
cc -O2 -w -pthread "$here/work.c" -Wl,-z,lazy -o "$work/c" && run 'C, gcc -O2' "$work/c" 2
clang -O2 -w -pthread "$here/work.c" -o "$work/clang" && run 'C, clang -O2' "$work/clang" 2
c++ -O2 "$here/work.cc" -o "$work/cc" && run 'C++, g++ -O2' "$work/cc" 2
if command -v rustc >/dev/null; then
	rustc -O -o "$work/rs" "$here/work.rs" && run 'Rust, rustc -O' "$work/rs" 2
fi
run 'python3' --stack=65528 python3 -c 'print(len(sorted(str(i) for i in range(2000000))))' | grep -v '^[0-9]*$'

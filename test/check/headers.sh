#!/bin/sh
# Every header includes what it needs: it compiles alone, in the public case without src/.
cd "$1" || exit 1
. test/lib/tap.sh

alone() { # header, compiler options
	header=$1
	shift
	echo "#include \"$header\"" | ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror \
		-Wno-unused-function -fsyntax-only -x c "$@" -
}
alone_cxx() { # header, compiler options
	header=$1
	shift
	echo "#include \"$header\"" | ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only -x c++ "$@" -
}
try() { check "$1 compiles alone" alone "$@"; }

for h in include/kin/*.h; do
	try "${h#include/}" -Iinclude
done
for h in src/*/*.h; do
	try "${h#src/}" -Isrc -Iinclude
done
for h in runtime/*.h runtime/$(uname -m)/*.h; do
	check "$h compiles alone" alone "${h#runtime/}" -Iruntime "-Iruntime/$(uname -m)" -Isrc -Iinclude
done
# The installed headers also compile as C++.
for h in kin/kin.h kin/samples.h kin/table.h kinrt.h; do
	check "$h compiles as C++" alone_cxx "$h" -Iinclude -Iruntime
done
finish

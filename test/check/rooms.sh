#!/bin/sh
# rooms.sh ROOT - only src/gnu knows where GNU's gprof behaves differently: the stages take rules and do
# not ask whose they are (doc/design.md).
cd "$1" || exit 1
. test/lib/tap.sh

# Lines of code that name it, in a field, a parameter or a function; words in comments and strings are no code.
names_it() {
	! sed -E 's|"([^"\\]\|\\.)*"||g; s|/\*.*\*/||; s|^ ?\* .*||; s|/\*.*||' "$1" |
		grep -nE '\b(gnu|compat)\b|\berr_gnu|[a-z]_gnu\b|\bgnu_[a-z]' | grep -vE '#include|elf_compress_gnu'
}
for f in $(grep -rlE 'gnu|compat' src include/kin --include='*.[ch]' | grep -v '^src/gnu/' | sort); do
	check "$f does not ask for GNU's gprof" names_it "$f"
done
finish

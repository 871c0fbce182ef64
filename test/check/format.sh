#!/bin/sh
# format.sh ROOT [--fix] - every C file is laid out as .clang-format says. Golden cases are data and
# stay as they are.
cd "$1" || exit 1
. test/lib/tap.sh
files=$(git ls-files -co --exclude-standard '*.c' '*.h' 2>/dev/null ||
	find include runtime src test bench -name '*.[ch]')
files=$(printf '%s\n' $files | grep -v '^test/cases/')
if ! command -v clang-format >/dev/null; then
	skip "layout of C files" "no clang-format"
	finish
fi
if [ "${2:-}" = --fix ]; then
	clang-format -i $files
	exit
fi
# All at once: to start clang-format takes longer than to read a file. File by file to say which one is wrong.
if clang-format --dry-run -Werror $files 2>/dev/null; then
	one=true
else
	one='clang-format --dry-run -Werror'
fi
for f in $files; do
	check "layout of $f" $one "$f"
done
finish

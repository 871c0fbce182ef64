#!/bin/sh
# silent.sh ROOT - the library neither prints nor ends the program it is part of: errors are returned, text goes where
# the caller says. Commands, the terminal, gprof and kin-mpi are programs.
cd "$1" || exit 1
. test/lib/tap.sh

# Lines of code that do; words in comments and strings are no code.
prints_or_exits() {
	! sed -E 's|"([^"\\]\|\\.)*"||g; s|/\*.*\*/||; s|^ ?\* .*||; s|/\*.*||' "$1" |
		grep -nE '\b(_?_?exit|_Exit|quick_exit|abort|assert|v?printf|puts|putchar|perror)\(|\bstd(out|err)\b|STD(OUT|ERR)_FILENO'
}
# Exceptions: out of memory outside of guarded calls (base/guard.h); a child that could not execute the program.
allowed='^src/(base/base|record/target)\.c$'
for f in $(grep -lE 'exit|abort|assert|printf|puts|putchar|perror|std(out|err)|STD' src/*/*.[ch] src/*/*/*.[ch] |
	grep -vE '^src/(cli|tui|gnu|mpi)/|^src/fleet/cmd_' | grep -vE "$allowed"); do
	check "$f neither prints nor exits" prints_or_exits "$f"
done
finish

#!/bin/sh
# openings.sh ROOT - every C file of ours opens with a comment that says what it is.
cd "$1" || exit 1
. test/lib/tap.sh

opens_with_a_comment() { # file: words in its first line; a file name among the first is its own
	head -1 "$1" | awk -v own="$(basename "$1")" '
		!/^\/\* [^ ]+ [^ ]+ [^ ]+/ { print; exit 1 }
		$3 == "-" && $2 != own { print; exit 1 }'
}
for f in src/*/*.[ch] src/*/*/*.[ch] runtime/*.[ch] include/kin/*.h; do
	[ -e "$f" ] && check "$f opens with what it is" opens_with_a_comment "$f"
done
finish

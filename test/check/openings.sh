#!/bin/sh
# openings.sh ROOT - every C file of ours opens with a comment that says what it is, and has a file name of its own. Tags of
# structs, unions and enums are unique, too. No function is called run or add alone: its name says what it runs or adds.
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
# A folder per machine holds the same files by the same names.
twice=$(for f in src/*/*.[ch] src/*/*/*.[ch] runtime/*.[ch] include/kin/*.h; do basename "$f"; done | sort | uniq -d)
check "no two files have one name${twice:+: $twice}" [ -z "$twice" ]
twice=$(grep -EHo '^(struct|union|enum) [a-z0-9_]+ \{' src/*/*.[ch] src/*/*/*.[ch] runtime/*.[ch] include/kin/*.h |
	sed 's/^.*:[a-z]* \(.*\) {/\1/' | sort | uniq -d | tr '\n' ' ')
check "no two structs have one tag${twice:+: $twice}" [ -z "$twice" ]
bare=$(grep -EHo '^(static )?[a-z_][a-z0-9_ *]*\b(run|add)\(' src/*/*.[ch] src/*/*/*.[ch] runtime/*.[ch] include/kin/*.h | tr '\n' ' ')
check "no function is called run or add alone${bare:+: $bare}" [ -z "$bare" ]
finish

#!/bin/sh
# design.sh ROOT - doc/design.md's list of folders is that of the tree and of test/check/layers, and the files that
# design.md, CONTRIBUTING.md and README.md name are there. doc/ has at most 20 pages, and each begins with whom it is for.
cd "$1" || exit 1
. test/lib/tap.sh

# The lines "src/base/   errors, ..." of the list.
listed() { sed -n '/^## Folders/,/^## /p' doc/design.md | grep -oE '^(src/[a-z]+|runtime|test|bench)/' | sort; }
layered() { sed '/^#/d; s/:.*//; s|.*|src/&/|' test/check/layers | sort; }
there() { find src -mindepth 1 -maxdepth 1 -type d | sed 's|$|/|' | sort; }
are_equal() { # two lists
	[ "$1" = "$2" ] || { printf '%s\n--- is not ---\n%s\n' "$1" "$2"; return 1; }
}
described() { listed | grep '^src/'; }

# Paths in backquotes and links that begin with one of our folders.
named_in() { # page
	grep -oE '`[A-Za-z_./-]+`|\]\([A-Za-z_./-]+\)' "$1" | tr -d '`()]' |
		grep -E '^(src|runtime|include|test|doc|bench|demo)/|^[A-Z]+(\.md)?$' | grep -E '[./]' | sort -u
}
# "profile/filter": below src. A file without its folder is not checked.
short_names_in() { # page
	grep -oE '`[a-z]+/[a-z_]+(\.[ch])?`' "$1" | tr -d '`' | grep -vE '^(src|runtime|include|test|doc|bench|demo)/' | sort -u
}
is_there() { [ -e "$1" ]; }
is_below_src() { # src/profile/filter: a file with either ending, or a folder
	for f in "src/$1" "src/$1.c" "src/$1.h" "include/$1"; do
		[ -e "$f" ] && return 0
	done
	return 1
}

check 'the folders of doc/design.md are those of src/' are_equal "$(described)" "$(there)"
check 'the modules of test/check/layers are those of src/' are_equal "$(layered)" "$(there)"
for page in doc/design.md CONTRIBUTING.md README.md doc/unwind.md test/README.md; do
	for path in $(named_in "$page"); do
		check "$page: $path is there" is_there "$path"
	done
done
says_for_whom() { sed -n 3,4p "$1" | grep -q '^For ' || { sed -n 3,4p "$1"; return 1; }; }
for page in doc/*.md; do
	check "$page says whom it is for" says_for_whom "$page"
done
check 'doc/ has at most 20 pages' [ "$(ls doc/*.md doc/*.1 | wc -l)" -le 20 ]
for page in doc/design.md CONTRIBUTING.md; do
	for path in $(short_names_in "$page"); do
		check "$page: $path is there" is_below_src "$path"
	done
done
finish

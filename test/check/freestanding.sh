#!/bin/sh
# The core of src/unwind also runs in signal handlers of other people's programs: it includes
# freestanding headers and itself only, and optimised as the runtime is it calls nothing else.
cd "$1" || exit 1
. test/lib/tap.sh
core='cfi cfi_expr cfi_run step'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

includes() { # of the core, and of what it includes
	for f in $(cd src/unwind && ls $(for c in $core; do echo "$c.c $c.h"; done) \
			cfi_private.h cursor.h row.h step_inline.h 2>/dev/null); do
		sed -n 's/^#include *//p' "src/unwind/$f"
	done | sort -u | grep -v -e '^<std\(int\|bool\|def\)\.h>$' \
		-e '^"unwind/\(cfi\|cfi_expr\|cfi_private\|cursor\|row\|step\|step_inline\)\.h"$'
}
no_other_includes() { ! includes | sed 's/^/# /' | grep .; }

calls() { # what is undefined in one and not defined in another of them
	for f in $core; do
		${CC:-cc} -std=gnu11 -O2 -Isrc -Wall -Wextra -Werror -ffreestanding -fno-builtin \
			-fno-stack-protector -mgeneral-regs-only -fPIC -c "src/unwind/$f.c" \
			-o "$work/$f.o" || echo "$f does not compile"
	done
	nm -g "$work"/*.o | awk 'NF == 2 && $1 == "U" { wanted[$2] } NF == 3 { have[$3] }
		END { for (s in wanted) if (!(s in have) && s != "_GLOBAL_OFFSET_TABLE_") print s }'
}
no_calls() { ! calls | sed 's/^/# /' | grep .; }
no_data() { ! nm "$work"/*.o | grep -i ' [bdc] ' | sed 's/^/# /' | grep .; }

check 'the core includes freestanding headers only' no_other_includes
check 'the core calls nothing but itself' no_calls
check 'the core has no variables' no_data
finish

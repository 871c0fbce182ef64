#!/bin/sh
# The core of src/unwind also runs in signal handlers of other people's programs: it includes
# freestanding headers and itself only, and optimised as the runtime is it calls nothing else.
cd "$1" || exit 1
. test/lib/tap.sh
core='unwind/cfi unwind/cfi_expr unwind/cfi_run unwind/step machine/x86_64 machine/aarch64 machine/riscv64'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

includes() { # of the core, and of the headers that it includes
	for f in $(cd src && ls $(for c in $core; do echo "$c.c $c.h"; done) unwind/cfi_private.h \
			unwind/row.h unwind/step_inline.h machine/machine.h 2>/dev/null); do
		sed -n 's/^#include *//p' "src/$f"
	done | sort -u | grep -v -e '^<std\(int\|bool\|def\)\.h>$' -e '^<elf\.h>$' -e '^"machine/machine\.h"$' \
		-e '^"unwind/\(cfi\|cfi_expr\|cfi_private\|row\|step\|step_inline\)\.h"$' -e '^"base/bytes\.h"$'
}
no_other_includes() { ! includes | sed 's/^/# /' | grep .; }

calls() { # symbols that are undefined in one object and not defined in another
	for f in $core; do
		${CC:-cc} -std=gnu11 -O2 -Isrc -Wall -Wextra -Werror -ffreestanding -fno-builtin \
			-fno-stack-protector -mgeneral-regs-only -fPIC -c "src/$f.c" \
			-o "$work/${f#*/}.o" || echo "$f does not compile"
	done
	nm -g "$work"/*.o | awk 'NF == 2 && $1 == "U" { wanted[$2] } NF == 3 { have[$3] }
		END { for (s in wanted) if (!(s in have) && s != "_GLOBAL_OFFSET_TABLE_") print s }'
}
no_calls() { ! calls | sed 's/^/# /' | grep .; }
# Constants that point to functions are data until the loader has written them.
no_data() {
	! nm -f sysv "$work"/*.o | awk -F'|' '$3 ~ /[bBdDcC]/ && $7 !~ /^\.data\.rel\.ro/ { print "# " $1 }' | grep .
}

check 'the core includes freestanding headers only' no_other_includes
check 'the core calls nothing but itself' no_calls
check 'the core has no variables' no_data
finish

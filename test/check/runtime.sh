#!/bin/sh
# runtime.sh ROOT LIBKINRT.so LIBKINRT.a - the runtime needs only the listed symbols, offers only what it
# documents, and includes nothing of ours but include/kin/format.h, base/job.h, src/unwind and src/machine.
cd "$1" || exit 1
. test/lib/tap.sh

undefined() { # library: name, and "weak" if it is
	nm -D --undefined-only "$1" | awk '{ sub("@.*", "", $2); print $2 ($1 == "w" ? " weak" : "") }' | sort -u
}
needs_only_listed() { # all, weak or not; and nothing listed as weak is needed
	undefined "$1" | awk 'NR == FNR { if (!/^#/) ok[$0] = 1; next } !($0 in ok) { print; bad = 1 } END { exit bad }' \
		test/check/runtime-symbols -
}
offers_only() { # names that it may define
	nm -D --defined-only "$1" | awk '$2 !~ /[aA]/ { sub("@.*", "", $3); print $3 }' |
		grep -vxE 'kinrt_[a-z]+|_?mcount|__fentry__|__cyg_profile_func_(enter|exit)|(__)?monstartup|_mcleanup|(__)?moncontrol|_exit|_Exit|dlclose|prctl|syscall|f?exec(v|ve|vp|vpe|veat|l|lp|le)|pthread_create|pthread_setname_np|thrd_create|_Fork|clone|sigaction|(bsd_|s|(__)?sysv_)?signal|sigset|sigpending|sigwait|sigwaitinfo|sigtimedwait|sigsuspend|signalfd|ppoll|__ppoll_chk|pselect|epoll_pwait2?' && return 1
	return 0
}
no_vectors() { # in the hooks and the functions they call; xsave protects the program's vector registers from other code
	objdump -d "$1" | grep -E '%[xyz]mm' | head -20 | grep . && return 1
	return 0
}
includes_nothing_else() {
	grep -hE '^#include "' runtime/*.[chS] runtime/*/*.[chS] | sort -u | grep -vE '"(kinrt|rt|rt_machine|sys|[a-z]+)\.h"|"(unwind|machine)/|"base/job\.h"' && return 1
	return 0
}

check 'libkinrt.so needs only the listed symbols' needs_only_listed "$2"
check 'libkinrt.so defines only what it documents' offers_only "$2"
case $(objdump -f "$2") in
*x86-64*) check 'libkinrt.so uses no vector register' no_vectors "$2" ;;
esac
check 'libkinrt.a has no vector register either' no_vectors "$3"
check 'runtime/ includes only its own, format.h, base/job.h, src/unwind and src/machine' includes_nothing_else
finish

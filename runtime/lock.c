#include "rt.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

enum { LOCK_TRIES = 300 };

/* The holder may have been killed: it can be a child of vfork. */
static bool is_dead(uint32_t tid) { return tid && SYS2(tkill, tid, 0) == -ESRCH; }

bool rt_lock(uint64_t *mask)
{
	static const uint64_t all = UINT64_MAX;
	const struct timespec pause = { .tv_nsec = 10000000 };
	uint32_t me = 1;

	*mask = 0;
	if (!rt.silent) {
		SYS4(rt_sigprocmask, SIG_SETMASK, &all, mask, 8);
		me = (uint32_t)SYS0(gettid);
	}
	for (int i = 0; i < LOCK_TRIES; i++) {
		uint32_t holder = 0;

		if (atomic_compare_exchange_strong(&rt.lock, &holder, me))
			return true;
		if (rt.silent)
			continue;
		atomic_fetch_add(&rt.waiting, 1);
		SYS4(futex, &rt.lock, FUTEX_WAIT_PRIVATE, holder, &pause);
		atomic_fetch_sub(&rt.waiting, 1);
		if (i > 10 && is_dead(holder) &&
		    atomic_compare_exchange_strong(&rt.lock, &holder, me))
			return true;
	}
	if (!rt.silent)
		SYS4(rt_sigprocmask, SIG_SETMASK, mask, NULL, 8);
	return false;
}

void rt_unlock(uint64_t mask)
{
	atomic_store(&rt.lock, 0);
	if (rt.silent)
		return;
	if (atomic_load(&rt.waiting))
		SYS3(futex, &rt.lock, FUTEX_WAKE_PRIVATE, 1);
	SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

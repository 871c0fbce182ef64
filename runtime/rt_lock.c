/* rt_lock.c - the runtime's only lock, held with signals blocked. A dead holder's lock is taken
 * over. */
#include "rt.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

/* Waiters are woken when the lock is released. Their own checks become rarer, so that hundreds of
 * threads do not slow down a slow holder (a full disk, a debugger) any further. */
enum {
	FIRST_MS = 10,
	LONGEST_MS = 320,
	PATIENCE_MS = 3000, /* ms that all waits without being woken may take */
	TRIES = 3000,       /* attempts; a bound for a lock that always passes on to somebody
			       else */
};

/* The holder may have been killed, for example if it was a child of vfork. */
static bool is_dead(uint32_t tid) { return tid && SYS2(tkill, tid, 0) == -ESRCH; }

static bool waits_in_vain(uint32_t holder, int ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000L };
	long err;

	atomic_fetch_add(&rt.waiting, 1);
	err = SYS4(futex, &rt.lock, FUTEX_WAIT_PRIVATE, holder, &pause);
	atomic_fetch_sub(&rt.waiting, 1);
	return err == -ETIMEDOUT;
}

/* With signals blocked. */
static bool take(uint32_t me)
{
	int pause = FIRST_MS, waited = 0;

	for (int i = 0; i < TRIES && waited < PATIENCE_MS; i++) {
		uint32_t holder = 0;

		if (atomic_compare_exchange_strong(&rt.lock, &holder, me))
			return true;
		if (rt.silent || !waits_in_vain(holder, pause))
			continue;
		if (is_dead(holder) && atomic_compare_exchange_strong(&rt.lock, &holder, me))
			return true;
		waited += pause;
		pause = pause < LONGEST_MS ? 2 * pause : pause;
	}
	return false;
}

bool rt_lock(uint64_t *mask)
{
	static const uint64_t all = ~RT_BUS;
	uint32_t me = 1;

	*mask = 0;
	if (!rt.silent) {
		SYS4(rt_sigprocmask, SIG_SETMASK, &all, mask, 8);
		me = (uint32_t)SYS0(gettid);
	}
	if (take(me))
		return true;
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

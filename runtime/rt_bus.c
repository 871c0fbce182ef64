/* rt_bus.c - survives truncation of the mapped file.
 *
 * If somebody truncates the file, the next access beyond its end raises SIGBUS. The program must
 * not die because of our file. So there is a handler, from the first mapping on: it replaces the
 * file by memory and ends collecting. Any other SIGBUS has the effect that it has without us. The
 * program sees and sets its own action, which is kept here.
 *
 * A thread that blocks SIGBUS is killed all the same, because the kernel then calls no handler. So
 * we never block it ourselves. A SIGBUS that is sent during a critical section waits until that
 * section ends. */
#include "rt.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

static const uint64_t bit = (uint64_t)1 << (SIGBUS - 1);

/* One is in use while the other is written. */
static struct rt_action program[2];
static _Atomic unsigned current;
static bool handled;

static void on_bus(int sig, siginfo_t *info, void *context);

static const struct rt_action *theirs(void) { return &program[current % 2]; }

static void set_theirs(const struct rt_action *a)
{
	program[(current + 1) % 2] = *a;
	current++;
}

static bool is_default(const struct rt_action *a) { return !a->handler; }
static bool is_ignored(const struct rt_action *a)
{
	return (uintptr_t)a->handler == (uintptr_t)SIG_IGN;
}

/* Sets the action that the kernel gets when the program has set `a`. It differs in the handler, and
 * it blocks all signals: the sampling signal would access the truncated file, and a second SIGBUS
 * in this handler kills the thread. */
static long install(const struct rt_action *a)
{
	struct rt_action own = *a;

	if (is_ignored(a))
		return SYS4(rt_sigaction, SIGBUS, a, NULL, 8);
	if (is_default(a))
		own = (struct rt_action){ .flags = SA_RESTART };
	own.handler = on_bus;
	own.mask = ~(uint64_t)0;
	own.flags = (own.flags & ~(unsigned long)SA_RESETHAND) | SA_SIGINFO;
	return rt_action_set(SIGBUS, &own);
}

/* ---- SIGBUS from a truncated file ---- */

static bool is_in_file(uint64_t addr)
{
	for (uint32_t i = 0; i < rt.n_extents; i++)
		if (rt.extent[i].in_file && addr - (uint64_t)rt.extent[i].at < rt.extent[i].size)
			return true;
	return false;
}

/* Writes the error into the header, if the file still has its first page. */
static void tell(void)
{
	static const char what[] = "the file was truncated while the program ran";
	struct stat st;

	if (rt.fd < 0 || SYS2(fstat, rt.fd, &st) || st.st_ino != rt.ino || st.st_dev != rt.dev ||
	    st.st_size < KINF_PAGE)
		return;
	SYS4(pwrite64, rt.fd, what, sizeof(what), offsetof(struct kinf_header, error));
}

/* Replaces the file by memory, in the first thread that gets here; false: no memory. */
static bool replace(void)
{
	rt.full = true;
	rt.sampling.on = false;
	atomic_store(&rt.state, RT_OFF);
	rt_on();
	tell();
	for (uint32_t i = 0; i < rt.n_extents; i++) {
		const struct rt_extent *e = &rt.extent[i];
		long m = SYS6(mmap, e->at, e->size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

		if (e->in_file && m < 0 && m > -4096)
			return false;
	}
	return true;
}

/* A thread that comes while another one replaces the file retries its access. */
static bool mend(void)
{
	static rt_flag begun;

	if (atomic_exchange(&begun, 1)) {
		SYS0(sched_yield);
		return true;
	}
	return replace();
}

/* ---- any other SIGBUS ---- */

/* A SIGBUS that was sent while we hold the lock or take a sample: delivers it afterwards, as if it
 * had been blocked. */
static void postpone(const siginfo_t *info, ucontext_t *context)
{
	uint64_t mask;

	__builtin_memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	mask |= bit;
	__builtin_memcpy(&context->uc_sigmask, &mask, sizeof(mask));
	SYS4(rt_tgsigqueueinfo, rt.pid, SYS0(gettid), SIGBUS, info);
}

/* Restores the default action. A bad access is then repeated and ends the process; a signal that
 * was sent is sent again. */
static void by_default(const siginfo_t *info)
{
	static const struct rt_action none;

	SYS4(rt_sigaction, SIGBUS, &none, NULL, 8);
	if (info->si_code <= 0)
		SYS3(tgkill, SYS0(getpid), SYS0(gettid), SIGBUS);
}

/* Blocks the signals that the kernel would have blocked for the program's handler. */
static void block_as_theirs(const struct rt_action *a, const ucontext_t *context)
{
	uint64_t mask;

	__builtin_memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	mask |= a->mask | (a->flags & SA_NODEFER ? 0 : bit);
	SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	const struct rt_action *a = theirs();
	bool sent = info->si_code <= 0;
	rt_handler *handler;

	if (!sent && is_in_file((uint64_t)info->si_addr) && mend())
		return;
	if (sent && (rt_tls.sampling || rt.lock == (uint32_t)SYS0(gettid))) {
		postpone(info, context);
		return;
	}
	if (is_default(a)) {
		by_default(info);
		return;
	}
	block_as_theirs(a, context);
	handler = a->handler;
	if (a->flags & SA_RESETHAND)
		set_theirs(&(struct rt_action){ .flags = a->flags, .mask = a->mask });
	handler(sig, info, context);
}

/* ---- interface ---- */

void rt_bus_init(void)
{
	struct rt_action old;

	if (handled || rt_action_get(SIGBUS, &old))
		return;
	set_theirs(&old);
	handled = !is_ignored(&old) && !install(&old);
}

/* In a child of vfork only the kernel's action changes: it shares our memory, but has its own
 * actions. */
bool rt_bus_action(const struct rt_action *act, struct rt_action *old)
{
	struct rt_action now;

	if (!handled || rt.silent || rt_action_get(SIGBUS, &now) ||
	    (now.handler != on_bus && !(is_ignored(&now) && is_ignored(theirs()))))
		return false;
	if (old)
		*old = *theirs();
	if (!act)
		return true;
	if ((uint32_t)SYS0(getpid) != rt.pid)
		return !SYS4(rt_sigaction, SIGBUS, act, NULL, 8);
	set_theirs(act);
	return !install(act);
}

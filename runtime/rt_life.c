/* rt_life.c - beginning and end of the runtime in a process: start, fork, exec, exit and crash. */
#include "kinrt.h"
#include "rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/job.h"

struct rt rt __attribute__((visibility("hidden"))) = { .fd = -1 };
union rt_gate rt_gate __attribute__((aligned(RT_PAGE), visibility("hidden")));

/* Functions of libc; some C libraries lack some of them. */
extern int on_exit(void (*f)(int, void *), void *) __attribute__((weak));
extern int __cxa_at_quick_exit(void (*f)(void *), void *) __attribute__((weak));
extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
			     void *) __attribute__((weak));

/* ---- vector registers ---- */

static void init(void *unused)
{
	(void)unused;
	rt_init();
}

/* `area` belongs to this call alone. */
static void call_saved(uint8_t area[RT_VECTORS], void (*f)(void *), void *arg)
{
	uint32_t mask = vectors_save(area);

	f(arg);
	vectors_load(area, mask);
}

void rt_call_saved(void (*f)(void *), void *arg)
{
	static uint8_t area[RT_VECTORS] __attribute__((aligned(64)));

	call_saved(area, f, arg);
}

/* Several threads may find that the runtime has not begun; only one begins it. */
static void init_saved(void)
{
	uint8_t area[RT_VECTORS] __attribute__((aligned(64)));

	call_saved(area, init, NULL);
}

/* ---- the beginning ---- */

/* The length of a path without the mark that the kernel appends if the file has no name any
 * more. */
static size_t without_mark(const char *exe, size_t n)
{
	static const char mark[] = " (deleted)";
	size_t size = sizeof(mark) - 1;
	struct stat st;

	if (n <= size || !text_equal(exe + n - size, mark) ||
	    SYS4(newfstatat, AT_FDCWD, "/proc/self/exe", &st, 0) || st.st_nlink)
		return n;
	return n - size;
}

static void own_names(void)
{
	long n = SYS4(readlinkat, AT_FDCWD, "/proc/self/exe", rt.exe, sizeof(rt.exe) - 1);

	if (n <= 0) { /* no /proc */
		struct text t = { .at = rt.exe, .size = sizeof(rt.exe) };

		text_add(&t, (const char *)getauxval(AT_EXECFN));
		n = (long)t.used;
	}
	rt.exe[n] = 0;
	rt.exe[without_mark(rt.exe, (size_t)n)] = 0;
	n = SYS2(getcwd, rt.cwd, sizeof(rt.cwd));
	if (n <= 0 || rt.cwd[0] != '/')
		rt.cwd[0] = 0;
}

static void find_standard_error(void)
{
	struct stat st = { 0 };

	SYS2(fstat, 2, &st);
	rt.err_dev = st.st_dev;
	rt.err_ino = st.st_ino;
}

static const char *env(const char *name)
{
	size_t n = text_size(name);

	for (char **e = environ; e && *e; e++) {
		size_t i = 0;

		while (i < n && (*e)[i] == name[i])
			i++;
		if (i == n && (*e)[i] == '=')
			return *e + i + 1;
	}
	return NULL;
}

/* Copies the program's string at `at`, which may be a bad address; false if it cannot be read. */
static bool peek_text(uint64_t at, char *to, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		size_t part = RT_PAGE - ((at + n) & (RT_PAGE - 1));

		if (part > size - 1 - n)
			part = size - 1 - n;
		if (!rt_peek(at + n, to + n, part))
			break;
		for (; part--; n++)
			if (!to[n])
				return true;
	}
	to[n] = 0;
	return n + 1 == size;
}

static bool has_runtime(const char *libraries)
{
	static const char name[] = "libkinrt.so";

	for (const char *s = libraries; *s; s++) {
		size_t i = 0;

		while (name[i] && s[i] == name[i])
			i++;
		if (!name[i])
			return true;
	}
	return false;
}

/* Whether that environment, perhaps a bad address, certainly lacks the runtime. */
static bool lacks_runtime(char *const *envp)
{
	static const char name[] = "LD_PRELOAD=";
	uint64_t at = 0;
	char text[1024];

	for (; envp; envp++) {
		if (!rt_peek((uint64_t)envp, &at, sizeof(at)) ||
		    (at && !peek_text(at, text, sizeof(name))))
			return false;
		if (!at)
			return true;
		if (text_equal(text, name))
			return peek_text(at + sizeof(name) - 1, text, sizeof(text)) &&
			       text_size(text) + 1 < sizeof(text) && !has_runtime(text);
	}
	return true;
}

static void keep_gmon_prefix(void)
{
	struct text t = { .at = rt.gmon_prefix, .size = sizeof(rt.gmon_prefix) };
	const char *prefix = env("GMON_OUT_PREFIX");

	rt.gmon_prefixed = prefix;
	if (prefix)
		text_add(&t, prefix);
}

static void find_job(void)
{
	struct job job = job_find(env);
	struct text t = { .at = rt.job, .size = sizeof(rt.job) };

	rt.rank = job.rank;
	rt.ranks = job.ranks;
	text_add(&t, job.id ? job.id : "");
	text_add(&t, job.step ? "." : "");
	text_add(&t, job.step ? job.step : "");
}

static void open_gate(void)
{
	/* The kernel wipes the gate in forked children. Older kernels do not; there the fork
	 * handler does it. */
	SYS3(madvise, &rt_gate, sizeof(rt_gate), MADV_WIPEONFORK);
	__atomic_store_n(&rt_gate.alive, 1, __ATOMIC_RELEASE);
	rt_on();
}

void rt_init(void)
{
	static _Atomic uint32_t once;
	uint32_t unused = 0;
	int err = errno;
	bool off;

	if (!atomic_compare_exchange_strong(&once, &unused, 1))
		return;
	rt.pid = (uint32_t)SYS0(getpid);
	rt.ppid = (uint32_t)SYS0(getppid);
	if (getauxval(AT_SECURE)) /* the process has more privileges than its user, so it takes no
				     settings */
		rt_options_read(&rt.options, "start=off,gmon=off,arcs=off");
	else
		rt_options_read(&rt.options, env("KIN_OPTIONS"));
	own_names();
	find_standard_error();
	rt.preloaded = env("LD_PRELOAD") && has_runtime(env("LD_PRELOAD"));
	keep_gmon_prefix();
	find_job();
	off = !rt_modules_init() || getauxval(AT_SECURE);
	if (!off)
		rt_sample_init();
	rt.paused = !rt.options.start;
	atomic_store(&rt.state, off ? RT_OFF : RT_READY);
	open_gate();
	errno = err;
}

void rt_on(void)
{
	bool on = rt.state == RT_STARTED && !rt.paused;

	rt.latency.run += !on;
	__atomic_store_n(&rt_gate.latency, on && rt.latency.ns_x2_32, __ATOMIC_RELEASE);
	__atomic_store_n(&rt_gate.tls,
			 on ? (uint64_t)&rt_tls - (uint64_t)__builtin_thread_pointer() + 1 : 0,
			 __ATOMIC_RELEASE);
}

/* ---- a forked child ---- */

static void begin_anew(void)
{
	rt.forked = true;
	if (rt.silent) { /* not even getpid() is allowed */
		rt.header = NULL;
		rt.n_extents = 0;
		atomic_store(&rt.state, RT_OFF);
		return;
	}
	rt.ppid = rt.pid;
	rt.pid = (uint32_t)SYS0(getpid);
	atomic_store(&rt.lock, 0);
	atomic_store(&rt.waiting, 0);
	rt_file_drop();
	rt_threads_drop();
	rt_python_forked();
	rt_sample_drop();
	rt.module_block = rt.info_block = NULL;
	rt.retired = rt.retired_latencies = NULL;
	rt.twice = NULL;
	rt.n_modules = 0;
	rt.epoch = 0;
	rt.gmon_calls = 0;
	rt.gmon_anew = false;
	for (struct rt_module *m = rt.all; m; m = m->older) {
		m->record = NULL;
		m->first_id = 0;
	}
	if (rt.state == RT_STARTED)
		rt.state = RT_READY;
}

/* Whether this is still the process that set the gate. Only one thread can get here first, because
 * fork copies one thread. */
static bool same_process(void)
{
	uint32_t wiped = 0;

	if (__atomic_load_n(&rt_gate.alive, __ATOMIC_ACQUIRE) == 1)
		return true;
	if (!__atomic_compare_exchange_n(&rt_gate.alive, &wiped, 2, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return wiped == 1;
	begin_anew();
	__atomic_store_n(&rt_gate.alive, 1, __ATOMIC_RELEASE);
	return true;
}

void rt_forked(void)
{
	rt_gate.tls = 0;
	rt_gate.alive = 0;
	same_process();
	rt_sample_forked();
}

bool rt_ready(void)
{
	uint64_t mask;

	if (rt.state == RT_NEW) {
		if (!environ || !rt_has_tls()) /* the C library itself has not begun */
			return false;
		init_saved();
	}
	if (rt.state == RT_OFF || rt.state == RT_NEW || !same_process() || rt.paused)
		return false;
	if (rt.state == RT_STARTED)
		return true;
	if (!rt_lock(&mask))
		return false;
	if (rt.state == RT_READY) {
		atomic_store(&rt.state, rt_file_start() ? RT_STARTED : RT_OFF);
		if (rt.header)
			rt_sample_file();
		rt_on();
	}
	rt_unlock(mask);
	rt_latency_start();
	return rt.state == RT_STARTED;
}

/* ---- the end ---- */

void rt_finish(enum kinf_end end, uint64_t detail)
{
	uint64_t mask;

	if (rt.state != RT_STARTED || __atomic_load_n(&rt_gate.alive, __ATOMIC_ACQUIRE) != 1 ||
	    rt.silent)
		return;
	/* a child of vfork does not end this process */
	if ((uint32_t)SYS0(getpid) != rt.pid)
		return;
	rt_sample_own(true);
	rt_sample_finish();
	rt_gmon_write();
	if (rt_lock(&mask)) {
		rt_threads_name();
		rt_unlock(mask);
	}
	/* exit() may end by calling our _exit() */
	if (end != KINF_RUNNING && !(end == KINF_EXITED_AT_ONCE && rt.header->end == KINF_EXITED)) {
		rt.header->end_ns = rt_now_ns(CLOCK_MONOTONIC);
		rt.header->end_detail = detail;
		rt.header->end = end;
	}
	rt_file_finish();
	rt_sample_own(false);
}

/* Whether this process has a file that must record its end. A child of vfork has none, nor has a
 * forked child that counted nothing. */
static bool has_end(void)
{
	return rt.state == RT_STARTED && !rt.silent && same_process() &&
	       (uint32_t)SYS0(getpid) == rt.pid && rt.header;
}

void rt_exec(const char *program, char *const *envp)
{
	struct kinf_header *h;

	if (!rt.silent)
		rt_sample_exec(true);
	if (!has_end())
		return;
	rt_sample_finish();
	h = rt.header;
	if (!peek_text((uint64_t)program, h->became, sizeof(h->became)))
		h->became[0] = 0;
	h->end_detail = rt.preloaded && lacks_runtime(envp) ? KINF_EXEC_WITHOUT : 0;
	h->end_ns = rt_now_ns(CLOCK_MONOTONIC);
	h->end = KINF_EXECED;
}

void rt_exec_failed(void)
{
	if (!rt.silent)
		rt_sample_exec(false);
	if (!has_end())
		return;
	rt.header->end = KINF_RUNNING;
	rt.header->end_ns = 0;
	rt.header->end_detail = 0;
	rt.header->became[0] = 0;
}

static void at_exit(int status, void *unused)
{
	int err = errno;

	(void)unused;
	rt_finish(KINF_EXITED, (uint64_t)(status & 255));
	errno = err;
}

static void at_quick_exit_(void *unused)
{
	(void)unused;
	rt_finish(KINF_EXITED_AT_ONCE, 0);
}

__attribute__((constructor(101))) static void begin(void)
{
	rt_init();
	rt_intercept_init();
	rt_clone_init();
	rt_python_init();
	if (rt.state == RT_OFF)
		return;
	if (on_exit)
		on_exit(at_exit, NULL);
	if (__cxa_at_quick_exit)
		__cxa_at_quick_exit(at_quick_exit_, NULL);
	if (__register_atfork)
		__register_atfork(NULL, NULL, rt_forked, NULL);
	rt_signals_init();
	rt_sample_begin();
}

/* For systems without on_exit(), and for static programs, whose destructors run after it. */
__attribute__((destructor(101))) static void finish(void)
{
	uint64_t detail = rt.header ? rt.header->end_detail : 0;

	rt_finish(KINF_EXITED, detail);
}

RT_EXPORT _Noreturn void _exit(int status)
{
	rt_finish(KINF_EXITED_AT_ONCE, (uint64_t)(status & 255));
	for (;;)
		SYS1(exit_group, status);
}

RT_EXPORT _Noreturn void _Exit(int status) { _exit(status); }

/* ---- requests by the program ---- */

void kinrt_start(void)
{
	if (rt.state == RT_NEW)
		init_saved();
	if (rt.silent || !same_process())
		return;
	rt.paused = false;
	if (rt.state == RT_OFF &&
	    !rt.header) { /* more privileges than its user, and yet the program asks for it */
		rt.options.arcs = true;
		atomic_store(&rt.state, RT_READY);
	}
	rt_on();
	rt_sample_on(true);
}

void kinrt_stop(void)
{
	rt.paused = true;
	rt_on();
	rt_sample_on(false);
}

int kinrt_flush(void)
{
	if (rt.silent)
		return -EPERM;
	rt_finish(KINF_RUNNING, 0);
	return 0;
}

void kinrt_mark(const char *name)
{
	char line[256];
	struct text t = { .at = line, .size = sizeof(line) - 1 };
	uint64_t mask;

	if (!name || !rt_ready() || rt.silent || !rt_lock(&mask))
		return;
	text_add(&t, "mark=");
	text_number(&t, rt_now_ns(CLOCK_MONOTONIC));
	text_add(&t, " ");
	for (; *name; name++)
		text_bytes(&t, (unsigned char)*name < ' ' ? " " : name, 1);
	line[t.used++] = '\n';
	line[t.used] = 0;
	rt_info(line);
	rt_unlock(mask);
}

/* rings.c - opens events on all CPUs, maps their buffers, and merges their records by time. */
#include "record/rings.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map64.h"
#include "machine/machine.h"
#include "record/backlog.h"

enum {
	RING_MAX = 8 << 20, /* bytes; users who may not lock more get 512 KiB */
	RING_MIN = 64 << 10,
	RINGS_TOTAL = 64 << 20, /* of all buffers, on machines with many CPUs */
	BACKLOG_TOTAL = 256 << 20,
	EARLY = 8, /* the part of a buffer at which it is emptied: CPUs may be busy in the kernel */
	STACK_MIN = 4 << 10,
	STACK_MAX = 16 << 10,
	STACK_LARGE = (64 << 10) - 8, /* the kernel's limit */
	/* The same if samples have details: the kernel cuts stacks to the largest record size,
	 * without counting the details that follow them. */
	STACK_DETAILED = 56 << 10,
	SLACK_NS = RINGS_SLACK_MS * 1000000,
	QUIET_NS = 500000000, /* after this time without losses large copies are tried again */
	BUFFERED_MS = 60,     /* the recorder may sleep this long without losses, */
	LARGE_MS = 20,        /* with large copies */
	RECORD_MAX = 1 << 16, /* limit of the size field */
	CLOCK_MIN_NS = 10000, /* shortest period of the kernel's timers */
	GROUP_MAX = 64,       /* events that are counted together */
	SLOWER = 8,           /* a step by which a rate that is too high is lowered, */
	RATE_MIN = 999,       /* not below this one */
	OF_CPU = 1 << 16,     /* in `ids`: of all tasks of a CPU */
};

enum {
	SAMPLE_FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD
};

struct ring {
	int cpu, fd; /* of the event that the buffer belongs to; fd is not owned */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t tail; /* what comes before was copied */
	uint8_t *copy; /* RECORD_MAX bytes, for a record that wraps around */
	struct backlog backlog;
	uint64_t end;  /* in the backlog, of what is read now */
	uint64_t time; /* of the next record; UINT64_MAX: none can be read now */
};

struct opened_event {
	int fd, cpu;
	pid_t tid;
	uint16_t attr;
	bool gone;
};

struct traits { /* properties of an event that are not in its attribute */
	uint32_t group;
	enum record_event_purpose purpose;
	bool is_clock;
	const char *filter; /* NULL: none */
};

struct rings {
	VEC(struct ring) at;
	VEC(struct opened_event) opened;
	/* Sets of n_events attributes. In the first, copies are small; if has_large, they are large
	 * in the second; the rest have lower rates. All but the first are of sampled events alone,
	 * and these are on in one set at a time. */
	VEC(struct perf_event_attr) attrs;
	VEC(struct perf_sample_layout) layouts; /* of the samples of each attribute */
	size_t n_events;
	bool has_large, large;
	unsigned slow;   /* steps below the requested rate */
	bool first_only; /* not enough descriptors for more sets */
	bool on_exec;
	bool cpus_too, of_cpus; /* sampled events are there of the CPUs, too; these are on */
	size_t counting;        /* the event that counts the time of tasks */
	struct map64 ids;       /* -> index of the attribute, | OF_CPU */
	struct map64 read_at;   /* id, or id and thread for inherited groups -> index into reads */
	VEC(uint64_t) reads;    /* previous values of counters */
	VEC(struct ring_value) values; /* of the current sample */
	size_t bytes;                  /* of each buffer's data: a power of two */
	size_t n_alive;
	uint64_t limit_ns, lost, lost_ns; /* lost_ns: when losses were last reported */
	struct ring *current;             /* the ring whose record was handed out */
	uint64_t current_size;
	int poll_fd, cgroup_fd;
	size_t n_chunks, most_chunks; /* of the backlogs */
	/* The thread that empties the buffers. It reads `ids`, `layouts`, `at` and `opened`, and
	 * changes backlogs, `gone` and n_alive, with the lock. */
	pthread_t attendant;
	pthread_mutex_t lock;
	bool is_attended;
	int news_fd, end_fd; /* events: for the reader; for the thread, to end */
	bool with_tasks, spread;
	bool sampling;             /* rings_enable() was called; an exec does not set it */
	VEC(int) cpus;             /* use only these CPUs; empty: all */
	VEC(struct traits) traits; /* one per event */
	uint64_t random;
};

int rings_poll_fd(const struct rings *r) { return r->is_attended ? r->news_fd : r->poll_fd; }
uint64_t rings_records_lost(const struct rings *r) { return r->lost; }

bool rings_all_gone(const struct rings *r)
{
	return r->with_tasks && !__atomic_load_n(&r->n_alive, __ATOMIC_ACQUIRE);
}

/* ---- small and large copies ---- */

static size_t event_of_attr(const struct rings *r, size_t attr) { return attr % r->n_events; }

static bool is_sampled(const struct rings *r, size_t attr)
{
	return r->traits.at[event_of_attr(r, attr)].purpose == EVENT_SAMPLED;
}

static bool is_used(const struct rings *r, size_t attr)
{
	return attr < r->n_events || is_sampled(r, attr);
}

static size_t n_sets(const struct rings *r) { return r->attrs.n / r->n_events; }

/* Whether the sampled events of an attribute are on; if there are events of CPUs, on these. */
static bool is_on(const struct rings *r, size_t attr)
{
	size_t set = r->slow ? r->has_large + r->slow : r->large;
	return attr / r->n_events == (is_sampled(r, attr) ? set : 0);
}

static bool is_of_cpu(const struct rings *r, const struct opened_event *o)
{
	return r->cpus_too && o->tid == -1;
}

static bool is_open_on(const struct rings *r, const struct opened_event *o)
{
	return is_on(r, o->attr) && (!is_sampled(r, o->attr) || is_of_cpu(r, o) == r->of_cpus);
}

uint32_t rings_stack_bytes(const struct rings *r, bool large)
{
	size_t attr = large && r->has_large ? r->n_events : 0;
	return r->attrs.n ? r->attrs.at[attr].sample_stack_user : 0;
}

/* ---- attributes ---- */

/* The most samples per second and CPU. */
static uint64_t samples_per_second(const struct rings_opts *opts)
{
	uint64_t rate = 1;
	for (size_t i = 0; i < opts->events->at.n; i++)
		rate += opts->events->at.at[i].period ? 1000 : opts->events->at.at[i].frequency;
	return rate;
}

/* The stack size, at most `size`, such that `ms` milliseconds of samples fit into the buffer. */
static uint32_t fitting_stack(const struct rings *r, uint64_t rate, uint32_t size, unsigned ms)
{
	uint64_t room = r->bytes * 1000 / (rate * ms);
	while (size > STACK_MIN && size > room)
		size = size / 2 & ~7u;
	return size;
}

static const char *filter_of(const struct rings_opts *opts, const struct record_event *e)
{
	const char *text = NULL;
	for (size_t i = 0; i < opts->n_filters; i++) {
		const struct rings_filter *f = &opts->filters[i];
		if (e->purpose == EVENT_SAMPLED && e->from >= f->from && e->from < f->to)
			text = f->text;
	}
	return text;
}

/* The event that carries the records of tasks and mappings: a tracking event, or else the first. */
static size_t tracking_event(const struct record_events *events)
{
	for (size_t i = 0; i < events->at.n; i++)
		if (events->at.at[i].purpose == EVENT_TRACKING)
			return i;
	return 0;
}

static bool leads_no_group(const struct record_events *events, size_t i)
{
	uint32_t group = events->at.at[i].group;
	return i && group && events->at.at[i - 1].group == group;
}

/* Whether the next event is read when this one is sampled. */
static bool reads_group(const struct record_events *events, size_t i)
{
	const struct record_event *e = &events->at.at[i];
	return !e->is_read && i + 1 < events->at.n && e[1].is_read && e[1].group == e->group;
}

static uint32_t largest_stack(const struct rings_opts *opts)
{
	return opts->wanted.fields ? STACK_DETAILED : STACK_LARGE;
}

/* Adds a set of attributes as the first one, but off. */
static struct perf_event_attr *add_set(struct rings *r)
{
	size_t first = r->attrs.n;
	for (size_t i = 0; i < r->n_events; i++) {
		struct perf_event_attr a = r->attrs.at[i];
		a.enable_on_exec = 0;
		vec_push(&r->attrs, a);
	}
	return &r->attrs.at[first];
}

/* Adds attributes with large copies. Samples at switches always have small copies, since there may
 * be very many. */
static void make_large(struct rings *r, const struct rings_opts *opts, uint64_t rate)
{
	uint32_t stack = fitting_stack(r, rate, largest_stack(opts), LARGE_MS);
	if (stack <= r->attrs.at[0].sample_stack_user)
		return;
	r->has_large = r->large = true;
	struct perf_event_attr *large = add_set(r);
	for (size_t i = 0; i < r->n_events; i++) {
		struct perf_event_attr *small = &r->attrs.at[i];
		large[i].sample_stack_user = stack;
		large[i].enable_on_exec = small->enable_on_exec;
		if (is_sampled(r, i))
			small->enable_on_exec = 0;
	}
}

/* Adds sets with lower rates for clocks whose handling may take longer than their period. */
static void make_slow(struct rings *r)
{
	const struct perf_event_attr *first = &r->attrs.at[0];
	if (!r->traits.at[0].is_clock || !first->freq)
		return;
	for (uint64_t rate = first->sample_freq / SLOWER; rate >= RATE_MIN; rate /= SLOWER) {
		struct perf_event_attr *slow = add_set(r);
		for (size_t i = 0; i < r->n_events; i++)
			if (slow[i].freq && slow[i].sample_freq > rate)
				slow[i].sample_freq = rate;
	}
}

static bool all_have_stacks(const struct record_events *events)
{
	for (size_t i = 0; i < events->at.n; i++)
		if (events->at.at[i].no_stacks)
			return false;
	return true;
}

static void make_layouts(struct rings *r)
{
	r->layouts.n = 0;
	for (size_t i = 0; i < r->attrs.n; i++) {
		const struct perf_event_attr *a = &r->attrs.at[i];
		struct perf_sample_layout l = { .sample_type = a->sample_type,
						.read_format = a->read_format,
						.branch_type = a->branch_sample_type,
						.default_period = a->sample_period,
						.regs_user = a->sample_regs_user,
						.regs_intr = a->sample_regs_intr };
		perf_sample_layout_place(&l);
		vec_push(&r->layouts, l);
	}
}

/* True if PERF_SAMPLE_PERIOD must be left out for an event with a fixed period. With it, the kernel
 * samples every single occurrence of software events (other than clocks) and trace points; without
 * it, only one in `period` (perf_swevent_event()). */
static bool says_no_period(const struct record_event *e)
{
	return e->period > 1 && !e->is_clock &&
	       (e->type == PERF_TYPE_SOFTWARE || record_event_is_each(e));
}

static void make_attrs(struct rings *r, const struct rings_opts *opts)
{
	uint64_t rate = samples_per_second(opts);
	bool by_choice = opts->stack_bytes == UINT32_MAX;
	uint32_t stack_bytes =
		by_choice ? fitting_stack(r, rate, STACK_MAX, BUFFERED_MS) : opts->stack_bytes;
	if (stack_bytes > largest_stack(opts))
		stack_bytes = largest_stack(opts);
	size_t tracking = tracking_event(opts->events);
	r->counting = opts->on_demand ? 0 : tracking;
	r->attrs.n = 0;
	r->traits.n = 0;
	r->n_events = opts->events->at.n;
	r->on_exec = opts->on_exec;
	r->cpus_too = r->of_cpus = opts->cpus_too;
	r->has_large = r->large = false;
	for (size_t i = 0; i < opts->events->at.n; i++) {
		const struct record_event *e = &opts->events->at.at[i];
		struct perf_event_attr a;
		uint32_t stack = e->no_stacks || e->purpose == EVENT_TRACKING ? 0 : stack_bytes;
		struct traits t = { e->group, e->purpose, e->is_clock, filter_of(opts, e) };
		vec_push(&r->traits, t);
		record_event_attr(e, &a);
		a.sample_type = SAMPLE_FIELDS;
		if (says_no_period(e))
			a.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
		if (e->type == PERF_TYPE_TRACEPOINT)
			a.sample_type |= PERF_SAMPLE_RAW;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				PERF_FORMAT_LOST;
		if (opts->callchain && !e->no_stacks) {
			a.sample_type |= PERF_SAMPLE_CALLCHAIN;
			a.exclude_callchain_user = !opts->user_chain;
			a.exclude_callchain_kernel = a.exclude_kernel || opts->no_kernel_chain;
		}
		if (stack) {
			a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
			a.sample_regs_user = machine_native()->perf_mask;
			a.sample_stack_user = stack;
		}
		if (e->purpose == EVENT_SAMPLED) {
			a.sample_type |= opts->wanted.fields & WANTED_FIELDS;
			a.sample_regs_intr = opts->wanted.registers;
			a.branch_sample_type = opts->wanted.branches;
		}
		if (reads_group(opts->events, i)) {
			a.sample_type |= PERF_SAMPLE_READ;
			a.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		}
		a.inherit = opts->n_tids && !opts->no_inherit;
		a.disabled = !leads_no_group(opts->events, i);
		a.enable_on_exec =
			a.disabled && opts->on_exec &&
			(!(opts->on_demand || opts->cpus_too) || e->purpose != EVENT_SAMPLED);
		a.sample_id_all = 1;
		a.use_clockid = 1;
		a.clockid = CLOCK_MONOTONIC;
		a.watermark = 1;
		a.wakeup_watermark = (uint32_t)(r->bytes / EARLY);
		if (i == tracking) {
			a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
			a.build_id = 1;
			a.context_switch = opts->switches;
		}
		vec_push(&r->attrs, a);
	}
	if (by_choice && !r->first_only && !opts->on_demand && all_have_stacks(opts->events))
		make_large(r, opts, rate);
	if (!r->first_only && !opts->on_demand)
		make_slow(r);
	make_layouts(r);
}

/* ---- opening ---- */

static uint64_t random_word(struct rings *r) /* xorshift64* */
{
	r->random ^= r->random >> 12;
	r->random ^= r->random << 25;
	r->random ^= r->random >> 27;
	return r->random * 0x2545f4914f6cdd1du;
}

/* If a program does something at the rate at which it is sampled, samples would always hit the same
 * part of it. Each clock therefore has a period of its own, up to 8 % shorter or longer than
 * requested, but at least 1 % off. Samples have their clock's actual period as weight. */
static void spread_period(struct rings *r, struct perf_event_attr *a)
{
	double nominal = a->freq ? 1e9 / (double)a->sample_freq : (double)a->sample_period;
	double off = 0.01 + 0.07 * (double)(random_word(r) >> 11) / (double)(1ull << 53);
	double period = nominal * (random_word(r) & 1 ? 1 + off : 1 - off);
	a->freq = 0;
	a->sample_period = period < CLOCK_MIN_NS ? CLOCK_MIN_NS : (uint64_t)period;
}

/* The descriptor of the group's leader that this event is counted with; -1: the event is no
 * member. */
static int leader_of(const struct rings *r, size_t attr, pid_t tid, int cpu)
{
	size_t event = event_of_attr(r, attr);
	uint32_t group = r->traits.at[event].group;
	while (group && event && r->traits.at[event - 1].group == group)
		event--;
	size_t leader = attr / r->n_events * r->n_events + event;
	for (size_t i = r->opened.n; leader != attr && group && i--;) {
		const struct opened_event *o = &r->opened.at[i];
		if (o->tid == tid && o->cpu == cpu && o->attr == leader)
			return o->fd;
	}
	return -1;
}

static void make_attr_of_cpu(struct perf_event_attr *a, bool is_clock)
{
	a->inherit = a->enable_on_exec = 0;
	a->exclude_idle = 1;
	if (is_clock)
		a->config = PERF_COUNT_SW_CPU_CLOCK;
}

static int open_event(struct rings *r, size_t attr, pid_t tid, int cpu)
{
	struct perf_event_attr a = r->attrs.at[attr];
	bool of_cgroup = tid == -1 && r->cgroup_fd >= 0;
	if (r->cpus_too && tid == -1)
		make_attr_of_cpu(&a, r->traits.at[event_of_attr(r, attr)].is_clock);
	if (r->spread && r->traits.at[event_of_attr(r, attr)].is_clock && a.freq)
		spread_period(r, &a);
	return (int)syscall(SYS_perf_event_open, &a, of_cgroup ? r->cgroup_fd : tid, cpu,
			    leader_of(r, attr, tid, cpu),
			    PERF_FLAG_FD_CLOEXEC | (of_cgroup ? PERF_FLAG_PID_CGROUP : 0));
}

/* Drops, one after the other, features that older kernels do not know. */
static bool simplify(struct rings *r)
{
	bool any = false;
	for (size_t i = 0; i < r->attrs.n; i++) {
		struct perf_event_attr *a = &r->attrs.at[i];
		if (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) {
			a->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
			a->sample_type |= PERF_SAMPLE_WEIGHT;
			any = true;
		} else if (a->read_format & PERF_FORMAT_LOST) {
			a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
			any = true;
		} else if (a->build_id) {
			a->build_id = 0;
			any = true;
		}
	}
	make_layouts(r);
	return any;
}

static struct kin_error *refused(int errnum, const char *event, bool branches)
{
	bool lacks = errnum == ENOENT || errnum == EOPNOTSUPP || errnum == ENODEV;
	if (branches && lacks)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "-b: this machine keeps no record of the branches before '%s' (LBR, "
			       "BRBE); virtual machines seldom show one",
			       event);
	switch (errnum) {
	case EACCES:
	case EPERM:
		return err_os(errnum, "the kernel does not let this user sample");
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "this machine cannot count '%s': try cpu-clock", event);
	case EMFILE:
	case ENFILE:
		return err_os(errnum, "too many tasks and CPUs to open '%s' on each", event);
	}
	return err_os(errnum, "event '%s'", event);
}

static struct kin_error *map_ring(struct rings *r, int fd, int cpu)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, r->bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_os(errno, "mapping the buffer of CPU %d", cpu);
	struct ring ring = { .cpu = cpu, .fd = fd, .page = p, .data = (uint8_t *)p + page };
	vec_push(&r->at, ring);
	return NULL;
}

static struct ring *ring_of(struct rings *r, int cpu)
{
	for (size_t i = 0; i < r->at.n; i++)
		if (r->at.at[i].cpu == cpu)
			return &r->at.at[i];
	return NULL;
}

static void watch(struct rings *r, size_t index)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = index };
	epoll_ctl(r->poll_fd, EPOLL_CTL_ADD, r->opened.at[index].fd, &e);
}

/* Opens one event on one CPU for one task. A task that is gone or an offline CPU is no error. */
static struct kin_error *open_one(struct rings *r, size_t attr, const char *name, pid_t tid,
				  int cpu)
{
	int fd = open_event(r, attr, tid, cpu);
	while (fd < 0 && errno == EINVAL && simplify(r))
		fd = open_event(r, attr, tid, cpu);
	if (fd < 0 && (errno == ESRCH || (errno == ENODEV && cpu > 0)))
		return NULL;
	if (fd < 0 && errno == EINVAL && r->attrs.at[attr].sample_type & PERF_SAMPLE_READ &&
	    r->attrs.at[attr].inherit)
		return err_new(KIN_ERROR_USAGE,
			       "'%s' with S: this kernel reads groups of single threads or of CPUs "
			       "alone: -i, -a, or without S",
			       name);
	if (fd < 0)
		return refused(errno, name,
			       r->attrs.at[attr].sample_type & PERF_SAMPLE_BRANCH_STACK);
	struct opened_event o = { .fd = fd, .cpu = cpu, .tid = tid, .attr = (uint16_t)attr };
	vec_push(&r->opened, o);
	r->n_alive += tid != -1;

	struct ring *ring = ring_of(r, cpu);
	struct kin_error *err = NULL;
	if (!ring)
		err = map_ring(r, fd, cpu);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
		err = err_os(errno, "event '%s' on CPU %d", name, cpu);
	if (err)
		return err;
	uint64_t id;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return err_os(errno, "event '%s'", name);
	*map64_at(&r->ids, id) = (uint32_t)attr | (is_of_cpu(r, &o) ? OF_CPU : 0);
	watch(r, r->opened.n - 1);
	const char *filter = r->traits.at[event_of_attr(r, attr)].filter;
	bool filtered = !filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter);
	if (!filtered && r->attrs.at[attr].type != PERF_TYPE_TRACEPOINT)
		return err_new(KIN_ERROR_USAGE,
			       "--filter '%.200s': only trace points can be filtered, '%s' is none",
			       filter, name);
	if (!filtered)
		return err_new(KIN_ERROR_USAGE,
			       "--filter '%.200s': the kernel does not take that for '%s'; the "
			       "fields are in its file 'format' below /sys/kernel/tracing/events",
			       filter, name);
	return NULL;
}

static bool is_left_out(const struct rings *r, int cpu)
{
	for (size_t i = 0; i < r->cpus.n; i++)
		if (r->cpus.at[i] == cpu)
			return false;
	return r->cpus.n != 0;
}

static struct kin_error *open_on(struct rings *r, const struct record_events *events, pid_t tid,
				 int cpu)
{
	bool of_cpu = r->cpus_too && tid == -1;
	for (size_t i = 0; i < r->attrs.n; i++) {
		const char *name = events ? events->at.at[event_of_attr(r, i)].name : "event";
		bool is_there = of_cpu ? is_sampled(r, i) : is_used(r, i);
		struct kin_error *err = is_there ? open_one(r, i, name, tid, cpu) : NULL;
		if (err)
			return err;
	}
	return NULL;
}

static struct kin_error *open_all(struct rings *r, const struct record_events *events,
				  const pid_t *tids, size_t n_tids)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	static const pid_t everything = -1;
	const pid_t *who = n_tids ? tids : &everything;
	for (size_t t = 0; t < (n_tids ? n_tids : 1); t++) {
		for (int cpu = 0; cpu < n_cpus; cpu++) {
			struct kin_error *err =
				is_left_out(r, cpu) ? NULL : open_on(r, events, who[t], cpu);
			if (err)
				return err;
		}
	}
	if (!r->opened.n)
		return err_os(ESRCH, "nothing to record");
	return NULL;
}

static void close_all(struct rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < r->at.n; i++) {
		munmap(r->at.at[i].page, r->bytes + page);
		free(r->at.at[i].copy);
		backlog_free(&r->at.at[i].backlog);
	}
	for (size_t i = 0; i < r->opened.n; i++)
		close(r->opened.at[i].fd);
	r->at.n = r->opened.n = r->n_alive = 0;
	map64_free(&r->ids);
	map64_free(&r->read_at);
	vec_free(&r->reads);
	vec_free(&r->values);
	r->ids = (struct map64){ 0 };
}

/* An eighth of this process's address space limit, at most `most`. */
static size_t most_memory(size_t most)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_AS, &l) || l.rlim_cur / 8 > most)
		return most;
	return (size_t)l.rlim_cur / 8;
}

static size_t first_size(void)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t size = RING_MAX, most = most_memory(RINGS_TOTAL);
	while (size > RING_MIN && size * (size_t)n_cpus > most)
		size /= 2;
	return size;
}

static bool has_kernel_only(const struct record_events *events)
{
	for (size_t i = 0; i < events->at.n; i++)
		if (events->at.at[i].exclude_user)
			return true;
	return false;
}

/* Users may lock only a limited amount of memory: buffers, and the stacks in them, are made smaller
 * until they fit. If the kernel may not be sampled, only user mode is. */
static struct kin_error *open_as_allowed(struct rings *r, const struct rings_opts *opts,
					 bool *user_only)
{
	for (;;) {
		make_attrs(r, opts);
		struct kin_error *err = open_all(r, opts->events, opts->tids, opts->n_tids);
		if (!err && r->cpus_too)
			err = open_all(r, opts->events, NULL, 0);
		int errnum = err ? kin_error_errno(err) : 0;
		if (!err)
			return NULL;
		bool mapped = r->opened.n && errnum != EACCES;
		close_all(r);
		if (mapped && (errnum == EPERM || errnum == ENOMEM) && r->bytes > RING_MIN) {
			r->bytes /= 2;
		} else if ((errnum == EMFILE || errnum == ENFILE) && n_sets(r) > 1) {
			r->first_only = true;
		} else if (errnum == EACCES && !*user_only && !has_kernel_only(opts->events)) {
			*user_only = true;
			for (size_t i = 0; i < opts->events->at.n; i++)
				opts->events->at.at[i].exclude_kernel = true;
		} else {
			return err;
		}
		kin_error_free(err);
	}
}

/* The thread that waits for the lock lends its priority to the one that has it. */
static void make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

struct kin_error *rings_open(const struct rings_opts *opts, struct rings **ret, bool *user_only)
{
	struct rings *r = xalloc(sizeof(*r));
	r->bytes = opts->buffer_bytes ? opts->buffer_bytes : first_size();
	r->with_tasks = opts->n_tids != 0;
	r->cgroup_fd = opts->cgroup_fd;
	r->spread = opts->spread;
	r->random = clock_now_ns() ^ (uint64_t)getpid() << 32 ^ 1;
	for (size_t i = 0; i < opts->n_cpus; i++)
		vec_push(&r->cpus, opts->cpus[i]);
	r->most_chunks = most_memory(BACKLOG_TOTAL) / BACKLOG_CHUNK;
	r->news_fd = r->end_fd = -1;
	make_lock(&r->lock);
	r->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct kin_error *err = open_as_allowed(r, opts, user_only);
	if (err) {
		rings_free(r);
		return err;
	}
	*ret = r;
	return NULL;
}

/* True for events that are on whether sampling is or not: threads that leave a CPU before sampling
 * begins may return later. */
static bool is_always_on(const struct rings *r, size_t attr)
{
	return r->traits.at[event_of_attr(r, attr)].purpose != EVENT_SAMPLED;
}

static void enable_chosen(struct rings *r, size_t first, bool always)
{
	for (size_t i = first; i < r->opened.n; i++)
		if (is_open_on(r, &r->opened.at[i]) &&
		    is_always_on(r, r->opened.at[i].attr) == always)
			ioctl(r->opened.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void rings_follow(struct rings *r, const pid_t *tids, size_t n, bool enable)
{
	size_t first = r->opened.n;
	pthread_mutex_lock(&r->lock);
	if (n)
		kin_error_free(open_all(r, NULL, tids, n));
	pthread_mutex_unlock(&r->lock);
	if (enable)
		enable_chosen(r, first, true);
	if (enable && r->sampling)
		enable_chosen(r, first, false);
}

static void disable_unchosen(const struct rings *r)
{
	for (size_t i = 0; i < r->opened.n; i++)
		if (!is_open_on(r, &r->opened.at[i]))
			ioctl(r->opened.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* For a moment both sets of events are on, so that at least one sees a mapping made in between. */
static void change_set(struct rings *r)
{
	for (size_t i = 0; i < r->attrs.n; i++)
		r->attrs.at[i].enable_on_exec =
			r->on_exec && is_on(r, i) && !(is_sampled(r, i) && r->of_cpus);
	enable_chosen(r, 0, false);
	disable_unchosen(r);
}

void rings_choose(struct rings *r, bool large)
{
	if (large && r->lost && clock_now_ns() - r->lost_ns < QUIET_NS)
		large = false;
	if (r->large == large || !r->has_large)
		return;
	r->large = large;
	change_set(r);
}

bool rings_slow_down(struct rings *r)
{
	if (1 + r->has_large + r->slow >= n_sets(r))
		return false;
	r->slow++;
	change_set(r);
	return true;
}

unsigned rings_slowness(const struct rings *r)
{
	unsigned n = 1;
	for (unsigned i = 0; i < r->slow; i++)
		n *= SLOWER;
	return n;
}

/* ---- events of CPUs instead of tasks ---- */

bool rings_may_use_cpus(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .disabled = 1 };
	int fd =
		(int)syscall(SYS_perf_event_open, &a, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool rings_are_of_cpus(const struct rings *r) { return r->of_cpus; }

void rings_use_cpus(struct rings *r, bool of_cpus)
{
	if (!r->cpus_too || of_cpus == r->of_cpus)
		return;
	r->of_cpus = of_cpus;
	change_set(r);
}

void rings_enable(struct rings *r)
{
	r->sampling = true;
	enable_chosen(r, 0, false);
}

void rings_enable_tracking(struct rings *r) { enable_chosen(r, 0, true); }

void rings_disable(struct rings *r)
{
	r->sampling = false;
	for (size_t i = 0; i < r->opened.n; i++)
		if (!is_always_on(r, r->opened.at[i].attr))
			ioctl(r->opened.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* ---- emptying the buffers ---- */

/* n bytes at a position of the ring, as one piece; copied if they wrap around. */
static const uint8_t *ring_bytes(const struct rings *r, struct ring *ring, uint64_t at, size_t n)
{
	size_t offset = (size_t)(at & (r->bytes - 1));
	if (offset + n <= r->bytes)
		return ring->data + offset;
	if (!ring->copy)
		ring->copy = xalloc(RECORD_MAX);
	size_t first = r->bytes - offset;
	memcpy(ring->copy, ring->data + offset, first);
	memcpy(ring->copy + first, ring->data, n - first);
	return ring->copy;
}

static size_t attr_of(const struct rings *r, uint64_t id)
{
	uint32_t attr = map64_get(&r->ids, id);
	return attr == NONE ? 0 : attr & (OF_CPU - 1);
}

/* Copies a sample without the bytes of its stack that are not used; returns the size. A word more
 * is kept, since the copy of the stack ended early. */
static size_t copy_shortened(const struct perf_sample *sample, const uint8_t *from, size_t size,
			     uint8_t *to)
{
	uint64_t room, kept = (sample->stack_size + 15) & ~(uint64_t)7;
	size_t stack = (size_t)(sample->stack - from);
	memcpy(&room, sample->stack - 8, sizeof(room));
	if (kept >= room || stack + room > size)
		return 0;
	size_t rest = size - stack - room;
	memcpy(to, from, stack + kept);
	memcpy(to + stack - 8, &kept, sizeof(kept));
	memcpy(to + stack + kept, from + stack + room, rest);
	struct perf_event_header h;
	memcpy(&h, from, sizeof(h));
	h.size = (uint16_t)(stack + kept + rest);
	memcpy(to, &h, sizeof(h));
	return h.size;
}

static size_t copy_record(const struct rings *r, const uint8_t *from, size_t size, uint8_t *to)
{
	const struct perf_event_header *h = (const void *)from;
	struct perf_sample sample;
	size_t copied = 0;
	if (h->type == PERF_RECORD_SAMPLE && size >= sizeof(*h) + 8 &&
	    perf_sample_parse(&r->layouts.at[attr_of(r, perf_sample_word(from, 1))], from, size,
			      false, &sample) &&
	    sample.stack)
		copied = copy_shortened(&sample, from, size, to);
	if (copied)
		return copied;
	memcpy(to, from, size);
	return size;
}

/* If there is no room, what is left stays in the buffer, where the kernel counts what it loses. */
static void empty_ring(struct rings *r, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	while (ring->tail < head) {
		struct perf_event_header h; /* records are aligned to words, so no word wraps */
		memcpy(&h, ring->data + (ring->tail & (r->bytes - 1)), sizeof(h));
		uint8_t *to = backlog_room(&ring->backlog, h.size, &r->n_chunks, r->most_chunks);
		if (!to)
			break;
		const uint8_t *from = ring_bytes(r, ring, ring->tail, h.size);
		backlog_add(&ring->backlog, copy_record(r, from, h.size, to));
		ring->tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static void empty_rings(struct rings *r)
{
	for (size_t i = 0; i < r->at.n; i++)
		empty_ring(r, &r->at.at[i]);
}

/* An event hangs up once its task and all tasks started by it are gone. */
static void take_events(struct rings *r)
{
	struct epoll_event events[64];
	int n = epoll_wait(r->poll_fd, events, (int)ARRAY_LEN(events), 0);
	for (int i = 0; i < n; i++) {
		struct opened_event *o = &r->opened.at[events[i].data.u64];
		if (!(events[i].events & (EPOLLHUP | EPOLLERR)) || o->gone)
			continue;
		o->gone = true;
		epoll_ctl(r->poll_fd, EPOLL_CTL_DEL, o->fd, NULL);
		if (o->tid != -1)
			__atomic_fetch_sub(&r->n_alive, 1, __ATOMIC_RELEASE);
	}
}

static void attend(struct rings *r)
{
	pthread_mutex_lock(&r->lock);
	take_events(r);
	empty_rings(r);
	pthread_mutex_unlock(&r->lock);
}

static void hurry(void)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_setschedparam(pthread_self(), SCHED_RR, &first);
}

static void *attend_to_end(void *arg)
{
	struct rings *r = arg;
	hurry();
	for (;;) {
		struct pollfd fds[] = { { r->poll_fd, POLLIN, 0 }, { r->end_fd, POLLIN, 0 } };
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		attend(r);
		eventfd_write(r->news_fd, 1);
	}
}

static void close_events(struct rings *r)
{
	if (r->news_fd >= 0)
		close(r->news_fd);
	if (r->end_fd >= 0)
		close(r->end_fd);
	r->news_fd = r->end_fd = -1;
}

void rings_attend(struct rings *r)
{
	sigset_t all, before;
	sigfillset(&all);
	r->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->end_fd = eventfd(0, EFD_CLOEXEC);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->is_attended = r->news_fd >= 0 && r->end_fd >= 0 &&
			 !pthread_create(&r->attendant, NULL, attend_to_end, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!r->is_attended)
		close_events(r);
}

static void end_attendant(struct rings *r)
{
	if (r->is_attended) {
		eventfd_write(r->end_fd, 1);
		pthread_join(r->attendant, NULL);
	}
	r->is_attended = false;
	close_events(r);
}

void rings_polled(struct rings *r)
{
	eventfd_t n;
	if (r->is_attended)
		eventfd_read(r->news_fd, &n);
	else
		attend(r);
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	end_attendant(r);
	close_all(r);
	vec_free(&r->at);
	vec_free(&r->opened);
	vec_free(&r->attrs);
	vec_free(&r->layouts);
	vec_free(&r->traits);
	vec_free(&r->cpus);
	if (r->poll_fd >= 0)
		close(r->poll_fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* ---- reading ---- */

/* The time's place: samples begin with identifier, ip, tid, time. Other records end with tid, time,
 * cpu, identifier. */
static uint64_t record_time(const uint8_t *at)
{
	struct perf_event_header h;
	memcpy(&h, at, sizeof(h));
	return perf_sample_word(at, h.type == PERF_RECORD_SAMPLE ? 4 : h.size / 8 - 3);
}

static void look(struct rings *r, struct ring *ring)
{
	ring->time = ring->backlog.skipped < ring->end ? record_time(backlog_next(&ring->backlog))
						       : UINT64_MAX;
	if (ring->time > r->limit_ns)
		ring->time = UINT64_MAX;
}

/* The time is taken before the buffers are emptied, so no record from before `limit_ns` is missing
 * from the backlogs. */
void rings_begin(struct rings *r, bool all)
{
	uint64_t now = clock_now_ns();
	pthread_mutex_lock(&r->lock);
	empty_rings(r);
	for (size_t i = 0; i < r->at.n; i++)
		r->at.at[i].end = r->at.at[i].backlog.added;
	pthread_mutex_unlock(&r->lock);
	r->limit_ns = all ? UINT64_MAX - 1 : now - SLACK_NS;
	r->current = NULL;
	for (size_t i = 0; i < r->at.n; i++)
		look(r, &r->at.at[i]);
}

static void release_current(struct rings *r)
{
	struct ring *ring = r->current;
	if (!ring)
		return;
	backlog_skip(&ring->backlog, r->current_size);
	look(r, ring);
	r->current = NULL;
}

static struct ring *earliest(struct rings *r)
{
	struct ring *best = NULL;
	for (size_t i = 0; i < r->at.n; i++)
		if (r->at.at[i].time != UINT64_MAX && (!best || r->at.at[i].time < best->time))
			best = &r->at.at[i];
	return best;
}

/* Records other than samples end with: tid, time, cpu, identifier. */
static void parse_other(const struct rings *r, struct ring_record *ret)
{
	const uint8_t *end = (const uint8_t *)ret->header + ret->header->size;
	uint64_t words[4];
	memcpy(words, end - sizeof(words), sizeof(words));
	ret->sample = (struct perf_sample){ .pid = (uint32_t)words[0],
					    .tid = (uint32_t)(words[0] >> 32),
					    .time = words[1],
					    .cpu = (uint32_t)words[2] };
	ret->event = event_of_attr(r, attr_of(r, words[3]));
}

/* The increase of a counter since it was last read. Counters of inherited tasks are kept by
 * thread. */
static uint64_t more_since(struct rings *r, uint64_t id, uint32_t tid, bool by_thread, uint64_t now)
{
	uint32_t *at = map64_at(&r->read_at, id << 32 | (by_thread ? tid : 0));
	if (*at == NONE) {
		*at = (uint32_t)r->reads.n;
		vec_push(&r->reads, 0);
	}
	uint64_t before = r->reads.at[*at];
	r->reads.at[*at] = now;
	return now > before ? now - before : 0;
}

/* { n, enabled, running, n times { value, id, lost } } */
static void read_group(struct rings *r, const struct perf_event_attr *a, struct ring_record *ret)
{
	struct bytes b = ret->sample.read;
	uint64_t n = bytes_u64(&b);
	bytes_skip(&b, 16);
	r->values.n = 0;
	for (; n && !b.failed; n--) {
		uint64_t now = bytes_u64(&b), id = bytes_u64(&b);
		if (a->read_format & PERF_FORMAT_LOST)
			bytes_u64(&b);
		size_t event = event_of_attr(r, attr_of(r, id));
		if (event == ret->event)
			continue;
		uint64_t more = more_since(r, id, ret->sample.tid, a->inherit, now);
		vec_push(&r->values, ((struct ring_value){ event, more }));
	}
	ret->values = r->values.at;
	ret->n_values = r->values.n;
}

/* The kernel wrote the record, so its lengths are right. Even so, nothing is read past its end. */
static bool parse_sample(struct rings *r, struct ring_record *ret)
{
	const uint8_t *at = (const uint8_t *)ret->header;
	size_t size = ret->header->size;
	if (size < sizeof(*ret->header) + 8)
		return false;
	uint64_t id = perf_sample_word(at, 1);
	size_t attr = attr_of(r, id);
	if (!perf_sample_parse(&r->layouts.at[attr], at, size, true, &ret->sample))
		return false;
	ret->event = event_of_attr(r, attr);
	ret->of_cpu = r->cpus_too && map64_get(&r->ids, id) == ((uint32_t)attr | OF_CPU);
	if (ret->sample.fields & PERF_SAMPLE_READ)
		read_group(r, &r->attrs.at[attr], ret);
	return true;
}

static void count_lost(struct rings *r, const struct perf_event_header *h)
{
	uint64_t n;
	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + 16)
		memcpy(&n, (const uint8_t *)(h + 1) + 8, sizeof(n));
	else if (h->type == PERF_RECORD_LOST_SAMPLES && h->size >= sizeof(*h) + 8)
		memcpy(&n, h + 1, sizeof(n));
	else
		return;
	r->lost += n;
	r->lost_ns = clock_now_ns();
}

bool rings_next(struct rings *r, struct ring_record *ret)
{
	for (;;) {
		release_current(r);
		struct ring *ring = earliest(r);
		if (!ring)
			return false;
		ret->header = (const void *)backlog_next(&ring->backlog);
		r->current = ring;
		r->current_size = ret->header->size;
		ret->n_values = 0;
		ret->of_cpu = false;
		count_lost(r, ret->header);
		if (ret->header->type != PERF_RECORD_SAMPLE)
			parse_other(r, ret);
		else if (!parse_sample(r, ret))
			continue;
		return true;
	}
}

/* ---- totals ---- */

/* Also stores how long tasks ran while the event was on. */
static uint64_t lost_by(const struct rings *r, const struct opened_event *o, uint64_t *running_ns)
{
	uint64_t format = r->attrs.at[o->attr].read_format;
	size_t lost = format & PERF_FORMAT_GROUP ? 5 : 3; /* the last of { value, id, lost } */
	uint64_t v[3 + 3 * GROUP_MAX] = { 0 }; /* value or number, enabled, running, ... */
	bool read_it = read(o->fd, v, sizeof(v)) >= (ssize_t)(3 * sizeof(v[0]));
	*running_ns = read_it ? v[2] : 0;
	return read_it && format & PERF_FORMAT_LOST ? v[lost] : 0;
}

struct rings_totals rings_totals(const struct rings *r)
{
	struct rings_totals t = { 0 };
	for (size_t i = 0; i < r->opened.n; i++) {
		const struct opened_event *o = &r->opened.at[i];
		uint64_t running_ns;
		t.lost += lost_by(r, o, &running_ns);
		if (event_of_attr(r, o->attr) == r->counting)
			t.running_ns += running_ns;
	}
	return t;
}

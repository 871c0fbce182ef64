#include "record/rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map64.h"

enum {
	RING_MAX = 8 << 20, /* bytes; users who may not lock more get 512 KiB */
	RING_MIN = 64 << 10,
	RINGS_TOTAL = 64 << 20, /* on machines with many CPUs */
	STACK_MIN = 4 << 10,
	STACK_MAX = 16 << 10,
	SLACK_NS = 2000000,   /* how late the writer of a record may be to show it */
	BUFFERED_MS = 60,     /* the recorder may sleep so long and lose nothing */
	RECORD_MAX = 1 << 16, /* the size field's */
	FIELDS_MAX = 2 << 10, /* of a sample but its stack: the chain is the longest of them */
	AHEAD = 1 << 10,      /* bytes: most of a record that a walk reads */
};

#if defined(__x86_64__)
/* ax bx cx dx si di bp sp ip, r8..r15 */
#define REGS_MASK 0xff01ffull
#elif defined(__aarch64__)
#define REGS_MASK 0x1ffffffffull
#else
#error "which registers?"
#endif

enum {
	SAMPLE_FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD
};

struct ring {
	int cpu, fd; /* of the event that the buffer belongs to; not owned */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t head, tail;
	uint64_t time; /* of the record at tail; UINT64_MAX: none to be read now */
	uint8_t *copy; /* RECORD_MAX; of a record that wraps around */
};

struct opened {
	int fd;
	uint16_t event;
	bool gone;
	uint64_t id;
};

struct rings {
	VEC(struct ring) at;
	VEC(struct opened) opened;
	VEC(struct perf_event_attr) attrs; /* one per event */
	struct map64 ids;                  /* -> index of the event */
	size_t bytes;                      /* of each buffer's data: a power of two */
	size_t n_alive;
	uint64_t limit_ns, lost;
	struct ring *current; /* whose record was handed out */
	uint64_t current_size;
	int poll_fd;
	bool with_tasks;
};

int rings_poll_fd(const struct rings *r) { return r->poll_fd; }
uint64_t rings_records_lost(const struct rings *r) { return r->lost; }
bool rings_all_gone(const struct rings *r) { return r->with_tasks && !r->n_alive; }
const struct perf_event_attr *rings_attr(const struct rings *r, size_t i)
{
	return &r->attrs.at[i];
}
uint32_t rings_stack_bytes(const struct rings *r)
{
	return r->attrs.n ? r->attrs.at[0].sample_stack_user : 0;
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- attributes ---- */

/* Per second and CPU, at most. */
static uint64_t samples_per_second(const struct rings_opts *opts)
{
	uint64_t rate = 1;
	for (size_t i = 0; i < opts->events->at.n; i++)
		rate += opts->events->at.at[i].period ? 1000 : opts->events->at.at[i].frequency;
	return rate;
}

static uint32_t fitting_stack(const struct rings *r, uint64_t rate)
{
	uint64_t room = r->bytes * 1000 / (rate * BUFFERED_MS);
	uint32_t size = STACK_MAX;
	while (size > STACK_MIN && size > room)
		size /= 2;
	return size;
}

/* Bytes at which the recorder is woken: seldom, as that costs more than many samples; but what
 * comes while it waits for a CPU has to fit as well. */
static uint32_t fitting_watermark(const struct rings *r, uint64_t rate, uint32_t stack)
{
	uint64_t late = rate * (stack + FIELDS_MAX) * 2 * BUFFERED_MS / 1000;
	return (uint32_t)(late <= r->bytes / 2 ? r->bytes / 2 : r->bytes / 4);
}

static void make_attrs(struct rings *r, const struct rings_opts *opts)
{
	uint64_t rate = samples_per_second(opts);
	uint32_t stack =
		opts->stack_bytes == UINT32_MAX ? fitting_stack(r, rate) : opts->stack_bytes;
	r->attrs.n = 0;
	for (size_t i = 0; i < opts->events->at.n; i++) {
		struct perf_event_attr a;
		record_event_attr(&opts->events->at.at[i], &a);
		a.sample_type = SAMPLE_FIELDS;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				PERF_FORMAT_LOST;
		if (opts->callchain) {
			a.sample_type |= PERF_SAMPLE_CALLCHAIN;
			a.exclude_callchain_user = !opts->user_chain;
			a.exclude_callchain_kernel = a.exclude_kernel;
		}
		if (stack) {
			a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
			a.sample_regs_user = REGS_MASK;
			a.sample_stack_user = stack;
		}
		a.inherit = opts->n_tids != 0;
		a.disabled = 1;
		a.enable_on_exec = opts->on_exec;
		a.sample_id_all = 1;
		a.use_clockid = 1;
		a.clockid = CLOCK_MONOTONIC;
		a.watermark = 1;
		a.wakeup_watermark = fitting_watermark(r, rate, stack);
		if (!i) {
			a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
			a.build_id = 1;
			a.context_switch = opts->switches;
		}
		vec_push(&r->attrs, a);
	}
}

/* ---- opening ---- */

static int open_event(struct perf_event_attr *a, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What older kernels do not know is left out, one after the other. */
static bool simplify(struct rings *r)
{
	bool any = false;
	for (size_t i = 0; i < r->attrs.n; i++) {
		struct perf_event_attr *a = &r->attrs.at[i];
		if (a->read_format & PERF_FORMAT_LOST) {
			a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
			any = true;
		} else if (a->build_id) {
			a->build_id = 0;
			any = true;
		}
	}
	return any;
}

static struct kin_error *refused(int errnum, const char *event)
{
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

/* One event on one CPU of one task. A task that is gone and a CPU that sleeps are no errors. */
static struct kin_error *open_one(struct rings *r, size_t event, const char *name, pid_t tid,
				  int cpu)
{
	int fd = open_event(&r->attrs.at[event], tid, cpu);
	while (fd < 0 && errno == EINVAL && simplify(r))
		fd = open_event(&r->attrs.at[event], tid, cpu);
	if (fd < 0 && (errno == ESRCH || (errno == ENODEV && cpu > 0)))
		return NULL;
	if (fd < 0)
		return refused(errno, name);
	struct opened o = { .fd = fd, .event = (uint16_t)event };
	vec_push(&r->opened, o);
	r->n_alive++;

	struct ring *ring = ring_of(r, cpu);
	struct kin_error *err = NULL;
	if (!ring)
		err = map_ring(r, fd, cpu);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
		err = err_os(errno, "event '%s' on CPU %d", name, cpu);
	if (err)
		return err;
	struct opened *last = &r->opened.at[r->opened.n - 1];
	if (ioctl(fd, PERF_EVENT_IOC_ID, &last->id) < 0)
		return err_os(errno, "event '%s'", name);
	*map64_at(&r->ids, last->id) = (uint32_t)event;
	watch(r, r->opened.n - 1);
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
			for (size_t e = 0; e < r->attrs.n; e++) {
				const char *name = events ? events->at.at[e].name : "event";
				struct kin_error *err = open_one(r, e, name, who[t], cpu);
				if (err)
					return err;
			}
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
	}
	for (size_t i = 0; i < r->opened.n; i++)
		close(r->opened.at[i].fd);
	r->at.n = r->opened.n = r->n_alive = 0;
	map64_free(&r->ids);
	r->ids = (struct map64){ 0 };
}

/* Of the memory that we may have at all, an eighth. */
static size_t most_memory(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_AS, &l) || l.rlim_cur / 8 > RINGS_TOTAL)
		return RINGS_TOTAL;
	return (size_t)l.rlim_cur / 8;
}

static size_t first_size(void)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t size = RING_MAX, most = most_memory();
	while (size > RING_MIN && size * (size_t)n_cpus > most)
		size /= 2;
	return size;
}

/* Users may lock so much memory and no more: smaller buffers then, and smaller stacks. And they may
 * not see the kernel: user mode alone, then. */
static struct kin_error *open_as_allowed(struct rings *r, const struct rings_opts *opts,
					 bool *user_only)
{
	for (;;) {
		make_attrs(r, opts);
		struct kin_error *err = open_all(r, opts->events, opts->tids, opts->n_tids);
		int errnum = err ? kin_error_errno(err) : 0;
		if (!err)
			return NULL;
		bool mapped = r->opened.n && errnum != EACCES;
		close_all(r);
		if (mapped && (errnum == EPERM || errnum == ENOMEM) && r->bytes > RING_MIN) {
			r->bytes /= 2;
		} else if (errnum == EACCES && !*user_only) {
			*user_only = true;
			for (size_t i = 0; i < opts->events->at.n; i++)
				opts->events->at.at[i].exclude_kernel = true;
		} else {
			return err;
		}
		kin_error_free(err);
	}
}

struct kin_error *rings_open(const struct rings_opts *opts, struct rings **ret, bool *user_only)
{
	struct rings *r = xalloc(sizeof(*r));
	r->bytes = first_size();
	r->with_tasks = opts->n_tids != 0;
	r->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct kin_error *err = open_as_allowed(r, opts, user_only);
	if (err) {
		rings_free(r);
		return err;
	}
	*ret = r;
	return NULL;
}

void rings_follow(struct rings *r, const pid_t *tids, size_t n, bool enable)
{
	size_t first = r->opened.n;
	if (n)
		kin_error_free(open_all(r, NULL, tids, n));
	for (size_t i = first; enable && i < r->opened.n; i++)
		ioctl(r->opened.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	close_all(r);
	vec_free(&r->at);
	vec_free(&r->opened);
	vec_free(&r->attrs);
	if (r->poll_fd >= 0)
		close(r->poll_fd);
	free(r);
}

static void control(struct rings *r, unsigned long what)
{
	for (size_t i = 0; i < r->opened.n; i++)
		ioctl(r->opened.at[i].fd, what, 0);
}
void rings_enable(struct rings *r) { control(r, PERF_EVENT_IOC_ENABLE); }
void rings_disable(struct rings *r) { control(r, PERF_EVENT_IOC_DISABLE); }

/* An event says goodbye once its task and all that it started are gone. */
void rings_polled(struct rings *r)
{
	struct epoll_event events[64];
	int n = epoll_wait(r->poll_fd, events, (int)ARRAY_LEN(events), 0);
	for (int i = 0; i < n; i++) {
		struct opened *o = &r->opened.at[events[i].data.u64];
		if (!(events[i].events & (EPOLLHUP | EPOLLERR)) || o->gone)
			continue;
		o->gone = true;
		r->n_alive--;
		epoll_ctl(r->poll_fd, EPOLL_CTL_DEL, o->fd, NULL);
	}
}

/* ---- reading ---- */

/* n bytes at a position of the ring, in one piece. */
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

static uint64_t ring_word(const struct rings *r, const struct ring *ring, uint64_t at)
{
	uint64_t v; /* records are aligned to words: none wraps */
	memcpy(&v, ring->data + (at & (r->bytes - 1)), sizeof(v));
	return v;
}

/* Samples: identifier, ip, tid, time, ... Others end in: tid, time, cpu, identifier. */
static uint64_t record_time(const struct rings *r, const struct ring *ring)
{
	struct perf_event_header h;
	uint64_t word = ring_word(r, ring, ring->tail);
	memcpy(&h, &word, sizeof(h));
	uint64_t at = h.type == PERF_RECORD_SAMPLE ? 32 : (uint64_t)h.size - 24;
	return ring_word(r, ring, ring->tail + at);
}

static void look(struct rings *r, struct ring *ring)
{
	ring->time = ring->tail < ring->head ? record_time(r, ring) : UINT64_MAX;
	if (ring->time > r->limit_ns)
		ring->time = UINT64_MAX;
}

void rings_begin(struct rings *r, bool all)
{
	r->limit_ns = all ? UINT64_MAX - 1 : now() - SLACK_NS;
	r->current = NULL;
	for (size_t i = 0; i < r->at.n; i++) {
		struct ring *ring = &r->at.at[i];
		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		look(r, ring);
	}
}

static void release_current(struct rings *r)
{
	struct ring *ring = r->current;
	if (!ring)
		return;
	ring->tail += r->current_size;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
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

static size_t event_of(const struct rings *r, uint64_t id)
{
	uint32_t e = map64_get(&r->ids, id);
	return e == NONE ? 0 : e;
}

static void parse_other(const struct rings *r, struct ring_record *ret)
{
	const uint8_t *end = (const uint8_t *)ret->header + ret->header->size;
	uint64_t words[4];
	memcpy(words, end - sizeof(words), sizeof(words));
	ret->pid = (uint32_t)words[0];
	ret->tid = (uint32_t)(words[0] >> 32);
	ret->time_ns = words[1];
	ret->cpu = (uint32_t)words[2];
	ret->event = event_of(r, words[3]);
}

/* The kernel wrote it: its lengths are good. Still nothing is read past the record. */
static bool parse_sample(const struct rings *r, struct ring_record *ret)
{
	const uint64_t *at = (const uint64_t *)(const void *)(ret->header + 1);
	const uint64_t *end = at + (ret->header->size - sizeof(*ret->header)) / 8;
	if (end - at < 6)
		return false;
	ret->event = event_of(r, at[0]);
	ret->ip = at[1];
	ret->pid = (uint32_t)at[2];
	ret->tid = (uint32_t)(at[2] >> 32);
	ret->time_ns = at[3];
	ret->cpu = (uint32_t)at[4];
	ret->period = at[5];
	at += 6;
	const struct perf_event_attr *a = &r->attrs.at[ret->event];
	if (a->sample_type & PERF_SAMPLE_CALLCHAIN) {
		if (at == end || *at >= (uint64_t)(end - at))
			return false;
		ret->n_chain = (size_t)*at++;
		ret->chain = at;
		at += ret->n_chain;
	}
	if (!(a->sample_type & PERF_SAMPLE_STACK_USER))
		return true;
	if (at == end)
		return false;
	ret->abi = *at++;
	size_t n_regs = ret->abi ? (size_t)__builtin_popcountll(REGS_MASK) : 0;
	if ((size_t)(end - at) < n_regs + 1)
		return false;
	ret->regs = at;
	at += n_regs;
	uint64_t size = *at++;
	if (!size)
		return true;
	if (size % 8 || size / 8 >= (uint64_t)(end - at))
		return false;
	ret->stack = (const uint8_t *)at;
	uint64_t filled = at[size / 8];
	ret->stack_size = (size_t)(filled < size ? filled : size);
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
}

static void prefetch_bytes(const struct rings *r, const struct ring *ring, uint64_t at, size_t n)
{
	enum { LINE = 64 };
	for (size_t i = 0; i < n; i += LINE)
		prefetch_line(ring->data + ((at + i) & (r->bytes - 1)));
}

/* What follows a sample is most likely one like it, whose bytes are still with the CPU that wrote
 * them: they come while this one's stack is walked. */
static void prefetch_next(const struct rings *r, const struct ring *ring)
{
	uint64_t next = ring->tail + r->current_size, end = next + r->current_size;
	if (end > ring->head)
		return;
	prefetch_bytes(r, ring, next, AHEAD < r->current_size ? AHEAD : r->current_size);
	prefetch_bytes(r, ring, end - 8, 8); /* how much of the stack is there */
}

bool rings_next(struct rings *r, struct ring_record *ret)
{
	for (;;) {
		release_current(r);
		struct ring *ring = earliest(r);
		if (!ring)
			return false;
		struct perf_event_header h;
		uint64_t word = ring_word(r, ring, ring->tail);
		memcpy(&h, &word, sizeof(h));
		r->current = ring;
		r->current_size = h.size;
		*ret = (struct ring_record){
			.header = (const void *)ring_bytes(r, ring, ring->tail, h.size),
		};
		count_lost(r, ret->header);
		if (h.type != PERF_RECORD_SAMPLE)
			parse_other(r, ret);
		else if (!parse_sample(r, ret))
			continue;
		else
			prefetch_next(r, ring);
		return true;
	}
}

/* ---- totals ---- */

struct rings_totals rings_totals(const struct rings *r)
{
	struct rings_totals t = { 0 };
	for (size_t i = 0; i < r->opened.n; i++) {
		const struct opened *o = &r->opened.at[i];
		uint64_t v[4] = { 0 }; /* value, enabled, running, lost */
		if (read(o->fd, v, sizeof(v)) < (ssize_t)(3 * sizeof(v[0])))
			continue;
		if (!o->event)
			t.running_ns += v[2];
		if (r->attrs.at[o->event].read_format & PERF_FORMAT_LOST)
			t.lost += v[3];
	}
	return t;
}

size_t rings_ids(const struct rings *r, size_t event, uint64_t *ret, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < r->opened.n && n < max; i++)
		if (r->opened.at[i].event == event)
			ret[n++] = r->opened.at[i].id;
	return n;
}

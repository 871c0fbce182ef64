/* rt_gmon.c - writes gmon.out, as GNU gprof reads it: one for the program, and gmon.out.OBJECT for
 * every shared object that has calls or samples. Addresses are the object's link-time
 * addresses. */
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

enum {
	TAG_HISTOGRAM = 0,
	TAG_ARC = 1,
	BIN = 4 /* bytes of code per bin, as in glibc */
};

static struct gmon_output {
	int fd;
	int failed;       /* the system's error, negative; 0: none */
	uint32_t used;    /* bytes of buf */
	uint64_t written; /* bytes before those in buf */
	uint8_t buf[64 << 10];
} out;

static void flush(void)
{
	for (uint32_t done = 0; done < out.used && !out.failed;) {
		long n = SYS3(write, out.fd, out.buf + done, out.used - done);

		if (n <= 0 && n != -EINTR)
			out.failed = n ? (int)n : -EIO;
		else if (n > 0) {
			done += (uint32_t)n;
			out.written += (uint64_t)n;
		}
	}
	out.used = 0;
}

/* Space for the next `n` bytes of output. */
static inline void *room(size_t n)
{
	void *at;

	if (sizeof(out.buf) - out.used < n)
		flush();
	at = out.buf + out.used;
	out.used += (uint32_t)n;
	return at;
}

#define PUT(value) __builtin_memcpy(room(sizeof(value)), &(value), sizeof(value))
static inline void put_byte(uint8_t v) { PUT(v); }
static inline void put_u16(uint16_t v) { PUT(v); }
static inline void put_u32(uint32_t v) { PUT(v); }
static inline void put_u64(uint64_t v) { PUT(v); }

static void put_zeros(uint64_t n)
{
	for (; n >= 8; n -= 8)
		put_u64(0);
	while (n--)
		put_byte(0);
}

/* ---- counts since rt_gmon_anew() ---- */

/* Where the copy of the memory at `at` lies; NULL: there was no data then. */
static const void *copy_of(const void *at)
{
	for (uint32_t i = 0; i < rt.n_extents; i++) {
		const struct rt_extent *e = &rt.extent[i];
		const uint8_t *p = at;

		if (e->before && p >= e->at && p < e->at + e->size)
			return e->before + (p - e->at);
	}
	return NULL;
}

static inline const void *before(const void *at) { return rt.gmon_anew ? copy_of(at) : NULL; }

static inline uint64_t since(const uint64_t *n)
{
	const uint64_t *old = before(n);
	uint64_t now = rt_read(n);

	return old && *old <= now ? now - *old : now;
}

static void copy_extent(struct rt_extent *e, uint64_t used)
{
	long m = (long)e->before;

	if (!m)
		m = SYS6(mmap, NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (m < 0 && m > -4096) {
		rt_error("memory for what gmon.out is to leave out", m);
		return;
	}
	copy_bytes((void *)m, e->at, used);
	e->before = (uint8_t *)m;
}

/* Calls of libraries that are unloaded later appear in full in their gmon.out, because they move to
 * other slots. */
void rt_gmon_anew(void)
{
	uint64_t mask;

	if (rt.state != RT_STARTED || rt.silent || !rt_lock(&mask))
		return;
	for (uint32_t i = 0; i < rt.n_extents; i++)
		copy_extent(&rt.extent[i], i + 1 == rt.n_extents ? rt.used : rt.extent[i].size);
	rt.gmon_anew = true;
	rt_unlock(mask);
}

/* ---- calls: their low 32 bits in a slot, the rest in a carry slot ---- */

static bool is_same_arc(const struct kinf_arc *a, const struct kinf_arc *b)
{
	return a->from == b->from && a->to == b->to;
}

/* The slot's earlier contents, if it held the same arc then; else NULL. */
static const struct kinf_call *call_before(const struct kinf_call *s)
{
	const struct kinf_call *old = before(s);

	return old && old->key == s->key && old->to_high == s->to_high ? old : NULL;
}

/* What a table's thread has carried for the arc since rt_gmon_anew(). */
static uint64_t carried(const struct kinf_block *table, const struct kinf_arc *a)
{
	const struct kinf_block *b = NULL;
	uint64_t sum = 0;

	while ((b = rt_next_block(b))) {
		const struct kinf_arc *s = (const struct kinf_arc *)b->payload;

		if (b->type != KINF_ARCS || b->thread != table->thread)
			continue;
		for (uint64_t n = b->used / sizeof(*s); n--; s++)
			if (is_same_arc(s, a))
				sum += since(&s->count);
	}
	return sum;
}

/* Carries since then that belong to calls before: 2^32 for each slot whose count is now less than
 * it was. */
static uint64_t borrowed(const struct kinf_block *table, const struct kinf_arc *a)
{
	enum { BITS = 32 };
	const struct kinf_block *b = NULL;
	uint64_t sum = 0;

	while (rt.gmon_anew && (b = rt_next_block(b))) {
		const struct kinf_call *s = (const struct kinf_call *)b->payload;

		if (b->type != KINF_CALLS || b->thread != table->thread)
			continue;
		for (uint64_t n = b->used / sizeof(*s); n--; s++) {
			const struct kinf_call *old = call_before(s);
			struct kinf_arc now = rt_call_at(s);

			if (old && is_same_arc(&now, a) && now.count < old->count)
				sum += (uint64_t)1 << BITS;
		}
	}
	return sum;
}

static inline struct kinf_arc arc_since(const struct kinf_block *b, const struct kinf_arc *s)
{
	struct kinf_arc a = rt_arc_at(s);

	a.count = since(&s->count);
	if (a.count) {
		uint64_t less = borrowed(b, &a);

		a.count -= less < a.count ? less : a.count;
	}
	return a;
}

/* A slot whose count is less than before has either wrapped, or was freed with its library and
 * taken anew. */
static inline struct kinf_arc call_since(const struct kinf_block *b, const struct kinf_call *s)
{
	const struct kinf_call *old = call_before(s);
	struct kinf_arc a = rt_call_at(s);

	if (old && a.to && (a.count >= old->count || carried(b, &a)))
		a.count = (uint32_t)(a.count - old->count);
	return a;
}

/* ---- histogram ---- */

/* Our own code is not a function of the program, even if linked into it. */
static bool is_at(const struct rt_module *m, const struct kinf_stack *s)
{
	uint64_t pc = s->pc[0];
	bool is_own = pc >= rt.sampling.own && pc < rt.sampling.own_end;

	return !is_own && pc >= m->text && pc < m->text_end && s->epoch >= m->record->mapped_at &&
	       s->epoch < m->record->unmapped_at;
}

/* Adds up the samples in the code of `m`, one tick for each period of their weight; false if there
 * are none. Without bins it only checks whether there are any. */
static bool add_mapping(const struct rt_module *m, uint32_t *bins, uint32_t n)
{
	const struct kinf_block *b = NULL;
	uint64_t period = rt.header->period_ns, rest = period / 2;
	bool any = false;

	while ((b = rt_next_block(b)) && (bins || !any)) {
		/* Later entries are ignored: the thread may be adding to them. */
		uint64_t at = 0, used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);

		while (b->type == KINF_STACKS && at + sizeof(struct kinf_stack) < used) {
			const struct kinf_stack *s = (const struct kinf_stack *)(b->payload + at);

			if (!__atomic_load_n(&s->depth, __ATOMIC_ACQUIRE))
				break; /* no entry yet */
			if (since(&s->count) && is_at(m, s)) {
				uint64_t bin = (s->pc[0] - m->text) / BIN;

				any = true;
				rest += since(&s->weight_ns);
				if (bins && period && bin < n) {
					bins[bin] += (uint32_t)(rest / period);
					rest %= period; /* not lost: carried over to the next
							   entry */
				}
			}
			at += sizeof(*s) + s->depth * sizeof(s->pc[0]);
		}
	}
	return any;
}

/* add_mapping() for all places and times at which the file of `m` was mapped. */
static bool add_samples(const struct rt_module *m, uint32_t *bins, uint32_t n)
{
	bool any = false;

	for (const struct rt_module *o = rt.all; o && (bins || !any); o = o->older)
		if (o->record && (o == m || o->first_id == m->id))
			any |= add_mapping(o, bins, n);
	return any;
}

static void put_histogram_header(const struct rt_module *m, uint32_t bins)
{
	static const char seconds[15] = "seconds";
	uint64_t period = rt.header->period_ns;

	put_byte(TAG_HISTOGRAM);
	put_u64(m->text - m->bias);
	put_u64(m->text - m->bias + (uint64_t)bins * BIN);
	put_u32(bins);
	put_u32(period ? (uint32_t)(1000000000u / period) : 100);
	PUT(seconds);
	put_byte('s');
}

/* Bins have 16 bits. The excess goes into another record of the same range; readers add them. */
static bool put_bins(const struct rt_module *m, uint32_t *bins, uint32_t n)
{
	bool more = false;

	put_histogram_header(m, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t ticks = bins[i] < UINT16_MAX ? bins[i] : UINT16_MAX;

		put_u16((uint16_t)ticks);
		bins[i] -= ticks;
		more |= bins[i];
	}
	return more;
}

static void put_histogram(const struct rt_module *m)
{
	uint32_t n = (uint32_t)((m->text_end - m->text + BIN - 1) / BIN);
	size_t size = n * sizeof(uint32_t);
	long bins = 0;

	if (add_samples(m, NULL, 0))
		bins = SYS6(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (bins <= 0 && bins > -4096) { /* no samples, or no memory: readers still expect a
					    histogram */
		put_histogram_header(m, n);
		put_zeros(n * sizeof(uint16_t));
		return;
	}
	add_samples(m, (uint32_t *)bins, n);
	while (put_bins(m, (uint32_t *)bins, n))
		;
	SYS2(munmap, bins, size);
}

/* ---- arcs ---- */

static void put_arc(uint64_t from, uint64_t to, uint64_t count)
{
	while (count) {
		uint32_t part = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
		uint8_t *at = room(21);

		at[0] = TAG_ARC;
		__builtin_memcpy(at + 1, &from, 8);
		__builtin_memcpy(at + 9, &to, 8);
		__builtin_memcpy(at + 17, &part, 4);
		count -= part;
	}
}

/* A caller in another object must not look like an address in this one. */
static uint64_t outside(const struct rt_module *m, uint64_t addr)
{
	return addr >= m->start - m->bias && addr < m->end - m->bias ? 0 : addr;
}

/* Whether the file of `m` is mapped at `addr`; then *place is the address in the file. */
static bool is_in(const struct rt_module *m, uint64_t addr, uint64_t *place)
{
	const struct rt_module *at = m;

	if (addr < m->start || addr >= m->end || !m->record || m->record->unmapped_at != UINT32_MAX)
		at = rt_module_at(addr);
	if (!at || at->first_id != m->first_id)
		return false;
	*place = addr - at->bias;
	return true;
}

static inline void put_arc_of(const struct rt_module *m, struct kinf_arc a)
{
	uint64_t from, to;

	if (!a.to || !a.count || !is_in(m, a.to, &to) || rt_is_twice(a.from, a.to))
		return;
	if (!is_in(m, a.from, &from))
		from = outside(m, a.from);
	put_arc(from, to, a.count);
}

static void put_arcs(const struct rt_module *m, const struct kinf_block *b)
{
	const struct kinf_arc *s = (const struct kinf_arc *)b->payload;

	for (uint64_t n = b->used / sizeof(*s); n--; s++)
		put_arc_of(m, arc_since(b, s));
}

static void put_calls(const struct rt_module *m, const struct kinf_block *b)
{
	const struct kinf_call *s = (const struct kinf_call *)b->payload;

	for (uint64_t n = b->used / sizeof(*s); n--; s++)
		put_arc_of(m, call_since(b, s));
}

static void put_retired_arcs(const struct rt_module *m, const struct kinf_block *b)
{
	const struct kinf_retired_arc *r = (const struct kinf_retired_arc *)b->payload;

	for (uint64_t n = b->used / sizeof(*r); n--; r++)
		if (r->to_module == m->first_id)
			put_arc(r->from_module == m->first_id ? r->from : 0, r->to,
				since(&r->count));
}

static void put_all_arcs(const struct rt_module *m)
{
	const struct kinf_block *b = NULL;

	while ((b = rt_next_block(b))) {
		if (b->type == KINF_ARCS)
			put_arcs(m, b);
		else if (b->type == KINF_CALLS)
			put_calls(m, b);
		else if (b->type == KINF_RETIRED_ARCS)
			put_retired_arcs(m, b);
	}
}

/* ---- which objects are called, and how often ---- */

static void mark(uint32_t id)
{
	for (struct rt_module *m = rt.all; m; m = m->older)
		if (m->id == id)
			m->called = true;
}

/* *m: the module that the previous arc leads into, since most arcs lead into the same one. */
static inline uint64_t survey_arc(struct kinf_arc a, const struct rt_module **m)
{
	if (!a.to || !a.count || (*m && a.to >= (*m)->start && a.to < (*m)->end))
		return a.count;
	*m = rt_module_at(a.to);
	if (*m)
		mark((*m)->first_id);
	return a.count;
}

static uint64_t survey_arcs(const struct kinf_block *b)
{
	const struct kinf_arc *s = (const struct kinf_arc *)b->payload;
	const struct rt_module *m = NULL;
	uint64_t calls = 0;

	for (uint64_t n = b->used / sizeof(*s); n--; s++)
		calls += survey_arc(arc_since(b, s), &m);
	return calls;
}

static uint64_t survey_calls(const struct kinf_block *b)
{
	const struct kinf_call *s = (const struct kinf_call *)b->payload;
	const struct rt_module *m = NULL;
	uint64_t calls = 0;

	for (uint64_t n = b->used / sizeof(*s); n--; s++)
		calls += survey_arc(call_since(b, s), &m);
	return calls;
}

static uint64_t survey_retired_arcs(const struct kinf_block *b)
{
	const struct kinf_retired_arc *r = (const struct kinf_retired_arc *)b->payload;
	uint64_t calls = 0;

	for (uint64_t n = b->used / sizeof(*r); n--; r++) {
		uint64_t count = since(&r->count);

		calls += count;
		if (count)
			mark(r->to_module);
	}
	return calls;
}

/* The number of calls counted. Marks the modules that they lead into. */
static uint64_t survey(void)
{
	const struct kinf_block *b = NULL;
	uint64_t calls = 0;

	for (struct rt_module *m = rt.all; m; m = m->older)
		m->called = false;
	while ((b = rt_next_block(b))) {
		if (b->type == KINF_ARCS)
			calls += survey_arcs(b);
		else if (b->type == KINF_CALLS)
			calls += survey_calls(b);
		else if (b->type == KINF_RETIRED_ARCS)
			calls += survey_retired_arcs(b);
	}
	return calls;
}

/* ---- files ---- */

/* The last part of the path in the module's record: the loader's name vanishes with the module. */
static void add_object(struct text *t, const struct kinf_module *r)
{
	const char *path = (const char *)(r + 1);
	size_t base = r->path_size;

	while (base && path[base - 1] != '/')
		base--;
	text_add(t, ".");
	text_bytes(t, path + base, r->path_size - base);
}

static void make_path(struct text *t, const char *prefix, const struct rt_module *m)
{
	text_add(t, prefix);
	if (prefix == rt.gmon_prefix || rt.forked) {
		text_add(t, ".");
		text_number(t, rt.pid);
	}
	if (!(m->flags & KINF_MODULE_MAIN))
		add_object(t, m->record);
}

static int try_open(const char *prefix, const struct rt_module *m)
{
	static char path[PATH_MAX];
	struct text t = { .at = path, .size = sizeof(path) };

	make_path(&t, prefix, m);
	return rt_open_output(path, O_WRONLY, 0666);
}

/* Opens the file where the C library would: by GMON_OUT_PREFIX, else gmon.out, in the current
 * directory. */
static int open_for(const struct rt_module *m)
{
	int fd = -1;

	if (rt.gmon_prefixed)
		fd = try_open(rt.gmon_prefix, m);
	if (fd < 0)
		fd = try_open("gmon.out", m);
	return fd;
}

static const char *reason(int err)
{
	switch (err) {
	case ENOENT:
		return "No such file or directory";
	case EACCES:
		return "Permission denied";
	case EPERM:
		return "Operation not permitted";
	case EISDIR:
		return "Is a directory";
	case EMFILE:
		return "Too many open files";
	case ENOSPC:
		return "No space left on device";
	case EFBIG:
		return "File too large";
	case EDQUOT:
		return "Disk quota exceeded";
	case EROFS:
		return "Read-only file system";
	case ELOOP:
		return "Too many levels of symbolic links";
	}
	return "it cannot be written";
}

/* Says it in the C library's words. Under kin run, which says what the .kin file has, once. */
static void not_written(const char *what, int err)
{
	char line[128];
	struct text t = { .at = line, .size = sizeof(line) };

	rt_error(what, err);
	if (rt.options.verbose || rt_option_on(&rt.options, "quiet", false))
		return;
	text_add(&t, "_mcleanup: gmon.out: ");
	text_add(&t, reason(-err));
	text_add(&t, "\n");
	rt_say(line, t.used);
}

/* An existing file is overwritten and then truncated, which is much faster than emptying it first.
 * Its magic number is written last. */
static void write_one(const struct rt_module *m)
{
	static const char magic[4] = "gmon";
	int fd = open_for(m);

	if (fd < 0) {
		not_written("gmon.out", fd);
		return;
	}
	out.fd = fd;
	out.failed = 0;
	out.written = 0;
	put_u32(0);                        /* magic */
	put_u32(1);                        /* version */
	put_u64(rt.header->start_time_ns); /* KINF_GMON_RUN */
	put_u32(rt.header->pid);
	put_histogram(m);
	put_all_arcs(m);
	flush();
	if (out.failed)
		not_written("writing gmon.out", out.failed);
	SYS2(ftruncate, fd, out.written);
	if (out.written)
		SYS4(pwrite64, fd, magic, sizeof(magic), 0);
	SYS1(close, fd);
}

/* One file per object that has calls or samples: for an object mapped several times, by its first
 * mapping. */
static bool has_file(const struct rt_module *m)
{
	if (m->flags & KINF_MODULE_MAIN)
		return true;
	if (!m->record || m->id != m->first_id || m->flags & KINF_MODULE_VDSO)
		return false;
	return m->called || add_samples(m, NULL, 0);
}

void rt_gmon_write(void)
{
	static rt_flag busy;
	uint64_t mask, calls;
	bool before;

	if (!rt.options.gmon || !rt.profiled || rt.gmon_kept || atomic_exchange(&busy, 1))
		return;
	/* A SIGXFSZ from here on, by a limit on file sizes, is our own. */
	if (rt_lock(&mask)) {
		before = rt_xfsz_pending();
		calls = survey() + rt.header->sampled_ns + 1;
		for (const struct rt_module *m = rt.all; m; m = m->older)
			if (rt.gmon_calls != calls && has_file(m))
				write_one(m);
		rt.gmon_calls = calls;
		rt_file_touch();
		if (!before)
			rt_forget_xfsz();
		rt_unlock(mask);
	}
	atomic_store(&busy, 0);
}

/* kin_stream.c - the records of a sealed block. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "input/kin_read.h"

/* A cursor that fails once and for all. */
struct fields {
	const uint8_t *p, *end;
	bool bad;
};

struct text {
	const char *s;
	size_t n;
};

struct stream {
	struct kin_file *f;
	struct fields in;
	uint64_t time_ns; /* of the last record that has one */
};

static uint64_t take(struct fields *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->p < in->end && shift < 64; shift += 7) {
		uint8_t byte = *in->p++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	in->bad = true;
	in->p = in->end;
	return 0;
}

/* A number that must fit 32 bits. */
static uint32_t take32(struct fields *in)
{
	uint64_t v = take(in);

	if (v > UINT32_MAX)
		in->bad = true;
	return (uint32_t)v;
}

static struct text take_text(struct fields *in)
{
	uint64_t n = take(in);

	if (n > (size_t)(in->end - in->p)) {
		in->bad = true;
		n = 0;
	}
	struct text t = { (const char *)in->p, (size_t)n };
	in->p += n;
	return t;
}

static uint64_t take_time(struct stream *s)
{
	uint64_t v = take(&s->in);

	s->time_ns += v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
	return s->time_ns;
}

static void note_time(struct kin_file *f, uint64_t time_ns)
{
	if (!f->first_ns || time_ns < f->first_ns)
		f->first_ns = time_ns;
	if (time_ns > f->last_ns)
		f->last_ns = time_ns;
}

static void add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* ---- ids ---- */

void kin_ids_free(struct kin_ids *ids)
{
	vec_free(&ids->stretches);
	vec_free(&ids->values);
}

/* The next definition gets this id; those from it on, if there are any, are no more. */
static void ids_continue(struct kin_ids *ids, uint32_t first)
{
	while (first < ids->next && ids->stretches.n) {
		struct kin_stretch *last = &ids->stretches.at[ids->stretches.n - 1];
		if (last->first < first) {
			uint64_t end = last->at + (uint64_t)(first - last->first);
			if (end < ids->values.n)
				ids->values.n = (size_t)end;
			break;
		}
		ids->values.n = last->at;
		ids->stretches.n--;
	}
	ids->next = first;
}

static void ids_add(struct kin_ids *ids, uint32_t value)
{
	struct kin_stretch *last =
		ids->stretches.n ? &ids->stretches.at[ids->stretches.n - 1] : NULL;

	if (!last || last->first + (ids->values.n - last->at) != ids->next)
		vec_push(&ids->stretches,
			 ((struct kin_stretch){ ids->next, (uint32_t)ids->values.n }));
	vec_push(&ids->values, value);
	ids->next++;
}

/* The profile's id; 0 for 0, NONE if it is not known. */
static uint32_t ids_find(const struct kin_ids *ids, uint32_t id)
{
	size_t low = 0, high = ids->stretches.n;

	if (!id)
		return 0;
	while (low < high) { /* the first stretch that begins behind it */
		size_t mid = low + (high - low) / 2;
		if (ids->stretches.at[mid].first <= id)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NONE;
	const struct kin_stretch *s = &ids->stretches.at[low - 1];
	uint64_t end = low < ids->stretches.n ? s[1].at : ids->values.n;
	uint64_t at = s->at + (uint64_t)(id - s->first);
	return at < end ? ids->values.at[at] : NONE;
}

static uint32_t find(const struct stream *s, enum kinf_record kind, uint32_t id)
{
	return ids_find(&s->f->ids[kind], id);
}

static void define(struct stream *s, enum kinf_record kind, uint32_t value)
{
	ids_add(&s->f->ids[kind], value);
}

static void read_first_id(struct stream *s)
{
	uint32_t kind = take32(&s->in), first = take32(&s->in);

	if (kind < KINF_R_MODULE || kind > KINF_R_STRING || !first)
		s->in.bad = true;
	else if (!s->in.bad)
		ids_continue(&s->f->ids[kind], first);
}

/* ---- definitions ---- */

static void read_module(struct stream *s)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t kind = take32(&s->in);
	struct text path = take_text(&s->in), id = take_text(&s->in);
	bool is_main = kind & KINF_KIND_MAIN;

	kind &= ~KINF_KIND_MAIN;
	if (s->in.bad || kind > KINF_OTHER) {
		s->in.bad = true;
		return;
	}
	char *name = xprintf("%.*s", (int)path.n, path.s), *hex = xalloc(2 * id.n + 1);
	for (size_t i = 0; i < id.n; i++) {
		hex[2 * i] = digits[(uint8_t)id.s[i] >> 4];
		hex[2 * i + 1] = digits[(uint8_t)id.s[i] & 15];
	}
	_Static_assert((unsigned)KINF_JIT == (unsigned)OBJECT_JIT &&
			       (unsigned)KINF_OTHER == (unsigned)OBJECT_OTHER,
		       "kinds are the same");
	define(s, KINF_R_MODULE,
	       profile_add_object_of(s->f->into, name, hex, (enum object_kind)kind, is_main));
	free(hex);
	free(name);
}

static strid add_text(struct stream *s, struct text t)
{
	return profile_add_string(s->f->into, t.s, strnlen(t.s, t.n));
}

static void read_frame(struct stream *s)
{
	uint32_t module = take32(&s->in);
	struct frame x = { .addr = take(&s->in) };
	uint32_t name = take32(&s->in);

	x.flags = take32(&s->in) & (FRAME_RETURN | FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR |
				    FRAME_GUESSED | FRAME_INLINED);
	x.object = find(s, KINF_R_MODULE, module);
	x.name = find(s, KINF_R_STRING, name);
	if (s->in.bad)
		return;
	bool known = x.object != NONE && x.name != NONE;
	define(s, KINF_R_FRAME, known ? profile_add_frame(s->f->into, x) : NONE);
}

static void read_stack(struct stream *s)
{
	uint32_t caller = find(s, KINF_R_STACK, take32(&s->in));
	uint32_t frame = find(s, KINF_R_FRAME, take32(&s->in));

	if (s->in.bad)
		return;
	bool known = caller != NONE && frame != NONE;
	define(s, KINF_R_STACK, known ? profile_add_stack(s->f->into, caller, frame) : NONE);
}

static void read_task(struct stream *s)
{
	struct task x = { .pid = take32(&s->in) };

	x.tid = take32(&s->in);
	x.run = take32(&s->in);
	struct text comm = take_text(&s->in);
	if (s->in.bad)
		return;
	x.comm = add_text(s, comm);
	define(s, KINF_R_TASK, profile_add_task(s->f->into, x));
}

static enum event_kind kind_of_event(uint32_t flags)
{
	if (flags & KINF_EVENT_WAITING)
		return EVENT_WAITING;
	return flags & KINF_EVENT_OFF_CPU ? EVENT_BLOCKED : EVENT_ON_CPU;
}

static void read_event(struct stream *s)
{
	uint32_t unit = take32(&s->in);
	struct text name = take_text(&s->in);
	uint64_t rate = take(&s->in);
	uint32_t flags = take32(&s->in);
	struct event x = { .unit = unit == KINF_NS ? EVENT_NS : EVENT_COUNT };

	x.kind = kind_of_event(flags);
	*(flags & KINF_EVENT_FREQUENCY ? &x.frequency : &x.period) = rate;
	if (flags & KINF_EVENT_MORE) {
		x.period = take(&s->in);
		x.group = take32(&s->in);
	}
	if (s->in.bad)
		return;
	x.name = add_text(s, name);
	/* Ids of events begin at 0 in the profile, and 0 is none here. */
	define(s, KINF_R_EVENT, profile_add_event(s->f->into, x) + 1u);
	if (!s->f->has_event && x.unit == EVENT_NS && x.kind == EVENT_ON_CPU) {
		s->f->event = profile_add_event(s->f->into, x);
		s->f->has_event = true;
	}
}

static void read_string(struct stream *s)
{
	struct text t = take_text(&s->in);

	if (!s->in.bad)
		define(s, KINF_R_STRING, add_text(s, t));
}

/* ---- what happened ---- */

static void count_sample(struct stream *s, const struct sample *x, uint32_t mode)
{
	struct kin_file *f = s->f;
	struct audit *a = profile_audit(f->into);

	if (x->time_ns)
		note_time(f, x->time_ns);
	if (f->header.writer == KINF_BY_TOOL)
		return; /* all of it is in its KINF_R_AUDIT */
	if (mode & KINF_MODE_CUT)
		a->truncated += x->count;
	if (mode & KINF_MODE_COMPLETE)
		a->complete += x->count;
	if (f->has_event && x->event == f->event) {
		add_to(&f->seen_sampled_ns, x->weight);
		if (x->task)
			add_to(&profile_task_at(f->into, x->task)->sampled_ns, x->weight);
	}
}

static void read_sample(struct stream *s)
{
	uint32_t event = find(s, KINF_R_EVENT, take32(&s->in));
	uint32_t task = find(s, KINF_R_TASK, take32(&s->in));
	uint32_t stack = find(s, KINF_R_STACK, take32(&s->in));
	uint64_t cpu = take(&s->in);
	struct sample x = { .time_ns = take_time(s), .count = 1 };

	x.weight = take(&s->in);
	uint32_t mode = take32(&s->in);
	if (mode & KINF_MODE_SUM) {
		x.count = take32(&s->in);
		x.parallelism = (uint16_t)take32(&s->in);
	}
	if (s->in.bad)
		return;
	if (event == NONE || !event || task == NONE || stack == NONE || !x.count) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	x.event = (uint16_t)(event - 1);
	x.task = task;
	x.stack = stack;
	x.cpu = cpu && cpu <= CPU_NONE ? (uint16_t)(cpu - 1) : CPU_NONE;
	x.flags = (uint16_t)(mode & (FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR));
	profile_add_sample(s->f->into, x);
	count_sample(s, &x, mode);
}

static void read_switch(struct stream *s)
{
	struct audit *a = profile_audit(s->f->into);

	take32(&s->in); /* task */
	take(&s->in);   /* processor */
	uint64_t time = take_time(s);
	uint32_t what = take32(&s->in);
	if (s->in.bad)
		return;
	note_time(s->f, time);
	a->switches += what == KINF_SWITCH_OUT || what == KINF_SWITCH_PREEMPTED;
	a->preemptions += what == KINF_SWITCH_PREEMPTED;
}

static void read_task_end(struct stream *s)
{
	uint32_t task = find(s, KINF_R_TASK, take32(&s->in));
	uint64_t time = take_time(s), cpu = take(&s->in);

	take(&s->in); /* status */
	if (s->in.bad)
		return;
	note_time(s->f, time);
	if (!task || task == NONE)
		return;
	struct task *x = profile_task_at(s->f->into, task);
	if (time > x->end_ns)
		x->end_ns = time;
	add_to(&x->cpu_ns, cpu);
}

static void read_task_times(struct stream *s)
{
	uint32_t task = find(s, KINF_R_TASK, take32(&s->in));
	uint64_t start = take(&s->in), end = take(&s->in), cpu = take(&s->in);
	uint64_t sampled = take(&s->in);

	if (s->in.bad || !task || task == NONE)
		return;
	struct task *x = profile_task_at(s->f->into, task);
	if (start && (!x->start_ns || start < x->start_ns))
		x->start_ns = start;
	if (end > x->end_ns)
		x->end_ns = end;
	add_to(&x->cpu_ns, cpu);
	add_to(&x->sampled_ns, sampled);
}

static void read_loss(struct stream *s)
{
	uint32_t what = take32(&s->in);
	uint64_t n = take(&s->in);

	if (!s->in.bad && what < KINF_N_LOSSES)
		add_to(&s->f->header.losses[what], n);
}

static void read_unwind(struct stream *s)
{
	uint32_t module = find(s, KINF_R_MODULE, take32(&s->in));
	uint64_t n = take(&s->in);

	if (!s->in.bad && module != NONE)
		profile_add_failure(s->f->into, module, n);
}

static void read_info(struct stream *s)
{
	struct text t = take_text(&s->in);

	if (!s->in.bad)
		kin_add_fact(s->f, t.s, t.n);
}

/* ---- sums ---- */

/* The two ends of an arc or a latency record; false if something is not known. */
static bool read_ends(struct stream *s, struct arc *a)
{
	a->from_object = find(s, KINF_R_MODULE, take32(&s->in));
	a->from = take(&s->in);
	a->to_object = find(s, KINF_R_MODULE, take32(&s->in));
	a->to = take(&s->in);
	return a->from_object != NONE && a->to_object != NONE;
}

static void read_arc(struct stream *s)
{
	struct arc a = { 0 };
	bool known = read_ends(s, &a);
	uint32_t id = take32(&s->in), task = find(s, KINF_R_TASK, id);

	a.count = take(&s->in);
	if (s->in.bad)
		return;
	if (!known || task == NONE) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	if (!id) {
		profile_add_arc(s->f->into, a);
		s->f->source->n_arcs++;
		return;
	}
	profile_add_task_arc(s->f->into, (struct task_arc){ .from = a.from,
							    .to = a.to,
							    .count = a.count,
							    .from_object = a.from_object,
							    .to_object = a.to_object,
							    .task = task });
}

static void read_count(struct stream *s)
{
	uint32_t object = find(s, KINF_R_MODULE, take32(&s->in));
	struct block b = { .addr = take(&s->in) };

	b.count = take(&s->in);
	if (s->in.bad)
		return;
	b.object = object;
	if (object == NONE) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	profile_add_block(s->f->into, b);
	if (!s->f->source->n_blocks++)
		profile_add_block_record(s->f->into);
}

/* Pairs of a number, that of the one before taken off, and a count; false at the end or if the
 * number is not below `limit`. */
static bool next_pair(struct stream *s, uint64_t *left, uint64_t limit, uint64_t *number,
		      uint64_t *count)
{
	if (!*left || s->in.bad)
		return false;
	--*left;
	if (__builtin_add_overflow(*number, take(&s->in), number) || *number >= limit)
		s->in.bad = true;
	*count = take(&s->in);
	return !s->in.bad;
}

static void read_latency(struct stream *s)
{
	uint64_t bucket[LATENCY_BUCKETS] = { 0 }, i = 0, n;
	struct latency l = { .bucket = bucket };
	struct arc a = { 0 };
	bool known = read_ends(s, &a);

	l.count = take(&s->in);
	l.sum_ns = take(&s->in);
	l.min_ns = take(&s->in);
	l.max_ns = take(&s->in);
	for (uint64_t left = take(&s->in); next_pair(s, &left, LATENCY_BUCKETS, &i, &n);)
		bucket[i] = n;
	if (s->in.bad)
		return;
	if (!known) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	l.from = a.from;
	l.to = a.to;
	l.from_object = a.from_object;
	l.to_object = a.to_object;
	profile_add_latency(s->f->into, l);
}

/* Its bins come with it; or with others of the same range. */
static void read_histogram(struct stream *s)
{
	enum { MAX_BINS = 1 << 28 }; /* as in gmon.out */
	struct histogram h = { .object = find(s, KINF_R_MODULE, take32(&s->in)) };
	uint64_t bin = 0, n;
	size_t at = 0;

	h.low = take(&s->in);
	h.high = take(&s->in);
	h.n = take32(&s->in);
	h.rate = take32(&s->in);
	struct text dimension = take_text(&s->in);
	h.abbrev = (char)take(&s->in);
	if (s->in.bad || dimension.n >= sizeof(h.dimension) || h.low > h.high ||
	    h.n > h.high - h.low || h.n > MAX_BINS) {
		s->in.bad = true;
		return;
	}
	memcpy(h.dimension, dimension.s, dimension.n);
	struct kin_error *err = NULL;
	bool known = h.object != NONE;
	if (known)
		err = profile_begin_histogram(s->f->into, h, &at);
	if (err && !s->f->err)
		s->f->err = err_wrap(err, "%s", s->f->w->b.name);
	else
		kin_error_free(err);
	for (uint64_t left = take(&s->in); next_pair(s, &left, h.n, &bin, &n);)
		if (known && !err)
			profile_add_bins(s->f->into, at, (uint32_t)bin, &n, 1);
	if (!known)
		profile_audit(s->f->into)->unresolved++;
	s->f->source->n_histograms++;
}

static void read_audit(struct stream *s)
{
	struct audit *a = profile_audit(s->f->into);
	uint64_t *const sums[KINF_N_AUDIT] = {
		[KINF_AUDIT_LOST] = &a->lost,
		[KINF_AUDIT_THROTTLED] = &a->throttled,
		[KINF_AUDIT_TRUNCATED] = &a->truncated,
		[KINF_AUDIT_COMPLETE] = &a->complete,
		[KINF_AUDIT_UNRESOLVED] = &a->unresolved,
		[KINF_AUDIT_SWITCHES] = &a->switches,
		[KINF_AUDIT_PREEMPTIONS] = &a->preemptions,
		[KINF_AUDIT_CPU_NS] = &a->cpu_ns,
		[KINF_AUDIT_SAMPLED_NS] = &a->sampled_ns,
		[KINF_AUDIT_DURATION_NS] = &a->duration_ns,
		[KINF_AUDIT_LOST_ARCS] = &a->lost_arcs,
		[KINF_AUDIT_LOST_BLOCKS] = &a->lost_blocks,
		[KINF_AUDIT_LOST_THREADS] = &a->lost_threads,
		[KINF_AUDIT_LOST_MODULES] = &a->lost_modules,
	};
	uint64_t n = take(&s->in);

	for (uint64_t i = 0; i < n && !s->in.bad; i++) {
		uint64_t v = take(&s->in);
		if (i < KINF_N_AUDIT && sums[i])
			add_to(sums[i], v);
		else if (i == KINF_AUDIT_SATURATED && v)
			profile_note_saturated(s->f->into);
	}
}

/* ---- all of them ---- */

static void read_record(struct stream *s)
{
	static void (*const readers[])(struct stream *) = {
		[KINF_R_MODULE] = read_module,
		[KINF_R_FRAME] = read_frame,
		[KINF_R_STACK] = read_stack,
		[KINF_R_TASK] = read_task,
		[KINF_R_EVENT] = read_event,
		[KINF_R_STRING] = read_string,
		[KINF_R_SAMPLE] = read_sample,
		[KINF_R_SWITCH] = read_switch,
		[KINF_R_TASK_END] = read_task_end,
		[KINF_R_LOSS] = read_loss,
		[KINF_R_UNWIND] = read_unwind,
		[KINF_R_INFO] = read_info,
		[KINF_R_FIRST_ID] = read_first_id,
		[KINF_R_ARC] = read_arc,
		[KINF_R_COUNT] = read_count,
		[KINF_R_LATENCY] = read_latency,
		[KINF_R_HISTOGRAM] = read_histogram,
		[KINF_R_TASK_TIMES] = read_task_times,
		[KINF_R_AUDIT] = read_audit,
	};
	uint8_t kind = *s->in.p++;

	if (kind < ARRAY_LEN(readers) && readers[kind])
		readers[kind](s);
	else
		s->in.bad = true;
}

void kin_read_records(struct kin_file *f, const uint8_t *plain, size_t n, uint64_t at)
{
	struct stream s = { .f = f, .in = { plain, plain + n, false } };
	const uint8_t *record = plain;

	while (s.in.p < s.in.end && !s.in.bad) {
		record = s.in.p;
		read_record(&s);
	}
	if (s.in.bad) {
		char *what = xprintf("no such record, at %zu of the block",
				     (size_t)(record - plain));
		kin_damaged(f, at, what);
		free(what);
	}
}

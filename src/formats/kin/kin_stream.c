/* kin_stream.c - reads the records of a sealed block. */
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/num.h"
#include "formats/kin/kin_records.h"

static void note_time(struct kinfile *f, uint64_t time_ns)
{
	if (!f->first_ns || time_ns < f->first_ns)
		f->first_ns = time_ns;
	if (time_ns > f->last_ns)
		f->last_ns = time_ns;
}

static void define(struct kinfile_stream *s, enum kinf_record kind, uint32_t value)
{
	kinfile_ids_add(&s->f->ids[kind], value);
}

static void read_first_id(struct kinfile_stream *s)
{
	uint32_t kind = kinfile_take32(&s->in), first = kinfile_take32(&s->in);

	if (kind < KINF_R_MODULE || kind > KINF_R_STRING || !first)
		s->in.failed = true;
	else if (!s->in.failed)
		kinfile_ids_continue(&s->f->ids[kind], first);
}

/* ---- definitions ---- */

static void read_module(struct kinfile_stream *s)
{
	uint32_t kind = kinfile_take32(&s->in);
	struct kinfile_text path = kinfile_take_text(&s->in), id = kinfile_take_text(&s->in);
	bool is_main = kind & KINF_KIND_MAIN;

	kind &= ~KINF_KIND_MAIN;
	if (s->in.failed || kind > KINF_OTHER) {
		s->in.failed = true;
		return;
	}
	char *name = xprintf("%.*s", (int)path.n, path.s), *hex = xalloc(2 * id.n + 1);
	num_hex(hex, id.s, id.n);
	_Static_assert((unsigned)KINF_JIT == (unsigned)OBJECT_JIT &&
			       (unsigned)KINF_OTHER == (unsigned)OBJECT_OTHER,
		       "kinds are the same");
	define(s, KINF_R_MODULE,
	       profile_add_object_of(s->f->into, name, hex, (enum object_kind)kind, is_main));
	free(hex);
	free(name);
}

static strid add_text(struct kinfile_stream *s, struct kinfile_text t)
{
	return profile_add_string(s->f->into, t.s, strnlen(t.s, t.n));
}

static void note_leaf(struct kinfile *f, frameid frame, uint32_t flags)
{
	while (f->leaves.n <= frame)
		vec_push(&f->leaves, 0);
	if (flags & (FRAME_INLINED | FRAME_MARK))
		f->leaves.at[frame] = NONE;
}

static void read_frame(struct kinfile_stream *s)
{
	uint32_t module = kinfile_take32(&s->in);
	struct frame x = { .addr = bytes_uleb(&s->in) };
	uint32_t name = kinfile_take32(&s->in);

	x.flags = kinfile_take32(&s->in) &
		  (FRAME_RETURN | FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR | FRAME_GUESSED |
		   FRAME_INLINED | FRAME_MARK | FRAME_HOOK | FRAME_SIGNAL);
	x.object = kinfile_find(s, KINF_R_MODULE, module);
	x.name = kinfile_find(s, KINF_R_STRING, name);
	if (s->in.failed)
		return;
	bool known = x.object != NONE && x.name != NONE;
	frameid frame = known ? profile_add_frame(s->f->into, x) : NONE;
	define(s, KINF_R_FRAME, frame);
	if (known && s->f->leaves_only)
		note_leaf(s->f, frame, x.flags);
}

static stackid add_stack(struct kinfile *f, stackid caller, frameid frame)
{
	if (!f->leaves_only || !frame || f->leaves.at[frame] == NONE)
		return profile_add_stack(f->into, caller, frame);
	stackid *leaf = &f->leaves.at[frame];
	if (!*leaf)
		*leaf = profile_add_stack(f->into, 0, frame);
	return *leaf;
}

static void skip_numbers(struct kinfile_stream *s, int n)
{
	while (n--)
		bytes_uleb(&s->in);
}

static void read_stack(struct kinfile_stream *s)
{
	uint32_t caller = kinfile_find(s, KINF_R_STACK, kinfile_take32(&s->in));
	uint32_t frame = kinfile_find(s, KINF_R_FRAME, kinfile_take32(&s->in));

	if (s->in.failed)
		return;
	bool known = caller != NONE && frame != NONE;
	define(s, KINF_R_STACK, known ? add_stack(s->f, caller, frame) : NONE);
}

static void read_task_of(struct kinfile_stream *s, uint32_t rank)
{
	struct task x = { .pid = kinfile_take32(&s->in), .rank = rank };

	x.tid = kinfile_take32(&s->in);
	x.run = kinfile_take32(&s->in);
	struct kinfile_text comm = kinfile_take_text(&s->in);
	if (s->in.failed)
		return;
	x.comm = add_text(s, comm);
	define(s, KINF_R_TASK, profile_add_task(s->f->into, x));
	s->f->has_task = true;
}

static void read_task(struct kinfile_stream *s) { read_task_of(s, s->f->header.rank); }

static void read_rank_task(struct kinfile_stream *s)
{
	uint32_t rank = kinfile_take32(&s->in);

	if (rank == UINT32_MAX)
		bytes_fail(&s->in);
	read_task_of(s, rank + 1);
}

static enum event_kind kind_of_event(uint32_t flags)
{
	if (flags & KINF_EVENT_WAITING)
		return EVENT_WAITING;
	return flags & KINF_EVENT_OFF_CPU ? EVENT_BLOCKED : EVENT_ON_CPU;
}

static void read_event(struct kinfile_stream *s)
{
	uint32_t unit = kinfile_take32(&s->in);
	struct kinfile_text name = kinfile_take_text(&s->in);
	uint64_t rate = bytes_uleb(&s->in);
	uint32_t flags = kinfile_take32(&s->in);
	struct event x = { .unit = unit == KINF_NS ? EVENT_NS : EVENT_COUNT };

	x.kind = kind_of_event(flags);
	x.is_trace = flags & KINF_EVENT_TRACE;
	x.is_assembled = flags & KINF_EVENT_ASSEMBLED;
	*(flags & KINF_EVENT_FREQUENCY ? &x.frequency : &x.period) = rate;
	if (flags & KINF_EVENT_MORE) {
		x.period = bytes_uleb(&s->in);
		x.group = kinfile_take32(&s->in);
	}
	if (s->in.failed)
		return;
	x.name = add_text(s, name);
	/* The profile's ids of events begin at 0, but 0 means none here. */
	define(s, KINF_R_EVENT, profile_add_event(s->f->into, x) + 1u);
	if (!s->f->has_event && x.unit == EVENT_NS && x.kind == EVENT_ON_CPU) {
		s->f->event = profile_add_event(s->f->into, x);
		s->f->has_event = true;
	}
}

static void read_string(struct kinfile_stream *s)
{
	struct kinfile_text t = kinfile_take_text(&s->in);

	if (!s->in.failed)
		define(s, KINF_R_STRING, add_text(s, t));
}

/* ---- measured data ---- */

static void count_sample(struct kinfile_stream *s, const struct sample *x, uint32_t mode)
{
	struct kinfile *f = s->f;
	struct audit *a = profile_audit(f->into);

	if (x->time_ns)
		note_time(f, x->time_ns);
	if (f->header.writer == KINF_BY_TOOL)
		return; /* tools write all of this in KINF_R_AUDIT */
	if (mode & KINF_MODE_CUT)
		a->truncated += x->count;
	if (mode & KINF_MODE_BEYOND)
		a->beyond += x->count;
	if (mode & KINF_MODE_COMPLETE)
		a->complete += x->count;
	if (mode & KINF_MODE_GUESSED)
		a->guessed += x->count;
	if (f->has_event && x->event == f->event) {
		capped_add(&f->seen_sampled_ns, x->weight);
		if (x->task)
			capped_add(&profile_task_at(f->into, x->task)->sampled_ns, x->weight);
	}
}

/* Skips a sample. Its details are separate records. */
static void skip_sample(struct kinfile_stream *s)
{
	skip_numbers(s, 6);
	if (bytes_uleb(&s->in) & KINF_MODE_SUM)
		skip_numbers(s, 2);
}

static void read_sample(struct kinfile_stream *s)
{
	if (s->f->stacks_only) {
		skip_sample(s);
		return;
	}
	uint32_t id = kinfile_take32(&s->in), event = kinfile_find(s, KINF_R_EVENT, id);
	uint32_t task = kinfile_find(s, KINF_R_TASK, kinfile_take32(&s->in));
	uint32_t stack = kinfile_find(s, KINF_R_STACK, kinfile_take32(&s->in));
	uint64_t cpu = bytes_uleb(&s->in);
	struct sample x = { .time_ns = kinfile_take_time(s), .count = 1 };

	x.weight = bytes_uleb(&s->in);
	uint32_t mode = kinfile_take32(&s->in);
	if (mode & KINF_MODE_SUM) {
		x.count = kinfile_take32(&s->in);
		x.parallelism = (uint16_t)kinfile_take32(&s->in);
	}
	if (s->in.failed)
		return;
	if (event == NONE || !event || task == NONE || stack == NONE || !x.count) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	x.event = (uint16_t)(event - 1);
	x.task = task;
	x.stack = stack;
	x.cpu = sample_cpu(cpu - 1); /* stored plus 1; 0: not known */
	x.flags = (uint16_t)(mode & (FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR));
	s->like = x;
	s->is_held = s->f->by_first;
	s->f->by_first = false;
	if (!s->f->by_branch && !s->is_held)
		profile_add_sample(s->f->into, x);
	count_sample(s, &x, mode);
	s->sampled = id;
	s->trace = 0;
}

static void read_switch(struct kinfile_stream *s)
{
	kinfile_take32(&s->in); /* task */
	bytes_uleb(&s->in);     /* processor */
	uint64_t time = kinfile_take_time(s);
	uint32_t what = kinfile_take32(&s->in);
	if (s->in.failed)
		return;
	note_time(s->f, time);
	s->f->switches += what == KINF_SWITCH_OUT || what == KINF_SWITCH_PREEMPTED;
	s->f->preemptions += what == KINF_SWITCH_PREEMPTED;
}

static void read_task_end(struct kinfile_stream *s)
{
	uint32_t task = kinfile_find(s, KINF_R_TASK, kinfile_take32(&s->in));
	uint64_t time = kinfile_take_time(s), cpu = bytes_uleb(&s->in);

	bytes_uleb(&s->in); /* status */
	if (s->in.failed)
		return;
	note_time(s->f, time);
	if (!task || task == NONE)
		return;
	struct task *x = profile_task_at(s->f->into, task);
	if (time > x->end_ns)
		x->end_ns = time;
	capped_add(&x->cpu_ns, cpu);
}

static void read_task_times(struct kinfile_stream *s)
{
	uint32_t task = kinfile_find(s, KINF_R_TASK, kinfile_take32(&s->in));
	uint64_t start = bytes_uleb(&s->in), end = bytes_uleb(&s->in), cpu = bytes_uleb(&s->in);
	uint64_t sampled = bytes_uleb(&s->in);

	if (s->in.failed || !task || task == NONE)
		return;
	struct task *x = profile_task_at(s->f->into, task);
	if (start && (!x->start_ns || start < x->start_ns))
		x->start_ns = start;
	if (end > x->end_ns)
		x->end_ns = end;
	capped_add(&x->cpu_ns, cpu);
	capped_add(&x->sampled_ns, sampled);
}

static void read_loss(struct kinfile_stream *s)
{
	uint32_t what = kinfile_take32(&s->in);
	uint64_t n = bytes_uleb(&s->in);

	if (!s->in.failed && what < KINF_N_LOSSES)
		capped_add(&s->f->header.losses[what], n);
}

static void read_unwind(struct kinfile_stream *s)
{
	uint32_t module = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in));
	uint64_t n = bytes_uleb(&s->in);

	if (!s->in.failed && module != NONE)
		profile_add_failure(s->f->into, module, n);
}

static void read_marker(struct kinfile_stream *s)
{
	uint64_t time = kinfile_take_time(s);
	struct kinfile_text name = kinfile_take_text(&s->in);

	if (s->in.failed)
		return;
	note_time(s->f, time);
	profile_add_marker(s->f->into,
			   (struct marker){ .time_ns = time, .name = add_text(s, name) });
}

static void read_info(struct kinfile_stream *s)
{
	struct kinfile_text t = kinfile_take_text(&s->in);

	if (!s->in.failed)
		kinfile_add_fact(s->f, t.s, t.n);
}

/* Reads the final header of a file that was written to a pipe, with values that its first one
 * lacked. */
static void read_end(struct kinfile_stream *s)
{
	struct kinf_header end, *h = &s->f->header;
	struct kinfile_text t = kinfile_take_text(&s->in);

	/* The header has grown since the first version. */
	if (s->in.failed || t.n < offsetof(struct kinf_header, rank) || t.n > sizeof(end)) {
		bytes_fail(&s->in);
		return;
	}
	memset(&end, 0, sizeof(end));
	memcpy(&end, t.s, t.n);
	h->end = end.end;
	h->end_detail = end.end_detail;
	h->end_ns = end.end_ns;
	h->cpu_ns = end.cpu_ns;
	h->sampled_ns = end.sampled_ns;
	for (size_t i = 0; i < KINF_N_LOSSES; i++)
		capped_add(&h->losses[i], end.losses[i]);
	memcpy(h->error, end.error, sizeof(h->error));
	h->error[sizeof(h->error) - 1] = '\0';
}

/* ---- all records ---- */

static void read_record(struct kinfile_stream *s)
{
	static void (*const readers[])(struct kinfile_stream *) = {
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
		[KINF_R_MARKER] = read_marker,
		[KINF_R_FIRST_ID] = read_first_id,
		[KINF_R_ARC] = kinfile_read_arc,
		[KINF_R_COUNT] = kinfile_read_count,
		[KINF_R_LATENCY] = kinfile_read_latency,
		[KINF_R_HISTOGRAM] = kinfile_read_histogram,
		[KINF_R_TASK_TIMES] = read_task_times,
		[KINF_R_AUDIT] = kinfile_read_audit,
		[KINF_R_HEADER] = read_end,
		[KINF_R_RANK_TASK] = read_rank_task,
		[KINF_R_RANKS] = kinfile_read_ranks,
		[KINF_R_SPREAD] = kinfile_read_spread,
		[KINF_R_TRACE_FORMAT] = kinfile_read_trace_format,
		[KINF_R_TRACE_STRINGS] = kinfile_read_trace_strings,
		[KINF_R_TRACE_FUNCTION] = kinfile_read_trace_function,
		[KINF_R_PROBES] = kinfile_read_probes,
	};
	uint8_t kind = *s->in.pos++;
	uint32_t sampled = s->sampled;

	if (kind != KINF_R_DETAILS)
		kinfile_add_held(s);

	if (kind == KINF_R_TRACE_FIELDS) {
		kinfile_read_trace_fields(s, sampled);
		return;
	}
	if (kind == KINF_R_TRACE_TEXT) {
		kinfile_read_trace_text(s, sampled);
		return;
	}
	s->sampled = 0;
	if (kind == KINF_R_DETAILS)
		kinfile_read_details(s, sampled);
	else if (kind < ARRAY_LEN(readers) && readers[kind])
		readers[kind](s);
	else
		s->in.failed = true;
}

void kinfile_read_records(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at)
{
	struct kinfile_stream s = { .f = f, .in = bytes_of(NULL, plain, n) };
	const uint8_t *record = plain;

	while (bytes_left(&s.in) && !s.in.failed) {
		record = s.in.pos;
		read_record(&s);
	}
	kinfile_add_held(&s);
	if (s.in.failed) {
		char *what =
			xprintf("no such record, at %zu of the block", (size_t)(record - plain));
		kinfile_damaged(f, at, what);
		free(what);
	}
}

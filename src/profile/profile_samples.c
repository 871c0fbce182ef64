/* profile_samples.c - interns frames, stacks, tasks and details, and merges them. */
#include "profile/profile_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "profile/samples_builder.h"

/* ---- sums ---- */

static void add_up(struct samples_builder *s, uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to)) {
		*to = UINT64_MAX;
		s->saturated = true;
	}
}

/* Notes a weight that is about to be added. */
static void note_weight(struct samples_builder *s, uint64_t weight)
{
	s->n_weights++;
	s->any_weight |= weight;
}

/* Reduces weights such that those of an event add up to 64 bits: no sum of samples that is made
 * later can then overflow. Looks at the samples only if that is possible at all. */
static void cap_weights(struct samples_builder *s)
{
	unsigned __int128 most = (unsigned __int128)s->n_weights * s->any_weight;
	if (most <= UINT64_MAX)
		return;
	uint64_t *left = xalloc((s->events.n + 1) * sizeof(*left));
	for (size_t i = 0; i < s->events.n; i++)
		left[i] = UINT64_MAX;
	for (size_t i = 0; i < s->at.n; i++) {
		struct sample *x = &s->at.at[i];
		if (x->event >= s->events.n)
			continue;
		s->saturated |= x->weight > left[x->event];
		x->weight = min_u64(x->weight, left[x->event]);
		left[x->event] -= x->weight;
	}
	free(left);
}

/* ---- interned objects ---- */

static uint64_t frame_hash(const void *frame)
{
	const struct frame *f = frame;
	return records_mix(records_mix(records_mix(0, f->addr), MAP64_PAIR(f->object, f->name)),
			   f->flags);
}

static bool frame_same(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;
	return x->addr == y->addr && x->object == y->object && x->name == y->name &&
	       x->flags == y->flags;
}

static const struct records_kind frame_records = { sizeof(struct frame), frame_hash, frame_same };

frameid samples_add_frame(struct samples_builder *s, struct frame f)
{
	frameid id =
		records_add(&s->frame_ids, &frame_records, s->frames.at, &f, (frameid)s->frames.n);
	if (id == s->frames.n)
		vec_push(&s->frames, f);
	return id;
}

void samples_reserve_frames(struct samples_builder *s, size_t n)
{
	records_reserve(&s->frame_ids, &frame_records, s->frames.at, n);
	vec_reserve(&s->frames, n);
}

stackid samples_add_stack(struct samples_builder *s, stackid caller, frameid frame)
{
	return stack_tree_add(&s->stacks, caller, frame);
}

stackid samples_push_stack(struct samples_builder *s, stackid caller, frameid frame)
{
	if (s->stacks.nodes.n >= s->pushed_max)
		return samples_add_stack(s, caller, frame);
	vec_push(&s->stacks.nodes, ((struct stack){ caller, frame }));
	return (stackid)(s->stacks.nodes.n - 1);
}

static uint64_t task_hash(const void *task)
{
	const struct task *t = task;
	return records_mix(records_mix(records_mix(0, MAP64_PAIR(t->pid, t->tid)),
				       MAP64_PAIR(t->comm, t->run)),
			   t->rank);
}

static bool task_same(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	return x->pid == y->pid && x->tid == y->tid && x->comm == y->comm && x->run == y->run &&
	       x->rank == y->rank;
}

static const struct records_kind task_records = { sizeof(struct task), task_hash, task_same };

/* Chooses between the last names of a thread in two parts of a recording. Which part is later is
 * not known, so the choice does not depend on their order. */
static strid last_name(const struct samples_builder *s, strid a, strid b)
{
	if (!a || !b || a == b)
		return a ? a : b;
	return strcmp(strtab_get(s->strings, a), strtab_get(s->strings, b)) > 0 ? a : b;
}

static void join_task(struct samples_builder *s, struct task *t, const struct task *more)
{
	if (more->start_ns && (!t->start_ns || more->start_ns < t->start_ns))
		t->start_ns = more->start_ns;
	if (more->end_ns > t->end_ns)
		t->end_ns = more->end_ns;
	t->last_comm = last_name(s, t->last_comm, more->last_comm);
	add_up(s, &t->cpu_ns, more->cpu_ns);
	add_up(s, &t->sampled_ns, more->sampled_ns);
}

taskid samples_add_task(struct samples_builder *s, struct task t)
{
	taskid id = records_add(&s->task_ids, &task_records, s->tasks.at, &t, (taskid)s->tasks.n);
	if (id == s->tasks.n)
		vec_push(&s->tasks, t);
	else
		join_task(s, &s->tasks.at[id], &t);
	return id;
}

/* If two files were recorded at different rates, the higher rate is kept, whichever comes first. */
static void join_event(struct event *e, const struct event *more)
{
	e->frequency = more->frequency > e->frequency ? more->frequency : e->frequency;
	e->period = more->period > e->period ? more->period : e->period;
	e->stacks = e->stacks || more->stacks;
	e->is_trace = e->is_trace || more->is_trace;
	e->is_assembled = e->is_assembled || more->is_assembled;
	e->group = more->group > e->group ? more->group : e->group;
}

/* A linear search: a profile has only a handful of events. */
uint16_t samples_add_event(struct samples_builder *s, struct event e)
{
	for (size_t i = 0; i < s->events.n; i++) {
		struct event *known = &s->events.at[i];
		if (known->name == e.name && known->kind == e.kind && known->unit == e.unit) {
			join_event(known, &e);
			return (uint16_t)i;
		}
	}
	if (s->events.n == UINT16_MAX)
		return UINT16_MAX - 1;
	vec_push(&s->events, e);
	return (uint16_t)(s->events.n - 1);
}

/* ---- samples ---- */

static uint64_t kind_hash(const void *kind)
{
	const struct sample_kind *x = kind;
	uint64_t rest = (uint64_t)x->event << 32 | (uint64_t)x->parallelism << 16 | x->flags;
	return records_mix(records_mix(0, MAP64_PAIR(x->source, x->task)), rest);
}

static bool kind_same(const void *a, const void *b)
{
	const struct sample_kind *x = a, *y = b;
	return x->task == y->task && x->event == y->event && x->parallelism == y->parallelism &&
	       x->flags == y->flags && x->source == y->source;
}

static const struct records_kind kind_records = { sizeof(struct sample_kind), kind_hash,
						  kind_same };

static uint32_t add_kind(struct samples_builder *s, const struct sample *x)
{
	struct sample_kind kind = { x->task, x->source, x->event, x->parallelism, x->flags };
	uint32_t id =
		records_add(&s->kind_ids, &kind_records, s->kinds.at, &kind, (uint32_t)s->kinds.n);
	if (id == s->kinds.n)
		vec_push(&s->kinds, kind);
	return id;
}

void samples_add_to_sample(struct samples_builder *s, size_t sample, uint32_t count,
			   uint64_t weight)
{
	struct sample *sum = &s->at.at[sample];
	note_weight(s, weight);
	if (__builtin_add_overflow(sum->count, count, &sum->count)) {
		sum->count = UINT32_MAX;
		s->saturated = true;
	}
	add_up(s, &sum->weight, weight);
}

/* Samples of trace points are not summed: each may still get a detail. */
static bool is_summed(const struct samples_builder *s, const struct sample *x, detailid detail)
{
	return s->sums && !detail && x->event < s->events.n && !s->events.at[x->event].is_trace;
}

static void find_next(struct samples_builder *s)
{
	struct coming_sample *c = &s->coming[s->n_found++ % SAMPLES_COMING];
	uint32_t next = (uint32_t)s->at.n;

	c->id = pairs_add(&s->sample_ids, c->x.stack, c->kind, next);
	if (c->id == next) {
		note_weight(s, c->x.weight);
		vec_push(&s->at, c->x);
		c->id = NONE;
	} else {
		__builtin_prefetch(&s->at.at[c->id], 1);
	}
}

static void add_next(struct samples_builder *s)
{
	const struct coming_sample *c = &s->coming[s->n_added++ % SAMPLES_COMING];

	if (c->id != NONE)
		samples_add_to_sample(s, c->id, c->x.count, c->x.weight);
}

/* Finishes the first n samples that came: looks them up and adds them. */
static void settle(struct samples_builder *s, uint64_t n)
{
	while (s->n_found < n)
		find_next(s);
	while (s->n_added < n)
		add_next(s);
}

void samples_sum_sample(struct samples_builder *s, struct sample x, detailid detail)
{
	if (!is_summed(s, &x, detail)) {
		samples_add_sample(s, x, detail);
		return;
	}
	struct coming_sample *c = &s->coming[s->n_came++ % SAMPLES_COMING];
	x.time_ns = 0;
	x.cpu = CPU_NONE;
	s->is_sum = true;
	c->x = x;
	c->kind = add_kind(s, &x);
	pairs_prefetch(&s->sample_ids, x.stack, c->kind);
	if (s->n_came - s->n_found == SAMPLES_COMING / 2)
		find_next(s);
	if (s->n_came - s->n_added == SAMPLES_COMING)
		add_next(s);
}

size_t samples_push_sample(struct samples_builder *s, struct sample x)
{
	settle(s, s->n_came);
	s->is_sum = s->sums;
	if (s->sums) {
		x.time_ns = 0;
		x.cpu = CPU_NONE;
	}
	note_weight(s, x.weight);
	vec_push(&s->at, x);
	return s->at.n - 1;
}

size_t samples_add_sample(struct samples_builder *s, struct sample x, detailid detail)
{
	settle(s, s->n_came);
	s->is_sum = is_summed(s, &x, detail);
	if (!s->is_sum) {
		note_weight(s, x.weight);
		vec_push(&s->at, x);
		samples_set_detail(s, detail);
		return s->at.n - 1;
	}
	x.time_ns = 0;
	x.cpu = CPU_NONE;
	uint32_t id = pairs_add(&s->sample_ids, x.stack, add_kind(s, &x), (uint32_t)s->at.n);
	if (id < s->at.n) {
		samples_add_to_sample(s, id, x.count, x.weight);
		return id;
	}
	note_weight(s, x.weight);
	vec_push(&s->at, x);
	return id;
}

/* ---- details ---- */

/* Hashes eight bytes at a time: the struct has no padding. */
static uint64_t detail_hash(const void *detail)
{
	uint64_t h = 0, words[sizeof(struct detail) / 8];
	_Static_assert(sizeof(words) == sizeof(struct detail), "no padding");
	memcpy(words, detail, sizeof(words));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		h = records_mix(h, words[i]);
	return h;
}

static bool detail_same(const void *a, const void *b)
{
	return !memcmp(a, b, sizeof(struct detail));
}

static const struct records_kind detail_records = { sizeof(struct detail), detail_hash,
						    detail_same };

detailid samples_add_detail(struct samples_builder *s, const struct detail *d)
{
	detailid id = records_add(&s->detail_ids, &detail_records, s->details.at, d,
				  (detailid)s->details.n);
	if (id == s->details.n)
		vec_push(&s->details, *d);
	return id;
}

uint64_t *samples_add_words(struct samples_builder *s, size_t n, uint64_t *at)
{
	*at = s->words.n;
	vec_reserve(&s->words, n);
	s->words.n += n;
	return s->words.at + *at;
}

void samples_set_detail(struct samples_builder *s, detailid detail)
{
	if (!detail || !s->at.n || s->is_sum)
		return;
	while (s->detail_of.n < s->at.n)
		vec_push(&s->detail_of, 0);
	s->detail_of.at[s->at.n - 1] = detail;
}

/* ---- counts by thread ---- */

static uint64_t task_arc_hash(const void *arc)
{
	const struct task_arc *a = arc;
	return records_mix(records_mix(records_mix(records_mix(0, a->from), a->to),
				       MAP64_PAIR(a->from_object, a->to_object)),
			   a->task);
}

static bool task_arc_same(const void *a, const void *b)
{
	const struct task_arc *x = a, *y = b;
	return x->from == y->from && x->to == y->to && x->from_object == y->from_object &&
	       x->to_object == y->to_object && x->task == y->task;
}

static const struct records_kind task_arc_records = { sizeof(struct task_arc), task_arc_hash,
						      task_arc_same };

void samples_add_task_arc(struct samples_builder *s, struct task_arc a)
{
	uint32_t i = records_add(&s->task_arc_ids, &task_arc_records, s->task_arcs.at, &a,
				 (uint32_t)s->task_arcs.n);
	if (i == s->task_arcs.n)
		vec_push(&s->task_arcs, a);
	else
		add_up(s, &s->task_arcs.at[i].count, a.count);
}

static uint64_t latency_hash(const void *latency)
{
	const struct latency *l = latency;
	return records_mix(records_mix(records_mix(0, l->from), l->to),
			   MAP64_PAIR(l->from_object, l->to_object));
}

static bool latency_same(const void *a, const void *b)
{
	const struct latency *x = a, *y = b;
	return x->from == y->from && x->to == y->to && x->from_object == y->from_object &&
	       x->to_object == y->to_object;
}

static const struct records_kind latency_records = { sizeof(struct latency), latency_hash,
						     latency_same };

static void join_latency(struct samples_builder *s, struct latency *l, const struct latency *more)
{
	uint64_t *bucket = (uint64_t *)(uintptr_t)l->bucket; /* from samples_add_latency() */
	if (more->count && (!l->count || more->min_ns < l->min_ns))
		l->min_ns = more->min_ns;
	if (more->max_ns > l->max_ns)
		l->max_ns = more->max_ns;
	add_up(s, &l->count, more->count);
	add_up(s, &l->sum_ns, more->sum_ns);
	add_up(s, &l->probes_ns, more->probes_ns);
	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		add_up(s, &bucket[i], more->bucket[i]);
}

void samples_add_latency(struct samples_builder *s, struct latency l)
{
	uint32_t i = records_add(&s->latency_ids, &latency_records, s->latencies.at, &l,
				 (uint32_t)s->latencies.n);
	if (i < s->latencies.n) {
		join_latency(s, &s->latencies.at[i], &l);
		return;
	}
	uint64_t *bucket = xrealloc(NULL, LATENCY_BUCKETS, sizeof(*bucket));
	memcpy(bucket, l.bucket, LATENCY_BUCKETS * sizeof(*bucket));
	l.bucket = bucket;
	vec_push(&s->latencies, l);
}

void samples_add_failure(struct samples_builder *s, objid object, uint64_t count)
{
	uint32_t *i = map64_at(&s->failure_ids, object);
	if (*i == NONE) {
		*i = (uint32_t)s->failures.n;
		vec_push(&s->failures, ((struct unwind_failure){ object, 0 }));
	}
	add_up(s, &s->failures.at[*i].count, count);
}

void samples_add_marker(struct samples_builder *s, struct marker m) { vec_push(&s->markers, m); }

/* ---- merging ---- */

static frameid *merge_frames(struct samples_builder *into, const struct samples_builder *from,
			     const strid *strings, const objid *objects)
{
	frameid *ids = xrealloc(NULL, from->frames.n, sizeof(*ids));
	ids[0] = 0;
	for (size_t i = 1; i < from->frames.n; i++) {
		struct frame f = from->frames.at[i];
		f.object = objects[f.object];
		f.name = strings[f.name];
		ids[i] = samples_add_frame(into, f);
	}
	return ids;
}

/* Adds stacks to `into`. Returns their new ids, to be freed. `frames`: ids of their frames in
 * `into`; NULL: frames keep their ids. */
static stackid *merge_stacks(struct samples_builder *into, const struct stack *stacks, size_t n,
			     const frameid *frames)
{
	stackid *ids = xrealloc(NULL, n, sizeof(*ids));
	ids[0] = 0;
	for (size_t i = 1; i < n; i++)
		ids[i] = samples_add_stack(into, ids[stacks[i].caller],
					   frames ? frames[stacks[i].frame] : stacks[i].frame);
	return ids;
}

static taskid *merge_tasks(struct samples_builder *into, const struct samples_builder *from,
			   const strid *strings)
{
	taskid *ids = xrealloc(NULL, from->tasks.n, sizeof(*ids));
	ids[0] = 0;
	for (size_t i = 1; i < from->tasks.n; i++) {
		struct task t = from->tasks.at[i];
		t.comm = strings[t.comm];
		t.last_comm = strings[t.last_comm];
		ids[i] = samples_add_task(into, t);
	}
	return ids;
}

/* Adds the words of `from`. Returns the offset to add to its word indices; word 0, which belongs to
 * detail 0, is not copied. */
static uint64_t merge_words(struct samples_builder *into, const struct samples_builder *from,
			    const frameid *frames)
{
	uint64_t at;
	size_t n = from->words.n - 1;
	uint64_t *words = samples_add_words(into, n, &at);
	if (n)
		memcpy(words, from->words.at + 1, n * sizeof(*words));
	for (size_t i = 1; i < from->details.n; i++) {
		uint64_t branches = from->details.at[i].branches;
		if (!branches)
			continue;
		struct taken_branch *b = (struct taken_branch *)(words + branches);
		for (uint64_t k = 0; k < words[branches - 1]; k++) {
			b[k].source = frames[b[k].source];
			b[k].target = frames[b[k].target];
		}
	}
	return at - 1;
}

static detailid *merge_details(struct samples_builder *into, const struct samples_builder *from,
			       const strid *strings, const frameid *frames)
{
	uint64_t base = merge_words(into, from, frames);
	detailid *ids = xrealloc(NULL, from->details.n, sizeof(*ids));
	ids[0] = 0;
	for (size_t i = 1; i < from->details.n; i++) {
		struct detail d = from->details.at[i];
		d.cgroup = strings[d.cgroup];
		d.trace = strings[d.trace];
		d.source = frames[d.source];
		d.target = frames[d.target];
		d.register_names = strings[d.register_names];
		d.interrupt_registers += d.interrupt_registers ? base : 0;
		d.user_registers += d.user_registers ? base : 0;
		d.branches += d.branches ? base : 0;
		ids[i] = samples_add_detail(into, &d);
	}
	return ids;
}

static void merge_samples(struct samples_builder *into, const struct samples_builder *from,
			  const strid *strings, const stackid *stacks, const taskid *tasks,
			  const detailid *details, uint32_t first_source)
{
	uint16_t *events = xrealloc(NULL, from->events.n, sizeof(*events));
	for (size_t i = 0; i < from->events.n; i++) {
		struct event e = from->events.at[i];
		e.name = strings[e.name];
		events[i] = samples_add_event(into, e);
	}
	vec_reserve(&into->at, from->at.n);
	into->is_sum = false;
	for (size_t i = 0; i < from->at.n; i++) {
		struct sample s = from->at.at[i];
		s.stack = stacks[s.stack];
		s.task = tasks[s.task];
		s.event = events[s.event];
		s.source += first_source;
		vec_push(&into->at, s);
		if (i < from->detail_of.n)
			samples_set_detail(into, details[from->detail_of.at[i]]);
	}
	free(events);
}

static void merge_counts(struct samples_builder *into, const struct samples_builder *from,
			 const objid *objects, const taskid *tasks)
{
	for (size_t i = 0; i < from->task_arcs.n; i++) {
		struct task_arc a = from->task_arcs.at[i];
		a.from_object = objects[a.from_object];
		a.to_object = objects[a.to_object];
		a.task = tasks[a.task];
		samples_add_task_arc(into, a);
	}
	for (size_t i = 0; i < from->latencies.n; i++) {
		struct latency l = from->latencies.at[i];
		l.from_object = objects[l.from_object];
		l.to_object = objects[l.to_object];
		samples_add_latency(into, l);
	}
	for (size_t i = 0; i < from->failures.n; i++)
		samples_add_failure(into, objects[from->failures.at[i].object],
				    from->failures.at[i].count);
}

static void merge_markers(struct samples_builder *into, const struct samples_builder *from,
			  const strid *strings)
{
	for (size_t i = 0; i < from->markers.n; i++) {
		struct marker m = from->markers.at[i];
		m.name = strings[m.name];
		samples_add_marker(into, m);
	}
}

/* All members of an audit are sums. */
static void merge_audit(struct samples_builder *into, const struct audit *from)
{
	const uint64_t *more = (const uint64_t *)from;
	uint64_t *sums = (uint64_t *)&into->audit;
	_Static_assert(sizeof(struct audit) % sizeof(uint64_t) == 0, "counts only");

	for (size_t i = 0; i < sizeof(*from) / sizeof(*sums); i++)
		add_up(into, &sums[i], more[i]);
}

void samples_builder_merge(struct samples_builder *into, struct samples_builder *from,
			   const strid *strings, const objid *objects, uint32_t first_source)
{
	settle(into, into->n_came);
	settle(from, from->n_came);
	frameid *frames = merge_frames(into, from, strings, objects);
	stackid *stacks = merge_stacks(into, from->stacks.nodes.at, from->stacks.nodes.n, frames);
	taskid *tasks = merge_tasks(into, from, strings);

	detailid *details = merge_details(into, from, strings, frames);
	merge_samples(into, from, strings, stacks, tasks, details, first_source);
	merge_counts(into, from, objects, tasks);
	merge_markers(into, from, strings);
	merge_audit(into, &from->audit);
	into->saturated |= from->saturated;
	free(details);
	free(tasks);
	free(stacks);
	free(frames);
}

/* ---- life ---- */

void samples_builder_init(struct samples_builder *s, const struct strtab *strings)
{
	enum { PUSHED_MAX = 64 << 20 }; /* 512 MiB: above that, memory matters more than time */
	s->strings = strings;
	s->pushed_max = PUSHED_MAX;
	/* Frame 0 is not indexed: a frame at address 0 of the unknown object is a frame, too. */
	vec_push(&s->frames, ((struct frame){ 0 }));
	stack_tree_begin(&s->stacks);
	samples_add_task(s, (struct task){ 0 });
	samples_add_detail(s, &(struct detail){ 0 });
	vec_push(&s->words, 0);
}

static int by_count(const void *a, const void *b)
{
	const struct unwind_failure *x = a, *y = b;
	int order = ORDER(y->count, x->count);
	return order ? order : ORDER(x->object, y->object);
}

static int by_moment(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	int order = ORDER(x->time_ns, y->time_ns);
	return order ? order : ORDER(x->name, y->name);
}

/* Removes duplicates: they come from files that were read twice, or from parts that were merged. */
static void sort_markers(struct samples_builder *s)
{
	size_t n = 0;
	if (s->markers.n)
		qsort(s->markers.at, s->markers.n, sizeof(*s->markers.at), by_moment);
	for (size_t i = 0; i < s->markers.n; i++)
		if (!n || by_moment(&s->markers.at[n - 1], &s->markers.at[i]) != 0)
			s->markers.at[n++] = s->markers.at[i];
	s->markers.n = n;
}

struct samples samples_builder_view(struct samples_builder *s)
{
	if (s->failures.n)
		qsort(s->failures.at, s->failures.n, sizeof(*s->failures.at), by_count);
	sort_markers(s);
	while (s->detail_of.n && s->detail_of.n < s->at.n)
		vec_push(&s->detail_of, 0);
	return (struct samples){
		.frames = s->frames.at,
		.n_frames = s->frames.n,
		.stacks = s->stacks.nodes.at,
		.n_stacks = s->stacks.nodes.n,
		.tasks = s->tasks.at,
		.n_tasks = s->tasks.n,
		.events = s->events.at,
		.n_events = s->events.n,
		.at = s->at.at,
		.n = s->at.n,
		.details = s->details.at,
		.n_details = s->details.n,
		.words = s->words.at,
		.n_words = s->words.n,
		.detail_of = s->detail_of.at,
		.task_arcs = s->task_arcs.at,
		.n_task_arcs = s->task_arcs.n,
		.latencies = s->latencies.at,
		.n_latencies = s->latencies.n,
		.failures = s->failures.at,
		.n_failures = s->failures.n,
		.markers = s->markers.at,
		.n_markers = s->markers.n,
		.audit = s->audit,
	};
}

/* Marks the stacks of samples and the stacks of their callers. Returns [n_stacks], to be freed. */
static bool *stacks_in_use(const struct samples_builder *s)
{
	bool *used = xalloc(s->stacks.nodes.n);
	used[0] = true;
	for (size_t i = 0; i < s->at.n; i++)
		used[s->at.at[i].stack] = true;
	for (size_t i = s->stacks.nodes.n; i-- > 1;)
		if (used[i])
			used[s->stacks.nodes.at[i].caller] = true;
	return used;
}

static void drop_unused_stacks(struct samples_builder *s)
{
	bool *used = stacks_in_use(s);
	stackid *now = xrealloc(NULL, s->stacks.nodes.n, sizeof(*now));
	size_t n = 0;
	for (size_t i = 0; i < s->stacks.nodes.n; i++) {
		if (!used[i])
			continue;
		struct stack x = s->stacks.nodes.at[i];
		now[i] = (stackid)n;
		s->stacks.nodes.at[n++] = (struct stack){ now[x.caller], x.frame };
	}
	s->stacks.nodes.n = n;
	for (size_t i = 0; i < s->at.n; i++)
		s->at.at[i].stack = now[s->at.at[i].stack];
	free(now);
	free(used);
}

void samples_builder_revise(struct samples_builder *s, bool (*revise)(struct sample *s, void *arg),
			    void *arg)
{
	size_t n = 0;
	for (size_t i = 0; i < s->at.n; i++) {
		struct sample x = s->at.at[i];
		if (!revise(&x, arg))
			continue;
		if (i < s->detail_of.n)
			s->detail_of.at[n] = s->detail_of.at[i];
		s->at.at[n++] = x;
	}
	s->at.n = n;
	drop_unused_stacks(s);
}

void samples_builder_seal(struct samples_builder *s)
{
	settle(s, s->n_came);
	cap_weights(s);
	records_free(&s->frame_ids);
	stack_tree_seal(&s->stacks);
	pairs_free(&s->sample_ids);
	records_free(&s->kind_ids);
	vec_free(&s->kinds);
}

void samples_builder_done(struct samples_builder *s)
{
	for (size_t i = 0; i < s->latencies.n; i++)
		free((void *)(uintptr_t)s->latencies.at[i].bucket);
	vec_free(&s->frames);
	records_free(&s->frame_ids);
	stack_tree_free(&s->stacks);
	vec_free(&s->tasks);
	records_free(&s->task_ids);
	vec_free(&s->events);
	vec_free(&s->at);
	pairs_free(&s->sample_ids);
	records_free(&s->kind_ids);
	vec_free(&s->kinds);
	vec_free(&s->details);
	vec_free(&s->words);
	records_free(&s->detail_ids);
	vec_free(&s->detail_of);
	vec_free(&s->task_arcs);
	records_free(&s->task_arc_ids);
	vec_free(&s->latencies);
	records_free(&s->latency_ids);
	vec_free(&s->failures);
	map64_free(&s->failure_ids);
	vec_free(&s->markers);
}

uint32_t samples_n_runs(const struct samples *s)
{
	uint32_t last = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t run = s->tasks[s->at[i].task].run;
		last = run > last ? run : last;
	}
	return last + 1;
}

struct samples_weights samples_weights(const struct samples *s, uint16_t event)
{
	struct samples_weights x = { 0 };
	for (size_t i = 0; i < s->n; i++) {
		double weight = (double)s->at[i].weight;
		if (s->at[i].event != event || !s->at[i].count) /* CPU time without samples */
			continue;
		x.weight += weight;
		x.squares += weight * weight / s->at[i].count;
	}
	return x;
}

bool samples_have_callers(const struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->stacks[s->at[i].stack].caller)
			return true;
	return false;
}

size_t samples_distinct_stacks(const struct samples *s)
{
	struct samples_builder b = { 0 };
	samples_builder_init(&b, NULL);
	free(merge_stacks(&b, s->stacks, s->n_stacks, NULL));
	size_t n = b.stacks.nodes.n - 1;
	samples_builder_done(&b);
	return n;
}

struct process_task {
	uint32_t run, rank, pid;
	bool is_other; /* not the process's first thread */
	uint64_t end_ns;
	uint32_t id;
};

static int by_process(const void *a, const void *b)
{
	const struct process_task *x = a, *y = b;
	int order = ORDER(x->run, y->run);
	if (!order)
		order = ORDER(x->rank, y->rank);
	if (!order)
		order = ORDER(x->pid, y->pid);
	if (!order)
		order = ORDER(x->end_ns, y->end_ns);
	if (!order)
		order = ORDER(y->is_other,
			      x->is_other); /* other threads end before the process's next name */
	return order ? order : ORDER(x->id, y->id);
}

static bool is_of_one_process(const struct process_task *x, const struct process_task *y)
{
	return x->run == y->run && x->rank == y->rank && x->pid == y->pid;
}

/* Names the tasks of one process, which are sorted by their end. */
static void name_process(const struct samples *s, const struct process_task *of, size_t n,
			 strid *commands)
{
	uint32_t last = NONE;
	for (size_t i = 0; i < n; i++)
		if (!of[i].is_other && (last == NONE || of[i].id > last))
			last = of[i].id;
	uint32_t then = last; /* the name of the process at the end of a task */
	for (size_t i = n; i-- > 0;) {
		const struct process_task *t = &of[i];
		if (!t->is_other && t->end_ns)
			then = t->id;
		bool own = !t->is_other || last == NONE;
		uint32_t id = own ? t->id : t->end_ns ? then : last;
		commands[t->id] = s->tasks[id].comm;
	}
}

strid *samples_commands(const struct samples *s)
{
	struct process_task *all = xalloc((s->n_tasks + 1) * sizeof(*all));
	strid *commands = xalloc((s->n_tasks + 1) * sizeof(*commands));
	for (uint32_t i = 0; i < s->n_tasks; i++) {
		const struct task *t = &s->tasks[i];
		all[i] = (struct process_task){ t->run,           t->rank,   t->pid,
						t->pid != t->tid, t->end_ns, i };
	}
	qsort(all, s->n_tasks, sizeof(*all), by_process);
	for (size_t i = 0, end; i < s->n_tasks; i = end) {
		for (end = i + 1; end < s->n_tasks && is_of_one_process(&all[i], &all[end]);)
			end++;
		name_process(s, &all[i], end - i, commands);
	}
	free(all);
	return commands;
}

/* filter.c - copies the wanted part of a profile; frames and stacks keep their ids. */
#include "profile/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "profile/builder.h"
#include "profile/detail.h"
#include "profile/span.h"
#include "profile/spreads.h"

struct filter {
	const struct profile *p;
	const struct profile_part *part;
	struct profile_builder *into;
	stackid *stacks;  /* [n_stacks]: ids in `into`; NONE: not yet there */
	uint16_t *events; /* [n_events]: likewise */
};

static bool wants(const uint8_t *chosen, uint32_t id) { return !chosen || chosen[id]; }

static bool is_timed(const struct profile_part *part) { return part->from_ns || part->to_ns; }

static bool is_then(const struct profile_part *part, uint64_t time_ns)
{
	return !is_timed(part) ||
	       (time_ns && time_ns >= part->from_ns && (!part->to_ns || time_ns < part->to_ns));
}

/* What is known neither by thread nor by time. */
static bool wants_unassigned(const struct filter *f)
{
	return wants(f->part->tasks, 0) && !is_timed(f->part);
}

/* ---- what keeps its id: equal things were one before, so each is given the next number ---- */

static void keep_ids(struct filter *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < strtab_count(p->strings); i++) {
		const char *s = strtab_get(p->strings, (strid)i);
		profile_add_string(f->into, s, strlen(s));
	}
	for (size_t i = 0; i < p->n_objects; i++)
		profile_copy_object(f->into, p->strings, &p->objects[i]);
	for (size_t i = 1; i < p->samples.n_frames; i++)
		profile_add_frame(f->into, p->samples.frames[i]);
	for (size_t i = 1; i < p->samples.n_tasks; i++) {
		struct task t = p->samples.tasks[i];
		if (!wants(f->part->tasks, (uint32_t)i))
			t.start_ns = t.end_ns = t.cpu_ns = t.sampled_ns = 0;
		profile_add_task(f->into, t);
	}
	if (p->samples.n_words > 1) {
		uint64_t at;
		size_t n = p->samples.n_words - 1;
		memcpy(profile_add_words(f->into, n, &at), p->samples.words + 1, n * sizeof(at));
	}
	for (size_t i = 1; i < p->samples.n_details; i++)
		profile_add_detail(f->into, &p->samples.details[i]);
}

/* ---- samples ---- */

static bool wants_sample(const struct filter *f, const struct sample *s)
{
	const struct samples *all = &f->p->samples;
	const struct profile_part *part = f->part;

	return is_then(part, s->time_ns) && wants(part->tasks, s->task) &&
	       wants(part->events, s->event) &&
	       wants(part->objects, all->frames[all->stacks[s->stack].frame].object);
}

/* A caller's id is smaller: those that are missing are added from the root on. */
static stackid keep_stack(struct filter *f, stackid id)
{
	const struct stack *stacks = f->p->samples.stacks;
	uint32_t depth = 0;

	for (stackid i = id; f->stacks[i] == NONE; i = stacks[i].caller)
		depth++;
	stackid *missing = xrealloc(NULL, depth, sizeof(*missing));
	for (stackid i = id, k = depth; k > 0; i = stacks[i].caller)
		missing[--k] = i;
	for (uint32_t k = 0; k < depth; k++) {
		const struct stack *s = &stacks[missing[k]];
		f->stacks[missing[k]] = profile_add_stack(f->into, f->stacks[s->caller], s->frame);
	}
	free(missing);
	return f->stacks[id];
}

static void keep_events(struct filter *f)
{
	for (size_t i = 0; i < f->p->samples.n_events; i++)
		if (wants(f->part->events, (uint32_t)i))
			f->events[i] = profile_add_event(f->into, f->p->samples.events[i]);
}

/* File by file, as they were read: what is added belongs to the file that is added next. */
static void keep_files(struct filter *f)
{
	const struct profile *p = f->p;
	size_t next = 0, fact = 0;

	for (size_t source = 0; source <= p->n_sources; source++) {
		for (; next < p->samples.n && p->samples.at[next].source == source; next++) {
			struct sample s = p->samples.at[next];
			if (!wants_sample(f, &s))
				continue;
			s.stack = keep_stack(f, s.stack);
			s.event = f->events[s.event];
			profile_add_sample(f->into, s);
			profile_set_detail(f->into,
					   p->samples.detail_of ? p->samples.detail_of[next] : 0);
		}
		for (; fact < p->n_facts && p->facts[fact].source == source; fact++)
			profile_add_fact(f->into, strtab_get(p->strings, p->facts[fact].name),
					 strtab_get(p->strings, p->facts[fact].value));
		if (source < p->n_sources)
			profile_add_source(f->into, strtab_get(p->strings, p->sources[source].path),
					   p->sources[source]);
	}
}

/* ---- counted calls ---- */

static int by_ends(const void *a, const void *b)
{
	const struct task_arc *x = a, *y = b;
	int order = ORDER(x->from, y->from);
	if (!order)
		order = ORDER(x->to, y->to);
	if (!order)
		order = ORDER(x->from_object, y->from_object);
	return order ? order : ORDER(x->to_object, y->to_object);
}

/* The first of the sorted records that is not before `key`. */
static size_t lower_bound(const struct task_arc *at, size_t n, const struct task_arc *key)
{
	return COUNT_WHILE(n, i, by_ends(&at[i], key) < 0);
}

/* Of an arc what the chosen threads did, and what nobody knows whose it was. */
static void keep_arc(struct filter *f, const struct arc *a, const struct task_arc *by_arc, size_t n)
{
	struct task_arc key = { a->from, a->to, 0, a->from_object, a->to_object, 0 };
	uint64_t rest = a->count, wanted = 0;
	bool any = false;

	for (size_t i = lower_bound(by_arc, n, &key); i < n && !by_ends(&by_arc[i], &key); i++) {
		rest -= min_u64(by_arc[i].count, rest);
		if (!wants(f->part->tasks, by_arc[i].task))
			continue;
		any = true;
		if (__builtin_add_overflow(wanted, by_arc[i].count, &wanted))
			wanted = UINT64_MAX;
	}
	if (wants(f->part->tasks, 0)) {
		any |= rest || !a->count;
		if (__builtin_add_overflow(wanted, rest, &wanted))
			wanted = UINT64_MAX;
	}
	struct arc part = *a;
	part.count = wanted;
	if (any)
		profile_add_arc(f->into, part);
}

static void keep_arcs(struct filter *f)
{
	const struct samples *s = &f->p->samples;
	struct task_arc *by_arc = xrealloc(NULL, s->n_task_arcs, sizeof(*by_arc));

	if (s->n_task_arcs) {
		memcpy(by_arc, s->task_arcs, s->n_task_arcs * sizeof(*by_arc));
		qsort(by_arc, s->n_task_arcs, sizeof(*by_arc), by_ends);
	}
	for (size_t i = 0; i < f->p->n_arcs; i++) {
		struct arc a = arc_at(&f->p->arcs, i);
		if (!wants(f->part->objects, a.to_object))
			continue;
		if (f->part->tasks)
			keep_arc(f, &a, by_arc, s->n_task_arcs);
		else
			profile_add_arc(f->into, a);
	}
	for (size_t i = 0; i < s->n_task_arcs; i++)
		if (wants(f->part->tasks, s->task_arcs[i].task) &&
		    wants(f->part->objects, s->task_arcs[i].to_object))
			profile_add_task_arc(f->into, s->task_arcs[i]);
	free(by_arc);
}

/* ---- the rest ---- */

static void keep_unassigned(struct filter *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		if (wants(f->part->objects, h->object))
			builder_add_hits(f->into, builder_put_histogram(f->into, *h), h);
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		if (wants(f->part->objects, p->blocks[i].object))
			profile_add_block(f->into, p->blocks[i]);
	for (size_t i = 0; i < p->n_block_records; i++)
		profile_add_block_record(f->into);
	for (size_t i = 0; i < p->samples.n_latencies; i++)
		if (wants(f->part->objects, p->samples.latencies[i].to_object))
			profile_add_latency(f->into, p->samples.latencies[i]);
}

static bool wants_event(const char *name, const void *filter)
{
	const struct filter *f = filter;

	for (size_t i = 0; i < f->p->samples.n_events; i++)
		if (wants(f->part->events, (uint32_t)i) &&
		    !strcmp(strtab_get(f->p->strings, f->p->samples.events[i].name), name))
			return true;
	return false;
}

/* Sums over ranks are known by event, and by nothing else. */
static void keep_spreads(struct filter *f)
{
	const struct spread_set *s = f->p->spreads;

	if (!s)
		return;
	bool by_event = !f->part->tasks && !f->part->objects && !is_timed(f->part);
	profile_add_spreads(f->into,
			    by_event ? spread_set_select(s, wants_event, f) : spread_set_part(s));
}

/* Those that have nothing in the part are of it, unless they are not chosen. */
static void keep_ranks(struct filter *f)
{
	for (size_t i = 0; i < f->p->n_ranks; i++) {
		struct job_rank r = f->p->ranks[i];
		r.left_out |= !wants(f->part->ranks, (uint32_t)i);
		builder_add_rank(f->into, r);
	}
}

static void keep_markers(struct filter *f)
{
	const struct samples *s = &f->p->samples;

	for (size_t i = 0; i < s->n_markers; i++)
		if (is_then(f->part, s->markers[i].time_ns))
			profile_add_marker(f->into, s->markers[i]);
}

/* Losses are not known by part: they are said of each. CPU time is known by thread. */
static void keep_audit(struct filter *f)
{
	const struct samples *s = &f->p->samples;
	struct audit *a = profile_audit(f->into);

	*a = s->audit;
	for (size_t i = 0; i < s->n_failures; i++)
		if (wants(f->part->objects, s->failures[i].object))
			profile_add_failure(f->into, s->failures[i].object, s->failures[i].count);
	if (f->part->objects || f->part->events || is_timed(f->part))
		a->cpu_ns = a->sampled_ns = 0; /* cannot be held against each other any more */
	if (!f->part->tasks || !a->cpu_ns)
		return;
	a->cpu_ns = a->sampled_ns = 0;
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (!f->part->tasks[i])
			continue;
		a->cpu_ns += s->tasks[i].cpu_ns;
		a->sampled_ns += s->tasks[i].sampled_ns;
	}
}

struct profile *profile_filter(const struct profile *p, const struct profile_part *part)
{
	struct filter f = { .p = p, .part = part, .into = profile_builder_new() };

	f.stacks = xrealloc(NULL, p->samples.n_stacks, sizeof(*f.stacks));
	memset(f.stacks, 0xff, p->samples.n_stacks * sizeof(*f.stacks));
	f.stacks[0] = 0;
	f.events = xalloc(p->samples.n_events * sizeof(*f.events));
	keep_ids(&f);
	keep_events(&f);
	if (!is_timed(part))
		keep_arcs(&f);
	if (wants_unassigned(&f))
		keep_unassigned(&f);
	keep_ranks(&f);
	keep_spreads(&f);
	keep_files(&f);
	keep_markers(&f);
	keep_audit(&f);
	profile_add_kept(f.into, p->kept);
	free(f.stacks);
	free(f.events);
	struct profile *ret = profile_finish(f.into);
	struct time_range whole = span_of(p);
	if (whole.from_ns <= whole.to_ns) {
		ret->samples.whole_from_ns = whole.from_ns;
		ret->samples.whole_to_ns = whole.to_ns;
	}
	ret->saturated = p->saturated; /* if anything is, the whole is */
	return ret;
}

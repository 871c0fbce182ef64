/* profile.c - builds profiles, and merges several into one. */
#include "profile/profile.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/map64.h"
#include "base/sort.h"
#include "names/kept.h"
#include "profile/arcs.h"
#include "profile/builder.h"
#include "profile/hits.h"
#include "profile/ranges.h"
#include "profile/samples_builder.h"
#include "profile/spreads.h"
#include "profile/unsampled.h"

struct profile_builder {
	struct strtab *strings;
	VEC(struct object) objects;
	struct map64 object_ids; /* MAP64_PAIR(path, build_id) */
	struct arcs arcs;
	VEC(struct histogram) histograms;
	VEC(struct hits) hits; /* by index of the histogram */
	struct ranges ranges;  /* ranges of the histograms */
	size_t last_histogram; /* the next bins are most likely for this histogram, or for the one
				  after it */
	VEC(struct block) blocks;
	size_t n_block_records;
	VEC(struct source) sources;
	VEC(struct fact) facts;
	struct samples_builder samples;
	struct kept *kept;          /* NULL: none */
	struct spread_set *spreads; /* NULL: none */
	struct rank_recordings recordings;
	VEC(struct job_rank) ranks; /* ranks of tasks are added by profile_finish() */
	bool saturated;
};

/* A finished profile is a view into its builder's data. */
struct finished {
	struct profile profile;
	struct profile_builder *builder;
};

struct profile_builder *profile_builder_new(void)
{
	struct profile_builder *b = xalloc(sizeof(*b));

	b->strings = strtab_new();
	profile_add_object(b, "", "");
	samples_builder_init(&b->samples, b->strings);
	return b;
}

static objid intern_object(struct profile_builder *b, struct object o)
{
	uint32_t *id = map64_at(&b->object_ids, MAP64_PAIR(o.path, o.build_id));

	if (*id == NONE) {
		*id = (uint32_t)b->objects.n;
		vec_push(&b->objects, o);
	}
	return *id;
}

objid profile_add_object_of(struct profile_builder *b, const char *path, const char *build_id,
			    enum object_kind kind, bool is_main)
{
	struct object o = { .path = path ? strtab_add(b->strings, path) : 0,
			    .build_id = build_id ? strtab_add(b->strings, build_id) : 0,
			    .kind = kind };
	objid id = intern_object(b, o);

	b->objects.at[id].is_main |= is_main;
	return id;
}

objid profile_copy_object(struct profile_builder *b, const struct strtab *strings,
			  const struct object *o)
{
	objid id = profile_add_object_of(b, strtab_get(strings, o->path),
					 strtab_get(strings, o->build_id), o->kind, o->is_main);
	b->objects.at[id].untimed |= o->untimed;
	return id;
}

void profile_mark_untimed(struct profile_builder *b, objid id) { b->objects.at[id].untimed = true; }

enum object_kind profile_object_kind(const struct profile_builder *b, objid id)
{
	return b->objects.at[id].kind;
}

objid profile_add_object(struct profile_builder *b, const char *path, const char *build_id)
{
	return profile_add_object_of(b, path, build_id, OBJECT_ELF, false);
}

void profile_add_arc(struct profile_builder *b, struct arc arc) { arcs_add(&b->arcs, &arc, 1); }

void profile_add_arcs(struct profile_builder *b, const struct arc *arcs, size_t n)
{
	arcs_add(&b->arcs, arcs, n);
}

void profile_expect_arcs(struct profile_builder *b, size_t n) { arcs_expect(&b->arcs, n); }

/* Histograms */

const struct histogram *profile_first_histogram(const struct profile_builder *b)
{
	return b->histograms.n ? &b->histograms.at[0] : NULL;
}

/* Pairs of bytes per bin, computed like GNU gprof does: scales that gprof considers equal must be
 * equal here. */
static double scale(const struct histogram *h) { return (double)((h->high - h->low) / 2) / h->n; }

static bool same_scale(const struct histogram *a, const struct histogram *b)
{
	double x = scale(a), y = scale(b);

	return (a->high - a->low == b->high - b->low && a->n == b->n) || !(fabs(x - y) > 1e-6);
}

static struct kin_error *check_against_first(const struct histogram *first,
					     const struct histogram *h)
{
	struct kin_error *err;

	if (strncmp(first->dimension, h->dimension, 15) != 0) {
		err = err_new(KIN_ERROR_MISMATCH,
			      "histogram counts %.15s where the ones before count %.15s",
			      h->dimension, first->dimension);
		char *before = xprintf("%.15s", first->dimension);
		char *now = xprintf("%.15s", h->dimension);
		err = err_about(err, (struct err_facts){ ERR_OTHER_UNIT, before, now });
		free(before);
		free(now);
		return err;
	}
	if (first->abbrev != h->abbrev) {
		err = err_new(KIN_ERROR_MISMATCH,
			      "unit of histogram is abbreviated '%c', of the ones before '%c'",
			      h->abbrev, first->abbrev);
		return err_about(err, (struct err_facts){ .code = ERR_OTHER_LETTER,
							  .first = (uint8_t)first->abbrev,
							  .second = (uint8_t)h->abbrev });
	}
	if (!same_scale(first, h)) {
		err = err_new(KIN_ERROR_MISMATCH,
			      "histogram has %g bytes per bin, the ones before have %g: they are "
			      "not of the same program, or only some of its runs had libkinrt "
			      "(kin run): add up those of one kind",
			      2 * scale(h), 2 * scale(first));
		return err_about(err, (struct err_facts){ ERR_OTHER_SCALE });
	}
	if (first->rate != h->rate)
		return err_new(KIN_ERROR_MISMATCH,
			       "histogram has %u ticks per second, the ones before have %u: their "
			       "sum would mean nothing",
			       h->rate, first->rate);
	return NULL;
}

static bool same_range(const struct histogram *a, const struct histogram *b)
{
	return a->low == b->low && a->high == b->high && a->object == b->object;
}

/* The histogram with exactly this range, or NONE. Files list their histograms in the same order. */
static uint32_t find_histogram(const struct profile_builder *b, const struct histogram *h)
{
	size_t n = b->histograms.n;

	for (size_t i = b->last_histogram; i < n && i < b->last_histogram + 2; i++)
		if (same_range(&b->histograms.at[i], h))
			return (uint32_t)i;
	return ranges_find(&b->ranges, h->object, h->low, h->high);
}

struct kin_error *profile_check_histogram(const struct profile_builder *b,
					  const struct histogram *h)
{
	struct kin_error *err;

	if (!b->histograms.n)
		return NULL;
	if ((err = check_against_first(&b->histograms.at[0], h)))
		return err;

	uint32_t i = find_histogram(b, h);
	if (i != NONE && b->histograms.at[i].n != h->n)
		return err_new(KIN_ERROR_MISMATCH,
			       "histogram of %#jx..%#jx has %u bins where it had %u before",
			       (uintmax_t)h->low, (uintmax_t)h->high, h->n, b->histograms.at[i].n);
	if (i != NONE)
		return NULL;

	i = ranges_find_overlapping(&b->ranges, h->object, h->low, h->high);
	if (i == NONE)
		return NULL;
	err = err_new(KIN_ERROR_MISMATCH,
		      "histogram of %#jx..%#jx overlaps the one of %#jx..%#jx: they are not of the "
		      "same program",
		      (uintmax_t)h->low, (uintmax_t)h->high, (uintmax_t)b->histograms.at[i].low,
		      (uintmax_t)b->histograms.at[i].high);
	return err_about(err, (struct err_facts){ ERR_OVERLAP });
}

size_t builder_put_histogram(struct profile_builder *b, struct histogram h)
{
	uint32_t i = find_histogram(b, &h);

	if (i == NONE) {
		i = (uint32_t)b->histograms.n;
		h.hits = NULL;
		h.all = NULL;
		h.n_hits = 0;
		h.dimension[sizeof(h.dimension) - 1] = '\0';
		vec_push(&b->histograms, h);
		vec_push(&b->hits, ((struct hits){ .n_bins = h.n }));
		ranges_add(&b->ranges,
			   (struct range){
				   .low = h.low, .high = h.high, .object = h.object, .value = i });
	}
	b->last_histogram = i;
	return i;
}

struct kin_error *profile_begin_histogram(struct profile_builder *b, struct histogram h,
					  size_t *ret)
{
	struct kin_error *err = profile_check_histogram(b, &h);

	if (!err)
		*ret = builder_put_histogram(b, h);
	return err;
}

void profile_add_bins(struct profile_builder *b, size_t histogram, uint32_t first,
		      const uint64_t *counts, uint32_t n)
{
	hits_add_bins(&b->hits.at[histogram], first, counts, n);
}

void builder_add_hits(struct profile_builder *b, size_t histogram, const struct histogram *h)
{
	if (h->all)
		hits_add_all(&b->hits.at[histogram], h->all);
	else
		hits_add(&b->hits.at[histogram], h->hits, h->n_hits);
}

struct kin_error *profile_add_histogram(struct profile_builder *b, struct histogram h)
{
	size_t i;
	struct kin_error *err = profile_begin_histogram(b, h, &i);

	if (!err)
		builder_add_hits(b, i, &h);
	return err;
}

/* The rest */

void profile_add_block(struct profile_builder *b, struct block block)
{
	vec_push(&b->blocks, block);
}

void profile_add_block_record(struct profile_builder *b) { b->n_block_records++; }

void profile_note_saturated(struct profile_builder *b) { b->saturated = true; }

void profile_add_fact(struct profile_builder *b, const char *name, const char *value)
{
	struct fact f = { .source = (uint32_t)b->sources.n };

	f.name = strtab_add(b->strings, name);
	f.value = strtab_add(b->strings, value);
	vec_push(&b->facts, f);
}

void profile_add_source(struct profile_builder *b, const char *path, struct source source)
{
	source.path = strtab_add(b->strings, path);
	vec_push(&b->sources, source);
	arcs_end_file(&b->arcs);
	b->last_histogram = 0;
}

/* Samples */

strid profile_add_string(struct profile_builder *b, const char *s, size_t n)
{
	return strtab_addn(b->strings, s, n);
}

const char *profile_string(const struct profile_builder *b, strid id)
{
	return strtab_get(b->strings, id);
}

frameid profile_add_frame(struct profile_builder *b, struct frame f)
{
	return samples_add_frame(&b->samples, f);
}

void profile_reserve_frames(struct profile_builder *b, size_t n)
{
	samples_reserve_frames(&b->samples, n);
}

frameid profile_add_mark(struct profile_builder *b, const char *name)
{
	struct frame mark = { .name = profile_add_string(b, name, strlen(name)),
			      .flags = FRAME_MARK };
	return profile_add_frame(b, mark);
}

static bool is_of_kin(const struct source *s)
{
	return s->left_out || (s->kind && !strcmp(s->kind, "kin"));
}

void profile_add_unsampled(struct profile_builder *b, bool all)
{
	for (size_t i = 0; i < b->sources.n; i++)
		if (b->sources.at[i].unfinished || !is_of_kin(&b->sources.at[i]))
			return;
	if (b->sources.n)
		samples_add_unsampled(
			&b->samples,
			strtab_addn(b->strings, NAME_NOT_SAMPLED, strlen(NAME_NOT_SAMPLED)),
			(uint32_t)b->sources.n - 1, all);
}

stackid profile_add_stack(struct profile_builder *b, stackid caller, frameid frame)
{
	return samples_add_stack(&b->samples, caller, frame);
}

stackid profile_push_stack(struct profile_builder *b, stackid caller, frameid frame)
{
	return samples_push_stack(&b->samples, caller, frame);
}

taskid profile_add_task(struct profile_builder *b, struct task t)
{
	return samples_add_task(&b->samples, t);
}

struct task *profile_task_at(struct profile_builder *b, taskid id)
{
	return &b->samples.tasks.at[id];
}

/* "cycles:u", "cpu_core/cycles/", "ref-cycles". */
static bool is_cycles(const char *name)
{
	const char *of_unit = strchr(name, '/');
	name = of_unit ? of_unit + 1 : name;
	if (!strncmp(name, "cpu-", 4) || !strncmp(name, "ref-", 4))
		name += 4;
	return !strncmp(name, "cycles", 6) && (!name[6] || strchr(":/ ", name[6]));
}

bool event_counts_time(const struct event *e, const char *name)
{
	return e->kind == EVENT_ON_CPU && !e->is_beside && (e->unit == EVENT_NS || is_cycles(name));
}

uint16_t profile_add_event(struct profile_builder *b, struct event e)
{
	e.counts_time = event_counts_time(&e, strtab_get(b->strings, e.name));
	return samples_add_event(&b->samples, e);
}

size_t profile_add_sample(struct profile_builder *b, struct sample s)
{
	s.source = (uint32_t)b->sources.n; /* the file that is being read */
	return samples_add_sample(&b->samples, s, 0);
}

void builder_keep_sample(struct profile_builder *b, struct sample s, detailid detail)
{
	samples_add_sample(&b->samples, s, 0);
	samples_set_detail(&b->samples, detail);
}

void profile_add_detailed_sample(struct profile_builder *b, struct sample s, detailid detail)
{
	s.source = (uint32_t)b->sources.n;
	samples_sum_sample(&b->samples, s, detail);
}

uint64_t *profile_add_words(struct profile_builder *b, size_t n, uint64_t *at)
{
	return samples_add_words(&b->samples, n, at);
}

void profile_add_to_sample(struct profile_builder *b, size_t sample, uint32_t count,
			   uint64_t weight)
{
	samples_add_to_sample(&b->samples, sample, count, weight);
}

size_t profile_push_sample(struct profile_builder *b, struct sample s)
{
	s.source = (uint32_t)b->sources.n;
	return samples_push_sample(&b->samples, s);
}

void profile_prefetch_sample(const struct profile_builder *b, size_t sample)
{
	__builtin_prefetch(&b->samples.at.at[sample], 1);
}

void profile_sum_samples(struct profile_builder *b) { b->samples.sums = true; }

detailid profile_add_detail(struct profile_builder *b, const struct detail *d)
{
	return samples_add_detail(&b->samples, d);
}

void profile_set_detail(struct profile_builder *b, detailid detail)
{
	samples_set_detail(&b->samples, detail);
}

void profile_add_task_arc(struct profile_builder *b, struct task_arc a)
{
	samples_add_task_arc(&b->samples, a);
}

void profile_add_latency(struct profile_builder *b, struct latency l)
{
	samples_add_latency(&b->samples, l);
}

void profile_add_failure(struct profile_builder *b, objid object, uint64_t count)
{
	samples_add_failure(&b->samples, object, count);
}

void profile_add_marker(struct profile_builder *b, struct marker m)
{
	samples_add_marker(&b->samples, m);
}

struct audit *profile_audit(struct profile_builder *b) { return &b->samples.audit; }

void profile_add_kept(struct profile_builder *b, struct kept *kept)
{
	if (!kept || !b->kept) {
		b->kept = kept ? kept_ref(kept) : b->kept;
		return;
	}
	struct kept *all = b->kept;
	if (all->refs > 1) { /* others use it, too */
		b->kept = kept_new();
		kept_merge(b->kept, all);
		kept_free(all);
	}
	kept_merge(b->kept, kept);
}

/* Merging */

/* Adds the objects of `from` to `into`. Returns their ids in `into`, by id in `from`. */
static objid *map_objects(struct profile_builder *into, const struct profile_builder *from)
{
	objid *ids = xrealloc(NULL, from->objects.n, sizeof(*ids));

	for (size_t i = 0; i < from->objects.n; i++)
		ids[i] = profile_copy_object(into, from->strings, &from->objects.at[i]);
	return ids;
}

static void settle_histograms(struct profile_builder *b)
{
	for (size_t i = 0; i < b->histograms.n; i++) {
		struct hits *h = &b->hits.at[i];
		b->histograms.at[i].n_hits = hits_finish(h);
		b->histograms.at[i].hits = h->at.at;
		b->histograms.at[i].all = h->all;
		b->saturated |= h->saturated;
	}
}

static struct kin_error *merge_histograms(struct profile_builder *into,
					  struct profile_builder *from, const objid *ids)
{
	struct kin_error *first = NULL;

	settle_histograms(from);
	for (size_t i = 0; i < from->histograms.n; i++) {
		struct histogram h = from->histograms.at[i];
		h.object = ids[h.object];
		struct kin_error *err = profile_add_histogram(into, h);
		if (first)
			kin_error_free(err);
		else
			first = err;
	}
	return first;
}

static void merge_blocks(struct profile_builder *into, const struct profile_builder *from,
			 const objid *ids)
{
	vec_reserve(&into->blocks, from->blocks.n);
	for (size_t i = 0; i < from->blocks.n; i++) {
		struct block block = from->blocks.at[i];
		block.object = ids[block.object];
		vec_push(&into->blocks, block);
	}
	into->n_block_records += from->n_block_records;
}

static void merge_arcs(struct profile_builder *into, struct profile_builder *from, const objid *ids)
{
	arcs_end_file(&into->arcs);
	arcs_end_file(&from->arcs);
	struct arc_list list = arcs_list(&from->arcs);
	for (size_t i = 0; i < from->arcs.n; i++) {
		struct arc arc = arc_at(&list, i);
		arc.from_object = ids[arc.from_object];
		arc.to_object = ids[arc.to_object];
		arcs_add(&into->arcs, &arc, 1);
	}
	arcs_end_file(&into->arcs);
}

static void merge_texts(struct profile_builder *into, struct profile_builder *from,
			const objid *ids)
{
	size_t n = strtab_count(from->strings);
	strid *strings = xrealloc(NULL, n, sizeof(*strings));

	for (size_t i = 0; i < n; i++)
		strings[i] = strtab_add(into->strings, strtab_get(from->strings, (strid)i));
	samples_builder_merge(&into->samples, &from->samples, strings, ids,
			      (uint32_t)into->sources.n);
	for (size_t i = 0; i < from->facts.n; i++) {
		struct fact f = from->facts.at[i];
		f.source += (uint32_t)into->sources.n;
		f.name = strings[f.name];
		f.value = strings[f.value];
		vec_push(&into->facts, f);
	}
	free(strings);
}

static void join_spreads(struct profile_builder *b, const struct spread_set *s, const objid *ids)
{
	if (!b->spreads)
		b->spreads = spread_set_new();
	spread_set_join(b->spreads, s, ids);
}

void profile_add_spreads(struct profile_builder *b, struct spread_set *s)
{
	join_spreads(b, s, NULL);
	spread_set_free(s);
}

void builder_add_rank(struct profile_builder *b, struct job_rank r) { vec_push(&b->ranks, r); }

static int by_rank(const void *a, const void *b)
{
	const struct job_rank *x = a, *y = b;
	return ORDER(x->rank, y->rank);
}

/* Adds the ranks of tasks; each rank is listed once. */
static void settle_ranks(struct profile_builder *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->samples.tasks.n; i++)
		if (b->samples.tasks.at[i].rank)
			builder_add_rank(
				b, (struct job_rank){ b->samples.tasks.at[i].rank - 1, false });
	if (!b->ranks.n)
		return;
	qsort(b->ranks.at, b->ranks.n, sizeof(*b->ranks.at), by_rank);
	for (size_t i = 1; i < b->ranks.n; i++) {
		if (b->ranks.at[i].rank == b->ranks.at[n].rank)
			b->ranks.at[n].left_out |= b->ranks.at[i].left_out;
		else
			b->ranks.at[++n] = b->ranks.at[i];
	}
	b->ranks.n = n + 1;
}

struct kin_error *profile_add_rank_recording(struct profile_builder *b, struct rank_recording r)
{
	const struct rank_recording *known = rank_recordings_add(&b->recordings, &r);

	if (!known)
		return NULL;
	return err_new(
		KIN_ERROR_MISMATCH, "%s: the same recording of rank %u as %s: it is left out",
		strtab_get(b->strings, r.path), r.rank - 1, strtab_get(b->strings, known->path));
}

static struct kin_error *merge_rank_recordings(struct profile_builder *into,
					       const struct profile_builder *from)
{
	struct kin_error *err = NULL;

	for (size_t i = 0; i < from->recordings.at.n && !err; i++) {
		struct rank_recording r = from->recordings.at.at[i];
		r.job = strtab_add(into->strings, strtab_get(from->strings, r.job));
		r.path = strtab_add(into->strings, strtab_get(from->strings, r.path));
		err = profile_add_rank_recording(into, r);
	}
	return err;
}

struct kin_error *profile_builder_merge(struct profile_builder *into, struct profile_builder *from)
{
	objid *ids = map_objects(into, from);
	struct kin_error *err = merge_histograms(into, from, ids);

	merge_arcs(into, from, ids);
	merge_blocks(into, from, ids);
	merge_texts(into, from, ids);
	for (size_t i = 0; i < from->sources.n; i++)
		profile_add_source(into, strtab_get(from->strings, from->sources.at[i].path),
				   from->sources.at[i]);
	into->saturated |= from->saturated;
	profile_add_kept(into, from->kept);
	if (from->spreads)
		join_spreads(into, from->spreads, ids);
	for (size_t i = 0; i < from->ranks.n; i++)
		builder_add_rank(into, from->ranks.at[i]);
	if (!err)
		err = merge_rank_recordings(into, from);
	free(ids);
	profile_builder_free(from);
	return err;
}

struct profile profile_frames(const struct profile_builder *b)
{
	return (struct profile){ .strings = b->strings,
				 .objects = b->objects.at,
				 .n_objects = b->objects.n,
				 .samples = { .frames = b->samples.frames.at,
					      .n_frames = b->samples.frames.n } };
}

/* Whether the counts of all arcs together exceed 64 bits. */
static bool are_counts_too_large(const struct profile_builder *b)
{
	struct arc_list arcs = arcs_list(&b->arcs);
	uint64_t sum = 0;

	for (size_t i = 0; i < b->arcs.n; i++)
		if (__builtin_add_overflow(sum, arc_at(&arcs, i).count, &sum))
			return true;
	return false;
}

struct profile *profile_finish(struct profile_builder *b)
{
	struct finished *f = xalloc(sizeof(*f));

	settle_histograms(b);
	arcs_end_file(&b->arcs);
	arcs_drop_index(&b->arcs);
	samples_builder_seal(&b->samples);
	settle_ranks(b);
	f->builder = b;
	f->profile = (struct profile){
		.strings = b->strings,
		.objects = b->objects.at,
		.n_objects = b->objects.n,
		.arcs = arcs_list(&b->arcs),
		.n_arcs = b->arcs.n,
		.arcs_ascend = b->arcs.ascend,
		.histograms = b->histograms.at,
		.n_histograms = b->histograms.n,
		.blocks = b->blocks.at,
		.n_blocks = b->blocks.n,
		.n_block_records = b->n_block_records,
		.sources = b->sources.at,
		.n_sources = b->sources.n,
		.facts = b->facts.at,
		.n_facts = b->facts.n,
		.samples = samples_builder_view(&b->samples),
		.ranks = b->ranks.at,
		.n_ranks = b->ranks.n,
		.spreads = b->spreads,
		.kept = b->kept,
		.saturated = b->saturated || b->arcs.saturated || b->samples.saturated ||
			     are_counts_too_large(b),
	};
	return &f->profile;
}

static struct finished *finished_of(struct profile *p)
{
	return (struct finished *)p; /* p is its first member */
}

void *profile_take_arcs(struct profile *p)
{
	void *arcs = arcs_take(&finished_of(p)->builder->arcs);

	profile_release_arcs(p);
	return arcs;
}

mode_t profile_file_mode(const struct profile *p)
{
	mode_t mode = 0666;
	for (size_t i = 0; i < p->n_sources; i++)
		mode &= file_mode_of(strtab_get(p->strings, p->sources[i].path));
	return mode;
}

void profile_release_arcs(struct profile *p)
{
	arcs_free(&finished_of(p)->builder->arcs);
	p->arcs = (struct arc_list){ 0 };
	p->n_arcs = 0;
	p->arcs_ascend = false;
}

void profile_release_hits(struct profile *p)
{
	struct profile_builder *b = finished_of(p)->builder;

	for (size_t i = 0; i < b->hits.n; i++) {
		hits_free(&b->hits.at[i]);
		b->histograms.at[i].hits = NULL;
		b->histograms.at[i].all = NULL;
		b->histograms.at[i].n_hits = 0;
	}
}

void profile_revise_samples(struct profile *p, bool (*revise)(struct sample *s, void *arg),
			    void *arg)
{
	struct samples_builder *s = &finished_of(p)->builder->samples;

	samples_builder_revise(s, revise, arg);
	p->samples.n = s->at.n;
	p->samples.n_stacks = s->stacks.nodes.n;
}

frameid profile_append_frame(struct profile *p, struct frame f)
{
	struct samples_builder *s = &finished_of(p)->builder->samples;

	vec_push(&s->frames, f);
	p->samples.frames = s->frames.at;
	p->samples.n_frames = s->frames.n;
	return (frameid)(s->frames.n - 1);
}

strid profile_append_text(struct profile *p, const char *text)
{
	return strtab_add(finished_of(p)->builder->strings, text);
}

void profile_append_block(struct profile *p, struct block b)
{
	struct profile_builder *from = finished_of(p)->builder;

	profile_add_block(from, b);
	p->blocks = from->blocks.at;
	p->n_blocks = from->blocks.n;
	p->n_block_records = 1;
}

frameid profile_append_mark(struct profile *p, const char *name)
{
	return profile_append_frame(
		p, (struct frame){ .name = profile_append_text(p, name), .flags = FRAME_MARK });
}

struct revised_stacks {
	struct profile *p;
	struct samples_builder *samples;
	struct map64 added; /* (caller, frame): an appended stack */
};

stackid revised_stacks_add(struct revised_stacks *r, stackid caller, frameid frame)
{
	uint32_t *id = map64_at(&r->added, MAP64_PAIR(caller, frame));

	if (*id == NONE) {
		*id = (stackid)r->samples->stacks.nodes.n;
		vec_push(&r->samples->stacks.nodes, ((struct stack){ caller, frame }));
		r->p->samples.stacks = r->samples->stacks.nodes.at;
		r->p->samples.n_stacks = r->samples->stacks.nodes.n;
	}
	return *id;
}

static bool move_sample(struct sample *s, void *now)
{
	s->stack = ((const stackid *)now)[s->stack];
	return true;
}

static void revise_stacks(struct profile *p, const bool *changes, stack_reviser *revise, void *arg,
			  bool whole)
{
	struct revised_stacks r = { .p = p, .samples = &finished_of(p)->builder->samples };
	size_t n = p->samples.n_stacks;
	stackid *now = xrealloc(NULL, n, sizeof(*now)); /* [0] is the empty stack */
	bool any = false;

	now[0] = 0;
	for (size_t i = 1; i < n; i++) {
		const struct stack old = p->samples.stacks[i];
		stackid ret = now[old.caller];
		if (!changes || changes[i])
			ret = revise(arg, &r, (stackid)i, ret);
		if (!whole)
			ret = ret == old.caller ? (stackid)i
						: revised_stacks_add(&r, ret, old.frame);
		now[i] = ret;
		any |= ret != i;
	}
	if (any)
		profile_revise_samples(p, move_sample, now);
	map64_free(&r.added);
	free(now);
}

void profile_revise_callers(struct profile *p, const bool *changes, stack_reviser *revise,
			    void *arg)
{
	revise_stacks(p, changes, revise, arg, false);
}

void profile_replace_stacks(struct profile *p, stack_reviser *revise, void *arg)
{
	revise_stacks(p, NULL, revise, arg, true);
}

bool profile_is_empty(const struct profile *p)
{
	return !p->n_arcs && !p->n_histograms && !p->n_blocks && !p->samples.n &&
	       !p->samples.n_task_arcs;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	struct finished *f = finished_of(p);
	profile_builder_free(f->builder);
	free(f);
}

void profile_builder_free(struct profile_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->hits.n; i++)
		hits_free(&b->hits.at[i]);
	vec_free(&b->hits);
	vec_free(&b->histograms);
	ranges_free(&b->ranges);
	arcs_free(&b->arcs);
	samples_builder_done(&b->samples);
	vec_free(&b->blocks);
	vec_free(&b->sources);
	vec_free(&b->facts);
	vec_free(&b->objects);
	map64_free(&b->object_ids);
	kept_free(b->kept);
	spread_set_free(b->spreads);
	vec_free(&b->ranks);
	rank_recordings_done(&b->recordings);
	strtab_free(b->strings);
	free(b);
}

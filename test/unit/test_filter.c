/* A part of a profile: its samples and counts, the figures of each part, and ids that stay. */
#include "profile/filter.h"

#include <stdlib.h>

#include "base/err.h"
#include "names/kept.h"
#include "profile/detail.h"
#include "tap.h"

enum { THREADS = 3, OBJECTS = 3 }; /* with the unknown ones */

static const uint64_t bucket[LATENCY_BUCKETS] = { 1 };
static const uint8_t first[] = { 0, 1, 0 }, second[] = { 0, 0, 1 }, unknown[] = { 1, 0, 0 };

static strid string(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, strlen(s));
}

static void add_sample(struct profile_builder *b, uint32_t id, uint64_t time_ns, uint64_t weight)
{
	frameid f = profile_add_frame(b, (struct frame){ .addr = 16, .object = id });
	stackid above = profile_add_stack(
		b, 0, profile_add_frame(b, (struct frame){ .addr = 8, .object = 1 }));
	profile_add_sample(b, (struct sample){ .stack = profile_add_stack(b, above, f),
					       .task = id,
					       .event = (uint16_t)(id - 1),
					       .count = 1,
					       .weight = weight,
					       .time_ns = time_ns });
}

/* Two files: samples of task, object and event 1 at 10, and of 2 at 20; one more behind them. */
static struct profile *make(void)
{
	struct profile_builder *b = profile_builder_new();
	struct histogram h = { .high = 64, .n = 16, .rate = 100, .dimension = "s", .abbrev = 's' };
	profile_add_object_of(b, "/a", "aa", OBJECT_ELF, true);
	profile_add_object_of(b, "/b", "bb", OBJECT_VDSO, false);
	for (uint32_t i = 1; i < THREADS; i++)
		profile_add_task(b, (struct task){ .pid = 7,
						   .tid = 6 + i,
						   .comm = string(b, "t"),
						   .start_ns = 5 * i,
						   .end_ns = 50 * i,
						   .cpu_ns = 100 * i,
						   .sampled_ns = 10 * i });
	profile_add_event(b, (struct event){ .name = string(b, "cycles") });
	profile_add_event(b, (struct event){ .name = string(b, "faults") });
	profile_add_fact(b, "host", "one");
	add_sample(b, 1, 10, 5);
	profile_set_detail(b, profile_add_detail(b, &(struct detail){ .weight = 9 }));
	profile_add_source(b, "first", (struct source){ .kind = "kin", .day_ns = 3 });
	profile_add_fact(b, "host", "two");
	profile_add_fact(b, "end", "well");
	add_sample(b, 2, 20, 7);
	profile_add_source(b, "second", (struct source){ .kind = "perf.data" });
	profile_add_fact(b, "end", "of none");
	add_sample(b, 2, 0, 11); /* when is not known */
	for (objid i = 0; i < OBJECTS; i++) {
		size_t at;
		profile_add_block(b, (struct block){ .addr = i, .count = 1 + i, .object = i });
		profile_add_block_record(b);
		profile_add_latency(b,
				    (struct latency){ 1, 2, 1, i, 1 + i, 10, 10, 10, bucket, 0 });
		profile_add_failure(b, i, 4 - i);
		profile_add_arc(b, (struct arc){ 1, 2, 10 + i, 1, i });
		h.object = i;
		OK(!profile_begin_histogram(b, h, &at));
		profile_add_bins(b, at, 2, &(const uint64_t){ 6 + i }, 1);
	}
	profile_add_task_arc(b, (struct task_arc){ 1, 2, 3, 1, 1, 1 });
	profile_add_task_arc(b, (struct task_arc){ 1, 2, 4, 1, 1, 2 });
	profile_add_task_arc(b, (struct task_arc){ 1, 2, 12, 1, 2, 2 });
	profile_add_marker(b, (struct marker){ 9, string(b, "begin") });
	profile_add_marker(b, (struct marker){ 20, string(b, "end") });
	*profile_audit(b) = (struct audit){ .lost = 2, .cpu_ns = 1000, .sampled_ns = 900 };
	struct kept *kept = kept_new();
	profile_add_kept(b, kept);
	kept_free(kept);
	return profile_finish(b);
}

static uint64_t weight(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].weight;
	return sum;
}

/* "FROM OBJECT-TO OBJECT=COUNT" of the arcs to each object. */
static const char *arcs(const struct profile *p)
{
	static char text[200];
	size_t n = 0;
	text[0] = '\0';
	for (size_t i = 0; i < p->n_arcs; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u=%u ",
				      arc_at(&p->arcs, i).to_object,
				      (unsigned)arc_at(&p->arcs, i).count);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "of");
	for (size_t i = 0; i < p->samples.n_task_arcs; i++) {
		const struct task_arc *a = &p->samples.task_arcs[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %u:%u=%u", a->task,
				      a->to_object, (unsigned)a->count);
	}
	return text;
}

/* CPU time, that of samples, and losses. */
static bool is_audit(const struct profile *p, uint64_t cpu_ns, uint64_t sampled_ns)
{
	const struct audit *a = &p->samples.audit;
	return a->cpu_ns == cpu_ns && a->sampled_ns == sampled_ns && a->lost == 2;
}

static void all_of_it(const struct profile *p)
{
	struct profile *q = profile_filter(p, &(struct profile_part){ 0 });
	OK(q->samples.n == 3 && weight(q) == 23 && is_audit(q, 1000, 900));
	OK(q->samples.at[0].source == 0 && q->samples.at[1].source == 1);
	OK(q->samples.at[2].source == 2);
	OK(sample_detail(&q->samples, &q->samples.at[0])->weight == 9);
	OK(sample_detail(&q->samples, &q->samples.at[1])->weight == 0);
	OK_STR(arcs(q), "0=10 1=11 2=12 of 1:1=3 2:1=4 2:2=12");
	OK(q->n_histograms == 3 && q->n_blocks == 3 && q->n_block_records == 3);
	OK(q->samples.n_latencies == 3 && q->samples.n_failures == 3);
	OK(histogram_count(&q->histograms[2], 2) == 8 && q->blocks[2].count == 3);
	OK(q->samples.latencies[2].count == 3 && q->samples.latencies[2].bucket[0] == 1);
	OK(q->samples.n_markers == 2 && q->kept == p->kept && !q->saturated);
	OK(q->n_sources == 2 && q->sources[0].day_ns == 3 &&
	   !strcmp(q->sources[1].kind, "perf.data"));
	OK_STR(strtab_get(q->strings, q->sources[1].path), "second");
	OK(q->n_facts == 4 && q->facts[0].source == 0 && q->facts[1].source == 1);
	OK(q->facts[2].source == 1 && q->facts[3].source == 2);
	OK_STR(strtab_get(q->strings, q->facts[2].value), "well");
	profile_free(q);
}

/* Ids stay, so references to them need not be looked up again. */
static void ids_stay(const struct profile *p)
{
	struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = second });
	OK(strtab_count(q->strings) == strtab_count(p->strings));
	OK(q->n_objects == OBJECTS && q->objects[1].is_main && !q->objects[2].is_main);
	OK(q->objects[2].kind == OBJECT_VDSO && q->objects[1].path == p->objects[1].path);
	OK(q->objects[2].build_id == p->objects[2].build_id);
	OK(q->samples.n_frames == p->samples.n_frames && q->samples.n_tasks == THREADS);
	OK(q->samples.n_details == p->samples.n_details);
	OK(q->samples.n_stacks == 3); /* but ids of stacks do not stay */
	const struct task *t = q->samples.tasks;
	OK(t[1].tid == 7 && !t[1].start_ns && !t[1].end_ns && !t[1].cpu_ns && !t[1].sampled_ns);
	OK(t[2].tid == 8 && t[2].start_ns == 10 && t[2].end_ns == 100 && t[2].cpu_ns == 200);
	profile_free(q);
}

static void by_thread(const struct profile *p)
{
	struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = first });
	OK(q->samples.n == 1 && weight(q) == 5 && is_audit(q, 100, 10));
	OK_STR(arcs(q), "1=3 of 1:1=3");
	OK(!q->n_histograms && !q->n_blocks && !q->n_block_records && !q->samples.n_latencies);
	OK(q->samples.n_failures == 3 && q->samples.n_markers == 2);
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .tasks = second });
	OK(weight(q) == 18 && is_audit(q, 200, 20));
	OK_STR(arcs(q), "1=4 2=12 of 2:1=4 2:2=12");
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .tasks = unknown });
	OK(!q->samples.n && is_audit(q, 0, 0));
	OK_STR(arcs(q), "0=10 1=4 of"); /* data of the unknown thread; thread 2 gets none of it */
	OK(q->n_histograms == 3 && q->n_blocks == 3 && q->samples.n_latencies == 3);
	profile_free(q);
}

static void by_object(const struct profile *p)
{
	struct profile *q = profile_filter(p, &(struct profile_part){ .objects = first });
	OK(weight(q) == 5 && is_audit(q, 0, 0));
	OK_STR(arcs(q), "1=11 of 1:1=3 2:1=4");
	OK(q->n_histograms == 1 && q->histograms[0].object == 1);
	OK(histogram_count(&q->histograms[0], 2) == 7);
	OK(q->n_blocks == 1 && q->blocks[0].count == 2);
	OK(q->samples.n_latencies == 1 && q->samples.latencies[0].to_object == 1);
	OK(q->samples.n_failures == 1 && q->samples.failures[0].object == 1);
	OK(q->samples.failures[0].count == 3);
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .objects = second, .tasks = second });
	OK(weight(q) == 18 && is_audit(q, 0, 0));
	OK_STR(arcs(q), "2=12 of 2:2=12");
	profile_free(q);
}

static void by_event(const struct profile *p)
{
	static const uint8_t event[] = { 0, 1 };
	struct profile *q = profile_filter(p, &(struct profile_part){ .events = event });
	OK(weight(q) == 18 && is_audit(q, 0, 0) && q->samples.n_events == 1);
	OK_STR(strtab_get(q->strings, q->samples.events[0].name), "faults");
	OK(q->samples.at[0].event == 0 && q->n_histograms == 3);
	profile_free(q);
}

/* [from, to) */
static void by_time(const struct profile *p)
{
	static const struct {
		uint64_t from, to, weight;
		size_t markers;
	} spans[] = { { 10, 20, 5, 0 }, { 10, 21, 12, 1 }, { 11, 20, 0, 0 }, { 0, 10, 0, 1 },
		      { 0, 11, 5, 1 },  { 10, 0, 12, 1 },  { 11, 0, 7, 1 },  { 9, 10, 0, 1 },
		      { 20, 0, 7, 1 },  { 21, 0, 0, 0 },   { 1, 0, 12, 2 },  { 0, 1, 0, 0 } };
	for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
		struct profile *q =
			profile_filter(p, &(struct profile_part){ .from_ns = spans[i].from,
								  .to_ns = spans[i].to });
		OK(weight(q) == spans[i].weight && q->samples.n_markers == spans[i].markers);
		OK(is_audit(q, 0, 0) && q->n_facts == 4 && q->n_sources == 2);
		OK_STR(arcs(q), "of"); /* counts have no time */
		OK(!q->n_histograms && !q->n_blocks && !q->samples.n_latencies);
		profile_free(q);
	}
}

/* The same calls along arcs that differ in one end alone. */
static void arcs_are_told_apart(void)
{
	static const struct arc ends[] = { { 1, 2, 10, 1, 1 },
					   { 2, 2, 20, 1, 1 },
					   { 1, 3, 30, 1, 1 },
					   { 1, 2, 40, 2, 1 },
					   { 1, 2, 50, 1, 2 } };
	struct profile_builder *b = profile_builder_new();
	profile_add_object(b, "/a", NULL);
	profile_add_object(b, "/b", NULL);
	for (uint32_t i = 1; i < THREADS; i++)
		profile_add_task(b, (struct task){ .pid = 7, .tid = 6 + i });
	for (size_t i = ARRAY_LEN(ends); i-- > 0;) {
		const struct arc *a = &ends[i];
		profile_add_arc(b, *a);
		profile_add_task_arc(b, (struct task_arc){ a->from, a->to, a->count - i,
							   a->from_object, a->to_object, 1 });
	}
	profile_add_arc(b, (struct arc){ 9, 9, 0, 1, 1 }); /* never called */
	struct profile *p = profile_finish(b);
	struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = first });
	OK(q->n_arcs == ARRAY_LEN(ends));
	for (size_t i = 0; i < q->n_arcs; i++)
		OK(arc_at(&q->arcs, i).count == ends[4 - i].count - (4 - i));
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .tasks = unknown });
	OK(q->n_arcs == 5 && arc_at(&q->arcs, 0).count == 4 && arc_at(&q->arcs, 3).count == 1);
	OK(arc_at(&q->arcs, 4).from == 9 && !arc_at(&q->arcs, 4).count);
	profile_free(q);
	profile_free(p);
}

/* Filters one after the other, in any order, give the same as one with all conditions. */
static void parts_are_what_is_filtered(const struct profile *p)
{
	static const uint32_t of_task[] = { 0, 1, 2 };
	static const uint8_t *const chosen[] = { unknown, first, second };
	struct profile_parts *parts = profile_parts_new(p, of_task, THREADS);
	for (size_t k = 0; k < 2 * (size_t)THREADS; k++) {
		size_t i = (2 * k + 1) % THREADS;
		struct profile *one = profile_parts_make(parts, i);
		struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = chosen[i] });
		const struct samples *s = &one->samples, *t = &q->samples;
		char *expected = strdup(arcs(q));
		OK_STR(arcs(one), expected);
		free(expected);
		OK(s->n == t->n && s->n_stacks == t->n_stacks && weight(one) == weight(q));
		for (size_t j = 0; j < s->n; j++)
			OK(!memcmp(&s->at[j], &t->at[j], sizeof(s->at[j])) &&
			   sample_detail(s, &s->at[j])->weight ==
				   sample_detail(t, &t->at[j])->weight);
		for (size_t j = 1; j < s->n_stacks; j++)
			OK(s->stacks[j].frame == t->stacks[j].frame &&
			   s->stacks[j].caller == t->stacks[j].caller);
		OK(is_audit(one, t->audit.cpu_ns, t->audit.sampled_ns));
		OK(one->n_histograms == q->n_histograms && one->n_blocks == q->n_blocks);
		OK(s->n_latencies == t->n_latencies && s->n_failures == t->n_failures);
		OK(s->whole_from_ns == t->whole_from_ns && s->whole_to_ns == t->whole_to_ns);
		OK(one->strings == p->strings && s->frames == p->samples.frames);
		OK(s->tasks == p->samples.tasks && one->sources == p->sources);
		profile_free(q);
		profile_free(one);
	}
	profile_parts_free(parts);
}

static void what_is_not_known_stays_so(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_task(b, (struct task){ .pid = 1, .cpu_ns = 5, .sampled_ns = 3 });
	profile_audit(b)->sampled_ns = 7; /* but no CPU time */
	profile_note_saturated(b);
	struct profile *p = profile_finish(b);
	struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = first });
	OK(!q->samples.audit.cpu_ns && q->samples.audit.sampled_ns == 7 && q->saturated);
	OK(!q->samples.detail_of && q->samples.n_words == 1);
	profile_free(q);
	profile_free(p);
}

int main(void)
{
	struct profile *p = make();
	all_of_it(p);
	ids_stay(p);
	by_thread(p);
	by_object(p);
	by_event(p);
	by_time(p);
	parts_are_what_is_filtered(p);
	profile_free(p);
	arcs_are_told_apart();
	what_is_not_known_stays_so();
	return DONE();
}

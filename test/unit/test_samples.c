/* Sampled stacks in a profile: equal stacks have one id, also when profiles are merged. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/detail.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/samples_builder.h"

static strid name(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, strlen(s));
}

static void frames_and_stacks_are_interned(void)
{
	struct profile_builder *b = profile_builder_new();
	objid lib = profile_add_object_of(b, "/lib/a.so", "ab", OBJECT_ELF, false);
	frameid f = profile_add_frame(b, (struct frame){ .addr = 1, .object = lib });
	frameid g = profile_add_frame(b, (struct frame){ .addr = 2, .object = lib });
	OK(f == 1 && g == 2);
	OK(profile_add_frame(b, (struct frame){ .addr = 1, .object = lib }) == f);
	OK(profile_add_frame(b, (struct frame){ .addr = 1 }) != f);
	OK(profile_add_frame(b, (struct frame){ .addr = 1, .object = lib, .flags = 1 }) != f);
	OK(profile_add_frame(b, (struct frame){ .addr = 1, .object = lib, .name = name(b, "x") }) !=
	   f);
	OK(profile_add_frame(b, (struct frame){ 0 }) != 0); /* a jump to NULL is somewhere */
	stackid s = profile_add_stack(b, 0, f), t = profile_add_stack(b, s, g);
	OK(s == 1 && t == 2 && profile_add_stack(b, 0, f) == s && profile_add_stack(b, s, g) == t);
	OK(profile_add_stack(b, s, f) == 3); /* recursion is a stack of its own */
	OK(profile_add_object_of(b, "/lib/a.so", "ab", OBJECT_ELF, true) == lib);
	struct profile *p = profile_finish(b);
	OK(p->objects[lib].is_main);
	OK(p->samples.n_stacks == 4 && p->samples.stacks[2].caller == 1);
	profile_free(p);
}

static void pushed_stacks_are_their_own(void)
{
	struct profile_builder *b = profile_builder_new();
	frameid f = profile_add_frame(b, (struct frame){ .addr = 1 });
	frameid g = profile_add_frame(b, (struct frame){ .addr = 2 });
	stackid s = profile_push_stack(b, 0, f), t = profile_push_stack(b, 0, f);
	stackid under = profile_push_stack(b, t, g);
	OK(s == 1 && t == 2 && under == 3);
	OK(profile_add_stack(b, 0, f) == s);     /* the first of equal ones is found */
	OK(profile_add_stack(b, t, g) == under); /* and the stacks below each */
	OK(profile_add_stack(b, s, g) == 4 && profile_add_stack(b, s, g) == 4);
	OK(profile_push_stack(b, s, g) == 5);
	struct profile *p = profile_finish(b);
	OK(p->samples.n_stacks == 6);
	OK(samples_distinct_stacks(&p->samples) == 2); /* f, and g called by it */
	profile_free(p);
}

static void many_pushed_stacks_are_looked_up(void)
{
	enum { MANY = 1000 };
	struct samples_builder b = { 0 };
	samples_builder_init(&b, NULL);
	b.pushed_max = MANY;
	for (size_t i = 0; i < MANY + 5; i++)
		samples_push_stack(&b, 0, 7);
	OK(b.stacks.nodes.n == MANY && samples_push_stack(&b, 0, 7) == 1);
	OK(samples_push_stack(&b, 1, 7) == MANY && samples_push_stack(&b, 1, 7) == MANY);
	samples_builder_done(&b);
}

static void many_frames_keep_their_ids(void)
{
	enum { N = 20000 };
	struct profile_builder *b = profile_builder_new();
	size_t wrong = 0;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++)
			wrong += profile_add_frame(b, (struct frame){ .addr = i * 64ull + 1 }) !=
				 i + 1;
	OK(!wrong);
	profile_builder_free(b);
}

static void tasks_are_one_while_they_have_one_name(void)
{
	struct profile_builder *b = profile_builder_new();
	struct task t = { .pid = 1, .tid = 2, .comm = name(b, "sh"), .start_ns = 50, .cpu_ns = 3 };
	taskid sh = profile_add_task(b, t);
	t.start_ns = 40;
	t.end_ns = 90;
	OK(profile_add_task(b, t) == sh);
	t.start_ns = 0; /* not known */
	OK(profile_add_task(b, t) == sh);
	t.comm = name(b, "ls");
	OK(profile_add_task(b, t) != sh);
	profile_task_at(b, sh)->sampled_ns += 7;
	struct profile *p = profile_finish(b);
	const struct task *k = &p->samples.tasks[sh];
	OK(k->start_ns == 40 && k->end_ns == 90 && k->cpu_ns == 9 && k->sampled_ns == 7);
	profile_free(p);
}

static void events_of_one_name_and_kind_are_one(void)
{
	struct profile_builder *b = profile_builder_new();
	struct event e = { .name = name(b, "clock"), .unit = EVENT_NS, .period = 10 };
	OK(profile_add_event(b, e) == 0);
	e.period = 20;
	OK(profile_add_event(b, e) == 0);
	e.period = 5;
	OK(profile_add_event(b, e) == 0);
	e.kind = EVENT_BLOCKED;
	OK(profile_add_event(b, e) == 1);
	e.unit = EVENT_COUNT;
	OK(profile_add_event(b, e) == 2);
	struct profile *p = profile_finish(b);
	OK(p->samples.events[0].period == 20 && p->samples.n_events == 3);
	profile_free(p);
}

/* A profile whose ids differ with `turn`, with the same contents. */
static struct profile_builder *one_file(int turn, uint64_t weight)
{
	static const uint64_t bucket[LATENCY_BUCKETS] = { 1, 2, 3 };
	struct profile_builder *b = profile_builder_new();
	objid o[2];
	frameid f[2];
	for (int i = 0; i < 2; i++)
		o[i ^ turn] =
			profile_add_object_of(b, i ^ turn ? "/b" : "/a", "", OBJECT_ELF, false);
	for (int i = 0; i < 2; i++)
		f[i ^ turn] =
			profile_add_frame(b, (struct frame){ .addr = 16, .object = o[i ^ turn] });
	struct sample s = { .count = 1, .weight = weight, .cpu = CPU_NONE };
	s.task = profile_add_task(b, (struct task){ .pid = 1, .comm = name(b, "t") });
	s.event = profile_add_event(b, (struct event){ .name = name(b, "e") });
	s.stack = profile_add_stack(b, profile_add_stack(b, 0, f[0]), f[1]);
	profile_add_sample(b, s);
	profile_add_task_arc(b, (struct task_arc){ 1, 2, weight, o[0], o[1], s.task });
	profile_add_latency(b, (struct latency){ 1, 2, o[0], o[1], 1, 10, 10, 10, bucket });
	profile_add_failure(b, o[1], weight);
	profile_audit(b)->lost = weight;
	profile_add_fact(b, "host", "here");
	profile_add_source(b, "file", (struct source){ 0 });
	return b;
}

static void merging_adds_what_is_equal(void)
{
	struct profile_builder *b = one_file(0, 5);
	OK(!profile_builder_merge(b, one_file(1, 7)));
	struct profile *p = profile_finish(b), *c = profile_canonical(p, NULL, NULL);
	const struct samples *s = &p->samples;
	OK(s->n == 2 && s->at[0].stack == s->at[1].stack && s->at[0].source == 0);
	OK(s->at[1].source == 1 && s->at[0].task == s->at[1].task);
	OK(s->n_frames == 3 && s->n_stacks == 3 && s->n_tasks == 2 && s->n_events == 1);
	OK(s->n_task_arcs == 1 && s->task_arcs[0].count == 12);
	OK(s->n_latencies == 1 && s->latencies[0].bucket[2] == 6 && s->latencies[0].count == 2);
	OK(s->n_failures == 1 && s->failures[0].count == 12 && s->audit.lost == 12);
	OK(p->n_facts == 2 && p->facts[0].source == 0 && p->facts[1].source == 1);
	OK(c->samples.n == 1 && c->samples.at[0].weight == 12 && c->samples.at[0].count == 2);
	OK(c->samples.n_stacks == 3 && c->samples.task_arcs[0].count == 12);
	profile_free(c);
	profile_free(p);
}

static void sums_saturate(void)
{
	struct profile_builder *b = one_file(0, UINT64_MAX - 1);
	OK(!profile_builder_merge(b, one_file(0, 3)));
	struct profile *p = profile_finish(b), *c = profile_canonical(p, NULL, NULL);
	OK(p->saturated && p->samples.task_arcs[0].count == UINT64_MAX);
	OK(c->saturated && c->samples.at[0].weight == UINT64_MAX);
	profile_free(c);
	profile_free(p);
}

/* Arcs with calls by thread: the calls of selected threads add up, but saturate. */
static void sums_of_threads_saturate(void)
{
	struct profile_builder *b = profile_builder_new();
	taskid one = profile_add_task(b, (struct task){ .pid = 1, .tid = 1 });
	taskid other = profile_add_task(b, (struct task){ .pid = 1, .tid = 2 });
	profile_add_arc(b, (struct arc){ 1, 2, UINT64_MAX, 0, 0 });
	profile_add_task_arc(b, (struct task_arc){ 1, 2, UINT64_MAX - 1, 0, 0, one });
	profile_add_task_arc(b, (struct task_arc){ 1, 2, UINT64_MAX - 1, 0, 0, other });
	struct profile *p = profile_finish(b);
	const uint8_t first[] = { 0, 1, 0 }, both[] = { 0, 1, 1 };
	struct profile *q = profile_filter(p, &(struct profile_part){ .tasks = first });
	OK(q->n_arcs == 1 && arc_at(&q->arcs, 0).count == UINT64_MAX - 1);
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .tasks = both });
	OK(q->n_arcs == 1 && arc_at(&q->arcs, 0).count == UINT64_MAX);
	profile_free(q);
	profile_free(p);
}

/* Attributes of an event come from any of the files. */
static void events_are_joined(void)
{
	struct profile_builder *b = profile_builder_new();
	struct event e = { .name = profile_add_string(b, "x", 1), .frequency = 99, .stacks = true };
	OK(profile_add_event(b, e) == 0);
	e = (struct event){ .name = e.name, .period = 7, .is_trace = true };
	OK(profile_add_event(b, e) == 0);
	e = (struct event){ .name = e.name, .frequency = 50, .is_assembled = true, .group = 3 };
	OK(profile_add_event(b, e) == 0);
	struct profile *p = profile_finish(b);
	e = p->samples.events[0];
	OK(p->samples.n_events == 1 && e.frequency == 99 && e.period == 7 && e.group == 3);
	OK(e.stacks && e.is_trace && e.is_assembled);
	profile_free(p);
}

static void canonical_leaves_out_unused_stacks(void)
{
	struct profile_builder *b = one_file(1, 1);
	frameid f = profile_add_frame(b, (struct frame){ .addr = 99 });
	profile_add_stack(b, profile_add_stack(b, 0, f), f);
	struct profile *p = profile_finish(b), *c = profile_canonical(p, NULL, NULL);
	OK(p->samples.n_stacks == 5 && c->samples.n_stacks == 3 && c->samples.n_frames == 3);
	for (size_t i = 1; i < c->samples.n_stacks; i++)
		OK(c->samples.stacks[i].caller < i);
	profile_free(c);
	profile_free(p);
}

static const struct sample a_sample = { .count = 1, .weight = 2, .time_ns = 3, .cpu = 4 };

static void nothing_says_nothing(void)
{
	static const struct frame no_frame = { 0 };
	static const struct task no_task = { 0 };
	static const struct detail no_detail = { 0 };
	struct profile *p = profile_finish(profile_builder_new());
	const struct samples *s = &p->samples;
	OK(s->n_frames == 1 && !memcmp(&s->frames[0], &no_frame, sizeof(no_frame)));
	OK(s->n_stacks == 1 && !s->stacks[0].caller && !s->stacks[0].frame);
	OK(s->n_tasks == 1 && !memcmp(&s->tasks[0], &no_task, sizeof(no_task)));
	OK(s->n_details == 1 && !memcmp(&s->details[0], &no_detail, sizeof(no_detail)));
	OK(s->n_words == 1 && !s->words[0] && !s->detail_of && !s->n && !s->n_events);
	OK(p->n_objects == 1 && !p->objects[0].path && !p->objects[0].build_id);
	OK(samples_distinct_stacks(s) == 0);
	profile_free(p);
}

/* Samples that are added, pushed, or added to an existing one: each gets its number. */
static void samples_have_numbers(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = name(b, "e") });
	OK(profile_add_sample(b, a_sample) == 0 && profile_add_sample(b, a_sample) == 1);
	OK(profile_push_sample(b, a_sample) == 2);
	profile_add_to_sample(b, 1, 5, 7);
	profile_prefetch_sample(b, 1);
	profile_add_source(b, "f", (struct source){ .kind = "kin" });
	OK(profile_push_sample(b, a_sample) == 3 && profile_add_sample(b, a_sample) == 4);
	profile_add_detailed_sample(b, a_sample, 0);
	struct profile *p = profile_finish(b);
	const struct sample *s = p->samples.at;
	OK(p->samples.n == 6 && s[0].count == 1 && s[1].count == 6 && s[1].weight == 9);
	OK(s[2].time_ns == 3 && s[2].cpu == 4 && s[2].source == 0);
	OK(s[3].source == 1 && s[4].source == 1 && s[5].source == 1 && s[5].weight == 2);
	profile_free(p);
}

/* The same where samples are added up: a pushed one is its own, whatever came before it. */
static void summed_samples_have_numbers(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_sum_samples(b);
	profile_add_event(b, (struct event){ .name = name(b, "e") });
	profile_add_event(b, (struct event){ .name = name(b, "t"), .is_trace = true });
	detailid d = profile_add_detail(b, &(struct detail){ .weight = 8 });
	struct sample other = a_sample, traced = a_sample;
	other.flags = 1;
	traced.event = 1;
	profile_add_detailed_sample(b, a_sample, 0);
	profile_set_detail(b, d); /* of a sum: none */
	OK(profile_push_sample(b, a_sample) == 1);
	profile_set_detail(b, d);
	profile_add_detailed_sample(b, other, 0);
	OK(profile_add_sample(b, a_sample) == 0 && profile_add_sample(b, other) == 2);
	OK(profile_add_sample(b, traced) == 3);
	profile_set_detail(b, d);
	OK(profile_add_sample(b, traced) == 4);
	struct profile *p = profile_finish(b);
	const struct samples *s = &p->samples;
	OK(s->n == 5 && s->at[0].count == 2 && s->at[1].count == 1 && s->at[2].count == 2);
	OK(!s->at[0].time_ns && s->at[0].cpu == CPU_NONE);
	OK(!s->at[1].time_ns && s->at[1].cpu == CPU_NONE);
	OK(s->at[3].time_ns == 3 && s->at[3].cpu == 4);
	for (size_t i = 0; i < s->n; i++)
		OK(sample_detail(s, &s->at[i])->weight == (i == 3 ? 8 : 0));
	profile_free(p);
}

/* Samples that still wait come before later ones, in the order in which they came. */
static void coming_samples_keep_their_order(void)
{
	for (uint32_t n = 0; n < 3 * SAMPLES_COMING; n++) {
		struct profile_builder *b = profile_builder_new();
		size_t wrong = 0;
		profile_sum_samples(b);
		profile_add_event(b, (struct event){ .name = name(b, "e") });
		for (uint32_t i = 0; i < n; i++) {
			struct sample s = a_sample;
			s.parallelism = (uint16_t)(i % 20);
			s.weight = i;
			profile_add_detailed_sample(b, s, 0);
		}
		uint32_t kinds = n < 20 ? n : 20;
		if (n % 2) {
			struct sample last = a_sample;
			last.flags = 1;
			OK(profile_add_sample(b, last) == kinds);
		}
		struct profile *p = profile_finish(b);
		wrong += p->samples.n != kinds + n % 2;
		for (uint32_t i = 0; i < kinds; i++) {
			uint64_t sum = 0;
			for (uint32_t k = i; k < n; k += 20)
				sum += k;
			wrong +=
				p->samples.at[i].parallelism != i || p->samples.at[i].weight != sum;
		}
		OK(!wrong);
		profile_free(p);
	}
}

static void counts_of_samples_saturate(void)
{
	struct profile_builder *b = profile_builder_new();
	struct sample s = a_sample;
	s.count = UINT32_MAX - 1;
	profile_add_event(b, (struct event){ .name = name(b, "e") });
	profile_add_sample(b, s);
	profile_add_to_sample(b, 0, 1, UINT64_MAX - 2);
	struct profile *p = profile_finish(b);
	OK(p->samples.at[0].count == UINT32_MAX && p->samples.at[0].weight == UINT64_MAX);
	OK(!p->saturated);
	profile_free(p);
	for (int of_weight = 0; of_weight < 2; of_weight++) {
		b = profile_builder_new();
		profile_add_event(b, (struct event){ .name = name(b, "e") });
		profile_add_sample(b, s);
		profile_add_to_sample(b, 0, of_weight ? 0 : 2, of_weight ? UINT64_MAX - 1 : 0);
		p = profile_finish(b);
		OK(p->saturated && p->samples.at[0].count == (of_weight ? s.count : UINT32_MAX));
		OK(p->samples.at[0].weight == (of_weight ? UINT64_MAX : s.weight));
		profile_free(p);
	}
}

/* Numbers of events have 16 bits: further events count as the last one. */
static void events_are_not_without_end(void)
{
	struct samples_builder b = { 0 };
	size_t wrong = 0;
	samples_builder_init(&b, NULL);
	for (uint32_t i = 0; i < UINT16_MAX - 2; i++) /* events that are not looked up */
		vec_push(&b.events, ((struct event){ .name = 1 + i }));
	for (uint32_t i = UINT16_MAX - 2; i < UINT16_MAX; i++)
		wrong += samples_add_event(&b, (struct event){ .name = 1 + i }) != i;
	wrong += samples_add_event(&b, (struct event){ .name = 1 }) != 0;
	for (uint32_t i = UINT16_MAX; i < UINT16_MAX + 2; i++)
		wrong += samples_add_event(&b, (struct event){ .name = 1 + i }) != UINT16_MAX - 1;
	OK(!wrong && b.events.n == UINT16_MAX);
	samples_builder_done(&b);
}

static struct latency calls_that_took(uint64_t ns, uint64_t count, uint64_t *bucket)
{
	memset(bucket, 0, LATENCY_BUCKETS * sizeof(*bucket));
	bucket[0] = bucket[LATENCY_BUCKETS - 1] = count;
	return (struct latency){ .from = 1,
				 .to = 2,
				 .count = count,
				 .sum_ns = ns * count,
				 .min_ns = ns,
				 .max_ns = ns,
				 .probes_ns = 3 * count,
				 .bucket = bucket };
}

static void latencies_are_joined(void)
{
	struct profile_builder *b = profile_builder_new();
	uint64_t bucket[LATENCY_BUCKETS];
	profile_add_latency(b, calls_that_took(0, 0, bucket)); /* calls of unknown duration */
	profile_add_latency(b, calls_that_took(50, 2, bucket));
	profile_add_latency(b, calls_that_took(70, 1, bucket));
	profile_add_latency(b, calls_that_took(40, 3, bucket));
	profile_add_latency(b, calls_that_took(0, 0, bucket));
	bucket[0] = 99; /* it was copied */
	struct latency other = calls_that_took(1, 1, bucket);
	other.to_object = 1;
	profile_add_latency(b, other);
	struct profile *p = profile_finish(b);
	const struct latency *l = p->samples.latencies;
	OK(p->samples.n_latencies == 2 && l[0].count == 6 && l[0].sum_ns == 290);
	OK(l[0].min_ns == 40 && l[0].max_ns == 70 && l[0].probes_ns == 18);
	OK(l[0].bucket[0] == 6 && l[0].bucket[1] == 0 && l[0].bucket[LATENCY_BUCKETS - 1] == 6);
	OK(l[1].min_ns == 1 && l[1].bucket[0] == 1);
	profile_free(p);
}

static void failures_and_markers_are_in_order(void)
{
	struct profile_builder *b = profile_builder_new();
	for (objid i = 1; i < 5; i++)
		profile_add_object(b, (const char *[]){ "a", "b", "c", "d" }[i - 1], NULL);
	profile_add_failure(b, 4, 2);
	profile_add_failure(b, 2, 2);
	profile_add_failure(b, 3, 9);
	profile_add_failure(b, 1, 1);
	profile_add_failure(b, 1, 1);
	strid x = name(b, "x"), y = name(b, "y");
	profile_add_marker(b, (struct marker){ 20, y });
	profile_add_marker(b, (struct marker){ 20, x });
	profile_add_marker(b, (struct marker){ 10, y });
	profile_add_marker(b, (struct marker){ 20, y });
	profile_add_marker(b, (struct marker){ 20, x });
	struct profile *p = profile_finish(b);
	const struct unwind_failure *f = p->samples.failures;
	OK(p->samples.n_failures == 4 && f[0].object == 3 && f[0].count == 9);
	OK(f[1].object == 1 && f[1].count == 2 && f[2].object == 2 && f[3].object == 4);
	const struct marker *m = p->samples.markers;
	OK(p->samples.n_markers == 3 && m[0].time_ns == 10 && m[0].name == y);
	OK(m[1].name == x && m[2].name == y && m[2].time_ns == 20);
	profile_free(p);
}

/* A sample that says all there is to say, with a number of its own in each. */
static void add_detailed(struct profile_builder *b, const char *text, uint64_t n)
{
	frameid f[4];
	for (size_t i = 0; i < 4; i++)
		f[i] = profile_add_frame(b, (struct frame){ .addr = 10 * n + i });
	struct detail d = { .has = DETAIL_CGROUP | DETAIL_TRACE, .source = f[0], .target = f[1] };
	d.cgroup = name(b, text);
	d.trace = name(b, text + 1);
	d.register_names = name(b, text + 2);
	uint64_t *words = profile_add_words(b, 3, &d.interrupt_registers);
	memcpy(words, (const uint64_t[]){ 2, 4, n }, 3 * sizeof(*words));
	words = profile_add_words(b, 3, &d.user_registers);
	memcpy(words, (const uint64_t[]){ 2, 8, n + 1 }, 3 * sizeof(*words));
	words = profile_add_words(b, 1 + 2 * TAKEN_BRANCH_WORDS, &d.branches);
	words[0] = 2;
	((struct taken_branch *)(words + 1))[0] = (struct taken_branch){ n, n + 1, 3, f[2], f[3] };
	((struct taken_branch *)(words + 1))[1] = (struct taken_branch){ n, n + 2, 4, f[3], 0 };
	profile_add_event(b, (struct event){ .name = name(b, "e") });
	profile_add_sample(b, a_sample);
	profile_set_detail(b, profile_add_detail(b, &d));
	profile_add_sample(b, a_sample); /* that says nothing */
}

static bool has_branches(const struct profile *p, size_t i, uint64_t n)
{
	const struct samples *s = &p->samples;
	size_t k;
	const struct taken_branch *b = detail_branches(s->words, sample_detail(s, &s->at[i]), &k);
	return k == 2 && b[0].from == n && b[0].to == n + 1 && b[0].flags == 3 &&
	       s->frames[b[0].source].addr == 10 * n + 2 &&
	       s->frames[b[0].target].addr == 10 * n + 3 && b[1].to == n + 2 &&
	       s->frames[b[1].source].addr == 10 * n + 3 && !b[1].target;
}

static bool is_detailed(const struct profile *p, size_t i, const char *text, uint64_t n)
{
	const struct samples *s = &p->samples;
	const struct detail *d = sample_detail(s, &s->at[i]);
	struct detail_registers at = detail_registers(s->words, d->interrupt_registers);
	struct detail_registers of = detail_registers(s->words, d->user_registers);
	return has_branches(p, i, n) && at.abi == 2 && at.mask == 4 && at.values[0] == n &&
	       of.mask == 8 && of.values[0] == n + 1 && s->frames[d->source].addr == 10 * n &&
	       s->frames[d->target].addr == 10 * n + 1 &&
	       !strcmp(strtab_get(p->strings, d->cgroup), text) &&
	       !strcmp(strtab_get(p->strings, d->trace), text + 1) &&
	       !strcmp(strtab_get(p->strings, d->register_names), text + 2);
}

static void details_are_merged(void)
{
	struct profile_builder *b = profile_builder_new();
	add_detailed(b, "abcd", 7);
	for (uint64_t i = 0; i < 2; i++) {
		struct profile_builder *more = profile_builder_new();
		add_detailed(more, i ? "klmn" : "wxyz", 1 + i);
		OK(!profile_builder_merge(b, more));
	}
	struct profile *p = profile_finish(b);
	OK(p->samples.n == 6 && p->samples.n_details == 4);
	OK(is_detailed(p, 0, "abcd", 7) && is_detailed(p, 2, "wxyz", 1));
	OK(is_detailed(p, 4, "klmn", 2));
	for (size_t i = 1; i < 6; i += 2)
		OK(sample_detail(&p->samples, &p->samples.at[i]) == p->samples.details);
	OK(p->samples.n_words == 1 + 3 * (3 + 3 + 1 + 2 * TAKEN_BRANCH_WORDS));
	struct profile *c = profile_canonical(p, NULL, NULL);
	OK(c->samples.n_words == 1 + 3 * (3 + 1 + 2 * TAKEN_BRANCH_WORDS));
	OK(c->samples.n == 4 && c->samples.n_details == 4 && c->samples.n_frames == 1 + 3 * 3);
	for (size_t i = 0; i < 4; i++) {
		const struct detail *d = sample_detail(&c->samples, &c->samples.at[i]);
		uint64_t n = d->has ? c->samples.frames[d->target].addr / 10 : 0;
		const char *said = n == 7 ? "abcd" : n == 1 ? "wxyz" : "klmn";
		OK(!d->has || has_branches(c, i, n));
		OK(!d->has || (!strcmp(strtab_get(c->strings, d->cgroup), said) &&
			       !strcmp(strtab_get(c->strings, d->trace), said + 1) &&
			       !strcmp(strtab_get(c->strings, d->register_names), said + 2)));
		OK(!d->has ||
		   detail_registers(c->samples.words, d->interrupt_registers).values[0] == n);
	}
	profile_free(c);
	profile_free(p);
}

/* Merging gives the same as one builder that reads everything, also with samples that still wait.
 */
static void sums_are_merged(void)
{
	struct profile_builder *b[2];
	for (int i = 0; i < 2; i++) {
		b[i] = profile_builder_new();
		profile_sum_samples(b[i]);
		struct sample s = a_sample;
		s.event = profile_add_event(b[i], (struct event){ .name = name(b[i], "e") });
		for (int k = 0; k < 3; k++)
			profile_add_detailed_sample(b[i], s, 0);
		if (i)
			profile_add_source(b[i], "f", (struct source){ .kind = "kin" });
	}
	OK(!profile_builder_merge(b[0], b[1]));
	profile_set_detail(b[0], profile_add_detail(b[0], &(struct detail){ .weight = 1 }));
	struct profile *p = profile_finish(b[0]);
	OK(p->samples.n == 2 && p->samples.at[0].count == 3 && p->samples.at[1].count == 3);
	OK(p->samples.n_events == 1 && p->n_sources == 1);
	profile_free(p);
}

static void marks_are_frames(void)
{
	struct profile_builder *b = profile_builder_new();
	frameid cut = profile_add_mark(b, "[cut]");
	OK(cut == 1 && profile_add_mark(b, "[cut]") == cut && profile_add_mark(b, "[lost]") == 2);
	const struct profile view = profile_frames(b);
	OK(view.samples.n_frames == 3 && view.samples.frames[1].flags == FRAME_MARK);
	OK_STR(strtab_get(view.strings, view.samples.frames[2].name), "[lost]");
	OK_STR(profile_string(b, view.samples.frames[1].name), "[cut]");
	OK(view.n_objects == 1 && view.objects[0].kind == OBJECT_ELF);
	objid jit = profile_add_object_of(b, "/j", NULL, OBJECT_JIT, false);
	OK(profile_object_kind(b, jit) == OBJECT_JIT && profile_object_kind(b, 0) == OBJECT_ELF);
	profile_builder_free(b);
}

static struct profile_builder *file_with_last_name(const char *last)
{
	struct profile_builder *b = profile_builder_new();
	struct task t = { .pid = 7, .tid = 7, .last_comm = last ? name(b, last) : 0 };
	profile_add_task(b, t);
	return b;
}

/* Files of one recording may differ in a thread's last name: the sum is the same in any order. */
static void last_names_are_joined_in_any_order(void)
{
	static const char *const names[] = { "worker", NULL, "main", "zoo" };
	enum { N = 4 };
	for (size_t first = 0; first < N; first++) {
		struct profile_builder *b = file_with_last_name(names[first]);
		for (size_t i = 1; i < N; i++)
			OK(!profile_builder_merge(b, file_with_last_name(names[(first + i) % N])));
		struct profile *p = profile_finish(b);
		OK(p->samples.n_tasks == 2);
		OK(!strcmp(strtab_get(p->strings, p->samples.tasks[1].last_comm), "zoo"));
		profile_free(p);
	}
}

/* Processes of several ranks may have one number in their containers. */
static void processes_have_names(void)
{
	static const struct {
		const char *name, *of_process;
		uint32_t pid, tid, run, rank;
		uint64_t end_ns;
	} tasks[] = { { "sh", "sh", 7, 7, 0, 1 },
		      { "app", "app", 7, 7, 0, 1 },
		      { "pool", "app", 7, 8, 0, 1 },
		      { "other", "other", 7, 7, 0, 2 },
		      { "io", "other", 7, 9, 0, 2 },
		      { "lone", "lone", 7, 10, 1, 2 },
		      /* threads that an exec ended, and a later one */
		      { "old", "old", 8, 8, 0, 1, 50 },
		      { "new", "new", 8, 8, 0, 1, 90 },
		      { "a", "old", 8, 9, 0, 1, 40 },
		      { "b", "old", 8, 10, 0, 1, 50 },
		      { "c", "new", 8, 11, 0, 1, 60 },
		      { "d", "new", 8, 12, 0, 1, 95 } };
	struct profile_builder *b = profile_builder_new();
	taskid ids[ARRAY_LEN(tasks)];
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
		ids[i] = profile_add_task(
			b, (struct task){ .pid = tasks[i].pid,
					  .tid = tasks[i].tid,
					  .run = tasks[i].run,
					  .rank = tasks[i].rank,
					  .end_ns = tasks[i].end_ns,
					  .comm = profile_add_string(b, tasks[i].name,
								     strlen(tasks[i].name)) });
	struct profile *p = profile_finish(b);
	strid *commands = samples_commands(&p->samples);
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
		OK(!strcmp(strtab_get(p->strings, commands[ids[i]]), tasks[i].of_process));
	free(commands);
	profile_free(p);
}

int main(void)
{
	processes_have_names();
	nothing_says_nothing();
	last_names_are_joined_in_any_order();
	samples_have_numbers();
	summed_samples_have_numbers();
	coming_samples_keep_their_order();
	counts_of_samples_saturate();
	events_are_not_without_end();
	latencies_are_joined();
	failures_and_markers_are_in_order();
	details_are_merged();
	sums_are_merged();
	marks_are_frames();
	frames_and_stacks_are_interned();
	pushed_stacks_are_their_own();
	many_pushed_stacks_are_looked_up();
	many_frames_keep_their_ids();
	tasks_are_one_while_they_have_one_name();
	events_of_one_name_and_kind_are_one();
	merging_adds_what_is_equal();
	sums_saturate();
	sums_of_threads_saturate();
	events_are_joined();
	canonical_leaves_out_unused_stacks();
	return DONE();
}

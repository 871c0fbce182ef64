/* Sampled stacks in a profile: what is equal has one id, also when profiles are merged. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
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
	OK(profile_add_stack(b, t, g) == under); /* and what is below each */
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
	samples_builder_init(&b);
	b.pushed_max = MANY;
	for (size_t i = 0; i < MANY + 5; i++)
		samples_push_stack(&b, 0, 7);
	OK(b.stacks.n == MANY && samples_push_stack(&b, 0, 7) == 1);
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

/* A profile whose ids differ with `turn`, and which holds the same. */
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

/* Of an arc the calls of each thread are known; those of some add up, and no further than they may.
 */
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
	OK(q->n_arcs == 1 && q->arcs[0].count == UINT64_MAX - 1);
	profile_free(q);
	q = profile_filter(p, &(struct profile_part){ .tasks = both });
	OK(q->n_arcs == 1 && q->arcs[0].count == UINT64_MAX);
	profile_free(q);
	profile_free(p);
}

/* What any of the files says of an event. */
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

int main(void)
{
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

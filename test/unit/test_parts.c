/* Parts of a profile: by thread, event, object and time; and how people name them. */
#include "tap.h"

#include <stdlib.h>

#include "analysis/audit.h"
#include "analysis/latencies.h"
#include "base/err.h"
#include "input/gcov.h"
#include "profile/filter.h"
#include "profile/span.h"
#include "profile/threads.h"

enum { SECOND = 1000000000 };

static strid name(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, strlen(s));
}

struct made {
	struct profile *p;
	taskid main, worker, other; /* worker: a second thread of the process */
	objid prog, lib;
	uint16_t clock, faults;
};

/* A sample a second, from 10 s on: main, worker, main, ...; the last two of the other process. */
static struct made make(void)
{
	struct profile_builder *b = profile_builder_new();
	struct made m;
	m.prog = profile_add_object(b, "/usr/bin/prog", "");
	m.lib = profile_add_object(b, "/lib/libx.so", "");
	m.main = profile_add_task(b, (struct task){ .pid = 7,
						    .tid = 7,
						    .comm = name(b, "prog"),
						    .cpu_ns = 4 * (uint64_t)SECOND,
						    .sampled_ns = 3 * (uint64_t)SECOND });
	m.worker = profile_add_task(b, (struct task){ .pid = 7, .tid = 8, .comm = name(b, "io") });
	m.other = profile_add_task(b, (struct task){ .pid = 9, .tid = 9, .comm = name(b, "sh") });
	m.clock =
		profile_add_event(b, (struct event){ .name = name(b, "clock"), .unit = EVENT_NS });
	m.faults = profile_add_event(
		b, (struct event){ .name = name(b, "faults"), .unit = EVENT_COUNT });
	frameid outer = profile_add_frame(b, (struct frame){ .addr = 16, .object = m.prog });
	frameid inner = profile_add_frame(b, (struct frame){ .addr = 32, .object = m.lib });
	stackid root = profile_add_stack(b, 0, outer), leaf = profile_add_stack(b, root, inner);
	for (uint64_t i = 0; i < 8; i++)
		profile_add_sample(b, (struct sample){ .stack = i % 4 ? leaf : root,
						       .task = i >= 6  ? m.other
							       : i % 2 ? m.worker
								       : m.main,
						       .event = i == 7 ? m.faults : m.clock,
						       .count = 1,
						       .weight = 100 + i,
						       .time_ns = (10 + i) * SECOND });
	profile_add_arc(b, (struct arc){ 16, 32, 5, m.prog, m.lib });
	profile_add_arc(b, (struct arc){ 17, 64, 9, m.prog, m.prog });
	profile_add_task_arc(b, (struct task_arc){ 16, 32, 3, m.prog, m.lib, m.worker });
	profile_add_marker(b, (struct marker){ 13 * (uint64_t)SECOND, name(b, "query") });
	profile_add_marker(b, (struct marker){ 11 * (uint64_t)SECOND, name(b, "load") });
	profile_add_marker(b, (struct marker){ 15 * (uint64_t)SECOND, name(b, "query") });
	profile_add_marker(b, (struct marker){ 15 * (uint64_t)SECOND, name(b, "query") });
	profile_add_marker(b, (struct marker){ 16 * (uint64_t)SECOND, name(b, "load all, 2") });
	profile_audit(b)->cpu_ns = 8 * (uint64_t)SECOND;
	profile_audit(b)->sampled_ns = 8 * (uint64_t)SECOND;
	profile_add_source(b, "x", (struct source){ .kind = "test" });
	m.p = profile_finish(b);
	return m;
}

static uint64_t weight(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].weight;
	return sum;
}

static uint64_t calls(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->n_arcs; i++)
		sum += arc_at(&p->arcs, i).count;
	return sum;
}

/* The parts add up to the whole, whatever it is divided by. */
static void adds_up(const struct profile *p)
{
	uint64_t samples[3] = { 0 }, arcs[3] = { 0 };
	for (size_t i = 0; i < p->samples.n_tasks; i++) {
		uint8_t tasks[8] = { 0 };
		tasks[i] = 1;
		struct profile *part = profile_filter(p, &(struct profile_part){ .tasks = tasks });
		samples[0] += weight(part);
		arcs[0] += calls(part);
		profile_free(part);
	}
	for (size_t i = 0; i < p->n_objects; i++) {
		uint8_t objects[8] = { 0 };
		objects[i] = 1;
		struct profile *part =
			profile_filter(p, &(struct profile_part){ .objects = objects });
		samples[1] += weight(part);
		arcs[1] += calls(part);
		profile_free(part);
	}
	for (size_t i = 0; i < p->samples.n_events; i++) {
		uint8_t events[8] = { 0 };
		events[i] = 1;
		struct profile *part =
			profile_filter(p, &(struct profile_part){ .events = events });
		OK(part->samples.n_events == 1);
		samples[2] += weight(part);
		profile_free(part);
	}
	OK(samples[0] == weight(p) && samples[1] == weight(p) && samples[2] == weight(p));
	OK(arcs[0] == calls(p) && arcs[1] == calls(p));
}

/* Counts that are more than a number holds stay at the largest. */
static void sums_saturate(void)
{
	struct profile_builder *b = profile_builder_new();
	const uint64_t half = UINT64_C(1) << 63;
	taskid one = profile_add_task(b, (struct task){ .pid = 1, .tid = 1 });
	taskid two = profile_add_task(b, (struct task){ .pid = 1, .tid = 2 });
	profile_add_arc(b, (struct arc){ 16, 32, UINT64_MAX, 0, 0 });
	profile_add_task_arc(b, (struct task_arc){ 16, 32, half, 0, 0, one });
	profile_add_task_arc(b, (struct task_arc){ 16, 32, half, 0, 0, two });
	profile_add_event(b, (struct event){ .name = name(b, "clock") });
	for (uint32_t i = 0; i < 2; i++)
		profile_add_sample(b, (struct sample){ .count = UINT32_MAX, .weight = half });
	profile_add_source(b, "x", (struct source){ .kind = "test" });
	struct profile *p = profile_finish(b), *c = profile_canonical(p, NULL, NULL);
	uint8_t tasks[3] = { 0 };
	tasks[one] = tasks[two] = 1;
	struct profile *part = profile_filter(p, &(struct profile_part){ .tasks = tasks });
	OK(part->n_arcs == 1 && arc_at(&part->arcs, 0).count == UINT64_MAX);
	tasks[two] = 0;
	profile_free(part);
	part = profile_filter(p, &(struct profile_part){ .tasks = tasks });
	OK(part->n_arcs == 1 && arc_at(&part->arcs, 0).count == half);
	OK(p->saturated && c->saturated && c->samples.n == 1);
	OK(c->samples.at[0].count == UINT32_MAX && c->samples.at[0].weight == UINT64_MAX);
	profile_free(part);
	profile_free(c);
	profile_free(p);
}

static void threads_have_their_own(void)
{
	struct made m = make();
	uint8_t tasks[8] = { 0 };
	tasks[m.worker] = 1;
	struct profile *part = profile_filter(m.p, &(struct profile_part){ .tasks = tasks });
	OK(part->samples.n == 3 && weight(part) == 101 + 103 + 105);
	OK(part->n_arcs == 1 && arc_at(&part->arcs, 0).count == 3);
	profile_free(part);
	memset(tasks, 0, sizeof(tasks));
	tasks[m.main] = 1;
	part = profile_filter(m.p, &(struct profile_part){ .tasks = tasks });
	OK(part->samples.n == 3 && !part->n_arcs);
	OK(part->samples.audit.cpu_ns == 4 * (uint64_t)SECOND);
	OK(part->samples.n_frames == m.p->samples.n_frames); /* ids stay */
	profile_free(part);
	adds_up(m.p);
	profile_free(m.p);
}

static void times_choose_samples(void)
{
	struct made m = make();
	struct profile_part half = { .from_ns = 12 * (uint64_t)SECOND,
				     .to_ns = 15 * (uint64_t)SECOND };
	struct profile *part = profile_filter(m.p, &half);
	OK(part->samples.n == 3 && weight(part) == 102 + 103 + 104);
	OK(!part->n_arcs); /* counted calls have no time */
	OK(!part->samples.audit.cpu_ns);
	profile_free(part);
	profile_free(m.p);
}

static bool good(struct kin_error *err)
{
	bool none = !err;
	kin_error_free(err);
	return none;
}

static bool parse_span(const char *text, struct time_range *ret)
{
	struct time_range whole = { 10 * (uint64_t)SECOND, 20 * (uint64_t)SECOND };
	struct made m = make();
	bool ok = good(span_parse(text, m.p, whole, ret));
	profile_free(m.p);
	return ok;
}

static void is_span(const char *text, uint64_t from, uint64_t to)
{
	struct time_range r;
	OK(parse_span(text, &r));
	OK(r.from_ns == from && r.to_ns == to);
}

static void no_span(const char *text)
{
	struct time_range r;
	OK(!parse_span(text, &r));
}

static void markers_are_times(void)
{
	const uint64_t s = SECOND;
	struct made m = make();
	OK(m.p->samples.n_markers == 4); /* by time, each once */
	OK_STR(strtab_get(m.p->strings, m.p->samples.markers[0].name), "load");
	OK(span_is_marked("load all, 2", m.p) && !span_is_marked("lo", m.p));
	OK(!span_is_marked("1,2", m.p));
	struct profile *half =
		profile_filter(m.p, &(struct profile_part){ .from_ns = 12 * s, .to_ns = 15 * s });
	OK(half->samples.n_markers == 1 && half->samples.markers[0].time_ns == 13 * s);
	profile_free(half);
	profile_free(m.p);
	is_span("load", 11 * s, 13 * s - 1);
	is_span("load,query", 11 * s, 13 * s - 1);
	is_span("load,query/2", 11 * s, 15 * s - 1);
	is_span("10%/1", 0, 11 * s);
	is_span("10%/10", 19 * s, UINT64_MAX);
	no_span("10%/0");
	no_span("10%/11");
	is_span("query,query", 13 * s, 15 * s - 1);
	is_span("query/2", 15 * s, 16 * s - 1);
	is_span("query/2,", 15 * s, UINT64_MAX);
	is_span(",load", 0, 11 * s - 1);
	is_span("12,query", 12 * s, 13 * s - 1);
	is_span("load,+4", 11 * s, 14 * s);
	is_span("load all, 2", 16 * s, UINT64_MAX);
	is_span("query,load all, 2", 13 * s, 16 * s - 1);
	no_span("query/3");
	no_span("query/0");
	no_span("query,load");
	no_span("loa");
	no_span("load, query");
	no_span("load,query,3");
}

static void people_write_spans(void)
{
	const uint64_t s = SECOND;
	is_span("10%-20%", 11 * s, 12 * s);
	is_span("10%", 0, 11 * s);
	is_span("10%/2", 11 * s, 12 * s);
	is_span("50%/2", 15 * s, UINT64_MAX);
	is_span("12,13", 12 * s, 13 * s);
	is_span("12.000000001,", 12 * s + 1, UINT64_MAX);
	is_span(",13", 0, 13 * s);
	is_span("+1,+2.5", 11 * s, 12 * s + s / 2);
	is_span("", 0, UINT64_MAX);
	no_span("x");
	no_span("1,2,3");
	no_span("20%-10%");
	no_span("60%/2");
	no_span("110%");
	no_span("1s,2");
	no_span("-1,2");
	no_span("0x10,");
	no_span("99999999999,");
}

static void threads_and_processes_have_labels(void)
{
	struct made m = make();
	struct threads t = threads_of(m.p);
	OK(t.n == 4);
	OK_STR(t.at[t.of_task[0]].label, "[unknown]");
	OK_STR(t.at[t.of_task[m.worker]].label, "io/8");
	threads_done(&t);
	t = processes_of(m.p);
	OK(t.n == 3);
	OK(t.of_task[m.main] == t.of_task[m.worker]);
	OK_STR(t.at[t.of_task[m.worker]].label, "prog/7"); /* of its first thread */
	OK_STR(t.at[t.of_task[m.other]].label, "sh/9");
	threads_done(&t);
	OK(task_is(m.p, m.worker, "io") && task_is(m.p, m.worker, "8"));
	OK(task_is(m.p, m.worker, "io/8") && !task_is(m.p, m.worker, "7"));
	profile_free(m.p);
}

/* ---- doubts ---- */

/* The doubts of those kinds, one per line; to be freed. */
static char *doubts_in(const struct profile *p, unsigned kinds)
{
	struct remarks r = { 0 };
	char *all = xprintf("%s", "");
	const char *text;
	audit_check(p, &r);
	for (size_t i = 0; (text = remarks_next(&r, kinds, &i));) {
		char *before = all;
		bool noted = remarks_have(&r, KIN_REMARK_NOTE, text);
		bool marked = noted && kinds & KIN_REMARK_DOUBT;
		all = xprintf("%s%s%s\n", before, marked ? "!" : "", text);
		free(before);
	}
	remarks_free(&r);
	return all;
}

/* A second blocked, of which `placeless` have no stack. */
static struct profile *of_waiting(uint64_t placeless)
{
	struct profile_builder *b = profile_builder_new();
	stackid stack = profile_add_stack(
		b, 0, profile_add_frame(b, (struct frame){ .name = name(b, "f") }));
	uint16_t blocked = profile_add_event(b, (struct event){ .name = name(b, "blocked"),
								.unit = EVENT_NS,
								.kind = EVENT_BLOCKED });
	profile_add_sample(b, (struct sample){ .event = blocked, .count = 1, .weight = placeless });
	profile_add_sample(b, (struct sample){ .event = blocked,
					       .stack = stack,
					       .count = 1,
					       .weight = SECOND - placeless });
	profile_add_source(b, "x.kin", (struct source){ 0 });
	return profile_finish(b);
}

static void reports_say_what_has_no_place(void)
{
	struct profile *p = of_waiting(SECOND / 20);
	char *notes = doubts_in(p, KIN_REMARK_NOTE);
	OK_STR(notes, "");
	free(notes);
	profile_free(p);
	p = of_waiting(SECOND / 4);
	notes = doubts_in(p, KIN_REMARK_NOTE);
	OK_STR(notes, "25.0 % of the time 'blocked', 0.250 of 1.000 s, has no place "
		      "and is in no function\n");
	free(notes);
	profile_free(p);
}

static void reports_say_what_went_wrong(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_fact(b, FACT_TROUBLE, "no signal is left for sampling");
	profile_add_source(b, "x.kin", (struct source){ 0 });
	struct audit *a = profile_audit(b);
	a->truncated = a->complete = 500;
	struct profile *p = profile_finish(b);
	char *notes = doubts_in(p, KIN_REMARK_NOTE);
	OK_STR(notes,
	       "x.kin: while it was recorded: no signal is left for sampling\n"
	       "50.0 % of the stacks could not be walked to their end: who called is missing "
	       "there\n");
	OK(!audit_used_little(p));
	free(notes);
	profile_free(p);
}

static size_t doubts_of(void (*spoil)(struct audit *a), bool unfinished)
{
	struct profile_builder *b = profile_builder_new();
	uint16_t clock =
		profile_add_event(b, (struct event){ .name = name(b, "clock"), .unit = EVENT_NS });
	for (int i = 0; i < 1000; i++)
		profile_add_sample(
			b, (struct sample){ .event = clock, .count = 1, .weight = 1000000 });
	profile_add_source(b, "x.kin", (struct source){ .unfinished = unfinished });
	struct audit *a = profile_audit(b);
	a->complete = 1000;
	a->cpu_ns = a->sampled_ns = SECOND;
	spoil(a);
	struct profile *p = profile_finish(b);
	struct remarks r = { 0 };
	audit_check(p, &r);
	size_t n = r.at.n;
	remarks_free(&r);
	profile_free(p);
	return n;
}

static size_t doubts(void (*spoil)(struct audit *a)) { return doubts_of(spoil, false); }

static void not_at_all(struct audit *a) { (void)a; }
static void lose_one(struct audit *a) { a->lost = 1; }
static void lose_calls(struct audit *a) { a->lost_arcs = 1; }
static void cut_few(struct audit *a) { a->truncated = 10; }
static void cut_many(struct audit *a) { a->truncated = 11; }
static void see_most(struct audit *a) { a->sampled_ns = (uint64_t)(0.951 * SECOND); }
static void see_less(struct audit *a) { a->sampled_ns = (uint64_t)(0.949 * SECOND); }
static void see_too_much(struct audit *a) { a->sampled_ns = (uint64_t)(1.051 * SECOND); }
static void know_nothing(struct audit *a) { a->cpu_ns = a->sampled_ns = 0; }

static void doubts_have_thresholds(void)
{
	OK(doubts(not_at_all) == 0);
	OK(doubts(lose_one) == 1);
	OK(doubts(lose_calls) == 1);
	OK(doubts(cut_few) == 0);
	OK(doubts(cut_many) == 1);
	OK(doubts(see_most) == 0);
	OK(doubts(see_less) == 1);
	OK(doubts(see_too_much) == 1);
	OK(doubts_of(see_too_much, true) == 0); /* the two figures were read at different moments */
	OK(doubts_of(lose_one, true) == 1);
	OK(doubts(know_nothing) == 0);
}

/* A profile with n samples of 1 ms each, of that event, and with that audit. */
static struct profile *of_samples(struct event e, const char *event, uint32_t n, struct audit a)
{
	struct profile_builder *b = profile_builder_new();
	e.name = name(b, event);
	uint16_t id = profile_add_event(b, e);
	if (n)
		profile_add_sample(
			b, (struct sample){ .event = id, .count = n, .weight = 1000000 * n });
	*profile_audit(b) = a;
	profile_add_source(b, "x.kin", (struct source){ 0 });
	return profile_finish(b);
}

/* All doubts, one per line; those that reports print begin with "!". */
static const char *said_of(struct profile *p)
{
	static char text[1000];
	char *all = doubts_in(p, KIN_REMARK_DOUBT);
	snprintf(text, sizeof(text), "%s", all);
	free(all);
	profile_free(p);
	return text;
}

static const struct event clock_event = { .unit = EVENT_NS };

/* Of each event alone; time on a CPU may have no stack. */
static void places_are_of_one_event(void)
{
	struct profile_builder *b = profile_builder_new();
	uint16_t clock = profile_add_event(b, (struct event){ name(b, "clock"), EVENT_NS });
	uint16_t blocked =
		profile_add_event(b, (struct event){ name(b, "blocked"), EVENT_NS, EVENT_BLOCKED });
	stackid f = profile_add_stack(b, 0,
				      profile_add_frame(b, (struct frame){ .name = name(b, "f") }));
	const struct sample samples[] = {
		{ .event = clock, .count = 1, .weight = 70 },
		{ .event = blocked, .count = 1, .weight = 1 },
		{ .event = blocked, .stack = f, .count = 1, .weight = 3 },
		{ .event = clock, .stack = f, .count = 1, .weight = 9 },
	};
	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		profile_add_sample(b, samples[i]);
	profile_add_source(b, "x.kin", (struct source){ 0 });
	OK_STR(said_of(profile_finish(b)),
	       "!25.0 % of the time 'blocked', 0.000 of 0.000 s, has no "
	       "place and is in no function\n");
}

/* Of each file, in its own words. */
static void troubles_are_said(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_fact(b, "host", "here");
	profile_add_fact(b, FACT_TROUBLE, "no signal is left");
	profile_add_fact(b, FACT_UNREAD, "no symbols of the kernel");
	profile_add_source(b, "a.kin", (struct source){ 0 });
	profile_add_fact(b, FACT_TROUBLE, "the disk was full");
	profile_add_source(b, "b.kin", (struct source){ 0 });
	OK_STR(said_of(profile_finish(b)), "!a.kin: while it was recorded: no signal is left\n"
					   "!a.kin: no symbols of the kernel\n"
					   "!b.kin: while it was recorded: the disk was full\n");
}

static bool knows_time(struct event e, const char *event, uint64_t cpu_ns, uint64_t sampled_ns)
{
	struct profile *p = of_samples(
		e, event, 1, (struct audit){ .cpu_ns = cpu_ns, .sampled_ns = sampled_ns });
	bool knows = audit_knows_time(p);
	profile_free(p);
	return knows;
}

/* Sampled time is compared with CPU time if both are known, and both cover all time on CPUs. */
static void time_is_known_of_all_of_it(void)
{
	OK(knows_time(clock_event, "clock", 1, 1));
	OK(!knows_time(clock_event, "clock", 0, 1) && !knows_time(clock_event, "clock", 1, 0));
	OK(!knows_time(clock_event, "clock:u", 1, 1));
	OK(!knows_time((struct event){ .unit = EVENT_COUNT }, "cycles", 1, 1));
	OK(!knows_time((struct event){ .unit = EVENT_NS, .kind = EVENT_BLOCKED }, "blocked", 1, 1));
	struct profile_builder *b = profile_builder_new();
	*profile_audit(b) = (struct audit){ .cpu_ns = 1, .sampled_ns = 1 };
	struct profile *p = profile_finish(b);
	OK(!audit_knows_time(p));
	profile_free(p);
}

static void losses_are_said_with_their_numbers(void)
{
	OK_STR(said_of(of_samples(clock_event, "clock", 1,
				  (struct audit){ .lost = 2,
						  .unresolved = 3,
						  .throttled = 4,
						  .lost_arcs = 5,
						  .lost_blocks = 6,
						  .lost_threads = 7,
						  .lost_modules = 8 })),
	       "!2 samples were lost\n"
	       "3 samples refer to entries that are not in the data\n"
	       "4 times the kernel held sampling back\n"
	       "!5 calls could not be counted\n"
	       "!6 executions of blocks could not be counted\n"
	       "7 threads have no counts of their own\n"
	       "8 objects that were mapped are not in the data\n");
	struct profile_builder *b = profile_builder_new();
	profile_note_saturated(b);
	OK_STR(said_of(profile_finish(b)), "a sum was too large, and stands for more\n");
}

static void stacks_are_said_in_parts(void)
{
	struct audit a = { .complete = 970, .guessed = 10, .truncated = 20 };
	OK_STR(said_of(of_samples(clock_event, "clock", 1, a)),
	       "!2.0 % of the stacks could not be walked to their end: who called is missing "
	       "there\n"); /* guesses of 1 % are none too many */
	a = (struct audit){ .complete = 700, .guessed = 300 };
	OK_STR(said_of(of_samples(clock_event, "clock", 1, a)),
	       "!30.0 % of the stacks have callers that are a guess\n");
	struct profile *p = of_samples(clock_event, "clock", 1, a);
	struct audit_stacks s = audit_stacks(p);
	OK(s.complete == 700 && s.guessed == 300 && s.cut == 0 && s.all == 1000);
	profile_free(p);
}

/* Of time that the kernel knows of there is to be a sample, but for a little. */
static void silence_is_said(void)
{
	struct audit a = { .cpu_ns = AUDIT_SILENT_NS };
	OK_STR(said_of(of_samples(clock_event, "clock", 0, a)),
	       "!there is no sample of 0.050 s of CPU time\n");
	OK_STR(said_of(of_samples(clock_event, "clock", 1, a)), "");
	OK_STR(said_of(of_samples((struct event){ .unit = EVENT_COUNT }, "cycles", 0, a)), "");
	a.cpu_ns--;
	OK_STR(said_of(of_samples(clock_event, "clock", 0, a)), "");
}

static bool used_little(struct audit a)
{
	struct profile *p = of_samples(clock_event, "clock", 0, a);
	bool little = audit_used_little(p);
	profile_free(p);
	return little;
}

static void little_is_used_if_nothing_tells_otherwise(void)
{
	OK(used_little((struct audit){ .cpu_ns = AUDIT_SILENT_NS - 1 }));
	OK(!used_little((struct audit){ .cpu_ns = AUDIT_SILENT_NS }));
	OK(!used_little((struct audit){ .lost = 1 }));
	OK(!used_little((struct audit){ .unresolved = 1 }));
	struct profile_builder *b = profile_builder_new();
	profile_add_fact(b, "host", "here");
	profile_add_fact(b, FACT_TROUBLE, "no signal is left");
	profile_add_source(b, "x.kin", (struct source){ 0 });
	struct profile *p = profile_finish(b);
	OK(!audit_used_little(p));
	profile_free(p);
}

/* Sampled time may be off by a twentieth; it may also be a period of each thread too much. */
static void time_is_compared_with_the_kernels(void)
{
	struct audit a = { .cpu_ns = SECOND, .sampled_ns = 900000000 };
	OK_STR(said_of(of_samples(clock_event, "clock", 10, a)),
	       "samples stand for 0.900 s of CPU time: 90.0 % of the 1.000 s of the kernel's "
	       "accounting\n");
	OK_STR(said_of(of_samples(clock_event, "clock", 9, a)), /* also if that is one period */
	       "samples stand for 0.900 s of CPU time: 90.0 % of the 1.000 s of the kernel's "
	       "accounting\n");
	a.sampled_ns = 790000000;
	OK_STR(said_of(of_samples(clock_event, "clock", 10, a)),
	       "!samples stand for 0.790 s of CPU time: 79.0 % of the 1.000 s of the kernel's "
	       "accounting\n");
	a.sampled_ns = 1020000000;
	OK_STR(said_of(of_samples(clock_event, "clock", 100, a)), "");
	a.sampled_ns = 1050000000;
	OK_STR(said_of(of_samples(clock_event, "clock", 100, a)), "");
	OK_STR(said_of(of_samples(clock_event, "clock:u", 10, a)), "");
	OK_STR(said_of(of_samples((struct event){ .unit = EVENT_COUNT }, "cycles", 10, a)), "");
}

/* A recording of kin with n samples of 1 ms by two threads: the second has none. */
static struct profile *of_two_threads(const char *event, uint32_t n, uint64_t second_ns, bool all)
{
	struct profile_builder *b = profile_builder_new();
	uint16_t id = profile_add_event(b, (struct event){ name(b, event), EVENT_NS });
	taskid first = profile_add_task(b, (struct task){ .pid = 1,
							  .tid = 1,
							  .cpu_ns = (uint64_t)n * 1000000,
							  .sampled_ns = (uint64_t)n * 1000000 });
	profile_add_task(b, (struct task){ .pid = 1, .tid = 2, .cpu_ns = second_ns });
	profile_add_sample(b, (struct sample){ .event = id,
					       .task = first,
					       .count = n,
					       .weight = (uint64_t)n * 1000000 });
	*profile_audit(b) = (struct audit){ .cpu_ns = (uint64_t)n * 1000000 + second_ns,
					    .sampled_ns = (uint64_t)n * 1000000 };
	profile_add_source(b, "x.kin", (struct source){ .kind = "kin" });
	profile_add_unsampled(b, all);
	return profile_finish(b);
}

/* Of the thread that used it, if there is enough of it and nothing was left out on purpose. */
static void time_without_samples_is_a_row(void)
{
	struct profile *p = of_two_threads("clock", 100, 50000000, false);
	OK(p->samples.n == 2);
	const struct sample *x = &p->samples.at[1];
	const struct frame *f = &p->samples.frames[p->samples.stacks[x->stack].frame];
	OK_STR(strtab_get(p->strings, f->name), NAME_NOT_SAMPLED);
	OK(x->weight == 50000000 && x->count == 0 && p->samples.tasks[x->task].tid == 2);
	OK(audit_samples(p) == 100);
	profile_free(p);
	p = of_two_threads("clock", 100, 5000000, false);
	OK(p->samples.n == 1);
	profile_free(p);
	p = of_two_threads("clock", 100, 5000000, true); /* to compare it with more */
	OK(p->samples.n == 2 && p->samples.at[1].weight == 5000000);
	OK(!audit_lacks_time(p));
	profile_free(p);
	p = of_two_threads("clock:u", 100, 50000000, false);
	OK(p->samples.n == 1);
	profile_free(p);
}

/* Of recordings of kin; and how far shares are off. */
static void few_samples_are_said(void)
{
	OK_STR(said_of(of_two_threads("clock", 30, 0, false)), "");
	OK_STR(said_of(of_two_threads("clock", 29, 0, false)),
	       "!few samples, 29: shares are \u00b1 18 points\n");
	OK(audit_points(0) == 0 && audit_points(100) > 9.7 && audit_points(100) < 9.9);
}

/* Samples of the event that CPU time is measured by. */
static void rates_are_of_cpu_time(void)
{
	struct profile_builder *b = profile_builder_new();
	uint16_t clock = profile_add_event(b, (struct event){ name(b, "clock"), EVENT_NS });
	uint16_t faults = profile_add_event(b, (struct event){ name(b, "faults"), EVENT_COUNT });
	profile_add_sample(b, (struct sample){ .event = clock, .count = 30, .weight = 5 });
	profile_add_sample(b, (struct sample){ .event = faults, .count = 7, .weight = 5 });
	profile_audit(b)->cpu_ns = 2 * (uint64_t)SECOND;
	struct profile *p = profile_finish(b);
	OK(audit_rate(p) == 15);
	profile_free(p);
	p = of_samples(clock_event, "clock", 9, (struct audit){ 0 });
	OK(audit_rate(p) == 0);
	profile_free(p);
}

static bool is_behind(bool unfinished, uint64_t sampled_ns)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_source(b, "a.kin", (struct source){ 0 });
	profile_add_source(b, "b.kin", (struct source){ .unfinished = unfinished });
	*profile_audit(b) = (struct audit){ .cpu_ns = 100, .sampled_ns = sampled_ns };
	struct profile *p = profile_finish(b);
	bool behind = audit_is_behind(p);
	profile_free(p);
	return behind;
}

static void counters_of_a_recording_may_be_behind(void)
{
	OK(is_behind(true, 101) && !is_behind(true, 100) && !is_behind(false, 101));
}

/* ---- distributions ---- */

/* The bucket of kin/format.h. */
static unsigned bucket_of(uint64_t ns)
{
	if (ns < 16)
		return (unsigned)ns;
	unsigned e = 63 - (unsigned)__builtin_clzll(ns);
	return 16 + 8 * (e - 4) + (unsigned)(ns >> (e - 3) & 7);
}

static void buckets_hold_what_they_say(void)
{
	size_t wrong = 0;
	for (uint64_t ns = 0; ns < 100000; ns++) {
		unsigned b = bucket_of(ns);
		wrong += ns < distribution_low(b) || ns >= distribution_high(b);
	}
	OK(wrong == 0);
	for (unsigned b = 1; b < LATENCY_BUCKETS; b++)
		wrong += distribution_low(b) != distribution_high(b - 1);
	OK(wrong == 0);
	OK(distribution_high(LATENCY_BUCKETS - 1) == UINT64_C(1) << 40);
}

/* Of 1, 2, ... 1000 us: quantiles are right within an eighth. */
static void quantiles_are_near(void)
{
	uint64_t bucket[LATENCY_BUCKETS] = { 0 };
	struct latency l = { .count = 1000, .min_ns = 1000, .max_ns = 1000000, .bucket = bucket };
	struct distribution d = { 0 };
	size_t wrong = 0;
	for (uint64_t i = 1; i <= 1000; i++) {
		bucket[bucket_of(i * 1000)]++;
		l.sum_ns += i * 1000;
	}
	distribution_add(&d, &l);
	for (int q = 1; q <= 1000; q++) {
		double got = distribution_quantile(&d, q / 1000.0);
		wrong += got < q * 1000 * 0.88 || got > q * 1000 * 1.13;
	}
	OK(wrong == 0);
	OK(distribution_quantile(&d, 0) >= 1000 && distribution_quantile(&d, 1) <= 1000000);
	distribution_add(&d, &l);
	OK(d.count == 2000 && d.sum == 2 * l.sum_ns && d.min == 1000 && d.max == 1000000);
	OK(distribution_quantile(&(struct distribution){ 0 }, 0.5) == 0);
	/* The first bucket that has a width: 16 and 17. */
	OK(distribution_quantile(
		   &(struct distribution){ .bucket[16] = 1, .count = 1, .min = 16, .max = 17 },
		   0.5) == 17);
}

/* For half of the calls, measuring cost more than the call itself. */
static void short_calls_are_doubtful(void)
{
	struct distribution d = { .bucket[10] = 4, .count = 4, .sum = 40, .min = 10, .max = 10 };
	d.probes = 40;
	OK(distribution_quantile(&d, 0.5) == 10 && !distribution_is_doubtful(&d));
	d.probes = 41;
	OK(distribution_is_doubtful(&d));
	d.probes = 0;
	OK(!distribution_is_doubtful(&d));
}

/* ---- executions of lines, from coverage ---- */

static uint64_t counted(const struct line_counts *l, const char *path, uint32_t line)
{
	uint64_t count = 0;
	return line_counts_find(l, line_counts_file(l, path), line, &count) ? count : NONE;
}

static void paths_are_compared_by_what_they_mean(void)
{
	static const char *const same[] = { "/w/src/a.c", "/w/build/../src/a.c", "/w/./src//a.c",
					    "/../w/src/a.c" };
	struct line_counts *l = line_counts_new();
	line_counts_add(l, "/w/build", "../src/a.c", 7, 5);
	line_counts_add(l, "/x", "lib/b.c", 1, 2);
	line_counts_add(l, "", "lib/c.c", 1, 3);
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		OK(counted(l, same[i], 7) == 5);
	OK(counted(l, "/w/src/a.c", 8) == NONE && counted(l, "/src/a.c", 7) == NONE);
	OK(counted(l, "/moved/lib/b.c", 1) == 2 && counted(l, "/moved/blib/b.c", 1) == NONE);
	OK(counted(l, "lib/c.c", 1) == 3 && counted(l, "c.c", 1) == NONE);
	line_counts_free(l);
}

static struct kin_error *parse(const char *text, struct line_counts *l)
{
	return gcov_parse("x", (const uint8_t *)text, strlen(text), l);
}

static void gcov_is_read(void)
{
	static const char text[] =
		"{\"gcc_version\": \"12\", \"files\": [{\"lines\": ["
		"{\"branches\": [{\"count\": 9}], \"count\": 3, \"line_number\": 10}, "
		"{\"count\": 4, \"line_number\": 10, \"function_name\": \"f\"}, "
		"{\"line_number\": 12, \"count\": 0}], \"file\": \"s\\u00e4.c\"}], "
		"\"current_working_directory\": \"/w\"}";
	struct line_counts *l = line_counts_new();
	OK(!parse(text, l));
	OK(counted(l, "/w/s\xc3\xa4.c", 10) == 7); /* instances add up */
	OK(counted(l, "/w/s\xc3\xa4.c", 12) == 0);
	OK(counted(l, "/w/s\xc3\xa4.c", 11) == NONE);
	for (size_t n = 0; n < sizeof(text) - 2; n++) {
		char *cut = xprintf("%.*s", (int)n, text);
		struct kin_error *err = parse(cut, l);
		if (!err)
			OK(!"cut off, and no error");
		kin_error_free(err);
		free(cut);
	}
	struct kin_error *err = parse("{\"a\": 1}", l);
	OK_STR(err ? kin_error_message(err) : "", "x: not what gcov --json-format writes");
	kin_error_free(err);
	line_counts_free(l);
}

int main(void)
{
	threads_have_their_own();
	sums_saturate();
	times_choose_samples();
	people_write_spans();
	markers_are_times();
	threads_and_processes_have_labels();
	doubts_have_thresholds();
	reports_say_what_has_no_place();
	reports_say_what_went_wrong();
	places_are_of_one_event();
	troubles_are_said();
	time_is_known_of_all_of_it();
	losses_are_said_with_their_numbers();
	stacks_are_said_in_parts();
	silence_is_said();
	little_is_used_if_nothing_tells_otherwise();
	time_is_compared_with_the_kernels();
	time_without_samples_is_a_row();
	few_samples_are_said();
	rates_are_of_cpu_time();
	counters_of_a_recording_may_be_behind();
	buckets_hold_what_they_say();
	quantiles_are_near();
	short_calls_are_doubtful();
	paths_are_compared_by_what_they_mean();
	gcov_is_read();
	return DONE();
}

/* Rows of hists: their samples, names and order, for profiles made by hand and for code of this
 * program. */
#include "tap.h"

#include <stdlib.h>

#include "analysis/callchain.h"
#include "analysis/hist_key.h"
#include "base/err.h"
#include "lib/program_bias.h"
#include "lib/random_graph.h"
#include "profile/detail.h"

static strid string(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, (uint32_t)strlen(s));
}

static stackid stack_of(struct profile_builder *b, stackid caller, struct frame f)
{
	return profile_add_stack(b, caller, profile_add_frame(b, f));
}

static struct profile *finish(struct profile_builder *b)
{
	profile_add_source(b, "test", (struct source){ .kind = "test" });
	return profile_finish(b);
}

static struct program *program_of(const struct profile *p)
{
	return program_new(p, NULL, &(struct program_opts){ .style = DEMANGLE_AUTO });
}

static const uint16_t first_event = 0;

/* ---- which samples count: sample i weighs 2^i, so that sums are sets ---- */

enum { A_F, B_F, A_G, JIT, KERNEL, NOWHERE, N_SAMPLES };
#define ONLY(i) (1u << (i))

static const struct {
	const char *object, *name;
	enum object_kind kind;
	uint16_t flags;
	uint32_t socket; /* + 1 */
} leaves[N_SAMPLES] = {
	[A_F] = { "/a/lib.so", "ns::f(int)", OBJECT_ELF, 0, 1 },
	[B_F] = { "/b/lib.so", "f(char)", OBJECT_ELF, 0, 2 },
	[A_G] = { "/a/lib.so", "g", OBJECT_ELF, 0, 1 },
	[JIT] = { "/tmp/perf-7.map", "jitted", OBJECT_JIT, 0, 0 },
	[KERNEL] = { "[kernel]", "do_it", OBJECT_KERNEL, FRAME_KERNEL, 2 },
};

/* All but the last, which has no stack, are called by main of /a/lib.so. */
static struct profile *profile_of_leaves(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		struct sample s = { .count = 1, .weight = ONLY(i), .time_ns = 100 + i, .cpu = 3 };
		struct detail d = { .weight = i % 2 ? 1000 * i : 0 };
		if (leaves[i].object) {
			objid o = profile_add_object_of(b, leaves[i].object, "", leaves[i].kind,
							false);
			objid a = profile_add_object_of(b, "/a/lib.so", "", OBJECT_ELF, false);
			s.stack = stack_of(
				b, 0, (struct frame){ .object = a, .name = string(b, "main") });
			s.stack = stack_of(b, s.stack,
					   (struct frame){ .object = o,
							   .name = string(b, leaves[i].name),
							   .flags = leaves[i].flags });
		}
		if (leaves[i].socket) {
			d.has = DETAIL_SOCKET;
			d.socket = leaves[i].socket - 1;
		}
		profile_add_detailed_sample(b, s, profile_add_detail(b, &d));
	}
	return finish(b);
}

struct found {
	uint64_t total, unfiltered;
};

static struct found found_by(struct hists_opts o, const char *times)
{
	static const enum hist_key sym = HIST_SYM;
	struct profile *p = profile_of_leaves();
	struct program *g = program_of(p);
	struct sample_filter *some;
	struct hist_filter f = o.filter ? *o.filter : (struct hist_filter){ 0 };
	OK(!sample_filter_new(p, &(struct sample_filter_texts){ .times = times }, &some));
	f.samples = some;
	o.filter = o.filter || times ? &f : NULL;
	o.keys = &sym;
	o.n_keys = 1;
	o.events = &first_event;
	o.n_events = 1;
	struct hists *h = hists_new(p, g, &o);
	struct found x = { h->total->weight, h->unfiltered->weight };
	uint64_t self = 0;
	for (size_t i = 0; i < h->n; i++)
		self += h->self[i].weight;
	OK(self == x.total);
	hists_free(h);
	sample_filter_free(some);
	program_free(g);
	profile_free(p);
	return x;
}

static uint64_t passing(struct hist_filter f)
{
	struct found x = found_by((struct hists_opts){ .filter = &f }, NULL);
	OK(x.unfiltered == ONLY(N_SAMPLES) - 1); /* the whole includes filtered samples */
	return x.total;
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void objects_are_meant_by_path_or_name(void)
{
	OK(passing((struct hist_filter){ .dsos = NAMES("lib.so") }) ==
	   (ONLY(A_F) | ONLY(B_F) | ONLY(A_G)));
	OK(passing((struct hist_filter){ .dsos = NAMES("/b/lib.so") }) == ONLY(B_F));
	OK(passing((struct hist_filter){ .dsos = NAMES("/b/lib.so", "/a/lib.so") }) ==
	   (ONLY(A_F) | ONLY(B_F) | ONLY(A_G)));
	OK(passing((struct hist_filter){ .dsos = NAMES("b/lib.so", "ib.so", "lib") }) == 0);
	/* JIT code is selected by its file, or by the name that its rows show. */
	OK(passing((struct hist_filter){ .dsos = NAMES("perf-7.map") }) == ONLY(JIT));
	OK(passing((struct hist_filter){ .dsos = NAMES("/tmp/perf-7.map") }) == ONLY(JIT));
	OK(passing((struct hist_filter){ .dsos = NAMES("[JIT] tid 7") }) == ONLY(JIT));
	OK(passing((struct hist_filter){ .dsos = NAMES("[unknown]") }) == ONLY(NOWHERE));
}

static void functions_are_meant_by_name(void)
{
	static const struct hists_rules whole = { .whole_names = true };
	struct hist_filter f = { .symbols = NAMES("f") };
	OK(passing(f) == (ONLY(A_F) | ONLY(B_F)));
	OK(passing((struct hist_filter){ .symbols = NAMES("f(int)", "g") }) ==
	   (ONLY(A_F) | ONLY(A_G)));
	OK(passing((struct hist_filter){ .symbols = NAMES("main") }) == 0); /* leaves alone */
	OK(passing((struct hist_filter){ .symbols = NAMES("f"), .dsos = NAMES("/b/lib.so") }) ==
	   ONLY(B_F));
	OK(found_by((struct hists_opts){ .filter = &f, .rules = &whole }, NULL).total == ONLY(B_F));
	f.symbols = NAMES("ns::f");
	OK(found_by((struct hists_opts){ .filter = &f, .rules = &whole }, NULL).total == ONLY(A_F));
	f.symbols = NAMES("ns::f(", "ns");
	OK(found_by((struct hists_opts){ .filter = &f, .rules = &whole }, NULL).total == 0);
}

static void sides_and_sockets_are_filtered(void)
{
	OK(passing((struct hist_filter){ .no_user = true }) == ONLY(KERNEL));
	OK(passing((struct hist_filter){ .no_kernel = true }) ==
	   (ONLY(N_SAMPLES) - 1) - ONLY(KERNEL));
	OK(passing((struct hist_filter){ .by_socket = true }) == (ONLY(A_F) | ONLY(A_G)));
	OK(passing((struct hist_filter){ .by_socket = true, .socket = 1 }) ==
	   (ONLY(B_F) | ONLY(KERNEL)));
	OK(passing((struct hist_filter){ .by_socket = true, .socket = 2 }) == 0);
}

/* Times select a part of the recording, which is then the whole. */
static void times_are_filtered(void)
{
	struct hist_filter f = { .dsos = NAMES("/a/lib.so") };
	struct found x = found_by((struct hists_opts){ .filter = &f }, "0.000000101,0.000000103");
	OK(x.unfiltered == (ONLY(B_F) | ONLY(A_G) | ONLY(JIT)) && x.total == ONLY(A_G));
}

static void samples_without_a_parent_are_left_out(void)
{
	regex_t main_or_g, g;
	OK(!regcomp(&main_or_g, "^(main|g)$", REG_EXTENDED) && !regcomp(&g, "^g$", REG_EXTENDED));
	struct hists_opts o = { .parent = &main_or_g, .exclude_other = true };
	OK(found_by(o, NULL).total == (ONLY(N_SAMPLES) - 1) - ONLY(NOWHERE));
	o.parent = &g;
	OK(found_by(o, NULL).total == ONLY(A_G));
	o.exclude_other = false;
	OK(found_by(o, NULL).total == ONLY(N_SAMPLES) - 1);
	regfree(&main_or_g);
	regfree(&g);
}

/* By the cost of the access; without one a sample counts. */
static void samples_weigh_what_accesses_cost(void)
{
	OK(found_by((struct hists_opts){ .by_weight = true }, NULL).total ==
	   (1 + 3 + 5) * 1000 + N_SAMPLES / 2);
}

/* Latency is weight by how many threads ran at that time. */
static void latency_is_shared(void)
{
	static const enum hist_key sym = HIST_SYM;
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	stackid at = stack_of(b, 0, (struct frame){ .name = string(b, "f") });
	for (uint16_t i = 0; i < 3; i++)
		profile_add_sample(b, (struct sample){ .stack = at,
						       .parallelism = (uint16_t)(2 * i),
						       .count = 1,
						       .weight = 100 });
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	struct hists *h = hists_new(
		p, g,
		&(struct hists_opts){
			.keys = &sym, .n_keys = 1, .events = &first_event, .n_events = 1 });
	OK(h->self->latency == 100 + 50 + 25); /* of 0 threads: not known */
	OK(h->total->latency == h->self->latency && h->children->latency == h->self->latency);
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* ---- keys that separate samples ---- */

enum { RUNS = 300 };

/* Samples in a row differ in one of these alone, mostly. */
struct varied {
	uint32_t task, cpu, parallelism, socket, second, function;
};

static struct profile *profile_of_varied(struct varied *all)
{
	struct profile_builder *b = profile_builder_new();
	struct varied v = { 0 };
	uint64_t seed = 9;
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (size_t i = 0; i < RUNS; i++) {
		uint32_t *const parts[] = { &v.task,   &v.cpu,    &v.parallelism,
					    &v.socket, &v.second, &v.function };
		*parts[random_below(&seed, ARRAY_LEN(parts))] = random_below(&seed, 3);
		char name[] = { 'f', (char)('0' + v.function), '\0' };
		struct detail d = { .has = DETAIL_SOCKET, .socket = v.socket };
		struct sample s = { .cpu = (uint16_t)v.cpu,
				    .parallelism = (uint16_t)v.parallelism,
				    .count = 1,
				    .weight = 1 + i,
				    .time_ns = v.second * UINT64_C(1000000000) };
		s.task = profile_add_task(b, (struct task){ .pid = 5, .tid = 5 + v.task });
		s.stack = stack_of(b, 0, (struct frame){ .name = string(b, name) });
		profile_add_detailed_sample(b, s, profile_add_detail(b, &d));
		all[i] = v;
	}
	return finish(b);
}

static uint32_t part_of(const struct varied *v, enum hist_key key)
{
	switch ((int)key) {
	case HIST_TID:
		return v->task;
	case HIST_CPU:
		return v->cpu;
	case HIST_PARALLELISM:
		return v->parallelism;
	case HIST_SOCKET:
		return v->socket;
	case HIST_TIME:
		return v->second;
	case HIST_PARENT:
		return v->function;
	}
	return 0;
}

/* Rows by one key: as many as there are values, with the weights of these. */
static bool is_told_apart(const struct profile *p, struct program *g, const struct varied *all,
			  enum hist_key key, const regex_t *any)
{
	uint64_t truth[3] = { 0 };
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &key,
							  .n_keys = 1,
							  .events = &first_event,
							  .n_events = 1,
							  .parent = any,
							  .time_quantum = 1000000000 });
	bool right = h->n == 3;
	for (size_t i = 0; i < RUNS; i++)
		truth[part_of(&all[i], key)] += 1 + i;
	for (size_t i = 0; i < h->n && right; i++) {
		bool any_is = false;
		for (size_t k = 0; k < 3; k++)
			any_is |= h->self[i].weight == truth[k];
		right = any_is;
	}
	right = right && h->total->weight == truth[0] + truth[1] + truth[2];
	hists_free(h);
	return right && truth[0] != truth[1] && truth[1] != truth[2];
}

static void samples_are_told_apart_by_each_key(void)
{
	static const enum hist_key keys[] = { HIST_TID,    HIST_CPU,  HIST_PARALLELISM,
					      HIST_SOCKET, HIST_TIME, HIST_PARENT };
	static struct varied all[RUNS];
	regex_t any;
	OK(!regcomp(&any, ".", REG_EXTENDED));
	struct profile *p = profile_of_varied(all);
	struct program *g = program_of(p);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		tap_ok(is_told_apart(p, g, all, keys[i], &any), __FILE__, __LINE__,
		       hist_keys[keys[i]].name);
	program_free(g);
	profile_free(p);
	regfree(&any);
}

/* ---- the order of rows ---- */

enum { EVENTS = 3, FUNCTIONS = 40 };

/* Few figures for many rows: most are equal to others. */
static struct profile *profile_of_events(uint64_t *seed)
{
	struct profile_builder *b = profile_builder_new();
	static const char *const events[EVENTS] = { "a", "b", "c" };
	for (size_t i = 0; i < EVENTS; i++)
		profile_add_event(b, (struct event){ .name = string(b, events[i]) });
	for (uint32_t i = 0; i < FUNCTIONS * EVENTS; i++) {
		char name[12];
		snprintf(name, sizeof(name), "f%u", i % FUNCTIONS);
		struct sample s = { .event = (uint16_t)(i / FUNCTIONS),
				    .count = 1 + random_below(seed, 2),
				    .parallelism = (uint16_t)(1 + random_below(seed, 2)),
				    .flags = random_below(seed, 2) ? FRAME_KERNEL : 0,
				    .weight = 1 + random_below(seed, 2) };
		s.stack = stack_of(b, 0, (struct frame){ .name = string(b, "main") });
		s.stack = stack_of(b, s.stack, (struct frame){ .name = string(b, name) });
		profile_add_sample(b, s);
	}
	return finish(b);
}

static double figure(const struct hists *h, size_t at, struct hist_term t)
{
	switch (t.kind) {
	case TERM_CHILDREN:
		return (double)h->children[at].weight;
	case TERM_SELF:
	case TERM_WEIGHT:
		return (double)h->self[at].weight;
	case TERM_LATENCY_CHILDREN:
		return h->children[at].latency;
	case TERM_LATENCY:
		return h->self[at].latency;
	case TERM_COUNT:
		return (double)h->self[at].count;
	case TERM_LEVEL:
		return (double)h->levels[at][t.level];
	case TERM_KEY:
		break;
	}
	return 0;
}

/* Largest first, by one event after the other; Children by the first alone; then by place. */
static bool precedes(const struct hists *h, uint32_t l, uint32_t r, struct hist_term t)
{
	size_t n = t.kind == TERM_CHILDREN ? 1 : EVENTS;
	for (size_t e = 0; e < n; e++) {
		double left = figure(h, l * EVENTS + e, t), right = figure(h, r * EVENTS + e, t);
		if (left != right)
			return left > right;
	}
	return h->rows[l].place < h->rows[r].place;
}

static void rows_go_by_one_event_after_the_other(void)
{
	static const enum hist_key sym = HIST_SYM;
	static const uint16_t events[EVENTS] = { 2, 0, 1 };
	static const struct hist_term terms[] = {
		{ .kind = TERM_CHILDREN },
		{ .kind = TERM_SELF },
		{ .kind = TERM_LATENCY_CHILDREN },
		{ .kind = TERM_LATENCY },
		{ .kind = TERM_COUNT },
		{ .kind = TERM_WEIGHT },
		{ .kind = TERM_LEVEL, .level = LEVEL_KERNEL },
		{ .kind = TERM_LEVEL, .level = LEVEL_USER },
	};
	uint64_t seed = 3;
	struct profile *p = profile_of_events(&seed);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &sym,
							  .n_keys = 1,
							  .events = events,
							  .n_events = EVENTS,
							  .levels = true });
	OK(h->n == FUNCTIONS + 1); /* and main */
	for (size_t e = 0; e < EVENTS; e++) {
		uint64_t self = 0, count = 0;
		for (size_t i = 0; i < h->n; i++) {
			self += h->self[i * EVENTS + e].weight;
			count += h->self[i * EVENTS + e].count;
		}
		OK(h->total[e].weight == self && h->total[e].count == count);
		OK(h->unfiltered[e].weight == self && h->unfiltered[e].count == count);
	}
	for (size_t t = 0; t < ARRAY_LEN(terms); t++) {
		uint32_t *rows;
		size_t wrong = 0;
		hists_sort(h, &terms[t], 1, &rows);
		for (size_t i = 1; i < h->n; i++)
			wrong += !precedes(h, rows[i - 1], rows[i], terms[t]);
		OK(!wrong);
		free(rows);
	}
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* Sorted by one key after the other, and by number where all keys are equal. */
static bool is_by(const struct hists *h, const enum hist_key *keys, size_t n)
{
	struct hist_term *terms = xalloc(n * sizeof(*terms));
	uint32_t *rows;
	bool right = true;
	for (size_t k = 0; k < n; k++)
		terms[k] = (struct hist_term){ .kind = TERM_KEY, .key = keys[k] };
	hists_sort(h, terms, n, &rows);
	for (size_t i = 1; i < h->n; i++) {
		int order = 0;
		for (size_t k = 0; k < n && !order; k++)
			order = strcmp(hists_text(h, rows[i - 1], keys[k]),
				       hists_text(h, rows[i], keys[k]));
		right &= order < 0 || (!order && rows[i - 1] < rows[i]);
	}
	free(rows);
	free(terms);
	return right;
}

/* The values have one digit each, so that their texts are in the order of the numbers. */
static void rows_go_by_one_key_after_the_other(void)
{
	static const enum hist_key keys[] = { HIST_TID,    HIST_CPU,  HIST_PARALLELISM,
					      HIST_SOCKET, HIST_TIME, HIST_SYM };
	static const struct hists_rules rules = { .ties_as_data = true };
	static struct varied all[RUNS];
	struct profile *p = profile_of_varied(all);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .rules = &rules,
							  .keys = keys,
							  .n_keys = ARRAY_LEN(keys),
							  .events = &first_event,
							  .n_events = 1,
							  .time_quantum = 1000000000 });
	size_t wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			wrong += !is_by(h, (const enum hist_key[]){ keys[i], keys[k] }, 2);
	OK(!wrong && h->n > RUNS / 2);
	OK(is_by(h, keys, ARRAY_LEN(keys)));
	hists_free(h);
	program_free(g);
	profile_free(p);
}

enum { THREADS = 3, CHAINS = 5, LONGEST = 7 };

/* Chains without common functions, some in several threads: the functions of a chain have equal
 * Children. */
static struct profile *profile_of_chains(uint64_t *seed)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < THREADS * CHAINS; i++) {
		stackid at = 0;
		for (uint32_t n = 1 + random_below(seed, LONGEST); n--;) {
			char name[12];
			snprintf(name, sizeof(name), "f%u", random_below(seed, 100));
			at = stack_of(b, at, (struct frame){ .name = string(b, name) });
		}
		struct sample s = { .stack = at, .count = 1, .weight = 1 + random_below(seed, 2) };
		s.task = profile_add_task(b, (struct task){ .pid = 1, .tid = 1 + i % THREADS });
		profile_add_sample(b, s);
	}
	return finish(b);
}

/* Where nothing else decides: by name. */
static bool callers_are_above(const struct hists *h)
{
	static const struct hist_term terms[] = { { .kind = TERM_CHILDREN },
						  { .kind = TERM_KEY, .key = HIST_SYM } };
	bool callee = h->opts->order == CHAIN_CALLEE, right = true;
	uint32_t *rows;
	hists_sort(h, terms, ARRAY_LEN(terms), &rows);
	for (size_t i = 0; i < h->n; i++)
		for (size_t k = i + 1; k < h->n; k++) {
			uint32_t l = rows[i], r = rows[k];
			uint64_t left = h->children[l].weight, right_one = h->children[r].weight;
			uint32_t above = callee ? h->rows[l].depth : h->rows[r].depth,
				 below = callee ? h->rows[r].depth : h->rows[l].depth;
			right &= left >= right_one;
			if (left != right_one ||
			    hists_value(h, l, HIST_TID) != hists_value(h, r, HIST_TID))
				continue;
			right &= above <= below;
			right &= above != below ||
				 strcmp(hists_text(h, l, HIST_SYM), hists_text(h, r, HIST_SYM)) < 0;
		}
	free(rows);
	return right;
}

static void callers_come_above_callees(void)
{
	static const enum hist_key keys[] = { HIST_TID, HIST_SYM };
	uint64_t seed = 4;
	size_t wrong = 0;
	for (int round = 0; round < 60; round++) {
		struct profile *p = profile_of_chains(&seed);
		struct program *g = program_of(p);
		struct hists_opts o = { .keys = keys,
					.n_keys = ARRAY_LEN(keys),
					.events = &first_event,
					.n_events = 1,
					.chains = true,
					.order = round % 2 ? CHAIN_CALLER : CHAIN_CALLEE };
		struct hists *h = hists_new(p, g, &o);
		wrong += !callers_are_above(h);
		hists_free(h);
		program_free(g);
		profile_free(p);
	}
	OK(!wrong);
}

/* "f12 g7 ": the rows by these terms, each with its own time. */
static const char *ordered(const struct profile *p, struct program *g, enum hist_key key,
			   const struct hist_term *terms, size_t n)
{
	static char text[200];
	uint32_t *rows;
	struct hists *h =
		hists_new(p, g,
			  &(struct hists_opts){ .keys = (const enum hist_key[]){ key, HIST_SYM },
						.n_keys = 1 + (key != HIST_SYM),
						.events = &first_event,
						.n_events = 1 });
	hists_sort(h, terms, n, &rows);
	text[0] = '\0';
	for (size_t i = 0; i < h->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u ",
			 hists_text(h, rows[i], key), (unsigned)h->self[rows[i]].weight);
	free(rows);
	hists_free(h);
	return text;
}

/* Functions of one name in several libraries are equal, unless they are sorted apart. */
static void functions_of_one_name_are_equal(void)
{
	static const char *const libraries[] = { "/a.so", "/b.so", "/c.so", "/d.so" };
	static const uint64_t weights[] = { 2, 1, 4, 3 };
	const struct hist_term equal[] = { { .kind = TERM_KEY, .key = HIST_SYM },
					   { .kind = TERM_SELF } };
	const struct hist_term apart[] = { { .kind = TERM_KEY, .key = HIST_SYM, .apart = true },
					   { .kind = TERM_SELF } };
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
		objid o = profile_add_object_of(b, libraries[i], "", OBJECT_ELF, false);
		const char *name = i == 3 ? "a" : "f";
		struct frame f = { .object = o, .addr = 16, .name = string(b, name) };
		struct sample s = { .stack = stack_of(b, 0, f), .count = 1, .weight = weights[i] };
		profile_add_sample(b, s);
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	OK_STR(ordered(p, g, HIST_SYM, equal, ARRAY_LEN(equal)), "a3 f4 f2 f1 ");
	OK_STR(ordered(p, g, HIST_SYM, apart, ARRAY_LEN(apart)), "a3 f2 f1 f4 ");
	program_free(g);
	profile_free(p);
}

/* Also where nothing is known of the code. */
static void commands_go_by_name(void)
{
	static const char *const comms[] = { "z", "b", "a", "m" };
	const struct hist_term by_comm[] = { { .kind = TERM_KEY, .key = HIST_COMM } };
	const struct hist_term by_sym[] = { { .kind = TERM_KEY, .key = HIST_SYM },
					    { .kind = TERM_KEY, .key = HIST_COMM } };
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < ARRAY_LEN(comms); i++) {
		struct sample s = { .count = 1, .weight = i };
		s.task = profile_add_task(
			b, (struct task){ .pid = i, .tid = i, .comm = string(b, comms[i]) });
		if (i % 2)
			s.stack = stack_of(b, 0, (struct frame){ .name = string(b, "f") });
		profile_add_sample(b, s);
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	OK_STR(ordered(p, g, HIST_COMM, by_comm, 1), "a2 b1 m3 z0 ");
	OK_STR(ordered(p, g, HIST_COMM, by_sym, 2), "b1 m3 a2 z0 "); /* the unknown come last */
	program_free(g);
	profile_free(p);
}

/* a is called by z in one thread, b is alone in another one: it has no part in their order. */
static void threads_do_not_move_each_other(void)
{
	static const enum hist_key keys[] = { HIST_TID, HIST_SYM };
	static const struct hist_term terms[] = { { .kind = TERM_CHILDREN },
						  { .kind = TERM_KEY, .key = HIST_SYM } };
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	stackid z = stack_of(b, 0, (struct frame){ .name = string(b, "z") });
	stackid leaves_at[] = { stack_of(b, z, (struct frame){ .name = string(b, "a") }),
				stack_of(b, 0, (struct frame){ .name = string(b, "b") }) };
	for (uint32_t i = 0; i < 2; i++) {
		struct sample s = { .stack = leaves_at[i], .count = 1, .weight = 5 };
		s.task = profile_add_task(b, (struct task){ .pid = 1, .tid = 1 + i });
		profile_add_sample(b, s);
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	struct hists_opts o = { .keys = keys,
				.n_keys = ARRAY_LEN(keys),
				.events = &first_event,
				.n_events = 1,
				.chains = true,
				.order = CHAIN_CALLEE };
	struct hists *h = hists_new(p, g, &o);
	char text[20] = "";
	uint32_t *rows;
	hists_sort(h, terms, ARRAY_LEN(terms), &rows);
	for (size_t i = 0; i < h->n && i < 5; i++)
		strcat(text, hists_text(h, rows[i], HIST_SYM));
	OK_STR(text, "zab");
	free(rows);
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* Branches by where they come from: first the user's, by name, and the kernel's behind them. */
static void what_is_the_kernels_comes_last(void)
{
	static const enum hist_key keys[] = { HIST_TID, HIST_SYMBOL_FROM };
	static const struct hist_term terms[] = { { .kind = TERM_KEY, .key = HIST_SYMBOL_FROM },
						  { .kind = TERM_KEY, .key = HIST_TID } };
	static const char *const sources[] = { "m", "b", "a", "z" };
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < 12; i++) {
		const char *name = sources[i % 4];
		struct frame f = { .name = string(b, name),
				   .flags = name[0] < 'c' ? FRAME_KERNEL : 0 };
		struct detail d = { .has = DETAIL_BRANCH, .source = profile_add_frame(b, f) };
		struct sample s = { .count = 1, .weight = 1 };
		s.stack = stack_of(b, 0, f);
		s.task = profile_add_task(b, (struct task){ .pid = 9, .tid = 9 - i / 4 });
		profile_add_detailed_sample(b, s, profile_add_detail(b, &d));
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = keys,
							  .n_keys = ARRAY_LEN(keys),
							  .events = &first_event,
							  .n_events = 1 });
	char text[200] = "";
	uint32_t *rows;
	hists_sort(h, terms, ARRAY_LEN(terms), &rows);
	for (size_t i = 0; i < h->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s ",
			 hists_text(h, rows[i], HIST_SYMBOL_FROM),
			 hists_text(h, rows[i], HIST_TID));
	OK_STR(text, "m7: m8: m9: z7: z8: z9: a7: a8: a9: b7: b8: b9: ");
	free(rows);
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* Functions by address, one in several threads as one; unnamed code comes after them, by address.
 */
static void cycles_go_by_address(void)
{
	static const enum hist_key keys[] = { HIST_TID, HIST_IPC };
	static const struct hist_term terms[] = { { .kind = TERM_KEY, .key = HIST_IPC },
						  { .kind = TERM_KEY, .key = HIST_TID } };
	static const uint32_t threads[] = { 8, 7, 9 };
	uint64_t code[] = { (uintptr_t)cycles_go_by_address, (uintptr_t)string,
			    (uintptr_t)stack_of };
	struct profile_builder *b = profile_builder_new();
	objid self = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	objid other = profile_add_object_of(b, "/not/there", "", OBJECT_ELF, false);
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < 18; i++) {
		struct frame f = { .object = i % 2 ? other : self, .addr = 0x9000 - i % 6 };
		if (!(i % 2))
			f.addr = code[i % 6 / 2] - program_bias();
		struct sample s = { .stack = stack_of(b, 0, f), .count = 1, .weight = 1 };
		s.task = profile_add_task(b, (struct task){ .pid = 9, .tid = threads[i / 6] });
		profile_add_sample(b, s);
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = keys,
							  .n_keys = ARRAY_LEN(keys),
							  .events = &first_event,
							  .n_events = 1 });
	uint32_t *rows;
	size_t wrong = 0;
	hists_sort(h, terms, ARRAY_LEN(terms), &rows);
	OK(h->n == 18);
	for (size_t i = 0; i < h->n; i++) {
		const struct hist_row *r = &h->rows[rows[i]];
		const struct frame *f = &p->samples.frames[r->frame], *before = f;
		before = i ? &p->samples.frames[h->rows[rows[i - 1]].frame] : f;
		wrong += i < 9 && f->object != self;
		wrong += i && i != 9 && (i % 3 ? before->addr != f->addr : before->addr >= f->addr);
		wrong += p->samples.tasks[r->task].tid != 7 + i % 3;
	}
	OK(!wrong);
	free(rows);
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* Where nothing else decides: named rows first, then by address. */
static void unnamed_rows_go_by_address(void)
{
	static const enum hist_key sym = HIST_SYM;
	static const struct hist_term by_self[] = { { .kind = TERM_SELF } };
	static const uint64_t addrs[] = { 0x30, 0x10, 0, 0x20 };
	struct profile_builder *b = profile_builder_new();
	objid o = profile_add_object_of(b, "/not/there", "", OBJECT_ELF, false);
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
		struct frame f = { .object = o, .addr = addrs[i] };
		f.name = addrs[i] ? 0 : string(b, "f");
		struct sample s = { .stack = stack_of(b, 0, f), .count = 1, .weight = 5 };
		profile_add_sample(b, s);
	}
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	struct hists *h = hists_new(
		p, g,
		&(struct hists_opts){
			.keys = &sym, .n_keys = 1, .events = &first_event, .n_events = 1 });
	uint32_t *rows;
	size_t wrong = 0;
	hists_sort(h, by_self, 1, &rows);
	for (size_t i = 0; i < h->n; i++)
		wrong += p->samples.frames[h->rows[rows[i]].frame].addr != 0x10 * i;
	OK(!wrong && h->n == ARRAY_LEN(addrs));
	free(rows);
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* ---- names of rows ---- */

static int variable[16]; /* its address is taken */

/* All that a sample of an access, or of a branch, may have. */
static struct detail detail_of_all(struct profile_builder *b, objid self)
{
	uint64_t code = (uintptr_t)program_of - program_bias(),
		 data = (uintptr_t)&variable[1] - program_bias();
	frameid at = profile_add_frame(b, (struct frame){ .object = self, .addr = code + 1 });
	return (struct detail){
		.has = DETAIL_ADDR | DETAIL_BRANCH | DETAIL_CGROUP | DETAIL_NAMESPACE |
		       DETAIL_SOCKET | DETAIL_TRACE,
		.addr = 0x7f12,
		.from = 0x7f34,
		.source = at,
		.target = profile_add_frame(b, (struct frame){ .object = self, .addr = data }),
		.phys_addr = 0x1234,
		.branch = BRANCH_PREDICTED | BRANCH_ABORT | 77 << 4,
		.weight = 41,
		.ins_lat = 5,
		.p_stage_cyc = 6,
		.data_page_size = 4096,
		.code_page_size = 2 << 20,
		.cgroup = string(b, "/user.slice"),
		.cgroup_device = 4,
		.cgroup_inode = 0xef,
		.socket = 1,
		.trace = string(b, "pid=3 name=x"),
	};
}

static struct profile *profile_of_detail(bool any)
{
	struct profile_builder *b = profile_builder_new();
	objid self = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	struct detail d = any ? detail_of_all(b, self) : (struct detail){ 0 };
	struct sample s = { .count = 3, .weight = 9, .time_ns = 5123456789, .cpu = CPU_NONE };
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	if (any)
		s.task = profile_add_task(
			b, (struct task){
				   .pid = 7, .tid = 8, .rank = 5, .comm = string(b, "worker12") });
	if (any)
		s.stack = stack_of(b, 0, (struct frame){ .addr = 0x50, .name = string(b, "f") });
	profile_add_detailed_sample(b, s, profile_add_detail(b, &d));
	return finish(b);
}

/* The one row of the sample by a key; `text` is its own. */
static void is_called(const struct profile *p, struct program *g, enum hist_key key,
		      const char *text)
{
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &key,
							  .n_keys = 1,
							  .events = &first_event,
							  .n_events = 1,
							  .time_quantum = 1000000 });
	tap_str(h->n == 1 ? hists_text(h, 0, key) : "", text, __FILE__, __LINE__,
		hist_keys[key].name);
	hists_free(h);
}

static void rows_say_what_is_known(void)
{
	static const struct {
		enum hist_key key;
		const char *text, *unknown; /* of a sample without anything */
	} texts[] = {
		{ HIST_PID, "7:worker12", "0:" },
		{ HIST_TID, "8:worker12", "0:" },
		{ HIST_RANK, "4", "-" },
		{ HIST_CPU, "-", "-" },
		{ HIST_PARALLELISM, "0", "0" },
		{ HIST_COMM_NODIGIT, "worker<N>", "" },
		{ HIST_SYM, "f", "[unknown]" },
		{ HIST_SYMOFF, "f+0x0", "[unknown]+0x0" },
		{ HIST_SRCFILE, "", "" },
		{ HIST_IPC, "-", "-" },
		{ HIST_DSO, "[unknown]", "[unknown]" },
		{ HIST_SYMBOL_SIZE, "unknown", "unknown" },
		{ HIST_SRCLINE, "f", "[unknown]" },
		{ HIST_TIME, "5.123000", "5.123000" },
		{ HIST_SOCKET, "001", "-" },
		{ HIST_TRACE, "pid=3 name=x", "" },
		{ HIST_CGROUP, "/user.slice", "N/A" },
		{ HIST_CGROUP_ID, "4/0xef", "0/0x0" },
		{ HIST_LOCAL_WEIGHT, "41", "0" },
		{ HIST_WEIGHT, "123", "0" }, /* of three */
		{ HIST_LOCAL_INS_LAT, "5", "0" },
		{ HIST_INS_LAT, "15", "0" },
		{ HIST_LOCAL_STAGE, "6", "0" },
		{ HIST_STAGE, "18", "0" },
		{ HIST_CODE_PAGE_SIZE, "2M", "N/A" },
		{ HIST_DATA_PAGE_SIZE, "4K", "N/A" },
		{ HIST_SYMBOL_FROM, "program_of", "0000000000000000" },
		{ HIST_ADDR_FROM, "program_of+0x1", "0000000000000000" },
		{ HIST_SRCLINE_TO, "??:0", "??:0" },
		{ HIST_MISPREDICT, "N", "N/A" },
		{ HIST_IN_TX, ".", "." },
		{ HIST_ABORT, "A", "." },
		{ HIST_CYCLES, "77", "-" },
		{ HIST_SYMBOL_DADDR, "variable+0x4", "0000000000000000" },
		{ HIST_DCACHELINE, "variable+0x4", "0000000000000000" },
		{ HIST_DSO_DADDR, "exe", "[unknown]" },
		{ HIST_PHYS_DADDR, "0x0000000000001234", "0000000000000000" },
	};
	variable[1] = 1;
	for (int any = 0; any < 2; any++) {
		struct profile *p = profile_of_detail(any);
		struct program *g = program_of(p);
		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			is_called(p, g, texts[i].key, any ? texts[i].text : texts[i].unknown);
		program_free(g);
		profile_free(p);
	}
}

/* Of code that its object and its lines are known of. */
static void code_has_a_file_and_a_size(void)
{
	uint64_t code = (uintptr_t)program_of - program_bias();
	struct profile_builder *b = profile_builder_new();
	objid self = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	struct sample s = { .count = 1, .weight = 1 };
	s.stack = stack_of(b, 0, (struct frame){ .object = self, .addr = code });
	profile_add_sample(b, s);
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	char size[20];
	snprintf(size, sizeof(size), "%u", (unsigned)program_size(g, program_place(g, 1)));
	OK(strcmp(size, "0") != 0);
	is_called(p, g, HIST_SYM, "program_of");
	is_called(p, g, HIST_SYMOFF, "program_of+0x0");
	is_called(p, g, HIST_SRCFILE, "test_rows.c");
	is_called(p, g, HIST_SYMBOL_SIZE, size);
	is_called(p, g, HIST_DSO, "exe");
	program_free(g);
	profile_free(p);
}

/* The last part of the path. Files of perf's JIT support are named after their process. */
static void objects_have_names(void)
{
	static const struct {
		const char *path;
		enum object_kind kind;
		const char *name;
	} objects[] = {
		{ "/opt/f", OBJECT_ELF, "f" },
		{ "/opt/dir/", OBJECT_ELF, "/opt/dir/" },
		{ "[vdso]", OBJECT_VDSO, "[vdso]" },
		{ "/tmp/perf-12.map", OBJECT_JIT, "[JIT] tid 12" },
		{ "/tmp/perf-12.map", OBJECT_ELF, "perf-12.map" },
		{ "/tmp/perf-12.map.old", OBJECT_JIT, "perf-12.map.old" },
		{ "/tmp/perf-12", OBJECT_JIT, "perf-12" },
		{ "/tmp/perf-x.map", OBJECT_JIT, "perf-x.map" },
	};
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		struct profile_builder *b = profile_builder_new();
		objid o = profile_add_object_of(b, objects[i].path, "", objects[i].kind, false);
		struct frame f = { .object = o, .addr = 16, .name = string(b, "f") };
		profile_add_event(b, (struct event){ .name = string(b, "e") });
		profile_add_sample(
			b, (struct sample){ .stack = stack_of(b, 0, f), .count = 1, .weight = 1 });
		profile_add_source(b, "test", (struct source){ .kind = "test" });
		struct profile *p = profile_finish(b);
		struct program *g = program_of(p);
		is_called(p, g, HIST_DSO, objects[i].name);
		program_free(g);
		profile_free(p);
	}
}

/* The variable or function of an access. */
static void accesses_have_subjects(void)
{
	static const enum hist_key keys[] = { HIST_SYMBOL_DADDR, HIST_DCACHELINE, HIST_MEM,
					      HIST_SYMBOL_IADDR, HIST_SYM };
	static const char *const subjects[] = { "variable", "variable", NULL, "f", NULL };
	struct profile *p = profile_of_detail(true);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = keys,
							  .n_keys = ARRAY_LEN(keys),
							  .events = &first_event,
							  .n_events = 1 });
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *got = hists_subject(h, 0, keys[i]);
		tap_str(got ? got : "", subjects[i] ? subjects[i] : "", __FILE__, __LINE__,
			hist_keys[keys[i]].name);
	}
	OK_STR(hists_function(h, 0), "f");
	hists_free(h);
	program_free(g);
	profile_free(p);
}

/* The time shown for a sample at 5.123456789 s. */
static const char *time_of(uint64_t quantum, bool nanoseconds)
{
	static const enum hist_key key = HIST_TIME;
	static char text[40];
	struct profile *p = profile_of_detail(true);
	struct program *g = program_of(p);
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &key,
							  .n_keys = 1,
							  .events = &first_event,
							  .n_events = 1,
							  .time_quantum = quantum,
							  .nanoseconds = nanoseconds });
	snprintf(text, sizeof(text), "%s", hists_text(h, 0, key));
	hists_free(h);
	program_free(g);
	profile_free(p);
	return text;
}

static void times_are_rounded_down(void)
{
	OK_STR(time_of(1, false), "5.123456");
	OK_STR(time_of(1, true), "5.123456789");
	OK_STR(time_of(100000000, true), "5.100000000");
	OK_STR(time_of(2000000000, false), "4.000000");
}

/* ---- stacks that are seen in part ---- */

/* "f:SELF/CHILDREN" of each row, in the order of the names. */
static const char *rows_of(const struct profile *p, struct program *g, struct hists_opts o)
{
	static const enum hist_key sym = HIST_SYM;
	static const struct hist_term by_name[] = { { .kind = TERM_KEY, .key = HIST_SYM } };
	static char text[500];
	uint32_t *rows;
	o.keys = &sym;
	o.n_keys = 1;
	o.events = &first_event;
	o.n_events = 1;
	struct hists *h = hists_new(p, g, &o);
	hists_sort(h, by_name, 1, &rows);
	text[0] = '\0';
	for (size_t i = 0; i < h->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s:%u/%u",
			 i ? " " : "", hists_text(h, rows[i], HIST_SYM),
			 (unsigned)h->self[rows[i]].weight, (unsigned)h->children[rows[i]].weight);
	free(rows);
	hists_free(h);
	return text;
}

/* Checks the rows of a profile with b ignored: in caller order, in that order without callers, and
 * in callee order. Frees the profile. */
static void ignores_b(struct profile *p, const char *usual, const char *dropped, const char *callee)
{
	static const struct hists_rules rules = { .ignore_drops_callers = true };
	struct program *g = program_of(p);
	regex_t is_b;
	OK(!regcomp(&is_b, "b", REG_EXTENDED));
	struct hists_opts o = { .ignore_callees = &is_b };
	OK_STR(rows_of(p, g, o), usual);
	o.rules = &rules;
	OK_STR(rows_of(p, g, o), dropped);
	o.order = CHAIN_CALLEE;
	OK_STR(rows_of(p, g, o), callee);
	program_free(g);
	profile_free(p);
	regfree(&is_b);
}

/* a calls b, which calls c; it is 5 there, and 2 in b. */
static void callers_of_what_is_ignored_are_dropped(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	stackid at_b = stack_of(b, stack_of(b, 0, (struct frame){ .name = string(b, "a") }),
				(struct frame){ .name = string(b, "b") });
	stackid at_c = stack_of(b, at_b, (struct frame){ .name = string(b, "c") });
	profile_add_sample(b, (struct sample){ .stack = at_b, .count = 1, .weight = 2 });
	profile_add_sample(b, (struct sample){ .stack = at_c, .count = 1, .weight = 5 });
	ignores_b(finish(b), "a:0/7 b:7/7", "b:7/7 c:0/5", "a:0/7 b:7/7");
}

/* Calls of b by b: the last b keeps the callers, and its callees have none. */
static void of_several_that_are_ignored(void)
{
	struct profile_builder *b = profile_builder_new();
	stackid at = 0;
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (const char *name = "abcbd"; *name; name++)
		at = stack_of(b, at, (struct frame){ .name = profile_add_string(b, name, 1) });
	profile_add_sample(b, (struct sample){ .stack = at, .count = 1, .weight = 5 });
	ignores_b(finish(b), "a:0/5 b:5/5", "b:5/5 d:0/5", "a:0/5 b:5/5");
}

/* The number of functions of one stack that are shown with a limit. */
static size_t seen_of(const struct profile *p, struct program *g, enum chain_order order,
		      unsigned max)
{
	static const enum hist_key sym = HIST_SYM;
	struct hists_opts o = { .keys = &sym,
				.n_keys = 1,
				.events = &first_event,
				.n_events = 1,
				.order = order,
				.max_stack = max };
	struct hists *h = hists_new(p, g, &o);
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++)
		n += h->children[i].weight > 0;
	hists_free(h);
	return n;
}

/* Checks limits on a stack of depth `deep`. In caller order the leaf is always shown. */
static bool limits_hold(unsigned deep)
{
	struct profile_builder *b = profile_builder_new();
	stackid at = 0;
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (unsigned i = 0; i < deep; i++) {
		char name[20];
		snprintf(name, sizeof(name), "f%u", i);
		at = stack_of(b, at, (struct frame){ .name = string(b, name) });
	}
	profile_add_sample(b, (struct sample){ .stack = at, .count = 1, .weight = 5 });
	struct profile *p = finish(b);
	struct program *g = program_of(p);
	bool hold = seen_of(p, g, CHAIN_CALLER, 0) == deep;
	for (unsigned max = deep > 60 ? deep - 60 : 1; max < deep + 2; max++) {
		size_t callers = max + 1 < deep ? max + 1 : deep, callees = max < deep ? max : deep;
		hold = hold && seen_of(p, g, CHAIN_CALLER, max) == callers &&
		       seen_of(p, g, CHAIN_CALLEE, max) == callees;
	}
	program_free(g);
	profile_free(p);
	return hold;
}

/* Depths of more than 255 do not fit a byte. */
static void deep_stacks_have_limits(void)
{
	OK(limits_hold(1) && limits_hold(2) && limits_hold(3));
	OK(limits_hold(255) && limits_hold(256) && limits_hold(300));
}

/* f is called by unnamed code, by a mark, and by main; the unnamed code is called by main. */
static struct profile *profile_of_unnamed(void)
{
	struct profile_builder *b = profile_builder_new();
	objid o = profile_add_object_of(b, "/not/there", "", OBJECT_ELF, false);
	struct frame unnamed = { .object = o, .addr = 0x1234 }, f = { .name = string(b, "f") },
		     mark = { .name = string(b, "[cut]"), .flags = FRAME_MARK };
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	stackid main_at = stack_of(b, 0, (struct frame){ .name = string(b, "main") });
	stackid callers[] = { stack_of(b, main_at, unnamed), stack_of(b, main_at, mark), main_at };
	struct detail d = { .has = DETAIL_BRANCH, .source = profile_add_frame(b, unnamed) };
	for (uint32_t i = 0; i < ARRAY_LEN(callers); i++)
		profile_add_sample(b, (struct sample){ .stack = stack_of(b, callers[i], f),
						       .count = 1,
						       .weight = ONLY(i) });
	profile_add_sample(b, (struct sample){ .stack = callers[0], .count = 1, .weight = 8 });
	profile_add_detailed_sample(
		b, (struct sample){ .stack = stack_of(b, main_at, f), .count = 1, .weight = 16 },
		profile_add_detail(b, &d));
	return finish(b);
}

static void what_has_no_name_is_left_out(void)
{
	static const struct hists_rules no_marks = { .hide_marks = true };
	struct profile *p = profile_of_unnamed();
	struct program *g = program_of(p);
	for (int chains = 0; chains < 2; chains++) { /* rows are found in another way with them */
		struct hists_opts o = { .chains = chains != 0 };
		OK_STR(rows_of(p, g, o), "[cut]:0/2 f:23/23 main:0/31 0x0000000000001234:8/9");
		o.hide_unresolved = true;
		OK_STR(rows_of(p, g, o), "[cut]:0/2 f:7/7 main:0/7");
		o.rules = &no_marks;
		OK_STR(rows_of(p, g, o), "f:7/7 main:0/7");
	}
	program_free(g);
	profile_free(p);
}

/* ---- functions inlined in this program ---- */

#define INLINED static inline __attribute__((always_inline))

static __attribute__((noinline)) uintptr_t called_from(void)
{
	uintptr_t at = (uintptr_t)__builtin_return_address(0);
	__asm__ volatile("" ::: "memory");
	return at;
}

INLINED uintptr_t within(void)
{
	uintptr_t at = called_from();
	__asm__ volatile("" ::: "memory"); /* no tail call */
	return at;
}

INLINED uintptr_t beside(void)
{
	uintptr_t at = called_from();
	__asm__ volatile("" ::: "memory");
	return at;
}

static __attribute__((noinline)) uintptr_t one(void) { return within() + (unsigned)variable[2]; }
static __attribute__((noinline)) uintptr_t two(void) { return within() - (unsigned)variable[2]; }

INLINED uintptr_t around(void)
{
	uintptr_t at = beside();
	__asm__ volatile("" ::: "memory");
	return at;
}

static __attribute__((noinline)) uintptr_t three(void) { return around() ^ (unsigned)variable[2]; }

/* Samples of 1, 2 and 4 where they call, as seen on a stack. */
static struct profile *profile_of_inlined(void)
{
	struct profile_builder *b = profile_builder_new();
	objid self = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	const uintptr_t calls[] = { one(), two(), three() };
	profile_add_event(b, (struct event){ .name = string(b, "e") });
	for (uint32_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct sample s = { .count = 1, .weight = ONLY(i) };
		s.stack = stack_of(b, 0,
				   (struct frame){ .object = self,
						   .addr = calls[i] - program_bias(),
						   .flags = FRAME_RETURN });
		profile_add_sample(b, s);
	}
	return finish(b);
}

static uint64_t total_of(const struct profile *p, struct program *g, struct hists_opts o)
{
	static const enum hist_key sym = HIST_SYM;
	o.keys = &sym;
	o.n_keys = 1;
	o.events = &first_event;
	o.n_events = 1;
	struct hists *h = hists_new(p, g, &o);
	uint64_t total = h->total->weight;
	hists_free(h);
	return total;
}

/* They are functions of their own; one in several places is one, unless they are kept apart. */
static void inlined_functions_have_rows(void)
{
	static const struct hists_rules apart = { .inlines_apart = true };
	struct profile *p = profile_of_inlined();
	struct program *g = program_of(p);
	struct sample_filter *all;
	regex_t is_within, is_around;
	OK(!regcomp(&is_within, "^within$", REG_EXTENDED));
	OK(!regcomp(&is_around, "^around$", REG_EXTENDED));
	OK(!sample_filter_new(p, &(struct sample_filter_texts){ 0 }, &all));
	struct hist_filter f = { .samples = all, .symbols = NAMES("within") };
	struct hists_opts o = { .inlines = true };
	OK_STR(rows_of(p, g, o), "around (inlined):0/4 beside (inlined):4/4 one:0/1 three:0/4 "
				 "two:0/2 within (inlined):3/3");
	o.self_physical = true;
	OK_STR(rows_of(p, g, o), "around (inlined):0/4 beside (inlined):0/4 one:1/1 three:4/4 "
				 "two:2/2 within (inlined):0/3");
	o = (struct hists_opts){ .inlines = true, .rules = &apart };
	OK_STR(rows_of(p, g, o),
	       "around (inlined):0/4 beside (inlined):4/4 one:0/1 three:0/4 two:0/2 within "
	       "(inlined):1/1 within (inlined):2/2");
	o = (struct hists_opts){ .inlines = false };
	OK_STR(rows_of(p, g, o), "one:1/1 three:4/4 two:2/2");
	OK(total_of(p, g, (struct hists_opts){ .inlines = true, .filter = &f }) == 3);
	OK(total_of(p, g, (struct hists_opts){ .filter = &f }) == 0);
	o = (struct hists_opts){ .inlines = true, .parent = &is_within, .exclude_other = true };
	OK(total_of(p, g, o) == 3);
	o.inlines = false;
	OK(total_of(p, g, o) == 0);
	o = (struct hists_opts){ .inlines = true, .parent = &is_around, .exclude_other = true };
	OK(total_of(p, g, o) == 4); /* though another one is within it */
	sample_filter_free(all);
	program_free(g);
	profile_free(p);
	regfree(&is_within);
	regfree(&is_around);
}

/* The names of the one chain of `one`, whatever the numbers of its lines are. */
static const char *chain_of_one(const struct profile *p, struct program *g, enum chain_key key,
				bool line)
{
	static const enum hist_key sym = HIST_SYM;
	static char text[200];
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &sym,
							  .n_keys = 1,
							  .events = &first_event,
							  .n_events = 1,
							  .chains = true,
							  .chain_key = key,
							  .inlines = true });
	struct callchains *c = callchains_new(h);
	text[0] = '\0';
	for (size_t i = 0; i < h->n; i++) {
		const struct callchain *t = callchains_of(c, i, &(struct chain_opts){ 0 });
		if (strcmp(hists_text(h, i, sym), "one") != 0)
			continue;
		for (size_t k = 1; k < t->n; k++) {
			const char *name = callchain_name(c, t->nodes[k].hop, line);
			for (; *name; name++)
				if (strlen(text) + 2 < sizeof(text) && !strchr("0123456789", *name))
					strncat(text, name, 1);
			strcat(text, ";");
		}
	}
	callchains_free(c);
	hists_free(h);
	return text;
}

static void chains_name_what_is_inlined(void)
{
	struct profile *p = profile_of_inlined();
	struct program *g = program_of(p);
	OK_STR(chain_of_one(p, g, CHAIN_BY_FUNCTION, false), "one;within (inlined);");
	OK_STR(chain_of_one(p, g, CHAIN_BY_SRCLINE, true),
	       "one test_rows.c:;within test_rows.c: (inlined);");
	OK_STR(chain_of_one(p, g, CHAIN_BY_ADDRESS, false), "one;within (inlined);");
	program_free(g);
	profile_free(p);
}

int main(void)
{
	objects_are_meant_by_path_or_name();
	functions_are_meant_by_name();
	sides_and_sockets_are_filtered();
	times_are_filtered();
	samples_without_a_parent_are_left_out();
	samples_weigh_what_accesses_cost();
	latency_is_shared();
	samples_are_told_apart_by_each_key();
	rows_go_by_one_event_after_the_other();
	rows_go_by_one_key_after_the_other();
	callers_come_above_callees();
	threads_do_not_move_each_other();
	functions_of_one_name_are_equal();
	commands_go_by_name();
	what_is_the_kernels_comes_last();
	cycles_go_by_address();
	unnamed_rows_go_by_address();
	rows_say_what_is_known();
	code_has_a_file_and_a_size();
	objects_have_names();
	accesses_have_subjects();
	times_are_rounded_down();
	callers_of_what_is_ignored_are_dropped();
	of_several_that_are_ignored();
	deep_stacks_have_limits();
	what_has_no_name_is_left_out();
	inlined_functions_have_rows();
	chains_name_what_is_inlined();
	return DONE();
}

/* Laws of Self and Children, on random stacks with much recursion. */
#include <stdio.h>

#include "analysis/callchain.h"
#include "tap.h"

#define CHECK(cond, what) tap_ok((cond), __FILE__, __LINE__, (what))

enum { FUNCTIONS = 6, STACKS = 60, SAMPLES = 300 };

static uint32_t state = 1;
static uint32_t pick(uint32_t n) { return (state = state * 1103515245 + 12345) / 65536 % n; }

static struct profile *random_profile(int round)
{
	struct profile_builder *b = profile_builder_new();
	frameid frames[FUNCTIONS];
	stackid stacks[STACKS];
	for (size_t i = 0; i < FUNCTIONS; i++) {
		char name[] = { 'f', (char)('0' + i), '\0' };
		frames[i] = profile_add_frame(
			b, (struct frame){ .name = profile_add_string(b, name, 2) });
	}
	stacks[0] = profile_add_stack(b, 0, frames[0]);
	for (size_t i = 1; i < STACKS; i++)
		stacks[i] =
			profile_add_stack(b, stacks[pick((uint32_t)i)], frames[pick(FUNCTIONS)]);
	uint16_t event =
		profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	for (size_t i = 0; i < SAMPLES; i++) {
		uint32_t tid = 1 + pick(round % 2 ? 3 : 40); /* more than have arrays */
		taskid task = profile_add_task(b, (struct task){ .pid = 1, .tid = tid });
		profile_add_sample(b, (struct sample){ .stack = stacks[pick(STACKS)],
						       .task = task,
						       .event = event,
						       .count = 1,
						       .weight = pick(100) });
	}
	profile_add_source(b, "test", (struct source){ .kind = "test" });
	return profile_finish(b);
}

struct sums {
	uint64_t self, children, chains;
	bool bounded, chains_add_up;
};

static struct sums sums_of(const struct profile *p, struct program *g, enum chain_order order,
			   const enum hist_key *keys, size_t n_keys)
{
	const uint16_t event = 0;
	struct hists_opts o = { .keys = keys,
				.n_keys = n_keys,
				.events = &event,
				.n_events = 1,
				.chains = true,
				.order = order };
	struct hists *h = hists_new(p, g, &o);
	struct callchains *c = callchains_new(h);
	struct sums s = { .bounded = true, .chains_add_up = true };
	for (size_t i = 0; i < h->n; i++) {
		const struct callchain *t = callchains_of(c, i, &(struct chain_opts){ 0 });
		s.self += h->self[i].weight;
		s.children += h->children[i].weight;
		s.bounded = s.bounded && h->self[i].weight <= h->children[i].weight &&
			    h->children[i].weight <= h->total->weight;
		s.chains_add_up = s.chains_add_up && t->nodes[0].sum == h->children[i].weight;
	}
	s.bounded = s.bounded && s.self == h->total->weight;
	callchains_free(c);
	hists_free(h);
	return s;
}

/* The same by looking at each sample alone. */
static uint64_t children_one_by_one(const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint64_t sum = 0;
	for (size_t i = 0; i < s->n; i++) {
		bool seen[FUNCTIONS + 1] = { false };
		for (stackid at = s->at[i].stack; at; at = s->stacks[at].caller) {
			sum += seen[s->stacks[at].frame] ? 0 : s->at[i].weight;
			seen[s->stacks[at].frame] = true;
		}
	}
	return sum;
}

static bool same_stats(const struct hist_stat *a, const struct hist_stat *b)
{
	return a->weight == b->weight && a->count == b->count;
}

/* Rows alone are found another way than those with chains. */
static bool rows_are_alike(const struct profile *p, struct program *g, const enum hist_key *keys,
			   size_t n_keys, bool no_children)
{
	const uint16_t event = 0;
	struct hists_opts o = { .keys = keys,
				.n_keys = n_keys,
				.events = &event,
				.n_events = 1,
				.no_children = no_children,
				.max_stack = 127 };
	struct hists *alone = hists_new(p, g, &o);
	o.chains = true;
	struct hists *chains = hists_new(p, g, &o);
	bool alike = alone->n == chains->n && same_stats(alone->total, chains->total);
	for (size_t i = 0; i < alone->n && alike; i++) {
		for (size_t k = 0; k < n_keys; k++)
			alike = alike &&
				hists_value(alone, i, keys[k]) == hists_value(chains, i, keys[k]);
		alike = alike && same_stats(&alone->self[i], &chains->self[i]) &&
			(no_children || same_stats(&alone->children[i], &chains->children[i])) &&
			alone->rows[i].task == chains->rows[i].task &&
			alone->rows[i].frame == chains->rows[i].frame;
	}
	hists_free(alone);
	hists_free(chains);
	return alike;
}

/* Of no event, as where a filter leaves none. */
static bool has_nothing(const struct profile *p, struct program *g, enum chain_order order)
{
	static const enum hist_key sym[] = { HIST_SYM };
	struct hists_opts o = { .keys = sym, .n_keys = 1, .chains = true, .order = order };
	struct hists *h = hists_new(p, g, &o);
	struct callchains *c = callchains_new(h);
	bool nothing = !h->n;
	callchains_free(c);
	hists_free(h);
	return nothing;
}

int main(void)
{
	static const enum hist_key sym[] = { HIST_SYM }, dso[] = { HIST_DSO },
				   both[] = { HIST_TID, HIST_SYM };
	for (int round = 0; round < 50; round++) {
		struct profile *p = random_profile(round);
		struct program *g =
			program_new(p, NULL, &(struct program_opts){ .no_inlines = true });
		struct sums a = sums_of(p, g, CHAIN_CALLER, sym, 1);
		struct sums b = sums_of(p, g, CHAIN_CALLEE, sym, 1);
		struct sums d = sums_of(p, g, CHAIN_CALLER, dso, 1);
		struct sums t = sums_of(p, g, CHAIN_CALLEE, both, 2);
		CHECK(has_nothing(p, g, CHAIN_CALLER) && has_nothing(p, g, CHAIN_CALLEE),
		      "without an event there are no rows");
		CHECK(a.bounded && b.bounded && d.bounded && t.bounded,
		      "Self adds up to the total; Self <= Children <= total");
		CHECK(a.chains_add_up && b.chains_add_up && d.chains_add_up && t.chains_add_up,
		      "a row's chains add up to its Children");
		CHECK(a.children == b.children && a.children == t.children &&
			      a.children == children_one_by_one(p),
		      "both orders agree, and with counting sample by sample");
		CHECK(d.children == d.self, "one object: recursion counts once for every key");
		CHECK(rows_are_alike(p, g, sym, 1, false) && rows_are_alike(p, g, dso, 1, false) &&
			      rows_are_alike(p, g, both, 2, false) &&
			      rows_are_alike(p, g, both, 2, true),
		      "rows alone are the rows of chains");
		program_free(g);
		profile_free(p);
	}
	return DONE();
}

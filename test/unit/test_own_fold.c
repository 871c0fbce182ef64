/* Folding the code of others, on random stacks: the total stays, Children of own functions do not
 * change, Self grows by what others do on their behalf, and stacks without own functions become
 * stacks of libraries. */
#include "symbolize/own_fold.h"

#include <stdlib.h>

#include "tap.h"

enum { OWN = 6, OTHERS = 6, FUNCTIONS = OWN + OTHERS, STACKS = 300, DEPTH = 12 };

struct sums {
	uint64_t self[FUNCTIONS], children[FUNCTIONS], total;
	uint64_t on_behalf[OWN]; /* of which others do: Self of others, by the nearest own caller */
	uint64_t of_none;        /* on stacks without an own function */
	uint64_t of_library;
};

static const char *name_of(int i)
{
	static const char *const names[FUNCTIONS] = { "a",         "b",      "c",
						      "d",         "e",      "std",
						      "std::a",    "std::b", "core::c",
						      "runtime.d", "x@plt",  "__do_global_x" };
	return names[i];
}

/* The function of a frame; -1: the library that stands for others. */
static int function_of(const struct profile *p, frameid frame)
{
	const char *name = strtab_get(p->strings, p->samples.frames[frame].name);
	for (int i = 0; i < FUNCTIONS; i++)
		if (!strcmp(name, name_of(i)))
			return i;
	return -1;
}

static void add_sample(struct sums *s, const struct profile *p, const struct sample *x)
{
	bool seen[FUNCTIONS] = { false };
	int nearest = -1;
	for (stackid at = x->stack; at; at = p->samples.stacks[at].caller) {
		int f = function_of(p, p->samples.stacks[at].frame);
		nearest = nearest < 0 && f >= 0 && f < OWN ? f : nearest;
		if (f >= 0 && !seen[f])
			s->children[f] += x->weight;
		seen[f < 0 ? 0 : f] |= f >= 0;
	}
	int leaf = function_of(p, p->samples.stacks[x->stack].frame);
	s->total += x->weight;
	if (leaf >= 0)
		s->self[leaf] += x->weight;
	else
		s->of_library += x->weight;
	if (nearest < 0)
		s->of_none += x->weight;
	else if (leaf >= OWN)
		s->on_behalf[nearest] += x->weight;
}

static struct sums sums_of(const struct profile *p)
{
	struct sums s = { { 0 }, { 0 }, 0, { 0 }, 0, 0 };
	for (size_t i = 0; i < p->samples.n; i++)
		add_sample(&s, p, &p->samples.at[i]);
	return s;
}

static unsigned below(unsigned n) { return (unsigned)rand() % n; }

/* Library code is in an object, so that it has a name as a library. */
static struct profile *random_profile(void)
{
	struct profile_builder *b = profile_builder_new();
	objid library = profile_add_object(b, "/usr/lib/libx.so", NULL);
	frameid frames[FUNCTIONS];
	profile_add_event(b, (struct event){ .unit = EVENT_NS });
	for (int i = 0; i < FUNCTIONS; i++)
		frames[i] = profile_add_frame(
			b, (struct frame){
				   .name = profile_add_string(b, name_of(i), strlen(name_of(i))),
				   .object = i < OWN ? 0 : library });
	for (int i = 0; i < STACKS; i++) {
		stackid s = 0;
		bool others = i % 2 && below(4); /* no own functions on many stacks */
		for (unsigned n = 1 + below(DEPTH); n; n--)
			s = profile_add_stack(
				b, s, frames[others ? OWN + below(OTHERS) : below(FUNCTIONS)]);
		profile_add_sample(
			b, (struct sample){ .stack = s, .count = 1, .weight = 1 + below(100) });
	}
	return profile_finish(b);
}

static bool law_holds(const struct sums *before, const struct sums *after)
{
	bool good = before->total == after->total && before->of_none == after->of_library &&
		    before->of_none == after->of_none;
	for (int i = 0; i < OWN; i++)
		good &= before->children[i] == after->children[i] &&
			after->self[i] == before->self[i] + before->on_behalf[i];
	for (int i = OWN; i < FUNCTIONS; i++)
		good &= !after->self[i] && !after->children[i];
	return good;
}

static void laws(void)
{
	const struct own_dirs none = { NULL, NULL };
	struct own_code *code = own_code_new(&none, "/home/me/q", false);
	bool good = true;
	uint64_t folded = 0, left = 0;
	srand(41);
	for (int round = 0; round < 200; round++) {
		struct profile *p = random_profile();
		struct program *g = program_new(p, NULL, &(struct program_opts){ 0 });
		struct own_fold *f = own_fold_new(g, p, code);
		struct sums before = sums_of(p);
		struct own_shares share = own_fold_shares(f, 0);
		own_fold_stacks(f);
		struct sums after = sums_of(p);
		good &= law_holds(&before, &after);
		uint64_t on_behalf = 0;
		for (int i = 0; i < OWN; i++)
			on_behalf += before.on_behalf[i];
		double total = (double)before.total;
		good &= share.own == (double)(before.total - before.of_none) / total;
		good &= share.folded == (double)on_behalf / total;
		folded += on_behalf;
		left += after.of_library;
		own_fold_free(f);
		program_free(g);
		profile_free(p);
	}
	own_code_free(code);
	OK(good);
	OK(folded && left);
}

int main(void)
{
	laws();
	return DONE();
}

/* Laws of Self and Children, on random stacks with much recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/callchain.h"
#include "lib/program_bias.h"
#include "tap.h"

#define CHECK(cond, what) tap_ok((cond), __FILE__, __LINE__, (what))

/* Stacks, tasks and samples fill their arrays, so that a sanitizer sees who reads beyond an end. */
enum { FUNCTIONS = 6, STACKS = 63, TASKS = 63, SAMPLES = 256 };

static uint32_t state = 1;
static uint32_t pick(uint32_t n) { return (state = state * 1103515245 + 12345) / 65536 % n; }

static struct profile *random_profile(int round)
{
	struct profile_builder *b = profile_builder_new();
	frameid frames[FUNCTIONS];
	stackid stacks[STACKS];
	taskid tasks[TASKS];
	/* Some rounds have more threads than there are arrays for them. */
	uint32_t n_tasks = round % 2 ? 4 : TASKS;
	for (uint32_t i = 0; i < n_tasks; i++) {
		char name[] = { (char)('a' + i % 5), '\0' };
		struct task t = { .pid = i % 3 ? 1 + i % 3 : 99, .tid = 1 + i };
		if (i == 4) /* exec: another name of the process's first thread */
			t.tid = t.pid;
		t.comm = profile_add_string(b, name, 1);
		tasks[i] = profile_add_task(b, t);
	}
	for (size_t i = 0; i < FUNCTIONS; i++) {
		char name[] = { 'f', (char)('0' + i), '\0' };
		frames[i] =
			profile_add_frame(b, (struct frame){ .name = profile_add_string(b, name, 2),
							     .flags = pick(2) * FRAME_KERNEL |
								      pick(2) * FRAME_GUEST });
	}
	stacks[0] = profile_add_stack(b, 0, frames[0]);
	for (size_t i = 1; i < STACKS; i++)
		do
			stacks[i] = profile_add_stack(b, stacks[pick((uint32_t)i)],
						      frames[pick(FUNCTIONS)]);
		while (stacks[i] <= stacks[i - 1]);
	uint16_t event =
		profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	for (size_t i = 0; i < SAMPLES; i++) {
		profile_add_sample(b, (struct sample){ .stack = stacks[pick(STACKS)],
						       .task = tasks[pick(n_tasks)],
						       .event = event,
						       .flags = (uint16_t)(pick(4) * FRAME_KERNEL),
						       .count = 1,
						       .weight = pick(100) });
	}
	profile_add_source(b, "test", (struct source){ .kind = "test" });
	return profile_finish(b);
}

static uint32_t longest_chain(const struct callchain *t)
{
	uint32_t longest = 0;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t n = 0;
		for (uint32_t at = (uint32_t)i; t->nodes[at].parent != NONE;
		     at = t->nodes[at].parent)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* A tree that is not as deep has the same weights, and all chains end in it. */
static bool is_cut_alike(struct callchains *c, size_t row, uint64_t children)
{
	enum { DEPTH = 2 };
	const struct chain_opts whole = { 0 }, cut = { .max_depth = DEPTH };
	uint64_t hit = 0, n = callchains_of(c, row, &whole)->n;
	uint32_t depth = longest_chain(callchains_of(c, row, &whole));
	bool bounded = callchains_bound(c, row, &whole) >= n - 1;
	const struct callchain *t = callchains_of(c, row, &cut);
	for (size_t i = 0; i < t->n; i++)
		hit += t->nodes[i].hit;
	return bounded && t->nodes[0].sum == children && hit == children &&
	       longest_chain(t) <= DEPTH + 1 && longest_chain(t) >= (depth > DEPTH ? DEPTH : depth);
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
		s.chains_add_up = s.chains_add_up && t->nodes[0].sum == h->children[i].weight &&
				  is_cut_alike(c, i, h->children[i].weight);
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

/* ---- rows of stacks that are seen in part, compared with looking at each sample alone ---- */

/* A function of the profile as a number, by the second letter of its name. */
static unsigned function_of(const struct profile *p, stackid stack)
{
	const struct samples *s = &p->samples;
	return (unsigned)(strtab_get(p->strings, s->frames[s->stacks[stack].frame].name)[1] - '0');
}

static bool matches(const struct profile *p, const regex_t *re, stackid stack)
{
	char name[] = { 'f', (char)('0' + function_of(p, stack)), '\0' };
	return !regexec(re, name, 0, NULL, 0);
}

/* The functions of a stack that a report with these options has, as sets of bits. */
struct seen {
	stackid leaf;
	unsigned function, functions; /* its own, and all */
	unsigned parent;              /* FUNCTIONS: none */
};

static struct seen see(const struct profile *p, const struct hists_opts *o, stackid stack)
{
	const struct stack *stacks = p->samples.stacks;
	unsigned depth = 0, first = 0, limit = o->max_stack ? o->max_stack : STACKS;
	struct seen x = { .leaf = stack, .parent = FUNCTIONS };
	for (stackid i = stack; i; i = stacks[i].caller) {
		if (o->ignore_callees && matches(p, o->ignore_callees, i)) {
			x.leaf = i;
			first = depth;
		}
		depth++;
	}
	unsigned at = 0;
	for (stackid i = stack; i; i = stacks[i].caller, at++) {
		bool from_leaf = o->order == CHAIN_CALLEE;
		bool is_near = from_leaf ? at < limit : depth - at <= limit;
		if (o->parent && !o->no_callers && is_near && matches(p, o->parent, i) &&
		    (!from_leaf || x.parent == FUNCTIONS))
			x.parent = function_of(p, i);
		is_near = from_leaf ? at - first < limit : depth - at <= limit;
		if (at >= first && is_near && !o->no_callers)
			x.functions |= 1U << function_of(p, i);
	}
	x.function = function_of(p, x.leaf);
	x.functions |= 1U << x.function;
	return x;
}

/* A thread has the last name of the first thread of its process; its own where that is not
 * recorded. */
static const char *command_of(const struct profile *p, taskid task)
{
	const struct task *t = p->samples.tasks;
	strid comm = t[task].comm;
	for (size_t i = 0; i < p->samples.n_tasks && t[task].tid != t[task].pid; i++)
		if (t[i].tid == t[i].pid && t[i].pid == t[task].pid)
			comm = t[i].comm;
	return strtab_get(p->strings, comm);
}

/* Of the sample's leaf; where callees are ignored, of the function they are charged to. */
static enum hist_level level_of(const struct profile *p, const struct sample *s, stackid leaf)
{
	uint32_t flags = leaf == s->stack ? s->flags
					  : p->samples.frames[p->samples.stacks[leaf].frame].flags;
	bool is_kernel = flags & FRAME_KERNEL;
	if (flags & FRAME_GUEST)
		return is_kernel ? LEVEL_GUEST_KERNEL : LEVEL_GUEST_USER;
	return is_kernel ? LEVEL_KERNEL : LEVEL_USER;
}

static bool is_row_of_samples(const struct hists *h, size_t row, const struct hists_opts *o)
{
	const struct profile *p = h->profile;
	const char *comm = hists_text(h, row, HIST_COMM), *parent = hists_text(h, row, HIST_PARENT);
	unsigned function = (unsigned)(hists_text(h, row, HIST_SYM)[1] - '0');
	unsigned of_parent = parent[0] == '[' ? FUNCTIONS : (unsigned)(parent[1] - '0');
	uint64_t self = 0, children = 0, levels[HIST_LEVELS] = { 0 };
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		struct seen x = see(p, o, s->stack);
		if (x.parent != of_parent || strcmp(command_of(p, s->task), comm))
			continue;
		uint64_t own = x.function == function ? s->weight : 0;
		self += own;
		levels[level_of(p, s, x.leaf)] += own;
		children += x.functions >> function & 1 ? s->weight : 0;
	}
	bool same = true;
	for (size_t i = 2 * row; i < 2 * row + 2; i++)
		same = same && self == h->self[i].weight && children == h->children[i].weight &&
		       !memcmp(levels, h->levels[i], sizeof(levels));
	return same;
}

/* The same event twice, so that each row has the same figures twice. */
static bool are_rows_of_samples(const struct profile *p, struct program *g, struct hists_opts o)
{
	static const enum hist_key keys[] = { HIST_PARENT, HIST_COMM, HIST_SYM };
	static const uint16_t events[2] = { 0, 0 };
	o.keys = keys;
	o.n_keys = 3;
	o.events = events;
	o.n_events = 2;
	o.chains = o.fold_threads = o.levels = true;
	struct hists *h = hists_new(p, g, &o);
	struct callchains *c = callchains_new(h);
	uint64_t self = 0, total = 0;
	bool same = true;
	for (size_t i = 0; i < h->n && same; i++) {
		const struct callchain *t = callchains_of(c, i, &(struct chain_opts){ 0 });
		self += h->self[2 * i].weight;
		same = is_row_of_samples(h, i, &o) &&
		       t->nodes[0].sum == h->children[2 * i].weight &&
		       longest_chain(t) == h->rows[i].depth;
	}
	for (size_t i = 0; i < p->samples.n; i++)
		total += p->samples.at[i].weight;
	callchains_free(c);
	hists_free(h);
	return same && self == total;
}

static void test_views(const struct profile *p, struct program *g, enum chain_order order)
{
	regex_t two, three;
	bool limits = true, ignored = true;
	if (regcomp(&two, "f[34]", REG_EXTENDED) || regcomp(&three, "f[012]", REG_EXTENDED))
		return;
	for (unsigned n = 0; n < 12; n++)
		limits = limits && are_rows_of_samples(p, g,
						       (struct hists_opts){ .order = order,
									    .max_stack = n,
									    .parent = &two });
	CHECK(limits, "a limit of frames: of the others nothing counts but the leaf");
	CHECK(are_rows_of_samples(p, g, (struct hists_opts){ .order = order, .parent = &three }),
	      "the parent is the outermost that matches, or the innermost");
	for (unsigned n = 0; n < 4; n++)
		ignored = ignored &&
			  are_rows_of_samples(
				  p, g,
				  (struct hists_opts){ .order = order,
						       .ignore_callees = n < 2 ? &two : &three,
						       .max_stack = 3 * (n % 2) });
	CHECK(ignored, "callees that are ignored are charged to the outermost that matches");
	CHECK(are_rows_of_samples(
		      p, g,
		      (struct hists_opts){ .order = order, .no_callers = true, .parent = &three }),
	      "without callers a leaf is alone, and has no parent");
	regfree(&two);
	regfree(&three);
}

/* ---- the order of rows ---- */

static int by_parent(const struct hists *h, uint32_t l, uint32_t r)
{
	bool none = hists_value(h, l, HIST_PARENT) == NONE,
	     none_too = hists_value(h, r, HIST_PARENT) == NONE;
	return none || none_too
		       ? none - none_too
		       : strcmp(hists_text(h, l, HIST_PARENT), hists_text(h, r, HIST_PARENT));
}

/* By parent, none last, then by command, then the heaviest first. */
static bool rows_are_in_order(const struct profile *p, struct program *g)
{
	static const enum hist_key keys[] = { HIST_PARENT, HIST_COMM, HIST_SYM };
	static const struct hist_term terms[] = { { .kind = TERM_KEY, .key = HIST_PARENT },
						  { .kind = TERM_KEY, .key = HIST_COMM },
						  { .kind = TERM_SELF } };
	static const uint16_t event = 0;
	regex_t some;
	if (regcomp(&some, "f[34]", REG_EXTENDED))
		return false;
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = keys,
							  .n_keys = ARRAY_LEN(keys),
							  .events = &event,
							  .n_events = 1,
							  .parent = &some });
	uint32_t *rows, with = 0, without = 0;
	bool good = true;
	hists_sort(h, terms, ARRAY_LEN(terms), &rows);
	for (size_t i = 0; i < h->n; i++) {
		*(hists_value(h, rows[i], HIST_PARENT) == NONE ? &without : &with) += 1;
		if (!i)
			continue;
		uint32_t l = rows[i - 1], r = rows[i];
		int order = by_parent(h, l, r);
		order = order ? order
			      : strcmp(hists_text(h, l, HIST_COMM), hists_text(h, r, HIST_COMM));
		good &= order < 0 || (!order && h->self[l].weight >= h->self[r].weight);
	}
	free(rows);
	hists_free(h);
	regfree(&some);
	return good && with && without;
}

/* ---- code of this program ---- */

/* A function that no line is known of. */
extern const char without_line[];
__asm__("	.pushsection .text.without_line, \"ax\", %progbits\n"
	"	.globl without_line\n"
	"	.type without_line, %function\n"
	"without_line:\n"
	"	.zero 16\n"
	"	.size without_line, 16\n"
	"	.popsection\n");

/* Two addresses of a function are two rows by offset, also where lines are not known, and one by
 * function. */
static void test_offsets(void)
{
	static const struct {
		enum hist_key key;
		const char *rows;
	} wanted[] = { { HIST_SYM, "without_line " },
		       { HIST_SYMOFF, "without_line+0x0 without_line+0x3 " },
		       { HIST_SRCLINE, "without_line+0 without_line+3 " } };
	static const uint16_t event = 0;
	uint64_t bias = program_bias();
	struct profile_builder *b = profile_builder_new();
	objid o = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	for (uint64_t i = 0; i < 2; i++) {
		struct frame f = { .object = o, .addr = (uintptr_t)without_line - bias + 3 * i };
		stackid stack = profile_add_stack(b, 0, profile_add_frame(b, f));
		profile_add_sample(b, (struct sample){ .stack = stack, .count = 1, .weight = 5 });
	}
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .no_inlines = true });
	for (size_t k = 0; k < ARRAY_LEN(wanted); k++) {
		struct hists_opts opts = {
			.keys = &wanted[k].key, .n_keys = 1, .events = &event, .n_events = 1
		};
		struct hists *h = hists_new(p, g, &opts);
		char rows[200] = "";
		for (size_t i = 0; i < h->n; i++)
			snprintf(rows + strlen(rows), sizeof(rows) - strlen(rows), "%s ",
				 hists_text(h, i, wanted[k].key));
		OK_STR(rows, wanted[k].rows);
		hists_free(h);
	}
	program_free(g);
	profile_free(p);
}

/* ---- functions that only pass time on ---- */

struct weighed_stack {
	const char *functions; /* a letter each, the outermost first; capitals are code of a library
				  without names; NULL: the end */
	uint64_t weight;
};

static struct profile *profile_of_stacks(const struct weighed_stack *s)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	objid library = profile_add_object_of(b, "/none/lib.so", "", OBJECT_ELF, false);
	for (; s->functions; s++) {
		stackid at = 0;
		for (const char *f = s->functions; *f; f++) {
			struct frame named = { .name = profile_add_string(b, f, 1) };
			struct frame nameless = { .object = library, .addr = (uint64_t)*f };
			bool is_named = *f >= 'a';
			at = profile_add_stack(b, at,
					       profile_add_frame(b, is_named ? named : nameless));
		}
		profile_add_sample(b,
				   (struct sample){ .stack = at, .count = 1, .weight = s->weight });
	}
	profile_add_source(b, "test", (struct source){ .kind = "test" });
	return profile_finish(b);
}

/* "m:b": m only passes time on, in the end to b; by name. */
static const char *targets_of(const struct weighed_stack *s)
{
	static const enum hist_key sym = HIST_SYM;
	static char text[100];
	const uint16_t event = 0;
	struct profile *p = profile_of_stacks(s);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .no_inlines = true });
	struct hists *h = hists_new(p, g,
				    &(struct hists_opts){ .keys = &sym,
							  .n_keys = 1,
							  .events = &event,
							  .n_events = 1,
							  .passing = true });
	text[0] = '\0';
	for (char name = 'a'; name <= 'z'; name++)
		for (size_t i = 0; i < h->n; i++) {
			uint32_t target = hists_target(h, i);
			if (hists_text(h, i, sym)[0] != name || target == NONE)
				continue;
			for (size_t k = 0; k < h->n; k++)
				if (h->rows[k].fkey == target)
					snprintf(text + strlen(text), sizeof(text) - strlen(text),
						 "%c:%s ", name, hists_text(h, k, sym));
		}
	hists_free(h);
	program_free(g);
	profile_free(p);
	return text;
}

#define TARGETS(...) targets_of((const struct weighed_stack[]){ __VA_ARGS__, { NULL, 0 } })

static void test_passing(void)
{
	OK_STR(TARGETS({ "mab", 100 }), "a:b m:b ");
	OK_STR(TARGETS({ "mab", 995 }, { "mac", 5 }), "a:b m:b ");
	OK_STR(TARGETS({ "mab", 99 }, { "ma", 1 }), "a:b m:b ");
	OK_STR(TARGETS({ "mab", 989 }, { "mac", 11 }), "m:a ");
	OK_STR(TARGETS({ "mab", 989 }, { "ma", 11 }), "m:a ");
	/* The one with most is found whatever comes before it. */
	OK_STR(TARGETS({ "mc", 1 }, { "md", 1 }, { "ma", 298 }, { "me", 1 }), "m:a ");
	OK_STR(TARGETS({ "mc", 1 }, { "md", 2 }, { "ma", 296 }, { "me", 1 }), "");
	/* A caller for each time that the function is on a stack: half of them are calls of itself.
	 */
	OK_STR(TARGETS({ "maab", 10 }), "m:a ");
	OK_STR(TARGETS({ "mabab", 10 }), "a:b m:b ");
	/* Each passes on to the other, nearly always: one of them keeps it. */
	OK_STR(TARGETS({ "mabababababababababababababababababababababababababababababababababab"
			 "ababababababababababababababababababababababababababababababababababab"
			 "ababababababababababababababababababababababababababababababababababab",
			 10 }),
	       "b:a m:a ");
	/* Code of a library without names passes time on, to however many. */
	OK_STR(TARGETS({ "mXa", 60 }, { "mXb", 40 }), "m:a ");
	OK_STR(TARGETS({ "mXa", 60 }, { "mX", 40 }), "m:0x0000000000000058 ");
	OK_STR(TARGETS({ "mXYa", 60 }, { "mXYb", 40 }, { "mXb", 1 }), "m:a ");
	/* Of no time nothing is known. */
	OK_STR(TARGETS({ "mab", 10 }, { "mx", 0 }, { "xy", 0 }), "a:b m:b ");
}

/* ---- rows by attributes of samples other than stacks ---- */

static void add_number(struct profile_builder *b, uint32_t i, taskid task)
{
	profile_add_sample(b, (struct sample){ .task = task,
					       .cpu = (uint16_t)(i % 3),
					       .parallelism = (uint16_t)(1 + i % 2),
					       .count = 1,
					       .weight = 1u << i });
}

/* The figures of the row with that value, by its text; 0: there is none. */
static uint64_t self_of(const struct profile *p, struct program *g, enum hist_key key,
			const char *text)
{
	const uint16_t event = 0;
	struct hists *h = hists_new(
		p, g,
		&(struct hists_opts){ .keys = &key, .n_keys = 1, .events = &event, .n_events = 1 });
	uint64_t self = 0;
	for (size_t i = 0; i < h->n; i++)
		self += strcmp(hists_text(h, i, key), text) ? 0 : h->self[i].weight;
	hists_free(h);
	return self;
}

/* Sample i weighs 2^i. */
static void test_sample_keys(void)
{
	static const char *const comms[] = { "w1", "x22y3", "w14", "8" };
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	for (uint32_t i = 0; i < 4; i++)
		add_number(
			b, i,
			profile_add_task(b, (struct task){ .pid = 50 + i / 2,
							   .tid = 50 + i,
							   .run = i / 3,
							   .rank = i % 2,
							   .comm = profile_add_string(
								   b, comms[i],
								   (uint32_t)strlen(comms[i])) }));
	profile_add_source(b, "test", (struct source){ .kind = "test" });
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .no_inlines = true });
	OK(self_of(p, g, HIST_COMM, "w1") == 1 && self_of(p, g, HIST_COMM, "8") == 8);
	OK(self_of(p, g, HIST_COMM_NODIGIT, "w<N>") == 5);
	OK(self_of(p, g, HIST_COMM_NODIGIT, "x<N>y<N>") == 2);
	OK(self_of(p, g, HIST_COMM_NODIGIT, "<N>") == 8);
	OK(self_of(p, g, HIST_CPU, "000") == 9 && self_of(p, g, HIST_CPU, "002") == 4);
	OK(self_of(p, g, HIST_PARALLELISM, "1") == 5 && self_of(p, g, HIST_PARALLELISM, "2") == 10);
	OK(self_of(p, g, HIST_RUN, "1") == 7 && self_of(p, g, HIST_RUN, "2") == 8);
	program_free(g);
	profile_free(p);
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
		CHECK(rows_are_in_order(p, g), "rows are in the order of the terms");
		if (round < 3) {
			test_views(p, g, CHAIN_CALLER);
			test_views(p, g, CHAIN_CALLEE);
		}
		program_free(g);
		profile_free(p);
	}
	test_offsets();
	test_sample_keys();
	test_passing();
	return DONE();
}

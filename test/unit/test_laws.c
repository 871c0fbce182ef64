/* The laws that hold for times and calls of every program and all data, on random ones. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/callgraph.h"
#include "base/err.h"
#include "gnu/rules.h"
#include "input/input.h"
#include "lib/elf_build.h"
#include "lib/random_graph.h"

enum { TEXT = 0x1000, TEXT_SIZE = 0x800, MORE = 0x2000, MORE_SIZE = 0x301, MOST = 40 };

static char folder[] = "/tmp/test_laws.XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[4][64];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", folder, name);
	return path[next];
}

static bool is_close(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}
static bool is_at_most(double a, double b) { return a <= b * (1 + 1e-9) + 1e-12; }

/* ---- random programs ---- */

struct program {
	struct object_file *object;
	struct symbols *symbols, *gnu; /* by our rules, and by GNU's */
	uint64_t *seed;
};

/* Functions, labels and cold pieces in two sections with a gap between them, some at odd
 * addresses. */
static bool write_program(uint64_t *seed)
{
	static const uint8_t code[TEXT_SIZE];
	struct elf_build b = elf_new(64, false, EM_X86_64);
	uint32_t n = 1 + random_below(seed, MOST);

	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, code, TEXT_SIZE);
	elf_section(&b, ".text.more", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, MORE, code,
		    MORE_SIZE);
	for (uint32_t i = 0; i < n; i++) {
		char name[32];
		bool in_more = random_below(seed, 4) == 0;
		uint64_t addr = in_more ? MORE + random_below(seed, MORE_SIZE)
					: TEXT + random_below(seed, TEXT_SIZE);
		bool is_cold = i && random_below(seed, 6) == 0;
		snprintf(name, sizeof(name), "f%u%s", is_cold ? random_below(seed, i) : i,
			 is_cold ? ".cold" : "");
		elf_symbol(&b, name, addr, random_below(seed, 40),
			   is_cold || random_below(seed, 3) == 0 ? STB_LOCAL : STB_GLOBAL,
			   random_below(seed, 5) ? STT_FUNC : STT_NOTYPE, in_more ? 2 : 1);
	}
	elf_symbol(&b, "_start", TEXT + 5, 0, STB_GLOBAL, STT_FUNC, 1);
	return elf_write(&b, in_folder("prog"));
}

static struct symbols *load(struct object_file *object, bool gnu)
{
	struct symbols_opts opts = { .table = { .rules = gnu ? &gnu_symbol_rules : NULL },
				     .rules = gnu ? &gnu_place_rules : NULL };
	struct symbols *s = NULL;
	struct kin_error *err = symbols_new(object, &opts, &s);
	if (err)
		printf("# %s\n", kin_error_message(err));
	kin_error_free(err);
	return s;
}

static bool make_program(uint64_t *seed, struct program *p)
{
	struct kin_error *err = NULL;

	*p = (struct program){ .seed = seed };
	if (!write_program(seed) ||
	    (err = object_open(in_folder("prog"), &(struct object_opts){ 0 }, &p->object))) {
		kin_error_free(err);
		return false;
	}
	p->symbols = load(p->object, false);
	p->gnu = load(p->object, true);
	return p->symbols && p->gnu;
}

static void free_program(struct program *p)
{
	symbols_free(p->symbols);
	symbols_free(p->gnu);
	object_free(p->object);
}

/* ---- random data ---- */

/* Mostly in the program, sometimes where nothing is. */
static uint64_t random_address(const struct program *p)
{
	uint64_t *seed = p->seed;
	if (random_below(seed, 8) == 0)
		return random_below(seed, 0x4000);
	const struct symbol *s = &p->symbols->at[random_below(seed, (uint32_t)p->symbols->n)];
	return s->addr + (s->end > s->addr ? random_below(seed, (uint32_t)(s->end - s->addr)) : 0);
}

/* Bins of any width, odd ones too, which straddle functions and reach beyond the code. */
static struct kin_error *add_histogram(uint64_t *seed, struct profile_builder *b, uint64_t low,
				       uint32_t n, double width, uint64_t *total)
{
	struct hit hits[MOST * 8];
	struct histogram h = { .n = n,
			       .low = low,
			       .high = low + (uint64_t)(n * width),
			       .hits = hits,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = random_below(seed, 3) ? 0 : random_below(seed, 1000);
		if (count)
			hits[h.n_hits++] = (struct hit){ .bin = i, .count = count };
		*total += count;
	}
	return profile_add_histogram(b, h);
}

static struct profile *random_profile(const struct program *p, uint64_t *total)
{
	struct profile_builder *b = profile_builder_new();
	uint64_t *seed = p->seed, low = TEXT - 0x40 + random_below(seed, 0x80);
	uint32_t n = 8 * (1 + random_below(seed, MOST - 1)), m = random_below(seed, 4 * MOST);
	double width = (double)(1 + random_below(seed, 90)) / 8 + 0.5;
	struct kin_error *err = add_histogram(seed, b, low, n, width, total);

	kin_error_free(err);
	if (random_below(seed, 2)) /* another one of the same shape, behind it */
		kin_error_free(
			add_histogram(seed, b, low + (uint64_t)(n * width) + 3, n, width, total));
	for (uint32_t i = 0; i < m; i++) {
		struct arc arc = { .from = random_address(p),
				   .to = random_address(p),
				   .count = random_below(seed, 50) };
		profile_add_arc(b, arc);
	}
	return profile_finish(b);
}

static struct selection random_selection_of(const struct program *p, const struct symbols *s,
					    const enum sel *tables, uint32_t n_tables)
{
	struct selection sel;

	selection_init(&sel, s->n);
	for (uint32_t i = random_below(p->seed, 6); i > 0; i--)
		selection_add(&sel, tables[random_below(p->seed, n_tables)],
			      random_below(p->seed, (uint32_t)s->n));
	return sel;
}

static struct selection random_selection(const struct program *p, const struct symbols *s)
{
	static const enum sel tables[] = { SEL_INCL_GRAPH, SEL_EXCL_GRAPH, SEL_INCL_TIME,
					   SEL_EXCL_TIME };
	return random_selection_of(p, s, tables, ARRAY_LEN(tables));
}

/* ---- the laws ---- */

struct broken { /* how often each of them was */
	int self_total, flat_total, inclusive, callers, callees, negative, shown, unfinished;
	size_t n_cycles, n_cut, n_outside, n_straddled, n_left_out;
};

static double inclusive(const struct cg_node *n) { return n->self + n->child; }

static void check_self(const struct callgraph *g, double total, struct broken *b)
{
	double self = 0;
	for (size_t i = 0; i < g->n_symbols; i++)
		self += g->nodes[i].self;
	b->self_total += !is_close(g->total, total) || !is_close(self + g->outside, total);
	b->n_outside += g->outside > 0 && self > 0;
	for (size_t i = 0; i < g->n_symbols; i++)
		b->n_straddled += g->nodes[i].self != (double)(uint64_t)g->nodes[i].self;
}

static void check_inclusive(const struct callgraph *g, double total, struct broken *b)
{
	for (size_t i = 0; i < g->n_symbols; i++)
		if (!g->nodes[i].cycle)
			b->inclusive += !is_at_most(inclusive(&g->nodes[i]), total);
}

static double from_callers(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	struct cg_listed *list = xalloc((n->n_in + 1) * sizeof(*list));
	double sum = 0;

	callgraph_list_callers(g, id, list);
	for (uint32_t k = 0; k < n->n_in; k++)
		sum += list[k].time.self + list[k].time.child;
	free(list);
	return sum;
}

static double from_callees(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	struct cg_listed *list = xalloc((n->n_out + 1) * sizeof(*list));
	double sum = 0;

	callgraph_list_callees(g, id, list);
	for (uint32_t k = 0; k < n->n_out; k++)
		sum += list[k].time.self + list[k].time.child;
	free(list);
	return sum;
}

/* The time of a function or a cycle that was called is divided completely among its callers and
 * the unknown caller; its time from callees is the sum of the callees' parts. */
static void check_arcs_of(const struct callgraph *g, const struct cg_node *n, const symid *members,
			  size_t n_members, struct broken *b)
{
	double in = 0, out = 0;

	for (size_t i = 0; i < n_members; i++) {
		in += from_callers(g, members[i]);
		out += from_callees(g, members[i]);
	}
	b->callees += !is_close(out, n->child);
	if (!n->sharing_calls) {
		b->callers += in != 0;
		return;
	}
	double spontaneous = (double)n->outside_calls / (double)n->sharing_calls;
	b->callers += !is_close(in + spontaneous * inclusive(n), inclusive(n));
}

static void check_arcs(const struct callgraph *g, struct broken *b)
{
	for (symid i = 0; i < g->n_symbols; i++)
		if (!g->nodes[i].cycle)
			check_arcs_of(g, &g->nodes[i], &i, 1, b);
	for (size_t c = 0; c < g->n_cycles; c++) {
		const struct cg_node *n = &g->nodes[g->n_symbols + c];
		check_arcs_of(g, n, &g->members[n->first_out], n->n_members, b);
	}
}

static bool is_sane(double v) { return v >= 0 && v < 1e300; } /* and no NaN */

static void check_shown(const struct callgraph *g, struct broken *b)
{
	for (size_t i = 0; i < g->n_symbols + g->n_cycles; i++) {
		const struct cg_node *n = &g->nodes[i];
		b->negative += !is_sane(n->self) || !is_sane(n->child) ||
			       !is_sane(callgraph_shown_self(n)) || !is_sane(n->shown_child) ||
			       !is_sane(n->fraction) || !is_at_most(n->fraction, 1);
	}
	for (size_t i = 0; i < g->n_arcs; i++) {
		struct cg_time t = callgraph_arc_time(g, (arcid)i, &g->arcs[i]);
		b->negative += !is_sane(t.self) || !is_sane(t.child);
	}
	b->shown += !is_sane(g->shown_total) || !is_at_most(g->shown_total, g->total);
}

static void check_program(const struct program *p, const struct profile *profile, double total,
			  struct broken *b)
{
	struct callgraph_opts opts = { .break_cycles = random_below(p->seed, 2),
				       .max_cycle = random_below(p->seed, 5) };
	struct callgraph *g = callgraph_new(profile, p->symbols, &opts);

	check_self(g, total, b);
	check_inclusive(g, total, b);
	check_arcs(g, b);
	check_shown(g, b);
	b->n_cycles += g->n_cycles;
	b->n_cut += g->n_cut;
	callgraph_free(g);
}

static void check_selected(const struct program *p, const struct profile *profile, double total,
			   struct broken *b)
{
	struct selection sel = random_selection(p, p->symbols);
	struct callgraph_opts opts = { .selection = &sel };
	struct callgraph *g = callgraph_new(profile, p->symbols, &opts);

	check_self(g, total, b);
	check_shown(g, b);
	callgraph_free(g);
	selection_done(&sel);
}

/* The total of a flat profile is the sum of the functions in it, whose own times do not change. */
static void check_flat(const struct program *p, const struct profile *profile, double total,
		       struct broken *b)
{
	static const enum sel tables[] = { SEL_INCL_FLAT, SEL_EXCL_FLAT };
	struct selection sel = random_selection_of(p, p->symbols, tables, ARRAY_LEN(tables));
	struct callgraph_opts opts = { .selection = &sel, .flat_only = true };
	struct callgraph *g = callgraph_new(profile, p->symbols, &opts);
	double self = 0, wanted = 0;

	for (symid i = 0; i < g->n_symbols; i++) {
		self += g->nodes[i].self;
		wanted += selection_wants(&sel, SEL_INCL_FLAT, i) ? g->nodes[i].self : 0;
	}
	b->flat_total += !is_close(self + g->outside, total);
	b->flat_total += !is_close(wanted + g->outside, g->total);
	b->n_left_out += wanted < self;
	callgraph_free(g);
	selection_done(&sel);
}

/* GNU's arithmetic keeps no law but this: it comes to an end, with every entry numbered. */
static void check_gnu(const struct program *p, const struct profile *profile, struct broken *b)
{
	struct selection sel = random_selection(p, p->gnu);
	struct callgraph_opts opts = { .rules = &gnu_callgraph_rules,
				       .static_calls = true,
				       .selection = &sel };
	struct callgraph *g = callgraph_new(profile, p->gnu, &opts);

	for (size_t i = 0; i < g->n_symbols + g->n_cycles; i++)
		b->unfinished += g->nodes[g->order[i]].index != i + 1;
	callgraph_free(g);
	selection_done(&sel);
}

static void test_laws(void)
{
	uint64_t seed = 4;
	struct broken b = { 0 };
	int made = 0;

	for (int i = 0; i < 400; i++) {
		struct program p;
		if (make_program(&seed, &p)) {
			made++;
			for (int k = 0; k < 5; k++) {
				uint64_t total = 0;
				struct profile *profile = random_profile(&p, &total);
				check_program(&p, profile, (double)total, &b);
				check_selected(&p, profile, (double)total, &b);
				check_flat(&p, profile, (double)total, &b);
				check_gnu(&p, profile, &b);
				profile_free(profile);
			}
		}
		free_program(&p);
	}
	printf("# %zu cycles, %zu arcs cut, %zu times with ticks outside, %zu functions with "
	       "part of a tick\n",
	       b.n_cycles, b.n_cut, b.n_outside, b.n_straddled);
	OK(made == 400);
	OK(b.n_cycles > 500 && b.n_cut > 500 && b.n_outside > 500 && b.n_straddled > 500);
	OK(b.self_total == 0);
	OK(b.flat_total == 0 && b.n_left_out > 500);
	OK(b.inclusive == 0);
	OK(b.callers == 0);
	OK(b.callees == 0);
	OK(b.negative == 0);
	OK(b.shown == 0);
	OK(b.unfinished == 0);
}

/* ---- sums of files ---- */

static bool is_same_file(const char *a, const char *b)
{
	FILE *left = fopen(a, "rb"), *right = fopen(b, "rb");
	bool same = left && right;
	for (int c = 0; same && c != EOF;) {
		c = getc(left);
		same = c == getc(right);
	}
	if (left)
		fclose(left);
	if (right)
		fclose(right);
	return same;
}

/* Reads n files and writes their canonical sum. */
static bool sum_up(const char *const *paths, size_t n, const char *to)
{
	struct input_target target = { .is_64bit = true };
	struct input_opts opts = { .target = target };
	struct profile *p, *canonical = NULL;
	struct kin_error *err = input_read(paths, n, &opts, &p);

	if (!err) {
		canonical = profile_canonical(p, NULL, NULL);
		err = gmon_write(to, canonical, &target);
	}
	if (err)
		printf("# %s\n", kin_error_message(err));
	bool ok = !err;
	kin_error_free(err);
	profile_free(canonical);
	profile_free(p);
	return ok;
}

static bool write_run(const struct program *p, const char *path, uint32_t n, uint64_t low)
{
	struct profile_builder *b = profile_builder_new();
	struct input_target target = { .is_64bit = true };
	uint64_t total = 0;
	struct kin_error *err = add_histogram(p->seed, b, low, n, 4, &total);

	for (uint32_t i = random_below(p->seed, 60); !err && i > 0; i--)
		profile_add_arc(b,
				(struct arc){ .from = TEXT + random_below(p->seed, 8),
					      .to = TEXT + random_below(p->seed, 8),
					      .count = random_below(p->seed, 2) ? 3 : 4000000000 });
	struct profile *profile = profile_finish(b);
	if (!err)
		err = gmon_write(path, profile, &target);
	profile_free(profile);
	bool ok = !err;
	kin_error_free(err);
	return ok;
}

/* (1 + 2) + 3, 1 + (2 + 3) and 3 + 1 + 2 are the same bytes. */
static bool sums_agree(void)
{
	const char *const names[] = { "r1", "r2", "r3", "left", "right", "a", "b", "c" };
	char path[ARRAY_LEN(names)][64];
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, names[i]);

	const char *first[] = { path[0], path[1] }, *last[] = { path[1], path[2] };
	const char *left[] = { path[3], path[2] }, *right[] = { path[0], path[4] };
	const char *other[] = { path[2], path[0], path[1] };
	bool ok = sum_up(first, 2, path[3]) && sum_up(last, 2, path[4]);
	ok = ok && sum_up(left, 2, path[5]) && sum_up(right, 2, path[6]) &&
	     sum_up(other, 3, path[7]);
	return ok && is_same_file(path[5], path[6]) && is_same_file(path[5], path[7]);
}

static void test_sums(void)
{
	uint64_t seed = 5;
	struct program p = { .seed = &seed };
	int disagree = 0, unwritten = 0;

	for (int i = 0; i < 60; i++) {
		uint32_t n = 1 + random_below(&seed, 60);
		for (int k = 1; k <= 3; k++) {
			char name[8];
			snprintf(name, sizeof(name), "r%d", k);
			/* the same range, or one that lies apart */
			uint64_t low = random_below(&seed, 3) ? TEXT : TEXT + 0x100 * (uint64_t)k;
			unwritten += !write_run(&p, in_folder(name), n, low);
		}
		disagree += !sums_agree();
	}
	OK(unwritten == 0);
	OK(disagree == 0);
}

static void clean_up(void)
{
	static const char *const names[] = { "prog",  "r1", "r2", "r3", "left",
					     "right", "a",  "b",  "c" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unlink(in_folder(names[i]));
	rmdir(folder);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_laws();
	test_sums();
	clean_up();
	return DONE();
}

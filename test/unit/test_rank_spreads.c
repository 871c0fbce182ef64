/* test_rank_spreads.c - differences between ranks, on random stacks, compared with a pass over
 * single samples. */
#include "tap.h"

#include <stdlib.h>

#include "analysis/rank_spreads.h"
#include "lib/program_bias.h"

enum { RANKS = 5, NAMES = 7, DEPTH = 6, SAMPLES = 150, EVENTS = 2, ROUNDS = 60 };
enum { NOTHING = NAMES }; /* instead of a function: the whole rank; no caller */

static const char *const names[NAMES] = { "main",      "solve",        "swap",    "MPI_Send",
					  "PMPI_Wait", "mpi_barrier_", "mpi_like" };
static const bool is_mpi[NAMES] = { [3] = true, [4] = true, [5] = true };

struct truth {
	uint64_t of[EVENTS][N_SPREAD_KINDS][NAMES + 1][NAMES + 1][RANKS]; /* from, to */
};

static void add(struct truth *t, unsigned event, enum spread_kind kind, int from, int to, int rank,
		uint64_t weight)
{
	t->of[event][kind][from][to][rank] += weight;
}

/* A function, and a call, count once for each sample. */
static void add_sample(struct truth *t, unsigned event, int rank, const int *path, int n,
		       uint64_t w)
{
	bool met[NAMES] = { false }, called[NAMES][NAMES] = { { false } }, mpi = false;
	for (int i = 0; i < n; i++) {
		mpi |= is_mpi[path[i]];
		if (!met[path[i]])
			add(t, event, SPREAD_INCLUSIVE, NOTHING, path[i], rank, w);
		met[path[i]] = true;
		if (!i)
			continue;
		if (!called[path[i - 1]][path[i]])
			add(t, event, SPREAD_ARC, path[i - 1], path[i], rank, w);
		called[path[i - 1]][path[i]] = true;
	}
	add(t, event, SPREAD_ALL, NOTHING, NOTHING, rank, w);
	add(t, event, mpi ? SPREAD_MPI : SPREAD_WORK, NOTHING, NOTHING, rank, w);
	if (n)
		add(t, event, SPREAD_SELF, NOTHING, path[n - 1], rank, w);
	if (n && !mpi)
		add(t, event, SPREAD_OWN_WORK, NOTHING, path[n - 1], rank, w);
}

static stackid push_path(struct profile_builder *b, const int *path, int n)
{
	stackid s = 0;
	for (int i = 0; i < n; i++) {
		const char *name = names[path[i]];
		struct frame f = { .name = profile_add_string(b, name, strlen(name)),
				   .flags = FRAME_RETURN };
		s = profile_add_stack(b, s, profile_add_frame(b, f));
	}
	return s;
}

/* The last rank has a thread and no samples; some samples have no rank. */
static struct profile *random_profile(struct truth *t)
{
	struct profile_builder *b = profile_builder_new();
	taskid tasks[RANKS + 1];
	for (uint32_t i = 0; i <= RANKS; i++)
		tasks[i] = profile_add_task(
			b, (struct task){ .pid = 100 + i, .tid = 100 + i, .rank = i });
	profile_add_event(
		b, (struct event){ .name = profile_add_string(b, "clock", 5), .unit = EVENT_NS });
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "faults", 6) });
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < SAMPLES; i++) {
		int path[DEPTH], n = rand() % (DEPTH + 1), rank = rand() % RANKS;
		for (int k = 0; k < n; k++)
			path[k] = rand() % NAMES;
		struct sample s = { .task = tasks[rank],
				    .stack = push_path(b, path, n),
				    .event = (uint16_t)(rand() % EVENTS),
				    .count = 1,
				    .weight = (uint64_t)rand() % 100000 };
		profile_add_sample(b, s);
		if (rank)
			add_sample(t, s.event, rank - 1, path, n, s.weight);
	}
	return profile_finish(b);
}

static int number_of(const struct spread_set *s, const struct spread_function *f)
{
	for (int i = 0; f->name && i < NAMES; i++)
		if (!strcmp(strtab_get(s->strings, f->name), names[i]))
			return i;
	return NOTHING;
}

static bool is_right(const struct spread *x, const uint64_t of[RANKS])
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0;
	uint32_t min_rank = 0, max_rank = 0, n = 0;
	for (uint32_t i = 0; i < RANKS; i++) {
		sum += of[i];
		n += of[i] > 0;
		min_rank = of[i] < min ? i : min_rank;
		min = of[i] < min ? of[i] : min;
		max_rank = of[i] > max ? i : max_rank;
		max = of[i] > max ? of[i] : max;
	}
	return x->sum == sum && x->min == min && x->max == max && x->n == n &&
	       x->min_rank == min_rank && x->max_rank == max_rank;
}

static size_t count_expected(const struct truth *t)
{
	const uint64_t *at = &t->of[0][0][0][0][0];
	size_t n = 0;
	for (size_t i = 0; i < sizeof(t->of) / sizeof(*at); i += RANKS) {
		bool any = false;
		for (size_t k = 0; k < RANKS; k++)
			any |= at[i + k] > 0;
		n += any;
	}
	return n;
}

static void test_random_stacks(void)
{
	static struct truth t;
	size_t wrong = 0, rows = 0, wanted = 0, ranks = 0;
	for (int round = 0; round < ROUNDS; round++) {
		srand((unsigned)round);
		struct profile *p = random_profile(&t);
		struct program *g =
			program_new(p, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
		struct spread_set *s = rank_spreads_new(p, g);
		for (size_t i = 0; i < s->rows.n; i++) {
			const struct spread_row *r = &s->rows.at[i];
			bool clock = !strcmp(strtab_get(s->strings, r->event), "clock");
			int from = number_of(s, &r->from), to = number_of(s, &r->to);
			wrong += r->unit != (clock ? EVENT_NS : EVENT_COUNT) ||
				 !is_right(&r->of, t.of[!clock][r->kind][from][to]) ||
				 r->from.addr || r->to.addr;
		}
		rows += s->rows.n;
		wanted += count_expected(&t);
		ranks += spread_set_count(s) != RANKS || s->twice;
		spread_set_free(s);
		program_free(g);
		profile_free(p);
	}
	OK(!wrong);
	OK(rows == wanted && rows > ROUNDS * 50);
	OK(!ranks); /* all are known, with samples or without */
}

static void test_no_ranks(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "clock", 5) });
	profile_add_sample(b, (struct sample){ .count = 1, .weight = 5 });
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
	struct spread_set *s = rank_spreads_new(p, g);
	OK(!s->rows.n && !spread_set_count(s));
	spread_set_free(s);
	program_free(g);
	profile_free(p);
}

/* Summed files of ranks: their spreads are joined, and refer to the objects of the sum. */
static void test_merging(void)
{
	struct profile_builder *b[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct spread_set *s = spread_set_new();
		b[i] = profile_builder_new();
		profile_add_object(b[i], i ? "/other" : "/prog", "");
		objid prog = profile_add_object(b[i], "/prog", "");
		spread_set_add_ranks(s, (struct rank_range){ i, i });
		struct spread_row row = {
			.kind = SPREAD_SELF,
			.of = spread_of(i, 5 + i),
			.to = { .name = spread_set_string(s, "f"), .object = prog, .addr = 16 }
		};
		spread_set_add(s, &row);
		profile_add_spreads(b[i], s);
		profile_add_source(b[i], "x", (struct source){ .kind = "test" });
	}
	OK(!profile_builder_merge(b[0], b[1]));
	struct profile *p = profile_finish(b[0]);
	const struct spread_set *s = p->spreads;
	OK(s && s->rows.n == 1 && spread_set_count(s) == 2 && !s->twice);
	OK(s && s->rows.at[0].of.sum == 11 && s->rows.at[0].of.min == 5 && s->rows.at[0].of.n == 2);
	OK(s && !strcmp(strtab_get(p->strings, p->objects[s->rows.at[0].to.object].path), "/prog"));
	profile_free(p);
}

/* A rank that occurs twice is noted, the lowest of several; also if only one part noted it. */
static void test_twice(void)
{
	struct spread_set *s[3];
	for (uint32_t i = 0; i < 3; i++) {
		s[i] = spread_set_new();
		spread_set_add_ranks(s[i], (struct rank_range){ 4 - i, 4 - i });
		if (i) /* 3 of the second, 2 of the third */
			spread_set_add_ranks(s[i], (struct rank_range){ 4 - i, 4 - i });
	}
	OK(!s[0]->twice && s[1]->twice == 3 + 1 && s[2]->twice == 2 + 1);
	spread_set_join(s[0], s[1], NULL);
	OK(s[0]->twice == 3 + 1);
	spread_set_join(s[0], s[2], NULL);
	OK(s[0]->twice == 2 + 1);
	struct spread_set *clean = spread_set_new();
	spread_set_join(s[0], clean, NULL);
	OK(s[0]->twice == 2 + 1);
	spread_set_join(s[2], s[1], NULL);
	OK(s[2]->twice == 2 + 1);
	spread_set_free(clean);
	for (size_t i = 0; i < 3; i++)
		spread_set_free(s[i]);
}

static void test_names(void)
{
	static const char *const yes[] = { "MPI_Send", "PMPI_Send", "mpi_send_", "pmpi_send_",
					   "mpi_x_" };
	static const char *const no[] = { "",      "P",    "pMPI_Send",   "Pmpi_send_", "mpi_send",
					  "mpi__", "MPIX", "my_MPI_Send", "xmpi_send_" };
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		OK(rank_spreads_is_mpi(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		OK(!rank_spreads_is_mpi(no[i]));
}

static uint64_t calls_of(const struct spread_set *s, enum spread_kind kind, const char *from,
			 const char *to)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct spread_row *r = &s->rows.at[i];
		const char *caller = r->from.name ? strtab_get(s->strings, r->from.name) : "";
		if (r->kind == kind && !r->event && !strcmp(caller, from) &&
		    !strcmp(strtab_get(s->strings, r->to.name), to))
			sum += r->of.sum;
	}
	return sum;
}

/* Counted calls between functions of this program: calls of ranks count, also those by unknown
 * callers. They have no event. */
static void test_calls(bool lines)
{
	uint64_t bias = program_bias();
	uint64_t from = (uintptr_t)test_no_ranks - bias + 40, to = (uintptr_t)test_merging - bias;
	struct profile_builder *b = profile_builder_new();
	objid o = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "clock", 5) });
	struct frame caller = { .object = o, .addr = from }, callee = { .object = o, .addr = to };
	struct sample seen = { .count = 1,
			       .weight = 5 }; /* of no rank: the functions have places */
	seen.stack = profile_add_stack(b, 0, profile_add_frame(b, caller));
	seen.stack = profile_add_stack(b, seen.stack, profile_add_frame(b, callee));
	profile_add_sample(b, seen);
	for (uint32_t rank = 0; rank < 3; rank++) {
		taskid task = profile_add_task(
			b, (struct task){ .pid = 9 + rank, .tid = 9 + rank, .rank = rank });
		struct task_arc arc = { .task = task,
					.from_object = o,
					.to_object = o,
					.from = from,
					.to = to,
					.count = 10 + rank };
		profile_add_task_arc(b, arc);
		arc.from = UINT64_MAX;
		arc.count = 100;
		profile_add_task_arc(b, arc);
		arc.to = UINT64_MAX;
		profile_add_task_arc(b, arc);
	}
	struct profile *p = profile_finish(b);
	struct program *g = program_new(
		p, NULL, &(struct program_opts){ .style = DEMANGLE_NONE, .lines = lines });
	struct spread_set *s = rank_spreads_new(p, g);
	OK(calls_of(s, SPREAD_CALLS, "", "test_merging") == 11 + 12 + 200);
	OK(calls_of(s, SPREAD_ARC_CALLS, "test_no_ranks", "test_merging") == 11 + 12);
	OK(s->rows.n == 2);
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct spread_row *r = &s->rows.at[i];
		OK(r->to.addr == to && (!r->from.name || r->from.addr == from - 40));
	}
	spread_set_free(s);
	program_free(g);
	profile_free(p);
}

/* Sums that are too large stay at the largest number; less than half a unit is none. */
static void test_large(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "clock", 5) });
	for (uint32_t i = 0; i < 3; i++) {
		taskid task =
			profile_add_task(b, (struct task){ .pid = i, .tid = i, .rank = 1 + i });
		profile_add_sample(
			b, (struct sample){ .task = task,
					    .count = 1,
					    .weight = i ? i == 1 ? UINT64_MAX - 1 : 1 : 0 });
	}
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
	struct spread_set *s = rank_spreads_new(p, g);
	size_t found = 0;
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct spread_row *r = &s->rows.at[i];
		if (r->kind != SPREAD_ALL)
			continue;
		found++;
		OK(r->of.max == UINT64_MAX && r->of.max_rank == 1 && r->of.n == 2);
	}
	OK(found == 1);
	spread_set_free(s);
	program_free(g);
	profile_free(p);
}

/* The spreads of a sum are joined with those measured for other ranks. */
static void test_sums_and_ranks(void)
{
	struct profile_builder *b = profile_builder_new();
	struct spread_set *sum = spread_set_new();
	spread_set_add_ranks(sum, (struct rank_range){ 0, 1 });
	struct spread_row row = { .kind = SPREAD_ALL,
				  .event = spread_set_string(sum, "clock"),
				  .of = spread_of(1, 70) };
	spread_set_add(sum, &row);
	profile_add_spreads(b, sum);
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "clock", 5) });
	taskid task = profile_add_task(b, (struct task){ .pid = 3, .tid = 3, .rank = 3 });
	profile_add_sample(b, (struct sample){ .task = task, .count = 1, .weight = 5 });
	profile_add_source(b, "x", (struct source){ .kind = "test" });
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
	struct spread_set *s = rank_spreads_new(p, g);
	OK(spread_set_count(s) == 3 && !s->twice);
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.at[i].kind == SPREAD_ALL)
			OK(s->rows.at[i].of.sum == 75 && s->rows.at[i].of.max_rank == 1);
	spread_set_free(s);
	program_free(g);
	profile_free(p);
}

int main(void)
{
	test_random_stacks();
	test_no_ranks();
	test_merging();
	test_twice();
	test_names();
	test_calls(false);
	test_calls(true);
	test_large();
	test_sums_and_ranks();
	return DONE();
}

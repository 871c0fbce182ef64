/* What kin_table_rewind() and table_rewind_extremes() show of a call graph has the same extremes:
 * for counted calls (argv[1] is a folder of folders with prog and gmon.out), and for random graphs
 * that were sampled, or measured call by call. */
#include "tap.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "kin/kin.h"
#include "lib/random_graph.h"
#include "table/table_build.h"

enum { MOST_COLUMNS = 16, DEPTHS = 2 };

struct extremes { /* of a column, from its cells as a text page prints them */
	double low, high;
	size_t digits;         /* of 3/7 and 3+7 */
	size_t length[DEPTHS]; /* of texts, by depth */
	bool any[DEPTHS];
};

static size_t digits_of(uint64_t v) { return (size_t)snprintf(NULL, 0, "%" PRIu64, v); }

static void stretch(struct extremes *e, double v)
{
	e->low = v < e->low ? v : e->low;
	e->high = v > e->high ? v : e->high;
}

static void take(struct extremes *e, const struct kin_cell *c, uint32_t depth)
{
	size_t n;

	e->any[depth] |= c->type == KIN_CELL_TEXT;
	switch (c->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_COUNT:
	case KIN_CELL_ADDRESS:
		stretch(e, (double)c->count);
		break;
	case KIN_CELL_TIME:
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		stretch(e, c->number);
		break;
	case KIN_CELL_TEXT:
		e->length[depth] = c->length > e->length[depth] ? c->length : e->length[depth];
		break;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		n = digits_of(c->pair.a) + digits_of(c->pair.b);
		e->digits = n > e->digits ? n : e->digits;
		break;
	}
}

static size_t take_rows(struct kin_table *t, struct extremes ret[MOST_COLUMNS])
{
	struct kin_row row;
	size_t n;

	for (size_t i = 0; i < kin_table_n_columns(t); i++)
		ret[i] = (struct extremes){ .low = INFINITY, .high = -INFINITY };
	for (n = 0; table_next(t, &row); n++)
		for (size_t i = 0; i < kin_table_n_columns(t); i++)
			take(&ret[i], &row.cells[i], row.depth);
	return n;
}

static bool is_same(const struct extremes *a, const struct extremes *b)
{
	bool same = a->low == b->low && a->high == b->high && a->digits == b->digits;
	for (size_t i = 0; i < DEPTHS; i++)
		same &= a->length[i] == b->length[i] && a->any[i] == b->any[i];
	return same;
}

/* Whether rows were left out. */
static bool check(const char *program, const char *data, const struct kin_report_opts *opts)
{
	struct kin_open_opts open = { .size = sizeof(open), .executable = program };
	struct extremes all[MOST_COLUMNS], fewer[MOST_COLUMNS];
	struct kin_profile *p = NULL;
	struct kin_table *t = NULL;

	if (!OK(!kin_profile_open(&data, 1, &open, &p) && !kin_report(p, "graph", opts, &t)))
		return false;
	kin_table_rewind(t);
	size_t n = take_rows(t, all);
	table_rewind_extremes(t);
	size_t n_fewer = take_rows(t, fewer);
	bool same = true;
	for (size_t i = 0; i < kin_table_n_columns(t); i++)
		if (!is_same(&all[i], &fewer[i])) {
			printf("# %s: column %s\n", data, kin_table_column(t, i)->key);
			same = false;
		}
	OK(same);
	kin_table_free(t);
	kin_profile_free(p);
	return n_fewer < n;
}

/* ---- data ---- */

static const char *const names[] = {
	"a", "bb", "ccc", "dddd", "eeeee", "f", "gg", "hhhhhhhhhhhhhh"
};

static void write_folded(FILE *f, uint64_t *seed)
{
	uint32_t n_names = 1 + random_below(seed, ARRAY_LEN(names));
	for (uint32_t n = 3 + random_below(seed, 20); n; n--) {
		uint32_t depth = 1 + random_below(seed, 8);
		for (uint32_t i = 0; i < depth; i++)
			fprintf(f, "%s%s", i ? ";" : "", names[random_below(seed, n_names)]);
		fprintf(f, " %u\n", 1 + random_below(seed, random_below(seed, 2) ? 9 : 100000));
	}
}

static void write_callgrind(FILE *f, uint64_t *seed)
{
	uint32_t n_names = 1 + random_below(seed, ARRAY_LEN(names));
	fprintf(f, "events: Ir\n");
	for (uint32_t i = 0; i < n_names; i++) {
		fprintf(f, "\nfn=%s\n1 %u\n", names[i], 1 + random_below(seed, 1000));
		for (uint32_t n = random_below(seed, 4); n; n--)
			fprintf(f, "cfn=%s\ncalls=%u 1\n1 %u\n", names[random_below(seed, n_names)],
				1 + random_below(seed, 1000), random_below(seed, 100000));
	}
}

static bool check_random(void (*write)(FILE *f, uint64_t *seed), uint64_t seed)
{
	char path[] = "/tmp/test_extremes.XXXXXX";
	struct kin_report_opts opts = { .size = sizeof(opts),
					.min_share = random_below(&seed, 2)
							     ? 0
							     : random_below(&seed, 40) / 100. };
	FILE *f = fdopen(mkstemp(path), "w");

	write(f, &seed);
	OK(fclose(f) == 0);
	bool ret = check(NULL, path, &opts);
	unlink(path);
	return ret;
}

int main(int argc, char **argv)
{
	enum { ROUNDS = 300 };
	struct kin_report_opts usual = { .size = sizeof(usual) }, large = usual;
	bool sampled = false, measured = false, counted = false;
	char pattern[4096];
	glob_t found = { 0 };

	large.min_share = 0.1;
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		sampled |= check_random(write_folded, seed);
		measured |= check_random(write_callgrind, seed);
	}
	snprintf(pattern, sizeof(pattern), "%s/*/gmon.out", argc > 1 ? argv[1] : ".");
	OK(glob(pattern, 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *program =
			xprintf("%.*sprog", (int)(strlen(found.gl_pathv[i]) - strlen("gmon.out")),
				found.gl_pathv[i]);
		if (access(program, R_OK) == 0) {
			counted |= check(program, found.gl_pathv[i], &usual);
			counted |= check(program, found.gl_pathv[i], &large);
		}
		free(program);
	}
	globfree(&found);
	OK(sampled && measured && counted); /* there were tables with fewer rows */
	return DONE();
}

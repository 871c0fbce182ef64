/* cmd_check.c - fails if a program has become slower than allowed. Counts are exact; times are
 * statistical. */
#include <float.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/people_name.h"
#include "base/search.h"
#include "cli/arg.h"
#include "cli/check_findings.h"
#include "cli/command.h"
#include "cli/fetching.h"
#include "cli/message.h"
#include "cli/run.h"
#include "cli/turns.h"
#include "kin/table.h"
#include "record/runtime_file.h"

static const char *const description[] = {
	"Compares FILE (default: profile.kin) with BASELINE, or records COMMAND and compares "
	"that, and exits with status 1 if it has become slower. Both may be directories of "
	"recordings, such as those of kin compare -o. COMMAND is run under kin run if BASELINE "
	"has counted calls, else under kin record; each run must end with the same status, that "
	"of BASELINE if it is known.",
	"Counted calls are the same in each run: a function fails if it is called more often, "
	"by itself, too, than --calls allows. A gmon.out of the C library lacks calls from outside "
	"the program, such as those of main and of functions that qsort calls; with one, they are "
	"left out on both sides. Times differ by chance: a function, or the total, fails if the "
	"lower end of its interval, corrected for the number of functions, exceeds what --time "
	"allows. That needs repetitions on both sides; without them time is not checked, and a "
	"line says so.",
	"With --findings, what stands out in the newer data (kin findings) fails, too, if it is of "
	"one of these kinds; so it does of a single FILE, without a baseline. Too few samples to "
	"tell are a failure.",
	"Data that allows no check is a failure, too: no samples and no counts, no function on "
	"both sides, none that --functions selects, data of another program or build than names "
	"come from, or no repetitions although --time was given.",
	NULL,
};

static const char exit_status[] =
	"0 if nothing is slower than it may be, 1 if something is, or stands out, 2 if the command "
	"line is "
	"wrong, 3 if there is no data, or data of something else, if it could not be read or is in "
	"doubt with --strict, or if a run failed or ended otherwise than the others.";

static const struct example examples[] = {
	{ "kin check base.kin -- ./prog input", "run it, and hold it against a recording" },
	{ "kin check base.kin new.kin --time=off", "counted calls alone" },
	{ "kin check runs/before runs/after --time=3%", "what kin compare -o runs recorded" },
	{ "kin check new.kin --findings=allocator,locks", "fail if that is much of the time" },
	{ "kin check base.kin new.kin --functions='parse_*' --format=github", "in a workflow" },
	{ 0 },
};

enum { OPT_TIME_LIMIT = OPT_OWN, OPT_CALLS_LIMIT, OPT_FUNCTIONS, OPT_FINDINGS, OPT_RUNS, OPT_AS };

static const struct opt_group check_options = {
	"What fails",
	(const struct opt[]){
		{ OPT_TIME_LIMIT, 0, "time", "PERCENT",
		  "times may grow by this, 5% if not given; off: they are not checked" },
		{ OPT_CALLS_LIMIT, 0, "calls", "PERCENT",
		  "numbers of calls may grow by this, 0% if not given; off: they are not checked" },
		{ OPT_FUNCTIONS, 0, "functions", "GLOB",
		  "only functions of such names, 'parse_*', and not the total; repeatable" },
		{ OPT_FINDINGS, 0, "findings", "KINDS",
		  "what kin findings says of these kinds, separated by commas; all: of any",
		  "all " KIN_FINDING_KINDS, .more = true },
		{ 0 },
	},
};

static const struct opt_group run_options = {
	"Runs",
	(const struct opt[]){
		{ OPT_RUNS, 'r', "repeat", "N", "runs of COMMAND, 10 if not given" },
		{ 0 },
	},
};

static const struct opt_group result_options = {
	"Output",
	(const struct opt[]){
		{ OPT_AS, 'f', "format", "FORMAT",
		  "text (the default: FILE:LINE: what, as editors read it), json, github (commands "
		  "of a workflow), gitlab (a report of code quality), or junit",
		  "text json github gitlab junit" },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&check_options, &run_options,    &input_options,   &names_options, &inline_options,
	&own_options,   &result_options, &general_options, NULL,
};

/* ---- the command line ---- */

/* Whether one of the list's words, which blanks or commas separate, is that of `n` bytes. */
static bool is_word_of(const char *list, const char *word, size_t n)
{
	for (const char *p = list; *p; p += strspn(p, " ,")) {
		size_t length = strcspn(p, " ,");
		if (length == n && !memcmp(p, word, n))
			return true;
		p += length;
	}
	return false;
}

static bool take_limit(const char *arg, const char *option, struct check_limit *ret,
		       char error[512])
{
	*ret = (struct check_limit){ .given = true, .off = !strcmp(arg, "off") };
	return ret->off || arg_share(arg, 0, 1e9, &ret->share) ||
	       arg_bad(option, arg, "a percentage, nor off", error);
}

static bool are_kinds(const char *list, char error[512])
{
	for (const char *p = list; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");
		if (!is_word_of("all " KIN_FINDING_KINDS, p, n)) {
			snprintf(error, 512, "--findings: unknown kind '%.*s' (all, %s)",
				 (int)(n < 80 ? n : 80), p, KIN_FINDING_KINDS);
			return false;
		}
		p += n;
	}
	return true;
}

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	uint64_t n = 0;
	switch (id) {
	case OPT_TIME_LIMIT:
		return take_limit(arg, "--time", &s->check.time, error);
	case OPT_CALLS_LIMIT:
		return take_limit(arg, "--calls", &s->check.calls, error);
	case OPT_FUNCTIONS:
		string_list_add(&s->check.functions, arg);
		break;
	case OPT_FINDINGS:
		s->check.findings = arg;
		return are_kinds(arg, error);
	case OPT_RUNS:
		if (!arg_u64(arg, 1, 10000, &n))
			return arg_bad("-r", arg, "a number of runs from 1 to 10000", error);
		s->check.runs = (unsigned)n;
		break;
	case OPT_AS:
		s->format = arg;
		break;
	}
	return true;
}

static bool begin(struct settings *s, char error[512])
{
	(void)error;
	s->check.time.share = 0.05;
	s->check.runs = 10;
	s->format = "text";
	return true;
}

/* ---- rows ---- */

struct gate_check {
	const struct settings *s;
	struct sides *sides;
	struct kin_table *table;
	bool joined;         /* some run of COMMAND left files of several processes */
	bool counted, timed; /* whether counts and times are checked */
	size_t matched;      /* number of functions checked */
	size_t common;       /* number of functions on both sides */
	struct check_findings found;
};

enum {
	BEFORE,
	AFTER,
	RELATIVE,
	LOW,
	HIGH,
	P_LIMIT,
	CALLS,
	MORE_CALLS,
	GROWTH,
	OBJECT,
	NAME,
	N_KEYS
};
static const char *const keys[N_KEYS] = {
	"before",       "after",       "relative",     "low",    "high", "p_limit",
	"calls_before", "calls_after", "calls_growth", "object", "name",
};

/* The length of the name without " (inlined)": inlining is the compiler's choice. */
static size_t plain_length(const char *name)
{
	static const char mark[] = " (inlined)";
	size_t n = strlen(name), tail = sizeof(mark) - 1;
	return n > tail && !strcmp(name + n - tail, mark) ? n - tail : n;
}

static bool is_asked_for(const struct gate_check *k, const char *name)
{
	const struct string_list *globs = &k->s->check.functions;
	char *plain = xprintf("%.*s", (int)plain_length(name), name);
	bool any = !globs->at.n;
	for (size_t i = 0; i < globs->at.n && !any; i++)
		any = !fnmatch(globs->at.at[i], name, 0) || !fnmatch(globs->at.at[i], plain, 0) ||
		      people_name_is(plain, globs->at.at[i]);
	free(plain);
	return any;
}

static void add_finding(struct gate_check *k, enum finding_kind kind, char *text)
{
	check_findings_add(&k->found, (struct check_finding){ .kind = kind, .text = text });
}

/* Adds a finding about the function of row `c`. */
static void add_finding_of(struct gate_check *k, enum finding_kind kind, const struct kin_cell *c,
			   char *text)
{
	struct check_finding x = { .kind = kind,
				   .function = xprintf("%s", c[NAME].text),
				   .object = xprintf("%s", c[OBJECT].text),
				   .text = text };
	check_findings_add(&k->found, x);
}

/* Compares with a tolerance: 101 calls after 100 are 1 % more, which no double represents
 * exactly. */
static bool exceeds(double growth, double limit)
{
	return growth - limit > 4 * DBL_EPSILON * (1 + limit);
}

/* The counts are means over recordings. GROWTH compares the fewest calls after with the most calls
 * before, so it may be less than the growth of the means: then it is "at least". */
static char *growth_in_words(const struct kin_cell *c, double limit)
{
	unsigned long long before = c[CALLS].count, after = c[MORE_CALLS].count;
	double of_means = (double)after / (double)before - 1;
	char *some = before ? xprintf("%llu", before) : xprintf("less than 1");
	char *text = xprintf("%llu calls, %s before: %+.2f %%%s, more than %.2f %%", after, some,
			     100 * c[GROWTH].number,
			     exceeds(of_means, c[GROWTH].number) ? " at least" : "", 100 * limit);
	free(some);
	return text;
}

static void check_calls(struct gate_check *k, const struct kin_cell *c)
{
	bool before = c[CALLS].type == KIN_CELL_COUNT, after = c[MORE_CALLS].type == KIN_CELL_COUNT;
	double limit = k->s->check.calls.share;
	unsigned long long calls = after ? c[MORE_CALLS].count : 0;
	if (!before && !after)
		return;
	k->found.checked[FINDING_CALLS]++;
	if (after && c[GROWTH].type == KIN_CELL_NONE)
		add_finding_of(k, FINDING_CALLS, c,
			       xprintf("%llu call%s, none before", calls, calls == 1 ? "" : "s"));
	else if (after && exceeds(c[GROWTH].number, limit))
		add_finding_of(k, FINDING_CALLS, c, growth_in_words(c, limit));
}

/* Without an upper end, there may have been no time before. */
static char *time_in_words(double growth, double low, const struct kin_cell *high)
{
	char end[32] = "% or more";
	if (high->type == KIN_CELL_SHARE)
		snprintf(end, sizeof(end), "to %+.2f %%", 100 * high->number);
	return xprintf("time %+.2f %% (%+.2f %s)", 100 * growth, 100 * low, end);
}

/* Appends the limit; frees `time`. */
static char *beyond_limit(const struct gate_check *k, char *time)
{
	char *text = xprintf("%s, more than %.2f %%", time, 100 * k->s->check.time.share);
	free(time);
	return text;
}

static void check_time(struct gate_check *k, const struct kin_cell *c)
{
	if (c[LOW].type != KIN_CELL_SHARE)
		return;
	k->found.checked[FINDING_TIME]++;
	if (c[P_LIMIT].type == KIN_CELL_NUMBER && c[P_LIMIT].number <= 0.05)
		add_finding_of(k, FINDING_TIME, c,
			       beyond_limit(k, time_in_words(c[RELATIVE].number, c[LOW].number,
							     &c[HIGH])));
}

static double property(const struct gate_check *k, const char *key)
{
	const struct kin_cell *c = kin_table_property(k->table, key);
	return c ? c->type == KIN_CELL_COUNT ? (double)c->count : c->number : 0;
}

static char *total_in_words(const struct gate_check *k)
{
	double growth = property(k, "total_after") / property(k, "total_before") - 1;
	char *time = time_in_words(growth, property(k, "certain_growth"),
				   kin_table_property(k->table, "possible_growth"));
	char *text = xprintf("total: %s", time);
	free(time);
	return text;
}

static void check_total(struct gate_check *k)
{
	k->found.checked[FINDING_TOTAL]++;
	if (kin_table_property(k->table, "exceeds_limit"))
		add_finding(k, FINDING_TOTAL, beyond_limit(k, total_in_words(k)));
}

static void check_rows(struct gate_check *k)
{
	struct kin_row row;
	for (kin_table_rewind(k->table); kin_table_next(k->table, &row);) {
		const struct kin_cell *c = row.cells;
		bool calls =
			c[CALLS].type == KIN_CELL_COUNT && c[MORE_CALLS].type == KIN_CELL_COUNT;
		bool times = c[BEFORE].type != KIN_CELL_NONE && c[AFTER].type != KIN_CELL_NONE;
		k->common += calls || times;
		if (c[NAME].type != KIN_CELL_TEXT || !is_asked_for(k, c[NAME].text))
			continue;
		k->matched++;
		if (k->counted)
			check_calls(k, c);
		if (k->timed)
			check_time(k, c);
	}
	if (k->timed && !k->s->check.functions.at.n)
		check_total(k);
}

/* ---- locations of functions ---- */

/* The path relative to the working directory if it is below, as editors and servers expect it. The
 * path of a file that is here is resolved first: ninja compiles ../prog.c in a build folder, and a
 * server takes build/../prog.c for none of the files that it knows. */
static char *relative_path(const char *path)
{
	char folder[4096];
	char *real = realpath(path, NULL);
	const char *whole = real ? real : path;
	size_t n = getcwd(folder, sizeof(folder)) ? strlen(folder) : 0;
	bool below = n > 1 && !strncmp(whole, folder, n) && whole[n] == '/';
	path = below ? whole + n + 1 : path;
	while (!strncmp(path, "./", 2))
		path += 2;
	char *ret = xprintf("%s", path);
	free(real);
	return ret;
}

/* Findings about functions, sorted by name; inlined functions sort with others of their name. */
struct finding_names {
	struct check_finding **at;
	size_t n;
};

static int compare_names(const char *a, const char *b)
{
	size_t n = plain_length(a), m = plain_length(b), both = n < m ? n : m;
	int order = memcmp(a, b, both);
	return order ? order : n < m ? -1 : n > m;
}

static int by_function(const void *pa, const void *pb)
{
	const struct check_finding *const *a = pa, *const *b = pb;
	return compare_names((*a)->function, (*b)->function);
}

static struct finding_names names_of(struct check_findings *f)
{
	struct finding_names x = { xalloc((f->at.n + 1) * sizeof(struct check_finding *)), 0 };
	for (size_t i = 0; i < f->at.n; i++)
		if (f->at.at[i].function)
			x.at[x.n++] = &f->at.at[i];
	qsort(x.at, x.n, sizeof(struct check_finding *), by_function);
	return x;
}

/* The first finding about functions of this name, and their number *n; NULL: none. */
static struct check_finding **findings_of(const struct finding_names *x,
					  const struct kin_cell *name, size_t *n)
{
	*n = 0;
	if (name->type != KIN_CELL_TEXT)
		return NULL;
	size_t low = COUNT_WHILE(x->n, i, compare_names(x->at[i]->function, name->text) < 0);
	while (low + *n < x->n && !compare_names(x->at[low + *n]->function, name->text))
		++*n;
	return *n ? x->at + low : NULL;
}

/* Determines which functions have a namesake in another object, on either side. */
static void find_namesakes(struct gate_check *k, const struct finding_names *names)
{
	struct kin_row row;
	for (kin_table_rewind(k->table); kin_table_next(k->table, &row);) {
		size_t n;
		struct check_finding **x = findings_of(names, &row.cells[NAME], &n);
		for (size_t i = 0; i < n; i++)
			x[i]->of_several |= !strcmp(x[i]->function, row.cells[NAME].text) &&
					    strcmp(x[i]->object, row.cells[OBJECT].text) != 0;
	}
}

/* Prefers the line where the function begins; otherwise the first line in the same file that
 * ran. */
static void take_line(struct check_finding *x, const struct kin_cell *path,
		      const struct kin_cell *line, bool begins)
{
	char *file = relative_path(path->text);
	bool other = !x->file || strcmp(x->file, file) != 0;
	if (begins > x->begins || !x->file ||
	    (begins == x->begins && !other && line->count < x->line)) {
		free(x->file);
		x->file = TAKE(file);
		x->line = (unsigned)line->count;
		x->begins = begins;
	}
	free(file);
}

/* Rows are sorted by time, then by calls. */
static void take_lines(const struct finding_names *names, struct kin_table *lines)
{
	enum { LINE_NAME, LINE_OBJECT, PATH, LINE, LINE_CALLS };
	struct kin_row row;
	for (kin_table_rewind(lines); kin_table_next(lines, &row);) {
		const struct kin_cell *c = row.cells;
		size_t n;
		struct check_finding **x = findings_of(names, &c[LINE_NAME], &n);
		if (c[PATH].type != KIN_CELL_TEXT || c[LINE].type != KIN_CELL_COUNT)
			continue;
		for (size_t i = 0; i < n; i++)
			if (!strcmp(x[i]->object, c[LINE_OBJECT].text))
				take_line(x[i], &c[PATH], &c[LINE],
					  c[LINE_CALLS].type != KIN_CELL_NONE);
	}
}

/* Counts the functions of each name and object, which are reported as one. */
static void take_functions(const struct finding_names *names, struct kin_table *flat)
{
	struct kin_row row;
	for (kin_table_rewind(flat); kin_table_next(flat, &row);) {
		const struct kin_cell *c = row.cells; /* columns: name, object */
		size_t n;
		struct check_finding **x = findings_of(names, &c[0], &n);
		for (size_t i = 0; i < n; i++)
			x[i]->functions += !strcmp(x[i]->function, c[0].text) &&
					   !strcmp(x[i]->object, c[1].text);
	}
}

/* The report of that name; NULL: an error. */
static struct kin_table *table_of(struct kin_profile *p, const char *report,
				  const char *const *columns)
{
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = columns };
	struct kin_table *ret = NULL;
	if (p)
		kin_error_free(kin_report(p, report, &opts, &ret));
	return ret;
}

/* How the newer data is opened. */
static struct kin_open_opts opts_of_newer(const struct gate_check *k)
{
	return (struct kin_open_opts){ .size = sizeof(struct kin_open_opts),
				       .executable = k->sides->program[SIDE_AFTER],
				       .debug_dir = k->s->debug_dir,
				       .debuginfod = fetching_servers(k->s->fetching),
				       .symfs = k->s->symfs,
				       .demangle = k->s->demangle };
}

/* Finds locations with the last recording. Without debug information there are none, which is no
 * error. */
static void find_lines(struct gate_check *k, const struct finding_names *names)
{
	static const char *const of_functions[] = { "name", "object", NULL };
	static const char *const of_lines[] = { "name", "object", "path", "line", "calls", NULL };
	const struct string_list *after = &k->sides->of[SIDE_AFTER];
	struct kin_open_opts how = opts_of_newer(k);
	struct kin_profile *p = NULL;
	kin_error_free(kin_profile_open(&after->at.at[after->at.n - 1], 1, &how, &p));
	struct kin_table *functions = table_of(p, "flat", of_functions);
	struct kin_table *lines = table_of(p, "lines", of_lines);
	if (functions)
		take_functions(names, functions);
	if (lines)
		take_lines(names, lines);
	kin_table_free(functions);
	kin_table_free(lines);
	kin_profile_free(p);
}

static void find_places(struct gate_check *k)
{
	struct finding_names names = names_of(&k->found);
	if (names.n) {
		find_namesakes(k, &names);
		find_lines(k, &names);
	}
	free(names.at);
}

/* ---- what stands out ---- */

static void take_standing_out(struct gate_check *k, const struct kin_row *row)
{
	const char *kinds = k->s->check.findings;
	enum { KIND, TEXT, FUNCTION };
	const struct kin_cell *c = row->cells;
	if (!is_word_of(kinds, "all", 3) && !is_word_of(kinds, c[KIND].text, strlen(c[KIND].text)))
		return;
	bool has_function = c[FUNCTION].type == KIN_CELL_TEXT;
	check_findings_add(
		&k->found,
		(struct check_finding){
			.kind = FINDING_OUT,
			.word = xprintf("%s", c[KIND].text),
			.function = has_function ? xprintf("%s", c[FUNCTION].text) : NULL,
			.text = xprintf("%s", c[TEXT].text),
		});
}

/* In the newer data, all its recordings together. */
static void check_standing_out(struct gate_check *k)
{
	static const char *const columns[] = { "kind", "text", "function", NULL };
	const struct string_list *after = &k->sides->of[SIDE_AFTER];
	struct kin_open_opts how = opts_of_newer(k);
	how.own_dirs = string_list(&k->s->own_dirs);
	how.foreign_dirs = string_list(&k->s->foreign_dirs);
	how.findings = true;
	struct kin_profile *p = NULL;
	struct kin_row row;
	struct kin_error *err = kin_profile_open(string_list(after), after->at.n, &how, &p);
	struct kin_table *t = p && !err ? table_of(p, "findings", columns) : NULL;
	const struct kin_cell *enough = t ? kin_table_property(t, "enough_samples") : NULL;
	k->found.checked[FINDING_OUT] += enough && enough->count;
	if (err)
		add_finding(k, FINDING_ERROR, xprintf("%s", kin_error_message(err)));
	else if (!enough || !enough->count)
		add_finding(k, FINDING_ERROR,
			    xprintf("--findings: too few samples to say what stands out"));
	if (t)
		for (kin_table_rewind(t); kin_table_next(t, &row);)
			take_standing_out(k, &row);
	if (t && !k->found.at.n)
		remarks_add(&k->found.notes, KIN_REMARK_NOTE,
			    "nothing of these kinds stands out: %s", k->s->check.findings);
	kin_error_free(err);
	kin_table_free(t);
	kin_profile_free(p);
}

/* ---- the verdict ---- */

/* Why nothing can be checked; NULL: it can. */
static const char *what_lacks(const struct gate_check *k)
{
	const struct check_limit *time = &k->s->check.time, *calls = &k->s->check.calls;
	bool repeated = property(k, "repeated") > 0, any = property(k, "total_after") > 0;
	if (!k->common)
		return "there is no function that both sides have: no data, or that of another "
		       "program";
	if (!k->matched)
		return "no function has a name as --functions wants it";
	if (calls->given && !calls->off && !k->counted)
		return "--calls: calls were not counted on both sides; kin run counts them, in "
		       "programs compiled with -pg";
	if (time->given && !time->off && !repeated)
		return "--time: one run says nothing of chance; record both sides with -r 10, or "
		       "with kin compare -o";
	if (time->given && !time->off && !any)
		return "--time: there are no samples";
	if (!k->counted && !k->timed)
		return "neither are calls counted nor runs repeated: there is nothing to go by. "
		       "kin "
		       "record -r 10, or kin run";
	return NULL;
}

static void note_functions(struct gate_check *k, const char *what, size_t n)
{
	remarks_add(&k->found.notes, KIN_REMARK_NOTE, "%s of %zu function%s checked", what, n,
		    n == 1 ? "" : "s");
}

static void note_total(struct gate_check *k)
{
	char *total = total_in_words(k);
	double least = k->s->check.time.share + property(k, "resolution");
	remarks_add(&k->found.notes, KIN_REMARK_NOTE, "%s", total);
	remarks_add(&k->found.notes, KIN_REMARK_NOTE,
		    "a total slower by %.1f %% or more is found four times in five; for less: more "
		    "runs, or kin compare --fail-above, which takes turns",
		    100 * least);
	free(total);
}

/* A sentence that the comparison has as a property. */
static void note_property(struct gate_check *k, const char *key)
{
	const struct kin_cell *text = kin_table_property(k->table, key);
	if (text)
		remarks_add(&k->found.notes, KIN_REMARK_NOTE, "%s", text->text);
}

static void note_scope(struct gate_check *k)
{
	const size_t *n = k->found.checked;
	struct remarks *to = &k->found.notes;
	if (k->counted) {
		note_functions(k, "calls", n[FINDING_CALLS]);
		note_property(k, "added_up");
	}
	if (k->counted && property(k, "inner_only") > 0)
		remarks_add(to, KIN_REMARK_NOTE,
			    "calls from outside the program were not checked: gmon.out has none");
	if (!k->counted && !k->s->check.calls.off)
		remarks_add(to, KIN_REMARK_NOTE, "calls were not checked: they were not counted");
	if (k->timed) {
		note_functions(k, "time", n[FINDING_TIME]);
		note_property(k, "rates");
	} else if (!k->s->check.time.off) {
		remarks_add(to, KIN_REMARK_NOTE,
			    "time was not checked: it takes repetitions on both sides, kin record "
			    "-r 10");
	}
	if (n[FINDING_TOTAL])
		note_total(k);
}

/* Notes that a single file was compared with the files of several processes: kin run leaves one
 * file for each process. */
static void note_processes(struct gate_check *k)
{
	const struct string_list *before = &k->sides->of[SIDE_BEFORE];
	struct kinf_header header;
	if (k->counted && k->joined && before->at.n == 1 &&
	    runtime_file_header(before->at.at[0], &header))
		remarks_add(&k->found.notes, KIN_REMARK_NOTE,
			    "the runs have several processes, and %s has one: with "
			    "the files that others left beside it, kin merge makes a "
			    "baseline of all",
			    before->at.at[0]);
}

static void check_table(struct gate_check *k)
{
	k->counted = !k->s->check.calls.off && property(k, "counted") > 0;
	k->timed = !k->s->check.time.off && property(k, "repeated") > 0 &&
		   property(k, "total_before") > 0;
	check_rows(k);
	find_places(k);
	const struct kin_error *err = kin_table_error(k->table);
	const char *lacks = err ? kin_error_message(err) : what_lacks(k);
	if (lacks) {
		if (strcmp(k->s->format, "text") != 0)
			message("check", "%s", lacks); /* the text format prints the finding */
		add_finding(k, FINDING_ERROR, xprintf("%s", lacks));
		return;
	}
	note_scope(k);
	note_processes(k);
}

static int write_findings(const struct gate_check *k, int status)
{
	struct output_opts opts = k->s->output;
	struct output out;
	opts.mode = k->sides->mode;
	struct kin_error *err = output_open(&opts, status, &out);
	if (!err) {
		check_findings_write(&k->found, k->s->format, out.stream);
		err = output_finish(&out, NULL);
	}
	return err ? message_error("check", err) : EXIT_OK;
}

/* Why the data is not reliable enough for a check; NULL: it is. */
static const char *what_is_amiss(const struct sides *sides, const struct kin_table *t, int status)
{
	if (!t)
		return "the recordings could not be compared";
	if (sides->foreign)
		return "there is data of another program, or of another build of it";
	return status ? "not all of the data could be read, or it is in doubt" : NULL;
}

/* Writes the findings, and frees them. Returns the exit status. */
static int conclude(struct gate_check *k)
{
	bool error = false;
	for (size_t i = 0; i < k->found.at.n; i++)
		error |= k->found.at.at[i].kind == FINDING_ERROR;
	int ret = error ? EXIT_INCOMPARABLE : k->found.at.n ? EXIT_SLOWER : EXIT_OK;
	if (write_findings(k, ret))
		ret = EXIT_INCOMPARABLE;
	check_findings_done(&k->found);
	return ret;
}

static int check(const struct settings *s, struct sides *sides, bool joined)
{
	struct settings asked = *s;
	struct gate_check k = { .s = s, .sides = sides, .joined = joined };
	asked.columns = (struct string_list){ 0 };
	for (size_t i = 0; i < N_KEYS; i++)
		string_list_add(&asked.columns, keys[i]);
	asked.diff.all = true;
	asked.diff.limited = true;
	asked.diff.limit = s->check.time.share;
	int status = sides_compare(sides, &asked, &k.table);
	if (k.table)
		check_table(&k);
	const char *amiss = what_is_amiss(sides, k.table, status);
	if (s->check.findings)
		check_standing_out(&k);
	if (amiss)
		add_finding(&k, FINDING_ERROR, xprintf("%s", amiss));
	int ret = status == EXIT_USAGE ? EXIT_USAGE : conclude(&k);
	kin_table_free(k.table);
	vec_free(&asked.columns.at);
	return ret;
}

/* Without a baseline. */
static int check_alone(const struct settings *s, struct sides *sides)
{
	struct gate_check k = { .s = s, .sides = sides };
	check_standing_out(&k);
	return conclude(&k);
}

/* ---- running ---- */

static bool counts_calls(const struct settings *s, const struct sides *sides)
{
	const char *data[2];
	struct settings one = sides_settings(sides, s, SIDE_BEFORE, 0, data);
	struct kin_open_opts how = { .size = sizeof(how), .executable = one.executable };
	struct kin_report_opts opts = { .size = sizeof(opts) };
	struct kin_profile *p = NULL;
	struct kin_table *t = NULL;
	kin_error_free(kin_profile_open(data, 1, &how, &p));
	if (p)
		kin_error_free(kin_report(p, "flat", &opts, &t));
	const struct kin_cell *c = t ? kin_table_property(t, "has_arcs") : NULL;
	bool counts = c && c->count;
	kin_table_free(t);
	kin_profile_free(p);
	return counts;
}

/* The exit status of the program according to the recordings; -1: they differ, or none has it. */
static int status_of(const struct string_list *recordings)
{
	int status = -1;
	for (size_t i = 0; i < recordings->at.n; i++) {
		int one = kin_exit_status_of(recordings->at.at[i]);
		if (one >= 0 && status >= 0 && one != status)
			return -1;
		status = one >= 0 ? one : status;
	}
	return status;
}

/* Writes a report even if the runs failed, because CI servers expect one. */
static void write_no_runs(const struct settings *s, struct sides *sides)
{
	struct gate_check k = { .s = s, .sides = sides };
	add_finding(&k, FINDING_ERROR, xprintf("the runs of the command could not be compared"));
	write_findings(&k, EXIT_INCOMPARABLE);
	check_findings_done(&k.found);
}

static bool is_without_baseline(const struct settings *s)
{
	return s->check.findings && s->data.at.n == 1 && !s->command_behind;
}

static int run_check(const struct settings *s)
{
	char *const *command = s->command_behind;
	struct sides sides;
	struct turns turns = { .command = "check",
			       .argv = { NULL, command },
			       .runs = s->check.runs,
			       .shows_output = false };
	int status = TURNS_DONE;
	sides_init(&sides, s);
	bool is_alone = is_without_baseline(s);
	sides_take(&sides, is_alone ? SIDE_AFTER : SIDE_BEFORE, s->data.at.at[0]);
	if (command) {
		turns.status = status_of(&sides.of[SIDE_BEFORE]);
		turns.has_status = turns.status >= 0;
		turns.counts = !s->check.calls.off && counts_calls(s, &sides);
		status = turns_run(&turns, &sides);
	} else if (!is_alone) {
		sides_take(&sides, SIDE_AFTER, s->data.at.n > 1 ? s->data.at.at[1] : "profile.kin");
	}
	if (is_alone)
		status = check_alone(s, &sides);
	else if (status == TURNS_DONE)
		status = check(s, &sides, turns.joined);
	else if (status == EXIT_INCOMPARABLE)
		write_no_runs(s, &sides);
	turns_done(&turns);
	sides_done(&sides);
	return status;
}

static const char *what_is_wrong(const struct settings *s)
{
	char *const *command = s->command_behind;
	if (command && !*command)
		return "-- and no command behind it";
	if (!s->data.at.n)
		return "against what? kin check BASELINE, and a recording or -- COMMAND";
	if (s->data.at.n > 2 || (command && s->data.at.n > 1))
		return "one baseline, and one recording or a command, are held against each other";
	if (is_without_baseline(s) && (s->check.time.given || s->check.calls.given))
		return "--findings of one file: --time and --calls want a baseline";
	if (s->check.time.off && s->check.calls.off)
		return "--time=off and --calls=off: then there is nothing to check";
	return NULL;
}

static int cmd_check(const struct settings *s)
{
	const char *wrong = what_is_wrong(s);
	if (wrong)
		message(s->command->name, "%s", wrong);
	return wrong ? EXIT_USAGE : run_check(s);
}

const struct command check_command = {
	.name = "check",
	.group = COMMANDS_COMPARE,
	.summary = "a gate for CI: fails if calls or times have grown",
	.operands = "[PROGRAM] [BASELINE] [[PROGRAM] FILE | -- COMMAND [ARGUMENT]...]",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status = exit_status,
	.compares = true,
	.takes_command = true,
	.set = set,
	.begin = begin,
	.run = cmd_check,
};

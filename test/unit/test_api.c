/* The public interface, used as another program would: files to table to bytes. argv[1] is a folder
 * with a program, prog, and its gmon.out. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "kin/kin.h"
#include "kin/table.h"

static char *rendered(struct kin_table *t, const char *format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	OK(kin_render(t, format, NULL, out) == NULL);
	fclose(out);
	return text;
}

static struct kin_profile *opened(void)
{
	struct kin_open_opts opts = { .size = sizeof(opts), .executable = "prog" };
	const char *const paths[] = { "gmon.out" };
	struct kin_profile *p = NULL;
	OK(kin_profile_open(paths, 1, &opts, &p) == NULL);
	return p;
}

static void a_table_outlives_its_profile(void)
{
	struct kin_profile *p = opened();
	struct kin_table *flat = NULL, *graph = NULL;
	char name[] = "leaf", column[] = "name";
	const char *subjects[] = { name, NULL }, *columns[] = { column, NULL };
	struct kin_report_opts opts = { .size = sizeof(opts),
					.subjects = subjects,
					.columns = columns };
	OK(kin_report(p, "graph", &opts, &graph) == NULL);
	OK(kin_report(p, "flat", NULL, &flat) == NULL);
	OK(!kin_profile_remark(p, KIN_REMARK_WARNING, &(size_t){ 0 }));
	memset(name, 'x', 4); /* the options were copied */
	memset(column, 'x', 4);
	kin_profile_free(p);

	char *text = rendered(graph, "csv");
	OK_STR(text, "kind,depth,group,name\ncaller,1,0,b\ncaller,1,0,a\nfunction,0,0,leaf\n");
	free(text);
	kin_table_free(graph);
	size_t self = kin_table_find_column(flat, "self");
	OK(self < kin_table_n_columns(flat));
	OK_STR(kin_table_column(flat, self)->key, "self");
	OK(kin_table_find_column(flat, "self_time") == kin_table_n_columns(flat));
	OK(kin_table_find_column(flat, "") == kin_table_n_columns(flat));
	struct kin_row row;
	size_t rows = 0;
	for (kin_table_rewind(flat); kin_table_next(flat, &row);)
		rows++;
	OK(rows == 3);
	OK_STR(kin_table_name(flat), "flat");
	kin_table_free(flat);
}

/* Overwrites what the previous call left on the stack. */
__attribute__((noinline)) static void overwrite_stack(void)
{
	volatile char bytes[1 << 16];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 1;
}

static struct kin_profile *opened_folded(const char *text)
{
	char path[] = "/tmp/kin-test.XXXXXX";
	const char *const paths[] = { path };
	FILE *f = fdopen(mkstemp(path), "w");
	struct kin_profile *p = NULL;
	fputs(text, f);
	fclose(f);
	OK(kin_profile_open(paths, 1, NULL, &p) == NULL);
	unlink(path);
	return p;
}

static void every_report_has_defaults(void)
{
	static const char *const names[] = { "flat",     "graph",  "hists",  "lines",
					     "annotate", "cycles", "counts", "order",
					     "latency",  "index",  "info" };
	struct kin_profile *p = opened_folded("prog;main;a 1\nprog;main;b 2\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct kin_table *t = NULL;
		struct kin_row row;
		size_t rows = 0;
		kin_error_free(kin_report(p, names[i], NULL, &t));
		overwrite_stack();
		while (t && kin_table_next(t, &row))
			rows++;
		OK(strcmp(names[i], "hists") || rows >= 3);
		kin_table_free(t);
	}
	kin_profile_free(p);
}

static char *page(struct kin_profile *p, size_t rows, const struct kin_table *again,
		  struct kin_table **t)
{
	struct kin_hists_opts hists = { .size = sizeof(hists),
					.call_graph = "none",
					.overview = true,
					.has_percent_limit = true,
					.percent_limit = 0.5,
					.max_rows = rows,
					.again = again };
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = &hists };
	OK(kin_report(p, "hists", &opts, t) == NULL);
	return rendered(*t, "json");
}

/* Thirty functions, each with a caller that only leads to it. */
static void a_page_made_again_is_that_made_anew(void)
{
	char text[4096], *to = text;
	for (int i = 0; i < 30; i++)
		to += sprintf(to, "prog;main;group%d;to%d;f%d %d\n", i / 10, i, i, 3 + i % 7);
	struct kin_profile *p = opened_folded(text), *other = opened_folded("prog;main;a 1\n");
	struct kin_table *tall, *of_other;
	char *whole = page(p, 60, NULL, &tall), *little = page(other, 60, NULL, &of_other);
	OK(strstr(whole, "\"f29\"") && strstr(whole, "group2"));
	for (size_t rows = 1; rows < 34; rows++) { /* there are 34 that are not folded */
		struct kin_table *anew, *again, *foreign;
		char *want = page(p, rows, NULL, &anew);
		char *got = page(p, rows, tall, &again);
		char *apart = page(p, rows, of_other, &foreign); /* is of no use */
		OK_STR(got, want);
		OK_STR(apart, want);
		OK(strcmp(want, whole) != 0);
		kin_table_free(anew);
		kin_table_free(again);
		kin_table_free(foreign);
		free(want);
		free(got);
		free(apart);
	}
	kin_table_free(tall);
	kin_table_free(of_other);
	kin_profile_free(p);
	kin_profile_free(other);
	free(whole);
	free(little);
}

static void fails(struct kin_error *err, enum kin_error_kind kind, const char *message)
{
	OK(err && kin_error_kind(err) == kind);
	OK_STR(err ? kin_error_message(err) : "", message);
	kin_error_free(err);
}

static void says_what_is_wrong(void)
{
	struct kin_profile *p = opened(), *none = NULL;
	struct kin_table *t = NULL;
	static const char *const missing[] = { "missing" };
	struct kin_open_opts opts = { .size = sizeof(opts),
				      .executable = "prog",
				      .demangle = "nonsense" };

	fails(kin_report(p, "nonsense", NULL, &t), KIN_ERROR_USAGE, "no report 'nonsense'");
	OK(t == NULL);
	fails(kin_profile_open(missing, 1, &opts, &none), KIN_ERROR_USAGE,
	      "no demangling style 'nonsense'");
	opts.demangle = NULL;
	fails(kin_profile_open(missing, 1, &opts, &none), KIN_ERROR_OS,
	      "missing: No such file or directory");
	OK(none == NULL);
	/* An older caller's smaller options: fields that it does not know count as not given. */
	opts = (struct kin_open_opts){ .size = offsetof(struct kin_open_opts, debug_dir),
				       .executable = "missing",
				       .demangle = "nonsense" };
	fails(kin_profile_open(missing, 1, &opts, &none), KIN_ERROR_OS,
	      "missing: No such file or directory");

	struct kin_live_opts live_opts = { .size = sizeof(live_opts), .stacks = "nonsense" };
	struct kin_live *live = NULL;
	fails(kin_live_start(&live_opts, &live), KIN_ERROR_USAGE,
	      "unknown call-graph mode 'nonsense' (auto, dwarf, fp)");
	OK(live == NULL);

	OK(!kin_hists_need_details(NULL)); /* none are all defaults */
	OK(kin_report(p, "flat", NULL, &t) == NULL);
	fails(kin_render(t, "html", NULL, stderr), KIN_ERROR_USAGE,
	      "unknown format 'html' (text, json, csv, dot, perf)");
	FILE *full = fopen("/dev/full", "w");
	fails(kin_render(t, "csv", NULL, full), KIN_ERROR_OS, "writing: No space left on device");
	fclose(full);
	kin_table_free(t);
	kin_profile_free(p);
	kin_profile_free(NULL);
	kin_table_free(NULL);
}

static void writes_without_a_program(void)
{
	struct kin_open_opts opts = { .size = sizeof(opts), .executable = "" };
	const char *const paths[] = { "gmon.out" };
	struct kin_profile *p = NULL;
	struct kin_table *t = NULL;
	char sum[] = "/tmp/kin-test-api.XXXXXX";
	close(mkstemp(sum));
	OK(kin_profile_open(paths, 1, &opts, &p) == NULL);
	fails(kin_report(p, "flat", NULL, &t), KIN_ERROR_USAGE,
	      "the profile was opened without its program, which is enough to write it: for "
	      "reports name the program when it is opened");
	OK(kin_profile_write(p, sum) == NULL);
	kin_profile_free(p);
	unlink(sum);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]))
		return 2;
	a_table_outlives_its_profile();
	every_report_has_defaults();
	a_page_made_again_is_that_made_anew();
	says_what_is_wrong();
	writes_without_a_program();
	return DONE();
}

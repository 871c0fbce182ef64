/* print_lines - the lines of an object, for looking at and for comparing with other tools.
 *
 *	print_lines [--gnu] OBJECT		all runs: ADDR END FUNCTION FILE:LINE
 *	print_lines [--gnu] --locate OBJECT	of each address read from stdin: FUNCTION FILE:LINE
 *	print_lines --inlines OBJECT		where each run begins: ADDR INLINED..., innermost
 * first print_lines --symbols OBJECT		all symbols: ADDR END NAME
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnu/rules.h"
#include "kin/kin.h"
#include "object/object.h"

static void print(const struct srcloc *at)
{
	printf("%s %s:%" PRIu32 "\n", at->function ? at->function : "??",
	       at->file ? at->file : "??", at->line);
}

static void locate(struct object_file *o, bool gnu)
{
	static const struct srcloc unknown;
	char line[64];
	while (fgets(line, sizeof(line), stdin)) {
		struct srcloc at;
		print(object_place(o, strtoull(line, NULL, 16), gnu ? &gnu_line_rules : NULL, &at)
			      ? &at
			      : &unknown);
	}
}

static void print_runs(struct object_file *o, bool gnu, bool all)
{
	size_t n;
	struct address_range range = all ? (struct address_range){ 0, UINT64_MAX } : object_text(o);
	struct line_run *runs = object_line_runs(o, range, gnu ? &gnu_line_rules : NULL, &n);
	for (size_t i = 0; i < n; i++) {
		printf("%" PRIx64 " %" PRIx64 " ", runs[i].addr, runs[i].end);
		print(&runs[i].at);
	}
	free(runs);
}

/* Of addresses in ascending order, as runs are. */
static void print_inlines(struct object_file *o)
{
	size_t n, count;
	struct line_run *runs = object_line_runs(o, object_text(o), NULL, &n);
	uint64_t *addrs = xalloc((n + 1) * sizeof(*addrs));
	for (size_t i = 0; i < n; i++)
		addrs[i] = runs[i].addr;
	struct object_inline *list = object_inlines(o, addrs, n, &count);
	for (size_t i = 0, k = 0; i < n; i++) {
		printf("%" PRIx64, addrs[i]);
		for (; k < count && list[k].address == i; k++)
			printf(" %s", list[k].name);
		putchar('\n');
	}
	free(list);
	free(addrs);
	free(runs);
}

static void print_symbols(struct object_file *o)
{
	struct symbol_table t = { 0 };
	struct kin_error *err = object_symbols(o, &(struct symtab_opts){ .exact = true }, &t);
	kin_error_free(err);
	for (size_t i = 0; i < t.n; i++)
		printf("%" PRIx64 " %" PRIx64 " %s\n", t.at[i].addr, t.at[i].end, t.at[i].name);
	free(t.at);
}

int main(int argc, char **argv)
{
	bool gnu = false, one_by_one = false, all = false, inlines = false, symbols = false;
	struct object_opts opts = { 0 };
	struct object_file *o;
	int i = 1;
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		gnu |= !strcmp(argv[i], "--gnu");
		all |= !strcmp(argv[i], "--all");
		inlines |= !strcmp(argv[i], "--inlines");
		symbols |= !strcmp(argv[i], "--symbols");
		one_by_one |= !strcmp(argv[i], "--locate");
	}
	if (i + 1 != argc) {
		fprintf(stderr,
			"usage: print_lines [--gnu] [--all | --locate | --inlines | --symbols] "
			"OBJECT\n");
		return 2;
	}
	struct kin_error *err = object_open(argv[i], &opts, &o);
	if (err) {
		fprintf(stderr, "print_lines: %s\n", kin_error_message(err));
		kin_error_free(err);
		return 1;
	}
	if (one_by_one)
		locate(o, gnu);
	else if (inlines)
		print_inlines(o);
	else if (symbols)
		print_symbols(o);
	else
		print_runs(o, gnu, all);
	object_free(o);
	return 0;
}

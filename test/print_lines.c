/* print_lines - the lines of an object, for looking at and for comparing with other tools.
 *
 *	print_lines [--gnu] OBJECT		all runs: ADDR END FUNCTION FILE:LINE
 *	print_lines [--gnu] --locate OBJECT	of each address read from stdin: FUNCTION FILE:LINE
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

int main(int argc, char **argv)
{
	bool gnu = false, one_by_one = false, all = false;
	struct object_opts opts = { 0 };
	struct object_file *o;
	int i = 1;
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		gnu |= !strcmp(argv[i], "--gnu");
		all |= !strcmp(argv[i], "--all");
		one_by_one |= !strcmp(argv[i], "--locate");
	}
	if (i + 1 != argc) {
		fprintf(stderr, "usage: print_lines [--gnu] [--all | --locate] OBJECT\n");
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
	else
		print_runs(o, gnu, all);
	object_free(o);
	return 0;
}

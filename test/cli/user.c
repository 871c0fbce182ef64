/* A program that uses what is installed; in C, and as it stands in C++. argv: a program and its
 * gmon.out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <kin/kin.h>
#include <kin/table.h>
#include <kinrt.h>

static int failed(struct kin_error *err)
{
	fprintf(stderr, "%d: %s\n", (int)kin_error_kind(err), kin_error_message(err));
	kin_error_free(err);
	return 1;
}

static void print_calls(struct kin_table *t, size_t name, size_t calls)
{
	struct kin_row row;
	for (kin_table_rewind(t); kin_table_next(t, &row);)
		printf("%s %" PRIu64 "\n", row.cells[name].text, row.cells[calls].count);
}

int main(int argc, char **argv)
{
	const char *paths[] = { argv[argc - 1] };
	const char *columns[] = { "name", "calls", NULL };
	struct kin_open_opts how;
	struct kin_report_opts what;
	struct kin_profile *p = NULL;
	struct kin_table *t = NULL;
	struct kin_error *err;

	kinrt_mark("begin");
	memset(&how, 0, sizeof(how));
	how.size = sizeof(how);
	how.executable = argv[1];
	memset(&what, 0, sizeof(what));
	what.size = sizeof(what);
	what.columns = columns;
	what.sort = "name";
	if ((err = kin_profile_open(paths, 1, &how, &p)) ||
	    (err = kin_report(p, "flat", &what, &t)))
		return failed(err);
	kin_profile_free(p);
	print_calls(t, 0, 1);
	err = kin_render(t, "csv", NULL, stdout);
	kin_table_free(t);
	return err ? failed(err) : 0;
}

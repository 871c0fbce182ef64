/* sample_options.c - sets the options about samples that kin report and kin script share. */
#include "cli/sample_options.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/wordlist.h"
#include "cli/arg.h"

bool sample_options_set_max(const char *arg, unsigned *max_stack, bool *none, char error[512])
{
	uint64_t n = 0;
	if (!arg_u64(arg, 0, 1000000, &n))
		return arg_bad("--max-stack", arg, "a number from 0 to 1000000", error);
	*max_stack = (unsigned)n;
	*none = !n;
	return true;
}

void sample_options_set(struct settings *s, int id)
{
	switch (id) {
	case SAMPLES_HEADER:
	case SAMPLES_HEADER_ONLY:
		s->about |= KIN_ABOUT_HEADER;
		s->only_about |= id == SAMPLES_HEADER_ONLY;
		break;
	case SAMPLES_SHOW_INFO:
		s->about |= KIN_ABOUT_ALL_OF_HEADER;
		break;
	}
}

/* kin graph knows all of them. */
struct kin_error *sample_options_check_function(struct kin_profile *profile, const char *name)
{
	const char *const subjects[] = { name, NULL };
	struct kin_report_opts opts = { .size = sizeof(opts), .subjects = subjects };
	struct kin_table *t;
	struct kin_error *err = kin_report(profile, "graph", &opts, &t);
	if (!err)
		kin_table_free(t);
	return err;
}

struct kin_error *sample_options_check_functions(struct kin_profile *profile, const char *list)
{
	struct kin_error *err = NULL;
	struct word w;
	while (!err && words_next_name(&list, &w)) {
		char *name = xprintf("%.*s", (int)w.n, w.s);
		err = sample_options_check_function(profile, name);
		free(name);
	}
	return err;
}

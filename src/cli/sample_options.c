/* sample_options.c - sets the options about samples that kin report and kin script share. */
#include "cli/sample_options.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/wordlist.h"
#include "cli/arg.h"

static bool set_max_stack(const struct sample_fields *f, const char *arg, char error[512])
{
	uint64_t n = 0;
	if (!arg_u64(arg, 0, 1000000, &n))
		return arg_bad("--max-stack", arg, "a number from 0 to 1000000", error);
	*f->max_stack = (unsigned)n;
	*f->no_stacks = !n;
	return true;
}

bool sample_options_set(struct settings *s, const struct sample_fields *f, int id, const char *arg,
			char error[512])
{
	switch (id) {
	case SAMPLES_COMMS:
		*f->comms = arg;
		break;
	case SAMPLES_SYMBOLS:
		*f->symbols = arg;
		break;
	case SAMPLES_OBJECTS:
		*f->objects = arg;
		break;
	case SAMPLES_PID:
		*f->pids = arg;
		break;
	case SAMPLES_TID:
		*f->tids = arg;
		break;
	case SAMPLES_CPU:
		*f->cpus = arg;
		break;
	case SAMPLES_TIME:
		*f->times = arg;
		break;
	case SAMPLES_MAX_STACK:
		return set_max_stack(f, arg, error);
	case SAMPLES_INLINE:
	case SAMPLES_NO_INLINE:
		*f->inlines = id == SAMPLES_INLINE;
		break;
	case SAMPLES_NANOSECONDS:
		*f->nanoseconds = true;
		break;
	case SAMPLES_HEADER:
	case SAMPLES_HEADER_ONLY:
		s->about |= KIN_ABOUT_HEADER;
		s->only_about |= id == SAMPLES_HEADER_ONLY;
		break;
	case SAMPLES_SHOW_INFO:
		s->about |= KIN_ABOUT_ALL_OF_HEADER;
		break;
	}
	return true;
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

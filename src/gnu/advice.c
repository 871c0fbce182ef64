/* advice.c - looks for gmon.out files nearby, and for the reason why there is none. */
#include "gnu/advice.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "object/probe.h"

struct kin_error *advice_no_program(void)
{
	return err_new(KIN_ERROR_USAGE,
		       "a.out: %s: say which program: gprof PROGRAM [DATA-FILE...]",
		       strerror(ENOENT));
}

/* The data file beside the program: a program that runs in its own folder leaves it there. NULL:
 * there is none. */
static char *beside(const char *program, const char *path)
{
	const char *slash = strrchr(program, '/');
	if (!slash || strchr(path, '/'))
		return NULL;
	char *there = xprintf("%.*s/%s", (int)(slash - program), program, path);
	if (!access(there, R_OK))
		return there;
	free(there);
	return NULL;
}

/* The number of files that GMON_OUT_PREFIX made, one per process. */
static size_t count_numbered(const char *path)
{
	char *pattern = xprintf("%s.[0-9]*", path);
	glob_t found;
	size_t n = 0;
	if (!glob(pattern, GLOB_NOSORT, NULL, &found)) {
		n = found.gl_pathc;
		globfree(&found);
	}
	free(pattern);
	return n;
}

struct kin_error *advice_no_data(const char *program, const char *path)
{
	char *there = beside(program, path), *advice;
	size_t numbered = there ? 0 : count_numbered(path);

	if (there)
		advice = xprintf("there is one beside the program: gprof %s %s", program, there);
	else if (numbered)
		advice = xprintf("there %s %s.*, %zu in all: gprof %s '%s.*'",
				 numbered > 1 ? "are" : "is", path, numbered, program, path);
	else if (!object_probe_profiled(program))
		advice = xprintf("%s leaves none, as it was not built with -pg: give -pg when "
				 "compiling and when linking, and run it",
				 program);
	else if (!object_probe_starts(program))
		advice = xprintf("%s leaves none, as it was only compiled with -pg: give -pg when "
				 "linking, too, and run it",
				 program);
	else
		advice = xprintf(
			"run %s first; it leaves the file in its current folder when it "
			"ends by exit() or a return from main, and none when it ends by _exit() or "
			"is killed (kin run %s%s measures it then, too)",
			program, strchr(program, '/') ? "" : "./", program);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE, "%s: %s: %s", path, strerror(ENOENT), advice);
	free(advice);
	free(there);
	return err;
}

char *advice_no_time(const struct profile *p, const char *program)
{
	uint32_t rate = 0;
	for (size_t i = 0; i < p->n_histograms; i++) {
		if (p->histograms[i].n_hits)
			return NULL;
		rate = p->histograms[i].rate;
	}
	if (!rate || !p->n_arcs)
		return NULL;
	return xprintf(
		"all times are 0, as no sample was taken in %s: it used less CPU time than the %g "
		"%s that one stands for (give it more to do, or add up many runs), or it used it "
		"in libraries or set a profiling timer of its own (kin run measures these: kin run "
		"%s%s)",
		program, 1.0 / rate, p->histograms[0].dimension, strchr(program, '/') ? "" : "./",
		program);
}

char *advice_no_calls(const char *program)
{
	if (object_probe_profiled(program))
		return xprintf("there is no call graph, as no calls were counted: the functions of "
			       "%s that were called are not those compiled with -pg, or only "
			       "libraries called them; kin record samples who calls whom without "
			       "-pg: kin record %s%s",
			       program, strchr(program, '/') ? "" : "./", program);
	return xprintf(
		"there is no call graph, as no calls were counted: of %s only the link was "
		"made with -pg; give it when compiling, too, or kin record samples who calls "
		"whom: kin record %s%s",
		program, strchr(program, '/') ? "" : "./", program);
}

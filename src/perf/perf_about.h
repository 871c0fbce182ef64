/* perf_about.h - what a perf.data says of itself, in perf report's words: header, records, tasks,
 * mappings. Nothing is looked up anywhere. */
#ifndef PERF_PERF_ABOUT_H
#define PERF_PERF_ABOUT_H

#include <stdio.h>

#include "base/base.h"

struct kin_error;

enum perf_about_what { /* any of them, in this order */
		       PERF_ABOUT_HEADER = 1,
		       PERF_ABOUT_ALL_OF_HEADER = 2, /* with the header: what is long, too */
		       PERF_ABOUT_STATS = 4,
		       PERF_ABOUT_TASKS = 8,
		       PERF_ABOUT_MAPS = 16, /* tasks and what they had mapped */
};

/* KIN_ERROR_UNSUPPORTED if it is no perf.data. On other errors what could be read is printed.
 * `what` 0: only that is looked at. */
MUST_CHECK struct kin_error *perf_about(const char *path, unsigned what, FILE *out);

#endif

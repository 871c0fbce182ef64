/* perf_about.h - prints the header and the numbers of records of a perf.data in perf report's
 * words. Opens no other files. */
#ifndef PERF_PERF_ABOUT_H
#define PERF_PERF_ABOUT_H

#include <stdio.h>

#include "base/base.h"

struct kin_error;

enum perf_about_what { /* a bit mask, printed in this order */
		       PERF_ABOUT_HEADER = 1,
		       PERF_ABOUT_ALL_OF_HEADER = 2, /* with the header: its long parts, too */
		       PERF_ABOUT_STATS = 4,
};

/* KIN_ERROR_UNSUPPORTED if it is no perf.data; `what` 0 checks only that. On other errors the
 * readable part is printed. */
MUST_CHECK struct kin_error *perf_about(const char *path, unsigned what, FILE *out);

#endif

/* perf_refusals.h - options of perf's commands that the command of that name here does not have,
 * and what to do instead. */
#ifndef PERF_PERF_REFUSALS_H
#define PERF_PERF_REFUSALS_H

#include "options/opt.h"

extern const struct opt_refusal *const annotate_refusals[],
	*const diff_refusals[], *const report_refusals[], *const script_refusals[];

#endif

/* perf_refusals.h - options of perf's commands that kin's commands of the same names lack, with
 * alternatives. */
#ifndef PERF_PERF_REFUSALS_H
#define PERF_PERF_REFUSALS_H

#include "options/opt.h"

extern const struct opt_refusal *const annotate_refusals[],
	*const diff_refusals[], *const record_refusals[], *const report_refusals[],
								  *const script_refusals[],
									  *const top_refusals[];

/* Commands that kin lacks, of perf and of other profilers, with alternatives. */
extern const struct opt_refusal perf_commands[];

#endif

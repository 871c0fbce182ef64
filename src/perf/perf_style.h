/* perf_style.h - the report "hists" as perf report 6.1 has it. */
#ifndef PERF_PERF_STYLE_H
#define PERF_PERF_STYLE_H

#include "report/hists_style.h"

extern const struct hists_style perf_style;

#endif

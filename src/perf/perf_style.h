/* perf_style.h - the report "hists" in the style of perf report 6.1. */
#ifndef PERF_PERF_STYLE_H
#define PERF_PERF_STYLE_H

#include "report/hists_style.h"

extern const struct hists_style perf_style;

#endif

/* samples.h - a point as a sample of the kernel's. */
#ifndef SHADOW_SAMPLES_H
#define SHADOW_SAMPLES_H

#include "formats/perfdata/perf_sample.h"
#include "walks.h"

enum { SAMPLE_REGISTERS = 64 };

/* The sample points to `values` and to the copy. */
struct perf_sample sample_of(const struct point *p, uint64_t values[SAMPLE_REGISTERS]);

#endif

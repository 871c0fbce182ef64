/* perf_write.h - writes perf.data files. */
#ifndef FORMATS_PERF_WRITE_H
#define FORMATS_PERF_WRITE_H

#include <stdio.h>

#include "kin/kin.h"

/* See struct format. KIN_ERROR_UNSUPPORTED: the data has names but no addresses. */
struct kin_error *perf_write(struct kin_profile *profile, const struct kin_export_opts *opts,
			     FILE *out) __attribute__((warn_unused_result));

#endif

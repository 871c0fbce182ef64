/* cpuprofile.h - V8's profiles: the writer's half. */
#ifndef FORMATS_CHROME_CPUPROFILE_H
#define FORMATS_CHROME_CPUPROFILE_H

#include "formats/formats.h"

MUST_CHECK struct kin_error *cpuprofile_write(struct kin_profile *profile,
					      const struct kin_export_opts *opts, FILE *out);

#endif

/* firefox.h - the Firefox Profiler's processed format (profiler.firefox.com;
 * github.com/firefox-devtools/profiler, src/types/profile.js). */
#ifndef FORMATS_FIREFOX_H
#define FORMATS_FIREFOX_H

#include "formats/formats.h"

bool firefox_recognise(struct bytes head, const struct input_opts *o);
MUST_CHECK struct kin_error *firefox_read(struct bytes all, const struct input_opts *o,
					  struct profile_builder *into, struct source *source);
MUST_CHECK struct kin_error *firefox_write(struct kin_profile *profile,
					   const struct kin_export_opts *opts, FILE *out);

#endif

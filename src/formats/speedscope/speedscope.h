/* speedscope.h - speedscope's own format (github.com/jlfwong/speedscope,
 * src/lib/file-format-spec.ts). */
#ifndef FORMATS_SPEEDSCOPE_SPEEDSCOPE_H
#define FORMATS_SPEEDSCOPE_SPEEDSCOPE_H

#include "formats/formats.h"

#define SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

MUST_CHECK struct kin_error *speedscope_write(struct kin_profile *profile,
					      const struct kin_export_opts *opts, FILE *out);

bool speedscope_recognise(struct bytes head, const struct input_opts *o);
MUST_CHECK struct kin_error *speedscope_read(struct bytes all, const struct input_opts *o,
					     struct profile_builder *into, struct source *source);

#endif

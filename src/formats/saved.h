/* saved.h - writes kin's own file formats to a stream. */
#ifndef FORMATS_SAVED_H
#define FORMATS_SAVED_H

#include <stdio.h>

#include "base/base.h"
#include "kin/kin.h"

/* Writes the same as kin_profile_write() does to a file of that name. */
MUST_CHECK struct kin_error *saved_write(struct kin_profile *profile, const char *name, FILE *out);

#endif

/* wrap.h - wraps text to a given width. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdio.h>

#include "base/base.h"

/* Writes the words of the text, the first one at column `at`, later lines indented, and ends the
 * last line. Words longer than `width` columns are broken at commas, and exceed the width only if
 * they have none. */
void wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

#endif

/* wrap.h - text in lines of a given width. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdio.h>

#include "base/base.h"

/* Writes the words of the text, the first one at column `at`, later lines indented, and ends the
 * last line. Only words of more than `width` columns go beyond them, if no comma is in them to
 * break at. */
void wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

#endif

/* csv.h - fields of comma-separated values, as in RFC 4180.
 *
 * What no field can hold safely, control and invisible characters, is written as \xNN. A text that
 * begins as a formula does (= + - @) has an apostrophe before it, which spreadsheets take for "this
 * is a text". */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/sink.h"

void csv_text(struct sink *s, const char *text); /* in quotes if it needs them */
/* What stands within the quotes of a field, as a part of it. */
void csv_quoted(struct sink *s, const char *text);

#endif

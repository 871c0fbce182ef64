/* csv.h - fields of comma-separated values, as in RFC 4180.
 *
 * Control and invisible characters are written as \xNN. Text that begins like a formula (= + - @)
 * gets an apostrophe in front, which makes spreadsheets take it for text. */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/sink.h"

void csv_text(struct sink *s, const char *text); /* in quotes if it needs them */
/* Writes a part of a quoted field, without the quotes. */
void csv_quoted(struct sink *s, const char *text);

#endif

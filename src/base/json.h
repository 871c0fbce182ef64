/* json.h - JSON strings (RFC 8259).
 *
 * The output is always ASCII or valid UTF-8: control, bidirectional and other invisible characters
 * are \uXXXX; a byte that is not UTF-8 becomes \ufffd. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/sink.h"

void json_string(struct sink *s, const char *text); /* with its quotes */
/* "key":"text", or "key":null if text is NULL. */
void json_member(struct sink *s, const char *key, const char *text);

#endif

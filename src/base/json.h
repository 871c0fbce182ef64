/* json.h - texts as JSON has them (RFC 8259).
 *
 * The output is ASCII or valid UTF-8 whatever the text holds: control, bidirectional and other
 * invisible characters are \uXXXX; a byte that is not UTF-8 becomes \ufffd. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/sink.h"

void json_string(struct sink *s, const char *text); /* with its quotes */

#endif

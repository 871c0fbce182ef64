/* words.h - error messages in the words of GNU gprof 2.40, for --compat=gnu. */
#ifndef GNU_WORDS_H
#define GNU_WORDS_H

#include "base/base.h"

struct kin_error;

/* GNU's message for err (by err_facts()), to be freed; NULL: GNU has no such error. *whoami: it is
 * preceded by the program's name. */
char *gnu_words(const struct kin_error *err, bool *whoami);

/* Attaches the message for one of gprof's own errors; returns err. A message attached before stays.
 */
struct kin_error *gnu_words_are(struct kin_error *err, bool whoami, const char *fmt, ...)
	PRINTF(3, 4);

#endif

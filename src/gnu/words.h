/* words.h - errors in the words of GNU gprof 2.40, for --compat=gnu. */
#ifndef GNU_WORDS_H
#define GNU_WORDS_H

#include "base/base.h"

struct kin_error;

/* The words for what err is about (err_facts()), to be freed; NULL: GNU does not know such an
 * error. *whoami: the program's name stands in front of them. */
char *gnu_words(const struct kin_error *err, bool *whoami);

/* Attach the words for one of gprof's own errors; returns err. What was attached first stays. */
struct kin_error *gnu_words_are(struct kin_error *err, bool whoami, const char *fmt, ...)
	PRINTF(3, 4);

#endif

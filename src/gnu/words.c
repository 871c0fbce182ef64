/* words.c - GNU gprof's text for each kind of error. */
#include "gnu/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Errors whose message is their subject: with the program's name before it, and without. */
enum { SAID_BY_NAME = ERR_OWN, SAID };

/* Messages with a single string inserted. */
static const struct {
	bool whoami;
	const char *before, *after; /* the text around the subject */
} plain[] = {
	[ERR_NO_PROGRAM] = { true, "", ": not in executable format" },
	[ERR_NO_TEXT] = { true, "can't find .text section in ", "" },
	[ERR_NO_SYMBOLS] = { true, "file `", "' has no symbols" },
	[ERR_NO_LIST] = { true, "could not open ", "." },
	[ERR_NO_SOURCE] = { true, "could not locate `", "'" },
	[ERR_NO_DATA] = { false, "", ": file too short to be a gmon file" },
	[ERR_OTHER_FORMAT] = { true, "file `", "' has bad magic cookie" },
	[ERR_HEADER] = { true, "file '", "' does not appear to be in gmon.out format" },
	[ERR_CUT_OFF] = { true, "", ": unexpected end of file" },
};

static char *of_system(const struct err_facts *f, int errnum)
{
	return xprintf("%s%s%s", f->subject, *f->subject ? ": " : "", strerror(errnum));
}

char *gnu_words(const struct kin_error *err, bool *whoami)
{
	const struct err_facts *f = err_facts(err);
	unsigned first = (unsigned)f->first, second = (unsigned)f->second;

	*whoami = false;
	if (f->code < ARRAY_LEN(plain) && plain[f->code].before) {
		*whoami = plain[f->code].whoami;
		return xprintf("%s%s%s", plain[f->code].before, f->subject, plain[f->code].after);
	}
	if (f->code == ERR_OPENING)
		return of_system(f, kin_error_errno(err));
	if (f->code == ERR_IS_DIRECTORY) /* GNU reports a stale errno */
		return of_system(f, ENOENT);
	if (f->code == ERR_CUT_BLOCKS)
		return of_system(f, 0);
	*whoami = (int)f->code != SAID;
	switch ((int)f->code) {
	case ERR_VERSION:
		return xprintf("file `%s' has unsupported version %d", f->subject, (int)first);
	case ERR_RECORD:
		return xprintf("%s: found bad tag %d (file corrupted?)", f->subject, (int)first);
	case ERR_CUT_SAMPLES:
		return xprintf("%s: unexpected EOF after reading %ju of %u samples", f->subject,
			       (uintmax_t)f->first, second);
	case ERR_OTHER_UNIT:
		return xprintf("dimension unit changed between histogram records\n"
			       "from '%s'\nto '%s'",
			       f->subject, f->other);
	case ERR_OTHER_LETTER:
		return xprintf("dimension abbreviation changed between histogram records\n"
			       "from '%c'\nto '%c'",
			       (int)first, (int)second);
	case ERR_OTHER_SCALE:
		return xprintf("different scales in histogram records");
	case ERR_OVERLAP:
		return xprintf("overlapping histogram records");
	case SAID_BY_NAME:
	case SAID:
		return xprintf("%s", f->subject);
	}
	return NULL;
}

struct kin_error *gnu_words_are(struct kin_error *err, bool whoami, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	err = err_about(
		err, (struct err_facts){ whoami ? (enum err_code)SAID_BY_NAME : (enum err_code)SAID,
					 text });
	free(text);
	return err;
}

/* json_scan.h - a streaming JSON reader: no tree, no memory, any size. RFC 8259.
 *
 *	scan_enter(&j, '{');
 *	while (scan_key(&j, key, sizeof(key)))
 *		if (!strcmp(key, "count"))
 *			count = scan_number(&j);
 *		else
 *			scan_skip(&j);
 *
 * Each value must be consumed by one call. Errors are sticky: after the first there is nothing
 * more. */
#ifndef INPUT_JSON_SCAN_H
#define INPUT_JSON_SCAN_H

#include "base/base.h"

struct scan {
	const char *start, *pos, *end;
	bool failed; /* invalid at pos, or of another type than requested */
};

/* Of a text, which may begin with a byte-order mark. */
struct scan scan_of(const char *text, size_t size);
/* Enters an object ('{') or an array ('['). Then call scan_key() or scan_element() until false. */
void scan_enter(struct scan *j, char kind);
bool scan_element(struct scan *j);
/* The first character of the next token; NUL at the end. */
char scan_next(struct scan *j);
/* Longer keys are truncated. */
bool scan_key(struct scan *j, char *key, size_t size);
/* The string, unescaped, NUL-terminated and without other NULs, to be freed; NULL on failure. */
char *scan_string(struct scan *j);
/* A number that is not negative, without its fraction; saturates. */
uint64_t scan_number(struct scan *j);
/* Whether null comes next, which is then consumed. */
bool scan_null(struct scan *j);
/* A number of any kind. */
double scan_real(struct scan *j);
void scan_skip(struct scan *j);
/* Ends reading: it fails if anything but blanks follows. */
void scan_end(struct scan *j);

#endif

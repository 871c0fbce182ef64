/* json_scan.h - JSON as it is come by: no tree, no memory, any size. RFC 8259.
 *
 *	scan_enter(&j, '{');
 *	while (scan_key(&j, key, sizeof(key)))
 *		if (!strcmp(key, "count"))
 *			count = scan_number(&j);
 *		else
 *			scan_skip(&j);
 *
 * Each value must be taken by one call. The first error stays: from then on there is nothing more.
 */
#ifndef INPUT_JSON_SCAN_H
#define INPUT_JSON_SCAN_H

#include "base/base.h"

struct scan {
	const char *start, *pos, *end;
	bool failed; /* at pos, or not what was asked for */
};

struct scan scan_of(const char *text, size_t size);
/* '{' or '[': an object, or an array, begins. Then scan_key() or scan_element() until false. */
void scan_enter(struct scan *j, char kind);
bool scan_element(struct scan *j);
/* What is longer is cut. */
bool scan_key(struct scan *j, char *key, size_t size);
/* The text of a string, unescaped, NUL-terminated and without NULs, to be freed; NULL on failure.
 */
char *scan_string(struct scan *j);
/* A number that is not negative; a fraction is cut off, and what does not fit is the largest. */
uint64_t scan_number(struct scan *j);
/* Whether null comes next, which is then taken. */
bool scan_null(struct scan *j);
/* Any number. */
double scan_real(struct scan *j);
void scan_skip(struct scan *j);

#endif

/* json.h - JSON as it is come by: no tree, no memory, any size. RFC 8259.
 *
 *	json_enter(&j, '{');
 *	while (json_key(&j, key, sizeof(key)))
 *		if (!strcmp(key, "count"))
 *			count = json_number(&j);
 *		else
 *			json_skip(&j);
 *
 * Each value must be taken by one call. The first error stays: from then on there is nothing more.
 */
#ifndef INPUT_JSON_H
#define INPUT_JSON_H

#include "base/base.h"

struct json {
	const char *start, *pos, *end;
	bool failed; /* at pos, or not what was asked for */
};

struct json json_of(const char *text, size_t size);
/* '{' or '[': an object, or an array, begins. Then json_key() or json_element() until false. */
void json_enter(struct json *j, char kind);
bool json_element(struct json *j);
/* What is longer is cut. */
bool json_key(struct json *j, char *key, size_t size);
/* The text of a string, unescaped, NUL-terminated and without NULs, to be freed; NULL on failure.
 */
char *json_string(struct json *j);
/* A number that is not negative; a fraction is cut off, and what does not fit is the largest. */
uint64_t json_number(struct json *j);
void json_skip(struct json *j);

#endif

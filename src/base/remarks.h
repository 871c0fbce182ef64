/* remarks.h - what there is to say of data besides its numbers: sentences, each with its kinds.
 *
 *	struct remarks r = { 0 };
 *	remarks_add(&r, KIN_REMARK_DOUBT | KIN_REMARK_NOTE, "%zu samples were lost", n);
 *	for (size_t i = 0; (text = remarks_next(&r, KIN_REMARK_DOUBT, &i));)
 *		...
 *	remarks_free(&r);
 *
 * A remark may be of several kinds (enum kin_remark). Those of a kind keep the order in which they
 * were added. */
#ifndef BASE_REMARKS_H
#define BASE_REMARKS_H

#include "base/sink.h"
#include "base/vec.h"
#include "kin/kin.h"

struct remark {
	unsigned kinds; /* enum kin_remark, or'ed */
	uint32_t where; /* the object of the profile that it is about; 0: none in particular */
	char *text;     /* owned */
};

struct remarks {
	VEC(struct remark) at;
};

void remarks_add(struct remarks *r, unsigned kinds, const char *fmt, ...) PRINTF(3, 4);
void remarks_add_of(struct remarks *r, unsigned kinds, uint32_t where, const char *fmt, ...)
	PRINTF(4, 5);
/* Adds it unless one of these kinds says the same. */
void remarks_add_once(struct remarks *r, unsigned kinds, const char *fmt, ...) PRINTF(3, 4);
/* The next remark of one of these kinds, at *i or later; *i, which begins at 0, is then the index
 * after it. NULL: there is none, or r is NULL. */
const char *remarks_next(const struct remarks *r, unsigned kinds, size_t *i);
/* The elements of a JSON array of those of these kinds, each after `space`. */
void remarks_json(const struct remarks *r, unsigned kinds, const char *space, struct sink *s);
/* Whether a remark of one of these kinds says that; text NULL: whether there is any. */
bool remarks_have(const struct remarks *r, unsigned kinds, const char *text);
void remarks_free(struct remarks *r); /* leaves it empty and usable */

#endif

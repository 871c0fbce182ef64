/* short_name.h - names of functions without some parts, for narrow columns and flame graphs. */
#ifndef BASE_SHORT_NAME_H
#define BASE_SHORT_NAME_H

#include "base/base.h"

/* The name in at most `width` columns. The parts that tell functions apart least are left out for
 * it, in this order: the return type, which instances of function templates have; arguments of
 * templates and parameters, the longest first, as "f<…>(…)"; the scopes of the types that a name of
 * Rust begins with, as "<…B as …Trait>::f"; these types, as "<…>::f"; outer scopes, as "…f(…)". If
 * it is still wider, it is as short as it gets. Valid UTF-8 in and out; to be freed. */
char *short_name(const char *name, size_t width);

/* A text in `width` columns, one of which is an ellipsis: its beginning and its end, or only its
 * beginning. Valid UTF-8 in and out; to be freed. */
char *cut_text(const char *text, size_t width, bool with_end);

/* The name without the return type, the parameters, and what stands behind these (const, [clone
 * ...]): *n bytes of `name`. Parameters inside of it stay: those of an enclosing function, of a
 * lambda, of a type in a template's arguments. A name without parameters stays whole. */
const char *bare_name(const char *name, size_t *n);

/* What those who call a function call it: "std::sort", without arguments of templates, outer scopes
 * of a long name, "operator()" and the name of a constructor behind its class. To be freed. */
char *brief_name(const char *name);

/* Whether it may be in an identifier; bytes beyond ASCII may. */
static inline bool name_is_letter(char c)
{
	unsigned char u = (unsigned char)c, letter = u | 0x20;
	return (letter >= 'a' && letter <= 'z') || (u >= '0' && u <= '9') || u == '_' || u == '$' ||
	       u >= 0x80;
}

/* Where the bracket at p closes: '<', '(' or '{', with others nested in it; NULL: nowhere. */
const char *name_bracket_end(const char *p);
static inline const char *name_bracket_at(const char *p) /* NULL where there is none, either */
{
	return *p == '<' || *p == '(' || *p == '{' ? name_bracket_end(p) : NULL;
}

/* Behind "operator" and its signs, if that begins at p, which is in `name`; else p. */
const char *name_operator_end(const char *name, const char *p);

#endif

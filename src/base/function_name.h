/* function_name.h - matching functions by name: whole, in part, or nearly right. */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include "base/base.h"
#include "base/suggest.h"

/* Whether `name` matches `display`: as it stands, without what follows the parameters (const,
 * [clone ...], .constprop.0), without parameters, without template arguments of its own or of its
 * scopes, without outer scopes. "f", "b::f" and "a::b::f" are all "void a::b<char>::f<int>(int)".
 * If `display` has no parameters, as inlined functions do, `name` may have any. "f" also
 * matches "f.1", a function within another one. */
bool function_name_is(const char *display, const char *name);

/* Whether the symbol is a copy or a part of the function which the compiler made: "f.constprop.0"
 * of "f". */
bool function_name_is_clone(const char *symbol, const char *function);

/* The length of the first ending at p that gcc and clang give to symbols of copies, parts and local
 * functions; 0: there is none. "f.constprop.0.isra.0", "f.part.0.cold", "f.llvm.8135" have such. A
 * demangler makes "[clone .isra.0]" of them. */
size_t function_name_ending(const char *p);

/* The length of the source name in the symbol of a function within another one; 0: it is not one.
 * gcc numbers contained procedures of Fortran and nested functions of C: "f" in "f.1" and
 * "f.1.constprop.0". */
size_t function_name_within(const char *symbol);

/* Whether the symbol is mangled by C++, Rust or D: each identifier has its length before it. */
bool function_name_is_mangled(const char *symbol);

/* The last identifier of `name`, if every mangled symbol that can demangle to it contains it
 * verbatim: symbols without it can be skipped undemangled. *n bytes of `name`; NULL: its symbols
 * may be spelled in another way. */
const char *function_name_word(const char *name, size_t *n);

/* The existing function name nearest to a mistyped one, with its scopes or without. */
struct function_hint {
	struct suggestion nearest;
	const char *word; /* function_name_word() of the name: [n_word]; NULL: it has none */
	size_t n_word;
	char text[96]; /* ": did you mean 'f'?"; "" if none is near */
};
struct function_hint function_hint_for(const char *name); /* borrows it */
void function_hint_try(struct function_hint *h, const char *display);
/* Whether the symbol's readable form may be nearer than all candidates so far. A mangled symbol
 * passes only if one of its identifiers is nearer, so that few have to be demangled. */
bool function_hint_may_be(const struct function_hint *h, const char *symbol);
bool function_hint_is_best(const struct function_hint *h); /* no candidate can be nearer */

#endif

/* people_name.h - names of functions in the form for people.
 *
 * A name's full form is its identity: names are compared by it, and other programs read it. Tables,
 * pages and pictures show a form that people can take in. It leaves out the return type, arguments
 * that templates have by default, and the parameters of instances of function templates:
 *
 *	void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int>>, long,
 *		__gnu_cxx::__ops::_Iter_less_iter>(...)
 *	std::__introsort_loop<std::vector<int>::iterator, long>
 *
 * Endings that compilers give to copies of a function become a mark behind it: "f(int) (isra)".
 * Rust has its implementations by type, without modules of the standard library. */
#ifndef BASE_PEOPLE_NAME_H
#define BASE_PEOPLE_NAME_H

#include "base/base.h"

enum people_form {
	PEOPLE_SHORT,
	PEOPLE_WITH_PARAMETERS, /* of instances, too */
	N_PEOPLE_FORMS
};

/* The name in that form, to be freed; NULL: it is as the full one. What follows a name, as in
 * "f(int) (inlined)", stays. Never longer than the full form, but for
 * the brackets of a mark; cost: linear. */
char *people_name(const char *full, enum people_form form);

/* Whether `name`, as a user typed it, means the function: by function_name_is(), or as it is shown.
 */
bool people_name_is(const char *full, const char *name);

/* Names that are shown together: two that differ are never shown alike. A form that two names would
 * have is given to neither. */
struct people_names;
struct people_names *people_names_new(void);
void people_names_free(struct people_names *p); /* NULL is fine */

/* The form in which to show a name; lives as long as p. Names are made known by the first call for
 * them: what it returns may become longer with later names. */
const char *people_names_at(struct people_names *p, const char *full);

/* The same for a function in an object: its path, or a mark such as "[unknown]", or NULL. The only
 * address without a name in a file, "[0xd4490]", is "libstdc++.so.6 (no symbols)"; several have
 * their addresses behind that. */
const char *people_names_in(struct people_names *p, const char *full, const char *object);

/* A shown name in at most `width` columns if it can be as short: by short_name(), or by its
 * beginning and its end if another name is already cut to that. To be freed. */
char *people_names_fit(struct people_names *p, const char *shown, size_t width);

/* All known names that are shown in another form, one after the other; *i begins at 0. */
bool people_names_next(struct people_names *p, size_t *i, const char **full, const char **shown);

#endif

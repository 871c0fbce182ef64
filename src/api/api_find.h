/* api_find.h - what a person left out: the data a program left here, and the program itself. */
#ifndef API_API_FIND_H
#define API_API_FIND_H

#include "base/base.h"
#include "base/vec.h"

struct kin_error;

struct path_list {
	VEC(char *) at; /* owned */
};
void path_list_free(struct path_list *l);

/* gmon.out and gmon.out.* of the current folder, sorted. None is an error that says what to do. */
MUST_CHECK struct kin_error *find_data(struct path_list *ret);

/* The program that made these data files: a.out, or the only program built with -pg, first in the
 * folder of the first file, then in the current one. *ret is to be freed. */
MUST_CHECK struct kin_error *find_executable(const char *const *data, size_t n, char **ret);

#endif

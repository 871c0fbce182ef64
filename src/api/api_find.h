/* api_find.h - finds operands that the user left out: the data of a program, and the program
 * itself. */
#ifndef API_API_FIND_H
#define API_API_FIND_H

#include "base/base.h"
#include "base/vec.h"

struct kin_error;

struct path_list {
	VEC(char *) at; /* owned */
};
void path_list_free(struct path_list *l);

/* Lists gmon.out and gmon.out.* in the current folder, sorted, or the newest recording. If there
 * are none, the error says where the program (NULL or "": any) has left one, or why it has not. */
MUST_CHECK struct kin_error *find_data(const char *program, struct path_list *ret);

/* Finds the program of a data file that does not name it: a.out, or the only program built with
 * -pg, first in the file's folder (data NULL: skipped), then in the current one. *ret is to be
 * freed. */
MUST_CHECK struct kin_error *find_executable(const char *data, char **ret);

#endif

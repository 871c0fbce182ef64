/* record_look.h - kin ./prog: records the program, and shows where its time went. */
#ifndef CLI_RECORD_LOOK_H
#define CLI_RECORD_LOOK_H

#include "base/base.h"

/* Whether the word, which is no command, is the path of a program: it has a slash, and the file can
 * be executed and is no profile (some file systems let all files be executed). */
bool record_look_is_program(const char *word);

/* argv: the program and its arguments. Its recording is browsed, or reported where there is no
 * terminal to browse on. Returns the exit status, or ends as the program did. */
int record_look(char **argv);

#endif

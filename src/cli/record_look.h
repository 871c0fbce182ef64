/* record_look.h - kin ./prog: records the program and shows its profile. */
#ifndef CLI_RECORD_LOOK_H
#define CLI_RECORD_LOOK_H

#include "base/base.h"

/* Whether a word that is no command is the path of a program: it has a slash, and the file is
 * executable and no profile (some file systems show all files as executable). */
bool record_look_is_program(const char *word);

/* argv: the program and its arguments. Browses the recording, or reports it if there is no
 * terminal. Returns the exit status, or ends as the program did. */
int record_look(char **argv);

#endif

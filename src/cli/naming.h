/* naming.h - adds names to a new recording. */
#ifndef CLI_NAMING_H
#define CLI_NAMING_H

#include "base/base.h"
#include "record/held_files.h"

/* `command`: kin's command, for messages. held: open files of the recording, for objects that are
 * not at their paths; or NULL. Prints a message about objects that cannot be named; that is no
 * error. Returns the number of bytes that names take in the file. *said: a line about the names, to
 * be freed, or NULL. said NULL: no such line is needed. */
uint64_t naming_put(const char *command, const char *path, const struct held_files *held,
		    char **said);

/* The option row for leaving names out. */
#define OPTION_NO_NAMES                                                                            \
	{                                                                                          \
		OPT_NO_NAMES, 0, "no-names", NULL,                                                 \
			"do not put names of sampled functions into FILE: reports then need the "  \
			"programs as they are now"                                                 \
	}

#endif

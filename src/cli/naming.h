/* naming.h - puts names into a recording that has just been made. */
#ifndef CLI_NAMING_H
#define CLI_NAMING_H

#include "base/base.h"
#include "record/held_files.h"

/* `command` is kin's, for messages. held: files of the recording, of which names are made where
 * their path does not lead to them; or NULL. Of what cannot be named it says why; that is no error,
 * as the recording is there. Returns the bytes that names take in the file; *said: a line on it, to
 * be freed, or NULL. said NULL: nobody is watching. */
uint64_t naming_put(const char *command, const char *path, const struct held_files *held,
		    char **said);

/* The row of option tables that leaves names out. */
#define OPTION_NO_NAMES                                                                            \
	{                                                                                          \
		OPT_NO_NAMES, 0, "no-names", NULL,                                                 \
			"do not put names of what was hit into FILE: reports then need the "       \
			"programs as they are now"                                                 \
	}

#endif

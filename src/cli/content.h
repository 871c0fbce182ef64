/* content.h - determines the kind of a file from its first bytes. */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include "base/base.h"

struct kin_format;

enum content {
	CONTENT_NONE, /* missing, unreadable, or neither file nor folder */
	CONTENT_OTHER,
	CONTENT_FOLDER,
	CONTENT_PROGRAM, /* an ELF file */
	CONTENT_PROFILE, /* its format has recognisable first bytes: not BSD's gmon.out, nor folded
			    stacks */
};

enum content content_of(const char *path);

/* The profile format of a file; NULL: it is no profile. */
const struct kin_format *content_format(const char *path);

/* Whether the file has the name of a profile: gmon.out, gmon.sum, gmon.out.1234, x.kin ... */
bool content_named_profile(const char *path);

/* Whether that is so if one letter of the name is wrong or none. */
bool content_nearly_named_profile(const char *path);

/* Whether standard input is a pipe with a writer; waits until that is known. */
bool content_is_piped(void);

#endif

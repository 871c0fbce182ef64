/* content.h - what a file is, by its first bytes. */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include "base/base.h"

struct kin_format;

enum content {
	CONTENT_NONE, /* not there, not readable, or neither file nor folder */
	CONTENT_OTHER,
	CONTENT_FOLDER,
	CONTENT_PROGRAM, /* an ELF file */
	CONTENT_PROFILE, /* of a format that its first bytes tell: BSD's and folded stacks are not
			  */
};

enum content content_of(const char *path);

/* Which format of profiles that is; NULL: none. */
const struct kin_format *content_format(const char *path);

/* Whether the file's name says that it is a profile: gmon.out, gmon.sum, gmon.out.1234, x.kin ...
 */
bool content_named_profile(const char *path);

/* The same of a name in which one letter may be wrong. */
bool content_nearly_named_profile(const char *path);

/* Whether somebody writes into standard input, a pipe; waits until that is known. */
bool content_is_piped(void);

#endif

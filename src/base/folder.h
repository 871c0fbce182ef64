/* folder.h - folders of our own. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include "base/base.h"

struct kin_error;

/* Where the user keeps what can be made again: $XDG_CACHE_HOME/kin/NAME or ~/.cache/kin/NAME; NULL:
 * nowhere: the variable KIN_CACHE is "off", there is no home, it is another user's (sudo -E), or
 * what is there belongs to another user or may be written to by others, who could put there what we
 * then take for ours. To be freed. Not made yet. */
char *folder_cache(const char *name);
/* With all folders above it that are missing, for the user alone. */
struct kin_error *folder_make(const char *path) __attribute__((warn_unused_result));

/* A file there is used now: it stays longest. */
void folder_used(const char *path);
/* Removes the files used least recently, until the others are `most` bytes at most. What cannot be
 * removed stays. */
void folder_trim(const char *path, uint64_t most);
/* Puts a file in its place, for the user alone, whole or not at all. Its folder is made if it is
 * missing. */
struct kin_error *folder_put(const char *path, const void *data, size_t size)
	__attribute__((warn_unused_result));
/* The same, and before that trims the folder, so that all in it are `most` bytes at most. Where
 * that cannot be, it is left: what is kept can be made again. */
void folder_keep(const char *path, const void *data, size_t size, uint64_t most);
/* Of the contents of a file that is kept, against damage; what is read is checked as well. */
uint64_t folder_checksum(const uint8_t *p, size_t size);

#endif

/* folder.h - kin's own folders. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include "base/base.h"

struct kin_error;

/* The folder for cached data: $XDG_CACHE_HOME/kin/NAME or ~/.cache/kin/NAME. The caller frees it;
 * the folder is not created yet. NULL: no cache, because the variable KIN_CACHE is "off", there is
 * no home, the home is another user's (sudo -E), or the folder belongs to another user or is
 * writable by others, who could plant files in it. */
char *folder_cache(const char *name);
/* Creates the folder and its missing parents, for the user alone. */
struct kin_error *folder_make(const char *path) __attribute__((warn_unused_result));
/* Makes an empty folder below TMPDIR, or /tmp, whose name begins with `name`. *ret: its path, to be
 * freed, also if it could not be made. */
struct kin_error *folder_temporary(const char *name, char **ret)
	__attribute__((warn_unused_result));
/* The file that an option names: `file` in NAME if that ends with a slash, else NAME. To be freed.
 */
char *folder_file(const char *name, const char *file);

/* Marks a file as used now: it is trimmed last. */
void folder_used(const char *path);
/* Removes the files used least recently, until the others have at most `most` bytes. Files that
 * cannot be removed stay. */
void folder_trim(const char *path, uint64_t most);
/* Writes a file atomically, for the user alone. Its folder is created if it is missing. */
struct kin_error *folder_put(const char *path, const void *data, size_t size)
	__attribute__((warn_unused_result));
/* Like folder_put(), but first trims the folder, so that all its files have at most `most` bytes.
 * Failures are ignored: the cache can be made again. */
void folder_keep(const char *path, const void *data, size_t size, uint64_t most);
/* Checksum of a cached file's contents, against damage; readers check the contents as well. */
uint64_t folder_checksum(const uint8_t *p, size_t size);

#endif

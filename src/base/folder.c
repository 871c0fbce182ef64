/* folder.c - makes cache folders, and checks that nobody else can write to them. */
#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static bool is_mine(const char *path, mode_t forbidden)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & forbidden);
}

static bool is_missing(const char *path)
{
	struct stat st;
	return lstat(path, &st) < 0 && errno == ENOENT;
}

/* What is there of BASE/kin/NAME is for us alone; if it is to be made, then in a folder of ours.
 * A folder above may be a symbolic link to where there is more space. */
static bool is_safe(const char *base, const char *name)
{
	enum { OTHERS = S_IWGRP | S_IWOTH };
	char *ours = xprintf("%s/kin", base), *whole = xprintf("%s/kin/%s", base, name);
	bool safe = is_missing(ours) || is_mine(ours, OTHERS);
	safe = safe && (is_missing(whole) || is_mine(whole, OTHERS));
	for (char *above = ours; safe && is_missing(above);) { /* the one it would be made in */
		struct stat st;
		char *slash = strrchr(above, '/');
		if (slash == above)
			break;
		*slash = '\0';
		safe = stat(above, &st) < 0 || st.st_uid == geteuid();
	}
	free(ours);
	free(whole);
	return safe;
}

char *folder_cache(const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *wanted = getenv("KIN_CACHE");
	char *base = NULL, *ret = NULL;
	if (wanted && !strcmp(wanted, "off"))
		return NULL;
	if (cache && *cache == '/')
		base = xprintf("%s", cache);
	else if (home && *home == '/' &&
		 !access(home, F_OK)) /* nobody's /nonexistent is not ours to make */
		base = xprintf("%s/.cache", home);
	if (base && is_safe(base, name))
		ret = xprintf("%s/kin/%s", base, name);
	free(base);
	return ret;
}

struct kin_error *folder_make(const char *folder)
{
	char *path = xprintf("%s", folder);
	struct kin_error *err = NULL;
	for (char *p = path + 1; !err; p++) {
		if (*p && *p != '/')
			continue;
		char c = *p;
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			err = err_os(errno, "cannot make %s", path);
		*p = c;
		if (!c)
			break;
	}
	free(path);
	return err;
}

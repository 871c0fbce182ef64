#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

char *folder_cache(const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (cache && *cache == '/')
		return xprintf("%s/kin/%s", cache, name);
	if (home && *home == '/' &&
	    !access(home, F_OK)) /* nobody's /nonexistent is not ours to make */
		return xprintf("%s/.cache/kin/%s", home, name);
	return NULL;
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

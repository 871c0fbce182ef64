/* folder.c - makes cache folders, checks that nobody else can write to them, and keeps them small.
 */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"

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

/* Whether the folders of BASE/kin/NAME that exist are this user's, and nobody else can write to
 * them, and missing ones would be made in a folder of this user. A folder above may be a symbolic
 * link to where there is more space. */
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
		 !access(home, F_OK)) /* /nonexistent, the home of user nobody, is not to be made */
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

/* ---- bounds ---- */

/* Marks by the time of modification, as times of access are not kept everywhere. */
void folder_used(const char *path) { utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); }

struct kept_file {
	char *name;
	uint64_t size;
	struct timespec used;
};

static int oldest_first(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;
	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

void folder_trim(const char *path, uint64_t most)
{
	VEC(struct kept_file) files = { 0 };
	uint64_t all = 0;
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		all += (uint64_t)st.st_size;
		vec_push(&files, ((struct kept_file){ xprintf("%s", e->d_name),
						      (uint64_t)st.st_size, st.st_mtim }));
	}
	if (all > most)
		qsort(files.at, files.n, sizeof(*files.at), oldest_first);
	for (size_t i = 0; i < files.n; i++) {
		if (all > most && !unlinkat(dirfd(d), files.at[i].name, 0))
			all -= files.at[i].size;
		free(files.at[i].name);
	}
	vec_free(&files);
	if (d)
		closedir(d);
}

struct kin_error *folder_put(const char *path, const void *data, size_t size)
{
	char *folder = xprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	struct kin_error *err = folder_make(folder);
	free(folder);
	if (err)
		return err;
	char *temporary = xprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	bool good = fd >= 0 && file_write_all(fd, data, size);
	int errnum = errno;
	if (fd >= 0 && close(fd) < 0 && good) {
		good = false;
		errnum = errno;
	}
	if (good && rename(temporary, path) < 0) {
		good = false;
		errnum = errno;
	}
	if (!good) {
		err = err_os(errnum, "cannot write %s", path);
		if (fd >= 0)
			unlink(temporary);
	}
	free(temporary);
	return err;
}

void folder_keep(const char *path, const void *data, size_t size, uint64_t most)
{
	char *folder = xprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	folder_trim(folder, most - size);
	free(folder);
	kin_error_free(folder_put(path, data, size));
}

static uint64_t mix(uint64_t h, uint64_t w)
{
	h = (h ^ w) * UINT64_C(0x9fb21c651e98df25);
	return h << 32 | h >> 32;
}

static uint64_t word(const uint8_t *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return w;
}

/* Four sums, because a processor works at several at a time. Each step is one to one, so that
 * damage to a single word always shows. */
uint64_t folder_checksum(const uint8_t *p, size_t size)
{
	uint64_t a = size, b = 1, c = 2, d = 3;
	for (; size >= 32; p += 32, size -= 32) {
		a = mix(a, word(p));
		b = mix(b, word(p + 8));
		c = mix(c, word(p + 16));
		d = mix(d, word(p + 24));
	}
	for (; size; p++, size--)
		a = mix(a, *p);
	return mix(mix(mix(a, b), c), d);
}

struct kin_error *folder_temporary(const char *name, char **ret)
{
	const char *tmp = getenv("TMPDIR");
	*ret = xprintf("%s/%s.XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	return mkdtemp(*ret) ? NULL : err_os(errno, "%s", *ret);
}

char *folder_file(const char *name, const char *file)
{
	size_t n = strlen(name);
	return xprintf("%s%s", name, n && name[n - 1] == '/' ? file : "");
}

/* paths.c - expands directories and numbered files to lists of paths. */
#include "input/paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "input/twins.h"
#include "kin/format.h"

void paths_add(struct paths *p, const char *path)
{
	size_t size = strlen(path) + 1;

	vec_push(&p->at, memcpy(xalloc(size), path, size));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* False: not a regular file, or shorter than that. */
static bool read_magic(const char *path, char ret[8]) { return file_head(path, ret, 8) == 8; }

static bool ends_in(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);
	return n > k && !strcmp(name + n - k, ending);
}

/* A name in .kin is enough, even if the file is empty or damaged: reading it reports that. */
static bool is_recording(const char *path)
{
	char magic[8];
	uint64_t number;
	if (ends_in(path, ".kin"))
		return is_regular(path);
	if (!read_magic(path, magic))
		return false;
	memcpy(&number, magic, sizeof(number));
	return number == KINF_MAGIC || __builtin_bswap64(number) == KINF_MAGIC;
}

static void add_joined(struct paths *p, const char *dir, const char *name, bool recordings)
{
	size_t n = strlen(dir); /* not 0: an empty name is no directory */
	char *path = xprintf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);

	if (recordings ? is_recording(path) : is_regular(path))
		vec_push(&p->at, path);
	else
		free(path);
}

char *paths_perf_folder(const char *path)
{
	char *data = xprintf("%s/data", path), magic[8];

	if (read_magic(data, magic) &&
	    (!memcmp(magic, "PERFILE2", 8) || !memcmp(magic, "2ELIFREP", 8)))
		return data;
	free(data);
	return NULL;
}

bool paths_is_gmon(const char *name)
{
	static const char gmon[] = "gmon.out";
	if (strncmp(name, gmon, strlen(gmon)) != 0)
		return false;
	for (const char *so = name; (so = strstr(so, ".so")); so++)
		if (!so[3] || so[3] == '.')
			return false;
	return true;
}

/* Whether the file was left by a writer that was killed: finished files have no such names. */
static bool is_temporary(const char *name) { return ends_in(name, ".tmp"); }

/* Adds a directory's recordings, or the files named as data of programs built with -pg. */
static struct kin_error *add_files(struct paths *p, const char *path, bool recordings)
{
	DIR *dir = opendir(path);
	if (!dir)
		return err_os(errno, "%s", path);

	const struct dirent *entry;
	while ((errno = 0, entry = readdir(dir)))
		if (recordings ? !is_temporary(entry->d_name) : paths_is_gmon(entry->d_name))
			add_joined(p, path, entry->d_name, recordings);
	int errnum = errno;
	closedir(dir);
	return errnum ? err_os(errnum, "reading directory %s", path) : NULL;
}

/* Adds gmon.out files. If the runtime left a recording of the same run, that is added instead, as
 * it has more. */
static struct kin_error *add_gmons(struct paths *p, const char *path)
{
	struct paths all = { 0 };
	struct kin_error *err = add_files(&all, path, false);
	size_t n_gmons = all.at.n;

	if (!err && n_gmons)
		err = add_files(&all, path, true);
	size_t *twins = twins_find(all.at.at, all.at.n);
	for (size_t i = 0; i < n_gmons && !err; i++) {
		size_t shown = twins[i] < all.at.n ? twins[i] : i;
		if (all.at.at[shown]) /* NULL: added already, for another copy of this gmon.out */
			vec_push(&p->at, TAKE(all.at.at[shown]));
	}
	free(twins);
	paths_free(&all);
	return err;
}

static struct kin_error *add_directory(struct paths *p, const char *path)
{
	char *recording = paths_perf_folder(path);
	if (recording) {
		vec_push(&p->at, recording);
		return NULL;
	}
	size_t before = p->at.n;
	struct kin_error *err = add_gmons(p, path);
	if (!err && p->at.n == before)
		err = add_files(p, path, true);
	if (err)
		return err;
	if (p->at.n == before)
		return err_new(
			KIN_ERROR_FORMAT,
			"%s: directory without gmon.out files, and without recordings; a program "
			"built with -pg leaves one where it ends",
			path);
	qsort(p->at.at + before, p->at.n - before, sizeof(*p->at.at), by_name);
	return NULL;
}

/* Whether the path is a directory that stands for gmon.out files. */
static bool has_gmon(const char *path)
{
	struct paths taken = { 0 };
	if (is_regular(path))
		return false;
	char *perf = paths_perf_folder(path);
	if (!perf)
		kin_error_free(add_files(&taken, path, false));
	bool any = taken.at.n;
	free(perf);
	paths_free(&taken);
	return any;
}

static void add_glob(struct paths *p, const char *pattern)
{
	glob_t g;

	if (glob(pattern, 0, NULL, &g) != 0) {
		paths_add(p, pattern); /* reading it reports that there is no such file */
		return;
	}
	size_t before = p->at.n;
	for (size_t i = 0; i < g.gl_pathc; i++)
		paths_add(p, g.gl_pathv[i]);
	globfree(&g);
	/* glob(3) sorts by locale. */
	qsort(p->at.at + before, p->at.n - before, sizeof(*p->at.at), by_name);
}

struct kin_error *paths_expand(struct paths *p, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return add_directory(p, path);
	} else if (strpbrk(path, "*?[")) {
		add_glob(p, path);
		return NULL;
	}
	paths_add(p, path);
	return NULL;
}

void paths_free(struct paths *p)
{
	for (size_t i = 0; i < p->at.n; i++)
		free(p->at.at[i]);
	vec_free(&p->at);
}

static bool is_among(const char *path, const char *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i], path) || file_is_same(all[i], path))
			return true;
	return false;
}

struct kin_error *paths_expand_among(struct paths *p, const char *path, const char *const *operands,
				     size_t n)
{
	size_t before = p->at.n, kept = before;
	struct kin_error *err = paths_expand(p, path);
	bool is_itself = p->at.n == before + 1 && !strcmp(p->at.at[before], path);

	for (size_t i = before; i < p->at.n; i++)
		if (n > 1 && !is_itself && is_among(p->at.at[i], operands, n))
			free(p->at.at[i]);
		else
			p->at.at[kept++] = p->at.at[i];
	p->at.n = kept;
	return err;
}

char *paths_left_out(const char *path, const char *const *operands, size_t n_operands, size_t *n)
{
	struct paths all = { 0 }, shown = { 0 };
	char *first = NULL;

	*n = 0;
	if (has_gmon(path))
		kin_error_free(add_files(&all, path, true));
	if (all.at.n)
		qsort(all.at.at, all.at.n, sizeof(*all.at.at), by_name);
	for (size_t i = 0; i < n_operands && all.at.n; i++)
		kin_error_free(paths_expand(&shown, operands[i]));
	for (size_t i = 0; i < all.at.n; i++) {
		if (paths_is_gmon(base_name(all.at.at[i])) ||
		    is_among(all.at.at[i], (const char *const *)shown.at.at, shown.at.n))
			continue;
		if (!(*n)++)
			first = xprintf("%s", all.at.at[i]);
	}
	paths_free(&shown);
	paths_free(&all);
	return first;
}

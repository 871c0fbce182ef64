/* api_find.c - searches the current directory for data and for the program it belongs to. */
#include "api/api_find.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/map64.h"
#include "formats/formats.h"
#include "formats/kin/kin_write.h"
#include "input/paths.h"
#include "object/probe.h"

enum { LISTED = 3 }; /* candidates named in an error */

#define NO_WRITER UINT32_MAX /* for files that are no recordings, or have no header */

void path_list_free(struct path_list *l)
{
	for (size_t i = 0; i < l->at.n; i++)
		free(l->at.at[i]);
	vec_free(&l->at);
}

static int by_name(const void *l, const void *r)
{
	return strcmp(*(char *const *)l, *(char *const *)r);
}

static char *copy(const char *s, size_t n) { return memcpy(xalloc(n + 1), s, n); }

/* Leaves out the folder ".". */
static char *join(const char *folder, const char *name)
{
	if (!strcmp(folder, "."))
		return copy(name, strlen(name));
	size_t n = strlen(folder) + strlen(name) + 2;
	char *path = xalloc(n);
	snprintf(path, n, "%s/%s", folder, name);
	return path;
}

/* Files of the folder that pass the test, sorted. */
static void list(const char *folder, bool (*wanted)(const char *path, const char *name),
		 struct path_list *ret)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		char *path = join(folder, entry->d_name);
		if (entry->d_name[0] != '.' && wanted(path, entry->d_name))
			vec_push(&ret->at, path);
		else
			free(path);
	}
	if (dir)
		closedir(dir);
	if (ret->at.n)
		qsort(ret->at.at, ret->at.n, sizeof(*ret->at.at), by_name);
}

static bool is_data(const char *path, const char *name)
{
	struct stat st;
	bool named = paths_is_gmon(name) && (!name[8] || name[8] == '.');
	return named && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static bool is_perf_folder(const char *path)
{
	char *inside = paths_perf_folder(path);
	free(inside);
	return inside;
}

/* The length without the time that files of a split recording end with:
 * "profile.kin.2026013112000000". */
static size_t length_without_time(const char *name)
{
	enum { DIGITS = 16 };
	size_t n = strlen(name), digits = 0;
	while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
		digits++;
	return digits == DIGITS && n > DIGITS && name[n - DIGITS - 1] == '.' ? n - DIGITS - 1 : n;
}

static bool is_named_recording(const char *name)
{
	size_t n = length_without_time(name);
	for (size_t i = 0; all_formats[i]; i++) {
		const char *usual = all_formats[i]->recording;
		size_t k = usual ? strlen(usual) : 0;
		if (usual && n >= k && !memcmp(name + n - k, usual, k) &&
		    (usual[0] == '.' ? n > k : n == k))
			return true;
	}
	return false;
}

static bool is_recording(const char *path, const char *name)
{
	struct stat st;
	return is_named_recording(name) && !stat(path, &st) &&
	       (S_ISREG(st.st_mode) || is_perf_folder(path));
}

/* Whether the file belongs to the same job as `best`. */
static bool is_of_job(const struct kinfile_rank *r, const struct kinfile_rank *best)
{
	return best->rank && r->rank && r->ranks == best->ranks && !strcmp(r->job, best->job);
}

/* The newest file among those marked in `among` (NULL: all); `best` if there is none. */
static size_t newest_file(const struct path_list *l, const bool *among, size_t best)
{
	struct timespec newest = { 0 };
	for (size_t i = 0; i < l->at.n; i++) {
		struct stat st;
		if ((among && !among[i]) || stat(l->at.at[i], &st))
			continue;
		if (st.st_mtim.tv_sec > newest.tv_sec ||
		    (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec > newest.tv_nsec)) {
			newest = st.st_mtim;
			best = i;
		}
	}
	return best;
}

/* Whether `path`, by its name, is the file of that rank next to `other`: "profile.0.kin",
 * "profile.1.kin". */
static bool is_of_rank_beside(const char *path, uint32_t rank, const char *other)
{
	size_t n = strlen(other);
	if (n < 4 || strcmp(other + n - 4, ".kin") != 0)
		return false;
	for (n -= 4; n && isdigit((unsigned char)other[n - 1]);)
		n--;
	char *name = xprintf("%.*s%" PRIu32 ".kin", (int)n, other, rank);
	bool is = !strcmp(name, path);
	free(name);
	return is;
}

/* The newest file or, if it cannot be read, the newest file of another rank next to it: the user
 * means the rest of the job, too. */
static size_t find_job(const struct path_list *l, const struct kinfile_rank *of, size_t newest)
{
	bool *beside = xalloc(l->at.n * sizeof(*beside));
	for (size_t i = 0; i < l->at.n; i++)
		beside[i] = of[i].rank &&
			    is_of_rank_beside(l->at.at[i], of[i].rank - 1, l->at.at[newest]);
	size_t best = newest_file(l, beside, newest);
	free(beside);
	return best;
}

/* Keeps the last recording, because several recordings are not parts of one whole, as the files of
 * one run are. Of a parallel job all ranks are kept. If both kin record and the runtime in the
 * program recorded a rank, they measured the same time: then the files of the same kind as the
 * newest one are kept. */
static void keep_newest(struct path_list *l)
{
	struct kinfile_rank *of = xrealloc(NULL, l->at.n, sizeof(*of));
	struct map64 measured = { 0 }; /* ranks that have a file of that kind */
	size_t best = newest_file(l, NULL, 0), n = 0;
	for (size_t i = 0; i < l->at.n; i++)
		if (!kinfile_rank_of(l->at.at[i], &of[i]))
			of[i] = (struct kinfile_rank){ .writer = NO_WRITER };
	bool is_readable = of[best].writer != NO_WRITER;
	const struct kinfile_rank job = of[is_readable ? best : find_job(l, of, best)];
	for (size_t i = 0; i < l->at.n; i++)
		if (is_of_job(&of[i], &job) && of[i].writer == job.writer)
			*map64_at(&measured, of[i].rank) = 1;
	for (size_t i = 0; i < l->at.n; i++) {
		bool other = of[i].writer != job.writer;
		if (i == best || (is_of_job(&of[i], &job) &&
				  !(other && map64_get(&measured, of[i].rank) != NONE)))
			l->at.at[n++] = l->at.at[i];
		else
			free(l->at.at[i]);
	}
	l->at.n = n;
	map64_free(&measured);
	free(of);
}

static time_t newest_of(const struct path_list *l)
{
	time_t newest = 0;
	for (size_t i = 0; i < l->at.n; i++) {
		struct stat st;
		if (!stat(l->at.at[i], &st) && st.st_mtim.tv_sec > newest)
			newest = st.st_mtim.tv_sec;
	}
	return newest;
}

static bool is_profiled_program(const char *path, const char *name)
{
	struct stat st;
	(void)name;
	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111 &&
	       object_probe_profiled(path);
}

/* The only program in the current folder that is built with -pg, or NULL. To be freed. */
static char *find_only_program(void)
{
	struct path_list programs = { 0 };
	list(".", is_profiled_program, &programs);
	char *only = programs.at.n == 1 ? TAKE(programs.at.at[0]) : NULL;
	path_list_free(&programs);
	return only;
}

/* A profile in the folder of the program; NULL: there is none, or that is the current folder. To be
 * freed. */
static char *find_beside(const char *program)
{
	const char *slash = strrchr(program, '/');
	struct path_list there = { 0 };
	if (!slash)
		return NULL;
	char *folder = copy(program, slash == program ? 1 : (size_t)(slash - program));
	list(folder, is_data, &there);
	if (!there.at.n)
		list(folder, is_recording, &there);
	char *first = there.at.n ? TAKE(there.at.at[newest_file(&there, NULL, 0)]) : NULL;
	path_list_free(&there);
	free(folder);
	return first;
}

/* An error that explains why there is no profile of the program, if one is given, and what to
 * do. */
static struct kin_error *no_data(const char *program)
{
	if (!program || !*program)
		return err_new(
			KIN_ERROR_USAGE,
			"there is no profile here: record one with kin record or kin run, run a "
			"program built with -pg (gmon.out), or name the data file");
	const char *here = strchr(program, '/') ? "" : "./";
	char *beside = find_beside(program);
	struct kin_error *err;
	if (beside)
		err = err_new(KIN_ERROR_USAGE,
			      "there is no profile here, but one beside the program: name %s, too",
			      beside);
	else if (!object_probe_profiled(program))
		err = err_new(KIN_ERROR_USAGE,
			      "there is no profile here, and %s was not built with -pg, to leave a "
			      "gmon.out: kin record %s%s makes one",
			      program, here, program);
	else
		err = err_new(
			KIN_ERROR_USAGE,
			"there is no profile here: run %s first; if it was linked with -pg, it "
			"leaves gmon.out in its current folder when it ends by exit() or a return "
			"from main; kin record %s%s makes a profile however it ends",
			program, here, program);
	free(beside);
	return err;
}

/* If a program left a recording and a gmon.out at the same time, the recording has more data. */
struct kin_error *find_data(const char *program, struct path_list *ret)
{
	enum { SAME_TIME = 2 /* seconds */ };
	struct path_list recordings = { 0 };
	list(".", is_data, ret);
	list(".", is_recording, &recordings);
	if (recordings.at.n &&
	    (!ret->at.n || newest_of(&recordings) + SAME_TIME >= newest_of(ret))) {
		path_list_free(ret);
		*ret = recordings;
		keep_newest(ret);
		return NULL;
	}
	path_list_free(&recordings);
	if (ret->at.n)
		return NULL;
	char *only = program && *program ? NULL : find_only_program();
	struct kin_error *err = no_data(only ? only : program);
	free(only);
	return err;
}

/* ---- the program ---- */

static char *folder_of(const char *data)
{
	struct stat st;
	const char *slash = strrchr(data, '/');
	if (!stat(data, &st) && S_ISDIR(st.st_mode))
		return copy(data, strlen(data));
	if (!slash)
		return copy(".", 1);
	return slash == data ? copy("/", 1) : copy(data, (size_t)(slash - data));
}

static struct kin_error *too_many(const struct path_list *programs)
{
	char names[512];
	size_t n = 0;
	names[0] = '\0';
	for (size_t i = 0; i < programs->at.n && i < LISTED && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
				      programs->at.at[i]);
	return err_new(
		KIN_ERROR_USAGE,
		"several programs here are built with -pg (%s%s): say which one with -e PROGRAM",
		names, programs->at.n > LISTED ? ", ..." : "");
}

/* NULL with *ret NULL: there is no program. */
static struct kin_error *find_in(const char *folder, char **ret)
{
	struct stat st;
	struct kin_error *err = NULL;
	char *usual = join(folder, "a.out");
	if (!stat(usual, &st) && S_ISREG(st.st_mode)) {
		*ret = usual;
		return NULL;
	}
	free(usual);

	struct path_list programs = { 0 };
	list(folder, is_profiled_program, &programs);
	if (programs.at.n == 1)
		*ret = TAKE(programs.at.at[0]);
	else if (programs.at.n)
		err = too_many(&programs);
	path_list_free(&programs);
	return err;
}

struct kin_error *find_executable(const char *data, char **ret)
{
	char *found = NULL, *folder = data ? folder_of(data) : copy(".", 1);
	struct kin_error *err = find_in(folder, &found);
	if (!err && !found && strcmp(folder, ".") != 0)
		err = find_in(".", &found);
	free(folder);
	if (err)
		return err;
	if (!found)
		return err_new(KIN_ERROR_USAGE,
			       "which program is %s of? There is no a.out and no other program "
			       "built with -pg here: name it, or say -e PROGRAM",
			       data && strcmp(data, "-") != 0 ? data : "the data");
	*ret = found;
	return NULL;
}

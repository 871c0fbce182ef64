/* source.c - tries the places where a source file may be, and reads what looks like source. */
#include "object/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "object/debuginfod.h"

/* ---- what counts as source ---- */

/* Endings of source code, in lower case; in no order, as they are searched seldom. */
static const char *const endings[] = {
	"c",     "h",   "i",   "cc",  "hh",   "ii",   "cp",    "cpp", "hpp", "cxx",  "hxx", "c++",
	"h++",   "ipp", "ixx", "ixx", "cppm", "tcc",  "txx",   "tpp", "inl", "inc",  "def", "s",
	"asm",   "m",   "mm",  "mi",  "rs",   "go",   "f",     "for", "fpp", "ftn",  "f77", "f90",
	"f95",   "f03", "f08", "f18", "d",    "di",   "ads",   "adb", "ada", "pas",  "pp",  "lpr",
	"swift", "zig", "nim", "cr",  "v",    "vala", "vapi",  "ml",  "mli", "mll",  "mly", "hs",
	"lhs",   "hsc", "erl", "ex",  "java", "kt",   "scala", "cs",  "fs",  "vb",   "js",  "ts",
	"py",    "pyx", "pxd", "pxi", "rb",   "pl",   "xs",    "lua", "r",   "jl",   "cu",  "cuh",
	"cl",    "hip", "y",   "yy",  "yxx",  "ypp",  "l",     "ll",  "lex", "re",   "rl",  "gperf",
	"cob",   "cbl", "cpy", "mod", "tbl",  "td",   "x",     "xx",  "st",  "lisp", "scm", "el",
};

/* Parts of folders' names below which files without an ending are source. */
static const char *const libraries[] = { "/include/", "/usr/src/", "/rustlib/src/", "/go/src/",
					 "/usr/lib/gcc" };

static bool ends_as_source(const char *base)
{
	const char *dot = strrchr(base, '.');
	for (size_t i = 0; dot && i < ARRAY_LEN(endings); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	return false;
}

static bool is_library(const char *path, const char *base)
{
	for (size_t i = 0; !strchr(base, '.') && i < ARRAY_LEN(libraries); i++)
		if (strstr(path, libraries[i]))
			return true;
	return false;
}

static bool is_below(const char *path, const char *folder)
{
	char *real = realpath(folder, NULL);
	size_t n = real ? strlen(real) : 0;
	bool below = n && (n == 1 || (!strncmp(path, real, n) && path[n] == '/'));
	free(real);
	return below;
}

/* Everything is below the root directory: being there says nothing of a file. */
static bool is_here(const char *path)
{
	char here[2];
	bool at_root = getcwd(here, sizeof(here)) && !strcmp(here, "/");
	return !at_root && is_below(path, ".");
}

static bool is_source(const char *path, const char *const *dirs)
{
	char *real = realpath(path, NULL);
	if (!real)
		return true; /* what is not there cannot be read */
	const char *base = strrchr(real, '/') + 1;
	bool good = ends_as_source(base) || is_library(real, base) || is_here(real);
	for (; !good && dirs && *dirs; dirs++)
		good = is_below(real, *dirs);
	free(real);
	return good;
}

/* ---- finding it ---- */

/* A search under way. `reason`: the first error that is not "no such file", the one worth
 * telling. */
struct source_search {
	struct source_text *ret;
	const char *const *dirs;
	bool any;
	struct kin_error *reason;
	bool found;
};

static void try(struct source_search *s, char *path)
{
	static const struct file_opts opts = { .max = SOURCE_MAX };
	struct kin_error *err =
		s->any || is_source(path, s->dirs)
			? file_read(path, &opts, &s->ret->file)
			: err_new(KIN_ERROR_UNSUPPORTED,
				  "%s: is not shown, as it does not look like source code; if it "
				  "is, -I DIRECTORY names its directory",
				  path);

	if (!err) {
		s->found = true;
		s->ret->path = path;
		return;
	}
	if (!s->reason && kin_error_errno(err) != ENOENT && kin_error_errno(err) != ENOTDIR) {
		s->reason = err;
		err = NULL;
	}
	kin_error_free(err);
	free(path);
}

static char *joined(const char *dir, const char *name) /* dir NULL: just the name */
{
	size_t n = (dir ? strlen(dir) : 0) + strlen(name) + 2;
	char *path = xalloc(n);
	snprintf(path, n, "%s%s%s", dir ? dir : "", dir ? "/" : "", name);
	return path;
}

static void try_dirs(struct source_search *s, const char *const *dirs, const char *name)
{
	for (; dirs && *dirs && !s->found; dirs++)
		try(s, joined(*dirs, name));
}

struct kin_error *source_open(const char *path, const char *const *dirs, bool any,
			      struct source_text *ret)
{
	struct source_text text = { 0 };
	struct source_search s = { .ret = &text, .dirs = dirs, .any = any };
	const char *slash = strrchr(path, '/');

	try(&s, strcmp(path, "-") ? joined(NULL, path)
				  : joined(".", path)); /* "-" is no standard input */
	if (path[0] != '/')
		try_dirs(&s, dirs, path);
	if (slash)
		try_dirs(&s, dirs, slash + 1);

	struct kin_error *err = NULL;
	if (s.found)
		*ret = text; /* even if an earlier path could not be read */
	else if (s.reason && err_is_trouble(s.reason))
		err = err_wrap(TAKE(s.reason), "source '%s'", path);
	else if (s.reason)
		err = err_new(kin_error_kind(s.reason), "source '%s': %s", path,
			      kin_error_message(s.reason));
	else
		err = err_new(KIN_ERROR_OS,
			      "source '%s': no such file, neither as named nor in the %s", path,
			      dirs && *dirs
				      ? "directories to search"
				      : "current directory; -I DIRECTORY names its directory");
	kin_error_free(s.reason);
	return err ? err_about(err, (struct err_facts){ ERR_NO_SOURCE, path }) : NULL;
}

/* Servers know sources by absolute paths, and take any other path for a mistake. */
bool source_fetch(struct debuginfod *servers, const char *build_id, const char *path,
		  struct source_text *ret)
{
	const char *found =
		path[0] == '/' ? debuginfod_find(servers, DEBUGINFOD_SOURCE, build_id, path, path)
			       : NULL;
	struct source_text text = { 0 };
	if (!found)
		return false;
	struct kin_error *err = source_open(found, NULL, false, &text);
	kin_error_free(err);
	if (err)
		return false;
	*ret = text;
	return true;
}

void source_done(struct source_text *t)
{
	file_free(&t->file);
	free(t->path);
	*t = (struct source_text){ 0 };
}

bool source_line(const uint8_t *data, size_t size, size_t *at, const uint8_t **line, size_t *n)
{
	if (*at >= size)
		return false;
	const uint8_t *end = memchr(data + *at, '\n', size - *at);
	*line = data + *at;
	*n = (size_t)((end ? end : data + size) - *line);
	*at += *n + (end != NULL);
	return true;
}

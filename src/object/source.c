#include "object/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* A search under way: the first error that is not "no such file" is the one worth telling. */
struct search {
	struct source_text *ret;
	struct kin_error *reason;
	bool found;
};

static void try(struct search *s, char *path)
{
	static const struct file_opts opts = { .max = SOURCE_MAX };
	struct kin_error *err = file_read(path, &opts, &s->ret->file);

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

static void try_dirs(struct search *s, const char *const *dirs, const char *name)
{
	for (; dirs && *dirs && !s->found; dirs++)
		try(s, joined(*dirs, name));
}

struct kin_error *source_open(const char *path, const char *const *dirs, struct source_text *ret)
{
	struct source_text text = { 0 };
	struct search s = { .ret = &text };
	const char *slash = strrchr(path, '/');

	try(&s, strcmp(path, "-") ? joined(NULL, path)
				  : joined(".", path)); /* "-" is no standard input */
	if (path[0] != '/')
		try_dirs(&s, dirs, path);
	if (slash)
		try_dirs(&s, dirs, slash + 1);

	struct kin_error *err = NULL;
	if (s.found)
		*ret = text; /* whatever kept an earlier name from being read */
	else if (s.reason && err_is_trouble(s.reason))
		err = err_wrap(TAKE(s.reason), "source '%s'", path);
	else if (s.reason)
		err = err_new(kin_error_kind(s.reason), "source '%s': %s", path,
			      kin_error_message(s.reason));
	else
		err = err_new(KIN_ERROR_OS,
			      "source '%s': no such file, neither as named nor in the %s", path,
			      dirs && *dirs ? "folders to search"
					    : "current folder; name the folder it is in");
	kin_error_free(s.reason);
	return err ? err_gnu(err, true, "could not locate `%s'", path) : NULL;
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

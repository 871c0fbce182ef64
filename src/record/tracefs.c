/* tracefs.c - finds tracefs, and reads ids and formats of trace points. */
#include "record/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { FORMAT_MAX = 1 << 20 };

static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* The folder of trace points: the first that has some, or else the usual one. */
static const char *root(void)
{
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		char *path = xprintf("%s/events", roots[i]);
		bool there = !access(path, F_OK) || errno == EACCES;
		free(path);
		if (there)
			return roots[i];
	}
	return roots[0];
}

static struct kin_error *unreadable(int errnum, const char *pattern)
{
	if (errnum == EACCES || errnum == EPERM)
		return err_os(errnum, "'%s': the trace points in %s", pattern, root());
	return err_new(KIN_ERROR_UNSUPPORTED,
		       "'%s': trace points need the kernel's file system for them: sudo mount -t "
		       "tracefs nodev %s",
		       pattern, roots[0]);
}

/* Reads the number in the trace point's file `id`. False: this is no trace point. */
static bool read_id(const char *group, const char *name, uint64_t *ret)
{
	unsigned long long id;
	char *path = xprintf("%s/events/%s/%s/id", root(), group, name);
	FILE *f = fopen(path, "re");
	free(path);
	bool good = f && fscanf(f, "%llu", &id) == 1;
	int errnum = errno;
	if (f)
		fclose(f);
	if (good)
		*ret = id;
	errno = errnum;
	return good;
}

static int by_name(const void *a, const void *b)
{
	const struct tracepoint *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Adds the matching trace points of one group. */
static void find_in_group(const char *group, const char *pattern, struct tracepoints *ret,
			  int *errnum)
{
	char *path = xprintf("%s/events/%s", root(), group);
	DIR *d = opendir(path);
	free(path);
	if (!d) {
		*errnum = errno;
		return;
	}
	for (struct dirent *e; (e = readdir(d));) {
		struct tracepoint t = { .id = 0 };
		if (e->d_name[0] == '.' || fnmatch(pattern, e->d_name, 0))
			continue;
		errno = 0;
		if (!read_id(group, e->d_name, &t.id)) {
			*errnum = errno == EACCES || errno == EPERM ? errno : *errnum;
			continue;
		}
		if (snprintf(t.name, sizeof(t.name), "%s:%s", group, e->d_name) <
		    (int)sizeof(t.name))
			vec_push(&ret->at, t);
	}
	closedir(d);
}

struct kin_error *tracefs_find(const char *pattern, size_t n, struct tracepoints *ret)
{
	char *group = xprintf("%.*s", (int)n, pattern), *colon = strchr(group, ':');
	size_t before = ret->at.n;
	int errnum = 0;
	char *path = xprintf("%s/events", root());
	DIR *d = opendir(path);
	free(path);
	if (!d)
		errnum = errno;
	if (colon)
		*colon = '\0';
	for (struct dirent *e; d && colon && (e = readdir(d));)
		if (e->d_name[0] != '.' && !fnmatch(group, e->d_name, 0))
			find_in_group(e->d_name, colon + 1, ret, &errnum);
	if (d)
		closedir(d);
	free(group);
	if (ret->at.n > before) {
		qsort(ret->at.at + before, ret->at.n - before, sizeof(ret->at.at[0]), by_name);
		return NULL;
	}
	char *whole = xprintf("%.*s", n > 80 ? 80 : (int)n, pattern);
	struct kin_error *err =
		errnum ? unreadable(errnum, whole)
		       : err_new(KIN_ERROR_USAGE, "no trace point '%s': ls %s/events lists them",
				 whole, root());
	free(whole);
	return err;
}

bool tracefs_is_closed(void)
{
	char *path = xprintf("%s/events", root());
	bool closed = access(path, R_OK | X_OK) && (errno == EACCES || errno == EPERM);
	free(path);
	return closed;
}

/* To be freed; NULL: it cannot be read. */
static char *read_text(const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *f = fopen(path, "re"), *to = f ? xopen_memstream(&text, &size) : NULL;
	for (int c; to && ftell(to) < FORMAT_MAX && (c = getc(f)) != EOF;)
		putc(c, to);
	if (to)
		xclose_memstream(to, &text);
	if (f)
		fclose(f);
	return text;
}

char *tracefs_format(const char *name)
{
	const char *colon = strchr(name, ':');
	if (!colon)
		return NULL;
	char *path =
		xprintf("%s/events/%.*s/%s/format", root(), (int)(colon - name), name, colon + 1);
	char *text = read_text(path);
	free(path);
	return text;
}

char *tracefs_strings(void)
{
	char *path = xprintf("%s/printk_formats", root()), *text = read_text(path);
	free(path);
	return text;
}

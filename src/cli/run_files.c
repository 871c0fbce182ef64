/* run_files.c - finds the files by name, and reads from their headers what became of the
 * processes. */
#include "cli/run_files.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/inside.h"
#include "record/runtime_file.h"

static int by_name(const void *a, const void *b)
{
	const struct run_file *x = a, *y = b;
	return strcmp(x->path, y->path);
}

/* Adds a file, unless its process began before `start`: times of files are coarse, and an earlier
 * run that has just ended touched its own. */
static void add_file(struct run_files *f, const char *path, const struct timespec *start)
{
	struct run_file x = { 0 };
	runtime_file_header(path, &x.header);
	if (x.header.start_time_ns && x.header.start_time_ns < clock_ns_of(*start))
		return;
	x.path = xprintf("%s", path);
	vec_push(&f->at, x);
}

void run_files_find(const char *output, const struct timespec *start, struct run_files *ret)
{
	glob_t g = { 0 };
	char *taken = inside_pattern(output, true), *plain = inside_pattern(output, false);
	int how = glob(taken, 0, NULL, &g) ? 0 : GLOB_APPEND;
	glob(plain, how, NULL, &g);
	*ret = (struct run_files){ 0 };
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (inside_is_newer(g.gl_pathv[i], start) && !run_files_named(ret, g.gl_pathv[i]))
			add_file(ret, g.gl_pathv[i], start);
	if (ret->at.n)
		qsort(ret->at.at, ret->at.n, sizeof(ret->at.at[0]), by_name);
	globfree(&g);
	free(taken);
	free(plain);
}

size_t run_files_others(const struct run_files *f, const char *pattern)
{
	glob_t g = { 0 };
	size_t n = 0;
	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc; i++)
			n += !run_files_named(f, g.gl_pathv[i]);
	globfree(&g);
	return n;
}

void run_files_done(struct run_files *f)
{
	for (size_t i = 0; i < f->at.n; i++)
		free(f->at.at[i].path);
	vec_free(&f->at);
}

const struct run_file *run_files_named(const struct run_files *f, const char *path)
{
	for (size_t i = 0; i < f->at.n; i++)
		if (!strcmp(f->at.at[i].path, path))
			return &f->at.at[i];
	return NULL;
}

const struct run_file *run_files_last(const struct run_files *f, pid_t process)
{
	const struct run_file *last = NULL;
	for (size_t i = 0; i < f->at.n; i++) {
		const struct kinf_header *h = &f->at.at[i].header;
		if (h->pid == (uint32_t)process && h->pid &&
		    (!last || h->start_ns > last->header.start_ns))
			last = &f->at.at[i];
	}
	return last;
}

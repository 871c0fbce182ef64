/* line_counts.c - adds up counts by file and line, and finds files by the end of their path. */
#include "profile/line_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/file.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"

struct counted_file {
	strid path;     /* without "." and ".."; absolute if that is known */
	strid relative; /* the path as it was given, if it was relative; else 0 */
};

struct line_count {
	uint32_t file, line;
	uint64_t count;
};

struct line_counts {
	struct strtab *strings;
	VEC(struct counted_file) files;
	struct map64 ids;   /* by path: index into files */
	struct map64 lines; /* MAP64_PAIR(file, line): index into counts */
	VEC(struct line_count) counts;
};

struct line_counts *line_counts_new(void)
{
	struct line_counts *l = xalloc(sizeof(*l));
	l->strings = strtab_new();
	return l;
}

void line_counts_free(struct line_counts *l)
{
	if (!l)
		return;
	strtab_free(l->strings);
	vec_free(&l->files);
	vec_free(&l->counts);
	map64_free(&l->ids);
	map64_free(&l->lines);
	free(l);
}

/* `whole`: clean, and absolute if that is known. */
static uint32_t add_file(struct line_counts *l, const char *whole, const char *relative)
{
	strid id = strtab_add(l->strings, whole);
	uint32_t *at = map64_at(&l->ids, id);
	if (*at == NONE) {
		*at = (uint32_t)l->files.n;
		strid given = *relative ? strtab_add(l->strings, relative) : 0;
		vec_push(&l->files, ((struct counted_file){ id, given }));
	}
	return *at;
}

static uint32_t file_of(struct line_counts *l, const char *folder, const char *path)
{
	bool joined = *path != '/' && *folder;
	char *whole = joined ? xprintf("%s/%s", folder, path) : xprintf("%s", path);
	char *relative = xprintf("%s", path);

	file_clean_path(whole);
	file_clean_path(relative);
	bool has_relative = *path != '/' && strncmp(relative, "../", 3) != 0;
	uint32_t file = add_file(l, whole, has_relative ? relative : "");
	free(whole);
	free(relative);
	return file;
}

static void add_count(struct line_counts *l, uint32_t file, uint32_t line, uint64_t count)
{
	uint32_t *at = map64_at(&l->lines, MAP64_PAIR(file, line));
	if (*at == NONE) {
		*at = (uint32_t)l->counts.n;
		vec_push(&l->counts, ((struct line_count){ .file = file, .line = line }));
	}
	capped_add(&l->counts.at[*at].count, count);
}

void line_counts_add(struct line_counts *l, const char *folder, const char *path, uint32_t line,
		     uint64_t count)
{
	add_count(l, file_of(l, folder, path), line, count);
}

void line_counts_add_all(struct line_counts *l, const struct line_counts *from)
{
	uint32_t *now = xrealloc(NULL, from->files.n + 1, sizeof(*now));

	for (size_t i = 0; i < from->files.n; i++) {
		const struct counted_file *f = &from->files.at[i];
		now[i] = add_file(l, strtab_get(from->strings, f->path),
				  strtab_get(from->strings, f->relative));
	}
	for (size_t i = 0; i < from->counts.n; i++) {
		const struct line_count *c = &from->counts.at[i];
		add_count(l, now[c->file], c->line, c->count);
	}
	free(now);
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);
	return k && k < n && path[n - k - 1] == '/' && !strcmp(path + n - k, end);
}

uint32_t line_counts_file(const struct line_counts *l, const char *path)
{
	char *wanted = xprintf("%s", path);
	uint32_t found = NONE;

	file_clean_path(wanted);
	for (uint32_t i = 0; i < l->files.n && found == NONE; i++)
		if (!strcmp(strtab_get(l->strings, l->files.at[i].path), wanted))
			found = i;
	for (uint32_t i = 0; i < l->files.n && found == NONE; i++)
		if (ends_with(wanted, strtab_get(l->strings, l->files.at[i].relative)))
			found = i;
	free(wanted);
	return found;
}

bool line_counts_find(const struct line_counts *l, uint32_t file, uint32_t line, uint64_t *count)
{
	uint32_t at = file == NONE ? NONE : map64_get(&l->lines, MAP64_PAIR(file, line));
	if (at == NONE)
		return false;
	*count = l->counts.at[at].count;
	return true;
}

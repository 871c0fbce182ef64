/* filemap.c - parses the map of functions to object files, and finds functions in it by name. */
#include "gnu/filemap.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/sort.h"
#include "gnu/words.h"

static struct kin_error *bad(const char *path, size_t line)
{
	return gnu_words_are(
		err_new(KIN_ERROR_FORMAT,
			"%s:%zu: not a line of a map: 'nm --extern-only --defined-only -v "
			"--print-file-name' writes FILE:ADDRESS TYPE FUNCTION",
			path, line),
		true, "unable to parse mapping file %s.", path);
}

/* In GNU's words, which differ from those for data files. */
static struct kin_error *cannot_open(const char *path, struct kin_error *why)
{
	struct kin_error *err =
		err_new(kin_error_kind(why), "reading the map: %s", kin_error_message(why));
	kin_error_free(why);
	return gnu_words_are(err, true, "could not open %s.", path);
}

static bool parse_line(struct filemap *m, const char *s, size_t n, bool gnu)
{
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	const char *colon = gnu ? memchr(s, ':', n) : memrchr(s, ':', n);
	const char *space = memrchr(s, ' ', n);
	if (!colon || colon == s || !space || space < colon)
		return false;

	char *file = arena_alloc_bytes(&m->arena, (size_t)(colon - s) + 1);
	char *function = arena_alloc_bytes(&m->arena, n - (size_t)(space - s));
	memcpy(file, s, (size_t)(colon - s));
	memcpy(function, space + 1, n - (size_t)(space + 1 - s));
	vec_push(&m->entries, ((struct file_map_entry){ file, function }));
	return true;
}

static struct kin_error *parse(struct filemap *m, const char *path, const char *s, bool gnu)
{
	static const char none[] = "No symbols in ";

	for (size_t line = 1; *s; line++) {
		size_t n = strcspn(s, "\n");
		bool skip = !strncmp(s, none, sizeof(none) - 1) || strspn(s, " \t\r\n") >= n;
		if (!skip && !parse_line(m, s, n, gnu))
			return bad(path, line);
		s += n + (s[n] == '\n');
	}
	return m->entries.n ? NULL : bad(path, 1);
}

/* ---- names ---- */

struct filemap_name {
	const char *function, *file;
	size_t at;
	bool is_first; /* the first function of its file, in the order of the map */
};

static int by_function(const void *l, const void *r)
{
	const struct filemap_name *a = l, *b = r;
	int c = strcmp(a->function, b->function);
	return c ? c : ORDER(a->at, b->at);
}

static void sort_places(struct filemap *m)
{
	m->by_function = xalloc(m->entries.n * sizeof(*m->by_function));
	for (size_t i = 0; i < m->entries.n; i++) {
		const struct file_map_entry *e = &m->entries.at[i];
		m->by_function[i] = (struct filemap_name){ e->function, e->file, i,
							   !i || strcmp(e->file, e[-1].file) != 0 };
	}
	qsort(m->by_function, m->entries.n, sizeof(*m->by_function), by_function);
}

static int find_function(const void *name, const void *entry)
{
	return strcmp(name, ((const struct filemap_name *)entry)->function);
}

const char *filemap_rename(const char *name, const void *filemap)
{
	const struct filemap *m = filemap;
	const struct filemap_name *found =
		bsearch(name, m->by_function, m->entries.n, sizeof(*m->by_function), find_function);
	if (!found)
		return name;
	return found->is_first ? found->file : NULL;
}

/* ---- reading and freeing ---- */

struct kin_error *filemap_read(const char *path, bool gnu, struct filemap *ret)
{
	struct file f;
	struct kin_error *err;

	*ret = (struct filemap){ 0 };
	if ((err = file_read(path, &(struct file_opts){ .allow_fifo = true }, &f)))
		return cannot_open(path, err);
	err = parse(ret, path, (const char *)f.data, gnu);
	file_free(&f);
	if (!err && gnu)
		sort_places(ret);
	return err;
}

void filemap_done(struct filemap *m)
{
	vec_free(&m->entries);
	free(m->by_function);
	arena_release(&m->arena);
}

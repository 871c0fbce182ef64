/* symbols.c - makes places of an object's symbols or lines, and names them when asked. */
#include "symbolize/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbolize/line_names.h"
#include "symbolize/symbols_private.h"

/* ---- places ---- */

static bool same_text(const char *a, const char *b) { return a == b || !strcmp(a, b); }

static bool same_line(const struct line_run *a, const struct line_run *b)
{
	return a->at.line == b->at.line && same_text(a->at.file, b->at.file) &&
	       same_text(a->at.function, b->at.function);
}

/* A place needs all three: else its code stays with the place before it. */
static bool is_usable(const struct line_run *r)
{
	return r->at.function && r->at.file && r->at.line;
}

static struct symbol from_table(const struct object_symbol *o)
{
	return (struct symbol){ .addr = o->addr,
				.end = o->end,
				.name = o->name,
				.owner = o->owner,
				.is_function = o->flags & SYMBOL_FUNCTION,
				.is_static = o->flags & SYMBOL_STATIC,
				.is_nameless = o->flags & SYMBOL_NAMELESS };
}

/* Whether a run goes on with the line of the place before it, in the same function. */
static bool goes_on(const struct symbols *s, const struct symbol_table *t,
		    const struct line_run *before, const struct line_run *run)
{
	return before && same_line(before, run) &&
	       (symbols_rules(s)->one_name ||
		symbol_covering(t, before->addr) == symbol_covering(t, run->addr));
}

/* Makes the places of lines: one for each run that differs from the one before. */
static size_t line_places(struct symbols *s, const struct symbol_table *t, struct line_run *runs,
			  size_t n, struct symbol *lines)
{
	const struct line_run *prev = NULL;
	bool prev_static = false;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_usable(&runs[i]) || goes_on(s, t, prev, &runs[i]))
			continue;
		symid in = symbol_covering(t, runs[i].addr);
		bool is_static = prev && same_text(prev->at.file, runs[i].at.file) &&
						 same_text(prev->at.function, runs[i].at.function)
					 ? prev_static
					 : in != NONE && t->at[in].flags & SYMBOL_STATIC;
		prev = &runs[i];
		prev_static = is_static;
		lines[kept++] = (struct symbol){
			.addr = runs[i].addr,
			.end = runs[i].addr,
			.name = runs[i].at.function,
			.file = strtab_get(s->priv->files,
					   strtab_add(s->priv->files, runs[i].at.file)),
			.line = runs[i].at.line,
			.is_static = is_static,
			.is_line = true,
			.located = true,
		};
	}
	return kept;
}

/* Whether a symbol's place must be empty because the line that starts with it is of inlined code:
 * the line has the time, the symbol the calls. */
static bool begins_inlined(const struct symbols *s, const struct symbol_table *t, size_t symbol,
			   const struct symbol *line)
{
	const char *own = t->at[t->at[symbol].owner].name;
	return !symbols_rules(s)->one_name && !same_text(own, line->name) &&
	       !same_text(t->at[symbol].name, line->name);
}

/* Merges symbols and lines by address. A place ends where the next one of either kind starts; a
 * function's own end bounds it and its lines. Where a symbol and a line start together, the symbol
 * stays, unless the rules say otherwise or the line is of inlined code. */
static void merge_lines(struct symbols *s, const struct symbol_table *t, struct symbol *lines,
			size_t n)
{
	bool (*line_wins)(const struct symbol *, const struct symbol *) =
		symbols_rules(s)->line_wins;
	symid *moved = xalloc(t->n * sizeof(*moved));
	size_t i = 0, j = 0;

	while (i < t->n || j < n) {
		if (i < t->n && j < n && t->at[i].addr == lines[j].addr &&
		    !begins_inlined(s, t, i, &lines[j])) {
			struct symbol function = from_table(&t->at[i]);
			bool line = line_wins && line_wins(&function, &lines[j]);
			if (line)
				lines[j].end = function.end;
			moved[i] = (symid)s->n;
			s->at[s->n++] = line ? lines[j] : function;
			i++, j++;
		} else if (j == n || (i < t->n && t->at[i].addr <= lines[j].addr)) {
			moved[i] = (symid)s->n;
			s->at[s->n++] = from_table(&t->at[i++]);
		} else {
			s->at[s->n++] = lines[j++];
		}
	}

	uint64_t bound = s->text.high;
	for (size_t k = 0; k < s->n; k++) {
		struct symbol *p = &s->at[k];
		if (p->end > p->addr) /* not a line: these do not know their end yet */
			bound = p->end;
		p->end = k + 1 < s->n && s->at[k + 1].addr < bound ? s->at[k + 1].addr : bound;
		if (p->end < p->addr)
			p->end = p->addr;
		p->owner = p->is_line ? (symid)k : moved[p->owner];
	}
	free(moved);
}

/* Index of the first run, from `start` on, with a function's own code; `start` if its place is not
 * empty, or if all of its code is inlined. */
static size_t own_run(const struct symbols *s, size_t function, const struct line_run *runs,
		      size_t n, size_t start)
{
	const struct symbol *f = &s->at[function];
	size_t next = function + 1;

	if (f->end > f->addr)
		return start;
	while (next < s->n && s->at[next].is_line)
		next++;
	uint64_t end = next < s->n ? s->at[next].addr : UINT64_MAX;
	for (size_t k = start; k < n && runs[k].addr < end; k++)
		if (is_usable(&runs[k]) && same_text(runs[k].at.function, f->name))
			return k;
	return start;
}

/* Sets the lines of functions from the runs at their starts. */
static void locate_functions(struct symbols *s, const struct line_run *runs, size_t n)
{
	for (size_t i = 0, k = 0; i < s->n; i++) {
		struct symbol *p = &s->at[i];
		while (k < n && runs[k].end <= p->addr)
			k++;
		if (p->located || k == n || runs[k].addr > p->addr || !runs[k].at.file ||
		    !runs[k].at.line)
			continue;
		const struct srcloc *at = &runs[own_run(s, i, runs, n, k)].at;
		p->file = strtab_get(s->priv->files, strtab_add(s->priv->files, at->file));
		p->line = at->line;
		p->located = true;
	}
}

static int by_position(const void *a, const void *b)
{
	const struct placed *l = a, *r = b;
	return ORDER(l->position, r->position);
}

static void set_place(struct symbols *s, struct symbol *p, const struct srcloc *at)
{
	p->located = true;
	if (at->file && at->line) {
		p->file = strtab_get(s->priv->files, strtab_add(s->priv->files, at->file));
		p->line = at->line;
	}
}

/* Looks up the lines of all symbols, in the file's order. The answers are in the order of t. */
static struct srcloc *ask_for_all(struct symbols *s, const struct symbol_table *t)
{
	struct srcloc *ret = xalloc(t->n * sizeof(*ret));
	struct placed *order = xalloc(t->n * sizeof(*order));
	for (size_t i = 0; i < t->n; i++)
		order[i] = (struct placed){ t->at[i].position, (symid)i };
	qsort(order, t->n, sizeof(*order), by_position);
	for (size_t i = 0; i < t->n; i++)
		object_place(s->object, t->at[order[i].id].addr, symbols_rules(s)->lines,
			     &ret[order[i].id]);
	free(order);
	return ret;
}

static void set_places(struct symbols *s, const struct symbol_table *t, const struct srcloc *at)
{
	for (size_t i = 0, k = 0; i < s->n && k < t->n; i++) {
		struct symbol *p = &s->at[i];
		if (p->addr == t->at[k].addr && !p->is_line)
			set_place(s, p, &at[k]);
		k += p->addr == t->at[k].addr;
	}
}

static bool knows_places(const struct symbols *s)
{
	return !symbols_rules(s)->bare_lists || !s->opts.table.external;
}

static void add_places(struct symbols *s, struct symbol_table *t)
{
	bool with_lines = s->opts.lines && knows_places(s);
	const struct place_rules *rules = symbols_rules(s);
	struct srcloc *asked = with_lines && rules->in_file_order ? ask_for_all(s, t) : NULL;
	struct line_run *runs = NULL;
	size_t n_runs = 0;
	if (with_lines && rules->trim)
		rules->trim(t, s->text);
	if (with_lines)
		runs = object_line_runs(s->object, s->text, rules->lines, &n_runs);

	line_names_set(t, runs, n_runs, s->opts.no_inlines);
	if (!rules->one_name)
		line_names_unite(s->object, t, runs, n_runs);
	struct symbol *lines = xalloc(n_runs * sizeof(*lines));
	size_t n = line_places(s, t, runs, n_runs, lines);
	s->at = xalloc((t->n + n) * sizeof(*s->at));
	merge_lines(s, t, lines, n);
	if (asked)
		set_places(s, t, asked);
	else if (!rules->in_file_order)
		locate_functions(s, runs, n_runs);
	free(asked);
	free(lines);
	free(runs);
}

/* ---- lookup ---- */

symid symbols_find(const struct symbols *s, uint64_t addr)
{
	return place_index_find(&s->priv->index, addr);
}

symid symbols_find_function(const struct symbols *s, uint64_t addr)
{
	return place_index_find_function(&s->priv->index, addr);
}

symid symbols_find_start(const struct symbols *s, uint64_t addr)
{
	symid id = symbols_find(s, addr);
	if (id == NONE || s->at[id].addr != addr)
		return NONE;
	bool is_behind = id && s->at[id].is_line && s->at[id - 1].addr == addr;
	return is_behind ? id - 1 : id;
}

void symbols_prefetch(const struct symbols *s, uint64_t addr)
{
	place_index_prefetch(&s->priv->index, addr);
}

/* ---- parts ---- */

static const struct symbols_part *part_at(const struct symbols *s, uint64_t addr)
{
	size_t low = COUNT_WHILE(s->n_parts, i, s->parts[i].high <= addr);
	return low < s->n_parts && s->parts[low].low <= addr ? &s->parts[low] : NULL;
}

bool symbols_place(struct symbols *s, uint64_t addr, struct srcloc *ret)
{
	const struct symbols_part *p = s->n_parts == 1 ? s->parts : part_at(s, addr);
	return p && p->object && knows_places(s) &&
	       object_place(p->object, addr - p->base, symbols_rules(s)->lines, ret);
}

bool symbols_has_lines(struct symbols *s)
{
	for (size_t i = 0; i < s->n_parts; i++)
		if (s->parts[i].object && object_has_lines(s->parts[i].object))
			return true;
	return false;
}

const char *symbols_path(const struct symbols *s)
{
	return s->object ? object_path(s->object) : "the profile";
}

/* ---- names and files ---- */

static void sort_placed(struct symbols_private *p)
{
	if (p->n_placed && !p->by_position)
		qsort(p->placed, p->n_placed, sizeof(*p->placed), by_position);
	p->by_position = true;
}

static void locate(struct symbols *s, symid id)
{
	struct symbol *p = &s->at[id];
	struct srcloc at = { 0 };
	if (p->located)
		return;
	const struct symbols_part *part = &s->parts[p->part];
	if (part->object && knows_places(s))
		object_place(part->object, p->addr - part->base, symbols_rules(s)->lines, &at);
	set_place(s, p, &at);
}

const struct symbol *symbols_locate(struct symbols *s, symid id)
{
	struct symbols_private *p = s->priv;
	if (symbols_rules(s)->in_file_order && !p->all_located) {
		p->all_located = true;
		sort_placed(p);
		for (size_t i = 0; i < p->n_placed; i++)
			locate(s, p->placed[i].id);
	}
	locate(s, id);
	return &s->at[id];
}

/* "memcpy" of "memcpy@@GLIBC_2.14", "f@plt" of "f@V1@plt"; to be freed. NULL: there is none. */
static char *without_version(const char *name)
{
	const char *at = *name ? strchr(name + 1, '@') : NULL, *tail = at;
	if (!at)
		return NULL;
	while (*tail == '@')
		tail++;
	if (!*tail || !strcmp(tail, "plt"))
		return NULL;
	const char *last = strrchr(tail, '@');
	return xprintf("%.*s%s", (int)(at - name), name, last && !strcmp(last, "@plt") ? last : "");
}

/* Names that the data itself has keep what looks like a version. */
char *symbols_readable(const struct symbols *s, const char *name, bool is_symbol)
{
	char *plain = is_symbol && !s->opts.versions ? without_version(name) : NULL;
	char *readable = demangle(plain ? plain : name, s->opts.style);
	if (!readable)
		return plain;
	free(plain);
	return readable;
}

static uint64_t twin_key(const struct symbols *s, const struct symbol *p)
{
	return MAP64_PAIR(strtab_add(s->priv->statics, p->name), p->part);
}

static bool may_have_twin(const struct symbols *s, symid id)
{
	const struct symbol *p = &s->at[id];
	return p->is_static && p->is_function && !p->is_line && p->owner == id &&
	       s->opts.style == DEMANGLE_TIDY;
}

static bool are_in_two_files(struct symbols *s, symid a, symid b)
{
	const char *one = symbols_locate(s, a)->file, *other = symbols_locate(s, b)->file;
	return one && other && strcmp(one, other) != 0;
}

/* Finds the names of static functions that lie in two source files of one object. */
static void find_twins(struct symbols *s)
{
	struct map64 first = { 0 };
	s->priv->statics = strtab_new();
	for (symid i = 0; i < s->n; i++) {
		if (!may_have_twin(s, i))
			continue;
		uint64_t key = twin_key(s, &s->at[i]);
		uint32_t *other = map64_at(&first, key);
		if (*other == NONE)
			*other = i;
		else if (are_in_two_files(s, *other, i))
			*map64_at(&s->priv->twins, key) = 1;
	}
	map64_free(&first);
}

static bool has_twin(struct symbols *s, symid id)
{
	if (!may_have_twin(s, id))
		return false;
	if (!s->priv->statics)
		find_twins(s);
	return map64_get(&s->priv->twins, twin_key(s, &s->at[id])) != NONE;
}

/* "f (a.c)" of static functions of one name; to be freed. */
static char *with_file(struct symbols *s, symid id, const char *name)
{
	const char *file = symbols_locate(s, id)->file;
	return file ? xprintf("%s (%s)", name, base_name(file)) : NULL;
}

const char *symbols_display(struct symbols *s, symid id)
{
	const char **display = &s->priv->display[id];
	if (*display)
		return *display;

	/* All lines of a function have its name. */
	uint32_t *like = NULL;
	if (s->at[id].is_line)
		like = map64_at(&s->priv->displays, (uintptr_t)s->at[id].name);
	if (like && *like != NONE)
		return *display = s->priv->display[*like];
	if (like)
		*like = id;

	char *readable =
		symbols_readable(s, s->at[id].name, s->parts[s->at[id].part].object != NULL);
	*display = s->at[id].name;
	char *apart = has_twin(s, id) ? with_file(s, id, readable ? readable : *display) : NULL;
	if (apart) {
		free(readable);
		readable = apart;
	}
	if (readable) {
		size_t n = strlen(readable) + 1;
		*display = memcpy(arena_alloc_bytes(&s->priv->arena, n), readable, n);
		free(readable);
	}
	return *display;
}

void symbols_prefetch_display(const struct symbols *s, symid id)
{
	prefetch_line(&s->priv->display[id]);
	prefetch_line(&s->at[id].name);
}

void symbols_prefetch_text(const struct symbols *s, symid id)
{
	const char *display = s->priv->display[id];
	prefetch_line(display ? display : s->at[id].name);
}

static void add_file(struct symbols *s, bool *seen, const char *file)
{
	strid id = file ? strtab_add(s->priv->files, file) : 0;
	if (!id || seen[id])
		return;
	seen[id] = true;
	vec_push(&s->priv->all_files, file);
}

const char *const *symbols_files(struct symbols *s, size_t *n)
{
	struct symbols_private *p = s->priv;
	if (!p->have_files) {
		p->have_files = true;
		for (size_t i = 0; i < s->n; i++)
			symbols_locate(s, (symid)i);
		bool *seen = xalloc(strtab_count(p->files) * sizeof(*seen));
		sort_placed(p);
		for (size_t i = 0; i < p->n_placed; i++)
			add_file(s, seen, s->at[p->placed[i].id].file);
		for (size_t i = 0; i < s->n; i++)
			add_file(s, seen, s->at[i].file);
		free(seen);
	}
	*n = p->all_files.n;
	return p->all_files.at;
}

/* ---- life ---- */

static void note_positions(struct symbols *s, const struct symbol_table *t)
{
	struct symbols_private *p = s->priv;

	p->placed = xalloc(t->n * sizeof(*p->placed));
	for (size_t i = 0, j = 0; i < s->n && j < t->n; i++)
		if (s->at[i].addr == t->at[j].addr)
			p->placed[p->n_placed++] = (struct placed){ t->at[j++].position, (symid)i };
}

/* A program whose only names are entries of the linkage table was stripped. */
static bool names_nothing(const struct symbol_table *t, const struct symtab_opts *opts)
{
	if (opts->exact)
		return !t->n;
	for (size_t i = 0; i < t->n; i++)
		if (!(t->at[i].flags & SYMBOL_PLT))
			return false;
	return true;
}

struct kin_error *symbols_new(struct object_file *o, const struct symbols_opts *opts,
			      struct symbols **ret)
{
	struct symbol_table table = { 0 };
	struct kin_error *err = object_symbols(o, &opts->table, &table);
	if (err)
		return err;
	if (names_nothing(&table, &opts->table)) {
		free(table.at);
		return err_about(
			err_new(KIN_ERROR_UNSUPPORTED,
				"%s: no symbols: it was stripped; profile the file as the linker "
				"made it, or give its debug file",
				object_path(o)),
			(struct err_facts){ ERR_NO_SYMBOLS, object_path(o) });
	}

	struct symbols *s = xalloc(sizeof(*s));
	s->object = o;
	s->opts = *opts;
	s->text = object_text(o);
	s->priv = xalloc(sizeof(*s->priv));
	s->priv->files = strtab_new();
	add_places(s, &table);
	note_positions(s, &table);
	free(table.at);
	place_index_init(&s->priv->index, s->at, s->n);
	s->parts = xalloc(sizeof(*s->parts));
	s->parts[0] = (struct symbols_part){
		.object = o, .n = (symid)s->n, .low = s->at[0].addr, .high = s->at[s->n - 1].end
	};
	s->parts[0].is_chosen = opts->table.hits != NULL;
	s->n_parts = 1;
	s->priv->display = xalloc(s->n * sizeof(*s->priv->display));
	*ret = s;
	return NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	symbols_forget_aliases(s);
	arena_release(&s->priv->arena);
	strtab_free(s->priv->files);
	strtab_free(s->priv->statics);
	map64_free(&s->priv->twins);
	vec_free(&s->priv->all_files);
	free(s->priv->display);
	map64_free(&s->priv->displays);
	place_index_done(&s->priv->index);
	free(s->priv->placed);
	free(s->priv);
	free(s->parts);
	free(s->at);
	free(s);
}

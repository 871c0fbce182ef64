/* kept.c - collects, merges and sorts the names kept of objects. */
#include "names/kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/search.h"
#include "base/sort.h"

struct kept *kept_new(void)
{
	struct kept *k = xalloc(sizeof(*k));
	k->refs = 1;
	k->strings = strtab_new();
	return k;
}

struct kept *kept_ref(struct kept *k)
{
	if (k)
		k->refs++;
	return k;
}

static void free_object(struct kept_object *o)
{
	vec_free(&o->symbols);
	vec_free(&o->aliases);
	vec_free(&o->lines);
	vec_free(&o->inlines);
	vec_free(&o->code);
	for (size_t i = 0; i < o->tail_calls.n; i++)
		free(o->tail_calls.at[i].jump);
	vec_free(&o->tail_calls);
	free(o);
}

void kept_free(struct kept *k)
{
	if (!k || --k->refs)
		return;
	for (size_t i = 0; i < k->objects.n; i++)
		free_object(k->objects.at[i]);
	for (size_t i = 0; i < k->owned.n; i++)
		free(k->owned.at[i]);
	vec_free(&k->objects);
	vec_free(&k->sources);
	vec_free(&k->owned);
	strtab_free(k->strings);
	free(k);
}

/* ---- adding ---- */

const char *kept_string(struct kept *k, const char *s)
{
	return s ? strtab_get(k->strings, strtab_add(k->strings, s)) : NULL;
}

const char *kept_bytes(struct kept *k, const void *bytes, size_t n)
{
	char *copy = xalloc(n + 1);
	if (n)
		memcpy(copy, bytes, n);
	vec_push(&k->owned, copy);
	return copy;
}

void kept_add_tail_call(struct kept_object *o, uint64_t addr, uint64_t to, const uint64_t *jump,
			uint32_t n)
{
	struct kept_tail_call t = { addr, to, n, NULL };
	size_t jumps = kept_n_jumps(&t);
	if (jumps)
		t.jump = memcpy(xrealloc(NULL, jumps, sizeof(*jump)), jump, jumps * sizeof(*jump));
	vec_push(&o->tail_calls, t);
}

static bool same_file(const struct kept_object *a, const struct kept_object *b)
{
	if (strcmp(a->path, b->path) != 0 || strcmp(a->build_id, b->build_id) != 0)
		return false;
	return *a->build_id || (a->size == b->size && a->modified_ns == b->modified_ns);
}

struct kept_object *kept_add_object(struct kept *k, const struct kept_object *like)
{
	for (size_t i = 0; i < k->objects.n; i++) {
		struct kept_object *o = k->objects.at[i];
		if (!same_file(o, like))
			continue;
		o->flags |= like->flags;
		return o;
	}
	struct kept_object *o = xalloc(sizeof(*o));
	*o = (struct kept_object){ .path = kept_string(k, like->path),
				   .build_id = kept_string(k, like->build_id),
				   .size = like->size,
				   .modified_ns = like->modified_ns,
				   .flags = like->flags,
				   .machine = like->machine,
				   .text_low = like->text_low,
				   .text_high = like->text_high,
				   .profiled_low = like->profiled_low,
				   .profiled_high = like->profiled_high,
				   .n_functions = like->n_functions };
	vec_push(&k->objects, o);
	return o;
}

static struct kept_source *source_of(const struct kept *k, const char *path)
{
	for (size_t i = 0; i < k->sources.n; i++)
		if (!strcmp(k->sources.at[i].path, path))
			return &k->sources.at[i];
	return NULL;
}

void kept_add_source(struct kept *k, const char *path, const char *found, const char *text,
		     size_t n)
{
	struct kept_source *old = source_of(k, path);
	size_t before = old ? old->size : 0;
	char *all = xalloc(before + n + 1);
	if (before)
		memcpy(all, old->text, before);
	if (n)
		memcpy(all + before, text, n);
	if (!old) {
		struct kept_source s = { .path = kept_string(k, path),
					 .found = kept_string(k, found) };
		vec_push(&k->sources, s);
		vec_push(&k->owned, all);
		old = &k->sources.at[k->sources.n - 1];
	} else {
		for (size_t i = k->owned.n; i--;)
			if (k->owned.at[i] == old->text) {
				free(k->owned.at[i]);
				k->owned.at[i] = all;
				break;
			}
	}
	old->text = all;
	old->size = before + n;
}

/* Whether one of n pieces of code, sorted and disjoint, has all of c. */
static bool has_code(const struct kept_code *at, size_t n, const struct kept_code *c)
{
	size_t i = COUNT_WHILE(n, k, at[k].addr <= c->addr);
	if (!i || c->addr - at[i - 1].addr > at[i - 1].size)
		return false;
	uint64_t from = c->addr - at[i - 1].addr;
	return c->size <= at[i - 1].size - from &&
	       !memcmp(at[i - 1].bytes + from, c->bytes, c->size);
}

static void merge_object(struct kept *into, const struct kept_object *from)
{
	struct kept_object *o = kept_add_object(into, from);
	size_t n_code = o->code.n;

	for (size_t i = 0; i < from->symbols.n; i++) {
		struct kept_symbol s = from->symbols.at[i];
		s.name = kept_string(into, s.name);
		vec_push(&o->symbols, s);
	}
	for (size_t i = 0; i < from->aliases.n; i++) {
		struct kept_alias a = from->aliases.at[i];
		a.name = kept_string(into, a.name);
		vec_push(&o->aliases, a);
	}
	for (size_t i = 0; i < from->lines.n; i++) {
		struct kept_line l = from->lines.at[i];
		l.function = kept_string(into, l.function);
		l.file = kept_string(into, l.file);
		vec_push(&o->lines, l);
	}
	for (size_t i = 0; i < from->inlines.n; i++) {
		struct kept_inline x = from->inlines.at[i];
		x.name = kept_string(into, x.name);
		x.call_file = kept_string(into, x.call_file);
		vec_push(&o->inlines, x);
	}
	for (size_t i = 0; i < from->code.n; i++) {
		struct kept_code c = from->code.at[i];
		if (has_code(o->code.at, n_code, &c))
			continue;
		c.bytes = kept_bytes(into, c.bytes, c.size);
		vec_push(&o->code, c);
	}
	for (size_t i = 0; i < from->tail_calls.n; i++) {
		const struct kept_tail_call *t = &from->tail_calls.at[i];
		kept_add_tail_call(o, t->addr, t->to, t->jump, t->n);
	}
}

void kept_add_sources(struct kept *into, const struct kept *from)
{
	for (size_t i = 0; from && i < from->sources.n; i++) {
		const struct kept_source *s = &from->sources.at[i];
		if (!source_of(into, s->path))
			kept_add_source(into, s->path, s->found, s->text, s->size);
	}
	kept_sort(into);
}

void kept_merge(struct kept *into, const struct kept *from)
{
	for (size_t i = 0; i < from->objects.n; i++)
		merge_object(into, from->objects.at[i]);
	kept_add_sources(into, from);
}

/* ---- order ---- */

static int text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : ORDER(a != NULL, b != NULL);
}

/* Recordings of one build agree. If damage makes them differ, the order is still defined. */
static int by_symbol(const void *l, const void *r)
{
	const struct kept_symbol *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	if (!order)
		order = ORDER(a->position, b->position);
	return order ? order : text_order(a->name, b->name);
}

static int by_alias(const void *l, const void *r)
{
	const struct kept_alias *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	return order ? order : text_order(a->name, b->name);
}

/* If lines overlap, the first to start counts; of those with the same start the shorter one. */
static int by_line(const void *l, const void *r)
{
	const struct kept_line *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	if (!order)
		order = ORDER(a->end, b->end);
	if (!order)
		order = ORDER(a->line, b->line);
	if (!order)
		order = text_order(a->file, b->file);
	return order ? order : text_order(a->function, b->function);
}

static int by_inline(const void *l, const void *r)
{
	const struct kept_inline *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	if (!order)
		order = -ORDER(a->depth, b->depth);
	return order ? order : text_order(a->name, b->name);
}

static int by_code(const void *l, const void *r)
{
	const struct kept_code *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	return order ? order : -ORDER(a->size, b->size);
}

static int by_call(const void *l, const void *r)
{
	const struct kept_tail_call *a = l, *b = r;
	int order = ORDER(a->addr, b->addr);
	return order ? order : ORDER(a->to, b->to);
}

/* If damage makes jumps differ, the order is still defined. */
static int by_tail_call(const void *l, const void *r)
{
	const struct kept_tail_call *a = l, *b = r;
	int order = by_call(a, b);
	if (!order)
		order = ORDER(a->n, b->n);
	for (uint32_t i = 0; !order && i < kept_n_jumps(a); i++)
		order = ORDER(a->jump[i], b->jump[i]);
	return order;
}

static int by_path(const void *l, const void *r)
{
	const struct kept_source *a = l, *b = r;
	return strcmp(a->path, b->path);
}

static int by_object(const void *l, const void *r)
{
	const struct kept_object *a = *(struct kept_object *const *)l,
				 *b = *(struct kept_object *const *)r;
	int order = strcmp(a->path, b->path);
	if (!order)
		order = strcmp(a->build_id, b->build_id);
	if (!order)
		order = ORDER(a->modified_ns, b->modified_ns);
	return order ? order : ORDER(a->size, b->size);
}

/* The number of elements before the first one that is out of order. */
static size_t run_of(const char *x, size_t n, size_t size,
		     int (*compare)(const void *, const void *))
{
	size_t i = 1;
	while (i < n && compare(x + (i - 1) * size, x + i * size) <= 0)
		i++;
	return i < n ? i : n;
}

/* Merges two sorted runs: the first `left` elements, and the others. */
static void merge_runs(char *x, size_t left, size_t n, size_t size,
		       int (*compare)(const void *, const void *))
{
	size_t right = n - left;
	char *others = xalloc(right * size);
	memcpy(others, x + left * size, right * size);
	while (right) {
		const char *last = others + (right - 1) * size;
		bool take_left = left && compare(x + (left - 1) * size, last) > 0;
		if (take_left)
			last = x + (left - 1) * size;
		memcpy(x + (left + right - 1) * size, last, size);
		left -= take_left;
		right -= !take_left;
	}
	free(others);
}

/* Many lists are sorted already, or are two sorted ones, one behind the other. */
static void sort(void *at, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	char *x = at;
	size_t left = run_of(x, n, size, compare);
	if (left == n)
		return;
	if (run_of(x + left * size, n - left, size, compare) == n - left)
		merge_runs(x, left, n, size, compare);
	else
		qsort(at, n, size, compare);
}

#define SORT(v, compare) sort((v)->at, (v)->n, sizeof(*(v)->at), compare)

/* Adjacent and overlapping pieces are joined: instructions may cross their ends. */
static void join_code(struct kept *k, struct kept_object *o)
{
	size_t n = 0;
	SORT(&o->code, by_code);
	for (size_t i = 0, next; i < o->code.n; i = next) {
		uint64_t low = o->code.at[i].addr, high = low;
		for (next = i; next < o->code.n && o->code.at[next].addr <= high; next++) {
			const struct kept_code *c = &o->code.at[next];
			if (c->addr + c->size > high)
				high = c->addr + c->size;
		}
		if (next > i + 1) {
			char *joined = xalloc(high - low + 1);
			for (size_t x = i; x < next; x++)
				memcpy(joined + (o->code.at[x].addr - low), o->code.at[x].bytes,
				       o->code.at[x].size);
			vec_push(&k->owned, joined);
			o->code.at[n++] = (struct kept_code){ low, joined, high - low };
		} else {
			o->code.at[n++] = o->code.at[i];
		}
	}
	o->code.n = n;
}

static void sort_object(struct kept *k, struct kept_object *o)
{
	size_t n = 0;
	SORT(&o->symbols, by_symbol);
	for (size_t i = 0; i < o->symbols.n; i++) {
		struct kept_symbol s = o->symbols.at[i];
		if (s.end <= s.addr || (n && o->symbols.at[n - 1].addr == s.addr))
			continue;
		if (n && o->symbols.at[n - 1].end > s.addr)
			o->symbols.at[n - 1].end = s.addr;
		o->symbols.at[n++] = s;
	}
	o->symbols.n = n;

	SORT(&o->aliases, by_alias);
	n = 0;
	for (size_t i = 0; i < o->aliases.n; i++)
		if (!n || by_alias(&o->aliases.at[n - 1], &o->aliases.at[i]))
			o->aliases.at[n++] = o->aliases.at[i];
	o->aliases.n = n;

	SORT(&o->lines, by_line);
	n = 0;
	for (size_t i = 0; i < o->lines.n; i++) {
		struct kept_line l = o->lines.at[i];
		if (n && l.addr < o->lines.at[n - 1].end)
			l.addr = o->lines.at[n - 1].end;
		if (l.addr < l.end)
			o->lines.at[n++] = l;
	}
	o->lines.n = n;

	SORT(&o->inlines, by_inline);
	n = 0;
	for (size_t i = 0; i < o->inlines.n; i++)
		if (!n || by_inline(&o->inlines.at[n - 1], &o->inlines.at[i]))
			o->inlines.at[n++] = o->inlines.at[i];
	o->inlines.n = n;

	join_code(k, o);

	SORT(&o->tail_calls, by_tail_call);
	n = 0;
	for (size_t i = 0; i < o->tail_calls.n; i++)
		if (!n || by_call(&o->tail_calls.at[n - 1], &o->tail_calls.at[i]))
			o->tail_calls.at[n++] = o->tail_calls.at[i];
		else
			free(o->tail_calls.at[i].jump);
	o->tail_calls.n = n;
}

void kept_sort(struct kept *k)
{
	SORT(&k->objects, by_object);
	SORT(&k->sources, by_path);
	for (size_t i = 0; i < k->objects.n; i++)
		sort_object(k, k->objects.at[i]);
}

/* ---- finding ---- */

const struct kept_object *kept_find(const struct kept *k, const char *path, const char *build_id)
{
	bool any = !build_id || !*build_id;
	for (size_t i = 0; k && i < k->objects.n; i++)
		if (!strcmp(k->objects.at[i]->path, path) &&
		    (any || !strcmp(k->objects.at[i]->build_id, build_id)))
			return k->objects.at[i];
	return NULL;
}

uint32_t kept_function_at(const struct kept_object *o, uint64_t addr)
{
	size_t at = COUNT_WHILE(o->symbols.n, i, o->symbols.at[i].addr <= addr);
	if (!at || addr >= o->symbols.at[at - 1].end)
		return NONE;
	uint64_t owner = o->symbols.at[at - 1].owner;
	size_t whole = COUNT_WHILE(o->symbols.n, i, o->symbols.at[i].addr < owner);
	bool known = whole < o->symbols.n && o->symbols.at[whole].addr == owner;
	return (uint32_t)(known ? whole : at - 1);
}

uint32_t kept_tail_call_at(const struct kept_object *o, uint64_t addr)
{
	size_t at = COUNT_WHILE(o->tail_calls.n, i, o->tail_calls.at[i].addr < addr);
	return at < o->tail_calls.n && o->tail_calls.at[at].addr == addr ? (uint32_t)at : NONE;
}

size_t kept_id_length(const struct kept_object *o)
{
	size_t n = strlen(o->build_id);
	return o->flags & KEPT_GIVEN && n >= KEPT_NUMBERING ? n - KEPT_NUMBERING : n;
}

size_t kept_build_id_length(const struct kept *k, const char *path, const char *build_id)
{
	const struct kept_object *o = *build_id ? kept_find(k, path, build_id) : NULL;
	return o ? kept_id_length(o) : strlen(build_id);
}

bool kept_is_of_file(const struct kept_object *o, const char *path)
{
	struct stat st;

	return !stat(path, &st) && (uint64_t)st.st_size == o->size &&
	       clock_ns_of(st.st_mtim) == o->modified_ns;
}

const struct kept_source *kept_find_source(const struct kept *k, const char *path)
{
	return k ? source_of(k, path) : NULL;
}

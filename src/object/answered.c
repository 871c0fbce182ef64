/* answered.c - cached lookups by address: searches, additions, and the bytes of the cache file. */
#include "object/answered.h"

#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/strtab.h"

void answered_free(struct answered *a)
{
	if (!a)
		return;
	vec_free(&a->symbols);
	vec_free(&a->nowhere);
	vec_free(&a->spans);
	vec_free(&a->list);
	vec_free(&a->lines);
	vec_free(&a->new_lines);
	strtab_free(a->strings);
	file_free(&a->file);
	free(a);
}

static const char *own_copy(struct answered *a, const char *name)
{
	if (!a->strings)
		a->strings = strtab_new();
	return strtab_get(a->strings, strtab_add(a->strings, name));
}

/* ---- symbols ---- */

static uint32_t first_from(const struct answered *a, uint64_t addr)
{
	return (uint32_t)COUNT_WHILE(a->symbols.n, i, a->symbols.at[i].addr < addr);
}

/* Symbols, `nowhere` and hits are all ascending. */
static bool all_known(const struct answered *a, const uint64_t *hits, size_t n)
{
	size_t s = 0, none = 0;
	for (size_t i = 0; i < n; i++) {
		while (s < a->symbols.n && a->symbols.at[s].end <= hits[i])
			s++;
		while (none < a->nowhere.n && a->nowhere.at[none] < hits[i])
			none++;
		bool in_symbol = s < a->symbols.n && a->symbols.at[s].addr <= hits[i];
		if (in_symbol ? !a->symbols.at[s].asked
			      : none == a->nowhere.n || a->nowhere.at[none] != hits[i])
			return false;
	}
	return true;
}

bool answered_symbols(const struct answered *a, const uint64_t *hits, size_t n,
		      struct symbol_table *ret)
{
	if (!n || !all_known(a, hits, n))
		return false;
	ret->n = a->symbols.n;
	ret->at = xrealloc(NULL, ret->n + 1, sizeof(*ret->at));
	for (size_t i = 0; i < ret->n; i++) {
		const struct answered_symbol *s = &a->symbols.at[i];
		ret->at[i] = (struct object_symbol){ .addr = s->addr,
						     .end = s->end,
						     .name = s->name,
						     .owner = first_from(a, s->owner),
						     .flags = s->flags,
						     .position = s->position };
	}
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct answered_symbol *l = a, *r = b;
	if (l->addr != r->addr)
		return l->addr < r->addr ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

/* A symbol without hits may have been added without its successor, where it ends. Of two ends the
 * smaller one is therefore right. */
static void sort_symbols(struct answered *a)
{
	size_t n = 0;
	if (a->symbols.n)
		qsort(a->symbols.at, a->symbols.n, sizeof(*a->symbols.at), by_addr);
	for (size_t i = 0; i < a->symbols.n; i++) {
		struct answered_symbol *last = n ? &a->symbols.at[n - 1] : NULL;
		if (last && last->addr == a->symbols.at[i].addr) {
			last->asked |= a->symbols.at[i].asked;
			continue;
		}
		if (last && last->end > a->symbols.at[i].addr)
			last->end = a->symbols.at[i].addr;
		a->symbols.at[n++] = a->symbols.at[i];
	}
	a->symbols.n = n;
	a->nowhere.n = sort_unique(a->nowhere.at, a->nowhere.n);
}

void answered_add_symbols(struct answered *a, const uint64_t *hits, size_t n,
			  const struct symbol_table *table)
{
	for (size_t i = 0, h = 0; i < table->n; i++) {
		const struct object_symbol *s = &table->at[i];
		bool asked = false;
		for (; h < n && hits[h] < s->end; h++) {
			asked |= hits[h] >= s->addr;
			if (hits[h] < s->addr)
				vec_push(&a->nowhere, hits[h]);
		}
		const char *name = s->flags & SYMBOL_NAMELESS ? "" : s->name;
		vec_push(&a->symbols, ((struct answered_symbol){ .addr = s->addr,
								 .end = s->end,
								 .owner = table->at[s->owner].addr,
								 .name = own_copy(a, name),
								 .flags = s->flags,
								 .position = s->position,
								 .asked = asked }));
	}
	for (size_t h = 0; h < n; h++)
		if (!table->n || hits[h] >= table->at[table->n - 1].end)
			vec_push(&a->nowhere, hits[h]);
	sort_symbols(a);
	a->changed = true;
}

/* ---- inlined functions ---- */

bool answered_inlines(const struct answered *a, const uint64_t *addrs, size_t n,
		      struct object_inline **ret, size_t *count)
{
	VEC(struct object_inline) found = { 0 };
	size_t s = 0;
	for (size_t i = 0; i < n; i++) {
		while (s < a->spans.n && a->spans.at[s].high <= addrs[i])
			s++;
		const struct answered_span *span = s < a->spans.n ? &a->spans.at[s] : NULL;
		if (!span || span->low > addrs[i]) {
			vec_free(&found);
			return false;
		}
		for (uint32_t k = span->first; k < span->first + span->n; k++) {
			const struct answered_inline *x = &a->list.at[k];
			vec_push(&found, ((struct object_inline){ (uint32_t)i, x->depth, x->name,
								  x->call_file, x->call_line }));
		}
	}
	*ret = found.at;
	*count = found.n;
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct answered_span *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	return l->high < r->high ? -1 : l->high > r->high;
}

/* Overlapping spans have the same answers: the later one loses the overlap. */
static void sort_spans(struct answered *a)
{
	size_t n = 0;
	if (a->spans.n)
		qsort(a->spans.at, a->spans.n, sizeof(*a->spans.at), by_low);
	for (size_t i = 0; i < a->spans.n; i++) {
		struct answered_span s = a->spans.at[i];
		if (n && a->spans.at[n - 1].high > s.low)
			s.low = a->spans.at[n - 1].high;
		if (s.low < s.high)
			a->spans.at[n++] = s;
	}
	a->spans.n = n;
}

static void add_inline(struct answered *a, const struct object_inline *x)
{
	vec_push(&a->list, ((struct answered_inline){
				   .name = own_copy(a, x->name),
				   .call_file = x->call_file ? own_copy(a, x->call_file) : NULL,
				   .depth = x->depth,
				   .call_line = x->call_line }));
}

void answered_add_inlines(struct answered *a, const uint64_t *addrs,
			  const struct address_range *reach, size_t n,
			  const struct object_inline *list, size_t count)
{
	uint64_t known = 0; /* end of the last span added here */
	for (size_t i = 0, k = 0; i < n; i++) {
		uint32_t first = (uint32_t)a->list.n;
		bool is_new =
			reach[i].low <= addrs[i] && addrs[i] < reach[i].high && addrs[i] >= known;
		for (; k < count && list[k].address == i; k++)
			if (is_new)
				add_inline(a, &list[k]);
		if (!is_new)
			continue;
		vec_push(&a->spans, ((struct answered_span){ reach[i].low, reach[i].high, first,
							     (uint32_t)a->list.n - first }));
		known = reach[i].high;
	}
	sort_spans(a);
	a->changed = true;
}

/* ---- lines ---- */

bool answered_line(const struct answered *a, uint64_t addr, struct srcloc *ret)
{
	size_t low = COUNT_WHILE(a->lines.n, i, a->lines.at[i].high <= addr);
	if (low == a->lines.n || a->lines.at[low].low > addr)
		return false;
	*ret = a->lines.at[low].at;
	return true;
}

void answered_add_line(struct answered *a, uint64_t low, uint64_t high, const struct srcloc *at)
{
	enum { MOST = 100000 };
	struct answered_line *last = a->new_lines.n ? &a->new_lines.at[a->new_lines.n - 1] : NULL;
	if ((last && last->low == low) || a->new_lines.n == MOST || low >= high)
		return;
	struct answered_line new = { low, high, *at };
	new.at.file = at->file ? own_copy(a, at->file) : NULL;
	new.at.function = at->function ? own_copy(a, at->function) : NULL;
	vec_push(&a->new_lines, new);
	a->changed = true;
}

static int by_start(const void *a, const void *b)
{
	const struct answered_line *l = a, *r = b;
	return l->low < r->low ? -1 : l->low > r->low;
}

/* Both lists as one, by address; where lines overlap, the first one stays. To be freed. */
static struct answered_line *all_lines(const struct answered *a, size_t *n)
{
	size_t all = a->lines.n + a->new_lines.n;
	struct answered_line *ret = xrealloc(NULL, all + 1, sizeof(*ret));
	if (a->lines.n)
		memcpy(ret, a->lines.at, a->lines.n * sizeof(*ret));
	if (a->new_lines.n)
		memcpy(ret + a->lines.n, a->new_lines.at, a->new_lines.n * sizeof(*ret));
	qsort(ret, all, sizeof(*ret), by_start);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		struct answered_line x = ret[i];
		if (*n && ret[*n - 1].high > x.low)
			x.low = ret[*n - 1].high;
		if (x.low < x.high)
			ret[(*n)++] = x;
	}
	return ret;
}

/* ---- bytes ---- */

enum { VERSION = 5, ORDER = 0x01020304, LARGEST = 32 << 20 };

static const char magic[8] = "KINNAM\r\n";

/* The header, in this machine's byte order, as only this machine reads the file again. The arrays
 * follow, then the strings, of which the first is "". */
struct answered_head {
	char magic[8];
	uint32_t version, order; /* ORDER */
	uint64_t checksum;       /* of everything, with 0 here */
	uint64_t n_symbols, n_nowhere, n_spans, n_list, strings, n_lines;
	struct answered_key key;
};

struct symbol_bytes {
	uint64_t addr, end, owner;
	uint32_t name, flags, position, asked;
};

struct inline_bytes {
	uint32_t name, depth, call_file, call_line;
};

struct line_bytes {
	uint64_t low, high;
	uint32_t file, function, line, unused;
};

/* The arrays of a file: pointers into its bytes, whose sizes are known to fit. */
struct arrays {
	const uint8_t *symbols, *nowhere, *spans, *list, *lines;
	const char *strings;
	struct answered_head h;
};

static bool take(size_t *left, uint64_t n, size_t size)
{
	if (n > *left / size)
		return false;
	*left -= (size_t)n * size;
	return true;
}

static bool find_arrays(struct file *f, const struct answered_key *key, struct arrays *ret)
{
	struct answered_head *h = &ret->h;
	if (f->size < sizeof(*h))
		return false;
	memcpy(h, f->data, sizeof(*h));
	if (memcmp(h->magic, magic, sizeof(magic)) != 0 || h->version != VERSION ||
	    h->order != ORDER || memcmp(&h->key, key, sizeof(*key)) != 0)
		return false;
	size_t left = f->size - sizeof(*h);
	if (!take(&left, h->n_symbols, sizeof(struct symbol_bytes)) ||
	    !take(&left, h->n_nowhere, sizeof(uint64_t)) ||
	    !take(&left, h->n_spans, sizeof(struct answered_span)) ||
	    !take(&left, h->n_list, sizeof(struct inline_bytes)) ||
	    !take(&left, h->n_lines, sizeof(struct line_bytes)) || left != h->strings || !left)
		return false;
	memset(f->data + offsetof(struct answered_head, checksum), 0, sizeof(h->checksum));
	if (folder_checksum(f->data, f->size) != h->checksum)
		return false;
	ret->symbols = f->data + sizeof(*h);
	ret->nowhere = ret->symbols + h->n_symbols * sizeof(struct symbol_bytes);
	ret->spans = ret->nowhere + h->n_nowhere * sizeof(uint64_t);
	ret->list = ret->spans + h->n_spans * sizeof(struct answered_span);
	ret->lines = ret->list + h->n_list * sizeof(struct inline_bytes);
	ret->strings = (const char *)ret->lines + h->n_lines * sizeof(struct line_bytes);
	return !ret->strings[0] && !ret->strings[h->strings - 1];
}

static bool read_symbols(struct answered *a, const struct arrays *x)
{
	const uint32_t all_flags = SYMBOL_FUNCTION | SYMBOL_STATIC | SYMBOL_WEAK | SYMBOL_PLT |
				   SYMBOL_COLD | SYMBOL_NAMELESS;
	uint64_t end = 0;
	vec_reserve(&a->symbols, x->h.n_symbols);
	for (uint64_t i = 0; i < x->h.n_symbols; i++) {
		struct symbol_bytes s;
		memcpy(&s, x->symbols + i * sizeof(s), sizeof(s));
		if (s.addr < end || s.end <= s.addr || s.name >= x->h.strings ||
		    s.flags & ~all_flags || s.asked > 1 ||
		    (!x->strings[s.name] != !!(s.flags & SYMBOL_NAMELESS)))
			return false;
		end = s.end;
		vec_push(&a->symbols,
			 ((struct answered_symbol){ s.addr, s.end, s.owner, x->strings + s.name,
						    s.flags, s.position, s.asked }));
	}
	for (size_t i = 0; i < a->symbols.n; i++) {
		size_t owner = first_from(a, a->symbols.at[i].owner);
		if (owner == a->symbols.n || a->symbols.at[owner].addr != a->symbols.at[i].owner)
			return false;
	}
	return true;
}

static bool read_nowhere(struct answered *a, const struct arrays *x)
{
	vec_reserve(&a->nowhere, x->h.n_nowhere);
	for (uint64_t i = 0; i < x->h.n_nowhere; i++) {
		uint64_t addr;
		memcpy(&addr, x->nowhere + i * sizeof(addr), sizeof(addr));
		if (i && addr <= a->nowhere.at[i - 1])
			return false;
		vec_push(&a->nowhere, addr);
	}
	return true;
}

/* NULL for "", which stands for no string. */
static const char *text_of(const struct arrays *x, uint32_t at)
{
	return x->strings[at] ? x->strings + at : NULL;
}

static bool read_spans(struct answered *a, const struct arrays *x)
{
	uint64_t high = 0;
	vec_reserve(&a->spans, x->h.n_spans);
	for (uint64_t i = 0; i < x->h.n_spans; i++) {
		struct answered_span s;
		memcpy(&s, x->spans + i * sizeof(s), sizeof(s));
		if (s.low < high || s.high <= s.low || s.first > x->h.n_list ||
		    s.n > x->h.n_list - s.first)
			return false;
		high = s.high;
		vec_push(&a->spans, s);
	}
	vec_reserve(&a->list, x->h.n_list);
	for (uint64_t i = 0; i < x->h.n_list; i++) {
		struct inline_bytes s;
		memcpy(&s, x->list + i * sizeof(s), sizeof(s));
		if (s.name >= x->h.strings || !x->strings[s.name] || s.call_file >= x->h.strings)
			return false;
		vec_push(&a->list,
			 ((struct answered_inline){ x->strings + s.name, text_of(x, s.call_file),
						    s.depth, s.call_line }));
	}
	return true;
}

static bool read_lines(struct answered *a, const struct arrays *x)
{
	uint64_t high = 0;
	vec_reserve(&a->lines, x->h.n_lines);
	for (uint64_t i = 0; i < x->h.n_lines; i++) {
		struct line_bytes s;
		memcpy(&s, x->lines + i * sizeof(s), sizeof(s));
		if (s.low < high || s.high <= s.low || s.file >= x->h.strings ||
		    s.function >= x->h.strings)
			return false;
		high = s.high;
		vec_push(&a->lines, ((struct answered_line){ s.low,
							     s.high,
							     { text_of(x, s.function),
							       text_of(x, s.file), s.line } }));
	}
	return true;
}

struct answered *answered_read(struct file *f, const struct answered_key *key)
{
	struct answered *a = xalloc(sizeof(*a));
	struct arrays x;
	a->file = *f;
	*f = (struct file){ 0 };
	if (find_arrays(&a->file, key, &x) && read_symbols(a, &x) && read_nowhere(a, &x) &&
	    read_spans(a, &x) && read_lines(a, &x))
		return a;
	answered_free(a);
	return NULL;
}

/* ---- writing ---- */

struct texts { /* the file's strings */
	struct strtab *names;
	VEC(uint32_t) at; /* offset of each string placed so far, by id */
	size_t size;
};

static uint32_t place(struct texts *t, const char *name)
{
	strid id = strtab_add(t->names, name);
	while (t->at.n <= id) {
		vec_push(&t->at, (uint32_t)t->size);
		t->size += strlen(strtab_get(t->names, (strid)(t->at.n - 1))) + 1;
	}
	return t->at.at[id];
}

bool answered_seal(uint8_t *data, size_t size, const struct answered_key *key)
{
	struct answered_head h;
	if (size < sizeof(h))
		return false;
	memcpy(&h, data, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.version = VERSION;
	h.order = ORDER;
	h.checksum = 0;
	h.key = *key;
	memcpy(data, &h, sizeof(h));
	h.checksum = folder_checksum(data, size);
	memcpy(data, &h, sizeof(h));
	return true;
}

static uint8_t *put(uint8_t *to, const void *from, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return to + n;
}

static uint8_t *bytes_of_all(const struct answered *a, const struct answered_head *h,
			     const struct symbol_bytes *symbols, const struct inline_bytes *list,
			     const struct line_bytes *lines, const struct texts *t, size_t *size)
{
	*size = sizeof(*h) + a->symbols.n * sizeof(*symbols) + a->nowhere.n * sizeof(uint64_t) +
		a->spans.n * sizeof(*a->spans.at) + a->list.n * sizeof(*list) +
		h->n_lines * sizeof(*lines) + t->size;
	if (*size > LARGEST)
		return NULL;
	uint8_t *all = xrealloc(NULL, *size, 1), *p = put(all, h, sizeof(*h));
	p = put(p, symbols, a->symbols.n * sizeof(*symbols));
	p = put(p, a->nowhere.at, a->nowhere.n * sizeof(uint64_t));
	p = put(p, a->spans.at, a->spans.n * sizeof(*a->spans.at));
	p = put(p, list, a->list.n * sizeof(*list));
	p = put(p, lines, h->n_lines * sizeof(*lines));
	for (size_t i = 0; i < t->at.n; i++) {
		const char *s = strtab_get(t->names, (strid)i);
		p = put(p, s, strlen(s) + 1);
	}
	answered_seal(all, *size, &h->key);
	return all;
}

static struct line_bytes *bytes_of_lines(const struct answered *a, struct texts *t, uint64_t *n)
{
	size_t count;
	struct answered_line *all = all_lines(a, &count);
	struct line_bytes *ret = xalloc((count + 1) * sizeof(*ret));
	for (size_t i = 0; i < count; i++) {
		const struct srcloc *at = &all[i].at;
		ret[i] =
			(struct line_bytes){ .low = all[i].low,
					     .high = all[i].high,
					     .file = place(t, at->file ? at->file : ""),
					     .function = place(t, at->function ? at->function : ""),
					     .line = at->line };
	}
	free(all);
	*n = count;
	return ret;
}

uint8_t *answered_write(const struct answered *a, const struct answered_key *key, size_t *size)
{
	if (!a->symbols.n && !a->nowhere.n && !a->spans.n && !a->lines.n && !a->new_lines.n)
		return NULL;
	struct texts t = { .names = strtab_new() };
	struct answered_head h = { .n_symbols = a->symbols.n,
				   .n_nowhere = a->nowhere.n,
				   .n_spans = a->spans.n,
				   .n_list = a->list.n,
				   .key = *key };
	place(&t, "");
	struct symbol_bytes *symbols = xalloc((a->symbols.n + 1) * sizeof(*symbols));
	for (size_t i = 0; i < a->symbols.n; i++) {
		const struct answered_symbol *s = &a->symbols.at[i];
		symbols[i] =
			(struct symbol_bytes){ s->addr,  s->end,      s->owner, place(&t, s->name),
					       s->flags, s->position, s->asked };
	}
	struct inline_bytes *list = xalloc((a->list.n + 1) * sizeof(*list));
	for (size_t i = 0; i < a->list.n; i++) {
		const struct answered_inline *x = &a->list.at[i];
		list[i] = (struct inline_bytes){ place(&t, x->name), x->depth,
						 place(&t, x->call_file ? x->call_file : ""),
						 x->call_line };
	}
	struct line_bytes *lines = bytes_of_lines(a, &t, &h.n_lines);
	h.strings = t.size;
	uint8_t *all = bytes_of_all(a, &h, symbols, list, lines, &t, size);
	free(symbols);
	free(list);
	free(lines);
	vec_free(&t.at);
	strtab_free(t.names);
	return all;
}

/* The cache of an object's answers gives the same answers as the object, or none; damage is
 * noticed.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "object/answered.h"

enum { SPACE = 2000, ROUNDS = 300 };

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* An object with symbols and inlined functions at each address. */
struct truth {
	struct object_symbol symbols[SPACE];
	size_t n;
	char names[SPACE][16];
	uint32_t inlined[SPACE];           /* how many, at each address */
	struct address_range reach[SPACE]; /* as far as that is the same */
};

static void make(struct truth *t, uint32_t *seed)
{
	t->n = 0;
	for (uint64_t at = next_random(seed) % 50; at < SPACE;) {
		uint64_t size = 1 + next_random(seed) % 40;
		bool nameless = next_random(seed) % 4 == 0;
		snprintf(t->names[t->n], sizeof(t->names[0]), nameless ? "[0x%x]" : "f%x", (int)at);
		t->symbols[t->n] = (struct object_symbol){
			.addr = at,
			.end = at + size < SPACE ? at + size : SPACE,
			.name = t->names[t->n],
			.owner = t->n && next_random(seed) % 5 == 0 ? (uint32_t)(t->n - 1)
								    : (uint32_t)t->n,
			.flags = SYMBOL_FUNCTION | (nameless ? SYMBOL_NAMELESS : 0),
			.position = (uint32_t)t->n,
		};
		t->n++;
		at += size + (next_random(seed) % 3 ? 0 : next_random(seed) % 30);
	}
	for (uint64_t low = 0, high; low < SPACE; low = high) {
		uint32_t depth = next_random(seed) % 4;
		high = low + 1 + next_random(seed) % 30;
		for (uint64_t i = low; i < high && i < SPACE; i++) {
			t->inlined[i] = depth;
			t->reach[i] = (struct address_range){ low, high };
		}
	}
}

static size_t choose(uint32_t *seed, uint64_t *hits)
{
	size_t n = 0;
	uint32_t rare = 2 + next_random(seed) % 200;
	for (uint64_t i = 0; i < SPACE; i++)
		if (next_random(seed) % rare == 0)
			hits[n++] = i;
	return n;
}

static uint32_t holder(const struct object_symbol *s, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].addr <= addr && addr < s[i].end)
			return (uint32_t)i;
	return NONE;
}

/* Symbols as a file gives them: hit ones, the functions they are pieces of, the first and the last.
 */
static struct symbol_table table_of(const struct truth *t, const uint64_t *hits, size_t n)
{
	struct symbol_table ret = { xalloc((t->n + 1) * sizeof(*ret.at)), 0 };
	uint32_t *moved = xalloc((t->n + 1) * sizeof(*moved));
	for (size_t i = 0; i < n; i++) {
		uint32_t at = holder(t->symbols, t->n, hits[i]);
		if (at != NONE)
			moved[at] = moved[t->symbols[at].owner] = 1;
	}
	moved[0] = moved[t->n - 1] = moved[t->symbols[t->n - 1].owner] = 1;
	for (size_t i = 0; i < t->n; i++) {
		if (!moved[i])
			continue;
		moved[i] = (uint32_t)ret.n;
		ret.at[ret.n++] = t->symbols[i];
	}
	for (size_t i = 0; i < ret.n; i++) {
		uint32_t owner = ret.at[i].owner;
		const struct object_symbol *o = &t->symbols[owner];
		bool is_here = holder(ret.at, ret.n, o->addr) != NONE;
		ret.at[i].owner = is_here ? moved[owner] : (uint32_t)i;
	}
	free(moved);
	return ret;
}

static bool same_symbol(const struct object_symbol *got, const struct object_symbol *want)
{
	const char *name = want->flags & SYMBOL_NAMELESS ? "" : want->name;
	return got->addr == want->addr && got->end == want->end && got->flags == want->flags &&
	       got->position == want->position && !strcmp(got->name, name);
}

/* Whether the cached symbols of the hits are right. *known: whether all were cached. */
static bool symbols_agree(const struct truth *t, const struct answered *a, const uint64_t *hits,
			  size_t n, bool *known)
{
	struct symbol_table got;
	bool good = true;
	*known = answered_symbols(a, hits, n, &got);
	if (!*known)
		return true;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = holder(got.at, got.n, hits[i]);
		uint32_t want = holder(t->symbols, t->n, hits[i]);
		good &= (at == NONE) == (want == NONE);
		good &= at == NONE || want == NONE || same_symbol(&got.at[at], &t->symbols[want]);
	}
	good &= got.n && got.at[0].addr == t->symbols[0].addr &&
		got.at[got.n - 1].addr == t->symbols[t->n - 1].addr;
	free(got.at);
	return good;
}

static bool inlines_agree(const struct truth *t, const struct answered *a, const uint64_t *hits,
			  size_t n, bool *known)
{
	struct object_inline *got;
	size_t count, k = 0;
	bool good = true;
	*known = answered_inlines(a, hits, n, &got, &count);
	if (!*known)
		return true;
	for (size_t i = 0; i < n; i++)
		for (uint32_t depth = t->inlined[hits[i]]; depth > 0; depth--, k++)
			good &= k < count && got[k].address == i && got[k].depth == depth &&
				!strcmp(got[k].name, depth & 1 ? "odd" : "even");
	good &= k == count;
	free(got);
	return good;
}

static void add(const struct truth *t, struct answered *a, const uint64_t *hits, size_t n)
{
	VEC(struct object_inline) list = { 0 };
	struct address_range reach[SPACE];
	struct symbol_table table = table_of(t, hits, n);
	answered_add_symbols(a, hits, n, &table);
	free(table.at);
	for (size_t i = 0; i < n; i++) {
		reach[i] = t->reach[hits[i]];
		for (uint32_t depth = t->inlined[hits[i]]; depth > 0; depth--)
			vec_push(&list, ((struct object_inline){
						(uint32_t)i, depth, depth & 1 ? "odd" : "even",
						depth & 2 ? "a.c" : NULL, depth }));
	}
	answered_add_inlines(a, hits, reach, n, list.at, list.n);
	vec_free(&list);
}

static const struct answered_key key = { .kin = { 2, 1, 2 },
					 .build_id = "aabbccdd",
					 .files = { { 10, 20 }, { 30, 40 } } };

static struct answered *again(struct answered *a)
{
	size_t size;
	uint8_t *bytes = answered_write(a, &key, &size);
	struct file f = { bytes, size };
	answered_free(a);
	return answered_read(&f, &key);
}

static void test_random(void)
{
	static struct truth t;
	static uint64_t hits[SPACE];
	size_t bad = 0, unknown = 0, by_luck = 0;
	for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
		uint32_t random = seed * 7919;
		struct answered *a = xalloc(sizeof(*a));
		make(&t, &random);
		for (int turn = 0; turn < 4 && a; turn++) {
			bool symbols, inlines;
			size_t n = choose(&random, hits);
			if (!n)
				continue;
			bad += !symbols_agree(&t, a, hits, n, &symbols) ||
			       !inlines_agree(&t, a, hits, n, &inlines);
			by_luck += symbols && inlines;
			add(&t, a, hits, n);
			bad += !symbols_agree(&t, a, hits, n, &symbols) ||
			       !inlines_agree(&t, a, hits, n, &inlines);
			unknown += !symbols || !inlines;
			a = again(a);
			bad += !a || !symbols_agree(&t, a, hits, n, &symbols) ||
			       !inlines_agree(&t, a, hits, n, &inlines);
			unknown += !symbols || !inlines;
		}
		answered_free(a);
	}
	OK(bad == 0);
	OK(unknown == 0);
	OK(by_luck > 0); /* others are known that were near */
}

static struct answered *small(void)
{
	struct answered *a = xalloc(sizeof(*a));
	struct object_symbol s[] = { { .addr = 16, .end = 32, .name = "one", .flags = 1 },
				     { .addr = 32, .end = 48, .name = "two", .owner = 1 } };
	uint64_t hits[] = { 8, 20, 40 };
	struct object_inline list[] = { { 1, 2, "deep", "a.c", 7 }, { 1, 1, "shallow", NULL, 0 } };
	struct address_range reach[] = { { 8, 9 }, { 16, 30 }, { 40, 48 } };
	answered_add_symbols(a, hits, 3, &(struct symbol_table){ s, 2 });
	answered_add_inlines(a, hits, reach, 3, list, 2);
	answered_add_line(a, 16, 24, &(struct srcloc){ "one", "a.c", 3 });
	answered_add_line(a, 40, 41, &(struct srcloc){ 0 });
	return a;
}

static struct file copy_of(const uint8_t *bytes, size_t size)
{
	struct file f = { xalloc(size + 1), size };
	memcpy(f.data, bytes, size);
	return f;
}

static bool is_read(const uint8_t *bytes, size_t size, const struct answered_key *k)
{
	struct file f = copy_of(bytes, size);
	struct answered *a = answered_read(&f, k);
	answered_free(a);
	return a != NULL;
}

/* Runs of lines: some addresses are looked up, in several turns. */
static void test_lines(void)
{
	size_t bad = 0, unknown = 0;
	for (uint32_t seed = 1; seed <= 100; seed++) {
		uint32_t random = seed * 104729, line[SPACE];
		uint64_t start[SPACE], end[SPACE];
		for (uint64_t low = 0, high; low < SPACE; low = high) {
			high = low + 1 + next_random(&random) % 9;
			uint32_t number = next_random(&random) % 4; /* 0: none */
			for (uint64_t i = low; i < high && i < SPACE; i++) {
				line[i] = number;
				start[i] = number ? low : i;
				end[i] = number ? high : i + 1;
			}
		}
		struct answered *a = xalloc(sizeof(*a));
		for (int turn = 0; turn < 3 && a; turn++) {
			for (int i = 0; i < 300; i++) {
				uint64_t at = next_random(&random) % SPACE;
				struct srcloc x = { at % 2 ? "f" : NULL, "a.c", line[at] };
				struct srcloc none = { 0 };
				answered_add_line(a, start[at], end[at], line[at] ? &x : &none);
			}
			a = again(a);
		}
		size_t found = 0;
		for (uint64_t i = 0; a && i < SPACE; i++) {
			struct srcloc at;
			if (!answered_line(a, i, &at))
				continue;
			found++;
			bad += line[i] ? at.line != line[i] || !at.file ||
						 strcmp(at.file, "a.c") != 0
				       : at.file != NULL;
		}
		bad += !a;
		unknown += found < 300;
		answered_free(a);
	}
	OK(bad == 0);
	OK(unknown == 0);
}

static void test_damage(void)
{
	struct answered *a = small();
	size_t size, taken = 0, cut = 0;
	uint8_t *bytes = answered_write(a, &key, &size);
	OK(is_read(bytes, size, &key));
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0x10;
		taken += is_read(bytes, size, &key);
		bytes[i] ^= 0x10;
		cut += is_read(bytes, i, &key);
	}
	OK(taken == 0);
	OK(cut == 0);
	free(bytes);
	answered_free(a);
}

static void test_keys(void)
{
	struct answered *a = small();
	size_t size;
	uint8_t *bytes = answered_write(a, &key, &size);
	struct answered_key others[4] = { key, key, key, key };
	others[0].kin[1]++;
	others[1].build_id[0] = 'f';
	others[2].files[0].modified_ns++;
	others[3].files[2].size = 1;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		OK(!is_read(bytes, size, &others[i]));
	free(bytes);
	answered_free(a);
	a = xalloc(sizeof(*a));
	OK(!answered_write(a, &key, &size)); /* nothing to say */
	answered_free(a);
}

int main(void)
{
	test_random();
	test_lines();
	test_damage();
	test_keys();
	return DONE();
}

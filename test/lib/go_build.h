/* go_build.h - makes tables of functions as Go's linker does, in each of their forms. */
#ifndef TEST_GO_BUILD_H
#define TEST_GO_BUILD_H

#include <string.h>

#include "base/bytes.h"
#include "unwind/go_table.h"

enum { GO_TEXT = 0x401000, GO_TABLE = 0x500000, GO_MODULE = 0x600000, GO_PART = 512 };

/* A run of values: `value` for `length` bytes; length 0: the end. */
struct go_run {
	int32_t value;
	uint32_t length;
};

struct go_made_function {
	const char *name;
	uint32_t at;                                 /* from GO_TEXT */
	const struct go_run *frames, *files, *lines; /* NULL: none */
	uint8_t flags;
};

struct go_made {
	enum go_form form;
	uint8_t at[8 * GO_PART];
	size_t n;
	size_t list;               /* where the list of functions is */
	uint64_t text, module[32]; /* what words say; 0: not known */
};

/* The parts lie at fixed places: after the header names, lists of files, files, values, functions;
 * of the first form the functions first. */
enum { GO_NAMES = 1, GO_UNITS, GO_FILES, GO_VALUES, GO_LIST };

static inline void go_put(struct go_made *m, size_t at, uint64_t v, size_t size)
{
	bytes_store(m->at + at, v, size, false);
}

static inline size_t go_put_text(struct go_made *m, size_t *at, const char *text)
{
	size_t here = *at;
	memcpy(m->at + here, text, strlen(text) + 1);
	*at += strlen(text) + 1;
	return here;
}

static inline void go_put_uleb(struct go_made *m, size_t *at, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		m->at[(*at)++] = (uint8_t)(v | 128);
	m->at[(*at)++] = (uint8_t)v;
}

/* Returns the place of the values, from the start of their part. */
static inline uint32_t go_put_runs(struct go_made *m, size_t *at, size_t part,
				   const struct go_run *r)
{
	uint32_t here = (uint32_t)(*at - part);
	int32_t last = -1;
	if (!r)
		return 0;
	for (; r->length; last = r++->value) {
		int32_t change = (int32_t)((uint32_t)r->value - (uint32_t)last);
		go_put_uleb(m, at, ((uint32_t)change << 1) ^ (uint32_t)(change >> 31));
		go_put_uleb(m, at, r->length);
	}
	m->at[(*at)++] = 0;
	return here;
}

/* Functions by address, up to one without a name, which is where the last one ends. Their files are
 * a.go, then b.s. */
static inline void go_make(struct go_made *m, enum go_form form, const struct go_made_function *f)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	bool is_first = form == GO_FORM_1_2, is_short = form >= GO_FORM_1_18;
	size_t n = 0, word = is_short ? 4 : 8;
	size_t names = GO_NAMES * GO_PART, files = GO_FILES * GO_PART,
	       values = GO_VALUES * GO_PART + 1;
	size_t parts = is_first ? 0 : GO_VALUES * GO_PART;
	*m = (struct go_made){ .form = form, .n = sizeof(m->at), .text = GO_TEXT };
	while (f[n].name)
		n++;
	go_put(m, 0, magics[form], 4);
	go_put(m, 6, 1 | 8 << 8, 2);
	go_put(m, 8, n, 8);
	m->list = is_first ? 16 : GO_LIST * GO_PART;
	for (size_t i = 0; !is_first && i < 5; i++)
		go_put(m, (is_short ? 32 : 24) + 8 * i, (GO_NAMES + i) * GO_PART, 8);
	size_t a = go_put_text(m, &files, "a.go"), b = go_put_text(m, &files, "b.s");
	if (is_first) { /* the list of files begins with their number */
		go_put(m, GO_UNITS * GO_PART + 4, a, 4);
		go_put(m, GO_UNITS * GO_PART + 8, b, 4);
		go_put(m, 16 + 16 * n + 8, GO_UNITS * GO_PART, 4);
	} else {
		go_put(m, GO_UNITS * GO_PART + 8, a - GO_FILES * GO_PART, 4);
		go_put(m, GO_UNITS * GO_PART + 12, b - GO_FILES * GO_PART, 4);
	}
	for (size_t i = 0; i <= n; i++) {
		uint64_t start = f[i].at + (is_short ? 0 : (uint64_t)GO_TEXT);
		size_t record = (GO_LIST + 1) * GO_PART + 64 * i, p = record;
		go_put(m, m->list + 2 * word * i, start, word);
		if (i == n)
			break;
		go_put(m, m->list + (2 * i + 1) * word, record - (is_first ? 0 : m->list), word);
		go_put(m, p, start, word);
		size_t name = go_put_text(m, &names, f[i].name);
		go_put(m, p += word, name - (is_first ? 0 : GO_NAMES * GO_PART), 4);
		go_put(m, p += 12, go_put_runs(m, &values, parts, f[i].frames), 4);
		go_put(m, p += 4, go_put_runs(m, &values, parts, f[i].files), 4);
		go_put(m, p += 4, go_put_runs(m, &values, parts, f[i].lines), 4);
		go_put(m, p += 8, 2, 4); /* its files are from there on in the list */
		p += form == GO_FORM_1_20 ? 8 : 4;
		go_put(m, p + 1, f[i].flags, 1);
	}
}

static inline bool go_made_word(void *arg, uint64_t addr, size_t size, uint64_t *ret)
{
	const struct go_made *m = arg;
	if (size != 8 || addr % 8)
		return false;
	if (addr == GO_TABLE + 24)
		*ret = m->text;
	else if (addr >= GO_MODULE && addr - GO_MODULE < sizeof(m->module))
		*ret = m->module[(addr - GO_MODULE) / 8];
	else
		return false;
	return true;
}

static inline bool go_made_code(void *arg, uint64_t low, uint64_t high)
{
	(void)arg;
	return low >= GO_TEXT && high <= GO_TABLE;
}

static inline bool go_made_open(struct go_made *m, struct go_table *ret)
{
	return go_table_open(&(struct go_section){ .data = m->at,
						   .size = m->n,
						   .addr = GO_TABLE,
						   .module = m->module[0] ? GO_MODULE : 0,
						   .word = go_made_word,
						   .is_code = go_made_code,
						   .arg = m },
			     ret);
}

#endif

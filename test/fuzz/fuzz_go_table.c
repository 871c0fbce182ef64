/* Go's table of functions that may be anything: opened, all of it asked, and compiled into a table
 * of rows. The first byte: bit 0: of the other byte order, bit 1: where the code starts is not in
 * the table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "unwind/go_table.h"
#include "unwind/row.h"
#include "unwind/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLE = 0x100000, TEXT = 0x1000, MODULE = 0x200000 };

static void expect(bool good)
{
	if (!good)
		abort();
}

static bool word(void *arg, uint64_t addr, size_t size, uint64_t *ret)
{
	const uint8_t *how = arg;
	(void)size;
	if (addr < MODULE)
		*ret = *how & 2 ? 0 : TEXT;
	else
		*ret = addr == MODULE ? TABLE : TEXT;
	return true;
}

static bool is_code(void *arg, uint64_t low, uint64_t high)
{
	(void)arg;
	return low >= TEXT && high <= TABLE;
}

static size_t read_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	(void)arg;
	for (size_t i = 0; i < size; i++)
		ret[i] = (uint8_t)((addr + i) * 37);
	return size;
}

static void look_at(const struct go_table *t, const struct go_function *f)
{
	const char *name = go_table_name(t, f, 64);
	uint32_t line;
	struct go_values v = go_table_values(t, f, f->frames);
	expect(!name || strlen(name) < 64);
	for (uint64_t end = f->low; go_values_next(&v); end = v.high) {
		expect(v.low == end && v.low < v.high && v.high <= f->high);
		go_row(&machine_x86_64, v.value);
		go_row(&machine_aarch64, v.value);
	}
	const char *file = go_table_line(t, f, f->high - 1, &line);
	expect(!file || *file);
	go_table_knows_frames(t, f);
}

static void look_around(const struct go_table *t)
{
	struct go_function f, found;
	uint64_t end = TEXT;
	for (uint64_t i = 0; i < t->n; i++) {
		if (!go_table_at(t, i, &f))
			continue;
		expect(f.low >= end && f.low < f.high && f.high <= TABLE);
		end = f.high;
		expect(go_table_find(t, f.low, &found) && found.low == f.low);
		look_at(t, &f);
	}
	expect(!go_table_find(t, end, &found) || found.low >= end);
	const struct code_file file = { .machine = &machine_x86_64, .code = read_code, .go = t };
	unwind_table_free(unwind_table_of(&file, NULL, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct go_table t;
	if (!size)
		return 0;
	uint8_t how = *data, *copy = malloc(size);
	memcpy(copy, data + 1, size - 1); /* a sanitizer sees each byte too many */
	copy = realloc(copy, size - 1 ? size - 1 : 1);
	struct go_section s = { .data = copy,
				.size = size - 1,
				.addr = TABLE,
				.module = how & 2 ? MODULE : 0,
				.swap = how & 1,
				.word = word,
				.is_code = is_code,
				.arg = &how };
	if (go_table_open(&s, &t))
		look_around(&t);
	free(copy);
	return 0;
}

/* Any bytes as call-frame information: looked up, run, compiled into a table; and as the file of a
 * table. Bits of the first byte: bit 0: aarch64, bit 1: .debug_frame, bit 2: with a
 * header, whose size is the second byte and which comes first, bit 5: code without such information
 * (bit 0: and without symbols), bit 6: symbols with their names and code, bit 7: the file of a
 * table.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kin/kin.h"
#include "unwind/step.h"
#include "unwind/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
	if (!good)
		abort();
}

static bool read_word(void *arg, uint64_t addr, uint64_t *ret)
{
	(void)arg;
	*ret = addr * UINT64_C(0x9e3779b97f4a7c15) & ~UINT64_C(7);
	return addr & 8;
}

static void step(const struct machine *machine, const struct unwind_row *row)
{
	static const uint64_t all[MACHINE_REGISTERS];
	struct unwind_regs r = {
		.machine = machine, .pc = 1, .sp = 0x1000, .fp = 0x2000, .all = all, .exact = true
	};
	struct unwind_regs before = r;
	if (!machine) { /* nothing is known of it */
		expect(row->cfa == UNWIND_CFA_NONE);
		return;
	}
	if (unwind_step(row, &r, read_word, NULL) != UNWIND_OK)
		expect(r.pc == before.pc && r.sp == before.sp);
	r = before;
	r.all = NULL;
	r.all_at = 0x1000;
	unwind_step(row, &r, read_word, NULL);
}

struct last {
	const struct cfi_section *section;
	const struct cfi_fde *fde;
	uint64_t low;
	size_t rows, compared;
};

static void check_row(void *arg, uint64_t low, const struct unwind_row *row)
{
	struct last *l = arg;
	struct unwind_row alone;
	expect(low >= l->fde->low && low < l->fde->high && (!l->rows || low > l->low));
	l->low = low;
	if (l->rows++ < 4 && l->compared++ < 200) {
		cfi_row(l->section, l->fde, low, &alone);
		expect(unwind_row_equal(row, &alone));
		step(l->section->machine, row);
	}
}

static void try_section(const struct cfi_section *s)
{
	struct cfi_fde f = { 0 }, found;
	struct last l = { .section = s, .fde = &f };
	size_t n = 0;
	for (size_t at = 0; n < 200 && cfi_next(s, &at, &f); n++) {
		expect(f.low < f.high && at <= s->size);
		l.rows = 0;
		cfi_rows(s, &f, check_row, &l);
		cfi_find(s, f.low + (f.high - f.low) / 2, &found);
	}
	struct unwind_table *t = unwind_table_new(s->machine, s, 1, NULL, NULL);
	for (uint64_t pc = 0; t && pc < 0x40000; pc += 61)
		step(s->machine, unwind_table_find(t, pc));
	unwind_table_free(t);
}

static void try_file(const uint8_t *data, size_t size)
{
	char name[16];
	struct unwind_table *t = NULL;
	int fd = memfd_create("table", MFD_CLOEXEC), high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	expect(high >= 10 && write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof(name), "%d", high); /* two digits are a build-id as well */
	struct kin_error *err = unwind_table_load("/proc/self/fd", name, &t);
	expect(err || t);
	for (uint64_t pc = 0; t && pc < 0x40000; pc += 61)
		step(unwind_table_machine(t), unwind_table_find(t, pc));
	unwind_table_free(t);
	kin_error_free(err);
	close(fd);
	close(high);
}

struct code {
	const uint8_t *at;
	size_t n;
};

static size_t read_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct code *c = arg;
	size_t n = addr >= c->n ? 0 : c->n - (size_t)addr < size ? c->n - (size_t)addr : size;
	if (n)
		memcpy(ret, c->at + addr, n);
	return n;
}

/* Symbols, names and code are each all of the bytes. */
static void try_symbols(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	struct code code = { copy, size };
	struct outermost o = { 0 };
	struct code_file f = { .machine = &machine_x86_64,
			       .symbols = copy,
			       .symbols_size = size,
			       .strings = (const char *)copy,
			       .strings_size = size,
			       .code = read_code,
			       .arg = &code };
	outermost_find(&f, &o);
	struct unwind_table *t = unwind_table_new(f.machine, NULL, 0, &o, NULL);
	for (uint64_t pc = 0; t && pc < 0x40000; pc += 61)
		step(f.machine, unwind_table_find(t, pc));
	unwind_table_free(t);
	vec_free(&o);
	free(copy);
}

/* The first byte is the number of functions; two bytes for each follow, the place where it begins.
 * The rest is their code and the data that they read. */
static void try_code(const uint8_t *data, size_t size, bool is_stripped)
{
	enum { SYMBOLS_MAX = 16, SYMBOL_SIZE = 64 };
	Elf64_Sym symbols[SYMBOLS_MAX] = { 0 };
	size_t n = data[0] % SYMBOLS_MAX;
	n = 1 + 2 * n <= size ? n : 0;
	for (size_t i = 0; i < n; i++) {
		symbols[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
		symbols[i].st_shndx = 1;
		symbols[i].st_value = data[1 + 2 * i] | (Elf64_Addr)data[2 + 2 * i] << 8;
		symbols[i].st_size = SYMBOL_SIZE;
	}
	struct code code = { data + 1 + 2 * n, size - 1 - 2 * n };
	struct code_span all = { 0, code.n };
	struct code_file f = { .machine = &machine_x86_64,
			       .symbols = (const uint8_t *)symbols,
			       .symbols_size = n * sizeof(*symbols),
			       .strings = "",
			       .strings_size = 1,
			       .code = read_code,
			       .arg = &code,
			       .is_stripped = is_stripped,
			       .sections = &all,
			       .n_sections = 1 };
	struct unwind_table *t = unwind_table_new(f.machine, NULL, 0, NULL, &f);
	for (uint64_t pc = 0; t && pc < code.n; pc++)
		step(f.machine, unwind_table_find(t, pc));
	unwind_table_free(t);
	for (size_t i = 0; i < code.n && i < 4096; i++) {
		struct machine_effect e;
		uint8_t *exact = malloc(code.n - i); /* a sanitizer sees each byte too many */
		memcpy(exact, code.at + i, code.n - i);
		if (machine_x86_64_effect(exact, code.n - i, i, &e))
			expect(e.size && e.size <= code.n - i && e.n_changes <= MACHINE_CHANGES);
		free(exact);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 0x80) {
		try_file(data + 1, size - 1);
		return 0;
	}
	if (data[0] & 0x20) {
		try_code(data + 1, size - 1, data[0] & 1);
		return 0;
	}
	if (data[0] & 0x40) {
		try_symbols(data + 1, size - 1);
		return 0;
	}
	static const struct machine *const machines[] = { &machine_x86_64, &machine_aarch64,
							  &machine_riscv64, NULL };
	size_t hdr = data[0] & 4 ? data[1] : 0;
	if (hdr > size - 2)
		hdr = size - 2;
	/* Copies of exactly that size: a sanitizer sees each byte too many. */
	uint8_t *head = malloc(hdr + 1), *body = malloc(size - 2 - hdr + 1);
	memcpy(head, data + 2, hdr);
	memcpy(body, data + 2 + hdr, size - 2 - hdr);
	head = realloc(head, hdr ? hdr : 1);
	body = realloc(body, size - 2 - hdr ? size - 2 - hdr : 1);
	struct cfi_section s = { .machine = machines[(data[0] & 1) | (data[0] >> 2 & 2)],
				 .debug_frame = data[0] & 2,
				 .data = body,
				 .size = size - 2 - hdr,
				 .addr = 0x10000,
				 .hdr = data[0] & 4 ? head : NULL,
				 .hdr_size = hdr,
				 .hdr_addr = 0x20000 };
	try_section(&s);
	free(head);
	free(body);
	return 0;
}

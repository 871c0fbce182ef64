/* elf_build.h - ELF files made in memory, of both word sizes and byte orders.
 *
 *	struct elf_build b = elf_new(64, false, EM_X86_64);
 *	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, code, sizeof(code));
 *	elf_symbol(&b, "main", 0x1000, 16, STB_GLOBAL, STT_FUNC, 1);
 *	uint8_t *file = elf_finish(&b, &n);
 *
 * Sections are numbered from 1 as they are added; .symtab, .strtab and .shstrtab follow. Symbols
 * stand in the order they are added, also where a linker would put locals first. */
#ifndef TEST_ELF_BUILD_H
#define TEST_ELF_BUILD_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elf_bytes {
	uint8_t *at;
	size_t n, cap;
};

struct elf_build {
	int bits;
	bool big;
	uint16_t machine, type;
	struct elf_part {
		char name[40];
		uint32_t type, link, info;
		uint64_t flags, addr, entsize, size; /* size as claimed */
		struct elf_bytes data;
	} parts[64];
	size_t n_parts;
	struct elf_bytes symbols, strings;
	bool no_symtab;
};

/* Not inlined: gcc then warns of sizes that cannot be. */
__attribute__((noinline, unused)) static void elf_put(struct elf_bytes *b, const void *p, size_t n)
{
	if (b->n + n >= b->cap) {
		b->cap = 2 * (b->n + n) + 16;
		b->at = realloc(b->at, b->cap);
	}
	if (n)
		memcpy(b->at + b->n, p, n);
	b->n += n;
}

static inline void elf_number(const struct elf_build *b, struct elf_bytes *to, uint64_t v,
			      int bytes)
{
	uint8_t out[8];
	for (int i = 0; i < bytes; i++)
		out[b->big ? bytes - 1 - i : i] = (uint8_t)(v >> 8 * i);
	elf_put(to, out, (size_t)bytes);
}

static inline void elf_word(const struct elf_build *b, struct elf_bytes *to, uint64_t v)
{
	elf_number(b, to, v, b->bits / 8);
}

static inline uint32_t elf_string(struct elf_build *b, const char *s)
{
	uint32_t at = (uint32_t)b->strings.n;
	elf_put(&b->strings, s, strlen(s) + 1);
	return at;
}

/* A symbol whose name starts at that offset of the strings. */
static inline void elf_symbol_at(struct elf_build *b, struct elf_bytes *to, uint32_t name,
				 uint64_t addr, uint64_t size, int bind, int type, uint16_t section)
{
	elf_number(b, to, name, 4);
	if (b->bits == 32) {
		elf_number(b, to, addr, 4);
		elf_number(b, to, size, 4);
	}
	elf_number(b, to, (uint64_t)(bind << 4 | type), 1);
	elf_number(b, to, 0, 1);
	elf_number(b, to, section, 2);
	if (b->bits == 64) {
		elf_number(b, to, addr, 8);
		elf_number(b, to, size, 8);
	}
}

static inline void elf_symbol(struct elf_build *b, const char *name, uint64_t addr, uint64_t size,
			      int bind, int type, uint16_t section)
{
	elf_symbol_at(b, &b->symbols, elf_string(b, name), addr, size, bind, type, section);
}

static inline struct elf_build elf_new(int bits, bool big, uint16_t machine)
{
	struct elf_build b = { .bits = bits, .big = big, .machine = machine, .type = ET_EXEC };
	elf_string(&b, "");
	elf_symbol_at(&b, &b.symbols, 0, 0, 0, 0, 0, 0);
	return b;
}

static inline struct elf_part *elf_section(struct elf_build *b, const char *name, uint32_t type,
					   uint64_t flags, uint64_t addr, const void *data,
					   size_t n)
{
	struct elf_part *p = &b->parts[b->n_parts++];
	*p = (struct elf_part){ .type = type, .flags = flags, .addr = addr, .size = n };
	snprintf(p->name, sizeof(p->name), "%s", name);
	if (data)
		elf_put(&p->data, data, n);
	return p;
}

static inline void elf_section_header(const struct elf_build *b, struct elf_bytes *to,
				      uint32_t name, const struct elf_part *p, uint64_t offset)
{
	elf_number(b, to, name, 4);
	elf_number(b, to, p->type, 4);
	elf_word(b, to, p->flags);
	elf_word(b, to, p->addr);
	elf_word(b, to, offset);
	elf_word(b, to, p->size);
	elf_number(b, to, p->link, 4);
	elf_number(b, to, p->info, 4);
	elf_word(b, to, p->type == SHT_NOTE ? 4 : 8);
	elf_word(b, to, p->entsize);
}

static inline void elf_header(const struct elf_build *b, struct elf_bytes *to, uint64_t headers)
{
	const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', b->bits / 32, b->big ? 2 : 1, 1 };
	elf_put(to, ident, sizeof(ident));
	elf_number(b, to, b->type, 2);
	elf_number(b, to, b->machine, 2);
	elf_number(b, to, 1, 4);
	elf_word(b, to, 0);
	elf_word(b, to, 0);
	elf_word(b, to, headers);
	elf_number(b, to, 0, 4);
	elf_number(b, to, b->bits == 64 ? 64 : 52, 2);
	elf_number(b, to, b->bits == 64 ? 56 : 32, 2);
	elf_number(b, to, 0, 2);
	elf_number(b, to, b->bits == 64 ? 64 : 40, 2);
	elf_number(b, to, b->n_parts + 1, 2);
	elf_number(b, to, b->n_parts, 2); /* .shstrtab is the last one */
}

/* The file, allocated; releases b. */
static inline uint8_t *elf_finish(struct elf_build *b, size_t *size)
{
	size_t symbol = b->bits == 64 ? 24 : 16, header = b->bits == 64 ? 64 : 52;
	if (!b->no_symtab) {
		struct elf_part *p =
			elf_section(b, ".symtab", SHT_SYMTAB, 0, 0, b->symbols.at, b->symbols.n);
		p->entsize = symbol;
		p->link = (uint32_t)b->n_parts + 1;
		elf_section(b, ".strtab", SHT_STRTAB, 0, 0, b->strings.at, b->strings.n);
	}
	elf_section(b, ".shstrtab", SHT_STRTAB, 0, 0, NULL, 0);

	struct elf_bytes names = { 0 }, body = { 0 }, headers = { 0 }, file = { 0 };
	uint32_t name_at[65];
	elf_put(&names, "", 1);
	for (size_t i = 0; i < b->n_parts; i++) {
		name_at[i] = (uint32_t)names.n;
		elf_put(&names, b->parts[i].name, strlen(b->parts[i].name) + 1);
	}
	b->parts[b->n_parts - 1].data = names;
	b->parts[b->n_parts - 1].size = names.n;
	elf_section_header(b, &headers, 0, &(struct elf_part){ 0 }, 0);
	for (size_t i = 0; i < b->n_parts; i++) {
		elf_section_header(b, &headers, name_at[i], &b->parts[i], header + body.n);
		elf_put(&body, b->parts[i].data.at, b->parts[i].data.n);
		elf_put(&body, "\0\0\0\0\0\0\0", -body.n & 7);
		free(b->parts[i].data.at);
	}
	elf_header(b, &file, header + body.n);
	elf_put(&file, body.at, body.n);
	elf_put(&file, headers.at, headers.n);
	free(body.at);
	free(headers.at);
	free(b->symbols.at);
	free(b->strings.at);
	*size = file.n;
	return file.at;
}

/* Writes the file to path; releases b. */
static inline bool elf_write(struct elf_build *b, const char *path)
{
	size_t n;
	uint8_t *data = elf_finish(b, &n);
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(data, 1, n, f) == n;
	if (f)
		ok = !fclose(f) && ok;
	free(data);
	return ok;
}

#endif

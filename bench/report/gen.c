/* gen.c - a recording as perf makes them, of any size: gen DIR SAMPLES [DEEPEST [FUNCTIONS [SEED]]]
 *
 * Writes DIR/program, an ELF file that is nothing but code of that many functions and their
 * symbols, DIR/lib.so likewise, and DIR/perf.data, with frame-pointer call chains of them: a tree
 * of calls, some callees called far more often than others, 5 to 28 frames deep, or others 24 deep
 * with other DEEPEST, in which each sample leaves the stack of the one before somewhere and goes
 * another way. Four threads on two processors; the functions of the last level are the library's.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../test/lib/perf_data.h"

enum { SIZE = 256, TEXT = 0x1000, DEPTHS = 24, MOST = 1000, CALLEES = 4 };
static const uint64_t program_at = 0x400000, lib_at = 0x7f0000000000;

static struct perf_made made = { .now = 1000000000 };

static uint32_t pick(uint32_t n) { return perf_pick(&made, n); }

/* Small numbers more often. */
static uint32_t pick_few(uint32_t n)
{
	uint32_t a = pick(n), b = pick(n);
	return a < b ? a : b;
}

static FILE *create(const char *dir, const char *name, char *path)
{
	snprintf(path, 4096, "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

/* ---- objects ---- */

static void write_object(const char *dir, const char *name, uint32_t n, char *path)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	size_t code = (size_t)n * SIZE, text_size = 1;
	Elf64_Sym *symbols = calloc(n + 1, sizeof(*symbols));
	char *text = malloc((size_t)n * 40 + 1), *zero = calloc(1, TEXT);
	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		symbols[i + 1] = (Elf64_Sym){ .st_name = (uint32_t)text_size,
					      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					      .st_shndx = 1,
					      .st_value = TEXT + (uint64_t)i * SIZE,
					      .st_size = SIZE };
		text_size +=
			(size_t)sprintf(text + text_size, "%s_%s_%u", name,
					i % 3 ? i % 2 ? "parse_expression" : "visit" : "get", i) +
			1;
	}
	size_t sym_at = TEXT + code, str_at = sym_at + (n + 1) * sizeof(*symbols);
	size_t names_at = str_at + text_size, headers = (names_at + sizeof(names) + 7) & ~(size_t)7;
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_shoff = headers,
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 5,
			 .e_shstrndx = 4 };
	Elf64_Phdr p = { .p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_filesz = sym_at,
			 .p_memsz = sym_at,
			 .p_align = 0x1000 };
	Elf64_Shdr s[5] = {
		[1] = { 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, code, 0, 0, 16, 0 },
		[2] = { 7, SHT_SYMTAB, 0, 0, sym_at, str_at - sym_at, 3, 1, 8, sizeof(*symbols) },
		[3] = { 15, SHT_STRTAB, 0, 0, str_at, text_size, 0, 0, 1, 0 },
		[4] = { 23, SHT_STRTAB, 0, 0, names_at, sizeof(names), 0, 0, 1, 0 },
	};
	FILE *f = create(dir, name, path);
	fwrite(&h, sizeof(h), 1, f);
	fwrite(&p, sizeof(p), 1, f);
	fwrite(zero, TEXT - sizeof(h) - sizeof(p), 1, f);
	for (size_t i = 0; i < code; i++)
		putc(0x90, f);
	fwrite(symbols, sizeof(*symbols), n + 1, f);
	fwrite(text, text_size, 1, f);
	fwrite(names, sizeof(names), 1, f);
	fwrite(zero, headers - names_at - sizeof(names), 1, f);
	fwrite(s, sizeof(s), 1, f);
	fclose(f);
	free(symbols);
	free(text);
	free(zero);
}

/* ---- stacks ---- */

struct level {
	uint32_t function; /* from `functions` on: the library's */
	uint64_t address;
};

static uint32_t functions, deepest;

/* What a function calls is decided by its number; popular ones are called by many. */
static uint32_t callee(uint32_t caller, uint32_t which)
{
	uint32_t x = caller * 2654435761u + which * 40503u;
	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return which < 2 ? x % 97 % functions : x % functions;
}

static uint64_t address_of(uint32_t function, uint32_t site)
{
	uint64_t base = function < functions ? program_at : lib_at;
	uint32_t i = function < functions ? function : function - functions;
	return base + TEXT + (uint64_t)i * SIZE + 5 + site * 16 % (SIZE - 8);
}

static void put_sample(const struct level *stack, uint32_t depth, uint32_t tid)
{
	uint64_t w[MOST + 16];
	size_t n = 0;
	w[n++] = stack[depth - 1].address;
	w[n++] = perf_pair(MADE_PID, tid);
	w[n++] = made.now;
	w[n++] = tid & 1;
	w[n++] = 1000000;
	w[n++] = depth + 1;
	w[n++] = (uint64_t)-512;
	for (uint32_t i = depth; i--;)
		w[n++] = stack[i].address;
	perf_record(&made, PERF_SAMPLE, IN_USER, w, n);
}

static void put_samples(uint64_t n)
{
	static struct level stacks[4][MOST];
	uint32_t depths[4] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint32_t thread = pick(16) < 13 ? i >> 6 & 3 : pick(4), at = depths[thread];
		struct level *stack = stacks[thread];
		uint32_t keep = at ? 1 + pick(at) : 0;
		uint32_t depth = deepest + 1 - DEPTHS + pick_few(DEPTHS - 1);
		if (pick(4)) /* mostly it is near where it was */
			keep = at > 3 ? at - 1 - pick(3) : at;
		if (depth < keep)
			depth = keep + 1 < deepest ? keep + 1 : deepest;
		for (uint32_t d = keep; d < depth; d++) {
			uint32_t which = d < 7 || !pick(24) ? pick_few(CALLEES) : 0;
			uint32_t f = d ? callee(stack[d - 1].function, which) : 0;
			if (d)
				stack[d - 1].address = address_of(stack[d - 1].function, which);
			if (d > 2 && d + 1 == depth && pick(3) == 0)
				f = functions + f % (functions / 4 + 1);
			stack[d] = (struct level){ f, address_of(f, pick_few(14)) };
			if (f >= functions)
				depth = d + 1;
		}
		depths[thread] = stack[depth - 1].function >= functions ? depth - 1 : depth;
		made.now += 250000;
		put_sample(stack, depth, MADE_PID + thread);
		if (i % 4096 == 4095)
			perf_record(&made, PERF_ROUND, 0, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char path[4096], program[4096], lib[4096];
	if (argc < 3)
		return fprintf(stderr, "usage: %s DIR SAMPLES [DEEPEST [FUNCTIONS [SEED]]]\n",
			       argv[0]),
		       2;
	mkdir(argv[1], 0777);
	deepest = argc > 3 ? (uint32_t)atoi(argv[3]) : 28;
	functions = argc > 4 ? (uint32_t)atoi(argv[4]) : 6000;
	made.random = argc > 5 ? (uint64_t)atoll(argv[5]) : 1;
	if (deepest < DEPTHS || deepest > MOST)
		return fprintf(stderr, "%s: %d to %d frames\n", argv[0], DEPTHS, MOST), 2;
	write_object(argv[1], "program", functions, program);
	write_object(argv[1], "lib.so", functions / 4 + 1, lib);
	made.out = create(argv[1], "perf.data", path);
	perf_header(&made);
	perf_comm(&made, MADE_PID, "program", COMM_EXEC);
	perf_mapping(&made, realpath(program, path), program_at, TEXT + (uint64_t)functions * SIZE,
		     0);
	perf_mapping(&made, realpath(lib, path), lib_at,
		     TEXT + (uint64_t)(functions / 4 + 1) * SIZE, 0);
	for (uint32_t t = 1; t < 4; t++) {
		uint64_t w[8] = { perf_pair(MADE_PID, MADE_PID), perf_pair(MADE_PID + t, MADE_PID),
				  made.now };
		perf_record(&made, PERF_FORK, 0, w, 3 + perf_trailer(&made, w + 3, MADE_PID));
		perf_comm(&made, MADE_PID + t, "worker", 0);
	}
	put_samples(strtoull(argv[2], NULL, 10));
	perf_record(&made, PERF_ROUND, 0, NULL, 0);
	rewind(made.out);
	perf_header(&made);
	return fclose(made.out) ? 1 : 0;
}

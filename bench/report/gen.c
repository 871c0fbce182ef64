/* gen.c - a recording as perf makes them, of any size: gen DIR SAMPLES [FUNCTIONS [SEED]]
 *
 * Writes DIR/program, an ELF file that is nothing but code of that many functions and their
 * symbols, DIR/lib.so likewise, and DIR/perf.data, with frame-pointer call chains of them: a tree
 * of calls, some callees called far more often than others, 5 to 28 frames deep, in which each
 * sample leaves the stack of the one before somewhere and goes another way. Four threads on two
 * processors; the functions of the last level are the library's. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZE = 256, TEXT = 0x1000, DEPTH = 28, CALLEES = 4 };
static const uint64_t program_at = 0x400000, lib_at = 0x7f0000000000;

static uint64_t state;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) * n >> 31);
}

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

/* ---- records ---- */

enum { PID = 500, TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 };
static uint64_t now = 1000000000, written;
static FILE *out;

static void record(uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	uint64_t head = type | (uint64_t)misc << 32 | (uint64_t)(8 + n * 8) << 48;
	fwrite(&head, 8, 1, out);
	if (n)
		fwrite(words, 8, n, out);
	written += 8 + n * 8;
}

static uint64_t pair(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

/* What follows records that are no samples: task, time, processor. */
static size_t trailer(uint64_t *w, uint32_t tid)
{
	w[0] = pair(PID, tid);
	w[1] = now;
	w[2] = 0;
	return 3;
}

static size_t words_of(uint64_t *w, const char *s)
{
	size_t n = strlen(s) / 8 + 1;
	memset(w, 0, n * 8);
	memcpy(w, s, strlen(s));
	return n;
}

static void put_comm(uint32_t tid, bool exec)
{
	uint64_t w[16] = { pair(PID, tid) };
	size_t n = 1 + words_of(w + 1, tid == PID ? "program" : "worker");
	record(3, exec ? 0x2000 : 0, w, n + trailer(w + n, tid));
}

static void put_mapping(const char *path, uint64_t at, uint64_t size)
{
	uint64_t w[600] = { pair(PID, PID), at, size, 0, pair(8, 1), 1, 0, pair(5, 2) };
	size_t n = 8 + words_of(w + 8, path);
	record(10, 2, w, n + trailer(w + n, PID));
}

static void put_header(bool again)
{
	struct {
		char magic[8];
		uint64_t size, attr_size, attrs_at, attrs_size, data_at, data_size, types[2];
		uint64_t features[4];
		/* one event: cpu-clock, 1,000 times a second; comm, mmap, task, mmap2,
		 * sample_id_all, comm_exec */
		uint32_t type, this_size;
		uint64_t config, frequency, sample_type, read_format, flags;
		uint8_t rest[128 - 48], ids[16];
	} h = { .magic = "PERFILE2",
		.size = 104,
		.attr_size = 144,
		.attrs_at = 104,
		.attrs_size = 144,
		.data_at = sizeof(h),
		.data_size = written,
		.type = 1,
		.this_size = 128,
		.frequency = 1000,
		.sample_type = TYPE,
		.flags = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 |
			 1 << 24 };
	memcpy(h.magic, "PERFILE2", 8);
	if (again)
		rewind(out);
	fwrite(&h, sizeof(h), 1, out);
}

/* ---- stacks ---- */

struct level {
	uint32_t function; /* from `functions` on: the library's */
	uint64_t address;
};

static uint32_t functions;

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
	uint64_t w[DEPTH + 16];
	size_t n = 0;
	w[n++] = stack[depth - 1].address;
	w[n++] = pair(PID, tid);
	w[n++] = now;
	w[n++] = tid & 1;
	w[n++] = 1000000;
	w[n++] = depth + 1;
	w[n++] = (uint64_t)-512;
	for (uint32_t i = depth; i--;)
		w[n++] = stack[i].address;
	record(9, 2, w, n);
}

static void put_samples(uint64_t n)
{
	static struct level stacks[4][DEPTH];
	uint32_t depths[4] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint32_t thread = pick(16) < 13 ? i >> 6 & 3 : pick(4), at = depths[thread];
		struct level *stack = stacks[thread];
		uint32_t keep = at ? 1 + pick(at) : 0, depth = 5 + pick_few(DEPTH - 5);
		if (pick(4)) /* mostly it is near where it was */
			keep = at > 3 ? at - 1 - pick(3) : at;
		if (depth < keep)
			depth = keep + 1 < DEPTH ? keep + 1 : DEPTH;
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
		now += 250000;
		put_sample(stack, depth, PID + thread);
		if (i % 4096 == 4095)
			record(68, 0, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char path[4096], program[4096], lib[4096];
	if (argc < 3)
		return fprintf(stderr, "usage: %s DIR SAMPLES [FUNCTIONS [SEED]]\n", argv[0]), 2;
	mkdir(argv[1], 0777);
	functions = argc > 3 ? (uint32_t)atoi(argv[3]) : 6000;
	state = argc > 4 ? (uint64_t)atoll(argv[4]) : 1;
	write_object(argv[1], "program", functions, program);
	write_object(argv[1], "lib.so", functions / 4 + 1, lib);
	out = create(argv[1], "perf.data", path);
	put_header(false);
	put_comm(PID, true);
	put_mapping(realpath(program, path), program_at, TEXT + (uint64_t)functions * SIZE);
	put_mapping(realpath(lib, path), lib_at, TEXT + (uint64_t)(functions / 4 + 1) * SIZE);
	for (uint32_t t = 1; t < 4; t++) {
		uint64_t w[8] = { pair(PID, PID), pair(PID + t, PID), now };
		record(7, 0, w, 3 + trailer(w + 3, PID));
		put_comm(PID + t, false);
	}
	put_samples(strtoull(argv[2], NULL, 10));
	record(68, 0, NULL, 0);
	put_header(true);
	return fclose(out) ? 1 : 0;
}

/* gen.c - makes a profiled program of any size without compiling one: an ELF file that has nothing
 * but an (empty, sparse) .text and a symbol table, and the gmon.out it might have left.
 *
 *	gen [-s SEED] [-k FILES] [-w WIDTH] [-f] [-c] SHAPE N OUT
 *
 * writes OUT.elf and OUT.gmon, or with -k OUT.gmon.1 .. OUT.gmon.FILES, which differ in their
 * samples, counts and (by a half) in their arcs. Shapes:
 *
 *	zipf	N functions of some ten callees each. A few callees are popular, most are
 *		not (Zipf's law). Arcs lead forward, so without more they would be free of
 *		cycles; 5 % lead back and make some: the largest has two to three thousand
 *		members.
 *	star	one function that calls all N - 1 others
 *	chain	each function calls the next: N deep
 *
 * -c makes the names mangled C++ ones, -w fills up others to WIDTH characters, -f lets all arcs
 * lead forward: no cycles. The same arguments make the same bytes, everywhere: only integer
 * arithmetic and a generator of our own. */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TEXT = 0x401000,    /* address of .text */
	TEXT_OFFSET = 4096, /* where it is in the file */
	ALIGN = 16,         /* of functions */
	CALL = 5,           /* bytes of a call instruction */
	BIN = 4,            /* bytes of code per histogram bin, as glibc has it */
	RATE = 100,         /* ticks per second */
	BACK = 5,           /* percent of arcs that lead backward ... */
	REACH = 1000,       /* ... by at most so many functions */
	MAX_N = 4000000,
};

enum shape { ZIPF, STAR, CHAIN };

struct program {
	enum shape shape;
	uint32_t n;
	bool cxx, forward;
	unsigned width; /* of names, at least; less than the buffer of name_of() holds */
	uint64_t seed;
	uint64_t *addr;  /* [n + 1] by address */
	uint32_t *place; /* [n] number in the call order -> number by address */
};

struct rng {
	uint64_t s;
};

static uint64_t next(struct rng *r) /* splitmix64 */
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(struct rng *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)next(r) * n >> 64);
}

/* One stream of numbers per purpose and item, so that no part depends on how much another drew. */
static struct rng stream(const struct program *p, uint64_t purpose, uint64_t item)
{
	struct rng r = { p->seed ^ purpose << 56 ^ item * 0xd6e8feb86659fd93 };
	next(&r);
	return r;
}

/* 0 .. n - 1, i with a likelihood of about 1 / (i + 1): each power of two is equally likely. */
static uint64_t zipf(struct rng *r, uint64_t n)
{
	unsigned octaves = 64 - (unsigned)__builtin_clzll(n);

	for (;;) {
		uint64_t low = (uint64_t)1 << below(r, octaves);
		uint64_t x = low + below(r, low);
		if (x <= n)
			return x - 1;
	}
}

static void *grab(size_t n, size_t size)
{
	void *at = calloc(n, size);
	if (!at)
		err(1, "%zu bytes", n * size);
	return at;
}

static FILE *create(const char *out, const char *suffix)
{
	char *path;
	if (asprintf(&path, "%s%s", out, suffix) < 0)
		err(1, "asprintf");
	FILE *f = fopen(path, "wb");
	if (!f)
		err(1, "%s", path);
	free(path);
	setvbuf(f, NULL, _IOFBF, 1 << 20);
	return f;
}

static void finish(FILE *f)
{
	if (ferror(f) || fclose(f))
		err(1, "writing");
}

static void put(FILE *f, const void *at, size_t size) { fwrite(at, 1, size, f); }

static void put32(FILE *f, uint32_t v) { put(f, &v, sizeof(v)); }

static void put64(FILE *f, uint64_t v) { put(f, &v, sizeof(v)); }

/* ---- the program ---- */

/* Sizes as compilers make them: most functions are small, a few are large. */
static void lay_out(struct program *p)
{
	struct rng r = stream(p, 1, 0);
	uint64_t at = TEXT;

	p->addr = grab(p->n + 1, sizeof(*p->addr));
	p->place = grab(p->n, sizeof(*p->place));
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t size = ALIGN << below(&r, 6);
		size += below(&r, size / ALIGN + 1) * ALIGN;
		if (p->shape == STAR && i == 0)
			size += (uint64_t)p->n * CALL;
		p->addr[i] = at;
		at = (at + size + ALIGN - 1) / ALIGN * ALIGN;
	}
	p->addr[p->n] = at;

	for (uint32_t i = 0; i < p->n; i++)
		p->place[i] = i;
	uint32_t fixed = p->shape == STAR; /* this function was made large enough for its calls */
	for (uint32_t i = p->n - 1; i > fixed; i--) {
		uint32_t j = fixed + (uint32_t)below(&r, i + 1 - fixed), t = p->place[i];
		p->place[i] = p->place[j];
		p->place[j] = t;
	}
}

static const char *const words[] = {
	"get",        "set",        "parse",     "read",    "write",  "header",  "buffer",
	"list",       "node",       "tree",      "hash",    "table",  "insert",  "remove",
	"find",       "lookup",     "update",    "init",    "free",   "alloc",   "string",
	"token",      "expression", "statement", "context", "stream", "handle",  "request",
	"connection", "state",      "check",     "is",      "has",    "compute", "size",
	"index",      "entry",      "value",     "type",    "symbol", "section", "file",
	"path",       "cache",      "flush",     "lock",    "queue",  "worker",
};
enum { N_WORDS = sizeof(words) / sizeof(*words) };

static int name_of(const struct program *p, uint32_t i, char *buf, size_t cap)
{
	struct rng r = stream(p, 2, i);
	const char *w[4];
	unsigned n = 1 + (unsigned)below(&r, 3);

	for (unsigned k = 0; k < 4; k++)
		w[k] = words[below(&r, N_WORDS)];
	if (p->cxx) {
		char last[64];
		int len = snprintf(last, sizeof(last), "%s_%x", w[2], i);
		return snprintf(buf, cap, "_ZN%zu%s%zu%s%d%sEPKc%s", strlen(w[0]), w[0],
				strlen(w[1]), w[1], len, last, below(&r, 2) ? "i" : "RKSs");
	}
	int len = 0;
	for (unsigned k = 0; k <= n; k++)
		len += snprintf(buf + len, cap - (size_t)len, "%s_", w[k]);
	while ((unsigned)len + 8 < p->width)
		buf[len++] = 'x';
	return len + snprintf(buf + len, cap - (size_t)len, "%x", i);
}

static void write_elf(const struct program *p, const char *out)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	uint64_t text = p->addr[p->n] - TEXT;
	uint64_t symtab = (TEXT_OFFSET + text + 7) / 8 * 8;
	uint64_t strtab = symtab + (p->n + 1) * sizeof(Elf64_Sym);
	FILE *f = create(out, ".elf");

	if (fseeko(f, (off_t)symtab, SEEK_SET))
		err(1, "seeking");
	put(f, &(Elf64_Sym){ 0 }, sizeof(Elf64_Sym));
	uint64_t string = 1;
	for (uint32_t i = 0; i < p->n; i++) {
		char name[256];
		int len = name_of(p, i, name, sizeof(name));
		Elf64_Sym sym = {
			.st_name = (Elf64_Word)string,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = p->addr[i],
			.st_size = p->addr[i + 1] - p->addr[i],
		};
		put(f, &sym, sizeof(sym));
		string += (uint64_t)len + 1;
	}
	fputc(0, f);
	for (uint32_t i = 0; i < p->n; i++) {
		char name[256];
		int len = name_of(p, i, name, sizeof(name));
		put(f, name, (size_t)len + 1);
	}
	uint64_t shstrtab = strtab + string;
	put(f, names, sizeof(names));
	uint64_t sections = (shstrtab + sizeof(names) + 7) / 8 * 8;
	if (fseeko(f, (off_t)sections, SEEK_SET))
		err(1, "seeking");

	Elf64_Shdr sh[] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = TEXT,
		  .sh_offset = TEXT_OFFSET,
		  .sh_size = text,
		  .sh_addralign = ALIGN },
		{ .sh_name = 7,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = symtab,
		  .sh_size = strtab - symtab,
		  .sh_link = 3,
		  .sh_info = 1,
		  .sh_addralign = 8,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_name = 15,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = strtab,
		  .sh_size = string,
		  .sh_addralign = 1 },
		{ .sh_name = 23,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = shstrtab,
		  .sh_size = sizeof(names),
		  .sh_addralign = 1 },
	};
	put(f, sh, sizeof(sh));

	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = TEXT,
		.e_phoff = sizeof(eh),
		.e_shoff = sections,
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = sizeof(sh) / sizeof(*sh),
		.e_shstrndx = 4,
	};
	Elf64_Phdr ph = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = TEXT_OFFSET,
		.p_vaddr = TEXT,
		.p_paddr = TEXT,
		.p_filesz = text,
		.p_memsz = text,
		.p_align = 4096,
	};
	rewind(f);
	put(f, &eh, sizeof(eh));
	put(f, &ph, sizeof(ph));
	finish(f);
}

/* ---- its profile ---- */

static void write_histogram(const struct program *p, struct rng *r, FILE *f)
{
	uint64_t size = p->addr[p->n] - TEXT;
	uint32_t bins = (uint32_t)(size / BIN);
	uint16_t *count = grab(bins, sizeof(*count));

	for (uint64_t ticks = 1000 + (uint64_t)p->n * 5; ticks; ticks--) {
		uint32_t fn = p->place[zipf(r, p->n)];
		uint64_t pc = p->addr[fn] - TEXT + below(r, p->addr[fn + 1] - p->addr[fn]);
		if (count[pc / BIN] < UINT16_MAX)
			count[pc / BIN]++;
	}
	fputc(0, f);
	put64(f, TEXT);
	put64(f, TEXT + size);
	put32(f, bins);
	put32(f, RATE);
	put(f, "seconds\0\0\0\0\0\0\0\0s", 16);
	put(f, count, bins * sizeof(*count));
	free(count);
}

static void write_arc(FILE *f, uint64_t from, uint64_t to, uint32_t count)
{
	fputc(1, f);
	put64(f, from);
	put64(f, to);
	put32(f, count);
}

/* Both numbers are in the call order. `nth`: which call of the caller. */
static void call(const struct program *p, FILE *f, uint32_t caller, uint32_t nth, uint32_t callee,
		 uint32_t count)
{
	uint32_t a = p->place[caller], b = p->place[callee];
	uint64_t at = p->addr[a] + ((uint64_t)nth + 1) * CALL, last = p->addr[a + 1] - 1;

	write_arc(f, at < last ? at : last, p->addr[b], count);
}

/* Counts spread over four powers of ten. */
static uint32_t some_count(struct rng *r) { return 1 + (uint32_t)zipf(r, 20000); }

static void write_zipf(const struct program *p, uint64_t file, uint32_t caller, FILE *f)
{
	struct rng r = stream(p, 3, caller), counts = stream(p, 4, (uint64_t)caller << 16 ^ file);
	uint32_t calls = 1 + (uint32_t)below(&r, 19);

	if (p->forward && caller == p->n - 1)
		return; /* the last function has no function after it */
	for (uint32_t k = 0; k < calls; k++) {
		uint32_t ahead = p->n - 1 - caller, callee;
		if (ahead == 0 || (below(&r, 100) < BACK && !p->forward))
			callee =
				caller - (uint32_t)below(&r, (caller < REACH ? caller : REACH) + 1);
		else
			callee = p->n - 1 - (uint32_t)zipf(&r, ahead); /* popular ones are leaves */
		if (file && below(&counts, 2))
			continue;
		call(p, f, caller, k, callee, some_count(&counts));
	}
}

static void write_gmon(const struct program *p, uint64_t file, const char *out, const char *suffix)
{
	struct rng r = stream(p, 5, file);
	uint32_t *caller_at = grab(p->n, sizeof(*caller_at));
	FILE *f = create(out, suffix);

	put(f, "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	write_histogram(p, &r, f);
	write_arc(f, 0, p->addr[p->place[0]], 1); /* the first is called from outside */
	for (uint32_t i = 0; i < p->n; i++)
		caller_at[p->place[i]] = i;
	for (uint32_t i = 0; i < p->n; i++) { /* by address of the caller, as the runtime does */
		uint32_t caller = caller_at[i];
		if (p->shape == ZIPF)
			write_zipf(p, file, caller, f);
		else if (p->shape == STAR && i > 0)
			call(p, f, 0, i, i, some_count(&r));
		else if (p->shape == CHAIN && caller + 1 < p->n)
			call(p, f, caller, 0, caller + 1, some_count(&r));
	}
	finish(f);
	free(caller_at);
}

static unsigned long number(const char *s, unsigned long max)
{
	char *end;
	unsigned long v = strtoul(s, &end, 0);
	if (end == s || *end || v == 0 || v > max)
		errx(1, "'%s': not a number from 1 to %lu", s, max);
	return v;
}

int main(int argc, char **argv)
{
	static const char *const shapes[] = { "zipf", "star", "chain" };
	struct program p = { .seed = 1 };
	unsigned long files = 0;
	int opt;

	while ((opt = getopt(argc, argv, "s:k:w:cf")) != -1) {
		if (opt == 's')
			p.seed = number(optarg, (unsigned long)-1);
		else if (opt == 'k')
			files = number(optarg, 100000);
		else if (opt == 'w')
			p.width = (unsigned)number(optarg, 200);
		else if (opt == 'f')
			p.forward = true;
		else if (opt == 'c')
			p.cxx = true;
		else
			return 2;
	}
	if (argc - optind != 3)
		errx(2,
		     "usage: gen [-s SEED] [-k FILES] [-w WIDTH] [-f] [-c] zipf|star|chain N OUT");
	while (strcmp(argv[optind], shapes[p.shape]))
		if (++p.shape > CHAIN)
			errx(2, "'%s': no such shape", argv[optind]);
	p.n = (uint32_t)number(argv[optind + 1], MAX_N);
	lay_out(&p);
	write_elf(&p, argv[optind + 2]);
	if (!files)
		write_gmon(&p, 0, argv[optind + 2], ".gmon");
	for (unsigned long i = 1; i <= files; i++) {
		char suffix[32];
		snprintf(suffix, sizeof(suffix), ".gmon.%lu", i);
		write_gmon(&p, i, argv[optind + 2], suffix);
	}
	free(p.addr);
	free(p.place);
	return 0;
}

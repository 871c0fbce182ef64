/* Rules from code: paths that are followed, and code that is left out because it is not certain. */
#include <elf.h>
#include <stdlib.h>

#include "lib/cfi_build.h"
#include "tap.h"
#include "unwind/bare_code.h"
#include "unwind/step.h"
#include "unwind/unwind_table.h"

enum { BASE = 0x4000, SYMBOLS_MAX = 8 };

struct made_code {
	uint8_t at[2 * BARE_CALLED_MIN];
	size_t n;
	Elf64_Sym symbols[SYMBOLS_MAX];
	size_t n_symbols;
	char strings[128];
	size_t n_strings;
	bool is_stripped;
	uint64_t init; /* address of .init */
};

static size_t read_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct made_code *c = arg;
	uint64_t at = addr - BASE;
	size_t n = at >= c->n ? 0 : c->n - at < size ? c->n - at : size;
	if (n)
		memcpy(ret, c->at + at, n);
	return n;
}

static void add_symbol(struct made_code *c, const char *name, uint64_t at, uint64_t size)
{
	if (!c->n_strings)
		c->n_strings = 1;
	c->symbols[c->n_symbols++] = (Elf64_Sym){ .st_name = (Elf64_Word)c->n_strings,
						  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
						  .st_shndx = 1,
						  .st_value = BASE + at,
						  .st_size = size };
	memcpy(c->strings + c->n_strings, name, strlen(name) + 1);
	c->n_strings += strlen(name) + 1;
}

/* The rows, as text; where there is none: "-". */
static const char *rows_of(struct made_code *c)
{
	static struct cfi_listing l;
	struct code_span all = { BASE, BASE + c->n };
	struct code_file file = { .machine = &machine_x86_64,
				  .symbols = (const uint8_t *)c->symbols,
				  .symbols_size = c->n_symbols * sizeof(*c->symbols),
				  .strings = c->strings,
				  .strings_size = c->n_strings,
				  .code = read_code,
				  .arg = c,
				  .is_stripped = c->is_stripped,
				  .starts = { c->init } };
	struct bare_rows rows = { 0 };
	bare_code_rows(&(struct bare_input){ .file = &file, .bare = &all, .n_bare = 1 }, &rows);
	l = (struct cfi_listing){ .base = BASE };
	for (size_t i = 0; i < rows.n; i++) {
		OK(i + 1 == rows.n ? rows.at[i].high == BASE + c->n
				   : rows.at[i].high == rows.at[i + 1].low);
		cfi_list_row(&l, rows.at[i].low, &rows.at[i].row);
	}
	vec_free(&rows);
	return l.text;
}

static const char *rows_with(const uint8_t *code, size_t size, bool has_size)
{
	static struct made_code c;
	c = (struct made_code){ .n = size };
	memcpy(c.at, code, size);
	add_symbol(&c, "f", 0, has_size ? size : 0);
	return rows_of(&c);
}

#define BYTES(...)     (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define ROWS(...)      rows_with(BYTES(__VA_ARGS__), true)
#define SIZELESS(...)  rows_with(BYTES(__VA_ARGS__), false)
#define START          "0: sp+8 ra=[cfa-8]"
#define ONLY_START(at) START "\n" at ": none"

static void test_frames(void)
{
	/* push %rbx; sub $16, %rsp; call *%rax; add $16, %rsp; pop %rbx; ret; int3 */
	OK_STR(ROWS(0x53, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3,
		    0xcc),
	       START "\n1: sp+16 ra=[cfa-8] bx=[cfa-16]\n5: sp+32 ra=[cfa-8] bx=[cfa-16]\n"
		     "b: sp+16 ra=[cfa-8] bx=[cfa-16]\nc: sp+8 ra=[cfa-8]\nd: none");
	/* push %rbp; mov %rsp, %rbp; and $-32, %rsp; sub %rax, %rsp; leave; ret */
	OK_STR(ROWS(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x29, 0xc4, 0xc9, 0xc3),
	       START "\n1: sp+16 ra=[cfa-8] fp=[cfa-16]\n8: fp+16 ra=[cfa-8] fp=[cfa-16]\n"
		     "c: sp+8 ra=[cfa-8]");
	/* mov %rbx, -8(%rsp): nothing is below sp; xor %ebx, %ebx; mov -8(%rsp), %rbx; ret */
	OK_STR(ROWS(0x48, 0x89, 0x5c, 0x24, 0xf8, 0x31, 0xdb, 0x48, 0x8b, 0x5c, 0x24, 0xf8, 0xc3),
	       START "\n7: sp+8 ra=[cfa-8] bx=?");
	/* sub $8, %rsp; mov %rbp, (%rsp); mov (%rsp), %rbp; lea 8(%rsp), %rsp; ret */
	OK_STR(ROWS(0x48, 0x83, 0xec, 8, 0x48, 0x89, 0x2c, 0x24, 0x48, 0x8b, 0x2c, 0x24, 0x48, 0x8d,
		    0x64, 0x24, 8, 0xc3),
	       START "\n4: sp+16 ra=[cfa-8]\n8: sp+16 ra=[cfa-8] fp=[cfa-16]\n11: sp+8 ra=[cfa-8]");
	/* Paths with different stacks and one frame: push %rbp; mov %rsp, %rbp; 1: test %eax, %eax;
	 * jne 2f; call *%rax; leave; ret; 2: push %rax; call *%rax; jmp 1b */
	OK_STR(ROWS(0x55, 0x48, 0x89, 0xe5, 0x85, 0xc0, 0x75, 4, 0xff, 0xd0, 0xc9, 0xc3, 0x50, 0xff,
		    0xd0, 0xeb, 0xf3),
	       START "\n1: sp+16 ra=[cfa-8] fp=[cfa-16]\n4: fp+16 ra=[cfa-8] fp=[cfa-16]\n"
		     "b: sp+8 ra=[cfa-8]\nc: fp+16 ra=[cfa-8] fp=[cfa-16]");
	/* ... and without one. */
	OK_STR(ROWS(0x85, 0xc0, 0x75, 3, 0xff, 0xd0, 0xc3, 0x50, 0xff, 0xd0, 0xeb, 0xf4),
	       START "\n8: sp+16 ra=[cfa-8]\na: none");
	/* call next; next: pop %rax; ret */
	OK_STR(ROWS(0xe8, 0, 0, 0, 0, 0x58, 0xc3),
	       START "\n5: sp+16 ra=[cfa-8]\n6: sp+8 ra=[cfa-8]");
	/* vfork(): pop %rdx; syscall; push %rdx; ret */
	OK_STR(ROWS(0x5a, 0x0f, 0x05, 0x52, 0xc3), START "\n1: sp+0 ra=r1\n4: sp+8 ra=[cfa-8]");
}

static void test_doubt(void)
{
	/* pop %rcx; jmp *%rcx: an unknown target */
	OK_STR(ROWS(0x59, 0xff, 0xe1), "");
	/* Paths with different stacks: test; je 1f; push %rax; 1: ret */
	OK_STR(ROWS(0x85, 0xc0, 0x74, 1, 0x50, 0xc3), "");
	/* A loop that pushes: 1: push %rax; dec %ecx; jne 1b; int3 */
	OK_STR(ROWS(0x50, 0xff, 0xc9, 0x75, 0xfb, 0xcc), "");
	/* push %rax; ret: jumps to %rax */
	OK_STR(ROWS(0x50, 0xc3), "");
	/* No instruction. */
	OK_STR(ROWS(0x90, 0x06), "");
	/* mov %rax, (%rsp): another return address; hlt */
	OK_STR(ROWS(0x48, 0x89, 0x04, 0x24, 0xf4), ONLY_START("4"));
	/* mov %rax, %rsp: another stack; hlt */
	OK_STR(ROWS(0x48, 0x89, 0xc4, 0xf4), ONLY_START("3"));
	/* mov $56, %eax; syscall: clone(), whose child has another stack; hlt */
	OK_STR(ROWS(0xb8, 56, 0, 0, 0, 0x0f, 0x05, 0xf4), ONLY_START("7"));
	/* A jump out of the code with a frame. */
	OK_STR(ROWS(0x50, 0xe9, 0, 1, 0, 0), "");
	/* ... and without: of a function like any other. */
	OK_STR(ROWS(0xe9, 0, 1, 0, 0), START);
}

/* inc %rax; jmp *(%r14,%rax,8): an operation of an interpreter, which has its caller's frame, or a
 * function that ends in a call by pointer. */
static void test_operations(void)
{
#define OPERATION 0x48, 0xff, 0xc0, 0x41, 0xff, 0x24, 0xc6
	OK_STR(ROWS(OPERATION), "");
	/* It returns elsewhere: test %eax, %eax; jne 1f; ret; 1: .. */
	OK_STR(ROWS(0x85, 0xc0, 0x75, 1, 0xc3, OPERATION), START);
	/* Something calls it: f: call g; ret; g: .. */
	struct made_code c = { .at = { 0xe8, 1, 0, 0, 0, 0xc3, OPERATION }, .n = 13 };
	add_symbol(&c, "f", 0, 6);
	add_symbol(&c, "g", 6, 7);
	OK_STR(rows_of(&c), START);
	/* Two that go on in one place: f: inc %rax; jmp g; g: .. */
	c = (struct made_code){ .at = { 0x48, 0xff, 0xc0, 0xeb, 0, OPERATION }, .n = 12 };
	add_symbol(&c, "f", 0, 5);
	add_symbol(&c, "g", 5, 7);
	OK_STR(rows_of(&c), "");
	/* The same, and h calls f: call f; ret */
	memcpy(c.at + 12, "\xe8\xef\xff\xff\xff\xc3", 6);
	c.n = 18;
	add_symbol(&c, "h", 12, 6);
	OK_STR(rows_of(&c), START);
}

/* push %rbp; mov %rsp, %rbp; call *%rax; leave; pop %rcx; lea (%rsp, %rax, 8), %rsp; push %rcx;
 * ret: a return that takes arguments off is not certain, but within the symbol the frame pointer
 * tells. */
static void test_likely(void)
{
#define TAKES_OFF 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0xc9, 0x59, 0x48, 0x8d, 0x24, 0xc4, 0x51, 0xc3
	OK_STR(ROWS(TAKES_OFF), START "\n1: sp+16 ra=[cfa-8] fp=[cfa-16]\n"
				      "6: fp+16 ra=[cfa-8] fp=[cfa-16] guessed\n7: none");
	OK_STR(SIZELESS(TAKES_OFF), START "\n1: sp+16 ra=[cfa-8] fp=[cfa-16]\n6: none");
}

/* sub $8; call elsewhere; .. */
static void test_calls(void)
{
	/* It returns, as everything behind it agrees: add $8, %rsp; ret */
	OK_STR(SIZELESS(0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3),
	       START "\n4: sp+16 ra=[cfa-8]\nd: sp+8 ra=[cfa-8]");
	/* It does not return: the code behind it is another function: push %rbx; pop %rbx; ret */
	OK_STR(SIZELESS(0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x53, 0x5b, 0xc3),
	       START "\n4: sp+16 ra=[cfa-8]\n9: none");
	/* Without a return this is not known, unless a symbol covers the code behind: hlt */
	OK_STR(SIZELESS(0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x90, 0xf4),
	       START "\n4: sp+16 ra=[cfa-8]\n9: none");
	OK_STR(ROWS(0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x90, 0xf4),
	       START "\n4: sp+16 ra=[cfa-8]");
	/* A call of a function that never returns, and the code behind it: sub $8; call g; add $8;
	 * ret; g: hlt */
	OK_STR(ROWS(0x48, 0x83, 0xec, 8, 0xe8, 5, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3, 0xf4),
	       START "\n4: sp+16 ra=[cfa-8]\n9: none\ne: sp+8 ra=[cfa-8]");
	/* Two calls, one behind the other, that do not return, and a third that does: f: sub $8;
	 * call x; sub $24; call y; g: sub $8; call x; add $8; ret. There is no evidence for the
	 * code behind the first. */
	OK_STR(SIZELESS(0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x48, 0x83, 0xec, 24, 0xe8, 0, 1, 0,
			0, 0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3),
	       START "\n4: sp+16 ra=[cfa-8]\n9: none");
}

static void test_starts(void)
{
	/* f: call g; ret; g: push %rbx; pop %rbx; ret; h: ret */
	struct made_code c = { .at = { 0xe8, 1, 0, 0, 0, 0xc3, 0x53, 0x5b, 0xc3, 0xc3 }, .n = 10 };
	add_symbol(&c, "f", 0, 6);
	OK_STR(rows_of(&c), START "\n7: sp+16 ra=[cfa-8] bx=[cfa-16]\n8: sp+8 ra=[cfa-8]\n9: none");
	add_symbol(&c, "h", 9, 1);
	OK_STR(rows_of(&c), START "\n7: sp+16 ra=[cfa-8] bx=[cfa-16]\n8: sp+8 ra=[cfa-8]");

	/* f: push %rbx; test; jne f.cold; pop; ret; f.cold: nop; jmp back */
	c = (struct made_code){ .at = { 0x53, 0x85, 0xc0, 0x75, 2, 0x5b, 0xc3, 0x90, 0xeb, 0xfb },
				.n = 10 };
	add_symbol(&c, "f", 0, 7);
	add_symbol(&c, "f.cold", 7, 3);
	OK_STR(rows_of(&c), START "\n1: sp+16 ra=[cfa-8] bx=[cfa-16]\n6: sp+8 ra=[cfa-8]\n"
				  "7: sp+16 ra=[cfa-8] bx=[cfa-16]");

	/* A symbol in the middle of it, with a frame that cannot be: neither is certain. */
	c.n_symbols = 1;
	add_symbol(&c, "g", 7, 3);
	OK_STR(rows_of(&c), "");

	/* .init of a stripped library: sub $8, %rsp; call *%rax; add $8, %rsp; ret */
	c = (struct made_code){ .at = { 0x48, 0x83, 0xec, 8, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8,
					0xc3 },
				.n = 11,
				.is_stripped = true };
	OK_STR(rows_of(&c), "");
	c.init = BASE;
	OK_STR(rows_of(&c), START "\n4: sp+16 ra=[cfa-8]\na: sp+8 ra=[cfa-8]");

	/* musl's trampoline: nop; mov $15, %rax; syscall */
	c = (struct made_code){ .at = { 0x90, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 },
				.n = 10 };
	add_symbol(&c, "__restore_rt", 1, 9);
	OK_STR(rows_of(&c), "0: [sp+160]+0 ra=[sp+168] fp=[sp+120] bx=[sp+128] signal");
}

/* cmp $1, %edi; ja 1f; lea table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; push
 * %rbx; jmp *%rax; 1: ret; a: pop %rbx; ret; b: nop; pop %rbx; ret; table: a - table, b - table */
static const uint8_t with_table[] = { 0x83, 0xff, 1,    0x77, 17,   0x48, 0x8d, 0x15, 17,   0,
				      0,    0,    0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0x53,
				      0xff, 0xe0, 0xc3, 0x5b, 0xc3, 0x90, 0x5b, 0xc3, 0xcc, 0xfa,
				      0xff, 0xff, 0xff, 0xfc, 0xff, 0xff, 0xff };

static void test_tables(void)
{
	struct made_code c = { .n = sizeof(with_table) };
	memcpy(c.at, with_table, sizeof(with_table));
	add_symbol(&c, "f", 0, 28);
	OK_STR(rows_of(&c),
	       START "\n14: sp+16 ra=[cfa-8] bx=[cfa-16]\n16: sp+8 ra=[cfa-8]\n"
		     "17: sp+16 ra=[cfa-8] bx=[cfa-16]\n18: sp+8 ra=[cfa-8]\n"
		     "19: sp+16 ra=[cfa-8] bx=[cfa-16]\n1b: sp+8 ra=[cfa-8]\n1c: none");
	c.at[3] = 0x7f; /* jg: with a sign, which is no bound */
	OK_STR(rows_of(&c), "");
	c.at[3] = 0x77;
	c.at[sizeof(with_table) - 1] = 0; /* one entry leads elsewhere */
	OK_STR(rows_of(&c), "");
}

/* Only where nothing else says anything, and looked up like any other. */
static void test_table_of_module(void)
{
	/* f: call g; ret, which has call-frame information; g: push %rbx; call *%rax; pop; ret */
	struct made_code c = { .at = { 0xe8, 1,    0,    0,    0,    0xc3, 0x53, 0xff,
				       0xd0, 0x5b, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
				       0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc },
			       .n = sizeof(c.at) };
	static const uint8_t start[] = { 0x0c, 7, 8, 0x80 + 16, 1 };
	struct cfi_build b = { 0 };
	struct code_span all = { BASE, BASE + sizeof(c.at) };
	struct code_file file = { .machine = &machine_x86_64,
				  .code = read_code,
				  .arg = &c,
				  .is_stripped = true,
				  .sections = &all,
				  .n_sections = 1 };
	struct unwind_row row;
	cfi_cie(&b, false, 16, start, sizeof(start));
	cfi_fde(&b, BASE, 6, start, 0);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, NULL, &file);
	OK(unwind_table_find(t, BASE + 5)->cfa_offset == 8);
	row = *unwind_table_find(t, BASE + 7);
	OK(row.cfa == UNWIND_CFA_REG && row.reg == UNWIND_SP && row.cfa_offset == 16);
	OK(!row.flags && row.bx == UNWIND_AT_CFA && row.bx_offset == -2);
	OK(unwind_table_find(t, BASE + 10)->cfa_offset == 8);
	OK(unwind_table_find(t, BASE + 11)->cfa == UNWIND_CFA_NONE);
	OK(unwind_table_is_followed(t) && !unwind_table_lacks(t, BASE + 11));
	unwind_table_free(t);

	/* The same without following: what is left out is known to be. */
	file.not_followed = true;
	t = unwind_table_new(s.machine, &s, 1, NULL, &file);
	OK(unwind_table_find(t, BASE + 5)->cfa_offset == 8);
	OK(unwind_table_find(t, BASE + 6)->cfa == UNWIND_CFA_NONE);
	OK(unwind_table_find(t, BASE + 10)->cfa == UNWIND_CFA_NONE);
	OK(!unwind_table_is_followed(t) && unwind_table_lacks(t, BASE + 6));
	OK(!unwind_table_lacks(t, BASE + 4) && unwind_table_lacks(t, BASE + 5));
	unwind_table_free(t);
	file.not_followed = false;

	t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
	OK(unwind_table_find(t, BASE + 7)->cfa != UNWIND_CFA_REG || unwind_table_rows(t) == 2);
	unwind_table_free(t);

	/* Nothing calls it. */
	c.at[0] = 0x90;
	t = unwind_table_new(s.machine, &s, 1, NULL, &file);
	OK(unwind_table_find(t, BASE + 16)->cfa == UNWIND_CFA_NONE);
	unwind_table_free(t);
}

/* Of each kind of encoding one: bytes, and how many they are. */
static void test_lengths(void)
{
	static const struct {
		uint8_t size, code[15];
	} all[] = {
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } },                /* endbr64 */
		{ 10, { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 } },   /* movabs */
		{ 5, { 0x66, 0xc7, 0x00, 1, 2 } },                /* movw $, (%rax) */
		{ 8, { 0x48, 0x8b, 0x84, 0x24, 1, 2, 3, 4 } },    /* mov x(%rsp), %rax */
		{ 8, { 0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4 } },    /* mov x, %rax */
		{ 7, { 0x48, 0x8d, 0x05, 1, 2, 3, 4 } },          /* lea x(%rip), %rax */
		{ 2, { 0xd9, 0xe8 } },                            /* fld1 */
		{ 4, { 0xdb, 0x7c, 0x24, 0x10 } },                /* fstpt 16(%rsp) */
		{ 3, { 0xf6, 0xc1, 7 } },                         /* test $7, %cl */
		{ 2, { 0xf6, 0xd9 } },                            /* neg %cl */
		{ 6, { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8 } },       /* palignr */
		{ 5, { 0x66, 0x0f, 0x38, 0x00, 0xc1 } },          /* pshufb */
		{ 3, { 0xc5, 0xf8, 0x77 } },                      /* vzeroupper */
		{ 6, { 0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1 } },       /* vextracti128 */
		{ 5, { 0xc5, 0xfd, 0x70, 0xc1, 1 } },             /* vpshufd */
		{ 7, { 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x46, 1 } }, /* vmovdqu64 64(%rsi) */
		{ 8, { 0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4 } },    /* call of TLS */
		{ 10, { 0x66, 0x2e, 0x0f, 0x1f, 0x84 } },         /* nopw */
		{ 3, { 0xc2, 8, 0 } },                            /* ret $8 */
		{ 0, { 0x66, 0xe8, 1, 2, 3, 4 } },                /* of 16 or 32 bits? */
		{ 0, { 0x06 } },
		{ 0, { 0x62, 0xf4, 0x7c, 0x18, 0x01, 0xc8 } }, /* of another EVEX */
	};
	struct machine_effect e;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		bool known = machine_x86_64_effect(all[i].code, sizeof(all[i].code), BASE, &e);
		OK(known ? e.size == all[i].size : !all[i].size);
		for (size_t n = 0; n < all[i].size; n++)
			OK(!machine_x86_64_effect(all[i].code, n, BASE, &e));
	}
}

int main(void)
{
	test_frames();
	test_doubt();
	test_operations();
	test_likely();
	test_calls();
	test_starts();
	test_tables();
	test_table_of_module();
	test_lengths();
	return DONE();
}

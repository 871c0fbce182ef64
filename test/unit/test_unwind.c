/* Call-frame information made by hand, tables, their files. */
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "lib/cfi_build.h"
#include "object/elf_file.h"
#include "object/object.h"
#include "tap.h"
#include "unwind/unwind_table_private.h"

static const uint8_t x86_start[] = { 0x0c, 7, 8, 0x80 + 16, 1 }; /* CFA rsp+8, ra at CFA-8 */
static const uint8_t arm_start[] = { 0x0c, 31, 0 };

/* The rows of one function of 0x100 bytes with these instructions, as text. */
static const char *rows_of(const struct machine *m, const uint8_t *code, size_t size)
{
	static struct cfi_listing l;
	static struct cfi_build b;
	struct cfi_fde f;
	b = (struct cfi_build){ 0 };
	if (m == &machine_x86_64)
		cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	else
		cfi_cie(&b, false, 30, arm_start, sizeof(arm_start));
	cfi_fde(&b, 0x4000, 0x100, code, size);
	struct cfi_section s = cfi_finish(&b, m);
	l = (struct cfi_listing){ .base = 0x4000 };
	if (!cfi_find(&s, 0x4000, &f))
		return "no entry";
	cfi_rows(&s, &f, cfi_list_row, &l);
	return l.text;
}

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define X86(...)   rows_of(&machine_x86_64, BYTES(__VA_ARGS__))
#define ARM(...)   rows_of(&machine_aarch64, BYTES(__VA_ARGS__))

static void test_instructions(void)
{
	/* push rbp; mov rbp, rsp; leave; ret */
	OK_STR(X86(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x45, 0x0c, 7, 8),
	       "0: sp+8 ra=[cfa-8]\n"
	       "1: sp+16 ra=[cfa-8] fp=[cfa-16]\n"
	       "4: fp+16 ra=[cfa-8] fp=[cfa-16]\n"
	       "9: sp+8 ra=[cfa-8] fp=[cfa-16]");
	/* advances of 1, 2, 4, 8 bytes, set_loc; restore and its extended form */
	OK_STR(X86(0x02, 1, 0x86, 2, 0x03, 2, 0, 0xc6, 0x04, 3, 0, 0, 0, 0x86, 3, 0x1d, 4, 0, 0, 0,
		   0, 0, 0, 0, 0x06, 6),
	       "0: sp+8 ra=[cfa-8]\n"
	       "1: sp+8 ra=[cfa-8] fp=[cfa-16]\n"
	       "3: sp+8 ra=[cfa-8]\n"
	       "6: sp+8 ra=[cfa-8] fp=[cfa-24]\n"
	       "a: sp+8 ra=[cfa-8]");
	/* offset_extended, its signed form, the negative form; def_cfa_sf, offset_sf */
	OK_STR(X86(0x05, 6, 4, 0x41, 0x11, 6, 0x7d, 0x41, 0x2f, 6, 2, 0x41, 0x12, 6, 0x7c, 0x41,
		   0x13, 0x7b),
	       "0: sp+8 ra=[cfa-8] fp=[cfa-32]\n"
	       "1: sp+8 ra=[cfa-8] fp=[cfa+24]\n"
	       "2: sp+8 ra=[cfa-8] fp=[cfa+16]\n"
	       "3: fp+32 ra=[cfa-8] fp=[cfa+16]\n"
	       "4: fp+40 ra=[cfa-8] fp=[cfa+16]");
	/* undefined, same_value, register; of rbx as well; others do not matter */
	OK_STR(X86(0x07, 6, 0x83, 3, 0x41, 0x08, 6, 0x8c, 5, 0x41, 0x09, 6, 12, 0x09, 16, 5),
	       "0: sp+8 ra=[cfa-8] fp=? bx=[cfa-24]\n"
	       "1: sp+8 ra=[cfa-8] bx=[cfa-24]\n"
	       "2: sp+8 ra=r5 fp=r12 bx=[cfa-24]");
	OK_STR(X86(0x09, 6, 7), "0: sp+8 ra=[cfa-8] fp=sp");
	/* the outermost frame */
	OK_STR(X86(0x07, 16), "0: end");
	/* remember_state, restore_state bring the CFA back, too */
	OK_STR(X86(0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 8, 0x41, 0x0b), "0: sp+8 ra=[cfa-8]\n"
								     "1: sp+16 ra=[cfa-8]\n"
								     "2: sp+8 ra=[cfa-8]\n"
								     "3: sp+16 ra=[cfa-8]");
	/* args_size and nops say nothing */
	OK_STR(X86(0, 0x2e, 0x10, 0x41, 0), "0: sp+8 ra=[cfa-8]");
	/* val_offset, val_expression: a row has no word for them */
	OK_STR(X86(0x14, 6, 1, 0x41, 0x15, 16, 1), "0: sp+8 ra=[cfa-8] fp=?\n1: none");
	OK_STR(X86(0x16, 6, 2, 0x77, 0), "0: sp+8 ra=[cfa-8] fp=?");
}

static void test_expressions(void)
{
	/* gcc's realigned stack: r10, then the CFA is what rbp-8 holds, rbp is at rbp+0 */
	OK_STR(X86(0x45, 0x0c, 10, 0, 0x49, 0x10, 6, 2, 0x76, 0, 0x46, 0x0f, 3, 0x76, 0x78, 0x06),
	       "0: sp+8 ra=[cfa-8]\n"
	       "5: r10+0 ra=[cfa-8]\n"
	       "e: r10+0 ra=[cfa-8] fp=[fp+0]\n"
	       "14: [fp-8]+0 ra=[cfa-8] fp=[fp+0]");
	/* a linker's PLT */
	OK_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
	       "0: plt 11 ra=[cfa-8]");
	OK_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x1c),
	       "0: none");
	OK_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22),
	       "0: plt 0 ra=[cfa-8]");
	OK_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x40, 0x2a, 0x33, 0x24, 0x22),
	       "0: none");
	OK_STR(X86(0x0f, 11, 0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
	       "0: none");
	/* the first and the last register with an operation of its own */
	OK_STR(ARM(0x0f, 2, 0x70, 16), "0: r0+16");
	OK_STR(ARM(0x0f, 2, 0x8f, 16), "0: sp+16");
	/* saved registers, relative to the same place in memory, and to another one */
	OK_STR(X86(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 6, 0x76, 0x78, 0x06, 0x09, 0xf0, 0x22),
	       "0: [fp-8]+0 ra=[cfa-8] fp=[cfa-16]");
	OK_STR(X86(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 6, 0x76, 0x70, 0x06, 0x09, 0xf0, 0x22),
	       "0: [fp-8]+0 ra=[cfa-8] fp=?");
	/* the CFA is the word in memory there plus 16, the register's place plus 8 */
	OK_STR(X86(0x0f, 5, 0x76, 0x78, 0x06, 0x23, 16, 0x10, 6, 5, 0x76, 0x78, 0x06, 0x23, 8),
	       "0: [fp-8]+16 ra=[cfa-8] fp=[cfa-8]");
	/* a place that is computed from the CFA, which is on the stack at first */
	OK_STR(X86(0x10, 6, 3, 0x09, 0xf0, 0x22), "0: sp+8 ra=[cfa-8] fp=[cfa-16]");
	/* OpenSSL's: [rsp+152] + 8 */
	OK_STR(X86(0x0f, 6, 0x77, 0x98, 1, 0x06, 0x23, 8), "0: [sp+152]+8 ra=[cfa-8]");
	/* constants of all sizes, plus and minus, in either order */
	OK_STR(X86(0x0f, 4, 0x77, 0, 0x38, 0x22), "0: sp+8 ra=[cfa-8]");
	OK_STR(X86(0x0f, 5, 0x08, 200, 0x77, 0, 0x22), "0: sp+200 ra=[cfa-8]");
	OK_STR(X86(0x0f, 5, 0x77, 0, 0x09, 0xf8, 0x1c), "0: sp+8 ra=[cfa-8]");
	OK_STR(X86(0x0f, 6, 0x77, 0, 0x0a, 0, 1, 0x22), "0: sp+256 ra=[cfa-8]");
	OK_STR(X86(0x0f, 8, 0x77, 0, 0x0d, 0xf0, 0xff, 0xff, 0xff, 0x22), "0: sp-16 ra=[cfa-8]");
	OK_STR(X86(0x0f, 6, 0x92, 7, 16, 0x10, 8, 0x22), "0: sp+24 ra=[cfa-8]");
	OK_STR(X86(0x0f, 6, 0x77, 0, 0x11, 0x78, 0x1c, 0x96), "0: sp+8 ra=[cfa-8]");
	/* no more than four numbers at a time */
	OK_STR(X86(0x0f, 8, 0x77, 0, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22), "0: sp+3 ra=[cfa-8]");
	OK_STR(X86(0x0f, 10, 0x77, 0, 0x31, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22, 0x22), "0: none");
	/* unsupported: two registers, an empty stack, an unknown operation */
	OK_STR(X86(0x0f, 5, 0x77, 0, 0x76, 0, 0x22), "0: none");
	OK_STR(X86(0x0f, 1, 0x22), "0: none");
	OK_STR(X86(0x0f, 0), "0: none");
	OK_STR(X86(0x0f, 1, 0xff), "0: none");
	/* after an expression an offset alone makes no sense */
	OK_STR(X86(0x0f, 2, 0x77, 8, 0x0e, 8), "0: none");
	OK_STR(X86(0x0f, 2, 0x77, 8, 0x13, 0x7f), "0: none");
	OK_STR(X86(0x0f, 2, 0x77, 8, 0x0d, 6), "0: none");
}

static void test_limits(void)
{
	uint8_t many[CFI_DEPTH_MAX + 1];
	memset(many, 0x0a, sizeof(many));
	OK_STR(rows_of(&machine_x86_64, many, CFI_DEPTH_MAX), "0: sp+8 ra=[cfa-8]");
	OK_STR(rows_of(&machine_x86_64, many, sizeof(many)), "0: none");
	OK_STR(X86(0x0b), "0: none");                           /* nothing remembered */
	OK_STR(X86(0x41, 0x3f), "0: sp+8 ra=[cfa-8]\n1: none"); /* no such instruction */
	OK_STR(X86(0x2d), "0: none");                           /* aarch64's */
	OK_STR(X86(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
	       "0: none");                        /* a number of 77 bits */
	OK_STR(X86(0x0f, 0x7f, 0x77), "0: none"); /* a block longer than the entry */
	OK_STR(X86(0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f), "0: none"); /* more than a row can say */
	OK_STR(X86(0x86, 0xff, 0xff, 0x7f), "0: sp+8 ra=[cfa-8] fp=?");
	OK_STR(X86(0x0f, 6, 0x77, 0x80, 0x80, 0x80, 0x80, 0x08), "0: none");    /* sp + 2^31 */
	OK_STR(X86(0x0f, 7, 0x77, 0, 0x06, 0x23, 0xc0, 0xb8, 0x02), "0: none"); /* [sp] + 40000 */
	OK_STR(X86(0x0c, 15, 0), "0: r15+0 ra=[cfa-8]");
	OK_STR(X86(0x0c, (uint8_t)machine_x86_64.n_registers, 0), "0: none");
	/* moving out of the function ends it */
	OK_STR(X86(0x41, 0x0e, 16, 0x04, 0, 0, 0, 1, 0x0e, 24),
	       "0: sp+8 ra=[cfa-8]\n1: sp+16 ra=[cfa-8]");
	/* far slots are given relative to the register; the farthest are 32,768 words away */
	OK_STR(X86(0x05, 6, 0x80, 0x80, 0x02), "0: sp+8 ra=[cfa-8] fp=[cfa-262144]");
	OK_STR(X86(0x05, 6, 0x81, 0x80, 0x02), "0: sp+8 ra=[cfa-8] fp=[sp-262144]");
	OK_STR(X86(0x05, 6, 0x82, 0x80, 0x02), "0: sp+8 ra=[cfa-8] fp=?");
	OK_STR(X86(0x11, 6, 0x81, 0x80, 0x7e), "0: sp+8 ra=[cfa-8] fp=[cfa+262136]");
	OK_STR(X86(0x11, 6, 0x80, 0x80, 0x7e), "0: sp+8 ra=[cfa-8] fp=?");
	OK_STR(ARM(0x0c, 31, 0x80, 0x80, 0x40, 0x9e, 0x80, 0x80, 0x08), "0: sp+1048576 ra=[sp+0]");
}

static void test_aarch64(void)
{
	OK_STR(ARM(0x44, 0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29, 0x48, 0x0c, 31, 0,
		   0xdd, 0xde, 0x44, 0x2d),
	       "0: sp+0\n"
	       "4: sp+0 signed\n"
	       "8: sp+32 ra=[cfa-24] fp=[cfa-32] signed\n"
	       "c: fp+32 ra=[cfa-24] fp=[cfa-32] signed\n"
	       "14: sp+0 signed\n"
	       "18: sp+0");
}

/* A file that test/unwind/NAME.sh made, its rows, and one of them by the table. */
static void test_foreign(const char *dir, const struct machine *m, const char *rows, uint64_t pc,
			 int32_t cfa_offset)
{
	char path[4096];
	struct object_file *o = NULL;
	snprintf(path, sizeof(path), "%s/unwind/%s.so", dir, m->name);
	kin_error_free(object_open(path, &(struct object_opts){ 0 }, &o));
	if (!OK(o))
		return;
	size_t n;
	struct object_frames f = object_frames(o);
	const struct object_segment *segments = object_segments(o, &n);
	OK(n >= 2 && segments[0].addr == 0);
	struct cfi_section s = { .machine = m,
				 .data = f.eh_frame.data,
				 .size = f.eh_frame.size,
				 .addr = f.eh_frame.addr,
				 .hdr = f.eh_frame_hdr.data,
				 .hdr_size = f.eh_frame_hdr.size,
				 .hdr_addr = f.eh_frame_hdr.addr };
	struct cfi_listing l = { 0 };
	struct cfi_fde fde = { 0 };
	for (size_t at = 0; cfi_next(&s, &at, &fde);)
		cfi_rows(&s, &fde, cfi_list_row, &l);
	OK_STR(l.text, rows);
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
	OK(t && unwind_table_machine(t) == m);
	OK(t && unwind_table_find(t, pc)->cfa_offset == cfa_offset);
	unwind_table_free(t);
	/* The rules of another machine say nothing. */
	const struct machine *const others[] = { NULL, &machine_i386 };
	for (size_t i = 0; i < 2; i++) {
		struct unwind_row row;
		s.machine = others[i];
		OK(cfi_find(&s, pc, &fde) && !cfi_row(&s, &fde, pc, &row));
		OK(row.cfa == UNWIND_CFA_NONE);
		t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
		OK(!t || unwind_table_find(t, pc)->cfa == UNWIND_CFA_NONE);
		unwind_table_free(t);
	}
	object_free(o);
}

/* This program, with section headers or without, and its rule for `pc`. */
static struct unwind_row own_row(bool with_sections, uint64_t pc, size_t *n_sections)
{
	char path[] = "/tmp/test_unwind.XXXXXX";
	static uint8_t bytes[64 << 20];
	Elf64_Ehdr h;
	struct unwind_row ret = { 0 };
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
	ssize_t n = read(from, bytes, sizeof(bytes));
	unlink(path);
	close(from);
	memcpy(&h, bytes, sizeof(h));
	if (!with_sections) {
		h.e_shoff = 0;
		h.e_shnum = h.e_shstrndx = 0;
	}
	memcpy(bytes, &h, sizeof(h));
	OK(n > 0 && write(to, bytes, (size_t)n) == n);
	struct elf_file *f = elf_file_of_open(path, to, UINT64_MAX);
	struct unwind_table *t = f ? elf_file_unwind_table(f, machine_native(), true) : NULL;
	OK(t);
	if (t)
		ret = *unwind_table_find(t, pc);
	*n_sections = f ? f->n_sections : 0;
	unwind_table_free(t);
	elf_file_free(f);
	close(to);
	return ret;
}

static int own_bias(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1;
}

/* Linkers may leave out section headers: the segments tell where call-frame information is. */
static void test_without_sections(void)
{
	uint64_t bias = 0;
	size_t n;
	dl_iterate_phdr(own_bias, &bias);
	uint64_t pc = (uint64_t)(uintptr_t)own_row + 40 - bias;
	struct unwind_row with = own_row(true, pc, &n);
	OK(n > 1 && with.cfa != UNWIND_CFA_NONE);
	struct unwind_row without = own_row(false, pc, &n);
	OK(!n && unwind_row_equal(&with, &without));
}

static void test_foreign_objects(const char *dir)
{
	test_foreign(dir, &machine_aarch64,
		     "146c: sp+0\n"
		     "1474: sp+0\n"
		     "1478: sp+0 signed\n"
		     "1488: fp+32 ra=[cfa-24] fp=[cfa-32] signed\n"
		     "14b8: sp+0\n"
		     "14bc: sp+0 signed\n"
		     "14d0: fp+32 ra=[cfa-24] fp=[cfa-32] signed",
		     0x1490, 32);
	test_foreign(dir, &machine_riscv64,
		     "320: sp+0\n"
		     "328: sp+0\n"
		     "32a: sp+32\n"
		     "32c: sp+32 fp=[cfa-16]\n"
		     "332: sp+32 ra=[cfa-8] fp=[cfa-16]\n"
		     "340: sp+32 fp=[cfa-16]\n"
		     "344: sp+32\n"
		     "346: sp+0\n"
		     "348: sp+0\n"
		     "352: sp+32\n"
		     "368: sp+400016 ra=[cfa-8] fp=[cfa-16]\n"
		     "396: sp+32 ra=[cfa-8] fp=[cfa-16]\n"
		     "398: sp+32 fp=[cfa-16]\n"
		     "39a: sp+32\n"
		     "39e: sp+0\n"
		     "3a0: sp+0\n"
		     "3a2: sp+32\n"
		     "3ac: sp+32 ra=[cfa-8] fp=[cfa-16]\n"
		     "3ae: fp+0 ra=[cfa-8] fp=[cfa-16]\n"
		     "3c0: sp+32 ra=[cfa-8] fp=[cfa-16]\n"
		     "3c2: sp+32 fp=[cfa-16]\n"
		     "3c6: sp+32\n"
		     "3ca: sp+0",
		     0x384, 400016);
}

/* ---- looking up ---- */

static void test_header(void)
{
	static struct cfi_build b;
	struct cfi_build h = { 0 };
	struct cfi_fde f;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, true, 16, x86_start, sizeof(x86_start));
	for (uint64_t i = 0; i < 8; i++)
		cfi_fde(&b, 0x4000 + 0x100 * i, 0x40, BYTES(0));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	cfi_put(&h, 0x3b031b01, 4);
	cfi_put(&h, (uint64_t)CFI_ADDR - (CFI_HDR_ADDR + 4), 4);
	cfi_put(&h, 8, 4);
	for (size_t i = 0; i < 8; i++) {
		cfi_put(&h, b.lows[i] - CFI_HDR_ADDR, 4);
		cfi_put(&h, CFI_ADDR + b.fdes[i] - CFI_HDR_ADDR, 4);
	}
	bool equal = true;
	for (uint64_t pc = 0x3f00; pc < 0x4a00; pc++) {
		struct cfi_fde linear;
		s.hdr = NULL;
		bool found = cfi_find(&s, pc, &linear);
		s.hdr = h.at;
		s.hdr_size = h.n;
		s.hdr_addr = CFI_HDR_ADDR;
		equal &= cfi_find(&s, pc, &f) == found && (!found || f.low == linear.low);
		equal &= found == (pc >= 0x4000 && pc < 0x4800 && (pc & 0xff) < 0x40);
	}
	OK(equal);
	struct unwind_row row;
	OK(cfi_find(&s, 0x4110, &f) && cfi_row(&s, &f, 0x4110, &row));
	OK(row.flags == UNWIND_SIGNAL);
	s.hdr_size = 20; /* the table has eight pairs, and room for one */
	OK(cfi_find(&s, 0x4010, &f) && !cfi_find(&s, 0x4110, &f));
	s.hdr_size = h.n;
	cfi_put(&h, 0x4180 - CFI_HDR_ADDR, 4); /* behind the table, which has no such pair */
	cfi_put(&h, CFI_ADDR + b.fdes[0] - CFI_HDR_ADDR, 4);
	s.hdr_size = h.n;
	OK(cfi_find(&s, 0x4210, &f) && f.low == 0x4200);
	OK(cfi_find(&s, 0x4710, &f) && f.low == 0x4700);
	h.at[3] = 0xff; /* no table: all entries are searched, and the old table is not read */
	memset(h.at + 12, 0, h.n - 12);
	OK(cfi_find(&s, 0x4110, &f) && f.low == 0x4100 && !cfi_find(&s, 0x4150, &f));
	h.at[0] = 2; /* no such version */
	OK(cfi_find(&s, 0x4110, &f) && f.low == 0x4100);
}

/* A segment in memory with both sections, whose sizes may be wrong. */
static void test_segment(void)
{
	enum { HDR = 0x800, HDR_SIZE = 20, SIZE = HDR + HDR_SIZE };
	static struct cfi_build b;
	struct cfi_build h = { 0 };
	struct cfi_section s;
	struct cfi_fde f;
	uint8_t segment[SIZE] = { 0 };
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, 0x40, BYTES(0));
	memcpy(segment, b.at, b.n);
	cfi_put(&h, 0x3b031b01, 4);
	cfi_put(&h, (uint64_t) - (HDR + 4), 4);
	cfi_put(&h, 1, 4);
	cfi_put(&h, 0x4000 - (CFI_ADDR + HDR), 4);
	cfi_put(&h, b.fdes[0] - HDR, 4);
	memcpy(segment + HDR, h.at, HDR_SIZE);
	const struct machine *m = &machine_x86_64;
	OK(cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE, &s));
	OK(s.data == segment && s.addr == CFI_ADDR && s.size == SIZE && s.machine == m);
	OK(cfi_find(&s, 0x403f, &f) && f.low == 0x4000 && !cfi_find(&s, 0x4040, &f));
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE + 1, &s));
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + SIZE + 1, 0, &s));
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR - 8, HDR_SIZE, &s));
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, 7, &s));
	segment[HDR] = 2; /* another version */
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE, &s));
	segment[HDR] = 1;
	segment[HDR + 4] = (uint8_t)(HDR_SIZE - 4); /* the entries would begin at its end */
	segment[HDR + 5] = segment[HDR + 6] = segment[HDR + 7] = 0;
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE, &s));
	segment[HDR + 4]--;
	OK(cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE, &s));
	OK(s.size == 1 && !cfi_find(&s, 0x4000, &f));
	segment[HDR + 6] = 1; /* the entries are elsewhere */
	OK(!cfi_from_segment(m, segment, SIZE, CFI_ADDR, CFI_ADDR + HDR, HDR_SIZE, &s));
}

/* ---- entries by hand ---- */

enum { UDATA2 = 2, SDATA2 = 10, TEXTREL = 0x20, HIGH = 0x20, TEXT = 0x100000, DATA = 0x200000 };

/* A pointer as its encoding has it: 0x4000, or -0x100. */
static void put_pointer(struct cfi_build *b, unsigned encoding, bool negative)
{
	static const uint8_t width[] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };
	static const uint8_t leb[] = { 0x80, 0x80, 0x01 }, negative_leb[] = { 0x80, 0x7e };
	if ((encoding & 0xf0) == 0x50) /* aligned */
		while ((CFI_ADDR + b->n) % 8)
			cfi_put(b, 0, 1);
	if (width[encoding & 0xf])
		cfi_put(b, negative ? -UINT64_C(0x100) : 0x4000, width[encoding & 0xf]);
	for (size_t i = 0; !width[encoding & 0xf] && i < (negative ? 2 : 3); i++)
		cfi_put(b, (negative ? negative_leb : leb)[i], 1);
}

struct shape {
	unsigned version, address, segment; /* the latter of version 4 */
	const char *letters;
	unsigned encoding; /* without "R": absolute */
	bool negative, debug_frame, wide;
};

/* Length and identifier of an entry, the latter ~0 for a CIE of .debug_frame. */
static size_t begin_entry(struct cfi_build *b, bool wide)
{
	size_t entry = b->n;
	if (wide)
		cfi_put(b, 0xffffffff, 4);
	cfi_put(b, 0, wide ? 8 : 4);
	return entry;
}

static void end_entry(struct cfi_build *b, size_t entry, bool wide)
{
	cfi_close(b, wide ? entry + 8 : entry); /* the length lies four bytes before */
	if (!wide)
		return;
	memcpy(b->at + entry + 4, b->at + entry + 8, 4);
	memset(b->at + entry + 8, 0, 4);
}

/* A section of one entry of HIGH bytes, whose CFA is 8 more from the second byte on; *low: where.
 */
static struct cfi_section by_hand(struct cfi_build *b, const struct shape *sh, uint64_t *low)
{
	*b = (struct cfi_build){ 0 };
	begin_entry(b, sh->wide);
	cfi_put(b, sh->debug_frame ? UINT64_MAX : 0, sh->wide ? 8 : 4);
	cfi_put(b, sh->version, 1);
	for (size_t i = 0; i <= strlen(sh->letters); i++)
		cfi_put(b, (uint8_t)sh->letters[i], 1);
	if (sh->letters[0] == 'e')
		cfi_put(b, UINT64_C(0x7878787878787878), 8);
	if (sh->version == 4)
		cfi_put(b, sh->address | sh->segment << 8, 2);
	cfi_put(b, 0x7801, 2);
	cfi_put(b, sh->version == 1 ? 16 : 0x0090, sh->version == 1 ? 1 : 2); /* LEB128 since */
	size_t size = b->n;
	cfi_put(b, 0, sh->letters[0] == 'z');
	for (const char *l = sh->letters; *l; l++) {
		if (*l == 'R' || *l == 'L')
			cfi_put(b, *l == 'R' ? sh->encoding : 0x1b, 1);
		if (*l == 'P')
			cfi_put(b, 0x7b9b, 5); /* indirect, relative, four bytes */
	}
	b->at[size] = sh->letters[0] == 'z' ? (uint8_t)(b->n - size - 1) : b->at[size];
	memcpy(b->at + b->n, x86_start, sizeof(x86_start));
	b->n += sizeof(x86_start);
	end_entry(b, 0, sh->wide);

	size_t entry = begin_entry(b, sh->wide);
	cfi_put(b, sh->debug_frame ? 0 : b->n, sh->wide ? 8 : 4);
	const uint64_t bases[] = { 0, CFI_ADDR + b->n, TEXT, DATA, 0, 0 };
	*low = bases[sh->encoding >> 4] + (sh->negative ? -UINT64_C(0x100) : 0x4000);
	put_pointer(b, sh->encoding, sh->negative);
	static const uint8_t width[] = { 8, 1, 2, 4, 8, 0, 0, 0, 0, 1, 2, 4, 8 };
	cfi_put(b, HIGH, width[sh->encoding & 0xf]);
	cfi_put(b, 0, sh->letters[0] == 'z');
	cfi_put(b, 0x100e41, 3);
	end_entry(b, entry, sh->wide);
	struct cfi_section s = cfi_finish(b, &machine_x86_64);
	s.debug_frame = sh->debug_frame;
	s.text_base = TEXT;
	s.data_base = DATA;
	return s;
}

static bool is_read(const struct shape *sh)
{
	static struct cfi_build b;
	struct cfi_fde f = { 0 };
	struct unwind_row row;
	uint64_t low;
	struct cfi_section s = by_hand(&b, sh, &low);
	if (!cfi_find(&s, low + 5, &f) || f.low != low || f.high != low + HIGH)
		return false;
	return cfi_row(&s, &f, low, &row) && row.cfa_offset == 8 &&
	       cfi_row(&s, &f, low + 1, &row) && row.cfa_offset == 16;
}

/* Encodings of pointers, versions and augmentations that compilers have written since gcc 2. */
static void test_entries(void)
{
	static const uint8_t formats[] = { 0, 1, UDATA2, 3, 4, 9, SDATA2, 11, 12 };
	for (unsigned base = 0; base <= 0x30; base += 0x10)
		for (size_t i = 0; i < sizeof(formats); i++) {
			struct shape sh = { 1, 8, 0, "zR", base | formats[i], false };
			OK(is_read(&sh));
			sh.negative = base && formats[i] >= 9; /* relative ones may lie before */
			OK(is_read(&sh));
		}
	OK(is_read(&(struct shape){ 1, 8, 0, "zR", 0x50, false }));
	static const unsigned versions[] = { 1, 3, 4 };
	static const char *const letters[] = { "zR", "zPLR", "zRS", "zRB", "zRX" };
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 5; k++)
			OK(is_read(&(struct shape){ versions[i], 8, 0, letters[k], 3, false }));
		OK(is_read(&(struct shape){ versions[i], 8, 0, "", 0, false }));
		OK(is_read(&(struct shape){ versions[i], 8, 0, "eh", 0, false }));
		OK(!is_read(&(struct shape){ versions[i], 8, 0, "R", 0, false }));
	}
	for (int i = 0; i < 4; i++) {
		struct shape sh = { 4, 8, 0, "", 0, .debug_frame = i & 1, .wide = i & 2 };
		OK(is_read(&sh));
	}
	OK(!is_read(&(struct shape){ 2, 8, 0, "", 0, false }));
	OK(!is_read(&(struct shape){ 4, 4, 0, "", 0, false }));
	OK(!is_read(&(struct shape){ 4, 8, 1, "", 0, false }));
}

/* The beginning of each entry, one after the other. */
static const char *entries_of(const struct cfi_build *b)
{
	static char text[256];
	struct cfi_section s = cfi_finish(b, &machine_x86_64);
	struct cfi_fde f = { 0 };
	*text = '\0';
	for (size_t at = 0; cfi_next(&s, &at, &f);)
		sprintf(text + strlen(text), "%jx ", (uintmax_t)f.low);
	return text;
}

/* Entries of several CIEs, some damaged, and the terminator of a section that another one follows.
 */
static void test_mixed_entries(void)
{
	static struct cfi_build b;
	struct unwind_row row;
	struct cfi_fde f = { 0 };
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, BYTES(0x0c, 7, 8)); /* no rule for the return address */
	cfi_fde(&b, 0x4000, 0x40, BYTES(0));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	OK(cfi_find(&s, 0x4000, &f) && cfi_row(&s, &f, 0x4000, &row));
	OK(row.ra == UNWIND_AT_CFA && row.ra_offset == -1); /* in words */
	cfi_put(&b, 0, 4);
	cfi_fde(&b, 0x4040, 0x40, BYTES(0));
	OK_STR(entries_of(&b), "4000 4040 ");

	size_t plain = b.n; /* without augmentation: addresses are absolute */
	cfi_put(&b, 0, 8);
	cfi_put(&b, 1, 2);
	cfi_put(&b, 0x107801, 3);
	cfi_close(&b, plain);
	size_t entry = b.n;
	cfi_put(&b, 0, 4);
	cfi_put(&b, b.n - plain, 4);
	cfi_put(&b, 0x5000, 8);
	cfi_put(&b, 0x40, 8);
	cfi_close(&b, entry);
	OK_STR(entries_of(&b), "4000 4040 5000 ");

	b.at[plain + 8] = 2; /* no such version */
	OK_STR(entries_of(&b), "4000 4040 ");
	size_t end = b.n, second = b.n; /* nor for another entry of it */
	cfi_put(&b, 0, 4);
	cfi_put(&b, b.n - plain, 4);
	cfi_put(&b, 0x6000, 8);
	cfi_put(&b, 0x40, 8);
	cfi_close(&b, second);
	OK_STR(entries_of(&b), "4000 4040 ");
	b.n = end;
	b.at[plain + 8] = 1;
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	b.at[b.cie + 15] = 0x70; /* the augmentation is longer than the entry */
	cfi_fde(&b, 0x7000, 0x40, BYTES(0));
	cfi_fde(&b, 0x7100, 0x40, BYTES(0));
	OK_STR(entries_of(&b), "4000 4040 5000 ");
	b.n = end;
	memset(b.at + entry + 4, 0x7f, 4); /* a CIE far in front of the section */
	OK_STR(entries_of(&b), "4000 4040 ");
}

/* A later section does not change ranges that an earlier one covers. */
static void test_sections(void)
{
	static struct cfi_build a, b;
	a = b = (struct cfi_build){ 0 };
	cfi_cie(&a, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&a, 0x4040, 0x40, BYTES(0));
	cfi_fde(&a, 0x4100, 0x40, BYTES(0x0e, 16));
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, 0x200, BYTES(0x0e, 24, 0x50, 0x0e, 32));
	struct cfi_section s[] = { cfi_finish(&a, &machine_x86_64),
				   cfi_finish(&b, &machine_x86_64) };
	struct unwind_table *t = unwind_table_new(s->machine, s, 2, NULL, NULL);
	static const struct {
		uint64_t addr;
		int cfa;
	} wanted[] = { { 0x3fff, 0 },  { 0x4000, 24 }, { 0x400f, 24 }, { 0x4010, 32 },
		       { 0x403f, 32 }, { 0x4040, 8 },  { 0x407f, 8 },  { 0x4080, 32 },
		       { 0x4100, 16 }, { 0x413f, 16 }, { 0x4140, 32 }, { 0x41ff, 32 },
		       { 0x4200, 0 } };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		OK(unwind_table_find(t, wanted[i].addr)->cfa_offset == wanted[i].cfa);
	OK(!unwind_table_new(s->machine, s, 0, NULL, NULL));
	unwind_table_free(t);
}

/* A gap too small for a function belongs to the function before. */
static void test_gaps(void)
{
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, 0x31, BYTES(0x0e, 16));
	cfi_fde(&b, 0x4040, 0x30, BYTES(0x0e, 24)); /* 15 bytes later */
	cfi_fde(&b, 0x4080, 0x30, BYTES(0x0e, 32)); /* 16 */
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
	OK(unwind_table_find(t, 0x4030)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x4031)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x403f)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x4040)->cfa_offset == 24);
	OK(unwind_table_find(t, 0x4070)->cfa == UNWIND_CFA_NONE);
	OK(unwind_table_find(t, 0x407f)->cfa == UNWIND_CFA_NONE);
	OK(unwind_table_find(t, 0x4080)->cfa_offset == 32);
	unwind_table_free(t);
}

/* ---- outermost functions ---- */

struct symbols {
	Elf64_Sym at[8];
	size_t n;
	char names[256];
	size_t n_names;
};

static void add_symbol(struct symbols *s, const char *name, uint64_t addr, uint64_t size)
{
	s->at[s->n++] = (Elf64_Sym){ .st_name = (Elf64_Word)s->n_names,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				     .st_shndx = 1,
				     .st_value = addr,
				     .st_size = size };
	memcpy(s->names + s->n_names, name, strlen(name) + 1);
	s->n_names += strlen(name) + 1;
}

struct code_at {
	uint64_t addr;
	const uint8_t *at;
	size_t n;
};

static size_t copy_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct code_at *c = arg;
	size_t at = addr < c->addr ? c->n : addr - c->addr;
	size_t n = at < c->n ? c->n - at : 0;
	n = n < size ? n : size;
	memcpy(ret, c->at + at, n);
	return n;
}

static const char *outermost_of(const struct symbols *s, struct code_at *code)
{
	static char text[512];
	struct outermost o = { 0 };
	struct code_span all = { code->addr, code->addr + code->n };
	outermost_find(&(struct code_file){ .machine = &machine_x86_64,
					    .sections = &all,
					    .n_sections = 1,
					    .symbols = (const uint8_t *)s->at,
					    .symbols_size = s->n * sizeof(*s->at),
					    .strings = s->names,
					    .strings_size = s->n_names,
					    .code = copy_code,
					    .arg = code },
		       &o);
	size_t n = 0;
	*text = '\0';
	for (size_t i = 0; i < o.n && n < sizeof(text) - 64; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llx-%llx%s", i ? " " : "",
				      (unsigned long long)o.at[i].low,
				      (unsigned long long)o.at[i].high,
				      o.at[i].overrides ? "!" : "");
	vec_free(&o);
	return text;
}

static void test_outermost(void)
{
	struct code_at none = { 0 };
	struct symbols s = { 0 };
	add_symbol(&s, "_start", 0x4000, 0); /* of assembly: up to the next symbol */
	add_symbol(&s, "_start_c", 0x4020, 0x20);
	add_symbol(&s, "start", 0x4100, 0x10);
	add_symbol(&s, "__clone", 0x4200, 0);
	OK_STR(outermost_of(&s, &none), "4000-4020");
	/* the child's call: the parent returns */
	static const uint8_t clone[] = { 0x0f, 0x05, 0xff, 0xd1, 0xc3 };
	struct code_at code = { 0x4200, clone, sizeof(clone) };
	OK_STR(outermost_of(&s, &code), "4000-4020 4203-4204!");
	add_symbol(&s, "libc_start_main_stage2", 0x4300, 0x10); /* it is musl */
	OK_STR(outermost_of(&s, &none), "4000-4020 4100-4110 4300-4310");
	s.names[s.n_names - 1] = '2'; /* a name without an end */
	OK_STR(outermost_of(&s, &none), "4000-4020");
	s.at[0].st_name = 1000;
	s.at[3].st_shndx = SHN_UNDEF;
	OK_STR(outermost_of(&s, &none), "");

	/* musl's, stripped: pop %rbp; lea 0x5000(%rip), %rax; pop %rbp; jmp *%rax */
	static const uint8_t passes[] = { 0x5d, 0x48, 0x8d, 5, 0xf8, 0x0f, 0, 0, 0x5d, 0xff, 0xe0 };
	code = (struct code_at){ 0x4000, passes, sizeof(passes) };
	s = (struct symbols){ 0 };
	add_symbol(&s, "__libc_start_main", 0x4000, sizeof(passes));
	add_symbol(&s, "exit", 0x5040, 8);
	OK_STR(outermost_of(&s, &code), "4000-400b 5000-5040");
	code.n--;
	OK_STR(outermost_of(&s, &code), "4000-400b");

	/* ... and its threads: clone(), as far as the child's call; 4020: call *(%rbx); mov %rax,
	 * %rdi; call exit; 4030: lea 4020, %rdi; call clone */
	uint8_t threads[0x3c] = {
		[0x10] = 0x0f, 0x05,          0x85, 0xc0, 0x75, 0x0f, 0x31, 0xed, 0x5f, 0x41, 0xff,
		0xd1,          [0x20] = 0xff, 0x13, 0x48, 0x89, 0xc7, 0xe8, 0,    0,    0,    0,
		[0x30] = 0x48, 0x8d,          0x3d, 0xe9, 0xff, 0xff, 0xff, 0xe8, 0xd4, 0xff, 0xff,
		0xff
	};
	memcpy(threads, passes, sizeof(passes));
	code = (struct code_at){ 0x4000, threads, sizeof(threads) };
	OK_STR(outermost_of(&s, &code), "4000-400b 4020-402a 5000-5040");
	threads[0x11] = 0; /* no system call */
	OK_STR(outermost_of(&s, &code), "4000-400b 5000-5040");
	threads[0x11] = 5;
	threads[0x20] = 0xc3; /* a function that returns */
	OK_STR(outermost_of(&s, &code), "4000-400b 5000-5040");
}

/* Outermost functions fill the gaps between entries, or take precedence over them. */
static void test_table_of_outermost(void)
{
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, 0x100, BYTES(0x0e, 16));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct outermost_range at[] = { { 0x4010, 0x4011, true },
					{ 0x4080, 0x4090, false },
					{ 0x4200, 0x4220, false } };
	struct outermost o = { at, 3, 3 };
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, &o, NULL);
	OK(unwind_table_find(t, 0x400f)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x4010)->ra == UNWIND_UNKNOWN);
	OK(unwind_table_find(t, 0x4011)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x4080)->cfa_offset == 16);
	OK(unwind_table_find(t, 0x41f0)->cfa == UNWIND_CFA_NONE);
	OK(unwind_table_find(t, 0x4200)->ra == UNWIND_UNKNOWN);
	OK(unwind_table_find(t, 0x421f)->ra == UNWIND_UNKNOWN);
	OK(unwind_table_find(t, 0x4220)->cfa == UNWIND_CFA_NONE);
	unwind_table_free(t);
	t = unwind_table_new(&machine_x86_64, NULL, 0, &o, NULL);
	OK(unwind_table_find(t, 0x4200)->ra == UNWIND_UNKNOWN);
	unwind_table_free(t);
}

struct compared {
	size_t modules, addresses, different;
	struct unwind_table *table; /* of the last one */
};

/* A loaded module: the table agrees with the entries at every place. */
static int compare_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct compared *c = arg;
	const ElfW(Phdr) *hdr = NULL;
	struct cfi_section s;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			hdr = &info->dlpi_phdr[i];
	for (int i = 0; hdr && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || hdr->p_vaddr - p->p_vaddr >= p->p_filesz)
			continue;
		if (!cfi_from_segment(&machine_x86_64, (const void *)(uintptr_t)start, p->p_filesz,
				      start, info->dlpi_addr + hdr->p_vaddr, hdr->p_memsz, &s))
			continue;
		unwind_table_free(c->table);
		c->table = unwind_table_new(s.machine, &s, 1, NULL, NULL);
		c->modules++;
		struct cfi_fde f = { 0 }, found;
		struct unwind_row row;
		for (size_t at = 0; c->table && cfi_next(&s, &at, &f);)
			for (uint64_t pc = f.low; pc < f.high; pc += 3) {
				c->different +=
					!cfi_find(&s, pc, &found) || found.low != f.low ||
					!cfi_row(&s, &f, pc, &row) ||
					!unwind_row_equal(&row, unwind_table_find(c->table, pc));
				c->addresses++;
				if (f.high - f.low > 4096)
					pc += 61;
			}
	}
	return 0;
}

/* ---- encodings of pointers ---- */

enum { TEXT_BASE = CFI_ADDR + 0x1000, DATA_BASE = CFI_ADDR + 0xf00 };

static void put_value(struct cfi_build *b, unsigned format, int64_t v)
{
	static const uint8_t widths[] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };
	if (widths[format])
		cfi_put(b, (uint64_t)v, widths[format]);
	else { /* LEB128, padded to three bytes */
		cfi_put(b, ((uint64_t)v & 0x7f) | 0x80, 1);
		cfi_put(b, ((uint64_t)v >> 7 & 0x7f) | 0x80, 1);
		cfi_put(b, (uint64_t)v >> 14 & 0x7f, 1);
	}
}

/* A function at `low` whose entry says so with this encoding; false: no entry can be read. */
static bool entry_says(unsigned encoding, uint64_t low)
{
	static struct cfi_build b;
	struct cfi_fde f;
	unsigned format = encoding & 0xf;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	b.at[16] = (uint8_t)encoding;
	size_t entry = b.n;
	cfi_put(&b, 0, 4);
	cfi_put(&b, b.n, 4);
	uint64_t base = 0;
	switch (encoding & 0xf0) {
	case 0x10:
		base = CFI_ADDR + b.n;
		break;
	case 0x20:
		base = TEXT_BASE;
		break;
	case 0x30:
		base = DATA_BASE;
		break;
	case 0x50:
		while ((CFI_ADDR + b.n) % 8)
			cfi_put(&b, 0x77, 1);
		break;
	}
	put_value(&b, format < 13 ? format : 0, (int64_t)(low - base));
	put_value(&b, format < 13 ? format : 0, 0x155);
	cfi_put(&b, 0, 1);
	cfi_close(&b, entry);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	s.text_base = TEXT_BASE;
	s.data_base = DATA_BASE;
	return cfi_find(&s, low, &f) && f.low == low && f.high == low + 0x155 &&
	       !cfi_find(&s, low - 1, &f) && !cfi_find(&s, low + 0x155, &f) &&
	       cfi_find(&s, low + 0x154, &f);
}

static void test_encodings(void)
{
	static const uint8_t formats[] = { 0, 1, 2, 3, 4, 9, 10, 11, 12 };
	static const uint8_t relative[] = { 0x10, 0x20, 0x30 };
	for (size_t i = 0; i < sizeof(formats); i++) {
		OK(entry_says(formats[i], 0x1234));
		for (size_t k = 0; k < sizeof(relative); k++) {
			OK(entry_says(relative[k] | formats[i], CFI_ADDR + 0x1234));
			if (formats[i] > 8) /* behind it, where only signed numbers lead */
				OK(entry_says(relative[k] | formats[i], CFI_ADDR - 0x1234));
		}
	}
	OK(entry_says(0x50, UINT64_C(0x123456789)));
	for (unsigned bad = 5; bad < 16; bad = bad == 8 ? 13 : bad + 1)
		OK(!entry_says(bad, 0x1234));
	OK(!entry_says(0x60, 0x1234) && !entry_says(0x80, 0x1234)); /* not known; in memory */
}

/* An address within a function's instructions is encoded as its start is. */
static void test_locations(void)
{
	static const struct {
		uint8_t encoding;
		uint64_t base; /* of DW_CFA_set_loc; 0: where it is */
	} shapes[] = { { 0x1b, 0 }, { 0x2b, TEXT_BASE }, { 0x3b, DATA_BASE } };
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		static struct cfi_build b;
		struct unwind_row row;
		struct cfi_fde f;
		const uint64_t low = CFI_ADDR + 0x2000;
		b = (struct cfi_build){ 0 };
		cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
		b.at[16] = shapes[i].encoding;
		size_t entry = b.n;
		cfi_put(&b, 0, 4);
		cfi_put(&b, b.n, 4);
		cfi_put(&b, low - (shapes[i].base ? shapes[i].base : CFI_ADDR + b.n), 4);
		cfi_put(&b, 0x100, 4);
		cfi_put(&b, 0, 1);
		cfi_put(&b, 1, 1); /* set_loc; then the CFA is 24 more */
		cfi_put(&b, low + 0x55 - (shapes[i].base ? shapes[i].base : CFI_ADDR + b.n), 4);
		cfi_put(&b, 0x180e, 2);
		cfi_close(&b, entry);
		struct cfi_section s = cfi_finish(&b, &machine_x86_64);
		s.text_base = TEXT_BASE;
		s.data_base = DATA_BASE;
		OK(cfi_find(&s, low, &f) && cfi_row(&s, &f, low + 0x54, &row) &&
		   row.cfa_offset == 8);
		OK(cfi_row(&s, &f, low + 0x55, &row) && row.cfa_offset == 24);
	}
}

/* ---- tables of any functions ---- */

static uint64_t random_state = 1;

static unsigned pick(unsigned n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((random_state >> 33) % n);
}

/* An augmentation may be so long and no longer. */
static bool letters_are_read(unsigned n)
{
	static struct cfi_build b;
	struct cfi_fde f;
	b = (struct cfi_build){ 0 };
	cfi_put(&b, 0, 8);
	cfi_put(&b, 1, 1);
	cfi_put(&b, 'z', 1);
	for (unsigned i = 1; i < n; i++)
		cfi_put(&b, 'S', 1);
	cfi_put(&b, 0x10780100, 4); /* end, alignments, return address */
	cfi_put(&b, 0, 1);
	cfi_close(&b, 0);
	size_t entry = b.n;
	cfi_put(&b, 0, 4);
	cfi_put(&b, b.n, 4);
	cfi_put(&b, 0x5000, 8);
	cfi_put(&b, 0x40, 8);
	cfi_put(&b, 0, 1);
	cfi_close(&b, entry);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	return cfi_find(&s, 0x5000, &f) && f.signal == (n > 1);
}

static void test_letters(void)
{
	OK(letters_are_read(1) && letters_are_read(2) && letters_are_read(16));
	OK(!letters_are_read(17));
}

/* A function of very many rows, most of which occur several times. */
static void test_many_rows(void)
{
	enum { ROWS = 1800, DIFFERENT = 1300 };
	static uint8_t code[4 * ROWS];
	static struct cfi_build b;
	size_t n = 0, wrong = 0;
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned offset = 8 * (1 + i % DIFFERENT);
		code[n++] = 0x41;
		code[n++] = 0x0e;
		code[n++] = (uint8_t)(offset & 0x7f) | 0x80;
		code[n++] = (uint8_t)(offset >> 7);
	}
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, ROWS + 1, code, n);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
	for (unsigned i = 0; i < ROWS; i++)
		wrong += (unsigned)unwind_table_find(t, 0x4001 + i)->cfa_offset !=
			 8 * (1 + i % DIFFERENT);
	OK(!wrong && unwind_table_rows(t) == ROWS + 1);
	/* Equal rows are kept once. */
	OK(unwind_table_bytes(t) < ROWS * 8 + (DIFFERENT + 100) * 16 + ROWS * 4 + 1000);
	unwind_table_free(t);
}

/* Entries that share a CIE of very many instructions: reading them ends at some time. */
static void test_budget(void)
{
	enum { NOPS = 6000, ENTRIES = 60 };
	static const uint8_t nops[NOPS];
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, nops, sizeof(nops));
	for (unsigned i = 0; i < ENTRIES; i++) {
		size_t entry = b.n;
		cfi_put(&b, 0, 4);
		cfi_put(&b, b.n - b.cie, 4);
		cfi_put(&b, 0x4000 + 0x100 * i - (CFI_ADDR + b.n), 4);
		cfi_put(&b, 0x80, 4);
		cfi_put(&b, 0x08070c00, 4); /* no augmentation; the CFA is 8 more than sp */
		cfi_close(&b, entry);
	}
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct unwind_table *t = unwind_table_new(s.machine, &s, 1, NULL, NULL);
	unsigned known = 0;
	while (known < ENTRIES && unwind_table_find(t, 0x4010 + 0x100 * known)->cfa_offset == 8)
		known++;
	OK(known >= 65536 / NOPS && known <= (65536 + 4 * b.n) / NOPS + 1);
	for (unsigned i = known; i < ENTRIES; i++)
		OK(unwind_table_find(t, 0x4010 + 0x100 * i)->cfa == UNWIND_CFA_NONE);
	unwind_table_free(t);
}

enum { AT = 0x4000, ROOM = 0x800 };

/* The function at each address; 0: none. */
struct expected {
	int at[ROOM + 16];
};

/* Functions of one section, in any order and overlapping; each has a CFA of its own. */
static void random_section(struct cfi_build *b, struct expected *all, int first)
{
	struct expected own = { { 0 } };
	unsigned n = 1 + pick(12), low[12], high[12];
	*b = (struct cfi_build){ 0 };
	cfi_cie(b, false, 16, x86_start, sizeof(x86_start));
	for (unsigned i = 0; i < n; i++) {
		bool again = true;
		while (again) { /* no two begin at the same place */
			low[i] = pick(ROOM - 0x100);
			again = false;
			for (unsigned k = 0; k < i; k++)
				again |= low[k] == low[i];
		}
		high[i] = low[i] + 1 + pick(pick(2) ? 24 : 0x100);
		uint8_t code[] = { 0x0e, (uint8_t)(4 * (first + (int)i)) };
		cfi_fde(b, AT + low[i], high[i] - low[i], code, sizeof(code));
	}
	for (unsigned at = 0; at < ROOM; at++) { /* of two functions the one that starts first */
		unsigned best = n;
		for (unsigned i = 0; i < n; i++)
			if (low[i] <= at && at < high[i] && (best == n || low[i] < low[best]))
				best = i;
		own.at[at] = best < n ? first + (int)best : 0;
	}
	for (unsigned at = 0; at < ROOM; at++)
		if (!all->at[at])
			all->at[at] = own.at[at];
}

static void test_random_tables(void)
{
	static struct cfi_build b[2];
	size_t wrong = 0, looked = 0;
	for (int round = 0; round < 300; round++) {
		struct expected all = { { 0 } };
		struct cfi_section s[2];
		size_t n = 1 + pick(2), most = ROOM;
		for (size_t i = 0; i < n; i++) {
			random_section(&b[i], &all, 1 + 12 * (int)i);
			s[i] = cfi_finish(&b[i], &machine_x86_64);
		}
		while (!all.at[most - 1])
			most--;
		/* Padding belongs to the function before it. */
		for (size_t at = 1; at < most; at++) {
			size_t gap = 0;
			while (!all.at[at + gap])
				gap++;
			for (size_t i = 0; gap < 16 && i < gap && all.at[at - 1]; i++)
				all.at[at + i] = all.at[at - 1];
			at += gap;
		}
		struct unwind_table *t = unwind_table_new(s->machine, s, n, NULL, NULL);
		for (size_t at = 0; t && at < ROOM + 16; at++) {
			const struct unwind_row *row = unwind_table_find(t, AT + at);
			looked++;
			wrong += all.at[at] ? row->cfa != UNWIND_CFA_REG ||
						      row->cfa_offset != 4 * all.at[at]
					    : row->cfa != UNWIND_CFA_NONE;
		}
		wrong += unwind_table_find(t, AT - 1)->cfa != UNWIND_CFA_NONE && all.at[0];
		unwind_table_free(t);
	}
	OK(looked > 300 * ROOM && !wrong);
}

/* ---- files ---- */

static bool same_table(const struct unwind_table *a, const struct unwind_table *b, uint64_t base)
{
	bool same = unwind_table_rows(a) == unwind_table_rows(b);
	for (uint64_t pc = base; same && pc < base + 0x1000; pc++)
		same = unwind_row_equal(unwind_table_find(a, pc), unwind_table_find(b, pc));
	return same;
}

static struct unwind_table *small_table(void)
{
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, x86_start, sizeof(x86_start));
	cfi_fde(&b, 0x4000, 0x40, BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6));
	cfi_fde(&b, 0x4100, 0x40, BYTES(0x44, 0x0e, 32, 0x41, 0x09, 6, 12));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	return unwind_table_new(s.machine, &s, 1, NULL, NULL);
}

static void damage_file(const char *folder, const char *path, const struct unwind_table *t)
{
	uint8_t bytes[4096];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0, refused = 0, tried = 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i <= 2 * n; i++) {
		struct unwind_table *back = NULL;
		size_t size = i < n ? n : i - n;
		f = fopen(path, "wb");
		if (!f)
			break;
		bytes[i % n] ^= i < n ? 0x10 : 0;
		fwrite(bytes, 1, size, f);
		bytes[i % n] ^= i < n ? 0x10 : 0;
		fclose(f);
		struct kin_error *err = unwind_table_load(folder, "abcd", &back);
		tried += size != n || i < n;
		refused += err != NULL;
		if (back)
			OK(i == 2 * n && same_table(back, t, 0x4000)); /* whole again */
		unwind_table_free(back);
		kin_error_free(err);
	}
	OK(n > 64 && tried == 2 * n && refused == 2 * n);
}

static bool save_id(const struct unwind_table *t, const char *folder, const char *id)
{
	struct kin_error *err = unwind_table_save(t, folder, id);
	kin_error_free(err);
	return !err;
}

/* Whole files, of a table that makes no sense. */
static void is_refused(const char *folder, const struct unwind_table *t, bool refused)
{
	struct unwind_table *back = NULL;
	OK(save_id(t, folder, "abcd"));
	struct kin_error *err = unwind_table_load(folder, "abcd", &back);
	OK(!back == refused && !err == !refused);
	unwind_table_free(back);
	kin_error_free(err);
}

static void unsound_rows(const char *folder, struct unwind_table *t)
{
	enum { REGISTERS = UNWIND_DWARF + MACHINE_REGISTERS };
	struct unwind_row *row = &t->rules[t->n_rules - 1], sound = *row;
	row->fp = UNWIND_IN_REG;
	row->fp_offset = 0;
	is_refused(folder, t, false);
	row->fp_offset = REGISTERS - 1;
	is_refused(folder, t, false);
	row->fp_offset = REGISTERS;
	is_refused(folder, t, true);
	row->fp_offset = -1;
	is_refused(folder, t, true);
	*row = sound;
	row->bx = UNWIND_UNKNOWN;
	is_refused(folder, t, false);
	row->bx = UNWIND_UNKNOWN + 1;
	is_refused(folder, t, true);
	*row = sound;
	row->reg = REGISTERS;
	is_refused(folder, t, true);
	*row = sound;
	uint32_t *rule = &t->points[1].rule, *at = &t->points[t->n_points - 1].at;
	uint32_t good_rule = *rule, good_at = *at;
	*rule = (uint32_t)t->n_rules;
	is_refused(folder, t, true);
	*rule = good_rule;
	*at = (uint32_t)t->size + 1;
	is_refused(folder, t, true);
	*at = t->points[t->n_points - 2].at;
	is_refused(folder, t, true);
	*at = good_at;
	is_refused(folder, t, false);
}

static bool has_cache(void)
{
	char *folder = unwind_cache_folder();
	bool has = folder;
	free(folder);
	return has;
}

/* A folder that others may write to is not used. */
static void test_whose_folder(void)
{
	char home[] = "/tmp/kin-unwind-XXXXXX", path[64];
	if (!OK(mkdtemp(home)))
		return;
	setenv("HOME", home, 1);
	char *folder = unwind_cache_folder();
	snprintf(path, sizeof(path), "%s/.cache/kin/unwind", home);
	OK_STR(folder ? folder : "none", path);
	free(folder);
	struct kin_error *err = folder_make(path);
	OK(!err && has_cache());
	kin_error_free(err);
	OK(!chmod(path, 0770) && !has_cache());
	OK(!chmod(path, 0700) && has_cache());
	if (!geteuid()) {
		OK(!chown(path, 65534, 65534) && !has_cache());
		OK(!rmdir(path) && !chown(home, 65534, 65534) &&
		   has_cache()); /* kin's own is there */
		*strrchr(path, '/') = '\0';
		OK(!rmdir(path));
		*strrchr(path, '/') = '\0';
		OK(!rmdir(path) && !has_cache()); /* it would be made in another user's */
	}
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", home);
	OK(!system(command));
}

/* A file that is used counts as new, and the oldest go when there are too many. */
static void test_age(const char *folder, const struct unwind_table *t)
{
	enum { LARGE = 40 << 20 };
	static const char *const names[] = { "old", "new", "newer" };
	static const struct timespec long_ago[2] = { { 1000, 0 }, { 1000, 0 } };
	struct unwind_table *back = NULL;
	char path[300];
	struct stat st;
	OK(save_id(t, folder, "abcd"));
	snprintf(path, sizeof(path), "%s/abcd", folder);
	OK(!utimensat(AT_FDCWD, path, long_ago, 0));
	kin_error_free(unwind_table_load(folder, "abcd", &back));
	OK(back && !stat(path, &st) && st.st_mtime > 1000);
	unwind_table_free(back);
	for (int i = 0; i < 3; i++) {
		const struct timespec when[2] = { { 1000 + i, 0 }, { 1000 + i, 0 } };
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		FILE *f = fopen(path, "w");
		OK(f && !ftruncate(fileno(f), LARGE) && !fclose(f) &&
		   !utimensat(AT_FDCWD, path, when, 0));
	}
	unwind_cache_trim();
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		OK(unlink(path) == (i ? 0 : -1));
	}
	kin_error_free(unwind_table_load(folder, "abcd", &back));
	OK(back);
	unwind_table_free(back);
}

static void test_files(void)
{
	char top[] = "/tmp/kin-unwind-XXXXXX", path[256];
	struct unwind_table *t = small_table(), *back = t;
	struct stat st;
	if (!OK(mkdtemp(top)))
		return;
	setenv("XDG_CACHE_HOME", top, 1);
	char *folder = unwind_cache_folder();
	OK(folder && !strncmp(folder, top, strlen(top)));
	OK(!unwind_table_load(folder, "abcd", &back) && !back); /* none yet */
	struct kin_error *err = unwind_table_save(t, folder, "abcd");
	OK(!err);
	snprintf(path, sizeof(path), "%s/abcd", folder);
	OK(!stat(path, &st) && (st.st_mode & 0777) == 0600);
	OK(!stat(folder, &st) && (st.st_mode & 0777) == 0700);
	OK(!unwind_table_load(folder, "abcd", &back) && back && same_table(back, t, 0x3ff0));
	unwind_table_free(back);
	err = unwind_table_save(t, folder, "../abcd");
	OK(err);
	kin_error_free(err);
	err = unwind_table_load(folder, "../abcd", &back);
	OK(err);
	kin_error_free(err);
	char longest[130] = "";
	memset(longest, 'a', 129);
	OK(save_id(t, folder, "ab"));
	snprintf(path, sizeof(path), "%s/ab", folder);
	OK(unlink(path) == 0);
	snprintf(path, sizeof(path), "%s/abcd", folder);
	OK(!save_id(t, folder, "a") && !save_id(t, folder, "abcx") && !save_id(t, folder, longest));
	unsound_rows(folder, t);
	test_age(folder, t);
	damage_file(folder, path, t);
	unlink(path);
	rmdir(folder);
	snprintf(path, sizeof(path), "%s/kin", top);
	rmdir(path);
	OK(rmdir(top) == 0); /* no temporary file is left */
	setenv("XDG_CACHE_HOME", "relative", 1);
	free(folder);
	test_whose_folder();
	setenv("HOME", "/tmp/nobody's", 1); /* a home that is not there */
	OK(!unwind_cache_folder());
	unwind_table_free(t);
}

int main(int argc, char **argv)
{
	test_instructions();
	test_expressions();
	test_limits();
	test_aarch64();
	if (argc > 1)
		test_foreign_objects(argv[1]);
	test_without_sections();
	test_header();
	test_segment();
	test_entries();
	test_mixed_entries();
	test_sections();
	test_gaps();
	test_outermost();
	test_table_of_outermost();
	test_encodings();
	test_locations();
	test_letters();
	test_many_rows();
	test_budget();
	test_random_tables();
	test_files();
#ifdef __x86_64__
	struct compared c = { 0 };
	dl_iterate_phdr(compare_module, &c);
	printf("# %zu modules, %zu addresses\n", c.modules, c.addresses);
	OK(c.modules >= 2 && c.addresses > 100000);
	OK(c.different == 0);
	unwind_table_free(c.table);
#endif
	return DONE();
}

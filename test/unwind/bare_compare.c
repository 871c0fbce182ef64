/* Rules from code, compared with the call-frame information of the same code:
 *
 *	bare_compare [--stripped] [--show N] [--covered PERCENT] FILE...
 *
 * The call-frame information of each file is put aside, and rows are made from its code alone. For
 * each byte of code that both have a row for, the two must lead to the same caller: the same CFA,
 * the same places of the return address and of the registers. Prints how much of the code has rows.
 * Exits with 1 if any differ, or fewer are covered.
 *
 * It looks into the module: a row has one register that the CFA is computed from, and what the
 * code tells of the others has to be right as well. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "kin/kin.h"
#include "object/object_private.h"
#include "unwind/bare_code.c"
#include "unwind/unwind_table.h"

struct sums {
	uint64_t bytes; /* with call-frame information that names a caller */
	uint64_t covered, differ;
	uint64_t unlike; /* of the covered: the CFA is computed from registers that are not compared
			  */
	uint64_t less;   /* and those where a register of the caller is not known */
};

struct settings {
	bool stripped;
	uint64_t show;
	double covered;
};

static size_t linked_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	size_t n = 0;
	const struct object_file *o = arg;
	const uint8_t *at = elf_file_loaded(o->main, addr, size, &n);
	n = !at ? 0 : n < size ? n : size;
	if (n)
		memcpy(ret, at, n);
	return n;
}

/* ---- one row ---- */

static unsigned dwarf_number(const struct machine *m, unsigned reg)
{
	return reg == UNWIND_SP   ? m->sp
	       : reg == UNWIND_FP ? m->fp
	       : reg == UNWIND_BX ? m->bx
				  : reg - UNWIND_DWARF;
}

/* Whether the register that the call-frame information computes the CFA from has a value that is
 * known; then *right says whether it leads to the same one. */
static bool can_compare(const struct machine *m, const struct bare_state *s,
			const struct unwind_row *cfi, bool *right)
{
	unsigned reg = dwarf_number(m, cfi->reg);
	if (cfi->cfa != UNWIND_CFA_REG || s->kind[reg] != BARE_FRAME)
		return false;
	*right = s->n[reg] == -cfi->cfa_offset;
	return true;
}

/* Where a register is, of the caller's. A compiler need not say at once that it has been saved, nor
 * that it has been restored: below the stack pointer nothing is. */
static bool same_place(const struct machine *m, const struct bare_state *s, unsigned own,
		       int own_at, unsigned cfi, int cfi_at)
{
	if (own == UNWIND_UNKNOWN || (own == UNWIND_AT_CFA && cfi == UNWIND_SAME))
		return true;
	if (cfi == UNWIND_AT_FP || cfi == UNWIND_AT_SP) /* of a stack that was aligned */
		return true;
	if (own == cfi)
		return own == UNWIND_SAME || own_at == cfi_at;
	return own == UNWIND_SAME && cfi == UNWIND_AT_CFA &&
	       (s->kind[m->sp] != BARE_FRAME || 8 * cfi_at < s->n[m->sp]);
}

static bool agree(const struct machine *m, const struct bare_state *s, const struct unwind_row *own,
		  const struct unwind_row *cfi, struct sums *sums)
{
	bool right = true;
	sums->unlike += !can_compare(m, s, cfi, &right);
	sums->less += (own->fp == UNWIND_UNKNOWN && cfi->fp != UNWIND_UNKNOWN) ||
		      (own->bx == UNWIND_UNKNOWN && cfi->bx != UNWIND_UNKNOWN);
	return right && same_place(m, s, own->ra, own->ra_offset, cfi->ra, cfi->ra_offset) &&
	       same_place(m, s, own->fp, own->fp_offset, cfi->fp, cfi->fp_offset) &&
	       same_place(m, s, own->bx, own->bx_offset, cfi->bx, cfi->bx_offset);
}

static void show(const char *what, const struct unwind_row *r)
{
	printf("  %s: CFA register %u %+d, return %u %d, fp %u %d, bx %u %d", what, r->reg,
	       r->cfa_offset, r->ra, r->ra_offset, r->fp, r->fp_offset, r->bx, r->bx_offset);
}

/* ---- all files ---- */

static void compare_piece(const struct bare_walk *w, const struct piece_of_code *p,
			  const struct unwind_table *t, const struct settings *settings,
			  struct sums *sums)
{
	const struct seen *s = NULL;
	struct unwind_row row = { 0 };
	uint32_t end = p->at;
	for (uint32_t at = p->at; at < p->end; at++) {
		uint64_t addr = p->range.low + (at - p->at);
		const struct unwind_row *cfi = unwind_table_find(t, addr);
		if (w->index[at] && at >= end) {
			s = &w->seen.at[w->index[at] - 1];
			end = at + s->size;
			if (!row_of(w, s, &row))
				s = NULL;
		} else if (at >= end) {
			s = NULL;
		}
		if (cfi->cfa == UNWIND_CFA_NONE || cfi->ra == UNWIND_UNKNOWN)
			continue;
		sums->bytes++;
		if (!s)
			continue;
		sums->covered++;
		if (agree(w->machine, &w->states.at[s->state], &row, cfi, sums))
			continue;
		if (sums->differ++ < settings->show) {
			printf("# %#" PRIx64, addr);
			show("code", &row);
			show("CFI", cfi);
			putchar('\n');
		}
	}
}

static void compare(struct object_file *o, const struct settings *settings, struct sums *sums)
{
	struct object_frames f = object_frames(o);
	const struct machine *m = &machine_x86_64;
	struct cfi_section s = { .machine = m,
				 .data = f.eh_frame.data,
				 .size = f.eh_frame.size,
				 .addr = f.eh_frame.addr,
				 .text_base = f.text_addr,
				 .data_base = f.data_addr };
	VEC(struct code_span) code = { 0 };
	for (struct address_range r; r = object_code_section(o, code.n), r.high;)
		vec_push(&code, ((struct code_span){ r.low, r.high }));
	struct code_file file = { .machine = m,
				  .symbols = settings->stripped ? NULL : f.symbols.data,
				  .symbols_size = f.symbols.size,
				  .strings = (const char *)f.strings.data,
				  .strings_size = f.strings.size,
				  .code = linked_code,
				  .arg = o,
				  .is_stripped = settings->stripped || f.is_stripped };
	struct code_span start = { f.entry, f.entry + 64 };
	struct bare_input in = { &file, code.at, code.n, &start, f.entry != 0 };
	struct unwind_table *t = unwind_table_new(m, &s, 1, NULL, NULL);
	struct bare_walk w = { 0 };
	walk(&w, &in);
	for (size_t i = 0; t && i < w.pieces.n; i++)
		compare_piece(&w, &w.pieces.at[i], t, settings, sums);
	walk_done(&w);
	vec_free(&code);
	unwind_table_free(t);
}

/* ---- */

static bool compare_file(const char *path, const struct settings *settings)
{
	struct object_file *o = NULL;
	struct sums sums = { 0 };
	struct object_opts opts = { 0 };
	struct kin_error *err = object_open(path, &opts, &o);
	if (err) {
		printf("not ok - %s: %s\n", path, kin_error_message(err));
		kin_error_free(err);
		return false;
	}
	clock_t start = clock();
	compare(o, settings, &sums);
	double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
	double share = sums.bytes ? 100.0 * (double)sums.covered / (double)sums.bytes : 0;
	bool good = !sums.differ && share >= settings->covered;
	printf("%sok - %s: %.1f %% of %" PRIu64 " bytes, %" PRIu64 " differ, %" PRIu64
	       " not compared, %" PRIu64 " know less\n",
	       good ? "" : "not ", path, share, sums.bytes, sums.differ, sums.unlike, sums.less);
	printf("# %.1f ms\n", ms);
	object_free(o);
	return good;
}

int main(int argc, char **argv)
{
	struct settings settings = { .show = 10 };
	bool good = true;
	int files = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--stripped")) {
			settings.stripped = true;
		} else if (!strcmp(argv[i], "--show") && i + 1 < argc) {
			settings.show = strtoull(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--covered") && i + 1 < argc) {
			settings.covered = strtod(argv[++i], NULL);
		} else {
			good &= compare_file(argv[i], &settings);
			files++;
		}
	}
	printf("1..%d\n", files);
	return !good;
}

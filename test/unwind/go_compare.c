/* Rows from Go's table of functions, compared with the call-frame information of the same program:
 *
 *	go_compare [--show N] FILE...
 *
 * Each FILE is a program of Go that was not stripped, for any machine. At each byte of functions
 * whose frames the table tells, both must lead to the same caller: the same CFA, the same place of
 * the return address. Both also have the same names, but for what only symbols say: types that a
 * function was made for, and ".abi0". Exits with 1 if any differ, or nothing was compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kin/kin.h"
#include "object/object.h"
#include "unwind/go_table.h"
#include "unwind/unwind_table.h"

struct sums {
	uint64_t bytes;   /* that the call-frame information names a caller of */
	uint64_t covered; /* of these: the table does, too */
	uint64_t differ;
	uint64_t names, other_names;
};

static bool agree(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->cfa == b->cfa && a->reg == b->reg && a->cfa_offset == b->cfa_offset &&
	       a->ra == b->ra && a->ra_offset == b->ra_offset;
}

static void compare_rows(const struct object_frames *f, const struct machine *m, uint64_t show,
			 struct sums *sums)
{
	struct cfi_section s = { .machine = m,
				 .debug_frame = true,
				 .data = f->debug_frame.data,
				 .size = f->debug_frame.size };
	struct code_file file = { .machine = m, .go = f->go };
	struct unwind_table *cfi = unwind_table_new(m, &s, 1, NULL, NULL),
			    *own = unwind_table_new(m, NULL, 0, NULL, &file);
	struct go_function x;
	for (uint64_t i = 0; cfi && own && i < f->go->n; i++)
		for (uint64_t at = go_table_at(f->go, i, &x) ? x.low : x.high; at < x.high; at++) {
			const struct unwind_row *a = unwind_table_find(cfi, at),
						*b = unwind_table_find(own, at);
			if (a->cfa == UNWIND_CFA_NONE || a->ra == UNWIND_UNKNOWN)
				continue;
			sums->bytes++;
			if (b->cfa == UNWIND_CFA_NONE)
				continue;
			sums->covered++;
			if (!agree(a, b) && sums->differ++ < show)
				printf("# %#" PRIx64 ": CFA sp%+d, by the table sp%+d\n", at,
				       a->cfa_offset, b->cfa_offset);
		}
	unwind_table_free(cfi);
	unwind_table_free(own);
}

/* Whether both are one name, but for what is in brackets, and what the first ends with. */
static bool is_same_name(const char *symbol, const char *own)
{
	static const char suffix[] = ".abi0";
	size_t same = strcspn(own, "[");
	if (own[same])
		return !strncmp(symbol, own, same + 1);
	return !strncmp(symbol, own, same) && (!symbol[same] || !strcmp(symbol + same, suffix));
}

static void compare_names(struct object_file *o, const struct go_table *t, uint64_t show,
			  struct sums *sums)
{
	struct symbol_table symbols = { 0 };
	struct symtab_opts opts = { .exact = true };
	struct go_function f;
	kin_error_free(object_symbols(o, &opts, &symbols));
	for (size_t i = 0; i < symbols.n; i++) {
		const struct object_symbol *s = &symbols.at[i];
		if (!go_table_find(t, s->addr, &f) || f.low != s->addr)
			continue;
		const char *own = go_table_name(t, &f, SIZE_MAX);
		sums->names++;
		if ((!own || !is_same_name(s->name, own) || f.high != s->end) &&
		    sums->other_names++ < show)
			printf("# %#" PRIx64 "-%#" PRIx64 " %s, by the table up to %#" PRIx64
			       " %s\n",
			       s->addr, s->end, s->name, f.high, own ? own : "damaged");
	}
	free(symbols.at);
}

static bool compare_file(const char *path, uint64_t show)
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
	struct object_frames f = object_frames(o);
	const struct machine *m = machine_find((uint16_t)object_elf_machine(o));
	if (f.go && m) {
		compare_rows(&f, m, show, &sums);
		compare_names(o, f.go, show, &sums);
	}
	bool good = sums.covered && !sums.differ && sums.names && !sums.other_names;
	printf("%sok - %s: %.2f %% of %" PRIu64 " bytes, %" PRIu64 " differ; %" PRIu64
	       " names, %" PRIu64 " differ\n",
	       good ? "" : "not ", path,
	       sums.bytes ? 100.0 * (double)sums.covered / (double)sums.bytes : 0, sums.bytes,
	       sums.differ, sums.names, sums.other_names);
	object_free(o);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t show = 10;
	bool good = true;
	int files = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--show") && i + 1 < argc) {
			show = strtoull(argv[++i], NULL, 10);
		} else {
			good &= compare_file(argv[i], show);
			files++;
		}
	}
	printf("1..%d\n", files);
	return !good;
}

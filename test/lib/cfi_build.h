/* cfi_build.h - .eh_frame sections made by hand, and rows as text. */
#ifndef TEST_CFI_BUILD_H
#define TEST_CFI_BUILD_H

#include <stdio.h>
#include <string.h>

#include "unwind/cfi.h"

enum { CFI_ADDR = 0x10000, CFI_HDR_ADDR = 0x20000 };

struct cfi_build {
	uint8_t at[8192];
	size_t n;
	size_t cie, fdes[16];
	uint64_t lows[16];
	size_t n_fdes;
};

static inline void cfi_put(struct cfi_build *b, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		b->at[b->n++] = (uint8_t)(v >> 8 * i);
}

static inline void cfi_close(struct cfi_build *b, size_t entry)
{
	while ((b->n - entry) % 8 != 4)
		cfi_put(b, 0, 1);
	uint32_t size = (uint32_t)(b->n - entry - 4);
	memcpy(b->at + entry, &size, 4);
}

/* Pointers are pcrel|sdata4; `signal`: augmentation "zRS" and not "zR". Code alignment 1, data
 * alignment -8. */
static inline void cfi_cie(struct cfi_build *b, bool signal, unsigned ra, const void *code,
			   size_t size)
{
	b->cie = b->n;
	cfi_put(b, 0, 8);
	cfi_put(b, 1, 1);
	cfi_put(b, signal ? 0x53527a : 0x527a, signal ? 4 : 3);
	cfi_put(b, 1, 1);
	cfi_put(b, 0x78, 1);
	cfi_put(b, ra, 1);
	cfi_put(b, 1, 1);
	cfi_put(b, 0x1b, 1);
	memcpy(b->at + b->n, code, size);
	b->n += size;
	cfi_close(b, b->cie);
}

static inline void cfi_fde(struct cfi_build *b, uint64_t low, uint64_t length, const void *code,
			   size_t size)
{
	size_t entry = b->n;
	b->lows[b->n_fdes] = low;
	b->fdes[b->n_fdes++] = entry;
	cfi_put(b, 0, 4);
	cfi_put(b, b->n - b->cie, 4);
	cfi_put(b, low - (CFI_ADDR + b->n), 4);
	cfi_put(b, length, 4);
	cfi_put(b, 0, 1);
	memcpy(b->at + b->n, code, size);
	b->n += size;
	cfi_close(b, entry);
}

static inline struct cfi_section cfi_finish(const struct cfi_build *b,
					    const struct machine *machine)
{
	return (struct cfi_section){
		.machine = machine, .data = b->at, .size = b->n, .addr = CFI_ADDR
	};
}

/* ---- text ---- */

static inline const char *cfi_register_name(unsigned reg, char *out)
{
	static const char *const names[] = { "sp", "fp", "bx" };
	if (reg < 3)
		return names[reg];
	sprintf(out, "r%u", reg - UNWIND_DWARF);
	return out;
}

static inline void cfi_place(char *out, const char *name, unsigned place, int offset)
{
	static const char *const base[] = { "", "cfa", "sp", "fp" };
	char reg[16];
	out += strlen(out);
	if (place == UNWIND_UNKNOWN)
		sprintf(out, " %s=?", name);
	else if (place == UNWIND_IN_REG)
		sprintf(out, " %s=%s", name, cfi_register_name((unsigned)offset, reg));
	else if (place != UNWIND_SAME)
		sprintf(out, " %s=[%s%+d]", name, base[place], offset * 8);
}

/* "sp+8 ra=[cfa-8]"; registers that keep their values are left out. */
static inline void cfi_text(char *out, const struct unwind_row *r)
{
	char reg[16];
	const char *name = cfi_register_name(r->reg, reg);
	out += strlen(out);
	if (r->cfa == UNWIND_CFA_NONE)
		sprintf(out, "none");
	else if (r->ra == UNWIND_UNKNOWN)
		sprintf(out, "end");
	else if (r->cfa == UNWIND_CFA_PLT)
		sprintf(out, "plt %d", r->cfa_add);
	else if (r->cfa == UNWIND_CFA_DEREF)
		sprintf(out, "[%s%+d]%+d", name, r->cfa_offset, r->cfa_add);
	else
		sprintf(out, "%s%+d", name, r->cfa_offset);
	if (r->cfa == UNWIND_CFA_NONE || r->ra == UNWIND_UNKNOWN)
		return;
	cfi_place(out, "ra", r->ra, r->ra_offset);
	cfi_place(out, "fp", r->fp, r->fp_offset);
	cfi_place(out, "bx", r->bx, r->bx_offset);
	strcat(out, r->flags & UNWIND_SIGNAL ? " signal" : "");
	strcat(out, r->flags & UNWIND_SIGNED ? " signed" : "");
	strcat(out, r->flags & UNWIND_GUESSED ? " guessed" : "");
}

struct cfi_listing {
	uint64_t base;
	char text[4096];
};

static inline void cfi_list_row(void *arg, uint64_t low, const struct unwind_row *row)
{
	struct cfi_listing *l = arg;
	char *end = l->text + strlen(l->text);
	if (end - l->text > 3900)
		return;
	end += sprintf(end, "%s%x: ", *l->text ? "\n" : "", (unsigned)(low - l->base));
	cfi_text(end, row);
}

#endif

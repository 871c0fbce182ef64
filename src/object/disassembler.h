/* disassembler.h - capstone, loaded when first needed: it is larger than all else together,
 * relocating it takes longer than a small profile, and only gprof -c and kin annotate --asm have
 * use for it. */
#ifndef OBJECT_DISASSEMBLER_H
#define OBJECT_DISASSEMBLER_H

#include <capstone/capstone.h>

#include "base/base.h"

struct disassembler {
	void *library;
	csh handle;
	cs_insn *insn;
	bool (*next)(csh handle, const uint8_t **code, size_t *size, uint64_t *address,
		     cs_insn *insn);
	void (*free_insn)(cs_insn *insn, size_t count);
	cs_err (*close)(csh *handle);
	cs_err (*option)(csh handle, cs_opt_type type, size_t value);
	bool is_x86;
};

/* For code of that machine (e_machine); x86 in the syntax of AT&T, as binutils writes it. NULL: it
 * is not known here; or it cannot be had, and *problem (static, or valid until the next call that
 * loads something) says why. */
struct disassembler *disassembler_new(uint16_t machine, const char **problem);
void disassembler_free(struct disassembler *d); /* NULL is fine */

/* In which syntax x86 is shown from now on. */
void disassembler_syntax(struct disassembler *d, bool intel);

#endif

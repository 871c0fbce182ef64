/* disassembler.h - capstone, loaded at first use: it is larger than all the rest of kin, its
 * relocation takes longer than a small profile, and only gprof -c and kin annotate --asm need it.
 */
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

/* A disassembler for that machine (e_machine); x86 in AT&T syntax, as binutils writes it. NULL: the
 * machine is unknown, or capstone cannot be loaded; then *problem (static, or valid until the next
 * call that loads something) says why. */
struct disassembler *disassembler_new(uint16_t machine, const char **problem);
void disassembler_free(struct disassembler *d); /* NULL is fine */

/* Chooses the syntax of x86 from now on. */
void disassembler_syntax(struct disassembler *d, bool intel);

#endif

/* cfi.h - call-frame information (.eh_frame, .debug_frame), read in place.
 *
 * DWARF 5 chapter 6.4; the System V ABIs and the LSB for .eh_frame and
 * .eh_frame_hdr. Freestanding like row.h: for signal handlers and for compiling tables.
 *
 * The bytes are not trusted. Nothing outside of [data, data + size) and [hdr, hdr + hdr_size) is
 * read, and the work for one address is bounded: CFI_STEPS_MAX instructions, CFI_DEPTH_MAX
 * remembered states. Damaged entries, and rules that a row cannot express, give unknown rows.
 *
 * Cost: with a binary search table some 20 probes and the instructions of one function, 0.2-0.5 us;
 * without, a pass over the whole section. Stack: under 2 KiB. */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "machine/machine.h"
#include "unwind/row.h"

enum { CFI_STEPS_MAX = 65536, CFI_DEPTH_MAX = 16 };

/* Addresses are all link-time or all run-time ones: `addr` decides which. */
struct cfi_section {
	const struct machine
		*machine; /* NULL, or a machine whose stacks cannot be walked: there are no rows */
	bool debug_frame; /* .debug_frame and not .eh_frame: identifiers and offsets differ */
	const uint8_t *data; /* little-endian */
	size_t size;
	uint64_t addr;      /* of data[0] */
	const uint8_t *hdr; /* .eh_frame_hdr, or NULL */
	size_t hdr_size;
	uint64_t hdr_addr;
	uint64_t text_base,
		data_base; /* bases of text- and data-relative pointers: .text, .got; mostly 0 */
};

/* Finds .eh_frame of a module in memory (dl_iterate_phdr) through the .eh_frame_hdr at hdr_addr
 * (PT_GNU_EH_FRAME). `segment` has the bytes of the loaded segment that holds both, at address
 * segment_addr. False if it does not hold both. */
bool cfi_from_segment(const struct machine *machine, const uint8_t *segment, size_t segment_size,
		      uint64_t segment_addr, uint64_t hdr_addr, size_t hdr_size,
		      struct cfi_section *ret);

/* A frame description entry: one function, or a split part of one. */
struct cfi_fde {
	uint64_t low, high; /* addresses [low, high); not empty */
	/* the rest is private to this module */
	size_t cie; /* offset of its CIE */
	uint64_t code_align;
	int64_t data_align;
	const uint8_t *init, *init_end, *code, *code_end; /* instructions: the CIE's, its own */
	uint8_t ra_reg, encoding;
	bool signal, sized; /* signal frame; with augmentation data */
};

/* The entry that covers pc; false if none does. */
bool cfi_find(const struct cfi_section *s, uint64_t pc, struct cfi_fde *ret);

/* Entries in the order of the section: start with *at = 0; false at the end. Damaged entries are
 * skipped if their length is plausible. `*ret` keeps the last CIE from call to call: zero it before
 * the first. */
bool cfi_next(const struct cfi_section *s, size_t *at, struct cfi_fde *ret);

/* The row for pc, which lies in [f->low, f->high). False, and a row of UNWIND_CFA_NONE, if the
 * instructions are damaged. */
bool cfi_row(const struct cfi_section *s, const struct cfi_fde *f, uint64_t pc,
	     struct unwind_row *ret);

/* Calls row(arg, low, row) for each row, by address; a row holds up to the next one, the last up to
 * f->high. Neighbours may be equal. From the first damaged instruction on rows are UNWIND_CFA_NONE.
 * Returns the number of instructions executed. */
unsigned cfi_rows(const struct cfi_section *s, const struct cfi_fde *f,
		  void (*row)(void *arg, uint64_t low, const struct unwind_row *row), void *arg);

#endif

/* perf_sample.h - one sample as the kernel writes it (PERF_RECORD_SAMPLE), in its ring buffer or in
 * a perf.data file.
 *
 * Its fields depend on its event: make a struct perf_sample_layout of the event's attribute once,
 * and parse its samples with that. Arrays are not copied: they point into the record, may be
 * unaligned, and have its byte order. */
#ifndef INPUT_PERF_SAMPLE_H
#define INPUT_PERF_SAMPLE_H

#include "base/bytes.h"

#define PERF_NO_TIME UINT64_MAX

/* The layout of an event's samples. */
struct perf_sample_layout {
	/* As in the event's attribute. */
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	uint64_t default_period; /* for samples without a PERIOD */
	bool swap;               /* the byte order is not this machine's */
	/* The rest is set by perf_sample_layout_place(). Offsets from the start of the record; -1:
	 * missing. */
	int id, ip, tid, time, addr, cpu, period;
	size_t fixed;  /* bytes of the fields up to PERIOD, a word each */
	bool is_plain; /* there are no other fields except the chain */
};

void perf_sample_layout_place(struct perf_sample_layout *l);

struct perf_registers {
	uint64_t abi, mask; /* PERF_SAMPLE_REGS_ABI_*; by the kernel's numbers (asm/perf_regs.h) */
	const uint8_t *values; /* one per bit of the mask; NULL: none */
};

struct perf_sample {
	uint64_t fields; /* PERF_SAMPLE_*: those of its event */
	uint64_t ip, time, period;
	uint32_t pid, tid, cpu; /* cpu: NONE if not known */
	unsigned mode;          /* PERF_RECORD_MISC_CPUMODE_MASK */
	const uint8_t *chain;   /* n_chain addresses, leaf first */
	size_t n_chain;
	const uint8_t *branches; /* of a call stack recorded by the CPU (LBR): {from, to, flags} */
	size_t n_branches;
	struct perf_registers user, interrupt;
	const uint8_t *stack; /* copy of memory from the stack pointer on */
	size_t stack_size;
	bool stack_full;   /* the copy has the requested size; otherwise it ends at a page that is
			      not mapped, or not yet */
	bool is_longer;    /* the record is longer than its known fields */
	struct bytes read; /* the READ field */
	struct bytes raw;  /* the RAW field of a trace point; its pos is NULL: none */
	const uint8_t *taken; /* n_taken branches, the last one first: {from, to, flags} */
	size_t n_taken;
	uint64_t addr, weight, data_src, transaction, phys_addr, cgroup, data_page_size,
		code_page_size;
	uint16_t ins_lat, p_stage_cyc;
};

/* The i-th word of an array, of a record in this machine's byte order. */
static inline uint64_t perf_sample_word(const uint8_t *words, size_t i)
{
	return bytes_load(words + 8 * i, 8, false);
}

/* Reads nothing after `size` bytes. False if the record is shorter than its fields: those up to the
 * stack or, with `details`, all. */
bool perf_sample_parse(const struct perf_sample_layout *l, const uint8_t *record, size_t size,
		       bool details, struct perf_sample *ret);

/* Parses a sample that has only fixed fields and a chain. Sets the chain and the members before it,
 * except `fields`, and nothing else. False: the sample has other fields, or no chain. */
bool perf_sample_parse_chain(const struct perf_sample_layout *l, const uint8_t *record, size_t size,
			     struct perf_sample *ret);

/* Whether the chain ends in the mark that its user part comes later, in another record. */
bool perf_sample_is_deferred(const struct perf_sample *s, bool swap);

#endif

/* detail.h - optional sample attributes: address and cost of a memory access, branch taken, cgroup.
 *
 * Details are read from perf.data and .kin files, and only on request: input_opts.details, and
 * input_opts.trace_fields for the fields of trace points. Equal details are interned; 0 is the
 * empty one. */
#ifndef PROFILE_DETAIL_H
#define PROFILE_DETAIL_H

#include "profile/profile_samples.h"

enum detail_has { /* which members are set */
		  DETAIL_ADDR = 1,
		  DETAIL_BRANCH = 2,
		  DETAIL_CGROUP = 4,
		  DETAIL_NAMESPACE = 8,
		  DETAIL_SOCKET = 16,
		  DETAIL_DATA_SRC = 32,
		  DETAIL_TRACE = 64,
		  DETAIL_DATA_PAGE = 128, /* even if the size is 0 */
		  DETAIL_CODE_PAGE = 256,
};

/* One branch that the CPU took, stored in samples.words, with run-time addresses. */
struct taken_branch {
	uint64_t from, to;
	uint64_t flags;         /* flags of the kernel's perf_branch_entry */
	frameid source, target; /* from and to as frames; 0: none */
};

struct detail {
	uint64_t addr; /* run-time address of the data, or the branch's target */
	uint64_t from; /* run-time address of the branch */
	uint64_t phys_addr;
	uint64_t data_src;    /* perf_mem_data_src of the kernel */
	uint64_t branch;      /* flags of perf_branch_entry */
	uint64_t weight;      /* cost of the access by the CPU: cycles, or its own measure */
	uint64_t transaction; /* PERF_TXN_ flags and the abort code */
	uint64_t data_page_size, code_page_size; /* bytes; 0: not known */
	uint64_t cgroup_inode;                   /* inode of the control group's namespace */
	uint32_t cgroup_device;
	strid cgroup;         /* path */
	frameid target;       /* addr as a frame; 0: none */
	frameid source;       /* from as a frame; 0: none */
	uint32_t socket;      /* physical package of the CPU */
	uint16_t ins_lat;     /* cycles of the whole instruction */
	uint16_t p_stage_cyc; /* cycles in a stage of the pipeline */
	uint32_t has;         /* enum detail_has */
	strid trace;          /* the fields of a trace point, as text */
	/* Index into samples.words; 0: none. See detail_registers() and detail_branches(). */
	uint64_t interrupt_registers; /* registers when the sample was taken */
	uint64_t user_registers;      /* the program's registers */
	uint64_t branches;            /* branches taken before the sample */
	strid register_names; /* "AX BX": names by the kernel's numbers for the machine; 0: unknown
			       */
	uint32_t unused;      /* details are compared as bytes */
};

/* Bits of detail.branch. */
enum {
	BRANCH_MISPREDICTED = 1,
	BRANCH_PREDICTED = 2,
	BRANCH_IN_TX = 4,
	BRANCH_ABORT = 8,
};

static inline uint32_t branch_cycles(uint64_t flags) { return (uint32_t)(flags >> 4 & 0xffff); }

static inline const struct detail *sample_detail(const struct samples *s, const struct sample *x)
{
	return &s->details[s->detail_of ? s->detail_of[x - s->at] : 0];
}

/* Registers of a sample, by the kernel's numbers (asm/perf_regs.h). */
struct detail_registers {
	uint64_t abi, mask;     /* mask: one bit per register present */
	const uint64_t *values; /* one per bit of the mask, from the lowest on */
};

static inline struct detail_registers detail_registers(const uint64_t *words, uint64_t at)
{
	return (struct detail_registers){ words[at], words[at + 1], words + at + 2 };
}

/* The branches that the CPU took before a sample, the last one first; *n of them. */
static inline const struct taken_branch *detail_branches(const uint64_t *words,
							 const struct detail *d, size_t *n)
{
	*n = d->branches ? (size_t)words[d->branches] : 0;
	return d->branches ? (const struct taken_branch *)(words + d->branches + 1) : NULL;
}

/* ---- building ---- */

enum { TAKEN_BRANCH_WORDS = sizeof(struct taken_branch) / 8 };

/* Makes room for n words in samples.words; *at is its index. Valid until the next call. */
uint64_t *profile_add_words(struct profile_builder *b, size_t n, uint64_t *at);

detailid profile_add_detail(struct profile_builder *b, const struct detail *d);
/* Adds a sample with a detail, or with none (0). Samples with one are never summed. */
void profile_add_detailed_sample(struct profile_builder *b, struct sample s, detailid detail);
/* Sets the detail of the sample added last, unless that was summed into another. */
void profile_set_detail(struct profile_builder *b, detailid detail);

#endif

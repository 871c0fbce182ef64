/* detail.h - optional sample attributes: address and cost of a memory access, branch taken, cgroup.
 *
 * Details are read only for who asks for them (input_opts.details), but for the fields of trace
 * points (input_opts.trace_fields): from perf.data and .kin files. Equal ones are one; 0 is the one
 * that says nothing. */
#ifndef PROFILE_DETAIL_H
#define PROFILE_DETAIL_H

#include "profile/profile_samples.h"

enum detail_has { /* which members mean something */
		  DETAIL_ADDR = 1,
		  DETAIL_BRANCH = 2,
		  DETAIL_CGROUP = 4,
		  DETAIL_NAMESPACE = 8,
		  DETAIL_SOCKET = 16,
		  DETAIL_DATA_SRC = 32,
		  DETAIL_TRACE = 64,
		  DETAIL_DATA_PAGE = 128, /* a size of 0 included */
		  DETAIL_CODE_PAGE = 256,
};

/* One branch that the CPU took, in samples.words: its addresses are run-time ones. */
struct taken_branch {
	uint64_t from, to;
	uint64_t flags;         /* of perf_branch_entry */
	frameid source, target; /* from and to as frames; 0: none */
};

struct detail {
	uint64_t addr; /* run-time, of the data, or the branch's target */
	uint64_t from; /* run-time, of the branch */
	uint64_t phys_addr;
	uint64_t data_src;                       /* perf_mem_data_src of the kernel */
	uint64_t branch;                         /* flags of perf_branch_entry */
	uint64_t weight;                         /* cycles, or what the CPU says the access cost */
	uint64_t transaction;                    /* PERF_TXN_ flags and the abort code */
	uint64_t data_page_size, code_page_size; /* bytes; 0: not known */
	uint64_t cgroup_inode;                   /* of the control group's name space */
	uint32_t cgroup_device;
	strid cgroup;         /* path */
	frameid target;       /* addr as a frame; 0: none */
	frameid source;       /* from as a frame; 0: none */
	uint32_t socket;      /* physical package of the CPU */
	uint16_t ins_lat;     /* cycles of the whole instruction */
	uint16_t p_stage_cyc; /* cycles of a stage of the pipeline */
	uint32_t has;         /* enum detail_has */
	strid trace;          /* the fields of a trace point, as text */
	/* Index into samples.words; 0: none. See detail_registers() and detail_branches(). */
	uint64_t interrupt_registers; /* when the sample was taken */
	uint64_t user_registers;      /* those of the program */
	uint64_t branches;            /* taken before the sample */
	strid register_names; /* "AX BX": by the kernel's numbers, of the machine; 0: unknown */
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
	uint64_t abi, mask;     /* PERF_SAMPLE_REGS_ABI_; a bit per register that is there */
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

/* Room for n words in samples.words; its index is in *at. Valid until the next call. */
uint64_t *profile_add_words(struct profile_builder *b, size_t n, uint64_t *at);

detailid profile_add_detail(struct profile_builder *b, const struct detail *d);
/* Adds a sample that has one, or none (0): the others are never added up. */
void profile_add_detailed_sample(struct profile_builder *b, struct sample s, detailid detail);
/* Of the sample added last, unless that was added to another. */
void profile_set_detail(struct profile_builder *b, detailid detail);

#endif

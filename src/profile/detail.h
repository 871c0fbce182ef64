/* detail.h - optional sample attributes: address and cost of a memory access, branch taken, cgroup.
 *
 * Details are read only for who asks for them (input_opts.details), and only perf.data has them,
 * but for the fields of trace points (input_opts.trace_fields). Equal ones are one; 0 is the one
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

/* ---- building ---- */

detailid profile_add_detail(struct profile_builder *b, const struct detail *d);
/* Of the sample added last. */
void profile_set_detail(struct profile_builder *b, detailid detail);

#endif

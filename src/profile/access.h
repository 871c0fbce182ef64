/* access.h - descriptions of memory accesses: detail.data_src (the kernel's perf_mem_data_src) and
 * detail.transaction (PERF_TXN_). */
#ifndef PROFILE_ACCESS_H
#define PROFILE_ACCESS_H

#include "base/arena.h"

enum access_part {
	ACCESS_OPERATION,
	ACCESS_LEVEL, /* the memory level that had the data */
	ACCESS_SNOOP,
	ACCESS_TLB,
	ACCESS_LOCK,
	ACCESS_BLOCKED,
};

/* The bits that describe one part. Accesses with equal bits have equal text. */
uint64_t access_bits(enum access_part part, uint64_t data_src);

/* "L1 hit", "N/A": static, or in the arena. */
const char *access_text(struct arena *a, enum access_part part, uint64_t data_src);

/* "TX SYNC :12" */
const char *transaction_text(struct arena *a, uint64_t transaction);

/* "4K" in perf's form: 1 GB is 1024M; 0: "N/A". */
const char *page_size_text(struct arena *a, uint64_t bytes);

#endif

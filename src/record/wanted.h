/* wanted.h - sample attributes to record beside stacks: kernel fields, registers and branches. */
#ifndef RECORD_WANTED_H
#define RECORD_WANTED_H

#include <linux/perf_event.h>
#include <stdint.h>

struct kin_error;

struct wanted_details {
	uint64_t fields;    /* of WANTED_FIELDS; 0: none */
	uint64_t registers; /* with PERF_SAMPLE_REGS_INTR: mask by the kernel's numbers */
	uint64_t branches;  /* with PERF_SAMPLE_BRANCH_STACK: PERF_SAMPLE_BRANCH_* */
};
#define WANTED_FIELDS                                                                              \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_TYPE |                   \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |                  \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/* Parses "AX,BX"; NULL: all registers that samples may have. Errors list the valid names. */
struct kin_error *wanted_registers(const char *names, struct wanted_details *w)
	__attribute__((warn_unused_result));
/* Parses "any_call,u": kinds of branches and privilege levels, added to those so far. */
struct kin_error *wanted_branches(const char *kinds, struct wanted_details *w)
	__attribute__((warn_unused_result));

#endif

/* efforts.h - tells by its name what a function of a library or of the kernel is at work on. */
#ifndef FINDINGS_EFFORTS_H
#define FINDINGS_EFFORTS_H

#include "base/base.h"

/* What libraries and the kernel do on behalf of the program. */
enum effort {
	EFFORT_ALLOCATOR,
	EFFORT_COPYING,
	EFFORT_PAGE_FAULTS,
	EFFORT_READS_WRITES,
	EFFORT_EXCEPTIONS,
	EFFORT_LOADER,
	EFFORT_LOCKS,
	N_EFFORTS,
};
/* The effort of a function with that name; N_EFFORTS: none of them. */
enum effort effort_of(const char *name, bool is_kernel);
const char *effort_kind(enum effort effort);  /* a word for machines */
const char *effort_words(enum effort effort); /* "copying memory takes": before a share */

#endif

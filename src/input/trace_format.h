/* trace_format.h - the kernel's description of a trace point's fields, and printing of its records.
 *
 *	f = trace_format_new(text, n, layout);       "name: sched_switch ... print fmt: ..."
 *	trace_format_print(f, raw, size, out);       prev_comm=a prev_pid=1 ==> next_comm=b
 *
 * The text is the file `format` of a trace point: its fields, and a format with C expressions over
 * them. Records are printed as by perf: names of constants that the kernel did not replace by
 * numbers are unknown. If the text cannot be parsed, fields are printed in order after "[FAILED TO
 * PARSE]". Text and records are untrusted. */
#ifndef INPUT_TRACE_FORMAT_H
#define INPUT_TRACE_FORMAT_H

#include <stdio.h>

#include "base/base.h"

struct trace_layout {   /* the machine that was recorded */
	bool swapped;   /* its byte order is not ours */
	bool is_32_bit; /* its longs have 4 bytes */
	/* The kernel function at an address, and its start; NULL: not known. */
	const char *(*function)(void *arg, uint64_t addr, uint64_t *start);
	void *arg;
};

struct trace_format;
/* Never NULL: a senseless text gives no fields. */
struct trace_format *trace_format_new(const char *text, size_t n, struct trace_layout layout);
void trace_format_free(struct trace_format *f); /* NULL is fine */

uint64_t trace_format_id(const struct trace_format *f);      /* the kernel's number for it */
const char *trace_format_name(const struct trace_format *f); /* without its group */

void trace_format_print(const struct trace_format *f, const uint8_t *raw, size_t size, FILE *out);

#endif

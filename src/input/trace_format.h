/* trace_format.h - what the kernel says of a trace point's fields, and a record of one as text.
 *
 *	f = trace_format_new(text, n, layout);       "name: sched_switch ... print fmt: ..."
 *	trace_format_print(f, raw, size, out);       prev_comm=a prev_pid=1 ==> next_comm=b
 *
 * The text is that of the file `format` of a trace point: its fields, and a format with expressions
 * over them in C. As perf prints them: names of constants that the kernel did not put into numbers
 * are not known. What is not understood has its fields one after the other, behind "[FAILED TO
 * PARSE]". The text and the record are untrusted. */
#ifndef INPUT_TRACE_FORMAT_H
#define INPUT_TRACE_FORMAT_H

#include <stdio.h>

#include "base/base.h"

struct trace_layout {   /* of the machine that recorded */
	bool swapped;   /* it has the other byte order */
	bool is_32_bit; /* its longs have 4 bytes */
	/* The kernel's function at an address, and where it begins; NULL: not known. */
	const char *(*function)(void *arg, uint64_t addr, uint64_t *start);
	void *arg;
};

struct trace_format;
/* Never NULL: what makes no sense has no fields. */
struct trace_format *trace_format_new(const char *text, size_t n, struct trace_layout layout);
void trace_format_free(struct trace_format *f); /* NULL is fine */

uint64_t trace_format_id(const struct trace_format *f); /* the number that the kernel gave it */
const char *trace_format_name(const struct trace_format *f); /* without its group */

void trace_format_print(const struct trace_format *f, const uint8_t *raw, size_t size, FILE *out);

#endif

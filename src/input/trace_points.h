/* trace_points.h - trace points by the kernel's descriptions of them, and their records as text.
 *
 *	t = trace_points_new(layout);
 *	p = trace_points_add(t, text, n);            "name: sched_switch ... print fmt: ..."
 *	trace_points_print(t, p, raw, size, out);    prev_comm=a prev_pid=1 ==> next_comm=b
 *
 * The text is the file `format` of a trace point: its fields, and a format with C expressions over
 * them. libtraceevent prints the records, as in perf. It is loaded when it is needed. Without it,
 * and where it cannot parse a description or could not be trusted with it (trace_guard.c), fields
 * are printed as they were stored, " a=1 b=2". Texts and records are untrusted. */
#ifndef INPUT_TRACE_POINTS_H
#define INPUT_TRACE_POINTS_H

#include <stdio.h>

#include "base/base.h"

struct trace_layout {   /* the machine that was recorded */
	bool swapped;   /* its byte order is not ours */
	bool is_32_bit; /* its longs have 4 bytes */
	/* The kernel function at an address, and its start; NULL: not known. */
	const char *(*function)(void *arg, uint64_t addr, uint64_t *start);
	void *arg;
};

struct trace_points;
struct trace_point;

struct trace_points *trace_points_new(struct trace_layout layout);
void trace_points_free(struct trace_points *t); /* NULL is fine */

/* NULL: the text makes no sense, or there are too many. Owned by t; the first of a number counts.
 */
const struct trace_point *trace_points_add(struct trace_points *t, const char *text, size_t n);
/* The one with the kernel's number; NULL: none. */
const struct trace_point *trace_points_find(const struct trace_points *t, uint64_t id);
uint16_t trace_point_id(const struct trace_point *p);
/* Constant texts of the kernel that fields point to: its file `printk_formats`. */
void trace_points_add_strings(struct trace_points *t, const char *text, size_t n);

void trace_points_print(struct trace_points *t, const struct trace_point *p, const uint8_t *raw,
			size_t size, FILE *out);

#define TRACE_POINTS_RAW "fields of trace points are as the kernel stored them"
/* Why fields are printed as they were stored; NULL: the library was there, or not needed. */
const char *trace_points_problem(const struct trace_points *t);

#endif

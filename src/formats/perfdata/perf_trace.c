/* perf_trace.c - descriptions of trace points in a perf.data, and their fields as text.
 *
 * The descriptions are in a file of the kernel's tracing inside the perf.data ("tracing0.6"): sizes
 * of pages, then the `format` of each trace point, by group. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/perf.h"
#include "input/trace_points.h"

/* Adds n texts, each preceded by its size. */
static void add_all(struct perf *p, struct bytes *b, uint32_t n)
{
	for (uint32_t i = 0; i < n && !b->failed; i++) {
		uint64_t size = bytes_u64(b);
		struct bytes text = bytes_take(b, size);
		if (!b->failed)
			trace_points_add(p->traces.points, (const char *)text.pos,
					 bytes_left(&text));
	}
}

/* A text preceded by its size, of 32 bits. */
static struct bytes take_short(struct bytes *b)
{
	uint32_t size = bytes_u32(b);
	return bytes_take(b, size);
}

static void skip_file(struct bytes *b)
{
	bytes_str(b); /* its name */
	bytes_skip(b, bytes_u64(b));
}

static const char *function_at(void *arg, uint64_t addr, uint64_t *start)
{
	return perf_kernel_function(arg, addr, start);
}

void perf_traces_read(struct perf *p, struct bytes b)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct trace_layout layout = { .function = function_at, .arg = p };

	if (!p->traces.wanted || bytes_left(&b) < sizeof(magic) ||
	    memcmp(b.pos, magic, sizeof(magic)) != 0)
		return;
	bytes_skip(&b, sizeof(magic));
	bytes_str(&b); /* version */
	b.swap = bytes_other_order(bytes_u8(&b));
	layout.swapped = b.swap;
	layout.is_32_bit = bytes_u8(&b) == 4;
	bytes_u32(&b); /* size of a page */
	skip_file(&b); /* header_page */
	skip_file(&b); /* header_event */
	trace_points_free(p->traces.points);
	p->traces.points = trace_points_new(layout);
	add_all(p, &b, bytes_u32(&b));
	for (uint32_t groups = bytes_u32(&b); groups && !b.failed; groups--) {
		bytes_str(&b);
		add_all(p, &b, bytes_u32(&b));
	}
	take_short(&b); /* kallsyms, which perf leaves empty */
	struct bytes strings = take_short(&b);
	if (!b.failed)
		trace_points_add_strings(p->traces.points, (const char *)strings.pos,
					 bytes_left(&strings));
	const char *problem = trace_points_problem(p->traces.points);
	if (problem)
		perf_unread(p, TRACE_POINTS_RAW, err_new(KIN_ERROR_UNSUPPORTED, "%s", problem));
}

strid perf_traces_text(struct perf *p, const struct perf_attr *a, const struct perf_sample *s)
{
	struct perf_traces *t = &p->traces;
	bool is_trace = t->wanted && a->type == PERF_TRACEPOINT && bytes_left(&s->raw);
	const struct trace_point *point =
		is_trace && t->points ? trace_points_find(t->points, a->config) : NULL;

	if (!point)
		return 0;
	if (!t->out)
		t->out = xopen_memstream(&t->text, &t->size);
	if (!t->out)
		return 0;
	rewind(t->out);
	trace_points_print(t->points, point, s->raw.pos, bytes_left(&s->raw), t->out);
	fflush(t->out);
	return profile_add_string(p->into, t->text, strnlen(t->text, t->size));
}

void perf_traces_done(struct perf_traces *t)
{
	trace_points_free(t->points);
	if (t->out)
		fclose(t->out);
	free(t->text);
}

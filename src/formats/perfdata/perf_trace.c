/* perf_trace.c - descriptions of trace points in a perf.data, and their fields as text.
 *
 * The descriptions are in a file of the kernel's tracing inside the perf.data ("tracing0.6"): sizes
 * of pages, then the `format` of each trace point, by group. */
#include <stdlib.h>
#include <string.h>

#include "formats/perfdata/perf.h"
#include "input/trace_format.h"

enum { FORMATS_MAX = 1 << 16 };

static void add_format(struct perf *p, struct bytes text, struct trace_layout layout)
{
	struct perf_traces *t = &p->traces;
	if (t->formats.n >= FORMATS_MAX)
		return;
	struct trace_format *f =
		trace_format_new((const char *)text.pos, bytes_left(&text), layout);
	*map64_at(&t->by_id, trace_format_id(f)) = (uint32_t)t->formats.n;
	vec_push(&t->formats, f);
}

/* Adds n texts, each preceded by its size. */
static void add_all(struct perf *p, struct bytes *b, uint32_t n, struct trace_layout layout)
{
	for (uint32_t i = 0; i < n && !b->failed; i++) {
		uint64_t size = bytes_u64(b);
		struct bytes text = bytes_take(b, size);
		if (!b->failed)
			add_format(p, text, layout);
	}
}

static void skip_file(struct bytes *b)
{
	bytes_str(b); /* its name */
	bytes_skip(b, bytes_u64(b));
}

void perf_traces_read(struct perf *p, struct bytes b)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct trace_layout layout = { .swapped = p->swap };

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
	add_all(p, &b, bytes_u32(&b), layout);
	for (uint32_t groups = bytes_u32(&b); groups && !b.failed; groups--) {
		bytes_str(&b);
		add_all(p, &b, bytes_u32(&b), layout);
	}
}

strid perf_traces_text(struct perf *p, const struct perf_attr *a, const struct perf_sample *s)
{
	struct perf_traces *t = &p->traces;
	bool is_trace = t->wanted && a->type == PERF_TRACEPOINT && bytes_left(&s->raw);
	uint32_t format = is_trace ? map64_get(&t->by_id, a->config) : NONE;

	if (format == NONE)
		return 0;
	if (!t->out)
		t->out = xopen_memstream(&t->text, &t->size);
	if (!t->out)
		return 0;
	rewind(t->out);
	trace_format_print(t->formats.at[format], s->raw.pos, bytes_left(&s->raw), t->out);
	fflush(t->out);
	return profile_add_string(p->into, t->text, strnlen(t->text, t->size));
}

void perf_traces_done(struct perf_traces *t)
{
	for (size_t i = 0; i < t->formats.n; i++)
		trace_format_free(t->formats.at[i]);
	vec_free(&t->formats);
	map64_free(&t->by_id);
	if (t->out)
		fclose(t->out);
	free(t->text);
}

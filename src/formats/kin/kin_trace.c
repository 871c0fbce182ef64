/* kin_trace.c - fields of trace points in a .kin file, which are converted to text when read. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/kin/kin_records.h"
#include "input/trace_format.h"
#include "profile/detail.h"

enum { FORMATS_MAX = 1 << 16 };

struct known_function {
	uint64_t start;
	const char *name;
};

struct kinfile_traces {
	struct map64 by_event; /* id in the file -> index of formats */
	VEC(struct trace_format *) formats;
	struct map64 by_address; /* -> index of functions */
	VEC(struct known_function) functions;
	struct arena arena; /* for names of functions */
	FILE *out;          /* where text is printed */
	char *text;
	size_t size;
};

struct kinfile_traces *kinfile_traces_new(void)
{
	struct kinfile_traces *t = xalloc(sizeof(*t));
	t->out = xopen_memstream(&t->text, &t->size);
	return t;
}

void kinfile_traces_free(struct kinfile_traces *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->formats.n; i++)
		trace_format_free(t->formats.at[i]);
	vec_free(&t->formats);
	vec_free(&t->functions);
	map64_free(&t->by_event);
	map64_free(&t->by_address);
	arena_release(&t->arena);
	if (t->out)
		fclose(t->out);
	free(t->text);
	free(t);
}

static const char *function_at(void *arg, uint64_t addr, uint64_t *start)
{
	const struct kinfile_traces *t = arg;
	uint32_t i = map64_get(&t->by_address, addr);
	if (i == NONE)
		return NULL;
	*start = t->functions.at[i].start;
	return t->functions.at[i].name;
}

void kinfile_read_trace_format(struct kinfile_stream *s)
{
	struct kinfile_traces *t = s->f->traces;
	uint32_t event = kinfile_take32(&s->in);
	struct kinfile_text text = kinfile_take_text(&s->in);

	if (s->in.failed || !t || t->formats.n >= FORMATS_MAX)
		return;
	struct trace_layout layout = { .function = function_at, .arg = t };
	*map64_at(&t->by_event, event) = (uint32_t)t->formats.n;
	vec_push(&t->formats, trace_format_new(text.s, text.n, layout));
}

void kinfile_read_trace_function(struct kinfile_stream *s)
{
	struct kinfile_traces *t = s->f->traces;
	uint64_t addr = bytes_uleb(&s->in);
	struct known_function x = { .start = bytes_uleb(&s->in) };
	struct kinfile_text name = kinfile_take_text(&s->in);

	if (s->in.failed || !t)
		return;
	x.name = arena_printf(&t->arena, "%.*s", (int)strnlen(name.s, name.n), name.s);
	*map64_at(&t->by_address, addr) = (uint32_t)t->functions.n;
	vec_push(&t->functions, x);
}

/* Sets the fields of the sample that was added last. */
static void set_text(struct kinfile_stream *s, const char *text, size_t n)
{
	struct detail d = { .has = DETAIL_TRACE };

	d.trace = s->trace = profile_add_string(s->f->into, text, n);
	profile_set_detail(s->f->into, profile_add_detail(s->f->into, &d));
}

void kinfile_read_trace_fields(struct kinfile_stream *s, uint32_t event)
{
	struct kinfile_traces *t = s->f->traces;
	struct kinfile_text raw = kinfile_take_text(&s->in);
	uint32_t format = t && event ? map64_get(&t->by_event, event) : NONE;

	if (s->in.failed || format == NONE || !t->out)
		return;
	rewind(t->out);
	trace_format_print(t->formats.at[format], (const uint8_t *)raw.s, raw.n, t->out);
	fflush(t->out);
	set_text(s, t->text, strnlen(t->text, t->size));
}

void kinfile_read_trace_text(struct kinfile_stream *s, uint32_t event)
{
	struct kinfile_text text = kinfile_take_text(&s->in);

	if (!s->in.failed && s->f->traces && event)
		set_text(s, text.s, strnlen(text.s, text.n));
}

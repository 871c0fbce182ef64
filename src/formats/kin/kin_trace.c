/* kin_trace.c - fields of trace points in a .kin file, which are converted to text when read. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/kin/kin_records.h"
#include "input/trace_points.h"
#include "profile/detail.h"

struct known_function {
	uint64_t start;
	const char *name;
};

struct kinfile_traces {
	struct trace_points *points;
	bool said;               /* that they are printed as they were stored */
	struct map64 by_event;   /* id in the file -> the kernel's number */
	struct map64 by_address; /* -> index of functions */
	VEC(struct known_function) functions;
	struct arena arena; /* for names of functions */
	FILE *out;          /* where text is printed */
	char *text;
	size_t size;
};

static const char *function_at(void *arg, uint64_t addr, uint64_t *start)
{
	const struct kinfile_traces *t = arg;
	uint32_t i = map64_get(&t->by_address, addr);
	if (i == NONE)
		return NULL;
	*start = t->functions.at[i].start;
	return t->functions.at[i].name;
}

struct kinfile_traces *kinfile_traces_new(void)
{
	struct kinfile_traces *t = xalloc(sizeof(*t));
	t->points = trace_points_new((struct trace_layout){ .function = function_at, .arg = t });
	t->out = xopen_memstream(&t->text, &t->size);
	return t;
}

void kinfile_traces_free(struct kinfile_traces *t)
{
	if (!t)
		return;
	trace_points_free(t->points);
	vec_free(&t->functions);
	map64_free(&t->by_event);
	map64_free(&t->by_address);
	arena_release(&t->arena);
	if (t->out)
		fclose(t->out);
	free(t->text);
	free(t);
}

void kinfile_read_trace_format(struct kinfile_stream *s)
{
	struct kinfile_traces *t = s->f->traces;
	uint32_t event = kinfile_take32(&s->in);
	struct kinfile_text text = kinfile_take_text(&s->in);

	if (s->in.failed || !t)
		return;
	const struct trace_point *p = trace_points_add(t->points, text.s, text.n);
	const char *problem = trace_points_problem(t->points);
	if (problem && !t->said) {
		char *fact = xprintf(TRACE_POINTS_RAW ": %s", problem);
		profile_add_fact(s->f->into, FACT_UNREAD, fact);
		free(fact);
		t->said = true;
	}
	if (p)
		*map64_at(&t->by_event, event) = trace_point_id(p);
}

void kinfile_read_trace_strings(struct kinfile_stream *s)
{
	struct kinfile_text text = kinfile_take_text(&s->in);

	if (!s->in.failed && s->f->traces)
		trace_points_add_strings(s->f->traces->points, text.s, text.n);
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
	uint32_t id = t && event ? map64_get(&t->by_event, event) : NONE;

	if (s->in.failed || id == NONE || !t->out)
		return;
	rewind(t->out);
	trace_points_print(t->points, trace_points_find(t->points, id), (const uint8_t *)raw.s,
			   raw.n, t->out);
	fflush(t->out);
	set_text(s, t->text, strnlen(t->text, t->size));
}

void kinfile_read_trace_text(struct kinfile_stream *s, uint32_t event)
{
	struct kinfile_text text = kinfile_take_text(&s->in);

	if (!s->in.failed && s->f->traces && event)
		set_text(s, text.s, strnlen(text.s, text.n));
}

/* script.c - chooses the samples and fields to print, and prints them one by one. */
#include "export/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "export/script_private.h"
#include "symbolize/leaf_filter.h"

/* The type in the data, or else a guess by the event's name. */
static enum event_type type_of(const struct script *c, uint16_t event)
{
	static const char *const software[] = {
		"page-faults",      "faults",     "minor-faults",
		"major-faults",     "cs",         "context-switches",
		"cpu-migrations",   "migrations", "alignment-faults",
		"emulation-faults", "bpf-output", "dummy"
	};
	const struct event *e = &c->p->samples.events[event];
	const char *name = script_string(c, e->name);
	if (e->type)
		return e->type;
	if (e->is_trace)
		return EVENT_TRACE_POINT;
	if (!strncmp(name, "mem:", 4))
		return EVENT_BREAKPOINT;
	for (size_t i = 0; i < ARRAY_LEN(software); i++)
		if (!strncmp(name, software[i], strlen(software[i])))
			return EVENT_SOFTWARE;
	return e->unit == EVENT_NS ? EVENT_SOFTWARE : EVENT_HARDWARE;
}

/* Event types whose samples have the same frame fields share a variant: the frames' texts are made
 * once for each. Returns the number of variants. */
static size_t choose_variants(struct script *c)
{
	uint64_t seen[EVENT_TYPES];
	size_t n = 0;
	for (size_t i = 0; i < EVENT_TYPES; i++) {
		uint64_t of_frames = c->o->fields.of[i] & (SCRIPT_OF_FRAMES | SCRIPT_SYMOFF);
		unsigned k = 0;
		while (k < n && seen[k] != of_frames)
			k++;
		if (k == n)
			seen[n++] = of_frames;
		c->variant_of[i] = k;
	}
	return n;
}

/* Fails if a requested field is in no sample; the error names the command that records it. */
static struct kin_error *check_fields(const struct script *c)
{
	const struct samples *s = &c->p->samples;
	uint64_t there = 0;
	for (size_t i = 1; i < s->n_details; i++) {
		const struct detail *d = &s->details[i];
		there |= d->interrupt_registers ? SCRIPT_IREGS : 0;
		there |= d->user_registers ? SCRIPT_UREGS : 0;
		there |= d->branches ? SCRIPT_BRSTACK : 0;
		there |= d->has & DETAIL_DATA_SRC ? SCRIPT_DATA_SRC : 0;
		there |= d->has & DETAIL_DATA_PAGE ? SCRIPT_DATA_PAGE_SIZE : 0;
		there |= d->has & DETAIL_CODE_PAGE ? SCRIPT_CODE_PAGE_SIZE : 0;
	}
	there |= there & SCRIPT_BRSTACK ? SCRIPT_OF_BRANCHES : 0;
	for (size_t i = 0; i < c->p->n_sources; i++)
		there |= c->p->sources[i].has_day ? SCRIPT_TOD : 0;
	static const struct {
		uint64_t field;
		const char *name, *command;
	} sources[] = {
		{ SCRIPT_IREGS, "iregs", "kin record --intr-regs" },
		{ SCRIPT_UREGS, "uregs", "perf record --user-regs" },
		{ SCRIPT_BRSTACK, "brstack", "kin record -b" },
		{ SCRIPT_BRSTACKSYM, "brstacksym", "kin record -b" },
		{ SCRIPT_BRSTACKOFF, "brstackoff", "kin record -b" },
		{ SCRIPT_BRSTACKINSN, "brstackinsn", "kin record -b" },
		{ SCRIPT_BRSTACKINSNLEN, "brstackinsnlen", "kin record -b" },
		{ SCRIPT_DATA_SRC, "data_src", "kin record -d" },
		{ SCRIPT_DATA_PAGE_SIZE, "data_page_size", "kin record --data-page-size" },
		{ SCRIPT_CODE_PAGE_SIZE, "code_page_size", "kin record --code-page-size" },
		{ SCRIPT_TOD, "tod", "perf record -k monotonic" },
	};
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (!(there & sources[i].field) &&
		    script_fields_any(&c->o->fields, sources[i].field))
			return err_new(KIN_ERROR_USAGE,
				       "--columns: no sample here has %s: %s records it",
				       sources[i].name, sources[i].command);
	return NULL;
}

static bool has_recorded_samples(const struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->events[s->at[i].event].is_derived)
			return true;
	return false;
}

/* Derived events are left out, unless they were named or the data has no others. */
static void choose_events(struct script *c)
{
	const struct samples *s = &c->p->samples;
	bool all = c->o->json || !has_recorded_samples(s);
	c->wanted = xalloc(s->n_events + 1);
	for (size_t i = 0; i < s->n_events; i++) {
		const char *name = script_string(c, s->events[i].name);
		int width = (int)strlen(script_string(c, event_title(&s->events[i])));
		c->wanted[i] = c->o->event ? event_is_called(name, c->o->event)
					   : all || !s->events[i].is_derived;
		if (c->wanted[i] && width > c->event_width)
			c->event_width = width;
	}
}

static bool any_callers(const struct samples *s)
{
	for (size_t i = 1; i < s->n_stacks; i++)
		if (s->stacks[i].caller)
			return true;
	return false;
}

/* Finds which events have stacks. If the data does not tell, all events have them, or none. */
static void find_stacks(struct script *c)
{
	const struct samples *s = &c->p->samples;
	bool said = false, any = any_callers(s);
	c->stacks = xalloc(s->n_events + 1);
	for (size_t i = 0; i < s->n_events; i++)
		said = said || s->events[i].stacks;
	for (size_t i = 0; i < s->n_events; i++)
		c->stacks[i] = !c->o->leaves && (said ? s->events[i].stacks : any);
}

static bool is_wanted(struct script *c, const struct sample *x)
{
	return c->o->fields.of[type_of(c, x->event)] && c->wanted[x->event] &&
	       (!c->o->filter || sample_filter_passes(c->o->filter, x)) &&
	       leaf_filter_passes(c->leaves, x);
}

static void put_samples(struct script *c)
{
	const struct samples *s = &c->p->samples;
	size_t marker = 0;
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(c, x))
			continue;
		if ((c->o->relative || c->o->delta) && !any)
			c->from_ns = x->time_ns;
		c->fields = c->o->fields.of[type_of(c, x->event)];
		c->variant = c->variant_of[type_of(c, x->event)];
		if (c->o->json) {
			sink_str(&c->out, any ? ",\n  " : "\n  ");
			script_json_sample(c, x);
		} else {
			script_text_markers(c, &marker, x->time_ns);
			script_text_sample(c, x);
		}
		if (c->o->delta)
			c->from_ns = x->time_ns;
		any = true;
	}
	if (!c->o->json && any)
		script_text_markers(c, &marker, UINT64_MAX);
}

struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
			       const struct script_opts *opts)
{
	struct script *c = xalloc(sizeof(*c)); /* has large buffers */
	*c = (struct script){ .p = p, .g = g, .o = opts };
	c->put_frame = opts->json ? script_json_frame : script_text_frame;
	c->of_frame =
		xalloc(2 * (p->samples.n_frames * choose_variants(c) + 1) * sizeof(*c->of_frame));
	c->leaves = leaf_filter_new(p, g, opts->functions, opts->objects, opts->no_inlines);
	c->stops =
		opts->stop_at ? leaf_filter_new(p, g, opts->stop_at, NULL, opts->no_inlines) : NULL;
	c->making = open_memstream(&c->pieces, &c->pieces_size);
	struct kin_error *err = c->making ? check_fields(c) : err_os(errno, "writing samples");
	if (!err) {
		sink_init(&c->making_sink, c->making);
		sink_init(&c->out, out);
		choose_events(c);
		find_stacks(c);
		if (opts->json)
			script_json_events(c);
		put_samples(c);
		if (opts->json)
			sink_str(&c->out, "]}\n");
		errno = 0;
		sink_flush(&c->out);
		if (fflush(out) || ferror(out))
			err = err_os(errno ? errno : EIO, "writing samples");
		else if (ferror(c->making)) /* `making` is a memory stream */
			err = err_os(ENOMEM, "writing samples");
	}
	if (c->making)
		fclose(c->making);
	free(c->pieces);
	map64_free(&c->source_of);
	vec_free(&c->sources);
	free(c->of_frame);
	free(c->wanted);
	free(c->stacks);
	leaf_filter_free(c->leaves);
	leaf_filter_free(c->stops);
	free(c);
	return err;
}

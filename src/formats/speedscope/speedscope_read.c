/* speedscope_read.c - reads sampled and evented profiles; each is a thread.
 *
 * All profiles share the frames, which may come after them: the file is read more than once. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "formats/speedscope/speedscope.h"
#include "formats/tracks.h"
#include "input/input.h"
#include "input/json_scan.h"

enum { KEY = 32 };

struct speedscope_reader {
	struct scan j;
	struct profile_builder *into;
	VEC(frameid) frames;
	bool cut; /* an index refers to a missing frame */
	bool has_negative;
	bool is_ours; /* written by kin: profiles have the names of exported_thread_name() */
	/* State of the profile being read: */
	VEC(stackid) stacks;
	VEC(double) weights;
	VEC(stackid) open;         /* the stack up to each open frame */
	char *name, *unit, *event; /* event: NULL if kin did not write it */
	double at;                 /* value of the last event */
};

static bool is(const char *key, const char *what) { return !strcmp(key, what); }

static void replace(char **text, struct scan *j)
{
	free(*text);
	*text = scan_string(j);
}

/* ---- frames ---- */

static void read_frame(struct speedscope_reader *c)
{
	char key[KEY], *name = NULL;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "name"))
			replace(&name, &c->j);
		else
			scan_skip(&c->j);
	}
	struct frame f = { 0 };
	f.name = profile_add_string(c->into, name && *name ? name : "[unknown]",
				    name && *name ? strlen(name) : strlen("[unknown]"));
	vec_push(&c->frames, profile_add_frame(c->into, f));
	free(name);
}

static void read_shared(struct speedscope_reader *c)
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (!is(key, "frames")) {
			scan_skip(&c->j);
			continue;
		}
		scan_enter(&c->j, '[');
		while (scan_element(&c->j))
			read_frame(c);
	}
}

static frameid frame_at(struct speedscope_reader *c, uint64_t i)
{
	if (i < c->frames.n)
		return c->frames.at[i];
	c->cut = true;
	return 0;
}

static stackid push(struct speedscope_reader *c, stackid stack, frameid frame)
{
	return frame ? profile_add_stack(c->into, stack, frame) : stack;
}

/* ---- profiles ---- */

static void read_samples(struct speedscope_reader *c)
{
	scan_enter(&c->j, '[');
	while (scan_element(&c->j)) {
		stackid stack = 0;
		scan_enter(&c->j, '[');
		while (scan_element(&c->j))
			stack = push(c, stack, frame_at(c, scan_number(&c->j)));
		vec_push(&c->stacks, stack);
	}
}

static void read_weights(struct speedscope_reader *c)
{
	scan_enter(&c->j, '[');
	while (scan_element(&c->j))
		vec_push(&c->weights, scan_real(&c->j));
}

/* Adds a sample: the frames that are open were on the stack since the last event. */
static void add_open(struct speedscope_reader *c, double now)
{
	if (now <= c->at || !c->open.n)
		return;
	vec_push(&c->stacks, c->open.at[c->open.n - 1]);
	vec_push(&c->weights, now - c->at);
}

static void read_event(struct speedscope_reader *c)
{
	char key[KEY], *type = NULL;
	uint64_t frame = 0;
	double at = 0;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "type"))
			replace(&type, &c->j);
		else if (is(key, "frame"))
			frame = scan_number(&c->j);
		else if (is(key, "at"))
			at = scan_real(&c->j);
		else
			scan_skip(&c->j);
	}
	add_open(c, at);
	stackid stack = c->open.n ? c->open.at[c->open.n - 1] : 0;
	if (type && is(type, "O"))
		vec_push(&c->open, push(c, stack, frame_at(c, frame)));
	else if (c->open.n)
		c->open.n--;
	c->at = at > c->at ? at : c->at;
	free(type);
}

static void read_events(struct speedscope_reader *c)
{
	scan_enter(&c->j, '[');
	while (scan_element(&c->j))
		read_event(c);
}

static uint64_t ns_of(const char *unit)
{
	return is(unit, "nanoseconds")    ? 1
	       : is(unit, "microseconds") ? 1000
	       : is(unit, "milliseconds") ? 1000000
	       : is(unit, "seconds")      ? 1000000000
					  : 0;
}

/* The thread of a profile. If kin wrote it, it is called "COMM/TID", followed by ": EVENT" if there
 * are several events. */
static struct task task_of(struct speedscope_reader *c)
{
	struct task task = { 0 };
	const char *name = c->name ? c->name : "";
	size_t n = track_thread_length(name, c->event);
	const char *slash = c->is_ours ? memrchr(name, '/', n) : NULL;
	size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
	if (digits && digits < 10 && slash + 1 + digits == name + n) {
		task.tid = (uint32_t)strtoul(slash + 1, NULL, 10);
		n = (size_t)(slash - name);
	}
	task.comm = n ? profile_add_string(c->into, name, n) : 0;
	return task;
}

static uint16_t add_event(struct speedscope_reader *c, uint64_t ns)
{
	const char *name = c->event                          ? c->event
			   : ns                              ? "time"
			   : c->unit && is(c->unit, "bytes") ? "bytes"
							     : "samples";
	struct event e = { .unit = ns ? EVENT_NS : EVENT_COUNT,
			   .kind = ns ? event_kind_called(name) : EVENT_ON_CPU,
			   .stacks = true,
			   .is_timeless = true };
	e.name = profile_add_string(c->into, name, strlen(name));
	return profile_add_event(c->into, e);
}

static void add_samples(struct speedscope_reader *c)
{
	const double most = 9e18;
	uint64_t ns = c->unit ? ns_of(c->unit) : 0;
	uint16_t event = add_event(c, ns);
	taskid id = profile_add_task(c->into, task_of(c));
	for (size_t i = 0; i < c->stacks.n; i++) {
		double weight = i < c->weights.n ? c->weights.at[i] : 1;
		weight *= ns ? (double)ns : 1;
		uint64_t v = weight <= 0 ? 0 : weight > most ? INT64_MAX : (uint64_t)(weight + 0.5);
		c->has_negative |= weight < 0;
		if (!v)
			continue;
		profile_add_sample(
			c->into, (struct sample){ .stack = c->stacks.at[i],
						  .task = id,
						  .event = event,
						  .cpu = CPU_NONE,
						  .count = !ns && v < UINT32_MAX ? (uint32_t)v : 1,
						  .weight = v });
	}
}

static void read_profile(struct speedscope_reader *c)
{
	char key[KEY];
	c->stacks.n = c->weights.n = c->open.n = 0;
	c->at = 0;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "name"))
			replace(&c->name, &c->j);
		else if (is(key, "unit"))
			replace(&c->unit, &c->j);
		else if (c->is_ours && is(key, TRACK_EVENT))
			replace(&c->event, &c->j);
		else if (is(key, "samples"))
			read_samples(c);
		else if (is(key, "weights"))
			read_weights(c);
		else if (is(key, "events"))
			read_events(c);
		else
			scan_skip(&c->j);
	}
	add_samples(c);
	free(TAKE(c->name));
	free(TAKE(c->unit));
	free(TAKE(c->event));
}

static void read_profiles(struct speedscope_reader *c)
{
	scan_enter(&c->j, '[');
	while (scan_element(&c->j))
		read_profile(c);
}

/* Reads a single member of the file. */
static void read_member(struct speedscope_reader *c, const char *name,
			void (*read)(struct speedscope_reader *c))
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, name))
			read(c);
		else
			scan_skip(&c->j);
	}
}

static void read_exporter(struct speedscope_reader *c)
{
	char *name = scan_string(&c->j);
	c->is_ours = name && !strncmp(name, "kin ", 4);
	free(name);
}

struct kin_error *speedscope_read(struct bytes all, const struct input_opts *o,
				  struct profile_builder *into, struct source *source)
{
	struct scan begin = scan_of((const char *)all.pos, bytes_left(&all));
	struct speedscope_reader c = { .j = begin, .into = into };
	(void)o;
	(void)source;
	read_member(&c, "shared", read_shared);
	c.j = begin;
	read_member(&c, "exporter", read_exporter);
	c.j = begin;
	read_member(&c, "profiles", read_profiles);
	scan_end(&c.j);
	bool failed = c.j.failed || c.cut;
	size_t at = (size_t)(c.j.pos - c.j.start);
	vec_free(&c.frames);
	vec_free(&c.stacks);
	vec_free(&c.weights);
	vec_free(&c.open);
	if (failed)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: damaged or cut off at offset 0x%zx: only a part of it was read",
			       all.name, at);
	return c.has_negative ? format_negative(all.name) : NULL;
}

bool speedscope_recognise(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return format_head_begins(head) == '{' && format_head_has(&head, SPEEDSCOPE_SCHEMA);
}

/* cpuprofile.c - V8's CPU profiles: what Chrome's DevTools save and node --cpu-prof writes (the
 * DevTools protocol, type Profiler.Profile).
 *
 * A sample stands for the time up to the next one. Files without samples have how often each node
 * was hit. The script is the object that a function is in. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/formats.h"
#include "input/input.h"
#include "input/json_scan.h"

struct cpuprofile_node {
	uint64_t hits;
	frameid frame;   /* 0: the root, which is no function */
	uint32_t parent; /* index; NONE: none */
	stackid stack;
	bool has_stack;
};

struct child_link { /* ids of nodes */
	uint64_t parent, child;
};

struct cpuprofile {
	struct scan j;
	struct profile_builder *into;
	VEC(struct cpuprofile_node) nodes;
	struct map64 node_ids;
	VEC(struct child_link) children;
	VEC(uint64_t) samples;
	VEC(double) deltas; /* us */
	VEC(uint32_t) path;
	uint64_t start_us, end_us;
};

enum { KEY = 32 };

static bool is(const char *key, const char *what) { return !strcmp(key, what); }

/* ---- nodes ---- */

static frameid make_frame(struct cpuprofile *c, const char *name, const char *url, uint64_t line)
{
	struct frame f = { 0 };
	char *made = NULL;
	if (is(name, "(root)"))
		return 0;
	if (!*name) /* lines are counted from 0 there */
		made = xprintf("(anonymous):%llu", (unsigned long long)line + 1);
	if (*url)
		f.object = profile_add_object_of(c->into, url, "", OBJECT_OTHER, false);
	f.name = profile_add_string(c->into, made ? made : name, strlen(made ? made : name));
	free(made);
	return profile_add_frame(c->into, f);
}

static void replace(char **text, struct scan *j)
{
	free(*text);
	*text = scan_string(j);
}

static frameid read_call_frame(struct cpuprofile *c)
{
	char key[KEY], *name = NULL, *url = NULL;
	uint64_t line = 0;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "functionName"))
			replace(&name, &c->j);
		else if (is(key, "url"))
			replace(&url, &c->j);
		else if (is(key, "lineNumber"))
			line = scan_number(&c->j);
		else
			scan_skip(&c->j);
	}
	frameid frame = make_frame(c, name ? name : "", url ? url : "", line);
	free(name);
	free(url);
	return frame;
}

static void read_node(struct cpuprofile *c)
{
	char key[KEY];
	struct cpuprofile_node node = { .parent = NONE };
	uint64_t id = 0, parent = 0;
	size_t first = c->children.n;
	bool has_parent = false;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "id")) {
			id = scan_number(&c->j);
		} else if (is(key, "parent")) {
			parent = scan_number(&c->j);
			has_parent = true;
		} else if (is(key, "hitCount")) {
			node.hits = scan_number(&c->j);
		} else if (is(key, "callFrame")) {
			node.frame = read_call_frame(c);
		} else if (is(key, "children")) {
			scan_enter(&c->j, '[');
			while (scan_element(&c->j)) {
				uint64_t child = scan_number(&c->j);
				vec_push(&c->children, ((struct child_link){ 0, child }));
			}
		} else {
			scan_skip(&c->j);
		}
	}
	for (size_t i = first; i < c->children.n; i++)
		c->children.at[i].parent = id;
	if (has_parent)
		vec_push(&c->children, ((struct child_link){ parent, id }));
	*map64_at(&c->node_ids, id) = (uint32_t)c->nodes.n;
	vec_push(&c->nodes, node);
}

/* ---- the file ---- */

static void read_all(struct cpuprofile *c)
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "startTime")) {
			c->start_us = scan_number(&c->j);
		} else if (is(key, "endTime")) {
			c->end_us = scan_number(&c->j);
		} else if (is(key, "nodes")) {
			scan_enter(&c->j, '[');
			while (scan_element(&c->j))
				read_node(c);
		} else if (is(key, "samples")) {
			scan_enter(&c->j, '[');
			while (scan_element(&c->j))
				vec_push(&c->samples, scan_number(&c->j));
		} else if (is(key, "timeDeltas")) {
			scan_enter(&c->j, '[');
			while (scan_element(&c->j))
				vec_push(&c->deltas, scan_real(&c->j));
		} else {
			scan_skip(&c->j);
		}
	}
}

/* ---- samples ---- */

static void link_nodes(struct cpuprofile *c)
{
	for (size_t i = 0; i < c->children.n; i++) {
		uint32_t parent = map64_get(&c->node_ids, c->children.at[i].parent);
		uint32_t child = map64_get(&c->node_ids, c->children.at[i].child);
		if (parent != NONE && child != NONE && c->nodes.at[child].parent == NONE)
			c->nodes.at[child].parent = parent;
	}
}

/* A damaged file may have nodes that are their own ancestors: the way up ends after as many steps
 * as there are nodes. */
static stackid stack_of(struct cpuprofile *c, uint32_t node)
{
	stackid stack = 0;
	c->path.n = 0;
	for (; node != NONE && c->path.n <= c->nodes.n; node = c->nodes.at[node].parent) {
		if (c->nodes.at[node].has_stack) {
			stack = c->nodes.at[node].stack;
			break;
		}
		vec_push(&c->path, node);
	}
	while (c->path.n) {
		struct cpuprofile_node *n = &c->nodes.at[c->path.at[--c->path.n]];
		if (n->frame && !n->has_stack)
			stack = profile_add_stack(c->into, stack, n->frame);
		if (!n->has_stack)
			n->stack = stack;
		n->has_stack = true;
		stack = n->stack;
	}
	return stack;
}

static uint16_t add_event(struct cpuprofile *c, const char *name, enum event_unit unit)
{
	struct event e = { .unit = unit, .stacks = true };
	e.name = profile_add_string(c->into, name, strlen(name));
	return profile_add_event(c->into, e);
}

static uint64_t ns_of(double us)
{
	const double most = 9e15; /* us: what fits 64 bits as nanoseconds */
	return us <= 0 ? 0 : us > most ? (uint64_t)most * 1000 : (uint64_t)(us * 1000 + 0.5);
}

static void add_timed(struct cpuprofile *c)
{
	uint16_t event = add_event(c, "time", EVENT_NS);
	double now = (double)c->start_us;
	for (size_t i = 0; i < c->samples.n; i++) {
		uint32_t node = map64_get(&c->node_ids, c->samples.at[i]);
		now += i < c->deltas.n ? c->deltas.at[i] : 0;
		double next = i + 1 < c->samples.n ? (i + 1 < c->deltas.n ? c->deltas.at[i + 1] : 0)
						   : (double)c->end_us - now;
		profile_add_sample(c->into,
				   (struct sample){ .stack = node == NONE ? 0 : stack_of(c, node),
						    .event = event,
						    .cpu = CPU_NONE,
						    .count = 1,
						    .weight = ns_of(next),
						    .time_ns = ns_of(now) });
	}
}

static void add_hits(struct cpuprofile *c)
{
	uint16_t event = add_event(c, "samples", EVENT_COUNT);
	for (uint32_t i = 0; i < c->nodes.n; i++) {
		uint64_t hits = c->nodes.at[i].hits;
		if (hits)
			profile_add_sample(c->into,
					   (struct sample){ .stack = stack_of(c, i),
							    .event = event,
							    .cpu = CPU_NONE,
							    .count = hits < UINT32_MAX
									     ? (uint32_t)hits
									     : UINT32_MAX,
							    .weight = hits });
	}
}

static struct kin_error *cpuprofile_read(struct bytes all, const struct input_opts *o,
					 struct profile_builder *into, struct source *source)
{
	struct cpuprofile c = { .into = into };
	(void)o;
	(void)source;
	c.j = scan_of((const char *)all.pos, bytes_left(&all));
	read_all(&c);
	link_nodes(&c);
	if (c.samples.n && c.deltas.n)
		add_timed(&c);
	else
		add_hits(&c);
	bool failed = c.j.failed;
	size_t at = (size_t)(c.j.pos - c.j.start);
	vec_free(&c.nodes);
	vec_free(&c.children);
	vec_free(&c.samples);
	vec_free(&c.deltas);
	vec_free(&c.path);
	map64_free(&c.node_ids);
	return failed ? err_new(KIN_ERROR_FORMAT,
				"%s: damaged or cut off at offset 0x%zx: only what stands before "
				"was "
				"read",
				all.name, at)
		      : NULL;
}

static bool has(const struct bytes *head, const char *text)
{
	size_t n = bytes_left(head) < FORMAT_HEAD ? bytes_left(head) : FORMAT_HEAD;
	return memmem(head->pos, n, text, strlen(text));
}

static bool cpuprofile_recognise(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return bytes_left(&head) && head.pos[0] == '{' && has(&head, "\"nodes\"") &&
	       has(&head, "\"callFrame\"") && has(&head, "\"functionName\"");
}

const struct format cpuprofile_format = {
	.about = { .name = "cpuprofile",
		   .what = "CPU profiles of Chrome's DevTools and node --cpu-prof",
		   .endings = (const char *const[]){ ".cpuprofile", NULL },
		   .is_read = true },
	.recognise = cpuprofile_recognise,
	.read = cpuprofile_read,
};

/* cpuprofile.c - V8's profiles. node --cpu-prof writes them as in the DevTools protocol (type
 * Profiler.Profile). Chrome's DevTools save them in pieces among the events of a trace: "Profile"
 * begins one, "ProfileChunk" has more of its nodes and samples. node --heap-prof writes
 * HeapProfiler.SamplingHeapProfile, with nested nodes; V8 before 5.8 wrote CPU profiles like that,
 * too, with the fields of callFrame in the nodes.
 *
 * A sample stands for the time up to the next one. Files without samples have for each node the
 * number of hits, or the bytes in use that it allocated. A function's script becomes its object. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/sort.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "formats/chrome/chrome_trace.h"
#include "formats/chrome/cpuprofile.h"
#include "formats/formats.h"
#include "input/input.h"
#include "input/json_scan.h"

struct cpuprofile_node {
	uint64_t id, hits; /* hits: or bytes */
	frameid frame;     /* 0: the root, which is no function */
	uint32_t parent;   /* index; NONE: none */
	stackid stack;
	bool has_stack;
	uint32_t seen; /* by break_rings() */
};

struct child_link { /* ids of nodes */
	uint64_t parent, child;
};

struct v8_profile { /* the profile of one thread */
	uint64_t pid, tid;
	VEC(struct cpuprofile_node) nodes;
	struct map64 node_ids;
	VEC(struct child_link) children;
	VEC(uint64_t) samples;
	VEC(double) deltas; /* microseconds */
	uint64_t start_us, end_us;
	bool is_heap;
	bool has_ring; /* nodes were their own ancestors */
};

struct cpuprofile {
	struct scan j;
	struct profile_builder *into;
	VEC(struct v8_profile *) all;
	struct strtab *keys;     /* "PID ID" of each profile of a trace */
	struct map64 profile_of; /* key -> index in all */
	VEC(char *) names;       /* of threads */
	struct map64 name_of;    /* MAP64_PAIR(pid, tid) -> index in names */
	VEC(uint32_t) path;
	bool is_trace;
};

struct v8_event { /* an event of a trace */
	char *name, *id, *thread;
	uint64_t pid, tid;
	struct v8_profile *piece; /* NULL: no piece of a profile */
};

enum { KEY = 32, MOST_NESTED = 1024 };

static bool is(const char *key, const char *what) { return !strcmp(key, what); }

/* ---- nodes ---- */

static frameid make_frame(struct cpuprofile *c, const char *name, const char *url, uint64_t line)
{
	struct frame f = { 0 };
	char *made = NULL;
	if (is(name, "(root)"))
		return 0;
	if (!*name)
		made = line ? xprintf("(anonymous):%llu", (unsigned long long)line)
			    : xprintf("(anonymous)");
	if (*url)
		f.object = profile_add_object_of(c->into, url, "", OBJECT_OTHER, false);
	f.name = profile_add_string(c->into, made ? made : name, strlen(made ? made : name));
	free(made);
	return profile_add_frame(c->into, f);
}

/* Converts a line of V8, which counts from 0; -1, for code of V8 itself, becomes 0: none. */
static uint64_t line_of(double number)
{
	return number >= 0 && number < UINT32_MAX ? (uint64_t)number + 1 : 0;
}

static void replace(char **text, struct scan *j)
{
	free(*text);
	*text = scan_string(j);
}

struct call_frame {
	char *name, *url;
	uint64_t line;
};

/* False: the key is no member of a call frame, and was not read. */
static bool read_frame_member(struct scan *j, const char *key, struct call_frame *f)
{
	if (is(key, "functionName"))
		replace(&f->name, j);
	else if (is(key, "url"))
		replace(&f->url, j);
	else if (is(key, "lineNumber"))
		f->line = line_of(scan_real(j));
	else
		return false;
	return true;
}

static void read_call_frame(struct scan *j, struct call_frame *f)
{
	char key[KEY];
	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key)))
		if (!read_frame_member(j, key, f))
			scan_skip(j);
}

static void read_nested(struct cpuprofile *c, struct v8_profile *p, uint32_t parent,
			unsigned depth);

/* Reads children: nested nodes, or ids of nodes. Returns the number of ids, which are then the last
 * ones of p->children. */
static size_t read_children(struct cpuprofile *c, struct v8_profile *p, uint32_t parent,
			    unsigned depth)
{
	size_t n = 0;
	bool any_nested = false;
	scan_enter(&c->j, '[');
	while (scan_element(&c->j)) {
		bool is_nested = scan_next(&c->j) == '{';
		any_nested |= is_nested;
		c->j.failed |= any_nested && n;
		if (is_nested) {
			read_nested(c, p, parent, depth + 1);
		} else {
			vec_push(&p->children, ((struct child_link){ 0, scan_number(&c->j) }));
			n++;
		}
	}
	return n;
}

static void read_nested(struct cpuprofile *c, struct v8_profile *p, uint32_t up, unsigned depth)
{
	char key[KEY];
	struct cpuprofile_node node = { .parent = up };
	struct call_frame frame = { 0 };
	uint64_t id = 0, parent = 0;
	size_t n_ids = 0, last = 0, at = p->nodes.n;
	bool has_parent = false;
	vec_push(&p->nodes, node);
	c->j.failed |= depth > MOST_NESTED;
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		if (is(key, "id")) {
			id = scan_number(&c->j);
		} else if (is(key, "parent")) {
			parent = scan_number(&c->j);
			has_parent = true;
		} else if (is(key, "hitCount")) {
			node.hits = scan_number(&c->j);
		} else if (is(key, "selfSize")) {
			node.hits = scan_number(&c->j);
			p->is_heap = true;
		} else if (is(key, "callFrame")) {
			read_call_frame(&c->j, &frame);
		} else if (is(key, "children")) {
			n_ids = read_children(c, p, (uint32_t)at, depth);
			last = p->children.n;
		} else if (!read_frame_member(&c->j, key, &frame)) {
			scan_skip(&c->j);
		}
	}
	if (frame.name)
		node.frame = make_frame(c, frame.name, frame.url ? frame.url : "", frame.line);
	free(frame.name);
	free(frame.url);
	for (size_t i = last - n_ids; i < last; i++)
		p->children.at[i].parent = id;
	if (has_parent)
		vec_push(&p->children, ((struct child_link){ parent, id }));
	node.id = id;
	p->nodes.at[at] = node;
}

static void read_node(struct cpuprofile *c, struct v8_profile *p) { read_nested(c, p, NONE, 0); }

/* ---- one profile ---- */

static void v8_profile_free(struct v8_profile *p)
{
	if (!p)
		return;
	vec_free(&p->nodes);
	vec_free(&p->children);
	vec_free(&p->samples);
	vec_free(&p->deltas);
	map64_free(&p->node_ids);
	free(p);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads a member of a profile. False: the key is no such member, and was not read. */
static bool read_part(struct cpuprofile *c, struct v8_profile *p, const char *key)
{
	char next = scan_next(&c->j);
	if (is(key, "startTime") && is_digit(next)) {
		p->start_us = scan_number(&c->j);
	} else if (is(key, "endTime") && is_digit(next)) {
		p->end_us = scan_number(&c->j);
	} else if (is(key, "nodes") && next == '[') {
		scan_enter(&c->j, '[');
		while (scan_element(&c->j))
			read_node(c, p);
	} else if (is(key, "head") && next == '{') {
		read_node(c, p);
	} else if (is(key, "samples") && next == '[') {
		scan_enter(&c->j, '[');
		while (scan_element(&c->j)) {
			if (scan_next(&c->j) == '{') /* of heaps: the nodes have the sums */
				scan_skip(&c->j);
			else
				vec_push(&p->samples, scan_number(&c->j));
		}
	} else if (is(key, "timeDeltas") && next == '[') {
		scan_enter(&c->j, '[');
		while (scan_element(&c->j))
			vec_push(&p->deltas, scan_real(&c->j));
	} else {
		return false;
	}
	return true;
}

/* ---- traces ---- */

static bool is_time(const char *key)
{
	return is(key, "startTime") || is(key, "endTime") || is(key, "timeDeltas");
}

/* Reads args.data of any event. */
static void read_data(struct cpuprofile *c, struct v8_event *e)
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		bool whole = is(key, "cpuProfile") && scan_next(&c->j) == '{';
		if ((whole || is_time(key)) && !e->piece)
			e->piece = xalloc(sizeof(*e->piece));
		if (!whole && (!is_time(key) || !read_part(c, e->piece, key)))
			scan_skip(&c->j);
		if (!whole)
			continue;
		scan_enter(&c->j, '{');
		while (scan_key(&c->j, key, sizeof(key)))
			if (!read_part(c, e->piece, key))
				scan_skip(&c->j);
	}
}

static void read_args(struct cpuprofile *c, struct v8_event *e)
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		char next = scan_next(&c->j);
		if (is(key, "data") && next == '{')
			read_data(c, e);
		else if (is(key, "name") && next == '"')
			replace(&e->thread, &c->j);
		else
			scan_skip(&c->j);
	}
}

/* Reads an id: a number, or a text. */
static void read_id(struct cpuprofile *c, struct v8_event *e)
{
	char next = scan_next(&c->j);
	if (next == '"') {
		replace(&e->id, &c->j);
	} else if (is_digit(next)) {
		free(e->id);
		e->id = xprintf("%llu", (unsigned long long)scan_number(&c->j));
	} else {
		scan_skip(&c->j);
	}
}

static struct v8_profile *find_profile(struct cpuprofile *c, const struct v8_event *e)
{
	char *key = xprintf("%" PRIu64 " %s", e->pid, e->id ? e->id : "");
	uint32_t *index = map64_at(&c->profile_of, strtab_add(c->keys, key));
	free(key);
	if (*index == NONE) {
		struct v8_profile *p = xalloc(sizeof(*p));
		p->pid = e->pid;
		p->tid = e->tid;
		*index = (uint32_t)c->all.n;
		vec_push(&c->all, p);
	}
	return c->all.at[*index];
}

#define APPEND(to, from)                                                                           \
	do {                                                                                       \
		for (size_t at = 0; at < (from)->n; at++)                                          \
			vec_push(to, (from)->at[at]);                                              \
	} while (0)

/* Adds a piece to its profile. The thread is that of the "Profile" event; other pieces come from
 * the sampling thread. */
static void add_piece(struct cpuprofile *c, struct v8_event *e)
{
	bool first = is(e->name, "Profile");
	struct v8_profile *piece = e->piece;
	if (!piece || (!first && !is(e->name, "ProfileChunk")))
		return;
	struct v8_profile *p = find_profile(c, e);
	if (first)
		p->tid = e->tid;
	p->start_us = piece->start_us ? piece->start_us : p->start_us;
	p->end_us = piece->end_us ? piece->end_us : p->end_us;
	APPEND(&p->nodes, &piece->nodes);
	APPEND(&p->children, &piece->children);
	APPEND(&p->samples, &piece->samples);
	APPEND(&p->deltas, &piece->deltas);
}

static void read_event(struct cpuprofile *c)
{
	char key[KEY];
	struct v8_event e = { 0 };
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		char next = scan_next(&c->j);
		if (is(key, "name") && next == '"')
			replace(&e.name, &c->j);
		else if (is(key, "id"))
			read_id(c, &e);
		else if (is(key, "pid") && is_digit(next))
			e.pid = scan_number(&c->j);
		else if (is(key, "tid") && is_digit(next))
			e.tid = scan_number(&c->j);
		else if (is(key, "args") && next == '{')
			read_args(c, &e);
		else
			scan_skip(&c->j);
	}
	if (e.name)
		add_piece(c, &e);
	if (e.name && e.thread && is(e.name, "thread_name")) {
		*map64_at(&c->name_of, MAP64_PAIR(e.pid, e.tid)) = (uint32_t)c->names.n;
		vec_push(&c->names, TAKE(e.thread));
	}
	v8_profile_free(e.piece);
	free(e.name);
	free(e.id);
	free(e.thread);
}

static void read_trace(struct cpuprofile *c)
{
	c->is_trace = true;
	scan_enter(&c->j, '[');
	while (scan_element(&c->j)) {
		if (scan_next(&c->j) == '{')
			read_event(c);
		else
			scan_skip(&c->j);
	}
}

/* ---- the file ---- */

/* A profile, a trace, or the protocol's answer that holds a profile. */
static void read_object(struct cpuprofile *c, struct v8_profile *p, unsigned depth)
{
	char key[KEY];
	scan_enter(&c->j, '{');
	while (scan_key(&c->j, key, sizeof(key))) {
		char next = scan_next(&c->j);
		if (is(key, "traceEvents") && next == '[')
			read_trace(c);
		else if ((is(key, "profile") || is(key, "result")) && next == '{' && depth < 2)
			read_object(c, p, depth + 1);
		else if (!read_part(c, p, key))
			scan_skip(&c->j);
	}
}

static void read_all(struct cpuprofile *c)
{
	struct v8_profile *p = xalloc(sizeof(*p));
	vec_push(&c->all, p);
	if (scan_next(&c->j) == '[')
		read_trace(c);
	else
		read_object(c, p, 0);
}

/* ---- samples ---- */

/* Makes a root of a node in each ring of nodes that are their own ancestors. */
static void break_rings(struct v8_profile *p)
{
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		uint32_t at = i, *up;
		while (!p->nodes.at[at].seen) {
			p->nodes.at[at].seen = i + 1;
			up = &p->nodes.at[at].parent;
			if (*up == NONE)
				break;
			if (p->nodes.at[*up].seen == i + 1) {
				*up = NONE;
				p->has_ring = true;
				break;
			}
			at = *up;
		}
	}
}

static void link_nodes(struct v8_profile *p)
{
	for (size_t i = 0; i < p->nodes.n; i++)
		*map64_at(&p->node_ids, p->nodes.at[i].id) = (uint32_t)i;
	for (size_t i = 0; i < p->children.n; i++) {
		uint32_t parent = map64_get(&p->node_ids, p->children.at[i].parent);
		uint32_t child = map64_get(&p->node_ids, p->children.at[i].child);
		if (parent != NONE && child != NONE && p->nodes.at[child].parent == NONE)
			p->nodes.at[child].parent = parent;
	}
	break_rings(p);
}

static stackid stack_of(struct cpuprofile *c, struct v8_profile *p, uint32_t node)
{
	stackid stack = 0;
	c->path.n = 0;
	for (; node != NONE; node = p->nodes.at[node].parent) {
		if (p->nodes.at[node].has_stack) {
			stack = p->nodes.at[node].stack;
			break;
		}
		vec_push(&c->path, node);
	}
	while (c->path.n) {
		struct cpuprofile_node *n = &p->nodes.at[c->path.at[--c->path.n]];
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

/* The longest time whose nanoseconds fit 64 bits. */
static const double MOST_US = 9e15;

static uint64_t ns_of(double us)
{
	return us <= 0 ? 0 : us > MOST_US ? (uint64_t)MOST_US * 1000 : (uint64_t)(us * 1000 + 0.5);
}

/* The samples' times, in microseconds; to be freed. */
static double *times_of(const struct v8_profile *p)
{
	double *us = xrealloc(NULL, p->samples.n, sizeof(*us)), now = (double)p->start_us;
	for (size_t i = 0; i < p->samples.n; i++) {
		double delta = i < p->deltas.n ? p->deltas.at[i] : 0;
		now += delta > MOST_US ? MOST_US : delta < -MOST_US ? -MOST_US : delta;
		us[i] = now;
	}
	return us;
}

/* The samples' order by time, as Chrome shows them: V8 may write them out of order, with negative
 * differences. To be freed. */
static struct sort_key *order_of(const double *us, size_t n)
{
	struct sort_key *order = xrealloc(NULL, n, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = (struct sort_key){ sort_key_of_double(us[i]), (uint32_t)i };
	sort_keys(order, n);
	return order;
}

static void add_timed(struct cpuprofile *c, struct v8_profile *p, taskid task)
{
	uint16_t event = add_event(c, "time", EVENT_NS);
	size_t n = p->samples.n;
	double *us = times_of(p);
	struct sort_key *order = order_of(us, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = order[i].index;
		uint32_t node = map64_get(&p->node_ids, p->samples.at[at]);
		double next = i + 1 < n ? us[order[i + 1].index] : (double)p->end_us;
		profile_add_sample(
			c->into, (struct sample){ .stack = node == NONE ? 0 : stack_of(c, p, node),
						  .task = task,
						  .event = event,
						  .cpu = CPU_NONE,
						  .count = 1,
						  .weight = ns_of(next - us[at]),
						  .time_ns = ns_of(us[at]) });
	}
	free(order);
	free(us);
}

static void add_hits(struct cpuprofile *c, struct v8_profile *p, taskid task)
{
	uint16_t event = add_event(c, p->is_heap ? "bytes" : "samples", EVENT_COUNT);
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		uint64_t hits = p->nodes.at[i].hits;
		if (hits)
			profile_add_sample(c->into,
					   (struct sample){ .stack = stack_of(c, p, i),
							    .task = task,
							    .event = event,
							    .cpu = CPU_NONE,
							    .count = p->is_heap ? 1
								     : hits < UINT32_MAX
									     ? (uint32_t)hits
									     : UINT32_MAX,
							    .weight = hits });
	}
}

static taskid task_of(struct cpuprofile *c, const struct v8_profile *p)
{
	struct task t = { .pid = (uint32_t)p->pid, .tid = (uint32_t)p->tid };
	uint32_t name = map64_get(&c->name_of, MAP64_PAIR(p->pid, p->tid));
	if (name != NONE)
		t.comm = profile_add_string(c->into, c->names.at[name], strlen(c->names.at[name]));
	return profile_add_task(c->into, t);
}

static bool add_profile(struct cpuprofile *c, struct v8_profile *p)
{
	link_nodes(p);
	if (!p->nodes.n)
		return false;
	taskid task = p->pid ? task_of(c, p) : 0;
	if (p->samples.n && p->deltas.n)
		add_timed(c, p, task);
	else
		add_hits(c, p, task);
	return true;
}

static void cpuprofile_done(struct cpuprofile *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		v8_profile_free(c->all.at[i]);
	for (size_t i = 0; i < c->names.n; i++)
		free(c->names.at[i]);
	vec_free(&c->all);
	vec_free(&c->names);
	strtab_free(c->keys);
	map64_free(&c->profile_of);
	map64_free(&c->name_of);
	vec_free(&c->path);
}

static struct kin_error *cpuprofile_read(struct bytes all, const struct input_opts *o,
					 struct profile_builder *into, struct source *source)
{
	struct cpuprofile c = { .into = into, .keys = strtab_new() };
	bool any = false;
	(void)o;
	(void)source;
	c.j = scan_of((const char *)all.pos, bytes_left(&all));
	read_all(&c);
	scan_end(&c.j);
	for (size_t i = 0; i < c.all.n; i++)
		any |= add_profile(&c, c.all.at[i]);
	bool failed = c.j.failed, empty = c.is_trace && !any, has_ring = false;
	for (size_t i = 0; i < c.all.n; i++)
		has_ring |= c.all.at[i]->has_ring;
	size_t at = (size_t)(c.j.pos - c.j.start);
	cpuprofile_done(&c);
	if (failed)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: damaged or cut off at offset 0x%zx: only what stands before "
			       "was read",
			       all.name, at);
	if (has_ring)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: damaged: nodes of its tree are their own callers: the ring was "
			       "cut at one of them",
			       all.name);
	return empty ? err_new(KIN_ERROR_FORMAT,
			       "%s: a trace without CPU profiles (V8's category "
			       "disabled-by-default-v8.cpu_profiler): slices are not samples",
			       all.name)
		     : NULL;
}

static bool cpuprofile_recognise(struct bytes head, const struct input_opts *o)
{
	(void)o;
	char first = format_head_begins(head);
	bool tree = format_head_has(&head, "\"head\"") && format_head_has(&head, "\"hitCount\"");
	bool profile =
		((format_head_has(&head, "\"nodes\"") || format_head_has(&head, "\"selfSize\"")) &&
		 format_head_has(&head, "\"callFrame\"")) ||
		tree;
	profile = profile && format_head_has(&head, "\"functionName\"");
	bool events = format_head_has(&head, "\"ph\"") && format_head_has(&head, "\"ts\"") &&
		      format_head_has(&head, "\"pid\"");
	/* Excludes the output of chrome_trace.c, which has slices. */
	bool trace = format_head_has(&head, "\"traceEvents\"") &&
		     !format_head_has(&head, CHROME_TRACE_HEAD);
	return (first == '{' && (profile || trace)) || (first == '[' && events);
}

const struct format cpuprofile_format = {
	.about = { .name = "cpuprofile",
		   .what = "profiles of VS Code, Chrome's DevTools and node, of time and of "
			   "memory, also in traces",
		   .endings = (const char *const[]){ ".cpuprofile", ".heapprofile", NULL },
		   .is_read = true,
		   .is_written = true },
	.recognise = cpuprofile_recognise,
	.read = cpuprofile_read,
	.write = cpuprofile_write,
};

/* firefox_read.c - reads processed profiles of any version.
 *
 * A profile consists of tables whose columns are arrays, and of threads whose samples refer to
 * them. Tables are in each thread, or, since version 55, in "shared" for all of them, in any order.
 * So their positions are noted first, and each table is read after those that it refers to.
 * Functions keep their source lines (given_places.h). Addresses are not kept. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "formats/firefox/firefox.h"
#include "formats/given_places.h"
#include "formats/tracks.h"
#include "input/input.h"
#include "input/json_scan.h"

enum { KEY = 40 };

struct json_spot { /* a value in the file, to be read later */
	struct scan at;
	bool there;
};

struct column {
	VEC(uint32_t) at; /* NONE: null, or no such number */
};

struct firefox_tables { /* positions of the tables */
	struct json_spot samples, frames, stacks, functions, resources, strings, sources;
};

struct firefox_stacks { /* what samples refer to */
	VEC(strid) strings;
	VEC(frameid) frames;
	VEC(stackid) at;
};

struct firefox_reader {
	struct scan j;
	struct profile_builder *into;
	struct given_places *places;
	struct json_spot libs, shared, threads;
	struct firefox_tables common;
	struct strtab *names; /* of places */
	VEC(strid) lib_paths;
	double start_ms; /* start of the samples' times; 0: not known */
	bool damaged;    /* an index refers to nothing */
	struct firefox_stacks common_stacks;
	bool has_common_strings, has_common; /* common_stacks.strings are there, and all of it */
	/* State of the thread being read: */
	struct firefox_tables own;
	struct firefox_stacks own_stacks, *stacks; /* one of the two */
	bool has_strings;                          /* own_stacks.strings is used */
	char *name, *pid, *tid, *event;            /* event: NULL if kin did not write it */
};

static bool is(const char *key, const char *what) { return !strcmp(key, what); }

static void replace(char **text, struct scan *j)
{
	free(*text);
	*text = scan_null(j) ? NULL : scan_string(j);
}

static struct json_spot spot_here(struct scan *j)
{
	struct json_spot s = { *j, true };
	scan_skip(j);
	return s;
}

/* Takes over an error in a part of the file. */
static void leave(struct firefox_reader *r, const struct scan *j)
{
	if (j->failed && !r->j.failed)
		r->j = *j;
}

/* ---- columns ---- */

static void read_column(struct scan *j, struct column *ret)
{
	ret->at.n = 0;
	scan_enter(j, '[');
	while (scan_element(j)) {
		double v = scan_null(j) ? -1 : scan_real(j);
		vec_push(&ret->at, v >= 0 && v < NONE ? (uint32_t)v : NONE);
	}
}

static uint32_t column_at(const struct column *c, size_t i)
{
	return i < c->at.n ? c->at.at[i] : NONE;
}

struct firefox_wanted { /* a column of a table */
	const char *key;
	struct column *into;
};

static void read_table(struct firefox_reader *r, const struct json_spot *spot,
		       const struct firefox_wanted *wanted)
{
	char key[KEY];
	if (!spot->there)
		return;
	struct scan j = spot->at;
	scan_enter(&j, '{');
	while (scan_key(&j, key, sizeof(key))) {
		const struct firefox_wanted *w = wanted;
		while (w->key && !is(key, w->key))
			w++;
		if (w->key && !scan_null(&j))
			read_column(&j, w->into);
		else if (!w->key)
			scan_skip(&j);
	}
	leave(r, &j);
}

static void read_strings(struct firefox_reader *r, const struct json_spot *spot,
			 struct firefox_stacks *into)
{
	into->strings.n = 0;
	if (!spot->there)
		return;
	struct scan j = spot->at;
	scan_enter(&j, '[');
	while (scan_element(&j)) {
		char *text = scan_string(&j);
		if (text)
			vec_push(&into->strings, strtab_add(r->names, text));
		free(text);
	}
	leave(r, &j);
}

static strid string_at(struct firefox_reader *r, uint32_t i)
{
	const struct firefox_stacks *s = r->has_strings ? &r->own_stacks : &r->common_stacks;
	if (i < s->strings.n)
		return s->strings.at[i];
	r->damaged |= i != NONE;
	return 0;
}

/* ---- libraries ---- */

static void read_lib(struct firefox_reader *r, struct scan *j)
{
	char key[KEY], *path = NULL, *name = NULL;
	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key))) {
		if (is(key, "path"))
			replace(&path, j);
		else if (is(key, "name"))
			replace(&name, j);
		else
			scan_skip(j);
	}
	bool has_path = path && *path;
	vec_push(&r->lib_paths, strtab_add(r->names, has_path ? path : name ? name : ""));
	free(path);
	free(name);
}

static void read_libs(struct firefox_reader *r)
{
	if (!r->libs.there)
		return;
	struct scan j = r->libs.at;
	scan_enter(&j, '[');
	while (scan_element(&j))
		read_lib(r, &j);
	leave(r, &j);
}

/* ---- functions, frames, stacks ---- */

struct firefox_functions {
	struct column name, resource, file, source, lib, resource_name, source_file;
	VEC(uint32_t) ids; /* from given_function(); NONE: not made yet */
};

static strid or_unknown(struct firefox_reader *r, strid name)
{
	return name ? name : strtab_add(r->names, "[unknown]");
}

static uint32_t object_of(struct firefox_reader *r, const struct firefox_functions *f,
			  uint32_t function)
{
	uint32_t resource = column_at(&f->resource, function);
	uint32_t lib = column_at(&f->lib, resource);
	strid path = lib < r->lib_paths.n ? r->lib_paths.at[lib]
					  : string_at(r, column_at(&f->resource_name, resource));
	return given_object(r->places, or_unknown(r, path), lib == 0);
}

static strid file_of(struct firefox_reader *r, const struct firefox_functions *f, uint32_t function)
{
	uint32_t source = column_at(&f->source, function);
	return string_at(r, source != NONE ? column_at(&f->source_file, source)
					   : column_at(&f->file, function));
}

static uint32_t function_id(struct firefox_reader *r, struct firefox_functions *f,
			    uint32_t function)
{
	if (function >= f->name.at.n) {
		r->damaged = true;
		return given_function(r->places, given_object(r->places, or_unknown(r, 0), false),
				      or_unknown(r, 0), 0);
	}
	while (f->ids.n <= function)
		vec_push(&f->ids, NONE);
	if (f->ids.at[function] == NONE) {
		strid name = string_at(r, column_at(&f->name, function));
		f->ids.at[function] = given_function(r->places, object_of(r, f, function),
						     or_unknown(r, name), file_of(r, f, function));
	}
	return f->ids.at[function];
}

static struct firefox_functions read_functions(struct firefox_reader *r,
					       const struct json_spot *functions,
					       const struct json_spot *resources,
					       const struct json_spot *sources)
{
	struct firefox_functions f = { 0 };
	read_table(r, functions,
		   (const struct firefox_wanted[]){ { "name", &f.name },
						    { "resource", &f.resource },
						    { "fileName", &f.file },
						    { "source", &f.source },
						    { NULL, NULL } });
	read_table(r, resources,
		   (const struct firefox_wanted[]){
			   { "lib", &f.lib }, { "name", &f.resource_name }, { NULL, NULL } });
	read_table(
		r, sources,
		(const struct firefox_wanted[]){ { "filename", &f.source_file }, { NULL, NULL } });
	return f;
}

static void functions_done(struct firefox_functions *f)
{
	vec_free(&f->name.at);
	vec_free(&f->resource.at);
	vec_free(&f->file.at);
	vec_free(&f->source.at);
	vec_free(&f->lib.at);
	vec_free(&f->resource_name.at);
	vec_free(&f->source_file.at);
	vec_free(&f->ids);
}

static void make_frames(struct firefox_reader *r, const struct json_spot *frames,
			struct firefox_functions *f)
{
	struct column function = { 0 }, line = { 0 };
	read_table(r, frames,
		   (const struct firefox_wanted[]){
			   { "func", &function }, { "line", &line }, { NULL, NULL } });
	r->stacks->frames.n = 0;
	for (size_t i = 0; i < function.at.n; i++) {
		uint32_t at = column_at(&line, i), of = function.at.at[i];
		uint32_t id = function_id(r, f, of);
		strid file = of < f->name.at.n ? file_of(r, f, of) : 0;
		vec_push(&r->stacks->frames, given_frame(r->places, id, file, at == NONE ? 0 : at));
	}
	vec_free(&function.at);
	vec_free(&line.at);
}

/* A caller precedes its callees. A stack that refers to itself or a later one has no caller. */
static void make_stacks(struct firefox_reader *r, const struct json_spot *stacks)
{
	struct firefox_stacks *s = r->stacks;
	struct column frame = { 0 }, caller = { 0 };
	read_table(r, stacks,
		   (const struct firefox_wanted[]){
			   { "frame", &frame }, { "prefix", &caller }, { NULL, NULL } });
	s->at.n = 0;
	for (size_t i = 0; i < frame.at.n; i++) {
		uint32_t from = column_at(&caller, i), at = frame.at.at[i];
		bool is_root = from == NONE || from >= i;
		r->damaged |= (from != NONE && from >= i) || at >= s->frames.n;
		stackid stack = is_root ? 0 : s->at.at[from];
		if (at < s->frames.n)
			stack = profile_add_stack(r->into, stack, s->frames.at[at]);
		vec_push(&s->at, stack);
	}
	vec_free(&frame.at);
	vec_free(&caller.at);
}

/* ---- samples ---- */

struct samples_table {
	struct column stack;
	VEC(double) times, weights; /* ms; NaN: no weight */
	char *weight_type;
	bool are_deltas;
};

static void read_reals(struct scan *j, struct samples_table *s, bool times)
{
	double sum = 0;
	if (scan_null(j))
		return;
	scan_enter(j, '[');
	while (scan_element(j)) {
		double v = scan_null(j) ? 0 : scan_real(j);
		sum += v;
		if (times)
			vec_push(&s->times, s->are_deltas ? sum : v);
		else
			vec_push(&s->weights, v);
	}
}

static void read_samples(struct firefox_reader *r, const struct json_spot *spot,
			 struct samples_table *s)
{
	char key[KEY];
	if (!spot->there)
		return;
	struct scan j = spot->at;
	scan_enter(&j, '{');
	while (scan_key(&j, key, sizeof(key))) {
		if (is(key, "stack")) {
			read_column(&j, &s->stack);
		} else if (is(key, "time") || is(key, "timeDeltas")) {
			s->are_deltas = key[4] == 'D';
			s->times.n = 0;
			read_reals(&j, s, true);
		} else if (is(key, "weight")) {
			s->weights.n = 0;
			read_reals(&j, s, false);
		} else if (is(key, "weightType")) {
			replace(&s->weight_type, &j);
		} else {
			scan_skip(&j);
		}
	}
	leave(r, &j);
}

static uint16_t add_event(struct firefox_reader *r, const char *type, bool has_times)
{
	bool is_time = is(type, "tracing-ms");
	const char *name = r->event            ? r->event
			   : is_time           ? "time"
			   : is(type, "bytes") ? "bytes"
					       : "samples";
	struct event e = { .unit = is_time ? EVENT_NS : EVENT_COUNT,
			   .kind = is_time ? event_kind_called(name) : EVENT_ON_CPU,
			   .stacks = true,
			   .is_timeless = !has_times };
	e.name = profile_add_string(r->into, name, strlen(name));
	return profile_add_event(r->into, e);
}

static uint32_t number_of(const char *text)
{
	unsigned long v = text ? strtoul(text, NULL, 10) : 0;
	return v < UINT32_MAX ? (uint32_t)v : 0;
}

static uint64_t whole(double v)
{
	const double most = 9e18;
	return v >= most ? (uint64_t)most : v > 0 ? (uint64_t)(v + 0.5) : 0;
}

/* The time of a sample. The file's times start with the recording: they are added to the wall-clock
 * time of that, or, if that is not known, to 1 s. */
static uint64_t time_of(const struct firefox_reader *r, const struct samples_table *s, size_t i)
{
	const double ns_per_ms = 1e6;
	uint64_t start = r->start_ms > 0 ? whole(r->start_ms) * 1000000 : 1000000000;
	return i < s->times.n ? start + whole(s->times.at[i] * ns_per_ms) : 0;
}

static void add_samples(struct firefox_reader *r, const struct samples_table *s)
{
	const char *type = s->weight_type ? s->weight_type : "samples";
	bool is_time = is(type, "tracing-ms");
	uint16_t event = add_event(r, type, s->times.n);
	struct task task = { .pid = number_of(r->pid), .tid = number_of(r->tid) };
	const char *name = r->name ? r->name : "";
	task.comm = profile_add_string(r->into, name, track_thread_length(name, r->event));
	taskid id = profile_add_task(r->into, task);
	for (size_t i = 0; i < s->stack.at.n; i++) {
		uint32_t stack = s->stack.at.at[i];
		double weight = i < s->weights.n ? s->weights.at[i] : 1;
		r->damaged |= stack != NONE && stack >= r->stacks->at.n;
		if (stack >= r->stacks->at.n)
			continue;
		uint64_t v = whole(is_time ? weight * 1e6 : weight);
		profile_add_sample(r->into, (struct sample){ .stack = r->stacks->at.at[stack],
							     .task = id,
							     .event = event,
							     .cpu = CPU_NONE,
							     .count = 1,
							     .weight = v,
							     .time_ns = time_of(r, s, i) });
	}
}

/* ---- threads ---- */

static bool note_table(struct firefox_tables *t, const char *key, struct scan *j)
{
	struct json_spot *const spots[] = { &t->samples,   &t->frames,  &t->stacks,  &t->functions,
					    &t->resources, &t->strings, &t->strings, &t->sources };
	static const char *const keys[] = { "samples",     "frameTable",    "stackTable",
					    "funcTable",   "resourceTable", "stringArray",
					    "stringTable", "sources" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (is(key, keys[i])) {
			*spots[i] = spot_here(j);
			return true;
		}
	return false;
}

/* Reads a number, or a string that begins with one. */
static void replace_number(char **text, struct scan *j)
{
	struct scan ahead = *j;
	char *string = scan_string(&ahead);
	free(*text);
	if (string) {
		*j = ahead;
		*text = string;
	} else {
		*text = scan_null(j) ? NULL : xprintf("%.0f", scan_real(j));
	}
}

static void make_strings(struct firefox_reader *r, bool are_own)
{
	r->has_strings = are_own;
	if (are_own)
		read_strings(r, &r->own.strings, &r->own_stacks);
	else if (!r->has_common_strings)
		read_strings(r, &r->common.strings, &r->common_stacks);
	r->has_common_strings |= !are_own;
}

/* Makes frames and stacks for the samples of a thread, all from its own tables or all from common
 * ones; only strings may be common to own tables. Common tables are read once, however many threads
 * there are. */
static void make_tables(struct firefox_reader *r)
{
	bool are_own = r->own.stacks.there;
	const struct firefox_tables *t = are_own ? &r->own : &r->common;
	r->stacks = are_own ? &r->own_stacks : &r->common_stacks;
	if (!are_own && r->has_common)
		return;
	make_strings(r, r->own.strings.there && are_own);
	struct firefox_functions f = read_functions(r, &t->functions, &t->resources, &t->sources);
	make_frames(r, &t->frames, &f);
	make_stacks(r, &t->stacks);
	functions_done(&f);
	r->has_common |= !are_own;
}

static void make_thread(struct firefox_reader *r)
{
	struct samples_table samples = { 0 };
	make_tables(r);
	read_samples(r, &r->own.samples, &samples);
	if (samples.stack.at.n)
		add_samples(r, &samples);
	vec_free(&samples.stack.at);
	vec_free(&samples.times);
	vec_free(&samples.weights);
	free(samples.weight_type);
}

static void read_thread(struct firefox_reader *r, struct scan *j)
{
	char key[KEY];
	r->own = (struct firefox_tables){ 0 };
	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key))) {
		if (note_table(&r->own, key, j))
			continue;
		if (is(key, "name"))
			replace(&r->name, j);
		else if (is(key, "pid"))
			replace_number(&r->pid, j);
		else if (is(key, "tid"))
			replace_number(&r->tid, j);
		else if (is(key, TRACK_EVENT) && scan_next(j) == '"')
			replace(&r->event, j);
		else
			scan_skip(j);
	}
	make_thread(r);
	free(TAKE(r->name));
	free(TAKE(r->pid));
	free(TAKE(r->tid));
	free(TAKE(r->event));
}

static void read_threads(struct firefox_reader *r)
{
	if (!r->threads.there)
		return;
	struct scan j = r->threads.at;
	scan_enter(&j, '[');
	while (scan_element(&j))
		read_thread(r, &j);
	leave(r, &j);
}

/* ---- the whole file ---- */

static void read_meta(struct firefox_reader *r)
{
	char key[KEY];
	scan_enter(&r->j, '{');
	while (scan_key(&r->j, key, sizeof(key))) {
		if (is(key, "startTime"))
			r->start_ms = scan_real(&r->j);
		else
			scan_skip(&r->j);
	}
}

static void read_shared(struct firefox_reader *r)
{
	char key[KEY];
	scan_enter(&r->j, '{');
	while (scan_key(&r->j, key, sizeof(key)))
		if (!note_table(&r->common, key, &r->j))
			scan_skip(&r->j);
}

static void find_parts(struct firefox_reader *r)
{
	char key[KEY];
	scan_enter(&r->j, '{');
	while (scan_key(&r->j, key, sizeof(key))) {
		if (is(key, "meta"))
			read_meta(r);
		else if (is(key, "shared"))
			read_shared(r);
		else if (is(key, "libs"))
			r->libs = spot_here(&r->j);
		else if (is(key, "threads"))
			r->threads = spot_here(&r->j);
		else
			scan_skip(&r->j);
	}
}

static void stacks_done(struct firefox_stacks *s)
{
	vec_free(&s->strings);
	vec_free(&s->frames);
	vec_free(&s->at);
}

static struct kin_error *read_plain(struct bytes all, struct profile_builder *into)
{
	struct firefox_reader r = { .into = into };
	r.j = scan_of((const char *)all.pos, bytes_left(&all));
	r.places = given_new(into, &all);
	r.names = given_strings(r.places);
	find_parts(&r);
	scan_end(&r.j);
	read_libs(&r);
	read_threads(&r);
	given_finish(r.places);
	vec_free(&r.lib_paths);
	stacks_done(&r.own_stacks);
	stacks_done(&r.common_stacks);
	return r.j.failed || r.damaged
		       ? err_new(KIN_ERROR_FORMAT,
				 "%s: damaged or cut off at offset 0x%zx: only a part of it was "
				 "read",
				 all.name, (size_t)(r.j.pos - r.j.start))
		       : NULL;
}

struct kin_error *firefox_read(struct bytes all, const struct input_opts *o,
			       struct profile_builder *into, struct source *source)
{
	(void)o;
	(void)source;
	return read_plain(all, into);
}

static bool begins_so(struct bytes head)
{
	static const char *const words[] = { "\"preprocessedProfileVersion\"", "\"stackwalk\"",
					     "\"categories\"" };
	if (format_head_begins(head) != '{' || !format_head_has(&head, "\"meta\""))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (format_head_has(&head, words[i]))
			return true;
	return false;
}

bool firefox_recognise(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return begins_so(head);
}

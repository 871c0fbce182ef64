/* callgrind_read.c - reads callgrind.out of Valgrind and of other tools that follow its
 * specification, and cachegrind.out, which has no calls.
 *
 * Names may be numbers that an earlier line defined; positions may be relative to the line before.
 * A file may have several parts, which are added up; the parts of one thread make stacks together
 * (callgrind_stacks.c). "calls=" counts calls, unless the file says that it counts samples. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/err.h"
#include "base/map64.h"
#include "base/records.h"
#include "base/strtab.h"
#include "formats/callgrind/callgrind.h"
#include "formats/callgrind/callgrind_calls.h"
#include "formats/given_places.h"
#include "input/input.h"

enum { MOST_EVENTS = 64, MOST_NAME = 1 << 20 };

struct callgrind_line {
	const char *at, *end;
};

/* Sums by event, to see whether costs are missing. */
struct callgrind_sums {
	uint64_t read[MOST_EVENTS];
	/* The "summary:" or "totals:" of all parts; 0: not given. */
	uint64_t summary[MOST_EVENTS], totals[MOST_EVENTS];
	bool has_end; /* the last part ends with "totals:", after its costs */
};

struct callgrind_names { /* names of one kind, by number */
	struct map64 ids;
};

struct callgrind_reader {
	struct bytes b;
	struct profile_builder *into;
	struct given_places *places;
	struct strtab *strings;
	struct callgrind_calls calls; /* of the current thread */
	struct records cost_ids;
	VEC(uint16_t) events;
	VEC(strid) names; /* of the events */
	VEC(strid) times; /* names of events that are times */
	struct callgrind_names objects, files, functions;
	struct map64 object_ids; /* string -> given_object() */
	strid object, file, own_file, function_name;
	strid callee_object, callee_file;
	uint32_t function, callee; /* NONE: none */
	uint64_t n_calls;          /* from "calls=", for the cost line after it */
	bool is_call, has_function;
	bool has_address, has_line;
	uint64_t address, source_line; /* of the previous line */
	strid command;
	struct task task;
	bool are_samples; /* calls= counts samples */
	bool is_ours, is_valgrinds;
	struct callgrind_sums sums;
	size_t n_lines, bad_line; /* 0: none */
};

/* ---- pieces of lines ---- */

static bool next_line(struct callgrind_reader *r, struct callgrind_line *ret)
{
	size_t n = bytes_left(&r->b);
	if (!n)
		return false;
	const uint8_t *end = memchr(r->b.pos, '\n', n);
	*ret = (struct callgrind_line){ (const char *)r->b.pos,
					(const char *)(end ? end : r->b.end) };
	r->b.pos = end ? end + 1 : r->b.end;
	if (ret->end > ret->at && ret->end[-1] == '\r')
		ret->end--;
	r->n_lines++;
	return true;
}

static void skip_blanks(struct callgrind_line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
		l->at++;
}

static bool take(struct callgrind_line *l, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(l->end - l->at) < n || memcmp(l->at, word, n) != 0)
		return false;
	l->at += n;
	return true;
}

static bool is_digit(const struct callgrind_line *l)
{
	return l->at < l->end && *l->at >= '0' && *l->at <= '9';
}

/* A number, decimal, or hexadecimal after 0x; the largest number if it does not fit. */
static bool take_number(struct callgrind_line *l, uint64_t *ret)
{
	uint64_t base = take(l, "0x") ? 16 : 10, value = 0;
	const char *start = l->at;
	for (; l->at < l->end && isxdigit((unsigned char)*l->at); l->at++) {
		uint64_t digit = *l->at <= '9' ? (uint64_t)(*l->at - '0')
					       : (uint64_t)((*l->at | 0x20) - 'a' + 10);
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			value = UINT64_MAX;
	}
	*ret = value;
	return l->at > start;
}

static strid add_text(struct callgrind_reader *r, struct callgrind_line l)
{
	size_t n = (size_t)(l.end - l.at);
	const char *nul = n ? memchr(l.at, '\0', n) : NULL;
	n = nul ? (size_t)(nul - l.at) : n;
	return strtab_addn(r->strings, l.at, n < MOST_NAME ? n : MOST_NAME);
}

/* "(3) name", "(3)", "name" */
static strid take_name(struct callgrind_reader *r, struct callgrind_names *names,
		       struct callgrind_line l)
{
	struct callgrind_line number = l;
	uint64_t id;
	if (!take(&number, "(") || !take_number(&number, &id) || !take(&number, ")"))
		return add_text(r, l);
	skip_blanks(&number);
	uint32_t *known = map64_at(&names->ids, id);
	if (number.at < number.end || *known == NONE)
		*known = add_text(r, number);
	return *known;
}

/* ---- the tables ---- */

static bool is_unknown(const char *name) { return !*name || !strcmp(name, CALLGRIND_NONE); }

/* The program is the first word of the command. */
static bool is_main(const struct callgrind_reader *r, const char *path)
{
	const char *command = base_name(strtab_get(r->strings, r->command));
	return *command && !strcmp(base_name(path), command);
}

static uint32_t add_object(struct callgrind_reader *r, strid object)
{
	uint32_t *known = map64_at(&r->object_ids, object);
	const char *path = strtab_get(r->strings, object);
	if (*known == NONE)
		*known = is_unknown(path) ? given_object(r->places,
							 strtab_add(r->strings, "[unknown]"), false)
					  : given_object(r->places, object, is_main(r, path));
	return *known;
}

/* The string of a file; 0: not known. */
static strid known_file(const struct callgrind_reader *r, strid file)
{
	return is_unknown(strtab_get(r->strings, file)) ? 0 : file;
}

static uint32_t add_function(struct callgrind_reader *r, strid object, strid file, strid name)
{
	uint32_t in = add_object(r, object);
	uint32_t id =
		given_function(r->places, in, name ? name : strtab_add(r->strings, "[unknown]"),
			       known_file(r, file));
	if (r->is_ours && !strcmp(strtab_get(r->strings, name), CALLGRIND_ROOT))
		r->calls.no_caller = id;
	return id;
}

static uint32_t function_here(struct callgrind_reader *r)
{
	if (r->function == NONE)
		r->function = add_function(r, r->object, r->own_file, r->function_name);
	return r->function;
}

static uint64_t hash_cost(const void *of)
{
	const struct callgrind_cost *c = of;
	return records_mix(records_mix(c->function, c->callee), c->frame);
}

static bool same_cost(const void *x, const void *y)
{
	const struct callgrind_cost *a = x, *b = y;
	return a->function == b->function && a->callee == b->callee && a->frame == b->frame;
}

static const struct records_kind cost_kind = { sizeof(struct callgrind_cost), hash_cost,
					       same_cost };

static uint64_t *values_of(struct callgrind_reader *r, struct callgrind_cost cost)
{
	struct callgrind_calls *c = &r->calls;
	uint32_t id = records_add(&r->cost_ids, &cost_kind, c->at.at, &cost, (uint32_t)c->at.n);
	if (id == c->at.n) {
		vec_push(&c->at, cost);
		vec_reserve(&c->values, r->events.n);
		memset(c->values.at + c->values.n, 0, r->events.n * sizeof(*c->values.at));
		c->values.n += r->events.n;
	}
	return c->values.at + id * r->events.n;
}

/* Makes stacks of a thread's costs, and clears them. */
static void end_thread(struct callgrind_reader *r)
{
	struct callgrind_calls *c = &r->calls;
	c->n_functions = given_n_functions(r->places);
	c->n_events = r->events.n;
	c->events = r->events.at;
	bool is_known = r->task.comm || r->task.pid || r->task.tid;
	callgrind_add_stacks(c, r->into, is_known ? profile_add_task(r->into, r->task) : 0);
	c->at.n = c->values.n = 0;
	records_free(&r->cost_ids);
}

/* ---- the header ---- */

static void add_event(struct callgrind_reader *r, struct callgrind_line name)
{
	struct event e = { .stacks = true, .is_timeless = true, .is_assembled = true };
	strid id = add_text(r, name);
	const char *text = strtab_get(r->strings, id);
	for (size_t i = 0; i < r->times.n; i++)
		if (r->times.at[i] == id)
			e.unit = EVENT_NS;
	e.name = profile_add_string(r->into, text, strlen(text));
	vec_push(&r->events, profile_add_event(r->into, e));
	vec_push(&r->names, id);
}

/* "event: NAME : LONG NAME" */
static void read_long_name(struct callgrind_reader *r, struct callgrind_line l)
{
	skip_blanks(&l);
	struct callgrind_line name = { l.at, l.at };
	while (name.end < l.end && *name.end != ' ')
		name.end++;
	l.at = name.end;
	if (name.end > name.at &&
	    name.end[-1] == ':') /* "NAME: LONG NAME"; "cpu-clock:u" is one name */
		l.at = --name.end;
	skip_blanks(&l);
	if (take(&l, ": " CALLGRIND_NS) && l.at == l.end)
		vec_push(&r->times, add_text(r, name));
}

/* Reads the events of a part. A later part with another number of events is an error: it could not
 * be added to those before. */
static void read_events(struct callgrind_reader *r, struct callgrind_line l)
{
	bool is_first = !r->events.n;
	size_t n = 0;
	for (skip_blanks(&l); l.at < l.end; skip_blanks(&l), n++) {
		struct callgrind_line name = { l.at, l.at };
		while (name.end < l.end && *name.end != ' ' && *name.end != '\t')
			name.end++;
		if (is_first && r->events.n < MOST_EVENTS)
			add_event(r, name);
		l.at = name.end;
	}
	if (!is_first && n != r->events.n && !r->bad_line)
		r->bad_line = r->n_lines;
}

static void read_positions(struct callgrind_reader *r, struct callgrind_line l)
{
	size_t n = (size_t)(l.end - l.at);
	r->has_line = memmem(l.at, n, "line", 4);
	r->has_address = memmem(l.at, n, "instr", 5) || memmem(l.at, n, "addr", 4);
}

static void read_command(struct callgrind_reader *r, struct callgrind_line l)
{
	skip_blanks(&l);
	for (const char *p = l.at; p < l.end; p++)
		if (*p == ' ')
			l.end = p;
	r->command = add_text(r, l);
	const char *name = base_name(strtab_get(r->strings, r->command));
	r->task.comm = profile_add_string(r->into, name, strlen(name));
}

static void read_thread(struct callgrind_reader *r, struct callgrind_line l)
{
	uint64_t tid = 0;
	skip_blanks(&l);
	if (!take_number(&l, &tid) || tid > UINT32_MAX || tid == r->task.tid)
		return;
	if (r->calls.at.n)
		end_thread(r);
	r->task.tid = (uint32_t)tid;
}

static void read_sums(struct callgrind_line l, uint64_t *sums)
{
	uint64_t value;
	for (size_t i = 0; i < MOST_EVENTS; i++) {
		skip_blanks(&l);
		if (!take_number(&l, &value))
			return;
		capped_add(&sums[i], value);
	}
}

static bool read_header(struct callgrind_reader *r, struct callgrind_line l)
{
	static const char *const others[] = { "version:", "part:", "desc:", "elapsed:", "rusage:" };
	uint64_t pid;
	if (take(&l, "desc: Calls: numbers of samples")) {
		r->are_samples = true;
	} else if (take(&l, "creator: kin")) {
		r->is_ours = true;
	} else if (take(&l, "creator: callgrind")) {
		r->is_valgrinds = true;
	} else if (take(&l, "summary:")) {
		read_sums(l, r->sums.summary);
	} else if (take(&l, "totals:")) {
		read_sums(l, r->sums.totals);
		r->sums.has_end = true;
	} else if (take(&l, "events:")) {
		r->sums.has_end = false;
		read_events(r, l);
	} else if (take(&l, "event:")) {
		read_long_name(r, l);
	} else if (take(&l, "positions:")) {
		read_positions(r, l);
	} else if (take(&l, "cmd:")) {
		read_command(r, l);
	} else if (take(&l, "thread:")) {
		read_thread(r, l);
	} else if (take(&l, "pid:")) {
		skip_blanks(&l);
		if (take_number(&l, &pid) && pid <= UINT32_MAX)
			r->task.pid = (uint32_t)pid;
	} else if (!take(&l, "creator:")) {
		for (size_t i = 0; i < ARRAY_LEN(others); i++)
			if (take(&l, others[i]))
				return true;
		return false;
	}
	return true;
}

/* ---- costs ---- */

/* Reads a position; "+3", "-3" and "*" are relative to the previous one. */
static bool take_position(struct callgrind_line *l, uint64_t *at)
{
	uint64_t v;
	skip_blanks(l);
	if (take(l, "*"))
		return true;
	bool plus = take(l, "+"), minus = !plus && take(l, "-");
	if (!take_number(l, &v))
		return false;
	*at = plus ? *at + v : minus ? *at - v : v;
	return true;
}

static void count_calls(struct callgrind_reader *r, uint32_t from, uint64_t line)
{
	struct arc a = { .count = r->n_calls };
	if (r->are_samples || !r->n_calls || from == r->calls.no_caller)
		return;
	a.from = given_address(r->places, from, r->file, (uint32_t)line, &a.from_object);
	a.to = given_entry(r->places, r->callee, &a.to_object);
	profile_add_arc(r->into, a);
}

static bool read_cost(struct callgrind_reader *r, struct callgrind_line l)
{
	uint64_t value;
	bool is_call = r->is_call, any = false;
	r->is_call = false;
	if (r->has_address && !take_position(&l, &r->address))
		return false;
	if (r->has_line && !take_position(&l, &r->source_line))
		return false;
	if (!r->has_function || !r->events.n)
		return false;
	uint32_t function = function_here(r);
	uint64_t line = r->source_line <= UINT32_MAX ? r->source_line : 0;
	struct callgrind_cost cost = { function, is_call ? r->callee : NONE, 0 };
	if (is_call)
		count_calls(r, function, line);
	uint64_t *values = NULL;
	for (size_t i = 0; i < r->events.n; i++) {
		skip_blanks(&l);
		if (!take_number(&l, &value))
			break;
		if (value == UINT64_MAX)
			profile_note_saturated(r->into);
		if (!value && !(is_call && !any))
			continue;
		if (!any) {
			cost.frame = given_frame(r->places, function, known_file(r, r->file),
						 (uint32_t)line);
			values = values_of(r, cost);
		}
		any = true;
		if (value > UINT64_MAX - values[i])
			profile_note_saturated(r->into);
		capped_add(&values[i], value);
		if (!is_call)
			capped_add(&r->sums.read[i], value);
	}
	skip_blanks(&l);
	return l.at == l.end;
}

static bool read_calls(struct callgrind_reader *r, struct callgrind_line l)
{
	bool good = take_number(&l, &r->n_calls);
	if (r->n_calls == UINT64_MAX)
		profile_note_saturated(r->into);
	r->is_call = good && r->callee != NONE;
	r->callee_object = r->object;
	r->callee_file = 0;
	return r->is_call;
}

static bool read_name(struct callgrind_reader *r, struct callgrind_line l)
{
	if (take(&l, "fn=")) {
		r->function_name = take_name(r, &r->functions, l);
		r->own_file = r->file;
		r->function = NONE;
		r->has_function = true;
	} else if (take(&l, "fl=") || take(&l, "fi=") || take(&l, "fe=")) {
		r->file = take_name(r, &r->files, l);
	} else if (take(&l, "ob=")) {
		r->object = r->callee_object = take_name(r, &r->objects, l);
	} else if (take(&l, "cob=")) {
		r->callee_object = take_name(r, &r->objects, l);
	} else if (take(&l, "cfi=") || take(&l, "cfl=")) {
		r->callee_file = take_name(r, &r->files, l);
	} else if (take(&l, "cfn=")) {
		r->callee =
			add_function(r, r->callee_object, r->callee_file ? r->callee_file : r->file,
				     take_name(r, &r->functions, l));
	} else if (take(&l, "jfi=")) { /* a jump's target: its number may be used later */
		take_name(r, &r->files, l);
	} else if (take(&l, "jfn=")) {
		take_name(r, &r->functions, l);
	} else {
		return take(&l, "frfn=") || take(&l, "jump=") || take(&l, "jcnd=");
	}
	return true;
}

static void read_lines(struct callgrind_reader *r)
{
	struct callgrind_line l;
	while (next_line(r, &l)) {
		skip_blanks(&l);
		if (l.at == l.end || *l.at == '#')
			continue;
		bool good;
		if (is_digit(&l) || *l.at == '+' || *l.at == '-' || *l.at == '*')
			good = read_cost(r, l);
		else if (take(&l, "calls=") || take(&l, "rcalls="))
			good = read_calls(r, l);
		else
			good = read_name(r, l) || read_header(r, l);
		if (!good && !r->bad_line)
			r->bad_line = r->n_lines;
	}
}

/* ---- missing costs ---- */

/* The first event with missing costs; NONE: none. Valgrind's summary is measured later than its
 * costs, and slightly larger. */
static uint32_t find_missing(const struct callgrind_reader *r)
{
	const double enough = 0.95;
	for (size_t i = 0; i < r->events.n; i++) {
		uint64_t all = r->sums.summary[i] ? r->sums.summary[i] : r->sums.totals[i];
		if ((double)r->sums.read[i] < enough * (double)all)
			return (uint32_t)i;
	}
	return NONE;
}

/* The reason why the file is incomplete; NULL: it is whole. */
static struct kin_error *find_fault(const struct callgrind_reader *r, struct bytes all)
{
	uint32_t event = find_missing(r);
	if (r->bad_line)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: damaged in line %zu: what could be understood was read",
			       all.name, r->bad_line);
	if (all.end > all.pos && r->is_valgrinds && !r->sums.has_end)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: cut off in line %zu: what wrote it did not finish", all.name,
			       r->n_lines);
	if (event == NONE)
		return NULL;
	uint64_t summary = r->sums.summary[event];
	return err_new(KIN_ERROR_FORMAT,
		       "%s: its functions cost %" PRIu64 " of the %" PRIu64 " %s in its %s: cut "
		       "off, or what wrote it left some out",
		       all.name, r->sums.read[event], summary ? summary : r->sums.totals[event],
		       strtab_get(r->strings, r->names.at[event]), summary ? "summary" : "totals");
}

/* ---- the whole file ---- */

struct kin_error *callgrind_read(struct bytes all, const struct input_opts *o,
				 struct profile_builder *into, struct source *source)
{
	struct callgrind_reader r = { .b = all, .into = into, .function = NONE, .callee = NONE };
	(void)o;
	(void)source;
	r.has_line = true;
	r.calls.no_caller = NONE;
	r.places = given_new(into, &all);
	r.strings = given_strings(r.places);
	read_lines(&r);
	end_thread(&r);
	struct kin_error *fault = find_fault(&r, all);
	format_note_end(&all, into);
	given_finish(r.places);
	records_free(&r.cost_ids);
	map64_free(&r.object_ids);
	map64_free(&r.objects.ids);
	map64_free(&r.files.ids);
	map64_free(&r.functions.ids);
	vec_free(&r.events);
	vec_free(&r.names);
	vec_free(&r.times);
	vec_free(&r.calls.at);
	vec_free(&r.calls.values);
	return fault;
}

/* Cachegrind's files begin with descriptions of caches and the command. */
bool callgrind_recognise(struct bytes head, const struct input_opts *o)
{
	struct callgrind_line first = { (const char *)head.pos, (const char *)head.end };
	(void)o;
	if (take(&first, "# callgrind format"))
		return true;
	return (take(&first, "events:") || format_head_has(&head, "\nevents:")) &&
	       (format_head_has(&head, "creator: callgrind") || format_head_has(&head, "\nfn=") ||
		format_head_has(&head, "\ncmd:"));
}

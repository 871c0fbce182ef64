/* callgrind_write.c - samples as callgrind.out: costs of functions by line, and costs of their
 * calls.
 *
 * Readers add up the calls of a function to get its cost including all that it calls. So each
 * function on a sample's stack gets the weight in one call only, the outermost; calls further in,
 * of a function that is on the stack already, cost 0. A function without callers has its own cost
 * and that of its calls; if other stacks have callers of it, it gets the caller CALLGRIND_ROOT.
 * Samples do not tell how often functions were called: their number stands for it. */
#include "formats/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/records.h"
#include "base/sink.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "formats/exported.h"

enum { NO_STACK = NONE - 1 }; /* the function of samples without a stack */

struct written_cost {      /* one line of the file; its numbers are at values[n_values * index] */
	uint32_t function; /* NONE: CALLGRIND_ROOT */
	strid file;
	uint32_t line;
	uint32_t callee; /* NONE: the function's own cost */
};

struct callgrind {
	struct exported x;
	struct sink sink;
	size_t n_events, n_values; /* a value for each event, and the number of samples */
	uint64_t *own, *below;     /* own and inclusive weights; [n_values] for each stack */
	struct strtab *files;
	VEC(struct written_cost) costs;
	struct records cost_ids;
	VEC(uint64_t) values;
	VEC(bool) is_called;                   /* by function */
	VEC(uint32_t) n_on_stack;              /* by function: its lines on the current stack */
	struct strtab *names;                  /* files and objects, which are written as numbers */
	VEC(uint8_t) told_function, told_name; /* by number: the name was written */
};

static uint64_t hash_cost(const void *of)
{
	const struct written_cost *c = of;
	uint64_t hash = records_mix(c->function, c->file);
	return records_mix(records_mix(hash, c->line), c->callee);
}

static bool same_cost(const void *x, const void *y)
{
	const struct written_cost *a = x, *b = y;
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->callee == b->callee;
}

static const struct records_kind cost_kind = { sizeof(struct written_cost), hash_cost, same_cost };

/* ---- sums ---- */

static void add_up(struct callgrind *c)
{
	const struct kin_sample *s;
	size_t n = kin_samples_n_stacks(c->x.samples) + 1, k = c->n_values;
	c->own = xalloc(n * k * sizeof(*c->own));
	c->below = xalloc(n * k * sizeof(*c->below));
	while ((s = kin_samples_next(c->x.samples))) {
		uint64_t *own = c->own + s->stack * k;
		own[c->x.column[s->event]] += s->weight;
		own[c->n_events] += s->count ? s->count : 1; /* 0: time that was not sampled */
	}
	memcpy(c->below, c->own, n * k * sizeof(*c->below));
	for (uint32_t id = (uint32_t)n - 1; id; id--) {
		uint32_t caller = kin_samples_stack(c->x.samples, id)->caller;
		for (size_t i = 0; i < k && c->below[id * k + c->n_events]; i++)
			c->below[caller * k + i] += c->below[id * k + i];
	}
}

/* Adds to a cost. values NULL: only the number of samples; the cost is 0. */
static void charge(struct callgrind *c, struct written_cost cost, const uint64_t *values,
		   uint64_t samples)
{
	uint32_t id =
		records_add(&c->cost_ids, &cost_kind, c->costs.at, &cost, (uint32_t)c->costs.n);
	if (id == c->costs.n) {
		vec_push(&c->costs, cost);
		vec_reserve(&c->values, c->n_values);
		memset(c->values.at + c->values.n, 0, c->n_values * sizeof(*c->values.at));
		c->values.n += c->n_values;
	}
	uint64_t *sums = c->values.at + id * c->n_values;
	for (size_t i = 0; values && i < c->n_events; i++)
		sums[i] += values[i];
	sums[c->n_events] += samples;
}

static const struct kin_line *lines_of(struct callgrind *c, uint32_t stack, size_t *n)
{
	return kin_samples_lines(c->x.samples, kin_samples_stack(c->x.samples, stack)->location, n);
}

/* The number of the function's lines on the current stack. */
static uint32_t *n_on_stack(struct callgrind *c, uint32_t function)
{
	while (c->n_on_stack.n <= function)
		vec_push(&c->n_on_stack, 0);
	return &c->n_on_stack.at[function];
}

static struct written_cost cost_at(struct callgrind *c, const struct kin_line *line,
				   uint32_t callee)
{
	return (struct written_cost){ line->function, strtab_add(c->files, line->file), line->line,
				      callee };
}

static void note_called(struct callgrind *c, uint32_t function)
{
	while (c->is_called.n <= function)
		vec_push(&c->is_called, false);
	c->is_called.at[function] = true;
}

/* Charges the calls of the functions at the end of a stack: each is called by the next outer one,
 * and the outermost by the caller's innermost. From here on they count as being on the stack; the
 * caller's functions already do. */
static void enter_stack(struct callgrind *c, uint32_t stack)
{
	const uint64_t *own = c->own + stack * c->n_values;
	const uint64_t *below = c->below + stack * c->n_values;
	uint32_t caller = kin_samples_stack(c->x.samples, stack)->caller;
	size_t n, n_outer = 0;
	const struct kin_line *lines = lines_of(c, stack, &n);
	const struct kin_line *outer = caller ? lines_of(c, caller, &n_outer) : NULL;
	if (n && own[c->n_events])
		charge(c, cost_at(c, &lines[0], NONE), own, own[c->n_events]);
	for (size_t i = n; i--;) {
		const struct kin_line *from = i + 1 < n ? &lines[i + 1] : n_outer ? outer : NULL;
		uint32_t callee = lines[i].function;
		bool again = (*n_on_stack(c, callee))++;
		if (!from)
			continue; /* see charge_roots() */
		charge(c, cost_at(c, from, callee), again ? NULL : below, below[c->n_events]);
		note_called(c, callee);
	}
}

static void leave_stack(struct callgrind *c, uint32_t stack)
{
	size_t n;
	const struct kin_line *lines = lines_of(c, stack, &n);
	for (size_t i = 0; i < n; i++)
		--*n_on_stack(c, lines[i].function);
}

/* Charges each stack that has samples, after its caller and before the caller's next one. */
static void charge_stacks(struct callgrind *c)
{
	uint32_t n = (uint32_t)kin_samples_n_stacks(c->x.samples);
	uint32_t *first = xalloc(n * sizeof(*first)), *next = xalloc(n * sizeof(*next)), at = 0;
	for (uint32_t id = n - 1; id; id--) {
		uint32_t caller = kin_samples_stack(c->x.samples, id)->caller;
		if (!c->below[id * c->n_values + c->n_events])
			continue;
		next[id] = first[caller];
		first[caller] = id;
	}
	do {
		uint32_t into = first[at];
		if (into) {
			first[at] = next[into];
			at = into;
			enter_stack(c, at);
		} else if (at) {
			leave_stack(c, at);
			at = kin_samples_stack(c->x.samples, at)->caller;
		}
	} while (at || first[0]);
	free(first);
	free(next);
}

/* Charges calls of functions that have no caller in these stacks, but have one in others. */
static void charge_roots(struct callgrind *c)
{
	for (uint32_t id = 1; id < kin_samples_n_stacks(c->x.samples); id++) {
		const uint64_t *below = c->below + id * c->n_values;
		size_t n;
		if (!below[c->n_events] || kin_samples_stack(c->x.samples, id)->caller)
			continue;
		const struct kin_line *lines = lines_of(c, id, &n);
		uint32_t root = n ? lines[n - 1].function : NONE;
		if (root < c->is_called.n && c->is_called.at[root])
			charge(c, (struct written_cost){ NONE, 0, 0, root }, below,
			       below[c->n_events]);
	}
}

static void charge_no_stack(struct callgrind *c)
{
	if (c->own[c->n_events])
		charge(c, (struct written_cost){ NO_STACK, 0, 0, NONE }, c->own,
		       c->own[c->n_events]);
}

/* ---- writing ---- */

static void put_number(struct callgrind *c, uint64_t v)
{
	c->sink.n += num_u64(sink_room(&c->sink, NUM_MAX), v);
}

/* Writes a text without line feeds, which would end it. */
static void put_text(struct callgrind *c, const char *text)
{
	for (const char *p = text; *p; p++)
		sink_char(&c->sink, *p == '\n' || *p == '\r' ? ' ' : *p);
}

/* Writes "(3) name", or "(3)" if the name was written before. */
static void put_name(struct callgrind *c, const char *key, uint32_t number, bool told,
		     const char *name)
{
	sink_str(&c->sink, key);
	sink_char(&c->sink, '(');
	put_number(c, (uint64_t)number + 1);
	sink_char(&c->sink, ')');
	if (!told) {
		sink_char(&c->sink, ' ');
		put_text(c, name);
	}
	sink_char(&c->sink, '\n');
}

static bool was_told(struct callgrind *c, uint32_t number, bool function)
{
	uint8_t *told;
	if (function) {
		while (c->told_function.n <= number)
			vec_push(&c->told_function, 0);
		told = &c->told_function.at[number];
	} else {
		while (c->told_name.n <= number)
			vec_push(&c->told_name, 0);
		told = &c->told_name.at[number];
	}
	return (*told)++ ? (*told = 1) : false;
}

/* Files and objects share one numbering, although each key of the format has numbers of its own. */
static void put_file(struct callgrind *c, const char *key, const char *name)
{
	strid id = strtab_add(c->names, *name ? name : CALLGRIND_NONE);
	put_name(c, key, 2 * id, was_told(c, 2 * id, false), strtab_get(c->names, id));
}

static void put_object(struct callgrind *c, const char *key, uint32_t object)
{
	const char *path = kin_samples_object(c->x.samples, object)->path;
	strid id = strtab_add(c->names, *path ? path : CALLGRIND_NONE);
	put_name(c, key, 2 * id + 1, was_told(c, 2 * id + 1, false), strtab_get(c->names, id));
}

static void put_function(struct callgrind *c, const char *key, uint32_t function)
{
	uint32_t n = (uint32_t)kin_samples_n_functions(c->x.samples);
	uint32_t number = function == NONE ? n : function == NO_STACK ? n + 1 : function;
	const char *name = function == NONE ? CALLGRIND_ROOT
			   : function == NO_STACK
				   ? "[unknown]"
				   : kin_samples_function(c->x.samples, function)->name;
	put_name(c, key, number, was_told(c, number, true), name);
}

static void put_costs(struct callgrind *c, const struct written_cost *cost, const uint64_t *values)
{
	put_number(c, cost->line);
	for (size_t i = 0; i < c->n_events; i++) {
		sink_char(&c->sink, ' ');
		put_number(c, values[i]);
	}
	sink_char(&c->sink, '\n');
}

static void put_call(struct callgrind *c, const struct written_cost *cost, const uint64_t *values)
{
	const struct kin_function *callee = kin_samples_function(c->x.samples, cost->callee);
	put_object(c, "cob=", callee->object);
	put_file(c, "cfi=", callee->file);
	put_function(c, "cfn=", cost->callee);
	sink_str(&c->sink, "calls=");
	put_number(c, values[c->n_events]);
	sink_char(&c->sink, ' ');
	put_number(c, callee->line);
	sink_char(&c->sink, '\n');
	put_costs(c, cost, values);
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct callgrind *c = arg;
	const struct written_cost *a = &c->costs.at[*(const uint32_t *)x];
	const struct written_cost *b = &c->costs.at[*(const uint32_t *)y];
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	/* A function's own cost first: NONE + 1 is 0. */
	return a->callee + 1 < b->callee + 1 ? -1 : a->callee + 1 > b->callee + 1;
}

/* Writes the start of a function; returns the file of the lines that follow. */
static strid begin_function(struct callgrind *c, uint32_t function)
{
	bool root = function == NONE;
	const struct kin_function *f = kin_samples_function(c->x.samples, function);
	sink_char(&c->sink, '\n');
	put_object(c, "ob=", root ? 0 : f->object);
	put_file(c, "fl=", f->file);
	put_function(c, "fn=", function);
	return strtab_add(c->files, f->file);
}

static void put_body(struct callgrind *c)
{
	uint32_t *order = xrealloc(NULL, c->costs.n + 1, sizeof(*order));
	strid file = 0;
	for (uint32_t i = 0; i < c->costs.n; i++)
		order[i] = i;
	qsort_r(order, c->costs.n, sizeof(*order), by_place, c);
	for (size_t i = 0; i < c->costs.n; i++) {
		const struct written_cost *cost = &c->costs.at[order[i]];
		const uint64_t *values = c->values.at + order[i] * c->n_values;
		if (!i || cost->function != c->costs.at[order[i - 1]].function)
			file = begin_function(c, cost->function);
		/* A cost without a line needs no file. */
		if (cost->file && cost->file != file) {
			put_file(c, "fi=", strtab_get(c->files, cost->file));
			file = cost->file;
		}
		if (cost->callee == NONE)
			put_costs(c, cost, values);
		else
			put_call(c, cost, values);
	}
	free(order);
}

/* Names of events are single words in the format. */
static void put_event(struct callgrind *c, const char *name)
{
	sink_char(&c->sink, ' ');
	for (; *name; name++)
		sink_char(&c->sink, (unsigned char)*name <= ' ' ? '_' : *name);
}

static void put_head(struct callgrind *c)
{
	sink_str(&c->sink, "# callgrind format\nversion: 1\ncreator: kin-" KIN_VERSION "\n");
	if (*c->x.title) {
		sink_str(&c->sink, "cmd: ");
		put_text(c, c->x.title);
		sink_char(&c->sink, '\n');
	}
	sink_str(&c->sink, "desc: Calls: numbers of samples, not of calls\npositions: line\n");
	for (size_t i = 0; i < c->n_events; i++) {
		if (!*exported_event(&c->x, i)->unit)
			continue;
		sink_str(&c->sink, "event:");
		put_event(c, exported_event(&c->x, i)->name);
		sink_str(&c->sink, " : " CALLGRIND_NS "\n");
	}
	sink_str(&c->sink, "events:");
	for (size_t i = 0; i < c->n_events; i++)
		put_event(c, exported_event(&c->x, i)->name);
	sink_str(&c->sink, "\nsummary:");
	for (size_t i = 0; i < c->n_events; i++) {
		sink_char(&c->sink, ' ');
		put_number(c, c->below[i]);
	}
	sink_char(&c->sink, '\n');
}

static void write_all(void *own, FILE *out)
{
	struct callgrind *c = own;
	c->n_events = c->x.n_events;
	c->n_values = c->n_events + 1;
	c->files = strtab_new();
	c->names = strtab_new();
	sink_init(&c->sink, out);
	add_up(c);
	charge_stacks(c);
	charge_roots(c);
	charge_no_stack(c);
	put_head(c);
	put_body(c);
	sink_flush(&c->sink);
	strtab_free(c->files);
	strtab_free(c->names);
	records_free(&c->cost_ids);
	vec_free(&c->costs);
	vec_free(&c->values);
	vec_free(&c->is_called);
	vec_free(&c->n_on_stack);
	vec_free(&c->told_function);
	vec_free(&c->told_name);
	free(c->own);
	free(c->below);
}

struct kin_error *callgrind_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				  FILE *out)
{
	return exported_write(profile, opts, sizeof(struct callgrind), write_all, out);
}

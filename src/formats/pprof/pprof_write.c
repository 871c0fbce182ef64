/* pprof_write.c - writes profile.proto. Samples with the same stack and thread are merged, with a
 * value for each event.
 *
 * Readers accept messages in any order. So samples are written first, then the messages that they
 * refer to, and the strings last. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "formats/exported.h"
#include "formats/pprof/pprof.h"

enum { PLAIN = 1 << 16 };

struct pprof_row { /* samples of one stack and thread; the values are at values[n_values * index] */
	uint32_t stack, thread;
};

struct pprof {
	struct exported x; /* first: exported_write() */
	FILE *out;
	VEC(uint8_t) plain; /* not written to `out` yet */
	VEC(uint8_t) message, inner;
	struct strtab *strings;
	size_t n_values; /* per sample: each event's number, if different, and weight */
	bool counts;     /* the number of samples is a value of its own */
	struct map64 row_ids;
	VEC(struct pprof_row) rows;
	VEC(uint64_t) values;
	struct exported_places places; /* pprof's locations */
	VEC(uint8_t) has;              /* [objects]: enum mapping_has */
};

enum mapping_has { HAS_FUNCTIONS = 1, HAS_FILES = 2, HAS_LINES = 4, HAS_INLINES = 8 };

static void write_out(struct pprof *p)
{
	fwrite(p->plain.at, 1, p->plain.n, p->out);
	p->plain.n = 0;
}

/* ---- messages ---- */

#define put_string(p, buf, field, text) put_number((buf), (field), strtab_add((p)->strings, (text)))

/* Writes the contents of p->inner as a field of the message, and empties it. */
static void end_inner(struct pprof *p, int field)
{
	put_block(&p->message, field, p->inner.at, p->inner.n);
	p->inner.n = 0;
}

/* Writes the message as a field of the profile, and empties it. */
static void end_message(struct pprof *p, int field)
{
	put_block(&p->plain, field, p->message.at, p->message.n);
	p->message.n = 0;
	if (p->plain.n >= PLAIN)
		write_out(p);
}

/* ---- types of values ---- */

static const char *unit_of(const struct kin_event *e) { return *e->unit ? "nanoseconds" : "count"; }

static void put_type(struct pprof *p, int field, const char *name, const char *unit)
{
	put_string(p, &p->message, TYPE_NAME, name);
	put_string(p, &p->message, TYPE_UNIT, unit);
	end_message(p, field);
}

/* "samples", as in all of pprof's CPU profiles; with several events, each has its own name. */
static char *count_name(const struct pprof *p, const struct kin_event *e)
{
	return p->x.n_events == 1 ? xprintf("samples") : xprintf("%s samples", e->name);
}

static void put_types(struct pprof *p)
{
	for (size_t i = 0; i < p->x.n_events; i++) {
		const struct kin_event *e = exported_event(&p->x, i);
		char *count = count_name(p, e);
		if (p->counts)
			put_type(p, PROFILE_SAMPLE_TYPE, count, "count");
		put_type(p, PROFILE_SAMPLE_TYPE, e->name, unit_of(e));
		free(count);
	}
	const struct kin_event *e = exported_event(&p->x, p->x.main);
	put_string(p, &p->plain, PROFILE_DEFAULT_TYPE, e->name);
	put_type(p, PROFILE_PERIOD_TYPE, e->name, unit_of(e));
	put_number(&p->plain, PROFILE_PERIOD,
		   e->period                  ? e->period
		   : e->frequency && *e->unit ? 1000000000 / e->frequency
					      : 0);
}

/* ---- samples ---- */

static uint64_t *row_of(struct pprof *p, const struct kin_sample *s)
{
	uint32_t *id = map64_at(&p->row_ids, MAP64_PAIR(s->stack, s->thread));
	if (*id == NONE) {
		*id = (uint32_t)p->rows.n;
		vec_push(&p->rows, ((struct pprof_row){ s->stack, s->thread }));
		vec_reserve(&p->values, p->n_values);
		memset(p->values.at + p->values.n, 0, p->n_values * sizeof(*p->values.at));
		p->values.n += p->n_values;
	}
	return p->values.at + (size_t)*id * p->n_values;
}

/* pprof's numbers are signed. */
static void add_clamped(uint64_t *sum, uint64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum) || *sum > INT64_MAX)
		*sum = INT64_MAX;
}

static void add_up(struct pprof *p)
{
	const struct kin_sample *s;
	uint64_t first = UINT64_MAX, last = 0;
	while ((s = kin_samples_next(p->x.samples))) {
		uint64_t *values = row_of(p, s);
		size_t at = p->x.column[s->event];
		if (p->counts)
			add_clamped(&values[2 * at], s->count);
		add_clamped(&values[p->counts ? 2 * at + 1 : at], s->weight);
		if (s->time_ns && s->time_ns < first)
			first = s->time_ns;
		if (s->time_ns > last)
			last = s->time_ns;
	}
	put_number(&p->plain, PROFILE_DURATION, last > first ? last - first : 0);
}

static void put_label(struct pprof *p, const char *key, const char *text, uint64_t number)
{
	if (!*text && !number)
		return;
	put_string(p, &p->inner, LABEL_KEY, key);
	put_string(p, &p->inner, LABEL_TEXT, text);
	put_number(&p->inner, LABEL_NUMBER, number);
	end_inner(p, SAMPLE_LABEL);
}

static void put_labels(struct pprof *p, const struct kin_thread *t)
{
	put_label(p, "thread", t->name, 0);
	put_label(p, "pid", "", t->pid);
	put_label(p, "tid", "", t->tid);
	put_label(p, "run", "", t->run);
	if (t->rank) {
		char rank[16];
		snprintf(rank, sizeof(rank), "%" PRIu32, t->rank - 1);
		put_label(p, "rank", rank, 0);
	}
}

static void put_path(struct pprof *p, uint32_t stack)
{
	while (stack)
		put_raw(&p->inner, exported_place_of(&p->x, &p->places, stack, &stack));
	end_inner(p, SAMPLE_LOCATION);
}

static void put_samples(struct pprof *p)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		put_path(p, p->rows.at[i].stack);
		for (size_t k = 0; k < p->n_values; k++)
			put_raw(&p->inner, p->values.at[i * p->n_values + k]);
		end_inner(p, SAMPLE_VALUE);
		put_labels(p, kin_samples_thread(p->x.samples, p->rows.at[i].thread));
		end_message(p, PROFILE_SAMPLE);
	}
}

/* ---- tables: ids are kin's, plus 1 where those begin at 0; those of places are their own ---- */

/* Adds a line to a location. Returns what data it has, for the mapping's flags. */
static uint8_t put_line(struct pprof *p, const struct kin_line *line)
{
	const struct kin_function *f = kin_samples_function(p->x.samples, line->function);
	put_number(&p->inner, LINE_FUNCTION, (uint64_t)line->function + 1);
	put_number(&p->inner, LINE_NUMBER, line->line);
	end_inner(p, LOCATION_LINE);
	return (uint8_t)((f->is_unnamed ? 0 : HAS_FUNCTIONS) | (*f->file ? HAS_FILES : 0) |
			 (line->line ? HAS_LINES : 0) | (line->is_inlined ? HAS_INLINES : 0));
}

static void put_location(struct pprof *p, uint32_t id)
{
	const struct exported_place *place = &p->places.at.at[p->places.by_id.at[id]];
	const struct kin_location at = *kin_samples_location(p->x.samples, place->location);
	put_number(&p->message, LOCATION_ID, id);
	put_number(&p->message, LOCATION_MAPPING, at.object); /* object 0: no mapping */
	put_number(&p->message, LOCATION_ADDRESS, at.address - (at.is_return && at.address));
	for (; place->location; place = &p->places.at.at[place->into]) {
		size_t n;
		const struct kin_line *lines = kin_samples_lines(p->x.samples, place->location, &n);
		for (size_t i = 0; i < n; i++)
			p->has.at[at.object] |= put_line(p, &lines[i]);
	}
	end_message(p, PROFILE_LOCATION);
}

static void put_function(struct pprof *p, uint32_t id)
{
	const struct kin_function *f = kin_samples_function(p->x.samples, id);
	put_number(&p->message, FUNCTION_ID, (uint64_t)id + 1);
	put_string(p, &p->message, FUNCTION_NAME, f->name);
	/* pprof shortens a name that equals it, since it takes the name for mangled. */
	if (strcmp(f->linkage_name, f->name) != 0)
		put_string(p, &p->message, FUNCTION_SYSTEM_NAME, f->linkage_name);
	put_string(p, &p->message, FUNCTION_FILE, f->file);
	put_number(&p->message, FUNCTION_START, f->line);
	end_message(p, PROFILE_FUNCTION);
}

/* Pages as of a program mapped at its link-time addresses. */
static void put_mapping(struct pprof *p, uint32_t id)
{
	enum { PAGE = 4096 };
	const struct kin_object *o = kin_samples_object(p->x.samples, id);
	uint8_t has = p->has.at[id];
	put_number(&p->message, MAPPING_ID, id);
	put_number(&p->message, MAPPING_START, o->low & -(uint64_t)PAGE);
	put_number(&p->message, MAPPING_LIMIT,
		   o->high > UINT64_MAX - PAGE ? o->high : (o->high + PAGE - 1) & -(uint64_t)PAGE);
	put_string(p, &p->message, MAPPING_FILE, o->path);
	put_string(p, &p->message, MAPPING_BUILD_ID, o->build_id);
	put_number(&p->message, MAPPING_HAS_FUNCTIONS, has & HAS_FUNCTIONS ? 1 : 0);
	put_number(&p->message, MAPPING_HAS_FILES, has & HAS_FILES ? 1 : 0);
	put_number(&p->message, MAPPING_HAS_LINES, has & HAS_LINES ? 1 : 0);
	put_number(&p->message, MAPPING_HAS_INLINES, has & HAS_INLINES ? 1 : 0);
	end_message(p, PROFILE_MAPPING);
}

/* pprof takes the first mapping for the program. */
static void put_mappings(struct pprof *p)
{
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 1; i < kin_samples_n_objects(p->x.samples); i++)
			if (kin_samples_object(p->x.samples, i)->is_main == !pass)
				put_mapping(p, i);
}

static void put_tables(struct pprof *p)
{
	vec_reserve(&p->has, kin_samples_n_objects(p->x.samples));
	memset(p->has.at, 0, kin_samples_n_objects(p->x.samples));
	for (uint32_t i = 1; i < p->places.by_id.n; i++)
		put_location(p, i);
	for (uint32_t i = 0; i < kin_samples_n_functions(p->x.samples); i++)
		put_function(p, i);
	put_mappings(p);
	if (*p->x.title)
		put_string(p, &p->plain, PROFILE_COMMENT, p->x.title);
	for (strid i = 0; i < strtab_count(p->strings); i++) {
		const char *text = strtab_get(p->strings, i);
		put_bytes(&p->message, text, strlen(text));
		end_message(p, PROFILE_STRING);
	}
}

/* ---- the whole file ---- */

/* Whether weights differ from numbers of samples; for events like "samples" they do not. */
static bool has_counts(struct exported *x)
{
	const struct kin_sample *s;
	bool differ = false;
	while (!differ && (s = kin_samples_next(x->samples)))
		differ = s->weight != s->count;
	kin_samples_rewind(x->samples);
	return differ;
}

static void write_all(void *own, FILE *out)
{
	struct pprof *p = own;
	p->out = out;
	p->strings = strtab_new();
	p->counts = has_counts(&p->x);
	p->n_values = p->x.n_events * (p->counts ? 2 : 1);
	put_types(p);
	add_up(p);
	put_samples(p);
	put_tables(p);
	write_out(p);
	strtab_free(p->strings);
	map64_free(&p->row_ids);
	vec_free(&p->rows);
	vec_free(&p->values);
	vec_free(&p->plain);
	vec_free(&p->message);
	vec_free(&p->inner);
	vec_free(&p->has);
	exported_places_done(&p->places);
}

struct kin_error *pprof_write(struct kin_profile *profile, const struct kin_export_opts *opts,
			      FILE *out)
{
	return exported_write(profile, opts, sizeof(struct pprof), write_all, out);
}

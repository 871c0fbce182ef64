/* otlp.c - profiles for the OpenTelemetry collector: opentelemetry-proto's
 * profiles/v1development/profiles.proto, ProfilesData. Its field numbers still change: these are of
 * version 1.9.
 *
 * There is a profile for each event, in which samples with the same stack and thread are merged.
 * All tables are in one dictionary; their first entries are empty, and mean "none". */
#include <stdlib.h>

#include "base/map64.h"
#include "base/strtab.h"
#include "base/utf8.h"
#include "formats/exported.h"
#include "formats/formats.h"
#include "formats/protobuf.h"

enum {
	DATA_RESOURCE = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_SCOPE = 2,
	SCOPE_SCOPE = 1,
	SCOPE_PROFILE = 2
};
enum { INSTRUMENTATION_NAME = 1, INSTRUMENTATION_VERSION = 2 };
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
};
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum table {
	TABLE_MAPPING = 1,
	TABLE_LOCATION = 2,
	TABLE_FUNCTION = 3,
	TABLE_LINK = 4,
	TABLE_STRING = 5,
	TABLE_ATTRIBUTE = 6,
	TABLE_STACK = 7,
};
enum { MAPPING_START = 1, MAPPING_LIMIT = 2, MAPPING_FILE = 4, MAPPING_ATTRIBUTES = 5 };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS = 2, LOCATION_LINE = 3 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILE = 3, FUNCTION_START = 4 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2, VALUE_STRING = 1, VALUE_INT = 3 };
enum { STACK_LOCATIONS = 1 };

enum otlp_attribute { THREAD_NAME, THREAD_ID, PROCESS_PID, BUILD_ID };
/* Names by the semantic conventions. */
static const struct {
	const char *key;
	bool is_number;
} attributes[] = {
	[THREAD_NAME] = { "thread.name", .is_number = false },
	[THREAD_ID] = { "thread.id", .is_number = true },
	[PROCESS_PID] = { "process.pid", .is_number = true },
	[BUILD_ID] = { "process.executable.build_id.gnu", .is_number = false },
};

struct buffer {
	VEC(uint8_t) bytes;
};
#define put(b, field, v) put_number(&(b)->bytes, (field), (v))

struct row { /* the samples of one stack and thread */
	uint32_t stack, thread;
	uint64_t weight;
};

struct otlp {
	struct exported x;
	struct strtab *strings; /* ids are indices; 0: "" */
	struct buffer dictionary, profile, message, inner, list;
	uint32_t *stacks; /* by kin's id: index; 0: not put yet */
	uint32_t n_stacks, n_attributes;
	struct exported_places places; /* become OTLP's locations, in their order */
	struct map64 attribute_ids;    /* attribute, number or string id -> index */
	VEC(struct row) rows;
	struct map64 row_ids;
	uint64_t first, last; /* range of samples' times; last 0: no sample has one */
};

/* Interns a text. Readers refuse a whole message if one string is no UTF-8, so each invalid byte
 * becomes U+FFFD. */
static uint64_t string(struct otlp *o, const char *text)
{
	VEC(char) valid = { 0 };
	for (const char *s = text; *s;) {
		uint32_t c;
		size_t n = utf8_decode((const unsigned char *)s, &c);
		for (const char *from = n ? s : "\xef\xbf\xbd", *end = from + (n ? n : 3);
		     from < end; from++)
			vec_push(&valid, *from);
		s += n ? n : 1;
	}
	vec_push(&valid, '\0');
	uint64_t id = strtab_add(o->strings, valid.at);
	vec_free(&valid);
	return id;
}

/* Appends `inner` to `outer` as a field, and empties it. */
static void end(struct buffer *outer, int field, struct buffer *inner)
{
	put_block(&outer->bytes, field, inner->bytes.at, inner->bytes.n);
	inner->bytes.n = 0;
}

static void put_text(struct buffer *b, int field, const char *text)
{
	put_block(&b->bytes, field, text, strlen(text));
}

/* ---- the dictionary ---- */

/* The index of an attribute with that value; of a string its id. */
static uint32_t attribute_of(struct otlp *o, enum otlp_attribute a, uint64_t value)
{
	uint32_t *index = map64_at(&o->attribute_ids, (uint64_t)a << 60 | value);
	if (*index != NONE)
		return *index;
	*index = ++o->n_attributes;
	struct buffer entry = { 0 }, any = { 0 };
	if (attributes[a].is_number)
		put(&any, VALUE_INT, value);
	else
		put_text(&any, VALUE_STRING, strtab_get(o->strings, (strid)value));
	put(&entry, ATTRIBUTE_KEY, string(o, attributes[a].key));
	end(&entry, ATTRIBUTE_VALUE, &any);
	end(&o->dictionary, TABLE_ATTRIBUTE, &entry);
	vec_free(&any.bytes);
	vec_free(&entry.bytes);
	return o->n_attributes;
}

static void put_location(struct otlp *o, uint32_t id)
{
	const struct exported_place *place = &o->places.at.at[o->places.by_id.at[id]];
	const struct kin_location at = *kin_samples_location(o->x.samples, place->location);
	struct buffer location = { 0 }, line = { 0 };
	put(&location, LOCATION_MAPPING, at.object);
	put(&location, LOCATION_ADDRESS, at.address - (at.is_return && at.address));
	for (; place->location; place = &o->places.at.at[place->into]) {
		size_t n;
		const struct kin_line *lines = kin_samples_lines(o->x.samples, place->location, &n);
		for (size_t i = 0; i < n; i++) {
			put(&line, LINE_FUNCTION, (uint64_t)lines[i].function + 1);
			put(&line, LINE_NUMBER, lines[i].line);
			end(&location, LOCATION_LINE, &line);
		}
	}
	end(&o->dictionary, TABLE_LOCATION, &location);
	vec_free(&line.bytes);
	vec_free(&location.bytes);
}

static uint32_t stack_of(struct otlp *o, uint32_t id)
{
	if (!id || o->stacks[id])
		return o->stacks[id];
	for (uint32_t at = id; at;)
		put_raw(&o->list.bytes, exported_place_of(&o->x, &o->places, at, &at));
	end(&o->inner, STACK_LOCATIONS, &o->list);
	end(&o->dictionary, TABLE_STACK, &o->inner);
	return o->stacks[id] = ++o->n_stacks;
}

static void put_locations(struct otlp *o)
{
	for (uint32_t i = 1; i < o->places.by_id.n; i++)
		put_location(o, i);
}

static void put_functions(struct otlp *o)
{
	for (uint32_t i = 0; i < kin_samples_n_functions(o->x.samples); i++) {
		const struct kin_function *f = kin_samples_function(o->x.samples, i);
		put(&o->message, FUNCTION_NAME, string(o, f->name));
		put(&o->message, FUNCTION_SYSTEM_NAME, string(o, f->linkage_name));
		put(&o->message, FUNCTION_FILE, string(o, f->file));
		put(&o->message, FUNCTION_START, f->line);
		end(&o->dictionary, TABLE_FUNCTION, &o->message);
	}
}

static void put_mappings(struct otlp *o)
{
	for (uint32_t i = 1; i < kin_samples_n_objects(o->x.samples); i++) {
		const struct kin_object *of = kin_samples_object(o->x.samples, i);
		put(&o->message, MAPPING_START, of->low);
		put(&o->message, MAPPING_LIMIT, of->high);
		put(&o->message, MAPPING_FILE, string(o, of->path));
		if (*of->build_id) {
			put_raw(&o->list.bytes, attribute_of(o, BUILD_ID, string(o, of->build_id)));
			end(&o->message, MAPPING_ATTRIBUTES, &o->list);
		}
		end(&o->dictionary, TABLE_MAPPING, &o->message);
	}
}

static void put_strings(struct otlp *o)
{
	for (strid i = 0; i < strtab_count(o->strings); i++)
		put_text(&o->dictionary, TABLE_STRING, strtab_get(o->strings, i));
}

static void begin_dictionary(struct otlp *o)
{
	static const enum table empty[] = { TABLE_MAPPING, TABLE_LOCATION,  TABLE_FUNCTION,
					    TABLE_LINK,    TABLE_ATTRIBUTE, TABLE_STACK };
	for (size_t i = 0; i < ARRAY_LEN(empty); i++)
		put_text(&o->dictionary, (int)empty[i], "");
}

/* ---- a profile ---- */

static void add_up(struct otlp *o, uint32_t event)
{
	const struct kin_sample *s;
	o->rows.n = 0;
	map64_free(&o->row_ids);
	o->row_ids = (struct map64){ 0 };
	kin_samples_rewind(o->x.samples);
	while ((s = kin_samples_next(o->x.samples))) {
		if (s->event != event)
			continue;
		uint32_t *id = map64_at(&o->row_ids, MAP64_PAIR(s->stack, s->thread));
		if (*id == NONE) {
			*id = (uint32_t)o->rows.n;
			vec_push(&o->rows, ((struct row){ s->stack, s->thread, 0 }));
		}
		uint64_t *weight = &o->rows.at[*id].weight; /* signed for readers */
		if (__builtin_add_overflow(*weight, s->weight, weight) || *weight > INT64_MAX)
			*weight = INT64_MAX;
		if (s->time_ns && s->time_ns < o->first)
			o->first = s->time_ns;
		if (s->time_ns > o->last)
			o->last = s->time_ns;
	}
}

static void put_type(struct otlp *o, int field, const struct kin_event *e)
{
	put(&o->message, TYPE_NAME, string(o, e->name));
	put(&o->message, TYPE_UNIT, string(o, *e->unit ? "nanoseconds" : "count"));
	end(&o->profile, field, &o->message);
}

static void put_attributes(struct otlp *o, const struct kin_thread *t)
{
	if (*t->name)
		put_raw(&o->list.bytes, attribute_of(o, THREAD_NAME, string(o, t->name)));
	if (t->tid)
		put_raw(&o->list.bytes, attribute_of(o, THREAD_ID, t->tid));
	if (t->pid)
		put_raw(&o->list.bytes, attribute_of(o, PROCESS_PID, t->pid));
	if (o->list.bytes.n)
		end(&o->message, SAMPLE_ATTRIBUTES, &o->list);
}

static void put_sample(struct otlp *o, const struct row *row)
{
	put(&o->message, SAMPLE_STACK, stack_of(o, row->stack));
	put_attributes(o, kin_samples_thread(o->x.samples, row->thread));
	put_raw(&o->list.bytes, row->weight);
	end(&o->message, SAMPLE_VALUES, &o->list);
	end(&o->profile, PROFILE_SAMPLE, &o->message);
}

/* Writes the time of the first sample. */
static void put_times(struct otlp *o)
{
	const struct kin_recording *r = kin_samples_recording(o->x.samples, 0);
	if (!o->last)
		return;
	if (r->start_time_ns && r->start_ns && o->first >= r->start_ns) {
		uint64_t began = r->start_time_ns + (o->first - r->start_ns);
		uint8_t little[8];
		for (int i = 0; i < 8; i++)
			little[i] = (uint8_t)(began >> 8 * i);
		put_raw(&o->profile.bytes, PROFILE_TIME << 3 | PROTO_64BIT);
		put_bytes(&o->profile.bytes, little, sizeof(little));
	}
	put(&o->profile, PROFILE_DURATION, o->last - o->first);
}

static void put_profile(struct otlp *o, size_t column)
{
	const struct kin_event *e = exported_event(&o->x, column);
	o->first = UINT64_MAX;
	o->last = 0;
	add_up(o, o->x.events[column]);
	put_type(o, PROFILE_TYPE, e);
	for (size_t i = 0; i < o->rows.n; i++)
		put_sample(o, &o->rows.at[i]);
	put_times(o);
	put_type(o, PROFILE_PERIOD_TYPE, e);
	put(&o->profile, PROFILE_PERIOD,
	    e->period                  ? e->period
	    : e->frequency && *e->unit ? 1000000000 / e->frequency
				       : 0);
}

/* ---- the whole file ---- */

/* Writes the main event's profile first, as readers show the first one. */
static void put_profiles(struct otlp *o, struct buffer *scope)
{
	put_profile(o, o->x.main);
	end(scope, SCOPE_PROFILE, &o->profile);
	for (size_t i = 0; i < o->x.n_events; i++)
		if (i != o->x.main) {
			put_profile(o, i);
			end(scope, SCOPE_PROFILE, &o->profile);
		}
}

static void write_all(void *own, FILE *out)
{
	struct otlp *o = own;
	struct buffer scope = { 0 }, resource = { 0 }, data = { 0 };
	o->strings = strtab_new();
	o->stacks = xalloc((kin_samples_n_stacks(o->x.samples) + 1) * sizeof(*o->stacks));
	begin_dictionary(o);
	put_text(&o->message, INSTRUMENTATION_NAME, "kin");
	put_text(&o->message, INSTRUMENTATION_VERSION, KIN_VERSION);
	end(&scope, SCOPE_SCOPE, &o->message);
	put_profiles(o, &scope);
	put_locations(o);
	put_functions(o);
	put_mappings(o);
	put_strings(o);
	end(&resource, RESOURCE_SCOPE, &scope);
	end(&data, DATA_RESOURCE, &resource);
	end(&data, DATA_DICTIONARY, &o->dictionary);
	fwrite(data.bytes.at, 1, data.bytes.n, out);
	struct buffer *all[] = { &scope,      &resource,   &data,     &o->dictionary,
				 &o->profile, &o->message, &o->inner, &o->list };
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		vec_free(&all[i]->bytes);
	vec_free(&o->rows);
	map64_free(&o->row_ids);
	map64_free(&o->attribute_ids);
	strtab_free(o->strings);
	free(o->stacks);
	exported_places_done(&o->places);
}

static struct kin_error *otlp_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				    FILE *out)
{
	return exported_write(profile, opts, sizeof(struct otlp), write_all, out);
}

const struct format otlp_format = {
	.about = { .name = "otlp",
		   .what = "profiles of OpenTelemetry, for its collector; experimental, as that "
			   "format is",
		   .endings = (const char *const[]){ ".otlp", ".otlp.pb", NULL },
		   .is_written = true },
	.write = otlp_write,
};

/* pprof_read.c - reads profile.proto, as Go, gperftools, pprof-rs and many others write it, gzipped
 * or not.
 *
 * Messages may come after those that refer to them, so samples are read last. A location's frames
 * are named by the file, and inlined functions are frames of their own. Addresses are kept as they
 * are in the file, mostly run-time ones; source lines are not kept. A value that counts samples and
 * is followed by another value is that value's number of samples. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/job.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/pprof/pprof.h"
#include "input/input.h"

struct pprof_text {
	const char *at;
	size_t n;
	strid id; /* in the profile, once it was needed; 0: not yet, or "" */
};

struct value_type {
	uint64_t name, unit; /* indices of strings */
	uint16_t event;
	bool is_count;  /* it counts the samples of the next type */
	uint64_t scale; /* factor to the event's unit */
};

struct pprof_mapping {
	objid object;
	uint32_t flags; /* of frames in it */
};

struct location {
	uint64_t mapping, address;
	struct bytes lines; /* the whole message */
	uint32_t first, n;  /* frames, outermost first; n is 0 before they are made */
};

struct pprof_reader {
	struct bytes all;
	struct profile_builder *into;
	VEC(struct pprof_text) strings;
	VEC(struct value_type) types;
	VEC(struct pprof_mapping) mappings;
	VEC(struct location) locations;
	VEC(uint64_t) functions; /* names, as indices of strings */
	struct map64 mapping_ids, location_ids, function_ids;
	VEC(frameid) frames;
	VEC(strid) names;           /* of the current location */
	VEC(uint64_t) path, values; /* of the current sample */
	uint64_t default_type, period_type, period;
	uint64_t frames_left; /* of those that stacks may have (see FRAMES_PER_BYTE) */
	bool has_negative;
	bool is_several; /* several profiles, one after another */
};

/* Bounds the frames of all stacks: a location that is repeated in a stack, or in many, has its
 * inlined functions each time. Real files have about one frame in two bytes. */
enum { FRAMES_PER_BYTE = 4, FEW_FRAMES = 1 << 16 };

/* ---- messages ---- */

/* Checks a message that must be whole: an error in it is an error of the file. */
static void end(struct pprof_reader *r, const struct bytes *message)
{
	r->all.failed |= message->failed;
}

/* ---- strings ---- */

/* Nothing else tells that a file was cut off between two fields: the strings are its last ones. */
static struct pprof_text string_at(struct pprof_reader *r, uint64_t i)
{
	r->all.failed |= i && i >= r->strings.n;
	return i < r->strings.n ? r->strings.at[i] : (struct pprof_text){ "", 0, 0 };
}

static bool is_text(struct pprof_reader *r, uint64_t i, const char *what)
{
	struct pprof_text t = string_at(r, i);
	return t.n == strlen(what) && !memcmp(t.at, what, t.n);
}

static bool ends_text(struct pprof_reader *r, uint64_t i, const char *what)
{
	struct pprof_text t = string_at(r, i);
	size_t n = strlen(what);
	return t.n >= n && !memcmp(t.at + t.n - n, what, n);
}

static strid add_string(struct pprof_reader *r, uint64_t i)
{
	struct pprof_text t = string_at(r, i);
	if (!t.n || t.id)
		return t.id;
	return r->strings.at[i].id = profile_add_string(r->into, t.at, t.n);
}

static char *copy_string(struct pprof_reader *r, uint64_t i)
{
	enum { MOST = 1 << 12 }; /* a path; many messages may refer to one string */
	struct pprof_text t = string_at(r, i);
	return xprintf("%.*s", (int)(t.n < MOST ? t.n : MOST), t.at);
}

static void add_text(struct pprof_reader *r, struct bytes b)
{
	struct pprof_text t = { (const char *)b.pos, bytes_left(&b), 0 };
	const char *nul = t.n ? memchr(t.at, '\0', t.n) : NULL;
	if (nul)
		t.n = (size_t)(nul - t.at);
	vec_push(&r->strings, t);
}

/* ---- tables ---- */

static void read_type(struct pprof_reader *r, struct bytes b)
{
	struct value_type t = { .scale = 1 };
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == TYPE_NAME)
			t.name = f.value;
		if (f.number == TYPE_UNIT)
			t.unit = f.value;
	}
	end(r, &b);
	vec_push(&r->types, t);
}

static uint64_t read_type_name(struct pprof_reader *r, struct bytes b)
{
	uint64_t name = 0;
	for (struct proto_field f; proto_next(&b, &f);)
		if (f.number == TYPE_NAME)
			name = f.value;
	end(r, &b);
	return name;
}

static void read_function(struct pprof_reader *r, struct bytes b)
{
	uint64_t id = 0, name = 0, linkage = 0;
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == FUNCTION_ID)
			id = f.value;
		if (f.number == FUNCTION_NAME)
			name = f.value;
		if (f.number == FUNCTION_SYSTEM_NAME)
			linkage = f.value;
	}
	end(r, &b);
	*map64_at(&r->function_ids, id) = (uint32_t)r->functions.n;
	vec_push(&r->functions, name ? name : linkage);
}

static void read_location(struct pprof_reader *r, struct bytes b)
{
	struct location l = { .lines = b };
	uint64_t id = 0;
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == LOCATION_ID)
			id = f.value;
		if (f.number == LOCATION_MAPPING)
			l.mapping = f.value;
		if (f.number == LOCATION_ADDRESS)
			l.address = f.value;
	}
	end(r, &b);
	*map64_at(&r->location_ids, id) = (uint32_t)r->locations.n;
	vec_push(&r->locations, l);
}

static enum object_kind kind_of_path(const char *path)
{
	if (!strncmp(path, "[kernel", 7) || !strncmp(path, "[guest.kernel", 13))
		return OBJECT_KERNEL;
	if (!strcmp(path, "[vdso]"))
		return OBJECT_VDSO;
	if (!strcmp(path, "[jit]"))
		return OBJECT_JIT;
	return path[0] == '[' ? OBJECT_OTHER : OBJECT_ELF;
}

/* The first mapping is the program's. */
static void read_mapping(struct pprof_reader *r, struct bytes b)
{
	uint64_t id = 0, file = 0, build_id = 0;
	struct pprof_mapping m = { 0 };
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == MAPPING_ID)
			id = f.value;
		if (f.number == MAPPING_FILE)
			file = f.value;
		if (f.number == MAPPING_BUILD_ID)
			build_id = f.value;
	}
	end(r, &b);
	char *path = copy_string(r, file), *hex = copy_string(r, build_id);
	enum object_kind kind = kind_of_path(path);
	bool is_id = strspn(hex, "0123456789abcdef") == strlen(hex); /* Go's ids are not hex */
	if (*path)
		m.object = profile_add_object_of(r->into, path, is_id ? hex : "", kind,
						 !r->mappings.n && kind == OBJECT_ELF);
	m.flags = kind == OBJECT_KERNEL ? FRAME_KERNEL : 0;
	*map64_at(&r->mapping_ids, id) = (uint32_t)r->mappings.n;
	vec_push(&r->mappings, m);
	free(path);
	free(hex);
}

/* Fields that a profile has once. In concatenated profiles they occur twice, and each profile has
 * its own numbers of strings. */
static bool is_single(uint32_t field) { return field >= PROFILE_TIME && field <= PROFILE_PERIOD; }

/* Reads what other messages refer to by number. */
static void read_numbers(struct pprof_reader *r)
{
	struct bytes b = r->all;
	bool seen[PROFILE_PERIOD + 1] = { false };
	for (struct proto_field f; proto_next(&b, &f);) {
		if (is_single(f.number)) {
			r->is_several |= seen[f.number];
			seen[f.number] = true;
		}
		if (f.number == PROFILE_STRING && f.wire == PROTO_BYTES)
			add_text(r, f.bytes);
		if (f.number == PROFILE_SAMPLE_TYPE && f.wire == PROTO_BYTES)
			read_type(r, f.bytes);
		if (f.number == PROFILE_PERIOD_TYPE && f.wire == PROTO_BYTES)
			r->period_type = read_type_name(r, f.bytes);
		if (f.number == PROFILE_DEFAULT_TYPE)
			r->default_type = f.value;
		if (f.number == PROFILE_PERIOD)
			r->period = f.value;
	}
	end(r, &b);
}

static void read_tables(struct pprof_reader *r)
{
	struct bytes b = r->all;
	b.failed = false;
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.wire != PROTO_BYTES)
			continue;
		if (f.number == PROFILE_FUNCTION)
			read_function(r, f.bytes);
		if (f.number == PROFILE_LOCATION)
			read_location(r, f.bytes);
		if (f.number == PROFILE_MAPPING)
			read_mapping(r, f.bytes);
	}
}

/* ---- events ---- */

static uint64_t scale_of(struct pprof_reader *r, uint64_t unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "nanoseconds", 1 },     { "nanosecond", 1 }, { "ns", 1 },
		{ "microseconds", 1000 }, { "us", 1000 },      { "milliseconds", 1000000 },
		{ "ms", 1000000 },        { "s", 1000000000 }, { "seconds", 1000000000 },
	};
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (is_text(r, unit, units[i].name))
			return units[i].ns;
	return 0;
}

static bool is_count_of_next(struct pprof_reader *r, size_t i)
{
	return i + 1 < r->types.n && is_text(r, r->types.at[i].unit, "count") &&
	       ends_text(r, r->types.at[i].name, "samples");
}

static void add_event(struct pprof_reader *r, struct value_type *t)
{
	uint64_t ns = scale_of(r, t->unit);
	struct event e = { .name = add_string(r, t->name),
			   .unit = ns ? EVENT_NS : EVENT_COUNT,
			   .stacks = true,
			   .is_timeless = true,
			   .is_beside = r->default_type && t->name != r->default_type };
	if (ns && is_text(r, t->name, "blocked"))
		e.kind = EVENT_BLOCKED;
	if (ns && is_text(r, t->name, "waiting"))
		e.kind = EVENT_WAITING;
	if (t->name == r->period_type && r->period <= INT64_MAX)
		e.period = r->period * (ns ? ns : 1);
	t->scale = ns ? ns : 1;
	t->event = profile_add_event(r->into, e);
}

/* pprof's default sample type: the last one, if the file does not say. */
static size_t default_type(struct pprof_reader *r)
{
	for (size_t i = 0; r->default_type && i < r->types.n; i++)
		if (r->types.at[i].name == r->default_type && !r->types.at[i].is_count)
			return i;
	return r->types.n - 1;
}

/* Adds the default type as the first event, then the others. */
static void add_events(struct pprof_reader *r)
{
	for (size_t i = 0; i < r->types.n; i++)
		r->types.at[i].is_count = is_count_of_next(r, i);
	size_t first = default_type(r);
	if (r->types.n)
		add_event(r, &r->types.at[first]);
	for (size_t i = 0; i < r->types.n; i++)
		if (i != first && !r->types.at[i].is_count)
			add_event(r, &r->types.at[i]);
}

/* ---- samples ---- */

static uint64_t function_of_line(struct pprof_reader *r, struct bytes b)
{
	uint64_t function = 0;
	for (struct proto_field f; proto_next(&b, &f);)
		if (f.number == LINE_FUNCTION)
			function = f.value;
	end(r, &b);
	uint32_t id = map64_get(&r->function_ids, function);
	return id == NONE ? 0 : r->functions.at[id];
}

/* Makes the frames of a location. Lines are innermost first; all but the last are inlined
 * functions. Code without lines has no name, or that of its file. */
static void make_frames(struct pprof_reader *r, struct location *l)
{
	uint32_t mapping = map64_get(&r->mapping_ids, l->mapping);
	struct pprof_mapping in =
		mapping == NONE ? (struct pprof_mapping){ 0 } : r->mappings.at[mapping];
	struct frame x = { .addr = l->address, .object = in.object, .flags = in.flags };
	struct bytes b = l->lines;
	l->first = (uint32_t)r->frames.n;
	r->names.n = 0;
	for (struct proto_field f; proto_next(&b, &f);)
		if (f.number == LOCATION_LINE && f.wire == PROTO_BYTES)
			vec_push(&r->names, add_string(r, function_of_line(r, f.bytes)));
	for (size_t i = 0; i < r->names.n; i++) {
		x.name = r->names.at[i];
		x.flags = in.flags | (i + 1 < r->names.n ? FRAME_INLINED : 0);
		vec_push(&r->frames, profile_add_frame(r->into, x));
	}
	if (!r->names.n)
		vec_push(&r->frames, profile_add_frame(r->into, x));
	l->n = (uint32_t)r->frames.n - l->first;
}

static stackid push_location(struct pprof_reader *r, stackid stack, uint64_t id)
{
	uint32_t at = map64_get(&r->location_ids, id);
	if (at == NONE) {
		r->all.failed = true;
		return stack;
	}
	struct location *l = &r->locations.at[at];
	if (!l->n)
		make_frames(r, l);
	if (l->n > r->frames_left) {
		r->frames_left = 0;
		return stack;
	}
	r->frames_left -= l->n;
	for (uint32_t i = l->n; i--;)
		stack = profile_add_stack(r->into, stack, r->frames.at[l->first + i]);
	return stack;
}

static void read_rank(struct pprof_reader *r, uint64_t text, struct task *t)
{
	char *number = copy_string(r, text);
	uint32_t rank;
	if (job_number(number, &rank))
		t->rank = rank + 1;
	free(number);
}

static void read_label(struct pprof_reader *r, struct bytes b, struct task *t)
{
	uint64_t key = 0, label = 0, number = 0;
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == LABEL_KEY)
			key = f.value;
		if (f.number == LABEL_TEXT)
			label = f.value;
		if (f.number == LABEL_NUMBER)
			number = f.value;
	}
	end(r, &b);
	if (label && (is_text(r, key, "thread") || is_text(r, key, "thread_name") ||
		      is_text(r, key, "comm")))
		t->comm = add_string(r, label);
	if (is_text(r, key, "tid") || is_text(r, key, "thread_id") || is_text(r, key, "thread id"))
		t->tid = (uint32_t)number;
	if (is_text(r, key, "pid") || is_text(r, key, "process_id"))
		t->pid = (uint32_t)number;
	if (is_text(r, key, "rank") && label)
		read_rank(r, label, t);
	if (is_text(r, key, "run"))
		t->run = (uint32_t)number;
}

/* Reads one number, or several packed ones. */
static void add_numbers(struct pprof_reader *r, const struct proto_field *f, bool values)
{
	struct bytes b = f->bytes;
	if (f->wire != PROTO_BYTES) {
		if (values)
			vec_push(&r->values, f->value);
		else
			vec_push(&r->path, f->value);
		return;
	}
	while (bytes_left(&b)) {
		uint64_t v = bytes_uleb(&b);
		if (b.failed)
			break;
		if (values)
			vec_push(&r->values, v);
		else
			vec_push(&r->path, v);
	}
	end(r, &b);
}

static void add_values(struct pprof_reader *r, stackid stack, taskid task)
{
	for (size_t i = 0; i < r->types.n && i < r->values.n; i++) {
		const struct value_type *t = &r->types.at[i];
		uint64_t weight = r->values.at[i], n = weight;
		if (i && t[-1].is_count)
			n = r->values.at[i - 1];
		else if (t->scale > 1 || !is_text(r, t->unit, "count"))
			n = 1;
		if (weight > INT64_MAX || n > INT64_MAX) {
			r->has_negative = true;
			continue;
		}
		if (t->is_count || (!weight && !(i && t[-1].is_count && n)))
			continue;
		if (__builtin_mul_overflow(weight, t->scale, &weight)) {
			weight = UINT64_MAX;
			profile_note_saturated(r->into);
		}
		profile_add_sample(r->into, (struct sample){ .stack = stack,
							     .task = task,
							     .event = t->event,
							     .cpu = CPU_NONE,
							     .weight = weight,
							     .count = n > UINT32_MAX ? UINT32_MAX
								      : n            ? (uint32_t)n
										     : 1 });
	}
}

static void read_sample(struct pprof_reader *r, struct bytes b)
{
	struct task task = { 0 };
	stackid stack = 0;
	r->path.n = r->values.n = 0;
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == SAMPLE_LOCATION || f.number == SAMPLE_VALUE)
			add_numbers(r, &f, f.number == SAMPLE_VALUE);
		else if (f.number == SAMPLE_LABEL && f.wire == PROTO_BYTES)
			read_label(r, f.bytes, &task);
	}
	end(r, &b);
	for (size_t i = r->path.n; i-- && r->frames_left;)
		stack = push_location(r, stack, r->path.at[i]);
	if (!r->frames_left)
		return;
	bool is_known = task.comm || task.pid || task.tid || task.run || task.rank;
	add_values(r, stack, is_known ? profile_add_task(r->into, task) : 0);
}

/* ---- all samples ---- */

static void read_samples(struct pprof_reader *r)
{
	struct bytes b = r->all;
	b.failed = false;
	for (struct proto_field f; proto_next(&b, &f);)
		if (f.number == PROFILE_SAMPLE && f.wire == PROTO_BYTES)
			read_sample(r, f.bytes);
}

static void done(struct pprof_reader *r)
{
	vec_free(&r->strings);
	vec_free(&r->types);
	vec_free(&r->mappings);
	vec_free(&r->locations);
	vec_free(&r->functions);
	vec_free(&r->frames);
	vec_free(&r->names);
	vec_free(&r->path);
	vec_free(&r->values);
	map64_free(&r->mapping_ids);
	map64_free(&r->location_ids);
	map64_free(&r->function_ids);
}

static struct kin_error *read_plain(struct bytes all, struct profile_builder *into)
{
	struct pprof_reader r = { .all = all, .into = into };
	r.frames_left = FEW_FRAMES + FRAMES_PER_BYTE * bytes_left(&all);
	read_numbers(&r);
	if (!r.is_several) {
		read_tables(&r);
		add_events(&r);
		read_samples(&r);
	}
	bool damaged = r.all.failed, negative = r.has_negative, several = r.is_several;
	bool unbounded = !r.frames_left;
	done(&r);
	if (several)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: several profiles, one behind the other: name each file of its "
			       "own",
			       all.name);
	if (unbounded)
		return err_new(
			KIN_ERROR_FORMAT,
			"%s: damaged: its stacks have more than %d frames for each byte of it: "
			"only those before were read",
			all.name, FRAMES_PER_BYTE);
	if (damaged)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: damaged or cut off: only a part of it was read", all.name);
	return negative ? format_negative(all.name) : NULL;
}

/* ---- the file ---- */

struct kin_error *pprof_read(struct bytes all, const struct input_opts *o,
			     struct profile_builder *into, struct source *source)
{
	(void)o;
	(void)source;
	return read_plain(all, into);
}

/* Whether the message is a type: two small numbers. */
static bool is_type(struct bytes b)
{
	size_t n = 0;
	for (struct proto_field f; proto_next(&b, &f); n++)
		if (f.number > TYPE_UNIT || f.wire != PROTO_VARINT || f.value > INT32_MAX)
			return false;
	return n && !b.failed;
}

/* All writers begin with the types of values, except Go's, which writes period and times before
 * them. */
static bool begins_so(struct bytes b)
{
	for (struct proto_field f; proto_next(&b, &f);) {
		if (f.number == PROFILE_SAMPLE_TYPE && f.wire == PROTO_BYTES)
			return is_type(f.bytes);
		bool is_period = f.number == PROFILE_PERIOD_TYPE && f.wire == PROTO_BYTES;
		if (is_period ? !is_type(f.bytes)
			      : f.wire != PROTO_VARINT || f.number < PROFILE_TIME ||
					f.number > PROFILE_DEFAULT_TYPE)
			return false;
	}
	return false;
}

bool pprof_recognise(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return begins_so(head);
}

/* sum_rows.c - sums up samples, and computes the ids of the rows they refer to. */
#include "formats/rows/sum_rows.h"

#include <string.h>

#include "base/capped.h"
#include "base/err.h"
#include "base/map64.h"
#include "formats/exported.h"
#include "formats/rows/row_binary.h"
#include "formats/rows/rows_hash.h"

enum { NS = 1000000000 };

struct frames_of { /* range of a location's frames, innermost first */
	uint32_t first, n;
	bool known;
};

struct summer {
	struct rows *r;
	const struct rows_opts *opts;
	struct map64 event_ids, function_ids, frame_ids, stack_ids;
	struct map64 whole; /* MAP64_PAIR(stack of the profile, comm and flags): index of stacks */
	struct map64 comms; /* hash of a thread's name -> a small number */
	struct frames_of *locations; /* [n_locations] */
	VEC(uint32_t) location_frames;
	VEC(uint32_t) functions; /* by function id: index in rows; NONE: not made yet */
	uint64_t *events;        /* [n_events]: ids; 0: not made yet */
	VEC(uint32_t) room;
};

/* ---- functions and frames ---- */

/* Whether the object's addresses are the same on every host. Those of the kernel and of JIT code
 * are not. */
static bool is_placed(const struct kin_object *o)
{
	return o->kind == KIN_OBJECT_FILE || o->kind == KIN_OBJECT_VDSO;
}

static struct rows_function make_function(struct summer *s, uint32_t id)
{
	const struct kin_function *f = kin_samples_function(s->r->samples, id);
	const struct kin_object *o = kin_samples_object(s->r->samples, f->object);
	/* A function that was only ever inlined has no first line, only lines with samples. */
	bool is_whole = f->address != 0;
	struct rows_function row = {
		.name = f->is_unnamed || s->opts->shown_names ? f->name : f->linkage_name,
		.file = is_whole ? f->file : "",
		.line = is_whole ? f->line : 0,
		.object = o->path,
		.build_id = o->build_id,
		.kind = (uint8_t)o->kind,
		.flags = (uint8_t)((f->is_unnamed ? ROWS_UNNAMED : 0) |
				   (o->is_main ? ROWS_MAIN : 0)),
		.address = is_placed(o) ? f->address : 0,
	};
	uint64_t hash = rows_hash_text(ROWS_HASH_START, row.name);
	hash = rows_hash_text(hash, row.file);
	hash = rows_hash_number(hash, row.line);
	hash = rows_hash_text(hash, row.object);
	hash = rows_hash_text(hash, row.build_id);
	hash = rows_hash_number(hash, row.kind);
	hash = rows_hash_number(hash, row.flags);
	row.id = rows_hash_end(rows_hash_number(hash, row.address));
	return row;
}

static uint32_t function_of(struct summer *s, uint32_t id)
{
	while (s->functions.n <= id)
		vec_push(&s->functions, NONE);
	if (s->functions.at[id] != NONE)
		return s->functions.at[id];
	struct rows_function row = make_function(s, id);
	uint32_t *at = map64_at(&s->function_ids, row.id);
	if (*at == NONE) {
		*at = (uint32_t)s->r->functions.n;
		vec_push(&s->r->functions, row);
	}
	return s->functions.at[id] = *at;
}

static uint32_t add_frame(struct summer *s, struct rows_frame row)
{
	uint64_t hash = rows_hash_number(ROWS_HASH_START, row.function);
	hash = rows_hash_text(hash, row.file);
	hash = rows_hash_number(hash, row.line);
	hash = rows_hash_number(hash, row.flags);
	row.id = rows_hash_end(rows_hash_number(hash, row.address));
	uint32_t *at = map64_at(&s->frame_ids, row.id);
	if (*at == NONE) {
		*at = (uint32_t)s->r->frames.n;
		vec_push(&s->r->frames, row);
	}
	return *at;
}

static const struct frames_of *frames_of_location(struct summer *s, uint32_t id)
{
	struct frames_of *f = &s->locations[id];
	if (f->known)
		return f;
	struct kin_samples *samples = s->r->samples;
	const struct kin_location location = *kin_samples_location(samples, id);
	size_t n;
	const struct kin_line *lines = kin_samples_lines(samples, id, &n);
	f->first = (uint32_t)s->location_frames.n;
	f->known = true;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = function_of(s, lines[i].function);
		const struct rows_function *function = &s->r->functions.at[at];
		vec_push(
			&s->location_frames,
			add_frame(
				s,
				(struct rows_frame){
					.function = function->id,
					.file = lines[i].file,
					.line = lines[i].line,
					.flags =
						(uint8_t)((lines[i].is_inlined ? ROWS_INLINED : 0) |
							  (location.is_kernel ? ROWS_KERNEL : 0)),
					.address = function->flags & ROWS_UNNAMED ? location.address
										  : 0,
				}));
	}
	f->n = (uint32_t)s->location_frames.n - f->first;
	return f;
}

/* ---- stacks ---- */

/* Replaces the frame by an equal one whose caller is guessed. */
static void guess_caller(struct summer *s, uint32_t *frame)
{
	struct rows_frame row = s->r->frames.at[*frame];
	row.flags |= ROWS_CALLER_GUESSED;
	*frame = add_frame(s, row);
}

/* Finds the stack's frames, innermost first. */
static void find_frames(struct summer *s, uint32_t stack)
{
	s->room.n = 0;
	while (stack) {
		const struct kin_stack at = *kin_samples_stack(s->r->samples, stack);
		const struct frames_of *f = frames_of_location(s, at.location);
		for (uint32_t i = 0; i < f->n; i++)
			vec_push(&s->room, s->location_frames.at[f->first + i]);
		if (at.caller_is_guessed && f->n)
			guess_caller(s, &s->room.at[s->room.n - 1]);
		stack = at.caller;
	}
}

static uint32_t make_stack(struct summer *s, uint32_t stack, const char *comm, uint8_t flags)
{
	struct rows *r = s->r;
	struct rows_stack row = { .comm = comm, .flags = flags };
	uint64_t hash = rows_hash_text(ROWS_HASH_START, comm);
	hash = rows_hash_number(hash, flags);
	find_frames(s, stack);
	for (size_t i = s->room.n; i--;)
		hash = rows_hash_number(hash, r->frames.at[s->room.at[i]].id);
	row.id = rows_hash_end(hash);
	uint32_t *at = map64_at(&s->stack_ids, row.id);
	if (*at != NONE)
		return *at;
	row.first = r->path.n;
	row.n = s->room.n;
	for (size_t i = s->room.n; i--;)
		vec_push(&r->path, s->room.at[i]);
	*at = (uint32_t)r->stacks.n;
	vec_push(&r->stacks, row);
	return *at;
}

static uint32_t stack_of(struct summer *s, const struct kin_sample *x)
{
	const char *comm = kin_samples_thread(s->r->samples, x->thread)->name;
	uint8_t flags = (uint8_t)((x->is_cut ? ROWS_CUT : 0) | (x->is_guessed ? ROWS_GUESSED : 0));
	uint64_t name = rows_hash_end(rows_hash_text(ROWS_HASH_START, comm));
	uint32_t *number = map64_at(&s->comms, name);
	if (*number == NONE)
		*number = (uint32_t)s->comms.n;
	uint32_t *at = map64_at(&s->whole, MAP64_PAIR(x->stack, *number << 2 | flags));
	if (*at == NONE)
		*at = make_stack(s, x->stack, comm, flags);
	return *at;
}

/* ---- events and times ---- */

static uint64_t event_of(struct summer *s, uint32_t id)
{
	if (s->events[id])
		return s->events[id];
	const struct kin_event *e = kin_samples_event(s->r->samples, id);
	uint64_t hash = rows_hash_text(ROWS_HASH_START, e->name);
	hash = rows_hash_text(hash, e->unit);
	hash = rows_hash_end(rows_hash_number(hash, e->kind));
	uint32_t *at = map64_at(&s->event_ids, hash);
	if (*at == NONE) {
		*at = (uint32_t)s->r->events.n;
		vec_push(&s->r->events, ((struct rows_event){ .id = hash,
							      .name = e->name,
							      .unit = e->unit,
							      .kind = (uint8_t)e->kind,
							      .period = e->period,
							      .frequency = e->frequency }));
	}
	return s->events[id] = hash;
}

static uint32_t bucket_of(const struct summer *s, const struct kin_sample *x)
{
	const struct kin_recording *r = kin_samples_recording(s->r->samples, x->recording);
	uint32_t length = s->opts->bucket_s ? s->opts->bucket_s : 60;
	uint64_t second = s->opts->now_s;
	if (r->start_time_ns) {
		bool later = x->time_ns && r->start_ns && x->time_ns > r->start_ns;
		second = (r->start_time_ns + (later ? x->time_ns - r->start_ns : 0)) / NS;
	}
	if (second > UINT32_MAX)
		second = s->opts->now_s;
	return (uint32_t)(second - second % length);
}

/* ---- sums ---- */

static int by_place(const void *a, const void *b)
{
	const struct rows_sum *x = a, *y = b;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void sort_sums(struct rows *r)
{
	if (r->sums.n)
		qsort(r->sums.at, r->sums.n, sizeof(*r->sums.at), by_place);
	r->made_of = ROWS_HASH_START;
	for (size_t i = 0; i < r->sums.n; i++) {
		const struct rows_sum *x = &r->sums.at[i];
		r->made_of = rows_hash_number(r->made_of, x->bucket);
		r->made_of = rows_hash_number(r->made_of, x->event);
		r->made_of = rows_hash_number(r->made_of, x->stack);
		r->made_of = rows_hash_number(r->made_of, x->weight);
		r->made_of = rows_hash_number(r->made_of, x->count);
	}
	r->made_of = rows_hash_end(r->made_of);
}

static void sum_samples(struct summer *s)
{
	struct rows *r = s->r;
	const struct kin_sample *x;
	struct map64 times = { 0 }, sums = { 0 };
	while ((x = kin_samples_next(r->samples))) {
		uint32_t stack = stack_of(s, x), bucket = bucket_of(s, x);
		uint64_t event = event_of(s, x->event);
		uint32_t *time = map64_at(&times, MAP64_PAIR(bucket, x->event));
		if (*time == NONE)
			*time = (uint32_t)times.n;
		uint32_t *at = map64_at(&sums, MAP64_PAIR(stack, *time));
		if (*at == NONE) {
			*at = (uint32_t)r->sums.n;
			vec_push(&r->sums, ((struct rows_sum){ .bucket = bucket,
							       .event = event,
							       .stack = r->stacks.at[stack].id }));
		}
		capped_add(&r->sums.at[*at].weight, x->weight);
		capped_add(&r->sums.at[*at].count, x->count);
	}
	map64_free(&times);
	map64_free(&sums);
	sort_sums(r);
}

struct kin_error *rows_of(struct kin_profile *profile, const struct rows_opts *opts,
			  struct rows *ret)
{
	struct rows r = { 0 };
	struct kin_error *err = kin_samples_new(profile, &r.samples);
	if (err)
		return err;
	if (!kin_samples_n(r.samples)) {
		err = exported_nothing(kin_samples_n_events(r.samples));
		rows_done(&r);
		return err;
	}
	struct summer s = { .r = &r, .opts = opts };
	s.events = xalloc((kin_samples_n_events(r.samples) + 1) * sizeof(*s.events));
	s.locations = xalloc((kin_samples_n_locations(r.samples) + 1) * sizeof(*s.locations));
	sum_samples(&s);
	free(s.events);
	free(s.locations);
	vec_free(&s.location_frames);
	vec_free(&s.functions);
	vec_free(&s.room);
	map64_free(&s.event_ids);
	map64_free(&s.function_ids);
	map64_free(&s.frame_ids);
	map64_free(&s.stack_ids);
	map64_free(&s.whole);
	map64_free(&s.comms);
	const struct kin_error *bad = kin_samples_error(r.samples);
	if (bad) {
		err = err_new(kin_error_kind(bad), "%s", kin_error_message(bad));
		rows_done(&r);
		return err;
	}
	*ret = r;
	return NULL;
}

void rows_done(struct rows *r)
{
	vec_free(&r->events);
	vec_free(&r->functions);
	vec_free(&r->frames);
	vec_free(&r->stacks);
	vec_free(&r->path);
	vec_free(&r->sums);
	kin_samples_free(r->samples);
	*r = (struct rows){ 0 };
}

/* ---- as RowBinary ---- */

void rows_put_function(const struct rows_function *f, struct row_buffer *ret)
{
	row_u64(ret, f->id);
	row_text(ret, f->name);
	row_text(ret, f->file);
	row_u32(ret, f->line);
	row_text(ret, f->object);
	row_text(ret, f->build_id);
	row_u8(ret, f->kind);
	row_u8(ret, f->flags);
	row_u64(ret, f->address);
}

void rows_put_frame(const struct rows_frame *f, struct row_buffer *ret)
{
	row_u64(ret, f->id);
	row_u64(ret, f->function);
	row_text(ret, f->file);
	row_u32(ret, f->line);
	row_u8(ret, f->flags);
	row_u64(ret, f->address);
}

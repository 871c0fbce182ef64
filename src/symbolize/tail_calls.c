/* tail_calls.c - compares the function that was called with the one that runs, for all stacks. */
#include "symbolize/tail_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "names/kept.h"
#include "symbolize/program_private.h"
#include "symbolize/tail_ways.h"

enum { NOT_ASKED = NONE - 1 };

struct code_source {            /* of what is known of an object's code */
	struct tail_ways *ways; /* NULL: nothing, or not yet */
	bool is_closed;         /* its file was not opened yet */
};

struct tail_frames { /* frames[first .. first + n) lie between caller and callee */
	uint32_t first, n;
	bool is_unknown; /* something is missing, but not known */
	bool is_false;   /* there is no way: the caller did not make this call */
};

struct tail_calls {
	struct profile *p;
	struct program_files *files;
	const struct recorded_opts *how;
	struct code_source *sources; /* [n_objects] */
	/* [n_frames]: tail_ways_called() and tail_ways_running(), or NOT_ASKED. */
	uint32_t *calls, *runs;

	struct map64 way_of; /* (frame of the caller, function that runs): index in `ways` */
	VEC(struct tail_frames) ways; /* [0]: nothing is missing */
	VEC(frameid) frames;
	uint32_t *way;  /* [n_stacks]: index in `ways`; NULL: nothing is missing anywhere */
	bool is_walked; /* kin walked the stacks, so a false caller is one that the walk found */
	frameid cut;    /* the mark in place of false callers; 0: none yet */
};

/* ---- what is known of an object's code ---- */

/* What cannot be opened, or not as it ran, is left to programs, which say so. */
static void open_file(struct tail_calls *t, objid id)
{
	struct symbols_opts opts = { .table.exact = true };
	struct kin_error *instead = NULL, *err = NULL;
	struct object_file **at = &t->files->at[id];
	struct symbols **symbols = &t->files->symbols[id];

	if (!*at)
		err = recorded_object(t->p, id, t->how, at, &instead);
	if (*at && instead) {
		object_free(*at);
		*at = NULL;
	}
	if (*at && !*symbols && tail_ways_pay(*at))
		kin_error_free(symbols_new(*at, &opts, symbols));
	if (*symbols)
		t->sources[id].ways = tail_ways_new(*at, *symbols);
	kin_error_free(instead);
	kin_error_free(err);
}

/* Where addresses are made up, or tail calls were searched already, the file tells no more. */
static void choose_source(struct tail_calls *t, objid id)
{
	struct code_source *s = &t->sources[id];
	const struct kept_object *kept = recorded_kept(t->p, id);

	if (t->p->objects[id].kind != OBJECT_ELF)
		return;
	if (!kept || !(kept->flags & (KEPT_GIVEN | KEPT_TAIL_CALLS)))
		s->is_closed = true;
	else if (kept->tail_calls.n)
		s->ways = tail_ways_kept(kept);
}

static uint32_t called_before(const struct tail_calls *t, const struct frame *f)
{
	const struct code_source *s = &t->sources[f->object];

	if (!(f->flags & FRAME_RETURN) || (!s->ways && !s->is_closed))
		return NONE;
	return s->is_closed ? NOT_ASKED : tail_ways_called(s->ways, f);
}

static uint32_t called_in_file(struct tail_calls *t, const struct frame *f)
{
	struct code_source *s = &t->sources[f->object];

	if (s->is_closed)
		open_file(t, f->object);
	s->is_closed = false;
	return called_before(t, f);
}

static void find_calls(struct tail_calls *t)
{
	size_t n = t->p->samples.n_frames;

	t->sources = xalloc(t->p->n_objects * sizeof(*t->sources));
	for (objid id = 0; id < t->p->n_objects; id++)
		choose_source(t, id);
	t->calls = xrealloc(NULL, 2 * n, sizeof(*t->calls));
	t->runs = t->calls + n;
	t->calls[0] = NONE;
	for (size_t i = 1; i < n; i++)
		t->calls[i] = called_before(t, &t->p->samples.frames[i]);
	for (size_t i = 0; i < n; i++)
		t->runs[i] = NOT_ASKED;
}

/* ---- ways ---- */

static uint32_t add_way(struct tail_calls *t, objid object, const struct tail_way *found)
{
	struct tail_frames way = { (uint32_t)t->frames.n, found->n, !found->n && !found->is_false,
				   found->is_false };

	if (found->is_false && !t->cut)
		t->cut = profile_append_mark(t->p, MARK_CUT);
	for (uint32_t i = 0; i < found->n; i++)
		vec_push(&t->frames,
			 profile_append_frame(t->p, (struct frame){ .addr = found->jump[i],
								    .object = object,
								    .flags = FRAME_TAIL_CALL }));
	vec_push(&t->ways, way);
	return (uint32_t)t->ways.n - 1;
}

static uint32_t way_between(struct tail_calls *t, frameid caller, frameid callee)
{
	const struct frame *above = &t->p->samples.frames[caller],
			   *below = &t->p->samples.frames[callee];
	struct tail_way way;

	if (above->object != below->object)
		return 0;
	if (t->calls[caller] == NOT_ASKED)
		t->calls[caller] = called_in_file(t, above);
	if (t->calls[caller] == NONE)
		return 0;
	struct tail_ways *ways = t->sources[above->object].ways;
	if (t->runs[callee] == NOT_ASKED)
		t->runs[callee] = tail_ways_running(ways, below);
	uint32_t calls = t->calls[caller], runs = t->runs[callee];
	if (runs == NONE || runs == calls)
		return 0;
	uint32_t *known = map64_at(&t->way_of, MAP64_PAIR(caller, runs));
	if (*known == NONE) {
		bool differs = tail_ways_find(ways, calls, runs, &way);
		*known = differs && (t->is_walked || !way.is_false)
				 ? add_way(t, above->object, &way)
				 : 0;
	}
	return *known;
}

/* ---- stacks ---- */

static void find_ways(struct tail_calls *t, bool *changes)
{
	const struct stack *stacks = t->p->samples.stacks;
	size_t n = t->p->samples.n_stacks;

	for (size_t i = 1; i < n; i++) {
		frameid caller = stacks[stacks[i].caller].frame;
		if (t->calls[caller] == NONE)
			continue;
		uint32_t way = way_between(t, caller, stacks[i].frame);
		if (way && !t->way)
			t->way = xalloc(n * sizeof(*t->way));
		if (!way)
			continue;
		t->way[i] = way;
		changes[i] |= t->ways.at[way].n > 0 || t->ways.at[way].is_false;
	}
}

/* What stacks have, their callers included. */
enum { PUT_BACK = 1, UNKNOWN = 2, FALSE_CALLER = 4, GUESSED = 8, CUT = 16 };

static uint8_t mark_of(const struct profile *p, const struct frame *f)
{
	if (!(f->flags & FRAME_MARK))
		return 0;
	return !strcmp(strtab_get(p->strings, f->name), MARK_CUT) ? CUT : GUESSED;
}

static uint8_t *look_at_stacks(const struct tail_calls *t)
{
	const struct samples *s = &t->p->samples;
	uint8_t *has = xalloc(s->n_stacks + 1);

	for (size_t i = 1; i < s->n_stacks; i++) {
		const struct tail_frames *way = &t->ways.at[t->way[i]];
		has[i] = has[s->stacks[i].caller] | mark_of(t->p, &s->frames[s->stacks[i].frame]);
		if (way->is_false)
			has[i] = (has[i] & (GUESSED | CUT)) | FALSE_CALLER;
		else
			has[i] |= (way->n ? PUT_BACK : 0) | (way->is_unknown ? UNKNOWN : 0);
	}
	return has;
}

static void move_count(uint64_t *from, uint64_t *to, uint64_t n)
{
	n = min_u64(*from, n);
	*from -= n;
	*to += n;
}

/* Counts stacks with false callers among those that were cut. */
static void count_cut(struct profile *p, const uint8_t *has)
{
	struct audit *a = &p->samples.audit;

	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		if ((has[s->stack] & (FALSE_CALLER | CUT)) == FALSE_CALLER)
			move_count(has[s->stack] & GUESSED ? &a->guessed : &a->complete,
				   &a->truncated, s->count ? s->count : 1);
	}
}

static struct tail_calls_found shares(const struct profile *p, const uint8_t *has, uint16_t event)
{
	const struct samples *s = &p->samples;
	double all = 0, back = 0, unknown = 0, cut = 0;

	for (size_t i = 0; i < s->n; i++) {
		double weight = s->at[i].event == event ? (double)s->at[i].weight : 0;
		all += weight;
		back += has[s->at[i].stack] & PUT_BACK ? weight : 0;
		unknown += has[s->at[i].stack] & UNKNOWN ? weight : 0;
		cut += has[s->at[i].stack] & FALSE_CALLER ? weight : 0;
	}
	all = all > 0 ? all : 1;
	return (struct tail_calls_found){ back / all, unknown / all, cut / all };
}

struct tail_calls *tail_calls_find(struct profile *p, struct program_files *files,
				   const struct recorded_opts *how, uint16_t event, bool *changes,
				   struct tail_calls_found *found)
{
	const struct audit *a = &p->samples.audit;

	*found = (struct tail_calls_found){ 0 };
	if (!samples_have_callers(&p->samples))
		return NULL;
	struct tail_calls *t = xalloc(sizeof(*t));
	*t = (struct tail_calls){ .p = p, .files = files, .how = how };
	t->is_walked = a->complete || a->guessed || a->truncated;
	program_files_grow(files, p->n_objects);
	vec_push(&t->ways, ((struct tail_frames){ 0 }));
	find_calls(t);
	find_ways(t, changes);
	if (t->way) {
		uint8_t *has = look_at_stacks(t);
		*found = shares(p, has, event);
		count_cut(p, has);
		free(has);
	}
	if (t->frames.n || t->cut)
		return t;
	tail_calls_free(t);
	return NULL;
}

void tail_calls_free(struct tail_calls *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->p->n_objects; i++)
		tail_ways_free(t->sources[i].ways);
	free(t->sources);
	free(t->calls);
	map64_free(&t->way_of);
	vec_free(&t->ways);
	vec_free(&t->frames);
	free(t->way);
	free(t);
}

stackid tail_calls_correct(const struct tail_calls *t, struct revised_stacks *r, stackid stack,
			   stackid caller)
{
	const struct tail_frames *way = &t->ways.at[t->way[stack]];

	if (way->is_false)
		return revised_stacks_add(r, 0, t->cut);
	for (uint32_t i = 0; i < way->n; i++)
		caller = revised_stacks_add(r, caller, t->frames.at[way->first + i]);
	return caller;
}

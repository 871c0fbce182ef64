/* evidence.c - goes through the stacks once, for all findings. */
#include "findings/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/audit.h"
#include "base/people_name.h"
#include "base/sort.h"
#include "paths/path_tree.h"

/* ---- words ---- */

double evidence_points(const struct evidence *e, double share)
{
	return audit_interval(share, e->count);
}

char *evidence_function(const struct evidence *e, symid function)
{
	return function == NONE ? NULL : xprintf("%s", program_name(e->in->program, function));
}

char *evidence_name(const struct evidence *e, symid function)
{
	const char *full = program_name(e->in->program, function);
	char *name = people_name(full, PEOPLE_SHORT);
	return name ? name : xprintf("%s", full);
}

char *evidence_share(const struct evidence *e, double share)
{
	double points = 100 * evidence_points(e, share);
	return xprintf("%.0f %% of the time (\u00b1 %.*f)", 100 * share, points < 1 ? 1 : 0,
		       points);
}

static int by_share(const void *l, const void *r)
{
	const struct own_share *a = l, *b = r;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return ORDER(a->function, b->function);
}

char *evidence_owners(const struct evidence *e, struct own_share *shares, size_t n)
{
	enum { SHOWN = 3 };
	const double least = 0.01;
	char *text = xprintf("%s", "");

	if (n)
		qsort(shares, n, sizeof(*shares), by_share);
	for (size_t i = 0; i < n && i < SHOWN && shares[i].share >= least; i++) {
		char *name = evidence_name(e, shares[i].function);
		char *longer =
			xprintf("%s%s%s %.0f %%", text, i ? ", " : "", name, 100 * shares[i].share);
		free(name);
		free(text);
		text = longer;
	}
	return text;
}

/* ---- who, and on what ---- */

struct seen_frame {     /* what a frame adds to a stack */
	symid own;      /* its innermost own function; NONE: it has none */
	uint8_t within; /* efforts of what is inlined into that; of all of it, without one */
	uint32_t depth; /* how many functions are inlined into that */
};

struct frame_reader {
	const struct findings_input *in;
	VEC(uint8_t) efforts; /* [place]: + 1; 0: not known yet */
};

static enum effort effort_at(struct frame_reader *r, symid place, bool is_kernel)
{
	while (r->efforts.n <= place)
		vec_push(&r->efforts, 0);
	if (!r->efforts.at[place])
		r->efforts.at[place] =
			(uint8_t)(effort_of(program_name(r->in->program, place), is_kernel) + 1);
	return r->efforts.at[place] - 1;
}

static struct seen_frame look_at(struct frame_reader *r, frameid frame)
{
	const struct frame *f = &r->in->profile->samples.frames[frame];
	struct seen_frame ret = { NONE, 0 };
	size_t n = 0;
	const symid *inlined = program_inlines(r->in->program, frame, &n);

	if (f->flags & FRAME_MARK)
		return ret;
	for (size_t i = 0; i <= n; i++) {
		symid place = i < n ? inlined[i] : program_place(r->in->program, frame);
		if (place == NONE)
			continue;
		enum effort effort = effort_at(r, place, f->flags & FRAME_KERNEL);
		if (effort != N_EFFORTS) {
			ret.within |= (uint8_t)(1 << effort);
		} else if (r->in->is_own(r->in->arg, frame, i)) {
			ret.own = program_symbols(r->in->program)->at[place].owner;
			ret.depth = (uint32_t)i;
			break;
		}
	}
	return ret;
}

/* Sums up the event. Samples of unequal weight tell less than their number. */
static void add_samples(struct evidence *e)
{
	for (size_t i = 0; i < e->samples->n; i++) {
		const struct sample *x = &e->samples->at[i];
		if (x->event != e->event)
			continue;
		e->weight += (double)x->weight;
		e->count += (double)x->count;
	}
	double alike = audit_samples(e->in->profile);
	e->count = alike > 0 && alike < e->count ? alike : e->count;
}

bool evidence_new(const struct findings_input *in, struct evidence *ret)
{
	const struct samples *s = &in->profile->samples;
	struct frame_reader reader = { .in = in };
	struct evidence e = { .in = in, .samples = s, .event = samples_event(s) };

	add_samples(&e);
	if (e.weight <= 0 || e.count < AUDIT_FEW)
		return false;
	struct seen_frame *frames = xalloc((s->n_frames + 1) * sizeof(*frames));
	e.own = xrealloc(NULL, s->n_stacks + 1, sizeof(*e.own));
	e.spent = xalloc(s->n_stacks + 1);
	e.at = xalloc((s->n_stacks + 1) * sizeof(*e.at));
	for (size_t i = 1; i < s->n_frames; i++)
		frames[i] = look_at(&reader, (frameid)i);
	e.own[0] = NONE;
	for (size_t i = 1; i < s->n_stacks; i++) {
		const struct seen_frame *f = &frames[s->stacks[i].frame];
		stackid caller = s->stacks[i].caller;
		e.own[i] = f->own != NONE ? f->own : e.own[caller];
		e.at[i] = f->own != NONE ? (struct own_place){ s->stacks[i].frame, f->depth }
					 : e.at[caller];
		e.spent[i] = f->within | (f->own != NONE ? 0 : e.spent[caller]);
	}
	free(frames);
	vec_free(&reader.efforts);
	*ret = e;
	return true;
}

void evidence_free(struct evidence *e)
{
	free(e->own);
	free(e->spent);
	free(e->at);
}

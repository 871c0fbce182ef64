/* hists_paths.c - turns stacks into paths: the parts of a stack that keys distinguish. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "analysis/hists_private.h"

/* ---- tuples ---- */

uint32_t tuples_add(struct tuples *t, const uint32_t *values)
{
	uint32_t id = 0;
	for (size_t i = 0; i < t->width; i++) {
		uint32_t *at = map64_at(&t->ids[i], MAP64_PAIR(id, values[i]));
		if (*at == NONE)
			*at = t->n_prefixes[i]++;
		id = *at;
	}
	if (t->n <= id) {
		t->n = id + 1;
		for (size_t i = 0; i < t->width; i++)
			vec_push(&t->values, values[i]);
	}
	return id;
}

/* ---- hops ---- */

static uint32_t chain_key(struct hists_private *h, frameid frame, symid place, bool inlined,
			  uint32_t call)
{
	uint32_t value = frame;
	if (!h->hists.opts->chains)
		return 0;
	switch (h->hists.opts->chain_key) {
	case CHAIN_BY_FUNCTION:
		return hist_key_of_frame(h, HIST_SYM, frame, place, inlined, call);
	case CHAIN_BY_SRCLINE:
		value = hist_line_id(h, frame, call);
		break;
	case CHAIN_BY_ADDRESS: {
		const struct frame *f = &h->hists.profile->samples.frames[frame];
		uint32_t *same = map64_at(&h->address_ids, f->addr ^ (uint64_t)f->object << 48);
		if (*same == NONE)
			*same = frame;
		value = *same;
		break;
	}
	}
	return map64_number(&h->chain_ids, MAP64_PAIR(place, value));
}

static uint32_t add_hop(struct hists_private *h, frameid frame, symid place, bool inlined,
			uint32_t call)
{
	uint32_t values[N_HIST_KEYS];
	for (size_t i = 0; i < h->fkeys.width; i++)
		values[i] = hist_key_of_frame(h, h->frame_keys[i], frame, place, inlined, call);
	uint32_t fkey = tuples_add(&h->fkeys, values);
	uint32_t ckey = chain_key(h, frame, place, inlined, call);
	uint32_t *at = map64_at(&h->hop_ids, MAP64_PAIR(fkey, ckey));
	if (*at == NONE) {
		*at = (uint32_t)h->hops.n;
		vec_push(&h->hops,
			 ((struct hop){ fkey, ckey, frame, place, inlined, call, NONE, NONE }));
	}
	return *at;
}

static bool to_innermost(const struct hists_private *h)
{
	return h->hists.opts->inlines && !h->hists.opts->self_physical;
}

static void find_hops(struct hists_private *h, frameid frame)
{
	const struct frame *f = &h->hists.profile->samples.frames[frame];
	struct frame_hops *at = &h->hops_of[frame];
	symid place = program_place(h->hists.program, frame);
	bool is_inlined = frame && f->flags & FRAME_INLINED;
	size_t n = 0;
	const symid *inlines = NULL;

	if (frame && h->hists.opts->inlines)
		inlines = program_inlines(h->hists.program, frame, &n);
	at->first = (uint32_t)h->hop_lists.n;
	at->n = (uint32_t)n + 1;
	vec_push(&h->hop_lists,
		 add_hop(h, frame, place, is_inlined, n ? (uint32_t)n - 1 : NO_CALL));
	for (; n; n--)
		vec_push(&h->hop_lists, add_hop(h, frame, inlines[n - 1], true,
						n > 1 ? (uint32_t)n - 2 : NO_CALL));
	at->self = to_innermost(h) ? h->hop_lists.at[at->first + at->n - 1]
				   : add_hop(h, frame, place, is_inlined, NO_CALL);
}

const struct frame_hops *hists_hops(struct hists_private *h, frameid frame)
{
	if (!h->hops_of[frame].n)
		find_hops(h, frame);
	return &h->hops_of[frame];
}

static stackid leaf_stack(const struct hists_private *h, stackid stack)
{
	bool physical = h->hists.opts->self_physical || !h->hists.opts->inlines;
	return physical ? samples_physical(&h->hists.profile->samples, stack) : stack;
}

stackid hists_leaf_of(const struct hists_private *h, stackid stack)
{
	return h->ignored && h->ignored[stack] ? h->ignored[stack] : stack;
}

symid hists_leaf(struct hists_private *h, stackid stack, frameid *frame)
{
	size_t n = 0;
	*frame = h->hists.profile->samples.stacks[leaf_stack(h, stack)].frame;
	const symid *inlines =
		*frame && to_innermost(h) ? program_inlines(h->hists.program, *frame, &n) : NULL;
	return n ? inlines[0] : program_place(h->hists.program, *frame);
}

/* The leaf found by hists_leaf(), as a hop. */
uint32_t hists_leaf_hop(struct hists_private *h, stackid stack)
{
	const struct samples *s = &h->hists.profile->samples;
	return hists_hops(h, s->stacks[leaf_stack(h, stack)].frame)->self;
}

/* ---- rows ---- */

uint32_t hists_row(struct hists_private *h, uint32_t skey, uint32_t hop, taskid task)
{
	struct hop *o = &h->hops.at[hop];
	if (o->skey == skey)
		return o->row;
	uint32_t *at = map64_at(&h->row_ids, MAP64_PAIR(skey, o->fkey));
	if (*at == NONE) {
		uint32_t flags = h->hists.profile->samples.frames[o->frame].flags;
		*at = (uint32_t)h->rows.n;
		vec_push(&h->rows, ((struct hist_row){
					   .skey = skey,
					   .fkey = o->fkey,
					   .frame = o->frame,
					   .place = o->place,
					   .inlined = o->inlined,
					   .level = (uint16_t)(flags & (FRAME_KERNEL | FRAME_GUEST |
									FRAME_HYPERVISOR)),
					   .task = task,
				   }));
	}
	o->skey = skey;
	o->row = *at;
	return *at;
}

/* ---- paths ---- */

bool hists_leaves_out(const struct hists_private *h, frameid frame)
{
	const struct frame *f = &h->hists.profile->samples.frames[frame];
	if (f->flags & FRAME_INLINED && !h->hists.opts->inlines)
		return true;
	if (f->flags & FRAME_MARK && h->rules->hide_marks)
		return true;
	return h->hists.opts->hide_unresolved &&
	       program_kind(h->hists.program, program_place(h->hists.program, frame)) ==
		       PLACE_UNKNOWN;
}

static struct path_places hops_of(void *arg, frameid frame)
{
	struct hists_private *h = arg;
	if (hists_leaves_out(h, frame))
		return (struct path_places){ 0 };
	const struct frame_hops *hops = hists_hops(h, frame);
	return (struct path_places){ &h->hop_lists.at[hops->first], hops->n };
}

uint32_t hists_new_own(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events, n = h->own.n;
	vec_reserve(&h->own, n_events + 1); /* there may be no events */
	memset(h->own.at + n, 0, n_events * sizeof(*h->own.at));
	h->own.n += n_events;
	return (uint32_t)(n / (n_events ? n_events : 1));
}

/* Adds rows for the newest nodes, which are all below the root of one skey. */
static void add_rows(struct hists_private *h, uint32_t skey, taskid task)
{
	const struct path_node *nodes = h->maker.nodes.at;
	size_t first = h->own_at.n, n = h->maker.nodes.n;
	if (n == first)
		return;
	vec_reserve(&h->own_at, n - first);
	memset(h->own_at.at + first, 0, (n - first) * sizeof(*h->own_at.at));
	h->own_at.n = n;
	for (size_t i = first; i < n && !h->hists.opts->no_children; i++)
		if (nodes[i].caller) /* a root's place is no hop */
			hists_row(h, skey, nodes[i].place, task);
}

uint32_t hists_own_at(struct hists_private *h, pathid path, uint32_t skey, uint32_t row,
		      taskid task)
{
	const struct path_node *node = &h->maker.nodes.at[path];
	uint32_t *own = &h->own_at.at[path];
	if (*own)
		return *own;
	*own = hists_new_own(h);
	if (!node->caller)
		row = NONE;
	else if (!h->hists.opts->no_children)
		row = hists_row(h, skey, node->place, task);
	vec_push(&h->own_rows, row);
	return *own;
}

/* There are about as many paths as stacks, and samples end at no more paths than there are samples.
 * With memory reserved for these, nothing has to be moved. */
void hists_begin_paths(struct hists_private *h)
{
	size_t n = h->hists.profile->samples.n_stacks;
	vec_reserve(&h->own_at, n);
	vec_reserve(&h->own, (h->hists.profile->samples.n + 1) * h->hists.opts->n_events + 1);
	hists_new_own(h);
	vec_push(&h->own_rows, NONE);
	path_maker_init(&h->maker, &h->hists.profile->samples, hops_of, h);
	add_rows(h, 0, 0);
}

static pathid whole_path(struct hists_private *h, stackid stack, uint32_t skey)
{
	path_maker_root(&h->maker, skey, skey);
	return path_maker_stack(&h->maker, skey, stack);
}

/* The path of the innermost n frames of a stack, or of all. It is not looked up by stack, because
 * it is not the beginning of one. */
static pathid path_end(struct hists_private *h, stackid stack, uint32_t n, uint32_t skey)
{
	const struct samples *s = &h->hists.profile->samples;
	h->end.n = 0;
	for (; stack && n; stack = s->stacks[stack].caller, n--)
		vec_push(&h->end, s->stacks[stack].frame);
	pathid at = path_maker_root(&h->maker, skey, skey);
	while (h->end.n)
		at = path_maker_frame(&h->maker, at, h->end.at[--h->end.n]);
	return at;
}

static stackid caller_at(const struct hists_private *h, stackid stack, uint32_t depth)
{
	while (h->depths[stack] > depth)
		stack = h->hists.profile->samples.stacks[stack].caller;
	return stack;
}

static uint32_t frames_from(const struct hists_private *h, stackid outer, stackid inner)
{
	const struct samples *s = &h->hists.profile->samples;
	uint32_t n = 1;
	for (; inner && inner != outer; inner = s->stacks[inner].caller)
		n++;
	return n;
}

/* The path of a stack that is cut at one end, or has no frames; `leaf`: the hop that its Self goes
 * to. */
static pathid cut_path(struct hists_private *h, stackid stack, uint32_t skey, uint32_t leaf)
{
	const struct hists_opts *o = h->hists.opts;
	stackid ignored = h->ignored ? h->ignored[stack] : 0;
	if (ignored && h->rules->ignore_drops_callers && o->order == CHAIN_CALLER)
		return path_end(h, stack, frames_from(h, ignored, stack), skey);
	if (ignored)
		stack = ignored;
	if (o->no_callers)
		stack = 0;
	if (h->depths && h->depths[stack] > o->max_stack) {
		if (o->order == CHAIN_CALLEE)
			return path_end(h, stack, o->max_stack, skey);
		stack = caller_at(h, stack, o->max_stack);
	}
	/* Without a stack there is one hop: the leaf, which may be an unknown place. */
	pathid root = path_maker_root(&h->maker, skey, skey);
	return stack ? whole_path(h, stack, skey) : path_maker_below(&h->maker, root, leaf);
}

struct stack_path hists_path(struct hists_private *h, stackid stack, uint32_t skey, taskid task)
{
	struct stack_path ret;
	if (!stack || h->ignored || h->depths || h->hists.opts->no_callers) {
		uint32_t leaf = hists_leaf_hop(h, hists_leaf_of(h, stack));
		ret.row = hists_row(h, skey, leaf, task);
		ret.path = cut_path(h, stack, skey, leaf);
		add_rows(h, skey, task);
		return ret;
	}
	ret.path = whole_path(h, stack, skey);
	add_rows(h, skey, task);
	ret.row = hists_row(h, skey, hists_leaf_hop(h, stack), task);
	return ret;
}

/* ---- matching functions ---- */

bool hists_match(uint8_t *memo, struct hists_private *h, const regex_t *re, symid place)
{
	if (place == NONE || program_kind(h->hists.program, place) == PLACE_UNKNOWN)
		return false;
	if (!memo[place])
		memo[place] =
			regexec(re, program_name(h->hists.program, place), 0, NULL, 0) ? 1 : 2;
	return memo[place] == 2;
}

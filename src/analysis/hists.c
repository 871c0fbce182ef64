/* hists.c - filters samples, finds their keys, and passes them on to rows or paths. */
#include "analysis/hists.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_detail.h"
#include "analysis/hist_key.h"
#include "analysis/hists_private.h"
#include "base/function_name.h"
#include "base/wordlist.h"

/* ---- properties of stacks ---- */

/* Whether a stack is deeper than `max`. Depths are bytes: the cost of a large array is that of the
 * memory touched. */
static bool is_deeper(const struct samples *s, unsigned max)
{
	bool deeper = max >= UINT8_MAX; /* depths in bytes cannot tell */
	uint8_t *depths = xalloc(s->n_stacks + 1);
	for (size_t i = 1; i < s->n_stacks && !deeper; i++) {
		depths[i] = (uint8_t)(depths[s->stacks[i].caller] + 1);
		deeper = depths[i] > max;
	}
	free(depths);
	return deeper;
}

static void find_depths(struct hists_private *h)
{
	const struct samples *s = &h->hists.profile->samples;
	if (!h->hists.opts->max_stack || !is_deeper(s, h->hists.opts->max_stack))
		return;
	h->depths = xalloc((s->n_stacks + 1) * sizeof(*h->depths));
	for (size_t i = 1; i < s->n_stacks; i++)
		h->depths[i] = h->depths[s->stacks[i].caller] + 1;
}

/* The innermost function at a frame that matches a pattern, or NONE. */
static symid match_frame(struct hists_private *h, uint8_t *memo, const regex_t *re, frameid frame)
{
	struct program *g = h->hists.program;
	symid place = program_place(g, frame);
	size_t n = 0;
	const symid *inlines = h->hists.opts->inlines ? program_inlines(g, frame, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		if (hists_match(memo, h, re, inlines[i]))
			return inlines[i];
	return hists_match(memo, h, re, place) ? place : NONE;
}

/* Finds the parent of each stack: in callee order the innermost function that matches, in caller
 * order the outermost one. Only frames within max_stack count. */
static void find_parents(struct hists_private *h)
{
	const struct samples *s = &h->hists.profile->samples;
	const struct hists_opts *o = h->hists.opts;
	if (!o->parent)
		return;
	h->parents = xrealloc(NULL, s->n_stacks + 1, sizeof(*h->parents));
	h->parents[0] = NONE;
	h->parent_at = xalloc((s->n_stacks + 1) * sizeof(*h->parent_at));
	for (size_t i = 1; i < s->n_stacks; i++) {
		symid above = h->parents[s->stacks[i].caller];
		h->parents[i] = above;
		h->parent_at[i] = h->parent_at[s->stacks[i].caller];
		if (o->order == CHAIN_CALLER &&
		    (above != NONE || (h->depths && h->depths[i] > o->max_stack)))
			continue;
		symid here = match_frame(h, h->parent_matches, o->parent, s->stacks[i].frame);
		if (here == NONE)
			continue;
		h->parents[i] = here;
		h->parent_at[i] = (stackid)i;
	}
}

static symid parent_of(const struct hists_private *h, stackid stack)
{
	const struct hists_opts *o = h->hists.opts;
	if (!h->parents || o->no_callers)
		return NONE;
	bool far = h->depths && o->order == CHAIN_CALLEE &&
		   h->depths[stack] - h->depths[h->parent_at[stack]] >= o->max_stack;
	return far ? NONE : h->parents[stack];
}

static void find_ignored(struct hists_private *h)
{
	const struct samples *s = &h->hists.profile->samples;
	const struct hists_opts *o = h->hists.opts;
	bool innermost = h->rules->ignore_drops_callers && o->order == CHAIN_CALLER;
	if (!o->ignore_callees)
		return;
	h->ignored = xalloc((s->n_stacks + 1) * sizeof(*h->ignored));
	for (size_t i = 1; i < s->n_stacks; i++) {
		h->ignored[i] = h->ignored[s->stacks[i].caller];
		if ((innermost || !h->ignored[i]) &&
		    match_frame(h, h->ignore_matches, o->ignore_callees, s->stacks[i].frame) !=
			    NONE)
			h->ignored[i] = (stackid)i;
	}
}

/* ---- filters ---- */

/* Whether `name` is "f" or "f(int)", for a symbol "f(int)": no shorter name matches. */
static bool is_whole_name(const char *symbol, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '(');
}

static bool is_wholly_called(struct symbols *s, symid place, const char *name)
{
	const char *display = symbols_display(s, place);
	return is_whole_name(display, name) ||
	       (!strstr(display, "::") && symbols_is_alias(s, place, name));
}

/* Whether the filter has the function's displayed name, or another of its names. */
static bool is_listed(struct symbols *s, symid place, const struct hist_filter *f, bool whole)
{
	for (size_t i = 0; f->symbols[i]; i++)
		if (whole ? is_wholly_called(s, place, f->symbols[i])
			  : symbols_is_called(s, place, f->symbols[i]))
			return true;
	return false;
}

struct filtering {
	struct hists_private *h;
	const struct hist_filter *f; /* NULL: all pass */
	uint8_t *places, *objects;   /* [place], [object]: 0 not known, 1 no, 2 yes */
};

static bool is_object(const char *const *list, const char *path)
{
	const char *slash = strrchr(path, '/');
	return words_have(list, path) || (slash && words_have(list, slash + 1));
}

static bool dso_passes(struct filtering *x, frameid frame)
{
	const struct hists *h = &x->h->hists;
	objid object = h->profile->samples.frames[frame].object;
	if (!frame)
		return words_have(x->f->dsos, "[unknown]");
	if (!x->objects[object])
		x->objects[object] =
			is_object(x->f->dsos, program_object_name(h->program, object)) ||
					words_have(x->f->dsos,
						   strtab_get(x->h->strings,
							      hist_dso_of(x->h, object)))
				? 2
				: 1;
	return x->objects[object] == 2;
}

static bool symbol_passes(struct filtering *x, symid place)
{
	if (place == NONE)
		return false;
	if (!x->places[place])
		x->places[place] = is_listed(program_symbols(x->h->hists.program), place, x->f,
					     x->h->rules->whole_names)
					   ? 2
					   : 1;
	return x->places[place] == 2;
}

static bool leaf_passes(struct filtering *x, stackid stack)
{
	frameid frame;
	symid place = hists_leaf(x->h, stack, &frame);
	return (!x->f->dsos || dso_passes(x, frame)) && (!x->f->symbols || symbol_passes(x, place));
}

/* ---- samples ---- */

static uint32_t without_digits(struct hists_private *h, const char *comm)
{
	char *text = arena_alloc_bytes(&h->arena, 3 * strlen(comm) + 1), *to = text;
	while (*comm) {
		if (isdigit((unsigned char)*comm)) {
			memcpy(to, "<N>", 3);
			to += 3;
			while (isdigit((unsigned char)*comm))
				comm++;
		} else {
			*to++ = *comm++;
		}
	}
	return strtab_add(h->strings, text);
}

/* Parents with equal names are one, in whatever object they are. */
static symid one_parent(struct hists_private *h, symid place)
{
	if (place == NONE)
		return NONE;
	strid name = strtab_add(h->strings, program_name(h->hists.program, place));
	uint32_t *at = map64_at(&h->parent_ids, name);
	if (*at == NONE)
		*at = place;
	return *at;
}

static uint32_t key_of_sample(struct hists_private *h, enum hist_key key, const struct sample *s)
{
	const struct task *t = &h->hists.profile->samples.tasks[s->task];
	switch (key) {
	case HIST_COMM:
		return h->commands ? h->commands[s->task] : t->comm;
	case HIST_COMM_NODIGIT:
		return without_digits(h, strtab_get(h->hists.profile->strings, t->comm));
	case HIST_PID:
		return t->pid;
	case HIST_TID:
		return t->tid;
	case HIST_RUN:
		return t->run + 1;
	case HIST_RANK:
		return t->rank;
	case HIST_CPU:
		return s->cpu;
	case HIST_PARALLELISM:
		return s->parallelism;
	case HIST_PARENT:
		return one_parent(h, parent_of(h, s->stack));
	default:
		return hist_detail_value(h, key, s);
	}
}

/* The keys of the last sample: successive samples are often from one task on one CPU. */
struct last_skey {
	bool known;
	taskid task;
	uint16_t cpu, parallelism;
	symid parent;
	detailid detail;
	uint64_t time; /* in units of HIST_TIME's quantum */
	uint32_t skey;
};

static detailid detail_of(const struct hists_private *h, const struct sample *s)
{
	const struct samples *all = &h->hists.profile->samples;
	return all->detail_of ? all->detail_of[s - all->at] : 0;
}

static uint32_t skey_of(struct hists_private *h, const struct sample *s, struct last_skey *last)
{
	symid parent = parent_of(h, s->stack);
	detailid detail = detail_of(h, s);
	uint64_t time = h->by_time ? s->time_ns / h->hists.opts->time_quantum : 0;
	uint32_t values[N_HIST_KEYS];
	if (last->known && last->task == s->task && last->cpu == s->cpu &&
	    last->parallelism == s->parallelism && last->parent == parent &&
	    last->detail == detail && last->time == time)
		return last->skey;
	for (size_t i = 0; i < h->skeys.width; i++)
		values[i] = key_of_sample(h, h->sample_keys[i], s);
	*last = (struct last_skey){ true,   s->task, s->cpu, s->parallelism,
				    parent, detail,  time,   tuples_add(&h->skeys, values) };
	if (last->skey == h->skey_details.n)
		vec_push(&h->skey_details, detail);
	return last->skey;
}

/* The sums of samples that end at a path and whose Self goes to another row. */
static struct hist_stat *elsewhere_of(struct hists_private *h, pathid path, uint32_t row)
{
	size_t n_events = h->hists.opts->n_events;
	uint32_t *at = map64_at(&h->leaf_ids, MAP64_PAIR(path, row));
	if (*at == NONE) {
		*at = (uint32_t)h->leaves.n;
		vec_push(&h->leaves, ((struct leaf){ path, row }));
		vec_reserve(&h->leaf_own, n_events);
		memset(h->leaf_own.at + h->leaf_own.n, 0, n_events * sizeof(*h->leaf_own.at));
		h->leaf_own.n += n_events;
	}
	return &h->leaf_own.at[*at * n_events];
}

static bool is_on_socket(const struct hists_private *h, const struct sample *s, uint32_t socket)
{
	const struct detail *d = sample_detail(&h->hists.profile->samples, s);
	return d->has & DETAIL_SOCKET && d->socket == socket;
}

static bool is_kernel(const struct hists_private *h, const struct sample *s)
{
	const struct samples *all = &h->hists.profile->samples;
	return all->frames[all->stacks[s->stack].frame].flags & FRAME_KERNEL;
}

/* The privilege level of the leaf. If callees are ignored, it is the level of the function that
 * they are charged to. */
static enum hist_level level_of(const struct hists_private *h, const struct sample *s)
{
	const struct samples *all = &h->hists.profile->samples;
	stackid leaf = hists_leaf_of(h, s->stack);
	uint32_t flags = leaf == s->stack ? s->flags : all->frames[all->stacks[leaf].frame].flags;
	if (flags & FRAME_GUEST)
		return flags & FRAME_KERNEL ? LEVEL_GUEST_KERNEL : LEVEL_GUEST_USER;
	return flags & FRAME_KERNEL ? LEVEL_KERNEL : LEVEL_USER;
}

static void add_level(struct hists_private *h, size_t at, enum hist_level level, uint64_t weight)
{
	while (h->levels.n < (at + 1) * HIST_LEVELS)
		vec_push(&h->levels, 0);
	h->levels.at[at * HIST_LEVELS + level] += weight;
}

static bool frame_has_name(const struct hists_private *h, frameid frame)
{
	return frame && program_kind(h->hists.program, program_place(h->hists.program, frame)) !=
				PLACE_UNKNOWN;
}

/* Whether the leaf has a name; for a sampled branch, whether both of its ends have. */
static bool has_name(const struct hists_private *h, const struct sample *s)
{
	const struct samples *all = &h->hists.profile->samples;
	const struct detail *d = sample_detail(all, s);
	return frame_has_name(h, all->stacks[hists_leaf_of(h, s->stack)].frame) &&
	       (!(d->has & DETAIL_BRANCH) || frame_has_name(h, d->source));
}

/* The cost of the sampled access. */
static uint64_t cost_of(const struct hists_private *h, const struct sample *s)
{
	uint64_t weight = sample_detail(&h->hists.profile->samples, s)->weight;
	return weight ? weight : 1;
}

static void add_to_path(struct hists_private *h, const struct sample *s, uint32_t skey,
			size_t event, const struct hist_stat *stat)
{
	struct stack_path at = hists_path(h, s->stack, skey, s->task);
	uint32_t own = hists_own_at(h, at.path, skey, at.row, s->task);
	hist_stat_add(&h->own.at[own * h->hists.opts->n_events + event], stat, 1);
	if (h->own_rows.at[own] != at.row)
		hist_stat_add(&elsewhere_of(h, at.path, at.row)[event], stat, 1);
	if (h->hists.opts->levels)
		add_level(h, at.row * h->hists.opts->n_events + event, level_of(h, s),
			  stat->weight);
}

static void add_sample(struct hists_private *h, struct filtering *x, const struct sample *s,
		       size_t event, struct last_skey *last)
{
	if (h->hists.opts->hide_unresolved && !has_name(h, s))
		return;
	uint64_t weight = h->hists.opts->by_weight ? cost_of(h, s) : s->weight;
	struct hist_stat stat = { weight, s->count,
				  (double)weight / (s->parallelism ? s->parallelism : 1) };
	if (x->f && !sample_filter_covers(x->f->samples, s))
		return;
	hist_stat_add(&h->unfiltered[event], &stat, 1);
	if (x->f && !sample_filter_passes(x->f->samples, s))
		return;
	if (x->f && x->f->by_socket && !is_on_socket(h, s, x->f->socket))
		return;
	if (x->f && (x->f->dsos || x->f->symbols) && !leaf_passes(x, hists_leaf_of(h, s->stack)))
		return;
	if (x->f && (x->f->no_kernel || x->f->no_user) &&
	    (is_kernel(h, s) ? x->f->no_kernel : x->f->no_user))
		return;
	if (h->hists.opts->exclude_other && h->parents && parent_of(h, s->stack) == NONE)
		return;
	uint32_t skey = skey_of(h, s, last);
	h->has_latency = h->has_latency || s->parallelism > 1;
	if (h->weight_of && !event)
		h->weight_of[s->stack] += weight;
	hist_stat_add(&h->total[event], &stat, 1);
	if (hists_stacks_suffice(h))
		hists_stacks_add(h, &(struct visit){ s->stack, skey, s->task }, event, &stat);
	else
		add_to_path(h, s, skey, event, &stat);
}

static void add_samples(struct hists_private *h)
{
	const struct samples *s = &h->hists.profile->samples;
	struct filtering x = { .h = h, .f = h->hists.opts->filter };
	struct last_skey last = { 0 };
	if (x.f) {
		x.places = xalloc(program_symbols(h->hists.program)->n + 1);
		x.objects = xalloc(h->hists.profile->n_objects + 1);
	}
	/* Samples of the first event come first: they determine the rows' first samples. */
	for (size_t event = 0; event < h->hists.opts->n_events; event++)
		for (size_t i = 0; i < s->n; i++)
			if (s->at[i].event == h->hists.opts->events[event])
				add_sample(h, &x, &s->at[i], event, &last);
	free(x.places);
	free(x.objects);
}

/* ---- the histogram ---- */

static void tuples_init(struct tuples *t)
{
	t->ids = xalloc((t->width + 1) * sizeof(*t->ids));
	t->n_prefixes = xalloc((t->width + 1) * sizeof(*t->n_prefixes));
}

static void tuples_done(struct tuples *t)
{
	for (size_t i = 0; i < t->width; i++)
		map64_free(&t->ids[i]);
	free(t->ids);
	free(t->n_prefixes);
	vec_free(&t->values);
}

static void split_keys(struct hists_private *h, const struct hists_opts *o)
{
	for (size_t i = 0; i < o->n_keys; i++) {
		bool of_sample = hist_keys[o->keys[i]].of_sample;
		struct tuples *t = of_sample ? &h->skeys : &h->fkeys;
		h->column[o->keys[i]] = (uint8_t)t->width;
		(of_sample ? h->sample_keys : h->frame_keys)[t->width++] = o->keys[i];
		h->by_time = h->by_time || o->keys[i] == HIST_TIME;
	}
	tuples_init(&h->skeys);
	tuples_init(&h->fkeys);
}

static void publish(struct hists_private *h)
{
	h->hists.rows = h->rows.at;
	h->hists.n = h->rows.n;
	h->hists.self = h->self;
	h->hists.children = h->children;
	h->hists.total = h->total;
	h->hists.unfiltered = h->unfiltered;
	h->hists.levels =
		h->hists.opts->levels ? (const uint64_t(*)[HIST_LEVELS])h->levels.at : NULL;
	h->hists.priv = h;
}

struct hists *hists_new(const struct profile *p, struct program *g, const struct hists_opts *o)
{
	static const struct hists_rules own = { 0 };
	struct hists_private *h = xalloc(sizeof(*h));
	size_t n_places = program_symbols(g)->n;

	h->hists.profile = p;
	h->hists.program = g;
	h->hists.opts = o;
	h->rules = o->rules ? o->rules : &own;
	h->strings = strtab_new();
	h->hops_of = xalloc(p->samples.n_frames * sizeof(*h->hops_of));
	h->dso_names = xalloc((p->n_objects + 1) * sizeof(*h->dso_names));
	h->parent_matches = xalloc(n_places + 1);
	h->ignore_matches = xalloc(n_places + 1);
	h->total = xalloc((o->n_events + 1) * sizeof(*h->total));
	h->unfiltered = xalloc((o->n_events + 1) * sizeof(*h->unfiltered));
	if (o->passing)
		h->weight_of = xalloc((p->samples.n_stacks + 1) * sizeof(*h->weight_of));
	if (o->fold_threads)
		h->commands = samples_commands(&p->samples);
	split_keys(h, o);
	find_depths(h);
	find_parents(h);
	find_ignored(h);
	if (!hists_stacks_suffice(h))
		hists_begin_paths(h);
	add_samples(h);
	if (hists_stacks_suffice(h))
		hists_stacks_sum(h);
	else
		hists_sum_paths(h);
	if (o->passing)
		hists_find_passing(h);
	if (o->levels && h->rows.n)
		add_level(h, h->rows.n * o->n_events - 1, LEVEL_USER, 0);
	publish(h);
	return &h->hists;
}

void hists_free(struct hists *hists)
{
	struct hists_private *h = hists ? hists->priv : NULL;
	if (!h)
		return;
	struct map64 *maps[] = { &h->hop_ids,  &h->address_ids, &h->chain_ids, &h->offset_ids,
				 &h->line_ids, &h->row_ids,     &h->leaf_ids,  &h->parent_ids };
	void *blocks[] = { h->hops_of,        h->dso_names,  h->sums,       h->self,
			   h->children,       h->total,      h->unfiltered, h->parent_matches,
			   h->ignore_matches, h->parents,    h->parent_at,  h->ignored,
			   h->depths,         h->first_path, h->paths_of,   h->first_row_end,
			   h->row_ends,       h->innermost,  h->paths,      h->weight_of,
			   h->targets,        h->n_callers,  h->commands,   h->list.at };
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		map64_free(maps[i]);
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		free(blocks[i]);
	vec_free(&h->end);
	hist_detail_done(h);
	vec_free(&h->skey_details);
	vec_free(&h->levels);
	tuples_done(&h->skeys);
	tuples_done(&h->fkeys);
	vec_free(&h->hops);
	vec_free(&h->hop_lists);
	vec_free(&h->ends);
	vec_free(&h->rows);
	vec_free(&h->own);
	vec_free(&h->visits);
	vec_free(&h->leaves);
	vec_free(&h->leaf_own);
	strtab_free(h->strings);
	arena_release(&h->arena);
	free(h);
}

uint32_t hists_value(const struct hists *hists, size_t row, enum hist_key key)
{
	const struct hists_private *h = hists->priv;
	bool of_sample = hist_keys[key].of_sample;
	const struct tuples *t = of_sample ? &h->skeys : &h->fkeys;
	uint32_t id = of_sample ? hists->rows[row].skey : hists->rows[row].fkey;
	return t->values.at[id * t->width + h->column[key]];
}

const char *hists_text(const struct hists *hists, size_t row, enum hist_key key)
{
	uint32_t value = hists_value(hists, row, key);
	const char *text = hist_key_text(hists->priv, key, value, &hists->rows[row]);
	return text ? text : hist_detail_text(hists->priv, key, value, &hists->rows[row]);
}

const char *hists_function(const struct hists *hists, size_t row)
{
	const struct hist_row *r = &hists->rows[row];
	return hist_is_named(hists, r) ? hist_key_text(hists->priv, HIST_SYM, 0, r) : NULL;
}

const char *hists_subject(const struct hists *hists, size_t row, enum hist_key key)
{
	if (hist_keys[key].need != NEED_ACCESSES)
		return NULL;
	return hist_detail_subject(hists->priv, key, hists_value(hists, row, key),
				   &hists->rows[row]);
}

const char *hists_last_comm(const struct hists *hists, size_t row)
{
	return hist_last_comm(hists->priv, &hists->rows[row]);
}

enum hist_owner hists_owner(const struct hists *hists, size_t row, enum hist_key key)
{
	if (hist_keys[key].need == NEED_NOTHING)
		return OWNER_NONE;
	return hist_detail_owner(hists->priv, key, hists_value(hists, row, key), &hists->rows[row]);
}

/* hists.c - Children and Self by any keys, and the call chains of each row. */
#include <stdlib.h>
#include <string.h>

#include "analysis/callchain.h"
#include "analysis/hist_key.h"
#include "base/err.h"
#include "report/hists_ask.h"
#include "report/hists_levels.h"
#include "report/report.h"

/* ---- columns ---- */

enum role {
	ROLE_FIGURE,
	ROLE_KEY,
	ROLE_LEVEL,
	ROLE_WEIGHT,
	ROLE_COUNT,
	ROLE_CHILDREN_WEIGHT,
	ROLE_CHILDREN_COUNT,
	ROLE_CHAIN_SUM,
	ROLE_CHAIN_HIT,
	ROLE_CHAIN_BELOW,
	ROLE_CHAIN_COUNT
};

struct col {
	enum role role;
	struct field field;
	size_t event;
};

static const struct kin_column figure_columns[] = {
	[FIELD_CHILDREN] = { "children", "Children", "share of the samples in whose stacks it is",
			     KIN_CELL_SHARE },
	[FIELD_SELF] = { "self", "Self", "share of the samples that were taken in it",
			 KIN_CELL_SHARE },
	[FIELD_LATENCY_CHILDREN] = { "latency_children", "Wall",
				     "the same as Children of the time that passed: weight by "
				     "parallelism",
				     KIN_CELL_SHARE },
	[FIELD_LATENCY] = { "latency", "Wall self", "the same as Self of the time that passed",
			    KIN_CELL_SHARE },
	[FIELD_SAMPLES] = { "samples", "Samples", "samples taken in it", KIN_CELL_COUNT },
	[FIELD_PERIOD] = { "period", "Period", "what they stand for, in the event's unit",
			   KIN_CELL_COUNT },
	[FIELD_KERNEL] = { "self_kernel", "sys", "the part of Self that was in the kernel",
			   KIN_CELL_SHARE },
	[FIELD_USER] = { "self_user", "usr", "the part of Self that was in the program",
			 KIN_CELL_SHARE },
	[FIELD_GUEST_KERNEL] = { "self_guest_kernel", "guest sys",
				 "the part of Self in a virtual machine's kernel", KIN_CELL_SHARE },
	[FIELD_GUEST_USER] = { "self_guest_user", "guest usr",
			       "the part of Self in a virtual machine's programs", KIN_CELL_SHARE },
};

static const struct kin_column extra_columns[] = {
	[ROLE_LEVEL] = { "level", "Level", "k kernel, . user, g u guest, H hypervisor",
			 KIN_CELL_TEXT, .hidden = true },
	[ROLE_WEIGHT] = { "self_weight", "Self weight", "what Self is a share of the total of",
			  KIN_CELL_COUNT },
	[ROLE_COUNT] = { "self_samples", "Self samples", "samples that were taken in it",
			 KIN_CELL_COUNT },
	[ROLE_CHILDREN_WEIGHT] = { "children_weight", "Children weight",
				   "what Children is a share of the total of", KIN_CELL_COUNT },
	[ROLE_CHILDREN_COUNT] = { "children_samples", "Children samples",
				  "samples in whose stacks it is", KIN_CELL_COUNT },
	[ROLE_CHAIN_SUM] = { "chain_weight", "Chain weight", "of the chains that go through here",
			     KIN_CELL_COUNT, .hidden = true },
	[ROLE_CHAIN_HIT] = { "chain_end_weight", "Chain end weight", "of the chains that end here",
			     KIN_CELL_COUNT, .hidden = true },
	[ROLE_CHAIN_BELOW] = { "chain_samples", "Chain samples",
			       "of the chains that go through here", KIN_CELL_COUNT,
			       .hidden = true },
	[ROLE_CHAIN_COUNT] = { "chain_end_samples", "Chain end samples",
			       "of the chains that end here", KIN_CELL_COUNT, .hidden = true },
};

/* ---- state ---- */

struct emitted { /* a hop of a chain, as a row */
	uint32_t node, depth;
	bool joins;
	double share;
};

struct state {
	struct report_input in;
	struct hists_ask *ask;
	struct hists *hists;
	struct callchains *chains;
	struct hists_levels levels;
	struct kin_table *table;
	struct arena arena;
	VEC(struct col) cols;
	VEC(struct kin_column) columns;
	size_t tree; /* the column that chains are in */
	size_t next, n_rows;
	const struct callchain *chain;
	VEC(struct emitted) emitted;
	size_t next_emitted;
	struct kin_cell *cells;
};

static double total_of(const struct state *s, size_t event, bool latency)
{
	const struct hists *h = s->hists;
	const struct hist_stat *t =
		s->ask->given->relative ? &h->total[event] : &h->unfiltered[event];
	return latency ? t->latency : (double)t->weight;
}

static double share(double part, double total) { return total > 0 ? part / total : 0; }

/* ---- cells ---- */

static const char *level_text(uint16_t level)
{
	if (level & FRAME_HYPERVISOR)
		return "H";
	if (level & FRAME_GUEST)
		return level & FRAME_KERNEL ? "g" : "u";
	return level & FRAME_KERNEL ? "k" : ".";
}

static uint64_t level_weight(const struct state *s, const struct hists_entry *e,
			     const struct col *c)
{
	size_t at = e->row * s->ask->opts.n_events + c->event;
	return s->hists->levels[at][c->field.kind - FIELD_KERNEL];
}

static struct kin_cell figure_cell(const struct state *s, const struct hists_entry *e,
				   const struct col *c)
{
	const struct hist_stat *self = &e->self[c->event], *children = &e->children[c->event];
	switch (c->field.kind) {
	case FIELD_CHILDREN:
		if (s->ask->given->perf && s->ask->opts.no_children)
			return cell_none();
		return cell_share(share((double)children->weight, total_of(s, c->event, false)));
	case FIELD_SELF:
		return cell_share(share((double)self->weight, total_of(s, c->event, false)));
	case FIELD_LATENCY_CHILDREN:
		return cell_share(share(children->latency, total_of(s, c->event, true)));
	case FIELD_LATENCY:
		return cell_share(share(self->latency, total_of(s, c->event, true)));
	case FIELD_SAMPLES:
		return cell_count(self->count);
	case FIELD_PERIOD:
		return cell_count(self->weight);
	case FIELD_KERNEL:
	case FIELD_USER:
	case FIELD_GUEST_KERNEL:
	case FIELD_GUEST_USER:
		return cell_share(
			share((double)level_weight(s, e, c), total_of(s, c->event, false)));
	case FIELD_KEY:
		break;
	}
	return cell_none();
}

static const char *key_text(const struct state *s, uint32_t row, enum hist_key key)
{
	const char *text = hists_text(s->hists, row, key);
	if (!*text && !s->ask->given->perf)
		return "[unknown]";
	if (s->ask->given->perf)
		return text;
	text += strspn(text, " ");
	bool has_level = text[0] == '[' && text[1] && text[2] == ']' && text[3] == ' ' && text[4];
	return has_level && hist_keys[key].need != NEED_NOTHING ? text + 4 : text;
}

static struct kin_cell cell_of_entry(const struct state *s, const struct hists_entry *e,
				     const struct col *c)
{
	const struct hist_stat *self = &e->self[c->event], *children = &e->children[c->event];
	switch (c->role) {
	case ROLE_FIGURE:
		return figure_cell(s, e, c);
	case ROLE_KEY:
		return cell_text(key_text(s, e->row, c->field.key));
	case ROLE_LEVEL:
		return cell_text(level_text(s->hists->rows[e->row].level));
	case ROLE_WEIGHT:
		return cell_count(self->weight);
	case ROLE_COUNT:
		return cell_count(self->count);
	case ROLE_CHILDREN_WEIGHT:
		return cell_count(children->weight);
	case ROLE_CHILDREN_COUNT:
		return cell_count(children->count);
	case ROLE_CHAIN_SUM:
	case ROLE_CHAIN_HIT:
	case ROLE_CHAIN_BELOW:
	case ROLE_CHAIN_COUNT:
		break;
	}
	return cell_none();
}

static struct kin_cell cell_of_chain(const struct state *s, const struct emitted *e, size_t i)
{
	const struct chain_node *n = &s->chain->nodes[e->node];
	const struct col *c = &s->cols.at[i];
	if (i == s->tree)
		return cell_text(callchain_name(s->chains, n->hop,
						s->ask->opts.chain_key != CHAIN_BY_FUNCTION));
	switch (c->role) {
	case ROLE_FIGURE:
		return i || e->joins ? cell_none() : cell_share(e->share);
	case ROLE_CHAIN_SUM:
		return cell_count(n->sum);
	case ROLE_CHAIN_HIT:
		return cell_count(n->hit);
	case ROLE_CHAIN_BELOW:
		return cell_count(n->n_below);
	case ROLE_CHAIN_COUNT:
		return cell_count(n->count);
	case ROLE_KEY:
	case ROLE_LEVEL:
	case ROLE_WEIGHT:
	case ROLE_COUNT:
	case ROLE_CHILDREN_WEIGHT:
	case ROLE_CHILDREN_COUNT:
		break;
	}
	return cell_none();
}

/* ---- chains ---- */

static void emit(struct state *s, uint32_t node, uint32_t depth, bool joins, double part)
{
	vec_push(&s->emitted, ((struct emitted){ node, depth, joins, part }));
}

static double share_of_node(const struct state *s, uint32_t node)
{
	const struct chain_node *n = &s->chain->nodes[node], *p = &s->chain->nodes[n->parent];
	bool relative = s->ask->mode == MODE_FRACTAL;
	return share((double)n->sum, relative ? (double)(p->sum - p->hit) : total_of(s, 0, false));
}

/* Depth first; the parent links are the stack. */
static void emit_tree(struct state *s)
{
	const struct chain_node *nodes = s->chain->nodes;
	uint32_t at = 0, depth = 0;
	if (!nodes[0].n)
		return;
	for (at = nodes[0].first;;) {
		depth += !nodes[at].joins;
		emit(s, at, depth, nodes[at].joins, share_of_node(s, at));
		if (nodes[at].n) {
			at = nodes[at].first;
			continue;
		}
		for (;;) {
			const struct chain_node *parent = &nodes[nodes[at].parent];
			depth -= !nodes[at].joins;
			if (at + 1 < parent->first + parent->n) {
				at++;
				break;
			}
			at = nodes[at].parent;
			if (!at)
				return;
		}
	}
}

struct end { /* of chains */
	uint32_t node;
	uint64_t hit;
	size_t order;
};

static int by_hit(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	if (x->hit != y->hit)
		return x->hit > y->hit ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void emit_one(struct state *s, uint32_t node)
{
	size_t first = s->emitted.n;
	double part = share((double)s->chain->nodes[node].hit, total_of(s, 0, false));
	for (uint32_t at = node; at; at = s->chain->nodes[at].parent)
		emit(s, at, 1, true, 0);
	for (size_t i = first, k = s->emitted.n - 1; i < k; i++, k--) {
		struct emitted e = s->emitted.at[i];
		s->emitted.at[i] = s->emitted.at[k];
		s->emitted.at[k] = e;
	}
	s->emitted.at[first].joins = false;
	s->emitted.at[first].share = part;
	/* What the renderers show of a whole chain stands with its last hop. */
}

/* Whole chains, heaviest first; longer ones first where nothing else tells them apart. */
static void emit_ends(struct state *s, uint64_t min)
{
	VEC(struct end) ends = { 0 };
	const struct callchain *c = s->chain;
	const struct chain_node *nodes = c->nodes;
	for (uint32_t at = nodes[0].n ? nodes[0].first : 0; at;) {
		if (nodes[at].n) {
			at = nodes[at].first;
			continue;
		}
		for (;;) { /* leave it: those below come before it */
			if (nodes[at].hit && nodes[at].hit >= min)
				vec_push(&ends, ((struct end){ at, nodes[at].hit, ends.n }));
			const struct chain_node *parent = &nodes[nodes[at].parent];
			if (at + 1 < parent->first + parent->n) {
				at++;
				break;
			}
			at = nodes[at].parent;
			if (!at)
				break;
		}
	}
	if (ends.n)
		qsort(ends.at, ends.n, sizeof(*ends.at), by_hit);
	for (size_t i = 0; i < ends.n; i++)
		emit_one(s, ends.at[i].node);
	vec_free(&ends);
}

static void start_chains(struct state *s, uint32_t row)
{
	const struct hists_ask *a = s->ask;
	bool ends = a->mode == MODE_FLAT || a->mode == MODE_FOLDED;
	struct chain_opts o = {
		.pruning = a->mode == MODE_FRACTAL ? CHAIN_MIN_SHARE : CHAIN_MIN_WEIGHT,
		.min_weight = (uint64_t)(total_of(s, 0, false) * (a->threshold / 100)),
		.min_share = a->threshold / 100,
		.by_name = ends,
		.below_only = a->given->below_only,
	};
	s->emitted.n = s->next_emitted = 0;
	if (!s->chains)
		return;
	s->chain = callchains_of(s->chains, row, &o);
	if (ends)
		emit_ends(s, o.min_weight);
	else
		emit_tree(s);
}

/* ---- rows ---- */

static bool is_wanted(const struct state *s, uint32_t row)
{
	const struct kin_hists_opts *g = s->ask->given;
	const char *name = g->function || g->symbol_filter ? hists_function(s->hists, row) : NULL;
	if (g->function && (!name || !hists_is_function(name, g->function)))
		return false;
	return !g->symbol_filter || (name && strstr(name, g->symbol_filter));
}

static bool is_shown(const struct state *s, const struct hists_entry *e)
{
	const struct hists_ask *a = s->ask;
	/* Of the first event: of a group its leader, as in perf. */
	const struct hist_stat *w = a->opts.no_children ? e->self : e->children;
	if (100 * share((double)w->weight, total_of(s, 0, false)) < a->percent_limit)
		return false;
	return is_wanted(s, e->row);
}

static void set_chain_row(struct state *s, struct kin_row *row)
{
	const struct emitted *e = &s->emitted.at[s->next_emitted++];
	for (size_t i = 0; i < s->cols.n; i++)
		s->cells[i] = cell_of_chain(s, e, i);
	*row = (struct kin_row){ .kind = e->joins ? KIN_ROW_MEMBER : KIN_ROW_CALLEE,
				 .depth = e->depth,
				 .cells = s->cells };
}

static void set_entry_row(struct state *s, const struct hists_entry *e, struct kin_row *row)
{
	for (size_t i = 0; i < s->cols.n; i++)
		s->cells[i] = cell_of_entry(s, e, &s->cols.at[i]);
	if (s->ask->given->hierarchy) {
		struct col c = { ROLE_KEY, { FIELD_KEY, s->ask->opts.keys[e->level] }, 0 };
		s->cells[s->tree] = cell_of_entry(s, e, &c);
	}
	*row = (struct kin_row){ .kind = KIN_ROW_PLAIN, .depth = e->level, .cells = s->cells };
}

static bool next(void *state, struct kin_row *row)
{
	struct state *s = state;
	if (s->next_emitted < s->emitted.n) {
		set_chain_row(s, row);
		return true;
	}
	while (s->next < s->levels.n) {
		const struct hists_entry *e = &s->levels.at[s->next++];
		if (s->ask->given->max_rows && s->n_rows == s->ask->given->max_rows)
			return false;
		if (!is_shown(s, e))
			continue;
		s->n_rows++;
		set_entry_row(s, e, row);
		if (e->is_leaf)
			start_chains(s, e->row);
		return true;
	}
	return false;
}

static void rewind_rows(void *state)
{
	struct state *s = state;
	s->next = s->n_rows = s->next_emitted = s->emitted.n = 0;
}

static void free_state(void *state)
{
	struct state *s = state;
	callchains_free(s->chains);
	hists_free(s->hists);
	hists_levels_free(&s->levels);
	hists_ask_free(s->ask);
	vec_free(&s->cols);
	vec_free(&s->columns);
	vec_free(&s->emitted);
	arena_release(&s->arena);
	free(s->cells);
	free(s);
}

static const struct table_source source = { rewind_rows, next, free_state };

/* ---- making the table ---- */

static void add_column(struct state *s, struct kin_column column, struct col col)
{
	vec_push(&s->columns, column);
	vec_push(&s->cols, col);
}

static void add_figure(struct state *s, struct field f)
{
	const struct hists_ask *a = s->ask;
	for (size_t e = 0; e < a->opts.n_events; e++) {
		struct kin_column c = figure_columns[f.kind];
		if (e)
			c.key = arena_printf(&s->arena, "%s_%zu", c.key, e + 1);
		bool chosen = a->given->fields && a->given->fields[0] != '+';
		if (a->given->perf && f.kind == FIELD_SELF && (a->opts.no_children || chosen))
			c.title = "Overhead";
		if (a->given->perf && (f.kind == FIELD_LATENCY || f.kind == FIELD_LATENCY_CHILDREN))
			c.title = "Latency";
		add_column(s, c, (struct col){ ROLE_FIGURE, f, e });
	}
}

/* There are columns then, all the same. */
static bool all_elided(const struct hists_ask *a)
{
	for (size_t i = 0; i < a->keys.n; i++)
		if (!a->elided[a->keys.at[i]])
			return false;
	return true;
}

static void add_key(struct state *s, struct field f)
{
	const struct hist_key_info *k = &hist_keys[f.key];
	struct kin_column c = {
		.key = k->column, .title = k->title, .help = k->help, .type = KIN_CELL_TEXT
	};
	if (!s->ask->given->perf)
		c.title += strspn(c.title, " ");
	c.hidden = s->ask->elided[f.key] && s->ask->given->perf && !all_elided(s->ask);
	if (f.key == HIST_SYM || s->tree == SIZE_MAX || s->cols.at[s->tree].field.key != HIST_SYM)
		s->tree = s->cols.n;
	add_column(s, c, (struct col){ ROLE_KEY, f, 0 });
}

static void add_extras(struct state *s)
{
	static const enum role roles[] = { ROLE_CHILDREN_WEIGHT, ROLE_CHILDREN_COUNT,
					   ROLE_WEIGHT,          ROLE_COUNT,
					   ROLE_LEVEL,           ROLE_CHAIN_SUM,
					   ROLE_CHAIN_HIT,       ROLE_CHAIN_BELOW,
					   ROLE_CHAIN_COUNT };
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		struct kin_column c = extra_columns[roles[i]];
		bool weight = roles[i] >= ROLE_WEIGHT && roles[i] <= ROLE_CHILDREN_COUNT;
		c.hidden = !(weight && s->ask->given->weights);
		add_column(s, c, (struct col){ roles[i], { 0 }, 0 });
	}
}

static void make_columns(struct state *s)
{
	const struct hists_ask *a = s->ask;
	s->tree = SIZE_MAX;
	for (size_t i = 0; i < a->fields.n; i++)
		if (a->fields.at[i].kind == FIELD_KEY)
			add_key(s, a->fields.at[i]);
		else
			add_figure(s, a->fields.at[i]);
	if (s->tree == SIZE_MAX)
		s->tree = 0;
	add_extras(s);
	s->columns.at[s->tree].tree = true;
	if (a->given->hierarchy) /* all keys are in one column */
		for (size_t i = 0; i < s->cols.n; i++)
			if (s->cols.at[i].role == ROLE_KEY && i != s->tree)
				s->columns.at[i].hidden = true;
	s->cells = xalloc((s->cols.n + 1) * sizeof(*s->cells));
}

static void text_property(struct state *s, const char *key, const char *text)
{
	table_property(s->table, key, cell_text(text));
}

static const char *events_text(struct state *s)
{
	const struct profile *p = s->in.profile;
	const struct hists_ask *a = s->ask;
	const char *list = "";
	for (size_t i = 0; i < a->opts.n_events; i++)
		list = arena_printf(
			&s->arena, "%s%s%s", list, *list ? ", " : "",
			strtab_get(p->strings, p->samples.events[a->opts.events[i]].name));
	bool counted_together = a->opts.n_events > 1 && p->samples.events[a->opts.events[0]].group;
	return counted_together ? arena_printf(&s->arena, "anon group { %s }", list) : list;
}

/* Keys that have one value only, in their order: "elided_0" and so on. */
static void describe_elided(struct state *s)
{
	const struct hists_ask *a = s->ask;
	size_t n = 0;
	for (size_t i = 0; i < a->keys.n; i++) {
		const char *only = a->elided[a->keys.at[i]];
		if (only)
			text_property(s, arena_printf(&s->arena, "elided_%zu", n++),
				      arena_printf(&s->arena, "%s: %s",
						   hist_keys[a->keys.at[i]].column, only));
	}
}

enum { TIME_WIDTH_NS = 16, ADDRESS_WIDTH = 16 };

/* Each level's key and title. */
static void describe_levels(struct state *s)
{
	const struct hists_ask *a = s->ask;
	const char *titles = "";
	size_t widest = 0;
	for (size_t i = 0; i < a->keys.n; i++) {
		const struct hist_key_info *k = &hist_keys[a->keys.at[i]];
		const char *title = k->title + strspn(k->title, " ");
		const struct kin_cell *w = kin_table_property(
			s->table, arena_printf(&s->arena, "width_%s", k->column));
		bool symbol = a->keys.at[i] == HIST_SYM || a->keys.at[i] == HIST_SYMOFF,
		     address =
			     a->keys.at[i] == HIST_DSO && kin_table_property(s->table, "unmapped");
		size_t width = (w ? (size_t)w->count : 0) + (symbol ? 4 : 0);
		width = width < strlen(k->title) ? strlen(k->title) : width;
		width = address && width < ADDRESS_WIDTH ? ADDRESS_WIDTH : width;
		widest = width + 3 * i > widest ? width + 3 * i : widest;
		titles = arena_printf(&s->arena, "%s%s%s", titles, i ? " / " : "", title);
		text_property(s, arena_printf(&s->arena, "level_key_%zu", i), k->column);
		text_property(s, arena_printf(&s->arena, "title_%s", k->column), k->title);
	}
	text_property(s, "levels_title", titles);
	table_property(s->table, "levels", cell_count(a->keys.n));
	table_property(s->table, "levels_width", cell_count(widest));
}

/* What perf's layout needs to know and no row says. */
static void describe_widths(struct state *s)
{
	for (size_t i = 0; i < s->cols.n; i++) {
		size_t width = 0;
		bool unmapped = false;
		if (s->cols.at[i].role != ROLE_KEY)
			continue;
		size_t least = hist_keys[s->cols.at[i].field.key].width;
		if (s->cols.at[i].field.key == HIST_TIME && s->ask->opts.nanoseconds)
			least = TIME_WIDTH_NS;
		for (size_t k = 0; k < s->hists->n; k++) {
			if (!is_wanted(s, (uint32_t)k))
				continue;
			width = width ? width : least;
			size_t n = hists_width(s->hists, k, s->cols.at[i].field.key);
			width = n > width ? n : width;
			unmapped = unmapped || !hists_function(s->hists, k);
		}
		table_property(s->table, arena_printf(&s->arena, "width_%s", s->columns.at[i].key),
			       cell_count(width));
		if (s->cols.at[i].field.key == HIST_DSO && unmapped && !s->ask->given->dsos)
			table_property(s->table, "unmapped", cell_count(1));
	}
}

static void describe(struct state *s)
{
	static const char *const modes[] = { "none", "graph", "fractal", "flat", "folded" };
	static const char *const values[] = { "percent", "period", "count" };
	const struct hists_ask *a = s->ask;
	const struct hists *h = s->hists;
	struct kin_table *t = s->table;
	uint64_t count = 0, weight = 0;
	for (size_t i = 0; i < a->opts.n_events; i++) {
		const struct hist_stat *st = a->given->relative ? &h->total[i] : &h->unfiltered[i];
		count += st->count;
		weight += st->weight;
	}
	text_property(s, "event", events_text(s));
	table_property(t, "n_events", cell_count(a->n_events));
	table_property(t, "group_size", cell_count(a->opts.n_events));
	table_property(t, "samples", cell_count(count));
	table_property(t, "weight", cell_count(weight));
	table_property(t, "lost", cell_count(s->in.profile->samples.audit.lost));
	text_property(s, "chains", s->chains ? modes[a->mode] : modes[MODE_NONE]);
	if (!a->given->perf)
		return;
	text_property(s, "chain_value", values[a->value]);
	table_property(t, "chain_total", cell_count(h->unfiltered[0].weight));
	if (a->given->times)
		text_property(s, "times", a->given->times);
	table_property(t, "chain_limit", cell_count(a->print_limit));
	table_property(t, "chain_skip_first", cell_count(a->skip_first_hop));
	table_property(t, "no_children", cell_count(a->opts.no_children));
	table_property(t, "hierarchy", cell_count(a->given->hierarchy));
	if (a->given->socket)
		text_property(s, "socket", a->given->socket);
	if (a->sort_order)
		text_property(s, "sort_order", a->sort_order);
	describe_elided(s);
	const struct field *end = &a->fields.at[a->fields.n - 1];
	if (end->kind == FIELD_KEY && a->elided[end->key] && !all_elided(a))
		table_property(t, "last_elided", cell_count(1));
	describe_widths(s);
	if (a->given->hierarchy)
		describe_levels(s);
	if (!a->given->event)
		table_property(t, "first", cell_count(1));
	table_property(t, "headed", cell_count(a->given->headed));
	if (a->given->event + 1 >= a->n_events)
		table_property(t, "last", cell_count(1));
}

static void describe_for_people(struct state *s)
{
	const struct hists *h = s->hists;
	uint64_t n = 0, all = 0;
	for (size_t i = 0; i < s->ask->opts.n_events; i++) {
		n += h->total[i].count;
		all += h->unfiltered[i].count;
	}
	const struct profile *p = s->in.profile;
	if (!p->samples.n && (p->n_histograms || p->n_arcs))
		table_note(s->table, "the data has counts, not samples with their stacks: kin flat "
				     "and kin graph show it");
	else if (!p->samples.n)
		table_note(s->table,
			   "there are no samples in the data: the program used little CPU "
			   "time; kin record --wall shows where one waits");
	else if (n == all && !strcmp(events_text(s), "samples")) /* of folded stacks */
		table_note(s->table, "%llu sample%s", (unsigned long long)n, n == 1 ? "" : "s");
	else if (n == all)
		table_note(s->table, "%llu sample%s of %s", (unsigned long long)n,
			   n == 1 ? "" : "s", events_text(s));
	else
		table_note(s->table, "%llu of %llu samples of %s", (unsigned long long)n,
			   (unsigned long long)all, events_text(s));
	if (s->in.profile->samples.audit.lost)
		table_note(s->table, "%llu samples were lost",
			   (unsigned long long)s->in.profile->samples.audit.lost);
}

static struct kin_error *run(const struct report_input *in, const struct report_opts *o,
			     struct kin_table **ret)
{
	struct kin_hists_opts none = { 0 };
	struct state *s = xalloc(sizeof(*s));
	struct kin_error *err = hists_ask_new(in->profile, o->hists ? o->hists : &none, &s->ask);
	if (err) {
		free(s);
		return err;
	}
	s->in = *in;
	s->hists = hists_new(in->profile, in->program, &s->ask->opts);
	s->chains = s->ask->opts.chains ? callchains_new(s->hists) : NULL;
	make_columns(s);
	hists_levels_make(s->hists, s->ask, &s->levels);
	s->table = table_new("hists", s->ask->opts.no_children ? "Self" : "Children and Self",
			     s->columns.at, s->columns.n);
	table_set_source(s->table, &source, s);
	describe(s);
	describe_for_people(s);
	*ret = s->table;
	return NULL;
}

const struct report hists_report = { "hists",
				     "samples by any keys: Children and Self, with call chains",
				     false, true, run };

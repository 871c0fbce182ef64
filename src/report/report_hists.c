/* report_hists.c - Children and Self, summed by any keys, and the call chains of each row. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/callchain.h"
#include "analysis/hist_key.h"
#include "base/err.h"
#include "base/escape.h"
#include "report/hists_ask.h"
#include "report/hists_state.h"

const struct hists_style hists_own_style = { 0 };

/* ---- columns ---- */

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
	[ROLE_FOLDED] = { "folded", "Folded", "functions that do nothing but lead to it",
			  KIN_CELL_COUNT },
	[ROLE_PAID] = { "paid_for", "Paid for", "what it called of others' code, in Self",
			KIN_CELL_TEXT },
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
	[ROLE_EVENT] = { "event", "Event", "the sampled event; if there are several",
			 KIN_CELL_TEXT },
};

/* ---- cells ---- */

static double share(double part, double total) { return total > 0 ? part / total : 0; }

static const char *level_text(uint16_t level)
{
	if (level & FRAME_HYPERVISOR)
		return "H";
	if (level & FRAME_GUEST)
		return level & FRAME_KERNEL ? "g" : "u";
	return level & FRAME_KERNEL ? "k" : ".";
}

static uint64_t level_weight(const struct hists_state *s, const struct hists_entry *e,
			     const struct hists_col *c)
{
	size_t at = e->row * s->ask->opts.n_events + c->event;
	return s->hists->levels[at][c->field.kind - FIELD_KERNEL];
}

static struct kin_cell figure_cell(const struct hists_state *s, const struct hists_entry *e,
				   const struct hists_col *c)
{
	const struct hist_stat *self = &e->self[c->event], *children = &e->children[c->event];
	switch (c->field.kind) {
	case FIELD_CHILDREN:
		if (s->ask->style->says_missing && s->ask->opts.no_children)
			return cell_none();
		return cell_share(share((double)children->weight, hists_total(s, c->event, false)));
	case FIELD_SELF:
		return cell_share(share((double)self->weight, hists_total(s, c->event, false)));
	case FIELD_LATENCY_CHILDREN:
		return cell_share(share(children->latency, hists_total(s, c->event, true)));
	case FIELD_LATENCY:
		return cell_share(share(self->latency, hists_total(s, c->event, true)));
	case FIELD_SAMPLES:
		return cell_count(self->count);
	case FIELD_PERIOD:
		return cell_count(self->weight);
	case FIELD_KERNEL:
	case FIELD_USER:
	case FIELD_GUEST_KERNEL:
	case FIELD_GUEST_USER:
		return cell_share(
			share((double)level_weight(s, e, c), hists_total(s, c->event, false)));
	case FIELD_KEY:
		break;
	}
	return cell_none();
}

/* Whether the number of a thread or process is shown without the command, because the command has a
 * column. */
static bool is_bare_number(const struct hists_ask *a, enum hist_key key)
{
	bool commands = false;
	for (size_t i = 0; i < a->keys.n; i++)
		commands = commands || a->keys.at[i] == HIST_COMM;
	return commands && !a->style->text && (key == HIST_PID || key == HIST_TID);
}

static const char *key_text(struct hists_state *s, uint32_t row, enum hist_key key)
{
	if (s->ask->style->text)
		return s->ask->style->text(&s->arena, s->hists, row, key);
	if (is_bare_number(s->ask, key))
		return arena_printf(&s->arena, "%" PRIu32, hists_value(s->hists, row, key));
	const char *text = hists_text(s->hists, row, key);
	return *text ? text : "[unknown]";
}

static struct kin_cell event_cell(const struct hists_state *s)
{
	const struct profile *p = s->in.profile;
	return cell_text(strtab_get(p->strings, p->samples.events[s->ask->opts.events[0]].name));
}

static struct kin_cell cell_of_entry(struct hists_state *s, const struct hists_entry *e,
				     const struct hists_col *c)
{
	const struct hist_stat *self = &e->self[c->event], *children = &e->children[c->event];
	switch (c->role) {
	case ROLE_FIGURE:
		return figure_cell(s, e, c);
	case ROLE_FOLDED:
		return e->n_folded ? cell_count(e->n_folded) : cell_none();
	case ROLE_KEY:
		return cell_text(key_text(s, e->row, c->field.key));
	case ROLE_PAID:
		return s->paid[e->row] ? cell_text(s->paid[e->row]) : cell_none();
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
	case ROLE_EVENT:
		return event_cell(s);
	case ROLE_CHAIN_SUM:
	case ROLE_CHAIN_HIT:
	case ROLE_CHAIN_BELOW:
	case ROLE_CHAIN_COUNT:
		break;
	}
	return cell_none();
}

static struct kin_cell cell_of_chain(const struct hists_state *s, const struct hists_emitted *e,
				     size_t i)
{
	const struct chain_node *n = &s->chain->nodes[e->node];
	const struct hists_col *c = &s->cols.at[i];
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
	case ROLE_EVENT:
		return event_cell(s);
	case ROLE_FOLDED:
	case ROLE_KEY:
	case ROLE_PAID:
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

static void emit(struct hists_state *s, uint32_t node, uint32_t depth, bool joins, double part)
{
	vec_push(&s->emitted, ((struct hists_emitted){ node, depth, joins, part }));
}

static double share_of_node(const struct hists_state *s, uint32_t node)
{
	const struct chain_node *n = &s->chain->nodes[node], *p = &s->chain->nodes[n->parent];
	bool relative = s->ask->mode == MODE_FRACTAL;
	return share((double)n->sum,
		     relative ? (double)(p->sum - p->hit) : hists_total(s, 0, false));
}

/* Depth first; links to the parents replace a stack. */
static void emit_tree(struct hists_state *s)
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

struct chain_end { /* the end of a chain */
	uint32_t node;
	uint64_t hit;
	size_t order;
};

static int by_hit(const void *a, const void *b)
{
	const struct chain_end *x = a, *y = b;
	if (x->hit != y->hit)
		return x->hit > y->hit ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void emit_one(struct hists_state *s, uint32_t node)
{
	size_t first = s->emitted.n;
	double part = share((double)s->chain->nodes[node].hit, hists_total(s, 0, false));
	for (uint32_t at = node; at; at = s->chain->nodes[at].parent)
		emit(s, at, 1, true, 0);
	for (size_t i = first, k = s->emitted.n - 1; i < k; i++, k--) {
		struct hists_emitted e = s->emitted.at[i];
		s->emitted.at[i] = s->emitted.at[k];
		s->emitted.at[k] = e;
	}
	s->emitted.at[first].joins = false;
	s->emitted.at[first].share = part;
	/* Figures of a whole chain are in the row of its last hop. */
}

/* Emits whole chains, heaviest first; of equal ones the longer chains first. */
static void emit_ends(struct hists_state *s, uint64_t min)
{
	VEC(struct chain_end) ends = { 0 };
	const struct callchain *c = s->chain;
	const struct chain_node *nodes = c->nodes;
	for (uint32_t at = nodes[0].n ? nodes[0].first : 0; at;) {
		if (nodes[at].n) {
			at = nodes[at].first;
			continue;
		}
		for (;;) { /* leaves the node: chains below come before its own */
			if (nodes[at].hit && nodes[at].hit >= min)
				vec_push(&ends, ((struct chain_end){ at, nodes[at].hit, ends.n }));
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

static bool shows_ends(const struct hists_ask *a)
{
	return a->mode == MODE_FLAT || a->mode == MODE_FOLDED;
}

static struct chain_opts chain_opts_of(const struct hists_state *s)
{
	const struct hists_ask *a = s->ask;
	return (struct chain_opts){
		.pruning = a->mode == MODE_FRACTAL ? CHAIN_MIN_SHARE : CHAIN_MIN_WEIGHT,
		.min_weight = (uint64_t)(hists_total(s, 0, false) * (a->threshold / 100)),
		.min_share = a->threshold / 100,
		.by_name = shows_ends(a),
		.below_only = a->given->below_only,
		.max_depth = s->chain_depth,
	};
}

static void start_chains(struct hists_state *s, uint32_t row)
{
	struct chain_opts o = chain_opts_of(s);
	s->emitted.n = s->next_emitted = 0;
	if (!s->chains || !callchains_bound(s->chains, row, &o))
		return;
	s->chain = callchains_of(s->chains, row, &o);
	if (shows_ends(s->ask))
		emit_ends(s, o.min_weight);
	else
		emit_tree(s);
}

/* ---- rows ---- */

static bool is_shown(const struct hists_state *s, const struct hists_entry *e)
{
	const struct hists_ask *a = s->ask;
	/* By the first event, which is the leader of a group, as in perf. */
	const struct hist_stat *w = a->opts.no_children ? e->self : e->children;
	if (hists_percent(s, w) < a->percent_limit)
		return false;
	return hists_state_wants(s, e->row);
}

/* The number of rows that a page with a limit leaves out. */
static size_t count_left_out(const struct hists_state *s)
{
	size_t shown = 0, wanted = 0;
	for (size_t i = 0; i < s->levels.n; i++) {
		shown += is_shown(s, &s->levels.at[i]);
		wanted += hists_state_wants(s, s->levels.at[i].row);
	}
	size_t max = s->ask->given->max_rows;
	return wanted - (shown < max ? shown : max);
}

/* Limits the depth of call chains if there would be too many lines: a stack of n functions has n
 * rows, each with up to n functions above or below it. */
static void limit_chains(struct hists_state *s)
{
	enum { MANY = 10000000, DEPTH = 127 };
	struct chain_opts o = chain_opts_of(s);
	uint64_t n = 0;
	uint32_t deepest = 0;
	if (!s->chains || s->ask->opts.max_stack)
		return;
	for (size_t i = 0; i < s->levels.n; i++) {
		const struct hists_entry *e = &s->levels.at[i];
		uint64_t more = is_shown(s, e) ? callchains_bound(s->chains, e->row, &o) : 0;
		uint32_t depth = s->hists->rows[e->row].depth;
		n += more;
		deepest = more && depth > deepest ? depth : deepest;
	}
	if (n <= MANY || deepest <= DEPTH)
		return;
	s->chain_depth = DEPTH;
	table_note(s->table,
		   "call chains end at [deeper] after %d functions, as all of them would be up to "
		   "%.0f million lines: --max-stack=%u shows all",
		   DEPTH, (double)n / 1e6, deepest);
}

/* The kind of a chain's rows: each function is a callee of the row above, or, in chains that start
 * at the innermost function, its caller. */
static enum kin_row_kind chain_kind(const struct hists_state *s)
{
	return s->ask->opts.order == CHAIN_CALLER ? KIN_ROW_CALLEE : KIN_ROW_CALLER;
}

static void set_chain_row(struct hists_state *s, struct kin_row *row)
{
	const struct hists_emitted *e = &s->emitted.at[s->next_emitted++];
	for (size_t i = 0; i < s->cols.n; i++)
		s->cells[i] = cell_of_chain(s, e, i);
	*row = (struct kin_row){ .kind = e->joins ? KIN_ROW_MEMBER : chain_kind(s),
				 .depth = e->depth,
				 .cells = s->cells };
}

static void set_entry_row(struct hists_state *s, const struct hists_entry *e, struct kin_row *row)
{
	for (size_t i = 0; i < s->cols.n; i++)
		s->cells[i] = cell_of_entry(s, e, &s->cols.at[i]);
	if (s->ask->given->hierarchy) {
		struct hists_col c = { ROLE_KEY, { FIELD_KEY, s->ask->opts.keys[e->level] }, 0 };
		s->cells[s->tree] = cell_of_entry(s, e, &c);
	}
	*row = (struct kin_row){
		.kind = KIN_ROW_PLAIN, .depth = e->level, .group = e->group, .cells = s->cells
	};
}

static bool next(void *state, struct kin_row *row)
{
	struct hists_state *s = state;
	if (s->next_emitted < s->emitted.n) {
		set_chain_row(s, row);
		return true;
	}
	while (s->next < s->levels.n) {
		const struct hists_entry *e = &s->levels.at[s->next++];
		if (s->ask->given->max_rows && s->n_rows == s->ask->given->max_rows)
			return false;
		if (!s->ask->overview && !is_shown(s, e))
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
	struct hists_state *s = state;
	s->next = s->n_rows = s->next_emitted = s->emitted.n = 0;
}

static void free_state(void *state)
{
	struct hists_state *s = state;
	callchains_free(s->chains);
	if (!s->borrows)
		hists_free(s->hists);
	hists_levels_free(&s->levels);
	hists_ask_free(s->ask);
	vec_free(&s->cols);
	vec_free(&s->columns);
	vec_free(&s->emitted);
	arena_release(&s->arena);
	free(s->cells);
	if (!s->borrows)
		free(s->paid);
	free(s);
}

static const struct table_source source = { rewind_rows, next, free_state };

/* ---- columns of the table ---- */

static void add_column(struct hists_state *s, struct kin_column column, struct hists_col col)
{
	vec_push(&s->columns, column);
	vec_push(&s->cols, col);
}

/* The title of a figure; it includes the event's name if several events are side by side. */
static const char *figure_title(struct hists_state *s, enum field_kind kind, size_t event)
{
	const struct hists_ask *a = s->ask;
	const char *title = figure_columns[kind].title;
	if (a->style->figure_title) {
		const char *given = a->style->figure_title(a, kind);
		return given ? given : title;
	}
	if (a->opts.n_events < 2)
		return title;
	const struct profile *p = s->in.profile;
	char *name =
		escape_copy(strtab_get(p->strings, p->samples.events[a->opts.events[event]].name));
	title = arena_printf(&s->arena, "%s %s", title, name);
	free(name);
	return title;
}

static void add_figure(struct hists_state *s, struct field f)
{
	const struct hists_ask *a = s->ask;
	for (size_t e = 0; e < a->opts.n_events; e++) {
		struct kin_column c = figure_columns[f.kind];
		if (e)
			c.key = arena_printf(&s->arena, "%s_%zu", c.key, e + 1);
		c.title = figure_title(s, f.kind, e);
		add_column(s, c, (struct hists_col){ ROLE_FIGURE, f, e });
	}
}

static void add_key(struct hists_state *s, struct field f)
{
	const struct hist_key_info *k = &hist_keys[f.key];
	struct kin_column c = {
		.key = k->column, .title = k->title, .help = k->help, .type = KIN_CELL_TEXT
	};
	const struct hists_style *style = s->ask->style;
	const char *title = style->key_title ? style->key_title(f.key) : NULL;
	c.title = title ? title : c.title;
	if (is_bare_number(s->ask, f.key))
		c.title = f.key == HIST_PID ? "Pid" : "Tid";
	c.function = f.key == HIST_SYM || f.key == HIST_SYMOFF || f.key == HIST_PARENT ||
		     f.key == HIST_SYMBOL_FROM || f.key == HIST_SYMBOL_TO;
	c.hidden = s->ask->elided[f.key] && style->hides_single && !hists_all_elided(s->ask);
	if (f.key == HIST_SYM || s->tree == SIZE_MAX || s->cols.at[s->tree].field.key != HIST_SYM)
		s->tree = s->cols.n;
	add_column(s, c, (struct hists_col){ ROLE_KEY, f, 0 });
}

/* Inserts the column after the figures. */
static void add_folded(struct hists_state *s)
{
	size_t at = 0;
	add_column(s, extra_columns[ROLE_FOLDED], (struct hists_col){ ROLE_FOLDED, { 0 }, 0 });
	struct kin_column column = s->columns.at[s->columns.n - 1];
	struct hists_col col = s->cols.at[s->cols.n - 1];
	while (s->cols.at[at].role == ROLE_FIGURE)
		at++;
	for (size_t i = s->cols.n - 1; i > at; i--) {
		s->columns.at[i] = s->columns.at[i - 1];
		s->cols.at[i] = s->cols.at[i - 1];
	}
	s->columns.at[at] = column;
	s->cols.at[at] = col;
	s->tree += s->tree != SIZE_MAX && s->tree >= at;
}

static void add_extras(struct hists_state *s)
{
	static const enum hists_role roles[] = { ROLE_CHILDREN_WEIGHT, ROLE_CHILDREN_COUNT,
						 ROLE_WEIGHT,          ROLE_COUNT,
						 ROLE_LEVEL,           ROLE_CHAIN_SUM,
						 ROLE_CHAIN_HIT,       ROLE_CHAIN_BELOW,
						 ROLE_CHAIN_COUNT };
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		struct kin_column c = extra_columns[roles[i]];
		bool weight = roles[i] >= ROLE_WEIGHT && roles[i] <= ROLE_CHILDREN_COUNT;
		bool children = weight && roles[i] >= ROLE_CHILDREN_WEIGHT;
		c.hidden = !(weight && s->ask->given->weights) ||
			   (children && s->ask->given->no_children);
		add_column(s, c, (struct hists_col){ roles[i], { 0 }, 0 });
	}
	if (s->ask->given->weights && s->ask->n_events > 1 && s->ask->opts.n_events == 1)
		add_column(s, extra_columns[ROLE_EVENT],
			   (struct hists_col){ ROLE_EVENT, { 0 }, 0 });
}

static void make_columns(struct hists_state *s)
{
	const struct hists_ask *a = s->ask;
	s->tree = SIZE_MAX;
	for (size_t i = 0; i < a->fields.n; i++)
		if (a->fields.at[i].kind == FIELD_KEY)
			add_key(s, a->fields.at[i]);
		else
			add_figure(s, a->fields.at[i]);
	if (s->levels.n_folded)
		add_folded(s);
	if (s->tree == SIZE_MAX)
		s->tree = 0;
	if (s->paid)
		add_column(s, extra_columns[ROLE_PAID], (struct hists_col){ ROLE_PAID, { 0 }, 0 });
	add_extras(s);
	s->columns.at[s->tree].tree = true;
	if (a->given->hierarchy) /* all keys are in one column */
		for (size_t i = 0; i < s->cols.n; i++)
			if (s->cols.at[i].role == ROLE_KEY && i != s->tree)
				s->columns.at[i].hidden = true;
	s->cells = xalloc((s->cols.n + 1) * sizeof(*s->cells));
}

static const char *title_of(const struct hists_ask *a)
{
	if (a->opts.no_children)
		return "Self";
	return a->overview ? "Most Self, then most Children" : "Children and Self";
}

/* Adds a note if the requested function has no row, or one by another name. */
static void note_subject(struct hists_state *s)
{
	const char *const subjects[] = { s->ask->given->function, NULL };
	struct report_opts o = { .subjects = subjects };
	struct report_input in = s->in;
	if (!subjects[0])
		return;
	in.symbols = program_symbols(in.program);
	for (uint32_t i = 0; i < s->hists->n; i++)
		if (hists_state_wants(s, i)) {
			report_note_alias(&in, subjects[0], s->table);
			return;
		}
	if (!report_is_inlined(&in, subjects[0]))
		table_note(s->table, "no sample has '%s' on its stack", subjects[0]);
	report_note_subjects(&in, &o, s->table);
}

/* The sums of all rows: those of the table that the options name, or new ones. */
static void add_sums(struct hists_state *s)
{
	const struct kin_table *again = s->ask->given->again;
	const struct hists_state *of = again ? table_state(again, &source) : NULL;
	s->borrows = s->ask->overview && of && of->ask->overview &&
		     of->in.profile == s->in.profile && of->in.program == s->in.program;
	if (s->borrows) {
		s->hists = of->hists;
		s->paid = of->paid;
		return;
	}
	s->hists = hists_new(s->in.profile, s->in.program, &s->ask->opts);
	if (s->ask->overview)
		hists_paid(s);
}

static struct kin_error *hists_run(const struct report_input *in, const struct report_opts *o,
				   struct kin_table **ret)
{
	static const struct kin_hists_opts none; /* the table refers to it */
	struct hists_state *s = xalloc(sizeof(*s));
	struct kin_error *err =
		hists_ask_new(in->profile, in->program, o->hists ? o->hists : &none,
			      o->hists_style ? o->hists_style : &hists_own_style, &s->ask);
	if (err) {
		free(s);
		return err;
	}
	s->in = *in;
	add_sums(s);
	s->chains = s->ask->opts.chains ? callchains_new(s->hists) : NULL;
	hists_levels_make(s->hists, s->ask, &s->levels);
	if (s->ask->overview) {
		hists_overview(s);
	} else if (s->ask->given->max_rows) {
		s->levels.n_left_out = count_left_out(s);
	}
	make_columns(s);
	s->table = table_new("hists", title_of(s->ask), s->columns.at, s->columns.n);
	table_set_source(s->table, &source, s);
	hists_describe(s);
	limit_chains(s);
	note_subject(s);
	*ret = s->table;
	return NULL;
}

const struct report hists_report = {
	.name = "hists",
	.help = "samples by any keys: Children and Self, with call chains",
	.by_program = true,
	.run = hists_run,
};

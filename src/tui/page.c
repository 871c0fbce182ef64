#include "tui/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* ---- cells as text ---- */

static const char *safe(struct page *p, const char *text)
{
	if (!escape_is_plain(text)) {
		char *copy = escape_copy(text);
		text = arena_printf(&p->arena, "%s", copy);
		free(copy);
		return text;
	}
	return arena_printf(&p->arena, "%s", text);
}

static const char *seconds(struct page *p, double s)
{
	double most = s < 0 ? -s : s;
	return arena_printf(&p->arena, most >= 1000 ? "%.1f" : "%.4f", s);
}

static const char *text_of(struct page *p, const struct kin_cell *c, double rate)
{
	switch (c->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_COUNT:
		return arena_printf(&p->arena, "%llu", (unsigned long long)c->count);
	case KIN_CELL_TIME:
		return seconds(p, c->number / rate);
	case KIN_CELL_SHARE:
		return arena_printf(&p->arena, "%.2f%%", 100 * c->number);
	case KIN_CELL_NUMBER:
		return arena_printf(&p->arena, "%g", c->number);
	case KIN_CELL_ADDRESS:
		return arena_printf(&p->arena, "%#llx", (unsigned long long)c->count);
	case KIN_CELL_TEXT:
		return safe(p, c->text);
	case KIN_CELL_OF:
		return arena_printf(&p->arena, "%llu/%llu", (unsigned long long)c->pair.a,
				    (unsigned long long)c->pair.b);
	case KIN_CELL_PLUS:
		return arena_printf(&p->arena, "%llu+%llu", (unsigned long long)c->pair.a,
				    (unsigned long long)c->pair.b);
	}
	return "";
}

/* ---- from tables ---- */

static size_t column_of(const struct kin_table *t, const char *key)
{
	size_t i = 0;
	while (i < kin_table_n_columns(t) && strcmp(kin_table_column(t, i)->key, key) != 0)
		i++;
	return i;
}

static double number_at(const struct kin_table *t, const struct kin_row *row, size_t column)
{
	const struct kin_cell *c = column < kin_table_n_columns(t) ? &row->cells[column] : NULL;
	bool number = c && (c->type == KIN_CELL_SHARE || c->type == KIN_CELL_TIME);
	return number ? c->number : 0;
}

struct wanted {
	const char *const *keys; /* of columns, the name's last */
	size_t n;                /* <= PAGE_COLUMNS + 1 */
	/* What rows are sorted by: of one column each; NULL: 0. In times they are divided by the
	 * total. */
	const char *with_callees, *own;
	bool own_too; /* with_callees is without own */
};

static double total_of(const struct kin_table *t)
{
	const struct kin_cell *c = kin_table_property(t, "total");
	return c && c->type == KIN_CELL_TIME && c->number > 0 ? c->number : 0;
}

static double share_of(const struct kin_table *t, const struct kin_row *row, const char *key)
{
	size_t column = key ? column_of(t, key) : kin_table_n_columns(t);
	double v = number_at(t, row, column);
	if (column >= kin_table_n_columns(t) || row->cells[column].type != KIN_CELL_TIME)
		return v;
	return total_of(t) > 0 ? v / total_of(t) : 0;
}

static void widen(struct page *p, const struct page_row *r)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		size_t n = escape_width(r->cells[i]);
		if (n > p->columns[i].width)
			p->columns[i].width = (unsigned)n;
	}
}

static bool is_count(const struct kin_table *t, const struct kin_row *row, const char *key)
{
	size_t column = column_of(t, key);
	return column < kin_table_n_columns(t) && row->cells[column].type == KIN_CELL_COUNT;
}

/* "f <cycle 2>" is f; "<cycle 2 as a whole>" and "<spontaneous>" are nothing to go to. */
static const char *function_of(struct page *p, const struct kin_table *t, const struct kin_row *row,
			       const char *name)
{
	bool in_graph = column_of(t, "called") < kin_table_n_columns(t);
	if (row->kind == KIN_ROW_CYCLE || (in_graph && !is_count(t, row, "index")))
		return NULL;
	const char *cycle = strstr(name, " <cycle ");
	if (!in_graph || !cycle || !is_count(t, row, "cycle"))
		return name;
	return arena_printf(&p->arena, "%.*s", (int)(cycle - name), name);
}

static void take_row(struct page *p, struct kin_table *t, const struct kin_row *row,
		     const struct wanted *w)
{
	struct page_row r = { .kind = row->kind, .position = p->rows.n };
	for (size_t i = 0; i + 1 < w->n; i++) {
		size_t column = column_of(t, w->keys[i]);
		r.cells[i] = column < kin_table_n_columns(t)
				     ? text_of(p, &row->cells[column], kin_table_rate(t))
				     : "";
	}
	size_t name = column_of(t, w->keys[w->n - 1]);
	r.name = name < kin_table_n_columns(t) ? text_of(p, &row->cells[name], 1) : "";
	r.function = name < kin_table_n_columns(t) && row->cells[name].type == KIN_CELL_TEXT
			     ? function_of(p, t, row,
					   arena_printf(&p->arena, "%s", row->cells[name].text))
			     : NULL;
	r.with_callees = share_of(t, row, w->with_callees);
	r.own = share_of(t, row, w->own);
	if (w->own_too)
		r.with_callees += r.own;
	widen(p, &r);
	vec_push(&p->rows, r);
}

static void take_columns(struct page *p, struct kin_table *t, const struct wanted *w)
{
	for (size_t i = 0; i < w->n; i++) {
		size_t column = column_of(t, w->keys[i]);
		bool there = column < kin_table_n_columns(t);
		const struct kin_column *c = there ? kin_table_column(t, column) : NULL;
		const char *title = c ? safe(p, c->title) : "";
		if (c && c->type == KIN_CELL_TIME)
			title = arena_printf(&p->arena, "%s (s)", title);
		if (i + 1 == w->n) {
			p->name_title = title;
			break;
		}
		p->columns[i] = (struct page_column){ title, (unsigned)escape_width(title),
						      c && c->type == KIN_CELL_TEXT };
		p->n_columns = i + 1;
	}
}

static void take_title(struct page *p, const struct kin_table *t)
{
	const char *title = "";
	for (size_t i = 0; i < kin_table_n_notes(t); i++)
		title = arena_printf(&p->arena, "%s%s%s", title, *title ? "; " : "",
				     kin_table_note_at(t, i));
	if (!*title && kin_table_property(t, "estimated"))
		title = "times with callees are estimated: apportioned by call counts";
	p->title = safe(p, *title ? title : kin_table_title(t));
}

static void take_table(struct page *p, struct kin_table *t, const struct wanted *w)
{
	struct kin_row row;
	take_title(p, t);
	take_columns(p, t, w);
	p->has_children = w->with_callees && column_of(t, w->with_callees) < kin_table_n_columns(t);
	const struct kin_cell *events = kin_table_property(t, "n_events");
	p->n_events = events && events->type == KIN_CELL_COUNT ? (size_t)events->count : 1;
	for (kin_table_rewind(t); kin_table_next(t, &row);)
		take_row(p, t, &row, w);
}

/* ---- reports ---- */

/* All that are shown; the function last. */
static void usual_keys(const struct kin_table *t, const char *keys[PAGE_COLUMNS + 1], size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < kin_table_n_columns(t) && *n <= PAGE_COLUMNS; i++)
		if (!kin_table_column(t, i)->hidden)
			keys[(*n)++] = kin_table_column(t, i)->key;
	for (size_t i = 0; i + 1 < *n; i++)
		if (!strcmp(keys[i], "symbol")) {
			memmove(keys + i, keys + i + 1, (*n - i - 1) * sizeof(*keys));
			keys[*n - 1] = "symbol";
			return;
		}
}

static struct kin_error *take_report(struct kin_profile *profile, const char *name,
				     const struct kin_report_opts *o, const struct wanted *w,
				     struct page *ret)
{
	const char *keys[PAGE_COLUMNS + 1];
	struct wanted usual = *w;
	struct kin_table *t;
	struct kin_error *err = kin_report(profile, name, o, &t);
	if (err)
		return err;
	if (!w->keys) {
		usual_keys(t, keys, &usual.n);
		usual.keys = keys;
	}
	*ret = (struct page){ 0 };
	take_table(ret, t, &usual);
	kin_table_free(t);
	return NULL;
}

static const char *const all_columns[] = { "all", NULL };

static struct kin_error *from_stacks(struct kin_profile *p, const struct page_opts *o,
				     struct page *ret)
{
	static const struct wanted w = { NULL, 0, "children", "self", false };
	struct kin_hists_opts h = { 0 };
	if (o->hists)
		memcpy(&h, o->hists, o->hists->size < sizeof(h) ? o->hists->size : sizeof(h));
	h.size = sizeof(h);
	h.call_graph = "none";
	h.event = o->event;
	h.hierarchy = h.group = false;
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = &h };
	return take_report(p, "hists", &opts, &w, ret);
}

static struct kin_error *from_counts(struct kin_profile *p, struct page *ret)
{
	static const char *const keys[] = { "share", "self", "children", "calls", "name" };
	static const struct wanted w = { keys, ARRAY_LEN(keys), "children", "self", true };
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = all_columns };
	return take_report(p, "flat", &opts, &w, ret);
}

struct kin_error *page_of_functions(struct kin_profile *p, const struct page_opts *o,
				    struct page *ret)
{
	return kin_profile_is_sampled(p) ? from_stacks(p, o, ret) : from_counts(p, ret);
}

struct kin_error *page_of_function(struct kin_profile *p, const char *function, struct page *ret)
{
	static const char *const keys[] = { "share", "self", "children", "called", "name" };
	static const struct wanted w = { keys, ARRAY_LEN(keys), "children", "self", true };
	const char *const subjects[] = { function, NULL };
	struct kin_report_opts opts = { .size = sizeof(opts),
					.columns = all_columns,
					.subjects = subjects };
	struct kin_error *err = take_report(p, "graph", &opts, &w, ret);
	for (size_t i = 0; !err && i < ret->rows.n; i++) {
		struct page_row *r = &ret->rows.at[i];
		if (!*r->cells[0] && r->with_callees > 0) /* calls have one, too */
			r->cells[0] = arena_printf(&ret->arena, "%.2f%%", 100 * r->with_callees);
	}
	return err;
}

void page_done(struct page *p)
{
	vec_free(&p->rows);
	arena_release(&p->arena);
}

/* ---- order ---- */

static int by_own(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static int by_both(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	if (x->with_callees != y->with_callees)
		return x->with_callees > y->with_callees ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

void page_sort(struct page *p, bool own)
{
	if (p->rows.n)
		qsort(p->rows.at, p->rows.n, sizeof(*p->rows.at), own ? by_own : by_both);
}

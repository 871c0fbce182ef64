/* page.c - turns tables and the report "hists" into rows of text. */
#include "tui/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

unsigned page_indent(const struct page_row *r)
{
	bool inner = r->kind == KIN_ROW_CALLER || r->kind == KIN_ROW_CALLEE;
	return r->depth ? 2 * r->depth : inner ? 2 : 0;
}

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

/* A time in the page's unit. */
static const char *time_text(struct page *p, double v, const char *sign)
{
	double most = fabs(v);
	int digits = strcmp(p->unit, "s") != 0 ? (v == rint(v) ? 0 : 2) : most >= 1000 ? 1 : 4;
	return arena_printf(&p->arena, "%s%.*f", sign, digits, v);
}

/* Positive differences have a sign, too. */
static const char *text_of(struct page *p, const struct kin_cell *c, double rate,
			   const struct kin_column *column)
{
	const char *sign = column && column->change && c->number > 0 ? "+" : "";
	switch (c->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_COUNT:
		return arena_printf(&p->arena, "%llu", (unsigned long long)c->count);
	case KIN_CELL_TIME:
		return time_text(p, c->number / rate, sign);
	case KIN_CELL_SHARE:
		return arena_printf(&p->arena, "%s%.2f%%", sign, 100 * c->number);
	case KIN_CELL_NUMBER:
		return column && column->type == KIN_CELL_TIME
			       ? time_text(p, c->number, sign)
			       : arena_printf(&p->arena, "%g", c->number);
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

/* The value to sort by; the first number of a pair. */
static double value_of(const struct kin_cell *c)
{
	switch (c->type) {
	case KIN_CELL_NONE:
	case KIN_CELL_TEXT:
		break;
	case KIN_CELL_COUNT:
	case KIN_CELL_ADDRESS:
		return (double)c->count;
	case KIN_CELL_TIME:
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		return c->number;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		return (double)c->pair.a;
	}
	return 0;
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
	bool number = c && (c->type == KIN_CELL_SHARE || c->type == KIN_CELL_TIME ||
			    c->type == KIN_CELL_NUMBER);
	return number ? c->number : 0;
}

struct page_wanted {
	const char *const *keys; /* keys of columns, the name's last */
	size_t n;                /* <= PAGE_COLUMNS + 1 */
	/* Columns with the values for sorting and colours; NULL: 0. Times are divided by the
	 * total. */
	const char *with_callees, *own;
	bool own_too;      /* with_callees excludes own, so add it */
	const char *what;  /* column with the value "function" where the row's name is a function;
			      NULL: all names are */
	const char *event; /* only rows of this event; NULL: all */
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

/* The function that a row leads to. "f <cycle 2>" and "f (inlined)" are f; "<cycle 2 as a whole>"
 * and "<spontaneous>" are no functions. */
static const char *function_of(struct page *p, const struct kin_table *t, const struct kin_row *row,
			       const char *name)
{
	bool in_graph = column_of(t, "called") < kin_table_n_columns(t);
	if (row->kind == KIN_ROW_CYCLE || (in_graph && !is_count(t, row, "index")))
		return NULL;
	const char *cycle = strstr(name, " <cycle "), *inlined = strstr(name, " (inlined)");
	if (!in_graph && inlined && !inlined[strlen(" (inlined)")])
		return arena_printf(&p->arena, "%.*s", (int)(inlined - name), name);
	if (!in_graph || !cycle || !is_count(t, row, "cycle"))
		return name;
	return arena_printf(&p->arena, "%.*s", (int)(cycle - name), name);
}

static bool is_of_event(const struct kin_table *t, const struct kin_row *row, const char *event)
{
	size_t column = event ? column_of(t, "event") : kin_table_n_columns(t);
	return column >= kin_table_n_columns(t) || row->cells[column].type != KIN_CELL_TEXT ||
	       !strcmp(row->cells[column].text, event);
}

static bool is_function(const struct kin_table *t, const struct kin_row *row,
			const struct page_wanted *w)
{
	size_t column = w->what ? column_of(t, w->what) : kin_table_n_columns(t);
	return column >= kin_table_n_columns(t) || row->cells[column].type != KIN_CELL_TEXT ||
	       !strcmp(row->cells[column].text, "function");
}

static const char *object_of(struct page *p, const struct kin_table *t, const struct kin_row *row)
{
	size_t n = kin_table_n_columns(t), column = column_of(t, "object");
	column = column < n ? column : column_of(t, "dso");
	return column < n && row->cells[column].type == KIN_CELL_TEXT
		       ? text_of(p, &row->cells[column], 1, NULL)
		       : NULL;
}

static void take_row(struct page *p, struct kin_table *t, const struct kin_row *row,
		     const struct page_wanted *w)
{
	struct page_row r = { .kind = row->kind, .position = p->rows.n };
	if (p->is_overview)
		r.group = (enum kin_overview_group)row->group;
	if (!is_of_event(t, row, w->event))
		return;
	for (size_t i = 0; i + 1 < w->n; i++) {
		size_t column = column_of(t, w->keys[i]);
		bool there = column < kin_table_n_columns(t);
		r.cells[i] = there ? text_of(p, &row->cells[column], kin_table_rate(t),
					     kin_table_column(t, column))
				   : "";
		r.values[i] = there ? value_of(&row->cells[column]) : 0;
	}
	size_t name = column_of(t, w->keys[w->n - 1]);
	r.name = name < kin_table_n_columns(t) ? text_of(p, &row->cells[name], 1, NULL) : "";
	r.function = w->with_callees && name < kin_table_n_columns(t) &&
				     row->cells[name].type == KIN_CELL_TEXT &&
				     is_function(t, row, w)
			     ? function_of(p, t, row,
					   arena_printf(&p->arena, "%s", row->cells[name].text))
			     : NULL;
	r.object = object_of(p, t, row);
	r.with_callees = share_of(t, row, w->with_callees);
	r.own = share_of(t, row, w->own);
	r.share = number_at(t, row, column_of(t, "share"));
	if (w->own_too)
		r.with_callees += r.own;
	widen(p, &r);
	vec_push(&p->rows, r);
}

/* Determines which columns have equal or empty cells, and the width of the names. */
static void compare_rows(struct page *p)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		struct page_column *c = &p->columns[i];
		c->same = c->empty = p->rows.n > 0;
		for (size_t k = 0; k < p->rows.n; k++) {
			const char *cell = p->rows.at[k].cells[i];
			c->same = c->same && !strcmp(cell, p->rows.at[0].cells[i]);
			c->empty = c->empty && !*cell;
		}
		c->same = c->same && p->rows.n > 1;
	}
	for (size_t k = 0; k < p->rows.n; k++) {
		size_t n = escape_width(p->rows.at[k].name) + page_indent(&p->rows.at[k]);
		if (n > p->name_width)
			p->name_width = (unsigned)n;
	}
}

/* The number of the column with that key; NONE: none. */
static size_t place_of(const struct page *p, const struct page_wanted *w, const char *key)
{
	for (size_t i = 0; key && i < p->n_columns; i++)
		if (!strcmp(w->keys[i], key))
			return i;
	return NONE;
}

static void take_columns(struct page *p, struct kin_table *t, const struct page_wanted *w)
{
	for (size_t i = 0; i < w->n; i++) {
		size_t column = column_of(t, w->keys[i]);
		bool there = column < kin_table_n_columns(t);
		const struct kin_column *c = there ? kin_table_column(t, column) : NULL;
		const char *title = c ? safe(p, c->title) : "";
		if (c && c->type == KIN_CELL_TIME)
			title = arena_printf(&p->arena, "%s (%s)", title, p->unit);
		if (i + 1 == w->n) {
			p->name_title = title;
			break;
		}
		p->columns[i] = (struct page_column){ title, (unsigned)escape_width(title),
						      c && c->type == KIN_CELL_TEXT };
		p->n_columns = i + 1;
	}
	p->children = place_of(p, w, w->with_callees);
	p->own = place_of(p, w, w->own);
	p->comm = place_of(p, w, "comm");
}

/* False if the event does not count time: in a report of events in several units, its rows then
 * have numbers in columns of times. */
static bool has_times(struct kin_table *t, const char *event)
{
	struct kin_row row;
	for (kin_table_rewind(t); kin_table_next(t, &row);)
		for (size_t i = 0; i < kin_table_n_columns(t) && is_of_event(t, &row, event); i++)
			if (kin_table_column(t, i)->type == KIN_CELL_TIME &&
			    row.cells[i].type == KIN_CELL_NUMBER)
				return false;
	return true;
}

static void take_unit(struct page *p, struct kin_table *t, const struct page_wanted *w)
{
	const struct kin_cell *c = kin_table_property(t, "dimension");
	bool other = c && c->type == KIN_CELL_TEXT && strcmp(c->text, "seconds") != 0;
	p->unit = other ? safe(p, c->text) : "s";
	if (other && w->event && !strcmp(c->text, "s or events"))
		p->unit = has_times(t, w->event) ? "s" : "events";
}

/* Notes of reports end with the option that shows more; in the browser a key does that. */
static const struct ending {
	const char *note, *here;
} endings[] = {
	{ "more: below", "more: e" },
	{ "folded: --all-rows", "folded: A" },
	{ "functions: --own=no", "functions: o" },
};

static void take_title(struct page *p, const struct kin_table *t)
{
	const char *title = "";
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		const char *note = kin_table_note_at(t, i), *here = "";
		size_t n = strlen(note);
		for (size_t k = 0; k < ARRAY_LEN(endings); k++) {
			size_t cut = strlen(endings[k].note);
			if (n > cut && !strcmp(note + n - cut, endings[k].note)) {
				here = endings[k].here;
				n -= cut;
			}
		}
		title = arena_printf(&p->arena, "%s%s%.*s%s", title, *title ? "; " : "", (int)n,
				     note, here);
	}
	p->title = safe(p, *title ? title : kin_table_title(t));
}

static void take_table(struct page *p, struct kin_table *t, const struct page_wanted *w)
{
	struct kin_row row;
	take_title(p, t);
	take_unit(p, t, w);
	take_columns(p, t, w);
	p->has_children = w->with_callees && column_of(t, w->with_callees) < kin_table_n_columns(t);
	const struct kin_cell *events = kin_table_property(t, "n_events");
	p->is_estimated = kin_table_property(t, "estimated") != NULL;
	p->is_overview = kin_table_property(t, "overview") != NULL;
	p->n_events = events && events->type == KIN_CELL_COUNT ? (size_t)events->count : 1;
	for (kin_table_rewind(t); kin_table_next(t, &row);)
		take_row(p, t, &row, w);
	compare_rows(p);
	const struct kin_cell *event = kin_table_property(t, "event");
	if (event && event->type == KIN_CELL_TEXT)
		p->event = arena_printf(&p->arena, "%s", event->text);
}

/* ---- reports ---- */

/* The keys of all visible columns, the function last. */
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
				     const struct kin_report_opts *o, const struct page_wanted *w,
				     struct page *ret)
{
	const char *keys[PAGE_COLUMNS + 1];
	struct page_wanted usual = *w;
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

/* Fills in shares with callees where cells are empty; with a title, replaces the column. */
static void put_share(struct page *p, size_t column, const char *title)
{
	struct page_column *c = &p->columns[column];
	c->width = (unsigned)escape_width(c->title = title ? title : c->title);
	for (size_t i = 0; i < p->rows.n; i++) {
		struct page_row *r = &p->rows.at[i];
		if (title || (!*r->cells[column] && r->with_callees > 0))
			r->cells[column] = arena_printf(&p->arena, "%.2f%%", 100 * r->with_callees);
		widen(p, r);
	}
	compare_rows(p);
}

static struct kin_error *from_stacks(struct kin_profile *p, const struct page_opts *o,
				     const char *key, struct page *ret)
{
	static const struct page_wanted w = { .with_callees = "children", .own = "self" };
	struct kin_hists_opts h = { 0 };
	if (o->hists)
		memcpy(&h, o->hists, o->hists->size < sizeof(h) ? o->hists->size : sizeof(h));
	h.size = sizeof(h);
	h.call_graph = "none";
	h.event = o->event;
	h.first_rows = o->first_rows;
	h.all_rows = o->all_rows;
	if (key) {
		h.sort = key;
		h.fields = NULL;
	}
	h.hierarchy = h.group = false;
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = &h };
	return take_report(p, "hists", &opts, &w, ret);
}

/* Columns as for stacks: the share with callees, and the share without. The flat profile only has
 * the latter. */
static struct kin_error *from_counts(struct kin_profile *p, struct page *ret)
{
	static const char *const keys[] = { "children", "share", "self", "calls", "name" };
	static const struct page_wanted w = { .keys = keys,
					      .n = ARRAY_LEN(keys),
					      .with_callees = "children",
					      .own = "self",
					      .own_too = true };
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = all_columns };
	struct kin_error *err = take_report(p, "flat", &opts, &w, ret);
	if (err)
		return err;
	if (ret->has_children) {
		put_share(ret, 0, "Children");
		ret->columns[1].title = "Self";
	}
	if (ret->is_estimated) /* replaces the table's own note, which is about a hidden column */
		ret->title = "times with callees are estimated: apportioned by call counts";
	return NULL;
}

struct kin_error *page_of_functions(struct kin_profile *p, const struct page_opts *o,
				    struct page *ret)
{
	return kin_profile_is_sampled(p) ? from_stacks(p, o, NULL, ret) : from_counts(p, ret);
}

void page_of_changes(struct kin_table *t, struct page *ret)
{
	static const char *const keys[] = { "change", "change_share", "chance", "before",
					    "after",  "object",       "name" };
	static const struct page_wanted w = { .keys = keys,
					      .n = ARRAY_LEN(keys),
					      .with_callees = "change_share" };
	*ret = (struct page){ 0 };
	take_table(ret, t, &w);
	ret->n_events = 1;
}

struct kin_error *page_of_parts(struct kin_profile *p, const struct page_opts *o, const char *key,
				struct page *ret)
{
	return from_stacks(p, o, key, ret);
}

/* Rows of one event: derives the event's total from a row, since the table's total covers all
 * events. */
static void use_total_of_rows(struct page *p)
{
	double total = 0;
	for (size_t i = 0; i < p->rows.n && total <= 0; i++)
		if (p->rows.at[i].share > 0)
			total = p->rows.at[i].with_callees / p->rows.at[i].share;
	for (size_t i = 0; i < p->rows.n && total > 0; i++) {
		p->rows.at[i].with_callees /= total;
		p->rows.at[i].own /= total;
	}
}

static struct kin_error *about(struct kin_profile *profile, const char *report,
			       const char *function, const struct page_opts *o,
			       const struct page_wanted *w, struct page *ret)
{
	const char *const subjects[] = { function, NULL };
	struct kin_report_opts opts = { .size = sizeof(opts),
					.columns = all_columns,
					.subjects = subjects,
					.source_dirs = o->source_dirs,
					.with_source = true,
					.by = o->event_name ? "event" : NULL };
	struct page_wanted of_event = *w;
	of_event.event = o->event_name;
	return take_report(profile, report, &opts, &of_event, ret);
}

struct kin_error *page_of_function(struct kin_profile *p, const struct page_opts *o,
				   const char *function, struct page *ret)
{
	static const char *const keys[] = { "share", "self", "children", "called", "name" };
	static const struct page_wanted w = { .keys = keys,
					      .n = ARRAY_LEN(keys),
					      .with_callees = "children",
					      .own = "self",
					      .own_too = true };
	struct kin_error *err = about(p, "graph", function, o, &w, ret);
	if (err)
		return err;
	if (o->event_name)
		use_total_of_rows(ret);
	put_share(ret, 0, NULL); /* rows with counted calls get a share, too */
	return NULL;
}

struct kin_error *page_of_cycles(struct kin_profile *p, struct page *ret)
{
	static const char *const keys[] = { "cycle", "verdict", "what", "share",
					    "time",  "calls",   "name" };
	static const struct page_wanted w = {
		.keys = keys, .n = ARRAY_LEN(keys), .with_callees = "share", .what = "what"
	};
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = all_columns };
	return take_report(p, "cycles", &opts, &w, ret);
}

struct kin_error *page_of_members(struct kin_profile *p, struct page *ret)
{
	static const char *const keys[] = { "cycle", "name" };
	static const struct page_wanted w = { .keys = keys,
					      .n = ARRAY_LEN(keys),
					      .with_callees = "children" };
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = all_columns };
	return take_report(p, "flat", &opts, &w, ret);
}

struct kin_error *page_of_source(struct kin_profile *p, const struct page_opts *o,
				 const char *function, struct page *ret)
{
	static const char *const keys[] = { "share", "self", "inclusive", "line", "source" };
	static const struct page_wanted w = { .keys = keys, .n = ARRAY_LEN(keys), .own = "share" };
	return about(p, "annotate", function, o, &w, ret);
}

struct kin_error *page_of_instructions(struct kin_profile *p, const struct page_opts *o,
				       const char *function, struct page *ret)
{
	static const char *const keys[] = { "share", "self", "inclusive", "address",
					    "instruction" };
	static const struct page_wanted w = { .keys = keys, .n = ARRAY_LEN(keys), .own = "share" };
	return about(p, "asm", function, o, &w, ret);
}

void page_add_cores(struct page *p, double cores)
{
	size_t at = p->own + 1;
	if (p->own == NONE || p->n_columns >= PAGE_COLUMNS)
		return;
	memmove(&p->columns[at + 1], &p->columns[at], (p->n_columns - at) * sizeof(*p->columns));
	p->columns[at] = (struct page_column){ .title = "CPU", .width = (unsigned)strlen("CPU") };
	p->n_columns++;
	if (p->comm != NONE && p->comm >= at)
		p->comm++;
	for (size_t k = 0; k < p->rows.n; k++) {
		struct page_row *r = &p->rows.at[k];
		double share = p->has_children ? r->with_callees : r->own;
		memmove(&r->cells[at + 1], &r->cells[at],
			(PAGE_COLUMNS - at - 1) * sizeof(*r->cells));
		memmove(&r->values[at + 1], &r->values[at],
			(PAGE_COLUMNS - at - 1) * sizeof(*r->values));
		r->values[at] = 100 * share * cores;
		r->cells[at] = arena_printf(&p->arena, "%.1f%%", r->values[at]);
		widen(p, r);
	}
	compare_rows(p);
}

void page_done(struct page *p)
{
	vec_free(&p->rows);
	arena_release(&p->arena);
}

/* ---- order ---- */

struct order {
	const struct page *page;
	size_t column;
};

static double sort_value(const struct order *o, const struct page_row *r)
{
	return o->column == o->page->children ? r->with_callees
	       : o->column == o->page->own    ? r->own
					      : r->values[o->column];
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct page_row *x = a, *y = b;
	bool by_name = o->column >= o->page->n_columns;
	int sign = 0;
	if (o->column == NONE) {
		sign = 0;
	} else if (by_name || o->page->columns[o->column].left) {
		sign = strcmp(by_name ? x->name : x->cells[o->column],
			      by_name ? y->name : y->cells[o->column]);
	} else {
		double v = sort_value(o, x), w = sort_value(o, y);
		sign = v > w ? -1 : v < w;
	}
	return sign ? sign : x->position < y->position ? -1 : x->position > y->position;
}

void page_sort(struct page *p, size_t column)
{
	struct order o = { p, column };
	if (p->rows.n)
		qsort_r(p->rows.at, p->rows.n, sizeof(*p->rows.at), compare, &o);
}

/* ---- to a file ---- */

static void print_cells(const struct page *p, const char *const *cells, FILE *out)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct page_column *c = &p->columns[i];
		size_t n = escape_width(cells[i]);
		int pad = c->width > n ? (int)(c->width - n) : 0;
		if (c->empty)
			continue;
		fprintf(out, "%*s%s%*s  ", c->left ? 0 : pad, "", cells[i], c->left ? pad : 0, "");
	}
}

bool page_print(const struct page *p, const struct page_row *const *rows, size_t n, FILE *out)
{
	const char *titles[PAGE_COLUMNS] = { 0 };
	for (size_t i = 0; i < p->n_columns; i++)
		titles[i] = p->columns[i].title;
	if (*p->title)
		fprintf(out, "# %s\n", p->title);
	print_cells(p, titles, out);
	fprintf(out, "%s\n", p->name_title);
	for (size_t i = 0; i < n; i++) {
		const struct page_row *r = rows[i];
		print_cells(p, r->cells, out);
		fprintf(out, "%*s%s\n", (int)page_indent(r), "", r->name);
	}
	return !fflush(out) && !ferror(out);
}

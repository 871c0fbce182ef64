/* unfold.c - keeps a tree of calls for each open row, and lists open nodes as rows. */
#include "tui/unfold.h"

#include <stdlib.h>

static size_t find(const struct unfold *u, const struct page_row *row)
{
	size_t i = 0;
	while (i < u->of.n && u->of.at[i].position != row->position)
		i++;
	return i;
}

static void free_one(struct unfolded *x)
{
	flame_done(&x->flame);
	free(x->open);
}

bool unfold_is_open(const struct unfold *u, const struct page_row *row)
{
	return find(u, row) < u->of.n;
}

void unfold_close(struct unfold *u, const struct page_row *row)
{
	size_t at = find(u, row);
	free_one(&u->of.at[at]);
	u->of.at[at] = u->of.at[--u->of.n];
}

bool unfold_open(struct unfold *u, const struct page_row *row, bool callers, struct flame *flame,
		 uint64_t total)
{
	struct unfolded made = {
		.position = row->position, .callers = callers, .flame = *flame, .total = total
	};
	uint32_t function = made.flame.nodes.at[FLAME_ROOT].child;
	if (function == NONE || made.flame.nodes.at[function].child == NONE) {
		flame_done(&made.flame);
		return false;
	}
	made.open = xalloc(made.flame.nodes.n * sizeof(*made.open));
	made.open[function] = true;
	vec_push(&u->of, made);
	return true;
}

bool unfold_toggle(struct unfold *u, size_t i)
{
	const struct unfold_place *p = &u->places.at[i];
	struct unfolded *x = &u->of.at[p->of];
	if (x->flame.nodes.at[p->node].child == NONE)
		return false;
	x->open[p->node] = !x->open[p->node];
	return true;
}

void unfold_begin(struct unfold *u)
{
	u->rows.n = u->places.n = 0;
	arena_release(&u->texts);
}

static void put_node(struct unfold *u, size_t of, uint32_t node, const struct page *page,
		     unsigned depth)
{
	const struct unfolded *x = &u->of.at[of];
	const struct flame_node *n = &x->flame.nodes.at[node];
	const char *mark = n->child == NONE ? " " : x->open[node] ? "-" : "+";
	double total = x->total ? (double)x->total : 1;
	struct page_row r = { .kind = KIN_ROW_CALLEE,
			      .function = n->name,
			      .with_callees = (double)n->weight / total,
			      .own = x->callers ? 0 : (double)n->self / total,
			      .depth = depth };
	for (size_t i = 0; i < PAGE_COLUMNS; i++)
		r.cells[i] = "";
	if (page->children != NONE)
		r.cells[page->children] = arena_printf(&u->texts, "%.2f%%", 100 * r.with_callees);
	if (page->own != NONE && !x->callers)
		r.cells[page->own] = arena_printf(&u->texts, "%.2f%%", 100 * r.own);
	r.name = arena_printf(&u->texts, "%s %s", mark, n->name);
	vec_push(&u->rows, r);
	vec_push(&u->places, ((struct unfold_place){ of, node }));
}

/* Lists open nodes in preorder; without recursion, because stacks are deep. */
static void put_open(struct unfold *u, size_t of, uint32_t top, const struct page *page)
{
	const struct unfolded *x = &u->of.at[of];
	const struct flame_node *nodes = x->flame.nodes.at;
	unsigned depth = 1;
	uint32_t at = nodes[top].child;
	while (at != NONE) {
		put_node(u, of, at, page, depth);
		if (x->open[at] && nodes[at].child != NONE) {
			at = nodes[at].child;
			depth++;
			continue;
		}
		while (at != top && nodes[at].next == NONE) {
			at = nodes[at].parent;
			depth--;
		}
		at = at == top ? NONE : nodes[at].next;
	}
}

size_t unfold_put(struct unfold *u, const struct page *page, const struct page_row *row)
{
	size_t of = find(u, row), before = u->rows.n;
	if (of < u->of.n)
		put_open(u, of, u->of.at[of].flame.nodes.at[FLAME_ROOT].child, page);
	return u->rows.n - before;
}

void unfold_done(struct unfold *u)
{
	for (size_t i = 0; i < u->of.n; i++)
		free_one(&u->of.at[i]);
	vec_free(&u->of);
	vec_free(&u->rows);
	vec_free(&u->places);
	arena_release(&u->texts);
	*u = (struct unfold){ 0 };
}

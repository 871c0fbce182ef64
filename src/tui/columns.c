/* columns.c - leaves out columns and cuts names until a page fits. */
#include "tui/columns.h"

enum { TEXT_MOST = 24, TEXT_LEAST = 10, NAME_LEAST = 24, NAME_LEAST_OF_NUMBERS = 20 };

struct room {
	unsigned *width; /* width of each column; 0: left out */
	unsigned all;    /* width of the terminal */
	unsigned taken;  /* width of all columns, their gaps, and the name */
};

static void leave_out(struct room *r, size_t i)
{
	if (!r->width[i])
		return;
	r->taken -= r->width[i] + COLUMNS_GAP;
	r->width[i] = 0;
}

static void cut(struct room *r, size_t i)
{
	unsigned over = r->taken - r->all;
	unsigned spare = r->width[i] > TEXT_LEAST ? r->width[i] - TEXT_LEAST : 0;
	if (spare > over)
		spare = over;
	r->width[i] -= spare;
	r->taken -= spare;
}

static void make_room_for_all_of_the_name(const struct page *p, struct room *r)
{
	unsigned more = p->name_width > NAME_LEAST ? p->name_width - NAME_LEAST : 0;
	for (size_t i = 0; i < p->n_columns && r->taken + more > r->all; i++)
		if (p->columns[i].left && p->columns[i].same)
			leave_out(r, i);
}

static void make_room_for_some_of_the_name(const struct page *p, size_t order, struct room *r)
{
	size_t kept = order < p->n_columns && !p->columns[order].left ? order : 0;
	for (size_t i = 0; i < p->n_columns && r->taken > r->all; i++)
		if (p->columns[i].left)
			cut(r, i);
	for (size_t i = 0; i < p->n_columns && r->taken > r->all; i++)
		if (p->columns[i].left)
			leave_out(r, i);
	r->taken -= NAME_LEAST - NAME_LEAST_OF_NUMBERS;
	for (size_t i = p->n_columns; i-- > 0 && r->taken > r->all;)
		if (i != kept)
			leave_out(r, i);
}

void columns_fit(const struct page *p, unsigned columns, size_t order, unsigned width[PAGE_COLUMNS])
{
	struct room r = { width, columns, NAME_LEAST };
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct page_column *c = &p->columns[i];
		width[i] = c->empty ? 0 : c->left && c->width > TEXT_MOST ? TEXT_MOST : c->width;
		r.taken += width[i] ? width[i] + COLUMNS_GAP : 0;
	}
	make_room_for_all_of_the_name(p, &r);
	make_room_for_some_of_the_name(p, order, &r);
}

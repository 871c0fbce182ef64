/* tui_list.c - moves the selection, and scrolls to keep it visible. */
#include "tui/tui_list.h"

static void keep_in_sight(struct list *l)
{
	if (l->selected < l->top)
		l->top = l->selected;
	if (l->selected >= l->top + l->height)
		l->top = l->selected - l->height + 1;
	if (l->top + l->height > l->n)
		l->top = l->n > l->height ? l->n - l->height : 0;
}

void list_fit(struct list *l, size_t n, size_t height)
{
	l->n = n;
	l->height = height ? height : 1;
	list_select(l, l->selected);
}

void list_select(struct list *l, size_t row)
{
	l->selected = !l->n ? 0 : row < l->n ? row : l->n - 1;
	keep_in_sight(l);
}

void list_centre(struct list *l, size_t row)
{
	list_select(l, row);
	l->top = l->selected > l->height / 2 ? l->selected - l->height / 2 : 0;
	keep_in_sight(l);
}

void list_move(struct list *l, ptrdiff_t by)
{
	size_t up = by < 0 ? -(size_t)by : 0;
	if (up)
		list_select(l, l->selected > up ? l->selected - up : 0);
	else
		list_select(l, (size_t)by < l->n - l->selected ? l->selected + (size_t)by : l->n);
}

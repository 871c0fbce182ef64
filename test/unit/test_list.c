/* The selected row of a list stays in sight. */
#include "tap.h"

#include "tui/tui_list.h"

static void moves_stop_at_both_ends(void)
{
	struct list l = { 0 };

	list_fit(&l, 10, 4);
	list_move(&l, -1);
	OK(l.selected == 0 && l.top == 0);
	list_move(&l, 3);
	OK(l.selected == 3 && l.top == 0);
	list_move(&l, 1);
	OK(l.selected == 4 && l.top == 1);
	list_move(&l, 100);
	OK(l.selected == 9 && l.top == 6);
	list_move(&l, -4);
	OK(l.selected == 5 && l.top == 5);
	list_move(&l, -100);
	OK(l.selected == 0 && l.top == 0);
}

static void fewer_rows_and_lines(void)
{
	struct list l = { 0 };

	list_fit(&l, 10, 4);
	list_select(&l, 9);
	list_fit(&l, 10, 2);
	OK(l.selected == 9 && l.top == 8);
	list_fit(&l, 10, 20);
	OK(l.selected == 9 && l.top == 0);
	list_fit(&l, 3, 2);
	OK(l.selected == 2 && l.top == 1);
	list_fit(&l, 0, 2);
	OK(l.selected == 0 && l.top == 0);
	list_move(&l, 1);
	list_move(&l, -1);
	OK(l.selected == 0 && l.top == 0);
	list_fit(&l, 5, 0);
	OK(l.height == 1);
}

static void centre(void)
{
	struct list l = { 0 };

	list_fit(&l, 100, 10);
	list_centre(&l, 50);
	OK(l.selected == 50 && l.top == 45);
	list_centre(&l, 2);
	OK(l.selected == 2 && l.top == 0);
	list_centre(&l, 98);
	OK(l.selected == 98 && l.top == 90);
}

int main(void)
{
	moves_stop_at_both_ends();
	fewer_rows_and_lines();
	centre();
	return DONE();
}

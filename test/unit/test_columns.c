/* The name is seen however narrow the terminal is. */
#include "tap.h"

#include "tui/columns.h"

/* Two shares, texts and a count beside a name of 40 columns. */
static const struct page usual = {
	.columns = { { .title = "Children", .width = 8 },
		     { .title = "Self", .width = 7 },
		     { .title = "Command", .width = 10, .left = true, .same = true },
		     { .title = "Shared Object", .width = 30, .left = true },
		     { .title = "called", .width = 6, .empty = true },
		     { .title = "calls", .width = 8 } },
	.n_columns = 6,
	.name_width = 40,
};

static bool is_by(size_t order, unsigned columns, unsigned a, unsigned b, unsigned c, unsigned d,
		  unsigned f)
{
	unsigned w[PAGE_COLUMNS] = { 99, 99, 99, 99, 99, 99 };
	columns_fit(&usual, columns, order, w);
	return w[0] == a && w[1] == b && w[2] == c && w[3] == d && !w[4] && w[5] == f;
}

static bool is(unsigned columns, unsigned a, unsigned b, unsigned c, unsigned d, unsigned f)
{
	return is_by(0, columns, a, b, c, d, f);
}

int main(void)
{
	/* There is room for all; empty columns are not shown, long texts have their limit. */
	OK(is(200, 8, 7, 10, 24, 8));
	OK(is(8 + 7 + 10 + 24 + 8 + 5 * COLUMNS_GAP + 40, 8, 7, 10, 24, 8));
	/* A column that is equal in all rows is dropped to show the whole name. */
	OK(is(8 + 7 + 10 + 24 + 8 + 5 * COLUMNS_GAP + 39, 8, 7, 0, 24, 8));
	/* Then other texts are cut, and left out; numbers are last. */
	OK(is(70, 8, 7, 0, 15, 8));
	OK(is(60, 8, 7, 0, 0, 8));
	OK(is(48, 8, 7, 0, 0, 0));
	OK(is(40, 8, 7, 0, 0, 0));
	OK(is(38, 8, 0, 0, 0, 0));
	OK(is(5, 8, 0, 0, 0, 0));
	/* The column that rows are sorted by is the last to be dropped. If that is a text, or the
	 * name, or the report's order, the first column is. */
	OK(is_by(1, 38, 0, 7, 0, 0, 0));
	OK(is_by(1, 5, 0, 7, 0, 0, 0));
	OK(is_by(5, 36, 0, 0, 0, 0, 8));
	OK(is_by(2, 38, 8, 0, 0, 0, 0));
	OK(is_by(6, 38, 8, 0, 0, 0, 0));
	OK(is_by(NONE, 38, 8, 0, 0, 0, 0));
	return DONE();
}

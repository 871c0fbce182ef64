/* Marks of cycles, and sparklines, of rows. */
#include "tap.h"

#include "tui/marks.h"

static struct marks made(void)
{
	struct marks m = { 0 };
	vec_push(&m.cycles, ((struct cycle_mark){ "even", 2, 'p' }));
	vec_push(&m.cycles, ((struct cycle_mark){ "expression", 12, 'c' }));
	vec_push(&m.cycles, ((struct cycle_mark){ "odd", 2, '?' }));
	vec_push(&m.sparks, ((struct spark){ .name = "copy", .object = "libone.so", .comm = "a" }));
	vec_push(&m.sparks, ((struct spark){ .name = "copy", .object = "prog", .comm = "a" }));
	vec_push(&m.sparks, ((struct spark){ .name = "copy", .object = "prog", .comm = "b" }));
	for (size_t i = 0; i < SPARK_SLOTS; i++)
		m.sparks.at[1].slots[i] = i < SPARK_SLOTS / 2 ? 0 : i == SPARK_SLOTS / 2 ? 7 : 1;
	m.sparks.at[2].slots[0] = 14;
	m.sparks.at[0].slots[SPARK_SLOTS - 1] = 1;
	return m;
}

static void cycles(const struct marks *m)
{
	char text[32];
	OK_STR(marks_cycle(m, "expression", false, text), " ↻12");
	OK_STR(marks_cycle(m, "expression", true, text), " @12");
	OK_STR(marks_cycle(m, "even", false, text), " (↻2)");
	OK_STR(marks_cycle(m, "odd", true, text), " @2?");
	OK_STR(marks_cycle(m, "main", false, text), "");
	OK_STR(marks_cycle(m, NULL, false, text), "");
}

/* Of the row's object and command, as far as it is of one. */
static void sparks(const struct marks *m)
{
	static const struct page all = { .columns = { { .title = "Children" } }, .n_columns = 1 };
	static const struct page apart = {
		.columns = { { .title = "Shared Object" }, { .title = "Command" } }, .n_columns = 2
	};
	const struct page_row any = { .name = "copy", .cells = { "50.00%" } };
	const struct page_row one = { .name = "copy", .cells = { "prog", "a" } };
	const struct page_row none = { .name = "copy", .cells = { "prog", "c" } };
	const struct page_row below = { .name = "copy", .cells = { "prog", "a" }, .depth = 1 };
	char text[4 * SPARK_SLOTS + 1];

	OK_STR(marks_spark(m, &apart, &one, 8, false, text), "    █▃▃▃");
	OK_STR(marks_spark(m, &apart, &one, 8, true, text), "    @---");
	OK_STR(marks_spark(m, &apart, &one, SPARK_SLOTS, true, text),
	       "                @:::::::::::::::");
	OK_STR(marks_spark(m, &all, &any, 8, true, text), "@   *---");
	OK_STR(marks_spark(m, &apart, &none, 8, true, text), "");
	OK_STR(marks_spark(m, &apart, &below, 8, true, text), "");
}

int main(void)
{
	struct marks m = made();
	cycles(&m);
	sparks(&m);
	marks_done(&m);
	OK(!m.cycles.n && !m.sparks.n);
	return DONE();
}

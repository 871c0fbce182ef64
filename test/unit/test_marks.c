/* Marks of cycles, and sparklines, of rows. */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tui/marks.h"

static struct marks made(void)
{
	struct marks m = { 0 };
	vec_push(&m.cycles, ((struct cycle_mark){ "even", 2, 'p' }));
	vec_push(&m.cycles, ((struct cycle_mark){ "expression", 12, 'c' }));
	vec_push(&m.cycles, ((struct cycle_mark){ "odd", 2, '?' }));
	vec_push(&m.sparks,
		 ((struct spark){
			 .name = "copy", .object = "libone.so", .comm = "a", .command = "a" }));
	vec_push(&m.sparks,
		 ((struct spark){ .name = "copy", .object = "prog", .comm = "a", .command = "a" }));
	vec_push(&m.sparks,
		 ((struct spark){ .name = "copy", .object = "prog", .comm = "b", .command = "a" }));
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
	struct page overview = apart;
	const struct page_row below = { .name = "copy", .cells = { "prog", "a" }, .depth = 1 };
	char text[4 * SPARK_SLOTS + 1];

	OK_STR(marks_spark(m, &apart, &one, 8, false, text), "    █▃▃▃");
	OK_STR(marks_spark(m, &apart, &one, 8, true, text), "    @---");
	OK_STR(marks_spark(m, &apart, &one, SPARK_SLOTS, true, text),
	       "                @:::::::::::::::");
	OK_STR(marks_spark(m, &all, &any, 8, true, text), "@   *---");
	OK_STR(marks_spark(m, &apart, &none, 8, true, text), "");
	overview.is_overview = true; /* with the threads of the program */
	OK_STR(marks_spark(m, &overview, &one, 8, true, text), "@   *---");
	OK_STR(marks_spark(m, &apart, &below, 8, true, text), "");
}

static struct kin_profile *profile_of(const char *folded)
{
	char path[] = "/tmp/kin-marks.XXXXXX.folded";
	const char *paths[] = { path };
	int fd = mkstemps(path, 7);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	struct kin_profile *p = NULL;
	if (!f)
		return NULL;
	fputs(folded, f);
	fclose(f);
	struct kin_open_opts o = { .size = sizeof(o) };
	struct kin_error *err = kin_profile_open(paths, 1, &o, &p);
	kin_error_free(err);
	unlink(path);
	return p;
}

static uint64_t slot_of(const struct marks *m, const char *name, size_t from_the_end)
{
	for (size_t i = 0; i < m->sparks.n; i++)
		if (!strcmp(m->sparks.at[i].name, name))
			return m->sparks.at[i].slots[SPARK_SLOTS - 1 - from_the_end];
	return UINT64_MAX;
}

/* The next moment of the same view; frees `before`. */
static struct marks moment(struct marks before, const char *folded, double keep, size_t refreshes)
{
	struct kin_profile *p = profile_of(folded);
	struct marks m = { 0 };
	OK(p && !marks_next(p, 0, &before, keep, refreshes, &m));
	kin_profile_free(p);
	marks_done(&before);
	return m;
}

/* Weights that fade by a half: a took 1000, then 200, then nothing; b began in the second moment.
 */
static void moments(void)
{
	struct marks m = moment((struct marks){ 0 }, "prog;main;a 1000\n", 0.5, 1);
	OK(slot_of(&m, "a", 0) == 1000 && slot_of(&m, "a", 1) == 0);
	m = moment(m, "prog;main;a 700\nprog;main;b 40\n", 0.5, 1);
	OK(slot_of(&m, "a", 0) == 200 && slot_of(&m, "a", 1) == 1000);
	OK(slot_of(&m, "b", 0) == 40 && slot_of(&m, "b", 1) == 0);
	OK(slot_of(&m, "main", 0) == 240 && slot_of(&m, "main", 1) == 1000);
	m = moment(m, "prog;main;a 351\nprog;main;b 60\n", 0.5, 1);
	OK(slot_of(&m, "a", 0) == 0); /* 1 comes from rounding */
	OK(slot_of(&m, "b", 0) == 40 && slot_of(&m, "b", 1) == 40);
	/* b is gone, and two refreshes were missed. */
	m = moment(m, "prog;main;a 687\n", 0.5, 3);
	OK(slot_of(&m, "a", 0) == 214 && slot_of(&m, "a", 2) == 214 && slot_of(&m, "a", 3) == 0);
	OK(slot_of(&m, "a", 4) == 200 && slot_of(&m, "a", 5) == 1000);
	OK(slot_of(&m, "b", 0) == 0 && slot_of(&m, "b", 3) == 40 && slot_of(&m, "b", 4) == 40);
	m = moment(m, "prog;main;a 1\n", 0, 2 * SPARK_SLOTS);
	OK(slot_of(&m, "b", 0) == UINT64_MAX && slot_of(&m, "a", SPARK_SLOTS - 1) == 0);
	marks_done(&m);
}

/* Who presses a key waits for it: not for each thread to be compared with all others. */
static void many_threads(void)
{
	enum { THREADS = 100000, LINE = 32, SECONDS = 10 };
	char *folded = malloc((size_t)THREADS * LINE + 1), *at = folded;
	struct marks m = { 0 };
	if (!folded)
		return;
	for (int i = 0; i < THREADS; i++)
		at += snprintf(at, LINE, "worker-%d;work 1\n", i);
	struct kin_profile *p = profile_of(folded);
	clock_t begun = clock();
	OK(p && !marks_new(p, 0, NULL, &m));
	OK(clock() - begun < (clock_t)SECONDS * CLOCKS_PER_SEC);
	marks_done(&m);
	kin_profile_free(p);
	free(folded);
}

int main(void)
{
	struct marks m = made();
	moments();
	many_threads();
	cycles(&m);
	sparks(&m);
	marks_done(&m);
	OK(!m.cycles.n && !m.sparks.n);
	return DONE();
}

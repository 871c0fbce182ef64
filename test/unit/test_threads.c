/* Tasks as threads, processes, runs and ranks: which of them belong together, and their texts. */
#include "profile/threads.h"

#include <stdlib.h>

#include "tap.h"

static taskid add(struct profile_builder *b, struct task t, const char *comm)
{
	t.comm = comm ? profile_add_string(b, comm, strlen(comm)) : 0;
	return profile_add_task(b, t);
}

/* "0:LABEL 1:LABEL ...; of task 1, of task 2, ..." */
static const char *text_of(struct threads t, const struct profile *p)
{
	static char text[2000];
	size_t n = 0;
	for (size_t i = 0; i < t.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu:%s", i ? " " : "", i,
				      t.at[i].label);
	for (size_t i = 1; i < p->samples.n_tasks; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", i > 1 ? ", " : "; ",
				      t.of_task[i]);
	threads_done(&t);
	return text;
}

static void test_nothing(void)
{
	struct profile *p = profile_finish(profile_builder_new());
	OK_STR(text_of(threads_of(p), p), "0:[unknown]");
	OK_STR(text_of(ranks_of(p), p), "0:[unknown]");
	profile_free(p);
}

static void test_one_run(void)
{
	struct profile_builder *b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 9, .end_ns = 5 }, "early");
	add(b, (struct task){ .pid = 7, .tid = 7, .end_ns = 1 }, "make");
	add(b, (struct task){ .pid = 7, .tid = 9, .end_ns = 9 }, "late");
	add(b, (struct task){ .pid = 3, .tid = 4, .end_ns = 2 }, "child");
	add(b, (struct task){ .end_ns = 3 }, "folded");
	add(b, (struct task){ .end_ns = 2 }, "other");
	add(b, (struct task){ .pid = 3, .tid = 4, .end_ns = 1 }, "born");
	struct profile *p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p),
	       "0:[unknown] 1:folded 2:other 3:child/4 4:make/7 5:late/9; 5, 4, 5, 3, 1, 2, 3");
	OK_STR(text_of(processes_of(p), p),
	       "0:[unknown] 1:folded 2:other 3:child/3 4:make/7; 4, 4, 4, 3, 1, 2, 3");
	OK_STR(text_of(runs_of(p), p), "0:[unknown] 1:run 1; 1, 1, 1, 1, 1, 1, 1");
	OK_STR(text_of(ranks_of(p), p), "0:[unknown] 1:[no rank]; 1, 1, 1, 1, 1, 1, 1");
	OK(task_is(p, 1, "early") && task_is(p, 1, "9") && task_is(p, 1, "early/9"));
	OK(!task_is(p, 1, "late") && !task_is(p, 1, "7") && !task_is(p, 1, "early/7"));
	OK(task_is(p, 5, "folded") && !task_is(p, 5, "0") && !task_is(p, 5, ""));
	OK(task_is(p, 0, "[unknown]") && !task_is(p, 0, "") && !task_is(p, 0, "0"));
	profile_free(p);
}

/* Two runs, or ranks, of a program on machines that give the same numbers. */
static void test_several(void)
{
	struct profile_builder *b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 7, .run = 1 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 7 }, "a");
	add(b, (struct task){ .pid = 5, .tid = 6, .run = 1 }, "b");
	struct profile *p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p),
	       "0:[unknown] 1:a/7 run 1 2:b/6 run 2 3:a/7 run 2; 3, 1, 2");
	OK_STR(text_of(processes_of(p), p),
	       "0:[unknown] 1:a/7 run 1 2:b/5 run 2 3:a/7 run 2; 3, 1, 2");
	OK_STR(text_of(runs_of(p), p), "0:[unknown] 1:run 1 2:run 2; 2, 1, 2");
	OK_STR(text_of(ranks_of(p), p), "0:[unknown] 1:[no rank]; 1, 1, 1");
	OK(task_is(p, 1, "a/7") && task_is(p, 2, "a/7"));
	profile_free(p);

	b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 3 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 1 }, "a");
	add(b, (struct task){ .pid = 5, .tid = 6, .rank = 3 }, "b");
	add(b, (struct task){ .pid = 9, .tid = 9 }, "mpirun");
	p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p), "0:[unknown] 1:mpirun/9 2:a/7 rank 0 3:b/6 rank 2 "
					  "4:a/7 rank 2; 4, 2, 3, 1");
	OK_STR(text_of(ranks_of(p), p), "0:[unknown] 1:[no rank] 2:rank 0 3:rank 2; 3, 2, 3, 1");
	OK_STR(text_of(runs_of(p), p), "0:[unknown] 1:run 1; 1, 1, 1, 1");
	profile_free(p);

	b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 7, .run = 1 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 7 }, "a");
	p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p), "0:[unknown] 1:a/7 run 1 2:a/7 run 2; 2, 1");
	profile_free(p);

	b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 3 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 1 }, "a");
	p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p), "0:[unknown] 1:a/7 rank 0 2:a/7 rank 2; 2, 1");
	profile_free(p);

	b = profile_builder_new();
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 3 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 1 }, "b");
	add(b, (struct task){ .pid = 8, .tid = 8, .rank = 3 }, "c");
	p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p),
	       "0:[unknown] 1:b/7 rank 0 2:a/7 rank 2 3:c/8 rank 2; 2, 1, 3");
	profile_free(p);

	b = profile_builder_new(); /* all have one rank: texts need not name it */
	add(b, (struct task){ .pid = 7, .tid = 7, .rank = 3 }, "a");
	add(b, (struct task){ .pid = 7, .tid = 8, .rank = 3 }, "b");
	p = profile_finish(b);
	OK_STR(text_of(threads_of(p), p), "0:[unknown] 1:a/7 2:b/8; 1, 2");
	profile_free(p);
}

int main(void)
{
	test_nothing();
	test_one_run();
	test_several();
	return DONE();
}

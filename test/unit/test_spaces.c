/* Threads of a process by the kernel's records: their state when they end, call exec and take over
 * one another's numbers. No process has the numbers used here. */
#include "record/spaces.h"

#include <stdarg.h>
#include <string.h>

#include "tap.h"

enum { FIRST = 0x7ffffff0, SECOND, THIRD, CHILD, CHILDS_SECOND };

static char log_of_ends[400];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	size_t n = strlen(log_of_ends);
	va_list args;
	va_start(args, format);
	vsnprintf(log_of_ends + n, sizeof(log_of_ends) - n, format, args);
	va_end(args);
}

static void ended(void *arg, struct thread *t, uint64_t time_ns, bool gone)
{
	(void)arg;
	if (t->task)
		say("%u %s at %d\n", t->task, gone ? "gone" : "ended", (int)time_ns);
	t->task = 0;
}

static void left(void *arg, pid_t pid, uint64_t time_ns)
{
	(void)arg;
	say("%s left at %d\n", pid == CHILD ? "child" : "process", (int)time_ns);
}

static void release(struct space *s) { (void)s; }

static const struct spaces_hooks hooks = { ended, left, NULL };
static uint64_t now;

static void take(struct spaces *s, uint32_t type, uint16_t misc, const uint32_t words[4])
{
	struct {
		struct perf_event_header header;
		uint32_t words[4];
		uint64_t time;
	} record = { .header = { type, misc, sizeof(record) } };
	memcpy(record.words, words, sizeof(record.words));
	struct ring_record r = { .header = &record.header, .sample.time = ++now };
	spaces_take(s, &r, &hooks);
}

static void fork_of(struct spaces *s, pid_t parent, pid_t pid, pid_t tid)
{
	pid_t of = parent == CHILD ? CHILD : FIRST;
	take(s, PERF_RECORD_FORK, 0,
	     (uint32_t[]){ (uint32_t)pid, (uint32_t)of, (uint32_t)tid, (uint32_t)parent });
}

static void exit_of(struct spaces *s, pid_t pid, pid_t tid)
{
	take(s, PERF_RECORD_EXIT, 0,
	     (uint32_t[]){ (uint32_t)pid, (uint32_t)pid, (uint32_t)tid, (uint32_t)pid });
}

static void exec_of(struct spaces *s, pid_t pid, const char *comm)
{
	uint32_t words[4] = { (uint32_t)pid, (uint32_t)pid };
	memcpy(words + 2, comm, strlen(comm) + 1);
	take(s, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, words);
}

/* A process with these threads, whose tasks in the file are 1, 2 ... */
static struct spaces *process(pid_t last)
{
	struct spaces *s = spaces_new(NULL, release);
	now = 0;
	log_of_ends[0] = '\0';
	exec_of(s, FIRST, "prog");
	spaces_known(s, FIRST)->task = 1;
	for (pid_t tid = SECOND; tid <= last; tid++) {
		fork_of(s, FIRST, FIRST, tid);
		spaces_known(s, tid)->task = (uint32_t)(tid - FIRST + 1);
	}
	return s;
}

static void a_process_outlives_its_first_thread(void)
{
	struct spaces *s = process(THIRD);
	exit_of(s, FIRST, FIRST);
	OK(spaces_known(s, FIRST) && spaces_known(s, FIRST)->ended);
	exit_of(s, FIRST, THIRD);
	OK_STR(log_of_ends, "1 gone at 4\n3 gone at 5\n");
	exit_of(s, FIRST, SECOND);
	OK_STR(log_of_ends, "1 gone at 4\n3 gone at 5\n2 gone at 6\nprocess left at 6\n");
	OK(spaces_known(s, FIRST)->ended && spaces_known(s, SECOND)->ended);
	OK(spaces_n_processes(s) == 1 && spaces_n_threads(s) == 3);
	spaces_free(s);
}

/* `between`: a sample comes when the thread has the first one's number already, but before the
 * record of the exec. */
static void exec_in_a_second_thread(bool between)
{
	struct spaces *s = process(THIRD);
	struct space *before = spaces_known(s, FIRST)->space;
	exit_of(s, FIRST, THIRD);
	exit_of(s, FIRST, FIRST);
	if (between)
		OK(spaces_thread(s, FIRST, FIRST)->task == 1 &&
		   !strcmp(spaces_known(s, FIRST)->comm, "prog"));
	exec_of(s, FIRST, "next");
	const struct thread *t = spaces_known(s, FIRST);
	OK(t && !t->ended && !strcmp(t->comm, "next") && t->task == 0);
	OK(t && t->space->exec && t->space->before == before);
	OK(!spaces_known(s, SECOND));
	OK_STR(log_of_ends, "3 gone at 4\n1 gone at 5\n2 ended at 6\n1 ended at 6\n");
	OK(spaces_n_processes(s) == 1 && spaces_n_threads(s) == 3);
	exit_of(s, FIRST, FIRST);
	OK(strstr(log_of_ends, "process left at 7\n") != NULL);
	spaces_free(s);
}

/* The first thread is not known. */
static void exec_in_the_only_known_thread(void)
{
	struct spaces *s = spaces_new(NULL, release);
	now = 0;
	log_of_ends[0] = '\0';
	spaces_thread(s, FIRST, SECOND)->task = 7;
	exec_of(s, FIRST, "next");
	OK(!spaces_known(s, SECOND) && spaces_known(s, FIRST));
	OK(!strcmp(spaces_known(s, FIRST)->comm, "next"));
	OK_STR(log_of_ends, "7 ended at 1\n");
	OK(spaces_n_processes(s) == 1);
	spaces_free(s);
}

/* It shares its parent's mappings, but not the state of the parent's first thread. */
static void a_child_has_first_threads_of_its_own(void)
{
	struct spaces *s = process(SECOND);
	fork_of(s, SECOND, CHILD, CHILD);
	fork_of(s, CHILD, CHILD, CHILDS_SECOND);
	spaces_known(s, CHILD)->task = 10;
	spaces_known(s, CHILDS_SECOND)->task = 11;
	exit_of(s, FIRST, FIRST);
	exit_of(s, CHILD, CHILD);
	exec_of(s, CHILD, "next");
	OK_STR(log_of_ends, "1 gone at 5\n10 gone at 6\n11 ended at 7\n10 ended at 7\n");
	OK(spaces_known(s, FIRST)->ended && !spaces_known(s, CHILD)->ended);
	exit_of(s, FIRST, SECOND);
	OK(spaces_known(s, FIRST)->ended && !spaces_known(s, CHILD)->ended);
	OK(spaces_n_processes(s) == 2 && spaces_n_threads(s) == 4);
	spaces_free(s);
}

static struct thread *sampled(struct spaces *s, pid_t pid, pid_t tid)
{
	struct perf_sample p = { .pid = (uint32_t)pid, .tid = (uint32_t)tid };
	return spaces_sampled(s, &p);
}

/* The kernel still works for a thread after the record of its end, at last without its number. */
static void samples_come_after_the_end(void)
{
	struct spaces *s = process(SECOND);
	exit_of(s, FIRST, SECOND);
	OK(sampled(s, FIRST, SECOND)->task == 2 && sampled(s, FIRST, -1)->task == 2);
	exit_of(s, FIRST, FIRST);
	OK(sampled(s, FIRST, FIRST)->task == 1 && sampled(s, -1, -1)->task == 1);
	OK_STR(log_of_ends, "2 gone at 3\n1 gone at 4\nprocess left at 4\n");
	OK(spaces_n_processes(s) == 1 && spaces_n_threads(s) == 2);
	spaces_free(s);
}

static void what_has_ended_is_forgotten(void)
{
	struct spaces *s = process(THIRD);
	exit_of(s, FIRST, THIRD);
	exec_of(s, CHILD, "child");
	fork_of(s, CHILD, THIRD, THIRD); /* a process with the number */
	const struct thread *t = spaces_known(s, THIRD);
	OK(t->pid == THIRD && !t->ended && !t->task && !strcmp(t->comm, "child"));
	OK_STR(log_of_ends, "3 gone at 4\n");
	OK(spaces_n_processes(s) == 3 && spaces_n_threads(s) == 5);

	exit_of(s, FIRST, FIRST);
	exit_of(s, THIRD, THIRD);
	for (int i = 0; i < 1000; i++) {
		fork_of(s, CHILD, CHILDS_SECOND, CHILDS_SECOND);
		exit_of(s, CHILDS_SECOND, CHILDS_SECOND);
	}
	OK(!spaces_known(s, THIRD));
	OK(spaces_known(s, FIRST)->ended); /* of a process that goes on */
	OK(spaces_n_processes(s) == 1003);
	spaces_free(s);
}

/* Outside of the recorder's PID namespace all have the number 0. */
static void processes_without_a_number_are_not_told_apart(void)
{
	struct spaces *s = process(FIRST);
	exec_of(s, 0, "outside");
	take(s, PERF_RECORD_FORK, 0, (uint32_t[]){ 0, 0, 0, 0 });
	take(s, PERF_RECORD_EXIT, 0, (uint32_t[]){ 0, 0, 0, 0 });
	OK(!spaces_known(s, 0) && spaces_n_processes(s) == 1);
	const struct thread *t = spaces_thread(s, 0, 0);
	exec_of(s, 0, "outside");
	OK(spaces_known(s, 0) == t && strcmp(t->comm, "outside") && !t->ended);
	take(s, PERF_RECORD_FORK, 0, (uint32_t[]){ CHILD, 0, CHILD, 0 });
	OK(!spaces_known(s, CHILD)); /* its name is read when it is needed */
	spaces_free(s);
}

int main(void)
{
	a_process_outlives_its_first_thread();
	exec_in_a_second_thread(false);
	exec_in_a_second_thread(true);
	exec_in_the_only_known_thread();
	a_child_has_first_threads_of_its_own();
	samples_come_after_the_end();
	what_has_ended_is_forgotten();
	processes_without_a_number_are_not_told_apart();
	return DONE();
}

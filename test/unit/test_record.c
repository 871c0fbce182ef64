/* Parts of the recorder that need no kernel's permission. */
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "input/input.h"
#include "object/kernel.h"
#include "record/beyond.h"
#include "record/events.h"
#include "record/jit.h"
#include "record/recent.h"
#include "record/recording.h"
#include "record/recording_audit.h"
#include "record/two_ways.h"
#include "tap.h"

static struct record_event event(const char *text)
{
	struct record_events list = { 0 };
	struct record_event e = { 0 };
	struct kin_error *err = record_events_parse(text, &list);
	if (!err && list.at.n == 1)
		e = list.at.at[0];
	kin_error_free(err);
	vec_free(&list.at);
	return e;
}

static size_t count(const char *text)
{
	struct record_events list = { 0 };
	struct kin_error *err = record_events_parse(text, &list);
	size_t n = err ? 0 : list.at.n;
	kin_error_free(err);
	vec_free(&list.at);
	return n;
}

static void test_events(void)
{
	struct record_event e = event("cycles:u");
	OK(e.type == PERF_TYPE_HARDWARE && e.config == PERF_COUNT_HW_CPU_CYCLES);
	OK(e.exclude_kernel && !e.exclude_user && !e.is_clock);
	OK_STR(e.name, "cycles:u");
	e = event("task-clock:k");
	OK(e.type == PERF_TYPE_SOFTWARE && e.is_clock && e.exclude_user && !e.exclude_kernel);
	e = event("instructions:uk");
	OK(!e.exclude_user && !e.exclude_kernel);
	OK(event("cycles:ppu").precise == 2);
	e = event("r01c4:u");
	OK(e.type == PERF_TYPE_RAW && e.config == 0x1c4 && e.exclude_kernel);
	e = event("L1-dcache-load-misses");
	OK(e.type == PERF_TYPE_HW_CACHE &&
	   e.config == (PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16));
	OK(event("{cs}:S").group_is_read && !event("cs").group_is_read);
	OK(count("cycles,page-faults,cs") == 3);
	OK(!count("") && !count("cycles,") && !count("cycels") && !count("r"));
	OK(!count("../x:y") && !count("cycles:z"));
}

static void test_attributes(void)
{
	struct perf_event_attr a;
	struct record_event e = event("cpu-clock:u");
	e.frequency = 99;
	record_event_attr(&e, &a);
	OK(a.freq && a.sample_freq == 99 && a.exclude_kernel && a.exclude_hv);
	e.period = 1000;
	record_event_attr(&e, &a);
	OK(!a.freq && a.sample_period == 1000);
}

static void test_audit(void)
{
	struct record_audit a = { .samples = 10,
				  .duration_ns = 1000000000,
				  .on_ns = 500000000,
				  .cpu_ns = 20000000,
				  .sampled_ns = 10000000,
				  .is_clock = true,
				  .lost = 3,
				  .stacks = 10,
				  .complete = 9,
				  .cut = 1,
				  .frames = 40,
				  .processes = 1,
				  .threads = 2,
				  .file_size = 5000,
				  .file_fixed = 4000,
				  .own_cpu_ns = 1000000,
				  .own_fixed_ns = 400000 };
	a.object[0].name = xprintf("lib\033x.so");
	a.object[0].failures = 1;
	char *text = record_audit_text(&a, "p.kin", false);
	OK_STR(text,
	       "10 samples in 1.0 s -> p.kin, 5.0 KB; 1 process, 2 threads\n"
	       "  CPU time 0.020 s, sampled 0.010 s (50.0 %); stacks: 90.0 % complete\n"
	       "  LOST 3 samples or records: the buffers were full\n"
	       "  1 stack cut\n"
	       "    1 ended in lib\\x1bx.so\n"
	       "  on a CPU for 4.0 % of the time: --wall shows what it waited for in the rest\n");
	size_t first = strlen(text);
	free(text);
	a.preemptions = 1;
	text = record_audit_text(&a, "p.kin", true);
	OK_STR(text + first,
	       "  file: 4.0 KB and 100 B/sample\n"
	       "  500 samples/s of CPU time\n"
	       "  stacks: 4.0 frames each\n"
	       "  preempted 1 time\n"
	       "  the recorder itself: 0.001 s CPU, 0.000 s of it to begin and to end; "
	       "the rest is 60.0 us/sample\n");
	free(text);
	record_audit_done(&a);

	struct record_audit none = { .cpu_ns = 20000000, .is_clock = true, .inside = true };
	text = record_audit_text(&none, "p.kin", false);
	OK(!record_audit_is_bad(&none) && strstr(text, "no samples: too little CPU time"));
	free(text);
	strcpy(none.trouble, "no timer\033");
	text = record_audit_text(&none, "p.kin", false);
	OK(record_audit_is_bad(&none) && !strstr(text, "too little CPU time") &&
	   strstr(text, "\n  while it was recorded: no timer\\x1b\n"));
	free(text);
}

static void test_jit_map(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fputs("1000 100 outer\n1040 10 inner\n2000 10 not en", f);
	fflush(f);
	struct jit *j = jit_new();
	OK_STR(jit_find(j, getpid(), 0x1000, 0), "outer");
	OK_STR(jit_find(j, getpid(), 0x1045, 0), "inner");
	OK_STR(jit_find(j, getpid(), 0x10ff, 0), "outer");
	OK(!jit_find(j, getpid(), 0x1100, 0));
	OK(!jit_find(j, getpid(), 0x2000, 0));
	fputs("ded\n1000 20 moved here\n", f);
	fclose(f);
	jit_update(j);
	OK_STR(jit_find(j, getpid(), 0x2000, 0), "not ended");
	OK_STR(jit_find(j, getpid(), 0x1000, 0), "moved here");
	jit_free(j);
	unlink(path);
}

static void write_map(const char *path, const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);
	fputs(text, f);
	fclose(f);
}

/* A map from before the process began is another process's, until it is written again. */
static void test_jit_older(void)
{
	char path[64];
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	write_map(path, "w", "1000 100 of another\n3000 100 of another\n");
	utimensat(AT_FDCWD, path, old, 0);
	struct jit *j = jit_new();
	OK(!jit_find(j, getpid(), 0x1000, 0));
	jit_update(j);
	OK(!jit_find(j, getpid(), 0x1000, 0));
	write_map(path, "w", "1000 100 own\n");
	jit_update(j);
	OK_STR(jit_find(j, getpid(), 0x1000, 0), "own");
	OK(!jit_find(j, getpid(), 0x3000, 0));
	jit_free(j);
	unlink(path);
}

static size_t open_files(void)
{
	size_t n = 0;
	for (int fd = 0; fd < 2048; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A process's files are closed when it ends; its names stay as long as samples of its time may
 * come, and are not used for the next process with its id. */
static void test_jit_end(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	write_map(path, "w", "1000 100 first\n");
	struct jit *j = jit_new();
	size_t files = open_files();
	OK_STR(jit_find(j, getpid(), 0x1000, 10), "first");
	OK(open_files() == files + 2); /* it, and its folder */
	write_map(path, "a", "2000 100 last of all\n");
	jit_end(j, getpid(), 20);
	OK(open_files() == files && jit_n_ended(j) == 1);
	OK_STR(jit_find(j, getpid(), 0x2000, 20), "last of all");
	OK(jit_has_ended(j, getpid(), 20) && !jit_has_ended(j, getpid(), 21));

	write_map(path, "w", "1000 100 second\n");
	OK_STR(jit_find(j, getpid(), 0x1000, 30), "second");
	OK(!jit_find(j, getpid(), 0x2000, 30) && !jit_has_ended(j, getpid(), 30));
	OK_STR(jit_find(j, getpid(), 0x1000, 15), "first");
	jit_end(j, getpid(), 40);
	OK(jit_n_ended(j) == 2 && open_files() == files);
	jit_forget(j, 20);
	OK(jit_n_ended(j) == 2);
	jit_forget(j, 21);
	OK(jit_n_ended(j) == 1);
	OK_STR(jit_find(j, getpid(), 0x1000, 15), "second"); /* the oldest that is known */

	write_map(path, "w", "1000 100 third\n");
	OK_STR(jit_find(j, getpid(), 0x1000, 50), "third");
	jit_forget(j, UINT64_MAX);
	OK(!jit_n_ended(j) && open_files() == files + 2);
	OK_STR(jit_find(j, getpid(), 0x1000, 50), "third");
	jit_end(j, getpid(), 60);
	jit_forget(j, UINT64_MAX);
	OK(!jit_n_ended(j) && open_files() == files);
	jit_free(j);
	unlink(path);
}

/* ---- the whole machine ---- */

struct named_record { /* of the kernel, as its name may be longer or shorter */
	struct perf_event_header header;
	uint32_t words[16];
	char name[64];
};

static void ended(void *arg, struct thread *t, uint64_t time_ns, bool gone)
{
	(void)arg;
	(void)t;
	(void)time_ns;
	(void)gone;
}

static void left(void *arg, pid_t pid, uint64_t time_ns)
{
	(void)pid;
	(void)time_ns;
	++*(size_t *)arg;
}

static void take_record(struct spaces *s, struct named_record *n, uint32_t type, size_t words,
			size_t *n_left)
{
	struct spaces_hooks hooks = { ended, left, n_left };
	n->header.type = type;
	n->header.size = (uint16_t)(sizeof(n->header) + 4 * words + sizeof(n->name));
	memmove((char *)n->words + 4 * words, n->name, sizeof(n->name));
	struct ring_record r = { .header = &n->header, .sample.time = 1 };
	spaces_take(s, &r, &hooks);
}

static void release(struct space *s) { (void)s; }

/* A process that is made by `parent`, executes a program, maps a library, makes a thread, and ends.
 */
static void live_and_die(struct spaces *s, uint32_t parent, uint32_t pid, size_t *n_left)
{
	struct named_record n = { .words = { pid, parent, pid, parent } };
	take_record(s, &n, PERF_RECORD_FORK, 6, n_left);

	n = (struct named_record){ .header.misc = PERF_RECORD_MISC_COMM_EXEC,
				   .words = { pid, pid },
				   .name = "program" };
	take_record(s, &n, PERF_RECORD_COMM, 2, n_left);
	for (uint32_t i = 0; i < 3; i++) { /* pid, tid, addr, len, pgoff, device, inode ... */
		n = (struct named_record){ .words = { pid, pid, 0x400000 + i * 0x10000, 0,
						      0x1000 } };
		n.words[10] = 1000 + i;
		snprintf(n.name, sizeof(n.name), "/no/such/file%u", i);
		take_record(s, &n, PERF_RECORD_MMAP2, 16, n_left);
	}
	n = (struct named_record){ .words = { pid, pid, pid + 1, pid } };
	take_record(s, &n, PERF_RECORD_FORK, 6, n_left);
	for (uint32_t tid = pid + 2; tid-- > pid;) {
		n = (struct named_record){ .words = { pid, pid, tid, pid } };
		take_record(s, &n, PERF_RECORD_EXIT, 6, n_left);
	}
}

/* Of processes that have ended nothing is left but the files that they had mapped. */
static void test_processes_end(void)
{
	enum { FIRST_PID = 10000000, PROCESSES = 20000 }; /* ids that no process has */
	struct modules *m = modules_new(0);
	struct spaces *s = spaces_new(m, release);
	size_t n_left = 0, before = 0, count = 0;
	struct named_record parent = { .words = { FIRST_PID, FIRST_PID }, .name = "parent" };
	parent.header.misc = PERF_RECORD_MISC_COMM_EXEC;
	take_record(s, &parent, PERF_RECORD_COMM, 2, &n_left);
	for (uint32_t i = 1; i <= 2 * PROCESSES; i++) {
		live_and_die(s, FIRST_PID, FIRST_PID + 2 * i, &n_left);
		if (i == PROCESSES) {
			before = mallinfo2().uordblks;
			count = modules_count(m);
		}
	}
	OK(n_left == 2 * PROCESSES && spaces_n_processes(s) == 2 * PROCESSES + 1);
	OK(count == 3 && modules_count(m) == count);
	OK(mallinfo2().uordblks <= before + 4096);
	spaces_free(s);
	modules_free(m);
}

/* Who writes nowhere keeps little: names are forgotten early, and again and again. */
static void test_nowhere_forgets(void)
{
	struct kinfile_writer *w = kinfile_writer_to_nowhere(
		&(struct kinfile_writer_opts){ .writer = KINF_BY_RECORDER });
	unsigned times = 0;
	size_t at_first = 0;
	struct kin_error *err = NULL;
	for (uint64_t i = 0; !err && i < 100000; i++) {
		char name[128];
		bool forgot;
		snprintf(name, sizeof(name), "%0100llu", (unsigned long long)i);
		kinfile_writer_string(w, name, strlen(name));
		if (i % 100)
			continue;
		err = kinfile_writer_tick(w, i, &forgot);
		if (!err && forgot && !times++)
			at_first = mallinfo2().uordblks;
	}
	OK(!err && times >= 3);
	OK(mallinfo2().uordblks < at_first + (8 << 20));
	kinfile_writer_abandon(w);
}

/* One of the kernel's functions by its list, and its name: false if that says nothing to us. */
static bool known_function(const char *wanted, uint64_t *addr, char name[128])
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];
	unsigned long long a = 0, before = 0;
	bool found = false;
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = sscanf(line, "%llx T %127s", &a, name) == 2 && a && a != before &&
			!strcmp(name, wanted);
		before = a;
	}
	if (f)
		fclose(f);
	*addr = a;
	return found;
}

static bool names(uint64_t addr, const char *name)
{
	struct kernel_symbol s = { 0 };
	struct kernel *k = kernel_new();
	bool good = kernel_find(k, addr + 1, &s) && !strcmp(s.name, name) && s.addr == addr;
	uint64_t start, end;
	good &= kernel_range(k, &start, &end) && start <= addr && addr < end;
	good &= !kernel_find(k, 4096, &s) && !kernel_find(k, UINT64_MAX, &s);
	kernel_free(k);
	return good;
}

/* System calls that read, of this process so far; 0: the kernel does not count them. */
static unsigned long reads(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	char line[128];
	unsigned long n = 0;
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "syscr: %lu", &n) != 1)
		;
	if (f)
		fclose(f);
	return n;
}

/* The same addresses come again and again: names stay, and nothing is read for them twice. */
static void remembers(uint64_t addr, const char *name)
{
	struct kernel_symbol first = { 0 }, other = { 0 };
	struct kernel *k = kernel_new();
	OK(kernel_find(k, addr, &first) && kernel_find(k, addr - 1, &other));
	OK_STR(first.name, name);
	OK(strcmp(other.name, name) != 0);
	unsigned long before = reads();
	for (int i = 0; i < 1000; i++)
		if (!kernel_find(k, addr - (unsigned)i % 2, &other))
			break;
	OK(reads() - before < 10);
	for (uint64_t i = 0; i < 200000; i++) /* more than are remembered */
		kernel_find(k, addr + i % 100000, &other);
	OK_STR(first.name, name);
	kernel_free(k);
}

static void sample_at(struct recording *r, uint16_t event, uint64_t addr, uint64_t time_ns)
{
	struct stack_frame frame = { .pc = addr, .addr = addr, .flags = KINF_FRAME_KERNEL };
	struct record_event what = { 0 };
	struct thread t = { .pid = 1, .tid = 1 };
	recording_sample(r, &(struct walked_sample){ .sample = { .event = event,
								 .task = recording_task(r, &t),
								 .time_ns = time_ns,
								 .count = 1,
								 .weight = 1 },
						     .what = &what,
						     .frames = &frame,
						     .n = 1 });
}

/* How many samples of a profile were taken in a function of that name. */
static unsigned taken_in(const struct profile *p, const char *name)
{
	const struct samples *s = &p->samples;
	unsigned n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct frame *f = &s->frames[s->stacks[s->at[i].stack].frame];
		n += !strcmp(strtab_get(p->strings, f->name), name);
	}
	return n;
}

static struct profile *read_profile(const char *path)
{
	struct profile *p = NULL;
	struct input_opts opts = { .target = { .is_64bit = true } };
	struct kin_error *err = input_read(&path, 1, &opts, &p);
	OK(!err && p);
	kin_error_free(err);
	return p;
}

/* A recording that goes on in a new file repeats the definitions that it needs there. */
static void names_are_in_each_file(uint64_t addr, const char *name)
{
	struct kinfile_writer_opts opts = { .writer = KINF_BY_RECORDER };
	struct kernel *k = kernel_new();
	struct jit *j = jit_new();
	struct modules *m = modules_new(0);
	struct recording *r = recording_new(NULL, j, k, NULL);
	OK(kernel_find(k, addr, &(struct kernel_symbol){ 0 }));
	for (int i = 0; i < 3; i++) {
		char path[] = "/tmp/kin-test-XXXXXX";
		int fd = mkstemp(path);
		struct kinfile_writer *w = NULL;
		OK(!kinfile_writer_open(path, &opts, &w));
		recording_go_on(r, w, m);
		sample_at(r, kinfile_writer_event(w, "cpu-clock", KINF_NS, 1, 0), addr, 1);
		OK(!recording_end_file(r, m, KINF_STOPPED, 0, 2));
		struct profile *p = read_profile(path);
		OK(p && p->samples.n == 1 && taken_in(p, name) == 1);
		profile_free(p);
		close(fd);
		unlink(path);
	}
	recording_free(r);
	modules_free(m);
	jit_free(j);
	kernel_free(k);
}

/* A full writer forgets its strings, and here with each tick: functions keep their names, under the
 * ids of before or new ones. */
static void names_survive_forgetting(uint64_t addr, const char *name)
{
	char path[] = "/tmp/kin-test-XXXXXX";
	int fd = mkstemp(path);
	struct kinfile_writer *w = NULL;
	struct kernel *k = kernel_new();
	struct kernel_symbol other = { 0 };
	struct profile *p = NULL;
	struct jit *j = jit_new();
	struct modules *m = modules_new(0);
	OK(kernel_find(k, addr - 1, &other));
	char *before = strdup(other.name);
	struct kin_error *err = kinfile_writer_open(
		path, &(struct kinfile_writer_opts){ .writer = KINF_BY_RECORDER, .memory = 1 }, &w);
	OK(!err);
	struct recording *r = recording_new(w, j, k, NULL);
	uint32_t event = kinfile_writer_event(w, "cpu-clock", KINF_NS, 1, 0);
	for (uint64_t i = 0; i < 4; i++) { /* the first one of each round comes last in the next */
		sample_at(r, event, i & 1 ? addr - 1 : addr, 4 * i + 1);
		sample_at(r, event, i & 1 ? addr : addr - 1, 4 * i + 2);
		OK(!recording_tick(r, 4 * i + 3));
	}
	OK(!recording_end_file(r, m, KINF_EXITED, 0, 100));
	recording_free(r);
	const char *file = path;
	OK(!input_read(&file, 1, &(struct input_opts){ .target = { .is_64bit = true } }, &p));
	OK(taken_in(p, name) == 4 && taken_in(p, before) == 4);
	profile_free(p);
	modules_free(m);
	jit_free(j);
	kernel_free(k);
	free(before);
	close(fd);
	unlink(path);
}

/* Read, kept, read from where it is kept; damaged there, and not to be kept at all. */
static void test_kernel(void)
{
	uint64_t addr;
	char name[128], folder[] = "/tmp/kin-test-XXXXXX", command[128];
	if (!known_function("schedule", &addr, name))
		return;
	OK(mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1));
	OK(names(addr, name));
	snprintf(command, sizeof(command), "test $(ls %s/kin/kernel | wc -l) = 1", folder);
	OK(!system(command));
	OK(names(addr, name));
	remembers(addr, name);
	names_are_in_each_file(addr, name);
	names_survive_forgetting(addr, name);
	snprintf(command, sizeof(command), "truncate -s 5000 %s/kin/kernel/*", folder);
	OK(!system(command));
	OK(names(addr, name));
	OK(names(addr, name));
	OK(!setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1));
	OK(names(addr, name));
	if (known_function("start_kernel", &addr, name)) /* behind _etext */
		OK(names(addr, name));
	snprintf(command, sizeof(command), "rm -r %s", folder);
	OK(!system(command));
}

/* Readings of one frame: n times these callers. Whether the last one allows a guess. */
static bool read_often(struct beyond *b, const uint64_t *callers, int n, uint64_t *now_ns)
{
	bool good = false;
	for (int i = 0; i < n; i++)
		good = beyond_seen(b, 0x7000, 0x1234, callers, 2, *now_ns += 2000000);
	return good;
}

static void test_beyond(void)
{
	static const uint64_t load[] = { 0x10, 0x20 }, save[] = { 0x30, 0x20 };
	struct beyond *b = beyond_new();
	uint64_t now = 1000000000;
	OK(!read_often(b, load, BEYOND_READINGS - 1, &now));
	bool good = false;
	for (int i = 0; i < 1000; i++) /* at one moment: one reading */
		good |= beyond_seen(b, 0x7000, 0x1234, load, 2, now + 1);
	OK(!good);
	OK(read_often(b, load, 2, &now));
	OK(!beyond_seen(b, 0x7000, 0x1235, load, 2, now)); /* another place in the code, */
	OK(!beyond_seen(b, 0x7008, 0x1234, load, 2, now)); /* or on the stack */
	OK(!read_often(b, save, 1, &now));                 /* once others */
	OK(read_often(b, load, 1, &now));
	OK(!read_often(b, save, 2, &now)); /* more often */
	OK(!read_often(b, load, 1, &now));
	OK(read_often(b, load, 3 * BEYOND_USUAL, &now));
	beyond_free(b);

	b = beyond_new();
	good = false;
	for (int i = 0; i < 4000; i++) /* two thirds of the time */
		good |= read_often(b, i % 3 ? load : save, 1, &now);
	OK(!good);
	beyond_free(b);
}

static enum two_ways ways(const char *by_tables, bool complete, const char *by_pointers)
{
	uint64_t pcs[16], callers[16];
	size_t n = strlen(by_tables), m = strlen(by_pointers);
	for (size_t i = 0; i < n; i++)
		pcs[i] = (uint64_t)by_tables[i];
	for (size_t i = 0; i < m; i++)
		callers[i] = (uint64_t)by_pointers[i];
	return two_ways(pcs, n, complete, callers, m);
}

static void test_two_ways(void)
{
	OK(ways("labm", true, "abm") == TWO_WAYS_AGREE);
	OK(ways("labm", true, "bm") == TWO_WAYS_AGREE); /* a has no frame pointer */
	OK(ways("labm", true, "b") == TWO_WAYS_NONE);   /* a word that an earlier call left */
	OK(ways("labm", true, "") == TWO_WAYS_NONE);
	OK(ways("labm", true, "xbm") == TWO_WAYS_DIFFER);
	OK(ways("labm", true, "ba") == TWO_WAYS_DIFFER);
	OK(ways("labm", true, "abx") == TWO_WAYS_DIFFER); /* behind the outermost frame */
	OK(ways("labm", false, "axm") == TWO_WAYS_DIFFER);
	OK(ways("lab", false, "bxm") == TWO_WAYS_AGREE); /* behind the cut */
	OK(ways("lab", false, "axm") == TWO_WAYS_AGREE);
	OK(ways("lab", false, "xm") == TWO_WAYS_NONE);
	OK(ways("lrrrm", true, "rrrm") == TWO_WAYS_AGREE);
	OK(ways("lrrm", true, "rrrm") == TWO_WAYS_DIFFER);
}

static struct walked_sample numbered(uint64_t i, const struct stack_frame frames[2])
{
	struct walked_sample s = { .sample = { .event = 1,
					       .task = i < 6 ? 7 : 8,
					       .cpu = CPU_NONE,
					       .count = 1,
					       .time_ns = i,
					       .weight = 1 },
				   .pid = 5,
				   .tid = 5,
				   .frames = frames,
				   .n = 2 };
	strcpy(s.comm, i < 6 ? "before" : "after");
	return s;
}

/* Memory for four samples keeps the last four of ten. */
static void test_recent(void)
{
	struct stack_frame frames[2] = { { .addr = 1 }, { .addr = 2 } };
	struct walked_sample one = numbered(0, frames);
	struct kept_sample *k = kept_sample_new(&one);
	struct recent *r = recent_new(4 * k->bytes);
	for (uint64_t i = 0; i < 10; i++) {
		one = numbered(i, frames);
		frames[0].addr = i;
		recent_add(r, &one);
	}
	bool last = recent_count(r) == 4;
	for (size_t i = 0; last && i < 4; i++)
		last = recent_at(r, i)->sample.time_ns == 6 + i &&
		       recent_at(r, i)->frames[0].addr == 6 + i;
	OK(last && recent_dropped(r) == 6);
	recent_clear(r);
	OK(!recent_count(r));
	recent_add(r, &one);
	OK(recent_count(r) == 1 && recent_at(r, 0)->sample.time_ns == 9);
	recent_free(r);
	free(k);
}

/* Samples that were kept in memory go to the file that is open when they are written, with their
 * threads. */
static void recent_samples_are_written(void)
{
	char path[] = "/tmp/kin-test-XXXXXX";
	int fd = mkstemp(path);
	struct stack_frame frames[2] = { { .addr = 1 }, { .addr = 2 } };
	struct kinfile_writer_opts wo = { .writer = KINF_BY_RECORDER };
	struct kinfile_writer *w = NULL;
	struct kernel *k = kernel_new();
	struct jit *j = jit_new();
	struct modules *m = modules_new(0);
	struct recording *r = recording_new(kinfile_writer_to_nowhere(&wo), j, k, NULL);
	recording_keep_recent(r, 1 << 20);
	for (uint64_t i = 1; i < 10; i++) {
		struct walked_sample s = numbered(i, frames);
		recording_sample(r, &s);
	}
	OK(recording_recent_ns(r) == 1);
	OK(!kinfile_writer_open(path, &wo, &w));
	recording_abandon_file(r);
	recording_go_on(r, w, m);
	uint32_t event = kinfile_writer_event(w, "cpu-clock", KINF_NS, 1, 0);
	OK(recording_write_recent(r, event) == 9);
	OK(recording_recent_ns(r) == 0);
	OK(!recording_end_file(r, m, KINF_STOPPED, 0, 20));
	recording_free(r);
	struct profile *p = read_profile(path);
	OK(p && p->samples.n == 9 && p->samples.n_tasks == 3);
	profile_free(p);
	modules_free(m);
	jit_free(j);
	kernel_free(k);
	close(fd);
	unlink(path);
}

static struct module *module_of_file(struct modules *m, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return NULL;
	return modules_find(
		m, &(struct module_key){ .path = path, .inode = st.st_ino, .pid = getpid() });
}

/* The libraries and the program itself, as this process has them mapped. */
static size_t own_modules(struct modules *m, struct module *ret[], size_t max)
{
	char line[4096], path[4096];
	size_t n = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	while (f && n < max && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s r-xp %*s %*s %*s /%4000[^\n]", path + 1) != 1)
			continue;
		path[0] = '/';
		if ((ret[n] = module_of_file(m, path)))
			n++;
	}
	if (f)
		fclose(f);
	return n;
}

static bool copy_file(const char *from, int to)
{
	char bytes[65536];
	size_t n;
	FILE *f = fopen(from, "re");
	bool good = f;
	while (good && (n = fread(bytes, 1, sizeof(bytes), f)))
		good = write(to, bytes, n) == (ssize_t)n;
	if (f)
		fclose(f);
	return good;
}

/* With room for one table, each use of another table frees the previous one, and a table that is
 * read again is the same. */
static void tables_have_a_limit(const char *cache)
{
	struct module *at[32];
	size_t rows[32], n, most = 0, sum = 0;
	if (cache)
		setenv("XDG_CACHE_HOME", cache, 1);
	else
		unsetenv("XDG_CACHE_HOME");
	struct modules *unlimited = modules_new(0), *m = modules_new(1);
	n = own_modules(unlimited, at, 32);
	OK(n >= 2);
	for (size_t i = 0; i < n; i++) {
		const struct unwind_table *t = module_table(at[i], 0);
		rows[i] = t ? unwind_table_rows(t) : 0;
		size_t bytes = t ? unwind_table_bytes(t) : 0;
		most = bytes > most ? bytes : most;
		sum += bytes;
	}
	OK(modules_table_bytes(unlimited) == sum && sum > most);
	OK(own_modules(m, at, 32) == n);
	for (size_t round = 0; round < 3; round++) {
		bool same = true;
		for (size_t i = 0; i < n; i++) {
			const struct unwind_table *t = module_table(at[i], 0);
			same &= (t ? unwind_table_rows(t) : 0) == rows[i];
			same &= modules_table_bytes(m) <= most;
		}
		OK(same);
	}
	modules_free(unlimited);
	modules_free(m);
}

enum { FILES = 500, GONE = 3 };

/* More modules than may have open files: paths that lead to this program. */
struct many_files {
	char folder[32], paths[FILES][64];
	struct module *at[FILES];
	size_t n;
};

/* Removes the path of number `gone` at once. */
static void open_many(struct many_files *f, struct modules *m, size_t gone)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length > 0 ? length : 0] = '\0';
	f->n = 0;
	snprintf(f->folder, sizeof(f->folder), "/tmp/kin-test-XXXXXX");
	OK(length > 0 && mkdtemp(f->folder));
	for (size_t i = 0; i < FILES; i++) {
		snprintf(f->paths[i], sizeof(f->paths[i]), "%s/%zu", f->folder, i);
		if (symlink(self, f->paths[i]) || !(f->at[i] = module_of_file(m, f->paths[i])))
			break;
		f->n++;
		if (i == gone)
			unlink(f->paths[i]);
	}
	OK(f->n == FILES);
}

static void remove_many(const struct many_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		unlink(f->paths[i]);
	rmdir(f->folder);
}

/* With more files than may be open, the first ones are closed, and opened again when needed; a file
 * that is gone by then was read before. */
static void few_files_are_open(void)
{
	struct many_files f;
	struct modules *m = modules_new(0);
	unsetenv("XDG_CACHE_HOME");
	size_t before = open_files(), rows = 0;
	open_many(&f, m, GONE);
	OK(open_files() - before < FILES / 2);
	for (size_t i = 0; i < f.n; i += 100) {
		const struct unwind_table *t = module_table(f.at[i], 0),
					  *gone = module_table(f.at[GONE], 0);
		rows = rows ? rows : t ? unwind_table_rows(t) : 0;
		OK(t && rows && unwind_table_rows(t) == rows);
		OK(gone && unwind_table_rows(gone) == rows);
	}
	modules_free(m);
	remove_many(&f);
}

/* A table that nothing could bring back stays, whatever the limit. */
static void last_copies_stay(void)
{
	char path[] = "/tmp/kin-test-XXXXXX";
	int fd = mkstemp(path);
	unsetenv("XDG_CACHE_HOME");
	struct modules *m = modules_new(1);
	OK(fd >= 0 && copy_file("/proc/self/exe", fd));
	struct module *gone = module_of_file(m, path), *at[32];
	const struct unwind_table *t = gone ? module_table(gone, 0) : NULL;
	size_t bytes = t ? unwind_table_bytes(t) : 0;
	unlink(path);
	size_t n = own_modules(m, at, 32);
	for (size_t i = 0; i < n; i++)
		module_table(at[i], 0);
	OK(bytes && module_table(gone, 0) == t && modules_table_bytes(m) >= bytes);
	modules_free(m);
	close(fd);
}

extern void _fini(void); /* a function without call-frame information */

static int bias_of_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* If the file is held, code without call-frame information is followed when it is asked for, and
 * the cache then has the whole table. Otherwise it is followed at once. */
static void code_is_followed_late(const char *cache)
{
	struct many_files f;
	uint64_t bias = 0;
	struct modules *m = modules_new(0), *later = modules_new(0), *own = modules_new(0),
		       *gone = modules_new(0);
	struct module *at = module_of_file(m, "/proc/self/exe"),
		      *again = module_of_file(later, "/proc/self/exe"),
		      *unheld = module_of_file(own, "/proc/self/exe");
	setenv("XDG_CACHE_HOME", cache, 1);
	dl_iterate_phdr(bias_of_first, &bias);
	uint64_t bare = (uint64_t)(uintptr_t)_fini - bias,
		 here = (uint64_t)(uintptr_t)code_is_followed_late - bias;
	modules_hold_files(m, 1024);
	modules_hold_files(later, 1024);

	const struct unwind_table *t = at ? module_table(at, here) : NULL;
	OK(t && !unwind_table_is_followed(t) && unwind_table_find(t, here)->cfa_offset == 8);
	OK(t && unwind_table_find(t, bare)->cfa == UNWIND_CFA_NONE);

	/* What the cache has now is better than nothing, for a file that was closed and is gone. */
	open_many(&f, gone, FILES);
	unlink(f.paths[0]);
	t = module_table(f.at[0], here);
	OK(t && !unwind_table_is_followed(t) && unwind_table_find(t, here)->cfa_offset == 8);
	remove_many(&f);

	t = unheld ? module_table(unheld, here) : NULL;
	OK(t && unwind_table_is_followed(t) && unwind_table_find(t, bare)->cfa_offset == 8);
	t = at ? module_table(at, bare) : NULL;
	OK(t && unwind_table_is_followed(t) && unwind_table_find(t, bare)->cfa_offset == 8);
	OK(t && modules_table_bytes(m) == unwind_table_bytes(t));
	t = again ? module_table(again, here) : NULL;
	OK(t && unwind_table_is_followed(t));
	modules_free(m);
	modules_free(later);
	modules_free(own);
	modules_free(gone);
}

static void test_tables(void)
{
	char folder[] = "/tmp/kin-test-XXXXXX", command[100];
	const char *home = getenv("HOME");
	char *kept = home ? strdup(home) : NULL;
	unsetenv("HOME"); /* the existing cache stays unchanged */
	OK(mkdtemp(folder));
	if (machine_native() == &machine_x86_64) /* others have no rules for such code */
		code_is_followed_late(folder);
	tables_have_a_limit(NULL);
	tables_have_a_limit(folder);
	last_copies_stay();
	few_files_are_open();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	OK(!system(command));
	if (kept)
		setenv("HOME", kept, 1);
	free(kept);
}

int main(void)
{
	test_kernel();
	test_events();
	test_attributes();
	test_audit();
	test_jit_map();
	test_jit_older();
	test_jit_end();
	test_processes_end();
	test_nowhere_forgets();
	test_beyond();
	test_two_ways();
	test_tables();
	test_recent();
	recent_samples_are_written();
	return DONE();
}

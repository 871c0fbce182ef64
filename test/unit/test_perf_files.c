/* Contents of the small perf.data files of the fuzz corpus: whole, truncated at every offset,
 * damaged.
 */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "input/input.h"
#include "profile/detail.h"

static const char *corpus;

static struct file load(const char *name)
{
	struct file f = { 0 };
	struct file_opts o = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", corpus, name);
	kin_error_free(file_read(path, &o, &f));
	return f;
}

/* As a file: of exactly these bytes. */
static struct profile *read_bytes(const void *data, size_t size, char *message, size_t room)
{
	struct input_opts o = { .target = { .is_64bit = true },
				.details = true,
				.branches = INPUT_AS_RECORDED };
	struct profile_builder *b = profile_builder_new();
	struct source source = { .kind = "perf.data" };
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	struct kin_error *err = perf_format.read(bytes_of("file", copy, size), &o, b, &source);
	snprintf(message, room, "%s", err ? kin_error_message(err) : "");
	kin_error_free(err);
	free(copy);
	profile_add_source(b, "file", source);
	return profile_finish(b);
}

static struct profile *read_file(const char *name, char *message, size_t room)
{
	struct file f = load(name);
	struct profile *p = read_bytes(f.data + 1, f.size - 1, message, room);

	file_free(&f);
	return p;
}

/* One sample: "comm pid event weight: addr addr" with ' for return addresses and k for the kernel;
 * marks by their names. */
static void describe(const struct profile *p, const struct sample *s, char *to, size_t room)
{
	const struct samples *all = &p->samples;
	const struct task *t = &all->tasks[s->task];
	int n = snprintf(to, room, "%s %u %s %ju:", strtab_get(p->strings, t->comm), t->tid,
			 strtab_get(p->strings, all->events[s->event].name), (uintmax_t)s->weight);

	for (stackid i = s->stack; i && n > 0 && (size_t)n < room; i = all->stacks[i].caller) {
		const struct frame *f = &all->frames[all->stacks[i].frame];
		if (f->flags & FRAME_MARK) {
			n += snprintf(to + n, room - (size_t)n, " %s",
				      strtab_get(p->strings, f->name));
			continue;
		}
		n += snprintf(to + n, room - (size_t)n, " %jx%s%s", (uintmax_t)f->addr,
			      f->flags & FRAME_RETURN ? "'" : "",
			      f->flags & FRAME_KERNEL ? "k" : "");
	}
}

static const char *sample_at(const struct profile *p, size_t i)
{
	static char text[1024];

	text[0] = '\0';
	if (i < p->samples.n)
		describe(p, &p->samples.at[i], text, sizeof(text));
	return text;
}

static void test_same_in_all_shapes(void)
{
	static const char *const names[] = { "plain",      "big_endian", "big_endian_pipe",
					     "pipe",       "killed",     "small_attr",
					     "large_attr", "packed",     "packed2" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char message[1000];
		struct profile *p = read_file(names[i], message, sizeof(message));
		bool pipe = strstr(names[i], "pipe") || !strcmp(names[i], "packed2");
		bool ordered = p->samples.n >= 6;
		fputs("# ", stdout);
		puts(names[i]);
		if (!strcmp(names[i], "killed"))
			OK(strstr(message, "the recorder was killed"));
		else
			OK_STR(message, "");
		OK_STR(sample_at(p, 0), pipe ? "prog 500 renamed 1000: 101 200' 300'"
					     : "prog 500 cpu-clock 1000: 101 200' 300'");
		for (size_t k = 1; k < p->samples.n; k++)
			ordered &= p->samples.at[k - 1].time_ns <= p->samples.at[k].time_ns;
		OK(ordered);
		profile_free(p);
	}
}

static void test_events(void)
{
	char message[1000];
	struct profile *p = read_file("events", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 6), "prog 500 second 1000: 150");
	OK(p->samples.events[0].group == 1 && p->samples.events[1].group == 1);
	const struct object *o = &p->objects[p->samples.frames[1].object];
	OK_STR(strtab_get(p->strings, o->path), "/nowhere/prog");
	OK_STR(strtab_get(p->strings, o->build_id), "000102030405060708090a0b0c0d0e0f10111213");
	OK(o->is_main);
	profile_free(p);
}

/* Counters are read as totals: weights are their differences. */
static void test_group(void)
{
	char message[1000];
	struct profile *p = read_file("group", message, sizeof(message));

	OK_STR(message, "");
	OK(p->samples.n == 6);
	OK_STR(sample_at(p, 4), "prog 500 cpu-clock 1000: 100");
	OK_STR(sample_at(p, 5), "prog 500 task-clock 10: 100");
	profile_free(p);
}

static void test_processes(void)
{
	char message[1000];
	struct profile *p = read_file("records", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 0), "prog 501 cpu-clock 1000: 101 200' 300'"); /* copied by fork */
	OK_STR(sample_at(p, 2), "next 501 cpu-clock 1000: 101 200' 300'");
	OK_STR(sample_at(p, 4), "prog 500 cpu-clock 1000: ffffffff80000004k 100");
	const struct sample *s = &p->samples.at[5];
	const struct frame *f = &p->samples.frames[p->samples.stacks[s->stack].frame];
	OK_STR(strtab_get(p->strings, f->name), "bpf_prog_1");
	OK(p->samples.audit.lost == 3 && p->samples.audit.throttled == 1);
	profile_free(p);
}

static void test_switches(void)
{
	char message[1000];
	struct profile *p = read_file("switches", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 2), "prog 500 blocked (place estimated) 1000: 100 200' 300'");
	OK_STR(sample_at(p, 3), "prog 500 waiting (place estimated) 1000: 100 200' 300'");
	OK(p->samples.at[2].flags & FRAME_GUESSED);
	OK(p->samples.at[0].parallelism == 1);
	OK(p->samples.audit.switches == 3 && p->samples.audit.preemptions == 1);
	profile_free(p);
}

static void test_deferred(void)
{
	char message[1000];
	struct profile *p = read_file("deferred", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 0), "prog 500 cpu-clock 1000: ffffffff80000004k 111 222'");
	OK_STR(sample_at(p, 1), "prog 500 cpu-clock 1000: 100 200' 300'");
	OK(p->samples.n == 4);
	profile_free(p);
}

/* Each branch is a sample at its target. */
static void test_branches(void)
{
	char message[1000];
	struct profile *p = read_file("branches", message, sizeof(message));

	OK_STR(message, "");
	OK(p->samples.n == 6);
	OK_STR(sample_at(p, 0), "prog 500 cpu-clock 1: 101");
	OK_STR(sample_at(p, 1), "prog 500 cpu-clock 1: 9");
	const struct detail *d = sample_detail(&p->samples, &p->samples.at[0]);
	OK(d->has == (DETAIL_BRANCH | DETAIL_ADDR | DETAIL_NAMESPACE | DETAIL_SOCKET));
	OK(d->from == 0x400200 && d->addr == 0x400101 && d->weight == 17);
	OK(p->samples.frames[d->source].addr == 0x200);
	OK(d->branch & BRANCH_PREDICTED && branch_cycles(d->branch) == 17);
	OK(d->socket == 0 && sample_detail(&p->samples, &p->samples.at[2])->socket == 1);
	OK(d->cgroup_device == 12 && d->cgroup_inode == 13);
	profile_free(p);
}

static void test_accesses(const char *name)
{
	char message[1000];
	struct profile *p = read_file(name, message, sizeof(message));

	OK_STR(message, "");
	OK(p->samples.n == 3 && p->samples.n_details == 4);
	OK_STR(sample_at(p, 0), "prog 500 cpu-clock 1000: 100");
	const struct detail *d = sample_detail(&p->samples, &p->samples.at[0]);
	OK(d->weight == 30 && d->ins_lat == 40 && d->p_stage_cyc == 7);
	OK(d->data_src == 0x68100142 && d->transaction == 9 && d->phys_addr == 0x1000);
	OK_STR(strtab_get(p->strings, d->cgroup), "/one");
	OK(d->data_page_size == 4096 && d->code_page_size == 4096);
	profile_free(p);
}

static void test_calls_by_cpu(void)
{
	char message[1000];
	struct profile *p = read_file("dumps", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 0), "prog 500 cpu-clock 1000: 100 200' 300' [cut]");
	OK_STR(sample_at(p, 1), "prog 500 cpu-clock 1000: 101 200 300");
	profile_free(p);
}

static void test_cut_stack(void)
{
	char message[1000];
	struct profile *p = read_file("dump_cut", message, sizeof(message));

	OK_STR(message, "");
	OK_STR(sample_at(p, 0), "prog 500 cpu-clock 1000: 100 200' 300' [cut]");
	OK(p->samples.audit.truncated == 1);
	size_t guessed = 0; /* the two that frame pointers led to */
	for (stackid s = p->samples.at[0].stack; s; s = p->samples.stacks[s].caller)
		guessed +=
			(p->samples.frames[p->samples.stacks[s].frame].flags & FRAME_GUESSED) != 0;
	OK(guessed == 2);
	profile_free(p);
}

static void test_damage(void)
{
	char message[1000];
	struct profile *p = read_file("damaged_sample", message, sizeof(message));

	OK_STR(message, "file: damaged at offset 0x288: a sample longer than its record");
	OK(p->samples.n == 1);
	profile_free(p);
	p = read_file("unknown_id", message, sizeof(message));
	OK(p->samples.audit.unresolved == 1);
	profile_free(p);
	p = read_file("bomb", message, sizeof(message));
	OK(strstr(message, "absurdly much"));
	profile_free(p);
}

/* Each prefix gives an error that names an offset, or all of its data; never more than the whole.
 */
/* Bytes from one cut to the next. Sanitizers take most of the time, for tables that each reader
 * has: they see one in five, at each place within a word. */
#ifdef __SANITIZE_ADDRESS__
enum { CUT_STEP = 5 };
#else
enum { CUT_STEP = 1 };
#endif

static void test_cut_off(const char *name)
{
	struct file f = load(name);
	char message[1000];
	size_t before = 0, silent = 0, more = 0;

	for (size_t n = 8; n < f.size - 1; n += CUT_STEP) {
		struct profile *p = read_bytes(f.data + 1, n, message, sizeof(message));
		silent += !message[0];
		more += p->samples.n < before;
		before = p->samples.n;
		profile_free(p);
	}
	printf("# %s: %zu samples at the end\n", name, before);
	OK(more == 0); /* a longer file never holds less */
	/* Only where nothing says how much there is may a file end after any record. */
	bool is_open = strstr(name, "pipe") || !strcmp(name, "packed2");
	OK(is_open ? (silent || CUT_STEP > 1) && silent < f.size / 8 : silent == 0);
	file_free(&f);
}

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

/* Bytes changed at random: whatever comes of it, it ends. */
static void test_mutants(const char *name)
{
	struct file f = load(name);
	char message[1000];
	size_t errors = 0;

	for (int i = 0; i < 400; i++) {
		uint8_t *data = malloc(f.size);
		memcpy(data, f.data, f.size);
		for (uint32_t k = 0; k <= pick(4); k++)
			data[9 + pick((uint32_t)f.size - 9)] =
				(uint8_t)(pick(3) ? pick(256) : pick(2) * 255);
		struct profile *p = read_bytes(data + 1, f.size - 1, message, sizeof(message));
		errors += message[0] != '\0';
		profile_free(p);
		free(data);
	}
	printf("# %s: %zu of 400 were refused\n", name, errors);
	OK(errors < 400 || !strcmp(name, "killed")); /* that is never whole */
	file_free(&f);
}

/* The output of a command, through a pipe. */
static struct file read_pipe(const char *command, size_t in_memory)
{
	struct file f = { 0 };
	struct file_opts o = { .allow_fifo = true, .in_memory = in_memory, .max = 100000 };
	FILE *pipe = popen(command, "r");
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(pipe));
	kin_error_free(file_read(path, &o, &f));
	pclose(pipe);
	return f;
}

static void test_copy_of_pipe(void)
{
	struct file f = read_pipe("seq 20000", 4096), whole = { 0 };
	struct file_opts o = { 0 };

	OK(f.copy && !f.data);
	kin_error_free(file_read(f.copy ? f.copy : "", &o, &whole));
	OK(whole.size == 108894 && !strncmp((char *)whole.data, "1\n2\n", 4));
	OK_STR(whole.size ? (char *)whole.data + whole.size - 12 : "", "19999\n20000\n");
	file_free(&whole);
	file_free(&f);

	f = read_pipe("seq 1000", 4096);
	OK(!f.copy && f.size == 3893);
	file_free(&f);
	f = read_pipe("seq 20000", 0);
	OK(!f.copy && !f.data); /* more than the limit */
	file_free(&f);

	setenv("TMPDIR", "/nowhere", 1);
	f = read_pipe("seq 10000", 4096);
	OK(!f.copy && f.size == 48894);
	unsetenv("TMPDIR");
	file_free(&f);
}

/* A recording through a pipe is what it is as a file, however long. */
static void test_long_pipe(void)
{
	char command[5000], path[32], message[1000], first[1024];
	struct input_opts o = { .target = { .is_64bit = true } };
	struct profile *plain = read_file("plain", message, sizeof(message)), *piped;

	snprintf(command, sizeof(command), "tail -c +2 '%s/plain'; head -c 3000000 /dev/zero",
		 corpus);
	FILE *pipe = popen(command, "r");
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(pipe));
	const char *paths[] = { path };
	struct kin_error *err = input_read(paths, 1, &o, &piped);
	pclose(pipe);
	snprintf(first, sizeof(first), "%s", sample_at(plain, 0));
	OK(!err && piped->samples.n == plain->samples.n);
	OK_STR(sample_at(piped, 0), first);
	kin_error_free(err);
	profile_free(piped);
	profile_free(plain);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "plain",  "pipe",     "big_endian", "events",
					     "group",  "records",  "switches",   "deferred",
					     "dumps",  "dump_cut", "packed",     "packed2",
					     "killed", "branches", "accesses" };
	if (argc < 2)
		return 2;
	corpus = argv[1];
	test_same_in_all_shapes();
	test_events();
	test_group();
	test_processes();
	test_switches();
	test_deferred();
	test_calls_by_cpu();
	test_cut_stack();
	test_branches();
	test_accesses("accesses");
	test_accesses("accesses_big_endian");
	test_damage();
	test_copy_of_pipe();
	test_long_pipe();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		test_cut_off(names[i]);
		test_mutants(names[i]);
	}
	return DONE();
}

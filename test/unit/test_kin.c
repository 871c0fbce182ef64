/* .kin files: written data is read back, damage is reported, and the order of merging is
 * irrelevant. */
#include "tap.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "formats/kin/crc32c.h"
#include "formats/kin/kin_write.h"
#include "input/input.h"
#include "profile/detail.h"

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static char folder[] = "/tmp/kin-test-XXXXXX";

static const char *path_of(const char *name)
{
	static char buf[4][128];
	static int i;
	i = (i + 1) % 4;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", folder, name);
	return buf[i];
}

struct data {
	uint8_t *at;
	size_t n;
};

static struct data slurp(const char *path)
{
	struct data d = { malloc(1 << 24), 0 };
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, d.at, 1 << 24);
	d.n = n > 0 ? (size_t)n : 0;
	close(fd);
	return d;
}

/* In memory; *failed says whether there was an error. */
static struct profile *read_bytes(const uint8_t *at, size_t n, bool *failed)
{
	struct profile_builder *b = profile_builder_new();
	struct input_opts o = { .target = { .is_64bit = true },
				.details = true,
				.cpu_state = true,
				.trace_fields = true };
	struct source source = { 0 };
	uint8_t *copy = malloc(n + !n);
	if (n)
		memcpy(copy, at, n);
	struct bytes all = bytes_of("test", copy, n);
	struct kin_error *err = kinf_format.recognise(all, &o)
					? kinf_format.read(all, &o, b, &source)
					: err_new(KIN_ERROR_FORMAT, "none");
	*failed = err != NULL;
	kin_error_free(err);
	free(copy);
	profile_add_source(b, "test", source);
	return profile_finish(b);
}

static struct profile *read_file(const char *path, bool *failed)
{
	struct profile *p;
	struct kin_error *err = input_read(&path, 1,
					   &(struct input_opts){ .target = { .is_64bit = true },
								 .details = true,
								 .cpu_state = true,
								 .trace_fields = true },
					   &p);
	*failed = err != NULL;
	if (err)
		printf("# %s\n", kin_error_message(err));
	kin_error_free(err);
	return p;
}

static bool good(struct kin_error *err)
{
	if (err)
		printf("# %s\n", kin_error_message(err));
	bool ret = !err;
	kin_error_free(err);
	return ret;
}

static uint64_t weight_of(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].weight;
	return sum;
}

/* ---- random profiles ---- */

static strid word(struct profile_builder *b, const char *prefix, uint32_t n)
{
	char s[32];
	int size = snprintf(s, sizeof(s), "%s%u", prefix, pick(n));
	return profile_add_string(b, s, (size_t)size);
}

static objid random_object(struct profile_builder *b)
{
	char path[32], id[32];
	uint32_t n = pick(6);
	if (n == 5)
		return 0;
	snprintf(path, sizeof(path), "/lib/%u.so", n);
	snprintf(id, sizeof(id), "%04x%04x", n * 77, n);
	return profile_add_object_of(b, path, n % 2 ? id : "", n == 3 ? OBJECT_VDSO : OBJECT_ELF,
				     n == 0);
}

static stackid random_stack(struct profile_builder *b)
{
	stackid stack = 0;
	for (uint32_t n = pick(8); n; n--) {
		struct frame f = { .addr = pick(50), .object = random_object(b) };
		f.flags = pick(4) ? FRAME_RETURN : FRAME_KERNEL;
		f.name = pick(5) ? 0 : word(b, "name", 9);
		stack = profile_add_stack(b, stack, profile_add_frame(b, f));
	}
	return stack;
}

static taskid random_task(struct profile_builder *b)
{
	struct task t = { .pid = pick(3), .tid = pick(3), .cpu_ns = pick(9), .end_ns = pick(99) };
	if (!pick(8))
		return 0;
	t.comm = word(b, "comm", 3);
	return profile_add_task(b, t);
}

static frameid random_place(struct profile_builder *b)
{
	return pick(2) ? 0
		       : profile_add_frame(
				 b, (struct frame){ .addr = pick(9), .object = random_object(b) });
}

static uint64_t random_registers(struct profile_builder *b)
{
	uint64_t at, mask = pick(4), *w = profile_add_words(b, 4, &at);
	w[0] = 2;
	w[1] = mask;
	w[2] = pick(2);
	w[3] = mask == 3 ? pick(2) : 0;
	return at;
}

static uint64_t random_branches(struct profile_builder *b)
{
	struct taken_branch taken[2];
	uint64_t at, n = 1 + pick(2);
	for (uint64_t i = 0; i < n; i++)
		taken[i] = (struct taken_branch){ .from = pick(2),
						  .to = UINT64_MAX - pick(2),
						  .flags = pick(2),
						  .source = random_place(b),
						  .target = random_place(b) };
	uint64_t *w = profile_add_words(b, 1 + n * TAKEN_BRANCH_WORDS, &at);
	w[0] = n;
	memcpy(w + 1, taken, n * sizeof(taken[0]));
	return at;
}

/* Some of each kind, and some of them equal. */
static struct detail random_detail(struct profile_builder *b)
{
	struct detail d = { .weight = pick(2), .transaction = pick(2), .phys_addr = pick(2) };
	if (pick(2)) {
		d.has = DETAIL_ADDR;
		d.addr = UINT64_MAX - pick(2);
		d.target = random_place(b);
	}
	d.has |= (pick(2) ? DETAIL_DATA_PAGE : 0) | (pick(2) ? DETAIL_CODE_PAGE : 0);
	d.data_page_size = d.has & DETAIL_DATA_PAGE ? pick(2) * 4096 : 0;
	if (!pick(3)) {
		d.interrupt_registers = random_registers(b);
		d.register_names = word(b, "AX BX", 2);
	}
	if (!pick(3))
		d.branches = random_branches(b);
	if (!pick(3)) {
		d.has |= DETAIL_CGROUP | DETAIL_NAMESPACE;
		d.cgroup = word(b, "/group", 2);
		d.cgroup_device = pick(2);
		d.cgroup_inode = pick(2);
	}
	return d;
}

static void add_random(struct profile_builder *b, uint32_t n)
{
	static const enum event_kind kinds[] = { EVENT_ON_CPU, EVENT_BLOCKED, EVENT_WAITING };
	uint64_t bucket[LATENCY_BUCKETS] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct event e = { .unit = EVENT_NS, .kind = kinds[pick(3)], .period = pick(9) };
		struct sample s = { .count = 1 + pick(3),
				    .weight = pick(1000),
				    .time_ns = pick(500) };
		e.name = word(b, "event", 2);
		s.event = profile_add_event(b, e);
		s.task = random_task(b);
		s.stack = random_stack(b);
		s.cpu = pick(2) ? CPU_NONE : (uint16_t)pick(4);
		s.parallelism = (uint16_t)pick(2);
		profile_add_sample(b, s);
		struct detail d = pick(2) ? (struct detail){ .has = 0 } : random_detail(b);
		if (!pick(3)) {
			d.has |= DETAIL_TRACE;
			d.trace = word(b, "field=", 4);
		}
		profile_set_detail(b, profile_add_detail(b, &d));

		struct arc a = { .from = pick(40), .to = pick(9), .count = pick(100) };
		a.from_object = random_object(b);
		a.to_object = random_object(b);
		profile_add_arc(b, a);
		taskid task = random_task(b);
		if (task)
			profile_add_task_arc(b,
					     (struct task_arc){ a.from, a.to, a.count,
								a.from_object, a.to_object, task });
		bucket[pick(LATENCY_BUCKETS)]++;
		struct latency l = { .from = a.from, .to = a.to, .count = 1, .sum_ns = pick(50) };
		l.min_ns = l.max_ns = l.sum_ns;
		l.bucket = bucket;
		l.probes_ns = pick(5);
		profile_add_latency(b, l);
		profile_add_block(b, (struct block){ pick(30), pick(9), random_object(b) });
		profile_add_failure(b, random_object(b), 1);
		*(&profile_audit(b)->lost + pick(14)) += pick(9);
	}
	struct hit hits[] = { { 1, 5 }, { 7, 1 + pick(9) } };
	struct histogram h = { .low = 64, .high = 128, .n = 16, .rate = 100, .hits = hits };
	h.n_hits = 2;
	strcpy(h.dimension, "seconds");
	h.abbrev = 's';
	OK(good(profile_add_histogram(b, h)));
}

static struct profile *random_profile(uint32_t n)
{
	struct profile_builder *b = profile_builder_new();
	add_random(b, n);
	profile_add_source(b, "random", (struct source){ 0 });
	return profile_finish(b);
}

static struct data written(const struct profile *p)
{
	struct profile *c = profile_canonical(p, NULL, NULL);
	OK(good(kinfile_write_profile(path_of("written.kin"), c, NULL)));
	profile_free(c);
	return slurp(path_of("written.kin"));
}

static bool same(struct data a, struct data b) { return a.n == b.n && !memcmp(a.at, b.at, a.n); }

static uint64_t probes_of(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.n_latencies; i++)
		sum += p->samples.latencies[i].probes_ns;
	return sum;
}

/* How often a sample with fields happened. */
static uint64_t traced(const struct profile *p)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		if (sample_detail(&p->samples, &p->samples.at[i])->has & DETAIL_TRACE)
			n += p->samples.at[i].count;
	return n;
}

static size_t with_registers(const struct profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		n += sample_detail(&p->samples, &p->samples.at[i])->interrupt_registers != 0;
	return n;
}

static void what_is_written_is_read(void)
{
	for (uint32_t size = 0; size < 60; size += 15) {
		struct profile *p = random_profile(size);
		struct data one = written(p);
		bool failed;
		struct profile *q = read_bytes(one.at, one.n, &failed);
		struct data two = written(q);
		OK(!failed && same(one, two));
		OK(weight_of(p) == weight_of(q) && p->n_arcs == q->n_arcs);
		OK(probes_of(p) == probes_of(q) && traced(p) == traced(q));
		OK(!size || (with_registers(q) && with_registers(q) <= with_registers(p)));
		OK(p->samples.n_task_arcs == q->samples.n_task_arcs);
		OK(p->samples.n_latencies == q->samples.n_latencies && q->n_histograms == 1);
		OK(!memcmp(&p->samples.audit, &q->samples.audit, sizeof(struct audit)));
		OK(p->samples.n_tasks == q->samples.n_tasks && p->n_objects == q->n_objects);
		free(one.at);
		free(two.at);
		profile_free(p);
		profile_free(q);
	}
}

/* ---- merging ---- */

static struct data merged(const char *const *paths, size_t n)
{
	struct profile *p;
	OK(good(input_read(paths, n,
			   &(struct input_opts){ .target = { .is_64bit = true },
						 .details = true,
						 .cpu_state = true,
						 .trace_fields = true },
			   &p)));
	struct data d = written(p);
	profile_free(p);
	return d;
}

static void save(const char *path, struct data d)
{
	FILE *f = fopen(path, "wb");
	fwrite(d.at, 1, d.n, f);
	fclose(f);
}

static void merging_is_associative_and_commutative(void)
{
	char name[5][128];
	for (int i = 0; i < 5; i++)
		snprintf(name[i], sizeof(name[i]), "%s/part%d.kin", folder, i);
	for (int i = 0; i < 3; i++) {
		struct profile *p = random_profile(40);
		struct data d = written(p);
		save(name[i], d);
		free(d.at);
		profile_free(p);
	}
	struct data all = merged((const char *const[]){ name[0], name[1], name[2] }, 3);
	struct data turned = merged((const char *const[]){ name[2], name[0], name[1] }, 3);
	OK(same(all, turned));
	struct data left = merged((const char *const[]){ name[0], name[1] }, 2);
	save(name[3], left);
	struct data left_all = merged((const char *const[]){ name[3], name[2] }, 2);
	struct data right = merged((const char *const[]){ name[2], name[1] }, 2);
	save(name[4], right);
	struct data right_all = merged((const char *const[]){ name[4], name[0] }, 2);
	OK(same(all, left_all) && same(all, right_all));
	struct data none[] = { all, turned, left, left_all, right, right_all };
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		free(none[i].at);
}

/* ---- recordings ---- */

static struct kinfile_writer_opts recorder(void)
{
	return (struct kinfile_writer_opts){
		.writer = KINF_BY_RECORDER, .pid = 7, .start_ns = 1000, .period_ns = 1000000
	};
}

struct recording {
	struct kinfile_writer *w;
	uint16_t event;
	uint32_t task, module[3];
	uint64_t now;
};

static struct recording begin(const char *path, const struct kinfile_writer_opts *o)
{
	struct recording r = { .now = 5000000000 };
	OK(good(kinfile_writer_open(path, o, &r.w)));
	r.event = (uint16_t)kinfile_writer_event(r.w, "task-clock", KINF_NS, 1000000, 0);
	r.task = kinfile_writer_task(r.w, 7, 8, 0, "prog");
	for (uint8_t i = 0; i < 3; i++)
		r.module[i] = kinfile_writer_module(r.w, KINF_ELF, i == 0,
						    i ? "/lib/a.so" : "/bin/prog", &i, 1);
	return r;
}

/* Deep and alike, as stacks are. */
static void record(struct recording *r, uint32_t depth, uint32_t spread)
{
	struct kinfile_frame frames[200];
	struct sample s = { .event = r->event, .task = r->task, .weight = 1000000, .count = 1 };
	for (uint32_t i = 0; i < depth; i++)
		frames[i] = (struct kinfile_frame){ .addr = 0x1000 + i * 64 +
							    (i < 4 ? pick(spread) : 0),
						    .module = r->module[i % 3],
						    .flags = i ? KINF_FRAME_RETURN : 0 };
	r->now += 990000 + pick(20000);
	s.time_ns = r->now;
	s.cpu = (uint16_t)pick(2);
	s.stack = kinfile_writer_stack(
		r->w, &(struct kinfile_stack){ .frames = frames, .n_frames = depth });
	kinfile_writer_sample(r->w, &s, KINF_MODE_COMPLETE, NULL);
}

/* All that a sample may say, and how it comes back. */
static void details_come_back(void)
{
	const char *path = path_of("details.kin");
	const struct kinfile_writer_opts o = recorder();
	struct recording r = begin(path, &o);
	/* Registers from 1 on, two branches of four words each from 5 on. */
	uint64_t words[] = { 0, 2, 1u << 3 | 1u << 8, 7, UINT64_MAX, 2, 1, 2, 3, 0, 4, 5, 6, 0 };
	struct detail d = { .has = DETAIL_ADDR | DETAIL_DATA_SRC | DETAIL_DATA_PAGE |
				   DETAIL_CODE_PAGE | DETAIL_CGROUP | DETAIL_NAMESPACE,
			    .addr = 0x601000,
			    .phys_addr = 1,
			    .data_src = 2,
			    .weight = 3,
			    .ins_lat = 4,
			    .p_stage_cyc = 7,
			    .transaction = 5,
			    .data_page_size = 4096,
			    .code_page_size = 2 << 20,
			    .cgroup_device = 6,
			    .cgroup_inode = 7,
			    .interrupt_registers = 1,
			    .branches = 5 };
	struct taken_branch taken = { .from = 4, .to = 5, .flags = 6 };
	struct kinfile_frame place = { .addr = 0x1234, .module = r.module[0] };
	bool failed;

	d.cgroup = kinfile_writer_string(r.w, "/system.slice", 13);
	d.register_names = kinfile_writer_string(r.w, "AX BX CX DX", 11);
	d.target = taken.target = kinfile_writer_frame(r.w, &place);
	_Static_assert(sizeof(taken) == 4 * sizeof(*words), "of four words");
	memcpy(words + ARRAY_LEN(words) - 4, &taken, sizeof(taken));
	struct sample s = { .event = r.event, .task = r.task, .count = 1 };
	struct kinfile_beside beside = { .words = words };
	for (uint32_t i = 0; i < 9000; i++) { /* more than a block */
		s.time_ns = ++r.now;
		beside.details = i % 3 ? &d : NULL;
		kinfile_writer_sample(r.w, &s, 0, &beside);
	}
	OK(good(kinfile_writer_close(r.w, KINF_EXITED, 0, r.now)));
	struct profile *p = read_file(path, &failed);
	size_t n = 0, bad = 0;
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct detail *x = sample_detail(&p->samples, &p->samples.at[i]);
		n += x->has != 0;
		bad += (x->has != 0) != (i % 3 != 0);
	}
	OK(!failed && n == 6000 && !bad);
	struct data merged = written(p);
	struct profile *q = read_bytes(merged.at, merged.n, &failed);
	for (n = 0, bad = 0; bad < q->samples.n; bad++)
		n += sample_detail(&q->samples, &q->samples.at[bad])->branches != 0;
	OK(!failed && n == 6000);
	profile_free(q);
	free(merged.at);
	const struct detail *x = sample_detail(&p->samples, &p->samples.at[1]);
	OK(x->addr == 0x601000 && x->phys_addr == 1 && x->data_src == 2 && x->weight == 3);
	OK(x->ins_lat == 4 && x->p_stage_cyc == 7 && x->transaction == 5);
	OK(x->data_page_size == 4096 && x->code_page_size == 2 << 20);
	OK(x->cgroup_device == 6 && x->cgroup_inode == 7);
	OK_STR(strtab_get(p->strings, x->cgroup), "/system.slice");
	OK_STR(strtab_get(p->strings, x->register_names), "AX BX CX DX");
	struct detail_registers regs = detail_registers(p->samples.words, x->interrupt_registers);
	OK(regs.abi == 2 && regs.mask == (1u << 3 | 1u << 8) && regs.values[1] == UINT64_MAX);
	const struct taken_branch *b = detail_branches(p->samples.words, x, &n);
	OK(n == 2 && b[0].to == 2 && !b[0].target && b[1].flags == 6);
	OK(p->samples.frames[b[1].target].addr == 0x1234 && x->target == b[1].target);
	profile_free(p);
}

/* A certain frame, the mark, and callers that are a guess. */
static void a_guess_is_marked(void)
{
	const char *path = path_of("guess.kin"), *copy = path_of("guess-copy.kin");
	struct kinfile_writer_opts o = recorder();
	struct recording r = begin(path, &o);
	uint32_t name = kinfile_writer_string(r.w, MARK_GUESSED, strlen(MARK_GUESSED));
	const struct kinfile_frame frames[] = {
		{ .addr = 0x1000, .module = r.module[0] },
		{ .name = name, .flags = KINF_FRAME_MARK | KINF_FRAME_GUESSED },
		{ .addr = 0x2000,
		  .module = r.module[0],
		  .flags = KINF_FRAME_RETURN | KINF_FRAME_GUESSED },
	};
	struct sample s = { .event = r.event, .task = r.task, .weight = 1, .count = 1 };
	bool failed;
	s.stack = kinfile_writer_stack(r.w,
				       &(struct kinfile_stack){ .frames = frames, .n_frames = 3 });
	kinfile_writer_sample(r.w, &s, KINF_MODE_GUESSED, NULL);
	OK(good(kinfile_writer_close(r.w, KINF_EXITED, 0, r.now)));
	struct profile *p = read_file(path, &failed);
	OK(!failed && p->samples.audit.guessed == 1 && !p->samples.audit.complete);
	OK(good(kinfile_write_profile(copy, p, NULL)));
	profile_free(p);

	p = read_file(copy, &failed);
	const struct samples *all = &p->samples;
	OK(!failed && all->n == 1 && all->audit.guessed == 1);
	const struct stack *mark = &all->stacks[all->stacks[all->at[0].stack].caller];
	const struct frame *above = &all->frames[all->stacks[mark->caller].frame];
	OK(all->frames[mark->frame].flags == (FRAME_MARK | FRAME_GUESSED));
	OK_STR(strtab_get(p->strings, all->frames[mark->frame].name), MARK_GUESSED);
	OK(above->addr == 0x2000 && above->flags == (FRAME_RETURN | FRAME_GUESSED));
	profile_free(p);
}

static void a_recording_can_be_read_at_any_time(void)
{
	const char *path = path_of("live.kin");
	struct kinfile_writer_opts o = recorder();
	struct recording r = begin(path, &o);
	struct stat st;
	bool failed;

	struct profile *p = read_file(path, &failed);
	OK(!failed && !p->samples.n);
	OK(!stat(path, &st) && (st.st_mode & 0777) == 0600);
	profile_free(p);
	for (int i = 0; i < 100; i++)
		record(&r, 20, 3);
	OK(good(kinfile_writer_tick(r.w, 2000, NULL)));
	p = read_file(path, &failed);
	OK(!failed && !p->samples.n); /* not a second old */
	profile_free(p);
	OK(good(kinfile_writer_tick(r.w, r.now, NULL)));
	p = read_file(path, &failed);
	OK(!failed && p->samples.n == 100 && weight_of(p) == 100000000);
	OK(p->samples.audit.complete == 100 && p->samples.tasks[1].sampled_ns == 100000000);
	profile_free(p);
	for (int i = 0; i < 100; i++)
		record(&r, 20, 3);
	kinfile_writer_abandon(r.w); /* as if killed */
	p = read_file(path, &failed);
	OK(!failed && p->samples.n == 100);
	OK(p->n_objects == 4 && p->objects[1].is_main && p->samples.n_tasks == 2);
	profile_free(p);
}

static void samples_are_small(void)
{
	const char *path = path_of("size.kin");
	struct kinfile_writer_opts o = recorder();
	struct recording r = begin(path, &o);
	enum { N = 100000 };
	bool failed;

	for (int i = 0; i < N; i++)
		record(&r, 60, 4);
	kinfile_writer_lost(r.w, KINF_LOST_SAMPLES, 3);
	OK(kinfile_writer_samples(r.w) == N);
	OK(good(kinfile_writer_close(r.w, KINF_STOPPED, 0, r.now)));
	struct data d = slurp(path);
	printf("# %zu bytes a sample\n", d.n / N);
	OK(d.n / N < 20);
	struct profile *p = read_file(path, &failed);
	OK(!failed && p->samples.n == N && p->samples.audit.lost == 3);
	OK(p->samples.audit.sampled_ns == (uint64_t)N * 1000000);
	const struct samples *s = &p->samples;
	uint32_t depth = 0;
	for (stackid k = s->at[N - 1].stack; k; k = s->stacks[k].caller)
		depth++;
	OK(depth == 60);
	OK(s->frames[s->stacks[s->at[N - 1].stack].frame].flags == 0);
	profile_free(p);
	free(d.at);
}

static void what_is_interned_is_bounded(void)
{
	struct kinfile_writer_opts o = recorder();
	struct recording r, whole;
	bool forgot, failed;
	int times = 0;
	uint32_t start = seed;

	whole = begin(path_of("whole.kin"), &o);
	for (int i = 0; i < 20000; i++)
		record(&whole, 12, 50);
	OK(good(kinfile_writer_close(whole.w, KINF_STOPPED, 0, 1)));
	o.memory = 100000;
	r = begin(path_of("bounded.kin"), &o);
	seed = start;
	for (int i = 0; i < 20000; i++) {
		record(&r, 12, 50);
		if (i % 1000 == 0) {
			OK(good(kinfile_writer_tick(r.w, r.now, &forgot)));
			times += forgot;
		}
	}
	OK(good(kinfile_writer_close(r.w, KINF_STOPPED, 0, 1)));
	OK(times > 5);
	struct profile *p = read_file(path_of("bounded.kin"), &failed);
	struct data one = written(p);
	profile_free(p);
	p = read_file(path_of("whole.kin"), &failed);
	struct data two = written(p);
	profile_free(p);
	OK(!failed && one.n > 10000 && same(one, two));
	free(one.at);
	free(two.at);
}

static void a_full_disk_leaves_a_good_file(void)
{
	struct rlimit old, few = { 200000, 200000 };
	struct kinfile_writer_opts o = recorder();
	const char *path = path_of("full.kin");
	bool failed;

	struct recording r = begin(path, &o);
	getrlimit(RLIMIT_FSIZE, &old);
	few.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	struct kin_error *err = NULL;
	int n = 0;
	for (; !err && n < 100000; n++) {
		record(&r, 40, 60);
		err = kinfile_writer_tick(r.w, r.now, NULL);
	}
	OK(err && n < 100000);
	kin_error_free(err);
	uint64_t added = kinfile_writer_samples(r.w);
	err = kinfile_writer_close(r.w, KINF_STOPPED, 0, 1);
	setrlimit(RLIMIT_FSIZE, &old);
	OK(err != NULL);
	kin_error_free(err);
	struct profile *p = read_file(path, &failed);
	OK(!failed && p->samples.n == added && added > 100);
	OK(p->samples.audit.lost == (uint64_t)n - added);
	profile_free(p);
}

static void others_files_are_left_alone(void)
{
	struct kinfile_writer_opts o = recorder();
	struct kinfile_writer *w;
	const char *path = path_of("letter.txt");
	FILE *f = fopen(path, "w");
	fputs("dear reader", f);
	fclose(f);
	struct kin_error *err = kinfile_writer_open(path, &o, &w);
	OK(err && strstr(kin_error_message(err), "is not a recording"));
	kin_error_free(err);
	err = kinfile_writer_open("/dev/null", &o, &w);
	OK(err != NULL);
	kin_error_free(err);
	struct recording r = begin(path_of("live.kin"), &o); /* a recording that was there */
	OK(good(kinfile_writer_close(r.w, KINF_STOPPED, 0, 1)));
}

/* ---- damage ---- */

static struct data small_recording(void)
{
	struct kinfile_writer_opts o = recorder();
	struct recording r = begin(path_of("small.kin"), &o);
	kinfile_writer_info(r.w, "host", "here");
	for (int i = 0; i < 600; i++) {
		record(&r, 10, 20);
		if (i % 100 == 99)
			OK(good(kinfile_writer_flush(r.w)));
	}
	OK(good(kinfile_writer_close(r.w, KINF_STOPPED, 0, r.now)));
	return slurp(path_of("small.kin"));
}

static void every_cut_is_told(void)
{
	struct data d = small_recording();
	size_t untold = 0, too_many = 0, last = 0, fewer = 0;
	bool failed;
	for (size_t n = 0; n < d.n; n += n < 4100 ? 61 : 1) {
		struct profile *p = read_bytes(d.at, n, &failed);
		untold += !failed;
		too_many += p->samples.n > 600;
		fewer += p->samples.n < last;
		last = p->samples.n;
		profile_free(p);
	}
	OK(!untold && !too_many && !fewer && last == 500);
	free(d.at);
}

static void every_flipped_bit_is_told(void)
{
	struct data d = small_recording();
	size_t untold = 0, kept = 0;
	bool failed;
	for (int i = 0; i < 6000; i++) {
		size_t bit = i < 8 * 512 ? (size_t)i : pick((uint32_t)d.n * 8);
		d.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
		struct profile *p = read_bytes(d.at, d.n, &failed);
		if (!failed && untold++ < 5)
			printf("# bit %zu of byte %zu\n", bit % 8, bit / 8);
		kept += p->samples.n >= 500 || bit / 8 < 4096;
		profile_free(p);
		d.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	OK(!untold);
	printf("# %zu of 6000 cost one block at most\n", kept);
	OK(kept > 4000);
	free(d.at);
}

/* ---- the runtime's files, as kin/format.h has them ---- */

struct image {
	VEC(uint8_t) bytes;
};

static void put(struct image *m, const void *at, size_t n)
{
	vec_reserve(&m->bytes, n);
	memcpy(m->bytes.at + m->bytes.n, at, n);
	m->bytes.n += n;
}

static void put_block(struct image *m, uint32_t type, uint32_t thread, const void *at, size_t n,
		      size_t room)
{
	static const uint8_t zeros[4096];
	struct kinf_block b = { .magic = KINF_BLOCK_MAGIC, .type = type, .used = n };
	b.size = sizeof(b) + n + room;
	b.thread = thread;
	put(m, &b, sizeof(b));
	put(m, at, n);
	put(m, zeros, room);
}

static void put_module(struct image *m, struct kinf_module r, const char *path)
{
	uint64_t zero = 0;
	r.path_size = (uint16_t)strlen(path);
	r.build_id_size = 2;
	r.size = (uint32_t)(sizeof(r) + (strlen(path) + 7) / 8 * 8 + 8);
	put(m, &r, sizeof(r));
	put(m, path, strlen(path));
	put(m, &zero, (8 - strlen(path) % 8) % 8);
	put(m, "\xab\xcd\0\0\0\0\0\0", 8);
}

static struct image runtime_image(void)
{
	struct image m = { 0 }, modules = { 0 }, stacks = { 0 };
	struct kinf_header h = { .magic = KINF_MAGIC,
				 .machine = EM_X86_64,
				 .version = 1,
				 .page = KINF_PAGE,
				 .writer = KINF_BY_RUNTIME,
				 .pid = 42,
				 .period_ns = 1000000,
				 .cpu_ns = 77,
				 .losses = { 1, 2, 0, 3, 4, 5 } };
	static const uint8_t page[KINF_PAGE - sizeof(h)];

	put_module(&modules,
		   (struct kinf_module){ .id = 1,
					 .start = 0x10000,
					 .end = 0x20000,
					 .bias = 0x10000,
					 .unmapped_at = UINT32_MAX,
					 .flags = KINF_MODULE_MAIN },
		   "/bin/prog");
	put_module(&modules,
		   (struct kinf_module){ .id = 2,
					 .start = 0x30000,
					 .end = 0x40000,
					 .bias = 0x30000,
					 .unmapped_at = 1 },
		   "/lib/old.so");
	put_module(&modules,
		   (struct kinf_module){ .id = 3,
					 .start = 0x30000,
					 .end = 0x48000,
					 .bias = 0x2f000,
					 .mapped_at = 1,
					 .unmapped_at = UINT32_MAX },
		   "/lib/new.so");
	struct kinf_thread threads[3] = { { .index = 1, .tid = 42, .name = "main", .cpu_ns = 9 },
					  { .index = 2, .tid = 43, .name = "other" } };
	struct kinf_call calls[5] = {
		{ 0 },
		{ .key = kinf_call_key(0x10105, 0x30200), .to_high = 0x30200 >> 16, .count = 6 },
		{ .key = KINF_CALL_GONE, .to_high = 1, .count = 1 },
		{ .key = KINF_CALL_TAKEN, .to_high = 1, .count = 1 },
		{ .key = kinf_call_key(0x10105, 0x10300), .to_high = 1 },
	};
	struct kinf_arc arcs[3] = { { .from = 0x10105, .count = 1 },
				    { .from = 0, .to = 0x10400, .count = 1 },
				    { .from = 0x20000, .to = 0x10400, .count = 2 } };
	struct kinf_retired_arc retired[1] = {
		{ .from = 0x105, .to = 0x200, .count = 4, .from_module = 1, .to_module = 2 }
	};
	struct kinf_count counts[2] = { { .addr = 0x10010, .count = 8 }, { 0 } };
	struct kinf_latency latency = { .from = 0x10105,
					.to = 0x30200,
					.count = 6,
					.sum_ns = 60,
					.min_ns = 5,
					.max_ns = 20,
					.bucket = { [10] = 6 } };
	struct kinf_retired_count retired_counts[2] = { { .addr = 0x20, .count = 5, .module = 2 },
							{ 0 } };
	struct kinf_retired_latency retired_latency = { .from_module = 1,
							.to_module = 2,
							.of = { .from = 0x105,
								.to = 0x200,
								.count = 2,
								.sum_ns = 30,
								.bucket = { [15] = 2 } } };
	struct kinf_stack stack = {
		.depth = 2, .epoch = 0, .end = KINF_STACK_COMPLETE, .count = 3, .weight_ns = 3000000
	};
	uint64_t pcs[2] = { 0x30200, 0x10105 };
	put(&stacks, &stack, sizeof(stack));
	put(&stacks, pcs, sizeof(pcs));
	stack.epoch = 1;
	stack.end = KINF_STACK_CUT;
	put(&stacks, &stack, sizeof(stack));
	put(&stacks, pcs, sizeof(pcs));

	put(&m, &h, sizeof(h));
	put(&m, page, sizeof(page));
	put_block(&m, KINF_CALLS, 2, calls, sizeof(calls), 64);
	put_block(&m, KINF_ARCS, 2, arcs, sizeof(arcs), 0);
	put_block(&m, KINF_RETIRED_ARCS, 1, retired, sizeof(retired), 0);
	put_block(&m, KINF_STACKS, 1, stacks.bytes.at, stacks.bytes.n, 1024);
	put_block(&m, KINF_COUNTS, 1, counts, sizeof(counts), 0);
	put_block(&m, KINF_LATENCIES, 1, &latency, sizeof(latency), 0);
	put_block(&m, KINF_RETIRED_COUNTS, 0, retired_counts, sizeof(retired_counts), 0);
	put_block(&m, KINF_RETIRED_LATENCIES, 0, &retired_latency, sizeof(retired_latency), 0);
	put_block(&m, KINF_INFO, 0, "host=here\nexe=/bin/prog\n", 24, 0);
	put_block(&m, KINF_INFO, 0, "", 0, 128);
	put_block(&m, KINF_MODULES, 0, modules.bytes.at, modules.bytes.n, 64);
	put_block(&m, KINF_THREADS, 0, threads, sizeof(threads), 96);
	put(&m, page, 1024); /* not used yet */
	vec_free(&modules.bytes);
	vec_free(&stacks.bytes);
	return m;
}

static const char *object_name(const struct profile *p, objid o)
{
	return strtab_get(p->strings, p->objects[o].path);
}

static void arcs_of_the_runtime(const struct profile *p)
{
	OK(p->n_arcs == 4);
	OK(arc_at(&p->arcs, 0).from == 0x104 && arc_at(&p->arcs, 0).to == 0x1200 &&
	   arc_at(&p->arcs, 0).count == 6);
	OK_STR(object_name(p, arc_at(&p->arcs, 0).from_object), "/bin/prog");
	OK_STR(object_name(p, arc_at(&p->arcs, 0).to_object), "/lib/new.so");
	OK(arc_at(&p->arcs, 1).from == 0 && arc_at(&p->arcs, 1).from_object == 0 &&
	   arc_at(&p->arcs, 1).to == 0x400);
	/* The call was the last instruction of the module. */
	OK(arc_at(&p->arcs, 2).from == 0xffff &&
	   arc_at(&p->arcs, 2).from_object == arc_at(&p->arcs, 0).from_object);
	OK(arc_at(&p->arcs, 3).from == 0x104 && arc_at(&p->arcs, 3).to == 0x200 &&
	   arc_at(&p->arcs, 3).count == 4);
	OK_STR(object_name(p, arc_at(&p->arcs, 3).to_object), "/lib/old.so");
	OK(p->samples.n_task_arcs == 4);
	OK(p->samples.tasks[p->samples.task_arcs[0].task].tid == 43);
	OK(p->samples.n_latencies == 2 && p->samples.latencies[0].from == 0x104);
	const struct latency *gone = &p->samples.latencies[1];
	OK(gone->from == 0x104 && gone->to == 0x200 && gone->count == 2 && gone->bucket[15] == 2);
	OK_STR(object_name(p, gone->to_object), "/lib/old.so");
	OK(p->samples.latencies[0].bucket[10] == 6);
	OK(p->n_blocks == 2 && p->blocks[0].addr == 0x10 - 5 && p->blocks[0].count == 8);
	OK(p->blocks[1].addr == 0x20 - 5 && p->blocks[1].count == 5);
	OK_STR(object_name(p, p->blocks[1].object), "/lib/old.so");
}

static void stacks_of_the_runtime(const struct profile *p)
{
	const struct samples *s = &p->samples;
	OK(s->n == 2 && s->at[0].count == 3 && s->at[0].weight == 3000000);
	const struct frame *leaf = &s->frames[s->stacks[s->at[0].stack].frame];
	OK(leaf->addr == 0x200 && leaf->flags == 0);
	OK_STR(object_name(p, leaf->object), "/lib/old.so");
	leaf = &s->frames[s->stacks[s->at[1].stack].frame];
	OK(leaf->addr == 0x1200);
	OK_STR(object_name(p, leaf->object), "/lib/new.so");
	const struct stack *caller = &s->stacks[s->stacks[s->at[0].stack].caller];
	OK(s->frames[caller->frame].addr == 0x105);
	OK(s->frames[caller->frame].flags == FRAME_RETURN && !caller->caller);
	caller = &s->stacks[s->stacks[s->at[1].stack].caller];
	const struct frame *mark = &s->frames[s->stacks[caller->caller].frame];
	OK(caller->caller && mark->flags == FRAME_MARK); /* cut */
	OK_STR(strtab_get(p->strings, mark->name), MARK_CUT);
	OK(s->n_events == 1 && s->events[0].unit == EVENT_NS && s->events[0].period == 1000000);
	OK(s->audit.complete == 3 && s->audit.truncated == 3);
	OK(s->audit.lost_arcs == 1 && s->audit.lost == 2 && s->audit.lost_blocks == 3);
	OK(s->audit.lost_threads == 4 && s->audit.lost_modules == 5 && s->audit.cpu_ns == 77);
	OK(s->tasks[s->at[0].task].tid == 42 && s->tasks[s->at[0].task].cpu_ns == 9);
}

/* A sample whose callers were not found, as kin 0.1.0 wrote it. */
static void a_leaf_alone_is_cut_if_callers_were_lost(void)
{
	struct image m = runtime_image();
	struct kinf_stack cut = {
		.depth = 2, .epoch = 1, .end = KINF_STACK_CUT, .count = 3, .weight_ns = 3000000
	};
	struct kinf_stack *at = memmem(m.bytes.at, m.bytes.n, &cut, sizeof(cut));
	struct kinf_header *h = (struct kinf_header *)(void *)m.bytes.at;
	bool failed;
	OK(at);
	at->end = KINF_STACK_LEAF_ONLY;
	for (uint64_t lost = 0; lost < 2; lost++) {
		h->losses[KINF_LOST_STACKS] = lost;
		struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
		bool has_mark = false;
		for (uint32_t i = 0; i < p->samples.n_frames; i++)
			has_mark |= p->samples.frames[i].flags & FRAME_MARK;
		OK(!failed && has_mark == (lost > 0));
		profile_free(p);
	}
	vec_free(&m.bytes);
}

/* Time in the runtime's code is no function's of the program; that in hooks is subtracted. */
static void the_runtimes_own_work_is_one_row(void)
{
	struct image m = runtime_image();
	struct kinf_header *h = (struct kinf_header *)(void *)m.bytes.at;
	bool failed;
	for (int hook = 0; hook < 2; hook++) {
		h->own_start = 0x30200; /* both stacks' innermost frame */
		h->own_end = 0x30300;
		h->hooks_start = hook ? 0x30200 : 0x30201;
		h->hooks_end = 0x30300;
		struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
		const struct samples *s = &p->samples;
		OK(!failed && weight_of(p) == 6000000);
		for (size_t i = 0; i < s->n; i++) {
			const struct stack *at = &s->stacks[s->at[i].stack];
			bool is_row = !strcmp(strtab_get(p->strings, s->frames[at->frame].name),
					      NAME_PROFILER);
			OK(is_row == !hook && !at->caller == !hook);
		}
		profile_free(p);
	}
	h->own_end = 0x30200; /* the other functions stay as they are */
	struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
	OK(p->samples.frames[p->samples.stacks[p->samples.at[0].stack].frame].addr == 0x200);
	profile_free(p);
	vec_free(&m.bytes);
}

/* The outer of two frames was interrupted: its address is exact, and the other one's is the code by
 * which the handler returns. */
static void what_a_signal_interrupted_is_marked(void)
{
	struct image m = runtime_image();
	uint64_t pcs[2] = { 0x30200, 0x10105 },
		 *at = memmem(m.bytes.at, m.bytes.n, pcs, sizeof(pcs));
	bool failed;
	at[1] |= KINF_PC_INTERRUPTED;
	struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
	struct data d = written(p);
	struct profile *q = read_bytes(d.at, d.n, &failed); /* sums keep it */
	for (int i = 0; i < 2; i++) {
		const struct samples *s = &(i ? q : p)->samples;
		size_t marked = 0, exact = 0;
		for (size_t k = 1; k < s->n_stacks; k++) {
			const struct frame *f = &s->frames[s->stacks[k].frame];
			const struct frame *caller =
				&s->frames[s->stacks[s->stacks[k].caller].frame];
			if (!(f->flags & FRAME_SIGNAL))
				continue;
			marked++;
			exact += f->addr == 0x200 && caller->addr == 0x105 && !caller->flags;
		}
		OK(!failed && marked == 1 && exact == 1);
	}
	free(d.at);
	profile_free(q);
	profile_free(p);
	vec_free(&m.bytes);
}

static void the_runtimes_files_are_read(void)
{
	struct image m = runtime_image();
	bool failed;
	struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
	OK(!failed);
	arcs_of_the_runtime(p);
	stacks_of_the_runtime(p);
	bool host = false;
	for (size_t i = 0; i < p->n_facts; i++)
		host |= !strcmp(strtab_get(p->strings, p->facts[i].name), "host") &&
			!strcmp(strtab_get(p->strings, p->facts[i].value), "here");
	OK(host);
	struct data one = written(p);
	struct profile *q = read_bytes(one.at, one.n, &failed);
	struct data two = written(q);
	OK(!failed && same(one, two) && q->n_arcs == 4 && weight_of(q) == weight_of(p));
	free(one.at);
	free(two.at);
	profile_free(q);
	profile_free(p);

	for (size_t n = 0; n <= m.bytes.n; n += n < 4000 ? 500 : 1) {
		p = read_bytes(m.bytes.at, n, &failed);
		if (p->samples.n > 2 || (n < 4096 && !failed))
			break;
		profile_free(p);
		p = NULL;
	}
	OK(!p);
	for (int i = 0; i < 20000; i++) { /* must not crash, whatever the result */
		size_t at = pick((uint32_t)m.bytes.n);
		uint8_t old = m.bytes.at[at];
		m.bytes.at[at] = (uint8_t)pick(256);
		profile_free(read_bytes(m.bytes.at, m.bytes.n, &failed));
		if (pick(3))
			m.bytes.at[at] = old;
	}
	vec_free(&m.bytes);
}

/* doc/kin-format.md, byte for byte. */
static void the_documented_example_is_read(void)
{
	static const uint8_t records[] = {
		0x05, 0x01, 0x0a, 't',  'a',  's',  'k',  '-',  'c',  'l',  'o',  'c',  'k',  0xc0,
		0x84, 0x3d, 0x00, 0x04, 0x07, 0x07, 0x00, 0x04, 'p',  'r',  'o',  'g',  0x01, 0x40,
		0x09, '/',  'b',  'i',  'n',  '/',  'p',  'r',  'o',  'g',  0x00, 0x02, 0x01, 0xa6,
		0x20, 0x00, 0x01, 0x02, 0x01, 0x80, 0x22, 0x00, 0x00, 0x03, 0x00, 0x01, 0x03, 0x01,
		0x02, 0x07, 0x01, 0x01, 0x02, 0x01, 0x80, 0x89, 0x7a, 0xc0, 0x84, 0x3d, 0x80, 0x01,
	};
	static const uint8_t page[KINF_PAGE];
	struct kinf_header h = {
		.magic = KINF_MAGIC, .version = 1, .page = KINF_PAGE, .writer = 1
	};
	struct image m = { 0 };
	bool failed;

	put(&m, &h, sizeof(h));
	put(&m, page, sizeof(page) - sizeof(h));
	put_block(&m, KINF_STREAM, 0, records, sizeof(records), 8 - sizeof(records) % 8);
	struct profile *p = read_bytes(m.bytes.at, m.bytes.n, &failed);
	const struct samples *s = &p->samples;
	OK(!failed && s->n == 1 && s->at[0].weight == 1000000 && s->at[0].time_ns == 1000000);
	OK(s->at[0].cpu == 0 && s->audit.complete == 1);
	const struct stack *leaf = &s->stacks[s->at[0].stack];
	OK(s->frames[leaf->frame].addr == 0x1100 && s->frames[leaf->frame].flags == 0);
	OK(s->frames[s->stacks[leaf->caller].frame].addr == 0x1026);
	OK(s->frames[s->stacks[leaf->caller].frame].flags == FRAME_RETURN);
	OK_STR(object_name(p, s->frames[leaf->frame].object), "/bin/prog");
	OK_STR(strtab_get(p->strings, s->tasks[s->at[0].task].comm), "prog");
	profile_free(p);
	vec_free(&m.bytes);
}

/* Does not compile if two kinds of records have one number, nor if one is missing here. */
static bool is_record(enum kinf_record kind)
{
	switch (kind) {
	case KINF_R_MODULE:
	case KINF_R_FRAME:
	case KINF_R_STACK:
	case KINF_R_TASK:
	case KINF_R_EVENT:
	case KINF_R_STRING:
	case KINF_R_SAMPLE:
	case KINF_R_SWITCH:
	case KINF_R_TASK_END:
	case KINF_R_LOSS:
	case KINF_R_UNWIND:
	case KINF_R_INFO:
	case KINF_R_FIRST_ID:
	case KINF_R_ARC:
	case KINF_R_COUNT:
	case KINF_R_LATENCY:
	case KINF_R_HISTOGRAM:
	case KINF_R_TASK_TIMES:
	case KINF_R_TRACE_FORMAT:
	case KINF_R_TRACE_FIELDS:
	case KINF_R_TRACE_FUNCTION:
	case KINF_R_TRACE_STRINGS:
	case KINF_R_HEADER:
	case KINF_R_RANK_TASK:
	case KINF_R_RANKS:
	case KINF_R_SPREAD:
	case KINF_R_PROBES:
	case KINF_R_TRACE_TEXT:
	case KINF_R_MARKER:
	case KINF_R_AUDIT:
	case KINF_R_DETAILS:
		return true;
	}
	return false;
}

/* The runtime has no words for the system's errors. */
static void errors_have_words(void)
{
	static const struct {
		const char *error, *said;
	} cases[] = { { "gmon.out: error 40", "gmon.out: Too many levels of symbolic links" },
		      { "gmon.out: error 4x", "gmon.out: error 4x" },
		      { "no room for more", "no room for more" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kinf_header h = { 0 };
		snprintf(h.error, sizeof(h.error), "%s", cases[i].error);
		char *said = kinfile_trouble(&h);
		OK_STR(said, cases[i].said);
		free(said);
	}
	OK(!kinfile_trouble(&(struct kinf_header){ 0 }));
}

int main(void)
{
	errors_have_words();
	OK(is_record(KINF_R_MODULE) && !is_record((enum kinf_record)0));
	OK(crc32c(0, "123456789", 9) == 0xe3069283);
	OK(crc32c(crc32c(0, "12345", 5), "6789", 4) == 0xe3069283);
	if (!mkdtemp(folder))
		return 1;
	what_is_written_is_read();
	merging_is_associative_and_commutative();
	details_come_back();
	a_guess_is_marked();
	a_recording_can_be_read_at_any_time();
	samples_are_small();
	what_is_interned_is_bounded();
	a_full_disk_leaves_a_good_file();
	others_files_are_left_alone();
	every_cut_is_told();
	every_flipped_bit_is_told();
	the_runtimes_files_are_read();
	the_runtimes_own_work_is_one_row();
	what_a_signal_interrupted_is_marked();
	a_leaf_alone_is_cut_if_callers_were_lost();
	the_documented_example_is_read();
	char *command = NULL;
	if (asprintf(&command, "rm -r %s", folder) > 0)
		OK(system(command) == 0);
	free(command);
	return DONE();
}

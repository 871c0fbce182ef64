/* test_same_sums.c - random measurements give the same canonical profile in whatever order and in
 * however many parts they are added; and a part of a profile has exactly the measurements that a
 * linear search selects. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/detail.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/spreads.h"

enum { ITEMS = 60, ROUNDS = 600, DEPTH = 4, FRAMES = 9, OBJECTS = 4, TASKS = 5, EVENTS = 4 };

static uint64_t state = 1;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* ---- measurements ---- */

enum item_kind {
	AN_ARC,
	A_TASK_ARC,
	A_BLOCK,
	A_SAMPLE,
	A_FACT,
	A_MARKER,
	A_LATENCY,
	A_FAILURE,
	A_HIT,
	A_LOSS,
	N_KINDS
};

struct item {
	enum item_kind kind;
	uint32_t object, other, task, event, name, time, cpu, depth, path[DEPTH];
	uint64_t from, to, count;
	uint32_t detail, of_detail[4]; /* 0: none; which, and with which values */
};

static const char *const paths[OBJECTS] = { "", "/lib/b.so", "/bin/a", "/lib/b.so" };
static const char *const ids[OBJECTS] = { "", "01", "", "02" };
static const struct task tasks[TASKS] = { { 0 },
					  { .pid = 7, .tid = 7 },
					  { .pid = 7, .tid = 8 },
					  { .pid = 7, .tid = 8, .run = 1 },
					  { .pid = 7, .tid = 8, .rank = 2 } };
static const char *const comms[TASKS] = { "", "prog", "io", "io", "io" };
static const char *const events[EVENTS] = { "clock", "faults", "clock", "clock" };
static const enum event_unit units[EVENTS] = { EVENT_NS, EVENT_COUNT, EVENT_COUNT, EVENT_NS };
static const enum event_kind kinds[EVENTS] = { [3] = EVENT_BLOCKED };
static const char *const facts[] = { FACT_PROGRAM, FACT_JOB, FACT_TROUBLE };
static const char *const values[] = { "x", "a b", "" };
static const struct frame frames[FRAMES] = {
	{ 0 },
	{ .addr = 16, .object = 1 },
	{ .addr = 16, .object = 2, .flags = FRAME_RETURN },
	{ .addr = 16, .object = 2 },
	{ .addr = 99, .object = 3 },
	{ .addr = 8, .object = 1 },
	{ .flags = FRAME_RETURN },
	{ .flags = FRAME_RETURN },
	{ .addr = 16, .object = 3 },
};
static const char *const frame_names[FRAMES] = { [6] = "made", [7] = "by" };

enum { N_DETAILS = 10 };

static struct item random_item(void)
{
	uint32_t kind = pick(2 * N_KINDS); /* half of them samples: these say most */
	struct item x = { .kind = kind < N_KINDS ? (enum item_kind)kind : A_SAMPLE,
			  .object = pick(OBJECTS),
			  .other = pick(OBJECTS),
			  .task = pick(TASKS),
			  .event = pick(EVENTS),
			  .name = pick(3),
			  .time = pick(3),
			  .cpu = pick(2),
			  .depth = pick(DEPTH + 1),
			  .from = pick(3),
			  .to = pick(3),
			  .count = 1 + pick(9),
			  .detail = pick(2) ? 0 : pick(N_DETAILS) };
	for (size_t i = 0; i < ARRAY_LEN(x.of_detail); i++)
		x.of_detail[i] = pick(3);
	for (uint32_t i = 0; i < x.depth; i++)
		x.path[i] = 1 + pick(FRAMES - 1);
	return x;
}

/* Another one but for one thing, so that nothing else tells the two apart. */
static struct item near(struct item x)
{
	const struct item y = random_item();
	uint32_t level = x.depth ? pick(x.depth) : 0;
	switch (pick(12)) {
	case 0:
		x.object = y.object;
		break;
	case 1:
		x.other = y.other;
		break;
	case 2:
		x.task = y.task;
		break;
	case 3:
		x.event = y.event;
		break;
	case 4:
		x.name = y.name;
		break;
	case 5:
		x.time = y.time;
		break;
	case 6:
		x.cpu = y.cpu;
		break;
	case 7:
		x.path[level] = 1 + pick(FRAMES - 1);
		break;
	case 8:
		x.from = y.from;
		break;
	case 9:
		x.to = y.to;
		break;
	case 10:
		x.detail = y.detail;
		break;
	case 11:
		level = pick(ARRAY_LEN(x.of_detail));
		x.of_detail[level] = y.of_detail[level];
		break;
	}
	x.count = y.count;
	return x;
}

/* The i-th: new, or near one of those before. */
static struct item next_item(const struct item *items, size_t i)
{
	return i && pick(2) ? near(items[pick((uint32_t)i)]) : random_item();
}

/* ---- as a profile ---- */

static strid string(struct profile_builder *b, const char *s)
{
	return s && *s ? profile_add_string(b, s, strlen(s)) : 0;
}

static objid object(struct profile_builder *b, uint32_t i)
{
	return i ? profile_add_object(b, paths[i], ids[i]) : 0;
}

static taskid task(struct profile_builder *b, uint32_t i)
{
	struct task t = tasks[i];
	t.comm = string(b, comms[i]);
	t.last_comm = string(b, i % 2 ? "late" : "");
	t.start_ns = 50 + i;
	t.end_ns = 60 + i;
	t.cpu_ns = 3;
	t.sampled_ns = 2;
	return i ? profile_add_task(b, t) : 0;
}

static frameid frame(struct profile_builder *b, uint32_t i)
{
	struct frame f = frames[i];
	f.object = object(b, f.object);
	f.name = string(b, frame_names[i]);
	return i ? profile_add_frame(b, f) : 0;
}

static stackid stack(struct profile_builder *b, const struct item *x)
{
	stackid s = 0;
	for (uint32_t i = 0; i < x->depth; i++)
		s = profile_add_stack(b, s, frame(b, x->path[i]));
	return s;
}

static void set_registers(struct profile_builder *b, const struct item *x, struct detail *d)
{
	uint64_t *words = profile_add_words(b, 4, &d->interrupt_registers);
	words[0] = 1 + x->of_detail[0];
	words[1] = x->of_detail[1] ? 5 : 9; /* two of them */
	words[2] = x->of_detail[2];
	words[3] = x->of_detail[3];
	d->register_names = string(b, x->time ? "AX BX" : "X0 X1");
}

static void set_branches(struct profile_builder *b, const struct item *x, struct detail *d)
{
	frameid source = frame(b, x->of_detail[1]), target = frame(b, 1 + x->of_detail[2]);
	size_t n = 1 + x->of_detail[0];
	uint64_t *words = profile_add_words(b, 1 + n * TAKEN_BRANCH_WORDS, &d->branches);
	struct taken_branch *at = (struct taken_branch *)(words + 1);
	words[0] = n;
	for (size_t i = 0; i < n; i++)
		at[i] = (struct taken_branch){ .from = 7,
					       .to = i == 1 ? x->of_detail[3] : 8,
					       .flags = x->time,
					       .source = i ? 0 : source,
					       .target = target };
}

/* Details that belong to this sample alone. */
static detailid detail(struct profile_builder *b, const struct item *x)
{
	const uint32_t *v = x->of_detail;
	struct detail d = { .has = 0 };
	switch (x->detail) {
	case 0:
		return 0;
	case 1:
		d.has = DETAIL_ADDR;
		d.addr = v[0];
		d.target = frame(b, v[1]);
		break;
	case 2:
		d.has = DETAIL_DATA_SRC;
		d.data_src = v[0];
		d.phys_addr = v[1];
		break;
	case 3:
		d.weight = v[0];
		d.ins_lat = (uint16_t)v[1];
		d.p_stage_cyc = (uint16_t)v[2];
		d.transaction = 1;
		break;
	case 4:
		d.has = DETAIL_CGROUP | DETAIL_NAMESPACE;
		d.cgroup = string(b, v[0] ? "/a" : "/b");
		d.cgroup_device = v[1];
		d.cgroup_inode = v[2];
		break;
	case 5:
		d.has = DETAIL_DATA_PAGE | DETAIL_CODE_PAGE;
		d.data_page_size = v[0];
		d.code_page_size = v[1];
		break;
	case 6:
		d.has = DETAIL_TRACE;
		d.trace = string(b, v[0] ? "fd=1" : "fd=2");
		d.weight = v[1];
		break;
	case 7:
		set_registers(b, x, &d);
		break;
	case 8:
		set_branches(b, x, &d);
		break;
	case 9:
		set_branches(b, x, &d);
		set_registers(b, x, &d);
		break;
	}
	return profile_add_detail(b, &d);
}

static struct sample sample(struct profile_builder *b, const struct item *x)
{
	struct event e = { .name = string(b, events[x->event]),
			   .unit = units[x->event],
			   .kind = kinds[x->event],
			   .frequency = x->count % 2 ? 90 + x->count : 0,
			   .period = x->count % 2 ? 0 : 90 + x->count,
			   .stacks = x->time == 1,
			   .is_assembled = x->time == 2,
			   .group = x->name };
	return (struct sample){ .stack = stack(b, x),
				.task = task(b, x->task),
				.event = profile_add_event(b, e),
				.cpu = (uint16_t)x->cpu,
				.parallelism = (uint16_t)x->from,
				.flags = (uint8_t)(x->to == 2),
				.count = (uint32_t)x->count,
				.weight = x->count * 10,
				.time_ns = x->time * 1000 };
}

static void add_hit(struct profile_builder *b, const struct item *x)
{
	struct histogram h = { .low = 0x1000 * (1 + x->from),
			       .high = 0x1000 * (1 + x->from) + 256,
			       .n = 64,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's',
			       .object = object(b, x->object) };
	size_t i;
	OK(!profile_begin_histogram(b, h, &i));
	profile_add_bins(b, i, 3 * x->time + x->name, &x->count, 1);
}

static void add_item(struct profile_builder *b, const struct item *x)
{
	switch (x->kind) {
	case AN_ARC:
		profile_add_arc(b, (struct arc){ x->from, x->to, x->count, object(b, x->object),
						 object(b, x->other) });
		break;
	case A_TASK_ARC: { /* the sum over threads has it, too */
		objid from = object(b, x->object), to = object(b, x->other);
		profile_add_arc(b, (struct arc){ x->from, x->to, x->count, from, to });
		profile_add_task_arc(b, (struct task_arc){ x->from, x->to, x->count, from, to,
							   task(b, x->task) });
		break;
	}
	case A_BLOCK:
		profile_add_block(b, (struct block){ .addr = x->from,
						     .count = x->count,
						     .object = object(b, x->object) });
		break;
	case A_SAMPLE:
		profile_add_sample(b, sample(b, x));
		profile_set_detail(b, detail(b, x));
		break;
	case A_FACT:
		profile_add_fact(b, facts[x->name], values[x->from]);
		break;
	case A_MARKER:
		profile_add_marker(b,
				   (struct marker){ x->time * 1000, string(b, values[x->name]) });
		break;
	case A_LATENCY: {
		uint64_t bucket[LATENCY_BUCKETS] = { 0 };
		bucket[x->time * (LATENCY_BUCKETS - 1) / 2] = x->count;
		profile_add_latency(b, (struct latency){ .from = x->from,
							 .to = x->to,
							 .from_object = object(b, x->object),
							 .to_object = object(b, x->other),
							 .count = x->count,
							 .sum_ns = x->count * 7,
							 .probes_ns = x->count * 2,
							 .min_ns = 3 + x->time,
							 .max_ns = 5 + x->time,
							 .bucket = bucket });
		break;
	}
	case A_FAILURE:
		profile_add_failure(b, object(b, x->object), x->count);
		break;
	case A_HIT:
		add_hit(b, x);
		break;
	case A_LOSS: /* all its members are sums */
		((uint64_t *)profile_audit(b))[x->count + x->name * 2] += x->count;
		break;
	case N_KINDS:
		break;
	}
}

static void shuffle(struct item *at, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = pick((uint32_t)i);
		struct item x = at[k];
		at[k] = at[i - 1];
		at[i - 1] = x;
	}
}

/* In another order, and of so many builders as files are merged from. */
static struct profile *make(const struct item *items, size_t n, size_t files)
{
	struct item order[ITEMS];
	struct profile_builder *b = profile_builder_new();
	memcpy(order, items, n * sizeof(*order));
	shuffle(order, n);
	for (size_t f = 0, at = 0; f < files; f++) {
		struct profile_builder *one = f ? profile_builder_new() : b;
		size_t end = f + 1 < files ? at + pick((uint32_t)(n - at + 1)) : n;
		for (; at < end; at++)
			add_item(one, &order[at]);
		profile_add_source(one, "file", (struct source){ .kind = "test" });
		if (f)
			OK(!profile_builder_merge(b, one));
	}
	return profile_finish(b);
}

/* ---- as text ---- */

struct text {
	char *at;
	size_t size;
	FILE *to;
};

static const char *object_text(const struct profile *p, objid id)
{
	static char text[4][64];
	static unsigned next;
	char *ret = text[next++ % 4];
	snprintf(ret, sizeof(text[0]), "%s(%s)", strtab_get(p->strings, p->objects[id].path),
		 strtab_get(p->strings, p->objects[id].build_id));
	return ret;
}

static void put_task(FILE *f, const struct profile *p, taskid id)
{
	const struct task *t = &p->samples.tasks[id];
	fprintf(f, "%u/%u/%u/%u/%s", t->pid, t->tid, t->run, t->rank,
		strtab_get(p->strings, t->comm));
}

static void put_frame(FILE *f, const struct profile *p, frameid id)
{
	const struct frame *x = &p->samples.frames[id];
	fprintf(f, ";%s+%ju:%s:%u", object_text(p, x->object), (uintmax_t)x->addr,
		strtab_get(p->strings, x->name), x->flags);
}

static void put_stack(FILE *f, const struct profile *p, stackid id)
{
	if (!id)
		return;
	put_stack(f, p, p->samples.stacks[id].caller);
	put_frame(f, p, p->samples.stacks[id].frame);
}

static void put_detail(FILE *f, const struct profile *p, const struct detail *d)
{
	const uint64_t *words = p->samples.words;
	size_t n;
	const struct taken_branch *b = detail_branches(words, d, &n);
	fprintf(f, " (%u: %ju", d->has, (uintmax_t)d->addr);
	put_frame(f, p, d->target);
	fprintf(f, " %ju %ju, %ju %u %u %ju, %s %u %ju, %ju %ju, %s", (uintmax_t)d->data_src,
		(uintmax_t)d->phys_addr, (uintmax_t)d->weight, d->ins_lat, d->p_stage_cyc,
		(uintmax_t)d->transaction, strtab_get(p->strings, d->cgroup), d->cgroup_device,
		(uintmax_t)d->cgroup_inode, (uintmax_t)d->data_page_size,
		(uintmax_t)d->code_page_size, strtab_get(p->strings, d->trace));
	if (d->interrupt_registers) {
		struct detail_registers r = detail_registers(words, d->interrupt_registers);
		fprintf(f, ", %s: %ju %ju: %ju %ju", strtab_get(p->strings, d->register_names),
			(uintmax_t)r.abi, (uintmax_t)r.mask, (uintmax_t)r.values[0],
			(uintmax_t)r.values[1]);
	}
	for (size_t i = 0; i < n; i++) {
		fprintf(f, ", %ju-%ju %ju", (uintmax_t)b[i].from, (uintmax_t)b[i].to,
			(uintmax_t)b[i].flags);
		put_frame(f, p, b[i].source);
		put_frame(f, p, b[i].target);
	}
	fprintf(f, ")");
}

static void put_samples(FILE *f, const struct profile *p)
{
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		const struct event *e = &p->samples.events[s->event];
		fprintf(f, "sample %s/%u/%u cpu %u/%u/%u at %ju of ",
			strtab_get(p->strings, e->name), e->unit, e->kind, s->cpu, s->parallelism,
			s->flags, (uintmax_t)s->time_ns);
		put_task(f, p, s->task);
		put_stack(f, p, s->stack);
		if (sample_detail(&p->samples, s) != p->samples.details)
			put_detail(f, p, sample_detail(&p->samples, s));
		fprintf(f, " = %u, %ju\n", s->count, (uintmax_t)s->weight);
	}
}

/* All that a profile holds, in its order. */
static char *text_of(const struct profile *p)
{
	struct text t = { NULL, 0, NULL };
	FILE *f = open_memstream(&t.at, &t.size);
	for (size_t i = 0; i < p->n_arcs; i++)
		fprintf(f, "arc %s+%ju %s+%ju = %ju\n",
			object_text(p, arc_at(&p->arcs, i).from_object),
			(uintmax_t)arc_at(&p->arcs, i).from,
			object_text(p, arc_at(&p->arcs, i).to_object),
			(uintmax_t)arc_at(&p->arcs, i).to, (uintmax_t)arc_at(&p->arcs, i).count);
	for (size_t i = 0; i < p->samples.n_task_arcs; i++) {
		const struct task_arc *a = &p->samples.task_arcs[i];
		fprintf(f, "of ");
		put_task(f, p, a->task);
		fprintf(f, " %s+%ju %s+%ju = %ju\n", object_text(p, a->from_object),
			(uintmax_t)a->from, object_text(p, a->to_object), (uintmax_t)a->to,
			(uintmax_t)a->count);
	}
	for (size_t i = 0; i < p->samples.n_latencies; i++) {
		const struct latency *l = &p->samples.latencies[i];
		fprintf(f, "latency %s+%ju %s+%ju = %ju, %ju ns, %ju to %ju:",
			object_text(p, l->from_object), (uintmax_t)l->from,
			object_text(p, l->to_object), (uintmax_t)l->to, (uintmax_t)l->count,
			(uintmax_t)l->sum_ns, (uintmax_t)l->min_ns, (uintmax_t)l->max_ns);
		fprintf(f, " %ju:", (uintmax_t)l->probes_ns);
		for (size_t k = 0; k < LATENCY_BUCKETS; k++)
			if (l->bucket[k])
				fprintf(f, " %zu: %ju", k, (uintmax_t)l->bucket[k]);
		fprintf(f, "\n");
	}
	for (size_t i = 0; i < p->samples.n_failures; i++)
		fprintf(f, "failure %s = %ju\n", object_text(p, p->samples.failures[i].object),
			(uintmax_t)p->samples.failures[i].count);
	for (size_t i = 0; i < p->n_blocks; i++)
		fprintf(f, "block %s+%ju = %ju\n", object_text(p, p->blocks[i].object),
			(uintmax_t)p->blocks[i].addr, (uintmax_t)p->blocks[i].count);
	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		struct hit hit;
		for (size_t at = 0; histogram_next(h, &at, &hit);)
			fprintf(f, "hit %s %ju-%ju %u/%u = %ju\n", object_text(p, h->object),
				(uintmax_t)h->low, (uintmax_t)h->high, hit.bin, h->n,
				(uintmax_t)hit.count);
	}
	put_samples(f, p);
	for (size_t i = 0; i < p->n_facts; i++)
		fprintf(f, "fact %s %s\n", strtab_get(p->strings, p->facts[i].name),
			strtab_get(p->strings, p->facts[i].value));
	for (size_t i = 0; i < p->samples.n_markers; i++)
		fprintf(f, "marker %ju %s\n", (uintmax_t)p->samples.markers[i].time_ns,
			strtab_get(p->strings, p->samples.markers[i].name));
	fclose(f);
	return t.at;
}

/* The profile's tasks and events, also those without samples, and its losses. */
static char *tables_of(const struct profile *p)
{
	struct text t = { NULL, 0, NULL };
	FILE *f = open_memstream(&t.at, &t.size);
	for (size_t i = 1; i < p->samples.n_tasks; i++) {
		const struct task *x = &p->samples.tasks[i];
		put_task(f, p, (taskid)i);
		fprintf(f, " %ju-%ju: %ju, %ju, %s\n", (uintmax_t)x->start_ns, (uintmax_t)x->end_ns,
			(uintmax_t)x->cpu_ns, (uintmax_t)x->sampled_ns,
			strtab_get(p->strings, x->last_comm));
	}
	for (size_t i = 0; i < p->samples.n_events; i++) {
		const struct event *e = &p->samples.events[i];
		fprintf(f, "%s/%u/%u %ju %ju %u %u %u\n", strtab_get(p->strings, e->name), e->unit,
			e->kind, (uintmax_t)e->frequency, (uintmax_t)e->period, e->stacks,
			e->is_assembled, e->group);
	}
	for (size_t i = 0; i < sizeof(struct audit) / sizeof(uint64_t); i++)
		fprintf(f, "%ju ", (uintmax_t)((const uint64_t *)&p->samples.audit)[i]);
	for (size_t i = 1; i < p->n_objects; i++)
		fprintf(f, "%s\n", object_text(p, (objid)i));
	fclose(f);
	return t.at;
}

static char *canonical_text(const struct profile *p)
{
	struct profile *c = profile_canonical(p, NULL, NULL);
	char *text = text_of(c);
	profile_free(c);
	return text;
}

/* The sum of the numbers behind "=" in lines of one kind. */
static uint64_t sum_of(const char *text, const char *kind)
{
	uint64_t sum = 0;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *number = strstr(line, " = ");
		if (!strncmp(line, kind, strlen(kind)) && number && number < strchr(line, '\n'))
			sum += strtoull(number + 3, NULL, 10);
	}
	return sum;
}

/* ---- the laws ---- */

static uint64_t count_of(const struct item *items, size_t n, enum item_kind a, enum item_kind b)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		if (items[i].kind == a || items[i].kind == b)
			sum += items[i].count;
	return sum;
}

static uint64_t sum_of_losses(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof(struct audit) / sizeof(uint64_t); i++)
		sum += ((const uint64_t *)&p->samples.audit)[i];
	return sum;
}

static size_t count_lines(const char *text, const char *kind)
{
	size_t n = 0;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		n += !strncmp(line, kind, strlen(kind));
	return n;
}

/* The sum of samples with details in the text. */
static uint64_t sum_of_detailed(const char *text)
{
	uint64_t sum = 0;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *detail = strstr(line, " (");
		if (!strncmp(line, "sample", 6) && detail && detail < strchr(line, '\n'))
			sum += strtoull(strstr(detail, " = ") + 3, NULL, 10);
	}
	return sum;
}

static uint64_t count_of_detailed(const struct item *items, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		if (items[i].kind == A_SAMPLE && items[i].detail)
			sum += items[i].count;
	return sum;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The number of samples that differ in anything but the figures that are added up. */
static size_t count_distinct(const struct profile *p)
{
	char *text = text_of(p), *lines[ITEMS];
	size_t n = 0, distinct = 0;
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		if (strncmp(line, "sample", 6) != 0)
			continue;
		*strstr(line, " = ") = '\0';
		lines[n++] = line;
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		distinct += !i || strcmp(lines[i - 1], lines[i]) != 0;
	free(text);
	return distinct;
}

static void test_orders(void)
{
	size_t unlike = 0, lost = 0, changed = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct item items[ITEMS];
		size_t n = 1 + pick(ITEMS);
		for (size_t i = 0; i < n; i++)
			items[i] = next_item(items, i);
		struct profile *p = make(items, n, 1), *q = make(items, n, 1 + pick(3));
		struct profile *c = profile_canonical(q, NULL, NULL);
		struct profile *d = profile_canonical(p, NULL, NULL);
		char *one = text_of(d), *other = text_of(c), *again = canonical_text(c);
		char *tables = tables_of(d), *others = tables_of(c);
		unlike += strcmp(one, other) != 0 || strcmp(tables, others) != 0;
		free(tables);
		free(others);
		changed += strcmp(other, again) != 0;
		lost += sum_of(one, "arc") != count_of(items, n, AN_ARC, A_TASK_ARC) ||
			sum_of(one, "of") != count_of(items, n, A_TASK_ARC, A_TASK_ARC) ||
			sum_of(one, "block") != count_of(items, n, A_BLOCK, A_BLOCK) ||
			sum_of(one, "sample") != count_of(items, n, A_SAMPLE, A_SAMPLE) ||
			sum_of(one, "latency") != count_of(items, n, A_LATENCY, A_LATENCY) ||
			sum_of(one, "failure") != count_of(items, n, A_FAILURE, A_FAILURE) ||
			sum_of(one, "hit") != count_of(items, n, A_HIT, A_HIT) ||
			sum_of_losses(d) != count_of(items, n, A_LOSS, A_LOSS) ||
			sum_of_detailed(one) != count_of_detailed(items, n) ||
			count_lines(one, "sample") != count_distinct(p) ||
			count_distinct(d) != count_distinct(p) ||
			count_lines(one, "marker") != p->samples.n_markers ||
			count_lines(one, "arc") != p->n_arcs ||
			count_lines(one, "latency") != p->samples.n_latencies ||
			count_lines(one, "failure") != p->samples.n_failures;
		free(one);
		free(other);
		free(again);
		profile_free(d);
		profile_free(c);
		profile_free(p);
		profile_free(q);
	}
	OK(!unlike);
	OK(!lost);
	OK(!changed); /* it is canonical already */
}

/* Rows of sums over ranks are in one order, whatever order they came in. */
static void test_rows_of_ranks(void)
{
	static const char *const names[] = { "b", "a", "c" };
	char order[2][8] = { "", "" };
	struct profile *p = profile_finish(profile_builder_new());
	for (int way = 0; way < 2; way++) {
		struct spread_set *s = spread_set_new();
		spread_set_add_ranks(s, (struct rank_range){ 0, 1 });
		for (int i = 0; i < 3; i++) {
			const char *name = names[way ? 2 - i : i];
			spread_set_add(s, &(struct spread_row){
						  .to = { .name = spread_set_string(s, name) },
						  .of = spread_of(0, 5) });
		}
		struct profile *c = profile_canonical(p, NULL, s);
		for (size_t i = 0; i < c->spreads->rows.n; i++)
			strcat(order[way],
			       strtab_get(c->spreads->strings, c->spreads->rows.at[i].to.name));
		profile_free(c);
		spread_set_free(s);
	}
	OK_STR(order[0], "abc");
	OK_STR(order[1], "abc");
	profile_free(p);
}

/* Sums of a job's ranks have no times, processors and details, and of threads their names alone. */
static void test_sums_of_ranks(void)
{
	size_t unlike = 0, tables = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile_builder *b = profile_builder_new(), *plain = profile_builder_new();
		size_t n = 1 + pick(ITEMS);
		struct item items[ITEMS];
		for (size_t i = 0; i < n; i++) {
			items[i] = next_item(items, i);
			struct item x = items[i];
			x.kind = A_SAMPLE;
			add_item(b, &x);
			x.detail = 0;
			x.time = 0;
			struct sample s = sample(plain, &x);
			const struct task t = { .comm = string(plain, comms[x.task]),
						.cpu_ns = 3,
						.sampled_ns = 2 };
			s.task = x.task ? profile_add_task(plain, t) : 0;
			s.cpu = CPU_NONE;
			s.parallelism = 0;
			profile_add_sample(plain, s);
		}
		struct spread_set *none = spread_set_new();
		struct profile *p = profile_finish(b), *q = profile_finish(plain);
		struct profile *c = profile_canonical(p, NULL, none);
		char *one = text_of(c), *other = canonical_text(q);
		unlike += strcmp(one, other) != 0;
		struct profile *again = profile_canonical(q, NULL, NULL);
		tables += c->samples.n_frames != again->samples.n_frames;
		profile_free(again);
		for (size_t i = 1; i < c->samples.n_tasks; i++) {
			const struct task *t = &c->samples.tasks[i];
			tables += t->pid || t->tid || t->run || t->rank || t->start_ns ||
				  t->end_ns || !t->cpu_ns || !t->sampled_ns;
		}
		free(one);
		free(other);
		spread_set_free(none);
		profile_free(c);
		profile_free(p);
		profile_free(q);
	}
	OK(!unlike);
	OK(!tables);
}

/* Whether an item is in the part: of these tasks, objects, events and times. */
static bool is_wanted(const struct item *x, const bool of[TASKS], const bool in[OBJECTS],
		      const bool by[EVENTS], uint64_t from, uint64_t to)
{
	bool timed = from || to;
	uint64_t at = x->time * 1000;
	bool then = !timed || (at && at >= from && (!to || at < to));
	objid leaf = x->depth ? frames[x->path[x->depth - 1]].object : 0;
	switch (x->kind) {
	case AN_ARC:
		return !timed && of[0] && in[x->other];
	case A_TASK_ARC:
		return !timed && of[x->task] && in[x->other];
	case A_BLOCK:
	case A_LATENCY:
	case A_HIT:
		return !timed && of[0] && in[x->kind == A_LATENCY ? x->other : x->object];
	case A_FAILURE:
		return in[x->object];
	case A_SAMPLE:
		return then && of[x->task] && in[leaf] && by[x->event];
	case A_FACT:
	case A_LOSS:
		return true;
	case A_MARKER:
		return then;
	case N_KINDS:
		break;
	}
	return false;
}

/* The profile's ids of the chosen tasks and objects. */
static void find_ids(const struct profile *p, const bool of[TASKS], const bool in[OBJECTS],
		     const bool by[EVENTS], uint8_t ids_of[3][16])
{
	for (size_t i = 0; i < p->samples.n_tasks; i++)
		for (uint32_t k = 0; k < TASKS; k++) {
			const struct task *t = &p->samples.tasks[i];
			if (t->pid == tasks[k].pid && t->tid == tasks[k].tid &&
			    t->run == tasks[k].run && t->rank == tasks[k].rank)
				ids_of[0][i] = of[k];
		}
	for (size_t i = 0; i < p->n_objects; i++)
		for (uint32_t k = 0; k < OBJECTS; k++)
			if (!strcmp(strtab_get(p->strings, p->objects[i].path), paths[k]) &&
			    !strcmp(strtab_get(p->strings, p->objects[i].build_id), ids[k]))
				ids_of[1][i] = in[k];
	for (size_t i = 0; i < p->samples.n_events; i++)
		for (uint32_t k = 0; k < EVENTS; k++) {
			const struct event *e = &p->samples.events[i];
			if (!strcmp(strtab_get(p->strings, e->name), events[k]) &&
			    e->unit == units[k] && e->kind == kinds[k])
				ids_of[2][i] = by[k];
		}
}

static void choose(bool *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = pick(3) > 0;
}

static void test_parts(void)
{
	size_t unlike = 0, some = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct item items[ITEMS], wanted[ITEMS];
		bool of[TASKS], in[OBJECTS], by[EVENTS];
		size_t n = 1 + pick(ITEMS), left = 0;
		uint64_t from = pick(2) ? 1000 * pick(3) : 0;
		uint64_t to = pick(2) ? from + 1000 * pick(3) : 0;
		uint8_t ids_of[3][16] = { { 0 } };
		choose(of, TASKS);
		choose(in, OBJECTS);
		choose(by, EVENTS);
		for (size_t i = 0; i < n; i++) {
			items[i] = next_item(items, i);
			if (is_wanted(&items[i], of, in, by, from, to))
				wanted[left++] = items[i];
		}
		struct profile *p = make(items, n, 1 + pick(3)), *q = make(wanted, left, 1);
		find_ids(p, of, in, by, ids_of);
		struct profile *part =
			profile_filter(p, &(struct profile_part){ .tasks = ids_of[0],
								  .objects = ids_of[1],
								  .events = ids_of[2],
								  .from_ns = from,
								  .to_ns = to });
		char *one = canonical_text(part), *other = canonical_text(q);
		unlike += strcmp(one, other) != 0;
		some += left > 5;
		free(one);
		free(other);
		profile_free(part);
		profile_free(p);
		profile_free(q);
	}
	OK(!unlike);
	OK(some > ROUNDS / 4);
}

/* Adding up samples while they are read gives the same as adding them up afterwards without time
 * and processor; samples with details are left alone. */
static void test_summing(void)
{
	size_t unlike = 0, many = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile_builder *first = profile_builder_new(), *one = profile_builder_new();
		struct profile_builder *second = profile_builder_new(), *b = first;
		size_t n = 1 + pick(5 * ITEMS), half = round % 2 ? pick((uint32_t)n) : n;
		struct item items[5 * ITEMS];
		profile_sum_samples(first);
		profile_sum_samples(second);
		for (size_t i = 0; i < n; i++) {
			items[i] = next_item(items, i);
			struct item x = items[i];
			bool at_once = pick(2), says_more = false;
			b = i < half ? first : second;
			x.detail = pick(4) ? 0 : x.detail;
			x.depth = x.depth > 2 ? 2 : x.depth;
			struct sample s = sample(b, &x), same = sample(one, &x);
			if (!x.detail) {
				says_more = pick(2);
				same.time_ns = 0;
				same.cpu = CPU_NONE;
			}
			if (at_once || x.detail)
				profile_add_detailed_sample(b, s, detail(b, &x));
			else
				profile_add_sample(b, s);
			if (says_more) /* too late: it is a part of a sum */
				profile_set_detail(
					b, profile_add_detail(b, &(struct detail){ .weight = 5 }));
			profile_add_sample(one, same);
			profile_set_detail(one, detail(one, &x));
		}
		if (half < n)
			OK(!profile_builder_merge(first, second));
		else
			profile_builder_free(second);
		struct profile *p = profile_finish(first), *q = profile_finish(one);
		char *left = canonical_text(p), *right = canonical_text(q);
		unlike += strcmp(left, right) != 0;
		many += p->samples.n < n;
		free(left);
		free(right);
		profile_free(p);
		profile_free(q);
	}
	OK(!unlike);
	OK(many > ROUNDS / 2);
}

int main(void)
{
	test_summing();
	test_orders();
	test_sums_of_ranks();
	test_rows_of_ranks();
	test_parts();
	return DONE();
}

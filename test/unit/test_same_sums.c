/* test_same_sums.c - random measurements, in whatever order and in however many parts they are
 * added, are the same canonical profile; and a part of a profile is what a look at each measurement
 * says. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/filter.h"
#include "profile/profile.h"

enum { ITEMS = 60, ROUNDS = 120, DEPTH = 4, FRAMES = 9, OBJECTS = 4, TASKS = 5, EVENTS = 3 };

static uint64_t state = 1;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* ---- what there is ---- */

enum item_kind {
	AN_ARC,
	A_TASK_ARC,
	A_BLOCK,
	A_SAMPLE,
	A_FACT,
	A_MARKER,
	A_LATENCY,
	A_FAILURE,
	N_KINDS
};

struct item {
	enum item_kind kind;
	uint32_t object, other, task, event, name, time, cpu, depth, path[DEPTH];
	uint64_t from, to, count;
};

static const char *const paths[OBJECTS] = { "", "/lib/b.so", "/bin/a", "/lib/b.so" };
static const char *const ids[OBJECTS] = { "", "01", "", "02" };
static const struct task tasks[TASKS] = { { 0 },
					  { .pid = 7, .tid = 7 },
					  { .pid = 7, .tid = 8 },
					  { .pid = 7, .tid = 8, .run = 1 },
					  { .pid = 5, .tid = 9 } };
static const char *const comms[TASKS] = { "", "prog", "io", "io", "sh" };
static const char *const events[EVENTS] = { "clock", "faults", "clock" };
static const enum event_unit units[EVENTS] = { EVENT_NS, EVENT_COUNT, EVENT_COUNT };
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

static struct item random_item(void)
{
	struct item x = { .kind = (enum item_kind)pick(N_KINDS),
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
			  .count = 1 + pick(9) };
	for (uint32_t i = 0; i < x.depth; i++)
		x.path[i] = 1 + pick(FRAMES - 1);
	return x;
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
	return i ? profile_add_task(b, t) : 0;
}

static stackid stack(struct profile_builder *b, const struct item *x)
{
	stackid s = 0;
	for (uint32_t i = 0; i < x->depth; i++) {
		struct frame f = frames[x->path[i]];
		f.object = object(b, f.object);
		f.name = string(b, frame_names[x->path[i]]);
		s = profile_add_stack(b, s, profile_add_frame(b, f));
	}
	return s;
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
		profile_add_sample(
			b, (struct sample){
				   .stack = stack(b, x),
				   .task = task(b, x->task),
				   .event = profile_add_event(
					   b, (struct event){ .name = string(b, events[x->event]),
							      .unit = units[x->event] }),
				   .cpu = (uint16_t)x->cpu,
				   .count = (uint32_t)x->count,
				   .weight = x->count * 10,
				   .time_ns = x->time * 1000 });
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
		bucket[x->time] = x->count;
		profile_add_latency(b, (struct latency){ .from = x->from,
							 .to = x->to,
							 .from_object = object(b, x->object),
							 .to_object = object(b, x->other),
							 .count = x->count,
							 .sum_ns = x->count * 7,
							 .min_ns = 3 + x->time,
							 .max_ns = 5 + x->time,
							 .bucket = bucket });
		break;
	}
	case A_FAILURE:
		profile_add_failure(b, object(b, x->object), x->count);
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
	fprintf(f, "%u/%u/%u/%s", t->pid, t->tid, t->run, strtab_get(p->strings, t->comm));
}

static void put_stack(FILE *f, const struct profile *p, stackid id)
{
	if (!id)
		return;
	const struct stack *s = &p->samples.stacks[id];
	const struct frame *x = &p->samples.frames[s->frame];
	put_stack(f, p, s->caller);
	fprintf(f, ";%s+%ju:%s:%u", object_text(p, x->object), (uintmax_t)x->addr,
		strtab_get(p->strings, x->name), x->flags);
}

static void put_samples(FILE *f, const struct profile *p)
{
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		const struct event *e = &p->samples.events[s->event];
		fprintf(f, "sample %s/%u cpu %u at %ju of ", strtab_get(p->strings, e->name),
			e->unit, s->cpu, (uintmax_t)s->time_ns);
		put_task(f, p, s->task);
		put_stack(f, p, s->stack);
		fprintf(f, " = %u, %ju\n", s->count, (uintmax_t)s->weight);
	}
}

/* All that a profile holds, in its order. */
static char *text_of(const struct profile *p)
{
	struct text t = { NULL, 0, NULL };
	FILE *f = open_memstream(&t.at, &t.size);
	for (size_t i = 0; i < p->n_arcs; i++)
		fprintf(f, "arc %s+%ju %s+%ju = %ju\n", object_text(p, p->arcs[i].from_object),
			(uintmax_t)p->arcs[i].from, object_text(p, p->arcs[i].to_object),
			(uintmax_t)p->arcs[i].to, (uintmax_t)p->arcs[i].count);
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
		for (size_t k = 0; k < 4; k++)
			fprintf(f, " %ju", (uintmax_t)l->bucket[k]);
		fprintf(f, "\n");
	}
	for (size_t i = 0; i < p->samples.n_failures; i++)
		fprintf(f, "failure %s = %ju\n", object_text(p, p->samples.failures[i].object),
			(uintmax_t)p->samples.failures[i].count);
	for (size_t i = 0; i < p->n_blocks; i++)
		fprintf(f, "block %s+%ju = %ju\n", object_text(p, p->blocks[i].object),
			(uintmax_t)p->blocks[i].addr, (uintmax_t)p->blocks[i].count);
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

static char *canonical_text(const struct profile *p)
{
	struct profile *c = profile_canonical(p, NULL, NULL);
	char *text = text_of(c);
	profile_free(c);
	return text;
}

/* The numbers that are behind "=" in lines of one kind. */
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

static void test_orders(void)
{
	size_t unlike = 0, lost = 0, changed = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct item items[ITEMS];
		size_t n = 1 + pick(ITEMS);
		for (size_t i = 0; i < n; i++)
			items[i] = random_item();
		struct profile *p = make(items, n, 1), *q = make(items, n, 1 + pick(3));
		struct profile *c = profile_canonical(q, NULL, NULL);
		char *one = canonical_text(p), *other = text_of(c), *again = canonical_text(c);
		unlike += strcmp(one, other) != 0;
		changed += strcmp(other, again) != 0;
		lost += sum_of(one, "arc") != count_of(items, n, AN_ARC, A_TASK_ARC) ||
			sum_of(one, "of") != count_of(items, n, A_TASK_ARC, A_TASK_ARC) ||
			sum_of(one, "block") != count_of(items, n, A_BLOCK, A_BLOCK) ||
			sum_of(one, "sample") != count_of(items, n, A_SAMPLE, A_SAMPLE) ||
			sum_of(one, "latency") != count_of(items, n, A_LATENCY, A_LATENCY) ||
			sum_of(one, "failure") != count_of(items, n, A_FAILURE, A_FAILURE);
		free(one);
		free(other);
		free(again);
		profile_free(c);
		profile_free(p);
		profile_free(q);
	}
	OK(!unlike);
	OK(!lost);
	OK(!changed); /* it is canonical already */
}

/* Whether an item is in the part: of these tasks, objects, events and times. */
static bool is_wanted(const struct item *x, const bool of[TASKS], const bool in[OBJECTS],
		      const bool by[EVENTS], uint64_t from, uint64_t to)
{
	bool timed = from || to;
	uint64_t at = x->time * 1000;
	bool then = !timed || (at && at >= from && at < to);
	objid leaf = x->depth ? frames[x->path[x->depth - 1]].object : 0;
	switch (x->kind) {
	case AN_ARC:
		return !timed && of[0] && in[x->other];
	case A_TASK_ARC:
		return !timed && of[x->task] && in[x->other];
	case A_BLOCK: /* their parts are another test's */
	case A_LATENCY:
		return false;
	case A_FAILURE:
		return in[x->object];
	case A_SAMPLE:
		return then && of[x->task] && in[leaf] && by[x->event];
	case A_FACT:
		return true;
	case A_MARKER:
		return then;
	case N_KINDS:
		break;
	}
	return false;
}

/* What ids of the profile the chosen things have. */
static void find_ids(const struct profile *p, const bool of[TASKS], const bool in[OBJECTS],
		     const bool by[EVENTS], uint8_t ids_of[3][16])
{
	for (size_t i = 0; i < p->samples.n_tasks; i++)
		for (uint32_t k = 0; k < TASKS; k++) {
			const struct task *t = &p->samples.tasks[i];
			if (t->pid == tasks[k].pid && t->tid == tasks[k].tid &&
			    t->run == tasks[k].run)
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
			    e->unit == units[k])
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
		uint64_t from = pick(2) ? 1000 * pick(3) : 0, to = from ? from + 1000 * pick(3) : 0;
		uint8_t ids_of[3][16] = { { 0 } };
		choose(of, TASKS);
		choose(in, OBJECTS);
		choose(by, EVENTS);
		for (size_t i = 0; i < n; i++) {
			items[i] = random_item();
			if (items[i].kind == A_BLOCK || items[i].kind == A_LATENCY)
				items[i].kind = A_SAMPLE;
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

/* Samples that are added up while they are read have neither time nor processor. */
static void test_summing(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_sum_samples(b);
	profile_add_event(b, (struct event){ .name = string(b, "clock") });
	for (uint32_t i = 0; i < 3; i++)
		profile_add_sample(b, (struct sample){ .cpu = (uint16_t)i,
						       .time_ns = 1000 + i,
						       .count = 1 + i,
						       .weight = 10 });
	struct profile *p = profile_finish(b);
	const struct sample *s = p->samples.at;
	OK(p->samples.n == 1 && s->count == 6 && s->weight == 30);
	OK(s->cpu == CPU_NONE && !s->time_ns);
	profile_free(p);
}

int main(void)
{
	test_summing();
	test_orders();
	test_parts();
	return DONE();
}

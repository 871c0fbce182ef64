/* perf_machine.c - handles the records in order of time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/num.h"
#include "formats/perfdata/perf.h"

enum { WAITING_MAX = 1 << 16 }; /* samples; beyond it the older half is added as it is */

/* ---- samples that wait for the rest of their stacks ---- */

static void emit_first(struct perf *p, size_t n)
{
	struct perf_machine *m = &p->machine;

	for (size_t i = 0; i < n; i++) {
		struct perf_waiting *w = &m->waiting.at[i];
		profile_add_detailed_sample(p->into, w->sample, w->detail);
		m->n_deferred -= w->is_deferred;
		m->undelivered += w->is_deferred;
		free(w->above);
	}
	if (m->waiting.n > n)
		memmove(m->waiting.at, m->waiting.at + n,
			(m->waiting.n - n) * sizeof(*m->waiting.at));
	m->waiting.n -= n;
}

static void emit_waiting(struct perf *p)
{
	struct perf_machine *m = &p->machine;

	if (!m->n_deferred)
		emit_first(p, m->waiting.n);
	else if (m->waiting.n >= WAITING_MAX)
		emit_first(p, WAITING_MAX / 2);
}

static void emit(struct perf *p, struct sample s, const struct perf_stack *stack, uint32_t tid)
{
	struct perf_machine *m = &p->machine;
	bool deferred = stack && stack->is_deferred;

	perf_sums_settle(p);

	if (!m->waiting.n && !deferred) {
		profile_add_detailed_sample(p->into, s, m->detail);
		return;
	}
	struct perf_waiting w = {
		.sample = s, .detail = m->detail, .is_deferred = deferred, .tid = tid
	};
	if (deferred) {
		w.cookie = stack->cookie;
		w.n_above = p->chains.n_kernel;
		w.above = xrealloc(NULL, w.n_above, sizeof(*w.above));
		for (size_t i = 0; i < w.n_above; i++)
			w.above[i] = p->chains.now[i].frame;
		m->n_deferred++;
	}
	vec_push(&m->waiting, w);
	emit_waiting(p);
}

/* u64 cookie, u64 nr, addresses. */
static void deliver_deferred(struct perf *p, struct bytes b, uint32_t pid, uint32_t tid)
{
	struct perf_machine *m = &p->machine;
	uint64_t cookie = bytes_u64(&b), n = bytes_u64(&b);
	struct perf_thread *t = perf_thread_at(p, pid, tid);

	if (b.failed || n > bytes_left(&b) / 8)
		return;
	for (size_t i = 0; i < m->waiting.n && m->n_deferred; i++) {
		struct perf_waiting *w = &m->waiting.at[i];
		if (!w->is_deferred || w->cookie != cookie || w->tid != tid)
			continue;
		w->sample.stack = perf_stack_join(p, &perf_process_of(p, t)->space, b.pos,
						  (size_t)n, w->above, w->n_above);
		w->is_deferred = false;
		m->n_deferred--;
	}
	emit_waiting(p);
}

/* ---- samples ---- */

static uint32_t flags_of(unsigned mode)
{
	return (mode == PERF_MODE_KERNEL || mode == PERF_MODE_GUEST_KERNEL ? FRAME_KERNEL : 0) |
	       (mode == PERF_MODE_GUEST_KERNEL || mode == PERF_MODE_GUEST_USER ? FRAME_GUEST : 0) |
	       (mode == PERF_MODE_HYPERVISOR ? FRAME_HYPERVISOR : 0);
}

/* Number of threads on CPUs at this time. A thread that runs when the recording starts has no
 * record of being switched in. */
static uint16_t parallelism(const struct perf *p)
{
	int64_t n = p->machine.running + 1;

	if (!p->machine.has_switches || p->machine.is_cpu_wide)
		return 0;
	if (n > p->n_cpus && p->n_cpus)
		n = p->n_cpus;
	if (n > UINT16_MAX)
		n = UINT16_MAX;
	return n < 1 ? 1 : (uint16_t)n;
}

/* perf marks records without a time by times at the very end of the clock. */
static uint64_t sample_time(uint64_t time) { return time >= UINT64_C(0xffffffff) << 32 ? 0 : time; }

/* time_ns, weight: as in struct sample. */
static void account(struct perf *p, const struct perf_attr *a, taskid task, uint64_t time_ns,
		    uint64_t weight)
{
	struct perf_machine *m = &p->machine;

	if (time_ns && (!m->first_time || time_ns < m->first_time))
		m->first_time = time_ns;
	if (time_ns > m->last_time)
		m->last_time = time_ns;
	if (a->unit != EVENT_NS || a->kind != EVENT_ON_CPU || p->attrs.on_cpu != a->event)
		return;
	capped_add(&profile_audit(p->into)->sampled_ns, weight);
	capped_add(&profile_task_at(p->into, task)->sampled_ns, weight);
}

static void emit_as(struct perf *p, struct perf_attr *a, struct sample s, uint64_t weight,
		    const struct perf_stack *stack, uint32_t tid)
{
	perf_attr_declare(p, a);
	s.event = a->event;
	s.weight = weight;
	account(p, a, s.task, s.time_ns, weight);
	emit(p, s, stack, tid);
}

/* The increase of a counter since it was last read. */
static uint64_t advance(struct perf_id *id, uint64_t value)
{
	uint64_t delta = value >= id->value ? value - id->value : value;

	id->value = value;
	return delta;
}

/* Keeps the number of lost samples that a counter had when it was read. */
static void note_lost(struct perf *p, uint32_t id, uint64_t lost)
{
	if (lost > p->attrs.ids.at[id].lost)
		p->attrs.ids.at[id].lost = lost;
}

/* The values of all events of a group were read when the leader was sampled: emits a sample for
 * each. */
static void emit_group(struct perf *p, const struct perf_attr *a, struct bytes b, struct sample s,
		       const struct perf_stack *stack, uint32_t tid)
{
	uint64_t n = bytes_u64(&b), f = a->layout.read_format;

	bytes_take(&b, (f & PERF_READ_ENABLED ? 8 : 0) + (f & PERF_READ_RUNNING ? 8 : 0));
	for (uint64_t i = 0; i < n && !b.failed; i++) {
		uint64_t value = bytes_u64(&b);
		uint32_t id = perf_attrs_find(&p->attrs, bytes_u64(&b));
		uint64_t lost = f & PERF_READ_LOST ? bytes_u64(&b) : 0;
		if (b.failed || id == NONE || p->attrs.ids.at[id].attr >= p->attrs.at.n)
			continue;
		note_lost(p, id, lost);
		uint64_t delta = advance(&p->attrs.ids.at[id], value);
		if (delta)
			emit_as(p, &p->attrs.at.at[p->attrs.ids.at[id].attr], s, delta, stack, tid);
	}
}

static void emit_read(struct perf *p, struct perf_attr *a, uint32_t id, struct sample s,
		      const struct perf_sample *from, const struct perf_stack *stack)
{
	struct bytes b = from->read;
	bool has_id = a->layout.read_format & PERF_READ_ID;

	if (a->layout.read_format & PERF_READ_GROUP && has_id) {
		emit_group(p, a, b, s, stack, from->tid);
		return;
	}
	if (a->layout.read_format & PERF_READ_GROUP || id == NONE) {
		emit_as(p, a, s, from->period, stack, from->tid);
		return;
	}
	uint64_t f = a->layout.read_format, delta = advance(&p->attrs.ids.at[id], bytes_u64(&b));
	bytes_take(&b, (f & PERF_READ_ENABLED ? 8 : 0) + (f & PERF_READ_RUNNING ? 8 : 0) +
			       (has_id ? 8 : 0));
	if (f & PERF_READ_LOST)
		note_lost(p, id, bytes_u64(&b));
	if (delta)
		emit_as(p, a, s, delta, stack, from->tid);
}

/* Emits a sample for each branch that was taken before this sample. */
static void emit_branches(struct perf *p, struct perf_attr *a, struct sample like,
			  const struct perf_thread *t, const struct perf_sample *s)
{
	struct perf_space *space = &perf_process_of(p, t)->space;

	for (size_t i = 0; i < s->n_taken; i++) {
		struct sample x = like;
		x.stack = perf_details_branch(p, space, t, s, i, &p->machine.detail);
		emit_as(p, a, x, 1, NULL, s->tid);
	}
	p->machine.detail = 0;
}

static struct sample sample_of(struct perf *p, struct perf_thread *t, uint64_t when, uint32_t cpu,
			       unsigned mode)
{
	uint64_t time = sample_time(when);

	return (struct sample){ .task = perf_thread_task(p, t, time ? time : PERF_NO_TIME),
				.cpu = sample_cpu(cpu),
				.parallelism = parallelism(p),
				.flags = (uint16_t)flags_of(mode),
				.count = 1,
				.time_ns = time };
}

/* A sample without callers waits for nothing, and has no details. */
static void deliver_leaf(struct perf *p, uint64_t time, const struct perf_leaf_sample *l)
{
	perf_attrs_declare(p);
	struct perf_attr *a = &p->attrs.at.at[l->attr];
	struct perf_thread *t = perf_thread_at(p, l->pid, l->tid);
	struct perf_space *user = &perf_process_of(p, t)->space;
	const struct perf_space *space = perf_space_of(p, user, l->mode);
	uint64_t time_ns = sample_time(time);
	taskid task = perf_thread_task(p, t, time_ns ? time_ns : PERF_NO_TIME);
	bool is_kept = p->leaves && space && l->mode == l->own && !parallelism(p);

	perf_attr_declare(p, a);
	account(p, a, task, time_ns, l->period);
	if (is_kept && perf_leaf_add(p, l, space, task, a->event))
		return;
	struct sample x = sample_of(p, t, time, l->cpu, l->own);
	x.event = a->event;
	x.weight = l->period;
	x.stack = perf_stack_leaf(p, user, l->mode, l->ip);
	space = perf_space_of(p, user, l->mode);
	size_t at = profile_add_sample(p->into, x);
	if (is_kept)
		perf_leaf_keep(p, l, space, &x, at);
}

/* Whether samples of an event differ only in frames, task and event, so that they can be summed. */
static bool are_summed(const struct perf *p, const struct perf_attr *a)
{
	return p->sums && !p->details.wanted && !p->details.by_branch && !p->machine.has_switches &&
	       !p->machine.waiting.n && a->type != PERF_TRACEPOINT &&
	       (!(a->layout.sample_type & PERF_READ) || a->off_cpu_raw);
}

/* Sums a sample of which only the chain, and what perf_sample_parse_chain() sets, are known. */
static void sum(struct perf *p, struct perf_attr *a, const struct perf_sample *s)
{
	struct perf_thread *t = perf_thread_at(p, s->pid, s->tid);
	struct perf_space *space = &perf_process_of(p, t)->space;
	struct sample x = sample_of(p, t, s->time, s->cpu, s->mode);
	struct perf_frames frames = perf_stack_frames(p, space, s);

	perf_attr_declare(p, a);
	x.event = a->event;
	x.weight = s->period;
	account(p, a, x.task, x.time_ns, x.weight);
	perf_sums_add(p, s->tid, &frames, &x);
}

/* perf's off-CPU event: {pid, tid}, nanoseconds, call chain, cgroup. */
static void read_off_cpu(const struct perf *p, struct perf_sample *s)
{
	struct bytes raw = s->raw;

	s->pid = bytes_u32(&raw);
	s->tid = bytes_u32(&raw);
	s->period = bytes_u64(&raw);
	uint64_t n = bytes_u64(&raw);
	bool is_whole = !raw.failed && n <= bytes_left(&raw) / 8;
	s->chain = is_whole ? raw.pos : NULL;
	s->n_chain = is_whole ? (size_t)n : 0;
	if (s->n_chain > 1)
		s->ip = perf_u64(p, s->chain + 8);
	s->mode = PERF_MODE_USER;
}

static void deliver_sample(struct perf *p, const struct perf_record *r)
{
	struct perf_sample s;
	uint32_t id;

	perf_attrs_declare(p);
	struct perf_attr *a = perf_attrs_of(p, r->data, r->size, &id);
	if (!a) {
		profile_audit(p->into)->unresolved++;
		return;
	}
	bool by_branch = p->details.by_branch, details = p->details.wanted || by_branch;
	bool summed = are_summed(p, a);
	if (summed && perf_sample_parse_chain(&a->layout, r->data, r->size, &s)) {
		sum(p, a, &s);
		return;
	}
	if (!perf_sample_parse(&a->layout, r->data, r->size, details, &s)) {
		perf_damaged(p, r->offset, "a sample longer than its record");
		return;
	}
	if (s.is_longer)
		perf_damaged(p, r->offset, "a sample is longer than the fields it has");
	if (a->off_cpu_raw)
		read_off_cpu(p, &s);
	if (summed && perf_stack_is_of_chain(p, &s)) {
		sum(p, a, &s);
		return;
	}
	struct perf_thread *t = perf_thread_at(p, s.pid, s.tid);
	struct perf_space *space = &perf_process_of(p, t)->space;
	struct sample sample = sample_of(p, t, s.time, s.cpu, s.mode);
	struct perf_stack stack = perf_stack_of(p, space, a, &s);
	sample.stack = stack.all;
	if (stack.user)
		t->stack = stack.user;
	if (by_branch) {
		emit_branches(p, a, sample, t, &s);
		return;
	}
	if (details || (p->traces.wanted && a->type == PERF_TRACEPOINT))
		p->machine.detail = perf_details_of(p, space, a, t, &s);
	if (a->layout.sample_type & PERF_READ && !a->off_cpu_raw)
		emit_read(p, a, id, sample, &s, &stack);
	else
		emit_as(p, a, sample, s.period, &stack, s.tid);
	p->machine.detail = 0;
}

/* ---- off-CPU time ---- */

static uint16_t add_derived(struct perf *p, const char *name, enum event_kind kind)
{
	struct event e = { .name = profile_add_string(p->into, name, strlen(name)),
			   .unit = EVENT_NS,
			   .kind = kind,
			   .period = 1,
			   .is_derived = true };
	return profile_add_event(p->into, e);
}

static void declare_off_cpu(struct perf *p)
{
	if (p->machine.has_off_cpu)
		return;
	perf_attrs_declare(p); /* the file's own events come first */
	p->machine.blocked = add_derived(p, "blocked (place estimated)", EVENT_BLOCKED);
	p->machine.runnable = add_derived(p, "waiting (place estimated)", EVENT_WAITING);
	p->machine.has_off_cpu = true;
}

/* Assumes that the thread stopped where it was last seen: the stack is a guess. */
static void emit_off_cpu(struct perf *p, struct perf_thread *t, uint64_t until)
{
	if (!t->out || until <= t->out)
		return;
	declare_off_cpu(p);
	struct sample s = { .stack = t->stack,
			    .task = perf_thread_task(p, t, t->out),
			    .event = t->preempted ? p->machine.runnable : p->machine.blocked,
			    .cpu = CPU_NONE,
			    .flags = FRAME_GUESSED,
			    .count = 1,
			    .weight = until - t->out,
			    .time_ns = t->out };
	emit(p, s, NULL, t->tid);
}

static void switch_in(struct perf *p, struct perf_thread *t, uint64_t time)
{
	emit_off_cpu(p, t, time);
	t->out = 0;
	t->in = time;
	p->machine.running++;
}

static void count_cpu_time(struct perf *p, struct perf_thread *t, uint64_t time)
{
	if (!t->in || time < t->in)
		return;
	taskid task = perf_thread_task(p, t, t->in);
	capped_add(&profile_task_at(p->into, task)->cpu_ns, time - t->in);
	capped_add(&profile_audit(p->into)->cpu_ns, time - t->in);
	t->in = 0;
}

static void deliver_switch(struct perf *p, const struct perf_record *r, uint32_t pid, uint32_t tid,
			   bool wide)
{
	uint16_t misc = perf_u16(p, r->data + 4);
	uint64_t time = sample_time(r->time);

	p->machine.is_cpu_wide |= wide;
	if (!time || tid == NONE || (wide && !tid))
		return;
	struct perf_thread *t = perf_thread_at(p, pid, tid);
	if (!(misc & PERF_MISC_SWITCH_OUT)) {
		switch_in(p, t, time);
		return;
	}
	count_cpu_time(p, t, time);
	t->out = time;
	t->preempted = misc & PERF_MISC_SWITCH_PREEMPT;
	p->machine.running--;
	profile_audit(p->into)->switches++;
	profile_audit(p->into)->preemptions += t->preempted;
}

/* ---- mappings ---- */

struct perf_mapping {
	struct perf_map map;
	uint32_t pid;
	const char *path;
	char build_id[41];
};

/* A text that ends with the record at the latest. */
static const char *take_text(struct perf *p, const struct bytes *b)
{
	size_t n = strnlen((const char *)b->pos, bytes_left(b));

	return n < bytes_left(b) ? (const char *)b->pos
				 : arena_printf(&p->arena, "%.*s", (int)n, (const char *)b->pos);
}

/* u8 size, 3 bytes, 20 bytes of id. Some builds of perf 6.1 leave device and inode there, and crash
 * when they read it: with an impossible size there is no build id. */
static void read_build_id(const uint8_t *at, char *hex)
{
	num_hex(hex, at + 4, at[0] <= 20 ? at[0] : 0);
}

/* u32 pid, tid; u64 address, length, offset; MMAP2: 24 bytes of inode or build id, u32 protection,
 * flags; path. */
static bool read_mapping(struct perf *p, const struct perf_record *r, struct bytes b, bool is_v2,
			 struct perf_mapping *ret)
{
	enum { EXECUTABLE = 4 };
	uint16_t misc = perf_u16(p, r->data + 4);

	*ret = (struct perf_mapping){ .pid = bytes_u32(&b) };
	bytes_u32(&b);
	ret->map.start = bytes_u64(&b);
	uint64_t length = bytes_u64(&b);
	ret->map.offset = bytes_u64(&b);
	ret->map.is_data = misc & PERF_MISC_MMAP_DATA;
	if (is_v2) {
		const uint8_t *id = bytes_take(&b, 24).pos;
		ret->map.is_data = !(bytes_u32(&b) & EXECUTABLE);
		bytes_u32(&b);
		if (!b.failed && misc & PERF_MISC_MMAP_BUILD_ID)
			read_build_id(id, ret->build_id);
	}
	ret->map.end = ret->map.start + length;
	if (ret->map.end < ret->map.start)
		ret->map.end = UINT64_MAX;
	ret->path = take_text(p, &b);
	return !b.failed;
}

/* "[kernel.kallsyms]_text": the name of the kernel, and the symbol by which its address was
 * found. */
static void map_kernel(struct perf *p, struct perf_mapping *m, struct perf_space *space)
{
	const char *end = strchr(m->path, ']'), *id = m->build_id;

	if (end && end[1] == '_') {
		m->path = arena_printf(&p->arena, "%.*s", (int)(end + 1 - m->path), m->path);
		if (!*id && space == &p->kernel)
			id = perf_kernel_build_id(p, m->path, m->map.offset);
	}
	m->map.object = perf_object_add(p, m->path, id, m->pid, PERF_MAP_KERNEL);
	perf_space_map(p, space, m->map);
}

static void map_user(struct perf *p, struct perf_mapping *m)
{
	struct perf_thread *t = perf_thread_at(p, m->pid, m->pid);
	struct perf_process *process = perf_process_of(p, t);
	struct perf_space *space = &process->space;

	if (process->is_new) {
		perf_space_exec(p, space);
		process->is_new = false;
		t->stack = 0;
	}
	m->map.object = perf_object_add(p, m->path, m->build_id, m->pid,
					m->map.is_data ? PERF_MAP_DATA : PERF_MAP_CODE);
	const struct perf_object *o = &p->objects.at[m->map.object];
	if (!space->has_main && !m->map.is_data && o->kind == OBJECT_ELF) {
		space->has_main = true; /* the kernel maps the executable before all other files */
		profile_add_object_of(p->into, o->path, o->build_id, o->kind, true);
	}
	perf_space_map(p, space, m->map);
}

static void deliver_mmap(struct perf *p, const struct perf_record *r, struct bytes b, bool is_v2)
{
	struct perf_mapping m;

	if (!read_mapping(p, r, b, is_v2, &m)) {
		perf_damaged(p, r->offset, "a mapping that is cut off");
		return;
	}
	switch (perf_u16(p, r->data + 4) & PERF_MODE_MASK) {
	case PERF_MODE_KERNEL:
		map_kernel(p, &m, &p->kernel);
		break;
	case PERF_MODE_GUEST_KERNEL:
		map_kernel(p, &m, &p->guest_kernel);
		break;
	case PERF_MODE_GUEST_USER:
	case PERF_MODE_HYPERVISOR:
		break;
	default:
		map_user(p, &m);
	}
}

/* u64 address; u32 length; u16 type, flags; name: a BPF program, or a piece of code that the kernel
 * made for itself. */
static void deliver_ksymbol(struct perf *p, struct bytes b)
{
	enum { UNREGISTER = 1 };
	struct perf_map m = { .start = bytes_u64(&b) };

	m.end = m.start + bytes_u32(&b);
	uint32_t word = bytes_u32(&b);
	unsigned flags = p->big_endian ? word & 0xffff : word >> 16;
	if (b.failed || m.end < m.start)
		return;
	m.object = NONE;
	if (!(flags & UNREGISTER)) {
		const char *name = take_text(p, &b);
		m.object = perf_object_add(p, "[bpf]", "", 0, PERF_MAP_KERNEL);
		m.name = profile_add_string(p->into, name, strlen(name));
	}
	perf_space_map(p, &p->kernel, m);
}

/* ---- processes ---- */

static void deliver_comm(struct perf *p, const struct perf_record *r, struct bytes b)
{
	uint32_t pid = bytes_u32(&b), tid = bytes_u32(&b);

	if (!b.failed)
		perf_thread_name(p, pid, tid, take_text(p, &b),
				 perf_u16(p, r->data + 4) & PERF_MISC_COMM_EXEC, r->time);
}

/* u32 pid, ppid, tid, ptid. */
static void deliver_fork(struct perf *p, const struct perf_record *r, struct bytes b)
{
	uint32_t pid = bytes_u32(&b), ppid = bytes_u32(&b);
	uint32_t tid = bytes_u32(&b), ptid = bytes_u32(&b);

	if (!b.failed)
		perf_thread_fork(p, pid, tid, ppid, ptid, r->time,
				 !(perf_u16(p, r->data + 4) & PERF_MISC_FORK_EXEC));
}

static void deliver_exit(struct perf *p, const struct perf_record *r, struct bytes b)
{
	uint32_t pid = bytes_u32(&b);
	bytes_u32(&b);
	uint32_t tid = bytes_u32(&b);

	if (b.failed)
		return;
	if (p->machine.has_switches && !p->machine.is_cpu_wide && r->time != PERF_NO_TIME)
		count_cpu_time(p, perf_thread_at(p, pid, tid), r->time);
	perf_thread_exit(p, pid, tid, r->time);
	p->machine.running--;
}

/* ---- all records ---- */

/* Finds the thread of a record that is no sample. */
static void read_owner(struct perf *p, const struct perf_record *r, uint32_t *pid, uint32_t *tid)
{
	uint32_t id;
	const struct perf_attr *a = perf_attrs_of(p, r->data, r->size, &id);
	int at = a ? a->trailer_tid : -1;

	*pid = *tid = NONE;
	if (at > 0 && r->size >= (size_t)at + PERF_RECORD_HEADER) {
		*pid = perf_u32(p, r->data + r->size - at);
		*tid = perf_u32(p, r->data + r->size - at + 4);
	}
}

void perf_machine_deliver(struct perf *p, const struct perf_record *r)
{
	if (!r->size) {
		deliver_leaf(p, r->time, &r->leaf);
		return;
	}
	struct bytes b = bytes_of(p->name, r->data, r->size);
	uint32_t pid, tid, type = perf_u32(p, r->data);

	b.swap = p->swap;
	b.pos += PERF_RECORD_HEADER;
	if (p->watcher) {
		p->watcher->deliver(p, r);
		return;
	}
	switch (type) {
	case PERF_R_SAMPLE:
		deliver_sample(p, r);
		break;
	case PERF_R_MMAP:
	case PERF_R_MMAP2:
		deliver_mmap(p, r, b, type == PERF_R_MMAP2);
		break;
	case PERF_R_COMM:
		deliver_comm(p, r, b);
		break;
	case PERF_R_FORK:
		deliver_fork(p, r, b);
		break;
	case PERF_R_EXIT:
		deliver_exit(p, r, b);
		break;
	case PERF_R_LOST:
		bytes_u64(&b);
		capped_add(&p->machine.lost_records, bytes_u64(&b));
		break;
	case PERF_R_LOST_SAMPLES:
		capped_add(&p->machine.lost_samples, bytes_u64(&b));
		break;
	case PERF_R_THROTTLE:
		profile_audit(p->into)->throttled++;
		break;
	case PERF_R_KSYMBOL:
		deliver_ksymbol(p, b);
		break;
	case PERF_R_NAMESPACES:
		perf_details_namespaces(p, b);
		break;
	case PERF_R_CGROUP:
		perf_details_cgroup(p, b);
		break;
	case PERF_R_SWITCH:
	case PERF_R_SWITCH_CPU_WIDE:
		read_owner(p, r, &pid, &tid);
		deliver_switch(p, r, pid, tid, type == PERF_R_SWITCH_CPU_WIDE);
		break;
	case PERF_R_CALLCHAIN_DEFERRED:
		read_owner(p, r, &pid, &tid);
		deliver_deferred(p, b, pid, tid);
		break;
	case PERF_R_UNTHROTTLE: /* nothing in them is needed */
	case PERF_R_READ:
	case PERF_R_AUX:
	case PERF_R_ITRACE_START:
	case PERF_R_BPF_EVENT:
	case PERF_R_TEXT_POKE:
	case PERF_R_AUX_OUTPUT_HW_ID:
		break;
	default:
		perf_machine_note_unknown(p, type);
	}
}

void perf_machine_note_unknown(struct perf *p, uint32_t kind)
{
	if (!p->machine.n_unknown++)
		p->machine.unknown_kind = kind;
}

static void add_doubt(struct perf *p, char *text)
{
	profile_add_fact(p->into, FACT_UNREAD, text);
	free(text);
}

/* Says what in the file was not understood, or is not there. */
static void add_doubts(struct perf *p)
{
	const struct perf_machine *m = &p->machine;
	size_t n_longer = 0;

	for (size_t i = 0; i < p->attrs.at.n; i++)
		n_longer += (p->attrs.at.at[i].layout.sample_type & ~PERF_SAMPLE_FIELDS) != 0;
	if (m->n_unknown)
		add_doubt(p, xprintf("%ju records of a kind that kin does not know (the first: %u) "
				     "were left out",
				     (uintmax_t)m->n_unknown, m->unknown_kind));
	if (n_longer)
		add_doubt(p, xprintf("samples have a field that kin does not know, and that was "
				     "left out"));
	if (m->undelivered)
		add_doubt(p, xprintf("%ju samples lack the part of their stack in the program, "
				     "which never came",
				     (uintmax_t)m->undelivered));
}

void perf_machine_finish(struct perf *p)
{
	struct perf_machine *m = &p->machine;
	struct audit *audit = profile_audit(p->into);

	perf_attrs_declare(p);
	perf_sums_settle(p);
	for (size_t i = 0; i < p->threads.n; i++) /* off a CPU at the recording's end */
		emit_off_cpu(p, &p->threads.at[i], m->last_time);
	emit_first(p, m->waiting.n);
	add_doubts(p);
	uint64_t lost = 0;
	for (size_t i = 0; i < p->attrs.ids.n; i++)
		capped_add(&lost, p->attrs.ids.at[i].lost);
	if (lost > m->lost_samples)
		m->lost_samples = lost;
	perf_leaves_finish(p);
	perf_tasks_finish(p);
	/* The kernel's records and the counters report the same losses. */
	capped_add(&audit->lost,
		   m->lost_records > m->lost_samples ? m->lost_records : m->lost_samples);
	capped_add(&audit->duration_ns, m->last_time - m->first_time);
}

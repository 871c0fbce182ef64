/* kin_tables.c - reads tables that the runtime counts in place. A slot may be just being written.
 *
 * A call site is stored as an address within the call. The runtime only has the return address,
 * which belongs to the next function if the call was the last instruction of one. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/num.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/kin/kin_read.h"
#include "machine/machine.h"

/* Reads one record at a time: next() is true while a record of `size` bytes is left in the
 * payload. */
struct table_walk {
	struct kinfile *f;
	uint64_t left;
};

static bool next(struct table_walk *k, void *record, size_t size)
{
	struct window *w = k->f->w;

	if (k->left < size || window_need(w, size) < size)
		return false;
	memcpy(record, w->b.pos, size);
	w->b.pos += size;
	k->left -= size;
	return true;
}

static struct table_walk walk_of(struct kinfile *f, const struct kinfile_block *b)
{
	return (struct table_walk){ f, b->used };
}

static uint64_t offset(const struct table_walk *k) { return window_offset(k->f->w); }

/* ---- modules ---- */

static size_t padded(size_t n) { return (n + 7) & ~(size_t)7; }

static enum object_kind kind_of(const struct kinf_module *m, const char *path)
{
	if (m->flags & KINF_MODULE_VDSO)
		return OBJECT_VDSO;
	if (m->flags & KINF_MODULE_MADE)
		return OBJECT_JIT;
	return path[0] == '[' ? OBJECT_OTHER : OBJECT_ELF;
}

static void add_module(struct kinfile *f, const struct kinf_module *m, const uint8_t *tail)
{
	char *path = xprintf("%.*s", (int)m->path_size, (const char *)tail);
	char *build_id = xalloc(2 * (size_t)m->build_id_size + 1);
	const uint8_t *id = tail + padded(m->path_size);

	num_hex(build_id, id, m->build_id_size);
	struct kinfile_module x = { .start = m->start,
				    .end = m->end,
				    .bias = m->bias,
				    .mapped_at = m->mapped_at,
				    .unmapped_at = m->unmapped_at,
				    .id = m->id };
	x.object = profile_add_object_of(f->into, path, build_id, kind_of(m, path),
					 m->flags & KINF_MODULE_MAIN);
	vec_push(&f->modules.at, x);
	*map64_at(&f->modules.by_id, m->id) = x.object;
	free(build_id);
	free(path);
}

void kinfile_read_modules(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_module m;

	while (next(&k, &m, sizeof(m)) && m.size) {
		size_t tail = padded(m.path_size) + padded(m.build_id_size);
		if (m.size % 8 || m.size < sizeof(m) + tail || m.size - sizeof(m) > k.left ||
		    m.start > m.end || window_need(f->w, tail) < tail) {
			kinfile_damaged(f, offset(&k) - sizeof(m), "no such module");
			return;
		}
		add_module(f, &m, f->w->b.pos);
		k.left -= m.size - sizeof(m);
		window_seek(f->w, offset(&k) + m.size - sizeof(m));
	}
}

/* ---- code made at run time ---- */

/* Adds a piece of code. Pieces must be in order; others are ignored. */
static void add_made(struct kinfile *f, const struct kinf_made *m, const char *name)
{
	uint64_t last = f->made.n ? f->made.at[f->made.n - 1].end : 0;

	if (m->start < last || m->start >= m->end || !m->name_size)
		return;
	vec_push(&f->made,
		 ((struct kinfile_made){
			 m->start, m->end,
			 profile_add_string(f->into, name, strnlen(name, m->name_size)) }));
}

void kinfile_read_made(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_made m;

	while (next(&k, &m, sizeof(m))) {
		size_t tail = m.size - sizeof(m);
		if (m.size % 8 || m.size < sizeof(m) || tail < m.name_size || tail > k.left ||
		    window_need(f->w, tail) < tail) {
			kinfile_damaged(f, offset(&k) - sizeof(m), "no such piece of code");
			return;
		}
		add_made(f, &m, (const char *)f->w->b.pos);
		f->w->b.pos += tail;
		k.left -= tail;
	}
}

/* The name of the code at an address; 0: none. */
static strid name_of_made(const struct kinfile *f, uint64_t addr)
{
	size_t low = COUNT_WHILE(f->made.n, i, f->made.at[i].end <= addr);
	return low < f->made.n && f->made.at[low].start <= addr ? f->made.at[low].name : 0;
}

/* ---- threads ---- */

void kinfile_read_threads(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_thread t;

	while (next(&k, &t, sizeof(t)) && t.index) {
		struct task task = { .pid = f->header.pid,
				     .rank = f->header.rank,
				     .tid = t.tid,
				     .run = f->run,
				     .start_ns = t.start_ns,
				     .end_ns = t.end_ns,
				     .cpu_ns = t.cpu_ns,
				     .sampled_ns = t.sampled_ns };
		task.comm = profile_add_string(f->into, t.name, strnlen(t.name, sizeof(t.name)));
		*map64_at(&f->threads, t.index) = profile_add_task(f->into, task);
		f->has_task = true;
		capped_add(&f->threads_cpu_ns, t.cpu_ns);
	}
}

static taskid task_of(const struct kinfile *f, const struct kinfile_block *b)
{
	uint32_t task = map64_get(&f->threads, b->head.thread);

	return task == NONE ? 0 : task;
}

/* ---- info ---- */

/* Whether the text has no NULs, which would end it early. */
static bool is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!s[i])
			return false;
	return true;
}

void kinfile_add_fact(struct kinfile *f, const char *text, size_t n)
{
	const char *equals = memchr(text, '=', n);

	if (!equals || !is_text(text, n))
		return;
	char *name = xprintf("%.*s", (int)(equals - text), text);
	char *value = xprintf("%.*s", (int)(n - (size_t)(equals - text) - 1), equals + 1);
	profile_add_fact(f->into, name, value);
	free(value);
	free(name);
}

/* Reads "options=run=ID,repetition=2,...". The user's settings come after these two. */
static void take_repetition(struct kinfile *f, const char *line, size_t n)
{
	static const char options[] = "options=run=";
	char *text = xprintf("%.*s", (int)n, line), *comma = strchr(text, ',');
	size_t word = strlen(KINF_REPETITION);
	if (!strncmp(text, options, strlen(options)) && comma &&
	    !strncmp(comma, KINF_REPETITION, word)) {
		comma[word + strcspn(comma + word, ",")] = '\0';
		f->run = (uint32_t)strtoul(comma + word, NULL, 10);
	}
	free(text);
}

/* Reads a few lines; a hole in the file looks like an empty line. */
void kinfile_read_info(struct kinfile *f, const struct kinfile_block *b)
{
	enum { MAX = 1 << 16 };
	size_t n = b->used < MAX ? (size_t)b->used : MAX;

	n = window_need(f->w, n) < n ? bytes_left(&f->w->b) : n;
	const char *p = (const char *)f->w->b.pos, *end = p + n;
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		kinfile_add_fact(f, p, (size_t)(stop - p));
		take_repetition(f, p, (size_t)(stop - p));
		p = stop + 1;
	}
}

/* ---- calls ---- */

static void add_arc(struct kinfile *f, struct arc arc, taskid task)
{
	profile_add_arc(f->into, arc);
	if (f->calls_alone)
		profile_mark_untimed(f->into, arc.to_object);
	f->source->n_arcs++;
	capped_add(&f->calls, arc.count);
	if (task)
		profile_add_task_arc(f->into, (struct task_arc){ .from = arc.from,
								 .to = arc.to,
								 .count = arc.count,
								 .from_object = arc.from_object,
								 .to_object = arc.to_object,
								 .task = task });
}

/* Converts *from to an address within the call. 0: the caller is not known. */
static objid place_call(struct kinfile *f, uint64_t *from)
{
	if (!*from)
		return 0;
	--*from;
	return kinfile_module_place(&f->modules, from, (uint32_t)KIN_NOW);
}

void kinfile_read_twice(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_call c;

	while (next(&k, &c, sizeof(c)))
		if (c.key > KINF_CALL_TAKEN && c.count)
			vec_push(&f->twice, c);
}

static int by_arc(const void *a, const void *b)
{
	const struct kinf_call *x = a, *y = b;
	int order = ORDER(x->key, y->key);
	return order ? order : ORDER(x->to_high, y->to_high);
}

/* Whether the arc is in a KINF_TWICE block: another arc counts the same calls. */
static bool is_second(struct kinfile *f, uint64_t from, uint64_t to)
{
	struct kinf_call c = { .key = kinf_call_key(from, to), .to_high = (uint32_t)(to >> 16) };

	if (!f->twice.n)
		return false;
	if (!f->twice_sorted)
		qsort(f->twice.at, f->twice.n, sizeof(c), by_arc);
	f->twice_sorted = true;
	return bsearch(&c, f->twice.at, f->twice.n, sizeof(c), by_arc);
}

static void add_call(struct kinfile *f, uint64_t from, uint64_t to, uint64_t count, taskid task)
{
	struct arc arc = { .from = from, .to = to, .count = count };

	if (is_second(f, from, to))
		return;
	arc.from_object = place_call(f, &arc.from);
	arc.to_object = kinfile_module_place(&f->modules, &arc.to, (uint32_t)KIN_NOW);
	add_arc(f, arc, task);
}

void kinfile_read_arcs(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	taskid task = task_of(f, b);
	struct kinf_arc a;

	while (next(&k, &a, sizeof(a)))
		if (a.to && a.count)
			add_call(f, a.from, a.to, a.count, task);
}

void kinfile_read_calls(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	taskid task = task_of(f, b);
	struct kinf_call c;

	while (next(&k, &c, sizeof(c)))
		if (c.key > KINF_CALL_TAKEN && c.count)
			add_call(f, kinf_call_from(&c), kinf_call_to(&c), c.count, task);
}

static objid retired_object(struct kinfile *f, uint32_t module)
{
	uint32_t object = module ? map64_get(&f->modules.by_id, module) : 0;

	if (object != NONE)
		return object;
	profile_audit(f->into)->unresolved++;
	return 0;
}

void kinfile_read_retired(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	taskid task = task_of(f, b);
	struct kinf_retired_arc a;

	while (next(&k, &a, sizeof(a))) {
		if (!a.count)
			continue;
		struct arc arc = { .from = a.from ? a.from - 1 : 0, .to = a.to, .count = a.count };
		arc.from_object = retired_object(f, a.from_module);
		arc.to_object = retired_object(f, a.to_module);
		add_arc(f, arc, task);
	}
}

/* Adds a latency record; `x` has the two ends. */
static void add_latency(struct kinfile *f, const struct kinf_latency *l, struct latency x)
{
	uint64_t bucket[LATENCY_BUCKETS];
	_Static_assert((unsigned)LATENCY_BUCKETS == KINF_LATENCY_BUCKETS, "the same buckets");

	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		bucket[i] = l->bucket[i];
	x.count = l->count;
	x.sum_ns = l->sum_ns;
	x.min_ns = l->min_ns;
	x.max_ns = l->max_ns;
	x.probes_ns = l->probes_ns;
	x.bucket = bucket;
	profile_add_latency(f->into, x);
}

void kinfile_read_latencies(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_latency l;

	while (next(&k, &l, sizeof(l))) {
		struct latency x = { .from = l.from, .to = l.to };
		if (!l.to || !l.count)
			continue;
		x.from_object = place_call(f, &x.from);
		x.to_object = kinfile_module_place(&f->modules, &x.to, (uint32_t)KIN_NOW);
		add_latency(f, &l, x);
	}
}

void kinfile_read_retired_latencies(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_retired_latency r;

	while (next(&k, &r, sizeof(r))) {
		struct latency x = { .from = r.of.from ? r.of.from - 1 : 0, .to = r.of.to };
		if (!r.of.count)
			continue;
		x.from_object = retired_object(f, r.from_module);
		x.to_object = retired_object(f, r.to_module);
		add_latency(f, &r.of, x);
	}
}

static void add_block(struct kinfile *f, struct block block, bool *any)
{
	profile_add_block(f->into, block);
	if (*any)
		return;
	*any = true;
	profile_add_block_record(f->into);
	f->source->n_blocks++;
}

/* The address of a block's first instruction, a call of the hook. The record has that call's return
 * address, which may belong to another source line. "call *hook@GOTPCREL(%rip)" has six bytes: the
 * result is then its second byte. */
static uint64_t block_start(const struct kinfile *f, uint64_t returns_to)
{
	const struct machine *m = machine_find(f->header.machine);
	uint64_t size = m ? m->hook_call_size : 0;
	return returns_to > size ? returns_to - size : returns_to;
}

void kinfile_read_counts(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_count c;
	bool any = false;

	while (next(&k, &c, sizeof(c))) {
		struct block block = { .addr = block_start(f, c.addr), .count = c.count };
		if (!c.addr || !c.count)
			continue;
		block.object = kinfile_module_place(&f->modules, &block.addr, (uint32_t)KIN_NOW);
		add_block(f, block, &any);
	}
}

void kinfile_read_retired_counts(struct kinfile *f, const struct kinfile_block *b)
{
	struct table_walk k = walk_of(f, b);
	struct kinf_retired_count c;
	bool any = false;

	while (next(&k, &c, sizeof(c)))
		if (c.count)
			add_block(f,
				  (struct block){ .addr = block_start(f, c.addr),
						  .count = c.count,
						  .object = retired_object(f, c.module) },
				  &any);
}

/* ---- stacks ---- */

static uint16_t event_of(struct kinfile *f)
{
	struct event e = { .unit = EVENT_NS, .kind = EVENT_ON_CPU, .period = f->header.period_ns };

	if (!f->has_event) {
		e.name = profile_add_string(f->into, "task-clock", strlen("task-clock"));
		f->event = profile_add_event(f->into, e);
		f->has_event = true;
	}
	return f->event;
}

void kinfile_note_unsampled(struct kinfile *f)
{
	enum { UNSAMPLED_NS = 50000000 }; /* less may fall between two ticks */
	const struct kinf_header *h = &f->header;
	bool was_to_be = h->writer == KINF_BY_RUNTIME && h->period_ns;
	if (was_to_be && h->cpu_ns >= UNSAMPLED_NS)
		event_of(f);
}

static bool is_within(uint64_t pc, uint64_t start, uint64_t end) { return pc >= start && pc < end; }

/* A return address belongs to the module of its call. */
static frameid frame_of(struct kinfile *f, uint64_t pc, uint16_t flags, uint32_t epoch)
{
	struct frame x = { .addr = pc, .flags = flags };
	bool before = flags & FRAME_RETURN && pc;

	x.addr -= before;
	if (is_within(x.addr, f->header.hooks_start, f->header.hooks_end))
		x.flags |= FRAME_HOOK;
	x.object = kinfile_module_place(&f->modules, &x.addr, epoch);
	if (f->made.n && profile_object_kind(f->into, x.object) == OBJECT_JIT)
		x.name = name_of_made(f, x.addr);
	x.addr += before;
	return profile_add_frame(f->into, x);
}

/* The runtime's own work: not the hooks', whose cost is known, and subtracted. */
static bool is_profiler(const struct kinf_header *h, uint64_t leaf)
{
	return is_within(leaf, h->own_start, h->own_end) &&
	       !is_within(leaf, h->hooks_start, h->hooks_end);
}

/* No function of the program called for it, so it has no callers. */
static stackid profiler_stack(struct kinfile *f)
{
	strid name = profile_add_string(f->into, NAME_PROFILER, strlen(NAME_PROFILER));
	return profile_add_stack(f->into, 0,
				 profile_add_frame(f->into, (struct frame){ .name = name }));
}

static bool is_cut(const struct kinfile *f, const struct kinf_stack *s)
{
	return s->end == KINF_STACK_CUT ||
	       (s->end == KINF_STACK_LEAF_ONLY && f->header.losses[KINF_LOST_STACKS]);
}

/* The stack's pcs are in the window. */
static uint64_t pc_at(const struct kinfile *f, uint32_t i)
{
	uint64_t pc;
	memcpy(&pc, f->w->b.pos + (size_t)i * sizeof(pc), sizeof(pc));
	return pc;
}

/* Makes a stack of the payload's pcs. */
static stackid stack_of(struct kinfile *f, const struct kinf_stack *s)
{
	stackid stack = 0;

	if (is_profiler(&f->header, pc_at(f, 0)))
		return profiler_stack(f);
	if (is_cut(f, s))
		stack = profile_add_stack(f->into, 0, profile_add_mark(f->into, MARK_CUT));
	bool is_signal = false; /* its caller was interrupted by it */
	for (uint32_t i = s->depth; i-- > 0;) {
		uint64_t pc = pc_at(f, i), interrupted = i ? pc & KINF_PC_INTERRUPTED : 0;
		bool doubtful = s->doubtful && i >= s->doubtful;
		uint16_t flags = (i && !interrupted ? FRAME_RETURN : 0) |
				 (doubtful ? FRAME_GUESSED : 0) | (is_signal ? FRAME_SIGNAL : 0);
		stack = profile_add_stack(f->into, stack,
					  frame_of(f, pc ^ interrupted, flags, s->epoch));
		is_signal = interrupted;
	}
	return stack;
}

static void count_stack(struct kinfile *f, const struct kinf_stack *s)
{
	struct audit *a = profile_audit(f->into);
	capped_add(s->end == KINF_STACK_COMPLETE ? &a->complete : &a->truncated, s->count);
	capped_add(&f->seen_sampled_ns, s->weight_ns);
}

void kinfile_read_stacks(struct kinfile *f, const struct kinfile_block *b)
{
	enum { MAX_DEPTH = 1 << 20 };
	struct table_walk k = walk_of(f, b);
	taskid task = task_of(f, b);
	struct kinf_stack s;

	while (next(&k, &s, sizeof(s)) && s.depth) {
		size_t size = (size_t)s.depth * sizeof(uint64_t);
		if (s.depth > MAX_DEPTH || size > k.left || window_need(f->w, size) < size) {
			kinfile_damaged(f, offset(&k) - sizeof(s), "a stack that is too deep");
			return;
		}
		if (s.count) {
			struct sample x = { .task = task, .cpu = CPU_NONE, .weight = s.weight_ns };
			x.event = event_of(f);
			x.stack = stack_of(f, &s);
			x.count = s.count < UINT32_MAX ? (uint32_t)s.count : UINT32_MAX;
			profile_add_sample(f->into, x);
			count_stack(f, &s);
		}
		f->w->b.pos += size;
		k.left -= size;
	}
}

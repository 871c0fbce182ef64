/* perf_about_tasks.c - the tree of tasks and their mappings, as perf report --tasks and --mmaps
 * print them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/search.h"
#include "perf/perf_about_private.h"

enum { TREE_MAX = 256 }; /* levels; deeper tasks are printed at the last one */

/* Limits of mappings of a process and in all: each fork copies all mappings of the parent, so a
 * small file could ask for very many. */
enum { MAPS_MAX = 1 << 14, ALL_MAPS_MAX = 1 << 20 };

/* ---- records ---- */

static uint32_t task_at(struct perf_about *a, uint32_t pid, uint32_t tid)
{
	uint32_t *i = map64_at(&a->task_ids, tid);

	if (*i == NONE) {
		*i = (uint32_t)a->tasks.n;
		vec_push(&a->tasks, ((struct about_task){ .pid = pid,
							  .tid = tid,
							  .parent = NONE,
							  .comm = tid ? NULL : "swapper" }));
	}
	return *i;
}

static const char *text_of(struct perf *p, const struct bytes *b)
{
	size_t n = strnlen((const char *)b->pos, bytes_left(b));

	return arena_printf(&p->arena, "%.*s", (int)n, (const char *)b->pos);
}

static void copy_maps(struct perf_about *a, struct about_task *to, const struct about_task *from)
{
	size_t n = from->maps.n;

	if (!n || a->n_maps + n > ALL_MAPS_MAX)
		return;
	vec_reserve(&to->maps, n);
	memcpy(to->maps.at, from->maps.at, n * sizeof(*to->maps.at));
	to->maps.n = n;
	a->n_maps += n;
}

/* Adds a forked task with a copy of its parent's mappings. Forks that perf synthesises at its start
 * copy none: records of all mappings follow them. */
static void fork_task(struct perf *p, const struct perf_record *r, struct bytes b)
{
	struct perf_about *a = about_of(p);
	uint32_t pid = bytes_u32(&b), ppid = bytes_u32(&b);
	uint32_t tid = bytes_u32(&b), ptid = bytes_u32(&b);

	if (b.failed)
		return;
	uint32_t parent = task_at(a, ppid, ptid), child = task_at(a, pid, tid);
	uint32_t process = task_at(a, ppid, ppid);
	struct about_task *t = &a->tasks.at[child];
	const struct about_task *from = &a->tasks.at[parent];
	if (child == parent)
		return;
	t->parent = ptid;
	t->pid = pid;
	t->comm = from->comm;
	t->maps.n = 0;
	if (pid != ppid && process != child && !(perf_u16(p, r->data + 4) & PERF_MISC_FORK_EXEC))
		copy_maps(a, t, &a->tasks.at[process]);
}

static void name_task(struct perf *p, struct bytes b)
{
	uint32_t pid = bytes_u32(&b), tid = bytes_u32(&b);

	if (b.failed)
		return;
	uint32_t i = task_at(about_of(p), pid, tid);
	about_of(p)->tasks.at[i].comm = text_of(p, &b);
}

/* The first mapping that ends after an address. */
static size_t first_behind(const struct about_task *t, uint64_t addr)
{
	return COUNT_WHILE(t->maps.n, i, t->maps.at[i].end <= addr);
}

/* Adds a mapping. Parts of older mappings beyond its ends stay. */
static void add_map(struct perf_about *a, struct about_task *t, struct about_map m)
{
	struct about_map pieces[3];
	size_t first = first_behind(t, m.start), end = first, n = 0;

	if (t->maps.n >= MAPS_MAX || a->n_maps >= ALL_MAPS_MAX)
		return;
	while (end < t->maps.n && t->maps.at[end].start < m.end)
		end++;
	if (end > first && t->maps.at[first].start < m.start) {
		pieces[n] = t->maps.at[first];
		pieces[n++].end = m.start;
	}
	pieces[n++] = m;
	if (end > first && t->maps.at[end - 1].end > m.end) {
		pieces[n] = t->maps.at[end - 1];
		pieces[n].offset += m.end - pieces[n].start;
		pieces[n++].start = m.end;
	}
	vec_reserve(&t->maps, n);
	memmove(t->maps.at + first + n, t->maps.at + end, (t->maps.n - end) * sizeof(*t->maps.at));
	memcpy(t->maps.at + first, pieces, n * sizeof(*pieces));
	t->maps.n = t->maps.n - (end - first) + n;
	a->n_maps += n;
}

static void map_file(struct perf *p, const struct perf_record *r, struct bytes b, bool is_v2)
{
	enum { READ = 1, WRITE = 2, EXECUTE = 4 };
	uint16_t misc = perf_u16(p, r->data + 4), mode = misc & PERF_MODE_MASK;
	uint32_t pid = bytes_u32(&b);

	bytes_u32(&b);
	struct about_map m = { .start = bytes_u64(&b) };
	uint64_t size = bytes_u64(&b);
	m.offset = bytes_u64(&b);
	m.prot = misc & PERF_MISC_MMAP_DATA ? 0 : EXECUTE;
	if (is_v2) {
		struct bytes id = bytes_take(&b, 24);
		bytes_u64(&id);
		m.inode = misc & PERF_MISC_MMAP_BUILD_ID ? 0 : bytes_u64(&id);
		m.prot = bytes_u32(&b);
		m.flags = bytes_u32(&b);
	}
	m.end = m.start + size;
	if (b.failed || m.end <= m.start || mode == PERF_MODE_KERNEL ||
	    mode == PERF_MODE_GUEST_KERNEL)
		return;
	m.path = text_of(p, &b);
	if (m.prot & EXECUTE && perf_is_anonymous(m.path))
		m.path = perf_jit_path(p, pid);
	uint32_t i = task_at(about_of(p), pid, pid);
	add_map(about_of(p), &about_of(p)->tasks.at[i], m);
}

void about_task_record(struct perf *p, const struct perf_record *r)
{
	struct bytes b = bytes_of(p->name, r->data, r->size);
	uint32_t type = perf_u32(p, r->data);

	b.swap = p->swap;
	b.pos += PERF_RECORD_HEADER;
	switch (type) {
	case PERF_R_FORK:
		fork_task(p, r, b);
		break;
	case PERF_R_COMM:
		name_task(p, b);
		break;
	case PERF_R_MMAP:
	case PERF_R_MMAP2:
		if (about_of(p)->what & PERF_ABOUT_MAPS)
			map_file(p, r, b, type == PERF_R_MMAP2);
		break;
	}
}

/* ---- printing ---- */

static void print_maps(FILE *out, const struct about_task *t, int level)
{
	enum { MARGIN = 30, SHARED = 1 };

	for (size_t i = 0; i < t->maps.n; i++) {
		const struct about_map *m = &t->maps.at[i];
		char *path = escape_copy(m->path);
		fprintf(out, "%*s  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n",
			MARGIN + level, "", m->start, m->end, m->prot & 1 ? 'r' : '-',
			m->prot & 2 ? 'w' : '-', m->prot & 4 ? 'x' : '-',
			m->flags & SHARED ? 's' : 'p', m->offset, m->inode, path);
		free(path);
	}
}

static void print_task(struct perf_about *a, const struct about_task *t, int level)
{
	char *comm = escape_copy(t->comm ? t->comm : "");

	if (t->comm)
		fprintf(a->out, "  %8" PRIu32 " %8" PRIu32 " %8d |%*s%s\n", t->pid, t->tid,
			t->parent == NONE ? -1 : (int)t->parent, level, "", comm);
	else
		fprintf(a->out, "  %8" PRIu32 " %8" PRIu32 " %8d |%*s:%" PRIu32 "\n", t->pid,
			t->tid, t->parent == NONE ? -1 : (int)t->parent, level, "", t->tid);
	free(comm);
	if (a->what & PERF_ABOUT_MAPS && t->pid == t->tid)
		print_maps(a->out, t, level);
}

/* Orders tasks as perf does, which keeps threads in 256 bins by id. */
static int by_bin(const void *l, const void *r, void *tasks)
{
	const struct about_task *at = tasks, *x = &at[*(const uint32_t *)l],
				*y = &at[*(const uint32_t *)r];

	if (x->tid % 256 != y->tid % 256)
		return x->tid % 256 < y->tid % 256 ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Lists of children by parent's index, in order. The last list has the tasks without a parent. */
struct task_tree {
	uint32_t *order, *first, *next;
	bool *printed;
	size_t n;
};

static void make_tree(struct perf_about *a, struct task_tree *t)
{
	t->n = a->tasks.n;
	t->order = xrealloc(NULL, t->n + 1, sizeof(*t->order));
	t->first = xrealloc(NULL, t->n + 1, sizeof(*t->first));
	t->next = xrealloc(NULL, t->n + 1, sizeof(*t->next));
	t->printed = xalloc(t->n + 1);
	memset(t->first, 0xff, (t->n + 1) * sizeof(*t->first));
	for (size_t i = 0; i < t->n; i++)
		t->order[i] = (uint32_t)i;
	if (t->n)
		qsort_r(t->order, t->n, sizeof(*t->order), by_bin, a->tasks.at);
	for (size_t i = t->n; i--;) {
		const struct about_task *k = &a->tasks.at[t->order[i]];
		uint32_t parent = k->parent == NONE ? NONE : map64_get(&a->task_ids, k->parent);
		size_t list = parent == NONE || parent == t->order[i] ? t->n : parent;
		t->next[t->order[i]] = t->first[list];
		t->first[list] = t->order[i];
	}
}

/* Prints the tree below `root`. Each task is printed once, even if the records contradict each
 * other. */
static void print_tree(struct perf_about *a, struct task_tree *t, uint32_t root)
{
	uint32_t stack[TREE_MAX];
	int depth = 0;

	stack[0] = root;
	while (depth >= 0) {
		uint32_t at = stack[depth];
		if (at == NONE) {
			depth--;
			continue;
		}
		stack[depth] = depth ? t->next[at] : NONE;
		if (t->printed[at])
			continue;
		t->printed[at] = true;
		print_task(a, &a->tasks.at[at], depth);
		if (depth + 1 < TREE_MAX)
			stack[++depth] = t->first[at];
	}
}

void about_tasks_print(struct perf_about *a)
{
	struct task_tree t;

	task_at(a, 0, 0);
	make_tree(a, &t);
	fprintf(a->out, "# %8s %8s %8s  comm\n", "pid", "tid", "ppid");
	for (uint32_t i = t.first[t.n]; i != NONE; i = t.next[i])
		print_tree(a, &t, i);
	for (size_t i = 0; i < t.n; i++) /* tasks that are their own ancestors */
		if (!t.printed[t.order[i]])
			print_tree(a, &t, t.order[i]);
	free(t.order);
	free(t.first);
	free(t.next);
	free(t.printed);
}

void about_tasks_done(struct perf_about *a)
{
	for (size_t i = 0; i < a->tasks.n; i++)
		vec_free(&a->tasks.at[i].maps);
	vec_free(&a->tasks);
	map64_free(&a->task_ids);
}

#include "export/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/vec.h"

/* Stacks by name: frames of one name are one, whatever their addresses. A node's parent has a
 * smaller index; node 0 has no name. */
struct node {
	uint32_t parent;
	strid name;
	uint32_t first, next; /* child, sibling; 0: none */
	uint64_t sum;
};

struct seen { /* a stack's node below the first root that it was seen under: mostly the only one */
	uint32_t root, node;
};

struct tree {
	const struct profile *p;
	const struct folded_opts *o;
	struct strtab *names;
	VEC(struct node) nodes;
	struct map64 ids;   /* MAP64_PAIR(parent, name) */
	uint32_t *of_frame; /* into `runs`: the frame's names; NONE: not asked for yet */
	VEC(strid) runs;    /* each a length and names */
	struct seen *seen;  /* [n_stacks] */
	struct map64 roots; /* MAP64_PAIR(root, stack): node; for further roots of a stack */
};

static uint32_t add_node(struct tree *t, uint32_t parent, strid name)
{
	uint32_t *id = map64_at(&t->ids, MAP64_PAIR(parent, name));

	if (*id == NONE) {
		*id = (uint32_t)t->nodes.n;
		vec_push(&t->nodes, ((struct node){ .parent = parent, .name = name }));
	}
	return *id;
}

/* ---- names ---- */

/* As it may stand in a line. */
static strid clean(struct tree *t, const char *s, const char *annotation)
{
	char *copy = xprintf("%s%s", s, annotation);

	for (char *p = copy; *p; p++) {
		if (*p == ';')
			*p = ':';
		else if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	}
	strid id = strtab_add(t->names, copy);
	free(copy);
	return id;
}

static const char *annotation(const struct tree *t, uint32_t flags, objid object)
{
	if (!t->o->annotate)
		return "";
	if (flags & FRAME_KERNEL)
		return "_[k]";
	if (flags & FRAME_INLINED)
		return "_[i]";
	return t->p->objects[object].kind == OBJECT_JIT ? "_[j]" : "";
}

/* What the data says. */
static strid own_name(struct tree *t, const struct frame *f)
{
	char address[24];
	const char *name = strtab_get(t->p->strings, f->name);

	snprintf(address, sizeof(address), "0x%jx", (uintmax_t)f->addr);
	return clean(t, *name ? name : address, annotation(t, f->flags, f->object));
}

static const strid *names_of(struct tree *t, frameid frame, size_t *n)
{
	const struct frame *f = &t->p->samples.frames[frame];

	if (t->of_frame[frame] == NONE) {
		t->of_frame[frame] = (uint32_t)t->runs.n;
		size_t given = 0;
		const struct folded_name *names =
			t->o->names ? t->o->names(t->o->arg, frame, &given) : NULL;
		vec_push(&t->runs, (strid)(given ? given : 1));
		for (size_t i = 0; i < given; i++)
			vec_push(&t->runs,
				 clean(t, names[i].name, annotation(t, names[i].flags, f->object)));
		if (!given)
			vec_push(&t->runs, own_name(t, f));
	}
	const strid *run = &t->runs.at[t->of_frame[frame]];
	*n = run[0];
	return run + 1;
}

static strid comm_of(struct tree *t, taskid task)
{
	const struct task *k = &t->p->samples.tasks[task];
	const char *comm = strtab_get(t->p->strings, k->comm);
	char ids[32] = "";

	if (t->o->tid)
		snprintf(ids, sizeof(ids), "-%u/%u", k->pid, k->tid);
	else if (t->o->pid)
		snprintf(ids, sizeof(ids), "-%u", k->pid);
	return clean(t, *comm ? comm : "[unknown]", ids);
}

/* ---- adding up ---- */

/* Where the node of a stack below a root is kept. */
static uint32_t *place_of(struct tree *t, uint32_t root, stackid stack)
{
	struct seen *x = &t->seen[stack];

	if (x->root == NONE)
		*x = (struct seen){ root, NONE };
	return x->root == root ? &x->node : map64_at(&t->roots, MAP64_PAIR(root, stack));
}

/* The node of a stack below a root, by way of those of its callers. */
static uint32_t node_of(struct tree *t, uint32_t root, stackid stack)
{
	const struct stack *stacks = t->p->samples.stacks;
	VEC(stackid) todo = { 0 };
	uint32_t node = root, *known = NULL;

	for (; stack; stack = stacks[stack].caller) {
		known = place_of(t, root, stack);
		if (*known != NONE) {
			node = *known;
			break;
		}
		vec_push(&todo, stack);
	}
	while (todo.n) {
		size_t n;
		stack = todo.at[--todo.n];
		const strid *names = names_of(t, stacks[stack].frame, &n);
		for (size_t i = 0; i < n; i++)
			node = add_node(t, node, names[i]);
		*place_of(t, root, stack) = node;
	}
	vec_free(&todo);
	return node;
}

static bool is_wanted(const struct tree *t, uint16_t event)
{
	const struct event *e = &t->p->samples.events[event], *first = t->p->samples.events;

	if (t->o->event)
		return !strcmp(strtab_get(t->p->strings, e->name), t->o->event);
	return e->kind == first->kind && e->unit == first->unit;
}

static void add_samples(struct tree *t)
{
	const struct samples *s = &t->p->samples;
	uint32_t *roots = xrealloc(NULL, s->n_tasks, sizeof(*roots)); /* nodes of tasks */

	for (size_t i = 0; i < s->n_tasks; i++)
		roots[i] = NONE;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(t, x->event) ||
		    (t->o->filter && !sample_filter_passes(t->o->filter, x)))
			continue;
		if (roots[x->task] == NONE)
			roots[x->task] = t->o->no_comm ? 0 : add_node(t, 0, comm_of(t, x->task));
		uint32_t node = x->stack ? node_of(t, roots[x->task], x->stack)
					 : add_node(t, roots[x->task], clean(t, "[unknown]", ""));
		uint64_t *sum = &t->nodes.at[node].sum;
		if (__builtin_add_overflow(*sum, t->o->weights ? x->weight : x->count, sum))
			*sum = UINT64_MAX;
	}
	free(roots);
}

/* ---- writing ---- */

static int by_name(const void *a, const void *b, void *arg)
{
	const struct tree *t = arg;
	const struct node *x = &t->nodes.at[*(const uint32_t *)a];
	const struct node *y = &t->nodes.at[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return strcmp(strtab_get(t->names, x->name), strtab_get(t->names, y->name));
}

/* Children in order of their names. */
static void link_children(struct tree *t)
{
	uint32_t *all = xrealloc(NULL, t->nodes.n, sizeof(*all));

	for (size_t i = 0; i < t->nodes.n; i++)
		all[i] = (uint32_t)i;
	if (t->nodes.n > 1)
		qsort_r(all + 1, t->nodes.n - 1, sizeof(*all), by_name, t);
	for (size_t i = t->nodes.n; i-- > 1;) {
		struct node *x = &t->nodes.at[all[i]], *parent = &t->nodes.at[x->parent];
		x->next = parent->first;
		parent->first = all[i];
	}
	free(all);
}

struct line {
	VEC(char) text; /* the names so far, separated */
	VEC(size_t) ends;
};

static void push_name(struct line *l, const char *name)
{
	size_t n = strlen(name);

	vec_push(&l->ends, l->text.n);
	vec_reserve(&l->text, n + 1);
	if (l->text.n)
		l->text.at[l->text.n++] = ';';
	memcpy(l->text.at + l->text.n, name, n);
	l->text.n += n;
}

static void print(FILE *out, const struct line *l, uint64_t sum)
{
	char number[NUM_MAX + 2];

	number[0] = ' ';
	size_t n = num_u64(number + 1, sum) + 1;
	number[n++] = '\n';
	fwrite(l->text.at, 1, l->text.n, out);
	fwrite(number, 1, n, out);
}

static void write_all(const struct tree *t, FILE *out)
{
	const struct node *nodes = t->nodes.at;
	struct line l = { 0 };
	uint32_t at = nodes[0].first;

	while (at) {
		push_name(&l, strtab_get(t->names, nodes[at].name));
		if (nodes[at].sum)
			print(out, &l, nodes[at].sum);
		if (nodes[at].first) {
			at = nodes[at].first;
			continue;
		}
		for (;; at = nodes[at].parent) { /* the next one, here or further up */
			if (at)
				l.text.n = l.ends.at[--l.ends.n];
			if (!at || nodes[at].next)
				break;
		}
		at = nodes[at].next;
	}
	vec_free(&l.text);
	vec_free(&l.ends);
}

static void make_tree(struct tree *t)
{
	const struct samples *s = &t->p->samples;

	t->names = strtab_new();
	vec_push(&t->nodes, ((struct node){ 0 }));
	t->of_frame = xrealloc(NULL, s->n_frames, sizeof(*t->of_frame));
	memset(t->of_frame, 0xff, s->n_frames * sizeof(*t->of_frame));
	t->seen = xrealloc(NULL, s->n_stacks, sizeof(*t->seen));
	memset(t->seen, 0xff, s->n_stacks * sizeof(*t->seen));
	add_samples(t);
	vec_free(&t->runs);
	map64_free(&t->ids);
	map64_free(&t->roots);
	free(t->seen);
	free(t->of_frame);
}

struct folded_tree folded_tree_of(const struct profile *p, const struct folded_opts *opts)
{
	struct tree t = { .p = p, .o = opts };

	make_tree(&t);
	struct folded_tree made = { xrealloc(NULL, t.nodes.n, sizeof(*made.nodes)), t.nodes.n,
				    t.names };
	for (size_t i = 0; i < t.nodes.n; i++)
		made.nodes[i] = (struct folded_node){ t.nodes.at[i].parent, t.nodes.at[i].name,
						      t.nodes.at[i].sum };
	vec_free(&t.nodes);
	return made;
}

void folded_tree_done(struct folded_tree *t)
{
	free(t->nodes);
	strtab_free(t->names);
}

struct kin_error *folded_write(FILE *out, const struct profile *p, const struct folded_opts *opts)
{
	struct tree t = { .p = p, .o = opts };

	make_tree(&t);
	link_children(&t);
	errno = 0;
	write_all(&t, out);
	bool failed = fflush(out) || ferror(out);
	int errnum = errno ? errno : EIO;
	vec_free(&t.nodes);
	strtab_free(t.names);
	return failed ? err_os(errnum, "writing folded stacks") : NULL;
}

/* folded.c - stacks by name: frames of one name are one, whatever their addresses.
 *
 * What samples say is taken down as steps, each from a step further out to a name. Steps are made
 * one where their names and those of all before them are equal: level by level, sorted by the node
 * above and the rank of the name, which takes a few passes over an array each, looks nothing up,
 * and leaves the nodes in order. */
#include "export/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"

struct folded_step {
	uint32_t from; /* index; smaller than its own; NONE: from the root */
	strid name;
};

struct folded_end { /* where samples end */
	uint32_t step;
	uint64_t sum;
};

struct name_node { /* a parent has a smaller index; node 0, the root, has no name */
	uint32_t parent;
	strid name;
	uint32_t first, n; /* children, in order of their names */
	uint64_t sum;
};

struct seen { /* a stack's last step below the first root that it was seen under: mostly the only
		 one */
	uint32_t root, step;
};

struct name_tree {
	const struct profile *p;
	const struct folded_opts *o;
	struct strtab *names;
	VEC(struct folded_step) steps;
	VEC(uint32_t) levels;        /* [step]: steps before it */
	VEC(struct folded_end) ends; /* of samples */
	VEC(struct name_node) nodes;
	uint32_t *of_frame;      /* into `runs`: the frame's names; NONE: not asked for yet */
	VEC(strid) runs;         /* each a length and names */
	struct seen *seen;       /* [n_stacks] */
	struct map64 more_seen;  /* MAP64_PAIR(root, stack): step; for further roots of a stack */
	struct map64 root_steps; /* by name */
	VEC(stackid) todo;       /* of step_of() */
};

static uint32_t add_step(struct name_tree *t, uint32_t from, strid name)
{
	vec_push(&t->steps, ((struct folded_step){ from, name }));
	vec_push(&t->levels, from == NONE ? 0 : t->levels.at[from] + 1);
	return (uint32_t)t->steps.n - 1;
}

/* ---- names ---- */

/* As it may stand in a line. */
static strid clean(struct name_tree *t, const char *s, const char *annotation)
{
	char *safe = t->o->escaped ? escape_copy(s) : NULL;
	char *copy = xprintf("%s%s", safe ? safe : s, annotation);

	free(safe);
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

static const char *annotation(const struct name_tree *t, uint32_t flags, objid object)
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
static strid own_name(struct name_tree *t, const struct frame *f)
{
	char address[24];
	const char *name = strtab_get(t->p->strings, f->name);

	snprintf(address, sizeof(address), "0x%jx", (uintmax_t)f->addr);
	return clean(t, *name ? name : address, annotation(t, f->flags, f->object));
}

static const strid *names_of(struct name_tree *t, frameid frame, size_t *n)
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

static strid comm_of(struct name_tree *t, taskid task)
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

/* ---- steps ---- */

/* The step of a command's name, below which its stacks are. */
static uint32_t root_of(struct name_tree *t, taskid task)
{
	if (t->o->no_comm)
		return NONE;
	strid name = comm_of(t, task);
	uint32_t *step = map64_at(&t->root_steps, name);
	if (*step == NONE)
		*step = add_step(t, NONE, name);
	return *step;
}

/* Where the last step of a stack below a root is kept. */
static uint32_t *place_of(struct name_tree *t, uint32_t root, stackid stack)
{
	struct seen *x = &t->seen[stack];

	if (x->step == NONE)
		*x = (struct seen){ root, NONE };
	return x->root == root ? &x->step : map64_at(&t->more_seen, MAP64_PAIR(root, stack));
}

/* The last step of a stack below a root, by way of those of its callers. */
static uint32_t step_of(struct name_tree *t, uint32_t root, stackid stack)
{
	const struct stack *stacks = t->p->samples.stacks;
	uint32_t step = root;

	t->todo.n = 0;
	for (; stack; stack = stacks[stack].caller) {
		uint32_t known = *place_of(t, root, stack);
		if (known != NONE) {
			step = known;
			break;
		}
		vec_push(&t->todo, stack);
	}
	while (t->todo.n) {
		size_t n = 0;
		stack = t->todo.at[--t->todo.n];
		frameid frame = stacks[stack].frame;
		bool is_left_out =
			t->o->no_inlines && t->p->samples.frames[frame].flags & FRAME_INLINED;
		const strid *names = is_left_out ? NULL : names_of(t, frame, &n);
		for (size_t i = 0; i < n; i++)
			step = add_step(t, step, names[i]);
		*place_of(t, root, stack) = step;
	}
	return step;
}

static bool is_wanted(const struct name_tree *t, uint16_t event)
{
	const struct event *e = &t->p->samples.events[event], *first = t->p->samples.events;

	if (t->o->event)
		return event_is_called(strtab_get(t->p->strings, e->name), t->o->event);
	return e->kind == first->kind && e->unit == first->unit;
}

static void add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* Many samples in a row end where the one before did. */
static void add_end(struct name_tree *t, uint32_t step, uint64_t weight)
{
	if (!t->ends.n || t->ends.at[t->ends.n - 1].step != step)
		vec_push(&t->ends, ((struct folded_end){ step, 0 }));
	add_to(&t->ends.at[t->ends.n - 1].sum, weight);
}

static void add_samples(struct name_tree *t)
{
	enum { UNKNOWN = NONE - 1 };
	const struct samples *s = &t->p->samples;
	uint32_t *roots = xrealloc(NULL, s->n_tasks, sizeof(*roots)); /* [task] */

	for (size_t i = 0; i < s->n_tasks; i++)
		roots[i] = UNKNOWN;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(t, x->event) ||
		    (t->o->filter && !sample_filter_passes(t->o->filter, x)))
			continue;
		if (roots[x->task] == UNKNOWN)
			roots[x->task] = root_of(t, x->task);
		uint32_t step = x->stack ? step_of(t, roots[x->task], x->stack) : roots[x->task];
		if (step == roots[x->task]) /* no frame, or none that is not left out */
			step = add_step(t, step, clean(t, "[unknown]", ""));
		add_end(t, step, t->o->weights ? x->weight : x->count);
	}
	free(roots);
}

/* ---- nodes ---- */

/* Where each name is among all, in order; `sorted` are the names by rank. Both to be freed. */
static uint32_t *ranks_of(const struct strtab *names, strid **sorted)
{
	size_t n = strtab_count(names);
	struct sort_name *all = xrealloc(NULL, n, sizeof(*all));
	uint32_t *ranks = xrealloc(NULL, n, sizeof(*ranks));

	*sorted = xrealloc(NULL, n, sizeof(**sorted));
	for (size_t i = 0; i < n; i++)
		all[i] = (struct sort_name){ strtab_get(names, (strid)i), (uint32_t)i };
	sort_names(all, n);
	for (size_t i = 0; i < n; i++) {
		ranks[all[i].index] = (uint32_t)i;
		(*sorted)[i] = all[i].index;
	}
	free(all);
	return ranks;
}

/* Steps in the order of their levels. */
struct levels {
	struct place {
		uint32_t from; /* place; NONE: the root */
		uint32_t rank; /* of the name */
	} * places;
	uint32_t *place_of; /* [step] */
	size_t *first, n;   /* places of level l: first[l] .. first[l + 1] */
};

/* Takes the steps. */
static struct levels levels_of(struct name_tree *t, const uint32_t *ranks)
{
	struct levels l = { .places = xrealloc(NULL, t->steps.n, sizeof(*l.places)),
			    .place_of = xrealloc(NULL, t->steps.n, sizeof(*l.place_of)) };
	size_t n_steps = t->steps.n;

	for (size_t i = 0; i < n_steps; i++)
		l.n = t->levels.at[i] >= l.n ? t->levels.at[i] + 1 : l.n;
	l.first = xalloc((l.n + 2) * sizeof(*l.first));
	for (size_t i = 0; i < n_steps; i++)
		l.first[t->levels.at[i] + 2]++;
	for (size_t k = 2; k < l.n + 2; k++)
		l.first[k] += l.first[k - 1];
	for (size_t i = 0; i < n_steps; i++) {
		struct folded_step s = t->steps.at[i];
		size_t at = l.first[t->levels.at[i] + 1]++;
		l.place_of[i] = (uint32_t)at;
		l.places[at].from = s.from == NONE ? NONE : l.place_of[s.from];
		l.places[at].rank = ranks[s.name];
	}
	vec_free(&t->steps);
	vec_free(&t->levels);
	return l;
}

/* Of places of one level, by their parent and rank. */
static void add_nodes(struct name_tree *t, const struct sort_key *keys, size_t n, uint32_t *node_of,
		      const strid *sorted, size_t n_names)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = (uint32_t)(keys[i].key / n_names), id = (uint32_t)t->nodes.n;
		if (i && keys[i].key == keys[i - 1].key) {
			id--;
		} else {
			struct name_node made = { .parent = parent,
						  .name = sorted[keys[i].key - parent * n_names] };
			if (!t->nodes.at[parent].n++)
				t->nodes.at[parent].first = id;
			vec_push(&t->nodes, made);
		}
		node_of[keys[i].index] = id;
	}
}

static void make_nodes(struct name_tree *t)
{
	size_t n_names = strtab_count(t->names);
	strid *sorted;
	uint32_t *ranks = ranks_of(t->names, &sorted);
	struct levels l = levels_of(t, ranks);
	uint32_t *node_of = xrealloc(NULL, l.n ? l.first[l.n] : 0, sizeof(*node_of)); /* [place] */
	VEC(struct sort_key) keys = { 0 };

	vec_push(&t->nodes, ((struct name_node){ 0 }));
	for (size_t k = 0; k < l.n; k++) {
		keys.n = 0;
		for (size_t i = l.first[k]; i < l.first[k + 1]; i++) {
			uint64_t parent = l.places[i].from == NONE ? 0 : node_of[l.places[i].from];
			vec_push(&keys, ((struct sort_key){ parent * n_names + l.places[i].rank,
							    (uint32_t)i }));
		}
		sort_keys(keys.at, keys.n);
		add_nodes(t, keys.at, keys.n, node_of, sorted, n_names);
	}
	for (size_t i = 0; i < t->ends.n; i++)
		add_to(&t->nodes.at[node_of[l.place_of[t->ends.at[i].step]]].sum,
		       t->ends.at[i].sum);
	vec_free(&keys);
	free(node_of);
	free(l.places);
	free(l.place_of);
	free(l.first);
	free(ranks);
	free(sorted);
}

static void make_tree(struct name_tree *t)
{
	const struct samples *s = &t->p->samples;

	t->names = strtab_new();
	t->of_frame = xrealloc(NULL, s->n_frames, sizeof(*t->of_frame));
	memset(t->of_frame, 0xff, s->n_frames * sizeof(*t->of_frame));
	t->seen = xrealloc(NULL, s->n_stacks, sizeof(*t->seen));
	memset(t->seen, 0xff, s->n_stacks * sizeof(*t->seen));
	add_samples(t);
	vec_free(&t->runs);
	vec_free(&t->todo);
	map64_free(&t->more_seen);
	map64_free(&t->root_steps);
	free(t->seen);
	free(t->of_frame);
	make_nodes(t);
	vec_free(&t->ends);
}

struct folded_tree folded_tree_of(const struct profile *p, const struct folded_opts *opts)
{
	struct name_tree t = { .p = p, .o = opts };

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

/* ---- writing ---- */

enum { OUTPUT = 1 << 18 };

struct folded_line {
	FILE *out;
	VEC(char) text; /* the names so far, separated */
	VEC(size_t) ends;
	VEC(char) ready; /* whole lines */
};

static void push_name(struct folded_line *l, const char *name)
{
	size_t n = strlen(name);

	vec_push(&l->ends, l->text.n);
	vec_reserve(&l->text, n + 1);
	if (l->text.n)
		l->text.at[l->text.n++] = ';';
	memcpy(l->text.at + l->text.n, name, n);
	l->text.n += n;
}

static void pop_name(struct folded_line *l) { l->text.n = l->ends.at[--l->ends.n]; }

static void flush(struct folded_line *l)
{
	if (l->ready.n)
		fwrite(l->ready.at, 1, l->ready.n, l->out);
	l->ready.n = 0;
}

static void print(struct folded_line *l, uint64_t sum)
{
	vec_reserve(&l->ready, l->text.n + NUM_MAX + 2);
	memcpy(l->ready.at + l->ready.n, l->text.at, l->text.n);
	l->ready.n += l->text.n;
	l->ready.at[l->ready.n++] = ' ';
	l->ready.n += num_u64(l->ready.at + l->ready.n, sum);
	l->ready.at[l->ready.n++] = '\n';
	if (l->ready.n >= OUTPUT)
		flush(l);
}

static bool is_last(const struct name_node *nodes, uint32_t at)
{
	const struct name_node *parent = &nodes[nodes[at].parent];

	return at + 1 == parent->first + parent->n;
}

static void write_all(const struct name_tree *t, FILE *out)
{
	const struct name_node *nodes = t->nodes.at;
	struct folded_line l = { .out = out };
	uint32_t at = nodes[0].first;

	while (at) {
		push_name(&l, strtab_get(t->names, nodes[at].name));
		if (nodes[at].sum)
			print(&l, nodes[at].sum);
		if (nodes[at].n) {
			at = nodes[at].first;
			continue;
		}
		for (pop_name(&l);
		     at && is_last(nodes, at);) { /* the next one, here or further up */
			at = nodes[at].parent;
			if (at)
				pop_name(&l);
		}
		at = at ? at + 1 : 0;
	}
	flush(&l);
	vec_free(&l.text);
	vec_free(&l.ends);
	vec_free(&l.ready);
}

struct kin_error *folded_write(FILE *out, const struct profile *p, const struct folded_opts *opts)
{
	struct name_tree t = { .p = p, .o = opts };

	make_tree(&t);
	errno = 0;
	write_all(&t, out);
	bool failed = fflush(out) || ferror(out);
	int errnum = errno ? errno : EIO;
	vec_free(&t.nodes);
	strtab_free(t.names);
	return failed ? err_os(errnum, "writing folded stacks") : NULL;
}

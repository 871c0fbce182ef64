/* folded.c - sums stacks by name: frames with the same name are one, whatever their addresses. */
#include "export/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "paths/path_maker.h"

struct folding {
	const struct profile *p;
	const struct folded_opts *o;
	uint16_t event;       /* if the caller named no event, the one by samples_event() */
	struct strtab *names; /* ids in `maker` are ids in this table */
	struct path_maker maker;
	struct map64 roots; /* by a command's name: number of its root */
	uint32_t *of_frame; /* index into `runs` of the frame's names; NONE: not looked up yet */
	VEC(strid) runs;    /* for each frame: a number of names, and the names */
	struct map64 given; /* by a given name and its annotation: name in `names` */
	VEC(uint32_t) ends; /* [path]: index into `sums` for the samples that end there; 0: none */
	VEC(uint64_t) sums; /* [0] is unused */
	struct path_tree *tree;
};

/* ---- names ---- */

/* The text without the characters that separate fields and lines. */
static strid clean(struct folding *t, const char *s, const char *annotation)
{
	char *safe = t->o->escaped ? escape_copy(s) : NULL;
	const char *text = safe ? safe : s;
	size_t n = strlen(text), more = strlen(annotation);
	char *copy = xalloc(n + more + 1); /* runs once per frame, so without printf() */

	memcpy(copy, text, n);
	memcpy(copy + n, annotation, more);
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

static const char *annotation(const struct folding *t, uint32_t flags, objid object)
{
	if (!t->o->annotate)
		return "";
	if (flags & FRAME_KERNEL)
		return "_[k]";
	if (flags & FRAME_INLINED)
		return "_[i]";
	return t->p->objects[object].kind == OBJECT_JIT ? "_[j]" : "";
}

/* Caches names by their pointer: most frames share a function with other frames. */
static strid given_name(struct folding *t, const struct folded_name *name, objid object)
{
	const char *more = annotation(t, name->flags, object);
	uint64_t kind = *more ? (unsigned char)more[2] : 0;
	strid *known = map64_at(&t->given, (uint64_t)(uintptr_t)name->name ^ kind << 56);

	if (*known == NONE)
		*known = clean(t, name->name, more);
	return *known;
}

/* The name in the data, or the address. */
static strid own_name(struct folding *t, const struct frame *f)
{
	char address[24];
	const char *name = strtab_get(t->p->strings, f->name);

	snprintf(address, sizeof(address), "0x%jx", (uintmax_t)f->addr);
	return clean(t, *name ? name : address, annotation(t, f->flags, f->object));
}

static void find_names(struct folding *t, frameid frame)
{
	const struct frame *f = &t->p->samples.frames[frame];
	size_t given = 0;
	const struct folded_name *names =
		t->o->names ? t->o->names(t->o->arg, frame, &given) : NULL;

	t->of_frame[frame] = (uint32_t)t->runs.n;
	vec_push(&t->runs, (strid)(given ? given : 1));
	for (size_t i = 0; i < given; i++)
		vec_push(&t->runs, given_name(t, &names[i], f->object));
	if (!given)
		vec_push(&t->runs, own_name(t, f));
}

static struct path_places names_of(void *arg, frameid frame)
{
	struct folding *t = arg;

	if (t->o->no_inlines && t->p->samples.frames[frame].flags & FRAME_INLINED)
		return (struct path_places){ 0 };
	if (t->of_frame[frame] == NONE)
		find_names(t, frame);
	const strid *run = &t->runs.at[t->of_frame[frame]];
	return (struct path_places){ run + 1, run[0] };
}

static strid comm_of(struct folding *t, taskid task)
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

/* ---- paths ---- */

/* The number of the root for a command's name; the command's stacks are below it. */
static uint32_t root_of(struct folding *t, taskid task)
{
	/* Without commands there is one root, of whatever name. */
	strid name = t->o->no_comm ? 0 : comm_of(t, task);
	uint32_t *root = map64_at(&t->roots, name);
	if (*root == NONE) {
		*root = (uint32_t)t->maker.roots.n;
		path_maker_root(&t->maker, *root, name);
	}
	return *root;
}

static bool is_wanted(const struct folding *t, uint16_t event)
{
	const struct event *e = &t->p->samples.events[event];

	if (t->o->event)
		return event_is_called(strtab_get(t->p->strings, e->name), t->o->event);
	return event == t->event;
}

static void add_end(struct folding *t, pathid path, uint64_t weight)
{
	while (t->ends.n < t->maker.nodes.n)
		vec_push(&t->ends, 0);
	if (!t->ends.at[path]) {
		t->ends.at[path] = (uint32_t)t->sums.n;
		vec_push(&t->sums, 0);
	}
	capped_add(&t->sums.at[t->ends.at[path]], weight);
}

static void add_samples(struct folding *t)
{
	enum { UNKNOWN = NONE - 1 };
	const struct samples *s = &t->p->samples;
	uint32_t *roots = xrealloc(NULL, s->n_tasks, sizeof(*roots)); /* [task] */

	for (size_t i = 0; i < s->n_tasks; i++)
		roots[i] = UNKNOWN;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(t, x->event) ||
		    (t->o->filter && !sample_filter_passes(t->o->filter, x)) ||
		    (t->o->leaves && !leaf_filter_passes(t->o->leaves, x)))
			continue;
		if (roots[x->task] == UNKNOWN)
			roots[x->task] = root_of(t, x->task);
		pathid root = t->maker.roots.at[roots[x->task]];
		pathid end = path_maker_stack(&t->maker, roots[x->task], x->stack);
		if (end == root) /* no frame, or all frames were left out */
			end = path_maker_below(&t->maker, root, clean(t, "[unknown]", ""));
		add_end(t, end, t->o->weights ? x->weight : x->count);
	}
	free(roots);
}

/* The rank of each name in alphabetical order; to be freed. */
static uint32_t *ranks_of(const struct strtab *names)
{
	size_t n = strtab_count(names);
	struct sort_name *all = xrealloc(NULL, n, sizeof(*all));
	uint32_t *ranks = xrealloc(NULL, n, sizeof(*ranks));

	for (size_t i = 0; i < n; i++)
		all[i] = (struct sort_name){ strtab_get(names, (strid)i), (uint32_t)i };
	sort_names(all, n);
	for (size_t i = 0; i < n; i++)
		ranks[all[i].index] = (uint32_t)i;
	free(all);
	return ranks;
}

static void make_tree(struct folding *t)
{
	const struct samples *s = &t->p->samples;

	t->names = strtab_new();
	t->of_frame = xrealloc(NULL, s->n_frames, sizeof(*t->of_frame));
	memset(t->of_frame, 0xff, s->n_frames * sizeof(*t->of_frame));
	vec_reserve(&t->ends, s->n_stacks); /* untouched memory is not allocated */
	vec_reserve(&t->sums, s->n + 1);
	vec_push(&t->sums, 0);
	path_maker_init(&t->maker, s, names_of, t);
	add_samples(t);
	vec_free(&t->runs);
	map64_free(&t->roots);
	map64_free(&t->given);
	free(t->of_frame);
	t->tree = path_maker_end(&t->maker);
	uint32_t *ranks = ranks_of(t->names);
	path_tree_sort(t->tree, ranks);
	free(ranks);
}

/* ---- writing ---- */

enum { OUTPUT = 1 << 18 };

struct folded_line {
	const struct folding *folding;
	FILE *out;
	uint32_t *lengths; /* [name] */
	VEC(char) text;    /* the names so far, with separators */
	VEC(size_t) ends;
	VEC(char) ready; /* complete lines */
};

static uint32_t *lengths_of(const struct strtab *names)
{
	size_t n = strtab_count(names);
	uint32_t *lengths = xrealloc(NULL, n, sizeof(*lengths));

	for (size_t i = 0; i < n; i++)
		lengths[i] = (uint32_t)strlen(strtab_get(names, (strid)i));
	return lengths;
}

static void push_name(struct folded_line *l, const char *name, size_t n)
{
	vec_push(&l->ends, l->text.n);
	vec_reserve(&l->text, n + 1);
	if (l->text.n)
		l->text.at[l->text.n++] = ';';
	memcpy(l->text.at + l->text.n, name, n);
	l->text.n += n;
}

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

static bool has_name(const struct folding *t, pathid node)
{
	return t->tree->nodes[node].caller || !t->o->no_comm;
}

static void enter(pathid node, void *line)
{
	struct folded_line *l = line;
	const struct folding *t = l->folding;
	strid name = t->tree->nodes[node].place;
	uint64_t sum = node < t->ends.n ? t->sums.at[t->ends.at[node]] : 0;

	if (has_name(t, node))
		push_name(l, strtab_get(t->names, name), l->lengths[name]);
	if (sum)
		print(l, sum);
}

static void leave(pathid node, void *line)
{
	struct folded_line *l = line;

	if (has_name(l->folding, node))
		l->text.n = l->ends.at[--l->ends.n];
}

struct kin_error *folded_write(FILE *out, const struct profile *p, const struct folded_opts *opts)
{
	struct folding t = { .p = p, .o = opts, .event = samples_event(&p->samples) };
	struct folded_line l = { .folding = &t, .out = out };

	make_tree(&t);
	l.lengths = lengths_of(t.names);
	errno = 0;
	path_tree_visit(t.tree, &(struct path_visitor){ enter, leave, &l });
	flush(&l);
	bool failed = fflush(out) || ferror(out);
	int errnum = errno ? errno : EIO;
	vec_free(&l.text);
	vec_free(&l.ends);
	vec_free(&l.ready);
	free(l.lengths);
	vec_free(&t.ends);
	vec_free(&t.sums);
	path_tree_free(t.tree);
	strtab_free(t.names);
	return failed ? err_os(errnum, "writing folded stacks") : NULL;
}

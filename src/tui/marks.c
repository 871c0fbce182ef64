/* marks.c - makes marks in one pass over the samples and one over the report of cycles. */
#include "tui/marks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/map64.h"
#include "base/search.h"
#include "base/strtab.h"
#include "tui/flame.h"

/* ---- cycles ---- */

static int by_function(const void *a, const void *b)
{
	const struct cycle_mark *x = a, *y = b;
	return strcmp(x->function, y->function);
}

static char verdict_of(const char *words)
{
	return !strcmp(words, "confirmed")              ? 'c'
	       : !strcmp(words, "not seen going round") ? 'p'
							: '?';
}

/* Verdicts by the number of the cycle. The page's columns: that number, the verdict, and the kind
 * of row. */
struct verdicts {
	VEC(char) at;
};

static void take_verdicts(const struct page *cycles, struct verdicts *v)
{
	for (size_t i = 0; i < cycles->rows.n; i++) {
		const struct page_row *r = &cycles->rows.at[i];
		if (strcmp(r->cells[2], "cycle") != 0)
			continue;
		while (v->at.n <= (size_t)r->values[0])
			vec_push(&v->at, '?');
		v->at.at[(size_t)r->values[0]] = verdict_of(r->cells[1]);
	}
}

static void mark_members(const struct page *members, const struct verdicts *v, struct marks *m)
{
	for (size_t i = 0; i < members->rows.n; i++) {
		const struct page_row *r = &members->rows.at[i];
		if (!*r->cells[0] || !r->function)
			continue;
		uint64_t cycle = (uint64_t)r->values[0];
		vec_push(&m->cycles,
			 ((struct cycle_mark){ arena_printf(&m->texts, "%s", r->function), cycle,
					       cycle < v->at.n ? v->at.at[cycle] : '?' }));
	}
}

static struct kin_error *find_cycles(struct kin_profile *p, struct marks *m)
{
	struct verdicts v = { 0 };
	struct page cycles, members;
	struct kin_error *err = page_of_cycles(p, &cycles);
	if (err)
		return err;
	take_verdicts(&cycles, &v);
	page_done(&cycles);
	if (v.at.n && !(err = page_of_members(p, &members))) {
		mark_members(&members, &v, m);
		page_done(&members);
	}
	vec_free(&v.at);
	if (m->cycles.n)
		qsort(m->cycles.at, m->cycles.n, sizeof(*m->cycles.at), by_function);
	return err;
}

const char *marks_cycle(const struct marks *m, const char *function, bool ascii, char text[32])
{
	struct cycle_mark key = { .function = function };
	const struct cycle_mark *c = m->cycles.n && function
					     ? bsearch(&key, m->cycles.at, m->cycles.n,
						       sizeof(*m->cycles.at), by_function)
					     : NULL;
	if (!c)
		return "";
	snprintf(text, 32,
		 c->verdict == 'p'   ? " (%s%llu)"
		 : c->verdict == 'c' ? " %s%llu"
				     : " %s%llu?",
		 ascii ? "@" : "↻", (unsigned long long)c->cycle);
	return text;
}

/* ---- sparklines ---- */

struct sparking {
	struct marks *m;
	struct kin_samples *samples;
	struct map64 known;  /* index of a spark by names of thread and by function */
	VEC(uint32_t) comms; /* for each thread: the first thread with the same names */
	uint64_t first_ns, last_ns;
};

static const char *escaped(struct marks *m, const char *text)
{
	char *safe = escape_copy(text);
	const char *kept = arena_printf(&m->texts, "%s", safe);
	free(safe);
	return kept;
}

static void name_threads(struct sparking *x)
{
	size_t n = kin_samples_n_threads(x->samples);
	struct strtab *names = strtab_new();
	struct map64 first = { 0 }; /* first thread with both names */
	for (uint32_t i = 0; i < n; i++) {
		const struct kin_thread *t = kin_samples_thread(x->samples, i);
		strid name = strtab_add(names, t->name), command = strtab_add(names, t->command);
		uint32_t *same = map64_at(&first, MAP64_PAIR(name, command));
		if (*same == NONE)
			*same = i;
		vec_push(&x->comms, *same);
	}
	map64_free(&first);
	strtab_free(names);
}

static struct spark *spark_of(struct sparking *x, uint32_t comm, const struct kin_line *line)
{
	uint32_t *at = map64_at(&x->known, MAP64_PAIR(comm, line->function * 2 + line->is_inlined));
	if (*at == NONE) {
		const struct kin_function *f = kin_samples_function(x->samples, line->function);
		const struct kin_object *o = kin_samples_object(x->samples, f->object);
		const struct kin_thread *t = kin_samples_thread(x->samples, comm);
		const char *name = escaped(x->m, f->name);
		*at = (uint32_t)x->m->sparks.n;
		vec_push(&x->m->sparks,
			 ((struct spark){
				 .name = line->is_inlined
						 ? arena_printf(&x->m->texts, "%s (inlined)", name)
						 : name,
				 .object = escaped(x->m, base_name(o->path)),
				 .comm = escaped(x->m, t->name),
				 .command = escaped(x->m, t->command) }));
	}
	return &x->m->sparks.at[*at];
}

static size_t slot_of(const struct sparking *x, uint64_t time_ns)
{
	double span = (double)(x->last_ns - x->first_ns) + 1;
	size_t slot = (size_t)((double)(time_ns - x->first_ns) * SPARK_SLOTS / span);
	return slot < SPARK_SLOTS ? slot : SPARK_SLOTS - 1;
}

/* A sample counts once for a function, however often the function is on its stack. */
static void add_sample(struct sparking *x, const struct kin_sample *s, size_t number, size_t slot)
{
	for (uint32_t at = s->stack; at; at = kin_samples_stack(x->samples, at)->caller) {
		size_t n;
		const struct kin_line *lines = kin_samples_lines(
			x->samples, kin_samples_stack(x->samples, at)->location, &n);
		for (size_t i = 0; i < n; i++) {
			struct spark *to = spark_of(x, x->comms.at[s->thread], &lines[i]);
			if (to->last != number)
				to->slots[slot] += s->weight;
			to->last = number;
		}
	}
}

static void find_span(struct sparking *x, uint32_t event)
{
	const struct kin_sample *s;
	x->first_ns = UINT64_MAX;
	while ((s = kin_samples_next(x->samples))) {
		if (s->event != event || !s->time_ns)
			continue;
		x->first_ns = s->time_ns < x->first_ns ? s->time_ns : x->first_ns;
		x->last_ns = s->time_ns > x->last_ns ? s->time_ns : x->last_ns;
	}
	kin_samples_rewind(x->samples);
}

static int by_name(const void *a, const void *b)
{
	const struct spark *x = a, *y = b;
	int sign = strcmp(x->name, y->name);
	sign = sign ? sign : strcmp(x->object, y->object);
	sign = sign ? sign : strcmp(x->comm, y->comm);
	return sign ? sign : strcmp(x->command, y->command);
}

/* Several builds of a library, and functions of the same name, share one row, so their sparks are
 * joined. */
static void join_equal(struct marks *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->sparks.n; i++) {
		struct spark *to = n ? &m->sparks.at[n - 1] : NULL;
		if (!to || by_name(to, &m->sparks.at[i]) != 0)
			m->sparks.at[n++] = m->sparks.at[i];
		else
			for (size_t k = 0; k < SPARK_SLOTS; k++)
				to->slots[k] += m->sparks.at[i].slots[k];
	}
	m->sparks.n = n;
}

static void end_sparks(struct sparking *x)
{
	if (x->m->sparks.n)
		qsort(x->m->sparks.at, x->m->sparks.n, sizeof(*x->m->sparks.at), by_name);
	join_equal(x->m);
	map64_free(&x->known);
	vec_free(&x->comms);
	kin_samples_free(x->samples);
}

/* Distributes samples over slots by time; if they have no times, all go to the last slot. `stop`:
 * ends the search early if set; NULL: never. */
static struct kin_error *find_sparks(struct kin_profile *p, size_t event, bool has_times,
				     const bool *stop, struct marks *m)
{
	struct sparking x = { .m = m };
	const struct kin_sample *s;
	struct kin_error *err = kin_samples_new(p, &x.samples);
	if (err)
		return err;
	uint32_t number = flame_event(x.samples, event);
	size_t i = 0;
	name_threads(&x);
	if (has_times)
		find_span(&x, number);
	bool any = !has_times || x.last_ns > x.first_ns;
	while (any && !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) &&
	       (s = kin_samples_next(x.samples)))
		if (++i && s->event == number && (s->time_ns || !has_times) &&
		    s->thread < x.comms.n)
			add_sample(&x, s, i, has_times ? slot_of(&x, s->time_ns) : SPARK_SLOTS - 1);
	end_sparks(&x);
	return NULL;
}

/* ---- history of a fading profile ---- */

/* The weight that is new since `before`. `left`: the fraction of the old weight that remains.
 * Weights are integers and tiny ones are dropped, so a small difference is rounding and not new. */
static uint64_t fresh_weight(uint64_t now, uint64_t before, double left)
{
	enum { LEAST_PART = 256 };
	double fresh = (double)now - (double)before * left;
	return fresh * LEAST_PART > (double)now ? (uint64_t)fresh : 0;
}

static void move_on(struct spark *to, const struct spark *before, size_t n, double left)
{
	uint64_t fresh = fresh_weight(to->faded, before ? before->faded : 0, left);
	for (size_t i = 0; i < SPARK_SLOTS; i++)
		to->slots[i] = i >= SPARK_SLOTS - n ? fresh / n : before ? before->slots[i + n] : 0;
}

static bool is_empty(const struct spark *x)
{
	for (size_t i = 0; i < SPARK_SLOTS; i++)
		if (x->slots[i])
			return false;
	return true;
}

/* A function that is gone keeps its spark until its last slot has moved out. */
static void keep_gone(struct marks *m, const struct spark *before, size_t n)
{
	struct spark gone = { .name = arena_printf(&m->texts, "%s", before->name),
			      .object = arena_printf(&m->texts, "%s", before->object),
			      .comm = arena_printf(&m->texts, "%s", before->comm),
			      .command = arena_printf(&m->texts, "%s", before->command) };
	move_on(&gone, before, n, 0);
	if (!is_empty(&gone))
		vec_push(&m->sparks, gone);
}

struct kin_error *marks_next(struct kin_profile *p, size_t event, const struct marks *before,
			     double keep, size_t refreshes, struct marks *ret)
{
	size_t n = refreshes < SPARK_SLOTS ? refreshes : SPARK_SLOTS, known = 0;
	double left = pow(keep, (double)refreshes);
	*ret = (struct marks){ 0 };
	struct kin_error *err = n ? find_sparks(p, event, false, NULL, ret) : NULL;
	size_t n_now = ret->sparks.n;
	for (size_t i = 0; !err && i < n_now; i++) { /* both lists are sorted */
		int sign = -1;
		while (known < before->sparks.n &&
		       (sign = by_name(&before->sparks.at[known], &ret->sparks.at[i])) < 0)
			keep_gone(ret, &before->sparks.at[known++], n);
		struct spark *to = &ret->sparks.at[i];
		to->faded = to->slots[SPARK_SLOTS - 1];
		move_on(to, known < before->sparks.n && !sign ? &before->sparks.at[known++] : NULL,
			n, left);
	}
	while (!err && known < before->sparks.n)
		keep_gone(ret, &before->sparks.at[known++], n);
	if (ret->sparks.n > n_now)
		qsort(ret->sparks.at, ret->sparks.n, sizeof(*ret->sparks.at), by_name);
	return err;
}

/* ---- drawing ---- */

/* The row's cell in the column with that title of kin report; NULL: no such column. */
static const char *cell_of(const struct page *p, const struct page_row *r, const char *title)
{
	for (size_t i = 0; i < p->n_columns; i++)
		if (!strcmp(p->columns[i].title, title))
			return r->cells[i];
	return NULL;
}

/* Adds up the sparks of the row's name that match the row's object and command. In an overview the
 * command is the process's. */
static bool add_slots(const struct marks *m, const struct page *p, const struct page_row *r,
		      uint64_t slots[SPARK_SLOTS])
{
	const char *object = cell_of(p, r, "Shared Object"), *comm = cell_of(p, r, "Command");
	bool any = false;
	size_t low = COUNT_WHILE(m->sparks.n, i, strcmp(m->sparks.at[i].name, r->name) < 0);
	for (; low < m->sparks.n && !strcmp(m->sparks.at[low].name, r->name); low++) {
		const struct spark *x = &m->sparks.at[low];
		if ((object && strcmp(object, x->object) != 0) ||
		    (comm && strcmp(comm, p->is_overview ? x->command : x->comm) != 0))
			continue;
		for (size_t i = 0; i < SPARK_SLOTS; i++)
			slots[i] += x->slots[i];
		any = true;
	}
	return any;
}

const char *marks_spark(const struct marks *m, const struct page *p, const struct page_row *r,
			unsigned width, bool ascii, char text[4 * SPARK_SLOTS + 1])
{
	static const char *const levels[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	uint64_t slots[SPARK_SLOTS] = { 0 }, most = 0;
	size_t each = width && width < SPARK_SLOTS ? SPARK_SLOTS / width : 1, n = 0;
	text[0] = '\0';
	if (r->depth || !add_slots(m, p, r, slots))
		return text;
	for (size_t i = 0; i < SPARK_SLOTS; i++) {
		if (i % each)
			slots[i / each] += slots[i];
		else
			slots[i / each] = slots[i];
		most = slots[i / each] > most ? slots[i / each] : most;
	}
	for (size_t i = 0; i < SPARK_SLOTS / each && most; i++) {
		size_t level = slots[i] ? 1 + (size_t)((double)slots[i] * 7 / (double)most) : 0;
		n += (size_t)snprintf(text + n, 5, "%s", (ascii ? plain : levels)[level]);
	}
	return text;
}

/* ---- cycles and sparklines ---- */

struct kin_error *marks_new(struct kin_profile *p, size_t event, const bool *stop,
			    struct marks *ret)
{
	*ret = (struct marks){ 0 };
	struct kin_error *err = find_cycles(p, ret);
	if (!err && kin_profile_is_sampled(p))
		err = find_sparks(p, event, true, stop, ret);
	return err;
}

void marks_done(struct marks *m)
{
	vec_free(&m->cycles);
	vec_free(&m->sparks);
	arena_release(&m->texts);
	*m = (struct marks){ 0 };
}

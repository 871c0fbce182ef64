/* sample_filter.c - reads lists of names, numbers and times, and tests samples against them. */
#include "profile/sample_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/wordlist.h"

enum { MAX_SET = 65536 };

struct number_list {
	VEC(uint32_t) list;
};

struct sample_filter {
	struct arena arena;
	bool *tasks;               /* [n_tasks] */
	bool *cpus, *parallelisms; /* [MAX_SET]; NULL: all */
	VEC(struct time_range) times;
	VEC(const char *) comms;
};

/* ---- numbers ---- */

static bool read_number(const char *text, char **end, uint32_t *ret)
{
	errno = 0;
	unsigned long n = strtoul(text, end, 10);
	*ret = (uint32_t)n;
	return *end != text && text[0] != '-' && !errno && n <= UINT32_MAX;
}

static struct kin_error *bad(const char *option, const char *word, const char *what)
{
	return err_new(KIN_ERROR_USAGE, "%s: '%.80s' is not %s", option, word, what);
}

/* "1,5,7" */
static struct kin_error *read_numbers(struct sample_filter *f, const char *option, const char *list,
				      struct number_list *to)
{
	uint32_t n;
	for (char *w, *end; (w = words_next_copy(&f->arena, &list, ","));) {
		if (!read_number(w, &end, &n) || *end)
			return bad(option, w, "a number");
		vec_push(&to->list, n);
	}
	return NULL;
}

/* "0-3,8": a flag for each number. */
static struct kin_error *read_set(struct sample_filter *f, const char *option, const char *list,
				  bool **ret)
{
	if (!list)
		return NULL;
	bool *set = arena_alloc(&f->arena, MAX_SET * sizeof(*set));
	for (char *w, *end; (w = words_next_copy(&f->arena, &list, ","));) {
		uint32_t from, to;
		if (!read_number(w, &end, &from))
			return bad(option, w, "a number or a range");
		to = from;
		if (*end == '-' && !read_number(end + 1, &end, &to))
			return bad(option, w, "a range");
		if (*end || to < from || to >= MAX_SET)
			return bad(option, w, "a range");
		for (uint32_t i = from; i <= to; i++)
			set[i] = true;
	}
	*ret = set;
	return NULL;
}

/* ---- times ---- */

static struct kin_error *read_times(struct sample_filter *f, const struct profile *p,
				    const char *list)
{
	if (!list)
		return NULL;
	struct time_range whole = span_of(p), r;
	struct kin_error *err;
	const char *separators = strchr(list, '%') ? ", " : " ";
	if (span_is_marked(list, p)) /* marker names may contain blanks */
		separators = "";
	for (char *w; (w = words_next_copy(&f->arena, &list, separators));) {
		if ((err = span_parse(w, p, whole, &r)))
			return err;
		vec_push(&f->times, r);
	}
	return NULL;
}

/* ---- tasks ---- */

static bool in_names(const struct sample_filter *f, const char *name)
{
	for (size_t i = 0; i < f->comms.n; i++)
		if (!strcmp(f->comms.at[i], name))
			return true;
	return !f->comms.n;
}

static bool in_numbers(const struct number_list *l, uint32_t value)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.at[i] == value)
			return true;
	return !l->list.n;
}

static void choose_tasks(struct sample_filter *f, const struct profile *p,
			 const struct number_list *pids, const struct number_list *tids)
{
	f->tasks = arena_alloc(&f->arena, (p->samples.n_tasks + 1) * sizeof(*f->tasks));
	for (size_t i = 0; i < p->samples.n_tasks; i++) {
		const struct task *t = &p->samples.tasks[i];
		f->tasks[i] = in_names(f, strtab_get(p->strings, t->comm)) &&
			      in_numbers(pids, t->pid) && in_numbers(tids, t->tid);
	}
}

static struct kin_error *read_tasks(struct sample_filter *f, const struct profile *p,
				    const struct sample_filter_texts *t)
{
	struct number_list pids = { 0 }, tids = { 0 };
	const char *comms = t->comms;
	struct word w;
	while (t->splits_names ? words_next(&comms, ",", &w) : words_next_name(&comms, &w))
		vec_push(&f->comms, word_copy(&f->arena, w));
	struct kin_error *err = read_numbers(f, "--pid", t->pids, &pids);
	if (!err)
		err = read_numbers(f, "--tid", t->tids, &tids);
	if (!err)
		choose_tasks(f, p, &pids, &tids);
	vec_free(&pids.list);
	vec_free(&tids.list);
	return err;
}

/* ---- the filter ---- */

struct kin_error *sample_filter_new(const struct profile *p,
				    const struct sample_filter_texts *texts,
				    struct sample_filter **ret)
{
	struct sample_filter *f = xalloc(sizeof(*f));
	struct kin_error *err;
	if ((err = read_tasks(f, p, texts)) ||
	    (err = read_set(f, "--cpu", texts->cpus, &f->cpus)) ||
	    (err = read_set(f, "--parallelism", texts->parallelism, &f->parallelisms)) ||
	    (err = read_times(f, p, texts->times))) {
		sample_filter_free(f);
		return err;
	}
	*ret = f;
	return NULL;
}

void sample_filter_free(struct sample_filter *f)
{
	if (!f)
		return;
	vec_free(&f->times);
	vec_free(&f->comms);
	arena_release(&f->arena);
	free(f);
}

static bool in_times(const struct sample_filter *f, uint64_t ns)
{
	for (size_t i = 0; i < f->times.n; i++)
		if (ns >= f->times.at[i].from_ns && ns <= f->times.at[i].to_ns)
			return true;
	return !f->times.n;
}

bool sample_filter_covers(const struct sample_filter *f, const struct sample *s)
{
	_Static_assert(MAX_SET > UINT16_MAX, "numbers of 16 bits are not checked");
	return (!f->cpus || f->cpus[s->cpu]) && in_times(f, s->time_ns);
}

bool sample_filter_passes(const struct sample_filter *f, const struct sample *s)
{
	return f->tasks[s->task] && (!f->parallelisms || f->parallelisms[s->parallelism]) &&
	       sample_filter_covers(f, s);
}

bool sample_filter_overlaps(const struct sample_filter *f, struct time_range whole)
{
	for (size_t i = 0; i < f->times.n; i++)
		if (span_overlaps(f->times.at[i], whole))
			return true;
	return !f->times.n;
}

const char *sample_filter_comm(const struct sample_filter *f)
{
	return f->comms.n == 1 ? f->comms.at[0] : NULL;
}

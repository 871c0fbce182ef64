/* hists_paid.c - what own functions paid for: the code of others that was folded into them. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/map64.h"
#include "report/hists_state.h"

enum { MOST_PARTS = 3 };
static const double LEAST_PERCENT = 0.5;

struct paid_part {
	uint32_t row; /* of the report */
	const struct hist_stat *self;
	const char *name;
};

struct paid_parts { /* a VEC */
	struct paid_part *at;
	size_t n, cap;
};

static bool is_any_paid(const struct profile *p)
{
	size_t i = 1;
	while (i < p->samples.n_frames && !p->samples.frames[i].paid_for)
		i++;
	return i < p->samples.n_frames;
}

/* The row of a function, with its command if that is a key: an overview has no more keys. */
static uint64_t id_of(const struct hists *h, size_t row, bool has_comm)
{
	return MAP64_PAIR(has_comm ? hists_value(h, row, HIST_COMM) : 0,
			  hists_value(h, row, HIST_SYM));
}

static int by_row(const void *a, const void *b)
{
	const struct paid_part *x = a, *y = b;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->self->weight != y->self->weight)
		return x->self->weight > y->self->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* "std::sort 72 %, page faults 3 %"; NULL: nothing is worth a word. */
static const char *text_of(struct hists_state *s, const struct paid_part *parts, size_t n)
{
	const char *ret = NULL;
	for (size_t i = 0; i < n && i < MOST_PARTS; i++) {
		double percent = hists_percent(s, parts[i].self);
		if (percent >= LEAST_PERCENT)
			ret = arena_printf(&s->arena, "%s%s%s %.0f %%", ret ? ret : "",
					   ret ? ", " : "", parts[i].name, percent);
	}
	return ret;
}

static void collect(struct hists_state *s, const struct hists *h, struct paid_parts *parts)
{
	bool has_comm = false;
	struct map64 rows = { 0 };
	for (size_t i = 0; i < s->ask->opts.n_keys; i++)
		has_comm |= s->ask->opts.keys[i] == HIST_COMM;
	for (uint32_t i = 0; i < s->hists->n; i++)
		*map64_at(&rows, id_of(s->hists, i, has_comm)) = i;
	for (size_t i = 0; i < h->n; i++) {
		uint32_t row = map64_get(&rows, id_of(h, i, has_comm));
		if (row == NONE || !hists_value(h, i, HIST_FOREIGN))
			continue;
		char *name = escape_copy(hists_text(h, i, HIST_FOREIGN));
		vec_push(parts, ((struct paid_part){ row, &h->self[i * h->opts->n_events],
						     arena_printf(&s->arena, "%s", name) }));
		free(name);
	}
	map64_free(&rows);
}

void hists_paid(struct hists_state *s)
{
	const struct hists_opts *usual = &s->ask->opts;
	if (!is_any_paid(s->in.profile))
		return;
	enum hist_key *keys = xalloc((usual->n_keys + 1) * sizeof(*keys));
	memcpy(keys, usual->keys, usual->n_keys * sizeof(*keys));
	keys[usual->n_keys] = HIST_FOREIGN;
	struct hists_opts opts = *usual;
	opts.keys = keys;
	opts.n_keys++;
	opts.no_children = true;
	opts.passing = opts.levels = false;
	struct hists *h = hists_new(s->in.profile, s->in.program, &opts);
	struct paid_parts parts = { 0 };
	collect(s, h, &parts);
	if (parts.n)
		qsort(parts.at, parts.n, sizeof(*parts.at), by_row);
	s->paid = xalloc((s->hists->n + 1) * sizeof(*s->paid));
	for (size_t i = 0, n; i < parts.n; i += n) {
		for (n = 1; i + n < parts.n && parts.at[i + n].row == parts.at[i].row;)
			n++;
		s->paid[parts.at[i].row] = text_of(s, &parts.at[i], n);
	}
	vec_free(&parts);
	hists_free(h);
	free(keys);
}

/* diff.c - two profiles side by side. */
#include "report/diff.h"

#include <string.h>

#include "api/private.h"
#include "base/err.h"
#include "paths/path_tree.h"
#include "table/select.h"
#include "table/table.h"

/* What a sample stands for, on average over the time: the sum of squares by the sum. One tick of a
 * histogram is one sample. */
static double weight_of_sample(const struct samples *s)
{
	double sum = 0, squares = 0;
	uint16_t event = samples_event(s);

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (x->event != event)
			continue;
		sum += (double)x->weight;
		squares += (double)x->weight * (double)x->weight / x->count;
	}
	return sum > 0 ? squares / sum : 1;
}

static size_t n_runs(const struct samples *s)
{
	uint32_t last = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t run = s->tasks[s->at[i].task].run;
		last = run > last ? run : last;
	}
	return (size_t)last + 1;
}

static struct kin_error *open_side(struct kin_profile *p, struct diff_side *ret)
{
	const struct samples *s = &p->data->samples;
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = diff_columns };

	*ret = (struct diff_side){ .n_runs = n_runs(s),
				   .per_sample = weight_of_sample(s),
				   .sampled = s->n && s->audit.duration_ns };
	struct kin_error *err = kin_report(p, "flat", &opts, &ret->flat);
	if (err || ret->n_runs == 1)
		return err;
	static const char *const of_runs[] = { "run", "name", "object", "self", "inclusive", NULL };
	opts.by = "run";
	opts.columns = of_runs;
	return kin_report(p, "flat", &opts, &ret->by_run);
}

static void close_side(struct diff_side *s)
{
	kin_table_free(s->flat);
	kin_table_free(s->by_run);
}

static void add_notes(const struct kin_profile *p, const char *which, struct kin_table *t)
{
	for (size_t i = 0; i < p->notes.n; i++)
		table_note(t, "%s: %s", which, p->notes.at[i]);
}

static const char *text_of(const struct kin_profile *p, strid id)
{
	return strtab_get(p->data->strings, id);
}

/* What was built again in between. */
static void note_builds(const struct kin_profile *before, const struct kin_profile *after,
			struct kin_table *t)
{
	for (size_t i = 0; i < after->data->n_objects; i++) {
		const struct object *a = &after->data->objects[i];
		bool same = !a->build_id || a->kind != OBJECT_ELF, other = false;
		for (size_t k = 0; k < before->data->n_objects && !same; k++) {
			const struct object *b = &before->data->objects[k];
			if (!b->build_id ||
			    strcmp(text_of(before, b->path), text_of(after, a->path)))
				continue;
			same = !strcmp(text_of(before, b->build_id), text_of(after, a->build_id));
			other = !same;
		}
		if (other && !same)
			table_note(t,
				   "%s is another build after than before: its functions are "
				   "compared by name",
				   text_of(after, a->path));
	}
}

struct kin_error *kin_diff(struct kin_profile *before, struct kin_profile *after,
			   const struct kin_diff_opts *opts, struct kin_table **ret)
{
	struct kin_diff_opts o;
	struct diff_side sides[2] = { 0 };
	struct kin_table *t = NULL;
	opts_copy(&o, sizeof(o), opts);
	struct kin_error *err = open_side(before, &sides[0]);
	if (!err)
		err = open_side(after, &sides[1]);
	if (!err)
		err = diff_report(&sides[0], &sides[1],
				  &(struct diff_opts){ .inclusive = o.inclusive,
						       .shares = o.shares,
						       .all = o.all,
						       .limited = o.limited,
						       .limit = o.limit,
						       .min_share = o.min_share },
				  &t);
	close_side(&sides[0]);
	close_side(&sides[1]);
	if (!err) {
		add_notes(before, "before", t);
		add_notes(after, "after", t);
		note_builds(before, after, t);
	}
	if (err)
		return err;
	err = table_select(t, &(struct table_selection){ o.columns, o.sort }, ret);
	if (err)
		kin_table_free(t);
	return err;
}

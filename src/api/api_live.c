/* api_live.c - the public interface of live recordings. */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "base/clock.h"
#include "base/err.h"
#include "live/fade.h"
#include "symbolize/names.h"

struct kin_live {
	struct live *live;
	struct fade_naming names;
	struct program_opts naming;
	const char *const *own_dirs, *const *foreign_dirs; /* borrowed */
	struct own_code *own_code;                         /* NULL: not judged */
	struct kin_profile *last;                          /* NULL: none yet */
	struct kin_profile *code;                          /* the same as `last`, by instruction */
	uint64_t asked_ns;         /* when `last` was made, or the recording began */
	double lasting_ns;         /* time that `last` covers, faded like its weights */
	struct live_progress seen; /* up to then */
	double cpu_ns, sampled_ns; /* in the time that `last` covers */
	char *message;
	VEC(pid_t) pids, tids;
};

static struct kin_error *choose_stacks(const char *name, enum unwinding_mode *ret)
{
	static const char *const modes[] = {
		[UNWINDING_AUTO] = "auto", [UNWINDING_DWARF] = "dwarf", [UNWINDING_FP] = "fp"
	};
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (!name || !strcmp(name, modes[i])) {
			*ret = (enum unwinding_mode)i;
			return NULL;
		}
	return err_new(KIN_ERROR_USAGE, "unknown call-graph mode '%s' (auto, dwarf, fp)", name);
}

static struct kin_error *start(struct kin_live *l, const struct kin_live_opts *o)
{
	struct record_opts opts = { .events = o->events,
				    .frequency = o->frequency,
				    .period = o->period,
				    .argv = o->argv,
				    .everything = o->everything,
				    .wall = o->wall,
				    .cpus = o->cpus,
				    .n_cpus = o->n_cpus,
				    .no_inherit = o->no_inherit,
				    .cgroup = o->cgroup,
				    .buffer_bytes = o->buffer_bytes };
	l->naming = (struct program_opts){ .debug_dir = o->debug_dir,
					   .symfs = o->symfs,
					   .style = DEMANGLE_TIDY,
					   .no_inlines = o->no_inlines };
	if (o->demangle && !demangle_style_find(o->demangle, &l->naming.style))
		return err_new(KIN_ERROR_USAGE, "no demangling style '%s'", o->demangle);
	for (size_t i = 0; i < o->n_pids; i++)
		vec_push(&l->pids, (pid_t)o->pids[i]);
	for (size_t i = 0; i < o->n_tids; i++)
		vec_push(&l->tids, (pid_t)o->tids[i]);
	opts.pids = l->pids.at;
	opts.n_pids = l->pids.n;
	opts.tids = l->tids.at;
	opts.n_tids = l->tids.n;
	l->names.names = names_new(&(struct names_opts){
		.debug_dir = o->debug_dir, .symfs = o->symfs, .style = l->naming.style });
	l->names.no_inlines = o->no_inlines;
	l->own_dirs = o->own_dirs;
	l->foreign_dirs = o->foreign_dirs;
	if (o->own) /* of many programs: none has a directory */
		l->own_code =
			own_code_new(&(struct own_dirs){ o->own_dirs, o->foreign_dirs }, "", false);
	l->names.own = l->own_code;
	struct kin_error *err = choose_stacks(o->stacks, &opts.mode);
	return err ? err : live_start(&opts, &l->live);
}

static void free_live(struct kin_live *l)
{
	kin_profile_free(l->last);
	kin_profile_free(l->code);
	names_free(l->names.names);
	own_code_free(l->own_code);
	vec_free(&l->pids);
	vec_free(&l->tids);
	free(l->message);
	free(l);
}

struct kin_error *kin_live_start(const struct kin_live_opts *opts, struct kin_live **ret)
{
	struct kin_live_opts o;
	struct kin_live *l = xalloc(sizeof(*l));
	opts_copy(&o, sizeof(o), opts);
	struct kin_error *err = start(l, &o);
	if (err) {
		free_live(l);
		return err;
	}
	l->asked_ns = clock_now_ns();
	l->seen = live_progress(l->live);
	*ret = l;
	return NULL;
}

static bool is_cpu_time(const struct event *e, const struct profile *p, const char *name)
{
	return e->kind == EVENT_ON_CPU && e->unit == EVENT_NS &&
	       (!name || !strcmp(strtab_get(p->strings, e->name), name));
}

double kin_live_cores(const struct kin_live *l, const char *event)
{
	const struct profile *p = l->last ? l->last->data : NULL;
	double busy_ns = 0;
	for (size_t i = 0; p && i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		if ((event || !s->event) && is_cpu_time(&p->samples.events[s->event], p, event))
			busy_ns += (double)s->weight;
	}
	return l->lasting_ns > 0 ? busy_ns / l->lasting_ns : 0;
}

static void take_places(struct kin_live *l)
{
	struct live_place p;
	while (live_place(l->live, &p)) {
		names_put_place(l->names.names, p.path, p.build_id, p.place);
		live_place_done(&p);
	}
}

/* Adds the CPU time since the last snapshot, and what of it has samples. */
static void add_progress(struct kin_live *l, double keep)
{
	struct live_progress now = live_progress(l->live);
	l->cpu_ns = l->cpu_ns * keep + (double)now.cpu_ns - (double)l->seen.cpu_ns;
	l->sampled_ns = l->sampled_ns * keep + (double)now.sampled_ns - (double)l->seen.sampled_ns;
	l->seen = now;
}

struct kin_profile *kin_live_profile(struct kin_live *l, double keep)
{
	struct profile *fresh = live_take(l->live);
	take_places(l);
	const struct profile *past = l->last ? l->last->data : NULL;
	struct kin_profile *now = profile_of_data(fade(past, keep, fresh, &l->names), &l->naming);

	const struct profile *past_code = l->code ? l->code->data : NULL;
	struct kin_profile *code = profile_of_data(fade_code(past_code, keep, fresh), &l->naming);

	uint64_t asked_ns = clock_now_ns();
	l->lasting_ns = l->lasting_ns * keep + (double)(asked_ns - l->asked_ns);
	l->asked_ns = asked_ns;
	add_progress(l, keep);
	profile_free(fresh);
	kin_profile_free(l->last);
	kin_profile_free(l->code);
	profile_revise_stacks(now);
	now->is_live = true;
	l->code = code;
	l->last = now;
	profile_ref(now);
	return now;
}

struct kin_profile *kin_live_own(struct kin_live *l, enum kin_own how)
{
	if (l->last && how == KIN_OWN_NO) {
		profile_ref(l->last);
		return l->last;
	}
	if (!l->last || !l->own_code)
		return NULL;
	const struct kin_open_opts o = { .own = how,
					 .own_dirs = l->own_dirs,
					 .foreign_dirs = l->foreign_dirs };
	struct kin_profile *own =
		profile_of_data(fade(l->last->data, 1, NULL, &l->names), &l->naming);
	if (own->data->samples.n)
		profile_judge_code(own, &o);
	own->is_live = true;
	if (own->is_folded)
		return own;
	kin_profile_free(own);
	return NULL;
}

double kin_live_seen(const struct kin_live *l)
{
	if (l->cpu_ns <= 0 || l->sampled_ns <= 0)
		return -1;
	return l->sampled_ns < l->cpu_ns ? l->sampled_ns / l->cpu_ns : 1;
}

struct kin_profile *kin_live_code(struct kin_live *l)
{
	if (l->code)
		profile_ref(l->code);
	return l->code;
}

bool kin_live_is_over(struct kin_live *l) { return live_is_over(l->live); }

const char *kin_live_message(struct kin_live *l)
{
	free(l->message);
	l->message = live_message(l->live);
	return l->message;
}

int kin_live_stop(struct kin_live *l)
{
	struct record_result result;
	if (!l)
		return -1;
	live_stop(l->live, &result);
	record_audit_done(&result.audit);
	free_live(l);
	return result.ended ? result.status : -1;
}

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
	struct names *names;
	struct program_opts naming;
	struct kin_profile *last; /* NULL: none yet */
	struct kin_profile *code; /* the same as `last`, by instruction */
	uint64_t asked_ns;        /* when `last` was made, or the recording began */
	double lasting_ns;        /* time that `last` covers, faded like its weights */
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
	l->names = names_new(&(struct names_opts){
		.debug_dir = o->debug_dir, .symfs = o->symfs, .style = l->naming.style });
	struct kin_error *err = choose_stacks(o->stacks, &opts.mode);
	return err ? err : live_start(&opts, &l->live);
}

static void free_live(struct kin_live *l)
{
	kin_profile_free(l->last);
	kin_profile_free(l->code);
	names_free(l->names);
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
		names_put_place(l->names, p.path, p.build_id, p.place);
		live_place_done(&p);
	}
}

struct kin_profile *kin_live_profile(struct kin_live *l, double keep)
{
	struct profile *fresh = live_take(l->live);
	take_places(l);
	const struct profile *past = l->last ? l->last->data : NULL;
	struct kin_profile *now = profile_of_data(
		fade(past, keep, fresh, l->names, l->naming.no_inlines), &l->naming);

	const struct profile *past_code = l->code ? l->code->data : NULL;
	struct kin_profile *code = profile_of_data(fade_code(past_code, keep, fresh), &l->naming);

	uint64_t asked_ns = clock_now_ns();
	l->lasting_ns = l->lasting_ns * keep + (double)(asked_ns - l->asked_ns);
	l->asked_ns = asked_ns;
	profile_free(fresh);
	kin_profile_free(l->last);
	kin_profile_free(l->code);
	profile_revise_stacks(now);
	l->code = code;
	l->last = now;
	profile_ref(now);
	return now;
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

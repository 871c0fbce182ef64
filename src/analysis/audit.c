/* audit.c - finds problems that make data unreliable, and describes them with numbers: losses,
 * truncated stacks, missing time. */
#include "analysis/audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "paths/path_tree.h"
#include "profile/unsampled.h"

enum {
	DOUBT = KIN_REMARK_DOUBT,
	IN_REPORTS = KIN_REMARK_DOUBT | KIN_REMARK_NOTE, /* rows would be misread without it */
};

static uint64_t count_samples(const struct profile *p)
{
	uint16_t event = samples_event(&p->samples);
	uint64_t n = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		n += p->samples.at[i].event == event ? p->samples.at[i].count : 0;
	return n;
}

/* "cpu-clock:u" excludes time in the kernel. */
static bool is_restricted(const char *event) { return strrchr(event, ':') != NULL; }

bool audit_knows_time(const struct profile *p)
{
	const struct samples *s = &p->samples;
	if (!s->n_events || !s->audit.cpu_ns || !s->audit.sampled_ns)
		return false;
	const struct event *e = &s->events[samples_event(s)];
	return e->unit == EVENT_NS && e->kind == EVENT_ON_CPU &&
	       !is_restricted(strtab_get(p->strings, e->name));
}

double audit_rate(const struct profile *p)
{
	uint64_t cpu = p->samples.audit.cpu_ns;
	return cpu ? (double)count_samples(p) / ((double)cpu / 1e9) : 0;
}

static bool is_trouble(const struct profile *p, size_t fact)
{
	return !strcmp(strtab_get(p->strings, p->facts[fact].name), FACT_TROUBLE);
}

static bool is_unread(const struct profile *p, size_t fact)
{
	return !strcmp(strtab_get(p->strings, p->facts[fact].name), FACT_UNREAD);
}

static void check_troubles(const struct profile *p, struct remarks *to)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (is_trouble(p, i) || is_unread(p, i))
			remarks_add(to, IN_REPORTS, "%s: %s%s",
				    strtab_get(p->strings, p->sources[p->facts[i].source].path),
				    is_trouble(p, i) ? "while it was recorded: " : "",
				    strtab_get(p->strings, p->facts[i].value));
}

static void check_losses(const struct profile *p, struct remarks *to)
{
	const struct audit *a = &p->samples.audit;
	const struct {
		const char *text;
		uint64_t n;
		unsigned kinds;
	} losses[] = {
		{ "samples were lost", a->lost, IN_REPORTS },
		{ "samples refer to entries that are not in the data", a->unresolved, DOUBT },
		{ "times the kernel held sampling back", a->throttled, DOUBT },
		{ "calls could not be counted", a->lost_arcs, IN_REPORTS },
		{ "executions of blocks could not be counted", a->lost_blocks, IN_REPORTS },
		{ "threads have no counts of their own", a->lost_threads, DOUBT },
		{ "objects that were mapped are not in the data", a->lost_modules, DOUBT },
	};
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (losses[i].n)
			remarks_add(to, losses[i].kinds, "%" PRIu64 " %s", losses[i].n,
				    losses[i].text);
	if (p->saturated)
		remarks_add(to, DOUBT, "a sum was too large, and stands for more");
}

struct audit_stacks audit_stacks(const struct profile *p)
{
	const struct audit *a = &p->samples.audit;
	struct audit_stacks s = { .complete = a->complete,
				  .guessed = a->guessed,
				  .cut = a->truncated,
				  .beyond = a->beyond,
				  .checked = a->checked,
				  .contradicted = a->contradicted < a->checked ? a->contradicted
									       : a->checked };
	s.all = capped_sum(s.complete, capped_sum(s.guessed, s.cut));
	return s;
}

static void check_stacks(const struct profile *p, struct remarks *to)
{
	struct audit_stacks s = audit_stacks(p);
	double all = (double)s.all, cut = (double)s.cut, guessed = (double)s.guessed;

	if (cut > AUDIT_TRUNCATED * all)
		remarks_add(to, IN_REPORTS,
			    "%.1f %% of the stacks could not be walked to their end: who "
			    "called is missing there",
			    100 * cut / all);
	if ((double)s.beyond > AUDIT_TRUNCATED * all)
		remarks_add(to, IN_REPORTS,
			    "%.1f %% of the stacks go beyond what the kernel copies of them, "
			    "64 KiB at most: kin run, which starts the program, walks them in "
			    "place",
			    100 * (double)s.beyond / all);
	if (guessed > AUDIT_GUESSED * all)
		remarks_add(to, IN_REPORTS, "%.1f %% of the stacks have callers that are a guess",
			    100 * guessed / all);
	double checked = (double)s.checked, contradicted = (double)s.contradicted;
	if (contradicted > AUDIT_CONTRADICTED * checked)
		remarks_add(to, IN_REPORTS,
			    "%.1f %% of the stacks that were walked in two ways have other "
			    "callers by frame pointers than by call-frame information",
			    100 * contradicted / checked);
}

/* Whether CPU time was to be sampled, and there are no samples. */
static bool is_silent(const struct profile *p)
{
	const struct samples *s = &p->samples;
	return s->n_events && s->events[samples_event(s)].unit == EVENT_NS &&
	       s->audit.cpu_ns >= AUDIT_SILENT_NS && !s->audit.sampled_ns && !count_samples(p);
}

bool audit_used_little(const struct profile *p)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (is_trouble(p, i))
			return false;
	bool was_to_be = p->samples.n_events || p->samples.audit.cpu_ns;
	bool is_part = p->samples.whole_to_ns; /* the whole has samples */
	return was_to_be && !is_part && !is_silent(p) && !p->samples.audit.lost &&
	       !p->samples.audit.unresolved;
}

/* Checks for time off the CPU without a known place: it is in no row. */
static void check_places(const struct profile *p, struct remarks *to)
{
	const struct samples *s = &p->samples;
	for (size_t e = 0; e < s->n_events; e++) {
		double all = 0, placeless = 0;
		if (s->events[e].kind == EVENT_ON_CPU)
			continue;
		for (size_t i = 0; i < s->n; i++) {
			double weight = s->at[i].event == e ? (double)s->at[i].weight : 0;
			all += weight;
			placeless += s->at[i].stack ? 0 : weight;
		}
		if (placeless > AUDIT_PLACELESS * all)
			remarks_add(to, IN_REPORTS,
				    "%.1f %% of the time '%s', %.3f of %.3f s, has no place and "
				    "is in no function",
				    100 * placeless / all,
				    strtab_get(p->strings, s->events[e].name), placeless / 1e9,
				    all / 1e9);
	}
}

/* Whether a recording is unfinished. This is a separate doubt. */
bool audit_is_unfinished(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].unfinished)
			return true;
	return false;
}

bool audit_is_behind(const struct profile *p)
{
	return audit_is_unfinished(p) && p->samples.audit.sampled_ns > p->samples.audit.cpu_ns;
}

/* The difference from the kernel's accounting that chance makes. */
static double chance_of_time(const struct profile *p)
{
	return (double)p->samples.audit.cpu_ns * unsampled_least((double)count_samples(p));
}

bool audit_lacks_time(const struct profile *p)
{
	const struct audit *a = &p->samples.audit;
	return audit_knows_time(p) && (double)a->cpu_ns - (double)a->sampled_ns > chance_of_time(p);
}

static void check_time(const struct profile *p, struct remarks *to)
{
	const struct audit *a = &p->samples.audit;
	uint64_t n = count_samples(p);

	if (is_silent(p))
		remarks_add(to, IN_REPORTS, "there is no sample of %.3f s of CPU time",
			    (double)a->cpu_ns / 1e9);
	if (!audit_knows_time(p) || !n || audit_is_unfinished(p))
		return;
	double cpu = (double)a->cpu_ns, sampled = (double)a->sampled_ns;
	double period = sampled / (double)n, threads = (double)p->samples.n_tasks;
	double less = cpu - sampled, more = sampled - cpu;
	double least = chance_of_time(p);
	if (less > least || (more > least && more > period * threads))
		remarks_add(to,
			    less > AUDIT_MISREAD * cpu || more > AUDIT_MISREAD * cpu ? IN_REPORTS
										     : DOUBT,
			    "samples stand for %.3f s of CPU time: %.1f %% of the %.3f s of the "
			    "kernel's accounting",
			    sampled / 1e9, 100 * sampled / cpu, cpu / 1e9);
}

static bool is_of_kin(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		if (!p->sources[i].kind || strcmp(p->sources[i].kind, "kin") != 0)
			return false;
	return true;
}

double audit_samples(const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint16_t event = samples_event(s);
	if (!s->n_events || !s->audit.cpu_ns || !is_of_kin(p) || !s->events[event].counts_time ||
	    s->events[event].is_trace)
		return 0;
	struct samples_weights x = samples_weights(s, event);
	return x.squares > 0 ? x.weight * x.weight / x.squares : 0;
}

double audit_interval(double share, double samples)
{
	const double z = 1.96;
	return samples > 0 ? z * sqrt(share * (1 - share) / samples) : 0;
}

double audit_points(double samples) { return 100 * audit_interval(0.5, samples); }

static void check_number(const struct profile *p, struct remarks *to)
{
	double n = audit_samples(p);
	if (n > 0 && n < AUDIT_FEW)
		remarks_add(to, IN_REPORTS, "few samples, %.0f: shares are \u00b1 %.0f points", n,
			    audit_points(n));
}

void audit_check(const struct profile *p, struct remarks *to)
{
	check_troubles(p, to);
	check_losses(p, to);
	check_stacks(p, to);
	check_time(p, to);
	check_number(p, to);
	check_places(p, to);
}

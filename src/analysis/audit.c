#include "analysis/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/inclusive.h"

struct talk {
	void (*say)(const char *text, void *arg);
	void *arg;
};

static void say(const struct talk *t, const char *fmt, ...) PRINTF(2, 3);
static void say(const struct talk *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	t->say(text, t->arg);
	free(text);
}

static uint64_t count_samples(const struct profile *p)
{
	uint16_t event = samples_event(&p->samples);
	uint64_t n = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		n += p->samples.at[i].event == event ? p->samples.at[i].count : 0;
	return n;
}

/* "cpu-clock:u" leaves out what the kernel does. */
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

static void check_losses(const struct profile *p, const struct talk *t)
{
	const struct audit *a = &p->samples.audit;
	const struct {
		const char *text;
		uint64_t n;
	} losses[] = {
		{ "samples were lost", a->lost },
		{ "samples refer to what is not in the data", a->unresolved },
		{ "times the kernel held sampling back", a->throttled },
		{ "calls could not be counted", a->lost_arcs },
		{ "executions of blocks could not be counted", a->lost_blocks },
		{ "threads have no counts of their own", a->lost_threads },
		{ "objects that were mapped are not in the data", a->lost_modules },
	};
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (losses[i].n)
			say(t, "%" PRIu64 " %s", losses[i].n, losses[i].text);
	if (p->saturated)
		say(t, "a sum was too large, and stands for more");
}

static void check_stacks(const struct profile *p, const struct talk *t)
{
	const struct audit *a = &p->samples.audit;
	double all = (double)a->truncated + (double)a->complete;

	if ((double)a->truncated > AUDIT_TRUNCATED * all)
		say(t, "%.1f %% of the stacks could not be walked to their end",
		    100 * (double)a->truncated / all);
}

/* Samples of CPU time were to be taken, and there is none. */
static void check_silence(const struct profile *p, const struct talk *t)
{
	const struct samples *s = &p->samples;
	if (!s->n_events || s->events[samples_event(s)].unit != EVENT_NS)
		return;
	if (s->audit.cpu_ns >= AUDIT_SILENT_NS && !s->audit.sampled_ns && !count_samples(p))
		say(t, "there is no sample of %.3f s of CPU time", (double)s->audit.cpu_ns / 1e9);
}

/* What the kernel counted was last written up to a second before the last samples were, or after;
 * that the recording was not ended is a doubt of its own. */
static bool was_not_ended(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].unfinished)
			return true;
	return false;
}

static void check_time(const struct profile *p, const struct talk *t)
{
	const struct audit *a = &p->samples.audit;
	uint64_t n = count_samples(p);

	if (!n)
		check_silence(p, t);
	if (!audit_knows_time(p) || !n || was_not_ended(p))
		return;
	double cpu = (double)a->cpu_ns, sampled = (double)a->sampled_ns;
	double period = sampled / (double)n, threads = (double)p->samples.n_tasks;
	double off = sampled > cpu ? sampled - cpu : cpu - sampled;
	if (off > AUDIT_TIME * cpu && off > period * threads)
		say(t,
		    "samples stand for %.3f s of CPU time: %.1f %% of the %.3f s of the kernel's "
		    "accounting",
		    sampled / 1e9, 100 * sampled / cpu, cpu / 1e9);
}

void audit_check(const struct profile *p, void (*said)(const char *text, void *arg), void *arg)
{
	struct talk t = { said, arg };
	check_losses(p, &t);
	check_stacks(p, &t);
	check_time(p, &t);
}

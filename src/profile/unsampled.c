/* unsampled.c - shares out the CPU time without samples to the threads that used it. */
#include "profile/unsampled.h"

/* "cpu-clock:u" leaves out the kernel on purpose. */
static bool is_whole_clock(const struct samples_builder *s, const struct event *e)
{
	return e->kind == EVENT_ON_CPU && e->unit == EVENT_NS &&
	       !strchr(strtab_get(s->strings, e->name), ':');
}

static uint64_t missing_of(uint64_t cpu_ns, uint64_t sampled_ns)
{
	return cpu_ns > sampled_ns ? cpu_ns - sampled_ns : 0;
}

static void add_time(struct samples_builder *s, struct sample x, double ns)
{
	x.weight = (uint64_t)(ns + 0.5);
	if (x.weight)
		samples_add_sample(s, x, 0);
}

/* The threads' times need not add up to the process's: each gets its share of the sum. */
static void share_out(struct samples_builder *s, struct sample x, double missing)
{
	double sum = 0;
	for (size_t i = 0; i < s->tasks.n; i++)
		sum += (double)missing_of(s->tasks.at[i].cpu_ns, s->tasks.at[i].sampled_ns);
	if (!(sum > 0))
		add_time(s, x, missing);
	for (size_t i = 0; sum > 0 && i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.at[i];
		x.task = (taskid)i;
		add_time(s, x, (double)missing_of(t->cpu_ns, t->sampled_ns) * (missing / sum));
	}
}

static double samples_of(const struct samples_builder *s, uint16_t event)
{
	double n = 0;
	for (size_t i = 0; i < s->at.n; i++)
		n += s->at.at[i].event == event ? (double)s->at.at[i].count : 0;
	return n;
}

static bool is_of_job(const struct samples_builder *s)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.at[i].rank)
			return true;
	return false;
}

void samples_add_unsampled(struct samples_builder *s, strid name, uint32_t source, bool all)
{
	const struct audit *a = &s->audit;
	double missing = (double)missing_of(a->cpu_ns, a->sampled_ns);
	if (!s->events.n || !is_whole_clock(s, &s->events.at[0]) || is_of_job(s) ||
	    missing <= (all ? 0 : unsampled_least(samples_of(s, 0)) * (double)a->cpu_ns))
		return;
	frameid frame = samples_add_frame(s, (struct frame){ .name = name });
	struct sample x = { .stack = samples_add_stack(s, 0, frame),
			    .task = s->tasks.n > 1,
			    .cpu = CPU_NONE,
			    .source = source };
	share_out(s, x, missing);
}

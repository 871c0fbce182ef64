/* print_samples.c - the samples of profiles as text, for comparing with other tools.
 *
 * A line "COMM<tab>PID/TID<tab>CPU<tab>TIME<tab>EVENT<tab>WEIGHT<tab>KIND" per sample, then its
 * frames, leaf first: "<tab>ADDRESS OBJECT FLAGS [NAME]". Objects that are not known are "-". Ends
 * in what the audit says. The exit status is 1 if a file could not be read as a whole. */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "input/input.h"

static void print_frame(const struct profile *p, const struct frame *f)
{
	const char *path = strtab_get(p->strings, p->objects[f->object].path);

	printf("\t%" PRIx64 " %s %u %s\n", f->addr, *path ? path : "-", f->flags,
	       strtab_get(p->strings, f->name));
}

static void print_sample(const struct profile *p, const struct sample *s)
{
	const struct samples *all = &p->samples;
	const struct task *t = &all->tasks[s->task];
	const struct event *e = &all->events[s->event];

	printf("%s\t%u/%u\t%u\t%" PRIu64 "\t%s\t%" PRIu64 "\t%d\t%u\n",
	       strtab_get(p->strings, t->comm), t->pid, t->tid, s->cpu, s->time_ns,
	       strtab_get(p->strings, e->name), s->weight, e->kind, s->parallelism);
	for (stackid i = s->stack; i; i = all->stacks[i].caller)
		print_frame(p, &all->frames[all->stacks[i].frame]);
}

static void print_audit(const struct profile *p)
{
	const struct audit *a = &p->samples.audit;

	printf("samples %zu stacks %zu frames %zu tasks %zu objects %zu\n", p->samples.n,
	       p->samples.n_stacks, p->samples.n_frames, p->samples.n_tasks, p->n_objects);
	printf("lost %" PRIu64 " throttled %" PRIu64 " truncated %" PRIu64 " complete %" PRIu64
	       " unresolved %" PRIu64 " switches %" PRIu64 " preemptions %" PRIu64 "\n",
	       a->lost, a->throttled, a->truncated, a->complete, a->unresolved, a->switches,
	       a->preemptions);
	printf("cpu %" PRIu64 " sampled %" PRIu64 " duration %" PRIu64 "\n", a->cpu_ns,
	       a->sampled_ns, a->duration_ns);
}

int main(int argc, char **argv)
{
	struct input_opts o = { .target = { .is_64bit = true } };
	struct profile *p;
	bool brief = argc > 1 && argv[1][0] == '-' && argv[1][1] == 'b';
	int skip = brief ? 2 : 1;
	struct kin_error *err =
		input_read((const char *const *)argv + skip, (size_t)(argc - skip), &o, &p);

	for (size_t i = 0; i < p->samples.n && !brief; i++)
		print_sample(p, &p->samples.at[i]);
	print_audit(p);
	if (err)
		fprintf(stderr, "%s\n", kin_error_message(err));
	profile_free(p);
	int status = err != NULL;
	kin_error_free(err);
	return status;
}

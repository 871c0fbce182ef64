/* wall.c - keeps each thread's last switch, and makes a sample of the time until the thread runs
 * again. */
#include "record/wall.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PENDING_MAX = 64 };

struct kept_stack {
	struct stack_frame *frames;
	size_t n, cap;
	bool known;
	enum stack_end end;
	uint64_t cpu_ns; /* of the thread's CPU clock */
};

struct wall_interval {
	uint64_t start_ns, duration_ns, cpu_ns;
	uint32_t cpu;
	bool waiting;
};

struct thread_wall {
	bool running; /* counted in wall.running */
	bool out, preempted, present;
	uint32_t out_cpu;
	uint64_t out_ns; /* if out: since when */
	uint64_t in_ns;  /* if running: since when; 0: not known */
	uint64_t cpu_ns; /* CPU time used up to in_ns or out_ns */
	uint64_t
		seen_ns; /* when at_switch was observed; not used for intervals that ended before */
	struct kept_stack last, at_switch;
	struct wall_interval pending[PENDING_MAX]; /* wait for the next sample: it may be nearer */
	size_t n_pending;
};

struct wall {
	struct recording *recording;
	const struct gate *gate;
	bool exact;
	uint32_t blocked, waiting;
	uint32_t running, n_cpus;
	struct wall_totals totals;
};

struct wall *wall_new(struct recording *r, bool exact, uint32_t blocked, uint32_t waiting,
		      const struct gate *gate)
{
	struct wall *w = xalloc(sizeof(*w));
	w->recording = r;
	w->gate = gate;
	w->exact = exact;
	w->blocked = blocked;
	w->waiting = waiting;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	w->n_cpus = n_cpus < 1 ? 1 : n_cpus > UINT16_MAX ? UINT16_MAX : (uint32_t)n_cpus;
	return w;
}

void wall_free(struct wall *w) { free(w); }
const struct wall_totals *wall_totals(const struct wall *w) { return &w->totals; }

/* Records of a thread leaving its CPU may have been lost, so the number is limited. */
uint16_t wall_running(const struct wall *w)
{
	return (uint16_t)(w->running < w->n_cpus ? w->running : w->n_cpus);
}

static void set_running(struct wall *w, struct thread_wall *tw, bool running)
{
	if (running && !tw->running)
		w->running++;
	if (!running && tw->running)
		w->running--;
	tw->running = running;
}

static struct thread_wall *of(struct thread *t)
{
	if (!t->wall)
		t->wall = xalloc(sizeof(*t->wall));
	return t->wall;
}

static void keep(struct kept_stack *k, const struct unwound *s, uint64_t cpu_ns)
{
	if (s->n > k->cap) {
		k->cap = s->n;
		k->frames = xrealloc(k->frames, k->cap, sizeof(*k->frames));
	}
	if (s->n)
		memcpy(k->frames, s->frames, s->n * sizeof(*k->frames));
	k->n = s->n;
	k->end = s->end;
	k->known = true;
	k->cpu_ns = cpu_ns;
}

static uint64_t cpu_clock(const struct thread_wall *tw, uint64_t now_ns)
{
	return tw->cpu_ns + (!tw->out && tw->in_ns && now_ns > tw->in_ns ? now_ns - tw->in_ns : 0);
}

static void emit(struct wall *w, struct thread *t, const struct wall_interval *i,
		 const struct kept_stack *k)
{
	struct sample sample = { .event = (uint16_t)(i->waiting ? w->waiting : w->blocked),
				 .task = recording_task(w->recording, t),
				 .cpu = sample_cpu(i->cpu),
				 .count = 1,
				 .time_ns = i->start_ns,
				 .weight = i->duration_ns };
	struct walked_sample s = {
		.sample = sample, .waiting = i->waiting, .pid = t->pid, .tid = t->tid, .run = t->run
	};
	if (k && k->known) {
		s.frames = k->frames;
		s.n = k->n;
		s.end = k->end;
	}
	memcpy(s.comm, t->comm, sizeof(s.comm));
	recording_sample(w->recording, &s);
	*(i->waiting ? &w->totals.waiting_ns : &w->totals.blocked_ns) += i->duration_ns;
}

/* Writes the pending intervals. `next` is the sample after them, or NULL. */
static void settle(struct wall *w, struct thread *t, const struct kept_stack *next)
{
	struct thread_wall *tw = t->wall;
	for (size_t i = 0; i < tw->n_pending; i++) {
		const struct wall_interval *p = &tw->pending[i];
		const struct kept_stack *k = &tw->last;
		if (next && (!k->known || next->cpu_ns - p->cpu_ns < p->cpu_ns - k->cpu_ns))
			k = next;
		emit(w, t, p, k);
		w->totals.estimated++;
	}
	tw->n_pending = 0;
}

static void end_interval(struct wall *w, struct thread *t, uint64_t now_ns)
{
	struct thread_wall *tw = t->wall;
	struct wall_interval i = { .start_ns = tw->out_ns,
				   .duration_ns = now_ns > tw->out_ns ? now_ns - tw->out_ns : 0,
				   .cpu_ns = tw->cpu_ns,
				   .cpu = tw->out_cpu,
				   .waiting = tw->preempted };
	tw->out = tw->present = false;
	tw->in_ns = now_ns;
	if (w->gate)
		i.duration_ns = gate_open_ns(w->gate, &i.start_ns, now_ns);
	if (w->gate && !i.duration_ns) {
		tw->at_switch.known = false;
		return;
	}
	if (tw->at_switch.known && now_ns >= tw->seen_ns) {
		emit(w, t, &i, &tw->at_switch);
		tw->at_switch.known = false;
		w->totals.exact++;
		return;
	}
	tw->at_switch.known = false;
	if (tw->n_pending == PENDING_MAX)
		settle(w, t, NULL);
	tw->pending[tw->n_pending++] = i;
}

void wall_present(struct wall *w, struct thread *t, uint64_t time_ns, const struct unwound *place,
		  uint64_t seen_ns)
{
	(void)w;
	struct thread_wall *tw = of(t);
	if (place)
		keep(&tw->at_switch, place, 0);
	tw->seen_ns = seen_ns;
	tw->out = tw->present = true;
	tw->out_ns = time_ns;
	tw->out_cpu = UINT32_MAX;
}

/* Corrects a thread that was taken for asleep: it ran all the time. */
static void not_out(struct thread_wall *tw)
{
	if (tw->present) {
		tw->out = tw->present = tw->at_switch.known = false;
		tw->in_ns = tw->out_ns;
	}
}

void wall_sample(struct wall *w, struct thread *t, uint64_t time_ns, const struct unwound *stack,
		 bool at_switch)
{
	struct thread_wall *tw = of(t);
	not_out(tw);
	uint64_t cpu_ns = cpu_clock(tw, time_ns);
	if (at_switch) {
		keep(&tw->at_switch, stack, cpu_ns);
		return;
	}
	set_running(w, tw, true);
	if (tw->n_pending) {
		struct kept_stack next = { 0 };
		keep(&next, stack, cpu_ns);
		settle(w, t, &next);
		free(next.frames);
	}
	if (!w->exact)
		keep(&tw->last, stack, cpu_ns);
}

void wall_switch(struct wall *w, struct thread *t, const struct ring_record *r)
{
	bool leaves = r->header->misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool preempted = r->header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (t->ended && leaves && !preempted) { /* it will not return */
		wall_end(w, t, r->sample.time, true);
		return;
	}
	struct thread_wall *tw = of(t);
	w->totals.switches += leaves;
	w->totals.preemptions += leaves && preempted;
	kinfile_writer_switch(recording_writer(w->recording), recording_task(w->recording, t),
			      r->sample.cpu, r->sample.time,
			      !leaves     ? KINF_SWITCH_IN
			      : preempted ? KINF_SWITCH_PREEMPTED
					  : KINF_SWITCH_OUT);
	uint64_t in_ns = tw->in_ns;
	bool late = leaves && !tw->out && in_ns > r->sample.time; /* it runs again already */
	set_running(w, tw, !leaves || late);
	if (leaves) {
		not_out(tw);
		/* If it was out already, the record of its return was lost. The length of that
		 * interval is not known, so it is dropped. */
		tw->cpu_ns = cpu_clock(tw, r->sample.time);
		tw->out = true;
		tw->preempted = preempted;
		tw->out_ns = r->sample.time;
		tw->out_cpu = r->sample.cpu;
		if (late)
			end_interval(w, t, in_ns);
	} else if (tw->out) {
		end_interval(w, t, r->sample.time);
	} else {
		tw->in_ns = r->sample.time;
	}
}

void wall_end(struct wall *w, struct thread *t, uint64_t time_ns, bool gone)
{
	struct thread_wall *tw = t->wall;
	if (!tw)
		return;
	set_running(w, tw, false);
	if (tw->out && !gone)
		end_interval(w, t, time_ns);
	settle(w, t, NULL);
	free(tw->last.frames);
	free(tw->at_switch.frames);
	free(tw);
	t->wall = NULL;
}

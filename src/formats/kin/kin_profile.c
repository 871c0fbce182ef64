/* kin_profile.c - writes a whole profile as one .kin file, with the profile's ids. Records of one
 * kind follow each other. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/kin/kin_private.h"
#include "profile/detail.h"
#include "profile/profile.h"
#include "profile/spreads.h"

struct profile_pen {
	struct kinfile_writer *w;
	const struct profile *p;
	const struct samples *s;
	uint32_t *objects; /* ids in the file; 0: the unnamed object */
	uint32_t *tasks;
	uint32_t first_frame, first_stack, first_event;
};

static const char *text(const struct profile_pen *n, strid id)
{
	return strtab_get(n->p->strings, id);
}

static struct kinfile_plain *begin(struct profile_pen *n, enum kinf_record kind)
{
	struct kinfile_plain *r = kinfile_writer_plain(n->w);

	kinfile_put_u8(r, (uint8_t)kind);
	return r;
}

static void end(struct profile_pen *n) { kinfile_writer_put_done(n->w); }

/* ---- definitions ---- */

static unsigned digit(char c) { return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10; }

static void put_objects(struct profile_pen *n)
{
	n->objects = xalloc(n->p->n_objects * sizeof(*n->objects));
	for (size_t i = 1; i < n->p->n_objects; i++) {
		const struct object *o = &n->p->objects[i];
		const char *hex = text(n, o->build_id);
		size_t size = strspn(hex, "0123456789abcdef") / 2;
		uint8_t *id = xalloc(size + 1);
		for (size_t k = 0; k < size; k++)
			id[k] = (uint8_t)(digit(hex[2 * k]) << 4 | digit(hex[2 * k + 1]));
		n->objects[i] = kinfile_writer_module(n->w, (enum kinf_module_kind)o->kind,
						      o->is_main, text(n, o->path), id, size);
		free(id);
	}
}

static void put_tasks(struct profile_pen *n)
{
	n->tasks = xalloc(n->s->n_tasks * sizeof(*n->tasks));
	for (size_t i = 1; i < n->s->n_tasks; i++) {
		const struct task *t = &n->s->tasks[i];
		n->tasks[i] = kinfile_writer_task_of(n->w, t->rank, t->pid, t->tid, t->run,
						     text(n, t->comm));
		if (!t->start_ns && !t->end_ns && !t->cpu_ns && !t->sampled_ns)
			continue;
		struct kinfile_plain *r = begin(n, KINF_R_TASK_TIMES);
		kinfile_put(r, n->tasks[i]);
		kinfile_put(r, t->start_ns);
		kinfile_put(r, t->end_ns);
		kinfile_put(r, t->cpu_ns);
		kinfile_put(r, t->sampled_ns);
		end(n);
	}
}

static uint32_t event_flags(const struct event *e)
{
	static const uint32_t kinds[] = { [EVENT_ON_CPU] = 0,
					  [EVENT_BLOCKED] = KINF_EVENT_OFF_CPU,
					  [EVENT_WAITING] = KINF_EVENT_WAITING };

	return kinds[e->kind] | KINF_EVENT_FREQUENCY | KINF_EVENT_MORE |
	       (e->is_trace ? KINF_EVENT_TRACE : 0) | (e->is_assembled ? KINF_EVENT_ASSEMBLED : 0);
}

static void put_events(struct profile_pen *n)
{
	for (size_t i = 0; i < n->s->n_events; i++) {
		const struct event *e = &n->s->events[i];
		struct kinfile_plain *r = begin(n, KINF_R_EVENT);
		kinfile_put(r, e->unit == EVENT_NS ? KINF_NS : KINF_COUNT_UNIT);
		kinfile_put_text(r, text(n, e->name), strlen(text(n, e->name)));
		kinfile_put(r, e->frequency);
		kinfile_put(r, event_flags(e));
		kinfile_put(r, e->period);
		kinfile_put(r, e->group);
		uint32_t id = kinfile_writer_next_id(n->w, KINF_R_EVENT);
		n->first_event = i ? n->first_event : id;
		end(n);
	}
}

static void put_frames(struct profile_pen *n)
{
	for (size_t i = 1; i < n->s->n_frames; i++) {
		const struct frame *f = &n->s->frames[i];
		const char *name = text(n, f->name);
		uint32_t id = kinfile_writer_put_frame(
			n->w, &(struct kinfile_frame){
				      .addr = f->addr,
				      .module = n->objects[f->object],
				      .name = kinfile_writer_string(n->w, name, strlen(name)),
				      .flags = f->flags });
		n->first_frame = i > 1 ? n->first_frame : id;
	}
}

static void put_stacks(struct profile_pen *n)
{
	n->first_stack = 1;
	for (size_t i = 1; i < n->s->n_stacks; i++) {
		const struct stack *k = &n->s->stacks[i];
		uint32_t caller = k->caller ? n->first_stack + k->caller - 1 : 0;
		uint32_t frame = k->frame ? n->first_frame + k->frame - 1 : 0;
		kinfile_writer_put_stack(n->w, caller, frame);
	}
}

/* ---- measured data ---- */

static void put_trace(struct profile_pen *n, const struct detail *d)
{
	if (!(d->has & DETAIL_TRACE))
		return;
	struct kinfile_plain *r = begin(n, KINF_R_TRACE_TEXT);
	kinfile_put_text(r, text(n, d->trace), strlen(text(n, d->trace)));
}

/* ---- details of samples ---- */

static uint32_t frame_id(const struct profile_pen *n, frameid frame)
{
	return frame ? n->first_frame + frame - 1 : 0;
}

static uint32_t string_id(struct profile_pen *n, strid s)
{
	return s ? kinfile_writer_string(n->w, text(n, s), strlen(text(n, s))) : 0;
}

/* Converts frames and strings to ids of the file. */
static struct detail details_of(struct profile_pen *n, const struct detail *d)
{
	struct detail k = *d;
	k.target = frame_id(n, d->target);
	k.cgroup = d->has & DETAIL_CGROUP ? string_id(n, d->cgroup) : 0;
	k.register_names = d->interrupt_registers ? string_id(n, d->register_names) : 0;
	return k;
}

/* Strings are records, too, and must come before the sample that refers to them. */
static void put_strings(struct profile_pen *n)
{
	for (size_t i = 1; i < n->s->n_details; i++)
		details_of(n, &n->s->details[i]);
}

static void put_details(struct profile_pen *n, const struct detail *d)
{
	size_t count;
	struct detail k = details_of(n, d);
	const struct taken_branch *taken = detail_branches(n->s->words, d, &count);
	struct kinfile_plain *to = kinfile_writer_plain(n->w);
	if (!count) {
		kinfile_put_details(to, &k, n->s->words);
		return;
	}
	/* The registers, followed by the branches with ids of the file. */
	struct detail_registers r = detail_registers(n->s->words, d->interrupt_registers);
	size_t registers = d->interrupt_registers ? 2 + (size_t)__builtin_popcountll(r.mask) : 0;
	uint64_t *words =
		xrealloc(NULL, 2 + registers + count * TAKEN_BRANCH_WORDS, sizeof(*words));
	memcpy(words + 1, n->s->words + d->interrupt_registers, registers * sizeof(*words));
	k.interrupt_registers = registers ? 1 : 0;
	k.branches = 1 + registers;
	words[k.branches] = count;
	for (size_t i = 0; i < count; i++) {
		struct taken_branch b = taken[i];
		b.source = frame_id(n, b.source);
		b.target = frame_id(n, b.target);
		memcpy(words + k.branches + 1 + i * TAKEN_BRANCH_WORDS, &b, sizeof(b));
	}
	kinfile_put_details(to, &k, words);
	free(words);
}

static void put_samples(struct profile_pen *n)
{
	put_strings(n);
	for (size_t i = 0; i < n->s->n; i++) {
		const struct sample *x = &n->s->at[i];
		struct sample k = *x; /* with the file's ids */
		k.event = (uint16_t)(n->first_event + x->event);
		k.task = n->tasks[x->task];
		k.stack = x->stack ? n->first_stack + x->stack - 1 : 0;
		kinfile_put_sample(begin(n, KINF_R_SAMPLE), &k, 0);
		/* In the sample's block, since readers of the next block know no sample. */
		put_trace(n, sample_detail(n->s, x));
		put_details(n, sample_detail(n->s, x));
		end(n);
	}
}

static void put_ends(struct profile_pen *n, struct kinfile_plain *r, objid from_object,
		     uint64_t from, objid to_object, uint64_t to)
{
	kinfile_put(r, n->objects[from_object]);
	kinfile_put(r, from);
	kinfile_put(r, n->objects[to_object]);
	kinfile_put(r, to);
}

static void put_arcs(struct profile_pen *n)
{
	for (size_t i = 0; i < n->p->n_arcs; i++) {
		struct arc a = arc_at(&n->p->arcs, i);
		struct kinfile_plain *r = begin(n, KINF_R_ARC);
		put_ends(n, r, a.from_object, a.from, a.to_object, a.to);
		kinfile_put(r, 0);
		kinfile_put(r, a.count);
		end(n);
	}
	for (size_t i = 0; i < n->s->n_task_arcs; i++) {
		const struct task_arc *a = &n->s->task_arcs[i];
		if (!n->tasks[a->task])
			continue; /* an unknown thread's: the arc is part of the sums only */
		struct kinfile_plain *r = begin(n, KINF_R_ARC);
		put_ends(n, r, a->from_object, a->from, a->to_object, a->to);
		kinfile_put(r, n->tasks[a->task]);
		kinfile_put(r, a->count);
		end(n);
	}
}

static void put_counts(struct profile_pen *n)
{
	for (size_t i = 0; i < n->p->n_blocks; i++) {
		const struct block *b = &n->p->blocks[i];
		struct kinfile_plain *r = begin(n, KINF_R_COUNT);
		kinfile_put(r, n->objects[b->object]);
		kinfile_put(r, b->addr);
		kinfile_put(r, b->count);
		end(n);
	}
}

static void put_latency(struct profile_pen *n, const struct latency *l)
{
	struct kinfile_plain *r = begin(n, KINF_R_LATENCY);
	uint64_t used = 0, last = 0;

	put_ends(n, r, l->from_object, l->from, l->to_object, l->to);
	kinfile_put(r, l->count);
	kinfile_put(r, l->sum_ns);
	kinfile_put(r, l->min_ns);
	kinfile_put(r, l->max_ns);
	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		used += l->bucket[i] != 0;
	kinfile_put(r, used);
	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		if (!l->bucket[i])
			continue;
		kinfile_put(r, i - last);
		kinfile_put(r, l->bucket[i]);
		last = i;
	}
	end(n);
	if (!l->probes_ns)
		return;
	r = begin(n, KINF_R_PROBES);
	put_ends(n, r, l->from_object, l->from, l->to_object, l->to);
	kinfile_put(r, l->probes_ns);
	end(n);
}

/* Writes a few thousand bins per record; readers add them up. */
static void put_histogram(struct profile_pen *n, const struct histogram *h)
{
	enum { BINS = 4096 };
	struct hit hit;
	size_t done = 0, at = 0;

	do {
		struct kinfile_plain *r = begin(n, KINF_R_HISTOGRAM);
		size_t some = h->n_hits - done < BINS ? h->n_hits - done : BINS;
		uint64_t last = 0;
		kinfile_put(r, n->objects[h->object]);
		kinfile_put(r, h->low);
		kinfile_put(r, h->high);
		kinfile_put(r, h->n);
		kinfile_put(r, h->rate);
		kinfile_put_text(r, h->dimension, strlen(h->dimension));
		kinfile_put(r, (uint8_t)h->abbrev);
		kinfile_put(r, some);
		for (size_t i = 0; i < some && histogram_next(h, &at, &hit); i++) {
			kinfile_put(r, hit.bin - last);
			kinfile_put(r, hit.count);
			last = hit.bin;
		}
		end(n);
		done += some;
	} while (done < h->n_hits);
}

/* ---- differences between ranks ---- */

static void put_ranks(struct profile_pen *n, const struct spread_set *s)
{
	struct kinfile_plain *r = begin(n, KINF_R_RANKS);
	uint32_t last = 0;

	kinfile_put(r, s->ranks.n);
	for (size_t i = 0; i < s->ranks.n; i++) {
		kinfile_put(r, s->ranks.at[i].first - last);
		kinfile_put(r, s->ranks.at[i].last - s->ranks.at[i].first);
		last = s->ranks.at[i].last;
	}
	end(n);
}

static uint32_t string(struct profile_pen *n, const struct spread_set *s, strid id)
{
	const char *at = strtab_get(s->strings, id);

	return kinfile_writer_string(n->w, at, strlen(at));
}

static void put_function(struct profile_pen *n, struct kinfile_plain *r,
			 const struct spread_function *f, uint32_t name)
{
	bool is_there = f->name || f->object || f->addr;

	kinfile_put(r, is_there ? (f->inlined ? 3 : 1) : 0);
	if (!is_there)
		return;
	kinfile_put(r, n->objects[f->object]);
	kinfile_put(r, f->addr);
	kinfile_put(r, name);
}

static void put_sum(struct kinfile_plain *r, spread_sum sum)
{
	kinfile_put(r, (uint64_t)sum);
	kinfile_put(r, (uint64_t)(sum >> 64));
}

static void put_spread(struct profile_pen *n, const struct spread_set *s,
		       const struct spread_row *row)
{
	/* Strings are records, too: write them before this one. */
	uint32_t event = string(n, s, row->event);
	uint32_t from = string(n, s, row->from.name), to = string(n, s, row->to.name);
	struct kinfile_plain *r = begin(n, KINF_R_SPREAD);

	kinfile_put(r, row->kind);
	kinfile_put(r, event);
	kinfile_put(r, row->unit == EVENT_NS ? KINF_NS : KINF_COUNT_UNIT);
	put_function(n, r, &row->from, from);
	put_function(n, r, &row->to, to);
	kinfile_put(r, row->of.n);
	put_sum(r, row->of.sum);
	put_sum(r, row->of.squares);
	kinfile_put(r, row->of.min);
	kinfile_put(r, row->of.min_rank);
	kinfile_put(r, row->of.max);
	kinfile_put(r, row->of.max_rank);
	end(n);
}

static void put_spreads(struct profile_pen *n)
{
	const struct spread_set *s = n->p->spreads;

	if (!s)
		return;
	put_ranks(n, s);
	for (size_t i = 0; i < s->rows.n; i++)
		put_spread(n, s, &s->rows.at[i]);
}

static void put_audit(struct profile_pen *n)
{
	const struct audit *a = &n->s->audit;
	const uint64_t sums[KINF_N_AUDIT] = {
		[KINF_AUDIT_LOST] = a->lost,
		[KINF_AUDIT_THROTTLED] = a->throttled,
		[KINF_AUDIT_TRUNCATED] = a->truncated,
		[KINF_AUDIT_COMPLETE] = a->complete,
		[KINF_AUDIT_UNRESOLVED] = a->unresolved,
		[KINF_AUDIT_SWITCHES] = a->switches,
		[KINF_AUDIT_PREEMPTIONS] = a->preemptions,
		[KINF_AUDIT_CPU_NS] = a->cpu_ns,
		[KINF_AUDIT_SAMPLED_NS] = a->sampled_ns,
		[KINF_AUDIT_DURATION_NS] = a->duration_ns,
		[KINF_AUDIT_LOST_ARCS] = a->lost_arcs,
		[KINF_AUDIT_LOST_BLOCKS] = a->lost_blocks,
		[KINF_AUDIT_LOST_THREADS] = a->lost_threads,
		[KINF_AUDIT_LOST_MODULES] = a->lost_modules,
		[KINF_AUDIT_SATURATED] = n->p->saturated,
		[KINF_AUDIT_GUESSED] = a->guessed,
		[KINF_AUDIT_HOOKS_NS] = a->hooks_ns,
		[KINF_AUDIT_BEYOND] = a->beyond,
		[KINF_AUDIT_CHECKED] = a->checked,
		[KINF_AUDIT_CONTRADICTED] = a->contradicted,
	};
	struct kinfile_plain *r = begin(n, KINF_R_AUDIT);

	kinfile_put(r, KINF_N_AUDIT);
	for (size_t i = 0; i < KINF_N_AUDIT; i++)
		kinfile_put(r, sums[i]);
	end(n);
}

/* Writes the facts of a canonical profile: troubles, and the program. */
static void put_facts(struct profile_pen *n)
{
	for (size_t i = 0; i < n->p->n_facts; i++)
		kinfile_writer_info(n->w, strtab_get(n->p->strings, n->p->facts[i].name),
				    strtab_get(n->p->strings, n->p->facts[i].value));
}

static void put_all(struct profile_pen *n)
{
	put_facts(n);
	put_objects(n);
	put_tasks(n);
	put_events(n);
	put_frames(n);
	put_stacks(n);
	put_samples(n);
	put_arcs(n);
	put_counts(n);
	for (size_t i = 0; i < n->s->n_latencies; i++)
		put_latency(n, &n->s->latencies[i]);
	for (size_t i = 0; i < n->p->n_histograms; i++)
		put_histogram(n, &n->p->histograms[i]);
	for (size_t i = 0; i < n->s->n_failures; i++)
		kinfile_writer_unwind_failed(n->w, n->objects[n->s->failures[i].object],
					     n->s->failures[i].count);
	for (size_t i = 0; i < n->s->n_markers; i++)
		kinfile_writer_marker(n->w, n->s->markers[i].time_ns,
				      text(n, n->s->markers[i].name));
	put_spreads(n);
	put_audit(n);
}

struct kin_error *kinfile_write_profile(const char *path, const struct profile *p,
					const struct kept *names)
{
	struct profile_pen n = { .p = p, .s = &p->samples };

	n.w = kinfile_writer_in_memory(
		&(struct kinfile_writer_opts){ .writer = KINF_BY_TOOL, .level = 3 });
	put_all(&n);
	free(n.objects);
	free(n.tasks);
	return kinfile_writer_finish_memory(n.w, path, names);
}

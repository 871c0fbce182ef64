/* perf_leaves.c - sums samples of which only the leaf is needed.
 *
 * Samples are many, but their places are few. Each sample is added up in a table that fits into a
 * core's cache, and for most samples that is the only memory touched. */
#include <string.h>

#include "formats/perfdata/perf.h"

#ifdef KIN_SMALL_TABLES
enum { LEAF_BITS = 2 };
#else
enum { LEAF_BITS = 14 };
#endif
enum { MODE_BITS = 3, WAYS = 2, LEAVES = WAYS << LEAF_BITS };

struct perf_leaf {
	uint64_t ip, weight; /* weight, count: not yet added to the profile's sample */
	uint32_t space;      /* generation and mode */
	taskid task;
	uint32_t sample; /* index in the profile + 1; 0: empty */
	uint16_t event, count;
};

/* ---- parsing ---- */

/* Finds the leaf, as the stack of a chain would begin: the sample's own address, if not 0, may be
 * more precise. */
static bool find_leaf(const struct perf *p, const struct perf_sample *s,
		      struct perf_leaf_sample *ret)
{
	enum { FIRST = 4 }; /* marks and addresses to look at */
	unsigned mode = ret->own;

	for (size_t i = 0; i < FIRST && i < s->n_chain; i++) {
		uint64_t ip = perf_u64(p, s->chain + 8 * i);
		if (ip >= PERF_CONTEXT_MAX) {
			mode = perf_mode_of_marker(ip, mode);
			continue;
		}
		if (s->ip && s->ip != ip) { /* the chain has only the callers in user code */
			mode = ret->own;
			ip = s->ip;
		}
		ret->ip = ip;
		ret->mode = (uint8_t)mode;
		return true;
	}
	return false;
}

bool perf_leaf_parse(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		     size_t size, struct perf_leaf_sample *ret)
{
	struct perf_sample s;

	/* The stacks of threads at switches need whole samples. */
	if (p->machine.has_switches || p->details.by_branch ||
	    !perf_sample_parse_chain(&a->layout, record, size, &s))
		return false;
	ret->period = s.period;
	ret->pid = s.pid;
	ret->tid = s.tid;
	ret->cpu = s.cpu;
	ret->attr = (uint16_t)(a - p->attrs.at.at);
	ret->own = (uint8_t)s.mode;
	return find_leaf(p, &s, ret);
}

/* ---- adding up ---- */

static void flush(struct perf *p, struct perf_leaf *l)
{
	if (l->count)
		profile_add_to_sample(p->into, l->sample - 1, l->count, l->weight);
	l->count = 0;
	l->weight = 0;
}

/* The slots where the sample may be: WAYS of them in one cache line, the newest first. */
static struct perf_leaf *find(const struct perf *p, const struct perf_leaf_sample *s)
{
	uint64_t other = (uint64_t)s->tid << 16 | s->attr;
	uint64_t hash = (s->ip ^ other * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;

	return &p->leaves[WAYS * (hash >> (64 - LEAF_BITS))];
}

void perf_leaf_prefetch(const struct perf *p, const struct perf_leaf_sample *s)
{
	if (p->leaves)
		__builtin_prefetch(find(p, s), 1);
}

bool perf_leaf_add(struct perf *p, const struct perf_leaf_sample *s, const struct perf_space *space,
		   taskid task, uint16_t event)
{
	uint32_t key = space->generation << MODE_BITS | s->mode;
	struct perf_leaf *l = find(p, s);

	if (space->generation >> (32 - MODE_BITS))
		return false;
	for (size_t i = 0; i < WAYS; i++, l++) {
		if (!l->sample || l->ip != s->ip || l->space != key || l->task != task ||
		    l->event != event)
			continue;
		if (l->count == UINT16_MAX || l->weight + s->period < l->weight)
			flush(p, l);
		l->count++;
		l->weight += s->period;
		return true;
	}
	return false;
}

void perf_leaf_keep(struct perf *p, const struct perf_leaf_sample *s,
		    const struct perf_space *space, const struct sample *x, size_t sample)
{
	struct perf_leaf *l = find(p, s);

	flush(p, &l[WAYS - 1]);
	memmove(l + 1, l, (WAYS - 1) * sizeof(*l));
	*l = (struct perf_leaf){ .ip = s->ip,
				 .space = space->generation << MODE_BITS | s->mode,
				 .task = x->task,
				 .sample = (uint32_t)sample + 1,
				 .event = x->event };
}

void perf_leaves_start(struct perf *p) { p->leaves = xalloc(LEAVES * sizeof(*p->leaves)); }

void perf_leaves_finish(struct perf *p)
{
	for (size_t i = 0; p->leaves && i < LEAVES; i++)
		flush(p, &p->leaves[i]);
}

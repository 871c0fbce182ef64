/* hit_addresses.c - gathers the addresses in a profile by object. */
#include "symbolize/hit_addresses.h"

#include "base/sort.h"

struct gatherer {
	const struct profile *p;
	const bool *wanted;         /* NULL: all */
	struct hit_addresses *hits; /* [n_objects] */
};

static void add_hit(struct gatherer *g, objid object, uint64_t addr)
{
	struct hit_addresses *h = &g->hits[object];
	if (!g->wanted || g->wanted[object])
		vec_push(h, addr);
}

/* A return address, and the call before it. */
static void add_return(struct gatherer *g, objid object, uint64_t addr)
{
	add_hit(g, object, addr);
	if (addr)
		add_hit(g, object, addr - 1);
}

void hit_addresses_find(const struct profile *p, const bool *wanted, struct hit_addresses *ret)
{
	struct gatherer g = { p, wanted, ret };
	const struct samples *s = &p->samples;
	for (size_t i = 1; i < s->n_frames; i++) {
		const struct frame *f = &s->frames[i];
		if (f->name)
			continue;
		if (f->flags & FRAME_RETURN)
			add_return(&g, f->object, f->addr);
		else
			add_hit(&g, f->object, f->addr);
	}
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		add_return(&g, a.from_object, a.from);
		add_hit(&g, a.to_object, a.to);
	}
	for (size_t i = 0; i < s->n_latencies; i++) {
		const struct latency *l = &s->latencies[i];
		add_return(&g, l->from_object, l->from);
		add_hit(&g, l->to_object, l->to);
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		add_hit(&g, p->blocks[i].object, p->blocks[i].addr);
	for (objid i = 0; i < p->n_objects; i++)
		ret[i].n = sort_unique(ret[i].at, ret[i].n);
}

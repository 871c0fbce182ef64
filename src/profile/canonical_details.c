/* canonical_details.c - compares and copies details by their content. */
#include "profile/canonical_details.h"

#include <string.h>

#include "base/sort.h"
#include "profile/canonical.h"

enum {
	KEPT = DETAIL_ADDR | DETAIL_CGROUP | DETAIL_NAMESPACE | DETAIL_DATA_SRC | DETAIL_DATA_PAGE |
	       DETAIL_CODE_PAGE
};

bool canonical_detail_says(const struct detail *d)
{
	return d->has & KEPT || d->phys_addr || d->weight || d->ins_lat || d->p_stage_cyc ||
	       d->transaction || d->interrupt_registers || d->branches;
}

void canonical_detail_mark(const struct samples *s, const struct detail *d, frameid *frames)
{
	size_t n;
	const struct taken_branch *b = detail_branches(s->words, d, &n);

	frames[d->target] = 1;
	for (size_t i = 0; i < n; i++)
		frames[b[i].source] = frames[b[i].target] = 1;
}

/* ---- order ---- */

static int order_of_words(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return ORDER(a[i], b[i]);
	return 0;
}

static int by_text(const struct canonical_details *c, strid a, strid b)
{
	return a == b ? 0 : strcmp(strtab_get(c->p->strings, a), strtab_get(c->p->strings, b));
}

static int by_registers(const struct canonical_details *c, const struct detail *x,
			const struct detail *y)
{
	const struct samples *s = &c->p->samples;
	int order = ORDER(x->interrupt_registers != 0, y->interrupt_registers != 0);

	if (order || !x->interrupt_registers)
		return order;
	struct detail_registers p = detail_registers(s->words, x->interrupt_registers);
	struct detail_registers q = detail_registers(s->words, y->interrupt_registers);
	if (!(order = by_text(c, x->register_names, y->register_names)))
		order = ORDER(p.abi, q.abi);
	if (!order)
		order = ORDER(p.mask, q.mask);
	return order ? order
		     : order_of_words(p.values, q.values, (size_t)__builtin_popcountll(p.mask));
}

static int by_branches(const struct canonical_details *c, const struct detail *x,
		       const struct detail *y)
{
	size_t n, m;
	const struct taken_branch *p = detail_branches(c->p->samples.words, x, &n);
	const struct taken_branch *q = detail_branches(c->p->samples.words, y, &m);
	int order = ORDER(n, m);

	for (size_t i = 0; i < n && !order; i++) {
		const uint64_t a[] = { p[i].from, p[i].to, p[i].flags, c->frames[p[i].source],
				       c->frames[p[i].target] };
		const uint64_t b[] = { q[i].from, q[i].to, q[i].flags, c->frames[q[i].source],
				       c->frames[q[i].target] };
		order = order_of_words(a, b, ARRAY_LEN(a));
	}
	return order;
}

int canonical_detail_order(const struct canonical_details *c, const struct detail *x,
			   const struct detail *y)
{
	const uint64_t a[] = { x->has & KEPT,     x->addr,           c->frames[x->target],
			       x->phys_addr,      x->data_src,       x->weight,
			       x->ins_lat,        x->p_stage_cyc,    x->transaction,
			       x->data_page_size, x->code_page_size, x->cgroup_device,
			       x->cgroup_inode };
	const uint64_t b[] = { y->has & KEPT,     y->addr,           c->frames[y->target],
			       y->phys_addr,      y->data_src,       y->weight,
			       y->ins_lat,        y->p_stage_cyc,    y->transaction,
			       y->data_page_size, y->code_page_size, y->cgroup_device,
			       y->cgroup_inode };
	int order = order_of_words(a, b, ARRAY_LEN(a));

	if (!order)
		order = by_text(c, x->cgroup, y->cgroup);
	if (!order)
		order = by_registers(c, x, y);
	return order ? order : by_branches(c, x, y);
}

/* ---- copy ---- */

static strid copy_text(const struct canonical_details *c, strid id, struct profile_builder *into)
{
	const char *text = strtab_get(c->p->strings, id);

	return profile_add_string(into, text, strlen(text));
}

static uint64_t copy_words(const struct canonical_details *c, uint64_t from, size_t n,
			   struct profile_builder *into)
{
	uint64_t at;
	uint64_t *words = profile_add_words(into, n, &at);

	memcpy(words, c->p->samples.words + from, n * sizeof(*words));
	return at;
}

static uint64_t copy_branches(const struct canonical_details *c, const struct detail *d,
			      struct profile_builder *into)
{
	size_t n;
	const struct taken_branch *from = detail_branches(c->p->samples.words, d, &n);
	uint64_t at, *words = profile_add_words(into, 1 + n * TAKEN_BRANCH_WORDS, &at);
	struct taken_branch *to = (struct taken_branch *)(words + 1);

	words[0] = n;
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].source = c->frames[from[i].source];
		to[i].target = c->frames[from[i].target];
	}
	return at;
}

struct detail canonical_detail_copy(const struct canonical_details *c, const struct detail *d,
				    struct profile_builder *into)
{
	struct detail copy = { .has = d->has & KEPT,
			       .addr = d->addr,
			       .target = c->frames[d->target],
			       .phys_addr = d->phys_addr,
			       .data_src = d->data_src,
			       .weight = d->weight,
			       .ins_lat = d->ins_lat,
			       .p_stage_cyc = d->p_stage_cyc,
			       .transaction = d->transaction,
			       .data_page_size = d->data_page_size,
			       .code_page_size = d->code_page_size,
			       .cgroup_device = d->cgroup_device,
			       .cgroup_inode = d->cgroup_inode };

	if (d->cgroup)
		copy.cgroup = copy_text(c, d->cgroup, into);
	if (d->interrupt_registers) {
		uint64_t mask = detail_registers(c->p->samples.words, d->interrupt_registers).mask;
		copy.interrupt_registers = copy_words(c, d->interrupt_registers,
						      2 + (size_t)__builtin_popcountll(mask), into);
		copy.register_names = copy_text(c, d->register_names, into);
	}
	if (d->branches)
		copy.branches = copy_branches(c, d, into);
	return copy;
}

/* perf_details.c - details of samples: accesses, branches, control groups. */
#include <stdlib.h>
#include <string.h>

#include "formats/perfdata/perf.h"
#include "machine/machine.h"

enum { SOCKETS_MAX = 1 << 16, BRANCHED = DETAIL_BRANCH | DETAIL_ADDR };

/* ---- data before the samples ---- */

void perf_details_cgroup(struct perf *p, struct bytes b)
{
	uint64_t id = bytes_u64(&b);

	if (b.failed || !p->details.wanted)
		return;
	size_t n = strnlen((const char *)b.pos, bytes_left(&b));
	*map64_at(&p->details.cgroup_ids, id) = profile_add_string(p->into, (const char *)b.pos, n);
}

void perf_details_namespaces(struct perf *p, struct bytes b)
{
	enum { OF_CGROUPS = 6 };
	uint32_t pid = bytes_u32(&b), tid = bytes_u32(&b);
	uint64_t n = bytes_u64(&b);

	if (b.failed || n <= OF_CGROUPS || !p->details.wanted)
		return;
	bytes_take(&b, 16 * OF_CGROUPS);
	uint64_t device = bytes_u64(&b), inode = bytes_u64(&b);
	if (b.failed)
		return;
	struct perf_thread *t = perf_thread_at(p, pid, tid);
	t->cgroup_device = (uint32_t)device;
	t->cgroup_inode = inode;
}

static void skip_strings(struct bytes *b)
{
	for (uint32_t n = bytes_u32(b); n && !b->failed; n--)
		bytes_take(b, bytes_u32(b));
}

/* Lists of cores and of threads as text, then of each processor {u32 core, u32 socket}. */
void perf_details_topology(struct perf *p, struct bytes b)
{
	struct perf_details *d = &p->details;

	skip_strings(&b);
	skip_strings(&b);
	if (b.failed || d->sockets)
		return;
	size_t n = bytes_left(&b) / 8 < SOCKETS_MAX ? bytes_left(&b) / 8 : SOCKETS_MAX;
	if (p->n_cpus && n > p->n_cpus) /* data of dies follows */
		n = p->n_cpus;
	d->sockets = xrealloc(NULL, n + 1, sizeof(*d->sockets));
	d->n_sockets = n;
	for (size_t i = 0; i < n; i++) {
		bytes_u32(&b);
		d->sockets[i] = bytes_u32(&b);
	}
}

/* ---- samples ---- */

/* The fields that do not depend on the kind of sample. */
static struct detail common(const struct perf *p, const struct perf_thread *t,
			    const struct perf_sample *s)
{
	struct detail d = { .has = 0 };

	if (s->cpu < p->details.n_sockets) {
		d.socket = p->details.sockets[s->cpu];
		d.has |= DETAIL_SOCKET;
	}
	if (t->cgroup_inode) {
		d.cgroup_device = t->cgroup_device;
		d.cgroup_inode = t->cgroup_inode;
		d.has |= DETAIL_NAMESPACE;
	}
	if (s->cgroup) {
		uint32_t path = map64_get(&p->details.cgroup_ids, s->cgroup);
		d.cgroup = path == NONE ? profile_add_string(p->into, "unknown", 7) : path;
		d.has |= DETAIL_CGROUP;
	}
	d.weight = s->weight;
	d.ins_lat = s->ins_lat;
	d.p_stage_cyc = s->p_stage_cyc;
	d.transaction = s->transaction;
	d.code_page_size = s->code_page_size;
	return d;
}

/* Selects the attributes of samples that are needed. */
static struct detail wanted(const struct perf *p, const struct perf_thread *t,
			    const struct perf_sample *s)
{
	return p->details.wanted ? common(p, t, s) : (struct detail){ .has = 0 };
}

/* {ABI, mask, value ...} */
static uint64_t registers(struct perf *p, const struct perf_registers *r)
{
	uint64_t at;
	size_t n = (size_t)__builtin_popcountll(r->mask);

	if (!r->values)
		return 0;
	uint64_t *w = profile_add_words(p->into, 2 + n, &at);
	w[0] = r->abi;
	w[1] = r->mask;
	for (size_t i = 0; i < n; i++)
		w[2 + i] = perf_u64(p, r->values + 8 * i);
	return at;
}

/* {n, n * struct taken_branch} */
static uint64_t branches(struct perf *p, struct perf_space *space, const uint8_t *from, size_t n)
{
	uint64_t at;

	if (!n)
		return 0;
	uint64_t *w = profile_add_words(p->into, 1 + n * TAKEN_BRANCH_WORDS, &at);
	struct taken_branch *b = (struct taken_branch *)(w + 1);
	w[0] = n;
	for (size_t i = 0; i < n; i++, from += 24) {
		b[i].from = perf_u64(p, from);
		b[i].to = perf_u64(p, from + 8);
		b[i].flags = perf_u64(p, from + 16);
		b[i].source = perf_frame_at(p, space, b[i].from);
		b[i].target = perf_frame_at(p, space, b[i].to);
	}
	return at;
}

static strid register_names(struct perf *p, const struct perf_attr *a)
{
	const struct machine *m = perf_machine_of(p, a);
	return m ? profile_add_string(p->into, m->perf_names, strlen(m->perf_names)) : 0;
}

static void add_cpu_state(struct perf *p, struct perf_space *space, const struct perf_attr *a,
			  const struct perf_sample *s, struct detail *d)
{
	d->user_registers = registers(p, &s->user);
	d->interrupt_registers = registers(p, &s->interrupt);
	d->branches = s->n_taken ? branches(p, space, s->taken, s->n_taken)
				 : branches(p, space, s->branches, s->n_branches);
	if (d->user_registers || d->interrupt_registers)
		d->register_names = register_names(p, a);
}

detailid perf_details_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
			 const struct perf_thread *t, const struct perf_sample *s)
{
	struct detail d = wanted(p, t, s);

	d.trace = perf_traces_text(p, a, s);
	if (d.trace)
		d.has |= DETAIL_TRACE;
	if (!p->details.wanted)
		return d.has ? profile_add_detail(p->into, &d) : 0;
	d.data_src = s->data_src;
	d.phys_addr = s->phys_addr;
	d.data_page_size = s->data_page_size;
	if (s->data_src)
		d.has |= DETAIL_DATA_SRC;
	if (s->addr) {
		d.addr = s->addr;
		d.target = perf_frame_at(p, space, s->addr);
		d.has |= DETAIL_ADDR;
	}
	if (s->fields & PERF_DATA_PAGE_SIZE)
		d.has |= DETAIL_DATA_PAGE;
	if (s->fields & PERF_CODE_PAGE_SIZE)
		d.has |= DETAIL_CODE_PAGE;
	if (p->details.cpu_state)
		add_cpu_state(p, space, a, s, &d);
	return profile_add_detail(p->into, &d);
}

stackid perf_details_branch(struct perf *p, struct perf_space *space, const struct perf_thread *t,
			    const struct perf_sample *s, size_t i, detailid *detail)
{
	const uint8_t *at = s->taken + 24 * i;
	struct detail d = common(p, t, s);

	d.from = perf_u64(p, at);
	d.addr = perf_u64(p, at + 8);
	d.branch = perf_u64(p, at + 16);
	d.source = perf_frame_at(p, space, d.from);
	d.target = perf_frame_at(p, space, d.addr);
	d.weight = branch_cycles(d.branch) ? branch_cycles(d.branch) : 1;
	d.has |= BRANCHED;
	*detail = profile_add_detail(p->into, &d);
	return profile_add_stack(p->into, 0, d.target);
}

void perf_details_done(struct perf *p)
{
	free(p->details.sockets);
	map64_free(&p->details.cgroup_ids);
}

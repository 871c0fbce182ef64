/* kin_details.c - details of samples in a .kin file: accesses, registers, branches. */
#include <string.h>

#include "formats/kin/kin_private.h"
#include "formats/kin/kin_records.h"
#include "profile/detail.h"

enum { REGISTERS_MAX = 64, BRANCHES_MAX = 1024 };

/* ---- writing ---- */

static void put_registers(struct kinfile_plain *to, const struct detail *d, const uint64_t *words)
{
	struct detail_registers r = detail_registers(words, d->interrupt_registers);
	int n = __builtin_popcountll(r.mask);

	kinfile_put(to, d->register_names);
	kinfile_put(to, r.abi);
	kinfile_put(to, r.mask);
	for (int i = 0; i < n; i++)
		kinfile_put(to, r.values[i]);
}

static void put_branches(struct kinfile_plain *to, const struct detail *d, const uint64_t *words)
{
	size_t n;
	const struct taken_branch *b = detail_branches(words, d, &n);

	n = n < BRANCHES_MAX ? n : BRANCHES_MAX;
	kinfile_put(to, n);
	for (; n--; b++) {
		kinfile_put(to, b->from);
		kinfile_put(to, b->to);
		kinfile_put(to, b->flags);
		kinfile_put(to, b->source);
		kinfile_put(to, b->target);
	}
}

static void put_detail(struct kinfile_plain *to, const struct detail *d, const uint64_t *words,
		       enum kinf_detail kind)
{
	switch (kind) {
	case KINF_D_ADDR:
		kinfile_put(to, d->addr);
		kinfile_put(to, d->target);
		break;
	case KINF_D_PHYS_ADDR:
		kinfile_put(to, d->phys_addr);
		break;
	case KINF_D_DATA_SRC:
		kinfile_put(to, d->data_src);
		break;
	case KINF_D_WEIGHT:
		kinfile_put(to, d->weight);
		kinfile_put(to, d->ins_lat);
		kinfile_put(to, d->p_stage_cyc);
		break;
	case KINF_D_TRANSACTION:
		kinfile_put(to, d->transaction);
		break;
	case KINF_D_DATA_PAGE:
		kinfile_put(to, d->data_page_size);
		break;
	case KINF_D_CODE_PAGE:
		kinfile_put(to, d->code_page_size);
		break;
	case KINF_D_CGROUP:
		kinfile_put(to, d->cgroup);
		break;
	case KINF_D_NAMESPACE:
		kinfile_put(to, d->cgroup_device);
		kinfile_put(to, d->cgroup_inode);
		break;
	case KINF_D_REGISTERS:
		put_registers(to, d, words);
		break;
	case KINF_D_BRANCHES:
		put_branches(to, d, words);
		break;
	case KINF_N_DETAILS:
		break;
	}
}

static uint32_t bit(enum kinf_detail kind, bool there) { return (uint32_t)there << kind; }

/* A bit for each enum kinf_detail that the sample has. */
static uint32_t kinds_of(const struct detail *d)
{
	return bit(KINF_D_ADDR, d->has & DETAIL_ADDR) | bit(KINF_D_PHYS_ADDR, d->phys_addr) |
	       bit(KINF_D_DATA_SRC, d->has & DETAIL_DATA_SRC) |
	       bit(KINF_D_WEIGHT, d->weight || d->ins_lat || d->p_stage_cyc) |
	       bit(KINF_D_TRANSACTION, d->transaction) |
	       bit(KINF_D_DATA_PAGE, d->has & DETAIL_DATA_PAGE) |
	       bit(KINF_D_CODE_PAGE, d->has & DETAIL_CODE_PAGE) |
	       bit(KINF_D_CGROUP, d->has & DETAIL_CGROUP) |
	       bit(KINF_D_NAMESPACE, d->has & DETAIL_NAMESPACE) |
	       bit(KINF_D_REGISTERS, d->interrupt_registers) | bit(KINF_D_BRANCHES, d->branches);
}

void kinfile_put_details(struct kinfile_plain *to, const struct detail *d, const uint64_t *words)
{
	struct kinfile_plain text = { .time_ns = 0 };
	uint32_t kinds = kinds_of(d);

	if (!kinds)
		return;
	kinfile_put(&text, kinds);
	for (unsigned kind = 0; kind < KINF_N_DETAILS; kind++)
		if (kinds & 1u << kind)
			put_detail(&text, d, words, (enum kinf_detail)kind);
	kinfile_put_u8(to, KINF_R_DETAILS);
	kinfile_put_text(to, text.bytes.at, text.bytes.n);
	vec_free(&text.bytes);
}

/* ---- reading ---- */

/* The profile's frame; 0 for 0, and for a frame that was lost by damage. */
static frameid take_frame(const struct kinfile_stream *s, struct bytes *in)
{
	uint32_t frame = kinfile_find(s, KINF_R_FRAME, kinfile_take32(in));

	return frame == NONE ? 0 : frame;
}

static strid take_string(const struct kinfile_stream *s, struct bytes *in)
{
	uint32_t string = kinfile_find(s, KINF_R_STRING, kinfile_take32(in));

	return string == NONE ? 0 : string;
}

static uint16_t take16(struct bytes *in)
{
	uint64_t v = bytes_uleb(in);

	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

static void take_addr(const struct kinfile_stream *s, struct bytes *in, struct detail *d)
{
	d->addr = bytes_uleb(in);
	d->target = take_frame(s, in);
	d->has |= DETAIL_ADDR;
}

static void take_registers(struct kinfile_stream *s, struct bytes *in, struct detail *d)
{
	strid names = take_string(s, in);
	uint64_t abi = bytes_uleb(in), mask = bytes_uleb(in), at, values[REGISTERS_MAX];
	size_t n = (size_t)__builtin_popcountll(mask);

	for (size_t i = 0; i < n; i++)
		values[i] = bytes_uleb(in);
	if (in->failed || !s->f->cpu_state)
		return;
	uint64_t *w = profile_add_words(s->f->into, 2 + n, &at);
	w[0] = abi;
	w[1] = mask;
	memcpy(w + 2, values, n * sizeof(*values));
	d->interrupt_registers = at;
	d->register_names = names;
}

/* Adds each branch as a sample at its target, of weight 1. */
static void add_branches(struct kinfile_stream *s, const struct taken_branch *b, size_t n,
			 const struct detail *of)
{
	struct profile_builder *into = s->f->into;

	for (; n--; b++) {
		struct detail d = {
			.has = (of->has & (DETAIL_CGROUP | DETAIL_NAMESPACE)) | DETAIL_ADDR |
			       DETAIL_BRANCH,
			.cgroup = of->cgroup,
			.cgroup_device = of->cgroup_device,
			.cgroup_inode = of->cgroup_inode,
			.ins_lat = of->ins_lat,
			.p_stage_cyc = of->p_stage_cyc,
			.transaction = of->transaction,
			.code_page_size = of->code_page_size,
			.from = b->from,
			.addr = b->to,
			.branch = b->flags,
			.source = b->source,
			.target = b->target,
			.weight = branch_cycles(b->flags) ? branch_cycles(b->flags) : 1,
		};
		struct sample x = s->like;
		x.stack = b->target ? profile_add_stack(into, 0, b->target) : 0;
		x.weight = x.count;
		profile_add_detailed_sample(into, x, profile_add_detail(into, &d));
	}
}

static void take_branches(struct kinfile_stream *s, struct bytes *in, struct detail *d)
{
	uint64_t n = bytes_uleb(in), at;
	struct taken_branch all[BRANCHES_MAX];

	if (n > BRANCHES_MAX)
		bytes_fail(in);
	for (size_t i = 0; i < n && !in->failed; i++) {
		struct taken_branch *b = &all[i];
		b->from = bytes_uleb(in);
		b->to = bytes_uleb(in);
		b->flags = bytes_uleb(in);
		b->source = take_frame(s, in);
		b->target = take_frame(s, in);
	}
	if (!in->failed && s->f->by_branch)
		add_branches(s, all, n, d);
	if (in->failed || !n || !s->f->cpu_state)
		return;
	uint64_t *w = profile_add_words(s->f->into, 1 + n * TAKEN_BRANCH_WORDS, &at);
	w[0] = n;
	memcpy(w + 1, all, n * sizeof(*all));
	d->branches = at;
}

static void take_detail(struct kinfile_stream *s, struct bytes *in, enum kinf_detail kind,
			struct detail *d)
{
	switch (kind) {
	case KINF_D_ADDR:
		take_addr(s, in, d);
		break;
	case KINF_D_PHYS_ADDR:
		d->phys_addr = bytes_uleb(in);
		break;
	case KINF_D_DATA_SRC:
		d->data_src = bytes_uleb(in);
		d->has |= DETAIL_DATA_SRC;
		break;
	case KINF_D_WEIGHT:
		d->weight = bytes_uleb(in);
		d->ins_lat = take16(in);
		d->p_stage_cyc = take16(in);
		break;
	case KINF_D_TRANSACTION:
		d->transaction = bytes_uleb(in);
		break;
	case KINF_D_DATA_PAGE:
		d->data_page_size = bytes_uleb(in);
		d->has |= DETAIL_DATA_PAGE;
		break;
	case KINF_D_CODE_PAGE:
		d->code_page_size = bytes_uleb(in);
		d->has |= DETAIL_CODE_PAGE;
		break;
	case KINF_D_CGROUP:
		d->cgroup = take_string(s, in);
		d->has |= DETAIL_CGROUP;
		break;
	case KINF_D_NAMESPACE:
		d->cgroup_device = kinfile_take32(in);
		d->cgroup_inode = bytes_uleb(in);
		d->has |= DETAIL_NAMESPACE;
		break;
	case KINF_D_REGISTERS:
		take_registers(s, in, d);
		break;
	case KINF_D_BRANCHES:
		take_branches(s, in, d);
		break;
	case KINF_N_DETAILS:
		break;
	}
}

void kinfile_read_details(struct kinfile_stream *s, uint32_t event)
{
	struct kinfile_text text = kinfile_take_text(&s->in);
	struct bytes in = bytes_of(NULL, text.s, text.n);
	struct detail d = { .trace = s->trace, .has = s->trace ? DETAIL_TRACE : 0 };

	if (s->in.failed || !event)
		return;
	uint64_t has = bytes_uleb(&in);
	if (s->is_held && has & 1u << KINF_D_BRANCHES) {
		s->f->by_branch = true;
		s->is_held = false;
	}
	kinfile_add_held(s);
	if (!s->f->details && !s->f->by_branch)
		return;
	for (unsigned kind = 0; kind < KINF_N_DETAILS && !in.failed; kind++)
		if (has & 1u << kind)
			take_detail(s, &in, (enum kinf_detail)kind, &d);
	if (in.failed)
		bytes_fail(&s->in);
	else if (!s->f->by_branch)
		profile_set_detail(s->f->into, profile_add_detail(s->f->into, &d));
}

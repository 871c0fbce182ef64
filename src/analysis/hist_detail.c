/* hist_detail.c - values and texts of the keys for memory accesses, branches and control groups. */
#include "analysis/hist_detail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "base/search.h"
#include "profile/access.h"

enum { LINE = 64 }; /* bytes of a cache line */

/* ---- 64-bit numbers ---- */

static uint32_t wide(struct hists_private *h, uint64_t value)
{
	uint32_t *at = map64_at(&h->wide_ids, value);

	if (*at == NONE) {
		*at = (uint32_t)h->wide.n;
		vec_push(&h->wide, value);
	}
	return *at;
}

uint64_t hist_wide(const struct hists_private *h, uint32_t value) { return h->wide.at[value]; }

/* ---- code and data ---- */

static symid place_of(const struct hists_private *h, frameid frame)
{
	symid place = frame ? program_place(h->hists.program, frame) : NONE;

	return place != NONE && program_kind(h->hists.program, place) == PLACE_UNKNOWN ? NONE
										       : place;
}

/* Functions are numbered as in rows: one number per place; code without a place has one per
 * address. */
static uint32_t symbol_of(struct hists_private *h, frameid frame, uint64_t addr)
{
	symid place = place_of(h, frame);

	return map64_number(&h->detail_ids,
			    place == NONE ? addr | UINT64_C(1) << 63 : (uint64_t)place);
}

static const struct frame *frame_at(const struct hists_private *h, frameid frame)
{
	return &h->hists.profile->samples.frames[frame];
}

static enum hist_owner owner_of(const struct hists_private *h, frameid frame)
{
	return frame_at(h, frame)->flags & FRAME_KERNEL ? OWNER_KERNEL : OWNER_USER;
}

static const struct symbol_table *variables_of(struct hists_private *h, objid object)
{
	struct object_file *file = program_object_file(h->hists.program, object);

	if (!file)
		return NULL;
	if (!h->variables)
		h->variables = xalloc((h->hists.profile->n_objects + 1) * sizeof(*h->variables));
	if (!h->variables[object]) {
		h->variables[object] = arena_alloc(&h->arena, sizeof(**h->variables));
		object_variables(file, h->variables[object]);
	}
	return h->variables[object];
}

/* The variable that contains an address of an object; NULL if none is known. */
static const struct object_symbol *variable_at(struct hists_private *h, frameid frame)
{
	const struct frame *f = frame_at(h, frame);
	const struct symbol_table *t = frame && f->object ? variables_of(h, f->object) : NULL;
	/* index after the last variable that starts at or before the address */
	size_t low = COUNT_WHILE(t ? t->n : 0, i, t->at[i].addr <= f->addr);
	return low && f->addr < t->at[low - 1].end ? &t->at[low - 1] : NULL;
}

static const char *address_text(struct hists_private *h, uint64_t addr)
{
	return addr ? arena_printf(&h->arena, "0x%016" PRIx64, addr) : "0000000000000000";
}

/* "f", "f+0x12", or the address. */
static const char *code_text(struct hists_private *h, frameid frame, uint64_t addr, bool offset)
{
	symid place = place_of(h, frame);
	uint64_t into = 0;

	if (place == NONE)
		return address_text(h, addr);
	const char *name = program_name(h->hists.program, place);
	if (!offset || !hist_offset(h, frame, place, &into))
		return name;
	return arena_printf(&h->arena, "%s+0x%" PRIx64, name, into);
}

static const char *data_text(struct hists_private *h, frameid frame, uint64_t addr)
{
	const struct object_symbol *v = variable_at(h, frame);

	if (!v)
		return address_text(h, addr);
	return arena_printf(&h->arena, "%s+0x%" PRIx64, v->name,
			    frame_at(h, frame)->addr - v->addr);
}

static const char *dso_text(struct hists_private *h, frameid frame)
{
	return frame ? strtab_get(h->strings, hist_dso_of(h, frame_at(h, frame)->object))
		     : "[unknown]";
}

static const char *line_text(struct hists_private *h, frameid frame)
{
	uint32_t line = hist_line_id(h, frame, NO_CALL);

	return line ? strtab_get(h->strings, line) : "??:0";
}

/* ---- values ---- */

static enum access_part part_of(enum hist_key key)
{
	switch ((int)key) {
	case HIST_TLB:
		return ACCESS_TLB;
	case HIST_SNOOP:
		return ACCESS_SNOOP;
	case HIST_LOCKED:
		return ACCESS_LOCK;
	case HIST_BLOCKED:
		return ACCESS_BLOCKED;
	}
	return ACCESS_LEVEL;
}

static uint32_t cgroup_id(struct hists_private *h, const struct detail *d)
{
	return strtab_add(h->strings, arena_printf(&h->arena, "%" PRIu32 "/0x%" PRIx64,
						   d->cgroup_device, d->cgroup_inode));
}

static uint32_t branch_value(struct hists_private *h, enum hist_key key, const struct detail *d)
{
	switch ((int)key) {
	case HIST_DSO_FROM:
		return strtab_add(h->strings, dso_text(h, d->source));
	case HIST_DSO_TO:
		return strtab_add(h->strings, dso_text(h, d->target));
	case HIST_SYMBOL_FROM:
		return symbol_of(h, d->source, d->from);
	case HIST_SYMBOL_TO:
		return symbol_of(h, d->target, d->addr);
	case HIST_ADDR_FROM:
		return wide(h, d->from);
	case HIST_ADDR_TO:
		return wide(h, d->addr);
	case HIST_SRCLINE_FROM:
		return strtab_add(h->strings, line_text(h, d->source));
	case HIST_SRCLINE_TO:
		return strtab_add(h->strings, line_text(h, d->target));
	case HIST_MISPREDICT:
		return (uint32_t)d->branch & (BRANCH_MISPREDICTED | BRANCH_PREDICTED);
	case HIST_IN_TX:
		return (uint32_t)d->branch & BRANCH_IN_TX;
	case HIST_ABORT:
		return (uint32_t)d->branch & BRANCH_ABORT;
	case HIST_CYCLES:
		return branch_cycles(d->branch);
	}
	return 0;
}

uint32_t hist_detail_value(struct hists_private *h, enum hist_key key, const struct sample *s)
{
	const struct samples *all = &h->hists.profile->samples;
	const struct detail *d = sample_detail(all, s);
	uint64_t quantum = h->hists.opts->time_quantum;

	switch ((int)key) {
	case HIST_TIME:
		return wide(h, s->time_ns - s->time_ns % quantum);
	case HIST_SOCKET:
		return d->has & DETAIL_SOCKET ? d->socket : NONE;
	case HIST_TRACE:
		return d->has & DETAIL_TRACE
			       ? strtab_add(h->strings,
					    strtab_get(h->hists.profile->strings, d->trace))
			       : 0;
	case HIST_CGROUP:
		return d->has & DETAIL_CGROUP
			       ? strtab_add(h->strings,
					    strtab_get(h->hists.profile->strings, d->cgroup))
			       : 0;
	case HIST_CGROUP_ID:
		return cgroup_id(h, d);
	case HIST_LOCAL_WEIGHT:
	case HIST_WEIGHT:
		return wide(h, d->weight);
	case HIST_LOCAL_INS_LAT:
	case HIST_INS_LAT:
		return d->ins_lat;
	case HIST_LOCAL_STAGE:
	case HIST_STAGE:
		return d->p_stage_cyc;
	case HIST_TRANSACTION:
		return wide(h, d->transaction);
	case HIST_CODE_PAGE_SIZE:
		return wide(h, d->code_page_size);
	case HIST_DATA_PAGE_SIZE:
		return wide(h, d->data_page_size);
	case HIST_PHYS_DADDR:
		return wide(h, d->phys_addr);
	case HIST_DCACHELINE:
		return wide(h, d->addr / LINE * LINE);
	case HIST_SYMBOL_DADDR:
		return wide(h, d->addr);
	case HIST_DSO_DADDR:
		return strtab_add(h->strings, dso_text(h, d->target));
	case HIST_SYMBOL_IADDR:
		return all->stacks[s->stack].frame;
	case HIST_MEM:
	case HIST_TLB:
	case HIST_SNOOP:
	case HIST_LOCKED:
	case HIST_BLOCKED:
		return wide(h, access_bits(part_of(key), d->data_src));
	}
	return branch_value(h, key, d);
}

/* ---- as text ---- */

static const char *time_text(struct hists_private *h, uint64_t ns)
{
	uint64_t s = ns / 1000000000, rest = ns % 1000000000;

	if (h->hists.opts->nanoseconds)
		return arena_printf(&h->arena, "%" PRIu64 ".%09" PRIu64, s, rest);
	return arena_printf(&h->arena, "%" PRIu64 ".%06" PRIu64, s, rest / 1000);
}

/* Number of samples of the row: keys without "local" are multiplied by it. */
static uint64_t count_of(const struct hists_private *h, const struct hist_row *row)
{
	size_t i = (size_t)(row - h->rows.at);

	return h->self ? h->self[i * h->hists.opts->n_events].count : 1;
}

static const char *number_text(struct hists_private *h, uint64_t n)
{
	return arena_printf(&h->arena, "%" PRIu64, n);
}

static const char *branch_text(struct hists_private *h, enum hist_key key, uint32_t value,
			       const struct detail *d)
{
	switch ((int)key) {
	case HIST_SYMBOL_FROM:
		return code_text(h, d->source, d->from, false);
	case HIST_SYMBOL_TO:
		return code_text(h, d->target, d->addr, false);
	case HIST_ADDR_FROM:
		return code_text(h, d->source, d->from, true);
	case HIST_ADDR_TO:
		return code_text(h, d->target, d->addr, true);
	case HIST_MISPREDICT:
		return value & BRANCH_PREDICTED ? "N" : value & BRANCH_MISPREDICTED ? "Y" : "N/A";
	case HIST_IN_TX:
		return value ? "T" : ".";
	case HIST_ABORT:
		return value ? "A" : ".";
	case HIST_CYCLES:
		return value ? number_text(h, value) : "-";
	}
	return strtab_get(h->strings, value);
}

/* All addresses of a row are in one cache line; shows that of the first sample. */
static const char *cacheline_text(struct hists_private *h, const struct detail *d)
{
	if (!variable_at(h, d->target))
		return address_text(h, d->addr / LINE * LINE);
	return data_text(h, d->target, d->addr);
}

static const struct detail *detail_of(const struct hists_private *h, const struct hist_row *row)
{
	return &h->hists.profile->samples.details[h->skey_details.at[row->skey]];
}

const char *hist_detail_text(struct hists_private *h, enum hist_key key, uint32_t value,
			     const struct hist_row *row)
{
	const struct detail *d = detail_of(h, row);

	switch ((int)key) {
	case HIST_TIME:
		return time_text(h, hist_wide(h, value));
	case HIST_SOCKET:
		return value == NONE ? "-" : arena_printf(&h->arena, "%03" PRIu32, value);
	case HIST_TRACE:
		return strtab_get(h->strings, value);
	case HIST_CGROUP:
		return value ? strtab_get(h->strings, value) : "N/A";
	case HIST_LOCAL_WEIGHT:
		return number_text(h, hist_wide(h, value));
	case HIST_WEIGHT:
		return number_text(h, hist_wide(h, value) * count_of(h, row));
	case HIST_INS_LAT:
	case HIST_STAGE:
		return number_text(h, value * count_of(h, row));
	case HIST_LOCAL_INS_LAT:
	case HIST_LOCAL_STAGE:
		return number_text(h, value);
	case HIST_TRANSACTION:
		return transaction_text(&h->arena, hist_wide(h, value));
	case HIST_CODE_PAGE_SIZE:
	case HIST_DATA_PAGE_SIZE:
		return page_size_text(&h->arena, hist_wide(h, value));
	case HIST_PHYS_DADDR:
		return address_text(h, hist_wide(h, value));
	case HIST_DCACHELINE:
		return cacheline_text(h, d);
	case HIST_SYMBOL_DADDR:
		return data_text(h, d->target, d->addr);
	case HIST_SYMBOL_IADDR:
		return code_text(h, value, frame_at(h, value)->addr, false);
	case HIST_MEM:
	case HIST_TLB:
	case HIST_SNOOP:
	case HIST_LOCKED:
	case HIST_BLOCKED:
		return access_text(&h->arena, part_of(key), hist_wide(h, value));
	}
	return branch_text(h, key, value, d);
}

const char *hist_detail_subject(struct hists_private *h, enum hist_key key, uint32_t value,
				const struct hist_row *row)
{
	const struct object_symbol *v = NULL;

	if (key == HIST_SYMBOL_IADDR) {
		symid place = place_of(h, value);
		return place == NONE ? NULL : program_name(h->hists.program, place);
	}
	if (key == HIST_SYMBOL_DADDR || key == HIST_DCACHELINE)
		v = variable_at(h, detail_of(h, row)->target);
	return v ? v->name : NULL;
}

enum hist_owner hist_detail_owner(const struct hists_private *h, enum hist_key key, uint32_t value,
				  const struct hist_row *row)
{
	switch ((int)key) {
	case HIST_SYMBOL_FROM:
	case HIST_ADDR_FROM:
		return owner_of(h, detail_of(h, row)->source);
	case HIST_SYMBOL_TO:
	case HIST_ADDR_TO:
	case HIST_SYMBOL_DADDR:
	case HIST_DCACHELINE:
		return owner_of(h, detail_of(h, row)->target);
	case HIST_SYMBOL_IADDR:
		return owner_of(h, value);
	case HIST_PHYS_DADDR:
		return OWNER_USER;
	}
	return OWNER_NONE;
}

void hist_detail_done(struct hists_private *h)
{
	for (size_t i = 0; h->variables && i < h->hists.profile->n_objects; i++)
		if (h->variables[i])
			free(h->variables[i]->at);
	free(h->variables);
	vec_free(&h->wide);
	map64_free(&h->wide_ids);
	map64_free(&h->detail_ids);
}

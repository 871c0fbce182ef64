/* hist_key.c - values and texts of the keys of frames and tasks. */
#include "analysis/hist_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/hists_private.h"

/* ---- values of frames ---- */

/* The object's text. Code made at run time, whose names are in perf-PID.map, is "[JIT] tid PID". */
static const char *dso_text(struct hists_private *h, objid object)
{
	const char *name = base_name(program_object_name(h->hists.program, object));
	unsigned pid;
	int end = 0;
	if (h->hists.profile->objects[object].kind == OBJECT_JIT &&
	    sscanf(name, "perf-%u.map%n", &pid, &end) == 1 && end && !name[end])
		return arena_printf(&h->arena, "[JIT] tid %u", pid);
	return name;
}

/* The id of the object's name: libraries with the same name are one. */
uint32_t hist_dso_of(struct hists_private *h, objid object)
{
	if (!h->dso_names[object])
		h->dso_names[object] = strtab_add(h->strings, dso_text(h, object)) + 1;
	return h->dso_names[object] - 1;
}

uint32_t map64_number(struct map64 *ids, uint64_t key)
{
	uint32_t *at = map64_at(ids, key);
	if (*at == NONE)
		*at = (uint32_t)ids->n - 1;
	return *at;
}

static bool line_of(struct hists_private *h, frameid frame, uint32_t call, struct srcloc *ret)
{
	if (call != NO_CALL)
		return program_call_line(h->hists.program, frame, call, ret);
	return frame && program_line(h->hists.program, frame, ret) && ret->file;
}

uint32_t hist_line_id(struct hists_private *h, frameid frame, uint32_t call)
{
	uint32_t *at = map64_at(&h->line_ids, MAP64_PAIR(call, frame));
	struct srcloc loc;
	if (*at != NONE)
		return *at;
	uint32_t id = 0;
	if (line_of(h, frame, call, &loc))
		id = strtab_add(h->strings, arena_printf(&h->arena, "%s:%u", base_name(loc.file),
							 (unsigned)loc.line));
	return *at = id;
}

static uint32_t file_of(struct hists_private *h, frameid frame, uint32_t call)
{
	struct srcloc loc;
	return line_of(h, frame, call, &loc) ? strtab_add(h->strings, base_name(loc.file)) : 0;
}

/* For an inlined function: the place that stands for all functions that it is inlined into, unless
 * these are kept apart. */
static symid one_of_name(struct hists_private *h, symid place, bool inlined)
{
	if (!inlined || h->rules->inlines_apart || place == NONE)
		return place;
	return program_symbols(h->hists.program)->at[place].owner;
}

bool hist_offset(const struct hists_private *h, frameid frame, symid place, uint64_t *ret)
{
	const struct frame *f = &h->hists.profile->samples.frames[frame];
	bool known = place != NONE && program_has_offsets(h->hists.program, f->object);
	uint64_t start = known ? program_start(h->hists.program, place) : 0;
	uint64_t addr = f->addr;
	*ret = start && start <= addr ? addr - start : 0;
	return start && start <= addr;
}

static uint64_t offset_of(const struct hists_private *h, frameid frame, symid place)
{
	uint64_t offset;
	hist_offset(h, frame, place, &offset);
	return offset;
}

/* The size of a function; 0: not known. */
static uint32_t size_of(const struct hists_private *h, frameid frame, symid place)
{
	const struct program *g = h->hists.program;
	objid object = h->hists.profile->samples.frames[frame].object;
	return place == NONE || !program_has_offsets(g, object) ? 0
								: (uint32_t)program_size(g, place);
}

/* "f+17", or "libfoo.so[401136]". */
static uint32_t address_of(struct hists_private *h, frameid frame, symid place)
{
	const struct frame *f = &h->hists.profile->samples.frames[frame];
	uint64_t offset;
	if (!frame)
		return 0;
	if (hist_offset(h, frame, place, &offset))
		return strtab_add(h->strings,
				  arena_printf(&h->arena, "%s+%" PRIu64,
					       program_name(h->hists.program, place), offset));
	if (f->name || !program_has_offsets(h->hists.program, f->object))
		return strtab_add(h->strings, program_name(h->hists.program, place));
	return strtab_add(h->strings,
			  arena_printf(&h->arena, "%s[%" PRIx64 "]",
				       strtab_get(h->strings, hist_dso_of(h, f->object)), f->addr));
}

uint32_t hist_key_of_frame(struct hists_private *h, enum hist_key key, frameid frame, symid place,
			   bool inlined, uint32_t call)
{
	switch (key) {
	case HIST_DSO:
		return frame ? hist_dso_of(h, h->hists.profile->samples.frames[frame].object)
			     : strtab_add(h->strings, "[unknown]");
	case HIST_SYM:
	case HIST_IPC: /* one value per function */
		return one_of_name(h, place, inlined);
	case HIST_SYMOFF:
		return map64_number(&h->offset_ids,
				    MAP64_PAIR(place, (uint32_t)offset_of(h, frame, place)));
	case HIST_SRCLINE: {
		uint32_t line = hist_line_id(h, frame, call);
		return line ? line : address_of(h, frame, place);
	}
	case HIST_SRCFILE:
		return file_of(h, frame, call);
	case HIST_SYMBOL_SIZE:
		return size_of(h, frame, place);
	case HIST_FOREIGN:
		return h->hists.profile->samples.frames[frame].paid_for;
	default: /* a key of samples */
		break;
	}
	return 0;
}

/* ---- values as text ---- */

static const char *place_text(const struct hists_private *h, symid place, bool inlined)
{
	if (place == NONE)
		return "[unknown]";
	const char *name = program_name(h->hists.program, place);
	return inlined ? arena_printf(UNCONST(struct arena *, &h->arena), "%s (inlined)", name)
		       : name;
}

/* "f+0x12"; without the offset if it is not known. */
static const char *symoff_text(const struct hists_private *h, const struct hist_row *row)
{
	const char *name = place_text(h, row->place, row->inlined);
	const struct frame *f = &h->hists.profile->samples.frames[row->frame];
	if (!program_has_offsets(h->hists.program, f->object) || (f->name && !f->addr))
		return name;
	return arena_printf(UNCONST(struct arena *, &h->arena), "%s+0x%" PRIx32, name,
			    (uint32_t)offset_of(h, row->frame, row->place));
}

const char *hist_last_comm(const struct hists_private *h, const struct hist_row *row)
{
	const struct profile *p = h->hists.profile;
	const struct task *t = &p->samples.tasks[row->task];
	return strtab_get(p->strings, t->last_comm ? t->last_comm : t->comm);
}

const char *hist_key_text(const struct hists_private *h, enum hist_key key, uint32_t value,
			  const struct hist_row *row)
{
	const struct profile *p = h->hists.profile;
	struct arena *a = UNCONST(struct arena *, &h->arena);
	switch (key) {
	case HIST_COMM:
		return strtab_get(p->strings, value);
	case HIST_COMM_NODIGIT:
	case HIST_DSO:
		return strtab_get(h->strings, value);
	case HIST_SRCLINE:
		return value ? strtab_get(h->strings, value) : "[unknown]";
	case HIST_SRCFILE:
		return strtab_get(h->strings, value);
	case HIST_PID:
	case HIST_TID:
		return arena_printf(a, "%u:%s", value, hist_last_comm(h, row));
	case HIST_RUN:
		return arena_printf(a, "%u", value);
	case HIST_RANK:
		return value ? arena_printf(a, "%u", value - 1) : "-";
	case HIST_CPU:
		return value == CPU_NONE ? "-" : arena_printf(a, "%03u", value);
	case HIST_PARALLELISM:
		return arena_printf(a, "%u", value);
	case HIST_PARENT:
		return value == NONE ? "[other]" : place_text(h, value, false);
	case HIST_SYM:
		return place_text(h, row->place, row->inlined);
	case HIST_SYMOFF:
		return symoff_text(h, row);
	case HIST_SYMBOL_SIZE:
		return value ? arena_printf(a, "%" PRIu32, value) : "unknown";
	case HIST_FOREIGN:
		return value ? strtab_get(p->strings, value) : "-";
	case HIST_IPC:
		return "-";
	default: /* a key of details */
		return NULL;
	}
}

bool hist_is_named(const struct hists *h, const struct hist_row *row)
{
	return row->place != NONE && program_kind(h->program, row->place) != PLACE_UNKNOWN;
}

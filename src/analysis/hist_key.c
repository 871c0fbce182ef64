#include "analysis/hist_key.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/hist_detail.h"
#include "analysis/hists_private.h"

const struct hist_key_info hist_keys[N_HIST_KEYS] = {
	[HIST_COMM] = { "comm", NULL, "comm", "Command", "name of the thread", true },
	[HIST_COMM_NODIGIT] = { "comm_nodigit", NULL, "comm_nodigit", "CommandNoDigit",
				"name of the thread, its numbers as <N>", true },
	[HIST_PID] = { "pid", "tgid", "pid", "    Pid:Command", "process", true, true },
	[HIST_TID] = { "tid", NULL, "tid", "    Tid:Command", "thread", true, true },
	[HIST_CPU] = { "cpu", NULL, "cpu", "CPU", "processor that the sample was taken on", true,
		       true },
	[HIST_PARALLELISM] = { "parallelism", NULL, "parallelism", "Parallelism",
			       "threads of the program that ran at that time", true, true },
	[HIST_PARENT] = { "parent", NULL, "parent", "Parent symbol",
			  "the first function of the stack that --parent matches", true },
	[HIST_DSO] = { "dso", NULL, "dso", "Shared Object", "program or library", false },
	[HIST_SYM] = { "sym", "symbol", "symbol", "Symbol", "function", false },
	[HIST_SYMOFF] = { "symoff", NULL, "symoff", "Symbol Offset", "function and offset in it",
			  false },
	[HIST_SRCLINE] = { "srcline", NULL, "srcline", "Source:Line", "source line", false },
	[HIST_SRCFILE] = { "srcfile", NULL, "srcfile", "Source File", "source file", false },
	[HIST_SYMBOL_SIZE] = { .name = "symbol_size",
			       .column = "symbol_size",
			       .title = "Symbol size",
			       .help = "bytes of the function",
			       .number = true,
			       .descending = true },
	[HIST_IPC] = { .name = "ipc_null",
		       .column = "ipc_null",
		       .title = "IPC   [IPC Coverage]",
		       .help = "instructions per cycle: not known",
		       .of_sample = true },
	[HIST_TIME] = { .name = "time", .column = "time", .title = "Time", .help = "when the sample was taken, rounded down to --time-quantum", .of_sample = true, .number = true, .wide = true, .width = 12 },
	[HIST_SOCKET] = { .name = "socket", .column = "socket", .title = "Socket", .help = "physical package of the processor", .of_sample = true, .number = true, .need = NEED_DETAILS, .width = 6 },
	[HIST_CGROUP] = { .name = "cgroup", .column = "cgroup", .title = "Cgroup", .help = "control group", .of_sample = true, .need = NEED_DETAILS, .width = 6 },
	[HIST_CGROUP_ID] = { .name = "cgroup_id", .column = "cgroup_id", .title = "cgroup id (dev/inode)", .help = "name space of control groups", .of_sample = true, .need = NEED_DETAILS, .width = 20 },
	[HIST_LOCAL_WEIGHT] = { .name = "local_weight", .column = "local_weight", .title = "Local Weight", .help = "cost that the CPU says a sample had", .of_sample = true, .number = true, .wide = true, .descending = true, .need = NEED_DETAILS, .width = 12 },
	[HIST_WEIGHT] = { .name = "weight", .column = "weight", .title = "Weight", .help = "the same times the number of samples", .of_sample = true, .number = true, .wide = true, .descending = true, .need = NEED_DETAILS, .width = 12 },
	[HIST_LOCAL_INS_LAT] = { .name = "local_ins_lat", .column = "local_ins_lat", .title = "Local INSTR Latency", .help = "cycles that the instruction took", .of_sample = true, .number = true, .descending = true, .need = NEED_DETAILS, .width = 13 },
	[HIST_INS_LAT] = { .name = "ins_lat", .column = "ins_lat", .title = "INSTR Latency", .help = "the same times the number of samples", .of_sample = true, .number = true, .descending = true, .need = NEED_DETAILS, .width = 13 },
	[HIST_LOCAL_STAGE] = { .name = "local_p_stage_cyc", .column = "local_p_stage_cyc", .title = "Local Pipeline Stage Cycle", .help = "cycles that a stage of the pipeline took", .of_sample = true, .number = true, .descending = true, .need = NEED_DETAILS, .width = 13 },
	[HIST_STAGE] = { .name = "p_stage_cyc", .column = "p_stage_cyc", .title = "Pipeline Stage Cycle", .help = "the same times the number of samples", .of_sample = true, .number = true, .descending = true, .need = NEED_DETAILS, .width = 13 },
	[HIST_TRANSACTION] = { .name = "transaction", .column = "transaction", .title = "Transaction", .help = "how a transaction of memory ended", .of_sample = true, .number = true, .wide = true, .descending = true, .need = NEED_DETAILS, .width = 27 },
	[HIST_CODE_PAGE_SIZE] = { .name = "code_page_size", .column = "code_page_size", .title = "Code Page Size", .help = "size of the page that the code is in", .of_sample = true, .number = true, .wide = true, .descending = true, .need = NEED_DETAILS, .width = 6 },
	[HIST_DSO_FROM] = { .name = "dso_from", .column = "dso_from", .title = "Source Shared Object", .help = "program or library that the branch is in", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_DSO_TO] = { .name = "dso_to", .column = "dso_to", .title = "Target Shared Object", .help = "program or library that it goes to", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_SYMBOL_FROM] = { .name = "symbol_from", .column = "symbol_from", .title = "Source Symbol", .help = "function that the branch is in", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_SYMBOL_TO] = { .name = "symbol_to", .column = "symbol_to", .title = "Target Symbol", .help = "function that it goes to", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_ADDR_FROM] = { .name = "addr_from", .column = "addr_from", .title = "Source Address", .help = "address of the branch", .of_sample = true, .need = NEED_BRANCHES, .width = 18 },
	[HIST_ADDR_TO] = { .name = "addr_to", .column = "addr_to", .title = "Target Address", .help = "address that it goes to", .of_sample = true, .need = NEED_BRANCHES, .width = 18 },
	[HIST_SRCLINE_FROM] = { .name = "srcline_from", .column = "srcline_from", .title = "From Source:Line", .help = "source line of the branch", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_SRCLINE_TO] = { .name = "srcline_to", .column = "srcline_to", .title = "To Source:Line", .help = "source line that it goes to", .of_sample = true, .need = NEED_BRANCHES },
	[HIST_MISPREDICT] = { .name = "mispredict", .column = "mispredict", .title = "Branch Mispredicted", .help = "whether the CPU had expected another way: Y, N", .of_sample = true, .number = true, .need = NEED_BRANCHES },
	[HIST_IN_TX] = { .name = "in_tx", .column = "in_tx", .title = "Branch in transaction", .help = "whether it was in a transaction of memory: T", .of_sample = true, .number = true, .need = NEED_BRANCHES },
	[HIST_ABORT] = { .name = "abort", .column = "abort", .title = "Transaction abort", .help = "whether it ended one: A", .of_sample = true, .number = true, .need = NEED_BRANCHES },
	[HIST_CYCLES] = { .name = "cycles", .column = "cycles", .title = "Basic Block Cycles", .help = "since the branch before", .of_sample = true, .number = true, .descending = true, .need = NEED_BRANCHES },
	[HIST_MEM] = { .name = "mem", .column = "mem", .title = "Memory access", .help = "where the data came from", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 24 },
	[HIST_TLB] = { .name = "tlb", .column = "tlb", .title = "TLB access", .help = "where the translation of the address came from", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 22 },
	[HIST_SNOOP] = { .name = "snoop", .column = "snoop", .title = "Snoop", .help = "whether other caches had it", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 12 },
	[HIST_LOCKED] = { .name = "locked", .column = "locked", .title = "Locked", .help = "whether the access was", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 6 },
	[HIST_BLOCKED] = { .name = "blocked", .column = "blocked", .title = "Blocked", .help = "why it had to wait", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 10 },
	[HIST_SYMBOL_DADDR] = { .name = "symbol_daddr", .column = "symbol_daddr", .title = "Data Symbol", .help = "variable that was accessed", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 22 },
	[HIST_DSO_DADDR] = { .name = "dso_daddr", .column = "dso_daddr", .title = "Data Object", .help = "program or library that it is in", .of_sample = true, .need = NEED_ACCESSES, .width = 16 },
	[HIST_SYMBOL_IADDR] = { .name = "symbol_iaddr", .column = "symbol_iaddr", .title = "Code Symbol", .help = "function, a row for each address", .of_sample = true, .number = true, .need = NEED_ACCESSES, .width = 22 },
	[HIST_DCACHELINE] = { .name = "dcacheline", .column = "dcacheline", .title = "Data Cacheline", .help = "line of the data cache", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 22 },
	[HIST_PHYS_DADDR] = { .name = "phys_daddr", .column = "phys_daddr", .title = "Data Physical Address", .help = "physical address that was accessed", .of_sample = true, .number = true, .wide = true, .need = NEED_ACCESSES, .width = 22 },
	[HIST_DATA_PAGE_SIZE] = { .name = "data_page_size", .column = "data_page_size", .title = "Data Page Size", .help = "size of the page that the data is in", .of_sample = true, .number = true, .wide = true, .descending = true, .need = NEED_ACCESSES, .width = 22 },
};

/* ---- values of frames ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* By what it is called: libraries of one name are one. */
uint32_t hist_dso_of(struct hists_private *h, objid object)
{
	if (!h->dso_names[object])
		h->dso_names[object] =
			strtab_add(h->strings,
				   base_name(program_object_name(h->hists.program, object))) +
			1;
	return h->dso_names[object] - 1;
}

uint32_t map64_number(struct map64 *ids, uint64_t key)
{
	uint32_t *at = map64_at(ids, key);
	if (*at == NONE)
		*at = (uint32_t)ids->n - 1;
	return *at;
}

static bool line_of(struct hists_private *h, frameid frame, struct srcloc *ret)
{
	return frame && program_line(h->hists.program, frame, ret) && ret->file;
}

uint32_t hist_line_id(struct hists_private *h, frameid frame)
{
	uint32_t *at = map64_at(&h->line_ids, frame);
	struct srcloc loc;
	if (*at != NONE)
		return *at;
	uint32_t id = 0;
	if (line_of(h, frame, &loc))
		id = strtab_add(h->strings, arena_printf(&h->arena, "%s:%u", base_name(loc.file),
							 (unsigned)loc.line));
	return *at = id;
}

static uint32_t file_of(struct hists_private *h, frameid frame)
{
	struct srcloc loc;
	return line_of(h, frame, &loc) ? strtab_add(h->strings, base_name(loc.file)) : 0;
}

/* Of a function inlined in several others the first place, unless they are kept apart. */
static symid one_of_name(struct hists_private *h, symid place, bool inlined)
{
	struct program *g = h->hists.program;
	if (!inlined || h->hists.opts->inlines_apart || place == NONE)
		return place;
	strid name = strtab_add(h->strings, program_name(g, place));
	uint32_t *at = map64_at(&h->inlined_ids, MAP64_PAIR(program_object(g, place), name));
	if (*at == NONE)
		*at = place;
	return *at;
}

bool hist_offset(const struct hists_private *h, frameid frame, symid place, uint64_t *ret)
{
	uint64_t start = place == NONE ? 0 : program_start(h->hists.program, place);
	uint64_t addr = h->hists.profile->samples.frames[frame].addr;
	*ret = start && start <= addr ? addr - start : 0;
	return start && start <= addr;
}

static uint64_t offset_of(const struct hists_private *h, frameid frame, symid place)
{
	uint64_t offset;
	hist_offset(h, frame, place, &offset);
	return offset;
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
	if (f->name)
		return strtab_add(h->strings, program_name(h->hists.program, place));
	return strtab_add(h->strings,
			  arena_printf(&h->arena, "%s[%" PRIx64 "]",
				       strtab_get(h->strings, hist_dso_of(h, f->object)), f->addr));
}

uint32_t hist_key_of_frame(struct hists_private *h, enum hist_key key, frameid frame, symid place,
			   bool inlined)
{
	switch (key) {
	case HIST_DSO:
		return frame ? hist_dso_of(h, h->hists.profile->samples.frames[frame].object)
			     : strtab_add(h->strings, "[unknown]");
	case HIST_SYM:
		return one_of_name(h, place, inlined);
	case HIST_SYMOFF:
		return map64_number(&h->offset_ids,
				    MAP64_PAIR(place, (uint32_t)offset_of(h, frame, place)));
	case HIST_SRCLINE: {
		uint32_t line = hist_line_id(h, frame);
		return line ? line : address_of(h, frame, place);
	}
	case HIST_SRCFILE:
		return file_of(h, frame);
	case HIST_SYMBOL_SIZE:
		return place == NONE ? 0 : (uint32_t)program_size(h->hists.program, place);
	default: /* is of the sample */
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

const char *hist_key_text(const struct hists_private *h, enum hist_key key, uint32_t value,
			  const struct hist_row *row)
{
	const struct profile *p = h->hists.profile;
	const char *comm = strtab_get(p->strings, p->samples.tasks[row->task].comm);
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
		return arena_printf(a, "%7u:%s", value, comm);
	case HIST_CPU:
		return value == CPU_NONE ? "-" : arena_printf(a, "%03u", value);
	case HIST_PARALLELISM:
		return arena_printf(a, "%u", value);
	case HIST_PARENT:
		return value == NONE ? "[other]" : place_text(h, value, false);
	case HIST_SYM:
		return place_text(h, row->place, row->inlined);
	case HIST_SYMOFF:
		return arena_printf(
			a, "%s+0x%llx", place_text(h, row->place, row->inlined),
			(unsigned long long)(uint32_t)offset_of(h, row->frame, row->place));
	case HIST_SYMBOL_SIZE:
		return value ? arena_printf(a, "%11" PRIu32, value) : "    unknown";
	case HIST_IPC:
		return "-      -";
	default:
		return hist_detail_text(UNCONST(struct hists_private *, h), key, value, row);
	}
}

/* perf_keys.c - perf report's texts, titles and widths for keys. */
#include "perf/perf_keys.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/hist_key.h"

enum { LEVEL_WIDTH = 4, ADDRESS_WIDTH = 18, TRANSACTION_WIDTH = 32 };

static const struct {
	size_t least;      /* width */
	bool ragged, cut;  /* perf_key_is_ragged(), perf_key_is_cut() */
	const char *title; /* NULL: the key's own title */
} looks[N_HIST_KEYS] = {
	[HIST_COMM] = { .cut = true },
	[HIST_PID] = { .title = "    Pid:Command" },
	[HIST_TID] = { .title = "    Tid:Command" },
	[HIST_PARENT] = { .cut = true },
	[HIST_DSO] = { .cut = true },
	[HIST_SYM] = { .ragged = true, .cut = true },
	[HIST_SYMOFF] = { .ragged = true, .cut = true },
	[HIST_SRCLINE] = { .ragged = true, .cut = true },
	[HIST_SRCFILE] = { .ragged = true, .cut = true },
	[HIST_FOREIGN] = { .ragged = true, .cut = true },
	[HIST_IPC] = { .title = "IPC   [IPC Coverage]" },
	[HIST_TIME] = { 12, .ragged = true, .cut = true },
	[HIST_SOCKET] = { 6 },
	[HIST_TRACE] = { 12 },
	[HIST_CGROUP] = { 6, .ragged = true },
	[HIST_CGROUP_ID] = { 20, .ragged = true },
	[HIST_LOCAL_WEIGHT] = { 12 },
	[HIST_WEIGHT] = { 12 },
	[HIST_LOCAL_INS_LAT] = { 13 },
	[HIST_INS_LAT] = { 13 },
	[HIST_LOCAL_STAGE] = { 13 },
	[HIST_STAGE] = { 13 },
	[HIST_TRANSACTION] = { 27 },
	[HIST_CODE_PAGE_SIZE] = { 6 },
	[HIST_DSO_FROM] = { .cut = true },
	[HIST_DSO_TO] = { .cut = true },
	[HIST_SYMBOL_FROM] = { .ragged = true },
	[HIST_SYMBOL_TO] = { .ragged = true },
	[HIST_ADDR_FROM] = { 18, .ragged = true },
	[HIST_ADDR_TO] = { 18, .ragged = true },
	[HIST_MEM] = { 24 },
	[HIST_TLB] = { 22 },
	[HIST_SNOOP] = { 12 },
	[HIST_LOCKED] = { 6, .ragged = true },
	[HIST_BLOCKED] = { 10, .ragged = true },
	[HIST_SYMBOL_DADDR] = { 22, .ragged = true },
	[HIST_DSO_DADDR] = { 16 },
	[HIST_SYMBOL_IADDR] = { 22, .ragged = true },
	[HIST_DCACHELINE] = { 22, .ragged = true },
	[HIST_PHYS_DADDR] = { 22 },
	[HIST_DATA_PAGE_SIZE] = { 22 },
};

size_t perf_key_least_width(enum hist_key key) { return looks[key].least; }

bool perf_key_is_ragged(enum hist_key key) { return looks[key].ragged; }

bool perf_key_is_cut(enum hist_key key) { return looks[key].cut; }

const char *perf_key_title(enum hist_key key)
{
	return looks[key].title ? looks[key].title : hist_keys[key].title;
}

const char *perf_key_text(struct arena *a, const struct hists *h, size_t row, enum hist_key key)
{
	uint32_t value = hists_value(h, row, key);
	const char *text = hists_text(h, row, key);
	enum hist_owner owner = hists_owner(h, row, key);

	if (owner != OWNER_NONE)
		return arena_printf(a, "[%c] %s", owner == OWNER_KERNEL ? 'k' : '.', text);
	switch ((int)key) {
	case HIST_PID:
	case HIST_TID:
		return arena_printf(a, "%7" PRIu32 ":%s", value, hists_last_comm(h, row));
	case HIST_SOCKET:
		return value == NONE ? text : arena_printf(a, "%6s", text);
	case HIST_SYMBOL_SIZE:
		return arena_printf(a, "%11s", text);
	case HIST_IPC:
		return "-      -";
	case HIST_BLOCKED:
		return arena_printf(a, " %s", text);
	}
	return text;
}

size_t perf_key_width(struct arena *a, const struct hists *h, size_t row, enum hist_key key)
{
	if (key == HIST_COMM)
		return strlen(hists_last_comm(h, row));
	if (key == HIST_SYM && !hists_function(h, row))
		return ADDRESS_WIDTH;
	const char *text = perf_key_text(a, h, row, key), *subject = hists_subject(h, row, key);
	size_t n = strlen(text), more = 0;
	if (key == HIST_TRANSACTION && *text)
		more = TRANSACTION_WIDTH;
	else if (subject)
		more = strlen(subject) + LEVEL_WIDTH + ADDRESS_WIDTH + (key == HIST_DCACHELINE);
	return more > n ? more : n;
}

/* perf fills this column if basic blocks are annotated, and shows it even if it is empty. For
 * branches it computes the values from their cycles. We do not compute them, and leave the column
 * out there: an empty one would say that nothing is known. */
bool perf_shows_ipc(const struct hists_ask *a)
{
	return !a->branches && a->given->sort && strstr(a->given->sort, "symbol") != NULL;
}

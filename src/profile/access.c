/* access.c - memory accesses in words. The bits are the kernel's perf_mem_data_src and
 * PERF_TXN_*. */
#include "profile/access.h"

#include <inttypes.h>

enum {
	OPERATIONS = 5, /* number of bits, from bit 0 on */
	LEVEL = 5,
	SNOOP = 19,
	LOCK = 24,
	TLB = 26,
	LEVEL_NUMBER = 33,
	REMOTE = 37,
	SNOOPX = 38,
	BLOCK = 40,
	HOPS = 43,
};

static uint64_t bits(uint64_t src, int from, int n) { return src >> from & ((1u << n) - 1); }

static uint64_t mask(int from, int n) { return (uint64_t)((1u << n) - 1) << from; }

uint64_t access_bits(enum access_part part, uint64_t src)
{
	switch (part) {
	case ACCESS_OPERATION:
		return src & mask(0, OPERATIONS);
	case ACCESS_LEVEL:
		return src &
		       (mask(LEVEL, 14) | mask(LEVEL_NUMBER, 4) | mask(REMOTE, 1) | mask(HOPS, 3));
	case ACCESS_TLB:
		return src & mask(TLB, 7);
	case ACCESS_SNOOP:
		return src & (mask(SNOOP, 5) | mask(SNOOPX, 2));
	case ACCESS_LOCK:
		return src & mask(LOCK, 2);
	case ACCESS_BLOCKED:
		return src & mask(BLOCK, 3);
	}
	return src;
}

/* Appends the names of the bits set in `set`: "L1 or L2". */
static const char *list(struct arena *a, const char *text, uint64_t set, const char *const *names,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (set >> i & 1)
			text = arena_printf(a, "%s%s%s", text, *text ? " or " : "", names[i]);
	return text;
}

static const char *or_none(struct arena *a, const char *text, bool hit, bool miss)
{
	return arena_printf(a, "%s%s%s", *text ? text : "N/A", hit ? " hit" : "",
			    miss ? " miss" : "");
}

static const char *level(struct arena *a, uint64_t src)
{
	static const char *const names[] = { "N/A",
					     "HIT",
					     "MISS",
					     "L1",
					     "LFB/MAB",
					     "L2",
					     "L3",
					     "Local RAM",
					     "Remote RAM (1 hop)",
					     "Remote RAM (2 hops)",
					     "Remote Cache (1 hop)",
					     "Remote Cache (2 hops)",
					     "I/O",
					     "Uncached" };
	static const char *const numbers[] = {
		[9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB/MAB",
		[13] = "RAM", [14] = "PMEM", [15] = "N/A"
	};
	static const char *const hops[8] = { "", "core, same node ", "node, same socket ",
					     "socket, same board ", "board " };
	uint64_t set = bits(src, LEVEL, 14), number = bits(src, LEVEL_NUMBER, 4);
	bool far = bits(src, HOPS, 3); /* gives more detail than `set` can */
	const char *text = far ? "" : list(a, "", set & ~(uint64_t)6, names, ARRAY_LEN(names));

	if (number && numbers[number])
		text = arena_printf(a, "%s%s%s", text, *text ? " or " : "", numbers[number]);
	else if (number)
		text = arena_printf(a, "%s%sL%u", text, *text ? " or " : "", (unsigned)number);
	const char *how = hops[bits(src, HOPS, 3)];
	if (bits(src, REMOTE, 1) || (how && *how))
		text = arena_printf(a, "%s%s%s", bits(src, REMOTE, 1) ? "Remote " : "",
				    how ? how : "", text);
	return or_none(a, text, set & 2, set & 4);
}

static const char *tlb(struct arena *a, uint64_t src)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };
	uint64_t set = bits(src, TLB, 7);

	return or_none(a, list(a, "", set & ~(uint64_t)6, names, ARRAY_LEN(names)), set & 2,
		       set & 4);
}

static const char *snoop(struct arena *a, uint64_t src)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	const char *text = list(a, "", bits(src, SNOOP, 5), names, ARRAY_LEN(names));

	text = list(a, text, bits(src, SNOOPX, 2), more, ARRAY_LEN(more));
	return *text ? text : "N/A";
}

static const char *operation(uint64_t src)
{
	static const char *const names[OPERATIONS] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < OPERATIONS; i++)
		if (src >> i & 1)
			return names[i];
	return "No";
}

static const char *blocked(uint64_t src)
{
	uint64_t set = bits(src, BLOCK, 3);

	if (!set || set & 1)
		return "N/A";
	return set & 2 ? set & 4 ? "Data Addr" : "Data" : "Addr";
}

const char *access_text(struct arena *a, enum access_part part, uint64_t src)
{
	switch (part) {
	case ACCESS_OPERATION:
		return operation(src);
	case ACCESS_LEVEL:
		return level(a, src);
	case ACCESS_TLB:
		return tlb(a, src);
	case ACCESS_SNOOP:
		return snoop(a, src);
	case ACCESS_LOCK:
		return bits(src, LOCK, 1) ? "N/A" : bits(src, LOCK, 2) & 2 ? "Yes" : "No";
	case ACCESS_BLOCKED:
		return blocked(src);
	}
	return "";
}

const char *page_size_text(struct arena *a, uint64_t n)
{
	size_t unit = 0;

	if (!n)
		return "N/A";
	while (n / 1024 > 1 && unit < 3) {
		n /= 1024;
		unit++;
	}
	return arena_printf(a, "%" PRIu64 "%c", n, "BKMG"[unit]);
}

const char *transaction_text(struct arena *a, uint64_t t)
{
	static const char *const names[] = { "EL ",    "TX ",  "SYNC ",      "ASYNC ",
					     "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ " };
	enum { SYNC_OR_NOT = 12 };
	const char *text = "";

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (t >> i & 1)
			text = arena_printf(a, "%s%s", text, names[i]);
	if (t && !(t & SYNC_OR_NOT))
		text = arena_printf(a, "%sNEITHER ", text);
	return t >> 32 ? arena_printf(a, "%s:%" PRIx64, text, t >> 32) : text;
}

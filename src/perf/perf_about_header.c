/* perf_about_header.c - prints the features of a perf.data as perf report --header does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "perf/perf_about_private.h"

static const char *const feature_names[32] = {
	[1] = "TRACING_DATA",   [2] = "BUILD_ID",       [3] = "HOSTNAME",
	[4] = "OSRELEASE",      [5] = "VERSION",        [6] = "ARCH",
	[7] = "NRCPUS",         [8] = "CPUDESC",        [9] = "CPUID",
	[10] = "TOTAL_MEM",     [11] = "CMDLINE",       [12] = "EVENT_DESC",
	[13] = "CPU_TOPOLOGY",  [14] = "NUMA_TOPOLOGY", [15] = "BRANCH_STACK",
	[16] = "PMU_MAPPINGS",  [17] = "GROUP_DESC",    [18] = "AUXTRACE",
	[19] = "STAT",          [20] = "CACHE",         [21] = "SAMPLE_TIME",
	[22] = "MEM_TOPOLOGY",  [23] = "CLOCKID",       [24] = "DIR_FORMAT",
	[25] = "BPF_PROG_INFO", [26] = "BPF_BTF",       [27] = "COMPRESSED",
	[28] = "CPU_PMU_CAPS",  [29] = "CLOCK_DATA",    [30] = "HYBRID_TOPOLOGY",
	[31] = "PMU_CAPS",
};

/* ---- pieces ---- */

/* u32 size, bytes: safe to print; to be freed. */
static char *take_text(struct bytes *b)
{
	uint32_t size = bytes_u32(b);
	struct bytes s = bytes_take(b, size);
	size_t n = b->failed ? 0 : strnlen((const char *)s.pos, bytes_left(&s));
	char *raw = xalloc(n + 1);

	if (n)
		memcpy(raw, s.pos, n);
	char *safe = escape_copy(raw);
	free(raw);
	return safe;
}

static void print_text(FILE *out, const char *title, struct bytes *b)
{
	char *text = take_text(b);
	fprintf(out, "# %s : %s\n", title, text);
	free(text);
}

static void print_list(FILE *out, const char *title, struct bytes *b)
{
	for (uint32_t n = bytes_u32(b); n && !b->failed; n--)
		print_text(out, title, b);
}

/* Prints the words as perf does: unquoted, with a backslash before quotes. */
static void print_command(FILE *out, struct bytes *b)
{
	fputs("# cmdline : ", out);
	for (uint32_t n = bytes_u32(b); n && !b->failed; n--) {
		char *word = take_text(b);
		for (const char *c = word; *c; c++) {
			if (*c == '\'')
				putc('\\', out);
			putc(*c, out);
		}
		putc(' ', out);
		free(word);
	}
	putc('\n', out);
}

/* ---- events ---- */

static const char *const sample_types[64] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	NULL,
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};
/* Bits of the sample's fields in the order of perf's output. */
static const uint8_t sample_order[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
					12, 13, 16, 18, 15, 14, 19, 20, 21, 22, 23, 24 };
static const char *const read_formats[64] = { "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
					      "GROUP", "LOST" };
static const char *const branch_types[64] = {
	"USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",
};
static const char *const flag_names[64] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
};
enum { PRECISE = 15 };

static void print_number(FILE *out, const char *name, uint64_t value)
{
	if (value)
		fprintf(out, ", %s = %" PRIu64, name, value);
}

static void print_hex(FILE *out, const char *name, uint64_t value)
{
	if (value)
		fprintf(out, ", %s = %#" PRIx64, name, value);
}

static void print_bits(FILE *out, const char *title, uint64_t bits, const char *const names[64],
		       const uint8_t *order, size_t n)
{
	bool any = false;

	if (bits)
		fprintf(out, ", %s = ", title);
	for (size_t i = 0; i < n; i++) {
		size_t bit = order ? order[i] : i;
		if (!(bits >> bit & 1) || !names[bit])
			continue;
		fprintf(out, "%s%s", any ? "|" : "", names[bit]);
		any = true;
	}
}

static void print_flags(FILE *out, uint64_t flags)
{
	for (size_t i = 0; i < 64; i++)
		if (i == PRECISE)
			print_number(out, flag_names[i], flags >> PRECISE & 3);
		else if (flag_names[i])
			print_number(out, flag_names[i], flags >> i & 1);
}

static void print_attr(struct perf *p, FILE *out, struct bytes b)
{
	uint32_t type = bytes_u32(&b), size = bytes_u32(&b);
	uint64_t config = bytes_u64(&b), period = bytes_u64(&b);
	uint64_t sample_type = bytes_u64(&b), read_format = bytes_u64(&b);
	struct bytes flags = bytes_take(&b, 8);

	if (b.failed)
		return;
	print_number(out, "type", type);
	print_number(out, "size", size);
	print_hex(out, "config", config);
	print_number(out, "{ sample_period, sample_freq }", period);
	print_bits(out, "sample_type", sample_type, sample_types, sample_order,
		   ARRAY_LEN(sample_order));
	print_bits(out, "read_format", read_format, read_formats, NULL, 64);
	print_flags(out, perf_attrs_flags(p, flags.pos));
	print_number(out, "{ wakeup_events, wakeup_watermark }", bytes_u32(&b));
	print_number(out, "bp_type", bytes_u32(&b));
	print_hex(out, "{ bp_addr, config1 }", bytes_u64(&b));
	if (!bytes_left(&b))
		return;
	print_hex(out, "{ bp_len, config2 }", bytes_u64(&b));
	if (!bytes_left(&b))
		return;
	print_bits(out, "branch_sample_type", bytes_u64(&b), branch_types, NULL, 64);
	if (!bytes_left(&b))
		return;
	print_hex(out, "sample_regs_user", bytes_u64(&b));
	print_number(out, "sample_stack_user", bytes_u32(&b));
	uint32_t clock = bytes_u32(&b);
	if (clock)
		fprintf(out, ", clockid = %" PRId32, (int32_t)clock);
	print_hex(out, "sample_regs_intr", bytes_u64(&b));
	if (!bytes_left(&b))
		return;
	print_number(out, "aux_watermark", bytes_u32(&b));
	print_number(out, "sample_max_stack", bytes_u32(&b) & 0xffff);
}

static void print_events(struct perf *p, FILE *out, struct bytes b)
{
	uint32_t n = bytes_u32(&b), size = bytes_u32(&b);

	for (; n && !b.failed; n--) {
		struct bytes attr = bytes_take(&b, size);
		uint32_t n_ids = bytes_u32(&b);
		char *name = take_text(&b);
		if (!b.failed && n_ids <= bytes_left(&b) / 8) {
			fprintf(out, "# event : name = %s, ", name);
			for (uint32_t i = 0; i < n_ids; i++)
				fprintf(out, "%s %" PRIu64 "%s", i ? "," : ", id = {",
					bytes_u64(&b), i + 1 < n_ids ? "" : " }");
			print_attr(p, out, attr);
			putc('\n', out);
		} else {
			n = 1;
		}
		free(name);
	}
}

static void print_groups(const struct perf *p, FILE *out, struct bytes b)
{
	for (uint32_t n = bytes_u32(&b); n && !b.failed; n--) {
		char *name = take_text(&b);
		uint32_t leader = bytes_u32(&b), members = bytes_u32(&b);
		bool known = !b.failed && leader < p->attrs.at.n &&
			     members <= p->attrs.at.n - leader && members;
		if (known)
			fprintf(out, "# group: %s{", strcmp(name, "{anon_group}") ? name : "");
		for (uint32_t i = 0; known && i < members; i++) {
			char *event = escape_copy(perf_attrs_name(p, leader + i));
			fprintf(out, "%s%s%s", i ? "," : "", event, i + 1 < members ? "" : "}\n");
			free(event);
		}
		free(name);
	}
}

/* ---- the machine ---- */

static void print_topology(const struct perf *p, FILE *out, struct bytes b)
{
	print_list(out, "sibling sockets", &b);
	struct bytes threads = b;
	for (uint32_t n = bytes_u32(&b); n && !b.failed; n--)
		bytes_take(&b, bytes_u32(&b));
	struct bytes ids = bytes_take(&b, (size_t)p->n_cpus * 8);
	bool has_dies = !b.failed && bytes_left(&b);
	if (has_dies)
		print_list(out, "sibling dies   ", &b);
	print_list(out, "sibling threads", &threads);
	for (unsigned i = 0; i < p->n_cpus && bytes_left(&ids) >= 8; i++) {
		uint32_t core = bytes_u32(&ids), socket = bytes_u32(&ids);
		if (has_dies && bytes_left(&b) >= 4)
			fprintf(out, "# CPU %u: Core ID %d, Die ID %d, Socket ID %d\n", i,
				(int)core, (int)bytes_u32(&b), (int)socket);
		else
			fprintf(out, "# CPU %u: Core ID %d, Socket ID %d\n", i, (int)core,
				(int)socket);
	}
}

static void print_nodes(FILE *out, struct bytes b)
{
	for (uint32_t n = bytes_u32(&b); n && !b.failed; n--) {
		uint32_t node = bytes_u32(&b);
		uint64_t total = bytes_u64(&b), rest = bytes_u64(&b);
		char *cpus = take_text(&b);
		if (!b.failed)
			fprintf(out,
				"# node%" PRIu32 " meminfo  : total = %" PRIu64
				" kB, free = %" PRIu64 " kB\n# node%" PRIu32 " cpu list : %s\n",
				node, total, rest, node, cpus);
		free(cpus);
	}
}

static void print_caches(FILE *out, struct bytes b)
{
	bytes_u32(&b); /* version */
	fputs("# CPU cache info:\n", out);
	for (uint32_t n = bytes_u32(&b); n && !b.failed; n--) {
		uint32_t level = bytes_u32(&b);
		bytes_take(&b, 12);
		char *type = take_text(&b), *size = take_text(&b), *map = take_text(&b);
		if (!b.failed)
			fprintf(out, "#  L%" PRIu32 " %-15s %8s [%s]\n", level, type, size, map);
		free(type);
		free(size);
		free(map);
	}
}

static bool bit_at(const struct perf *p, const uint8_t *bits, uint64_t i)
{
	return perf_u64(p, bits + i / 64 * 8) >> i % 64 & 1;
}

/* "0-23,32" */
static void print_set(const struct perf *p, FILE *out, const uint8_t *bits, uint64_t n)
{
	bool any = false;

	for (uint64_t i = 0, end; i < n; i = end + 1) {
		for (end = i; end < n && bit_at(p, bits, end); end++)
			;
		if (end == i)
			continue;
		fprintf(out, "%s%" PRIu64, any ? "," : "", i);
		if (end - i > 1)
			fprintf(out, "-%" PRIu64, end - 1);
		any = true;
	}
}

static void print_memory(const struct perf *p, FILE *out, struct bytes b)
{
	bytes_u64(&b); /* version */
	uint64_t block = bytes_u64(&b), n = bytes_u64(&b);

	fprintf(out, "# memory nodes (nr %" PRIu64 ", block size %#" PRIx64 "):\n", n, block);
	for (; n && !b.failed; n--) {
		uint64_t node = bytes_u64(&b);
		bytes_u64(&b); /* number of bits, which the bitmap repeats */
		uint64_t n_bits = bytes_u64(&b);
		if (b.failed || n_bits > bytes_left(&b) * 8)
			return;
		struct bytes bits = bytes_take(&b, (size_t)((n_bits + 63) / 64 * 8));
		if (b.failed)
			return;
		uint64_t bytes = 0;
		size_t unit = 0;
		for (uint64_t i = 0; i < n_bits; i++)
			bytes += bit_at(p, bits.pos, i) ? block : 0;
		for (; bytes / 1024 > 1 && unit < 3; unit++)
			bytes /= 1024;
		fprintf(out, "# %4" PRIu64 " [%" PRIu64 "%c]: ", node, bytes, "BKMG"[unit]);
		print_set(p, out, bits.pos, n_bits);
		putc('\n', out);
	}
}

static void print_units(FILE *out, struct bytes b)
{
	fputs("# pmu mappings: ", out);
	for (uint32_t n = bytes_u32(&b), i = 0; i < n && !b.failed; i++) {
		uint32_t type = bytes_u32(&b);
		char *name = take_text(&b);
		if (!b.failed)
			fprintf(out, "%s%s = %" PRIu32, i ? ", " : "", name, type);
		free(name);
	}
	putc('\n', out);
}

static void print_times(FILE *out, struct bytes b)
{
	uint64_t first = bytes_u64(&b), last = bytes_u64(&b);

	fprintf(out,
		"# time of first sample : %" PRIu64 ".%06" PRIu64
		"\n# time of last sample : %" PRIu64 ".%06" PRIu64
		"\n# sample duration : %10.3f ms\n",
		first / 1000000000, first / 1000 % 1000000, last / 1000000000,
		last / 1000 % 1000000, (double)(last - first) / 1e6);
}

static void print_packing(FILE *out, struct bytes b)
{
	bytes_u32(&b); /* version */
	uint32_t type = bytes_u32(&b), level = bytes_u32(&b), ratio = bytes_u32(&b);

	fprintf(out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
		type == 1 ? "Zstd" : "Unknown", level, ratio);
}

/* ---- features ---- */

static bool is_long(unsigned feature)
{
	return feature == PERF_F_CPU_TOPOLOGY || feature == PERF_F_NUMA_TOPOLOGY ||
	       feature == PERF_F_CACHE || feature == PERF_F_MEM_TOPOLOGY;
}

/* u32 version, u32 clock; u64 time of day and u64 time of that clock at the same moment. */
static void print_clock(FILE *out, struct bytes b)
{
	static const char *const names[] = {
		[0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw",
		[7] = "boottime", [11] = "tai",
	};
	bytes_u32(&b);
	uint32_t clock = bytes_u32(&b);
	uint64_t day = bytes_u64(&b), ns = bytes_u64(&b);
	const char *name = clock < ARRAY_LEN(names) && names[clock] ? names[clock] : "(not found)";
	time_t seconds = (time_t)(day / 1000000000);
	struct tm tm;
	char date[64] = "<error>";

	if (b.failed)
		return;
	fprintf(out, "# clockid: %s (%" PRIu32 ")\n", name, clock);
	if (localtime_r(&seconds, &tm)) {
		size_t n = strftime(date, sizeof(date), "%F %T", &tm);
		snprintf(date + n, sizeof(date) - n, ".%06u", (unsigned)(day % 1000000000 / 1000));
	}
	fprintf(out, "# reference time: %s = %" PRIu64 ".%06u (TOD) = %" PRIu64 ".%09u (%s)\n",
		date, day / 1000000000, (unsigned)(day % 1000000000 / 1000), ns / 1000000000,
		(unsigned)(ns % 1000000000), name);
}

void about_feature(struct perf *p, unsigned feature, struct bytes b)
{
	FILE *out = about_of(p)->out;

	if (is_long(feature) && !(about_of(p)->what & PERF_ABOUT_ALL_OF_HEADER)) {
		fprintf(out, "# %s info available, use -I to display\n", feature_names[feature]);
		return;
	}
	switch (feature) {
	case PERF_F_HOSTNAME:
		print_text(out, "hostname", &b);
		break;
	case PERF_F_OSRELEASE:
		print_text(out, "os release", &b);
		break;
	case PERF_F_VERSION:
		print_text(out, "perf version", &b);
		break;
	case PERF_F_ARCH:
		print_text(out, "arch", &b);
		break;
	case PERF_F_NRCPUS: {
		uint32_t available = bytes_u32(&b), online = bytes_u32(&b);
		fprintf(out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n",
			online, available);
		break;
	}
	case PERF_F_CPUDESC:
		print_text(out, "cpudesc", &b);
		break;
	case PERF_F_CPUID:
		print_text(out, "cpuid", &b);
		break;
	case PERF_F_TOTAL_MEM:
		fprintf(out, "# total memory : %" PRIu64 " kB\n", bytes_u64(&b));
		break;
	case PERF_F_CMDLINE:
		print_command(out, &b);
		break;
	case PERF_F_EVENT_DESC:
		print_events(p, out, b);
		break;
	case PERF_F_CPU_TOPOLOGY:
		print_topology(p, out, b);
		break;
	case PERF_F_NUMA_TOPOLOGY:
		print_nodes(out, b);
		break;
	case PERF_F_BRANCH_STACK:
		fputs("# contains samples with branch stack\n", out);
		break;
	case PERF_F_PMU_MAPPINGS:
		print_units(out, b);
		break;
	case PERF_F_GROUP_DESC:
		print_groups(p, out, b);
		break;
	case PERF_F_AUXTRACE:
		fputs("# contains AUX area data (e.g. instruction trace)\n", out);
		break;
	case PERF_F_STAT:
		fputs("# contains stat data\n", out);
		break;
	case PERF_F_CACHE:
		print_caches(out, b);
		break;
	case PERF_F_SAMPLE_TIME:
		print_times(out, b);
		break;
	case PERF_F_MEM_TOPOLOGY:
		print_memory(p, out, b);
		break;
	case PERF_F_CLOCKID:
		/* The value is the clock's resolution in nanoseconds; perf prints it as a
		 * frequency. */
		fprintf(out, "# clockid frequency: %" PRIu64 " MHz\n", bytes_u64(&b) * 1000);
		break;
	case PERF_F_CLOCK_DATA:
		print_clock(out, b);
		break;
	case PERF_F_DIR_FORMAT:
		fprintf(out, "# directory data version : %" PRIu64 "\n", bytes_u64(&b));
		break;
	case PERF_F_COMPRESSED:
		print_packing(out, b);
		break;
	}
}

void about_missing(struct perf_about *a)
{
	fputs("# missing features: ", a->out);
	for (unsigned i = 1; i < 32; i++)
		if (!(a->seen >> i & 1))
			fprintf(a->out, "%s ", feature_names[i]);
	putc('\n', a->out);
}

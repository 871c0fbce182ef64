/* event_names.c - looks names up in tables and below /sys/bus/event_source. */
#include "record/event_names.h"

#include <errno.h>
#include <glob.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "record/tracefs.h"

/* ---- the kernel's generic events ---- */

static const struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
} known[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

/* Cache events are a product: L1-dcache-load-misses. */
static const struct known_event caches[] = {
	{ "L1-dcache", 0, PERF_COUNT_HW_CACHE_L1D }, { "L1-icache", 0, PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", 0, PERF_COUNT_HW_CACHE_LL },        { "dTLB", 0, PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", 0, PERF_COUNT_HW_CACHE_ITLB },     { "branch", 0, PERF_COUNT_HW_CACHE_BPU },
	{ "node", 0, PERF_COUNT_HW_CACHE_NODE },
};
static const struct known_event operations[] = {
	{ "loads", 0, PERF_COUNT_HW_CACHE_OP_READ << 8 },
	{ "load-misses", 0,
	  PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ "stores", 0, PERF_COUNT_HW_CACHE_OP_WRITE << 8 },
	{ "store-misses", 0,
	  PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ "prefetches", 0, PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 },
	{ "prefetch-misses", 0,
	  PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
};

static bool is_name(const char *name, const char *s, size_t n)
{
	return strlen(name) == n && !memcmp(name, s, n);
}

static bool find_known(const char *s, size_t n, struct record_event *e)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!is_name(known[i].name, s, n))
			continue;
		e->type = known[i].type;
		e->config = known[i].config;
		e->is_clock =
			e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
							  e->config == PERF_COUNT_SW_TASK_CLOCK);
		return true;
	}
	return false;
}

static bool find_cache(const char *s, size_t n, struct record_event *e)
{
	for (size_t c = 0; c < ARRAY_LEN(caches); c++) {
		size_t len = strlen(caches[c].name);
		if (n <= len + 1 || memcmp(s, caches[c].name, len) != 0 || s[len] != '-')
			continue;
		for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
			if (!is_name(operations[o].name, s + len + 1, n - len - 1))
				continue;
			e->type = PERF_TYPE_HW_CACHE;
			e->config = caches[c].config | operations[o].config;
			return true;
		}
	}
	return false;
}

static bool find_raw(const char *s, size_t n, struct record_event *e)
{
	char *end;
	if (n < 2 || n > 17 || s[0] != 'r' || !strchr("0123456789abcdefABCDEF", s[1]))
		return false;
	errno = 0;
	e->config = strtoull(s + 1, &end, 16);
	e->type = PERF_TYPE_RAW;
	return !errno && end == s + n;
}

bool event_name_find(const char *s, size_t n, struct record_event *e)
{
	return find_known(s, n, e) || find_cache(s, n, e) || find_raw(s, n, e);
}

/* ---- breakpoints ---- */

static bool find_access(const char *s, size_t n, struct record_event *e)
{
	static const struct {
		char letter;
		uint32_t type;
	} types[] = { { 'r', HW_BREAKPOINT_R },
		      { 'w', HW_BREAKPOINT_W },
		      { 'x', HW_BREAKPOINT_X } };
	uint32_t found = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t type = 0;
		for (size_t t = 0; t < ARRAY_LEN(types); t++)
			type |= types[t].letter == s[i] ? types[t].type : 0;
		if (!type || found & type)
			return false;
		found |= type;
	}
	e->bp_type = found;
	return found;
}

/* ADDRESS[/LENGTH][:ACCESS] */
bool event_name_breakpoint(const char *s, size_t n, struct record_event *e)
{
	char text[64], *end;
	if (n >= sizeof(text) || !n)
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	errno = 0;
	e->type = PERF_TYPE_BREAKPOINT;
	e->bp_type = HW_BREAKPOINT_RW;
	e->config1 = strtoull(text, &end, 0);
	if (errno || end == text || text[0] == '-')
		return false;
	if (*end == '/')
		e->config2 = strtoull(end + 1, &end, 0);
	if (*end == ':' && !find_access(end + 1, strlen(end + 1), e))
		return false;
	if (*end && *end != ':')
		return false;
	if (!e->config2)
		e->config2 = e->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	return true;
}

/* ---- units of the machine ---- */

/* The contents of a unit's file DEVICES/UNIT/FOLDER/NAME, without the line end. */
static bool read_unit(const char *unit, size_t n_unit, const char *name, size_t n, char *ret,
		      size_t size)
{
	char *path;
	if (memchr(unit, '/', n_unit) || memchr(unit, '.', n_unit) || memchr(name, '.', n))
		return false;
	path = xprintf("/sys/bus/event_source/devices/%.*s/%.*s", (int)n_unit, unit, (int)n, name);
	FILE *f = fopen(path, "re");
	free(path);
	bool good = f && fgets(ret, (int)size, f);
	if (f)
		fclose(f);
	if (good)
		ret[strcspn(ret, "\n")] = '\0';
	return good;
}

bool event_name_has_unit(const char *unit, size_t n)
{
	char text[64];
	return read_unit(unit, n, "type", 4, text, sizeof(text));
}

bool event_name_unit(const char *unit, size_t n, struct record_event *e)
{
	char text[64];
	char *end;
	/* "cpu" is valid on all machines; if no unit has this name, its numbers are raw events. */
	if (is_name("cpu", unit, n) && !read_unit(unit, n, "type", 4, text, sizeof(text))) {
		e->type = PERF_TYPE_RAW;
		return true;
	}
	if (!read_unit(unit, n, "type", 4, text, sizeof(text)))
		return false;
	e->type = (uint32_t)strtoul(text, &end, 10);
	return end != text;
}

/* Spreads a value over the bits of a field: "config:0-7,32-35". */
static bool set_field(const char *format, uint64_t value, struct record_event *e)
{
	static const char *const names[] = { "config:", "config1:", "config2:" };
	uint64_t *const words[] = { &e->config, &e->config1, &e->config2 };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);
		if (strncmp(format, names[i], len) != 0)
			continue;
		for (const char *s = format + len; *s; s += *s == ',') {
			char *end;
			unsigned long low = strtoul(s, &end, 10), high = low;
			if (*end == '-')
				high = strtoul(end + 1, &end, 10);
			if (end == s || high > 63 || low > high)
				return false;
			for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
				*words[i] |= (value & 1) << bit;
			s = end;
		}
		return !value;
	}
	return false;
}

static bool find_field(const char *unit, size_t n_unit, const char *term, size_t n, uint64_t value,
		       struct record_event *e)
{
	char format[256], *name = xprintf("format/%.*s", (int)n, term);
	bool good = read_unit(unit, n_unit, name, strlen(name), format, sizeof(format)) &&
		    set_field(format, value, e);
	free(name);
	return good;
}

/* An event that the unit names in its events folder: "event=0x3c,umask=0x0". */
static bool find_event(const char *unit, size_t n_unit, const char *term, size_t n,
		       struct record_event *e)
{
	char text[256], *name = xprintf("events/%.*s", (int)n, term);
	bool good = read_unit(unit, n_unit, name, strlen(name), text, sizeof(text));
	free(name);
	for (char *s = text; good && *s;) {
		size_t len = strcspn(s, ","), key = strcspn(s, "=,");
		uint64_t value = key < len ? strtoull(s + key + 1, NULL, 0) : 1;
		good = find_field(unit, n_unit, s, key, value, e);
		s += len + (s[len] == ',');
	}
	return good;
}

bool event_name_term(const char *unit, size_t n_unit, const char *term, size_t n, uint64_t value,
		     struct record_event *e)
{
	if (memchr(term, '/', n))
		return false;
	if (find_event(unit, n_unit, term, n, e) || find_field(unit, n_unit, term, n, value, e))
		return true;
	/* The software and cpu units also have generic event names that the kernel does not
	 * list. */
	struct record_event generic = { .config = 0 };
	bool software = is_name("software", unit, n_unit), cpu = is_name("cpu", unit, n_unit);
	if ((!software && !cpu) || !find_known(term, n, &generic) ||
	    (generic.type == PERF_TYPE_SOFTWARE) != software)
		return false;
	e->type = generic.type;
	e->config = generic.config;
	e->is_clock = generic.is_clock;
	return true;
}

/* ---- a list of them ---- */

/* "cpu/mem-loads/": the events that units name. */
static void list_units(FILE *out)
{
	glob_t found;
	if (!glob("/sys/bus/event_source/devices/*/events/*", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *event = strrchr(found.gl_pathv[i], '/') + 1;
			const char *unit =
				found.gl_pathv[i] + strlen("/sys/bus/event_source/devices/");
			if (!strchr(event, '.')) /* .unit and .scale describe another */
				fprintf(out, "%.*s/%s/\n", (int)strcspn(unit, "/"), unit, event);
		}
	}
	globfree(&found);
}

void event_names_list(FILE *out)
{
	struct tracepoints traces = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		fprintf(out, "%s\n", known[i].name);
	for (size_t c = 0; c < ARRAY_LEN(caches); c++)
		for (size_t o = 0; o < ARRAY_LEN(operations); o++)
			fprintf(out, "%s-%s\n", caches[c].name, operations[o].name);
	list_units(out);
	kin_error_free(tracefs_find("*:*", 3, &traces)); /* where there are none, none are listed */
	for (size_t i = 0; i < traces.at.n; i++)
		fprintf(out, "%s\n", traces.at.at[i].name);
	vec_free(&traces.at);
}

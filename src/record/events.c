#include "record/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const struct known {
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
static const struct known caches[] = {
	{ "L1-dcache", 0, PERF_COUNT_HW_CACHE_L1D }, { "L1-icache", 0, PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", 0, PERF_COUNT_HW_CACHE_LL },        { "dTLB", 0, PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", 0, PERF_COUNT_HW_CACHE_ITLB },     { "branch", 0, PERF_COUNT_HW_CACHE_BPU },
	{ "node", 0, PERF_COUNT_HW_CACHE_NODE },
};
static const struct known operations[] = {
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

static bool is_word(const char *name, const char *s, size_t n)
{
	return strlen(name) == n && !memcmp(name, s, n);
}

static bool find_known(const char *s, size_t n, struct record_event *e)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!is_word(known[i].name, s, n))
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
			if (!is_word(operations[o].name, s + len + 1, n - len - 1))
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

static bool read_tracepoint(const char *folder, const char *s, size_t colon, size_t n,
			    uint64_t *ret)
{
	unsigned long long id;
	char *path = xprintf("%s/%.*s/%.*s/id", folder, (int)colon, s, (int)(n - colon - 1),
			     s + colon + 1);
	FILE *f = fopen(path, "re");
	free(path);
	bool ok = f && fscanf(f, "%llu", &id) == 1;
	if (f)
		fclose(f);
	if (ok)
		*ret = id;
	return ok;
}

/* group:name; nothing in it leads elsewhere in the file system. */
static bool find_tracepoint(const char *s, size_t n, struct record_event *e)
{
	const char *colon = memchr(s, ':', n);
	if (!colon || memchr(s, '/', n) || memchr(s, '.', n))
		return false;
	size_t at = (size_t)(colon - s);
	e->type = PERF_TYPE_TRACEPOINT;
	return read_tracepoint("/sys/kernel/tracing/events", s, at, n, &e->config) ||
	       read_tracepoint("/sys/kernel/debug/tracing/events", s, at, n, &e->config);
}

/* How many characters at the end of s are ":ukp..." */
static size_t modifiers(const char *s, size_t n)
{
	size_t i = n;
	while (i && strchr("ukpP", s[i - 1]))
		i--;
	return i && i < n && s[i - 1] == ':' ? n - i + 1 : 0;
}

static void apply_modifiers(const char *s, size_t n, struct record_event *e)
{
	bool user = memchr(s, 'u', n), kernel = memchr(s, 'k', n);
	for (size_t i = 0; i < n; i++)
		e->precise = (uint8_t)(e->precise + (s[i] == 'p' && e->precise < 3));
	if (user != kernel) {
		e->exclude_kernel = user;
		e->exclude_user = kernel;
	}
}

static struct kin_error *parse_one(const char *s, size_t n, struct record_event *ret)
{
	struct record_event e = { 0 };
	if (!n || n >= sizeof(e.name))
		return err_new(KIN_ERROR_USAGE, "'%.80s' is not the name of an event", s);
	memcpy(e.name, s, n);
	size_t tail = modifiers(s, n), len = n - tail;
	if (!find_known(s, len, &e) && !find_cache(s, len, &e) && !find_raw(s, len, &e) &&
	    !find_tracepoint(s, n, &e)) {
		if (!find_tracepoint(s, len, &e))
			return err_new(
				KIN_ERROR_USAGE,
				"no event '%.*s': cycles, instructions, cache-misses, page-faults, "
				"context-switches, cpu-clock, rHEX ... are events",
				(int)n, s);
	}
	if (e.type != PERF_TYPE_TRACEPOINT || tail)
		apply_modifiers(s + len, tail, &e);
	*ret = e;
	return NULL;
}

struct kin_error *record_events_parse(const char *text, struct record_events *ret)
{
	for (const char *s = text;; s++) {
		struct record_event e;
		size_t n = strcspn(s, ",");
		struct kin_error *err = parse_one(s, n, &e);
		if (err)
			return err;
		vec_push(&ret->at, e);
		s += n;
		if (!*s)
			return NULL;
	}
}

static struct record_event of_name(const char *name)
{
	struct record_event e = { 0 };
	snprintf(e.name, sizeof(e.name), "%s", name);
	find_known(name, strlen(name), &e);
	return e;
}

struct record_event record_event_clock(bool tasks)
{
	return of_name(tasks ? "task-clock" : "cpu-clock");
}

struct record_event record_event_cycles(void) { return of_name("cycles"); }

struct record_event record_event_switches(void)
{
	struct record_event e = of_name("context-switches");
	e.is_switches = true;
	e.period = 1;
	return e;
}

void record_event_attr(const struct record_event *e, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = e->type,
		.size = sizeof(*ret),
		.config = e->config,
		.freq = !e->period,
		.precise_ip = e->precise & 3,
		.exclude_kernel = e->exclude_kernel,
		.exclude_hv = e->exclude_kernel,
		.exclude_user = e->exclude_user,
		.exclude_guest = 1,
	};
	if (e->period)
		ret->sample_period = e->period;
	else
		ret->sample_freq = e->frequency;
}

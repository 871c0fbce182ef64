/* perf_attrs.c - the events of a file, and the event of each record. */
#include <string.h>

#include "formats/perfdata/perf.h"

enum { ATTRS_MAX = 60000 }; /* events of a profile are 16-bit numbers */

/* ---- names, for files that have none ---- */

static const char *const hardware[] = { "cycles",
					"instructions",
					"cache-references",
					"cache-misses",
					"branches",
					"branch-misses",
					"bus-cycles",
					"stalled-cycles-frontend",
					"stalled-cycles-backend",
					"ref-cycles" };
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"
};
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",      "branch",    "node" };
static const char *const accesses[] = { "load", "store", "prefetch" };

static char *cache_name(struct perf *p, uint64_t config)
{
	uint64_t cache = config & 0xff, access = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= ARRAY_LEN(caches) || access >= ARRAY_LEN(accesses) || result > 1)
		return arena_printf(&p->arena, "cache %#jx", (uintmax_t)config);
	return arena_printf(&p->arena, "%s-%s%s", caches[cache], accesses[access],
			    result        ? "-misses"
			    : access == 2 ? "es"
					  : "s");
}

static char *plain_name(struct perf *p, const struct perf_attr *a)
{
	uintmax_t config = a->config;

	if (a->type == PERF_HARDWARE && config < ARRAY_LEN(hardware))
		return arena_printf(&p->arena, "%s", hardware[config]);
	if (a->type == PERF_SOFTWARE && config < ARRAY_LEN(software))
		return arena_printf(&p->arena, "%s", software[config]);
	if (a->type == PERF_CACHE)
		return cache_name(p, config);
	if (a->type == PERF_TRACEPOINT)
		return arena_printf(&p->arena, "tracepoint %ju", config);
	if (a->type == PERF_BREAKPOINT)
		return arena_printf(&p->arena, "mem:%#jx", (uintmax_t)a->address);
	if (a->type == PERF_RAW_EVENT)
		return arena_printf(&p->arena, "raw %#jx", config);
	return arena_printf(&p->arena, "event %u:%#jx", a->type, config);
}

/* The name with its restrictions, as perf writes it: "cycles:u". */
static char *make_name(struct perf *p, const struct perf_attr *a)
{
	char *name = plain_name(p, a);
	uint64_t excluded = a->flags & (PERF_FLAG_EXCLUDE_USER | PERF_FLAG_EXCLUDE_KERNEL |
					PERF_FLAG_EXCLUDE_HV);

	int precise = (int)(a->flags >> 15 & 3);

	if (!excluded && !precise)
		return name;
	return arena_printf(&p->arena, "%s:%s%s%s%.*s", name,
			    !excluded || excluded & PERF_FLAG_EXCLUDE_KERNEL ? "" : "k",
			    !excluded || excluded & PERF_FLAG_EXCLUDE_USER ? "" : "u",
			    !excluded || excluded & PERF_FLAG_EXCLUDE_HV ? "" : "h", precise,
			    "ppp");
}

/* ---- reading ---- */

/* Bit fields start at the other end of each byte on big-endian machines. */
static uint64_t read_flags(const uint8_t *at, bool big_endian)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bit = at[i / 8] >> (big_endian ? 7 - i % 8 : i % 8) & 1;
		flags |= (uint64_t)bit << i;
	}
	return flags;
}

/* Finds the offsets of the fields that all records share. */
static void place_fields(struct perf_attr *a)
{
	uint64_t t = a->layout.sample_type;
	int end = 0;

	perf_sample_layout_place(&a->layout);
	a->trailer_tid = a->trailer_time = a->trailer_id = -1;
	if (!(a->flags & PERF_FLAG_SAMPLE_ID_ALL))
		return;
	if (t & PERF_IDENTIFIER)
		a->trailer_id = end += 8;
	if (t & PERF_CPU)
		end += 8;
	if (t & PERF_STREAM_ID)
		end += 8;
	if (t & PERF_ID) {
		end += 8;
		if (a->trailer_id < 0)
			a->trailer_id = end;
	}
	if (t & PERF_TIME)
		a->trailer_time = end += 8;
	if (t & PERF_TID)
		a->trailer_tid = end += 8;
}

static struct perf_attr parse(const struct perf *p, struct bytes b)
{
	struct perf_attr a = { .layout.swap = p->swap };

	a.type = bytes_u32(&b);
	bytes_u32(&b); /* size */
	a.config = bytes_u64(&b);
	uint64_t period = bytes_u64(&b);
	a.layout.sample_type = bytes_u64(&b);
	a.layout.read_format = bytes_u64(&b);
	const uint8_t *flags = bytes_take(&b, 8).pos;
	a.flags = read_flags(flags, p->big_endian);
	bytes_u64(&b); /* wakeup, bp_type */
	a.address = bytes_u64(&b);
	if (bytes_left(&b) >= 16) {
		bytes_u64(&b);
		a.layout.branch_type = bytes_u64(&b);
	}
	if (bytes_left(&b) >= 8)
		a.layout.regs_user = bytes_u64(&b);
	if (bytes_left(&b) >= 16) {
		bytes_u64(&b); /* stack_user, clockid */
		a.layout.regs_intr = bytes_u64(&b);
	}
	if (a.flags & PERF_FLAG_FREQ)
		a.frequency = period;
	else
		a.period = period;
	return a;
}

static uint64_t default_period(const struct perf_attr *a)
{
	if (a->frequency)
		return a->unit == EVENT_NS ? 1000000000 / a->frequency : 1;
	return a->period;
}

bool perf_attrs_add(struct perf *p, struct bytes attr)
{
	if (bytes_left(&attr) < PERF_ATTR_MIN || p->attrs.at.n >= ATTRS_MAX)
		return false;
	struct perf_attr a = parse(p, attr);
	place_fields(&a);
	bool is_clock = a.type == PERF_SOFTWARE &&
			(a.config == PERF_CPU_CLOCK || a.config == PERF_TASK_CLOCK);
	a.unit = is_clock ? EVENT_NS : EVENT_COUNT;
	a.layout.default_period = default_period(&a);
	p->attrs.identified |= a.layout.id >= 0;
	p->machine.has_switches |= (a.flags & PERF_FLAG_SWITCHES) != 0;
	vec_push(&p->attrs.at, a);
	p->attrs.declared = false;
	return true;
}

/* ---- finding ---- */

void perf_attrs_add_id(struct perf *p, uint64_t id, uint32_t attr)
{
	uint32_t *i = map64_at(&p->attrs.by_id, id);

	if (*i == NONE) {
		*i = (uint32_t)p->attrs.ids.n;
		vec_push(&p->attrs.ids, ((struct perf_id){ .attr = attr }));
	}
	p->attrs.last = NONE;
}

uint32_t perf_attrs_find(struct perf_attrs *a, uint64_t id)
{
	if (a->last == NONE || a->last_id != id || !a->ids.n) {
		a->last = map64_get(&a->by_id, id);
		a->last_id = id;
	}
	return a->last;
}

static bool id_of(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		  size_t size, uint64_t *ret)
{
	bool is_sample = perf_u32(p, record) == PERF_R_SAMPLE;
	int at = is_sample ? a->layout.id : a->trailer_id;

	if (at < 0)
		return false;
	size_t offset = is_sample ? (size_t)at : size - (size_t)at;
	if (size < (size_t)at + 8 || offset < PERF_RECORD_HEADER)
		return false;
	*ret = perf_u64(p, record + offset);
	return true;
}

struct perf_attr *perf_attrs_of(struct perf *p, const uint8_t *record, size_t size, uint32_t *id)
{
	struct perf_attrs *a = &p->attrs;
	uint64_t value;

	*id = NONE;
	if (!a->at.n)
		return NULL;
	/* perf puts the id at the same place for all events. */
	if (!a->identified || !id_of(p, &a->at.at[0], record, size, &value))
		return &a->at.at[0];
	*id = perf_attrs_find(a, value);
	if (*id != NONE && a->ids.at[*id].attr < a->at.n)
		return &a->at.at[a->ids.at[*id].attr];
	/* Records made up by perf have no id; with a single event that does not matter. */
	return value == 0 || a->at.n == 1 || perf_u32(p, record) != PERF_R_SAMPLE ? &a->at.at[0]
										  : NULL;
}

uint64_t perf_attrs_time(struct perf *p, const struct perf_attr *a, const uint8_t *record,
			 size_t size)
{
	bool is_sample = perf_u32(p, record) == PERF_R_SAMPLE;
	int at = is_sample ? a->layout.time : a->trailer_time;

	if (at < 0 || size < (size_t)at + 8)
		return PERF_NO_TIME;
	return perf_u64(p, is_sample ? record + at : record + size - at);
}

const char *perf_attrs_name(const struct perf *p, size_t i)
{
	const struct perf_attr *a = &p->attrs.at.at[i];

	return a->name ? a->name : make_name(UNCONST(struct perf *, p), a);
}

uint64_t perf_attrs_flags(const struct perf *p, const uint8_t *at)
{
	return read_flags(at, p->big_endian);
}

/* ---- the profile's events ---- */

/* Makes names unique, since several events may have the same, as in "cycles" and
 * "{cycles,instructions}": "cycles#2". */
static const char *name_apart(struct perf *p, const struct perf_attr *a, const char *name)
{
	unsigned number = 1;

	for (const struct perf_attr *x = p->attrs.at.at; x < a; x++)
		number += !strcmp(perf_attrs_name(p, (size_t)(x - p->attrs.at.at)), name);
	return number == 1 ? name : arena_printf(&p->arena, "%s#%u", name, number);
}

static enum event_type type_of(const struct perf_attr *a)
{
	static const enum event_type types[] = {
		[PERF_HARDWARE] = EVENT_HARDWARE,      [PERF_SOFTWARE] = EVENT_SOFTWARE,
		[PERF_TRACEPOINT] = EVENT_TRACE_POINT, [PERF_CACHE] = EVENT_CACHE,
		[PERF_RAW_EVENT] = EVENT_RAW,          [PERF_BREAKPOINT] = EVENT_BREAKPOINT,
	};
	return a->type < ARRAY_LEN(types) ? types[a->type] : EVENT_RAW;
}

static uint16_t first_on_cpu(const struct perf_attrs *a)
{
	for (size_t i = 0; i < a->at.n; i++)
		if (a->at.at[i].kind == EVENT_ON_CPU && a->at.at[i].has_event)
			return a->at.at[i].event;
	return UINT16_MAX;
}

void perf_attr_declare(struct perf *p, struct perf_attr *a)
{
	if (a->has_event)
		return;
	const char *name = a->name ? a->name : make_name(p, a);

	if (a->type == PERF_SOFTWARE && a->config == PERF_BPF_OUTPUT &&
	    !strcmp(name, "offcpu-time")) {
		a->unit = EVENT_NS;
		a->kind = EVENT_BLOCKED;
		a->off_cpu_raw = (a->layout.sample_type & PERF_RAW) != 0;
		a->period = a->layout.default_period = 1;
		a->frequency = 0;
	}
	enum event_kind called = event_kind_called(name);
	if (a->unit == EVENT_NS && called != EVENT_ON_CPU)
		a->kind = called;
	const char *apart = name_apart(p, a, name);
	struct event e = { .name = profile_add_string(p->into, apart, strlen(apart)),
			   .title = profile_add_string(p->into, name, strlen(name)),
			   .unit = a->unit,
			   .kind = a->kind,
			   .is_trace = a->type == PERF_TRACEPOINT,
			   .frequency = a->frequency,
			   .period = a->period,
			   .stacks = a->layout.sample_type & PERF_CALLCHAIN,
			   .is_dumped =
				   !(~a->layout.sample_type & (PERF_REGS_USER | PERF_STACK_USER)),
			   .is_timeless = !(a->layout.sample_type & PERF_TIME),
			   .type = type_of(a),
			   .group = a->group };
	a->event = profile_add_event(p->into, e);
	a->has_event = true;
	p->attrs.on_cpu = first_on_cpu(&p->attrs);
}

void perf_attrs_declare(struct perf *p)
{
	if (p->attrs.declared)
		return;
	p->attrs.declared = true;
	for (size_t i = 0; i < p->attrs.at.n; i++) {
		struct perf_attr *a = &p->attrs.at.at[i];
		if (a->type != PERF_SOFTWARE || a->config != PERF_DUMMY)
			perf_attr_declare(p, a);
	}
}

void perf_attrs_done(struct perf_attrs *a)
{
	vec_free(&a->at);
	vec_free(&a->ids);
	map64_free(&a->by_id);
}

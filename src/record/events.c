/* events.c - parses lists of events with their modifiers, terms and groups. */
#include "record/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "record/event_names.h"
#include "record/tracefs.h"

struct event_parser {
	const char *text;
	struct record_events *into;
	uint32_t group; /* number of the group that is being read; 0: none */
	const char *group_modifiers;
	size_t n_group_modifiers;
};

/* ---- modifiers ---- */

static const char letters[] = "ukhGHpPDeISWb";

/* The number of characters at the end of s that are modifiers, ":ukp...". */
static size_t modifiers(const char *s, size_t n)
{
	size_t i = n;
	while (i && strchr(letters, s[i - 1]))
		i--;
	return i && i < n && s[i - 1] == ':' ? n - i + 1 : 0;
}

static void apply_modifiers(const char *s, size_t n, struct record_event *e)
{
	bool user = memchr(s, 'u', n), kernel = memchr(s, 'k', n), hyper = memchr(s, 'h', n);
	bool guest = memchr(s, 'G', n), host = memchr(s, 'H', n);
	for (size_t i = 0; i < n; i++)
		e->precise = (uint8_t)(e->precise + (s[i] == 'p' && e->precise < 3));
	if (memchr(s, 'P', n))
		e->precise = 2;
	if (user || kernel || hyper) {
		e->exclude_user = !user;
		e->exclude_kernel = !kernel;
		e->exclude_hypervisor = !hyper;
	}
	if (guest || host) {
		e->exclude_guest = !guest;
		e->exclude_host = !host;
	}
	e->group_is_read |= memchr(s, 'S', n) != NULL;
	e->pinned |= memchr(s, 'D', n) != NULL;
	e->exclusive |= memchr(s, 'e', n) != NULL;
}

/* ---- terms: what stands between slashes ---- */

struct event_word {
	const char *s;
	size_t n;
};

static bool is_word(struct event_word w, const char *text)
{
	return strlen(text) == w.n && !memcmp(text, w.s, w.n);
}

static struct kin_error *no_term(const struct record_event *e, struct event_word unit,
				 struct event_word w)
{
	if (unit.n && !event_name_has_unit(unit.s, unit.n))
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "this machine cannot count '%s': try cpu-clock", e->name);
	return err_new(KIN_ERROR_USAGE,
		       "'%s': unknown term '%.*s'; valid: period, freq, name, call-graph, config, "
		       "config1, config2 and the terms of the unit",
		       e->name, w.n > 80 ? 80 : (int)w.n, w.s);
}

/* Where the number of a term that every event has is stored; NULL: no such term. */
static uint64_t *number_of(struct record_event *e, struct event_word key)
{
	static const char *const names[] = { "period", "freq", "config", "config1", "config2" };
	uint64_t *const at[] = { &e->period, &e->frequency, &e->config, &e->config1, &e->config2 };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_word(key, names[i]))
			return at[i];
	return NULL;
}

static bool take_number(struct event_word value, uint64_t *ret)
{
	char text[32], *end;
	if (!value.n || value.n >= sizeof(text) || value.s[0] == '-')
		return false;
	memcpy(text, value.s, value.n);
	text[value.n] = '\0';
	errno = 0;
	*ret = strtoull(text, &end, 0);
	return !errno && !*end;
}

static struct kin_error *apply_term(struct event_word unit, struct event_word key,
				    struct event_word value, struct record_event *e, char *name,
				    size_t name_size)
{
	uint64_t v = 1, *number = number_of(e, key);
	bool good = !value.s || take_number(value, &v);
	if (is_word(key, "name") && value.n && value.n < name_size) {
		snprintf(name, name_size, "%.*s", (int)value.n, value.s);
		return NULL;
	}
	if (is_word(key, "call-graph") && value.s) {
		e->no_stacks = is_word(value, "no");
		return NULL;
	}
	if (is_word(key, "time") || is_word(key, "inherit"))
		return NULL; /* ignored: it holds for all events */
	if (number && good && value.s) {
		*number = v;
		return NULL;
	}
	if (unit.n && good && event_name_term(unit.s, unit.n, key.s, key.n, v, e))
		return NULL;
	return no_term(e, unit, key);
}

/* "period=1000,name=x". `unit` is empty for events whose names have none. */
static struct kin_error *apply_terms(struct event_word unit, const char *s, size_t n,
				     struct record_event *e)
{
	char name[sizeof(e->name)] = "";
	for (const char *end = s + n; s < end;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		struct event_word term = { s, (size_t)((comma ? comma : end) - s) },
				  value = { NULL, 0 };
		const char *is = memchr(s, '=', term.n);
		if (is) {
			value = (struct event_word){ is + 1, (size_t)(s + term.n - is - 1) };
			term.n = (size_t)(is - s);
		}
		struct kin_error *err = apply_term(unit, term, value, e, name, sizeof(name));
		if (err)
			return err;
		s = comma ? comma + 1 : end;
	}
	if (*name)
		snprintf(e->name, sizeof(e->name), "%s", name);
	return NULL;
}

/* ---- single events ---- */

static struct kin_error *no_event(const char *s, size_t n)
{
	return err_new(KIN_ERROR_USAGE,
		       "no event '%.*s': cycles, instructions, cache-misses, page-faults, "
		       "context-switches, cpu-clock, rHEX, sched:sched_switch ... are events",
		       n > 80 ? 80 : (int)n, s);
}

/* NAME/TERMS/MODIFIERS, where NAME is an event or a unit. */
static struct kin_error *parse_slashes(const char *s, size_t n, struct record_event *e)
{
	const char *first = memchr(s, '/', n);
	const char *last = memrchr(s, '/', n);
	struct event_word name = { s, (size_t)(first - s) }, unit = { s, 0 };
	size_t tail = n - (size_t)(last + 1 - s);
	const char *more = last + 1;
	if (first == last ||
	    strspn(more + (tail && *more == ':'), letters) < tail - (tail && *more == ':'))
		return no_event(s, n);
	if (!event_name_find(name.s, name.n, e)) {
		if (!event_name_unit(name.s, name.n, e))
			return no_event(s, n);
		unit = name;
	}
	struct kin_error *err = apply_terms(unit, first + 1, (size_t)(last - first - 1), e);
	if (!err)
		apply_modifiers(more, tail, e);
	return err;
}

/* GROUP:NAME; patterns with * or ? may match several trace points. */
static struct kin_error *parse_tracepoints(struct event_parser *p, const char *s, size_t n,
					   struct record_event e)
{
	struct tracepoints found = { 0 };
	size_t tail = modifiers(s, n);
	bool several = memchr(s, '*', n) || memchr(s, '?', n);
	struct kin_error *err = tracefs_find(s, n - tail, &found);
	if (err && tail) { /* the end of its name may look like modifiers */
		struct kin_error *other = tracefs_find(s, n, &found);
		tail = other ? tail : 0;
		kin_error_free(other ? other : err);
		err = other ? err : NULL;
	}
	if (!err)
		apply_modifiers(s + n - tail, tail, &e);
	e.type = PERF_TYPE_TRACEPOINT;
	for (size_t i = 0; !err && i < found.at.n; i++) {
		if (several)
			snprintf(e.name, sizeof(e.name), "%s%.*s", found.at.at[i].name, (int)tail,
				 s + n - tail);
		e.config = found.at.at[i].id;
		snprintf(e.trace_point, sizeof(e.trace_point), "%s", found.at.at[i].name);
		vec_push(&p->into->at, e);
	}
	vec_free(&found.at);
	return err;
}

static struct kin_error *parse_breakpoint(const char *s, size_t n, struct record_event *e)
{
	size_t tail = 0, len = n;
	if (!event_name_breakpoint(s + 4, n - 4, e)) {
		tail = modifiers(s, n);
		len = n - tail;
		if (len < 4 || !event_name_breakpoint(s + 4, len - 4, e))
			return err_new(
				KIN_ERROR_USAGE,
				"'%.*s': a breakpoint is mem:ADDRESS, mem:ADDRESS/LENGTH, and "
				":r, :w, :rw or :x behind it",
				n > 80 ? 80 : (int)n, s);
	}
	apply_modifiers(s + len, tail, e);
	return NULL;
}

static struct kin_error *parse_one(struct event_parser *p, const char *s, size_t n)
{
	struct record_event e = { .exclude_guest = true,
				  .group = p->group,
				  .from = (uint32_t)(s - p->text) };
	struct kin_error *err = NULL;
	if (!n || n >= sizeof(e.name))
		return err_new(KIN_ERROR_USAGE, "'%.80s' is not the name of an event", s);
	memcpy(e.name, s, n);
	apply_modifiers(p->group_modifiers, p->n_group_modifiers, &e);
	size_t tail = modifiers(s, n), len = n - tail;
	if (n > 4 && !memcmp(s, "mem:", 4))
		err = parse_breakpoint(s, n, &e);
	else if (memchr(s, '/', n))
		err = parse_slashes(s, n, &e);
	else if (event_name_find(s, len, &e))
		apply_modifiers(s + len, tail, &e);
	else if (memchr(s, ':', len) || memchr(s, ':', n))
		return parse_tracepoints(p, s, n, e);
	else
		err = no_event(s, n);
	if (!err)
		vec_push(&p->into->at, e);
	return err;
}

/* ---- lists ---- */

/* Length up to the first comma outside slashes. The slashes of breakpoints enclose nothing. */
static size_t length_of(const char *s, const char *end)
{
	bool encloses = strncmp(s, "mem:", 4) != 0, inside = false;
	size_t n = 0;
	for (; s + n < end && (inside || s[n] != ','); n++)
		inside ^= encloses && s[n] == '/';
	return n;
}

static struct kin_error *parse_list(struct event_parser *p, const char *s, const char *end)
{
	for (;; s++) {
		size_t n = length_of(s, end);
		struct kin_error *err = parse_one(p, s, n);
		if (err)
			return err;
		s += n;
		if (s >= end)
			return NULL;
	}
}

/* {a,b}:MODIFIERS. Sets *ret to the end of it. */
static struct kin_error *parse_group(struct event_parser *p, const char *s, const char **ret)
{
	static const struct event_parser none = { .group_modifiers = "" };
	struct event_parser inner = *p;
	const char *close = strchr(s, '}');
	if (!close)
		return err_new(KIN_ERROR_USAGE, "'%.80s': a group of events ends with }", s);
	const char *behind = close + 1;
	size_t n = *behind == ':' ? 1 + strspn(behind + 1, letters) : 0;
	inner.group = (uint32_t)(s - p->text) + 1;
	inner.group_modifiers = n ? behind : none.group_modifiers;
	inner.n_group_modifiers = n;
	*ret = behind + n;
	if (**ret && **ret != ',')
		return err_new(KIN_ERROR_USAGE, "'%.80s': modifiers or a comma follow a group", s);
	return parse_list(&inner, s + 1, close);
}

struct kin_error *record_events_parse(const char *text, struct record_events *ret)
{
	struct event_parser p = { .text = text, .into = ret, .group_modifiers = "" };
	const char *s = text, *end = text + strlen(text);
	for (;; s++) {
		struct kin_error *err;
		if (*s == '{') {
			err = parse_group(&p, s, &s);
		} else {
			size_t n = length_of(s, end);
			err = parse_one(&p, s, n);
			s += n;
		}
		if (err || !*s)
			return err;
	}
}

/* ---- default events ---- */

static struct record_event of_name(const char *name)
{
	struct record_event e = { .exclude_guest = true };
	snprintf(e.name, sizeof(e.name), "%s", name);
	event_name_find(name, strlen(name), &e);
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
	e.purpose = EVENT_SWITCHES;
	e.at_switches = true;
	e.period = 1;
	return e;
}

struct record_event record_event_tracking(void)
{
	struct record_event e = of_name("dummy");
	e.purpose = EVENT_TRACKING;
	e.exclude_kernel = true;
	e.period = 1;
	return e;
}

bool record_event_is_cycles(const struct record_event *e)
{
	return e->type == PERF_TYPE_HARDWARE && e->config == PERF_COUNT_HW_CPU_CYCLES;
}

bool record_event_is_switches(const struct record_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	       !e->no_stacks && !e->exclude_kernel && !e->exclude_user;
}

bool record_event_is_each(const struct record_event *e)
{
	return e->type == PERF_TYPE_TRACEPOINT || e->type == PERF_TYPE_BREAKPOINT;
}

void record_event_attr(const struct record_event *e, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = e->type,
		.size = sizeof(*ret),
		.config = e->config,
		.freq = !e->period,
		.precise_ip = e->type == PERF_TYPE_SOFTWARE ? 0 : e->precise & 3,
		.exclude_kernel = e->exclude_kernel,
		.exclude_hv = e->exclude_kernel || e->exclude_hypervisor,
		.exclude_user = e->exclude_user,
		.exclude_guest = e->exclude_guest,
		.exclude_host = e->exclude_host,
		.exclude_idle = e->exclude_idle,
		.pinned = e->pinned,
		.exclusive = e->exclusive,
		.bp_type = e->bp_type,
	};
	ret->config1 = e->config1;
	ret->config2 = e->config2;
	if (e->is_read)
		ret->freq = 0;
	else if (e->period)
		ret->sample_period = e->period;
	else
		ret->sample_freq = e->frequency;
}

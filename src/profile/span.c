/* span.c - parses spans in seconds, in percent, and between markers. */
#include "profile/span.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static struct time_range span_of_samples(const struct samples *s, bool derived)
{
	struct time_range ret = { UINT64_MAX, 0 };
	for (size_t i = 0; i < s->n; i++) {
		uint64_t t = s->at[i].time_ns;
		uint16_t e = s->at[i].event;
		if ((e < s->n_events && s->events[e].is_derived) != derived)
			continue;
		ret.from_ns = t && t < ret.from_ns ? t : ret.from_ns;
		ret.to_ns = t > ret.to_ns ? t : ret.to_ns;
	}
	return ret;
}

struct time_range span_of(const struct profile *p)
{
	if (p->samples.whole_to_ns)
		return (struct time_range){ p->samples.whole_from_ns, p->samples.whole_to_ns };
	struct time_range s = span_of_samples(&p->samples, false);
	return s.from_ns <= s.to_ns ? s : span_of_samples(&p->samples, true);
}

static bool parse_percent(const char *text, struct time_range whole, struct time_range *ret)
{
	char *end;
	double from = strtod(text, &end), to;
	double length = (double)(whole.to_ns - whole.from_ns);
	if (end == text || *end != '%' || !(from >= 0 && from <= 100))
		return false;
	end++;
	if (*end == '/') {
		unsigned long k = strtoul(end + 1, &end, 10);
		if (*end || k < 1 || (double)k * from > 100.0001)
			return false;
		to = from * (double)k;
		from = to - from;
	} else if (*end == '-') {
		const char *second = end + 1;
		to = strtod(second, &end);
		if (end == second || strcmp(end, "%") != 0 || !(to >= from && to <= 100))
			return false;
	} else {
		to = from;
		from = 0;
		if (*end)
			return false;
	}
	/* Derived samples may lie before the first and after the last that was taken. */
	ret->from_ns = from > 0 ? whole.from_ns + (uint64_t)(length * from / 100) : 0;
	ret->to_ns = to >= 100 ? UINT64_MAX : whole.from_ns + (uint64_t)(length * to / 100);
	return true;
}

/* Parses seconds up to `stop`; no text is `none`. Digits after the point are exact: times have
 * nine. */
static bool parse_seconds(const char *text, const char *stop, uint64_t origin, uint64_t none,
			  uint64_t *ret)
{
	char *end;
	*ret = none;
	if (text == stop)
		return true;
	bool relative = *text == '+';
	text += relative;
	/* strtoull() would also accept blanks and signs. */
	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	uint64_t s = strtoull(text, &end, 10), ns = 0;
	if (s > UINT64_C(9000000000))
		return false;
	if (*end == '.') {
		for (unsigned i = 0; i < 9; i++)
			ns = ns * 10 +
			     (end[1] >= '0' && end[1] <= '9' ? (uint64_t)(*++end - '0') : 0);
		while (*++end >= '0' && *end <= '9') {
		}
	}
	*ret = s * 1000000000 + ns + (relative ? origin : 0);
	return end == stop;
}

/* Finds the marker that the text begins with: its name and, after a slash, its number; NULL: none.
 * Moves *text behind it: to a comma, or to the end. If several names fit, the longest counts.
 * Markers before from_ns are skipped. */
static const struct marker *take_marker(const struct profile *p, const char **text,
					uint64_t from_ns)
{
	const struct marker *found = NULL;
	const char *end = *text;
	for (size_t i = 0; i < p->samples.n_markers; i++) {
		const struct marker *m = &p->samples.markers[i];
		const char *name = strtab_get(p->strings, m->name);
		size_t n = strlen(name);
		if (m->time_ns < from_ns || !n || strncmp(*text, name, n) != 0)
			continue;
		char *after = UNCONST(char *, *text + n);
		unsigned long number = *after == '/' ? strtoul(after + 1, &after, 10) : 1;
		if ((*after && *after != ',') || after <= end)
			continue;
		for (size_t k = i; number && k < p->samples.n_markers; k++) {
			const struct marker *x = &p->samples.markers[k];
			if (x->name != m->name || --number)
				continue;
			found = x;
			end = after;
		}
	}
	*text = end;
	return found;
}

bool span_is_marked(const char *text, const struct profile *p)
{
	text += *text == ',';
	return (*text < '0' || *text > '9') && take_marker(p, &text, 0);
}

/* Up to the next marker that is later. */
static uint64_t until_next(const struct profile *p, const struct marker *m)
{
	for (size_t i = 0; i < p->samples.n_markers; i++)
		if (p->samples.markers[i].time_ns > m->time_ns)
			return p->samples.markers[i].time_ns - 1;
	return UINT64_MAX;
}

/* An interval of which at least one end is a marker. The moment of the second marker is
 * excluded. */
static bool parse_markers(const char *text, const struct profile *p, struct time_range whole,
			  struct time_range *ret)
{
	const char *at = text, *comma = strchr(text, ',');
	const struct marker *from = take_marker(p, &at, 0), *to;
	if (from) {
		*ret = (struct time_range){ from->time_ns, until_next(p, from) };
		if (!*at)
			return true;
		comma = at;
	} else if (!comma || !parse_seconds(text, comma, whole.from_ns, 0, &ret->from_ns)) {
		return false;
	}
	at = comma + 1;
	to = take_marker(p, &at, ret->from_ns + 1);
	if (!to)
		return from &&
		       parse_seconds(at, at + strlen(at), whole.from_ns, UINT64_MAX, &ret->to_ns);
	ret->to_ns = to->time_ns - 1;
	return !*at;
}

static bool parse(const char *text, const struct profile *p, struct time_range whole,
		  struct time_range *ret)
{
	const char *comma = strchr(text, ','), *end = text + strlen(text);
	if (strchr(text, '%') && parse_percent(text, whole, ret))
		return true;
	if (parse_seconds(text, comma ? comma : end, whole.from_ns, 0, &ret->from_ns) &&
	    parse_seconds(comma ? comma + 1 : end, end, whole.from_ns, UINT64_MAX, &ret->to_ns))
		return true;
	return parse_markers(text, p, whole, ret);
}

/* ---- error messages ---- */

static bool is_first_of_name(const struct samples *s, size_t marker)
{
	size_t i = 0;
	while (s->markers[i].name != s->markers[marker].name)
		i++;
	return i == marker;
}

/* "load, query, ..."; to be freed. */
static char *names_of_markers(const struct profile *p)
{
	enum { MANY = 12 };
	char *list = xprintf("%s", "");
	for (size_t i = 0, n = 0; i < p->samples.n_markers && n <= MANY; i++) {
		const char *name = strtab_get(p->strings, p->samples.markers[i].name);
		if (!is_first_of_name(&p->samples, i))
			continue;
		char *more = n++ == MANY ? xprintf("%s, ...", list)
					 : xprintf("%s%s%.40s", list, *list ? ", " : "", name);
		free(list);
		list = more;
	}
	return list;
}

static bool may_be_name(const char *text)
{
	return *text && !strchr("0123456789+.,-", *text) && !strchr(text, '%');
}

/* The error that one end of the interval names an unknown marker; NULL: that is not the mistake. */
static struct kin_error *no_marker(const char *text, const struct profile *p)
{
	const char *at = text, *name = text, *known;
	const struct marker *from = take_marker(p, &at, 0);
	const char *comma = from ? at : strchr(text, ',');
	if ((from || !may_be_name(text)) && comma && *comma)
		name = comma + 1;
	if (!may_be_name(name) || !p->samples.n_markers)
		return NULL;
	known = name;
	if (take_marker(p, &known, 0))
		return err_new(KIN_ERROR_USAGE,
			       "no marker '%.40s' comes after the start of '%.80s'", name, text);
	char *names = names_of_markers(p);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE, "there is no marker '%.*s' in the data: it has %s",
			(int)strcspn(name, ","), name, names);
	free(names);
	return err;
}

static struct kin_error *no_interval(const char *text, const struct profile *p)
{
	struct kin_error *err = no_marker(text, p);
	const char *markers = p->samples.n_markers ? ", or between markers: NAME,NAME"
			      : may_be_name(text)  ? "; the data has no markers"
						   : "";
	return err ? err
		   : err_new(KIN_ERROR_USAGE,
			     "'%.80s' is not a time interval: START,STOP in seconds, with a + from "
			     "the first sample on, or a part: 10%%-20%%, 10%%/2%s",
			     text, markers);
}

static struct kin_error *read_span(const char *text, const struct profile *p,
				   struct time_range whole, struct time_range *ret)
{
	struct time_range r;
	if (whole.from_ns > whole.to_ns)
		return err_new(KIN_ERROR_USAGE, "a time is asked for, but no sample in the data "
						"says when it was taken");
	if (!parse(text, p, whole, &r))
		return no_interval(text, p);
	if (r.to_ns < r.from_ns)
		return err_new(KIN_ERROR_USAGE, "'%.80s' ends before it starts", text);
	*ret = r;
	return NULL;
}

struct kin_error *span_parse(const char *text, const struct profile *p, struct time_range whole,
			     struct time_range *ret)
{
	struct kin_error *err = read_span(text, p, whole, ret);
	return err ? err_wrap(err, "--time") : NULL;
}

/* span.c - parses spans in seconds and percent. */
#include "profile/span.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct time_range span_of(const struct profile *p)
{
	struct time_range s = { UINT64_MAX, 0 };
	for (size_t i = 0; i < p->samples.n; i++) {
		uint64_t t = p->samples.at[i].time_ns;
		s.from_ns = t && t < s.from_ns ? t : s.from_ns;
		s.to_ns = t > s.to_ns ? t : s.to_ns;
	}
	return s;
}

static bool parse_percent(const char *text, struct time_range whole, struct time_range *ret)
{
	char *end;
	double from = strtod(text, &end), to;
	double length = whole.to_ns > whole.from_ns ? (double)(whole.to_ns - whole.from_ns) : 0;
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
	ret->from_ns = whole.from_ns + (uint64_t)(length * from / 100);
	ret->to_ns = to >= 100 ? whole.to_ns : whole.from_ns + (uint64_t)(length * to / 100);
	return true;
}

/* Up to `stop`. Digits after the point exactly: times have nine of them. */
static bool parse_seconds(const char *text, const char *stop, uint64_t origin, uint64_t none,
			  uint64_t *ret)
{
	char *end;
	*ret = none;
	if (text == stop)
		return true;
	bool relative = *text == '+';
	text += relative;
	if ((*text < '0' || *text > '9') && *text != '.') /* nor hexadecimal, infinite ... */
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

static bool parse(const char *text, struct time_range whole, struct time_range *ret)
{
	if (strchr(text, '%'))
		return parse_percent(text, whole, ret);
	const char *comma = strchr(text, ','), *end = text + strlen(text);
	return parse_seconds(text, comma ? comma : end, whole.from_ns, 0, &ret->from_ns) &&
	       parse_seconds(comma ? comma + 1 : end, end, whole.from_ns, UINT64_MAX, &ret->to_ns);
}

struct kin_error *span_parse(const char *text, struct time_range whole, struct time_range *ret)
{
	struct time_range r;
	if (whole.from_ns > whole.to_ns)
		return err_new(KIN_ERROR_USAGE, "a time is asked for, but no sample in the data "
						"says when it was taken");
	if (!parse(text, whole, &r))
		return err_new(
			KIN_ERROR_USAGE,
			"'%.80s' is not a time interval: START,STOP in seconds, with a + from "
			"the first sample on, or a part: 10%%-20%%, 10%%/2",
			text);
	if (r.to_ns < r.from_ns)
		return err_new(KIN_ERROR_USAGE, "'%.80s' ends before it starts", text);
	*ret = r;
	return NULL;
}

/* arg.c - parses numbers, times and sizes. */
#include "cli/arg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool arg_u64(const char *arg, uint64_t low, uint64_t high, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(arg, &end, 10);
	if (end == arg || *end || errno || arg[0] == '-' || v < low || v > high)
		return false;
	*ret = v;
	return true;
}

bool arg_double(const char *arg, const char *unit, double low, double high, double *ret)
{
	char *end;
	double v = strtod(arg, &end);
	if (end == arg || (*end && strcmp(end, unit) != 0) || !(v >= low && v <= high))
		return false;
	*ret = v;
	return true;
}

bool arg_share(const char *arg, double low, double high, double *ret)
{
	double percent;
	if (!arg_double(arg, "%", low, high, &percent))
		return false;
	*ret = percent / 100;
	return true;
}

bool arg_duration(const char *arg, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 },
		      { "ns", 1 }, { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 } };
	char *end;
	double v = strtod(arg, &end);
	for (size_t i = 0; end != arg && i < ARRAY_LEN(units); i++) {
		double ns = v * units[i].ns;
		if (strcmp(end, units[i].unit) != 0 || !(ns >= 1 && ns < 1e18))
			continue;
		*ret_ns = (uint64_t)ns;
		return true;
	}
	return false;
}

bool arg_size(const char *arg, uint64_t *ret)
{
	static const char units[] = "BKMG";
	char *end;
	errno = 0;
	unsigned long long v = strtoull(arg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (end == arg || arg[0] == '-' || !unit || end[1] || errno || !v || v > 1ull << 33)
		return false;
	*ret = (uint64_t)v << 10 * (unit - units);
	return true;
}

bool arg_bad(const char *option, const char *arg, const char *what, char error[512])
{
	snprintf(error, 512, "%s: '%.80s' is not %s", option, arg, what);
	return false;
}

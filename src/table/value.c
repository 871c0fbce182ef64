/* value.c - exact text of each type of cell. */
#include "table/value.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/num.h"

enum { MOST_DECIMALS = 9 };

static const uint64_t powers[MOST_DECIMALS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000
};
static const uint64_t EXACT = UINT64_C(1) << 53; /* below that doubles have all whole numbers */

void value_count(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

void value_address(struct sink *s, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	char *to = sink_room(s, 24);
	unsigned n = 1;
	while (n < 16 && v >> 4 * n)
		n++;
	to[0] = '0';
	to[1] = 'x';
	for (unsigned i = 0; i < n; i++)
		to[2 + i] = digits[v >> 4 * (n - 1 - i) & 15];
	s->n += 2 + n;
}

/* n / 10^k as a decimal fraction. If both numbers are exact, reading the text gives the same double
 * as the division: both results are the double nearest to the true quotient. */
static void put_fraction(struct sink *s, uint64_t n, unsigned k)
{
	uint64_t part = n % powers[k];
	value_count(s, n / powers[k]);
	if (!part)
		return;
	char *to = sink_room(s, MOST_DECIMALS + 1);
	to[0] = '.';
	for (unsigned i = k; i > 0; i--, part /= 10)
		to[i] = (char)('0' + part % 10);
	while (to[k] == '0')
		k--;
	s->n += 1 + k;
}

void value_number(struct sink *s, double v)
{
	const double most = (double)powers[MOST_DECIMALS];
	if (v >= 0 && v < (double)EXACT / most) {
		uint64_t n = (uint64_t)(v * most + .5);
		if ((double)n / most == v) {
			put_fraction(s, n, MOST_DECIMALS);
			return;
		}
	}
	s->n += (size_t)snprintf(sink_room(s, 64), 64, "%.17g", v);
}

void value_time(struct sink *s, double ticks, double rate)
{
	unsigned k = 0;
	while (k < MOST_DECIMALS && (double)powers[k] != rate)
		k++;
	if ((double)powers[k] == rate && ticks >= 0 && ticks < (double)EXACT &&
	    ticks == (double)(uint64_t)ticks)
		put_fraction(s, (uint64_t)ticks, k);
	else
		value_number(s, ticks / rate);
}

void value_json(struct sink *s, const struct kin_cell *c, double rate,
		const struct value_json_rules *rules)
{
	switch (c->type) {
	case KIN_CELL_NONE:
		sink_str(s, "null");
		break;
	case KIN_CELL_COUNT:
		value_count(s, c->count);
		break;
	case KIN_CELL_ADDRESS:
		sink_char(s, '"');
		value_address(s, c->count);
		sink_char(s, '"');
		break;
	case KIN_CELL_TIME:
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		if (!isfinite(c->number))
			sink_str(s, "null");
		else if (c->type == KIN_CELL_TIME)
			rules->time(s, c->number, rate);
		else
			rules->number(s, c->number);
		break;
	case KIN_CELL_TEXT:
		json_string(s, c->text);
		break;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		rules->pair(s, c->type, c->pair.a, c->pair.b);
		break;
	}
}

const char *value_row_kind(enum kin_row_kind kind)
{
	switch (kind) {
	case KIN_ROW_PLAIN:
		return "plain";
	case KIN_ROW_CALLER:
		return "caller";
	case KIN_ROW_FUNCTION:
		return "function";
	case KIN_ROW_CALLEE:
		return "callee";
	case KIN_ROW_CYCLE:
		return "cycle";
	case KIN_ROW_MEMBER:
		return "member";
	}
	return "";
}

const char *value_cell_type(enum kin_cell_type type)
{
	switch (type) {
	case KIN_CELL_NONE:
		return "none";
	case KIN_CELL_COUNT:
		return "count";
	case KIN_CELL_TIME:
		return "time";
	case KIN_CELL_SHARE:
		return "share";
	case KIN_CELL_NUMBER:
		return "number";
	case KIN_CELL_ADDRESS:
		return "address";
	case KIN_CELL_TEXT:
		return "text";
	case KIN_CELL_OF:
		return "of";
	case KIN_CELL_PLUS:
		return "plus";
	}
	return "";
}

bool value_is_plain(const struct kin_row *row)
{
	return row->kind == KIN_ROW_PLAIN && !row->depth && !row->group;
}

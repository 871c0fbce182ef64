#include "table/value.h"

#include <stdio.h>

#include "base/num.h"

enum { DOUBLE_EXACT = 1 << 30 }; /* whole numbers to here are taken the fast way */

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

void value_number(struct sink *s, double v)
{
	if (v >= 0 && v < DOUBLE_EXACT && v == (double)(uint64_t)v) {
		value_count(s, (uint64_t)v);
		return;
	}
	s->n += (size_t)snprintf(sink_room(s, 64), 64, "%.17g", v);
}

/* Whole ticks at a rate of 10^k are a decimal fraction of k digits, and reading that gives the
 * same double as the division does: both are the double nearest to the true quotient. */
void value_time(struct sink *s, double ticks, double rate)
{
	static const double powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	unsigned k = 0;
	while (k < ARRAY_LEN(powers) && powers[k] != rate)
		k++;
	if (k == ARRAY_LEN(powers) || !(ticks >= 0 && ticks < DOUBLE_EXACT) ||
	    ticks != (double)(uint64_t)ticks) {
		value_number(s, ticks / rate);
		return;
	}

	uint64_t whole = (uint64_t)ticks / (uint64_t)rate, part = (uint64_t)ticks % (uint64_t)rate;
	value_count(s, whole);
	if (!part)
		return;
	char *to = sink_room(s, 8);
	to[0] = '.';
	for (unsigned i = k; i > 0; i--, part /= 10)
		to[i] = (char)('0' + part % 10);
	while (to[k] == '0')
		k--;
	s->n += 1 + k;
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

/* value.h - cells as text for programs: lossless values for JSON and CSV. */
#ifndef TABLE_VALUE_H
#define TABLE_VALUE_H

#include "base/sink.h"
#include "kin/table.h"

/* The shortest usual form of v that reads back as v, at most "%.17g". The caller handles values
 * that are not finite ("null"). */
void value_number(struct sink *s, double v);
/* ticks / rate, in seconds (or another unit of the table). */
void value_time(struct sink *s, double ticks, double rate);
void value_count(struct sink *s, uint64_t v);
void value_address(struct sink *s, uint64_t v); /* "0x401136" */

/* How to write JSON cells whose form differs between readers; numbers are finite. */
struct value_json_rules {
	void (*time)(struct sink *s, double ticks, double rate);
	void (*number)(struct sink *s, double v); /* also for shares */
	void (*pair)(struct sink *s, enum kin_cell_type type, uint64_t a, uint64_t b);
};
/* Writes "null" for an empty cell. */
void value_json(struct sink *s, const struct kin_cell *c, double rate,
		const struct value_json_rules *rules);

const char *value_row_kind(enum kin_row_kind kind);   /* "caller" */
const char *value_cell_type(enum kin_cell_type type); /* "time" */

/* Whether row has only cells: no kind, depth or group. */
bool value_is_plain(const struct kin_row *row);

#endif

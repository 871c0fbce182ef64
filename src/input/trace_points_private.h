/* trace_points_private.h - one trace point: its fields, and what may be done with its records. */
#ifndef INPUT_TRACE_POINTS_PRIVATE_H
#define INPUT_TRACE_POINTS_PRIVATE_H

#include <traceevent/event-parse.h>

#include "base/arena.h"
#include "base/vec.h"
#include "input/trace_points.h"

enum { TRACE_RECORD_MAX = 1 << 16 }; /* bytes of a record */

struct trace_field {
	const char *name, *declaration;
	uint32_t offset, size;
	bool is_signed, is_array, is_text;
	bool is_dynamic;  /* its offset and length are in the record: __data_loc */
	bool is_relative; /* the offset counts from the end of the field: __rel_loc */
};

struct trace_point {
	struct arena arena;
	uint16_t id;
	const char *name;
	VEC(struct trace_field) fields;
	size_t n_common;   /* the first n_common fields, which all trace points have */
	uint32_t end;      /* where the last field ends */
	const char *print; /* the text after "print fmt:"; NULL: none */
	/* Fields that say how many elements of another are printed: no more than the record has. */
	VEC(const struct trace_field *) counts;
	struct tep_event *event; /* NULL: printed as it was stored */
};

struct trace_value { /* of a field, in a record */
	const uint8_t *bytes;
	size_t n;
};

/* ---- trace_fields.c ---- */

/* Reads the lines of a description. False: they make no sense. */
bool trace_fields_read(struct trace_point *p, const char *text, size_t n);
const struct trace_field *trace_fields_find(const struct trace_point *p, const char *name,
					    size_t n);
/* The description again, from what was read of it; to be freed. */
char *trace_fields_text(const struct trace_point *p);
/* The field's bytes, wherever they lie. False: not in the record. */
bool trace_fields_value(const struct trace_field *f, const uint8_t *raw, size_t size, bool swapped,
			struct trace_value *ret);
uint64_t trace_fields_number(struct trace_value v, bool swapped, bool is_signed);
/* Each as it was stored. */
void trace_fields_print(const struct trace_point *p, const uint8_t *raw, size_t size, bool swapped,
			FILE *out);

/* ---- trace_guard.c: what libtraceevent can be trusted with ---- */

/* Before it parses the description: whether it will come to an end. */
bool trace_guard_text(const struct trace_point *p);
/* Before it prints records by the parsed description, p->event. Sets p->counts. */
bool trace_guard_event(struct trace_point *p);
/* Before it prints this record: whether it lies within TRACE_RECORD_MAX bytes, has all fields, and
 * is of this trace point. */
bool trace_guard_record(const struct trace_point *p, const uint8_t *raw, size_t size, bool swapped);

#endif

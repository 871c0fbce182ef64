/* event_names.h - looks up single event names: in tables, and among the kernel's units and trace
 * points. Each function returns whether it knows the name, and then has set type and config. */
#ifndef RECORD_EVENT_NAMES_H
#define RECORD_EVENT_NAMES_H

#include <stdio.h>

#include "record/events.h"

/* The kernel's generic events, L1-dcache-load-misses and the like, and rHEX. */
bool event_name_find(const char *s, size_t n, struct record_event *e);

/* "0x601040/8:rw", the part after "mem:". */
bool event_name_breakpoint(const char *s, size_t n, struct record_event *e);

/* A unit of /sys/bus/event_source/devices, without any of its terms. */
bool event_name_unit(const char *unit, size_t n, struct record_event *e);
/* Whether the kernel has that unit; false for `cpu` on some machines. */
bool event_name_has_unit(const char *unit, size_t n);
/* A term of that unit: one of its events, or a field of its configuration with a value. */
bool event_name_term(const char *unit, size_t n_unit, const char *term, size_t n, uint64_t value,
		     struct record_event *e);

/* Prints one name a line: of the kernel's generic events, of its units', and of the trace points
 * that may be read. Not each of them exists on each machine. */
void event_names_list(FILE *out);

#endif

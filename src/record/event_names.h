/* event_names.h - what single names of events mean: tables, and what the kernel says of its units
 * and trace points. Each returns whether it knows the name and has filled in type and config. */
#ifndef RECORD_EVENT_NAMES_H
#define RECORD_EVENT_NAMES_H

#include "record/events.h"

/* The kernel's generic events, L1-dcache-load-misses and the like, and rHEX. */
bool event_name_find(const char *s, size_t n, struct record_event *e);

/* "0x601040/8:rw", what is behind "mem:". */
bool event_name_breakpoint(const char *s, size_t n, struct record_event *e);

/* A unit of /sys/bus/event_source/devices, with none of its terms yet. */
bool event_name_unit(const char *unit, size_t n, struct record_event *e);
/* Whether the kernel has it: `cpu` may be asked of without. */
bool event_name_has_unit(const char *unit, size_t n);
/* A term of that unit: one of its events, or a field of its configuration with a value. */
bool event_name_term(const char *unit, size_t n_unit, const char *term, size_t n, uint64_t value,
		     struct record_event *e);

#endif

/* script_fields.h - parses lists of sample fields, in the syntax of perf script -F. */
#ifndef EXPORT_SCRIPT_FIELDS_H
#define EXPORT_SCRIPT_FIELDS_H

#include "profile/profile.h"

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_COUNT = 1 << 7, /* number of equal samples in one record */
	SCRIPT_IP = 1 << 8,
	SCRIPT_SYM = 1 << 9,
	SCRIPT_SYMOFF = 1 << 10,
	SCRIPT_DSO = 1 << 11,
	SCRIPT_SRCLINE = 1 << 12,
	SCRIPT_TRACE = 1 << 13, /* fields of trace points, which then have no period */
	/* Memory accesses, if the data has them (profile/detail.h). */
	SCRIPT_ADDR = 1 << 14,
	SCRIPT_PHYS_ADDR = 1 << 15,
	SCRIPT_WEIGHT = 1 << 16,
	SCRIPT_INS_LAT = 1 << 17,
	SCRIPT_MISC = 1 << 18,  /* the CPU's mode: U, K, g, G, H */
	SCRIPT_FLAGS = 1 << 19, /* flags of branches in hardware traces: samples have none, so the
				   column is empty in text */
	SCRIPT_TOD = 1 << 20,   /* the time of day */
	/* More about memory accesses. */
	SCRIPT_DATA_SRC = 1 << 21,
	SCRIPT_DATA_PAGE_SIZE = 1 << 22,
	SCRIPT_CODE_PAGE_SIZE = 1 << 23,
	/* The CPU's state: registers, and the last branches taken. */
	SCRIPT_IREGS = 1 << 24,
	SCRIPT_UREGS = 1 << 25,
	SCRIPT_BRSTACK = 1 << 26,    /* raw addresses */
	SCRIPT_BRSTACKSYM = 1 << 27, /* functions */
	SCRIPT_BRSTACKOFF = 1 << 28, /* addresses in the files */
	/* The instruction, from the program's file. */
	SCRIPT_INSN = 1 << 29,
	SCRIPT_INSNLEN = 1 << 30,
	/* The source line of the sample, below it; not repeated for the same thread. */
	SCRIPT_SRCCODE = UINT64_C(1) << 31,
	/* Fields of perf script for hardware traces or groups of counters only: samples here have
	 * none. */
	SCRIPT_NOTHING = UINT64_C(1) << 32,
	/* The instructions between the branches, in text; with the length of each. */
	SCRIPT_BRSTACKINSN = UINT64_C(1) << 33,
	SCRIPT_BRSTACKINSNLEN = UINT64_C(1) << 34,
};

/* Fields by type of event (enum event_type); 0: its samples are left out. */
struct script_fields {
	uint64_t of[EVENT_TYPES]; /* enum script_field */
};

/* Parses "comm,tid,time": these fields; "+srcline" adds to the default ones, "-period" removes;
 * "sw:comm,time": for events of a type. Several lists are separated by spaces. NULL: the default.
 * The error lists all names. */
MUST_CHECK struct kin_error *script_fields_read(const char *text, struct script_fields *ret);

/* Whether any event has one of these fields. */
bool script_fields_any(const struct script_fields *f, uint64_t fields);

/* Fields that need details of samples, and those that also need registers and branches. */
#define SCRIPT_OF_STATE                                                                            \
	(SCRIPT_IREGS | SCRIPT_UREGS | SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF |    \
	 SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN)
#define SCRIPT_OF_DETAILS                                                                          \
	(SCRIPT_OF_STATE | SCRIPT_ADDR | SCRIPT_PHYS_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT |       \
	 SCRIPT_DATA_SRC | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE)

#endif

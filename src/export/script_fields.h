/* script_fields.h - which fields of samples are asked for, in the grammar of perf script's -F. */
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
	SCRIPT_COUNT = 1 << 7, /* samples that were alike, and are one record */
	SCRIPT_IP = 1 << 8,
	SCRIPT_SYM = 1 << 9,
	SCRIPT_SYMOFF = 1 << 10,
	SCRIPT_DSO = 1 << 11,
	SCRIPT_SRCLINE = 1 << 12,
	SCRIPT_TRACE = 1 << 13, /* the fields of trace points, which then have no period */
	/* Of accesses to memory, where the data has them (profile/detail.h). */
	SCRIPT_ADDR = 1 << 14,
	SCRIPT_PHYS_ADDR = 1 << 15,
	SCRIPT_WEIGHT = 1 << 16,
	SCRIPT_INS_LAT = 1 << 17,
	SCRIPT_MISC = 1 << 18,  /* the CPU's mode: U, K, g, G, H */
	SCRIPT_FLAGS = 1 << 19, /* of branches in traces by the hardware: samples have none, and an
				 * empty column in text */
	SCRIPT_TOD = 1 << 20,   /* the time of day */
	/* More of accesses. */
	SCRIPT_DATA_SRC = 1 << 21,
	SCRIPT_DATA_PAGE_SIZE = 1 << 22,
	SCRIPT_CODE_PAGE_SIZE = 1 << 23,
	/* The CPU's state: registers, and the branches that it took last. */
	SCRIPT_IREGS = 1 << 24,
	SCRIPT_UREGS = 1 << 25,
	SCRIPT_BRSTACK = 1 << 26,    /* addresses as they were */
	SCRIPT_BRSTACKSYM = 1 << 27, /* functions */
	SCRIPT_BRSTACKOFF = 1 << 28, /* addresses in the files */
	/* Of the instruction, from the program's file. */
	SCRIPT_INSN = 1 << 29,
	SCRIPT_INSNLEN = 1 << 30,
	/* The source line that the sample is in, below it: of a thread not the same one again. */
	SCRIPT_SRCCODE = UINT64_C(1) << 31,
	/* Those of perf script that traces by the hardware or groups of counters have alone: no
	 * sample here has one. */
	SCRIPT_NOTHING = UINT64_C(1) << 32,
	/* The instructions between the branches, in text; with how long each is. */
	SCRIPT_BRSTACKINSN = UINT64_C(1) << 33,
	SCRIPT_BRSTACKINSNLEN = UINT64_C(1) << 34,
};

/* Of events of each type (enum event_type); 0: their samples are left out. */
struct script_fields {
	uint64_t of[EVENT_TYPES]; /* enum script_field */
};

/* "comm,tid,time": these; "+srcline" adds to the usual ones, "-period" takes away; "sw:comm,time":
 * of events of a type. Several of these, one after the other, have a space between two. NULL: the
 * usual ones. The error lists all names. */
MUST_CHECK struct kin_error *script_fields_read(const char *text, struct script_fields *ret);

/* Whether any event's are among these. */
bool script_fields_any(const struct script_fields *f, uint64_t fields);

/* Fields that need details of samples, and those that need their registers and branches, too. */
#define SCRIPT_OF_STATE                                                                            \
	(SCRIPT_IREGS | SCRIPT_UREGS | SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF |    \
	 SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN)
#define SCRIPT_OF_DETAILS                                                                          \
	(SCRIPT_OF_STATE | SCRIPT_ADDR | SCRIPT_PHYS_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT |       \
	 SCRIPT_DATA_SRC | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE)

#endif

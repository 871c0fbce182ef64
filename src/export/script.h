/* script.h - the samples themselves, one after the other: as perf script prints them, or as JSON.
 *
 *	comm TID [CPU] SECONDS.MICROSECONDS: PERIOD EVENT:
 *		         ADDRESS FUNCTION+0xOFFSET (OBJECT)
 *		...
 *
 * leaf first, functions that were inlined before the one they are in, an empty line behind. Of
 * events without stacks it is one line, and comm 16 wide. What
 * the data does not say is left out, but for the time, which readers of the format expect: 0.
 * Addresses are those in the object. Registers, branches and the like follow the frames.
 *
 * Markers (kin record --mark) are lines between samples, "# marker SECONDS.MICROSECONDS: NAME".
 *
 * JSON: {"events": [...], "samples": [...]}, and "markers" where there are some; a sample per line
 *with its frames, leaf first. */
#ifndef EXPORT_SCRIPT_H
#define EXPORT_SCRIPT_H

#include <stdio.h>

#include "profile/sample_filter.h"
#include "symbolize/program.h"

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

struct script_opts {
	struct script_fields fields;
	bool json;
	bool nanoseconds;      /* nine digits of the time */
	bool relative, delta;  /* times since the first sample, or the one before */
	unsigned max_stack;    /* frames; 0: all */
	bool no_frames;        /* not one of them */
	bool leaves;           /* one, and as if there were no others */
	bool no_inlines;       /* frames that the data calls inlined are left out */
	bool whole_paths;      /* of sources, not only the name of the file */
	const char *stop_at;   /* "f,g": no frames behind one of these; NULL: all */
	const char *objects;   /* "libc.so.6": only samples taken in these; NULL: all */
	const char *functions; /* "f,g": likewise */
	const char *event;     /* of that name only; NULL: all */
	const struct sample_filter *filter; /* NULL: all */
	/* A line of a source, from 1, without what ends it, and valid until the next call; false if
	 * it is not at hand. NULL: none is. */
	bool (*source)(void *arg, const char *file, uint32_t line, const uint8_t **ret, size_t *n);
	void *arg;
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
					  const struct script_opts *opts);

#endif

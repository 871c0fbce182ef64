/* recording_audit.h - how far a recording is to be trusted. */
#ifndef RECORD_RECORDING_AUDIT_H
#define RECORD_RECORDING_AUDIT_H

#include "base/base.h"

enum { AUDIT_OBJECTS = 5 };

struct record_audit {
	uint64_t samples, duration_ns;
	uint64_t cpu_ns;     /* by the kernel's accounting, of everything recorded */
	uint64_t sampled_ns; /* what samples stand for; 0 if the first event is no clock */
	uint64_t unseen_ns;  /* of it, where the kernel let nothing be sampled */
	bool is_clock, user_only;
	bool inside;       /* by the runtime, not by the kernel's samples */
	unsigned asked_hz; /* samples per second of CPU time that were asked for; 0: not said */
	uint64_t lost, throttled;
	char trouble[240]; /* what went wrong while it was recorded, in words; or "" */
	uint64_t stacks, complete, guesses, cut; /* of user stacks */
	uint64_t frames, guessed;                /* by frame pointers */
	uint64_t processes, threads;
	uint64_t preemptions, switches;
	bool has_switches;
	uint64_t blocked_ns, waiting_ns; /* with wall time */
	uint64_t file_size;
	uint64_t names_size;   /* of names that were put behind that since */
	uint64_t file_fixed;   /* of file_size, what is there without samples */
	uint64_t own_cpu_ns;   /* of the recorder */
	uint64_t own_fixed_ns; /* of it, to begin and to end */
	struct {
		char *name; /* to be freed */
		uint64_t failures;
	} object[AUDIT_OBJECTS]; /* where stacks ended too early: most first */
};

/* Whether something is missing that need not be. */
bool record_audit_is_bad(const struct record_audit *a);
/* Of that alone, as lines, to be freed. */
char *record_audit_losses(const struct record_audit *a);
/* As lines, to be freed: where it is, then how far it is to be trusted; `more`: and what it took.
 */
char *record_audit_text(const struct record_audit *a, const char *output, bool more);
void record_audit_done(struct record_audit *a);

#endif

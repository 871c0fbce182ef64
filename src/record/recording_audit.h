/* recording_audit.h - the quality of a recording. */
#ifndef RECORD_RECORDING_AUDIT_H
#define RECORD_RECORDING_AUDIT_H

#include "base/base.h"

enum { AUDIT_OBJECTS = 5 };

struct record_audit {
	uint64_t samples, duration_ns;
	uint64_t on_ns; /* the part of duration_ns in which events were on (-D, --control) */
	uint64_t all_samples, written; /* on and off a CPU; set only if some could not be written */
	uint64_t cpu_ns;               /* by the kernel's accounting, for everything recorded */
	uint64_t sampled_ns; /* the part of cpu_ns that samples represent; 0 if the first event is
				no clock */
	uint64_t unseen_ns;  /* the part of cpu_ns that the kernel did not let us sample */
	bool is_clock, user_only;
	bool inside;       /* sampled by the runtime instead of the kernel */
	bool by_pointers;  /* stacks were walked by frame pointers alone, as requested */
	unsigned asked_hz; /* requested samples per second of CPU time; 0: not known */
	uint64_t lost, throttled;
	char trouble[240]; /* the first error while recording, in words; or "" */
	uint64_t stacks, complete, guesses, cut; /* numbers of user stacks */
	uint64_t beyond; /* those of `cut` that went beyond what the kernel copied of them */
	bool check;      /* some stacks were walked by frame pointers, too */
	uint64_t checked, contradicted; /* those that have any, and those that differ */
	uint64_t frames, guessed; /* frames, and those of them that were found by frame pointers */
	uint64_t processes, threads;
	uint64_t outside; /* samples of processes outside of our PID namespace */
	uint64_t preemptions, switches;
	bool has_switches;
	uint64_t blocked_ns, waiting_ns; /* with wall time */
	uint64_t file_size;              /* 0: not known, as for a pipe */
	uint64_t names_size;             /* bytes of names that were appended later */
	uint64_t file_fixed;             /* the part of file_size that does not depend on samples */
	uint64_t own_cpu_ns;             /* CPU time of the recorder */
	uint64_t own_fixed_ns;           /* the part of own_cpu_ns for start and end */
	struct {
		char *name; /* to be freed */
		uint64_t failures;
	} object[AUDIT_OBJECTS]; /* objects where stacks ended too early, most first */
};

/* The part of the CPU time that nothing measured; 0 if it is not clearly more than the start and
 * end of processes take. */
uint64_t record_audit_unseen(uint64_t used_ns, uint64_t measured_ns);
/* Whether there are avoidable losses. */
bool record_audit_is_bad(const struct record_audit *a);
/* Only the losses, as lines of text; to be freed. */
char *record_audit_losses(const struct record_audit *a);
/* Lines of text, to be freed: the name of the file, then its quality; with `more`, also the costs.
 */
char *record_audit_text(const struct record_audit *a, const char *output, bool more);
void record_audit_done(struct record_audit *a);

#endif

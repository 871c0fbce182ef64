/* session.h - one recording while it runs: what record.c and session.c share. */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include "formats/kin/kin_write.h"
#include "record/markers.h"
#include "record/parts.h"
#include "record/record.h"
#include "record/recording.h"
#include "record/rings.h"
#include "record/target.h"
#include "record/wall.h"

struct session {
	const struct record_opts *opts;
	struct record_result *result;
	struct record_events events;
	struct gate *gate;       /* NULL: always open */
	struct markers *markers; /* NULL: only --control names moments */
	int cgroup_fd;           /* -1: none */
	const char *instead; /* what the machine could not count, and something else was; or NULL */
	bool user_only, exact_switches;
	struct signals signals;
	struct target target;
	struct rings *rings;
	struct modules *modules;
	struct spaces *spaces;
	struct jit *jit;
	struct kernel *kernel;
	struct unwinding *unwinding;
	struct recording *recording;
	struct wall *wall;
	struct parts *parts;             /* NULL: one file */
	struct kinfile_writer_opts file; /* how each is opened, but for the time */
	char job[64];                    /* of which it is: file.job */
	struct part_begin {              /* totals when the file at hand began */
		uint64_t time_ns, cpu_ns, sampled_ns, lost, throttled, switches, preemptions;
	} begin;
	bool has_file;               /* the one at hand has the output's name */
	bool switch_now;             /* somebody said so */
	uint32_t *event_ids;         /* in the file, by index of events */
	struct thread_list followed; /* threads that were attached to */
	VEC(struct named_moment)
	moments;              /* that are to be written, where samples are kept in memory */
	unsigned n_signalled; /* moments that are named by a number */
	bool looked_again;    /* for threads that had begun meanwhile */
	uint64_t start_ns, deadline_ns, ticked_ns, shown_ns;
	uint64_t used_ns, switched, preempted; /* of programs that ended, by wait() */
	uint64_t samples, sampled_ns, lost_written, throttled;
	unsigned interrupts;
	int stopped_by; /* a signal; 0: none */
	bool stop;
	struct kin_error *trouble; /* the first; the recording goes on */
	struct unwound stack;
	VEC(struct stack_frame) places; /* that the details of the sample at hand name */
};

/* Opens the next file; what is kept in memory goes to none yet. */
struct kin_error *session_open_file(struct session *s, struct kinfile_writer **ret)
	__attribute__((warn_unused_result));
/* Everything is open and nothing runs yet. */
void session_begin(struct session *s);
/* Until the program and all that it started are gone, or somebody says stop. */
void session_run(struct session *s);
/* Closes the files and fills in the audit. */
void session_end(struct session *s);

#endif

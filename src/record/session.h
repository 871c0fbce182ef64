/* session.h - the state of one recording, shared by record.c and session.c. */
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
	struct markers *markers; /* NULL: only the command "mark" of --control sets markers */
	int cgroup_fd;           /* -1: none */
	const char *instead;     /* a missing event that was replaced; NULL: none */
	bool user_only, exact_switches, may_use_cpus;
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
	struct kinfile_writer_opts file; /* options of each file, except for the time */
	char job[64];                    /* id of the parallel job: file.job */
	struct part_begin {              /* totals at the start of the current file */
		uint64_t time_ns, cpu_ns, sampled_ns, lost, throttled, switches, preemptions,
			checked, contradicted;
	} begin;
	bool has_file;               /* the current file has the output's name */
	bool switch_now;             /* a new file was requested */
	uint32_t *event_ids;         /* ids in the file, by index of events */
	struct thread_list followed; /* threads that were attached to */
	VEC(struct named_moment)
	moments;              /* markers still to be written, if samples are kept in memory */
	unsigned n_signalled; /* number of markers set by signals, which get a number as name */
	bool looked_again;    /* looked again for threads that began meanwhile */
	uint64_t start_ns, deadline_ns, ticked_ns, shown_ns;
	uint64_t used_ns, switched, preempted; /* totals of ended programs, from wait() */
	uint64_t samples, outside, sampled_ns, lost_written, throttled;
	struct session_window { /* what came since time_ns; see watch_tasks(), watch_rate() */
		uint64_t time_ns, samples, ended, sampled_ns, cpu_ns;
	} tasks, rate, accounted; /* accounted: all so far, as of one moment */
	uint64_t ended; /* tasks */
	unsigned interrupts;
	int stopped_by; /* signal; 0: none */
	bool stop;
	struct kin_error *trouble; /* the first error; the recording goes on */
	struct unwound stack;
	VEC(struct stack_frame) places; /* frames named by the details of the current sample */
};

/* Opens the next file; samples kept in memory are not written to it yet. */
struct kin_error *session_open_file(struct session *s, struct kinfile_writer **ret)
	__attribute__((warn_unused_result));
/* Call it when everything is open and nothing runs yet. */
void session_begin(struct session *s);
/* Runs until the program and all that it started are gone, or something stops it. */
void session_run(struct session *s);
/* Closes the files and fills in the audit. */
void session_end(struct session *s);

#endif

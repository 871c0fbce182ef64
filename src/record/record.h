/* record.h - records what programs do: the kernel's samples, with whole stacks, into a .kin file.
 *
 *	struct record_opts opts = { .argv = argv, .output = "profile.kin", .say = say };
 *	struct record_result result;
 *	err = record(&opts, &result, &not_executed);
 *	... an error: nothing was started. Else result.status is the program's ...
 *
 * Once the program runs it goes on running, whatever becomes of the recording. */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <signal.h>
#include <sys/types.h>

#include "record/audit.h"
#include "record/events.h"
#include "record/unwinding.h"

struct kin_error;
struct recorded_sample;

struct watched_name {       /* of a frame */
	const char *name;   /* NULL: to be found in its module's file, or nowhere */
	const char *module; /* of the kernel, without brackets; NULL: the kernel itself, or no part
			       of it */
};

/* Somebody who looks at samples as they come, in the thread that records. */
struct record_watch {
	void (*begun)(void *arg); /* what is asked for is being recorded; or NULL */
	/* names[i] is that of frame i where it is in no module's file (the kernel, code made at run
	 * time). Nothing lives longer than the call. */
	void (*sample)(void *arg, const struct recorded_sample *s,
		       const struct watched_name *names);
	/* Several times a second, with what the kernel has lost so far. True: end the recording. */
	bool (*tick)(void *arg, uint64_t lost);
	sigset_t signals; /* what a program that is started has blocked; all but those that say
			   * that it ended are left to the others of the process */
	void *arg;
};

struct record_opts {
	const char
		*events; /* as record_events_parse() wants them; NULL: cycles, or the CPU clock */
	uint64_t frequency; /* samples per second of CPU time; 0: 999, if period is 0, too */
	uint64_t period;    /* or one each so many */
	enum unwinding_mode mode;
	/* What: a program, */
	char *const *argv; /* NULL-terminated; NULL: no program */
	unsigned runs;     /* one after the other; 0: one */
	/* processes with all their threads, single threads, */
	const pid_t *pids, *tids;
	size_t n_pids, n_tids;
	bool everything;      /* or all that runs on the machine. With argv: as long as that runs */
	uint64_t duration_ns; /* 0: until it ends, or a signal */
	bool wall;            /* time that threads did not run, too */
	const char *output;   /* NULL: no file */
	const char *perf_data;            /* written besides; NULL: none */
	const struct record_watch *watch; /* NULL: none */
	/* A line for people, when it happens. */
	void (*say)(const char *line);
};

struct record_result {
	bool ended;     /* the program did */
	int stopped_by; /* it did not, since this signal came a second time; 0: for other reasons */
	int status;     /* as of wait(); of the last run that failed, or else of the last one */
	bool recorded, finished; /* there is a file; it has everything in it */
	struct record_audit audit;
};

/* Errors: nothing was started. KIN_ERROR_OS with EACCES or EPERM: the kernel lets this user sample
 * nothing; of ENOENT, EACCES ... for the program itself *not_executed is set. */
struct kin_error *record(const struct record_opts *opts, struct record_result *ret,
			 bool *not_executed) __attribute__((warn_unused_result));

/* What to do about it, in one line, where the kernel lets us sample nothing; to be freed. */
char *record_remedy(const struct record_opts *opts);

#endif

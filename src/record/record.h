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

#include "record/events.h"
#include "record/gate.h"
#include "record/parts.h"
#include "record/recording_audit.h"
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
	 * time). Nothing lives longer than the call. Or NULL. */
	void (*sample)(void *arg, const struct recorded_sample *s,
		       const struct watched_name *names);
	/* Several times a second, with what the kernel has lost so far. True: end the recording. */
	bool (*tick)(void *arg, uint64_t lost);
	sigset_t signals; /* what a program that is started has blocked; all but those that say
			   * that it ended are left to the others of the process */
	void *arg;
};

struct record_seen { /* so far */
	uint64_t time_ns, samples, lost, processes, threads;
};

struct record_opts {
	const char
		*events; /* as record_events_parse() wants them; NULL: cycles, or the CPU clock */
	uint64_t frequency; /* samples per second of CPU time; 0: 999, if period is 0, too */
	uint64_t period;    /* or one each so many */
	enum unwinding_mode mode;
	uint32_t stack_bytes; /* of stacks, copied with each sample; 0: as it fits */
	bool exact;           /* clocks keep to their period: see rings_opts.spread */
	bool strict_rate;     /* a frequency that the kernel does not permit is an error, and not
			       * lowered
			       */
	bool all_user, all_kernel;          /* all events count there alone */
	bool user_chains, kernel_chains;    /* of stacks this part alone, and the place itself */
	bool one_group;                     /* they are counted together */
	const struct rings_filter *filters; /* of trace points in `events` */
	size_t n_filters;
	size_t buffer_bytes; /* of each CPU; 0: as large as may be */
	size_t table_bytes;  /* of unwind tables in memory; 0: 64 MiB */
	struct wanted_details wanted;
	/* What: a program, */
	char *const *argv; /* NULL-terminated; NULL: no program */
	unsigned runs;     /* one after the other; 0: one */
	/* processes with all their threads, single threads, with argv as long as that runs, */
	const pid_t *pids, *tids;
	size_t n_pids, n_tids;
	bool everything;    /* or all that runs on the machine. With argv: as long as that runs */
	bool no_inherit;    /* not what these start */
	const int *cpus;    /* on these alone; */
	size_t n_cpus;      /* 0: on all */
	const char *cgroup; /* with `everything`: in this control group alone; NULL: all */
	bool not_self;      /* no samples of the recorder itself */
	bool markers;       /* SIGUSR2 and other processes (markers.h) name moments */
	struct gate_opts gate; /* when; all zero: from the beginning to the end */
	uint64_t duration_ns;  /* 0: until it ends, or a signal */
	bool wall;             /* time that threads did not run, too */
	int output_pipe;       /* written to in place of `output`, and closed at the end; 0: none */
	const char *output;    /* NULL: no file */
	uint64_t max_bytes;    /* of it: then the recording ends; 0: no limit */
	int compression;       /* of it, as zstd counts; 0: the fastest */
	struct parts_opts parts;          /* `output` is a series of files; all zero: it is one */
	bool hold_files;                  /* for names, which are made at the end */
	const struct record_watch *watch; /* NULL: none */
	/* About once a second, in the thread that records; must not take long. NULL: nobody asks.
	 */
	void (*seen)(void *arg, const struct record_seen *now);
	void *seen_arg;
	/* A line for people, when it happens. */
	void (*say)(const char *line);
};

/* Whether the program only says how long others are recorded. */
static inline bool record_is_apart(const struct record_opts *o)
{
	return o->argv && (o->everything || o->n_pids || o->n_tids);
}

struct record_result {
	bool ended;     /* the program did */
	int stopped_by; /* it did not, since this signal came a second time; 0: for other reasons */
	int status;     /* as of wait(); of the last run that failed, or else of the last one */
	bool recorded, finished; /* there is a file; it has everything in it */
	size_t n_parts;          /* files of a series */
	struct record_audit audit;
	struct held_files held; /* with hold_files: what was mapped; held_files_done() */
};

/* Errors: nothing was started, and this process is as it was. KIN_ERROR_OS with EACCES or EPERM:
 * the kernel lets this user sample nothing; of ENOENT, EACCES ... for the program itself
 * *not_executed is set. */
struct kin_error *record(const struct record_opts *opts, struct record_result *ret,
			 bool *not_executed) __attribute__((warn_unused_result));

/* Whether the events make sense, with nothing started. */
struct kin_error *record_check(const struct record_opts *opts) __attribute__((warn_unused_result));

/* The most samples per second that the kernel permits; 0: not known. */
uint64_t record_max_rate(void);

/* What to do about it, in one line, where the kernel lets us sample nothing; to be freed. */
char *record_remedy(const struct record_opts *opts);

#endif

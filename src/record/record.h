/* record.h - records the kernel's samples of programs, with whole stacks, into a .kin file.
 *
 *	struct record_opts opts = { .argv = argv, .output = "profile.kin", .say = say };
 *	struct record_result result;
 *	err = record(&opts, &result, &not_executed);
 *	... an error: nothing was started. Else result.status is the program's ...
 *
 * Once the program runs it goes on running, even if the recording fails. */
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
struct walked_sample;

struct watched_name {       /* name of a frame */
	const char *name;   /* NULL: look it up in the module's file */
	const char *module; /* module of the kernel, without brackets; NULL: the kernel itself, or
			       not in the kernel */
};

struct record_seen { /* progress so far */
	uint64_t time_ns, samples, lost, processes, threads;
	/* CPU time by the kernel's accounting, and the part of it that samples stand for; 0: not
	 * known, as of the whole machine, or of an event that is no clock. */
	uint64_t cpu_ns, sampled_ns;
};

/* Callbacks that see samples as they come, in the recording thread. */
struct record_watch {
	void (*begun)(void *arg); /* recording has begun; or NULL */
	/* names[i] belongs to frame i if its name is in no module's file (the kernel, JIT code).
	 * Nothing lives longer than the call. Or NULL. */
	void (*sample)(void *arg, const struct walked_sample *s, const struct watched_name *names);
	/* Several times a second. True: end the recording. */
	bool (*tick)(void *arg, const struct record_seen *now);
	sigset_t signals; /* the signals that a started program has blocked; this process handles
			     all signals itself except those that say that the program ended */
	void *arg;
};

struct record_opts {
	const char *events; /* for record_events_parse(); NULL: cycles, or the CPU clock */
	uint64_t frequency; /* samples per second of CPU time; 0: 999, if period is 0, too */
	uint64_t period;    /* events per sample, instead of a frequency */
	enum unwinding_mode mode;
	bool check;           /* some stacks are walked in two ways */
	uint32_t stack_bytes; /* bytes of stack copied with each sample; 0: as many as fit */
	bool exact;           /* clocks keep their period: see rings_opts.spread */
	bool strict_rate;     /* a frequency above the kernel's limit is an error; otherwise it is
				 lowered */
	bool all_user, all_kernel;          /* all events count only there */
	bool user_chains, kernel_chains;    /* record only this part of stacks, and the leaf */
	bool one_group;                     /* all events are one group */
	const struct rings_filter *filters; /* filters of trace points in `events` */
	size_t n_filters;
	size_t buffer_bytes; /* ring buffer of each CPU; 0: as large as permitted */
	size_t table_bytes;  /* of unwind tables in memory; 0: 64 MiB */
	struct wanted_details wanted;
	/* The target: a program, */
	char *const *argv; /* NULL-terminated; NULL: no program */
	unsigned runs;     /* repetitions, one after the other; 0: one */
	/* processes with all their threads, single threads (argv limits the time), */
	const pid_t *pids, *tids;
	size_t n_pids, n_tids;
	bool everything;    /* or the whole machine, for as long as argv runs if there is one */
	bool no_inherit;    /* do not follow tasks that these start */
	const int *cpus;    /* only on these CPUs; */
	size_t n_cpus;      /* 0: all CPUs */
	const char *cgroup; /* with `everything`: only this control group; NULL: all */
	bool not_self;      /* no samples of the recorder itself */
	bool no_idle; /* with `everything`: no samples of processors that have nothing to do */
	bool markers; /* SIGUSR2 and other processes (markers.h) set markers */
	struct gate_opts gate; /* when samples are taken; all zero: all the time */
	uint64_t duration_ns;  /* 0: until the target ends, or a signal comes */
	bool wall;             /* also record time that threads did not run */
	int output_pipe; /* write to this descriptor instead of `output` and close it at the end; 0:
			    none */
	const char *output;      /* path of the file; NULL: no file */
	uint64_t max_bytes;      /* size of the file at which the recording ends; 0: no limit */
	int compression;         /* zstd level; 0: the fastest */
	struct parts_opts parts; /* for a series of files; all zero: one file */
	bool hold_files;         /* keep mapped files open, for names at the end */
	const struct record_watch *watch; /* NULL: none */
	/* Called about once a second in the recording thread; must not take long. May be NULL. */
	void (*seen)(void *arg, const struct record_seen *now);
	void *seen_arg;
	/* Prints a line for the user, as it happens. */
	void (*say)(const char *line);
};

/* True if the program is not recorded itself, but only limits the time of recording. */
static inline bool record_is_apart(const struct record_opts *o)
{
	return o->argv && (o->everything || o->n_pids || o->n_tids);
}

struct record_result {
	bool ended;     /* the program has ended */
	int stopped_by; /* the signal that came a second time and stopped the recording, with the
			   program still running; 0: other reasons */
	int status;     /* by wait(): of the last run that failed, or of the last run */
	bool recorded, finished; /* there is a file; it is complete */
	size_t n_parts;          /* files in the series */
	struct record_audit audit;
	struct held_files
		held; /* with hold_files: the mapped files; to be freed by held_files_done() */
};

/* On an error nothing was started, and this process is unchanged. KIN_ERROR_OS with EACCES or
 * EPERM: the kernel lets this user sample nothing. *not_executed is set if ENOENT, EACCES etc.
 * concern the program itself. */
struct kin_error *record(const struct record_opts *opts, struct record_result *ret,
			 bool *not_executed) __attribute__((warn_unused_result));

/* Whether the events are valid, without starting anything. */
struct kin_error *record_check(const struct record_opts *opts) __attribute__((warn_unused_result));

/* The kernel's limit of samples per second; 0: not known. */
uint64_t record_max_rate(void);

/* What to do, in one line, if the kernel lets us sample nothing; to be freed. */
char *record_remedy(const struct record_opts *opts);

#endif

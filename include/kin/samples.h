/* samples.h - iterates over the samples of a profile.
 *
 * A sample is a thread, its stack, the time, and a weight: the amount it represents, in the unit of
 * its event. Events, threads, objects, stacks, locations and functions have ids, which are small
 * numbers. A stack is a location and the stack of the caller. A location is an address in an
 * object; its lines are the function and source line there, and the functions inlined there.
 *
 *	struct kin_samples *s;
 *	const struct kin_sample *x;
 *	struct kin_error *err = kin_samples_new(profile, &s);
 *	while (!err && (x = kin_samples_next(s)))
 *		for (uint32_t at = x->stack; at; at = kin_samples_stack(s, at)->caller)
 *			... kin_samples_stack(s, at)->location ...
 *
 * Names are looked up lazily: programs are opened when the first line or function is requested, and
 * each location is looked up once.
 *
 * The library owns the structs, and later versions may append members: read them through the
 * pointers that these functions return. Pointers live as long as the struct kin_samples unless a
 * comment says otherwise. Strings may hold any bytes but NUL; they are never NULL, and "" if
 * unknown. Filters and the treatment of inlined functions are those of kin_profile_open(). */
#ifndef KIN_SAMPLES_H
#define KIN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kin/kin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kin_samples;

/* ---- what samples refer to ---- */

enum kin_event_kind {
	KIN_EVENT_ON_CPU,  /* the program ran on a CPU */
	KIN_EVENT_BLOCKED, /* time asleep */
	KIN_EVENT_WAITING, /* time runnable, waiting for a CPU */
};

struct kin_event {        /* what the weights of samples count */
	const char *name; /* "cpu-clock", "cycles", "blocked" */
	const char *unit; /* "ns", or "" for a number of events */
	enum kin_event_kind kind;
	uint64_t period;    /* requested period, in the unit; 0: not sampled by period */
	uint64_t frequency; /* requested samples per second; 0: not sampled by frequency */
	bool counts_time;   /* on a CPU, as time or in cycles: reports of time show the first one */
};

struct kin_thread {                /* a thread while it had one name; thread 0 is the unknown one */
	const char *name;          /* of the thread, or of its command */
	uint32_t pid, tid;         /* 0: not known */
	uint32_t run;              /* the number of the program's repetition in this recording, from
				      0 */
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
	uint32_t rank;             /* rank + 1 of its process in a parallel job; 0: none */
	const char *command; /* name of the process's first thread when this thread ended, or at the
				end; equals `name` if not known */
};

enum kin_object_kind {
	KIN_OBJECT_FILE,   /* a program or library */
	KIN_OBJECT_KERNEL, /* the kernel, or a module of it */
	KIN_OBJECT_VDSO,   /* code that the kernel maps into every process */
	KIN_OBJECT_JIT,    /* JIT code */
	KIN_OBJECT_OTHER,  /* no file: "[heap]", "[unknown]" */
};

struct kin_object {           /* object 0 is the unknown one */
	const char *path;     /* "/usr/bin/make" */
	const char *build_id; /* hexadecimal */
	enum kin_object_kind kind;
	bool is_main;       /* the executable of a process, as far as the data says */
	uint64_t low, high; /* all its addresses in the samples are in [low, high); both 0: none */
};

struct kin_function {
	const char *name;         /* human-readable: demangled */
	const char *linkage_name; /* linker symbol */
	const char *file; /* source file; "" for a function that is only ever inlined, until a line
			     of it was requested */
	uint32_t line;    /* first line in `file`; 0: not known */
	uint32_t object;
	uint64_t address; /* start address in the object; 0: not known, or the function is only
			     inlined */
	bool is_unnamed;  /* code without a symbol: `name` only says which object it is in */
};

struct kin_line {
	uint32_t function;
	uint32_t line;    /* 0: not known */
	const char *file; /* the source file of `line` */
	bool is_inlined;  /* inlined into the function of the location's next line, or into the
			     caller */
};

struct kin_location {     /* location 0 is none */
	uint64_t address; /* link-time (ELF virtual) address in the object, or the run-time address
			     if that is not known; 0: not known */
	uint32_t object;
	bool is_return; /* return address: the call is before it */
	bool is_kernel;
};

struct kin_stack {       /* stack 0 is empty */
	uint32_t caller; /* the stack without its innermost location; smaller than its own id */
	uint32_t location;
	bool caller_is_guessed; /* found by a heuristic */
};

struct kin_recording {          /* a file that was read */
	const char *path;       /* path as given; "-": standard input */
	const char *host;       /* machine that recorded it; "": the file does not say */
	uint64_t start_ns;      /* start, on the clock of its samples; 0: not known */
	uint64_t start_time_ns; /* start since 1970, UTC; 0: not known */
	const char *rank, *job; /* from the environment of the parallel job; "": none */
	const char *kernel;     /* kernel release, as in uname -r; "": the file does not say */
	const char *command;    /* the recorded command; "": none, or the file does not say */
};

struct kin_sample {
	uint32_t event, thread, stack;
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint64_t weight;  /* in the event's unit */
	uint64_t count;   /* number of equal samples that were merged into this one; at least 1 */
	uint64_t time_ns; /* on the recording's clock; 0: not known, or samples of several times
			     were merged */
	bool is_cut;      /* the stack could not be walked to its outermost function */
	bool is_guessed;  /* some callers were found by a heuristic */
	uint32_t recording;
};

/* ---- iteration ---- */

/* Keeps the profile alive, so the caller may free the profile first. Succeeds for a profile without
 * samples. */
KIN_API KIN_MUST_CHECK struct kin_error *kin_samples_new(struct kin_profile *profile,
							 struct kin_samples **ret);
KIN_API void kin_samples_free(struct kin_samples *s); /* NULL is fine */

/* The next sample, by file and then in the file's order, which is by time if samples have times.
 * Valid until the next call. NULL: there are no more. */
KIN_API const struct kin_sample *kin_samples_next(struct kin_samples *s);
KIN_API void kin_samples_rewind(struct kin_samples *s);
/* From now on, notes on stacks are locations, as in folded stacks: "[cut]" in place of unknown
 * callers, "[guessed]" between a function and callers found by a heuristic. They have a function of
 * that name, and neither an address nor an object. Call it before the first sample. */
KIN_API void kin_samples_show_marks(struct kin_samples *s);
KIN_API size_t kin_samples_n(const struct kin_samples *s);

/* Numbers of items of each kind; ids are smaller than these. */
KIN_API size_t kin_samples_n_recordings(const struct kin_samples *s);
KIN_API size_t kin_samples_n_events(const struct kin_samples *s);
KIN_API size_t kin_samples_n_threads(const struct kin_samples *s);
KIN_API size_t kin_samples_n_objects(const struct kin_samples *s);
KIN_API size_t kin_samples_n_stacks(const struct kin_samples *s);
KIN_API size_t kin_samples_n_locations(const struct kin_samples *s);
/* Grows: functions get ids when lines are requested. */
KIN_API size_t kin_samples_n_functions(const struct kin_samples *s);

/* For an id that does not exist these return the unknown (empty) item. */
KIN_API const struct kin_recording *kin_samples_recording(struct kin_samples *s,
							  uint32_t recording);
KIN_API const struct kin_event *kin_samples_event(struct kin_samples *s, uint32_t event);
KIN_API const struct kin_thread *kin_samples_thread(struct kin_samples *s, uint32_t thread);
KIN_API const struct kin_object *kin_samples_object(struct kin_samples *s, uint32_t object);
/* Valid until the next stack or location is requested. */
KIN_API const struct kin_stack *kin_samples_stack(struct kin_samples *s, uint32_t stack);
KIN_API const struct kin_location *kin_samples_location(struct kin_samples *s, uint32_t location);
/* The functions at a location, innermost first: those inlined there, then the one they are in; *n
 * of them, at least 1 except for location 0. The first call opens the objects and reads their
 * symbols; source lines are read for requested locations only. */
KIN_API const struct kin_line *kin_samples_lines(struct kin_samples *s, uint32_t location,
						 size_t *n);
KIN_API const struct kin_function *kin_samples_function(struct kin_samples *s, uint32_t function);

/* Why requested names are missing; NULL if all went well. Call it at the end; valid as long as s.
 * Files that are gone or were rebuilt are not errors but warnings of the profile. */
KIN_API const struct kin_error *kin_samples_error(const struct kin_samples *s);

#ifdef __cplusplus
}
#endif

#endif

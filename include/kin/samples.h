/* samples.h - going through the samples of a profile, one by one.
 *
 * A sample says that at some time a thread was at some stack, and what that stands for: its weight.
 * What samples refer to has ids, small numbers: events, threads, objects, stacks, locations and
 * functions. A stack is a location and the stack of the caller; a location is an address in an
 * object; its lines say which function of which source line that is, and which functions were
 * inlined there.
 *
 *	struct kin_samples *s;
 *	const struct kin_sample *x;
 *	struct kin_error *err = kin_samples_new(profile, &s);
 *	while (!err && (x = kin_samples_next(s)))
 *		for (uint32_t at = x->stack; at; at = kin_samples_stack(s, at)->caller)
 *			... kin_samples_stack(s, at)->location ...
 *
 * Nothing is looked up before it is asked for: who asks for no names opens no program. Names come
 * with the first line or function that is asked for, each location once.
 *
 * The structs are the library's: they may get more members at their end, and are read through the
 * pointers that these functions return, which live as long as the struct kin_samples unless they
 * say otherwise. Texts hold any bytes but NUL; they are never NULL, and "" where nothing is known.
 * Which samples there are, and whether inlined functions are functions of their own, is decided
 * when the profile is opened (struct kin_open_opts). */
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
	KIN_EVENT_ON_CPU,  /* what the program did */
	KIN_EVENT_BLOCKED, /* time asleep */
	KIN_EVENT_WAITING, /* time runnable, waiting for a CPU */
};

struct kin_event {        /* what weights count */
	const char *name; /* "cpu-clock", "cycles", "blocked" */
	const char *unit; /* "ns", or "" for a number of events */
	enum kin_event_kind kind;
	uint64_t period;    /* in the unit, as asked for; 0: not by period */
	uint64_t frequency; /* samples per second, as asked for; 0: not by frequency */
};

struct kin_thread { /* a thread for as long as it had one name; thread 0 is the one not known */
	const char *name;          /* of the thread, or of its command */
	uint32_t pid, tid;         /* 0: not known */
	uint32_t run;              /* of several in one recording, from 0 */
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
	uint32_t rank;             /* of its process in a parallel job, + 1; 0: of none */
};

enum kin_object_kind {
	KIN_OBJECT_FILE,   /* a program or library */
	KIN_OBJECT_KERNEL, /* the kernel, or a module of it */
	KIN_OBJECT_VDSO,   /* code that the kernel maps into every process */
	KIN_OBJECT_JIT,    /* code made at run time */
	KIN_OBJECT_OTHER,  /* no file: "[heap]", "[unknown]" */
};

struct kin_object {           /* object 0 is the one that the data does not name */
	const char *path;     /* "/usr/bin/make" */
	const char *build_id; /* hexadecimal */
	enum kin_object_kind kind;
	bool is_main;       /* the executable of a process, as far as the data says */
	uint64_t low, high; /* all its addresses in the samples are in [low, high); both 0: none */
};

struct kin_function {
	const char *name;         /* as a person reads it: demangled */
	const char *linkage_name; /* as the linker knows it */
	const char *file;         /* the source file it is in */
	uint32_t line;            /* its first line there; 0: not known */
	uint32_t object;
	uint64_t address; /* where it begins in the object; 0: not known, or only ever inlined */
	bool is_unnamed;  /* code that has no name: `name` says only which object it is in */
};

struct kin_line {
	uint32_t function;
	uint32_t line;    /* 0: not known */
	const char *file; /* that `line` is in */
	bool is_inlined;  /* into the function of the next line of the location, or of the caller */
};

struct kin_location {     /* location 0 is none */
	uint64_t address; /* link-time (ELF virtual) address in the object; where that is not known,
			   * the run-time one; 0: not known */
	uint32_t object;
	bool is_return; /* the address is one that a call returns to: the call is before it */
	bool is_kernel;
};

struct kin_stack {       /* stack 0 is empty */
	uint32_t caller; /* the stack without its innermost location; smaller than its own id */
	uint32_t location;
	bool caller_is_guessed; /* found by a heuristic */
};

struct kin_recording {          /* a file that was read */
	const char *path;       /* as it was named; "-": standard input */
	const char *host;       /* that it was made on, as far as the file says */
	uint64_t start_ns;      /* when it began, on the clock of its samples; 0: not known */
	uint64_t start_time_ns; /* the same since 1970, UTC; 0: not known */
	const char *rank, *job; /* of a parallel job, as its variables have it; "": of none */
	const char *kernel;     /* its release, as uname -r says it; "": the file does not say */
	const char *command;    /* that was run; "": none, or the file does not say */
};

struct kin_sample {
	uint32_t event, thread, stack;
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint64_t weight;  /* in the event's unit */
	uint64_t count;   /* samples that were alike and are told as one; at least 1 */
	uint64_t time_ns; /* on the clock of the recording; 0: not known, or many */
	bool is_cut;      /* the stack could not be walked to its outermost function */
	bool is_guessed;  /* some callers were found by a heuristic */
	uint32_t recording;
};

/* ---- going through them ---- */

/* Keeps the profile for as long as it lives: that may be freed before. Succeeds for a profile
 * without samples, which has none. */
KIN_API KIN_MUST_CHECK struct kin_error *kin_samples_new(struct kin_profile *profile,
							 struct kin_samples **ret);
KIN_API void kin_samples_free(struct kin_samples *s); /* NULL is fine */

/* The next sample, by file and then as they are in it, which is by time where samples have times.
 * Valid until the next call. NULL: there are no more. */
KIN_API const struct kin_sample *kin_samples_next(struct kin_samples *s);
KIN_API void kin_samples_rewind(struct kin_samples *s);
KIN_API size_t kin_samples_n(const struct kin_samples *s);

/* How many there are: ids are smaller. */
KIN_API size_t kin_samples_n_recordings(const struct kin_samples *s);
KIN_API size_t kin_samples_n_events(const struct kin_samples *s);
KIN_API size_t kin_samples_n_threads(const struct kin_samples *s);
KIN_API size_t kin_samples_n_objects(const struct kin_samples *s);
KIN_API size_t kin_samples_n_stacks(const struct kin_samples *s);
KIN_API size_t kin_samples_n_locations(const struct kin_samples *s);
/* So far: functions get their ids when lines are asked for. */
KIN_API size_t kin_samples_n_functions(const struct kin_samples *s);

/* An id that does not exist gives the one that is not known, or empty. */
KIN_API const struct kin_recording *kin_samples_recording(struct kin_samples *s,
							  uint32_t recording);
KIN_API const struct kin_event *kin_samples_event(struct kin_samples *s, uint32_t event);
KIN_API const struct kin_thread *kin_samples_thread(struct kin_samples *s, uint32_t thread);
KIN_API const struct kin_object *kin_samples_object(struct kin_samples *s, uint32_t object);
/* Valid until the next stack, or location, is asked for. */
KIN_API const struct kin_stack *kin_samples_stack(struct kin_samples *s, uint32_t stack);
KIN_API const struct kin_location *kin_samples_location(struct kin_samples *s, uint32_t location);
/* What is there, innermost first: the functions inlined there, then the one that they are in; *n of
 * them, at least 1 but for location 0. The first time this opens the objects and reads their
 * symbols; source lines are read for the locations that are asked for. */
KIN_API const struct kin_line *kin_samples_lines(struct kin_samples *s, uint32_t location,
						 size_t *n);
KIN_API const struct kin_function *kin_samples_function(struct kin_samples *s, uint32_t function);

/* Why there are no names, though they were asked for: NULL if all went well. To be asked in the
 * end; valid as long as s. What is missing for a better reason, a file that is gone or was built
 * anew, is among the profile's warnings. */
KIN_API const struct kin_error *kin_samples_error(const struct kin_samples *s);

#ifdef __cplusplus
}
#endif

#endif

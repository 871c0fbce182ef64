/* live.h - a recording that can be inspected while it goes on.
 *
 * The recorder (record.h) runs in a thread of its own, and gathers samples into a profile until
 * live_take().
 *
 *	live_start(&opts, &live);
 *	while (!live_is_over(live)) { sleep(...); p = live_take(live); ... }
 *	live_stop(live);
 *
 * It leaves signals to the other threads of the process. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "profile/profile.h"
#include "record/record.h"

struct live;

/* opts->say, ->watch and ->output are set by this module. Everything opts points to must outlive
 * the recording. Errors say what to do. */
MUST_CHECK struct kin_error *live_start(const struct record_opts *opts, struct live **ret);

/* The samples since the last call, equal ones merged; to be freed. Between calls, samples beyond a
 * limit (tally.h) are counted as lost. */
struct profile *live_take(struct live *l);

struct live_progress {   /* since some moment */
	uint64_t cpu_ns; /* by the kernel's accounting; 0: not known */
	uint64_t sampled_ns;
};
struct live_progress live_progress(struct live *l);

/* An object whose path does not lead to it, and where it can be opened until live_stop(). */
struct live_place {
	char *path, *build_id, *place;
};
/* The next place that was not returned before; false: there is none. The caller frees it with
 * live_place_done(). */
bool live_place(struct live *l, struct live_place *ret);
void live_place_done(struct live_place *p);

/* Whether the program and all processes that it started have ended. */
bool live_is_over(struct live *l);

/* The next message of the recorder, to be freed; NULL: nothing new. */
char *live_message(struct live *l);

/* Ends and frees the recording; NULL is fine. A program started by it goes on. `result` may be
 * NULL; otherwise the caller calls record_audit_done(). */
void live_stop(struct live *l, struct record_result *result);

#endif

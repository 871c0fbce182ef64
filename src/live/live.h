/* live.h - a recording that is looked at while it goes on.
 *
 * The recorder (record.h) runs in a thread of its own, and what it sees is gathered into a profile
 * until somebody takes that.
 *
 *	live_start(&opts, &live);
 *	while (!live_is_over(live)) { sleep(...); p = live_take(live); ... }
 *	live_stop(live);
 *
 * Signals are for the other threads of the process. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "profile/profile.h"
#include "record/record.h"

struct live;

/* opts->say, ->watch and ->output are this module's own. What opts points to must live as long as
 * the recording. Errors say what to do about it. */
MUST_CHECK struct kin_error *live_start(const struct record_opts *opts, struct live **ret);

/* What came since the last time, equal samples added up; to be freed. If nobody takes it for long,
 * what is new beyond a bound (tally.h) is counted as lost. */
struct profile *live_take(struct live *l);

/* Of an object that its path does not lead to, where it can be opened until live_stop(). */
struct live_place {
	char *path, *build_id, *place;
};
/* The next one that is new; false: there is none. To be freed with live_place_done(). */
bool live_place(struct live *l, struct live_place *ret);
void live_place_done(struct live_place *p);

/* The program has ended, and all that it started. */
bool live_is_over(struct live *l);

/* The next thing that the recorder has to say, to be freed; NULL: nothing new. */
char *live_message(struct live *l);

/* Ends it and frees it; NULL is fine. A program that was started for it goes on. `result` may be
 * NULL, else record_audit_done() is for the caller. */
void live_stop(struct live *l, struct record_result *result);

#endif

/* parts.h - a recording that goes on in a new file now and then (--switch-output).
 *
 * All are written under the name of the output. One that is finished gets a name of its own, with
 * the date and time behind it, profile.kin.2026013114250137, and is a whole recording. */
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include "base/base.h"

struct kin_error;

struct parts_opts {         /* when a file ends; all zero: when the recording does */
	bool on_signal;     /* at SIGUSR2 */
	uint64_t max_bytes; /* when it is as large; 0: never */
	uint64_t every_ns;  /* after that time; 0: never */
	unsigned max_files; /* the newest stay, others are removed; 0: all stay */
	bool silent;        /* nothing is told that is not wrong: names of files, why it waits */
	bool overwrite;     /* what is kept meanwhile is in memory: the most recent samples */
};

static inline bool parts_are_wanted(const struct parts_opts *o)
{
	return o->on_signal || o->max_bytes || o->every_ns;
}

struct parts;
struct parts *parts_new(const char *output, const struct parts_opts *opts);
void parts_free(struct parts *p); /* NULL is fine */

/* Whether the file of that size, which began at that time, is to end. */
bool parts_is_due(const struct parts *p, uint64_t bytes, uint64_t began_ns, uint64_t now_ns);
/* Gives the file that was finished its own name, *ret, which lives as long as p; older ones that
 * are too many are removed. */
struct kin_error *parts_keep(struct parts *p, const char **ret) __attribute__((warn_unused_result));

size_t parts_count(const struct parts *p);   /* kept so far */
uint64_t parts_bytes(const struct parts *p); /* of all of them, also those that were removed */

#endif

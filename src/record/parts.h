/* parts.h - a recording in a series of files (--switch-output).
 *
 * Each is written under the name of the output. A finished file is renamed, with date and time
 * appended, profile.kin.2026013114250137, and is a complete recording. */
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include "base/base.h"

struct kin_error;

struct parts_opts {         /* when a file ends; all zero: with the recording */
	bool on_signal;     /* at SIGUSR2 */
	uint64_t max_bytes; /* at this size; 0: no limit */
	uint64_t every_ns;  /* after this time; 0: no limit */
	unsigned max_files; /* the newest are kept, others removed; 0: all are kept */
	bool silent;        /* print problems only, no names of files */
	bool overwrite;     /* keep the most recent samples in memory meanwhile */
};

static inline bool parts_are_wanted(const struct parts_opts *o)
{
	return o->on_signal || o->max_bytes || o->every_ns;
}

struct parts;
struct parts *parts_new(const char *output, const struct parts_opts *opts);
void parts_free(struct parts *p); /* NULL is fine */

/* Whether the file of that size, begun at that time, must end. */
bool parts_is_due(const struct parts *p, uint64_t bytes, uint64_t began_ns, uint64_t now_ns);
/* Renames the finished file to *ret, which lives as long as p, and removes the oldest files beyond
 * the limit. */
struct kin_error *parts_keep(struct parts *p, const char **ret) __attribute__((warn_unused_result));

size_t parts_count(const struct parts *p);   /* kept so far */
uint64_t parts_bytes(const struct parts *p); /* of all files, including removed ones */

#endif

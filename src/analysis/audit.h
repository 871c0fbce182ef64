/* audit.h - how far samples and counts are to be trusted, by what is known of what is missing. */
#ifndef ANALYSIS_AUDIT_H
#define ANALYSIS_AUDIT_H

#include "profile/profile.h"

/* Calls say() with a line of text for each thing that makes the data less than what it should be:
 *
 * - anything was lost: samples, calls, block executions, threads, objects; samples refer to what
 *   is not there; a sum was too large; the kernel held sampling back;
 * - more than AUDIT_TRUNCATED of the stacks could not be walked to their end;
 * - samples of CPU time stand for AUDIT_TIME more or less than the kernel says was used, and for
 *   more than one sampling period of each thread; or there is none at all of AUDIT_SILENT_NS.
 *
 * The text is gone afterwards. Of the whole profile: parts of it (profile_filter) know less. */
#define AUDIT_TRUNCATED 0.01
#define AUDIT_TIME      0.05
#define AUDIT_SILENT_NS 50000000
void audit_check(const struct profile *p, void (*say)(const char *text, void *arg), void *arg);

/* Whether samples and the kernel's accounting are of the same: all CPU time of all threads. */
bool audit_knows_time(const struct profile *p);

/* Samples per second of CPU time; 0: not known. */
double audit_rate(const struct profile *p);

#endif

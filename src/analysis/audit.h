/* audit.h - the quality of samples and counts, from what is known about losses. */
#ifndef ANALYSIS_AUDIT_H
#define ANALYSIS_AUDIT_H

#include "base/remarks.h"
#include "profile/profile.h"

/* Adds a doubt for each data-quality problem:
 *
 * - the recorder reports an error (FACT_TROUBLE);
 * - anything was lost: samples, calls, block executions, threads, objects; samples refer to missing
 *   entries; a sum was too large; the kernel throttled sampling;
 * - more than AUDIT_TRUNCATED of the stacks could not be walked to their end;
 * - more than AUDIT_GUESSED of them have guessed callers;
 * - more than AUDIT_CONTRADICTED of those walked in two ways have different callers;
 * - sampled CPU time is less than the kernel's by more than unsampled_least(); or more, also than
 * one sampling period of each thread; or there are no samples of at least AUDIT_SILENT_NS;
 * - shares are of fewer than AUDIT_FEW samples;
 * - more than AUDIT_PLACELESS of the time blocked or waiting has no stack.
 *
 * Troubles, cut, guessed and contradicted stacks, few samples, CPU time without a sample, CPU time
 * that is off by more than AUDIT_MISREAD and time without a stack are notes, too: rows would be
 * misread without them. For whole profiles: parts (profile_filter) lack some of the data. */
#define AUDIT_TRUNCATED    0.01
#define AUDIT_GUESSED      0.01
#define AUDIT_CONTRADICTED 0.01
#define AUDIT_MISREAD      0.2
#define AUDIT_SILENT_NS    50000000
#define AUDIT_PLACELESS    0.05
#define AUDIT_FEW          30
void audit_check(const struct profile *p, struct remarks *to);

/* Whether a lack of samples means that the program used little CPU time, because samples were to be
 * taken, and nothing in the data contradicts this. */
bool audit_used_little(const struct profile *p);

/* Whether a recorder was killed, or is still at work. Its kernel counters were then last written up
 * to a second before the last samples, so they may be `behind` them. */
bool audit_is_unfinished(const struct profile *p);
bool audit_is_behind(const struct profile *p);
/* How far user stacks could be walked. */
struct audit_stacks {
	uint64_t complete; /* to the start of the thread, with certain callers */
	uint64_t guessed;  /* to the start of the thread, with some guessed callers */
	uint64_t cut;      /* not to the start: the caller of the outermost function is not known */
	uint64_t beyond;   /* those of `cut` that went beyond what the kernel copied */
	uint64_t checked;  /* those walked by frame pointers, too */
	uint64_t contradicted; /* those of `checked` for which the two ways differ */
	uint64_t all;          /* sum of the first three; 0: no information about stacks */
};
struct audit_stacks audit_stacks(const struct profile *p);

/* Whether samples and the kernel's accounting cover the same time: all CPU time of all threads. */
bool audit_knows_time(const struct profile *p);
/* Whether CPU time has no samples, beyond chance. */
bool audit_lacks_time(const struct profile *p);

/* How many samples of equal weight tell as much as those of the profile's main event; 0: none, not
 * known, or it does not sample time or cycles for kin. */
double audit_samples(const struct profile *p);
/* Half the interval of a share (0..1) of so many samples, with a confidence of 95 %, as a share. */
double audit_interval(double share, double samples);
/* The same in points, of any share: at most. */
double audit_points(double samples);

/* Samples per second of CPU time; 0: not known. */
double audit_rate(const struct profile *p);

#endif

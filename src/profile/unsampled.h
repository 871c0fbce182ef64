/* unsampled.h - CPU time that no sample stands for, as a row of its own in all reports.
 *
 * Shares are then of the kernel's accounting: nothing is said of where this time was spent, but
 * that it was. Recordings miss CPU time of short threads, of threads that block signals or slept
 * between samples, or if samples were lost. */
#ifndef PROFILE_UNSAMPLED_H
#define PROFILE_UNSAMPLED_H

#include "profile/samples_builder.h"

/* A smaller part of the CPU time is in no row: the times of a thread's first and last sample, and
 * of the accounting, differ by chance. */
#define UNSAMPLED_LEAST 0.05

/* Adds what the tasks used and the samples of the first event, a clock of all CPU time, do not
 * stand for: samples of the frame [not sampled], with a count of 0. `name`: that of the frame;
 * source: of the samples. Adds nothing if that is less than UNSAMPLED_LEAST of all, or not known.
 */
void samples_add_unsampled(struct samples_builder *s, strid name, uint32_t source);

#endif

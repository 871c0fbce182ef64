/* asleep.h - stacks of threads that have not run since the recording began.
 *
 * The kernel shows the thread's pc and sp, and its stack does not change. All other registers are
 * unknown: a stack whose unwinding needs one of them is cut. */
#ifndef RECORD_ASLEEP_H
#define RECORD_ASLEEP_H

#include "record/unwinding.h"

/* True if the thread sleeps in a system call; *ret is then its stack. */
bool asleep_unwind(struct unwinding *u, struct space *s, pid_t tid, struct unwound *ret);

#endif

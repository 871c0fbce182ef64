/* asleep.h - where a thread waits that has not run since the recording began.
 *
 * The kernel shows the two registers that say where it is, and its stack lies still. All other
 * registers are unknown: where the way up needs one of them the stack is cut. */
#ifndef RECORD_ASLEEP_H
#define RECORD_ASLEEP_H

#include "record/unwinding.h"

/* True if the thread sleeps in a system call: *ret is its stack then. */
bool asleep_unwind(struct unwinding *u, struct space *s, pid_t tid, struct unwound *ret);

#endif

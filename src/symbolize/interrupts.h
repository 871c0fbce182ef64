/* interrupts.h - gives interrupts, and handlers of signals, stacks of their own.
 *
 * The kernel's unwinder shows an interrupt as a callee of whatever it interrupted, although nobody
 * called it. Its stack begins at the kernel's entry for interrupts instead, below the mark
 * MARK_INTERRUPTED. Page faults and system calls are the program's own doing and stay.
 *
 * A signal's handler has the code by which it returns for its caller (FRAME_SIGNAL), and that the
 * code that was interrupted. Its stack begins at the handler. */
#ifndef SYMBOLIZE_INTERRUPTS_H
#define SYMBOLIZE_INTERRUPTS_H

#include "symbolize/program.h"

/* Whether a function of the kernel is an entry for interrupts, on any machine. `is_kernel`: it
 * certainly is code of the kernel; otherwise only names that nobody else has count. */
bool is_interrupt_entry(const char *name, bool is_kernel);

struct interrupts;

/* Finds the kernel's names as programs do: `kallsyms` is that of program_opts. Adds the mark to the
 * profile, and notes in changes[n_stacks] on which stacks one begins. NULL: there were none. */
struct interrupts *interrupts_find(struct profile *p, struct program_files *files,
				   const char *kallsyms, bool *changes);
void interrupts_free(struct interrupts *x); /* NULL is fine */

/* The mark, if an interrupt begins on a stack of `changes`: see profile_revise_callers(). */
stackid interrupts_set_apart(const struct interrupts *x, struct revised_stacks *r, stackid stack,
			     stackid caller);

/* The shares of the event's time (samples_event) that interrupts and handlers of signals took, once
 * they are set apart; 0..1. */
struct interrupts_shares {
	double kernel, signals;
};
struct interrupts_shares interrupts_shares(const struct profile *p, uint16_t event);

#endif

/* tui_work.h - one piece of work in a thread of its own, so that keys are heard meanwhile.
 *
 *	w = work_begin(run, arg);
 *	while (!work_wait(w, 20))
 *		... keys ...
 *	work_end(w);
 *
 * Work cannot be stopped: whoever no longer wants it lets it come to its end. */
#ifndef TUI_TUI_WORK_H
#define TUI_TUI_WORK_H

#include "base/base.h"

struct work;

/* `arg` is the thread's until the work has ended. NULL: there is no thread to be had. */
struct work *work_begin(void (*run)(void *arg), void *arg);
/* Whether it has ended; waits that long for it. */
bool work_wait(struct work *w, int timeout_ms);
void work_end(struct work *w); /* waits for it, however long */

#endif

/* tui_work.h - one piece of work in a thread of its own, so that keys are handled meanwhile.
 *
 *	w = work_begin(run, arg);
 *	while (!work_wait(w, 20))
 *		... keys ...
 *	work_end(w);
 *
 * Work cannot be stopped: if its result is no longer needed, let it end. */
#ifndef TUI_TUI_WORK_H
#define TUI_TUI_WORK_H

#include "base/base.h"

struct work;

/* `arg` belongs to the thread until the work has ended. NULL: no thread could be created. */
struct work *work_begin(void (*run)(void *arg), void *arg);
/* Waits that long; returns whether the work has ended. */
bool work_wait(struct work *w, int timeout_ms);
void work_end(struct work *w); /* waits until it has ended */

#endif

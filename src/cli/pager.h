/* pager.h - a stream to the terminal that becomes a pipe to a pager when the screen is full. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdio.h>

#include "base/base.h"

struct pager;

/* Runs KIN_PAGER, else PAGER, else less -FRX. If that is empty, "cat", or cannot be started,
 * everything goes to the terminal. If the reader quits early the process exits with `status`. *ret
 * lives until pager_wait(). */
FILE *pager_open(unsigned lines, int status, struct pager **ret);
/* Waits for the pager, after fclose() of the stream. NULL is fine. */
void pager_wait(struct pager *p);

#endif

/* record_line.h - one line at the foot of the terminal while a recording goes on, for people.
 *
 *	struct recording_line *l = recording_line_new();
 *	... recording_line_draw(l, &so_far) now and then ...
 *	recording_line_free(l);
 *
 * The program writes to the same terminal: the rest of the screen scrolls above the line, and goes
 * back to what it was at the end. Nothing is drawn while the program takes keys one by one (an
 * editor), while we are in the background, or where nobody reads the terminal. */
#ifndef CLI_RECORD_LINE_H
#define CLI_RECORD_LINE_H

#include "record/record.h"

struct recording_line;

/* On standard error. NULL if that is no terminal that can do it. */
struct recording_line *recording_line_new(void);
/* Never waits. `line` is a struct recording_line. */
void recording_line_draw(void *line, const struct record_seen *now);
/* Takes the line away; NULL is fine. */
void recording_line_free(struct recording_line *l);

#endif

/* record_line.h - a status line at the bottom of the terminal during a recording.
 *
 *	struct recording_line *l = recording_line_new();
 *	... recording_line_draw(l, &so_far) now and then ...
 *	recording_line_free(l);
 *
 * The program writes to the same terminal: the rest of the screen scrolls above the line, and is
 * restored at the end. Nothing is drawn while the program reads single keys (an editor), while we
 * are in the background, or if nothing reads the terminal. */
#ifndef CLI_RECORD_LINE_H
#define CLI_RECORD_LINE_H

#include "record/record.h"

struct recording_line;

/* For standard error. NULL if that is no suitable terminal. */
struct recording_line *recording_line_new(void);
/* Draws the line; never blocks. `line` is a struct recording_line. */
void recording_line_draw(void *line, const struct record_seen *now);
/* Removes the line; NULL is fine. */
void recording_line_free(struct recording_line *l);

#endif

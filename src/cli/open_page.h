/* open_page.h - shows a page in the user's browser. */
#ifndef CLI_OPEN_PAGE_H
#define CLI_OPEN_PAGE_H

/* Starts $BROWSER or, without one, xdg-open, and does not wait for it; without a display $BROWSER
 * gets the terminal and is waited for. Says so if there is nothing to show the page with.
 * `command`: for messages. */
void open_page(const char *command, const char *path);

#endif

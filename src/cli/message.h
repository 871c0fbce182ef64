/* message.h - messages on standard error, and exit statuses. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "base/base.h"
#include "kin/kin.h"

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2 };

/* Writes "kin flat: <text>\n" in one write, with names escaped. `command` NULL: just "kin: ". On a
 * terminal it is wrapped between words. */
void message(const char *command, const char *fmt, ...) PRINTF(2, 3);

/* The number of lines that a message takes on standard error. */
size_t message_lines(const char *command, const char *fmt, ...) PRINTF(2, 3);

/* A word of a command that a message names, quoted for a shell where it has to be. To be freed. */
char *message_word(const char *s);

/* Prints err and frees it. Returns its exit status; EXIT_OK if err is NULL. */
int message_error(const char *command, struct kin_error *err);

#endif

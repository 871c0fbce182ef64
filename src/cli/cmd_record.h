/* cmd_record.h - kin record without its command line. */
#ifndef CLI_CMD_RECORD_H
#define CLI_CMD_RECORD_H

/* Records the program like "kin record" without options. `look` shows the file, if it has samples.
 * Returns the exit status, or ends as the program did. */
int record_program(char **argv, void (*look)(const char *path));

#endif

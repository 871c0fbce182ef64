/* cmd_record.h - kin record without its command line. */
#ifndef CLI_CMD_RECORD_H
#define CLI_CMD_RECORD_H

/* Records the program as "kin record" without options does. `look` shows the file, if there is
 * something in it. Returns the exit status, or ends as the program did. */
int record_program(char **argv, void (*look)(const char *path));

#endif

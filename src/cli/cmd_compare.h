/* cmd_compare.h - runs kin compare under another name. */
#ifndef CLI_CMD_COMPARE_H
#define CLI_CMD_COMPARE_H

/* Runs "kin compare" with these words, argv[0] aside, under the name `as`, for messages. Unlike
 * there, both commands are required. Returns the exit status. */
int compare_as(const char *as, int argc, char **argv);

#endif

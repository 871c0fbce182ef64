/* interpreters.h - sets environment variables of interpreters, so that functions of scripts have
 * names and complete stacks. */
#ifndef CLI_INTERPRETERS_H
#define CLI_INTERPRETERS_H

#include <stdbool.h>

struct interpreters { /* interpreters that may run in the command's processes */
	bool python, node, java;
};
bool interpreters_any(const struct interpreters *i);
/* Sets the variables in this process's environment, for programs that it executes. */
void interpreters_set(const struct interpreters *i);

#endif

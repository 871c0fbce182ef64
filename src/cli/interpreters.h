/* interpreters.h - what interpreters are told, in their environment, so that functions of scripts
 * have names and whole stacks. */
#ifndef CLI_INTERPRETERS_H
#define CLI_INTERPRETERS_H

#include <stdbool.h>

struct interpreters { /* which of them the command's processes may be */
	bool python, node, java;
};
bool interpreters_any(const struct interpreters *i);
/* Sets the variables in this process's environment, for what it executes. */
void interpreters_set(const struct interpreters *i);

#endif

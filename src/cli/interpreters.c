/* interpreters.c - sets variables that make python, node and java write symbols of their generated
 * code. */
#include "cli/interpreters.h"

#include <stdlib.h>

#include "base/base.h"

bool interpreters_any(const struct interpreters *i) { return i->python || i->node || i->java; }

/* Appends to options that the variable has already. */
static void add_options(const char *variable, const char *options)
{
	const char *own = getenv(variable);
	char *all = own && *own ? xprintf("%s %s", own, options) : xprintf("%s", options);
	setenv(variable, all, 1);
	free(all);
}

void interpreters_set(const struct interpreters *i)
{
	if (i->python)
		setenv("PYTHONPERFSUPPORT", "1", 1);
	if (i->node) /* the second option gives interpreted functions frames of their own */
		add_options("NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack");
	if (i->java) /* the first option unlocks diagnostic options */
		add_options("JAVA_TOOL_OPTIONS",
			    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
			    "-XX:+PreserveFramePointer");
}

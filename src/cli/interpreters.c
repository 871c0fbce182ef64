/* interpreters.c - the variables by which python, node and java write down what code they make. */
#include "cli/interpreters.h"

#include <stdlib.h>

#include "base/base.h"

bool interpreters_any(const struct interpreters *i) { return i->python || i->node || i->java; }

/* Options are added to those that are there. */
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
	if (i->node) /* the second one: functions that are interpreted have frames of their own */
		add_options("NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack");
	if (i->java) /* of diagnostic options, by the first one */
		add_options("JAVA_TOOL_OPTIONS",
			    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
			    "-XX:+PreserveFramePointer");
}

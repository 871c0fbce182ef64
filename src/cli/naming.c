/* naming.c - names for a new recording. */
#include "cli/naming.h"

#include <stdio.h>
#include <time.h>

#include "cli/message.h"

void naming_put(const char *command, const char *path, bool quiet)
{
	struct kin_keep_opts opts = { .size = sizeof(opts) };
	struct kin_keep_result r;
	clock_t start = clock();
	struct kin_error *err = kin_keep_names(path, &opts, &r);
	uint64_t ms = (uint64_t)(clock() - start) * 1000 / CLOCKS_PER_SEC;
	if (err)
		message(command, "names are not kept: %s", kin_error_message(err));
	else if (!quiet)
		message(command, "names of %zu function%s kept: %.1f KB, %ju ms of CPU time",
			r.functions, r.functions == 1 ? "" : "s", (double)r.bytes / 1000,
			(uintmax_t)ms);
	kin_error_free(err);
}

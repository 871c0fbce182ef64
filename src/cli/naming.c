/* naming.c - names for a new recording. */
#include "cli/naming.h"

#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "cli/message.h"
#include "cli/progress.h"

uint64_t naming_put(const char *command, const char *path, char **said)
{
	struct kin_keep_opts opts = { .size = sizeof(opts) };
	struct kin_keep_result r = { 0 };
	struct progress *progress = said ? progress_begin("keeping names", NULL) : NULL;
	clock_t start = clock();
	struct kin_error *err = kin_keep_names(path, &opts, &r);
	uint64_t ms = (uint64_t)(clock() - start) * 1000 / CLOCKS_PER_SEC;
	bool kept = !err;
	progress_end(progress);
	if (err)
		message(command, "names are not kept: %s", kin_error_message(err));
	kin_error_free(err);
	if (said)
		*said = kept ? xprintf("names of %zu function%s kept: %.1f KB, %ju ms of CPU time",
				       r.functions, r.functions == 1 ? "" : "s",
				       (double)r.bytes / 1000, (uintmax_t)ms)
			     : NULL;
	return kept ? r.bytes : 0;
}

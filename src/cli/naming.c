/* naming.c - adds names to a new recording. */
#include "cli/naming.h"

#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "cli/message.h"
#include "cli/progress.h"

typedef VEC(struct kin_program_file) program_files;

static program_files files_of(const struct held_files *held)
{
	program_files ret = { 0 };
	for (size_t i = 0; held && i < held->files.n; i++) {
		const struct mapped_file *f = &held->files.at[i];
		vec_push(&ret, ((struct kin_program_file){ f->path, f->build_id,
							   held_files_place(held, f),
							   held_files_top(held, f) }));
	}
	return ret;
}

static void files_done(program_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(UNCONST(char *, files->at[i].file));
		free(UNCONST(char *, files->at[i].root));
	}
	vec_free(files);
}

uint64_t naming_put(const char *command, const char *path, const struct held_files *held,
		    char **said)
{
	program_files files = files_of(held);
	struct kin_keep_opts opts = { .size = sizeof(opts), .files = files.at, .n_files = files.n };
	struct kin_keep_result r = { 0 };
	struct progress *progress = said ? progress_begin("keeping names", NULL) : NULL;
	clock_t start = clock();
	struct kin_error *err = kin_keep_names(path, &opts, &r);
	uint64_t ms = (uint64_t)(clock() - start) * 1000 / CLOCKS_PER_SEC;
	bool kept = !err;
	progress_end(progress);
	files_done(&files);
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

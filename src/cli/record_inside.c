/* record_inside.c - runs the command with the runtime, joins the files of its processes and prints
 * an audit. */
#include "cli/record_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/vec.h"
#include "cli/child.h"
#include "cli/inside.h"
#include "cli/message.h"
#include "cli/record_end.h"
#include "kin/kin.h"
#include "record/made_names.h"
#include "record/runtime_file.h"

enum { USUAL_HZ = 999 };

struct inside_files { /* files of the run */
	VEC(char *) ended;
	size_t going_on;
};

/* ---- requested settings ---- */

static unsigned frequency(const struct record_opts *o)
{
	if (o->period && !o->events)
		return (unsigned)(1000000000 / o->period);
	return o->frequency ? (unsigned)o->frequency : USUAL_HZ;
}

static void say_what_lacks(const struct record_opts *o)
{
	const struct {
		bool wanted;
		const char *what;
	} lacking[] = {
		{ o->events, "-e" },
		{ o->all_kernel, "--all-kernel" },
		{ o->wall, "--wall" },
		{ o->kernel_chains, "--kernel-callchains" },
		{ o->markers, "--mark" },
		{ parts_are_wanted(&o->parts), "--switch-output" },
		{ o->parts.overwrite, "--overwrite" },
		{ o->duration_ns, "--duration" },
		{ o->wanted.fields, "what -d, -W, -I, -b and the like record of each sample" },
	};
	char *all = xprintf("%s", "");
	for (size_t i = 0; i < ARRAY_LEN(lacking); i++) {
		if (!lacking[i].wanted)
			continue;
		char *more = xprintf("%s%s%s", all, *all ? ", " : "", lacking[i].what);
		free(all);
		all = more;
	}
	message("record",
		"it is measured from inside instead, as kin run does: CPU time alone, without the "
		"kernel's functions%s%s",
		*all ? "; without " : "", all);
	free(all);
}

/* ---- the files ---- */

static void look_at(const char *path, const char *run, struct record_audit *a,
		    struct runtime_ids *counted, struct inside_files *f)
{
	bool going_on = false;
	if (!runtime_file_add(path, run, a, counted, &going_on))
		return;
	if (going_on)
		f->going_on++;
	else
		vec_push(&f->ended, xprintf("%s", path));
}

static struct inside_files find_files(const char *output, const char *run, struct record_audit *a)
{
	struct inside_files f = { 0 };
	struct runtime_ids counted = { 0 };
	char *pattern = inside_pattern(output, true);
	glob_t g = { 0 };
	look_at(output, run, a, &counted, &f);
	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc; i++)
			look_at(g.gl_pathv[i], run, a, &counted, &f);
	globfree(&g);
	free(pattern);
	runtime_ids_free(&counted);
	return f;
}

static void free_files(struct inside_files *f)
{
	for (size_t i = 0; i < f->ended.n; i++)
		free(f->ended.at[i]);
	vec_free(&f->ended);
}

static struct kin_error *write_sum(const struct inside_files *f, const char *path)
{
	struct kin_open_opts opts = {
		.size = sizeof(opts), .executable = "", .for_writing = true, .no_names = true
	};
	struct kin_profile *profile = NULL;
	struct kin_error *err =
		kin_profile_open((const char *const *)f->ended.at, f->ended.n, &opts, &profile);
	mode_t mask = umask(077);
	if (!err)
		err = kin_profile_write(profile, path);
	umask(mask);
	kin_profile_free(profile);
	return err;
}

/* Joins the files of all processes into one, at the place of the first process's file. */
static struct kin_error *join(const struct inside_files *f, const char *output)
{
	bool alone = f->ended.n == 1 && !strcmp(f->ended.at[0], output);
	if (!f->ended.n || alone)
		return NULL;
	char *sum = xprintf("%s.%d.sum.kin", output, (int)getpid());
	struct kin_error *err = write_sum(f, sum);
	if (!err && rename(sum, output))
		err = err_new(KIN_ERROR_OS, "%s: renaming it to %s failed", sum, output);
	else if (err)
		unlink(sum);
	for (size_t i = 0; !err && i < f->ended.n; i++)
		if (strcmp(f->ended.at[i], output) != 0)
			unlink(f->ended.at[i]);
	free(sum);
	return err;
}

/* ---- a pipe ---- */

/* A temporary file. The runtime needs files, so a recording for a pipe is kept in a folder until
 * the end. To be freed. */
static char *file_for_pipe(void)
{
	char *folder;
	struct kin_error *err = folder_temporary("kin-record", &folder);
	if (err)
		message("record", "%s", kin_error_message(err));
	kin_error_free(err);
	char *path = xprintf("%s/profile.kin", folder);
	free(folder);
	return path;
}

/* Processes that still run keep their files, and so the folder. */
static void remove_for_pipe(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
}

/* The reader of the pipe may have ended. */
static void copy_to_pipe(const char *path, int pipe)
{
	char part[65536];
	sighandler_t before = signal(SIGPIPE, SIG_IGN);
	int in = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = in < 0 ? -1 : 0;
	bool written = true;
	while (in >= 0 && written && (n = read(in, part, sizeof(part))) > 0)
		written = file_write_all(pipe, part, (size_t)n);
	if (n < 0 || !written)
		message("record", "%s: %s", written ? path : "standard output", strerror(errno));
	if (in >= 0)
		close(in);
	signal(SIGPIPE, before);
}

/* ---- messages ---- */

/* Adds the CPU time of programs that did not load the runtime: they have no file. */
static void hold_against(uint64_t used_ns, struct record_audit *a)
{
	a->unseen_ns = record_audit_unseen(used_ns, a->cpu_ns);
	a->cpu_ns += a->unseen_ns;
}

static void say_none(const char *program, const char *output)
{
	const char *why = inside_unwritable(output);
	if (why)
		message("record",
			"there is no recording: cannot write %s: %s; -o names another file", output,
			why);
	else
		message("record", "there is no recording: %s ended at once, or could not write %s",
			program, output);
}

/* Adds each process's JIT names to its own file. */
static void name_made(const struct inside_files *f)
{
	for (size_t i = 0; i < f->ended.n; i++) {
		struct kin_error *err = made_names_put(f->ended.at[i]);
		if (err)
			message("record", "%s", kin_error_message(err));
		kin_error_free(err);
	}
}

static void finish(const struct record_opts *o, const char *output, const char *run,
		   struct record_audit *a, const struct record_ending *e)
{
	uint64_t used_ns = a->cpu_ns;
	struct stat st;
	a->cpu_ns = 0;
	struct inside_files f = find_files(output, run, a);
	name_made(&f);
	struct kin_error *err = join(&f, output);
	if (err)
		message("record", "%s: each process keeps a file of its own",
			kin_error_message(err));
	kin_error_free(err);
	if (!stat(output, &st))
		a->file_size = (uint64_t)st.st_size;
	hold_against(used_ns, a);
	bool any = f.ended.n || f.going_on;
	if (any && o->output_pipe)
		copy_to_pipe(output, o->output_pipe);
	if (any)
		record_end(e, a, o->output_pipe ? NULL : output,
			   o->output_pipe ? "standard output" : output);
	else
		say_none(o->argv[0], output);
	if (f.going_on)
		message("record",
			"%zu process%s that it started go%s on, each with a file of its own beside "
			"%s",
			f.going_on, f.going_on == 1 ? "" : "es", f.going_on == 1 ? "es" : "",
			output);
	free_files(&f);
}

/* ---- the recording ---- */

static bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status); }

int record_inside(const struct record_opts *o, const struct record_ending *e)
{
	char *run = xprintf("%d-%lld", (int)getpid(), (long long)time(NULL));
	char *for_pipe = o->output_pipe ? file_for_pipe() : NULL;
	const char *output = for_pipe ? for_pipe : o->output;
	struct inside inside = { .command = "record",
				 .opts = { .output = output,
					   .literal = true,
					   .no_rank = true,
					   .frequency = frequency(o),
					   .run = run },
				 .argv = o->argv };
	struct record_audit a = {
		.is_clock = true, .inside = true, .check = o->check, .asked_hz = frequency(o)
	};
	struct inside_result r = { 0 };
	int status = 0;
	if (!e->warned)
		say_what_lacks(o);
	for (unsigned i = 0; i < (o->runs ? o->runs : 1); i++) {
		inside.repetition = i;
		inside_run(&inside, &r);
		if (!r.ran)
			break;
		a.duration_ns += r.duration_ns;
		a.cpu_ns += r.used_ns;
		if (!failed(status) || failed(r.status))
			status = r.status;
	}
	child_ended();
	if (r.measured && a.duration_ns)
		finish(o, output, run, &a, e);
	if (for_pipe)
		remove_for_pipe(for_pipe);
	free(run);
	return r.ran ? child_end_as(status) : r.status;
}

/* turns.c - starts the runs one after the other, waits for them, passes signals on, and keeps the
 * files. */
#include "cli/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "cli/child.h"
#include "cli/inside.h"
#include "cli/message.h"
#include "cli/progress.h"

static const char *const names[N_SIDES] = { "before", "after" };

/* ---- folders ---- */

static bool make_folder(const struct turns *t, const char *path, bool may_exist)
{
	if (!mkdir(path, 0777) || (may_exist && errno == EEXIST))
		return true;
	message(t->command, "%s: %s%s", path, strerror(errno),
		errno == EEXIST ? ": recordings that are there are left alone" : "");
	return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_folder(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* The cleaner: waits, with all signals blocked, until the other end of the pipe is closed, and
 * removes the folder. */
_Noreturn static void clean_up_after(const char *path, const int ends[2])
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte;
	setsid();
	close(ends[1]);
	for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(nothing, fd); /* readers of our output must see its end */
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(path);
	_exit(0);
}

/* Starts a process that removes the folder, because a signal or a vanished reader may end this
 * process at any time. */
static void start_cleaner(struct turns *t)
{
	int ends[2];
	sigset_t all, mask;
	if (pipe2(ends, O_CLOEXEC))
		return;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	pid_t pid = fork();
	if (!pid)
		clean_up_after(t->made, ends);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	t->cleaner = pid;
	t->alive = ends[1];
}

static bool prepare(struct turns *t)
{
	if (!t->folder) {
		char *made;
		struct kin_error *err = folder_temporary("kin-runs", &made);
		if (err) {
			message(t->command, "%s", kin_error_message(err));
			kin_error_free(err);
			free(made);
			return false;
		}
		t->folder = t->made = made;
		start_cleaner(t);
	} else if (!make_folder(t, t->folder, true)) {
		return false;
	}
	for (int i = 0; i < N_SIDES; i++) {
		char *side = xprintf("%s/%s", t->folder, names[i]);
		bool good = !t->argv[i] || make_folder(t, side, false);
		free(side);
		if (!good)
			return false;
	}
	return true;
}

void turns_done(struct turns *t)
{
	if (t->made)
		remove_folder(t->made);
	free(TAKE(t->made));
	if (!t->cleaner)
		return;
	close(t->alive);
	waitpid(t->cleaner, NULL, 0);
	t->cleaner = 0;
}

/* ---- one run ---- */

/* The words of "kin record ... -- COMMAND"; without a recording just those of COMMAND. To be
 * freed. */
static char **words_of(const struct turns *t, int side, const char *file)
{
	size_t n = 0, count = 0;
	while (t->argv[side][count])
		count++;
	char **w = xalloc((count + 16) * sizeof(*w));
	const char *const record[] = {
		"kin", t->counts ? "run" : "record", t->warned ? "-qq" : "-q", "--no-rank", "-o",
		file
	};
	for (size_t i = 0; file && i < ARRAY_LEN(record); i++)
		w[n++] = UNCONST(char *, record[i]);
	if (file && t->counts)
		w[n++] = UNCONST(char *, "--no-gmon");
	if (file && t->frequency) {
		w[n++] = UNCONST(char *, t->counts ? "--sample" : "-F");
		w[n++] = UNCONST(char *, t->frequency);
	}
	if (file && t->events) {
		w[n++] = UNCONST(char *, "-e");
		w[n++] = UNCONST(char *, t->events);
	}
	if (file)
		w[n++] = UNCONST(char *, "--");
	for (size_t i = 0; i < count; i++)
		w[n++] = t->argv[side][i];
	return w;
}

/* Executes the words. If they cannot be executed, says so, also through the pipe `unstarted`. */
_Noreturn static void become(const struct turns *t, char **words, bool recorded,
			     const sigset_t *mask, int unstarted)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		if (!t->shows_output)
			dup2(nothing, STDOUT_FILENO);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (recorded)
		execv("/proc/self/exe", words);
	else
		execvp(words[0], words);
	int errnum = errno;
	char *remedy = child_remedy(errnum, words[0]);
	message(t->command, "%s: %s%s", words[0], strerror(errnum), remedy);
	free(remedy);
	ssize_t n = write(unstarted, "", 1);
	(void)n; /* nobody reads: our status is taken for the command's */
	_exit(child_not_run(errnum));
}

/* Waits for the run's end. Signals from a terminal have reached the run, too; others are passed on.
 * *caught: a signal that we received. */
static int wait_for(pid_t pid, const sigset_t *signals, int *caught)
{
	int status = 0;
	for (;;) {
		siginfo_t info;
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		int number = sigwaitinfo(signals, &info);
		if (number <= 0 || number == SIGCHLD)
			continue;
		*caught = number;
		if (info.si_code <= 0)
			kill(pid, number);
	}
}

/* Whether kin record or kin run, which should have written the file, could not execute the command:
 * then they have said so. A command may end with these statuses, too. */
static bool is_unrecorded(int status, const char *file)
{
	return file && WIFEXITED(status) && WEXITSTATUS(status) >= CHILD_FAILED &&
	       WEXITSTATUS(status) <= CHILD_NOT_FOUND && access(file, F_OK);
}

/* Returns the status of wait(); -1 if the command could not be started, which was reported. */
static int run_once(const struct turns *t, int side, const char *file, int *caught)
{
	int unstarted[2];
	char byte;
	if (pipe2(unstarted, O_CLOEXEC)) {
		message(t->command, "cannot start a run: %s", strerror(errno));
		return -1;
	}
	char **words = words_of(t, side, file);
	sigset_t signals, mask;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	pid_t pid = fork();
	if (!pid)
		become(t, words, file, &mask, unstarted[1]);
	close(unstarted[1]);
	int status = -1;
	if (pid > 0)
		status = wait_for(pid, &signals, caught);
	else
		message(t->command, "cannot start a run: %s", strerror(errno));
	if (read(unstarted[0], &byte, 1) == 1 || is_unrecorded(status, file))
		status = -1;
	close(unstarted[0]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	free(words);
	return status;
}

/* ---- all runs ---- */

/* Joins the files of all processes into one, at the place of the first process's file. */
static struct kin_error *join(const char *file, const struct string_list *files)
{
	struct kin_open_opts opts = { .size = sizeof(opts), .executable = "", .for_writing = true };
	struct kin_profile *profile = NULL;
	char *sum = xprintf("%s.sum.kin", file); /* any other ending would make a gmon.out */
	struct kin_error *err = kin_profile_open(string_list(files), files->at.n, &opts, &profile);
	if (!err)
		err = kin_profile_write(profile, sum);
	kin_profile_free(profile);
	if (!err && rename(sum, file))
		err = err_new(KIN_ERROR_OS, "%s: %s", sum, strerror(errno));
	for (size_t i = 0; !err && i < files->at.n; i++)
		if (strcmp(files->at.at[i], file) != 0)
			unlink(files->at.at[i]);
	free(sum);
	return err;
}

/* Adds the run's files: kin run writes one for each process, if it could write any. */
static bool add_files(struct turns *t, int side, const char *file, struct sides *sides)
{
	struct string_list files = { 0 };
	char *pattern = inside_pattern(file, true);
	glob_t g = { 0 };
	if (!access(file, R_OK))
		string_list_add(&files, file);
	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc; i++)
			string_list_add(&files, g.gl_pathv[i]);
	bool alone = files.at.n == 1 && !strcmp(files.at.at[0], file);
	struct kin_error *err = files.at.n && !alone ? join(file, &files) : NULL;
	bool good = files.at.n && message_error(t->command, err) == EXIT_OK;
	if (good)
		sides_add(sides, side, file);
	t->joined |= good && files.at.n > 1;
	globfree(&g);
	vec_free(&files.at);
	free(pattern);
	return good;
}

/* How all runs have to end: like the first one, or like an earlier recording. */
struct expected {
	int status;        /* -1: there is none yet */
	const char *whose; /* for messages */
};

static bool ended_alike(const struct turns *t, int side, unsigned run, int status,
			struct expected *expected)
{
	static const char *const first[N_SIDES] = { "the first one (before)",
						    "the first one (after)" };
	if (WIFSIGNALED(status)) {
		message(t->command, "run %u %s was killed by signal %d (%s): nothing is compared",
			run + 1, names[side], WTERMSIG(status), strsignal(WTERMSIG(status)));
		return false;
	}
	if (expected->status < 0)
		*expected = (struct expected){ WEXITSTATUS(status), first[side] };
	if (WEXITSTATUS(status) == expected->status)
		return true;
	message(t->command,
		"run %u %s ended with status %d, %s with %d: runs that do not do the "
		"same are not compared",
		run + 1, names[side], WEXITSTATUS(status), expected->whose, expected->status);
	return false;
}

/* Returns TURNS_DONE, or the exit status to use. */
static int record_one(struct turns *t, int side, unsigned run, struct sides *sides,
		      struct expected *expected)
{
	bool warm = run < t->warmup;
	unsigned number = warm ? run : run - t->warmup;
	char *file =
		xprintf("%s/%s/%0*u.kin", t->folder, names[side], t->runs > 99 ? 4 : 2, number + 1);
	char *what = warm ? xprintf("warming up")
			  : xprintf("run %u of %u, %s", number + 1, t->runs, names[side]);
	struct progress *progress = progress_begin(what, NULL);
	int caught = 0, status = run_once(t, side, warm ? NULL : file, &caught);
	progress_end(progress);
	t->warned |= !warm;
	int ret = TURNS_DONE;
	if (caught) {
		turns_done(t);
		ret = child_end_as(caught);
	} else if (status == -1 || !ended_alike(t, side, number, status, expected)) {
		ret = EXIT_INCOMPARABLE;
	} else if (!warm && !add_files(t, side, file, sides)) {
		message(t->command, "run %u %s was not recorded: nothing is compared", number + 1,
			names[side]);
		ret = EXIT_INCOMPARABLE;
	}
	free(what);
	free(file);
	return ret;
}

int turns_run(struct turns *t, struct sides *sides)
{
	struct expected expected = { t->has_status ? t->status : -1, "the baseline" };
	int status = TURNS_DONE;
	if (!prepare(t))
		return EXIT_INCOMPARABLE;
	for (unsigned i = 0; i < t->warmup + t->runs && status == TURNS_DONE; i++)
		for (int turn = 0; turn < N_SIDES && status == TURNS_DONE; turn++) {
			/* The side that goes first alternates from pair to pair. */
			int side = (i - t->warmup) % 2 ? !turn : turn;
			if (t->argv[side])
				status = record_one(t, side, i, sides, &expected);
		}
	return status;
}

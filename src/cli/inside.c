/* inside.c - starts a program with the runtime preloaded, and moves an older profile aside. */
#include "cli/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/child.h"
#include "cli/content.h"
#include "cli/message.h"
#include "record/runtime_file.h"
#include "record/target.h"

/* ---- names ---- */

bool inside_is_pattern(const char *output) { return strchr(output, '%'); }

/* Makes a pattern for glob(), "a.%p.kin" -> "a.*.kin", with its special characters escaped. */
char *inside_pattern(const char *output, bool taken)
{
	size_t n = strlen(output), k = 0;
	bool named = n > 4 && !strcmp(output + n - 4, ".kin");
	char *p = xalloc(2 * n + 8);
	for (size_t i = 0; i < n - (named && taken ? 4 : 0); i++) {
		if (output[i] == '%' && output[i + 1]) {
			p[k++] = '*';
			i++;
			continue;
		}
		if (strchr("*?[\\ \t'\"$`&|;<>(){}#~!", output[i])) /* for a shell, too */
			p[k++] = '\\';
		p[k++] = output[i];
	}
	strcpy(p + k, taken ? ".*.kin" : "");
	return p;
}

bool inside_is_newer(const char *path, const struct timespec *than)
{
	struct stat st;
	return !stat(path, &st) &&
	       (st.st_mtim.tv_sec > than->tv_sec ||
		(st.st_mtim.tv_sec == than->tv_sec && st.st_mtim.tv_nsec >= than->tv_nsec));
}

/* The error with which a small file can be written in the folder; 0: it can. */
static int error_of_writing(const char *folder)
{
	enum { ROOM = 128 << 10 };
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) /* no such files there */
		return faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) < 0 ? errno : 0;
	if (fd < 0)
		return errno;
	int errnum = posix_fallocate(fd, 0, ROOM);
	close(fd);
	return errnum;
}

const char *inside_unwritable(const char *output)
{
	const char *slash = strrchr(output, '/');
	char *folder = slash ? xprintf("%.*s/", (int)(slash - output), output) : xprintf(".");
	int errnum = error_of_writing(folder);
	free(folder);
	return errnum ? strerror(errnum) : NULL;
}

/* ---- an older profile ---- */

/* Moves an older profile aside, because the runtime never overwrites a file. *ret: where it is;
 * NULL: there was none. */
static struct kin_error *put_aside(const char *output, char **ret)
{
	struct stat st;
	*ret = NULL;
	if (lstat(output, &st))
		return NULL;
	if (S_ISDIR(st.st_mode))
		return err_new(KIN_ERROR_USAGE,
			       "%s is a directory: -o %s/ writes profile.kin in it", output,
			       output);
	if (!S_ISREG(st.st_mode) || content_of(output) != CONTENT_PROFILE)
		return err_new(
			KIN_ERROR_USAGE,
			"-o %s would replace a file that is not a profile: remove it first if "
			"that is meant",
			output);
	struct kin_error *err = runtime_file_check_busy(output);
	if (err)
		return err;
	char *aside = xprintf("%s.%d.old", output, (int)getpid());
	if (!rename(output, aside)) {
		*ret = aside;
		return NULL;
	}
	free(aside);
	return err_os(errno, "%s: replacing it", output);
}

/* Removes the older profile; restores it if the command could not be started. */
static void end_aside(char *aside, const char *output, bool started)
{
	if (aside && (started || rename(aside, output)))
		unlink(aside);
	free(aside);
}

/* ---- running ---- */

static struct kin_error *try_prepare(const struct inside *i, char **aside)
{
	bool named = i->opts.literal || !inside_is_pattern(i->opts.output);
	struct kin_error *err = named ? put_aside(i->opts.output, aside) : NULL;
	if (err)
		return err;
	const char *remedy = NULL, *obstacle = preload_obstacle(i->argv[0], &remedy);
	if (obstacle)
		return err_new(KIN_ERROR_UNSUPPORTED, "%s %s%s%s", i->argv[0], obstacle,
			       i->recorder && remedy ? ", or " : "",
			       i->recorder && remedy ? remedy : "");
	return preload_set(&i->opts);
}

/* The program runs even if it cannot be measured, since it matters more than its profile. An older
 * profile is removed all the same: it would be mistaken for this run's. */
static bool prepare(const struct inside *i, char **aside)
{
	struct kin_error *err = try_prepare(i, aside);
	if (err)
		message(i->command, "%s: nothing is measured; the program runs%s%s%s",
			kin_error_message(err), *aside ? ", and the older " : "",
			*aside ? i->opts.output : "", *aside ? " is removed" : "");
	kin_error_free(err);
	return !err;
}

static void failed(const struct inside *i, struct kin_error *err, struct inside_result *ret)
{
	int errnum = kin_error_errno(err);
	char *remedy = child_remedy(errnum, i->argv[0]);
	ret->status = child_not_run(errnum);
	message(i->command, "%s%s", kin_error_message(err), remedy);
	free(remedy);
	kin_error_free(err);
}

/* If no process can be started, this process executes the program. */
static void replace_us(const struct inside *i, struct kin_error *why, struct inside_result *ret)
{
	message(i->command, "%s: the program runs in kin's place; %s", kin_error_message(why),
		ret->measured ? "what it leaves is not looked at" : "nothing is measured");
	kin_error_free(why);
	execvp(i->argv[0], i->argv);
	failed(i, err_os(errno, "%s", i->argv[0]), ret);
}

static void wait_for(struct target *t, struct signals *s, struct inside_result *ret)
{
	uint64_t start = clock_now_ns();
	target_wait(t, s);
	ret->ran = true;
	ret->pid = t->pid;
	ret->status = t->status;
	ret->duration_ns = clock_now_ns() - start;
	ret->used_ns = clock_cpu_ns(&t->usage);
}

/* Opens signals and target, or neither. */
static struct kin_error *begin(const struct inside *i, struct signals *s, struct target *t)
{
	struct kin_error *err = signals_open(s);
	if (err)
		return err;
	err = target_start(i->argv, s, t);
	if (err)
		signals_close(s);
	return err;
}

void inside_run(const struct inside *i, struct inside_result *ret)
{
	struct signals signals;
	struct target target;
	char *aside = NULL;
	*ret = (struct inside_result){ .measured = i->repetition || prepare(i, &aside) };
	if (i->repetition)
		preload_set_repetition(i->repetition);
	clock_gettime(CLOCK_REALTIME_COARSE, &ret->start);
	struct kin_error *err = begin(i, &signals, &target);
	if (err) {
		end_aside(aside, i->opts.output, true);
		replace_us(i, err, ret);
		return;
	}
	err = target_go(&target, &signals, i->argv[0]);
	end_aside(aside, i->opts.output, !err);
	if (err)
		failed(i, err, ret);
	else
		wait_for(&target, &signals, ret);
	signals_close(&signals);
	/* Stores to mapped memory do not change the modification time, by which the last profile is
	 * found. */
	if (ret->ran && ret->measured)
		(void)utimensat(AT_FDCWD, i->opts.output, NULL, AT_SYMLINK_NOFOLLOW);
}

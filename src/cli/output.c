/* output.c - opens a file, standard output or a pager, and chooses width and colour. */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out.h"
#include "cli/pager.h"

static bool wants_color(const struct output_opts *o, bool terminal)
{
	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
	const char *force = getenv("CLICOLOR_FORCE"), *usual = getenv("CLICOLOR");
	if (none && *none)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return terminal && !(usual && !strcmp(usual, "0")) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *s = getenv(name);
	unsigned long n = s ? strtoul(s, NULL, 10) : 0;
	return n > 0 && n < 100000 ? (unsigned)n : otherwise;
}

static void terminal_size(int fd, unsigned *columns, unsigned *lines)
{
	struct winsize w;
	bool known = !ioctl(fd, TIOCGWINSZ, &w) && w.ws_col && w.ws_row;
	*columns = known ? w.ws_col : from_environment("COLUMNS", 80);
	*lines = known ? w.ws_row : from_environment("LINES", 24);
}

/* Shells do not export COLUMNS. Programs such as watch set it when they show the other end of a
 * pipe, and know its width. */
unsigned output_columns(int fd)
{
	unsigned columns = from_environment("COLUMNS", 0), lines;
	if (isatty(fd))
		terminal_size(fd, &columns, &lines);
	return columns;
}

static bool is_stdout(const struct output_opts *o) { return !o->path || !strcmp(o->path, "-"); }

bool output_is_terminal(const struct output_opts *o)
{
	return is_stdout(o) && isatty(STDOUT_FILENO);
}

/* ---- a file that is written completely, or not at all ---- */

static ssize_t write_file(void *cookie, const char *data, size_t size)
{
	struct out *o = cookie;
	out_put(o, data, size);
	errno = out_errnum(o);
	return errno ? 0 : (ssize_t)size;
}

static struct kin_error *open_file(const struct output_opts *o, struct output *out)
{
	struct kin_error *err = out_open(o->path, o->mode, &out->file);
	if (err)
		return err;
	out->stream = fopencookie(out->file, "w", (cookie_io_functions_t){ .write = write_file });
	if (!out->stream)
		out_abandon(out->file);
	return NULL;
}

struct kin_error *output_open(const struct output_opts *o, int status, struct output *ret)
{
	bool to_stdout = is_stdout(o), terminal = output_is_terminal(o);
	struct output out = { .name = to_stdout ? "standard output" : o->path };
	unsigned columns = to_stdout ? output_columns(STDOUT_FILENO) : 0, lines = 0;

	if (terminal)
		terminal_size(STDOUT_FILENO, &columns, &lines);
	out.color = wants_color(o, terminal);
	out.is_seen = terminal;
	out.lines = lines;
	out.width = o->has_width ? o->width : columns;
	if (!to_stdout) {
		struct kin_error *err = open_file(o, &out);
		if (err)
			return err;
	} else if (terminal && !o->no_pager) {
		out.stream = pager_open(lines, status, &out.pager);
	} else {
		out.stream = stdout;
	}
	if (!out.stream)
		return err_os(errno, "%s", out.name);
	*ret = out;
	return NULL;
}

static struct kin_error *close_all(struct output *out)
{
	errno = 0;
	bool bad = fflush(out->stream) || ferror(out->stream);
	int errnum = errno;
	/* Closes stdout, too: a full disk may only be noticed then. */
	if (fclose(out->stream) && !bad) {
		bad = true;
		errnum = errno;
	}
	out->stream = NULL;
	pager_wait(out->pager);
	return bad ? err_os(errnum ? errnum : EIO, "%s", out->name) : NULL;
}

struct kin_error *output_finish(struct output *out, struct kin_error *err)
{
	struct kin_error *at_close = close_all(out), *at_end = NULL;
	if (out->file && (err || at_close))
		out_abandon(out->file);
	else if (out->file)
		at_end = out_close(out->file);
	if (!err || !at_close)
		return err ? err : at_close ? at_close : at_end;
	/* Both errors are the same write error; the one from closing names the file. */
	kin_error_free(at_close);
	return err_wrap(err, "%s", out->name);
}

/* output.c - opens a file, standard output or a pager, and decides on width and colour. */
#include "cli/output.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
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

/* Shells do not export COLUMNS: whoever sets it for a pipe, as watch does, knows how wide what
 * shows it is. */
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

/* ---- a file that is emptied when there is something to write ---- */

struct output_file {
	int fd;
	bool is_new;
	bool is_begun; /* it is emptied */
	bool is_kept;  /* nothing came: it stays as it was */
};

static ssize_t write_file(void *cookie, const char *data, size_t size)
{
	struct output_file *f = cookie;
	if (!f->is_begun && !file_empty(f->fd))
		return 0;
	f->is_begun = true;
	return file_write_all(f->fd, data, size) ? (ssize_t)size : 0;
}

static int close_file(void *cookie)
{
	struct output_file *f = cookie;
	bool bad = !f->is_begun && !f->is_kept && !file_empty(f->fd);
	return close(f->fd) || bad ? -1 : 0;
}

static struct kin_error *open_file(const struct output_opts *o, struct output *out)
{
	struct output_file *f = xalloc(sizeof(*f));
	f->is_new = access(o->path, F_OK) && errno == ENOENT;
	struct kin_error *err = file_open_output(o->path, o->mode, &f->fd);
	if (!err) {
		out->stream = fopencookie(
			f, "w",
			(cookie_io_functions_t){ .write = write_file, .close = close_file });
		if (!out->stream)
			close(f->fd);
		else
			out->file = f;
	}
	if (!out->file)
		free(f);
	return err;
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
	/* stdout, too: a full disk may only be noticed when the file is closed. */
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
	struct output_file *f = out->file;
	if (f)
		f->is_kept = err && !f->is_begun && !__fpending(out->stream);
	struct kin_error *at_close = close_all(out);
	if (f && f->is_kept && f->is_new)
		(void)!unlink(out->name);
	free(f);
	if (!err || !at_close)
		return err ? err : at_close;
	/* The same write error seen twice: the one from closing names the file. */
	kin_error_free(at_close);
	return err_wrap(err, "%s", out->name);
}

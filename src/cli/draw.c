/* draw.c - hands a call graph to dot, and its picture on. Both go through temporary files: dot
 * reads all of its input before it writes. */
#include "cli/draw.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/child.h"
#include "kin/kin.h"

static struct kin_error *run_dot(FILE *in, FILE *out)
{
	int status = 0;
	pid_t pid = fork();
	if (pid < 0)
		return err_os(errno, "dot");
	if (!pid) {
		dup2(fileno(in), STDIN_FILENO);
		dup2(fileno(out), STDOUT_FILENO);
		execlp("dot", "dot", "-Tsvg", (char *)NULL);
		_exit(child_not_run(errno));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NOT_FOUND)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "svg is drawn by Graphviz's dot, which is not installed (Debian: "
			       "apt install "
			       "graphviz); --format=dot writes the graph for it");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "dot failed: --format=dot writes what it was given");
	return NULL;
}

static void copy(FILE *from, FILE *to)
{
	char block[1 << 14];
	size_t n;
	rewind(from);
	while ((n = fread(block, 1, sizeof(block), from)))
		fwrite(block, 1, n, to);
}

struct kin_error *draw_svg(struct kin_table *graph, bool full_names, FILE *out)
{
	struct kin_render_opts o = { .size = sizeof(o), .full_names = full_names };
	FILE *text = tmpfile(), *picture = tmpfile();
	struct kin_error *err = text && picture ? kin_render(graph, "dot", &o, text)
						: err_os(errno, "a temporary file");
	if (!err) {
		rewind(text);
		err = run_dot(text, picture);
	}
	if (!err)
		copy(picture, out);
	if (text)
		fclose(text);
	if (picture)
		fclose(picture);
	return err;
}

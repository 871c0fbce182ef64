/* gate.c - reads commands from pipes, and starts and stops events when time or command says so. */
#include "record/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/vec.h"

struct gate {
	const struct gate_opts *opts;
	int fd, ack; /* -1: none */
	bool owned;  /* close the descriptors at the end */
	uint64_t start_ns;
	size_t next; /* index of the next span */
	bool open, stopped;
	VEC(struct gate_span) opened; /* on the clock; the last has no end while open */
	char line[256];
	size_t n_line;
};

/* ---- the pipes ---- */

static bool take_fd(const char *s, const char **end, int *ret)
{
	char *after;
	long v = strtol(s, &after, 10);
	*end = after;
	*ret = (int)v;
	return after != s && v >= 0 && v < 1 << 20 && fcntl((int)v, F_GETFD) >= 0;
}

static struct kin_error *open_fds(struct gate *g, const char *text)
{
	const char *end;
	bool good = take_fd(text, &end, &g->fd);
	if (good && *end == ',')
		good = take_fd(end + 1, &end, &g->ack);
	if (good && !*end) {
		fcntl(g->fd, F_SETFL, fcntl(g->fd, F_GETFL) | O_NONBLOCK);
		fcntl(g->fd, F_SETFD, FD_CLOEXEC);
		if (g->ack >= 0)
			fcntl(g->ack, F_SETFD, FD_CLOEXEC);
		return NULL;
	}
	g->fd = g->ack = -1;
	return err_new(
		KIN_ERROR_USAGE,
		"--control=fd:%.80s: fd:N or fd:N,M with the numbers of open pipes is wanted",
		text);
}

/* Opens for reading and writing, so that neither side waits for the other. */
static int open_fifo(const char *path)
{
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static struct kin_error *no_fifo(const char *path)
{
	return err_new(KIN_ERROR_USAGE, "--control: %s: %s", path, strerror(errno));
}

static struct kin_error *open_fifos(struct gate *g, const char *text)
{
	size_t n = strcspn(text, ",");
	char *path = xprintf("%.*s", (int)n, text);
	struct kin_error *err = NULL;
	g->owned = true;
	g->fd = open_fifo(path);
	if (g->fd < 0)
		err = no_fifo(path);
	else if (text[n] && (g->ack = open_fifo(text + n + 1)) < 0)
		err = no_fifo(text + n + 1);
	free(path);
	return err;
}

struct kin_error *gate_open(const struct gate_opts *opts, struct gate **ret)
{
	struct gate *g = xalloc(sizeof(*g));
	struct kin_error *err = NULL;
	g->opts = opts;
	g->fd = g->ack = -1;
	const char *text = opts->control;
	if (text && !strncmp(text, "fd:", 3))
		err = open_fds(g, text + 3);
	else if (text && !strncmp(text, "fifo:", 5))
		err = open_fifos(g, text + 5);
	else if (text)
		err = err_new(
			KIN_ERROR_USAGE,
			"--control=%.80s: fd:N, fd:N,M, fifo:PATH or fifo:PATH,PATH is wanted",
			text);
	if (err) {
		gate_free(g);
		return err;
	}
	*ret = g;
	return NULL;
}

static void close_pipes(struct gate *g)
{
	if (g->owned && g->fd >= 0)
		close(g->fd);
	if (g->owned && g->ack >= 0)
		close(g->ack);
	g->fd = g->ack = -1;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	close_pipes(g);
	vec_free(&g->opened);
	free(g);
}

/* ---- time ---- */

static void set(struct gate *g, struct rings *r, bool open)
{
	if (open == g->open)
		return;
	g->open = open;
	uint64_t now_ns = clock_now_ns();
	if (open) {
		rings_enable(r);
		vec_push(&g->opened, ((struct gate_span){ now_ns, UINT64_MAX }));
	} else {
		rings_disable(r);
		g->opened.at[g->opened.n - 1].to_ns = now_ns;
	}
}

uint64_t gate_open_ns(const struct gate *g, uint64_t *from_ns, uint64_t to_ns)
{
	uint64_t sum = 0, first = *from_ns;
	for (size_t i = g->opened.n; i-- > 0 && g->opened.at[i].to_ns > *from_ns;) {
		const struct gate_span *s = &g->opened.at[i];
		uint64_t from = s->from_ns > *from_ns ? s->from_ns : *from_ns;
		uint64_t to = s->to_ns < to_ns ? s->to_ns : to_ns;
		if (from >= to)
			continue;
		first = from;
		sum += to - from;
	}
	*from_ns = first;
	return sum;
}

/* When the next span begins or the present one ends; UINT64_MAX: never. */
static uint64_t due_ns(const struct gate *g)
{
	if (g->next >= g->opts->n_spans)
		return UINT64_MAX;
	const struct gate_span *s = &g->opts->spans[g->next];
	uint64_t after = g->open ? s->to_ns : s->from_ns;
	return after == UINT64_MAX ? UINT64_MAX : g->start_ns + after;
}

uint64_t gate_wait_ms(const struct gate *g, uint64_t now_ns)
{
	uint64_t due = due_ns(g);
	if (due == UINT64_MAX)
		return UINT64_MAX;
	return due <= now_ns ? 0 : (due - now_ns) / 1000000 + 1;
}

static void heed_time(struct gate *g, struct rings *r, uint64_t now_ns)
{
	while (due_ns(g) <= now_ns) {
		g->next += g->open;
		set(g, r, !g->open);
	}
}

void gate_begin(struct gate *g, struct rings *r, uint64_t now_ns)
{
	g->start_ns = now_ns;
	if (!g->opts->n_spans)
		set(g, r, !g->opts->closed);
	heed_time(g, r, now_ns);
}

void gate_begin_again(struct gate *g, struct rings *r, uint64_t now_ns)
{
	if (g->opts->n_spans) {
		set(g, r, false);
		g->next = 0;
		g->start_ns = now_ns;
		heed_time(g, r, now_ns);
	} else if (g->open) {
		rings_enable(r); /* this includes the new program's events */
	}
}

/* ---- commands ---- */

static void heed_line(struct gate *g, struct rings *r, const struct gate_marker *m)
{
	static const char answer[] = "ack\n";
	if (!strcmp(g->line, "enable"))
		set(g, r, true);
	else if (!strcmp(g->line, "disable"))
		set(g, r, false);
	else if (!strcmp(g->line, "stop"))
		g->stopped = true;
	else if (!strncmp(g->line, "mark ", 5))
		m->mark(m->arg, g->line + 5);
	else if (strcmp(g->line, "ping") != 0)
		return;
	if (g->ack >= 0)
		(void)!write(g->ack, answer, sizeof(answer) - 1);
}

static void heed_commands(struct gate *g, struct rings *r, const struct gate_marker *m)
{
	char buffer[256];
	ssize_t n = -1;
	while (g->fd >= 0 && (n = read(g->fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buffer[i] != '\n' && buffer[i] != '\0') {
				if (g->n_line + 1 < sizeof(g->line))
					g->line[g->n_line++] = buffer[i];
				continue;
			}
			g->line[g->n_line] = '\0';
			heed_line(g, r, m);
			g->n_line = 0;
		}
	}
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_pipes(g); /* the other end was closed */
}

bool gate_act(struct gate *g, struct rings *r, const struct gate_marker *m, uint64_t now_ns)
{
	heed_time(g, r, now_ns);
	heed_commands(g, r, m);
	return !g->stopped;
}

int gate_fd(const struct gate *g) { return g->fd; }

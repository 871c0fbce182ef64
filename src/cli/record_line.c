/* record_line.c - draws the status line outside of the terminal's scrolling region, with sequences
 * of ECMA-48 and the VT100. */
#include "cli/record_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LEAST_ROWS = 4, LEAST_COLUMNS = 20 };

struct recording_line {
	int fd;                    /* the terminal; writes to it do not block */
	unsigned rows;             /* rows of the terminal when the line was drawn; 0: there is no
				      line */
	bool stuck;                /* the terminal is not read: a sequence was written only in
				      part */
	uint64_t samples, time_ns; /* when the line was last drawn */
};

struct recording_line *recording_line_new(void)
{
	const char *term = getenv("TERM");
	if (!isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return NULL;
	/* Opened separately, so that not blocking does not affect the program. */
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct recording_line *l = xalloc(sizeof(*l));
	*l = (struct recording_line){ .fd = fd };
	return l;
}

static void put(struct recording_line *l, const char *text, size_t n)
{
	if (!l->stuck)
		l->stuck = write(l->fd, text, n) != (ssize_t)n;
}

/* ESC 7 and ESC 8 save and restore the cursor, because setting the scrolling region moves it. */
static void hide(struct recording_line *l)
{
	char text[64];
	if (!l->rows)
		return;
	int n = snprintf(text, sizeof(text), "\0337\033[r\033[%u;1H\033[K\0338", l->rows);
	put(l, text, (size_t)n);
	l->rows = 0;
}

static bool is_ours(const struct recording_line *l, struct winsize *size)
{
	struct termios t;
	return !l->stuck && tcgetpgrp(l->fd) == getpgrp() && !tcgetattr(l->fd, &t) &&
	       (t.c_lflag & ICANON) && !ioctl(l->fd, TIOCGWINSZ, size) &&
	       size->ws_row >= LEAST_ROWS && size->ws_col >= LEAST_COLUMNS;
}

static void describe(const struct recording_line *l, const struct record_seen *now, char text[256])
{
	uint64_t ns = now->time_ns - l->time_ns;
	double rate = ns ? (double)(now->samples - l->samples) * 1e9 / (double)ns : 0;
	char lost[48] = "none lost";
	if (now->lost)
		snprintf(lost, sizeof(lost), "LOST %llu", (unsigned long long)now->lost);
	snprintf(text, 256,
		 "kin record: %llu s; %.0f samples/s; %llu process%s, %llu thread%s; %s; %llu "
		 "samples",
		 (unsigned long long)(now->time_ns / 1000000000u), rate,
		 (unsigned long long)now->processes, now->processes == 1 ? "" : "es",
		 (unsigned long long)now->threads, now->threads == 1 ? "" : "s", lost,
		 (unsigned long long)now->samples);
}

void recording_line_draw(void *line, const struct record_seen *now)
{
	struct recording_line *l = line;
	struct winsize size;
	char what[256], text[400];
	if (!is_ours(l, &size)) {
		hide(l);
		return;
	}
	if (l->rows && l->rows != size.ws_row)
		hide(l);
	describe(l, now, what);
	/* The first time, scroll up what is in the last row. */
	int n = snprintf(text, sizeof(text), "%s\0337\033[1;%ur\033[%u;1H\033[K%.*s\0338",
			 l->rows ? "" : "\033D\033[A", size.ws_row - 1u, (unsigned)size.ws_row,
			 size.ws_col - 1, what);
	l->rows = size.ws_row;
	l->samples = now->samples;
	l->time_ns = now->time_ns;
	put(l, text, (size_t)n);
}

void recording_line_free(struct recording_line *l)
{
	if (!l)
		return;
	hide(l);
	close(l->fd);
	free(l);
}

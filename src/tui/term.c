/* term.c - takes over the terminal, draws only what changed, reads keys, and restores
 * everything. */
#include "tui/term.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/utf8.h"

/* Signals for which ncurses installs handlers. Its handlers end the process or stay installed for
 * ever. */
static const int handled[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
/* Signals that an error of our own raises. */
static const int deadly[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

/* A thread that receives the signals, because the drawing thread may hang in write() on a terminal
 * that nobody reads. */
struct watch {
	pthread_t thread, drawing;
	bool runs;
	int signals;       /* signalfd */
	int came, closed;  /* eventfds: a signal came; the terminal is closed */
	atomic_int tty;    /* -1: not open yet */
	atomic_int signal; /* the signal that came; 0: none */
};

struct term {
	FILE *tty;
	SCREEN *screen;
	sigset_t taken, before;
	struct sigaction actions_before[ARRAY_LEN(handled)];
	struct watch watch;
	char *locale_before;
	bool colors, ascii;
	bool shuns_last; /* the last column stays empty */
};

enum { PAIR_HOT = 1, PAIR_WARM, PAIR_BLOCK };

/* ---- sudden death ---- */

/* What a signal handler needs to restore the terminal; it must not call ncurses. */
static struct {
	int fd; /* -1: nothing to restore */
	struct termios modes;
	char texts[256]; /* text to send to the terminal */
	struct sigaction before[ARRAY_LEN(deadly)];
} put_back = { .fd = -1 };

static void send_text(int fd, const char *text)
{
	ssize_t ignored = write(fd, text, strlen(text));
	(void)ignored;
}

static void put_back_at_once(void)
{
	if (put_back.fd < 0)
		return;
	send_text(put_back.fd, put_back.texts);
	tcsetattr(put_back.fd, TCSANOW, &put_back.modes);
	put_back.fd = -1;
}

static void on_deadly(int number)
{
	put_back_at_once();
	for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
		if (deadly[i] == number)
			sigaction(number, &put_back.before[i], NULL);
	raise(number); /* delivered when this handler returns */
}

/* The terminal's sequence of that name; NULL: it has none. */
static const char *sequence(const char *name)
{
	const char *text = tigetstr(name);
	return text == (const char *)-1 ? NULL : text;
}

static void prepare_sudden_end(struct term *t)
{
	static const char *const names[] = { "sgr0", "cnorm", "rmkx", "rmcup" };
	struct sigaction a = { .sa_handler = on_deadly };
	put_back.texts[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *text = sequence(names[i]);
		if (!text || strchr(text, '$')) /* '$': requests pauses */
			continue;
		size_t n = strlen(put_back.texts);
		snprintf(put_back.texts + n, sizeof(put_back.texts) - n, "%s", text);
	}
	for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
		sigaction(deadly[i], &a, &put_back.before[i]);
	put_back.fd = fileno(t->tty);
}

static void forget_sudden_end(void)
{
	if (put_back.fd < 0)
		return;
	put_back.fd = -1;
	for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
		sigaction(deadly[i], &put_back.before[i], NULL);
}

/* ---- a terminal that is not read ---- */

enum { PATIENCE_MS = 400 };

/* Discards output that the terminal has not read yet, to make room for the sequences that restore
 * it. CAN ends an escape sequence that was cut short. */
static void put_back_stalled(int tty)
{
	static const char cancel[] = "\030";
	tcflush(tty, TCOFLUSH);
	send_text(tty, cancel);
	send_text(tty, put_back.texts);
	tcsetattr(tty, TCSANOW, &put_back.modes);
}

static bool is_closed(const struct watch *w, int timeout_ms)
{
	return poll(&(struct pollfd){ w->closed, POLLIN, 0 }, 1, timeout_ms) > 0;
}

/* Replaces the terminal by /dev/null for the drawing thread, so that it continues to its normal
 * end. The signal, which ncurses handles, interrupts the write() in which the thread may hang. */
static void free_from_terminal(struct watch *w)
{
	int tty = fcntl(w->tty, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (tty >= 0 && null >= 0) {
		fcntl(tty, F_SETFL, O_RDWR | O_NONBLOCK);
		dup3(null, w->tty, O_CLOEXEC);
		pthread_kill(w->drawing, SIGWINCH);
		is_closed(w, PATIENCE_MS);
		put_back_stalled(tty);
	}
	if (null >= 0)
		close(null);
	if (tty >= 0)
		close(tty);
}

/* Ends the process as the signal would have done if we had not taken it. */
static void die(int number)
{
	sigset_t one;
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
}

static void *keep_watch(void *arg)
{
	struct watch *w = arg;
	struct signalfd_siginfo seen;
	struct pollfd fds[] = { { w->signals, POLLIN, 0 }, { w->closed, POLLIN, 0 } };
	while (poll(fds, ARRAY_LEN(fds), -1) < 0)
		;
	if (fds[1].revents || read(w->signals, &seen, sizeof(seen)) != (ssize_t)sizeof(seen))
		return NULL;
	atomic_store(&w->signal, (int)seen.ssi_signo);
	eventfd_write(w->came, 1);
	if (is_closed(w, PATIENCE_MS))
		return NULL;
	if (w->tty >= 0)
		free_from_terminal(w);
	if (!is_closed(w, 0))
		die((int)seen.ssi_signo);
	return NULL;
}

static void watch_start(struct watch *w, const sigset_t *signals)
{
	w->drawing = pthread_self();
	w->tty = -1;
	w->signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	w->came = eventfd(0, EFD_CLOEXEC);
	w->closed = eventfd(0, EFD_CLOEXEC);
	w->runs = w->signals >= 0 && w->came >= 0 && w->closed >= 0 &&
		  !pthread_create(&w->thread, NULL, keep_watch, w);
}

/* To be called when the terminal is closed: ncurses no longer uses it. */
static void watch_stop(struct watch *w)
{
	if (w->runs) {
		eventfd_write(w->closed, 1);
		pthread_join(w->thread, NULL);
	}
	int fds[] = { w->signals, w->came, w->closed };
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The descriptor that poll() watches for signals. */
static int watch_fd(const struct watch *w) { return w->runs ? w->came : w->signals; }

static bool watch_seen(struct watch *w)
{
	struct signalfd_siginfo seen;
	if (!w->runs && w->signals >= 0 &&
	    read(w->signals, &seen, sizeof(seen)) == (ssize_t)sizeof(seen))
		atomic_store(&w->signal, (int)seen.ssi_signo);
	return atomic_load(&w->signal);
}

/* ---- opening ---- */

static void take_signals(struct term *t)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigemptyset(&t->taken);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct sigaction a;
		if (!sigaction(numbers[i], NULL, &a) && a.sa_handler != SIG_IGN)
			sigaddset(&t->taken, numbers[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(handled); i++)
		sigaction(handled[i], NULL, &t->actions_before[i]);
	pthread_sigmask(SIG_BLOCK, &t->taken, &t->before);
	watch_start(&t->watch, &t->taken);
}

static void give_signals_back(struct term *t)
{
	int came = atomic_load(&t->watch.signal);
	for (size_t i = 0; i < ARRAY_LEN(handled); i++)
		sigaction(handled[i], &t->actions_before[i], NULL);
	if (came)
		raise(came); /* delivered when it is unblocked below */
	pthread_sigmask(SIG_SETMASK, &t->before, NULL);
}

/* Backgrounds for black text: of TERM_BLOCK_MAIN and the styles that follow it. */
static const short block_colors[] = { COLOR_YELLOW, COLOR_GREEN, COLOR_CYAN, COLOR_WHITE,
				      COLOR_MAGENTA };

static void choose_colors(struct term *t)
{
	const char *none = getenv("NO_COLOR"), *usual = getenv("CLICOLOR");
	if ((none && *none) || (usual && !strcmp(usual, "0")) || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_GREEN, -1);
	for (size_t i = 0; i < ARRAY_LEN(block_colors); i++)
		init_pair((short)(PAIR_BLOCK + i), COLOR_BLACK, block_colors[i]);
	t->colors = true;
}

bool term_is_dumb(void)
{
	const char *name = getenv("TERM");
	return !name || !*name || !strcmp(name, "dumb");
}

/* Avoids two problems. With TERM=ansi, as on serial lines and in containers, the cursor moves to
 * the next line once the last column is written, and is moved by tabs. Terminal programs such as
 * tmux and xterm instead keep the cursor in the last column until the next character, and then
 * clear the wrong line; few of them support the tabs. */
static void start_screen(struct term *t)
{
	static const char tabs[] = "NCURSES_NO_HARD_TABS";
	bool is_said = getenv(tabs);
	setenv(tabs, "1", 0);
	t->screen = newterm(NULL, t->tty, t->tty);
	if (!is_said)
		unsetenv(tabs);
	t->shuns_last = t->screen && tigetflag("am") == 1 && tigetflag("xenl") != 1;
}

static struct kin_error *open_screen(struct term *t)
{
	const char *name = getenv("TERM");
	t->tty = fopen("/dev/tty", "r+e");
	if (!t->tty)
		return err_os(errno, "no terminal (kin report and kin graph need none): /dev/tty");
	if (term_is_dumb())
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "the terminal can only print, as TERM is '%s': kin report and kin "
			       "graph do",
			       name ? name : "");
	/* Characters follow the locale; numbers do not. */
	const char *before = setlocale(LC_CTYPE, NULL);
	t->locale_before = before ? xprintf("%s", before) : NULL;
	setlocale(LC_CTYPE, "");
	t->ascii = MB_CUR_MAX == 1;
	tcgetattr(fileno(t->tty), &put_back.modes);
	atomic_store(&t->watch.tty, fileno(t->tty));
	start_screen(t);
	if (!t->screen)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "nothing is known here about terminals of the kind '%s': "
			       "TERM=xterm-256color suits most; kin report and kin graph need none",
			       name);
	set_term(t->screen);
	raw(); /* we handle interrupts; programs that we started do not get them */
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	choose_colors(t);
	prepare_sudden_end(t);
	return NULL;
}

struct kin_error *term_open(struct term **ret)
{
	struct term *t = xalloc(sizeof(*t));
	take_signals(t);
	struct kin_error *err = open_screen(t);
	if (err)
		term_close(t);
	else
		*ret = t;
	return err;
}

/* On terminals that cannot restore the previous screen, such as Linux's console, the shell
 * continues in the last row. */
static void clear_last_row(void)
{
	if (sequence("rmcup"))
		return;
	move(getmaxy(stdscr) - 1, 0);
	clrtoeol();
	refresh();
}

void term_close(struct term *t)
{
	if (!t)
		return;
	if (t->screen) {
		forget_sudden_end();
		clear_last_row();
		endwin();
		delscreen(t->screen);
	}
	watch_stop(&t->watch);
	if (t->tty)
		fclose(t->tty);
	if (t->locale_before)
		setlocale(LC_CTYPE, t->locale_before);
	free(t->locale_before);
	give_signals_back(t);
	free(t);
}

/* ---- drawing ---- */

unsigned term_rows_expected(void)
{
	enum { USUAL_ROWS = 24 };
	struct winsize w;
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool known = fd >= 0 && !ioctl(fd, TIOCGWINSZ, &w) && w.ws_row;
	if (fd >= 0)
		close(fd);
	return known ? w.ws_row : USUAL_ROWS;
}

unsigned term_rows(const struct term *t)
{
	(void)t;
	int n = getmaxy(stdscr);
	return n > 0 ? (unsigned)n : 1;
}

bool term_is_ascii(const struct term *t) { return t->ascii; }

unsigned term_columns(const struct term *t)
{
	int n = getmaxx(stdscr) - t->shuns_last;
	return n > 0 ? (unsigned)n : 1;
}

void term_clear(struct term *t)
{
	(void)t;
	erase();
}

static attr_t attributes(const struct term *t, int style, short *pair)
{
	attr_t a = style & TERM_SELECTED ? A_REVERSE : A_NORMAL;
	*pair = 0;
	switch ((enum term_style)(style & ~TERM_SELECTED)) {
	case TERM_PLAIN:
	case TERM_SELECTED:
		break;
	case TERM_BOLD:
		return a | A_BOLD;
	case TERM_DIM:
		return a | A_DIM;
	case TERM_BAR:
		return a | A_REVERSE;
	case TERM_HOT:
		*pair = t->colors ? PAIR_HOT : 0;
		return t->colors ? a : a | A_BOLD;
	case TERM_WARM:
		*pair = t->colors ? PAIR_WARM : 0;
		break;
	case TERM_BLOCK_MAIN:
	case TERM_BLOCK_LIBRARY:
	case TERM_BLOCK_KERNEL:
	case TERM_BLOCK_OTHER:
	case TERM_BLOCK_FOUND:
		*pair = t->colors ? (short)(PAIR_BLOCK + (style & ~TERM_SELECTED) - TERM_BLOCK_MAIN)
				  : 0;
		return !t->colors && (style & ~TERM_SELECTED) == TERM_BLOCK_FOUND ? a | A_BOLD : a;
	}
	return a;
}

/* Writes as many characters as fit, and a mark if there are more; returns the columns used.
 * Invisible characters and invalid UTF-8 become '?': names were escaped before. If only ASCII can
 * be shown, any other character becomes as many '?' as it has columns. */
static unsigned put_text(struct term *t, const char *text, unsigned width)
{
	const unsigned char *p = (const unsigned char *)text;
	bool is_cut = width && escape_width(text) > width;
	unsigned used = 0;
	width -= is_cut;
	while (*p) {
		uint32_t c = '?';
		size_t n = utf8_decode(p, &c);
		if (!n || utf8_is_formatting(c))
			c = '?';
		unsigned wide = utf8_width(c);
		if (used + wide > width)
			break;
		wchar_t w[2] = { (wchar_t)c, 0 };
		if (t->ascii && c > 126)
			addnwstr(L"??", (int)wide);
		else
			addnwstr(w, 1);
		used += wide;
		p += n ? n : 1;
	}
	if (is_cut)
		addnwstr(t->ascii ? L">" : L"…", 1);
	return used + is_cut;
}

void term_put(struct term *t, unsigned row, unsigned column, unsigned width, const char *text,
	      int style)
{
	unsigned columns = term_columns(t);
	short pair;
	if (row >= term_rows(t) || column >= columns)
		return;
	if (width > columns - column)
		width = columns - column;
	attr_t a = attributes(t, style, &pair);
	move((int)row, (int)column);
	attr_set(a, pair, NULL);
	unsigned used = put_text(t, text, width);
	for (; used < width; used++)
		addch(' ');
	attr_set(A_NORMAL, 0, NULL);
}

void term_show(struct term *t)
{
	(void)t;
	refresh();
}

/* ---- keys ---- */

static uint32_t special(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return TERM_UP;
	case KEY_DOWN:
		return TERM_DOWN;
	case KEY_LEFT:
		return TERM_LEFT;
	case KEY_RIGHT:
		return TERM_RIGHT;
	case KEY_PPAGE:
		return TERM_PAGE_UP;
	case KEY_NPAGE:
		return TERM_PAGE_DOWN;
	case KEY_HOME:
		return TERM_HOME;
	case KEY_END:
		return TERM_LAST;
	case KEY_BACKSPACE:
		return TERM_BACKSPACE;
	case KEY_ENTER:
		return TERM_ENTER;
	case KEY_F(1):
		return TERM_HELP;
	case KEY_F(10):
		return TERM_QUIT;
	case KEY_RESIZE:
		return TERM_RESIZED;
	default:
		return TERM_NONE;
	}
}

/* Suspends as the terminal would: all processes of the job stop. Otherwise a shell that waits for
 * the script that started us would not notice. */
static void suspend(void)
{
	struct sigaction before, usual = { .sa_handler = SIG_DFL };
	def_prog_mode();
	endwin();
	sigaction(SIGTSTP, &usual, &before);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	reset_prog_mode();
	clearok(stdscr, TRUE);
}

static uint32_t next_key(void)
{
	enum { CONTROL_C = 3, CONTROL_L = 12, CONTROL_BACKSLASH = 28, CONTROL_Z = 26 };
	wint_t key;
	int kind = get_wch(&key);
	if (kind == ERR)
		return TERM_NONE;
	if (kind == KEY_CODE_YES)
		return special(key);
	if (key == CONTROL_C || key == CONTROL_BACKSLASH)
		return TERM_END;
	if (key == CONTROL_Z) {
		suspend();
		return TERM_RESIZED;
	}
	if (key == CONTROL_L) {
		clearok(stdscr, TRUE);
		return TERM_RESIZED;
	}
	if (key == '\r')
		return TERM_ENTER;
	return key == '\b' ? TERM_BACKSPACE : (uint32_t)key;
}

uint32_t term_key(struct term *t, int timeout_ms)
{
	struct pollfd fds[] = { { fileno(t->tty), POLLIN, 0 }, { watch_fd(&t->watch), POLLIN, 0 } };
	uint32_t key = next_key(); /* one that was read together with the previous key */
	if (key != TERM_NONE)
		return key;
	poll(fds, ARRAY_LEN(fds), timeout_ms);
	if (watch_seen(&t->watch))
		return TERM_END;
	key = next_key();
	return key == TERM_NONE && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ? TERM_END : key;
}

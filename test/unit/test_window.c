/* Files read piece by piece and written whole: reading in any order gives the file's contents, and
 * a written file appears once it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out.h"
#include "input/window.h"
#include "tap.h"

enum { LARGE = 700001 }; /* some windows, and a part of one */

static char dir[] = "/tmp/test_window.XXXXXX";
static uint8_t data[LARGE];
static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static const char *in_dir(const char *name)
{
	static char path[4][100];
	static int next;
	char *p = path[next++ % 4];
	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static bool failed(struct kin_error *err)
{
	bool is = err != NULL;
	kin_error_free(err);
	return is;
}

/* ---- writing ---- */

static size_t put_data(struct out *o, size_t n)
{
	size_t at = 0;
	while (at < n) {
		size_t some = 1 + pick(pick(3) ? 100 : 100000);
		some = some < n - at ? some : n - at;
		if (some <= OUT_SPACE && pick(2))
			memcpy(out_space(o, some), data + at, some);
		else
			out_put(o, data + at, some);
		at += some;
	}
	return at;
}

static bool holds_data(const char *path, size_t n)
{
	static uint8_t read[LARGE + 1];
	FILE *f = fopen(path, "rb");
	size_t got = f ? fread(read, 1, sizeof(read), f) : SIZE_MAX;
	if (f)
		fclose(f);
	return got == n && !memcmp(read, data, n);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static size_t count_files(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += strspn(e->d_name, ".") < strlen(e->d_name);
	if (d)
		closedir(d);
	return n;
}

static void test_writing(void)
{
	const char *path = in_dir("whole");
	struct out *o;
	umask(022);
	OK(!failed(out_open(path, 0666, &o)));
	OK(access(path, F_OK) != 0);
	put_data(o, LARGE);
	OK(access(path, F_OK) != 0); /* not before it is whole */
	OK(!failed(out_close(o)));
	OK(holds_data(path, LARGE));
	OK(mode_of(path) == 0644);

	OK(chmod(path, 0604) == 0); /* the file's rights stay, as far as they are allowed */
	OK(!failed(out_open(path, 0660, &o)));
	put_data(o, 5);
	OK(holds_data(path, LARGE));
	OK(!failed(out_close(o)));
	OK(holds_data(path, 5) && mode_of(path) == 0600);

	OK(!failed(out_open(in_dir("empty"), 0600, &o)) && !failed(out_close(o)));
	OK(holds_data(in_dir("empty"), 0) && mode_of(in_dir("empty")) == 0600);

	path = in_dir("folder"); /* that somebody else makes meanwhile */
	OK(!failed(out_open(path, 0600, &o)));
	put_data(o, 5);
	OK(mkdir(path, 0700) == 0 && failed(out_close(o)));
	OK(rmdir(path) == 0);
	OK(count_files() == 2); /* nothing is left beside it */
}

/* A temporary file that an earlier process of this number left does not prevent writing, and is not
 * written to. */
static void test_left_overs(void)
{
	const char *path = in_dir("left");
	char name[200];
	struct out *o;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%s.%d.%d.tmp", path, (int)getpid(), i);
		fclose(fopen(name, "w"));
		if (i == 1) {
			OK(!failed(out_open(path, 0600, &o)));
			put_data(o, 100);
			OK(!failed(out_close(o)));
			OK(holds_data(path, 100) && holds_data(name, 0));
		}
	}
	OK(failed(out_open(path, 0600, &o)) || failed(out_close(o)));
	OK(holds_data(path, 100));
}

/* Where files need no name, a process that is killed while it writes one leaves nothing. */
static void test_killed(void)
{
	const char *path = in_dir("killed");
	int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600), status = 0;
	size_t before = count_files();
	if (fd < 0)
		return;
	close(fd);
	pid_t pid = fork();
	if (!pid) {
		struct out *o;
		if (!failed(out_open(path, 0600, &o)))
			put_data(o, LARGE);
		raise(SIGKILL);
	}
	OK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	OK(count_files() == before);
}

/* A file that may be written is, in a folder where there may be no other beside it. */
static void test_fixed_folders(void)
{
	const char *path = in_dir("fixed/file"), *other = in_dir("fixed/other");
	struct out *o;
	bool root = !geteuid();
	OK(chmod(dir, 0755) == 0 && mkdir(in_dir("fixed"), 0755) == 0);
	fclose(fopen(path, "w"));
	OK(chmod(path, 0666) == 0 && chmod(in_dir("fixed"), 0555) == 0);
	if (root)
		root = seteuid(65534) == 0;
	if (OK(!failed(out_open(path, 0600, &o)))) {
		put_data(o, 5);
		OK(!failed(out_close(o)));
	}
	if (geteuid()) {
		struct kin_error *err = out_open(other, 0600, &o);
		OK(err && strstr(kin_error_message(err), "/fixed/other: Permission denied"));
		kin_error_free(err);
	}
	OK(!root || seteuid(0) == 0);
	OK(holds_data(path, 5) && access(other, F_OK) != 0);
	OK(chmod(in_dir("fixed"), 0755) == 0);
}

/* Pipes and devices are written directly. */
static void test_pipes(void)
{
	static uint8_t read_back[1001];
	char path[32];
	int ends[2];
	struct out *o;
	OK(pipe(ends) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	if (!OK(!failed(out_open(path, 0600, &o))))
		return;
	put_data(o, 1000);
	OK(!failed(out_close(o)));
	OK(read(ends[0], read_back, sizeof(read_back)) == 1000 && !memcmp(read_back, data, 1000));

	signal(SIGPIPE, SIG_IGN);
	if (!OK(!failed(out_open(path, 0600, &o))))
		return;
	close(ends[0]);
	put_data(o, LARGE); /* of more than one write, the first of which fails */
	struct kin_error *err = out_close(o);
	OK(err && strstr(kin_error_message(err), ": Broken pipe"));
	kin_error_free(err);
	close(ends[1]);
}

/* ---- reading ---- */

static void test_reading(void)
{
	struct window w;
	size_t at = 0, wrong = 0, steps = 0;
	OK(window_open(&w, in_dir("large")));
	OK(window_left(&w) == LARGE && window_offset(&w) == 0);
	while (window_left(&w)) {
		size_t n = 1 + pick(pick(9) ? 5000 : 400000), got = window_need(&w, n);
		size_t rest = LARGE - at;
		wrong += got < (n < rest ? n : rest) || got > rest;
		wrong += memcmp(w.b.pos, data + at, got) != 0;
		size_t some = 1 + pick((uint32_t)(n < got ? n : got));
		bytes_skip(&w.b, some);
		at += some;
		wrong += window_offset(&w) != at || window_left(&w) != LARGE - at;
		steps++;
	}
	OK(!wrong && at == LARGE && steps > 10);
	OK(window_need(&w, 1) == 0);
	OK(!failed(window_error(&w)));
	window_close(&w);
	OK(w.fd == -1 && !w.buffer);
}

static void test_seeking(void)
{
	struct window w;
	size_t wrong = 0;
	OK(window_open(&w, in_dir("large")));
	for (int i = 0; i < 2000; i++) {
		bool near = pick(2);
		uint64_t from = window_offset(&w);
		uint64_t to = near ? from + pick(20) : pick(LARGE + 1);
		if (near && pick(2))
			to = from > 20 ? from - pick(20) : 0;
		to = to > LARGE ? LARGE : to;
		wrong += !window_seek(&w, to) || window_offset(&w) != to ||
			 window_left(&w) != LARGE - to;
		size_t n = 1 + pick(pick(9) ? 100 : 300000), got = window_need(&w, n);
		wrong += got < (n < LARGE - to ? n : LARGE - to);
		wrong += memcmp(w.b.pos, data + to, got) != 0;
	}
	OK(!wrong);
	OK(window_seek(&w, LARGE) && window_left(&w) == 0);
	OK(!window_seek(&w, LARGE + 1) && window_offset(&w) == LARGE && window_left(&w) == 0);
	OK(window_seek(&w, 3) && window_need(&w, 10) >= 10 && *w.b.pos == data[3]);
	OK(!window_seek(&w, UINT64_MAX) && window_offset(&w) == LARGE);
	/* Where reading went wrong does not matter after going elsewhere. */
	OK(window_seek(&w, 5));
	window_need(&w, 10);
	bytes_skip(&w.b, LARGE);
	OK(w.b.failed && window_need(&w, LARGE) < LARGE);
	OK(window_seek(&w, 7) && window_need(&w, 10) >= 10 && *w.b.pos == data[7]);
	OK(!failed(window_error(&w)));
	window_close(&w);
}

struct pieces { /* memory for the bytes that were read */
	uint8_t *at[1000];
	size_t n;
};

static uint8_t *take_piece(void *arg, size_t n, size_t *cap)
{
	enum { SMALL = 10000 };
	struct pieces *p = arg;
	*cap = n > SMALL ? n : SMALL;
	return p->at[p->n++] = xrealloc(NULL, *cap, 1);
}

/* Bytes that were passed stay where they were read to. */
static void test_room(void)
{
	static struct {
		const uint8_t *at;
		size_t from, n;
	} kept[850];
	struct pieces pieces = { .n = 0 };
	struct window_room room = { take_piece, &pieces };
	size_t n, at = 50, wrong = 0;
	struct window w;
	OK(window_open(&w, in_dir("large")) && window_need(&w, 100) >= 100);
	bytes_skip(&w.b, at);
	window_use_room(&w, &room);
	for (n = 0; n < ARRAY_LEN(kept); n++) {
		size_t some = 1 + pick(pick(50) ? 900 : 15000);
		wrong += window_need(&w, some) < some || window_offset(&w) != at;
		kept[n].at = w.b.pos;
		kept[n].from = at;
		kept[n].n = some;
		bytes_skip(&w.b, some);
		at += some;
	}
	OK(!wrong && pieces.n > 10);
	OK(window_seek(&w, 3) && window_need(&w, 10) >= 10 && *w.b.pos == data[3]);
	OK(window_seek(&w, at) && window_need(&w, 10) >= 10 && *w.b.pos == data[at]);
	for (size_t i = 0; i < n; i++)
		wrong += memcmp(kept[i].at, data + kept[i].from, kept[i].n) != 0;
	OK(!wrong);
	window_use_room(&w, NULL);
	for (size_t i = 0; i < pieces.n; i++)
		memset(pieces.at[i], 0, 10000);
	OK(window_offset(&w) == at && window_need(&w, 50000) >= 50000);
	OK(!memcmp(w.b.pos, data + at, 50000));
	window_use_room(&w, &room);
	window_close(&w);
	for (size_t i = 0; i < pieces.n; i++)
		free(pieces.at[i]);
}

/* A file that gets shorter meanwhile ends there. */
static void test_shrinking(void)
{
	struct window w;
	OK(window_open(&w, in_dir("large")));
	OK(window_need(&w, 100) >= 100 && truncate(in_dir("large"), 300000) == 0);
	errno = EINTR; /* of some call before */
	OK(window_need(&w, LARGE) == 300000);
	OK(!memcmp(w.b.pos, data, 300000) && window_left(&w) == 300000);
	window_close(&w);

	OK(window_open(&w, in_dir("large")));
	close(w.fd);
	OK(window_need(&w, 10) == 0 && window_left(&w) == 0);
	struct kin_error *err = window_error(&w);
	OK(err && strstr(kin_error_message(err), "/large: Bad file descriptor"));
	kin_error_free(err);
	w.fd = -1;
	window_close(&w);

	OK(window_open(&w, in_dir("large")) && window_need(&w, 100) >= 100);
	close(w.fd);
	OK(!window_seek(&w, 299999) && window_left(&w) == 0 && window_need(&w, 1) == 0);
	err = window_error(&w);
	OK(err && strstr(kin_error_message(err), "/large: Bad file descriptor"));
	kin_error_free(err);
	w.fd = -1;
	window_close(&w);

	OK(truncate(in_dir("large"), 1) == 0 && window_open(&w, in_dir("large")));
	OK(window_need(&w, 2) == 1);
	window_close(&w);

	int next = dup(0), after;
	close(next);
	OK(!window_open(&w, dir) && !window_open(&w, "/dev/null"));
	OK(!window_open(&w, in_dir("no")));
	OK(!window_open(&w, in_dir("empty"))); /* nothing to read piece by piece */
	after = dup(0);
	close(after);
	OK(after == next); /* none of them is left open */
}

/* A process that was started without standard input gets descriptor 0 for its first file. */
static void test_descriptor_0(void)
{
	int saved = dup(STDIN_FILENO);
	struct window w;
	struct out *o;
	close(STDIN_FILENO);
	OK(!failed(out_open(in_dir("zero"), 0600, &o)));
	OK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	put_data(o, 1000);
	OK(!failed(out_close(o)) && fcntl(STDIN_FILENO, F_GETFD) < 0);
	OK(holds_data(in_dir("zero"), 1000));
	OK(chmod(in_dir("zero"), 0640) == 0 && !failed(out_open(in_dir("zero"), 0666, &o)));
	put_data(o, 500);
	OK(!failed(out_close(o)) && mode_of(in_dir("zero")) == 0640);
	OK(window_open(&w, in_dir("zero")) && w.fd == STDIN_FILENO);
	OK(window_need(&w, 500) == 500 && !memcmp(w.b.pos, data, 500));
	window_close(&w);
	OK(fcntl(STDIN_FILENO, F_GETFD) < 0);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
	close(saved);
}

static void test_memory(void)
{
	struct window w = window_of(bytes_of("memory", data, 1000));
	OK(window_need(&w, 2000) == 1000 && window_left(&w) == 1000);
	OK(window_seek(&w, 1000) && window_left(&w) == 0);
	OK(window_seek(&w, 10) && window_left(&w) == 990 && *w.b.pos == data[10]);
	OK(!window_seek(&w, 1001));
	window_close(&w);
}

int main(void)
{
	if (!mkdtemp(dir)) {
		printf("Bail out! no directory in /tmp\n");
		return 1;
	}
	for (size_t i = 0; i < LARGE; i++)
		data[i] = (uint8_t)pick(256);
	test_writing();
	test_left_overs();
	test_killed();
	test_fixed_folders();
	test_pipes();
	struct out *o;
	OK(!failed(out_open(in_dir("large"), 0600, &o)));
	put_data(o, LARGE);
	OK(!failed(out_close(o)));
	test_reading();
	test_seeking();
	test_room();
	test_shrinking();
	test_descriptor_0();
	test_memory();
	char command[100];
	snprintf(command, sizeof(command), "rm -r %s", dir);
	OK(system(command) == 0);
	return DONE();
}

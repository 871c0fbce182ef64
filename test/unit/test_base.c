/* Interned strings, the map, the arena, and names made safe for a terminal. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/beside.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/guard.h"
#include "base/map64.h"
#include "base/pairs.h"
#include "base/remarks.h"
#include "base/strtab.h"

static void equal_strings_have_equal_ids(void)
{
	struct strtab *t = strtab_new();
	char name[32];
	OK(strtab_add(t, "") == 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "function_%d", i);
		if (strtab_add(t, name) != (strid)i + 1)
			OK(!"ids are given in order");
	}
	OK(strtab_add(t, "function_77") == 78);
	OK(strtab_addn(t, "function_77", 10) == strtab_add(t, "function_7"));
	OK_STR(strtab_get(t, 4999), "function_4998");
	strtab_free(t);
}

static void pairs_are_found(void)
{
	static struct {
		uint32_t a, b;
	} records[20000];
	struct pairs x = { 0 };
	bool good = true;
	for (uint32_t i = 0; i < ARRAY_LEN(records); i++) {
		uint32_t a = i / 3, b = UINT32_MAX - i * 7;
		good &= pairs_add(&x, a, b, i) == i;
		records[i].a = a;
		records[i].b = b;
	}
	for (uint32_t i = 0; i < ARRAY_LEN(records); i++)
		good &= pairs_add(&x, records[i].a, records[i].b, 77) == i;
	OK(good);
	OK(x.n == ARRAY_LEN(records));
	OK(pairs_add(&x, 0, 5, 20000) == 20000);
	pairs_free(&x);
	OK(pairs_add(&x, 1, 2, 0) == 0);
	pairs_free(&x);
}

static void map_keeps_what_was_put(void)
{
	struct map64 m = { 0 };
	OK(map64_get(&m, 7) == NONE);
	for (uint64_t i = 0; i < 10000; i++)
		*map64_at(&m, i * 0x100000001u) = (uint32_t)i;
	int bad = 0;
	for (uint64_t i = 0; i < 10000; i++)
		bad += map64_get(&m, i * 0x100000001u) != i;
	OK(bad == 0);
	OK(m.n == 10000);
	OK(map64_get(&m, 0x100000001u * 10000) == NONE);
	for (uint64_t i = 0; i < 10000; i += 1 + i % 3)
		map64_remove(&m, i * 0x100000001u);
	map64_remove(&m, 7);
	size_t left = 0;
	bad = 0;
	for (uint64_t i = 0, gone = 0; i < 10000; i++) {
		uint32_t value = map64_get(&m, i * 0x100000001u);
		bad += value != (i == gone ? NONE : (uint32_t)i);
		left += value != NONE;
		gone += i == gone ? 1 + i % 3 : 0;
	}
	OK(!bad && left && m.n == left);
	map64_free(&m);
	map64_prefetch(&m, 1); /* empty map: no effect */
	*map64_at(&m, 1) = 5;
	map64_reserve(&m, 1000);
	size_t room = m.cap;
	OK(map64_get(&m, 1) == 5);
	for (uint32_t i = 2; i <= 1001; i++)
		*map64_at(&m, i) = i;
	OK(m.cap == room && map64_get(&m, 1) == 5 && map64_get(&m, 1001) == 1001);
	map64_free(&m);
}

static void arena_keeps_alignment_between_strings(void)
{
	struct arena a = { 0 };
	int bad = 0;
	for (size_t i = 1; i < 3000; i++) {
		char *s = arena_alloc_bytes(&a, i % 7 + 1);
		s[0] = 'x';
		bad += (uintptr_t)arena_alloc(&a, 24) % _Alignof(max_align_t) != 0;
	}
	OK(bad == 0);
	arena_release(&a);
}

static void hostile_names_are_shown_not_obeyed(void)
{
	char buf[64];
	OK(escape_is_plain("std::vector<int>::push_back"));
	OK(escape_is_plain("größe_日本"));
	OK(!escape_is_plain("a\033[2Jb"));
	OK(!escape_is_plain("a\xc2\x9b"
			    "b")); /* C1: CSI */
	OK(!escape_is_plain("a\xe2\x80\xae"
			    "b")); /* right-to-left override */
	OK(!escape_is_plain("a\xff"));
	OK(!escape_is_plain("a\xef\xbf\xbf")); /* U+FFFF */
	OK(!escape_is_plain("a\xef\xbf\xbe"));
	OK(escape_is_plain("a\xef\xbf\xbd"));
	escape_text(buf, sizeof(buf),
		    "a\033[2J\n\xff"
		    "ü");
	OK_STR(buf, "a\\x1b[2J\\x0a\\xffü");
	OK(escape_text(buf, 8, "abc\033def") == 10);
	OK_STR(buf, "abc\\x1b");
	OK(escape_width("größe") == 5);
	OK(escape_width("日本") == 4);
}

/* A child that begins to read late; its status is 0 if it got `size` bytes. */
static pid_t slow_reader(const int fds[2], size_t size)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	char buf[4096];
	size_t total = 0;
	close(fds[1]);
	usleep(50000);
	for (ssize_t n; (n = read(fds[0], buf, sizeof(buf))) > 0;)
		total += (size_t)n;
	_exit(total != size);
}

static void nothing(int signal) { (void)signal; }

static void all_is_written_whatever_interrupts(void)
{
	enum { SIZE = 1 << 20, EVERY_US = 3000 };
	static char data[SIZE];
	int fds[2], status = -1;
	struct sigaction interrupt = { .sa_handler = nothing }; /* without SA_RESTART */
	struct itimerval often = { { 0, EVERY_US }, { 0, EVERY_US } }, never = { 0 };

	OK(!pipe(fds));
	pid_t reader = slow_reader(fds, SIZE);
	sigaction(SIGALRM, &interrupt, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	bool written = file_write_all(fds[1], data, SIZE);
	setitimer(ITIMER_REAL, &never, NULL);
	OK(written);
	close(fds[1]);
	OK(waitpid(reader, &status, 0) == reader && !status);
	close(fds[0]);

	signal(SIGPIPE, SIG_IGN);
	OK(!pipe(fds));
	close(fds[0]);
	OK(!file_write_all(fds[1], data, 1) && errno == EPIPE);
	OK(file_write_all(fds[1], data, 0));
	close(fds[1]);
}

static void errors_keep_what_they_are_about(void)
{
	char file[] = "gmon.out";
	struct kin_error *err = err_about(err_new(KIN_ERROR_FORMAT, "version 7"),
					  (struct err_facts){ ERR_VERSION, file, .first = 7 });
	file[0] = 'x'; /* it was copied */
	err = err_wrap(err, "reading");
	err = err_about(err, (struct err_facts){ ERR_NO_DATA, "another" });
	const struct err_facts *facts = err_facts(err);
	OK(facts->code == ERR_VERSION && facts->first == 7 && !facts->other);
	OK_STR(facts->subject, "gmon.out");
	kin_error_free(err);

	err = err_wrap(err_new(KIN_ERROR_USAGE, "no such thing"), "reading");
	OK(err_facts(err)->code == ERR_OTHER && !err_facts(err)->subject);
	kin_error_free(err);
}

static char *in_folder(const char *folder, int file) { return xprintf("%s/%d", folder, file); }

static bool is_there(const char *folder, int file)
{
	char *path = in_folder(folder, file);
	bool there = !access(path, F_OK);
	free(path);
	return there;
}

static void what_is_used_least_recently_goes_first(void)
{
	char folder[] = "/tmp/kin-folder-XXXXXX";
	OK(mkdtemp(folder) != NULL);
	for (int i = 0; i < 5; i++) {
		char *path = in_folder(folder, i);
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
		OK(!ftruncate(fd, 1000) && !futimens(fd, times) && !close(fd));
		free(path);
	}
	folder_trim(folder, 5000);
	for (int i = 0; i < 5; i++)
		OK(is_there(folder, i));
	char *first = in_folder(folder, 0);
	folder_used(first);
	free(first);
	folder_trim(folder, 2999);
	OK(is_there(folder, 0) && is_there(folder, 4));
	OK(!is_there(folder, 1) && !is_there(folder, 2) && !is_there(folder, 3));
	folder_trim(folder, 0);
	OK(!rmdir(folder));
	folder_trim(folder, 0); /* no such folder */
}

/* Each pair of neighbouring bytes, at each place. */
static void odd_bytes_are_found(void)
{
	size_t wrong = 0;
	for (unsigned pair = 0; pair < 1u << 16; pair++)
		for (size_t at = 0; at < 7; at++) {
			char s[] = "xxxxxxxx";
			s[at] = (char)(pair & 0xff);
			s[at + 1] = (char)(pair >> 8);
			uint64_t odd = escape_odd_bytes(s);
			for (size_t i = 0; i < 8; i++)
				wrong += (odd >> (8 * i + 7) & 1) != (s[i] < 0x20 || s[i] > 0x7e);
			wrong += (odd & UINT64_MAX / 0xff * 0x7f) != 0;
		}
	OK(wrong == 0);
}

struct piece {
	bool ended, fails;
};

static void work_on(void *arg)
{
	struct piece *p = arg;
	if (p->fails)
		xrealloc(NULL, SIZE_MAX, 2);
	p->ended = true;
}

static struct kin_error *both(struct piece *p)
{
	run_beside((struct workload){ work_on, &p[0] }, (struct workload){ work_on, &p[1] });
	return NULL;
}

static void work_ends(bool here_fails, bool there_fails)
{
	struct piece p[] = { { .fails = here_fails }, { .fails = there_fails } };
	struct kin_error *err = GUARDED(both(p));
	OK(here_fails || there_fails ? err == guard_error() : !err);
	OK(p[0].ended == !p[0].fails && p[1].ended == !p[1].fails);
	OK(!guard_is_on());
}

/* Where one of two pieces of work has no memory, the other ends nevertheless. */
static void run_beside_ends_both(void)
{
	work_ends(false, false);
	work_ends(false, true);
	work_ends(true, false);
	work_ends(true, true);
}

/* Of each kind in the order in which they were added, some of several kinds. */
static void remarks_are_listed_by_kind(void)
{
	enum { DOUBT = KIN_REMARK_DOUBT, NOTE = KIN_REMARK_NOTE, HINT = KIN_REMARK_HINT };
	struct remarks r = { 0 };
	size_t i = 0;
	OK(!remarks_next(NULL, NOTE, &i) && !remarks_have(&r, NOTE, NULL));
	remarks_add(&r, DOUBT, "%d lost", 1);
	remarks_add(&r, DOUBT | NOTE, "cut");
	remarks_add_once(&r, NOTE, "cut");
	remarks_add_once(&r, HINT, "cut");
	remarks_add_of(&r, NOTE, 7, "last");
	OK_STR(remarks_next(&r, NOTE, &i), "cut");
	OK_STR(remarks_next(&r, NOTE, &i), "last");
	OK(!remarks_next(&r, NOTE, &i) && i == r.at.n && i == 4);
	i = 0;
	OK_STR(remarks_next(&r, DOUBT | HINT, &i), "1 lost");
	OK(r.at.at[3].where == 7 && r.at.at[0].where == 0);
	OK(remarks_have(&r, HINT, "cut") && !remarks_have(&r, HINT, "last"));
	remarks_free(&r);
	OK(!remarks_have(&r, DOUBT | NOTE | HINT, NULL));
}

int main(void)
{
	remarks_are_listed_by_kind();
	run_beside_ends_both();
	errors_keep_what_they_are_about();
	odd_bytes_are_found();
	equal_strings_have_equal_ids();
	map_keeps_what_was_put();
	pairs_are_found();
	arena_keeps_alignment_between_strings();
	hostile_names_are_shown_not_obeyed();
	all_is_written_whatever_interrupts();
	what_is_used_least_recently_goes_first();
	return DONE();
}

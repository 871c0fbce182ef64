/* debuginfod.c - opens elfutils' client library, asks it, and keeps the answers. */
#include "object/debuginfod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/strtab.h"
#include "base/vec.h"

#define LIBRARY "libdebuginfod.so.1"

enum {
	SILENCE = 10,     /* seconds without a byte after which a server is taken to be down */
	WHOLE_WAIT = 300, /* seconds for all answers together */
	FAILURES = 3,     /* failed requests (not: no such file) after which no more are sent */
	SLOW_AFTER = 20,  /* seconds after which an answer must have SLOW_BYTES */
	SLOW_BYTES = 64 << 10,
};

/* Bounds of one answer, and of the disk. Debug information of browsers has 3 GB. */
static const uint64_t MOST_BYTES = 8ull << 30, MOST_UNANNOUNCED = 256ull << 20,
		      ROOM_LEFT = 1ull << 30;

#define NOT_ASKED "the servers in DEBUGINFOD_URLS could not be asked: "

/* The library's functions, as <elfutils/debuginfod.h> declares them. */
typedef int progress_function(void *client, long a, long b);
typedef void set_verbose(void *client, int fd);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);
typedef int find_source_function(void *client, const unsigned char *build_id, int size,
				 const char *source, char **path);

struct debuginfod {
	struct debuginfod_opts opts;
	bool is_opened;
	void *client; /* NULL: there is no library, or it was not needed yet */
	void (*end)(void *client);
	const char *(*url)(void *client);
	int talk; /* file that the library writes to what it does; -1: none */
	find_function *find_debug, *find_executable;
	find_source_function *find_source;

	struct strtab *questions;
	VEC(char *) answers; /* by question; NULL: there is none */
	char *trouble;       /* the first failure */
	unsigned failures;
	bool is_over;  /* no more requests */
	bool said_no;  /* a server does not have a file */
	double waited; /* seconds, in finished requests */

	/* State of the current request. */
	const char *for_what;
	double began, last_byte; /* seconds */
	long bytes;
	const char *given_up; /* why the request was given up; NULL: it was not */
};

/* The one whose request is under way: the library passes its callback no argument of ours. */
static _Thread_local struct debuginfod *waiting;

static double now_s(void) { return (double)clock_now_ns() / 1e9; }

struct debuginfod *debuginfod_new(const struct debuginfod_opts *opts)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	if (!urls || !urls[strspn(urls, " ")])
		return NULL;
	struct debuginfod *d = xalloc(sizeof(*d));
	d->opts = *opts;
	d->talk = -1;
	d->questions = strtab_new();
	vec_push(&d->answers, NULL); /* to question "", which has id 0 */
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	if (d->talk >= 0)
		close(d->talk);
	for (size_t i = 0; i < d->answers.n; i++)
		free(d->answers.at[i]);
	vec_free(&d->answers);
	strtab_free(d->questions);
	free(d->trouble);
	free(d);
}

const char *debuginfod_trouble(const struct debuginfod *d) { return d ? d->trouble : NULL; }

bool debuginfod_said_no(const struct debuginfod *d) { return d && d->said_no && !d->trouble; }

/* ---- waiting ---- */

/* Whether the disk with the library's cache has little room left. */
static bool is_disk_full(void)
{
	static const struct {
		const char *variable, *folder;
	} places[] = { { "DEBUGINFOD_CACHE_PATH", "" },
		       { "XDG_CACHE_HOME", "" },
		       { "HOME", "/.cache" },
		       { "HOME", "" } };
	struct statvfs disk;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *value = getenv(places[i].variable);
		if (!value || !*value)
			continue;
		char *path = xprintf("%s%s", value, places[i].folder);
		int failed = statvfs(path, &disk);
		free(path);
		if (!failed)
			return disk.f_bavail < ROOM_LEFT / disk.f_frsize;
	}
	return false;
}

/* Why the answer is given up; NULL: it is not. `total` 0: not announced. */
static const char *find_excess(const struct debuginfod *d, double t, uint64_t bytes, uint64_t total)
{
	if (t - d->last_byte > SILENCE)
		return "no answer in time";
	if (d->waited + t - d->began > WHOLE_WAIT)
		return "all of it takes too long";
	if (bytes && t - d->began > SLOW_AFTER && bytes < SLOW_BYTES)
		return "an answer takes too long";
	if (bytes > (total ? MOST_BYTES : MOST_UNANNOUNCED) || total > MOST_BYTES)
		return "an answer is too large";
	return bytes && is_disk_full() ? "the disk of the cache is nearly full" : NULL;
}

/* The library's callback, called about once a second or more often. Until a server answers, `a`
 * counts calls, then bytes. A result other than 0 ends the request. */
static int while_waiting(void *client, long a, long b)
{
	struct debuginfod *d = waiting;
	long bytes = d->url(client) ? a : 0;
	double t = now_s();
	if (bytes != d->bytes)
		d->last_byte = t;
	d->bytes = bytes;
	d->given_up =
		find_excess(d, t, (uint64_t)(bytes > 0 ? bytes : 0), (uint64_t)(b > 0 ? b : 0));
	if (d->opts.progress)
		d->opts.progress(d->opts.arg, d->for_what, (uint64_t)(bytes > 0 ? bytes : 0),
				 (uint64_t)(b > 0 ? b : 0));
	return d->given_up != NULL;
}

/* ---- the library ---- */

static void open_library(struct debuginfod *d)
{
	d->is_opened = true;
	void *library = library_open(LIBRARY);
	if (!library) {
		d->trouble = xprintf(NOT_ASKED LIBRARY " cannot be loaded");
		d->is_over = true;
		return;
	}
	void *(*begin)(void) =
		(void *(*)(void))(uintptr_t)library_function(library, "debuginfod_begin");
	void (*set_progress)(void *, progress_function *) = (void (*)(void *, progress_function *))(
		uintptr_t)library_function(library, "debuginfod_set_progressfn");
	d->end = (void (*)(void *))(uintptr_t)library_function(library, "debuginfod_end");
	d->url =
		(const char *(*)(void *))(uintptr_t)library_function(library, "debuginfod_get_url");
	d->find_debug =
		(find_function *)(uintptr_t)library_function(library, "debuginfod_find_debuginfo");
	d->find_executable =
		(find_function *)(uintptr_t)library_function(library, "debuginfod_find_executable");
	d->find_source = (find_source_function *)(uintptr_t)library_function(
		library, "debuginfod_find_source");
	if (begin && set_progress && d->end && d->url && d->find_debug && d->find_executable &&
	    d->find_source)
		d->client = begin();
	if (d->client)
		set_progress(d->client, while_waiting);
	set_verbose *talk =
		(set_verbose *)(uintptr_t)library_function(library, "debuginfod_set_verbose_fd");
	if (d->client && talk && (d->talk = memfd_create("kin debuginfod", MFD_CLOEXEC)) >= 0)
		talk(d->client, d->talk);
	library_close(library);
}

/* A file descriptor, or a negative error number. */
static int ask(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
	       const char *source, char **path)
{
	const unsigned char *id = (const unsigned char *)build_id; /* text, as no size is given */
	switch (kind) {
	case DEBUGINFOD_DEBUG:
		return d->find_debug(d->client, id, 0, path);
	case DEBUGINFOD_EXECUTABLE:
		return d->find_executable(d->client, id, 0, path);
	case DEBUGINFOD_SOURCE:
		return d->find_source(d->client, id, 0, source, path);
	}
	return -ENOENT;
}

/* The library says "no such file" for most failures, too. What it writes about its work has
 * "server response ERROR", then "url N DETAILS", for each server that did not send the file.
 * Returns the details of the first that is not HTTP's 404, in `text`; NULL: none. */
static const char *find_failure(struct debuginfod *d, char *text, size_t size)
{
	ssize_t n = d->talk < 0 ? 0 : pread(d->talk, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	char *save = NULL;
	bool is_response = false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *blank =
			is_response && !strncmp(line, "url ", 4) ? strchr(line + 4, ' ') : NULL;
		if (blank && !strstr(blank, "returned error: 404"))
			return blank + 1;
		is_response = !strncmp(line, "server response ", strlen("server response "));
	}
	return NULL;
}

/* Takes note of a request without an answer. */
static void note_failure(struct debuginfod *d, int errnum)
{
	char text[1 << 13];
	const char *why = d->given_up        ? d->given_up
			  : errnum != ENOENT ? strerror(errnum)
					     : find_failure(d, text, sizeof(text));
	d->said_no |= !why;
	d->failures += why != NULL;
	d->is_over |= d->given_up || d->failures >= FAILURES;
	if (why && !d->trouble)
		d->trouble = xprintf(NOT_ASKED "%s", why);
}

static char *request(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
		     const char *source)
{
	char *path = NULL;
	d->began = d->last_byte = now_s();
	d->bytes = 0;
	d->given_up = NULL;
	if (d->talk >= 0 && !ftruncate(d->talk, 0))
		lseek(d->talk, 0, SEEK_SET);
	waiting = d;
	int fd = ask(d, kind, build_id, source, &path);
	waiting = NULL;
	d->waited += now_s() - d->began;
	if (d->opts.progress)
		d->opts.progress(d->opts.arg, NULL, 0, 0);
	if (fd >= 0)
		close(fd);
	else
		note_failure(d, -fd);
	if (fd >= 0 && path)
		return path;
	free(path);
	return NULL;
}

const char *debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
			    const char *source, const char *for_what)
{
	size_t n = build_id ? strlen(build_id) : 0;
	if (!d || n < 2 || strspn(build_id, "0123456789abcdef") != n)
		return NULL;
	char *question = xprintf("%d %s %s", kind, build_id, source ? source : "");
	strid id = strtab_add(d->questions, question);
	free(question);
	if (id < d->answers.n)
		return d->answers.at[id];
	vec_push(&d->answers, NULL);
	if (!d->is_opened)
		open_library(d);
	if (!d->client || d->is_over)
		return NULL;
	d->for_what = for_what;
	return d->answers.at[id] = request(d, kind, build_id, source);
}

/* debuginfod.c - opens elfutils' client library, asks it, and keeps the answers. */
#include "object/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strtab.h"
#include "base/vec.h"

#define LIBRARY "libdebuginfod.so.1"

enum {
	SILENCE = 10,     /* seconds without a byte after which a server is taken to be down */
	WHOLE_WAIT = 300, /* seconds for all answers together */
	FAILURES = 3,     /* failed requests (not: no such file) after which no more are sent */
};

/* The library's functions, as <elfutils/debuginfod.h> declares them. */
typedef int progress_function(void *client, long a, long b);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);
typedef int find_source_function(void *client, const unsigned char *build_id, int size,
				 const char *source, char **path);

struct debuginfod {
	struct debuginfod_opts opts;
	bool is_opened;
	void *client; /* NULL: there is no library, or it was not needed yet */
	void (*end)(void *client);
	const char *(*url)(void *client);
	find_function *find_debug, *find_executable;
	find_source_function *find_source;

	struct strtab *questions;
	VEC(char *) answers; /* by question; NULL: there is none */
	char *trouble;
	unsigned failures;
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
	for (size_t i = 0; i < d->answers.n; i++)
		free(d->answers.at[i]);
	vec_free(&d->answers);
	strtab_free(d->questions);
	free(d->trouble);
	free(d);
}

const char *debuginfod_trouble(const struct debuginfod *d) { return d ? d->trouble : NULL; }

/* ---- waiting ---- */

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
	if (t - d->last_byte > SILENCE)
		d->given_up = "it did not answer in time";
	else if (d->waited + t - d->began > WHOLE_WAIT)
		d->given_up = "all of it takes too long";
	if (d->opts.progress)
		d->opts.progress(d->opts.arg, d->for_what, (uint64_t)(bytes > 0 ? bytes : 0),
				 (uint64_t)(b > 0 ? b : 0));
	return d->given_up != NULL;
}

/* ---- the library ---- */

/* The library stays in memory: curl, which it needs, cannot be unloaded. */
static void open_library(struct debuginfod *d)
{
	d->is_opened = true;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library) {
		d->trouble = xprintf("DEBUGINFOD_URLS is set, but " LIBRARY
				     " cannot be loaded: nothing is looked for there");
		return;
	}
	void *(*begin)(void) = (void *(*)(void))(uintptr_t)dlsym(library, "debuginfod_begin");
	void (*set_progress)(void *, progress_function *) = (void (*)(void *, progress_function *))(
		uintptr_t)dlsym(library, "debuginfod_set_progressfn");
	d->end = (void (*)(void *))(uintptr_t)dlsym(library, "debuginfod_end");
	d->url = (const char *(*)(void *))(uintptr_t)dlsym(library, "debuginfod_get_url");
	d->find_debug = (find_function *)(uintptr_t)dlsym(library, "debuginfod_find_debuginfo");
	d->find_executable =
		(find_function *)(uintptr_t)dlsym(library, "debuginfod_find_executable");
	d->find_source =
		(find_source_function *)(uintptr_t)dlsym(library, "debuginfod_find_source");
	if (begin && set_progress && d->end && d->url && d->find_debug && d->find_executable &&
	    d->find_source)
		d->client = begin();
	if (d->client)
		set_progress(d->client, while_waiting);
	dlclose(library);
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

static void note_failure(struct debuginfod *d, int errnum)
{
	d->failures++;
	if (d->given_up)
		d->trouble = xprintf("debuginfod: %s: it is not asked any more", d->given_up);
	else if (d->failures == FAILURES)
		d->trouble = xprintf("debuginfod: %s: it is not asked any more", strerror(errnum));
}

static char *request(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
		     const char *source)
{
	char *path = NULL;
	d->began = d->last_byte = now_s();
	d->bytes = 0;
	d->given_up = NULL;
	waiting = d;
	int fd = ask(d, kind, build_id, source, &path);
	waiting = NULL;
	d->waited += now_s() - d->began;
	if (d->opts.progress)
		d->opts.progress(d->opts.arg, NULL, 0, 0);
	if (fd >= 0)
		close(fd);
	else if (fd != -ENOENT || d->given_up)
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
	if (!d->client || d->trouble)
		return NULL;
	d->for_what = for_what;
	return d->answers.at[id] = request(d, kind, build_id, source);
}

/* progress.c - a thread that shows a text after a while, and removes it at the end. */
#include "cli/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/fetching.h"

struct progress {
	const char *what;
	struct fetching *fetching;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ended, shown;
};

static void show(const struct progress *p, long seconds)
{
	char text[sizeof(p->fetching->text)] = "";
	if (p->fetching) {
		pthread_mutex_lock(&p->fetching->lock);
		memcpy(text, p->fetching->text, sizeof(text));
		pthread_mutex_unlock(&p->fetching->lock);
	}
	dprintf(STDERR_FILENO, "\r\033[Kkin: %s ... %ld s", *text ? text : p->what, seconds);
}

static void *wait_and_show(void *arg)
{
	struct progress *p = arg;
	struct timespec start, until;
	clock_gettime(CLOCK_MONOTONIC, &start);
	until = start;

	pthread_mutex_lock(&p->lock);
	while (!p->ended) {
		until.tv_sec++;
		while (!p->ended && !pthread_cond_timedwait(&p->changed, &p->lock, &until))
			; /* may wake without a change */
		if (p->ended)
			break;
		show(p, (long)(until.tv_sec - start.tv_sec));
		p->shown = true;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct progress *progress_begin(const char *what, struct fetching *fetching)
{
	if (!isatty(STDERR_FILENO))
		return NULL;
	struct progress *p = xalloc(sizeof(*p));
	pthread_condattr_t monotonic;
	p->what = what;
	p->fetching = fetching;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (!pthread_create(&p->thread, NULL, wait_and_show, p))
		return p;
	free(p);
	return NULL; /* progress that cannot be shown is not worth an error */
}

void progress_end(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ended = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	if (p->shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

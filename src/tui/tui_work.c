/* tui_work.c - runs a function in a thread and tells whether it has ended. */
#include "tui/tui_work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct work {
	void (*run)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ended;
};

static void *work_run(void *arg)
{
	struct work *w = arg;
	w->run(w->arg);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void done(struct work *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* The thread blocks all signals: the thread that has the terminal handles them. */
static bool start(struct work *w)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&w->thread, NULL, work_run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

struct work *work_begin(void (*what)(void *arg), void *arg)
{
	struct work *w = xalloc(sizeof(*w));
	pthread_condattr_t monotonic;
	w->run = what;
	w->arg = arg;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (start(w))
		return w;
	done(w);
	return NULL;
}

bool work_wait(struct work *w, int timeout_ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	while (!w->ended && pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
		;
	bool ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return ended;
}

void work_end(struct work *w)
{
	pthread_join(w->thread, NULL);
	done(w);
}

/* races - exercises the data that threads of a process share in libkinrt, built together with it by
 * -fsanitize=thread: new and growing tables, threads that come and go, stacks, blocks, latencies,
 * and meanwhile gmon.out, marks, pauses. Prints the sum of all arcs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "kinrt.h"
#include "rt.h"

enum { THREADS = 8, ROUNDS = 3, ARCS = 3000 };

static _Atomic int running;

static void sample(int depth)
{
	ucontext_t here;

	getcontext(&here);
	if (depth)
		sample(depth - 1);
	else if (rt_thread())
		rt_stacks_add(rt_thread(), &here, 1000);
}

static void *count(void *arg)
{
	unsigned long seed = (unsigned long)arg;

	for (int i = 0; i < ARCS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		rt_mcount((uint64_t)count + seed % 1000, (uint64_t)sample + (seed >> 32) % 1000);
		if (i % 50 == 0)
			sample(i % 7);
		rt_latency_begin(8, 7, (uint64_t)&seed);
		rt_latency_end(8, 7);
	}
	return arg;
}

static void *meddle(void *unused)
{
	while (running) {
		kinrt_flush();
		kinrt_mark("now");
		rt_modules_retire();
		usleep(1000);
	}
	return unused;
}

static unsigned long all_calls(void)
{
	const struct kinf_block *b = NULL;
	unsigned long sum = 0;

	while ((b = rt_next_block(b))) {
		const struct kinf_call *s = (const struct kinf_call *)b->payload;

		if (b->type == KINF_CALLS)
			for (uint64_t n = b->used / sizeof(*s); n--; s++)
				sum += rt_call_at(s).count;
	}
	return sum;
}

/* On a stack that is never unmapped: the runtime maps memory by a system call, which the sanitizer
 * does not see. Memory in the place of an ended thread's stack would be taken for that stack. */
static pthread_t begin(void *(*run)(void *), void *arg)
{
	enum { SIZE = 1 << 20 };
	static _Alignas(4096) char stacks[THREADS * ROUNDS + 1][SIZE];
	static int used;
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstack(&a, stacks[used++], SIZE);
	if (pthread_create(&t, &a, run, arg))
		abort();
	pthread_attr_destroy(&a);
	return t;
}

int main(void)
{
	pthread_t t[THREADS], other;

	running = 1;
	rt_mcount((uint64_t)main, (uint64_t)count);
	other = begin(meddle, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned long i = 0; i < THREADS; i++)
			t[i] = begin(count, (void *)(i + 1));
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	running = 0;
	pthread_join(other, NULL);
	printf("%lu %lu\n", all_calls(), (unsigned long)rt.header->losses[KINF_LOST_ARCS]);
	return 0;
}

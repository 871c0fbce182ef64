/* regs PROBE.so - mcount and __fentry__ keep every register but r11, in the common case and in
 * every other: the first call of a thread, new arcs, growing tables, a library that was not known
 * yet. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registers {
	uint64_t gpr[16], vec[32][8], mask[8];
};
static struct state {
	struct registers before, after;
} state;
static long (*probe)(void (*hook)(void), struct state *s, long level, long from);
static const char *path;
static long level;
static int failures;

static void fill(uint64_t seed)
{
	uint64_t *word = (uint64_t *)&state.before;

	for (size_t i = 0; i < sizeof(state.before) / 8; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		word[i] = seed ^ seed >> 29;
	}
	memset(&state.after, 0, sizeof(state.after));
}

static void check(const char *hook, const char *what)
{
	static const int kept[] = { 0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 14, 15 };
	int n = level == 2 ? 32 : 16;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (state.before.gpr[kept[i]] != state.after.gpr[kept[i]])
			failures++, printf("%s, %s: register %d\n", hook, what, kept[i]);
	for (int i = 0; i < n; i++)
		if (memcmp(state.before.vec[i], state.after.vec[i], 16u << level))
			failures++, printf("%s, %s: vector %d\n", hook, what, i);
	if (level == 2 && memcmp(state.before.mask + 1, state.after.mask + 1, 56))
		failures++, printf("%s, %s: masks\n", hook, what);
}

static void once(const char *name, const char *what, long from)
{
	void (*hook)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, name);
	uint32_t mxcsr, mxcsr_after;
	uint16_t cw, cw_after;
	uint64_t flags;

	fill((uint64_t)from);
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(cw));
	if (!probe(hook, &state, level, from))
		failures++, printf("%s, %s: stack or frame pointer\n", name, what);
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr_after));
	__asm__ volatile("fnstcw %0" : "=m"(cw_after));
	__asm__ volatile("pushf; pop %0" : "=r"(flags));
	if (mxcsr != mxcsr_after || cw != cw_after || flags & 1 << 10)
		failures++, printf("%s, %s: control words\n", name, what);
	check(name, what);
}

static void *all(void *name)
{
	void *h = dlopen(path, RTLD_NOW);

	probe = (long (*)(void (*)(void), struct state *, long, long))dlsym(h, "probe");
	for (level = 0; level < 3; level++) {
		if (level == 1 && !__builtin_cpu_supports("avx"))
			break;
		if (level == 2 && !__builtin_cpu_supports("avx512bw"))
			break;
		once(name, "first call", (long)all);
		once(name, "known", (long)all);
		for (long i = 0; i < 5000; i++)
			once(name, "new arc", (long)all + i + (level << 20));
		for (long i = 0; i < 5000; i++)
			once(name, "known arc", (long)all + i + (level << 20));
	}
	printf("%s up to level %ld\n", (char *)name, level - 1);
	dlclose(h);
	return NULL;
}

int main(int argc, char **argv)
{
	static char hooks[2][16] = { "mcount", "__fentry__" };
	pthread_t t;

	if (argc < 2)
		return 2;
	path = argv[1];
	for (int i = 0; i < 4; i++) {
		pthread_create(&t, NULL, all, hooks[i & 1]);
		pthread_join(t, NULL);
	}
	if (!failures)
		puts("all kept");
	return failures > 0;
}

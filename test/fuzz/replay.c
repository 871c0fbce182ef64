/* replay.c - runs a fuzz target on every file of the directories given: faults
 * that were found once are tested for ever. A crash or a sanitizer's report ends the program, and
 * with it the test. */
#include "tap.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SECONDS = 2, MAX_KB = 256 << 10 };

static uint8_t *slurp(const char *path, size_t *size)
{
	uint8_t *data = NULL;
	FILE *f = fopen(path, "rb");

	*size = 0;
	for (size_t n = 1; f && n > 0; *size += n) {
		data = realloc(data, *size + 65536);
		n = fread(data + *size, 1, 65536, f);
	}
	if (f)
		fclose(f);
	return data;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void replay(const char *path, const char *name)
{
	size_t size;
	uint8_t *data = slurp(path, &size);
	struct rusage before, after;
	double start = now();

	printf("# %s: %zu bytes\n", name,
	       size); /* printed before the run, in case it ends the program */
	fflush(stdout);
	getrusage(RUSAGE_SELF, &before);
	if (data)
		LLVMFuzzerTestOneInput(data, size);
	getrusage(RUSAGE_SELF, &after);
	free(data);
	tap_ok(data && now() - start < MAX_SECONDS && after.ru_maxrss - before.ru_maxrss < MAX_KB,
	       __FILE__, __LINE__, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void replay_directory(const char *path)
{
	DIR *dir = opendir(path);
	char *names[4096];
	size_t n = 0;

	for (const struct dirent *e; dir && n < 4096 && (e = readdir(dir));)
		if (e->d_name[0] != '.')
			names[n++] = strdup(e->d_name);
	if (dir)
		closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	tap_ok(n > 0, __FILE__, __LINE__, path); /* an empty corpus tests nothing */
	for (size_t i = 0; i < n; i++) {
		char file[8192];
		snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		replay(file, names[i]);
		free(names[i]);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay_directory(argv[i]);
	return DONE();
}

/* bounded.c - every fuzz target through one gate: it ends the program if a target needed more
 * memory than a multiple of its input. Targets are linked with --wrap, so that each call of one, of
 * libFuzzer or of replay.c, comes here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLOOR_KB = 192 << 10, MULTIPLE = 256 }; /* a packed input may unpack to 16 MB */

static size_t peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (size_t)u.ru_maxrss;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t before = peak_kb();
	int ret = __real_LLVMFuzzerTestOneInput(data, size);
	size_t grown = peak_kb() - before;

	if (grown > FLOOR_KB + MULTIPLE * (size >> 10)) {
		fprintf(stderr, "%zu bytes of input took %zu KB of memory\n", size, grown);
		abort();
	}
	return ret;
}

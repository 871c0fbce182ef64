/* A perf.data: read as a profile, and its description of itself. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "perf/perf_about.h"

static void about(const uint8_t *data, size_t size)
{
	FILE *out = fopen("/dev/null", "w");
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (!out || fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	kin_error_free(perf_about(
		path, PERF_ABOUT_HEADER | PERF_ABOUT_ALL_OF_HEADER | PERF_ABOUT_STATS, out));
	fclose(out);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&perf_format, data, size);
	if (size)
		about(data + 1, size - 1);
	return 0;
}

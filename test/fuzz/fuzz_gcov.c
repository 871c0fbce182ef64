#include "base/err.h"
#include "fuzz.h"
#include "input/gcov.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_counts *counts = line_counts_new();
	uint64_t count;
	kin_error_free(gcov_parse("fuzz", data, size, counts));
	line_counts_find(counts, line_counts_file(counts, "/a/b.c"), 1, &count);
	line_counts_free(counts);
	return 0;
}

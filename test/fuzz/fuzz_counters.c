/* The first two bytes: the size of the notes; then these, and the counters. */
#include "base/err.h"
#include "fuzz.h"
#include "input/counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	size_t n = data[0] | (size_t)data[1] << 8, left = size - 2;
	n = n < left ? n : left;
	struct line_counts *counts = line_counts_new();
	uint32_t runs;
	uint64_t count;
	kin_error_free(counters_parse(bytes_of("notes", data + 2, n),
				      bytes_of("counts", data + 2 + n, left - n), counts, &runs));
	line_counts_find(counts, line_counts_file(counts, "/a/b.c"), 1, &count);
	line_counts_free(counts);
	return 0;
}

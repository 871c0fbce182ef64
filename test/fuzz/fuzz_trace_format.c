/* A description of a trace point up to a NUL, then a record of it. */
#include <stdio.h>

#include "fuzz.h"
#include "input/trace_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = strnlen((const char *)data, size), rest = size - n - (n < size);
	struct trace_layout layout = { .swapped = size & 1 };
	struct trace_format *f = trace_format_new((const char *)data, n, layout);
	uint8_t *raw = malloc(rest + 1);
	FILE *out = fopen("/dev/null", "w");
	memcpy(raw, data + size - rest, rest);
	if (out)
		trace_format_print(f, raw, rest, out);
	if (out)
		fclose(out);
	free(raw);
	trace_format_free(f);
	return 0;
}

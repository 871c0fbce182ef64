/* A description of a trace point up to a NUL, then a record of it. What is not printed as it was
 * stored goes through libtraceevent. */
#include <stdio.h>

#include "fuzz.h"
#include "input/trace_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = strnlen((const char *)data, size), rest = size - n - (n < size);
	struct trace_layout layout = { .swapped = size & 1 };
	struct trace_points *t = trace_points_new(layout);
	const struct trace_point *p = trace_points_add(t, (const char *)data, n);
	uint8_t *raw = malloc(rest + 1);
	FILE *out = fopen("/dev/null", "w");
	memcpy(raw, data + size - rest, rest);
	trace_points_add_strings(t, (const char *)data, n);
	if (out && p)
		trace_points_print(t, p, raw, rest, out);
	if (out)
		fclose(out);
	free(raw);
	trace_points_free(t);
	return 0;
}

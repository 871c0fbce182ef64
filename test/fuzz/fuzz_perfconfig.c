/* ~/.perfconfig: the format, and the settings that kin takes from it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perf/perf_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
	if (!good)
		abort();
}

/* Keys have a section, and values no blanks around them. */
static bool found(void *arg, const char *key, const char *value)
{
	size_t n = strlen(value);

	expect(key ? key[0] && strchr(key + 1, '.') : n > 0);
	expect(!n || (value[0] != ' ' && value[n - 1] != ' '));
	expect(++*(size_t *)arg < SIZE_MAX);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1), error[512] = "";
	struct perf_config s = { 0 };
	size_t n = 0;

	if (size)
		memcpy(copy, data, size);
	expect(perf_config_parse(copy, size, found, &n));
	expect(n <= size);
	perf_config_apply(&s, "~/.perfconfig", size & 1, copy, size, error);
	expect(strlen(error) < sizeof(error));
	expect(!s.hists.has_percent_limit || s.hists.percent_limit >= 0);
	if (s.call_graph)
		expect(*s.call_graph && s.call_graph[0] != ',');
	perf_config_done(&s);
	free(copy);
	return 0;
}

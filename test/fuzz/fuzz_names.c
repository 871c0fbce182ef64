/* Names of functions as they stand in symbol tables and debug information, made readable. The first
 * byte says which style. A tidied name is never longer than the original. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum demangle_style styles[] = { DEMANGLE_TIDY, DEMANGLE_AUTO,  DEMANGLE_SHORT,
					      DEMANGLE_TIDY, DEMANGLE_DLANG, DEMANGLE_GNAT,
					      DEMANGLE_JAVA, DEMANGLE_TIDY };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || memchr(data + 1, '\0', size - 1))
		return 0;
	enum demangle_style style = styles[data[0] % ARRAY_LEN(styles)];
	char *name = xalloc(size), *all, *got;
	memcpy(name, data + 1, size - 1);
	got = demangle(name, style);
	if (got && style == DEMANGLE_TIDY) {
		all = demangle(name, DEMANGLE_AUTO);
		if (strncmp(name, "__", 2) && strlen(got) > strlen(all ? all : name))
			abort();
		free(all);
	}
	free(got);
	free(name);
	return 0;
}

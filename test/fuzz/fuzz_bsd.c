#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&bsd44_format, data, size);
	fuzz_reader(&bsd_format, data, size);
	return 0;
}

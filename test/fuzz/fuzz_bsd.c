#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&bsd44_reader, data, size);
	fuzz_reader(&bsd_reader, data, size);
	return 0;
}

/* The records of a block, without the compression and the checksum that keep most inputs away from
 * them. */
#include "fuzz.h"
#include "kin/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t all = 1 + KINF_PAGE + sizeof(struct kinf_block) + (size + 7) / 8 * 8;
	struct kinf_header h = { .magic = KINF_MAGIC, .version = 1, .page = KINF_PAGE };
	struct kinf_block b = { .magic = KINF_BLOCK_MAGIC, .type = KINF_STREAM, .used = size };
	uint8_t *file = calloc(1, all);

	h.writer = KINF_BY_RUNTIME; /* files of other writers are sealed */
	b.size = all - 1 - KINF_PAGE;
	file[0] = 32; /* with details */
	memcpy(file + 1, &h, sizeof(h));
	memcpy(file + 1 + KINF_PAGE, &b, sizeof(b));
	if (size)
		memcpy(file + 1 + KINF_PAGE + sizeof(b), data, size);
	fuzz_reader(&kinf_format, file, all);
	free(file);
	return 0;
}

/* program_bias.h - where this program was loaded, to find its code in its file. */
#ifndef TEST_PROGRAM_BIAS_H
#define TEST_PROGRAM_BIAS_H

#include <link.h>
#include <stdint.h>

static inline int first_bias(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1; /* the program is the first */
}

/* Takes an address in memory to that in the file, by subtraction. */
static inline uint64_t program_bias(void)
{
	uint64_t bias = 0;
	dl_iterate_phdr(first_bias, &bias);
	return bias;
}

#endif

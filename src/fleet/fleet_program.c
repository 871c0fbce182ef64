/* fleet_program.c - kin-fleet is kin with this folder in it: its commands, and the reader of
 * stores. */
#include <malloc.h>

#include "cli/fleet.h"

/* Reports from a store handle many stacks and need large blocks of ever different sizes. This
 * returns freed blocks to the system at once, because glibc would learn to keep blocks of up to 32
 * MiB. The cost is that smaller blocks come from the heap and must be cleared, so other reports do
 * without. */
int fleet_run(char **argv)
{
	enum { LARGE = 8 << 20 };
	(void)argv;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE);
	mallopt(M_ARENA_MAX, 1); /* otherwise the threads that query servers would keep their
				    memory */
	return -1;
}

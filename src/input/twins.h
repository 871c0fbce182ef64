/* twins.h - gmon.out files of runs whose recordings are read, too.
 *
 * The runtime writes both, with the same calls and time: added up, everything would count twice.
 * The recording has more. Both say of which run they are (KINF_GMON_RUN). */
#ifndef INPUT_TWINS_H
#define INPUT_TWINS_H

#include <stdbool.h>
#include <stddef.h>

/* For each of n paths whether it is such a gmon.out; to be freed. */
bool *twins_find(char *const *paths, size_t n);

#endif

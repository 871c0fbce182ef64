/* twins.h - gmon.out files of runs whose recordings are read, too.
 *
 * The runtime writes both, with the same calls and time: added up, everything would count twice.
 * The recording has more. Both say of which run they are (KINF_GMON_RUN). */
#ifndef INPUT_TWINS_H
#define INPUT_TWINS_H

#include <stddef.h>

/* For each of n paths the index of the recording if it is such a gmon.out, otherwise n; to be
 * freed.
 */
size_t *twins_find(char *const *paths, size_t n);

#endif

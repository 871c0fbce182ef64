/* twins.h - gmon.out files of runs whose recordings are read, too.
 *
 * The runtime writes both, with the same calls and time: if both were read, everything would count
 * twice. The recording has more. Both identify their run (KINF_GMON_RUN). */
#ifndef INPUT_TWINS_H
#define INPUT_TWINS_H

#include <stddef.h>

/* For each of n paths: the index of the recording, if the path is a gmon.out of the same run;
 * otherwise n. To be freed. */
size_t *twins_find(char *const *paths, size_t n);

#endif

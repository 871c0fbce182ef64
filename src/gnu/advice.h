/* advice.h - what to do next, for who meets gprof for the first time: the words that follow "no
 * such file", and those said of a profile that is right and shows nothing. */
#ifndef GNU_ADVICE_H
#define GNU_ADVICE_H

#include "kin/kin.h"
#include "profile/profile.h"

/* The program a.out, which nobody named, is not there. */
struct kin_error *advice_no_program(void);

/* The data file `path` of the program is not there: where else it may be, or why there is none. */
struct kin_error *advice_no_data(const char *program, const char *path);

/* Why there is no time in the profile although calls were counted; NULL if there is. To be freed.
 */
char *advice_no_time(const struct profile *p);

/* Why there is no call graph: for data with a histogram and without a call. NULL: not known. To be
 * freed. */
char *advice_no_calls(const char *program);

#endif

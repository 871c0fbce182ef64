/* advice.h - advice for new users of gprof: appended to "no such file", or given for a valid
 * profile that shows nothing. */
#ifndef GNU_ADVICE_H
#define GNU_ADVICE_H

#include "kin/kin.h"
#include "profile/profile.h"

/* The default program a.out does not exist. */
struct kin_error *advice_no_program(void);

/* The data file `path` of the program does not exist: says where else it may be, or why there is
 * none. */
struct kin_error *advice_no_data(const char *program, const char *path);

/* Why there is no time in the profile although calls were counted; NULL if there is. To be freed.
 */
char *advice_no_time(const struct profile *p, const char *program);

/* Why data with a histogram has no calls, and so no call graph. To be freed. */
char *advice_no_calls(const char *program);

#endif

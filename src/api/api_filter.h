/* api_filter.h - the part of a profile that was asked for by names. */
#ifndef API_API_FILTER_H
#define API_API_FILTER_H

#include "profile/profile.h"

struct kin_error;
struct kin_open_opts;

/* Replaces *p by the part that opts names, if it names any. KIN_ERROR_USAGE, and *p as it was, if
 * there is no such thread, object or event: the message lists those there are. */
MUST_CHECK struct kin_error *filter_apply(struct profile **p, const struct kin_open_opts *opts);

#endif

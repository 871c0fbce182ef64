/* api_filter.h - selects the part of a profile that options name. */
#ifndef API_API_FILTER_H
#define API_API_FILTER_H

#include "profile/profile.h"

struct kin_error;
struct kin_hists_opts;
struct kin_open_opts;

/* Replaces *p by the part selected by opts, if anything is selected. KIN_ERROR_USAGE, with *p
 * unchanged, if there is no such thread, object or event: the message lists those that exist.
 * `program`: the path of the only object, for data that does not distinguish objects; or NULL. */
MUST_CHECK struct kin_error *filter_apply(struct profile **p, const struct kin_open_opts *opts,
					  const char *program);

/* Implements kin_hists_check(). */
MUST_CHECK struct kin_error *filter_check_hists(const struct profile *p,
						const struct kin_hists_opts *opts);

#endif

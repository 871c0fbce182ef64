/* api_group.h - reports in sections: one for each thread, object, event ... */
#ifndef API_API_GROUP_H
#define API_API_GROUP_H

#include "api/api_private.h"
#include "report/reports.h"

/* KIN_ERROR_USAGE if the report cannot be grouped that way. The table keeps everything it needs
 * alive, except the profile and `o`. */
MUST_CHECK struct kin_error *group_report(struct kin_profile *p, const struct report *r,
					  const struct report_opts *o, const char *by,
					  const char *sort, struct kin_table **ret);

#endif

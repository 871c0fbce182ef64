/* push_options.h - what kin push and kin agent are told of what they send, and where it goes. */
#ifndef CLI_PUSH_OPTIONS_H
#define CLI_PUSH_OPTIONS_H

#include "cli/settings.h"
#include "fleet/push.h"

extern const struct opt_group push_options;
enum {
	PUSH_SERVICE = OPT_OWN,
	PUSH_VERSION,
	PUSH_HOST,
	PUSH_LABEL,
	PUSH_BUCKET,
	PUSH_OPTIONS_END, /* the command's own begin here */
};

/* One of them; false: error[] is set. */
bool push_options_set(struct settings *s, int id, const char *arg, char error[512]);

/* The first operand as a URL, and what was said; puts labels in order, which the store does not
 * tell. Both borrow s. KIN_ERROR_USAGE. */
MUST_CHECK struct kin_error *push_options_take(struct settings *s, struct store_url *url,
					       struct push_opts *ret);

#endif

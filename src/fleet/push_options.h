/* push_options.h - options that kin push and kin agent share: what they send, and where to. */
#ifndef FLEET_PUSH_OPTIONS_H
#define FLEET_PUSH_OPTIONS_H

#include "cli/settings.h"
#include "fleet/push.h"

extern const struct opt_group push_options;
enum {
	PUSH_SERVICE = OPT_OWN,
	PUSH_VERSION,
	PUSH_HOST,
	PUSH_LABEL,
	PUSH_BUCKET,
	PUSH_OPTIONS_END, /* ids of a command's own options begin here */
};

/* Sets one of these options; false: error[] is set. */
bool push_options_set(struct settings *s, int id, const char *arg, char error[512]);

/* Takes the URL from the first operand, and the options; sorts labels, whose order has no meaning.
 * *ret and the URL borrow from s. KIN_ERROR_USAGE. */
MUST_CHECK struct kin_error *push_options_take(struct settings *s, struct store_url *url,
					       struct push_opts *ret);

#endif

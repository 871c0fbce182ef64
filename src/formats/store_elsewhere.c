/* store_elsewhere.c - the format "store" of kin and libkin, which have no reader of it: kin starts
 * kin-fleet before it comes to that. kin-fleet has fleet/fleet_read.c in place of this. */
#include "base/err.h"
#include "formats/formats.h"
#include "formats/store_name.h"

static struct kin_error *fetch(const char *path, const struct input_opts *o,
			       struct profile_builder *into, struct source *source)
{
	(void)o;
	(void)into;
	(void)source;
	return err_new(KIN_ERROR_UNSUPPORTED,
		       "%s: only the program kin-fleet reads stores: 'kin merge -o FILE URL' makes "
		       "a recording of what is in one",
		       path);
}

const struct format store_format = {
	.about = STORE_ABOUT(false),
	.is_named = store_is_named,
	.fetch = fetch,
};

/* api_debuginfod.c - the public handle of debuginfod servers. */
#include "object/debuginfod.h"

#include <stdlib.h>

#include "api/api_private.h"
#include "base/guard.h"

static struct kin_error *new_handle(const struct kin_debuginfod_opts *opts,
				    struct kin_debuginfod **ret)
{
	struct kin_debuginfod_opts o;
	opts_copy(&o, sizeof(o), opts);
	struct debuginfod *servers = debuginfod_new(&(struct debuginfod_opts){ o.progress, o.arg });
	*ret = NULL;
	if (servers) {
		*ret = xalloc(sizeof(**ret));
		(*ret)->servers = servers;
	}
	return NULL;
}

struct kin_error *kin_debuginfod_new(const struct kin_debuginfod_opts *opts,
				     struct kin_debuginfod **ret)
{
	return GUARDED(new_handle(opts, ret));
}

const char *kin_debuginfod_trouble(const struct kin_debuginfod *d)
{
	return d ? debuginfod_trouble(d->servers) : NULL;
}

void kin_debuginfod_free(struct kin_debuginfod *d)
{
	if (!d)
		return;
	debuginfod_free(d->servers);
	free(d);
}

/* rank_file.c - inserts a rank into the name of a file. */
#include "cli/rank_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/job.h"

static const char *get(const char *name) { return getenv(name); }

static char *expand(const char *name, uint32_t rank, const char *at)
{
	return xprintf("%.*s%" PRIu32 "%s", (int)(at - name), name, rank, at + 2);
}

char *rank_file(const char *name, bool pattern)
{
	struct job job = job_find(get);
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *here = pattern ? strstr(name, "%r") : NULL;
	size_t n = strlen(base);
	if (here)
		return expand(name, job.rank ? job.rank - 1 : 0, here);
	size_t tail = n > 4 && !strcmp(base + n - 4, ".kin") ? 4 : 0;
	if (!job.rank || !n || !strcmp(name, "-") || (pattern && strstr(base, "%p")) ||
	    job_is_named(base, n - tail, job.rank - 1))
		return xprintf("%s", name);
	return xprintf("%.*s.%" PRIu32 "%s", (int)(strlen(name) - tail), name, job.rank - 1,
		       name + strlen(name) - tail);
}

bool rank_is_silent(void) { return job_find(get).rank > 1; }

/* fetching.c - a progress text for downloads from debuginfod servers. */
#include "cli/fetching.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/message.h"

static void note(void *arg, const char *what, uint64_t bytes, uint64_t total)
{
	struct fetching *f = arg;
	char of[32] = "", name[64];
	const char *slash = what ? strrchr(what, '/') : NULL;
	pthread_mutex_lock(&f->lock);
	f->text[0] = '\0';
	if (total)
		snprintf(of, sizeof(of), " of %.1f", (double)total / 1e6);
	if (what) {
		snprintf(name, sizeof(name), "%s", slash ? slash + 1 : what);
		for (char *c = name; *c; c++) /* the text goes to a terminal */
			if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
				*c = '?';
		snprintf(f->text, sizeof(f->text), "debuginfod: %s, %.1f%s MB", name,
			 (double)bytes / 1e6, of);
	}
	pthread_mutex_unlock(&f->lock);
}

struct fetching *fetching_new(void)
{
	struct fetching *f = xalloc(sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	kin_error_free(kin_debuginfod_new(
		&(struct kin_debuginfod_opts){ sizeof(struct kin_debuginfod_opts), note, f },
		&f->servers));
	if (f->servers)
		return f;
	fetching_free(f);
	return NULL;
}

void fetching_free(struct fetching *f)
{
	if (!f)
		return;
	kin_debuginfod_free(f->servers);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void fetching_tell(struct fetching *f, const char *name)
{
	const char *trouble = f ? kin_debuginfod_trouble(f->servers) : NULL;
	if (trouble && !f->told_trouble)
		message(name, "warning: %s", trouble);
	if (f)
		f->told_trouble |= trouble != NULL;
}

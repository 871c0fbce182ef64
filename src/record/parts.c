/* parts.c - starts new files when due: renames the finished file, and limits their number. */
#include "record/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"

struct parts {
	const char *output;
	const struct parts_opts *opts;
	VEC(char *) names;
	size_t n_removed; /* names[0] to names[n_removed - 1] were removed */
	uint64_t bytes;
};

struct parts *parts_new(const char *output, const struct parts_opts *opts)
{
	struct parts *p = xalloc(sizeof(*p));
	p->output = output;
	p->opts = opts;
	return p;
}

void parts_free(struct parts *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->names.n; i++)
		free(p->names.at[i]);
	vec_free(&p->names);
	free(p);
}

size_t parts_count(const struct parts *p) { return p->names.n; }
uint64_t parts_bytes(const struct parts *p) { return p->bytes; }

bool parts_is_due(const struct parts *p, uint64_t bytes, uint64_t began_ns, uint64_t now_ns)
{
	const struct parts_opts *o = p->opts;
	return (o->max_bytes && bytes >= o->max_bytes) ||
	       (o->every_ns && now_ns >= began_ns + o->every_ns);
}

/* A name as perf gives it, with hundredths of a second; a number is appended if the name is
 * taken. */
static char *own_name(const struct parts *p)
{
	struct timespec now;
	struct tm tm;
	char date[32] = "";
	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &tm))
		strftime(date, sizeof(date), "%Y%m%d%H%M%S", &tm);
	char *base = xprintf("%s.%s%02d", p->output, date, (int)(now.tv_nsec / 10000000));
	char *name = xprintf("%s", base);
	for (unsigned i = 1; !access(name, F_OK); i++) {
		free(name);
		name = xprintf("%s.%u", base, i);
	}
	free(base);
	return name;
}

static void remove_oldest(struct parts *p)
{
	while (p->opts->max_files && p->names.n - p->n_removed > p->opts->max_files)
		unlink(p->names.at[p->n_removed++]);
}

struct kin_error *parts_keep(struct parts *p, const char **ret)
{
	struct stat st;
	char *name = own_name(p);
	if (rename(p->output, name) < 0) {
		struct kin_error *err = err_os(errno, "cannot rename %s to %s", p->output, name);
		free(name);
		return err;
	}
	if (!stat(name, &st))
		p->bytes += (uint64_t)st.st_size;
	vec_push(&p->names, name);
	remove_oldest(p);
	*ret = name;
	return NULL;
}

/* api_counters.c - executions of lines, from the counters of programs compiled with --coverage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api_private.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map64.h"
#include "input/counters.h"

struct counters {
	struct kin_profile *p;
	struct line_counts *all, *lines; /* of all objects, and of one */
	uint64_t since_ns;               /* the run did not begin earlier; since 1970 */
	size_t n_read;                   /* files of one object */
	bool any;                        /* some file was read */
	uint32_t runs;                   /* the largest number of any file */
	size_t n_missing, n_old;
	char *missing, *old; /* the first ones */
};

/* ---- files ---- */

/* Where the program wrote the file, with the variables by which gcov's runtime moves it; to be
 * freed. */
static char *place_of(const char *path)
{
	const char *prefix = getenv("GCOV_PREFIX"), *strip = getenv("GCOV_PREFIX_STRIP");

	for (long n = strip ? strtol(strip, NULL, 10) : 0; n > 0 && strchr(path + 1, '/'); n--)
		path = strchr(path + 1, '/');
	return xprintf("%s%s", prefix ? prefix : "", path);
}

static void keep_first(char **first, size_t *n, const char *path)
{
	if (!(*n)++)
		*first = xprintf("%s", path);
}

static void read_file(void *counters, const char *path)
{
	struct counters *c = counters;
	char *at = place_of(path);
	uint32_t runs = 0;
	struct stat st;

	if (stat(at, &st)) {
		keep_first(&c->missing, &c->n_missing, at);
	} else if (clock_ns_of(st.st_mtim) < c->since_ns) {
		keep_first(&c->old, &c->n_old, at);
	} else {
		struct kin_error *err = counters_read(at, path, c->lines, &runs);
		if (err)
			remarks_add_once(&c->p->remarks, KIN_REMARK_NOTE,
					 "lines have no counts: %s", kin_error_message(err));
		else
			c->n_read++;
		kin_error_free(err);
		c->runs = runs > c->runs ? runs : c->runs;
	}
	free(at);
}

/* ---- as blocks ---- */

/* The file of the counts that a path means, or NONE. The same strings come again and again. */
static uint32_t file_of(const struct counters *c, struct map64 *files, const char *path)
{
	uint32_t *at = map64_at(files, (uintptr_t)path);
	if (*at == NONE) {
		uint32_t file = line_counts_file(c->lines, path);
		*at = file == NONE ? 0 : file + 1;
	}
	return *at - 1; /* 0 becomes NONE */
}

/* Adds each line as a block, at the first of its code: so counts are in all reports of blocks. */
static void add_blocks(struct counters *c, struct object_file *o, objid object)
{
	struct map64 files = { 0 }; /* by the path's address: file + 1 */
	struct map64 seen = { 0 };  /* MAP64_PAIR(file, line) */
	struct address_range range;

	for (size_t i = 0; (range = object_code_section(o, i)).high; i++) {
		size_t n;
		struct line_run *runs = object_line_runs(o, range, NULL, &n);
		for (size_t k = 0; k < n; k++) {
			const struct srcloc *at = &runs[k].at;
			uint32_t file = at->file ? file_of(c, &files, at->file) : NONE;
			uint64_t count;
			if (!line_counts_find(c->lines, file, at->line, &count))
				continue;
			uint32_t *was = map64_at(&seen, MAP64_PAIR(file, at->line));
			if (*was == NONE)
				profile_append_block(c->p->data,
						     (struct block){ runs[k].addr, count, object });
			*was = 0;
		}
		free(runs);
	}
	map64_free(&files);
	map64_free(&seen);
}

static void read_object(struct counters *c, struct object_file *o, objid object)
{
	c->n_read = 0;
	c->lines = line_counts_new();
	object_for_each_counter_file(o, read_file, c);
	c->any |= c->n_read > 0;
	if (c->n_read)
		add_blocks(c, o, object);
	line_counts_add_all(c->all, c->lines);
	line_counts_free(c->lines);
}

static void read_objects(struct counters *c)
{
	const struct profile *d = c->p->data;
	struct object_opts opts = { .debug_dir = c->p->naming.debug_dir,
				    .symfs = c->p->naming.symfs };

	for (objid i = 1; i < d->n_objects; i++) {
		struct object_file *o;
		if (!d->objects[i].path || d->objects[i].kind == OBJECT_KERNEL)
			continue;
		opts.build_id = strtab_get(d->strings, d->objects[i].build_id);
		struct kin_error *err =
			object_open(strtab_get(d->strings, d->objects[i].path), &opts, &o);
		if (!err) {
			read_object(c, o, i);
			object_free(o);
		}
		kin_error_free(err); /* reports say what is wrong with it */
	}
}

/* ---- what is said of them ---- */

static void note_files(struct counters *c, const char *first, size_t n, const char *what)
{
	if (n > 1)
		remarks_add_once(&c->p->remarks, KIN_REMARK_NOTE, "%s and %zu more: %s", first,
				 n - 1, what);
	else if (n)
		remarks_add_once(&c->p->remarks, KIN_REMARK_NOTE, "%s: %s", first, what);
}

static void tell(struct counters *c, size_t processes)
{
	note_files(c, c->missing, c->n_missing,
		   "not here, so lines have no counts: a program writes them when it ends, but not "
		   "if it is killed or ends by _exit()");
	note_files(c, c->old, c->n_old,
		   "older than the recording, and left out: its program was killed, ended by "
		   "_exit(), or is not done");
	if (c->runs <= 1 || c->runs == processes)
		return;
	c->p->counts_of_other_runs = true;
	remarks_add_once(&c->p->remarks, KIN_REMARK_NOTE,
			 "lines are counted over %" PRIu32
			 " processes, and time is of %zu: there is no time/count (remove the .gcda "
			 "files before a run, to count it alone)",
			 c->runs, processes);
}

void counters_of_profile(struct kin_profile *p, struct object_file *program)
{
	struct counters c = { .p = p, .all = line_counts_new() };
	size_t processes = 0;

	for (size_t i = 0; i < p->data->n_sources; i++) {
		const struct source *s = &p->data->sources[i];
		processes += !s->left_out;
		if (!i || s->start_time_ns < c.since_ns)
			c.since_ns = s->start_time_ns;
	}
	if (program)
		read_object(&c, program, 0);
	else
		read_objects(&c);
	tell(&c, processes);
	if (c.any)
		p->line_counts = TAKE(c.all);
	line_counts_free(c.all);
	free(c.missing);
	free(c.old);
}

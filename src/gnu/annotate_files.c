/* annotate_files.c - the files of gprof's annotated source, in its order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strtab.h"
#include "gnu/annotate_files.h"
#include "gnu/gnu_counts.h"
#include "gnu/rules.h"
#include "report/listing.h"

struct annotate {
	const struct report_input *in;
	const struct annotate_opts *opts;
	struct coverage *coverage;
	size_t next;          /* index of the next file of the coverage */
	uint64_t last;        /* gnu: the count that is carried into the next file */
	struct strtab *names; /* names of files written */
};

/* ---- selection ---- */

static uint8_t *wanted_places(const struct report_input *in, const struct selection *sel)
{
	static const struct selection everything;
	uint8_t *wanted = xalloc(in->symbols->n);
	for (symid i = 0; i < in->symbols->n; i++)
		wanted[i] = selection_wants(sel ? sel : &everything, SEL_INCL_ANNO, i);
	return wanted;
}

struct annotate *annotate_new(const struct report_input *in, const struct annotate_opts *opts)
{
	struct annotate *a = xalloc(sizeof(*a));
	uint8_t *wanted = wanted_places(in, opts->report->selection);
	struct coverage_opts how = { .rules = opts->compat ? &gnu_coverage_rules : NULL,
				     .carry = opts->all_lines ? CARRY_ALL : CARRY_NONE,
				     .wanted = wanted,
				     .line_counts = opts->compat ? NULL : in->line_counts };

	a->in = in;
	a->opts = opts;
	a->coverage = coverage_new(report_flat(in), in->symbols, in->graph, &how);
	a->names = strtab_new();
	free(wanted);
	return a;
}

static bool is_wanted(const struct annotate *a, const struct coverage_file *f)
{
	return a->opts->report->zeroes || f->total > 0;
}

/* ---- one file ---- */

static struct kin_table *make_table(struct annotate *a, struct coverage_file *f,
				    struct listing_source *source)
{
	struct listing_opts how = { .total = a->in->graph->total,
				    .min_count = a->opts->min_count,
				    .raw = true };
	struct listing_part whole = { a->coverage, f, .from = 1, .to = UINT32_MAX };
	struct listing *l = listing_new(&how);

	if (a->opts->compat)
		counts_list(a->coverage, f, listing_count_lines(&source->text), a->opts->all_lines,
			    &a->last);
	listing_add(l, whole, source);
	struct kin_table *t = listing_table(l, "annotate", "Annotated source");
	table_property(t, "file", cell_text(f->path));
	table_property(t, "separate", cell_count(a->opts->separate));
	table_property(t, "top", cell_count(a->opts->top));
	table_property(t, "total", cell_count(f->total));
	table_set_rate(t, a->in->graph->rate);
	return t;
}

bool annotate_next(struct annotate *a, struct annotate_file *ret)
{
	while (a->next < a->coverage->n_files && !is_wanted(a, &a->coverage->files[a->next]))
		a->next++;
	if (a->next == a->coverage->n_files)
		return false;

	struct coverage_file *f = &a->coverage->files[a->next++];
	struct listing_source source = { 0 };
	*ret = (struct annotate_file){ .path = f->path };
	ret->err = source_open(f->path, a->opts->report->source_dirs, a->opts->any_source,
			       &source.text);
	if (!ret->err)
		ret->table = make_table(a, f, &source);
	source_done(&source.text);
	return true;
}

void annotate_free(struct annotate *a)
{
	if (!a)
		return;
	coverage_free(a->coverage);
	strtab_free(a->names);
	free(a);
}

/* ---- separate output files ---- */

/* An unused name: "a.c-ann", "a.c.2-ann", ... (gnu: may be used already). */
static const char *unused_name(struct annotate *a, const char *path)
{
	struct arena scratch = { 0 };
	const char *name = arena_printf(&scratch, "%s-ann", base_name(path));
	size_t before = strtab_count(a->names);
	strid id = strtab_add(a->names, name);

	for (unsigned k = 2; id < before && !a->opts->compat; k++) {
		name = arena_printf(&scratch, "%s.%u-ann", base_name(path), k);
		id = strtab_add(a->names, name);
	}
	arena_release(&scratch);
	return strtab_get(a->names, id);
}

static struct kin_error *open_regular(const char *name, mode_t mode, FILE **ret)
{
	struct stat st;
	int fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		      mode);

	if (fd < 0 && errno == ELOOP)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: is a symbolic link, which is not written through; "
			       "remove it",
			       name);
	if (fd < 0)
		return err_about(err_os(errno, "%s", name),
				 (struct err_facts){ ERR_OPENING, name });
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: exists and is not a regular file; remove it", name);
	}
	if (st.st_mode & 0666 & ~mode)
		(void)!fchmod(fd, st.st_mode & mode);
	if (ftruncate(fd, 0) < 0 || !(*ret = fdopen(fd, "w"))) {
		struct kin_error *err = err_os(errno, "%s", name);
		close(fd);
		return err;
	}
	return NULL;
}

struct kin_error *annotate_create(struct annotate *a, const char *path, const char **name,
				  FILE **ret)
{
	*name = unused_name(a, path);
	return open_regular(*name, profile_file_mode(a->in->profile), ret);
}

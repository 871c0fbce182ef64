/* perf_about.c - prints statistics of records; perf_about_header.c prints the header. */
#include "perf/perf_about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/escape.h"
#include "input/paths.h"
#include "perf/perf_about_private.h"

/* ---- records ---- */

static void about_record(struct perf *p, const uint8_t *record)
{
	struct perf_about *a = about_of(p);
	uint32_t type = perf_u32(p, record);

	a->n_records++;
	if (type < ARRAY_LEN(a->by_type))
		a->by_type[type]++;
}

static void count_sample(struct perf *p, const struct perf_record *r)
{
	struct perf_about *a = about_of(p);
	uint32_t id;
	const struct perf_attr *attr = perf_attrs_of(p, r->data, r->size, &id);

	if (!attr)
		return;
	size_t i = (size_t)(attr - p->attrs.at.at);
	while (a->samples.n <= i)
		vec_push(&a->samples, 0);
	a->samples.at[i]++;
}

static void about_deliver(struct perf *p, const struct perf_record *r)
{
	if (perf_u32(p, r->data) == PERF_R_SAMPLE)
		count_sample(p, r);
}

static const char *const names[] = {
	"TOTAL",        "MMAP",
	"LOST",         "COMM",
	"EXIT",         "THROTTLE",
	"UNTHROTTLE",   "FORK",
	"READ",         "SAMPLE",
	"MMAP2",        "AUX",
	"ITRACE_START", "LOST_SAMPLES",
	"SWITCH",       "SWITCH_CPU_WIDE",
	"NAMESPACES",   "KSYMBOL",
	"BPF_EVENT",    "CGROUP",
	"TEXT_POKE",    "AUX_OUTPUT_HW_ID",
};

static const char *const own_names[] = {
	"ATTR",      "EVENT_TYPE",    "TRACING_DATA", "BUILD_ID",       "FINISHED_ROUND",
	"ID_INDEX",  "AUXTRACE_INFO", "AUXTRACE",     "AUXTRACE_ERROR", "THREAD_MAP",
	"CPU_MAP",   "STAT_CONFIG",   "STAT",         "STAT_ROUND",     "EVENT_UPDATE",
	"TIME_CONV", "FEATURE",       "COMPRESSED",   "FINISHED_INIT",
};

static const char *name_of(size_t type)
{
	if (type >= PERF_R_USER)
		return type - PERF_R_USER < ARRAY_LEN(own_names) ? own_names[type - PERF_R_USER]
								 : NULL;
	return type < ARRAY_LEN(names) ? names[type] : NULL;
}

static void print_stats(const struct perf *p)
{
	const struct perf_about *a = about_of(p);

	fprintf(a->out, "\nAggregated stats:\n%16s events: %10ju\n", names[0],
		(uintmax_t)a->n_records);
	for (size_t i = 1; i < ARRAY_LEN(a->by_type); i++) {
		char number[32];
		const char *name = name_of(i);
		if (!a->by_type[i])
			continue;
		snprintf(number, sizeof(number), "type %zu", i);
		fprintf(a->out, "%16s events: %10ju  (%4.1f%%)\n", name ? name : number,
			(uintmax_t)a->by_type[i],
			100.0 * (double)a->by_type[i] / (double)a->n_records);
	}
	for (size_t i = 0; i < a->samples.n; i++) {
		const char *event = p->attrs.at.at[i].name;
		if (!a->samples.at[i])
			continue;
		char *safe = escape_copy(event ? event : perf_attrs_name(p, i));
		fprintf(a->out, "%s stats:\n%16s events: %10ju\n", safe, "SAMPLE",
			(uintmax_t)a->samples.at[i]);
		free(safe);
	}
}

/* ---- the header ---- */

static void about_file(struct perf *p, uint64_t data, uint64_t size)
{
	struct perf_about *a = about_of(p);
	struct stat st;
	struct tm tm;
	char when[64] = "";

	if (!(a->what & PERF_ABOUT_HEADER))
		return;
	if (!stat(p->name, &st) && localtime_r(&st.st_ctime, &tm) && asctime_r(&tm, when))
		when[strcspn(when, "\n")] = '\0'; /* asctime_r() ignores the locale */
	fprintf(a->out,
		"# ========\n# captured on    : %s\n# header version : 1\n# data offset    : %ju\n"
		"# data size      : %ju\n# feat offset    : %ju\n",
		when, (uintmax_t)data, (uintmax_t)size, (uintmax_t)(data + size));
}

static void take_feature(struct perf *p, unsigned feature, struct bytes data)
{
	struct perf_about *a = about_of(p);

	if (feature < 32)
		a->seen |= 1u << feature;
	if (a->what & PERF_ABOUT_HEADER)
		about_feature(p, feature, data);
}

/* ---- the whole file ---- */

/* Prints what is only known at the end of the file. */
static void about_finish(struct perf *p)
{
	struct perf_about *a = about_of(p);

	if (a->what & PERF_ABOUT_HEADER) {
		about_missing(a);
		fputs("# ========\n#\n", a->out);
	}
	if (a->what & PERF_ABOUT_STATS)
		print_stats(p);
	vec_free(&a->samples);
}

static struct kin_error *read_file(const char *path, unsigned what, FILE *out)
{
	enum { IN_HEADER = PERF_ABOUT_HEADER | PERF_ABOUT_ALL_OF_HEADER };
	struct perf_about about = {
		.watcher = { .only_header = !(what & ~(unsigned)IN_HEADER),
			     .file = about_file,
			     .feature = take_feature,
			     .record = about_record,
			     .deliver = about_deliver,
			     .finish = about_finish },
		.what = what,
		.out = out,
	};
	struct window w;
	struct stat st;

	if (!strcmp(path, "-"))
		return err_new(KIN_ERROR_UNSUPPORTED, "standard input: not a file");
	if (stat(path, &st))
		return err_os(errno, "%s", path);
	if (!window_open(&w, path))
		return err_new(KIN_ERROR_UNSUPPORTED, "%s: not a regular file", path);
	if (window_need(&w, 8) < 8 || !perf_format.recognise(w.b, NULL)) {
		window_close(&w);
		return err_new(KIN_ERROR_UNSUPPORTED, "%s: not a perf.data", path);
	}
	struct kin_error *err = what ? perf_file_watch(&w, &about.watcher) : NULL;
	window_close(&w);
	return err;
}

struct kin_error *perf_about(const char *path, unsigned what, FILE *out)
{
	char *inside = paths_perf_folder(path);
	struct kin_error *err = read_file(inside ? inside : path, what, out);

	free(inside);
	return err;
}

/* perf_config.h - defaults of "kin report" from ~/.kinconfig, or perf's ~/.perfconfig if there is
 * none; or from the file that PERF_CONFIG names.
 *
 * Sections in brackets, "key = value" below them, "#" and ";" begin comments, a value may be
 * quoted: https://man7.org/linux/man-pages/man1/perf-config.1.html. Keys that kin does not know are
 * ignored. */
#ifndef PERF_PERF_CONFIG_H
#define PERF_PERF_CONFIG_H

#include "base/arena.h"
#include "kin/kin.h"

/* Settings from a file; zeros mean not set. */
struct perf_config {
	struct arena arena; /* memory of the strings below */
	struct kin_hists_opts hists;
	char *call_graph; /* as for --call-graph; owned, like the rest */
	bool top_no_children;
	bool debuginfod_system; /* the distribution's servers are asked, without an option */
	/* Directories of own code and of that of others: kin_open_opts.own_dirs. */
	struct {
		const char **at;
		size_t n, cap;
	} own_dirs, foreign_dirs;
	const char *source_url; /* kin_html_opts.source_url */
};

/* Parses n bytes; calls found(arg, "section.key", value) for each setting, until it returns false,
 * which is then returned. key NULL: `value` is a line that is no setting. */
bool perf_config_parse(const char *text, size_t n,
		       bool (*found)(void *arg, const char *key, const char *value), void *arg);

/* Applies the text of the file called `path` to c; in ~/.kinconfig, lines that are no settings are
 * errors. error[] describes the first wrong value, or is "". */
void perf_config_apply(struct perf_config *c, const char *path, bool is_own, const char *text,
		       size_t n, char error[512]);

/* Reads the user's file, or the one that PERF_CONFIG in the environment names. error[] is a warning
 * about its contents, or "". */
void perf_config_read(struct perf_config *c, char error[512]);
void perf_config_done(struct perf_config *c);

#endif

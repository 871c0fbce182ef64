/* perf_config.h - defaults of "kin report" from ~/.kinconfig, or perf's ~/.perfconfig if there is
 * none; or from the file that PERF_CONFIG names.
 *
 * Sections in brackets, "key = value" below them, "#" and ";" begin comments, a value may be
 * quoted: https://man7.org/linux/man-pages/man1/perf-config.1.html. Keys that kin does not know are
 * perf's own business. */
#ifndef PERF_PERF_CONFIG_H
#define PERF_PERF_CONFIG_H

#include "base/arena.h"
#include "kin/kin.h"

/* What a file says; zeros say nothing. */
struct perf_config {
	struct arena arena; /* texts below */
	struct kin_hists_opts hists;
	char *call_graph; /* as --call-graph has it; owned, like the rest */
	bool top_no_children;
};

/* Reads n bytes; calls found(arg, "section.key", value) for each, until it returns false, which it
 * returns, too. key NULL: `value` is a line that is neither. */
bool perf_config_parse(const char *text, size_t n,
		       bool (*found)(void *arg, const char *key, const char *value), void *arg);

/* What the text of the file called `path` says, into c; of ~/.kinconfig, lines that are nothing are
 * wrong. error[] is what is wrong with the first value that is, or "". */
void perf_config_apply(struct perf_config *c, const char *path, bool is_own, const char *text,
		       size_t n, char error[512]);

/* That of the user's file, or of the one that PERF_CONFIG in the environment names. error[] is what
 * is wrong there, for a warning, or "". */
void perf_config_read(struct perf_config *c, char error[512]);
void perf_config_done(struct perf_config *c);

#endif

/* perfconfig.h - defaults of "kin report" from ~/.kinconfig, or perf's ~/.perfconfig if there is
 * none; or from the file that PERF_CONFIG names.
 *
 * Sections in brackets, "key = value" below them, "#" and ";" begin comments, a value may be
 * quoted: https://man7.org/linux/man-pages/man1/perf-config.1.html. Keys that kin does not know are
 * perf's own business. */
#ifndef CLI_PERFCONFIG_H
#define CLI_PERFCONFIG_H

#include "base/base.h"

struct settings;

/* Reads n bytes; calls found(arg, "section.key", value) for each, until it returns false, which it
 * returns, too. key NULL: `value` is a line that is neither. */
bool perfconfig_parse(const char *text, size_t n,
		      bool (*found)(void *arg, const char *key, const char *value), void *arg);

/* What the text of the file called `path` says, into s; of ~/.kinconfig, lines that are nothing are
 * wrong. error[] is what is wrong with the first value that is, or "". */
void perfconfig_apply(struct settings *s, const char *path, bool is_own, const char *text, size_t n,
		      char error[512]);

/* That of the user's file, or of the one that PERF_CONFIG in the environment names. What is wrong
 * there is a warning. */
void perfconfig_read(struct settings *s);

#endif

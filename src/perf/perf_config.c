/* perf_config.c - reads the sections and keys of a configuration file. */
#include "perf/perf_config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/source_url.h"
#include "base/vec.h"

enum { MAX_LINE = 1024, MAX_FILE = 1 << 20 };

/* ---- the format ---- */

static char *trim(char *s)
{
	size_t n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s + strspn(s, " \t\r");
}

/* Removes a comment, and quotes. */
static char *value_of(char *s)
{
	bool quoted = false;
	char *to = s, *from = s;
	for (; *from && (quoted || (*from != '#' && *from != ';')); from++)
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	*to = '\0';
	return trim(s);
}

/* Parses one line, NUL-terminated. section[] is the section set by earlier lines. */
static bool parse_line(char *line, char section[MAX_LINE],
		       bool (*found)(void *, const char *, const char *), void *arg)
{
	char key[2 * MAX_LINE];
	char *s = trim(line), *end = strchr(s, ']'), *equals = strchr(s, '=');
	if (*s == '[' && end) { /* a key may follow in the same line */
		*end = '\0';
		strcpy(section, trim(s + 1));
		s = end + 1 + strspn(end + 1, " \t\r");
		equals = strchr(s, '=');
	}
	if (!*s || *s == '#' || *s == ';')
		return true;
	if (!equals || !*section)
		return found(arg, NULL, s);
	*equals = '\0';
	snprintf(key, sizeof(key), "%s.%s", section, trim(s));
	return found(arg, key, value_of(equals + 1));
}

bool perf_config_parse(const char *text, size_t n,
		       bool (*found)(void *arg, const char *key, const char *value), void *arg)
{
	char line[MAX_LINE], section[MAX_LINE] = "";
	for (size_t at = 0; at < n;) {
		const char *newline = memchr(text + at, '\n', n - at);
		size_t length = newline ? (size_t)(newline - text) - at : n - at;
		if (length < sizeof(line)) {
			memcpy(line, text + at, length);
			line[length] = '\0'; /* a NUL within ends the line, too */
			if (!parse_line(line, section, found, arg))
				return false;
		}
		at += length + 1;
	}
	return true;
}

/* ---- settings ---- */

struct reading {
	struct perf_config *config;
	const char *path;
	bool is_own;          /* ~/.kinconfig */
	char *error;          /* "": no error so far */
	const char *chain[6]; /* parts of --call-graph, in its order: type, threshold, limit ... */
};

enum { PART_TYPE, PART_THRESHOLD, PART_LIMIT, PART_ORDER, PART_KEY };

static char *keep(struct reading *r, const char *value)
{
	size_t n = strlen(value) + 1;
	return memcpy(arena_alloc_bytes(&r->config->arena, n), value, n);
}

static bool wrong(const struct reading *r, const char *key, const char *value, const char *what)
{
	if (!*r->error) /* the first error is kept */
		snprintf(r->error, 512, "%.200s: %.80s: '%.80s' is not %s", r->path, key, value,
			 what);
	return false;
}

/* Handles a line that is no setting: an error in our own file. perf's may have lines that only perf
 * knows. */
static bool odd_line(const struct reading *r, const char *line)
{
	return !r->is_own ||
	       wrong(r, "a line", line, "[section], key = value below one, or # comment");
}

static bool read_bool(const struct reading *r, const char *key, const char *value, bool *ret)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0", "" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!strcasecmp(value, yes[i]))
			return *ret = true;
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (!strcasecmp(value, no[i])) {
			*ret = false;
			return true;
		}
	return wrong(r, key, value, "true or false");
}

static bool is_number(const char *value)
{
	char *end;
	double n = strtod(value, &end);
	return end != value && !*end && n >= 0 && n < 1e9;
}

static const struct chain_part {
	const char *key;
	int part;
	const char *words; /* the valid words; NULL: a number is valid */
} chain_parts[] = {
	{ "call-graph.print-type", PART_TYPE, "graph, flat, fractal, folded or none" },
	{ "call-graph.threshold", PART_THRESHOLD, NULL },
	{ "call-graph.print-limit", PART_LIMIT, NULL },
	{ "call-graph.order", PART_ORDER, "caller or callee" },
	{ "call-graph.sort-key", PART_KEY, "function, address or srcline" },
};

/* Whether a list written for people ("graph, flat or none") has the word or, as for perf, one that
 * begins so. */
static bool is_among(const char *list, const char *word)
{
	size_t n = strcspn(word, ", ");
	for (const char *at = list; n && !word[n] && (at = strstr(at, word)); at += n)
		if (at == list || at[-1] == ' ')
			return true;
	return false;
}

static void note_chain(struct reading *r, const struct chain_part *p, const char *value)
{
	if (p->words ? is_among(p->words, value) : is_number(value))
		r->chain[p->part] = keep(r, value);
	else
		wrong(r, p->key, value, p->words ? p->words : "a number");
}

/* Takes one setting. A wrong value is reported, and the setting left unchanged; reading goes on. */
static bool note(void *arg, const char *key, const char *value)
{
	struct reading *r = arg;
	struct kin_hists_opts *h = &r->config->hists;
	bool yes = false;
	if (!key) {
		odd_line(r, value);
	} else if (!strcmp(key, "report.children")) {
		if (read_bool(r, key, value, &yes))
			h->no_children = !yes;
	} else if (!strcmp(key, "top.children")) {
		if (read_bool(r, key, value, &yes))
			r->config->top_no_children = !yes;
	} else if (!strcmp(key, "debuginfod.system")) {
		if (r->is_own && read_bool(r, key, value, &yes))
			r->config->debuginfod_system = yes;
	} else if (!strcmp(key, "code.own") || !strcmp(key, "code.foreign")) {
		if (value[0] != '/')
			wrong(r, key, value, "a directory from / on");
		else if (!strcmp(key, "code.own"))
			vec_push(&r->config->own_dirs, keep(r, value));
		else
			vec_push(&r->config->foreign_dirs, keep(r, value));
	} else if (!strcmp(key, "code.source-url")) {
		if (source_url_is_valid(value))
			r->config->source_url = keep(r, value);
		else
			wrong(r, key, value, "an http or https address with {file} in it");
	} else if (!strcmp(key, "report.sort_order")) {
		h->sort = keep(r, value);
	} else if (!strcmp(key, "hist.percentage")) {
		if (!strcmp(value, "relative") || !strcmp(value, "absolute"))
			h->relative = !strcmp(value, "relative");
		else
			wrong(r, key, value, "relative or absolute");
	} else if (!strcmp(key, "report.percent-limit")) {
		h->has_percent_limit |= is_number(value);
		if (is_number(value))
			h->percent_limit = strtod(value, NULL);
		else
			wrong(r, key, value, "a number");
	}
	for (size_t i = 0; key && i < ARRAY_LEN(chain_parts); i++)
		if (!strcmp(key, chain_parts[i].key))
			note_chain(r, &chain_parts[i], value);
	return true;
}

/* Joins the parts to a value of --call-graph. A limit needs a threshold before it. */
static void join_chain(struct reading *r)
{
	VEC(char) list = { 0 };
	if (r->chain[PART_LIMIT] && !r->chain[PART_THRESHOLD])
		r->chain[PART_THRESHOLD] = "0.5";
	for (size_t i = 0; i < ARRAY_LEN(r->chain); i++)
		for (const char *c = r->chain[i]; c; c = *c ? c + 1 : NULL)
			vec_push(&list, *c ? *c : ',');
	if (!list.n)
		return;
	list.at[list.n - 1] = '\0';
	free(r->config->call_graph);
	r->config->call_graph = list.at;
}

void perf_config_apply(struct perf_config *c, const char *path, bool is_own, const char *text,
		       size_t n, char error[512])
{
	struct reading r = { .config = c, .path = path, .is_own = is_own, .error = error };
	*error = '\0';
	perf_config_parse(text, n, note, &r);
	join_chain(&r);
}

/* Reads one file. False if it is missing or not readable. */
static bool read_one(struct perf_config *c, const char *path, const char *label, bool is_own,
		     char error[512])
{
	struct file f = { 0 };
	if (access(path, R_OK))
		return false;
	struct kin_error *err = file_read(path, &(struct file_opts){ .max = MAX_FILE }, &f);
	if (!err)
		perf_config_apply(c, label, is_own, (const char *)f.data, f.size, error);
	bool read = !err;
	kin_error_free(err);
	file_free(&f);
	return read;
}

void perf_config_read(struct perf_config *c, char error[512])
{
	static const char *const names[] = { ".kinconfig", ".perfconfig" };
	const char *home = getenv("HOME"), *named = getenv("PERF_CONFIG");
	*error = '\0';
	if (named && *named) {
		if (!read_one(c, named, named, false, error))
			snprintf(error, 512, "PERF_CONFIG: cannot read %s", named);
		return;
	}
	bool read = false;
	for (size_t i = 0; !read && home && *home && i < ARRAY_LEN(names); i++) {
		char *path = xprintf("%s/%s", home, names[i]), *label = xprintf("~/%s", names[i]);
		read = read_one(c, path, label, !i, error);
		free(label);
		free(path);
	}
}

void perf_config_done(struct perf_config *c)
{
	free(c->call_graph);
	vec_free(&c->own_dirs);
	vec_free(&c->foreign_dirs);
	arena_release(&c->arena);
	*c = (struct perf_config){ 0 };
}

/* symspec.c - parses specs, and finds symbols by name, file and line. */
#include "gnu/symspec_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

/* ---- grammar ---- */

bool pattern_is_everything(const struct pattern *p)
{
	return !p->file && !p->line && !p->name && !p->file_or_name;
}

/* Like atoi() for text that starts with a digit, but without its undefined overflow. */
static uint32_t to_line(const char *s, size_t n)
{
	uint64_t v = 0;
	for (size_t i = 0; i < n && isdigit((unsigned char)s[i]) && v <= UINT32_MAX; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	return v > INT32_MAX ? INT32_MAX : (uint32_t)v;
}

/* The colon between file and function. Colons in "::" and in parentheses of C++ names do not count,
 * except in GNU gprof. */
static const char *last_colon(const char *s, size_t n, bool gnu)
{
	size_t depth = 0;

	for (size_t i = n; i-- > 0;) {
		if (gnu && s[i] == ':')
			return s + i;
		if (s[i] == ')' || s[i] == '>')
			depth++;
		else if ((s[i] == '(' || s[i] == '<') && depth)
			depth--;
		else if (s[i] == ':' && i && s[i - 1] == ':')
			i--;
		else if (s[i] == ':' && !depth)
			return s + i;
	}
	return NULL;
}

static void set_name(struct pattern *p, const char *s, size_t n)
{
	if (n && isdigit((unsigned char)*s)) {
		p->line = to_line(s, n);
	} else if (n) {
		p->name = s;
		p->n_name = n;
	}
}

static void set_file(struct pattern *p, const char *s, size_t n)
{
	p->file = s;
	p->n_file = n;
}

static struct pattern parse(const char *s, size_t n, bool gnu)
{
	struct pattern p = { .next = NONE };
	const char *colon = last_colon(s, n, gnu);
	bool cxx = !gnu && (memmem(s, n, "::", 2) || memchr(s, '(', n));

	if (colon) {
		if (colon > s)
			set_file(&p, s, (size_t)(colon - s));
		set_name(&p, colon + 1, n - (size_t)(colon + 1 - s));
	} else if (!cxx && (memchr(s, '.', n) || (!gnu && memchr(s, '/', n)))) {
		set_file(&p, s, n);
		p.file_or_name = !gnu;
	} else {
		set_name(&p, s, n);
	}
	return p;
}

/* Where FROM/TO is split, or NULL. GNU splits every spec, but uses only FROM unless the spec is
 * about calls. */
static const char *find_slash(const struct symspec *spec, bool gnu)
{
	bool arcs = spec->table == SPEC_INCL_ARCS || spec->table == SPEC_EXCL_ARCS;
	return arcs || gnu ? strchr(spec->text, '/') : NULL;
}

static void parse_specs(struct matcher *m)
{
	bool gnu = m->opts->gnu;

	for (size_t i = 0; i < m->n; i++) {
		const char *text = m->specs[i].text, *slash = find_slash(&m->specs[i], gnu);
		size_t n = slash ? (size_t)(slash - text) : strlen(text);
		m->left[i] = parse(text, n, gnu);
		vec_push(&m->all, &m->left[i]);
		m->has_right[i] = slash != NULL;
		if (slash) {
			m->right[i] = parse(slash + 1, strlen(slash + 1), gnu);
			vec_push(&m->all, &m->right[i]);
		}
	}
}

/* ---- files ---- */

static bool equals(const char *s, const char *want, size_t n)
{
	return !strncmp(s, want, n) && !s[n];
}

/* Compares the base name, or as many of the last folders as were given. */
static bool is_file(const struct pattern *p, const char *file)
{
	if (!memchr(p->file, '/', p->n_file))
		return equals(base_name(file), p->file, p->n_file);
	size_t n = strlen(file);
	return n >= p->n_file && !memcmp(file + n - p->n_file, p->file, p->n_file) &&
	       (n == p->n_file || p->file[0] == '/' || file[n - p->n_file - 1] == '/');
}

/* GNU: of several files with that base name, takes the one it learnt of last. */
static void resolve_files(struct matcher *m)
{
	const char *const *files = NULL;
	size_t n = 0;

	for (size_t i = 0; i < m->all.n; i++) {
		struct pattern *p = m->all.at[i];
		if (!p->file)
			continue;
		if (!files)
			files = symbols_files(m->symbols, &n);
		for (size_t k = n; k-- > 0 && !p->known;)
			if (equals(base_name(files[k]), p->file, p->n_file))
				p->known = files[k];
	}
}

/* Whether everything but the name matches. */
static bool is_at(const struct matcher *m, const struct pattern *p, symid id)
{
	if (!p->file && !p->line)
		return true;
	const struct symbol *s = symbols_locate(m->symbols, id);
	if (p->line && p->line != s->line)
		return false;
	if (!p->file)
		return true;
	if (!s->file)
		return false;
	return m->opts->gnu ? p->known && !strcmp(p->known, s->file) : is_file(p, s->file);
}

/* ---- finding ---- */

static uint64_t hash_name(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3;
	return h ^ h >> 32;
}

static void index_name(struct matcher *m, uint32_t i)
{
	struct pattern *p = m->all.at[i];
	uint32_t *slot = map64_at(&m->by_name, hash_name(p->name, p->n_name));
	p->next = *slot;
	*slot = i;
}

static void find_by_name(struct matcher *m)
{
	bool any = false;

	for (size_t i = 0; i < m->all.n; i++) {
		if (!m->all.at[i]->name)
			continue;
		index_name(m, (uint32_t)i);
		any = true;
	}
	for (size_t id = 0; any && id < m->symbols->n; id++) {
		const char *name = m->symbols->at[id].name;
		uint32_t i = map64_get(&m->by_name, hash_name(name, strlen(name)));
		for (; i != NONE; i = m->all.at[i]->next) {
			struct pattern *p = m->all.at[i];
			if (equals(name, p->name, p->n_name) && is_at(m, p, (symid)id))
				vec_push(&p->found, (symid)id);
		}
	}
}

static void find_by_place(struct matcher *m, struct pattern *p)
{
	for (size_t id = 0; id < m->symbols->n; id++)
		if (is_at(m, p, (symid)id))
			vec_push(&p->found, (symid)id);
}

static bool is_demangled(const struct pattern *p, const char *readable)
{
	return !strncmp(readable, p->name, p->n_name) &&
	       (!readable[p->n_name] || readable[p->n_name] == '(');
}

/* Finds names without a match among demangled names, with or without parameters. */
static void find_demangled(struct matcher *m)
{
	VEC(struct pattern *) open = { 0 };

	for (size_t i = 0; i < m->all.n; i++)
		if (m->all.at[i]->name && !m->all.at[i]->found.n)
			vec_push(&open, m->all.at[i]);
	for (size_t id = 0; open.n && id < m->symbols->n; id++) {
		char *readable = demangle(m->symbols->at[id].name, DEMANGLE_AUTO);
		for (size_t i = 0; readable && i < open.n; i++)
			if (is_demangled(open.at[i], readable) && is_at(m, open.at[i], (symid)id))
				vec_push(&open.at[i]->found, (symid)id);
		free(readable);
	}
	vec_free(&open);
}

static void find(struct matcher *m)
{
	for (size_t i = 0; i < m->all.n; i++) {
		struct pattern *p = m->all.at[i];
		if (p->name || pattern_is_everything(p))
			continue;
		find_by_place(m, p);
		if (p->file_or_name && !p->found.n) {
			p->name = p->file;
			p->n_name = p->n_file;
			p->file = NULL;
		}
	}
	find_by_name(m);
	if (!m->opts->gnu)
		find_demangled(m);
}

/* ---- adding to the selection ---- */

static bool found_any(const struct pattern *p) { return pattern_is_everything(p) || p->found.n; }

/* The symbols of one side of an arc, copied; NULL: all symbols. */
static symid *copy_found(const struct pattern *p, size_t *n)
{
	*n = p->found.n;
	if (pattern_is_everything(p))
		return NULL;
	symid *copy = xrealloc(NULL, p->found.n, sizeof(*copy));
	memcpy(copy, p->found.at, p->found.n * sizeof(*copy));
	return copy;
}

static void add_arcs(const struct matcher *m, size_t i, struct selection *ret)
{
	struct sel_arc arc;

	if (!m->has_right[i] || !found_any(&m->left[i]) || !found_any(&m->right[i]))
		return;
	arc.from = copy_found(&m->left[i], &arc.n_from);
	arc.to = copy_found(&m->right[i], &arc.n_to);
	selection_add_arc(ret, m->specs[i].table == SPEC_INCL_ARCS, arc);
}

static void add_symbols(const struct matcher *m, size_t i, struct selection *ret)
{
	const struct pattern *p = &m->left[i];
	enum sel table = (enum sel)m->specs[i].table;

	if (pattern_is_everything(p))
		for (size_t id = 0; id < m->symbols->n; id++)
			selection_add(ret, table, (symid)id);
	for (size_t k = 0; k < p->found.n; k++)
		selection_add(ret, table, p->found.at[k]);
}

static void warn(const struct matcher *m, size_t i)
{
	const struct symspec *spec = &m->specs[i];
	const char *result = m->opts->gnu ? "names nothing" : "has no effect";
	bool arcs = spec->table >= SEL_N;

	char *text = NULL;

	if (!m->opts->warn || (i && spec[-1].text == spec->text)) /* -E and -F are two specs each */
		return;
	if (arcs && !m->has_right[i])
		text = xprintf("-%c %s: has no effect: calls are written FROM/TO", spec->letter,
			       spec->text);
	else if (!found_any(&m->left[i]) || (m->has_right[i] && !found_any(&m->right[i])))
		text = xprintf("-%c %s: %s: %s has no such %s", spec->letter, spec->text, result,
			       symbols_path(m->symbols),
			       arcs ? "functions" : "function, file or line");
	if (text)
		m->opts->warn(text, m->opts->arg);
	free(text);
}

/* ---- matching ---- */

void matcher_match(struct matcher *m)
{
	m->left = xalloc(m->n * sizeof(*m->left));
	m->right = xalloc(m->n * sizeof(*m->right));
	m->has_right = xalloc(m->n * sizeof(*m->has_right));
	parse_specs(m);
	if (m->opts->gnu)
		resolve_files(m);
	find(m);
}

void matcher_done(struct matcher *m)
{
	for (size_t i = 0; i < m->all.n; i++)
		vec_free(&m->all.at[i]->found);
	vec_free(&m->all);
	map64_free(&m->by_name);
	free(m->left);
	free(m->right);
	free(m->has_right);
}

static void select_right(struct symbols *s, const struct symspec *specs, size_t n,
			 const struct symspec_opts *opts, struct selection *ret)
{
	struct matcher m = { .symbols = s, .specs = specs, .n = n, .opts = opts };

	selection_exclude_profiler(ret, s);
	if (!n)
		return;
	matcher_match(&m);
	for (size_t i = 0; i < n; i++) {
		warn(&m, i);
		if (specs[i].table < SEL_N)
			add_symbols(&m, i, ret);
		else
			add_arcs(&m, i, ret);
	}
	matcher_done(&m);
}

void symspec_warn(struct symbols *s, const struct symspec *specs, size_t n,
		  const struct symspec_opts *opts)
{
	struct matcher m = { .symbols = s, .specs = specs, .n = n, .opts = opts };

	if (!n)
		return;
	matcher_match(&m);
	for (size_t i = 0; i < n; i++)
		warn(&m, i);
	matcher_done(&m);
}

void symspec_select(struct symbols *s, const struct symspec *specs, size_t n,
		    const struct symspec_opts *opts, struct selection *ret)
{
	if (opts->gnu)
		symspec_select_gnu(s, specs, n, opts, ret);
	else
		select_right(s, specs, n, opts, ret);
}

/* people_name.c - cuts a name into its core, parameters, and what follows; tidies the core. */
#include "base/people_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/function_name.h"
#include "base/map64.h"
#include "base/short_name.h"
#include "base/strtab.h"
#include "base/tidy_name.h"
#include "base/vec.h"

#define ARROW " -> "

enum {
	LONGEST = 64 * 1024, /* bytes of a name; longer ones stay as they are */
	DEEPEST = 64,        /* brackets open at once, as many as name_bracket_end() follows */
	MARK = 2,            /* brackets, which make "f (cold)" longer than "f.cold" */
};

struct name_cut {
	const char *core;       /* [n]: scopes, name, template arguments */
	const char *parameters; /* behind it, with "const"; [n_parameters] */
	const char *tail;       /* behind these: endings and remarks */
	size_t n, n_parameters;
	size_t arguments; /* where the last template arguments begin in the core; n: none */
	bool is_operator; /* it ends with an operator's signs, or these and arguments */
};

static inline bool starts(const char *p, const char *text) /* mostly not: by the first byte */
{
	return *p == *text && !strncmp(p, text, strlen(text));
}

static bool ends(const char *s, size_t n, const char *text)
{
	size_t k = strlen(text);
	return n >= k && !memcmp(s + n - k, text, k);
}

/* ---- cutting ---- */

static bool begins_tail(const char *p)
{
	if (*p == ' ')
		return p[1] == '(' || p[1] == '[' || starts(p, " <cycle ");
	return *p == '.' && function_name_ending(p);
}

/* Ends the core at the tail, or after n bytes; finds the arguments at its end. */
static void measure_core(struct name_cut *c, size_t n)
{
	const char *p = c->core, *end = p + n, *arguments = NULL, *signs = NULL;
	while (p < end && (p == c->core || !begins_tail(p))) {
		const char *behind = name_operator_end(c->core, p);
		if (behind > p) {
			p = behind + (starts(behind, " <"));
			signs = p;
			continue;
		}
		const char *close = name_bracket_at(p);
		arguments = *p == '<' && close ? p : NULL;
		signs = arguments == signs ? signs : NULL;
		p = close ? close + 1 : p + 1;
	}
	p = p < end ? p : end;
	c->n = (size_t)(p - c->core);
	c->arguments = arguments ? (size_t)(arguments - c->core) : c->n;
	c->is_operator = signs && signs == c->core + c->arguments;
}

static struct name_cut cut(const char *name)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };
	struct name_cut c = { 0 };
	size_t n;
	c.core = bare_name(name, &n);
	measure_core(&c, n);
	c.parameters = c.tail = c.core + c.n;
	const char *close = *c.tail == '(' ? name_bracket_end(c.tail) : NULL;
	if (!close)
		return c;
	c.tail = close + 1;
	for (size_t i = 0; i < ARRAY_LEN(qualifiers); i++)
		if (starts(c.tail, qualifiers[i]))
			c.tail += strlen(qualifiers[i]);
	c.n_parameters = (size_t)(c.tail - c.parameters);
	return c;
}

/* ---- Rust ---- */

static bool is_of_path(char c) { return name_is_letter(c) || c == ':'; }

/* Appends Rust's types without the modules of the standard library: "Vec" for "alloc::vec::Vec". */
static char *put_types(char *to, const char *p, size_t n)
{
	static const char *const crates[] = { "alloc::", "core::", "std::" };
	const char *end = p + n;
	while (p < end) {
		const char *type = p, *path = p;
		bool is_standard = false;
		while (path < end && is_of_path(*path))
			path++;
		for (size_t i = 0; i < ARRAY_LEN(crates); i++)
			is_standard |= starts(p, crates[i]);
		for (const char *q = p; is_standard && q + 2 < path; q++)
			type = q[0] == ':' && q[1] == ':' && q[2] != ':' ? q + 2 : type;
		path += path == p;
		to = mempcpy(to, type, (size_t)(path - type));
		p = path;
	}
	return to;
}

/* The end of the type that begins at p, before " for " or " as ", or else `end`. */
static const char *end_of_type(const char *p, const char *end, const char *word)
{
	while (p < end && !starts(p, word)) {
		const char *close = name_bracket_at(p);
		p = close && close < end ? close + 1 : p + 1;
	}
	return p;
}

/* "<B as A>" for "m::<impl A for B>", "B" for "m::<impl B>" and "<B>"; NULL: it is not of Rust. */
static char *put_lead(char *to, const char *core, size_t n, size_t *taken)
{
	static const char impl[] = "<impl ";
	const char *p = core, *found = *p == '<' ? p : NULL;
	for (; p < core + n && !found; p++) {
		const char *close = name_bracket_at(p);
		found = starts(p, impl) && p > core && p[-1] == ':' ? p : NULL;
		p = close ? close : p;
	}
	const char *close = found ? name_bracket_end(found) : NULL;
	if (!close || close >= core + n || !starts(close, ">::"))
		return NULL;
	bool is_impl = starts(found, impl);
	const char *word = is_impl ? " for " : " as ";
	const char *first = found + (is_impl ? strlen(impl) : 1);
	const char *mid = end_of_type(first, close, word);
	bool has_two = mid < close;
	const char *second = has_two ? mid + strlen(word) : close;
	*taken = (size_t)(close + 1 - core);
	bool is_word = name_is_letter(*first) || *first == '[';
	if (!has_two && is_word && !memchr(first, ' ', (size_t)(close - first)))
		return put_types(to, first, (size_t)(close - first));
	*to++ = '<';
	if (!has_two) { /* "<*mut T>", "<dyn A + B>" */
		to = put_types(to, first, (size_t)(close - first));
		*to++ = '>';
		return to;
	}
	to = is_impl ? put_types(to, second, (size_t)(close - second))
		     : put_types(to, first, (size_t)(mid - first));
	to = stpcpy(to, " as ");
	to = is_impl ? put_types(to, first, (size_t)(mid - first))
		     : put_types(to, second, (size_t)(close - second));
	*to++ = '>';
	return to;
}

/* The length without a hash, "::h0123456789abcdef". */
static size_t without_hash(const char *core, size_t n)
{
	enum { DIGITS = 16 };
	const char *hash = core + n - DIGITS;
	bool is_hash = n > DIGITS + 3 && !memcmp(hash - 3, "::h", 3);
	return is_hash && strspn(hash, "0123456789abcdef") >= DIGITS ? n - DIGITS - 3 : n;
}

/* Appends a name of Rust; NULL: it is none, and nothing was appended. */
static char *put_rust(char *to, const char *core, size_t n)
{
	static const char closure[] = "{{closure}}";
	size_t left = without_hash(core, n), taken = 0;
	char *at = put_lead(to, core, left, &taken);
	bool is_standard = starts(core, "core::") || starts(core, "alloc::");
	if (!at && left == n && !is_standard && !memmem(core, n, closure, strlen(closure)))
		return NULL;
	at = at ? at : to;
	for (const char *p = core + taken, *end = core + left; p < end;) {
		const char *close = *p == '<' ? name_bracket_end(p) : NULL;
		if (starts(p, closure)) {
			at = stpcpy(at, "{closure}");
			p += strlen(closure);
		} else if (close && close < end) {
			at = put_types(at, p, (size_t)(close - p));
			p = close;
		} else {
			*at++ = *p++;
		}
	}
	return at;
}

/* ---- C++ ---- */

/* Functions of the standard library that apply an operator to what iterators point to. */
static const struct {
	const char *name, *shown;
} operators[] = {
	{ "__gnu_cxx::__ops::_Iter_less_iter::operator()", "operator<" },
	{ "__gnu_cxx::__ops::_Iter_less_val::operator()", "operator<" },
	{ "__gnu_cxx::__ops::_Val_less_iter::operator()", "operator<" },
	{ "__gnu_cxx::__ops::_Iter_equal_to_iter::operator()", "operator==" },
	{ "__gnu_cxx::__ops::_Iter_equal_to_val::operator()", "operator==" },
};

/* Appends the operator with the types that it compares: "operator<(A, B)"; NULL: it is none. */
static char *put_operator(char *to, const struct name_cut *c)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t n = strlen(operators[i].name);
		if (c->n < n + 2 || c->arguments != n || memcmp(c->core, operators[i].name, n) != 0)
			continue;
		to = stpcpy(to, operators[i].shown);
		*to++ = '(';
		to = mempcpy(to, c->core + n + 1, c->n - n - 2);
		*to++ = ')';
		return to;
	}
	return NULL;
}

/* Appends core and parameters. Whoever calls an instance of an operator wrote what its parameters
 * are; for other functions its template arguments say more. */
static char *put_cxx(char *to, const struct name_cut *c, enum people_form form)
{
	static const char lambda[] = "}::operator()";
	char *end = put_operator(to, c);
	bool is_short = form == PEOPLE_SHORT, is_instance = c->arguments < c->n;
	if (end)
		return end;
	bool is_lambda = ends(c->core, c->arguments, lambda);
	bool by_parameters = is_instance && c->n_parameters && (c->is_operator || is_lambda);
	size_t n = is_short && by_parameters ? c->arguments : c->n;
	while (n < c->n && n && c->core[n - 1] == ' ')
		n--; /* "operator< <int>" */
	to = mempcpy(to, c->core, n);
	if (is_short && (is_lambda || (is_instance && !by_parameters)))
		return to;
	return mempcpy(to, c->parameters, c->n_parameters);
}

/* ---- the tail ---- */

/* Appends "(isra constprop.1" for ".isra.0" and ".constprop.1". */
static char *put_ending(char *to, const char *ending, size_t n, bool is_first)
{
	n -= ends(ending, n, ".0") ? 2 : 0;
	if (starts(ending, ".llvm") || starts(ending, ".__uniq")) /* hashes */
		return to;
	to = stpcpy(to, is_first ? " (" : " ");
	return mempcpy(to, ending + 1, n - 1);
}

/* The endings in brackets, as demanglers put them, and without. */
static char *put_tail(char *to, const char *tail)
{
	static const char clone[] = " [clone ";
	bool is_first = true;
	for (;;) {
		bool in_brackets = starts(tail, clone);
		const char *ending = tail + (in_brackets ? strlen(clone) : 0);
		size_t n = function_name_ending(ending);
		if (!n || (in_brackets && ending[n] != ']'))
			break;
		char *before = to;
		to = put_ending(to, ending, n, is_first);
		is_first &= to == before;
		tail = ending + n + in_brackets;
	}
	if (!is_first)
		*to++ = ')';
	return stpcpy(to, tail);
}

/* ---- names ---- */

static char *one_name(const char *full, enum people_form form)
{
	size_t length = strlen(full);
	struct name_cut c = cut(full);
	char *text = xalloc(2 * length + 64);
	char *to = c.n_parameters ? NULL : put_rust(text, c.core, c.n);
	bool is_rust = to;
	to = to ? to : put_cxx(text, &c, form);
	*to = '\0';
	char *tidy = is_rust ? NULL : tidy_name(text, true);
	if (tidy) {
		to = stpcpy(text, tidy);
		free(tidy);
	}
	to = put_tail(to, c.tail);
	if ((size_t)(to - text) <= length + MARK && to > text && strcmp(text, full) != 0)
		return text;
	free(text);
	return NULL;
}

/* Where "caller -> callee" has its arrow; NULL: it is one name. */
static const char *find_arrow(const char *full)
{
	const char *p = strstr(full, ARROW) ? full : NULL;
	while (p && *p && !starts(p, ARROW)) {
		const char *end = name_bracket_at(p);
		p = end ? end + 1 : p + 1;
	}
	return p && *p ? p : NULL;
}

/* Such a name stays as it is. Each of its brackets would be followed for DEEPEST others, in vain.
 */
static bool is_too_deep(const char *p)
{
	size_t depth = 0;
	for (; *p && depth <= DEEPEST; p++) {
		depth += strchr("<({", *p) != NULL;
		depth -= depth && strchr(">)}", *p);
	}
	return depth > DEEPEST;
}

char *people_name(const char *full, enum people_form form)
{
	if (!strpbrk(full, "<({[.:") || strlen(full) > LONGEST || is_too_deep(full))
		return NULL;
	const char *arrow = find_arrow(full), *callee = arrow ? arrow + strlen(ARROW) : NULL;
	if (!arrow)
		return one_name(full, form);
	if (find_arrow(callee))
		return NULL;
	char *from = xprintf("%.*s", (int)(arrow - full), full), *to = one_name(callee, form);
	char *short_from = one_name(from, form), *text = NULL;
	if (short_from || to)
		text = xprintf("%s" ARROW "%s", short_from ? short_from : from, to ? to : callee);
	free(short_from);
	free(from);
	free(to);
	return text;
}

bool people_name_is(const char *full, const char *name)
{
	bool is_it = function_name_is(full, name);
	bool may_be = strpbrk(name, "<({:") && strlen(name) <= strlen(full) + MARK;
	for (unsigned i = 0; i < N_PEOPLE_FORMS && may_be && !is_it; i++) {
		char *form = people_name(full, i);
		is_it = form && !strcmp(form, name);
		free(form);
	}
	return is_it;
}

/* ---- names that are shown together ---- */

struct people_forms {
	strid full, object;       /* object: of an address; 0: it has a name */
	strid at[N_PEOPLE_FORMS]; /* those that were needed so far */
	unsigned n;
};

struct people_names {
	struct strtab *texts;
	struct map64 known;   /* full name, and object of an address: index into `forms` */
	struct map64 claimed; /* form: index into `forms` of the name that has it; SEVERAL */
	struct map64 cut;     /* shortened name: the shown one */
	VEC(struct people_forms) forms;
};

enum { SEVERAL = NONE - 1 };

struct people_names *people_names_new(void)
{
	struct people_names *p = xalloc(sizeof(*p));
	p->texts = strtab_new();
	return p;
}

void people_names_free(struct people_names *p)
{
	if (!p)
		return;
	strtab_free(p->texts);
	map64_free(&p->known);
	map64_free(&p->claimed);
	map64_free(&p->cut);
	vec_free(&p->forms);
	free(p);
}

/* Of an address with an object: "libfoo.so (no symbols)", and with the address. */
static char *address_name(const char *address, const char *object, enum people_form form)
{
	bool is_short = form == PEOPLE_SHORT;
	return xprintf("%s (no symbols)%s%s", base_name(object), is_short ? "" : " ",
		       is_short ? "" : address);
}

static strid form_of(struct people_names *p, const struct people_forms *f, enum people_form form)
{
	const char *name = strtab_get(p->texts, f->full);
	char *text = f->object ? address_name(name, strtab_get(p->texts, f->object), form)
			       : people_name(name, form);
	strid id = text ? strtab_add(p->texts, text) : f->full;
	free(text);
	return id;
}

/* Makes the forms of a name up to one that no other name has, and those of the names that have the
 * ones before. */
static void need_forms(struct people_names *p, uint32_t name)
{
	struct people_forms *f = &p->forms.at[name];
	while (f->n < N_PEOPLE_FORMS) {
		strid form = f->at[f->n] = form_of(p, f, f->n);
		uint32_t *at = map64_at(&p->claimed, form), other = *at;
		f->n++;
		if (other == NONE || other == name) {
			*at = name;
			return;
		}
		*at = SEVERAL;
		if (other != SEVERAL && p->forms.at[other].n < N_PEOPLE_FORMS)
			need_forms(p, other);
	}
}

static const char *shown_form(const struct people_names *p, uint32_t name)
{
	const struct people_forms *f = &p->forms.at[name];
	for (size_t i = 0; i < f->n; i++)
		if (map64_get(&p->claimed, f->at[i]) == name)
			return strtab_get(p->texts, f->at[i]);
	return strtab_get(p->texts, f->full);
}

const char *people_names_in(struct people_names *p, const char *full, const char *object)
{
	bool is_address = object && *object && *object != '[' && starts(full, "[0x");
	strid id = strtab_add(p->texts, full), in = is_address ? strtab_add(p->texts, object) : 0;
	uint32_t *known = map64_at(&p->known, MAP64_PAIR(id, in)), at = *known;
	if (at == NONE) {
		*known = at = (uint32_t)p->forms.n;
		vec_push(&p->forms, ((struct people_forms){ .full = id, .object = in }));
		uint32_t *of = map64_at(&p->claimed, id), other = *of;
		*of = other == NONE ? at : SEVERAL;
		if (other != NONE && other != SEVERAL)
			need_forms(p, other);
		need_forms(p, at);
	}
	return shown_form(p, at);
}

const char *people_names_at(struct people_names *p, const char *full)
{
	return people_names_in(p, full, NULL);
}

char *people_names_fit(struct people_names *p, const char *shown, size_t width)
{
	char *text = short_name(shown, width);
	strid id = strtab_add(p->texts, shown);
	uint32_t *of = map64_at(&p->cut, strtab_add(p->texts, text));
	*of = *of == NONE ? id : *of;
	if (*of == id || escape_width(shown) <= width)
		return text;
	free(text);
	return cut_text(shown, width, true);
}

bool people_names_next(struct people_names *p, size_t *i, const char **full, const char **shown)
{
	while (*i < p->forms.n) {
		*full = strtab_get(p->texts, p->forms.at[*i].full);
		*shown = shown_form(p, (uint32_t)(*i)++);
		if (*shown != *full)
			return true;
	}
	return false;
}

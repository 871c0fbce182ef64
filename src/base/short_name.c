/* short_name.c - leaves out the return type of a name, the contents of brackets, then scopes, until
 * it fits; or only the return type and the parameters. */
#include "base/short_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/function_name.h"
#include "base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum {
	MOST_GROUPS = 32,
	MOST_FOUND = MOST_GROUPS - 1, /* and the bracket at the start of a name */
	READABLE = 1024,              /* bytes of a name that somebody may read to its end */
};

struct name_group { /* the text between two brackets, or the scopes of a type: [start, end) of the
		       name */
	size_t start, end;
	bool is_scopes;
	bool is_dropped;
};

struct name_cutting {
	const char *name;
	struct name_group groups[MOST_GROUPS]; /* in order */
	size_t n;
	size_t lead;   /* where the bracket at the start of the name closes; 0: there is none */
	size_t type;   /* where the name itself begins, behind a return type; 0: it has none */
	size_t scopes; /* bytes at the beginning that are left out */
};

static char closing(char open)
{
	return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : '\0';
}

const char *name_bracket_end(const char *p)
{
	static const bool is_stop[256] = { [0] = true,   ['<'] = true, ['>'] = true, ['('] = true,
					   [')'] = true, ['{'] = true, ['}'] = true };
	char open[64];
	size_t depth = 0;

	for (;; p++) {
		while (!is_stop[(unsigned char)*p])
			p++;
		if (!*p)
			return NULL;
		if (closing(*p)) {
			if (depth == sizeof(open))
				return NULL;
			open[depth++] = *p;
		} else if (depth && *p == closing(open[depth - 1]) &&
			   !(*p == '>' && p[-1] == '-') && !--depth) {
			return p;
		}
	}
}

/* Behind the signs of an operator, "()" and "<<" among them. */
static const char *behind_operator(const char *p)
{
	p += strlen("operator");
	return !strncmp(p, "()", 2) ? p + 2 : p + strspn(p, "<>=-");
}

static inline bool is_word(const char *p, const char *text) /* mostly not: by the first byte */
{
	return *p == *text && !strncmp(p, text, strlen(text));
}

const char *name_operator_end(const char *name, const char *p)
{
	static const char *const signs[] = { "()", "[]", "<=>", "->*", "->", "<<=", ">>=",
					     "<<", ">>", "<=",  ">=",  "<",  ">" };
	const char *end = p + strlen("operator");
	if (*p != 'o' || !is_word(p, "operator") || (p > name && name_is_letter(p[-1])) ||
	    name_is_letter(*end))
		return p;
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (is_word(end, signs[i]))
			return end + strlen(signs[i]);
	return end + strspn(end, "+-*/%^&|~!=,");
}

/* Finds the brackets of the outermost level. A bracket at the start of a name is its scope ("<T as
 * Trait>::f"): the brackets within are found instead. */
static void find_groups(struct name_cutting *x)
{
	for (const char *p = x->name; *p && x->n < MOST_FOUND;) {
		if (is_word(p, "operator")) {
			p = behind_operator(p);
			continue;
		}
		const char *end = name_bracket_at(p);
		bool is_named = is_word(p, "(anonymous namespace)") ||
				(*p == '(' && p > x->name && p[-1] == ' ');
		if (end && p == x->name && !is_named)
			x->lead = (size_t)(end - x->name);
		if (!end || (p == x->name && !is_named)) {
			p++;
			continue;
		}
		if (*p != '{' && !is_named)
			x->groups[x->n++] = (struct name_group){ .start = (size_t)(p + 1 - x->name),
								 .end = (size_t)(end - x->name) };
		p = end + 1;
	}
}

static void insert_scopes(struct name_cutting *x, size_t start, size_t end)
{
	size_t at = 0;

	if (x->n == MOST_FOUND)
		return;
	while (at < x->n && x->groups[at].start < start)
		at++;
	memmove(x->groups + at + 1, x->groups + at, (x->n - at) * sizeof(*x->groups));
	x->groups[at] = (struct name_group){ .start = start, .end = end, .is_scopes = true };
	x->n++;
}

/* Finds the scopes of the types in the bracket at the start of a name: in
 * "<a::B<x::C> as d::Trait>::f" those of B and of Trait. */
static void find_scopes_of_lead(struct name_cutting *x)
{
	const char *end = x->name + x->lead, *type = x->name + 1, *last = type;

	for (const char *p = type; x->lead && p <= end; p++) {
		bool goes_on = name_is_letter(*p) || *p == ':';
		if (goes_on && is_word(p, "::") && p + 2 < end)
			last = p + 2;
		if (goes_on)
			continue;
		if (last > type)
			insert_scopes(x, (size_t)(type - x->name), (size_t)(last - x->name));
		const char *close = p < end ? name_bracket_at(p) : NULL;
		p = close && close < end ? close : p;
		type = last = p + 1;
	}
}

/* Where the name begins behind a return type; 0: it has none. Instances of function templates have
 * one: "void f<int>(int)". So do those of operators, as other operators have no blank before
 * "operator". */
static size_t find_type(const char *name)
{
	size_t type = 0;
	bool is_template = false;

	for (const char *p = name; *p; p++) {
		if (name_operator_end(name, p) != p)
			return type;
		const char *end = name_bracket_at(p);
		bool is_named = *p == '(' && (is_word(p, "(anonymous namespace)") ||
					      (p - name >= 8 && is_word(p - 8, "decltype")));
		if (*p == '(' && end && !is_named)
			return p > name && p[-1] != ' ' && is_template ? type : 0;
		if (*p == ' ') {
			if ((p - name >= 3 && is_word(p - 3, " to")) || /* a thunk */
			    (p - name >= 4 && is_word(p - 4, " for")))  /* "typeinfo for" */
				return 0;
			type = (size_t)(p + 1 - name);
			is_template = false;
		}
		is_template |= *p == '<' && end;
		p = end ? end : p;
	}
	return 0;
}

/* To be freed. */
static char *text_of(const struct name_cutting *x)
{
	char *text = xalloc(strlen(x->name) + (x->n + 1) * sizeof(ELLIPSIS) + 1), *to = text;
	size_t at = x->scopes;

	if (at)
		to = stpcpy(to, ELLIPSIS);
	for (size_t i = 0; i < x->n; i++) {
		const struct name_group *g = &x->groups[i];
		if (!g->is_dropped || g->start < x->scopes)
			continue;
		memcpy(to, x->name + at, g->start - at);
		to = stpcpy(to + (g->start - at), ELLIPSIS);
		at = g->end;
	}
	strcpy(to, x->name + at);
	return text;
}

static bool goes_before(const struct name_group *g, const struct name_group *other)
{
	return g->is_scopes == other->is_scopes ? g->end - g->start > other->end - other->start
						: other->is_scopes;
}

/* The longest group not dropped yet, brackets before scopes; NULL: none is longer than the ellipsis
 * in its place. */
static struct name_group *longest(struct name_cutting *x)
{
	struct name_group *found = NULL;
	for (size_t i = 0; i < x->n; i++) {
		struct name_group *g = &x->groups[i];
		if (!g->is_dropped && g->end - g->start > 1 && (!found || goes_before(g, found)))
			found = g;
	}
	return found;
}

/* Drops all in the bracket at the start of the name. */
static void drop_lead(struct name_cutting *x)
{
	size_t within = 0;

	while (within < x->n && x->groups[within].start < x->lead)
		within++;
	memmove(x->groups + 1, x->groups + within, (x->n - within) * sizeof(*x->groups));
	x->groups[0] = (struct name_group){ .start = 1, .end = x->lead, .is_dropped = true };
	x->n += 1 - within;
	x->lead = 0;
}

static bool is_in_group(const struct name_cutting *x, size_t at)
{
	for (size_t i = 0; i < x->n; i++)
		if (at >= x->groups[i].start && at < x->groups[i].end)
			return true;
	return false;
}

/* Behind the next "::" that is outside of brackets and not the end of the name; in names that
 * nobody reads to their end behind the last one, as each costs a pass over the name. 0: none. */
static size_t next_scope(const struct name_cutting *x)
{
	const char *operator_name = strstr(x->name, "operator");
	bool is_endless = strlen(x->name) > READABLE;
	size_t found = 0;

	for (const char *p = x->name + x->scopes; (p = strstr(p, "::")); p += 2) {
		size_t at = (size_t)(p + 2 - x->name);
		if (operator_name && operator_name < p)
			break;
		if (is_in_group(x, at) || !x->name[at])
			continue;
		found = at;
		if (!is_endless)
			break;
	}
	return found;
}

/* ---- without parameters ---- */

/* Whether something within a function is named behind its ')', at p: after "::" in C++ or Rust,
 * after '.' in Go or D, unless that is the ending of a copy, as in "f(int).cold". */
static bool goes_on_within(const char *p)
{
	if (is_word(p, " const"))
		p += strlen(" const");
	return is_word(p, "::") || (*p == '.' && !function_name_ending(p));
}

/* Whether the bracket at p, which closes at `end` or nowhere, holds the parameters of the function
 * that is named. */
static bool holds_parameters(const char *name, const char *p, const char *end)
{
	if (p == name || (end && goes_on_within(end + 1)))
		return false;
	if (p - name >= 9 && is_word(p - 9, "operator!"))
		return true;
	bool is_type = p - name >= 8 && is_word(p - 8, "decltype");
	/* Behind a space is a type or a remark, behind '.' Go's "(*T)", behind '!' D's arguments
	 * of a template. */
	return !is_type && !strchr(" .!", p[-1]);
}

const char *bare_name(const char *name, size_t *n)
{
	const char *p = name + find_type(name), *start = p;

	while (*(p = name_operator_end(name, p))) {
		const char *end = closing(*p) ? name_bracket_end(p)
				  : *p == '[' ? strchr(p, ']')
					      : NULL;
		if (*p == '(' && holds_parameters(name, p, end))
			break;
		p = end ? end + 1 : p + 1;
	}
	*n = (size_t)(p - start);
	return start;
}

/* ---- in a width ---- */

char *short_name(const char *name, size_t width)
{
	struct name_cutting x = { .name = name };
	char *text = xprintf("%s", name);

	find_groups(&x);
	find_scopes_of_lead(&x);
	x.type = find_type(name);
	while (escape_width(text) > width) {
		struct name_group *g = longest(&x);
		size_t scope = g || x.lead ? 0 : next_scope(&x);
		if (x.type > x.scopes)
			x.scopes = x.type;
		else if (g)
			g->is_dropped = true;
		else if (x.lead)
			drop_lead(&x);
		else if (scope)
			x.scopes = scope;
		else
			break;
		free(text);
		text = text_of(&x);
	}
	return text;
}

/* How many bytes of a valid UTF-8 text fit in `width` columns; *used: the columns that they
 * take. */
static size_t bytes_in(const char *text, size_t width, size_t *used)
{
	size_t n = 0;
	for (*used = 0; text[n];) {
		uint32_t c = 0;
		size_t bytes = utf8_decode((const unsigned char *)text + n, &c),
		       wide = utf8_width(c);
		if (*used + wide > width)
			break;
		*used += wide;
		n += bytes ? bytes : 1;
	}
	return n;
}

char *cut_text(const char *text, size_t width, bool with_end)
{
	enum { LEAST = 4 }; /* with less room there is no end */
	size_t all = escape_width(text), room = width ? width - 1 : 0, used, dropped;
	size_t tail = !with_end || room < LEAST ? 0 : room / 2;
	size_t head = bytes_in(text, room - tail, &used);
	size_t skipped = head + bytes_in(text + head, all - used - tail, &dropped);
	if (tail && used + dropped + tail < all) { /* would cut a wide character in half */
		uint32_t wide;
		skipped += utf8_decode((const unsigned char *)text + skipped, &wide);
	}
	return xprintf("%.*s" ELLIPSIS "%s", (int)head, text, tail ? text + skipped : "");
}

/* ---- brief names ---- */

/* The name without the arguments of templates. The type that a name of Rust begins with stays:
 * "T::f" for "<T as Trait>::f". */
static char *without_arguments(const char *name, size_t n)
{
	char *ret = xalloc(n + 1);
	size_t length = 0, depth = 0;
	bool in_type = n && name[0] == '<', in_trait = false;
	for (size_t i = in_type; i < n; i++) {
		bool is_operator = !depth && !strncmp(name + i, "operator", 8);
		size_t sign = is_operator ? (size_t)(name_operator_end(name, name + i) - name) : i;
		for (; i < sign && i < n; i++)
			ret[length++] = name[i];
		if (i == n)
			break;
		in_trait |= in_type && !depth && !strncmp(name + i, " as ", 4);
		depth += name[i] == '<';
		if (in_type && !depth && name[i] == '>')
			in_type = in_trait = false;
		else if (!depth && !in_trait)
			ret[length++] = name[i];
		depth -= name[i] == '>' && depth;
		/* Of "slice::<impl [T]>::sort" only one of the two signs. */
		if (length > 3 && !memcmp(ret + length - 4, "::::", 4))
			length -= 2;
	}
	ret[length] = '\0';
	return ret;
}

/* Leaves out outer scopes of a long name. */
static const char *inner_name(const char *name)
{
	enum { LONG = 28 };
	const char *scope;
	while (strlen(name) > LONG && (scope = strstr(name, "::")))
		name = scope + 2;
	return name;
}

/* A class, for its constructors and for the call of its objects. */
static void cut_to_class(char *name)
{
	static const char call[] = "::operator()";
	size_t n = strlen(name), cut = sizeof(call) - 1;
	if (n > cut && !strcmp(name + n - cut, call))
		name[n - cut] = '\0';
	char *last = strrchr(name, ':');
	if (!last || last < name + 2)
		return;
	size_t own = strlen(last + 1), scope = (size_t)(last - 1 - name);
	bool is_class = scope >= own && !memcmp(name + scope - own, last + 1, own) &&
			(scope == own || name[scope - own - 1] == ':');
	if (is_class)
		name[scope] = '\0';
}

char *brief_name(const char *name)
{
	size_t n;
	const char *bare = bare_name(name, &n);
	char *whole = without_arguments(bare, n);
	cut_to_class(whole);
	char *ret = xprintf("%s", inner_name(whole));
	free(whole);
	return ret;
}

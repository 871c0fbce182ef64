/* tidy.c - demangled C++ names as people write them.
 *
 * A demangler shows every template argument, also those that nobody wrote: std::string is
 * std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, and a map of
 * such strings fills the screen. Here the default arguments of the standard library's classes are
 * left out, and the namespaces of its versions. Nothing else is, so that different functions keep
 * different names. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/vec.h"
#include "object/object_private.h"

enum {
	DEEPEST = 200,       /* brackets in brackets */
	LONGEST = 64 * 1024, /* bytes of a name; longer ones stay as they are */
	ARGUMENTS = 8,       /* arguments looked at: classes with defaults have fewer */
	PATTERN = 64,
};

/* ---- default arguments ---- */

/* $1 and $2 are the first two arguments. */
static const struct container {
	const char *name;
	const char *arguments[5];
} containers[] = {
	{ "std::basic_string", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "std::basic_string_view", { "", "std::char_traits<$1>" } },
	{ "std::basic_ostream", { "", "std::char_traits<$1>" } },
	{ "std::basic_istream", { "", "std::char_traits<$1>" } },
	{ "std::basic_iostream", { "", "std::char_traits<$1>" } },
	{ "std::basic_ios", { "", "std::char_traits<$1>" } },
	{ "std::basic_streambuf", { "", "std::char_traits<$1>" } },
	{ "std::basic_filebuf", { "", "std::char_traits<$1>" } },
	{ "std::basic_fstream", { "", "std::char_traits<$1>" } },
	{ "std::basic_ifstream", { "", "std::char_traits<$1>" } },
	{ "std::basic_ofstream", { "", "std::char_traits<$1>" } },
	{ "std::basic_stringbuf", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "std::basic_stringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "std::basic_istringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "std::basic_ostringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "std::vector", { "", "std::allocator<$1>" } },
	{ "std::deque", { "", "std::allocator<$1>" } },
	{ "std::list", { "", "std::allocator<$1>" } },
	{ "std::forward_list", { "", "std::allocator<$1>" } },
	{ "std::set", { "", "std::less<$1>", "std::allocator<$1>" } },
	{ "std::multiset", { "", "std::less<$1>", "std::allocator<$1>" } },
	{ "std::map", { "", "", "std::less<$1>", "std::allocator<std::pair<$1 const, $2>>" } },
	{ "std::multimap", { "", "", "std::less<$1>", "std::allocator<std::pair<$1 const, $2>>" } },
	{ "std::unordered_set",
	  { "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>" } },
	{ "std::unordered_multiset",
	  { "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>" } },
	{ "std::unordered_map",
	  { "", "", "std::hash<$1>", "std::equal_to<$1>",
	    "std::allocator<std::pair<$1 const, $2>>" } },
	{ "std::unordered_multimap",
	  { "", "", "std::hash<$1>", "std::equal_to<$1>",
	    "std::allocator<std::pair<$1 const, $2>>" } },
	{ "std::stack", { "", "std::deque<$1>" } },
	{ "std::queue", { "", "std::deque<$1>" } },
	{ "std::priority_queue", { "", "std::vector<$1>", "std::less<$1>" } },
	{ "std::unique_ptr", { "", "std::default_delete<$1>" } },
};

/* std::basic_X<CHARACTER> has a name of its own: std::X with this before X. */
static const struct {
	const char *character, *prefix;
} characters[] = {
	{ "char", "" },        { "wchar_t", "w" },    { "char8_t", "u8" },
	{ "char16_t", "u16" }, { "char32_t", "u32" },
};

/* ---- the text so far ---- */

struct tidy_piece {
	size_t at, n;
};

struct tidy {
	const char *p; /* the rest of the name */
	VEC(char) out;
	unsigned depth;
};

static void put(struct tidy *t, const char *s, size_t n)
{
	vec_reserve(&t->out, n);
	memcpy(t->out.at + t->out.n, s, n);
	t->out.n += n;
}

static void take(struct tidy *t, size_t n)
{
	put(t, t->p, n);
	t->p += n;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static char last(const struct tidy *t) { return t->out.n ? t->out.at[t->out.n - 1] : '\0'; }

static bool is_text(const struct tidy *t, struct tidy_piece x, const char *s, size_t n)
{
	return x.n == n && !memcmp(t->out.at + x.at, s, n);
}

/* ---- template arguments ---- */

/* The name before the arguments: "std::vector". */
static struct tidy_piece name_before(const struct tidy *t, size_t end)
{
	size_t at = end;
	while (at && (is_word(t->out.at[at - 1]) || t->out.at[at - 1] == ':'))
		at--;
	return (struct tidy_piece){ at, end - at };
}

static bool is_default(const struct tidy *t, const struct tidy_piece *arguments,
		       struct tidy_piece given, const char *pattern)
{
	const char *s = t->out.at + given.at, *end = s + given.n;
	for (; *pattern; pattern++) {
		if (*pattern != '$') {
			if (s == end || *s++ != *pattern)
				return false;
			continue;
		}
		struct tidy_piece x = arguments[*++pattern - '1'];
		if ((size_t)(end - s) < x.n || memcmp(s, t->out.at + x.at, x.n) != 0)
			return false;
		s += x.n;
	}
	return s == end;
}

static const struct container *container_of_name(const struct tidy *t, struct tidy_piece name)
{
	for (size_t i = 0; i < ARRAY_LEN(containers); i++)
		if (is_text(t, name, containers[i].name, strlen(containers[i].name)))
			return &containers[i];
	return NULL;
}

/* The number of the n arguments that remain. */
static size_t without_defaults(const struct tidy *t, const struct container *c,
			       const struct tidy_piece *arguments, size_t n)
{
	while (n > 1 && n <= ARRAY_LEN(c->arguments) && c->arguments[n - 1] &&
	       *c->arguments[n - 1] &&
	       is_default(t, arguments, arguments[n - 1], c->arguments[n - 1]))
		n--;
	return n;
}

/* "std::basic_string<char" -> "std::string"; false: it has no such name. */
static bool rename_basic(struct tidy *t, struct tidy_piece name, struct tidy_piece character)
{
	static const char basic[] = "std::basic_";
	char rest[PATTERN];
	size_t n = strlen(basic);
	if (name.n <= n || name.n - n >= sizeof(rest) || memcmp(t->out.at + name.at, basic, n) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
		if (!is_text(t, character, characters[i].character,
			     strlen(characters[i].character)))
			continue;
		memcpy(rest, t->out.at + name.at + n, name.n - n);
		t->out.n = name.at;
		put(t, "std::", 5);
		put(t, characters[i].prefix, strlen(characters[i].prefix));
		put(t, rest, name.n - n);
		return true;
	}
	return false;
}

enum where { OUTSIDE, IN_ANGLES, IN_BRACKETS };
static bool sequence(struct tidy *t, enum where where);

static void close_angle(struct tidy *t, struct tidy_piece name, const struct tidy_piece *arguments,
			size_t n)
{
	const struct container *c = n <= ARGUMENTS ? container_of_name(t, name) : NULL;
	size_t left = c ? without_defaults(t, c, arguments, n) : n;
	if (left < n)
		t->out.n = arguments[left - 1].at + arguments[left - 1].n;
	if (c && left == 1 && rename_basic(t, name, arguments[0]))
		return;
	put(t, ">", 1);
}

/* From '<' to its '>'. */
static bool angle(struct tidy *t)
{
	struct tidy_piece arguments[ARGUMENTS], name = name_before(t, t->out.n);
	size_t n = 0;
	if (++t->depth > DEEPEST)
		return false;
	take(t, 1);
	for (;; n++) {
		t->p += strspn(t->p, " ");
		size_t at = t->out.n;
		if (!sequence(t, IN_ANGLES))
			return false;
		while (t->out.n > at && last(t) == ' ')
			t->out.n--;
		if (n < ARGUMENTS)
			arguments[n] = (struct tidy_piece){ at, t->out.n - at };
		if (*t->p != ',')
			break;
		take(t, t->p[1] == ' ' ? 2 : 1);
	}
	t->p++;
	close_angle(t, name, arguments, n + 1);
	t->depth--;
	return true;
}

/* ---- the rest ---- */

/* "operator<" and the like are no brackets. */
static void operator_name(struct tidy *t)
{
	static const char *const names[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=",
					     ">=",  "->",  "()",  "[]",  "<",  ">",  "," };
	take(t, strlen("operator"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(t->p, names[i], strlen(names[i]))) {
			take(t, strlen(names[i]));
			return;
		}
}

static void word(struct tidy *t)
{
	static const char *const versions[] = { "__cxx11::", "__1::", "__ndk1::" };
	size_t n = 0;
	if (!strncmp(t->p, "operator", 8) && !is_word(t->p[8])) {
		operator_name(t);
		return;
	}
	while (is_word(t->p[n]))
		n++;
	bool is_std = n == 3 && !memcmp(t->p, "std", 3) && last(t) != ':' && t->p[3] == ':';
	take(t, n);
	if (!is_std || t->p[1] != ':')
		return;
	take(t, 2);
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (!strncmp(t->p, versions[i], strlen(versions[i])))
			t->p += strlen(versions[i]);
}

static bool bracket(struct tidy *t)
{
	char end = *t->p == '(' ? ')' : *t->p == '[' ? ']' : '}';
	if (++t->depth > DEEPEST)
		return false;
	take(t, 1);
	if (!sequence(t, IN_BRACKETS) || *t->p != end)
		return false;
	take(t, 1);
	t->depth--;
	return true;
}

/* Whether '<' is an operator, as in "(a<b)", "(1<<n)": expressions stand in brackets. */
static bool is_less(const struct tidy *t, enum where where)
{
	return where == IN_BRACKETS && (last(t) == ')' || t->p[1] == '<');
}

/* Copies up to the character that ends the sequence, which is not taken. False if the brackets do
 * not match. */
static bool sequence(struct tidy *t, enum where where)
{
	while (*t->p) {
		char c = *t->p;
		bool good = true;
		if (is_word(c))
			word(t);
		else if (c == '<' && is_less(t, where))
			take(t, strspn(t->p, "<"));
		else if (c == '<')
			good = angle(t);
		else if (c == '(' || c == '[' || c == '{')
			good = bracket(t);
		else if (where == IN_ANGLES && (c == '>' || c == ','))
			return true;
		else if (c == ')' || c == ']' || c == '}')
			return where == IN_BRACKETS;
		else
			take(t, c == '-' && t->p[1] == '>' ? 2 : 1);
		if (!good)
			return false;
	}
	return where == OUTSIDE;
}

char *tidy_name(const char *readable)
{
	struct tidy t = { .p = readable };
	if (!strpbrk(readable, "<:") || strlen(readable) > LONGEST)
		return NULL;
	bool whole = sequence(&t, OUTSIDE);
	vec_push(&t.out, '\0');
	if (whole && strcmp(t.out.at, readable) != 0)
		return t.out.at;
	vec_free(&t.out);
	return NULL;
}

/* ---- Fortran ---- */

/* "__linalg_MOD_norm" -> "linalg::norm" */
char *tidy_fortran(const char *symbol)
{
	static const char between[] = "_MOD_";
	const char *module = symbol + 2,
		   *at = strncmp(symbol, "__", 2) ? NULL : strstr(module, between);
	if (!at || at == module || *module < 'a' || *module > 'z' || !is_word(at[strlen(between)]))
		return NULL;
	return xprintf("%.*s::%s", (int)(at - module), module, at + strlen(between));
}

/* tidy_name.c - demangled C++ names as people write them.
 *
 * A demangler shows every template argument, also those that nobody wrote: std::string is
 * std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, and a map of
 * such strings fills the screen. Here the default arguments of the standard library's classes are
 * left out, and the namespaces of its versions. Nothing else is, so that different functions keep
 * different names. In names for people more is: these are told apart by people_name.c. */
#include "base/tidy_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/short_name.h"
#include "base/vec.h"

enum {
	DEEPEST = 200,       /* brackets in brackets */
	LONGEST = 64 * 1024, /* bytes of a name; longer ones stay as they are */
	ARGUMENTS = 12,      /* arguments looked at: classes with defaults have fewer */
	PATTERN = 64,
};

#define STD "std::"
#define OPS "__gnu_cxx::__ops::"

/* ---- default arguments ---- */

/* $1 and $2 are the first two arguments. */
static const struct container {
	const char *name; /* in std */
	const char *arguments[5];
} containers[] = {
	{ "basic_string", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "basic_string_view", { "", "std::char_traits<$1>" } },
	{ "basic_ostream", { "", "std::char_traits<$1>" } },
	{ "basic_istream", { "", "std::char_traits<$1>" } },
	{ "basic_iostream", { "", "std::char_traits<$1>" } },
	{ "basic_ios", { "", "std::char_traits<$1>" } },
	{ "basic_streambuf", { "", "std::char_traits<$1>" } },
	{ "basic_filebuf", { "", "std::char_traits<$1>" } },
	{ "basic_fstream", { "", "std::char_traits<$1>" } },
	{ "basic_ifstream", { "", "std::char_traits<$1>" } },
	{ "basic_ofstream", { "", "std::char_traits<$1>" } },
	{ "basic_stringbuf", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "basic_stringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "basic_istringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "basic_ostringstream", { "", "std::char_traits<$1>", "std::allocator<$1>" } },
	{ "vector", { "", "std::allocator<$1>" } },
	{ "deque", { "", "std::allocator<$1>" } },
	{ "list", { "", "std::allocator<$1>" } },
	{ "forward_list", { "", "std::allocator<$1>" } },
	{ "set", { "", "std::less<$1>", "std::allocator<$1>" } },
	{ "multiset", { "", "std::less<$1>", "std::allocator<$1>" } },
	{ "map", { "", "", "std::less<$1>", "std::allocator<std::pair<$1 const, $2>>" } },
	{ "multimap", { "", "", "std::less<$1>", "std::allocator<std::pair<$1 const, $2>>" } },
	{ "unordered_set", { "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>" } },
	{ "unordered_multiset",
	  { "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>" } },
	{ "unordered_map",
	  { "", "", "std::hash<$1>", "std::equal_to<$1>",
	    "std::allocator<std::pair<$1 const, $2>>" } },
	{ "unordered_multimap",
	  { "", "", "std::hash<$1>", "std::equal_to<$1>",
	    "std::allocator<std::pair<$1 const, $2>>" } },
	{ "stack", { "", "std::deque<$1>" } },
	{ "queue", { "", "std::deque<$1>" } },
	{ "priority_queue", { "", "std::vector<$1>", "std::less<$1>" } },
	{ "unique_ptr", { "", "std::default_delete<$1>" } },
};

/* std::basic_X<CHARACTER> has a name of its own: std::X with this before X. */
static const struct {
	const char *character, *prefix;
} characters[] = {
	{ "char", "" },        { "wchar_t", "w" },    { "char8_t", "u8" },
	{ "char16_t", "u16" }, { "char32_t", "u32" },
};

/* ---- names for people ---- */

/* What the templates of the standard library have at their end if nobody wrote anything. */
static const char *const policies_in_std[] = {
	"allocator<",
	"char_traits<",
	"default_delete<",
	"regex_traits<",
	"_Identity<",
	"_Select1st<",
	"__detail::_Default_ranged_hash",
	"__detail::_Hashtable_traits<",
	"__detail::_Identity",
	"__detail::_Mod_range_hashing",
	"__detail::_Prime_rehash_policy",
	"__detail::_Select1st",
};
static const char *const policies_in_ops[] = { "_Iter_equal_", "_Iter_less_", "_Val_less_" };

/* The same for the first argument. */
static const char *const policies_of_keys[] = { "std::equal_to<$1>", "std::hash<$1>",
						"std::less<$1>" };

/* Templates whose arguments are values of any kind. */
static const char *const without_policies[] = { "std::pair", "std::tuple", "std::variant" };

/* Functions of the standard library that only call their argument. */
static const char *const callers_in_ops[] = {
	"_Iter_comp_iter",
	"_Iter_comp_val",
	"_Iter_pred",
	"_Val_comp_iter",
};

/* Classes in std that have a name of their own. */
static const struct {
	const char *name, *arguments, *own_name;
} classes[] = {
	{ "mersenne_twister_engine",
	  "unsigned long, 32ul, 624ul, 397ul, 31ul, 2567483615ul, 11ul, 4294967295ul, 7ul, "
	  "2636928640ul, 15ul, 4022730752ul, 18ul, 1812433253ul",
	  "std::mt19937" },
	{ "mersenne_twister_engine",
	  "unsigned long, 64ul, 312ul, 156ul, 31ul, 13043109905998158313ul, 29ul, "
	  "6148914691236517205ul, 17ul, 8202884508482404352ul, 37ul, 18444473444759240704ul, "
	  "43ul, 6364136223846793005ul",
	  "std::mt19937_64" },
	{ "chrono::duration", "long, std::ratio<1l, 1l>", "std::chrono::seconds" },
	{ "chrono::duration", "long, std::ratio<1l, 1000l>", "std::chrono::milliseconds" },
	{ "chrono::duration", "long, std::ratio<1l, 1000000l>", "std::chrono::microseconds" },
	{ "chrono::duration", "long, std::ratio<1l, 1000000000l>", "std::chrono::nanoseconds" },
};

/* ---- the text so far ---- */

struct tidy_piece {
	size_t at, n;
};

struct tidy {
	const char *p; /* the rest of the name */
	VEC(char) out;
	unsigned depth;
	bool for_people;
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

static char last(const struct tidy *t) { return t->out.n ? t->out.at[t->out.n - 1] : '\0'; }

/* How many bytes of s the piece begins with. Nearly all are told apart by their first bytes. */
static inline size_t same_bytes(const struct tidy *t, struct tidy_piece x, const char *s)
{
	const char *p = t->out.at + x.at;
	size_t n = 0;
	while (n < x.n && s[n] && p[n] == s[n])
		n++;
	return n;
}

static bool is_text(const struct tidy *t, struct tidy_piece x, const char *s)
{
	size_t n = same_bytes(t, x, s);
	return n == x.n && !s[n];
}

static bool is_one_of(const struct tidy *t, struct tidy_piece x, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_text(t, x, list[i]))
			return true;
	return false;
}

static bool begins_with(const struct tidy *t, struct tidy_piece x, const char *s)
{
	return !s[same_bytes(t, x, s)];
}

/* What is behind the space that the piece begins with, or nothing. Lists of names in one space are
 * compared without it: they differ from most names in the first byte. */
static struct tidy_piece within(const struct tidy *t, struct tidy_piece x, const char *space)
{
	size_t n = begins_with(t, x, space) ? strlen(space) : x.n;
	return (struct tidy_piece){ x.at + n, x.n - n };
}

static bool begins_with_any(const struct tidy *t, struct tidy_piece x, const char *const *list,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins_with(t, x, list[i]))
			return true;
	return false;
}

static bool ends_with(const struct tidy *t, struct tidy_piece x, const char *s)
{
	size_t n = strlen(s);
	return x.n >= n && !memcmp(t->out.at + x.at + x.n - n, s, n);
}

/* ---- template arguments ---- */

/* The name before the arguments: "std::vector". */
static struct tidy_piece name_before(const struct tidy *t, size_t end)
{
	size_t at = end;
	while (at && (name_is_letter(t->out.at[at - 1]) || t->out.at[at - 1] == ':'))
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
	struct tidy_piece in_std = within(t, name, STD);
	for (size_t i = 0; in_std.n && i < ARRAY_LEN(containers); i++)
		if (is_text(t, in_std, containers[i].name))
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
		if (!is_text(t, character, characters[i].character))
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

/* ---- template arguments in names for people ---- */

static bool is_policy(const struct tidy *t, const struct tidy_piece *arguments, size_t i)
{
	struct tidy_piece x = arguments[i];
	char end = t->out.at[x.at + x.n - 1];
	for (size_t k = 0; k < ARRAY_LEN(policies_of_keys); k++)
		if (is_default(t, arguments, x, policies_of_keys[k]))
			return true;
	if (end == '&' || end == '*')
		return false;
	struct tidy_piece in_std = within(t, x, STD), in_ops = within(t, x, OPS);
	return begins_with_any(t, in_std, policies_in_std, ARRAY_LEN(policies_in_std)) ||
	       begins_with_any(t, in_ops, policies_in_ops, ARRAY_LEN(policies_in_ops));
}

static size_t without_policies_at_end(const struct tidy *t, struct tidy_piece name,
				      const struct tidy_piece *arguments, size_t n)
{
	bool is_standard = begins_with(t, name, STD) || begins_with(t, name, "__gnu_cxx::");
	if (!is_standard || n > ARGUMENTS ||
	    is_one_of(t, name, without_policies, ARRAY_LEN(without_policies)))
		return n;
	while (n > 1 && arguments[n - 1].n && is_policy(t, arguments, n - 1))
		n--;
	return n;
}

/* Puts a piece in the place of all from `at` on. */
static void replace(struct tidy *t, size_t at, struct tidy_piece x)
{
	memmove(t->out.at + at, t->out.at + x.at, x.n);
	t->out.n = at + x.n;
}

/* "__normal_iterator<int*, std::vector<int>" -> "std::vector<int>::iterator"; "_Iter_comp_iter<f"
 * -> "f", but for its own members; false: it has no such name. */
static bool rename_class(struct tidy *t, struct tidy_piece name, const struct tidy_piece *arguments,
			 size_t n)
{
	struct tidy_piece in_std = within(t, name, STD), in_ops = within(t, name, OPS);
	struct tidy_piece all = { arguments[0].at, t->out.n - arguments[0].at };
	if (n == 2 && is_text(t, name, "__gnu_cxx::__normal_iterator")) {
		bool is_const = ends_with(t, arguments[0], " const*");
		const char *end = is_const ? "::const_iterator" : "::iterator";
		replace(t, name.at, arguments[1]);
		put(t, end, strlen(end));
		return true;
	}
	if (n == 1 && *t->p != ':' &&
	    is_one_of(t, in_ops, callers_in_ops, ARRAY_LEN(callers_in_ops))) {
		replace(t, name.at, arguments[0]);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (is_text(t, in_std, classes[i].name) && is_text(t, all, classes[i].arguments)) {
			t->out.n = name.at;
			put(t, classes[i].own_name, strlen(classes[i].own_name));
			return true;
		}
	return false;
}

/* ---- brackets ---- */

enum where { OUTSIDE, IN_ANGLES, IN_BRACKETS };
static bool sequence(struct tidy *t, enum where where);

static void close_angle(struct tidy *t, struct tidy_piece name, const struct tidy_piece *arguments,
			size_t n)
{
	const struct container *c = n <= ARGUMENTS ? container_of_name(t, name) : NULL;
	size_t left = c ? without_defaults(t, c, arguments, n) : n;
	if (t->for_people)
		left = without_policies_at_end(t, name, arguments, left);
	if (left < n)
		t->out.n = arguments[left - 1].at + arguments[left - 1].n;
	if ((c || t->for_people) && left == 1 && rename_basic(t, name, arguments[0]))
		return;
	if (t->for_people && rename_class(t, name, arguments, left))
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
	if (*t->p == 'o' && !strncmp(t->p, "operator", 8) && !name_is_letter(t->p[8])) {
		operator_name(t);
		return;
	}
	while (name_is_letter(t->p[n]))
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

/* For people: "{lambda#1}" for "{lambda(int)#1}::operator()", "f" for "f[abi:cxx11]". */
static void shorten_bracket(struct tidy *t, size_t at)
{
	static const char lambda[] = "{lambda", call[] = "::operator()";
	struct tidy_piece x = { at, t->out.n - at };
	if (begins_with(t, x, "[abi:")) {
		t->out.n = at;
		return;
	}
	if (!begins_with(t, x, lambda))
		return;
	const char *number = memrchr(t->out.at + at, '#', x.n);
	size_t behind = at + strlen(lambda);
	if (t->out.at[behind] == '(' && number)
		replace(t, behind,
			(struct tidy_piece){ (size_t)(number - t->out.at),
					     t->out.n - (size_t)(number - t->out.at) });
	if (!strncmp(t->p, call, strlen(call)) && !name_is_letter(t->p[strlen(call)]))
		t->p += strlen(call);
}

static bool bracket(struct tidy *t)
{
	char end = *t->p == '(' ? ')' : *t->p == '[' ? ']' : '}';
	size_t at = t->out.n;
	if (++t->depth > DEEPEST)
		return false;
	take(t, 1);
	if (!sequence(t, IN_BRACKETS) || *t->p != end)
		return false;
	take(t, 1);
	if (t->for_people)
		shorten_bracket(t, at);
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
		if (name_is_letter(c))
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
		else if (c == '-' && t->p[1] == '>')
			take(t, 2);
		else
			vec_push(&t->out, *t->p++);
		if (!good)
			return false;
	}
	return where == OUTSIDE;
}

char *tidy_name(const char *readable, bool for_people)
{
	struct tidy t = { .p = readable, .for_people = for_people };
	size_t n = strlen(readable);
	if (!strpbrk(readable, "<:") || n > LONGEST)
		return NULL;
	vec_reserve(&t.out, n + 1); /* tidy names are shorter */
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
	if (!at || at == module || *module < 'a' || *module > 'z' ||
	    !name_is_letter(at[strlen(between)]))
		return NULL;
	return xprintf("%.*s::%s", (int)(at - module), module, at + strlen(between));
}

/* function_name.c - compares names of functions with and without scopes, parameters and template
 * arguments. */
#include "base/function_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether a name is a suffix that compilers put behind a dot. Go and D have inner names there. */
static bool is_suffix(const char *name)
{
	return !strcmp(name, "cold") || !name[strspn(name, "0123456789")];
}

static const char anonymous[] = "(anonymous namespace)";

/* Behind the bracket that closes the one at p; NULL: none does. "->" closes none. */
static const char *behind_closing(const char *p, char open, char close)
{
	size_t depth = 0;

	for (; *p; p++) {
		depth += *p == open;
		if (*p == close && !(close == '>' && p[-1] == '-') && !--depth)
			return p + 1;
	}
	return NULL;
}

/* Behind the parameters at p, if the name of something within that function follows (a lambda, a
 * class), or behind Go's "(*T)"; else NULL. */
static const char *behind_parameters(const char *p)
{
	p = behind_closing(p, '(', ')');
	if (p && !strncmp(p, " const", 6))
		p += 6;
	return p && (*p == '.' || (p[0] == ':' && p[1] == ':')) ? p : NULL;
}

size_t function_name_ending(const char *p)
{
	static const char *const words[] = { "constprop",  "isra",     "part",
					     "cold",       "lto_priv", "llvm",
					     "localalias", "__uniq",   "_omp_fn" };
	size_t n = *p == '.' ? strcspn(p + 1, ".]") : 0, i = 0;
	while (i < ARRAY_LEN(words) && (strlen(words[i]) != n || memcmp(p + 1, words[i], n) != 0))
		i++;
	if (i == ARRAY_LEN(words))
		return 0;
	size_t number = p[1 + n] == '.' ? strspn(p + n + 2, "0123456789") : 0;
	return 1 + n + (number ? number + 1 : 0);
}

static bool ends_clone(const char *p)
{
	for (size_t n; (n = function_name_ending(p));)
		p += n;
	return !*p;
}

bool function_name_is_clone(const char *symbol, const char *function)
{
	size_t n = strlen(function);
	return !strncmp(symbol, function, n) && symbol[n] && ends_clone(symbol + n);
}

size_t function_name_within(const char *symbol)
{
	const char *p = symbol;
	while (*p == '_' || isalnum((unsigned char)*p))
		p++;
	size_t n = (size_t)(p - symbol), digits = *p == '.' ? strspn(p + 1, "0123456789") : 0;
	return digits && ends_clone(p + 1 + digits) ? n : 0;
}

/* Whether a function's name ends at p: its parameters or template arguments follow, and nothing
 * within the function is named. */
static bool ends_name(const char *p)
{
	const char *behind = *p == '<' ? behind_closing(p, '<', '>') : NULL;
	if (*p == '(')
		return !behind_parameters(p);
	return *p == '!' || ends_clone(p) ||
	       (*p == '<' && !(behind && behind[0] == ':' && behind[1] == ':'));
}

/* Whether a name that ends with parameters names the whole function: what follows them at p is no
 * part of its name. */
static bool ends_parameters(const char *p, const char *name, const char *end)
{
	if (end == name || end[-1] != ')')
		return false;
	return !strncmp(p, " [", 2) || (!strncmp(p, " const", 6) && (!p[6] || p[6] == ' '));
}

/* Whether `whole` is the name at p; it may leave out template arguments before "::". */
static bool is_from(const char *p, const char *whole)
{
	const char *name = whole;
	while (*name) {
		if (*p == *name) {
			p++;
			name++;
			continue;
		}
		if (*name == '(')
			return ends_clone(p);
		if (*p != '<' || *name != ':')
			return false;
		p = behind_closing(p, '<', '>');
		if (!p || *p != ':')
			return false;
	}
	return ends_name(p) || ends_parameters(p, whole, name);
}

bool function_name_is(const char *display, const char *name)
{
	size_t depth = 0, arguments = 0; /* of template arguments: <...> and !(...) */
	bool starts = true, suffix = is_suffix(name);
	size_t n = function_name_within(display);

	if (n && !strncmp(display, name, n) && !name[n])
		return true;
	for (const char *p = display; *name && *p; p++) {
		if (starts && is_from(p, name))
			return true;
		if (arguments || (*p == '!' && p[1] == '(')) {
			p += !arguments;
			arguments += *p == '(';
			arguments -= *p == ')';
			starts = false;
			continue;
		}
		const char *behind = *p == '{' ? behind_closing(p, '{', '}') : NULL;
		if (*p == '(' && depth)
			behind = behind_closing(p, '(', ')');
		if (behind) { /* a lambda, or a value in an argument: there are no scopes in it */
			p = behind - 1;
		} else if (*p == '(') {
			bool is_scope = !strncmp(p, anonymous, sizeof(anonymous) - 1);
			p = is_scope ? p + sizeof(anonymous) - 1 : behind_parameters(p);
			if (!p)
				return false;
			p--;
		}
		depth += *p == '<';
		depth -= *p == '>' && depth;
		starts = !depth &&
			 (*p == ' ' || (*p == ':' && p[1] != ':') || (*p == '.' && !suffix));
	}
	return false;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Whether symbols may have an abbreviation for a word: "Ss" is std::string, "nw" is operator new,
 * "b" is bool, as in operator bool. Names of streams and of their templates have some, too. */
static bool may_be_abbreviated(const char *word, size_t n)
{
	static const char *const ends[] = { "string", "string_view", "stream",
					    "buf",    "ios",         "allocator" };
	static const char *const words[] = { "new",      "delete",   "this", /* of D */
					     "void",     "bool",     "char",     "wchar_t",
					     "char8_t",  "char16_t", "char32_t", "short",
					     "int",      "long",     "signed",   "unsigned",
					     "__int128", "float",    "double",   "__float128",
					     "auto",     "const",    "volatile" };
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t k = strlen(ends[i]);
		if (n >= k && !memcmp(word + n - k, ends[i], k))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == n && !memcmp(word, words[i], n))
			return true;
	return false;
}

const char *function_name_word(const char *name, size_t *n)
{
	const size_t skipped = sizeof(anonymous) - 1;
	const char *word = NULL, *p = name;
	size_t depth = 0;

	if (!strncmp(p, anonymous, skipped))
		p += skipped;
	if (strstr(name, "operator")) /* "<<" is "ls" */
		return NULL;
	for (*n = 0; *p && !(*p == '(' && !depth); p++) {
		depth += *p == '<';
		depth -= *p == '>' && depth;
		if (depth || *p == '>')
			continue;
		if (is_word(*p)) {
			word = p > name && is_word(p[-1]) ? word : p;
			*n = (size_t)(p + 1 - word);
		} else if (!strchr(":.~ *&", *p)) {
			return NULL; /* "{lambda()#1}", "f[abi:cxx11]", "sum!(int)" */
		}
		if (!strncmp(p + 1, anonymous, skipped))
			p += skipped;
	}
	bool last = word && (word[*n] == '(' || word[*n] == '<' || !word[*n]);
	return last && !may_be_abbreviated(word, *n) ? word : NULL;
}

bool function_name_is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'D');
}

struct function_hint function_hint_for(const char *name)
{
	struct function_hint h = { .nearest = suggestion_for(name, strlen(name)) };

	h.word = function_name_is_mangled(name) ? NULL : function_name_word(name, &h.n_word);
	return h;
}

bool function_hint_is_best(const struct function_hint *h) { return h->nearest.distance <= 1; }

/* The identifier before a length may end in a digit, too ("f1" and "go": 2f12go), so that each
 * digit is taken for the first one of a length. */
bool function_hint_may_be(const struct function_hint *h, const char *symbol)
{
	if (!h->word || !function_name_is_mangled(symbol))
		return true;
	for (const char *p = symbol; *p; p++) {
		const char *text = p;
		size_t n = 0;
		for (; isdigit((unsigned char)*text) && n < 100; text++)
			n = 10 * n + (size_t)(*text - '0');
		text += n && *text == '_' && symbol[1] == 'R'; /* Rust's separator */
		if (n && strnlen(text, n) == n &&
		    suggest_is_near(h->word, h->n_word, text, n, h->nearest.distance))
			return true;
	}
	return false;
}

/* Where a function's parameters or template arguments begin. */
static const char *end_of_name(const char *display)
{
	const char *p = display + strcspn(display, "(<{");
	while (*p && !ends_name(p)) {
		const char *behind = *p == '{'   ? behind_closing(p, '{', '}')
				     : *p == '<' ? behind_closing(p, '<', '>')
						 : behind_parameters(p);
		if (!behind)
			break;
		p = behind + strcspn(behind, "(<{");
	}
	return p;
}

void function_hint_try(struct function_hint *h, const char *display)
{
	char whole[64];
	unsigned before = h->nearest.distance;
	size_t n = (size_t)(end_of_name(display) - display);

	while (n && display[n - 1] == ' ')
		n--; /* "f (inlined)" */
	snprintf(whole, sizeof(whole), "%.*s", (int)n, display);
	const char *colon = strrchr(whole, ':');
	suggestion_try(&h->nearest, whole);
	if (colon)
		suggestion_try(&h->nearest, colon + 1);
	if (h->nearest.distance < before)
		snprintf(h->text, sizeof(h->text), ": did you mean '%s'?", h->nearest.best);
	h->nearest.best = NULL; /* was in `whole` */
}

#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/function_name.h"
#include "base/short_name.h"
#include "base/wordlist.h"
#include "lib/program_bias.h"
#include "object/object.h"
#include "symbolize/debug_package.h"
#include "symbolize/names.h"
#include "symbolize/remedies.h"

static void test_short_names(void)
{
	static const struct {
		const char *name;
		size_t width;
		const char *shortened;
	} cases[] = {
		{ "main", 2, "main" },
		{ "f(int)", 6, "f(int)" },
		{ "f(int)", 5, "f(…)" },
		{ "f()", 1, "f()" },
		{ "a::B<int, char>::f(long)", 20, "a::B<…>::f(long)" },
		{ "a::B<int, char>::f(long)", 15, "a::B<…>::f(…)" },
		{ "a::B<int, char>::f(long)", 10, "…f(…)" },
		{ "a::B<int, char>::f(long)", 11, "…B<…>::f(…)" },
		{ "long app::count<std::vector<int> >(int) const (inlined)", 40,
		  "…app::count<…>(int) const (inlined)" },
		{ "long app::count<int>(int)", 25, "long app::count<int>(int)" },
		{ "long app::count<int>(int)", 24, "…app::count<int>(int)" },
		{ "std::pair<a, b>::type ns::f<a, b>(a const&)", 24, "…ns::f<a, b>(a const&)" },
		{ "std::pair<a, b>::type ns::f<a, b>(a const&)", 12, "…ns::f<…>(…)" },
		{ "decltype(auto) f<int>(int (*)(int))", 20, "…f<int>(…)" },
		{ "auto f<int, char>(int)", 20, "…f<int, char>(int)" },
		{ "void (anonymous namespace)::f<int>(int)", 36,
		  "…(anonymous namespace)::f<int>(int)" },
		{ "non-virtual thunk to a::B<int>::f(int)", 37,
		  "non-virtual thunk to a::B<…>::f(int)" },
		{ "unsigned long a::operator+<int>(int)", 35, "…a::operator+<int>(int)" },
		{ "std::f<x>::operator()(int, int) const", 30, "std::f<x>::operator()(…) const" },
		{ "std::f<x, y>::operator<<(int, int)", 24, "std::f<…>::operator<<(…)" },
		{ "run(int, int)::{lambda(int)#1}::operator()(int) const", 44,
		  "run(…)::{lambda(int)#1}::operator()(…) const" },
		{ "(anonymous namespace)::f(int)", 28, "(anonymous namespace)::f(…)" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 45,
		  "<alloc::Vec<T> as from::Iter<T,I>>::from_iter" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 44,
		  "<alloc::Vec<T> as from::Iter<…>>::from_iter" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 42,
		  "<…Vec<T> as from::Iter<…>>::from_iter" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 36,
		  "<…Vec<T> as …Iter<…>>::from_iter" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 20, "<…>::from_iter" },
		{ "<app::shapes::Square as app::shapes::Shape>::area", 48,
		  "<…Square as app::shapes::Shape>::area" },
		{ "<app::shapes::Square as app::shapes::Shape>::area", 30,
		  "<…Square as …Shape>::area" },
		{ "<&mut a::b::S<x::T>>::f", 20, "<&mut a::b::S<…>>::f" },
		{ "<&mut a::b::S<x::T>>::f", 16, "<&mut …S<…>>::f" },
		{ "<dyn a::Shape + b::Sync as c::D>::f", 30, "<dyn …Shape + …Sync as …D>::f" },
		{ "<a::b<x>::C as d::D>::f", 20, "<…b<x>::C as …D>::f" },
		{ "<a::>::f", 7, "<…>::f" },
		{ "<alloc::Vec<T> as from::Iter<T,I>>::from_iter", 5, "…from_iter" },
		{ "f(int (*)(long), decltype(x->y))", 6, "f(…)" },
		{ "<a::b><c::d>::f(int, x<y>)", 12, "<…><…>::f(…)" },
		{ "<a::b><c::d>::f(int, x<y>)", 5, "…f(…)" },
		{ "<a::b><c::d><e::f>", 5, "<…><…><…>" },
		{ "f<<<<(((", 3, "f<<<<(((" },
		{ "f>>)", 2, "f>>)" },
		{ "operator", 2, "operator" },
		{ "a::", 1, "a::" },
		{ "", 0, "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = short_name(cases[i].name, cases[i].width);
		if (!OK(!strcmp(text, cases[i].shortened)))
			printf("# %s: %s, not %s\n", cases[i].name, text, cases[i].shortened);
		free(text);
	}
}

static void test_lists_of_names(void)
{
	static const struct {
		const char *list, *names; /* separated by bars */
	} cases[] = {
		{ "", "" },
		{ ",,f,,g,", "f|g" },
		{ "f<int, long>,g(int, long),h[a, b],i{j, k}",
		  "f<int, long>|g(int, long)|h[a, b]|i{j, k}" },
		{ "f<&A::operator->, int>,g<a->b, c>", "f<&A::operator->, int>|g<a->b, c>" },
		{ "operator<,f", "operator<|f" },
		{ "operator<<,operator>>,f", "operator<<|operator>>|f" },
		{ "A::operator()(int, long),f", "A::operator()(int, long)|f" },
		{ "operator,,f", "operator,|f" },
		{ "operator,(A, B),f", "operator,(A, B)|f" },
		{ "f,operator,", "f|operator," },
		{ "operators,f", "operators|f" },
		{ "(sd-pam),f(,g", "(sd-pam)|f(|g" },
		{ "f<(>,g", "f<(>|g" },
	};
	const char *none = NULL;
	struct word w;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *list = cases[i].list;
		char got[200] = "";
		while (words_next_name(&list, &w))
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s",
				 *got ? "|" : "", (int)w.n, w.s);
		OK(!strcmp(got, cases[i].names));
	}
	OK(!words_next_name(&none, &w) && !words_next(&none, ",", &w));
}

static void test_bare_names(void)
{
	static const struct {
		const char *name, *bare;
	} cases[] = {
		{ "main", "main" },
		{ "f(int)", "f" },
		{ "a::B<int, char>::f(long) const", "a::B<int, char>::f" },
		{ "f(int) [clone .constprop.0]", "f" },
		{ "f(int) const [clone .cold]", "f" },
		{ "f(int).cold", "f" },
		{ "f.constprop.0", "f.constprop.0" },
		{ "std::function<void (int)>::operator()(int) const",
		  "std::function<void (int)>::operator()" },
		{ "std::function<void (int)>::operator()",
		  "std::function<void (int)>::operator()" },
		{ "main::{lambda(int)#1}::_FUN(int)", "main::{lambda(int)#1}::_FUN" },
		{ "main::{lambda(int)#1}::_FUN", "main::{lambda(int)#1}::_FUN" },
		{ "f(int)::{lambda(int)#1}::operator()(int) const",
		  "f(int)::{lambda(int)#1}::operator()" },
		{ "f()::'lambda'(int)::operator()(int) const", "f()::'lambda'(int)::operator()" },
		{ "void tp<&(tgt(int))>()", "tp<&(tgt(int))>" },
		{ "outer(int (*)(int, int))::Local::go(int)",
		  "outer(int (*)(int, int))::Local::go" },
		{ "a::f(int) const::Local::go()", "a::f(int) const::Local::go" },
		{ "void std::__introsort_loop<int*, long>(int*, int*, long)",
		  "std::__introsort_loop<int*, long>" },
		{ "decltype(auto) f<int>(int (*)(int))", "f<int>" },
		{ "auto f<int, char>(int)", "f<int, char>" },
		{ "decltype (x->y) f<int>(int)", "decltype (x->y) f<int>" },
		{ "non-virtual thunk to a::B<int>::f(int)", "non-virtual thunk to a::B<int>::f" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "a::(anonymous namespace)::f<int>(int)", "a::(anonymous namespace)::f<int>" },
		{ "bool operator< <int>(int, int)", "operator< <int>" },
		{ "long a<int>::operator long<long>() const", "a<int>::operator long<long>" },
		{ "a<int>::operator unsigned long<unsigned long>()",
		  "a<int>::operator unsigned long<unsigned long>" },
		{ "virtual thunk to a::operator b()", "virtual thunk to a::operator b" },
		{ "void my_operator<int>(int)", "my_operator<int>" },
		{ "a::operator<<(int, int)", "a::operator<<" },
		{ "a::operator->() const", "a::operator->" },
		{ "a::operator!() const", "a::operator!" },
		{ "a::operator()(int)::L::go(int)", "a::operator()(int)::L::go" },
		{ "a::operator[](int)", "a::operator[]" },
		{ "a::operator bool() const", "a::operator bool" },
		{ "my_operator()", "my_operator" },
		{ "operators(int)", "operators" },
		{ "f[abi:cxx11](int)", "f[abi:cxx11]" },
		{ "<(u32,u32) as Go>::go", "<(u32,u32) as Go>::go" },
		{ "<fn(i32)->i32 as X>::f", "<fn(i32)->i32 as X>::f" },
		{ "core::ops::function::FnOnce::call_once{{vtable.shim}}",
		  "core::ops::function::FnOnce::call_once{{vtable.shim}}" },
		{ "net/http.(*Client).Do", "net/http.(*Client).Do" },
		{ "main.(*T).f.func1", "main.(*T).f.func1" },
		{ "-[A(B) c:]", "-[A(B) c:]" },
		{ "std.sum!(int).sum(int)", "std.sum!(int).sum" },
		{ "main.main().go(int)", "main.main().go" },
		{ "f /a/b (c).js:1", "f /a/b (c).js:1" },
		{ "f(int, a<b", "f" },
		{ "f<<(int", "f<<" },
		{ "(", "(" },
		{ "f)>", "f)>" },
		{ "", "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t n;
		const char *bare = bare_name(cases[i].name, &n);
		if (!OK(n == strlen(cases[i].bare) && !memcmp(bare, cases[i].bare, n)))
			printf("# %s: %.*s, not %s\n", cases[i].name, (int)n, bare, cases[i].bare);
	}
}

static void test_function_names(void)
{
	static const struct {
		const char *display, *name;
		bool same;
	} cases[] = {
		{ "main", "main", true },
		{ "main", "mai", false },
		{ "main", "ain", false },
		{ "main", "", false },
		{ "a::b::f(int)", "a::b::f(int)", true },
		{ "a::b::f(int)", "a::b::f", true },
		{ "a::b::f(int)", "b::f", true },
		{ "a::b::f(int)", "f(int)", true },
		{ "a::b::f(int)", "f", true },
		{ "a::b::f(int)", ":f", false },
		{ "a::b::f(int)", "b", false },
		{ "a::b::f(int)", "int", false },
		{ "void a::f<int>(ns::g<int>)", "f", true },
		{ "void a::f<int>(ns::g<int>)", "a::f<int>", true },
		{ "void a::f<int>(ns::g<int>)", "g", false },
		{ "a::f<ns::g<int> >()", "g", false },
		{ "x::(anonymous namespace)::f()", "f", true },
		{ "(anonymous namespace)::f()", "(anonymous namespace)::f", true },
		{ "a::X::operator()(int) const", "operator()", true },
		{ "a::X::operator()(int) const", "X::operator()", true },
		{ "linalg::norm", "norm", true },
		{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "drop", true },
		{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "core::ops::Drop", false },
		{ "step.1", "step", true }, /* within another one, of Fortran or C */
		{ "step_2.10.constprop.0", "step_2", true },
		{ "step.1", "ste", false },
		{ "step.1", "step.2", false },
		{ "step.1x", "step", false },
		{ "main.func1.1", "func1", false },
		{ "main.square.area", "area", true }, /* Go */
		{ "main.square.area", "square.area", true },
		{ "main.square.area", "square", false },
		{ "tools.letters.depth(int)", "depth", true }, /* D */
		{ "tools.letters.sum!(ulong).sum(ulong[], ulong delegate(ulong))", "sum", true },
		{ "tools.Pair!(int, a.b!(long)).Pair.opAssign(tools.Pair)", "opAssign", true },
		{ "tools.Pair!(int, a.b!(long)).Pair.opAssign(tools.Pair)", "b", false },
		{ "tools.letters.f(tools.Pair)", "Pair", false },
		{ "n::Box<int>::work(int)", "n::Box::work", true },
		{ "n::Box<int>::work(int)", "Box::work", true },
		{ "n::Box<int>::work(int)", "Box::work(int)", true },
		{ "n::Box<int>::work(int)", "Box::work(long)", false },
		{ "n::Box<int>::work(int)", "n::work", false },
		{ "n::Box<int>::work(int)", "Box", false },
		{ "n::Box<(n::kind)2, a::b<int> >::work<long>()", "n::Box::work", true },
		{ "n::Box<(n::kind)2, a::b<int> >::work<long>()", "work", true },
		{ "n::Box<int", "n::Box::", false },
		{ "run", "run(int)", true },
		{ "run", "run<int>", false },
		{ "run()", "run(int)", false },
		{ "run(int)::{lambda(int)#1}::operator()(int) const", "operator()", true },
		{ "run(int)::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()",
		  true },
		{ "run(int)::{lambda(int)#1}::operator()(int) const", "run", false },
		{ "run(int)::{lambda(int)#1}::operator()(int) const", "operator()(int)", true },
		{ "run(int)::{lambda(int)#1}::operator()(int) const", "operator()(long)", false },
		{ "a::X::f(int) const", "X::f(int)", true },
		{ "a::X::f(int) [clone .isra.0]", "a::X::f(int)", true },
		{ "a::X::f(int) const::local::step()", "a::X::f(int)", false },
		{ "main.(*square).area", "area", true },
		{ "main.(*square).area", "(*square).area", true },
		{ "main.(*square).area", "square", false },
		{ "run() const::local::step()", "local::step", true },
		{ "run(int (*)(long))", "long", false },
		{ "f.part.0", "0", false },
		{ "f.cold", "cold", false },
		{ "f.cold", "f", true },
		{ "f.constprop.0.isra.0", "f", true },
		{ "f.constprop.0.isra.0", "f.constprop.0.isra.0", true },
		{ "f.constprop.0.isra.0", "f.constprop.0", true },
		{ "f.part.0.cold", "f(int)", true },
		{ "_f.llvm.8135", "_f", true },
		{ "f.lto_priv.1", "f", true },
		{ "f.lto_priv.1", "f.lto_priv.2", false },
		{ "f.1", "f", true },
		{ "f.partial", "f", false },
		{ "f.cold.g", "f", false },
		{ "main.main", "main", true },
		{ "main.part", "main.part", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool same = function_name_is(cases[i].display, cases[i].name);
		OK(same == cases[i].same);
		if (same != cases[i].same)
			printf("# '%s' for '%s'\n", cases[i].name, cases[i].display);
	}
}

static void test_words(void)
{
	static const struct {
		const char *name, *word; /* "": none */
	} cases[] = {
		{ "main", "main" },
		{ "a::b::f", "f" },
		{ "a::b::f(int)", "f" },
		{ "void a::f<int>(ns::g<int>)", "f" },
		{ "a::X<a::Y>::f", "f" },
		{ "a::X<b::Y>", "X" },
		{ "a::X::~X()", "X" },
		{ "(anonymous namespace)::f()", "f" },
		{ "(anonymous namespace)", "" },
		{ "char const* f<int>(int)", "f" },
		{ "x::(anonymous namespace)::f()", "f" },
		{ "main.square.area", "area" },
		{ "_ZN1a1fEv", "_ZN1a1fEv" },
		{ "<T as core::ops::Drop>::drop", "drop" },
		{ "f()::X::g()", "f" },
		{ "a::X::operator()(int) const", "" },
		{ "operator new(unsigned long)", "" },
		{ "std::ostream& std::operator<< <int>(int)", "" },
		{ "std::string::string(char const*)", "" },
		{ "std::basic_string<char>::basic_string()", "" },
		{ "std::basic_string<char>::append(char const*)", "append" },
		{ "tools.Pair.this(int)", "" },
		{ "new(unsigned long)", "" },
		{ "bool", "" },
		{ "renew(int)", "renew" },
		{ "main::{closure#0}", "" },
		{ "f[abi:cxx11](int)", "" },
		{ "sum!(ulong).sum(ulong[])", "" },
		{ "f@plt", "" },
		{ "decltype (1) f<int>(int)", "" },
		{ "g\303\266del", "" },
		{ "", "" },
		{ ">", "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t n;
		const char *word = function_name_word(cases[i].name, &n), *want = cases[i].word;
		bool same = word ? n == strlen(want) && !memcmp(word, want, n) : !*want;
		OK(same);
		if (!same)
			printf("# '%.*s' of '%s'\n", word ? (int)n : 0, word ? word : "",
			       cases[i].name);
	}
}

/* Each part of a readable name that one may search for has its word in the symbol. */
static void test_words_of_symbols(void)
{
	static const char *const symbols[] = {
		"_ZN1a1b4normEi",
		"_ZNSsC1Ev",
		"_ZNSsC1EPKcRKSaIcE",
		"_ZNSaIcED2Ev",
		"_ZNSolsEi",
		"_ZNSoD1Ev",
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev",
		"_ZNSt7__cxx1118basic_stringstreamIwSt11char_traitsIwESaIwEED1Ev",
		"_ZNSt15basic_streambufIcSt11char_traitsIcEE5sputcEc",
		"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		"_ZNSt6vectorIiSaIiEE9push_backEOi",
		"_ZN1a1fIiEEvN2ns1gIT_EE",
		"_ZN12_GLOBAL__N_11fEv",
		"_ZNK1a1XclEi",
		"_ZNK1a1XcvbEv",
		"_ZNK1a1XcvSsEv",
		"_Znwm",
		"_ZdlPv",
		"_ZThn16_N1a1X1fEv",
		"_ZZ4mainENKUlvE_clEv",
		"_ZZ4mainENUlvE_4_FUNEv",
		"_Z1fB5cxx11v",
		"_ZGVZN1a1fEvE1x",
		"_ZN1a1fEv.cold",
		"_ZN44_$LT$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
		"_RNvNtCs1234_4core3ptr13drop_in_place",
		"_RNCNvCs1234_4core4main0",
		"_D5tools4Pair6__ctorMFiZSQvQs",
		"_D5tools7letters5depthFiZi",
		"__linalg_MOD_norm",
		"main.square.area",
	};
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		char *display = demangle(symbols[i], DEMANGLE_TIDY);
		bool good = true;
		for (const char *p = display; p && *p; p++)
			for (const char *end = p + 1; end[-1]; end++) {
				size_t n;
				char *part = xprintf("%.*s", (int)(end - p), p);
				const char *word = function_name_word(part, &n);
				char *text = word ? xprintf("%.*s", (int)n, word) : NULL;
				if (text && function_name_is(display, part))
					good = good && strstr(symbols[i], text);
				free(text);
				free(part);
			}
		OK(good);
		if (!good)
			printf("# %s: %s\n", symbols[i], display);
		free(display);
	}
}

static void test_hints(void)
{
	static const struct {
		const char *name, *display, *text;
	} cases[] = {
		{ "prase", "parse(int)", ": did you mean 'parse'?" },
		{ "prase", "a::parse<int>(int)", ": did you mean 'parse'?" },
		{ "a::prase", "a::parse(int)", ": did you mean 'a::parse'?" },
		{ "prase", "parse (inlined)", ": did you mean 'parse'?" },
		{ "prase", "write(int)", "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct function_hint h = function_hint_for(cases[i].name);
		function_hint_try(&h, cases[i].display);
		OK(!strcmp(h.text, cases[i].text));
	}
}

/* Which symbols have to be demangled for a hint. */
static void test_symbols_of_hints(void)
{
	static const struct {
		const char *name, *symbol;
		bool may_be;
	} cases[] = {
		{ "prase", "_ZN1a5parseEi", true },
		{ "prase", "_ZN1a5writeEi", false },
		{ "a::prase", "_ZN1a5parseEi", true },
		{ "b::prase", "_ZN1a5parseIiEEi", true },
		{ "prase", "_ZN2a15parseEi", true },
		{ "prase", "_Z1fILi15EN5parseEEvv", true }, /* in a type: its name is no nearer */
		{ "prase", "_ZN1a50parseE", false },
		{ "prase", "_ZN5pars", false },
		{ "prase", "_ZN99999999999999999999999999999999parseE", false },
		{ "prase", "_RNvNtCs1234_4core5parse", true },
		{ "_prase", "_RNvNtCs1234_4core6__parse", true },
		{ "prase", "_D5tools5parseFiZi", true },
		{ "prase", "write", true },             /* needs no demangling */
		{ "prase", "__tools_MOD_write", true }, /* has no lengths */
		{ "a::operator-", "_ZN1amiEv", true },
		{ "_ZN1a5prase", "_ZN1a5parseEi", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct function_hint h = function_hint_for(cases[i].name);
		bool same = function_hint_may_be(&h, cases[i].symbol) == cases[i].may_be;
		OK(same);
		if (!same)
			printf("# '%s' by '%s'\n", cases[i].name, cases[i].symbol);
	}
	struct function_hint h = function_hint_for("prase");
	function_hint_try(&h, "parsec"); /* from here on only nearer names are of use */
	OK(function_hint_may_be(&h, "_Z5parse") && !function_hint_may_be(&h, "_Z6praxis"));
}

/* More objects than stay open: names are found in each, and in the first ones again. */
static void test_many_objects(void)
{
	enum { OBJECTS = 150 };
	char folder[] = "/tmp/kin-test-XXXXXX", path[64], program[512] = "";
	uint64_t bias = program_bias();
	size_t good = 0;
	struct names *n = names_new(&(struct names_opts){ .style = DEMANGLE_TIDY });

	OK(mkdtemp(folder) && readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	for (int i = 0; i < OBJECTS + 3; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i % OBJECTS);
		if (i < OBJECTS && symlink(program, path) < 0)
			break;
		const char *name = names_find(n, path, "", (uintptr_t)test_many_objects - bias);
		good += name && !strcmp(name, "test_many_objects");
	}
	OK(good == OBJECTS + 3);
	names_free(n);
	for (int i = 0; i < OBJECTS; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		unlink(path);
	}
	OK(!rmdir(folder));
}

static void write_list(const char *folder, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = text ? fopen(path, "w") : NULL;
	if (f) {
		fputs(text, f);
		fclose(f);
	} else {
		unlink(path);
	}
}

/* Which package has a file's debug symbols, as dpkg's lists of files say. */
static void test_debug_packages(void)
{
	static const char *const lists[][2] = {
		{ "libllvm14:amd64.list",
		  "/.\n/usr/lib/libLLVM-14.so.1\n/usr/lib/libLLVM-14.so.1.x\n" },
		{ "libc6:amd64.list", "/.\n/lib\n/lib/libc.so.6\n" },
		{ "coreutils.list", "/bin/ls" },
		{ "coreutils.md5sums", "/bin/other\n" },
	};
	static const char *const cases[][2] = {
		{ "/usr/lib/libLLVM-14.so.1", "libllvm14-dbgsym" },
		/* where /lib is /usr/lib */
		{ "/usr/lib/libc.so.6", "libc6-dbg" },
		{ "/lib/libLLVM-14.so.1", "libllvm14-dbgsym" },
		{ "/usr/bin/ls", "coreutils-dbgsym" },
		{ "/opt/usr/lib/libc.so.6", NULL },
		{ "/bin/ls", "coreutils-dbgsym" },
		{ "/usr/lib/libLLVM-14.so", NULL },
		{ "/bin/other", NULL },
		{ "/bin/l", NULL },
		{ "[vdso]", NULL },
	};
	char folder[] = "/tmp/kin-dpkg-XXXXXX";
	OK(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		write_list(folder, lists[i][0], lists[i][1]);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *package = debug_package_of(cases[i][0], folder);
		OK(cases[i][1] ? package && !strcmp(package, cases[i][1]) : !package);
		free(package);
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		write_list(folder, lists[i][0], NULL);
	OK(!rmdir(folder));
	OK(!debug_package_of("/bin/ls", folder));
}

static void test_debug_archives(void)
{
	static const char *const cases[][3] = {
		{ "x-dbgsym", "NAME=x\nVERSION_CODENAME=bookworm\nID=debian\n",
		  "'deb http://deb.debian.org/debian-debug bookworm-debug main'" },
		{ "x-dbgsym", "ID=\"ubuntu\"\nVERSION_CODENAME=\"noble\"",
		  "'deb http://ddebs.ubuntu.com noble main universe'" },
		{ "libc6-dbg", "ID=debian\nVERSION_CODENAME=bookworm\n", NULL },
		{ "x-dbgsym", "ID=fedora\nVERSION_CODENAME=\n", NULL },
		{ "x-dbgsym", "ID=debian\nVERSION_CODENAME=;id\n", NULL },
	};
	char folder[] = "/tmp/kin-release-XXXXXX", path[256];
	OK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/os-release", folder);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		write_list(folder, "os-release", cases[i][1]);
		char *archive = debug_archive_of(cases[i][0], path);
		OK(cases[i][2] ? archive && !strcmp(archive, cases[i][2]) : !archive);
		free(archive);
	}
	write_list(folder, "os-release", NULL);
	OK(!debug_archive_of("x-dbgsym", path));
	OK(!rmdir(folder));
}

/* All functions that an interpreter runs are its code. */
static void test_interpreted(void)
{
	static const char *const codes[][3] = {
		{ "java", "Interpreter", "functions that Java interprets are all called" },
		{ "node", "Builtins_InterpreterEntryTrampoline",
		  "functions that Node.js interprets have no names" },
		{ "other", "Interpreter", "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct profile_builder *b = profile_builder_new();
		struct remarks hints = { 0 };
		objid object = profile_add_object_of(b, codes[i][0], "", OBJECT_ELF, true);
		strid name = profile_add_string(b, codes[i][1], strlen(codes[i][1]));
		frameid code =
			profile_add_frame(b, (struct frame){ .object = object, .name = name });
		strid leaf = profile_add_string(b, "leaf", 4);
		frameid below =
			profile_add_frame(b, (struct frame){ .object = object, .name = leaf });
		stackid stack = profile_add_stack(b, profile_add_stack(b, 0, code), below);
		profile_add_event(b, (struct event){ .name = leaf, .unit = EVENT_NS });
		profile_add_sample(b, (struct sample){ .stack = stack, .count = 9, .weight = 9 });
		struct profile *p = profile_finish(b);
		struct program *g = program_new(p, NULL, &(struct program_opts){ 0 });
		remedies_find(g, p, &hints);
		const char *hint = hints.at.n ? hints.at.at[hints.at.n - 1].text : "";
		OK(!strncmp(hint, codes[i][2], strlen(codes[i][2])) && !*hint == !*codes[i][2]);
		remarks_free(&hints);
		program_free(g);
		profile_free(p);
	}
}

int main(void)
{
	test_debug_packages();
	test_debug_archives();
	test_interpreted();
	test_many_objects();
	test_function_names();
	test_short_names();
	test_lists_of_names();
	test_bare_names();
	test_words();
	test_words_of_symbols();
	test_hints();
	test_symbols_of_hints();
	return DONE();
}

/* Names in the form for people. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/people_name.h"

#define ITERATOR "__gnu_cxx::__normal_iterator<int*, std::vector<int>>"

static void test_forms(void)
{
	static const struct {
		const char *full, *shown, *with_parameters; /* NULL: the form before */
	} cases[] = {
		{ "main", "main", NULL },
		{ "sorter(int)", "sorter(int)", NULL },
		{ "void f<int>(int)", "f<int>", "f<int>(int)" },
		{ "void std::__introsort_loop<" ITERATOR ", long, "
		  "__gnu_cxx::__ops::_Iter_less_iter>(" ITERATOR ", long)",
		  "std::__introsort_loop<std::vector<int>::iterator, long>",
		  "std::__introsort_loop<std::vector<int>::iterator, long>"
		  "(std::vector<int>::iterator, long)" },
		{ ITERATOR "::operator++()", "std::vector<int>::iterator::operator++()", NULL },
		{ "f(__gnu_cxx::__normal_iterator<char const*, std::string>)",
		  "f(std::string::const_iterator)", NULL },
		{ "f(__gnu_cxx::__normal_iterator<char const**, std::vector<char const*>>)",
		  "f(std::vector<char const*>::iterator)", NULL },
		{ "bool __gnu_cxx::__ops::_Iter_less_iter::operator()<" ITERATOR ", " ITERATOR
		  ">(" ITERATOR ", " ITERATOR ") const (inlined)",
		  "operator<(std::vector<int>::iterator, std::vector<int>::iterator) (inlined)",
		  NULL },
		{ "a::f<__gnu_cxx::__ops::_Iter_comp_iter<g(int)::{lambda(int, int)#1}>>",
		  "a::f<g(int)::{lambda#1}>", NULL },
		{ "std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, "
		  "std::allocator<int>>::_M_erase(int)",
		  "std::_Rb_tree<int, int>::_M_erase(int)", NULL },
		{ "std::_Rb_tree<int, int, std::_Identity<int>, std::less<void>>::f()", NULL,
		  NULL },
		{ "typeinfo for f<int>(int)::{lambda(int)#1}",
		  "typeinfo for f<int>(int)::{lambda#1}", NULL },
		{ "mine::Tree<int, std::allocator<int>>::f()", NULL, NULL },
		{ "f(std::pair<int, std::less<int>>)", NULL, NULL },
		{ "std::mersenne_twister_engine<unsigned long, 32ul, 624ul, 397ul, 31ul, "
		  "2567483615ul, 11ul, 4294967295ul, 7ul, 2636928640ul, 15ul, 4022730752ul, "
		  "18ul, 1812433253ul>::operator()()",
		  "std::mt19937::operator()()", NULL },
		{ "main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}",
		  "main::{lambda#2}(int) const" },
		{ "main::{lambda at q.cpp:52} (inlined)", NULL, NULL },
		{ "bool std::operator==<char>(std::string const&, char const*)",
		  "std::operator==(std::string const&, char const*)",
		  "std::operator==<char>(std::string const&, char const*)" },
		{ "bool std::operator< <int>(A<int>, A<int>)", "std::operator<(A<int>, A<int>)",
		  "std::operator< <int>(A<int>, A<int>)" },
		{ "std::to_string[abi:cxx11](int)", "std::to_string(int)", NULL },
		{ "f.isra.0", "f (isra)", NULL },
		{ "f.cold", "f (cold)", NULL },
		{ "f.constprop.1.isra.0.cold", "f (constprop.1 isra cold)", NULL },
		{ "f(int) [clone .part.0] [clone .lto_priv.3] (inlined)",
		  "f(int) (part lto_priv.3) (inlined)", NULL },
		{ "f.llvm.8135", "f", NULL },
		{ "f [clone .isra.0", NULL, NULL },
		{ "f.1", NULL, NULL },
		{ "main.(*T).f", NULL, NULL },
		{ "f (a.c)", NULL, NULL },
		{ "void f<int>(int) <cycle 1>", "f<int> <cycle 1>", "f<int>(int) <cycle 1>" },
		{ "main -> void f<int>(int)", "main -> f<int>", "main -> f<int>(int)" },
		{ "a -> b -> void f<int>(int)", NULL, NULL },
		{ "non-virtual thunk to a::B<int>::f(int)", NULL, NULL },
		{ "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "<Vec<T> as Drop>::drop",
		  NULL },
		{ "<app::Node as core::fmt::Debug>::fmt", "<app::Node as Debug>::fmt", NULL },
		{ "core::str::<impl str>::trim", "str::trim", NULL },
		{ "core::ptr::<impl *mut T>::add", "<*mut T>::add", NULL },
		{ "a::<impl core::ops::index::Index<I> for [T]>::index", "<[T] as Index<I>>::index",
		  NULL },
		{ "<alloc::vec::Vec<u8>>::push", "Vec<u8>::push", NULL },
		{ "core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
		  "core::ptr::drop_in_place<Vec<u8>>", NULL },
		{ "app::main::{{closure}}", "app::main::{closure}", NULL },
		{ "<module>", NULL, NULL },
		{ "<spontaneous>", NULL, NULL },
		{ "", NULL, NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *expected[] = { cases[i].shown, cases[i].with_parameters };
		for (unsigned form = 0; form < N_PEOPLE_FORMS; form++) {
			const char *want = expected[form] ? expected[form] : cases[i].shown;
			char *text = people_name(cases[i].full, form);
			const char *got = text ? text : cases[i].full;
			want = want ? want : cases[i].full;
			if (!OK(!strcmp(got, want)))
				printf("# %s: %s, not %s\n", cases[i].full, got, want);
			free(text);
		}
	}
}

/* Names that would be alike keep what differs, or all. */
static void test_names_together(void)
{
	static const char *const names[][2] = {
		{ "int f<int>(int)", "f<int>(int)" },
		{ "int f<int>(long)", "f<int>(long)" },
		{ "int g<int>(int)", "int g<int>(int)" },
		{ "long g<int>(int)", "long g<int>(int)" },
		{ "int h<int>(int)", "h<int>" },
		{ "k.llvm.1", "k.llvm.1" },
		{ "k.llvm.2", "k.llvm.2" },
		{ "l.isra.0", "l.isra.0" },
		{ "l (isra)", "l (isra)" },
	};
	struct people_names *p = people_names_new();
	const char *full, *shown;
	size_t n = 0;
	OK(!strcmp(people_names_at(p, "int f<int>(int)"), "f<int>")); /* alone so far */
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		people_names_at(p, names[i][0]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		OK(!strcmp(people_names_at(p, names[i][0]), names[i][1]));
	for (size_t i = 0; people_names_next(p, &i, &full, &shown); n++)
		OK(!strcmp(people_names_at(p, full), shown) && strcmp(full, shown) != 0);
	OK(n == 3);
	people_names_free(p);
	people_names_free(NULL);
}

static void test_addresses(void)
{
	struct people_names *p = people_names_new();
	OK(!strcmp(people_names_in(p, "[0x10]", NULL), "[0x10]"));
	OK(!strcmp(people_names_in(p, "[0x10]", "/lib/a.so"), "a.so (no symbols)"));
	OK(!strcmp(people_names_in(p, "[0x10]", "/lib/b.so"), "b.so (no symbols)"));
	OK(!strcmp(people_names_in(p, "[0x20]", "/lib/b.so"), "b.so (no symbols) [0x20]"));
	OK(!strcmp(people_names_in(p, "[0x10]", "/lib/b.so"), "b.so (no symbols) [0x10]"));
	OK(!strcmp(people_names_in(p, "f", "/lib/b.so"), "f"));
	people_names_free(p);
}

static void test_typed_names(void)
{
	static const char full[] = "void std::f<" ITERATOR ">(" ITERATOR ") [clone .isra.0]";
	OK(people_name_is(full, "f"));
	OK(people_name_is(full, full));
	OK(people_name_is(full, "std::f<std::vector<int>::iterator> (isra)"));
	OK(people_name_is(full,
			  "std::f<std::vector<int>::iterator>(std::vector<int>::iterator) (isra)"));
	OK(!people_name_is(full, "std::f<std::vector<long>::iterator> (isra)"));
	OK(people_name_is("core::str::<impl str>::trim", "str::trim"));
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Names from files may be anything: all of these take about as long as a copy. */
static void test_hostile_names(void)
{
	static const char *const units[] = { "<",       "(",        "{",         "a<",
					     ">",       "f<a>(",    "{lambda",   "operator<",
					     ".cold",   " -> ",     "<impl ",    "::h",
					     "std::",   "core::a<", " [clone ",  ITERATOR,
					     "a<(){}>", "[abi:",    "<a as b>::" };
	enum { LENGTH = 60000 };
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i]);
		char *name = xalloc(LENGTH + n + 1), *text;
		for (size_t at = 0; at < LENGTH; at += n)
			memcpy(name + at, units[i], n);
		double start = seconds();
		text = people_name(name, PEOPLE_SHORT);
		if (!OK(seconds() - start < 0.5 && (!text || strlen(text) <= strlen(name) + 4)))
			printf("# %s: %.2f s\n", units[i], seconds() - start);
		free(text);
		free(name);
	}
}

/* "f<a<a<..>>>(int)" with that many brackets open at once */
static char *nested(size_t depth)
{
	char *name = xalloc(4 * depth + 16), *to = stpcpy(name, "f");
	for (size_t i = 0; i < depth; i++)
		to = stpcpy(to, "<a");
	for (size_t i = 0; i < depth; i++)
		to = stpcpy(to, ">");
	strcpy(to, "(int)");
	return name;
}

/* Brackets are followed to a bounded depth: deeper names stay as they are. */
static void test_deep_names(void)
{
	char *fits = nested(64), *deeper = nested(65), *text = people_name(fits, PEOPLE_SHORT);
	OK(text && strlen(text) == strlen(fits) - strlen("(int)"));
	OK(!people_name(deeper, PEOPLE_SHORT));
	free(text);
	free(fits);
	free(deeper);
}

int main(void)
{
	test_deep_names();
	test_forms();
	test_names_together();
	test_addresses();
	test_typed_names();
	test_hostile_names();
	return DONE();
}

#include "tap.h"

#include "base/function_name.h"

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
		{ "main.square.area", "area", true }, /* Go */
		{ "main.square.area", "square.area", true },
		{ "main.square.area", "square", false },
		{ "tools.letters.depth(int)", "depth", true }, /* D */
		{ "tools.letters.sum!(ulong).sum(ulong[], ulong delegate(ulong))", "sum", true },
		{ "tools.Pair!(int, a.b!(long)).Pair.opAssign(tools.Pair)", "opAssign", true },
		{ "tools.Pair!(int, a.b!(long)).Pair.opAssign(tools.Pair)", "b", false },
		{ "tools.letters.f(tools.Pair)", "Pair", false },
		{ "f.part.0", "0", false },
		{ "f.cold", "cold", false },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool same = function_name_is(cases[i].display, cases[i].name);
		OK(same == cases[i].same);
		if (same != cases[i].same)
			printf("# '%s' for '%s'\n", cases[i].name, cases[i].display);
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

int main(void)
{
	test_function_names();
	test_hints();
	return DONE();
}

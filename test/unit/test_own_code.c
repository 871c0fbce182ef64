/* Which code is the program's own: by directories, by the object, by names, by the user's word. */
#include "symbolize/own_code.h"

#include <stdlib.h>

#include "tap.h"

struct example {
	struct own_subject s;
	bool is_own;
};

static bool agree(const struct own_code *c, const struct example *e, size_t n)
{
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		struct own_verdict v = own_code_of(c, &e[i].s);
		if (v.is_own != e[i].is_own || !v.why)
			printf("# %s of %s in %s: %s\n", e[i].s.name,
			       e[i].s.file ? e[i].s.file : "?", e[i].s.object, v.why);
		good &= v.is_own == e[i].is_own && v.why;
	}
	return good;
}

#define AGREE(dirs, program, scripts, ...)                                                         \
	do {                                                                                       \
		const struct example list[] = { __VA_ARGS__ };                                     \
		struct own_code *code = own_code_new(dirs, program, scripts);                      \
		OK(agree(code, list, sizeof(list) / sizeof(*list)));                               \
		own_code_free(code);                                                               \
	} while (0)

static const struct own_dirs none;

static void compiled(void)
{
	const char *q = "/home/me/build/q";
#define SOURCE(path, own) { { "f", path, q, .is_main = true, .has_lines = true }, own }
	AGREE(&none, q, false,
	      /* C and C++ */
	      SOURCE("/home/me/q.cpp", true), SOURCE("q.cpp", true), SOURCE("../lib/x.c", true),
	      SOURCE("/usr/include/c++/12/bits/stl_algo.h", false),
	      SOURCE("/home/me/../../usr/include/stdio.h", false),
	      SOURCE("/opt/gcc-13/include/c++/13/vector", false),
	      SOURCE("/usr/lib/gcc/x86_64-linux-gnu/12/include/avx2intrin.h", false),
	      SOURCE("/usr/lib/llvm-16/lib/clang/16/include/xmmintrin.h", false),
	      SOURCE("/usr/src/app/main.c", true),
	      /* Rust */
	      SOURCE("/rustc/79e9716c980570bfd1f666e3b16ac583f0168962/library/core/src/iter.rs",
		     false),
	      SOURCE("/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/rand-0.8/x.rs",
		     false),
	      SOURCE("/rust/deps/hashbrown-0.16.1/src/raw/mod.rs", false),
	      SOURCE("src/main.rs", true),
	      /* Go */
	      SOURCE("/usr/local/go/src/sort/sort.go", false),
	      SOURCE("/home/me/go/pkg/mod/github.com/x/y@v1.2.0/y.go", false),
	      SOURCE("/home/me/prog/main.go", true));
	AGREE(&none, q, false,
	      /* Without debug information */
	      { { "f", NULL, q, .is_main = true }, true },
	      { { "_ZSt4sortIPiEvT_S1_", NULL, q, .is_main = true }, false },
	      { { "_start", NULL, q, .is_main = true }, false },
	      { { "_starter", NULL, q, .is_main = true }, true },
	      { { "malloc", NULL, q, .is_main = true, .has_lines = true }, false },
	      { { "f", NULL, "/home/me/build/libx.so" }, true },
	      { { "f", NULL, "/home/me/builder/libx.so" }, false },
	      { { "f", NULL, "/opt/x/libx.so" }, false },
	      { { "malloc", NULL, "/usr/lib/x86_64-linux-gnu/libc.so.6" }, false },
	      /* The system's libraries stay foreign with debug information */
	      { { "malloc", "./malloc/malloc.c", "/lib/x86_64-linux-gnu/libc.so.6",
		  .has_lines = true },
		false },
	      { { "clear_page", NULL, "[kernel.kallsyms]", .is_kernel = true }, false });
	/* A program of the system is own if its source is known. */
	const char *lua = "/usr/bin/lua";
	AGREE(&none, lua, false,
	      { { "f", "lvm.c", lua, .is_main = true, .has_lines = true }, true },
	      { { "f", NULL, lua, .is_main = true }, false });
}

static void scripts(void)
{
	const char *python = "/opt/py/bin/python3.12";
	AGREE(&none, python, true,
	      { { "py::parse:/home/me/t.py", NULL, "[jit]", .is_named = true }, true },
	      { { "py::<module>:t.py", NULL, "[jit]", .is_named = true }, true },
	      { { "py::_find:<frozen importlib._bootstrap>", NULL, "", .is_named = true }, false },
	      { { "py::findall:/opt/py/lib/python3.12/re/__init__.py", NULL, "", .is_named = true },
		false },
	      { { "py::f:/home/me/venv/lib/python3.12/site-packages/x.py", NULL, "",
		  .is_named = true },
		false },
	      { { "JS:*fib /home/me/f.js:1:13", NULL, "", .is_named = true }, true },
	      { { "JS:~ node:internal/main/run_main_module:1:1", NULL, "", .is_named = true },
		false },
	      { { "JS:^x /home/me/node_modules/x/i.js:3:4", NULL, "", .is_named = true }, false },
	      { { "Ljava/util/HashMap;::get", NULL, "", .is_named = true }, false },
	      { { "Main.work(int)", NULL, "", .is_named = true }, true },
	      { { "_PyEval_EvalFrameDefault", "Python/ceval.c", "/opt/py/lib/libpython3.12.so",
		  .has_lines = true },
		false },
	      { { "main", "Programs/python.c", python, .is_main = true, .has_lines = true },
		false },
	      /* An extension of one's own */
	      { { "f", "/home/me/ext/f.c", "/home/me/ext/f.so", .has_lines = true }, true });
}

static void names_of_scripts(void)
{
	char *file;
	OK(own_code_script("py::main.<locals>.f:/src/a:b.py", &file));
	OK_STR(file, "/src/a:b.py");
	free(file);
	OK(own_code_script("JS:*fib /src/f.js:1:13", &file));
	OK_STR(file, "/src/f.js");
	free(file);
	OK(own_code_script("JS:*fib", &file) && !file);
	OK(!own_code_script("parse", &file) && !file);
}

static void by_user(void)
{
	const char *const own[] = { "/usr/include/mine/", "/src", NULL };
	const char *const foreign[] = { "/src/vendor", "/src/./lib/../other", NULL };
	const struct own_dirs dirs = { own, foreign };
	const char *q = "/home/me/q";
	AGREE(&dirs, q, false, SOURCE("/usr/include/mine/x.h", true),
	      SOURCE("/usr/include/mineral.h", false), SOURCE("/src/a.c", true),
	      SOURCE("/src/vendor/a.c", false), SOURCE("/src/vendored/a.c", true),
	      SOURCE("/src/other/a.c", false), SOURCE("/home/me/b.c", true),
	      { { "f", NULL, "/src/lib.so" }, true });
	struct own_code *c = own_code_new(&dirs, q, false);
	struct own_subject s = { "f", "/src/vendor/a.c", q };
	OK_STR(own_code_of(c, &s).why, "--foreign=/src/vendor");
	own_code_free(c);
}

int main(void)
{
	compiled();
	scripts();
	names_of_scripts();
	by_user();
	return DONE();
}

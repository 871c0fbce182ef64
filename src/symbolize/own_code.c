/* own_code.c - the rules: what the user said, then tables of paths and names, then the place of the
 * object. */
#include "symbolize/own_code.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"

/* ---- tables ---- */

enum text_at { AT_START, ANYWHERE, WHOLE };

struct own_rule {
	enum text_at at;
	const char *text;
	const char *why;
};

/* Of source files, and of the objects that code is in. */
static const struct own_rule foreign_paths[] = {
	{ ANYWHERE, "/include/c++/", "C++'s library" },
	{ ANYWHERE, "/lib/gcc/", "the compiler's directories" },
	{ ANYWHERE, "/lib/clang/", "the compiler's directories" },
	{ AT_START, "/rustc/", "Rust's library" },
	{ AT_START, "/rust/deps/", "Rust's library" },
	{ ANYWHERE, "/rustlib/", "Rust's library" },
	{ ANYWHERE, "/.rustup/", "Rust's library" },
	{ ANYWHERE, "/.cargo/registry/", "crates of others" },
	{ ANYWHERE, "/.cargo/git/", "crates of others" },
	{ AT_START, "/usr/local/go/", "Go's library" },
	{ ANYWHERE, "/sdk/go1", "Go's library" },
	{ ANYWHERE, "/pkg/mod/", "Go modules of others" },
	{ ANYWHERE, "/site-packages/", "Python packages of others" },
	{ ANYWHERE, "/dist-packages/", "Python packages of others" },
	{ ANYWHERE, "/lib/python", "Python's library" },
	{ AT_START, "<frozen ", "Python's library" },
	{ ANYWHERE, "/node_modules/", "Node packages of others" },
	{ AT_START, "node:", "Node's library" },
};

/* Where the system keeps what it installed. A program there is own if its source is known. */
static const struct own_rule system_paths[] = {
	{ AT_START, "/usr/", "the system's directories" },
	{ AT_START, "/lib/", "the system's directories" },
	{ AT_START, "/lib64/", "the system's directories" },
	{ AT_START, "/bin/", "the system's directories" },
	{ AT_START, "/sbin/", "the system's directories" },
};

/* Headers and sources below /usr that are not the system's are in /usr/src and /usr/local/src. */
static const struct own_rule system_sources[] = {
	{ AT_START, "/usr/include/", "the system's headers" },
	{ AT_START, "/usr/local/include/", "the system's headers" },
	{ AT_START, "/usr/lib/", "the system's directories" },
	{ AT_START, "/usr/share/", "the system's directories" },
	{ AT_START, "/usr/src/debug/", "the system's directories" },
};

/* Of functions whose source file is not known. */
static const struct own_rule foreign_names[] = {
	{ AT_START, "_ZNSt", "C++'s library" },
	{ AT_START, "_ZNKSt", "C++'s library" },
	{ AT_START, "_ZSt", "C++'s library" },
	{ AT_START, "_ZNSs", "C++'s library" },
	{ AT_START, "_ZNKSs", "C++'s library" },
	{ AT_START, "_ZNSa", "C++'s library" },
	{ AT_START, "_ZN9__gnu_cxx", "C++'s library" },
	{ AT_START, "_ZNK9__gnu_cxx", "C++'s library" },
	{ AT_START, "_ZN10__cxxabiv1", "C++'s library" },
	{ AT_START, "std::", "the language's library" },
	{ AT_START, "__gnu_cxx::", "C++'s library" },
	{ AT_START, "_ZN4core", "Rust's library" },
	{ AT_START, "_ZN5alloc", "Rust's library" },
	{ AT_START, "_ZN3std", "Rust's library" },
	{ AT_START, "core::", "Rust's library" },
	{ AT_START, "alloc::", "Rust's library" },
	{ AT_START, "runtime.", "Go's library" },
	{ AT_START, "internal/", "Go's library" },
	{ AT_START, "_gfortran_", "Fortran's library" },
	{ AT_START, "java.", "Java's library" },
	{ AT_START, "jdk.", "Java's library" },
	{ AT_START, "sun.", "Java's library" },
	{ AT_START, "Ljava/", "Java's library" },
	{ AT_START, "Ljdk/", "Java's library" },
	{ AT_START, "Lsun/", "Java's library" },
	{ AT_START, "Builtin:", "Node's library" },
	{ AT_START, "BytecodeHandler:", "Node's library" },
	{ AT_START, "RegExp:", "Node's library" },
	{ ANYWHERE, "@plt", "the linker's code" },
	{ WHOLE, "_start", "start of the program" },
	{ AT_START, "__libc_csu_", "start of the program" },
	{ AT_START, "__do_global_", "start of the program" },
	{ WHOLE, "_dl_relocate_static_pie", "start of the program" },
	{ WHOLE, "frame_dummy", "start of the program" },
	{ WHOLE, "register_tm_clones", "start of the program" },
	{ WHOLE, "deregister_tm_clones", "start of the program" },
};

static bool is_match(const struct own_rule *r, const char *text)
{
	bool begins_alike = *text == *r->text; /* few do: that is tested for every function */
	switch (r->at) {
	case AT_START:
		return begins_alike && !strncmp(text, r->text, strlen(r->text));
	case ANYWHERE:
		return strstr(text, r->text);
	case WHOLE:
		return begins_alike && !strcmp(text, r->text);
	}
	return false;
}

/* NULL: none matches. */
static const char *why_of(const struct own_rule *rules, size_t n, const char *text)
{
	size_t i = 0;
	while (i < n && !is_match(&rules[i], text))
		i++;
	return i < n ? rules[i].why : NULL;
}

#define WHY(rules, text) why_of(rules, ARRAY_LEN(rules), text)

/* ---- paths ---- */

struct own_dir { /* as the user named it: absolute, without a slash at its end */
	char *path, *why;
	bool is_own;
};

struct own_code {
	VEC(struct own_dir) dirs;
	char *directory; /* of the program; NULL: not known */
	char *installed; /* where an interpreter is installed; NULL: the program is none */
};

/* The path without "." and, as far as its text says, without ".."; to be freed. */
static char *plain_path(const char *path)
{
	char *ret = xalloc(strlen(path) + 2);
	size_t n = 0, root = path[0] == '/', length;

	if (root)
		ret[n++] = '/';
	for (const char *p = path; p += strspn(p, "/"), length = strcspn(p, "/"); p += length) {
		size_t last = n;
		while (last > root && ret[last - 1] != '/')
			last--;
		bool is_up = length == 2 && !memcmp(p, "..", 2);
		bool follows = n > root && strncmp(ret + last, "..", n - last) != 0;
		if (length == 1 && *p == '.')
			continue;
		if (is_up && (follows || root)) {
			n = last > root ? last - 1 : root;
			continue;
		}
		if (n > root)
			ret[n++] = '/';
		memcpy(ret + n, p, length);
		n += length;
	}
	ret[n] = '\0';
	return ret;
}

/* How much of the path names the directory that it is in or is; 0: it is not. */
static size_t within(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	n -= n && dir[n - 1] == '/'; /* the root */
	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/') ? n + 1 : 0;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xprintf("%.*s", (int)(slash - path), path) : NULL;
}

static void add_dir(struct own_code *c, const char *given, bool is_own)
{
	char *cwd = given[0] == '/' ? NULL : getcwd(NULL, 0);
	char *whole = cwd ? xprintf("%s/%s", cwd, given) : xprintf("%s", given);
	vec_push(&c->dirs, ((struct own_dir){
				   plain_path(whole),
				   xprintf("--%s=%s", is_own ? "own" : "foreign", given),
				   is_own,
			   }));
	free(whole);
	free(cwd);
}

struct own_code *own_code_new(const struct own_dirs *dirs, const char *program, bool runs_scripts)
{
	struct own_code *c = xalloc(sizeof(*c));

	for (size_t i = 0; dirs->own && dirs->own[i]; i++)
		add_dir(c, dirs->own[i], true);
	for (size_t i = 0; dirs->foreign && dirs->foreign[i]; i++)
		add_dir(c, dirs->foreign[i], false);
	c->directory = directory_of(program);
	if (runs_scripts && c->directory) /* PREFIX/bin/python has PREFIX/lib */
		c->installed = directory_of(c->directory);
	return c;
}

void own_code_free(struct own_code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->dirs.n; i++) {
		free(c->dirs.at[i].path);
		free(c->dirs.at[i].why);
	}
	vec_free(&c->dirs);
	free(c->directory);
	free(c->installed);
	free(c);
}

const char *own_code_dir(const struct own_code *c, size_t i)
{
	for (size_t k = 0; k < c->dirs.n; k++)
		if (c->dirs.at[k].is_own && !i--)
			return c->dirs.at[k].path;
	return NULL;
}

/* ---- verdicts ---- */

/* By the user's directories: the longest; of equal ones the last. */
static bool by_user(const struct own_code *c, const char *path, struct own_verdict *ret)
{
	size_t best = 0;
	for (size_t i = 0; i < c->dirs.n; i++) {
		const struct own_dir *d = &c->dirs.at[i];
		size_t n = within(path, d->path);
		if (n && n >= best) {
			best = n;
			*ret = (struct own_verdict){ d->is_own, d->why };
		}
	}
	return best;
}

static struct own_verdict foreign(const char *why) { return (struct own_verdict){ false, why }; }
static struct own_verdict own(const char *why) { return (struct own_verdict){ true, why }; }

/* By the object alone; false if that does not decide. */
static bool by_object(const struct own_code *c, const struct own_subject *s,
		      struct own_verdict *ret)
{
	const char *why = WHY(foreign_paths, s->object);
	bool is_program = s->is_main && s->file && !c->installed;
	if (!why && !is_program)
		why = WHY(system_paths, s->object);
	if (!why && c->installed && *c->installed && within(s->object, c->installed))
		why = "installed with the interpreter";
	*ret = foreign(why);
	return why;
}

static struct own_verdict without_source(const struct own_code *c, const struct own_subject *s)
{
	const char *why = WHY(foreign_names, s->name);
	if (why)
		return foreign(why);
	if (s->is_named)
		return own("named by the data");
	if (s->has_lines)
		return foreign("no debug information, where others in the file have some");
	if (s->is_main || (c->directory && within(s->object, c->directory)))
		return own("the program's directory");
	return foreign("no debug information, outside of the program's directory");
}

static struct own_verdict of_plain(const struct own_code *c, const struct own_subject *s)
{
	struct own_verdict ret;
	const char *why;
	if (s->file && by_user(c, s->file, &ret))
		return ret;
	if (by_user(c, s->object, &ret))
		return ret;
	if (s->is_kernel)
		return foreign("the kernel");
	if (s->file && (why = WHY(foreign_paths, s->file)))
		return foreign(why);
	if (s->file && (why = WHY(system_sources, s->file)))
		return foreign(why);
	if (!s->is_named && by_object(c, s, &ret))
		return ret;
	return s->file ? own("its source file") : without_source(c, s);
}

struct own_verdict own_code_of(const struct own_code *c, const struct own_subject *s)
{
	struct own_subject plain = *s;
	char *script = NULL, *file;
	if (s->is_named && !s->file && own_code_script(s->name, &script))
		plain.file = script;
	plain.file = file = plain.file ? plain_path(plain.file) : NULL;
	struct own_verdict ret = of_plain(c, &plain);
	free(script);
	free(file);
	return ret;
}

bool own_code_script(const char *name, char **file)
{
	*file = NULL;
	if (!strncmp(name, "py::", 4)) {
		const char *colon = strchr(name + 4, ':');
		*file = colon ? xprintf("%s", colon + 1) : NULL;
		return true;
	}
	if (strncmp(name, "JS:", 3) != 0)
		return false;
	const char *space = strchr(name, ' ');
	if (!space)
		return true;
	size_t n = strlen(space + 1);
	for (int numbers = 0; numbers < 2; numbers++) { /* :LINE:COLUMN */
		size_t digits = n;
		while (digits && space[digits] >= '0' && space[digits] <= '9')
			digits--;
		if (digits && digits < n && space[digits] == ':')
			n = digits - 1;
	}
	*file = n ? xprintf("%.*s", (int)n, space + 1) : NULL;
	return true;
}

/* demangle.c - readable names, by libiberty's demanglers. They are called one by one rather than by
 * cplus_demangle(), so that a short name that expands to gigabytes can be given up. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define xrealloc libiberty_xrealloc /* declared there too, with other arguments */
#include <libiberty/demangle.h>
#undef xrealloc

#include "base/base.h"
#include "base/tidy_name.h"
#include "object/object_private.h"

enum { NAME_MAX_LENGTH = 64 * 1024 };

static const struct {
	const char *name;
	enum demangle_style style;
} styles[] = {
	{ "none", DEMANGLE_NONE }, { "auto", DEMANGLE_AUTO },   { "gnu-v3", DEMANGLE_GNU_V3 },
	{ "java", DEMANGLE_JAVA }, { "gnat", DEMANGLE_GNAT },   { "dlang", DEMANGLE_DLANG },
	{ "rust", DEMANGLE_RUST }, { "short", DEMANGLE_SHORT }, { "tidy", DEMANGLE_TIDY },
};

bool demangle_style_find(const char *name, enum demangle_style *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		if (strcmp(styles[i].name, name) != 0)
			continue;
		*ret = styles[i].style;
		return true;
	}
	return false;
}

/* ---- a demangler's output ---- */

struct demangled_output {
	char *text; /* malloc */
	size_t n, cap, max;
	jmp_buf too_long;
};

/* The demanglers cannot be told to stop. While they write they hold nothing to be released
 * (but for a few bytes of a Rust name in Punycode), so longjmp() may leave them. */
static void write_piece(const char *s, size_t n, void *arg)
{
	struct demangled_output *out = arg;
	if (n > out->max - out->n)
		longjmp(out->too_long, 1);
	if (out->n + n + 1 > out->cap) {
		out->cap = out->cap * 2 + n + 64;
		out->text = xrealloc(out->text, out->cap, 1);
	}
	memcpy(out->text + out->n, s, n);
	out->n += n;
	out->text[out->n] = '\0';
}

static bool demangle_run(const char *name, enum demangle_style style, struct demangled_output *out)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;
	out->n = 0;
	switch (style) {
	case DEMANGLE_AUTO: /* older Rust names are valid C++ names too */
		return demangle_run(name, DEMANGLE_RUST, out) ||
		       demangle_run(name, DEMANGLE_GNU_V3, out);
	case DEMANGLE_SHORT:
		return demangle_run(name, DEMANGLE_RUST, out) ||
		       (out->n = 0,
			cplus_demangle_v3_callback(name, DMGL_GNU_V3, write_piece, out));
	case DEMANGLE_RUST:
		return rust_demangle_callback(name, options | DMGL_RUST, write_piece, out);
	case DEMANGLE_GNU_V3:
		return cplus_demangle_v3_callback(name, options | DMGL_GNU_V3, write_piece, out);
	case DEMANGLE_JAVA:
		return java_demangle_v3_callback(name, write_piece, out);
	case DEMANGLE_NONE:
	case DEMANGLE_GNAT:
	case DEMANGLE_DLANG:
	case DEMANGLE_TIDY:
		break;
	}
	return false;
}

/* Limits the readable form to a length that no sensible name has. */
static char *run_limited(const char *name, enum demangle_style style)
{
	struct demangled_output out = { .max = 1024 + 64 * strlen(name) };
	if (!setjmp(out.too_long) && demangle_run(name, style, &out) && out.n)
		return out.text;
	free(out.text);
	return NULL;
}

/* D's demangler writes out all that a name repeats by reference, and recurses for nested names.
 * Names that are longer or have more references than real ones are left as they are. */
static char *demangle_d(const char *name)
{
	enum { LONGEST = 1024, MOST_REFERENCES = 16 };
	size_t references = 0, n = 2;
	if (name[0] != '_' || name[1] != 'D' ||
	    (strcmp(name + 2, "main") != 0 && !(name[2] >= '0' && name[2] <= '9')))
		return NULL;
	for (; name[n] && n < LONGEST; n++)
		references += name[n] == 'Q';
	if (name[n] || references > MOST_REFERENCES)
		return NULL;
	return dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_DLANG);
}

/* Demangled Rust names need no tidying. C++ names may be readable already: some functions have no
 * mangled name in the debug information. */
static char *demangle_tidy(const char *name)
{
	char *readable = run_limited(name, DEMANGLE_RUST);
	if (readable || (readable = tidy_fortran(name)) || (readable = demangle_d(name)))
		return readable;
	readable = run_limited(name, DEMANGLE_GNU_V3);
	char *tidy = tidy_name(readable ? readable : name, false);
	if (!tidy)
		return readable;
	free(readable);
	return tidy;
}

static char *demangle_plain(const char *name, enum demangle_style style)
{
	switch (style) {
	case DEMANGLE_TIDY:
		return demangle_tidy(name);
	case DEMANGLE_GNAT:
		return ada_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_GNAT);
	case DEMANGLE_DLANG:
		return dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_DLANG);
	case DEMANGLE_NONE:
		return NULL;
	case DEMANGLE_AUTO:
	case DEMANGLE_GNU_V3:
	case DEMANGLE_JAVA:
	case DEMANGLE_RUST:
	case DEMANGLE_SHORT:
		break;
	}
	return run_limited(name, style);
}

/* ---- names as they stand in files ---- */

/* The first character rules out most names of C functions. */
static bool may_be_mangled(const char *core, enum demangle_style style)
{
	switch (style) {
	case DEMANGLE_NONE:
		return false;
	case DEMANGLE_AUTO:
	case DEMANGLE_GNU_V3:
	case DEMANGLE_RUST:
	case DEMANGLE_SHORT:
		return core[0] == '_';
	case DEMANGLE_TIDY:
		return core[0] == '_' || (strchr(core, '<') && strstr(core, "std::"));
	case DEMANGLE_GNAT:
	case DEMANGLE_DLANG:
	case DEMANGLE_JAVA:
		break;
	}
	return true;
}

/* Some systems put dots or dollars in front; a version or "@plt" may follow. Both stay as they are.
 */
char *demangle(const char *name, enum demangle_style style)
{
	size_t before = 0;
	while (name[before] == '.' || name[before] == '$')
		before++;
	if (!may_be_mangled(name + before, style))
		return NULL;
	size_t length = strcspn(name + before, "@");
	const char *after = name + before + length;
	if (length > NAME_MAX_LENGTH)
		return NULL;

	char *core = xprintf("%.*s", (int)length, name + before);
	char *readable = demangle_plain(core, style);
	free(core);
	if (!readable || (!before && !*after))
		return readable;

	size_t n = strlen(readable), tail = strlen(after);
	char *whole = xalloc(before + n + tail + 1);
	memcpy(whole, name, before);
	memcpy(whole + before, readable, n);
	memcpy(whole + before + n, after, tail + 1);
	free(readable);
	return whole;
}

/* dwarf_scope.c - finds the scopes around an entry, and writes them as part of its name. */
#include "object/dwarf_scope.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "object/dwarf_abbrev.h"
#include "object/dwarf_line.h"
#include "object/dwarf_template.h"
#include "object/object_private.h"

enum {
	DEEPEST = 64,   /* scopes around a function; only hostile files have more */
	LONGEST = 4096, /* bytes of a name with its scopes */
	UNITS_KEPT = 16,
	MOST_LAMBDAS = 64, /* in a template's name */
};

struct scope {                /* an entry that others are declared in */
	uint64_t offset, end; /* [offset, end) in .debug_info */
	uint32_t around;      /* the scope that holds it; NONE: the unit */
	uint32_t tag;
	bool is_lambda; /* a closure type */
	bool is_read;   /* `entry` is read: at once if it may tell a lambda */
	struct dwarf_entry entry;
};

struct unit_scopes {
	const struct dwarf_unit *unit;
	VEC(struct scope) at; /* by offset */
	strid *files; /* [n_files]: base names of its line table's files; made when needed */
	size_t n_files;
	unsigned line_version;
};

struct dwarf_scopes {
	struct dwarf_info *info;
	uint64_t *work_left;
	struct strtab *strings;
	struct unit_scopes units[UNITS_KEPT];
	size_t next;        /* index of the unit to be replaced next, modulo UNITS_KEPT */
	struct map64 names; /* entry's offset << 1 | alt -> strid */
};

struct dwarf_scopes *dwarf_scopes_new(struct dwarf_info *d, uint64_t *work_left)
{
	struct dwarf_scopes *s = xalloc(sizeof(*s));
	s->info = d;
	s->work_left = work_left;
	s->strings = strtab_new();
	return s;
}

static void unit_done(struct unit_scopes *u)
{
	vec_free(&u->at);
	free(u->files);
	*u = (struct unit_scopes){ 0 };
}

void dwarf_scopes_free(struct dwarf_scopes *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < UNITS_KEPT; i++)
		unit_done(&s->units[i]);
	map64_free(&s->names);
	strtab_free(s->strings);
	free(s);
}

/* ---- the scopes of a unit ---- */

static bool is_scope(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
		return true;
	}
	return false;
}

static bool is_type(uint32_t tag)
{
	return is_scope(tag) && tag != DW_TAG_subprogram && tag != DW_TAG_namespace &&
	       tag != DW_TAG_module;
}

static const struct dwarf_file *file_of(const struct dwarf_scopes *s, const struct dwarf_unit *u)
{
	const struct dwarf_file *alt = &s->info->alt;
	bool in_alt = alt->units.n && u >= alt->units.at && u < alt->units.at + alt->units.n;
	return in_alt ? alt : &s->info->file;
}

static bool is_lambda_name(const char *name) { return name && !strncmp(name, "<lambda", 7); }

/* Marks closure types. GCC calls their constructors "<lambda>", but closures that capture something
 * have no constructor; older GCCs call the type so; clang names neither. An unnamed type with a
 * call operator therefore counts as a closure type. */
static void note_lambda(struct unit_scopes *x, const struct dwarf_file *f, const struct scope *at)
{
	const char *name = dwarf_value_string(f, x->unit, &at->entry.name);
	if (at->tag != DW_TAG_subprogram) {
		x->at.at[x->at.n - 1].is_lambda = is_lambda_name(name);
		return;
	}
	struct scope *type = &x->at.at[at->around];
	bool calls = name && !strcmp(name, "operator()");
	if (is_lambda_name(name) || (calls && !dwarf_value_string(f, x->unit, &type->entry.name)))
		type->is_lambda = true;
}

/* True for types, and for functions in types that may be closure types: constructors of other types
 * have no such name. Types are always read. */
static bool may_tell_lambda(const struct unit_scopes *x, const struct dwarf_file *f, uint32_t tag,
			    uint32_t around)
{
	const struct scope *type = around == NONE ? NULL : &x->at.at[around];
	if (tag != DW_TAG_subprogram || !type || !is_type(type->tag))
		return is_type(tag);
	const char *name = dwarf_value_string(f, x->unit, &type->entry.name);
	return !name || is_lambda_name(name) || !strncmp(name, "__lambda", 8);
}

static void read_scopes(struct dwarf_scopes *s, const struct dwarf_unit *u, struct unit_scopes *ret)
{
	const struct dwarf_file *f = file_of(s, u);
	const struct abbrevs *t = abbrevs_of(s->info, f, u);
	struct bytes c = section_at((struct section){ f->info.data, u->end }, u->entries, f->swap);
	VEC(uint32_t) open = { 0 }; /* for each open entry, the scope around it */
	uint32_t around = NONE;

	dwarf_unit_read(f, u);
	while (t && bytes_left(&c)) {
		uint64_t offset = (uint64_t)(c.pos - f->info.data), code = bytes_uleb(&c);
		if (!code) { /* the end of an entry's children */
			if (!open.n)
				break;
			uint32_t closed = around;
			around = open.at[--open.n];
			if (closed != around)
				ret->at.at[closed].end = offset;
			continue;
		}
		const struct abbrev *a = abbrevs_find(t, code);
		if (!a || c.failed)
			break;
		uint32_t inside = around;
		bool may_be_scope = a->children && is_scope(a->tag);
		bool tells = may_be_scope && may_tell_lambda(ret, f, a->tag, around);
		if (may_be_scope && (tells || !a->sibling)) {
			struct scope x = { .offset = offset,
					   .end = u->end,
					   .around = around,
					   .tag = a->tag,
					   .is_read = tells };
			if (x.is_read)
				dwarf_entry_read(s->info, f, u, t, a, &c, &x.entry);
			else
				abbrevs_skip(t, a, &c);
			inside = (uint32_t)ret->at.n;
			vec_push(&ret->at, x);
			if (x.is_read)
				note_lambda(ret, f, &x);
		} else if (abbrevs_skip_entry(u, t, a, &c)) {
			continue;
		}
		if (a->children) {
			vec_push(&open, around);
			around = inside;
		}
	}
	vec_free(&open);
}

/* A scope with its entry. Entries are read when needed, as most never are. */
static struct scope scope_at(struct dwarf_scopes *s, struct unit_scopes *x, uint32_t i)
{
	struct scope *at = &x->at.at[i];
	const struct dwarf_file *f = file_of(s, x->unit);
	const struct abbrevs *t = at->is_read ? NULL : abbrevs_of(s->info, f, x->unit);
	if (t) {
		struct bytes c = section_at((struct section){ f->info.data, x->unit->end },
					    at->offset, f->swap);
		const struct abbrev *a = abbrevs_find(t, bytes_uleb(&c));
		if (a)
			dwarf_entry_read(s->info, f, x->unit, t, a, &c, &at->entry);
	}
	at->is_read = true;
	return *at;
}

/* NULL if that would be too much work. */
static struct unit_scopes *scopes_of(struct dwarf_scopes *s, const struct dwarf_unit *u)
{
	uint64_t work = u->end - u->offset;
	for (size_t i = 0; i < UNITS_KEPT; i++)
		if (s->units[i].unit == u)
			return &s->units[i];
	if (work > *s->work_left)
		return NULL;
	*s->work_left -= work;
	struct unit_scopes *x = &s->units[s->next++ % UNITS_KEPT];
	unit_done(x);
	x->unit = u;
	read_scopes(s, u, x);
	return x;
}

/* The innermost scope around an entry. */
static uint32_t scope_around(const struct unit_scopes *x, uint64_t offset)
{
	size_t low = COUNT_WHILE(x->at.n, i, x->at.at[i].offset < offset);
	uint32_t i = low ? (uint32_t)low - 1 : NONE;
	while (i != NONE && x->at.at[i].end <= offset)
		i = x->at.at[i].around;
	return i;
}

/* ---- names ---- */

/* The base name of a file of the unit's line table; NULL if that does not say. */
static const char *file_name(struct dwarf_scopes *s, struct unit_scopes *x, uint64_t file)
{
	struct line_table t = { 0 };
	if (!x->files && file_of(s, x->unit) == &s->info->file && x->unit->has_lines &&
	    line_table_read_files(s->info, x->unit, &t)) {
		x->n_files = t.files.n;
		x->files = xalloc((t.files.n + 1) * sizeof(*x->files));
		x->line_version = t.version;
		for (size_t i = 0; i < t.files.n; i++) {
			const char *name = t.files.at[i].name ? t.files.at[i].name : "";
			x->files[i] = strtab_add(s->strings, base_name(name));
		}
	}
	line_table_done(&t);
	if (x->line_version < 5) /* they count from 1 */
		file--;
	return file < x->n_files && x->files[file] ? strtab_get(s->strings, x->files[file]) : NULL;
}

/* Whether another lambda begins on the same line. */
static bool shares_line(struct dwarf_scopes *s, const struct unit_scopes *x, const struct scope *at)
{
	if (x->at.n > *s->work_left)
		return true;
	*s->work_left -= x->at.n;
	for (size_t i = 0; i < x->at.n; i++) {
		const struct dwarf_entry *e = &x->at.at[i].entry;
		if (x->at.at[i].is_lambda && e->decl_line == at->entry.decl_line &&
		    e->decl_file == at->entry.decl_file && e->decl_column != at->entry.decl_column)
			return true;
	}
	return false;
}

/* "{lambda at t.cpp:31}", "{lambda at t.cpp:31:9}". To be freed. */
static char *lambda_text(struct dwarf_scopes *s, struct unit_scopes *x, const struct scope *at)
{
	const char *file = file_name(s, x, at->entry.decl_file);
	char column[24] = "";
	if (at->entry.decl_column && shares_line(s, x, at))
		snprintf(column, sizeof(column), ":%llu",
			 (unsigned long long)at->entry.decl_column);
	return xprintf("{lambda at %s:%llu%s}", file ? file : "?",
		       (unsigned long long)at->entry.decl_line, column);
}

/* ---- templates ---- */

/* Behind the ">" of "<lambda(int)>"; NULL: it is something else. */
static const char *behind_lambda(const char *p)
{
	size_t open = 0;
	p += strlen("<lambda");
	if (*p != '(')
		return NULL;
	do {
		open += *p == '(';
		open -= *p == ')';
	} while (*++p && open);
	return *p == '>' ? p + 1 : NULL;
}

/* In "f(int) const::" the word before "::" belongs to the function; a type may come before its
 * name. */
static bool is_qualifier(const char *p)
{
	return !strncmp(p, "const", 5) || !strncmp(p, "volatile", 8) || *p == '&';
}

/* Where the scopes of a lambda begin, "main(int, char**)::" and the like, not before `start`. */
static const char *scopes_before(const char *start, const char *lambda)
{
	const char *p = lambda;
	size_t open = 0;

	for (; p > start; p--) {
		char before = p[-1];
		bool closes = before == ')' || before == '>' || before == '}' || before == ']';
		bool opens = before == '(' || before == '<' || before == '{' || before == '[';
		if (!open && (opens || before == ',' || (before == ' ' && !is_qualifier(p))))
			break;
		open += closes;
		open -= opens;
	}
	return p;
}

/* The next lambda that is an argument, not the scope of one ("f()::<lambda()>::<lambda()>"), and
 * where it ends; NULL: there is none that can be read. */
static const char *next_lambda(const char *p, const char **end)
{
	while ((p = strstr(p, "<lambda"))) {
		*end = behind_lambda(p);
		if (!*end || strncmp(*end, "::", 2) != 0)
			return *end ? p : NULL;
		p = *end;
	}
	return NULL;
}

static size_t count_lambdas(const char *name)
{
	size_t n = 0;
	while (next_lambda(name, &name))
		n++;
	return n;
}

/* The texts of the lambdas among the arguments of the template at an offset, to be freed. */
static size_t lambda_arguments(struct dwarf_scopes *s, const struct dwarf_unit *u, uint64_t offset,
			       char **texts, size_t room)
{
	struct dwarf_types types = { 0 };
	size_t n = 0;

	dwarf_template_types(s->info, u, offset, s->work_left, &types);
	for (size_t i = 0; i < types.at.n && n < room; i++) {
		const struct dwarf_type *type = &types.at.at[i];
		struct unit_scopes *x = scopes_of(s, type->unit);
		size_t at = x ? COUNT_WHILE(x->at.n, k, x->at.at[k].offset < type->offset) : 0;
		if (x && at < x->at.n && x->at.at[at].offset == type->offset &&
		    x->at.at[at].is_lambda)
			texts[n++] = lambda_text(s, x, &x->at.at[at]);
	}
	vec_free(&types.at);
	return n;
}

/* The name of a template instance, with its lambdas as they are called elsewhere:
 * "call<run(int)::<lambda(int)> >" becomes "call<{lambda at t.cpp:31}>". Other names stay as they
 * are. To be freed. */
static char *argued_name(struct dwarf_scopes *s, const struct dwarf_unit *u, uint64_t offset,
			 const char *name)
{
	char *texts[MOST_LAMBDAS];
	size_t wanted = count_lambdas(name), n = 0;
	char *ret = NULL;

	if (wanted && wanted < MOST_LAMBDAS && strlen(name) < LONGEST)
		n = lambda_arguments(s, u, offset, texts, MOST_LAMBDAS);
	if (wanted && n == wanted) {
		const char *rest = name;
		ret = xprintf("%s", "");
		for (size_t i = 0; i < n; i++) {
			const char *end, *lambda = next_lambda(rest, &end);
			char *longer =
				xprintf("%s%.*s%s", ret, (int)(scopes_before(rest, lambda) - rest),
					rest, texts[i]);
			free(ret);
			ret = longer;
			rest = end;
			rest += rest[0] == ' ' && rest[1] == '>';
		}
		char *longer = xprintf("%s%s", ret, rest);
		free(ret);
		ret = longer;
	}
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	return ret ? ret : xprintf("%s", name);
}

/* The part before "::" for one scope, to be freed; NULL: none. */
static char *scope_text(struct dwarf_scopes *s, struct unit_scopes *x, const struct scope *at)
{
	const struct dwarf_file *f = file_of(s, x->unit);
	const char *name = dwarf_value_string(f, x->unit, &at->entry.name);

	if (at->is_lambda)
		return lambda_text(s, x, at);
	if (name)
		return argued_name(s, x->unit, at->offset, name);
	return xprintf("%s",
		       at->tag == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed type}");
}

static strid name_of_entry(struct dwarf_scopes *s, const struct dwarf_unit *u, uint64_t offset,
			   const struct dwarf_function *f, unsigned depth);

/* A function around another one is shown by its whole name, as everywhere else. */
static char *function_text(struct dwarf_scopes *s, const struct dwarf_unit *u,
			   const struct scope *at, unsigned depth)
{
	struct dwarf_function f = dwarf_entry_function(file_of(s, u), u, &at->entry);
	strid id = name_of_entry(s, u, at->offset, &f, depth + 1);
	const char *name = strtab_get(s->strings, id);
	char *readable = demangle(name, DEMANGLE_TIDY);
	return readable ? readable : *name ? xprintf("%s", name) : NULL;
}

/* Whether a function is the call operator of a lambda, whose scopes name the lambda already. */
static bool is_call_of_lambda(const char *name, const char *scopes)
{
	size_t n = strlen(scopes);
	return !strcmp(name, "operator()") && n && scopes[n - 1] == '}' &&
	       strstr(scopes, "{lambda at ");
}

/* The scopes around an entry, without the "::" behind them; "" if there are none. To be freed. */
static char *scopes_text(struct dwarf_scopes *s, const struct dwarf_unit *u, uint64_t offset,
			 unsigned depth)
{
	struct unit_scopes *x = depth < DEEPEST ? scopes_of(s, u) : NULL;
	char *text = xprintf("%s", "");
	bool function = false;

	for (uint32_t i = x ? scope_around(x, offset) : NONE; i != NONE && !function;) {
		const struct scope at = scope_at(s, x, i);
		function = at.tag == DW_TAG_subprogram;
		char *one = function ? function_text(s, u, &at, depth) : scope_text(s, x, &at);
		if (one && strlen(one) + strlen(text) < LONGEST) {
			char *longer = xprintf("%s%s%s", one, *text ? "::" : "", text);
			free(text);
			text = longer;
		}
		free(one);
		if (++depth >= DEEPEST || !(x = scopes_of(s, u)))
			break;
		i = at.around;
	}
	return text;
}

/* The entry's name, from the last entry that has a name along the chain of references. A linkage
 * name ends the search. 0: there is none. */
static strid name_of_entry(struct dwarf_scopes *s, const struct dwarf_unit *u, uint64_t offset,
			   const struct dwarf_function *f, unsigned depth)
{
	struct dwarf_function at = *f;
	const struct dwarf_unit *named_in = NULL;
	const char *name = NULL;
	uint64_t named_at = 0;

	for (unsigned hops = 0; hops < DEEPEST; hops++) {
		if (at.linkage_name)
			return strtab_add(s->strings, at.linkage_name);
		if (at.name) {
			name = at.name;
			named_in = u;
			named_at = offset;
		}
		if (!at.has_origin)
			break;
		offset = at.origin;
		if (!(u = dwarf_function_at(s->info, at.origin_alt, offset, &at)))
			break;
	}
	if (!name)
		return 0;
	if (dwarf_is_unmangled(named_in->language))
		return strtab_add(s->strings, name);
	char *scopes = scopes_text(s, named_in, named_at, depth);
	char *own = argued_name(s, named_in, named_at, name);
	char *whole = is_call_of_lambda(name, scopes)
			      ? xprintf("%s", scopes)
			      : xprintf("%s%s%s", scopes, *scopes ? "::" : "", own);
	strid id = strtab_add(s->strings, whole);
	free(own);
	free(scopes);
	free(whole);
	return id;
}

const char *dwarf_scopes_name(struct dwarf_scopes *s, const struct dwarf_unit *u,
			      const struct dwarf_function *f)
{
	if (f->linkage_name)
		return f->linkage_name;
	/* Inlined functions refer to few others, many times: remember those names. */
	uint32_t *at = f->has_origin && !f->name
			       ? map64_at(&s->names, f->origin << 1 | f->origin_alt)
			       : NULL;
	if (at && *at != NONE)
		return *at ? strtab_get(s->strings, *at) : NULL;
	strid id = name_of_entry(s, u, f->offset, f, 0);
	if (at)
		*at = id;
	return id ? strtab_get(s->strings, id) : NULL;
}

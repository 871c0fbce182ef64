/* outermost.c - goes through the names of functions for those that stacks begin with. */
#include "unwind/outermost.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/sort.h"
#include "unwind/go_table.h"

enum {
	CODE_MAX = 1024,    /* bytes of such a function: none is longer */
	FUNCTIONS_MAX = 64, /* in one file */
	GO_NAME_MAX = 32,   /* bytes of the longest of Go's names below */
};

enum kind {
	START,     /* nobody called it */
	PASSES_ON, /* the same, and it jumps to another that calls the program */
	OF_MUSL,   /* the same, if the C library is musl: others may use the name as well */
	BEGINS,    /* its calls are made on a stack that begins with it */
	SWITCHES,  /* the same of those behind the instruction by which it goes on to another stack
		    */
};

static const struct {
	const char *name;
	enum kind kind;
} names[] = {
	{ "_start", START },
	{ "_dlstart", START },
	{ "__libc_start_main", PASSES_ON },
	{ "libc_start_main_stage2", START },
	{ "__clone", BEGINS },
	{ "start", OF_MUSL },
	{ "start_c11", OF_MUSL },
};

/* Of Go's runtime. */
static const struct {
	const char *name;
	enum kind kind;
} go_names[] = {
	{ "runtime.goexit", START },         { "runtime.rt0_go", BEGINS },
	{ "runtime.clone", BEGINS },         { "runtime.mcall", SWITCHES },
	{ "runtime.morestack", SWITCHES },   { "runtime.systemstack", SWITCHES },
	{ "runtime.cgocallback", SWITCHES },
};

struct outermost_function {
	uint64_t low, high; /* high == low: without a size */
	enum kind kind;
};

struct search {
	const struct code_file *f;
	VEC(struct outermost_function) functions;
	bool is_musl;
};

/* ---- symbols ---- */

static size_t n_symbols(const struct code_file *f) { return f->symbols_size / sizeof(Elf64_Sym); }

/* False: it is no code. */
static bool symbol_at(const struct code_file *f, size_t i, Elf64_Sym *ret)
{
	memcpy(ret, f->symbols + i * sizeof(*ret), sizeof(*ret));
	unsigned type = ELF64_ST_TYPE(ret->st_info);
	return ret->st_shndx != SHN_UNDEF && ret->st_shndx != SHN_ABS && ret->st_value &&
	       (type == STT_FUNC || type == STT_NOTYPE);
}

/* `limit`: bytes that may be read. */
static bool is_named(const char *name, size_t limit, const char *wanted)
{
	return limit > strlen(wanted) && !strcmp(name, wanted);
}

static void add_symbol(struct search *s, const Elf64_Sym *sym)
{
	const struct code_file *f = s->f;
	if (sym->st_name >= f->strings_size || s->functions.n >= FUNCTIONS_MAX)
		return;
	const char *name = f->strings + sym->st_name;
	size_t limit = f->strings_size - sym->st_name;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (*name != *names[i].name || !is_named(name, limit, names[i].name))
			continue;
		uint64_t size = sym->st_size < CODE_MAX ? sym->st_size : CODE_MAX;
		vec_push(&s->functions,
			 ((struct outermost_function){ sym->st_value, sym->st_value + size,
						       names[i].kind }));
		s->is_musl |= !strcmp(names[i].name, "libc_start_main_stage2");
	}
}

static void add_go_function(struct search *s, const struct go_function *f)
{
	const char *name = go_table_name(s->f->go, f, GO_NAME_MAX);
	uint64_t high = min_u64(f->high, f->low + CODE_MAX);
	for (size_t i = 0; name && i < ARRAY_LEN(go_names); i++)
		if (!strcmp(name, go_names[i].name))
			vec_push(&s->functions,
				 ((struct outermost_function){ f->low, high, go_names[i].kind }));
}

static void add_go(struct search *s)
{
	struct go_function f;
	for (uint64_t i = 0; s->f->go && i < s->f->go->n && s->functions.n < FUNCTIONS_MAX; i++)
		if (go_table_at(s->f->go, i, &f))
			add_go_function(s, &f);
}

static int by_low(const void *a, const void *b)
{
	const struct outermost_function *x = a, *y = b;
	return x->low != y->low ? ORDER(x->low, y->low) : ORDER(x->kind, y->kind);
}

/* Those without a size, as assembly may be, end at the next symbol. */
static void find_ends(struct search *s)
{
	Elf64_Sym sym;
	for (size_t k = 0; k < s->functions.n; k++) {
		struct outermost_function *x = &s->functions.at[k];
		uint64_t high = x->low + CODE_MAX;
		if (x->high > x->low)
			continue;
		for (size_t i = 0; i < n_symbols(s->f); i++)
			if (symbol_at(s->f, i, &sym) && sym.st_value > x->low &&
			    sym.st_value < high)
				high = sym.st_value;
		x->high = high;
	}
}

/* ---- code ---- */

static bool loads_sp(const struct machine *m, const struct machine_effect *e)
{
	bool ret = e->lost >> m->sp & 1;
	for (size_t i = 0; i < e->n_changes; i++)
		ret |= e->change[i].a == m->sp && e->change[i].kind != CHANGE_STORE &&
		       (e->change[i].kind != CHANGE_SET || e->change[i].b != m->sp);
	return ret;
}

/* Where the function goes on to another stack; 0: not known. Its calls before that have callers. */
static size_t find_switch(const struct machine *m, const uint8_t *code, size_t n, uint64_t addr)
{
	machine_effect_decoder *effect = machine_effects(m);
	struct machine_effect e;
	for (size_t at = 0; effect && at < n && effect(code + at, n - at, addr + at, &e);
	     at += e.size)
		if (loads_sp(m, &e))
			return at;
	return 0;
}

/* The return addresses of calls in a function, less 1, as rows are looked up so. */
static void add_returns(const struct search *s, const struct outermost_function *x,
			struct outermost *ret)
{
	uint8_t code[CODE_MAX];
	const struct machine *m = s->f->machine;
	size_t n = s->f->code(s->f->arg, x->low, code, (size_t)(x->high - x->low));
	size_t from = x->kind == SWITCHES ? find_switch(m, code, n, x->low) : 0;
	for (size_t i = from + m->code_align; i <= n; i += m->code_align)
		if (m->call_ends(code + i, i))
			vec_push(ret,
				 ((struct outermost_range){ x->low + i - 1, x->low + i, true }));
}

static void add_functions(struct search *s, struct outermost *ret)
{
	for (size_t i = 0; i < s->functions.n; i++) {
		const struct outermost_function *x = &s->functions.at[i];
		if (x->kind == SWITCHES || x->kind == BEGINS)
			add_returns(s, x, ret);
		else if (x->kind != OF_MUSL || s->is_musl)
			vec_push(ret, ((struct outermost_range){ x->low, x->high, false }));
	}
}

/* musl's __libc_start_main() hides the function that calls main() from the compiler, and jumps
 * there; its name is gone from a stripped library. */
static void add_next(struct search *s, const struct outermost_function *x)
{
	uint8_t code[CODE_MAX];
	uint64_t next;
	const struct machine *m = s->f->machine;
	if (x->kind != PASSES_ON || !m->passes_on)
		return;
	size_t n = s->f->code(s->f->arg, x->low, code, (size_t)(x->high - x->low));
	if (m->passes_on(code, n, x->low, &next))
		vec_push(&s->functions, ((struct outermost_function){ next, next, START }));
}

/* The start of a program up to its first call or jump: found without a name. */
static void add_start(const struct search *s, struct outermost *ret)
{
	enum { START_MAX = 64 };
	const struct code_file *f = s->f;
	uint8_t code[START_MAX];
	machine_effect_decoder *effect = machine_effects(f->machine);
	struct machine_effect e = { 0 };
	size_t at = 0;
	if (!f->entry || !effect)
		return;
	size_t n = f->code(f->arg, f->entry, code, sizeof(code));
	while (e.kind == STEP_ON && effect(code + at, n - at, f->entry + at, &e))
		at += e.size;
	if (e.kind != STEP_ON)
		vec_push(ret, ((struct outermost_range){ f->entry, f->entry + at, false }));
}

/* ---- both ---- */

void outermost_find(const struct code_file *f, struct outermost *ret)
{
	struct search s = { .f = f };
	Elf64_Sym sym;
	for (size_t i = 0; f->symbols && i < n_symbols(f); i++)
		if (symbol_at(f, i, &sym))
			add_symbol(&s, &sym);
	add_go(&s);
	for (size_t i = 0, n = s.functions.n; i < n; i++) {
		struct outermost_function x = s.functions.at[i];
		add_next(&s, &x);
	}
	find_ends(&s);
	if (s.functions.n)
		qsort(s.functions.at, s.functions.n, sizeof(*s.functions.at), by_low);
	add_functions(&s, ret);
	add_start(&s, ret);
	vec_free(&s.functions);
}

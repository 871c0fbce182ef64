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
	MOVE_MAX = 3,       /* bytes between the calls of "exit(function())" */
	CLONE_MAX = 64,     /* bytes of clone() up to the child's call */
	HANDED_MAX =
		128, /* bytes before a call of clone() in which the thread's function is named */
	THREADS_MAX = 4 << 20, /* bytes of code that are searched for it */
	GO_NAME_MAX = 32,      /* bytes of the longest of Go's names below */
};

enum kind {
	START,     /* nobody called it */
	NO_CALLER, /* the same, and its call-frame information does not say so */
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
	{ "runtime.goexit", NO_CALLER },     { "runtime.rt0_go", BEGINS },
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
			vec_push(ret, ((struct outermost_range){ x->low, x->high,
								 x->kind == NO_CALLER }));
	}
}

/* Decodes straight on from an address, through instructions of the kinds in the mask; *e is the
 * last one, of another kind. Returns the number of bytes; 0: the code there is not known. */
static size_t run_on(const struct search *s, uint64_t addr, unsigned through,
		     struct machine_effect *e)
{
	uint8_t code[CODE_MAX];
	machine_effect_decoder *effect = machine_effects(s->f->machine);
	size_t at = 0, n = effect ? s->f->code(s->f->arg, addr, code, sizeof(code)) : 0;
	do {
		if (!effect || !effect(code + at, n - at, addr + at, e))
			return 0;
		at += e->size;
	} while (through >> e->kind & 1);
	return at;
}

enum {
	STRAIGHT = 1 << STEP_ON,
	CALLS = 1 << STEP_CALL | 1 << STEP_CALL_SLOT,
	CALLING = STRAIGHT | CALLS,
};

/* The end of a function that ends in "exit(main(..))": the end of its call of exit(). */
static uint64_t end_of_calls(const struct search *s, uint64_t low)
{
	struct machine_effect e;
	uint64_t at = low, called = 0;
	for (size_t n; at - low < CODE_MAX && (n = run_on(s, at, STRAIGHT, &e)); called = at) {
		at += n;
		if (!(CALLS >> e.kind & 1))
			break;
		if (called && at - e.size - called <= MOVE_MAX)
			return at;
	}
	return low;
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
		vec_push(&s->functions,
			 ((struct outermost_function){ next, end_of_calls(s, next), START }));
}

/* Without symbols __libc_start_main() of a static program of musl is where the function jumps that
 * the program's start calls. */
static void add_musl_main(struct search *s)
{
	struct machine_effect e;
	if (!s->f->entry || !run_on(s, s->f->entry, STRAIGHT, &e) || e.kind != STEP_CALL)
		return;
	if (!run_on(s, e.target, STRAIGHT, &e) || e.kind != STEP_JUMP)
		return;
	uint64_t low = e.target;
	size_t n = run_on(s, low, CALLING, &e);
	if (n && e.kind == STEP_SWITCH)
		vec_push(&s->functions, ((struct outermost_function){ low, low + n, PASSES_ON }));
}

/* The end of a function that begins a thread, as musl's do: "exit(function(argument))", the first
 * by an address in memory; 0: it is none. */
static uint64_t end_of_thread(const struct search *s, uint64_t low)
{
	uint8_t code[CODE_MAX];
	const struct machine *m = s->f->machine;
	machine_effect_decoder *effect = machine_effects(m);
	struct machine_effect e;
	uint64_t called = 0;
	size_t n = s->f->code(s->f->arg, low, code, sizeof(code));
	for (size_t at = 0; effect(code + at, n - at, low + at, &e) && e.kind != STEP_RETURN;) {
		at += e.size;
		if (e.kind == STEP_CALL && called && low + at - e.size - called <= MOVE_MAX)
			return low + at;
		if (e.kind == STEP_CALL_SLOT)
			called = low + at;
	}
	return 0;
}

static bool in_code(const struct code_file *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n_sections; i++)
		if (addr - f->sections[i].low < f->sections[i].high - f->sections[i].low)
			return true;
	return false;
}

/* Adds the functions whose address is taken right before a call of clone(). */
static void add_threads_before(struct search *s, const uint8_t *code, size_t n, uint64_t addr)
{
	struct machine_effect e;
	machine_effect_decoder *effect = machine_effects(s->f->machine);
	for (size_t i = 0; i < n; i++) {
		if (!effect(code + i, n - i, addr + i, &e) || e.n_changes != 1 ||
		    e.change[0].kind != CHANGE_CONST || !in_code(s->f, e.place))
			continue;
		uint64_t high = end_of_thread(s, e.place);
		if (high)
			vec_push(&s->functions,
				 ((struct outermost_function){ e.place, high, START }));
		i += e.size - 1u;
	}
}

/* Where code calls clone() itself: the end of the child's call there; 0: nowhere. */
static uint64_t find_child(const struct machine *m, const uint8_t *code, size_t n)
{
	for (size_t i = MACHINE_ORIGIN_MAX; i <= n; i++)
		if (m->starts_thread(code + i, i))
			return i;
	return 0;
}

/* Without symbols the first functions of musl's threads are those that pthread_create() hands to
 * clone(), which is known by its code. */
static void add_threads(struct search *s, const struct code_span *section)
{
	const struct machine *m = s->f->machine;
	size_t size = (size_t)min_u64(section->high - section->low, THREADS_MAX);
	uint8_t *code = xrealloc(NULL, size + 1, 1);
	uint64_t target;
	size = s->f->code(s->f->arg, section->low, code, size);
	size_t child = find_child(m, code, size);
	uint64_t end = section->low + child;
	for (size_t i = 0; child && i < size; i++)
		if (m->call_at(code + i, size - i, section->low + i, &target) && target < end &&
		    end - target <= CLONE_MAX) {
			size_t from = i < HANDED_MAX ? 0 : i - HANDED_MAX;
			add_threads_before(s, code + from, i - from, section->low + from);
		}
	free(code);
}

/* Whether an instruction copies sp: the kernel passes arguments on the stack, nobody else does. */
static bool copies_sp(const struct machine *m, const struct machine_effect *e)
{
	const struct machine_change *c = &e->change[0];
	return e->n_changes == 1 && c->kind == CHANGE_SET && c->b == m->sp && !c->n &&
	       c->a != m->sp && c->a != m->fp;
}

/* The start of a program up to its first call or jump: found without a name. */
static void add_start(const struct search *s, struct outermost *ret)
{
	const struct code_file *f = s->f;
	struct machine_effect e;
	size_t n = f->entry ? run_on(s, f->entry, STRAIGHT, &e) : 0;
	if (n)
		vec_push(ret, ((struct outermost_range){ f->entry, f->entry + n, false }));
}

/* That of a dynamic linker goes on behind its calls, of which one runs what libraries do first, up
 * to its jump to the program. */
static void add_loader(const struct search *s, struct outermost *ret)
{
	const struct code_file *f = s->f;
	struct machine_effect e;
	if (!f->loader_entry || !run_on(s, f->loader_entry, 0, &e) || !copies_sp(f->machine, &e))
		return;
	size_t n = run_on(s, f->loader_entry, CALLING, &e);
	if (n)
		vec_push(ret,
			 ((struct outermost_range){ f->loader_entry, f->loader_entry + n, false }));
}

/* ---- both ---- */

void outermost_find(const struct code_file *f, struct outermost *ret)
{
	struct search s = { .f = f };
	Elf64_Sym sym;
	bool is_next = false;
	for (size_t i = 0; f->symbols && i < n_symbols(f); i++)
		if (symbol_at(f, i, &sym))
			add_symbol(&s, &sym);
	add_go(&s);
	if (!s.functions.n)
		add_musl_main(&s);
	for (size_t i = 0, n = s.functions.n; i < n; i++) {
		struct outermost_function x = s.functions.at[i];
		add_next(&s, &x);
		is_next |= s.functions.n > n;
	}
	for (size_t i = 0; is_next && !s.is_musl && f->machine->starts_thread && i < f->n_sections;
	     i++)
		add_threads(&s, &f->sections[i]);
	find_ends(&s);
	if (s.functions.n)
		qsort(s.functions.at, s.functions.n, sizeof(*s.functions.at), by_low);
	add_functions(&s, ret);
	add_start(&s, ret);
	add_loader(&s, ret);
	vec_free(&s.functions);
}

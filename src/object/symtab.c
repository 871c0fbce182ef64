/* symtab.c - the symbols of a file: which count, and where they end.
 *
 * Those that count are every function (indirect ones too) and every label without a type, except
 * markers, that lies inside of a section with code, whatever its binding, from the file or its
 * debug file; and the entries of the procedure linkage table. A symbol ends with its section at the
 * latest. -D leaves out all labels. A symbol that GNU gprof would not take never hides the name
 * that it shows for an address. Among the names of one address the one is shown that programmers
 * use: see candidates.c.
 *
 * The caller may have other rules (symbol_rules.h): they are asked about each symbol of .symtab of
 * the file itself, and symbols then end where the next one starts. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/search.h"
#include "base/strtab.h"
#include "object/answered.h"
#include "object/candidates.h"
#include "unwind/go_table.h"

/* A table that symbols are read from, and how. */
struct symbol_source {
	struct object_file *object;
	const struct elf_file *file;
	struct elf_symbols symbols;
	const struct symtab_opts *opts;
	uint64_t name_budget; /* bytes of names that may still be looked at */
	struct map64 memory;  /* state of the rules */
	bool exported_only;   /* the table lacks the functions that are not exported */
};

/* ---- names ---- */

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* `p` is at a dot: returns the end of the name, or NULL if one of its parts is not allowed. */
static const char *skip_parts(const char *p)
{
	while (*p == '.') {
		if (starts_with(p, ".clone.") && p[7])
			p += 6;
		else if (starts_with(p, ".constprop.") && p[11])
			p += 10;
		bool digits = false;
		for (p++; *p && !(digits && *p == '.'); p++) {
			if (*p < '0' || *p > '9')
				return NULL;
			digits = true;
		}
	}
	return p;
}

enum name_check symbol_name_check(const char *name, const char **end)
{
	const char *odd = name + strcspn(name, "$.");
	if (!*odd)
		return NAME_PLAIN;
	*end = *odd == '.' ? skip_parts(odd) : NULL;
	return *end ? NAME_RUNS_ON : NAME_ODD;
}

bool symbol_is_mark(const char *name)
{
	return starts_with(name, "__gnu_compiled") || starts_with(name, "___gnu_compiled");
}

/* ---- the caller's rules ---- */

static const struct elf_section *section_of(const struct symbol_source *s, uint32_t shndx)
{
	bool is_special = shndx >= SHN_LORESERVE && shndx <= SHN_HIRESERVE;
	return shndx != SHN_UNDEF && shndx < s->file->n_sections && !is_special
		       ? &s->file->sections[shndx]
		       : NULL;
}

static void add_by_rules(struct symbol_source *s, struct candidates *c, const Elf64_Sym *sym,
			 uint32_t shndx, size_t i)
{
	const struct elf_section *section = section_of(s, shndx);
	const char *strings = s->symbols.strings;
	struct table_symbol t = {
		.addr = sym->st_value,
		.name = elf_symbols_name(&s->symbols, sym),
		.strings = strings,
		.end = strings + s->symbols.strings_size,
		.has_name = sym->st_name < s->symbols.strings_size || !s->symbols.strings_size,
		.type = ELF64_ST_TYPE(sym->st_info),
		.bind = ELF64_ST_BIND(sym->st_info),
		.section = shndx,
		.section_flags = section ? section->flags : 0,
		.position = (uint32_t)i,
		.memory = &s->memory,
	};
	struct candidate taken = { .owner = NONE };
	if (s->opts->rules->take(&t, s->opts, &taken))
		vec_push(&c->all, taken);
}

/* ---- our rules ---- */

/* "$x", "$d.12" mark where code or data starts, for disassemblers. Others are symbols that
 * assemblers and linkers make for themselves. */
static bool is_marker(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("adtxv", name[1]))
		return !name[2] || name[2] == '.' || name[1] == 'x';
	return starts_with(name, ".L") || symbol_is_mark(name);
}

static bool we_take(const struct symbol_source *s, const Elf64_Sym *sym,
		    const struct elf_section *section, const char *name)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	if (!section || !elf_section_is_code(section) || !*name)
		return false;
	if (sym->st_value < section->addr || sym->st_value - section->addr >= section->size)
		return false;
	if (type == STT_NOTYPE)
		return !s->opts->functions_only && !is_marker(name);
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool name_is_plain(const char *name)
{
	const char *end;
	return symbol_name_check(name, &end) != NAME_ODD;
}

static uint32_t own_rank(const Elf64_Sym *sym, const char *name)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);
	bool is_usual = type != STT_GNU_IFUNC && (bind == STB_GLOBAL || bind == STB_WEAK ||
						  (bind == STB_LOCAL && name_is_plain(name)));
	return (is_usual ? 0 : RANK_LAST) | (type == STT_NOTYPE ? RANK_LABEL : 0) |
	       (bind == STB_LOCAL ? RANK_LOCAL : 0);
}

/* Unknown functions lie between exported ones: those end by their size. In full tables sizes are
 * missing where code was written in assembly. */
static uint64_t limit_of(const struct symbol_source *s, const Elf64_Sym *sym,
			 const struct elf_section *section)
{
	uint64_t left = section->addr + section->size - sym->st_value;
	bool is_known = (s->opts->exact || s->exported_only) &&
			ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE && sym->st_size &&
			sym->st_size < left;
	return sym->st_value + (is_known ? sym->st_size : left);
}

static void add_as_own(const struct symbol_source *s, struct candidates *c, const Elf64_Sym *sym,
		       uint32_t shndx, size_t i, uint32_t file)
{
	const char *name = elf_symbols_name(&s->symbols, sym);
	const struct elf_section *section = section_of(s, shndx);
	if (!we_take(s, sym, section, name))
		return;
	bool is_local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
	bool is_function = ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE;
	vec_push(&c->all,
		 ((struct candidate){
			 .addr = sym->st_value,
			 .limit = limit_of(s, sym, section),
			 .name = name,
			 .position = (uint32_t)i,
			 .file = is_local ? file : 0,
			 .flags = (is_function ? SYMBOL_FUNCTION : 0) |
				  (is_local ? SYMBOL_STATIC : 0) |
				  (ELF64_ST_BIND(sym->st_info) == STB_WEAK ? SYMBOL_WEAK : 0),
			 .rank = own_rank(sym, name),
			 .is_indirect = ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
			 .owner = NONE }));
}

/* ---- gathering ---- */

static bool name_is_affordable(struct symbol_source *s, const Elf64_Sym *sym)
{
	size_t n = strnlen(elf_symbols_name(&s->symbols, sym), s->name_budget);
	bool fits = n < s->name_budget;
	s->name_budget -= n;
	return fits;
}

static void gather(struct symbol_source *s, struct candidates *c)
{
	uint32_t file = 0;
	s->name_budget = candidates_name_budget(s->symbols.n, s->symbols.strings_size);
	vec_reserve(&c->all, s->symbols.n);
	for (size_t i = 1; i < s->symbols.n && i < NONE; i++) {
		Elf64_Sym sym;
		uint32_t shndx;
		if (!elf_symbols_at(&s->symbols, i, &sym, &shndx))
			continue;
		if (!name_is_affordable(s, &sym)) {
			c->too_long = true;
			return;
		}
		if (ELF64_ST_TYPE(sym.st_info) == STT_FILE)
			file++;
		else if (s->opts->rules)
			add_by_rules(s, c, &sym, shndx, i);
		else
			add_as_own(s, c, &sym, shndx, i, file);
	}
}

static bool gather_from(struct object_file *o, const struct symtab_opts *opts,
			const struct elf_file *file, uint32_t type, struct candidates *c)
{
	struct symbol_source s = {
		.object = o, .file = file, .opts = opts, .exported_only = type == SHT_DYNSYM
	};
	size_t before = c->all.n;
	if (file && elf_file_symbols(file, type, &s.symbols)) {
		gather(&s, c);
		elf_symbols_release(file, &s.symbols);
	}
	map64_free(&s.memory);
	return c->all.n > before;
}

/* The full table if there is one; else the exported symbols with the rest, which Fedora packs away,
 * and which Go's runtime has in a table of its own. */
static void gather_own(struct object_file *o, const struct symtab_opts *opts, struct candidates *c)
{
	if (gather_from(o, opts, o->main, SHT_SYMTAB, c))
		return;
	if (!o->no_debug_files && gather_from(o, opts, object_debug_file(o), SHT_SYMTAB, c))
		return;
	gather_from(o, opts, o->main, SHT_DYNSYM, c);
	if (!o->no_debug_files)
		gather_from(o, opts, object_packed_file(o), SHT_SYMTAB, c);
	candidates_add_go(c, o);
	if (opts->exact)
		candidates_add_nameless(c, o, opts);
}

bool object_is_stripped(struct object_file *o)
{
	const struct elf_file *files[] = { o->main, object_debug_file(o), object_packed_file(o) };
	bool has = o->kept != NULL;

	for (size_t i = 0; i < ARRAY_LEN(files) && !has; i++) {
		struct elf_symbols symbols;
		has = files[i] && elf_file_symbols(files[i], SHT_SYMTAB, &symbols);
		if (has)
			elf_symbols_release(files[i], &symbols);
	}
	return !has && !elf_file_go_table(o->main);
}

void object_for_each_name(struct object_file *o,
			  void (*see)(void *arg, const char *name, uint64_t addr), void *arg)
{
	static const struct symtab_opts all;
	struct candidates c = { 0 };
	if (o->kept) {
		kept_each_name(o->kept, see, arg);
		return;
	}
	gather_own(o, &all, &c);
	for (size_t i = 0; i < c.all.n && !c.too_long; i++)
		see(arg, c.all.at[i].name, c.all.at[i].addr);
	candidates_free(&c);
}

static bool is_dropped(const struct candidate *s, const struct symtab_opts *opts)
{
	return (opts->no_static && s->flags & SYMBOL_STATIC) ||
	       (opts->no_dotted && strchr(s->name, '.'));
}

/* -a leaves out static functions; split parts of other functions stay, although their symbols are
 * static. BSD's -u leaves out names with a dot likewise. */
static void drop_unwanted(struct candidates *c, const struct symtab_opts *opts)
{
	uint32_t *moved = xalloc(c->all.n * sizeof(*moved));
	size_t n = 0;
	for (size_t i = 0; i < c->all.n; i++) {
		const struct candidate *s = &c->all.at[i];
		if (s->owner != NONE)
			s = &c->all.at[s->owner];
		moved[i] = is_dropped(s, opts) ? NONE : (uint32_t)n++;
	}
	for (size_t i = 0; i < c->all.n; i++) {
		struct candidate s = c->all.at[i];
		if (moved[i] == NONE)
			continue;
		s.owner = s.owner == NONE ? NONE : moved[s.owner];
		c->all.at[moved[i]] = s;
	}
	c->all.n = n;
	free(moved);
}

static struct kin_error *gather_any(struct object_file *o, const struct symtab_opts *opts,
				    struct candidates *c)
{
	if (opts->external)
		return candidates_read(c, opts->external, opts, o);
	if (opts->rules)
		gather_from(o, opts, o->main, SHT_SYMTAB, c);
	else
		gather_own(o, opts, c);
	if (c->too_long)
		return err_new(
			KIN_ERROR_FORMAT,
			"%s: damaged symbol table: its names overlap all over the string table",
			o->path);
	if (opts->rules)
		return NULL;
	candidates_find_owners(c);
	if (opts->no_static || opts->no_dotted)
		drop_unwanted(c, opts);
	candidates_add_plt(c, o);
	return NULL;
}

uint32_t symbol_covering(const struct symbol_table *t, uint64_t addr)
{
	size_t low = COUNT_WHILE(t->n, i, t->at[i].addr <= addr);
	return low && addr < t->at[low - 1].end ? (uint32_t)(low - 1) : NONE;
}

static bool may_have_namesake(const struct symbol_table *t, size_t i)
{
	const struct object_symbol *s = &t->at[i];
	return s->flags & SYMBOL_FUNCTION && s->flags & SYMBOL_STATIC && s->owner == i &&
	       !(s->flags & SYMBOL_NAMELESS);
}

void symbol_mark_namesakes(const struct symbol_table *t, bool *marked)
{
	struct strtab *names = strtab_new();

	for (size_t i = 0; i < t->n; i++)
		if (marked[i] && may_have_namesake(t, i))
			strtab_add(names, t->at[i].name);
	size_t n = strtab_count(names);
	for (size_t i = 0; n > 1 && i < t->n; i++)
		if (may_have_namesake(t, i))
			marked[i] |= strtab_add(names, t->at[i].name) < n;
	strtab_free(names);
}

/* Keeps the symbols that were hit, their owners, and their namesakes. The first and the last stay,
 * too, so that the row of all places begins and ends as with all symbols. */
static void keep_hit(const struct object_file *o, struct symbol_table *t,
		     const struct symtab_opts *opts)
{
	uint32_t *moved = xalloc((t->n + 1) * sizeof(*moved));
	bool *kept = xalloc(t->n + 1);
	size_t n = 0;
	for (size_t i = 0; i < opts->n_hits; i++) {
		uint32_t at = symbol_covering(t, opts->hits[i]);
		if (at != NONE)
			kept[at] = kept[t->at[at].owner] = true;
	}
	if (object_table_bytes(o) <= SYMBOLS_LARGE)
		symbol_mark_namesakes(t, kept);
	if (t->n)
		kept[t->at[0].owner] = kept[t->at[t->n - 1].owner] = kept[0] = kept[t->n - 1] =
			true;
	for (size_t i = 0; i < t->n; i++) {
		moved[i] = (uint32_t)n;
		if (kept[i])
			t->at[n++] = t->at[i];
	}
	t->n = n;
	for (size_t i = 0; i < n; i++)
		t->at[i].owner = moved[t->at[i].owner];
	t->at = xrealloc(t->at, n + 1, sizeof(*t->at));
	free(kept);
	free(moved);
}

/* The cache answers only the request that reports of samples make. */
static struct answered *answered_for(struct object_file *o, const struct symtab_opts *opts)
{
	bool is_usual = opts->exact && opts->n_hits && !opts->rules && !opts->external &&
			!opts->no_static && !opts->no_dotted && !opts->functions_only;
	return is_usual ? object_answered(o) : NULL;
}

struct kin_error *object_symbols(struct object_file *o, const struct symtab_opts *opts,
				 struct symbol_table *ret)
{
	const struct symbol_rules *rules = opts->rules;
	bool needs_text = rules && rules->needs_text;
	struct candidates c = { .is_better = rules ? rules->is_better : candidate_is_plainer,
				.end_of_last = needs_text ? o->text.high : 0 };

	if (o->kept && !opts->external) {
		*ret = kept_symbols(o->kept, opts);
		if (opts->hits)
			keep_hit(o, ret, opts);
		return NULL;
	}
	struct answered *answered = answered_for(o, opts);
	if (answered && answered_symbols(answered, opts->hits, opts->n_hits, ret)) {
		keep_hit(o, ret, opts);
		nameless_name(o, ret);
		return NULL;
	}
	if (needs_text && !elf_file_section(o->main, ".text"))
		return err_about(
			err_new(KIN_ERROR_UNSUPPORTED, "%s: has no section .text", o->path),
			(struct err_facts){ ERR_NO_TEXT, o->path });
	struct kin_error *err = gather_any(o, opts, &c);
	if (err) {
		candidates_free(&c);
		return err;
	}
	*ret = candidates_finish(&c);
	if (opts->hits)
		keep_hit(o, ret, opts);
	if (opts->exact)
		nameless_name(o, ret);
	if (answered)
		answered_add_symbols(answered, opts->hits, opts->n_hits, ret);
	return NULL;
}

static uint64_t table_bytes(const struct elf_file *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; f && i < f->n_sections; i++) {
		uint32_t type = f->sections[i].type;
		if (type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_STRTAB ||
		    type == SHT_RELA || type == SHT_REL)
			sum += f->sections[i].size;
	}
	return sum;
}

uint64_t object_table_bytes(const struct object_file *o)
{
	uint64_t of_go = o->main->go ? bytes_left(&o->main->go->all) : 0;
	return table_bytes(o->main) + table_bytes(o->debug) + table_bytes(o->packed) + of_go;
}

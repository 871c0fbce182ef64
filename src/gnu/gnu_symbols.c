/* gnu_symbols.c - which symbols count in GNU gprof 2.40. It takes from .symtab of the file itself:
 *
 * - global symbols in sections that hold code;
 * - weak symbols that are defined anywhere, unless they are data objects;
 * - local symbols in code with a plain name (symbol_name_check()), except marks of old compilers.
 *   If a name ends with a part like ".constprop." (NAME_RUNS_ON), the check goes on into the string
 *   that happens to follow in the string table: only if that passes, too, is the symbol taken.
 *
 * It does not take indirect functions, unique symbols, absolute ones and undefined ones. -a leaves
 * out local symbols, but not weak ones; -D leaves out local ones that are not functions. Every
 * symbol ends where the next one starts, the last one with .text. If several names of an address
 * rank equally, the first in the file is shown. */
#include <elf.h>
#include <string.h>

#include "base/vec.h"
#include "gnu/filemap.h"
#include "gnu/rules.h"
#include "object/symbol_rules.h"

/* Checks a name as GNU does, including strings that follow it in the string table. Each string is
 * checked once: verdicts are kept by offset. */
static bool name_passes(const struct table_symbol *s, const char *name)
{
	VEC(uint32_t) passed = { 0 };
	enum name_check v;

	while ((v = symbol_name_check(name, &name)) == NAME_RUNS_ON) {
		if (++name >= s->end) {
			v = NAME_PLAIN;
			break;
		}
		uint32_t known = map64_get(s->memory, (uint64_t)(name - s->strings));
		if (known != NONE) {
			v = known;
			break;
		}
		vec_push(&passed, (uint32_t)(name - s->strings));
	}
	for (size_t i = 0; i < passed.n; i++)
		*map64_at(s->memory, passed.at[i]) = v;
	vec_free(&passed);
	return v == NAME_PLAIN;
}

static bool takes_local(const struct table_symbol *s, const struct symtab_opts *opts,
			const char *name)
{
	if (opts->no_static || (opts->functions_only && s->type != STT_FUNC) || !*name)
		return false;
	return name_passes(s, name) && !symbol_is_mark(name);
}

static bool takes(const struct table_symbol *s, const struct symtab_opts *opts, const char *name)
{
	bool is_code = s->section_flags & SHF_EXECINSTR;

	if (s->section == SHN_UNDEF || s->section == SHN_COMMON || s->type == STT_SECTION ||
	    s->type == STT_FILE || s->type == STT_GNU_IFUNC || s->type == STT_COMMON)
		return false;
	switch (s->bind) {
	case STB_GLOBAL:
		return is_code;
	case STB_WEAK:
		return s->type != STT_OBJECT;
	case STB_LOCAL:
		return is_code && takes_local(s, opts, name);
	}
	return false;
}

static bool take(const struct table_symbol *s, const struct symtab_opts *opts,
		 struct candidate *ret)
{
	const char *name = s->has_name ? s->name : "(null)"; /* BFD's name for it */
	if (!takes(s, opts, name))
		return false;
	if (opts->rules_arg)
		name = filemap_rename(name, opts->rules_arg);
	if (!name)
		return false;
	bool is_function = s->type == STT_FUNC;
	bool is_static = s->bind == STB_LOCAL;
	*ret = (struct candidate){
		.addr = s->addr,
		.limit = UINT64_MAX,
		.name = name,
		.position = s->position,
		.flags = (is_function ? SYMBOL_FUNCTION : 0) | (is_static ? SYMBOL_STATIC : 0) |
			 (s->bind == STB_WEAK ? SYMBOL_WEAK : 0),
		.rank = (is_function ? 0 : RANK_LABEL) | (is_static ? RANK_LOCAL : 0),
		.owner = NONE,
	};
	return true;
}

/* Takes all symbols of a list (-S), for which -a has no effect. */
static bool take_listed(const struct listed_symbol *s, const struct symtab_opts *opts,
			struct candidate *ret)
{
	(void)s, (void)opts;
	ret->limit = UINT64_MAX;
	return true;
}

const struct symbol_rules gnu_symbol_rules = {
	.take = take,
	.take_listed = take_listed,
	.is_better = candidate_is_better,
	.needs_text = true,
};

/* wanted.c - converts names of registers and of kinds of branches to the kernel's masks. */
#include "record/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "base/wordlist.h"
#include "machine/machine.h"

static bool is_word(struct word w, const char *name)
{
	return strlen(name) == w.n && !strncasecmp(name, w.s, w.n);
}

/* ---- registers ---- */

/* The next register name in the list that samples may have; sets *bit to its bit. */
static bool next_register(const struct machine *m, const char **names, unsigned *bit,
			  struct word *ret)
{
	for (; *bit < 64 && words_next(names, " ", ret); ++*bit)
		if (m->sample_mask >> *bit & 1)
			return true;
	return false;
}

/* The register's bit in the mask; 0: unknown name. */
static uint64_t register_bit(const struct machine *m, struct word w)
{
	const char *names = m->perf_names;
	struct word name;
	for (unsigned bit = 0; next_register(m, &names, &bit, &name); bit++)
		if (name.n == w.n && !strncasecmp(name.s, w.s, w.n))
			return UINT64_C(1) << bit;
	return 0;
}

static struct kin_error *no_register(const struct machine *m, struct word w)
{
	const char *names = m->perf_names;
	struct word name;
	char *all = xprintf("%s", "");
	for (unsigned bit = 0; next_register(m, &names, &bit, &name); bit++) {
		char *more = xprintf("%s %.*s", all, (int)name.n, name.s);
		free(all);
		all = more;
	}
	struct kin_error *err = err_new(
		KIN_ERROR_USAGE, "--intr-regs: '%.*s' is no register of a sample; those are:%s",
		w.n > 80 ? 80 : (int)w.n, w.s, all);
	free(all);
	return err;
}

struct kin_error *wanted_registers(const char *names, struct wanted_details *w)
{
	const struct machine *m = machine_native();
	struct word word;
	uint64_t all = 0;
	names += names && *names == '='; /* -I=AX, as perf accepts it */
	while (words_next(&names, ",", &word)) {
		uint64_t bit = register_bit(m, word);
		if (!bit)
			return no_register(m, word);
		all |= bit;
	}
	w->fields |= PERF_SAMPLE_REGS_INTR;
	w->registers = all ? all : m->sample_mask;
	return NULL;
}

/* ---- branches ---- */

struct kin_error *wanted_branches(const char *kinds, struct wanted_details *w)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} known[] = {
		{ "u", PERF_SAMPLE_BRANCH_USER },
		{ "k", PERF_SAMPLE_BRANCH_KERNEL },
		{ "hv", PERF_SAMPLE_BRANCH_HV },
		{ "any", PERF_SAMPLE_BRANCH_ANY },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
		{ "call", PERF_SAMPLE_BRANCH_CALL },
		{ "cond", PERF_SAMPLE_BRANCH_COND },
		{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
		{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
		{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
		{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
		{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
		{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
		{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	};
	struct word word;
	uint64_t all = 0;
	while (words_next(&kinds, ",", &word)) {
		uint64_t bit = 0;
		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (is_word(word, known[i].name))
				bit = known[i].bit;
		if (!bit)
			return err_new(KIN_ERROR_USAGE,
				       "-j: '%.*s' is no kind of branches: any, any_call, any_ret, "
				       "ind_call, call, cond, ind_jmp, u, k are",
				       word.n > 80 ? 80 : (int)word.n, word.s);
		all |= bit;
	}
	if (!(all & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		all |= PERF_SAMPLE_BRANCH_ANY;
	w->fields |= PERF_SAMPLE_BRANCH_STACK;
	w->branches |= all;
	return NULL;
}

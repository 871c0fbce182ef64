/* comparison_slots.c - the functions of a comparison, each with one slot per name, object, and, of
 * static functions, source file; and joining two of them. */
#include "report/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "report/reports.h"

/* The length of a name without the file that tells it from others: "f" of "f (a.c)". */
static size_t without_file(const char *name, const char *file)
{
	size_t n = strlen(name), k = strlen(file) + strlen(" ()");
	bool has =
		n > k && !memcmp(name + n - k, " (", 2) && !memcmp(name + n - k + 2, file, k - 3);
	return has && name[n - 1] == ')' ? n - k : n;
}

uint32_t comparison_slot(struct comparison *c, strid name, strid object, const char *file)
{
	struct compared_function f = { .name = name, .object = object };
	strid key = name;
	if (file) {
		const char *text = strtab_get(c->strings, name);
		char *plain = xprintf("%.*s", (int)without_file(text, file), text);
		char *whole = xprintf("%s (%s)", plain, file);
		f.name = strtab_add(c->strings, plain);
		f.apart = key = strtab_add(c->strings, whole);
		free(plain);
		free(whole);
	}
	uint32_t *slot = map64_at(&c->index, MAP64_PAIR(key, object));
	if (*slot == NONE) {
		*slot = (uint32_t)c->at.n;
		f.of[REPEATS_BEFORE].slot = f.of[REPEATS_AFTER].slot = NONE;
		vec_push(&c->at, f);
	}
	return *slot;
}

uint32_t comparison_slot_of(struct comparison *c, const struct comparison_recording *r, symid id)
{
	static const struct report_opts plain;
	const struct report_input *in = r->calls;
	const char *name = report_symbol_name(in, &plain, id, r->flat);
	return comparison_slot(c, strtab_add(c->strings, name),
			       strtab_add(c->strings, report_object_name(in, id)),
			       c->o.by_line ? NULL : report_static_file(in, id));
}

void comparison_join(struct comparison *c, uint32_t before, uint32_t after, enum function_fate fate)
{
	struct compared_function *b = &c->at.at[before], *a = &c->at.at[after];
	a->of[REPEATS_BEFORE] = b->of[REPEATS_BEFORE];
	a->fate = fate;
	a->other = b->name;
	a->added_up |= b->added_up;
	b->of[REPEATS_BEFORE].slot = NONE;
}

void comparison_tell_apart(struct comparison *c)
{
	struct map64 n = { 0 };
	for (size_t i = 0; i < c->at.n; i++)
		if (compared_is_there(&c->at.at[i])) {
			const struct compared_function *f = &c->at.at[i];
			uint32_t *count = map64_at(&n, MAP64_PAIR(f->name, f->object));
			*count = *count == NONE ? 1 : 2;
		}
	for (size_t i = 0; i < c->at.n; i++) {
		struct compared_function *f = &c->at.at[i];
		if (f->apart && map64_get(&n, MAP64_PAIR(f->name, f->object)) == 2)
			f->name = f->apart;
	}
	map64_free(&n);
}

/* findings.c - asks for each kind of finding, and puts them in order. */
#include "findings/findings.h"

#include <stdlib.h>
#include <string.h>

#include "findings/evidence.h"

static int by_size(const void *l, const void *r)
{
	const struct finding *a = l, *b = r;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return strcmp(a->kind, b->kind);
}

struct findings findings_new(const struct findings_input *in)
{
	static void (*const kinds[])(const struct evidence *e, struct findings *into) = {
		find_efforts,     find_busy_thread,     find_waits,
		find_nameless,    find_many_calls,      find_one_line,
		find_unoptimised, find_short_processes, find_cycles,
	};
	struct findings ret = { 0 };
	struct evidence e;

	if (!evidence_new(in, &e))
		return ret;
	ret.is_known = true;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		kinds[i](&e, &ret);
	if (ret.at.n)
		qsort(ret.at.at, ret.at.n, sizeof(*ret.at.at), by_size);
	evidence_free(&e);
	return ret;
}

void findings_done(struct findings *f)
{
	for (size_t i = 0; i < f->at.n; i++) {
		free(f->at.at[i].text);
		free(f->at.at[i].function);
	}
	vec_free(&f->at);
}

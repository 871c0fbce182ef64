/* record_against.c - translates kin record's command line into kin compare's. */
#include "cli/record_against.h"

#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

static const char door[] = "record --against";

void record_against_note(struct record_against *a, const struct opt *row, const char *arg)
{
	static const char *const shared[] = { "repeat", "frequency", "output" };
	if (row->ends || !strcmp(row->name, "event"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (!strcmp(row->name, shared[i])) {
			char *word = xprintf("--%s=%s", row->name, arg);
			vec_push(&a->words, word);
			return;
		}
	a->refused = a->refused ? a->refused : row->name;
}

char **record_against_words(struct record_against *a, const char *events, char **words, int *argc)
{
	if (a->refused) {
		message(door,
			"--%s is not among the options before it: these are -r, -F, -e and -o",
			a->refused);
		return NULL;
	}
	if (events) {
		char *word = xprintf("--event=%s", events);
		vec_push(&a->words, word);
	}
	VEC(char *) argv = { 0 };
	vec_push(&argv, UNCONST(char *, door));
	for (size_t i = 0; i < a->words.n; i++)
		vec_push(&argv, a->words.at[i]);
	for (; words && *words; words++)
		vec_push(&argv, *words);
	*argc = (int)argv.n;
	vec_push(&argv, NULL);
	return argv.at;
}

void record_against_done(struct record_against *a)
{
	for (size_t i = 0; i < a->words.n; i++)
		free(a->words.at[i]);
	vec_free(&a->words);
}

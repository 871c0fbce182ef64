/* record_against.h - kin record --against BEFORE -- AFTER: kin compare, with options in kin
 * record's spelling before "--against" and in its own behind it. */
#ifndef CLI_RECORD_AGAINST_H
#define CLI_RECORD_AGAINST_H

#include "base/vec.h"
#include "options/opt.h"

struct record_against {
	VEC(char *) words;   /* the options so far, as kin compare's; owned */
	const char *refused; /* the name of an option so far that it lacks; NULL: there is none */
};

/* Notes an option of kin record, by its table. */
void record_against_note(struct record_against *a, const struct opt_group *const *options, int id,
			 const char *arg);
/* The arguments of kin compare; [0] is its name here. `events`: all of -e, NULL if there is none;
 * `words`: those behind "--against", NULL if there are none. NULL if an option was refused, which
 * was reported. To be freed before `a`. */
char **record_against_words(struct record_against *a, const char *events, char **words, int *argc);
void record_against_done(struct record_against *a);

#endif

/* findings.h - what a check found, in the words of people, editors and servers of CI. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stdio.h>

#include "base/vec.h"

enum finding_kind {
	FINDING_CALLS, /* of a function: more than allowed */
	FINDING_TIME,  /* the same */
	FINDING_TOTAL, /* the time of all together */
	FINDING_ERROR, /* nothing could be checked */
	N_FINDING_KINDS,
};

struct finding {
	enum finding_kind kind;
	char *function; /* NULL: it is of no function */
	char *text;     /* a phrase, without the function's name */
	char *file;     /* NULL: not known */
	unsigned line;  /* 0: not known */
};

struct findings {
	VEC(struct finding) at;
	size_t checked[N_FINDING_KINDS]; /* how many of each kind were looked at */
	VEC(char *) notes;               /* sentences for people */
};

/* The strings become the list's. */
void findings_add(struct findings *f, struct finding x);
void findings_note(struct findings *f, char *text);
void findings_done(struct findings *f);

/* `format`: one of "text", "json", "github" (commands of a workflow), "gitlab" (a report of code
 * quality), "junit". Write errors stay in `out`. */
void findings_write(const struct findings *f, const char *format, FILE *out);

#endif

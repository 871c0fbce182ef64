/* check_findings.h - the findings of a check, written for people, editors and CI servers. */
#ifndef CLI_CHECK_FINDINGS_H
#define CLI_CHECK_FINDINGS_H

#include <stdio.h>

#include "base/remarks.h"
#include "base/vec.h"

enum finding_kind {
	FINDING_CALLS, /* calls of a function: more than allowed */
	FINDING_TIME,  /* time of a function: more than allowed */
	FINDING_TOTAL, /* total time: more than allowed */
	FINDING_OUT,   /* something stands out: `word` says what */
	FINDING_ERROR, /* the check could not be made */
	N_FINDING_KINDS,
};

struct check_finding {
	enum finding_kind kind;
	char *word;       /* of what stands out: "allocator"; else NULL */
	char *function;   /* NULL: not about a function */
	char *object;     /* program or library of the function; NULL: not about a function */
	bool of_several;  /* other objects have a function of that name, so the object must be
			     shown */
	char *text;       /* a statement about the function, without its name */
	char *file;       /* NULL: not known */
	unsigned line;    /* 0: not known */
	size_t functions; /* number of functions of that name in the object, added up; 0: not
			     known */
	bool begins;      /* as far as is known, the function begins at `line` */
};

struct check_findings {
	VEC(struct check_finding) at;
	size_t checked[N_FINDING_KINDS]; /* number of checks of each kind */
	struct remarks notes;            /* for people */
};

/* Takes ownership of the strings. */
void check_findings_add(struct check_findings *f, struct check_finding x);
void check_findings_done(struct check_findings *f);

/* `format`: "text", "json", "github" (workflow commands), "gitlab" (a code quality report) or
 * "junit". Write errors stay in `out`. */
void check_findings_write(const struct check_findings *f, const char *format, FILE *out);

#endif

/* findings.h - what stands out in the samples of a profile, in sentences.
 *
 * Each kind of finding is a file of its own, which looks at the same evidence (evidence.h). A
 * finding has the numbers that it rests on and the command that shows them. There is none where
 * nothing stands out, or where the samples are too few to tell (AUDIT_FEW). */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "base/vec.h"
#include "symbolize/program.h"

struct finding {
	const char *kind; /* a word for machines: "allocator"; static */
	double share;     /* of all time: the worst one comes first */
	double points;    /* half its interval, of 95 %, as a share; 0: it is counted exactly */
	char *text;       /* a sentence */
	const char *view; /* what shows it: words behind "kin"; static */
	char *function;   /* what that is to be asked about; NULL: all */
};

struct findings {
	VEC(struct finding) at; /* by share, the largest first */
	bool is_known;          /* there were enough samples to find any */
};

struct findings_input {
	const struct profile *profile;
	struct program *program;
	/* Whether a function of a frame is code of the program's own project: `depth` others are
	 * inlined into it. */
	bool (*is_own)(void *arg, frameid frame, size_t depth);
	void *arg;
	/* The compiler that made the frame's code, and its options; NULL: not known. */
	const char *(*producer)(void *arg, frameid frame);
};

/* Cost: a visit of each frame, stack and sample. */
struct findings findings_new(const struct findings_input *in);
void findings_done(struct findings *f);

#endif

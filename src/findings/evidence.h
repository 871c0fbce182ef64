/* evidence.h - what all findings look at: who the time of each stack was spent for, and on what. */
#ifndef FINDINGS_EVIDENCE_H
#define FINDINGS_EVIDENCE_H

#include "findings/efforts.h"
#include "findings/findings.h"

/* Below a tenth it is not what to look at first. */
#define EVIDENCE_LEAST 0.1

struct own_place {      /* of an own function */
	frameid frame;  /* 0: there is none */
	uint32_t depth; /* how many functions are inlined into it there */
};

struct evidence {
	const struct findings_input *in;
	const struct samples *samples;
	uint16_t event;       /* samples_event() */
	symid *own;           /* [stack]: the innermost own function on it; NONE: none */
	uint8_t *spent;       /* [stack]: efforts below that function, 1 << enum effort */
	struct own_place *at; /* [stack]: where that function is */
	double weight, count; /* of all samples of the event */
};

/* False: there are too few samples for any finding, and nothing to free. */
bool evidence_new(const struct findings_input *in, struct evidence *ret);
void evidence_free(struct evidence *e);

/* Half the interval of a share, by the number of samples. */
double evidence_points(const struct evidence *e, double share);
/* "23 % of the time (± 2)"; to be freed. */
char *evidence_share(const struct evidence *e, double share);
/* The name of a function, and the same as people read it; to be freed. */
char *evidence_function(const struct evidence *e, symid function);
char *evidence_name(const struct evidence *e, symid function);
struct own_share {
	symid function;
	double share;
};
/* "parse 18 %, main 3 %": the own functions with most of `shares` [n], up to three; "" if there is
 * none. Sorts them. To be freed. */
char *evidence_owners(const struct evidence *e, struct own_share *shares, size_t n);

/* The kinds, each in its file. */
void find_efforts(const struct evidence *e, struct findings *into);
void find_busy_thread(const struct evidence *e, struct findings *into);
void find_waits(const struct evidence *e, struct findings *into);
void find_nameless(const struct evidence *e, struct findings *into);
void find_many_calls(const struct evidence *e, struct findings *into);
void find_one_line(const struct evidence *e, struct findings *into);
void find_cycles(const struct evidence *e, struct findings *into);
void find_unoptimised(const struct evidence *e, struct findings *into);
void find_short_processes(const struct evidence *e, struct findings *into);

#endif

/* spreads.h - what differs over the ranks of a parallel job: of each function and each call the sum
 * over ranks, the least, the most, and on which rank.
 *
 * All numbers are exact, so sets of different ranks can be joined in any order and grouping with
 * the same result. A rank that has nothing of a function counts with 0. Which functions there are
 * was found out rank by rank, before ranks were joined: it takes no addresses of all of them, and a
 * set is as large as the program and not as the job. */
#ifndef PROFILE_SPREADS_H
#define PROFILE_SPREADS_H

#include "base/records.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "profile/profile_samples.h"

__extension__ typedef unsigned __int128 spread_sum;

struct spread {
	spread_sum sum, squares; /* stay at the largest value */
	uint64_t min, max;
	uint32_t min_rank, max_rank; /* the lowest of those that have it */
	uint32_t n;                  /* ranks that have more than 0 */
};

enum spread_kind {
	SPREAD_ALL,       /* of the rank: all its time */
	SPREAD_WORK,      /* of the rank: without that in calls of MPI */
	SPREAD_MPI,       /* of the rank: that in calls of MPI */
	SPREAD_SELF,      /* of a function: its own time */
	SPREAD_OWN_WORK,  /* the same without that on behalf of MPI */
	SPREAD_INCLUSIVE, /* with what it called */
	SPREAD_CALLS,     /* how often it was called, as counted */
	SPREAD_ARC,       /* of a caller and a callee: time in the callee then */
	SPREAD_ARC_CALLS, /* calls, as counted */
	N_SPREAD_KINDS
};

struct spread_function { /* all 0: none */
	strid name;      /* as the linker has it */
	objid object;
	uint64_t addr;    /* where it begins in the object; 0: no symbol says that */
	uint32_t inlined; /* 1: of it only where it was inlined */
};

struct spread_row {
	uint32_t kind;                   /* enum spread_kind */
	uint32_t unit;                   /* enum event_unit */
	strid event;                     /* its name; 0 for numbers of calls */
	struct spread_function from, to; /* a function is in `to`; from: of arcs */
	struct spread of;
};

struct rank_range {
	uint32_t first, last; /* from 0 */
};

struct spread_set {
	struct strtab *strings;
	VEC(struct spread_row) rows;
	VEC(struct rank_range) ranks; /* of which it is: ascending, apart from each other */
	uint32_t twice;               /* rank + 1 that was joined with itself; 0: none was */
	/* private */
	struct records index;
	VEC(uint32_t) met; /* by row: the last join that had it */
	uint32_t joins;
};

struct spread_set *spread_set_new(void);
void spread_set_free(struct spread_set *s); /* NULL is fine */
strid spread_set_string(struct spread_set *s, const char *text);
/* Ranks it is of; those that it is of already are noted as `twice`. */
void spread_set_add_ranks(struct spread_set *s, struct rank_range r);
/* A row; texts are the set's. Equal ones are added up, as if of different ranks. */
void spread_set_add(struct spread_set *s, const struct spread_row *row);
/* Adds all of `from`, of other ranks. objects: what its objects are in `into`; NULL: the same. */
void spread_set_join(struct spread_set *into, const struct spread_set *from, const objid *objects);
/* In an order that depends on nothing but the rows; nothing is added then. */
void spread_set_sort(struct spread_set *s);

/* Of one rank: a value that is not 0. */
struct spread spread_of(uint32_t rank, uint64_t value);
/* How many ranks the set is of; of those ranges. */
uint64_t spread_set_count(const struct spread_set *s);
bool spread_set_has(const struct spread_set *s, uint32_t rank);
/* "3, 5-7": those below `ranks` that it is not of, at most some; to be freed. NULL: it has all. */
char *spread_set_missing(const struct spread_set *s, uint32_t ranks);
/* Over n ranks; n > 0. */
double spread_mean(const struct spread *s, uint64_t n);
double spread_deviation(const struct spread *s, uint64_t n);

#endif

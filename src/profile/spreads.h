/* spreads.h - differences between the ranks of a parallel job: for each function and each call the
 * sum over ranks, minimum and maximum, and their ranks.
 *
 * All numbers are exact, so sets of different ranks can be joined in any order and grouping with
 * the same result. A rank without a function counts as 0. Functions were resolved rank by rank
 * before sets were joined. So the addresses of all ranks are never needed at once, and the size of
 * a set depends on the program, not on the number of ranks. */
#ifndef PROFILE_SPREADS_H
#define PROFILE_SPREADS_H

#include "base/records.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "profile/profile_samples.h"

__extension__ typedef unsigned __int128 spread_sum;

struct spread {
	spread_sum sum, squares; /* saturate at the largest value */
	uint64_t min, max;
	uint32_t min_rank, max_rank; /* the lowest rank that has the minimum, the maximum */
	uint32_t n;                  /* ranks that have more than 0 */
};

enum spread_kind {
	SPREAD_ALL,       /* rank: all its time */
	SPREAD_WORK,      /* rank: time outside of MPI calls */
	SPREAD_MPI,       /* rank: time in MPI calls */
	SPREAD_SELF,      /* function: self time */
	SPREAD_OWN_WORK,  /* function: self time, not on behalf of MPI */
	SPREAD_INCLUSIVE, /* function: inclusive time */
	SPREAD_CALLS,     /* function: counted calls */
	SPREAD_ARC,       /* arc: inclusive time of the callee under the caller */
	SPREAD_ARC_CALLS, /* arc: counted calls */
	N_SPREAD_KINDS
};

struct spread_function { /* all 0: none */
	strid name;      /* linkage name */
	objid object;
	uint64_t addr;    /* start of the function in the object; 0: it has no symbol */
	uint32_t inlined; /* 1: only its inlined instances */
};

struct spread_row {
	uint32_t kind;                   /* enum spread_kind */
	uint32_t unit;                   /* enum event_unit */
	strid event;                     /* name of the event; 0 for counted calls */
	struct spread_function from, to; /* `to`: the function, or the callee; `from`: the caller */
	struct spread of;
};

struct rank_range {
	uint32_t first, last; /* from 0 */
};

struct spread_set {
	struct strtab *strings;
	VEC(struct spread_row) rows;
	VEC(struct rank_range) ranks; /* ranks in the set: ascending, disjoint */
	uint32_t twice;               /* rank + 1 of a rank that was joined with itself; 0: none */
	bool is_part; /* made for a part of the data by thread, object or time: there are no rows */
	/* private */
	struct records index;
	VEC(uint32_t) met; /* [row]: the last join whose `from` had the row */
	uint32_t joins;
};

struct spread_set *spread_set_new(void);
void spread_set_free(struct spread_set *s); /* NULL is fine */
strid spread_set_string(struct spread_set *s, const char *text);
/* Adds ranks; a rank that the set already has is noted in `twice`. */
void spread_set_add_ranks(struct spread_set *s, struct rank_range r);
/* Adds a row; its string ids must be those of the set. Rows with equal keys are joined as if they
 * came from different ranks. */
void spread_set_add(struct spread_set *s, const struct spread_row *row);
/* Adds all of `from`, which has other ranks. objects[] maps its object ids to those of `into`;
 * NULL: they are the same. */
void spread_set_join(struct spread_set *into, const struct spread_set *from, const objid *objects);
/* A copy with the events for which wants() is true, and the counted calls. To be freed. */
struct spread_set *spread_set_select(const struct spread_set *s,
				     bool (*wants)(const char *event, const void *arg),
				     const void *arg);
/* A copy with the ranks but without rows, for a part by thread, object or time: sums cannot be
 * split that way. To be freed. */
struct spread_set *spread_set_part(const struct spread_set *s);
/* Sorts rows by content alone. Nothing may be added afterwards. */
void spread_set_sort(struct spread_set *s);

/* The spread of one rank's value, which is not 0. */
struct spread spread_of(uint32_t rank, uint64_t value);
/* The number of ranks in the set. */
uint64_t spread_set_count(const struct spread_set *s);
bool spread_set_has(const struct spread_set *s, uint32_t rank);
/* Ranks below `ranks` that are missing from the set, shortened if many: "3, 5-7"; to be freed.
 * NULL: none. */
char *spread_set_missing(const struct spread_set *s, uint32_t ranks);
/* Mean over n ranks; n > 0. */
double spread_mean(const struct spread *s, uint64_t n);
double spread_deviation(const struct spread *s, uint64_t n);

#endif

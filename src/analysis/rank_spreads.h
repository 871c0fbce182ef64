/* rank_spreads.h - what differs over the ranks of a profile: measured rank by rank, from samples
 * and counted calls. */
#ifndef ANALYSIS_RANK_SPREADS_H
#define ANALYSIS_RANK_SPREADS_H

#include "profile/spreads.h"
#include "symbolize/program.h"

/* Of all of the profile: the ranks that its tasks are of, and what it has of ranks that were summed
 * before. `g` has names of functions, inlined ones among them. Objects are the profile's. Never
 * NULL; of no ranks where there are none. */
struct spread_set *rank_spreads_new(const struct profile *p, struct program *g);

/* Whether a function is one of MPI's: MPI_Send, PMPI_Send, and mpi_send_ for Fortran. */
bool rank_spreads_is_mpi(const char *name);

#endif

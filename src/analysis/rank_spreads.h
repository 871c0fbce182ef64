/* rank_spreads.h - differences between the ranks of a profile: computed rank by rank, from samples
 * and counted calls. */
#ifndef ANALYSIS_RANK_SPREADS_H
#define ANALYSIS_RANK_SPREADS_H

#include "profile/spreads.h"
#include "symbolize/program.h"

/* The differences between all ranks of the profile's tasks, joined with those of ranks that were
 * summed before. `g` has names of functions, including inlined ones. Objects are the profile's.
 * Never NULL; without ranks it is empty. */
struct spread_set *rank_spreads_new(const struct profile *p, struct program *g);

/* Whether a function belongs to MPI: MPI_Send, PMPI_Send, and mpi_send_ for Fortran. */
bool rank_spreads_is_mpi(const char *name);

/* The error that a rank (from 0) is in a sum over ranks and also in another file. */
struct kin_error *rank_spreads_twice(uint32_t rank);

#endif

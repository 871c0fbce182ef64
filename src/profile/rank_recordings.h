/* rank_recordings.h - the recordings of ranks of a parallel job that were read into a profile. One
 * that is read a second time, as a copy of its file, would count its rank twice. */
#ifndef PROFILE_RANK_RECORDINGS_H
#define PROFILE_RANK_RECORDINGS_H

#include "base/records.h"
#include "base/strtab.h"
#include "base/vec.h"

/* What identifies one. A rank may have several: of its processes, of the runtime and of kin record,
 * and one after the other. */
struct rank_recording {
	uint32_t writer, rank, pid;
	strid job;
	uint64_t start_ns, start_time_ns; /* on the clock of its samples, and since 1970 */
	strid path;                       /* where it was read */
};

struct rank_recordings {
	VEC(struct rank_recording) at;
	/* private */
	struct records index;
};

/* Adds one. NULL; or the same one, if it is there already. */
const struct rank_recording *rank_recordings_add(struct rank_recordings *all,
						 const struct rank_recording *r);
void rank_recordings_done(struct rank_recordings *all);

#endif

/* rank_recordings.h - the rank recordings of a parallel job that were read into a profile. A copy
 * of a recording would count its rank twice, so it has to be recognised. */
#ifndef PROFILE_RANK_RECORDINGS_H
#define PROFILE_RANK_RECORDINGS_H

#include "base/records.h"
#include "base/strtab.h"
#include "base/vec.h"

/* The identity of a recording. A rank may have several recordings: of its processes, by the runtime
 * and by kin record, and one after the other. */
struct rank_recording {
	uint32_t writer, rank, pid;
	strid job;
	uint64_t start_ns, start_time_ns; /* start of the recording: on the clock of its samples,
					     and since 1970 */
	strid path;                       /* the file it was read from */
};

struct rank_recordings {
	VEC(struct rank_recording) at;
	/* private */
	struct records index;
};

/* Adds a recording. Returns NULL, or the equal recording that is there already. */
const struct rank_recording *rank_recordings_add(struct rank_recordings *all,
						 const struct rank_recording *r);
void rank_recordings_done(struct rank_recordings *all);

#endif

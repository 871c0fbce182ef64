/* rank_recordings.c - a set of recordings, by their identity. */
#include "profile/rank_recordings.h"

#include "base/map64.h"

static uint64_t recording_hash(const void *recording)
{
	const struct rank_recording *r = recording;
	uint64_t hash = records_mix(MAP64_PAIR(r->writer, r->rank), MAP64_PAIR(r->pid, r->job));
	return records_mix(records_mix(hash, r->start_ns), r->start_time_ns);
}

static bool recording_same(const void *a, const void *b)
{
	const struct rank_recording *x = a, *y = b;
	return x->writer == y->writer && x->rank == y->rank && x->pid == y->pid &&
	       x->job == y->job && x->start_ns == y->start_ns &&
	       x->start_time_ns == y->start_time_ns;
}

static const struct records_kind recording_records = { sizeof(struct rank_recording),
						       recording_hash, recording_same };

const struct rank_recording *rank_recordings_add(struct rank_recordings *all,
						 const struct rank_recording *r)
{
	uint32_t id =
		records_add(&all->index, &recording_records, all->at.at, r, (uint32_t)all->at.n);

	if (id < all->at.n)
		return &all->at.at[id];
	vec_push(&all->at, *r);
	return NULL;
}

void rank_recordings_done(struct rank_recordings *all)
{
	vec_free(&all->at);
	records_free(&all->index);
}

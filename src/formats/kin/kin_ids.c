/* kin_ids.c - maps ids of definitions in a file to ids of the profile. */
#include "base/search.h"
#include "formats/kin/kin_read.h"

void kinfile_ids_free(struct kinfile_ids *ids)
{
	vec_free(&ids->stretches);
	vec_free(&ids->values);
}

void kinfile_ids_continue(struct kinfile_ids *ids, uint32_t first)
{
	while (first < ids->next && ids->stretches.n) {
		struct kinfile_stretch *last = &ids->stretches.at[ids->stretches.n - 1];
		if (last->first < first) {
			uint64_t end = last->at + (uint64_t)(first - last->first);
			if (end < ids->values.n)
				ids->values.n = (size_t)end;
			break;
		}
		ids->values.n = last->at;
		ids->stretches.n--;
	}
	ids->next = first;
}

void kinfile_ids_add(struct kinfile_ids *ids, uint32_t value)
{
	struct kinfile_stretch *last =
		ids->stretches.n ? &ids->stretches.at[ids->stretches.n - 1] : NULL;

	if (!last || last->first + (ids->values.n - last->at) != ids->next)
		vec_push(&ids->stretches,
			 ((struct kinfile_stretch){ ids->next, (uint32_t)ids->values.n }));
	vec_push(&ids->values, value);
	ids->next++;
}

uint32_t kinfile_ids_find(const struct kinfile_ids *ids, uint32_t id)
{
	if (!id)
		return 0;
	/* number of stretches that begin at or before the id */
	size_t low = COUNT_WHILE(ids->stretches.n, i, ids->stretches.at[i].first <= id);
	if (!low)
		return NONE;
	const struct kinfile_stretch *s = &ids->stretches.at[low - 1];
	uint64_t end = low < ids->stretches.n ? s[1].at : ids->values.n;
	uint64_t at = s->at + (uint64_t)(id - s->first);
	return at < end ? ids->values.at[at] : NONE;
}

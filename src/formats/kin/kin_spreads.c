/* kin_spreads.c - reads records of differences between the ranks of a job, in files with sums over
 * ranks. */
#include "profile/spreads.h"

#include "formats/kin/kin_records.h"

_Static_assert((unsigned)KINF_SPREAD_WORK == (unsigned)SPREAD_WORK &&
		       (unsigned)KINF_SPREAD_CALLS == (unsigned)SPREAD_CALLS &&
		       (unsigned)KINF_N_SPREADS == (unsigned)N_SPREAD_KINDS,
	       "kinds are the same");

static struct spread_set *set_of(struct kinfile_stream *s)
{
	if (!s->f->spreads)
		s->f->spreads = spread_set_new();
	return s->f->spreads;
}

void kinfile_read_ranks(struct kinfile_stream *s)
{
	uint64_t n = bytes_uleb(&s->in), next = 0;

	for (uint64_t i = 0; i < n && !s->in.failed; i++) {
		uint64_t first = next + kinfile_take32(&s->in);
		uint64_t last = first + kinfile_take32(&s->in);
		/* Each range begins after the previous one. */
		if (last >= UINT32_MAX || (i && first <= next))
			bytes_fail(&s->in);
		else if (!s->in.failed)
			spread_set_add_ranks(
				set_of(s), (struct rank_range){ (uint32_t)first, (uint32_t)last });
		next = last;
	}
}

/* Converts an id of the file to one of the set. */
static strid take_string(struct kinfile_stream *s, uint32_t id)
{
	uint32_t known = kinfile_find(s, KINF_R_STRING, id);

	return known == NONE ? 0 : spread_set_string(set_of(s), profile_string(s->f->into, known));
}

/* Reads a function. False: its module is not known. */
static bool take_function(struct kinfile_stream *s, struct spread_function *ret)
{
	uint32_t is_there = kinfile_take32(&s->in);

	*ret = (struct spread_function){ 0 };
	if (!is_there)
		return true;
	if (is_there != 1 && is_there != 3)
		bytes_fail(&s->in);
	ret->inlined = is_there == 3;
	ret->object = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in));
	ret->addr = bytes_uleb(&s->in);
	ret->name = take_string(s, kinfile_take32(&s->in));
	return ret->object != NONE;
}

static spread_sum take_sum(struct kinfile_stream *s)
{
	spread_sum low = bytes_uleb(&s->in);

	return low | (spread_sum)bytes_uleb(&s->in) << 64;
}

void kinfile_read_spread(struct kinfile_stream *s)
{
	struct spread_row row = { .kind = kinfile_take32(&s->in) };

	row.event = take_string(s, kinfile_take32(&s->in));
	row.unit = kinfile_take32(&s->in) == KINF_NS ? EVENT_NS : EVENT_COUNT;
	bool known = take_function(s, &row.from);
	known = take_function(s, &row.to) && known;
	row.of.n = kinfile_take32(&s->in);
	row.of.sum = take_sum(s);
	row.of.squares = take_sum(s);
	row.of.min = bytes_uleb(&s->in);
	row.of.min_rank = kinfile_take32(&s->in);
	row.of.max = bytes_uleb(&s->in);
	row.of.max_rank = kinfile_take32(&s->in);
	if (row.kind >= N_SPREAD_KINDS || row.of.min > row.of.max)
		bytes_fail(&s->in);
	if (s->in.failed)
		return;
	if (known)
		spread_set_add(set_of(s), &row);
	else
		profile_audit(s->f->into)->unresolved++;
}

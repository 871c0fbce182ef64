/* kin_sums.c - reads records of sums, which "kin merge" writes besides samples. */
#include <string.h>

#include "base/capped.h"
#include "base/err.h"
#include "formats/kin/kin_records.h"

/* Reads the two ends of an arc or a latency record; false if one is not known. */
static bool read_ends(struct kinfile_stream *s, struct arc *a)
{
	a->from_object = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in));
	a->from = bytes_uleb(&s->in);
	a->to_object = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in));
	a->to = bytes_uleb(&s->in);
	return a->from_object != NONE && a->to_object != NONE;
}

void kinfile_read_arc(struct kinfile_stream *s)
{
	struct arc a = { 0 };
	bool known = read_ends(s, &a);
	uint32_t id = kinfile_take32(&s->in), task = kinfile_find(s, KINF_R_TASK, id);

	a.count = bytes_uleb(&s->in);
	if (s->in.failed)
		return;
	if (!known || task == NONE) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	if (!id) {
		profile_add_arc(s->f->into, a);
		s->f->source->n_arcs++;
		return;
	}
	profile_add_task_arc(s->f->into, (struct task_arc){ .from = a.from,
							    .to = a.to,
							    .count = a.count,
							    .from_object = a.from_object,
							    .to_object = a.to_object,
							    .task = task });
}

void kinfile_read_count(struct kinfile_stream *s)
{
	uint32_t object = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in));
	struct block b = { .addr = bytes_uleb(&s->in) };

	b.count = bytes_uleb(&s->in);
	if (s->in.failed)
		return;
	b.object = object;
	if (object == NONE) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	profile_add_block(s->f->into, b);
	if (!s->f->source->n_blocks++)
		profile_add_block_record(s->f->into);
}

/* Reads a pair of a number, stored as the difference to the previous one, and a count. False at the
 * end, or if the number is not below `limit`. */
static bool next_pair(struct kinfile_stream *s, uint64_t *left, uint64_t limit, uint64_t *number,
		      uint64_t *count)
{
	if (!*left || s->in.failed)
		return false;
	--*left;
	if (__builtin_add_overflow(*number, bytes_uleb(&s->in), number) || *number >= limit)
		s->in.failed = true;
	*count = bytes_uleb(&s->in);
	return !s->in.failed;
}

void kinfile_read_latency(struct kinfile_stream *s)
{
	uint64_t bucket[LATENCY_BUCKETS] = { 0 }, i = 0, n;
	struct latency l = { .bucket = bucket };
	struct arc a = { 0 };
	bool known = read_ends(s, &a);

	l.count = bytes_uleb(&s->in);
	l.sum_ns = bytes_uleb(&s->in);
	l.min_ns = bytes_uleb(&s->in);
	l.max_ns = bytes_uleb(&s->in);
	for (uint64_t left = bytes_uleb(&s->in); next_pair(s, &left, LATENCY_BUCKETS, &i, &n);)
		bucket[i] = n;
	if (s->in.failed)
		return;
	if (!known) {
		profile_audit(s->f->into)->unresolved++;
		return;
	}
	l.from = a.from;
	l.to = a.to;
	l.from_object = a.from_object;
	l.to_object = a.to_object;
	profile_add_latency(s->f->into, l);
}

void kinfile_read_probes(struct kinfile_stream *s)
{
	static const uint64_t no_bucket[LATENCY_BUCKETS];
	struct arc a = { 0 };
	bool known = read_ends(s, &a);
	uint64_t ns = bytes_uleb(&s->in);

	if (!s->in.failed && known)
		profile_add_latency(s->f->into, (struct latency){ .from = a.from,
								  .to = a.to,
								  .from_object = a.from_object,
								  .to_object = a.to_object,
								  .bucket = no_bucket,
								  .probes_ns = ns });
}

/* Reads a histogram with its bins. Other records may have further bins of the same range. */
void kinfile_read_histogram(struct kinfile_stream *s)
{
	enum { MAX_BINS = 1 << 28 }; /* as for gmon.out */
	struct histogram h = { .object = kinfile_find(s, KINF_R_MODULE, kinfile_take32(&s->in)) };
	uint64_t bin = 0, n;
	size_t at = 0;

	h.low = bytes_uleb(&s->in);
	h.high = bytes_uleb(&s->in);
	h.n = kinfile_take32(&s->in);
	h.rate = kinfile_take32(&s->in);
	struct kinfile_text dimension = kinfile_take_text(&s->in);
	h.abbrev = (char)bytes_uleb(&s->in);
	if (s->in.failed || dimension.n >= sizeof(h.dimension) || h.low > h.high ||
	    h.n > h.high - h.low || h.n > MAX_BINS) {
		s->in.failed = true;
		return;
	}
	memcpy(h.dimension, dimension.s, dimension.n);
	struct kin_error *err = NULL;
	bool known = h.object != NONE;
	if (known)
		err = profile_begin_histogram(s->f->into, h, &at);
	if (err && !s->f->err)
		s->f->err = err_wrap(err, "%s", s->f->w->b.name);
	else
		kin_error_free(err);
	for (uint64_t left = bytes_uleb(&s->in); next_pair(s, &left, h.n, &bin, &n);)
		if (known && !err)
			profile_add_bins(s->f->into, at, (uint32_t)bin, &n, 1);
	if (!known)
		profile_audit(s->f->into)->unresolved++;
	s->f->source->n_histograms++;
}

void kinfile_read_audit(struct kinfile_stream *s)
{
	struct audit *a = profile_audit(s->f->into);
	uint64_t *const sums[KINF_N_AUDIT] = {
		[KINF_AUDIT_LOST] = &a->lost,
		[KINF_AUDIT_THROTTLED] = &a->throttled,
		[KINF_AUDIT_TRUNCATED] = &a->truncated,
		[KINF_AUDIT_COMPLETE] = &a->complete,
		[KINF_AUDIT_UNRESOLVED] = &a->unresolved,
		[KINF_AUDIT_SWITCHES] = &a->switches,
		[KINF_AUDIT_PREEMPTIONS] = &a->preemptions,
		[KINF_AUDIT_CPU_NS] = &a->cpu_ns,
		[KINF_AUDIT_SAMPLED_NS] = &a->sampled_ns,
		[KINF_AUDIT_DURATION_NS] = &a->duration_ns,
		[KINF_AUDIT_LOST_ARCS] = &a->lost_arcs,
		[KINF_AUDIT_LOST_BLOCKS] = &a->lost_blocks,
		[KINF_AUDIT_LOST_THREADS] = &a->lost_threads,
		[KINF_AUDIT_LOST_MODULES] = &a->lost_modules,
		[KINF_AUDIT_GUESSED] = &a->guessed,
		[KINF_AUDIT_HOOKS_NS] = &a->hooks_ns,
		[KINF_AUDIT_BEYOND] = &a->beyond,
		[KINF_AUDIT_CHECKED] = &a->checked,
		[KINF_AUDIT_CONTRADICTED] = &a->contradicted,
	};
	uint64_t n = bytes_uleb(&s->in);

	for (uint64_t i = 0; i < n && !s->in.failed; i++) {
		uint64_t v = bytes_uleb(&s->in);
		if (i < KINF_N_AUDIT && sums[i])
			capped_add(sums[i], v);
		else if (i == KINF_AUDIT_SATURATED && v)
			profile_note_saturated(s->f->into);
		s->f->has_switches |= i == KINF_AUDIT_SWITCHES && v;
	}
}

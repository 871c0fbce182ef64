/* kin_records.h - reads the fields of a sealed block's records. */
#ifndef INPUT_KIN_RECORDS_H
#define INPUT_KIN_RECORDS_H

#include "base/bytes.h"
#include "base/capped.h"
#include "formats/kin/kin_read.h"

struct kinfile_text {
	const char *s;
	size_t n;
};

struct kinfile_stream {
	struct kinfile *f;
	struct bytes in;
	uint64_t time_ns;   /* of the last record that has a time */
	uint32_t sampled;   /* file id of the event of the sample that the following records belong
			       to; 0: none */
	struct sample like; /* that sample */
	bool is_held;       /* that sample is not added yet: see by_first */
	strid trace;        /* text of that sample's trace-point fields; 0: none */
};

/* A number that must fit 32 bits. */
static inline uint32_t kinfile_take32(struct bytes *in)
{
	uint64_t v = bytes_uleb(in);

	if (v > UINT32_MAX)
		bytes_fail(in);
	return (uint32_t)v;
}

static inline struct kinfile_text kinfile_take_text(struct bytes *in)
{
	uint64_t n = bytes_uleb(in);
	struct bytes text = bytes_take(in, n);

	return (struct kinfile_text){ (const char *)text.pos, bytes_left(&text) };
}

/* A signed number, modulo 2^64. */
static inline uint64_t kinfile_take_signed(struct bytes *in)
{
	uint64_t v = bytes_uleb(in);

	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

static inline uint64_t kinfile_take_time(struct kinfile_stream *s)
{
	return s->time_ns += kinfile_take_signed(&s->in);
}

/* The profile's id of a definition in the file; 0 for 0, NONE if unknown. */
static inline uint32_t kinfile_find(const struct kinfile_stream *s, enum kinf_record kind,
				    uint32_t id)
{
	return kinfile_ids_find(&s->f->ids[kind], id);
}

/* kin_sums.c: records of kin merge */
void kinfile_read_arc(struct kinfile_stream *s);
void kinfile_read_count(struct kinfile_stream *s);
void kinfile_read_latency(struct kinfile_stream *s);
void kinfile_read_probes(struct kinfile_stream *s);
void kinfile_read_histogram(struct kinfile_stream *s);
void kinfile_read_audit(struct kinfile_stream *s);

/* kin_spreads.c: differences between ranks */
void kinfile_read_ranks(struct kinfile_stream *s);
void kinfile_read_spread(struct kinfile_stream *s);

/* kin_trace.c: fields of trace points */
void kinfile_read_trace_format(struct kinfile_stream *s);
void kinfile_read_trace_strings(struct kinfile_stream *s);
void kinfile_read_trace_function(struct kinfile_stream *s);
void kinfile_read_trace_fields(struct kinfile_stream *s, uint32_t event);
void kinfile_read_trace_text(struct kinfile_stream *s, uint32_t event);

/* Adds the sample that was held back, if there is one. */
static inline void kinfile_add_held(struct kinfile_stream *s)
{
	if (s->is_held)
		profile_add_sample(s->f->into, s->like);
	s->is_held = false;
}

/* kin_details.c: details of samples */
void kinfile_read_details(struct kinfile_stream *s, uint32_t event);
struct kinfile_traces *kinfile_traces_new(void);
void kinfile_traces_free(struct kinfile_traces *t); /* NULL is fine */

#endif

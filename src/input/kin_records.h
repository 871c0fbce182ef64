/* kin_records.h - the fields of a sealed block's records, for those who read them. */
#ifndef INPUT_KIN_RECORDS_H
#define INPUT_KIN_RECORDS_H

#include "base/bytes.h"
#include "input/kin_read.h"

struct kin_text {
	const char *s;
	size_t n;
};

struct kin_stream {
	struct kin_file *f;
	struct bytes in;
	uint64_t time_ns; /* of the last record that has one */
	uint32_t sampled; /* event, in the file, of the record before, if that is a sample; 0 */
};

/* A number that must fit 32 bits. */
static inline uint32_t kin_take32(struct bytes *in)
{
	uint64_t v = bytes_uleb(in);

	if (v > UINT32_MAX)
		bytes_fail(in);
	return (uint32_t)v;
}

static inline struct kin_text kin_take_text(struct bytes *in)
{
	uint64_t n = bytes_uleb(in);
	struct bytes text = bytes_take(in, n);

	return (struct kin_text){ (const char *)text.pos, bytes_left(&text) };
}

/* A signed number, modulo 2^64. */
static inline uint64_t kin_take_signed(struct bytes *in)
{
	uint64_t v = bytes_uleb(in);

	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

static inline uint64_t kin_take_time(struct kin_stream *s)
{
	return s->time_ns += kin_take_signed(&s->in);
}

/* The profile's id of a definition of the file; 0 for 0, NONE if it is not known. */
static inline uint32_t kin_find(const struct kin_stream *s, enum kinf_record kind, uint32_t id)
{
	return kin_ids_find(&s->f->ids[kind], id);
}

static inline void kin_add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* kin_sums.c: what kin merge writes */
void kin_read_arc(struct kin_stream *s);
void kin_read_count(struct kin_stream *s);
void kin_read_latency(struct kin_stream *s);
void kin_read_probes(struct kin_stream *s);
void kin_read_histogram(struct kin_stream *s);
void kin_read_audit(struct kin_stream *s);

/* kin_trace.c: fields of trace points */
void kin_read_trace_format(struct kin_stream *s);
void kin_read_trace_function(struct kin_stream *s);
void kin_read_trace_fields(struct kin_stream *s, uint32_t event);
void kin_read_trace_text(struct kin_stream *s, uint32_t event);
struct kin_traces *kin_traces_new(void);
void kin_traces_free(struct kin_traces *t); /* NULL is fine */

#endif

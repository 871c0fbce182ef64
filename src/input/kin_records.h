/* kin_records.h - the fields of a sealed block's records, for those who read them. */
#ifndef INPUT_KIN_RECORDS_H
#define INPUT_KIN_RECORDS_H

#include "input/kin_read.h"

/* A cursor that fails once and for all. */
struct kin_fields {
	const uint8_t *p, *end;
	bool bad;
};

struct kin_text {
	const char *s;
	size_t n;
};

struct kin_stream {
	struct kin_file *f;
	struct kin_fields in;
	uint64_t time_ns; /* of the last record that has one */
};

static inline uint64_t kin_take(struct kin_fields *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->p < in->end && shift < 64; shift += 7) {
		uint8_t byte = *in->p++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	in->bad = true;
	in->p = in->end;
	return 0;
}

/* A number that must fit 32 bits. */
static inline uint32_t kin_take32(struct kin_fields *in)
{
	uint64_t v = kin_take(in);

	if (v > UINT32_MAX)
		in->bad = true;
	return (uint32_t)v;
}

static inline struct kin_text kin_take_text(struct kin_fields *in)
{
	uint64_t n = kin_take(in);

	if (n > (size_t)(in->end - in->p)) {
		in->bad = true;
		n = 0;
	}
	struct kin_text t = { (const char *)in->p, (size_t)n };
	in->p += n;
	return t;
}

static inline uint64_t kin_take_time(struct kin_stream *s)
{
	uint64_t v = kin_take(&s->in);

	s->time_ns += v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
	return s->time_ns;
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
void kin_read_histogram(struct kin_stream *s);
void kin_read_audit(struct kin_stream *s);

#endif

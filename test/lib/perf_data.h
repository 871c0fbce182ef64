/* perf_data.h - a perf.data written record by record: with one event, cpu-clock with chains, 1,000
 * times a second.
 *
 * Begin with perf_header(), then the records, then rewind and perf_header() again: it says how long
 * they are. All records are of one process, MADE_PID, on processor 0. */
#ifndef TEST_PERF_DATA_H
#define TEST_PERF_DATA_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MADE_PID = 500 };
enum { PERF_COMM = 3, PERF_FORK = 7, PERF_SAMPLE = 9, PERF_MMAP2 = 10, PERF_ROUND = 68 };
enum { IN_USER = 2, COMM_EXEC = 0x2000 }; /* misc */
/* IP, TID, TIME, CALLCHAIN, CPU, PERIOD */
enum { MADE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 };

struct perf_made {
	FILE *out;
	uint64_t now; /* ns */
	uint64_t written;
	uint64_t random;
};

/* 0 to n - 1 */
static inline uint32_t perf_pick(struct perf_made *m, uint32_t n)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((m->random >> 33) * n >> 31);
}

static inline uint64_t perf_pair(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

static inline void perf_record(struct perf_made *m, uint32_t type, uint16_t misc,
			       const uint64_t *words, size_t n)
{
	uint64_t head = type | (uint64_t)misc << 32 | (uint64_t)(8 + n * 8) << 48;
	fwrite(&head, 8, 1, m->out);
	if (n)
		fwrite(words, 8, n, m->out);
	m->written += 8 + n * 8;
}

/* The end of records other than samples: task, time, processor. */
static inline size_t perf_trailer(const struct perf_made *m, uint64_t *w, uint32_t tid)
{
	w[0] = perf_pair(MADE_PID, tid);
	w[1] = m->now;
	w[2] = 0;
	return 3;
}

static inline size_t perf_text(uint64_t *w, const char *s)
{
	size_t n = strlen(s) / 8 + 1;
	memset(w, 0, n * 8);
	memcpy(w, s, strlen(s));
	return n;
}

/* misc: COMM_EXEC or 0 */
static inline void perf_comm(struct perf_made *m, uint32_t tid, const char *comm, uint16_t misc)
{
	uint64_t w[16] = { perf_pair(MADE_PID, tid) };
	size_t n = 1 + perf_text(w + 1, comm);
	perf_record(m, PERF_COMM, misc, w, n + perf_trailer(m, w + n, tid));
}

static inline void perf_mapping(struct perf_made *m, const char *path, uint64_t at, uint64_t size,
				uint64_t offset)
{
	uint64_t w[600] = { perf_pair(MADE_PID, MADE_PID),
			    at,
			    size,
			    offset,
			    perf_pair(8, 1),
			    1,
			    0,
			    perf_pair(5, 2) };
	size_t n = 8 + perf_text(w + 8, path);
	perf_record(m, PERF_MMAP2, IN_USER, w, n + perf_trailer(m, w + n, MADE_PID));
}

static inline void perf_header(const struct perf_made *m)
{
	struct {
		char magic[8];
		uint64_t size, attr_size, attrs_at, attrs_size, data_at, data_size, types[2];
		uint64_t features[4];
		/* one event: comm, mmap, task, mmap2, sample_id_all, comm_exec */
		uint32_t type, this_size;
		uint64_t config, frequency, sample_type, read_format, flags;
		uint8_t rest[128 - 48], ids[16];
	} h = { .size = 104,
		.attr_size = 144,
		.attrs_at = 104,
		.attrs_size = 144,
		.data_at = sizeof(h),
		.data_size = m->written,
		.type = 1,
		.this_size = 128,
		.frequency = 1000,
		.sample_type = MADE_TYPE,
		.flags = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 |
			 1 << 24 };
	memcpy(h.magic, "PERFILE2", 8);
	fwrite(&h, sizeof(h), 1, m->out);
}

#endif

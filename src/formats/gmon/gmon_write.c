/* gmon_write.c - a profile as one GNU gmon.out. */
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/out.h"
#include "input/input.h"

enum { DIMENSION = 15 };

#define MAX_BIN   UINT16_MAX
#define MAX_COUNT UINT32_MAX

/* Counts that do not fit one record need further ones, which make the file larger. The limit of
 * that is FACTOR times the size without them, or SMALL bytes if that is more, but at most LARGE.
 * Real files stay below. */
enum { EXCESS_FACTOR = 256, EXCESS_SMALL = 32 << 20, EXCESS_LARGE = 1 << 30 };

struct gmon_writer {
	struct out *out;
	const char *path;
	const struct profile *p;
	size_t word;      /* bytes in an address */
	uint64_t largest; /* largest address or block count in one record */
	bool big_endian;
};

static void put(struct gmon_writer *w, uint64_t v, size_t size)
{
	bytes_store(out_space(w->out, size), v, size, w->big_endian);
}

/* The number of records of at most `max` that hold `count`; a count of 0 takes a record, too. */
static uint64_t records(uint64_t count, uint64_t max)
{
	return count <= max ? 1 : (count - 1) / max + 1;
}

/* Checks */

static struct kin_error *too_large(const struct gmon_writer *w, uint64_t address)
{
	return err_new(
		KIN_ERROR_MISMATCH,
		"cannot write %s: address %#jx does not fit the executable's 32 bits; the data is "
		"of another program",
		w->path, (uintmax_t)address);
}

static struct kin_error *check_addresses(const struct gmon_writer *w)
{
	const struct profile *p = w->p;

	for (size_t i = 0; i < p->n_histograms; i++)
		if (p->histograms[i].high > w->largest || p->histograms[i].low > w->largest)
			return too_large(w, p->histograms[i].high);
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc arc = arc_at(&p->arcs, i);
		if ((arc.from | arc.to) > w->largest)
			return too_large(w, arc.from | arc.to);
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].addr > w->largest)
			return too_large(w, p->blocks[i].addr);
	return NULL;
}

static uint64_t max_excess(const struct profile *p)
{
	uint64_t size = p->n_arcs * 21 + p->n_blocks * 16;
	for (size_t i = 0; i < p->n_histograms; i++)
		size += 41 + 2 * (uint64_t)p->histograms[i].n;
	size *= EXCESS_FACTOR;
	return size > EXCESS_LARGE ? EXCESS_LARGE : size > EXCESS_SMALL ? size : EXCESS_SMALL;
}

static struct kin_error *check_excess(const struct gmon_writer *w)
{
	const struct profile *p = w->p;
	uint64_t n = 0, most = max_excess(p);
	bool over = false;

	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		uint64_t more = records(histogram_largest(h), MAX_BIN) - 1, size;
		over |= __builtin_mul_overflow(more, 41 + 2 * (uint64_t)h->n, &size) ||
			__builtin_add_overflow(n, size, &n);
	}
	for (size_t i = 0; i < p->n_arcs; i++) /* at most 2^32 records of 21 bytes each */
		over |= __builtin_add_overflow(
			n, (records(arc_at(&p->arcs, i).count, MAX_COUNT) - 1) * 21, &n);
	for (size_t i = 0; i < p->n_blocks; i++)
		over |= __builtin_add_overflow(
			n, (records(p->blocks[i].count, w->largest) - 1) * 16, &n);
	if (over || n > most)
		return err_new(
			KIN_ERROR_UNSUPPORTED,
			"cannot write %s: counts are so large that gmon.out, with its 16 and 32 "
			"bits, would need more than %llu bytes for them",
			w->path, (unsigned long long)most);
	return NULL;
}

/* Records */

static void write_header(struct gmon_writer *w)
{
	memcpy(out_space(w->out, 4), "gmon", 4);
	put(w, 1, 4);
	memset(out_space(w->out, 12), 0, 12);
}

/* The part of a count that goes into record number k, if each holds at most `max`. */
static uint64_t share(uint64_t count, uint64_t max, uint64_t k)
{
	if (k > count / max)
		return 0;
	uint64_t rest = count - k * max;
	return rest < max ? rest : max;
}

static void write_histogram(struct gmon_writer *w, const struct histogram *h, uint64_t k)
{
	put(w, 0, 1);
	put(w, h->low, w->word);
	put(w, h->high, w->word);
	put(w, h->n, 4);
	put(w, h->rate, 4);
	memcpy(out_space(w->out, DIMENSION), h->dimension, DIMENSION);
	put(w, (uint8_t)h->abbrev, 1);
	size_t at = 0;
	for (uint32_t i = 0; i < h->n; i++)
		put(w, share(histogram_bin(h, &at, i), MAX_BIN, k), 2);
}

static void write_arc(struct gmon_writer *w, const struct arc *arc, uint64_t k)
{
	uint8_t *p = out_space(w->out, 1 + 2 * w->word + 4);

	*p = 1;
	bytes_store(p + 1, arc->from, w->word, w->big_endian);
	bytes_store(p + 1 + w->word, arc->to, w->word, w->big_endian);
	bytes_store(p + 1 + 2 * w->word, share(arc->count, MAX_COUNT, k), 4, w->big_endian);
}

static void write_block(struct gmon_writer *w, const struct block *block, uint64_t k)
{
	put(w, block->addr, w->word);
	put(w, share(block->count, w->largest, k), w->word);
}

/* Writes as many blocks as one record can count, then the rest in further records. */
static void write_blocks(struct gmon_writer *w)
{
	const struct profile *p = w->p;
	uint64_t left = 0, in_record = 0;

	for (size_t i = 0; i < p->n_blocks; i++)
		left += records(p->blocks[i].count, w->largest);
	if (!left && p->n_block_records) {
		put(w, 2, 1);
		put(w, 0, 4);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		for (uint64_t k = 0, n = records(p->blocks[i].count, w->largest); k < n; k++) {
			if (!in_record) {
				in_record = left < MAX_COUNT ? left : MAX_COUNT;
				left -= in_record;
				put(w, 2, 1);
				put(w, in_record, 4);
			}
			write_block(w, &p->blocks[i], k);
			in_record--;
		}
	}
}

static void write_all(struct gmon_writer *w)
{
	const struct profile *p = w->p;

	write_header(w);
	for (size_t i = 0; i < p->n_histograms; i++)
		for (uint64_t k = 0, n = records(histogram_largest(&p->histograms[i]), MAX_BIN);
		     k < n; k++)
			write_histogram(w, &p->histograms[i], k);
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc arc = arc_at(&p->arcs, i);
		for (uint64_t k = 0, n = records(arc.count, MAX_COUNT); k < n; k++)
			write_arc(w, &arc, k);
	}
	write_blocks(w);
}

struct kin_error *gmon_write(const char *path, const struct profile *p,
			     const struct input_target *target)
{
	struct gmon_writer w = { .path = path, .p = p, .big_endian = target->big_endian };
	struct kin_error *err;

	w.word = target->is_64bit ? 8 : 4;
	w.largest = target->is_64bit ? UINT64_MAX : UINT32_MAX;
	if ((err = check_addresses(&w)) || (err = check_excess(&w)))
		return err;
	if ((err = out_open(path, profile_file_mode(p), &w.out)))
		return err;
	write_all(&w);
	return out_close(w.out);
}

/* gmon.c - GNU gmon.out: a header, then histograms, arcs and basic-block counts in any mixture. */
#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "input/input.h"
#include "input/raw.h"

enum { HEADER = 20, MAGIC = 4, DIMENSION = 15 };

/* No program has this many: 1 GB of code at glibc's four bytes per bin. */
enum { MAX_BINS = 1 << 28 };

struct gmon {
	struct bytes b;
	const struct input_opts *o;
	struct profile_builder *into;
	struct source *source;
	const uint8_t *record; /* where the one being read starts */
	size_t word;	       /* bytes in an address */
};

static bool probe(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return bytes_left(&head) >= MAGIC && !memcmp(head.pos, "gmon", MAGIC);
}

static uint64_t word(struct gmon *g)
{
	return g->word == 8 ? bytes_u64(&g->b) : bytes_u32(&g->b);
}

static size_t offset(const struct gmon *g) { return (size_t)(g->record - g->b.start); }

static struct kin_error *cut_off(const struct gmon *g, const char *what)
{
	return err_new(KIN_ERROR_FORMAT,
		       "%s: cut off in the %s at offset %#zx: the program or the copy did not finish; "
		       "run it again to its end",
		       g->b.name, what, offset(g));
}

static struct kin_error *unexpected_end(const struct gmon *g, const char *what)
{
	return err_gnu(cut_off(g, what), true, "%s: unexpected end of file", g->b.name);
}

static struct kin_error *damaged(const struct gmon *g, const char *what)
{
	return err_new(KIN_ERROR_FORMAT,
		       "%s: damaged at offset %#zx: %s; or the executable is of another word size or "
		       "byte order",
		       g->b.name, offset(g), what);
}

/* Histograms */

static struct kin_error *check_histogram(struct gmon *g, struct histogram *h)
{
	if (g->o->gnu) {
		const struct histogram *first = profile_first_histogram(g->into);
		if (first)
			h->rate = first->rate; /* GNU takes the first and ignores the others */
		return profile_check_histogram(g->into, h);
	}
	if (h->low > h->high)
		return damaged(g, "a histogram ends before it starts");
	if (h->n > h->high - h->low)
		return damaged(g, "a histogram has more bins than bytes");
	if (h->n > MAX_BINS)
		return damaged(g, "a histogram has more bins than any program");
	return NULL;
}

static void add_bins(struct gmon *g, size_t histogram, uint32_t n)
{
	enum { PIECE = 1024 };
	uint64_t bins[PIECE];

	for (uint32_t i = 0; i < n; i += PIECE) {
		uint32_t k = n - i < PIECE ? n - i : PIECE;
		raw_widen(bins, g->b.pos, 2, k, g->b.swap);
		profile_add_bins(g->into, histogram, i, bins, k);
		g->b.pos += k * 2;
	}
}

static struct kin_error *read_histogram(struct gmon *g)
{
	struct histogram h = { 0 };
	struct kin_error *err;
	size_t i;

	h.low = word(g);
	h.high = word(g);
	h.n = bytes_u32(&g->b);
	h.rate = bytes_u32(&g->b);
	struct bytes dimension = bytes_take(&g->b, DIMENSION);
	h.abbrev = (char)bytes_u8(&g->b);
	if (g->b.failed)
		return unexpected_end(g, "histogram");
	memcpy(h.dimension, dimension.pos, DIMENSION);

	if ((err = check_histogram(g, &h)))
		return err;
	if (h.n > bytes_left(&g->b) / 2)
		return err_gnu(cut_off(g, "histogram"), true,
			       "%s: unexpected EOF after reading %zu of %u samples", g->b.name,
			       bytes_left(&g->b) / 2, h.n);
	if (h.low > h.high)
		h.high = h.low; /* GNU keeps it, and finds no symbol in it */
	if ((err = profile_begin_histogram(g->into, h, &i)))
		return err_wrap(err, "%s: at offset %#zx", g->b.name, offset(g));
	add_bins(g, i, h.n);
	g->source->n_histograms++;
	return NULL;
}

/* Arcs: nearly all of the file, one after the other. */

static inline __attribute__((always_inline)) const uint8_t *
read_arcs_of(struct gmon *g, const uint8_t *p, const uint8_t *end, size_t word_size, bool swap)
{
	size_t size = 1 + 2 * word_size + 4;

	while ((size_t)(end - p) >= size && *p == 1) {
		struct arc arc = { 0 };
		arc.from = raw_uint(p + 1, word_size, swap);
		arc.to = raw_uint(p + 1 + word_size, word_size, swap);
		arc.count = raw_uint(p + 1 + 2 * word_size, 4, swap);
		profile_add_arc(g->into, arc);
		p += size;
	}
	return p;
}

/* All complete arcs that follow, at least one; starts behind the tag of the first. */
static struct kin_error *read_arcs(struct gmon *g)
{
	const uint8_t *from = g->record, *end = g->b.end;
	size_t size = 1 + 2 * g->word + 4;

	if (g->word == 8)
		g->b.pos = g->b.swap ? read_arcs_of(g, from, end, 8, true)
				     : read_arcs_of(g, from, end, 8, false);
	else
		g->b.pos = g->b.swap ? read_arcs_of(g, from, end, 4, true)
				     : read_arcs_of(g, from, end, 4, false);
	if (g->b.pos == from)
		return unexpected_end(g, "arc");
	g->source->n_arcs += (uint32_t)((size_t)(g->b.pos - from) / size);
	return NULL;
}

/* Basic blocks */

static void skip_string(struct bytes *b)
{
	const uint8_t *nul = memchr(b->pos, '\0', bytes_left(b));

	b->pos = nul ? nul + 1 : b->end;
}

/* Version 0 tells where in the source each block is, too. GNU reads it as its own host would have
 * written it, whatever the target. */
static struct block read_old_block(struct gmon *g)
{
	struct bytes before = g->b;
	size_t word_size = g->word;
	struct block block = { 0 };

	if (g->o->gnu) {
		g->word = sizeof(long);
		g->b.swap = false;
	}
	block.count = word(g);
	block.addr = word(g);
	skip_string(&g->b);
	skip_string(&g->b);
	bytes_u32(&g->b); /* line */
	g->b.swap = before.swap;
	g->word = word_size;
	return block;
}

static struct block read_block(struct gmon *g)
{
	struct block block = { 0 };

	block.addr = word(g);
	block.count = word(g);
	return block;
}

static struct kin_error *read_blocks(struct gmon *g)
{
	bool old = g->source->version == 0;
	uint32_t n = bytes_u32(&g->b);

	if (g->b.failed)
		return unexpected_end(g, "basic-block counts");
	/* GNU turns this number round once more, so what another byte order wrote it cannot read. */
	if (g->o->gnu && g->b.swap)
		n = bswap_32(n);
	if (old)
		skip_string(&g->b);
	for (uint32_t i = 0; i < n; i++) {
		struct block block = old ? read_old_block(g) : read_block(g);
		if (g->b.failed)
			return err_gnu(cut_off(g, "basic-block counts"), false, "%s: %s",
				       g->b.name, strerror(0));
		profile_add_block(g->into, block);
	}
	profile_add_block_record(g->into);
	g->source->n_blocks++;
	return NULL;
}

static struct kin_error *read_records(struct gmon *g)
{
	while (bytes_left(&g->b)) {
		struct kin_error *err = NULL;
		g->record = g->b.pos;
		uint8_t tag = bytes_u8(&g->b);
		switch (tag) {
		case 0:
			err = read_histogram(g);
			break;
		case 1:
			err = read_arcs(g);
			break;
		case 2:
			err = read_blocks(g);
			break;
		default:
			err = damaged(g, "no such kind of record");
			err = err_gnu(err, true, "%s: found bad tag %d (file corrupted?)", g->b.name,
				      tag);
		}
		if (err)
			return err;
	}
	return NULL;
}

static struct kin_error *read_header(struct gmon *g)
{
	struct kin_error *err;

	if (bytes_left(&g->b) < HEADER) {
		err = cut_off(g, "header");
		return err_gnu(err, false, "%s: file too short to be a gmon file", g->b.name);
	}
	g->b.pos += MAGIC;
	uint32_t version = bytes_u32(&g->b);
	g->b.pos = g->b.start + HEADER;
	if (version > 1) {
		err = err_new(KIN_ERROR_UNSUPPORTED,
			      "%s: gmon.out of version %u, known are 0 and 1; or the executable is of "
			      "another byte order",
			      g->b.name, version);
		return err_gnu(err, true, "file `%s' has unsupported version %d", g->b.name,
			       (int)version);
	}
	g->source->version = (int)version;
	return NULL;
}

static struct kin_error *read_gmon(struct bytes all, const struct input_opts *o,
				   struct profile_builder *into, struct source *source)
{
	struct gmon g = { .b = all, .o = o, .into = into, .source = source };
	struct kin_error *err;

	g.record = g.b.start;
	g.word = o->target.is_64bit ? 8 : 4;
	g.b.swap = raw_other_order(o->target.big_endian);
	if ((err = read_header(&g)))
		return err;
	return read_records(&g);
}

const struct reader gmon_reader = { "gmon", probe, read_gmon };

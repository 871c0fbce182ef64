/* gmon.c - GNU gmon.out: a header, then histograms, arcs and basic-block counts in any mixture. */
#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/saved.h"
#include "input/input.h"
#include "input/window.h"

enum { HEADER = 20, MAGIC = 4, DIMENSION = 15 };

/* No program has this many: 1 GB of code at glibc's four bytes per bin. */
enum { MAX_BINS = 1 << 28 };

struct gmon {
	struct window *w;
	const struct input_opts *o;
	struct profile_builder *into;
	struct source *source;
	uint64_t record; /* offset of the current record */
	size_t word;     /* bytes in an address */
};

static bool probe(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return bytes_left(&head) >= MAGIC && !memcmp(head.pos, "gmon", MAGIC);
}

/* Call it only after window_need() found that many bytes. */
static uint64_t word(struct gmon *g)
{
	return g->word == 8 ? bytes_u64(&g->w->b) : bytes_u32(&g->w->b);
}

static struct kin_error *cut_off(const struct gmon *g, const char *what)
{
	struct kin_error *err = window_error(g->w);

	return err ? err
		   : err_new(KIN_ERROR_FORMAT,
			     "%s: cut off in the %s at offset %#jx: the program or the copy did "
			     "not finish; run it again to its end",
			     g->w->b.name, what, (uintmax_t)g->record);
}

static struct kin_error *unexpected_end(const struct gmon *g, const char *what)
{
	return err_about(cut_off(g, what), (struct err_facts){ ERR_CUT_OFF, g->w->b.name });
}

static struct kin_error *damaged(const struct gmon *g, const char *what)
{
	return err_new(KIN_ERROR_FORMAT,
		       "%s: damaged at offset %#jx: %s; or the executable has another word size or "
		       "byte order",
		       g->w->b.name, (uintmax_t)g->record, what);
}

/* Histograms */

static struct kin_error *check_histogram(struct gmon *g, struct histogram *h)
{
	if (input_rules(g->o)->gmon.check)
		return input_rules(g->o)->gmon.check(g->into, h);
	if (h->low > h->high)
		return damaged(g, "a histogram ends before it starts");
	if (h->n > h->high - h->low)
		return damaged(g, "a histogram has more bins than bytes");
	if (h->n > MAX_BINS)
		return damaged(g, "a histogram has more bins than any program");
	return NULL;
}

static struct kin_error *add_bins(struct gmon *g, size_t histogram, uint32_t n)
{
	enum { PIECE = 1024 };
	uint64_t bins[PIECE];

	for (uint32_t i = 0; i < n; i += PIECE) {
		uint32_t k = n - i < PIECE ? n - i : PIECE;
		if (window_need(g->w, k * 2) < k * 2)
			return cut_off(g, "histogram"); /* the file was truncated meanwhile */
		bytes_widen(bins, g->w->b.pos, 2, k, g->w->b.swap);
		profile_add_bins(g->into, histogram, i, bins, k);
		g->w->b.pos += k * 2;
	}
	return NULL;
}

static bool read_histogram_header(struct gmon *g, struct histogram *h)
{
	size_t size = 1 + 2 * g->word + 8 + DIMENSION + 1;

	if (window_need(g->w, size) < size)
		return false;
	g->w->b.pos++; /* tag */
	h->low = word(g);
	h->high = word(g);
	h->n = bytes_u32(&g->w->b);
	h->rate = bytes_u32(&g->w->b);
	memcpy(h->dimension, g->w->b.pos, DIMENSION);
	g->w->b.pos += DIMENSION;
	h->abbrev = (char)bytes_u8(&g->w->b);
	return true;
}

static struct kin_error *read_histogram(struct gmon *g)
{
	struct histogram h = { 0 };
	struct kin_error *err;
	size_t i;

	if (!read_histogram_header(g, &h))
		return unexpected_end(g, "histogram");
	if ((err = check_histogram(g, &h)))
		return err;
	if (h.n > window_left(g->w) / 2)
		return err_about(cut_off(g, "histogram"),
				 (struct err_facts){ .code = ERR_CUT_SAMPLES,
						     .subject = g->w->b.name,
						     .first = window_left(g->w) / 2,
						     .second = h.n });
	if (h.low > h.high)
		h.high = h.low; /* the rules may permit this: no symbol is in it */
	if ((err = profile_begin_histogram(g->into, h, &i)))
		return err_wrap(err, "%s: at offset %#jx", g->w->b.name, (uintmax_t)g->record);
	g->source->n_histograms++;
	return add_bins(g, i, h.n);
}

/* Arcs: nearly all of the file, one after another. */

enum { BATCH = 64 };

static inline __attribute__((always_inline)) size_t
decode_arcs(struct arc *to, const uint8_t *p, const uint8_t *end, size_t word_size, bool swap)
{
	size_t size = 1 + 2 * word_size + 4, n;

	for (n = 0; n < BATCH && (size_t)(end - p) >= size && *p == 1; n++, p += size) {
		to[n].from = bytes_load(p + 1, word_size, swap);
		to[n].to = bytes_load(p + 1 + word_size, word_size, swap);
		to[n].count = bytes_load(p + 1 + 2 * word_size, 4, swap);
	}
	return n;
}

/* The arcs that follow in the window: BATCH at most, at least one. */
static struct kin_error *read_arcs(struct gmon *g)
{
	size_t size = 1 + 2 * g->word + 4, n;
	struct bytes *b = &g->w->b;
	struct arc arcs[BATCH];

	if (window_need(g->w, size) < size)
		return unexpected_end(g, "arc");
	memset(arcs, 0, sizeof(arcs));
	profile_expect_arcs(g->into, window_left(g->w) / size);
	do {
		if (g->word == 8)
			n = b->swap ? decode_arcs(arcs, b->pos, b->end, 8, true)
				    : decode_arcs(arcs, b->pos, b->end, 8, false);
		else
			n = b->swap ? decode_arcs(arcs, b->pos, b->end, 4, true)
				    : decode_arcs(arcs, b->pos, b->end, 4, false);
		profile_add_arcs(g->into, arcs, n);
		b->pos += n * size;
		g->source->n_arcs += (uint32_t)n;
	} while (n == BATCH);
	return NULL;
}

/* Basic blocks */

static void skip_string(struct window *w)
{
	const uint8_t *nul = NULL;

	while (!nul && window_need(w, 1)) {
		nul = memchr(w->b.pos, '\0', bytes_left(&w->b));
		w->b.pos = nul ? nul + 1 : w->b.end;
	}
}

static bool read_pair(struct gmon *g, uint64_t *first, uint64_t *second)
{
	if (window_need(g->w, 2 * g->word) < 2 * g->word)
		return false;
	*first = word(g);
	*second = word(g);
	return true;
}

/* Version 0 also has each block's place in the source. */
static bool read_old_block(struct gmon *g, struct block *ret)
{
	const struct gmon before = *g;
	bool swap = g->w->b.swap;

	if (input_rules(g->o)->gmon.host_blocks) {
		g->word = sizeof(long);
		g->w->b.swap = false;
	}
	bool good = read_pair(g, &ret->count, &ret->addr);
	skip_string(g->w); /* file */
	skip_string(g->w); /* function */
	g->word = before.word;
	g->w->b.swap = swap;
	if (!good || window_need(g->w, 4) < 4)
		return false;
	g->w->b.pos += 4; /* line */
	return true;
}

static struct kin_error *read_blocks(struct gmon *g)
{
	bool old = g->source->version == 0;

	if (window_need(g->w, 5) < 5)
		return unexpected_end(g, "basic-block counts");
	g->w->b.pos++; /* tag */
	uint32_t n = bytes_u32(&g->w->b);
	if (input_rules(g->o)->gmon.host_counts && g->w->b.swap)
		n = bswap_32(n);
	if (old)
		skip_string(g->w);
	for (uint32_t i = 0; i < n; i++) {
		struct block block = { 0 };
		if (!(old ? read_old_block(g, &block) : read_pair(g, &block.addr, &block.count)))
			return err_about(cut_off(g, "basic-block counts"),
					 (struct err_facts){ ERR_CUT_BLOCKS, g->w->b.name });
		profile_add_block(g->into, block);
	}
	profile_add_block_record(g->into);
	g->source->n_blocks++;
	return NULL;
}

static struct kin_error *bad_tag(const struct gmon *g, uint8_t tag)
{
	return err_about(damaged(g, "no such kind of record"),
			 (struct err_facts){ ERR_RECORD, g->w->b.name, .first = tag });
}

static struct kin_error *read_records(struct gmon *g)
{
	while (window_need(g->w, 1)) {
		struct kin_error *err = NULL;
		g->record = window_offset(g->w);
		switch (*g->w->b.pos) {
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
			err = bad_tag(g, *g->w->b.pos);
		}
		if (err)
			return err;
	}
	return window_error(g->w);
}

static struct kin_error *read_header(struct gmon *g)
{
	struct bytes *b = &g->w->b;
	struct kin_error *err;

	if (window_need(g->w, HEADER) < HEADER) {
		err = cut_off(g, "header");
		return err_about(err, (struct err_facts){ ERR_NO_DATA, b->name });
	}
	b->pos += MAGIC;
	uint32_t version = bytes_u32(b);
	b->pos += HEADER - MAGIC - 4;
	if (version > 1) {
		err = err_new(
			KIN_ERROR_UNSUPPORTED,
			"%s: version %u of gmon.out (0 and 1 are known), or the executable has "
			"another byte order",
			b->name, version);
		return err_about(err, (struct err_facts){ ERR_VERSION, b->name, .first = version });
	}
	g->source->version = (int)version;
	return NULL;
}

static struct kin_error *stream_gmon(struct window *w, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	struct gmon g = { .w = w, .o = o, .into = into, .source = source };
	struct kin_error *err;

	g.word = o->target.is_64bit ? 8 : 4;
	w->b.swap = bytes_other_order(o->target.big_endian);
	if ((err = read_header(&g)))
		return err;
	return read_records(&g);
}

static struct kin_error *read_gmon(struct bytes all, const struct input_opts *o,
				   struct profile_builder *into, struct source *source)
{
	struct window w = window_of(all);

	return stream_gmon(&w, o, into, source);
}

static struct kin_error *write_gmon(struct kin_profile *profile, const struct kin_export_opts *opts,
				    FILE *out)
{
	(void)opts;
	if (!kin_profile_fits_gmon(profile))
		return err_new(KIN_ERROR_UNSUPPORTED, "gmon.out holds neither stacks nor "
						      "libraries; the format 'kin' does");
	return saved_write(profile, "gmon.out", out);
}

const struct format gmon_format = {
	.about = { .name = "gmon",
		   .what = "gmon.out of GNU gprof",
		   .endings = (const char *const[]){ ".gmon", NULL },
		   .is_read = true,
		   .is_written = true,
		   .is_recorded = true,
		   .is_binary = true },
	.needs = FORMAT_NEEDS_PROGRAM,
	.recognise = probe,
	.read = read_gmon,
	.stream = stream_gmon,
	.write = write_gmon,
};

/* bsd.c - gmon.out of 4.4BSD and its descendants, and of the BSDs before: one histogram, then arcs
 * to the end of the file. Old BSD files have no mark and are known by exclusion. */
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "input/input.h"

enum { VERSION_44BSD = 0x00051879, SHORTEST = 20 };

struct bsd {
	struct bytes b;
	const struct input_opts *o;
	struct profile_builder *into;
	struct source *source;
	size_t word; /* bytes in an address */
	bool is_44bsd;
	/* the header */
	uint64_t low, high;
	uint32_t ncnt; /* bytes of header and samples: where the arcs start */
	uint32_t rate; /* 0: not given */
	int32_t counter_type;
	size_t size;    /* bytes of header */
	size_t counter; /* bytes of a sample */
};

static uint64_t word(struct bytes *b, size_t size)
{
	return size == 8 ? bytes_u64(b) : bytes_u32(b);
}

static size_t word_size(const struct input_opts *o) { return o->target.is_64bit ? 8 : 4; }

/* Reads the fields that all these formats share, and recognises 4.4BSD. */
static void parse_header(struct bsd *f)
{
	struct bytes *b = &f->b;

	f->low = word(b, f->word);
	f->high = word(b, f->word);
	f->ncnt = bytes_u32(b);
	f->is_44bsd = bytes_u32(b) == VERSION_44BSD;
	f->size = 2 * f->word + 4;
	f->counter = 2;
	if (f->is_44bsd) {
		f->rate = bytes_u32(b);
		f->size += 20;
	}
}

static struct bsd start(struct bytes all, const struct input_opts *o)
{
	struct bsd f = { .b = all, .o = o, .word = word_size(o) };

	f.b.swap = bytes_other_order(o->target.big_endian);
	parse_header(&f);
	return f;
}

/* Bytes of text per sample, or 0 if that is not a sensible number. */
static double bytes_per_sample(const struct bsd *f, size_t header)
{
	if (f->low >= f->high || f->ncnt < header + 2)
		return 0;
	double r = (double)(f->high - f->low) / ((f->ncnt - header) / 2);
	return r >= 1 && r <= 4096 ? r : 0;
}

static bool probe_44bsd(struct bytes head, const struct input_opts *o)
{
	struct bsd f = start(head, o);

	return !f.b.failed && f.is_44bsd;
}

static bool probe_old(struct bytes head, const struct input_opts *o)
{
	struct bsd f = start(head, o);

	if (f.b.failed || f.is_44bsd)
		return false;
	return input_rules(o)->bsd.any || bytes_per_sample(&f, f.size) > 0;
}

static struct kin_error *not_plausible(const struct bsd *f, const char *what)
{
	struct kin_error *err =
		err_new(KIN_ERROR_FORMAT,
			"%s: damaged in the header: %s; or the executable has another word size or "
			"byte order",
			f->b.name, what);
	return err_about(err, (struct err_facts){ ERR_HEADER, f->b.name });
}

static struct kin_error *cut_off(const struct bsd *f, const char *what, size_t offset)
{
	return err_new(
		KIN_ERROR_FORMAT,
		"%s: cut off in the %s at offset %#zx: the program or the copy did not finish; "
		"run it again to its end",
		f->b.name, what, offset);
}

/* OSF/1 and the 64-bit BSDs pad the header to a multiple of 8 bytes; GNU gprof does not. The size
 * that gives a whole number of bytes per sample is right. */
static size_t old_header_size(const struct bsd *f)
{
	double plain = bytes_per_sample(f, f->size), padded = bytes_per_sample(f, f->size + 4);

	if (f->word == 8 && padded == (uint32_t)padded && padded > 0 && plain != (uint32_t)plain)
		return f->size + 4;
	return f->size;
}

/* FreeBSD stores the width of its samples in a word that is unused elsewhere. */
static struct kin_error *find_counter_size(struct bsd *f)
{
	int32_t bits;

	f->b.pos = f->b.start + f->size - 12;
	if (bytes_left(&f->b) < 12)
		return cut_off(f, "header", 0);
	f->counter_type = bits = (int32_t)bytes_u32(&f->b);
	if (bits == 0)
		return NULL;
	if (bits < 0 && bits >= -64)
		bits = -bits;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return not_plausible(f, "counters of unknown width");
	f->counter = (size_t)bits / 8;
	return NULL;
}

static struct kin_error *check_by_default(struct bsd *f)
{
	struct kin_error *err;
	size_t left = (size_t)(f->b.end - f->b.start);

	if (f->is_44bsd && (err = find_counter_size(f)))
		return err;
	if (!f->is_44bsd)
		f->size = old_header_size(f);
	if (f->ncnt > INT32_MAX || f->ncnt < f->size)
		return not_plausible(f, "the samples end before they start");
	if (f->low > f->high)
		return not_plausible(f, "the text ends before it starts");
	if (f->ncnt > left)
		return cut_off(f, "samples", left);
	if ((f->ncnt - f->size) % f->counter)
		return not_plausible(f, "half a sample");
	if ((f->ncnt - f->size) / f->counter > f->high - f->low)
		return not_plausible(f, "more samples than bytes of text");
	return NULL;
}

static struct kin_error *check_header(struct bsd *f)
{
	size_t left = (size_t)(f->b.end - f->b.start);

	if (f->b.failed || left < SHORTEST)
		return err_about(cut_off(f, "header", left),
				 (struct err_facts){ ERR_NO_DATA, f->b.name });
	if (f->o->format == INPUT_44BSD && !f->is_44bsd) {
		struct kin_error *err =
			err_new(KIN_ERROR_FORMAT, "%s: not a 4.4BSD gmon.out", f->b.name);
		return err_about(err, (struct err_facts){ ERR_OTHER_FORMAT, f->b.name });
	}
	if (!input_rules(f->o)->bsd.check)
		return check_by_default(f);
	struct bsd_header h = { .low = f->low,
				.high = f->high,
				.ncnt = f->ncnt,
				.rate = f->rate,
				.is_44bsd = f->is_44bsd,
				.size = f->size };
	return input_rules(f->o)->bsd.check(&h, profile_first_histogram(f->into), f->b.name, left);
}

/* Old files have no rate. The first histogram's is taken, or else this machine's. */
static uint32_t rate_of(const struct bsd *f)
{
	const struct histogram *first = profile_first_histogram(f->into);

	if (f->is_44bsd && f->rate)
		return f->rate;
	return first && first->rate ? first->rate : (uint32_t)sysconf(_SC_CLK_TCK);
}

static struct kin_error *read_samples(struct bsd *f)
{
	enum { PIECE = 1024 };
	const struct histogram *first = profile_first_histogram(f->into);
	struct histogram h = {
		.low = f->low, .high = f->high, .dimension = "seconds", .abbrev = 's'
	};
	const struct bsd_rules *rules = &input_rules(f->o)->bsd;
	struct kin_error *err;
	uint64_t bins[PIECE];
	size_t index;

	h.rate = rate_of(f);
	h.n = (uint32_t)((f->ncnt - f->size) / f->counter);
	if (rules->like_first && first) {
		h.abbrev = first->abbrev;
		h.rate = first->rate;
		memcpy(h.dimension, first->dimension, sizeof(h.dimension));
	}
	if (h.low > h.high) /* by one at most, which only the rules of others permit */
		h.high = h.low;
	if ((err = profile_begin_histogram(f->into, h, &index)))
		return err_wrap(err, "%s", f->b.name);
	/* The rules may permit files without the header's last words, or without samples. */
	size_t total = (size_t)(f->b.end - f->b.start);
	f->b.pos = f->size < total ? f->b.start + f->size : f->b.end;
	for (uint32_t i = 0; i < h.n; i += PIECE) {
		uint32_t k = h.n - i < PIECE ? h.n - i : PIECE;
		bytes_widen(bins, f->b.pos, f->counter, k, f->b.swap);
		if (f->counter_type < 0)
			for (uint32_t j = 0; j < k; j++)
				if (bins[j] >> (8 * f->counter - 1))
					bins[j] = 0; /* negative: never counted by anything */
		profile_add_bins(f->into, index, i, bins, k);
		f->b.pos += k * f->counter;
	}
	f->source->n_histograms = h.n > 0 || !rules->empty_is_none;
	return NULL;
}

static struct kin_error *read_arcs(struct bsd *f)
{
	const uint8_t *p = f->b.pos;
	size_t w = f->word, n = bytes_left(&f->b) / (3 * w);

	for (size_t i = 0; i < n; i++, p += 3 * w) {
		struct arc arc = { 0 };
		arc.from = bytes_load(p, w, f->b.swap);
		arc.to = bytes_load(p + w, w, f->b.swap);
		arc.count = bytes_load(p + 2 * w, w, f->b.swap);
		profile_add_arc(f->into, arc);
	}
	f->b.pos = p;
	f->source->n_arcs = (uint32_t)n;
	if (bytes_left(&f->b) && !input_rules(f->o)->bsd.any_tail)
		return err_about(cut_off(f, "last arc", (size_t)(p - f->b.start)),
				 (struct err_facts){ ERR_CUT_TAIL, f->b.name });
	return NULL;
}

static struct kin_error *read_bsd(struct bytes all, const struct input_opts *o,
				  struct profile_builder *into, struct source *source)
{
	struct bsd f = start(all, o);
	struct kin_error *err;

	f.into = into;
	f.source = source;
	if ((err = check_header(&f)))
		return err;
	f.b.pos = f.b.start; /* the checks may leave it anywhere */
	if ((err = read_samples(&f)))
		return err;
	return read_arcs(&f);
}

const struct format bsd44_format = {
	.about = { .name = "4.4BSD", .what = "gmon.out of the BSDs since 4.4", .is_read = true },
	.needs = FORMAT_NEEDS_PROGRAM,
	.recognise = probe_44bsd,
	.is_vague = true,
	.is_unmarked = true,
	.read = read_bsd,
};
const struct format bsd_format = {
	.about = { .name = "BSD", .what = "gmon.out of older BSDs", .is_read = true },
	.needs = FORMAT_NEEDS_PROGRAM,
	.recognise = probe_old,
	.is_vague = true,
	.is_unmarked = true,
	.read = read_bsd,
};

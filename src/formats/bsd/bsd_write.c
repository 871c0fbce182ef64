/* bsd_write.c - a profile as a gmon.out of the BSDs. They have one histogram with 16 bits per bin,
 * and arc counts as wide as an address; a count that does not fit cannot be split over several
 * records. FreeBSD has wider bins where needed. */
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/out.h"
#include "input/input.h"

enum { VERSION_44BSD = 0x00051879 };

struct bsd_writer {
	struct out *out;
	const char *path;
	const struct profile *p;
	struct histogram h; /* empty if the profile has none */
	size_t word;        /* bytes in an address */
	size_t header;      /* bytes */
	size_t counter;     /* bytes of a bin */
	uint64_t largest;   /* largest address or arc count that fits */
	bool big_endian, is_44bsd;
};

static void put(struct bsd_writer *w, uint64_t v, size_t size)
{
	bytes_store(out_space(w->out, size), v, size, w->big_endian);
}

static struct kin_error *cannot(const struct bsd_writer *w, const char *what)
{
	return err_new(KIN_ERROR_UNSUPPORTED,
		       "cannot write %s: BSD's format has no room for %s; GNU's has "
		       "(--file-format=magic)",
		       w->path, what);
}

static struct kin_error *check_counts(const struct bsd_writer *w)
{
	if (histogram_largest(&w->h) > UINT16_MAX && w->counter == 2)
		return cannot(w, "a histogram bin above 65535");
	for (size_t i = 0; i < w->p->n_arcs; i++) {
		struct arc arc = arc_at(&w->p->arcs, i);
		if ((arc.from | arc.to) > w->largest)
			return cannot(w, "an address beyond the executable's 32 bits");
		if (arc.count > w->largest)
			return cannot(w, "an arc count above 4294967295");
	}
	return NULL;
}

static struct kin_error *check(const struct bsd_writer *w)
{
	if (w->p->n_histograms > 1)
		return cannot(w, "more than one histogram");
	if (w->p->n_blocks)
		return cannot(w, "basic-block counts");
	if (w->h.n && strcmp(w->h.dimension, "seconds") != 0)
		return cannot(w, "a histogram of anything but seconds");
	if (w->h.n && !w->is_44bsd && w->h.rate != (uint32_t)sysconf(_SC_CLK_TCK))
		return err_new(
			KIN_ERROR_UNSUPPORTED,
			"cannot write %s: old BSD's format has no room for the rate of %u ticks "
			"per second; 4.4BSD's has (--file-format=4.4bsd)",
			w->path, w->h.rate);
	if (w->h.low > w->largest || w->h.high > w->largest)
		return cannot(w, "an address beyond the executable's 32 bits");
	return check_counts(w);
}

/* Always checked: with a wrong size, the header would give a wrong start of the arcs. */
static struct kin_error *check_size(const struct bsd_writer *w)
{
	return w->h.n > (INT32_MAX - w->header) / w->counter ? cannot(w, "so many bins") : NULL;
}

static void write_header(struct bsd_writer *w)
{
	size_t used = 2 * w->word + 4;

	put(w, w->h.low, w->word);
	put(w, w->h.high, w->word);
	put(w, w->header + w->counter * (uint64_t)w->h.n, 4);
	if (w->is_44bsd) {
		put(w, VERSION_44BSD, 4);
		put(w, w->h.rate, 4);
		put(w, w->counter == 2 ? 0 : 8 * w->counter, 4);
		used += 12;
	}
	memset(out_space(w->out, w->header - used), 0, w->header - used);
}

static void write_all(struct bsd_writer *w)
{
	write_header(w);
	size_t at = 0;
	for (uint32_t i = 0; i < w->h.n; i++)
		put(w, histogram_bin(&w->h, &at, i), w->counter);
	for (size_t i = 0; i < w->p->n_arcs; i++) {
		struct arc arc = arc_at(&w->p->arcs, i);
		put(w, arc.from, w->word);
		put(w, arc.to, w->word);
		put(w, arc.count, w->word);
	}
}

static size_t bin_size(uint64_t bin) { return bin > UINT32_MAX ? 8 : bin > UINT16_MAX ? 4 : 2; }

struct flavour {
	bool bsd44;
	bool wide; /* bins are as wide as needed */
};

static struct kin_error *write_bsd(const char *path, const struct profile *p,
				   const struct input_target *target, struct flavour f)
{
	struct bsd_writer w = { .path = path, .p = p, .is_44bsd = f.bsd44, .counter = 2 };
	struct kin_error *err;

	w.big_endian = target->big_endian;
	w.word = target->is_64bit ? 8 : 4;
	w.largest = target->is_64bit ? UINT64_MAX : UINT32_MAX;
	w.header = 2 * w.word + 4 + (f.bsd44 ? 20 : 0);
	if (p->n_histograms)
		w.h = p->histograms[0];
	if (f.wide)
		w.counter = bin_size(histogram_largest(&w.h));
	if ((err = check_size(&w)) || (err = check(&w)))
		return err;
	if ((err = out_open(path, profile_file_mode(p), &w.out)))
		return err;
	write_all(&w);
	return out_close(w.out);
}

struct kin_error *bsd_write(const char *path, const struct profile *p,
			    const struct input_target *target, bool bsd44)
{
	return write_bsd(path, p, target, (struct flavour){ .bsd44 = bsd44 });
}

struct kin_error *freebsd_write(const char *path, const struct profile *p,
				const struct input_target *target)
{
	return write_bsd(path, p, target, (struct flavour){ .bsd44 = true, .wide = true });
}

/* gnu_data.c - the data files that GNU gprof 2.40 reads: gmon.out and the BSDs' formats. A file
 * that is no gmon.out is taken for one of the BSDs'. */
#include "base/err.h"
#include "formats/formats.h"
#include "gnu/rules.h"
#include "gnu/words.h"
#include "input/input.h"

static bool reads(const struct format *format)
{
	return format == &gmon_format || format == &bsd44_format || format == &bsd_format;
}

/* Uses the first histogram's rate, and ignores all others. */
static struct kin_error *check_histogram(const struct profile_builder *into, struct histogram *h)
{
	const struct histogram *first = profile_first_histogram(into);

	if (first)
		h->rate = first->rate;
	return profile_check_histogram(into, h);
}

/* Makes GNU's checks in GNU's order, even if histograms do not overlap. */
static struct kin_error *check_header(const struct bsd_header *h, const struct histogram *first,
				      const char *path, size_t bytes)
{
	struct kin_error *err;
	int32_t samples = (int32_t)(h->ncnt - (uint32_t)h->size);

	if (first && h->is_44bsd && first->rate != h->rate) {
		err = err_new(KIN_ERROR_MISMATCH, "%s: %u ticks per second, %u in the files before",
			      path, h->rate, first->rate);
		return gnu_words_are(err, false,
				     "%s: profiling rate incompatible with first gmon file", path);
	}
	if (first && (first->low != h->low || first->high != h->high || samples < 0 ||
		      first->n != (uint32_t)samples / 2)) {
		err = err_new(KIN_ERROR_MISMATCH,
			      "%s: text range differs from that of the previous files", path);
		return gnu_words_are(err, false, "%s: incompatible with first gmon file", path);
	}
	if (samples < 0 || h->low / 2 > h->high / 2) {
		err = err_new(KIN_ERROR_FORMAT,
			      "%s: damaged in the header: the samples or the text end before they "
			      "start; or the executable has another word size or byte order",
			      path);
		return gnu_words_are(err, true,
				     "file '%s' does not appear to be in gmon.out format", path);
	}
	size_t whole = bytes > h->size ? (bytes - h->size) / 2 : 0;
	if ((uint32_t)samples / 2 > whole) {
		err = err_new(KIN_ERROR_FORMAT,
			      "%s: cut off in the samples at offset %#zx: the program or the copy "
			      "did not finish; run it again to its end",
			      path, bytes);
		return gnu_words_are(err, true, "unexpected EOF after reading %d/%d bins",
				     (int)whole - 1, samples / 2);
	}
	return NULL;
}

const struct input_rules gnu_output_input_rules = {
	.takes = reads,
	.whole = true,
	.shortest = 20,
	.stops = true,
	.version_stays = true,
	.gmon = { .check = check_histogram, .host_blocks = true, .host_counts = true },
	.bsd = { .check = check_header, .like_first = true, .empty_is_none = true },
};

const struct input_rules gnu_input_rules = {
	.reads = reads,
	.shortest = 20,
	.stops = true,
	.plain_paths = true,
	.version_stays = true,
	.gmon = { .check = check_histogram, .host_blocks = true, .host_counts = true },
	.bsd = { .any = true,
		 .check = check_header,
		 .like_first = true,
		 .empty_is_none = true,
		 .any_tail = true },
};

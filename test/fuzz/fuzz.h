/* fuzz.h - what the fuzz targets share. Each defines LLVMFuzzerTestOneInput over the bytes of one
 * file and is built twice: with replay.c as a test of its corpus, and with libFuzzer (-Dfuzz=true).
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/packed.h"
#include "gnu/rules.h"
#include "input/input.h"
#include "profile/spreads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte of an input says how to read the others: bit 0: 64 bits, bit 1: big-endian,
 * bit 2: as GNU gprof does; bits 3 and 4: the format asked for; bit 5: details of samples, and
 * fields of trace points; bit 6: branches as samples. */
static inline struct input_opts fuzz_options(uint8_t how)
{
	struct input_opts o = { .target = { .is_64bit = how & 1, .big_endian = how & 2 } };

	o.rules = how & 4 ? &gnu_input_rules : NULL;
	o.format = (enum input_format)(how >> 3 & 3);
	o.details = o.cpu_state = o.trace_fields = how & 32;
	o.branches = how & 64 ? INPUT_BRANCHES : INPUT_SAMPLES;
	return o;
}

/* Bytes that malloc() gave and that were not freed; under a sanitizer, what that says. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
static inline size_t fuzz_in_use(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* What was made of `size` bytes of input takes no more than a multiple of them. A frame of one byte
 * of pprof may have three inlined into it. */
static inline void fuzz_bounded(size_t before, size_t size)
{
	enum { FLOOR = 8 << 20, MULTIPLE = 192 };
	size_t now = fuzz_in_use();
	if (now > before && now - before > FLOOR + MULTIPLE * size) {
		fprintf(stderr, "%zu bytes of input became %zu bytes\n", size, now - before);
		abort();
	}
}

/* Reads the same file twice, as one program's two runs, and puts the sum in order: must neither
 * crash nor take more memory than a few times the input, and the second run may only double what is
 * there. */
static inline void fuzz_reader(const struct format *reader, const uint8_t *data, size_t size)
{
	size_t before = fuzz_in_use(), n = 0;
	struct profile_builder *b = profile_builder_new();
	struct input_opts o = fuzz_options(size ? data[0] : 0);

	for (int run = 0; size && run < 2; run++) {
		/* A copy of exactly that size: a sanitizer sees each byte too many. */
		uint8_t *copy = malloc(size);
		struct source source = { .kind = reader->about.name };
		memcpy(copy, data + 1, size - 1);
		struct unpacked_bytes room;
		struct bytes all = unpacked(bytes_of("fuzz", copy, size - 1), 1 << 24, &room);
		n += bytes_left(&all);
		if (reader->recognise(all, &o)) {
			kin_error_free(reader->read(all, &o, b, &source));
			profile_add_source(b, "fuzz", source);
		}
		vec_free(&room.at);
		free(copy);
	}
	fuzz_bounded(before, n);
	struct profile *p = profile_finish(b), *q = profile_canonical(p, NULL, NULL);
	if (p->n_arcs != q->n_arcs || p->n_histograms != q->n_histograms)
		abort();
	profile_free(q);
	if (p->spreads) {
		q = profile_canonical(p, NULL, p->spreads);
		if (q->spreads->rows.n != p->spreads->rows.n)
			abort();
		profile_free(q);
	}
	profile_free(p);
}

#endif

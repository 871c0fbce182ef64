/* mismatch.c - compares the ranges, callees and ticks of a gmon.out with the code of the
 * program. */
#include "analysis/mismatch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROUNDING = 16,        /* bytes by which a runtime may round the profiled range; glibc: 4 */
	OUTSIDE_PERCENT = 10, /* this share of ticks outside all functions needs no explanation */
};

struct mismatch_check {
	const struct profile *data;
	struct object_file *object;
	struct remarks *to;
};

enum { WARNING = KIN_REMARK_WARNING | KIN_REMARK_DOUBT };

static const char *data_name(const struct mismatch_check *p)
{
	const struct profile *d = p->data;
	if (d->n_sources != 1)
		return "the data";
	const char *path = strtab_get(d->strings, d->sources[0].path);
	return strcmp(path, "-") ? path : "standard input";
}

/* ---- the range ---- */

static bool near(uint64_t a, uint64_t b) { return (a > b ? a - b : b - a) < ROUNDING; }

/* The end of the segment that contains the end of the code: constants may follow the code. */
static uint64_t segment_end(struct object_file *o, uint64_t code_end)
{
	size_t n;
	const struct object_segment *s = object_segments(o, &n);
	for (size_t i = 0; i < n; i++)
		if (code_end > s[i].addr && code_end - s[i].addr <= s[i].file_size)
			return s[i].addr + s[i].file_size;
	return code_end;
}

/* Whether the profiled range has all code. Some runtimes (such as kin's) know only segments. Their
 * range begins where code does, and not with the headers before it if these are in another segment.
 * It ends with the data after the code. No function is missing then. */
static bool has_all_code(struct object_file *o, const struct histogram *h,
			 const struct address_range *r, const struct symbols *s)
{
	bool begins =
		near(h->low, r->low) || (h->low > r->low && s && s->n && h->low <= s->at[0].addr);
	return begins && (near(h->high, r->high) || near(h->high, segment_end(o, r->high)));
}

/* True: the histograms are certainly from another program or build. */
static bool check_range(struct mismatch_check *p, const struct symbols *s)
{
	struct address_range r = object_profiled(p->object);
	if (r.low >= r.high)
		return false;
	for (size_t i = 0; i < p->data->n_histograms; i++) {
		const struct histogram *h = &p->data->histograms[i];
		if (has_all_code(p->object, h, &r, s))
			continue;
		bool inside = h->low + ROUNDING > r.low && h->high < r.high + ROUNDING;
		remarks_add(p->to, WARNING,
			    "%s covers addresses 0x%" PRIx64 "-0x%" PRIx64 ", %s has 0x%" PRIx64
			    "-0x%" PRIx64 ": %s",
			    data_name(p), h->low, h->high, object_path(p->object), r.low, r.high,
			    inside ? "only a part of the program was profiled, or it was built "
				     "anew since"
				   : "it was written by another program, or by another build of "
				     "this one");
		return !inside;
	}
	return false;
}

/* ---- the callees ---- */

/* Whether an address is outside the program: calls of functions in shared libraries are recorded
 * with the library's addresses. A program may have made only such calls; other programs would also
 * have other callers. */
static bool is_elsewhere(struct address_range r, uint64_t addr)
{
	return r.low < r.high && (addr < r.low || addr >= r.high + ROUNDING);
}

/* Whether mcount may have been called at this address. It returns to an address behind a call;
 * summed data may have the function's start instead. */
static bool can_be_callee(struct object_file *o, const struct symbols *s, uint64_t addr)
{
	symid id = symbols_find(s, addr);
	size_t size;
	if (id == NONE)
		return false;
	if (s->at[id].addr == addr || !object_code(o, addr, &size))
		return true;
	return object_call_ends_at(o, addr);
}

/* Looks only at some thousand records out of millions, spread evenly: data of another program is
 * wrong all over. */
static size_t stride(size_t n)
{
	enum { ENOUGH = 8192 };
	return n / ENOUGH + 1;
}

/* True: some calls are certainly from another program or build. */
static bool check_callees(struct mismatch_check *p, const struct symbols *s)
{
	size_t bad = 0, foreign = 0, n = 0, step = stride(p->data->n_arcs);
	uint64_t first = 0;
	struct address_range profiled = { 0, 0 }; /* computed once: all symbols have to be read */
	bool has_range = false;
	for (size_t i = 0; i < p->data->n_arcs; i += step) {
		struct arc arc = arc_at(&p->data->arcs, i);
		uint64_t to = arc.to;
		if (arc.to_object) /* a recording names its program itself */
			continue;
		n++;
		if (can_be_callee(p->object, s, to))
			continue;
		if (!has_range)
			profiled = object_profiled(p->object);
		has_range = true;
		if (is_elsewhere(profiled, to))
			foreign += symbols_find(s, arc.from) == NONE;
		else if (!bad++)
			first = to;
	}
	if (n && foreign == n)
		remarks_add(p->to, WARNING,
			    "none of the %zu call counts in %s is for a function of %s: it was "
			    "written by "
			    "another program",
			    n, data_name(p), object_path(p->object));
	if (bad)
		remarks_add(
			p->to, WARNING,
			"%zu of %zu call counts%s in %s are for addresses where no function of %s "
			"counts calls (0x%" PRIx64 "%s): %s",
			bad, n, step > 1 ? " looked at" : "", data_name(p), object_path(p->object),
			first, bad > 1 ? " ..." : "",
			bad * 2 > n ? "it was written by another program, or by another build of "
				      "this one"
				    : "the data is damaged, or partly of another build");
	return bad || (n && foreign == n);
}

/* ---- the ticks ---- */

static double outside(const struct histogram *h, const struct symbols *s, double *total)
{
	double lost = 0, bytes = h->n ? (double)(h->high - h->low) / h->n : 0;
	struct hit hit;
	size_t i = 0, step = stride(h->n_hits);
	for (size_t at = 0; histogram_next(h, &at, &hit);) {
		if (i++ % step)
			continue;
		double bin = hit.bin, count = (double)hit.count;
		uint64_t low = h->low + (uint64_t)(bytes * bin),
			 high = h->low + (uint64_t)(bytes * (bin + 1));
		*total += count;
		if (symbols_find(s, low) == NONE &&
		    symbols_find(s, high > low ? high - 1 : low) == NONE)
			lost += count;
	}
	return lost;
}

static void check_ticks(struct mismatch_check *p, const struct symbols *s)
{
	double lost = 0, total = 0;
	for (size_t i = 0; i < p->data->n_histograms; i++)
		lost += outside(&p->data->histograms[i], s, &total);
	if (lost > 1 && lost * 100 >= total * OUTSIDE_PERCENT)
		remarks_add(p->to, WARNING,
			    "%.0f%% of the samples in %s are outside of all functions of %s: code "
			    "without "
			    "symbols, or another build",
			    100 * lost / total, data_name(p), object_path(p->object));
}

/* Where functions have lost their names, their calls and ticks say nothing about the build. */
static void check_stripped(const struct mismatch_check *p, const struct symbols *s)
{
	struct remarks found = { 0 };
	struct mismatch_check quiet = *p;

	quiet.to = &found;
	check_callees(&quiet, s);
	check_ticks(&quiet, s);
	if (found.at.n)
		remarks_add(p->to, WARNING,
			    "%s was stripped: only functions that it exports have names; profile "
			    "the file "
			    "as the linker made it, or give its debug file",
			    object_path(p->object));
	remarks_free(&found);
}

bool mismatch_check(const struct profile *p, struct object_file *o, const struct symbols *s,
		    struct remarks *to)
{
	struct mismatch_check c = { .data = p, .object = o, .to = to };

	if (p->saturated)
		remarks_add(to, WARNING,
			    "a sum in %s is too large for 64 bits and stays at the largest value",
			    data_name(&c));
	bool foreign = check_range(&c, s);
	if (!s)
		return foreign;
	if (object_is_stripped(o)) {
		check_stripped(&c, s);
		return foreign;
	}
	foreign |= check_callees(&c, s);
	check_ticks(&c, s); /* code without symbols looks the same */
	return foreign;
}

#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "gnu/rules.h"
#include "gnu/words.h"
#include "input/input.h"
#include "input/paths.h"
#include "kin/format.h"
#include "lib/gzip_pack.h"

static char dir[] = "/tmp/test_input.XXXXXX";
static const struct input_target le64 = { .is_64bit = true }, be64 = { true, true },
				 le32 = { false, false }, be32 = { false, true };
static const struct input_target *const targets[] = { &le64, &be64, &le32, &be32 };

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

/* Paths in the test's directory; a few at a time. */
static const char *in_dir(const char *name)
{
	static char path[8][100];
	static int next;
	char *p = path[next++ % 8];
	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void put_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		printf("Bail out! cannot write %s\n", path);
}

static struct file get_file(const char *path)
{
	struct file f = { 0 };
	struct file_opts o = { 0 };
	struct kin_error *err = file_read(path, &o, &f);
	if (err)
		printf("# %s\n", kin_error_message(err));
	kin_error_free(err);
	return f;
}

static bool same_files(const char *a, const char *b)
{
	struct file x = get_file(a), y = get_file(b);
	bool same = x.size == y.size && x.data && y.data && !memcmp(x.data, y.data, x.size);
	file_free(&x);
	file_free(&y);
	return same;
}

/* Reading and writing; the message of the last error is kept, "" if there was none. */

static char message[1000], gnu_message[1000];

static bool failed(struct kin_error *err)
{
	bool whoami = false;
	char *gnu = err ? gnu_words(err, &whoami) : NULL;
	snprintf(message, sizeof(message), "%s", err ? kin_error_message(err) : "");
	snprintf(gnu_message, sizeof(gnu_message), "%s%s", whoami ? "W: " : "", gnu ? gnu : "");
	free(gnu);
	kin_error_free(err);
	return err != NULL;
}

static struct profile *read_files(const struct input_target *t, bool gnu, const char *a,
				  const char *b)
{
	struct input_opts o = { .target = *t, .rules = gnu ? &gnu_input_rules : NULL };
	const char *paths[] = { a, b };
	struct profile *p = NULL;
	failed(input_read(paths, b ? 2 : 1, &o, &p));
	return p;
}

static struct profile *read_one(const char *path, const struct input_target *t)
{
	return read_files(t, false, path, NULL);
}

/* A profile to write */

struct content {
	uint64_t bins[3][16];
	size_t n_histograms;
	uint32_t rate;
	struct arc arcs[20];
	size_t n_arcs;
	struct block blocks[5];
	size_t n_blocks;
};

static struct profile *make(const struct content *c)
{
	struct profile_builder *b = profile_builder_new();
	for (size_t i = 0; i < c->n_histograms; i++) {
		struct histogram h = { .low = 0x1000 * (i + 1),
				       .n = 16,
				       .rate = c->rate,
				       .dimension = "seconds",
				       .abbrev = 's' };
		h.high = h.low + 64;
		size_t index;
		if (!failed(profile_begin_histogram(b, h, &index)))
			profile_add_bins(b, index, 0, c->bins[i], 16);
	}
	for (size_t i = 0; i < c->n_arcs; i++)
		profile_add_arc(b, c->arcs[i]);
	for (size_t i = 0; i < c->n_blocks; i++)
		profile_add_block(b, c->blocks[i]);
	if (c->n_blocks)
		profile_add_block_record(b);
	return profile_finish(b);
}

static struct content random_content(void)
{
	struct content c = { .rate = 100 };
	c.n_histograms = pick(4);
	for (size_t i = 0; i < c.n_histograms; i++)
		for (int k = 0; k < 16; k++)
			c.bins[i][k] = pick(3) ? pick(10) : pick(300000);
	c.n_arcs = pick(20);
	for (size_t i = 0; i < c.n_arcs; i++)
		c.arcs[i] = (struct arc){ .from = 0x1000 + pick(9),
					  .to = 0x1000 + pick(3),
					  .count = pick(2) ? pick(10) : (uint64_t)pick(9) << 31 };
	c.n_blocks = pick(5);
	for (size_t i = 0; i < c.n_blocks; i++)
		c.blocks[i] = (struct block){ .addr = 0x1000 + pick(9), .count = pick(1000) };
	return c;
}

static bool same_hits(const struct histogram *x, const struct histogram *y)
{
	if (x->n_hits != y->n_hits)
		return false;
	struct hit a, b;
	for (size_t i = 0, j = 0; histogram_next(x, &i, &a) && histogram_next(y, &j, &b);)
		if (a.bin != b.bin || a.count != b.count)
			return false;
	return true;
}

static bool same_profiles(const struct profile *a, const struct profile *b)
{
	if (a->n_arcs != b->n_arcs || a->n_histograms != b->n_histograms ||
	    a->n_blocks != b->n_blocks)
		return false;
	for (size_t i = 0; i < a->n_arcs; i++) {
		struct arc x = arc_at(&a->arcs, i), y = arc_at(&b->arcs, i);
		if (x.from != y.from || x.to != y.to || x.count != y.count)
			return false;
	}
	for (size_t i = 0; i < a->n_blocks; i++)
		if (a->blocks[i].addr != b->blocks[i].addr ||
		    a->blocks[i].count != b->blocks[i].count)
			return false;
	for (size_t i = 0; i < a->n_histograms; i++) {
		const struct histogram *x = &a->histograms[i], *y = &b->histograms[i];
		if (x->low != y->low || x->high != y->high || x->n != y->n || x->rate != y->rate ||
		    x->abbrev != y->abbrev || strcmp(x->dimension, y->dimension) != 0 ||
		    !same_hits(x, y))
			return false;
	}
	return true;
}

static void round_trips(void)
{
	const char *path = in_dir("round");
	int bad = 0;
	for (int round = 0; round < 400; round++) {
		const struct input_target *t = targets[round % 4];
		struct content c = random_content();
		struct profile *p = make(&c);
		bad += failed(gmon_write(path, p, t));
		struct profile *q = read_one(path, t);
		bad += message[0] || !same_profiles(p, q);
		profile_free(q);
		profile_free(p);
	}
	OK(bad == 0);
}

static void bsd_round_trips(void)
{
	const char *path = in_dir("bsd");
	int bad = 0;
	for (int round = 0; round < 80; round++) {
		const struct input_target *t = targets[round % 4];
		bool bsd44 = round / 4 % 2;
		struct content c = random_content();
		c.rate = bsd44 ? 1000 : (uint32_t)sysconf(_SC_CLK_TCK);
		c.n_histograms = 1;
		c.n_blocks = 0;
		for (int k = 0; k < 16; k++)
			c.bins[0][k] &= 0xffff;
		for (size_t i = 0; i < c.n_arcs; i++)
			c.arcs[i].count &= 0xffffff;
		struct profile *p = make(&c);
		bad += failed(bsd_write(path, p, t, bsd44));
		struct profile *q = read_one(path, t);
		bad += message[0] || !same_profiles(p, q) ||
		       strcmp(q->sources[0].kind, bsd44 ? "4.4BSD" : "BSD") != 0;
		profile_free(q);
		profile_free(p);
	}
	OK(bad == 0);
}

/* Bins of 16 bits where that is enough, so that others can read the file, else wider ones. */
static void freebsd_round_trips(void)
{
	static const uint64_t largest[] = { 0xffff, 0x10000, 0xffffffff, 0x100000000 };
	static const size_t sizes[] = { 2, 4, 4, 8 };
	const char *path = in_dir("freebsd");
	int bad = 0;
	for (int round = 0; round < 16; round++) {
		const struct input_target *t = targets[round % 4];
		struct content c = { .rate = 1000, .n_histograms = 1 };
		c.bins[0][7] = largest[round / 4];
		c.bins[0][9] = 1;
		struct profile *p = make(&c);
		bad += failed(freebsd_write(path, p, t));
		struct profile *q = read_one(path, t);
		FILE *f = fopen(path, "rb");
		fseek(f, 0, SEEK_END);
		bad += message[0] || !same_profiles(p, q) ||
		       ftell(f) != (t->is_64bit ? 40 : 32) + (long)(16 * sizes[round / 4]);
		fclose(f);
		profile_free(q);
		profile_free(p);
	}
	OK(bad == 0);
}

static void large_counts_survive(void)
{
	const char *a = in_dir("large.a"), *b = in_dir("large.b"), *sum = in_dir("large.sum");
	struct content c = { .rate = 100, .n_histograms = 1, .n_arcs = 1 };
	c.bins[0][3] = 40000;
	c.bins[0][5] = 65535;
	c.arcs[0] = (struct arc){ .from = 0x1000, .to = 0x1010, .count = 0x80000032 };
	struct profile *p = make(&c);
	OK(!failed(gmon_write(a, p, &le64)) && !failed(gmon_write(b, p, &le64)));
	profile_free(p);

	p = read_files(&le64, false, a, b);
	OK(!failed(gmon_write(sum, p, &le64)));
	profile_free(p);
	p = read_one(sum, &le64);
	OK_STR(message, "");
	OK(histogram_count(&p->histograms[0], 3) == 80000);
	OK(histogram_count(&p->histograms[0], 5) == 131070);
	OK(histogram_count(&p->histograms[0], 4) == 0);
	OK(arc_at(&p->arcs, 0).count == 0x100000064); /* 2^32 + 100 */
	OK(p->sources[0].n_histograms == 2 && p->sources[0].n_arcs == 2);

	OK(failed(bsd_write(b, p, &le64, true)));
	OK(strstr(message, "BSD's format has no room for a histogram bin above 65535"));
	profile_free(p);
}

static void counts_that_no_file_holds_are_refused(void)
{
	struct content c = { .rate = 100, .n_histograms = 1 };
	c.bins[0][3] = UINT64_MAX;
	struct profile *p = make(&c);
	OK(failed(gmon_write(in_dir("never"), p, &le64)));
	OK(strstr(message, "counts are so large"));
	OK(access(in_dir("never"), F_OK) != 0);
	profile_free(p);
	/* A file of some bytes does not become one of megabytes: such counts are damaged. */
	c = (struct content){ .n_arcs = 1 };
	c.arcs[0].count = UINT64_C(4000000) << 32;
	p = make(&c);
	OK(failed(gmon_write(in_dir("never"), p, &le64)));
	OK(strstr(message, "would need more than 33554432 bytes"));
	profile_free(p);
	c.arcs[0].count = UINT64_C(1000) << 32;
	p = make(&c);
	OK(!failed(gmon_write(in_dir("large"), p, &le64)));
	profile_free(p);
	unlink(in_dir("large"));
	c = (struct content){ .n_arcs = 1 };
	c.arcs[0].from = 0x100000000;
	p = make(&c);
	OK(failed(gmon_write(in_dir("never"), p, &le32)));
	OK(strstr(message, "address 0x100000000 does not fit"));
	profile_free(p);
}

/* Cut at every offset: an error unless a record ended there; the part that was read is a prefix. */

static bool is_prefix(const struct profile *part, const struct profile *all)
{
	if (part->n_arcs > all->n_arcs || part->n_histograms > all->n_histograms ||
	    part->n_blocks > all->n_blocks)
		return false;
	for (size_t i = 0; i < part->n_arcs; i++)
		if (arc_at(&part->arcs, i).from != arc_at(&all->arcs, i).from ||
		    arc_at(&part->arcs, i).count != arc_at(&all->arcs, i).count)
			return false;
	for (size_t i = 0; i < part->n_blocks; i++)
		if (part->blocks[i].addr != all->blocks[i].addr)
			return false;
	for (size_t i = 0; i < part->n_histograms; i++)
		if (!same_hits(&part->histograms[i], &all->histograms[i]))
			return false;
	return true;
}

/* Calls fn for each length; returns how many were read without an error. */
static int cut_everywhere(const char *path, const struct input_target *t, int *bad)
{
	struct file f = get_file(path);
	struct profile *all = read_one(path, t);
	const char *cut = in_dir("cut");
	int clean = 0;
	size_t kept = 0;
	for (size_t n = 0; n < f.size; n++) {
		put_file(cut, f.data, n);
		struct profile *p = read_one(cut, t);
		clean += !message[0];
		*bad += !is_prefix(p, all) || (message[0] && !strstr(message, cut));
		*bad += p->n_arcs + p->n_histograms + p->n_blocks < kept;
		kept = p->n_arcs + p->n_histograms + p->n_blocks;
		profile_free(p);
		for (int gnu_format = 0; gnu_format < 4; gnu_format++) {
			struct input_opts o = { *t, (enum input_format)gnu_format, &gnu_input_rules,
						NULL, NULL };
			failed(input_read(&cut, 1, &o, &p));
			profile_free(p);
		}
	}
	profile_free(all);
	file_free(&f);
	return clean;
}

static void truncation_is_never_silent(void)
{
	const char *path = in_dir("whole");
	struct content c = { .rate = 100, .n_histograms = 2, .n_arcs = 3, .n_blocks = 2 };
	for (int k = 0; k < 16; k++)
		c.bins[0][k] = c.bins[1][k] = (uint64_t)k;
	for (uint64_t i = 0; i < 3; i++)
		c.arcs[i] = (struct arc){ .from = 0x1000 + i, .to = 0x1000, .count = i + 1 };
	c.blocks[0] = (struct block){ .addr = 0x1000, .count = 1 };
	c.blocks[1] = (struct block){ .addr = 0x1001, .count = 1 };
	for (int i = 0; i < 4; i++) {
		int bad = 0;
		struct profile *p = make(&c);
		OK(!failed(gmon_write(path, p, targets[i])));
		OK(cut_everywhere(path, targets[i], &bad) == 6); /* after the header, 5 records */
		OK(bad == 0);
		profile_free(p);
	}
	c.n_blocks = 0;
	c.n_histograms = 1;
	for (int i = 0; i < 8; i++) {
		int bad = 0;
		struct profile *p = make(&c);
		OK(!failed(bsd_write(path, p, targets[i % 4], i >= 4)));
		OK(cut_everywhere(path, targets[i % 4], &bad) == 3); /* after the samples, 2 arcs */
		OK(bad == 0);
		profile_free(p);
	}
}

static void a_cut_says_where(void)
{
	const char *path = in_dir("cut");
	struct content c = { .n_arcs = 2, .arcs = { { .from = 1 }, { .from = 2 } } };
	struct profile *p = make(&c);
	OK(!failed(gmon_write(path, p, &le64)));
	profile_free(p);
	OK(truncate(path, 20 + 21 + 5) == 0);
	p = read_one(path, &le64);
	OK(p->n_arcs == 1);
	OK(strstr(message, "/cut: cut off in the arc at offset 0x29: "));
	profile_free(p);
	p = read_files(&le64, true, path, NULL);
	OK(!strncmp(gnu_message, "W: /tmp/", 8) &&
	   strstr(gnu_message, "/cut: unexpected end of file"));
	profile_free(p);
}

/* Lies */

static void lying_sizes_take_no_memory(void)
{
	static const uint8_t head[20] = { 'g', 'm', 'o', 'n', 1 };
	const char *path = in_dir("liar");
	uint8_t data[3000] = { 0 };
	memcpy(data, head, sizeof(head));
	uint64_t low = 0x1000, high = UINT64_MAX;
	uint32_t n = 0x80000000, rate = 100;
	memcpy(data + 21, &low, 8);
	memcpy(data + 29, &high, 8);
	memcpy(data + 37, &n, 4);
	memcpy(data + 41, &rate, 4);
	strcpy((char *)data + 45, "seconds");
	put_file(path, data, sizeof(data));
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	struct profile *p = read_one(path, &le64);
	OK(strstr(message,
		  "/liar: damaged at offset 0x14: a histogram has more bins than any program"));
	profile_free(p);
	p = read_files(&le64, true, path, NULL);
	OK(strstr(gnu_message, "/liar: unexpected EOF after reading 1469 of 2147483648 samples"));
	profile_free(p);
	getrusage(RUSAGE_SELF, &after);
	OK(after.ru_maxrss - before.ru_maxrss < 4096); /* KB */

	/* A file that is nearly all hole is read without taking its size in memory. */
	put_file(path, head, sizeof(head));
	OK(truncate(path, 200 << 20) == 0);
	p = read_one(path, &le64);
	OK(strstr(message, "/liar: cut off in the histogram at offset"));
	OK(p->n_histograms == 1);
	profile_free(p);
	getrusage(RUSAGE_SELF, &after);
	OK(after.ru_maxrss - before.ru_maxrss < 4096);
}

static void junk_is_refused(void)
{
	char zeros[100] = { 0 };
	put_file(in_dir("zeros"), zeros, sizeof(zeros));
	struct profile *p = read_one(in_dir("zeros"), &le64);
	OK(strstr(message, "/zeros: not a profile of a format that kin reads (gmon, kin"));
	profile_free(p);
	put_file(in_dir("packed"),
		 "\xfd"
		 "7zXZ",
		 6);
	p = read_one(in_dir("packed"), &le64);
	OK(strstr(message, "/packed: packed by xz: unpack it by xz -d"));
	profile_free(p);
	const char heap[] = "heap profile:   1: 320 [ 1: 320] @ heapprofile\n";
	put_file(in_dir("heap"), heap, strlen(heap));
	p = read_one(in_dir("heap"), &le64);
	OK(strstr(message, "/heap: a profile of the heap as text: go tool pprof -proto"));
	profile_free(p);
	const char by_jemalloc[] =
		"heap_v2/524288\n  t*: 28106: 56637512 [0: 0]\n@ 0x5f86da 0x5f5a1d\n";
	put_file(in_dir("jemalloc"), by_jemalloc, strlen(by_jemalloc));
	p = read_one(in_dir("jemalloc"), &le64);
	OK(strstr(message, "/jemalloc: a profile of the heap by jemalloc: jeprof --collapsed"));
	profile_free(p);
	const char goroutines[] = "goroutine profile: total 4\n1 @ 0x43 0x44\n";
	put_file(in_dir("goroutines"), goroutines, strlen(goroutines));
	p = read_one(in_dir("goroutines"), &le64);
	OK(strstr(message, "/goroutines: a profile of goroutines as text: go tool pprof -proto"));
	profile_free(p);
	/* Its first line ends in a number, and bytes as text may have the mark of folded stacks. */
	const char dump[] = "\n0x108@perf.data [0x50]: event: 69\n.\n"
			    ". ... raw event: size 80 bytes\n"
			    ".  0000:  45 00 00 00 00 00 50 00  E.;...P.\n";
	put_file(in_dir("dump"), dump, strlen(dump));
	p = read_one(in_dir("dump"), &le64);
	OK(strstr(message, "/dump: what perf script -D prints: kin reads what it prints without"));
	profile_free(p);
	p = read_files(&le64, true, in_dir("zeros"), NULL);
	OK(strstr(gnu_message, "/zeros' does not appear to be in gmon.out format"));
	profile_free(p);
	p = read_one(in_dir("missing"), &le64);
	OK(strstr(message, "/missing: No such file or directory"));
	OK(p && p->n_arcs == 0);
	profile_free(p);
	put_file(in_dir("tag"), "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7", 21);
	p = read_one(in_dir("tag"), &le64);
	OK(strstr(message, "/tag: damaged at offset 0x14: no such kind of record"));
	profile_free(p);
	p = read_files(&le64, true, in_dir("tag"), NULL);
	OK(strstr(gnu_message, "/tag: found bad tag 7 (file corrupted?)"));
	profile_free(p);
	p = read_one(in_dir("tag"), &be64);
	OK(strstr(message, "version 16777216 of gmon.out"));
	profile_free(p);
	OK(mkfifo(in_dir("fifo"), 0600) == 0);
	p = read_one(in_dir("fifo"), &le64); /* which must not wait for a writer for ever */
	OK(strstr(message, "/fifo: 0 bytes are too short"));
	profile_free(p);
}

/* Laws of merging */

static void write_canonical(const char *path, const struct profile *p)
{
	struct profile *q = profile_canonical(p, NULL, NULL);
	if (failed(gmon_write(path, q, &le64)))
		printf("# %s\n", message);
	profile_free(q);
}

static void merge(const char *to, const char *a, const char *b)
{
	struct profile *p = read_files(&le64, false, a, b);
	write_canonical(to, p);
	profile_free(p);
}

static void merging_is_associative_and_commutative(void)
{
	static const char *const names[] = { "m0", "m1", "m2" };
	char a[100], b[100], c[100], ab[100], bc[100], left[100], right[100], other[100];
	char *const all[] = { a, b, c, ab, bc, left, right, other };
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char name[20];
		snprintf(name, sizeof(name), "merge%zu", i);
		snprintf(all[i], 100, "%s", in_dir(name));
	}
	int bad = 0;
	for (int round = 0; round < 150; round++) {
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct content content = random_content();
			struct profile *p = make(&content);
			bad += failed(gmon_write(all[i], p, &le64));
			profile_free(p);
		}
		merge(ab, a, b);
		merge(other, b, a);
		bad += !same_files(ab, other);
		merge(bc, b, c);
		merge(left, ab, c);
		merge(right, a, bc);
		bad += !same_files(left, right);
		merge(other, left, NULL);
		bad += !same_files(left, other); /* and canonical once is canonical for ever */
	}
	OK(bad == 0);
}

/* Files large enough for threads give what reading in turn gives, errors included. */

/* With a histogram from `low` on, if that is not 0. */
static struct profile *make_large(uint32_t salt, uint64_t low)
{
	struct profile_builder *b = profile_builder_new();
	struct histogram h = { .low = low,
			       .high = low + 64,
			       .n = 16,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };
	size_t index;
	if (low)
		OK(!failed(profile_begin_histogram(b, h, &index)));
	for (uint32_t i = 0; i < 150000; i++)
		if (pick(50))
			profile_add_arc(b,
					(struct arc){ .from = 0x1000 + (i ^ (pick(500) ? 0 : salt)),
						      .to = 0x1000 + i % 100,
						      .count = i + salt });
	return profile_finish(b);
}

static void write_large(const char *path, uint32_t salt, uint64_t low)
{
	struct profile *p = make_large(salt, low);
	if (failed(gmon_write(path, p, &le64)))
		printf("# %s\n", message);
	profile_free(p);
}

static void note_source(const struct source *s, const char *path, void *arg)
{
	(void)s;
	strcat(arg, strrchr(path, '/') + 1);
}

static void threads_change_nothing(void)
{
	static const char *const names[] = { "t0", "t1", "t2", "t3", "t4" };
	char paths_of[5][100];
	const char *paths[5];
	struct profile *turn = NULL, *p;
	char told[100] = "";
	struct input_opts o = { .target = le64, .on_source = note_source, .arg = told };
	struct profile_builder *b = profile_builder_new();
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(paths_of[i], sizeof(paths_of[i]), "%s", in_dir(names[i]));
		paths[i] = paths_of[i];
		write_large(paths[i], i * 1000, 0);
		struct file f = get_file(paths[i]);
		struct source source = { .kind = "gmon" };
		failed(gmon_format.read(bytes_of(paths[i], f.data, f.size), &o, b, &source));
		profile_add_source(b, paths[i], source);
		file_free(&f);
	}
	turn = profile_finish(b);
	OK(!failed(input_read(paths, 5, &o, &p)));
	OK_STR(told, "t0t1t2t3t4");
	OK(same_profiles(turn, p));
	profile_free(p);

	OK(truncate(paths[1], 100) == 0 && truncate(paths[3], 1000000) == 0);
	told[0] = '\0';
	OK(failed(input_read(paths, 5, &o, &p)));
	OK(strstr(message, "/t1: cut off"));
	OK_STR(told, "t0t1t2t3t4"); /* the others are read all the same */
	profile_free(p);
	told[0] = '\0';
	o.rules = &gnu_input_rules;
	OK(failed(input_read(paths, 5, &o, &p)));
	OK(strstr(gnu_message, "/t1: unexpected end of file"));
	OK_STR(told, "t0");
	profile_free(p);
	profile_free(turn);
}

/* A pipe with the bytes of a file, as a name. */
static const char *pipe_of(const char *path, int *end)
{
	static char name[32];
	struct file f = get_file(path);
	int ends[2];
	OK(pipe(ends) == 0 && write(ends[1], f.data, f.size) == (ssize_t)f.size);
	close(ends[1]);
	file_free(&f);
	*end = ends[0];
	snprintf(name, sizeof(name), "/dev/fd/%d", *end);
	return name;
}

/* Whatever threads read first, each file is checked against all before it. */
static void threads_find_what_does_not_fit(void)
{
	const char *paths[] = { in_dir("f0"), in_dir("f1"), in_dir("f1"), in_dir("f2"),
				in_dir("f3") };
	static const uint64_t lows[] = { 0x1040, 0, 0, 0x1000, 0x1020 };
	struct input_opts o = { .target = le64 };
	struct profile *p;
	for (uint32_t i = 0; i < 5; i++)
		write_large(paths[i], i, lows[i]);
	OK(failed(input_read(paths, 5, &o, &p)));
	OK(strstr(message, "/f3: at offset 0x14: histogram of 0x1020..0x1060 overlaps "
			   "the one of 0x1040..0x1080: "));
	OK(p->n_sources == 5 && p->n_histograms == 2);
	profile_free(p);

	/* Two that fit their thread's others, but not each other. A pipe is read once, however
	 * often the files are. */
	struct content c = { .n_arcs = 1, .arcs = { { .from = 1, .to = 2, .count = 3 } } };
	int end;
	p = make(&c);
	OK(!failed(gmon_write(in_dir("piped"), p, &le64)));
	profile_free(p);
	const char *alone[] = { pipe_of(in_dir("piped"), &end), paths[1], paths[0], paths[4] };
	OK(failed(input_read(alone, 4, &o, &p)));
	OK(strstr(message, "/f3: at offset 0x14: histogram of 0x1020..0x1060 overlaps "));
	OK(p->n_sources == 4 && p->n_histograms == 1);
	profile_free(p);
	close(end);

	/* GNU gprof checks a file of BSD against the first of all. */
	o.rules = &gnu_input_rules;
	p = make_large(3, 0x2000);
	OK(!failed(bsd_write(paths[4], p, &le64, true)));
	profile_free(p);
	const char *two[] = { paths[0], paths[4] };
	OK(failed(input_read(two, 2, &o, &p)));
	OK(strstr(gnu_message, "/f3: incompatible with first gmon file"));
	OK(p->n_sources == 1 && p->n_histograms == 1);
	profile_free(p);
	two[1] = paths[3]; /* GNU's histogram may cover another range */
	OK(!failed(input_read(two, 2, &o, &p)));
	OK(p->n_sources == 2 && p->n_histograms == 2);
	profile_free(p);
}

/* Names */

static void names_may_be_directories_and_patterns(void)
{
	const char *sub = in_dir("sub");
	char pattern[100], told[200] = "";
	struct content c = { .n_arcs = 1, .arcs = { { .from = 1, .to = 2, .count = 3 } } };
	struct profile *p = make(&c);
	OK(mkdir(sub, 0700) == 0);
	OK(!failed(gmon_write(in_dir("sub/gmon.out.2"), p, &le64)));
	OK(!failed(gmon_write(in_dir("sub/gmon.out"), p, &le64)));
	OK(!failed(gmon_write(in_dir("sub/gmon.out.10"), p, &le64)));
	OK(!failed(gmon_write(in_dir("sub/other"), p, &le64)));
	profile_free(p);

	struct input_opts o = { .target = le64, .on_source = note_source, .arg = told };
	OK(!failed(input_read(&sub, 1, &o, &p)));
	OK(arc_at(&p->arcs, 0).count == 9);
	OK_STR(told, "gmon.outgmon.out.10gmon.out.2");
	profile_free(p);

	snprintf(pattern, sizeof(pattern), "%s/[go]*", sub);
	const char *path = pattern;
	OK(!failed(input_read(&path, 1, &o, &p)));
	OK(arc_at(&p->arcs, 0).count == 12);
	profile_free(p);
	snprintf(pattern, sizeof(pattern), "%s/no*", sub);
	OK(failed(input_read(&path, 1, &o, &p)));
	OK(strstr(message, "/no*: No such file or directory"));
	profile_free(p);

	o.rules = &gnu_input_rules;
	OK(failed(input_read(&sub, 1, &o, &p)));
	OK(strstr(gnu_message, "/sub: file too short to be a gmon file"));
	profile_free(p);
}

/* "NAME NAME ..." of the files below the directory; the error, if there is one. */
static const char *names_of_files(struct paths *files, struct kin_error *err)
{
	static char text[400];
	snprintf(text, sizeof(text), "%s", err ? kin_error_message(err) : "");
	for (size_t i = 0; i < files->at.n; i++) {
		if (strncmp(files->at.at[i], dir, strlen(dir)) != 0)
			strcat(text, "elsewhere: ");
		strcat(text, strncmp(files->at.at[i], dir, strlen(dir))
				     ? files->at.at[i]
				     : files->at.at[i] + strlen(dir));
		strcat(text, " ");
	}
	kin_error_free(err);
	paths_free(files);
	return text;
}

/* Those that a path stands for. */
static const char *expanded(const char *path)
{
	struct paths files = { 0 };
	struct kin_error *err = paths_expand(&files, path);
	return names_of_files(&files, err);
}

/* The files that the first of several operands stands for. */
static const char *expanded_among(const char *const *operands, size_t n)
{
	struct paths files = { 0 };
	struct kin_error *err = paths_expand_among(&files, operands[0], operands, n);
	return names_of_files(&files, err);
}

/* The runtime writes a recording and a gmon.out. */
static void runs_count_once(void)
{
	struct content c = { .n_arcs = 1, .arcs = { { .from = 1, .to = 2, .count = 3 } } };
	struct profile *p = make(&c);
	uint8_t page[KINF_PAGE] = { 0 };
	struct kinf_header h = { .magic = KINF_MAGIC,
				 .version = 1,
				 .page = KINF_PAGE,
				 .writer = KINF_BY_RUNTIME,
				 .pid = 7,
				 .start_time_ns = 1000 };
	memcpy(page, &h, sizeof(h));
	OK(mkdir(in_dir("run"), 0700) == 0);
	put_file(in_dir("run/of7.kin"), page, sizeof(page));
	put_file(in_dir("run/other.kin"), "", 0);
	const char *both[] = { in_dir("run/gmon.out"), in_dir("run/of7.kin") };
	const char *beside[] = { in_dir("run"), both[1], in_dir("run/../run/other.kin") };
	struct input_opts o = { .target = le64 };
	static const struct {
		uint64_t start_time_ns;
		uint32_t pid;
		bool is_same;
	} runs[] = { { 1000, 7, true }, { 1000, 8, false }, { 1001, 7, false }, { 0, 0, false } };

	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		struct profile *read;
		OK(!failed(gmon_write(both[0], p, &le64)));
		int fd = open(both[0], O_WRONLY);
		OK(pwrite(fd, &runs[i].start_time_ns, 8, KINF_GMON_RUN) == 8);
		OK(pwrite(fd, &runs[i].pid, 4, KINF_GMON_RUN + 8) == 4);
		close(fd);
		OK(input_says_program(both, 2, NULL, NULL) == runs[i].is_same);
		OK(!failed(input_read(both, 2, &o, &read)));
		OK(read->n_sources == 2 && read->sources[0].left_out == runs[i].is_same);
		OK(read->n_arcs == !runs[i].is_same);
		profile_free(read);
		OK(!failed(input_read(both, 1, &o, &read))); /* alone it has all there is */
		OK(read->n_arcs == 1 && !read->sources[0].left_out);
		profile_free(read);

		/* Their directory stands for one of them. A file that is also named itself counts
		 * once, and is not left out. */
		bool same = runs[i].is_same;
		size_t n_left;
		OK_STR(expanded(beside[0]), same ? "/run/of7.kin " : "/run/gmon.out ");
		OK_STR(expanded_among(beside, 2), same ? "" : "/run/gmon.out ");
		char *left = paths_left_out(beside[0], beside, 1, &n_left);
		OK(strstr(left, same ? "/other.kin" : "/of7.kin") && n_left == (same ? 1 : 2));
		free(left);
		left = paths_left_out(beside[0], beside, 2, &n_left);
		OK(strstr(left, "/other.kin") && n_left == 1);
		free(left);
		OK(!paths_left_out(beside[0], beside, 3, &n_left) && !n_left);
	}
	profile_free(p);
}

static void paths_stand_for_files(void)
{
	char slash[100];
	OK(mkdir(in_dir("many"), 0700) == 0 && mkdir(in_dir("many/gmon.out.d"), 0700) == 0);
	put_file(in_dir("many/gmon.out.b"), "", 0);
	put_file(in_dir("many/gmon.out.a"), "", 0);
	put_file(in_dir("many/gmon.out.libx.so"), "", 0);
	put_file(in_dir("many/[x]"), "", 0);
	snprintf(slash, sizeof(slash), "%s/many/", dir);
	OK_STR(expanded(in_dir("many")), "/many/gmon.out.a /many/gmon.out.b ");
	OK_STR(expanded(slash), "/many/gmon.out.a /many/gmon.out.b ");
	OK_STR(expanded(in_dir("many/gmon.out.a")), "/many/gmon.out.a ");
	OK_STR(expanded(in_dir("many/gmon.out.?")), "/many/gmon.out.a /many/gmon.out.b "
						    "/many/gmon.out.d ");
	OK_STR(expanded(in_dir("many/[x]")), "/many/[x] "); /* there is such a file */
	OK_STR(expanded(in_dir("many/[y]")), "/many/[y] ");
	OK_STR(expanded(in_dir("none")), "/none ");
	OK_STR(expanded("-"), "elsewhere: - ");
	OK(strstr(expanded(in_dir("many/gmon.out.d")), "directory without gmon.out files"));
	OK(strstr(expanded("/dev/null/x"), "elsewhere: /dev/null/x"));

	/* A directory that cannot be read is not taken for one without files. */
	struct rlimit files_open, none_open;
	getrlimit(RLIMIT_NOFILE, &files_open);
	none_open = (struct rlimit){ 0, files_open.rlim_max };
	fflush(stdout);
	setrlimit(RLIMIT_NOFILE, &none_open);
	const char *why = expanded(in_dir("many"));
	setrlimit(RLIMIT_NOFILE, &files_open);
	OK(strstr(why, "/many: Too many open files"));

	/* Recordings have any name: those of kin record --every end in a time. A file with the name
	 * of a recording and other contents counts as damaged, when it is read. The file of a
	 * killed writer is no recording. */
	static const uint64_t orders[] = { KINF_MAGIC, __builtin_bswap64(KINF_MAGIC) };
	OK(mkdir(in_dir("day"), 0700) == 0 && mkdir(in_dir("day/folder"), 0700) == 0);
	put_file(in_dir("day/profile.kin.20260131120000"), &orders[0], sizeof(orders[0]));
	put_file(in_dir("day/other"), &orders[1], sizeof(orders[1]));
	put_file(in_dir("day/short.kin"), &orders[0], sizeof(orders[0]) - 1);
	put_file(in_dir("day/text.txt"), "a program", 9);
	put_file(in_dir("day/left.kin.7.0.tmp"), &orders[0], sizeof(orders[0]));
	OK_STR(expanded(in_dir("day")),
	       "/day/other /day/profile.kin.20260131120000 /day/short.kin ");
	put_file(in_dir("day/gmon.out"), "gmon", 4); /* counts alone, as it ever did */
	OK_STR(expanded(in_dir("day")), "/day/gmon.out ");

	/* In the order in which they are given, each in an order of its own. */
	struct paths files = { 0 };
	const char *const given[] = { in_dir("many/gmon.out.b"), in_dir("many"),
				      in_dir("many/gmon.out.[ab]"), in_dir("many/gmon.out.a") };
	static const char order[] = "bababa"; /* b; a, b; a, b; a */
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		OK(!paths_expand(&files, given[i]));
	OK(files.at.n == 6);
	for (size_t i = 0; i < 6 && i < files.at.n; i++)
		OK(files.at.at[i][strlen(files.at.at[i]) - 1] == order[i]);
	paths_free(&files);

	/* perf record --threads: the folder is the recording. */
	static const char *const magic[] = { "PERFILE2", "2ELIFREP" };
	OK(mkdir(in_dir("rec"), 0700) == 0);
	for (int i = 0; i < 2; i++) {
		put_file(in_dir("rec/data"), magic[i], 8);
		OK_STR(expanded(in_dir("rec")), "/rec/data ");
		char *inside = paths_perf_folder(in_dir("rec"));
		OK(inside && !strcmp(inside, in_dir("rec/data")));
		free(inside);
	}
	const char *rec = in_dir("rec");
	OK(input_says_program(&rec, 1, NULL, NULL));
	int saved = dup(STDIN_FILENO); /* descriptor 0 is one like others */
	close(STDIN_FILENO);
	char *inside = paths_perf_folder(rec);
	OK(inside && !strcmp(inside, in_dir("rec/data")) && fcntl(STDIN_FILENO, F_GETFD) < 0);
	free(inside);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
	close(saved);
	put_file(in_dir("rec/data"), "PERFILE2", 7);
	OK(strstr(expanded(in_dir("rec")), "directory without gmon.out files"));
	put_file(in_dir("rec/data"), "PERFILE3", 8);
	OK(!paths_perf_folder(in_dir("rec")));
	OK(unlink(in_dir("rec/data")) == 0 && mkdir(in_dir("rec/data"), 0700) == 0);
	OK(!paths_perf_folder(in_dir("rec")));
	int next = dup(0), after;
	close(next);
	free(paths_perf_folder(in_dir("rec")));
	expanded(in_dir("many"));
	after = dup(0);
	close(after);
	OK(after == next);
}

/* Input that can be read only once is read first, and held for all later reads. */
static void what_is_read_once_is_held(void)
{
	struct file f = get_file(in_dir("sub/gmon.out"));
	char pipe_path[32];
	int ends[2];
	OK(pipe(ends) == 0 && write(ends[1], f.data, f.size) == (ssize_t)f.size);
	close(ends[1]);
	snprintf(pipe_path, sizeof(pipe_path), "/dev/fd/%d", ends[0]);
	const char *const all[] = { pipe_path, in_dir("sub/gmon.out.2"), pipe_path };
	struct input_held *held = input_hold(all, 3);
	OK(!input_says_program(all, 3, held, NULL) && !input_says_program(all + 2, 1, held, NULL));
	OK(!failed(input_check(all, 3, held)));
	struct input_opts o = { .target = le64, .held = held };
	struct profile *p;
	OK(!failed(input_read(all, 2, &o, &p)));
	OK(p->n_sources == 2 && arc_at(&p->arcs, 0).count == 6);
	profile_free(p);
	OK(failed(input_read(all, 1, &o, &p))); /* it is empty now */
	profile_free(p);
	input_held_free(held);
	input_held_free(NULL);
	close(ends[0]);
	file_free(&f);

	static const char stacks[] = "main;work 5\nmain;idle 7\nmain 1\n";
	OK(pipe(ends) == 0 && write(ends[1], stacks, sizeof(stacks) - 1) > 0);
	close(ends[1]);
	snprintf(pipe_path, sizeof(pipe_path), "/dev/fd/%d", ends[0]);
	held = input_hold(all, 1);
	OK(input_says_program(all, 1, held, NULL) && !failed(input_check(all, 1, held)));
	o.held = held;
	OK(!failed(input_read(all, 1, &o, &p)));
	OK(p->samples.n == 3);
	profile_free(p);
	input_held_free(held);
	close(ends[0]);
}

static void files_are_checked(void)
{
	const char *paths[] = { in_dir("sub/gmon.out"), in_dir("zeros") };
	static const char stacks[] = "main;work 5\nmain;idle 7\nmain 1\n";
	OK(!failed(input_check(paths, 1, NULL)));
	OK(failed(input_check(paths, 2, NULL)) && strstr(message, "/zeros: not a profile"));
	paths[0] = in_dir("sub");
	OK(!failed(input_check(paths, 1, NULL)));
	paths[0] = in_dir("missing");
	OK(failed(input_check(paths, 1, NULL)) && strstr(message, "/missing: No such file"));
	paths[0] = in_dir("short");
	put_file(paths[0], "abcd", 4);
	OK(failed(input_check(paths, 1, NULL)) && strstr(message, "4 bytes are too short"));
	paths[0] = in_dir("nothing");
	put_file(paths[0], "", 0);
	OK(failed(input_check(paths, 1, NULL)) && strstr(message, "0 bytes are too short"));
	paths[0] = in_dir("stacks.folded");
	put_file(paths[0], stacks, strlen(stacks));
	OK(!failed(input_check(paths, 1, NULL)));
	OK(input_says_program(paths, 1, NULL,
			      NULL)); /* of functions by name: no program is needed */
	paths[1] = in_dir("sub/gmon.out");
	OK(!input_says_program(paths, 2, NULL, NULL) &&
	   !input_says_program(paths + 1, 1, NULL, NULL));
	paths[1] = in_dir("zeros");
	OK(input_says_program(paths, 2, NULL, NULL) && !input_says_program(paths, 0, NULL, NULL));
	OK(!input_says_program(paths + 1, 1, NULL, NULL));
	paths[1] = in_dir("missing"); /* a missing file needs no program */
	OK(input_says_program(paths, 2, NULL, NULL) &&
	   !input_says_program(paths + 1, 1, NULL, NULL));
}

static void note_version(const struct source *s, const char *path, void *arg)
{
	(void)path;
	sprintf((char *)arg + strlen(arg), "%s:%d ", s->kind, s->version);
}

/* GNU gprof prints for a file without a version that of the previous file. */
static void versions_are_told(void)
{
	char told[100];
	struct content c = { .rate = 100, .n_histograms = 1 };
	const char *paths[] = { in_dir("v.gmon"), in_dir("v.bsd"), in_dir("v.gmon") };
	struct profile *p = make(&c), *q;
	OK(!failed(gmon_write(paths[0], p, &le64)) && !failed(bsd_write(paths[1], p, &le64, true)));
	for (int gnu = 0; gnu < 2; gnu++) {
		struct input_opts o = { .target = le64,
					.rules = gnu ? &gnu_input_rules : NULL,
					.on_source = note_version,
					.arg = told };
		told[0] = '\0';
		failed(input_read(paths + 1, 2, &o, &q));
		OK_STR(told, "4.4BSD:0 gmon:1 ");
		profile_free(q);
		told[0] = '\0';
		failed(input_read(paths, 2, &o, &q));
		OK_STR(told, gnu ? "gmon:1 4.4BSD:1 " : "gmon:1 4.4BSD:0 ");
		profile_free(q);
	}
	profile_free(p);
}

/* A store is no file; one that does not answer gives a message like a missing file. */
static void names_may_be_of_stores(void)
{
	const char *paths[] = { "http://127.0.0.1:1/", in_dir("sub/gmon.out") };
	struct input_opts o = { .target = le64 };
	struct profile *p;
	OK(failed(input_read(paths, 2, &o, &p)));
	OK(p->n_sources == 2 && p->n_arcs == 1);
	OK_STR(p->sources[0].kind, "store");
	OK_STR(strtab_get(p->strings, p->sources[0].path), paths[0]);
	profile_free(p);
	OK(!failed(input_check(paths, 2, NULL))); /* the store is requested only when it is read */
	OK(input_says_program(paths, 1, NULL, NULL));
}

/* A packed file is read as its contents; of a truncated one the first part is read. */
static void packed_files_are_unpacked(void)
{
	enum { N = 5000, ROOM = 1 << 20 };
	static uint8_t packed[ROOM];
	struct profile_builder *b = profile_builder_new();
	for (uint32_t i = 0; i < N; i++)
		profile_add_arc(b, (struct arc){ .from = i, .to = pick(1u << 31), .count = 1 });
	struct profile *p = profile_finish(b), *q;
	OK(!failed(gmon_write(in_dir("plain"), p, &le64)));
	struct file f = get_file(in_dir("plain"));
	size_t n = gzip_pack(packed, ROOM, f.data, f.size);
	OK(n > FORMAT_HEAD);
	put_file(in_dir("packed"), packed, n);
	const char *path = in_dir("packed");
	OK(!failed(input_check(&path, 1, NULL)));
	q = read_one(path, &le64);
	OK_STR(message, "");
	OK(same_profiles(p, q));
	profile_free(q);
	put_file(path, packed, n / 2);
	q = read_one(path, &le64);
	OK(message[0] && q->n_arcs > N / 4 && q->n_arcs < N && is_prefix(q, p));
	profile_free(q);
	/* Where the cut is between two records, the reader sees nothing of it. */
	f.size = 20 + 21 * 100;
	n = gzip_pack(packed, ROOM, f.data, f.size);
	put_file(path, packed, n - 4);
	q = read_one(path, &le64);
	OK(strstr(message, "/packed: damaged or cut off: only a part of it was read"));
	OK(q->n_arcs == 100);
	profile_free(q);
	q = read_files(&le64, true, path, NULL); /* GNU gprof unpacks nothing */
	OK(message[0] && !q->n_arcs);
	profile_free(q);
	profile_free(p);
	file_free(&f);
}

static void standard_input_is_a_file_too(void)
{
	int fd = open(in_dir("sub/gmon.out"), O_RDONLY), saved = dup(STDIN_FILENO);
	OK(fd >= 0 && dup2(fd, STDIN_FILENO) >= 0);
	struct profile *p = read_files(&le64, false, "-", NULL);
	OK_STR(message, "");
	OK(p->n_arcs == 1);
	OK_STR(strtab_get(p->strings, p->sources[0].path), "-");
	profile_free(p);
	close(fd);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
	close(saved);
}

/* bb.out */

static void bb_out_is_read(void)
{
	static const char text[] =
		"Basic block profiling finished on Tue Jan  7 11:22:33 1997\n\n"
		"File a, 7 basic blocks executed, x.c, 2 basic blocks \n\n"
		"    Block #1: executed          1 time(s) address= 0x401000 function= main line= "
		"3\n"
		"    Block #2: executed        256 time(s) address= 0x00000000004010aF function= "
		"f\n"
		"\nFile b.c, 1 basic blocks \n\n"
		"    Block #1: executed 5 time(s) executed x address= 0x5 file= executed 7\n\n";
	const char *path = in_dir("bb.out");
	put_file(path, text, strlen(text));
	struct profile *p = read_one(path, &le64);
	OK_STR(message, "");
	OK(p->n_blocks == 3 && p->n_block_records == 2 && p->sources[0].n_blocks == 2);
	OK(p->blocks[0].addr == 0x401000 && p->blocks[0].count == 1);
	OK(p->blocks[1].addr == 0x4010af && p->blocks[1].count == 256);
	OK(p->blocks[2].addr == 5 && p->blocks[2].count == 5);
	OK_STR(p->sources[0].kind, "bb.out");
	profile_free(p);

	put_file(path, text, strlen(text) - 20);
	p = read_one(path, &le64);
	OK(strstr(message, "/bb.out: cut off in line 10"));
	OK(p->n_blocks == 2);
	profile_free(p);
	const char *group = strstr(text, "File a");
	put_file(path, group, (size_t)(strstr(group, "\n\n") + 2 - group));
	p = read_one(path, &le64);
	OK(strstr(message, "/bb.out: the group at line 1 says 2 basic blocks and has 0"));
	profile_free(p);
}

/* BSD's variants */

static void freebsd_counters_are_as_wide_as_they_say(void)
{
	static const int32_t types[] = { 8, -8, 16, -16, 32, -32, 64, -64 };
	const char *path = in_dir("wide");
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		size_t size = (size_t)abs(types[i]) / 8;
		uint32_t ncnt = (uint32_t)(40 + 4 * size), version = 0x51879, rate = 128;
		uint64_t low = 0x1000, high = 0x1010, count = 100;
		uint8_t data[40 + 32] = { 0 };
		memcpy(data, &low, 8);
		memcpy(data + 8, &high, 8);
		memcpy(data + 16, &ncnt, 4);
		memcpy(data + 20, &version, 4);
		memcpy(data + 24, &rate, 4);
		memcpy(data + 28, &types[i], 4);
		memcpy(data + 40 + 2 * size, &count,
		       size); /* little-endian host or not: see below */
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			data[40 + 3 * size - 1] = 100;
		put_file(path, data, ncnt);
		struct input_target here = { true, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
		struct profile *p = read_one(path, &here);
		OK(!message[0] && p->histograms[0].n == 4 &&
		   histogram_count(&p->histograms[0], 2) == 100 && p->histograms[0].rate == 128);
		profile_free(p);
	}
}

/* Writing */

static void a_failed_write_leaves_the_old_file(void)
{
	const char *path = in_dir("full");
	struct content c = { .rate = 100, .n_histograms = 1 };
	struct profile *p = make(&c);
	put_file(path, "old", 3);
	struct rlimit old, small = { 50, RLIM_INFINITY };
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	fflush(stdout);
	setrlimit(RLIMIT_FSIZE, &small);
	bool full = failed(gmon_write(path, p, &le64));
	setrlimit(RLIMIT_FSIZE, &old);
	OK(full);
	OK(strstr(message, "cannot write ") && strstr(message, "/full: File too large"));
	struct file f = get_file(path);
	OK(f.size == 3 && !memcmp(f.data, "old", 3));
	file_free(&f);
	OK(failed(gmon_write("/dev/full", p, &le64)));
	OK_STR(message, "cannot write /dev/full: No space left on device");
	OK(failed(gmon_write(in_dir("no/such"), p, &le64)));
	OK(strstr(message, "/no/such: No such file or directory"));

	OK(symlink("full", in_dir("link")) == 0 && chmod(path, 0640) == 0);
	OK(failed(gmon_write(in_dir("link"), p, &le64)));
	OK(strstr(message, "/link: a symbolic link, which is not written through; remove it"));
	struct stat st;
	OK(lstat(in_dir("link"), &st) == 0 && S_ISLNK(st.st_mode));
	OK(!failed(gmon_write(path, p, &le64)));
	OK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640 && st.st_size == 20 + 41 + 32);
	profile_free(p);
}

static void clean_up(void)
{
	char command[100];
	snprintf(command, sizeof(command), "rm -r %s", dir);
	OK(system(command) == 0);
}

static void test_names(void)
{
	OK(paths_is_gmon("gmon.out") && paths_is_gmon("gmon.out.1234") &&
	   paths_is_gmon("gmon.out.so2"));
	OK(!paths_is_gmon("gmon.sum") && !paths_is_gmon("gmon.out.libc.so.6") &&
	   !paths_is_gmon("gmon.out.1234.plug.so"));
}

int main(void)
{
	if (!mkdtemp(dir)) {
		printf("Bail out! no directory in /tmp\n");
		return 1;
	}
	round_trips();
	bsd_round_trips();
	freebsd_round_trips();
	large_counts_survive();
	counts_that_no_file_holds_are_refused();
	truncation_is_never_silent();
	a_cut_says_where();
	lying_sizes_take_no_memory();
	junk_is_refused();
	merging_is_associative_and_commutative();
	threads_change_nothing();
	threads_find_what_does_not_fit();
	names_may_be_directories_and_patterns();
	runs_count_once();
	paths_stand_for_files();
	what_is_read_once_is_held();
	files_are_checked();
	versions_are_told();
	names_may_be_of_stores();
	packed_files_are_unpacked();
	standard_input_is_a_file_too();
	bb_out_is_read();
	freebsd_counters_are_as_wide_as_they_say();
	a_failed_write_leaves_the_old_file();
	clean_up();
	test_names();
	return DONE();
}

/* Counters of --coverage: what compilers write of blocks, jumps and lines, what programs add, and
 * the counts of lines that follow. */
#include "input/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "input/flow_graph.h"
#include "tap.h"

/* ---- files ---- */

struct out {
	VEC(uint8_t) at;
	bool is_clang; /* lengths are in words of four bytes, not in bytes */
	bool big_endian;
	size_t record; /* where the open record's length is */
};

static void word(struct out *o, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		vec_push(&o->at, (uint8_t)(v >> 8 * (o->big_endian ? 3 - i : i)));
}

static void text(struct out *o, const char *s)
{
	size_t n = *s ? strlen(s) + 1 : 0, padded = o->is_clang ? (n + 3) / 4 * 4 : n;
	word(o, (uint32_t)(o->is_clang ? padded / 4 : n));
	for (size_t i = 0; i < padded; i++)
		vec_push(&o->at, (uint8_t)(i < n ? s[i] : 0));
}

static void begin_record(struct out *o, uint32_t tag)
{
	word(o, tag);
	o->record = o->at.n;
	word(o, 0);
}

static void end_record(struct out *o)
{
	size_t size = o->at.n - o->record - 4, n = o->at.n;
	o->at.n = o->record;
	word(o, (uint32_t)(o->is_clang ? size / 4 : size));
	o->at.n = n;
}

enum { NOTES = 0x67636e6f, COUNTS = 0x67636461, GCC_12 = 0x4232322a, CLANG = 0x3430382a };
enum { STAMP = 77, CHECKSUM = 5 };

static void begin_file(struct out *o, uint32_t magic, uint32_t stamp)
{
	word(o, magic);
	word(o, o->is_clang ? CLANG : GCC_12);
	word(o, stamp);
	if (!o->is_clang)
		word(o, 0);
}

static void begin_function(struct out *o, uint32_t ident, const char *file, uint32_t start,
			   uint32_t end)
{
	begin_record(o, 0x01000000);
	word(o, ident);
	word(o, 1);
	word(o, CHECKSUM);
	text(o, "f");
	if (!o->is_clang)
		word(o, 0);
	text(o, file);
	word(o, start);
	if (!o->is_clang) {
		word(o, 1);
		word(o, end);
		word(o, 1);
	}
	end_record(o);
}

static void blocks(struct out *o, uint32_t n)
{
	begin_record(o, 0x01410000);
	for (uint32_t i = 0; i < (o->is_clang ? n : 1); i++)
		word(o, o->is_clang ? 0 : n);
	end_record(o);
}

/* "2>3* 2>4": jumps, and those with a star have a counter. */
static void jumps(struct out *o, const char *s)
{
	for (char *end; *s; s = end + (*end == ' ')) {
		begin_record(o, 0x01430000);
		word(o, (uint32_t)strtoul(s, &end, 10));
		word(o, (uint32_t)strtoul(end + 1, &end, 10));
		bool counted = *end == '*';
		word(o, counted ? 0 : 1);
		end_record(o);
		end += counted;
	}
}

/* "10 11": the lines of a block. */
static void lines(struct out *o, uint32_t block, const char *file, const char *s)
{
	begin_record(o, 0x01450000);
	word(o, block);
	word(o, 0);
	text(o, file);
	for (char *end; *s; s = end + (*end == ' '))
		word(o, (uint32_t)strtoul(s, &end, 10));
	word(o, 0);
	text(o, "");
	end_record(o);
}

static void counters(struct out *o, uint32_t ident, const uint64_t *at, size_t n)
{
	begin_record(o, 0x01000000);
	word(o, ident);
	word(o, 1);
	word(o, CHECKSUM);
	end_record(o);
	begin_record(o, 0x01a10000);
	for (size_t i = 0; i < n; i++) {
		word(o, (uint32_t)at[i]);
		word(o, (uint32_t)(at[i] >> 32));
	}
	end_record(o);
}

static void folder(struct out *o)
{
	if (o->is_clang)
		return;
	text(o, "/s");
	word(o, 0);
}

/* ---- reading ---- */

static char message[300];
static uint32_t runs;

static struct line_counts *read_cut(const struct out *notes, size_t n, const struct out *counts,
				    size_t k)
{
	struct line_counts *l = line_counts_new();
	struct kin_error *err = counters_parse(bytes_of("x.gcno", notes->at.at, n),
					       bytes_of("x.gcda", counts->at.at, k), l, &runs);
	snprintf(message, sizeof(message), "%s", err ? kin_error_message(err) : "");
	kin_error_free(err);
	return l;
}

/* "10:9 11:7": the counts of lines 1 to 99 of /s/FILE. */
static char *counts_of(const struct out *notes, const struct out *counts, const char *file)
{
	static char ret[1000];
	struct line_counts *l = read_cut(notes, notes->at.n, counts, counts->at.n);
	char path[40];
	size_t used = 0;

	snprintf(path, sizeof(path), "/s/%s", file);
	ret[0] = '\0';
	for (uint32_t i = 1; i < 100; i++) {
		uint64_t n;
		if (line_counts_find(l, line_counts_file(l, path), i, &n))
			used += (size_t)snprintf(ret + used, sizeof(ret) - used, "%s%u:%llu",
						 used ? " " : "", i, (unsigned long long)n);
	}
	line_counts_free(l);
	return ret;
}

static void done(struct out *notes, struct out *counts)
{
	vec_free(&notes->at);
	vec_free(&counts->at);
}

/* if (...) on line 10, its statement on line 11, what follows on line 12. */
static void branch(struct out *notes, struct out *counts)
{
	begin_file(notes, NOTES, STAMP);
	folder(notes);
	begin_function(notes, 1, "a.c", 9, 13);
	blocks(notes, 6);
	jumps(notes, "0>2* 2>3* 2>4 3>4 4>1");
	lines(notes, 2, "a.c", "10");
	lines(notes, 3, "a.c", "11");
	lines(notes, 4, "a.c", "12");
	begin_file(counts, COUNTS, STAMP);
	begin_record(counts, counts->is_clang ? 0xa3000000 : 0xa1000000);
	if (counts->is_clang) {
		word(counts, 0);
		word(counts, 0);
	}
	word(counts, 3);
	word(counts, 0);
	end_record(counts);
	counters(counts, 1, (uint64_t[]){ 9000000000, 7 }, 2);
}

static void test_branch(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct out notes = { .is_clang = i & 1, .big_endian = i & 2 }, counts = notes;
		branch(&notes, &counts);
		OK_STR(counts_of(&notes, &counts, "a.c"), "10:9000000000 11:7 12:9000000000");
		OK_STR(message, "");
		OK(runs == 3);
		done(&notes, &counts);
	}
}

/* for (...) on one line: how often it was entered, and its rounds. */
static void test_loop(void)
{
	struct out notes = { 0 }, counts = { 0 };
	begin_file(&notes, NOTES, STAMP);
	folder(&notes);
	begin_function(&notes, 1, "a.c", 9, 20);
	blocks(&notes, 9);
	jumps(&notes, "0>2 2>3 3>4* 3>5* 4>3 5>1");
	lines(&notes, 2, "a.c", "10");
	lines(&notes, 3, "a.c", "10");
	lines(&notes, 4, "a.c", "10");
	lines(&notes, 5, "a.c", "12 11"); /* it counts on the last one, and adds to the other */
	begin_file(&counts, COUNTS, STAMP);
	counters(&counts, 1, (uint64_t[]){ 40, 4 }, 2);
	OK_STR(counts_of(&notes, &counts, "a.c"), "10:44 11:4 12:4");
	done(&notes, &counts);
}

/* Two instances of a template are counted apart, and added; other functions on a line are not. */
static void test_template(void)
{
	struct out notes = { 0 }, counts = { 0 };
	begin_file(&notes, NOTES, STAMP);
	folder(&notes);
	for (uint32_t i = 1; i <= 3; i++) {
		begin_function(&notes, i, "a.c", 10, 12);
		blocks(&notes, 4);
		jumps(&notes, "0>2* 2>1");
		lines(&notes, 2, "a.c", "11");
	}
	begin_file(&counts, COUNTS, STAMP);
	counters(&counts, 1, (uint64_t[]){ 5 }, 1);
	counters(&counts, 2, (uint64_t[]){ 6 }, 1); /* the third one is elsewhere */
	OK_STR(counts_of(&notes, &counts, "a.c"), "11:11");
	done(&notes, &counts);
}

/* ---- damage ---- */

static void test_mismatch(void)
{
	struct out notes = { 0 }, counts = { 0 }, other = { 0 };
	branch(&notes, &counts);
	begin_file(&other, COUNTS, STAMP + 1);
	OK_STR(counts_of(&notes, &other, "a.c"), "");
	OK_STR(message, "x.gcda: its program was not compiled when x.gcno was written");
	other.at.n = 0;
	begin_file(&other, COUNTS, STAMP);
	counters(&other, 1, (uint64_t[]){ 9, 7, 1 }, 3);
	OK_STR(counts_of(&notes, &other, "a.c"), "");
	OK_STR(message, "x.gcda: its counters do not fit x.gcno");
	counts_of(&counts, &notes, "a.c");
	OK_STR(message, "x.gcno: not what a compiler writes for --coverage");
	done(&notes, &counts);
	vec_free(&other.at);
}

static void test_cuts(void)
{
	for (unsigned clang = 0; clang < 2; clang++) {
		struct out notes = { .is_clang = clang }, counts = notes;
		branch(&notes, &counts);
		for (size_t n = 0; n < notes.at.n; n++)
			line_counts_free(read_cut(&notes, n, &counts, counts.at.n));
		size_t silent = 0;
		for (size_t n = 0; n < counts.at.n; n++) {
			line_counts_free(read_cut(&notes, notes.at.n, &counts, n));
			silent += !message[0];
		}
		OK(silent == 3); /* at the ends of records */
		for (size_t i = 0; i < notes.at.n; i++) {
			uint8_t was = notes.at.at[i];
			for (unsigned bit = 0; bit < 8; bit++) {
				notes.at.at[i] = (uint8_t)(was ^ 1u << bit);
				line_counts_free(
					read_cut(&notes, notes.at.n, &counts, counts.at.n));
			}
			notes.at.at[i] = was;
		}
		done(&notes, &counts);
	}
}

/* ---- jumps ---- */

static void test_solving(void)
{
	struct flow_graph g = { .n_blocks = 4 };
	vec_push(&g.arcs, ((struct flow_arc){ .from = 2, .to = 3 }));
	vec_push(&g.arcs, ((struct flow_arc){ .from = 0, .to = 2, .count = 5, .is_known = true }));
	vec_push(&g.arcs, ((struct flow_arc){ .from = 3, .to = 1 }));
	OK(flow_graph_solve(&g) && g.blocks[3].count == 5 && g.blocks[1].count == 5);
	flow_graph_done(&g);
	/* Two unknown ways around: several solutions. */
	g = (struct flow_graph){ .n_blocks = 5 };
	static const uint32_t ways[][2] = { { 2, 3 }, { 2, 4 }, { 3, 1 }, { 4, 1 } };
	vec_push(&g.arcs, ((struct flow_arc){ .from = 0, .to = 2, .count = 5, .is_known = true }));
	for (size_t i = 0; i < 4; i++)
		vec_push(&g.arcs, ((struct flow_arc){ .from = ways[i][0], .to = ways[i][1] }));
	OK(!flow_graph_solve(&g));
	flow_graph_done(&g);
}

/* An inner loop of 6 rounds and an outer one of 2, entered once. */
static void test_nested(void)
{
	static const uint32_t blocks_of_line[] = { 2, 3, 4 };
	static const struct flow_arc arcs[] = {
		{ 0, 2, 1, true }, { 2, 3, 3, true }, { 3, 3, 6, true },
		{ 3, 4, 3, true }, { 4, 2, 2, true }, { 4, 1, 1, true },
	};
	struct flow_graph g = { .n_blocks = 5 };
	uint64_t visits;
	for (size_t i = 0; i < ARRAY_LEN(arcs); i++)
		vec_push(&g.arcs, arcs[i]);
	OK(flow_graph_solve(&g));
	OK(flow_graph_visits(&g, blocks_of_line, 3, &visits) && visits == 9);
	OK(flow_graph_visits(&g, blocks_of_line + 1, 1, &visits) && visits == 9);
	OK(flow_graph_visits(&g, blocks_of_line + 2, 1, &visits) && visits == 3);
	flow_graph_done(&g);
}

int main(void)
{
	test_branch();
	test_loop();
	test_template();
	test_mismatch();
	test_cuts();
	test_solving();
	test_nested();
	return DONE();
}

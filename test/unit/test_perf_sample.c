/* The parser of samples: every field is where the kernel writes it, and nothing behind the record
 * is read. Ring buffers and perf.data files are read with it. */
#include "tap.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "formats/perfdata/perf_sample.h"

enum { WORDS_MAX = 100 };

struct record {
	uint64_t words[WORDS_MAX];
	size_t n;
};

static void put(struct record *r, uint64_t word) { r->words[r->n++] = word; }

static void put_several(struct record *r, uint64_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(r, first + i);
}

static const struct perf_sample_layout whole = {
	.sample_type = (PERF_SAMPLE_MAX - 1) &
		       ~(uint64_t)(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_WEIGHT),
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	.branch_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
	.regs_user = 0x111,
	.regs_intr = 0x3,
};

static struct record make_whole(void)
{
	struct record r = { .n = 1 }; /* the header */
	put_several(&r, 100, 2);      /* identifier, ip */
	put(&r, 7 | UINT64_C(8) << 32);
	put_several(&r, 102, 2); /* time, addr */
	put(&r, 3);              /* CPU */
	put(&r, 104);            /* period */
	put_several(&r, 2, 2);   /* of the group: their number, time */
	put_several(&r, 200, 4); /* ... {value, id} */
	put(&r, 2);
	put_several(&r, 300, 2); /* chain */
	put(&r, 12 | UINT64_C(0x0102030405060708) << 32);
	put(&r, 0x090a0b0c0d0e0f10);
	put_several(&r, 1, 2); /* branches: their number, index in hardware */
	put_several(&r, 400, 3);
	put(&r, PERF_SAMPLE_REGS_ABI_64);
	put_several(&r, 500, 3);
	put(&r, 16); /* the stack */
	put_several(&r, 600, 2);
	put(&r, 8);
	put(&r, 30 | UINT64_C(40) << 32 | UINT64_C(7) << 48);
	put_several(&r, 700, 2); /* data source, transaction */
	put(&r, PERF_SAMPLE_REGS_ABI_64);
	put_several(&r, 800, 2);
	put_several(&r, 900, 4); /* physical address, control group, sizes of pages */
	put(&r, 8);              /* of AUX */
	put(&r, 1000);
	struct perf_event_header h = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | 1 << 14,
				       (uint16_t)(8 * r.n) };
	memcpy(r.words, &h, sizeof(h));
	return r;
}

static void test_fields(void)
{
	struct perf_sample_layout l = whole;
	struct record r = make_whole();
	struct perf_sample s;
	perf_sample_layout_place(&l);
	OK(l.id == 8 && l.time == 32 && !l.is_plain);
	OK(perf_sample_parse(&l, (const uint8_t *)r.words, 8 * r.n, true, &s));
	OK(s.mode == PERF_RECORD_MISC_USER && !s.is_longer && s.fields == l.sample_type);
	OK(s.ip == 101 && s.pid == 7 && s.tid == 8 && s.time == 102 && s.addr == 103);
	OK(s.cpu == 3 && s.period == 104 && bytes_left(&s.read) == 8 * 6);
	OK(s.n_chain == 2 && perf_sample_word(s.chain, 1) == 301);
	OK(bytes_left(&s.raw) == 12 && s.raw.pos[0] == 8);
	OK(s.n_taken == 1 && perf_sample_word(s.taken, 2) == 402 && !s.n_branches);
	OK(s.user.mask == 0x111 && perf_sample_word(s.user.values, 2) == 502);
	OK(s.stack_size == 8 && !s.stack_full && perf_sample_word(s.stack, 0) == 600);
	OK(s.weight == 30 && s.ins_lat == 40 && s.p_stage_cyc == 7);
	OK(s.data_src == 700 && s.transaction == 701);
	OK(s.interrupt.mask == 3 && perf_sample_word(s.interrupt.values, 1) == 801);
	OK(s.phys_addr == 900 && s.cgroup == 901 && s.data_page_size == 902);
	OK(s.code_page_size == 903);
}

/* With memory that ends where the record does, for tools that see who reads behind it. */
static bool parse_cut(const struct perf_sample_layout *l, const struct record *r, size_t size,
		      bool details)
{
	struct perf_sample s;
	uint8_t *copy = malloc(size);
	memcpy(copy, r->words, size);
	bool ok = perf_sample_parse(l, copy, size, details, &s);
	perf_sample_parse_chain(l, copy, size, &s);
	free(copy);
	return ok;
}

static void test_cut(void)
{
	struct perf_sample_layout l = whole;
	struct record r = make_whole();
	size_t n_whole = 0, n_stacks = 0;
	perf_sample_layout_place(&l);
	for (size_t size = 8; size < 8 * r.n; size++) {
		n_whole += parse_cut(&l, &r, size, true);
		n_stacks += parse_cut(&l, &r, size, false);
	}
	OK(n_whole == 0);
	OK(n_stacks == 8 * 12); /* fields behind the stack */
}

/* Any word may be a number, and any number may be there. */
static void test_hostile(void)
{
	static const uint64_t numbers[] = {
		0, 1, 3, UINT16_MAX, UINT32_MAX, UINT64_MAX / 8, UINT64_MAX / 24 + 1, UINT64_MAX
	};
	struct perf_sample_layout l = whole;
	struct record r = make_whole();
	size_t refused = 0;
	perf_sample_layout_place(&l);
	for (size_t i = 1; i < r.n; i++) {
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
			struct record x = r;
			x.words[i] = numbers[k];
			refused += !parse_cut(&l, &x, 8 * r.n, true);
		}
	}
	OK(refused > 0);
}

static void test_plain(void)
{
	struct perf_sample_layout l = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
					.default_period = 5 };
	struct record r = { .words = { 0, 50, 2, PERF_CONTEXT_USER, 51 }, .n = 5 };
	struct perf_sample s, whole_one;
	const uint8_t *at = (const uint8_t *)r.words;
	perf_sample_layout_place(&l);
	OK(l.is_plain && perf_sample_parse_chain(&l, at, 8 * r.n, &s));
	OK(perf_sample_parse(&l, at, 8 * r.n, true, &whole_one));
	OK(s.ip == 50 && s.period == 5 && s.time == PERF_NO_TIME && s.n_chain == 2);
	OK(whole_one.ip == 50 && whole_one.period == 5 && whole_one.chain == s.chain);
	OK(!perf_sample_parse_chain(&l, at, 8 * r.n + 8, &s)); /* more */
	OK(!perf_sample_parse_chain(&l, at, 8 * r.n - 8, &s)); /* less */
	OK(perf_sample_parse(&l, at, 8 * r.n + 8, true, &s) && s.is_longer);
	r.words[3] = (uint64_t)-640; /* PERF_CONTEXT_USER_DEFERRED */
	OK(!perf_sample_parse_chain(&l, at, 8 * r.n, &s));
	OK(perf_sample_parse(&l, at, 8 * r.n, true, &s) && perf_sample_is_deferred(&s, false));
}

int main(void)
{
	test_fields();
	test_cut();
	test_hostile();
	test_plain();
	return DONE();
}

/* Bits of perf_mem_data_src and PERF_TXN_*, and page sizes, in words. */
#include "tap.h"

#include "profile/access.h"

#define BIT(n) (UINT64_C(1) << (n))

/* A part's text depends only on the part's own bits of data_src. */
static void is_text(enum access_part part, uint64_t bits, const char *text)
{
	struct arena a = { 0 };
	OK_STR(access_text(&a, part, bits), text);
	OK(access_bits(part, bits) == bits);
	OK(access_bits(part, ~bits) == (access_bits(part, UINT64_MAX) & ~bits));
	OK_STR(access_text(&a, part, access_bits(part, bits)), text);
	arena_release(&a);
}

static void test_parts(void)
{
	is_text(ACCESS_OPERATION, 0, "No");
	is_text(ACCESS_OPERATION, BIT(0), "N/A");
	is_text(ACCESS_OPERATION, BIT(1), "LOAD");
	is_text(ACCESS_OPERATION, BIT(4), "EXEC");
	is_text(ACCESS_LEVEL, 0, "N/A");
	is_text(ACCESS_LEVEL, BIT(6) | BIT(8), "L1 hit");
	is_text(ACCESS_LEVEL, BIT(7) | BIT(8) | BIT(10), "L1 or L2 miss");
	is_text(ACCESS_LEVEL, BIT(18), "Uncached");
	is_text(ACCESS_LEVEL, BIT(33) | BIT(34), "L3");
	is_text(ACCESS_LEVEL, BIT(8) | BIT(33) | BIT(36), "L1 or CXL");
	is_text(ACCESS_LEVEL, BIT(8) | BIT(33), "L1 or L1");
	static const char *const numbers[] = { "L8",      "CXL", "I/O",  "Any cache",
					       "LFB/MAB", "RAM", "PMEM", "N/A" };
	for (uint64_t i = 0; i < 8; i++)
		is_text(ACCESS_LEVEL, (8 + i) << 33, numbers[i]);
	is_text(ACCESS_LEVEL, BIT(37) | BIT(8), "Remote L1");
	is_text(ACCESS_LEVEL, BIT(43) | BIT(33) | BIT(8), "core, same node L1");
	is_text(ACCESS_LEVEL, BIT(37) | BIT(45) | BIT(33), "Remote board L1");
	is_text(ACCESS_SNOOP, 0, "N/A");
	is_text(ACCESS_SNOOP, BIT(20), "None");
	is_text(ACCESS_SNOOP, BIT(21) | BIT(23) | BIT(38), "Hit or HitM or Fwd");
	is_text(ACCESS_SNOOP, BIT(39), "Peer");
	is_text(ACCESS_TLB, 0, "N/A");
	is_text(ACCESS_TLB, BIT(27) | BIT(29), "L1 hit");
	is_text(ACCESS_TLB, BIT(26) | BIT(29), "N/A or L1");
	is_text(ACCESS_TLB, BIT(28) | BIT(31) | BIT(32), "Walker or Fault miss");
	is_text(ACCESS_LOCK, 0, "No");
	is_text(ACCESS_LOCK, BIT(24), "N/A");
	is_text(ACCESS_LOCK, BIT(25), "Yes");
	is_text(ACCESS_BLOCKED, 0, "N/A");
	is_text(ACCESS_BLOCKED, BIT(40) | BIT(41), "N/A");
	is_text(ACCESS_BLOCKED, BIT(41), "Data");
	is_text(ACCESS_BLOCKED, BIT(42), "Addr");
	is_text(ACCESS_BLOCKED, BIT(41) | BIT(42), "Data Addr");
}

/* Of all bits each part sees its own. */
static void test_all_bits(void)
{
	struct arena a = { 0 };
	OK_STR(access_text(&a, ACCESS_OPERATION, ~(uint64_t)0x1f), "No");
	OK_STR(access_text(&a, ACCESS_OPERATION, ~(uint64_t)0xf), "EXEC");
	for (int part = ACCESS_OPERATION; part <= ACCESS_BLOCKED; part++) {
		uint64_t own = access_bits((enum access_part)part, UINT64_MAX);
		for (int other = ACCESS_OPERATION; other < part; other++)
			OK(!(own & access_bits((enum access_part)other, UINT64_MAX)));
		OK_STR(access_text(&a, (enum access_part)part, ~own),
		       access_text(&a, (enum access_part)part, 0));
		for (int bit = 0; bit < 64; bit++)
			if (own & BIT(bit))
				OK_STR(access_text(&a, (enum access_part)part, ~own | BIT(bit)),
				       access_text(&a, (enum access_part)part, BIT(bit)));
	}
	arena_release(&a);
}

static void test_pages_and_transactions(void)
{
	struct arena a = { 0 };
	OK_STR(page_size_text(&a, 0), "N/A");
	OK_STR(page_size_text(&a, 1), "1B");
	OK_STR(page_size_text(&a, 1024), "1024B");
	OK_STR(page_size_text(&a, 2048), "2K");
	OK_STR(page_size_text(&a, 4096), "4K");
	OK_STR(page_size_text(&a, 2 << 20), "2M");
	OK_STR(page_size_text(&a, 1 << 30), "1024M");
	OK_STR(page_size_text(&a, UINT64_C(2) << 30), "2G");
	OK_STR(page_size_text(&a, UINT64_C(4) << 40), "4096G");
	OK_STR(transaction_text(&a, 0), "");
	OK_STR(transaction_text(&a, 1 | 4), "EL SYNC ");
	OK_STR(transaction_text(&a, 2 | 8 | BIT(33)), "TX ASYNC :2");
	OK_STR(transaction_text(&a, 2), "TX NEITHER ");
	OK_STR(transaction_text(&a, 4 | BIT(7) | BIT(36) | BIT(33)), "SYNC CAP-READ :12");
	arena_release(&a);
}

int main(void)
{
	test_parts();
	test_all_bits();
	test_pages_and_transactions();
	return DONE();
}

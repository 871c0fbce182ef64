/* The cache of names of an object. The harness writes a head and a checksum that fit, since without
 * them hardly any input would be read. The file is read, added to, and written. */
#include "fuzz.h"
#include "object/answered.h"

static void expect(bool good)
{
	if (!good)
		abort();
}

static uint64_t seen;

static void ask(const struct answered *a, uint64_t addr)
{
	struct symbol_table t;
	struct object_inline *list;
	size_t n;
	if (answered_symbols(a, &addr, 1, &t)) {
		for (size_t i = 0; i < t.n; i++) {
			expect(t.at[i].owner < t.n && t.at[i].addr < t.at[i].end);
			expect(!i || t.at[i - 1].end <= t.at[i].addr);
			seen += strlen(t.at[i].name);
		}
		free(t.at);
	}
	struct srcloc at;
	if (answered_line(a, addr, &at))
		seen += at.line + (at.file ? strlen(at.file) : 0) +
			(at.function ? strlen(at.function) : 0);
	if (answered_inlines(a, &addr, 1, &list, &n)) {
		for (size_t i = 0; i < n; i++) {
			expect(!list[i].address);
			seen += strlen(list[i].name);
		}
		free(list);
	}
}

static void add(struct answered *a, uint64_t addr)
{
	struct object_symbol s = { .addr = addr, .end = addr + 16, .name = "added" };
	struct object_inline f = { 0, 1, "inlined" };
	struct address_range reach = { addr, addr + 8 };
	if (addr > UINT64_MAX - 16)
		return;
	answered_add_symbols(a, &addr, 1, &(struct symbol_table){ &s, 1 });
	answered_add_inlines(a, &addr, &reach, 1, &f, 1);
	answered_add_line(a, addr, addr + 4, &(struct srcloc){ "added", "a.c", 7 });
	ask(a, addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answered_key key = { .kin = { 1, 7 }, .build_id = "0123456789abcdef" };
	struct file f = { malloc(size + 1), size };
	if (size)
		memcpy(f.data, data, size);
	f.data[size] = '\0';
	answered_seal(f.data, size, &key);
	struct answered *a = answered_read(&f, &key);
	expect(!f.data);
	for (size_t i = 0; a && i < a->symbols.n && i < 16; i++)
		ask(a, a->symbols.at[i].addr);
	for (size_t i = 0; a && i < a->spans.n && i < 16; i++)
		ask(a, a->spans.at[i].low);
	for (size_t i = 0; a && i < a->lines.n && i < 16; i++)
		ask(a, a->lines.at[i].low);
	if (a) {
		add(a, size * 64);
		add(a, a->symbols.at[a->symbols.n - 1].end);
		size_t n;
		uint8_t *again = answered_write(a, &key, &n);
		struct file g = { again, n };
		struct answered *b = again ? answered_read(&g, &key) : NULL;
		expect(b && b->symbols.n == a->symbols.n && b->spans.n == a->spans.n);
		answered_free(b);
	}
	answered_free(a);
	return 0;
}

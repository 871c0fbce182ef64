/* Records of jitdump files, of either byte order: the fields of each kind, and senseless ones. */
#include "input/jitdump.h"

#include "tap.h"

static uint8_t data[200];
static size_t size;
static bool swapped;

static void put(unsigned n, uint64_t v)
{
	bool high_first = swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	for (unsigned i = 0; i < n; i++)
		data[size++] = (uint8_t)(v >> 8 * (high_first ? n - 1 - i : i));
}

static struct bytes all(void)
{
	struct bytes b = bytes_of("dump", data, size);
	b.swap = swapped;
	return b;
}

static void test_header(void)
{
	for (uint32_t n = 39; n < 42; n++) {
		size = 0;
		put(4, 0x4a695444);
		put(4, 1);
		put(4, n);
		put(4, 62);
		struct bytes b = bytes_of("dump", data, size);
		OK(jitdump_header(&b) == (n < JITDUMP_HEADER ? 0 : n) && b.swap == swapped);
		b = bytes_of("dump", data, 11);
		OK(!jitdump_header(&b));
		data[0] ^= 1;
		b = bytes_of("dump", data, size);
		OK(!jitdump_header(&b));
	}
}

/* Of a record with these numbers behind its head, and a name. */
static struct jitdump_record record(uint32_t id, const uint64_t *words, size_t n, const char *name)
{
	struct jitdump_record r = { .kind = JITDUMP_OTHER };
	size = 0;
	put(4, id);
	put(4, (uint32_t)(16 + 8 * n + (name ? strlen(name) + 1 : 0)));
	put(8, 77);
	for (size_t i = 0; i < n; i++)
		put(8, words[i]);
	for (size_t i = 0; name && i <= strlen(name); i++)
		data[size++] = (uint8_t)name[i];
	OK(jitdump_next(all(), &r) && r.size == size && r.time_ns == 77);
	return r;
}

static void test_code(void)
{
	uint64_t load[] = { 5, 0x1000, 0x2000, 0x30, 9 };
	struct jitdump_record r = record(0, load, 5, "name");
	OK(r.kind == JITDUMP_LOAD && r.addr == 0x2000 && r.code_size == 0x30);
	OK(r.name_size == 4 && !memcmp(r.name, "name", 5));
	OK(r.name == (const char *)data + JITDUMP_BEFORE_NAME);
	OK(record(0, load, 5, "").kind == JITDUMP_OTHER);
	OK(record(0, load, 4, NULL).kind == JITDUMP_OTHER);
	OK(record(2, load, 5, "name").kind == JITDUMP_OTHER); /* lines */
	load[3] = 0;
	OK(record(0, load, 5, "name").kind == JITDUMP_OTHER);
	load[3] = 1;
	OK(record(0, load, 5, "name").kind == JITDUMP_LOAD);
	load[2] = UINT64_MAX;
	load[3] = 2;
	OK(record(0, load, 5, "name").kind == JITDUMP_OTHER); /* beyond all addresses */

	uint64_t move[] = { 5, 0x1000, 0x2000, 0x3000, 0x40, 9 };
	r = record(1, move, 6, NULL);
	OK(r.kind == JITDUMP_MOVE && r.from == 0x2000 && r.addr == 0x3000 && r.code_size == 0x40);
	OK(record(1, move, 4, NULL).kind == JITDUMP_OTHER);
	move[4] = 0;
	OK(record(1, move, 6, NULL).kind == JITDUMP_OTHER);
}

static void test_frames(void)
{
	uint64_t frames[8] = { 40, 12, 40 };
	struct jitdump_record r = record(4, frames, 8, NULL);
	OK(r.kind == JITDUMP_FRAMES && r.frames_size == 40 && r.frames_hdr_size == 12);
	frames[0] = 41; /* more than the record has */
	OK(record(4, frames, 8, NULL).kind == JITDUMP_OTHER);
	frames[0] = frames[1] = 40;
	OK(record(4, frames, 8, NULL).kind == JITDUMP_FRAMES);
	frames[1] = 41;
	OK(record(4, frames, 8, NULL).kind == JITDUMP_OTHER);
	frames[0] = frames[1] = 0;
	OK(record(4, frames, 8, NULL).kind == JITDUMP_OTHER);
	OK(record(4, frames, 2, NULL).kind == JITDUMP_OTHER);
}

static void test_sizes(void)
{
	struct jitdump_record r;
	const uint64_t load[] = { 5, 0x1000, 0x2000, 0x30, 9 };
	record(0, load, 5, "name");
	size -= 2; /* cut within the name */
	OK(jitdump_next(all(), &r) && r.kind == JITDUMP_LOAD && r.name_size == 3);
	size = JITDUMP_BEFORE_NAME;
	OK(jitdump_next(all(), &r) && r.kind == JITDUMP_OTHER);
	size = 16;
	OK(jitdump_next(all(), &r) && r.kind == JITDUMP_OTHER && r.size == 61);
	size = 15;
	OK(!jitdump_next(all(), &r));
	for (uint32_t n = 15; n < 18; n++) {
		size = 0;
		put(4, 3);
		put(4, n);
		put(8, 1);
		put(8, 0);
		OK(jitdump_next(all(), &r) == (n >= 16));
	}
	/* Bytes after the record do not belong to it. */
	record(0, load, 5, "name");
	size = 4;
	put(4, JITDUMP_BEFORE_NAME + 2);
	size = JITDUMP_BEFORE_NAME + 5;
	OK(jitdump_next(all(), &r) && r.kind == JITDUMP_LOAD && r.name_size == 2);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		swapped = i;
		test_header();
		test_code();
		test_frames();
		test_sizes();
	}
	return DONE();
}

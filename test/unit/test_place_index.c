#include "tap.h"

#include <stdlib.h>

#include "lib/random_graph.h"
#include "symbolize/place_index.h"

enum { MOST = 300 };

/* Places of up to `size` bytes, some empty, with gaps of up to `gap` bytes before some. */
static size_t make_places(uint64_t *seed, struct symbol *at, uint32_t size, uint32_t gap)
{
	size_t n = 1 + random_below(seed, MOST);
	uint64_t addr = 0x1000 + random_below(seed, 300);

	for (size_t i = 0; i < n; i++) {
		addr += gap && !random_below(seed, 4) ? random_below(seed, gap) : 0;
		bool is_function = random_below(seed, 3) > 0;
		at[i] = (struct symbol){
			.addr = addr,
			.end = addr + random_below(seed, size + 1),
			.owner = is_function && !random_below(seed, 4)
					 ? (symid)random_below(seed, (uint32_t)n)
					 : (symid)i,
			.is_function = is_function,
		};
		addr = at[i].end;
	}
	return n;
}

static symid find_plainly(const struct symbol *at, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (at[i].addr <= addr && addr < at[i].end)
			return (symid)i;
	return NONE;
}

static symid find_function_plainly(const struct symbol *at, size_t n, uint64_t addr)
{
	symid id = find_plainly(at, n, addr);

	while (id != NONE && !at[id].is_function)
		id = id ? id - 1 : NONE;
	return id == NONE ? NONE : at[id].owner;
}

static int count_wrong(const struct symbol *at, size_t n)
{
	struct place_index x;
	uint64_t low = at[0].addr - 20, high = at[n - 1].end + 300;
	uint64_t step = 1 + (high - low) / 20000;
	int wrong = 0;

	place_index_init(&x, at, n);
	for (uint64_t addr = low; addr < high; addr += step) {
		place_index_prefetch(&x, addr);
		wrong += place_index_find(&x, addr) != find_plainly(at, n, addr);
		wrong += place_index_find_function(&x, addr) != find_function_plainly(at, n, addr);
	}
	for (size_t i = 0; i < n; i++)
		for (uint64_t addr = at[i].addr - 1; addr <= at[i].addr + 1; addr++)
			wrong += place_index_find(&x, addr) != find_plainly(at, n, addr);
	place_index_done(&x);
	return wrong;
}

/* Many to a bucket and few, with gaps and without; so far apart that buckets are larger. */
static void every_address_is_found_in_its_place(void)
{
	static const struct {
		uint32_t size, gap;
	} shapes[] = { { 3, 0 },     { 40, 0 },    { 40, 30 },       { 300, 0 },
		       { 300, 600 }, { 2000, 20 }, { 20000, 100000 } };
	struct symbol at[MOST];
	uint64_t seed = 1;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		int wrong = 0;
		for (int k = 0; k < 20; k++) {
			size_t n = make_places(&seed, at, shapes[i].size, shapes[i].gap);
			wrong += count_wrong(at, n);
		}
		OK(wrong == 0);
	}
}

static void nothing_is_found_in_nothing(void)
{
	struct place_index x;

	place_index_init(&x, NULL, 0);
	OK(place_index_find(&x, 0) == NONE);
	OK(place_index_find_function(&x, 0x1000) == NONE);
	place_index_prefetch(&x, 0x1000);
	place_index_done(&x);
}

int main(void)
{
	every_address_is_found_in_its_place();
	nothing_is_found_in_nothing();
	return DONE();
}

#include "tap.h"

#include <stdlib.h>

#include "base/sort.h"

static uint64_t random64(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

/* Ascending, and equal keys in their original order. */
static bool is_right(const struct sort_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1].key > keys[i].key ||
		    (keys[i - 1].key == keys[i].key && keys[i - 1].index >= keys[i].index))
			return false;
	return true;
}

static void keys_are_sorted_and_stay_in_order_where_equal(void)
{
	static const size_t sizes[] = { 0, 1, 2, 47, 48, 49, 1000, 30000 };
	static const uint64_t masks[] = { 0, 1, 0xff, 0xf00000000, UINT64_MAX };
	int bad = 0;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
			struct sort_key *keys = malloc((sizes[s] + 1) * sizeof(*keys));
			uint64_t sum = 0;
			for (size_t i = 0; i < sizes[s]; i++) {
				keys[i] = (struct sort_key){ random64() & masks[m], (uint32_t)i };
				sum += keys[i].key;
			}
			sort_keys(keys, sizes[s]);
			for (size_t i = 0; i < sizes[s]; i++)
				sum -= keys[i].key;
			bad += !is_right(keys, sizes[s]) || sum != 0;
			free(keys);
		}
	}
	OK(bad == 0);
}

/* Each number below 1,000 is there or not, however often it was. */
static void numbers_are_left_once_each(void)
{
	static const size_t sizes[] = { 0, 1, 2, 47, 300, 5000 };
	int bad = 0;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		uint64_t *numbers = malloc((sizes[s] + 1) * sizeof(*numbers));
		bool there[1000] = { false };
		size_t distinct = 0;
		for (size_t i = 0; i < sizes[s]; i++) {
			numbers[i] = random64() % 1000;
			distinct += !there[numbers[i]];
			there[numbers[i]] = true;
		}
		size_t n = sort_unique(numbers, sizes[s]);
		bad += n != distinct;
		for (size_t i = 0; i < n; i++)
			bad += !there[numbers[i]] || (i && numbers[i - 1] >= numbers[i]);
		free(numbers);
	}
	OK(bad == 0);
}

static void keys_of_doubles_are_in_their_order(void)
{
	static const double ascending[] = { -1e300, -2, -1e-310, 0, 1e-310, 0.5, 1, 2, 1e300 };
	int bad = 0;
	for (size_t i = 1; i < sizeof(ascending) / sizeof(*ascending); i++)
		bad += sort_key_of_double(ascending[i - 1]) >= sort_key_of_double(ascending[i]);
	OK(bad == 0);
	OK(sort_key_of_double(-0.0) == sort_key_of_double(0.0));
}

/* Names of few letters, so that many have common beginnings, and some are equal. */
static char *random_name(void)
{
	size_t n = (size_t)rand() % 30;
	char *name = calloc(n + 1, 1);
	size_t same = n ? (size_t)rand() % n : 0;
	for (size_t i = 0; i < n; i++)
		name[i] = i < same ? 'a' : "ab\xe4z"[rand() % 4];
	return name;
}

static void names_are_sorted_as_strcmp_has_it(void)
{
	enum { N = 20000 };
	struct sort_name *names = malloc(N * sizeof(*names));
	int bad = 0;
	for (uint32_t i = 0; i < N; i++)
		names[i] = (struct sort_name){ random_name(), i };
	sort_names(names, N);
	for (size_t i = 1; i < N; i++) {
		int c = strcmp(names[i - 1].name, names[i].name);
		bad += c > 0 || (c == 0 && names[i - 1].index >= names[i].index);
	}
	OK(bad == 0);
	for (size_t i = 0; i < N; i++)
		free(UNCONST(char *, names[i].name));
	free(names);
}

/* As in damaged symbol tables, where names are ends of other names. */
static void long_names_that_agree_are_no_trouble(void)
{
	enum { N = 20, LENGTH = 1 << 20 };
	char *text = malloc(LENGTH + 1);
	struct sort_name names[N];
	memset(text, 'a', LENGTH);
	text[LENGTH] = '\0';
	for (uint32_t i = 0; i < N; i++)
		names[i] = (struct sort_name){ text + i, i };
	sort_names(names, N);
	int bad = 0;
	for (uint32_t i = 0; i < N; i++)
		bad += names[i].index != N - 1 - i;
	OK(bad == 0);
	free(text);
}

int main(void)
{
	srand(1);
	keys_are_sorted_and_stay_in_order_where_equal();
	numbers_are_left_once_each();
	keys_of_doubles_are_in_their_order();
	names_are_sorted_as_strcmp_has_it();
	long_names_that_agree_are_no_trouble();
	return DONE();
}

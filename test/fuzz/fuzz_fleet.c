/* The answers of a store: five tables, each after its length, a tree, and stacks as in the local
 * cache, in the order in which kin reads them; then the profile that is made from them. */
#include "fuzz.h"

#include "fleet/fleet_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum answers_table order[] = {
		ANSWERS_FUNCTIONS, ANSWERS_FRAMES,      ANSWERS_KEPT_TREE, ANSWERS_EVENTS,
		ANSWERS_SUMS,      ANSWERS_KEPT_STACKS, ANSWERS_STACKS,
	};
	struct answers a = { 0 };
	struct profile_builder *b = profile_builder_new();
	struct bytes all = bytes_of("fuzz", data, size), parts[ANSWERS_KEPT_STACKS + 1];
	for (int table = ANSWERS_SUMS; table <= ANSWERS_KEPT_STACKS; table++)
		parts[table] = bytes_take(&all, bytes_u16(&all));
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		const struct bytes *part = &parts[order[i]];
		size_t n = bytes_left(part);
		/* A copy of exactly that size: a sanitizer sees each byte too many. */
		uint8_t *copy = malloc(n + 1);
		if (n)
			memcpy(copy, part->pos, n);
		bool whole = answers_take(&a, order[i], 0, bytes_of("fuzz", copy, n));
		(void)whole;
		free(copy);
	}
	size_t sums = a.sums.n;
	struct stack_order of = stack_order_of(&a);
	uint64_t missing = fleet_profile(&a, &of, b);
	stack_order_free(&of);
	struct profile *p = profile_finish(b), *q = profile_canonical(p, NULL, NULL);
	if (p->samples.n < sums || (missing && !sums))
		abort();
	profile_free(q);
	profile_free(p);
	answers_done(&a);
	return 0;
}

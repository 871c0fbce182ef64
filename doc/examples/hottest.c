/* hottest.c - the ten functions most time was spent in, of any profile with samples.
 *	cc hottest.c $(pkg-config --cflags --libs kin) */
#include <kin/samples.h>
#include <stdlib.h>

static double *self; /* by function */

static int by_self(const void *a, const void *b)
{
	double x = self[*(const uint32_t *)a], y = self[*(const uint32_t *)b];
	return x < y ? 1 : x > y ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct kin_profile *profile = NULL;
	struct kin_samples *s = NULL;
	const struct kin_sample *x;
	double total = 0;
	size_t n, functions;
	uint32_t *order;
	struct kin_error *err = kin_profile_open((const char **)argv + 1, argc - 1, NULL, &profile);
	if (err || (err = kin_samples_new(profile, &s)))
		return fprintf(stderr, "%s\n", kin_error_message(err)), 1;
	for (uint32_t i = 1; i < kin_samples_n_locations(s); i++)
		kin_samples_lines(s, i, &n); /* now all functions are known */
	functions = kin_samples_n_functions(s);
	self = calloc(functions + 1, sizeof(*self));
	order = calloc(functions + 1, sizeof(*order));
	for (; (x = kin_samples_next(s)); total += x->weight) {
		const struct kin_line *in =
			kin_samples_lines(s, kin_samples_stack(s, x->stack)->location, &n);
		self[n ? in->function : functions] += x->weight;
	}
	for (uint32_t i = 0; i < functions; i++)
		order[i] = i;
	qsort(order, functions, sizeof(*order), by_self);
	for (size_t i = 0; i < functions && i < 10; i++)
		printf("%5.1f %%  %s\n", 100 * self[order[i]] / total,
		       kin_samples_function(s, order[i])->name);
	return 0;
}

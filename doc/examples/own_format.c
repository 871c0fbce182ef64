/* own_format.c - a format of one's own: for each place that was hit a line "FILE:LINE FUNCTION
 * WEIGHT EVENT", which editors go to.
 *	cc own_format.c $(pkg-config --cflags --libs kin) */
#include <inttypes.h>
#include <kin/samples.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct kin_profile *profile = NULL;
	struct kin_samples *s = NULL;
	const struct kin_sample *x;
	struct kin_error *err = kin_profile_open((const char **)argv + 1, argc - 1, NULL, &profile);
	if (err || (err = kin_samples_new(profile, &s)))
		return fprintf(stderr, "%s\n", kin_error_message(err)), 1;

	size_t events = kin_samples_n_events(s), locations = kin_samples_n_locations(s);
	uint64_t *sums = calloc((events + 1) * (locations + 1), sizeof(*sums));
	while ((x = kin_samples_next(s)))
		sums[x->event * locations + kin_samples_stack(s, x->stack)->location] += x->weight;

	for (uint32_t e = 0; e < events; e++)
		for (uint32_t i = 1; i < locations; i++) {
			size_t n;
			const struct kin_line *line = kin_samples_lines(s, i, &n);
			uint64_t weight = sums[e * locations + i];
			if (!weight)
				continue;
			printf("%s:%u %s %" PRIu64 " %s\n", *line->file ? line->file : "?",
			       line->line, kin_samples_function(s, line->function)->name, weight,
			       kin_samples_event(s, e)->name);
		}
	free(sums);
	kin_samples_free(s);
	kin_profile_free(profile);
	return 0;
}

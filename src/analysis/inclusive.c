#include "analysis/inclusive.h"

#include <stdlib.h>

uint16_t samples_event(const struct samples *s)
{
	for (uint16_t i = 0; i < s->n_events; i++)
		if (s->events[i].kind == EVENT_ON_CPU)
			return i;
	return 0;
}

double *inclusive_times(const struct samples *s, const symid *places, const uint32_t *group_of,
			size_t n_groups)
{
	double *times = xalloc((n_groups + 1) * sizeof(*times));
	double *weights = xalloc(s->n_stacks * sizeof(*weights));
	stackid *seen = xalloc((n_groups + 1) * sizeof(*seen)); /* in which stack it was met last */
	uint16_t event = samples_event(s);

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].event == event)
			weights[s->at[i].stack] += (double)s->at[i].weight;
	for (stackid i = 1; i < s->n_stacks; i++) {
		for (stackid k = weights[i] > 0 ? i : 0; k; k = s->stacks[k].caller) {
			symid place = places[s->stacks[k].frame];
			uint32_t group = place == NONE ? NONE : group_of[place];
			if (group == NONE || seen[group] == i)
				continue;
			seen[group] = i;
			times[group] += weights[i];
		}
	}
	free(weights);
	free(seen);
	return times;
}

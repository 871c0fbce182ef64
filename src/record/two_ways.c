/* two_ways.c - compares two walks of one stack. */
#include "record/two_ways.h"

enum two_ways two_ways(const uint64_t *pcs, size_t n, bool complete, const uint64_t *callers,
		       size_t n_callers)
{
	size_t at = 1; /* behind the last frame that both have */
	bool missed = false;
	if (n_callers < TWO_WAYS_LEAST)
		return TWO_WAYS_NONE;
	for (size_t k = 0; k < n_callers; k++) {
		size_t i = at;
		while (i < n && pcs[i] != callers[k])
			i++;
		if (i < n && missed)
			return TWO_WAYS_DIFFER;
		if (i < n)
			at = i + 1;
		else
			missed = true;
	}
	if (missed && complete)
		return TWO_WAYS_DIFFER;
	return missed && at == 1 ? TWO_WAYS_NONE : TWO_WAYS_AGREE;
}

/* deviations.c - compares two graphs, function by function. */
#include "gnu/deviations.h"

#include <math.h>
#include <stdlib.h>

struct deviations {
	size_t n_times, n_calls; /* functions that differ */
	symid time, calls;       /* those that differ most, among `right`'s */
	double worst;            /* by how much: a share */
	double gnu_share, right_share;
	uint64_t gnu_calls, right_calls;
};

static double share(const struct callgraph *g, symid id)
{
	return id != NONE && g->total > 0 ? g->nodes[id].self / g->total : 0;
}

static uint64_t calls(const struct callgraph *g, symid id)
{
	return id == NONE ? 0 : g->nodes[id].calls + g->nodes[id].self_calls;
}

static void compare(struct deviations *d, const struct callgraph *gnu, symid a,
		    const struct callgraph *right, symid b)
{
	const double visible = 0.0005; /* tables show two decimals of a per cent */
	double here = share(gnu, a), really = share(right, b), off = fabs(here - really);
	uint64_t n = calls(gnu, a), m = calls(right, b);

	if (off >= visible && !d->n_times++)
		d->worst = 0;
	if (off >= visible && off > d->worst) {
		d->worst = off;
		d->time = b;
		d->gnu_share = here;
		d->right_share = really;
	}
	if (n == m)
		return;
	if (!d->n_calls++ || m > d->right_calls) {
		d->calls = b;
		d->gnu_calls = n;
		d->right_calls = m;
	}
}

/* Both tables are in the order of addresses. */
static void compare_all(struct deviations *d, const struct callgraph *gnu,
			const struct callgraph *right)
{
	size_t a = 0;

	for (symid b = 0; b < right->n_symbols; b++) {
		uint64_t addr = right->symbols->at[b].addr;
		while (a < gnu->n_symbols && gnu->symbols->at[a].addr < addr)
			a++;
		bool both = a < gnu->n_symbols && gnu->symbols->at[a].addr == addr;
		compare(d, gnu, both ? (symid)a : NONE, right, b);
	}
}

static char *describe_worst(const struct deviations *d, const struct callgraph *right)
{
	const char *raw = right->symbols->at[d->n_times ? d->time : d->calls].name;
	char *readable = demangle(raw, DEMANGLE_AUTO), *text;
	const char *name = readable ? readable : raw;

	if (d->n_times)
		text = xprintf("%s has %.2f %% of the time, really %.2f %%", name,
			       100 * d->gnu_share, 100 * d->right_share);
	else
		text = xprintf("%s has %ju calls, really %ju", name, (uintmax_t)d->gnu_calls,
			       (uintmax_t)d->right_calls);
	free(readable);
	return text;
}

char *deviations_describe(const struct callgraph *gnu, const struct callgraph *right, bool entries)
{
	struct deviations d = { 0 };
	bool cycles = entries && gnu->n_cycles;

	compare_all(&d, gnu, right);
	if (!d.n_times && !d.n_calls)
		return cycles ? xprintf("the entries of cycles are GNU's, not those of its manual; "
					"kin gprof prints these")
			      : NULL;
	char *worst = describe_worst(&d, right);
	char *text = xprintf("these are GNU's figures, and wrong for this data: %s (%zu function%s "
			     "differ%s in time, %zu in calls%s); kin gprof corrects them",
			     worst, d.n_times, d.n_times == 1 ? "" : "s", d.n_times == 1 ? "s" : "",
			     d.n_calls, cycles ? "; entries of cycles, too" : "");
	free(worst);
	return text;
}

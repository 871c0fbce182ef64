/* flatten.c - makes a profile whose addresses are in the program's flat row of places. */
#include "base/err.h"
#include "symbolize/program.h"

struct profile *program_flatten(const struct program *g, const struct profile *p)
{
	struct profile_builder *b = profile_builder_new();

	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		a.from = program_flat_caller(g, a.from_object, a.from);
		a.to = program_flat(g, a.to_object, a.to);
		a.from_object = a.to_object = 0;
		if (a.to != UINT64_MAX)
			profile_add_arc(b, a);
	}
	for (size_t i = 0; i < p->n_histograms; i++) {
		struct histogram h = p->histograms[i];
		if (h.object != 0)
			continue; /* only gmon.out has histograms: they are the program's, whose
				   * flat addresses are its own */
		kin_error_free(profile_add_histogram(b, h)); /* no error: they agreed before */
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct block k = p->blocks[i];
		k.addr = program_flat(g, k.object, k.addr);
		k.object = 0;
		if (k.addr != UINT64_MAX)
			profile_add_block(b, k);
	}
	if (p->n_blocks)
		profile_add_block_record(b);
	for (size_t i = 0; i < p->n_sources; i++)
		profile_add_source(b, strtab_get(p->strings, p->sources[i].path), p->sources[i]);
	return profile_finish(b);
}

/* find_line.c - finds one line of own code that most of the time belongs to, with what it calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "findings/evidence.h"

#define MOST 0.5

struct own_weight { /* of a place in own code */
	struct own_place at;
	symid function;
	double weight;
};

struct line_weight {
	strid file;
	uint32_t line;
	symid function;
	double weight;
};

typedef VEC(struct own_weight) own_weights;

static void add_places(const struct evidence *e, own_weights *into)
{
	const struct samples *s = e->samples;
	struct map64 index = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		struct own_place at = e->at[s->at[i].stack];
		if (s->at[i].event != e->event || !at.frame)
			continue;
		uint32_t *id = map64_at(&index, MAP64_PAIR(at.frame, at.depth));
		if (*id == NONE) {
			*id = (uint32_t)into->n;
			vec_push(into, ((struct own_weight){ at, e->own[s->at[i].stack], 0 }));
		}
		into->at[*id].weight += (double)s->at[i].weight;
	}
	map64_free(&index);
}

/* Lines of one number in several files are told apart by their files' names. */
static struct line_weight heaviest_line(const struct evidence *e, const own_weights *places,
					struct strtab *files)
{
	struct map64 index = { 0 };
	VEC(struct line_weight) lines = { 0 };
	struct line_weight most = { 0 };
	struct srcloc line = { 0 };

	for (size_t i = 0; i < places->n; i++) {
		const struct own_weight *x = &places->at[i];
		if (!program_line_at(e->in->program, x->at.frame, x->at.depth, &line) ||
		    !line.file || !line.line)
			continue;
		strid file = strtab_add(files, line.file);
		uint32_t *id = map64_at(&index, MAP64_PAIR(file, line.line));
		if (*id == NONE) {
			*id = (uint32_t)lines.n;
			vec_push(&lines, ((struct line_weight){ file, line.line, x->function, 0 }));
		}
		lines.at[*id].weight += x->weight;
		if (lines.at[*id].weight > most.weight)
			most = lines.at[*id];
	}
	map64_free(&index);
	vec_free(&lines);
	return most;
}

void find_one_line(const struct evidence *e, struct findings *into)
{
	own_weights places = { 0 };
	struct strtab *files = strtab_new();

	add_places(e, &places);
	struct line_weight most = heaviest_line(e, &places, files);
	double share = most.weight / e->weight;
	if (share - evidence_points(e, share) >= MOST) {
		char *words = evidence_share(e, share), *name = evidence_name(e, most.function);
		vec_push(&into->at, ((struct finding){
					    .kind = "one-line",
					    .share = share,
					    .points = evidence_points(e, share),
					    .text = xprintf("one line, %s:%" PRIu32
							    " in %s, takes %s, with what it calls",
							    base_name(strtab_get(files, most.file)),
							    most.line, name, words),
					    .view = "annotate",
					    .function = evidence_function(e, most.function),
				    }));
		free(words);
		free(name);
	}
	vec_free(&places);
	strtab_free(files);
}

/* symbols_join.c - joins the places of several objects into one row. */
#include <stdlib.h>

#include "symbolize/symbols_private.h"

/* Copies the places of one part, which is freed afterwards: files are interned anew; names live as
 * long as the object. */
static void adopt(struct symbols *into, struct symbols *part, uint64_t base, uint16_t index,
		  uint32_t *positions)
{
	symid first = (symid)into->n;
	for (size_t i = 0; i < part->n; i++) {
		struct symbol s = part->at[i];
		s.addr += base;
		s.end += base;
		s.owner += first;
		s.part = index;
		if (s.file) /* equal files are equal pointers */
			s.file = strtab_get(into->priv->files,
					    strtab_add(into->priv->files, s.file));
		into->at[into->n++] = s;
	}
	const struct symbols_part *old = &part->parts[0];
	into->parts[into->n_parts++] = (struct symbols_part){ old->object,     base,
							      first,           (symid)part->n,
							      old->low + base, old->high + base,
							      old->is_chosen };

	struct symbols_private *from = part->priv, *to = into->priv;
	for (size_t i = 0; i < from->n_placed; i++) /* one symbol table after the other */
		to->placed[to->n_placed++] = (struct placed){ from->placed[i].position + *positions,
							      from->placed[i].id + first };
	uint32_t most = 0;
	for (size_t i = 0; i < from->n_placed; i++)
		if (from->placed[i].position > most)
			most = from->placed[i].position;
	*positions += most + 1;
}

static void add_extra(struct symbols *s, const char *const *names, size_t n, uint64_t low)
{
	symid first = (symid)s->n;
	for (size_t i = 0; i < n; i++) {
		s->at[s->n] = (struct symbol){
			.addr = low + i,
			.end = low + i + 1,
			.name = names[i],
			.owner = (symid)s->n,
			.part = (uint16_t)s->n_parts,
			.is_function = true,
			.located = true,
		};
		s->n++;
	}
	s->parts[s->n_parts++] =
		(struct symbols_part){ NULL, low, first, (symid)n, low, low + n, false };
}

struct symbols *symbols_join(const struct symbols_row *row, const char *const *extra,
			     size_t n_extra, const struct symbols_opts *opts)
{
	struct symbols *s = xalloc(sizeof(*s));
	size_t places = n_extra, placed = 0;
	uint32_t positions = 0;

	for (size_t i = 0; i < row->n; i++) {
		places += row->symbols[i]->n;
		placed += row->symbols[i]->priv->n_placed;
	}
	s->opts = *opts;
	s->priv = xalloc(sizeof(*s->priv));
	s->priv->files = strtab_new();
	s->priv->placed = xalloc((placed + 1) * sizeof(*s->priv->placed));
	s->at = xalloc((places + 1) * sizeof(*s->at));
	s->parts = xalloc((row->n + 1) * sizeof(*s->parts));
	for (size_t i = 0; i < row->n; i++) {
		struct symbols *part = row->symbols[i];
		uint64_t base = row->bases[i];
		adopt(s, part, base, (uint16_t)i, &positions);
		if (i == row->program) {
			s->object = part->object;
			s->text = (struct address_range){ part->text.low + base,
							  part->text.high + base };
		}
		symbols_free(part);
	}
	add_extra(s, extra, n_extra, row->next);
	place_index_init(&s->priv->index, s->at, s->n);
	s->priv->display = xalloc((s->n + 1) * sizeof(*s->priv->display));
	return s;
}

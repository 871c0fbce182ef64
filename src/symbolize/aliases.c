/* aliases.c - finds places by names that are not shown, as only one symbol at an address is.
 * Aliases are searched when a name is requested, and only matches are kept. */
#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/people_name.h"
#include "base/sort.h"
#include "symbolize/symbols_private.h"

struct alias_query { /* a name that was asked for */
	char *name;
	VEC(symid) found; /* ascending, perhaps repeated */
};

struct alias_search {
	struct symbols *s;
	const struct symbols_part *part;
	const char *name, *word; /* word: function_name_word(), [n_word]; NULL: there is none */
	size_t n, n_word;
	struct alias_query *query;
};

static bool is_called(const struct alias_search *x, const char *symbol)
{
	if (!strncmp(symbol, x->name, x->n) && (!symbol[x->n] || symbol[x->n] == '@'))
		return true;
	if (!function_name_is_mangled(symbol) || !x->word ||
	    !memmem(symbol, strlen(symbol), x->word, x->n_word))
		return false;
	char *readable = demangle(symbol, DEMANGLE_AUTO);
	bool is_it = readable && function_name_is(readable, x->name);
	free(readable);
	return is_it;
}

static void see(void *arg, const char *symbol, uint64_t addr)
{
	struct alias_search *x = arg;
	if (!is_called(x, symbol))
		return;
	symid id = symbols_find_start(x->s, addr + x->part->base);
	if (id != NONE)
		vec_push(&x->query->found, id);
}

static int by_number(const void *a, const void *b)
{
	symid x = *(const symid *)a, y = *(const symid *)b;
	return ORDER(x, y);
}

static void look(struct symbols *s, struct alias_query *q)
{
	struct alias_search x = { .s = s, .name = q->name, .n = strlen(q->name), .query = q };
	x.word = function_name_word(q->name, &x.n_word);
	for (size_t i = 0; i < s->n_parts; i++) {
		x.part = &s->parts[i];
		if (x.part->object)
			object_for_each_name(x.part->object, see, &x);
	}
	if (q->found.n)
		qsort(q->found.at, q->found.n, sizeof(*q->found.at), by_number);
}

static const struct alias_query *query(struct symbols *s, const char *name)
{
	struct symbols_private *p = s->priv;
	for (size_t i = 0; i < p->n_aliases; i++)
		if (!strcmp(p->aliases[i].name, name))
			return &p->aliases[i];
	p->aliases = xrealloc(p->aliases, p->n_aliases + 1, sizeof(*p->aliases));
	struct alias_query *q = &p->aliases[p->n_aliases++];
	*q = (struct alias_query){ .name = xprintf("%s", name) };
	look(s, q);
	return q;
}

static bool has_aliases(const struct symbols *s)
{
	return !symbols_rules(s)->one_name && !s->opts.table.external;
}

struct alias_walk {
	struct symbols *s;
	uint64_t base; /* base of the part */
	void (*each)(void *arg, symid id, const char *name);
	void *arg;
};

static void see_any(void *arg, const char *symbol, uint64_t addr)
{
	const struct alias_walk *w = arg;
	symid id = symbols_find_start(w->s, addr + w->base);
	if (id != NONE && strcmp(w->s->at[id].name, symbol) != 0)
		w->each(w->arg, id, symbol);
}

void symbols_for_each_alias(struct symbols *s, void (*each)(void *arg, symid id, const char *name),
			    void *arg)
{
	struct alias_walk w = { .s = s, .each = each, .arg = arg };
	for (size_t i = 0; i < s->n_parts && has_aliases(s); i++) {
		w.base = s->parts[i].base;
		if (s->parts[i].object)
			object_for_each_name(s->parts[i].object, see_any, &w);
	}
}

bool symbols_is_alias(struct symbols *s, symid id, const char *name)
{
	if (!has_aliases(s) || !*name)
		return false;
	const struct alias_query *q = query(s, name);
	return q->found.n && bsearch(&id, q->found.at, q->found.n, sizeof(*q->found.at), by_number);
}

bool symbols_is_called(struct symbols *s, symid id, const char *name)
{
	return !strcmp(s->at[id].name, name) || people_name_is(symbols_display(s, id), name) ||
	       symbols_is_alias(s, id, name);
}

void symbols_forget_aliases(struct symbols *s)
{
	for (size_t i = 0; i < s->priv->n_aliases; i++) {
		free(s->priv->aliases[i].name);
		vec_free(&s->priv->aliases[i].found);
	}
	free(s->priv->aliases);
}

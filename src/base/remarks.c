/* remarks.c - a list of sentences, searched from its start. */
#include "base/remarks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static PRINTF(4, 0) void add(struct remarks *r, unsigned kinds, uint32_t where, const char *fmt,
			     va_list ap)
{
	vec_push(&r->at, ((struct remark){ kinds, where, xvprintf(fmt, ap) }));
}

void remarks_add(struct remarks *r, unsigned kinds, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(r, kinds, 0, fmt, ap);
	va_end(ap);
}

void remarks_add_of(struct remarks *r, unsigned kinds, uint32_t where, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(r, kinds, where, fmt, ap);
	va_end(ap);
}

void remarks_add_once(struct remarks *r, unsigned kinds, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	if (!remarks_have(r, kinds, text))
		remarks_add(r, kinds, "%s", text);
	free(text);
}

const char *remarks_next(const struct remarks *r, unsigned kinds, size_t *i)
{
	while (r && *i < r->at.n) {
		const struct remark *x = &r->at.at[(*i)++];
		if (x->kinds & kinds)
			return x->text;
	}
	return NULL;
}

void remarks_json(const struct remarks *r, unsigned kinds, const char *space, struct sink *s)
{
	const char *text, *between = "";
	for (size_t i = 0; (text = remarks_next(r, kinds, &i)); between = ",") {
		sink_str(s, between);
		sink_str(s, space);
		json_string(s, text);
	}
}

bool remarks_have(const struct remarks *r, unsigned kinds, const char *text)
{
	const char *x;
	for (size_t i = 0; (x = remarks_next(r, kinds, &i));)
		if (!text || !strcmp(x, text))
			return true;
	return false;
}

void remarks_free(struct remarks *r)
{
	for (size_t i = 0; i < r->at.n; i++)
		free(r->at.at[i].text);
	vec_free(&r->at);
}

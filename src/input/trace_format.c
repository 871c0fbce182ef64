/* trace_format.c - reads the description of a trace point: its name and its fields. */
#include "input/trace_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/trace_format_private.h"

uint64_t trace_format_id(const struct trace_format *f) { return f->id; }
const char *trace_format_name(const struct trace_format *f) { return f->name; }

static uint32_t number_behind(const char *line, size_t n, const char *key)
{
	const char *at = memmem(line, n, key, strlen(key));
	uint32_t v = 0;
	for (at = at ? at + strlen(key) : NULL; at && at < line + n && isdigit((unsigned char)*at);
	     at++)
		v = v < 100000000 ? v * 10 + (uint32_t)(*at - '0') : v;
	return v;
}

/* "	field:TYPE NAME[N];	offset:8;	size:16;	signed:0;" */
static void take_field_line(struct trace_format *f, const char *line, size_t n)
{
	static const char key[] = "field:";
	const char *from = memmem(line, n, key, sizeof(key) - 1);
	if (!from)
		return;
	from += sizeof(key) - 1;
	const char *end = memchr(from, ';', (size_t)(line + n - from));
	if (!end)
		return;
	char *decl = arena_printf(&f->arena, "%.*s", (int)(end - from), from);
	struct trace_field x = { .type = "",
				 .offset = number_behind(line, n, "offset:"),
				 .size = number_behind(line, n, "size:"),
				 .is_signed = number_behind(line, n, "signed:") };
	char *space = strrchr(decl, ' '), *bracket = space ? strrchr(space, '[') : NULL;
	if (bracket) { /* behind the name */
		*bracket = '\0';
		x.is_array = true;
	}
	x.name = space ? space + 1 : decl;
	if (space) {
		*space = '\0';
		x.type = decl;
	}
	x.is_relative = trace_has_word(x.type, "__rel_loc");
	x.is_dynamic = x.is_relative || trace_has_word(x.type, "__data_loc");
	x.is_array |= x.is_dynamic;
	x.is_text = x.is_array && trace_has_word(x.type, "char") &&
		    !trace_has_word(x.type, "unsigned char");
	vec_push(&f->fields, x);
}

/* The rest of [s, end) after `word`, if it begins with that; otherwise NULL. */
static const char *behind(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(end - s) >= n && !memcmp(s, word, n) ? s + n : NULL;
}

/* The file's lines. An empty one is between the fields that all have and the trace point's own. */
static void take_lines(struct trace_format *f, const char *text, size_t n)
{
	for (const char *s = text, *end = text + n, *rest; s < end;) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));
		const char *stop = newline ? newline : end;
		size_t len = (size_t)(stop - s);
		if ((rest = behind(s, stop, "print fmt:"))) {
			trace_format_parse(f, rest, (size_t)(stop - rest));
		} else if ((rest = behind(s, stop, "name: "))) {
			f->name = arena_printf(&f->arena, "%.*s", (int)(stop - rest), rest);
		} else if (behind(s, stop, "ID: ")) {
			f->id = number_behind(s, len, "ID: ");
		} else if (!len && !f->n_common) {
			f->n_common = f->fields.n;
		} else {
			take_field_line(f, s, len);
		}
		s += len + 1;
	}
}

struct trace_format *trace_format_new(const char *text, size_t n, struct trace_layout layout)
{
	struct trace_format *f = xalloc(sizeof(*f));
	f->layout = layout;
	f->name = "";
	take_lines(f, text, n);
	return f;
}

void trace_format_free(struct trace_format *f)
{
	if (!f)
		return;
	vec_free(&f->fields);
	vec_free(&f->args);
	arena_release(&f->arena);
	free(f);
}

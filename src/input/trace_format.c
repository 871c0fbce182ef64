/* trace_format.c - reads the description of a trace point: its name and its fields. */
#include "input/trace_format.h"

#include <stdlib.h>
#include <string.h>

#include "input/trace_format_private.h"

uint64_t trace_format_id(const struct trace_format *f) { return f->id; }
const char *trace_format_name(const struct trace_format *f) { return f->name; }

/* The number that the text begins with; 0 if there is none. */
static uint32_t number_of(const char *s)
{
	return (uint32_t)min_u64(strtoull(s, NULL, 10), UINT32_MAX);
}

static uint32_t number_behind(const char *line, const char *key)
{
	const char *at = strstr(line, key);
	return at ? number_of(at + strlen(key)) : 0;
}

/* "	field:TYPE NAME[N];	offset:8;	size:16;	signed:0;" */
static void take_field_line(struct trace_format *f, const char *line)
{
	static const char key[] = "field:";
	const char *from = strstr(line, key);
	if (!from)
		return;
	from += sizeof(key) - 1;
	const char *end = strchr(from, ';');
	if (!end)
		return;
	char *decl = arena_printf(&f->arena, "%.*s", (int)(end - from), from);
	struct trace_field x = { .type = "",
				 .offset = number_behind(line, "offset:"),
				 .size = number_behind(line, "size:"),
				 .is_signed = number_behind(line, "signed:") };
	char *space = strrchr(decl, ' '), *bracket = space ? strrchr(space, '[') : NULL;
	if (bracket) { /* an array: the bracket follows the name */
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

/* The rest of a line after `word`, if it begins with that; otherwise NULL. */
static const char *behind(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) == 0 ? line + n : NULL;
}

/* An empty line separates the common fields from the trace point's own. */
static void take_line(struct trace_format *f, const char *line)
{
	const char *rest;
	if ((rest = behind(line, "print fmt:")))
		trace_format_parse(f, rest);
	else if ((rest = behind(line, "name: ")))
		f->name = rest;
	else if ((rest = behind(line, "ID: ")))
		f->id = number_of(rest);
	else if (!*line && !f->n_common)
		f->n_common = f->fields.n;
	else
		take_field_line(f, line);
}

struct trace_format *trace_format_new(const char *text, size_t n, struct trace_layout layout)
{
	struct trace_format *f = xalloc(sizeof(*f));
	f->layout = layout;
	f->name = "";
	char *rest = memcpy(arena_alloc_bytes(&f->arena, n + 1), text, n);
	while (rest && *rest)
		take_line(f, strsep(&rest, "\n"));
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

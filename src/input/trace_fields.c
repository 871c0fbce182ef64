/* trace_fields.c - the fields of a trace point: read from its description, printed as stored. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "input/trace_points_private.h"

/* The number behind the key; false: there is none, or it is larger than `most`. */
static bool take_number(const char *line, const char *key, uint64_t most, uint32_t *ret)
{
	const char *at = strstr(line, key);
	char *end;
	if (!at || !isdigit((unsigned char)at[strlen(key)]))
		return false;
	unsigned long v = strtoul(at + strlen(key), &end, 10);
	*ret = (uint32_t)v;
	return v <= most;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* "unsigned long args[6]", "__data_loc char[] name": words, *, and [words]; a name at the end. */
static bool is_declaration(const char *s)
{
	size_t words = 0;
	while (*s) {
		size_t n = 0;
		while (is_word(s[n]))
			n++;
		words += n > 0;
		s += n;
		if (*s == '[') {
			if (!words)
				return false;
			for (s++; is_word(*s) || *s == '*';)
				s++;
			if (*s++ != ']')
				return false;
		} else if (*s == ' ' || *s == '*') {
			s++;
		} else if (*s) {
			return false;
		}
	}
	return words >= 2;
}

/* "	field:TYPE NAME[N];	offset:8;	size:16;	signed:0;" */
static bool take_field(struct trace_point *p, const char *line)
{
	static const char key[] = "\tfield:";
	if (strncmp(line, key, sizeof(key) - 1) != 0)
		return false;
	line += sizeof(key) - 1;
	int n = (int)strcspn(line, ";");
	const char *behind = line + n;
	struct trace_field f = { .declaration = arena_printf(&p->arena, "%.*s", n, line) };
	uint32_t is_signed = 0;
	if (!is_declaration(f.declaration) ||
	    !take_number(behind, "offset:", TRACE_RECORD_MAX, &f.offset) ||
	    !take_number(behind, "size:", TRACE_RECORD_MAX, &f.size) ||
	    f.offset + f.size > TRACE_RECORD_MAX)
		return false;
	take_number(behind, "signed:", 1, &is_signed);
	char *decl = arena_printf(&p->arena, "%s", f.declaration);
	char *name = strrchr(decl, ' '), *bracket = name ? strchr(name, '[') : NULL;
	if (!name || !is_word(name[1]))
		return false;
	if (bracket)
		*bracket = '\0';
	*name++ = '\0';
	f.name = name;
	f.is_signed = is_signed;
	f.is_relative = strstr(decl, "__rel_loc") != NULL;
	f.is_dynamic = (f.is_relative || strstr(decl, "__data_loc")) && f.size == 4;
	f.is_array = bracket || f.is_dynamic;
	f.is_text = f.is_array && strstr(decl, "char") && !strstr(decl, "unsigned char");
	p->end = f.offset + f.size > p->end ? f.offset + f.size : p->end;
	vec_push(&p->fields, f);
	return true;
}

/* The rest of a line after `word`, if it begins with that; otherwise NULL. */
static const char *behind(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) == 0 ? line + n : NULL;
}

/* An empty line separates the common fields from the trace point's own. */
static bool take_line(struct trace_point *p, const char *line, bool *has_id)
{
	const char *rest;
	uint32_t id = 0;
	if ((rest = behind(line, "name: "))) {
		p->name = rest;
	} else if (behind(line, "ID: ")) {
		*has_id = take_number(line, "ID: ", UINT16_MAX, &id);
		p->id = (uint16_t)id;
	} else if (!*line && !p->n_common) {
		p->n_common = p->fields.n;
	} else if (*line && strcmp(line, "format:") != 0) {
		return take_field(p, line);
	}
	return true;
}

bool trace_fields_read(struct trace_point *p, const char *text, size_t n)
{
	bool good = n < TRACE_RECORD_MAX && !memchr(text, '\0', n), has_id = false;
	char *rest = arena_alloc_bytes(&p->arena, n + 1);
	memcpy(rest, text, n);
	p->name = "";
	while (good && rest && *rest && !(p->print = behind(rest, "print fmt:")))
		good = take_line(p, strsep(&rest, "\n"), &has_id);
	for (const char *s = p->name; *s; s++)
		good &= is_word(*s);
	return good && has_id && *p->name && p->n_common;
}

const struct trace_field *trace_fields_find(const struct trace_point *p, const char *name, size_t n)
{
	for (size_t i = 0; i < p->fields.n; i++)
		if (strlen(p->fields.at[i].name) == n && !memcmp(p->fields.at[i].name, name, n))
			return &p->fields.at[i];
	return NULL;
}

/* The library takes no tabs in strings. */
static void put_print(const char *s, FILE *out)
{
	for (bool quoted = false; *s; s++) {
		if (*s == '\t') {
			fputs(quoted ? "\\t" : " ", out);
			continue;
		}
		quoted ^= *s == '"';
		putc(*s, out);
		if (*s == '\\' && s[1])
			putc(*++s, out);
	}
}

char *trace_fields_text(const struct trace_point *p)
{
	char *text;
	size_t n;
	FILE *out = xopen_memstream(&text, &n);
	fprintf(out, "name: %s\nID: %u\nformat:\n", p->name, p->id);
	for (size_t i = 0; i < p->fields.n; i++) {
		const struct trace_field *f = &p->fields.at[i];
		fprintf(out, "%s\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			i == p->n_common ? "\n" : "", f->declaration, f->offset, f->size,
			f->is_signed);
	}
	fprintf(out, "%s\nprint fmt:", p->n_common == p->fields.n ? "\n" : "");
	put_print(p->print, out);
	putc('\n', out);
	xclose_memstream(out, &text);
	return text;
}

/* ---- records ---- */

uint64_t trace_fields_number(struct trace_value v, bool swapped, bool is_signed)
{
	struct bytes b = { .pos = v.bytes, .end = v.bytes + v.n, .swap = swapped };
	switch (v.n) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)bytes_u8(&b) : bytes_u8(&b);
	case 2:
		return is_signed ? (uint64_t)(int16_t)bytes_u16(&b) : bytes_u16(&b);
	case 4:
		return is_signed ? (uint64_t)(int32_t)bytes_u32(&b) : bytes_u32(&b);
	case 8:
		return bytes_u64(&b);
	default:
		return 0;
	}
}

bool trace_fields_value(const struct trace_field *f, const uint8_t *raw, size_t size, bool swapped,
			struct trace_value *ret)
{
	if (f->offset + f->size > size)
		return false;
	*ret = (struct trace_value){ raw + f->offset, f->size };
	if (!f->is_dynamic)
		return true;
	uint64_t where = trace_fields_number(*ret, swapped, false), n = where >> 16;
	uint64_t at = (where & 0xffff) + (f->is_relative ? f->offset + f->size : 0);
	if (at + n > size)
		return false;
	*ret = (struct trace_value){ raw + at, n };
	return true;
}

void trace_fields_print(const struct trace_point *p, const uint8_t *raw, size_t size, bool swapped,
			FILE *out)
{
	for (size_t i = p->n_common; i < p->fields.n; i++) {
		const struct trace_field *f = &p->fields.at[i];
		struct trace_value v;
		fprintf(out, " %s=", f->name);
		if (!trace_fields_value(f, raw, size, swapped, &v))
			continue;
		if (f->is_text)
			fwrite(v.bytes, 1, strnlen((const char *)v.bytes, v.n), out);
		else if (f->is_array)
			for (size_t k = 0; k < v.n; k++)
				fprintf(out, "%s%02x%s", k ? ", " : "ARRAY[", v.bytes[k],
					k + 1 == v.n ? "]" : "");
		else if (f->is_signed)
			fprintf(out, "%" PRId64, (int64_t)trace_fields_number(v, swapped, true));
		else
			fprintf(out, v.n == 8 ? "0x%" PRIx64 : "%" PRIu64,
				trace_fields_number(v, swapped, false));
	}
}

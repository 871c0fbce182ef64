/* trace_format.c - parses print formats and their expressions, and evaluates them on a record. */
#include "input/trace_format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

enum { DEPTH_MAX = 100, TEXT_MAX = 4096 };

struct trace_field {
	const char *name, *type;
	uint32_t offset, size;
	bool is_signed, is_array, is_text;
	bool is_dynamic;  /* its place and length are in the record: __data_loc */
	bool is_relative; /* the place is behind the field: __rel_loc */
};

/* ---- expressions ---- */

enum token_kind {
	E_NUMBER,
	E_TEXT,
	E_FIELD,   /* REC->name */
	E_INDEX,   /* a[b] */
	E_UNARY,   /* op a */
	E_BINARY,  /* a op b */
	E_CHOICE,  /* a ? b : c */
	E_CAST,    /* to `size` bytes */
	E_STRING,  /* __get_str(field) */
	E_ARRAY,   /* __get_dynamic_array(field) */
	E_LENGTH,  /* __get_dynamic_array_len(field) */
	E_BITMASK, /* __get_bitmask(field) */
	E_FLAGS,   /* __print_flags(a, text, ...) */
	E_SYMBOL,  /* __print_symbolic(a, ...) */
	E_HEX,     /* __print_hex(a, b); text: what is between bytes */
	E_NUMBERS, /* __print_array(a, b, c) */
};

struct named_value { /* one of a list {value, name} */
	struct expr *value;
	const char *name;
};

struct expr {
	enum token_kind kind;
	uint32_t op; /* up to two characters */
	uint64_t number;
	const char *text;
	const struct trace_field *field;
	struct expr *a, *b, *c;
	struct named_value *names;
	size_t n_names;
	uint32_t size;
	bool is_signed;
	bool is_unknown; /* a number that only has a name */
};

struct trace_format {
	struct arena arena;
	struct trace_layout layout;
	uint64_t id;
	const char *name;
	VEC(struct trace_field) fields;
	size_t n_common;    /* of them, that all trace points have */
	const char *format; /* NULL: not understood */
	VEC(struct expr *) args;
};

uint64_t trace_format_id(const struct trace_format *f) { return f->id; }
const char *trace_format_name(const struct trace_format *f) { return f->name; }

/* ---- words of the format's expressions ---- */

enum word_kind { W_END, W_NAME, W_NUMBER, W_TEXT, W_OP };

struct format_word {
	enum word_kind kind;
	uint32_t op;
	uint64_t number;
	const char *s; /* of a name */
	size_t n;
	const char *text; /* of a text, unescaped */
};

struct format_parser {
	struct trace_format *f;
	const char *at, *end;
	struct format_word word; /* the next one */
	unsigned depth;
	bool bad;
};

#define OP(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

static char unescape(const char **s, const char *end)
{
	static const char from[] = "ntr0ab", to[] = "\n\t\r\0\a\b";
	char c = *(*s)++;
	if (c != '\\' || *s == end)
		return c;
	c = *(*s)++;
	const char *known = c ? strchr(from, c) : NULL;
	return known ? to[known - from] : c;
}

/* "a" "b": one text. */
static void take_text(struct format_parser *p)
{
	char *text = arena_alloc_bytes(&p->f->arena, (size_t)(p->end - p->at) + 1);
	size_t n = 0;
	while (p->at < p->end && *p->at == '"') {
		p->at++;
		while (p->at < p->end && *p->at != '"')
			text[n++] = unescape(&p->at, p->end);
		p->at += p->at < p->end;
		while (p->at < p->end && isspace((unsigned char)*p->at))
			p->at++;
	}
	p->word.kind = W_TEXT;
	p->word.text = text;
}

static void take_number(struct format_parser *p)
{
	char digits[32];
	char *after;
	size_t n = 0;
	while (n < sizeof(digits) - 1 && p->at + n < p->end && isalnum((unsigned char)p->at[n])) {
		digits[n] = p->at[n];
		n++;
	}
	digits[n] = '\0';
	p->word.kind = W_NUMBER;
	p->word.number = strtoull(digits, &after, 0);
	after += strspn(after, "uUlL");
	p->bad |= *after != '\0';
	p->at += n;
}

static void take_operator(struct format_parser *p)
{
	static const char *const doubles[] = {
		"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"
	};
	char a = *p->at++;
	p->word.kind = W_OP;
	p->word.op = OP(a, 0);
	for (size_t i = 0; p->at < p->end && i < ARRAY_LEN(doubles); i++) {
		if (a != doubles[i][0] || *p->at != doubles[i][1])
			continue;
		p->word.op = OP(a, *p->at);
		p->at++;
		return;
	}
}

static void advance(struct format_parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
	p->word = (struct format_word){ .kind = W_END };
	if (p->at == p->end || p->bad)
		return;
	if (*p->at == '"') {
		take_text(p);
	} else if (isdigit((unsigned char)*p->at)) {
		take_number(p);
	} else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		p->word.kind = W_NAME;
		p->word.s = p->at;
		while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
			p->at++;
		p->word.n = (size_t)(p->at - p->word.s);
	} else if (*p->at == '\'' && p->end - p->at >= 3) {
		p->at++;
		p->word.kind = W_NUMBER;
		p->word.number = (uint64_t)(unsigned char)unescape(&p->at, p->end);
		p->at += p->at < p->end;
	} else {
		take_operator(p);
	}
}

static bool is_op(const struct format_parser *p, char a, char b)
{
	return p->word.kind == W_OP && p->word.op == OP(a, b);
}

static bool is_name(const struct format_word *w, const char *name)
{
	return w->kind == W_NAME && w->n == strlen(name) && !memcmp(w->s, name, w->n);
}

static bool accept(struct format_parser *p, char op)
{
	bool is = is_op(p, op, 0);
	if (is)
		advance(p);
	return is;
}

static void expect(struct format_parser *p, char op)
{
	if (!accept(p, op))
		p->bad = true;
}

/* ---- expressions ---- */

static struct expr *parse_expression(struct format_parser *p);
static struct expr *parse_unary(struct format_parser *p);

static struct expr *new_expr(struct format_parser *p, enum token_kind kind)
{
	struct expr *e = arena_alloc(&p->f->arena, sizeof(*e));
	e->kind = kind;
	return e;
}

static const struct trace_field *find_field(const struct trace_format *f, const char *s, size_t n)
{
	for (size_t i = 0; i < f->fields.n; i++)
		if (strlen(f->fields.at[i].name) == n && !memcmp(f->fields.at[i].name, s, n))
			return &f->fields.at[i];
	return NULL;
}

static const struct trace_field *take_field(struct format_parser *p)
{
	const struct trace_field *field =
		p->word.kind == W_NAME ? find_field(p->f, p->word.s, p->word.n) : NULL;
	if (!field)
		p->bad = true;
	else
		advance(p);
	return field;
}

/* {value, "name"}, ...; perhaps in another pair of braces. */
static void parse_names(struct format_parser *p, struct expr *e)
{
	VEC(struct named_value) list = { 0 };
	while (!p->bad && accept(p, ',')) {
		struct named_value x = { NULL, NULL };
		expect(p, '{');
		x.value = parse_expression(p);
		if (x.value->is_unknown) /* no value of the field is taken for it */
			x.value->number = UINT64_MAX;
		expect(p, ',');
		if (p->word.kind == W_TEXT) {
			x.name = p->word.text;
			advance(p);
		} else {
			parse_expression(p); /* the end of the list: { 0, NULL } */
		}
		expect(p, '}');
		if (x.name && !p->bad)
			vec_push(&list, x);
	}
	e->names = arena_copy(&p->f->arena, list.at, list.n, sizeof(*list.at));
	e->n_names = list.n;
	vec_free(&list);
}

static const struct print_function {
	const char *name;
	enum token_kind kind;
	bool relative;
} functions[] = {
	{ "__get_str", E_STRING, false },
	{ "__get_rel_str", E_STRING, true },
	{ "__get_dynamic_array", E_ARRAY, false },
	{ "__get_rel_dynamic_array", E_ARRAY, true },
	{ "__get_dynamic_array_len", E_LENGTH, false },
	{ "__get_rel_dynamic_array_len", E_LENGTH, true },
	{ "__get_bitmask", E_BITMASK, false },
	{ "__get_rel_bitmask", E_BITMASK, true },
	{ "__get_cpumask", E_BITMASK, false },
	{ "__get_rel_cpumask", E_BITMASK, true },
	{ "__print_flags", E_FLAGS, false },
	{ "__print_flags_u64", E_FLAGS, false },
	{ "__print_symbolic", E_SYMBOL, false },
	{ "__print_symbolic_u64", E_SYMBOL, false },
	{ "__print_hex", E_HEX, false },
	{ "__print_hex_str", E_HEX, false },
	{ "__print_array", E_NUMBERS, false },
};

/* Behind the name and "(". */
static struct expr *parse_call(struct format_parser *p, const struct print_function *f)
{
	struct expr *e = new_expr(p, f->kind);
	switch (f->kind) {
	case E_STRING:
	case E_ARRAY:
	case E_LENGTH:
	case E_BITMASK:
		e->field = take_field(p);
		break;
	case E_FLAGS:
		e->a = parse_expression(p);
		expect(p, ',');
		e->text = p->word.kind == W_TEXT ? p->word.text : "";
		p->bad |= p->word.kind != W_TEXT;
		advance(p);
		parse_names(p, e);
		break;
	case E_SYMBOL:
		e->a = parse_expression(p);
		parse_names(p, e);
		break;
	default:
		e->text = f->kind == E_HEX && strcmp(f->name, "__print_hex_str") != 0 ? " " : "";
		e->a = parse_expression(p);
		expect(p, ',');
		e->b = parse_expression(p);
		if (f->kind == E_NUMBERS) {
			expect(p, ',');
			e->c = parse_expression(p);
		}
		break;
	}
	expect(p, ')');
	return e;
}

static struct expr *parse_name(struct format_parser *p)
{
	struct format_word name = p->word;
	advance(p);
	if (is_name(&name, "REC") && is_op(p, '-', '>')) {
		advance(p);
		struct expr *e = new_expr(p, E_FIELD);
		e->field = take_field(p);
		return e;
	}
	if (!accept(p, '(')) { /* a constant's name, which nobody put into a number: taken for 0 */
		struct expr *e = new_expr(p, E_NUMBER);
		e->is_unknown = true;
		return e;
	}
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (is_name(&name, functions[i].name))
			return parse_call(p, &functions[i]);
	p->bad = true;
	return new_expr(p, E_NUMBER);
}

static const struct {
	const char *name;
	uint32_t size;
	bool is_signed;
} types[] = {
	{ "char", 1, true },  { "s8", 1, true },    { "u8", 1, false },       { "__u8", 1, false },
	{ "bool", 1, false }, { "s16", 2, true },   { "u16", 2, false },      { "__u16", 2, false },
	{ "short", 2, true }, { "s32", 4, true },   { "u32", 4, false },      { "__u32", 4, false },
	{ "int", 4, true },   { "pid_t", 4, true }, { "uint32_t", 4, false },
};

/* Whether "(words)" is a type: nothing but names and stars, and something to be cast follows. Then
 * the cast is begun, and what follows is the next word. */
static struct expr *parse_cast(struct format_parser *p)
{
	struct format_parser ahead = *p; /* behind "(" */
	struct expr cast = { .kind = E_CAST, .size = 8 };
	bool is_unsigned = false, is_pointer = false;
	size_t n = 0;
	for (; ahead.word.kind == W_NAME || is_op(&ahead, '*', 0); n++) {
		if (is_name(&ahead.word, "REC"))
			return NULL;
		is_pointer |= ahead.word.kind == W_OP;
		is_unsigned |= is_name(&ahead.word, "unsigned");
		if (is_name(&ahead.word, "unsigned")) {
			cast.size = 4;
		} else if (is_name(&ahead.word, "long")) {
			cast.size = p->f->layout.is_32_bit ? 4 : 8;
			cast.is_signed = true;
		}
		for (size_t i = 0; i < ARRAY_LEN(types); i++) {
			if (!is_name(&ahead.word, types[i].name) ||
			    (cast.is_signed && !strcmp(types[i].name, "int")))
				continue;
			cast.size = types[i].size;
			cast.is_signed = types[i].is_signed;
		}
		advance(&ahead);
	}
	if (!n || !is_op(&ahead, ')', 0))
		return NULL;
	advance(&ahead);
	bool operand = ahead.word.kind == W_NAME || ahead.word.kind == W_NUMBER ||
		       is_op(&ahead, '(', 0) || is_op(&ahead, '~', 0) ||
		       (is_op(&ahead, '-', 0) && (n > 1 || cast.size < 8));
	if (!operand)
		return NULL;
	*p = ahead;
	cast.is_signed = cast.is_signed && !is_unsigned;
	cast.size = is_pointer ? 8 : cast.size;
	struct expr *e = new_expr(p, E_CAST);
	*e = cast;
	e->a = parse_unary(p);
	return e;
}

static struct expr *parse_primary(struct format_parser *p)
{
	struct expr *e;
	switch (p->word.kind) {
	case W_NUMBER:
		e = new_expr(p, E_NUMBER);
		e->number = p->word.number;
		advance(p);
		return e;
	case W_TEXT:
		e = new_expr(p, E_TEXT);
		e->text = p->word.text;
		advance(p);
		return e;
	case W_NAME:
		return parse_name(p);
	case W_OP:
		if (accept(p, '(')) {
			if ((e = parse_cast(p)))
				return e;
			e = parse_expression(p);
			expect(p, ')');
			return e;
		}
		break;
	case W_END:
		break;
	}
	p->bad = true;
	return new_expr(p, E_NUMBER);
}

static struct expr *parse_unary(struct format_parser *p)
{
	struct expr *e;
	if (++p->depth > DEPTH_MAX)
		p->bad = true;
	if (!p->bad && p->word.kind == W_OP && p->word.op < 128 && p->word.op &&
	    strchr("!~-+*&", (int)p->word.op)) {
		e = new_expr(p, E_UNARY);
		e->op = p->word.op;
		/* What a pointer leads to is not in the record. */
		p->bad |= e->op == '*' || e->op == '&';
		advance(p);
		e->a = parse_unary(p);
	} else {
		e = p->bad ? new_expr(p, E_NUMBER) : parse_primary(p);
	}
	while (!p->bad && accept(p, '[')) {
		struct expr *index = new_expr(p, E_INDEX);
		index->a = e;
		index->b = parse_expression(p);
		expect(p, ']');
		e = index;
	}
	p->depth--;
	return e;
}

static unsigned precedence(const struct format_word *w)
{
	static const struct {
		uint32_t op;
		unsigned level;
	} levels[] = {
		{ OP('|', '|'), 1 }, { OP('&', '&'), 2 }, { OP('|', 0), 3 },   { OP('^', 0), 4 },
		{ OP('&', 0), 5 },   { OP('=', '='), 6 }, { OP('!', '='), 6 }, { OP('<', 0), 7 },
		{ OP('>', 0), 7 },   { OP('<', '='), 7 }, { OP('>', '='), 7 }, { OP('<', '<'), 8 },
		{ OP('>', '>'), 8 }, { OP('+', 0), 9 },   { OP('-', 0), 9 },   { OP('*', 0), 10 },
		{ OP('/', 0), 10 },  { OP('%', 0), 10 },
	};
	for (size_t i = 0; w->kind == W_OP && i < ARRAY_LEN(levels); i++)
		if (levels[i].op == w->op)
			return levels[i].level;
	return 0;
}

static struct expr *parse_binary(struct format_parser *p, unsigned least)
{
	struct expr *e = parse_unary(p);
	for (unsigned level; !p->bad && (level = precedence(&p->word)) >= least && level;) {
		struct expr *both = new_expr(p, E_BINARY);
		both->op = p->word.op;
		both->a = e;
		advance(p);
		both->b = parse_binary(p, level + 1);
		e = both;
	}
	return e;
}

static struct expr *parse_expression(struct format_parser *p)
{
	p->depth++; /* whether that is too deep parse_unary() sees, which is always next */
	struct expr *e = parse_binary(p, 1);
	if (!p->bad && accept(p, '?')) {
		struct expr *choice = new_expr(p, E_CHOICE);
		choice->a = e;
		choice->b = parse_expression(p);
		expect(p, ':');
		choice->c = parse_expression(p);
		e = choice;
	}
	p->depth--;
	return e;
}

/* "format", a, b */
static void parse_print(struct trace_format *f, const char *s, size_t n)
{
	struct format_parser p = { .f = f, .at = s, .end = s + n };
	advance(&p);
	const char *format = p.word.kind == W_TEXT ? p.word.text : NULL;
	advance(&p);
	while (format && !p.bad && accept(&p, ','))
		vec_push(&f->args, parse_expression(&p));
	if (!p.bad && p.word.kind == W_END)
		f->format = format;
}

/* ---- fields ---- */

static uint32_t number_behind(const char *line, size_t n, const char *key)
{
	const char *at = memmem(line, n, key, strlen(key));
	uint32_t v = 0;
	for (at = at ? at + strlen(key) : NULL; at && at < line + n && isdigit((unsigned char)*at);
	     at++)
		v = v < 100000000 ? v * 10 + (uint32_t)(*at - '0') : v;
	return v;
}

static bool has_word(const char *text, const char *word) { return strstr(text, word) != NULL; }

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
	char *bracket = strrchr(decl, '['), *space = strrchr(decl, ' ');
	if (bracket && space && bracket > space) { /* behind the name */
		*bracket = '\0';
		x.is_array = true;
	}
	space = strrchr(decl, ' ');
	x.name = space ? space + 1 : decl;
	if (space) {
		*space = '\0';
		x.type = decl;
	}
	x.is_relative = has_word(x.type, "__rel_loc");
	x.is_dynamic = x.is_relative || has_word(x.type, "__data_loc");
	x.is_array |= x.is_dynamic;
	x.is_text = x.is_array && has_word(x.type, "char") && !has_word(x.type, "unsigned char");
	vec_push(&f->fields, x);
}

/* What of [s, end) is behind the word that it begins with, or NULL. */
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
			parse_print(f, rest, (size_t)(stop - rest));
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

/* ---- values ---- */

struct record {
	const struct trace_format *f;
	const uint8_t *raw;
	size_t size;
	unsigned depth;
};

struct value { /* a number, or else bytes of the record or a text */
	uint64_t number;
	const uint8_t *bytes; /* NULL: a number */
	size_t n;
	size_t step; /* bytes of an element */
};

static uint64_t load(const struct record *r, const uint8_t *at, size_t size, bool is_signed)
{
	uint64_t v = 0;
	if (size > 8)
		size = 8;
	for (size_t i = 0; i < size; i++) {
		bool low_first =
			(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != r->f->layout.swapped;
		v |= (uint64_t)at[i] << 8 * (low_first ? i : size - 1 - i);
	}
	if (is_signed && size && size < 8 && v >> (8 * size - 1) & 1)
		v |= UINT64_MAX << 8 * size;
	return v;
}

static struct value number(uint64_t v) { return (struct value){ .number = v }; }

static size_t element_size(const struct trace_field *x)
{
	static const struct {
		const char *word;
		size_t size;
	} sizes[] = { { "64", 8 },  { "long", 8 }, { "32", 4 },
		      { "int", 4 }, { "16", 2 },   { "short", 2 } };
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (has_word(x->type, sizes[i].word))
			return sizes[i].size;
	return 1;
}

/* The bytes of a field, wherever they are; none if they are not in the record. */
static struct value field_bytes(const struct record *r, const struct trace_field *x)
{
	static const uint8_t nothing;
	struct value v = { .bytes = &nothing, .step = element_size(x) };
	uint64_t at = x->offset, n = x->size;
	if (at > r->size || n > r->size - at)
		return v;
	if (x->is_dynamic) {
		if (n < 4)
			return v;
		uint64_t where = load(r, r->raw + at, 4, false);
		at = (where & 0xffff) + (x->is_relative ? at + 4 : 0);
		n = where >> 16;
		if (at > r->size || n > r->size - at)
			return v;
	}
	v.bytes = r->raw + at;
	v.n = (size_t)n;
	return v;
}

static struct value field_value(const struct record *r, const struct trace_field *x)
{
	struct value v = field_bytes(r, x);
	if (x->is_array)
		return v;
	return number(load(r, v.bytes, v.n, x->is_signed));
}

static struct value evaluate(struct record *r, const struct expr *e);

static uint64_t number_of(struct record *r, const struct expr *e)
{
	struct value v = evaluate(r, e);
	return v.bytes ? load(r, v.bytes, v.n < 8 ? v.n : 8, false) : v.number;
}

static uint64_t binary(uint32_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case OP('|', 0):
		return a | b;
	case OP('^', 0):
		return a ^ b;
	case OP('&', 0):
		return a & b;
	case OP('=', '='):
		return a == b;
	case OP('!', '='):
		return a != b;
	case OP('<', 0):
		return sa < sb;
	case OP('>', 0):
		return sa > sb;
	case OP('<', '='):
		return sa <= sb;
	case OP('>', '='):
		return sa >= sb;
	case OP('<', '<'):
		return b < 64 ? a << b : 0;
	case OP('>', '>'):
		return b < 64 ? a >> b : 0;
	case OP('+', 0):
		return a + b;
	case OP('-', 0):
		return a - b;
	case OP('*', 0):
		return a * b;
	case OP('/', 0):
		return b ? (sb == -1 ? 0 - a : (uint64_t)(sa / sb)) : 0;
	case OP('%', 0):
		return b && sb != -1 ? (uint64_t)(sa % sb) : 0;
	}
	return 0;
}

static uint64_t cast(const struct expr *e, uint64_t v)
{
	if (e->size >= 8)
		return v;
	uint64_t mask = (UINT64_C(1) << 8 * e->size) - 1;
	bool negative = e->is_signed && v >> (8 * e->size - 1) & 1;
	return negative ? v | ~mask : v & mask;
}

static struct value evaluate_operator(struct record *r, const struct expr *e)
{
	uint64_t a = number_of(r, e->a);
	if (e->kind == E_UNARY)
		return number(e->op == '!' ? !a : e->op == '~' ? ~a : e->op == '-' ? 0 - a : a);
	if (e->op == OP('&', '&'))
		return number(a && number_of(r, e->b));
	if (e->op == OP('|', '|'))
		return number(a || number_of(r, e->b));
	return number(binary(e->op, a, number_of(r, e->b)));
}

static struct value evaluate_index(struct record *r, const struct expr *e)
{
	struct value a = evaluate(r, e->a);
	uint64_t i = number_of(r, e->b);
	if (!a.bytes || !a.step || i >= a.n / a.step)
		return number(0);
	return number(load(r, a.bytes + i * a.step, a.step, false));
}

static struct value evaluate(struct record *r, const struct expr *e)
{
	struct value v = number(0);
	if (++r->depth > 4 * DEPTH_MAX) {
		r->depth--;
		return v;
	}
	switch (e->kind) {
	case E_NUMBER:
		v = number(e->number);
		break;
	case E_TEXT:
		v = (struct value){ .bytes = (const uint8_t *)e->text,
				    .n = strlen(e->text),
				    .step = 1 };
		break;
	case E_FIELD:
		v = field_value(r, e->field);
		break;
	case E_STRING:
	case E_ARRAY:
	case E_BITMASK:
		v = field_bytes(r, e->field);
		break;
	case E_LENGTH:
		v = number(field_bytes(r, e->field).n);
		break;
	case E_INDEX:
		v = evaluate_index(r, e);
		break;
	case E_UNARY:
	case E_BINARY:
		v = evaluate_operator(r, e);
		break;
	case E_CHOICE:
		v = evaluate(r, number_of(r, e->a) ? e->b : e->c);
		break;
	case E_CAST:
		v = evaluate(r, e->a);
		if (!v.bytes)
			v = number(cast(e, v.number));
		break;
	case E_FLAGS:
	case E_SYMBOL:
	case E_HEX:
	case E_NUMBERS:
		break; /* texts: put_expr() */
	}
	r->depth--;
	return v;
}

/* ---- texts ---- */

static void put_bytes(FILE *out, const uint8_t *s, size_t n)
{
	for (size_t i = 0; i < n && s[i]; i++)
		putc(s[i], out);
}

static void put_flags(struct record *r, const struct expr *e, FILE *out)
{
	uint64_t v = number_of(r, e->a);
	bool any = false;
	for (size_t i = 0; i < e->n_names; i++) {
		uint64_t flag = number_of(r, e->names[i].value);
		if (!v && flag == 0 && !any) {
			fputs(e->names[i].name, out);
			return;
		}
		if (!flag || (v & flag) != flag)
			continue;
		fprintf(out, "%s%s", any ? e->text : "", e->names[i].name);
		any = true;
		v &= ~flag;
	}
	if (v)
		fprintf(out, "%s0x%" PRIx64, any ? e->text : "", v);
}

static void put_symbol(struct record *r, const struct expr *e, FILE *out)
{
	uint64_t v = number_of(r, e->a);
	for (size_t i = 0; i < e->n_names; i++) {
		if (number_of(r, e->names[i].value) != v)
			continue;
		fputs(e->names[i].name, out);
		return;
	}
	fprintf(out, "0x%" PRIx64, v);
}

static void put_elements(struct record *r, const struct expr *e, FILE *out)
{
	struct value v = evaluate(r, e->a);
	uint64_t n = number_of(r, e->b), step = e->c ? number_of(r, e->c) : 1;
	if (!v.bytes || !step || step > 8)
		return;
	if (e->kind == E_NUMBERS)
		putc('{', out);
	for (uint64_t i = 0; i < n && i < v.n / step; i++) {
		uint64_t x = load(r, v.bytes + i * step, (size_t)step, false);
		if (e->kind == E_NUMBERS)
			fprintf(out, "%s0x%" PRIx64, i ? "," : "", x);
		else
			fprintf(out, "%s%02" PRIx64, i ? e->text : "", x);
	}
	if (e->kind == E_NUMBERS)
		putc('}', out);
}

/* Bits that are set, as the kernel prints masks of processors: groups of 32, the highest first. */
static void put_bitmask(const struct value *v, FILE *out)
{
	for (size_t i = v->n; i--;)
		fprintf(out, "%02x%s", v->bytes[i], i && i % 4 == 0 ? "," : "");
}

/* For %s. */
static void put_text(struct record *r, const struct expr *e, FILE *out)
{
	struct value v;
	if (++r->depth > DEPTH_MAX) {
		r->depth--;
		return;
	}
	switch (e->kind) {
	case E_FLAGS:
		put_flags(r, e, out);
		break;
	case E_SYMBOL:
		put_symbol(r, e, out);
		break;
	case E_HEX:
	case E_NUMBERS:
		put_elements(r, e, out);
		break;
	case E_CHOICE:
		put_text(r, number_of(r, e->a) ? e->b : e->c, out);
		break;
	case E_BITMASK:
		v = field_bytes(r, e->field);
		put_bitmask(&v, out);
		break;
	default:
		v = evaluate(r, e);
		if (v.bytes)
			put_bytes(out, v.bytes, v.n);
		else
			fprintf(out, "%" PRIx64, v.number);
		break;
	}
	r->depth--;
}

/* ---- the format ---- */

struct spec { /* %-10.3ld */
	char flags[8];
	int width, precision; /* -1: none */
	int size;             /* -2: hh, -1: h, 0, 1: l, 2: ll */
	char kind;
};

static int take_count(struct record *r, const char **s, size_t *arg)
{
	const struct trace_format *f = r->f;
	int v = 0;
	if (**s == '*') {
		++*s;
		v = *arg < f->args.n ? (int)number_of(r, f->args.at[(*arg)++]) : 0;
		return v < 0 || v > TEXT_MAX ? 0 : v;
	}
	for (; isdigit((unsigned char)**s); ++*s)
		v = v < TEXT_MAX ? v * 10 + (**s - '0') : TEXT_MAX;
	return v < TEXT_MAX ? v : TEXT_MAX;
}

/* *s is behind the %. */
static struct spec take_spec(struct record *r, const char **s, size_t *arg)
{
	struct spec x = { .width = -1, .precision = -1 };
	size_t n = 0;
	for (; **s && strchr("-+ #0", **s); ++*s)
		if (n + 1 < sizeof(x.flags))
			x.flags[n++] = **s;
	if (**s == '*' || isdigit((unsigned char)**s))
		x.width = take_count(r, s, arg);
	if (**s == '.') {
		++*s;
		x.precision = take_count(r, s, arg);
	}
	for (; **s && strchr("hlLqzZtj", **s); ++*s)
		x.size = **s == 'h' ? x.size - 1 : **s == 'l' ? x.size + 1 : 2;
	x.kind = **s;
	*s += x.kind != '\0';
	return x;
}

static void put_number(const struct spec *x, uint64_t v, FILE *out)
{
	char format[64], width[16] = "", precision[16] = "";
	bool is_signed = x->kind == 'd' || x->kind == 'i';
	if (x->width >= 0)
		snprintf(width, sizeof(width), "%d", x->width);
	if (x->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", x->precision);
	if (x->size <= 0) {
		int bits = x->size == 0 ? 32 : x->size == -1 ? 16 : 8;
		v &= (UINT64_C(1) << bits) - 1;
		if (is_signed && v >> (bits - 1))
			v |= UINT64_MAX << bits;
	}
	snprintf(format, sizeof(format), "%%%s%s%sll%c", x->flags, width, precision, x->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(out, format, (unsigned long long)v);
#pragma GCC diagnostic pop
}

/* %pS, %ps, %pF, %pf: a function of the kernel. */
static void put_function(const struct trace_format *f, uint64_t v, bool with_offset, FILE *out)
{
	uint64_t start = v;
	const char *name = f->layout.function ? f->layout.function(f->layout.arg, v, &start) : NULL;
	if (!name)
		fprintf(out, "0x%" PRIx64, v);
	else if (with_offset)
		fprintf(out, "%s+0x%" PRIx64, name, v - start);
	else
		fputs(name, out);
}

/* %pI4, %pI6, %pM: addresses of networks, which are bytes. */
static bool put_address(const struct value *v, const char *kind, FILE *out)
{
	const uint8_t *b = v->bytes;
	if (kind[0] == 'I' && kind[1] == '4' && v->n >= 4) {
		fprintf(out, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	} else if (kind[0] == 'I' && kind[1] == '6' && v->n >= 16) {
		for (size_t i = 0; i < 16; i += 2)
			fprintf(out, "%s%02x%02x", i ? ":" : "", b[i], b[i + 1]);
	} else if (kind[0] == 'M' && v->n >= 6) {
		for (size_t i = 0; i < 6; i++)
			fprintf(out, "%s%02x", i ? ":" : "", b[i]);
	} else {
		return false;
	}
	return true;
}

/* *s is behind the p. */
static void put_pointer(struct record *r, const struct expr *e, const char **s, FILE *out)
{
	const char *kind = *s;
	struct value v = evaluate(r, e);
	while (isalnum((unsigned char)**s))
		++*s;
	if (v.bytes && put_address(&v, kind, out))
		return;
	uint64_t addr = v.bytes ? load(r, v.bytes, v.n < 8 ? v.n : 8, false) : v.number;
	if (*kind && strchr("SsFf", *kind))
		put_function(r->f, addr, *kind == 'S' || *kind == 'F', out);
	else
		fprintf(out, "0x%" PRIx64, addr);
}

static void put_spec(struct record *r, const struct spec *x, const struct expr *e, const char **s,
		     FILE *out)
{
	char *text;
	size_t n;
	switch (x->kind) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		put_number(x, number_of(r, e), out);
		return;
	case 'c':
		putc((int)(number_of(r, e) & 0x7f), out);
		return;
	case 'p':
		put_pointer(r, e, s, out);
		return;
	case 's':
		break;
	default:
		return;
	}
	FILE *to = xopen_memstream(&text, &n);
	put_text(r, e, to);
	xclose_memstream(to, &text);
	size_t most = x->precision >= 0 && (size_t)x->precision < n ? (size_t)x->precision : n;
	int width = x->width < 0 ? 0 : strchr(x->flags, '-') ? -x->width : x->width;
	fprintf(out, "%*.*s", width, (int)most, text);
	free(text);
}

static void put_format(struct record *r, FILE *out)
{
	const struct trace_format *f = r->f;
	size_t arg = 0;
	for (const char *s = f->format; *s;) {
		if (*s != '%') {
			putc(*s++, out);
			continue;
		}
		if (*++s == '%') {
			putc(*s++, out);
			continue;
		}
		struct spec x = take_spec(r, &s, &arg);
		if (!x.kind || arg >= f->args.n)
			return;
		put_spec(r, &x, f->args.at[arg++], &s, out);
	}
}

/* ---- fields, where the format is not understood ---- */

static void put_fields(struct record *r, FILE *out)
{
	const struct trace_format *f = r->f;
	fputs("[FAILED TO PARSE]", out);
	for (size_t i = f->n_common; i < f->fields.n; i++) {
		const struct trace_field *x = &f->fields.at[i];
		struct value v = field_bytes(r, x);
		fprintf(out, " %s=", x->name);
		if (x->is_text)
			put_bytes(out, v.bytes, v.n);
		else if (x->is_array)
			for (size_t b = 0; b < v.n; b++)
				fprintf(out, "%s%02x%s", b ? ", " : "ARRAY[", v.bytes[b],
					b + 1 == v.n ? "]" : "");
		else if (x->is_signed)
			fprintf(out, "%" PRId64, (int64_t)load(r, v.bytes, v.n, true));
		else
			fprintf(out, x->size == 8 ? "0x%" PRIx64 : "%" PRIu64,
				load(r, v.bytes, v.n, false));
	}
}

void trace_format_print(const struct trace_format *f, const uint8_t *raw, size_t size, FILE *out)
{
	struct record r = { .f = f, .raw = raw, .size = size };
	if (f->format)
		put_format(&r, out);
	else
		put_fields(&r, out);
}

/* trace_format_parse.c - parses print formats and the expressions in C that they are made of. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/trace_format_private.h"

/* ---- words of the format's expressions ---- */

enum word_kind { W_END, W_NAME, W_NUMBER, W_TEXT, W_OP };

struct format_word {
	enum word_kind kind;
	uint32_t op;
	uint64_t number;
	const char *s; /* a name's characters */
	size_t n;
	const char *text; /* a text, unescaped */
};

struct format_parser {
	struct trace_format *f;
	const char *at;          /* NUL-terminated */
	struct format_word word; /* the next one */
	unsigned depth;
	bool bad;
};

static char unescape(const char **s)
{
	static const char from[] = "ntr0ab", to[] = "\n\t\r\0\a\b";
	char c = *(*s)++;
	if (c != '\\' || !**s)
		return c;
	c = *(*s)++;
	const char *known = strchr(from, c);
	return known ? to[known - from] : c;
}

static void skip_space(struct format_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* Adjacent literals, "a" "b", are one text. */
static void take_text(struct format_parser *p)
{
	char *text = arena_alloc_bytes(&p->f->arena, strlen(p->at));
	size_t n = 0;
	while (*p->at == '"') {
		p->at++;
		while (*p->at && *p->at != '"')
			text[n++] = unescape(&p->at);
		p->at += *p->at == '"';
		skip_space(p);
	}
	p->word.kind = W_TEXT;
	p->word.text = text;
}

static void take_number(struct format_parser *p)
{
	char *after;
	p->word.kind = W_NUMBER;
	p->word.number = strtoull(p->at, &after, 0);
	p->at = after + strspn(after, "uUlL");
	p->bad |= isalnum((unsigned char)*p->at) != 0;
}

static void take_character(struct format_parser *p)
{
	p->at++;
	p->word.kind = W_NUMBER;
	if (*p->at)
		p->word.number = (unsigned char)unescape(&p->at);
	if (*p->at == '\'')
		p->at++;
	else
		p->bad = true;
}

static void take_operator(struct format_parser *p)
{
	static const char *const doubles[] = {
		"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"
	};
	char a = *p->at++;
	p->word.kind = W_OP;
	p->word.op = TRACE_OP(a, 0);
	for (size_t i = 0; i < ARRAY_LEN(doubles); i++) {
		if (a != doubles[i][0] || *p->at != doubles[i][1])
			continue;
		p->word.op = TRACE_OP(a, *p->at);
		p->at++;
		return;
	}
}

static void advance(struct format_parser *p)
{
	skip_space(p);
	p->word = (struct format_word){ .kind = W_END };
	if (!*p->at || p->bad)
		return;
	if (*p->at == '"') {
		take_text(p);
	} else if (isdigit((unsigned char)*p->at)) {
		take_number(p);
	} else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		p->word.kind = W_NAME;
		p->word.s = p->at;
		while (isalnum((unsigned char)*p->at) || *p->at == '_')
			p->at++;
		p->word.n = (size_t)(p->at - p->word.s);
	} else if (*p->at == '\'') {
		take_character(p);
	} else {
		take_operator(p);
	}
}

static bool is_op(const struct format_parser *p, char a, char b)
{
	return p->word.kind == W_OP && p->word.op == TRACE_OP(a, b);
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
		if (x.value->is_unknown) /* so that it matches no value of a field */
			x.value->number = UINT64_MAX;
		expect(p, ',');
		if (p->word.kind == W_TEXT) {
			x.name = p->word.text;
			advance(p);
		} else {
			parse_expression(p); /* the end of the list: { 0, NULL } */
		}
		expect(p, '}');
		if (x.name)
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

/* Parses the part after the name and "(". */
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
	if (!accept(p, '(')) { /* an unknown constant: taken as 0 */
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

/* Parses a cast if "(words)" is a type: only names and stars, followed by an operand. Otherwise
 * returns NULL, with nothing consumed. */
static struct expr *parse_cast(struct format_parser *p)
{
	struct format_parser ahead = *p; /* after "(" */
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
		       is_op(&ahead, '(', 0) || is_op(&ahead, '~', 0) || is_op(&ahead, '-', 0);
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
	if (++p->depth > TRACE_DEPTH_MAX)
		p->bad = true;
	if (!p->bad && p->word.kind == W_OP && p->word.op < 128 && p->word.op &&
	    strchr("!~-+*&", (int)p->word.op)) {
		e = new_expr(p, E_UNARY);
		e->op = p->word.op;
		/* Pointers cannot be followed: their targets are not in the record. */
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
		{ TRACE_OP('|', '|'), 1 }, { TRACE_OP('&', '&'), 2 }, { TRACE_OP('|', 0), 3 },
		{ TRACE_OP('^', 0), 4 },   { TRACE_OP('&', 0), 5 },   { TRACE_OP('=', '='), 6 },
		{ TRACE_OP('!', '='), 6 }, { TRACE_OP('<', 0), 7 },   { TRACE_OP('>', 0), 7 },
		{ TRACE_OP('<', '='), 7 }, { TRACE_OP('>', '='), 7 }, { TRACE_OP('<', '<'), 8 },
		{ TRACE_OP('>', '>'), 8 }, { TRACE_OP('+', 0), 9 },   { TRACE_OP('-', 0), 9 },
		{ TRACE_OP('*', 0), 10 },  { TRACE_OP('/', 0), 10 },  { TRACE_OP('%', 0), 10 },
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
	p->depth++; /* checked by parse_unary(), which is always called next */
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

void trace_format_parse(struct trace_format *f, const char *s)
{
	struct format_parser p = { .f = f, .at = s };
	advance(&p);
	const char *format = p.word.kind == W_TEXT ? p.word.text : NULL;
	advance(&p);
	while (format && !p.bad && accept(&p, ','))
		vec_push(&f->args, parse_expression(&p));
	if (!p.bad && p.word.kind == W_END)
		f->format = format;
}

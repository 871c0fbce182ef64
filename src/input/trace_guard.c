/* trace_guard.c - keeps libtraceevent from descriptions and records on which it would fail.
 *
 * The library is made for what a kernel wrote on the same machine. A description from a file can
 * have it divide by zero, follow missing fields, recurse without end, or read and print without
 * bounds. So it is given fields that were read and written anew, formats of a simple form, and
 * expressions in which all that could go wrong is constant or bounded; their records have all
 * fields, and zeros behind them. All that kernels write passes, but for a few expressions; what
 * does not is printed as it was stored. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/trace_points_private.h"

enum {
	DEPTH_MAX = 60,      /* nested brackets; the library recurses */
	OPERATORS_MAX = 500, /* of one argument */
	ARGS_MAX = 100,
	ARRAYS_MAX = 8, /* arguments that print many numbers of one field */
};

/* ---- the text ---- */

/* Behind the closing quote; NULL: there is none. */
static const char *behind_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && !*++s)
			return NULL;
	return *s ? s + 1 : NULL;
}

static const char *skip(const char *s, const char *these) { return s + strspn(s, these); }

/* Behind a divisor: a number other than 0, or sizeof(u64), perhaps in brackets, and not to be
 * multiplied first, as the library would; NULL: anything else. */
static const char *behind_divisor(const char *s)
{
	size_t open = 0, closed = 0;
	char *end;
	for (s = skip(s, " "); *s == '('; s = skip(s + 1, " "))
		open++;
	if (!strncmp(s, "sizeof(", 7)) {
		s = skip(s + 7, "abcdefghijklmnopqrstuvwxyz_ 0123456789");
		if (*s++ != ')')
			return NULL;
	} else {
		if (!isdigit((unsigned char)*s) || !strtoull(s, &end, 0))
			return NULL;
		s = skip(end, "UL");
	}
	for (s = skip(s, " "); *s == ')'; s = skip(s + 1, " "))
		closed++;
	if (closed < open || isalnum((unsigned char)*s) || (*s && strchr("*/%([_?", *s)) ||
	    (s[0] == s[1] && (*s == '+' || *s == '-')))
		return NULL;
	while (closed > open) /* those of brackets that were opened before */
		if (*--s == ')')
			closed--;
	return s;
}

/* Behind "->NAME", of a field; NULL: of none. */
static const char *behind_member(const struct trace_point *p, const char *s)
{
	size_t n = 0;
	for (s += 2; isalnum((unsigned char)s[n]) || s[n] == '_';)
		n++;
	return trace_fields_find(p, s, n) ? s + n : NULL;
}

/* Behind one token; NULL: the library is not to see it. */
static const char *behind_token(const struct trace_point *p, const char *s)
{
	if (*s == '"')
		return behind_string(s);
	if (s[0] == '-' && s[1] == '>')
		return behind_member(p, s);
	if (*s == '/' || *s == '%')
		return behind_divisor(s + 1);
	if (*s == '\'')
		return s[1] && s[1] != '\\' && s[2] == '\'' ? s + 3 : NULL;
	return isalnum((unsigned char)*s) || strchr("_ \t\n.,()[]{}+-*&|^~!<>=?:", *s) ? s + 1
										       : NULL;
}

bool trace_guard_text(const struct trace_point *p)
{
	const char *s = p->print;
	size_t depth = 0, operators = 0;
	while (s && *s) {
		if (*s == ',')
			operators = 0;
		else if (strchr("([{", *s))
			depth++;
		else if (strchr(")]}", *s) && !depth--)
			return false;
		else if (strchr("+-*/%&|^~!<>=?:", *s))
			operators++;
		if (depth > DEPTH_MAX || operators > OPERATORS_MAX)
			return false;
		s = behind_token(p, s);
	}
	return s && !depth;
}

/* ---- expressions ---- */

struct trace_guard {
	struct trace_point *p;
	size_t arrays;
};

static bool is_safe(struct trace_guard *g, const struct tep_print_arg *a, size_t depth);

static bool is_dynamic(const struct trace_point *p, const char *name)
{
	const struct trace_field *f = name ? trace_fields_find(p, name, strlen(name)) : NULL;
	return f && f->is_dynamic;
}

static const struct tep_print_arg *without_casts(const struct tep_print_arg *a)
{
	while (a && a->type == TEP_PRINT_TYPE)
		a = a->typecast.item;
	return a;
}

/* A constant from `least` to `most`. */
static bool is_constant(const struct tep_print_arg *a, uint64_t least, uint64_t most)
{
	if (!a || a->type != TEP_PRINT_ATOM || !a->atom.atom ||
	    !isdigit((unsigned char)*a->atom.atom))
		return false;
	uint64_t v = strtoull(a->atom.atom, NULL, 0);
	return v >= least && v <= most;
}

/* A number of elements: a constant, the length of a field, or a field, perhaps divided. */
static bool is_count(struct trace_guard *g, const struct tep_print_arg *a, size_t depth)
{
	a = without_casts(a);
	if (!a || depth > DEPTH_MAX)
		return false;
	if (a->type == TEP_PRINT_OP && a->op.op && a->op.op[0] == '/' && !a->op.op[1])
		return is_constant(a->op.right, 1, UINT64_MAX) &&
		       is_count(g, a->op.left, depth + 1);
	if (a->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
		return is_safe(g, a, depth);
	if (a->type != TEP_PRINT_FIELD)
		return is_constant(a, 0, 4096);
	const struct trace_field *f =
		a->field.field ? trace_fields_find(g->p, a->field.name, strlen(a->field.name))
			       : NULL;
	if (!f || f->is_array)
		return false;
	vec_push(&g->p->counts, f);
	return true;
}

/* A field whose elements are printed. */
static bool is_array(struct trace_guard *g, const struct tep_print_arg *a, size_t depth)
{
	return a && (a->type == TEP_PRINT_FIELD || a->type == TEP_PRINT_DYNAMIC_ARRAY) &&
	       is_safe(g, a, depth) && ++g->arrays <= ARRAYS_MAX;
}

static bool is_index(const struct tep_print_arg *array, const struct tep_print_arg *index)
{
	array = without_casts(array);
	if (!array || array->type != TEP_PRINT_FIELD || !array->field.field ||
	    !array->field.field->elementsize)
		return false;
	const struct tep_format_field *f = array->field.field;
	return f->elementsize <= (unsigned)f->size &&
	       is_constant(index, 0, (unsigned)f->size / f->elementsize - 1);
}

static bool is_safe_operation(struct trace_guard *g, const struct tep_print_arg *a, size_t depth)
{
	const char *op = a->op.op;
	const struct tep_print_arg *left = a->op.left, *right = a->op.right;
	if (!op || !left || !right)
		return false;
	if (!strcmp(op, "["))
		return is_index(left, right);
	if (!strcmp(op, "?"))
		return is_safe(g, left, depth) && right->type == TEP_PRINT_OP && right->op.op &&
		       !strcmp(right->op.op, ":") && is_safe(g, right->op.left, depth) &&
		       is_safe(g, right->op.right, depth);
	if ((!strcmp(op, "/") || !strcmp(op, "%")) && !is_constant(right, 1, UINT64_MAX))
		return false;
	return strcmp(op, ":") != 0 && is_safe(g, left, depth) && is_safe(g, right, depth);
}

static bool is_safe(struct trace_guard *g, const struct tep_print_arg *a, size_t depth)
{
	if (!a || ++depth > DEPTH_MAX + OPERATORS_MAX)
		return false;
	switch (a->type) {
	case TEP_PRINT_NULL:
		return true;
	case TEP_PRINT_ATOM:
		return a->atom.atom;
	case TEP_PRINT_FIELD:
		return a->field.field;
	case TEP_PRINT_TYPE:
		return a->typecast.type && is_safe(g, a->typecast.item, depth);
	case TEP_PRINT_STRING:
		return is_dynamic(g->p, a->string.string);
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		return is_dynamic(g->p, a->bitmask.bitmask) && ++g->arrays <= ARRAYS_MAX;
	case TEP_PRINT_DYNAMIC_ARRAY:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return a->dynarray.field && is_dynamic(g->p, a->dynarray.field->name);
	case TEP_PRINT_FLAGS:
		return is_safe(g, a->flags.field, depth);
	case TEP_PRINT_SYMBOL:
		return is_safe(g, a->symbol.field, depth);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return is_array(g, a->hex.field, depth) && is_count(g, a->hex.size, depth);
	case TEP_PRINT_INT_ARRAY:
		return is_array(g, a->int_array.field, depth) &&
		       is_count(g, a->int_array.count, depth) &&
		       is_constant(a->int_array.el_size, 1, 8);
	case TEP_PRINT_OP:
		return is_safe_operation(g, a, depth);
	case TEP_PRINT_FUNC:
	case TEP_PRINT_BSTRING:
		return false;
	}
	return false;
}

/* ---- formats ---- */

/* Behind a width of at most two digits. */
static const char *behind_width(const char *s)
{
	size_t n = strspn(s, "0123456789");
	return n <= 2 ? s + n : NULL;
}

/* Behind a conversion, whose arguments are taken from *a; NULL: not a simple one. */
static const char *behind_conversion(struct trace_guard *g, const char *s,
				     const struct tep_print_arg **a)
{
	bool length = false, precision = false;
	s = behind_width(skip(s, "#-+0"));
	if (s && *s == '.') {
		precision = true;
		s = behind_width(s + 1);
	}
	if (s && *s == '*') {
		if (!is_count(g, *a, 0))
			return NULL;
		*a = (*a)->next;
		length = true;
		s++;
	}
	size_t modifiers = s ? strspn(s, "hlLz") : 0;
	if (!s || !*a || modifiers > 2 || !s[modifiers])
		return NULL;
	const char *kind = s + modifiers;
	if (!strchr(modifiers ? "diuxXo" : "diuxXocsp", *kind) ||
	    (length && *kind != (precision ? 's' : 'p')))
		return NULL;
	*a = (*a)->next;
	return kind + 1;
}

static bool is_safe_format(struct trace_guard *g, const char *s, const struct tep_print_arg *a)
{
	while (s && *s) {
		if (*s == '\\' && s[1])
			s += 2;
		else if (s[0] == '%' && s[1] == '%')
			s += 2;
		else if (*s == '%')
			s = behind_conversion(g, s + 1, &a);
		else
			s++;
	}
	return s;
}

bool trace_guard_event(struct trace_point *p)
{
	const struct tep_print_fmt *f = &p->event->print_fmt;
	struct trace_guard g = { .p = p };
	size_t n = 0;
	for (const struct tep_print_arg *a = f->args; a; a = a->next)
		if (++n > ARGS_MAX || !is_safe(&g, a, 0))
			return false;
	return !(p->event->flags & (int)TEP_EVENT_FL_FAILED) && f->format &&
	       is_safe_format(&g, f->format, f->args);
}

/* ---- records ---- */

bool trace_guard_record(const struct trace_point *p, const uint8_t *raw, size_t size, bool swapped)
{
	const struct trace_field *type = &p->fields.at[0];
	struct trace_value v;
	if (size < p->end || size > TRACE_RECORD_MAX || strcmp(type->name, "common_type") != 0 ||
	    type->offset || type->size != 2)
		return false;
	if (trace_fields_number((struct trace_value){ raw, 2 }, swapped, false) != p->id)
		return false;
	for (size_t i = 0; i < p->fields.n; i++)
		if (!trace_fields_value(&p->fields.at[i], raw, size, swapped, &v))
			return false;
	for (size_t i = 0; i < p->counts.n; i++)
		if (!trace_fields_value(p->counts.at[i], raw, size, swapped, &v) ||
		    trace_fields_number(v, swapped, false) > size)
			return false;
	return true;
}

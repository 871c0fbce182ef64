/* trace_format_print.c - evaluates a format's expressions on a record, and prints it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/trace_format_private.h"

enum { WIDTH_MAX = 4096 }; /* limit of widths in the format */

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
	size_t step; /* bytes per element */
};

/* The low `bits` bits of a number, 0 to 64, as a number of that size. */
static uint64_t narrow(uint64_t v, unsigned bits, bool is_signed)
{
	unsigned above = 64 - bits;
	if (above == 64)
		return 0;
	v <<= above;
	return is_signed ? (uint64_t)((int64_t)v >> above) : v >> above;
}

static uint64_t load(const struct record *r, const uint8_t *at, size_t size, bool is_signed)
{
	uint64_t v = 0;
	size = min_u64(size, 8);
	for (size_t i = 0; i < size; i++) {
		bool low_first =
			(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != r->f->layout.swapped;
		v |= (uint64_t)at[i] << 8 * (low_first ? i : size - 1 - i);
	}
	return narrow(v, 8 * (unsigned)size, is_signed);
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
		if (trace_has_word(x->type, sizes[i].word))
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
	return v.bytes ? load(r, v.bytes, v.n, false) : v.number;
}

static uint64_t binary(uint32_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case TRACE_OP('|', 0):
		return a | b;
	case TRACE_OP('^', 0):
		return a ^ b;
	case TRACE_OP('&', 0):
		return a & b;
	case TRACE_OP('=', '='):
		return a == b;
	case TRACE_OP('!', '='):
		return a != b;
	case TRACE_OP('<', 0):
		return sa < sb;
	case TRACE_OP('>', 0):
		return sa > sb;
	case TRACE_OP('<', '='):
		return sa <= sb;
	case TRACE_OP('>', '='):
		return sa >= sb;
	case TRACE_OP('<', '<'):
		return b < 64 ? a << b : 0;
	case TRACE_OP('>', '>'):
		return b < 64 ? a >> b : 0;
	case TRACE_OP('+', 0):
		return a + b;
	case TRACE_OP('-', 0):
		return a - b;
	case TRACE_OP('*', 0):
		return a * b;
	case TRACE_OP('/', 0):
		return b ? (sb == -1 ? 0 - a : (uint64_t)(sa / sb)) : 0;
	case TRACE_OP('%', 0):
		return b && sb != -1 ? (uint64_t)(sa % sb) : 0;
	}
	return 0;
}

static struct value evaluate_operator(struct record *r, const struct expr *e)
{
	uint64_t a = number_of(r, e->a);
	if (e->kind == E_UNARY)
		return number(e->op == '!' ? !a : e->op == '~' ? ~a : e->op == '-' ? 0 - a : a);
	if (e->op == TRACE_OP('&', '&'))
		return number(a && number_of(r, e->b));
	if (e->op == TRACE_OP('|', '|'))
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
	if (++r->depth > 4 * TRACE_DEPTH_MAX) {
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
			v = number(narrow(v.number, 8 * e->size, e->is_signed));
		break;
	case E_FLAGS:
	case E_SYMBOL:
	case E_HEX:
	case E_NUMBERS:
		break; /* printed as texts by put_expr() */
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

/* Prints the argument of a %s. */
static void put_text(struct record *r, const struct expr *e, FILE *out)
{
	struct value v;
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
}

/* ---- the format ---- */

struct spec {          /* %-10.3ld */
	char flags[8]; /* each once */
	int width;     /* 0: none given */
	int precision; /* -1: none given */
	unsigned bits; /* size of a number: 8 for hh, 16 for h, 64 for l and all others, else 32 */
	char kind;
};

static int take_count(struct record *r, const char **s, size_t *arg)
{
	const struct trace_format *f = r->f;
	int v = 0;
	if (**s == '*') {
		++*s;
		v = *arg < f->args.n ? (int)number_of(r, f->args.at[(*arg)++]) : 0;
		return v < 0 || v > WIDTH_MAX ? 0 : v;
	}
	for (; isdigit((unsigned char)**s); ++*s)
		v = (int)min_u64((uint64_t)v * 10 + (uint64_t)(**s - '0'), WIDTH_MAX);
	return v;
}

/* Parses a conversion; *s is after the %. */
static struct spec take_spec(struct record *r, const char **s, size_t *arg)
{
	struct spec x = { .precision = -1, .bits = 32 };
	for (size_t n = 0; **s && strchr("-+ #0", **s); ++*s)
		if (!strchr(x.flags, **s))
			x.flags[n++] = **s;
	x.width = take_count(r, s, arg);
	if (**s == '.') {
		++*s;
		x.precision = take_count(r, s, arg);
	}
	for (; **s && strchr("hlLqzZtj", **s); ++*s)
		x.bits = **s != 'h' ? 64 : x.bits == 16 ? 8 : 16;
	x.kind = **s;
	*s += x.kind != '\0';
	return x;
}

static void put_number(const struct spec *x, uint64_t v, FILE *out)
{
	char format[32];
	bool is_signed = x->kind == 'd' || x->kind == 'i';
	v = narrow(v, x->bits, is_signed);
	snprintf(format, sizeof(format), "%%%s*.*ll%c", x->flags, x->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(out, format, x->width, x->precision, (unsigned long long)v);
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

/* %pI4, %pI6, %pM: network addresses, given as bytes. */
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

/* Prints a pointer; *s is after the p. */
static void put_pointer(struct record *r, const struct expr *e, const char **s, FILE *out)
{
	const char *kind = *s;
	struct value v = evaluate(r, e);
	while (isalnum((unsigned char)**s))
		++*s;
	if (v.bytes && put_address(&v, kind, out))
		return;
	uint64_t addr = v.bytes ? load(r, v.bytes, v.n, false) : v.number;
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
	size_t most = x->precision >= 0 ? min_u64((size_t)x->precision, n) : n;
	int width = strchr(x->flags, '-') ? -x->width : x->width;
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

/* ---- fields, if the format cannot be parsed ---- */

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

/* trace_format_private.h - the fields and the parsed expressions of a trace point's format. */
#ifndef INPUT_TRACE_FORMAT_PRIVATE_H
#define INPUT_TRACE_FORMAT_PRIVATE_H

#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "input/trace_format.h"

enum { TRACE_DEPTH_MAX = 100 }; /* nesting of expressions */

struct trace_field {
	const char *name, *type;
	uint32_t offset, size;
	bool is_signed, is_array, is_text;
	bool is_dynamic;  /* its offset and length are in the record: __data_loc */
	bool is_relative; /* the offset counts from the end of the field: __rel_loc */
};

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
	E_HEX,     /* __print_hex(a, b); text: separator of the bytes */
	E_NUMBERS, /* __print_array(a, b, c) */
};

struct named_value { /* one of a list {value, name} */
	struct expr *value;
	const char *name;
};

struct expr {
	enum token_kind kind;
	uint32_t op; /* up to two characters, see TRACE_OP */
	uint64_t number;
	const char *text;
	const struct trace_field *field;
	struct expr *a, *b, *c;
	struct named_value *names;
	size_t n_names;
	uint32_t size;
	bool is_signed;
	bool is_unknown; /* a constant of unknown value */
};

struct trace_format {
	struct arena arena;
	struct trace_layout layout;
	uint64_t id;
	const char *name;
	VEC(struct trace_field) fields;
	size_t n_common;    /* the first n_common fields, which all trace points have */
	const char *format; /* NULL: could not be parsed */
	VEC(struct expr *) args;
};

/* An operator, as stored in expr.op. */
#define TRACE_OP(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

static inline bool trace_has_word(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* trace_format_parse.c: parses the format and its arguments from the text after "print fmt:"; none
 * if it cannot be parsed. The fields must be known already. */
void trace_format_parse(struct trace_format *f, const char *s);

#endif

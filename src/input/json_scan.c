/* json_scan.c - the scanner: one token after the other, strings unescaped. */
#include "input/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

struct scan scan_of(const char *text, size_t size)
{
	static const char mark[] = "\xef\xbb\xbf"; /* UTF-8's byte-order mark, which editors add */
	size_t skip = size >= strlen(mark) && !memcmp(text, mark, strlen(mark)) ? strlen(mark) : 0;
	return (struct scan){ .start = text, .pos = text + skip, .end = text + size };
}

static void fail(struct scan *j) { j->failed = true; }

char scan_next(struct scan *j)
{
	while (j->pos < j->end && strchr(" \t\r\n", *j->pos) && *j->pos)
		j->pos++;
	return j->failed || j->pos == j->end ? '\0' : *j->pos;
}

static bool take(struct scan *j, char c)
{
	if (scan_next(j) != c || !c)
		return false;
	j->pos++;
	return true;
}

void scan_enter(struct scan *j, char kind)
{
	if (!take(j, kind))
		fail(j);
}

/* Reads the comma before an element, or the end. */
static bool more(struct scan *j, char close)
{
	if (take(j, close))
		return false;
	take(j, ',');
	if (!scan_next(j))
		fail(j);
	return !j->failed;
}

bool scan_element(struct scan *j) { return more(j, ']'); }

/* ---- strings ---- */

static uint32_t hex4(struct scan *j)
{
	uint32_t value = 0;
	for (int i = 0; i < 4; i++) {
		int digit = num_hex_digit(j->pos < j->end ? *j->pos++ : '\0');
		if (digit < 0)
			fail(j);
		value = value << 4 | (uint32_t)(digit & 15);
	}
	return value;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80)
		return to[0] = (char)c, 1;
	if (c < 0x800)
		return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 63)), 2;
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Reads an escape, from after its backslash; returns the number of bytes written, up to 4. */
static size_t unescape(struct scan *j, char *to)
{
	static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = j->pos < j->end ? *j->pos++ : '\0';
	const char *known = c ? strchr(from, c) : NULL;

	if (known)
		return *to = meant[known - from], 1;
	if (c != 'u') {
		fail(j);
		return 0;
	}
	uint32_t code = hex4(j);
	if (code >> 10 == 0x36 && j->end - j->pos >= 2 && j->pos[0] == '\\' && j->pos[1] == 'u') {
		j->pos += 2;
		code = 0x10000 + ((code & 0x3ff) << 10) + (hex4(j) & 0x3ff);
	}
	return code ? put_utf8(to, code) : 0;
}

/* Reads a string, and calls put() for each piece; put may be NULL. */
static void string(struct scan *j, void (*put)(const char *s, size_t n, void *arg), void *arg)
{
	if (!take(j, '"')) {
		fail(j);
		return;
	}
	while (!j->failed && j->pos < j->end && *j->pos != '"') {
		char piece[4];
		size_t n = 1;
		piece[0] = *j->pos++;
		if (piece[0] == '\\')
			n = unescape(j, piece);
		else if (!piece[0])
			n = 0;
		if (put)
			put(piece, n, arg);
	}
	if (j->pos == j->end)
		fail(j);
	else
		j->pos++;
}

struct json_text {
	VEC(char) at;
	size_t max;
};

static void append(const char *s, size_t n, void *arg)
{
	struct json_text *t = arg;
	if (t->at.n + n >= t->max)
		return;
	for (size_t i = 0; i < n; i++)
		vec_push(&t->at, s[i]);
}

char *scan_string(struct scan *j)
{
	struct json_text t = { .max = SIZE_MAX };
	string(j, append, &t);
	vec_push(&t.at, '\0');
	if (!j->failed)
		return t.at.at;
	vec_free(&t.at);
	return NULL;
}

bool scan_key(struct scan *j, char *key, size_t size)
{
	struct json_text t = { .max = size };
	if (!more(j, '}'))
		return false;
	string(j, append, &t);
	if (!take(j, ':'))
		fail(j);
	if (t.at.n)
		memcpy(key, t.at.at, t.at.n);
	key[t.at.n] = '\0';
	vec_free(&t.at);
	return !j->failed;
}

/* ---- other values ---- */

static void skip_word(struct scan *j)
{
	const char *start = j->pos;
	while (j->pos < j->end && *j->pos >= 'a' && *j->pos <= 'z')
		j->pos++;
	if (j->pos == start)
		fail(j);
}

uint64_t scan_number(struct scan *j)
{
	char c = scan_next(j);
	uint64_t value = 0;
	if (c == '-')
		j->pos++;
	bool negative = c == '-', any = false;
	for (; j->pos < j->end && *j->pos >= '0' && *j->pos <= '9'; j->pos++, any = true)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*j->pos - '0'), &value))
			value = UINT64_MAX;
	while (j->pos < j->end && *j->pos && strchr(".eE+-0123456789", *j->pos))
		j->pos++;
	if (!any)
		fail(j);
	return negative || j->failed ? 0 : value;
}

void scan_end(struct scan *j)
{
	if (scan_next(j))
		j->failed = true;
}

bool scan_null(struct scan *j)
{
	if (scan_next(j) != 'n')
		return false;
	skip_word(j);
	return true;
}

/* strtod() depends on the locale, so it is not used. */
double scan_real(struct scan *j)
{
	enum { MOST_EXPONENT = 400 };
	bool negative = scan_next(j) == '-', any = false, less = false;
	double value = 0, scale = 1;
	int exponent = 0;
	j->pos += negative;
	for (; j->pos < j->end && *j->pos >= '0' && *j->pos <= '9'; j->pos++, any = true)
		value = value * 10 + (*j->pos - '0');
	if (j->pos < j->end && *j->pos == '.')
		for (j->pos++; j->pos < j->end && *j->pos >= '0' && *j->pos <= '9'; j->pos++)
			value += (*j->pos - '0') * (scale /= 10);
	if (any && j->pos < j->end && (*j->pos | 0x20) == 'e') {
		j->pos++;
		less = j->pos < j->end && *j->pos == '-';
		j->pos += j->pos < j->end && (*j->pos == '-' || *j->pos == '+');
		for (; j->pos < j->end && *j->pos >= '0' && *j->pos <= '9'; j->pos++)
			if (exponent < MOST_EXPONENT)
				exponent = exponent * 10 + (*j->pos - '0');
	}
	if (!any)
		fail(j);
	for (; exponent; exponent--)
		value = less ? value / 10 : value * 10;
	return !any || j->failed ? 0 : negative ? -value : value;
}

/* Skips a value of any depth: brackets are counted, not matched. */
void scan_skip(struct scan *j)
{
	size_t depth = 0;
	do {
		char c = scan_next(j);
		if (c == '{' || c == '[') {
			depth++;
			j->pos++;
		} else if (depth && (c == '}' || c == ']')) {
			depth--;
			j->pos++;
		} else if (depth && (c == ',' || c == ':')) {
			j->pos++;
		} else if (c == '"') {
			string(j, NULL, NULL);
		} else if (c == '-' || (c >= '0' && c <= '9')) {
			scan_number(j);
		} else {
			skip_word(j);
		}
	} while (depth && !j->failed);
}

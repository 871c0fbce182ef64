/* cells.c - a line buffer, and cells put into it. */
#include "gnu/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/num.h"

char *line_room(struct line *l, size_t n)
{
	if (l->n + n > l->cap) {
		l->cap = (l->n + n) * 2;
		l->buf = xrealloc(l->buf, l->cap, 1);
	}
	return l->buf + l->n;
}

static void put(struct line *l, const char *s, size_t n)
{
	memcpy(line_room(l, n), s, n);
	l->n += n;
}

void line_char(struct line *l, char c)
{
	*line_room(l, 1) = c;
	l->n++;
}

/* Usually there are few. They are written as a whole vector of known size; the next field
 * overwrites the surplus. */
void line_blanks(struct line *l, size_t n)
{
	enum { FEW = 32 };
	memset(line_room(l, n + FEW), ' ', n <= FEW ? FEW : n);
	l->n += n;
}

void line_text(struct line *l, const char *s) { put(l, s, strlen(s)); }

void line_fieldn(struct line *l, const char *s, size_t n, int width, size_t cut)
{
	size_t wide = (size_t)abs(width);
	if (cut && n > cut)
		n = cut;
	if (width > 0 && n < wide)
		line_blanks(l, wide - n);
	put(l, s, n);
	if (width < 0 && n < wide)
		line_blanks(l, wide - n);
}

void line_field(struct line *l, const char *s, int width, size_t cut)
{
	line_fieldn(l, s, strlen(s), width, cut);
}

void line_count(struct line *l, uint64_t v, int width)
{
	char *p = line_room(l, NUM_MAX + (size_t)abs(width));
	char *end = width < 0 ? num_put_left(p, (unsigned)-width, v)
			      : num_put_u64(p, (unsigned)width, v);
	l->n += (size_t)(end - p);
}

void line_fixed(struct line *l, double v, unsigned width, unsigned decimals)
{
	char *p = line_room(l, NUM_MAX + width);
	l->n += (size_t)(num_put_fixed(p, width, v, decimals) - p);
}

/* True for printable ASCII, which needs no further check. */
static bool is_simple(const char *s, size_t n)
{
	enum { STEP = 8 };
	uint64_t odd = 0;
	if (n < STEP) {
		for (size_t i = 0; i < n; i++)
			odd |= (unsigned char)(s[i] - 0x20) > 0x7e - 0x20;
		return !odd;
	}
	for (size_t i = 0; i + STEP < n; i += STEP)
		odd |= escape_odd_bytes(s + i);
	return !(odd | escape_odd_bytes(s + n - STEP));
}

bool name_is_plain(const char *name, size_t n)
{
	return is_simple(name, n) || escape_is_plain(name);
}

void line_namen(struct line *l, const char *name, size_t n, const struct render_opts *o)
{
	if (o->raw || name_is_plain(name, n)) {
		put(l, name, n);
		return;
	}
	size_t need = escape_text(NULL, 0, name);
	escape_text(line_room(l, need + 1), need + 1, name);
	l->n += need;
}

void line_name(struct line *l, const char *name, const struct render_opts *o)
{
	line_namen(l, name, strlen(name), o);
}

static void flush(const struct line *l, size_t n)
{
	if (l->out)
		fwrite_unlocked(l->buf, 1, n, l->out);
}

/* Flushes the stream, and then writes the buffer at once, so that it is not copied into the
 * stream. */
void line_end_bare(struct line *l, FILE *out)
{
	enum { ENOUGH = 256 * 1024 };

	l->out = out;
	if (l->n < ENOUGH)
		return;
	fflush_unlocked(out);
	flush(l, ENOUGH);
	l->n -= ENOUGH;
	memmove(l->buf, l->buf + ENOUGH, l->n);
}

void line_end(struct line *l, FILE *out)
{
	line_char(l, '\n');
	line_end_bare(l, out);
}

void line_done(struct line *l)
{
	flush(l, l->n);
	free(l->buf);
}

struct kin_error *gnu_columns(const struct kin_table *t, const char *format,
			      const char *const *keys, size_t n, size_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = kin_table_find_column(t, keys[i]);
		if (ret[i] == kin_table_n_columns(t))
			return err_new(KIN_ERROR_USAGE, "format '%s' needs the column '%s'", format,
				       keys[i]);
	}
	return NULL;
}

double gnu_number(const struct kin_table *t, const char *key)
{
	const struct kin_cell *c = kin_table_property(t, key);
	return c ? c->number : 0;
}

const char *gnu_text(const struct kin_table *t, const char *key)
{
	const char *text = render_text(t, key);
	return text ? text : "";
}

bool gnu_is_of_stacks(const struct kin_table *t, const struct render_opts *o)
{
	return !o->exact && !(gnu_number(t, "bytes_per_bin") > 0) && gnu_number(t, "total") > 0;
}

void gnu_granularity(const struct kin_table *t, const struct render_opts *o, double total,
		     const char *dimension, const char *without_time, FILE *out)
{
	double bytes = gnu_number(t, "bytes_per_bin");

	if (gnu_is_of_stacks(t, o)) {
		fprintf(out, "granularity: times are those of sampled stacks, of %.2f %s\n\n",
			total / kin_table_rate(t), dimension);
		return;
	}
	fputs("granularity: each sample hit covers ", out);
	if (o->exact)
		fprintf(out, "%ld byte(s)", (long)(bytes / 2) * 2);
	else
		fprintf(out, "%.4g byte(s)", bytes);
	if (total > 0)
		fprintf(out, " for %.2f%% of %.2f %s\n\n", 100 / total, total / kin_table_rate(t),
			dimension);
	else
		fprintf(out, "%s\n\n", without_time);
}

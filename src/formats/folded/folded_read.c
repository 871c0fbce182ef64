/* folded_read.c - reads stacks as text, one per line, root first, as stackcollapse and many others
 * write them:
 *
 *	prog;_start;main;work 123
 *
 * The number after the last blank says how often the stack was seen: an integer or a decimal such
 * as 0.5 or 1e-3. Stacks that were never seen are no samples. A file with two numbers on every line
 * is a comparison, as difffolded.pl writes it, and no profile. Names may contain blanks. A file
 * without any ';' must have a number on every line. Annotations of stackcollapse are understood:
 * name_[k] is in the kernel, name_[i] was inlined, name_[j] was made at run time.
 *
 * The file does not say whether the first name is a command (stackcollapse-perf) or a function. It
 * is taken for a command if it could be one in all lines. The command [unknown], which kin writes
 * if it knows no name, is none. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/formats.h"
#include "input/input.h"

enum {
	COMM = 15,         /* bytes of a command's name that Linux keeps */
	MOST_DECIMALS = 9, /* decimals kept of a number */
	MOST_EXPONENT = 400,
};

struct folded_text {
	const char *s, *end;
};

struct folded {
	struct bytes b;
	struct profile_builder *into;
	size_t line;
	bool has_comm, has_negative, is_comparison;
	int decimals; /* weights are in units of 10^-decimals: 0, 3, 6 or 9 */
	uint16_t event;
	objid jit;
	struct kin_error *err; /* the first error; reading goes on */
};

static size_t length(struct folded_text t) { return (size_t)(t.end - t.s); }

/* The next line, without its end; false at the end. */
static bool next_line(struct bytes *b, struct folded_text *ret)
{
	size_t n = bytes_left(b);

	if (!n)
		return false;
	const uint8_t *end = memchr(b->pos, '\n', n);
	*ret = (struct folded_text){ (const char *)b->pos, (const char *)(end ? end : b->end) };
	b->pos = end ? end + 1 : b->end;
	if (ret->end > ret->s && ret->end[-1] == '\r')
		ret->end--;
	return true;
}

static bool is_blank(struct folded_text t)
{
	while (t.s < t.end && isspace((unsigned char)*t.s))
		t.s++;
	return t.s == t.end || *t.s == '#';
}

/* flamegraph.pl accepts tabs, too. */
static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* digits * 10^exponent; with a negative exponent, without trailing zeros */
struct decimal {
	uint64_t digits;
	int exponent;
	bool is_negative;
};

/* Reads digits with or without a point. */
static bool take_digits(struct folded_text *t, struct decimal *d)
{
	bool any = false, point = false;

	for (; t->s < t->end; t->s++) {
		uint64_t more;
		if (*t->s == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*t->s))
			break;
		any = true;
		if (!__builtin_mul_overflow(d->digits, 10, &more) &&
		    !__builtin_add_overflow(more, (uint64_t)(*t->s - '0'), &more)) {
			d->digits = more;
			d->exponent -= point;
		} else { /* too many digits: not exact, but of the right size */
			d->exponent += !point;
		}
	}
	return any;
}

/* Reads "e-05". */
static bool take_exponent(struct folded_text *t, struct decimal *d)
{
	int exponent = 0;

	t->s++;
	bool down = t->s < t->end && *t->s == '-';
	t->s += t->s < t->end && (*t->s == '-' || *t->s == '+');
	const char *start = t->s;
	for (; t->s < t->end && isdigit((unsigned char)*t->s); t->s++)
		if (exponent < MOST_EXPONENT)
			exponent = exponent * 10 + (*t->s - '0');
	d->exponent += down ? -exponent : exponent;
	return t->s > start;
}

/* Parses a whole text; false if it is no number. */
static bool parse(struct folded_text t, struct decimal *ret)
{
	struct decimal d = { .is_negative = t.s < t.end && *t.s == '-' };

	t.s += d.is_negative;
	if (!take_digits(&t, &d))
		return false;
	if (t.s < t.end && (*t.s | 0x20) == 'e' && !take_exponent(&t, &d))
		return false;
	for (; d.digits % 10 == 0 && d.exponent < 0; d.exponent = d.digits ? d.exponent + 1 : 0)
		d.digits /= 10;
	*ret = d;
	return t.s == t.end;
}

/* Splits a line at its last blank; false if no number follows it. */
static bool split(struct folded_text *line, struct decimal *number)
{
	while (line->end > line->s && is_space(line->end[-1]))
		line->end--;
	const char *start = line->end;
	while (start > line->s && !is_space(start[-1]))
		start--;
	if (start == line->s || !parse((struct folded_text){ start, line->end }, number))
		return false;
	line->end = start - 1;
	return line->end > line->s;
}

/* In units of 10^-decimals, rounded; the largest value if it does not fit. */
static uint64_t value_of(struct decimal d, int decimals)
{
	int exponent = d.exponent + decimals;
	bool half = false;

	for (; exponent < 0 && d.digits; exponent++) {
		half = d.digits % 10 >= 5;
		d.digits /= 10;
	}
	half = half && !exponent;
	for (; exponent > 0 && d.digits; exponent--)
		if (__builtin_mul_overflow(d.digits, 10, &d.digits))
			return UINT64_MAX;
	return d.digits + half;
}

static struct folded_text first_name(struct folded_text line)
{
	const char *end = memchr(line.s, ';', length(line));

	return (struct folded_text){ line.s, end ? end : line.end };
}

/* Removes "-PID/TID", which stackcollapse-perf --tid adds to a command; false if it is not
 * there. */
static bool split_ids(struct folded_text *comm, uint32_t *pid, uint32_t *tid)
{
	const char *dash = memrchr(comm->s, '-', length(*comm));
	uint64_t ids[2] = { 0 };
	int at = 0;

	if (!dash || dash == comm->s)
		return false;
	for (const char *p = dash + 1; p < comm->end; p++) {
		if (*p == '/' && p > dash + 1 && p + 1 < comm->end && !at)
			at = 1;
		else if (isdigit((unsigned char)*p) && ids[at] < 1u << 28)
			ids[at] = ids[at] * 10 + (uint64_t)(*p - '0');
		else
			return false;
	}
	if (!at)
		return false;
	*pid = (uint32_t)ids[0];
	*tid = (uint32_t)ids[1];
	comm->end = dash;
	return true;
}

/* ---- properties of the file ---- */

static bool is_text(struct folded_text t, const char *text)
{
	return length(t) == strlen(text) && !memcmp(t.s, text, length(t));
}

static bool could_be_comm(struct folded_text line)
{
	static const char *const functions[] = { "main", "_start", "start_thread", "all",
						 "root", "clone3", "<module>" };
	struct folded_text name = first_name(line);
	uint32_t pid, tid;

	if (name.end == line.end)
		return false; /* a single name is the function that ran */
	split_ids(&name, &pid, &tid);
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (is_text(name, functions[i]))
			return false;
	return length(name) <= COMM;
}

/* As many decimals as the numbers have, or fewer if their sum does not fit. A multiple of 3, as in
 * milli and micro. */
static int decimals_for(int most, uint64_t sum)
{
	static const uint64_t scales[] = { 1, 1000, 1000000, 1000000000 };
	size_t i = most > MOST_DECIMALS ? MOST_DECIMALS / 3 : ((size_t)most + 2) / 3;
	uint64_t scaled;

	while (i && __builtin_mul_overflow(sum, scales[i], &scaled))
		i--;
	return (int)i * 3;
}

static void look_through(struct folded *f)
{
	struct bytes b = f->b;
	struct folded_text line;
	struct decimal number;
	uint64_t sum = 0;
	size_t lines = 0, pairs = 0;
	int most = 0;

	f->has_comm = true;
	while (next_line(&b, &line)) {
		if (is_blank(line) || !split(&line, &number))
			continue;
		f->has_comm = f->has_comm && could_be_comm(line);
		if (-number.exponent > most)
			most = -number.exponent;
		if (__builtin_add_overflow(sum, value_of(number, 0), &sum))
			sum = UINT64_MAX;
		lines++;
		pairs += split(&line, &number);
	}
	/* Rounding down lost less than 1 per line. */
	if (__builtin_add_overflow(sum, lines, &sum))
		sum = UINT64_MAX;
	f->decimals = decimals_for(most, sum);
	f->is_comparison = lines && pairs == lines;
}

struct folded_lines {
	size_t with, without; /* lines with and without a number at the end */
	size_t indented;      /* of both kinds */
};

/* Counts lines, except an incomplete last one, as at the end of a head. */
static struct folded_lines count_lines(struct bytes head)
{
	struct folded_lines n = { 0 };
	struct folded_text line;
	struct decimal number;

	while (next_line(&head, &line)) {
		if (is_blank(line) || (n.with && line.end == (const char *)head.end))
			continue;
		n.indented += is_space(*line.s);
		*(split(&line, &number) ? &n.with : &n.without) += 1;
	}
	return n;
}

static bool probe(struct bytes head, const struct input_opts *o)
{
	struct folded_text line;
	struct decimal number;
	size_t n = min_u64(bytes_left(&head), FORMAT_HEAD);

	(void)o;
	head.end = head.pos + n;
	if (memchr(head.pos, '\0', n))
		return false;
	struct folded_lines lines = count_lines(head);
	if (!memchr(head.pos, ';', n))
		return lines.with && !lines.without && !lines.indented;
	while (next_line(&head, &line)) {
		if (is_blank(line))
			continue;
		if (line.end == (const char *)head.end && n == FORMAT_HEAD) /* incomplete */
			return memchr(line.s, ';', length(line)) != NULL;
		return split(&line, &number) && lines.with >= lines.without;
	}
	return false;
}

/* ---- lines ---- */

/* Removes the annotation of a name, and returns its letter; 0: none. */
static char annotation(struct folded_text *t)
{
	if (length(*t) < 5 || memcmp(t->end - 4, "_[", 2) != 0 || t->end[-1] != ']')
		return 0;
	char c = t->end[-2];
	if (c != 'k' && c != 'i' && c != 'j')
		return 0;
	t->end -= 4;
	return c;
}

static objid jit_object(struct folded *f)
{
	if (!f->jit)
		f->jit = profile_add_object_of(f->into, "[jit]", "", OBJECT_JIT, false);
	return f->jit;
}

static frameid frame_of(struct folded *f, struct folded_text name)
{
	char kind = annotation(&name);
	struct frame x = { 0 };

	x.flags = kind == 'k' ? FRAME_KERNEL : kind == 'i' ? FRAME_INLINED : 0;
	x.object = kind == 'j' ? jit_object(f) : 0;
	x.name = profile_add_string(f->into, name.s, length(name));
	return profile_add_frame(f->into, x);
}

static taskid task_of(struct folded *f, struct folded_text comm)
{
	struct task t = { 0 };

	split_ids(&comm, &t.pid, &t.tid);
	t.comm = is_text(comm, "[unknown]") ? 0 : profile_add_string(f->into, comm.s, length(comm));
	return profile_add_task(f->into, t);
}

static void read_line(struct folded *f, struct folded_text line, struct decimal number)
{
	struct sample s = { .event = f->event, .cpu = CPU_NONE };
	stackid stack = 0;

	if (number.is_negative) {
		f->has_negative = true;
		return;
	}
	s.weight = value_of(number, f->decimals);
	if (s.weight == UINT64_MAX)
		profile_note_saturated(f->into);
	if (!s.weight)
		return;
	s.count = s.weight < UINT32_MAX && !f->decimals ? (uint32_t)s.weight : 1;
	if (f->has_comm) {
		struct folded_text comm = first_name(line);
		s.task = task_of(f, comm);
		line.s = comm.end + 1;
	}
	for (struct folded_text name; line.s < line.end; line.s = name.end + 1) {
		name = first_name(line);
		if (name.end > name.s)
			stack = profile_add_stack(f->into, stack, frame_of(f, name));
	}
	s.stack = stack;
	profile_add_sample(f->into, s);
}

static void add_event(struct folded *f)
{
	static const char *const units[] = { "", "/1000", "/1000000", "/1000000000" };
	struct event e = { .unit = EVENT_COUNT };
	char *name = xprintf("samples%s", units[f->decimals / 3]);

	e.name = profile_add_string(f->into, name, strlen(name));
	f->event = profile_add_event(f->into, e);
	free(name);
}

static struct kin_error *read_folded(struct bytes all, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	struct folded f = { .b = all, .into = into };
	struct folded_text line;
	struct decimal number = { 0 };

	(void)o;
	(void)source;
	look_through(&f);
	if (f.is_comparison)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: each line has two numbers, as difffolded.pl writes them: "
			       "kin diff BEFORE AFTER compares the two files that it was made of",
			       all.name);
	add_event(&f);
	while (next_line(&f.b, &line)) {
		f.line++;
		if (is_blank(line))
			continue;
		if (!memchr(line.s, '\0', length(line)) && split(&line, &number))
			read_line(&f, line, number);
		else if (!f.err)
			f.err = err_new(KIN_ERROR_FORMAT,
					"%s: line %zu has no number at its end: cut off, or not "
					"of folded stacks",
					all.name, f.line);
	}
	format_note_end(&all, into);
	if (f.has_negative && !f.err)
		f.err = format_negative(all.name);
	return f.err;
}

static struct kin_error *write_folded(struct kin_profile *profile,
				      const struct kin_export_opts *opts, FILE *out)
{
	(void)opts;
	return kin_script(profile, "folded",
			  &(struct kin_script_opts){ .size = sizeof(struct kin_script_opts),
						     .inlines = true },
			  out);
}

static const char *const endings[] = { ".folded", ".collapsed", NULL };

const struct format folded_format = {
	.about = { .name = "folded",
		   .what = "folded stacks: a line for each, as flame graph tools read them",
		   .endings = endings,
		   .is_read = true,
		   .is_written = true },
	.recognise = probe,
	.is_vague = true,
	.read = read_folded,
	.write = write_folded,
};

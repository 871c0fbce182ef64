/* folded_read.c - stacks as text, one to a line, root first, as stackcollapse and many others
 * write them:
 *
 *	prog;_start;main;work 123
 *
 * A number, after the last blank, is how often it was seen: an integer or a decimal fraction. What
 * was never seen is no sample. Names may hold blanks. Annotations of stackcollapse are understood:
 * name_[k] is in the kernel, name_[i] was inlined, name_[j] was made at run time.
 *
 * Whether the first name is that of the command (stackcollapse-perf) or a function like the others
 * is not in the file: it is taken for a command if in all lines it could be one. As a command
 * [unknown] is none: kin writes it where it knows no name. */
#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "input/input.h"

enum { COMM = 15, /* bytes of a command's name that Linux keeps */ DECIMALS = 1000 };

struct folded_text {
	const char *s, *end;
};

struct folded {
	struct bytes b;
	struct profile_builder *into;
	size_t line;
	bool has_comm, has_decimals, has_negative;
	uint16_t event;
	objid jit;
	struct kin_error *err; /* the first; reading goes on */
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

/* Tabs are what flamegraph.pl takes, too. */
static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* Splits a line at its last blank; false if no number is behind it, which may be negative. */
static bool split(struct folded_text *line, struct folded_text *number)
{
	while (line->end > line->s && is_space(line->end[-1]))
		line->end--;
	const char *start = line->end;
	while (start > line->s && !is_space(start[-1]))
		start--;
	if (start == line->s)
		return false;
	*number = (struct folded_text){ start, line->end };
	line->end = start - 1;
	bool digits = false, point = false;
	for (const char *p = number->s + (*number->s == '-'); p < number->end; p++) {
		if (*p == '.' && !point)
			point = true;
		else if (isdigit((unsigned char)*p))
			digits = true;
		else
			return false;
	}
	return digits && line->end > line->s;
}

/* In units of 1/scale; the largest value if it does not fit. */
static uint64_t value_of(struct folded_text t, uint64_t scale)
{
	uint64_t v = 0, rest = 0, unit = scale;
	bool fits = true;

	for (; t.s < t.end && *t.s != '.'; t.s++)
		fits &= !__builtin_mul_overflow(v, 10, &v) &&
			!__builtin_add_overflow(v, (uint64_t)(*t.s - '0'), &v);
	fits &= !__builtin_mul_overflow(v, scale, &v);
	for (t.s++; t.s < t.end && unit > 1; t.s++) {
		unit /= 10;
		rest += (uint64_t)(*t.s - '0') * unit;
	}
	fits &= !__builtin_add_overflow(v, rest, &v);
	return fits ? v : UINT64_MAX;
}

static struct folded_text first_name(struct folded_text line)
{
	const char *end = memchr(line.s, ';', length(line));

	return (struct folded_text){ line.s, end ? end : line.end };
}

/* "-PID/TID", which stackcollapse-perf --tid adds to a command; false if it is not there. */
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

/* ---- what the file is like ---- */

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
		return false; /* then it is the function that ran */
	split_ids(&name, &pid, &tid);
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (is_text(name, functions[i]))
			return false;
	return length(name) <= COMM;
}

static void look_through(struct folded *f)
{
	struct bytes b = f->b;
	struct folded_text line, number;

	f->has_comm = true;
	while (next_line(&b, &line)) {
		if (is_blank(line) || !split(&line, &number))
			continue;
		f->has_comm = f->has_comm && could_be_comm(line);
		f->has_decimals |= memchr(number.s, '.', length(number)) != NULL;
	}
}

static bool probe(struct bytes head, const struct input_opts *o)
{
	enum { HEAD = 4096 };
	struct folded_text line, number;
	size_t n = bytes_left(&head) < HEAD ? bytes_left(&head) : HEAD;

	(void)o;
	if (memchr(head.pos, '\0', n) || !memchr(head.pos, ';', n))
		return false;
	head.end = head.pos + n;
	while (next_line(&head, &line)) {
		if (is_blank(line))
			continue;
		if (line.end == (const char *)head.end && n == HEAD) /* longer than we see */
			return memchr(line.s, ';', length(line)) != NULL;
		return split(&line, &number);
	}
	return false;
}

/* ---- lines ---- */

/* A name's annotation, which is taken off it. */
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

static void read_line(struct folded *f, struct folded_text line, struct folded_text number)
{
	struct sample s = { .event = f->event, .cpu = CPU_NONE };
	stackid stack = 0;

	if (*number.s == '-') {
		f->has_negative = true;
		return;
	}
	s.weight = value_of(number, f->has_decimals ? DECIMALS : 1);
	if (!s.weight)
		return;
	s.count = s.weight < UINT32_MAX && !f->has_decimals ? (uint32_t)s.weight : 1;
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
	const char *name = f->has_decimals ? "samples/1000" : "samples";
	struct event e = { .unit = EVENT_COUNT };

	e.name = profile_add_string(f->into, name, strlen(name));
	f->event = profile_add_event(f->into, e);
}

static struct kin_error *read_folded(struct bytes all, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	struct folded f = { .b = all, .into = into };
	struct folded_text line, number = { 0 };

	(void)o;
	(void)source;
	look_through(&f);
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
	if (all.end > all.pos && all.end[-1] != '\n' && !f.err)
		f.err = err_new(KIN_ERROR_FORMAT,
				"%s: cut off in line %zu: what wrote it did not finish", all.name,
				f.line);
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

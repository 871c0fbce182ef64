/* perf_script.c - reads the output of "perf script": samples as text, some with stacks.
 *
 *	comm PID[/TID] [CPU] MISC DATE SECONDS.FRACTION: PERIOD EVENT: ...
 *		          ADDRESS SYMBOL+0xOFFSET (OBJECT)
 *		          ...
 *	...
 *
 * Frames are leaf first, or there is one frame after the event. Each field may be missing (perf
 * script -F), and a comm may contain blanks and numbers. So a line without a time is a sample's
 * only if it has an event, ends in a frame, or is followed by frames, and if its numbers are as
 * wide as perf prints them. Inlined functions have (inlined) in place of the object. Addresses are
 * those of the process; only the names are used. Other data of samples (source lines, registers,
 * branches) and records that are no samples (--show-mmap-events and others) are skipped, with all
 * of their lines.
 *
 * kin script prints markers, too: "# marker SECONDS.FRACTION: NAME". */
#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "formats/formats.h"
#include "input/input.h"

#define MARKER "# marker "
#define RECORD "PERF_RECORD_"

enum {
	PID_WIDTH = 5,
	CPU_WIDTH = 3,
	PERIOD_WIDTH = 10,
	ADDRESS_WIDTH = 16 /* at least, as perf prints them */
};

struct script_text {
	const char *s, *end;
};

struct script_header {
	struct script_text line, comm, event, rest;
	uint32_t pid, tid;
	uint16_t cpu;
	uint64_t time_ns, period; /* 0: not there */
	bool has_time, is_alone;  /* its only frame is on the same line */
};

struct perf_script {
	struct bytes b;
	struct profile_builder *into;
	bool open;        /* frames of a sample may follow */
	bool has_chain;   /* they did, on lines of their own */
	bool is_alone;    /* no frames follow */
	bool adds_times;  /* times are differences to the previous sample (--deltatime) */
	uint64_t time_ns; /* with adds_times: time of the previous sample */
	bool in_record;   /* in a record of another kind, whose lines follow */
	struct sample sample;
	VEC(struct frame) frames; /* of the sample, leaf first */
	VEC(frameid) ids;         /* scratch of end_sample() */
	size_t line;
	struct kin_error *err;
};

static size_t length(struct script_text t) { return (size_t)(t.end - t.s); }

static struct script_text skip_blanks(struct script_text t)
{
	while (t.s < t.end && (*t.s == ' ' || *t.s == '\t'))
		t.s++;
	return t;
}

/* Takes digits off the text; false if there are none, or too many. */
static bool take_number(struct script_text *t, unsigned base, uint64_t *ret)
{
	const char *start = t->s;
	uint64_t v = 0;

	for (; t->s < t->end; t->s++) {
		unsigned char c = (unsigned char)*t->s;
		unsigned digit = isdigit(c) ? c - 48u : isxdigit(c) ? (c | 32u) - 'a' + 10u : 99u;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret = v;
	return t->s > start;
}

static bool take_char(struct script_text *t, char c)
{
	if (t->s == t->end || *t->s != c)
		return false;
	t->s++;
	return true;
}

/* Takes "SECONDS.FRACTION:" with six or nine digits. */
static bool take_time(struct script_text *t, uint64_t *ns)
{
	struct script_text x = *t;
	uint64_t seconds, fraction;

	if (!take_number(&x, 10, &seconds) || !take_char(&x, '.'))
		return false;
	const char *start = x.s;
	if (!take_number(&x, 10, &fraction) || x.s - start > 9 || !take_char(&x, ':'))
		return false;
	for (ptrdiff_t digits = x.s - 1 - start; digits < 9; digits++)
		fraction *= 10;
	if (__builtin_mul_overflow(seconds, 1000000000u, ns) ||
	    __builtin_add_overflow(*ns, fraction, ns))
		return false;
	*t = x;
	return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static struct script_text without_blanks(struct script_text t)
{
	t = skip_blanks(t);
	while (t.end > t.s && isspace((unsigned char)t.end[-1]))
		t.end--;
	return t;
}

static bool starts_with(struct script_text t, const char *word)
{
	size_t n = strlen(word);

	return length(t) >= n && !memcmp(t.s, word, n);
}

static bool ends_with(struct script_text t, const char *word)
{
	size_t n = strlen(word);

	return length(t) >= n && !memcmp(t.end - n, word, n);
}

static struct script_text word_of(struct script_text t)
{
	const char *s = t.s;

	while (s < t.end && !is_blank(*s))
		s++;
	return (struct script_text){ t.s, s };
}

/* The width of the column that ends at `end`: with the blanks before it, except for one
 * separator. */
static size_t width(struct script_text line, const char *start, const char *end)
{
	while (start > line.s && is_blank(start[-1]))
		start--;
	return (size_t)(end - start) - (start > line.s && start < end);
}

/* Takes "PID[/TID] "; false and no ids if it is not there. */
static bool take_ids(struct script_text *t, struct script_header *h)
{
	struct script_text x = *t;
	uint64_t pid, tid;

	h->pid = h->tid = 0;
	if (!take_number(&x, 10, &pid) || pid > UINT32_MAX)
		return false;
	tid = pid;
	if (take_char(&x, '/') && (!take_number(&x, 10, &tid) || tid > UINT32_MAX))
		return false;
	if (x.s < x.end && !is_blank(*x.s))
		return false;
	h->pid = (uint32_t)pid;
	h->tid = (uint32_t)tid;
	*t = skip_blanks(x);
	return true;
}

/* Takes "[CPU] ", or a CPU without brackets (-L) before a time; false if there is something else in
 * brackets. */
static bool take_cpu(struct script_text line, struct script_text *t, struct script_header *h)
{
	struct script_text bare = *t, time;
	uint64_t cpu, ns;

	h->cpu = CPU_NONE;
	if (take_char(t, '[')) {
		if (!take_number(t, 10, &cpu) || !take_char(t, ']'))
			return false;
	} else {
		time = take_number(&bare, 10, &cpu) ? skip_blanks(bare) : bare;
		if (time.s == bare.s || width(line, t->s, bare.s) < CPU_WIDTH ||
		    !take_time(&time, &ns))
			return true;
		*t = bare;
	}
	h->cpu = sample_cpu(cpu);
	*t = skip_blanks(*t);
	return true;
}

/* Takes the processor's mode and the time of day: "U ", "2026-11-28 03:22:31.123456 " */
static void take_misc(struct script_text *t)
{
	static const char modes[] = "KUHGgMESp", date[] = "0000-00-00 00:00:00.";
	struct script_text word = word_of(*t);
	size_t i = 0;

	while (i < length(word) && memchr(modes, word.s[i], strlen(modes)))
		i++;
	if (i && i == length(word))
		*t = skip_blanks((struct script_text){ word.end, t->end });
	i = 0;
	while (i < length(*t) && i < strlen(date) &&
	       (date[i] == '0' ? isdigit((unsigned char)t->s[i]) : t->s[i] == date[i]))
		i++;
	if (i == strlen(date)) {
		word = word_of((struct script_text){ t->s + i, t->end });
		*t = skip_blanks((struct script_text){ word.end, t->end });
	}
}

static bool is_event_word(struct script_text word)
{
	return ends_with(word, ":") || starts_with(word, RECORD);
}

/* Takes "[PERIOD] [EVENT:]" and the rest: data of the event, or its only frame. Without an event a
 * number is a period if it is as wide as one; addresses are wider. */
static void take_event(struct script_text line, struct script_text t, struct script_header *h)
{
	struct script_text number = t;
	uint64_t period;

	h->period = 0;
	h->event = (struct script_text){ t.s, t.s };
	if (take_number(&number, 10, &period) && (number.s == number.end || is_blank(*number.s))) {
		size_t digits = (size_t)(number.s - t.s), columns = width(line, t.s, number.s);
		struct script_text behind = skip_blanks(number);
		if (is_event_word(word_of(behind)) || behind.s == behind.end ||
		    columns == (digits > PERIOD_WIDTH ? digits : (size_t)PERIOD_WIDTH)) {
			h->period = period;
			t = behind;
		}
	}
	struct script_text word = word_of(t);
	if (is_event_word(word)) {
		t.s = word.end;
		word.end -= ends_with(word, ":");
		h->event = word;
	}
	h->rest = skip_blanks(t);
}

static const char *digits_end(struct script_text line, const char *p)
{
	while (p < line.end && isdigit((unsigned char)*p))
		p++;
	return p;
}

/* Whether there is a period, instead of ids: it is wider, and followed by its event, or by
 * nothing. */
static bool is_period(struct script_text line, const char *p)
{
	const char *end = digits_end(line, p);
	struct script_text behind = skip_blanks((struct script_text){ end, line.end });

	return end > p && width(line, p, end) >= PERIOD_WIDTH &&
	       (behind.s == behind.end || (behind.s > end && is_event_word(word_of(behind))));
}

/* Takes all fields from `p` on, which is after the comm or at the start of the line.
 * `heads_frames`: a line of frames follows. */
static bool take_fields(struct script_text line, const char *p, bool heads_frames,
			struct script_header *h)
{
	enum { DIGITS = 6 }; /* of a second; shorter ones as in 1.5 may be anything */
	struct script_text t = { p, line.end };
	bool has_ids = take_ids(&t, h), has_period = is_period(line, p);
	const char *behind = digits_end(line, p);

	if (has_period) {
		has_ids = false;
		h->pid = h->tid = 0;
		t.s = p;
	}
	/* Neither ids nor a period, a CPU, a time or a date: mostly an address. */
	if (!has_ids && !has_period && behind > p &&
	    (behind == line.end || (*behind != '.' && *behind != '-')))
		return false;
	bool has_wide_ids = has_ids && width(line, p, behind) >= PID_WIDTH;
	h->cpu = CPU_NONE;
	if ((has_wide_ids || (t.s < t.end && *t.s == '[')) && !take_cpu(line, &t, h))
		return false;
	take_misc(&t);
	struct script_text time = word_of(t);
	h->time_ns = 0;
	h->has_time = take_time(&t, &h->time_ns);
	if (h->has_time && !has_ids && ends_with(time, ":")) {
		const char *point = memchr(time.s, '.', length(time));
		if (time.end - point < DIGITS + 2)
			return false;
	}
	take_event(line, skip_blanks(t), h);
	if (h->has_time)
		return true;
	if ((!has_wide_ids && !has_period) || (p == skip_blanks(line).s && !heads_frames))
		return false;
	bool is_wide = h->event.s == t.s || width(line, t.s, word_of(t).end) >= PERIOD_WIDTH;
	return is_wide && (length(h->event) || (heads_frames && !length(h->rest)));
}

/* Parses "COMM EVENT:", or one of the two, or an empty line, before lines of frames. */
static bool take_bare(struct script_text line, struct script_header *h)
{
	enum { COMM = 16 };
	const char *blank = memrchr(line.s, ' ', length(line));
	struct script_text last = { blank ? blank + 1 : line.s, line.end };

	*h = (struct script_header){ .line = line, .comm = line, .cpu = CPU_NONE };
	h->event = h->rest = (struct script_text){ line.end, line.end };
	if (ends_with(last, ":")) {
		h->event = (struct script_text){ last.s, last.end - 1 };
		h->comm.end = last.s;
	}
	return length(without_blanks(h->comm)) <= COMM &&
	       (line.s == line.end || !is_blank(*line.s));
}

/* Finds the first place from which on all fields are valid. The comm is before it. */
static bool find_fields(struct script_text line, bool heads_frames, struct script_header *h)
{
	h->line = line;
	h->is_alone = false;
	for (const char *p = line.s; p < line.end; p++) {
		if ((p > line.s && !is_blank(p[-1])) || (!isdigit((unsigned char)*p) && *p != '['))
			continue;
		if (!take_fields(line, p, heads_frames, h))
			continue;
		h->comm = (struct script_text){ line.s, p };
		return true;
	}
	return false;
}

static bool parse_header(struct script_text line, bool heads_frames, struct script_header *h)
{
	return find_fields(line, heads_frames, h) || (heads_frames && take_bare(line, h));
}

/* Finds "ADDRESS SYMBOL" at the end of the line: the address follows a blank, and is as wide as
 * perf prints it. */
static bool find_last_frame(struct script_text line, struct script_text *ret)
{
	struct script_text word = word_of(skip_blanks(line)), x;
	uint64_t addr;

	for (; word.end < line.end;
	     word = word_of(skip_blanks((struct script_text){ word.end, line.end }))) {
		x = word;
		if (word.s > line.s && take_number(&x, 16, &addr) && x.s == x.end &&
		    width(line, word.s, word.end) >= ADDRESS_WIDTH) {
			*ret = (struct script_text){ word.s, line.end };
			return true;
		}
	}
	return false;
}

/* Parses a sample on a single line, without a time and maybe without an event. The part before its
 * frame looks like a line before frames. */
static bool parse_alone(struct script_text line, struct script_header *h)
{
	struct script_text head = line, frame;

	if (line.s == line.end || *line.s == '\t' || !find_last_frame(line, &frame))
		return false;
	head.end = frame.s;
	while (head.end > head.s && is_blank(head.end[-1]))
		head.end--;
	if (!find_fields(head, true, h) && !take_bare(skip_blanks(head), h))
		return false;
	h->line = line;
	h->rest = frame;
	h->is_alone = true;
	return true;
}

static bool next_line(struct bytes *b, struct script_text *ret)
{
	size_t n = bytes_left(b);

	if (!n)
		return false;
	const uint8_t *end = memchr(b->pos, '\n', n);
	*ret = (struct script_text){ (const char *)b->pos, (const char *)(end ? end : b->end) };
	b->pos = end ? end + 1 : b->end;
	while (ret->end > ret->s && isspace((unsigned char)ret->end[-1]))
		ret->end--;
	return true;
}

/* Whether the line is a frame: an address after blanks, and mostly a name. */
static bool is_frame(struct script_text line)
{
	uint64_t addr;
	bool is_indented = line.s < line.end && *line.s == '\t';

	if (line.s == line.end || !is_blank(*line.s))
		return false;
	line = skip_blanks(line);
	return take_number(&line, 16, &addr) &&
	       (line.s == line.end ? is_indented : is_blank(*line.s));
}

/* Whether the line is a frame that was copied without its indentation: "ADDRESS NAME (OBJECT)". */
static bool is_bare_frame(struct script_text line)
{
	enum { LEAST_WIDTH = 8 };
	struct script_text word = word_of(line), x = word;
	uint64_t addr;

	return length(word) >= LEAST_WIDTH && take_number(&x, 16, &addr) && x.s == x.end &&
	       ends_with(line, ")") && memmem(word.end, (size_t)(line.end - word.end), " (", 2);
}

/* Whether a frame as perf itself prints it comes next, or without its indentation. The line before
 * it then need not look like a sample's. */
static bool heads_frames(struct bytes b)
{
	struct script_text line;

	if (!bytes_left(&b) || (*b.pos != '\t' && !isxdigit(*b.pos)) || !next_line(&b, &line))
		return false;
	if (is_bare_frame(line))
		return true;
	if (!is_frame(line))
		return false;
	struct script_text word = word_of(skip_blanks(line));
	return word.end - line.s > ADDRESS_WIDTH;
}

/* Whether the file begins with a marker, or with the output of perf script --header, which has many
 * lines for large machines. */
static bool begins_with_heading(struct bytes head)
{
	static const char *const words[] = { "# ========\n", MARKER };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (bytes_left(&head) >= strlen(words[i]) &&
		    !memcmp(head.pos, words[i], strlen(words[i])))
			return true;
	return false;
}

static bool probe(struct bytes head, const struct input_opts *o)
{
	enum { HEAD = FORMAT_HEAD };
	size_t n = bytes_left(&head) < HEAD ? bytes_left(&head) : HEAD;
	struct script_header h;
	struct script_text line;

	(void)o;
	if (memchr(head.pos, '\0', n))
		return false;
	head.end = head.pos + n;
	bool is_headed = begins_with_heading(head);
	while (next_line(&head, &line)) {
		if (starts_with(line, "#") || starts_with(line, RECORD))
			continue;
		bool is_header = heads_frames(head);
		if (line.s < line.end || is_header)
			return parse_header(line, is_header, &h) || parse_alone(line, &h);
	}
	return is_headed && n == HEAD;
}

/* ---- frames ---- */

static enum object_kind kind_of(struct script_text dso)
{
	if (starts_with(dso, "[kernel") || starts_with(dso, "[guest.kernel"))
		return OBJECT_KERNEL;
	if (starts_with(dso, "[vdso"))
		return OBJECT_VDSO;
	if (ends_with(dso, ".ko") || ends_with(dso, ".ko.xz") || ends_with(dso, ".ko.zst"))
		return OBJECT_KERNEL_MODULE;
	if (starts_with(dso, "/tmp/perf-") && ends_with(dso, ".map"))
		return OBJECT_JIT;
	if (!length(dso) || *dso.s != '[')
		return OBJECT_ELF;
	/* Loaded modules are "[name]", too; all other objects in brackets have known names. */
	static const char *const others[] = { "[unknown]", "[heap]", "[stack", "[anon",
					      "[vsyscall" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (starts_with(dso, others[i]))
			return OBJECT_OTHER;
	return OBJECT_KERNEL_MODULE;
}

/* Start of the object: the bracket that matches the last character; t.s: there is none. Names of
 * objects may have blanks and pairs of brackets, as in "/lib/a.so (deleted)". If brackets do not
 * match, it is the last one after a blank. */
static const char *object_begin(struct script_text t)
{
	const char *last = t.s;
	size_t depth = 0;

	for (const char *at = t.end; at-- > t.s;) {
		bool begins = *at == '(' && (at == t.s || at[-1] == ' ');
		depth += *at == ')';
		depth -= *at == '(' && depth;
		if (begins && !depth)
			return at;
		if (begins && last == t.s)
			last = at;
	}
	return last;
}

/* Removes the offset of a symbol, or of an object (-F dsoff). */
static struct script_text without_offset(struct script_text t)
{
	const char *plus = memrchr(t.s, '+', length(t));

	if (plus && starts_with((struct script_text){ plus, t.end }, "+0x"))
		t.end = plus;
	return t;
}

/* Finds the frame after an event. Other addresses and numbers, which are as wide, may come before
 * it; the instruction and others, or a branch's target, after it. False if there is none. */
static bool find_frame(const struct script_header *h, struct script_text *ret)
{
	struct script_text t = h->rest, word = word_of(t), found = { NULL, NULL };
	const char *arrow = memmem(t.s, length(t), " => ", strlen(" => "));
	uint64_t addr;

	if (arrow)
		t.end = arrow;
	const char *bracket = memrchr(t.s, ')', length(t));
	if (bracket && (bracket + 1 == t.end || is_blank(bracket[1])))
		t.end = bracket + 1;
	struct script_text x = word;
	if (bracket && take_number(&x, 16, &addr) && x.s == x.end)
		found = t;
	for (; word.end < t.end;
	     word = word_of(skip_blanks((struct script_text){ word.end, t.end }))) {
		x = word;
		if (take_number(&x, 16, &addr) && x.s == x.end &&
		    width(h->line, word.s, word.end) >= ADDRESS_WIDTH)
			found = (struct script_text){ word.s, t.end };
	}
	*ret = found;
	return found.s;
}

/* Parses "ADDRESS SYMBOL+0xOFFSET (OBJECT)"; missing parts become "[unknown]". */
static struct frame frame_of(struct perf_script *s, struct script_text t)
{
	struct script_text dso = { "[unknown]", NULL };
	struct frame x = { 0 };
	uint64_t addr;

	dso.end = dso.s + strlen(dso.s);
	take_number(&t, 16, &addr);
	t = skip_blanks(t);
	if (ends_with(t, ")")) {
		const char *open = object_begin(t);
		if (*open == '(') {
			dso = without_offset((struct script_text){ open + 1, t.end - 1 });
			t.end = open > t.s ? open - 1 : open;
		}
	}
	t = without_offset(t);
	if (starts_with(dso, "inlined") && length(dso) == strlen("inlined")) {
		x.flags = FRAME_INLINED;
	} else {
		enum object_kind kind = kind_of(dso);
		char *path = xprintf("%.*s", (int)length(dso), dso.s);
		x.object = profile_add_object_of(s->into, path, "", kind, false);
		x.flags = kind == OBJECT_KERNEL || kind == OBJECT_KERNEL_MODULE ? FRAME_KERNEL : 0;
		free(path);
	}
	x.name = length(t) ? profile_add_string(s->into, t.s, length(t))
			   : profile_add_string(s->into, "[unknown]", strlen("[unknown]"));
	return x;
}

/* ---- samples ---- */

/* Inlined functions are in the object of the function around them, which perf does not repeat. */
static void add_objects(struct perf_script *s)
{
	objid object = 0;

	for (size_t i = s->frames.n; i-- > 0;) {
		struct frame *f = &s->frames.at[i];
		if (f->flags & FRAME_INLINED)
			f->object = object;
		object = f->object;
	}
}

static void end_sample(struct perf_script *s)
{
	stackid stack = 0;

	if (!s->open)
		return;
	add_objects(s);
	s->ids.n = 0;
	for (size_t i = 0; i < s->frames.n; i++)
		vec_push(&s->ids, profile_add_frame(s->into, s->frames.at[i]));
	for (size_t i = s->ids.n; i-- > 0;)
		stack = profile_add_stack(s->into, stack, s->ids.at[i]);
	s->sample.stack = stack;
	profile_add_sample(s->into, s->sample);
	s->frames.n = 0;
	s->open = false;
}

static bool is_event(const struct script_header *h, const char *name)
{
	return length(h->event) == strlen(name) && starts_with(h->event, name);
}

/* Events that count time: perf's clocks, its off-CPU time, and those that kin prints. */
static uint16_t event_of(struct perf_script *s, const struct script_header *h)
{
	struct event e = { 0 };

	if (is_event(h, "blocked") || is_event(h, "offcpu-time"))
		e.kind = EVENT_BLOCKED;
	else if (is_event(h, "waiting"))
		e.kind = EVENT_WAITING;
	if (h->period && (e.kind != EVENT_ON_CPU || starts_with(h->event, "cpu-clock") ||
			  starts_with(h->event, "task-clock")))
		e.unit = EVENT_NS;
	e.name = length(h->event) ? profile_add_string(s->into, h->event.s, length(h->event))
				  : profile_add_string(s->into, "samples", strlen("samples"));
	return profile_add_event(s->into, e);
}

static void begin_sample(struct perf_script *s, const struct script_header *h)
{
	struct task t = { .pid = h->pid, .tid = h->tid };
	struct script_text comm = without_blanks(h->comm), frame;

	t.comm = profile_add_string(s->into, comm.s, length(comm));
	s->sample = (struct sample){ .cpu = h->cpu,
				     .count = 1,
				     .weight = h->period ? h->period : 1,
				     .time_ns = s->adds_times ? s->time_ns : h->time_ns };
	s->sample.task = profile_add_task(s->into, t);
	s->sample.event = event_of(s, h);
	s->open = true;
	s->has_chain = false;
	s->is_alone = h->is_alone;
	if (find_frame(h, &frame))
		vec_push(&s->frames, frame_of(s, frame));
}

/* Adds a frame from a line of its own. Data after the event is then no frame. */
static void add_frame(struct perf_script *s, struct script_text line)
{
	if (!s->has_chain)
		s->frames.n = 0;
	s->has_chain = true;
	vec_push(&s->frames, frame_of(s, line));
}

/* " FILE:LINE", or " OBJECT[ADDRESS]" if the line is not known. */
static bool is_source_line(struct script_text line)
{
	const char *end = line.end;

	if (*line.s != ' ')
		return false;
	while (end > line.s && isdigit((unsigned char)end[-1]))
		end--;
	return end > line.s && (end == line.end ? end[-1] == ']' : end[-1] == ':');
}

/* Registers, branches, the instruction or the physical address, after a sample's chain, where
 * otherwise there is an empty line. */
static bool is_trailer(struct script_text line)
{
	static const char *const words[] = { "ABI:", "insn:", "ilen:", "0x", "IPC:", "BPF" };
	struct script_text t = skip_blanks(line), word = word_of(t), number = word;
	uint64_t value;
	size_t slashes = 0;

	if (*line.s != ' ')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (starts_with(t, words[i]))
			return true;
	if (word.end - line.s == ADDRESS_WIDTH && take_number(&number, 16, &value))
		return number.s == number.end;
	for (const char *p = word.s; p < word.end; p++)
		slashes += *p == '/';
	return slashes >= 4; /* FROM/TO/P/-/-/0 */
}

/* Lines that do not begin with a comm, and the output of -F srccode. */
static bool is_detail(const struct perf_script *s, struct script_text line)
{
	if (s->in_record ? *line.s == '\t' : *line.s == '|')
		return true;
	if (starts_with(line, RECORD))
		return true;
	return s->frames.n && (is_source_line(line) || is_trailer(line));
}

static void read_comment(struct perf_script *s, struct script_text line)
{
	uint64_t time_ns;

	if (!starts_with(line, MARKER))
		return;
	line.s += strlen(MARKER);
	line = skip_blanks(line);
	if (!take_time(&line, &time_ns))
		return;
	line = skip_blanks(line);
	strid name = profile_add_string(s->into, line.s, strnlen(line.s, length(line)));
	profile_add_marker(s->into, (struct marker){ .time_ns = time_ns, .name = name });
}

static void read_header(struct perf_script *s, const struct script_header *h)
{
	end_sample(s);
	s->time_ns += h->time_ns;
	s->in_record = starts_with(h->event, RECORD);
	if (!s->in_record)
		begin_sample(s, h);
}

static void read_line(struct perf_script *s, struct script_text line)
{
	struct script_header h;
	bool takes_frames = s->open && !s->is_alone;
	bool looks_so = is_frame(line) || (takes_frames && is_bare_frame(line));
	bool is_header = (!looks_so || (!takes_frames && *line.s == ' ')) && heads_frames(s->b);

	if (line.s == line.end && !is_header) {
		end_sample(s);
	} else if (line.s < line.end && *line.s == '#') {
		read_comment(s, line);
	} else if (takes_frames && looks_so && /* a comm may be a number after blanks */
		   (*line.s == '\t' || !parse_header(line, false, &h))) {
		add_frame(s, skip_blanks(line));
	} else if (!memchr(line.s, '\0', length(line)) &&
		   (parse_header(line, is_header, &h) ||
		    (!takes_frames && parse_alone(line, &h)))) {
		read_header(s, &h);
	} else if (!is_detail(s, line)) {
		if (takes_frames && *line.s == '\t') /* there was a frame */
			add_frame(s, (struct script_text){ line.end, line.end });
		if (!s->err)
			s->err = err_new(
				KIN_ERROR_FORMAT,
				"%s: line %zu is neither a sample nor a frame of one as perf "
				"script prints them",
				s->b.name, s->line);
	}
}

/* Whether times begin at 0 and are not in order: then they are differences to the previous
 * sample. */
static bool has_differences(struct bytes b)
{
	struct script_text line;
	struct script_header h;
	uint64_t last = 0;
	bool first = true;

	while (next_line(&b, &line)) {
		if (line.s == line.end || *line.s == '#' || is_frame(line) ||
		    !parse_header(line, false, &h) || starts_with(h.event, RECORD))
			continue;
		if (h.time_ns < last || (first && h.time_ns))
			return !first;
		last = h.time_ns;
		first = false;
	}
	return false;
}

static struct kin_error *read_script(struct bytes all, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	struct perf_script s = { .b = all, .into = into };
	struct script_text line;

	(void)o;
	(void)source;
	s.adds_times = has_differences(all);
	while (next_line(&s.b, &line)) {
		s.line++;
		read_line(&s, line);
	}
	end_sample(&s);
	format_note_end(&all, into);
	vec_free(&s.frames);
	vec_free(&s.ids);
	return s.err;
}

const struct format perf_script_format = {
	.about = { .name = "perf script",
		   .what = "samples as perf script prints them",
		   .is_read = true },
	.recognise = probe,
	.is_vague = true,
	.read = read_script,
};

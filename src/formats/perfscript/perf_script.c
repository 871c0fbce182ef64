/* perf_script.c - what "perf script" prints: samples as text, with the stacks of some.
 *
 *	comm PID[/TID] [CPU] SECONDS.FRACTION: PERIOD EVENT:
 *		          ADDRESS SYMBOL+0xOFFSET (OBJECT)
 *		          ...
 *
 * leaf first, an empty line behind. Widths differ by version, a comm may hold blanks, and each
 * field but the pid may be missing (perf script -F). Functions that were inlined say (inlined) in
 * place of the object. Addresses are those of the process; what counts are the names. A line of
 * source may follow a frame. Records that are no samples (--show-mmap-events and others) are passed
 * over, with the lines that belong to them.
 *
 * kin script prints markers, too: "# marker SECONDS.FRACTION: NAME". */
#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "formats/formats.h"
#include "input/input.h"

#define MARKER "# marker "

struct script_text {
	const char *s, *end;
};

struct script_header {
	struct script_text comm, event, rest;
	uint32_t pid, tid;
	uint16_t cpu;
	uint64_t time_ns, period; /* 0: not there */
};

struct perf_script {
	struct bytes b;
	struct profile_builder *into;
	bool open;      /* a sample whose frames follow */
	bool in_record; /* of another kind, whose lines follow */
	struct sample sample;
	VEC(struct frame) frames; /* of it, leaf first */
	VEC(frameid) ids;         /* of end_sample() */
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

/* Digits, which are taken off; false if there are none, or too many. */
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

/* "SECONDS.FRACTION:" of six or nine digits */
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

/* From the pid on: "PID[/TID] [CPU] TIME: [PERIOD] [EVENT:]"; time or event must be there. */
static bool take_ids(struct script_text t, struct script_header *h)
{
	uint64_t pid, tid, cpu;

	if (!take_number(&t, 10, &pid) || pid > UINT32_MAX)
		return false;
	tid = pid;
	if (take_char(&t, '/') && (!take_number(&t, 10, &tid) || tid > UINT32_MAX))
		return false;
	if (t.s == t.end || (*t.s != ' ' && *t.s != '\t'))
		return false;
	t = skip_blanks(t);
	h->cpu = CPU_NONE;
	if (take_char(&t, '[')) {
		if (!take_number(&t, 10, &cpu) || !take_char(&t, ']'))
			return false;
		h->cpu = sample_cpu(cpu);
		t = skip_blanks(t);
	}
	h->time_ns = 0;
	if (!take_time(&t, &h->time_ns))
		return false;
	h->pid = (uint32_t)pid;
	h->tid = (uint32_t)tid;
	h->rest = skip_blanks(t);
	return true;
}

/* "[PERIOD] EVENT:", and what is behind it: data of the event, or its one frame. */
static void take_event(struct script_header *h)
{
	struct script_text t = h->rest, number = t;
	uint64_t period;

	h->period = 0;
	if (take_number(&number, 10, &period) && number.s < number.end && *number.s == ' ') {
		h->period = period;
		t = skip_blanks(number);
	}
	h->event = (struct script_text){ t.s, t.s };
	while (h->event.end < t.end && *h->event.end != ' ' && *h->event.end != '\t')
		h->event.end++;
	t.s = h->event.end;
	if (length(h->event) && h->event.end[-1] == ':')
		h->event.end--;
	h->rest = skip_blanks(t);
}

/* The first place after a blank from which on all is as it should be: before it is the comm. */
static bool parse_header(struct script_text line, struct script_header *h)
{
	for (const char *p = line.s + 1; p < line.end; p++) {
		if (!isdigit((unsigned char)*p) || (p[-1] != ' ' && p[-1] != '\t'))
			continue;
		if (!take_ids((struct script_text){ p, line.end }, h))
			continue;
		h->comm = skip_blanks((struct script_text){ line.s, p });
		while (h->comm.end > h->comm.s && isspace((unsigned char)h->comm.end[-1]))
			h->comm.end--;
		take_event(h);
		return true;
	}
	return false;
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

/* What perf script --header prints first, of large machines many lines, and markers. */
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
	while (next_line(&head, &line))
		if (line.s < line.end && *line.s != '#')
			return parse_header(line, &h);
	return is_headed && n == HEAD;
}

/* ---- frames ---- */

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
	/* Loaded modules are "[name]", too; but what is no file of a process has a known name. */
	static const char *const others[] = { "[unknown]", "[heap]", "[stack", "[anon",
					      "[vsyscall" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (starts_with(dso, others[i]))
			return OBJECT_OTHER;
	return OBJECT_KERNEL_MODULE;
}

/* The bracket before the object, whose closing one is the last character; t.s: there is none.
 * Names of objects may have blanks and brackets of their own, which are pairs, as in "/lib/a.so
 * (deleted)"; or else it is the last one behind a blank. */
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

/* "ADDRESS SYMBOL+0xOFFSET (OBJECT)"; what is missing is "[unknown]" */
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
			dso = (struct script_text){ open + 1, t.end - 1 };
			t.end = open > t.s ? open - 1 : open;
		}
	}
	const char *plus = memrchr(t.s, '+', length(t));
	if (plus && starts_with((struct script_text){ plus, t.end }, "+0x"))
		t.end = plus;
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

/* What was inlined is in the object of the function around it, which perf does not repeat. */
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

	t.comm = profile_add_string(s->into, h->comm.s, length(h->comm));
	s->sample = (struct sample){ .cpu = h->cpu,
				     .count = 1,
				     .weight = h->period ? h->period : 1,
				     .time_ns = h->time_ns };
	s->sample.task = profile_add_task(s->into, t);
	s->sample.event = event_of(s, h);
	s->open = true;
	if (length(h->rest) && isxdigit((unsigned char)*h->rest.s) && ends_with(h->rest, ")"))
		vec_push(&s->frames, frame_of(s, h->rest));
}

static bool is_frame(struct script_text line)
{
	uint64_t addr;

	if (*line.s != ' ' && *line.s != '\t')
		return false;
	line = skip_blanks(line);
	return take_number(&line, 16, &addr) && (line.s == line.end || *line.s == ' ');
}

/* "  FILE:LINE", or "  OBJECT[ADDRESS]" where it is not known. */
static bool is_source_line(struct script_text line)
{
	const char *end = line.end;

	if (*line.s != ' ')
		return false;
	while (end > line.s && isdigit((unsigned char)end[-1]))
		end--;
	return end > line.s && (end == line.end ? end[-1] == ']' : end[-1] == ':');
}

/* Lines without a comm at their begin. */
static bool is_detail(const struct perf_script *s, struct script_text line)
{
	return s->in_record ? *line.s == '\t' : s->frames.n && is_source_line(line);
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

static void read_line(struct perf_script *s, struct script_text line)
{
	struct script_header h;

	if (line.s == line.end) {
		end_sample(s);
	} else if (*line.s == '#') {
		read_comment(s, line);
	} else if (s->open && is_frame(line) && !parse_header(line, &h)) {
		vec_push(&s->frames, frame_of(s, skip_blanks(line)));
	} else if (!memchr(line.s, '\0', length(line)) && parse_header(line, &h)) {
		end_sample(s);
		s->in_record = starts_with(h.event, "PERF_RECORD_");
		if (!s->in_record)
			begin_sample(s, &h);
	} else if (!is_detail(s, line) && !s->err) {
		s->err = err_new(KIN_ERROR_FORMAT,
				 "%s: line %zu is neither a sample nor a frame of one as perf "
				 "script prints them",
				 s->b.name, s->line);
	}
}

static struct kin_error *read_script(struct bytes all, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	struct perf_script s = { .b = all, .into = into };
	struct script_text line;

	(void)o;
	(void)source;
	while (next_line(&s.b, &line)) {
		s.line++;
		read_line(&s, line);
	}
	end_sample(&s);
	if (all.end > all.pos && all.end[-1] != '\n' && !s.err)
		s.err = err_new(KIN_ERROR_FORMAT,
				"%s: cut off in line %zu: perf script did not finish", all.name,
				s.line);
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

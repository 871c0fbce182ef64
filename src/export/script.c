/* script.c - prints samples field by field; each frame is made into text once. */
#include "export/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/num.h"
#include "base/vec.h"
#include "profile/detail.h"

static const struct {
	const char *name;
	enum script_field field;
	bool usual;
} fields[] = {
	{ "comm", SCRIPT_COMM, true },      { "pid", SCRIPT_PID, false },
	{ "tid", SCRIPT_TID, true },        { "cpu", SCRIPT_CPU, true },
	{ "time", SCRIPT_TIME, true },      { "period", SCRIPT_PERIOD, true },
	{ "event", SCRIPT_EVENT, true },    { "trace", SCRIPT_TRACE, true },
	{ "count", SCRIPT_COUNT, false },   { "ip", SCRIPT_IP, true },
	{ "sym", SCRIPT_SYM, true },        { "symoff", SCRIPT_SYMOFF, true },
	{ "dso", SCRIPT_DSO, true },        { "srcline", SCRIPT_SRCLINE, false },
	{ "addr", SCRIPT_ADDR, false },     { "phys_addr", SCRIPT_PHYS_ADDR, false },
	{ "weight", SCRIPT_WEIGHT, false }, { "ins_lat", SCRIPT_INS_LAT, false },
	{ "misc", SCRIPT_MISC, false },     { "flags", SCRIPT_FLAGS, false },
};

enum {
	OF_FRAMES = SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE,
	OF_ACCESS = SCRIPT_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT | SCRIPT_PHYS_ADDR,
};

/* ---- fields ---- */

static unsigned find_field(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strlen(fields[i].name) == n && !memcmp(fields[i].name, word, n))
			return fields[i].field;
	return 0;
}

/* Of perf script's fields those that are not here. */
static const char *remedy_of(const char *word, size_t n)
{
	static const char *const of_perf[] = {
		"iregs",      "uregs",          "brstack",        "brstacksym", "brstackinsn",
		"brstackoff", "data_src",       "bpf-output",     "callindent", "insn",
		"insnlen",    "synth",          "metric",         "srccode",    "ipc",
		"tod",        "data_page_size", "code_page_size",
	};
	if (memchr(word, ':', n))
		return "; fields are those of all events: --event NAME chooses one";
	for (size_t i = 0; i < ARRAY_LEN(of_perf); i++)
		if (strlen(of_perf[i]) == n && !memcmp(of_perf[i], word, n))
			return "; perf script prints it, and kin report has keys for accesses to "
			       "memory and branches";
	return "";
}

static struct kin_error *no_field(const char *word, size_t n)
{
	struct arena a = { 0 };
	const char *list = "";
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		list = arena_printf(&a, "%s%s%s", list, i ? ", " : "", fields[i].name);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE, "--columns: unknown field '%.*s'; valid: %s%s",
			n > 80 ? 80 : (int)n, word, list, remedy_of(word, n));
	arena_release(&a);
	return err;
}

struct kin_error *script_fields(const char *text, unsigned *ret)
{
	unsigned chosen = 0, usual = 0;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		usual |= fields[i].usual ? fields[i].field : 0;
	if (!text || text[0] == '+' || text[0] == '-')
		chosen = usual;
	for (bool away = false; text && *text;) {
		if (*text == ',' || *text == '+' || *text == '-') {
			away = *text == '-' || (*text == ',' && away);
			text++;
			continue;
		}
		size_t n = strcspn(text, ",+-");
		unsigned f = find_field(text, n);
		if (!f)
			return no_field(text, n);
		chosen = away ? chosen & ~f : chosen | f;
		text += n;
	}
	*ret = chosen;
	return NULL;
}

/* ---- frames: each is made into text once ---- */

struct piece {
	uint32_t n;
	bool known;
	size_t at; /* in `pieces` */
};

struct script {
	const struct profile *p;
	struct program *g;
	const struct script_opts *o;
	struct piece *of_frame; /* [2 * frame + of a caller where it was called] */
	char *pieces;           /* what `making` has written */
	size_t pieces_size;
	FILE *making;
	struct sink making_sink, out;
	int event_width;
	bool *wanted;            /* [n_events] */
	bool *stacks;            /* [n_events]: frames have lines of their own */
	uint64_t from_ns;        /* what times are since */
	uint8_t *places, *stops; /* [place]: of `symbols` and `stop_at`, see is_frame_of() */
};

struct shown_frame { /* what a line says */
	const struct frame *frame;
	uint64_t addr;
	const char *name; /* NULL: unknown */
	const char *object;
	uint64_t offset; /* from the start of the function */
	bool has_offset, inlined;
	struct srcloc line; /* file NULL: not known */
};

static void put_hex(struct sink *s, uint64_t v, int width)
{
	char text[20];
	int n = snprintf(text, sizeof(text), "%*" PRIx64, width, v);
	sink_bytes(s, text, (size_t)n);
}

static void put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

static void put_safe(struct sink *s, const char *text)
{
	if (escape_is_plain(text)) {
		sink_str(s, text);
		return;
	}
	char *safe = escape_copy(text);
	sink_str(s, safe);
	free(safe);
}

static void text_frame(struct sink *s, unsigned which, const struct shown_frame *f)
{
	sink_char(s, '\t');
	if (which & SCRIPT_IP)
		put_hex(s, f->addr, 16);
	if (which & SCRIPT_SYM) {
		if (which & SCRIPT_IP)
			sink_char(s, ' ');
		put_safe(s, f->name ? f->name : "[unknown]");
		if (which & SCRIPT_SYMOFF && f->has_offset) {
			sink_str(s, "+0x");
			put_hex(s, f->offset, 0);
		}
	}
	if (f->inlined) {
		sink_str(s, " (inlined)");
	} else if (which & SCRIPT_DSO) {
		sink_str(s, " (");
		put_safe(s, f->object);
		sink_char(s, ')');
	}
	if (which & SCRIPT_SRCLINE && f->line.file) {
		sink_str(s, "\n  ");
		put_safe(s, f->line.file);
		sink_char(s, ':');
		put_number(s, f->line.line);
	}
	sink_char(s, '\n');
}

static void json_key(struct sink *s, bool *first, const char *key)
{
	sink_str(s, *first ? "\"" : ",\"");
	sink_str(s, key);
	sink_str(s, "\":");
	*first = false;
}

static void json_frame(struct sink *s, unsigned which, const struct shown_frame *f)
{
	bool first = true;
	sink_char(s, '{');
	if (which & SCRIPT_IP && (f->addr || !f->frame->name)) {
		json_key(s, &first, "ip");
		sink_str(s, "\"0x");
		put_hex(s, f->addr, 0);
		sink_char(s, '"');
	}
	if (which & SCRIPT_SYM) {
		json_key(s, &first, "sym");
		if (f->name)
			json_string(s, f->name);
		else
			sink_str(s, "null");
		if (which & SCRIPT_SYMOFF && f->has_offset) {
			json_key(s, &first, "symoff");
			put_number(s, f->offset);
		}
	}
	if (which & SCRIPT_DSO) {
		json_key(s, &first, "dso");
		json_string(s, f->object);
	}
	if (f->inlined) {
		json_key(s, &first, "inlined");
		sink_str(s, "true");
	}
	if (which & SCRIPT_SRCLINE && f->line.file) {
		json_key(s, &first, "file");
		json_string(s, f->line.file);
		json_key(s, &first, "line");
		put_number(s, f->line.line);
	}
	sink_char(s, '}');
}

static void put_frame(struct script *c, const struct shown_frame *f, bool first)
{
	if (c->o->json && !first)
		sink_char(&c->making_sink, ',');
	if (c->o->json)
		json_frame(&c->making_sink, c->o->fields, f);
	else
		text_frame(&c->making_sink, c->o->fields, f);
}

/* The function, and before it those that were inlined into it here: the line is the innermost's. */
static void put_functions(struct script *c, frameid id, uint64_t back)
{
	const struct frame *frame = &c->p->samples.frames[id];
	uint64_t addr = frame->addr - back;
	symid place = program_place(c->g, id);
	enum place_kind kind = program_kind(c->g, place);
	struct shown_frame f = { .frame = frame,
				 .addr = addr,
				 .object = program_object_name(c->g, frame->object) };
	size_t n;
	const symid *inlined = program_inlines(c->g, id, &n);

	if (c->o->fields & SCRIPT_SRCLINE && !program_line(c->g, id, &f.line))
		f.line.file = NULL;
	if (f.line.file && !c->o->whole_paths && strrchr(f.line.file, '/'))
		f.line.file = strrchr(f.line.file, '/') + 1;
	for (size_t i = 0; i < n; i++) {
		f.name = program_name(c->g, inlined[i]);
		f.inlined = true;
		put_frame(c, &f, !i);
		f.line.file = NULL;
	}
	f.inlined = frame->flags & FRAME_INLINED;
	f.name = kind == PLACE_UNKNOWN ? NULL : program_name(c->g, place);
	if (f.name && !strcmp(f.name, "[unknown]")) /* as text formats say it */
		f.name = NULL;
	if (kind == PLACE_NAMED && program_start(c->g, place)) {
		f.offset = addr - program_start(c->g, place);
		f.has_offset = addr >= program_start(c->g, place);
	}
	if (kind == PLACE_SYMBOL) {
		uint64_t flat = program_flat(c->g, frame->object, addr);
		f.offset = flat - program_symbols(c->g)->at[place].addr;
		f.has_offset = flat != UINT64_MAX;
	}
	put_frame(c, &f, !n);
}

/* perf prints the address that it looked up: where unwinding found callers, one within the call. */
static struct piece *piece_of(struct script *c, frameid id, const struct event *e)
{
	uint32_t flags = c->p->samples.frames[id].flags & (FRAME_RETURN | FRAME_KERNEL);
	bool back = e->is_dumped && !c->o->json && flags == FRAME_RETURN;
	struct piece *x = &c->of_frame[2 * (size_t)id + back];
	if (x->known)
		return x;
	x->known = true;
	x->at = c->pieces_size;
	put_functions(c, id, back);
	sink_flush(&c->making_sink);
	fflush(c->making); /* makes pieces and pieces_size current */
	x->n = (uint32_t)(c->pieces_size - x->at);
	return x;
}

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; *at;) {
		size_t word = strcspn(at, ",");
		if (word == n && !memcmp(at, name, n))
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}

/* Whether its innermost frame is in one of the functions of a list; `places` is what is known: by
 * place, 0 not known, 1 no, 2 yes. */
static bool is_frame_of(struct script *c, uint8_t *places, const char *list, stackid stack)
{
	symid place = program_place(c->g, c->p->samples.stacks[stack].frame);
	if (place == NONE)
		return false;
	if (!places[place])
		places[place] = is_listed(list, program_name(c->g, place)) ? 2 : 1;
	return places[place] == 2;
}

/* By the whole path, or its last part. */
static bool is_in_object(struct script *c, const struct sample *x)
{
	const struct samples *s = &c->p->samples;
	const char *path = program_object_name(c->g, s->frames[s->stacks[x->stack].frame].object);
	const char *slash = strrchr(path, '/');
	return x->stack &&
	       (is_listed(c->o->objects, path) || (slash && is_listed(c->o->objects, slash + 1)));
}

/* The leaf's function behind what is said of the sample, in its line. */
static void put_leaf(struct script *c, stackid stack, const struct event *e)
{
	if (!stack) { /* nobody knows where */
		sink_str(&c->out, " [unknown]\n");
		return;
	}
	const struct piece *x = piece_of(c, c->p->samples.stacks[stack].frame, e);
	const char *begin = c->pieces + x->at, *last = memrchr(begin, '\t', x->n);
	sink_char(&c->out, ' ');
	if (last)
		sink_bytes(&c->out, last + 1, (size_t)(begin + x->n - last - 1));
	else
		sink_char(&c->out, '\n');
}

/* Of perf.data the text is what perf script prints, and that has no marks. */
static bool is_left_out(const struct script *c, frameid frame)
{
	return c->p->samples.frames[frame].flags & FRAME_MARK && !c->o->json && c->p->n_sources &&
	       !strcmp(c->p->sources[0].kind, "perf.data");
}

static void put_frames(struct script *c, stackid stack, const struct event *e)
{
	const struct stack *stacks = c->p->samples.stacks;
	unsigned left = c->o->max_stack;
	bool stopped = c->o->no_frames;
	for (bool first = true; stack && !stopped; stack = stacks[stack].caller, first = false) {
		if (is_left_out(c, stacks[stack].frame))
			continue;
		if (c->o->max_stack && !left--)
			break;
		const struct piece *x = piece_of(c, stacks[stack].frame, e);
		if (c->o->json && !first)
			sink_char(&c->out, ',');
		sink_bytes(&c->out, c->pieces + x->at, x->n);
		stopped = c->o->stop_at && is_frame_of(c, c->stops, c->o->stop_at, stack);
	}
}

/* ---- samples ---- */

static const char *string_of(const struct script *c, strid id)
{
	return strtab_get(c->p->strings, id);
}

static void put_padded(struct sink *s, uint64_t v, size_t width, char with)
{
	char text[NUM_MAX];
	size_t n = num_u64(text, v);
	for (; width > n; width--)
		sink_char(s, with);
	sink_bytes(s, text, n);
}

static void put_time(struct sink *s, uint64_t ns, bool all_digits, size_t width)
{
	put_padded(s, ns / 1000000000, width, ' ');
	sink_char(s, '.');
	if (all_digits)
		put_padded(s, ns % 1000000000, 9, '0');
	else
		put_padded(s, ns % 1000000000 / 1000, 6, '0');
}

enum { COMM_WIDTH = 16, TASK_WIDTH = 5 };

/* At the right of the width. */
static void put_comm(struct script *c, const struct task *t, size_t width)
{
	const char *comm = string_of(c, t->comm);
	char made[NUM_MAX + 2];
	if (!*comm) {
		snprintf(made, sizeof(made), ":%" PRIu32, t->tid);
		comm = made;
	}
	size_t n = strlen(comm);
	sink_pad(&c->out, n < width ? width - n : 0);
	put_safe(&c->out, comm);
}

/* Behind the process: at the left of its width. */
static void put_tid(struct sink *s, uint32_t tid)
{
	char text[NUM_MAX];
	size_t n = num_u64(text, tid);
	sink_char(s, '/');
	sink_bytes(s, text, n);
	sink_pad(s, n < TASK_WIDTH ? TASK_WIDTH - n : 0);
}

static uint64_t time_of(const struct script *c, const struct sample *x)
{
	return x->time_ns > c->from_ns ? x->time_ns - c->from_ns : 0;
}

/* Of a trace point: that it came there is all that it stands for. */
static bool has_fields(const struct script *c, const struct sample *x)
{
	return c->o->fields & SCRIPT_TRACE && c->p->samples.events[x->event].is_trace;
}

/* The fields of a trace point; NULL: not known. */
static const char *fields_of(const struct script *c, const struct sample *x)
{
	if (!has_fields(c, x))
		return NULL;
	const struct detail *d = sample_detail(&c->p->samples, x);
	return d->has & DETAIL_TRACE ? string_of(c, d->trace) : NULL;
}

/* An access to memory, in columns of 16 as perf has them; what is not known is 0. */
static const struct {
	enum script_field field;
	const char *key;
	bool hex;
} access_fields[] = {
	{ SCRIPT_ADDR, "addr", true },
	{ SCRIPT_WEIGHT, "weight", false },
	{ SCRIPT_INS_LAT, "ins_lat", false },
	{ SCRIPT_PHYS_ADDR, "phys_addr", true },
};

static uint64_t access_value(const struct detail *d, enum script_field field)
{
	switch (field) {
	case SCRIPT_ADDR:
		return d->has & DETAIL_ADDR ? d->addr : 0;
	case SCRIPT_PHYS_ADDR:
		return d->phys_addr;
	case SCRIPT_WEIGHT:
		return d->weight;
	default:
		return d->ins_lat;
	}
}

static void put_access(struct script *c, const struct sample *x)
{
	if (!(c->o->fields & OF_ACCESS))
		return;
	const struct detail *d = sample_detail(&c->p->samples, x);
	for (size_t i = 0; i < ARRAY_LEN(access_fields); i++) {
		char text[24];
		if (!(c->o->fields & access_fields[i].field))
			continue;
		uint64_t v = access_value(d, access_fields[i].field);
		int n = snprintf(text, sizeof(text),
				 access_fields[i].hex ? "%16" PRIx64 : "%16" PRIu64, v);
		sink_bytes(&c->out, text, (size_t)n);
	}
}

/* The CPU's mode, in perf's letters. */
static char mode_letter(const struct sample *x)
{
	if (x->flags & FRAME_HYPERVISOR)
		return 'H';
	if (x->flags & FRAME_GUEST)
		return x->flags & FRAME_KERNEL ? 'G' : 'g';
	return x->flags & FRAME_KERNEL ? 'K' : 'U';
}

static void text_header(struct script *c, const struct sample *x)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	unsigned which = c->o->fields;
	struct sink *s = &c->out;

	if (which & SCRIPT_COMM) {
		put_comm(c, t, which & OF_FRAMES && c->stacks[x->event] ? 0 : COMM_WIDTH);
		sink_char(s, ' ');
	}
	if (which & (SCRIPT_PID | SCRIPT_TID)) {
		put_padded(s, which & SCRIPT_PID ? t->pid : t->tid, TASK_WIDTH, ' ');
		if (which & SCRIPT_PID && which & SCRIPT_TID)
			put_tid(s, t->tid);
		sink_char(s, ' ');
	}
	if (which & SCRIPT_CPU && x->cpu != CPU_NONE) {
		sink_char(s, '[');
		put_padded(s, x->cpu, 3, '0');
		sink_str(s, "] ");
	}
	if (which & SCRIPT_MISC) {
		sink_char(s, mode_letter(x));
		sink_str(s, "     ");
	}
	if (which & SCRIPT_TIME && !c->p->samples.events[x->event].is_timeless) {
		put_time(s, time_of(c, x), c->o->nanoseconds, 5);
		sink_str(s, ": ");
	}
	if (which & SCRIPT_COUNT) {
		put_number(s, x->count);
		sink_str(s, "x ");
	}
	if (which & SCRIPT_PERIOD && !has_fields(c, x)) {
		put_padded(s, x->weight, 10, ' ');
		sink_char(s, ' ');
	}
	if (which & SCRIPT_EVENT) {
		const char *event = string_of(c, event_title(&c->p->samples.events[x->event]));
		size_t n = strlen(event);
		for (; n < (size_t)c->event_width; n++)
			sink_char(s, ' ');
		put_safe(s, event);
		sink_str(s, ": ");
	}
	if (which & SCRIPT_FLAGS)
		sink_str(s, "                        ");
	const char *trace = fields_of(c, x);
	if (trace)
		put_safe(s, trace);
	put_access(c, x);
}

static void text_sample(struct script *c, const struct sample *x)
{
	text_header(c, x);
	const struct event *e = &c->p->samples.events[x->event];
	if (c->o->fields & OF_FRAMES && !c->stacks[x->event] && !has_fields(c, x)) {
		put_leaf(c, x->stack, e);
		return;
	}
	sink_char(&c->out, '\n');
	if (c->o->fields & OF_FRAMES && (c->stacks[x->event] || !has_fields(c, x))) {
		put_frames(c, x->stack, e);
		sink_char(&c->out, '\n');
	}
}

static void json_number(struct script *c, bool *first, const char *key, uint64_t v)
{
	json_key(&c->out, first, key);
	put_number(&c->out, v);
}

static void json_sample(struct script *c, const struct sample *x)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	unsigned which = c->o->fields;
	struct sink *s = &c->out;
	bool first = true;

	sink_char(s, '{');
	if (which & SCRIPT_COMM) {
		json_key(s, &first, "comm");
		json_string(s, string_of(c, t->comm));
	}
	if (which & SCRIPT_PID)
		json_number(c, &first, "pid", t->pid);
	if (which & SCRIPT_TID)
		json_number(c, &first, "tid", t->tid);
	if (which & SCRIPT_CPU && x->cpu != CPU_NONE)
		json_number(c, &first, "cpu", x->cpu);
	if (which & SCRIPT_MISC) {
		char mode[2] = { mode_letter(x), '\0' };
		json_key(s, &first, "misc");
		json_string(s, mode);
	}
	if (which & SCRIPT_TIME && x->time_ns) {
		json_key(s, &first, "time");
		put_time(s, time_of(c, x), true, 0);
	}
	if (which & SCRIPT_COUNT)
		json_number(c, &first, "count", x->count);
	if (which & SCRIPT_PERIOD)
		json_number(c, &first, "period", x->weight);
	if (which & SCRIPT_EVENT) {
		json_key(s, &first, "event");
		json_string(s, string_of(c, c->p->samples.events[x->event].name));
	}
	if (fields_of(c, x)) {
		json_key(s, &first, "trace");
		json_string(s, fields_of(c, x));
	}
	for (size_t i = 0; i < ARRAY_LEN(access_fields); i++)
		if (which & access_fields[i].field)
			json_number(c, &first, access_fields[i].key,
				    access_value(sample_detail(&c->p->samples, x),
						 access_fields[i].field));
	if (which & OF_FRAMES) {
		json_key(s, &first, "frames");
		sink_char(s, '[');
		put_frames(c, x->stack, &c->p->samples.events[x->event]);
		sink_char(s, ']');
	}
	sink_char(s, '}');
}

/* ---- all of it ---- */

static bool has_recorded_samples(const struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->events[s->at[i].event].is_derived)
			return true;
	return false;
}

/* Events that were made of others are shown if nothing else is there: they were asked for. */
static void choose_events(struct script *c)
{
	const struct samples *s = &c->p->samples;
	bool all = c->o->json || !has_recorded_samples(s);
	c->wanted = xalloc(s->n_events + 1);
	for (size_t i = 0; i < s->n_events; i++) {
		const char *name = string_of(c, s->events[i].name);
		int width = (int)strlen(string_of(c, event_title(&s->events[i])));
		c->wanted[i] = c->o->event ? event_is_called(name, c->o->event)
					   : all || !s->events[i].is_derived;
		if (c->wanted[i] && width > c->event_width)
			c->event_width = width;
	}
}

static bool any_callers(const struct samples *s)
{
	for (size_t i = 1; i < s->n_stacks; i++)
		if (s->stacks[i].caller)
			return true;
	return false;
}

/* Where the data does not say which events have stacks, all that there are. */
static void find_stacks(struct script *c)
{
	const struct samples *s = &c->p->samples;
	bool said = false, any = any_callers(s);
	c->stacks = xalloc(s->n_events + 1);
	for (size_t i = 0; i < s->n_events; i++)
		said = said || s->events[i].stacks;
	for (size_t i = 0; i < s->n_events; i++)
		c->stacks[i] = !c->o->leaves && (said ? s->events[i].stacks : any);
}

static void json_events(struct script *c)
{
	bool any = false;
	sink_str(&c->out, "{\"events\":[");
	for (size_t i = 0; i < c->p->samples.n_events; i++) {
		const struct event *e = &c->p->samples.events[i];
		if (!c->wanted[i])
			continue;
		sink_str(&c->out, any ? ",\n  {\"name\":" : "\n  {\"name\":");
		json_string(&c->out, string_of(c, e->name));
		sink_str(&c->out,
			 e->unit == EVENT_NS ? ",\"unit\":\"ns\"}" : ",\"unit\":\"count\"}");
		any = true;
	}
	sink_str(&c->out, "],\n\"samples\":[");
}

static bool is_wanted(struct script *c, const struct sample *x)
{
	return c->wanted[x->event] && (!c->o->filter || sample_filter_passes(c->o->filter, x)) &&
	       (!c->o->symbols || is_frame_of(c, c->places, c->o->symbols, x->stack)) &&
	       (!c->o->objects || is_in_object(c, x));
}

static void put_samples(struct script *c)
{
	const struct samples *s = &c->p->samples;
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(c, x))
			continue;
		if ((c->o->relative || c->o->delta) && !any)
			c->from_ns = x->time_ns;
		if (c->o->json) {
			sink_str(&c->out, any ? ",\n  " : "\n  ");
			json_sample(c, x);
		} else {
			text_sample(c, x);
		}
		if (c->o->delta)
			c->from_ns = x->time_ns;
		any = true;
	}
}

struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
			       const struct script_opts *opts)
{
	struct script *c = xalloc(sizeof(*c)); /* has large buffers */
	*c = (struct script){ .p = p, .g = g, .o = opts };
	c->of_frame = xalloc(2 * (p->samples.n_frames + 1) * sizeof(*c->of_frame));
	c->places = xalloc(program_symbols(g)->n + 1);
	c->stops = xalloc(program_symbols(g)->n + 1);
	c->making = open_memstream(&c->pieces, &c->pieces_size);
	struct kin_error *err = c->making ? NULL : err_os(errno, "writing samples");
	if (!err) {
		sink_init(&c->making_sink, c->making);
		sink_init(&c->out, out);
		choose_events(c);
		find_stacks(c);
		if (opts->json)
			json_events(c);
		put_samples(c);
		if (opts->json)
			sink_str(&c->out, "]}\n");
		errno = 0;
		sink_flush(&c->out);
		if (fflush(out) || ferror(out))
			err = err_os(errno ? errno : EIO, "writing samples");
		fclose(c->making);
	}
	free(c->pieces);
	free(c->of_frame);
	free(c->wanted);
	free(c->stacks);
	free(c->places);
	free(c->stops);
	free(c);
	return err;
}

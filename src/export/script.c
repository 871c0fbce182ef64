/* script.c - prints samples field by field; each frame is made into text once. */
#include "export/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/vec.h"
#include "export/branch_code.h"
#include "profile/access.h"
#include "profile/detail.h"
#include "symbolize/leaf_filter.h"

static const struct {
	const char *name;
	uint64_t field; /* enum script_field */
	bool usual;
} fields[] = {
	{ "comm", SCRIPT_COMM, true },
	{ "pid", SCRIPT_PID, false },
	{ "tid", SCRIPT_TID, true },
	{ "cpu", SCRIPT_CPU, true },
	{ "time", SCRIPT_TIME, true },
	{ "tod", SCRIPT_TOD, false },
	{ "period", SCRIPT_PERIOD, true },
	{ "event", SCRIPT_EVENT, true },
	{ "trace", SCRIPT_TRACE, true },
	{ "count", SCRIPT_COUNT, false },
	{ "ip", SCRIPT_IP, true },
	{ "sym", SCRIPT_SYM, true },
	{ "symoff", SCRIPT_SYMOFF, true },
	{ "dso", SCRIPT_DSO, true },
	{ "srcline", SCRIPT_SRCLINE, false },
	{ "srccode", SCRIPT_SRCCODE, false },
	{ "addr", SCRIPT_ADDR, false },
	{ "data_src", SCRIPT_DATA_SRC, false },
	{ "phys_addr", SCRIPT_PHYS_ADDR, false },
	{ "weight", SCRIPT_WEIGHT, false },
	{ "ins_lat", SCRIPT_INS_LAT, false },
	{ "data_page_size", SCRIPT_DATA_PAGE_SIZE, false },
	{ "code_page_size", SCRIPT_CODE_PAGE_SIZE, false },
	{ "iregs", SCRIPT_IREGS, false },
	{ "uregs", SCRIPT_UREGS, false },
	{ "brstack", SCRIPT_BRSTACK, false },
	{ "brstacksym", SCRIPT_BRSTACKSYM, false },
	{ "brstackoff", SCRIPT_BRSTACKOFF, false },
	{ "brstackinsn", SCRIPT_BRSTACKINSN, false },
	{ "brstackinsnlen", SCRIPT_BRSTACKINSNLEN, false },
	{ "insn", SCRIPT_INSN, false },
	{ "insnlen", SCRIPT_INSNLEN, false },
	{ "misc", SCRIPT_MISC, false },
	{ "flags", SCRIPT_FLAGS, false },
	{ "synth", SCRIPT_NOTHING, false },
	{ "callindent", SCRIPT_NOTHING, false },
	{ "ipc", SCRIPT_NOTHING, false },
	{ "metric", SCRIPT_NOTHING, false },
};

enum {
	OF_FRAMES = SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE,
	OF_INSTRUCTION = SCRIPT_INSN | SCRIPT_INSNLEN,
};

/* In JSON, the branches themselves. */
static const uint64_t OF_BRANCHES = SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF |
				    SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN;

/* ---- fields ---- */

static uint64_t find_field(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strlen(fields[i].name) == n && !memcmp(fields[i].name, word, n))
			return fields[i].field;
	return 0;
}

/* Of perf script's fields those that are not here. */
static const char *remedy_of(const char *word, size_t n)
{
	static const struct {
		const char *name, *remedy;
	} of_perf[] = {
		{ "bpf-output", "; perf script prints what BPF programs wrote" },
	};
	for (size_t i = 0; i < ARRAY_LEN(of_perf); i++)
		if (strlen(of_perf[i].name) == n && !memcmp(of_perf[i].name, word, n))
			return of_perf[i].remedy;
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

static const struct {
	const char *name;
	enum event_type type;
} prefixes[] = {
	{ "hw:", EVENT_HARDWARE },    { "sw:", EVENT_SOFTWARE }, { "trace:", EVENT_TRACE_POINT },
	{ "hw-cache:", EVENT_CACHE }, { "raw:", EVENT_RAW },     { "break:", EVENT_BREAKPOINT },
};

/* Whose fields the list is of; EVENT_UNTYPED: of all events. */
static enum event_type take_prefix(const char **text)
{
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i].name);
		if (!strncmp(*text, prefixes[i].name, n)) {
			*text += n;
			return prefixes[i].type;
		}
	}
	return EVENT_UNTYPED;
}

static struct kin_error *no_prefix(const char *word, size_t n)
{
	return err_new(
		KIN_ERROR_USAGE,
		"--columns: unknown type of events '%.*s' (hw, sw, trace, hw-cache, raw, break)",
		n > 80 ? 80 : (int)n, word);
}

static void choose(struct script_fields *f, enum event_type of, uint64_t field, bool away)
{
	for (size_t i = 0; i < EVENT_TYPES; i++)
		if (of == EVENT_UNTYPED || i == of)
			f->of[i] = away ? f->of[i] & ~field : f->of[i] | field;
}

/* Of perf's fields one has a '-' in its name. */
static size_t word_length(const char *s)
{
	static const char odd[] = "bpf-output";
	return !strncmp(s, odd, strlen(odd)) ? strlen(odd) : strcspn(s, ",+- ");
}

/* One list, up to a space or the end. */
static struct kin_error *read_list(const char **text, struct script_fields *f)
{
	const char *s = *text, *colon = s + strcspn(s, ":, ");
	enum event_type of = take_prefix(&s);
	if (*colon == ':' && of == EVENT_UNTYPED)
		return no_prefix(s, (size_t)(colon - s));
	if (*s != '+' && *s != '-')
		choose(f, of, ~UINT64_C(0), true);
	for (bool away = false; *s && *s != ' ';) {
		if (*s == ',' || *s == '+' || *s == '-') {
			away = *s == '-' || (*s == ',' && away);
			s++;
			continue;
		}
		size_t n = word_length(s);
		uint64_t field = find_field(s, n);
		if (!field)
			return no_field(s, n);
		choose(f, of, field, away);
		s += n;
	}
	*text = s;
	return NULL;
}

struct kin_error *script_fields_read(const char *text, struct script_fields *ret)
{
	struct script_fields f = { { 0 } };
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		choose(&f, EVENT_UNTYPED, fields[i].usual ? fields[i].field : 0, false);
	while (text && *text) {
		struct kin_error *err = read_list(&text, &f);
		if (err)
			return err;
		text += strspn(text, " ");
	}
	*ret = f;
	return NULL;
}

bool script_fields_any(const struct script_fields *f, uint64_t some)
{
	for (size_t i = 0; i < EVENT_TYPES; i++)
		if (f->of[i] & some)
			return true;
	return false;
}

/* ---- frames: each is made into text once ---- */

struct script_piece {
	uint32_t n;
	bool known;
	size_t at; /* in `pieces` */
};

struct script {
	const struct profile *p;
	struct program *g;
	const struct script_opts *o;
	/* [2 * (frame + n_frames * variant) + of a caller where it was called]: a variant for each
	 * set of fields of frames. */
	struct script_piece *of_frame;
	unsigned variant_of[EVENT_TYPES];
	uint64_t fields; /* of the sample that is being written */
	unsigned variant;
	char *pieces; /* what `making` has written */
	size_t pieces_size;
	FILE *making;
	struct sink making_sink, out;
	int event_width;
	bool *wanted;     /* [n_events] */
	bool *stacks;     /* [n_events]: frames have lines of their own */
	uint64_t from_ns; /* what times are since */
	struct leaf_filter *leaves,
		*stops;             /* of `functions` and `objects`; of `stop_at`, or NULL */
	int access_width;           /* of the widest access so far, in words */
	struct map64 source_of;     /* MAP64_PAIR(pid, tid) -> index into `sources` */
	VEC(struct srcloc) sources; /* that were shown last */
};

struct shown_frame { /* what a line says */
	const struct frame *frame;
	uint64_t addr;
	const char *name; /* NULL: unknown */
	const char *object;
	uint64_t offset; /* from the start of the function */
	bool has_offset, inlined;
	bool has_no_file;   /* code of the kernel, or that it brings along: where perf asks no debug
			     * information, and has the address for a line */
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

static void text_frame(struct sink *s, uint64_t which, const struct shown_frame *f)
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
	} else if (which & SCRIPT_SRCLINE && f->has_no_file) {
		sink_str(s, "\n  ");
		put_safe(s, f->object);
		sink_char(s, '[');
		put_hex(s, f->addr, 0);
		sink_char(s, ']');
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

static void json_frame(struct sink *s, uint64_t which, const struct shown_frame *f)
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
		json_frame(&c->making_sink, c->fields, f);
	else
		text_frame(&c->making_sink, c->fields, f);
}

/* What function the frame is in, and how far from its start. */
static void name_frame(struct script *c, frameid id, struct shown_frame *f)
{
	const struct frame *frame = &c->p->samples.frames[id];
	symid place = program_place(c->g, id);
	enum place_kind kind = program_kind(c->g, place);

	f->name = kind == PLACE_UNKNOWN ? NULL : program_name(c->g, place);
	if (f->name && !strcmp(f->name, "[unknown]")) /* as text formats say it */
		f->name = NULL;
	if (kind == PLACE_NAMED && program_start(c->g, place)) {
		f->offset = f->addr - program_start(c->g, place);
		f->has_offset = f->addr >= program_start(c->g, place);
	}
	if (kind == PLACE_SYMBOL) {
		uint64_t flat = program_flat(c->g, frame->object, f->addr);
		f->offset = flat - program_symbols(c->g)->at[place].addr;
		f->has_offset = flat != UINT64_MAX;
	}
}

/* The function, and before it those that were inlined into it here: the line is the innermost's. */
static void put_functions(struct script *c, frameid id, uint64_t back)
{
	const struct frame *frame = &c->p->samples.frames[id];
	struct shown_frame f = { .frame = frame,
				 .addr = frame->addr - back,
				 .object = program_object_name(c->g, frame->object) };
	size_t n;
	const symid *inlined = program_inlines(c->g, id, &n);

	if (c->fields & SCRIPT_SRCLINE && !program_line(c->g, id, &f.line))
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
	f.has_no_file =
		!n && !f.line.file && *f.object == '[' && strcmp(f.object, "[unknown]") != 0;
	name_frame(c, id, &f);
	put_frame(c, &f, !n);
}

/* perf prints the address that it looked up: where unwinding found callers, one within the call. */
static struct script_piece *piece_of(struct script *c, frameid id, const struct event *e)
{
	uint32_t flags = c->p->samples.frames[id].flags & (FRAME_RETURN | FRAME_KERNEL);
	bool back = e->is_dumped && !c->o->json && flags == FRAME_RETURN;
	size_t frames = c->p->samples.n_frames * c->variant;
	struct script_piece *x = &c->of_frame[2 * (frames + id) + back];
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

/* By what the data says, and part of where it is. */
static bool is_inlined(const struct script *c, stackid stack)
{
	const struct samples *s = &c->p->samples;
	return c->o->no_inlines && s->frames[s->stacks[stack].frame].flags & FRAME_INLINED;
}

/* The leaf's function behind what is said of the sample, in its line. */
static void put_leaf(struct script *c, stackid stack, const struct event *e)
{
	while (is_inlined(c, stack))
		stack = c->p->samples.stacks[stack].caller;
	if (!stack) { /* nobody knows where */
		sink_str(&c->out, " [unknown]");
		return;
	}
	const struct script_piece *x = piece_of(c, c->p->samples.stacks[stack].frame, e);
	const char *begin = c->pieces + x->at, *last = memrchr(begin, '\t', x->n);
	sink_char(&c->out, ' ');
	if (last)
		sink_bytes(&c->out, last + 1, (size_t)(begin + x->n - last - 2)); /* no newline */
}

/* Of perf.data the text is what perf script prints, and that has no marks. */
static bool is_hidden_mark(const struct script *c, frameid frame)
{
	return c->p->samples.frames[frame].flags & FRAME_MARK && !c->o->json && c->p->n_sources &&
	       !strcmp(c->p->sources[0].kind, "perf.data");
}

static void put_frames(struct script *c, stackid stack, const struct event *e)
{
	const struct stack *stacks = c->p->samples.stacks;
	unsigned left = c->o->max_stack;
	bool stopped = c->o->no_frames, first = true;
	for (; stack && !stopped; stack = stacks[stack].caller) {
		if (is_hidden_mark(c, stacks[stack].frame) || is_inlined(c, stack))
			continue;
		if (c->o->max_stack && !left--)
			break;
		const struct script_piece *x = piece_of(c, stacks[stack].frame, e);
		if (c->o->json && !first)
			sink_char(&c->out, ',');
		first = false;
		sink_bytes(&c->out, c->pieces + x->at, x->n);
		stopped = c->stops && leaf_filter_names(c->stops, stack);
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
	return c->fields & SCRIPT_TRACE && c->p->samples.events[x->event].is_trace;
}

/* The fields of a trace point; NULL: not known. */
static const char *fields_of(const struct script *c, const struct sample *x)
{
	if (!has_fields(c, x))
		return NULL;
	const struct detail *d = sample_detail(&c->p->samples, x);
	return d->has & DETAIL_TRACE ? string_of(c, d->trace) : NULL;
}

/* ---- accesses to memory ---- */

static uint64_t addr_of(const struct detail *d) { return d->has & DETAIL_ADDR ? d->addr : 0; }

/* Whether the address is what the sample is about: perf names what is there. */
static bool is_fault(const struct script *c, const struct sample *x)
{
	const char *name = string_of(c, c->p->samples.events[x->event].name);
	size_t n = strcspn(name, ":#");
	static const char *const faults[] = { "page-faults", "faults", "minor-faults",
					      "major-faults" };
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (strlen(faults[i]) == n && !memcmp(faults[i], name, n))
			return true;
	return false;
}

static void put_addr(struct script *c, const struct sample *x, const struct detail *d)
{
	struct sink *s = &c->out;
	put_hex(s, addr_of(d), 16);
	if (!is_fault(c, x))
		return;
	struct shown_frame f = { .addr = 0 };
	if (d->target) {
		f.addr = c->p->samples.frames[d->target].addr;
		name_frame(c, d->target, &f);
	}
	if (c->fields & SCRIPT_SYM) {
		sink_char(s, ' ');
		put_safe(s, f.name ? f.name : "[unknown]");
		if (c->fields & SCRIPT_SYMOFF && f.name && f.has_offset) {
			sink_str(s, "+0x");
			put_hex(s, f.offset, 0);
		}
	}
	if (c->fields & SCRIPT_DSO) {
		sink_str(s, " (");
		put_safe(s, d->target ? program_object_name(c->g,
							    c->p->samples.frames[d->target].object)
				      : "[unknown]");
		sink_char(s, ')');
	}
}

/* "|OP LOAD|LVL L1 hit|...": as perf has it, cut, and padded to the widest so far. */
static void put_data_src(struct script *c, const struct detail *d)
{
	static const struct {
		const char *title;
		enum access_part part;
	} parts[] = {
		{ "|OP ", ACCESS_OPERATION }, { "|LVL ", ACCESS_LEVEL },
		{ "|SNP ", ACCESS_SNOOP },    { "|TLB ", ACCESS_TLB },
		{ "|LCK ", ACCESS_LOCK },     { "|BLK  ", ACCESS_BLOCKED },
	};
	enum { MOST = 99 };
	struct arena a = { 0 };
	const char *text = "";
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		text = arena_printf(&a, "%s%s%s", text, parts[i].title,
				    access_text(&a, parts[i].part, d->data_src));
	size_t n = strlen(text) < MOST ? strlen(text) : MOST;
	if (c->access_width < (int)n)
		c->access_width = (int)n;
	put_hex(&c->out, d->data_src, 16);
	sink_char(&c->out, ' ');
	sink_bytes(&c->out, text, n);
	sink_pad(&c->out, (size_t)c->access_width - n);
	arena_release(&a);
}

static void put_access(struct script *c, const struct sample *x)
{
	const struct detail *d = sample_detail(&c->p->samples, x);
	if (c->fields & SCRIPT_ADDR)
		put_addr(c, x, d);
	if (c->fields & SCRIPT_DATA_SRC)
		put_data_src(c, d);
	if (c->fields & SCRIPT_WEIGHT)
		put_padded(&c->out, d->weight, 16, ' ');
	if (c->fields & SCRIPT_INS_LAT)
		put_padded(&c->out, d->ins_lat, 16, ' ');
}

static void put_pages(struct script *c, const struct sample *x)
{
	const struct detail *d = sample_detail(&c->p->samples, x);
	struct arena a = { 0 };
	if (c->fields & SCRIPT_PHYS_ADDR)
		put_hex(&c->out, d->phys_addr, 16);
	if (c->fields & SCRIPT_DATA_PAGE_SIZE) {
		sink_char(&c->out, ' ');
		sink_str(&c->out, page_size_text(&a, d->data_page_size));
	}
	if (c->fields & SCRIPT_CODE_PAGE_SIZE) {
		sink_char(&c->out, ' ');
		sink_str(&c->out, page_size_text(&a, d->code_page_size));
	}
	arena_release(&a);
}

/* ---- the CPU's state ---- */

struct register_name {
	const char *text;
	int n;
};

enum { REGISTERS_MAX = 64 };

/* From "AX BX . CX": by number. A number without a name has none. */
static void split_names(const char *names, struct register_name ret[REGISTERS_MAX])
{
	memset(ret, 0, REGISTERS_MAX * sizeof(*ret));
	for (size_t i = 0; i < REGISTERS_MAX && *names; i++) {
		size_t n = strcspn(names, " ");
		ret[i] = (struct register_name){ names, *names == '.' ? 0 : (int)n };
		names += n + (names[n] == ' ');
	}
}

static void put_registers(struct script *c, const struct detail *d, uint64_t at)
{
	struct register_name names[REGISTERS_MAX];
	if (!at)
		return;
	const struct detail_registers r = detail_registers(c->p->samples.words, at);
	char text[64];
	size_t k = 0;
	split_names(string_of(c, d->register_names), names);
	sink_bytes(&c->out, text, (size_t)snprintf(text, sizeof(text), " ABI:%" PRIu64 " ", r.abi));
	for (unsigned i = 0; i < REGISTERS_MAX; i++) {
		int n;
		if (!(r.mask >> i & 1))
			continue;
		if (names[i].n)
			n = snprintf(text, sizeof(text), "%5.*s:0x%" PRIx64 " ", names[i].n,
				     names[i].text, r.values[k]);
		else
			n = snprintf(text, sizeof(text), "%5s:0x%" PRIx64 " ", "unknown",
				     r.values[k]);
		sink_bytes(&c->out, text, (size_t)n);
		k++;
	}
}

static void json_registers(struct script *c, bool *first, const char *key, const struct detail *d,
			   uint64_t at)
{
	struct register_name names[REGISTERS_MAX];
	if (!at)
		return;
	const struct detail_registers r = detail_registers(c->p->samples.words, at);
	char text[64];
	size_t k = 0;
	split_names(string_of(c, d->register_names), names);
	json_key(&c->out, first, key);
	sink_bytes(&c->out, text, (size_t)snprintf(text, sizeof(text), "{\"abi\":%" PRIu64, r.abi));
	for (unsigned i = 0; i < REGISTERS_MAX; i++) {
		int n;
		if (!(r.mask >> i & 1))
			continue;
		if (names[i].n)
			n = snprintf(text, sizeof(text), ",\"%.*s\":\"0x%" PRIx64 "\"", names[i].n,
				     names[i].text, r.values[k]);
		else
			n = snprintf(text, sizeof(text), ",\"%u\":\"0x%" PRIx64 "\"", i,
				     r.values[k]);
		sink_bytes(&c->out, text, (size_t)n);
		k++;
	}
	sink_char(&c->out, '}');
}

static struct shown_frame end_of_branch(struct script *c, frameid frame)
{
	struct shown_frame f = { .object = "[unknown]" };
	if (!frame)
		return f;
	f.frame = &c->p->samples.frames[frame];
	f.addr = f.frame->addr;
	f.object = program_object_name(c->g, f.frame->object);
	name_frame(c, frame, &f);
	return f;
}

/* As an address, a place in a file, or a function. */
static void put_end(struct script *c, unsigned field, uint64_t addr, frameid frame)
{
	struct sink *s = &c->out;
	struct shown_frame f = end_of_branch(c, frame);
	if (field != SCRIPT_BRSTACKSYM) {
		sink_str(s, "0x");
		put_hex(s, field == SCRIPT_BRSTACKOFF && frame ? f.addr : addr, 0);
	} else {
		put_safe(s, f.name ? f.name : "[unknown]");
		if (f.name && f.has_offset) {
			sink_str(s, "+0x");
			put_hex(s, f.offset, 0);
		}
	}
	if (c->fields & SCRIPT_DSO) {
		sink_char(s, '(');
		put_safe(s, f.object);
		sink_char(s, ')');
	}
}

static void put_branches(struct script *c, const struct detail *d)
{
	struct sink *s = &c->out;
	unsigned field = c->fields & SCRIPT_BRSTACK      ? SCRIPT_BRSTACK
			 : c->fields & SCRIPT_BRSTACKSYM ? SCRIPT_BRSTACKSYM
							 : SCRIPT_BRSTACKOFF;
	size_t n;
	const struct taken_branch *b = detail_branches(c->p->samples.words, d, &n);
	for (size_t i = 0; i < n; i++) {
		if (field != SCRIPT_BRSTACKSYM)
			sink_char(s, ' ');
		put_end(c, field, b[i].from, b[i].source);
		sink_char(s, '/');
		put_end(c, field, b[i].to, b[i].target);
		sink_char(s, '/');
		sink_char(s, b[i].flags & BRANCH_MISPREDICTED ? 'M'
			     : b[i].flags & BRANCH_PREDICTED  ? 'P'
							      : '-');
		sink_str(s, b[i].flags & BRANCH_IN_TX ? "/X" : "/-");
		sink_str(s, b[i].flags & BRANCH_ABORT ? "/A/" : "/-/");
		put_number(s, branch_cycles(b[i].flags));
		sink_str(s, "/ ");
	}
}

static void json_end(struct script *c, bool *first, const char *end, uint64_t addr, frameid frame)
{
	struct shown_frame f = end_of_branch(c, frame);
	char key[24];
	json_key(&c->out, first, end);
	sink_str(&c->out, "\"0x");
	put_hex(&c->out, addr, 0);
	sink_char(&c->out, '"');
	if (f.name) {
		snprintf(key, sizeof(key), "%s_sym", end);
		json_key(&c->out, first, key);
		json_string(&c->out, f.name);
	}
	if (frame) {
		snprintf(key, sizeof(key), "%s_dso", end);
		json_key(&c->out, first, key);
		json_string(&c->out, f.object);
	}
}

static void json_branches(struct script *c, const struct detail *d)
{
	size_t n;
	const struct taken_branch *b = detail_branches(c->p->samples.words, d, &n);
	sink_char(&c->out, '[');
	for (size_t i = 0; i < n; i++) {
		bool first = true;
		sink_str(&c->out, i ? ",{" : "{");
		json_end(c, &first, "from", b[i].from, b[i].source);
		json_end(c, &first, "to", b[i].to, b[i].target);
		if (b[i].flags & (BRANCH_MISPREDICTED | BRANCH_PREDICTED)) {
			json_key(&c->out, &first, "mispredicted");
			sink_str(&c->out, b[i].flags & BRANCH_MISPREDICTED ? "true" : "false");
		}
		json_key(&c->out, &first, "cycles");
		put_number(&c->out, branch_cycles(b[i].flags));
		sink_char(&c->out, '}');
	}
	sink_char(&c->out, ']');
}

static void put_state(struct script *c, const struct sample *x)
{
	const struct detail *d = sample_detail(&c->p->samples, x);
	if (c->fields & SCRIPT_IREGS)
		put_registers(c, d, d->interrupt_registers);
	if (c->fields & SCRIPT_UREGS)
		put_registers(c, d, d->user_registers);
	if (c->fields & (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF))
		put_branches(c, d);
}

/* ---- the instruction ---- */

static const uint8_t *code_of(const struct script *c, const struct sample *x, size_t *size)
{
	const uint8_t *code = program_code(c->g, c->p->samples.stacks[x->stack].frame, size);
	if (!code)
		*size = 0;
	return code;
}

static void put_instruction(struct script *c, const struct sample *x)
{
	size_t n;
	const uint8_t *code = code_of(c, x, &n);
	char text[8];
	if (c->fields & SCRIPT_INSNLEN) {
		sink_str(&c->out, " ilen: ");
		put_number(&c->out, n);
	}
	if (c->fields & SCRIPT_INSN && code) {
		sink_str(&c->out, " insn:");
		for (size_t i = 0; i < n; i++)
			sink_bytes(&c->out, text,
				   (size_t)snprintf(text, sizeof(text), " %02x", code[i]));
	}
}

static void json_instruction(struct script *c, bool *first, const struct sample *x)
{
	size_t n;
	const uint8_t *code = code_of(c, x, &n);
	char text[8];
	if (c->fields & SCRIPT_INSN && code) {
		json_key(&c->out, first, "insn");
		sink_char(&c->out, '"');
		for (size_t i = 0; i < n; i++)
			sink_bytes(&c->out, text,
				   (size_t)snprintf(text, sizeof(text), "%02x", code[i]));
		sink_char(&c->out, '"');
	}
	if (c->fields & SCRIPT_INSNLEN && code) {
		json_key(&c->out, first, "insnlen");
		put_number(&c->out, n);
	}
}

/* ---- the source line ---- */

/* NULL: not at hand. */
static const uint8_t *source_of(struct script *c, const struct sample *x, struct srcloc *where,
				size_t *n)
{
	const uint8_t *text;
	if (!c->o->source || !program_line(c->g, c->p->samples.stacks[x->stack].frame, where) ||
	    !where->file || !where->line ||
	    !c->o->source(c->o->arg, where->file, where->line, &text, n))
		return NULL;
	return text;
}

/* False if this is the line that was shown of the thread last. */
static bool is_new_source(struct script *c, const struct sample *x, const struct srcloc *where)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	uint32_t *index = map64_at(&c->source_of, MAP64_PAIR(t->pid, t->tid));
	if (*index == NONE) {
		*index = (uint32_t)c->sources.n;
		vec_push(&c->sources, *where);
		return true;
	}
	struct srcloc *last = &c->sources.at[*index];
	bool same = last->line == where->line && !strcmp(last->file, where->file);
	*last = *where;
	return !same;
}

static void put_source(struct script *c, const struct sample *x)
{
	struct srcloc where;
	size_t n;
	const uint8_t *text = source_of(c, x, &where, &n);
	char line[16];
	if (!text || !is_new_source(c, x, &where))
		return;
	sink_bytes(&c->out, line,
		   (size_t)snprintf(line, sizeof(line), "|%-8" PRIu32 " ", where.line));
	char *copy = xprintf("%.*s", (int)n, (const char *)text);
	for (char *at = copy, *tab;; at = tab + 1) {
		tab = strchr(at, '\t');
		if (tab)
			*tab = '\0';
		put_safe(&c->out, at);
		if (!tab)
			break;
		sink_char(&c->out, '\t');
	}
	free(copy);
	sink_char(&c->out, '\n');
}

static void json_source(struct script *c, bool *first, const struct sample *x)
{
	struct srcloc where;
	size_t n;
	const uint8_t *text = source_of(c, x, &where, &n);
	if (!text)
		return;
	char *copy = xprintf("%.*s", (int)n, (const char *)text);
	json_key(&c->out, first, "srccode");
	json_string(&c->out, copy);
	free(copy);
}

/* ---- the time of day ---- */

/* "2026-01-31 14:25:01.123456" */
static size_t day_text(const struct script *c, const struct sample *x, char text[64])
{
	const struct source *source = &c->p->sources[x->source];
	uint64_t ns = x->time_ns + source->day_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!source->has_day || !x->time_ns || !localtime_r(&seconds, &tm))
		return 0;
	size_t n = strftime(text, 64, "%F %T", &tm);
	int digits = c->o->nanoseconds ? 9 : 6;
	unsigned part = (unsigned)(ns % 1000000000 / (digits == 9 ? 1 : 1000));
	return n + (size_t)snprintf(text + n, 64 - n, ".%0*u", digits, part);
}

static void put_day(struct script *c, const struct sample *x)
{
	char text[64];
	sink_bytes(&c->out, text, day_text(c, x, text));
	sink_char(&c->out, ' ');
}

static void json_day(struct script *c, bool *first, const struct sample *x)
{
	char text[64];
	size_t n = day_text(c, x, text);
	if (!n)
		return;
	json_key(&c->out, first, "tod");
	sink_char(&c->out, '"');
	sink_bytes(&c->out, text, n);
	sink_char(&c->out, '"');
}

/* ---- the line of a sample ---- */

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
	uint64_t which = c->fields;
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
	if (which & SCRIPT_TOD)
		put_day(c, x);
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
	const struct event *e = &c->p->samples.events[x->event];
	text_header(c, x);
	/* Where no frame is asked for, perf walks no dump, and knows the leaf alone. */
	bool has_stack = c->stacks[x->event] && !(c->o->no_frames && e->is_dumped);
	if (c->fields & OF_FRAMES && has_stack) {
		sink_char(&c->out, '\n');
		put_frames(c, x->stack, e);
	} else if (c->fields & OF_FRAMES && !has_fields(c, x)) {
		put_leaf(c, x->stack, e);
	}
	if (c->fields & SCRIPT_OF_STATE)
		put_state(c, x);
	if (c->fields & OF_INSTRUCTION)
		put_instruction(c, x);
	if (c->fields & (SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN))
		branch_code_put(&c->out, c->g, c->p, x, c->fields & SCRIPT_BRSTACKINSNLEN);
	put_pages(c, x);
	sink_char(&c->out, '\n');
	if (c->fields & SCRIPT_SRCCODE)
		put_source(c, x);
}

static void json_number(struct script *c, bool *first, const char *key, uint64_t v)
{
	json_key(&c->out, first, key);
	put_number(&c->out, v);
}

static void json_access(struct script *c, bool *first, const struct detail *d)
{
	const struct {
		enum script_field field;
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ SCRIPT_ADDR, "addr", addr_of(d) },
		{ SCRIPT_WEIGHT, "weight", d->weight },
		{ SCRIPT_INS_LAT, "ins_lat", d->ins_lat },
		{ SCRIPT_PHYS_ADDR, "phys_addr", d->phys_addr },
		{ SCRIPT_DATA_SRC, "data_src", d->data_src },
		{ SCRIPT_DATA_PAGE_SIZE, "data_page_size", d->data_page_size },
		{ SCRIPT_CODE_PAGE_SIZE, "code_page_size", d->code_page_size },
	};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (c->fields & numbers[i].field)
			json_number(c, first, numbers[i].key, numbers[i].value);
}

static void json_sample(struct script *c, const struct sample *x)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	const struct detail *d = sample_detail(&c->p->samples, x);
	uint64_t which = c->fields;
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
	if (which & SCRIPT_TOD)
		json_day(c, &first, x);
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
	json_access(c, &first, d);
	if (which & SCRIPT_IREGS)
		json_registers(c, &first, "iregs", d, d->interrupt_registers);
	if (which & SCRIPT_UREGS)
		json_registers(c, &first, "uregs", d, d->user_registers);
	if (which & OF_BRANCHES) {
		json_key(s, &first, "brstack");
		json_branches(c, d);
	}
	if (which & OF_INSTRUCTION)
		json_instruction(c, &first, x);
	if (which & SCRIPT_SRCCODE)
		json_source(c, &first, x);
	if (which & OF_FRAMES) {
		json_key(s, &first, "frames");
		sink_char(s, '[');
		put_frames(c, x->stack, &c->p->samples.events[x->event]);
		sink_char(s, ']');
	}
	sink_char(s, '}');
}

/* ---- all of it ---- */

/* Where the data does not say it, the event's name does. */
static enum event_type type_of(const struct script *c, uint16_t event)
{
	static const char *const software[] = {
		"page-faults",      "faults",     "minor-faults",
		"major-faults",     "cs",         "context-switches",
		"cpu-migrations",   "migrations", "alignment-faults",
		"emulation-faults", "bpf-output", "dummy"
	};
	const struct event *e = &c->p->samples.events[event];
	const char *name = string_of(c, e->name);
	if (e->type)
		return e->type;
	if (e->is_trace)
		return EVENT_TRACE_POINT;
	if (!strncmp(name, "mem:", 4))
		return EVENT_BREAKPOINT;
	for (size_t i = 0; i < ARRAY_LEN(software); i++)
		if (!strncmp(name, software[i], strlen(software[i])))
			return EVENT_SOFTWARE;
	return e->unit == EVENT_NS ? EVENT_SOFTWARE : EVENT_HARDWARE;
}

/* Types whose samples have the same fields of frames share the frames' texts. Returns how many
 * variants there are. */
static size_t choose_variants(struct script *c)
{
	uint64_t seen[EVENT_TYPES];
	size_t n = 0;
	for (size_t i = 0; i < EVENT_TYPES; i++) {
		uint64_t of_frames = c->o->fields.of[i] & (OF_FRAMES | SCRIPT_SYMOFF);
		unsigned k = 0;
		while (k < n && seen[k] != of_frames)
			k++;
		if (k == n)
			seen[n++] = of_frames;
		c->variant_of[i] = k;
	}
	return n;
}

/* What no sample has, and how to record it. */
static struct kin_error *check_fields(const struct script *c)
{
	const struct samples *s = &c->p->samples;
	uint64_t there = 0;
	for (size_t i = 1; i < s->n_details; i++) {
		const struct detail *d = &s->details[i];
		there |= d->interrupt_registers ? SCRIPT_IREGS : 0;
		there |= d->user_registers ? SCRIPT_UREGS : 0;
		there |= d->branches ? SCRIPT_BRSTACK : 0;
		there |= d->has & DETAIL_DATA_SRC ? SCRIPT_DATA_SRC : 0;
		there |= d->has & DETAIL_DATA_PAGE ? SCRIPT_DATA_PAGE_SIZE : 0;
		there |= d->has & DETAIL_CODE_PAGE ? SCRIPT_CODE_PAGE_SIZE : 0;
	}
	there |= there & SCRIPT_BRSTACK ? OF_BRANCHES : 0;
	for (size_t i = 0; i < c->p->n_sources; i++)
		there |= c->p->sources[i].has_day ? SCRIPT_TOD : 0;
	static const struct {
		uint64_t field;
		const char *name, *command;
	} sources[] = {
		{ SCRIPT_IREGS, "iregs", "kin record --intr-regs" },
		{ SCRIPT_UREGS, "uregs", "perf record --user-regs" },
		{ SCRIPT_BRSTACK, "brstack", "kin record -b" },
		{ SCRIPT_BRSTACKSYM, "brstacksym", "kin record -b" },
		{ SCRIPT_BRSTACKOFF, "brstackoff", "kin record -b" },
		{ SCRIPT_BRSTACKINSN, "brstackinsn", "kin record -b" },
		{ SCRIPT_BRSTACKINSNLEN, "brstackinsnlen", "kin record -b" },
		{ SCRIPT_DATA_SRC, "data_src", "kin record -d" },
		{ SCRIPT_DATA_PAGE_SIZE, "data_page_size", "kin record --data-page-size" },
		{ SCRIPT_CODE_PAGE_SIZE, "code_page_size", "kin record --code-page-size" },
		{ SCRIPT_TOD, "tod", "perf record -k monotonic" },
	};
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (!(there & sources[i].field) &&
		    script_fields_any(&c->o->fields, sources[i].field))
			return err_new(KIN_ERROR_USAGE,
				       "--columns: no sample here has %s: %s records it",
				       sources[i].name, sources[i].command);
	return NULL;
}

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

static void json_markers(struct script *c)
{
	const struct samples *s = &c->p->samples;
	for (size_t i = 0; i < s->n_markers; i++) {
		sink_str(&c->out, i ? ",\n  {\"name\":" : "],\n\"markers\":[\n  {\"name\":");
		json_string(&c->out, string_of(c, s->markers[i].name));
		sink_str(&c->out, ",\"time\":");
		put_time(&c->out, s->markers[i].time_ns, true, 0);
		sink_char(&c->out, '}');
	}
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
	json_markers(c);
	sink_str(&c->out, "],\n\"samples\":[");
}

static bool is_wanted(struct script *c, const struct sample *x)
{
	return c->o->fields.of[type_of(c, x->event)] && c->wanted[x->event] &&
	       (!c->o->filter || sample_filter_passes(c->o->filter, x)) &&
	       leaf_filter_passes(c->leaves, x);
}

/* Those up to a time, as comments: who reads samples passes over them. */
static void put_markers(struct script *c, size_t *next, uint64_t to_ns)
{
	const struct samples *s = &c->p->samples;
	for (; *next < s->n_markers && s->markers[*next].time_ns <= to_ns; ++*next) {
		const struct marker *m = &s->markers[*next];
		sink_str(&c->out, "# marker ");
		put_time(&c->out, m->time_ns > c->from_ns ? m->time_ns - c->from_ns : 0,
			 c->o->nanoseconds, 5);
		sink_str(&c->out, ": ");
		put_safe(&c->out, string_of(c, m->name));
		sink_str(&c->out, "\n\n");
	}
}

static void put_samples(struct script *c)
{
	const struct samples *s = &c->p->samples;
	size_t marker = 0;
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (!is_wanted(c, x))
			continue;
		if ((c->o->relative || c->o->delta) && !any)
			c->from_ns = x->time_ns;
		c->fields = c->o->fields.of[type_of(c, x->event)];
		c->variant = c->variant_of[type_of(c, x->event)];
		if (c->o->json) {
			sink_str(&c->out, any ? ",\n  " : "\n  ");
			json_sample(c, x);
		} else {
			put_markers(c, &marker, x->time_ns);
			text_sample(c, x);
		}
		if (c->o->delta)
			c->from_ns = x->time_ns;
		any = true;
	}
	if (!c->o->json && any)
		put_markers(c, &marker, UINT64_MAX);
}

struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
			       const struct script_opts *opts)
{
	struct script *c = xalloc(sizeof(*c)); /* has large buffers */
	*c = (struct script){ .p = p, .g = g, .o = opts };
	c->of_frame =
		xalloc(2 * (p->samples.n_frames * choose_variants(c) + 1) * sizeof(*c->of_frame));
	c->leaves = leaf_filter_new(p, g, opts->functions, opts->objects);
	c->stops = opts->stop_at ? leaf_filter_new(p, g, opts->stop_at, NULL) : NULL;
	c->making = open_memstream(&c->pieces, &c->pieces_size);
	struct kin_error *err = c->making ? check_fields(c) : err_os(errno, "writing samples");
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
		else if (ferror(c->making)) /* it is memory */
			err = err_os(ENOMEM, "writing samples");
	}
	if (c->making)
		fclose(c->making);
	free(c->pieces);
	map64_free(&c->source_of);
	vec_free(&c->sources);
	free(c->of_frame);
	free(c->wanted);
	free(c->stacks);
	leaf_filter_free(c->leaves);
	leaf_filter_free(c->stops);
	free(c);
	return err;
}

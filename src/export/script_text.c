/* script_text.c - samples as perf script prints them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "export/branch_code.h"
#include "export/script_private.h"
#include "profile/access.h"

/* ---- a frame ---- */

void script_text_frame(struct sink *s, uint64_t which, const struct shown_frame *f)
{
	sink_char(s, '\t');
	if (which & SCRIPT_IP)
		script_put_hex(s, f->addr, 16);
	if (which & SCRIPT_SYM) {
		if (which & SCRIPT_IP)
			sink_char(s, ' ');
		script_put_safe(s, f->name ? f->name : "[unknown]");
		if (which & SCRIPT_SYMOFF && f->has_offset) {
			sink_str(s, "+0x");
			script_put_hex(s, f->offset, 0);
		}
	}
	if (f->inlined) {
		sink_str(s, " (inlined)");
	} else if (which & SCRIPT_DSO) {
		sink_str(s, " (");
		script_put_safe(s, f->object);
		sink_char(s, ')');
	}
	if (which & SCRIPT_SRCLINE && f->line.file) {
		sink_str(s, "\n  ");
		script_put_safe(s, f->line.file);
		sink_char(s, ':');
		script_put_number(s, f->line.line);
	} else if (which & SCRIPT_SRCLINE && f->has_no_file) {
		sink_str(s, "\n  ");
		script_put_safe(s, f->object);
		sink_char(s, '[');
		script_put_hex(s, f->addr, 0);
		sink_char(s, ']');
	}
	sink_char(s, '\n');
}

/* ---- the thread ---- */

enum { COMM_WIDTH = 16, TASK_WIDTH = 5 };

/* The thread's name, right-aligned. */
static void put_comm(struct script *c, const struct task *t, size_t width)
{
	const char *comm = script_string(c, t->comm);
	char made[NUM_MAX + 2];
	if (!*comm) {
		snprintf(made, sizeof(made), ":%" PRIu32, t->tid);
		comm = made;
	}
	size_t n = strlen(comm);
	sink_pad(&c->out, n < width ? width - n : 0);
	script_put_safe(&c->out, comm);
}

/* The thread's number after its process, left-aligned. */
static void put_tid(struct sink *s, uint32_t tid)
{
	char text[NUM_MAX];
	size_t n = num_u64(text, tid);
	sink_char(s, '/');
	sink_bytes(s, text, n);
	sink_pad(s, n < TASK_WIDTH ? TASK_WIDTH - n : 0);
}

/* ---- accesses to memory ---- */

/* Whether the event is a page fault. perf names the function at the address of a fault. */
static bool is_fault(const struct script *c, const struct sample *x)
{
	const char *name = script_string(c, c->p->samples.events[x->event].name);
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
	script_put_hex(s, script_addr(d), 16);
	if (!is_fault(c, x))
		return;
	struct shown_frame f = { .addr = 0 };
	if (d->target) {
		f.addr = c->p->samples.frames[d->target].addr;
		script_name_frame(c, d->target, &f);
	}
	if (c->fields & SCRIPT_SYM) {
		sink_char(s, ' ');
		script_put_safe(s, f.name ? f.name : "[unknown]");
		if (c->fields & SCRIPT_SYMOFF && f.name && f.has_offset) {
			sink_str(s, "+0x");
			script_put_hex(s, f.offset, 0);
		}
	}
	if (c->fields & SCRIPT_DSO) {
		sink_str(s, " (");
		script_put_safe(s, d->target ? program_object_name(
						       c->g, c->p->samples.frames[d->target].object)
					     : "[unknown]");
		sink_char(s, ')');
	}
}

/* "|OP LOAD|LVL L1 hit|...": cut like perf does, and padded to the widest text so far. */
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
	script_put_hex(&c->out, d->data_src, 16);
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
		script_put_padded(&c->out, d->weight, 16, ' ');
	if (c->fields & SCRIPT_INS_LAT)
		script_put_padded(&c->out, d->ins_lat, 16, ' ');
}

static void put_pages(struct script *c, const struct sample *x)
{
	const struct detail *d = sample_detail(&c->p->samples, x);
	struct arena a = { 0 };
	if (c->fields & SCRIPT_PHYS_ADDR)
		script_put_hex(&c->out, d->phys_addr, 16);
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

static void put_registers(struct script *c, const struct detail *d, uint64_t at)
{
	char text[64];
	if (!at)
		return;
	const struct sampled_registers r = script_registers(c, d, at);
	sink_bytes(&c->out, text, (size_t)snprintf(text, sizeof(text), " ABI:%" PRIu64 " ", r.abi));
	for (size_t i = 0; i < r.n; i++) {
		const struct sampled_register *x = &r.at[i];
		int n = x->n ? snprintf(text, sizeof(text), "%5.*s:0x%" PRIx64 " ", x->n, x->name,
					x->value)
			     : snprintf(text, sizeof(text), "%5s:0x%" PRIx64 " ", "unknown",
					x->value);
		sink_bytes(&c->out, text, (size_t)n);
	}
}

/* One end of a branch: as an address, an address in a file, or a function. */
static void put_end(struct script *c, unsigned field, uint64_t addr, frameid frame)
{
	struct sink *s = &c->out;
	struct shown_frame f = script_branch_end(c, frame);
	if (field != SCRIPT_BRSTACKSYM) {
		sink_str(s, "0x");
		script_put_hex(s, field == SCRIPT_BRSTACKOFF && frame ? f.addr : addr, 0);
	} else {
		script_put_safe(s, f.name ? f.name : "[unknown]");
		if (f.name && f.has_offset) {
			sink_str(s, "+0x");
			script_put_hex(s, f.offset, 0);
		}
	}
	if (c->fields & SCRIPT_DSO) {
		sink_char(s, '(');
		script_put_safe(s, f.object);
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
		script_put_number(s, branch_cycles(b[i].flags));
		sink_str(s, "/ ");
	}
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

/* ---- the instruction, the source line, the time of day ---- */

static void put_instruction(struct script *c, const struct sample *x)
{
	size_t n;
	const uint8_t *code = script_code(c, x, &n);
	char text[8];
	if (c->fields & SCRIPT_INSNLEN) {
		sink_str(&c->out, " ilen: ");
		script_put_number(&c->out, n);
	}
	if (c->fields & SCRIPT_INSN && code) {
		sink_str(&c->out, " insn:");
		for (size_t i = 0; i < n; i++)
			sink_bytes(&c->out, text,
				   (size_t)snprintf(text, sizeof(text), " %02x", code[i]));
	}
}

/* False if this line was the last one shown for the thread. */
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
	const uint8_t *text = script_source(c, x, &where, &n);
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
		script_put_safe(&c->out, at);
		if (!tab)
			break;
		sink_char(&c->out, '\t');
	}
	free(copy);
	sink_char(&c->out, '\n');
}

static void put_day(struct script *c, const struct sample *x)
{
	char text[64];
	sink_bytes(&c->out, text, script_day(c, x, text));
	sink_char(&c->out, ' ');
}

/* ---- the line of a sample ---- */

static void text_header(struct script *c, const struct sample *x)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	uint64_t which = c->fields;
	struct sink *s = &c->out;

	if (which & SCRIPT_COMM) {
		put_comm(c, t, which & SCRIPT_OF_FRAMES && c->stacks[x->event] ? 0 : COMM_WIDTH);
		sink_char(s, ' ');
	}
	if (which & (SCRIPT_PID | SCRIPT_TID)) {
		script_put_padded(s, which & SCRIPT_PID ? t->pid : t->tid, TASK_WIDTH, ' ');
		if (which & SCRIPT_PID && which & SCRIPT_TID)
			put_tid(s, t->tid);
		sink_char(s, ' ');
	}
	if (which & SCRIPT_CPU && x->cpu != CPU_NONE) {
		sink_char(s, '[');
		script_put_padded(s, x->cpu, 3, '0');
		sink_str(s, "] ");
	}
	if (which & SCRIPT_MISC) {
		sink_char(s, script_mode(x));
		sink_str(s, "     ");
	}
	if (which & SCRIPT_TOD)
		put_day(c, x);
	if (which & SCRIPT_TIME && !c->p->samples.events[x->event].is_timeless) {
		script_put_time(s, script_time(c, x), c->o->nanoseconds, 5);
		sink_str(s, ": ");
	}
	if (which & SCRIPT_COUNT) {
		script_put_number(s, x->count);
		sink_str(s, "x ");
	}
	if (which & SCRIPT_PERIOD && !script_has_trace(c, x)) {
		script_put_padded(s, x->weight, 10, ' ');
		sink_char(s, ' ');
	}
	if (which & SCRIPT_EVENT) {
		const char *event = script_string(c, event_title(&c->p->samples.events[x->event]));
		size_t n = strlen(event);
		for (; n < (size_t)c->event_width; n++)
			sink_char(s, ' ');
		script_put_safe(s, event);
		sink_str(s, ": ");
	}
	if (which & SCRIPT_FLAGS)
		sink_str(s, "                        ");
	const char *trace = script_trace(c, x);
	if (trace)
		script_put_safe(s, trace);
	put_access(c, x);
}

void script_text_sample(struct script *c, const struct sample *x)
{
	const struct event *e = &c->p->samples.events[x->event];
	text_header(c, x);
	/* With frames off, perf does not walk dumped stacks: it knows only the leaf. */
	bool has_stack = c->stacks[x->event] && !(c->o->no_frames && e->is_dumped);
	if (c->fields & SCRIPT_OF_FRAMES && has_stack) {
		sink_char(&c->out, '\n');
		script_put_frames(c, x->stack, e);
	} else if (c->fields & SCRIPT_OF_FRAMES && !script_has_trace(c, x)) {
		script_put_leaf(c, x->stack, e);
	}
	if (c->fields & SCRIPT_OF_STATE)
		put_state(c, x);
	if (c->fields & SCRIPT_OF_INSTRUCTION)
		put_instruction(c, x);
	if (c->fields & (SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN))
		branch_code_put(&c->out, c->g, c->p, x, c->fields & SCRIPT_BRSTACKINSNLEN);
	put_pages(c, x);
	sink_char(&c->out, '\n');
	if (c->fields & SCRIPT_SRCCODE)
		put_source(c, x);
}

void script_text_markers(struct script *c, size_t *next, uint64_t to_ns)
{
	const struct samples *s = &c->p->samples;
	for (; *next < s->n_markers && s->markers[*next].time_ns <= to_ns; ++*next) {
		const struct marker *m = &s->markers[*next];
		sink_str(&c->out, "# marker ");
		script_put_time(&c->out, m->time_ns > c->from_ns ? m->time_ns - c->from_ns : 0,
				c->o->nanoseconds, 5);
		sink_str(&c->out, ": ");
		script_put_safe(&c->out, script_string(c, m->name));
		sink_str(&c->out, "\n\n");
	}
}

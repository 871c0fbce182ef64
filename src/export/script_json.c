/* script_json.c - samples as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "export/script_private.h"

static void json_key(struct sink *s, bool *first, const char *key)
{
	sink_str(s, *first ? "\"" : ",\"");
	sink_str(s, key);
	sink_str(s, "\":");
	*first = false;
}

static void json_number(struct script *c, bool *first, const char *key, uint64_t v)
{
	json_key(&c->out, first, key);
	script_put_number(&c->out, v);
}

void script_json_frame(struct sink *s, uint64_t which, const struct shown_frame *f)
{
	bool first = true;
	sink_char(s, '{');
	if (which & SCRIPT_IP && (f->addr || !f->frame->name)) {
		json_key(s, &first, "ip");
		sink_str(s, "\"0x");
		script_put_hex(s, f->addr, 0);
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
			script_put_number(s, f->offset);
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
		script_put_number(s, f->line.line);
	}
	sink_char(s, '}');
}

static void json_registers(struct script *c, bool *first, const char *key, const struct detail *d,
			   uint64_t at)
{
	char text[64];
	if (!at)
		return;
	const struct sampled_registers r = script_registers(c, d, at);
	json_key(&c->out, first, key);
	sink_bytes(&c->out, text, (size_t)snprintf(text, sizeof(text), "{\"abi\":%" PRIu64, r.abi));
	for (size_t i = 0; i < r.n; i++) {
		const struct sampled_register *x = &r.at[i];
		int n = x->n ? snprintf(text, sizeof(text), ",\"%.*s\":\"0x%" PRIx64 "\"", x->n,
					x->name, x->value)
			     : snprintf(text, sizeof(text), ",\"%u\":\"0x%" PRIx64 "\"", x->number,
					x->value);
		sink_bytes(&c->out, text, (size_t)n);
	}
	sink_char(&c->out, '}');
}

static void json_end(struct script *c, bool *first, const char *end, uint64_t addr, frameid frame)
{
	struct shown_frame f = script_branch_end(c, frame);
	char key[24];
	json_key(&c->out, first, end);
	sink_str(&c->out, "\"0x");
	script_put_hex(&c->out, addr, 0);
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
		script_put_number(&c->out, branch_cycles(b[i].flags));
		sink_char(&c->out, '}');
	}
	sink_char(&c->out, ']');
}

static void json_instruction(struct script *c, bool *first, const struct sample *x)
{
	size_t n;
	const uint8_t *code = script_code(c, x, &n);
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
		script_put_number(&c->out, n);
	}
}

static void json_source(struct script *c, bool *first, const struct sample *x)
{
	struct srcloc where;
	size_t n;
	const uint8_t *text = script_source(c, x, &where, &n);
	if (!text)
		return;
	char *copy = xprintf("%.*s", (int)n, (const char *)text);
	json_key(&c->out, first, "srccode");
	json_string(&c->out, copy);
	free(copy);
}

static void json_day(struct script *c, bool *first, const struct sample *x)
{
	char text[64];
	size_t n = script_day(c, x, text);
	if (!n)
		return;
	json_key(&c->out, first, "tod");
	sink_char(&c->out, '"');
	sink_bytes(&c->out, text, n);
	sink_char(&c->out, '"');
}

static void json_access(struct script *c, bool *first, const struct detail *d)
{
	const struct {
		enum script_field field;
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ SCRIPT_ADDR, "addr", script_addr(d) },
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

void script_json_sample(struct script *c, const struct sample *x)
{
	const struct task *t = &c->p->samples.tasks[x->task];
	const struct detail *d = sample_detail(&c->p->samples, x);
	uint64_t which = c->fields;
	struct sink *s = &c->out;
	bool first = true;

	sink_char(s, '{');
	if (which & SCRIPT_COMM) {
		json_key(s, &first, "comm");
		json_string(s, script_string(c, t->comm));
	}
	if (which & SCRIPT_PID)
		json_number(c, &first, "pid", t->pid);
	if (which & SCRIPT_TID)
		json_number(c, &first, "tid", t->tid);
	if (which & SCRIPT_CPU && x->cpu != CPU_NONE)
		json_number(c, &first, "cpu", x->cpu);
	if (which & SCRIPT_MISC) {
		char mode[2] = { script_mode(x), '\0' };
		json_key(s, &first, "misc");
		json_string(s, mode);
	}
	if (which & SCRIPT_TOD)
		json_day(c, &first, x);
	if (which & SCRIPT_TIME && x->time_ns) {
		json_key(s, &first, "time");
		script_put_time(s, script_time(c, x), true, 0);
	}
	if (which & SCRIPT_COUNT)
		json_number(c, &first, "count", x->count);
	if (which & SCRIPT_PERIOD)
		json_number(c, &first, "period", x->weight);
	if (which & SCRIPT_EVENT) {
		json_key(s, &first, "event");
		json_string(s, script_string(c, c->p->samples.events[x->event].name));
	}
	if (script_trace(c, x)) {
		json_key(s, &first, "trace");
		json_string(s, script_trace(c, x));
	}
	json_access(c, &first, d);
	if (which & SCRIPT_IREGS)
		json_registers(c, &first, "iregs", d, d->interrupt_registers);
	if (which & SCRIPT_UREGS)
		json_registers(c, &first, "uregs", d, d->user_registers);
	if (which & SCRIPT_OF_BRANCHES) {
		json_key(s, &first, "brstack");
		json_branches(c, d);
	}
	if (which & SCRIPT_OF_INSTRUCTION)
		json_instruction(c, &first, x);
	if (which & SCRIPT_SRCCODE)
		json_source(c, &first, x);
	if (which & SCRIPT_OF_FRAMES) {
		json_key(s, &first, "frames");
		sink_char(s, '[');
		script_put_frames(c, x->stack, &c->p->samples.events[x->event]);
		sink_char(s, ']');
	}
	sink_char(s, '}');
}

/* ---- before the samples ---- */

static void json_markers(struct script *c)
{
	const struct samples *s = &c->p->samples;
	for (size_t i = 0; i < s->n_markers; i++) {
		sink_str(&c->out, i ? ",\n  {\"name\":" : "],\n\"markers\":[\n  {\"name\":");
		json_string(&c->out, script_string(c, s->markers[i].name));
		sink_str(&c->out, ",\"time\":");
		script_put_time(&c->out, s->markers[i].time_ns, true, 0);
		sink_char(&c->out, '}');
	}
}

void script_json_events(struct script *c)
{
	bool any = false;
	sink_str(&c->out, "{\"events\":[");
	for (size_t i = 0; i < c->p->samples.n_events; i++) {
		const struct event *e = &c->p->samples.events[i];
		if (!c->wanted[i])
			continue;
		sink_str(&c->out, any ? ",\n  {\"name\":" : "\n  {\"name\":");
		json_string(&c->out, script_string(c, e->name));
		sink_str(&c->out,
			 e->unit == EVENT_NS ? ",\"unit\":\"ns\"}" : ",\"unit\":\"count\"}");
		any = true;
	}
	json_markers(c);
	sink_str(&c->out, "],\n\"samples\":[");
}

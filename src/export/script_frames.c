/* script_frames.c - texts of frames, each made once. */
#include <stdio.h>
#include <string.h>

#include "export/script_private.h"
#include "symbolize/leaf_filter.h"

static void put_frame(struct script *c, const struct shown_frame *f, bool first)
{
	if (c->o->json && !first)
		sink_char(&c->making_sink, ',');
	c->put_frame(&c->making_sink, c->fields, f);
}

void script_name_frame(struct script *c, frameid id, struct shown_frame *f)
{
	const struct frame *frame = &c->p->samples.frames[id];
	symid place = program_place(c->g, id);
	enum place_kind kind = program_kind(c->g, place);

	f->name = kind == PLACE_UNKNOWN ? NULL : program_name(c->g, place);
	if (f->name && !program_has_offsets(c->g, frame->object)) {
		f->addr = 0;
		return;
	}
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

/* Prints the functions inlined at the frame, innermost first, then the frame's own function. The
 * line belongs to the innermost one. */
static void put_functions(struct script *c, frameid id, uint64_t back)
{
	const struct frame *frame = &c->p->samples.frames[id];
	size_t n;
	const symid *inlined = program_inlines(c->g, id, &n);
	bool made_up = n && !program_has_offsets(c->g, frame->object);
	struct shown_frame f = { .frame = frame,
				 .addr = made_up ? 0 : frame->addr - back,
				 .object = program_object_name(c->g, frame->object) };

	if (c->fields & SCRIPT_SRCLINE && !program_line(c->g, id, &f.line))
		f.line.file = NULL;
	if (f.line.file && !c->o->whole_paths)
		f.line.file = base_name(f.line.file);
	for (size_t i = 0; i < n; i++) {
		f.name = program_name(c->g, inlined[i]);
		f.inlined = true;
		put_frame(c, &f, !i);
		f.line.file = NULL;
	}
	f.inlined = frame->flags & FRAME_INLINED;
	f.has_no_file =
		!n && !f.line.file && *f.object == '[' && strcmp(f.object, "[unknown]") != 0;
	script_name_frame(c, id, &f);
	put_frame(c, &f, !n);
}

/* The text of a frame. perf prints the address that it looks up: for a caller found by unwinding,
 * that is an address within the call instruction, so `back` takes 1 off a return address. */
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

/* Whether the data marks the frame as inlined, and inlined functions are to be left out. */
static bool is_inlined(const struct script *c, stackid stack)
{
	const struct samples *s = &c->p->samples;
	return c->o->no_inlines && s->frames[s->stacks[stack].frame].flags & FRAME_INLINED;
}

void script_put_leaf(struct script *c, stackid stack, const struct event *e)
{
	while (is_inlined(c, stack))
		stack = c->p->samples.stacks[stack].caller;
	if (!stack) { /* no stack: the place is not known */
		sink_str(&c->out, " [unknown]");
		return;
	}
	const struct script_piece *x = piece_of(c, c->p->samples.stacks[stack].frame, e);
	const char *begin = c->pieces + x->at, *last = memrchr(begin, '\t', x->n);
	sink_char(&c->out, ' ');
	if (last)
		sink_bytes(&c->out, last + 1, (size_t)(begin + x->n - last - 2)); /* no newline */
}

/* Marks such as [cut] are left out if the text of a perf.data is printed: perf script has no such
 * lines. */
static bool is_hidden_mark(const struct script *c, frameid frame)
{
	return c->p->samples.frames[frame].flags & FRAME_MARK && !c->o->json && c->p->n_sources &&
	       !strcmp(c->p->sources[0].kind, "perf.data");
}

void script_put_frames(struct script *c, stackid stack, const struct event *e)
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

struct shown_frame script_branch_end(struct script *c, frameid frame)
{
	struct shown_frame f = { .object = "[unknown]" };
	if (!frame)
		return f;
	f.frame = &c->p->samples.frames[frame];
	f.addr = f.frame->addr;
	f.object = program_object_name(c->g, f.frame->object);
	script_name_frame(c, frame, &f);
	return f;
}

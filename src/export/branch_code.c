/* branch_code.c - walks from the target of each branch to the next branch. */
#include "export/branch_code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"

enum {
	BLOCK_MAX = 16384 - 15, /* bytes between two branches */
	MISSED_MAX = 128,       /* bytes to search for a branch that the list lacks */
	JUMP_WIDTH = 30,
	LENGTH_MAX = 32, /* longest text of an instruction's length */
};

struct branch_walk {
	struct sink *out;
	struct program *g;
	const struct frame *frames;
	symid last; /* function of the last label; NONE: no label yet */
	bool lengths;
	uint64_t cycles;
};

struct code_spot {   /* a place in the code */
	uint64_t ip; /* run-time address */
	objid object;
	uint64_t addr; /* link-time address in the object */
};

static struct code_spot spot_of(const struct branch_walk *w, uint64_t ip, frameid frame)
{
	return (struct code_spot){ ip, w->frames[frame].object, w->frames[frame].addr };
}

static struct code_spot spot_after(struct code_spot s, uint64_t bytes)
{
	return (struct code_spot){ s.ip + bytes, s.object, s.addr + bytes };
}

static void put_label(struct branch_walk *w, struct code_spot s)
{
	symid place = program_find(w->g, s.object, s.addr);
	char text[24];
	if (place == NONE || place == w->last)
		return;
	w->last = place;
	char *name = escape_copy(program_name(w->g, place));
	sink_char(w->out, '\t');
	sink_str(w->out, name);
	free(name);
	uint64_t offset = s.addr - program_start(w->g, place);
	if (offset)
		sink_bytes(w->out, text, (size_t)snprintf(text, sizeof(text), "+%" PRIu64, offset));
	sink_str(w->out, ":\n");
}

/* Writes the instruction's address and bytes. Returns how many columns the bytes took. */
static size_t put_bytes(struct branch_walk *w, struct code_spot s, const uint8_t *code, size_t n)
{
	static const char title[] = "insn: ";
	char text[24];
	sink_bytes(w->out, text, (size_t)snprintf(text, sizeof(text), "\t%016" PRIx64 "\t", s.ip));
	sink_str(w->out, title);
	for (size_t i = 0; i < n; i++)
		sink_bytes(w->out, text, (size_t)snprintf(text, sizeof(text), "%02x ", code[i]));
	return strlen(title) + 3 * n;
}

static void put_length(struct branch_walk *w, const char *before, size_t n, const char *behind)
{
	char text[LENGTH_MAX];
	if (w->lengths)
		sink_bytes(
			w->out, text,
			(size_t)snprintf(text, sizeof(text), "%silen: %zu%s", before, n, behind));
}

static void put_instruction(struct branch_walk *w, struct code_spot s, const uint8_t *code,
			    size_t n)
{
	put_bytes(w, s, code, n);
	put_length(w, "\t", n, "");
	sink_char(w->out, '\n');
}

/* Writes the branch after `n` instructions, itself included; 0: their number is not known. */
static void put_jump(struct branch_walk *w, const struct taken_branch *b, struct code_spot s,
		     unsigned n)
{
	char text[64];
	size_t size;
	const uint8_t *code = program_code_at(w->g, s.object, s.addr, &size, NULL);
	size_t width = code ? put_bytes(w, s, code, size) : 0;
	if (!code)
		return;
	sink_pad(w->out, width < JUMP_WIDTH ? JUMP_WIDTH - width : 0);
	sink_char(w->out, '\t');
	put_length(w, "", size, "\t");
	sink_char(w->out, '#');
	sink_str(w->out, b->flags & BRANCH_PREDICTED ? " PRED" : "");
	sink_str(w->out, b->flags & BRANCH_MISPREDICTED ? " MISPRED" : "");
	sink_str(w->out, b->flags & BRANCH_IN_TX ? " INTX" : "");
	sink_str(w->out, b->flags & BRANCH_ABORT ? " ABORT" : "");
	uint32_t cycles = branch_cycles(b->flags);
	w->cycles += cycles;
	if (cycles)
		sink_bytes(w->out, text,
			   (size_t)snprintf(text, sizeof(text), " %" PRIu32 " cycles [%" PRIu64 "]",
					    cycles, w->cycles));
	if (cycles && n)
		sink_bytes(w->out, text,
			   (size_t)snprintf(text, sizeof(text), " %.2f IPC", (double)n / cycles));
	sink_char(w->out, '\n');
}

static bool is_at_hand(const struct branch_walk *w, struct code_spot s)
{
	size_t size;
	return s.ip && program_code_at(w->g, s.object, s.addr, &size, NULL);
}

/* Writes the code from the target of the branch before up to branch b. */
static void put_block(struct branch_walk *w, struct code_spot start, const struct taken_branch *b)
{
	uint64_t length = b->from - start.ip, at = 0;
	unsigned n = 0;
	if (length > BLOCK_MAX || !is_at_hand(w, start))
		return;
	while (at <= length) {
		struct code_spot s = spot_after(start, at);
		size_t size;
		const uint8_t *code = program_code_at(w->g, s.object, s.addr, &size, NULL);
		n++;
		put_label(w, s);
		if (at == length) {
			put_jump(w, b, s, n);
			return;
		}
		if (!code)
			break;
		put_instruction(w, s, code, size);
		at += size;
	}
	sink_str(w->out, "\tmismatch of LBR data and executable\n");
}

/* Writes the code from the target of the last branch to the sample. If the sample lies before that
 * target, or a branch lies between them, the CPU took a branch that the list lacks. */
static void put_rest(struct branch_walk *w, struct code_spot start, struct code_spot sample)
{
	uint64_t length = sample.ip < start.ip ? MISSED_MAX : sample.ip - start.ip;
	size_t size;
	put_label(w, start);
	if (length > BLOCK_MAX || !is_at_hand(w, start)) {
		const uint8_t *code =
			program_code_at(w->g, sample.object, sample.addr, &size, NULL);
		if (code)
			put_instruction(w, sample, code, size);
		return;
	}
	for (uint64_t at = 0; at <= length; at += size) {
		struct code_spot s = spot_after(start, at);
		bool branches;
		const uint8_t *code = program_code_at(w->g, s.object, s.addr, &size, &branches);
		if (!code)
			return;
		put_instruction(w, s, code, size);
		if (branches && s.ip != sample.ip) {
			sink_str(w->out, "\t... not reaching sample ...\n");
			return;
		}
	}
}

/* Finds the run-time address of the sample from a branch end in the same object. False if there is
 * none. */
static bool find_sample(const struct branch_walk *w, const struct taken_branch *b, size_t n,
			frameid frame, struct code_spot *ret)
{
	const struct frame *f = &w->frames[frame];
	*ret = (struct code_spot){ f->addr, 0, f->addr }; /* in no object */
	for (size_t i = 0; f->object && i < 2 * n; i++) {
		frameid end = i & 1 ? b[i / 2].source : b[i / 2].target;
		uint64_t ip = i & 1 ? b[i / 2].from : b[i / 2].to;
		if (!end || w->frames[end].object != f->object)
			continue;
		*ret = (struct code_spot){ ip + (f->addr - w->frames[end].addr), f->object,
					   f->addr };
		return true;
	}
	return !f->object;
}

void branch_code_put(struct sink *out, struct program *g, const struct profile *p,
		     const struct sample *x, bool lengths)
{
	struct branch_walk w = {
		.out = out, .g = g, .frames = p->samples.frames, .last = NONE, .lengths = lengths
	};
	size_t n;
	const struct taken_branch *b =
		detail_branches(p->samples.words, sample_detail(&p->samples, x), &n);
	struct code_spot sample;
	if (!n)
		return;
	sink_char(out, '\n');
	struct code_spot first = spot_of(&w, b[n - 1].from, b[n - 1].source);
	if (is_at_hand(&w, first)) { /* the origin of its first instruction is not known */
		put_label(&w, first);
		put_jump(&w, &b[n - 1], first, 0);
	}
	for (size_t i = n - 1; i-- > 0;)
		put_block(&w, spot_of(&w, b[i + 1].to, b[i + 1].target), &b[i]);
	if (!find_sample(&w, b, n, p->samples.stacks[x->stack].frame, &sample) ||
	    b[0].from == sample.ip || b[0].flags & BRANCH_ABORT)
		return;
	put_rest(&w, spot_of(&w, b[0].to, b[0].target), sample);
}

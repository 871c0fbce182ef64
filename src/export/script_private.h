/* script_private.h - what the parts of script.c share.
 *
 * script.c goes through the samples, script_text.c and script_json.c write one each,
 * script_frames.c keeps the texts of frames, script_values.c has what both write alike. */
#ifndef EXPORT_SCRIPT_PRIVATE_H
#define EXPORT_SCRIPT_PRIVATE_H

#include <stdio.h>

#include "base/map64.h"
#include "base/sink.h"
#include "base/vec.h"
#include "export/script.h"
#include "profile/detail.h"

/* Fields that are of the same kind. */
#define SCRIPT_OF_FRAMES      (SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE)
#define SCRIPT_OF_INSTRUCTION (SCRIPT_INSN | SCRIPT_INSNLEN)
/* In JSON, the branches themselves. */
#define SCRIPT_OF_BRANCHES                                                                         \
	(SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF | SCRIPT_BRSTACKINSN |             \
	 SCRIPT_BRSTACKINSNLEN)

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

/* ---- script_frames.c ---- */

/* The frames of a stack, leaf first, but for those that are not asked for. */
void script_put_frames(struct script *c, stackid stack, const struct event *e);

/* The leaf's function behind what is said of the sample, in its line. */
void script_put_leaf(struct script *c, stackid stack, const struct event *e);

/* Sets the frame's function, and the offset from the start of that. */
void script_name_frame(struct script *c, frameid id, struct shown_frame *f);

/* An end of a branch; frame 0: not known. */
struct shown_frame script_branch_end(struct script *c, frameid frame);

/* ---- a frame, a sample, and what is around them ---- */

void script_text_frame(struct sink *s, uint64_t which, const struct shown_frame *f);
void script_json_frame(struct sink *s, uint64_t which, const struct shown_frame *f);
void script_text_sample(struct script *c, const struct sample *x);
void script_json_sample(struct script *c, const struct sample *x);

/* The markers up to a time, as comments: who reads samples passes over them. *next: the first that
 * was not written. */
void script_text_markers(struct script *c, size_t *next, uint64_t to_ns);

/* The events and markers, up to where the samples begin. */
void script_json_events(struct script *c);

/* ---- script_values.c ---- */

void script_put_hex(struct sink *s, uint64_t v, int width);
void script_put_number(struct sink *s, uint64_t v);
void script_put_padded(struct sink *s, uint64_t v, size_t width, char with);

/* Text of a file, made safe for a terminal. */
void script_put_safe(struct sink *s, const char *text);

/* Seconds: nine digits behind the point, or six; `width` of those before it. */
void script_put_time(struct sink *s, uint64_t ns, bool all_digits, size_t width);

/* Valid as long as the profile. */
const char *script_string(const struct script *c, strid id);

/* Nanoseconds since what times are shown from. */
uint64_t script_time(const struct script *c, const struct sample *x);

/* Whether it is of a trace point, and its fields are asked for: that it came there is all that it
 * stands for. */
bool script_has_trace(const struct script *c, const struct sample *x);

/* The fields of a trace point; NULL: not known. */
const char *script_trace(const struct script *c, const struct sample *x);

/* The address of an access to memory; 0: not known. */
uint64_t script_addr(const struct detail *d);

/* The CPU's mode, in perf's letters. */
char script_mode(const struct sample *x);

struct register_name { /* n == 0: it has none */
	const char *text;
	int n;
};

enum { REGISTERS_MAX = 64 };

/* From "AX BX . CX": by number. A number without a name has none. */
void script_register_names(const char *names, struct register_name ret[REGISTERS_MAX]);

/* The instruction; NULL, and a size of 0: not at hand. */
const uint8_t *script_code(const struct script *c, const struct sample *x, size_t *size);

/* The source line; NULL: not at hand. */
const uint8_t *script_source(struct script *c, const struct sample *x, struct srcloc *where,
			     size_t *n);

/* The time of day, "2026-01-31 14:25:01.123456". Returns its length; 0: not known. */
size_t script_day(const struct script *c, const struct sample *x, char text[64]);

#endif

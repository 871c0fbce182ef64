/* script_private.h - declarations shared by the parts of script.c.
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

/* Groups of fields. */
#define SCRIPT_OF_FRAMES      (SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE)
#define SCRIPT_OF_INSTRUCTION (SCRIPT_INSN | SCRIPT_INSNLEN)
/* Fields that JSON prints as branches. */
#define SCRIPT_OF_BRANCHES                                                                         \
	(SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF | SCRIPT_BRSTACKINSN |             \
	 SCRIPT_BRSTACKINSNLEN)

struct script_piece {
	uint32_t n;
	bool known;
	size_t at; /* offset in `pieces` */
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

struct script {
	const struct profile *p;
	struct program *g;
	const struct script_opts *o;
	/* script_text_frame() or script_json_frame(). */
	void (*put_frame)(struct sink *s, uint64_t which, const struct shown_frame *f);
	/* [2 * (frame + n_frames * variant) + (1 for a caller's call address)]: a variant for each
	 * set of frame fields. */
	struct script_piece *of_frame;
	unsigned variant_of[EVENT_TYPES];
	uint64_t fields; /* fields of the current sample */
	unsigned variant;
	char *pieces; /* text written through `making` */
	size_t pieces_size;
	FILE *making;
	struct sink making_sink, out;
	int event_width;
	bool *wanted;     /* [n_events] */
	bool *stacks;     /* [n_events]: frames are on lines of their own */
	uint64_t from_ns; /* times are shown relative to this */
	struct leaf_filter *leaves,
		*stops;         /* filters for `functions` and `objects`; for `stop_at`, or NULL */
	int access_width;       /* width of the widest access so far, as text */
	struct map64 source_of; /* MAP64_PAIR(pid, tid) -> index into `sources` */
	VEC(struct srcloc) sources; /* the last lines shown */
};

/* ---- script_frames.c ---- */

/* Prints the requested frames of a stack, leaf first. */
void script_put_frames(struct script *c, stackid stack, const struct event *e);

/* Prints the leaf's function at the end of the sample's line. */
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

/* Prints the markers up to a time as comments, which readers of samples skip. *next: the first that
 * was not written. */
void script_text_markers(struct script *c, size_t *next, uint64_t to_ns);

/* Prints the events and markers, up to the start of the samples. */
void script_json_events(struct script *c);

/* ---- script_values.c ---- */

void script_put_hex(struct sink *s, uint64_t v, int width);
void script_put_number(struct sink *s, uint64_t v);
void script_put_padded(struct sink *s, uint64_t v, size_t width, char with);

/* Text from a file, escaped for a terminal. */
void script_put_safe(struct sink *s, const char *text);

/* Seconds, with nine or six decimals; `width` of the part before the point. */
void script_put_time(struct sink *s, uint64_t ns, bool all_digits, size_t width);

/* Valid as long as the profile. */
const char *script_string(const struct script *c, strid id);

/* Nanoseconds since the time that times are relative to. */
uint64_t script_time(const struct script *c, const struct sample *x);

/* Whether it is of a trace point whose fields are requested: they take the place of the period. */
bool script_has_trace(const struct script *c, const struct sample *x);

/* The fields of a trace point; NULL: not known. */
const char *script_trace(const struct script *c, const struct sample *x);

/* The address of an access to memory; 0: not known. */
uint64_t script_addr(const struct detail *d);

/* The CPU's mode, in perf's letters. */
char script_mode(const struct sample *x);

enum { REGISTERS_MAX = 64 };

struct sampled_register {
	const char *name; /* not NUL-terminated; n == 0: no name */
	int n;
	unsigned number; /* the kernel's (asm/perf_regs.h) */
	uint64_t value;
};

struct sampled_registers {
	uint64_t abi;
	size_t n;
	struct sampled_register at[REGISTERS_MAX];
};

/* The registers of a sample; `at`: interrupt_registers or user_registers of its details, not 0. */
struct sampled_registers script_registers(const struct script *c, const struct detail *d,
					  uint64_t at);

/* The instruction; NULL and a size of 0: not available. */
const uint8_t *script_code(const struct script *c, const struct sample *x, size_t *size);

/* The source line; NULL: not available. */
const uint8_t *script_source(struct script *c, const struct sample *x, struct srcloc *where,
			     size_t *n);

/* The time of day, "2026-01-31 14:25:01.123456". Returns its length; 0: not known. */
size_t script_day(const struct script *c, const struct sample *x, char text[64]);

#endif

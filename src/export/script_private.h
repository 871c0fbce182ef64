/* script_private.h - declarations shared by the parts of script.c.
 *
 * script.c loops over the samples. script_text.c and script_json.c each write one sample.
 * script_frames.c makes and keeps the texts of frames. script_values.c has the values that both
 * formats need. */
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

struct shown_frame { /* the content of a frame's line */
	const struct frame *frame;
	uint64_t addr;
	const char *name; /* NULL: unknown */
	const char *object;
	uint64_t offset; /* from the start of the function */
	bool has_offset, inlined;
	bool has_no_file;   /* code of the kernel, or a mapping that the kernel provides: perf looks
			       up no debug information there, and prints the address in place of a
			       source line */
	struct srcloc line; /* file is NULL if it is not known */
};

struct script {
	const struct profile *p;
	struct program *g;
	const struct script_opts *o;
	/* script_text_frame() or script_json_frame(). */
	void (*put_frame)(struct sink *s, uint64_t which, const struct shown_frame *f);
	/* Texts of frames, at [2 * (frame + n_frames * variant) + (1 for a caller's call address)].
	 * There is a variant for each set of frame fields. */
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
	bool *stacks;     /* [n_events]: frames are on separate lines */
	uint64_t from_ns; /* times are shown relative to this */
	struct leaf_filter *leaves,
		*stops;         /* filters for `functions` and `objects`; for `stop_at`, or NULL */
	int access_width;       /* width of the widest access so far, as text */
	struct map64 source_of; /* MAP64_PAIR(pid, tid) -> index into `sources` */
	VEC(struct srcloc) sources; /* the line last shown for each thread */
};

/* ---- script_frames.c ---- */

/* Prints the requested frames of a stack, leaf first. */
void script_put_frames(struct script *c, stackid stack, const struct event *e);

/* Prints the leaf's function at the end of the sample's line. */
void script_put_leaf(struct script *c, stackid stack, const struct event *e);

/* Sets the frame's function, and the offset from its start. */
void script_name_frame(struct script *c, frameid id, struct shown_frame *f);

/* One end of a branch as a frame to show; frame 0: not known. */
struct shown_frame script_branch_end(struct script *c, frameid frame);

/* ---- frames, samples, markers and events ---- */

void script_text_frame(struct sink *s, uint64_t which, const struct shown_frame *f);
void script_json_frame(struct sink *s, uint64_t which, const struct shown_frame *f);
void script_text_sample(struct script *c, const struct sample *x);
void script_json_sample(struct script *c, const struct sample *x);

/* Prints the markers up to a time as comments, which readers of samples skip. *next: index of the
 * first marker that is not yet printed. */
void script_text_markers(struct script *c, size_t *next, uint64_t to_ns);

/* Prints the events and markers, up to the start of the samples. */
void script_json_events(struct script *c);

/* ---- script_values.c ---- */

void script_put_hex(struct sink *s, uint64_t v, int width);
void script_put_number(struct sink *s, uint64_t v);
void script_put_padded(struct sink *s, uint64_t v, size_t width, char with);

/* Text from a file, escaped for a terminal. */
void script_put_safe(struct sink *s, const char *text);

/* Seconds, with nine or six decimals; `width`: the least number of columns before the point. */
void script_put_time(struct sink *s, uint64_t ns, bool all_digits, size_t width);

/* The text is valid as long as the profile. */
const char *script_string(const struct script *c, strid id);

/* The time of a sample in nanoseconds, relative to the script's start time. */
uint64_t script_time(const struct script *c, const struct sample *x);

/* Whether the sample's trace point has fields and they are requested. They then replace the
 * period. */
bool script_has_trace(const struct script *c, const struct sample *x);

/* The fields of a trace point; NULL: not known. */
const char *script_trace(const struct script *c, const struct sample *x);

/* The address of a memory access; 0: not known. */
uint64_t script_addr(const struct detail *d);

/* The CPU's mode, as a letter of perf script. */
char script_mode(const struct sample *x);

enum { REGISTERS_MAX = 64 };

struct sampled_register {
	const char *name; /* not NUL-terminated; n == 0: no name */
	int n;
	unsigned number; /* the kernel's number (asm/perf_regs.h) */
	uint64_t value;
};

struct sampled_registers {
	uint64_t abi;
	size_t n;
	struct sampled_register at[REGISTERS_MAX];
};

/* The registers of a sample. `at`: the member interrupt_registers or user_registers of its detail,
 * not 0. */
struct sampled_registers script_registers(const struct script *c, const struct detail *d,
					  uint64_t at);

/* The sample's instruction; NULL and a size of 0: not available. */
const uint8_t *script_code(const struct script *c, const struct sample *x, size_t *size);

/* The sample's source line; NULL: not available. */
const uint8_t *script_source(struct script *c, const struct sample *x, struct srcloc *where,
			     size_t *n);

/* The time of day, "2026-01-31 14:25:01.123456". Returns its length; 0: not known. */
size_t script_day(const struct script *c, const struct sample *x, char text[64]);

#endif

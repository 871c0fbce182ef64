/* gate.h - turns sampling on and off: at times after the start, and by commands through a pipe.
 *
 *	gate_open(&opts, &g); ... gate_begin(g, rings, now);
 *	gate_act(g, rings, marker, now); ... when gate_fd() is readable, or after gate_wait_ms()
 *
 * Commands are lines, as perf record's: "enable", "disable", "ping", "stop", and "mark NAME". Each
 * is answered by "ack" and a newline if a pipe for answers was given. */
#ifndef RECORD_GATE_H
#define RECORD_GATE_H

#include "base/base.h"
#include "record/rings.h"

struct kin_error;

struct gate_span {
	uint64_t from_ns, to_ns; /* since the start; UINT64_MAX: no end */
};

struct gate_opts {
	const struct gate_span *spans; /* in ascending order */
	size_t n_spans;
	bool closed;         /* without spans: closed until a command opens it; otherwise open */
	const char *control; /* "fd:4", "fd:4,5", "fifo:PATH", "fifo:PATH,PATH"; NULL: none */
};

static inline bool gate_is_needed(const struct gate_opts *o)
{
	return o->n_spans || o->closed || o->control;
}

struct gate;
/* `opts` must live as long as the gate. Pipes must exist; FIFOs are opened. */
struct kin_error *gate_open(const struct gate_opts *opts, struct gate **ret)
	__attribute__((warn_unused_result));
void gate_free(struct gate *g); /* NULL is fine */

void gate_begin(struct gate *g, struct rings *r, uint64_t now_ns);
/* For the next run of the program: spans count from its start; the effect of commands remains. */
void gate_begin_again(struct gate *g, struct rings *r, uint64_t now_ns);
/* The receiver of "mark" commands. */
struct gate_marker {
	void (*mark)(void *arg, const char *name);
	void *arg;
};
/* Opens and closes the gate as due. False: the command "stop" came. */
bool gate_act(struct gate *g, struct rings *r, const struct gate_marker *m, uint64_t now_ns);
/* How long the gate was open between *from_ns and to_ns, in ns. Sets *from_ns to the first moment
 * in that interval at which it was open. */
uint64_t gate_open_ns(const struct gate *g, uint64_t *from_ns, uint64_t to_ns);
/* For poll(); -1: there are no commands. */
int gate_fd(const struct gate *g);
/* Time until the next span begins or ends; UINT64_MAX: none. */
uint64_t gate_wait_ms(const struct gate *g, uint64_t now_ns);

#endif

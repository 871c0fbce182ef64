/* gate.h - when samples are taken: spans of time after the start, and commands that come through a
 * pipe.
 *
 *	gate_open(&opts, &g);  ...  gate_begin(g, rings, now);
 *	gate_act(g, rings, now);      ... when gate_fd() is readable, or gate_wait_ms() have passed
 *
 * Commands are lines, as perf record's: "enable", "disable", "ping", "stop", and "mark NAME". Each
 *is answered by "ack" and a line's end if there is somebody to read that. */
#ifndef RECORD_GATE_H
#define RECORD_GATE_H

#include "base/base.h"
#include "record/rings.h"

struct kin_error;

struct gate_span {
	uint64_t from_ns, to_ns; /* after the start; UINT64_MAX: no end */
};

struct gate_opts {
	const struct gate_span *spans; /* one after the other */
	size_t n_spans;
	bool closed;         /* with no spans: closed until a command opens it, else open */
	const char *control; /* "fd:4", "fd:4,5", "fifo:PATH", "fifo:PATH,PATH"; NULL: none */
};

static inline bool gate_is_needed(const struct gate_opts *o)
{
	return o->n_spans || o->closed || o->control;
}

struct gate;
/* `opts` has to live as long. The pipes must exist, fifos are opened; what is wrong with them is
 * the error. */
struct kin_error *gate_open(const struct gate_opts *opts, struct gate **ret)
	__attribute__((warn_unused_result));
void gate_free(struct gate *g); /* NULL is fine */

void gate_begin(struct gate *g, struct rings *r, uint64_t now_ns);
/* Somebody whom commands name moments to. */
struct gate_marker {
	void (*mark)(void *arg, const char *name);
	void *arg;
};
/* Opens and closes what is due. False: a command says that it is enough. */
bool gate_act(struct gate *g, struct rings *r, const struct gate_marker *m, uint64_t now_ns);
/* For poll(); -1: no commands will come. */
int gate_fd(const struct gate *g);
/* Until the next span begins or ends; UINT64_MAX: none does. */
uint64_t gate_wait_ms(const struct gate *g, uint64_t now_ns);

#endif

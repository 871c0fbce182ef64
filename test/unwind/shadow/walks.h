/* walks.h - a stack of the traced process, as each of kin's three walkers sees it.
 *
 * Each walker is the code that kin uses, with the traced process in the place of its usual input:
 * record's and the perf.data reader's get the registers and a copy of the stack, as in a sample;
 * the runtime's, compiled into this program with functions of its own in the place of the rest of
 * the runtime, reads memory through the kernel. */
#ifndef SHADOW_WALKS_H
#define SHADOW_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { WALK_MAX = 1400, COPY_MAX = (64 << 10) - 8 };

/* The thread, stopped before an instruction. */
struct point {
	pid_t pid, tid;
	const struct user_regs_struct *regs;
	const uint8_t *copy; /* copy_size bytes of its stack from the stack pointer on */
	size_t copy_size;
	size_t small_size; /* how many of them the samplers get */
	uint64_t time_ns;
};

struct walk_frame {
	uint64_t pc;
	bool guessed; /* marked as such, or after a mark */
};

struct walked {
	struct walk_frame at[WALK_MAX]; /* leaf first: at[0] is the registers' */
	size_t n;
	bool complete;
};

/* An executable mapping of the process. */
struct code_map {
	uint64_t start, end, offset, inode;
	char path[512];
};
struct code_maps {
	struct code_map *at;
	size_t n;
};

/* Where the ELF header of the mapped file is in memory; 0: it is not. */
uint64_t process_module_start(const struct code_map *m);
/* Reads n bytes of the process's memory at an address; false: not all can be read. */
bool process_peek(uint64_t at, void *to, size_t n);

struct walker_kind {
	const char *name;
	/* The mappings have changed. */
	void (*maps)(pid_t pid, const struct code_maps *maps);
	void (*walk)(const struct point *p, struct walked *ret);
	void (*done)(void);
};
extern const struct walker_kind walker_record, walker_perf, walker_runtime;

#endif

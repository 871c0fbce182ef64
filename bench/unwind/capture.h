/* capture.h - runs a program and samples its registers and a copy of its stack (perf_event_open).
 */
#ifndef BENCH_CAPTURE_H
#define BENCH_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping { /* executable */
	uint64_t addr, size, offset;
	char path[4096];
};

struct sample {
	uint32_t tid;
	uint64_t regs[17]; /* by DWARF number; [16] is rip */
	uint8_t *stack;    /* from regs[7] on */
	size_t size;
};

struct capture {
	struct mapping *maps;
	struct sample *samples;
	size_t n_maps, n_samples;
	uint64_t lost;
};

/* At most `max` samples of `stack` bytes. NULL, or why it cannot be done. */
const char *capture_run(char **argv, unsigned hz, uint32_t stack, size_t max, struct capture *ret);
void capture_done(struct capture *c);

#endif

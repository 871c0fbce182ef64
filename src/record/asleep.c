/* asleep.c - reads where threads sleep from /proc. */
#include "record/asleep.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/uio.h>

#include "machine/machine.h"

enum { STACK_MAX = 32 << 10 };

enum { N_REGS = 64 };

/* A sleeping thread's line is "NUMBER ARGUMENT... SP PC"; a running one's is "running"; see
 * proc(5). */
static bool read_place(pid_t pid, pid_t tid, uint64_t *ret_sp, uint64_t *ret_pc)
{
	char path[64], line[256];
	uint64_t sp = 0, pc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	FILE *f = fopen(path, "re");
	bool known =
		f && fgets(line, sizeof(line), f) &&
		sscanf(line, "%*d %*x %*x %*x %*x %*x %*x 0x%" SCNx64 " 0x%" SCNx64, &sp, &pc) == 2;
	if (f)
		fclose(f);
	*ret_sp = sp;
	*ret_pc = pc;
	return known && sp && pc;
}

static size_t read_stack(pid_t pid, uint64_t sp, uint8_t to[STACK_MAX])
{
	enum { PAGE = 4096 };
	size_t n = 0;

	for (size_t part = PAGE - sp % PAGE; n < STACK_MAX;
	     part = PAGE) { /* until the stack's mapping ends */
		if (part > STACK_MAX - n)
			part = STACK_MAX - n;
		struct iovec here = { to + n, part };
		struct iovec there = { (void *)(uintptr_t)(sp + n), part };
		ssize_t done = process_vm_readv(pid, &here, 1, &there, 1, 0);
		if (done != (ssize_t)part)
			break;
		n += part;
	}
	return n;
}

/* Drops frames after a guess, which needed unknown registers. The link register is not shown: on
 * machines that have one, only the innermost frame is known. */
static void keep_certain(struct unwound *w, const struct machine *m)
{
	size_t n = 0, most = m->lr == MACHINE_NO_REGISTER ? w->n : 1;

	while (n < w->n && n < most && !(w->frames[n].flags & KINF_FRAME_GUESSED))
		n++;
	if (n == w->n)
		return;
	w->frames[n] = (struct stack_frame){ .flags = KINF_FRAME_MARK };
	w->n = n + 1;
	w->end = STACK_CUT;
}

bool asleep_unwind(struct unwinding *u, struct space *s, pid_t tid, struct unwound *ret)
{
	uint8_t stack[STACK_MAX];
	uint64_t regs[N_REGS] = { 0 }, sp, pc;
	const struct machine *m = machine_native();

	if (!m || !read_place(s->pid, tid, &sp, &pc))
		return false;
	regs[machine_perf_place(m, m->perf[m->sp])] = sp;
	regs[machine_perf_place(m, m->perf_pc)] = pc;
	struct perf_sample sample = {
		.pid = (uint32_t)s->pid,
		.tid = (uint32_t)tid,
		.ip = pc,
		.mode = PERF_RECORD_MISC_USER,
		.user = { PERF_SAMPLE_REGS_ABI_64, m->perf_mask, (const uint8_t *)regs },
		.stack = stack,
		.stack_size = read_stack(s->pid, sp, stack),
	};
	unwinding_sample(u, s, &sample, ret);
	keep_certain(ret, m);
	return ret->n > 0;
}

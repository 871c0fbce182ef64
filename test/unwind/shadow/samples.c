/* samples.c - a point as a sample of the kernel's. */
#include "samples.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include "machine/machine.h"

struct perf_sample sample_of(const struct point *p, uint64_t values[SAMPLE_REGISTERS])
{
	const struct user_regs_struct *g = p->regs;
	const uint64_t all[64] = {
		[PERF_REG_X86_AX] = g->rax,  [PERF_REG_X86_BX] = g->rbx,
		[PERF_REG_X86_CX] = g->rcx,  [PERF_REG_X86_DX] = g->rdx,
		[PERF_REG_X86_SI] = g->rsi,  [PERF_REG_X86_DI] = g->rdi,
		[PERF_REG_X86_BP] = g->rbp,  [PERF_REG_X86_SP] = g->rsp,
		[PERF_REG_X86_IP] = g->rip,  [PERF_REG_X86_FLAGS] = g->eflags,
		[PERF_REG_X86_R8] = g->r8,   [PERF_REG_X86_R9] = g->r9,
		[PERF_REG_X86_R10] = g->r10, [PERF_REG_X86_R11] = g->r11,
		[PERF_REG_X86_R12] = g->r12, [PERF_REG_X86_R13] = g->r13,
		[PERF_REG_X86_R14] = g->r14, [PERF_REG_X86_R15] = g->r15,
	};
	uint64_t mask = machine_x86_64.perf_mask;
	size_t n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			values[n++] = all[i];
	return (struct perf_sample){ .ip = g->rip,
				     .time = p->time_ns,
				     .period = 1,
				     .pid = (uint32_t)p->pid,
				     .tid = (uint32_t)p->tid,
				     .mode = PERF_RECORD_MISC_USER,
				     .user = { PERF_SAMPLE_REGS_ABI_64, mask,
					       (const uint8_t *)values },
				     .stack = p->copy,
				     .stack_size = p->small_size,
				     .stack_full = p->small_size < p->copy_size };
}

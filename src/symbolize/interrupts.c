/* interrupts.c - knows the kernel's entries for interrupts, and cuts stacks there and at handlers
 * of signals. */
#include "symbolize/interrupts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "object/kernel.h"
#include "symbolize/kallsyms.h"
#include "symbolize/program_private.h"

/* ---- entries ---- */

/* x86, then arm64, then RISC-V, in the kernel's words since 4.0; '*' stands for any end. */
static const char *const entries[] = {
	"asm_sysvec_*",        "sysvec_*",
	"__sysvec_*",          "asm_common_interrupt",
	"asm_exc_nmi",         "exc_nmi",
	"el0t_64_irq",         "el0t_64_fiq",
	"el0t_32_irq",         "el0t_32_fiq",
	"el1h_64_irq",         "el1h_64_fiq",
	"el1t_64_irq",         "el1t_64_fiq",
	"el0t_64_irq_handler", "el0t_64_fiq_handler",
	"el0t_32_irq_handler", "el0t_32_fiq_handler",
	"el1h_64_irq_handler", "el1h_64_fiq_handler",
	"handle_riscv_irq",    "asm_spurious_interrupt",
};

/* Names that a program may have, too. */
static const char *const kernel_entries[] = {
	"common_interrupt",
	"ret_from_intr",
	"common_spurious",
	"nmi",
	"end_repeat_nmi",
	"first_nmi",
	"nested_nmi",
	"repeat_nmi",
	"apic_timer_interrupt",
	"reschedule_interrupt",
	"call_function_interrupt",
	"call_function_single_interrupt",
	"irq_work_interrupt",
	"thermal_interrupt",
	"threshold_interrupt",
	"deferred_error_interrupt",
	"error_interrupt",
	"spurious_interrupt",
	"x86_platform_ipi",
	"reboot_interrupt",
	"irq_move_cleanup_interrupt",
	"hyperv_callback_vector",
	"xen_hvm_callback_vector",
	"el0_irq",
	"el1_irq",
	"el0_fiq",
	"el1_fiq",
	"el0_interrupt",
	"el1_interrupt",
	"do_irq",
};

static bool fits(const char *name, const char *pattern)
{
	while (*pattern && *pattern != '*' && *pattern == *name)
		pattern++, name++;
	return *pattern == '*' || (!*pattern && !*name);
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fits(name, list[i]))
			return true;
	return false;
}

bool is_interrupt_entry(const char *name, bool is_kernel)
{
	return is_one_of(name, entries, ARRAY_LEN(entries)) ||
	       (is_kernel && is_one_of(name, kernel_entries, ARRAY_LEN(kernel_entries)));
}

/* ---- frames ---- */

static bool is_nameless(const struct frame *f)
{
	return !f->name && f->flags & FRAME_KERNEL && !(f->flags & FRAME_GUEST);
}

/* The kernel's names, if the data does not have them. NULL: they are not known; the program that
 * needs them will say why. */
static const struct kallsyms *kernel_of(const struct profile *p, struct program_files *files,
					const char *path)
{
	bool is_needed = false, is_running = false;

	for (size_t i = 1; i < p->samples.n_frames && !is_needed; i++)
		is_needed = is_nameless(&p->samples.frames[i]);
	if (files->kernel || !is_needed)
		return files->kernel;
	if (path) {
		kin_error_free(kallsyms_open(path, &files->kernel));
		return files->kernel;
	}
	for (size_t i = 0; i < p->n_objects && !is_running && !files->kernel_errnum; i++)
		is_running = p->objects[i].kind == OBJECT_KERNEL && p->objects[i].build_id &&
			     kernel_is_running(strtab_get(p->strings, p->objects[i].build_id),
					       &files->kernel_errnum);
	return is_running ? files->kernel = kallsyms_of_running() : NULL;
}

struct interrupts {
	const struct profile *p;
	bool *is_entry; /* [n_frames] */
	frameid mark;
};

static bool find_entries(struct interrupts *x, const struct kallsyms *kernel)
{
	const struct samples *s = &x->p->samples;
	bool any = false;

	for (size_t i = 1; i < s->n_frames; i++) {
		const struct frame *f = &s->frames[i];
		const char *name = f->name ? strtab_get(x->p->strings, f->name) : NULL;
		uint64_t start, back = f->flags & FRAME_RETURN && f->addr;
		if (!name && kernel && is_nameless(f))
			name = kallsyms_find(kernel, f->addr - back, &start);
		any |= f->flags & FRAME_SIGNAL;
		if (name && !(f->flags & FRAME_MARK))
			any |= x->is_entry[i] = is_interrupt_entry(name, f->flags & FRAME_KERNEL);
	}
	return any;
}

/* ---- stacks ---- */

/* A sample may be in the code by which a handler returns, which then stands for the handler. */
static bool handles_signal(const struct samples *s, stackid stack)
{
	const struct stack *at = s->stacks;

	return (s->frames[at[stack].frame].flags | s->frames[at[at[stack].caller].frame].flags) &
	       FRAME_SIGNAL;
}

/* An entry may consist of several functions, each called by the one before. */
static bool begins(const struct interrupts *x, stackid stack)
{
	const struct stack *at = x->p->samples.stacks;
	bool enters = x->is_entry[at[stack].frame] && !x->is_entry[at[at[stack].caller].frame];

	return enters || handles_signal(&x->p->samples, stack);
}

static void find_beginnings(const struct interrupts *x, bool *changes)
{
	for (size_t i = 1; i < x->p->samples.n_stacks; i++)
		changes[i] |= begins(x, (stackid)i);
}

struct interrupts *interrupts_find(struct profile *p, struct program_files *files,
				   const char *kallsyms, bool *changes)
{
	struct interrupts *x = xalloc(sizeof(*x));

	x->p = p;
	x->is_entry = xalloc(p->samples.n_frames + 1);
	if (!p->samples.n || !find_entries(x, kernel_of(p, files, kallsyms))) {
		interrupts_free(x);
		return NULL;
	}
	find_beginnings(x, changes);
	x->mark = profile_append_mark(p, MARK_INTERRUPTED);
	return x;
}

void interrupts_free(struct interrupts *x)
{
	if (x)
		free(x->is_entry);
	free(x);
}

stackid interrupts_set_apart(const struct interrupts *x, struct revised_stacks *r, stackid stack,
			     stackid caller)
{
	return begins(x, stack) ? revised_stacks_add(r, 0, x->mark) : caller;
}

/* What a stack below MARK_INTERRUPTED is, by its outermost function. */
enum interruption { NOT_INTERRUPTED, BY_KERNEL, BY_SIGNAL, AT_MARK };

static enum interruption interruption_of(const struct profile *p, const struct frame *f,
					 enum interruption caller)
{
	const char *name = f->name ? strtab_get(p->strings, f->name) : "";

	if (caller != AT_MARK)
		return f->flags & FRAME_MARK && !strcmp(name, MARK_INTERRUPTED) ? AT_MARK : caller;
	return f->flags & FRAME_KERNEL || is_interrupt_entry(name, false) ? BY_KERNEL : BY_SIGNAL;
}

struct interrupts_shares interrupts_shares(const struct profile *p, uint16_t event)
{
	const struct samples *s = &p->samples;
	enum interruption *of = xalloc((s->n_stacks + 1) * sizeof(*of));
	double all = 0, by[AT_MARK + 1] = { 0 };

	for (size_t i = 1; i < s->n_stacks; i++)
		of[i] = interruption_of(p, &s->frames[s->stacks[i].frame], of[s->stacks[i].caller]);
	for (size_t i = 0; i < s->n; i++) {
		if (s->at[i].event != event)
			continue;
		all += (double)s->at[i].weight;
		by[of[s->at[i].stack]] += (double)s->at[i].weight;
	}
	free(of);
	struct interrupts_shares none = { 0 };
	return all > 0 ? (struct interrupts_shares){ by[BY_KERNEL] / all, by[BY_SIGNAL] / all }
		       : none;
}

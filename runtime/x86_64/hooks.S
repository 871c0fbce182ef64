/* hooks.S - what instrumented code calls, x86-64.
 *
 * mcount and __fentry__ are called where the compiler expects no call. Every register may hold a
 * value of the program, except r11 (which the PLT uses, too) and the flags. Other registers are
 * saved in the red zone, which is ours as long as we call nothing. So the canonical frame address
 * never changes, and a stack walk from here needs only the default rule.
 *
 *	table = rt_tls.arcs                by rt_gate.tls, which is 0 if paused or forked
 *	slot  = rt_hash(from, to) & mask   mask lies right before the table, as a byte offset
 *	slot.key == from | to << 48
 *	slot.to_high == bits 16 to 47 of to   else the next slot, up to an unused one
 *	slot.count++                       one instruction: signals arrive before or after it
 *
 * The hook waits for the slot only, and nothing in the program waits for the hook: the comparisons
 * are predicted to be equal. If the 32-bit count wraps to 0, C code continues.
 *
 * A pair that is not in its first slot is looked up out of line, starting over, because a signal
 * handler may have given the thread another table. Each such look-up takes one from the table's
 * patience. C code continues if no patience is left, or if there is no slot for the pair. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define HASH	-1640531535	/* 0x9e3779b1; as rt_hash() in rt.h */
#define HASH_TO	0x27d4eb2f	/* likewise */
#define SLOT	16
#define TO_HIGH	8		/* offset in a slot of arcs: struct kinf_call */
#define COUNT	12
#define LATENCY	rt_gate + 12
#define MASK	-24		/* offsets in struct rt_own, seen from the payload */
#define PATIENCE	-4

	.text

	.macro	function name
	.globl	\name
	.type	\name, @function
	.p2align 6
\name:
	.cfi_startproc
	_CET_ENDBR
	.endm

	.macro	alias name, of
	.globl	\name
	.set	\name, \of
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* reg = the table; goes to `off` if nothing is being collected */
	.macro	table reg, off
	mov	rt_gate(%rip), \reg
	test	\reg, \reg
	jz	\off
	mov	%fs:-1(\reg), \reg
	.endm

/* reg = rt_hash(from, to); masked, it is the offset of the arc's first slot */
	.macro	hash from, to, reg, scratch
	imul	$HASH, \from, \reg
	imul	$HASH_TO, \to, \scratch
	add	\scratch, \reg
	.endm

/* reg = kinf_call_key(from, to) */
	.macro	key from, to, reg
	mov	\to, \reg
	shl	$48, \reg
	or	\from, \reg
	.endm

/* Searches the other slots, with all values in registers. Goes to 1 at the arc's slot; falls
 * through where C code must count. */
	.macro	other_slots key, to_high, table, at
3:	add	$SLOT, \at
	and	MASK(\table), \at
	cmp	\key, (\table, \at)
	jne	4f
	cmp	\to_high, TO_HIGH(\table, \at)
	jne	4f
	decl	PATIENCE(\table)
	jns	1b
	jmp	5f
4:	cmpq	$0, (\table, \at)
	jne	3b
5:
	.endm

	.macro	mcount_body from
	mov	%rax, -8(%rsp)
	hash	\from, (%rsp), %rax, %r11
	table	%r11, 9f
	and	MASK(%r11), %rax
	add	%rax, %r11
	key	\from, (%rsp), %rax
	cmp	%rax, (%r11)
	jne	2f
	mov	2(%rsp), %eax
	cmp	%eax, TO_HIGH(%r11)
	jne	2f
	incl	COUNT(%r11)
	jz	6f
	mov	-8(%rsp), %rax
	ret

1:	incl	COUNT(%rcx, %r11)
	mov	-24(%rsp), %rdx
	mov	-16(%rsp), %rcx
	jz	6f
	mov	-8(%rsp), %rax
	ret
2:	mov	%rcx, -16(%rsp)
	mov	%rdx, -24(%rsp)
	table	%rcx, 8f
	hash	\from, (%rsp), %r11, %rax
	and	MASK(%rcx), %r11
	key	\from, (%rsp), %rax
	mov	2(%rsp), %edx
	other_slots %rax, %edx, %rcx, %r11
8:	mov	-24(%rsp), %rdx
	mov	-16(%rsp), %rcx
9:	mov	\from, %r11
	mov	-8(%rsp), %rax
	jmp	count_slowly
6:	mov	\from, %r11
	mov	-8(%rsp), %rax
	jmp	carry
	.endm

/* A sample between here and rt_hooks_end counts as time spent counting calls. */
	.hidden	rt_hooks
	.globl	rt_hooks
rt_hooks:

/* The caller's return address lies above the frame pointer. */
function _mcount
	mcount_body 8(%rbp)
end _mcount
	alias mcount, _mcount

/* Called before the prologue: the caller's return address is the next word of the stack. */
function __fentry__
	mcount_body 8(%rsp)
end __fentry__

/* Calls f(from, to), where from = r11 and to = (%rsp), and preserves every other register. */
	.macro	slowly name, f
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	mov	%r11, %rdi
	mov	8(%rbp), %rsi
	and	$-16, %rsp
	cld
	call	\f
	lea	-64(%rbp), %rsp
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm
	slowly	count_slowly, rt_mcount
	slowly	carry, rt_carry
	.hidden	rt_hooks_end
	.globl	rt_hooks_end
rt_hooks_end:

/* To measure what counting adds to a call: void rt_trial_bare(uint64_t n) and rt_trial_counted(n)
 * call n times a function that does nothing. Only the latter has what -pg adds: a frame, and a call
 * by an address in memory. */
	.hidden	rt_trial_bare, rt_trial_counted, rt_trial_from, rt_trial_to
	.globl	rt_trial_from, rt_trial_to
function rt_trial_bare
1:	call	2f
	dec	%rdi
	jnz	1b
	ret
	.p2align 6
2:	ret
end rt_trial_bare

function rt_trial_counted
1:	call	2f
rt_trial_from:
	dec	%rdi
	jnz	1b
	ret
	.p2align 6
2:	push	%rbp
	mov	%rsp, %rbp
	call	*rt_trial_hook(%rip)
rt_trial_to:
	pop	%rbp
	ret
end rt_trial_counted

	.section .data.rel.ro, "aw"
	.p2align 3
rt_trial_hook:
	.quad	_mcount
	.text

/* void __cyg_profile_func_enter(void *function, void *call_site): an ordinary call. */
function __cyg_profile_func_enter
	table	%rcx, 9f
	hash	%rsi, %rdi, %rax, %rdx
	and	MASK(%rcx), %rax
	key	%rsi, %rdi, %rdx
	mov	%rdi, %r8
	shr	$16, %r8
	cmp	%rdx, (%rcx, %rax)
	jne	3f
	cmp	%r8d, TO_HIGH(%rcx, %rax)
	jne	3f
1:	incl	COUNT(%rcx, %rax)
	jz	6f
	cmpl	$0, LATENCY(%rip)
	jne	2f
	ret
2:	lea	8(%rsp), %rdx
	jmp	rt_latency_begin
	other_slots %rdx, %r8d, %rcx, %rax
9:	xchg	%rdi, %rsi
	lea	8(%rsp), %rdx
	jmp	rt_enter
6:	xchg	%rdi, %rsi
	lea	8(%rsp), %rdx
	jmp	rt_carry_enter
end __cyg_profile_func_enter

function __cyg_profile_func_exit
	cmpl	$0, LATENCY(%rip)
	jne	1f
	ret
1:	jmp	rt_latency_end
end __cyg_profile_func_exit

/* void rt_on_stack(void *top, void (*f)(void *), void *arg): calls f(arg) on another stack. */
	.hidden	rt_on_stack
function rt_on_stack
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdi, %rsp
	mov	%rdx, %rdi
	call	*%rsi
	leave
	.cfi_def_cfa %rsp, 8
	ret
end rt_on_stack

/* The code that signal handlers return to. Debuggers and unwinders look for exactly these bytes.
 * The nop before belongs to no function, because a return address is looked up one byte before
 * it. */
	.p2align 4
	nop
	.hidden	rt_restore
	.globl	rt_restore
	.type	rt_restore, %function
	.p2align 4
rt_restore:
	mov	$15, %rax
	syscall
	.size	rt_restore, . - rt_restore

	.section .note.GNU-stack, "", @progbits

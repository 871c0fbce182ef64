/* hooks_x86_64.S - what instrumented code calls, x86-64.
 *
 * mcount and __fentry__ are called where no compiler expects a call: every register may hold something
 * of the program's but r11 (which the PLT takes, too) and the flags. What is needed is kept in the red
 * zone, which is ours as long as we call nothing; so the canonical frame address never changes, and
 * who walks the stack from here needs no more than the default rule.
 *
 *	table = rt_tls.arcs & rt_gate.on            NULL: first call of the thread, paused, or forked
 *	slot  = (from * 0x9e3779b1 + to) & mask     mask lies right before the table, as a byte offset
 *	slot.from == from && slot.to == to          else the next one, up to an unused one
 *	slot.count++                                one instruction: signals fall before or behind it
 */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define HASH	-1640531535	/* 0x9e3779b1; as rt_hash() in rt.h */
#define LATENCY	rt_gate + 12
#define MASK	-24		/* block.own[RT_MASK], seen from the payload */

	.text

	.macro	function name
	.globl	\name
	.type	\name, @function
	.p2align 5
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

/* rax = from, (\self) = to, rcx = table, r11: an offset in it; all three are free to use */
	.macro	count_arc self
	imul	$HASH, %rax, %r11
	add	\self, %r11
	and	MASK(%rcx), %r11
	add	%rcx, %r11
	cmp	%rax, (%r11)
	jne	4f
	mov	\self, %rax
	cmp	%rax, 8(%r11)
	jne	3f
1:	incq	16(%r11)
	.endm

/* The rest of it, out of the way: the next slots. */
	.macro	next_slots from, self
3:	mov	\from, %rax
4:	cmpq	$0, (%r11)
	je	9f
	sub	%rcx, %r11
	add	$32, %r11
	and	MASK(%rcx), %r11
	add	%rcx, %r11
	cmp	%rax, (%r11)
	jne	4b
	mov	\self, %rax
	cmp	%rax, 8(%r11)
	jne	3b
	jmp	1b
	.endm

	.macro	table offset
	mov	rt_tls@gottpoff(%rip), %rcx
	mov	%fs:\offset(%rcx), %rcx
	and	rt_gate(%rip), %rcx
	.endm

	.macro	mcount_body from
	mov	%rax, -8(%rsp)
	mov	%rcx, -16(%rsp)
	table	0
	mov	\from, %rax
	jz	9f
	count_arc (%rsp)
	mov	-8(%rsp), %rax
	mov	-16(%rsp), %rcx
	ret
	next_slots \from, (%rsp)
9:	mov	-16(%rsp), %rcx
	mov	%rax, %r11
	mov	-8(%rsp), %rax
	jmp	slow
	.endm

/* The caller's return address lies above the frame pointer. */
function _mcount
	mcount_body 8(%rbp)
end _mcount
	alias mcount, _mcount

/* Called before the prologue: the caller's return address is the next word of the stack. */
function __fentry__
	mcount_body 8(%rsp)
end __fentry__

/* r11 = from, (%rsp) = to: rt_mcount(from, to), every other register kept. */
	.type	slow, @function
	.p2align 4
slow:
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
	call	rt_mcount
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
	.size	slow, . - slow

/* void __cyg_profile_func_enter(void *function, void *call_site): an ordinary call. */
function __cyg_profile_func_enter
	table	0
	mov	%rsi, %rax
	jz	9f
	count_arc %rdi
	cmpl	$0, LATENCY(%rip)
	jne	5f
	ret
5:	mov	%r11, %rdi
	lea	8(%rsp), %rsi
	jmp	rt_latency_begin
	next_slots %rsi, %rdi
9:	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rax, %rsi
	lea	8(%rsp), %rdx
	jmp	rt_enter
end __cyg_profile_func_enter

function __cyg_profile_func_exit
	cmpl	$0, LATENCY(%rip)
	jne	1f
	ret
1:	jmp	rt_latency_end
end __cyg_profile_func_exit

/* void __sanitizer_cov_trace_pc(void), void __sanitizer_cov_trace_pc_guard(uint32_t *): a basic block
 * is known by the return address. Slots are an address and a count. */
function __sanitizer_cov_trace_pc
	table	8
	mov	(%rsp), %rax
	jz	9f
	imul	$HASH, %rax, %rdx
	and	MASK(%rcx), %rdx
2:	cmp	%rax, (%rcx,%rdx)
	jne	3f
	incq	8(%rcx,%rdx)
	ret
3:	cmpq	$0, (%rcx,%rdx)
	je	9f
	add	$16, %rdx
	and	MASK(%rcx), %rdx
	jmp	2b
9:	mov	%rax, %rdi
	jmp	rt_count
end __sanitizer_cov_trace_pc
	alias __sanitizer_cov_trace_pc_guard, __sanitizer_cov_trace_pc

	.section .note.GNU-stack, "", @progbits

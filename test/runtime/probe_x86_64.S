/* long probe(void (*hook)(void), struct state *s, long level, long from)
 *
 * Loads every register from s->before, calls the hook the way instrumented code does, and stores every
 * register to s->after. level: 0 xmm, 1 ymm, 2 zmm and mask registers. mcount finds the caller through
 * the frame pointer, __fentry__ on the top of the stack: both are `from`. */
	.text
	.globl	probe
	.type	probe, @function
#define GPR(n)	(8 * (n))
#define VEC(n)	(128 + 64 * (n))
#define MASKS	(128 + 64 * 32)
#define SIZE	(MASKS + 64)

	.macro	each_vec op, count, dir
	.set	i, 0
	.rept	\count
	.altmacro
	one_vec \op, %i, \dir
	.noaltmacro
	.set	i, i + 1
	.endr
	.endm
	.macro	one_vec op, n, dir
	.ifc	\dir, load
	.ifc	\op, movups
	movups	VEC(\n)(%rax), %xmm\n
	.endif
	.ifc	\op, vmovups
	vmovups	VEC(\n)(%rax), %ymm\n
	.endif
	.ifc	\op, vmovups64
	vmovups	VEC(\n)(%rax), %zmm\n
	.endif
	.else
	.ifc	\op, movups
	movups	%xmm\n, VEC(\n)(%rax)
	.endif
	.ifc	\op, vmovups
	vmovups	%ymm\n, VEC(\n)(%rax)
	.endif
	.ifc	\op, vmovups64
	vmovups	%zmm\n, VEC(\n)(%rax)
	.endif
	.endif
	.endm
	.macro	vectors dir
	cmpq	$1, level(%rip)
	jl	1f
	je	2f
	each_vec vmovups64, 32, \dir
	.irp	k, 1, 2, 3, 4, 5, 6, 7
	.ifc	\dir, load
	kmovq	MASKS + 8 * \k(%rax), %k\k
	.else
	kmovq	%k\k, MASKS + 8 * \k(%rax)
	.endif
	.endr
	jmp	3f
2:	each_vec vmovups, 16, \dir
	jmp	3f
1:	each_vec movups, 16, \dir
3:
	.endm

probe:
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rcx			/* where mcount looks: a frame of our own */
	sub	$8, %rsp
	mov	%rbp, 0(%rsp)
	mov	%rdi, hook(%rip)
	mov	%rsi, state(%rip)
	mov	%rdx, level(%rip)
	lea	(%rsp), %rbp		/* 8(%rbp) is `from` */
	push	%rcx			/* and so is the word that __fentry__ sees */
	mov	%rsi, %rax
	vectors	load
	mov	GPR(1)(%rax), %rbx
	mov	GPR(2)(%rax), %rcx
	mov	GPR(3)(%rax), %rdx
	mov	GPR(4)(%rax), %rsi
	mov	GPR(5)(%rax), %rdi
	mov	GPR(8)(%rax), %r8
	mov	GPR(9)(%rax), %r9
	mov	GPR(10)(%rax), %r10
	mov	GPR(12)(%rax), %r12
	mov	GPR(13)(%rax), %r13
	mov	GPR(14)(%rax), %r14
	mov	GPR(15)(%rax), %r15
	mov	GPR(0)(%rax), %rax
	call	*hook(%rip)
	mov	%rax, rax(%rip)
	mov	state(%rip), %rax
	lea	SIZE(%rax), %rax
	mov	%rbx, GPR(1)(%rax)
	mov	%rcx, GPR(2)(%rax)
	mov	%rdx, GPR(3)(%rax)
	mov	%rsi, GPR(4)(%rax)
	mov	%rdi, GPR(5)(%rax)
	mov	%r8, GPR(8)(%rax)
	mov	%r9, GPR(9)(%rax)
	mov	%r10, GPR(10)(%rax)
	mov	%r12, GPR(12)(%rax)
	mov	%r13, GPR(13)(%rax)
	mov	%r14, GPR(14)(%rax)
	mov	%r15, GPR(15)(%rax)
	mov	rax(%rip), %rcx
	mov	%rcx, GPR(0)(%rax)
	vectors	store
	lea	8(%rsp), %rcx		/* the frame pointer is what it was, and nothing is left on the stack */
	cmp	%rcx, %rbp
	mov	$0, %eax
	sete	%al
	mov	%rbp, %rsp
	mov	0(%rsp), %rbp
	lea	-40(%rbp), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	probe, . - probe

	.bss
	.balign	8
hook:	.skip	8
state:	.skip	8
level:	.skip	8
rax:	.skip	8
	.section .note.GNU-stack, "", @progbits

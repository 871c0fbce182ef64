/* hooks.S - what instrumented code calls, aarch64.
 *
 * Compilers call _mcount like any function, with the caller's return address as its argument. So it
 * may change whatever a call may clobber, and x9 to x15, too. As in x86_64/hooks.S,
 *
 *	table = rt_tls.arcs                by rt_gate.tls, which is 0 if paused or forked
 *	slot  = rt_hash(from, to) & mask   mask lies right before the table, as a byte offset
 *
 * Before ARMv8.1 no instruction adds to memory. An exclusive load and store will do, because an
 * exception between them makes the store fail. */
#define SLOT	16
#define TO_HIGH	8		/* offset in a slot of arcs: struct kinf_call */
#define COUNT	12
#define MASK	-24		/* offsets in struct rt_own, seen from the payload */
#define PATIENCE	-4

	.text

	.macro	function name
	.globl	\name
	.type	\name, %function
	.p2align 5
\name:
	.cfi_startproc
	hint	34		/* bti c */
	.endm

	.macro	alias name, of
	.globl	\name
	.set	\name, \of
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* x9 = the table; goes to 9 if nothing is being collected */
	.macro	table
	adrp	x10, rt_gate
	ldr	x10, [x10, :lo12:rt_gate]
	cbz	x10, 9f
	mrs	x9, tpidr_el0
	add	x9, x9, x10
	ldur	x9, [x9, -1]
	.endm

/* rt_hash() in rt.h multiplies by these constants */
	.macro	hash_number_to reg
	mov	\reg, 0xeb2f
	movk	\reg, 0x27d4, lsl 16
	.endm

	.macro	hash_number reg
	mov	\reg, 0x79b1
	movk	\reg, 0x9e37, lsl 16
	movk	\reg, 0xffff, lsl 32
	movk	\reg, 0xffff, lsl 48
	.endm

/* The arc's slot is not its first one: takes one from the table's patience; goes to 9 if none is
 * left. */
	.macro	be_patient
	ldur	w14, [x9, PATIENCE]
	subs	w14, w14, 1
	stur	w14, [x9, PATIENCE]
	b.mi	9f
	.endm

/* Goes to `where` if durations of calls are measured. */
	.macro	latency where
	adrp	x10, rt_gate
	add	x10, x10, :lo12:rt_gate
	ldr	w10, [x10, 12]
	cbnz	w10, \where
	.endm

/* Adds one to the arc from x0 to x1; falls through where C code must count. `timed`: the end of the
 * call will be reported. */
	.macro	count_arc timed=0
	table
	hash_number_to x11
	mul	x11, x1, x11
	hash_number x10
	madd	x11, x0, x10, x11
	ldur	x10, [x9, MASK]
	and	x11, x11, x10
	orr	x14, x0, x1, lsl 48
	lsr	x15, x1, 16
	add	x12, x9, x11
	ldr	x13, [x12]
	ldr	w16, [x12, TO_HIGH]
	cmp	x13, x14
	ccmp	w16, w15, 0, eq
	b.ne	3f
1:	add	x11, x12, COUNT
7:	ldxr	w12, [x11]
	add	w12, w12, 1
	stxr	w13, w12, [x11]
	cbnz	w13, 7b
	cbz	w12, 6f
	.if	\timed
	latency	5f
	ret
5:	mov	x2, x1
	mov	x1, x0
	mov	x0, x2
	mov	x2, sp
	b	rt_latency_begin
6:	mov	x2, sp
	b	rt_carry_enter
	.else
	ret
6:	b	rt_carry
	.endif
2:	cbz	x13, 9f
3:	add	x11, x11, SLOT
	and	x11, x11, x10
	add	x12, x9, x11
	ldr	x13, [x12]
	ldr	w16, [x12, TO_HIGH]
	cmp	x13, x14
	ccmp	w16, w15, 0, eq
	b.ne	2b
	be_patient
	b	1b
9:
	.endm

/* A sample between here and rt_hooks_end counts as time spent counting calls. */
	.hidden	rt_hooks
	.globl	rt_hooks
rt_hooks:

/* void _mcount(void *from) */
function _mcount
	mov	x15, x30
	mov	x30, x0
	hint	7		/* xpaclri: return addresses may be signed */
	mov	x0, x30
	mov	x30, x15
	mov	x1, x15
	count_arc
	b	rt_mcount
end _mcount
	alias mcount, _mcount
	.hidden	rt_hooks_end
	.globl	rt_hooks_end
rt_hooks_end:

/* To measure what counting adds to a call: void rt_trial_bare(uint64_t n) and rt_trial_counted(n)
 * call n times a function that does nothing. Only the latter has what -pg adds. */
	.hidden	rt_trial_bare, rt_trial_counted, rt_trial_from, rt_trial_to
	.globl	rt_trial_from, rt_trial_to
	.macro	calls_of_next label
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	str	x19, [sp, 16]
	.cfi_offset 19, -16
	mov	x19, x0
1:	bl	2f
\label:
	subs	x19, x19, 1
	b.ne	1b
	ldr	x19, [sp, 16]
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	ret
	.p2align 4
	.endm

function rt_trial_bare
	calls_of_next rt_trial_bare_from
2:	ret
end rt_trial_bare

function rt_trial_counted
	calls_of_next rt_trial_from
2:	stp	x29, x30, [sp, -16]!
	mov	x29, sp
	mov	x0, x30
	bl	_mcount
rt_trial_to:
	ldp	x29, x30, [sp], 16
	ret
end rt_trial_counted

/* void __cyg_profile_func_enter(void *function, void *call_site) */
function __cyg_profile_func_enter
	mov	x15, x0
	mov	x0, x1
	mov	x1, x15
	count_arc timed=1
	mov	x2, sp
	b	rt_enter
end __cyg_profile_func_enter

function __cyg_profile_func_exit
	latency	1f
	ret
1:	b	rt_latency_end
end __cyg_profile_func_exit

/* void rt_on_stack(void *top, void (*f)(void *), void *arg): calls f(arg) on another stack. */
	.hidden	rt_on_stack
function rt_on_stack
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, sp
	.cfi_def_cfa_register 29
	mov	sp, x0
	mov	x0, x2
	blr	x1
	mov	sp, x29
	.cfi_def_cfa_register 31
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	ret
end rt_on_stack

	.section .note.GNU-stack, "", %progbits
/* This note declares that every possible jump target begins with bti, and that no return address
 * can be forged. Without it the linker removes the protection from the whole program. */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5	/* sizes of name and descriptor; NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.word	0xc0000000, 4	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND and its size */
	.word	1, 0		/* BTI */

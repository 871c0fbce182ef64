/* hooks.S - what instrumented code calls, riscv64.
 *
 * Compilers call _mcount like any function, with the caller's return address as its argument. So it
 * may change whatever a call may clobber. The procedure linkage table has used t0, t1 and t3
 * before. As in x86_64/hooks.S,
 *
 *	table = rt_tls.arcs                by rt_gate.tls, which is 0 if paused or forked
 *	slot  = rt_hash(from, to) & mask   mask lies right before the table, as a byte offset
 *
 * amoadd is one instruction, so signals arrive before or after it. */
#define HASH	-1640531535	/* 0x9e3779b1; as rt_hash() in rt.h */
#define HASH_TO	0x27d4eb2f	/* likewise */
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
	.endm

	.macro	alias name, of
	.globl	\name
	.set	\name, \of
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* t0 = the table; goes to 9 if nothing is being collected */
	.macro	table
	ld	t1, rt_gate
	beqz	t1, 9f
	add	t0, tp, t1
	ld	t0, -1(t0)
	.endm

/* The arc's slot is not its first one: takes one from the table's patience; goes to 9 if none is
 * left. */
	.macro	be_patient
	lw	t6, PATIENCE(t0)
	addiw	t6, t6, -1
	sw	t6, PATIENCE(t0)
	bltz	t6, 9f
	.endm

/* Goes to `where` if durations of calls are measured. */
	.macro	latency where
	lla	t0, rt_gate
	lw	t0, 12(t0)
	bnez	t0, \where
	.endm

/* Adds one to the arc from a0 to a1; falls through where C code must count. `timed`: the end of the
 * call will be reported. */
	.macro	count_arc timed=0
	table
	li	t1, HASH
	mul	t2, a0, t1
	li	t1, HASH_TO
	mul	t1, a1, t1
	add	t2, t2, t1
	ld	t1, MASK(t0)
	and	t2, t2, t1
	slli	t4, a1, 48
	or	t4, t4, a0
	srli	t5, a1, 16
	sext.w	t5, t5
	add	t3, t0, t2
	ld	t6, 0(t3)
	lw	a2, TO_HIGH(t3)
	bne	t6, t4, 3f
	bne	a2, t5, 3f
1:	addi	t3, t3, COUNT
	li	t4, 1
	amoadd.w t5, t4, (t3)
	addi	t5, t5, 1
	beqz	t5, 6f
	.if	\timed
	latency	5f
	ret
5:	mv	t0, a0
	mv	a0, a1
	mv	a1, t0
	mv	a2, sp
	tail	rt_latency_begin
6:	mv	a2, sp
	tail	rt_carry_enter
	.else
	ret
6:	tail	rt_carry
	.endif
2:	beqz	t6, 9f
3:	addi	t2, t2, SLOT
	and	t2, t2, t1
	add	t3, t0, t2
	ld	t6, 0(t3)
	lw	a2, TO_HIGH(t3)
	bne	t6, t4, 2b
	bne	a2, t5, 2b
	be_patient
	j	1b
9:
	.endm

/* A sample between here and rt_hooks_end counts as time spent counting calls. */
	.hidden	rt_hooks
	.globl	rt_hooks
rt_hooks:

/* void _mcount(void *from) */
function _mcount
	mv	a1, ra
	count_arc
	tail	rt_mcount
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
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	sd	s0, 0(sp)
	.cfi_offset s0, -16
	mv	s0, a0
1:	jal	2f
\label:
	addi	s0, s0, -1
	bnez	s0, 1b
	ld	ra, 8(sp)
	ld	s0, 0(sp)
	addi	sp, sp, 16
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
2:	addi	sp, sp, -16
	sd	ra, 8(sp)
	mv	a0, ra
	call	_mcount
rt_trial_to:
	ld	ra, 8(sp)
	addi	sp, sp, 16
	ret
end rt_trial_counted

/* void __cyg_profile_func_enter(void *function, void *call_site) */
function __cyg_profile_func_enter
	mv	t0, a0
	mv	a0, a1
	mv	a1, t0
	count_arc timed=1
	mv	a2, sp
	tail	rt_enter
end __cyg_profile_func_enter

function __cyg_profile_func_exit
	latency	1f
	ret
1:	tail	rt_latency_end
end __cyg_profile_func_exit

/* void rt_on_stack(void *top, void (*f)(void *), void *arg): calls f(arg) on another stack. */
	.hidden	rt_on_stack
function rt_on_stack
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	sd	s0, 0(sp)
	.cfi_offset s0, -16
	addi	s0, sp, 16
	.cfi_def_cfa s0, 0
	mv	sp, a0
	mv	a0, a2
	jalr	a1
	addi	sp, s0, -16
	.cfi_def_cfa sp, 16
	ld	ra, 8(sp)
	.cfi_restore ra
	ld	s0, 0(sp)
	.cfi_restore s0
	addi	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
end rt_on_stack

	.section .note.GNU-stack, "", %progbits

/* Symbols as no compiler makes them: functions that run into each other, labels of all kinds, without type, without
 * size, with too much of it, several for one place, versions, an indirect function, names that need quotes. */
	.text
	.macro counted
	push %rbp
	mov %rsp, %rbp
	call *mcount@GOTPCREL(%rip)
	.endm
	.macro turn label
	xor %eax, %eax
"\label":	add %rdi, %rax
	dec %rdi
	jnz "\label"
	.endm
	.macro function name
	.globl "\name"
	.type "\name", @function
"\name":
	counted
	.endm

function spend
	turn .Lhidden
	leave
	ret
	.size spend, . - spend

function fell_through
	turn label_of_fell_through
	leave
	/* no return: runs into the next one, which has no size */
	mov $300000, %edi
	jmp inner_entry
	.type "local.function", @function
"local.function":
	nop
	.globl inner_entry
inner_entry:
	turn then.jump
	ret
	.size fell_through, . - fell_through

function half_named
	turn $dollar_label
	call "a name with blanks"
	leave
	ret
	.type "a name with blanks", @function
"a name with blanks":
	counted
	mov $400000, %edi
	turn "label with blanks"
	leave
	ret
	.size "a name with blanks", 3

	.globl half_named_alias
	.set half_named_alias, half_named + 1
	.weak half_named_weakly
	.set half_named_weakly, half_named
	.set local_alias, half_named

	.type as_you_like_it, @gnu_indirect_function
	.globl as_you_like_it
as_you_like_it:
	lea chosen(%rip), %rax
	ret
	.type chosen, @function
chosen:
	counted
	turn chosen.1
	leave
	ret
	.size chosen, . - chosen

	/* One function with many names. */
	.globl _other_name, __other_name, other_name, other_name_2
	.type __other_name, @function
	.type _other_name, @function
	.type other_name, @function
__other_name:
_other_name:
other_name:
other_name_2:
static_other_name:
	counted
	turn other.part.0
	leave
	ret

	.globl old_way_1, old_way_2
	.type old_way_1, @function
	.type old_way_2, @function
old_way_1:
old_way_2:
	counted
	turn old.cold
	leave
	ret
	.size old_way_2, . - old_way_2
	.symver old_way_1, old_way@OLD_1.0
	.symver old_way_2, old_way@@NEW_2.0

	.globl dollar, dotted
	.type "dollar", @function
dollar:
	counted
	call "with$dollar"
	turn "in$dollar"
	leave
	ret
"with$dollar":
	counted
	call "$"
	leave
	ret
"$":
	counted
	leave
	ret

	.type dotted, @function
dotted:
	counted
	call "with.12"
	call "with.isra.3"
	call "with.constprop.0"
	call "with.clone.7.8"
	call ".with_dot"
	call "with."
	turn "dotted.lto_priv.0"
	leave
	ret
	.irp name, with.12, with.isra.3, with.constprop.0, with.clone.7.8, .with_dot, with., with.0.cold
	.type "\name", @function
"\name":
	counted
	leave
	ret
	.size "\name", . - "\name"
	.endr

	.globl spaced
	.type spaced, @function
spaced:
	counted
	call "(anonymous namespace)::f(int, char const*)"
	call "größe"
	call "file.c:12"
	call "from/to"
	turn "x y"
	leave
	ret
	.irp name, "(anonymous namespace)::f(int, char const*)", "größe", "file.c:12", "from/to"
	.type "\name", @function
"\name":
	counted
	leave
	ret
	.endr

	.globl untyped
untyped:
	counted
	call untyped_local
	turn untyped_label
	leave
	ret
untyped_local:
	counted
	leave
	ret

function sized_too_far
	turn the_label
	call overlapped
	leave
	ret
	.type overlapped, @function
overlapped:
	counted
	leave
	ret
	.size overlapped, 4096
	.size sized_too_far, . - sized_too_far + 64

	.globl data_like
	.type data_like, @object
data_like:
	counted
	turn in_data_like
	leave
	ret
	.size data_like, . - data_like

	.globl absolute_in_text
	.set absolute_in_text, 0x401010
	.weak never_defined
	.data
	.weak weak_in_data
weak_in_data:
	.quad never_defined
	.section .text.other, "ax", @progbits
	.globl in_other_section
in_other_section:
	counted
	leave
	ret
	.section .note.GNU-stack, "", @progbits

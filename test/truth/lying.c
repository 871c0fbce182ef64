/* Call-frame information that is wrong: that of lying() makes walks take an address that it pushed
 * for its return address. It lies behind a call, of another function than lying(), and the frame of
 * what seems to be the caller, other(), ends where the true caller's does. Frame pointers are
 * right. */
#include "truth.h"

void caller(long units);
void other(long units);

APART void leaf(long units)
{
	truth_spin(units);
	truth_sink++;
}

__asm__(".text\n"
	".type lying, @function\n"
	"lying:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rsi\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa_offset 16\n" /* 32 */
	"	.cfi_offset %rbp, 0\n"
	"	call leaf\n"
	"	leave\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size lying, . - lying\n"
	".globl caller\n"
	".type caller, @function\n"
	"caller:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov %rsp, %rbp\n"
	"	lea .Lbehind(%rip), %rsi\n"
	"	call lying\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size caller, . - caller\n"
	".globl other\n"
	".type other, @function\n"
	"other:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov %rsp, %rbp\n"
	"	sub $16, %rsp\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	call leaf\n"
	".Lbehind:\n"
	"	leave\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size other, . - other\n");

int main(void)
{
	for (int i = 0; i < 1000; i++) {
		caller(15);
		other(5);
	}
	return 0;
}

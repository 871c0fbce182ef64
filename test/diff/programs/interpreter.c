/* A bytecode interpreter with computed goto: one long function with many lines, calls to small
 * ones. */
#include <stdio.h>
#include <time.h>

enum { PUSH, ADD, SUB, JUMP_IF, CALL, DUP, DROP, SWAP, HALT };

static long stack[64];
static int calls;

__attribute__((noinline)) static long native(long x)
{
	calls++;
	for (int i = 0; i < 20; i++)
		x ^= x << 7 ^ x >> 9;
	return x;
}

__attribute__((noinline)) long run(const int *code)
{
	static void *const labels[] = { &&push, &&add,  &&sub,  &&jump_if, &&call,
					&&dup,  &&drop, &&swap, &&halt };
	const int *pc = code;
	long *sp = stack, t;

#define NEXT goto *labels[*pc++]
	NEXT;
push:
	*sp++ = *pc++;
	NEXT;
add:
	sp--;
	sp[-1] += *sp;
	NEXT;
sub:
	sp--;
	sp[-1] -= *sp;
	NEXT;
jump_if:
	t = *--sp;
	pc = t ? code + *pc : pc + 1;
	NEXT;
call:
	sp[-1] = native(sp[-1]);
	NEXT;
dup:
	*sp = sp[-1];
	sp++;
	NEXT;
drop:
	sp--;
	NEXT;
swap:
	t = sp[-1];
	sp[-1] = sp[-2];
	sp[-2] = t;
	NEXT;
halt:
	return sp[-1];
#undef NEXT
}

static const int countdown[] = { PUSH, 300000, DUP, CALL, DROP,    PUSH, 1,   SUB,
				 DUP,  PUSH,   0,   ADD,  JUMP_IF, 2,    HALT };
static const int two_numbers[] = { PUSH, 1, PUSH, 2, SWAP, ADD, HALT };

int main(void)
{
	long x = run(countdown);

	while (clock() < CLOCKS_PER_SEC / 4) {
		for (int i = 0; i < 50000; i++)
			x += run(two_numbers);
		x += run(countdown);
	}
	printf("%d\n", x != 0 && calls > 0);
	return 0;
}

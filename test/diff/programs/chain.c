/* A chain of 1,000 functions, each called by the one before; some also call back to an early one.
 */
#include <stdio.h>

static volatile unsigned long sink;
static int rounds = 231;

#define BODY(me, next)                                                                             \
	__attribute__((noinline)) void me(int n)                                                   \
	{                                                                                          \
		for (int i = 0; i < n; i++)                                                        \
			sink += (unsigned long)i;                                                  \
		next(n);                                                                           \
	}
#define F(n, next) BODY(f##n, next)
#define TEN(n, next)                                                                               \
	F(n##9, next)                                                                              \
	F(n##8, f##n##9)                                                                           \
	F(n##7, f##n##8)                                                                           \
	F(n##6, f##n##7)                                                                           \
	F(n##5, f##n##6)                                                                           \
	F(n##4, f##n##5) F(n##3, f##n##4) F(n##2, f##n##3) F(n##1, f##n##2) F(n##0, f##n##1)
#define HUNDRED(n, next)                                                                           \
	TEN(n##9, next)                                                                            \
	TEN(n##8, f##n##90)                                                                        \
	TEN(n##7, f##n##80)                                                                        \
	TEN(n##6, f##n##70)                                                                        \
	TEN(n##5, f##n##60)                                                                        \
	TEN(n##4, f##n##50)                                                                        \
	TEN(n##3, f##n##40) TEN(n##2, f##n##30) TEN(n##1, f##n##20) TEN(n##0, f##n##10)

void f400(int n);
void f900(int n);

__attribute__((noinline)) void end_of_chain(int n)
{
	if (--rounds % 100 == 0)
		f900(n / 2);
	else if (rounds % 77 == 0)
		f400(n / 2);
}

HUNDRED(9, end_of_chain)
HUNDRED(8, f900)
HUNDRED(7, f800)
HUNDRED(6, f700)
HUNDRED(5, f600)
HUNDRED(4, f500)
HUNDRED(3, f400)
HUNDRED(2, f300)
HUNDRED(1, f200)
HUNDRED(0, f100)

int main(void)
{
	while (rounds > 0)
		f000((rounds % 50 + 20) * 20);
	printf("%d\n", sink != 0);
	return 0;
}

/* Control flow of all kinds, much of it never executed. The counts of its lines are compared with
 * gcov's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static int never(int x)
{
	if (x)
		return 1;
	return 2;
}

static int compare(int a, int b)
{
	int c1 = a & 7, c2 = b & 7;
	if (c1 != c2)
		return c1 > c2;
	if (a == b)
		return 0;
	if (a > 1000)
		return never(a);
	return a > b;
}

static int both(int a, int b, int c)
{
	if (a && b && c)
		return 1;
	if ((a || b) && (b || c) && a + b + c > 0)
		return 2;
	return a ? b ? 3 : 4 : c ? 5 : 6;
}

static int sum(int n, ...)
{
	va_list ap;
	int s = 0;
	va_start(ap, n);
	while (n-- > 0)
		s += va_arg(ap, int);
	va_end(ap);
	return s;
}

static int choose(int n)
{
	switch (n) {
	case 0:
		return 1;
	case 1:
		n += 3;
		break;
	case 2:
		n--;
		/* fall through */
	case 3:
		n += 2;
		break;
	case 4:
	case 5:
		return never(n);
	case 500:
		return 2;
	default:
		n = 9;
	}
	return n;
}

static int loops(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += i;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		if (i > 20)
			break;
		s += i;
	}
	while (n > 3)
		n /= 2;
	do {
		n++;
	} while (n < 5);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			if (k == 2)
				s += choose(k + i);
			else
				s--;
	while (1) {
		if (s-- < 100)
			break;
		s -= 3;
	}
	return s;
}

static int jumps(int n)
{
	int done = 0;
again:
	if (n > 3) {
		n -= 2;
		done++;
		goto again;
	}
	if (n < 0)
		goto error;
	return done;
error:
	fail("negative");
	return -1;
}

static jmp_buf escape;

static void leap(int n)
{
	if (n == 2)
		longjmp(escape, 1);
}

static int leaps(int n)
{
	if (setjmp(escape))
		return 1;
	leap(n);
	return 0;
}

static int texts(const char *s)
{
	int n = 0;
	if (strlen(s) > 100 || strchr(s, '%'))
		fail(s);
	for (const char *p = s; *p; p++)
		n += *p == 'a' || *p == 'b';
	while (*s++ != 'c')
		;
	return n;
}

/* Labels as values: all statements share one jump, which goes to each label. */
static int labels(const char *p)
{
	static const void *const at[] = { &&end, &&more, &&less };
	int n = 0;
	goto *at[*p++ - '0'];
more:
	n += 2;
	if (n > 100)
		fail("labels");
	goto *at[*p++ - '0'];
less:
	n--;
	goto *at[*p++ - '0'];
end:
	return n;
}

/* A separate statement stores the result of a call. */
struct pair {
	int a, b;
};

static void fill(struct pair *p, int n)
{
	p->a = choose(n);
	p->b = choose(p->a) + 1;
}

/* A function inlined into others that are further down. */
static inline __attribute__((always_inline)) int least(int a, int b)
{
	int d = a < b ? a : b;
	if (!d)
		return 7;
	return d;
}

static int copies(int a, int b)
{
	int n = least(a, b);
	while (n < 20)
		n += least(n, 3);
	return least(n, a);
}

/* The compiler branches within one statement. */
static double scale(unsigned long n)
{
	double d = 1;
	if (n > 50)
		d = (double)n / 3;
	else
		d = (double)n / 2;
	return d;
}

int main(int argc, char **argv)
{
	struct pair p;
	int s = 0;
	for (int i = 0; i < 100; i++) {
		s += compare(i, i * 7);
		s += both(i & 1, i & 2, i & 4);
		s += choose(i % 4);
		s += loops(i % 40);
		s += jumps(i);
		s += leaps(i % 4);
		s += sum(3, i, s, 1);
		s += texts("abracadabra");
		s += labels("11212110");
		fill(&p, i % 5);
		s += p.a + p.b + copies(i, 4) + (int)scale(i);
	}
	if (argc > 1)
		fail(argv[1]);
	printf("%d\n", s);
	return 0;
}

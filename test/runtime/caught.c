/* caught - faults four calls deep and prints the data that a recorder would have: the registers
 * in the order of the kernel's numbers (asm/perf_regs.h), the stack from sp on, and the mappings.
 * For machines with a link register, whose signal context has them in that order. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { WORDS = 200 };

#ifdef __riscv
enum { REGISTERS = 32 }; /* pc, x1 .. x31 */
#define FIRST(c) ((const uint64_t *)(c)->uc_mcontext.__gregs)
#define SP(c)    FIRST(c)[REG_SP]
#else
enum { REGISTERS = 33 }; /* x0 .. x30, sp, pc */
#define FIRST(c) ((const uint64_t *)(c)->uc_mcontext.regs)
#define SP(c)    FIRST(c)[31]
#endif

static void print(const char *what, const uint64_t *word, int n)
{
	printf("%s", what);
	for (int i = 0; i < n; i++)
		printf(" %lx", (long)word[i]);
	puts("");
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	print("registers", FIRST(c), REGISTERS);
	print("stack", (const uint64_t *)SP(c), WORDS);
	while (maps && fgets(line, sizeof(line), maps))
		printf("map %s", line);
	exit(0);
}

/* It has saved nothing: its caller is in the link register. */
NOINLINE static int leaf(volatile int *p) { return *p; }

NOINLINE static int inner(volatile int *p)
{
	volatile int a[7] = { 1 };

	return leaf(p) + a[0];
}

/* Without the frame pointer its caller is not found. */
NOINLINE static int with_alloca(volatile int *p, int n)
{
	volatile char *room = __builtin_alloca(n * 24);

	room[n] = 1;
	return inner(p) + room[n];
}

NOINLINE static int outer(volatile int *p, int n) { return with_alloca(p, n) + 1; }

int main(int argc, char **argv)
{
	volatile char below[2 * WORDS * sizeof(uint64_t)]; /* so that the stack is long enough */
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	below[0] = 0;
	sigaction(SIGSEGV, &a, NULL);
	return outer((volatile int *)(uintptr_t)(argc * 8), argc + 2) + below[0];
}

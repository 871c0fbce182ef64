// What stacks go through: recursion, frames of any size, calls through pointers and from the C
// library, signals, on the same stack and another, longjmp(), exceptions, coroutines, threads. It
// does each in turn, as often as its argument says.
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned leaf(unsigned x) { return x * 2654435761u >> 3; }

__attribute__((noinline)) static unsigned recurse(unsigned depth)
{
	volatile unsigned here[7] = { depth };
	return depth ? recurse(depth - 1) + here[0] : leaf(depth);
}

__attribute__((noinline)) static unsigned varied(unsigned n)
{
	char *p = static_cast<char *>(alloca(16 + n % 700));
	memset(p, static_cast<int>(n), 16);
	return recurse(n % 5) + static_cast<unsigned>(p[3]);
}

__attribute__((noinline)) static unsigned large(unsigned n)
{
	volatile char p[40000];
	p[n] = 1;
	return varied(n) + static_cast<unsigned>(p[n]);
}

__attribute__((noinline)) static unsigned aligned(unsigned n)
{
	alignas(64) volatile unsigned p[16] = { n };
	return varied(n) + p[0];
}

__attribute__((noinline)) static unsigned tail(unsigned n)
{
	return n % 2 ? varied(n) : aligned(n);
}

static unsigned (*const functions[])(unsigned) = { varied, large, aligned, tail, leaf };

static int compare(const void *a, const void *b)
{
	sink += varied(3);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static void sorting()
{
	int of[16];
	for (int i = 0; i < 16; i++)
		of[i] = i * 7 % 16;
	qsort(of, 16, sizeof(of[0]), compare);
}

// ---- signals ----

static void handler(int) { sink += recurse(4); }

static void signals()
{
	raise(SIGUSR1); // on the same stack
	raise(SIGUSR2); // on another
}

// ---- jumps ----

static jmp_buf back;

__attribute__((noinline)) static void jump(unsigned depth)
{
	if (!depth)
		longjmp(back, 1);
	jump(depth - 1);
	sink++;
}

static void jumps()
{
	if (!setjmp(back))
		jump(9);
	sink += varied(2);
}

__attribute__((noinline)) static void throws(unsigned depth)
{
	if (!depth)
		throw 1u;
	throws(depth - 1);
	sink++;
}

static void exceptions()
{
	try {
		throws(3);
	} catch (unsigned x) {
		sink += varied(x);
	}
}

// ---- coroutines ----

static ucontext_t first, second;
static char stack[64 << 10];

static void coroutine()
{
	for (unsigned i = 0;; i++) {
		sink += varied(i);
		swapcontext(&second, &first);
	}
}

static void coroutines()
{
	swapcontext(&first, &second);
	sink += recurse(2);
	swapcontext(&first, &second);
}

// ---- threads ----

static void *thread(void *)
{
	for (unsigned i = 0; i < 20; i++)
		sink += functions[i % 5](i);
	return nullptr;
}

static void threads()
{
	pthread_t t;
	pthread_create(&t, nullptr, thread, nullptr);
	sink += functions[1](5);
	pthread_join(t, nullptr);
}

static void children()
{
	pid_t pid = vfork();
	if (!pid)
		_exit(0);
	waitpid(pid, nullptr, 0);
}

static void libraries()
{
	char text[100];
	snprintf(text, sizeof(text), "%s %.3f", "of", 1.5 + sink);
	sink += static_cast<unsigned>(strtod(text + 3, nullptr));
	free(strdup(text));
}

// ---- assembly whose tables leave the epilogues out ----

#define WITH_FRAME(name, body)                                                                     \
	name ": .cfi_startproc\n"                                                                  \
	     "push %rbp\n"                                                                         \
	     ".cfi_def_cfa_offset 16\n"                                                            \
	     ".cfi_offset %rbp, -16\n"                                                             \
	     "mov %rsp, %rbp\n"                                                                    \
	     ".cfi_def_cfa_register %rbp\n" body "leave\n"                                         \
	     "ret\n"                                                                               \
	     ".cfi_endproc\n"

extern "C" unsigned by_fp(unsigned), by_sp(unsigned);
__asm__(".text\n" WITH_FRAME("by_fp_too", "lea 1(%rdi), %eax\n")
		WITH_FRAME("by_fp", "call by_fp_too\n") // by_fp_too's "ret" has its frame pointer
	"by_sp: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"sub $16, %rsp\n"
	".cfi_def_cfa_offset 32\n"
	"mov %edi, %eax\n"
	"add $16, %rsp\n"
	"pop %rbx\n"
	"ret\n"
	".cfi_endproc\n");

static void by_hand()
{
	for (int i = 0; i < 8; i++)
		sink += by_fp(sink) + by_sp(sink);
}

int main(int, char **argv)
{
	static char other[64 << 10];
	stack_t to = {};
	to.ss_sp = other;
	to.ss_size = sizeof(other);
	sigaltstack(&to, nullptr);
	struct sigaction action = {};
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	getcontext(&second);
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = sizeof(stack);
	makecontext(&second, coroutine, 0);
	static void (*const all[])() = { by_hand,    sorting, signals,  jumps,    exceptions,
					 coroutines, threads, children, libraries };
	for (int i = atoi(argv[1]); i; i--)
		for (auto each : all)
			each();
	return 0;
}

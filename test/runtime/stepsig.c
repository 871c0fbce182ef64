/* stepsig - deliver a signal between any two instructions of a program, deterministically.
 *
 *   stepsig [-T] [-s SIG] [-k EVERY] [-f FIRST] [-m MAXINJ] [-t SECONDS] [-o OBJ] -- PROG ARGS...
 *
 * The program is run under PTRACE_SINGLESTEP.  Every EVERY-th instruction executed (in the object
 * whose path contains OBJ, e.g. libc.so, ld-linux, or anywhere) gets SIG (default SIGPROF)
 * delivered, so the profiler's handler is entered at that exact point: inside malloc, dlopen,
 * dl_iterate_phdr, pthread_create, longjmp, the prologue and epilogue of functions, a PLT stub ...
 * With -T it looks as if it came from a timer of the kernel's, as samples do.
 * While the handler runs nothing is injected (until sigreturn). A handler that is not
 * async-signal-safe deadlocks or crashes; a safe one gets to the end. Exit: 0 target exited as
 * usual, 3 target died of a signal, 4 no progress for SECONDS (deadlock): registers and the recent
 * injection point are printed.  Single-threaded targets (the main thread is stepped; others run
 * free).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
struct rng {
	unsigned long lo, hi;
} rg[64];
static int nrg;
static void maps(pid_t p, const char *obj)
{
	char b[64], l[1024];
	snprintf(b, sizeof b, "/proc/%d/maps", p);
	FILE *f = fopen(b, "r");
	if (!f)
		return;
	nrg = 0;
	while (fgets(l, sizeof l, f)) {
		unsigned long lo, hi;
		char pr[8];
		if (sscanf(l, "%lx-%lx %7s", &lo, &hi, pr) == 3 && pr[2] == 'x' && strstr(l, obj) &&
		    nrg < 64)
			rg[nrg++] = (struct rng){ lo, hi };
	}
	fclose(f);
}
static void where(pid_t p, unsigned long pc)
{
	char b[64], l[1024];
	snprintf(b, sizeof b, "/proc/%d/maps", p);
	FILE *f = fopen(b, "r");
	if (!f)
		return;
	while (fgets(l, sizeof l, f)) {
		unsigned long lo, hi, off;
		char pr[8];
		if (sscanf(l, "%lx-%lx %7s %lx", &lo, &hi, pr, &off) == 4 && pc >= lo && pc < hi) {
			char *s = strchr(l, '/');
			if (s)
				s[strcspn(s, "\n")] = 0;
			printf("%s+0x%lx", s ? s : "?", pc - lo + off);
			break;
		}
	}
	fclose(f);
}
int main(int c, char **v)
{
	int sig = SIGPROF, o;
	long every = 1, first = 0, maxinj = -1;
	double lim = 10;
	const char *obj = 0;
	int timer = 0;
	while ((o = getopt(c, v, "+Ts:k:f:m:t:o:")) != -1)
		switch (o) {
		case 'T':
			timer = 1;
			break;
		case 's':
			sig = atoi(optarg);
			break;
		case 'k':
			every = atol(optarg);
			break;
		case 'f':
			first = atol(optarg);
			break;
		case 'm':
			maxinj = atol(optarg);
			break;
		case 't':
			lim = atof(optarg);
			break;
		case 'o':
			obj = optarg;
			break;
		default:
			return 2;
		}
	if (optind >= c)
		return 2;
	pid_t p = fork();
	if (!p) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(v[optind], v + optind);
		perror(v[optind]);
		_exit(127);
	}
	int st;
	waitpid(p, &st, 0);
	if (!WIFSTOPPED(st))
		return 2;
	setvbuf(stdout, 0, _IOLBF, 0);
	ptrace(PTRACE_SETOPTIONS, p, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	long steps = 0, inj = 0, elig = 0, handled = 0;
	unsigned long retsp = 0, lastpc = 0;
	int pend = 0;
	double t0 = now(), lastchg = t0;
	unsigned long hist[16] = { 0 };
	int nh = 0;
	unsigned long entry_sp = 0;
	(void)entry_sp;
	int in_handler = 0, skip = 0, off = 0;
	int have = 0, seen = 0;
	for (;;) {
		if (timer && pend == sig) {
			siginfo_t si = { .si_signo = sig, .si_code = SI_TIMER };

			si.si_timerid = 0x7ffffff;
			ptrace(PTRACE_SETSIGINFO, p, 0, &si);
		}
		if (ptrace(in_handler || !have ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, p, 0,
			   (long)pend) < 0) {
			perror("step");
			break;
		}
		if (pend == sig) {
			in_handler = have;
			if (in_handler) {
				inj++;
				lastchg = now();
			}
		}
		int injected = pend;
		pend = 0;
		double w0 = now();
		for (;;) {
			pid_t r = waitpid(p, &st, WNOHANG | __WALL);
			if (r == p)
				break;
			double d = now() - w0;
			if (d > lim) {
				struct user_regs_struct g;
				kill(p, SIGSTOP);
				waitpid(p, &st, __WALL);
				ptrace(PTRACE_GETREGS, p, 0, &g);
				printf("STUCK in one instruction/syscall (orig_rax %ld) at ",
				       (long)g.orig_rax);
				where(p, g.rip);
				printf(" after %ld injections, last injected at ", inj);
				where(p, lastpc);
				printf("%s\n", in_handler ? " [in handler]" : "");
				kill(p, SIGKILL);
				return 4;
			}
			if (d > 0.0005)
				usleep(200);
		}
		if (WIFEXITED(st)) {
			printf("exit %d: %ld steps, %ld injected, %.1f s\n", WEXITSTATUS(st), steps,
			       inj, now() - t0);
			return 0;
		}
		if (WIFSIGNALED(st)) {
			printf("DIED of signal %d: %ld steps, %ld injected, last injected at "
			       "0x%lx\n",
			       WTERMSIG(st), steps, inj, lastpc);
			return 3;
		}
		int s = WSTOPSIG(st);
		steps++;
		if (getenv("STEPSIG_V") && steps % 200000 == 0) {
			struct user_regs_struct g;
			ptrace(PTRACE_GETREGS, p, 0, &g);
			fprintf(stderr, "steps %ld eligible %ld injected %ld in_handler %d pc ",
				steps, elig, inj, in_handler);
			where(p, g.rip);
			puts("");
		}
		if (s != SIGTRAP && s != (SIGTRAP | 0x80)) {
			if (s == SIGSEGV || s == SIGBUS || s == SIGILL || s == SIGABRT) {
				struct user_regs_struct g;
				ptrace(PTRACE_GETREGS, p, 0, &g);
				printf("signal %d at ", s);
				where(p, g.rip);
				printf(", %ld injected, last injected at ", inj);
				where(p, lastpc);
				puts("");
			}
			if (s == sig && !injected) {
				pend = have ? sig : 0;
				continue;
			}
			pend = s;
			continue;
		}
		struct user_regs_struct g;
		if (ptrace(PTRACE_GETREGS, p, 0, &g) < 0)
			break;
		if (in_handler) { /* the handler runs freely, stopping at system calls, until
				     rt_sigreturn */
			if (s == (SIGTRAP | 0x80) && g.orig_rax == SYS_rt_sigreturn) {
				in_handler = 0;
				skip = 1;
			}
			continue;
		}
		if (!have) { /* run freely until the program installs a handler for the signal */
			if (s == (SIGTRAP | 0x80) && g.orig_rax == SYS_rt_sigaction &&
			    g.rdi == (unsigned long)sig && g.rsi) {
				if (++seen == 2) {
					have = 1;
					if (obj)
						maps(p, obj);
				}
			} /* entry and exit stops */
			continue;
		}
		{ /* one step of "rep movs/stos" is one iteration: run such an instruction in one
		     go, with a breakpoint after it */
			unsigned char ib[8];
			long iw = ptrace(PTRACE_PEEKTEXT, p, (void *)g.rip, 0);
			memcpy(ib, &iw, 8);
			int il = (ib[0] == 0xf3 || ib[0] == 0xf2)
					 ? (((ib[1] & 0xf0) == 0x40) ? 3 : 2)
					 : 0;
			unsigned char op = il ? ib[il - 1] : 0;
			if (il &&
			    (op == 0xa4 || op == 0xa5 || op == 0xaa || op == 0xab || op == 0xa6 ||
			     op == 0xae) &&
			    g.rcx > 8) {
				unsigned long nx = g.rip + (unsigned long)il;
				long ow = ptrace(PTRACE_PEEKTEXT, p, (void *)nx, 0);
				long bw = (ow & ~0xffL) | 0xcc;
				ptrace(PTRACE_POKETEXT, p, (void *)nx, (void *)bw);
				ptrace(PTRACE_CONT, p, 0, 0);
				waitpid(p, &st, __WALL);
				int sg = WIFSTOPPED(st) ? WSTOPSIG(st) : 0;
				ptrace(PTRACE_POKETEXT, p, (void *)nx, (void *)ow);
				ptrace(PTRACE_GETREGS, p, 0, &g);
				if (g.rip == nx + 1) {
					g.rip = nx;
					ptrace(PTRACE_SETREGS, p, 0, &g);
				} else if (sg && sg != SIGTRAP && sg != sig)
					pend = sg;
			}
		}
		{
			long iw = ptrace(PTRACE_PEEKTEXT, p, (void *)g.rip,
					 0); /* about to change the handler of SIG: stop (or resume)
						injecting */
			if ((iw & 0xffff) == 0x050f && g.rax == SYS_rt_sigaction &&
			    g.rdi == (unsigned long)sig && g.rsi)
				off = (unsigned long)ptrace(PTRACE_PEEKDATA, p, (void *)g.rsi, 0) <
				      2;
			if (off)
				continue;
		}
		if (obj && steps % 4096 == 0)
			maps(p, obj);
		if (obj) {
			int in = 0;
			for (int i = 0; i < nrg; i++)
				in |= g.rip >= rg[i].lo && g.rip < rg[i].hi;
			if (!in)
				continue;
		}
		if (skip) {
			skip = 0;
			continue;
		} /* back at the interrupted instruction: let it run, else EVERY=1 never advances */
		if (elig++ < first || (elig % every))
			continue;
		if (maxinj >= 0 && inj >= maxinj)
			continue;
		hist[nh++ & 15] = g.rip;
		lastpc = g.rip;
		pend = sig;
	}
	(void)hist;
	(void)handled;
	return 5;
}

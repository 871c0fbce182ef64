/* kinrt.h - libkinrt, kin's collection runtime.
 *
 * Linking it (-lkinrt before the C library's own) or preloading it (kin run, or
 * LD_PRELOAD=libkinrt.so) is enough to be profiled; calling anything here is optional.
 *
 * It takes the calls that compilers put into programs:
 *
 * - gcc/clang -pg, -pg -mfentry: calls are counted, exactly, by call site and callee
 * - -finstrument-functions: the same; and how long they take, if asked for
 * - -fsanitize-coverage=trace-pc (gcc), trace-pc-guard,no-prune (clang): executions of basic
 *   blocks are counted
 *
 * and in any program it samples the CPU time of each thread, with the whole stack of calls.
 *
 * All goes to a file, kin.PID.kin in the directory that the program was started in; of a rank of a
 * parallel job kin.RANK.kin. The file is
 * mapped: what was collected is in it, however the process ends. It appears when the program
 * starts, or if CPU time is not sampled with the first call; a forked child's with the first call
 * or sample. A program compiled with -pg gets its gmon.out, too, and gmon.out.OBJECT for each
 * shared object that has calls or samples, when it exits; one that is killed meanwhile leaves what
 * no reader takes for a gmon.out. A forked child that goes on has a file of its own, with nothing
 * of its parent's, and gmon.out.PID.
 *
 * KIN_OPTIONS in the environment is a list of settings, separated by commas; the last of several
 * equal ones counts, unknown ones are left alone:
 *
 * output=NAME: the file. %p is the process id, %r the rank in a parallel job, %t the time in
 *     seconds, %e the program's name, %c a comma, %% a percent sign. If NAME exists, the process id
 *     or the time in microseconds is put before ".kin": nothing is ever overwritten
 * rank=off: in a parallel job (MPI, Slurm) the rank is put before ".kin", too, if NAME has neither
 *     %p nor %r; this leaves it out
 * sample=HZ: sample each thread's CPU time so many times a second (1000 unless it is said); off: do
 *     not. Kernels look at such timers with their tick, often 250 times a second: samples then
 *     stand for more time each, which the clock says. Periods that are longer than the tick vary by
 *     chance, half of them at most, so that no program is in step with them
 * stacks=off: of samples only where they were, not the callers
 * latency: how long calls take, of -finstrument-functions. Elapsed time, less what measuring takes
 * python=off: do not look for the functions of scripts of Python 3.10 and 3.11
 * arcs=off: do not count calls
 * blocks=off: do not count basic blocks
 * gmon=off: no gmon.out
 * start=off: collect nothing until kinrt_start(), monstartup() or moncontrol(1)
 * verbose: say on standard error what goes wrong; it is always in the file
 *
 * "on" or nothing, "off", "no" or "0" are the values of switches. A process that has more rights
 * than its user (AT_SECURE) reads no settings and collects nothing until it asks for that itself.
 *
 * Sampling uses SIGURG, never SIGPROF and no interval timer. If the program handles SIGURG, or
 * waits for it by name (sigwait(), signalfd()), it has it, and we take a real-time signal without a
 * handler: 62, or the next one below. The program does not see the one in use: sigaction() and
 * sigpending() tell what they would without us; calls that wait for all signals do not get ours;
 * those that unblock signals while they wait (sigsuspend(), pselect(), ppoll(), epoll_pwait()) are
 * not woken by it. What the C library does not do for the program (system calls of its own,
 * io_uring) is not covered: where signals are blocked such a call may end with EINTR. A signal
 * takes a frame of the kernel's on the stack that is in use, or on the one for signals; we add 200
 * bytes to that. Stacks are seen 1,024 calls deep. What samples cannot account for (threads that
 * block all signals, timers that are refused) is the difference between two times in the file,
 * which kin info shows; if sampling ends before the program does, the file says why.
 *
 * If somebody truncates the file while it is mapped, collecting ends, and the program goes on:
 * there is a handler for SIGBUS from the first mapping on, which does that. The program sees and
 * sets the action of its own, and gets all other such signals. A thread that blocks SIGBUS is not
 * saved.
 *
 * In static programs (libkinrt.a) nothing is known of dlclose(), exec and the program's own wishes
 * for our signal; stacks need -Wl,--eh-frame-hdr there. kin cc links them so.
 *
 * Files are made with mode 0600 (gmon.out: 0666 less the umask), never through a symbolic link,
 * never over what is not a regular file or has another name. If no file can be made, or no more
 * space is to be had, counting goes on in memory and is written at the end, or said to be lost. */
#ifndef KINRT_H
#define KINRT_H

#ifdef __cplusplus
extern "C" {
#endif

#define KINRT_API __attribute__((visibility("default")))

/* Go on, and pause; in all threads. Async-signal-safe. */
KINRT_API void kinrt_start(void);
KINRT_API void kinrt_stop(void);

/* Write now what else is written at the end: gmon.out, and what is in memory because there was no
 * file. 0, or -errno. Not async-signal-safe. */
KINRT_API int kinrt_flush(void);

/* Note this moment in the file, by a short name. Async-signal-safe. */
KINRT_API void kinrt_mark(const char *name);

#ifdef __cplusplus
}
#endif

#endif

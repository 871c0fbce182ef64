/* kinrt.h - libkinrt, kin's collection runtime.
 *
 * To be profiled, a program only needs to be linked with it (-lkinrt before the C library's own) or
 * run with it preloaded (kin run, or LD_PRELOAD=libkinrt.so); calling the functions here is
 * optional.
 *
 * It handles the calls that compilers insert:
 *
 * - gcc/clang -pg, -pg -mfentry: calls are counted, exactly, by call site and callee
 * - -finstrument-functions: the same; and how long they take, if asked for
 *
 * and in any program it samples the CPU time of each thread, with the whole stack of calls.
 *
 * Data goes to a file, kin.PID.kin in the directory that the program was started in; for a rank of
 * a parallel job kin.RANK.kin. The file is mapped, so the data is in it however the process ends.
 * It is created when the program starts, or, without sampling, at the first call; a forked child
 * creates its own at the first call or sample, without its parent's data. A program compiled with
 * -pg also writes gmon.out when it exits, in the directory that it is in then, and gmon.out.OBJECT
 * for each shared object that has calls or samples; a forked child writes gmon.out.PID. If the
 * process is killed while it writes one, no reader takes the rest for a gmon.out.
 *
 * KIN_OPTIONS in the environment is a list of settings, separated by commas. If one is repeated,
 * the last counts; unknown ones are ignored:
 *
 * output=NAME: the file. %p is the process id, %r the rank in a parallel job, %t the time in
 *     seconds, %e the program's name, %c a comma, %% a percent sign. If NAME exists, the process id
 *     or the time in microseconds is put before ".kin": nothing is ever overwritten
 * rank=off: in a parallel job (MPI, Slurm) the rank is put before ".kin", too, if NAME has neither
 *     %p nor %r; this leaves it out
 * sample=HZ: samples per second of each thread's CPU time (default 1000); off: no sampling. Many
 *     kernels check such timers only at their tick, often 250 times a second: each sample then has
 *     a larger weight, by the clock. Periods longer than the tick vary at random, by half at most,
 *     so that no program is in step with them
 * stacks=off: samples without callers
 * latency: durations of calls, with -finstrument-functions: elapsed time less the measuring cost
 * python=off: do not look for the functions of scripts of Python 3.10 and 3.11
 * arcs=off: do not count calls
 * gmon=off: no gmon.out
 * start=off: collect nothing until kinrt_start(), monstartup() or moncontrol(1)
 * verbose: print errors on standard error; they are always in the file
 * quiet: do not print that gmon.out cannot be written, which is printed as by the C library
 *
 * "on" or nothing, "off", "no" or "0" are the values of switches. A process with more privileges
 * than its user (AT_SECURE) reads no settings and collects nothing until it calls kinrt_start() or
 * the like.
 *
 * Sampling uses SIGURG, never SIGPROF and no interval timer. If the program handles SIGURG, or
 * waits for it by name (sigwait(), signalfd()), it keeps it, and we use a real-time signal without
 * a handler: 62, or the next one below. The program does not see the one in use: sigaction() and
 * sigpending() answer as they would without us; calls that wait for all signals do not get ours;
 * those that unblock signals while they wait (sigsuspend(), pselect(), ppoll(), epoll_pwait()) are
 * not woken by it. Direct system calls and io_uring are not covered: where signals are blocked such
 * a call may end with EINTR. A signal takes a kernel frame on the current stack, or on the signal
 * stack, plus 200 bytes of ours. Stacks are walked 1,024 calls deep. CPU time without samples
 * (threads that block all signals, refused timers) is the difference between two times in the file,
 * which kin info shows. If sampling ends before the program does, the file says why.
 *
 * If the file is truncated while it is mapped, collecting ends and the program goes on, thanks to a
 * handler for SIGBUS. The program still sees and sets its own action for SIGBUS, and gets all other
 * such signals. A thread that blocks SIGBUS is not protected.
 *
 * In static programs (libkinrt.a) the runtime does not notice dlclose(), exec and the program's own
 * use of our signal; stacks need -Wl,--eh-frame-hdr there. kin cc links them so.
 *
 * Files are created with mode 0600 (gmon.out: 0666 less the umask), never through a symbolic link,
 * and never over anything but a regular file, or one with several names. If no file can be created,
 * or space runs out, counting goes on in memory; that data is written at the end, or reported as
 * lost. */
#ifndef KINRT_H
#define KINRT_H

#ifdef __cplusplus
extern "C" {
#endif

#define KINRT_API __attribute__((visibility("default")))

/* Resume and pause collecting, in all threads. Async-signal-safe. */
KINRT_API void kinrt_start(void);
KINRT_API void kinrt_stop(void);

/* Writes now the data that is otherwise written at the end: gmon.out, and data kept in memory
 * because there is no file. Returns 0 or -errno. Not async-signal-safe. */
KINRT_API int kinrt_flush(void);

/* Marks this moment in the file, with a short name. Async-signal-safe. */
KINRT_API void kinrt_mark(const char *name);

#ifdef __cplusplus
}
#endif

#endif

"""Sampling of CPU time, compared with the clock and with the program's own figures; the program must not
notice. Parts of run.py."""
import collections
import glob
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import time

import dump
from harness import FULL, MACHINE, RT, SO, TMP, args, build, describe, run, tap, wanted

ON = 'sample=1000,stacks=on'
_built = {}


def spin(flags=''):
    if flags not in _built:
        _built[flags] = build(f'spin{len(_built)}', 'spin.c', flags='-rdynamic ' + flags)
    return _built[flags]


def cpu_of(r):
    """By the program's own words, seconds."""
    m = re.search(r'cpu ([\d.]+)', r.err)
    return float(m[1]) if m else 0


def weights(kins, inclusive=False):
    """Seconds by function: where samples were, or of whatever is on the stack."""
    out = collections.Counter()
    for k in kins:
        for s in k.stacks:
            names = k.functions(s)
            for name in set(names) if inclusive else names[:1]:
                out[name] += s.weight_ns / 1e9
    return out


def sampled(mode, *more, options=ON, flags='', **how):
    r = run([spin(flags), mode, *more], options=options, **how)
    return r, [dump.read(f) for f in r.kins]


def unnoticed(mode, *more, options=ON, name=None, with_preload=True, **how):
    """The program prints and returns the same as without sampling."""
    plain = run([spin(), mode, *more], preload=False, **how)
    r = run([spin(), mode, *more], options=options, preload=with_preload, **how)
    tap.ok((plain.status, plain.out) == (r.status, r.out), f'sampling {name or mode}: the program behaves as without',
           lambda: describe(plain) + '\n' + describe(r))
    return r, [dump.read(f) for f in r.kins]


def near(a, b, share=0.05, slack=0.02):
    return abs(a - b) <= max(share * abs(b), slack)


def part(name):
    """A function that runs if it is wanted."""
    def make(f):
        def g():
            if wanted('sampling ' + name):
                f()
        return g
    return make


# ---- how much ----

@part('shares')
def shares():
    for flags, more in (('', ''), ('-pg', ''), ('-static', 'static')):
        name = f'sampling shares {flags}'.strip()
        if more:
            prog = build('spin_static', 'spin.c', flags='-pg -static -Wl,--eh-frame-hdr', after=os.path.join(RT, 'libkinrt.a'))
            r = run([prog, 'shares'], preload=False, options=ON)
            kins = [dump.read(f) for f in r.kins]
        else:
            r, kins = sampled('shares', flags=flags)
        if not tap.ok(len(kins) == 1, f'{name}: one file', lambda: describe(r)):
            continue
        w, h = weights(kins), kins[0].header
        total = sum(w.values())
        tap.ok(near(w['burn_a'] / total, .6, slack=.05) and near(w['burn_b'] / total, .3, slack=.05) and near(w['burn_c'] / total, .1, slack=.05),
               f'{name}: as the program spent its time', lambda: str(w))
        tap.ok(near(h['cpu_ns'] / 1e9, cpu_of(r)) and near(h['sampled_ns'] / 1e9, cpu_of(r)) and near(total, cpu_of(r)),
               f'{name}: the time of all samples is that of the clock',
               lambda: f'cpu {h["cpu_ns"]} sampled {h["sampled_ns"]} weights {total} program {cpu_of(r)}')
        chains = collections.Counter()
        for s in kins[0].stacks:
            names = kins[0].functions(s)
            if names[0].startswith('burn_'):
                chains[s.end == 1 and names[1:3] == ['m_shares', 'main']] += s.count
        tap.ok(chains[True] > 0 and chains[False] <= chains[True] / 50, f'{name}: stacks reach the start', lambda: str(chains))


@part('threads')
def threads():
    r, kins = sampled('threads')
    t = kins[0].threads
    want = [0.1, 0.2, 0.3, 0.4]
    got = sorted(x.cpu_ns / 1e9 for x in t if x.tid != kins[0].header['pid'])
    tap.ok(len(got) == 4 and all(near(a, b) for a, b in zip(got, want)), 'sampling threads: CPU time of each, also of those that end by pthread_exit',
           lambda: str(t))
    tap.ok(all(x.end_ns for x in t if x.tid != kins[0].header['pid']), 'sampling threads: their ends', lambda: str(t))
    tap.ok(all(near(x.sampled_ns, x.cpu_ns, slack=2e7) for x in t), 'sampling threads: sampled as accounted', lambda: str(t))
    w = collections.Counter()
    for s in kins[0].stacks:
        w[s.thread] += s.weight_ns
    tap.ok(all(near(w[x.index], x.sampled_ns, slack=1e6) for x in t), 'sampling threads: each has stacks of its own', lambda: f'{w} {t}')
    r, kins = sampled('short_threads')
    h = kins[0].header
    tap.ok(near(h['cpu_ns'] / 1e9, cpu_of(r)) and r.status == 0, 'sampling threads: 2,000 that live for 0.2 ms', lambda: f'{h} {cpu_of(r)}')
    alone = [s for s in kins[0].stacks if s.thread != 0 and s.count == 1]
    tap.ok(all(s.weight_ns <= h['period_ns'] for s in alone), 'sampling threads: a sample stands for no other thread', lambda: str(alone))
    r, kins = sampled('many_threads')
    h = kins[0].header
    tap.ok(weights(kins)['burn_b'] > .7 and h['sampled_ns'] > .7 * h['cpu_ns'] and
           sum(x.cpu_ns for x in kins[0].threads) <= 1.05 * h['cpu_ns'],
           'sampling threads: two after the 1,024th, beside 1,200 that come and go', lambda: f'{h} {weights(kins)}')
    r, kins = unnoticed('waiting_threads', name='300 threads that wait to start')
    if 'not permitted' in r.out:
        tap.skip('sampling threads: all that waited to start', 'no real-time priority')
    else:
        tap.ok(len(kins[0].threads) == 301, 'sampling threads: all that waited to start', lambda: str(kins[0].threads))
    r, kins = unnoticed('blocked', name='threads that block all signals')
    k = kins[0]
    blocked = [x for x in k.threads if x.tid != k.header['pid']][0]
    tap.ok(near(blocked.cpu_ns / 1e9, .5) and blocked.sampled_ns < blocked.cpu_ns / 4 and
           near((k.header['cpu_ns'] - k.header['sampled_ns']) / 1e9, .5, share=.1),
           'sampling threads: the time of one that blocks all signals is said to be missing', lambda: f'{k.header} {k.threads}')


@part('bursts')
def bursts():
    """Just after each tick, which so sees hardly any of them."""
    r, kins = sampled('bursts')
    h = kins[0].header
    burning = [s for s in kins[0].stacks if 'burst' in kins[0].functions(s)]
    tap.ok(all(s.weight_ns <= s.count * h['period_ns'] for s in burning) and near(h['cpu_ns'] / 1e9, cpu_of(r)),
           'sampling bursts: a sample does not stand for what was before a sleep', lambda: f'{h} {cpu_of(r)} {burning}')


@part('control')
def control():
    r, kins = sampled('control')
    w, h = weights(kins), kins[0].header
    tap.ok(near(w['burn_a'], .2) and near(w['burn_c'], .2) and w['burn_b'] < .02 and near(h['cpu_ns'] / 1e9, .4),
           'sampling control: paused by moncontrol', lambda: f'{w} {h}')
    r, kins = sampled('flushes', flags='-pg')
    w, h = weights(kins), kins[0].header
    tap.ok(near(w['burn_a'], .3) and sum(w.values()) - w['burn_a'] < .05 and near(h['cpu_ns'] / 1e9, .3, slack=.05) and cpu_of(r) > .59,
           'sampling control: writing files is no time of the program', lambda: f'{w} {h} {describe(r)}')
    r, kins = sampled('shares', '0.2', options='sample=off')
    tap.ok(not kins, 'sampling control: off')
    r, kins = sampled('shares', '0.4', options='sample=100,stacks=off')
    n = sum(s.count for s in kins[0].stacks)
    tap.ok(20 < n < 60 and kins[0].header['period_ns'] == 10**7 and {s.end for s in kins[0].stacks} == {0},
           'sampling control: 100 a second, without stacks', lambda: f'{n} {kins[0].stacks[:3]}')


@part('chance')
def chance():
    if not shutil.which('strace'):
        tap.skip('sampling chance: periods vary', 'no strace')
        return
    r = run(['strace', '-f', '-e', 'trace=timer_settime', '-o', 'calls.txt', '-E', f'LD_PRELOAD={SO}', '-E', 'KIN_OPTIONS=sample=50', spin(), 'shares', '1'],
            preload=False)
    text = r.files.get('calls.txt', b'').decode()
    if 'timer_settime' not in text:
        tap.skip('sampling chance: periods vary', 'strace sees nothing')
        return
    firsts = [int(s) * 1000 + int(ns) / 1e6 for s, ns in re.findall(r'it_value=\{tv_sec=(\d+), tv_nsec=(\d+)\}', text)][1:]
    tick = time.clock_getres(time.CLOCK_MONOTONIC_COARSE if hasattr(time, 'CLOCK_MONOTONIC_COARSE') else 6) * 1000
    tap.ok(len(firsts) > 20 and len(set(firsts)) > len(firsts) * .9 and all(10 - tick / 2 <= x < 30 - tick / 2 for x in firsts) and
           min(firsts) + tick / 2 < 16 and max(firsts) + tick / 2 > 24, 'sampling chance: periods of 20 ms vary by half', lambda: str(firsts))
    w = weights([dump.read(f) for f in r.kins])
    tap.ok(0 < sum(w.values()) < cpu_of(r) * 1.1, 'sampling chance: samples are of that time', lambda: f'{w} {r.err[-300:]}')


@part('memfd')
def memfd():
    r, kins = sampled('memfd')
    names = sorted(k.modules[0].path for k in kins)
    tap.ok(r.status == 0 and names[0] == '/memfd:hidden' and names[1:], 'sampling memfd: under its name', lambda: f'{names} {describe(r)}')


# ---- stacks ----

@part('stacks')
def stacks():
    for mode, least, name in (('stacks', .98, 'of the C library'), ('coroutine', .8, 'of coroutines'),
                              ('altstack', .9, 'on a signal stack')):
        r, kins = unnoticed(mode, name=name)
        k = kins[0]
        ends = collections.Counter()
        for s in k.stacks:
            ends[s.end] += s.weight_ns
        share = ends[1] / (sum(ends.values()) or 1)
        if mode == 'coroutine':         # the caller of a coroutine's first function is unknown
            share = sum(s.weight_ns for s in k.stacks if k.functions(s)[1:6] == ['nested'] * 4 + ['coroutine']) / sum(ends.values())
        tap.ok(share >= least, f'sampling stacks {name}: complete', lambda: f'{share} {ends}\n' + '\n'.join(
            f'{s.weight_ns} {s.end} {k.functions(s)}' for s in k.stacks if s.end != 1)[:3000])
        inc = weights(kins, True)
        tap.ok(near(inc['nested'], inc['m_' + mode], share=.1) or mode != 'altstack', f'sampling stacks {name}: through the signal frame',
               lambda: str(inc))
    r, kins = unnoticed('deep', name='20,000 deep')
    tap.ok(sum(s.weight_ns for s in kins[0].stacks if s.end == 2 and len(s.pcs) == 1024) > 2e8, 'sampling stacks: 20,000 deep: cut, and said so',
           lambda: str([(s.end, len(s.pcs)) for s in kins[0].stacks[:9]]))
    if MACHINE != 'x86_64':
        return
    r, kins = unnoticed('blind', name='that cannot be walked')
    alone = sum(s.count for s in kins[0].stacks if s.end == 2 and len(s.pcs) == 1)
    folded = subprocess.run([os.path.join(os.path.dirname(RT), 'kin'), 'export', '--to=folded', r.kins[0]], capture_output=True, text=True)
    tap.ok(alone > 20 and kins[0].losses.get('stacks') == alone and re.search(r';\[cut\];blind \d+$', folded.stdout, re.M),
           'sampling stacks that cannot be walked: cut, not roots', lambda: f'{alone} {kins[0].losses} {folded}')
    chain()


def chain():
    """Code without call-frame information: f0 calls f1 and so on. Some of them have a frame pointer, as
    their frames vary in size, and must not pass for callers of those that have none."""
    last = 9
    with open(os.path.join(TMP, 'chain.c'), 'w') as f:
        f.write('#include <alloca.h>\n#include <string.h>\n#include <time.h>\nvolatile unsigned long sink;\n')
        for i in range(last, -1, -1):
            frame = 'memset(alloca(16 + n % 200), 1, 16); ' if i in (0, 3, 6) else ''
            call = f'n += f{i + 1}(n); ' if i < last else ''
            f.write(f'__attribute__((noinline, noclone)) unsigned long f{i}(unsigned long n)\n'
                    f'{{ {frame}for (int i = 0; i < 100; i++) sink += i * n; {call}sink++; return n + sink; }}\n')
        f.write('int main(void) { while (clock() < CLOCKS_PER_SEC) for (int i = 0; i < 1000; i++) sink += f0(i); return 0; }\n')
    for flags, least in (('-fomit-frame-pointer', 0), ('-fno-omit-frame-pointer', .5)):
        prog = build('chain', os.path.join(TMP, 'chain.c'), flags=f'-O2 -rdynamic -fno-asynchronous-unwind-tables {flags}')
        r = run([prog], options=ON)
        k = dump.read(r.kins[0])
        stacks = [(s, [n for n in k.functions(s) if re.fullmatch(r'f\d', n)]) for s in k.stacks]
        wrong = [names for _, names in stacks if any(int(a[1]) != int(b[1]) + 1 for a, b in zip(names, names[1:]))]
        whole = sum(s.count for s, names in stacks if s.end == 1 and names and names[-1] == 'f0')
        everything = sum(s.count for s in k.stacks)
        tap.ok(everything > 50 and not wrong, f'sampling stacks without call-frame information, {flags}: no caller is wrong',
               lambda: f'{everything} {wrong[:9]}')
        tap.ok(whole >= least * everything, f'sampling stacks without call-frame information, {flags}: whole', lambda: f'{whole} of {everything}')


# ---- signals ----

@part('signals')
def signals():
    for mode, name in (('sigprof', 'its own SIGPROF and ITIMER_PROF'), ('all_signals', 'it takes every real-time signal'),
                       ('eintr', 'no system call is interrupted'), ('errno', 'errno'),
                       ('default', 'a real-time signal without handler kills'),
                       ('raw_reset', 'all signals are reset by system calls of its own'),
                       ('syscall_reset', 'all signals are reset, and ours taken, by syscall()'),
                       ('old_signal', 'handlers by older functions'),
                       ('waits', 'calls that unblock signals while they wait'),
                       ('reads_signal', 'it reads our signal by signalfd()')):
        r, kins = unnoticed(mode, name=name)
        w = sum(weights(kins).values())
        if mode == 'all_signals':
            tap.ok(near(w, cpu_of(r) - .24, share=.15) and kins[0].error == 'no signal is left for sampling',
                   f'sampling {name}: and is sampled as long as one is left', lambda: f'{w} {cpu_of(r)} {kins[0].error}')
        elif mode == 'raw_reset':
            tap.ok(near(w, .1, share=.3) and 'took the signal' in kins[0].error, f'sampling {name}: it is sampled up to there, and told', lambda: f'{w} {kins[0].error}')
        elif mode == 'eintr':  # asleep most of the time
            tap.ok(0 < w <= 1.1 * cpu_of(r), f'sampling {name}: and is sampled all the same', lambda: f'{w} {cpu_of(r)}')
        elif mode not in ('default', 'waits'):
            # The program's start is not sampled; where that is slow it takes 40 ms.
            tap.ok(near(w, cpu_of(r), share=.15, slack=.05), f'sampling {name}: and is sampled all the same', lambda: f'{w} {cpu_of(r)}')


@part('debugger')
def debugger():
    if not shutil.which('gdb'):
        tap.skip('sampling debugger: it stops at no sample', 'no gdb')
        return
    r = run(['gdb', '-nx', '-batch', '-ex', f'set exec-wrapper env LD_PRELOAD={SO} KIN_OPTIONS={ON}', '-ex', 'run', '--args', spin(), 'shares', '0.2'],
            preload=False)
    if 'Inferior 1' not in r.out:
        tap.skip('sampling debugger: it stops at no sample', 'gdb runs nothing here')
        return
    w = sum(weights(map(dump.read, r.kins)).values())
    tap.ok('exited normally' in r.out and 'received signal' not in r.out and w > 0, 'sampling debugger: it stops at no sample', lambda: f'{w} {describe(r)}')


@part('no signal')
def no_signal():
    for what in ('ignore', 'block'):
        r = run(['env', f'--{what}-signal', spin(), 'shares', '0.1'], options=ON)
        k = [k for k in map(dump.read, r.kins) if re.search(r'^exe=.*/spin', k.info, re.M)]
        tap.ok(r.status == 0 and len(k) == 1 and (k[0].error == 'no signal is left for sampling' if what == 'ignore' else not k[0].stacks),
               f'sampling: all signals are inherited, to {what} them: the file says what it lacks', lambda: describe(r) + str(k and k[0].header))
        tap.ok(len(k) == 1 and (what == 'ignore' or near(k[0].header['cpu_ns'] / 1e9, .1) and k[0].header['sampled_ns'] == 0),
               f'sampling: all signals are inherited, to {what} them: how much time there was', lambda: str(k and k[0].header))


@part('first calls')
def first_calls():
    """Of functions that are async-signal-safe, while the loader's lock is held."""
    slow = build('slow.so', 'slow.c', flags='-shared -fPIC')
    unnoticed('in_handler', slow, name='first calls in a handler while a constructor waits')


@part('small stacks')
def small_stacks():
    r, kins = unnoticed('small_altstack', name='a signal stack of 8 KiB')
    w = weights(kins)
    tap.ok(near(w['burn_a'], .3, share=.15), 'sampling a signal stack of 8 KiB: and is sampled there', lambda: str(w))
    plug = build('small_plug.so', 'plug.c', flags='-pg -shared -fPIC -DWHICH=1')
    left = []
    for options in ('sample=1,stacks=on', 'sample=off'):
        r, kins = unnoticed('hooks_on_small_stack', plug, options=options, name=f'hooks on a signal stack, {options}')
        left.append(int(re.search(r'left (\d+)', r.err)[1]))
    plain = run([spin(), 'hooks_on_small_stack', plug], preload=False)
    most = int(re.search(r'left (\d+)', plain.err)[1])
    tap.ok(all(most - n < 1024 for n in left) and all(left), 'sampling small stacks: hooks take less than 1 KiB', lambda: f'{most} {left}')


# ---- processes ----

@part('processes')
def processes():
    r, kins = unnoticed('forks', '100', name='100 children beside four threads')
    own = [k for k in kins if k.header['ppid'] != 0 and weights([k])['burn_b'] < .006]  # some a glimpse of it: a tick or two
    children = [k for k in kins if k not in own]
    tap.ok(15 <= len(children) <= 25 and all(near(weights([k])['burn_b'], .02, share=.5) for k in children),
           'sampling children: those that use time have files of their own', lambda: f'{len(kins)} {[weights([k]) for k in children]}')
    r, kins = unnoticed('clones', name='children of _Fork(), clone() and its system calls')
    got = sorted(weights([k])['burn_b'] for k in kins)
    tap.ok(len(kins) == 5 and all(near(x, .1, share=.3) for x in got[1:]), 'sampling children of _Fork(), clone() and its system calls: each has a file',
           lambda: f'{len(kins)} {got}')
    r, kins = unnoticed('c11', name='threads of thrd_create()')
    tap.ok(near(weights(kins)['burn_c'], .3, share=.15), 'sampling threads of thrd_create()', lambda: f'{weights(kins)}')
    r, kins = unnoticed('execs', '10', name='ten times exec', options=ON)
    w = weights(kins)
    tap.ok(len(kins) == 11 and .03 < w['burn_a'] < .2 and sum(k.header['end'] == 4 for k in kins) == 10,
           'sampling exec: a file for each', lambda: f'{len(kins)} {w}')
    r, kins = unnoticed('vforks', name='vfork and exec')
    w = weights(kins)
    tap.ok(.02 < w['burn_a'] < .23, 'sampling vfork: the parent is sampled', lambda: f'{w}')
    r, kins = unnoticed('clone_vm', name='a child with the same memory')
    tap.ok('CLONE_VM' in kins[0].error, 'sampling a child with the same memory: that it was not sampled is said', lambda: kins[0].error)
    shell = run(['sh', '-c', f'for i in 1 2; do echo "int main(void) {{ return $i; }}" >p$i.c; gcc -O2 -o p$i p$i.c; ./p$i; echo $?; done'],
                options=ON, env={'PATH': os.environ['PATH']})
    plain = run(['sh', '-c', f'for i in 1 2; do echo "int main(void) {{ return $i; }}" >p$i.c; gcc -O2 -o p$i p$i.c; ./p$i; echo $?; done'],
                preload=False, env={'PATH': os.environ['PATH']})
    exes = {re.search(r'^exe=.*/(.*)$', dump.read(k).info, re.M)[1] for k in shell.kins}
    tap.ok((shell.status, shell.out, shell.err, shell.files) == (plain.status, plain.out, plain.err, plain.files) and 'cc1' in exes,
           'sampling: a shell that starts compilers; they are in files of their own', lambda: f'{exes}\n' + describe(plain) + '\n' + describe(shell))


@part('kill -9')
def killed():
    def used(pid):
        with open(f'/proc/{pid}/stat', encoding='latin1') as f:
            words = f.read().rpartition(')')[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')

    def ends(*argv):
        """CPU seconds of a program that ends at once: loading and ending are not sampled."""
        p = subprocess.Popen(argv, cwd=TMP, env={'LD_PRELOAD': SO, 'KIN_OPTIONS': 'sample=off'}, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(p.pid, 0)
        p.returncode = 0
        return usage.ru_utime + usage.ru_stime
    idle = max(ends(spin(), 'shares', '0') for _ in range(3))
    lost = [] # seconds
    for i in range(100 if FULL else 8):
        d = os.path.join(TMP, f'killed{i}')
        os.mkdir(d)
        p = subprocess.Popen([spin(), 'shares', '9'], cwd=d, env={'LD_PRELOAD': SO, 'KIN_OPTIONS': ON})
        while used(p.pid) < .15:
            time.sleep(.013)
        time.sleep(.001 * i)
        p.send_signal(signal.SIGKILL)
        _, _, usage = os.wait4(p.pid, 0)
        p.returncode = -9
        kins = [dump.read(f) for f in glob.glob(d + '/*.kin')]
        w = sum(s.weight_ns for k in kins for s in k.stacks) / 1e9
        lost.append(usage.ru_utime + usage.ru_stime - w if kins else 9)
    tap.ok(min(lost) > -.002 and statistics.median(lost) < .025 + idle and max(lost) < .06 + idle,
           'sampling kill -9: all but the last few ms are in the file', lambda: f'{idle} {lost}')
    d = os.path.join(TMP, 'killed.late') # the process's time was written before, at 0.25 s
    os.mkdir(d)
    p = subprocess.Popen([spin(), 'shares', '9'], cwd=d, env={'LD_PRELOAD': SO, 'KIN_OPTIONS': ON})
    while used(p.pid) < .4:
        time.sleep(.01)
    p.send_signal(signal.SIGKILL)
    p.wait()
    text = subprocess.run([os.path.join(args.build, 'kin'), 'info', *glob.glob(d + '/*.kin')], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True).stdout
    share = re.search(r'CPU time sampled .* ([\d.]+) % of the kernel', text)
    tap.ok(share and 90 < float(share[1]) < 104 and 'samples stand for' not in text,
           'sampling kill -9: the CPU time is that up to the last sample', text)


@part('refused')
def refused():
    r, kins = unnoticed('no_timers', SO, name='where timers are refused (seccomp)', with_preload=False)
    k = kins[0] if kins else None
    tap.ok(k and k.error.startswith('timer for sampling') and near(k.header['cpu_ns'] / 1e9, cpu_of(r), share=.1) and not k.stacks,
           'sampling refused: the file says so, and how much CPU time there was', lambda: describe(r) + str(k and k.header))


# ---- libraries and late comers ----

@part('libraries')
def libraries():
    d = os.path.join(TMP, 'splugs')
    os.makedirs(d, exist_ok=True)
    for i in range(8):
        build(f'splugs/plug_{i}.so', 'plug.c', flags=f'-shared -fPIC -DWHICH={i}')
    r, kins = unnoticed('dlclose', f'{2000 if FULL else 400}:{d}', name='libraries that come and go beside a thread')
    k = kins[0]
    by_id = {m.id: m for m in k.modules}
    right, wrong = 0, []
    for s in k.stacks:
        for m in by_id.values():
            if 'plug_' in m.path and m.start <= s.pcs[0] < m.end and m.mapped_at <= s.epoch < m.unmapped_at:
                f = dump.name(m.path, s.pcs[0] - m.bias)[1]
                n = re.search(r'plug_(\d)', m.path)[1]
                right += s.count * (f in (f'plug_leaf_{n}', 'plug'))
                if f.startswith('plug_leaf') and f != f'plug_leaf_{n}':
                    wrong.append((s, m, f))
    tap.ok(right > 20 and not wrong, 'sampling libraries: samples in unloaded ones are theirs', lambda: f'{right} {wrong}')
    r, kins = unnoticed('unseen', d, name='libraries that the C library unloads')
    w = weights(kins)
    starts = collections.Counter(m.start for m in kins[0].modules if 'plug_' in m.path)
    got = [sum(s.weight_ns for s in kins[0].stacks if f'plug_{i}.so' in kins[0].place(s.pcs[0], s.epoch)[0]) / 1e9 for i in range(8)]
    tap.ok(max(starts.values()) > 1 and all(.04 < x < .18 for x in got), 'sampling libraries that the C library unloads: each has its own time',
           lambda: f'{starts} {got} {w}')
    plug = build('stale_plug.so', 'plug.c', flags='-shared -fPIC -DWHICH=1')
    r, kins = unnoticed('stale', f'{20000 if FULL else 8000}:{plug}', name='stale addresses of a library that comes and goes')
    w = weights(kins)
    tap.ok(w['plug'] + w['plug_leaf_1'] > .02, 'sampling stale addresses: the library is seen where it runs', lambda: str(w))
    r, kins = unnoticed('late', SO, name='loaded by dlopen() beside running threads', with_preload=False)
    w = weights(kins)
    tap.ok(kins and near(w['burn_b'], .3, share=.15) and near(w['burn_a'], .3, share=.15), 'sampling late: threads that were there before are sampled, too',
           lambda: f'{w} {describe(r)}')


@part('file')
def file():
    for flags in ('', '-pg'):
        for size in ('0', '5000', '70000'):
            plain = run([spin(flags), 'truncates', size], preload=False)
            r = run([spin(flags), 'truncates', size], options=ON)
            tap.ok((plain.status, plain.out) == (r.status, r.out), f'sampling {flags} file truncated to {size} bytes: the program behaves as without',
                   lambda: describe(plain) + '\n' + describe(r))
            if size == '5000':
                with open(r.kins[0], 'rb') as f:
                    tap.ok(b'was truncated' in f.read(4096), f'sampling {flags} file truncated to {size} bytes: what is left says so')
    prog = build('spin_static', 'spin.c', flags='-pg -static -Wl,--eh-frame-hdr', after=os.path.join(RT, 'libkinrt.a'))
    # Often enough that ticks come while a thread is in the handler of SIGBUS: one in 70 runs ended where these were not blocked.
    runs = [run([prog, 'truncates', '0'], preload=False, options='sample=20000,stacks=on') for _ in range(100 if FULL else 5)]
    tap.ok(all(r.status == 0 and r.out == 'alive\n' for r in runs), 'sampling file truncated, static: the program behaves as without',
           lambda: '\n'.join(map(describe, runs)))
    unnoticed('bus', name='bus errors of its own')
    unnoticed('bus_sent', name='SIGBUS, sent while it works')


# ---- output ----

def ticks(path, low=0, high=1 << 64):
    """Of the histograms of a gmon.out, added up: of the bins that begin in [low, high)."""
    total = 0
    with open(path, 'rb') as f:
        data = f.read()
    at = 20
    while at < len(data) and data[at] == 0:
        n = struct.unpack_from('<I', data, at + 17)[0]
        start, end = struct.unpack_from('<QQ', data, at + 1)
        bins = struct.unpack_from(f'<{n}H', data, at + 41)
        total += sum(ticks for i, ticks in enumerate(bins) if low <= start + i * (end - start) // n < high)
        at += 41 + 2 * n
    return total


@part('gmon.out')
def gmon():
    if not shutil.which('gprof'):
        tap.skip('sampling gmon.out: GNU gprof shows the same shares', 'no gprof')
        return
    r, kins = sampled('shares', flags='-pg')
    out = subprocess.run(['gprof', '-b', '-p', spin('-pg'), os.path.dirname(r.kins[0]) + '/gmon.out'], capture_output=True, text=True).stdout
    got = {m[2]: float(m[1]) for m in re.finditer(r'^ *([\d.]+) .* (\S+)$', out, re.M)}
    seconds = {m[2]: float(m[1]) for m in re.finditer(r'^ *[\d.]+ +[\d.]+ +([\d.]+) .* (\S+)$', out, re.M)}
    w = weights(kins)
    tap.ok(w['burn_a'] > w['burn_b'] > w['burn_c'] > 0 and all(near(got.get(f, 0), 100 * w[f] / sum(w.values()), slack=1.5) for f in ('burn_a', 'burn_b', 'burn_c')) and
           near(sum(seconds.values()), cpu_of(r)), 'sampling gmon.out: GNU gprof shows the same shares, and the time by the clock', lambda: f'{w}\n{out}')
    d = os.path.join(TMP, 'sgmon')
    os.makedirs(d, exist_ok=True)
    for i in range(8):
        build(f'sgmon/plug_{i}.so', 'plug.c', flags=f'-shared -fPIC -DWHICH={i}')
    r, kins = sampled('dlclose', f'100:{d}', flags='-pg')
    names = sorted(os.path.basename(f) for f in glob.glob(os.path.dirname(r.kins[0]) + '/gmon.out*'))
    total = sum(ticks(f) for f in glob.glob(os.path.dirname(r.kins[0]) + '/gmon.out.plug_*')) / 1000
    w = weights(kins)
    tap.ok(total > .02 and near(total, sum(v for k, v in w.items() if k.startswith(('plug', '_init'))), share=.2, slack=.005),
           'sampling gmon.out: one for each shared object, also of unloaded ones', lambda: f'{names} {total} {w}')


CALLS = """
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 2)
        for (int i = 0; i < 100000; i++)
            leaf();
    return 0;
}
"""


@part('hooks')
def hooks():
    """Most of the time of these calls is the counting: reports subtract its cost."""
    with open(os.path.join(TMP, 'hooks.c'), 'w') as f:
        f.write(CALLS)
    r = run([build('hooks', os.path.join(TMP, 'hooks.c'), flags='-pg -O1')], options=ON)
    k = dump.read(r.kins[0])
    tap.ok(k.header['hook_ps'] > 0 and any(m.start <= k.hooks[0] < k.hooks[1] <= m.end for m in k.modules),
           'sampling hooks: what counting adds to a call was measured', lambda: f'{k.header} {k.hooks}\n' + describe(r))

    def show(*words):
        p = subprocess.run([os.path.join(RT, '..', 'kin'), *words, r.kins[0]], capture_output=True, text=True)
        return p.stdout + p.stderr

    def graph(*more):
        return show('graph', *more)
    off, left = graph(), graph('--with-hooks')
    tap.ok('mcount' not in off and re.search(r'counting calls took 0\.\d+ s of 0\.\d+ s, estimated at \d+\.\d+ ns a call', off),
           'sampling hooks: kin graph takes it off, and says so', lambda: off)
    timeless = show('counts') + show('counts', '--format=csv')
    tap.ok(' leaf' in timeless and 'estimated at' not in timeless, 'sampling hooks: of no concern where there are no times', lambda: timeless)
    said = subprocess.run([os.path.join(RT, '..', 'gprof'), '-b', '-p', os.path.join(TMP, 'hooks'), r.kins[0]], capture_output=True, text=True)
    tap.ok('mcount' not in said.stdout and ' leaf' in said.stdout and 'estimated at' in said.stderr, 'sampling hooks: gprof takes it off, and says so',
           lambda: said.stdout + said.stderr)
    tap.ok('mcount' in left and 'estimated at' not in left, 'sampling hooks: --with-hooks leaves it in', lambda: left)


@part('own work')
def own_work():
    """Programs of short threads let the runtime work under its locks."""
    r, kins = sampled('short_threads', options='sample=10000,stacks=on')
    k = kins[0]
    tap.ok(any(m.start <= k.own[0] < k.own[1] <= m.end and 'libkinrt' in m.path for m in k.modules), 'sampling own work: where its code is',
           lambda: f'{k.own} {k.modules}')
    took = sum(s.weight_ns for s in k.stacks if k.own[0] <= s.pcs[0] < k.own[1] and not k.hooks[0] <= s.pcs[0] < k.hooks[1])

    def show(*words):
        return subprocess.run([os.path.join(RT, '..', 'kin'), *words, r.kins[0]], capture_output=True, text=True).stdout
    rows = re.findall(r'^(.*) (\d+)$', show('script', '--folded'), re.M)
    row = [int(n) for stack, n in rows if re.fullmatch(r'[^;]*;\[profiler\]', stack)]
    tap.ok(took and row == [took], 'sampling own work: it is one row', lambda: f'{took} {row}\n' + describe(r))
    tap.ok(sum(int(n) for stack, n in rows if '[not sampled]' not in stack) == sum(s.weight_ns for s in k.stacks),
           'sampling own work: the total stays', lambda: f'{rows}')
    for words in (('report', '--own=no', '--all-rows', '--sort=dso,symbol'), ('flat',), ('graph',)):
        text = show(*words)
        tap.ok('[profiler]' in text and not re.search(r'libkinrt|\brt_', text), f'sampling own work: kin {words[0]}', lambda: text)
    with open(os.path.join(TMP, 'entered.c'), 'w') as f:
        f.write(CALLS)
    r = run([build('entered', os.path.join(TMP, 'entered.c'), flags='-finstrument-functions -O1')], options=ON)
    text = show('flat')
    tap.ok("kin's own work inside the program took" in text and '[profiler]' in text and '__cyg_profile' not in text,
           'sampling own work: hooks whose cost is not known are in it, and it is said', lambda: text)


@part('gmon.out own')
def gmon_own():
    """Most of the time of these calls is the counting."""
    with open(os.path.join(TMP, 'calls.c'), 'w') as f:
        f.write(CALLS)
    prog = build('calls', os.path.join(TMP, 'calls.c'), flags='-pg -static -Wl,--eh-frame-hdr', after=os.path.join(RT, 'libkinrt.a'))
    at = {name: int(addr, 16) for addr, _, name in re.findall(r'^(\w+) (\w) (__st\w+_kinrt_code)$', subprocess.run(
        ['nm', prog], capture_output=True, text=True).stdout, re.M)}
    own = at.get('__start_kinrt_code', 0), at.get('__stop_kinrt_code', 0)
    r = run([prog], preload=False, options=ON)
    path = os.path.join(os.path.dirname(r.kins[0]), 'gmon.out')
    counting = sum(v for k, v in weights([dump.read(f) for f in r.kins]).items() if k.startswith(('rt_', 'mcount', '_mcount')))
    tap.ok(own[0] < own[1] and counting > 0 and ticks(path) > 0 and not ticks(path, *own),
           'sampling gmon.out, static: the time of the counting is no function\'s',
           lambda: f'{own} {counting} s, {ticks(path)} ticks, {ticks(path, *own)} of them')


PARTS = (shares, threads, bursts, control, chance, stacks, signals, debugger, no_signal, first_calls, small_stacks, processes, killed, refused, libraries, file, gmon, hooks, own_work, gmon_own)

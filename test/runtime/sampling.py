"""Sampling of CPU time: what it says is held against the clock and against what the program knows, and
the program must not notice. Parts of run.py."""
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
from harness import FULL, RT, SO, TMP, build, describe, run, tap, wanted

ON = 'sample=1000,stacks=on'
_built = {}


def spin(flags=''):
    if flags not in _built:
        _built[flags] = build(f'spin{len(_built)}', 'spin.c', flags=flags)
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
    """What the program prints and returns is as without."""
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
    tap.ok(near(h['sampled_ns'] / 1e9, cpu_of(r), share=.35, slack=.05) and near(h['cpu_ns'] / 1e9, cpu_of(r)) and r.status == 0,
           'sampling threads: 2,000 that live for 0.2 ms', lambda: f'{h} {cpu_of(r)}')
    r, kins = unnoticed('blocked', name='threads that block all signals')
    k = kins[0]
    blocked = [x for x in k.threads if x.tid != k.header['pid']][0]
    tap.ok(near(blocked.cpu_ns / 1e9, .5) and blocked.sampled_ns < blocked.cpu_ns / 4 and
           near((k.header['cpu_ns'] - k.header['sampled_ns']) / 1e9, .5, share=.1),
           'sampling threads: the time of one that blocks all signals is said to be missing', lambda: f'{k.header} {k.threads}')


@part('control')
def control():
    r, kins = sampled('control')
    w, h = weights(kins), kins[0].header
    tap.ok(near(w['burn_a'], .2) and near(w['burn_c'], .2) and w['burn_b'] < .02 and near(h['cpu_ns'] / 1e9, .4),
           'sampling control: paused by moncontrol', lambda: f'{w} {h}')
    r, kins = sampled('shares', '0.2', options='sample=off')
    tap.ok(not kins, 'sampling control: off')
    r, kins = sampled('shares', '0.4', options='sample=100,stacks=off')
    n = sum(s.count for s in kins[0].stacks)
    tap.ok(20 < n < 60 and kins[0].header['period_ns'] == 10**7 and {s.end for s in kins[0].stacks} == {0},
           'sampling control: 100 a second, without stacks', lambda: f'{n} {kins[0].stacks[:3]}')


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
        if mode == 'coroutine':         # nothing says who called the first function of one
            share = sum(s.weight_ns for s in k.stacks if k.functions(s)[1:6] == ['nested'] * 4 + ['coroutine']) / sum(ends.values())
        tap.ok(share >= least, f'sampling stacks {name}: complete', lambda: f'{share} {ends}\n' + '\n'.join(
            f'{s.weight_ns} {s.end} {k.functions(s)}' for s in k.stacks if s.end != 1)[:3000])
        inc = weights(kins, True)
        tap.ok(near(inc['nested'], inc['m_' + mode], share=.1) or mode != 'altstack', f'sampling stacks {name}: through the signal frame',
               lambda: str(inc))
    r, kins = unnoticed('deep', name='20,000 deep')
    tap.ok(sum(s.weight_ns for s in kins[0].stacks if s.end == 2 and len(s.pcs) == 512) > 2e8, 'sampling stacks: 20,000 deep: cut, and said so',
           lambda: str([(s.end, len(s.pcs)) for s in kins[0].stacks[:9]]))


# ---- signals ----

@part('signals')
def signals():
    for mode, name in (('sigprof', 'its own SIGPROF and ITIMER_PROF'), ('all_signals', 'it takes every real-time signal'),
                       ('eintr', 'no system call is interrupted'), ('errno', 'errno'),
                       ('default', 'a real-time signal without handler kills')):
        r, kins = unnoticed(mode, name=name)
        w = sum(weights(kins).values())
        if mode == 'all_signals':
            tap.ok(near(w, cpu_of(r) - .2, share=.15) and kins[0].error == 'no signal is left for sampling',
                   f'sampling {name}: and is sampled as long as one is left', lambda: f'{w} {cpu_of(r)} {kins[0].error}')
        elif mode != 'default':
            tap.ok(near(w, cpu_of(r), share=.15), f'sampling {name}: and is sampled all the same', lambda: f'{w} {cpu_of(r)}')


# ---- processes ----

@part('processes')
def processes():
    r, kins = unnoticed('forks', '100', name='100 children beside four threads')
    own = [k for k in kins if k.header['ppid'] != 0 and weights([k])['burn_b'] < .002]  # some a glimpse of it
    children = [k for k in kins if k not in own]
    tap.ok(15 <= len(children) <= 25 and all(near(weights([k])['burn_b'], .02, share=.5) for k in children),
           'sampling children: those that use time have files of their own', lambda: f'{len(kins)} {[weights([k]) for k in children]}')
    r, kins = unnoticed('execs', '10', name='ten times exec', options=ON)
    w = weights(kins)
    tap.ok(len(kins) == 11 and .03 < w['burn_a'] < .2 and sum(k.header['end'] == 4 for k in kins) == 10,
           'sampling exec: a file for each', lambda: f'{len(kins)} {w}')
    r, kins = unnoticed('vforks', name='vfork and exec')
    w = weights(kins)
    tap.ok(near(w['burn_a'], .2, share=.15), 'sampling vfork: the parent is sampled', lambda: f'{w}')
    shell = run(['sh', '-c', f'for i in 1 2; do echo "int main(void) {{ return $i; }}" >p$i.c; gcc -O2 -o p$i p$i.c; ./p$i; echo $?; done'],
                options=ON, env={'PATH': os.environ['PATH']})
    plain = run(['sh', '-c', f'for i in 1 2; do echo "int main(void) {{ return $i; }}" >p$i.c; gcc -O2 -o p$i p$i.c; ./p$i; echo $?; done'],
                preload=False, env={'PATH': os.environ['PATH']})
    exes = {re.search(r'^exe=.*/(.*)$', dump.read(k).info, re.M)[1] for k in shell.kins}
    tap.ok((shell.status, shell.out, shell.err, shell.files) == (plain.status, plain.out, plain.err, plain.files) and 'cc1' in exes,
           'sampling: a shell that starts compilers; they are in files of their own', lambda: f'{exes}\n' + describe(plain) + '\n' + describe(shell))


@part('kill -9')
def killed():
    lost = [] # seconds, also of the program's end, which takes longer on a busy machine
    for i in range(100 if FULL else 8):
        d = os.path.join(TMP, f'killed{i}')
        os.mkdir(d)
        p = subprocess.Popen([spin(), 'shares', '9'], cwd=d, env={'LD_PRELOAD': SO, 'KIN_OPTIONS': ON})
        time.sleep(.2 + .013 * i)
        p.send_signal(signal.SIGKILL)
        _, _, usage = os.wait4(p.pid, 0)
        p.returncode = -9
        used = usage.ru_utime + usage.ru_stime
        kins = [dump.read(f) for f in glob.glob(d + '/*.kin')]
        w = sum(s.weight_ns for k in kins for s in k.stacks) / 1e9
        lost.append(used - w if kins else 9)
    tap.ok(min(lost) > -.002 and statistics.median(lost) < .025 and max(lost) < .06, 'sampling kill -9: all but the last few ms are in the file',
           lambda: str(lost))


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
    r, kins = unnoticed('late', SO, name='loaded by dlopen() beside running threads', with_preload=False)
    w = weights(kins)
    tap.ok(kins and near(w['burn_b'], .3, share=.15) and near(w['burn_a'], .3, share=.15), 'sampling late: threads that were there before are sampled, too',
           lambda: f'{w} {describe(r)}')


# ---- output ----

def ticks(path):
    """Of the histograms of a gmon.out, added up."""
    total = 0
    with open(path, 'rb') as f:
        data = f.read()
    at = 20
    while at < len(data) and data[at] == 0:
        n = struct.unpack_from('<I', data, at + 17)[0]
        total += sum(struct.unpack_from(f'<{n}H', data, at + 41))
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


PARTS = (shares, threads, control, stacks, signals, processes, killed, refused, libraries, gmon)

"""The runtime for other machines than this one, if a cross compiler and qemu-user are installed for them; and kin's
reports here of recordings made there. Parts of run.py. The programs are those of the other parts.

qemu-user supports counting, and timers that sample. It has no process_vm_readv(), so stacks that are not a thread's
own (coroutines, signals) are not walked. It gives a wrong number of the timer, so threads that the runtime does not
know are not sampled. It has no perf_event_open(): the input of kin record is written by hand here."""
import os
import re
import shutil
import struct
import subprocess
import sys

import dump
import latency
from harness import (HERE, MACHINE, RT, TMP, TOP, compile_command, counts_lost, describe, leaf_calls, run, tap, truth, wanted)

sys.path.insert(0, os.path.join(HERE, '..', 'perf'))
import made                                                                     # noqa: E402

KIN = os.path.join(RT, '..', 'kin')
GPROF = os.path.join(RT, '..', 'gprof')
# The ELF note of the hooks, the number of registers that the kernel numbers, and the number of pc.
MACHINES = {
    'aarch64': {'notes': 'AArch64 feature: BTI', 'registers': 33, 'pc': 32},
    'riscv64': {'notes': '', 'registers': 32, 'pc': 0},
}
COUNTED = ('normal', 'exit42', '_exit', 'quick_exit', 'fork', 'fork_threads', 'threads64', 'threads1000', 'patience', 'longjmp',
           'ucontext', 'altstack', 'cancel', 'callback')


class Foreign:
    def __init__(self, name):
        self.name, self.d = name, os.path.join(TMP, name)
        self.cc = name + '-linux-gnu-gcc'
        self.root = f'/usr/{name}-linux-gnu'
        self.so = f'{self.d}/build/runtime/libkinrt.so'
        self.built = {}

    def build_runtime(self):
        """As meson.build does it for users."""
        os.mkdir(self.d)
        with open(self.d + '/cross', 'w') as f:
            f.write('[binaries]\n' + ''.join(f"{key} = '{self.name}-linux-gnu-{tool}'\n" for key, tool in
                                             (('c', 'gcc'), ('ar', 'ar'), ('objcopy', 'objcopy'), ('strip', 'strip'))) +
                    f"[host_machine]\nsystem = 'linux'\ncpu_family = '{self.name}'\ncpu = '{self.name}'\nendian = 'little'\n")
        return subprocess.run(f'meson setup {self.d}/build {TOP} --cross-file {self.d}/cross -Druntime_only=true --werror && '
                              f'meson compile -C {self.d}/build', shell=True, capture_output=True, text=True)

    def program(self, out, source, flags, after=''):
        path = os.path.join(self.d, out)
        if out not in self.built:
            p = subprocess.run(compile_command(path, [source], flags, after, self.cc, self.name), shell=True, capture_output=True, text=True)
            self.built[out] = p
            if p.returncode:
                raise SystemExit(p.stderr)
        return path

    def run(self, argv, preload=True, options='sample=off', **how):
        """qemu's -E takes commas apart: settings come by its own environment."""
        return run(['qemu-' + self.name, '-L', self.root, *(['-E', 'LD_PRELOAD=' + self.so] if preload else []), *argv], preload=False,
                   env={'KIN_OPTIONS': options}, **how)


def kin(*argv):
    return subprocess.run([KIN, *argv], capture_output=True, text=True)


def columns(text):
    """Of a table by kin: [the words of each line]."""
    return [line.split() for line in text.splitlines()]


def binary(m):
    hooks = f'{os.path.realpath(m.so)}.p/{m.name}_hooks.S.o'
    notes = subprocess.run(['readelf', '-n', hooks], capture_output=True, text=True).stdout
    tap.ok(os.path.exists(hooks) and MACHINES[m.name]['notes'] in notes, f'{m.name}: the hooks do not take branch protection off the program', notes)
    said = subprocess.run(['sh', f'{TOP}/test/check/runtime.sh', TOP, m.so, m.so[:-2] + 'a'], capture_output=True, text=True).stdout
    tap.ok('not ok' not in said and '1..' in said, f'{m.name}: needs and offers only what is listed', said)


def counting(m):
    target, plain = m.program('target', 'target.c', '-pg'), m.program('plain', 'target.c', '')
    for mode in COUNTED:
        more = ['64000'] if mode == 'threads64' else []
        a, b = m.run([plain, mode, *more], preload=False), m.run([target, mode, *more])
        tap.ok((a.status, a.out) == (b.status, b.out) and truth(b) and leaf_calls(b) == truth(b) and not counts_lost(b),
               f'{m.name} {mode}: {truth(b)} calls counted', lambda: describe(a) + '\n' + describe(b))
    r = m.run([m.program('instrumented', 'target.c', '-finstrument-functions'), 'threads64', '64000'])
    tap.ok(leaf_calls(r) == 64000 and not counts_lost(r), f'{m.name}: gcc -finstrument-functions', lambda: describe(r))
    r = m.run([m.program('static', 'target.c', '-pg -static', m.so[:-2] + 'a'), 'threads64', '64000'], preload=False)
    tap.ok(leaf_calls(r) == 64000 and not counts_lost(r), f'{m.name}: gcc -pg -static', lambda: describe(r))


def read_here(m):
    """By other processors' programs."""
    target = m.program('target', 'target.c', '-pg')
    r = m.run([target, 'threads64', '64000'])
    flat = kin('flat', r.kins[0])
    tap.ok(any(w[-1:] == ['leaf'] and '64000' in w for w in columns(flat.stdout)), f'{m.name}: kin flat reads it here', lambda: flat.stdout + flat.stderr)
    graph = kin('graph', r.kins[0])
    tap.ok(any(w[:2] == ['64000/64000', 'calls'] or '64000/64000' in w for w in columns(graph.stdout)) and 'thread_calls' in graph.stdout,
           f'{m.name}: kin graph knows who called', lambda: graph.stdout + graph.stderr)
    info = kin('info', r.kins[0])
    tap.ok(not info.returncode, f'{m.name}: kin info', lambda: info.stderr)
    gmon = os.path.join(os.path.dirname(r.kins[0]), 'gmon.out')
    said = subprocess.run([GPROF, '-b', '-p', target, gmon], capture_output=True, text=True)
    tap.ok(any(w[-1:] == ['leaf'] and '64000' in w for w in columns(said.stdout)) and 'warning' not in said.stderr, f'{m.name}: gprof reads gmon.out here',
           lambda: said.stdout + said.stderr)
    gnu = shutil.which(m.name + '-linux-gnu-gprof')
    if gnu:
        theirs = subprocess.run([gnu, '-b', '-p', '-q', target, gmon], capture_output=True, text=True).stdout
        ours = subprocess.run([GPROF, '--compat=gnu', '-b', '-p', '-q', target, gmon], capture_output=True, text=True).stdout
        tap.ok(ours == theirs and ours, f'{m.name}: GNU gprof of that machine prints the same', lambda: ours + theirs)


def timing(m):
    r = m.run([m.program('spans', 'spans.c', '-finstrument-functions'), 'known'], options='sample=off,latency')
    f = latency.functions(dump.read(k) for k in r.kins)
    tap.ok({n: x.count for n, x in f.items()} == latency.KNOWN and not counts_lost(r), f'{m.name}: every call is measured',
           lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + '\n' + describe(r))
    tap.ok(2e6 <= f['nap'].min and 9000 <= f['ten_us'].min and 99000 <= f['hundred_us'].min, f'{m.name}: how long calls take', lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + '\n' + describe(r))


def sampling(m):
    spin = m.program('spin', 'spin.c', '-fasynchronous-unwind-tables')
    r = m.run([spin, 'shares', '1'], options='sample=1000,stacks=on')
    k = dump.read(r.kins[0]) if r.kins else None
    stacks = {tuple(k.functions(s)[:3]): s for s in k.stacks} if k else {}
    tap.ok(r.status == 0 and all((f, 'm_shares', 'main') in stacks for f in ('burn_a', 'burn_b', 'burn_c')), f'{m.name} sampled: with stacks',
           lambda: f'{list(stacks)}\n' + describe(r))
    rows = kin('report', '--no-children', '--sort=symbol', r.kins[0])
    share = {f: float(n) for n, f in re.findall(r'([\d.]+) ?%.*?\b(burn_[abc])\b', rows.stdout)}
    tap.ok(abs(share.get('burn_a', 0) - 60) < 5 and abs(share.get('burn_b', 0) - 30) < 5, f'{m.name} sampled: kin report says here where time went',
           lambda: rows.stdout + rows.stderr)
    r = m.run([m.program('target', 'target.c', '-pg'), 'normal'], options='sample=1000,stacks=on')
    k = dump.read(r.kins[0]) if r.kins else None
    tap.ok(k and k.header['hook_ps'] > 0 and k.hooks[0] < k.hooks[1], f'{m.name} sampled: what counting adds to a call was measured', lambda: describe(r))
    r = m.run([spin, 'threads', '0.5'], options='sample=1000,stacks=on')
    k = dump.read(r.kins[0]) if r.kins else None
    per = [t for t in k.threads if t.samples] if k else []
    cpu, sampled = (sum(t.cpu_ns for t in per), sum(t.sampled_ns for t in per)) if k else (0, 0)
    tap.ok(r.status == 0 and len(per) > 2 and abs(cpu - sampled) < 0.2 * cpu, f'{m.name} sampled: {len(per)} threads', lambda: f'{per}\n' + describe(r))


REGS_USER, STACK_USER = 1 << 12, 1 << 13


class Caught(made.Recording):
    """A recording of registers and stacks, by another machine."""

    def __init__(self, m):
        super().__init__(made.BASIC | REGS_USER | STACK_USER)
        self.mask = (1 << MACHINES[m.name]['registers']) - 1
        self.features[6] = made.string(m.name)

    def attr(self, i):
        base = super().attr(i)
        return base[:80] + struct.pack('<QI', self.mask, 1600) + base[92:]

    def caught(self, pid, ip, registers, stack):
        n = len(stack) * 8
        body = struct.pack('<QQIIQIIQQ', 7, ip, pid, pid, self.time, 0, 0, 1000, 2)
        body += struct.pack(f'<{len(registers)}Q', *registers) + struct.pack('<Q', n) + struct.pack(f'<{len(stack)}Q', *stack)
        self.record(9, made.USER, body + struct.pack('<Q', n))


def recorded(m):
    """Registers and a stack, as perf record --call-graph dwarf has them."""
    for what, flags in (('.eh_frame', '-fasynchronous-unwind-tables'), ('.debug_frame', '-fno-asynchronous-unwind-tables')):
        prog = m.program('caught' + what, 'caught.c', flags)
        r = m.run([prog], preload=False)
        lines = columns(r.out)
        words = {w[0]: [int(x, 16) for x in w[1:]] for w in lines if w[0] in ('registers', 'stack')}
        if not tap.ok(len(words) == 2, f'{m.name}: registers and stack of a fault', lambda: describe(r)):
            return
        rec = Caught(m)
        rec.comm(100, 'caught')
        for w in lines:
            if w[0] == 'map' and 'x' in w[2] and len(w) > 6 and w[6].startswith('/'):
                start, end = (int(x, 16) for x in w[1].split('-'))
                rec.mmap(100, start, end - start, w[6], int(w[3], 16))
        pc = words['registers'][MACHINES[m.name]['pc']]
        rec.caught(100, pc, words['registers'], words['stack'])
        path = os.path.join(m.d, 'perf.data' + what)
        rec.write(path)
        said = kin('script', path)
        names = re.findall(r'^\s+[0-9a-f]+ ([\w.]+)\+0x', said.stdout, re.M)
        tap.ok(names[:5] == ['leaf', 'inner', 'with_alloca', 'outer', 'main'], f'{m.name}: a recorded stack is walked here by {what}',
               lambda: said.stdout + said.stderr + r.out)


def machine(name):
    m = Foreign(name)
    if name == MACHINE or not wanted(name):
        return
    missing = [tool for tool in (m.cc, 'qemu-' + name) if not shutil.which(tool)]
    if missing:
        tap.skip(f'{name}: all', 'no ' + ', '.join(missing))
        return
    p = m.build_runtime()
    if tap.ok(not p.returncode, f'{name}: meson -Druntime_only=true', lambda: p.stdout + p.stderr):
        for part in (binary, counting, read_here, timing, sampling, recorded):
            part(m)


PARTS = [lambda n=n: machine(n) for n in MACHINES]

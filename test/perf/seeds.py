#!/usr/bin/env python3
"""Random recordings and random options: kin report --stdio and kin script next to perf's, byte for byte.

    seeds.py KIN [--from SEED] [--count N] [--tries N] [--only REGEX]    what differs, with its seed
    seeds.py KIN --seed SEED --options 'OPTIONS' [--reduce]     one comparison, and as few records as still differ

A seed is a made-up machine: programs and libraries that hold nothing but symbols, processes and threads that fork,
exec and rename themselves, and samples of walks through calls. What is left out, as both are known to differ there
on purpose, is said where it is left out; doc/differences.md says why. Skipped where there is no perf 6.1."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import live
import made
from made import BASIC, CHAIN, KERNEL, USER

IN_KERNEL, IN_USER = (-128) & (2**64 - 1), (-512) & (2**64 - 1)
KERNEL_AT = 0xffffffff81000000
GUEST_KERNEL, GUEST_USER = 4, 5

# ---- programs ----

PLAIN = ('main', 'parse', 'lookup', 'insert', 'work', 'a', 'do_it', 'run_command', 'xmalloc', 'cmd_record', 'free_all',
         'an_unusually_long_name_of_a_function_that_nobody_would_want_to_type', 'sys_open', 'f1', 'f2', 'f10', 'Zeta',
         '_start', '__libc_start_main', 'sort.part.0', 'sort.constprop.0', 'walk.isra.0', 'visit', 'eval', 'apply',
         'copy', 'hash', 'compare', 'emit', 'step', 'do_page_fault', 'x86_init', 'sum_all', 'b', 'c', 'd')
CPP = ('_ZN3foo3barEv', '_ZN3foo3bazEi', '_ZNSt6vectorIiSaIiEE9push_backERKi', '_Z3addii', '_ZN5shape4areaEv',
       '_ZN5shapeC2Ev', '_ZNK4list4sizeEv', '_ZN4listIiE6insertEi', '_ZSt4sortIPiEvT_S1_', '_Z7computePKcm',
       '_ZN12_GLOBAL__N_15innerEv', '_ZN3foo3barEv.cold', '_ZZ4mainENKUlvE_clEv')


def names(x, n):
    pool = list(PLAIN) + x.sample(CPP, x.randrange(len(CPP)) if x.random() < 0.6 else 0)
    x.shuffle(pool)
    return [pool[i] if i < len(pool) else f'{pool[i % len(pool)]}_{i}' for i in range(n)]


def functions(x):
    """Non-overlapping (name, offset, size); some without size, some with a gap behind."""
    list_, at = [], 0x200
    for name in names(x, x.choice((1, 3, 5, 8, 12, 20))):
        at += x.choice((0, 0, 0, 16, 48))
        size = x.choice((1, 5, 16, 32, 64, 100, 200))
        if at + size > 0x1200:
            break
        list_.append((name, at, size))
        at = (at + size + 15) & ~15
    return list_


class Object:
    def __init__(self, path, x, base=0):
        self.path, self.base, self.functions = path, base, functions(x)

    def write(self):
        made.write_elf(self.path, self.functions, base=self.base)


class Kernel:
    """Functions of the kernel, and the file that names them."""

    def __init__(self, folder, x):
        self.path, self.functions, at = os.path.join(folder, 'kallsyms'), [], 0
        for name in ('_text', 'do_syscall_64', 'entry_SYSCALL_64', 'sys_open', 'vfs_read', 'copy_page', 'schedule',
                     '__do_softirq', 'asm_sysvec_apic_timer_interrupt', 'do_page_fault')[:x.randrange(2, 11)]:
            self.functions.append((name, at, 0x100))
            at += x.choice((0x100, 0x100, 0x180))
        self.functions.append(('_etext', 0x100000, 0))

    def write(self):
        with open(self.path, 'w', encoding='ascii') as f:
            for name, at, _ in self.functions:
                f.write(f'{KERNEL_AT + at:x} T {name}\n')


# ---- events on the machine ----

class Process:
    def __init__(self, pid):
        self.pid, self.tids, self.maps = pid, [pid], []


def is_named(p, address):
    return any(at + offset <= address < at + offset + size for at, o in p.maps for _, offset, size in o.functions)


class Machine:
    """The records to write, as (method of Recording, arguments). `kinds` selects the options that fit."""

    def __init__(self, folder, seed):
        self.x = x = random.Random(seed)
        self.folder, self.steps, self.processes = folder, [], []
        self.chains = x.random() < 0.85
        self.n_events = x.choice((1, 1, 1, 1, 2, 3))
        self.kernel = Kernel(folder, x) if x.random() < 0.35 else None
        self.deep = x.random() < 0.1
        self.odd = x.random() < 0.3 # stacks that end nowhere, or hold nothing
        self.nowhere = x.random() < 0.3 # samples where nothing is mapped
        self.gaps = x.random() < 0.3 and not self.chains # callers in gaps are named otherwise on purpose
        self.guests = x.random() < 0.05
        self.threads = x.random() < 0.4
        self.moves = x.random() < 0.4 # one address in a file then has several run-time addresses, which perf tells apart
        self.ties = x.random() < 0.2 # perf then prints equal chains in the order of its memory
        self.periods = (x.choice((lambda: 1000, lambda: x.choice((0, 1, 1000)), lambda: x.randrange(900, 1100)))
                        if self.ties else
                        x.choice((lambda: x.randrange(1, 10**9), lambda: x.randrange(1, 2**40),
                                  lambda: x.randrange(2500000000, 2501000000))))
        self.cpus = x.choice((1, 2, 4, 12))
        self.programs = [Object(os.path.join(folder, name), x, 0 if self.gaps else x.choice((0, 0, 0x400000))) # unnamed addresses: of the file
                         for name in x.sample(('prog', 'a.out', 'a_program_with_a_long_name', 'sh'), x.choice((1, 1, 2, 3)))]
        self.libraries = [Object(os.path.join(folder, name), x)
                          for name in x.sample(('libone.so', 'libc.so.6', 'ld.so', 'libstdc++.so.6.0.30'), x.randrange(4))]
        self.events = []
        self.stacks = {}
        for i in range(x.choice((1, 1, 2, 3, 5))):
            self.start(100 * (i + 1))
        self.sample(self.processes[0])
        for _ in range(x.choice((1, 5, 20, 60, 150, 400))):
            self.happen()

    def add(self, what, *args, **more):
        self.steps.append((what, args, more))

    def comm(self):
        return self.x.choice(('perf', 'bash', 'prog', 'worker', 'worker/1', 'a b', 'kworker/0:1-ev', 'x'))

    def load(self, p):
        program = self.x.choice(self.programs)
        p.maps = [(program.base or 0x555555554000 + 0x1000 * self.x.randrange(256) * self.moves, program)]
        for i, library in enumerate(self.libraries):
            p.maps.append((0x7f0000000000 + 0x10000 * (i + 10 * self.x.randrange(50) * self.moves), library))
        for at, o in p.maps:
            self.add('mmap', p.pid, at, 0x2000, o.path)

    def start(self, pid):
        p = Process(pid)
        self.add('comm', pid, self.comm())
        self.load(p)
        self.processes.append(p)
        return p

    def happen(self):
        x = self.x
        p = x.choice(self.processes)
        what = x.random()
        if what < 0.015:
            self.add('comm', p.pid, self.comm(), misc=0)
        elif what < 0.03:
            child = Process(p.pid + 1 + x.randrange(90))
            if all(child.pid not in q.tids for q in self.processes):
                child.maps = list(p.maps)
                self.add('fork', child.pid, child.pid, p.pid, p.pid)
                self.processes.append(child)
        elif what < 0.04 and len(p.tids) == 1:
            self.add('comm', p.pid, self.comm())
            self.load(p)
        elif what < 0.07 and self.threads:
            tid = 10000 + len(self.steps)
            self.add('fork', p.pid, tid, p.pid, p.pid)
            p.tids.append(tid)
            if x.random() < 0.5:
                self.add('comm', p.pid, self.comm(), tid=tid, misc=0)
        else:
            self.sample(p)

    def address(self, p):
        at, o = self.x.choice(p.maps)
        name, offset, size = self.x.choice(o.functions)
        return at + offset + self.x.randrange(size)

    def walk(self, p, tid):
        """Calls and returns since the thread was seen last; the outermost function first."""
        x, stack = self.x, self.stacks.setdefault(tid, [])
        stack[:] = [a for a in stack if is_named(p, a)]
        for _ in range(x.randrange(6)):
            if stack and x.random() < 0.4:
                stack.pop()
            elif stack and x.random() < 0.25:
                stack.append(x.choice(stack)) # recursion
            else:
                stack.append(self.address(p))
        if self.deep and x.random() < 0.1:
            stack += [x.choice(stack) if stack else self.address(p)] * x.choice((5, 100, 300))
        del stack[x.choice((8, 20, 200)) if not self.deep else 500:]
        if not stack:
            stack.append(self.address(p))
        return stack

    def sample(self, p):
        x = self.x
        tid = x.choice(p.tids)
        user = list(reversed(self.walk(p, tid)))
        ip, mode, kernel = user[0], USER, self.kernel and x.random() < 0.4
        if self.gaps and x.random() < 0.2:
            at, _ = x.choice(p.maps)
            ip = at + x.randrange(0x100, 0x1200)
        if self.nowhere and not kernel and x.random() < 0.1:
            ip = x.choice((0x10000, 0x10008, 0x7fffffff0000, 0))
            user = [ip] + user[1:]
        if self.odd and not kernel and x.random() < 0.2: # perf takes it for the kernel's then
            user += x.choice(([0], [0x77], [0x10000, 0], [0x7fffffff0000]))
        if kernel:
            places = [f for f in self.kernel.functions if f[2]]
            kernel = [KERNEL_AT + f[1] + x.randrange(1, f[2]) for f in x.choices(places, k=x.randrange(1, 6))]
            ip, mode = kernel[0], KERNEL
        stack = ([IN_KERNEL] + kernel if kernel else []) + ([IN_USER] + user if not kernel or x.random() < 0.8 else [])
        if self.odd and x.random() < 0.1:
            stack = x.choice((stack[:2], stack if kernel else [ip], stack + [IN_USER], stack[:-1] if len(stack) > 2 else stack))
        more = {'stack': stack} if self.chains else {}
        if tid != p.pid:
            more['tid'] = tid
        if self.n_events > 1:
            more['event'] = x.randrange(self.n_events)
        self.add('sample', p.pid, ip, self.periods(), mode, x.randrange(self.cpus), x.choice((1, 1000, 10**6)), **more)

    def write_objects(self):
        for o in self.programs + self.libraries + ([self.kernel] if self.kernel else []):
            o.write()

    def write(self, path, steps=None):
        r = made.Recording(BASIC | (CHAIN if self.chains else 0), events=self.n_events)
        r.topology([i // 2 for i in range(self.cpus)])
        if self.kernel:
            r.kernel()
        for what, args, more in self.steps if steps is None else steps:
            getattr(r, what)(*args, **more)
        r.write(path)


# ---- options ----

KEYS = ('comm', 'dso', 'sym', 'symbol', 'cpu', 'parent', 'socket', 'time', 'symbol_size', 'pid', 'local_weight',
        'weight', 'transaction', 'cgroup')
FIGURES = ('overhead', 'overhead_children', 'sample', 'period', 'overhead_sys', 'overhead_us', 'overhead_guest_sys',
           'overhead_guest_us')


def pick(x, list_, most):
    return x.sample(list_, x.randrange(1, most + 1))


def keys(x, m, no_children):
    usual = [k for k in KEYS[:9] if k != 'symbol'] if x.random() < 0.8 else list(KEYS)
    if m.threads: # kin's pid is the process, perf's the thread
        usual = [k for k in usual if k != 'pid']
    if not m.chains: # perf refuses it
        usual = [k for k in usual if k != 'parent']
    if m.kernel: # kin does not know how large functions of the kernel are
        usual = [k for k in usual if k != 'symbol_size']
    if m.chains and not no_children: # perf compares callers by unset keys, and exceeds 100 %
        usual = [k for k in usual if k not in ('time', 'socket', 'local_weight', 'weight', 'transaction', 'cgroup')]
    usual = pick(x, usual, 4) if usual else ['dso']
    return usual + ['sym'] if 'symbol_size' in usual and 'sym' not in usual else usual # perf has rows by function then


def call_graph(x, m):
    words = []
    if x.random() < 0.1:
        return 'none'
    if x.random() < 0.7:
        words.append(x.choice(('graph', 'fractal', 'flat', 'folded', 'graph', 'fractal')))
    if x.random() < 0.4:
        words.append(x.choice(('0', '0.5', '1', '5', '20', '50')))
        if x.random() < 0.5:
            words.append(x.choice(('1', '2', '3', '10')))
    if x.random() < 0.6:
        words.append(x.choice(('caller', 'callee')))
    if x.random() < 0.3:
        words.append('function' if m.moves else x.choice(('function', 'address')))
    if x.random() < 0.4:
        words.append(x.choice(('percent', 'period') if 'fractal' in words else ('percent', 'period', 'count')))
    return ','.join(words) or 'graph'


def some_names(x, m):
    all_ = [f[0] for o in m.programs + m.libraries for f in o.functions if not f[0].startswith('_Z') and not re.fullmatch('[0-9a-f]+', f[0])] # perf takes "a" for an address
    return pick(x, sorted(set(all_)) or ['main'], 3 if len(set(all_)) > 2 else 1)


def report_options(x, m):
    o = []

    def sometimes(p, *words):
        if x.random() < p:
            o.extend(words)

    no_children = x.random() < 0.45
    if no_children:
        o.append('--no-children')
    hierarchy, what = x.random() < 0.1, x.random()
    if hierarchy:
        o.append('--hierarchy')
    sort = keys(x, m, no_children) if what < 0.6 else []
    if sort:
        if x.random() < 0.1 and not hierarchy:
            sort.insert(x.randrange(len(sort) + 1), x.choice(FIGURES[:4:3]))
        o += ['-s', ('+' if x.random() < 0.1 else '') + ','.join(sort)]
    if what > 0.4 and x.random() < 0.4 and not hierarchy:
        fields = [f for f in pick(x, keys(x, m, no_children) + list(FIGURES), 5)
                  if f != 'parent' or f in sort] or ['overhead'] # perf would not look for it
        o += ['-F', ('+' if x.random() < 0.2 else '') + ','.join(fields)]
    if m.chains and m.ties:
        o += ['-g', 'none']
    elif m.chains:
        if x.random() < 0.6:
            o += ['-g', call_graph(x, m)]
        sometimes(0.1, '-G')
        sometimes(0.1, '--max-stack', x.choice(('1', '2', '3', '10')))
        sometimes(0 if m.deep or '--max-stack' in o else 0.07, '--ignore-callees', x.choice(some_names(x, m)))
        if x.random() < 0.1:
            o += ['-p', x.choice(('^sys_', 'main', *some_names(x, m)))]
            sometimes(0 if hierarchy else 0.3, '-x')
    sometimes(0.15, '-n')
    sometimes(0.12, '--show-total-period')
    if not hierarchy:
        sometimes(0.08, '--show-cpu-utilization')
    sometimes(0 if hierarchy else 0.15, '--percent-limit', x.choice(('0', '1', '5', '10', '30', '60')))
    sometimes(0.15, '--percentage', x.choice(('relative', 'absolute')))
    sometimes(0.1, '-t', x.choice((';', ',', '|', ':', '\t')))
    sometimes(0.07, '-w', ','.join(str(x.choice((0, 5, 10, 20, 40))) for _ in range(x.randrange(1, 5))))
    sometimes(0.07, '-q')
    sometimes(0.06, '-U')
    sometimes(0.05, '--symbol-filter=' + x.choice(('o', 'ma', 'e', 'zzz', *some_names(x, m))))
    sometimes(0.06, '-C', x.choice(('0', '0-1', '1,2')) if m.cpus > 2 else '0')
    sometimes(0.08, '--time', x.choice(('1.0,1.001', '1.0005,', ',1.001', '1.00001,1.01')))
    sometimes(0.05, '--time-quantum', x.choice(('1ms', '10us', '1s')))
    sometimes(0.03, '--ns')
    sometimes(0.05, '--no-demangle')
    # Otherwise perf joins rows of filtered samples with rows of other samples.
    if no_children and '-s' in o and '+' not in o[o.index('-s') + 1] and '--ignore-callees' not in o:
        for option, key, some in (('-c', 'comm', [m.comm() for _ in range(2)]), ('-S', 'sym', some_names(x, m)),
                                  ('-d', 'dso', [os.path.basename(p.path) for p in m.programs])):
            if key in sort and not hierarchy: # perf's levels include filtered samples
                sometimes(0.12, option, ','.join(sorted(set(some))))
    if m.n_events > 1 or hierarchy or 'relative' in o or sort and not {'sym', 'comm'} <= set(sort) or '-F' in o:
        o = [w for w in o if not w.startswith('--symbol-filter')] # in perf of the first event only, and not of these
    if hierarchy: # there widths have another meaning, and numbers of samples are not added up
        o = [w.replace('count', 'percent') for w in o]
        o = o[:o.index('-w')] + o[o.index('-w') + 2:] if '-w' in o else o
    if hierarchy:
        o = [re.sub(r'\b(transaction|cgroup)\b', 'dso', w) for w in o]
    if '--ignore-callees' in o and (no_children and 'none' in o or '-p' in o or 'parent' in ','.join(o)):
        # perf does not look at the stacks then, and not twice at a function
        at = o.index('--ignore-callees')
        o = o[:at] + o[at + 2:]
    if '--ignore-callees' in o and {'cpu', 'socket'} & set(','.join(o).split(',')): # perf has not set them
        o = [w if w not in ('cpu', 'socket') else 'dso' for w in o]
        o = [re.sub(r'\b(cpu|socket)\b', 'dso', w) if ',' in w else w for w in o]
    if m.n_events > 1 and '--symbol-filter' not in ' '.join(o):
        sometimes(0.3 if not hierarchy and any(s[2].get('event', 1) == 0 for s in m.steps) else 0, '--group') # perf shows none without the first
        sometimes(0.05, '--no-group')
    return o


FIELDS = ('comm', 'pid', 'tid', 'cpu', 'time', 'period', 'event', 'ip', 'sym', 'symoff', 'dso')


def script_options(x, m):
    o = []

    def sometimes(p, *words):
        if x.random() < p:
            o.extend(words)

    if x.random() < 0.6:
        fields = pick(x, FIELDS, len(FIELDS))
        if x.random() < 0.3:
            fields = [x.choice('+-') + f for f in fields[:3] if f != 'ip'] or ['+pid'] # without, perf has no frames
        else: # perf requires the address with fields that describe it
            fields += ['ip'] * (bool({'sym', 'dso', 'symoff'} & set(fields)) and 'ip' not in fields)
            fields += ['sym'] * ('symoff' in fields and 'sym' not in fields)
        o += ['-F', ','.join(fields)]
    sometimes(0.15, '-G')
    sometimes(0.15, '--max-stack', x.choice(('1', '2', '5')))
    sometimes(0.15, '--ns')
    sometimes(0.05, '--reltime')
    sometimes(0.05, '--deltatime')
    sometimes(0.1, '-c', m.comm())
    sometimes(0.1, '-S', ','.join(some_names(x, m)))
    sometimes(0.1, '-C', x.choice(('0', '0-1', '1,2')) if m.cpus > 2 else '0')
    sometimes(0.1, '--time', x.choice(('1.0,1.001', '1.0005,', ',1.001')))
    sometimes(0.1, '--pid', str(x.choice(m.processes).pid))
    sometimes(0.1, '--tid', str(x.choice(x.choice(m.processes).tids)))
    return ['script'] + o


def options(x, m):
    return script_options(x, m) if x.random() < 0.2 and not m.deep else ['report'] + report_options(x, m)


# ---- comparing ----

def run(program, line, data, m):
    command = [program, line[0], *(['--stdio'] if line[0] == 'report' else []), *line[1:], '-i', data]
    if m.kernel:
        command += ['--kallsyms', m.kernel.path]
    env = {'PATH': os.environ['PATH'], 'HOME': m.folder, 'LC_ALL': 'C', 'PAGER': 'cat', 'PERF_PAGER': 'cat'}
    done = subprocess.run(command, cwd=m.folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    out = [text for text in done.stdout.decode(errors='replace').splitlines()
           if not text.startswith(('# (Tip:', '# (Cannot'))]
    out = [re.sub("of events ('[^,{]*')$", r'of event \1', text).replace('[...] (inlined)', '[...]') for text in out]
    if line[0] == 'script':
        out = [of_file(text) for text in out]
    if '-g' in line and 'address' in line[line.index('-g') + 1]: # an unknown line, which both print differently
        out = [re.sub(r' (\?\?:0|\+\d+)(?=$|;)', ' ?', text) for text in out]
    return done.returncode, out, done.stderr.decode(errors='replace')


def of_file(text):
    """The last digits of a line's address: they are the same in the file and where that was mapped."""
    found = list(re.finditer(r'(?:^\t| )(?=[ 0-9a-f]{16}(?: |$)) *[0-9a-f]*?([0-9a-f]{1,3})(?= |$)', text))
    return text[:found[-1].start()] + ' ' + found[-1][1] + text[found[-1].end():] if found else text


def difference(kin, line, data, m):
    """None, or the difference of kin's output; '' where perf refuses or crashes."""
    status, a, _ = run('perf', line, data, m)
    if status:
        return ''
    status, b, err = run(kin, line, data, m)
    if a == b or '--group' in line and not body(a)[2:]: # perf shows none where the first event has no samples
        return None
    if status:
        return f'kin ends with {status}: {err.strip()[:300]}'
    at = next((i for i, (s, t) in enumerate(zip(a, b)) if s != t), min(len(a), len(b)))
    if sorted(a) == sorted(b) and [figure(s) for s in a] == [figure(s) for s in b]:
        return None # perf's order of equal figures of several threads is accidental
    kind = 'order' if sorted(a) == sorted(b) else 'comments' if body(a) == body(b) else 'rows'
    return f'{kind}: line {at + 1}: perf prints {a[at:at + 1]}, kin {b[at:at + 1]}'


def figure(line):
    """The first of a row."""
    found = re.match(r'\s*[\d.]+%(?=[ ;,|:\t]|$)', line)
    return found and found[0]


def body(lines):
    return [line for line in lines if not line.startswith('#')]


# perf prints rows of equal figures in the order of a tree that depends on where its memory is.
def lines_of(seed, m, tries):
    x = random.Random(seed * 1000003 + 1)
    return [options(x, m) for _ in range(tries)]


def made_machine(folder, seed):
    os.makedirs(folder, exist_ok=True)
    m = Machine(folder, seed)
    m.write_objects()
    m.data = os.path.join(folder, 'perf.data')
    m.write(m.data)
    return m


def reduce(kin, line, m):
    """Fewer samples, with a difference of the same kind."""
    kind = difference(kin, line, m.data, m).split(':')[0]

    def differs(steps, words):
        data = os.path.join(m.folder, 'less.data')
        m.write(data, steps)
        return (difference(kin, words, data, m) or '').split(':')[0] == kind

    steps, words = list(m.steps), list(line)
    size = len(steps) // 2
    while size:
        for i in range(0, len(steps), size):
            less = steps[:i] + [s for s in steps[i:i + size] if s[0] != 'sample'] + steps[i + size:]
            if len(less) < len(steps) and differs(less, words):
                steps = less
        size //= 2
    m.write(m.data, steps)
    return words, steps


def test(tap, kin, folder):
    """Some seeds, the same each time."""
    for seed in range(160, 200):
        m, problems = made_machine(os.path.join(folder, str(seed)), seed), []
        for line in lines_of(seed, m, 8):
            problem = difference(kin, line, m.data, m)
            if problem:
                problems.append(f'--seed {seed} --options "{" ".join(line)}": {problem}')
        tap.ok(not problems, f'random recording {seed}', '\n'.join(problems))
        shutil.rmtree(m.folder)


def show(kin, line, m):
    for program in ('perf', kin):
        status, out, err = run(program, line, m.data, m)
        print(f'---- {os.path.basename(program)}: {status}', *out, err if program == kin else '', sep='\n')


def main():
    p = argparse.ArgumentParser()
    p.add_argument('kin')
    p.add_argument('--from', dest='first', type=int, default=1)
    p.add_argument('--count', type=int, default=100)
    p.add_argument('--tries', type=int, default=8)
    p.add_argument('--seed', type=int)
    p.add_argument('--options')
    p.add_argument('--only', default='')
    p.add_argument('--reduce', action='store_true')
    p.add_argument('--keep', default='')
    a = p.parse_args()
    a.kin = os.path.abspath(a.kin)
    folder = a.keep or tempfile.mkdtemp()
    n = bad = refused = 0
    if a.seed is not None:
        m = made_machine(folder, a.seed)
        line = a.options.split(' ')
        if a.reduce:
            line, steps = reduce(a.kin, line, m)
            print(' '.join(line))
            for what, args, more in [s for s in steps if s[0] != 'mmap']:
                print(what, *[hex(w) if isinstance(w, int) else w for w in args],
                      {k: [hex(w) for w in v] if k == 'stack' else v for k, v in more.items()})
        print(difference(a.kin, line, m.data, m))
        show(a.kin, line, m)
        return 0
    for seed in range(a.first, a.first + a.count):
        where = os.path.join(folder, str(seed))
        m = made_machine(where, seed)
        for line in lines_of(seed, m, a.tries):
            if not re.search(a.only, ' '.join(line)):
                continue
            n += 1
            problem = difference(a.kin, line, m.data, m)
            refused += problem == ''
            if problem:
                bad += 1
                print(f'--seed {seed} --options "{" ".join(line)}"\n    {problem}', flush=True)
        shutil.rmtree(where)
    print(f'{n} comparisons, {refused} refused by perf, {bad} differ')
    if not a.keep:
        shutil.rmtree(folder)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())

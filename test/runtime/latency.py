"""How long calls take, by libkinrt: compared with calls whose duration is known. Parts of run.py."""
import collections
import os
import re
import shutil
import subprocess

import dump
from harness import FULL, MACHINE, RT, TMP, build, counts_lost, describe, run, tap, wanted

_built = {}


def lows():
    """Where each bucket begins, ns; include/kin/format.h."""
    return [*range(16), *(2**e * (8 + m) // 8 for e in range(4, 40) for m in range(8))]


LOW = lows()


# Numbers of calls that spans.c makes in its mode "known".
KNOWN = {'nap': 20, 'outer': 200, 'ten_us': 200, 'hundred_us': 200, 'thousand': 500, 'empty': 500000}


class Function:
    """All calls of one function, from all callers."""

    def __init__(self):
        self.count = self.sum = self.probes = 0
        self.min, self.max = 2**64, 0
        self.buckets = [0] * 304

    def add(self, x):
        self.count += x.count
        self.sum += x.sum_ns
        self.probes += x.probes_ns
        self.min, self.max = min(self.min, x.min_ns), max(self.max, x.max_ns)
        self.buckets = [a + b for a, b in zip(self.buckets, x.buckets)]

    def median(self):
        seen = 0
        for low, n in zip(LOW, self.buckets):
            seen += n
            if seen * 2 >= self.count:
                return low
        return 0

    def doubtful(self, sure):
        """Measuring took more than half of the calls; `sure`: wherever in its bucket the median is."""
        low = self.median()
        return self.probes > self.count * (next(x for x in LOW if x > low) if sure else low)

    def __repr__(self):
        return f'{self.count} calls, {self.min}..{self.max} ns, median {self.median()}, sum {self.sum}'


def functions(kins):
    out = collections.defaultdict(Function)
    for k in kins:
        for x, place in [(x, k.place(x.to)[1]) for x in k.latencies] + k.retired_latencies():
            out[place].add(x)
    return out


def measured(mode, *more, options='latency', **how):
    if 'spans' not in _built:
        _built['spans'] = build('spans', 'spans.c', flags='-finstrument-functions')
    r = run([_built['spans'], mode, *more], options=options, **how)
    return r, functions(dump.read(k) for k in r.kins)


def took(r):
    """{function: median ns of its calls}, by the program's own clock."""
    return {name: int(ns) for name, ns in re.findall(r'^took (\w+) (\d+)$', r.out, re.M)}


def agree(f, own, *names):
    """Checks the medians of calls that last so long that the width of a bucket, an eighth, is the only uncertainty."""
    return all(own[n] * .85 - 100 <= f[n].median() <= own[n] * 1.02 + 300 for n in names)


def known():
    r, f = measured('known')
    say = lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + '\n' + describe(r)
    tap.ok({n: x.count for n, x in f.items()} == KNOWN,
           'latency: every call is measured', say)
    tap.ok(all(sum(x.buckets) == x.count for x in f.values()), 'latency: each is in a bucket', say)
    own = took(r)
    tap.ok(2e6 <= f['nap'].min and agree(f, own, 'nap'), 'latency: time asleep counts', say)
    both = own['ten_us'] + own['hundred_us']
    tap.ok(9900 <= f['ten_us'].min and 99000 <= f['hundred_us'].min and agree(f, own, 'ten_us', 'hundred_us') and
           109000 <= f['outer'].min and f['outer'].median() < 1.1 * both, 'latency: calls of 10 and 100 us, and what calls both', say)
    # The part of the cost that is known differs between processors: if nothing is subtracted, all of it is left.
    plain = run([build('spans_plain', 'spans.c'), 'known'], preload=False)
    bare, spent = took(plain)['thousand'], own['thousand']
    tap.ok(plain.status == 0 and f['empty'].median() <= max(15, 3 * f['empty'].probes / f['empty'].count) and
           f['thousand'].median() < bare + .75 * (spent - bare),
           'latency: what measuring takes is taken off, of a call and of those below it', lambda: f'{bare} {spent}\n' + say())
    tap.ok(bare / 4 < f['thousand'].min, 'latency: a thousand calls take no less than a thousand bare calls', lambda: f'{bare}\n' + say())
    kin = os.path.join(RT, '..', 'kin')
    said = subprocess.run([kin, 'latency', r.kins[0]], capture_output=True, text=True).stdout
    sure, perhaps = ([n for n, x in f.items() if x.doubtful(k)] for k in (True, False))
    m = re.search(r'(\d+) functions? took less time than measuring did: in (\w+)', ' '.join(said.split()))
    tap.ok(m and m[2] in perhaps and len(sure) <= int(m[1]) <= len(perhaps) if m or sure else True,
           'latency: where measuring took more than the calls it is said', lambda: f'{said}\n{sure} {perhaps}\n' + say())
    r, f = measured('known', options='')
    tap.ok(not f and r.kins, 'latency: not unless it is asked for')


def flow():
    r, f = measured('jumps')
    say = lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + '\n' + describe(r)
    tap.ok('leaves' not in f and f['ten_us'].count == 100 and agree(f, took(r), 'ten_us'), 'latency: calls that longjmp() ends are not measured, others are', say)
    said = subprocess.run([os.path.join(RT, '..', 'kin'), 'latency', r.kins[0]], capture_output=True, text=True).stdout
    tap.ok(re.search(r'\d+ calls of \d+ functions? have no duration, most of \w+: they did not return', said), 'latency: ... and that is said', lambda: said)
    r, f = measured('deep')
    tap.ok(r.status == 0 and 65536 <= f['recursive'].count <= 65536 + 11 and not counts_lost(r), 'latency: a recursion a million deep: the outer 65,536', say)
    r, f = measured('threads')
    tap.ok({n: x.count for n, x in f.items()} == {'outer': 8000, 'ten_us': 8000, 'hundred_us': 8000, 'thousand': 8000, 'empty': 8000000},
           'latency: 8 threads', say)
    r, f = measured('fork')
    tap.ok(len(r.kins) == 2 and f['parent_of'].count == 1 and f['hundred_us'].count == 1 and f['ten_us'].count == 1,
           'latency: a forked child measures what it began itself', say)
    r, f = measured('coroutine')
    tap.ok(r.status == 0 and f['ten_us'].count == 50 and agree(f, took(r), 'ten_us') and f['hundred_us'].count == 50 and
           all(x.min >= (9900 if n == 'ten_us' else 99000) for n, x in f.items() if n in ('ten_us', 'hundred_us')),
           'latency: coroutines mix nothing up', say)


def libraries():
    d = os.path.join(TMP, 'lplugs')
    os.makedirs(d, exist_ok=True)
    for i in range(8):
        build(f'lplugs/plug_{i}.so', 'plug.c', flags=f'-finstrument-functions -shared -fPIC -DWHICH={i}',
              after=f'-L{RT} -l:libkinrt.so.0 -Wl,-rpath,{RT}')
    n = 4000 if FULL else 400
    r, f = measured('libraries', f'{n}:{d}')
    say = lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + '\n' + describe(r)
    tap.ok([f[f'plug_leaf_{i}'].count for i in range(8)] == [n // 8 * 10] * 8 and f['plug'].count == n,
           'latency: calls in unloaded libraries stay with them', say)
    size = os.path.getsize(r.kins[0])
    tap.ok(size < 4 << 20, 'latency: the file does not grow with each dlclose()', lambda: str(size))


def stepped():
    if MACHINE != 'x86_64':
        tap.skip('latency: every call is measured with signals between instructions', 'for x86-64 alone')
        return
    # Stepping is CPU time to the kernel: at more than a sample a second the timer is due again before a sample
    # has been stepped through.
    step = build('stepsig_l', 'stepsig.c')
    if 'spans' not in _built:
        _built['spans'] = build('spans', 'spans.c', flags='-finstrument-functions')
    r = run([step, '-k', '1' if FULL else '41', '--', _built['spans'], 'stepped'], options='latency,sample=1,stacks=on', timeout=300)
    f = functions(dump.read(k) for k in r.kins)
    m = re.search(r'handled (\d+)', r.out)
    n = int(m[1]) if m else 0
    tap.ok(r.status == 0 and n > 100 and f['in_handler'].count == n and f['empty'].count == 30 + n and
           f['recursive'].count == 120 and 'leaves' not in f,
           f'latency: every call is measured with {n} signals between instructions', lambda: '\n'.join(f'{n}: {x}' for n, x in f.items()) + describe(r))


def static():
    f = build('spans_static', 'spans.c', flags='-finstrument-functions -static', after=os.path.join(RT, 'libkinrt.a'))
    r = run([f, 'jumps'], preload=False, options='latency')
    f = functions(dump.read(k) for k in r.kins)
    tap.ok(f['ten_us'].count == 100, 'latency: a static program', lambda: describe(r))
    if shutil.which('clang'):
        f = build('spans_clang', 'spans.c', flags='-finstrument-functions', cc='clang')
        r = run([f, 'jumps'], options='latency')
        f = functions(dump.read(k) for k in r.kins)
        tap.ok(f['ten_us'].count == 100, 'latency: compiled by clang', lambda: describe(r))
    else:
        tap.skip('latency: compiled by clang', 'no clang')


PARTS = [lambda p=p: p() if wanted('latency ' + p.__name__) else None for p in (known, flow, libraries, stepped, static)]

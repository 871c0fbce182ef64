"""Views do not read data that they do not show: the output is the same as when all of the data is read.

    narrow.py BUILD

On the recordings of the fuzz targets, damaged ones included, and on one with many threads and stacks. For comparison,
options that have no effect here make kin read the data that these views do not need.
"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

VIEWS = [
    ['--stdio', '--no-children', '-g', 'none'],
    ['--no-children', '--format=json', '-g', 'none'],
    ['--no-children', '--format=csv', '-g', 'none', '-s', 'comm,tid,sym', '-n'],
    ['--no-children', '--hierarchy'],
    ['-g', 'none', '--stdio'],
]
CALLERS = '--exclude-other'  # rows without a parent: without a pattern for parents, none
TIMES = '--cpu=0-65535'

PID, CPUS, FUNCTIONS = 500, 3, 40
IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 32, 128, 256
USER, KERNEL = -512 & 2**64 - 1, -128 & 2**64 - 1


def record(kind, mode, *words):
    return struct.pack(f'<IHH{len(words)}Q', kind, mode, 8 + 8 * len(words), *words)


def chain_of(rng):
    """Of kernel and user code, or of neither; the first address is now and then not the sample's own."""
    user = [0x400000 + rng.randrange(FUNCTIONS) * 256 for _ in range(rng.choice([0, 1, 2, 5, 30]))]
    kernel = [0xffffffff81000000 + rng.randrange(9) * 16 for _ in range(rng.choice([0, 0, 1, 4]))]
    return ([KERNEL, *kernel] if kernel else []) + ([USER, *user] if user else [])


def made_up(path, rng, samples=4000):
    """A perf.data with more places than a table of leaves has room for in tests."""
    name = b'/nowhere/program\0\0\0\0\0\0\0\0'
    data = record(10, 2, PID << 32 | PID, 0x400000, 0x100000, 0, 8, 1, 0, 5 | 2 << 32,
                  *struct.unpack('<3Q', name), PID << 32 | PID, 1, 0)
    for i in range(samples):
        tid, chain = PID + rng.randrange(6), chain_of(rng)
        plain = [x for x in chain if x < 2**64 - 4096]
        ip = plain[0] if plain and rng.random() < 0.9 else 0x400000 + rng.randrange(FUNCTIONS * 256)
        mode = 1 if ip >> 63 else 2
        data += record(9, mode, ip, PID | tid << 32, 1000 + i * 7 + rng.randrange(30), rng.randrange(CPUS),
                       rng.choice([1000, 1001, 5]), len(chain), *chain)
        if i % 100 == 99:
            data += record(68, 0)
    attr = struct.pack('<IIQQQQQ', 1, 128, 0, 1000, IP | TID | TIME | CALLCHAIN | CPU | PERIOD, 0, 1 << 18)
    header = struct.pack('<8sQQQQQQ', b'PERFILE2', 104, 144, 104, 144, 248, len(data)) + bytes(48)
    with open(path, 'wb') as f:
        f.write(header + attr.ljust(128, b'\0') + bytes(16) + data)


def run(build, view, path):
    env = dict(os.environ, HOME='/nonexistent', LC_ALL='C')
    made = subprocess.run([os.path.join(build, 'kin'), 'report', *view, path], capture_output=True, env=env,
                          stdin=subprocess.DEVNULL)
    return made.returncode, made.stdout, made.stderr


def compare(tap, build, path, name):
    for view in VIEWS:
        narrow = run(build, view, path)
        for wide in ([CALLERS], [TIMES], [CALLERS, TIMES]):
            if '--no-children' not in view and CALLERS in wide:
                continue
            whole = run(build, [*view, *wide], path)
            if narrow != whole:
                tap.ok(False, f'{name}: {" ".join(view)}', f'{narrow}\n{" ".join(wide)}: {whole}')
                return
    tap.ok(True, f'{name}: the same, whatever is read')


def main():
    tap, build = Tap(), sys.argv[1]
    corpus = os.path.join(HERE, '..', 'fuzz', 'corpus')
    for kind in ('perf', 'kin', 'kin_records'):
        for path in sorted(glob.glob(os.path.join(corpus, kind, '*'))):
            compare(tap, build, path, f'{kind}/{os.path.basename(path)}')
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(3):
            path = os.path.join(folder, f'{seed}.data')
            made_up(path, random.Random(seed))
            compare(tap, build, path, f'samples made up, {seed}')
            kept = os.path.join(folder, f'{seed}.kin')
            subprocess.run([os.path.join(build, 'kin'), 'merge', path, '-o', kept], check=True, capture_output=True)
            compare(tap, build, kept, f'the same as a .kin file, {seed}')
    sys.exit(tap.done())


if __name__ == '__main__':
    main()

"""Damage that must be noticed: truncation at every offset; counts larger than the data."""
import lzma
import os
import random
import shutil
import struct
import subprocess
import zlib

from box import truncations
from gmonlib import Arc, Elf, Hist, Symbol, bsd, gmon, save

SYMBOLS = [Symbol(n, 0x1000 + 64 * i, 64) for i, n in enumerate(['a', 'b', 'c', 'main', 'end'])]


def small(box):
    """An executable, and a gmon.out with its record boundaries."""
    prog = box.file('small', Elf(SYMBOLS, size=0x200).bytes())
    os.chmod(prog, 0o755)
    records = [Hist(0x1000, 0x1140, [3] * 80)] + [Arc(0x10c0 + 4 * i, 0x1000 + 64 * (i % 3), 5 + i)
                                                 for i in range(8)]
    whole = [gmon(records[:i]) for i in range(len(records) + 1)]
    return prog, whole


def measured(out):
    """Without the verdict on the data, which differs."""
    return [line.split() for line in out.splitlines() if not line.startswith((b'check', b'doubt'))]


def truncated_data(tap, box):
    prog, whole = small(box)
    data, cut = whole[-1], os.path.join(box.folder, 'cut')
    ends = {len(w) for w in whole}
    for command in box.commands('--compat=no -b', '--compat=no -b -l', '-s', '-i'):
        salvaged = {len(w): command.run(prog, save(cut, w), **box.limits()).out for w in whole[1:]}
        faults, lost = [], []
        for n in truncations(len(data), len(data) if box.full or command.template.startswith(
                'gprof --compat=no -b {') else 120):
            r = command.run(prog, save(cut, data[:n]), **box.limits())
            fault = box.fault(r)
            if not fault and n not in ends and (not r.status or b'cut' not in r.err):
                fault = 'not noticed'
            if fault:
                faults.append(f'{n} bytes: {fault}: {r.describe()}')
            before = max((e for e in salvaged if e <= n), default=0)
            if before and n not in ends and measured(salvaged[before]) != measured(r.out):
                lost.append(f'{n} bytes: the records before byte {before} are not reported:'
                            f' {r.describe()}')
        tap.ok(not faults, f'gmon.out truncated at every offset is noticed: {command}',
               '\n'.join(faults[:3]))
        tap.ok(not lost, f'what is before the cut is still reported: {command}', '\n'.join(lost[:3]))


def truncated_real(tap, box):
    for case, data, options in [('01-basic', 'gmon.out', '-b'), ('12-bbcount', 'gmon.bb', '-A -l'),
                                ('15-bsd', 'gmon.44bsd', '-b'), ('09-sum', 'gmon.1', '-s')]:
        folder, prog, path = box.case(case, data)
        with open(path, 'rb') as f:
            whole = f.read()
        for command in box.commands(options):
            faults, noticed, points = [], 0, truncations(len(whole), 3000 if box.full else 100)
            for n in points:
                r = command.run(prog, save(path, whole[:n]), **box.limits(folder))
                fault = box.fault(r)
                noticed += r.status != 0
                if fault:
                    faults.append(f'{n} bytes: {fault}: {r.describe()}')
            # A cut between two records leaves a file that is well-formed.
            tap.ok(not faults and noticed > len(points) * .9,
                   f'{case}/{data} truncated: {command}',
                   f'{noticed} of {len(points)} noticed\n' + '\n'.join(faults[:3]))


def truncated_program(tap, box):
    folder, prog, path = box.case('22-lines')
    with open(prog, 'rb') as f:
        whole = f.read()
    cut = os.path.join(folder, 'cut')
    for command in box.commands('-b', '-b -l', '-A'):
        faults = []
        for n in truncations(len(whole), 3000 if box.full else 80):
            r = command.run(save(cut, whole[:n]), path, **box.limits(folder))
            fault = box.fault(r) or ('' if r.status else 'not noticed')
            if fault:
                faults.append(f'{n} bytes: {fault}: {r.describe()}')
        tap.ok(not faults, f'executable truncated: {command}', '\n'.join(faults[:3]))


def promises():
    """Small files that say they were huge: (name, bytes)."""
    head = b'gmon' + struct.pack('<I', 1) + bytes(12)
    pad = bytes(3000)
    for n in (0xffffffff, 0x7fffffff, 0x80000000, 0x40000000, 1600000000):
        yield f'{n:#x} bins', head + b'\0' + struct.pack('<QQII', 0x1000, 0x1140, n, 100) \
            + b'seconds'.ljust(15, b'\0') + b's' + pad
        yield f'{n:#x} blocks', head + b'\2' + struct.pack('<I', n) + pad
        yield f'4.4BSD, {n:#x} bytes of bins', struct.pack(
            '<QQIIIIII', 0x1000, 0x1140, n, 0x51879, 100, 0, 0, 0) + pad
        yield f'old BSD, {n:#x} bytes of bins', struct.pack('<QQI', 0x1000, 0x1140, n) + pad
    yield 'a histogram of all addresses', gmon([Hist(0, (1 << 64) - 1, [1] * 1400)])
    yield 'a histogram upside down', gmon([Hist(0x2000, 0x1000, [1] * 1400)])
    yield 'a histogram of nothing', gmon([Hist(0x1000, 0x1000, [1] * 1400)])
    yield 'a histogram without bins', gmon([Hist(0x1000, 0x1100, [])])
    yield '100 histograms', gmon([Hist(0x1000, 0x1000 + 8 * i, [1] * 4) for i in range(1, 100)])
    yield 'a bin for each megabyte', gmon([Hist(0x1000, 0x1000 + (1400 << 20), [1] * 1400)])
    yield 'BSD upside down', bsd(0x2000, 0x1000, [1] * 1400, [])
    yield 'zeroes', bytes(3000)
    yield 'ones', b'\xff' * 3000
    yield 'text', b'this is not a profile, but it is long enough to be one\n' * 60
    for seed in range(20):
        yield f'noise {seed}', random.Random(seed).randbytes(3000)


def lying_counts(tap, box):
    prog, _ = small(box)
    for command in box.commands('-b', '-s', '-b -l'):
        for name, data in promises():
            r = command.run(prog, box.file('lies', data), **box.limits())
            fault = box.fault(r)
            tap.ok(not fault, f'3 KB of data with {name}: {command}', f'{fault}: {r.describe()}')


def lying_programs(tap, box):
    """Section headers that promise gigabytes."""
    elf = Elf(SYMBOLS, size=0x200).bytes()
    _, whole = small(box)
    data = box.file('whole', whole[-1])
    sections = struct.unpack_from('<Q', elf, 40)[0]
    fields = {'offset': 24, 'size': 32, 'link': 40, 'info': 44, 'entry size': 56}
    for command in box.commands('-b', '-b -l'):
        for index, section in enumerate(['.text', '.data', '.symtab', '.strtab', '.shstrtab'], 1):
            for field, at in fields.items():
                faults = []
                for value in (0, 1, 0x7fffffff, 0xffffffff, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
                    bad = bytearray(elf)
                    place = sections + 64 * index + at
                    raw = struct.pack('<Q', value)[:4 if 'link info'.find(field) >= 0 else 8]
                    bad[place:place + len(raw)] = raw
                    r = command.run(box.file('bad-elf', bytes(bad)), data, **box.limits())
                    if box.fault(r):
                        faults.append(f'{value:#x}: {box.fault(r)}: {r.describe()}')
                tap.ok(not faults, f'{field} of {section} lies: {command}', '\n'.join(faults[:3]))


def bombs(tap, box):
    """Compressed sections of some kilobytes that unfold to gigabytes."""
    if not shutil.which('objcopy'):
        tap.skip('compressed sections that unfold to gigabytes', 'no objcopy')
        return
    zeros, deflate = bytes(1 << 20), zlib.compressobj(9)
    packed = b''.join(deflate.compress(zeros) for _ in range(700)) + deflate.flush()
    xz = lzma.LZMACompressor(preset=1)
    unfold = {'.zdebug_info': b'ZLIB' + struct.pack('>Q', 700 << 20) + packed,
              '.zdebug_line': b'ZLIB' + struct.pack('>Q', 700 << 20) + packed,
              '.gnu_debugdata': b''.join(xz.compress(zeros) for _ in range(400)) + xz.flush()}
    for section, data in unfold.items():
        folder, prog, path = box.case('22-lines')
        subprocess.run(['objcopy', '--strip-all', '--add-section',
                        f'{section}={box.file("bomb", data)}', prog], check=True)
        for command in box.commands('-b', '-b -l', '-A'):
            r = command.run(prog, path, **box.limits(folder))
            tap.ok(not box.fault(r), f'{section} unfolds to gigabytes: {command}',
                   f'{box.fault(r)}: {r.describe()}')


def test(tap, box):
    truncated_data(tap, box)
    truncated_real(tap, box)
    truncated_program(tap, box)
    lying_counts(tap, box)
    lying_programs(tap, box)
    bombs(tap, box)

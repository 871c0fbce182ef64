"""Reads a .kin file of the runtime, as include/kin/format.h describes it, into plain objects.

    k = dump.read('kin.1.kin')
    k.header['end'], k.modules, k.threads, k.arcs[(from, to)], k.retired, k.blocks
    k.calls('leaf')      calls of a function of the executable or a shared object, by nm's symbols

Also a program: dump.py FILE... prints the contents of the files."""
import bisect
import collections
import os
import struct
import subprocess
import sys

MAGIC = 0x0a0d464e494b0089
INTERRUPTED = 1 << 63  # in an address of a stack
HEADER = struct.Struct('<QIIIIII QQQQQQQQ 16Q II 240s')
BLOCK = struct.Struct('<IIQQIIII3Q')
MODULE = struct.Struct('<IIQQQIIIHH')
THREAD = struct.Struct('<II16sQQQQQ4Q')
NAMES = ('magic version page writer pid ppid end end_detail size start_ns end_ns start_time_ns cpu_ns '
         'sampled_ns period_ns').split()
LOSSES = 'arcs samples stacks blocks threads modules throttled truncated'.split()
Module = collections.namedtuple('Module', 'id start end bias mapped_at unmapped_at flags path build_id')
Thread = collections.namedtuple('Thread', 'index tid name start_ns end_ns cpu_ns sampled_ns samples')
Stack = collections.namedtuple('Stack', 'thread epoch end count weight_ns pcs')        # end: 0 leaf only, 1 complete, 2 cut
Latency = collections.namedtuple('Latency', 'thread at to count sum_ns min_ns max_ns probes_ns buckets')


class Damaged(Exception):
    pass


class Kin:
    def __init__(self, data):
        if len(data) < 4096:
            raise Damaged('no header')
        fields = HEADER.unpack_from(data)
        self.header = dict(zip(NAMES, fields[:15]))
        if self.header['magic'] != MAGIC:
            raise Damaged('magic')
        self.losses = {n: v for n, v in zip(LOSSES, fields[15:31]) if v}
        self.header['hook_ps'], *self.hooks = struct.unpack_from('<IQQ', data, HEADER.size + 4 + 4 + 4 + 64)
        self.own = struct.unpack_from('<QQ', data, HEADER.size + 4 + 4 + 4 + 64 + 4 + 16 + 256)
        self.error = fields[33].split(b'\0')[0].decode('utf8', 'replace')
        self.blocks, self.modules, self.threads, self.info = [], [], [], ''
        self.stacks, self.latencies, self._retired_latencies = [], [], []
        self.arcs = collections.Counter()
        self.by_thread = collections.defaultdict(collections.Counter)
        self.retired = collections.Counter()
        self.twice = set()
        at, end = 4096, self.header['size'] or len(data)
        if end > len(data):
            raise Damaged(f'size {end} of {len(data)}')
        while at < end:
            magic, kind, size, used, thread, *_ = BLOCK.unpack_from(data, at)
            if magic != 0x4b4c424b or size < 64 or size % 8 or at + size > end or used > size - 64:
                raise Damaged(f'block at {at:#x}: magic {magic:#x} size {size} used {used}')
            self.blocks.append((kind, size, used, thread))
            self.block(kind, data[at + 64:at + 64 + used], thread)
            at += size
        for arcs in (self.arcs, *self.by_thread.values()):
            for arc in self.twice:
                arcs.pop(arc, None)

    def block(self, kind, p, thread):
        if kind == 1:
            self.info += p.decode('utf8', 'replace')
        elif kind == 2:
            at = 0
            while at < len(p):
                size, i, start, stop, bias, mapped, unmapped, flags, ps, bs = MODULE.unpack_from(p, at)
                if not size:
                    break
                path = p[at + 48:at + 48 + ps].decode()
                b = at + 48 + (ps + 7) // 8 * 8
                self.modules.append(Module(i, start, stop, bias, mapped, unmapped, flags, path, p[b:b + bs].hex()))
                at += size
        elif kind == 3:
            for at in range(0, len(p), THREAD.size):
                t = THREAD.unpack_from(p, at)
                if t[0]:
                    self.threads.append(Thread(t[0], t[1], t[2].split(b'\0')[0].decode(), *t[3:8]))
        elif kind == 4:
            for f, t, n, _ in struct.iter_unpack('<4Q', p):
                if t and n:
                    self.arcs[f, t] += n
                    self.by_thread[thread][f, t] += n
        elif kind == 14:
            for key, high, n in struct.iter_unpack('<QII', p):
                if key > 2 and n:
                    arc = key & (1 << 48) - 1, high << 16 | key >> 48
                    self.arcs[arc] += n
                    self.by_thread[thread][arc] += n
        elif kind == 15:
            for key, high, n in struct.iter_unpack('<QII', p):
                if key > 2 and n:
                    self.twice.add((key & (1 << 48) - 1, high << 16 | key >> 48))
        elif kind == 5:
            for f, t, n, fm, tm in struct.iter_unpack('<3Q2I', p):
                if n:
                    self.retired[f, t, fm, tm] += n
        elif kind == 6:
            at = 0
            while at + 32 <= len(p):
                depth, epoch, end, _, n, weight = struct.unpack_from('<4I2Q', p, at)
                if not depth:
                    break
                self.stacks.append(Stack(thread, epoch, end & 0xffff, n, weight, struct.unpack_from(f'<{depth}Q', p, at + 32)))
                at += 32 + 8 * depth
        elif kind == 8:
            for at in range(0, len(p) - 1271, 1272):
                a, t, n, total, low, high, probes = struct.unpack_from('<7Q', p, at)
                if t and n:
                    self.latencies.append(Latency(thread, a, t, n, total, low, high, probes,
                                                  struct.unpack_from('<304I', p, at + 56)))
        elif kind == 11:
            for at in range(0, len(p) - 1279, 1280):
                fm, tm, a, t, n, total, low, high, probes = struct.unpack_from('<2I7Q', p, at)
                if n:
                    self._retired_latencies.append((tm, Latency(0, a, t, n, total, low, high, probes,
                                                               struct.unpack_from('<304I', p, at + 64))))

    def retired_latencies(self):
        """[(latency, function)] of unmapped modules."""
        by_id = {m.id: m for m in self.modules}
        return [(x, name(by_id[tm].path, x.to)[1] if tm else self.place(x.to)[1]) for tm, x in self._retired_latencies]

    def module(self, addr, epoch=2**32 - 2):
        for m in self.modules:
            if m.start <= addr < m.end and m.mapped_at <= epoch < m.unmapped_at:
                return m

    def resolved(self):
        """Counter of (caller, callee), each (path, function)."""
        out = collections.Counter()
        by_id = {m.id: m for m in self.modules}
        for (f, t), n in self.arcs.items():
            out[self.place(f - 1), self.place(t)] += n
        for (f, t, fm, tm), n in self.retired.items():
            a = name(by_id[fm].path, f - 1) if fm else self.place(f - 1)
            b = name(by_id[tm].path, t) if tm else self.place(t)
            out[a, b] += n
        return out

    def place(self, addr, *epoch):
        m = self.module(addr, *epoch)
        return name(m.path, addr - m.bias) if m else ('?', hex(addr))

    def functions(self, stack):
        return [self.place((pc - (i > 0)) & ~INTERRUPTED, stack.epoch)[1] for i, pc in enumerate(stack.pcs)]

    def calls(self, function):
        return sum(n for (_, (_, callee)), n in self.resolved().items() if callee == function)


_symbols = {}


def name(path, addr):
    if path not in _symbols:
        found = []
        if os.path.exists(path):
            for line in subprocess.run(['nm', '-n', path], capture_output=True, text=True).stdout.splitlines():
                w = line.split()
                if len(w) == 3 and w[1] in 'tTwW':
                    found.append((int(w[0], 16), w[2]))
        _symbols[path] = found
    found = _symbols[path]
    i = bisect.bisect_right(found, (addr, '\x7f')) - 1
    return (path, found[i][1]) if i >= 0 else (path, hex(addr))


def read(path):
    with open(path, 'rb') as f:
        return Kin(f.read())


if __name__ == '__main__':
    for p in sys.argv[1:]:
        k = read(p)
        print(p, k.header, 'losses', k.losses, 'error', repr(k.error))
        print(k.info, end='')
        for m in k.modules:
            print(m)
        for t in k.threads[:20]:
            print(t)
        print('blocks', k.blocks[:40])
        for (a, b), n in sorted(k.resolved().items(), key=lambda x: -x[1])[:40]:
            print(f'{n:12} {a} -> {b}')
        for s in sorted(k.stacks, key=lambda s: -s.weight_ns)[:20]:
            print(f'{s.weight_ns / 1e6:10.1f} ms {s.count:6} {("leaf", "", "cut")[s.end]} {" ".join(k.functions(s))}')

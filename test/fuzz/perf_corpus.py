#!/usr/bin/env python3
"""perf_corpus.py DIR - small perf.data files of all kinds, as inputs of fuzz_perf and test_perf_files;
"bomb" takes zstd to make.

Each starts with the byte of options that fuzz.h asks for: the file proper follows. Paths in them do not
exist."""
import os
import struct
import subprocess
import sys

OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, REGS, STACK = (1 << i for i in range(14))
IDENT = 1 << 16
U64 = (1 << 64) - 1
USER, KERNEL, DEFERRED = -512 & U64, -128 & U64, -640 & U64


class File:
    def __init__(self, types=(IDENT | IP | TID | TIME | CPU | PERIOD | CHAIN,), order="<", read=0, branch=0,
                 flags=1 << 10 | 1 << 18 | 1 << 20, size=128, software=(0, 1, 2)):
        self.o, self.types, self.data, self.t = order, types, b"", 10**9
        self.attrs = []
        for i, t in enumerate(types):
            bits = struct.pack("<Q", flags)
            if order == ">":
                bits = bytes(int(f"{b:08b}"[::-1], 2) for b in bits)
            a = self.p("IIQQQQ", 1, size, software[i], 1000, t, read) + bits + self.p("IIQQQQIi", 1, 0, 0, 0, branch, 0xff0fff, 64, 0)
            self.attrs.append(a.ljust(size, b"\0"))

    def p(self, f, *v):
        return struct.pack(self.o + f, *v)

    def rec(self, type, misc, body):
        body = body.ljust((len(body) + 7) & ~7, b"\0")
        self.data += self.p("IHH", type, misc, 8 + len(body)) + body
        return self

    def trailer(self, pid, tid=None, cpu=0):
        t, b = self.types[0], b""
        self.t += 1000
        b += self.p("II", pid, tid or pid) if t & TID else b""
        b += self.p("Q", self.t) if t & TIME else b""
        b += self.p("Q", 100) if t & ID else b""
        b += self.p("Q", 0) if t & STREAM else b""
        b += self.p("II", cpu, 0) if t & CPU else b""
        b += self.p("Q", 100) if t & IDENT else b""
        return b

    def text(self, s):
        s = s.encode() + b"\0"
        return s.ljust((len(s) + 7) & ~7, b"\0")

    def comm(self, pid, s, exec=False):
        return self.rec(3, 0x2000 * exec, self.p("II", pid, pid) + self.text(s) + self.trailer(pid))

    def mmap2(self, pid, at, size, path, misc=2, id=b""):
        mid = bytes([20, 0, 0, 0]) + id.ljust(20, b"\1") if id else self.p("IIQQ", 8, 1, 1, 0)
        return self.rec(10, misc | (0x4000 if id else 0), self.p("IIQQQ", pid, pid, at, size, 0) + mid + self.p("II", 5, 2) +
                        self.text(path) + self.trailer(pid & 0xffffffff))

    def mmap(self, pid, at, size, path, misc=1):
        return self.rec(1, misc, self.p("IIQQQ", pid, pid, at, size, 0) + self.text(path) + self.trailer(0))

    def fork(self, pid, ppid, tid=None, misc=0):
        return self.rec(7, misc, self.p("IIIIQ", pid, ppid, tid or pid, ppid, self.t) + self.trailer(pid))

    def exit(self, pid):
        return self.rec(4, 0, self.p("IIIIQ", pid, pid, pid, pid, self.t) + self.trailer(pid))

    def switch(self, pid, out, preempt=0, wide=False):
        return self.rec(15 if wide else 14, out << 13 | preempt << 14, (self.p("II", 1, 1) if wide else b"") + self.trailer(pid))

    def sample(self, pid, chain, ev=0, misc=2, tid=None, weight=1000, read=b"", more=b"", cpu=0, dt=1000):
        t, b = self.types[ev], b""
        self.t += dt
        b += self.p("Q", 100 + ev) if t & IDENT else b""
        b += self.p("Q", next((a for a in chain if a < U64 - 4095), 0)) if t & IP else b""
        b += self.p("II", pid, tid or pid) if t & TID else b""
        b += self.p("Q", self.t) if t & TIME else b""
        b += self.p("Q", 0) if t & ADDR else b""
        b += self.p("Q", 100 + ev) if t & ID else b""
        b += self.p("Q", 7) if t & STREAM else b""
        b += self.p("II", cpu, 0) if t & CPU else b""
        b += self.p("Q", weight) if t & PERIOD else b""
        b += read
        b += self.p("Q", len(chain)) + b"".join(self.p("Q", a) for a in chain) if t & CHAIN else b""
        return self.rec(9, misc, b + more)

    def round(self):
        return self.rec(68, 0, b"")

    def machine(self):
        return (self.mmap(-1 & 0xffffffff, U64 - (1 << 31), 1 << 30, "[kernel.kallsyms]_text").comm(500, "prog", True)
                .mmap2(500, 0x400000, 0x100000, "/nowhere/prog").mmap2(500, 0x7f0000000000, 0x100000, "/nowhere/lib.so", id=b"\x42"))

    def samples(self, n=6, pid=500):
        for i in range(n):
            self.sample(pid, [USER, 0x400100 + i % 3, 0x400200, 0x400300], dt=1000 - 1700 * (i % 2), cpu=i % 2)
        return self

    def whole(self, size=None, features={}):
        n, A = len(self.attrs), len(self.attrs[0]) + 16
        ids_at = 104
        attrs_at = ids_at + 8 * n
        data_at = attrs_at + A * n
        ids = b"".join(self.p("Q", 100 + i) for i in range(n))
        attrs = b"".join(a + self.p("QQ", ids_at + 8 * i, 8) for i, a in enumerate(self.attrs))
        bits = [0] * 4
        for f in features:
            bits[f // 64] |= 1 << f % 64
        at = data_at + len(self.data) + 16 * len(features)
        table, payload = b"", b""
        for f in sorted(features):
            table += self.p("QQ", at + len(payload), len(features[f]))
            payload += features[f]
        head = b"PERFILE2" if self.o == "<" else b"2ELIFREP"
        h = head + self.p("QQQQQQQQ", 104, A, attrs_at, A * n, data_at, len(self.data) if size is None else size, 0, 0)
        return h + self.p("QQQQ", *bits) + ids + attrs + self.data + table + payload

    def pipe(self):
        data, self.data = self.data, b""
        for i, a in enumerate(self.attrs):
            self.rec(64, 0, a + self.p("Q", 100 + i))
        self.rec(78, 0, self.p("QQ", 2, 100) + self.text("renamed"))
        self.rec(80, 0, self.p("Q", 7) + self.p("II", 2, 2))
        head = (b"PERFILE2" if self.o == "<" else b"2ELIFREP") + self.p("Q", 16)
        return head + self.data + data


def put(name, data, how=1):
    open(os.path.join(OUT, name), "wb").write(bytes([how]) + data)


def string(f, s):
    s = s.encode().ljust(64, b"\0")
    return f.p("I", len(s)) + s


put("plain", File().machine().samples().round().samples().round().whole())
big = File(order=">").machine().samples()
put("big_endian", big.whole())
put("big_endian_pipe", File(order=">").machine().samples().pipe())
put("pipe", File().machine().samples().round().samples().pipe())
put("killed", File().machine().samples().whole(size=0))
put("small_attr", File(size=64).machine().samples().whole())
put("large_attr", File(size=200).machine().samples().whole())
ev = (IP | TID | TIME | ID | STREAM | CPU | PERIOD | CHAIN,) * 2
f = File(ev).machine().samples()
f.sample(500, [USER, 0x400150], ev=1)
put("events", f.whole(features={
    2: f.p("IHHi", 0, 0x8000 | 2, 8 + 4 + 24 + 16, 500) + bytes(range(20)) + bytes([20, 0, 0, 0]) + b"/nowhere/prog\0\0\0",
    3: string(f, "elsewhere"), 6: string(f, "x86_64"), 7: f.p("II", 2, 2),
    12: f.p("II", 2, 128) + f.attrs[0] + f.p("I", 1) + string(f, "first") + f.p("Q", 100) + f.attrs[1] + f.p("I", 1) +
    string(f, "second") + f.p("Q", 101),
    17: f.p("I", 1) + string(f, "{first,second}") + f.p("II", 0, 2)}))
group = (IDENT | IP | TID | TIME | READ | CHAIN,) * 2
f = File(group, read=1 << 3 | 1 << 2 | 3).machine()
for i in (1, 2, 3):
    f.sample(500, [USER, 0x400100], read=f.p("QQQQQQQ", 2, 9, 9, 1000 * i, 100, 10 * i, 101))
put("group", f.whole())
f = File().machine().fork(501, 500).samples(2, 501).comm(501, "next", True).mmap2(501, 0x400000, 0x1000, "/nowhere/next")
f.samples(2, 501).exit(501).sample(500, [KERNEL, U64 - (1 << 31) + 5, USER, 0x400100], misc=1)
f.rec(17, 0, f.p("QIHH", U64 - (1 << 31) + 64, 32, 1, 0) + f.text("bpf_prog_1") + f.trailer(500))
f.sample(500, [KERNEL, U64 - (1 << 31) + 70, USER, 0x400100], misc=1)
f.rec(2, 0, f.p("QQ", 100, 3) + f.trailer(500)).rec(13, 0, f.p("Q", 2) + f.trailer(500)).rec(5, 0, f.p("QQQ", 1, 2, 3) + f.trailer(500))
f.rec(66, 0, f.p("Q", 16)).data += b"payload!" * 2
f.rec(71, 0, f.p("QQQIIII", 24, 0, 0, 0, 0, 0, 0)).data += b"payload!" * 3
f.rec(40000, 0, b"nobody knows").samples(1)
put("records", f.whole())
f = File(flags=1 << 10 | 1 << 18 | 1 << 26).machine().samples(2)
f.switch(500, 1).switch(500, 0).switch(500, 1, 1).switch(500, 0).fork(500, 500, 502).samples(1).switch(500, 1)
f.samples(1).switch(500, 0, wide=True)
put("switches", f.whole())
f = File().machine()
f.sample(500, [KERNEL, U64 - (1 << 31) + 5, DEFERRED, 77], misc=1).samples(1).sample(500, [DEFERRED, 78])
f.rec(22, 0, f.p("QQ", 77, 3) + f.p("QQQ", USER, 0x400111, 0x400222) + f.trailer(500)).samples(1)
put("deferred", f.whole())
f = File((IDENT | IP | TID | TIME | PERIOD | CHAIN | RAW | BRANCH | REGS | STACK,), branch=1 << 11).machine()
regs = f.p("Q", 2) + f.p("20Q", *([0x400100 if i == 8 else 0x7ff000 if i in (6, 7) else i for i in range(20)]))
stack = f.p("Q", 64) + f.p("8Q", 0x7ff010, 0x400200, 0, 0x400300, 0, 0, 0, 0) + f.p("Q", 64)
raw = f.p("I", 4) + b"data"
f.sample(500, [], more=raw + f.p("Q", 0) + regs + stack)
f.sample(500, [USER], more=raw + f.p("QQQQQQQ", 2, 0x400200, 0x400101, 0, 0x400300, 0x400201, 0) + f.p("QQ", 0, 0))
put("dumps", f.whole())
f = File((IDENT | IP | TID | TIME | PERIOD | CHAIN | REGS | STACK,)).machine()
stack = f.p("Q", 64) + f.p("8Q", 0x7ff010, 0x400200, 0x7ff100, 0x400300, 0, 0, 0, 0) + f.p("Q", 64)
f.sample(500, [], more=regs + stack)  # the third frame is beyond it
put("dump_cut", f.whole())
DETAILS, BRANCHES = 32, 64  # fuzz.h
f = File((IDENT | IP | TID | TIME | CPU | PERIOD | BRANCH,), branch=1 << 3).machine()
f.rec(19, 0, f.p("Q", 11) + f.text("/one") + f.trailer(0))
f.rec(16, 0, f.p("IIQ", 500, 500, 7) + f.p("14Q", *range(14)) + f.trailer(500))
for i in range(3):
    f.sample(500, [0x400100], cpu=i, more=f.p("QQQQQQQ", 2, 0x400200, 0x400101, 2 | 17 << 4, 0x7f0000000300, 0x9, 1 | 4))
put("header", f.whole(features={
    4: string(f, "6.1"), 5: string(f, "6.1.1"), 7: f.p("II", 2, 2), 8: string(f, "a CPU"), 9: string(f, "x,1"), 10: f.p("Q", 77),
    11: f.p("I", 2) + string(f, "perf") + string(f, "it's"), 13: f.p("I", 1) + string(f, "0-1") + f.p("I", 1) + string(f, "0") +
    f.p("IIII", 0, 0, 1, 1) + f.p("I", 1) + string(f, "0-1") + f.p("II", 0, 1), 14: f.p("IIQQ", 1, 0, 8, 7) + string(f, "0-1"),
    12: f.p("II", 1, 128) + f.attrs[0] + f.p("I", 1) + string(f, "first") + f.p("Q", 100),
    16: f.p("II", 1, 4) + string(f, "cpu"), 17: f.p("I", 1) + string(f, "{a}") + f.p("II", 0, 1), 18: b"", 19: b"",
    20: f.p("IIIIII", 1, 1, 1, 64, 8, 8) + string(f, "Data") + string(f, "32K") + string(f, "0"), 21: f.p("QQ", 10**9, 2 * 10**9),
    22: f.p("QQQQQQQ", 1, 4096, 1, 0, 70, 70, 0xf0) + f.p("Q", 3), 23: f.p("Q", 1), 24: f.p("Q", 1), 27: f.p("IIIII", 1, 1, 1, 3, 9)}))
put("branches", f.whole(features={7: f.p("II", 2, 2), 15: b"", 13: f.p("I", 1) + string(f, "0-1") + f.p("I", 1) +
                                  string(f, "0") + f.p("IIII", 0, 0, 1, 1)}), 1 | DETAILS | BRANCHES)
for name, order in (("accesses", "<"), ("accesses_big_endian", ">")):
    f = File((IDENT | IP | TID | TIME | ADDR | PERIOD | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 21 | 1 << 22 | 1 << 23 | 1 << 24,),
             order)
    f.machine().mmap2(500, 0x600000, 0x1000, "/nowhere/data", misc=0x2002)
    f.rec(19, 0, f.p("Q", 11) + f.text("/one") + f.trailer(0))
    for i in range(3):
        f.sample(500, [0x400100], more=f.p("QQQQ", 30 | 40 << 32 | 7 << 48, 0x68100142, 9, 0) +
                 f.p("QQQQ", 0x1000 + i, 11 + i % 2, 4096, 4096))
    put(name, f.whole(), 1 | DETAILS)
put("damaged_sample", File().machine().rec(9, 2, bytes(40)).samples(1).whole())
put("unknown_id", File((IDENT | IP | TID | TIME,) * 2).machine().rec(9, 2, File().p("QQIIQ", 999, 1, 1, 1, 5)).whole())
# zstd: frames of stored blocks, which need no compressor; the second record goes on where the first stopped
inner = File().machine().samples().data


def stored(parts):
    out, first = [], True
    for i, part in enumerate(parts):
        block = struct.pack("<I", len(part) << 3 | (i == len(parts) - 1))[:3] + part
        out.append((b"\x28\xb5\x2f\xfd\x00\x58" if first else b"") + block)
        first = False
    return out


f = File()
for part in stored([inner[:333], inner[333:500], inner[500:]]):
    f.data += f.p("IHH", 81, 0, 8 + len(part)) + part
put("packed", f.round().whole())
f = File()
for part in stored([inner[:100], inner[100:]]):
    f.rec(83, 0, f.p("Q", len(part)) + part)
put("packed2", f.round().pipe())
# 1 MiB of empty records in some hundred bytes
bomb = subprocess.run(["zstd", "-qc19"], input=struct.pack("<IHH", 63, 0, 8) * (1 << 17), stdout=subprocess.PIPE, check=True).stdout
f = File()
f.rec(83, 0, f.p("Q", len(bomb)) + bomb)
put("bomb", f.whole())

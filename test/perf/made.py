"""Recordings that no virtual machine can make, written here: branch stacks, memory accesses, control groups,
several sockets, all levels of privilege. kin report --stdio next to perf report, byte for byte.

The files name two programs that hold nothing but symbols. Skipped where there is no perf 6.1."""
import os
import random
import struct
import subprocess

IP, TID, TIME, ADDR, CHAIN, CPU, PERIOD, BRANCHES = (1 << i for i in (0, 1, 2, 3, 5, 7, 8, 11))
WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, PHYS, CGROUP, DATA_PAGE, CODE_PAGE, WEIGHTS = (
    1 << i for i in (14, 15, 16, 17, 19, 21, 22, 23, 24))
KERNEL, USER = 1, 2
TOPOLOGY, BRANCH_STACK = 13, 15
BASIC = IP | TID | TIME | CPU | PERIOD | IDENTIFIER
TEXT, DATA = 0x200, 0x2000


def write_elf(path, functions, objects=(), base=0):
    """An ELF file with these (name, offset, size), and nothing in them; at an address of its own if not PIE."""
    names, table = b'\0', bytes(24)
    for kind, section, list_ in ((2, 1, functions), (1, 2, objects)):
        for name, at, size in list_:
            table += struct.pack('<IBBHQQ', len(names), 0x10 | kind, 0, section, base + at, size)
            names += name.encode() + b'\0'
    labels = b'\0.text\0.data\0.symtab\0.strtab\0.shstrtab\0'
    symtab = DATA + 0x1000
    strtab, shstrtab = symtab + len(table), symtab + len(table) + len(names)
    sections = (shstrtab + len(labels) + 7) & ~7
    header = (b'\x7fELF' + bytes([2, 1, 1, 0]) + bytes(8) +
              struct.pack('<HHIQQQIHHHHHH', 2 if base else 3, 62, 1, 0, 64, sections, 0, 64, 56, 2, 64, 6, 5))
    segments = (struct.pack('<IIQQQQQQ', 1, 5, 0, base, base, 0x1200, 0x1200, 0x1000) +
                struct.pack('<IIQQQQQQ', 1, 6, DATA, base + DATA, base + DATA, 0x1000, 0x1000, 0x1000))

    def section(name, kind, flags, at, size, link=0, info=0, align=1, each=0):
        addr = base + at if flags else 0
        return struct.pack('<IIQQQQIIQQ', name, kind, flags, addr, at, size, link, info, align, each)

    body = (header + segments).ljust(TEXT, b'\0') + b'\x90' * 0x1000
    body = body.ljust(symtab, b'\0') + table + names + labels
    body = body.ljust(sections, b'\0') + bytes(64)
    body += section(1, 1, 6, TEXT, 0x1000, align=16) + section(7, 1, 3, DATA, 0x1000, align=16)
    body += section(13, 2, 0, symtab, len(table), 4, 1, 8, 24) + section(21, 3, 0, strtab, len(names))
    body += section(29, 3, 0, shstrtab, len(labels))
    with open(path, 'wb') as f:
        f.write(body)


def string(text):
    data = text.encode() + b'\0'
    data = data.ljust((len(data) + 63) & ~63, b'\0')
    return struct.pack('<I', len(data)) + data


class Recording:
    """One event, or several with ids from 7 on; records in the order of the calls, a microsecond apart."""

    def __init__(self, kind, flags=0, events=1):
        self.kind, self.flags, self.data, self.time, self.features = kind, flags, b'', 10**9, {}
        self.events = events

    def record(self, what, misc, body):
        self.data += struct.pack('<IHH', what, misc, 8 + len(body)) + body

    def trailer(self, pid, tid=None):
        self.time += 1000
        return struct.pack('<IIQIIQ', pid, tid or pid, self.time, 0, 0, 7)

    @staticmethod
    def name(text):
        data = text.encode() + b'\0'
        return data.ljust((len(data) + 7) & ~7, b'\0')

    def comm(self, pid, name, tid=None, misc=0x2000):
        self.record(3, misc, struct.pack('<II', pid, tid or pid) + self.name(name) + self.trailer(pid, tid))

    def fork(self, pid, tid, parent, of, misc=0):
        """pid/tid was forked by parent/of; misc 0x2000: before the recording, with mappings of its own."""
        self.record(7, misc, struct.pack('<IIIIQ', pid, parent, tid, of, self.time) + self.trailer(parent, of))

    def exit(self, pid, tid, parent):
        self.record(4, 0, struct.pack('<IIIIQ', pid, parent, tid, parent, self.time) + self.trailer(pid, tid))

    def mmap(self, pid, start, size, path, offset=0, data=False):
        self.record(10, USER | (0x2000 if data else 0),
                    struct.pack('<IIQQQIIQQII', pid, pid, start, size, offset, 8, 1, 1, 0, 3 if data else 5, 2) +
                    self.name(path) + self.trailer(pid))

    def kernel(self):
        self.record(1, KERNEL, struct.pack('<IIQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x1000000,
                                           0xffffffff81000000) + self.name('[kernel.kallsyms]_text') + self.trailer(0))

    def cgroup(self, number, path):
        self.record(19, 0, struct.pack('<Q', number) + self.name(path) + self.trailer(0))

    def namespaces(self, pid, inode):
        all_ = b''.join(struct.pack('<QQ', 4, inode + i) for i in range(7))
        self.record(16, 0, struct.pack('<IIQ', pid, pid, 7) + all_ + self.trailer(pid))

    def sample(self, pid, ip, period=1000, mode=USER, cpu=0, step=1000, chain=(), branches=(), **more):
        self.time += step
        k = self.kind
        body = struct.pack('<QQIIQ', 7 + more.get('event', 0), ip, pid, more.get('tid', pid), self.time)
        if k & ADDR:
            body += struct.pack('<Q', more.get('addr', 0))
        body += struct.pack('<IIQ', cpu, 0, period)
        if k & CHAIN:
            list_ = more.get('stack', [(-512) & (2**64 - 1), *(chain or [ip])]) # stack: with the marks in it
            body += struct.pack('<Q', len(list_)) + struct.pack(f'<{len(list_)}Q', *list_)
        if k & BRANCHES:
            body += struct.pack('<Q', len(branches))
            body += b''.join(struct.pack('<QQQ', *b) for b in branches)
        for bit, key in ((WEIGHT, 'weight'), (WEIGHTS, 'weight'), (DATA_SRC, 'data_src'), (TRANSACTION, 'transaction'),
                         (PHYS, 'phys'), (CGROUP, 'cgroup'), (DATA_PAGE, 'data_page'), (CODE_PAGE, 'code_page')):
            if k & bit:
                body += struct.pack('<Q', more.get(key, 0))
        self.record(9, mode, body)

    def topology(self, sockets):
        n = len(sockets)
        self.features[TOPOLOGY] = (struct.pack('<I', 1) + string('0-' + str(n - 1)) + struct.pack('<I', 1) +
                                   string('0') + b''.join(struct.pack('<II', i, s) for i, s in enumerate(sockets)))
        self.features[7] = struct.pack('<II', n, n)

    def attr(self, i):
        """The i-th event, 128 bytes."""
        flags = 1 << 10 | 1 << 18 | 1 << 20 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | self.flags
        attr = struct.pack('<IIQQQQQ', 1, 128, i, 1000, self.kind, 0x14, flags).ljust(72, b'\0')
        return (attr + struct.pack('<Q', 1 << 3 if self.kind & BRANCHES else 0)).ljust(128, b'\0')

    def write(self, path):
        attrs = b''.join(self.attr(i) + struct.pack('<QQ', 104 + 8 * i, 8) for i in range(self.events))
        ids = struct.pack(f'<{self.events}Q', *range(7, 7 + self.events))
        at = 104 + len(ids) + len(attrs)
        bits = sum(1 << f for f in self.features)
        header = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 144, 104 + len(ids), len(attrs), at, len(self.data), 0, 0)
        header += struct.pack('<QQQQ', bits, 0, 0, 0)
        index, behind = b'', b''
        where = at + len(self.data) + 16 * len(self.features)
        for f in sorted(self.features):
            index += struct.pack('<QQ', where + len(behind), len(self.features[f]))
            behind += self.features[f]
        with open(path, 'wb') as f:
            f.write(header + ids + attrs + self.data + index + behind)


FUNCTIONS = [('parse', 0x300, 0x40), ('lookup', 0x340, 0x80), ('insert', 0x400, 0x100), ('main', 0x500, 0x60)]
LIBRARY = [('copy', 0x300, 0x100), ('fill', 0x480, 0x33)]
OBJECTS = [('table', 0x2100, 0x400), ('counter', 0x2500, 8)]
PROGRAM_AT, LIBRARY_AT = 0x400000, 0x7f0000000000


def machine(folder, kind, data=False):
    program, library = os.path.join(folder, 'prog'), os.path.join(folder, 'libone.so')
    write_elf(program, FUNCTIONS, OBJECTS)
    write_elf(library, LIBRARY)
    r = Recording(kind)
    r.topology([0, 0, 1, 1])
    for pid, name in ((100, 'first'), (200, 'second')):
        r.comm(pid, name)
        r.mmap(pid, PROGRAM_AT, 0x2000, program)
        r.mmap(pid, LIBRARY_AT, 0x2000, library)
        if data:
            r.mmap(pid, PROGRAM_AT + DATA, 0x1000, program, DATA, True)
            r.mmap(pid, 0x7ffc00000000, 0x21000, '[stack]', 0, True)
    return r


def addresses(random_):
    where = random_.choice([(PROGRAM_AT, FUNCTIONS)] * 3 + [(LIBRARY_AT, LIBRARY)])
    name, at, size = random_.choice(where[1])
    return where[0] + at + random_.randrange(size)


def make_plain(folder, path):
    """Times, processors on two sockets, levels of privilege, control groups, page sizes."""
    x, r = random.Random(1), machine(folder, BASIC | CGROUP | CODE_PAGE)
    r.cgroup(11, '/')
    r.cgroup(12, '/system.slice/one.service')
    r.namespaces(100, 4026531835)
    for i in range(300):
        ip = addresses(x)
        if i % 23 == 0:
            ip = 0x10000 + i # nothing is mapped there
        r.sample(x.choice((100, 100, 200)), ip, x.randrange(900, 1100), USER, x.randrange(4),
                 x.randrange(100, 4000000), cgroup=x.choice((11, 12, 12, 13)), code_page=x.choice((0, 4096, 4096, 2 << 20)))
    r.write(path)


def make_chains(folder, path):
    """Stacks walked by frame pointers that were none: they end at address 0, nowhere, or in code made at run time."""
    x, r = random.Random(4), machine(folder, BASIC | CHAIN)
    r.mmap(100, 0x5000000, 0x1000, '//anon')
    for i in range(60):
        ip = addresses(x)
        chain = [ip, PROGRAM_AT + 0x511] + [[], [0], [0x77], [0x5000123]][i % 4]
        r.sample(100, ip, x.randrange(900, 1100), chain=chain)
    r.write(path)


def make_forks(folder, path):
    """Children that ran already have the mappings that perf lists for them; later children have their parents' mappings."""
    x, r = random.Random(5), machine(folder, BASIC)
    r.fork(300, 300, 100, 100, 0x2000)
    r.comm(300, 'earlier', misc=0)
    r.mmap(300, PROGRAM_AT, 0x2000, os.path.join(folder, 'prog'))
    r.fork(400, 400, 100, 100)
    for _ in range(60):
        r.sample(x.choice((100, 300, 400)), addresses(x))
    r.write(path)


def make_branches(folder, path):
    x, r = random.Random(2), machine(folder, BASIC | BRANCHES)
    sites = [addresses(x) for _ in range(12)] + [0x5000]
    for _ in range(120):
        list_ = []
        for _ in range(x.randrange(1, 9)):
            flags = x.choice((1, 2, 2, 2, 2 | 4, 2 | 8)) | x.choice((0, 3, 17, 200)) << 4
            list_.append((x.choice(sites), x.choice(sites), flags))
        r.sample(x.choice((100, 100, 200)), list_[0][1], branches=list_)
    r.features[BRANCH_STACK] = b''
    r.write(path)


def make_memory(folder, path):
    x = random.Random(3)
    r = machine(folder, BASIC | ADDR | WEIGHTS | DATA_SRC | PHYS | DATA_PAGE | TRANSACTION, True)
    sources = [2 | 0x0a << 5 | 2 << 19 | 1 << 24 | 0x0a << 26 | 1 << 33,
               2 | 0x22 << 5 | 4 << 19 | 2 << 24 | 0x0a << 26 | 2 << 33,
               2 | 0x84 << 5 | 0x10 << 19 | 1 << 24 | 0x14 << 26,
               4 | 0x10 << 5 | 1 << 19 | 1 << 24 | 1 << 26 | 12 << 33 | 1 << 40 | 2 << 40]
    for _ in range(400):
        where = x.choice((PROGRAM_AT + 0x2100 + x.randrange(0x400), PROGRAM_AT + 0x2500, 0x7ffc00000100 + 8 * x.randrange(64), 0))
        r.sample(x.choice((100, 200)), addresses(x), addr=where,
                 weight=x.randrange(1, 5) * 30 | x.choice((0, 40, 50)) << 32 | x.choice((0, 7)) << 48,
                 data_src=x.choice(sources), phys=where & 0xfff and where * 3, data_page=x.choice((0, 4096, 1 << 30)),
                 transaction=x.choice((0, 0, 1 | 8, 2 | 0x10, 2 | 0x20 | 5 << 32)))
    r.write(path)


RECORDINGS = {'plain': make_plain, 'chains': make_chains, 'forks': make_forks,
              'branches': make_branches, 'memory': make_memory}

OPTIONS = {
    'plain': '''\

-s time
-s time --time-quantum 500ms
-s time --ns -F time,overhead
-s socket
-s comm,socket,cpu
-s cgroup
-s cgroup,comm
-s cgroup_id
-s code_page_size
-s symbol_size,sym
-s symbol
-s comm,dso,symbol
--show-cpu-utilization
-F overhead_sys,overhead_us,sym
-s sym,time -t ;
-U
-U -s sym
-s cgroup,sym --hierarchy
-s transaction
-s local_weight''',
    'chains': '''\

-g none
-g caller -s sym
-s dso -g none
--no-children -c first -d prog -g none
--no-children -c first -d prog -s dso,comm,sym -g none
--no-children -c first -d prog -s sym -g none
--no-children -g caller
--no-children -g folded -s sym''',
    'forks': '''\

-s comm,dso,sym''',
    'branches': '''\

-b
--no-branch-stack
-s dso_from,dso_to
-s cycles
-s srcline_from,srcline_to
-s addr_from,addr_to
-s sym
-s mispredict
-s in_tx
-s abort
-s comm,dso
-s dso_from,mispredict -n
-b -t ;
-s dso_to,dso_from --percent-limit 5
-s comm,dso_to,cycles --hierarchy''',
    'memory': '''\

--mem-mode
-s weight,local_weight,sym
-s ins_lat,sym
-s local_ins_lat
-s transaction
--mem-mode -s mem
--mem-mode -s tlb
--mem-mode -s snoop
--mem-mode -s locked
--mem-mode -s blocked
--mem-mode -s symbol_daddr,sym
--mem-mode -s dso_daddr
--mem-mode -s symbol_iaddr
--mem-mode -s phys_daddr
--mem-mode -s data_page_size
--mem-mode -s weight,sym
--mem-mode -s local_weight
--mem-mode -s transaction
--mem-mode -s mem,sym -n''',
}


ABOUT = ['--header-only', '--header-only -I', '--header -s sym', '--stats']


def report(program, options, data, folder):
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'PAGER': 'cat'}
    done = subprocess.run([program, 'report', '--stdio', *options, '-i', data], cwd=folder, env=env,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    # perf takes the end of a branch that is nowhere for one in a hypervisor.
    return [line.replace('[H] 0x', '[.] 0x') for line in done.stdout.decode(errors='replace').splitlines()
            if not line.startswith('# (Tip:')]


# The sockets of a machine's processors are not in .kin files.
NOT_KEPT = ('-s socket', '-s comm,socket,cpu')


def test_merged(tap, kin, folder):
    """Branches, accesses and the rest are in a .kin file made of it: the same words show the same."""
    for name, make in RECORDINGS.items():
        data, merged = (os.path.join(folder, name + end) for end in ('.merge', '.kin'))
        make(folder, data)
        subprocess.run([kin, 'merge', '-o', merged, data], check=False, capture_output=True, stdin=subprocess.DEVNULL)
        for line in OPTIONS[name].split('\n'):
            if line in NOT_KEPT:
                continue
            a, b = (report(kin, line.split(), path, folder) for path in (data, merged))
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            tap.ok(len(a) > 2 and sorted(a) == sorted(b), f'{name}, as a .kin file: {line or "no options"}',
                   f'line {at + 1}: of the perf.data {a[at:at + 1]}, of the .kin file {b[at:at + 1]}')


def test(tap, kin, folder):
    for name, make in RECORDINGS.items():
        data = os.path.join(folder, name + '.made')
        make(folder, data)
        for line in OPTIONS[name].split('\n') + ABOUT:
            a, b = report('perf', line.split(), data, folder), report(kin, line.split(), data, folder)
            # equal figures of different rows may stand in any order
            good = len(a) > 2 and sorted(a) == sorted(b) and [x[:12] for x in a] == [x[:12] for x in b]
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            tap.ok(good, f'{name}: {line or "no options"}',
                   '' if good else f'line {at + 1}: perf prints {a[at:at + 1]}, kin {b[at:at + 1]}')

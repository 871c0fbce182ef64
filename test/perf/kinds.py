"""Recordings with every kind of record that perf writes, and samples with every field.

Their events come from a random machine of seeds.py. Records that no virtual machine makes, and those of newer
kernels, are written here byte by byte. live() has perf record some more: folders of several files, tracepoints,
packed ones. The contents of reports are not checked: see commands.py."""
import os
import struct
import subprocess

import made
import seeds
from made import (ADDR, BASIC, BRANCHES, CGROUP, CHAIN, CODE_PAGE, CPU, DATA_PAGE, DATA_SRC, IDENTIFIER, IP, KERNEL,
                  PERIOD, PHYS, TID, TIME, TRANSACTION, USER, WEIGHT, WEIGHTS)

READ, ID, STREAM, RAW, REGS_USER, STACK_USER, REGS_INTR, AUX = (1 << i for i in (4, 6, 9, 10, 12, 13, 18, 20))
REGS, STACK_BYTES, AUX_BYTES = 0xff0fff, 256, 16
N_REGS = bin(REGS).count('1')
SWITCH_OUT, PREEMPTED = 1 << 13, 1 << 14
KSYMBOL_GONE = 1
UNLIKELY = 2**64 - 4096


def words(*values):
    return struct.pack(f'<{len(values)}Q', *[v & (2**64 - 1) for v in values])


class Full(made.Recording):
    """Samples with any fields; all else about them is random."""

    def __init__(self, kind, x, flags=0, events=1, group=False, layout='mixed', same_name=False):
        super().__init__(kind, flags, events)
        self.x, self.group, self.same_name = x, group, same_name
        self.extra = {'mixed': KINDS + USER_KINDS, 'kernel': KINDS, 'switches': ['switch'] * 3 + ['switch_wide']}.get(layout, [])

    def attr(self, i):
        flags = 1 << 10 | 1 << 18 | 1 << 20 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 26 | self.flags
        attr = struct.pack('<IIQQQQQ', 1, 128, 0 if self.same_name else i, 1000, self.kind,
                           0x1f if self.group else 0x14, flags).ljust(72, b'\0')
        attr += struct.pack('<QQIIQIHHII', 1 << 3 if self.kind & BRANCHES else 0, REGS if self.kind & REGS_USER else 0,
                            STACK_BYTES if self.kind & STACK_USER else 0, 0, REGS if self.kind & REGS_INTR else 0, 0,
                            127, 0, AUX_BYTES if self.kind & AUX else 0, 0)
        return attr.ljust(128, b'\0')

    def sample(self, pid, ip, period=1000, mode=USER, cpu=0, step=1000, **more):
        self.time += step
        x, k, tid, number = self.x, self.kind, more.get('tid', pid), 7 + more.get('event', 0)
        stack = more.get('stack', [ip])
        values = [(IDENTIFIER, words(number)), (IP, words(ip)), (TID, struct.pack('<II', pid, tid)),
                  (TIME, words(self.time)), (ADDR, words(x.choice((0, ip, 0x7ffc00000100, UNLIKELY)))), (ID, words(number)),
                  (STREAM, words(number)), (CPU, struct.pack('<II', cpu, 0)), (PERIOD, words(period)),
                  (READ, self.read(number, period)), (CHAIN, words(len(stack), *stack)),
                  (RAW, struct.pack('<I', 12) + bytes(12)), (BRANCHES, self.branches(ip)),
                  (REGS_USER, self.registers(ip)), (STACK_USER, self.stack()),
                  (WEIGHT, words(x.randrange(300))), (WEIGHTS, words(x.randrange(2**40))),
                  (DATA_SRC, words(x.choice((0, 2 | 0x0a << 5 | 2 << 19, UNLIKELY)))), (TRANSACTION, words(x.randrange(64))),
                  (made.IP << 18, self.registers(ip)), (PHYS, words(x.randrange(2**40))), (CGROUP, words(x.randrange(4))),
                  (DATA_PAGE, words(4096)), (CODE_PAGE, words(x.choice((0, 4096)))),
                  (AUX, words(AUX_BYTES) + bytes(AUX_BYTES))]
        self.record(9, mode, b''.join(body for bit, body in values if k & bit))
        self.sprinkle(pid, tid, ip)

    def comm(self, pid, name, tid=None, misc=0x2000):
        super().comm(pid, name, tid, misc)
        self.sprinkle(pid, tid or pid, 0) # threads that stop before they were sampled

    def sprinkle(self, pid, tid, ip):
        for _ in range(self.x.choice((0, 1, 2)) if self.extra else 0):
            getattr(self, self.x.choice(self.extra))(pid, tid, ip)

    def read(self, number, value):
        times = words(1000, 900)
        if not self.group:
            return words(value, number, 0)
        return words(self.events) + times + b''.join(words(value * (i + 1), 7 + i, 0) for i in range(self.events))

    def branches(self, ip):
        n = self.x.randrange(5)
        return words(n) + b''.join(words(ip + i, ip + 8 * i, 2 | 17 << 4) for i in range(n))

    def registers(self, ip):
        if self.x.random() < 0.1:
            return words(0)
        return words(2, *[ip if i == 8 else 0x7ffc00000100 if i == 7 else i for i in range(N_REGS)])

    def stack(self):
        held = self.x.choice((0, 8, STACK_BYTES))
        return words(STACK_BYTES) + self.x.randbytes(STACK_BYTES) + words(held)

    def put(self, what, pid, tid, body=b'', misc=0):
        self.record(what, misc, body + self.trailer(pid, tid))

    # ---- the kernel's ----

    def lost(self, pid, tid, _):
        self.put(2, pid, tid, words(7, 5))

    def throttle(self, pid, tid, _):
        self.put(self.x.choice((5, 6)), pid, tid, words(self.time, 7, 7))

    def counters(self, pid, tid, _):
        self.put(8, pid, tid, struct.pack('<II', pid, tid) + words(1000, 7, 0))

    def aux(self, pid, tid, _):
        self.put(11, pid, tid, words(0, 4096, self.x.choice((0, 1, 2, 4))))

    def itrace(self, pid, tid, _):
        self.put(12, pid, tid, struct.pack('<II', pid, tid))

    def lost_samples(self, pid, tid, _):
        self.put(13, pid, tid, words(3))

    def switch(self, pid, tid, _):
        self.put(14, pid, tid, misc=self.x.choice((0, 0, SWITCH_OUT, SWITCH_OUT | PREEMPTED)))
        self.time += self.x.choice((0, 1000, 10**7))

    def switch_wide(self, pid, tid, _):
        self.put(15, pid, tid, struct.pack('<II', self.x.choice((0, pid)), self.x.choice((0, tid))),
                 self.x.choice((0, SWITCH_OUT)))

    def new_namespaces(self, pid, tid, _):
        self.namespaces(pid, 4026531835 + self.x.randrange(3))

    def ksymbol(self, pid, tid, ip):
        body = struct.pack('<QIHH', self.x.choice((0xffffffffc0000000, ip)), 64, self.x.choice((1, 2)),
                           self.x.choice((0, KSYMBOL_GONE)))
        self.put(17, pid, tid, body + self.name('bpf_prog_6deef7357e7b4530_work'))

    def bpf(self, pid, tid, _):
        self.put(18, pid, tid, struct.pack('<HHI', self.x.choice((1, 2)), 0, 12) + bytes(8))

    def new_cgroup(self, *_):
        self.cgroup(self.x.randrange(4), self.x.choice(('/', '/user.slice', '/system.slice/one.service')))

    def text_poke(self, pid, tid, _):
        self.put(20, pid, tid, struct.pack('<QHH', 0xffffffff81000010, 5, 5) + bytes(10) + bytes(2), KERNEL)

    def hardware_id(self, pid, tid, _):
        self.put(21, pid, tid, words(1))

    def deferred(self, pid, tid, ip):
        self.put(22, pid, tid, words(self.x.choice((0, 1)), 2, ip, ip + 8))

    def ends(self, pid, tid, _):
        self.exit(pid, tid, pid)

    # ---- perf's own, which have no trailer ----

    def finished_round(self, *_):
        self.record(68, 0, b'')

    def id_index(self, *_):
        self.record(69, 0, words(1, 7, 0, 0, 100))

    def auxtrace(self, *_):
        self.record(70, 0, struct.pack('<II', self.x.choice((0, 1, 4)), 0) + words(1, 2, 3))
        self.record(71, 0, words(16, 0, 0) + struct.pack('<IIII', 0, 100, 0, 0))
        self.data += bytes(16)

    def auxtrace_error(self, pid, tid, ip):
        self.record(72, 0, struct.pack('<IIIIIIQQ', 1, 5, 0, pid, tid, 0, ip, self.time) + bytes(64))

    def thread_map(self, pid, *_):
        self.record(73, 0, words(1, pid) + b'prog'.ljust(16, b'\0'))

    def cpu_map(self, *_):
        self.record(74, 0, struct.pack('<HHHH', 0, 2, 0, 1))

    def stat(self, *_):
        self.record(75, 0, words(1, 2, 3))
        self.record(76, 0, words(7, 0, 1000, 900, 900))
        self.record(77, 0, words(0, self.time))

    def event_update(self, *_):
        self.record(78, 0, words(self.x.choice((0, 1, 3)), 7) + b'cycles\0\0')

    def time_conversion(self, *_):
        self.record(79, 0, words(10, 1000, self.time, 0, 0xffffffff) + words(1))

    def feature(self, *_):
        self.record(80, 0, words(self.x.choice((3, 4, 11, 12, 23, 40))) + made.string('host'))

    def finished_init(self, *_):
        self.record(82, 0, b'')

    def unknown(self, *_):
        self.record(self.x.choice((23, 60, 90)), 0, self.x.randbytes(16))


KINDS = ['lost', 'throttle', 'counters', 'aux', 'itrace', 'lost_samples', 'switch', 'switch', 'switch', 'switch_wide',
         'new_namespaces', 'ksymbol', 'bpf', 'new_cgroup', 'text_poke', 'hardware_id', 'deferred', 'ends']
USER_KINDS = ['finished_round', 'id_index', 'auxtrace', 'auxtrace_error', 'thread_map', 'cpu_map', 'stat', 'event_update',
              'time_conversion', 'feature', 'finished_init', 'unknown']
FIELDS = [ADDR, ID, STREAM, READ, RAW, BRANCHES, REGS_USER, STACK_USER, WEIGHT, WEIGHTS, DATA_SRC, TRANSACTION, REGS_INTR,
          PHYS, CGROUP, DATA_PAGE, CODE_PAGE, AUX]


def write(folder, seed):
    """A recording in a new folder; its path."""
    os.makedirs(folder)
    m = seeds.Machine(folder, seed)
    x, kind = m.x, BASIC | (CHAIN if m.chains else 0)
    for field in x.sample(FIELDS, x.choice((0, 0, 1, 3, 8))):
        kind |= field
    if kind & WEIGHTS:
        kind &= ~WEIGHT
    r = Full(kind, x, events=m.n_events, group=m.n_events > 1 and x.random() < 0.3,
             layout=x.choice(('mixed', 'kernel', 'switches', 'switches')), same_name=x.random() < 0.3)
    m.write_objects()
    r.topology([i // 2 for i in range(m.cpus)])
    if m.kernel:
        r.kernel()
    for what, args, more in m.steps:
        getattr(r, what)(*args, **more)
    path = os.path.join(folder, 'perf.data')
    r.write(path)
    return path


def write_unseen(folder):
    """Threads that stop before they were sampled; callers that nothing is mapped at."""
    os.makedirs(folder)
    r = made.machine(folder, BASIC | CHAIN)
    r.flags = 1 << 26
    for pid in (100, 200):
        for misc in (SWITCH_OUT, 0, SWITCH_OUT | PREEMPTED, 0):
            r.record(14, misc, r.trailer(pid))
            r.time += 1000000
    inner = made.PROGRAM_AT + 0x300
    for i in range(8):
        r.sample(100, inner + 8 * i, chain=[inner + 8 * i, 0x10000 + i, 0x20000 + i])
        r.sample(100, inner + 0x100, chain=[inner + 0x100, inner + 0x210])
    path = os.path.join(folder, 'perf.data')
    r.write(path)
    return path


WORK = 'for i in 1 2 3; do ls / >/dev/null; done; seq 20000 | sort -n | tail -1; sleep 0.02'
LIVE = ['--switch-events -g', '--namespaces --all-cgroups -g', '--threads', '--tail-synthesize -a', '--off-cpu',
        '--data -g', '-d -W --phys-data', '-e {cpu-clock,task-clock}:S -g', '-e cpu-clock -e {cpu-clock,task-clock} -g',
        '-e cpu-clock/call-graph=no/ -e task-clock -g', '-e sched:sched_switch -g', '-e cpu-clock -e sched:sched_process_exec',
        '--call-graph dwarf,1024', '-z -g', '-I --user-regs=ip,sp', '-R -s -T -d', '-k mono -g', '--per-thread -g',
        '-e cpu-clock --synth=no', '--delay 1 -g', '--kcore -g', '--buildid-all -g', '-e task-clock -c 100000 --mmap-pages 1 -g']


def live(folder):
    """(options, path) of each of these recordings that perf may make here."""
    for i, how in enumerate(LIVE):
        data = os.path.join(folder, f'{i}.data')
        done = subprocess.run(['perf', 'record', '-q', '-F', '2000', *how.split(), '-o', data, 'sh', '-c', WORK],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
        if not done.returncode and os.path.exists(data):
            yield how, data

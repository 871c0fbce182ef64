"""Stacks of programs for aarch64 and riscv64, as a tracer knows them that sees each call and return: for shadow.py.

qemu-user's debugger protocol steps through a static program from main() on. A call that leaves a return address in the link
register goes onto a shadow of the stack, and comes off where the program is back at that address with the stack pointer of the
call, or beyond it. longjmp() may name the caller that it is about to go to. At some of the instructions registers and stack become a sample of a perf.data, which kin then walks: no
caller may be one that is none without a mark, no stack complete that has more. Beyond main() all stacks must be the same.
"""
import collections
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

STEPS, EVERY, COPY = 5000, 3, 8192
AHEAD = 64  # steps from where longjmp() has set the link register to where it goes
RETURN, GUESSED, MARK, TAIL_CALL = 1, 16, 64, 256
SOURCE = r'''
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FAR __attribute__((noinline)) static unsigned
static volatile unsigned sink; static jmp_buf back;
FAR leaf(unsigned x) { return x * 2654435761u >> 3; }
FAR recurse(unsigned n) { volatile unsigned here[5] = { n }; return n ? recurse(n - 1) + here[0] : leaf(n); }
FAR varied(unsigned n) { char *p = alloca(16 + n % 700); memset(p, (int)n, 16); return recurse(n % 5) + (unsigned)p[3]; }
FAR large(unsigned n) { volatile char p[2500]; p[n] = 1; return varied(n) + (unsigned)p[n]; }
FAR tail(unsigned n) { return n % 2 ? varied(n) : large(n); }
static unsigned (*const functions[])(unsigned) = { varied, large, tail, leaf };
static int compare(const void *a, const void *b) { sink += varied(3); return *(const int *)a - *(const int *)b; }
static void jump(unsigned n) { if (!n) longjmp(back, 1); jump(n - 1); sink++; }
int main(void)
{
	for (;;) {
		int of[6] = { 3, 1, 2, 6, 5, 4 };
		char text[100];
		for (unsigned i = 0; i < 8; i++)
			sink += functions[i % 4](i);
		qsort(of, 6, sizeof(of[0]), compare);
		if (!setjmp(back))
			jump(9);
		snprintf(text, sizeof(text), "%s %u", "of", sink);
		sink += (unsigned)strtol(text + 3, NULL, 10);
		free(strdup(text));
	}
}
'''


def calls_aarch64(code):
    word, = struct.unpack('<I', code)
    return 4 if word >> 26 == 0b100101 or word & 0xfffffc1f == 0xd63f0000 or word & 0xfefff800 == 0xd63f0800 else 0


def calls_riscv64(code):
    word, = struct.unpack('<I', code)
    if word & 3 != 3:  # c.jalr
        return 2 if word & 0xf07f == 0x9002 and word & 0xf80 else 0
    return 4 if word & 0xfff in (0x0ef, 0x0e7) else 0  # jal, jalr with ra


# The registers of the debugger's answer, in the order of the kernel's samples.
Machine = collections.namedtuple('Machine', 'sp pc link order calls')
MACHINES = {
    'aarch64': Machine(31, 32, 30, range(33), calls_aarch64),
    'riscv64': Machine(2, 32, 1, [32, *range(1, 32)], calls_riscv64),
}
PROGRAMS = [('aarch64', '-O2'), ('aarch64', '-O2 -mbranch-protection=standard'), ('aarch64', '-O0'), ('aarch64', '-Os -fomit-frame-pointer'),
            ('riscv64', '-O2 -fasynchronous-unwind-tables'), ('riscv64', '-O0 -fasynchronous-unwind-tables')]


class Debugger:
    def __init__(self, machine, program, port):
        self.process = subprocess.Popen([f'qemu-{machine}', '-g', port, program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        while self.process.poll() is None:
            try:
                self.socket.connect(port)
                break
            except OSError:
                time.sleep(0.02)
        self.rest = b''

    def ask(self, text):
        self.socket.sendall(b'$%s#%02x' % (text.encode(), sum(text.encode()) & 255))
        while not (answer := re.search(rb'\$([^#]*)#..', self.rest)):
            self.rest += self.socket.recv(1 << 20) or sys.exit('qemu has ended')
        self.rest = self.rest[answer.end():]
        self.socket.sendall(b'+')
        return answer[1].decode()

    def registers(self):
        return struct.unpack('<33Q', bytes.fromhex(self.ask('g')[:33 * 16]))

    def memory(self, at, size):
        ret = b''
        while len(ret) < size:
            now = at + len(ret)
            answer = self.ask(f'm{now:x},{min(size - len(ret), 1024 - now % 1024):x}')
            if not answer or answer.startswith('E'):
                return ret  # the stack ends there
            ret += bytes.fromhex(answer)
        return ret

    def end(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()


def step_through(d, m, main):
    """Samples: registers, stack, the return addresses up to main's; and where a jump took the program soon after, or None."""
    d.ask(f'Z0,{main:x},4')
    d.ask('c')
    d.ask(f'z0,{main:x},4')
    now = d.registers()
    shadow = [(now[m.link], now[m.sp])]
    random_ = random.Random(1)
    samples, code, jumped = [], {}, False
    for step in range(STEPS):
        if random_.randrange(EVERY) == 0:
            samples.append([step, now, d.memory(now[m.sp], COPY), [at for at, _ in reversed(shadow)], None])
        code[now[m.pc]] = code.get(now[m.pc]) or d.memory(now[m.pc], 4)
        size = m.calls(code[now[m.pc]])
        before = now
        d.ask('s')
        now = d.registers()
        if size and now[m.link] == before[m.pc] + size:
            shadow.append((now[m.link], now[m.sp]))
            continue
        while len(shadow) > 1 and now[m.sp] > shadow[-1][1]:
            jumped = bool(shadow.pop())  # longjmp() has set the stack pointer, and is about to jump
        far = now[m.pc] - before[m.pc] not in (2, 4)
        if len(shadow) > 1 and now[m.sp] == shadow[-1][1] and (now[m.pc] == shadow[-1][0] or (jumped and far)):
            shadow.pop()
        if jumped and far:
            jumped = False
            for s in samples:
                s[4] = now[m.pc] if s[0] > step - AHEAD else s[4]
    return [s[1:] for s in samples]


def write_recording(path, machine, program, segments, samples):
    m = MACHINES[machine]
    mask = (1 << 33) - 1 if machine == 'aarch64' else (1 << 32) - 1
    attr = struct.pack('<IIQQQQQIIQQQQIi', 1, 128, 0, 1000, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 12 | 1 << 13, 0, 1 << 18 | 1 << 8, 0, 0, 0, 0, 0,
                       mask, COPY, 0).ljust(128, b'\0')
    records, now = [], 1000

    def record(kind, misc, body):
        records.append(struct.pack('<IHH', kind, misc, 8 + len(body)) + body)

    def text(s):
        return (s.encode() + b'\0').ljust((len(s) + 8) & ~7, b'\0')

    trailer = struct.pack('<IIQ', 500, 500, now)
    record(3, 0x2000, struct.pack('<II', 500, 500) + text('program') + trailer)
    for at, size, offset in segments:
        record(1, 2, struct.pack('<IIQQQ', 500, 500, at, size, offset) + text(program) + trailer)
    for registers, stack, _, _ in samples:
        now += 1000
        values = [registers[i] for i in m.order]
        body = struct.pack('<QIIQQQ', registers[m.pc], 500, 500, now, 0, 2) + struct.pack(f'<{len(values)}Q', *values)
        record(9, 2, body + struct.pack('<Q', len(stack)) + stack + struct.pack('<Q', len(stack)))
    data = b''.join(records)
    feature = text(machine)
    feature = struct.pack('<I', len(feature)) + feature
    at = 104 + 144
    with open(path, 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 144, 104, 144, at, len(data), 0, 0) + struct.pack('<QQQQ', 1 << 6, 0, 0, 0) +
                attr + struct.pack('<QQ', 0, 0) + data + struct.pack('<QQ', at + len(data) + 16, len(feature)) + feature)


def walked(build, path):
    """Per sample the frames as (address, flags)."""
    out = subprocess.run([os.path.join(build, 'test', 'print_samples'), path], capture_output=True, text=True).stdout
    for part in re.split(r'^program\t.*\n', out, flags=re.M)[1:]:
        frames = [(int(a, 16), int(f)) for a, f in re.findall(r'^\t([0-9a-f]+) \S+ (\d+) ', part, re.M)]
        yield [f for f in frames if not f[1] & TAIL_CALL]


def verdict(frames, true, beyond):
    """`true` ends in main()'s caller; `beyond`: the frames after it, if they are known."""
    guessed = False
    all_ = true + (beyond or [])
    for i, (address, flags) in enumerate(frames[1:]):
        guessed |= bool(flags & GUESSED)
        if flags & MARK:
            return 'cut'
        if (i < len(all_) and all_[i] != address) or (i >= len(all_) and beyond is not None):
            return 'guessed wrong' if guessed else 'false'
    if len(frames) - 1 < len(all_):
        return 'guessed wrong' if guessed else 'false'
    return 'guessed' if guessed else 'exact'


def trace(build, folder, machine, flags):
    """The verdicts by their number, and what was wrong; None: it cannot be built or run."""
    program = os.path.join(folder, f'{machine}_{len(os.listdir(folder))}')
    if not shutil.which(f'qemu-{machine}') or subprocess.run(
            [f'{machine}-linux-gnu-gcc', '-w', '-static', *flags.split(), '-o', program, '-x', 'c', '-'], input=SOURCE.encode(),
            capture_output=True).returncode:
        return None
    symbols = subprocess.run(['readelf', '-sW', program], capture_output=True, text=True).stdout
    main = int(re.search(r'([0-9a-f]+) +\d+ FUNC .* main$', symbols, re.M)[1], 16)
    headers = subprocess.run(['readelf', '-lW', program], capture_output=True, text=True).stdout
    segments = [(int(at, 16), int(size, 16), int(offset, 16))
                for offset, at, size in re.findall(r'LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E', headers)]
    d = Debugger(machine, program, program + '.socket')
    try:
        samples = step_through(d, MACHINES[machine], main)
    finally:
        d.end()
    write_recording(program + '.data', machine, program, segments, samples)
    found, wrong, beyond = collections.Counter(), [], None
    for (_, _, true, soon), frames in zip(samples, walked(build, program + '.data'), strict=True):
        was = verdict(frames, true, beyond)
        if was == 'false' and frames[1][0] == soon:
            was = 'goes there'
        found[was] += 1
        if was == 'exact' and beyond is None:
            beyond = [address for address, _ in frames[1 + len(true):]]
        if was == 'false':
            wrong.append(f'{[hex(f[0]) for f in frames]} not {[hex(a) for a in true]}')
    return found, wrong


def check_all(tap, build, folder):
    for machine, flags in PROGRAMS:
        title = f'{machine}, gcc {flags}'
        result = trace(build, folder, machine, flags)
        if not result:
            tap.skip(title, 'no compiler or qemu for it')
            continue
        found, wrong = result
        points = sum(found.values())
        tap.ok(points > 1000 and not wrong, f'{title}: no wrong caller without a mark', f'{dict(found)}\n' + '\n'.join(wrong[:20]))
        if machine != 'riscv64':  # whose C library has no tables
            tap.ok(found['exact'] > 0.9 * points, f'{title}: most stacks are complete', str(dict(found)))

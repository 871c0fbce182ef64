"""A perf.data of perf record --call-graph dwarf, made up: registers and copies of stacks, in functions of the C
library that this Python uses. Its samples are few, so the library's table of unwinding rules is most of the work."""
import re
import struct
import subprocess
from pathlib import Path

IP, TID, TIME, REGS_USER, STACK_USER = (1 << i for i in (0, 1, 2, 12, 13))
REGISTERS = 0xff0fff  # of x86-64, as perf requests them
BP, SP, PC = 6, 7, 8
MMAP, COMM, SAMPLE = 1, 3, 9
USER, BY_EXEC = 2, 0x2000
PID, BASE, STACK = 1000, 0x7f0000000000, 0x7ffc00000000
COPY = 8192


def c_library():
    """The path of the mapped C library."""
    return re.search(r"\S+/libc\.so\.6$", Path("/proc/self/maps").read_text(), re.M)[0]


def code_of(elf):
    """(offset, address, size) of the executable segment of a 64-bit ELF file."""
    at, = struct.unpack_from("<Q", elf, 32)
    each, n = struct.unpack_from("<HH", elf, 54)
    for i in range(n):
        kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", elf, at + i * each)
        if kind == 1 and flags & 1:
            return offset, address, size
    raise ValueError("no code")


def functions(path):
    """The addresses of the exported functions."""
    table = subprocess.run(["readelf", "-W", "--dyn-syms", path], text=True, capture_output=True, check=True).stdout
    return sorted({int(at, 16) for at in re.findall(r": (\w+) +\d+ FUNC +GLOBAL DEFAULT +\d+ ", table)})


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(number, pc):
    """At a function's first instruction, with nothing but zeros on the stack."""
    values = {BP: STACK + COPY, SP: STACK, PC: BASE + pc}
    registers = b"".join(struct.pack("<Q", values.get(i, 0)) for i in range(64) if REGISTERS >> i & 1)
    return record(SAMPLE, USER, struct.pack("<QIIQQ", BASE + pc, PID, PID, 10**9 + 10**6 * number, 2) + registers +
                  struct.pack("<Q", COPY) + bytes(COPY) + struct.pack("<Q", COPY))


def write(path, n):
    """n samples, in as many functions."""
    library = c_library()
    offset, address, size = code_of(Path(library).read_bytes())
    records = record(COMM, BY_EXEC, struct.pack("<II", PID, PID) + b"program\0")
    records += record(MMAP, USER, struct.pack("<IIQQQ", PID, PID, BASE + address, size, offset) + library.encode() + b"\0")
    at = functions(library)
    records += b"".join(sample(i, at[i * len(at) // n]) for i in range(n))
    kinds = IP | TID | TIME | REGS_USER | STACK_USER
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 10**6, kinds, 0, 0) + bytes(32)
    attr += struct.pack("<QIiQIHH", REGISTERS, COPY, 0, 0, 0, 0, 0)
    header = 104
    sections = (header, len(attr) + 16, header + len(attr) + 16, len(records), 0, 0)
    Path(path).write_bytes(b"PERFILE2" + struct.pack("<QQ6Q4Q", header, len(attr) + 16, *sections, 0, 0, 0, 0) + attr +
                           struct.pack("<QQ", 0, 0) + records)

"""Damage bytes in ways that readers of profiles and executables may trip over.

mutate(seed, kind, data) always makes the same of the same: a failure is reported by its seed.
"""
import random
import struct

INTS = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 512, 1000, 1024, 4095,
        4096, 4097, 32767, 32768, 65535, 65536, 65537, 0x7ffffff, 0x10000000, 0x20000000, 0x3fffffff,
        0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 1 << 32, 1 << 48, 1 << 62,
        (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1, 0xffffffffff600000, 0x7fffffffffff]
STRINGS = [b'\33]0;pwned\7', b'\33[2J\33[1;1H', b'<script>alert(1)</script>', b'%s%s%s%n%n%n',
           b'../../../../../../etc/passwd', b'$(id)', b'\r\n', b'\x9b31m', b'\xff\xfe\xfd', b'\xc0\xaf',
           b'_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_', b'_Z' + b'N' * 28,
           b'_RNvC1aC1b', b'\xe2\x80\xaeevil', b';;;;', b'a b c 1 2 3', b'A' * 64]
KINDS = ['trunc', 'bit', 'byte', 'int', 'int', 'field', 'field', 'block', 'string', 'fill', 'tail']
# Where the fields of a 64-bit GNU gmon.out that begins with a histogram are: offset, size.
GMON_FIELDS = [(0, 4), (4, 4), (8, 4), (20, 1), (21, 8), (29, 8), (37, 4), (41, 4), (45, 8), (60, 1)]


def mutate(seed, kind, data):
    """`kind`: one of KINDS, 'gmon' (fields of a gmon.out) or 'mix' (one to six of anything)."""
    r, b = random.Random(f'{seed} {kind}'), bytearray(data)
    if kind == 'mix':
        kinds = [r.choice(KINDS) for _ in range(r.randint(1, 6))]
    else:
        kinds = [kind] * (1 if kind in ('trunc', 'tail') else r.randint(1, 4))
    for k in kinds:
        if b:
            _one(r, k, b)
    return bytes(b)


def _place(r, b):
    """Rather in front: headers carry most of the structure."""
    return r.randrange(min(len(b), r.choice([64, 512, len(b), len(b)])))


def _put(b, at, value, width, order='<'):
    raw = struct.pack(order + 'Q', value & ((1 << 64) - 1))
    raw = raw[:width] if order == '<' else raw[-width:]
    b[at:at + width] = raw[:max(0, len(b) - at)]


def _one(r, kind, b):
    if kind == 'trunc':
        del b[r.randrange(len(b)):]
    elif kind == 'tail':
        b += r.randbytes(r.randint(1, 64))
    elif kind == 'bit':
        b[_place(r, b)] ^= 1 << r.randrange(8)
    elif kind == 'byte':
        b[_place(r, b)] = r.randrange(256)
    elif kind == 'int':
        width = r.choice([1, 2, 4, 4, 8, 8])
        at = _place(r, b)
        at -= at % width if r.random() < .7 else 0
        _put(b, at, r.choice(INTS), width, r.choice('<<<<<<<>'))
    elif kind == 'field':
        width = r.choice([4, 4, 8, 8])
        at = _place(r, b) // width * width
        old = int.from_bytes(b[at:at + width], 'little')
        _put(b, at, r.choice([old + 1, old - 1, -old, old << 1, len(b), len(b) + 1,
                              old + (1 << r.randrange(64))]), width)
    elif kind == 'fill':
        at = _place(r, b)
        n = r.randint(1, min(256, len(b) - at))
        b[at:at + n] = bytes([r.choice([0, 255])]) * n
    elif kind == 'block':
        at = r.randrange(len(b))
        part = b[at:at + r.randint(1, 4096)]
        if r.random() < .5:
            del b[at:at + len(part)]
        else:
            to = r.randrange(len(b) + 1)
            b[to:to] = part
    elif kind == 'string':
        at, s = _place(r, b), r.choice(STRINGS) + r.choice([b'', b'\0'])
        b[at:at + len(s)] = s[:len(b) - at]
    elif kind == 'gmon':
        at, width = r.choice(GMON_FIELDS)
        old = int.from_bytes(b[at:at + width], 'little')
        _put(b, at, r.choice([r.choice(INTS), r.choice(INTS), old + r.choice([-1, 1])]), width)
    else:
        raise ValueError(kind)

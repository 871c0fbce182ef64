"""Write profile data files of every flavour, and small ELF files for them to belong to.

Everything is plain data: addresses and counts are ints, `bo` is '<' or '>', `bits` 32 or 64.
A GNU gmon.out is a list of records:

    Hist(low, high, bins, rate=100, dimension='seconds', abbrev='s')
    Arc(from_pc, self_pc, count)
    Blocks([(address, count), ...])

The functions return bytes; save() writes them.
"""
import struct
from dataclasses import dataclass, field
from typing import NamedTuple


class Hist(NamedTuple):
    low: int
    high: int
    bins: list
    rate: int = 100
    dimension: str = 'seconds'
    abbrev: str = 's'


class Arc(NamedTuple):
    from_pc: int
    self_pc: int
    count: int


class Blocks(NamedTuple):
    blocks: list


def save(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def _word(bits):
    return 'Q' if bits == 64 else 'I'


def gmon(records, bo='<', bits=64, version=1, spare=bytes(12)):
    w = _word(bits)
    out = [b'gmon', struct.pack(bo + 'I', version), spare]
    for r in records:
        if isinstance(r, Hist):
            out += [b'\0', struct.pack(bo + w + w + 'II', r.low, r.high, len(r.bins), r.rate),
                    r.dimension.encode().ljust(15, b'\0')[:15], r.abbrev.encode()[:1],
                    struct.pack(f'{bo}{len(r.bins)}H', *r.bins)]
        elif isinstance(r, Arc):
            out.append(b'\1' + struct.pack(bo + w + w + 'I', *r))
        else:
            out.append(b'\2' + struct.pack(bo + 'I', len(r.blocks)))
            out += [struct.pack(bo + w + w, *b) for b in r.blocks]
    return b''.join(out)


def parse_gmon(data, bo='<', bits=64):
    """The records of a well-formed GNU gmon.out."""
    w, at, records = _word(bits), 20, []

    def take(fmt):
        nonlocal at
        values = struct.unpack_from(bo + fmt, data, at)
        at += struct.calcsize(bo + fmt)
        return values
    while at < len(data):
        tag, = take('B')
        if tag == 0:
            low, high, n, rate, dimension, abbrev = take(w + w + 'II15s1s')
            records.append(Hist(low, high, list(take(f'{n}H')), rate,
                                dimension.rstrip(b'\0').decode(), abbrev.decode()))
        elif tag == 1:
            records.append(Arc(*take(w + w + 'I')))
        else:
            n, = take('I')
            records.append(Blocks([take(w + w) for _ in range(n)]))
    return records


# FreeBSD's histogram counters; 0 means 16 bits, unsigned.
COUNTERS = {0: 'H', 8: 'B', -8: 'b', 16: 'H', -16: 'h', 32: 'I', -32: 'i', 64: 'Q', -64: 'q'}


def bsd(low, high, bins, arcs, bo='<', bits=64, rate=100, v44=True, pad=0, counter=0):
    """4.4BSD, or the older format without version and rate, where `pad` is the number of bytes of
    alignment after the header (4 on 64-bit BSDs)."""
    w = _word(bits)
    size = 2 * bits // 8 + 4 + (20 if v44 else pad)
    ncnt = size + len(bins) * struct.calcsize(bo + COUNTERS[counter])
    out = [struct.pack(bo + w + w + 'I', low, high, ncnt)]
    out.append(struct.pack(bo + 'IIiII', 0x00051879, rate, counter, 0, 0) if v44 else bytes(pad))
    out.append(struct.pack(f'{bo}{len(bins)}{COUNTERS[counter]}', *bins))
    out += [struct.pack(bo + w * 3, *a) for a in arcs]
    return b''.join(out)


BIND = {'local': 0, 'global': 1, 'weak': 2}
TYPE = {'notype': 0, 'object': 1, 'func': 2, 'section': 3, 'file': 4, 'ifunc': 10}
SECTION = {'undef': 0, 'text': 1, 'data': 2, 'abs': 0xfff1}


class Symbol(NamedTuple):
    name: object            # str or bytes
    addr: int
    size: int = 0
    bind: str = 'global'
    type: str = 'func'
    section: str = 'text'


@dataclass
class Elf:
    """An executable with .text, .data, .symtab and nothing else."""
    symbols: list = field(default_factory=list)
    bits: int = 64
    bo: str = '<'
    machine: int = 0        # none; 62: x86-64
    text: int = 0x1000
    size: int = 0x1000
    code: bytes = b''
    type: int = 2           # ET_EXEC

    def bytes(self):
        bo, big = self.bo, self.bits == 64
        strtab, names = bytearray(b'\0'), []
        for s in self.symbols:
            names.append(len(strtab) if s.name else 0)
            raw = s.name if isinstance(s.name, bytes) else s.name.encode()
            strtab += raw + b'\0' if raw else b''
        order = sorted(range(len(self.symbols)), key=lambda i: self.symbols[i].bind != 'local')
        symtab = bytes(24 if big else 16)
        for i in order:
            s = self.symbols[i]
            info = BIND[s.bind] << 4 | TYPE[s.type]
            shndx = SECTION[s.section] if s.type != 'file' else SECTION['abs']
            if big:
                symtab += struct.pack(bo + 'IBBHQQ', names[i], info, 0, shndx, s.addr, s.size)
            else:
                symtab += struct.pack(bo + 'IIIBBH', names[i], s.addr, s.size, info, 0, shndx)
        n_local = 1 + sum(s.bind == 'local' for s in self.symbols)

        shstr = b'\0.text\0.data\0.symtab\0.strtab\0.shstrtab\0'
        name = lambda n: shstr.index(b'\0' + n + b'\0') + 1
        text, data, at = self.code.ljust(self.size, b'\0'), bytes(0x100), 0x1000
        body, offsets = bytearray(), []
        for part in (text, data, symtab, bytes(strtab), shstr):
            body += bytes(-len(body) % 8)
            offsets.append(at + len(body))
            body += part
        body += bytes(-len(body) % 8)
        o_text, o_data, o_sym, o_str, o_shstr = offsets
        o_sections = at + len(body)
        data_addr = self.text + len(text) + 0x1000

        ident = b'\x7fELF' + bytes([2 if big else 1, 1 if bo == '<' else 2, 1]) + bytes(9)
        w = _word(self.bits)
        header = ident + struct.pack(
            bo + 'HHI' + w * 3 + 'IHHHHHH', self.type, self.machine, 1, self.text,
            64 if big else 52, o_sections, 0, 64 if big else 52, 56 if big else 32, 1,
            64 if big else 40, 6, 5)
        if big:
            header += struct.pack(bo + 'IIQQQQQQ', 1, 5, o_text, self.text, self.text, len(text),
                                  len(text), 0x1000)
        else:
            header += struct.pack(bo + 'IIIIIIII', 1, o_text, self.text, self.text, len(text),
                                  len(text), 5, 0x1000)

        def section(n, kind, flags, addr, offset, size, link=0, info=0, align=1, entry=0):
            return struct.pack(bo + 'II' + w * 4 + 'II' + w * 2, n, kind, flags, addr, offset,
                               size, link, info, align, entry)
        sections = [
            section(0, 0, 0, 0, 0, 0, align=0),
            section(name(b'.text'), 1, 6, self.text, o_text, len(text), align=16),
            section(name(b'.data'), 1, 3, data_addr, o_data, len(data), align=8),
            section(name(b'.symtab'), 2, 0, 0, o_sym, len(symtab), 4, n_local, 8,
                    24 if big else 16),
            section(name(b'.strtab'), 3, 0, 0, o_str, len(strtab)),
            section(name(b'.shstrtab'), 3, 0, 0, o_shstr, len(shstr))]
        return header.ljust(at, b'\0') + bytes(body) + b''.join(sections)

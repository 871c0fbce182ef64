"""Random executables with random profile data, the same for the same seed.

In a few places GNU gprof reads memory that it never set. Its output then cannot be compared, so
such inputs are not made:
- the upper end of the last symbol comes from behind the symbol table: the last symbol is a guard
  that no histogram reaches;
- with block records in a big-endian file the number of blocks is swapped twice and what follows is
  read as garbage: no blocks there;
- -R uses a flag that is never initialised: it is not among the options;
- a call of less than 1e-18 s makes it read past its table of unit prefixes: rates and counts stay in
  a sane range, and the driver looks for the garbage that is left.
"""
import os
import random

from gmonlib import Arc, Blocks, Elf, Hist, Symbol, bsd, gmon, save

STEMS = ['main', 'a', 'b', 'leaf', 'work', 'helper', 'init', 'f', 'g', 'h', 'visit', 'x', 'y', 'z',
         '_start', '_helper', '__helper', 'mcount', '_mcount', '__mcount_internal', 'sort', 'cmp',
         '_ZN3foo3barEv', '_ZN3foo3barEi', '_Z4swapIiEvRT_S1_', '_ZNSt6vectorIiSaIiEE9push_backEOi',
         '_ZN1AC1Ev', '_ZN1AC2Ev', '_ZTV1A', '_Zbroken', '_RNvC4core4main',
         '_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE', '_D4test3fooFZv',
         'a_rather_long_name_for_a_function_that_does_not_do_much_at_all']
SUFFIXES = [''] * 14 + ['.0', '.12', '.part.0', '.isra.3', '.cold', '.constprop.0', '.clone.4',
                        '.lto_priv.0', '.L1', '$x', '$', '.', '.1.2', '.1.part.2', '2', '_']


def make(seed, folder):
    """Write prog, gmon.out, maybe gmon.2 into the folder; returns (data files, symbol names)."""
    r = random.Random(seed)
    bits, bo = r.choice([(64, '<')] * 5 + [(32, '<'), (32, '>'), (64, '>')])
    text = r.choice([0x1000, 0x400000, 0x401000, 0x1001, 0x1004])
    size = r.choice([64, 200, 1000, 0x1000, 0x4000])
    symbols, end = make_symbols(r, text, size)
    elf = Elf(symbols, bits, bo, text=text, size=size, machine=0)
    save(os.path.join(folder, 'prog'), elf.bytes())

    starts = sorted({s.addr for s in symbols if s.section == 'text' and s.addr < end})
    flavour = r.choice(['gnu'] * 7 + ['44bsd', 'bsd'])
    files = []
    shape = make_shape(r, text, end, flavour)
    for name in ['gmon.out', 'gmon.2', 'gmon.3'][:r.choice([1, 1, 1, 2, 3])]:
        arcs = make_arcs(r, starts, text, end)
        hists = [h._replace(bins=make_bins(r, len(h.bins))) for h in shape]
        if flavour == 'gnu':
            records = make_records(r, hists, arcs, starts, bo)
            data = gmon(records, bo, bits, version=1)
        else:
            h = hists[0]
            data = bsd(h.low, h.high, h.bins, arcs, bo, bits, rate=h.rate, v44=flavour == '44bsd')
        save(os.path.join(folder, name), data)
        files.append(name)
    return files, [s.name for s in symbols if s.name and s.type != 'file']


def make_symbols(r, text, size):
    """Symbols in the front of .text, a guard behind them; also where the guard begins."""
    end = text + size - 16
    symbols = []
    for i in range(r.choice([1, 2, 5, 12, 30, 60])):
        if r.random() < .03:
            symbols.append(Symbol(f'file{i}.c', 0, 0, 'local', 'file'))
        if symbols and r.random() < .12:
            addr = symbols[-1].addr                     # an alias
        else:
            addr = text + r.randrange(max(1, end - text - 1))
            if r.random() < .8:
                addr &= ~r.choice([1, 3, 15])
            addr = max(addr, text)
        name = r.choice(STEMS) + r.choice(SUFFIXES)
        if r.random() < .03:
            name = ''
        elif r.random() < .5:
            name += str(i)
        symbols.append(Symbol(
            name, addr, r.choice([0, 1, 8, 16, 64]),
            r.choice(['global'] * 6 + ['local'] * 4 + ['weak']),
            r.choice(['func'] * 10 + ['notype'] * 3 + ['object', 'ifunc']),
            r.choice(['text'] * 40 + ['undef', 'data', 'abs'])))
    symbols = [s._replace(addr=0) if s.section == 'undef' else
               s._replace(addr=text + size + 0x1000 + s.addr % 64) if s.section == 'data' else s
               for s in symbols]
    # A weak symbol that is not an object counts as a function even in .data: the guard goes last.
    symbols.append(Symbol('zz_guard', end, 16))
    symbols.append(Symbol('zz_guard_data', text + size + 0x10f0, 0, 'weak', 'notype', 'data'))
    return symbols, end


def make_shape(r, text, end, flavour):
    """Histograms without ticks: 1-3 ranges that do not overlap and have one scale."""
    rate = r.choice([100, 100, 100, 250, 1000, 1024, 1])
    dimension, abbrev = r.choice([('seconds', 's')] * 6 + [('furlongs', 'f'), ('instructions-xy', 'i')])
    span = (end - text) & ~7
    per_bin = r.choice([2, 4, 4, 4, 8, 16, 32]) if flavour == 'gnu' else r.choice([2, 4, 8])
    if flavour != 'gnu' or r.random() < .6:
        n = max(1, span // per_bin)
        # An odd number of bins: a scale that is not whole, as glibc's rounding makes it.
        n += r.choice([0, 0, 1, 2, 3]) if flavour == 'gnu' else 0
        return [Hist(text, text + span, [0] * n, rate, dimension, abbrev)]
    hists, low = [], text
    for _ in range(r.choice([2, 3])):
        n = r.randrange(1, max(2, span // per_bin // 3))
        if low + n * per_bin > text + span:
            break
        hists.append(Hist(low, low + n * per_bin, [0] * n, rate, dimension, abbrev))
        low += n * per_bin + per_bin * r.choice([0, 0, 1, 5])
    return hists or [Hist(text, text + per_bin, [0], rate, dimension, abbrev)]


def make_bins(r, n):
    bins = [0] * n
    if r.random() < .08:
        return bins
    for _ in range(r.choice([1, 3, 10, 50])):
        bins[r.randrange(n)] = r.choice([1, 1, 2, 3, 7, 20, 100, 999, 30000])
    return bins


def make_arcs(r, starts, text, end):
    arcs = []
    if r.random() < .06 or not starts:
        return arcs
    style = r.choice(['any', 'any', 'tree', 'dense', 'ring'])
    for i in range(r.choice([1, 4, 10, 40, 150])):
        a, b = r.choice(starts), r.choice(starts)
        if style == 'tree' and a > b:
            a, b = b, a
        if style == 'ring':
            k = r.randrange(len(starts))
            a, b = starts[k], starts[(k + 1) % len(starts)]
        if style == 'dense':
            few = starts[:6]
            a, b = r.choice(few), r.choice(few)
        site = a + r.choice([0, 1, 4, 5, 9])
        if r.random() < .04:
            site = r.choice([0, text - 1, end + 0x100000, 0x7fff0000])   # from a library
        if r.random() < .04:
            b += r.choice([1, 2])
        arcs.append(Arc(site, b, r.choice([1, 1, 2, 3, 5, 10, 50, 100, 1000, 12345, 1000000, 0])))
    return arcs


def make_records(r, hists, arcs, starts, bo):
    records = list(hists) + arcs
    if r.random() < .15 and bo == '<' and starts:
        records.append(Blocks([(r.choice(starts) + r.choice([0, 2, 8]), r.choice([0, 1, 7, 1000]))
                               for _ in range(r.choice([1, 3, 20]))]))
    if r.random() < .1:
        records.append(hists[0])                        # the same range again: added up
    if r.random() < .3:
        r.shuffle(records)
    if r.random() < .05:
        records = [x for x in records if not isinstance(x, Hist)]
    return records


def spec(r, names):
    """A symspec: with one of the names, or one that matches nothing."""
    name = r.choice(names)
    return r.choice([name] * 8 + [':' + name, 'nosuch', 'file1.c', 'file1.c:' + name, '12', ':7'])


PLAIN = ['-p', '-q', '-T', '-z', '-C', '-i', '-a', '-D', '-c', '-l', '-A', '-r', '-L', '-P', '-Q',
         '-J', '-Z', '-B', '-x', '-y', '--inline-file-names', '--no-demangle', '--demangle=auto']
WITH_SPEC = ['-p', '-P', '-q', '-Q', '-C', '-Z', '-A', '-J']
WITH_WORD = ['-e', '-E', '-f', '-F', '-n', '-N']


def options(seed, names, count):
    """`count` random option sets, always with -b: explanatory texts are each gprof's own."""
    r = random.Random(seed * 7919 + 1)
    sets = [['-b'], ['-b', '-s'], ['-b', '-T']]
    while len(sets) < count:
        args = ['-b']
        for _ in range(r.choice([1, 1, 2, 3])):
            kind = r.random()
            if kind < .5:
                args.append(r.choice(PLAIN))
            elif kind < .65:
                args.append(r.choice(WITH_SPEC) + spec(r, names))
            elif kind < .8:
                args += [r.choice(WITH_WORD), spec(r, names)]
            elif kind < .9:
                left = r.choice([spec(r, names)] * 4 + [''])
                arc = left + '/' + r.choice([spec(r, names)] * 4 + [''])
                args += ['-k', arc] if r.random() < .6 else [r.choice(['-q', '-Q']) + arc]
            else:
                args += r.choice([['-w', '40'], ['-w', '200'], ['-m', '3'], ['-t', '2'], ['-w', '1']])
        sets.append(args)
    return sets[:count]

"""What the subject prints with --compat=no is right, also where GNU gprof is not; and what it does by default where
GNU's output is wrong, or there is none.

    default.py SUBJECT

Each check makes an executable and data of which the right answer is known. Where GNU gprof is right,
too, the outputs must be equal (`same_as_gnu`); doc/differences.md has the reasons for the rest.
GNU gprof as the subject fails most of these checks.
"""
import os
import pty
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import shown
from gmonlib import Arc, Blocks, Elf, Hist, Symbol, bsd, gmon, parse_gmon, save
from subject import Subject, gnu
from tap import Tap, first_difference

A, B, C, D, MAIN, END = 0x1000, 0x1100, 0x1200, 0x1300, 0x1400, 0x1800
SYMBOLS = [Symbol('a', A, 256), Symbol('b', B, 256), Symbol('c', C, 256), Symbol('d', D, 256),
           Symbol('main', MAIN, 256), Symbol('last', 0x1500, 0x300)]


class Case:
    """A folder with prog and gmon.out, and the subject to run there."""

    def __init__(self, subject, records=None, symbols=SYMBOLS, data=None, **elf):
        self.subject = subject
        self.box = tempfile.TemporaryDirectory(prefix='kin-default.')
        self.folder = self.box.name
        if symbols:
            elf = Elf(symbols, **dict(dict(size=END - A, machine=62), **elf))
            self.save('prog', elf.bytes())
            data = data or gmon(records, elf.bo, elf.bits)
        if data:
            self.save('gmon.out', data)

    def save(self, name, data):
        path = save(os.path.join(self.folder, name), data)
        os.chmod(path, 0o755)

    def run(self, *args, by=None, compat='no', **how):
        return (by or self.subject).run(list(args), cwd=self.folder, compat=compat, **how)

    def flat(self, *args, data=('gmon.out',)):
        """{name: (percent, self seconds, calls or None)} and all of stdout."""
        out = self.run('-b', '-p', *args, './prog', *data).out.decode('utf-8', 'replace')
        rows = {}
        for line in out.split('\n'):
            m = re.match(r' *(-?[\d.]+|-?nan|-?inf) +([\d.]+|-?nan) +([\d.]+|-?nan)(.{29})(.*)', line)
            if m:
                calls = m[4].split()
                rows[m[5].strip()] = (float(m[1]), float(m[3]), int(calls[0]) if calls else None)
        return rows, out


def hist(ticks, low=A, high=END, per_bin=4, rate=100, n=None):
    """A histogram with `ticks`, {address: count}."""
    bins = [0] * (n or (high - low) // per_bin)
    for address, count in ticks.items():
        bins[(address - low) // per_bin] += count
    return Hist(low, high, bins, rate)


def build(case, source, *flags):
    with open(os.path.join(case.folder, 'prog.c'), 'w') as f:
        f.write(source)
    subprocess.run(['gcc', '-w', '-pg', *flags, '-o', 'prog', 'prog.c'], cwd=case.folder, check=True)
    subprocess.run(['./prog'], cwd=case.folder, check=True, stdout=subprocess.DEVNULL)


def same_as_gnu(subject):
    """A plain program: nothing here is a matter of taste, so every layout is GNU's."""
    ticks = {A + 16: 30, B + 32: 20, C + 8: 10, MAIN + 4: 40}
    c = Case(subject, [hist(ticks), Arc(MAIN + 16, A, 3), Arc(MAIN + 32, B, 5), Arc(A + 16, C, 7),
                       Arc(B + 16, C, 9), Arc(C + 16, C, 100), Arc(C + 20, D, 2)])
    for args in (['-p'], ['-q'], ['-z'], ['-T'], ['-i'], ['-Cb'], ['-r'], ['-p', '-z'], ['-Qa'],
                 ['-E', 'b'], ['-k', 'a/c'], ['-w', '40']):
        words = ['-b', *args, './prog', 'gmon.out']
        got, want = c.run(*words), c.run(*words, by=gnu())
        yield got.out == want.out and got.status == want.status, first_difference(got.out, want.out)


def self_times_add_up(subject):
    c = Case(subject, [hist({A: 10, B: 20, C: 30, MAIN: 37, 0x1500: 3})])
    rows, out = c.flat()
    yield abs(sum(r[1] for r in rows.values()) - 1.0) < .006, out
    yield abs(sum(r[0] for r in rows.values()) - 100) < .03, out


def odd_scale(subject):
    """glibc rounds the number of bins up: the scale is not whole. Nothing exceeds the total."""
    n = (END - A) // 4 + 3
    c = Case(subject, [hist({A + 0x80: 1000}, n=n)])
    rows, out = c.flat()
    yield rows.get('a', (0,))[0] == 100 and rows['a'][1] == 10, out


def real_program_adds_up(subject):
    c = Case(subject, symbols=None)
    build(c, '#include <time.h>\nstatic volatile unsigned long s;\n'
          '__attribute__((noinline)) void hot(void) { for (int i = 0; i < 5000; i++) s += i; }\n'
          'int main(void) { while (clock() < CLOCKS_PER_SEC / 5) for (int i = 0; i < 2000; i++) hot(); return 0; }\n', '-O1')
    with open(os.path.join(c.folder, 'gmon.out'), 'rb') as f:
        records = parse_gmon(f.read())
    total = sum(sum(r.bins) for r in records if isinstance(r, Hist)) / 100
    rows, out = c.flat()
    yield total > 0 and abs(sum(r[1] for r in rows.values()) - total) < .006 * len(rows), out
    yield abs(sum(r[0] for r in rows.values()) - 100) < .01 * len(rows) + .001, out


def last_symbol(subject):
    c = Case(subject, [hist({A: 50, 0x1600: 50})])
    rows, out = c.flat()
    yield rows.get('last', (0,))[0] == 50, out


def compiler_pieces(subject):
    """Local symbols with suffixes have rows of their own; a cold piece may be its function's."""
    pieces = [Symbol(f'b{suffix}', B + 64 + 16 * i, 16, 'local') for i, suffix in
              enumerate(['.part.0', '.isra.1', '.cold', '.constprop.2', '.lto_priv.3'])]
    c = Case(subject, [hist({A: 50, **{p.addr: 10 for p in pieces}})], SYMBOLS + pieces)
    rows, out = c.flat('--no-demangle')
    for p in pieces:
        row = rows.get(p.name) or (rows.get('b') if p.name == 'b.cold' else None) or (0,)
        yield row[0] == 10, out


def real_pieces(subject):
    c = Case(subject, symbols=None)
    build(c, 'volatile long s;\n__attribute__((noinline, noclone, cold, section(".text.unlikely")))'
          ' void hot_cold(int n) { for (int i = 0; i < 1000; i++) s += n; }\n'
          '__attribute__((noinline)) static void many(int n, int unused, int k)'
          ' { for (int i = 0; i < k * 30000; i++) s += n; if (s == 1) hot_cold(n); }\n'
          'int main(void) { for (int i = 0; i < 2000; i++) many(i, 3, 2); return s == 7; }\n', '-O2')
    rows, out = c.flat('-z', '--no-demangle')
    symbols = subprocess.run(['nm', 'prog'], cwd=c.folder, capture_output=True, text=True).stdout
    name = re.search(r' t (many\S*)', symbols)
    yield bool(name) and rows.get(name[1], (0,))[0] > 50, f'{symbols}\n{out}'


def weak_data(subject):
    """A weak symbol in .data is no function."""
    c = Case(subject, [hist({A: 1})], SYMBOLS + [Symbol('start_of_data', END + 0x1000, 0, 'weak',
                                                        'notype', 'data')])
    rows, out = c.flat('-z')
    yield 'a' in rows and 'start_of_data' not in rows, out


def backward_calls(subject):
    """-c finds calls to functions at lower addresses than the caller."""
    code = bytearray(END - A)
    code[MAIN - A + 8:MAIN - A + 13] = b'\xe8' + (A - (MAIN + 13)).to_bytes(4, 'little', signed=True)
    code[A - A + 8:A - A + 13] = b'\xe8' + (B - (A + 13)).to_bytes(4, 'little', signed=True)
    c = Case(subject, [hist({A: 1}), Arc(MAIN + 20, D, 1)], code=bytes(code))
    out = c.run('-b', '-q', '-c', '-z', './prog').out.decode()
    entry = next((e for e in out.split('-' * 47) if re.search(r'^\[\d+\].* a \[', e, re.M)), '')
    yield bool(re.search(r'0/\d+ +main \[', entry)), out
    yield bool(re.search(r'0/\d+ +b \[', entry)), out


def several_exclusions(subject):
    """Each of several -k takes effect."""
    c = Case(subject, [hist({B: 10, C: 10, A: 10}), Arc(A + 8, B, 3), Arc(A + 8, C, 4),
                       Arc(MAIN + 8, A, 1)])
    out = c.run('-b', '-q', '-k', 'a/b', '-k', 'a/c', './prog').out.decode()
    entry = next((e for e in out.split('-' * 47) if re.search(r'^\[\d+\].* a \[', e, re.M)), '')
    yield bool(entry) and ' b [' not in entry and ' c [' not in entry, out


def callback_cycle(subject):
    """A cycle that is only entered from outside the program is shown as a whole."""
    c = Case(subject, [hist({A: 50, B: 50}), Arc(A + 8, B, 5), Arc(B + 8, A, 5)])
    out = c.run('-b', '-q', './prog').out.decode()
    yield bool(re.search(r'^\[\d+\] +100\.0 .*<cycle 1 as a whole>', out, re.M)), out


def cycle_entry(subject):
    """A cycle has the callers and callees of its members; these are called so often from within."""
    ticks = {A: 75, B: 102, MAIN: 16}
    c = Case(subject, [hist(ticks), Arc(0x1500, MAIN, 1), Arc(MAIN + 8, A, 1), Arc(A + 8, B, 3), Arc(B + 8, A, 2),
                       Arc(A + 16, C, 3), Arc(B + 16, C, 3)])
    out = c.run('-b', '-q', './prog').out.decode()
    entries = out.split('-' * 47 + '\n')
    yield """\
                1.77    0.00       1/1           main [1]
[3]     91.7    1.77    0.00       1+5       <cycle 1 as a whole> [3]
                1.02    0.00       3             b <cycle 1> [4]
                0.75    0.00       2             a <cycle 1> [5]
                0.00    0.00       6/6           c [6]
""" in entries, out
    yield """\
                                   3             a <cycle 1> [5]
[4]     52.8    1.02    0.00       0         b <cycle 1> [4]
                0.00    0.00       3/6           c [6]
                                   2             a <cycle 1> [5]
""" in entries, out


def tied_members(subject):
    """Members of a cycle with equal times and calls are in the order of their entries, however the data is."""
    calls = [Arc(A + 8, C, 2), Arc(C + 8, B, 2), Arc(B + 8, A, 2), Arc(B + 12, C, 1), Arc(C + 12, A, 1),
             Arc(A + 12, B, 1)]
    for arcs in calls, calls[::-1], calls[3:] + calls[:3]:
        c = Case(subject, [hist({MAIN: 5}), Arc(MAIN + 8, A, 1), Arc(MAIN + 12, B, 1), Arc(MAIN + 16, C, 1), *arcs])
        out = c.run('-b', '-q', './prog').out.decode()
        entry = next(e for e in out.split('-' * 47) if re.search(r'^\[.*as a whole', e, re.M))
        yield re.findall(r'(\w+) <cycle 1> ', entry) == ['a', 'b', 'c'], out


def thumb(subject):
    """Functions of ARM lie where their code is; bit 0 of their addresses only says that it is Thumb."""
    c = Case(subject, [hist({A: 40, B: 60}), Arc(MAIN + 16, A, 3), Arc(A + 16, B, 5)],
             [s._replace(addr=s.addr + 1) for s in SYMBOLS], machine=40, bits=32)
    rows, out = c.flat()
    yield rows.get('a') == (40, .4, 3) and rows.get('b') == (60, .6, 5), out
    out = subject.run(['-C', '-z', './prog'], cwd=c.folder).out.decode()  # with --compat=gnu, too
    yield f'(a:{A:#x}) 3 exec' in out and f'(b:{B:#x}) 5 exec' in out, out


def sums_do_not_wrap(subject):
    c = Case(subject, [hist({A: 40000}), Arc(MAIN + 8, A, 3000000000)])
    rows, out = c.flat(data=('gmon.out', 'gmon.out'))
    yield rows.get('a', (0, 0, 0))[1:] == (800.0, 6000000000), out
    c.run('-s', './prog', 'gmon.out', 'gmon.out')
    rows, out = c.flat(data=('gmon.sum',))
    yield rows.get('a', (0, 0, 0))[1:] == (800.0, 6000000000), out
    seen = gnu().run(['-b', '-p', './prog', 'gmon.sum'], cwd=c.folder).out.decode()
    yield ' 800.00 ' in seen, 'GNU gprof reads gmon.sum as:\n' + seen


def sane_units(subject):
    """No garbage for calls that take next to no time, no time at all, or for ever."""
    for records in ([hist({A: 1}, rate=1000000000), Arc(MAIN, A, 4294967295)],
                    [hist({A: 1}, rate=0), Arc(MAIN, A, 5)], [Arc(MAIN, A, 5)]):
        c = Case(subject, records)
        out = c.run('-b', './prog').out.decode('utf-8', 'replace')
        units = re.findall(r'(\S+)/call', out)
        yield all(re.fullmatch('[TGMKmunpfa]?s', u) for u in units) and not re.search(
            r'\b(nan|inf)\b', out) and ' a' in out, out


def big_endian_blocks(subject):
    c = Case(subject, [hist({A: 1}), Blocks([(A, 7), (B, 9)]), Arc(MAIN, A, 5)], bo='>', machine=0)
    r = c.run('-b', '-i', './prog')
    yield '1 basic-block count record' in r.out.decode() and not r.status, r.describe()
    r = c.run('-b', '-l', './prog')
    yield r.status == 0 and b'main' in r.out, r.describe()


def freebsd_counters(subject):
    """4.4BSD files say how wide their counters are."""
    for counter in (32, -32, 64, -64, 8, 16, -16):
        bins = [0] * ((END - A) // 4)
        bins[4], bins[(B - A) // 4] = 30, 10
        c = Case(subject, data=bsd(A, END, bins, [(MAIN, A, 5)], counter=counter))
        rows, out = c.flat()
        yield rows.get('a', (0, 0))[:2] == (75.0, .3), f'counter {counter}\n{out}'


def wrong_executable(subject):
    """Data of another program is not shown as if it were this one's."""
    c = Case(subject, [hist({0x900000: 100}, low=0x900000, high=0x900400), Arc(0x900010, 0x900020, 5)])
    r = c.run('-b', './prog')
    yield b'gmon.out' in r.err, r.describe()


def messages(subject):
    c = Case(subject, [hist({A: 1})])
    r = c.run('--file-format=nonsense', './prog', compat=None)
    yield r.status == 1 and b'nonsense' in r.err.split(b'\n')[0], r.describe()
    r = c.run('./prog', 'absent', compat=None)
    yield r.status == 1 and b'absent' in r.err and b'No such file' in r.err and not r.out, r.describe()
    r = c.run('./absent', compat=None)
    yield r.status == 1 and b'absent' in r.err and b'No such file' in r.err and not r.out, r.describe()
    r = c.run('./prog', './prog', compat=None)
    yield r.status == 1 and b'prog' in r.err and r.cpu < 2, r.describe()


def advice(subject):
    """Messages for somebody who runs gprof for the first time: what is missing, and what to do."""
    def err(c, *args):
        r = c.run(*args, compat=None)
        return r.err.decode(), r.describe()
    source = 'void f(void) {}\nint main(void) { f(); return 0; }\n'
    c = Case(subject, symbols=None)
    build(c, source)
    text, all_ = err(c, '-b', './prog')
    yield 'all times are 0' in text and '0.01 seconds' in text and 'kin run ./prog' in text and 'call graph' not in text, all_
    os.mkdir(os.path.join(c.folder, 'run'))
    os.rename(os.path.join(c.folder, 'gmon.out'), os.path.join(c.folder, 'run', 'gmon.out'))
    text, all_ = err(c, './prog')
    yield 'No such file' in text and 'run ./prog first' in text, all_
    text, all_ = err(c, './prog', 'other.out')
    yield text == 'gprof: other.out: No such file or directory\n', all_
    text, all_ = err(c)
    yield 'a.out: No such file' in text and 'gprof PROGRAM' in text, all_
    here, c.folder = c.folder, os.path.join(c.folder, 'run')
    os.rename(os.path.join(c.folder, 'gmon.out'), os.path.join(here, 'gmon.out'))
    text, all_ = err(c, '../prog')
    yield 'gprof ../prog ../gmon.out' in text, all_
    c.folder = here
    os.rename(os.path.join(here, 'gmon.out'), os.path.join(here, 'gmon.out.17'))
    text, all_ = err(c, './prog')
    yield "gprof ./prog 'gmon.out.*'" in text, all_
    yield not c.run('-b', './prog', 'gmon.out.*').status, all_
    os.remove(os.path.join(here, 'gmon.out.17'))
    subprocess.run(['gcc', '-w', '-o', 'plain', 'prog.c'], cwd=here, check=True)
    text, all_ = err(c, './plain')
    yield 'not built with -pg' in text, all_
    for how in '', '-static ', '-static-pie ':
        subprocess.run(f'gcc -w -pg -c prog.c && gcc {how}-o half prog.o && gcc -pg {how}-o whole prog.o',
                       shell=True, cwd=here, check=True)
        text, all_ = err(c, './half')
        yield 'only compiled with -pg' in text, all_
        text, all_ = err(c, './whole')
        yield 'run ./whole first' in text, all_
    subprocess.run('gcc -w -c prog.c && gcc -pg -o linked prog.o && ./linked', shell=True, cwd=here,
                   check=True)
    text, all_ = err(c, '-b', './linked')
    yield 'no calls were counted' in text and 'compiling' in text and 'kin record ./linked' in text, all_


def what_gnu_refuses(subject):
    """By default what GNU gprof has no output for is done in kin's way."""
    c = Case(subject, [hist({A: 50, B: 50}), Arc(MAIN + 8, A, 5), Arc(MAIN + 8, B, 5)])
    right = c.run('-b', './prog').out
    c.save('cut', gmon([hist({A: 50, B: 50}), Arc(MAIN + 8, A, 5), Arc(MAIN + 8, B, 5)])[:-3])
    r = c.run('-b', './prog', 'cut', compat=None)
    yield r.status == 1 and b'cut off' in r.err and b' 50.00 ' in r.out, r.describe()
    c.save('main.folded', b'main;a 3\n')
    r = c.run('-b', './prog', 'main.folded', compat=None)
    yield not r.status and b'times are those of sampled stacks' in r.out, r.describe()
    os.mkdir(os.path.join(c.folder, 'runs'))
    os.rename(os.path.join(c.folder, 'gmon.out'), os.path.join(c.folder, 'runs', 'gmon.out'))
    r = c.run('-b', './prog', 'runs', compat=None)
    yield not r.status and r.out == right, r.describe()
    for words in ['-b', '-pnosuch', './prog', '-'], ['-b', '-kmain', './prog', '-']:
        r = c.run(*words, compat=None, stdin=os.path.join(c.folder, 'runs', 'gmon.out'))
        yield not r.status and r.out and r.err.count(words[1].encode()[2:]) == 1, r.describe()


def sums_by_default(subject):
    """gmon.sum is GNU's, unless counts would be lost."""
    small = [hist({A: 40}), Arc(MAIN + 8, A, 30)]
    for records, same in (small, True), ([hist({A: 40000}), Arc(MAIN + 8, A, 3000000000)], False):
        seen = []
        for by, compat in (subject, None), (gnu(), None):
            c = Case(subject, records)
            c.run('-s', './prog', 'gmon.out', 'gmon.out', by=by, compat=compat)
            with open(os.path.join(c.folder, 'gmon.sum'), 'rb') as f:
                data = f.read()
            seen.append(data[:8] + data[20:])
        yield (seen[0] == seen[1]) == same, f'{seen[0]}\n{seen[1]}'


def on_a_terminal(c, *words):
    """What comes to a terminal on stderr."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen(c.subject.argv(words, None), executable=c.subject.path, cwd=c.folder, stderr=theirs,
                         stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    os.close(theirs)
    text = b''
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    p.wait()
    return text.decode().replace('\r\n', '\n')


def deviations(subject):
    """A line on a terminal says where GNU's figures are wrong; nowhere else."""
    right = Case(subject, [hist({A + 16: 50}), Arc(MAIN + 8, A, 5)])
    text = on_a_terminal(right, '-b', './prog')
    yield text == '', text
    part = Symbol('b.part.0', B + 64, 16, 'local')
    c = Case(subject, [hist({A: 50, part.addr: 50}), Arc(MAIN + 8, A, 5), Arc(part.addr + 4, A, 1)],
             SYMBOLS + [part])
    text = on_a_terminal(c, './prog')
    yield 'b has 50.00 % of the time, really 0.00 %' in text and text.count('\n') == 1, text
    yield not c.run('./prog', compat=None).err, c.run('./prog', compat=None).describe()
    yield not on_a_terminal(c, '--compat=no', './prog'), on_a_terminal(c, '--compat=no', './prog')
    c = Case(subject, [hist({A: 50}), Arc(0x900000, A, 5)])
    text = on_a_terminal(c, './prog')
    yield 'a has 0 calls, really 5' in text and text.count('\n') == 1, text
    c = Case(subject, [hist({A: 50}), Arc(MAIN + 8, A, 1), Arc(A + 8, B, 5), Arc(B + 8, A, 5)])
    text = on_a_terminal(c, './prog')
    yield 'the entries of cycles are GNU\'s' in text and text.count('\n') == 1, text


def main():
    subject, tap = Subject(sys.argv[1]), Tap()
    checks = [same_as_gnu, self_times_add_up, odd_scale, real_program_adds_up, last_symbol,
              compiler_pieces, real_pieces, weak_data, backward_calls, several_exclusions,
              callback_cycle, cycle_entry, tied_members, thumb, sums_do_not_wrap, sane_units, big_endian_blocks,
              freebsd_counters, wrong_executable, messages, advice, what_gnu_refuses, sums_by_default, deviations]
    for check in checks:
        title = (check.__doc__ or check.__name__.replace('_', ' ')).split('\n')[0]
        for i, (passed, detail) in enumerate(check(subject)):
            tap.ok(passed, f'default mode, {check.__name__} {i + 1}: {title}', detail)
    for title, problem in shown.check(subject):
        tap.ok(not problem, title, problem)
    sys.exit(tap.done())


main()

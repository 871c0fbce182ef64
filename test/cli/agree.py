"""Reports agree: Self and Children of a function are the same in flat, graph, report, browse, on the page, in folded
stacks, in exported files and as gprof prints them, with functions inlined expanded and folded, and so is Self in diff and
the time of a call in graph and cycles.
For random stacks; for random recordings of several events with inlined functions and recursion; for a program recorded
here, with lines and annotate.

    agree.py BUILD [SEED]: without SEED with three seeds, which depend on the build's name
"""
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import pprof_files
from pages import unpack
from subject import Subject
from tap import Tap

ROUNDS, SANITIZED_ROUNDS = 30 if os.environ.get('KIN_FULL') == '1' else 10, 3
BROWSED = 2  # of each kind: on a terminal this takes its time
NAMES = ['main', 'f', 'g', 'h', 'i', 'j']
MARK = ' (inlined)'

# Each always inlined function is the same work in two callers. A label of assembly code is no function to the linker.
# If a function is always called with one number, gcc makes a copy for it under another name. The program and a library
# share one header. Closures of Rust have names that differ in a number which nobody sees: these are two of them.
HEADER = '''
static volatile unsigned long y;
static inline __attribute__((always_inline)) void both(int n) { for (int i = 0; i < n; i++) y = y * 3 + 1; }
'''
# Static functions of one name in two files.
OTHER = '''
extern volatile unsigned long x;
static __attribute__((noipa)) void twin(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }
void other(void) { twin(5000); x++; }
'''
LIBRARY = '#include "both.h"\nvoid in_library(void) { both(9000); y++; }\n'
PROGRAM = '''
#include "both.h"
void in_library(void);
volatile unsigned long x;
static inline __attribute__((always_inline)) void inner(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }
static inline __attribute__((always_inline)) void outer(int n) { inner(n); for (int i = 0; i < n; i++) x ^= x >> 3; }
__attribute__((noinline)) void one(void) { outer(20000); x++; }
__attribute__((noinline)) void two(int n) { inner(9000); if (n) two(n - 1); x++; }
__attribute__((noinline)) void part(void) { for (int i = 0; i < 9000; i++) x = x * 5 + 1; }
static __attribute__((noinline)) void copied(int n, int by) { for (int i = 0; i < n; i++) x = x * by + 1; }
#define CLOSURE(name, number, by) \\
inline __attribute__((always_inline)) void name(int n) __asm__("_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h" number "E"); \\
inline void name(int n) { for (int i = 0; i < n; i++) x = x * by + 1; }
CLOSURE(first, "9cf2bda18a4232f3", 3)
CLOSURE(second, "cad8ea7e37052492", 5)
__attribute__((noinline)) void closures(void) { first(5000); second(3000); x++; }
static __attribute__((noipa)) void twin(int n) { for (int i = 0; i < n; i++) x = x * 5 + 1; }
static inline __attribute__((always_inline)) void only(int n)
{
	inner(n); /* in only() */
}
__attribute__((noinline)) void spread(void)
{
	only(7000); /* in spread() */
	x++;
}
void other(void);
void label(void);
#ifdef __x86_64__
__asm__(".text\\nlabel: .cfi_startproc\\nsub $8, %rsp\\n.cfi_adjust_cfa_offset 8\\ncall part\\n"
        "add $8, %rsp\\n.cfi_adjust_cfa_offset -8\\nret\\n.cfi_endproc");
#else
__attribute__((noinline)) void label(void) { part(); x++; }
#endif
int main(void) { for (int i = 0; i < 5000; i++) { one(); two(3); label(); closures(); spread(); twin(3000); other(); copied(9000, 7); copied(i, 7); in_library(); both(3000); } return 0; }
'''
FUNCTIONS = ['main', 'one', 'two', 'inner', 'outer', 'label', 'part', 'r::main::{{closure}}']


class Kin:
    def __init__(self, build, data):
        self.kin, self.data = os.path.join(build, 'kin'), data

    def bytes(self, *args):
        env = dict(os.environ, HOME='/nonexistent', LC_ALL='C')
        return subprocess.run([self.kin, *args, self.data], capture_output=True, env=env, check=True).stdout

    def text(self, *args):
        return self.bytes(*args).decode()

    def rows(self, *args):
        """(rows, the factor for their times)."""
        table = json.loads(self.text(*args, '--format=json'))
        return table['rows'], table['rate']


def plain(name):
    return name[:-len(MARK)] if name.endswith(MARK) else name


def flat(kin, how):
    rows, rate = kin.rows('flat', *how)
    # Without any caller there is no column of Children: they equal Self.
    return [(r['name'], r['self'] * rate, r.get('inclusive', r['self']) * rate) for r in rows]


def graph(kin, how):
    rows, rate = kin.rows('graph', *how)
    return [(r['name'].split(' <cycle ')[0], r['self'] * rate, (r['self'] + r['children']) * rate)
            for r in rows if r['kind'] == 'function']


def report(kin, how):
    rows, _ = kin.rows('report', '--sort=sym', '-g', 'none', *how)
    return [(r['symbol'], r['self_weight'], r['children_weight']) for r in rows]


def page(kin, how):
    """Sums over the page's nodes and samples, and the time that functions lose with the nodes left out."""
    data = unpack(kin.text('html', *how, '-o', '-'))
    columns, names = data['columns'], data['functions']['name']
    up, node = [None], 0
    for levels in columns['node_up']:
        for _ in range(levels):
            node = up[node]
        up.append(node)
        node = len(up) - 1
    own, below, node = {}, {}, 0
    for step, weight in zip(columns['sample_node'], columns['sample_weight']):
        node += step // 2 if step % 2 == 0 else -(step + 1) // 2
        path, at = [], node
        while at:
            path.append(columns['node_function'][at - 1])
            at = up[at]
        for i in path[:1]:
            own[i] = own.get(i, 0) + weight
        for i in set(path):
            below[i] = below.get(i, 0) + weight
    for i, lost, all_lost in zip(columns['lost_function'], columns['lost_self'], columns['lost_total']):
        own[i], below[i] = own.get(i, 0) + lost, below.get(i, 0) + all_lost
    return [(names[i], own.get(i, 0), below[i]) for i in below if i < len(names)]


def sums_of_stacks(stacks):
    """[([function, outermost first], weight)]: {function: (self, children)}, each sample once."""
    own, below = {}, {}
    for path, weight in stacks:
        own[path[-1]] = own.get(path[-1], 0) + weight
        for name in set(path):
            below[name] = below.get(name, 0) + weight
    return {name: (own.get(name, 0), below[name]) for name in below}


def rows_of_stacks(stacks):
    return [(name, *sums) for name, sums in sums_of_stacks(stacks).items()]


def event_of(how):
    return next((word[len('--event='):] for word in how if word.startswith('--event=')), None)


def exported_json(kin, how):
    event = event_of(how)
    samples = json.loads(kin.text('export', '--to=json', *how))['samples']
    return rows_of_stacks([([f['sym'] for f in reversed(s['frames'])], s['period'])
                           for s in samples if event in (None, s['event'])])


def exported_pprof(kin, how):
    """The weights of an event are behind its numbers of samples."""
    events = pprof_files.decode(kin.bytes('export', '--to=pprof', *how))
    return rows_of_stacks(events[event_of(how) or list(events)[-1]])


def sums_of(rows, names):
    """No other function has one of the names."""
    sums = {}
    for name, own, below in rows:
        if name is not None and plain(name) in names:  # code without a name has none
            assert plain(name) not in sums, name
            sums[plain(name)] = (round(own), round(below))
    return sums


def folded_stacks(kin, how):
    lines = kin.text('script', '--folded', '--no-comm', *how).splitlines()
    return [(path.split(';'), int(count)) for path, count in (line.rsplit(' ', 1) for line in lines)]


def difference(kin, make, how, names):
    """Of a report from folded stacks; None: they agree."""
    want, got = sums_of_stacks(folded_stacks(kin, how)), sums_of(make(kin, how), names)
    for name in names:
        if got.get(name, (0, 0)) != want.get(name, (0, 0)):
            return f'{make.__name__} {" ".join(how)}: {name}: {got.get(name)}, not {want.get(name)}'
    return None


def calls_disagree(kin, how):
    """The time of a call is that of the samples with the call on their stack, each once; graph and cycles show the same.
    Functions of one name in several objects are one function in folded stacks."""
    want = {}
    for path, weight in folded_stacks(kin, how):
        for call in set(zip(['<spontaneous>'] + path, path)):
            want[call] = want.get(call, 0) + weight
    name_of = lambda text: plain(text.split(' <cycle ')[0])
    rows, rate = kin.rows('graph', *how)
    owner, seen = {r['group']: name_of(r['name']) for r in rows if r['kind'] == 'function'}, {}
    for r in rows:
        if r['kind'] not in ('caller', 'callee') or r['group'] not in owner or r['name'].startswith('<'):
            continue
        if r['self'] is None and name_of(r['name']) == owner[r['group']]:
            continue  # itself: its time is in its own row
        other, here = name_of(r['name']), owner[r['group']]
        if any(re.match(r'0x[0-9a-f]+$', name) for name in (other, here)):
            continue  # code without a name is one function in folded stacks
        call = (other, here) if r['kind'] == 'caller' else (here, other)
        seen[r['kind'], call] = seen.get((r['kind'], call), 0) + round((r['self'] + r['children']) * rate)
    for (kind, call), got in seen.items():
        if got != want.get(call):
            return f'graph {" ".join(how)}: {kind} of {call}: {got}, not {want.get(call)}'
    marks = '[cut]', '[interrupted]'  # no functions: they have no entries, in which callees would be
    missing = [call for call in want if call[0] not in (call[1], '<spontaneous>') and '[unknown]' not in call and
               not {('caller', call), *[('callee', call)] * (call[0] not in marks)} <= seen.keys()]
    if missing:
        return f'graph {" ".join(how)}: without {missing[0]}'
    rows, rate = kin.rows('cycles', *how)
    for r in rows:
        call = tuple(name_of(end) for end in r['name'].split(' -> ')) if r['what'] in ('entry', 'inner') else ()
        if len(call) == 2 and round(r['time'] * rate) != want.get(call):
            return f'cycles {" ".join(how)}: {call}: {r["time"] * rate}, not {want.get(call)}'
    return None


def diff_disagrees(kin, how, names):
    """A diff of data with itself has each function's Self on both sides."""
    want = sums_of_stacks(folded_stacks(kin, how))
    rows, _ = kin.rows('diff', '--all', *how, kin.data)
    rate = kin.rows('flat', *how)[1]  # not that of the diff, which sums data that may have other rates
    got = {plain(r['name']): r for r in rows}
    for name in names:
        before, after = ((got.get(name, {}).get(side) or 0) * rate for side in ('before', 'after'))
        if not round(before) == round(after) == want.get(name, (0, 0))[0]:
            return f'diff {" ".join(how)}: {name}: {before} and {after}, not {want.get(name, (0, 0))[0]}'
    return None


REPORTS = (flat, graph, report, page, exported_json, exported_pprof)


def disagreement(kin, how, names):
    """The first report, and function or call, that differ from folded stacks; None: they agree."""
    whys = (difference(kin, make, how, names) for make in REPORTS)
    return next(filter(None, whys), None) or calls_disagree(kin, how) or diff_disagrees(kin, how, names)


# ---- on a terminal ----

class Browser:
    """Rows as kin browse writes them to a file. Needs tmux."""

    def __init__(self, folder, build):
        self.folder, self.terminal = folder, None
        if shutil.which('tmux'):
            spec = importlib.util.spec_from_file_location('tui_run', os.path.join(HERE, '..', 'tui', 'run.py'))
            tui = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(tui)
            self.terminal = tui.Terminal(folder, build, 120, 40)

    def shares(self, kin, how):
        """{function: (Self, Children)}, in percent."""
        written = os.path.join(self.folder, 'kin-view-1.txt')
        if os.path.exists(written):
            os.unlink(written)
        self.terminal.run(f'kin browse {" ".join(how)} {kin.data}')
        assert self.terminal.wait('Enter callers'), self.terminal.screen()
        self.terminal.keys('P')
        assert self.terminal.wait('rows are in kin-view-1.txt'), self.terminal.screen()
        self.terminal.keys('q')
        assert self.terminal.wait('^prompt'), self.terminal.screen()
        with open(written, encoding='utf-8') as f:
            rows = [re.match(r' *([\d.]+)% +([\d.]+)% .*?(\w+)(?: \(inlined\))?$', line.rstrip()) for line in f]
        return {r[3]: (float(r[2]), float(r[1])) for r in rows if r}

    def difference(self, kin, how, event, names):
        """Of the event that it shows first."""
        stacks = folded_stacks(kin, how + event)
        total, want, got = sum(weight for _, weight in stacks), sums_of_stacks(stacks), self.shares(kin, how)
        for name in names:
            for expected, shown in zip(want.get(name, (0, 0)), got.get(name, (0, 0))):
                if abs(expected * 100 / total - shown) > 0.0051:
                    return f'browse {" ".join(how)}: {name}: {shown} %, not {expected} of {total}'
        return None

    def close(self):
        if self.terminal:
            self.terminal.close()


# ---- random data ----

def random_stacks(rng):
    """Which functions are inlined is by name: else one name would be two things."""
    inlined = set(rng.sample(NAMES[1:], rng.randrange(4)))
    lines = []
    for _ in range(rng.randrange(1, 40)):
        path = ['main'] + [rng.choice(NAMES) for _ in range(rng.randrange(1, 10))]
        lines.append(';'.join(n + '_[i]' * (n in inlined) for n in path) + f' {rng.randrange(1, 50)}\n')
    return ''.join(lines)


def random_recording(rng):
    """A random file of pprof, and the names of its events. Some files have no call chains. A function that is inlined anywhere is inlined at all its
    places; the functions called there may be the same ones again."""
    outer, inlined = NAMES[:3], NAMES[3:]
    rng.shuffle(inlined)
    places = [[(name, 'a.c', rng.randrange(1, 99)) for name in
               [rng.choice(outer)] + rng.sample(inlined, rng.choice([0, 0, 1, 2]))] for _ in range(rng.randrange(2, 15))]
    deepest = rng.choice([1, 11, 11])
    events = rng.sample([('cpu', 'nanoseconds'), ('faults', 'count'), ('cache misses', 'count')], rng.randrange(1, 4))
    samples = [([rng.randrange(len(places)) for _ in range(rng.randint(1, deepest))],
                [rng.choice([0, rng.randrange(1, 10**rng.randrange(1, 8))]) for _ in events])
               for _ in range(rng.randrange(1, 60))]
    samples.append(([0], [1 for _ in events]))  # each event has a sample
    return pprof_files.encode(events, places, samples), [name for name, _ in events]


def check_kind(tap, build, folder, what, kind, make):
    """`make(round)`: a file, and the options to look at each of its events by."""
    browsed = Browser(folder, build)
    rounds = SANITIZED_ROUNDS if Subject(os.path.join(build, 'kin')).is_sanitized else ROUNDS
    for more in ([], ['--no-inline']):
        wrong = []
        for n in range(rounds):
            content, events = make(n)
            path = os.path.join(folder, f'random.{kind}')
            with open(path, 'wb') as f:
                f.write(content)
            for event in events:
                kin, how = Kin(build, path), more + event
                why = disagreement(kin, how, NAMES)
                if not why and n < BROWSED and browsed.terminal and event == events[-1]:  # the event that is shown first
                    why = browsed.difference(kin, more, event, NAMES)
                if why:
                    shutil.copy(path, os.path.join(tempfile.gettempdir(), f'kin-agree.{kind}'))
                    wrong.append(f'{why}; the data is in {tempfile.gettempdir()}/kin-agree.{kind}')
        tap.ok(not wrong, f'{what} {" ".join(more)}', wrong[0] if wrong else '')
    browsed.close()


def check_random(tap, build, folder, seed):
    check_kind(tap, build, folder, 'random stacks', 'folded',
               lambda n: (random_stacks(random.Random(seed * ROUNDS + n)).encode(), [[]]))

    def recording(n):
        content, events = random_recording(random.Random(seed * ROUNDS + n))
        return content, [[f'--event={name}'] for name in events]
    check_kind(tap, build, folder, 'random recordings', 'pb', recording)


def record(build, folder):
    """A program whose functions were inlined; None: nothing can be recorded here."""
    program, data = os.path.join(folder, 'p'), os.path.join(folder, 'p.kin')
    for name, text in (('both.h', HEADER), ('library.c', LIBRARY), ('other.c', OTHER), ('p.c', PROGRAM)):
        with open(os.path.join(folder, name), 'w', encoding='ascii') as f:
            f.write(text)
    if not shutil.which('cc'):
        return None
    for words in (['-shared', '-fPIC', '-o', 'library.so', 'library.c'], ['-fipa-cp', '-o', 'p', 'p.c', 'other.c', '-L.', '-l:library.so']):
        subprocess.run(['cc', '-O1', '-g', '-Wl,-rpath,$ORIGIN', *words], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    subprocess.run([os.path.join(build, 'kin'), 'record', '-o', data, program], capture_output=True, check=False)
    return data if os.path.exists(data) else None


def own_of_lines(kin, how):
    rows, rate = kin.rows('lines', *how)
    sums = {}
    for r in rows:
        sums[r['name']] = sums.get(r['name'], 0) + r['self'] * rate
    return sums


def lines_disagree(kin):
    """The lines of a function add up to its Self. annotate shows a function with the code inlined into it, and an inlined
    function at all its places."""
    expanded, folded_in = (sums_of_stacks(folded_stacks(kin, how)) for how in ([], ['--no-inline']))
    lines_of, lines_of_linked = own_of_lines(kin, []), own_of_lines(kin, ['--no-inline'])
    for name in FUNCTIONS + [name for name in expanded if name.startswith('copied')]:
        if name == 'label':
            continue  # of assembly code, without lines
        rows, rate = kin.rows('annotate', name)
        want = expanded.get(name, (0, 0))[0]
        if round(lines_of.get(name, 0)) != want:
            return f'lines: {name}: {lines_of.get(name)}, not {want}'
        linked = folded_in.get(name, (0, 0))[0]
        if round(lines_of_linked.get(name, 0)) != linked:
            return f'lines --no-inline: {name}: {lines_of_linked.get(name)}, not {linked}'
        source, want = sum(r['self'] * rate for r in rows if r['self']), folded_in.get(name, (want, 0))[0]
        rows, rate = kin.rows('lines', name)
        inside = sum(r['self'] * rate for r in rows)
        if round(inside) != want:
            return f'lines {name}: {inside}, not {want}'
        if round(source) != want:
            return f'annotate {name}: {source}, not {want}'
    return None


def call_lines_disagree(kin):
    """A line that calls an inlined function has its time, as a line of the function around it."""
    want = sums_of_stacks(folded_stacks(kin, []))['only'][1]
    places = {(n, name) for n, line in enumerate(PROGRAM.splitlines(), 1) for name in re.findall(r'/\* in (.*)\(\) \*/', line)}
    rows, rate = kin.rows('lines')
    seen = {(r['line'], r['name']): r['inclusive'] * rate for r in rows}
    got = {f'lines {name}': seen.get((line, name), 0) for line, name in places}
    for how in ([], ['--no-inline']):
        rows, rate = kin.rows('annotate', 'spread', *how)
        got[f'annotate {how}'] = sum((r['inclusive'] or 0) * rate for r in rows if (r['line'], 'spread') in places)
    rows, _ = kin.rows('report', '--sort=srcline', '-g', 'none')
    for line, name in places:
        got[f'report {name}'] = sum(r['children_weight'] for r in rows if r['srcline'] == f'p.c:{line}')
    wrong = {what: time for what, time in got.items() if round(time) != want}
    return None if want and not wrong else f'{wrong}, not {want}'


def objects_disagree(kin, how):
    """Self of a function is the sum of its lines, in each object."""
    sums = []
    for view in ('flat', 'lines'):
        rows, rate = kin.rows(view, '--columns=self,object,name', *how)
        of = {}
        for r in rows:
            key = r['object'], plain(r['name'])
            of[key] = of.get(key, 0) + round(r['self'] * rate)
        sums.append({key: own for key, own in of.items() if own})
    objects = {key[0] for key in sums[0] if key[1] == 'both'}
    if how == [] and len(objects) != 2:
        return f'both() is in {objects}'
    return None if sums[0] == sums[1] else f'{sums[0]}, lines {sums[1]}'


def twins_disagree(kin):
    """Two static functions of one name are two."""
    sums = [sorted((round(own), round(below)) for name, own, below in make(kin, []) if re.fullmatch(r'twin \((p|other)\.c\)', name)) for make in (flat, graph, report, page)]
    return None if len(sums[0]) == 2 and sums.count(sums[0]) == len(sums) else f'flat, graph, report, page: {sums}'


def gprof_differs(kin, program):
    """Self and children in gprof's flat profile and call graph, with two digits, are those of kin graph."""
    rows, _ = kin.rows('graph')
    rows = [(re.sub(r' \(\S+\.c\)$', '', r['name'].split(' <cycle ')[0]), r['self'], r['children']) for r in rows if r['kind'] == 'function']
    names = [name for name, _, _ in rows]  # gprof's rows do not say which object a function is in: names in several objects, such as _start, are left out
    want = {name: (own, children) for name, own, children in rows if names.count(name) == 1 and name != '[not sampled]'}  # gprof lacks it
    run = subprocess.run([os.path.join(os.path.dirname(kin.kin), 'gprof'), '-b', program, kin.data], capture_output=True,
                         text=True, check=False)
    if run.returncode or not re.fullmatch(r'(gprof: warning: counting calls took .*\n)?', run.stderr):
        return f'status {run.returncode}, {run.stderr}'
    flat_part, graph_part = run.stdout.split('Call graph')[:2]
    seen = 0
    for line in graph_part.splitlines():
        row = re.match(r'\[\d+\] +[\d.]+ +([\d.]+) +([\d.]+) .*? {2,}(.*?)(?: <cycle \d+>)? \[\d+\]$', line)
        if row and row[3] in want:
            seen += 1
            if any(abs(float(got) - time) > 0.0051 for got, time in zip(row.groups(), want[row[3]])):
                return f'call graph: {line}, not {want[row[3]]}'
    rows = (re.match(r' *[\d.]+ +[\d.]+ +([\d.]+)[ \d.]{29,31}(\S.*)$', line) for line in flat_part.splitlines())
    own = {row[2]: float(row[1]) for row in rows if row}
    for name, (time, _) in want.items():
        if abs(own.get(name, 0) - time) > 0.0051:
            return f'flat profile: {name}: {own.get(name)}, not {time}'
    return None if seen else f'no function: {run.stdout}'


def check_recorded(tap, build, folder):
    data = record(build, folder)
    if not data:
        tap.skip('inlined functions of a recording', 'nothing can be recorded here')
        return
    kin = Kin(build, data)
    for how in ([], ['--no-inline']):
        why = disagreement(kin, how, FUNCTIONS)
        tap.ok(not why, f'a recording {" ".join(how)}', why or '')
    why = lines_disagree(kin)
    tap.ok(not why, 'lines of a recording', why or '')
    why = call_lines_disagree(kin)
    tap.ok(not why, 'lines that call what is inlined there', why or '')
    why = objects_disagree(kin, []) or objects_disagree(kin, ['--no-inline'])
    tap.ok(not why, 'lines of a header in two objects', why or '')
    why = twins_disagree(kin)
    tap.ok(not why, 'functions of one name in two files', why or '')
    why = gprof_differs(kin, os.path.join(folder, 'p'))
    tap.ok(not why, 'gprof on a recording', why or '')
    inlined = [name for name, _, _ in flat(kin, []) if name.endswith(MARK)]
    tap.ok('inner' + MARK in inlined and 'outer' + MARK in inlined, 'inlined functions have rows', str(inlined))
    tap.ok(not any(MARK in name for name, _, _ in flat(kin, ['--no-inline'])), '--no-inline has none')
    found = subprocess.run([kin.kin, 'graph', 'inner', data], capture_output=True, text=True, check=False)
    tap.ok('inner' + MARK in found.stdout, 'graph finds one by name', found.stdout + found.stderr)


def check_chainless(tap, build, folder):
    """Without call chains functions still have the time of those inlined into them."""
    data = os.path.join(folder, 'chainless.kin')
    if not os.path.exists(os.path.join(folder, 'p')):
        tap.skip('a recording without call chains', 'no compiler')
        return
    subprocess.run([os.path.join(build, 'kin'), 'run', '--no-stacks', '-o', data, os.path.join(folder, 'p')], capture_output=True,
                   check=True, cwd=folder)
    kin = Kin(build, data)
    for how in ([], ['--no-inline']):
        why = disagreement(kin, how, FUNCTIONS)
        tap.ok(not why, f'a recording without call chains {" ".join(how)}', why or '')
    sums = {name: (own, below) for name, own, below in flat(kin, [])}
    own, below = sums['outer' + MARK]
    tap.ok(below > own, 'without call chains: the time of code inlined into a function', str(sums))
    for view in ('flat', 'graph', 'report'):
        text, folded = kin.text(view), kin.text(view, '--no-inline')
        tap.ok('no call chains' in text and 'no call chains' not in folded, f'{view} says that there are none', text)


# mid() is inlined in two functions; one of them also calls leaf() itself.
CALLS = '''
volatile unsigned long x;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }
static inline __attribute__((always_inline)) void mid(int n) { leaf(n); x++; leaf(n / 2); x++; }
__attribute__((noinline)) void one(void) { mid(20000); x++; }
__attribute__((noinline)) void two(void) { mid(5000); leaf(100); x++; }
int main(void) { for (int i = 0; i < 3000; i++) { one(); two(); } return 0; }
'''


def callers_of_leaf(kin, how):
    rows, _ = kin.rows('graph', *how)
    group = next(r['group'] for r in rows if r['kind'] == 'function' and r['name'] == 'leaf')
    return {r['name']: r['called']['of'][0] for r in rows if r['group'] == group and r['kind'] == 'caller'}


def compiled(tap, folder, name, text, what, *options):
    """The paths of the program and of a recording to be made; None if it is skipped."""
    source, program, data = (os.path.join(folder, name + end) for end in ('.c', '', '.kin'))
    with open(source, 'w', encoding='ascii') as f:
        f.write(text)
    if not shutil.which('cc'):
        tap.skip(what, 'no compiler')
        return None
    subprocess.run(['cc', '-O1', '-g', *options, '-o', program, source], check=True)
    return program, data


def check_counted(tap, build, folder):
    """Calls are counted where they are made: in code that was inlined by the function inlined."""
    paths = compiled(tap, folder, 'calls', CALLS, 'calls of inlined functions', '-pg')
    if not paths:
        return
    program, data = paths
    subprocess.run([os.path.join(build, 'kin'), 'run', '-o', data, program], capture_output=True, check=True,
                   cwd=folder)
    kin = Kin(build, data)
    expanded, folded_in = callers_of_leaf(kin, []), callers_of_leaf(kin, ['--no-inline'])
    tap.ok(expanded == {'mid' + MARK: 12000, 'two': 3000}, 'counted calls of inlined functions', str(expanded))
    tap.ok(folded_in == {'one': 6000, 'two': 9000}, 'counted calls with --no-inline', str(folded_in))
    why = gprof_differs(kin, program)
    tap.ok(not why, 'gprof on counted calls and stacks', why or '')


# kept() is inlined where it is called by its name, and has code of its own for the other call.
KEPT = '''
volatile unsigned long x;
static inline __attribute__((always_inline)) void kept(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }
void (*volatile pointer)(int) = kept;
__attribute__((noinline)) void one(void) { kept(20000); x++; }
int main(void) { for (int i = 0; i < 4000; i++) { one(); pointer(5000); } return 0; }
'''


def check_kept(tap, build, folder):
    """The lines and instructions of a function are those of its own code and of all places where it is inlined."""
    paths = compiled(tap, folder, 'kept', KEPT, 'functions inlined in places')
    if not paths:
        return
    program, data = paths
    subprocess.run([os.path.join(build, 'kin'), 'record', '-o', data, program], capture_output=True, check=False)
    if not os.path.exists(data):
        tap.skip('functions inlined in places', 'nothing can be recorded here')
        return
    kin = Kin(build, data)
    own = {name: round(self) for name, self, _ in flat(kin, []) if plain(name) == 'kept'}
    tap.ok(sorted(own) == ['kept', 'kept' + MARK] and min(own.values()) > 0, 'a function that is inlined in places', str(own))
    for view in (['lines'], ['annotate'], ['annotate', '--asm']):
        rows, rate = kin.rows(*view, 'kept')
        got = sum(round(r['self'] * rate) for r in rows if r['self'] and r.get('kind') != 'function')
        tap.ok(got == sum(own.values()), f'{" ".join(view)}: time of a function that is inlined in places', f'{got} of {own}')


def check_uncounted(tap, build, folder):
    """Of a function in a file that was compiled without counting no number of calls is known, not even 0."""
    if not shutil.which('cc'):
        tap.skip('files compiled without counting', 'no compiler')
        return
    plain = 'volatile unsigned long x;\n' \
            '__attribute__((noinline)) void busy(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }\n' \
            '__attribute__((noinline)) void quick(int n) { x += n; }\n'
    counted = 'void busy(int), quick(int);\n__attribute__((noinline)) void never(void) { quick(2); }\n' \
              'int main(int c, char **v) { for (int i = 0; i < 3000; i++) { busy(9000); quick(1); } if (c > 9) never(); return 0; }\n'
    for name, text, options in (('plain', plain, []), ('counted', counted, ['-pg'])):
        with open(os.path.join(folder, f'{name}.c'), 'w', encoding='ascii') as f:
            f.write(text)
        subprocess.run(['cc', '-O1', '-g', '-c', *options, f'{name}.c'], cwd=folder, check=True)
    subprocess.run(['cc', '-pg', '-o', 'half', 'plain.o', 'counted.o'], cwd=folder, check=True)
    data = os.path.join(folder, 'half.kin')
    subprocess.run([os.path.join(build, 'kin'), 'run', '-o', data, './half'], capture_output=True, check=True, cwd=folder)
    kin = Kin(build, data)
    for name, count in (('busy', None), ('quick', None), ('never', 0), ('main', 1)):
        text = kin.text('annotate', name)
        got = [r['count'] for r in kin.rows('annotate', name)[0] if f' {name}(' in (r['source'] or '') and r['line']]
        tap.ok(got == [count], f'calls of {name}(), of which half of the program was compiled to count', text)
        tap.ok(('compiled without counting' in text) == (count is None), f'what is said of {name}()', text)
    for name in ('plain', 'counted'):
        text = kin.text('annotate', f'{name}.c')
        tap.ok(('compiled without counting' in text) == (name == 'plain'), f'what is said of {name}.c: nothing of the other file', text)


def main():
    build, tap = os.path.abspath(sys.argv[1]), Tap()
    with tempfile.TemporaryDirectory(prefix='kin-agree-') as folder:
        tap.part(check_random, tap, build, folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1 + zlib.crc32(os.path.basename(build).encode()) % 3)
        tap.part(check_recorded, tap, build, folder)
        tap.part(check_chainless, tap, build, folder)
        tap.part(check_counted, tap, build, folder)
        tap.part(check_kept, tap, build, folder)
        tap.part(check_uncounted, tap, build, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""How far from the truth: programs that know where their time goes, compared with their profiles.

    run.py BUILD [--table FILE]

Each program prints its own truth (truth.h). It is run under kin record, under perf record -g (frame pointers and
DWARF) and, built with -pg, under kin run and for gprof. Each profile is compared with the truth that the program
printed in that very run. An error is in percentage points
of the program's CPU time (of its blocked time for blocked functions). kin's errors have to be smaller than random
sampling makes them once in a million times, plus half a point for the clocks; and in no sample may kin name a caller
that was not there (frames.c, lying.c). --table runs all tools and writes their errors into the table of a Markdown file;
gprof and perf have nothing to pass or fail.
"""
import collections
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
sys.path.insert(0, HERE)
import step
from chance import deviation
from tap import Tap

RATE = 999
LIMIT = 300  # seconds for one command
BLOCKED = 0.05  # of the blocked time may be at another place
PROGRAMS = {  # name: title
    'foobar': 'main calls foo, foo calls bar; with frame pointers',
    'callers': 'two callers of one function, 1 : 94',
    'phantom': 'a cycle of calls that no stack goes round',
    'cycle': 'mutual recursion',
    'recursion': 'recursion, cost by outermost caller',
    'inlines': 'inlined C++ functions',
    'library': 'a shared library that calls back',
    'threads': 'four threads, 1 : 5 : 20 : 60',
    'sleepers': 'blocked in locks and sleeps',
    'entries': '400 levels of recursion, entered from two functions in turn',
    'buffers': 'a buffer of 40 KB, nearly empty, on behalf of two functions',
}
FLAGS = {'foobar': ['-fno-omit-frame-pointer']}  # beside -O2 -g, with which all are compiled
TOOLS = {'gprof': 'gprof', 'perf': '`perf record -g`', 'perf_dwarf': '`perf record --call-graph dwarf`',
         'run': '`kin run`', 'record': '`kin record`'}
OURS = ('run', 'record')

Truth = collections.namedtuple('Truth', 'total inclusive arcs blocked')
# A tool's profile: shares, 0 to 1, by function, by (caller, callee), and of blocked time by function; and
# the number of samples they come from. A missing function has no share: the tool does not know it.
Said = collections.namedtuple('Said', 'inclusive arcs blocked samples')


class Lab:
    """A folder with the programs built both ways, and the tools."""

    def __init__(self, build):
        self.kin = os.path.join(os.path.abspath(build), 'kin')
        self.folder = tempfile.mkdtemp(prefix='kin-truth-')
        self.env = {**os.environ, 'HOME': self.folder, 'LC_ALL': 'C', 'DEBUGINFOD_URLS': ''}

    def run(self, *words, check=True):
        return subprocess.run(words, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=LIMIT, check=check)

    def build(self, name, suffix='', *flags):
        source = os.path.join(HERE, name + '.c')
        compiler = 'gcc'
        if not os.path.exists(source):
            source, compiler = source + 'pp', 'g++'
        out = name + suffix
        common = [compiler, '-O2', '-g', *FLAGS.get(name, []), *flags]
        if name == 'library':
            self.run(*common, '-shared', '-fPIC', '-DLIBRARY', '-o', f'lib{out}.so', source)
            common += ['-L.', '-l' + out, '-Wl,-rpath,$ORIGIN']
        self.run(*common, '-o', out, source, *(['-L.', '-l' + out] if name == 'library' else []), '-lpthread')
        return './' + out


def read_truth(text):
    truth = Truth({}, {}, {}, {})
    for line in text.splitlines():
        kind, one, two, seconds = line.split()
        where, key = {'total': (truth.total, ''), 'inclusive': (truth.inclusive, one),
                      'arc': (truth.arcs, (one, two)), 'blocked': (truth.blocked, one)}[kind]
        where[key] = float(seconds)
    return truth


# ---- the tools: each returns the truth of its run, and its profile ----

def plain(name):
    """A name without additions of tools."""
    return re.sub(r'\(.*\)|@.*| <cycle \d+>| \(inlined\)|\+0x.*', '', name).strip()


def run_record(lab, name):
    program = lab.build(name)
    return read_kin(lab, lab.run(lab.kin, 'record', '-q', '--wall', '-F', str(RATE), '-o', 'kin.kin', program))


def run_run(lab, name):
    program = lab.build(name, '.pg', '-pg')
    return read_kin(lab, lab.run(lab.kin, 'run', '-q', '--no-gmon', '-o', 'kin.kin', program))


def read_kin(lab, ran):
    graph = json.loads(lab.run(lab.kin, 'graph', '-f', 'json', 'kin.kin').stdout)
    said = Said({}, {}, {}, 0)
    interrupts = 0
    for group in groups(graph['rows']):
        interrupts += sum(r['self'] + r['children'] for r in group if r['kind'] == 'caller' and r['name'] == '[interrupted]')
        function = next((r for r in group if r['kind'] == 'function'), None)
        if function:
            callee = plain(function['name'])
            said.inclusive[callee] = function['share']
            for row in group:
                if row['kind'] == 'caller' and row['self'] is not None:  # not of a direct recursion
                    share = (row['self'] + row['children']) / graph['properties']['total']
                    said.arcs[plain(row['name']), callee] = share
    samples = 0
    for table in json_tables(lab.run(lab.kin, 'report', '--inline', '-f', 'json', 'kin.kin').stdout):
        event, about = table['properties']['event'], table['properties']
        if event.startswith('waiting'):
            continue
        where = said.blocked if event.startswith('blocked') else said.inclusive
        if where is said.inclusive:
            samples = about['samples']
        for row in table['rows']:
            if row.get('kind') in (None, 'plain') and row.get('children_weight') is not None:
                function = plain(row['symbol'])
                where[function] = max(where.get(function, 0), row['children_weight'] / about['weight'])
    # Programs know nothing of interrupts, which take several percent where others are busy.
    own = 1 - interrupts / graph['properties']['total']
    own_shares = lambda shares: {k: share / own for k, share in shares.items()}
    return read_truth(ran.stdout), Said(own_shares(said.inclusive), own_shares(said.arcs), said.blocked, samples)


def groups(rows):
    by = collections.defaultdict(list)
    for row in rows:
        by[row['group']].append(row)
    return by.values()


def json_tables(text):
    """One for each event."""
    tables = json.loads(text)
    return tables if isinstance(tables, list) else [tables]


def run_perf(lab, name, chains='fp'):
    program = lab.build(name)
    truth = read_truth(lab.run('perf', 'record', '-q', '-e', 'cpu-clock', '-F', str(RATE), '--call-graph', chains,
                               '-o', 'perf.data', program).stdout)
    text = lab.run('perf', 'script', '-i', 'perf.data', '-F', 'ip,sym').stdout
    stacks = [[plain(line.split(None, 1)[1]) for line in stack.splitlines() if len(line.split(None, 1)) == 2]
              for stack in text.split('\n\n')]
    stacks = [s for s in stacks if s]
    inclusive, arcs = collections.Counter(), collections.Counter()
    for stack in stacks:  # leaf first
        inclusive.update(set(stack))
        arcs.update(set(zip(stack[1:], stack)))
    share = lambda counts: {k: n / len(stacks) for k, n in counts.items()}
    return truth, Said(share(inclusive), share(arcs), {}, len(stacks))


def run_perf_dwarf(lab, name):
    return run_perf(lab, name, 'dwarf')


def run_gprof(lab, name):
    program = lab.build(name, '.pg', '-pg')
    truth = read_truth(lab.run(program).stdout)
    text = lab.run('gprof', '-b', '-q', program, 'gmon.out').stdout
    said = Said({}, {}, {}, 0)
    total, cycles = 0, {}
    for block in text.split('-----------------------------------------------\n'):
        primary = None
        for line in block.splitlines():
            whole = re.match(r'\[\d+\] +([\d.]+) .*<cycle (\d+) as a whole>', line)
            if whole:
                cycles[whole[2]] = float(whole[1]) / 100
                continue
            own = re.match(r'\[\d+\] +([\d.]+) +([\d.]+) +([\d.]+) .*?(\S+(?: <cycle \d+>)?) \[\d+\]$', line)
            other = re.match(r' +([\d.]+) +([\d.]+) +[\d+/]+ +(.*) \[\d+\]$', line)
            if own:
                primary = plain(own[4])
                said.inclusive[primary] = float(own[1]) / 100
                cycle = re.search(r'<cycle (\d+)>', own[4])
                if cycle:  # for a member's callees gprof has only the time of the cycle as a whole
                    said.inclusive[primary] = cycles.get(cycle[1], 0)
                total = max(total, float(own[2]) + float(own[3]))
            elif other and primary:
                said.arcs[primary, plain(other[3])] = float(other[1]) + float(other[2])
    return truth, said._replace(arcs={k: s / total if total else 0 for k, s in said.arcs.items()}, samples=0)


# ---- callers that were not there ----

FRAMES = {  # arguments of frames.c: title
    '1 3000 empty': 'short calls, frames not written',
    '300 10 empty': 'long calls, frames not written',
    '1 3000 written': 'short calls, frames written',
    '300 10 written': 'long calls, frames written',
    '20 6000 empty 4': '200 KiB, for seconds',
    '20 10000 empty 4 a': '200 KiB, for seconds, from one function',
}


def check_frames(lab, tap, about, words):
    """No function that works for a has b above it, neither as certain nor as a guess."""
    lab.run(lab.kin, 'record', '-q', '-F', str(RATE), '-o', 'frames.kin', lab.build('frames'), *words.split())
    wrong, seen, guessed = [], 0, 0
    for line in lab.run(lab.kin, 'script', '--folded', 'frames.kin').stdout.splitlines():
        functions = [plain(f) for f in line.rsplit(' ', 1)[0].split(';')]
        sides = {f[-2:] for f in functions if re.fullmatch(r'(leaf|frame_\d+[km]|deep)_[ab]', f)}
        wrong += [line] if len(sides) > 1 else []
        seen += bool(sides)
        guessed += '[guessed]' in functions
        if sides and 'main' not in functions and functions[1] != '[cut]':
            wrong.append('neither whole nor cut: ' + line)
        if '[guessed]' in functions and not words.endswith('a'):
            wrong.append('a guess where there are two: ' + line)
    tap.ok(seen and not wrong, f'frames of 8 KiB to 4 MiB, {about}: no caller that was not there',
           '\n'.join(wrong[:20]))
    tap.note(f'{guessed} different stacks with a guess')


def check_many(lab, tap):
    """A million calls, and the time of these alone."""
    lab.run(lab.kin, 'run', '-q', '--no-gmon', '-o', 'many.kin', lab.build('many', '.pg', '-pg'))
    rows = json.loads(lab.run(lab.kin, 'findings', '-f', 'json', '--columns=kind,text,share,points', 'many.kin').stdout)['rows']
    found = [row for row in rows if row['kind'] == 'many-calls']
    stacks = [line.rsplit(' ', 1) for line in lab.run(lab.kin, 'script', '--folded', 'many.kin').stdout.splitlines()]
    said = sum(int(n) for stack, n in stacks if ';many;tiny' in stack) / sum(int(n) for _, n in stacks)
    tap.ok(len(found) == 1 and found[0]['text'].startswith('many calls tiny 4000000 times'), 'a million calls are found', rows)
    tap.ok(found and abs(found[0]['share'] - said) < 0.001, 'with the time of these calls', f'{rows} {said}')


def check_lying(lab, tap):
    """A caller that made no call is on no stack above it, and the data is in doubt."""
    for tool, start, flags in (('record', ['record', '-F', str(RATE)], []), ('run', ['run', '--no-gmon'], ['-pg'])):
        lab.run(lab.kin, *start, '-q', '-o', 'lying.kin', lab.build('lying', '.' + tool, *flags))
        stacks = [line.rsplit(' ', 1)[0].split(';') for line in lab.run(lab.kin, 'script', '--folded', 'lying.kin').stdout.splitlines()]
        lying = [stack for stack in stacks if 'lying' in stack]
        tap.ok(lying and all('[cut];lying;' in ';'.join(stack) + ';' for stack in lying),
               f'wrong call-frame information: no caller that did not call, kin {tool}', lying)
        tap.ok(any('main;other;leaf' in ';'.join(stack) for stack in stacks), f'a call that was made stays, kin {tool}', stacks)
        said = lab.run(lab.kin, 'info', '--strict', 'lying.kin', check=False)
        tap.ok(said.returncode == 1 and 'did not make the call' in said.stdout, f'the data is in doubt, kin {tool}', said.stdout)
    pointers = ['-fno-omit-frame-pointer', '-mno-omit-leaf-frame-pointer']
    for name, flags, wrong in (('lying', pointers, True), ('callers', pointers, False)):
        record = ['record', '--selfcheck', '-F', str(RATE), '-o', f'{name}.kin', lab.build(name, '.checked', *flags)]
        line = re.search(r'(\d+) stacks walked in two ways: (\d+) contradict', lab.run(lab.kin, *record).stderr)
        checked, differ = map(int, line.groups()) if line else (0, 0)
        tap.ok(checked > 20 and (checked / 3 < differ < checked if wrong else differ == 0), f'two ways to walk {name}', f'{checked} {differ}')
        info = lab.run(lab.kin, 'info', f'{name}.kin').stdout
        tap.ok(re.search(rf'walked in two ways +{checked}\b', info) and ('other callers by frame pointers' in info) == wrong, f'{name}: said', info)


# ---- comparison ----

def errors(truth, said):
    """{quantity: (true share, the tool's share, 0 if it does not know the quantity)}"""
    total, blocked = truth.total[''], sum(truth.blocked.values())
    out = {}
    if not truth.blocked:
        for f, s in truth.inclusive.items():
            out[f] = s / total, said.inclusive.get(f, 0)
        for (a, b), s in truth.arcs.items():
            out[f'{a} -> {b}'] = s / total, said.arcs.get((a, b), 0)
    for f, s in truth.blocked.items():
        said_blocked = sum(said.blocked.get(g, 0) for g in truth.blocked)
        out[f + ' (blocked)'] = s / blocked, said.blocked.get(f, 0) / said_blocked if said_blocked else 0
    return out


def allowed(true, samples):
    return 0.005 + deviation(true, samples)


def main():
    lab = Lab(sys.argv[1])
    tap = Tap()
    table = sys.argv[sys.argv.index('--table') + 1] if '--table' in sys.argv else None
    lines = []
    try:
        probe = lab.run(lab.kin, 'record', '-o', 'probe.kin', 'true', check=False)
        for name, about in PROGRAMS.items():
            if 'does not let' in probe.stderr:
                tap.skip(name, 'NOBODY MAY SAMPLE HERE: ' + probe.stderr.strip())
                continue
            lines.append(row(lab, tap, name, about, TOOLS if table else OURS))
        for words, about in FRAMES.items() if 'does not let' not in probe.stderr else ():
            check_frames(lab, tap, about, words)
        if 'does not let' not in probe.stderr:
            if platform.machine() == 'x86_64':
                check_lying(lab, tap)
            step.test(lab, tap)
        check_many(lab, tap)
    finally:
        shutil.rmtree(lab.folder)
    if table:
        write_table(table, lines)
    sys.exit(tap.done())


def row(lab, tap, name, about, tools):
    worst = []
    for tool in tools:
        if tool not in OURS and not shutil.which(tool.split('_')[0]):
            worst.append(None)
            continue
        try:
            for _ in range(5):
                truth, said = globals()['run_' + tool](lab, name)
                found = errors(truth, said)
                # A few dozen waits: where many want a CPU, the scheduler's part in them is not the program's to know.
                if not truth.blocked or all(abs(is_said - true) <= BLOCKED for true, is_said in found.values()):
                    break
        except subprocess.CalledProcessError as e:
            if tool in OURS:
                raise
            tap.note(f'{name}: {tool}: {e}')  # perf 6.1 dies of some build-ids, on some machines always
            worst.append('it failed')
            continue
        quantity = max(found, key=lambda q: abs(found[q][1] - found[q][0]))
        worst.append((quantity, *found[quantity]))
        if tool == 'run' and truth.blocked:
            worst[-1] = None  # samples CPU time alone
        elif tool in OURS:
            for q, (true, is_said) in found.items():
                bound = allowed(true, said.samples)
                if truth.blocked:
                    bound = BLOCKED
                tap.ok(abs(is_said - true) <= bound, f'{name}: {q}, kin {tool}',
                       f'true {true:.2%}, it says {is_said:.2%}, {said.samples} samples allow {bound:.2%}')
        else:
            tap.note(f'{name}: {tool}: at worst {quantity}: true {found[quantity][0]:.1%}, '
                     f'it says {found[quantity][1]:.1%}')
    return about, worst


def write_table(path, lines):
    def cell(one):
        if not one or isinstance(one, str):
            return one or 'not asked'
        quantity, true, said = one
        return f'{abs(said - true) * 100:.1f} (`{quantity}`: {said:.1%} for {true:.1%})'

    with open(path) as old:
        before, _, rest = old.read().partition('<!-- table -->\n')
    with open(path, 'w') as out:
        out.write(before + '<!-- table -->\n| program | ' + ' | '.join(TOOLS.values()) + ' |\n')
        out.write('|---' * (len(TOOLS) + 1) + '|\n')
        for about, worst in lines:
            out.write(f'| {about} | ' + ' | '.join(map(cell, worst)) + ' |\n')
        out.write(rest[rest.index('<!-- end -->'):])


if __name__ == '__main__':
    main()

"""All views show the same samples: random recordings with random options.

For a part of a recording (--thread, --comm, --object, --event, --time) the functions of flat, graph and report take the same
times, folded stacks have the same sum, and shares are of the same whole. Rows are the same with call chains and without.
Sections (--by) add up to the whole. kin script has the samples that report counts.

    same.py BUILD [SEED]
"""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from subject import Subject
from tap import Tap

ROUNDS, SANITIZED_ROUNDS = 60, 12
FUNCTIONS = ['main', 'f', 'g', 'h', 'ns::k<int>(int)', '[unknown]']
OBJECTS = {'/bin/app': 0x1000, '/lib/libx.so': 0x7f0000, '[kernel.kallsyms]': 0xffffffff81000000}
THREADS = [('app', 1, 1), ('app', 1, 2), ('worker', 1, 3), ('other', 9, 9)]
PARTS = [['--thread', 'app'], ['--thread', 'worker/3'], ['--comm', 'worker'], ['--comm', 'other'], ['--object', 'libx.so'],
         ['--object', '[kernel.kallsyms]'], ['--event', 'cycles'], ['--event', 'faults'], ['--time', '10%-50%'], ['--no-inline']]
ROWS = [['--no-children'], ['--no-inline'], ['--self-physical'], ['--ignore-callees', 'f'], ['--ignore-callees', 'in1'], ['--comms', 'app'],
        ['--dsos', 'libx.so,app'], ['--symbols', 'f'], ['--tid', '2,3'], ['--cpu', '1-3'], ['--time', '10%-50%'], ['-U'],
        ['--percentage', 'relative'], ['--thread', 'app'], ['--object', 'app'], ['--by', 'thread'], ['--min-share', '5'], ['-n'],
        ['-p', 'g|in1'], ['--max-stack', '2']]
SAMPLES = [['--comms', 'app'], ['--comms', 'worker,other'], ['--dsos', 'libx.so,app'], ['--symbols', 'f'], ['--symbols', 'main,g'],
           ['--tid', '2,3'], ['--pid', '1'], ['--cpu', '1-3'], ['--time', '10%-50%'], ['--time', '2.0,4.0'], ['--thread', 'app'],
           ['--comm', 'worker'], ['--object', 'app'], ['--event', 'cycles'], ['--no-inline'], ['--max-stack', '3']]
KEYS = ['comm', 'tid', 'pid', 'cpu', 'dso', 'sym', 'symoff']


def stack(rng):
    """A stack as perf script prints it: innermost first, inlined functions before the function they are in."""
    lines = []
    for _ in range(rng.randrange(8)):
        path, name = rng.choice(['/bin/app', '/bin/app', *OBJECTS]), rng.choice(FUNCTIONS)
        address = OBJECTS[path] + 256 * FUNCTIONS.index(name) + rng.randrange(4)
        if name != '[unknown]':
            lines += [f'\t{address:x} {rng.choice(["in1", "in2", "f"])} (inlined)' for _ in range(rng.choice([0, 0, 0, 1, 2]))]
            name += f'+0x{address % 256:x}'
        lines.append(f'\t{address:x} {name} ({path})')
    return lines


def recording(rng):
    events, samples = rng.choice([['cycles'], ['cycles', 'faults']]), []
    for i in range(rng.randrange(1, 60)):
        comm, pid, tid = rng.choice(THREADS)
        head = f'{comm} {pid}/{tid} [{rng.randrange(4):03}] {1 + i / 10:.6f}: {rng.randrange(1, 1000)} {rng.choice(events)}:'
        samples.append('\n'.join([head, *stack(rng), '', '']))
    return ''.join(samples)


def some(rng, options, chance):
    return [word for option in options if rng.random() < chance for word in option]


class Kin:
    def __init__(self, build, path):
        self.kin, self.path = os.path.join(build, 'kin'), path

    def run(self, *args):
        """(status, output)."""
        env = dict(os.environ, HOME='/nonexistent', LC_ALL='C')
        done = subprocess.run([self.kin, *args, self.path], capture_output=True, text=True, env=env)
        return (done.returncode, done.stdout) if done.returncode in (0, 1, 2) else (done.returncode, done.stderr)

    def table(self, *args):
        """(status, table): of the tables of several events the one of time; else the first one with rows; None if there is none."""
        status, tables = self.tables(*args)
        rank = lambda t: (not t['rows'], t['properties'].get('event') != 'cycles')
        return status, min(tables, key=rank) if tables else None

    def tables(self, *args):
        status, text = self.run(*args, '--format=json')
        found = json.loads(text) if status == 0 and text else []
        return status, found if isinstance(found, list) else [found]


def added(pairs):
    sums = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0) + value
    return {name: value for name, value in sums.items() if value}


def own_of(table):
    """{function: Self}, in the event's unit."""
    rows = [r for r in table['rows'] if r.get('kind') in (None, 'plain', 'function') and r.get('self') is not None]
    name = lambda r: (r['symbol'] if 'symbol' in r else r['name']).split(' <cycle ')[0]
    return added((name(r), r['self_weight'] if 'self_weight' in r else round(r['self'] * table['rate'])) for r in rows)


def parts_differ(kin, rng):
    how = some(rng, PARTS, 0.15)
    (status, flat), (of_graph, graph), (of_report, report) = (kin.table(*words, *how) for words in (
        ['flat'], ['graph'], ['report', '--sort=sym', '-g', 'none']))
    if not status == of_graph == of_report:
        return f'{how}: status {status} of flat, {of_graph} of graph, {of_report} of report'
    if status:  # there is no such part, and a message says so
        return None if status == 2 else f'{how}: status {status}'
    own, named = own_of(flat), own_of(report)
    unplaced = report['properties']['weight'] - sum(own.values())
    named['[unknown]'] = named.get('[unknown]', 0) - unplaced  # samples without a stack, which have no row elsewhere
    named = {name: value for name, value in named.items() if value}
    if not own == own_of(graph) == named:
        return f'{how}: flat {own}, graph {own_of(graph)}, report {named}'
    total = sum(own.values()) + unplaced
    if any(abs(r['share'] * total - r['self'] * flat['rate']) > 1e-6 * total for r in flat['rows']):
        return f'{how}: shares of flat are not of {total}'
    whole = [(r['share'] * total, (r['self'] + r['children']) * graph['rate']) for r in graph['rows'] if r['kind'] == 'function']
    if any(abs(share - time) > 1e-6 * total for share, time in whole):
        return f'{how}: shares of graph are not of {total}'
    status, text = kin.run('export', '--to=folded', *how)
    folded = sum(int(line.rsplit(' ', 1)[1]) for line in text.splitlines()) if not status else 0
    return None if folded == total else f'{how}: {folded} in folded stacks, {total} elsewhere'


def rows_of(text, columns=None):
    """(rows of all tables, their columns): without chains, which add columns of their own."""
    rows, heads = [], []
    for row in csv.reader(io.StringIO(text)):
        if 'self_weight' in row:
            heads, columns = row, columns or row
        elif row and (heads[0] != 'kind' or row[0] == 'plain'):
            rows.append(tuple(dict(zip(heads, row))[c] for c in columns))
    return sorted(rows), columns


def rows_differ(kin, rng):
    """Which end of a stack is looked at is a choice with chains: by default the outer one, with Self alone the inner one."""
    how = some(rng, ROWS, 0.1) + (['-s', ','.join(rng.sample(KEYS, rng.randrange(1, 4)))] if rng.random() < 0.6 else [])
    order = 'callee' if '--no-children' in how else 'caller'
    alone, chains = (kin.run('report', *how, '--format=csv', '-g', g) for g in ('none', order))
    if alone[0] or chains[0]:
        return None if alone[0] == chains[0] == 2 else f'{how}: status {alone[0]} and {chains[0]}'
    rows, columns = rows_of(alone[1])
    other, _ = rows_of(chains[1], columns)
    return None if rows == other else f'{how}: {set(rows) - set(other)} without chains, {set(other) - set(rows)} with them'


def sections_differ(kin, rng):
    report = rng.choice([['flat'], ['graph'], ['lines'], ['report', '--sort=sym', '-g', 'none']])
    by = rng.choice(['thread', 'process', 'object'])
    (status, whole), (of_sections, sections) = kin.table(*report), kin.table(*report, f'--by={by}')
    if status or of_sections:
        return f'{report} by {by}: status {status} and {of_sections}'
    return None if own_of(whole) == own_of(sections) else f'{report} by {by}: {own_of(sections)}, not {own_of(whole)}'


def samples_differ(kin, rng):
    how = some(rng, SAMPLES, 0.12)
    (status, text), (of_report, tables) = kin.run('script', '--format=json', *how), kin.tables('report', '-s', 'sym', '-g', 'none', *how)
    counted = {t['properties']['event']: own_of(t) for t in tables if own_of(t)}
    if status:  # there is no such part, or nothing is left of it
        return None if status == of_report or not counted else f'{how}: status {status}, {of_report} of report'
    printed = {}
    for s in json.loads(text)['samples']:
        frame = s['frames'][0] if s['frames'] else {'sym': '[unknown]'}
        name = (frame['sym'] or '[unknown]') + ' (inlined)' * bool(frame.get('inlined'))
        printed.setdefault(s['event'], []).append((name, s['period']))
    printed = {event: added(pairs) for event, pairs in printed.items()}
    return None if printed == counted else f'{how}: script {printed}, report {counted}'


def main():
    build, tap = os.path.abspath(sys.argv[1]), Tap()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rounds = SANITIZED_ROUNDS if Subject(os.path.join(build, 'kin')).is_sanitized else ROUNDS
    with tempfile.TemporaryDirectory(prefix='kin-same-') as folder:
        kin = Kin(build, os.path.join(folder, 'random.script'))
        for what, differ in (('parts of recordings', parts_differ), ('rows with chains and without', rows_differ),
                             ('sections', sections_differ), ('samples', samples_differ)):
            wrong = []
            for n in range(rounds):
                rng = random.Random(f'{seed} {n} {what}')
                with open(kin.path, 'w') as f:
                    f.write(recording(rng))
                if why := differ(kin, rng):
                    kept = os.path.join(tempfile.gettempdir(), 'kin-same.script')
                    shutil.copy(kin.path, kept)
                    wrong.append(f'{why}; the data is in {kept}')
            tap.ok(not wrong, f'{what}: {rounds} at random', wrong[0] if wrong else '')
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

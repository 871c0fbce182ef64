"""Reports agree: Self and Children of a function are the same in flat, graph, report, on the page and in folded stacks,
with functions inlined expanded and folded. For random stacks, and for a program recorded here.

    agree.py BUILD [SEED]
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from pages import unpack
from tap import Tap

ROUNDS = 30
NAMES = ['main', 'f', 'g', 'h', 'i', 'j']
MARK = ' (inlined)'

# Each always inlined function is the same work in two callers.
PROGRAM = '''
volatile unsigned long x;
static inline __attribute__((always_inline)) void inner(int n) { for (int i = 0; i < n; i++) x = x * 3 + 1; }
static inline __attribute__((always_inline)) void outer(int n) { inner(n); for (int i = 0; i < n; i++) x ^= x >> 3; }
__attribute__((noinline)) void one(void) { outer(20000); x++; }
__attribute__((noinline)) void two(int n) { inner(9000); if (n) two(n - 1); x++; }
int main(void) { for (int i = 0; i < 5000; i++) { one(); two(3); } return 0; }
'''
FUNCTIONS = ['main', 'one', 'two', 'inner', 'outer']


class Kin:
    def __init__(self, build, data):
        self.kin, self.data = os.path.join(build, 'kin'), data

    def text(self, *args):
        env = dict(os.environ, HOME='/nonexistent', LC_ALL='C')
        made = subprocess.run([self.kin, *args, self.data], capture_output=True, text=True, env=env, check=True)
        return made.stdout

    def rows(self, *args):
        """And what their times are to be multiplied by."""
        table = json.loads(self.text(*args, '--format=json'))
        return table['rows'], table['rate']


def plain(name):
    return name[:-len(MARK)] if name.endswith(MARK) else name


def flat(kin, how):
    rows, rate = kin.rows('flat', *how)
    return [(r['name'], r['self'] * rate, r['inclusive'] * rate) for r in rows]


def graph(kin, how):
    rows, rate = kin.rows('graph', *how)
    return [(r['name'].split(' <cycle ')[0], r['self'] * rate, (r['self'] + r['children']) * rate)
            for r in rows if r['kind'] == 'function']


def report(kin, how):
    rows, _ = kin.rows('report', '--sort=sym', '-g', 'none', *how)
    return [(r['symbol'], r['self_weight'], r['children_weight']) for r in rows]


def page(kin, how):
    """Sums over the page's nodes and samples, and what functions lose with nodes that are left out."""
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


def sums_of(rows, names):
    """No other function has one of the names."""
    sums = {}
    for name, own, below in rows:
        if plain(name) in names:
            assert plain(name) not in sums, name
            sums[plain(name)] = (round(own), round(below))
    return sums


def folded(kin, how):
    own, below = {}, {}
    for line in kin.text('script', '--folded', '--no-comm', *how).splitlines():
        path, count = line.rsplit(' ', 1)
        names = path.split(';')
        own[names[-1]] = own.get(names[-1], 0) + int(count)
        for name in set(names):
            below[name] = below.get(name, 0) + int(count)
    return {name: (own.get(name, 0), below[name]) for name in below}


def disagreement(kin, how, names):
    """The first report and function that differ from folded stacks; None: they agree."""
    want = folded(kin, how)
    for make in (flat, graph, report, page):
        got = sums_of(make(kin, how), names)
        for name in names:
            if got.get(name, (0, 0)) != want.get(name, (0, 0)):
                return f'{make.__name__} {" ".join(how)}: {name}: {got.get(name)}, not {want.get(name)}'
    return None


def random_stacks(rng):
    """Which functions are inlined is by name: else one name would be two things."""
    inlined = set(rng.sample(NAMES[1:], rng.randrange(4)))
    lines = []
    for _ in range(rng.randrange(1, 40)):
        path = ['main'] + [rng.choice(NAMES) for _ in range(rng.randrange(1, 10))]
        lines.append(';'.join(n + '_[i]' * (n in inlined) for n in path) + f' {rng.randrange(1, 50)}\n')
    return ''.join(lines)


def check_random(tap, build, folder, seed):
    for how in ([], ['--no-inline']):
        rng, wrong = random.Random(seed), []
        for _ in range(ROUNDS):
            path = os.path.join(folder, 'random.folded')
            with open(path, 'w', encoding='ascii') as f:
                f.write(random_stacks(rng))
            why = disagreement(Kin(build, path), how, NAMES)
            if why:
                with open(path, encoding='ascii') as f:
                    wrong.append(why + '\n' + f.read())
        tap.ok(not wrong, f'random stacks {" ".join(how)}', wrong[0] if wrong else '')


def record(build, folder):
    """A program whose functions were inlined; None: nothing can be recorded here."""
    source, program = os.path.join(folder, 'p.c'), os.path.join(folder, 'p')
    data = os.path.join(folder, 'p.kin')
    with open(source, 'w', encoding='ascii') as f:
        f.write(PROGRAM)
    if not shutil.which('cc'):
        return None
    subprocess.run(['cc', '-O1', '-g', '-o', program, source], check=True)
    subprocess.run([os.path.join(build, 'kin'), 'record', '-o', data, program], capture_output=True, check=False)
    return data if os.path.exists(data) else None


def check_recorded(tap, build, folder):
    data = record(build, folder)
    if not data:
        tap.skip('inlined functions of a recording', 'nothing can be recorded here')
        return
    kin = Kin(build, data)
    for how in ([], ['--no-inline']):
        why = disagreement(kin, how, FUNCTIONS)
        tap.ok(not why, f'a recording {" ".join(how)}', why or '')
    inlined = [name for name, _, _ in flat(kin, []) if name.endswith(MARK)]
    tap.ok('inner' + MARK in inlined and 'outer' + MARK in inlined, 'inlined functions have rows', str(inlined))
    tap.ok(not any(MARK in name for name, _, _ in flat(kin, ['--no-inline'])), '--no-inline has none')
    found = subprocess.run([kin.kin, 'graph', 'inner', data], capture_output=True, text=True, check=False)
    tap.ok('inner' + MARK in found.stdout, 'graph finds one by name', found.stdout + found.stderr)


# mid() is inlined in two functions, of which one calls leaf() itself, too.
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


def check_counted(tap, build, folder):
    """Calls are counted where they are made: in code that was inlined by the function inlined."""
    source, program, data = (os.path.join(folder, name) for name in ('calls.c', 'calls', 'calls.kin'))
    with open(source, 'w', encoding='ascii') as f:
        f.write(CALLS)
    if not shutil.which('cc'):
        tap.skip('calls of inlined functions', 'no compiler')
        return
    subprocess.run(['cc', '-O1', '-g', '-pg', '-o', program, source], check=True)
    subprocess.run([os.path.join(build, 'kin'), 'run', '-o', data, program], capture_output=True, check=True,
                   cwd=folder)
    kin = Kin(build, data)
    expanded, folded_in = callers_of_leaf(kin, []), callers_of_leaf(kin, ['--no-inline'])
    tap.ok(expanded == {'mid' + MARK: 12000, 'two': 3000}, 'counted calls of inlined functions', str(expanded))
    tap.ok(folded_in == {'one': 6000, 'two': 9000}, 'counted calls with --no-inline', str(folded_in))


def main():
    build, tap = os.path.abspath(sys.argv[1]), Tap()
    with tempfile.TemporaryDirectory(prefix='kin-agree-') as folder:
        check_random(tap, build, folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        check_recorded(tap, build, folder)
        check_counted(tap, build, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

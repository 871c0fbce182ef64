"""How often the intervals of kin compare and kin diff contain the truth, and how often equal
programs give an alarm.

    intervals.py BUILD [--pairs N] [--real N] [--table FILE] [--keep DIR]

A comparison is of sets of runs of a program of fifteen functions, 1 : 2 : ... : 15; on the side
after, the last one takes 0, 2, 5 or 10 % more. Its truth is known. Made-up runs are drawn from models
of machines (MACHINES): each function's samples are a binomial draw from its time at the machine's speed
of that moment. With --real N, kin compare records known.c in turns on this machine, N pairs of each,
and stretches of consecutive pairs are compared.
Everything goes through kin diff, as users do. --table puts the result between the marks in FILE.
"""
import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARES = [n / 120 for n in range(1, 16)]
LARGE = {f'f{n}' for n in range(6, 16)}  # 5 % of the time, or more
SAMPLES = 1000
EFFECTS = [0, 2, 5, 10]

# Of a run: noise of its own; of the machine between two runs: a random walk, a slope, or a step to another
# speed, so often.
MACHINES = {
    'quiet: runs differ by 0.5 %': dict(runs=0.005),
    'busy: by 3 %': dict(runs=0.03),
    'drifting: 1 %, and a walk of 1 % a run': dict(runs=0.01, walk=0.01),
    'warming up: 1 %, and 0.5 % slower each run': dict(runs=0.01, slope=0.005),
    'two speeds: 1 %, and 20 % slower for some ten runs': dict(runs=0.01, step=0.2),
}
BETWEEN = 'before first, then after, on the drifting machine'


def walk(model, n):
    """The machine's speed at n runs, one after the other."""
    level, slow = 0.0, False
    for i in range(n):
        level += random.gauss(0, model.get('walk', 0)) + model.get('slope', 0)
        if model.get('step') and random.random() < 0.1:
            slow = not slow
        yield math.exp(level + random.gauss(0, model['runs']) + (math.log(1 + model['step']) if slow else 0))


def draw(speed, percent):
    """Samples of each function in a run: as many as its time has, at the places of chance."""
    costs = SHARES[:-1] + [SHARES[-1] * (1 + percent / 100)]
    total = int(SAMPLES * speed * sum(costs) + random.random())
    counts, left, cost = [], total, sum(costs)
    for c in costs:
        p = min(1, c / cost) if cost > 0 else 0
        n = sum(random.random() < p for _ in range(left))
        counts.append(n)
        left -= n
        cost -= c
    return counts


def write(path, counts):
    with open(path, 'w') as f:
        f.writelines(f'p;main;f{i} {n}\n' for i, n in enumerate(counts, 1) if n)


def made_up(folder, model, runs, percent, in_turns):
    """Two folders of recordings, made in the order A B B A ..., or all of one side first."""
    order = [(i, (i % 2) ^ turn) for i in range(runs) for turn in (0, 1)]
    if not in_turns:
        order = [(i, side) for side in (0, 1) for i in range(runs)]
    for side in ('before', 'after'):
        os.mkdir(os.path.join(folder, side))
    for (i, side), speed in zip(order, walk(model, len(order))):
        write(os.path.join(folder, ('before', 'after')[side], f'{i:04}'), draw(speed, percent if side else 0))


def compare(kin, folder, *options):
    done = subprocess.run([kin, 'diff', '--all', '--format=json', '--columns=name,relative,low,high,p', *options,
                           os.path.join(folder, 'before'), os.path.join(folder, 'after')], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_in(row, growth):
    return row['low'] <= growth and (row['high'] is None or growth <= row['high'])


class Score:
    def __init__(self):
        self.held = {'total': [0, 0], 'large': [0, 0], 'small': [0, 0]}
        self.alarms = [0, 0]     # functions of equal programs whose interval leaves out 0
        self.any = [0, 0]        # comparisons of equal programs in which kin shows some function
        self.pairs = 0

    def count(self, what, hit):
        what[0] += hit
        what[1] += 1

    def add(self, result, percent):
        truth = percent / 100
        p = result['properties']
        if 'total_chance' in p:
            total = {'low': p['certain_growth'], 'high': p['possible_growth']}
            self.count(self.held['total'], is_in(total, truth * SHARES[-1]))
        self.pairs += 1
        shown = False
        for row in result['rows']:
            if row['name'] not in {f'f{n}' for n in range(1, 16)}:
                shown = shown or row['p'] <= 0.05
                continue
            of = truth if row['name'] == 'f15' else 0
            if row['low'] is not None:
                self.count(self.held['large' if row['name'] in LARGE else 'small'], is_in(row, of))
            if not percent:
                self.count(self.alarms, row['low'] is not None and not is_in(row, 0))
            shown = shown or row['p'] <= 0.05
        if not percent:
            self.count(self.any, shown)

    def row(self, name):
        def share(x):
            return f'{100 * x[0] / x[1]:.1f}' if x[1] else ''
        return f'| {name} | {self.pairs} | ' + ' | '.join(
            [share(self.held[k]) for k in ('total', 'large', 'small')] + [share(self.alarms), share(self.any)]) + ' |'


def simulate(kin, model, runs, pairs, in_turns=True):
    score = Score()
    for i in range(pairs):
        percent = EFFECTS[i % len(EFFECTS)] if i % 2 else 0
        with tempfile.TemporaryDirectory() as folder:
            made_up(folder, model, runs, percent, in_turns)
            score.add(compare(kin, folder, *(['--paired'] if in_turns else [])), percent)
    return score


def record(kin, program, folder, percent, pairs):
    if not os.path.isdir(folder):
        subprocess.run(['nice', '-n', '10', kin, 'compare', '-r', str(pairs), '--frequency=4999', '-o', folder, '--format=csv',
                        program, '0', '--', program, str(percent)], check=True, stdout=subprocess.DEVNULL)


def stretches(kin, folder, percent, runs, score):
    """Each stretch of so many pairs that follow upon each other is a comparison."""
    names = sorted(os.listdir(os.path.join(folder, 'before')))
    for at in range(0, len(names) - runs + 1, runs):
        with tempfile.TemporaryDirectory() as part:
            for side in ('before', 'after'):
                os.mkdir(os.path.join(part, side))
                for name in names[at:at + runs]:
                    shutil.copy(os.path.join(folder, side, name), os.path.join(part, side, name))
            score.add(compare(kin, part, '--no-inline'), percent)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('--pairs', type=int, default=300)
    parser.add_argument('--real', type=int, default=0)
    parser.add_argument('--table')
    parser.add_argument('--keep')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    kin = os.path.abspath(os.path.join(args.build, 'kin'))
    lines = ['| machine | comparisons | total | functions >= 5 % | smaller | a function, equal | any, equal |',
             '|---|---|---|---|---|---|---|']
    drifting = list(MACHINES.values())[2]
    made = [(name, model, 10, True) for name, model in MACHINES.items()]
    made += [('drifting, 4 pairs of runs instead of 10', drifting, 4, True), (BETWEEN, drifting, 10, False)]
    for name, model, runs, in_turns in made if args.pairs else []:
        lines.append(simulate(kin, model, runs, args.pairs, in_turns).row(name))
        print(lines[-1], flush=True)
    if args.real:
        folder = args.keep or tempfile.mkdtemp()
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(folder, 'known')
        if not os.path.exists(program):  # kept recordings are of this program
            subprocess.run(['gcc', '-O2', '-g', '-o', program, os.path.join(HERE, 'known.c')], check=True)
        for runs in (5, 10):
            score = Score()
            for percent in (0, 5):
                data = os.path.join(folder, f'by{percent}')
                record(kin, program, data, percent, args.real)
                stretches(kin, data, percent, runs, score)
            lines.append(score.row(f'recorded here, {runs} pairs of runs'))
            print(lines[-1], flush=True)
        if not args.keep:
            shutil.rmtree(folder)
    if args.table:
        text = open(args.table).read()
        head, rest = text.split('<!-- intervals -->\n', 1)
        tail = rest.split('<!-- end of intervals -->', 1)[1]
        open(args.table, 'w').write(f'{head}<!-- intervals -->\n' + '\n'.join(lines) + f'\n<!-- end of intervals -->{tail}')


if __name__ == '__main__':
    sys.exit(main())

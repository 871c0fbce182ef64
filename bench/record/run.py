"""kin record next to perf record: what recording costs the program and the machine, and what it is worth.

    run.sh BUILD record [quick|full]

What is compared takes turns, so that a busy machine slows all of it; ratios are of neighbours. The program
reports its own CPU time. Prints a Markdown table.
"""
import argparse
import bisect
import datetime
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

HZ = 999
OFTEN_HZ = 9990 # the cost of samples then stands out from other changes of the program's speed
SETTLING = .3 # seconds until a recorder is at work, or is gone for good
PERFS = {'bare': [], 'fp': ['--call-graph', 'fp'], 'dwarf': ['--call-graph', 'dwarf']}


def run(command, folder, tries=5):
    """(elapsed, CPU seconds of all, standard output, standard error). perf 6.1 dies now and then of a build-id."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    env = {**os.environ, 'HOME': folder}
    p = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)
    elapsed = time.monotonic() - start
    if p.returncode < 0 and command[0] == 'perf' and tries:
        return run(command, folder, tries - 1)
    if p.returncode:
        sys.exit(f'{command}: {p.returncode} {p.stderr[-500:]}')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, p.stdout, p.stderr


def own_seconds(out):
    """The CPU time that the program prints."""
    return float(out.split()[0])


def build(folder):
    """[(language, path)], optimised and without frame pointers, as compilers do it unasked."""
    made = []
    for language, words in (('C', ['gcc', '-O2', 'work.c']), ('C++', ['g++', '-O2', '-std=c++17', 'work.cc']),
                            ('Rust', ['rustc', '-O', 'work.rs'])):
        path = os.path.join(folder, 'work-' + language.lower())
        if shutil.which(words[0]):
            subprocess.run([*words, '-o', path], cwd=HERE, check=True, capture_output=True)
            made.append((language, path))
    return made


def median_round(ends, start, end):
    """Seconds that a round took between these times."""
    inside = ends[bisect.bisect(ends, start):bisect.bisect(ends, end)]
    return statistics.median(b - a for a, b in zip(inside, inside[1:]))


def rounds_for(path, folder, seconds):
    """How many rounds of the program take so long."""
    took = own_seconds(run([path, '20'], folder)[2]) / 20
    return str(max(1, round(seconds / took)))


def shown(found, form, scale, unit):
    """Of {who: ascending numbers}: the medians, and these as text with the middle half."""
    mid, text = {}, {}
    for k, numbers in found.items():
        quarter = len(numbers) // 4
        mid[k] = statistics.median(numbers) * scale
        low, high = numbers[quarter] * scale, numbers[-1 - quarter] * scale
        text[k] = f'{form.format(mid[k])}{unit} ({form.format(low)} to {form.format(high)})'
    return mid, text


class Table:
    def __init__(self):
        self.lines = []

    def add(self, what, kin, goal='', met=None, **peers):
        cells = [what, kin, *(peers.get(how, '') for how in PERFS), goal, '' if met is None else 'yes' if met else '**no**']
        self.lines.append('| ' + ' | '.join(cells) + ' |')
        print('  ' + self.lines[-1], file=sys.stderr, flush=True)


class Bench:
    def __init__(self, kin, folder, full):
        self.folder, self.full, self.table = folder, full, Table()
        record = ['record', '-q', '-F', str(HZ)]
        self.kin = [kin, *record, '-o', 'k.kin', '--']
        self.kin_says = [kin, 'record', '-F', str(HZ), '-o', 'k.kin', '--']
        self.perfs = {}
        if shutil.which('perf'):
            for how, words in PERFS.items():
                self.perfs[how] = ['perf', *record, *words, '-o', f'{how}.data', '--']

    def turns(self, target, n, value):
        """{who: [value(run(...))]}: nobody, kin, and each way of perf, n times in turn."""
        who = {'nobody': [], 'kin': self.kin, **self.perfs}
        found = {name: [] for name in who}
        for _ in range(n):
            for name, prefix in who.items():
                found[name].append(value(run(prefix + target, self.folder)))
        return found

    def start(self):
        """Start and end alone: `true` has nothing to record."""
        found = self.turns(['true'], 40 if self.full else 15, lambda r: r[0])
        more = {k: statistics.median(a - b for a, b in zip(v, found['nobody'])) * 1e3 for k, v in found.items()}
        self.table.add('start and end, elapsed', f'{more["kin"]:.1f} ms', '≤ 30 ms', more['kin'] <= 30,
                       **{k: f'{more[k]:.0f} ms' for k in self.perfs})

    def recorders(self, pid, seconds, hz):
        """{who: a command that records the process for so long}"""
        of = ['record', '-q', '-F', str(hz), '-p', str(pid)]
        commands = {'kin': [self.kin[0], *of, '--duration', str(seconds), '-o', 'k.kin']}
        for how in self.perfs:
            commands[how] = ['perf', *of, *PERFS[how], '-o', f'{how}.data', '--', 'sleep', str(seconds)]
        return commands

    def slower(self, path, hz, n):
        """{who: [by which part a round takes longer while it is recorded], ascending}. One process, recorded and not
        by turns: two processes differ by more than recorders cost, as their memory lies elsewhere."""
        seconds, turns = 1.0, []
        with open(os.path.join(self.folder, 'rounds'), 'w+', encoding='ascii') as stamps:
            program = subprocess.Popen([path, '1000000000', 'each'], stdout=stamps)
            time.sleep(2 * seconds)
            for _ in range(n):
                for k, command in self.recorders(program.pid, seconds, hz).items():
                    start = time.monotonic()
                    run(command, self.folder)
                    turns.append((k, start, time.monotonic()))
                    time.sleep(seconds)
            time.sleep(5) # until the last stamps are written out
            program.kill()
            program.wait()
            stamps.seek(0)
            ends = [float(line) for line in stamps.read().splitlines()[:-1]]
        found = {k: [] for k in self.recorders(0, 0, 0)}
        for k, start, end in turns:
            recorded = median_round(ends, start + SETTLING, start + seconds)
            plain = [median_round(ends, start - seconds + SETTLING, start), median_round(ends, end + SETTLING, end + seconds)]
            found[k].append(recorded / statistics.mean(plain) - 1)
        return {k: sorted(ratios) for k, ratios in found.items()}

    def slowdown(self, language, path):
        """Two rows: the slowdown at HZ, and the cost of a sample, from ten times as many samples."""
        found = self.slower(path, HZ, 12 if self.full else 5)
        mid, text = shown(found, '{:+.1f}', 100, ' %')
        self.table.add(f'slower, {HZ} Hz, {language}: median and middle half', text['kin'], '≤ 1.5 %', mid['kin'] <= 1.5,
                       **{k: text[k] for k in self.perfs})
        found = self.slower(path, OFTEN_HZ, 12 if self.full else 5)
        mid, text = shown(found, '{:.1f}', 1e6 / OFTEN_HZ, ' µs')
        goal = {'goal': "no more than perf's with as whole stacks", 'met': mid['kin'] <= mid['dwarf']} if self.perfs else {}
        self.table.add(f'a sample costs the program, {language}: median and middle half', text['kin'],
                       **goal, **{k: text[k] for k in self.perfs})

    def long(self, language, path):
        """The cost of a sample to each recorder, from one longer run."""
        rounds = rounds_for(path, self.folder, 12 if self.full else 5)
        found = {'cost': [], 'size': [], 'complete': [], 'sampled': []}
        peers = {k: {'cost': [], 'size': []} for k in self.perfs}
        for _ in range(3):
            _, cpu, out, said = run(self.kin_says + [path, rounds], self.folder)
            n = int(re.search(r'(\d+) samples', said)[1])
            found['cost'].append((cpu - own_seconds(out)) / n * 1e6)
            found['size'].append(os.path.getsize(os.path.join(self.folder, 'k.kin')) / n)
            found['complete'].append(float(re.search(r'stacks: ([\d.]+) % complete', said)[1]))
            found['sampled'].append(float(re.search(r'sampled [\d.]+ s \(([\d.]+) %\)', said)[1]))
            for k, prefix in self.perfs.items():
                _, cpu, out, _ = run(prefix + [path, rounds], self.folder)
                n = own_seconds(out) * HZ
                peers[k]['cost'].append((cpu - own_seconds(out)) / n * 1e6)
                peers[k]['size'].append(os.path.getsize(os.path.join(self.folder, f'{k}.data')) / n)
        mid = {k: statistics.median(v) for k, v in found.items()}
        theirs = {k: {x: statistics.median(v) for x, v in d.items()} for k, d in peers.items()}
        self.table.add(f'recorder, CPU per sample, {language}', f'{mid["cost"]:.1f} µs', '≤ 5 µs', mid['cost'] <= 5,
                       **{k: f'{v["cost"]:.0f} µs' for k, v in theirs.items()})
        self.table.add(f'file per sample, {language}', f'{mid["size"]:.0f} B', '≤ 250 B', mid['size'] <= 250,
                       **{k: f'{v["size"]:.0f} B' for k, v in theirs.items()})
        self.table.add(f'stacks complete, {language}', f'{mid["complete"]:.1f} %', '≥ 98 %', mid['complete'] >= 98)
        self.table.add(f'CPU time sampled, {language}', f'{mid["sampled"]:.1f} %')


    def further(self, language, path):
        """The recorder's CPU time for a further sample: a run and one four times as long have the same start and end."""
        times = {k: [] for k in self.often()}
        short, long = (rounds_for(path, self.folder, s) for s in (1, 4))
        for _ in range(9 if self.full else 5):
            for k, prefix in self.often().items():
                took = []
                for rounds in (short, long):
                    _, cpu, out, _ = run(prefix + [path, rounds], self.folder)
                    took.append((cpu - own_seconds(out), own_seconds(out) * OFTEN_HZ))
                times[k].append((took[1][0] - took[0][0]) / (took[1][1] - took[0][1]))
        mid, text = shown({k: sorted(v) for k, v in times.items()}, '{:.2f}', 1e6, ' µs')
        self.table.add(f'recorder, CPU per further sample, {language}: median and middle half', text['kin'], '≤ 0.4 µs',
                       mid['kin'] <= .4, **{k: text[k] for k in self.perfs})

    def often(self):
        """{who: the command that samples OFTEN_HZ times}"""
        who = {'kin': self.kin, **self.perfs}
        return {k: [str(OFTEN_HZ) if word == str(HZ) else word for word in words] for k, words in who.items()}

    def flood(self):
        """A flood of events, each a sample: the part of them that is in the recording."""
        n, path = 100000, os.path.join(self.folder, 'flood')
        subprocess.run(['gcc', '-O2', '-o', path, 'flood.c'], cwd=HERE, check=True)
        event, found = ['-e', 'page-faults', '-c', '1'], {'kin': [], **{k: [] for k in self.perfs}}
        for _ in range(5):
            said = run([self.kin_says[0], 'record', *event, '-o', 'k.kin', '--', path, str(n)], self.folder)[3]
            found['kin'].append(int(re.search(r'(\d+) samples', said)[1]) / n)
            for k in self.perfs:
                run(['perf', 'record', '-q', *event, *PERFS[k], '-o', f'{k}.data', '--', path, str(n)], self.folder)
                said = run(['perf', 'report', '--stats', '-i', f'{k}.data'], self.folder)[2]
                found[k].append(int(re.search(r' SAMPLE events: +(\d+)', said)[1]) / n)
        mid, text = shown({k: sorted(min(x, 1) for x in v) for k, v in found.items()}, '{:.0f}', 100, ' %')
        goal = {'goal': "no fewer than perf's with as whole stacks", 'met': mid['kin'] >= mid['dwarf']} if self.perfs else {}
        self.table.add('kept of 100,000 page faults in a row, each sampled', text['kin'], **goal, **{k: text[k] for k in self.perfs})

    def threads(self):
        """Five hundred threads, sampled ten times as often: their CPU time divided by that of neighbouring runs without a recorder."""
        path = os.path.join(self.folder, 'threads')
        subprocess.run(['gcc', '-O2', '-o', path, 'threads.c', '-pthread'], cwd=HERE, check=True)
        target, found = [path, '500', '10'], {k: [] for k in self.often()}
        for _ in range(9 if self.full else 5):
            for k, prefix in self.often().items():
                alone = own_seconds(run(target, self.folder)[2])
                found[k].append(own_seconds(run(prefix + target, self.folder)[2]) / alone - 1)
        mid, text = shown({k: sorted(v) for k, v in found.items()}, '{:+.0f}', 100, ' %')
        goal = {'goal': "no more than perf's with frame pointers", 'met': mid['kin'] <= mid['fp']} if self.perfs else {}
        self.table.add(f'slower, {OFTEN_HZ} Hz, 500 threads: median and middle half', text['kin'], **goal,
                       **{k: text[k] for k in self.perfs})


def markdown(table, intro):
    head = ('what', 'kin record', 'perf record, no stacks', 'frame pointers', 'DWARF', 'goal', 'met')
    return '\n'.join([intro, '', '| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head), *table.lines, ''])


def main():
    p = argparse.ArgumentParser(prog='bench/run.sh BUILD record', description=__doc__)
    p.add_argument('build')
    p.add_argument('how', nargs='?', choices=('quick', 'full'), default='quick')
    a = p.parse_args()
    intro = f'{datetime.date.today()}: {os.cpu_count()} cores, load average at the start {os.getloadavg()[0]:.1f}; '
    if shutil.which('perf'):
        intro += 'peer: ' + subprocess.run(['perf', '--version'], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix='kin-bench-') as folder:
        bench = Bench(os.path.join(os.path.abspath(a.build), 'kin'), folder, a.how == 'full')
        programs = build(folder)
        for _, path in programs: # makes the caches, which are made once per user and boot
            run(bench.kin + [path, '1'], folder)
        bench.start()
        for language, path in programs:
            bench.slowdown(language, path)
        bench.threads()
        bench.flood()
        for language, path in programs:
            bench.long(language, path)
            bench.further(language, path)
        if 'Rust' not in [l for l, _ in programs]:
            intro += '; no rustc here: no Rust'
    print(markdown(bench.table, intro + '.'))


if __name__ == '__main__':
    main()

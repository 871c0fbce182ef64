"""kin record next to perf record: what recording costs the program and the machine, in one run.

    run.py BUILD [ROUNDS [RUNS]]

All variants take turns, RUNS times; figures are medians, of CPU seconds. "slower" is the program's own
CPU time next to that without a recorder; "recorder" the recorder's own CPU time, its start included.
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def variants(kin):
    result = [('no recorder', [], None)]
    for hz in (999, 9999):
        result.append((f'kin, {hz} Hz', [kin, 'record', '-F', str(hz), '-o', 'k.kin'], 'k.kin'))
        result.append((f'kin -g fp, {hz} Hz', [kin, 'record', '-g', 'fp', '-F', str(hz), '-o', 'f.kin'], 'f.kin'))
        if shutil.which('perf'):
            perf = ['perf', 'record', '-q', '-e', 'task-clock', '-F', str(hz)]
            result.append((f'perf fp, {hz} Hz', perf + ['--call-graph', 'fp', '-o', 'p.data'], 'p.data'))
            result.append((f'perf dwarf, {hz} Hz', perf + ['--call-graph', 'dwarf', '-o', 'd.data'], 'd.data'))
    return result


def run(command, target, folder):
    """(the program's CPU seconds, the recorder's, what the recorder said)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, 'HOME': folder}
    p = subprocess.run(command + target, cwd=folder, capture_output=True, text=True, check=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = float(p.stdout.split()[0])
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return own, max(total - own, 0), p.stderr


def samples(path, folder, said, own, hz):
    found = re.search(r'(\d+) samples', said)
    return int(found[1]) if found else round(own * hz)


def main():
    build = sys.argv[1]
    rounds = sys.argv[2] if len(sys.argv) > 2 else '60'
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    kin = os.path.join(os.path.abspath(build), 'kin')
    with tempfile.TemporaryDirectory(prefix='kin-bench-') as folder:
        work = os.path.join(folder, 'work')
        subprocess.run(['g++', '-O2', '-std=c++17', '-fno-omit-frame-pointer', '-o', work,
                        os.path.join(HERE, 'work.cc')], check=True)
        seen = {name: [] for name, _, _ in variants(kin)}
        for _ in range(runs):
            for name, command, path in variants(kin):
                own, recorder, said = run(command, [work, rounds], folder)
                size = os.path.getsize(os.path.join(folder, path)) if path else 0
                seen[name].append((own, recorder, said, size))
        base = statistics.median(r[0] for r in seen['no recorder'])
        print('| recorder | program, CPU s | slower | B/sample | recorder, us/sample | complete |')
        print('|---|---|---|---|---|---|')
        for name, _, path in variants(kin):
            own = statistics.median(r[0] for r in seen[name])
            if not path:
                print(f'| {name} | {own:.2f} | | | | |')
                continue
            hz = int(re.search(r'(\d+) Hz', name)[1])
            n = statistics.median(samples(path, folder, r[2], r[0], hz) for r in seen[name])
            size = statistics.median(r[3] for r in seen[name])
            cost = statistics.median(r[1] for r in seen[name])
            complete = re.search(r'stacks: ([\d.]+ %) complete', seen[name][-1][2])
            print(f'| {name} | {own:.2f} | {100 * (own / base - 1):+.1f} % | {size / n:.0f} | {1e6 * cost / n:.1f} | '
                  f'{complete[1] if complete else ""} |')


if __name__ == '__main__':
    main()

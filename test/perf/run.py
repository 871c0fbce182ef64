#!/usr/bin/env python3
"""perf report's output, byte for byte, on made-up recordings.

    run.py KIN [SET...]

cases/ holds inputs, a generator that makes perf.data files of them, and what perf 6.1 printed for each
set of options; cumulate is the machine and the samples of perf's own test of Children. kin reads the generated perf.data, and also perf
script's text of the same samples; live.py adds recordings made here, made.py such as only other
machines make, seeds.py random ones with random options,
facts.py what perf is no measure of,
commands.py all commands on recordings with every kind of record. Comment lines are compared, too, but for perf's tips, which are not
in the files. What is different on purpose is in KNOWN, with the lines that must be there instead.
"""
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import commands
import facts
import fields
import live
import made
import seeds
from tap import Tap

SETS = {
    'default': [],
    'nochildren': ['--no-children'],
    'callee': ['-g', 'callee'],
    'caller_nochildren': ['--no-children', '-G'],
    'gnone': ['-g', 'none'],
    'flat': ['--no-children', '-g', 'flat,count'],
    'folded': ['--no-children', '-g', 'folded,count'],
    'folded_caller': ['--no-children', '-g', 'folded,0.5,caller,period'],
    'fractal': ['-g', 'fractal,callee'],
    'hier': ['--no-children', '--hierarchy', '-g', 'none'],
    'comm': ['-s', 'comm', '-g', 'none'],
    'dso': ['-s', 'dso', '-g', 'none'],
    'sym': ['-s', 'sym'],
    'sym_gnone': ['-s', 'sym', '-g', 'none'],
    'group': ['--group', '-g', 'none'],
    'tsv': ['-t', '|', '-n', '--show-total-period', '-g', 'none'],
    'S_main': ['-S', 'main', '-g', 'none'],
    'S_main_rel': ['-S', 'main', '-g', 'none', '--percentage', 'relative'],
    'maxstack2': ['--max-stack', '2', '-g', 'none'],
    'parent': ['-p', '^run_command|alpha|bar', '-s', 'parent', '--no-children', '-g', 'none'],
    'ignore_callees': ['--ignore-callees', '^(malloc|beta|bar)$', '-g', 'none'],
    'pl20': ['--percent-limit', '20'],
    'F1': ['-F', 'overhead,cpu', '-s', 'pid', '-g', 'none'],
    'F2': ['-F', 'comm,overhead,dso', '-g', 'none'],
    'F3': ['-F', 'dso,sym,comm,overhead,dso', '-s', 'sym', '-g', 'none'],
    'F4': ['-F', 'cpu,pid,comm,dso,sym', '-s', 'dso,pid', '-g', 'none'],
}

# perf 6.1 joins samples that a filter leaves out with those that it lets through (perf 7 does not).
KNOWN = {
    ('cumulate', 'S_main'): ['    20.00%    20.00%  perf     perf         ',
                             '    10.00%    10.00%  bash     bash         '],
    ('cumulate', 'S_main_rel'): ['    66.67%    66.67%  perf     perf         ',
                                 '    33.33%    33.33%  bash     bash         '],
}


# The order of rows of equal Children and Self that belong to different threads is an accident of perf's
# tree: all is there, and in another order.
UNORDERED = {('cumulate', 'sym')}


def run(kin, options, data, folder):
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C'}
    done = subprocess.run([kin, 'report', '--stdio', *options, '-i', data], cwd=folder, env=env,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def wrong(case, name, result, expected):
    """None, or what is not as expected."""
    status, out, err = result
    if status:
        return f'exit status {status}: {err.strip()}'
    if (case, name) in KNOWN:
        rows = [line for line in out.splitlines() if line and not line.startswith('#')]
        return None if rows == KNOWN[case, name] else f'rows: {rows}'
    if (case, name) in UNORDERED:
        same = sorted(out.split('\n\n')) == sorted(expected.split('\n\n'))
        return None if same else 'rows differ'
    if out == expected:
        return None
    a, b = expected.splitlines(), out.splitlines()
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f'line {at + 1}: expected {a[at:at + 1]}, is {b[at:at + 1]}'


def can_read(tap, kin, data, folder):
    status, _, err = run(kin, ['--stats'], data, folder)
    if status:
        tap.skip(os.path.basename(data), 'NOT TESTED: kin does not read it: ' + err.strip())
    return not status


def test_file(tap, kin, cases, case, data, kind, folder, wanted):
    for name, options in SETS.items():
        if wanted and name not in wanted:
            continue
        with open(os.path.join(cases, 'expected', f'{case}.{name}.txt')) as f:
            expected = f.read()
        problem = wrong(case, name, run(kin, options, data, folder), expected)
        tap.ok(problem is None, f'{case} {name} from {kind}', problem or '')


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    kin, wanted, tap, cases = os.path.abspath(sys.argv[1]), sys.argv[2:], Tap(), os.path.join(HERE, 'cases')
    if not wanted:
        with tempfile.TemporaryDirectory() as folder:
            tap.part(live.test, tap, kin, folder)
        with tempfile.TemporaryDirectory() as folder:
            tap.part(fields.test, tap, kin, folder)
        with tempfile.TemporaryDirectory() as folder:
            tap.part(facts.test, tap, kin, folder)
        with tempfile.TemporaryDirectory() as folder:
            tap.part(made.test_merged, tap, kin, folder)
        with tempfile.TemporaryDirectory() as folder:
            tap.part(commands.test, tap, kin, folder, bool(os.environ.get('KIN_FULL')))
        if live.has_peer():
            with tempfile.TemporaryDirectory() as folder:
                tap.part(made.test, tap, kin, folder)
            with tempfile.TemporaryDirectory() as folder:
                tap.part(seeds.test, tap, kin, folder)
        else:
            tap.skip('recordings made up', 'NOT TESTED: no perf 6.1')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(cases, 'gen_synth.py'), folder], check=True,
                       stdout=subprocess.DEVNULL)
        for data in sorted(glob.glob(os.path.join(folder, '*.data'))):
            case = os.path.basename(data)[:-5]
            text = os.path.join(cases, 'expected', case + '.script.txt')
            if can_read(tap, kin, data, folder):
                test_file(tap, kin, cases, case, data, 'perf.data', folder, wanted)
            if os.path.exists(text):
                test_file(tap, kin, cases, case, text, 'perf script', folder, wanted)
    return tap.done()


sys.exit(main())

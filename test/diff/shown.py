"""Checks doc/differences.md: every row of its tables about GNU gprof has a reason and a proof. A proof
is the name of an existing check or unit test, or commands (in a case of test/cases, or in 01-basic)
whose output or exit status with --compat=gnu differs from that with --compat=no.
"""
import os
import re
import shutil
import subprocess
import tempfile

from subject import environment

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.join(HERE, '..')


def rows():
    """The cells of each row."""
    with open(os.path.join(TEST, '..', 'doc', 'differences.md')) as f:
        text = f.read().split('\n# Where kin\'s gmon.out')[0].split('\n## ', 1)[1]
    for line in text.split('\n'):
        if line.startswith('| ') and not line.startswith('| GNU gprof |'):
            cells = [c.strip() for c in re.split(r' \|(?= |$)', line.strip()[1:])]
            yield cells[:-1] if cells and not cells[-1] else cells


def is_test(name):
    paths = [f'{name}', f'unit/{name}.c', f'../test/{name}']
    if any(os.path.exists(os.path.join(TEST, p)) for p in paths):
        return True
    with open(os.path.join(HERE, 'default.py')) as f:
        return f'def {name}(' in f.read()


def run(subject, command, case, compat):
    """Everything that came out of the commands, run by a shell in a copy of the case."""
    with tempfile.TemporaryDirectory(prefix='kin-shown.') as box:
        bin, folder = os.path.join(box, 'bin'), os.path.join(box, 'case')
        os.mkdir(bin)
        shutil.copytree(os.path.join(TEST, 'cases', case), folder)
        wrapper = os.path.join(bin, 'gprof')
        words = '' if subject.is_gnu else '--compat=gnu' if compat else '--compat=no'
        with open(wrapper, 'w') as f:
            f.write(f'#!/bin/bash\nexec -a gprof {subject.path} {words} "$@"\n')
        os.chmod(wrapper, 0o755)
        env = environment(PATH=bin + ':' + os.environ['PATH'])
        r = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return r.stdout, r.returncode


def check_row(subject, cells):
    """What is wrong with the row; '' if nothing is."""
    if len(cells) != 4 or not all(cells):
        return f'{len(cells)} cells of 4, or an empty one'
    case = re.search(r'in `(\d\d-\w+)`', cells[3])
    names = [n for n in re.findall(r'`([^`]+)`', cells[3]) if not re.match(r'\d\d-\w+$', n)]
    if not names:
        return 'nothing shows it'
    for name in names:
        if 'gprof ' not in name:
            if not is_test(name):
                return f'no test is called {name}'
            continue
        where = case[1] if case else '01-basic'
        if run(subject, name, where, True) == run(subject, name, where, False):
            return f'the same with --compat=gnu and --compat=no in {where}: {name}'
    return ''


def check(subject):
    """(title, problem or '') of each row."""
    for cells in rows():
        yield 'doc/differences.md: ' + (cells[0] if cells else '?')[:60], check_row(subject, cells)

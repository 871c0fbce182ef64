#!/usr/bin/env python3
"""Random command lines: every command with any of its options, right and wrong words for them, on small data. None ends by
a signal or hangs, and none fails without a word.

    lines.py KIN [--from SEED] [--count N]"""
import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASE = os.path.join(HERE, '..', 'cases', '03-mutual')
EACH = 50       # lines for one seed
LONGEST_S = 120  # for a line, on a busy machine
NOT_TRIED = ('top', 'browse', 'agent')  # run until somebody ends them
RUN = ('run', 'record', 'compare', 'check', 'cc')  # run commands: may go on, as with -r 1000000

FILES = ['data.kin', 'gmon.out', 'stacks.folded', 'prog', 'text', 'empty', '.', 'missing', 'no/such']
WORDS = ['', '0', '1', '-1', '+1', '2', '0x10', '99999999999999999999', '-9223372036854775808', '1e308', '1e-308', 'nan', 'inf',
         '10%', '200%', '5%-2%', '10%-60%', '1.5s', '60s', '1K', '1.0,1.001', ',', 'a,,b', 'x', '*', '[', '[a-', '(', 'main|', '%',
         '%s%n', '%p', '@text', '@@text', ':', '1:2', 'a=b', '=', '-', '--', '---', '-x', '--no-such', 'sym', 'comm,dso', '+sym,-dso',
         'sym,sym,sym', 'json', 'csv', 'text', 'perf', 'gnu', 'folded', 'all', 'none', 'off', 'help', 'list', 'main', 'leaf/main', 'caller',
         'graph,0.5,caller', 'thread', 'object', 'tidy', 'self', '-self', 'http://127.0.0.1:1/x', 'a' * 5000, 'ü\u202e\x1b[1m', b'\xff\xfe\n']
FOLDED = 'main;a;leaf 30\nmain;b;leaf_[i] 12\nmain;leaf 5\n'


def commands_of(kin):
    """{command: [(option, whether it takes a value)]}, as their help has them."""
    text = subprocess.run([kin, 'help'], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r'^  (\w+) {2,}', text, re.M)
    for names in re.findall(r'^\w[\w ]+:((?: +[\w ,]+))$', text, re.M):
        listed += re.findall(r'\w+', names)
    found = {}
    for name in dict.fromkeys(listed):
        text = subprocess.run([kin, 'help', 'all', name], capture_output=True, text=True, check=False).stdout
        options = []
        for line in text.splitlines():
            match = re.match(r'^ {2,6}(-\w)?(?:, )?(--[\w-]+)?(\[?=?\S*)', line)
            if match and (match[1] or match[2]):
                options += [(option, bool(match[3])) for option in match.groups()[:2] if option]
        if options and name not in NOT_TRIED:
            found[name] = options
    return found


def value(x):
    return x.choice(FILES if x.random() < .4 else WORDS)


def text_of(word):
    return os.fsencode(word) if isinstance(word, str) else word


def option_words(x, options):
    option, takes = x.choice(options)
    if option.startswith('--') and x.random() < .1:
        option = option[:x.randrange(2, len(option) + 1)]  # an abbreviation
    if x.random() < .05:
        option += x.choice('x=-,')
    if takes == (x.random() < .1):
        return [text_of(option)]
    joined = b'=' if option.startswith('--') else b''
    return [text_of(option) + joined + text_of(value(x))] if x.random() < .6 else [text_of(option), text_of(value(x))]


def command_line(x, commands):
    name = x.choice(sorted(commands))
    parts = [option_words(x, commands[name]) for _ in range(x.choice((0, 1, 1, 2, 2, 3, 5, 8)))]
    parts += [[text_of(value(x))] for _ in range(x.choice((0, 1, 1, 2, 3)))]
    x.shuffle(parts)
    words = [word for part in parts for word in part]
    if name == 'record':
        words.insert(0, b'--dry-run')
    if name in RUN and x.random() < .5:
        words += [b'--', b'true']
    return [text_of(name), *words]


def fill(folder, kin):
    """The files that command lines name, as they were."""
    for path in os.listdir(folder):
        path = os.path.join(folder, path)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    for name in ('prog', 'gmon.out'):
        shutil.copy(os.path.join(CASE, name), folder)
    for name, text in (('stacks.folded', FOLDED), ('text', '-b\n--no-such\n"'), ('empty', '')):
        with open(os.path.join(folder, name), 'w', encoding='ascii') as f:
            f.write(text)
    subprocess.run([kin, 'merge', '-o', 'data.kin', 'stacks.folded'], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                   capture_output=True)


def problem(kin, line, folder):
    """None, or the error."""
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'TERM': 'dumb'}
    p = subprocess.Popen([kin, *line], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True)
    runs = line[0].decode() in RUN
    try:
        out, err = p.communicate(timeout=5 if runs else LONGEST_S)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return None if runs else 'does not end'
    if p.returncode < 0:
        return f'ends by signal {-p.returncode}'
    if b'Sanitizer' in err:
        return f'sanitizer: {err[:2000]!r}'
    return 'fails without a word' if p.returncode and not out and not err and not runs else None


def shown(line):
    return shlex.join(os.fsdecode(word).encode('ascii', 'backslashreplace').decode() for word in line)


def problems(kin, commands, seed):
    x = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix='kin-lines.') as folder:
        for n in range(EACH):
            if n % 10 == 0:
                fill(folder, kin)
            line = [word.replace(b'\0', b'') for word in command_line(x, commands)]
            wrong = problem(kin, line, folder)
            if wrong:
                yield f'seed {seed}: {wrong}: kin {shown(line)}'


def test(tap, box):
    if not box.build:
        tap.skip('random command lines', 'they are of kin: --build')
        return
    kin = os.path.join(os.path.abspath(box.build), 'kin')
    commands = commands_of(kin)
    tap.ok(len(commands) > 15 and len(commands['report']) > 50, 'help lists commands and their options', str(commands))
    for seed in range(1, 401 if box.full else 9):
        found = list(problems(kin, commands, seed))
        tap.ok(not found, f'{EACH} random command lines, seed {seed}', '\n'.join(found))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('kin')
    p.add_argument('--from', dest='first', type=int, default=1)
    p.add_argument('--count', type=int, default=8)
    a = p.parse_args()
    kin, bad = os.path.abspath(a.kin), 0
    commands = commands_of(kin)
    for seed in range(a.first, a.first + a.count):
        for found in problems(kin, commands, seed):
            bad += 1
            print(found, flush=True)
    print(f'{a.count * EACH} lines, {bad} wrong')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())

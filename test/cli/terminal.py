"""Manners on a terminal: colour, width, pager, progress.

    terminal.py BUILD
"""
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

CASE = os.path.join(HERE, '..', 'cases', '03-mutual')


def on_terminal(args, folder, rows=24, columns=100, keys=b'', seen=None, **env):
    """(output, status) of a command whose standard output and error are a terminal. seen: (text, a file that is made
    once the text is there)."""
    full = {k: v for k, v in os.environ.items()
            if k not in ('NO_COLOR', 'PAGER', 'KIN_PAGER', 'LESS', 'LESSCHARSET', 'COLUMNS', 'LINES', 'LD_PRELOAD')}
    full.update({'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', **env})
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        os.execvpe(args[0], args, {k: v for k, v in full.items() if v is not None})
    output, end = b'', time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.5)
        if not ready:
            if keys:
                os.write(master, keys)
                keys = b''
            continue
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
        if seen and seen[0] in output:
            with open(seen[1], 'w'):
                seen = None
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(master)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return output.replace(b'\r\n', b'\n').decode('utf-8', 'replace'), status


LONG = 'a_namespace::of_some_length::Template<with, parameters>::a_function'


def test_narrow(tap, kin, folder):
    """Nothing wraps, and functions keep their own names."""
    with open(os.path.join(folder, 'narrow.script'), 'w') as f:
        for i, leaf in enumerate((LONG + '_one', LONG + '_two', 'short')):
            f.write(f'a-command 7/{7 + i} [001] 1.00{i}: 1000000 task-clock:\n\t 1000 {leaf}+0x0 (/usr/lib/lib_with_a_long_name.so.1)\n'
                    '\t 2000 main+0x0 (/bin/prog)\n\n')
    deep = os.path.join(folder, 'deep.folded')
    with open(deep, 'w') as f:
        f.write('prog;' + ';'.join(f'level{i}_{LONG}' for i in range(60)) + ' 9\n')
    counts = [f'{CASE}/prog', f'{CASE}/gmon.out']
    for columns in (40, 47, 56, 64, 72, 80):
        long = []
        for args in (['report', 'narrow.script'], ['report', '-s', 'comm,dso,sym', '--hierarchy', 'narrow.script'], ['flat', 'narrow.script'],
                     ['graph', '-d', 'narrow.script'], ['report', '-s', 'comm,pid,tid,dso,sym', 'narrow.script'], ['graph', '-d', deep], ['report', deep],
                     ['info', 'narrow.script'], ['flat', *counts], ['graph', *counts], ['lines', *counts], ['annotate', '--asm', *counts],
                     ['cycles', *counts], ['counts', *counts], ['diff', '--all', *counts[1:], *counts[1:], counts[0]]):
            text, status = on_terminal([kin, *args, '--no-pager'], folder, columns=columns, NO_COLOR='1')
            long += [f'{args[0]}: {line}' for line in text.splitlines() if len(line) > columns]
            if args[0] in ('flat', 'report') and args[-1] == 'narrow.script' and 'tid' not in ''.join(args):
                tap.ok('a_function_one' in text and 'a_function_two' in text, f'{columns} columns: {args[0]}: functions are told apart by their own names', text)
        tap.ok(not long, f'{columns} columns: nothing wraps', '\n'.join(long[:9]))


def test_messages(tap, kin, folder):
    """They are broken between words, where they are read on a terminal alone."""
    args = [kin, 'annotate', f'{CASE}/prog', f'{CASE}/gmon.out', '--', 'no_such_fünction_of_ä_longer_name']
    whole = subprocess.run(args, cwd=folder, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'}).stderr
    tap.ok(whole.count('\n') == 1 and len(whole) > 80, 'a message is one line', whole)
    for columns in (20, 40, 80, 400):
        text, status = on_terminal(args, folder, columns=columns)
        lines = text.replace('\r', '').splitlines()
        tap.ok(' '.join(line.strip() for line in lines) == whole.strip() and
               all(len(line) <= columns or ' ' not in line.strip() for line in lines) and
               (columns == 400 or len(lines) > 1), f'{columns} columns: between words', text)


def main():
    kin = os.path.join(os.path.abspath(sys.argv[1]), 'kin')
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-terminal.') as folder:
        test_narrow(tap, kin, folder)
        test_messages(tap, kin, folder)
        for name in ('prog', 'gmon.out'):
            shutil.copy(os.path.join(CASE, name), folder)
        def run(*args, **kw):
            return on_terminal([kin, *args], folder, **kw)
        plain = lambda *args, **env: subprocess.run([kin, *args], cwd=folder, capture_output=True, env={**os.environ, **env},
                                                    stdin=subprocess.DEVNULL).stdout.decode()

        marked = os.path.join(folder, 'marked')
        with open(marked, 'w') as f:
            f.write('#!/bin/sh\necho PAGED\ncat\n')
        os.chmod(marked, 0o755)

        text, status = run('flat', 'prog', KIN_PAGER=marked)
        tap.ok(status == 0 and '\x1b[31m' in text, 'colour on a terminal', text)
        tap.ok('PAGED' not in text, 'no pager for what fits the screen', text)
        tap.ok('\x1b' not in run('flat', 'prog', NO_COLOR='1')[0], 'NO_COLOR: none')
        tap.ok('\x1b' in run('flat', 'prog', NO_COLOR='')[0], 'an empty NO_COLOR does not count')
        tap.ok('\x1b' not in run('flat', 'prog', TERM='dumb')[0], 'a dumb terminal: none')
        tap.ok('\x1b' not in run('flat', 'prog', TERM=None)[0], 'an unknown terminal: none')
        tap.ok('\x1b' not in run('flat', 'prog', '--color=never')[0], '--color=never: none')
        tap.ok('\x1b' not in run('flat', 'prog', CLICOLOR='0')[0], 'CLICOLOR=0: none')
        tap.ok('\x1b' in run('flat', 'prog', CLICOLOR='1')[0], 'CLICOLOR=1: as usual')
        piped = lambda **env: subprocess.run([kin, 'flat', 'prog'], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                                             env={'PATH': os.environ['PATH'], **env}).stdout
        tap.ok(b'\x1b' in piped(CLICOLOR_FORCE='1') and b'\x1b' not in piped(CLICOLOR_FORCE='0'),
               'CLICOLOR_FORCE: colour in a pipe')
        tap.ok(b'\x1b' not in piped(CLICOLOR_FORCE='1', NO_COLOR='1'), 'CLICOLOR_FORCE and NO_COLOR: none')
        tap.ok('\x1b' not in run('flat', 'prog', '-f', 'json', '--no-pager')[0], 'no colour in JSON')

        never = ['--color=never']
        text, status = run('graph', 'prog', *never, KIN_PAGER=marked)
        tap.ok(status == 0 and text.startswith('PAGED\n'), 'a pager for what does not fit', text[:200])
        tap.ok(text == 'PAGED\n' + plain('graph', 'prog'), 'the pager gets all of it', text)
        tap.ok(run('graph', 'prog', *never, PAGER=marked)[0].startswith('PAGED'), 'PAGER is used')
        tap.ok(run('graph', 'prog', *never, PAGER='false', KIN_PAGER=marked)[0].startswith('PAGED'),
               'KIN_PAGER comes first')
        tap.ok(run('graph', 'prog', *never, KIN_PAGER=f'{marked} | cat')[0].startswith('PAGED'),
               'a pager may be a pipeline')
        tap.ok('PAGED' not in run('graph', 'prog', '--no-pager', KIN_PAGER=marked)[0], '--no-pager')
        whole = plain('graph', 'prog')
        for pager in ['', '  ', 'cat', '/missing/pager', 'no-such-pager -x']:
            text, status = run('graph', 'prog', *never, KIN_PAGER=pager)
            tap.ok(status == 0 and text == whole, f'pager {pager!r}: straight to the terminal', text)
        text, status = run('graph', 'prog', *never, KIN_PAGER=marked, rows=200)
        tap.ok(text == whole, 'a larger screen needs no pager', text)
        text, status = run('graph', 'prog', KIN_PAGER='head -1')
        tap.ok(status == 0, 'quitting the pager early is no error', f'{status}: {text}')
        text, status = run('graph', 'prog', '-o', 'file', KIN_PAGER=marked)
        tap.ok(text == '' and status == 0, 'no pager for a file', text)
        if shutil.which('less'):
            text, status = run('graph', 'prog', keys=b'q')
            tap.ok(status == 0 and 'Call graph' in text, 'less by default, and q ends it', text)
            with open(os.path.join(folder, 'cut.folded'), 'w') as f:
                f.writelines(f'prog;{LONG}_{i} 1\n' for i in range(30))
            text, status = on_terminal([kin, 'report', '--all-rows', '-i', 'cut.folded'], folder, columns=40, keys=b'q', LC_ALL='C', LANG=None)
            tap.ok(status == 0 and '\u2026' in text and '<E2>' not in text, 'less without a locale: names that were cut', text)
        else:
            tap.skip('less by default, and q ends it', 'less is not installed')
            tap.skip('less without a locale: names that were cut', 'less is not installed')

        text, _ = run('graph', 'prog', *never, '--no-pager', columns=72)
        tap.ok('\u2026' in text and max(map(len, text.splitlines())) <= 72,
               'long names end in an ellipsis', text)
        text, _ = run('graph', 'prog', *never, '--no-pager', '--width=0', columns=72)
        tap.ok(text == whole, '--width=0: nothing is cut', text)
        for columns, width in [(64, 64), (90, 90), (300, 100), (20, 40)]:
            for words in [['help', 'report'], ['report', '--help'], ['help']]:
                text, _ = run(*words, columns=columns)
                # A command to be copied stays in one line.
                lines = [len(l) for l in text.splitlines() if not l.startswith('  kin ')]
                tap.ok(width - 12 <= max(lines) <= width, f'{words} on {columns} columns', text)
        for words in (['help', 'record'], ['help', 'top'], ['help', 'script'], ['help', 'diff']):
            text, _ = run(*words, columns=40)
            long = [l for l in text.splitlines() if len(l) > 40 and not l.startswith('  kin ')]
            tap.ok(not long and 'Usage' in text, f'{words} on 40 columns', long)
        for words in (['flat', 'prog'], ['graph', 'prog'], ['help', 'record'], ['info', 'gmon.out'], ['report', 'gmon.out']):
            text = plain(*words, COLUMNS='40')
            long = [l for l in text.splitlines() if len(l) > 40 and not l.startswith('  kin ')]
            tap.ok(text and not long and text == run(*words, *never * (words[0] != 'help'), columns=40, KIN_PAGER='cat')[0], f'{words} in a pipe, with COLUMNS=40: as on a terminal',
                   long or text)
        tap.ok(plain('flat', 'prog', '-f', 'csv', COLUMNS='40') == plain('flat', 'prog', '-f', 'csv'), 'COLUMNS does not cut tables for programs')
        subprocess.run([kin, 'flat', 'prog', '-o', 'wide.txt'], cwd=folder, env={**os.environ, 'COLUMNS': '40'}, check=False)
        with open(os.path.join(folder, 'wide.txt')) as f:
            tap.ok(f.read() == plain('flat', 'prog'), 'COLUMNS does not cut what goes into a file')
        text, _ = run('help', 'report', columns=0, COLUMNS='66')
        tap.ok(54 <= max(map(len, text.splitlines())) <= 66, 'a terminal that does not say its size: COLUMNS', text)
        tap.ok(run('help', 'report', columns=80)[0] == plain('help', 'report'), 'help in a file: 80 columns')
        text, _ = run('flat', 'prog')
        tap.ok('reading' not in text and '\r' not in text, 'no progress for what is quick', text)
        late = 'for i in $(seq 500); do [ -e said ] && break; sleep 0.1; done'
        text, _ = on_terminal(['sh', '-c', f'{late} | {kin} flat prog - >/dev/null'], folder, seen=(b'reading ...', os.path.join(folder, 'said')))
        tap.ok('kin: reading ...' in text and '\x1b[K' in text.split('reading')[-1],
               'progress for what takes long, wiped in the end', text)
        done = subprocess.run(['sh', '-c', f'sleep 2.5 | {kin} flat prog -'], cwd=folder, capture_output=True)
        tap.ok(b'reading' not in done.stderr, 'no progress when nobody watches', done.stderr.decode())
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

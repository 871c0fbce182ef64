"""Names that bite, through every command and format: no output may hold a control character, a
bidirectional mark or bytes that are not UTF-8, and JSON and CSV must read back.

    hostile.py BUILD
"""
import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from gmonlib import Arc, Elf, Hist, Symbol, gmon, save
from tap import Tap

NAMES = [
    b'\x1b[2J\x1b]0;title\x07', b'\x1b]52;c;b3duZWQ=\x07', b'\xc2\x9b31mred', b'\x9b31m', b'back\x08space',
    b'carriage\rreturn', b'line\nfeed', b'tab\tstop', b'del\x7f', 'a\u202eb'.encode(), 'a\u2066b'.encode(),
    'zero\u200bwidth'.encode(), '\ufefftop'.encode(), '\U000e0041tag'.encode(), b'\xff\xfe', b'\xc3(',
    b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'\xc0\xaf', b'<script>alert(1)</script>', b'quote"quote',
    b"apostrophe'", b'a,b;c', b'=1+1', b'=HYPERLINK("http://x"&A1)', b'@SUM(A1)', b'-2+3', b'+1+cmd', '\uff1d1'.encode(), b'back\\slash', b'%s%n%d', b'-o', b'--', b']]>', b' leading', b'trailing ',
    'caf\u00e9'.encode(), '\u65e5\u672c'.encode(), b'_ZN' + b'N' * 3000, b'x' * 70000,
]
COMMANDS = ['flat', 'graph', 'counts', 'info', 'lines', 'annotate', 'diff --all']
DATA = {'diff --all': ['gmon.out', 'gmon.out']}
FORMATS = ['text', 'json', 'csv']
BASE, STEP = 0x1000, 0x20


def bad_characters(data):
    """The part of the output that could do harm or cannot be read."""
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError as error:
        return [str(error)]
    return [repr(c) for c in text if c != '\n' and unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp')]


def make_inputs(folder):
    size = len(NAMES) * STEP
    elf = Elf([Symbol(n, BASE + i * STEP, STEP) for i, n in enumerate(NAMES)], text=BASE, size=size)
    save(os.path.join(folder, 'prog'), elf.bytes())
    arcs = [Arc(BASE + (i + 1) % len(NAMES) * STEP, BASE + i * STEP, i + 1) for i in range(len(NAMES))]
    data = gmon([Hist(BASE, BASE + size, [1] * (size // 4))] + arcs)
    save(os.path.join(folder, 'gmon.out'), data)
    # As file names, too.
    save(os.path.join(folder, 'e\x1b[31m'), data)
    save(os.path.join(folder, 'cut\u202e\x1b[2J'), data[:-3])


def expected_in_json(name):
    return name.decode('utf-8', 'replace') if name.count(b'\xed\xa0') == 0 else None


def is_number(text):
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def terminal(command, folder):
    """The output of a command on a terminal."""
    pid, master = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execve(command[0], command, {'TERM': 'xterm', 'PAGER': 'cat', 'LC_ALL': 'C.UTF-8'})
    data = b''
    try:
        while more := os.read(master, 65536):
            data += more
    except OSError:
        pass # all has been read
    os.close(master)
    os.waitpid(pid, 0)
    return data.replace(b'\r\n', b'\n')


def test_folded(tap, kin, folder):
    """In a pipe names are unchanged, except for characters that would break lines; on a terminal they are escaped."""
    bite = [n for n in NAMES if len(n) < 100 and b'\n' not in n and b';' not in n]
    with open(os.path.join(folder, 'names.folded'), 'wb') as f:
        f.writelines(b'prog;main;%b 1\n' % n for n in bite)
    for args in (['--folded'], ['--folded', '--no-pager'], [], ['-f', 'json']):
        shown = terminal([kin, 'script', *args, 'names.folded'], folder)
        shown = re.sub(rb'\x1b(\[[0-9;?]*[a-zA-Z]|[=>])', b'', shown) if '--no-pager' not in args else shown # of the pager
        bad = bad_characters(shown.replace(b'\t', b' '))
        tap.ok(b'main' in shown and not bad, f'kin script {" ".join(args)} on a terminal: nothing that bites', ' '.join(bad[:20]))
    piped = subprocess.run([kin, 'script', '--folded', 'names.folded'], cwd=folder, capture_output=True).stdout
    tap.ok('a\u202eb'.encode() in piped and b'\xff\xfe' in piped and '\u65e5\u672c'.encode() in piped, 'in a pipe names are what they are')


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-hostile.') as folder:
        make_inputs(folder)

        def run(*args):
            return subprocess.run([os.path.join(build, 'kin'), *args], cwd=folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=60)

        for command in COMMANDS:
            for form in FORMATS:
                for extra in [[], ['--width=60'], ['--columns=all'], ['--no-demangle']]:
                    done = run(*command.split(), 'prog', *DATA.get(command, []), '--format', form, *extra)
                    what = ' '.join(['kin', command, '-f', form, *extra])
                    tap.ok(done.returncode == 0, what + ': succeeds', done.stderr.decode('latin-1'))
                    bad = bad_characters(done.stdout)
                    tap.ok(not bad, what + ': nothing that bites', ' '.join(bad[:20]))
                    tap.ok(not done.stderr or not bad_characters(done.stderr), what + ': messages, too')

        rows = json.loads(run('flat', 'prog', '-f', 'json', '--no-demangle').stdout)['rows']
        found = {row['name'] for row in rows}
        for name in NAMES:
            want = expected_in_json(name)
            if want is not None:
                tap.ok(want in found, f'json keeps {want[:30]!r}', '\n'.join(map(repr, sorted(found)))[:3000])
        tap.ok(len(rows) == len(NAMES), 'json: a row per name')

        out = run('flat', 'prog', '-f', 'csv', '--no-demangle').stdout.decode()
        table = list(csv.reader(io.StringIO(out), strict=True))
        tap.ok(len(table) == len(NAMES) + 1, 'csv: a row per name')
        tap.ok(len({len(row) for row in table}) == 1, 'csv: as many fields in each row')
        column = table[0].index('name')
        names = {row[column] for row in table}
        for name in [b'quote"quote', b'a,b;c', b'back\\slash', b' leading', b'trailing ', b"apostrophe'"]:
            tap.ok(name.decode() in names, f'csv keeps {name.decode()!r}')
        tap.ok('line\\x0afeed' in names, 'csv: a line feed is escaped')
        for name in ['=1+1', '=HYPERLINK("http://x"&A1)', '@SUM(A1)', '-2+3', '+1+cmd', '\uff1d1', '--']:
            tap.ok("'" + name in names, f'csv: {name!r} is no formula')
        formulas = [f for c in COMMANDS for row in csv.reader(io.StringIO(run(
            *c.split(), 'prog', *DATA.get(c, []), '-f', 'csv', '--columns=all').stdout.decode())) for f in row
            if f[:1] in ('=', '+', '-', '@', '\t', '\r') and not is_number(f)]
        tap.ok(not formulas, 'csv: nor is any other cell', '\n'.join(formulas))

        test_folded(tap, os.path.join(build, 'kin'), folder)
        for data in ['e\x1b[31m', 'cut\u202e\x1b[2J', 'missing\x1b[2J', 'missing\x9b']:
            done = run('flat', 'prog', data)
            tap.ok(not bad_characters(done.stdout + done.stderr), f'messages about {data!r} do not bite',
                   done.stderr.decode('latin-1'))
        for args in [['\x1b[2J'], ['flat', '--\x1b[2J'], ['flat', '-\x1b'], ['flat', 'prog', '-c', '\x1b[2J'],
                     ['graph', 'prog', '\x1b]0;t\x07'], ['help', '\x1b[2J'], ['flat', '-e', '\u202e']]:
            done = run(*args)
            tap.ok(done.returncode in (1, 2) and done.stderr and not bad_characters(done.stderr),
                   f'kin {args!r} is refused without biting', done.stderr.decode('latin-1'))
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

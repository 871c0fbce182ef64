"""The terminal browser, as a person uses it: keys are typed, and the screen is checked.

    run.py BUILD [--update]

Whole screens, at four sizes, are compared with those of screens/; --update writes the present ones: look at them as a user would.
Needs tmux; without it everything is skipped, with a message.
"""
import fcntl
import json
import os
import platform
import re
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
from chance import best
from tap import Tap

SCREENS = os.path.join(HERE, 'screens')
CASES = os.path.join(HERE, '..', 'cases')
LIMIT = 60  # seconds that anything may take to appear: the machine may be busy
WRITE = 1   # its number among the system calls of x86_64


class Terminal:
    """A shell in a tmux of our own."""

    def __init__(self, folder, build, columns=80, rows=14, **env):
        self.socket = os.path.join(folder, f'tmux.{len(os.listdir(folder))}')
        full = {'PATH': os.path.abspath(build) + ':' + os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C.UTF-8',
                'PS1': 'prompt ', 'TERM': 'xterm-256color', 'SHELL': '/bin/sh', **env}
        # tmux runs its command by a shell of its own, and sets TERM itself.
        exports = ' '.join(f"{k}='{v}'" for k, v in full.items() if k != 'TERM')
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(columns), '-y', str(rows), '-c', folder,
                  f'env {exports} sh')
        self.wait('prompt')

    def tmux(self, *args):
        return subprocess.run(['tmux', '-S', self.socket, *args], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, 'LC_ALL': 'C.UTF-8'}).stdout

    def screen(self, *args):
        return self.tmux('capture-pane', '-p', *args)

    def keys(self, *keys):
        self.tmux('send-keys', *keys)

    def type(self, text):
        self.tmux('send-keys', '-l', text)

    def run(self, command):
        # Clears the screen first, so that the awaited text is not there already.
        self.type('clear')
        self.keys('Enter')
        self.wait_screen(lambda s: s.strip() == 'prompt')
        self.type(f'clear; {command}')
        self.keys('Enter')

    def wait(self, pattern, gone=False):
        """The screen once the pattern is on it, or is not any more; '' if that never happens. The rest may not be drawn yet."""
        end = time.monotonic() + LIMIT
        self.waited = False
        while time.monotonic() < end:
            screen = self.screen()
            if bool(re.search(pattern, screen, re.M)) != gone:
                self.waited = True
                return screen
            time.sleep(0.05)
        return ''

    def sees(self, tap, good, name):
        """Waits for good(screen) after wait(): a screen may be read while it is drawn. Returns the screen, or ''."""
        def is_good(screen):
            try:
                return good(screen)
            except (IndexError, TypeError):  # a line, or the match of a search, is not there yet
                return False
        screen = self.waited and self.wait_screen(is_good)
        passed = self.waited and is_good(screen)
        tap.ok(passed, name, screen or self.screen())
        return screen if passed else ''

    def settled(self):
        """The screen once nothing is drawn any more."""
        before = None
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            screen = self.screen()
            if screen == before:
                return screen
            before = screen
            time.sleep(0.3)
        return ''

    def wait_screen(self, good):
        """The screen as soon as good(screen), or the screen when time is over."""
        end = time.monotonic() + LIMIT
        while not good(screen := self.screen()) and time.monotonic() < end:
            time.sleep(0.05)
        return screen

    def state(self):
        """The terminal's settings, by stty."""
        self.run('stty -a | tr "\\n" " "; echo; echo asked')
        return re.split(r'^asked$', self.wait(r'^asked$') or '', flags=re.M)[0]  # the prompt may be there yet, or not

    def close(self):
        self.tmux('kill-server')


def test_large_cycle(tap, folder, build):
    """Each function of a cycle has its mark: more than kin cycles lists."""
    with open(os.path.join(folder, 'large.folded'), 'w') as f:
        f.write(''.join(f'main;m{i:02};m{(i + 1) % 20:02};m{i:02} 5\n' for i in range(20)))
    t = Terminal(folder, build, rows=26)
    t.run('kin browse large.folded')
    t.sees(tap, lambda s: len(re.findall(r' m\d\d ↻1$', s, re.M)) == 20, 'a mark of each of the 20 functions of a cycle')
    t.close()


def test_counts(tap, folder, build):
    t = Terminal(folder, build)
    case = os.path.join(CASES, '03-mutual')
    t.run(f'kin browse {case}/prog {case}/gmon.out; echo status=$?')
    t.wait(r'Enter callers')
    t.sees(tap, lambda s: re.search(r'^Children +Self +self \(s\) +calls', s, re.M), 'functions of a gmon.out')
    t.sees(tap, lambda s: 'estimated' in s.splitlines()[0], 'that times with callees are estimated is said')
    s = t.sees(tap, lambda s: re.search(r'odd ↻1\?$', s, re.M), 'a mark of the cycle, of which nothing is known but counts')
    share, *_, name = s.splitlines()[2].split()
    t.keys('j', 'k', 'Enter')
    t.wait(r'Enter go there')
    t.sees(tap, lambda s: name in s.splitlines()[0] and 'called' in s, 'Enter: callers and callees')
    t.sees(tap, lambda s: re.search(rf'^ *{share} .* {name}', s, re.M), 'its share is the same there')
    t.keys('Escape')
    tap.ok(t.wait('Enter callers'), 'Esc: back', t.screen())
    t.type('/odd')
    t.keys('Enter', 'Enter')
    t.wait(r'^ kin  odd ')
    t.sees(tap, lambda s: 'even <cycle 1>' in s, 'a member of a cycle')
    t.keys('Up', 'Enter')
    tap.ok(t.wait(r'^ kin  even '), 'from there to another one', t.screen())
    t.keys('Escape')
    t.wait(r'^ kin  odd ')
    t.keys('Escape')
    tap.ok(t.wait('only /odd'), 'back among the rows with a text in them', t.screen())
    t.keys('Escape')
    tap.ok(t.wait('Enter callers'), 'Esc: all rows', t.screen())
    t.keys('y')
    t.wait('Enter callers, callees')
    t.sees(tap, lambda s: re.search(r'^ *1 +unknown +cycle .*2 functions$', s, re.M) and re.search(r'^ *1 +function .* odd$', s, re.M),
           'y: cycles, and what is known of them')
    t.keys('Down', 'Enter')
    tap.ok(t.wait(r'^ kin  (odd|even) '), 'Enter: one of its functions', t.screen())
    t.keys('Escape')
    t.wait('Enter callers, callees')
    t.keys('Escape')
    t.wait('f flame|a source  s|Enter callers  a')
    t.keys('G')
    tap.ok(t.wait(r'(\d+) of \1$'), 'G: the last one', t.screen())
    t.keys('g')
    tap.ok(t.wait(r' 1 of \d+$'), 'g: the first one', t.screen())
    t.keys('?')
    tap.ok(t.wait('Enter do it'), '?: the menu', t.screen())
    t.keys('x')
    tap.ok(t.wait('Enter do it', gone=True), 'any key: out of it', t.screen())
    t.keys('F1')
    tap.ok(t.wait('Enter do it') and 'apportioned by call counts' in t.screen(), 'F1: the menu, and what the page says of itself', t.screen())
    t.keys('x')
    t.wait('Enter do it', gone=True)
    t.tmux('resize-window', '-x', '40', '-y', '14')
    t.wait(r'^Children +Self +name')
    t.sees(tap, lambda s: re.search(rf'^ *{share} +[0-9.]+%  {name}$', s, re.M), 'a narrow window: names are seen')
    t.keys('F10')
    tap.ok(t.wait('status=0'), 'F10: quit', t.screen())
    t.close()


def test_stacks(tap, folder, build):
    with open(os.path.join(folder, 'a.folded'), 'wb') as f:
        f.write('prog;main;mäin;日本語 30\nprog;main;other;leaf 10\nprog;main;busy 60\n'.encode() +
                b'prog;main;\x1b[31mred\xff 2\n')
    t = Terminal(folder, build)
    before = t.state()
    t.run('kin browse a.folded; echo status=$?')
    t.wait('busy')
    t.sees(tap, lambda s: 'mäin' in s and '日本語' in s, 'names beyond ASCII')
    t.sees(tap, lambda s: '\\x1b[31mred\\xff' in s, 'names are escaped')
    t.sees(tap, lambda s: s.splitlines()[2].endswith('busy') and 'by Self' in s, 'most Self at first')
    t.keys('s')
    t.wait('by Children')
    t.sees(tap, lambda s: s.splitlines()[2].endswith('main'), 's: by Children')
    t.keys('/')
    t.type('本')
    t.wait('/本_')
    t.sees(tap, lambda s: '1 of 1' in s and '日本語' in s and 'busy' not in s, '/: rows with a text')
    t.sees(tap, lambda s: 'Enter keep' in s, '/: what ends it')
    t.keys('Enter', 'Enter')
    t.wait('Enter go there')
    t.sees(tap, lambda s: 'mäin' in s, 'from there to its callers')
    t.keys('Up', 'Enter')
    t.wait(r'^ kin  mäin')
    t.sees(tap, lambda s: re.search('^.*  main$', s, re.M) and '日本語' in s, 'and on')
    t.keys('Escape', )
    t.wait(r'^ kin  日本語')
    t.keys('Escape')
    t.wait('only /本')
    t.keys('Escape')
    tap.ok(t.wait('Enter callers'), 'back twice', t.screen())
    t.tmux('resize-window', '-x', '40', '-y', '6')
    fits = lambda s: 0 < len(s.splitlines()) <= 6 and max(map(len, s.splitlines())) <= 40 and ' of ' in s.splitlines()[-1]
    t.sees(tap, fits, 'a smaller window')
    t.tmux('resize-window', '-x', '80', '-y', '14')
    tap.ok(t.wait(r'q quit +\d+ of \d+'), 'a larger one', t.screen())
    for key, why in (('H', r'H: does nothing here \(\? says what does\)'), ('p', 'p: nothing is going on: kin top can be held'), ('e', 'e: there is one event'),
                     ('b', 'b: does nothing here')):
        t.keys(key)
        tap.ok(t.wait(f'^ {why}'), f'{key}: why it does nothing', t.screen())
    t.keys('C-c')
    tap.ok(t.wait('status=0'), 'Ctrl-C: quit', t.screen())
    t.run('kin report --tui a.folded; echo status=$?')
    tap.ok(t.wait('Enter callers'), 'kin report --tui', t.screen())
    t.keys('q')
    t.wait('status=')
    tap.ok(t.state() == before != '', 'the terminal is as it was', before + t.screen())
    t.close()


def test_events(tap, folder, build):
    with open(os.path.join(folder, 'events.txt'), 'w') as f:
        f.write('app 12/13 [002] 1.000250: 250000 cpu-clock:\n\t401136 clocked+0x6 (/usr/bin/app)\n\n'
                'app 12/13 [002] 1.100250: 1 page-faults:\n\t401136 faulted+0x6 (/usr/bin/app)\n\n')
    t = Terminal(folder, build)
    t.run('kin browse events.txt')
    tap.ok('faulted' not in t.wait('cpu-clock'), 'of several events the first one', t.screen())
    t.keys('e')
    t.wait('page-faults')
    t.sees(tap, lambda s: 'faulted' in s and 'clocked' not in s, 'e: the next one')
    t.keys('Enter')
    t.wait('Enter go there')
    t.sees(tap, lambda s: re.search(r'self \(events\)[^%]*\n100.00%  +1 .*faulted', s), 'Enter: callers and callees, of this event, in its unit')
    t.keys('Escape', 'e')
    t.wait('cpu-clock')
    t.keys('Enter')
    t.sees(tap, lambda s: re.search(r'self \(s\)[^%]*\n100.00%  +0\.0003 .*clocked', s), 'times as of one event')
    t.keys('q')
    t.close()


def test_events_over_time(tap, folder, build):
    """Sparklines change to another event at once; in rows by program they include threads with names of their own."""
    def sample(comm, pid, tid, at, event, function):
        return f'{comm} {pid}/{tid} [000] {at}.0: 1000 {event}:\n\t1000 {function}+0x0 (/usr/bin/app)\n\t2000 begin+0x0 (/usr/bin/app)\n\n'
    with open(os.path.join(folder, 'over.txt'), 'w') as f:
        for i in range(10, 26):
            f.write(sample('server', 100, 100, i, 'cycles', 'serve') + sample('worker', 100, 101, i, 'cycles', 'crunch')
                    + sample('client', 200, 200, i, 'cycles', 'ask'))
            f.write(sample('client', 200, 200, i, 'faults', 'ask') if i in (10, 25) else '')
    t = Terminal(folder, build, columns=160)
    t.run('kin browse over.txt')
    t.wait('samples of cycles')
    t.sees(tap, lambda s: re.search(r'server +app +█ █ .*█  serve$', s, re.M) and re.search(r'server +app +█ █ .*█  crunch$', s, re.M),
           'over time: a program with its renamed threads')
    t.type('/crunch')
    t.keys('Enter', '+')
    t.sees(tap, lambda s: re.search(r'^ +33.33% .* begin$', s, re.M), '+: of those threads')
    t.keys('Escape', 'e')
    t.wait('samples of faults')
    t.sees(tap, lambda s: re.search(r'client +app +█ {30}█  ask$', s, re.M), 'e: over time of the next event, without another key')
    t.keys('q')
    t.close()


def test_many(tap, folder, build):
    """More callers than lines: the function stays in view, with neighbours above and below it."""
    with open(os.path.join(folder, 'many.folded'), 'w') as f:
        f.write(''.join(f'main;caller{i};middle;callee{i} {i}\n' for i in range(1, 60)))
    t = Terminal(folder, build)
    t.run('kin browse many.folded')
    t.wait('Enter callers')
    t.type('/middle')
    t.keys('Enter', 'Enter')
    t.wait('Enter go there')
    t.sees(tap, lambda s: 'caller59' in s and 'callee59' in s, 'a function in the middle of its callers and callees')
    t.keys('q')
    t.close()


def test_source(tap, folder, build):
    """From a function to its source, and to its instructions."""
    with open(os.path.join(folder, 'loop.c'), 'w') as f:
        # The processor decides where in a loop samples fall, so it is one line.
        f.write('int spin(void)\n{\n\tvolatile long x = 0;\n\tlong i = 200000000;\n'
                '\twhile (i--) x += i;\n\treturn 0;\n}\n\nint main(void)\n{\n\treturn spin();\n}\n')
    kin = os.path.join(os.path.abspath(build), 'kin')
    done = subprocess.run(['cc', '-g', '-O0', '-o', 'loop', 'loop.c'], cwd=folder, capture_output=True, text=True)
    if not done.returncode:
        done = subprocess.run([kin, 'record', '-q', '-o', 'loop.kin', './loop'], cwd=folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
    if done.returncode:
        tap.skip('from a function to its source', done.stderr.strip())
        return
    t = Terminal(folder, build, rows=30)
    t.run('kin browse loop.kin')
    t.wait('Enter callers')
    t.type('/spin')
    t.keys('Enter', 'a')
    t.wait('a instructions')
    t.sees(tap, lambda s: re.search(r'^ *\d+\.\d\d% .*  while \(i--\) x \+= i;', s, re.M), 'a: source lines with their time')
    t.keys('a')
    t.wait(r'a source .*\? menu')
    s = t.sees(tap, lambda s: re.search(r'^ *\d+\.\d\d% .* 0x[0-9a-f]+ .*\w', s, re.M), 'a: its instructions')
    place = lambda s: re.search(r'(\d+) of \d+$', s, re.M)[1]
    first = place(s)
    t.keys('H')
    s = t.sees(tap, lambda s: place(s) != first, 'H: the next hottest one')
    jump = re.compile(r'^.*(?:╭|╰)─ (?:j|b)\S+ +(?:\S+ +)*?#?0x([0-9a-f]+)', re.M)
    for _ in range(60):  # until one of the loop's jumps
        if jump.search(s):
            break
        before = place(s)
        t.keys('Down')
        t.wait(rf'(?<! {before}) of \d+$')
        s = t.settled()
    found = jump.search(s)
    t.sees(tap, lambda s: found and re.search(rf'0x{found[1]} +(?:╭|╰)> ', s), 'an arrow to where the selected instruction jumps')
    t.keys('Enter')
    t.sees(tap, lambda s: not jump.search(s), 'Enter: goes there')
    t.keys('Escape')
    tap.ok(t.wait('only /spin'), 'Esc: back', t.screen())
    t.keys('q')
    t.close()


def test_first_page(tap, folder, build):
    """The rows of kin report, in its order; then those that are not on its page."""
    chain = ';'.join(f'step{i}' for i in range(50))
    leaves = ''.join(f'prog;main;leaf{i} {60 - i}\n' for i in range(12))
    with open(os.path.join(folder, 'deep.folded'), 'w') as f:
        f.write(f'prog;main;{chain};work;inner 600\nprog;main;step1;often 9\nprog;main;rare 1\n' + leaves)
    t = Terminal(folder, build, columns=100, rows=22)
    report = subprocess.run([os.path.join(os.path.abspath(build), 'kin'), 'report', 'deep.folded'], cwd=folder, capture_output=True, text=True).stdout
    folded = re.search(r'^  (\d+) functions that only lead to one of these not shown: --all-rows$', report, re.M)[1]
    rows_of = lambda s: [line.split() for line in s.splitlines() if re.match(r' *[\d.]+% ', line)]
    t.run('kin browse deep.folded')
    t.wait('Enter callers')
    t.sees(tap, lambda s: rows_of(s)[:14] == rows_of(report)[:14] and len(rows_of(report)) > 13, 'the rows of kin report, in the same order')
    t.sees(tap, lambda s: f'; {folded} folded: A' in s.splitlines()[0] and 'most Self, then most Children' in s.splitlines()[0],
           'what is folded is said')
    t.keys('G')
    t.wait('rare$')
    t.sees(tap, lambda s: rows_of(s)[-1][-1] == 'rare', 'rows with less follow')
    t.type('/step7')
    t.keys('Enter')
    t.sees(tap, lambda s: ' 1 of 1' in s and 'step7' in s, '/: finds what is folded')
    t.keys('Escape', 's', 'g')
    t.wait('by Children')
    t.sees(tap, lambda s: [r[-1] for r in rows_of(s)[:3]] == ['main', 'step1', 'inner'], 's: by Children, without what is folded')
    t.keys('A')
    t.wait('step0')
    t.sees(tap, lambda s: [r[-1] for r in rows_of(s)[:4]] == ['main', 'step1', 'inner', 'step0'], 'A: each function by itself')
    t.sees(tap, lambda s: 'folded' not in s and 'Folded' not in s, 'nothing is folded then')
    t.keys('A')
    t.wait('Folded')
    t.keys('s', 's')
    tap.ok(t.wait('most Self, then most Children'), 's, s: as at first', t.screen())
    t.keys('q')
    t.wait('^prompt')
    t.run('kin browse --all-rows deep.folded')
    t.wait('Enter callers')
    t.sees(tap, lambda s: ' 1 of 67' in s and 'Folded' not in s, '--all-rows: each function by itself')
    t.tmux('resize-window', '-x', '36', '-y', '14')
    t.wait(r'^ *Self  Symbol$')
    t.sees(tap, lambda s: re.search(r'^ *47.47%  inner$', s, re.M), 'a narrow window: Self, which is what rows are ordered by')
    t.keys('q')
    t.close()


def test_rows(tap, folder, build):
    """Options about rows and samples are those of kin report, with the same numbers."""
    with open(os.path.join(folder, 'rows.txt'), 'w') as f:
        f.write(''.join(f'prog  {tid} [000] {n}.000000: 1 cpu-clock:\n\t1000 {leaf}+0x0 (/prog)\n\t2000 main+0x0 (/prog)\n\n'
                        for n, (tid, leaf) in enumerate([(12, 'often')] * 6 + [(13, 'often')] * 3 + [(13, 'rare')])))
    t = Terminal(folder, build, columns=100, rows=12)
    rows = lambda s: [(line.split()[0], line.split()[-1]) for line in s.splitlines() if re.match(r' *[\d.]+% ', line)]
    for options, wanted, what in (
            ('--by=thread -F overhead,sym',
             [('60.00%', 'often'), ('30.00%', 'often'), ('10.00%', 'rare'), ('0.00%', 'main'), ('0.00%', 'main')],
             '--by=thread: apart for each thread'),
            ('-s dso', [('100.00%', 'prog')], '--sort: other rows'),
            ('-s sym --min-share=50', [('100.00%', 'main'), ('90.00%', 'often')], '--min-share: none with less'),
            ('-s sym --no-children -S rare', [('10.00%', 'rare')], '--symbols: only samples taken there')):
        for command in ('browse', 'report --tui'):
            t.run(f'kin {command} {options} rows.txt')
            t.wait('Enter callers')
            t.sees(tap, lambda s: rows(s) == wanted, f'{command} {what}')
            t.keys('q')
            t.wait('^prompt')
    t.close()


def test_views(tap, folder, build):
    """The menu, orders, several words, the flame graph, one thread alone, and a view in a file."""
    with open(os.path.join(folder, 'views.txt'), 'w') as f:
        for tid, leaf, n in ((12, 'parse_words', 3), (13, 'parse_lines', 1)):
            for i in range(n):
                f.write(f'prog 11/{tid} [000] {i}.000250: 250000 cpu-clock:\n\t401136 {leaf}+0x6 (/usr/bin/app)\n'
                        f'\t401236 work+0x6 (/usr/bin/app)\n\t401336 start_{tid}+0x6 (/usr/lib/libx.so)\n\n')
    t = Terminal(folder, build, columns=80, rows=24)
    t.run('kin browse views.txt')
    t.wait('Enter callers')
    t.keys('>')
    tap.ok(t.wait('by Self *$'), '>: by the next column', t.screen())
    t.keys('<')
    tap.ok(t.wait('by Children *$'), '<: by the one before', t.screen())
    row = r'^ *100.00% +0.00% .*work'
    t.type('+')
    t.wait(r'^ *75.00% +75.00% +parse_words$')
    t.sees(tap, lambda s: re.search(r'^ *25.00% +25.00% +parse_lines$', s, re.M) and ' 1 of 7' in s, '+: what it calls, below it')
    t.keys('Down')
    t.keys('Enter')
    tap.ok(t.wait('^ kin  parse_words '), 'from there to its callers and callees', t.screen())
    t.keys('Escape', 'g')
    t.type('-')
    tap.ok(t.wait(' 1 of 5'), 'again: no more', t.screen())
    t.keys('s')
    t.wait('by Self')
    t.type('+')
    s = t.wait(r'^ *75.00% +\+ work$')
    t.keys('Down')
    t.type('+')
    tap.ok(s and t.wait(r'^ *75.00% {9,}start_12$'), 'by Self: who called it, and who called that', t.screen())
    t.keys('s', 's', 'g')
    t.wait('by Children')
    t.type('/parse line')
    t.keys('Enter')
    t.wait(' 1 of 1$')
    t.sees(tap, lambda s: 'parse_lines' in s and 'parse_words' not in s, '/: all of several words')
    t.keys('Escape')
    t.wait('Enter callers')
    t.type('l60')
    t.keys('Enter')
    t.wait('only 60 % and more')
    t.sees(tap, lambda s: 'work' in s and 'start_12' in s and 'parse_lines' not in s, 'l: at least some share')
    t.keys('P')
    tap.ok(t.wait('rows are in kin-view-1.txt'), 'P: to a file', t.screen())
    with open(os.path.join(folder, 'kin-view-1.txt')) as f:
        rows = f.read()
    tap.ok(re.search(r'^ *100.00% .* work$', rows, re.M) and 'parse_lines' not in rows, 'what is shown is in it', rows)
    t.keys('Escape')
    t.wait('Enter callers')
    t.keys('?')
    t.wait('Enter do it')
    s = t.sees(tap, lambda s: 'the flame graph' in s and 'the threads' in s and s.splitlines()[-1].strip(), '?: what can be done here')
    lines = [l.split()[0] for l in s.splitlines() if l.startswith('  ')]
    t.keys(*['Down'] * (lines.index('f') - lines.index('Enter')))
    t.keys('Enter')
    t.wait('from callers to callees')
    t.sees(tap, lambda s: re.search(r'start_12 +▏start_13', s) and re.search('parse_words +▏parse_lines', s) and '100.00%' in s,
           'Enter in the menu: the flame graph, as wide as the time')
    t.keys('Down', 'Right')
    tap.ok(t.wait('25.00%.*0.00% Self  start_13'), 'Down, Right: the callee, the one beside it', t.screen())
    t.keys('Enter')
    t.sees(tap, lambda s: 'start_12' not in s and 'parse_lines' in s, 'Enter: zoom')
    t.type('/parse_l')
    t.keys('Enter')
    tap.ok(t.wait('25.00% with parse_l'), '/: the time of all such functions', t.screen())
    t.keys('i')
    t.wait('from where time was spent')
    t.sees(tap, lambda s: re.search('parse_words +▏parse_lines', s) and re.search('^▏work +▏work', s, re.M), 'i: turned')
    t.keys('Escape', 'Escape')
    t.wait('Enter callers')
    t.keys('t')
    t.wait('Enter only that')
    t.sees(tap, lambda s: re.search(r'75.00% .*12:prog', s) and re.search('25.00% .*13:prog', s), 't: the threads')
    t.keys('Down', 'Enter')
    t.wait('thread 13:prog')
    t.sees(tap, lambda s: 'parse_lines' in s and 'parse_words' not in s and '100.00%' in s, 'Enter: that thread alone')
    t.keys('Escape')
    tap.ok(t.wait('parse_words'), 'Esc: all threads', t.screen())
    t.keys('d')
    t.wait('Enter only that')
    t.sees(tap, lambda s: re.search(r'100.00% +100.00% +app', s) and re.search('100.00% +0.00% +libx.so', s), 'd: programs and libraries')
    t.keys('Enter')
    tap.ok(t.wait('in app .*by Children'), 'Enter: what ran in it', t.screen())
    t.keys('q')
    t.close()


def test_difference(tap, folder, build):
    """kin diff --tui: the list of changes, and from each row to either side."""
    for name, weights in (('before', {'parse_words': 400, 'gone': 100, 'sort': 500}), ('after', {'parse_words': 900, 'fresh': 100, 'sort': 300})):
        with open(os.path.join(folder, f'{name}.folded'), 'w') as f:
            f.write(''.join(f'main;work;{function} {n}\n' for function, n in weights.items()))
    t = Terminal(folder, build, columns=80, rows=12)
    t.run('kin diff --tui before.folded after.folded')
    t.wait('Enter callers')
    rows = [('+500', '+50.00', 'parse_words'), ('-200', '-20.00', 'sort'), ('+100', '+10.00', 'fresh'), ('-100', '-10.00', 'gone')]
    t.sees(tap, lambda s: re.findall(r'^ *([+-]\d+) +([+-][\d.]+)% .* (\w+)$', s, re.M) == rows, 'kin diff --tui: the rows of kin diff')
    t.keys('>')
    tap.ok(t.wait('by of total'), '>: sorted by a column', t.screen())
    t.type('/parse')
    t.keys('Enter', 'Enter')
    t.wait('AFTER  parse_words')
    t.sees(tap, lambda s: re.search(r'69.23% .* parse_words', s), 'Enter: callers and callees after the change')
    t.keys('b')
    t.wait('BEFORE  parse_words')
    t.sees(tap, lambda s: re.search(r'40.00% .* parse_words', s), 'b: before it')
    t.keys('b')
    t.wait('AFTER  parse_words')
    t.keys('Escape', 'Escape')
    t.wait(' of 4$')
    t.type('/gone')
    t.keys('Enter', 'Enter')
    t.wait('BEFORE  gone')
    t.sees(tap, lambda s: re.search(r'10.00% .* gone', s), 'a function that is gone: before')
    t.keys('b')
    tap.ok(t.wait('there is nothing of it after'), 'b: it is not there after', t.screen())
    t.keys('Escape', 'Escape', 'f')
    t.wait('BEFORE  Flame graph')
    t.sees(tap, lambda s: re.search('▏gone', s), 'f: the flame graph')
    t.keys('b')
    t.wait('AFTER  Flame graph')
    t.sees(tap, lambda s: re.search('▏fresh', s) and 'gone' not in s, 'b: after')
    t.keys('q')
    t.close()


HELD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#define HELD(name) int name(const char *path, int flags, ...) { \
	va_list ap; va_start(ap, flags); int mode = va_arg(ap, int); va_end(ap); \
	while (strstr(path, "long.txt") && !access("hold", F_OK)) usleep(10000); \
	return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); }
HELD(open)
HELD(open64)
"""


def test_repeated(tap, folder, build):
    """With repeated runs the list has means, and a page of one side says that it is their sum."""
    for side in 'slow', 'fast':
        os.mkdir(os.path.join(folder, side))
        for i in range(3):
            with open(os.path.join(folder, side, f'{i}.folded'), 'w') as f:
                f.write(f'main;work {(900 if side == "slow" else 300) + i}\nmain;rest 100\n')
    t = Terminal(folder, build, columns=100, rows=12)
    t.run('kin diff --tui slow fast')
    t.wait('Enter callers')
    t.sees(tap, lambda s: re.search(r'^ *-600 .* 901 +301 .*work$', s, re.M), 'kin diff --tui of repeated runs: means')
    t.type('/work')
    t.keys('Enter', 'Enter')
    tap.ok(t.wait('AFTER, sum of 3 runs  work'), 'Enter: that times are those of all runs', t.screen())
    t.keys('b')
    tap.ok(t.wait('BEFORE, sum of 3 runs  work'), 'b: before, too', t.screen())
    t.keys('q')
    t.close()


def test_long_work(tap, folder, build):
    """Work that takes as long as we want: keys are heard meanwhile, and it is broken off."""
    with open(os.path.join(folder, 'held.c'), 'w') as f:
        f.write(HELD)
    built = subprocess.run(['cc', '-shared', '-fPIC', '-o', 'held.so', 'held.c', '-ldl'], cwd=folder, capture_output=True, text=True)
    if built.returncode:
        tap.skip('work that takes long', built.stderr)
        return
    path = os.path.join(folder, 'long.txt')
    with open(path, 'w') as f:
        for tid in 12, 13:
            f.write(f'prog 11/{tid} [000] 1.000250: 250000 cpu-clock:\n\t401136 work_{tid}+0x6 (/usr/bin/app)\n\n')
    t = Terminal(folder, build, columns=100)
    hold = os.path.join(folder, 'hold')
    t.run(f'ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD={folder}/held.so kin browse long.txt; echo status=$?')
    t.wait('Enter callers')
    open(hold, 'w').close()
    t.keys('t')
    t.wait('Enter only that')
    t.keys('Enter')
    tap.ok(t.wait(r'^ 1[23]:prog \.\.\. \d+ s   Esc breaks it off'), 'long work: what it is, how long it takes, and how to end it', t.screen())
    t.keys('Escape')
    tap.ok(t.wait('broken off'), 'Esc: breaks it off', t.screen())
    t.keys('Down')
    tap.ok(t.wait(' 2 of 2$'), '... and the page is there as it was', t.screen())
    t.keys('Escape')
    s = t.wait('Enter callers')
    t.keys('Enter')
    tap.ok(s and t.wait('what was begun before comes to its end'), 'what comes next waits for its end', t.screen())
    t.keys('Escape')
    t.wait('broken off')
    t.keys('q')
    tap.ok(t.wait('status=0'), 'q: quits at once', t.screen())
    os.remove(hold)
    t.run('kin browse long.txt; echo status=$?')
    t.wait('Enter callers')
    t.keys('t', 'Enter', 'q')
    tap.ok(t.wait('status=0'), 'keys that come while something is made are taken then', t.screen())
    t.close()


def test_sizes(tap, folder, build):
    """The first screen, on terminals from small to large."""
    with open(os.path.join(folder, 'sizes.txt'), 'w') as f:
        for i in range(200):
            leaf = ('parse_words', 'parse_lines', 'std::vector<std::pair<int, std::string>>::push_back', 'memchr')[i * i % 7 % 4]
            f.write(f'{("server", "worker")[i % 3 == 0]} 11/{12 + i % 3} [000] {i // 100}.{i % 100:02}0250: 250000 cpu-clock:\n'
                    f'\t4011{i % 4}6 {leaf}+0x6 ({"/usr/lib/libc.so.6" if leaf == "memchr" else "/usr/bin/app"})\n'
                    f'\t401236 {("handle", "refresh")[i % 5 == 0]}+0x6 (/usr/bin/app)\n\t401336 main+0x6 (/usr/bin/app)\n\n')
    for name, weights in (('old', {'parse_words': 400, 'gone': 100, 'sort': 500}), ('new', {'parse_words': 900, 'fresh': 100, 'sort': 300})):
        with open(os.path.join(folder, f'{name}.folded'), 'w') as f:
            f.write(''.join(f'main;work;{function} {n}\n' for function, n in weights.items()))
    with open(os.path.join(folder, 'cycle.folded'), 'w') as f:
        f.write('main;handle;parse;expression;parse;expression 90\nmain;handle;parse 30\nmain;handle 10\n')
    for columns, rows in ((40, 10), (80, 24), (120, 40), (250, 60)):
        t = Terminal(folder, build, columns=columns, rows=rows)
        t.run('kin browse sizes.txt')
        t.wait('Enter callers')
        path, update = os.path.join(SCREENS, f'{columns}x{rows}'), '--update' in sys.argv
        with open(path, encoding='utf-8') as f:
            wanted = f.read()
        shown = []

        def show(what, keys):
            for key in keys:
                t.keys(key)
            page = lambda screen: f'==== {what}\n' + re.sub(r'[ \n]+$', '\n', re.sub(r' +$', '', screen, flags=re.M))
            # Screens that are drawn while keys are handled do not count: the machine may be slow.
            shown.append(page(t.settled() if update else t.wait_screen(lambda s: wanted.startswith(''.join(shown) + page(s)))))

        for what, keys in (('functions', []), ('what the first one calls', ['+']), ('by Children', ['+', 's']), ('callers and callees', ['Down', 'Down', 'Enter']),
                           ('the flame graph', ['Escape', 's', 'f']), ('turned', ['i']), ('threads', ['Escape', 't']), ('the menu', ['Escape', '?']),
                           ('times of functions switched', ['Escape', 'T'])):
            show(what, keys)
        t.keys('q')
        t.wait('prompt')
        t.run('kin diff --tui old.folded new.folded')
        t.wait('Enter callers')
        for what, keys in (('a difference', []), ('by a column', ['>']), ('callers and callees after it', ['Enter']), ('and before', ['b']),
                           ('its flame graph', ['Escape', 'f']), ('after', ['b'])):
            show(what, keys)
        t.keys('q')
        t.wait('prompt')
        t.run('kin browse cycle.folded')
        t.wait('Enter callers')
        for what, keys in (('functions of a cycle that stacks go round', []), ('callers and callees in it', ['Down', 'Enter'])):
            show(what, keys)
        t.close()
        text = ''.join(shown)
        if update:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            wanted = text
        tap.ok(text == wanted, f'whole screens of {columns} columns', lambda: f'expected:\n{wanted}\ngot:\n{text}')


def test_record(tap, folder, build):
    """The last line during a recording, and the lines that stay afterwards."""
    kin = os.path.join(os.path.abspath(build), 'kin')
    done = subprocess.run([kin, 'record', '-q', '-o', 'try.kin', 'true'], cwd=folder, capture_output=True, text=True)
    if done.stderr:
        tap.skip('the line of a recording', done.stderr.strip())
        return
    with open(os.path.join(folder, 'talks'), 'w') as f:
        f.write('#!/bin/sh\nfor i in 1 2 3; do echo line $i; done\nwhile ! test -e go; do :; done\n'
                'for i in 4 5 6 7 8 9 10 11 12; do echo line $i; done\nwhile ! test -e stop; do :; done\necho last\nrm go stop\n')
    os.chmod(os.path.join(folder, 'talks'), 0o755)
    touch = lambda name: open(os.path.join(folder, name), 'w').close()
    foot = r'^kin record: \d+ s; \d+ samples/s; 1 process, 1 thread; none lost'
    t = Terminal(folder, build, columns=100)
    before = t.state()
    t.run('kin record -o seen.kin ./talks')
    t.wait(foot)
    t.sees(tap, lambda s: re.match(foot, s.splitlines()[-1]) and len(s.splitlines()) == 14 and 'line 3\n' in s,
           'a line at the foot says that samples arrive')
    touch('go')
    t.wait('line 12')
    t.wait(foot)
    t.type('typed')
    t.keys('Enter')
    t.wait('typed')
    t.sees(tap, lambda s: re.match(foot, s.splitlines()[-1]) and {'line 11', 'line 12'} <= set(s.splitlines()) and s.count('samples/s') == 1,
           'what the program prints scrolls above it')
    touch('stop')
    t.wait(r'next: kin report seen\.kin, or on the terminal: kin browse seen\.kin')
    t.sees(tap, lambda s: 'samples/s' not in s and 'last' in s.splitlines() and '-> seen.kin' in s and re.search('stacks: .* complete', s),
           'at the end it is gone, and the file is named, what to trust, and what to type next')
    t.wait('typed: not found')
    t.run('seq 20; echo status=$?')
    t.wait('status=0')
    t.sees(tap, lambda s: len(s.splitlines()) == 14 and '12\n13\n14' in s, 'the whole screen scrolls again')
    tap.ok(t.state() == before != '', 'the terminal is as it was', t.screen())
    for how, what in (('-q', '-q'), ('2>said', 'standard error is a file')):
        t.run(f'kin record -o seen.kin {how} ./talks')
        t.wait('line 3')
        touch('go')
        time.sleep(2.5)  # lines would have come
        s = t.screen()
        touch('stop')
        t.wait('last')
        tap.ok('samples/s' not in s, f'{what}: no line', s)
        t.wait('^prompt')
    with open(os.path.join(folder, 'said'), 'rb') as f:
        said = f.read()
    tap.ok(b'\x1b' not in said and b'next: kin report' in said, '... nor its escapes in the file', said)
    t.run('kin record -o seen.kin sh -c "stty -icanon; while ! test -e stop; do :; done; stty icanon"')
    time.sleep(2.5)
    tap.ok('samples/s' not in t.screen(), 'nor while the program takes keys one by one', t.screen())
    touch('stop')
    t.wait('next: kin report')
    os.remove(os.path.join(folder, 'stop'))
    t.close()


def test_program(tap, folder, build):
    """kin ./prog: records and shows it."""
    with open(os.path.join(folder, 'works'), 'w') as f:
        f.write('#!/bin/sh\necho args $*\ni=0\nwhile test $i -lt 200000; do i=$((i+1)); done\nexit 3\n')
    os.chmod(os.path.join(folder, 'works'), 0o755)
    t = Terminal(folder, build, columns=100, rows=24)
    t.run('kin ./works a b; echo status=$?')
    t.wait('Enter callers')
    t.sees(tap, lambda s: 'most Self, then most Children' in s, 'kin ./prog on a terminal: records it, then the browser')
    t.keys('q')
    t.wait('status=3')
    t.sees(tap, lambda s: 'args a b' in s and '-> profile.kin' in s, 'its arguments, its exit status')
    t.run('kin ./works a >out 2>err; echo again=$?')
    t.wait('again=3')
    out, err = (open(os.path.join(folder, f)).read() for f in ('out', 'err'))
    tap.ok(out.startswith('args a\n') and 'Children' in out and '-> profile.kin' in err, '... elsewhere the first screen', out + err)
    t.close()


def test_stop(tap, folder, build):
    """Ctrl-Z stops the whole job, including a script that started kin."""
    t = Terminal(folder, build, SHELL='/bin/bash')
    t.run('exec bash --norc --noprofile')
    t.run("sh -c 'kin browse a.folded; :'; echo status=$?")
    t.wait('busy')
    t.keys('C-z')
    tap.ok(t.wait('Stopped'), 'Ctrl-Z: the shell has the terminal again', t.screen())
    t.run('fg')
    tap.ok(t.wait('Enter callers'), 'fg: goes on', t.screen())
    t.keys('C-l')
    tap.ok(t.wait('Enter callers'), 'Ctrl-L: the screen anew', t.screen())
    t.keys('q')
    t.close()


def test_narrow(tap, folder, build):
    """Function names stay in view however narrow the terminal is; truncated texts are marked."""
    with open(os.path.join(folder, 'narrow.txt'), 'w') as f:
        f.write('long-command 12/13 [002] 1.000250: 250000 cpu-clock:\n'
                '\t401136 a_function_with_a_name_of_some_length+0x6 (/usr/lib/libwith_a_long_name.so.6)\n'
                '\t401136 main+0x6 (/usr/bin/app)\n\n')
    for columns, head, row, foot in (
            (100, r'Self  Shared Object +Symbol$', r'%  libwith_a_long_name.so.6  a_function_with_a_name_of_some_length$',
             r'Enter callers  \+ unfold  a source  f flame .* 1 of 2$'),
            (84, r'Self  Shared Object +Symbol$', r'%  libwith_a_long_name.so.6  a_function_with_a_name_of_some_length$', r'Enter callers  a .* 1 of 2$'),
            (64, r'Self  Shared Object +Symbol$', r'%  libwith_a_long_nam…  a_function_with_a_name_…$', r'Enter callers  a .*\? menu  q quit +1 of 2$'),
            (50, r'Self  Symbol$', r'%  a_function_with_a_name_of_some…$', r'Enter callers  a .*\? menu  q quit +1 of 2$')):
        t = Terminal(folder, build, columns=columns)
        t.run('kin browse narrow.txt')
        t.wait(r' 1 of 2$')
        shown = lambda lines: re.search(head, lines[1]) and any(re.search(row, l) for l in lines) and re.search(foot, lines[-1])
        t.sees(tap, lambda s: shown([l.rstrip() for l in s.splitlines()]), f'{columns} columns: the function is seen')
        t.keys('q')
        t.close()


def test_long_names(tap, folder, build):
    """Left and Right scroll names that do not fit, up to their ends; other names stay. Combining marks take no column, in any locale."""
    long, marked = 'a_function_with_a_name_' + 20 * 'that_goes_on_' + 'to_its_end', 60 * 'e\u0301' + 'z'
    with open(os.path.join(folder, 'long.folded'), 'w') as f:
        f.write(f'main;{long};leaf 2\nmain;{marked} 1\n')
    for locale in ('C.UTF-8', 'C'):
        t = Terminal(folder, build, LC_ALL=locale)
        t.run('kin browse long.folded')
        t.wait(r' 1 of 4$')
        t.type('/that_goes_on')
        t.keys('Enter')
        t.wait(r' 1 of 1$')
        t.keys('Enter')
        t.wait('Esc back')
        t.keys(*60 * ['Right'])
        t.sees(tap, lambda s: re.search(r'  main$', s, re.M) and re.search('  [a-z_]+_to_its_end$', s, re.M) and re.search('  leaf$', s, re.M),
               f'{locale}: Right on the page of a function: the end of its name, and the others')
        t.keys('Left', 'Left')
        t.sees(tap, lambda s: 'to_its_end' not in s and 'that_goes_on' in s, 'Left goes back at once')
        t.keys('Escape', 'Escape')
        letters = marked if locale != 'C' else marked.replace('\u0301', '')
        t.sees(tap, lambda s: re.search(f'  {letters}$', s, re.M), f'{locale}: letters with marks take one column each')
        t.keys('q')
        t.close()


def test_signal(tap, folder, build):
    t = Terminal(folder, build)
    before = t.state()
    mine = 'ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0:handle_abort=0'  # of a build with sanitizers
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
        t.run(f'sh -c \'ulimit -c 0; echo $$ >pid; {mine} exec kin browse a.folded\'; echo status=$?')
        t.wait('busy')
        os.kill(int(open(os.path.join(folder, 'pid')).read()), number)
        tap.ok(t.wait(f'status={128 + number}'), f'{number.name} ends it', t.screen())
        tap.ok(t.state() == before != '', f'after {number.name} the terminal is as it was', before + t.screen())
        tap.ok('busy' not in t.screen() and t.tmux('display', '-p', '#{cursor_flag}') == '1\n',
               f'after {number.name} its screen is gone, the cursor is there', t.screen())
    t.close()


class Stalled:
    """A program on a terminal of its own that is read until a text is there, and then not any more."""

    def __init__(self, command, folder, until, env=None):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        self.modes = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            env={**os.environ, 'TERM': 'xterm', 'HOME': folder, **(env or {})},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.text = b''
        while until not in self.text:
            if not self.read(LIMIT):
                break
        self.begun = until in self.text

    def read(self, seconds):
        """Whether there was something."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.text += os.read(self.master, 65536)
        return True

    def stall(self, *keys):
        """Fills the terminal's buffer, and has the program draw more than fits; whether it hangs in that."""
        full = os.open(os.ttyname(self.slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                while os.write(full, b'.' * 4096):
                    pass
            except BlockingIOError:
                pass
            for key in keys:
                os.write(self.master, key)
            time.sleep(0.1)
            state = open(f'/proc/{self.process.pid}/syscall').read().split()
            if state[0] == str(WRITE):
                os.close(full)
                return True
        os.close(full)
        return False

    def ended(self):
        """The status; None: not even after a while."""
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def close(self):
        os.close(self.slave)
        os.close(self.master)


def test_stalled(tap, folder, build):
    """A terminal that nobody reads, as with a stalled ssh: signals end a program that hangs while writing to it."""
    kin = os.path.join(os.path.abspath(build), 'kin')
    if platform.machine() != 'x86_64':
        tap.skip('a stalled terminal', 'the number of write() is known for x86_64 alone')
        return
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        t = Stalled([kin, 'browse', 'a.folded'], folder, b'busy')
        hangs = t.begun and t.stall(b'?', b'x')
        t.process.send_signal(number)
        status = t.ended()
        tap.ok(hangs and status == -number, f'stalled: {number.name} ends it', f'{hangs} {status}')
        tap.ok(termios.tcgetattr(t.slave) == t.modes, f'stalled: after {number.name} the modes are as they were')
        seen = len(t.text)
        while t.read(0.2):
            pass
        tap.ok(b'\x1b[?1049l' in t.text[seen:], f'stalled: after {number.name} its screen is left', repr(t.text[-200:]))
        t.close()


def test_top_stalled(tap, folder, build):
    kin = os.path.join(os.path.abspath(build), 'kin')
    t = Stalled([kin, 'top', '-d', '0.05', '-p', str(os.getpid())], folder, b'kin top')
    if not t.begun:
        t.process.kill()
        t.process.wait()
        tap.skip('kin top on a stalled terminal', repr(t.text[-200:]))
        return
    hangs = t.stall(b's', b'?', b'x')
    t.process.send_signal(signal.SIGTERM)
    status = t.ended()
    tap.ok(hangs and status == -signal.SIGTERM and termios.tcgetattr(t.slave) == t.modes, 'kin top on a stalled terminal: SIGTERM ends it',
           f'{hangs} {status}')
    t.close()


def test_colors(tap, folder, build):
    for env, colored in (({}, True), ({'NO_COLOR': '1'}, False)):
        t = Terminal(folder, build, **env)
        t.run('kin browse a.folded')
        t.wait('busy')
        has = bool(re.search('\x1b\\[[0-9;]*3[12]', t.screen('-e')))
        tap.ok(has == colored, 'colours' if colored else 'none with NO_COLOR', t.screen('-e'))
        t.keys('q')
        t.close()
    t = Terminal(folder, build, LC_ALL='C')
    t.run('kin browse a.folded')
    t.wait('busy')
    t.sees(tap, lambda s: '日本語' not in s and '???' in s, 'where there is only ASCII: no more than that')
    t.keys('q')
    t.close()


def test_without(tap, folder, build):
    kin = os.path.join(os.path.abspath(build), 'kin')
    done = subprocess.run(['setsid', '-w', kin, 'browse', 'a.folded'], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    tap.ok(done.returncode == 1 and 'no terminal (kin report and kin graph need none)' in done.stderr,
           'without a terminal: said', done.stderr)
    t = Terminal(folder, build)
    t.run('TERM=dumb kin browse a.folded; echo status=$?')
    t.wait('status=1')
    t.sees(tap, lambda s: 'can only print' in s and 'kin report' in s, 'TERM=dumb: said, and what to do')
    t.run('TERM=nosuch kin browse a.folded; echo other=$?')
    t.wait('other=1')
    t.sees(tap, lambda s: "'nosuch'" in s and 'TERM=xterm-256color' in s, 'TERM=nosuch: said, and what to do')
    t.close()


def test_other_terminals(tap, folder, build):
    """TERM=ansi says that the cursor leaves the last column at once, and that it moves by tabs: the terminal does neither."""
    shown = []
    for term in ('xterm', 'ansi'):
        t = Terminal(folder, build)
        t.run(f'TERM={term} kin browse a.folded')
        t.wait('menu')
        t.keys('Down', 'Down', 'Enter')
        t.wait('Esc back')
        t.settled()
        shown.append([' '.join(line.split()) for line in t.screen().splitlines()])
        t.close()
    tap.ok(shown[0] == shown[1], 'TERM=ansi: nothing of the page before is left', '\n'.join(sum(shown, [])))
    t = Terminal(folder, build, rows=10)  # Linux's console has one screen
    t.run('TERM=linux kin browse a.folded')
    t.wait('menu')
    t.keys('q')
    t.sees(tap, lambda s: s.rstrip().splitlines()[-1].rstrip() == 'prompt', 'TERM=linux: the prompt is alone in its row')
    t.close()


def test_top(tap, folder, build):
    kin = os.path.join(os.path.abspath(build), 'kin')
    busy = ['sh', '-c', 'while :; do :; done']
    done = subprocess.run([kin, 'top', '--json', '-n', '1', '-d', '0.2', 'true'], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode:
        tap.skip('kin top on a terminal', done.stderr.strip())
        return
    with open(os.path.join(folder, 'top.json'), 'w') as out: # no pipe: the command goes on, and would hold it
        subprocess.run([kin, 'top', '--json', '-n', '3', '-d', '0.5', *busy], cwd=folder, stdout=out, stderr=out,
                       stdin=subprocess.DEVNULL, timeout=60)
    kill(folder, busy[2])
    documents, rest = [], open(os.path.join(folder, 'top.json')).read()
    while rest.strip():
        document, end = json.JSONDecoder().raw_decode(rest.lstrip())
        documents.append(document)
        rest = rest.lstrip()[end:]
    rows = [r for d in documents for r in d['rows']]
    tap.ok(len(documents) == 3 and rows and all(r['comm'] == 'sh' and 0 <= r['self'] <= r['children'] <= 1 for r in rows),
           'kin top --json: a document for each refresh', rest)
    for d in documents[1:]:
        tap.ok(abs(sum(r['self'] for r in d['rows']) - 1) < 1e-6, 'Self adds up to all', str(d['rows']))
    work = subprocess.Popen(busy, stdin=subprocess.DEVNULL)
    try:
        t = Terminal(folder, build)
        t.run(f'kin top -d 0.2 -p {work.pid}; echo status=$?')
        t.wait(r'^ +\d+\.\d\d% .* (da)?sh ')
        t.sees(tap, lambda s: 'kin top' in s and 'samples of' in s, 'kin top: rows')
        t.wait('% seen')  # then it leads with own code, or not
        tap.ok(not re.search(r'\[(da)?sh\]', t.screen()), 'without own code it shows all functions', t.screen())
        t.keys('p')
        tap.ok(t.wait('paused'), 'p: holds the picture', t.screen())
        first = t.settled()
        time.sleep(1)
        tap.ok(t.screen() == first, 'which stays', first + t.screen())
        t.keys('p')
        tap.ok(t.wait('paused', gone=True), 'p: goes on', t.screen())
        t.keys('Enter')
        tap.ok(t.wait('Enter go there'), 'Enter: callers and callees while it runs', t.screen())
        t.keys('P')
        written = re.search(r'rows are in (kin-view-\d+\.txt)', t.wait(r'rows are in kin-view-\d+\.txt'))
        said = open(os.path.join(folder, written[1])).read() if written else ''
        tap.ok('callers are not checked live' in said, '...: that calls are not checked live is said', said + t.screen())
        t.keys('Escape')
        t.wait('Enter callers')
        work.kill()
        tap.ok(t.wait(r'ended'), 'it ends with the process', t.screen())
        t.keys('q')
        tap.ok(t.wait('status=0'), 'q: quit', t.screen())
        t.run("kin top -d 0.2 sh -c 'echo noise; while :; do :; done'; echo status=$?")
        s = t.wait(r'^ +\d+\.\d\d% .* (da)?sh ')
        tap.ok(s and 'noise' not in s, 'what the command prints does not disturb', s or t.screen())
        t.keys('C-c')
        tap.ok(t.wait('status=0'), 'Ctrl-C: quit', t.screen())
        tap.ok(kill(folder, 'echo noise; while'), 'the command goes on')
        t.run("kin top --wall -d 0.2 sh -c 'while :; do sleep 0.01; done'; echo status=$?")
        t.wait(r'^ +\d+\.\d\d% ')
        seen = [event_of(t.wait('samples? of'))]
        while len(seen) < 20 and not ('blocked' in seen and len(set(seen)) >= 2):
            t.keys('e')
            # There may be one event only, until it has slept.
            seen.append(event_of(t.wait_screen(lambda s: event_of(s) not in ('', seen[-1]))))
        tap.ok('blocked' in seen and len(set(seen)) >= 2, '--wall: e goes to the time asleep', str(seen) + t.screen())
        t.keys('q')
        tap.ok(t.wait('status=0'), 'q: quit', t.screen())
        kill(folder, 'sleep 0.01')
        keeps_event(tap, t, folder)
        t.run(f'TERM=dumb kin top -n 1 -d 0.2 -p {os.getpid()}; echo status=$?')
        tap.ok(t.wait('status=0'), 'TERM=dumb: prints', t.screen())
        t.run(f'kin top -K -s sym -d 0.2 -p {os.getpid()} -z; echo status=$?')
        tap.ok(t.wait('samples of|no samples'), '-K, -z, -s', t.screen())
        t.keys('q')
        t.wait('status=0')
        t.close()
    finally:
        work.kill()
        work.wait()


def test_top_times(tap, folder, build):
    """kin top: when functions were on the stack, refresh by refresh; held while it is paused."""
    busy = ['sh', '-c', 'while :; do :; done']
    work = subprocess.Popen(busy, stdin=subprocess.DEVNULL)
    t = Terminal(folder, build, columns=130)
    try:
        t.run(f'kin top -s sym -d 0.5 -p {work.pid}; echo status=$?')
        if not t.wait(r'^Children .* over time +|status=[^0]') or 'status=' in t.screen():
            tap.skip('kin top: times of functions', t.screen())
            return
        spark = re.compile(r'^ +\d+\.\d\d% .* [▁▂▃▄▅▆▇█][ ▁▂▃▄▅▆▇█]*[▁▂▃▄▅▆▇█]  ', re.M)
        t.sees(tap, lambda s: spark.search(s) and 'over time' in s, 'kin top: a sparkline that grows with each refresh')
        t.keys('p')
        t.wait('paused')
        held = t.settled()
        time.sleep(1)
        tap.ok(t.screen() == held, 'p: it is held', held + t.screen())
        t.keys('p')
        t.wait('paused', gone=True)
        t.sees(tap, lambda s: spark.search(s) and s != held, 'p: and goes on')
        t.keys('T')
        tap.ok(t.wait('over time', gone=True), 'T: without', t.screen())
        t.keys('q')
        tap.ok(t.wait('status=0'), 'q: quit', t.screen())
    finally:
        work.kill()
        work.wait()
        t.close()


def test_top_code(tap, folder, build):
    """kin top: source and instructions of a function, with the samples so far."""
    with open(os.path.join(folder, 'busy.c'), 'w') as f:
        f.write('volatile long x;\nvoid turn(void)\n{\n\tfor (;;)\n\t\tx += 1;\n}\nint main(void) { turn(); }\n')
    built = subprocess.run(['cc', '-g', '-O0', '-o', 'busy', 'busy.c'], cwd=folder, capture_output=True, text=True)
    top = subprocess.run([os.path.join(os.path.abspath(build), 'kin'), 'top', '--stdio', '-n', '1', '-d', '0.1', 'true'], cwd=folder,
                         capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if built.returncode or top.returncode:
        tap.skip('kin top: source', built.stderr + top.stderr)
        return
    t = Terminal(folder, build, columns=100, rows=24)
    t.run('kin top -d 0.2 ./busy; echo status=$?')
    t.wait(r'busy .* turn$')
    t.type('/turn')
    t.keys('Enter', 'a')
    t.wait('a instructions')
    t.sees(tap, lambda s: re.search(r'^ *\d+\.\d\d% .*(x \+= 1;|for \(;;\))', s, re.M), 'a: source lines with the samples so far')
    t.keys('a')
    t.wait(r'a source .*\? menu|Enter follow')
    t.sees(tap, lambda s: re.search(r'^ *\d+\.\d\d% .* 0x[0-9a-f]+ .*\w', s, re.M), 'a: its instructions')
    t.keys('Escape')
    tap.ok(t.wait('only /turn'), 'Esc: back to what runs now', t.screen())
    t.keys('q')
    t.wait('status=')
    kill(folder, './busy')
    t.close()


def test_top_own(tap, folder, build):
    """kin top begins with own code, most Self first; it says that it is measuring, and then what part of the time it saw."""
    with open(os.path.join(folder, 'copies.c'), 'w') as f:
        f.write('#include <string.h>\nchar a[1 << 16], b[1 << 16];\nvoid copies(void)\n{\n\tfor (int i = 0; i < 1000; i++)\n'
                '\t\tmemcpy(a, b, sizeof(a) - b[i]);\n}\nint main(void)\n{\n\tfor (;;)\n\t\tcopies();\n}\n')
    built = subprocess.run(['cc', '-g', '-O0', '-fno-builtin', '-o', 'copies', 'copies.c'], cwd=folder, capture_output=True, text=True)
    top = subprocess.run([os.path.join(os.path.abspath(build), 'kin'), 'top', '--stdio', '-n', '1', '-d', '0.1', 'true'], cwd=folder,
                         capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if built.returncode or top.returncode:
        tap.skip('kin top: own code', built.stderr + top.stderr)
        return
    t = Terminal(folder, build, columns=130, rows=24)
    t.run('kin top -d 30 ./copies; echo status=$?')
    tap.ok(t.wait(r'^ kin top  measuring, 0\.\d s so far'), 'kin top: too little is said to be that', t.screen())
    tap.ok(t.wait(r'cores busy, \d+ % seen'), 'after a second, long before the next refresh: what part was seen', t.screen())
    t.sees(tap, lambda s: re.search(r'^ *9\d\.\d\d% .* __memcpy.* copies$', s.splitlines()[2]), 'own code first, and what it paid for')
    t.keys('o')
    t.sees(tap, lambda s: re.search(r'^ *9\d\.\d\d% .*mem(cpy|move)\w*$', s.splitlines()[2]), 'o: all functions')
    t.keys('o')
    t.sees(tap, lambda s: re.search(r'copies$', s.splitlines()[2]), 'o: own code again')
    t.keys('q')
    t.wait('status=')
    t.run("kin top --own=no -d 0.2 ./copies; echo status=$?")
    t.wait('measuring')
    t.keys('Enter')
    tap.ok(t.wait('cores busy'), 'what part was seen is said on the page of a function, too', t.screen())
    t.keys('Escape')
    t.wait('Enter callers')
    t.sees(tap, lambda s: re.search(r'mem(cpy|move)\w*$', s.splitlines()[2]), '--own=no: all functions')
    t.keys('q')
    t.wait('status=')
    kill(folder, './copies')
    t.close()


def event_of(screen):
    found = re.search(r'samples? of ([^\s;]+)', screen)  # behind a ';' come other notes
    return found[1] if found else ''


def goes_to(t, event):
    """Whether `e` goes to that event, sooner or later: those that it goes through come and go."""
    for _ in range(20):
        if event_of(t.wait('samples? of')) == event:
            return True
        t.keys('e')
        t.settled()
    return False


def keeps_event(tap, t, folder):
    """The event that was chosen is shown, whatever its number: once they sleep, too, there is one more before it."""
    sleepy = os.path.join(folder, 'sleepy')
    code = ('import os, sys, time\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nwhile True:\n'
            ' time.sleep(0.01) if os.path.exists(sys.argv[1]) else None\n'
            ' end = time.monotonic() + 0.03\n while time.monotonic() < end: pass')
    pair = [subprocess.Popen([sys.executable, '-c', code, sleepy]) for _ in range(2)]

    def keeps():
        if os.path.exists(sleepy):
            os.remove(sleepy)
        t.run(f'kin top --wall -d 0.4 -p {pair[0].pid},{pair[1].pid}; echo status=$?')
        chosen = goes_to(t, 'waiting')
        open(sleepy, 'w').close()
        shown = set()
        screen = t.screen()
        for _ in range(6):  # refreshes
            screen = t.wait_screen(lambda s, old=screen: event_of(s) and s != old)
            shown.add(event_of(screen))
        comes = goes_to(t, 'blocked')
        t.keys('q')
        return chosen and shown == {'waiting'} and comes and t.wait('status=0'), f'{chosen} {shown} {comes}\n{screen}'
    try:
        passed, seen = best(keeps, 3)  # where the recorder gets no CPU for long, an event has no samples for a while, and is none
        tap.ok(passed, 'an event stays when another comes, which e goes to', seen)
    finally:
        for process in pair:
            process.kill()
            process.wait()


def kill(folder, command):
    """Ends the processes of that command that were started in our folder; how many there were."""
    n = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/cwd') == os.path.realpath(folder) and \
                    command in open(f'/proc/{pid}/cmdline').read().replace('\0', ' ') and int(pid) != os.getpid():
                os.kill(int(pid), signal.SIGKILL)
                n += 1
        except OSError:
            pass
    return n


def main():
    build, tap = sys.argv[1], Tap()
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:  # signals that nohup ignores would be inherited by programs
        signal.signal(number, signal.SIG_DFL)
    if not shutil.which('tmux'):
        tap.skip('the terminal browser', 'tmux is not installed: NOTHING of it was tested')
        return tap.done()
    with tempfile.TemporaryDirectory(prefix='kin-tui.') as folder:
        for test in (test_counts, test_large_cycle, test_stacks, test_first_page, test_rows, test_events, test_events_over_time, test_many, test_source, test_views, test_difference, test_repeated, test_long_work, test_sizes, test_record, test_program,
                     test_narrow, test_long_names, test_signal, test_stalled, test_stop,
                     test_colors, test_other_terminals, test_without, test_top, test_top_times, test_top_code, test_top_own, test_top_stalled):
            tap.part(test, tap, folder, build)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

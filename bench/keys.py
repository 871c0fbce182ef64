"""How long the terminal browser takes to answer keys, on a recording of a million samples.

    keys.py BUILD [SAMPLES]

A key is answered when the first bytes come back: the new screen, or a line that says what is being worked on. The work
is finished when nothing more comes. A pseudo-terminal is read directly, so no terminal adds its own time. Prints a Markdown table of
the fastest, the middle and the slowest of five. Inputs are made in BENCH_DIR
(BUILD/bench) by report/gen.c.
"""
import fcntl
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, ROWS, TRIES = 120, 40, 5
QUIET, LONGEST = .2, 10  # seconds: nothing more comes; not even another second of work in the last row
ROW = re.compile(rb'\x1b\[(\d+)(?:;\d+H|d)')
GOAL_MS = 50

# Each: title, the keys that lead there, the measured key, the keys that lead back.
KEYS = (('the next row', '', 'j', 'k'), ('the next screen', '', ' ', 'g'), ('the last row', '', 'G', 'g'),
        ('sort by Self', '', 's', 's'), ('sort by the next column', '', '>', '<'), ('the menu', '', '?', '\x1b'),
        ('filter: a letter', '/', 'v', '\x1b'), ('filter: one more', '/v', 'i', '\x1b'), ('a limit', 'l', '1', '\x1b'),
        ('times of functions', '', 'T', 'T'), ('callers and callees', '', '\r', '\x1b'), ('back from there', '\r', '\x1b', ''),
        ('what it calls, below it', '', '+', '-'), ('the flame graph', '', 'f', '\x1b'), ('back from there', 'f', '\x1b', ''),
        ('a level down in it', 'f', '\x1b[B', '\x1b'), ('zoom in it', 'f\x1b[B\x1b[B', '\r', '\x1b\x1b'), ('the flame graph turned', 'f', 'i', 'i\x1b'),
        ('source', '', 'a', '\x1b'), ('cycles', '', 'y', '\x1b'), ('threads', '', 't', '\x1b'),
        ('one thread alone', 't', '\r', '\x1b\x1b'), ('libraries', '', 'd', '\x1b'), ('one library alone', 'd', '\r', '\x1b\x1b'))


class Browser:
    def __init__(self, kin, recording):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM='xterm-256color', LC_ALL='C.UTF-8')
            os.execv(kin, [kin, 'browse', recording])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))

    def read(self, seconds):
        """Bytes that come within that time, b'' if none do."""
        return os.read(self.fd, 1 << 16) if select.select([self.fd], [], [], seconds)[0] else b''

    def settle(self, data, quiet=QUIET):
        """Reads on after the first bytes of an answer, until announced work is finished and no more output comes. Returns the time of the last output."""
        last, at_work = time.monotonic(), False
        while data:
            last = time.monotonic()
            if b'breaks it off' in data:
                at_work = True
            elif any(int(row) != ROWS for row in ROW.findall(data)):
                at_work = False
            data = self.read(LONGEST if at_work else quiet)
        return last

    def press(self, keys):
        """(ms until something came, s until all had); (None, None): nothing came."""
        start = time.monotonic()
        os.write(self.fd, keys.encode())
        data = self.read(1)
        if not data:
            return None, None
        first = time.monotonic()
        return 1000 * (first - start), self.settle(data) - start


def one_by_one(keys):
    """The keys in a text; an escape sequence is one key."""
    at = 0
    while at < len(keys):
        n = 3 if keys[at:at + 2] == '\x1b[' else 1
        yield keys[at:at + n]
        at += n


def main():
    build = os.path.abspath(sys.argv[1])
    samples = sys.argv[2] if len(sys.argv) > 2 else '1000000'
    folder = os.environ.get('BENCH_DIR', os.path.join(build, 'bench'))
    made = os.path.join(folder, f'keys-{samples}')
    if not os.path.exists(os.path.join(made, 'perf.data')):
        os.makedirs(made, exist_ok=True)
        generator = os.path.join(folder, 'gen_report')
        subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-o', generator, os.path.join(HERE, 'report', 'gen.c')], check=True)
        subprocess.run([generator, made, samples], check=True)
    b = Browser(os.path.join(build, 'kin'), os.path.join(made, 'perf.data'))
    start = time.monotonic()
    while b'Children' not in (data := b.read(60)):
        pass
    print(f'{samples} samples, {os.getloadavg()[0]:.1f} other programs at work; the first screen after {time.monotonic() - start:.1f} s\n')
    b.settle(data, 8)  # until times and cycles are there
    print('| key | what | answer, ms | all of it, s |\n|---|---|---|---|')
    slow = []
    for what, way, key, back in KEYS:
        answers, ends = [], []
        for _ in range(TRIES):
            for k in one_by_one(way):
                b.press(k)
            answer, end = b.press(key)
            for k in one_by_one(back):
                b.press(k)
            if answer is not None:
                answers.append(answer)
                ends.append(end)
        name = {'\r': 'Enter', '\x1b': 'Esc', ' ': 'Space', '\x1b[B': 'Down'}.get(key, key)
        if not answers:
            print(f'| {name} | {what} | nothing came | |', flush=True)
            continue
        middle = statistics.median(answers)
        print(f'| {name} | {what} | {middle:.1f} ({min(answers):.1f}–{max(answers):.1f}) | {statistics.median(ends):.2f} |', flush=True)
        if middle > GOAL_MS:
            slow.append(f'{name} ({what})')
    os.write(b.fd, b'q')
    os.waitpid(b.pid, 0)
    print('\nSlower than 50 ms: ' + (', '.join(slow) or 'none'))


if __name__ == '__main__':
    main()

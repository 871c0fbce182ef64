"""Rights of files made from recordings: only users who may read each of the recordings may read them.

    rights.py BUILD
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from gmonlib import Arc, Elf, Hist, Symbol, gmon, save
from tap import Tap

FOLDED = b'prog;main;load 5\nprog;main;save 7\n'
# Name and command line of each way to write a file: {data} is the recording, {out} the file.
OF_GMON = [
    ('kin flat -o', 'kin flat prog {data} -o {out}'),
    ('kin graph -o', 'kin graph prog {data} -o {out}'),
    ('kin lines -f csv -o', 'kin lines prog {data} -f csv -o {out}'),
    ('kin diff -o', 'kin diff --all prog {data} {other} -o {out}'),
    ('kin check -o', 'kin check prog {data} {other} --format=junit -o {out}'),
    ('kin merge -o', 'kin merge prog {data} {other} -o {out}'),
    ('kin merge -o FILE.kin', 'kin merge prog {data} {other} -o {out}.kin'),
    ('gprof -s', 'gprof -s prog {data}'),
    ('gprof --compat=gnu -s', 'gprof --compat=gnu -s prog {data}'),
]
OF_FOLDED = [
    ('kin report -o', 'kin report -i {data} -o {out}'),
    ('kin report -f html -o', 'kin report -i {data} -f html -o {out}'),
    ('kin html -o', 'kin html {data} -o {out}'),
    ('kin html', 'kin html {data}'),
    ('kin export -o', 'kin export --to=pprof {data} -o {out}'),
    ('kin export --to=kin -o', 'kin export --to=kin {data} -o {out}'),
    ('kin script -o', 'kin script {data} -o {out}'),
    ('kin info -o', 'kin info {data} -o {out}'),
    ('kin diff -f html -o', 'kin diff -f html --all {data} {other} -o {out}'),
]
WRITTEN = {'kin html': 'profile.html', 'gprof -s': 'gmon.sum', 'gprof --compat=gnu -s': 'gmon.sum',
           'kin merge -o FILE.kin': 'out.kin'}


def mode_of(path):
    return os.lstat(path).st_mode & 0o777


class Box:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        save(self.path('prog'), Elf([Symbol(b'main', 0x1000, 32), Symbol(b'load', 0x1020, 32)], text=0x1000, size=64).bytes())
        recording = gmon([Hist(0x1000, 0x1040, [3] * 16), Arc(0x1004, 0x1020, 2)])
        self.data = {'gmon.out': recording, 'stacks.folded': FOLDED}

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, mode):
        save(self.path(name), self.data[name])
        os.chmod(self.path(name), mode)
        save(self.path('other.' + name), self.data[name])
        os.chmod(self.path('other.' + name), 0o644)

    def run(self, command, stdin=subprocess.DEVNULL, **names):
        words = [w.format(out='out', **names) for w in command.split()]
        return subprocess.run([os.path.join(self.build, words[0]), *words[1:]], cwd=self.folder, stdin=stdin,
                              capture_output=True, timeout=60)

    def clean(self):
        for name in os.listdir(self.folder):
            if name not in self.data and name.removeprefix('other.') not in self.data and name != 'prog':
                os.unlink(self.path(name))


def commands():
    for name, command in OF_GMON:
        yield 'gmon.out', name, command
    for name, command in OF_FOLDED:
        yield 'stacks.folded', name, command


def test_made(tap, box):
    for data, name, command in commands():
        written = WRITTEN.get(name, 'out')
        names = {'data': data, 'other': 'other.' + data}
        for mode, umask, want in [(0o600, 0o022, 0o600), (0o640, 0o002, 0o660), (0o644, 0o022, 0o644), (0o644, 0o077, 0o600)]:
            box.clean()
            box.make(data, mode)
            before = os.umask(umask)
            done = box.run(command, **names)
            os.umask(before)
            made = mode_of(box.path(written)) if os.path.exists(box.path(written)) else None
            if 'html' in name:
                want = 0o666 & ~umask  # a page is made to be shown
            right = made == (0o600 if written.endswith('.kin') else want) # recordings are the owner's alone
            tap.ok(right and done.returncode in (0, 1, 3), f'{name}: of a recording of mode {mode:o} with umask {umask:o}',
                   f'{made or 0:o}\n' + done.stderr.decode())

        # A file that is there keeps less, never more. A page keeps what it has.
        box.clean()
        box.make(data, 0o600)
        open(box.path(written), 'wb').close()
        os.chmod(box.path(written), 0o666)
        done = box.run(command, **names)
        tap.ok(mode_of(box.path(written)) == (0o666 if 'html' in name else 0o600), f'{name}: one that others could read', done.stderr.decode())

        box.clean()
        save(box.path('victim'), b'precious')
        os.symlink('victim', box.path(written))
        done = box.run(command, **names)
        with open(box.path('victim'), 'rb') as f:
            same = f.read() == b'precious'
        tap.ok(same and done.returncode and b'symbolic link' in done.stderr, f'{name}: no symbolic link is followed', done.stderr.decode())


def test_input(tap, box):
    """Pipes, and files that are passed as open descriptors, keep their rights."""
    box.clean()
    box.make('stacks.folded', 0o644)
    with open(box.path('stacks.folded'), 'rb') as f:
        box.run('kin report -i - -o {out}', stdin=f)
    tap.ok(mode_of(box.path('out')) == 0o644, 'standard input that is a file: as that')
    os.chmod(box.path('stacks.folded'), 0o600)
    box.clean()
    with open(box.path('stacks.folded'), 'rb') as f:
        box.run('kin report -i - -o {out}', stdin=f)
    tap.ok(mode_of(box.path('out')) == 0o600, 'standard input that is a private file')
    box.clean()
    give, take = os.pipe()
    os.write(take, FOLDED)
    os.close(take)
    box.run('kin report -i - -o {out}', stdin=give)
    os.close(give)
    tap.ok(mode_of(box.path('out')) == 0o600, 'a pipe')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-rights.') as folder:
        box = Box(os.path.abspath(sys.argv[1]), folder)
        test_made(tap, box)
        test_input(tap, box)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

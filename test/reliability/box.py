"""Shared by the reliability drivers: the commands to try, seeds to damage, limits."""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, '..', 'cases')
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from subject import Subject, run

CPU_S = 2       # no input of up to a megabyte takes longer,
MEMORY_MB = 72  # needs more memory,
OUTPUT_MB = 64  # or prints more


class Command:
    """A command line with the places of program and data open, {prog} and {data}."""

    def __init__(self, subject, template):
        self.subject, self.template = subject, template

    def __str__(self):
        return self.template

    def run(self, prog, data, **limits):
        words = [w.format(prog=prog, data=data) for w in shlex.split(self.template)]
        if words[0] == 'gprof':
            return self.subject.run(words[1:], compat=None, **limits)
        r = run(words, **limits)
        if words[1] == 'diff' and r.status == 3:  # like status 1 of other commands; status 1 of diff means "slower"
            r.status = 1
        return r


class Box:
    def __init__(self, subject, build=None, full=False):
        self.subject = Subject(subject)
        self.full = full
        self.build = build
        self.extra = []     # the commands of ./commands, with programs of `build`
        if build:
            with open(os.path.join(HERE, 'commands')) as f:
                self.extra = [os.path.join(os.path.abspath(build), line.strip()) for line in f
                              if line.strip() and not line.startswith('#')]
        self._temp = tempfile.TemporaryDirectory(prefix='kin-reliability.')
        self.folder = self._temp.name
        self.slow = 5 if self.subject.is_sanitized else 1
        self.number = 0

    def commands(self, *options):
        """`gprof OPTIONS {prog} {data}` for each, and the extra commands."""
        made = [f'gprof {o} {{prog}} {{data}}' for o in options] + self.extra
        return [Command(self.subject, t) for t in made]

    def case(self, name, data='gmon.out'):
        """A writable copy of a golden case: (folder, program, data file)."""
        self.number += 1
        to = os.path.join(self.folder, f'{self.number}-{name}')
        shutil.copytree(os.path.join(CASES, name), to, ignore=shutil.ignore_patterns('expected.txt'))
        return to, os.path.join(to, 'prog'), os.path.join(to, data)

    def file(self, name, data=b''):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def limits(self, cwd=None, cpu=CPU_S):
        # One second more than allowed, to tell runs that took too long from runs that were stopped.
        return dict(cwd=cwd or self.folder, cpu=(cpu + 1) * self.slow, wall=(20 * cpu + 60) * self.slow,
                    as_mb=0 if self.subject.is_sanitized else 3072, file_mb=OUTPUT_MB, keep_mb=2)

    def fault(self, r, cpu=CPU_S, may_be_mute=False):
        """The fault of a run on bad input, in a word; '' if there is none."""
        if r.sanitizer:
            return 'crash'
        if r.status == -signal.SIGXFSZ:
            return 'endless output'
        if r.status in (-signal.SIGXCPU, -signal.SIGKILL) or r.cpu > cpu * self.slow:
            return 'hang'
        if r.status < 0:
            return 'crash'
        if r.rss_mb > MEMORY_MB and not self.subject.is_sanitized:
            return 'memory'
        if r.status and not r.err and not may_be_mute:
            return 'mute'
        return ''

    def compile(self, source, *flags, name='prog', language='c'):
        """Build a C program here; its path, or None without a compiler."""
        if not shutil.which('gcc'):
            return None
        path = os.path.join(self.folder, name)
        subprocess.run(['gcc', '-w', '-x', language, '-', '-o', path, *flags], check=True,
                       input=source if isinstance(source, bytes) else source.encode(),
                       cwd=self.folder)
        return path


def truncations(size, most):
    """Every offset below `size`, or `most` of them with all small ones and all near the end."""
    if size <= most:
        return list(range(size))
    edge = most // 4
    middle = range(edge, size - edge, max(1, (size - 2 * edge) // (most - 2 * edge)))
    return sorted({*range(edge), *middle, *range(size - edge, size)})

"""The gprof under test, run as a black box.

A subject is a command, usually build/gprof. It is started with argv[0] = "gprof", so that messages
can be compared, with LC_ALL=C, without GPROF_PATH, and never with more than a bounded amount of
time, memory and output. GNU gprof itself can be the subject: then nothing is added to the options,
and tests of its known faults fail, which shows that they can.
"""
import os
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

GNU = '/usr/bin/gprof'


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if k not in ('GPROF_PATH', 'GMON_OUT_PREFIX', 'LANG', 'LANGUAGE', 'LD_PRELOAD')
           and not k.startswith('LC_')}
    return dict(env, LC_ALL='C', **more)


@dataclass
class Result:
    status: int         # exit status, or minus the signal
    out: bytes
    err: bytes
    cpu: float = 0      # seconds
    wall: float = 0
    rss_mb: float = 0

    @property
    def how(self):
        if self.status >= 0:
            return f'exit {self.status}'
        return f'signal {signal.Signals(-self.status).name}'

    @property
    def sanitizer(self):
        return b'Sanitizer' in self.err or b'runtime error:' in self.err

    @property
    def crashed(self):
        return (self.status < 0 and -self.status not in (signal.SIGXCPU, signal.SIGKILL)
                or self.sanitizer)

    def describe(self):
        return (f'{self.how}, {self.cpu:.2f} s CPU, {self.rss_mb:.0f} MB\n'
                f'stdout: {self.out[:400]!r}\nstderr: {self.err[:2000]!r}')


class Subject:
    def __init__(self, command):
        words = shlex.split(command)
        path = shutil.which(words[0])
        if not path:
            raise SystemExit(f'no such program: {words[0]}')
        self.path = os.path.abspath(path)
        self.words = words
        with open(self.path, 'rb') as f:
            self.is_sanitized = b'__asan_init' in f.read()
        self.is_gnu = True  # nothing is added to the options
        version = self.run(['--version']).out
        self.is_gnu = b'GNU Binutils' in version

    def argv(self, args, compat='gnu'):
        """`compat`: as in kin's option; None: as gprof does it by default."""
        if len(self.words) > 1:
            head = [self.path] + self.words[1:]
        else:
            head = ['gprof']
        return head + ([f'--compat={compat}'] if compat and not self.is_gnu else []) + list(args)

    def run(self, args, cwd=None, stdin=None, compat='gnu', **limits):
        return run(self.argv(args, compat), executable=self.path, cwd=cwd, stdin=stdin, **limits)


_gnu = None


def gnu():
    """The installed GNU gprof."""
    global _gnu
    if not _gnu:
        _gnu = Subject(os.environ.get('GNU_GPROF', GNU))
        if not _gnu.is_gnu:
            raise SystemExit(f'{_gnu.path} is not GNU gprof')
    return _gnu


def run(argv, executable=None, cwd=None, stdin=None, env=None, cpu=20, wall=None, as_mb=0,
        file_mb=1024, keep_mb=256, stdout=None, preexec=None):
    """Run to the end or to a limit. `stdin`: path of a file, default /dev/null. The first
    `keep_mb` MB of output are kept. The peak of memory is at least that of this process: keep it small."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_mb << 20, file_mb << 20))
        if as_mb:
            resource.setrlimit(resource.RLIMIT_AS, (as_mb << 20, as_mb << 20))
        os.setsid()
        if preexec:
            preexec()

    wall = wall or cpu * 10  # the machine may be busy
    with open(stdin or '/dev/null', 'rb') as i, \
            tempfile.TemporaryFile() as o, tempfile.TemporaryFile() as e:
        start = time.monotonic()
        p = subprocess.Popen(argv, executable=executable, cwd=cwd, stdin=i, stdout=stdout or o,
                             stderr=e, env=env or environment(), preexec_fn=limit)
        _alarm(p, wall)
        _, status, usage = os.wait4(p.pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - start
        o.seek(0), e.seek(0)
        return Result(p.returncode, o.read(keep_mb << 20), e.read(1 << 20),
                      usage.ru_utime + usage.ru_stime, took, usage.ru_maxrss / 1024)


def _alarm(process, seconds):
    def kill(*_):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, seconds)

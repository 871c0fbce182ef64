"""Situations that are hard for a profiler: the program behaves as without it, and the profile misses nothing.

    run.py BUILD [--class record|run]... [--only PATTERN] [--jobs N] [--full]

Every situation is run plainly, and under each class of watcher. Exit status or signal, standard output,
standard error and the files that the program writes must be the same; and the profile has to contain the
program's known work, or to say what it lacks. A new class is one entry of WATCHERS: its command.

Without --full (or KIN_FULL=1) `errno` makes 20 million calls, and not 200; `dlopen` 1,000 rounds, and not 10,000.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

LIMIT = 300     # seconds of one run: the machine may be busy
NOBODY = 65534
LEAST = 0.6     # of the CPU time that a function is known to use, 60 ms, with a sample each millisecond
OWN = re.compile(r'kin \w+: .*\n')
# Making names takes more memory than recording, and happens when the program has ended.
NO_NAMES = re.compile(r'kin \w+: names are not kept: out of memory\n')
PROFILES = re.compile(r'\.kin$|^gmon\.out')


# ---- who watches ----

class Watcher(NamedTuple):
    command: list   # before the program's words
    build: str      # which of the programs
    counts: bool    # calls of leaf() are counted, all of them
    samples: bool   # CPU time is seen where it is used
    blind: dict     # situation: the message instead of a profile

WATCHERS = {
    'record': Watcher(
        ['record', '-q', '-F', '999', '-o', 'profile.kin', '--'], 'plain', False, True,
        {'read_only': 'Read-only file system', 'no_space': 'No space left', 'setuid_program': 'more rights',
         'output_directory': 'profile.kin', 'output_fifo': 'profile.kin', 'output_symlink': 'profile.kin'}),
    'run': Watcher(
        ['run', '-q', '-o', 'profile.kin', '--'], 'counted', True, True,
        {'setuid_program': 'other rights', 'read_only': 'cannot write profile.kin', 'no_space': 'No space left', 'output_directory': 'profile.kin', 'output_fifo': 'profile.kin',
         'output_symlink': 'profile.kin'}),
}


# ---- situations ----

class Situation(NamedTuple):
    words: list
    calls: object   # of leaf(); None: not known
    a: int          # milliseconds of CPU time in hot_a() and
    b: int          # hot_b(), at least
    program: str
    how: dict


def situations(full):
    hot, found = 60, {}

    def add(name, calls=200000, a=hot, b=hot, words=None, program='target', **how):
        found[name] = Situation(words or [name], calls, a, b, program, how)
    for name in ('normal exit42 _exit quick_exit exit_group abort segv kill term main_exits chdir env_clear close_all '
                 'close_late fd2 fsize nofile seccomp vfork spawn cancel exec_thread daemon see_sigprof').split():
        add(name)
    for name in ('chroot', 'setuid'):
        add(name, root=True)
    add('stack_overflow', None)
    add('exit_race', None, a=5 * hot, b=0)
    add('memory', 400000, a=2 * hot, b=2 * hot)
    add('fork', 500000, b=3 * hot)
    add('fork_exit', 500000, b=3 * hot)
    add('fork_parent_first', a=2 * hot)
    # Processes that end before the first tick of their clocks: all counted, and hardly sampled.
    add('fork_storm', 300000, b=0, short=True)
    add('fork_parallel', 100000, b=0, short=True)
    add('fork_threads', 10000, a=0, b=800)
    add('exec_chain', 11000, a=11 * 20, b=0)
    add('vfork_exit', 200, b=0)
    # Threads that end within their first period have no sample in kin run: said.
    add('threads1000', 1000000, b=0, unsampled=True)
    add('thread_calls', 16000000, a=0, b=0)
    add('thread_hot', 0, a=0, b=8 * hot)
    add('deep', 1000000, b=0, stack=True)
    n = 10000 if full else 1000
    add('dlopen', 10 * n, b=0, words=['dlopen', f'{n}:PLUG'], leaf='plug_leaf')
    add('longjmp', 1000000, b=0)
    add('coroutines', 200000, b=0)
    add('exceptions', 100000, b=0, program='throws', words=[str(hot)])
    add('own_sigprof', 400000, a=2 * hot, b=2 * hot)
    add('sigmask', unsampled=True)     # all signals, those of the runtime's timers included
    add('sigwait', 0, unsampled=True)
    add('alt_stack', 100000, b=0)
    add('eintr', 0, a=0, b=400)
    add('eintr_alone', 0, a=160, b=0, unsampled=True) # asleep between the kernel's ticks: said, too
    n = 2000 if full else 200
    add('errno', 100000 * n, a=0, b=0, words=['errno', str(n)])
    add('many_functions', None, b=0, program='many', words=[str(hot)])
    for program in ('static', 'static_pie', 'no_pie', 'stripped', 'musl', 'musl_static'):
        add(program, program=program, words=['normal'])
    normal = {'words': ['normal']}
    add('read_only', **normal, folder='read-only', root=True)
    add('no_space', **normal, folder='full', root=True)
    add('output_symlink', **normal, folder='symlink')
    add('output_fifo', **normal, folder='fifo')
    add('output_directory', **normal, folder='directory')
    add('fd2_elsewhere', words=['fd2', '/proc/self'])
    add('few_descriptors', **normal, shell='ulimit -S -n 4')
    add('little_memory', **normal, shell='ulimit -v 24000')
    add('closed_stdio', **normal, shell='exec 0<&- 1>&- 2>&-')
    add('setuid_program', **normal, root=True, setuid=True)
    return found


# ---- programs ----

def many_functions(path, n=3000):
    """A program with one place that calls n functions."""
    with open(path, 'w') as f:
        f.write('#include <stdio.h>\n#include <stdlib.h>\n#include "burn.h"\nstatic volatile unsigned long s;\n')
        for i in range(n):
            f.write(f'__attribute__((noinline)) static void f{i}(void) {{ s += {i}; }}\n')
        f.write('static void (*const all[])(void) = {' + ', '.join(f'f{i}' for i in range(n)) + '};\nBURN(hot_a, i ^ sink)\n'
                f'int main(int argc, char **argv)\n{{\n\tfor (int k = 0; k < 10; k++)\n\t\tfor (int i = 0; i < {n}; i++)\n'
                '\t\t\tall[i]();\n\thot_a((argc > 1 ? atoi(argv[1]) : 60) / 1e3);\n\tputs("ok");\n\treturn 0;\n}\n')


class Programs:
    """The programs in two builds: plain, with optimisation and without frame pointers; counted, with -pg."""

    def __init__(self, build, folder):
        self.folder = folder
        self.missing = {}
        many = os.path.join(folder, 'many.c')
        many_functions(many)
        library = os.path.join(os.path.realpath(build), 'runtime')
        for kind, flag in (('plain', ''), ('counted', '-pg')):
            archive = f'{library}/libkinrt.a' if kind == 'counted' else ''
            self.compile(f'target.{kind}', 'gcc', flag, 'target.c')
            self.compile(f'plug.{kind}.so', 'gcc', flag + ' -fPIC -shared', 'plug.c')
            self.compile(f'throws.{kind}', 'g++', flag, 'throws.cc')
            self.compile(f'many.{kind}', 'gcc', flag, many)
            self.compile(f'static.{kind}', 'gcc', flag + ' -static', 'target.c', archive)
            self.compile(f'static_pie.{kind}', 'gcc', flag + ' -static-pie', 'target.c', archive)
            self.compile(f'no_pie.{kind}', 'gcc', flag + ' -no-pie', 'target.c')
            subprocess.run(['strip', '-o', self.path('stripped', kind), self.path('target', kind)], check=False)
        headers = '-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu'
        self.compile('musl.plain', 'musl-gcc', headers, 'target.c')
        self.compile('musl_static.plain', 'musl-gcc', headers + ' -static', 'target.c')

    def compile(self, out, compiler, flags, source, after=''):
        if not shutil.which(compiler):
            self.missing[out] = f'no {compiler}'
            return
        std = '-std=gnu++17' if source.endswith('.cc') else '-std=gnu11'
        p = subprocess.run(f'{compiler} {std} -D_GNU_SOURCE -O1 -g -w -I../lib {flags} -o {self.folder}/{out} {source} {after} '
                           f'-pthread -ldl', shell=True, cwd=HERE, capture_output=True, text=True, check=False)
        if p.returncode:
            self.missing[out] = p.stderr[-300:]

    def path(self, name, kind):
        return os.path.join(self.folder, f'{name}.{kind}')

    def plug(self, kind):
        return os.path.join(self.folder, f'plug.{kind}.so')


# ---- one run ----

class Result(NamedTuple):
    status: object
    out: str
    err: str
    files: dict
    profiles: list
    folder: str


class Folder:
    """Where a program runs: as the situation wants it."""

    def __init__(self, top, s):
        self.top, self.mounted = top, False
        self.at = os.path.join(top, 'here')
        os.makedirs(self.at)
        os.chmod(top, 0o755)
        kind = s.how.get('folder')
        if kind in ('read-only', 'full'):
            self.mounted = not subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', self.at], check=False,
                                              capture_output=True).returncode
        if kind == 'full':
            with open(self.at + '/fill', 'wb') as f:
                f.write(bytes(60 << 10))
        if kind == 'read-only':
            subprocess.run(['mount', '-o', 'remount,ro', self.at], check=False, capture_output=True)
        if kind == 'symlink':
            with open(top + '/victim', 'w') as f:
                f.write('precious')
        path = os.path.join(self.at, 'profile.kin')
        if kind == 'symlink':
            os.symlink('../victim', path)
        if kind == 'fifo':
            os.mkfifo(path)
        if kind == 'directory':
            os.mkdir(path)
        if s.how.get('setuid'):
            os.chmod(top, 0o777)
            os.chmod(self.at, 0o777)

    def usable(self, s):
        return self.mounted or s.how.get('folder') not in ('read-only', 'full')

    def files(self):
        found = {}
        for base, _, names in os.walk(self.top):
            for n in names:
                path = os.path.join(base, n)
                if not PROFILES.search(n) and stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, 'rb') as f:
                        found[os.path.relpath(path, self.top)] = f.read()[:4096]
        return found

    def profiles(self):
        names = glob.glob(self.top + '/**/*.kin', recursive=True)
        return sorted(n for n in names if stat.S_ISREG(os.lstat(n).st_mode))

    def close(self):
        if self.mounted:
            subprocess.run(['umount', '-l', self.at], check=False)


def limits(s):
    def set_them():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if s.how.get('stack'):
            resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if s.how.get('setuid'):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return set_them


def run(top, programs, s, kind, prefix):
    """One run; all processes that have its output open have to end."""
    folder = Folder(top, s)
    exe = programs.path(s.program, kind)
    if s.how.get('setuid'):
        exe = shutil.copy(exe, folder.at + '/prog')
        os.chmod(exe, 0o4755)
    words = prefix + [exe] + [w.replace('PLUG', programs.plug(kind)) for w in s.words]
    if s.how.get('shell'):
        words = ['sh', '-c', s.how['shell'] + '; exec "$@"', 'sh', *words]
    env = {'PATH': os.environ['PATH'], 'HOME': os.path.dirname(top), 'LC_ALL': 'C'}
    p = subprocess.Popen(words, cwd=folder.at, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, preexec_fn=limits(s))
    try:
        out, err = p.communicate(timeout=LIMIT)
        status = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        status = 'no end'
    if s.how.get('setuid'):
        os.remove(exe)
    files = folder.files()
    r = Result(status, out.decode('latin1'), err.decode('latin1'), files, folder.profiles(), folder.top)
    return r, folder


# ---- contents of the profiles ----

def rows(kin, report, path):
    p = subprocess.run([kin, report, '-f', 'json', path], capture_output=True, text=True, check=False)
    try:
        return json.loads(p.stdout)['rows'], p
    except ValueError:
        return [], p


def read(kin, profiles):
    """Calls and seconds by name, and facts summed up, of all files together."""
    calls, seconds, facts, words = {}, {}, {}, []
    for path in profiles:
        for r in rows(kin, 'flat', path)[0]:
            name = r.get('name') or ''
            calls[name] = calls.get(name, 0) + (r.get('calls') or 0)
            seconds[name] = seconds.get(name, 0) + (r.get('self') or 0)
        found, p = rows(kin, 'info', path)
        if p.returncode or not found:
            words.append(f'{os.path.basename(path)}: kin info: {p.returncode} {p.stderr.strip()}')
        for r in found:
            if r['about'] == 'audit':
                number = float(str(r['value']).split()[0])
                facts[r['fact']] = facts.get(r['fact'], 0) + number
    return calls, seconds, facts, words


def lacks(kin, watcher, s, r):
    """Things that are missing in the profiles without a message."""
    calls, seconds, facts, words = read(kin, r.profiles)
    if not r.profiles:
        return ['there is no profile']
    named = s.program != 'stripped'
    if watcher.counts and s.calls is not None and named and not facts.get('calls lost'):
        n = calls.get(s.how.get('leaf', 'leaf'), 0)
        if n != s.calls:
            words.append(f'{n} calls of {s.calls}')
    if not watcher.samples or facts.get('samples lost'):
        return words
    # A machine that somebody else's machine takes the CPU from loses ticks of its clocks: the file says how many.
    cpu, sampled = facts.get('CPU time by the kernel', 0), facts.get('CPU time sampled', 0)
    stated = min(1, sampled / cpu) if cpu else 1
    if stated < 0.4 and s.how.get('unsampled') and watcher.counts and says_doubt(kin, r):
        return words
    if stated < 0.4 and s.a + s.b and not s.how.get('short'):
        words.append(f'sampled {sampled:.3f} s of {cpu:.3f}')
    for name, ms in (('hot_a', s.a), ('hot_b', s.b)):
        if named and seconds.get(name, 0) < LEAST * stated * ms / 1000:
            words.append(f'{name}: {seconds.get(name, 0):.3f} s of {ms / 1000:.3f}; sampled {sampled:.3f} of {cpu:.3f}')
    return words


def says_doubt(kin, r):
    """Whether each file itself says that its time, or part of it, has no sample."""
    said = [subprocess.run([kin, 'info', '--strict', p], capture_output=True, text=True, check=False) for p in r.profiles]
    return all(p.returncode == 1 and re.search('no sample of|samples stand for', p.stderr) for p in said)


# ---- one situation ----

def differences(plain, r, may_say, little_memory):
    words = []
    err = OWN.sub('', r.err) if may_say else NO_NAMES.sub('', r.err) if little_memory else r.err
    for what, was, now in (('status', plain.status, r.status), ('stdout', plain.out, r.out), ('stderr', plain.err, err),
                           ('files', plain.files, r.files)):
        if was != now:
            words.append(f'{what}: {str(was)[:300]!r} -> {str(now)[:300]!r}')
    return words


def judge(kin, name, watcher, s, plain, r):
    """[(point, words against it)]"""
    blind = watcher.blind.get(name)
    points = [(f'{name}: behaves as without', differences(plain, r, blind, name == 'little_memory'))]
    found = lacks(kin, watcher, s, r)
    if blind and found:
        said = any(blind in line for line in r.err.splitlines())
        points.append((f'{name}: says that it cannot be watched', [] if said else found + [r.err]))
    else:
        points.append((f'{name}: nothing is missing', found))
    return points


def situation(kin, work, programs, name, s, watchers):
    """Runs it plainly and under each; [(class, point, words)], words None: skipped, with the reason."""
    made, points, missing = [], [], programs.missing
    if s.how.get('root') and os.geteuid():
        return [('', name, None, 'takes root')]
    if f'{s.program}.plain' in missing:
        return [('', name, None, missing[f'{s.program}.plain'])]
    try:
        plain, folder = run(os.path.join(work, f'in.{name}.plain'), programs, s, 'plain', [])
        made.append(folder)
        if not folder.usable(s):
            return [('', name, None, 'mount is not allowed')]
        for key, w in watchers.items():
            if f'{s.program}.{w.build}' in missing or not os.path.exists(programs.path(s.program, w.build)):
                points.append((key, name, None, 'cannot be built for it'))
                continue
            r, folder = run(os.path.join(work, f'in.{name}.{key}'), programs, s, w.build, [kin, *w.command])
            made.append(folder)
            for point, words in judge(kin, name, w, s, plain, r):
                points.append((key, point, words, r))
    finally:
        for folder in made:
            folder.close()
    return points


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('build')
    ap.add_argument('--class', dest='classes', action='append', choices=WATCHERS)
    ap.add_argument('--only', default='')
    ap.add_argument('--jobs', type=int, default=2)
    ap.add_argument('--full', action='store_true')
    args = ap.parse_args()
    full = args.full or bool(os.environ.get('KIN_FULL'))
    tap = Tap()
    kin = os.path.join(os.path.realpath(args.build), 'kin')
    work = tempfile.mkdtemp(prefix='kin-situations.')
    os.chmod(work, 0o755)
    watchers = {k: WATCHERS[k] for k in args.classes or WATCHERS}
    try:
        programs = Programs(args.build, work)
        probe = subprocess.run([kin, 'record', '-q', '-o', work + '/probe.kin', 'true'], capture_output=True, text=True,
                               check=False)
        if 'does not let' in probe.stderr and watchers.pop('record', None):
            tap.skip('kin record', 'PERF_EVENT_OPEN IS REFUSED HERE: nothing of it was tested')
        todo = {n: s for n, s in situations(full).items() if re.search(args.only, n)}
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            runs = [pool.submit(situation, kin, work, programs, n, s, watchers) for n, s in todo.items()]
            for future in runs:
                for key, point, words, more in future.result():
                    if words is None:
                        tap.skip(f'{key} {point}', more)
                    else:
                        tap.ok(not words, f'kin {key}: {point}', '\n'.join(words))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

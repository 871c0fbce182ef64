"""Shared by the tests of the runtime: builds and runs programs, with libkinrt preloaded and without, and
reads the .kin files that they leave."""
import argparse
import collections
import os
import re
import resource
import select
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import dump                                                                     # noqa: E402
from tap import Tap                                                             # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument('build')
ap.add_argument('--full', action='store_true')
ap.add_argument('--only', default='')
args = ap.parse_args()
RT = os.path.realpath(os.path.join(args.build, 'runtime'))
SO = os.path.join(RT, 'libkinrt.so.0')
TOP = os.path.join(HERE, '..', '..')
RUNTIME = os.path.join(TOP, 'runtime')
MACHINE = os.uname().machine
FULL = args.full or bool(os.environ.get('KIN_FULL'))
TMP = tempfile.mkdtemp(prefix='kinrt.')
ROOT = os.geteuid() == 0
tap = Tap()


# ---- building and running ----

def includes(machine=MACHINE):
    """Compiler options for programs that include headers of the runtime, for that machine."""
    return f'-I{RUNTIME} -I{RUNTIME}/{machine} -I{TOP}/include -I{TOP}/src'


def compile_command(out, sources, flags='', after='', cc='gcc', machine=MACHINE):
    return (f'{cc} {"" if "++" in cc else "-std=gnu11"} -D_GNU_SOURCE -O1 -g -w {includes(machine)} {flags} -o {out} ' +
            ' '.join(os.path.join(HERE, s) for s in sources) + f' {after} -pthread -ldl')


def build(out, *sources, flags='', after='', cc='gcc'):
    path = os.path.join(TMP, out)
    cmd = compile_command(path, sources, flags, after, cc)
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(f'{cmd}\n{p.stderr}')
    return path


Result = collections.namedtuple('Result', 'status out err files kins')


def run(argv, preload=True, options='', setup=None, limits=None, env=None, timeout=300, where=None, daemons=False,
        shell=None):
    """daemons: also until all processes that it leaves have ended."""
    d = where or tempfile.mkdtemp(dir=TMP)
    if not where:
        os.chmod(d, 0o755)
    if setup:
        setup(d)
    e = {k: v for k, v in os.environ.items() if not k.startswith(('KIN_', 'GMON_', 'LD_'))}
    e.update(env or {})
    if preload:
        e['LD_PRELOAD'] = SO
    if preload or options:
        e['KIN_OPTIONS'] = 'sample=off,' + options      # unless the options ask for samples
    e = [f'{k}={v}' for k, v in e.items() if k in ('LD_PRELOAD', 'KIN_OPTIONS', 'GMON_OUT_PREFIX') or k in (env or {})]
    argv = ['env', *e, *argv]
    if shell:
        argv = ['sh', '-c', shell + '; exec "$@"', 'sh', *argv]

    def pre():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        for k, v in (limits or {}).items():
            resource.setrlimit(k, (v, v))
    alive, held = os.pipe() if daemons else (None, None)
    p = subprocess.Popen(argv, cwd=d, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, preexec_fn=pre, pass_fds=[held] if daemons else [])
    try:
        out, err = p.communicate(timeout=timeout)
        status = p.returncode
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        status = 'no end'
    if daemons:
        os.close(held)
        select.select([alive], [], [], timeout)
        os.close(alive)
    kins = sorted(f for base, _, names in os.walk(d) for n in names
                  for f in [os.path.join(base, n)] if f.endswith('.kin'))
    files = {}
    for base, _, names in os.walk(d):
        for n in names:
            f = os.path.join(base, n)
            if not n.endswith('.kin') and not n.startswith('gmon.out') and os.path.isfile(f):
                with open(f, 'rb') as h:
                    files[os.path.relpath(f, d)] = h.read()
    return Result(status, out.decode('latin1'), err.decode('latin1'), files, kins)


def leaf_calls(r, function='leaf'):
    return sum(dump.read(k).calls(function) for k in r.kins)


def truth(r):
    m = re.search(r'leaf (\d+)', r.out) or re.search(r'truth (\d+)', r.err)
    return int(m[1]) if m else None


def losses(r):
    out = collections.Counter()
    for k in r.kins:
        out.update(dump.read(k).losses)
    return {k: v for k, v in out.items() if k != 'threads'}


def counts_lost(r):
    """Losses except those of samples, which may occur on a busy machine wherever there is sampling."""
    return {k: v for k, v in losses(r).items() if k not in ('samples', 'stacks')}


def describe(r):
    lines = [f'status {r.status}', f'out {r.out[:300]!r}', f'err {r.err[:300]!r}']
    for k in r.kins[:8]:
        try:
            x = dump.read(k)
            lines.append(f'{os.path.basename(k)}: end {x.header["end"]}/{x.header["end_detail"]} leaf {x.calls("leaf")} '
                         f'losses {x.losses} error {x.error!r}')
        except dump.Damaged as why:
            lines.append(f'{k}: damaged: {why}')
    return '\n'.join(lines)


def wanted(name):
    return re.search(args.only or '', name)

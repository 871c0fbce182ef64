"""The reads, opens and allocations of a command fail, one after the other: the answer is right, or a message says that it
is not. Reads that a signal interrupts are repeated; a write that fails gives a message
with the reason.

    unreadable.py BUILD

The calls are made to fail by a library that is preloaded (../reliability/failinj.c). The data is a recording of kin
that needs a program and libraries for its names, and where perf records one of its own with copies of stacks, which
needs them for its callers, and the kernel's names.
"""
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

PROGRAM = '''
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void busy(int n) { while (n--) sink = sink * 5 + 1; }
__attribute__((noinline)) int caller(int n) { busy(n); return 1; }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		for (int i = 0; i < 300; i++)
			caller(20000);
	return 0;
}
'''
COMMANDS = ['flat', 'graph', 'lines', 'report', 'report --stdio', 'script --folded', 'info --strict', 'html -o -',
            'annotate busy']
FULL = os.environ.get('KIN_FULL') == '1'
# Calls of each command that fail, evenly spread; with KIN_FULL=1 all.
READS = 1000 if FULL else 12
ALLOCATIONS = 10 ** 6 if FULL else 24


# For recordings of perf; {out} is a file that is written, and compared.
OF_PERF = ['report', 'lines', 'info --strict', 'script', 'annotate --asm', 'merge -o {out}.kin', 'export --to=pprof -o {out}',
           'export --to=speedscope -o {out}']
SAID = (b'Input/output error', b'Cannot allocate memory', b'Too many open files', b'out of memory')  # among notes


def run(build, folder, command, library=None, data='x.kin', **fault):
    """Status, output, messages, and how many calls of the class there were."""
    report, written = os.path.join(folder, 'injected'), os.path.join(folder, 'written')
    for path in (written, written + '.kin'):
        if os.path.exists(path):
            os.unlink(path)
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C'}
    if library:
        env.update(LD_PRELOAD=library, FI_REPORT=report, **{'FI_' + k.upper(): str(v) for k, v in fault.items()})
    done = subprocess.run([os.path.join(build, 'kin'), *command.format(out=written).split(), data], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    calls, out = 0, done.stdout
    if os.path.exists(written + '.kin'):  # compare contents: a block may be unpacked because packing failed
        subprocess.run([os.path.join(build, 'kin'), 'merge', '-o', 'again.kin', written + '.kin'], cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, timeout=300)
        os.rename(os.path.join(folder, 'again.kin'), written)
    if os.path.exists(written):
        with open(written, 'rb') as f:
            out += f.read()
    if os.path.exists(report):
        with open(report) as f:
            calls = int(f.read().split()[0])
        os.unlink(report)
    return done.returncode, out, done.stderr, calls


def wrong(base, got):
    """'' if a failure was handled. A different answer without a message is an error."""
    if got[0] < 0:
        return f'killed by signal {-got[0]}'
    told = got[2] != base[2] or any(word in got[1] for word in SAID)
    if not got[0] and got[1] != base[1] and not told:
        return 'another answer without a word'
    return '' if told or got[0] == base[0] else f'status {got[0]} without a word'


def chosen(build, calls, most):
    """The numbers of at most `most` calls, evenly spread; different ones for each build."""
    step = max(1, -(-calls // most))
    return range(1 + zlib.crc32(build.encode()) % step, calls + 1, step)


def fail_each(tap, build, folder, library, command, cls, code, mode, most, data='x.kin'):
    base = run(build, folder, command, library, data, **{'class': cls, 'n': 0})
    calls = base[3]
    found = []
    for k in chosen(build, calls, most):
        got = run(build, folder, command, library, data, **{'class': cls, 'n': k, 'mode': mode, 'errno': code})
        what = wrong(base, got)
        if what:
            found.append(f'{cls} number {k}: {what}')
    title = 'each' if mode == 'once' else 'all from each on'
    tap.ok(calls and not found, f'{cls} fails, {title}: {command} {data}', '\n'.join(found) or 'there was none')


def test_interrupted(tap, build, folder, library):
    base = run(build, folder, 'lines', library, **{'class': 'read', 'n': 0})
    found = []
    for k in chosen(build, base[3], READS):
        got = run(build, folder, 'lines', library,
                  **{'class': 'read', 'n': k, 'mode': 'once', 'errno': errno.EINTR})
        if got[:3] != base[:3]:
            found.append(f'read number {k}: status {got[0]}: {got[2].decode()}')
    tap.ok(not found, 'reads that are interrupted are made again', '\n'.join(found))


def test_said_once(tap, build, folder, library):
    """The program's file, from its first read on: one line for it, and strict fails."""
    base = run(build, folder, 'flat', library, **{'class': 'read', 'n': 0})
    for k in range(1, base[3] + 1):
        fault = {'class': 'read', 'n': k, 'mode': 'once', 'errno': errno.EIO}
        status, out, err, _ = run(build, folder, 'flat', library, **fault)
        if b'/prog: ' not in err:
            continue
        lines = [l for l in err.decode().splitlines() if '/prog: ' in l]
        tap.ok(not status and len(lines) == 1 and 'Input/output error' in lines[0],
               'a file that cannot be read is named, once, with the reason', err.decode())
        status, out, err, _ = run(build, folder, 'flat --strict', library, **fault)
        tap.ok(status == 1 and b'in doubt: ' in err, 'with --strict it is the exit status', err.decode())
        status, out, err, _ = run(build, folder, 'info', library, **fault)
        tap.ok(b'can be trusted' in out and b'in doubt' in out, 'info says that it is in doubt',
               out.decode() + err.decode())
        return
    tap.ok(False, 'a read of the program fails')


def test_perf(tap, build, folder, library):
    """A perf.data: stacks are walked while the file is read, and names of kernel functions are those of the running kernel."""
    try:
        made = subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '500', '--call-graph', 'dwarf,2048', '-o', 'x.data',
                               './prog'], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300)
    except OSError:
        made = None
    if not made or made.returncode or run(build, folder, 'report', data='x.data')[0]:
        tap.skip('reads fail of what perf has recorded', f'NOT TESTED: {made.stderr.decode() if made else "no perf"}')
        return
    for command in OF_PERF:
        run(build, folder, command, data='x.data')
        # Code is read where stacks lead, so that a few reads matter to callers alone: all of them, once.
        reads = 1000 if command == 'report' else READS
        for cls, code, most in (('read', errno.EIO, reads), ('open', errno.EMFILE, READS),
                                ('alloc', errno.ENOMEM, ALLOCATIONS // 2)):
            fail_each(tap, build, folder, library, command, cls, code, 'once', most, 'x.data')


def test_writes(tap, build, folder):
    if not shutil.which('strace'):
        tap.skip('of a write that fails the reason is said', 'no strace')
        return
    for command in ['script', 'script --format=json', 'graph', 'report --stdio', 'html -o -']:
        found = []
        for k in (1, 2, 3):
            with open(os.path.join(folder, 'out'), 'wb') as out:
                done = subprocess.run(['strace', '-qq', '-o', '/dev/null', '-e', 'trace=write',
                                       '-e', f'inject=write:error=ENOSPC:when={k}', os.path.join(build, 'kin'),
                                       *command.split(), 'x.kin'], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                      stderr=subprocess.PIPE, timeout=60)
            text = done.stderr.decode()
            if 'ptrace' in text:
                tap.skip('of a write that fails the reason is said', text.strip())
                return
            if text and 'No space left on device' not in text:
                found.append(f'write number {k}: {text}')
        tap.ok(not found, f'of a write that fails the reason is said: {command}', '\n'.join(found))


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    if not shutil.which('gcc'):
        tap.skip('reads fail', 'no gcc')
        sys.exit(tap.done())
    with tempfile.TemporaryDirectory(prefix='kin-unreadable.') as folder:
        with open(os.path.join(folder, 'prog.c'), 'w') as f:
            f.write(PROGRAM)
        subprocess.run(['gcc', '-O1', '-g', '-o', 'prog', 'prog.c'], cwd=folder, check=True)
        library = os.path.join(folder, 'failinj.so')
        subprocess.run(['gcc', '-O2', '-fPIC', '-shared', '-o', library,
                        os.path.join(HERE, '..', 'reliability', 'failinj.c'), '-ldl'], check=True)
        subprocess.run([os.path.join(build, 'kin'), 'run', '-q', '-o', 'x.kin', './prog'], cwd=folder, check=True)
        for command in COMMANDS:
            run(build, folder, command)  # tables that are kept are there now
            fail_each(tap, build, folder, library, command, 'read', errno.EIO, 'once', READS)
        for command in ('lines', 'info --strict'):
            fail_each(tap, build, folder, library, command, 'read', errno.EIO, 'on', READS)
        for command in ('flat', 'lines', 'report', 'report --inline --stdio'):
            fail_each(tap, build, folder, library, command, 'alloc', errno.ENOMEM, 'once', ALLOCATIONS)
        for command in OF_PERF:
            fail_each(tap, build, folder, library, command, 'open', errno.EMFILE, 'once', READS)
        for command in ('merge -o {out}.kin', 'export --to=pprof -o {out}', 'export --to=speedscope -o {out}', 'script',
                        'info --strict', 'annotate --asm'):
            fail_each(tap, build, folder, library, command, 'alloc', errno.ENOMEM, 'once', ALLOCATIONS)
        test_perf(tap, build, folder, library)
        test_interrupted(tap, build, folder, library)
        test_said_once(tap, build, folder, library)
        test_writes(tap, build, folder)
    sys.exit(tap.done())


if __name__ == '__main__':
    main()

"""run.py BUILD [--full] [--only REGEX] - the collection runtime, in programs that make life hard for it.

Every situation is run without and with libkinrt: status, output and the data files of the program must
be the same, and the .kin files must count exactly as many calls as the program made."""
import collections
import errno
import glob
import mmap
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import dump
import counted_lines
import latency
import machines
import sampling
from harness import (FULL, HERE, MACHINE, ROOT, RT, RUNTIME, SO, TMP, TOP, args, build, compile_command, counts_lost, describe,
                     leaf_calls, losses, run, tap, truth, wanted)

# ---- situations ----

SAID = '_mcleanup: gmon.out: '


def same(plain, r):
    """But for a message like the C library's, of a gmon.out, which the plain program does not write."""
    return (r.status, r.out, r.files) == (plain.status, plain.out, plain.files) and \
        (truth(plain) != truth(r) or re.sub(f'^{SAID}.*\n', '', r.err, flags=re.M) == plain.err)


def counted(r, kins, end, lost, but=()):
    """'' if the files are right, else the error."""
    try:
        h = dump.read(r.kins[0]).header
        if truth(r) is None or leaf_calls(r) != truth(r) or (set(losses(r)) - set(but) and not lost):
            return f'{leaf_calls(r)} of {truth(r)} calls, losses {losses(r)}'
        if kins is not None and len(r.kins) != kins:
            return f'{len(r.kins)} files'
        if end and (h['end'], h['end_detail']) != end:
            return f'end {h["end"]}/{h["end_detail"]}'
    except (dump.Damaged, IndexError) as why:
        return f'{why}'
    return ''


def situation(mode, *more, kins=1, end=None, counts=True, lost=False, may_lose=(), prog=None, base=None, name=None,
              only_kin=True, check=None, **how):
    """One mode of target.c: as without the runtime, and counted exactly. end: (end, detail) of its file."""
    name = name or ' '.join([mode, *[m.replace(TMP, '') for m in more]])
    if not wanted(name):
        return None
    plain = run([base or TARGET_PLAIN, mode, *more], preload=False, **how)
    r = run([prog or TARGET, mode, *more], **how)
    tap.ok(same(plain, r), f'{name}: the program behaves as without', lambda: describe(plain) + '\n' + describe(r))
    if counts:
        bad = counted(r, kins, end, lost)
        tap.ok(not bad, f'{name}: {truth(r)} calls counted', lambda: f'{bad}\n' + describe(r))
    # Sampled as well there may be more files: of processes that count nothing, but use time.
    s = run([prog or TARGET, mode, *more], **{**how, 'options': how.get('options', '') + ',sample=1000,stacks=on'})
    bad = counted(s, None, end, lost, ('stacks', *may_lose)) if counts else ''   # libraries are not read while they go
    tap.ok(same(plain, s) and not bad, f'{name}: the same sampled', lambda: f'{bad}\n{describe(plain)}\n' + describe(s))
    return r


def endings():
    situation('normal', end=(1, 0))
    situation('exit42', end=(1, 42))
    situation('_exit', end=(2, 7))
    situation('quick_exit', end=(2, 0))
    situation('exit_group', end=(2, 9))
    for mode in ('abort', 'segv', 'kill', 'int', 'term'):
        situation(mode, end=(0, 0))
    situation('atexit', end=(1, 0))
    situation('main_exits', end=(1, 5))
    situation('exit_race')


def processes():
    situation('fork', kins=2)
    situation('fork_raw', kins=2)
    situation('fork_start', kins=2)
    situation('fork_idle', kins=1)
    situation('fork_storm', kins=101)
    situation('fork_threads', kins=51)
    situation('fork_deep', kins=None)
    situation('vfork')
    situation('vfork_exec')
    situation('spawn')
    r = situation('exec', kins=11)
    if r:
        ends = [dump.read(k).header['end'] for k in r.kins]
        tap.ok(sorted(ends) == [1] + [4] * 10, 'exec by execl, execle, execvp, fexecve, execveat and syscall: each file says so', lambda: str(ends))
    situation('exec_fails', end=(1, 0))
    situation('daemon', kins=None, daemons=True)


def surroundings():
    situation('chdir')
    if ROOT:
        situation('chroot')
        situation('setuid')
    else:
        tap.skip('chroot, setuid', 'take root')
    situation('close_all')
    situation('close_first')
    situation('fd')
    situation('env_clear')
    situation('sigmask')
    situation('fsize')
    situation('nofile')
    situation('seccomp')
    situation('seccomp', 'syscall')
    situation('memory', may_lose=('samples',))  # without memory a sample may be lost, and is counted
    situation('errno')
    situation('moncontrol')
    situation('normal', name='closed descriptors', shell='exec 0<&- 2>&-')
    situation('normal', name='ulimit -n 3', shell='ulimit -n 3', kins=None, counts=False)
    situation('normal', name='ulimit -v 20000', shell='ulimit -v 20000')


def threads_and_flow():
    situation('threads64', str(10**9 if FULL else 10**7))
    situation('threads1000')
    situation('threads5000')
    r = situation('patience')
    if r:
        k = dump.read(r.kins[0])
        tables = [size for kind, size, *_ in k.blocks if kind == 14]
        per = [k.calls(f'small_{i}') for i in range(8)]
        tap.ok(len(tables) > 1 and per == [100000] * 8, 'a table that takes too much patience is renewed: all calls', lambda: f'{tables} {per}')
    r = situation('names')
    if r:
        names = sorted(t.name for t in dump.read(r.kins[0]).threads)
        tap.ok(names == ['by another', 'by itself', 'by prctl', 'by syscall'], 'names: threads have their last ones', lambda: str(names))
    r = situation('names', 'kill')
    if r:
        names = {t.name for t in dump.read(r.kins[0]).threads}
        tap.ok(len(names) == 4 and {'by itself', 'by prctl', 'by syscall'} < names, 'names: those that threads gave themselves, after a kill',
               lambda: str(names))
    situation('cancel')
    situation('deep')
    situation('longjmp')
    situation('ucontext')
    situation('altstack')


def libraries():
    d = os.path.join(TMP, 'plugs')
    os.makedirs(d, exist_ok=True)
    for i in range(8):
        build(f'plugs/plug_{i}.so', 'plug.c', flags=f'-pg -shared -fPIC -DWHICH={i}')
    for name, linked in (('alone', ''), ('linked', f'-L{RT} -l:libkinrt.so.0 -Wl,-rpath,{RT}')):
        situation('dlmopen', build(f'plugs/{name}.so', 'plug.c', flags='-pg -shared -fPIC -DWHICH=9', after=linked))
    n = 10000 if FULL else 2000
    r = situation('dlopen', f'{n}:{d}')
    if not r:
        return
    k = dump.read(r.kins[0])
    per = [sum(c for (_, (path, f)), c in k.resolved().items() if f == f'plug_leaf_{i}' and path.endswith(f'plug_{i}.so'))
           for i in range(8)]
    tap.ok(per == [n // 8 * 10] * 8, f'{n} times dlopen and dlclose of 8 libraries: all calls, kept apart', lambda: str(per))
    starts = collections.Counter(m.start for m in k.modules if 'plug_' in m.path)
    tap.ok(max(starts.values()) > 1, 'different libraries were at the same address', lambda: str(starts))
    live = {}
    clash = [m for m in k.modules for e in (m.mapped_at,) if live.setdefault((m.start, e), m) is not m and 'plug_' in m.path]
    tap.ok(not clash, 'epochs tell them apart', lambda: str(clash[:4]))


# ---- the output ----

def shape(flags, name, static='', cc='gcc'):
    if not wanted(name):
        return
    out = build(re.sub(r'\W+', '_', name), 'target.c', flags=flags, after=static, cc=cc)
    r = run([out, 'threads64', '64000'], preload=not static)
    tap.ok(r.status == 0 and leaf_calls(r) == 64000 and not counts_lost(r), f'{name}: counted', lambda: describe(r))


def builds():
    a = os.path.join(RT, 'libkinrt.a')
    linked = f'-Wl,--push-state,-Bstatic -L{RT} -lkinrt -Wl,--pop-state'
    shape('-pg', 'gcc -pg')
    shape('-pg -no-pie', 'gcc -pg -no-pie')
    shape('-pg -mfentry -fno-pie -no-pie', 'gcc -mfentry')
    shape('-finstrument-functions', 'gcc -finstrument-functions')
    shape('-pg -static', 'gcc -pg -static', a)
    shape('-pg -static-pie', 'gcc -pg -static-pie', a)
    shape('-pg', 'gcc -pg, linked', linked)
    shape('-finstrument-functions', 'gcc -finstrument-functions, linked', linked)
    if shutil.which('clang'):
        shape('-pg', 'clang -pg', cc='clang')
        shape('-pg -mfentry', 'clang -mfentry', cc='clang')
        shape('-finstrument-functions', 'clang -finstrument-functions', cc='clang')
    else:
        tap.skip('clang: counted', 'no clang')
    if wanted('compiled with -pg'):
        obj = os.path.join(TMP, 'half.o')
        subprocess.run(f'gcc -std=gnu11 -D_GNU_SOURCE -O1 -w -pg -c -o {obj} {HERE}/target.c', shell=True, check=True)
        out = os.path.join(TMP, 'half')
        subprocess.run(f'gcc -o {out} {obj} -pthread -ldl', shell=True, check=True)
        r = run([out, 'normal'])
        tap.ok(leaf_calls(r) == 100000 and os.path.exists(os.path.dirname(r.kins[0]) + '/gmon.out'),
               'compiled with -pg, linked without: counted, and gmon.out', lambda: describe(r))


def early():
    """Hooks before the C library has begun."""
    if not wanted('early'):
        return
    a = os.path.join(RT, 'libkinrt.a')
    for static in '-static', '-static-pie':
        for flags, options in (('-pg', ''), ('-finstrument-functions', 'latency')):
            out = build(f'early{static}{len(flags)}', 'early.c', flags=f'{static} {flags}', after=a)
            r = run([out], preload=False, options=options)
            tap.ok(r.status == 0 and leaf_calls(r) == 1000 and not counts_lost(r), f'early: {static} {flags}', lambda: describe(r))


def twice():
    """Compiled with -pg and with -finstrument-functions: each call counts once."""
    if not wanted('twice'):
        return
    both, linked = '-pg -finstrument-functions', f'-Wl,--push-state,-Bstatic -L{RT} -lkinrt -Wl,--pop-state'
    kin = os.path.join(os.path.dirname(RT), 'kin')
    for cc in ('gcc', 'clang'):
        for flags, static in ((both, ''), (both + ' -mfentry -fno-pie -no-pie', ''), (both, linked), (both + ' -static', os.path.join(RT, 'libkinrt.a'))):
            if shutil.which(cc) and (MACHINE == 'x86_64' or 'fentry' not in flags):
                shape(flags, f'twice: {cc} {flags}{", linked" if static == linked else ""}', static, cc=cc)
    prog = build('twice', 'target.c', flags=both)
    os.makedirs(os.path.join(TMP, 'twice_plugs'), exist_ok=True)
    plug = build('twice_plugs/plug_0.so', 'plug.c', flags=both + ' -shared -fPIC -DWHICH=0')
    r = run([prog, 'fork'])
    tap.ok(leaf_calls(r) == truth(r) and len(r.kins) == 2 and all('twice=' in dump.read(k).info for k in r.kins), 'twice: a forked child', lambda: describe(r))
    r = run([prog, 'threads64', '640000'])
    said = subprocess.run([kin, 'flat', '-f', 'csv', r.kins[0]], capture_output=True, text=True).stdout
    tap.ok(re.search(r'\b640000\b.*\bleaf\b', said), 'twice: kin flat', lambda: said)
    if shutil.which('gprof'):
        calls = gprof_calls(prog, os.path.dirname(r.kins[0]) + '/gmon.out')
        tap.ok(calls.get('leaf') == 640000 and calls.get('calls') == 64, 'twice: gmon.out', lambda: str(calls))
    d = os.path.dirname(plug)
    for i in range(1, 8):
        shutil.copy(plug, f'{d}/plug_{i}.so')
    r = run([prog, 'dlopen', f'80:{d}'])
    got = (leaf_calls(r), leaf_calls(r, 'plug_leaf_0'), leaf_calls(r, 'plug'))
    tap.ok(r.status == 0 and got == (100, 800, 80), 'twice: libraries that are unloaded', lambda: f'{got} {describe(r)}')


def exceptions():
    if not wanted('exceptions'):
        return
    if not shutil.which('g++'):
        tap.skip('exceptions: counted', 'no g++')
        return
    for flags in ('-pg', '-finstrument-functions'):
        prog = build('exc' + flags, 'exc.cc', flags=flags + ' -std=gnu++17', cc='g++')
        for options in ('', 'latency,' + sampling.ON):
            r = run([prog], options=options)
            tap.ok(r.status == 0 and truth(r) and leaf_calls(r) == truth(r) and not counts_lost(r), f'exceptions, {flags} {options}: counted',
                   lambda: describe(r))


def gprof_calls(exe, gmon):
    out = subprocess.run(['gprof', '-b', '-p', exe, gmon], capture_output=True, text=True).stdout
    return {m[2]: int(m[1]) for m in re.finditer(r'^ *[\d.]+ +[\d.]+ +[\d.]+ +(\d+) +[\d.]+ +[\d.]+ +(\S+)$', out, re.M)}


def classic():
    if not wanted('gmon.out'):
        return
    if not shutil.which('gprof'):
        tap.skip('gmon.out: GNU gprof sees the same', 'no gprof')
        return
    r = run([TARGET, 'threads64', '640000'])
    d = os.path.dirname(r.kins[0])
    calls = gprof_calls(TARGET, d + '/gmon.out')
    tap.ok(calls.get('leaf') == 640000 and calls.get('calls') == 64, 'gmon.out: GNU gprof sees the same', lambda: str(calls))
    ours = os.path.join(os.path.dirname(RT), 'gprof')
    said = subprocess.run([ours, '-b', '-q', TARGET, d + '/gmon.out'], capture_output=True, text=True)
    tap.ok('warning' not in said.stderr and ' leaf ' in said.stdout, 'gmon.out: our gprof has no doubt about it', lambda: said.stderr)
    st = os.stat(d + '/gmon.out')
    tap.ok(oct(st.st_mode & 0o777) == oct(0o666 & ~os.umask(os.umask(0) or 0o022) & 0o777) or st.st_mode & 0o777 in (0o644, 0o600, 0o664),
           'gmon.out: mode by the umask', lambda: oct(st.st_mode))
    r = run([TARGET, 'snapshot'])
    calls = gprof_calls(TARGET, os.path.dirname(r.kins[0]) + '/gmon.out')
    tap.ok(calls.get('leaf') == 100 and leaf_calls(r) == 300, 'gmon.out: what _mcleanup() has written stays; all is in the .kin file',
           lambda: f'{calls} {describe(r)}')
    r = run([TARGET, 'anew'])
    calls = gprof_calls(TARGET, os.path.dirname(r.kins[0]) + '/gmon.out')
    tap.ok(calls.get('leaf') == 70 and leaf_calls(r) == 770, 'gmon.out: monstartup() after _mcleanup() begins another one; all is in the .kin file',
           lambda: f'{calls} {describe(r)}')
    r = run([TARGET, 'callback'])
    said = subprocess.run([ours, '--compat=no', '-b', '-p', TARGET, os.path.dirname(r.kins[0]) + '/gmon.out'], capture_output=True, text=True).stdout
    tap.ok(re.search(r' 1 .* compares$', said, re.M), 'gmon.out: calls from outside of the program are in it', lambda: said)
    r = run([TARGET, 'normal'], options='gmon=off')
    tap.ok(not glob.glob(os.path.dirname(r.kins[0]) + '/gmon.out*'), 'gmon.out: gmon=off')
    r = run([TARGET, 'normal'], env={'GMON_OUT_PREFIX': 'prof'})
    tap.ok(any(re.fullmatch(r'prof\.\d+', f) for f in r.files), 'gmon.out: GMON_OUT_PREFIX', lambda: str(list(r.files)))
    r = run([TARGET, 'normal'], env={'GMON_OUT_PREFIX': ''})
    tap.ok([f for f in r.files if re.fullmatch(r'\.\d+', f)], 'gmon.out: an empty GMON_OUT_PREFIX', lambda: str(list(r.files)))
    d = os.path.join(TMP, 'plugs')
    if os.path.isdir(d):
        r = run([TARGET, 'dlopen', f'80:{d}'])
        out = glob.glob(os.path.dirname(r.kins[0]) + '/gmon.out.plug_3.so')
        calls = gprof_calls(f'{d}/plug_3.so', out[0]) if out else {}
        tap.ok(calls.get('plug_leaf_3') == 100, 'gmon.out: one for each library, GNU gprof sees the calls in it', lambda: f'{out} {calls}')
        r = run([TARGET, 'anew_library', f'{d}/plug_3.so'], limits={resource.RLIMIT_FSIZE: 64 << 20})
        out = os.path.dirname(r.kins[0]) + '/gmon.out.plug_3.so'
        calls = gprof_calls(f'{d}/plug_3.so', out)
        tap.ok(calls.get('plug_leaf_3') == 1010, 'gmon.out: of a library that was loaded again after it began anew', lambda: f'{calls} {describe(r)}')
    victim = b'precious'

    def symlink(d):
        with open(d + '/victim', 'wb') as f:
            f.write(victim)
        os.symlink('victim', d + '/gmon.out')
    def hard(d):
        with open(d + '/victim', 'wb') as f:
            f.write(victim)
        os.link(d + '/victim', d + '/gmon.out')
    r = run([TARGET, 'normal'], setup=symlink)
    tap.ok(r.files['victim'] == victim and r.status == 0 and r.err == SAID + 'Too many levels of symbolic links\n',
           'gmon.out: not through a symbolic link, as the C library says it', lambda: describe(r))
    r = run([TARGET, 'normal'], setup=hard)
    tap.ok(r.files['victim'] == victim and r.status == 0 and r.err == SAID + 'it cannot be written\n', 'gmon.out: not over a hard link', lambda: describe(r))
    r = run([TARGET, 'normal'], setup=lambda d: os.mkfifo(d + '/gmon.out'))
    tap.ok(r.status == 0 and leaf_calls(r) == 100000, 'gmon.out: not waiting for a FIFO', lambda: describe(r))
    r = run([TARGET, 'normal'], setup=lambda d: os.mkdir(d + '/gmon.out'))
    tap.ok(r.status == 0 and r.err == SAID + 'Is a directory\n', 'gmon.out: not over a folder', lambda: describe(r))
    r = run([TARGET, 'normal'], setup=lambda d: os.mkdir(d + '/gmon.out'), options='quiet')
    tap.ok(r.status == 0 and not r.err, 'gmon.out: kin run says that it could not be written', lambda: describe(r))
    r = run([TARGET, 'nofile'])
    tap.ok(r.status == 0 and r.err == SAID + 'Too many open files\n', 'gmon.out: as the C library says that there are no descriptors', lambda: describe(r))
    r = run([TARGET, 'chdir'])
    where = os.path.dirname(r.kins[0])
    tap.ok(gprof_calls(TARGET, where + '/sub/gmon.out').get('leaf') == 100000 and not os.path.exists(where + '/gmon.out'),
           'gmon.out: in the last directory', lambda: describe(r))
    r = run([TARGET, 'seccomp'])
    tap.ok(not glob.glob(os.path.dirname(r.kins[0]) + '/gmon.out*') and 'no gmon.out' in dump.read(r.kins[0]).error,
           'gmon.out: none that lacks what a sandboxed program does', lambda: describe(r))


def output():
    if not wanted('output'):
        return
    r = run([TARGET, 'normal'])
    st = os.stat(r.kins[0])
    tap.ok(st.st_mode & 0o777 == 0o600, 'output: mode 0600', lambda: oct(st.st_mode))
    tap.ok(st.st_blocks * 512 >= st.st_size, 'output: not sparse', lambda: f'{st.st_blocks * 512} of {st.st_size}')
    r = run([TARGET, 'normal'], options='output=a%cb-%p-%e.kin,nonsense=7,,x')
    tap.ok(len(r.kins) == 1 and re.fullmatch(r'a,b-\d+-target\.pg\.kin', os.path.basename(r.kins[0])), 'output: name', lambda: str(r.kins))
    d = tempfile.mkdtemp(dir=TMP)
    for _ in range(3):
        r = run([TARGET, 'normal'], options='output=same.kin', where=d)
    tap.ok(len(r.kins) == 3 and leaf_calls(r) == 300000, 'output: existing files are kept', lambda: str(r.kins))

    def trap(make):
        def setup(d):
            make(d + '/x.kin')
        return setup
    for what, make in (('symbolic link', lambda p: os.symlink('/tmp/nowhere/at/all', p)), ('FIFO', os.mkfifo), ('folder', os.mkdir)):
        r = run([TARGET, 'normal'], options='output=x.kin', setup=trap(make))
        real = [k for k in r.kins if os.path.isfile(k) and not os.path.islink(k)]
        tap.ok(r.status == 0 and not r.err and len(real) == 1 and dump.read(real[0]).calls('leaf') == 100000,
               f'output: {what} in its place', lambda: f'{r}')
    r = run(['/bin/true'])
    tap.ok(not r.kins, 'output: nothing from a program without hooks')
    r = run([TARGET, 'normal'], options='arcs=off')
    tap.ok(not sum(bool(dump.read(k).arcs) for k in r.kins), 'output: arcs=off')
    r = run([TARGET, 'normal'], options='start=off')
    tap.ok(not r.kins, 'output: start=off', lambda: str(r.kins))
    r = run([TARGET, 'normal'], options='output=/nowhere/at/all/x.kin')
    tap.ok(r.status == 0 and not r.err, 'output: folder that is not there', lambda: describe(r))
    r = run([TARGET, 'normal'], options='output=/nowhere/at/all/x.kin,verbose')
    tap.ok(r.status == 0 and 'kinrt: ' in r.err, 'output: verbose says so', lambda: describe(r))


def storage():
    if not wanted('storage'):
        return
    if not ROOT:
        tap.skip('storage: full, nearly full, read-only', 'takes root')
        return

    def mounted(d, options, fill=None):
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', options, 'none', d]).returncode:
            return False
        if fill:
            with open(d + '/fill', 'wb') as f:
                f.write(bytes(fill))
        return True
    for what, options, fill in (('full', 'size=64k', 60 << 10), ('nearly full', 'size=300k', 0), ('read-only', 'size=64k', 0)):
        d = tempfile.mkdtemp(dir=TMP)
        if not mounted(d, options, fill):
            tap.skip(f'storage: {what}', 'no mount')
            continue
        try:
            if what == 'read-only':
                subprocess.run(['mount', '-o', 'remount,ro', d], check=True)
            for mode in ('normal', 'threads1000'):
                r = run([TARGET, mode], where=d)
                ok = r.status == 0 and re.fullmatch(f'({SAID}.*\n)?', r.err) and truth(r)
                total = sum(dump.read(k).calls('leaf') + dump.read(k).losses.get('arcs', 0) for k in r.kins)
                tap.ok(ok, f'storage: {what}, {mode}: the program runs', lambda: describe(r))
                if r.kins:
                    tap.ok(total >= truth(r), f'storage: {what}, {mode}: counted or said to be lost', lambda: f'{total}\n' + describe(r))
        finally:
            subprocess.run(['umount', '-l', d])


def flushes():
    """Some flushes fail: data that is lost in the end counts once."""
    if not wanted('flushes'):
        return
    r = run([TARGET, 'flushes'])
    lost = losses(r).get('arcs', 0)
    tap.ok(r.status == 0 and lost and leaf_calls(r) < truth(r) <= leaf_calls(r) + lost <= truth(r) + 300,
           'flushes: what four could not write is lost once', lambda: describe(r))
    r = run([TARGET, 'flushes', 'in the end'])
    tap.ok(r.status == 0 and leaf_calls(r) == truth(r) and not losses(r), 'flushes: what a later one writes is not lost', lambda: describe(r))
    if not is_x86_64('flushes without fallocate'):
        return
    fallocate = 285
    prog = ['env', f'LD_PRELOAD={SO}', 'KIN_OPTIONS=sample=off', TARGET, 'flushes', 'in the end']
    r = run([build('sysfail', 'sysfail.c'), '-n', str(fallocate), '-e', str(errno.EOPNOTSUPP), '--', *prog], preload=False,
            limits={resource.RLIMIT_FSIZE: 64 << 20})
    tap.ok(r.status == 0 and leaf_calls(r) == truth(r) and not losses(r),
           'flushes: nor on a file system that reserves no space, and the file is no larger', lambda: describe(r))


def kills():
    """Killed at random moments: the profile has at least the work that the program had reported."""
    if not wanted('kill -9'):
        return
    bad, n = [], 1000 if FULL else 60
    rng = random.Random(7)
    for i in range(n):
        d = tempfile.mkdtemp(dir=TMP)
        progress = os.path.join(d, 'progress')
        with open(progress, 'wb') as f:
            f.write(bytes(4096))
        p = subprocess.Popen([TARGET, 'progress', progress], cwd=d, env={'LD_PRELOAD': SO})
        with open(progress, 'r+b') as f, mmap.mmap(f.fileno(), 4096) as m:
            time.sleep(rng.uniform(0, 0.02))
            p.send_signal(signal.SIGKILL)
            p.wait()
            seen = int.from_bytes(m[:8], 'little')
        kins = glob.glob(d + '/*.kin')
        if not kins:
            if seen:
                bad.append(f'run {i}: no file after {seen} calls')
            continue
        try:
            k = dump.read(kins[0])
            counted = k.calls('leaf') if k.modules else sum(k.arcs.values())
            if not seen <= counted <= seen + 1:
                bad.append(f'run {i}: {counted} of {seen}')
        except dump.Damaged as why:
            if seen or os.path.getsize(kins[0]) >= 4096 and 'magic' not in str(why):
                bad.append(f'run {i}: {why} after {seen} calls')
        shutil.rmtree(d)
    tap.ok(not bad, f'kill -9 at {n} moments: nothing that was counted is lost', lambda: '\n'.join(bad[:10]))


def is_x86_64(name):
    """Skips a test that is for x86-64 alone."""
    if MACHINE != 'x86_64':
        tap.skip(name, 'for x86-64 alone')
    return MACHINE == 'x86_64'


def registers():
    if not wanted('registers') or not is_x86_64('registers'):
        return
    probe = build('probe.so', 'probe_x86_64.S', flags='-shared -fPIC')
    r = run([build('regs', 'regs.c'), probe])
    tap.ok(r.status == 0 and 'all kept' in r.out, 'registers: ' + ', '.join(r.out.split('\n')[:2]), lambda: describe(r))


def stepping():
    if not wanted('stepsig') or not is_x86_64('stepsig'):
        return
    step = build('stepsig', 'stepsig.c')
    stepped = build('stepped', 'stepped.c', flags='-pg')
    plug = build('plug_s.so', 'plug.c', flags='-pg -shared -fPIC -DWHICH=1')
    for what, every in (('calls', 1 if FULL else 11), ('jumps', 1), ('threads', 1 if FULL else 3),
                        ('libraries', 1 if FULL else 7), ('memory', 1)):
        r = run([step, '-k', str(every), '--', stepped, what, plug], options='gmon=off', timeout=300)
        m = re.search(r'truth (\d+) (\d+)', r.out)
        injected = re.search(r'(\d+) injected', r.out)
        got = (leaf_calls(r), leaf_calls(r, 'in_handler'))
        tap.ok(m and r.status == 0 and got == (int(m[1]), int(m[2])) and not counts_lost(r),
               f'stepsig {what}: exact after {injected and injected[1]} signals between instructions', lambda: f'{got}\n' + describe(r))


def stepping_renewal():
    """The code that replaces a table whose probes became too long; no real program reaches it while it is stepped."""
    if not wanted('stepsig renewal') or not is_x86_64('stepsig renewal'):
        return
    step = build('stepsig', 'stepsig.c')
    stepped = build('stepped.rt', 'stepped.c', flags='-pg -static -DWITH_RUNTIME', after=os.path.join(RT, 'libkinrt.a'))
    r = run([step, '-k', '1' if FULL else '11', '--', stepped, 'renewal'], preload=False, options='gmon=off', timeout=300)
    m = re.search(r'truth (\d+) (\d+)', r.out)
    injected = re.search(r'(\d+) injected', r.out)
    got = (leaf_calls(r), leaf_calls(r, 'in_handler'))
    sizes = [size for k in r.kins for kind, size, *_ in dump.read(k).blocks if kind == 14]
    tap.ok(m and r.status == 0 and got == (int(m[1]), int(m[2])) and not counts_lost(r) and len(sizes) == 2,
           f'stepsig renewal: exact after {injected and injected[1]} signals, in {len(sizes)} tables', lambda: f'{got} {sizes}\n' + describe(r))
    r = run([step, '--', stepped, 'carry'], preload=False, options='gmon=off', timeout=300)
    m = re.search(r'truth (\d+) (\d+)', r.out)
    got = (leaf_calls(r), leaf_calls(r, 'in_handler'))
    tap.ok(m and r.status == 0 and got == (int(m[1]), int(m[2])) and got[0] > 2**32 and not counts_lost(r),
           'stepsig carry: exact beyond 32 bits', lambda: f'{got}\n' + describe(r))
    r = run([stepped, 'carry anew'], preload=False, options='sample=off', limits={resource.RLIMIT_FSIZE: 64 << 20})
    m = re.search(r'truth (\d+)', r.out)
    got = gprof_calls(stepped, os.path.dirname(r.kins[0]) + '/gmon.out').get('leaf')
    tap.ok(m and r.status == 0 and got == int(m[1]), 'stepsig carry anew: gmon.out has what is done from there on, beyond 32 bits',
           lambda: f'{got}\n' + describe(r))


def begun(path):
    """Whether the file has any data."""
    with open(path, 'rb') as f:
        return any(f.read(8))


def waiting():
    """The lock of the runtime, held for long, or by a holder that is gone."""
    if not wanted('lock'):
        return
    waits = build('waits', 'waits.c', os.path.join(RUNTIME, 'rt_lock.c'))
    r = run([waits], preload=False)
    m = re.search(r'(\d+) of (\d+) have had it, after (\d+) looks', r.out)
    tap.ok(m and m[1] == m[2] and int(m[3]) < 25, 'lock: who waits for it gets it, and does not look every moment', lambda: describe(r))
    tap.ok('taken from the dead: 1, at once: 1' in r.out, 'lock: nobody waits for the dead', lambda: describe(r))


def failing():
    """Each system call that the runtime makes fails once, or with all that follow."""
    if not wanted('sysfail') or not is_x86_64('sysfail'):
        return
    sysfail = build('sysfail', 'sysfail.c')
    for mode, more, options in (('normal', [], ''), ('threads64', ['6400'], sampling.ON), ('fork', [], sampling.ON),
                                ('sampled', [], sampling.ON)):
        prog = [TARGET, mode, *more] if mode != 'sampled' else [sampling.spin('-pg'), 'stacks', '0.05']
        plain = run(prog, preload=False)
        prog = ['env', f'LD_PRELOAD={SO}', f'KIN_OPTIONS=sample=off,{options}', *prog]
        whole = run([sysfail, '--', *prog], preload=False)
        n = int(re.search(r'calls (\d+)', whole.err)[1])
        bad, tried = [], 0
        step = 1 if FULL else max(1, n // 24)
        for k in range(1, n + 1, step):
            for more in ([], ['-a']) if mode != 'threads64' else ([],):
                r = run([sysfail, '-k', str(k), '-e', '38' if k % 3 == 0 else '12', *more, '--', *prog], preload=False, timeout=300)
                tried += 1
                what = f'call {k}{" and all after it" if more else ""}: '
                if (r.status, r.out) != (plain.status, plain.out):
                    bad.append(what + describe(r))
                    continue
                try:
                    if more:        # it cannot even remove the file that it began
                        r = r._replace(kins=[f for f in r.kins if begun(f)])
                    kins = [dump.read(f) for f in r.kins]
                    told = any(x.error or x.losses for x in kins)
                    if mode != 'sampled' and leaf_calls(r) != truth(r) and kins and not told:
                        bad.append(what + f'{leaf_calls(r)} of {truth(r)} calls and no word of it')
                except dump.Damaged as why:
                    bad.append(what + f'damaged: {why}')
        tap.ok(n > 10 and not bad, f'sysfail {mode}: {tried} failures among {n} system calls: the program runs as without, losses are told',
               lambda: '\n'.join(bad[:6]))


def stepping_samples():
    """A sample between any two instructions of hooks, the loader, malloc() and the code that starts threads."""
    if not wanted('stepsig sampling') or not is_x86_64('stepsig sampling'):
        return
    step = build('stepsig', 'stepsig.c')
    stepped = build('stepped', 'stepped.c', flags='-pg')
    plug = build('plug_s.so', 'plug.c', flags='-pg -shared -fPIC -DWHICH=1')
    for what, every in (('calls', 1 if FULL else 101), ('jumps', 1 if FULL else 41), ('threads', 3 if FULL else 61),
                        ('libraries', 3 if FULL else 201)):
        r = run([step, '-T', '-s', str(int(signal.SIGURG)), '-k', str(every), '--', stepped, what, plug], options='gmon=off,' + sampling.ON, timeout=600)
        m, injected = re.search(r'truth (\d+)', r.out), int(re.search(r'(\d+) injected', r.out)[1])
        taken = sum(s.count for k in r.kins for s in dump.read(k).stacks)
        tap.ok(m and r.status == 0 and leaf_calls(r) == int(m[1]) and set(losses(r)) <= {'stacks'} and taken > injected / 4,
               f'stepsig sampling {what}: exact with {injected} samples between instructions', lambda: f'{taken} samples\n' + describe(r))


def races():
    """The runtime's own code under the thread sanitizer."""
    if not wanted('races') or not is_x86_64('races'):
        return
    out = os.path.join(TMP, 'races')
    if subprocess.run(['gcc', '-fsanitize=thread', '-o', out, '-xc', '-'], input=b'int main(void) { return 0; }', capture_output=True).returncode:
        tap.skip('races: none between threads', 'no thread sanitizer')
        return
    sources = ['races.c', *glob.glob(RUNTIME + '/*.c'), RUNTIME + '/x86_64/hooks.S', TOP + '/src/machine/x86_64.c',
               *(f'{TOP}/src/unwind/{f}.c' for f in ('cfi', 'cfi_expr', 'cfi_run', 'step'))]
    command = compile_command(out, sources, '-DRT_STATIC -DKIN_VERSION=\'"0"\' -fsanitize=thread',
                              '-no-pie -Wl,--defsym=__start_kinrt_code=0,--defsym=__stop_kinrt_code=0')     # meson.build makes that section
    p = subprocess.run(command, shell=True, capture_output=True, text=True)
    if not tap.ok(not p.returncode, 'races: compiled', p.stderr):
        return
    # Of addresses that vary more than it is made for the sanitizer says that it cannot work.
    fixed = ['setarch', '-R'] if not subprocess.run(['setarch', '-R', 'true'], capture_output=True).returncode else []
    r = run([*fixed, out], preload=False, options='latency,stacks=on', timeout=600)
    if 'unexpected memory mapping' in r.err:
        tap.skip('races: none between threads', 'NOT TESTED: the thread sanitizer does not work here: ' + r.err.strip()[:200])
        return
    tap.ok(r.status == 0 and r.out == '72001 0\n' and 'WARNING' not in r.err, 'races: none between threads', lambda: f'{r.status} {r.out} {r.err[:3000]}')


def privilege():
    if not wanted('privilege'):
        return
    if not ROOT:
        tap.skip('privilege: a program with more rights than its user leaves nothing', 'takes root')
        return
    d = tempfile.mkdtemp(dir=TMP)
    os.chmod(TMP, 0o755)
    os.chmod(d, 0o777)
    prog = build('suid', 'target.c', flags='-pg', after=f'-L{RT} -l:libkinrt.so.0')
    lib = os.path.join(TMP, 'libkinrt.so.0')
    shutil.copy(SO, lib)
    prog = build('suid', 'target.c', flags=f'-pg -Wl,-rpath,{TMP}', after=f'-L{TMP} -l:libkinrt.so.0')
    os.chmod(prog, 0o4755)
    p = subprocess.run([prog, 'normal'], cwd=d, capture_output=True, text=True, user=65534, group=65534, extra_groups=[],
                       env={'KIN_OPTIONS': f'output={d}/owned.kin'})
    tap.ok(p.returncode == 0 and p.stdout == 'leaf 100000\n' and not os.listdir(d),
           'privilege: a program with more rights than its user leaves nothing', lambda: f'{p} {os.listdir(d)}')


def static_checks():
    if not wanted('binary'):
        return
    out = subprocess.run(['readelf', '-lW', SO], capture_output=True, text=True).stdout
    tap.ok('RWE' not in out, 'binary: nothing is writable and executable')
    out = subprocess.run(['readelf', '-dW', SO], capture_output=True, text=True).stdout
    tap.ok('NOW' in out and 'NODELETE' in out and out.count('NEEDED') == 1, 'binary: bound at once, stays, needs libc alone', out)


def installed():
    if not wanted('installed'):
        return
    if not shutil.which('pkg-config'):
        tap.skip('installed: kinrt.pc', 'no pkg-config')
        return
    d = os.path.join(TMP, 'dest')
    p = subprocess.run(['meson', 'install', '-C', args.build, '--no-rebuild', '--destdir', d], capture_output=True, text=True)
    pc = [os.path.join(base, f) for base, _, names in os.walk(d) for f in names if f == 'kinrt.pc']
    if not tap.ok(not p.returncode and pc, 'installed: kinrt.pc', p.stderr):
        return
    e = {**os.environ, 'PKG_CONFIG_SYSROOT_DIR': d, 'PKG_CONFIG_PATH': os.path.dirname(pc[0])}
    words = subprocess.run(['pkg-config', '--cflags', '--libs', 'kinrt'], env=e, capture_output=True, text=True).stdout.strip()
    prog = os.path.join(TMP, 'control.c')
    with open(prog, 'w') as f:
        f.write('#include <kinrt.h>\n__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }\n'
                'int main(void) { leaf(); kinrt_stop(); leaf(); kinrt_mark("half"); kinrt_start(); kinrt_mark("on"); leaf(); return kinrt_flush(); }\n')
    lib = os.path.dirname(os.path.dirname(pc[0]))
    p = subprocess.run(f'gcc -O1 -pg -o {TMP}/control {prog} {words} -Wl,-rpath,{lib}', shell=True, capture_output=True, text=True)
    r = run([TMP + '/control'], preload=False) if not p.returncode else None
    k = dump.read(r.kins[0]) if r and r.kins else None
    tap.ok(k and k.calls('leaf') == 2 and ' on\n' in k.info and ' half\n' not in k.info,
           'installed: pkg-config, kinrt.h; a program pauses, goes on and makes a mark', lambda: p.stderr + (describe(r) if r else ''))


def cmake_package():
    """The installed files, moved to another place."""
    if not wanted('CMake'):
        return
    if not shutil.which('cmake'):
        tap.skip('installed: CMake', 'no cmake')
        return
    d, src = os.path.join(TMP, 'moved'), os.path.join(TMP, 'cmake')
    subprocess.run(['meson', 'install', '-C', args.build, '--no-rebuild', '--destdir', d], capture_output=True, check=True)
    prefix = os.path.dirname(os.path.dirname(glob.glob(d + '/**/bin/kin', recursive=True)[0]))
    os.mkdir(src)
    with open(src + '/CMakeLists.txt', 'w') as f:
        f.write(f'cmake_minimum_required(VERSION 3.13)\nproject(t C)\nfind_package(Kinrt REQUIRED PATHS {prefix} NO_DEFAULT_PATH)\n')
        for name, library, flags in (('shared', 'kinrt', ''), ('static', 'kinrt_static', '-static')):
            f.write(f'add_executable({name} {HERE}/target.c)\ntarget_compile_options({name} PRIVATE -pg -w -D_GNU_SOURCE)\n'
                    f'target_link_libraries({name} PRIVATE Kinrt::{library} {flags} pthread dl)\n')
    p = subprocess.run('cmake -S . -B b && cmake --build b', shell=True, cwd=src, capture_output=True, text=True)
    for name in ('shared', 'static'):
        r = run([f'{src}/b/{name}', 'normal'], preload=False) if not p.returncode else None
        tap.ok(r and r.status == 0 and leaf_calls(r) == truth(r), f'installed: CMake, {name}', lambda: p.stdout[-800:] + p.stderr if not r else describe(r))


try:
    TARGET = build('target.pg', 'target.c', flags='-pg')
    TARGET_PLAIN = build('target', 'target.c')
    for part in (static_checks, registers, endings, processes, surroundings, threads_and_flow, libraries, builds, early, twice, *machines.PARTS, installed, cmake_package, exceptions, classic,
                 output, storage, flushes, privilege, kills, races, waiting, failing, stepping, stepping_renewal, stepping_samples, *sampling.PARTS, *latency.PARTS, *counted_lines.PARTS):
        tap.part(part)
finally:
    shutil.rmtree(TMP, ignore_errors=True)
sys.exit(tap.done())

"""Differential tests: the subject with --compat=gnu against the installed GNU gprof, byte for byte; and what it prints by
default, wherever GNU gprof ends with status 0.

    run.py SUBJECT [--full] [--seeds N] [--start N] [--only NAME]... [--jobs N]

Programs of ./programs, built and run here, with every option set of ../cases/options and with
option sets made from the program's own names; sums of several files; random executables with random
data (synth.py). builds.py has those of other languages, compilers and linkers. --full builds every
variant, and real programs from Debian's sources; with GNU_GPROF=PATH of the gprof of binutils-multiarch
(qemu-user-static in PATH) also programs for other machines.

The inputs of differing outputs are kept in a folder that the last line names.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import builds
import gmonlib
import names
import synth
from observe import difference, observe, output
from sources import sources
from subject import Subject, environment, gnu
from tap import Tap

# name: sources, and the variants of the quick run
PROGRAMS = {
    'recursion': (['recursion.c'], ['O0', 'O2-pie', 'O2-static']),
    'threads': (['threads.c'], ['O2-pie']),
    'callbacks': (['callbacks.c'], ['O0-pie', 'O2']),
    'statics': (['statics_main.c', 'statics_first.c', 'statics_second.c'], ['O0', 'O2-pie']),
    'interpreter': (['interpreter.c'], ['O2']),
    'chain': (['chain.c'], ['O0-pie']),
    'labels': (['labels.c'], ['O0', 'O0-pie']),
    'objects': (['objects.cc'], ['O0', 'O2-pie']),
    'inlines': (['inlines.cc*24'], ['O0', 'O2']),
    'heat': (['heat.f90'], ['O2']),
}
VARIANTS = {'O0': '-O0 -no-pie -fno-pie', 'O0-pie': '-O0 -pie -fPIE',
            'O2': '-O2 -no-pie -fno-pie', 'O2-pie': '-O2 -pie -fPIE',
            'O2-static': '-O2 -static', 'O2-nodebug': '-O2 -g0', 'O1-dwarf2': '-O1 -gdwarf-2',
            'O2-dwarf4': '-O2 -gdwarf-4'}
COMPILERS = {'.c': 'gcc', '.cc': 'g++', '.f90': 'gfortran'}

# Debian source package: commands that leave ./prog, and what to run with $in, a file of some MB.
DEBIAN = {
    'lua5.4': ('cd src && echo "#define DEB_HOST_MULTIARCH \\"none\\"" >lua5.4-deb-multiarch.h &&'
               ' gcc -g -O2 -pg -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E'
               ' -o ../prog $(ls *.c | grep -v luac.c) -lm -ldl',
               './prog -e "local t = {} for i = 1, 300000 do t[i] = tostring(i * 7 % 1000) end'
               ' table.sort(t)"'),
    'bzip2': ('gcc -g -O2 -pg -D_FILE_OFFSET_BITS=64 -o prog blocksort.c huffman.c crctable.c'
              ' randtable.c compress.c decompress.c bzlib.c bzip2.c',
              './prog -9 -c $in >/dev/null'),
    'libzstd': ('cd lib && gcc -g -O2 -pg -DZSTD_DISABLE_ASM -I. -Icommon -o ../prog common/*.c'
             ' compress/*.c decompress/*.c dictBuilder/*.c ../programs/*.c -lpthread',
             './prog -q -12 -c $in >/dev/null'),
    'sqlite3': ('(test -f sqlite3.c || (./configure && make sqlite3.c shell.c)) >/dev/null 2>&1;'
                ' gcc -g -O1 -pg -DSQLITE_OMIT_LOAD_EXTENSION -o prog shell.c sqlite3.c'
                ' -lm -lpthread -ldl',
                './prog :memory: "create table t(a, b); with recursive n(i) as (select 1 union all'
                ' select i + 1 from n where i < 200000) insert into t select i, i * 7919 % 1000'
                ' from n; select b, count(*) from t group by b order by 2 limit 3" >/dev/null'),
}


def why_undefined(seen):
    """Why GNU gprof's behaviour here cannot be compared with; or ''."""
    if seen['status'].startswith(b'-'):
        return 'GNU gprof crashes'
    if b'somebody miscounted' in seen.get('stderr', b''):
        return 'GNU gprof counts lines differently in its two passes, and gives up'
    units = re.findall(rb'^ ?time .* (\S*)/call +\S*/call  name', seen.get('stdout', b''), re.M)
    if any(not re.fullmatch(rb'[TGMKmunpfa]?[a-z]', u) for u in units):
        return 'GNU gprof reads behind its table of units'
    return ''


NO_CALLS = b'-c not supported on architecture'


def look(by, folder, words, **how):
    seen = observe(by, folder, words, **how)
    if NO_CALLS in seen.get('stderr', b''):  # GNU: "armv7" and the like
        seen['stderr'] = re.sub(rb'architecture \S+', b'architecture', seen['stderr'])
    return seen


def compare(subject, folder, words):
    """(the difference or '', why it cannot be compared or '')"""
    want = look(gnu(), folder, words)
    reason = why_undefined(want)
    if reason:
        return '', reason
    seen = look(subject, folder, words)
    if NO_CALLS in seen.get('stderr', b'') and NO_CALLS not in want.get('stderr', b''):
        return '', 'kin has no -c for this machine'
    diff = difference(seen, want)
    if not diff and want['status'] == b'0':
        diff = difference(output(look(subject, folder, words, compat=None)), output(want))
        diff = diff and 'by default: ' + diff
    if diff and look(gnu(), folder, words, perturb=90) != want:
        return '', 'GNU gprof prints memory it never set'
    return diff, ''


def common_sets(static):
    """The option sets of the golden cases, those without explanatory texts."""
    for line in open(os.path.join(HERE, '..', 'cases', 'options')):
        name, args = line.rstrip('\n').split('|')
        words = shlex.split(args)
        if '-b' not in words and set(words) & {'-T'} or not words:
            continue
        # GNU needs minutes for the lines of a C library without debug information.
        if not (static and '-l' in words):
            yield words


def build(name, variant, folder):
    """Compile and run; the data files, or the reason why there are none."""
    files = [os.path.relpath(f, folder) for f in sources(PROGRAMS[name][0], folder, folder)]
    for s in glob.glob(os.path.join(HERE, 'programs', '*')):
        shutil.copy(s, folder)
    compiler = COMPILERS[os.path.splitext(files[0])[1]]
    if not shutil.which(compiler):
        return None, f'no {compiler}'
    command = [compiler, '-w', '-g', *VARIANTS[variant].split(), '-pg', '-o', 'prog', *files,
               '-lpthread']
    r = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if r.returncode:
        return None, f'{" ".join(command)}: {r.stderr.strip()[:200]}'
    return profile('./prog', folder, 2)


def profile(command, folder, times):
    for i in range(times):
        r = subprocess.run(command, shell=True, cwd=folder, capture_output=True, timeout=120,
                           stdin=subprocess.DEVNULL, env=environment(GMON_OUT_PREFIX=f'run{i}'))
        made = glob.glob(os.path.join(folder, f'run{i}.*'))
        if r.returncode or len(made) != 1:
            return None, f'{command[:60]}: exit {r.returncode}, {r.stderr[:200]!r}'
        os.rename(made[0], os.path.join(folder, ['gmon.out', f'gmon.{i}'][i > 0]))
    return ['gmon.out'] + [f'gmon.{i}' for i in range(1, times)], ''


# A job returns [(title, problem or '', reason to skip or '')].

def check_program(subject, title, folder, data, static=False):
    points = []

    def point(words):
        diff, reason = compare(subject, folder, words)
        shown = f'{title}: gprof {shlex.join(words)}'
        points.append((shown, diff and f'in {folder}\n{diff}', reason))
    main, *others = data
    for words in common_sets(static):
        point(words + ['./prog', main])
    for words in names.option_sets(title, *names.of_program(folder, './prog', [main])):
        if not (static and '-l' in words):
            point(words + ['./prog', main])
    for words in [['-b'], ['-b', '-i'], ['-C'], ['-b', '-p', '-c', '-z']]:
        point(words + ['./prog', main, *others])
    symbols = subprocess.run(['nm', '-n', 'prog'], cwd=folder, capture_output=True).stdout
    gmonlib.save(os.path.join(folder, 'symbols'), symbols)
    for words in [['-b'], ['-b', '-l', '-p'], ['-C', '-z'], ['-A']]:
        point([*words, '-S', 'symbols', './prog', main])
    if static:  # -s is -l too
        return points
    point(['-s', './prog', main, *others])
    total = observe(gnu(), folder, ['-s', './prog', main, *others]).get('gmon.sum')
    if not total:
        return points
    gmonlib.save(os.path.join(folder, 'sum.gnu'), total)
    for words in [['-b'], ['-b', '-l', '-p'], ['-b', '-i']]:
        point(words + ['./prog', 'sum.gnu'])
    return points


def program_job(command, name, variant, folder):
    subject = Subject(command)
    title = f'{name} {variant}'
    data, reason = build(name, variant, folder)
    if not data:
        return [(title, '', reason)]
    return check_program(subject, title, folder, data, 'static' in variant)


def build_job(command, name, folder):
    b = builds.BUILDS[name]
    reason = b.missing() or b.multiarch and not os.environ.get('GNU_GPROF') and \
        'GNU_GPROF does not name the gprof of binutils-multiarch'
    if reason:
        return [(name, '', reason)]
    for s in glob.glob(os.path.join(HERE, 'programs', '*')):
        shutil.copy(s, folder)
    r = subprocess.run(b.make, shell=True, cwd=folder, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    if r.returncode:
        return [(name, '', f'{b.make}: exit {r.returncode}, {r.stderr.strip()[-200:]}')]
    data, reason = profile(b.run, folder, 2)
    if not data:
        return [(name, '', reason)]
    return check_program(Subject(command), name, folder, data, not b.lines)


def debian_job(command, package, folder):
    make, run = DEBIAN[package]
    got = subprocess.run([os.path.join(HERE, 'debsrc.sh'), folder, package], capture_output=True,
                         text=True, stdin=subprocess.DEVNULL)
    if got.returncode:
        return [(package, '', 'no Debian source: ' + ' '.join(got.stderr.split())[:200])]
    source = got.stdout.strip()
    r = subprocess.run(make, shell=True, cwd=source, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    if r.returncode:
        return [(package, f'{make}\n{r.stderr[-2000:]}', '')]
    with open(os.path.join(source, 'in'), 'w') as f:
        f.writelines(f'{i * 2654435761 % 4294967296:x} line {i % 977}\n' for i in range(400000))
    data, reason = profile(run.replace('$in', 'in'), source, 2)
    if not data:
        return [(package, reason, '')]
    return check_program(Subject(command), package, source, data)


def synth_job(command, seed, folder):
    subject = Subject(command)
    data, known = synth.make(seed, folder)
    reasons, runs = [], 0
    for words in synth.options(seed, known, 12):
        diff, reason = compare(subject, folder, words + ['./prog', *data])
        runs += 1
        reasons += [reason] if reason else []
        if diff:
            return [(f'synth seed {seed}', f'in {folder}: gprof {shlex.join(words)} ./prog '
                     f'{" ".join(data)}\n{diff}', '')]
    return [(f'synth seed {seed}', '', reasons[0] if len(reasons) == runs else '')]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('subject')
    ap.add_argument('--full', action='store_true')
    ap.add_argument('--seeds', type=int, help='default 150, with --full 3000; 0: none')
    ap.add_argument('--start', type=int, default=1)
    ap.add_argument('--only', action='append', help='a program or Debian package; else all')
    ap.add_argument('--jobs', type=int, default=min(2, os.cpu_count() or 1))
    a = ap.parse_args()
    if a.seeds is None:
        a.seeds = 0 if a.only else 3000 if a.full else 150
    Subject(a.subject), gnu()

    jobs = []
    for name, (_, quick) in PROGRAMS.items():
        if not a.only or name in a.only:
            jobs += [(program_job, name, v) for v in (VARIANTS if a.full else quick)]
    for name, b in builds.BUILDS.items():
        if name in a.only if a.only else a.full or b.quick:
            jobs.append((build_job, name))
    for package in DEBIAN:
        if package in (a.only or (DEBIAN if a.full else [])):
            jobs.append((debian_job, package))
    jobs += [(synth_job, seed) for seed in range(a.start, a.start + a.seeds)]

    tap, kept = Tap(), tempfile.mkdtemp(prefix='kin-diff.')
    if not a.full and not a.only:
        tap.skip('Debian packages ' + ', '.join(DEBIAN), 'only with --full')
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        pending = []
        for job, *args in jobs:
            folder = os.path.join(kept, '-'.join(map(str, args)))
            os.mkdir(folder)
            pending.append((folder, pool.submit(job, a.subject, *args, folder)))
        for folder, result in pending:
            failed = False
            for title, problem, reason in result.result():
                if reason:
                    tap.skip(title, reason)
                else:
                    failed |= not tap.ok(not problem, title, problem)
            if not failed:
                shutil.rmtree(folder)
    if os.listdir(kept):
        tap.note(f'inputs kept in {kept}')
    else:
        os.rmdir(kept)
    sys.exit(tap.done())


main()

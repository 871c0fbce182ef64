"""run.py BUILD [--lua] - what libkinrt's hooks cost, next to glibc's; a Markdown table.

All programs of a row run in turn, several rounds; the best round of each counts, and of whole programs the median,
too. Ratios are meant to be compared, nanoseconds are this machine's. --lua: fetches Debian's Lua, and measures that
as well."""
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
BUILD = os.path.realpath(sys.argv[1])
SO = os.path.join(BUILD, 'runtime', 'libkinrt.so.0')
TMP = tempfile.TemporaryDirectory(prefix='kinrt.bench.')
ROUNDS = 5
WHOLE_ROUNDS = 25


def path(name):
    return os.path.join(TMP.name, name)


def build(name, source, flags, after=''):
    subprocess.run(f'gcc -O2 -w {flags} -o {path(name)} {HERE}/{source} {after} -pthread', shell=True, check=True)
    return path(name)


def environment(preload, options=''):
    e = {k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}
    e['KIN_OPTIONS'] = 'output=' + path('%p.%t.kin') + ',sample=off' + options
    if preload:
        e['LD_PRELOAD'] = preload
    return e


def once(argv, preload, timed, options=''):
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(argv, env=environment(preload, options), cwd=TMP.name, check=True, capture_output=True, text=True)
    for f in glob.glob(path('*.kin')) + glob.glob(path('gmon.out*')):
        os.unlink(f)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime) * 1e9 if timed else float(r.stdout)


def measure(variants, timed=False, rounds=ROUNDS):
    """name -> times in ns; timed: CPU time of the whole program. variants: name -> (argv, preload, options). In turn, so that
    a slow moment of the machine meets all."""
    out = {name: [] for name in variants}
    for i in range(rounds):
        for name in sorted(variants, reverse=i % 2):
            argv, preload, *options = variants[name]
            out[name].append(once(argv, preload, timed, *options))
    return out


def neighbours(t, name):
    """The median of the ratios to the plain program's times in the same rounds."""
    return statistics.median(x / y for x, y in zip(t[name], t['plain']))


def best(variants, timed=False, rounds=ROUNDS):
    return {name: min(t) for name, t in measure(variants, timed, rounds).items()}


def row(what, *cells):
    print('| ' + ' | '.join([what, *cells]) + ' |', flush=True)


def ns(x):
    return f'{x:+.2f} ns'


def empty_library():
    with open(path('empty.s'), 'w') as f:
        f.write('.globl mcount, __fentry__, __monstartup, _mcleanup, __cyg_profile_func_enter, __cyg_profile_func_exit\n'
                'mcount: __fentry__: __monstartup: _mcleanup:\n'
                '__cyg_profile_func_enter: __cyg_profile_func_exit: ret\n.section .note.GNU-stack, "", @progbits\n')
    subprocess.run(['gcc', '-shared', '-o', path('empty.so'), path('empty.s')], check=True)
    return path('empty.so')


def hooks():
    plain = build('plain', 'calls.c', '')
    pg, fentry = build('pg', 'calls.c', '-pg'), build('fentry', 'calls.c', '-pg -mfentry')
    cyg = build('cyg', 'calls.c', '-finstrument-functions')
    empty = empty_library()
    print('| added to a call | kin | empty hook | glibc | kin : glibc |\n|---|---|---|---|---|')
    for threads in (1, os.cpu_count()):
        for what, prog in (('mcount', pg), ('__fentry__', fentry)):
            a = [str(threads), '10']
            t = best({'plain': ([plain, *a], None), 'kin': ([prog, *a], SO), 'empty': ([prog, *a], empty),
                      'glibc': ([prog, *a], None)})
            add = {k: v - t['plain'] for k, v in t.items()}
            row(f'{what}, {threads} thread{"s" * (threads > 1)}', ns(add['kin']), ns(add['empty']), ns(add['glibc']),
                f'1 : {add["glibc"] / add["kin"]:.1f}')
    t = best({'plain': ([plain, '1', '10'], None), 'kin': ([cyg, '1', '10'], SO), 'empty': ([cyg, '1', '10'], empty)})
    row('-finstrument-functions, enter and exit', ns(t['kin'] - t['plain']), ns(t['empty'] - t['plain']), '', '')


def programs(lua):
    print('\n| whole program, times of the plain one: best (median of neighbours) | kin | empty hook | glibc | added: kin : glibc |\n'
          '|---|---|---|---|---|')
    build('tree', 'tree.c', ''), build('tree.pg', 'tree.c', '-pg')
    whole('tree', path('tree'), path('tree.pg'), ['6'])
    if not lua:
        return
    src = subprocess.run([HERE + '/../../test/diff/debsrc.sh', TMP.name, 'lua5.4'], capture_output=True, text=True)
    if src.returncode:
        print('Lua cannot be fetched:', src.stderr)
        return
    d = src.stdout.strip()
    c = [f for f in glob.glob(d + '/src/*.c') if not re.search(r'/(luac|lua|onelua|ltests)\.c$', f)]
    with open(path('lua5.4-deb-multiarch.h'), 'w') as f:   # Debian's build makes it
        f.write('#define DEB_HOST_MULTIARCH "none"\n')
    for name, flags in (('lua', ''), ('lua.pg', '-pg')):
        subprocess.run(['gcc', '-O2', '-w', *flags.split(), '-DLUA_USE_POSIX', '-I', TMP.name, '-o', path(name),
                        d + '/src/lua.c', *c, '-lm'], check=True)
    script = ('local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end '
              'local t = {} for i = 1, 60000 do t[i] = tostring(i):rep(2) end table.sort(t) print(fib(24), #table.concat(t))')
    whole('Lua 5.4', path('lua'), path('lua.pg'), ['-e', script])


SAMPLED = ',sample=1000,stacks=on'


def costs():
    lib = os.path.dirname(SO)
    tree, true, idle = build('tree', 'tree.c', ''), '/bin/true', build('idle', 'idle.c', '-pg')
    print('\n| what | measured | goal |\n|---|---|---|')
    t = measure({'plain': ([tree, '60'], None), 'kin': ([tree, '60'], SO, SAMPLED)}, timed=True, rounds=WHOLE_ROUNDS)
    row('sampling at 1 kHz with stacks: CPU time added: best (median of neighbours)',
        f'{(min(t["kin"]) / min(t["plain"]) - 1) * 100:.2f} % ({(neighbours(t, "kin") - 1) * 100:.2f} %)', '≤ 1.5 %')
    t = best({'plain': ([true], None), 'kin': ([true], SO, SAMPLED)}, timed=True)
    row('start and end of a program, sampled: CPU time added', f'{(t["kin"] - t["plain"]) / 1e6:.2f} ms', '< 5 ms')
    t = best({'plain': ([build('idle.plain', 'idle.c', ''), '500'], None), 'kin': ([idle, '500'], SO), 'sampled': ([idle, '500'], SO, SAMPLED)})
    row('memory of a thread that waits: counted; sampled as well',
        f'{(t["kin"] - t["plain"]) / 500:.1f} KiB; {(t["sampled"] - t["plain"]) / 500:.1f} KiB', '< 64 KiB')
    arcs = build('arcs', 'arcs.c', f'-I{HERE}/../../runtime', f'-L{lib} -l:libkinrt.so.0 -Wl,-rpath,{lib}')
    again = ['sh', '-c', f'{arcs} 1000000 >/dev/null; exec {arcs} 1000000']
    t = best({'new': ([arcs, '1000000'], None), 'over': (again, None)})
    row('writing the profile of a million arcs, .kin and gmon.out; the same over an older gmon.out',
        f'{t["new"]:.1f} ms; {t["over"]:.1f} ms', '< 50 ms')
    cyg = build('cyg', 'calls.c', '-finstrument-functions')
    t = best({'plain': ([build('plain', 'calls.c', ''), '1', '3'], None), 'kin': ([cyg, '1', '3'], SO, ',latency')})
    row('how long calls take (latency), a call', ns(t['kin'] - t['plain']), '')


def random_calls():
    """A thousand functions that call each other at random, a million arcs in each thread: the slots are in no cache. The
    empty hook shows the part of the cost that is not the table's."""
    plain, empty = build('random', 'random.c', ''), empty_library()
    pg, fentry = build('random.pg', 'random.c', '-pg'), build('random.fentry', 'random.c', '-pg -mfentry')
    print('\n| a million arcs in each thread, called at random | mcount | __fentry__ | empty hook | goal | memory | goal |\n'
          '|---|---|---|---|---|---|---|')
    for threads, most in ((1, 50), (4, 150)):
        variants = {'plain': (plain, None), 'pg': (pg, SO), 'fentry': (fentry, SO), 'empty': (pg, empty)}
        found = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, (program, preload) in variants.items():
                r = subprocess.run([program, str(threads), '16'], env=environment(preload), cwd=TMP.name, check=True,
                                   capture_output=True, text=True)
                found[name].append([float(x) for x in r.stdout.split()])
                for f in glob.glob(path('*.kin')) + glob.glob(path('gmon.out*')):
                    os.unlink(f)
        t = {name: statistics.median(x[0] for x in runs) for name, runs in found.items()}
        row(f'{threads} thread{"s" * (threads > 1)}', *(ns(t[k] - t['plain']) for k in ('pg', 'fentry', 'empty')), '≤ +45 ns',
            f'{max(x[1] for x in found["pg"]) / 1024:.0f} MiB', f'≤ {most} MiB')


def peers():
    """Other profilers that count calls, on the same program."""
    plain, pg, cyg = build('tree', 'tree.c', ''), build('tree.pg', 'tree.c', '-pg'), build('tree.cyg', 'tree.c', '-finstrument-functions')
    v = {'plain': ([plain, '4'], None), 'kin, -pg': ([pg, '4'], SO), 'kin, -pg, sampled with stacks': ([pg, '4'], SO, SAMPLED),
         'kin, -finstrument-functions': ([cyg, '4'], SO), 'kin, -finstrument-functions, latency': ([cyg, '4'], SO, ',latency'),
         'glibc, -pg': ([pg, '4'], None)}
    if shutil.which('uftrace'):
        v['uftrace record, -pg'] = (['uftrace', 'record', '--no-event', '-d', path('uftrace'), pg, '4'], None)
        v['uftrace record, -pg, 1 ms and longer'] = (['uftrace', 'record', '--no-event', '-t', '1ms', '-d', path('uftrace'), pg, '4'], None)
    if shutil.which('valgrind'):
        v['valgrind --tool=callgrind'] = (['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=' + path('callgrind'), plain, '4'], None)
    t = best(v, timed=True, rounds=3)
    print('\n| CPU time of `tree 4` | times of the plain one |\n|---|---|')
    for name in v:
        row(name, f'{t[name] / t["plain"]:.2f}')


def whole(what, plain, pg, args):
    """The cost of an empty hook is that of the compiler's -pg itself, and so the lower bound of any hook."""
    t = measure({'plain': ([plain, *args], None), 'kin': ([pg, *args], SO), 'empty': ([pg, *args], empty_library()),
                 'glibc': ([pg, *args], None)}, timed=True, rounds=WHOLE_ROUNDS)
    p = min(t['plain'])

    def times(name):
        return f'{min(t[name]) / p:.2f} ({neighbours(t, name):.2f})'
    row(what, times('kin'), times('empty'), times('glibc'), f'1 : {(min(t["glibc"]) - p) / (min(t["kin"]) - p):.1f}')


if __name__ == '__main__':
    hooks()
    programs('--lua' in sys.argv)
    costs()
    random_calls()
    peers()

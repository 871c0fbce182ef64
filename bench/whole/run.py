"""run.py BUILD [--runs=N] [PROGRAM...]: whole programs, recorded and counted, next to other profilers.

sqlite3, Lua, zstd, redis-server and cppcheck are built from Debian's sources with -O2 -g, with and without -pg; where
they are kept (BENCH_DIR, or BUILD/bench) the next run finds them. Each program does a second of work under each tool,
in turn, as often as --runs says; under those that take ten times as long and more it does a tenth of it, once. Times
are CPU time of all processes by that of the program alone right before; memory is that of the largest process, the
tool's or the program's. The first screen is what a person looks at first: a table of functions, or the call graph
where calls were counted. Tools that are not installed are left out; UFTRACE is the command of one that was
only unpacked, LD_LIBRARY_PATH then the folder of its libmcount.so.
"""
import argparse
import datetime
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

HZ = 999
PATIENCE = 60  # seconds that one run or report may take
WORK, LESS = 10, 1  # how much each program does

LUA = ('local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end '
       'for k = 1, 4 * {} do local t = {{}} for i = 1, 40000 do t[i] = tostring(i * 7 % 1000) end '
       'table.sort(t) fib(22) end')
SQL = ('create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) '
       'insert into t select i, i * 7919 % 1000 from n; select b, count(*) from t group by b order by 2 limit 3; '
       'select sum(x.a * y.b) from t x join t y on x.a = y.b;')


@dataclass
class Program:
    source: str  # Debian's source package
    build: str  # run in a copy of it; leaves $OUT, compiled with $FLAGS
    arguments: object  # (amount of work, folder of the source) -> arguments
    is_server: bool = False  # $OUT is a server: redis-benchmark asks it


PROGRAMS = {
    'sqlite3': Program(
        'sqlite3', '(test -f sqlite3.c || (./configure && make sqlite3.c shell.c)) &&'
        ' gcc $FLAGS -DSQLITE_OMIT_LOAD_EXTENSION -o "$OUT" shell.c sqlite3.c -lm -lpthread',
        lambda n, _: [':memory:', SQL.format(n * 50000)]),
    'lua': Program(
        'lua5.4', 'cd src && echo "#define DEB_HOST_MULTIARCH \\"none\\"" >lua5.4-deb-multiarch.h &&'
        ' gcc $FLAGS -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E -o "$OUT"'
        ' $(ls *.c | grep -v -e luac.c -e onelua.c -e ltests.c) -lm -ldl',
        lambda n, _: ['-e', LUA.format(n)]),
    'zstd': Program(
        'libzstd', 'cd lib && gcc $FLAGS -DZSTD_DISABLE_ASM -I. -Icommon -o "$OUT" common/*.c compress/*.c'
        ' decompress/*.c dictBuilder/*.c ../programs/*.c -lpthread',
        lambda n, source: ['-q', '-19', '-c', *sorted(map(str, source.glob('lib/*/*.c')))[:n * 6]]),
    'redis': Program(
        'redis', 'make -j2 distclean && make -j2 MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O2'
        ' REDIS_CFLAGS="$FLAGS" REDIS_LDFLAGS="$FLAGS" && cp src/redis-server "$OUT"',
        lambda n, _: [], is_server=True),
    'cppcheck': Program(
        'cppcheck', 'home=$(dirname "$OUT") && make -j2 CXXFLAGS="$FLAGS -std=c++11" LDFLAGS="$FLAGS" FILESDIR="$home" cppcheck &&'
        ' cp cppcheck "$OUT" && cp -r cfg "$home"',
        lambda n, source: ['-q', '--std=c++11', f'-I{source}/lib', f'--file-filter={source}/*',
                           f'{source}/lib/{"errorlogger" if n > LESS else "color"}.cpp']),
}


@dataclass
class Tool:
    name: str
    is_counted: bool  # of the program that is compiled with -pg
    is_heavy: bool
    command: list  # before the program and its arguments; {d} is the run's own folder
    report: list  # {p} is the program
    needs: str = ''  # an installed program


def tools(build):
    kin, uftrace = str(build / 'kin'), os.environ.get('UFTRACE', 'uftrace')
    # Without build ids and perf's cache of programs, because perf 6.1 dies of them now and then.
    perf = ['perf', 'record', '-q', '-B', '-N', '-F', str(HZ), '-o', '{d}/perf.data', '--call-graph']
    return [
        Tool('kin record', False, False, [kin, 'record', '-q', '-F', str(HZ), '-o', '{d}/p.kin', '--'],
             [kin, 'report', '{d}/p.kin']),
        Tool('perf record, frame pointers', False, False, [*perf, 'fp', '--'],
             ['perf', 'report', '--stdio', '-i', '{d}/perf.data'], 'perf'),
        Tool('perf record, DWARF', False, False, [*perf, 'dwarf', '--'],
             ['perf', 'report', '--stdio', '-i', '{d}/perf.data'], 'perf'),
        Tool('gprofng collect, 1 ms', False, False, ['gprofng', 'collect', 'app', '-p', 'hi', '-O', '{d}/e.er'],
             ['gprofng', 'display', 'text', '-functions', '{d}/e.er'], 'gprofng'),
        Tool('callgrind', False, True, ['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file={d}/callgrind.out'],
             ['callgrind_annotate', '{d}/callgrind.out'], 'valgrind'),
        Tool('kin run, -pg', True, False, [kin, 'run', '-q', '--no-gmon', '-o', '{d}/p.kin', '--'],
             [kin, 'graph', '{d}/p.kin']),
        Tool('glibc and GNU gprof, -pg', True, False, [], ['gprof', '{p}', '{d}/gmon.out'], 'gprof'),
        Tool('uftrace record, -pg', True, True, [uftrace, 'record', '--no-event', '-d', '{d}/uftrace'],
             [uftrace, 'report', '-d', '{d}/uftrace'], uftrace),
    ]


class Failure(Exception):
    pass


@dataclass
class Run:
    cpu: float
    memory: float  # MiB
    size: float = 0  # of all files written, MiB


class Bench:
    def __init__(self, directory):
        self.dir = directory / 'whole'
        self.timed = directory / 'timed'
        self.dir.mkdir(parents=True, exist_ok=True)

    # ---- programs ----

    def source(self, program):
        made = subprocess.run([HERE / '../../test/diff/debsrc.sh', self.dir / 'source', program.source], text=True,
                              capture_output=True, check=False)
        if made.returncode:
            raise Failure(f'Debian\'s source of {program.source} cannot be fetched: {made.stderr[-300:]}')
        return Path(made.stdout.strip())

    def programs(self, name):
        """(source, without -pg, with -pg)"""
        program, made = PROGRAMS[name], []
        (self.dir / 'source').mkdir(exist_ok=True)
        source = self.source(program)
        for variant, flags in (('plain', '-O2 -g -w'), ('pg', '-O2 -g -w -pg')):
            out = self.dir / f'{name}.{variant}'
            if not out.exists():
                print(f'building {out}', file=sys.stderr, flush=True)
                copy = self.dir / 'build'
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(source, copy, symlinks=True)
                done = subprocess.run(['sh', '-ec', program.build], cwd=copy, text=True, capture_output=True, check=False,
                                      env={**os.environ, 'FLAGS': flags, 'OUT': str(out)})
                if done.returncode:
                    raise Failure(f'{out} cannot be built: {done.stderr[-500:]}')
                if program.is_server and variant == 'plain':
                    for client in ('redis-benchmark', 'redis-cli'):
                        shutil.copy(copy / 'src' / client, self.dir)
                shutil.rmtree(copy)
            made.append(out)
        return source, *made

    # ---- runs ----

    def start(self, command, folder):
        path = shutil.which(str(command[0]))
        if not path:
            raise Failure(f'{command[0]} is not there')
        env = {**os.environ, 'HOME': str(self.dir)}
        return subprocess.Popen([self.timed, '/dev/null', path, *map(str, command[1:])], cwd=folder, text=True, env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, p, command):
        try:
            out, err = p.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            p.kill()  # processes that it started die with it
            p.communicate()
            raise Failure(f'over {PATIENCE} s') from None
        fields = out.split()
        if len(fields) != 4 or int(fields[3]):
            raise Failure(f'{" ".join(map(str, command))[:100]}: {err.strip()[-200:]}')
        return Run(int(fields[0]) / 1e6, int(fields[2]) / 1024)

    def ask(self, socket, amount):
        """Has the server answer, and end."""
        cli = [self.dir / 'redis-cli', '-s', socket]
        for _ in range(PATIENCE * 10):
            if subprocess.run([*cli, 'ping'], capture_output=True, check=False).stdout.startswith(b'PONG'):
                break
            time.sleep(.1)
        subprocess.run([self.dir / 'redis-benchmark', '-s', socket, '-q', '-P', '16', '-n', str(amount * 20000), '-t',
                        'set,get,lpush,zadd,hset'], capture_output=True, check=True)
        subprocess.run([*cli, 'shutdown', 'nosave'], capture_output=True, check=False)

    def once(self, name, program, source, amount, prefix=()):
        folder = self.dir / 'run'
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        arguments = PROGRAMS[name].arguments(amount, source)
        socket = folder / 's'
        if PROGRAMS[name].is_server:
            arguments = ['--save', '', '--port', '0', '--unixsocket', socket]
        command = [*(str(word).format(d=folder) for word in prefix), program, *arguments]
        p = self.start(command, folder)
        if PROGRAMS[name].is_server:
            self.ask(socket, amount)
        run = self.finish(p, command)
        run.size = sum(f.stat().st_size for f in folder.rglob('*') if f.is_file()) / 2**20
        return run

    def report(self, tool, program):
        folder = self.dir / 'run'
        command = [word.format(d=folder, p=program) for word in tool.report]
        return self.finish(self.start(command, folder), command)

    # ---- rows ----

    def recorded(self, name, tool, program, plain, source, alone, tries=3):
        """(the run, its time divided by that of the program alone, the report). Repeated if perf 6.1 dies."""
        try:
            base = self.once(name, plain, source, LESS) if tool.is_heavy else alone
            run = self.once(name, program, source, LESS if tool.is_heavy else WORK, tool.command)
            return run, run.cpu / base.cpu, self.report(tool, program)
        except Failure:
            if tries == 1 or tool.is_heavy:
                raise
            return self.recorded(name, tool, program, plain, source, alone, tries - 1)

    def measure(self, name, all_tools, runs):
        source, plain, pg = self.programs(name)
        yield name, plain.stat().st_size, self.once(name, plain, source, WORK)
        alone, taken, shown, failed = [], {}, {}, {}
        for turn in range(runs):
            alone.append(self.once(name, plain, source, WORK))
            for tool in all_tools:
                if tool.name in failed or (tool.is_heavy and turn):
                    continue
                program = pg if tool.is_counted else plain
                try:
                    run, ratio, screen = self.recorded(name, tool, program, plain, source, alone[-1])
                    taken.setdefault(tool.name, []).append((run, ratio))
                    shown.setdefault(tool.name, []).append(screen)
                except Failure as f:
                    failed[tool.name] = str(f)
        yield alone
        for tool in all_tools:
            yield tool, taken.get(tool.name), shown.get(tool.name), failed.get(tool.name)


def middle(values):
    return statistics.median(values)


def mib(size):
    return f'{size:.0f} MiB' if size >= 10 else f'{size:.1f} MiB' if size >= .1 else f'{size * 1024:.0f} KiB'


def row(name, tool, taken, shown, failed):
    if failed and not shown:
        failed = re.sub(r'\s+', ' ', failed).replace('|', '/')
        print(f'  {name}: {tool.name}: {failed}', file=sys.stderr, flush=True)
    ratios = [ratio for _, ratio in taken or []]
    times = '' if not taken else f'{middle(ratios):.2f}'
    if len(ratios) > 1:
        times += f' ({min(ratios):.2f}–{max(ratios):.2f})'
    cells = [name, tool.name + (', a tenth of the work' if tool.is_heavy else ''), times or '**failed**',
             mib(middle([r.memory for r, _ in taken])) if taken else '',
             mib(middle([r.size for r, _ in taken])) if taken else '',
             f'{middle([r.cpu for r in shown]):.2f} s' if shown else f'**{failed[:40]}**' if taken else '',
             mib(middle([r.memory for r in shown])) if shown else '']
    return '| ' + ' | '.join(cells) + ' |'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('build', type=Path)
    p.add_argument('programs', nargs='*', metavar='PROGRAM', help=', '.join(PROGRAMS))
    p.add_argument('--runs', type=int, default=5)
    a = p.parse_intermixed_args()
    for name in a.programs:
        if name not in PROGRAMS:
            p.error(f'unknown program \'{name}\' ({", ".join(PROGRAMS)})')
    build = a.build.resolve()
    bench = Bench(Path(os.environ.get('BENCH_DIR', build / 'bench')).resolve())
    at_hand = [t for t in tools(build) if not t.needs or shutil.which(t.needs)]
    lines = [f'{datetime.date.today()}: {os.cpu_count()} cores, load average at the start {os.getloadavg()[0]:.1f}.', '',
             '| program | tool | CPU time, times of the program alone | peak memory | files | first screen: CPU time | its memory |',
             '|---|---|---|---|---|---|---|']
    for name in a.programs or PROGRAMS:
        try:
            steps = bench.measure(name, at_hand, a.runs)
            _, size, _ = next(steps)
            alone = next(steps)
            lines.append(f'| {name}, {size / 2**20:.1f} MiB | alone | {middle([r.cpu for r in alone]):.2f} s | '
                         f'{mib(middle([r.memory for r in alone]))} |  |  |  |')
            print(lines[-1], file=sys.stderr, flush=True)
            for step in steps:
                lines.append(row(name, *step))
                print(lines[-1], file=sys.stderr, flush=True)
        except Failure as f:
            sys.exit(f'{name}: {f}')
    print('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()

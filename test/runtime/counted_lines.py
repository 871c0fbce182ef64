"""How often lines were executed, in programs built by kin cc --blocks: compared with gcov, line by line. Parts of run.py;
with --full also Debian's bzip2 and Lua."""
import collections
import glob
import itertools
import json
import os
import shutil
import subprocess
import tempfile

from harness import FULL, HERE, TMP, args, tap, wanted
from random_program import Program

KIN = os.path.abspath(os.path.join(args.build, 'kin'))
DEBSRC = os.path.join(HERE, '..', 'diff', 'debsrc.sh')
COMPILERS = [cc for cc in ('gcc', 'clang') if shutil.which(cc)]

PROGRAMS = {    # folder of the sources below the package's, macros, sources, what is run
    'bzip2': ('.', '-D_FILE_OFFSET_BITS=64', 'blocksort huffman crctable randtable compress decompress bzlib bzip2',
              './prog -kf blocksort.c && ./prog -tv blocksort.c.bz2'),
    'lua5.4': ('src', "-DLUA_USE_POSIX", None, './prog -e \''
               'local t = {} for i = 1, 300 do t[i] = tostring(i * 7 % 31) .. i end table.sort(t) '
               'local s = table.concat(t) print(#s, s:find(t[9]), s:gsub("1", "%0%0"), ("%5.2f %q"):format(2.5, t[1]))\''),
}

TEMPLATES = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
template <class T> T twice(T x)
{
	T s = 0;
	for (int i = 0; i < 2; i++)
		s += x;
	return s;
}
template <class T> struct box {
	T v;
	box(T x) : v(x) {}
	template <class U> U as() { return U(v); }
};
struct leaves { ~leaves() {} };
static int fails(int n)
{
	leaves l;
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n;
}
int main()
{
	std::vector<int> v;
	std::map<std::string, int> m;
	for (int i = 0; i < 50; i++) { v.push_back(i * 7 % 31); m[std::to_string(i % 9)] += i; }
	std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	int sum = 0;
	for (auto &p : m) sum += p.second;
	for (int x : v) if (x % 2) sum += x; else if (x % 3) sum -= x;
	for (int i = 0; i < 10; i++)
		try {
			sum += fails(i);
		} catch (std::exception &e) {
			sum--;
		}
	box<int> b(3);
	do { sum += b.as<int>(); } while (sum < 2000 && sum % 5);
	printf("%d %f %d %f\n", sum, twice(1.5), twice(4), box<double>(2.5).as<double>());
}
"""

THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
static void *work(void *unused)
{
	for (int i = 0; i < 100000; i++)
		sink = i;
	return unused;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		work(NULL);
		return 0;
	}
	wait(NULL);
	return 0;
}
"""

KILLED = """
#include <signal.h>
#include <stdlib.h>
static volatile int sink;
int main(int argc, char **argv)
{
	for (int i = 0; i < 30000000; i++)
		sink = i;
	if (argc > 1)
		raise(SIGKILL);
	return argv == NULL;
}
"""

LIBRARY = '#include "shared.h"\nint of_library(int n)\n{\n\treturn shared(n) + shared(n + 1);\n}\n'
HEADER = 'static inline int shared(int n)\n{\n\tint twice = 2 * n;\n\treturn twice + 1;\n}\n'
USER = """
#include "shared.h"
int of_library(int n);
int main(void)
{
	int sum = of_library(3);
	for (int i = 0; i < 10; i++)
		sum += shared(i);
	return !sum;
}
"""


def shell(command, where):
    p = subprocess.run(command, shell=True, cwd=where, capture_output=True, text=True, errors='replace')
    if p.returncode:
        raise RuntimeError(f'{command}\n{p.stdout[-500:]}{p.stderr[-2000:]}')
    return p.stdout


def folder(**files):
    d = tempfile.mkdtemp(dir=TMP)
    for name, text in files.items():
        with open(os.path.join(d, name.replace('_', '.')), 'w') as f:
            f.write(text)
    return d


def by_gcov(where, cc):
    """{(path, line): count} of all units whose counters are there."""
    counts = collections.Counter()
    for path in sorted(glob.glob('**/*.gcda', root_dir=where, recursive=True)):
        if cc == 'gcc':
            for text in shell(f'gcov --json-format --stdout {path}', where).splitlines():
                unit = json.loads(text)
                for f in unit['files']:
                    at = os.path.normpath(os.path.join(unit['current_working_directory'], f['file']))
                    for line in f['lines']:
                        counts[at, line['line_number']] += line['count']
            continue
        shell(f'rm -f *.gcov; llvm-cov gcov -i {path}', where)
        for out in glob.glob(os.path.join(where, '*.gcov')):
            with open(out) as f:
                for text in f:
                    kind, _, value = text.strip().partition(':')
                    if kind == 'file':
                        at = os.path.normpath(os.path.join(where, value))
                    elif kind == 'lcount':
                        line, count = value.split(',')[:2]
                        counts[at, int(line)] += int(count)
    return counts


def annotate(where, columns, start=''):
    """Rows and notes."""
    p = subprocess.run(f'{KIN} annotate --format json --columns {columns} {start} prog kin.*.kin', shell=True, cwd=where,
                       capture_output=True, text=True)
    table = json.loads(p.stdout)
    return table['rows'], ' '.join(table['notes'])


def by_kin(where):
    rows, said = annotate(where, 'count,line,file')
    if 'no counts' in said:
        raise RuntimeError(said)
    return {(os.path.normpath(os.path.join(where, row['file'])), row['line']): row['count'] for row in rows if row.get('line')}


def build(where, cc, level, sources, flags='', libs='', start='./prog'):
    """False: the compiler has no runtime for counters."""
    try:
        for source in sources.split():
            shell(f'{KIN} cc --blocks {cc} -w {level} {flags} -c {source}', where)
        shell(f'{KIN} cc --blocks {cc} -o prog *.o {libs}', where)
    except RuntimeError as e:
        if cc.startswith('gcc') or 'profile' not in str(e):
            raise
        return False
    shell(start, where)
    return True


def compare(truth, mine):
    """(lines that agree, [other counts]): in files that are shown"""
    files, counted = {file for file, _ in mine}, {file for file, _ in truth}
    known = {key for key in truth if key[0] in files} | {key for key, n in mine.items() if key[0] in counted and n is not None}
    wrong = [f'{os.path.basename(key[0])}:{key[1]} {mine.get(key)}, gcov {truth.get(key)}' for key in sorted(known)
             if mine.get(key) != truth.get(key)]
    return len(known) - len(wrong), wrong


def check(name, least, cc, level, where, sources, **how):
    """Counts are those of the compiler's own gcov."""
    name = f'lines: {name}, {cc} {level}'
    tool = cc.replace('g++', 'gcc').replace('clang++', 'clang')
    if not build(where, cc, level, sources, **how):
        tap.skip(name, f'no counters by {cc}')
        return
    if tool == 'clang' and not shutil.which('llvm-cov'):
        tap.skip(name, 'no llvm-cov')
        return
    right, wrong = compare(by_gcov(where, tool), by_kin(where))
    tap.ok(right >= least and not wrong, name, '\n'.join([f'{right} right', *wrong[:20]]))


def small():
    if not wanted('lines'):
        return
    for cc, level in itertools.product(COMPILERS, ('-O0', '-O2')):
        check('ways.c', 80, cc, level, folder(), os.path.join(HERE, 'ways.c'))
        check('templates', 40, {'gcc': 'g++', 'clang': 'clang++'}[cc], level, folder(prog_cc=TEMPLATES), 'prog.cc',
              libs='-lstdc++')


def random_programs():
    """As gcov says. llvm-cov 14 takes amounts of numbers that are negative on the way, and so has wrong counts at places: there
    the program's own count decides."""
    if not wanted('lines'):
        return
    for cc, level, seed in itertools.product(COMPILERS, ('-O0', '-O1', '-O2') if FULL else ('-O0', '-O2'), range(15 if FULL else 2)):
        program = Program(seed)
        where = folder(prog_c=program.plain())
        if cc == 'gcc':
            check(f'random program {seed}', 500, cc, level, where, 'prog.c')
            continue
        if not shutil.which('llvm-cov') or not build(where, cc, level, 'prog.c'):
            tap.skip(f'lines: random program {seed}, {cc} {level}', 'no counters, or no llvm-cov')
            continue
        own = folder(prog_c=program.counted())
        shell('gcc -w -O0 prog.c -o prog && ./prog', own)
        with open(os.path.join(own, 'counts')) as f:
            counts = [int(line) for line in f]
        marked, mine, truth = set(program.marked()), by_kin(where), by_gcov(where, cc)
        other = [line for (file, line), n in truth.items() if mine.get((file, line)) != n]
        wrong = [f'line {i} {mine[os.path.join(where, "prog.c"), i]}, true {counts[i]}' for i in other
                 if i in marked and mine[os.path.join(where, 'prog.c'), i] != counts[i]]
        tap.ok(len(truth) > 500 and len(other) <= len(truth) // 20 and not wrong, f'lines: random program {seed}, {cc} {level}',
               '\n'.join([f'{len(other)} of {len(truth)} other than by llvm-cov', *wrong[:20]]))


def loop_of(rows):
    """The body of the loop, and whether it or the loop's head, where its samples may land, has a time of one execution."""
    return [row for row in rows if row.get('line') == 8], any(row.get('per_count') for row in rows if row.get('line') in (7, 8))


def processes():
    """Threads lose no count, children count too, and what is not of this run is said."""
    if not wanted('lines'):
        return
    for cc in COMPILERS:
        where = folder(prog_c=THREADS)
        if not build(where, cc, '-O1', 'prog.c', libs='-pthread'):
            continue
        of = os.path.join(where, 'prog.c')
        tap.ok(by_kin(where)[of, 10] == 500000, f'lines: threads and a child, {cc}', by_kin(where)[of, 10])
        where = folder(prog_c=KILLED)
        build(where, cc, '-O1', 'prog.c')
        rows, said = annotate(where, 'count,per_count,line')
        at, has_time = loop_of(rows)
        tap.ok(at and at[0]['count'] == 30000000 and has_time and 'over' not in said, f'lines: time of one execution, {cc}', f'{at} {said}')
        shell('sleep 0.1; ./prog', where)
        rows, said = annotate(where, 'count,per_count,line')
        at, has_time = loop_of(rows)
        tap.ok(at and at[0]['count'] == 60000000 and has_time and 'over' not in said, f'lines: two runs with both times, {cc}', f'{at} {said}')
        shell('rm kin.*.kin; sleep 0.1; ./prog', where)
        rows, said = annotate(where, 'count,per_count,line')
        at, has_time = loop_of(rows)
        tap.ok(at and at[0]['count'] == 90000000 and not has_time and 'lines are counted over 3 processes, and time is of 1' in said,
               f'lines: no time of one execution after other runs, {cc}', f'{at} {said}')
        shell('rm kin.*.kin; sleep 0.1; ./prog killed || true', where)
        rows, said = annotate(where, 'count,line')
        at, has_time = loop_of(rows)
        tap.ok(not any(row['count'] for row in at) and 'older than the recording' in said, f'lines: a killed run has no counts, {cc}', f'{at} {said}')
        shell('rm kin.*.kin *.gcda; mkdir moved; GCOV_PREFIX=$PWD/moved ./prog', where)
        os.environ['GCOV_PREFIX'] = os.path.join(where, 'moved')
        tap.ok(by_kin(where)[os.path.join(where, 'prog.c'), 8] == 30000000, f'lines: moved by GCOV_PREFIX, {cc}')
        del os.environ['GCOV_PREFIX']


def others():
    """A library without counters; the reports of blocks; gmon.out for gprof."""
    if not wanted('lines'):
        return
    where = folder(prog_c=USER, shared_h=HEADER, library=LIBRARY)
    shell('gcc -w -g -O0 -shared -fPIC -x c library -o libuncounted.so', where)
    build(where, 'gcc', '-O0', 'prog.c', libs='-L. -luncounted -Wl,-rpath,.')
    mine = by_kin(where)
    got = [mine[os.path.join(where, 'shared.h'), line] for line in (3, 4)]
    tap.ok(got == [10, 10], 'lines: a header that a library without counters has code of, too', got)
    rows = json.loads(shell(f'{KIN} counts --format json -c count,line,file prog kin.*.kin', where))['rows']
    got = sorted((row['line'], row['count']) for row in rows if row['file'] == os.path.join(where, 'prog.c'))
    tap.ok((7, 11) in got and (8, 10) in got, 'lines: kin counts', got)
    where = folder(prog_c=KILLED)
    shell(f'{KIN} cc --blocks gcc -w -O0 -no-pie prog.c -o prog && ./prog', where)
    shell(f'{KIN} export --format gmon -o blocks.out prog gmon.out', where)
    out = shell(f'{KIN} gprof -l -A --compat=no prog blocks.out 2>&1 || {KIN} gprof -l -A prog blocks.out', where)
    tap.ok('30000000' in out or '30000001' in out, 'lines: blocks in gmon.out', out)


def debian():
    if not FULL or not wanted('lines'):
        return
    for package, (below, flags, names, start) in PROGRAMS.items():
        p = subprocess.run(['sh', DEBSRC, os.path.join(TMP, 'debian'), package], capture_output=True, text=True)
        if p.returncode:
            tap.skip(f'lines: {package}', 'its source cannot be had')
            continue
        where = folder()
        shell(f'cp -r {p.stdout.strip()}/* {where}', where)
        where = os.path.join(where, below)
        shell('[ ! -e lua.c ] || { echo "#define DEB_HOST_MULTIARCH \\"none\\"" >lua5.4-deb-multiarch.h; rm luac.c; }', where)
        sources = ' '.join(f'{n}.c' for n in names.split()) if names else ' '.join(sorted(glob.glob('*.c', root_dir=where)))
        for level in ('-O0', '-O2'):
            shell('rm -f *.o *.gcda *.gcno kin.*.kin', where)
            check(package, 1000, 'gcc', level, where, sources, flags=flags, libs='-lm', start=start)


PARTS = [small, random_programs, processes, others, debian]

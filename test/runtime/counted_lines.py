"""How often lines were executed, by counted blocks: compared with gcov, line by line. Parts of run.py; with
--full also Debian's bzip2, Lua and zstd, whose lines all have to agree, except for listed ones: lines where gcov is
wrong, by a breakpoint on the line, and lines whose number is not in the code. With other versions few lines may differ.

Lines that have no code of their own (labels, the first lines of a function's head) are in gcov's list alone; heads
and ends of functions may be in kin's alone."""
import itertools
import json
import os
import re
import subprocess
import tempfile

from harness import FULL, HERE, RT, TMP, args, tap, wanted
from random_program import Program

KIN = os.path.join(args.build, 'kin')
DEBSRC = os.path.join(HERE, '..', 'diff', 'debsrc.sh')
LABEL = re.compile(r'\s*(\{|(\}\s*)?\w+.*)')  # or the head of a function
SETJMP = re.compile(r'\bsetjmp')        # gcov does not count that it returns again
BLOCKS = {'gcc': '-fsanitize-coverage=trace-pc', 'clang': '-fsanitize-coverage=trace-pc-guard,no-prune'}

PROGRAMS = {    # folder of the sources below the package's, macros, sources, what is run
    'bzip2': ('.', '-D_FILE_OFFSET_BITS=64', 'blocksort huffman crctable randtable compress decompress bzlib bzip2',
              './prog -kf blocksort.c && ./prog -tv blocksort.c.bz2'),
    # The cache of strings goes by address: with one place it does the same in each build.
    'lua5.4': ('src', "-DLUA_USE_POSIX '-Dluai_makeseed(L)=0' -DSTRCACHE_N=1 -DSTRCACHE_M=2", None, './prog -e \''
               'local t = {} for i = 1, 300 do t[i] = tostring(i * 7 % 31) .. i end table.sort(t) '
               'local s = table.concat(t) print(#s, s:find(t[9]), s:gsub("1", "%0%0"), ("%5.2f %q"):format(2.5, t[1]))\''),
    'libzstd': ('lib', '-DZSTD_DISABLE_ASM -DZSTD_NOBENCH -DZSTD_NODICT -DZSTD_LEGACY_SUPPORT=0 -I. -Icommon',
                'common/* compress/* decompress/* ../programs/zstdcli ../programs/zstdcli_trace ../programs/fileio '
                '../programs/fileio_asyncio ../programs/util ../programs/timefn',
                'cp compress/zstd_compress.c in && ./prog -5 -qf in && ./prog -qt in.zst'),
}


# True counts, by a breakpoint, of lines where gcov has another one; and lines whose count is not in the code: jumps that
# other jumps bypass, or that have no block.
TRUE = {
    'ways.c': {'ways.c:188': 802},
    'bzip2-1.0.8': {'bzlib.c:374': 1, 'compress.c:554': 279},
    'lua5.4-5.4.4': {
        'lobject.c:230': 1, 'lcode.c:1447': 2, 'lgc.c:1421': 2, 'llex.c:275': 3, 'lparser.c:485': 2},
    'libzstd-1.5.4+dfsg2': {
        'bitstream.h:354': 86280, 'entropy_common.c:254': 2, 'fse_decompress.c:257': 2, 'huf_compress.c:853': 13221,
        'huf_compress.c:966': 12, 'huf_compress.c:1036': 12, 'huf_decompress.c:519': 8, 'huf_decompress.c:1259': 4,
        'zstd_compress.c:5795': 8, 'zstd_decompress_block.c:1623': 21185, 'zstd_internal.h:225': 21071,
        'zstd_lazy.c:1722': 21185, 'huf_decompress.c:1217': 319, 'zstd_lazy.c:809': 306819, 'zstd_lazy.c:873': 306819,
        'bitstream.h:334': 63568, 'emmintrin.h:656': 33297, 'fse_decompress.c:282': 2, 'huf_decompress.c:1260': 4,
        'huf_decompress.c:1857': 1, 'huf_decompress.c:1878': 2, 'zstd_internal.h:227': 172, 'zstd_lazy.c:897': 273522,
        'zstd_lazy.c:1400': 33297, 'zstd_lazy.c:1680': 20509, 'zstdcli.c:934': 5},
}
BLANK = {'lua5.4-5.4.4': {'lstrlib.c:627'}, 'libzstd-1.5.4+dfsg2': {
    'zstd_compress.c:1449', 'zstd_compress.c:1466', 'zstd_compress.c:5898', 'zstd_compress.c:6836', 'zstd_compress.c:6842',
    'zstd_decompress.c:2280'}}


def shell(command, where):
    p = subprocess.run(command, shell=True, cwd=where, capture_output=True, text=True, errors='replace')
    if p.returncode:
        raise RuntimeError(f'{command}\n{p.stdout[-500:]}{p.stderr[-2000:]}')
    return p.stdout


def by_gcov(where, sources, flags, start, libs=''):
    """{(file, line): count}"""
    shell(f'gcc -w -g -O0 --coverage {flags} -o prog {sources} {libs} && {start}', where)
    counts = {}
    for text in shell('gcov --json-format --stdout *.gcno 2>/dev/null', where).splitlines():
        for f in json.loads(text)['files'] if text else []:
            for line in f['lines']:
                key = os.path.basename(f['file']), line['line_number']
                counts[key] = counts.get(key, 0) + line['count']
    return counts


def by_kin(where, sources, flags, start, libs='', cc='gcc', level='-O0', estimates=None):
    """{(file, line): (count or None, text)} of lines with code. Estimated counts go to `estimates`, by the same keys."""
    shell(f'set -e; for f in {sources}; do {cc} -w -g {level} -pg {BLOCKS[cc]} {flags} -c $f; done; '
          f'gcc -o prog *.o -L{RT} -l:libkinrt.so.0 -Wl,-rpath,{RT} {libs} && {start}', where)
    out = shell(f'{os.path.abspath(KIN)} annotate -x --format json --columns count,line,source,file,executable,estimated prog kin.*.kin 2>said && '
                '! grep "is not known" said', where)
    counts = {}
    for row in json.loads(out)['rows']:
        if row.get('line') is None:
            continue
        key = os.path.basename(row['file']), row['line']
        before = counts.get(key, (0, ''))[0]
        count = row['count']
        if row.get('estimated'):
            if estimates is not None:
                estimates[key] = count
            count = None
        if row.get('executable'):
            counts[key] = None if None in (before, count) else before + count, row['source'] or ''
    return counts


def text_of(where, file, line):
    for folder, _, names in os.walk(where):
        if file in names:
            with open(os.path.join(folder, file), errors='replace') as f:
                lines = f.read().splitlines()
            return lines[line - 1] if line <= len(lines) else ''
    return ''


def compare(where, truth, mine, known=None):
    """known: the true counts of some lines, by "file:line". (lines that agree, [other numbers], [no numbers], [lines said not to have run that did])"""
    wrong, unknown, missed, right = [], [], [], 0
    files = {file for file, _ in mine}  # files with a line that ran
    for (file, line), count in sorted(truth.items()):
        if (file, line) not in mine:
            text = text_of(where, file, line)
            if (count or file in files) and text and not LABEL.match(text):
                wrong.append(f'{file}:{line} has no code, gcov {count}')
            continue
        got, text = mine[file, line]
        count = (known or {}).get(f'{file}:{line}', count)
        if got == count or SETJMP.search(text):
            right += 1
            continue
        kind = unknown if got is None else wrong if got else missed
        kind.append(f'{file}:{line} {got}, gcov {count}: {text.strip()}')
    return right, wrong, unknown, missed


def folders(*names):
    top = tempfile.mkdtemp(dir=TMP)
    out = [os.path.join(top, n) for n in names]
    for d in out:
        os.mkdir(d)
    return out


def small():
    if not wanted('lines'):
        return
    program = os.path.join(HERE, 'ways.c')
    how = [('gcc', '-O0', ''), ('gcc', '-O0', '-fno-pie -no-pie'), ('gcc', '-O2', ''), ('clang', '-O0', '')]
    gcov, *dirs = folders('gcov', *(f'kin{i}' for i in range(len(how))))
    truth = by_gcov(gcov, program, '', './prog')
    for d, (cc, level, flags) in zip(dirs, how):
        name = f'lines: {cc} {level} {flags}'.rstrip()
        try:
            mine = by_kin(d, program, flags.split(' ')[0], './prog', libs=flags.split(' ')[-1], cc=cc, level=level)
        except RuntimeError as e:
            if cc == 'gcc':
                raise
            tap.skip(name, str(e).splitlines()[-1])
            continue
        right, *others = compare(HERE, truth, mine, TRUE['ways.c'])
        wrong = sum(others, [])
        if level != '-O0':     # code is moved, or belongs to other lines: but no line may have a count that did not run
            wrong = [f'{file}:{line} {got[0]}, gcov {truth[file, line]}' for (file, line), got in sorted(mine.items())
                     if (file, line) in truth and got[0] and not truth[file, line]]
        tap.ok(right > (80 if level == '-O0' else 5) and not wrong, name, '\n'.join([f'{right} right', *wrong[:20]]))


BREAKS = """
#include <stdio.h>
static volatile int sum;
static void call(int n) { sum += n; }
static int within_if(const char *p, const char *end)
{
	if (p != end) {
		switch (*p) {
		case 'a':
			if (p[1] == 'b')
				call(1);
			else
				call(2);
			break;
		case 'c':
			call(3);
			break;
		case 'd': {
			call(4);
			break;
		}
		default:
			return 1;
		}
	}
	return 0;
}
static int after_calls(unsigned n)
{
	switch (n) {
	case 3:
		call(5);
		break;
	case 4:
		call(6);
		break;
	case 5:
		call(7);
		break;
	}
	return 2;
}
static int many(unsigned n)
{
	switch (n) {
	case 100: case 101: case 103: case 200: case 201: case 400: case 500: case 1000: case 1001:
		break;
	case 7:
		if (sum)
			call(8);
		break;
	default:
		return 1;
	}
	return 0;
}
int main(void)
{
	const char *words[] = { "ab", "ax", "c", "d", "x", "c", "" };
	for (int i = 0; i < 7; i++)
		sum += within_if(words[i], words[i] + (*words[i] ? 1 : 0));
	for (unsigned i = 0; i < 1100; i++)
		sum += many(i) + after_calls(i % 7);
	printf("%d\\n", sum);
	return 0;
}
"""
# At -O2 the loop is the first block that is counted; the head is not.
LOOP = """
#include <stdio.h>
static volatile int v;
__attribute__((noinline)) static int work(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += v;
	return s;
}
int main(void)
{
	int t = 0;
	for (int i = 0; i < 1000; i++)
		t += work(i);
	printf("%d\\n", t);
	return 0;
}
"""


# Both switches of a function have tables, one behind the other.
TABLES = """
#include <stdio.h>
static volatile int sum;
static int two(int n)
{
	switch (n) {
	case 3: return 1;
	case 4: return 5;
	case 5: return 2;
	case 6: return 8;
	case 7: return 3;
	case 8: return 9;
	case 1000: return 4;
	case 1001: return 11;
	case 1002: return 6;
	case 1003: return 12;
	case 1004: return 7;
	case 1005: return 13;
	default: return 0;
	}
}
int main(void)
{
	for (int i = 0; i < 1010; i++)
		sum += two(i);
	printf("%d\\n", sum);
	return 0;
}
"""
# Functions that are inlined nevertheless lie in blocks that end with the caller's line: gcov shows 0 for lines 6 and 7, which run.
INLINED = """
#include <stdio.h>
static volatile int sum;
static inline __attribute__((always_inline)) int within(int n)
{
	int twice = 2 * n;
	if (twice < 0) return -1;
	sum += twice;
	return 0;
}
int main(void)
{
	for (int i = 0; i < 10; i++) {
		int a = i;
		sum += within(a);
	}
	printf("%d\\n", sum);
	return 0;
}
"""
# One line has a block before the function inlined on it, and one after it: in after()'s copy gcov's rules count neither.
RESUMED = """
#include <stdio.h>
#define INLINE static inline __attribute__((always_inline))
INLINE unsigned next(unsigned n);
static unsigned before(unsigned n)
{
	unsigned s = n;
	if (n & 1)
		s += next(n);
	return s;
}
INLINE unsigned pick(unsigned n)
{
	switch (n & 3) {
	case 0:
		return 5;
	case 1:
		return 7;
	default:
		return n;
	}
}
INLINE unsigned next(unsigned n)
{
	unsigned a = pick(n * 5 + 1); unsigned b = a * 3;
	return a + b;
}
static unsigned after(unsigned n)
{
	unsigned s = n;
	if (n & 2)
		s += next(n);
	return s;
}
int main(void)
{
	unsigned s = 0;
	for (unsigned i = 0; i < 100; i++)
		s += before(i) + after(i);
	printf("%u\\n", s);
	return 0;
}
"""
HEADER = """
static inline int shared(int n)
{
	int twice = 2 * n;
	return twice + 1;
}
"""
# Where no block was counted, as in most libraries.
LIBRARY = '#include "shared.h"\nint of_library(int n) { return shared(n) + shared(n + 1); }\n'
USER = """
#include <stdio.h>
#include "shared.h"
int of_library(int n);
int main(void)
{
	int sum = of_library(3);
	for (int i = 0; i < 10; i++)
		sum += shared(i);
	printf("%d\\n", sum);
	return 0;
}
"""


def write(folder, **files):
    for name, text in files.items():
        with open(os.path.join(folder, name.replace('_', '.')), 'w') as f:
            f.write(text)


def parts():
    """Single causes of numbers that were wrong."""
    if not wanted('lines'):
        return
    for name, text, least in (('breaks of switches', BREAKS, 30), ('two switches with tables', TABLES, 15),
                              ('behind what is inlined', RESUMED, 15)):
        gcov, *dirs = folders('gcov', 'gcc', 'clang')
        for d in (gcov, *dirs):
            write(d, prog_c=text)
        truth = by_gcov(gcov, 'prog.c', '', './prog')
        for d in dirs:
            cc = os.path.basename(d)
            try:
                mine = by_kin(d, 'prog.c', '', './prog', cc=cc)
            except RuntimeError as e:
                if cc == 'gcc':
                    raise
                tap.skip(f'lines: {name}, clang', str(e).splitlines()[-1])
                continue
            right, *others = compare(gcov, truth, mine)
            tap.ok(right > least and not sum(others, []), f'lines: {name}, {cc}', '\n'.join([str(right), *sum(others, [])]))
    inlined, shared = folders('inlined', 'shared')
    write(inlined, prog_c=INLINED)
    mine = by_kin(inlined, 'prog.c', '', './prog')
    got = {line: mine['prog.c', line][0] for line in (6, 7, 8, 9, 14, 15)}
    tap.ok(set(got.values()) <= {10, None} and [got[line] for line in (7, 8, 14)] == [10] * 3, 'lines: inlined nevertheless', got)
    write(shared, prog_c=USER, shared_h=HEADER)
    with open(os.path.join(shared, 'library'), 'w') as f:
        f.write(LIBRARY)
    shell('gcc -w -g -O0 -shared -fPIC -x c library -o libuncounted.so', shared)
    mine = by_kin(shared, 'prog.c', '', './prog', libs='-L. -luncounted -Wl,-rpath,.')
    got = [mine['shared.h', line][0] for line in (4, 5)]
    tap.ok(got == [10, 10], 'lines: a header that a library without counts has code of, too', got)


def optimized():
    """A number that a line shows is gcov's; the test of a loop may be in blocks of other lines."""
    if not wanted('lines'):
        return
    gcov, *dirs = folders('gcov', 'gcc', 'clang')
    for d in (gcov, *dirs):
        write(d, prog_c=LOOP)
    truth = by_gcov(gcov, 'prog.c', '', './prog')
    for d, (cc, level) in zip(dirs, (('gcc', '-O2'), ('clang', '-O2 -fno-unroll-loops -fno-vectorize'))):
        name = f'lines: loops, {cc} -O2'
        try:
            mine = by_kin(d, 'prog.c', '', './prog', cc=cc, level=level)
        except RuntimeError as e:
            tap.skip(name, str(e).splitlines()[-1])
            continue
        wrong = [f'{key}: {mine[key][0]}, gcov {count}' for key, count in sorted(truth.items())
                 if key in mine and mine[key][0] not in (None, count)]
        head = mine['prog.c', 12][0]
        tap.ok(not wrong and head == 1 and mine['prog.c', 15][0] == 1000, name, '\n'.join([str(head), *wrong]))


def random_programs():
    """Lines that have a number have the right one, with rare exceptions: a break that gcc made others bypass, and a line
    that clang gives a loop that cannot repeat."""
    if not wanted('lines'):
        return
    for cc, level in itertools.product(('gcc', 'clang'), ('-O0', '-O1', '-O2') if FULL else ('-O0', '-O2')):
        name = f'lines: random programs, {cc} {level}'
        right, unknown, wrong, estimated, far = 0, 0, [], 0, 0
        try:
            for seed in range(15 if FULL else 3):
                one, many, gone, about, off = check_random(seed, cc, level)
                right, unknown, wrong = right + one, unknown + many, wrong + gone
                estimated, far = estimated + about, far + off
        except RuntimeError as e:
            if cc == 'gcc':
                raise
            tap.skip(name, str(e).splitlines()[-1])
            continue
        n = right + unknown
        good = right > n * (.99 if level == '-O0' else .05)
        good &= not estimated if level == '-O0' else n / 2 < estimated and far < estimated / 10
        tap.ok(n > 1000 and good and len(wrong) <= n // (5000 if level == '-O0' else 1000), name,
               '\n'.join([f'{right} right, {unknown} without a number that is sure, {len(wrong)} wrong; '
                          f'{estimated} estimated, {far} of these wrong', *wrong[:20]]))


def check_random(seed, cc, level):
    program = Program(seed)
    truth, kin = folders('truth', 'kin')
    write(truth, prog_c=program.counted())
    write(kin, prog_c=program.plain())
    shell('gcc -w -O0 prog.c -o prog && ./prog', truth)
    with open(os.path.join(truth, 'counts')) as f:
        counts = [int(line) for line in f]
    estimates = {}
    mine = by_kin(kin, 'prog.c', '', './prog', cc=cc, level=level, estimates=estimates)
    lines = [i for i in program.marked() if ('prog.c', i) in mine]
    got = {i: mine['prog.c', i][0] for i in lines}
    wrong = [f'{seed}: line {i} {got[i]}, true {counts[i]}: {mine["prog.c", i][1].strip()}' for i in lines
             if got[i] not in (None, counts[i])]
    unknown = sum(n is None for n in got.values())
    estimated = [i for i in lines if ('prog.c', i) in estimates]
    far = sum(estimates['prog.c', i] != counts[i] for i in estimated)
    return len(lines) - unknown - len(wrong), unknown, wrong, len(estimated), far


def without_calls():
    if not wanted('lines'):
        return
    [loop] = folders('loop')
    write(loop, prog_c=LOOP)
    # Without -pg, which calls its own hook before the first block.
    shell(f'gcc -w -g -O2 {BLOCKS["gcc"]} prog.c -o prog -L{RT} -l:libkinrt.so.0 -Wl,-rpath,{RT} && ./prog', loop)
    out = shell(f'{os.path.abspath(KIN)} annotate -x --format json --columns count,line prog kin.*.kin', loop)
    head = [row['count'] for row in json.loads(out)['rows'] if row.get('line') == 12]
    tap.ok(head == [1], 'lines: the head of a function that is one loop, at -O2', head)


def debian():
    if not FULL or not wanted('lines'):
        return
    for package, (folder, flags, names, start) in PROGRAMS.items():
        p = subprocess.run(['sh', DEBSRC, os.path.join(TMP, 'debian'), package], capture_output=True, text=True)
        if p.returncode:
            tap.skip(f'lines: {package}', 'its source cannot be had')
            continue
        gcov, kin = folders('gcov', 'kin')
        for d in (gcov, kin):
            shell(f'cp -r {p.stdout.strip()}/* {d}', d)
            d = os.path.join(d, folder)
            shell('[ ! -e lua.c ] || { echo "#define DEB_HOST_MULTIARCH \\"none\\"" >lua5.4-deb-multiarch.h; rm luac.c; }', d)
        sources = ' '.join(f'{n}.c' for n in names.split()) if names else '*.c'
        gcov, kin = os.path.join(gcov, folder), os.path.join(kin, folder)
        truth = by_gcov(gcov, sources, flags, start, '-lm')
        version = os.path.basename(p.stdout.strip().rstrip('/'))
        right, wrong, unknown, missed = compare(gcov, truth, by_kin(kin, sources, flags, start, '-lm'), TRUE.get(version))
        said = f'{right} lines as gcov or a breakpoint has them, {len(wrong)} not, {len(unknown)} without a count'
        blank = {text.split(' ')[0] for text in unknown}
        good = not wrong and blank <= BLANK.get(version, set()) if version in TRUE else \
            len(wrong) <= right // 500 and len(unknown) <= right // 500
        tap.ok(right > 1000 and good and not missed,
               f'lines: {package}', '\n'.join([said, *missed, *wrong[:40], *unknown[:40]]))
        print(f'# {package}: {said}')


PARTS = [small, without_calls, parts, optimized, random_programs, debian]

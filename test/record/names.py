"""Names in a recording: its reports are the same when the programs are gone, replaced, or on another machine.

    names.py BUILD
"""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap
from waiting import wait_until

LIMIT = 120  # seconds for one command: the machine may be busy

# Standard output alone: the note on where names come from is on standard error.
REPORTS = [['report'], ['report', '-g', '--no-children'], ['report', '--all-rows'], ['report', '-s', 'sym,srcline'],
           ['report', '-s', 'dso,sym,symoff'], ['report', '-s', 'srcfile,sym', '--no-children'],
           ['flat'], ['flat', '--by', 'object'], ['graph'], ['graph', '--format', 'json'], ['lines'], ['cycles'],
           ['info'], ['latency'], ['counts'], ['script'], ['script', '-F', '+srcline'],
           ['script', '--format=folded'], ['html', '--no-code', '-o', '-']]
# These show source text and code, which kin pack adds.
PACKED = [['annotate'], ['annotate', 'work'], ['annotate', '--asm'], ['annotate', '--asm', '--source'],
          ['html', '-o', '-']]

SOURCE = r'''
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x) { x ^= x << 13; return x ^ x >> 17; }
__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned s = 1;
	for (unsigned i = 0; i < n; i++)
		s += mix(s + i);
	return s;
}
unsigned _work(unsigned n) __attribute__((weak, alias("work")));
__attribute__((noinline)) int order(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}
__attribute__((noinline)) void sorter(int *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = rand();
	qsort(v, n, sizeof(*v), order);
}
int main(int argc, char **argv)
{
	static int v[20000];
	unsigned s = 0;
	for (int i = 0; i < 40; i++) {
		s += work(WORK + i + argc);
		sorter(v, 20000);
	}
	return printf("%u\n", s) < 0;
}
'''


class Box:
    def __init__(self, build):
        self.kin = os.path.join(os.path.abspath(build), 'kin')
        self.folder = tempfile.mkdtemp(prefix='kin-names-')
        self.env = {**os.environ, 'HOME': self.folder, 'LC_ALL': 'C'}
        self.env.pop('XDG_CACHE_HOME', None)
        with open(self.at('work.c'), 'w') as f:
            f.write(SOURCE)

    def at(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **more):
        return subprocess.run(words, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT, **more)

    def compile(self, work, *flags):
        subprocess.run(['gcc', '-g', '-O1', f'-DWORK={work}', *flags, '-o', self.at('prog'), self.at('work.c')],
                       check=True)

    def reports(self, file, which, root=None):
        """Output and exit status of each report."""
        ret = {}
        for words in which:
            if root:
                p = subprocess.run(['chroot', root, '/kin', *words, '-i', file], env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
            else:
                p = self.run(self.kin, *words, '-i', file)
            ret[' '.join(words)] = (p.stdout, p.returncode, p.stderr)
        return ret


def different(a, b):
    """The reports that differ, with their first lines that do."""
    ret = []
    for words, (text, status, _) in a.items():
        other, ended, said = b[words]
        if text == other and status == ended:
            continue
        lines, others = text.splitlines(), other.splitlines()
        first = next((i for i in range(min(len(lines), len(others))) if lines[i] != others[i]), 0)
        ret.append(f'kin {words}: {status} {ended} {lines[first:first + 1]} {others[first:first + 1]} {said!r}')
    return '\n'.join(ret)


def away(box, *names):
    for name in names:
        os.rename(box.at(name), box.at(name) + '.away')


def back(box, *names):
    for name in names:
        os.rename(box.at(name) + '.away', box.at(name))


def test_names(tap, box, how, record):
    """A recording, the program gone, then another build in its place."""
    box.compile(300000, *(['-pg'] if how == 'run' else []))
    p = record('x.kin')
    before = box.reports('x.kin', REPORTS)
    tap.ok(p.returncode == 0 and b'work' in before['flat'][0], f'kin {how}: there is a recording', p.stderr)
    note = b'note: names are those that the recording keeps, of ' + box.at('prog').encode()
    tap.ok(note not in before['flat'][2], f'kin {how}: no note while the program is as it was', before['flat'][2])
    away(box, 'prog')
    gone = box.reports('x.kin', REPORTS)
    tap.ok(not different(before, gone), f'kin {how}: the program is gone, and reports are the same',
           different(before, gone))
    tap.ok(note + b' (No such file' in gone['flat'][2], f'kin {how}: ... and a note says where names come from',
           gone['flat'][2])
    alias = box.run(box.kin, 'graph', '_work', '-i', 'x.kin')
    tap.ok(alias.returncode == 0, f'kin {how}: ... and aliases are known', alias.stderr)
    tap.ok('_work is shown as work: it is another name' in str(alias.stdout), f'kin {how}: ... and it is said which function that is',
           alias.stdout)
    box.compile(310000, '-O2', *(['-pg'] if how == 'run' else []))
    other = box.reports('x.kin', REPORTS)
    tap.ok(not different(before, other), f'kin {how}: another build is there, and reports are the same',
           different(before, other))
    tap.ok(b'the file has been replaced' in other['flat'][2], f'kin {how}: ... and the note says that',
           other['flat'][2])
    os.remove(box.at('prog'))
    back(box, 'prog')


def test_replaced(tap, box, flags, replaced_by):
    """Another program has the path when the recording ends, and when its names are made."""
    box.compile(300000, '-Dorder=other', replaced_by)
    os.rename(box.at('prog'), box.at('next'))
    box.compile(300000, flags)
    p = box.run(box.kin, 'record', '-o', 'x.kin', 'sh', '-c', './prog && mv next prog')
    out = box.run(box.kin, 'flat', '-i', 'x.kin')
    tap.ok(p.returncode == 0 and b' order' in out.stdout and b' other' not in out.stdout,
           f'kin record: replaced while it records, {flags} by {replaced_by}: names are those of what ran',
           out.stdout + out.stderr)
    tap.ok(b'the file has been replaced' in out.stderr, '... and the note says that', out.stderr)


def test_namesakes(tap, box):
    """Two programs without build ids run from one path."""
    none = '-Wl,--build-id=none'
    box.compile(300000, '-Dorder=other', none)
    os.rename(box.at('prog'), box.at('next'))
    box.compile(300000, none)
    p = box.run(box.kin, 'record', '-o', 'x.kin', 'sh', '-c', './prog && ./prog && mv next prog && ./prog')
    out = box.run(box.kin, 'report', '--no-children', '-s', 'dso,sym', '-i', 'x.kin').stdout.decode()
    rows = re.findall(r'% +(prog(?: \(\d+\))?) +(order|other)$', out, re.M)
    tap.ok(p.returncode == 0 and sorted(rows) == [('prog', 'order'), ('prog (2)', 'other')],
           'kin record: two programs of one path, without build ids, have their own names', out)


def another_machine(box, file):
    """A folder with nothing but kin, its libraries, and the recording."""
    root = box.at('root')
    os.makedirs(root)
    shutil.copy(box.kin, os.path.join(root, 'kin'))
    libraries = subprocess.run(['ldd', box.kin], stdout=subprocess.PIPE, text=True, check=True).stdout
    paths = [w for w in libraries.split() if w.startswith('/')]
    # capstone is opened when code is disassembled
    cache = subprocess.run(['ldconfig', '-p'], stdout=subprocess.PIPE, text=True).stdout
    paths += [l.split(' => ')[1] for l in cache.splitlines() if 'libcapstone.so' in l]
    for path in paths:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy(box.at(file), os.path.join(root, file))
    return root


def test_pack(tap, box):
    all_of_them = REPORTS + PACKED
    before = box.reports('x.kin', all_of_them)
    p = box.run(box.kin, 'pack', '-o', 'p.kin', 'x.kin')
    tap.ok(p.returncode == 0, 'kin pack', p.stderr)
    size = os.path.getsize(box.at('x.kin'))
    os.rename(box.at('p.kin'), box.at('x.kin'))
    packed = box.reports('x.kin', all_of_them)
    tap.ok(not different(before, packed), 'kin pack: reports are as before', different(before, packed))
    tap.ok(os.path.getsize(box.at('x.kin')) > size, 'kin pack: the file has more in it')
    away(box, 'prog', 'work.c')
    gone = box.reports('x.kin', all_of_them)
    tap.ok(not different(packed, gone), 'kin pack: without program and source they are the same',
           different(packed, gone))
    if os.geteuid():
        tap.skip('kin pack: on another machine', 'only root may chroot')
    else:
        there = box.reports('x.kin', all_of_them, another_machine(box, 'x.kin'))
        tap.ok(not different(packed, there), 'kin pack: on another machine they are the same',
               different(packed, there))
    back(box, 'prog', 'work.c')


def set_age(box, **hours):
    now = time.time()
    for name, age in hours.items():
        os.utime(box.at({'prog': 'prog', 'lib': 'libwork.so', 'source': 'part.c'}[name]), (now - age * 3600,) * 2)


def test_newer_source(tap, box, record):
    """A source's age is compared with the file that has its code, not with the program or with a file that replaced it."""
    with open(box.at('part.c'), 'w') as f:
        f.write('volatile unsigned x;\nvoid part(void)\n{\n\tfor (unsigned i = 0; i < 60000000; i++)\n\t\tx = x + i;\n}\n')
    with open(box.at('main.c'), 'w') as f:
        f.write('void part(void);\nint main(void) { part(); return 0; }\n')
    there = ['-Wl,-rpath,' + box.folder, '-Wl,--build-id']
    subprocess.run(['gcc', '-g', '-O1', '-fPIC', '-shared', '-Wl,--build-id', '-o', box.at('libwork.so'), box.at('part.c')],
                   check=True)
    subprocess.run(['gcc', '-g', '-O1', '-o', box.at('prog'), box.at('main.c'), box.at('libwork.so'), *there], check=True)
    p = record('x.kin')
    annotated = lambda: box.run(box.kin, 'annotate', 'part', '-i', 'x.kin').stdout.decode()
    note = f"source '{box.at('part.c')}' is newer than '{box.at('libwork.so')}'"
    set_age(box, prog=5, source=4, lib=3)
    tap.ok('x = x + i' in annotated() and 'is newer' not in annotated(), 'annotate: an old program is not the library', p.stderr)
    set_age(box, lib=5, source=4, prog=3)
    tap.ok(note in annotated(), 'annotate: a source that is newer than the library is named', annotated())
    away(box, 'prog', 'libwork.so')
    for name in ('prog', 'libwork.so'):
        shutil.copy('/bin/true', box.at(name))
    set_age(box, lib=5, source=4, prog=5)
    text = annotated()
    tap.ok('x = x + i' in text and 'is newer' not in text, 'annotate: ... but not than what took its place', text)
    back(box, 'prog', 'libwork.so')
    with open(box.at('part.c'), 'a') as f:
        f.write('int added;\n')
    subprocess.run(['gcc', '-g', '-O1', '-fPIC', '-shared', '-Wl,--build-id', '-o', box.at('libwork.so'), box.at('part.c')],
                   check=True)
    text = annotated()
    tap.ok(f"source '{box.at('part.c')}' is newer than 'x.kin'" in text, 'annotate: a source changed since the recording, and a library built from it', text)


def test_diff(tap, box, record):
    """The daily loop: measure, change, build, compare."""
    box.compile(300000)
    record('before.kin')
    box.compile(300000, '-O2')
    record('after.kin')
    p = box.run(box.kin, 'diff', '--all', '--format=csv', 'before.kin', 'after.kin')
    names = [l.rsplit(',', 1)[-1] for l in p.stdout.decode().splitlines()[1:]]
    tap.ok(b'0x' not in p.stdout and names.count('work') == 1, 'diff of two builds goes by function',
           p.stdout + p.stderr)
    p = box.run(box.kin, 'diff', '--all', 'before.kin', 'after.kin')
    tap.ok(b'prog is another build after than before' in p.stdout, '... and says that', p.stdout)
    for order in (['before.kin', 'after.kin'], ['after.kin', 'before.kin']):
        box.run(box.kin, 'merge', '-o', order[0].replace('.', '-first.'), *order)
    tap.ok(filecmp.cmp(box.at('before-first.kin'), box.at('after-first.kin'), False),
           'merging two builds gives the same in either order')
    p = box.run(box.kin, 'flat', '--format=csv', '-c', 'name', 'before-first.kin')
    tap.ok(p.stdout.decode().split().count('work') == 1, 'a function of two builds is one', p.stdout)
    here = box.run(box.kin, 'report', '-i', 'before-first.kin').stdout
    away(box, 'prog')
    box.run(box.kin, 'merge', '-o', 'gone.kin', 'before.kin', 'after.kin')
    tap.ok(filecmp.cmp(box.at('before-first.kin'), box.at('gone.kin'), False),
           'merged without the program: the same file')
    back(box, 'prog')
    tap.ok(here == box.run(box.kin, 'report', '-i', 'gone.kin').stdout, '... and the same report')


def test_cache(tap, box):
    """A perf.data has no names; perf keeps a copy of the program, and kin finds that."""
    box.compile(300000)
    p = box.run(box.kin, 'record', '--no-names', '-o', 'c.kin', '--perf-data', 'c.data', './prog')
    before = box.run(box.kin, 'report', '-i', 'c.data')
    notes = subprocess.run(['readelf', '-n', box.at('prog')], stdout=subprocess.PIPE, text=True, check=True).stdout
    build_id = notes.split('Build ID: ')[1].split()[0]
    folder = box.at(f'.debug/.build-id/{build_id[:2]}/{build_id[2:]}')
    os.makedirs(folder)
    shutil.copy(box.at('prog'), folder + '/elf')
    box.compile(310000, '-O2')
    after = box.run(box.kin, 'report', '-i', 'c.data')
    tap.ok(p.returncode == 0 and b'work' in before.stdout and before.stdout == after.stdout and not after.stderr,
           'a perf.data of another build: what perf keeps in ~/.debug', before.stdout + after.stdout + after.stderr)
    shutil.rmtree(box.at('.debug'))


# All time is below a function that ended in a jump: to the next one, or to a place that the code leaves open.
TAILS = r'''
static volatile unsigned sink;
__attribute__((noipa)) int spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 5 + i; return 1; }
__attribute__((noipa)) int turn(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 3 + i; return 1; }
__attribute__((noipa)) int last(unsigned n) { return spin(n + 1); }
__attribute__((noipa)) int first(unsigned n) { return last(n + 1); }
static int (*volatile other)(unsigned) = turn;
__attribute__((noipa)) int anywhere(unsigned n) { return other(n + 1); }
int main(void)
{
	int s = 0;
	for (int i = 0; i < 20; i++)
		s += first(10000000) + anywhere(10000000);
	return s != 40;
}
'''
TAIL_REPORTS = [['report'], ['report', '-g', '--no-children'], ['graph'], ['graph', '--format', 'json'], ['info'],
                ['report', '-s', 'sym,srcline'], ['report', '-s', 'dso,sym,symoff']]


def test_tail_calls(tap, box, record):
    """Functions that ended in a jump are found in the code, which is gone when reports are made."""
    with open(box.at('tails.c'), 'w') as f:
        f.write(TAILS)
    subprocess.run(['gcc', '-g', '-O2', '-o', box.at('prog'), box.at('tails.c')], check=True)
    p = record('t.kin')
    before = box.reports('t.kin', TAIL_REPORTS)
    rows = set(re.findall(r'\b(?:first|last|anywhere|spin|turn)\b', before['graph'][0].decode()))
    tap.ok(rows == {'first', 'last', 'spin', 'turn'}, 'tail calls: functions on the one way are put back', p.stderr + before['graph'][0])
    text = before['graph'][0] + before['graph'][2]
    tap.ok(b'(tail calls) are put back' in text and b'(tail calls) are missing' in text, '... and notes say that, and what is missing', text)
    away(box, 'prog')
    gone = box.reports('t.kin', TAIL_REPORTS)
    tap.ok(not different(before, gone), 'tail calls: the program is gone, and reports are the same', different(before, gone))
    box.run(box.kin, 'merge', '-o', 'tt.kin', 't.kin', 't.kin')
    back(box, 'prog')
    box.run(box.kin, 'merge', '-o', 'there.kin', 't.kin', 't.kin')
    tap.ok(filecmp.cmp(box.at('tt.kin'), box.at('there.kin'), False), '... and merged without it, the file is')
    with open(box.at('t.kin'), 'r+b') as f:
        f.truncate(int.from_bytes(f.read(48)[40:], 'little'))
    files = box.reports('t.kin', TAIL_REPORTS)
    tap.ok(not different(before, files), '... and without names they are those of the file', different(before, files))


NAMESAKE = r'''
static volatile unsigned sink;
#ifdef MAIN
static __attribute__((noipa)) void helper(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 5 + i; }
void never(void);
int main(int argc, char **argv) { (void)argv; helper(200000000); if (argc > 1) never(); return 0; }
#else
static __attribute__((noipa)) void helper(void) { sink = 1; }
void never(void) { helper(); helper(); }
#endif
'''


def test_namesake_functions(tap, box, record):
    """Of two static functions of one name one was sampled."""
    for name, main in (('main.c', '#define MAIN\n'), ('never.c', '')):
        with open(box.at(name), 'w') as f:
            f.write(main + NAMESAKE)
    subprocess.run(['gcc', '-g', '-O2', '-o', box.at('prog'), box.at('main.c'), box.at('never.c')], check=True)
    p = record('s.kin')
    before = box.reports('s.kin', REPORTS)
    tap.ok(b' helper (main.c)' in before['graph'][0], 'static functions of one name have their files', p.stderr + before['graph'][0])
    away(box, 'prog')
    gone = box.reports('s.kin', REPORTS)
    tap.ok(not different(before, gone), '... and when the program is gone', different(before, gone))
    back(box, 'prog')


LARGE = 48 << 20
LARGE_SOURCE = r'''
#include <signal.h>
#include <unistd.h>
__asm__(".text\n.skip %d\n");
__attribute__((noinline)) void spin(void) { for (;;) __asm__ volatile(""); }
static void end(int number) { (void)number; _exit(0); }
int main(void) { signal(SIGALRM, end); ualarm(300000, 0); spin(); }
''' % LARGE


def test_large(tap, box):
    """A sample at a function's first instruction needs the bytes before it, and no more of the code."""
    with open(box.at('large.c'), 'w') as f:
        f.write(LARGE_SOURCE)
    subprocess.run(['gcc', '-O1', '-fno-toplevel-reorder', '-o', box.at('large'), box.at('large.c')], check=True)
    memory = []
    for words in (['--no-names'], []):
        kin = subprocess.Popen([box.kin, 'record', '-q', *words, '-o', 'large.kin', './large'], cwd=box.folder, env=box.env)
        _, status, used = os.wait4(kin.pid, 0)
        kin.returncode = status
        memory.append(used.ru_maxrss << 10)
    p = box.run(box.kin, 'flat', '-i', 'large.kin')
    tap.ok(b'spin' in p.stdout, 'a large program: its function has a name', p.stdout + p.stderr)
    tap.ok(memory[1] - memory[0] < LARGE // 2, '... for which its code is not read', repr(memory).encode())


# Files that exist in the container alone: a program with a library, a second one without a build id, and a debug file.
INSIDE = r'''
#include <time.h>
#include <unistd.h>
static inline __attribute__((always_inline)) unsigned mixed(unsigned x) { x ^= x << 13; return x ^ x >> 17; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
#ifdef LIBRARY
__attribute__((noinline)) unsigned FUNCTION(unsigned n)
{
	unsigned s = 1;
	for (unsigned i = 0; i < n; i++)
		s += mixed(s + i);
	return s;
}
#else
unsigned in_library(unsigned n);
static volatile unsigned sink;
__attribute__((noinline)) void in_program(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = mixed(sink + i);
}
int main(int argc, char **argv)
{
	(void)argv;
	for (double end = now() + 0.4; now() < end || argc > 1;) {
		in_program(20000);
		sink = in_library(20000);
	}
	return 0;
}
#endif
'''


def fill_container(box, root):
    """Puts programs, and the files that they need, into a folder that will be / for them."""
    os.makedirs(root + '/app')
    os.makedirs(root + '/usr/lib/debug/app')
    with open(box.at('inside.c'), 'w') as f:
        f.write(INSIDE)
    gcc = lambda *words: subprocess.run(['gcc', '-O2', '-g', '-I.', *words], cwd=box.folder, check=True)
    gcc('-DLIBRARY', '-DFUNCTION=in_library', '-shared', '-fPIC', '-Wl,-soname,libinside.so', '-o', root + '/app/libinside.so', 'inside.c')
    for name, flags in (('prog', []), ('plain', ['-Wl,--build-id=none']), ('stripped', [])):
        gcc(*flags, '-o', f'{root}/app/{name}', 'inside.c', root + '/app/libinside.so', '-Wl,-rpath,/app')
    debug = root + '/usr/lib/debug/app/stripped.debug'
    for words in (['objcopy', '--only-keep-debug', root + '/app/stripped', debug], ['strip', root + '/app/stripped'],
                  ['objcopy', '--add-gnu-debuglink=' + debug, root + '/app/stripped']):
        subprocess.run(words, check=True)
    shutil.copy('/bin/sh', root + '/sh')
    needs = [subprocess.run(['ldd', p], stdout=subprocess.PIPE, text=True).stdout for p in ('/bin/sh', '/bin/sleep')]
    for path in {w for text in needs for w in text.split() if w.startswith('/')}:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy('/bin/sleep', root + '/sleep')


# A file system of its own, which ends with its last process; first a plain folder, then the root.
ENTER = '''set -e
mount --make-rprivate /
mount -t tmpfs none "$1/mnt"
cp -a "$1/root2/." "$1/mnt"
: > "$1/ready"
shift
exec chroot "$0/mnt" "$@"
'''


def test_container(tap, box):
    """Recorded from outside: only the program sees its files, and they are gone when names are made."""
    if os.geteuid() or not shutil.which('unshare'):
        tap.skip('kin record: a container, from outside', 'takes root, and unshare')
        return
    fill_container(box, box.at('root2'))
    os.mkdir(box.at('mnt'))
    probe = box.run('unshare', '-m', 'sh', '-c', ENTER, box.folder, box.folder, '/app/prog')
    if probe.returncode:
        tap.skip('kin record: a container, from outside', probe.stderr.decode().strip())
        return
    for name in ('prog', 'plain', 'stripped'):
        inside = ['unshare', '-m', 'sh', '-c', ENTER, box.folder, box.folder, f'/app/{name}']
        p = box.run(box.kin, 'record', '-a', '-o', 'in.kin', '--', *inside)
        tap.ok(p.returncode == 0, f'kin record -a, {name}: a container, from outside', p.stderr)
        check_container(tap, box, '-a, ' + name, name)
    for name in ('prog', 'stripped'):
        test_container_gone(tap, box, name)


def test_container_gone(tap, box, name):
    """The process is there first, and its container no more when the recording ends."""
    box.run('rm', '-f', 'ready', 'in.kin')
    enter = subprocess.Popen(['unshare', '-m', 'sh', '-c', ENTER, box.folder, box.folder, '/app/' + name, 'long'])
    is_there = lambda: os.path.exists(box.at('ready')) and os.readlink(f'/proc/{enter.pid}/exe').endswith('/app/' + name)
    wait_until(lambda: enter.poll() is not None or is_there())
    test_container_live(tap, box, name, enter)
    kin = subprocess.Popen([box.kin, 'record', '-p', str(enter.pid), '-o', 'in.kin'], cwd=box.folder, env=box.env,
                           stderr=subprocess.PIPE)
    has_samples = lambda: os.path.exists(box.at('in.kin')) and os.path.getsize(box.at('in.kin')) >= 5000
    wait_until(lambda: kin.poll() is not None or has_samples())
    enter.kill()
    enter.wait()
    said = kin.stderr.read()
    tap.ok(not kin.wait(), f'kin record -p, {name}: a container, from outside', said)
    check_container(tap, box, '-p, ' + name, name)


def test_container_live(tap, box, name, program):
    """While it is looked at."""
    text = ''
    with open(box.at('top.json'), 'wb') as out:
        top = subprocess.Popen([box.kin, 'top', '--json', '-d', '0.1', '-p', str(program.pid)], env=box.env,
                               stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
    end = time.monotonic() + LIMIT
    while 'in_library' not in text and top.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
        with open(box.at('top.json')) as f:
            text = f.read()
    top.kill()
    said = top.communicate()[1]
    tap.ok('in_library' in text, f'kin top -p, {name}: a container, from outside', text[-300:] + said.decode())


def check_container(tap, box, how, name):
    report = [box.kin, 'report', '--all-rows', '-i', 'in.kin', '--comm', name]
    out = box.run(*report, '-s', 'dso,sym')
    text = out.stdout.decode()
    tap.ok('in_program' in text and 'in_library' in text, f'{how}: its functions have names', text + out.stderr.decode())
    lines = box.run(*report, '-s', 'sym,srcline').stdout.decode()
    tap.ok('inside.c:' in lines and 'mixed' in lines, f'{how}: with lines, and what is inlined', lines)


def test_damage(tap, box):
    """Names that are damaged or cut off are all that is lost."""
    box.compile(300000)
    box.run(box.kin, 'run', '-o', 'd.kin', './prog')
    with open(box.at('d.kin'), 'rb') as f:
        whole = f.read()
    end = int.from_bytes(whole[40:48], 'little')
    away(box, 'prog')
    for what, data in (('damaged', whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:]), ('cut off', whole[:-24])):
        with open(box.at('d.kin'), 'wb') as f:
            f.write(data)
        p = box.run(box.kin, 'info', '-i', 'd.kin')
        lines = [l for l in p.stderr.splitlines() if what.encode() in l]
        tap.ok(p.returncode == 1 and len(lines) == 1 and b'samples' in p.stdout, f'names that are {what}: one line',
               p.stderr)
    with open(box.at('d.kin'), 'wb') as f:
        f.write(whole[:end])
    p = box.run(box.kin, 'info', '-i', 'd.kin')
    tap.ok(len(whole) > end and p.returncode == 0, 'without names it is a whole recording', p.stderr)
    back(box, 'prog')
    p = box.run(box.kin, 'run', '--no-names', '-o', 'n.kin', './prog')
    with open(box.at('n.kin'), 'rb') as f:
        data = f.read()
    tap.ok(not any(data[int.from_bytes(data[40:48], 'little'):]), '--no-names leaves them out')


def main():
    tap = Tap()
    box = Box(sys.argv[1])
    try:
        tap.part(test_names, tap, box, 'run', lambda file: box.run(box.kin, 'run', '-o', file, './prog'))
        tap.part(test_pack, tap, box)
        tap.part(test_damage, tap, box)
        box.compile(1000)
        p = box.run(box.kin, 'record', '--dry-run', './prog')
        if p.returncode:
            tap.skip('kin record', p.stderr.decode().strip())
        else:
            sample = lambda file: box.run(box.kin, 'record', '-o', file, './prog')
            tap.part(test_names, tap, box, 'record', sample)
            for flags, by in (('-Wl,--build-id=none', '-Wl,--build-id=none'), ('-Wl,--build-id', '-Wl,--build-id=none')):
                tap.part(test_replaced, tap, box, flags, by)
            tap.part(test_namesakes, tap, box)
            tap.part(test_newer_source, tap, box, sample)
            tap.part(test_tail_calls, tap, box, sample)
            tap.part(test_namesake_functions, tap, box, sample)
            tap.part(test_diff, tap, box, sample)
            tap.part(test_cache, tap, box)
            tap.part(test_large, tap, box)
            tap.part(test_container, tap, box)
    finally:
        shutil.rmtree(box.folder)
    sys.exit(tap.done())


if __name__ == '__main__':
    main()

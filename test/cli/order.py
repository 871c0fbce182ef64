"""Linkers can read the output of kin order: a program is built, profiled, and linked again in the
order that kin found; its functions must then lie in that order.

    order.py BUILD
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

# The hot chain main > outer > middle > inner is spread over the file; init() is in a section of
# its own, static functions of one name are in two files.
ONE = '''
void sink(int);
int other(int);
#define COLD(n) __attribute__((noinline)) int cold##n(int x) { sink(x); return x * n; }
__attribute__((noinline)) static int inner(int x) { sink(x); return x ^ 5; }
COLD(1) COLD(2) COLD(3) COLD(4)
__attribute__((noinline)) static int twin(int x) { sink(x); return x + 1; }
__attribute__((noinline)) int outer(int x);
COLD(5) COLD(6)
__attribute__((constructor, noinline)) void init(void) { sink(7); }
__attribute__((noinline)) int middle(int x) { return inner(x) + inner(x + 1) + inner(x + 2) + twin(x); }
COLD(7) COLD(8)
int main(void)
{
	int sum = cold1(1);
	for (int i = 0; i < 30000; i++)
		sum += outer(i);
	return other(sum) & 0;
}
COLD(9)
__attribute__((noinline)) int outer(int x) { return middle(x) + middle(x + 1) + 1; }
'''
TWO = '''
volatile int seen;
__attribute__((noinline)) void sink(int x) { seen += x; }
__attribute__((noinline)) static int twin(int x) { sink(x); return x + 2; }
int other(int x) { return twin(x); }
'''
LINKERS = {
    'ld.lld': ('lld', '-Wl,--symbol-ordering-file={}', 'ld.lld'),
    'gold': ('gold', '-Wl,--section-ordering-file={}', 'ld.gold'),
    'mold': ('mold', '-Wl,@{}', 'mold'),
}


def run(folder, *command, **options):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, **options)


def must(folder, *command, **options):
    done = run(folder, *command, **options)
    if done.returncode:
        sys.exit(f'{" ".join(command)}: {done.stdout}{done.stderr}')
    return done.stdout


def functions(folder, program):
    """Names of functions by address; those that occur twice are left out."""
    names = [line.split()[2] for line in must(folder, 'nm', '-n', program).splitlines()
             if len(line.split()) == 3 and line.split()[1] in 'tT']
    return [name for name in names if names.count(name) == 1]


def build(folder):
    """Two objects, a program, and the profile of a run."""
    for name, text in (('one', ONE), ('two', TWO)):
        with open(os.path.join(folder, name + '.c'), 'w') as f:
            f.write(text)
        must(folder, 'gcc', '-O1', '-pg', '-ffunction-sections', '-c', name + '.c')
    must(folder, 'gcc', '-pg', '-o', 'before', 'one.o', 'two.o')
    must(folder, './before')
    os.rename(os.path.join(folder, 'gmon.out'), os.path.join(folder, 'profile')) # others run here, too


CLONES = r'''
#include <stdlib.h>
#include <string.h>
static volatile long seen;
__attribute__((noinline)) static long scaled(long x, int by) { for (int i = 0; i < 9; i++) seen += x * by; return seen; }
__attribute__((noinline)) void work(char *at) { memset(at, 1, 4096); seen += memchr(at, 2, 4096) == 0; seen += scaled(seen, 3); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	static int numbers[4096];
	static char bytes[4096];
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 4096; k++)
			numbers[k] = k * 7919 % 4096;
		qsort(numbers, 4096, sizeof(*numbers), compare);
		for (int k = 0; k < 100; k++)
			work(bytes);
	}
	return 0;
}
'''


CALLERS = r'''
static volatile long seen;
#define LOOP(n) for (int i = 0; i < (n); i++) seen = seen * 5 + 1
__attribute__((noinline)) static void deep_a(void) { LOOP(30000); }
__attribute__((noinline)) static void deep_b(void) { LOOP(20000); LOOP(5000); }
__attribute__((noinline)) static void top_b(void) { deep_b(); LOOP(9000); LOOP(2000); }
__attribute__((noinline)) static void top_a(void) { deep_a(); LOOP(8000); }
int main(void)
{
	for (int i = 0; i < 4000; i++) {
		top_a();
		top_b();
	}
	return 0;
}
'''


def test_sampled(tap, kin, folder):
    """Without counted calls, functions follow their callers on the stack."""
    with open(os.path.join(folder, 'callers.c'), 'w') as f:
        f.write(CALLERS)
    must(folder, 'gcc', '-O1', '-ffunction-sections', 'callers.c', '-o', 'callers')
    must(folder, kin, 'run', '-q', '-o', 'callers.kin', './callers')
    names = must(folder, kin, 'order', '-i', 'callers.kin', 'callers').splitlines()
    follows = [a + ' ' + b for a, b in zip(names, names[1:])]
    tap.ok('top_a deep_a' in follows and 'top_b deep_b' in follows, 'of samples: functions follow their callers', names)
    text = must(folder, kin, 'order', '--format=text', '-i', 'callers.kin', 'callers')
    tap.ok('a call leads' not in text and 'Hot code' in text, '... and nothing is said of calls', text[:300])


def test_linkable(tap, kin, folder):
    """An order has only functions of the program that is linked: none of libraries, the kernel, or a build that counts."""
    with open(os.path.join(folder, 'clones.c'), 'w') as f:
        f.write(CLONES)
    compiled = ['gcc', '-O2', '-ffunction-sections', 'clones.c']
    must(folder, *compiled, '-o', 'plain')
    must(folder, *compiled, '-pg', '-o', 'counted')
    must(folder, './counted')
    os.rename(os.path.join(folder, 'gmon.out'), os.path.join(folder, 'counts'))
    clones = [n for n in functions(folder, 'counted') if n.startswith('scaled.')]
    names = must(folder, kin, 'order', 'counted', 'counts').splitlines()
    tap.ok(clones and not set(clones) & set(names) and {'main', 'work'} <= set(names), 'clones of a counted build are not listed',
           f'{clones} {names}')
    recorded = run(folder, kin, 'record', '-o', 'rec.kin', './plain')
    if recorded.returncode:
        tap.skip('an order of what was sampled', recorded.stderr.strip())
        return
    names, own = must(folder, kin, 'order', 'rec.kin').splitlines(), functions(folder, 'plain')
    tap.ok(names and set(names) <= set(own), 'of a recording: only functions of the program', f'{set(names) - set(own)} {names}')
    if shutil.which('ld.lld'):
        must(folder, kin, 'order', '--for=ld.lld', '-o', 'rec.order', 'rec.kin')
        done = run(folder, *compiled, '-o', 'ordered', '-fuse-ld=lld', '-Wl,--symbol-ordering-file=rec.order', '-Wl,--fatal-warnings')
        tap.ok(done.returncode == 0, 'ld.lld has nothing to warn of', done.stderr)


ALIASES = r'''
#include <stdio.h>
volatile int seen;
#define COLD(n) __attribute__((noinline)) int cold##n(int x) { return printf("%d", x * n); }
struct A { int v; __attribute__((noinline)) A(int x) : v(x) { seen++; } __attribute__((noinline)) ~A(); };
COLD(1) COLD(2)
A::~A() { seen += v; }
COLD(3) COLD(4)
extern "C" __attribute__((noinline)) int zz_work(int x) { A a(x); return seen * x; }
extern "C" int aa_work(int x) __attribute__((alias("zz_work")));
COLD(5) COLD(6)
int main() { for (int i = 0; i < 99999; i++) aa_work(i); return 0; }
'''


def test_aliases(tap, kin, folder):
    """A section is named after one of its function's names, which need not be the name that kin shows."""
    with open(os.path.join(folder, 'aliases.cc'), 'w') as f:
        f.write(ALIASES)
    compiled = ['g++', '-O1', '-ffunction-sections', 'aliases.cc']
    must(folder, *compiled, '-pg', '-o', 'named')
    must(folder, './named')
    os.rename(os.path.join(folder, 'gmon.out'), os.path.join(folder, 'named.out'))
    ran = ['main', 'zz_work', '_ZN1AD2Ev', '_ZN1AC2Ei']
    for tool in 'gold', 'mold':
        lines = must(folder, kin, 'order', '--for=' + tool, 'named', 'named.out').splitlines()
        tap.ok({'.text.' + name for name in ran} <= set(lines), f'{tool}: sections by all names of their functions', lines)
        tap.ok(len(lines) == len(set(lines)), f'{tool}: each once', lines)
    if not shutil.which('ld.gold'):
        tap.skip('gold places functions by their other names', 'no gold')
        return
    must(folder, kin, 'order', '--for=gold', '-o', 'named.order', 'named', 'named.out')
    must(folder, *compiled, '-o', 'placed', '-fuse-ld=gold', '-Wl,--section-ordering-file=named.order')
    lines = [line.split() for line in must(folder, 'nm', '-n', 'placed').splitlines()]
    at = {line[2]: int(line[0], 16) for line in lines if len(line) == 3 and line[1] in 'tTwW'}
    own = [at[name] for name in ran]
    between = [name for name in at if min(own) <= at[name] <= max(own) and 'cold' in name]
    tap.ok(not between, 'gold places functions by their other names', between)


def main():
    kin = os.path.join(os.path.abspath(sys.argv[1]), 'kin')
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-order.') as folder:
        test_sampled(tap, kin, folder)
        test_linkable(tap, kin, folder)
        test_aliases(tap, kin, folder)
        build(folder)
        names = must(folder, kin, 'order', 'before', 'profile').splitlines()
        tap.ok({'main', 'outer', 'middle', 'inner', 'sink', 'twin'} <= set(names),
               'what ran is listed', '\n'.join(names))
        tap.ok(len(names) == len(set(names)), 'nothing is listed twice', '\n'.join(names))
        tap.ok(not {f'cold{i}' for i in range(2, 10)} & set(names), 'what did not run is not',
               '\n'.join(names))
        chain = [names.index(n) for n in ('main', 'outer', 'middle', 'inner')]
        tap.ok(chain == sorted(chain), 'callers come before callees', '\n'.join(names))

        before = functions(folder, 'before')
        wanted = [n for n in names if n in before]
        for linker, (short, option, program) in LINKERS.items():
            if not shutil.which(program):
                tap.skip(f'{linker} places functions in this order', f'no {program}')
                continue
            must(folder, kin, 'order', f'--for={linker}', '-o', 'order', 'before', 'profile')
            done = run(folder, 'gcc', '-pg', f'-fuse-ld={short}', option.format('order'), '-o', 'after',
                       'one.o', 'two.o')
            if not tap.ok(done.returncode == 0 and not done.stderr, f'{linker} takes the file',
                          done.stderr):
                continue
            after = [n for n in functions(folder, 'after') if n in wanted]
            # crt1.o's code is not in sections of its own.
            movable = [n for n in wanted if not n.startswith('_')]
            tap.ok([n for n in after if n in movable] == movable,
                   f'{linker} places functions in this order',
                   lambda: f'wanted: {" ".join(movable)}\ngot:    {" ".join(after)}')
            tap.ok(run(folder, './after').returncode == 0, f'what {linker} made runs')
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

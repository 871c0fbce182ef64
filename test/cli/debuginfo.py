"""Debug information wherever it lies: split, packaged, compressed, shared, packed. It says what it says in one piece.

    debuginfo.py BUILD

Programs of gcc and clang are built with the same code and their debug information stored in other ways; functions, lines
and inlined functions of all must be those of the plain one.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap, first_difference

LIMIT = 120  # seconds for one command: the machine may be busy

# Functions with and without linkage names, inlined twice, with ranges, in two units.
ONE = r'''
#include <algorithm>
#include <stdio.h>
#include <vector>
#include "shared.h"
namespace {
struct Box { int v; inline __attribute__((always_inline)) int get(int k) const { return v * k + twice(k); } };
template<class T> __attribute__((noinline)) T sum(const std::vector<T> &x)
{
	T s = 0;
	auto add = [&](T y) __attribute__((always_inline)) { s += y; };
	for (T y : x)
		add(y);
	return s;
}
}
__attribute__((noinline)) int work(int n)
{
	std::vector<int> x;
	for (int i = 0; i < n; i++)
		x.push_back(Box{ i }.get(n));
	std::sort(x.begin(), x.end());
	if (__builtin_expect(x.empty(), 0))
		abort();
	return sum(x) + other(n);
}
int main(int argc, char **argv) { (void)argv; return printf("%d\n", work(argc * 100)) < 0; }
'''
TWO = r'''
#include "shared.h"
static int __attribute__((noinline)) own(int x) { return twice(x) * 3; }
int other(int n) { return n > 5 ? own(n) : twice(n); }
'''
SHARED = r'''
#include <stdlib.h>
static inline __attribute__((always_inline)) int thrice(int x) { return 3 * x + rand(); }
static inline __attribute__((always_inline)) int twice(int x) { return 2 * x + thrice(x); }
int other(int n);
'''


class Box:
    def __init__(self, build):
        self.print_lines = os.path.join(os.path.abspath(build), 'test', 'print_lines')
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix='kin-debuginfo-'))
        for name, text in ('one.cc', ONE), ('two.cc', TWO), ('shared.h', SHARED):
            with open(self.at(name), 'w') as f:
                f.write(text)

    def at(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, cwd=None):
        return subprocess.run(words, cwd=cwd or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT)

    def build(self, compiler, name, *flags):
        """PROGRAM of objects of its own, linked without further flags; None: the compiler cannot."""
        os.mkdir(self.at(name))
        objects = []
        for unit in 'one', 'two':
            objects.append(f'{name}/{unit}.o')
            r = self.run(compiler, '-O2', '-g', *flags, '-c', '-o', objects[-1], f'{unit}.cc')
            if r.returncode:
                return None
        program = self.at(f'{name}/prog')
        r = self.run(compiler, '-Wl,--build-id', '-o', program, *objects)
        return program if not r.returncode else None

    def told(self, program):
        """The program's lines with functions, and its inlined functions."""
        return b''.join(self.run(self.print_lines, *how, program).stdout for how in ([], ['--inlines']))

    def done(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def compare(tap, box, name, program, want):
    got = box.told(program)
    tap.ok(got == want and want, name, lambda: first_difference(got, want))


def split(tap, box, compiler, version):
    name = f'{compiler}-split-{version}'
    what = f'{compiler}, DWARF {version}, -gsplit-dwarf'
    program = box.build(compiler, name, '-gsplit-dwarf', f'-gdwarf-{version}')
    if not program:
        tap.skip(what, 'the compiler cannot')
        return
    want = box.told(box.build(compiler, name + '-plain', f'-gdwarf-{version}'))
    compare(tap, box, what, program, want)
    folder = box.at(name)
    for unit in 'one', 'two':  # to where only the program's folder leads
        files = [f for f in os.listdir(box.at('.')) + os.listdir(folder) if f.startswith(unit) and f.endswith('.dwo')]
        assert files, os.listdir(folder)
    r = box.run('dwp' if compiler == 'g++' else 'llvm-dwp', '-e', program, '-o', box.at('x.dwp'))
    if r.returncode or not os.path.exists(box.at('x.dwp')):
        tap.skip(what + ', dwp', 'dwp fails: ' + r.stderr.decode().strip()[:200])
    else:
        for unit in 'one', 'two':
            os.rename(box.at(f'{name}/{unit}.dwo'), box.at(f'{name}/{unit}.gone'))
        os.rename(box.at('x.dwp'), program + '.dwp')
        compare(tap, box, what + ', dwp', program, want)
        os.unlink(program + '.dwp')
        got = box.told(program)
        tap.ok(got and b'one.cc:' in got, what + ', without the files there are lines',
               lambda: first_difference(got, want))
        for unit in 'one', 'two':
            os.rename(box.at(f'{name}/{unit}.gone'), box.at(f'{name}/{unit}.dwo'))
    moved = box.at(name + '-moved')
    os.rename(folder, moved)
    compare(tap, box, what + ', moved: files beside the program', os.path.join(moved, 'prog'), want)
    other = box.build(compiler, name + '-other', '-gsplit-dwarf', f'-gdwarf-{version}', '-DOTHER', '-O1')
    for unit in 'one', 'two':
        shutil.copy(box.at(f'{name}-other/{unit}.dwo'), os.path.join(moved, f'{unit}.dwo'))
    got = box.told(os.path.join(moved, 'prog'))
    tap.ok(other and got and got != want and b'one.cc:' in got, what + ", another build's files are not taken",
           lambda: first_difference(got, want))


def compressed(tap, box, compiler, plain, want):
    for how in 'zlib', 'zlib-gnu', 'zlib-gabi', 'zstd':
        program = box.at(f'{compiler}-{how}')
        r = box.run('objcopy', f'--compress-debug-sections={how}', plain, program)
        if r.returncode:
            tap.skip(f'{compiler}, {how}', r.stderr.decode().strip()[:200])
        else:
            compare(tap, box, f'{compiler}, debug sections compressed by {how}', program, want)


def shared(tap, box, compiler, plain, want):
    if not shutil.which('dwz'):
        tap.skip(f'{compiler}, dwz', 'no dwz')
        return
    one, two, common = (box.at(f'{compiler}-dwz-{x}') for x in ('one', 'two', 'common'))
    shutil.copy(plain, one)
    shutil.copy(plain, two)
    r = box.run('dwz', '-m', common, '-M', common, one, two)
    if r.returncode or not os.path.exists(common):
        tap.skip(f'{compiler}, dwz -m', 'dwz fails: ' + (r.stderr + r.stdout).decode().strip()[:200])
        return
    compare(tap, box, f'{compiler}, .gnu_debugaltlink', one, want)
    os.rename(common, common + '.gone')
    got = box.told(one)
    tap.ok(b'one.cc:' in got, f'{compiler}, without the shared file there are lines', got.decode()[:2000])


def packed(tap, box, compiler, plain):
    """Fedora's way: the symbols that strip removes, as an ELF file in .gnu_debugdata, packed by xz."""
    if not shutil.which('xz'):
        tap.skip(f'{compiler}, .gnu_debugdata', 'no xz')
        return
    symbols = lambda program: {l.split()[2] for l in box.run(box.print_lines, '--symbols', program).stdout.splitlines()}
    want = symbols(plain)
    program, mini = box.at(f'{compiler}-packed'), box.at(f'{compiler}-mini')
    box.run('objcopy', '-S', '--remove-section=.gnu_debuglink', plain, program)
    box.run('objcopy', '--only-keep-debug', plain, mini + '.debug')
    box.run('objcopy', '-S', '--remove-section=.comment', '--keep-symbols=' + os.devnull, mini + '.debug', mini)
    keep = box.run('nm', plain, '--format=posix', '--defined-only').stdout.split(b'\n')
    with open(box.at('keep'), 'wb') as f:
        f.write(b'\n'.join(l.split()[0] for l in keep if l))
    box.run('objcopy', '--strip-debug', '--remove-section=.comment', '--keep-symbols=' + box.at('keep'), mini + '.debug', mini)
    box.run('xz', '-f', mini)
    before = symbols(program)
    box.run('objcopy', '--add-section', f'.gnu_debugdata={mini}.xz', program)
    got = symbols(program)
    names = {b'_Z4worki', b'main', b'_Z5otheri'}
    tap.ok(names <= want and names <= got and not names <= before, f'{compiler}, .gnu_debugdata: symbols',
           f'{sorted(before)}\n{sorted(got)}')


def main():
    tap, box = Tap(), Box(sys.argv[1])
    try:
        for compiler in 'gcc', 'clang':
            if not shutil.which(compiler):
                tap.skip(compiler, f'no {compiler}')
                continue
            plain = box.build('g++' if compiler == 'gcc' else 'clang++', compiler)
            want = box.told(plain) if plain else b''
            tap.ok(b'one.cc:' in want and b'twice' in want, f'{compiler}: lines and inlined functions', want.decode()[:2000])
            for version in 4, 5:
                split(tap, box, 'g++' if compiler == 'gcc' else 'clang++', version)
            compressed(tap, box, compiler, plain, want)
            if compiler == 'clang':  # dwz refuses clang's DWARF 5
                plain = box.build('clang++', 'clang-4', '-gdwarf-4')
                want = box.told(plain)
            shared(tap, box, compiler, plain, want)
            packed(tap, box, compiler, plain)
    finally:
        box.done()
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

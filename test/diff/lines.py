"""Source lines against binutils: print_lines --gnu against addr2line -f and gprof -l.

    lines.py PRINT_LINES [--debian DIR] [--every N] [--keep DIR] [PROGRAM...]

Programs of ./programs compiled here in all versions of DWARF by all installed compilers; with
--debian also bzip2, Lua and zstd, whose sources are fetched into DIR; or only the PROGRAMs given.

addr2line looks up every N-th byte of .text (1 by default), twice, because for some functions of C++
its first answer differs from all later ones (see lines_unit.c).
gprof -l -C -z lists all its places; those that are no symbols of the file are its line places.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import gmonlib
from sources import sources
from tap import Tap

PROGRAMS = {
    'statics': ['statics_main.c', 'statics_first.c', 'statics_second.c'],
    'interpreter': ['interpreter.c'],
    'objects': ['objects.cc'],
    'inlines': ['inlines.cc*24'],
    'heat': ['heat.f90'],
    'odd': ['odd.c', 'odd_x86.S'],
}
COMPILERS = {'.c': ['gcc', 'clang'], '.cc': ['g++', 'clang++'], '.f90': ['gfortran']}
VERSIONS = ['-gdwarf-2', '-gdwarf-3', '-gdwarf-4', '-gdwarf-5']
OTHERS = ['-g -O2 -flto', '-g -O2 -ffunction-sections -Wl,--gc-sections', '-g1 -O2', '-g -O2 -gz',
          '-g -O2 -gsplit-dwarf', '-g -O2 -fdebug-types-section', '-g -O2 -fuse-ld=lld',
          '-g -O2 -fuse-ld=gold', '-g -O2 -fuse-ld=mold', '-g -O2 -static', '-O2']
DEBIAN = {
    'bzip2': '{cc} -w -o {out} blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c'
             ' bzlib.c bzip2.c',
    'lua5.4': 'cd src && echo "#define DEB_HOST_MULTIARCH \\"none\\"" >lua5.4-deb-multiarch.h &&'
              ' {cc} -w -DLUA_USE_POSIX -o {out} $(ls *.c | grep -v luac.c) -lm',
    'libzstd': 'cd lib && {cc} -w -DZSTD_DISABLE_ASM -I. -Icommon -o {out} common/*.c compress/*.c'
               ' decompress/*.c dictBuilder/*.c ../programs/*.c -lpthread',
}


def run(args, text='', cwd=None):
    return subprocess.run(args, input=text, capture_output=True, text=True, errors='surrogateescape',
                          cwd=cwd)


def text_range(program):
    """Address and size of .text."""
    for line in run(['readelf', '-SW', program]).stdout.splitlines():
        m = re.match(r'\s*\[\s*\d+\] \.text\s+PROGBITS\s+(\S+)\s+\S+\s+(\S+)', line)
        if m:
            return int(m[1], 16), int(m[2], 16)
    return 0, 0


def addr2line(program, addresses):
    """FUNCTION FILE:LINE of each, '?? ??:0' where no line is known."""
    asked = ''.join(f'{a:x}\n' for a in addresses)
    lines = run(['addr2line', '-f', '-e', program], asked * 2).stdout.splitlines()
    answers = []
    for i in range(len(lines) // 2, len(lines), 2):
        place = re.sub(r' \(discriminator \d+\)$', '', lines[i + 1])
        known = not re.search(r':(0|\?)$', place)
        answers.append(f'{lines[i]} {place}' if known else '?? ??:0')
    return answers


def places(program, folder):
    """gprof's places: address -> (function, file, line); or why there are none."""
    low, size = text_range(program)
    gmon = gmonlib.save(os.path.join(folder, 'gmon.out'),
                        gmonlib.gmon([gmonlib.Hist(low, low + size, [0] * 16)]))
    seen = run(['gprof', '-l', '-C', '-z', '-b', program, gmon])
    if seen.returncode:
        return seen.stderr.strip()
    found = {}
    for line in seen.stdout.splitlines():
        m = re.match(r'(.*):(\d+): \((.*):0x([0-9a-f]+)\) \d+ executions$', line)
        if m:
            found[int(m[4], 16)] = (m[3], m[1], m[2])
    return found


def first_differences(pairs, limit=5):
    return '\n'.join(f'{a:x}: binutils {x}, here {y}' for a, x, y in pairs[:limit])


def compare_bytes(tap, name, print_lines, program, every):
    low, size = text_range(program)
    addresses = range(low, low + size, every)
    want = addr2line(program, addresses)
    asked = ''.join(f'{a:x}\n' for a in addresses)
    got = run([print_lines, '--gnu', '--locate', program], asked * 2)
    got = got.stdout.splitlines()[len(addresses):]
    bad = [(a, x, y) for a, x, y in zip(addresses, want, got) if x != y]
    tap.ok(size and len(want) == len(got) == len(addresses) and not bad,
           f'{name}: {len(addresses)} addresses as addr2line',
           f'{len(bad)} differ of {len(want)} and {len(got)}\n' + first_differences(bad))


def compare_places(tap, name, print_lines, program, folder):
    want = places(program, folder)
    if isinstance(want, str):
        tap.skip(f'{name}: places as gprof -l', want)
        return
    got = {}
    for line in run([print_lines, '--gnu', program]).stdout.splitlines():
        low, _, function, rest = line.split(' ', 3)
        got[int(low, 16)] = (function, *rest.rsplit(':', 1))
    symbols = {int(line.split()[0], 16) for line in run(['nm', program]).stdout.splitlines()
               if line[:1] != ' '}
    bad = [(a, want.get(a), got.get(a)) for a in sorted((want.keys() | got.keys()) - symbols)
           if want.get(a) != got.get(a)]
    tap.ok(want and not bad, f'{name}: {len(got)} places as gprof -l',
           f'{len(bad)} differ\n' + first_differences(bad))


def compare(tap, name, args, program, folder):
    compare_bytes(tap, name, args.print_lines, program, args.every)
    compare_places(tap, name, args.print_lines, program, folder)


def build_all(folder):
    """(name, path) of every program, right after it was built."""
    for program, names in PROGRAMS.items():
        files = sources(names, os.path.join(HERE, 'programs'), folder)
        for compiler in COMPILERS[os.path.splitext(files[0])[1]]:
            if not shutil.which(compiler):
                continue
            variants = [f'{v} {o}' for v in VERSIONS for o in ('-O0', '-O2')]
            for options in variants + OTHERS:
                out = os.path.join(folder, f'{program}-{compiler}{options}'.replace(' ', ''))
                made = run([compiler, *options.split(), '-w', '-o', out, *files, '-lm', '-lpthread'],
                           cwd=folder)  # compilers leave .dwo and .mod files where they are
                if made.returncode == 0:
                    yield f'{program} {compiler} {options}', out
                else:
                    print(f'# no {program} with {compiler} {options}')


def build_debian(tap, folder, fetch_to):
    for package, command in DEBIAN.items():
        fetched = run(['sh', os.path.join(HERE, 'debsrc.sh'), fetch_to, package])
        if fetched.returncode:
            tap.skip(f'{package} from Debian', 'no sources')
            continue
        for cc in ('gcc -g -O2', 'gcc -gdwarf-4 -O2 -flto', 'clang -g -O2', 'gcc -g -O0'):
            out = os.path.join(folder, f'{package}-{cc}'.replace(' ', ''))
            made = subprocess.run(command.format(cc=cc, out=out), shell=True, capture_output=True,
                                  cwd=fetched.stdout.strip())
            if made.returncode == 0:
                yield f'{package} {cc}', out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('print_lines')
    parser.add_argument('programs', nargs='*')
    parser.add_argument('--debian', metavar='DIR')
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--keep', metavar='DIR')
    args = parser.parse_args()
    args.print_lines = os.path.abspath(args.print_lines)
    tap = Tap()
    folder = os.path.abspath(args.keep or tempfile.mkdtemp(prefix='kin-lines-'))
    os.makedirs(folder, exist_ok=True)
    try:
        for path in args.programs:
            compare(tap, os.path.basename(path), args, path, folder)
        if not args.programs:
            for name, path in build_all(folder):
                compare(tap, name, args, path, folder)
        if args.debian:
            for name, path in build_debian(tap, folder, args.debian):
                compare(tap, name, args, path, folder)
    finally:
        if not args.keep:
            shutil.rmtree(folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

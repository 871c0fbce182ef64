"""Programs of ./programs as other compilers, linkers and machines build them: for run.py.

A build is a line for the shell, run in a folder that holds all of ./programs, that leaves ./prog. The
tools that it needs come first: a build whose compiler or linker is not installed is skipped, with a message.
"""
import shutil
from dataclasses import dataclass


@dataclass
class Build:
    needs: str                  # commands, by blanks
    make: str
    run: str = './prog'
    lines: bool = True          # with -l: GNU needs minutes for a whole C library
    quick: bool = False         # part of the quick run, too
    multiarch: bool = False     # of another machine: needs GNU gprof of binutils-multiarch

    def missing(self):
        """The command that is not there, or ''."""
        return next((f'no {c}' for c in self.needs.split() if not shutil.which(c)), '')


LANGUAGES = {
    'fortran': Build('gfortran', 'gfortran -g -O1 -pg -o prog terrain.f90', quick=True),
    'fortran-O3': Build('gfortran', 'gfortran -g -O3 -flto -pg -o prog terrain.f90'),
    'ada': Build('gnatmake', 'gnatmake -q -g -O1 -pg -o prog letters.adb -largs -pg', quick=True),
    'ada-O2': Build('gnatmake', 'gnatmake -q -gdwarf-4 -O2 -gnatn -pg -o prog letters.adb -largs -pg'),
    'pascal': Build('fpc', 'fpc -v0 -gw -pg -o./prog letters.pas', lines=False, quick=True),
    'd': Build('gdc', 'gdc -g -O1 -pg -o prog letters.d', quick=True),
    'd-O2': Build('gdc', 'gdc -g -O2 -frelease -pg -o prog letters.d'),
    'go': Build('gccgo', 'gccgo -g -O1 -pg -o prog letters.go', quick=True),
    'go-static': Build('gccgo', 'gccgo -O2 -pg -static-libgo -o prog letters.go', lines=False),
    'objc': Build('gcc', 'gcc -std=gnu11 -g -O1 -pg -o prog letters.m -lobjc || exit 77', quick=True),
    # gm2 looks for its own modules in LIBRARY_PATH.
    'modula-2': Build('gm2', 'env -u LIBRARY_PATH gm2 -fiso -g -O1 -pg -o prog letters.mod', quick=True),
    'cobol': Build('cobc', 'cobc -x -free -g -A -pg -Q -pg -o prog letters.cob', quick=True),
    'lambdas': Build('clang++', 'clang++ -g -O0 -pg -o prog lambdas.cc', quick=True),
}

# The odd symbols, and what linkers and strippers do to symbols.
ODD = 'gcc -g -pg {} -o prog odd.c odd_x86.S'
LINKERS = {'bfd': 'ld.bfd', 'gold': 'ld.gold', 'lld': 'ld.lld', 'mold': 'mold'}
SYMBOLS = {
    'odd': Build('gcc', ODD.format('-no-pie'), quick=True),
    'odd-pie': Build('gcc', ODD.format('-pie')),
    'odd-static': Build('gcc', ODD.format('-static'), lines=False),
    # No functions in DWARF, only labels: all names come from the symbol table.
    'odd-clang': Build('clang', 'clang -g -pg -no-pie -o prog odd.c odd_x86.S', quick=True),
    # The histogram reaches from the C library's first code to .text; GNU takes 10 seconds each time.
    'odd-Ttext': Build('gcc', ODD.format('-no-pie -Wl,-Ttext=0x1000000')),
    'odd-prelinked': Build('gcc', ODD.format('-no-pie -Wl,-Ttext-segment=0x7000000')),
    'odd-noseparate': Build('gcc', ODD.format('-Wl,-z,noseparate-code')),
    'odd-maxpage': Build('gcc', ODD.format('-no-pie -Wl,-z,max-page-size=0x200000')),
    'odd-gc': Build('gcc', ODD.format('-ffunction-sections -Wl,--gc-sections -Wl,--as-needed')),
    'odd-stripdebug': Build('gcc', ODD.format('') + ' && strip -g prog'),
    'odd-stripunneeded': Build('gcc', ODD.format('') + ' && strip --strip-unneeded prog'),
    'odd-discard': Build('gcc', ODD.format('-Wl,--discard-all')),
    'odd-stripped': Build('gcc', ODD.format('') + ' && strip prog'),
    'odd-debuglink': Build('gcc', ODD.format('') + ' && objcopy --only-keep-debug prog prog.debug && strip prog &&'
                           ' objcopy --add-gnu-debuglink=prog.debug prog'),
    'odd-debuglines': Build('gcc', ODD.format('') + ' && objcopy --only-keep-debug prog prog.debug && strip -g prog &&'
                            ' objcopy --add-gnu-debuglink=prog.debug prog'),
    'odd-keepdebug': Build('gcc', ODD.format('') + ' && cp prog whole && objcopy --only-keep-debug whole prog',
                           run='./whole'),
    'odd-prefix': Build('gcc', ODD.format('') + ' && objcopy --prefix-symbols=_ prog'),
    'odd-localized': Build('gcc', ODD.format('') + ' && objcopy -w --localize-symbol="[a-o]*" prog'),
    'odd-weakened': Build('gcc', ODD.format('') + ' && objcopy --weaken prog'),
    'odd-compressed': Build('gcc', ODD.format('-gz') + ' && objcopy --compress-debug-sections=zlib-gnu prog'),
    'odd-renamed': Build('gcc', ODD.format('-no-pie') + ' && cp prog whole &&'
                         ' objcopy --rename-section .text.other=.text whole prog', run='./whole'),
    'odd-exports': Build('gcc', ODD.format('-rdynamic')),
    **{f'odd-{name}': Build(f'gcc {command}', ODD.format(f'-fuse-ld={name}'))
       for name, command in LINKERS.items()},
    'odd-lld-icf': Build('gcc ld.lld', ODD.format('-fuse-ld=lld -ffunction-sections -Wl,--icf=all')),
    'odd-gold-icf': Build('gcc ld.gold', ODD.format('-fuse-ld=gold -ffunction-sections -Wl,--icf=all')),
}

# Few programs, many flags: all that change symbols, code or lines. With mold nearly all symbols of a program
# are local unless it exports them, and with -a GNU gprof then reads behind its table of one symbol.
C = '{} -w -pg {} -o prog interpreter.c'
STATICS = '{} -w -pg {} -o prog statics_main.c statics_first.c statics_second.c'
CC = '{} -w -pg {} -o prog objects.cc'
FLAGS = {
    'O3': '-g -O3', 'O3-lto': '-g -O3 -flto', 'Os-dwarf3': '-Os -gdwarf-3', 'noplt': '-g -O2 -fno-plt',
    'sections': '-g -O2 -ffunction-sections', 'partition': '-g -O2 -freorder-blocks-and-partition',
    'ipa': '-g -O2 -fipa-pta -fipa-icf -fipa-cp-clone -fpartial-inlining', 'g1': '-g1 -O2', 'g3': '-g3 -O1',
    'nocolumn': '-g -O2 -gno-column-info -gno-as-loc-support', 'split': '-gsplit-dwarf -O2',
    'split4': '-gdwarf-4 -gsplit-dwarf -O1', 'gz': '-g -gz=zlib -O1', 'dwarf64': '-gdwarf64 -O2',
    'types': '-gdwarf-4 -fdebug-types-section -O1', 'align': '-g -O2 -falign-functions=64',
    'fentry': '-g -O2 -mfentry', 'nofp': '-g -O1 -fno-optimize-sibling-calls', 'Og': '-ggdb3 -Og',
    'large': '-g -O1 -mcmodel=large', 'cet': '-g -O2 -fcf-protection=full', 'prefixmap': '-g -O1 -ffile-prefix-map=$PWD=/x',
    'absolute': '-g -O1 -no-pie -gno-variable-location-views',
}
CLANG = {
    'O0': '-g -O0', 'O2': '-g -O2', 'O3-lto': '-g -O3 -flto -fuse-ld=lld', 'thin': '-g -O2 -flto=thin -fuse-ld=lld',
    'dwarf2': '-gdwarf-2 -O1', 'dwarf3': '-gdwarf-3 -O1', 'dwarf4': '-gdwarf-4 -O2', 'split': '-g -gsplit-dwarf -O2',
    'gz': '-g -gz -O1', 'tables': '-gline-tables-only -O2', 'mold': '-g -O2 -fuse-ld=mold -rdynamic', 'lld': '-g -O1 -fuse-ld=lld',
    'sections': '-g -O2 -ffunction-sections -fbasic-block-sections=all', 'lld-pages': '-g -O1 -fuse-ld=lld -Wl,-z,separate-loadable-segments',
    'pseudo': '-g -O2 -fpseudo-probe-for-profiling', 'directives': '-gline-directives-only -O1',
    'simple': '-g -O2 -gsimple-template-names -fno-pic -no-pie', 'dwarf64': '-gdwarf64 -O1',
}
COMPILED = {
    **{f'{kind}-gcc-{n}': Build(tool, line.format(tool, f))
       for n, f in FLAGS.items() for kind, tool, line in [('c', 'gcc', C), ('c++', 'g++', CC)]},
    **{f'{kind}-clang-{n}': Build(tool + (' ld.lld' if 'lld' in f else ' mold' if 'mold' in f else ''), line.format(tool, f))
       for n, f in CLANG.items() for kind, tool, line in [('c', 'clang', C), ('c++', 'clang++', CC)]},
    'statics-lto': Build('gcc', STATICS.format('gcc', '-g -O2 -flto')),
    'statics-relocatable': Build('gcc', 'gcc -w -g -O1 -pg -r -o all.o statics_main.c statics_first.c statics_second.c'
                                 ' && gcc -pg -o prog all.o'),
    'c-static-pie': Build('gcc', C.format('gcc', '-g -O2 -static-pie'), lines=False),
    'c++-static': Build('g++', CC.format('g++', '-g -O2 -static'), lines=False),
    'c-m32': Build('gcc', 'gcc -m32 -w -g -O1 -pg -o prog interpreter.c || exit 77'),
    'c-m32-static': Build('gcc', 'gcc -m32 -w -g -O2 -static -pg -o prog interpreter.c || exit 77', lines=False),
    'statics-m32': Build('gcc', STATICS.format('gcc -m32', '-g -O0 -no-pie') + ' || exit 77'),
    'c-mx32': Build('gcc', 'gcc -mx32 -w -g -O1 -pg -o prog interpreter.c || exit 77'),
}

MACHINES = {'aarch64-linux-gnu': 'aarch64', 's390x-linux-gnu': 's390x', 'powerpc64-linux-gnu': 'ppc64',
            'riscv64-linux-gnu': 'riscv64', 'arm-linux-gnueabihf': 'arm', 'mips-linux-gnu': 'mips'}
CROSS = {
    f'{machine}-{n}': Build(f'{triple}-gcc qemu-{machine}-static',
                            f'{triple}-gcc -w -g {flags} -pg -static -o prog {files}',
                            run=f'qemu-{machine}-static ./prog', lines=False, multiarch=True)
    for triple, machine in MACHINES.items()
    for n, flags, files in [('O0', '-O0', 'statics_main.c statics_first.c statics_second.c'), ('O2', '-O2', 'interpreter.c')]
}

BUILDS = {**LANGUAGES, **SYMBOLS, **COMPILED, **CROSS}

"""What is installed is enough for a program in C or C++ that uses the library and the runtime.

    installed.py BUILD
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

USER = os.path.join(HERE, 'user.c')
CASE = os.path.join(HERE, '..', 'cases', '01-basic')
COMPILERS = [('C', ['cc', '-std=c11']), ('C++', ['c++', '-std=c++11', '-x', 'c++'])]
EXAMPLES = os.path.join(HERE, '..', '..', 'doc', 'examples')
EXAMPLE_COMPILERS = [('hottest.c', ['cc', '-std=gnu11']), ('hottest.cpp', ['c++', '-std=c++11']),
                     ('own_format.c', ['cc', '-std=gnu11'])]
STACKS = 'prog;main;a;b 60\nprog;main;a 30\nprog;main;a;b;a 10\n'
EXAMPLES_SAY = {'hottest.c': ' 60.0 %  b\n 40.0 %  a\n  0.0 %  main\n',
                'hottest.cpp': '100.0 %  a\n100.0 %  main\n 70.0 %  b\n',
                'own_format.c': '?:0 a 40 samples\n?:0 b 60 samples\n'}
WANT = 'a 40\nb 20\nleaf 100\nname,calls\na,40\nb,20\nleaf,100\n'


def run(*args, **kw):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, **kw)


def find(folder, name):
    return next((os.path.join(base, name) for base, _, names in os.walk(folder) if name in names), None)


def examples(tap, folder, flags, libraries):
    """The examples of the documentation are built and print what they should."""
    data, program = os.path.join(folder, 'app.folded'), os.path.join(folder, 'example')
    open(data, 'w').write(STACKS)
    for name, compiler in EXAMPLE_COMPILERS:
        source = os.path.join(EXAMPLES, name)
        done = run(*compiler, '-Wall', '-Wextra', '-Werror', '-o', program, source, *flags, f'-Wl,-rpath,{libraries}')
        if tap.ok(done.returncode == 0, f'doc/examples/{name} is built', done.stderr):
            done = run(program, data)
            tap.ok(done.stdout == EXAMPLES_SAY[name] and done.returncode == 0, f'doc/examples/{name} says what it should',
                   done.stdout + done.stderr)
        lines = len(open(source).readlines())
        tap.ok(lines <= 45, f'doc/examples/{name} fits on a page', f'{lines} lines')


def main():
    tap = Tap()
    if not shutil.which('pkg-config'):
        tap.skip('a user of what is installed', 'pkg-config is not installed')
        return tap.done()
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, 'root')
        done = run('meson', 'install', '-C', os.path.abspath(sys.argv[1]), '--no-rebuild', '--destdir', root)
        pc = find(root, 'kin.pc')
        if not tap.ok(done.returncode == 0 and pc, 'meson install', done.stdout + done.stderr):
            return tap.done()
        where = {**os.environ, 'PKG_CONFIG_SYSROOT_DIR': root, 'PKG_CONFIG_PATH': os.path.dirname(pc)}
        flags = run('pkg-config', '--cflags', '--libs', 'kinrt', 'kin', env=where).stdout.split()
        libraries = os.path.dirname(find(root, 'libkin.so'))
        for language, compiler in COMPILERS:
            program = os.path.join(folder, 'user')
            done = run(*compiler, '-Wall', '-Wextra', '-Werror', '-o', program, USER, '-x', 'none', *flags,
                       f'-Wl,-rpath,{libraries}')
            if tap.ok(done.returncode == 0, f'a program in {language} is built', done.stderr):
                done = run(program, os.path.join(CASE, 'prog'), os.path.join(CASE, 'gmon.out'), cwd=folder)
                tap.ok(done.stdout == WANT and done.returncode == 0, f'a program in {language} reads a profile',
                       done.stdout + done.stderr)
        examples(tap, folder, flags, libraries)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""Functions are found by the same names in every command: whole or without scopes, parameters and template arguments, by
any alias; inlined functions like others. The program has templates, lambdas, inlined functions and aliases, each of which
runs until it has used its share of CPU time; then all spellings of one function give the same result as its whole name.
Each spelling is tried in some commands, and each function in all; with KIN_FULL=1 each spelling in all commands.

    naming.py BUILD
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from tap import Tap

FULL = os.environ.get('KIN_FULL') == '1'
PROGRAM = '''
#include <time.h>
volatile unsigned long x;
static __attribute__((noinline)) double now()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
/* In this order: what is inlined is not all of the function around it. */
#define SPIN for (int i = 0; i < 100000; i++) x = x * 3 + 1;
static inline __attribute__((always_inline)) void turn() { for (int i = 0; i < 100000; i++) x = x * 5 + 1; }

namespace n {
template<typename T> struct Box {
	/* Has no code of its own: all of it is another that was inlined in turn. */
	inline __attribute__((always_inline)) void pass(T) { turn(); }
	__attribute__((noinline)) void work(T k) { SPIN pass(k); x = x + 1; }
	template<typename U> __attribute__((noinline)) U other(U k) { SPIN x = x + 1; return k; }
};
__attribute__((noinline)) void plain(int) { SPIN x = x + 1; }
__attribute__((noinline)) void (*choose(int))(int) { SPIN x = x + 1; return plain; }
}
namespace { __attribute__((noinline)) void hidden(int k) { SPIN x = x + k; } }

extern "C" {
__attribute__((noinline)) void first_name(int k) { SPIN x = x + k; }
void second_name(int k) __attribute__((alias("first_name")));
void _third_name(int k) __attribute__((alias("first_name")));
}
__attribute__((noinline)) void run(int k)
{
	auto a = [](int n) __attribute__((noinline)) { SPIN x = x + n; };
	auto b = [](long n) __attribute__((noinline)) { SPIN x = x + n; };
	SPIN
	a(k);
	b(k);
	x = x + 1;
}
/* Linked, and never called. */
extern "C" __attribute__((noinline)) void idle(int k) { x = x + k; }

int main(int argc, char **)
{
	n::Box<int> box;
	n::Box<char> small;
	double end = now() + 0.5;
	do {
		box.work(1);
		small.work(2);
		box.other<long>(1);
		box.other<short>(1);
		n::plain(1);
		n::choose(1);
		hidden(argc);
		second_name(argc);
		run(argc);
	} while (now() < end);
	if (argc == 77)
		idle(argc);
	return 0;
}
'''

# The first spelling of each is the whole name, as kin shows it. A name that several functions have stands for all of them.
SPELLINGS = [
    ['n::Box<int>::work(int)', 'n::Box<int>::work', 'Box<int>::work', 'Box<int>::work(int)', '_ZN1n3BoxIiE4workEi'],
    ['n::Box<char>::work(char)', 'n::Box<char>::work', 'Box<char>::work', 'work(char)', 'n::Box::work(char)'],
    ['n::Box::work', 'Box::work', 'work'],
    ['long n::Box<int>::other<long>(long)', 'n::Box<int>::other<long>(long)', 'n::Box<int>::other<long>', 'other<long>',
     'Box::other<long>', 'n::Box::other<long>(long)'],
    ['n::Box<int>::other', 'n::Box::other', 'other'],
    ['n::plain(int)', 'n::plain', 'plain', 'plain(int)', '_ZN1n5plainEi'],
    ['n::choose(int)', 'n::choose', 'choose'],
    ['(anonymous namespace)::hidden(int)', '(anonymous namespace)::hidden', 'hidden', 'hidden(int)'],
    ['first_name', 'second_name', '_third_name'],
    ['run(int)', 'run', '_Z3runi'],
    ['run(int)::{lambda(int)#1}::operator()(int) const', 'run(int)::{lambda(int)#1}::operator()(int)',
     'run(int)::{lambda(int)#1}::operator()', '{lambda(int)#1}::operator()', 'run(int)::{lambda#1}'],
    ['operator()(long)', 'operator()(long) const'],
    ['operator()'],
    ['turn', 'turn()'],
    ['n::Box<int>::pass(int)', 'n::Box<int>::pass', 'Box<int>::pass(int)', 'pass(int)', 'n::Box::pass(int)'],
    ['n::Box::pass', 'Box::pass', 'pass'],
    ['idle'],
]
WRONG = ['m::work', 'n::Box<long>::work', 'ork', 'Box', 'plain(long)', 'third_name']

INLINED = ('turn', 'n::Box<int>::pass(int)', 'n::Box::pass')
# Commands that have rows of these functions; the other commands find the functions, too, but have no rows of them.
COMMANDS = ['report', 'graph', 'lines', 'annotate', 'annotate --asm', 'imbalance --all']
ROWLESS = ['cycles', 'counts', 'latency']
FOLDING = ['report --no-inline', 'graph --no-inline', 'lines --no-inline', 'annotate --no-inline', 'cycles --no-inline',
           'imbalance --all --no-inline']
FILTERS = ['report --sort=sym -g none --symbols=', 'script --folded -S', 'script --folded --stop-bt=']


class Kin:
    def __init__(self, build, folder):
        self.kin, self.folder = os.path.join(build, 'kin'), folder

    def run(self, *args, **more):
        env = dict(os.environ, HOME=self.folder, LC_ALL='C', **more)
        return subprocess.run([self.kin, *args], capture_output=True, text=True, env=env, cwd=self.folder, check=False)


def record(kin):
    """A job of two ranks, and a program whose calls were timed. None: nothing can be recorded here."""
    with open(os.path.join(kin.folder, 't.cpp'), 'w', encoding='ascii') as f:
        f.write(PROGRAM)
    # Clones of functions have names of their own.
    flags = ['-O2', '-g', '-fno-ipa-sra', '-fno-ipa-cp', '-fno-ipa-icf', '-fno-ipa-cp-clone', 't.cpp']
    subprocess.run(['g++', *flags, '-o', 't'], cwd=kin.folder, check=True)
    for rank in ('0', '1'):
        kin.run('record', '-q', '-o', 't.kin', './t', OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE='2')
    names = ['t.0.kin', 't.1.kin']
    return names if all(os.path.exists(os.path.join(kin.folder, name)) for name in names) else None


def arguments(command, name, data):
    words = command.split(' ')
    data = data if words[0] == 'imbalance' else data[:1]
    if words[-1].endswith('=') or words[-1] == '-S':
        return words[:-1] + [words[-1] + name] + data
    return words + data + ['--', name]


def shown(kin, command, name, data):
    """Without the name itself, which notes repeat."""
    """Without the note that it is shown by another name."""
    got = kin.run(*arguments(command, name, data))
    out = re.sub(f'^  {re.escape(name)} is shown as .*: it is another name of .*\n', '', got.stdout, flags=re.M)
    return got.returncode, out.replace(f"'{name}'", 'NAME'), got.stderr


def tried(spellings, command):
    """For each function its whole name and one other spelling, which differs between commands."""
    if FULL:
        return spellings
    turn = zlib.crc32(command.encode())
    return [names[:1] + [names[1 + turn % (len(names) - 1)]] if len(names) > 1 else names for names in spellings]


def check_command(tap, kin, command, data, spellings):
    wrong = []
    for names in tried(spellings, command):
        want = shown(kin, command, names[0], data)
        if want[0] or want[2] or (command not in FILTERS and not want[1]):
            wrong.append(f'{names[0]}: status {want[0]}: {want[2]}')
        for name in names[1:]:
            got = shown(kin, command, name, data)
            if got != want:
                wrong.append(f'{name}: status {got[0]}:\n{got[1]}{got[2]}not as {names[0]}:\n{want[1]}')
    tap.ok(not wrong, f'{command}: spellings of one function are one', '\n'.join(wrong[:3]))


def check_unknown(tap, kin, command, data):
    wrong = []
    for name in WRONG:
        status, out, err = shown(kin, command, name, data)
        if status != 2 or out or not re.match(rf"kin \w+: no function( or source file)? '{re.escape(name)}' ", err):
            wrong.append(f'{name}: status {status}: {out}{err}')
    tap.ok(not wrong, f'{command}: what is no name is an error', '\n'.join(wrong[:3]))


def check_rows(tap, kin, data):
    """The whole name gives rows of the function, whether it ran itself or was inlined."""
    for command in ('report --full-names', 'graph --full-names', 'annotate --asm', 'imbalance --all --full-names',
                    'report --full-names --sort=sym -g none --symbols='):
        missing = [names[0] for names in SPELLINGS if names != ['idle'] and not
                   ('--symbols=' in command and names[0] in INLINED[1:]) and
                   re.sub('<.*?>', '', names[0].split('::')[-1].split('(')[0]) not in shown(kin, command, names[0], data)[1]]
        tap.ok(not missing, f'{command}: shows them', str(missing))
    for command in COMMANDS + ROWLESS:
        nothing = kin.run(*arguments(command, 'idle', data))
        ok = not nothing.returncode and (command in ('lines', 'annotate', 'annotate --asm') or 'no-inline' in command or
                                         'Nothing to show' in nothing.stdout or 'no ' in nothing.stdout)
        tap.ok(ok, f'{command}: a function that never ran is no error', nothing.stdout + nothing.stderr)


def check_gate(tap, kin, data):
    """Functions of a gate; a glob that is no name is a glob."""
    for names in SPELLINGS[:2] + [['n::plain(int)', 'plain', 'n::plain']]:
        got = {name: kin.run('check', data[0], data[1], '--time=1000%', f'--functions={name}').stdout for name in names
               if not name.startswith('_Z')}
        tap.ok(len(set(got.values())) == 1, f'check --functions: {names[0]}', str(got))


def check_files(tap, kin, folder):
    """A source file by each of its paths, compiled in another folder, as ninja and CMake do."""
    work, build, source = (os.path.join(folder, name) for name in ('work', 'work/build', 'work/src/spin.c'))
    for path in (build, os.path.dirname(source)):
        os.makedirs(path)
    with open(source, 'w', encoding='ascii') as f:
        f.write('volatile unsigned long x; int main() { for (int i = 0; i < 100000000; i++) x += i; }')
    subprocess.run(['gcc', '-g', '-O1', '-o', 'spin', '../src/spin.c'], cwd=build, check=True)
    subprocess.run([kin, 'record', '-q', '-o', 'spin.kin', '--', './spin'], cwd=build, check=True)
    data = os.path.join(build, 'spin.kin')

    def annotated(where, name):
        done = subprocess.run([kin, 'annotate', data, name], cwd=where, text=True, capture_output=True, check=False)
        return done.returncode, done.stdout

    first = annotated(build, 'spin.c')
    tap.ok(first[0] == 0 and 'int main()' in first[1], 'a source file by its name', first)
    for where, name in ((build, '../src/spin.c'), (build, source), (build, f'{build}/../src/spin.c'), (build, 'src/spin.c'),
                        (work, './src/spin.c'), (work, 'src/spin.c'), (work, 'build/../src/spin.c'), (work, './spin.c'),
                        (os.path.dirname(source), '../src/spin.c')):
        tap.ok(annotated(where, name) == first, f'the same as {name.replace(folder, "")} in {os.path.basename(where)}',
               annotated(where, name))
    for name in ('../spin.c', '../../src/spin.c', './other/spin.c', 'pin.c'):
        tap.ok(annotated(build, name)[0] == 2, f'{name} in build is no file of the program', annotated(build, name))


def check(tap, build, folder):
    kin = Kin(build, folder)
    data = record(kin)
    if not data:
        tap.skip('names of functions', 'nothing can be recorded here')
        return
    for command in COMMANDS:
        check_command(tap, kin, command, data, SPELLINGS)
        check_unknown(tap, kin, command, data)
    for command in ROWLESS:
        check_command(tap, kin, command, data, [names[:1] + names[-1:] for names in SPELLINGS])
        check_unknown(tap, kin, command, data)
    for command in FOLDING:
        check_command(tap, kin, command, data, [names for names in SPELLINGS if names[0] in INLINED])
    for command in FILTERS:
        check_command(tap, kin, command, data, SPELLINGS)
    check_rows(tap, kin, data)
    check_gate(tap, kin, data)
    check_files(tap, os.path.join(build, 'kin'), folder)


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    if not shutil.which('g++'):
        tap.skip('names of functions', 'no g++')
        return tap.done()
    with tempfile.TemporaryDirectory() as folder:
        tap.part(check, tap, build, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""Every report prints the faults that a recording notes of itself; with --strict they decide the exit status.

    trust.py BUILD
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from pages import unpack
from tap import Tap

PROGRAM = r'''
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>

static volatile unsigned long sink;
static volatile sig_atomic_t over;

static void end(int unused) { over = unused; }

/* Asks nobody for the time: what has no names is all in here. */
__attribute__((noinline)) void busy(long us)
{
	struct itimerval once = { .it_value = { 0, us } };
	signal(SIGVTALRM, end);
	setitimer(ITIMER_VIRTUAL, &once, 0);
	while (!over)
		sink = sink * 5 + 1;
}

__attribute__((noinline)) void deeper(int n)
{
	if (n)
		deeper(n - 1);
	else
		busy(200000);
	sink++;
}

static void give_up_calls(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { 1, all };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		exit(9);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "filtered"))
		give_up_calls();
	deeper(argc > 1 && !strcmp(argv[1], "deep") ? 4000 : 1);
	return 0;
}
'''
# Most time is in an inlined function, whose name a part of the debug information has alone.
INLINED = r'''
#include <time.h>
static inline __attribute__((always_inline)) unsigned long inner_function_with_a_long_name(unsigned long x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 5 + 1 ^ x >> 3;
	return x;
}
__attribute__((noinline)) static unsigned long outer(unsigned long x) { return inner_function_with_a_long_name(x); }
int main(void)
{
	unsigned long x = 0;
	for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
		x += outer(x);
	return x == OTHER;
}
'''
CUT = 'of the stacks could not be walked to their end'
IN_NOTES = ['flat', 'graph', 'lines', 'report', 'report busy', 'cycles', 'annotate busy', 'flat -f json',
            'graph --by thread', 'html -o -', 'diff deep.kin']
ON_STDERR = ['flat -f csv', 'report --stdio', 'script --folded', 'script', 'report -f csv']


class Box:
    def __init__(self, build, folder):
        self.kin, self.folder = os.path.join(build, 'kin'), folder
        with open(os.path.join(folder, 'prog.c'), 'w') as f:
            f.write(PROGRAM)
        subprocess.run(['gcc', '-O0', '-g', '-o', 'prog', 'prog.c'], cwd=folder, check=True)

    def run(self, *words):
        env = {'PATH': os.environ['PATH'], 'HOME': self.folder, 'LC_ALL': 'C'}
        done = subprocess.run([self.kin, *words], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def record(self, name, *args):
        return self.run('run', '-q', '-o', name, './prog', *args)


def describe(result):
    return f'status {result[0]}\n{result[1][:1500]}\n{result[2]}'


def weight_of_cut(box, path):
    lines = box.run('script', '--folded', path)[1].splitlines()
    return sum(int(line.rsplit(' ', 1)[1]) for line in lines if line.split(';')[1] == '[cut]')


def test_cut(tap, box):
    box.record('deep.kin', 'deep')
    for command in IN_NOTES:
        got = box.run(*command.split(), 'deep.kin')
        text = json.dumps(unpack(got[1])) if command.startswith('html') else got[1]
        tap.ok(CUT in text and CUT not in got[2], f'that stacks were cut stands in the notes: {command}', describe(got))
    for command in ON_STDERR:
        got = box.run(*command.split(), 'deep.kin')
        tap.ok(CUT in got[2] and CUT not in got[1], f'and on standard error where there are none: {command}', describe(got))
    weight = weight_of_cut(box, 'deep.kin')
    for name in ('pprof', 'speedscope', 'firefox', 'callgrind', 'folded'):
        got = box.run('export', '--to=' + name, '-o', 'deep.' + name, 'deep.kin')
        again = weight_of_cut(box, 'deep.' + name)
        tap.ok(weight > 0 and again == weight, f'[cut] is the caller in other formats, too: {name}', f'{weight} {again} {describe(got)}')
    for name in ('otlp', 'chrome-trace'): # kin does not read them
        box.run('export', '--to=' + name, '-o', 'deep.' + name, 'deep.kin')
        with open(os.path.join(box.folder, 'deep.' + name), 'rb') as f:
            tap.ok(b'[cut]' in f.read(), f'[cut] stands in other formats, too: {name}')
    box.record('flat.kin')
    for command in ('flat', 'report --stdio', 'info'):
        got = box.run(*command.split(), 'flat.kin')
        tap.ok('could not be walked' not in got[1] + got[2] and not got[0], f'none were: {command}', describe(got))


def test_trouble(tap, box):
    box.record('x.kin', 'filtered')
    trouble = 'sampling ended when the program gave up system calls'
    got = box.run('info', '--strict', 'x.kin')
    tap.ok(got[0] == 1 and f'in doubt: x.kin: while it was recorded: {trouble}' in got[2],
           'what went wrong in the runtime is a doubt', describe(got))
    for command in ('report', 'flat', 'graph'):
        got = box.run(command, 'x.kin')
        tap.ok(trouble in '\n'.join(got[1].splitlines()[:4]) and 'little CPU time' not in got[1],
               f'and in the first lines: {command}', describe(got))


def test_merged(tap, box):
    """A merged file keeps the faults of its parts."""
    box.run('merge', '-o', 'sum.kin', 'x.kin', 'flat.kin')
    box.run('merge', '-o', 'mus.kin', 'flat.kin', 'x.kin')
    box.run('merge', '-o', 'again.kin', 'sum.kin')
    read = [open(os.path.join(box.folder, name), 'rb').read() for name in ('sum.kin', 'mus.kin', 'again.kin')]
    tap.ok(read[0] == read[1] == read[2], 'merging is the same in any order, with troubles, too')
    got = box.run('info', '--strict', 'sum.kin')
    tap.ok(got[0] == 1 and 'sum.kin: while it was recorded: sampling ended' in got[2], 'a merged recording keeps its doubts',
           describe(got))


def test_gone(tap, box):
    shutil.copy(os.path.join(box.folder, 'prog'), os.path.join(box.folder, 'other'))
    box.run('run', '-q', '-o', 'named.kin', './other')
    box.run('run', '-q', '--no-names', '-o', 'gone.kin', './other')
    os.unlink(os.path.join(box.folder, 'other'))
    got = box.run('flat', '--strict', 'gone.kin')
    tap.ok(got[0] == 1 and 'in doubt: ' in got[2] and 'no names' in got[2], 'a program that is gone is a doubt', describe(got))
    got = box.run('flat', '--strict', 'named.kin')
    tap.ok(got[0] == 0 and 'in doubt' not in got[2] and 'names are those that the recording keeps' in got[2], 'unless the recording keeps its names',
           describe(got))
    got = box.run('flat', 'gone.kin')
    tap.ok(got[0] == 0 and got[2].count('no names') == 1, 'and said once', describe(got))
    got = box.run('info', 'gone.kin')
    tap.ok('can be trusted' in got[1] and 'doubt' in got[1], 'also in info', describe(got))


def test_hints(tap, box):
    subprocess.run(['strip', '-o', 'bare', 'prog'], cwd=box.folder, check=True)
    box.run('run', '-q', '-o', 'bare.kin', './bare')
    for command in ('report', 'flat', 'graph', 'annotate'):
        got = box.run(command, 'bare.kin')
        hints = [line for line in got[2].splitlines() if ' hint: ' in line]
        tap.ok(len(hints) == 1 and '/bare have no names' in hints[0] and '-dbgsym' in hints[0] and not got[0],
               f'what would give a stripped program its names is said once: {command}', describe(got))
    page = unpack(box.run('html', '-o', '-', 'bare.kin')[1])
    tap.ok(any('/bare have no names' in hint for hint in page['hints']), 'and on the page', str(page['hints']))
    got = box.run('annotate', 'bare.kin')
    tap.ok('build it with -g' in got[1], 'annotate says why there is no source', describe(got))
    got = box.run('annotate', 'busy', 'bare.kin')
    tap.ok(got[0] == 2 and 'stripped' in got[2] and 'did you mean' not in got[2], 'and why a function is unknown',
           describe(got))
    got = box.run('flat', 'flat.kin')
    tap.ok('hint' not in got[2], 'nothing where all have names', describe(got))
    got = box.run('flat', './prog', 'bare.kin')
    tap.ok('busy' in got[1] and 'not used' not in got[2], 'an unstripped copy that is named gives names', describe(got))
    got = box.run('flat', sys.executable, 'bare.kin')
    tap.ok('is not used' in got[2] and '/bare' in got[2], 'another program that is named is said to give none', describe(got))
    box.run('run', '-q', '-o', 'py.kin', sys.executable, '-c', 'sum(i * i for i in range(3000000))')
    got = box.run('flat', 'py.kin')
    if 'no samples' in got[1] + got[2] or 'ython' not in got[1]:
        tap.skip('functions of Python', f'it was not seen: {got[2]}')
        return
    if sys.version_info[:2] in ((3, 10), (3, 11)):
        tap.ok('py::<module>' in got[1] and 'python3 -X perf' not in got[2], 'functions of Python', describe(got))
    else:
        tap.ok('python3 -X perf' in got[2], 'how functions of Python get their names', describe(got))


def test_part(tap, box, what, prog, part, remedy):
    """Names of inlined functions are in a file of their own."""
    recording = f'{prog}.kin'
    box.run('run', '-q', '-o', recording, f'./{prog}')
    got = box.run('flat', recording)
    if 'no samples' in got[1] + got[2]:
        tap.skip(what, f'it was not seen: {got[2]}')
        return
    tap.ok('inner_function_with_a_long_name' in got[1] and 'hint' not in got[2], f'{what}: names', describe(got))
    os.rename(os.path.join(box.folder, part), os.path.join(box.folder, part + '.gone'))
    for again in '', ', again':
        got = box.run('flat', recording)
        hints = [line for line in got[2].splitlines() if ' hint: ' in line]
        tap.ok('inner_function' not in got[1] and len(hints) == 1 and not got[0] and f'/{prog} have no names' in hints[0]
               and f'{part} is missing' in hints[0] and remedy in hints[0],
               f'{what}: without the file there is a hint{again}', describe(got))
    os.rename(os.path.join(box.folder, part + '.gone'), os.path.join(box.folder, part))
    got = box.run('flat', recording)
    tap.ok('inner_function_with_a_long_name' in got[1] and 'hint' not in got[2], f'{what}: and with it names', describe(got))


def test_parts(tap, box):
    gcc = lambda *words: subprocess.run(['gcc', '-O2', '-g', *words], cwd=box.folder, check=True)
    with open(os.path.join(box.folder, 'inlined.c'), 'w') as f:
        f.write(INLINED)
    gcc('-c', '-gsplit-dwarf', '-DOTHER=0', '-o', 'halves.o', 'inlined.c')
    gcc('-o', 'halves', 'halves.o')
    test_part(tap, box, '-gsplit-dwarf', 'halves', 'halves.dwo', 'halves.dwp')
    if not shutil.which('dwz'):
        tap.skip('what dwz moved', 'no dwz')
        return
    with open(os.path.join(box.folder, 'inlined.h'), 'w') as f:
        f.write(INLINED.split('__attribute__((noinline))')[0])
    with open(os.path.join(box.folder, 'included.c'), 'w') as f:
        f.write('#include "inlined.h"\n__attribute__((noinline))' + INLINED.split('__attribute__((noinline))')[1])
    for number in '1', '2':
        gcc(f'-DOTHER={number}', '-o', f'shared{number}', 'included.c')
    made = subprocess.run(['dwz', '-m', 'common.debug', 'shared1', 'shared2'], cwd=box.folder, stderr=subprocess.PIPE)
    if made.returncode:
        tap.skip('what dwz moved', f'dwz fails: {made.stderr}')
        return
    test_part(tap, box, 'dwz -m', 'shared1', 'common.debug', '-dbgsym')


# Threads that block all signals are not sampled by kin run.
UNSEEN = r'''
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long x;
__attribute__((noinline)) void work(double seconds)
{
	double end = (double)clock() / CLOCKS_PER_SEC + seconds;
	while ((double)clock() / CLOCKS_PER_SEC < end)
		for (int i = 0; i < 10000; i++)
			x = x * 3 + 1;
}
int main(int argc, char **argv)
{
	sigset_t all;
	work(0.3);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (argc > 1)
		work(atof(argv[1]));
	return 0;
}
'''


def test_compared(tap, box):
    """CPU time that no sample stands for is compared with the rest, unless all recordings lack as little as chance explains."""
    with open(os.path.join(box.folder, 'unseen.c'), 'w') as f:
        f.write(UNSEEN)
    subprocess.run(['gcc', '-O1', '-g', '-o', 'unseen', 'unseen.c'], cwd=box.folder, check=True)
    for folder, more in ('less', []), ('much', ['0.3']):
        os.mkdir(os.path.join(box.folder, folder))
        for name in '123':
            box.run('run', '-q', '--no-gmon', '-o', f'{folder}/{name}.kin', './unseen', *more)
    table = json.loads(box.run('diff', '--all', '-f', 'json', 'less/1.kin', 'much/1.kin')[1])
    row = [r for r in table['rows'] if r['name'] == '[not sampled]']
    tap.ok(row and 0.2 < row[0]['after'] < 0.4 and row[0]['before'] < 0.1, 'diff: CPU time without samples is a row', str(table))
    total = table['properties']['total_after'] - table['properties']['total_before']
    tap.ok(0.2 < total < 0.4, 'diff: ... and part of the total', str(table['properties']))
    got = box.run('diff', '--all', 'less/1.kin', 'less/2.kin')
    tap.ok(' work' in got[1] and '[not sampled]' not in got[1], 'diff: what all lack by chance is no row', describe(got))
    got = box.run('check', '--time=20%', 'less', 'much')
    tap.ok(got[0] == 1 and '[not sampled]: time +' in got[1] and '\ntotal: time +' in got[1], 'check: it fails for it', describe(got))


def main():
    tap = Tap()
    if not shutil.which('gcc'):
        tap.skip('what a recording knows of its faults', 'no gcc')
        sys.exit(tap.done())
    with tempfile.TemporaryDirectory(prefix='kin-trust.') as folder:
        box = Box(os.path.abspath(sys.argv[1]), folder)
        test_cut(tap, box)
        test_trouble(tap, box)
        test_merged(tap, box)
        test_gone(tap, box)
        test_hints(tap, box)
        test_parts(tap, box)
        test_compared(tap, box)
    sys.exit(tap.done())


if __name__ == '__main__':
    main()

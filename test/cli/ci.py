"""The examples of doc/ci.md do what is said there: its Makefile, and the commands of its workflows.

    ci.py BUILD

Times are not judged here: that a comparison ends with 0 or 1 is all that does not depend on the machine.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

PROGRAM = '''#include <stdio.h>
__attribute__((noinline)) long part(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(sum));
	return sum;
}
int main(void)
{
	for (int i = 0; i < %d; i++)
		part(100000);
	return 0;
}
'''

CALLING = '''#include <stdlib.h>
__attribute__((noinline)) void called(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	for (long i = 0; i < atol(argv[argc - 1]); i++)
		called();
	return 0;
}
'''

SORTING = '''#include <stdlib.h>
static int n;
__attribute__((noinline)) int less(int a, int b) { n++; return a - b; }
int compare(const void *a, const void *b) { return less(*(const int *)a, *(const int *)b); }
int main(void)
{
	int v[] = { 3, 1, 2, 4 };
	less(1, 2);
	qsort(v, 4, sizeof(*v), compare);
	return 0;
}
'''


def main():
    build = os.path.abspath(sys.argv[1])
    text = open(os.path.join(HERE, '..', '..', 'doc', 'ci.md')).read()
    makefile = re.search(r'```make\n(.*?)```', text, re.S).group(1)
    commands = re.findall(r'- (?:run: )?(make -s .*)', text)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, 'PATH': build + ':' + os.environ['PATH'], 'RUNS': '3', 'MAKEFLAGS': '-e', 'LC_ALL': 'C'}

        def run(command):
            done = subprocess.run(['sh', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=300)
            return done.returncode, done.stdout, done.stderr

        def write(name, content):
            open(os.path.join(folder, name), 'w').write(content)

        write('Makefile', makefile)
        write('prog.c', PROGRAM % 300)
        code, out, err = run('make -s baseline && make -s prog && cp prog prog.old')
        tap.ok(code == 0 and os.path.exists(os.path.join(folder, 'baseline.kin')), 'make baseline', out + err)
        code, out, err = run('make -s check-calls')
        tap.ok(code == 0 and out.endswith('fine\n'), 'make check-calls: nothing is called more often', out + err)

        write('prog.c', PROGRAM % 330)
        os.utime(os.path.join(folder, 'prog.c'), (2e9, 2e9))
        code, out, err = run('make -s check-calls')
        tap.ok(code != 0 and 'Error 1' in err and re.search(r'^prog\.c:\d+: part: 330 calls, 300 before: \+10\.00 %', out, re.M),
               'a function that is called more often fails, at its line', out + err)
        code, out, err = run('mkdir -p made && cd made && kin cc cc -O2 -g -o prog.counted ../prog.c && cd .. && '
                             'kin check baseline.kin --time=off -r 1 --format=github -- made/prog.counted')
        tap.ok(code == 1 and re.search(r'^::error file=prog\.c,line=\d+,title=kin check::part: 330 calls', out, re.M),
               'the line is that of the file in the repository, also if another folder was compiled in', out + err)
        code, out, err = run("kin check baseline.kin --time=off -r 2 -- sh -c './prog.counted; ./prog.counted'")
        tap.ok(code == 1 and ': part: 660 calls, 300 before' in out, 'calls of all processes of a command add up', out + err)
        tap.ok('the runs have several processes, and baseline.kin has one' in out, '... and are not those of one process', out)
        code, out, err = run("kin run -q --no-gmon -o two.kin sh -c './prog.counted; ./prog.counted' && kin merge -o all.kin two.kin two.*.kin && "
                             "kin check all.kin --time=off -r 1 -- sh -c './prog.counted; ./prog.counted'")
        tap.ok(code == 0 and out == 'calls of 2 functions checked\nfine\n', 'a baseline of several processes is one that was merged', out + err)
        code, out, err = run('for n in 250 2500; do kin record -q -r 3 -F $n -o at.$n.kin ./prog; done; kin diff at.250.kin at.2500.kin; '
                             'kin check at.250.kin at.2500.kin; kin diff at.250.kin at.250.kin')
        tap.ok(out.count('  a sample stands for ') == 1 and out.count('\na sample stands for ') == 1, 'other rates are named', out + err)
        code, out, err = run('head -c -100 baseline.kin >cut.kin; kin check --time=off cut.kin baseline.kin')
        tap.ok(code == 3 and out.endswith('not comparable\n'), 'what cannot be read as a whole is not fine', out + err)
        write('sort.c', SORTING)
        code, out, err = run('cc -pg -g -o sort sort.c && ./sort && mv gmon.out base.gmon && '
                             'kin check sort base.gmon --time=off -r 1 -- ./sort')
        tap.ok(code == 0 and out.startswith('calls of 1 function checked\ncalls from outside the program were not checked'),
               'a baseline by the C library, which has no calls from outside the program', out + err)
        code, out, err = run('kin run -q --no-gmon -o sort.kin ./sort && kin diff sort base.gmon sort.kin --lines --all')
        tap.ok(code == 0 and 'left out: gmon.out has none' in out and not re.search(r' main \(', out) and re.search(r'(\d+) +\1 +\w+ \(sort', out),
               'nor has it by line', out + err)
        code, out, err = run('sed "s/++/+=1/; s/^int main/int new(void) { return 1; }\\n&/" sort.c >new.c && cc -pg -g -O1 -o new new.c && '
                             'kin check new base.gmon base.gmon')
        tap.ok(code == 3 and out.endswith('not comparable\n') and 'of another build of it' in out, 'data of another build is not comparable', out + err)
        write('calling.c', CALLING)
        code, out, err = run('kin cc cc -O1 -g -o calling calling.c && mkdir calls && for n in 10000000 20000000 40000000; do '
                             'kin run -q --no-gmon -o calls/$n.kin ./calling $n; done && kin diff calls calls')
        said = re.findall(r'^  (before|after): counting calls took .* \(in one recording; 2 more have other numbers\)$', out, re.M)
        tap.ok(code == 0 and said == ['before', 'after'] and out.count('counting calls took') == 2,
               'what is said of each recording is said once', out + err)
        code, out, err = run('mkdir gone && for n in 1 2 3; do kin record -q -o gone/$n.kin ./prog; done; mv prog prog.gone; kin diff gone gone; '
                             'code=$?; mv prog.gone prog; exit $code')
        tap.ok(code == 0 and err.count('names are those that the recording keeps') == 1, 'and so is where names come from', out + err)
        code, out, err = run('rm baseline.kin; make -s check-calls')
        tap.ok(code != 0 and 'Error 3' in err, 'a baseline that is missing does, too', out + err)
        write('prog.c', PROGRAM % 300)
        run('make -s -B baseline')
        write('prog.c', PROGRAM % 330)
        os.utime(os.path.join(folder, 'prog.c'), (2.1e9, 2.1e9))
        tap.ok(len(commands) == 4, 'commands of workflows are tried', str(commands))
        for command in commands:
            plain, _, file = command.partition(' >')
            code, out, err = run(plain)
            calls = 'check-calls' in plain
            tap.ok('Error 3' not in err and 'Error 2' not in err and (code != 0 or not calls), plain, out + err)
            if 'FORMAT=github' in plain:
                good = all(line.startswith('::') for line in out.splitlines()) and (
                    not calls or re.search(r'^::error file=prog\.c,line=\d+,title=kin check::part: ', out, re.M))
            elif 'FORMAT=gitlab' in plain:
                found = json.loads(out)
                good = found[0]['location']['path'] == 'prog.c' and len(found[0]['fingerprint']) == 16
            else:
                good = xml.fromstring(out).tag == 'testsuite'
            tap.ok(good, f'{plain}: as that server reads it', out + err)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

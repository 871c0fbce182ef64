"""What stands out in recordings of programs that are made for it.

    findings.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

SOURCE = '''
static volatile unsigned long sum;
__attribute__((noinline)) static void odd(unsigned long i) { sum += i * i; }
__attribute__((noinline)) static void even(unsigned long i)
{
    for (int k = 0; k < 8; k++)
        sum ^= i << k;
}
int main(void)
{
    for (unsigned long i = 0; i < 20000000; i++)
        if (i % 8)
            odd(i);
        else
            even(i);
    return 0;
}
'''


def main():
    tap, kin = Tap(), os.path.join(os.path.abspath(sys.argv[1]), 'kin')

    def run(*words):
        return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                              env={**os.environ, 'HOME': folder})

    def kinds(path):
        done = run(kin, 'findings', '-f', 'json', path)
        return {r['kind'] for r in json.loads(done.stdout)['rows']} if not done.returncode else done.stderr
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'a.c'), 'w') as f:
            f.write(SOURCE)
        for level, options in (('-O0', []), ('-O2', []), ('-O2', ['-O0']), ('-O0', ['-gno-record-gcc-switches'])):
            name = f'prog{level}{len(options)}'
            built = run('gcc', '-g', level, *options, '-o', name, 'a.c')
            made = run(kin, 'record', '-q', '-o', f'{name}.kin', f'./{name}')
            if built.returncode or made.returncode:
                tap.skip(f'code compiled with {level}', built.stderr + made.stderr)
                continue
            got = kinds(f'{name}.kin')
            wants = '-O0' in (level, *options) and not any(o.startswith('-gno') for o in options)
            tap.ok(('unoptimised' in got) == wants, f'gcc {" ".join([level, *options])}: {"" if wants else "not "}said', str(got))
        for count, wants in ((250, True), (1, False)):
            made = run(kin, 'record', '-q', '-F', '200', '-o', 'm.kin', 'sh', '-c',
                       f'i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done')
            if made.returncode or not run(kin, 'info', 'm.kin').stdout:
                tap.skip('many short processes', made.stderr)
                continue
            got = kinds('m.kin')
            tap.ok(('short-processes' in got) == wants, f'{count} short processes: {"" if wants else "not "}said', str(got))
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

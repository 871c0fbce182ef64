"""Own code of a real program: the same recording with the code of others and without.

    own.py BUILD

Functions of a header that is not ours are inlined into ours, call ours, and are called; so are libraries. Whatever the times are,
those of both views must agree.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

LIMIT = 120  # seconds for one command: the machine may be busy
NEAR = 1e-9

HEADER = r'''
#define INLINE static inline __attribute__((always_inline))
#define CALLED static __attribute__((noipa))
INLINE unsigned mix(unsigned x) { for (int i = 0; i < 100; i++) x = x * 1664525 + 1013904223; return x; }
CALLED unsigned each(unsigned (*f)(unsigned), unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += f(i) ^ mix(i);
	return s;
}
'''
PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include "lib.h"
CALLED unsigned back(unsigned x) { for (int i = 0; i < 100; i++) x ^= x << 5 ^ x >> 3; return x; }
CALLED unsigned inlines(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += mix(i); /* inlined */
	return s;
}
CALLED unsigned calls(unsigned n)
{
	return each(back, n); /* called */
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
CALLED int sorts(int n)
{
	int *a = malloc(n * sizeof(*a));
	for (int i = 0; i < n; i++)
		a[i] = i * 7919 % 10007;
	qsort(a, n, sizeof(*a), order); /* a library */
	int ret = a[n / 2];
	free(a);
	return ret;
}
int main(void) { return printf("%u %u %d\n", inlines(300000), calls(200000), sorts(200000)) < 0; }
'''
LONE = '#include "lib.h"\nCALLED unsigned id(unsigned x) { return x; }\nint main(void) { return each(id, 300000) == 1; }\n'
OWN = {'inlines', 'calls', 'sorts', 'back', 'order', 'main'}


class Test:
    def __init__(self, build, folder):
        self.tap, self.folder = Tap(), folder
        self.kin = os.path.join(build, 'kin')
        self.foreign = '--foreign=' + os.path.join(folder, 'lib')

    def run(self, *args):
        p = subprocess.run(args, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
                           env={**os.environ, 'HOME': self.folder, 'LC_ALL': 'C.UTF-8'})
        assert not p.returncode, f'{args}: {p.stderr}'
        return p.stdout

    def rows(self, report, *options):
        return json.loads(self.run(self.kin, report, '--format=json', *options, 'own.kin'))['rows']

    def flat(self, *options):
        """By function: self and inclusive time."""
        return {r['name'].removesuffix(' (inlined)'): (r['self'], r['inclusive']) for r in self.rows('flat', *options)}

    def check(self):
        ok = self.tap.ok
        whole, own = self.flat(), self.flat(self.foreign)
        total = sum(s for s, _ in whole.values())
        ok(abs(sum(s for s, _ in own.values()) - total) < NEAR, 'the total stays')
        ok({'mix', 'each'} <= set(whole) and not {'mix', 'each'} & set(own), 'a header of others has no rows')
        for name in sorted(OWN & set(whole)):
            ok(abs(whole[name][1] - own.get(name, (0, 0))[1]) < NEAR, f'inclusive time of {name} stays')
        ok(abs(own['inlines'][0] - whole['inlines'][1]) < NEAR, 'Self has what was inlined')
        ok(abs(own['calls'][0] + whole['back'][1] - whole['calls'][1]) < NEAR, 'Self has what was called, and not what that calls')
        lines = {r['line']: r['self'] for r in self.rows('lines', self.foreign) if r.get('file') == 'own.c'}
        text = PROGRAM.splitlines()
        for name, mark in (('inlines', '/* inlined */'), ('calls', '/* called */')):
            at = 1 + next(i for i, line in enumerate(text) if mark in line)
            ok(lines.get(at, 0) > 0.8 * own[name][0], f'the line by which {name} did so has its time')
        page = self.run(self.kin, 'report', 'own.kin', self.foreign)
        ok('Paid for' in page and 'mix' in page and 'each' in page, 'rows say what they paid for')
        ok('return each(back, n);' in page, 'lines have their text')
        page = self.run(self.kin, 'report', '--own=no', 'own.kin')
        ok('Paid for' not in page and 'Lines of own' not in page, '--own=no shows all')
        page = self.run(self.kin, 'report', 'lone.kin', self.foreign)
        ok('main' in page and 'no call chains' not in page, 'own code that calls none of its own has stacks', page)
        rules = self.run(self.kin, 'info', 'own.kin', self.foreign)
        ok(self.foreign in rules and 'own code' in rules, 'info has the rules')
        return self.tap.done()


def main():
    with tempfile.TemporaryDirectory(prefix='kin-own-') as folder:
        t = Test(os.path.abspath(sys.argv[1]), folder)
        os.mkdir(os.path.join(folder, 'lib'))
        with open(os.path.join(folder, 'lib', 'lib.h'), 'w') as f:
            f.write(HEADER)
        for name, text in (('own', PROGRAM), ('lone', LONE)):
            with open(os.path.join(folder, name + '.c'), 'w') as f:
                f.write(text)
            t.run('gcc', '-g', '-O2', '-fno-optimize-sibling-calls', '-Ilib', name + '.c', '-o', name)
            t.run(t.kin, 'record', '-o', name + '.kin', './' + name)
        return t.check()


if __name__ == '__main__':
    sys.exit(main())

"""What kin reads of other tools, by what their own readers say, and by the laws that hold for every profile.

    imports.py BUILD

Programs that are not installed are skipped, and said: valgrind (callgrind, cachegrind), gperftools (libgoogle-perftools-dev,
google-perftools).
"""
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

CORPUS = os.path.join(HERE, '..', 'fuzz', 'corpus')
# Loops, a tree of calls, functions that call themselves and each other; no time, no randomness.
PROGRAM = r'''
#include <stdlib.h>
static int odd(int n);
__attribute__((noinline)) static int even(int n) { return n ? odd(n - 1) : 1; }
__attribute__((noinline)) static int odd(int n) { return n ? even(n - 1) : 0; }
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static long leaf(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i ^ (s << 1);
	return s;
}
__attribute__((noinline)) static long a(void) { return leaf(3000) + leaf(10); }
__attribute__((noinline)) static long b(void) { return leaf(1000) + a() + a() + a(); }
int main(void) { return (int)(a() + b() + fib(12) + even(100)) & 1; }
'''
SPIN = r'''
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 10000; i++) sum += i; }
__attribute__((noinline)) void a(void) { for (int i = 0; i < 3; i++) leaf(); sum++; }
__attribute__((noinline)) void b(void) { leaf(); a(); sum++; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 2) { a(); b(); } return 0; }
'''


def run(folder, *args, env=None):
    return subprocess.run(args, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'LC_ALL': 'C', **(env or {})})


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def build(folder, name, source, *flags):
    path = os.path.join(folder, name)
    open(path + '.c', 'w').write(source)
    return run(folder, 'cc', '-O1', '-g', '-o', path, path + '.c', *flags).returncode == 0


def functions(kin, folder, path, *more):
    """{name: (self, inclusive)}, in events."""
    done = run(folder, kin, 'flat', '--format=csv', '--columns=name,self,inclusive', *more, path)
    return {r['name']: (float(r['self'] or 0), float(r['inclusive'] or 0)) for r in rows(done.stdout)}


def laws(tap, kin, folder, path, name):
    """Self adds up to the total; no function has more than that; callers of a function add up to its time."""
    flat = rows(run(folder, kin, 'flat', '--format=csv', '--columns=name,self,inclusive,share', path).stdout)
    total = sum(float(r['self']) for r in flat)
    shares = sum(float(r['share']) for r in flat)
    tap.ok(flat and total > 0 and abs(shares - 1) < 1e-6, f'{name}: self times add up to the total', f'{total} {shares}')
    tap.ok(all(float(r['self']) <= float(r['inclusive'] or r['self']) <= total * (1 + 1e-9) for r in flat),
           f'{name}: no function has more than the total')
    graph = run(folder, kin, 'graph', '--format=csv', '--columns=index,self,children,name', path).stdout
    wrong = [w for w in blocks(rows(graph)) if w]
    tap.ok(graph and not wrong, f'{name}: callers add up to what a function takes', '\n'.join(wrong))


def blocks(table):
    """Checks each block of callers, function and callees, and returns the errors; cycles are left out."""
    callers, last = [], None
    for r in table:
        kind = r.get('kind')
        if kind == 'caller':
            callers = callers + [r] if last == 'caller' else [r]
        elif kind == 'function' and 'cycle' not in r['name'] and last == 'caller' and \
                not any('cycle' in c['name'] for c in callers):
            own = float(r['self'] or 0) + float(r['children'] or 0)
            of_callers = sum(float(c['self'] or 0) + float(c['children'] or 0) for c in callers)
            yield None if abs(own - of_callers) <= 1e-6 * max(own, 1) else f'{r["name"]}: {own}, callers {of_callers}'
        last = kind


def of_annotate(folder, path, inclusive):
    """By callgrind_annotate: {function: cost}."""
    done = run(folder, 'callgrind_annotate', '--threshold=100', '--auto=no', f'--inclusive={inclusive}', path)
    found = re.findall(r'^ *([\d,]+)(?: *\([\d. ]+%\))? +\S*?:([^\s\[]+)', done.stdout, re.M)
    costs = {}
    for cost, name in found:
        costs.setdefault(name, int(cost.replace(',', '')))
    return costs


def callgrind(tap, kin, folder):
    for tool in ('valgrind', 'callgrind_annotate', 'cc'):
        if not shutil.which(tool):
            tap.skip('callgrind.out of valgrind', f'no {tool}')
            return
    if not tap.ok(build(folder, 'prog', PROGRAM), 'the program for callgrind is built'):
        return
    for name, flags in (('lines', []), ('instructions', ['--dump-instr=yes', '--collect-jumps=yes']),
                        ('names in full', ['--compress-strings=no', '--compress-pos=no'])):
        out = os.path.join(folder, 'callgrind.out')
        run(folder, 'valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, *flags, './prog')
        ours, own, both = functions(kin, folder, out), of_annotate(folder, out, 'no'), of_annotate(folder, out, 'yes')
        names = ['main', 'a', 'b', 'leaf', 'fib', 'even', 'odd']
        tap.ok(all(ours.get(n, (None,))[0] == own.get(n) for n in names), f'callgrind, {name}: self is that of callgrind_annotate',
               lambda: f'{[(n, ours.get(n), own.get(n)) for n in names]}')
        tap.ok(all(ours.get(n, (0, None))[1] == both.get(n) for n in names if both.get(n)),
               f'callgrind, {name}: inclusive is that of callgrind_annotate',
               lambda: f'{[(n, ours.get(n), both.get(n)) for n in names]}')
        laws(tap, kin, folder, out, f'callgrind, {name}')
    lines = rows(run(folder, kin, 'lines', '--format=csv', '--columns=file,line,name,self', out).stdout)
    tap.ok(any(r['name'] == 'leaf' and r['file'].endswith('prog.c') and float(r['self']) > 1000 for r in lines),
           'callgrind: lines are kept', lines[:5])
    calls = {r['name']: r['calls'] for r in rows(run(folder, kin, 'flat', '--format=csv', '--columns=name,calls', out).stdout)}
    tap.ok(calls.get('leaf') == '9' and calls.get('a') == '4', 'callgrind: calls are counted', calls)
    said = run(folder, kin, 'graph', out).stdout
    tap.ok('put together' in said and 'not seen going round' not in said, 'callgrind: stacks are not said to be measured',
           said[:400])
    run(folder, kin, 'merge', '-o', 'again.kin', out)
    tap.ok(functions(kin, folder, 'again.kin') == functions(kin, folder, out), 'callgrind: kin merge keeps all of it')
    run(folder, 'valgrind', '--tool=cachegrind', '--cachegrind-out-file=cache.out', './prog')
    leaf = functions(kin, folder, 'cache.out').get('leaf', (0, 0))
    tap.ok(leaf[0] == functions(kin, folder, out)['leaf'][0], 'cachegrind.out, which has no calls', leaf)


def gperftools(tap, kin, folder):
    if not shutil.which('google-pprof') or not build(folder, 'spin', SPIN, '-fno-omit-frame-pointer', '-Wl,--no-as-needed', '-lprofiler'):
        tap.skip('a profile of gperftools', 'no gperftools (libgoogle-perftools-dev, google-perftools)')
        return
    path = os.path.join(folder, 'spin.prof')
    run(folder, './spin', env={'CPUPROFILE': path})
    said = run(folder, 'google-pprof', '--text', './spin', path).stdout
    theirs = {n: (int(own), int(both)) for own, both, n in re.findall(r'^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% (\w+)$', said, re.M)}
    ours = {n: tuple(round(v * 100) for v in of) for n, of in functions(kin, folder, path).items()}
    names = ['main', 'a', 'b', 'leaf']
    tap.ok(theirs.get('main') and all(ours.get(n, (0, 0)) == theirs.get(n, (0, 0)) for n in names),
           'gperftools: self and inclusive are those of google-pprof', f'{ours}\n{theirs}')
    laws(tap, kin, folder, path, 'gperftools')


def corpora(tap, kin, folder):
    for name in ('callgrind/parts', 'callgrind/kin', 'callgrind/valgrind-cut', 'firefox/shared', 'firefox/shared-gz', 'firefox/kin'):
        laws(tap, kin, folder, os.path.join(CORPUS, name), name)
    got = functions(kin, folder, os.path.join(CORPUS, 'firefox', 'shared'), '--event=time')
    tap.ok(got and abs(got.get('main', (0, 0))[0] - .0015) < 1e-9, 'firefox: weights are times where it says so', got)


def round_trips(tap, kin, folder):
    """Without recursion, which callgrind's format does not tell apart."""
    path = os.path.join(folder, 'app.folded')
    open(path, 'w').write('prog;main;a;b 60\nprog;main;a 30\nprog;main;c;b 10\nprog;main;c;d 7\nprog;init;d 3\n')
    want = functions(kin, folder, path)
    for name in ('callgrind', 'firefox', 'pprof', 'speedscope', 'kin'):
        out = f'app.{name}' + ('' if name != 'kin' else '.kin')
        done = run(folder, kin, 'export', '--to=' + name, '-o', out, path)
        got = functions(kin, folder, out)
        tap.ok(want and got == want, f'{name}: written and read, the report is the same', f'{done.stderr}{got}\n{want}')


def events_and_threads(kin, folder, path):
    done = run(folder, kin, 'report', '-f', 'csv', '-g', 'none', '-s', 'comm,tid,sym', path)
    return sorted((r.get('event', ''), r['comm'], r['tid'], r['symbol'], r['self_weight']) for r in rows(done.stdout))


def several_events(tap, kin, folder):
    """Names of events and threads may contain their separators."""
    def sample(thread, event, n):
        return f'{thread} [000] 1.0: {n} {event}:\n\t10 f+0x0 (/p/a)\n\n'
    with open(os.path.join(folder, 'events.script'), 'w') as f:
        for thread in ('my: app 5/6', 'app 5/5', ':7 7/7'):
            f.write(sample(thread, 'cpu-clock:u', 1000) + sample(thread, 'sched:sched_switch', 2) + sample(thread, 'faults', 3))
    with open(os.path.join(folder, 'one.script'), 'w') as f:
        f.write(sample('my: app 5/6', 'faults', 3))
    open(os.path.join(folder, 'counts.callgrind'), 'w').write(
        '# callgrind format\nevents: Ir Dr\nfn=main\n1 5 2\ncfn=f\ncalls=1 0\n1 7 3\nfn=f\n2 7 3\n')
    for data in ('events.script', 'one.script', 'counts.callgrind'):
        want = events_and_threads(kin, folder, data)
        for name in ('speedscope', 'firefox'):
            run(folder, kin, 'export', '--to=' + name, '-o', data + name, data)
            got = events_and_threads(kin, folder, data + name)
            tap.ok(want and got == want, f'{name} of {data}: events and threads keep their names', f'{got}\n{want}')


def callgrind_cut(tap, kin, folder):
    """A callgrind.out that lacks something, at its end or within, gets a message; Valgrind's rounding does not."""
    head, end = '# callgrind format\n%sevents: Ir\n%sfn=main\n1 50\nfn=f\n2 47\n', 'totals: 97\n'
    valgrind = 'creator: callgrind-3.19.0\n'
    cases = [('whole', head % (valgrind, 'summary: 97\n') + end, None),
             ('with a summary that is measured later', head % (valgrind, 'summary: 100\n') + end, None),
             ('without sums', head % ('', ''), None),
             ('without an end of the last line', (head % ('', ''))[:-1], None),
             ('cut in a line', head % (valgrind, '') + end[:4], 'damaged in line 8'),
             ('cut behind a line', head % (valgrind, 'summary: 97\n'), 'cut off in line 8'),
             ('of two parts, cut in the second', (head % (valgrind, '') + end) + head % ('', ''), 'cut off in line 14'),
             ('without some functions', head % ('', 'summary: 1000\n'), 'its functions cost 97 of the 1000 Ir in its summary')]
    for name, text, want in cases:
        open(os.path.join(folder, 'cut.callgrind'), 'w').write(text)
        done = run(folder, kin, 'flat', 'cut.callgrind')
        good = done.returncode == 1 and want in done.stderr if want else done.returncode == 0 and not done.stderr
        tap.ok(good, f'callgrind, {name}', f'{done.returncode} {done.stderr}')


def without_stacks(tap, kin, folder):
    with open(os.path.join(folder, 'bare.script'), 'w') as f:
        f.write('a 1/1 [000] 1.0: 5 e:\n\t10 f+0x0 (/p/a)\n\nb 2/2 [000] 1.0: 7 e:\n\n')
    run(folder, kin, 'export', '--to=callgrind', '-o', 'bare.out', 'bare.script')
    got = {name: own for name, (own, _) in functions(kin, folder, 'bare.out').items()}
    tap.ok(got == {'f': 5, '[unknown]': 7}, 'callgrind: samples without a stack are not lost', str(got))


def no_addresses(tap, kin, folder):
    """The addresses that kin assigns to names are not a program's addresses."""
    done = run(folder, kin, 'export', '--to=perf.data', os.path.join(CORPUS, 'callgrind', 'parts'))
    tap.ok(done.returncode == 1 and 'no addresses' in done.stderr and not done.stdout, 'perf.data of callgrind is an error', done.stderr)
    run(folder, kin, 'export', '--to=firefox', '-o', 'names.json', os.path.join(CORPUS, 'callgrind', 'parts'))
    text = open(os.path.join(folder, 'names.json')).read()
    at = re.findall(r'"address":\[([^\]]+)\]', text)
    tap.ok(at and all(set(a.split(',')) == {'-1'} for a in at), 'firefox of callgrind has no addresses', str(at))


def without_threads(tap, kin, folder):
    """pprof's samples may have no thread. In a perf.data they get task -1, as the kernel gives tasks that have ended."""
    def field(number, value):
        return bytes([number << 3 | 2, len(value)]) + value if isinstance(value, bytes) else bytes([number << 3, value])
    texts = [b'', b'cpu', b'count', b'/bin/none']
    with open(os.path.join(folder, 'none.pb'), 'wb') as f:
        f.write(field(1, field(1, 1) + field(2, 2)) + field(2, field(1, bytes([1])) + field(2, bytes([5]))) +
                field(3, field(1, 1) + field(5, 3)) + field(4, field(1, 1) + field(2, 1) + field(3, 64)) +
                b''.join(field(6, t) for t in texts))
    done = run(folder, kin, 'export', '--to=perf.data', '-o', 'none.data', 'none.pb')
    said = run(folder, kin, 'report', '-g', 'none', '-f', 'csv', '-s', 'comm,pid,tid', 'none.data')
    got = [(r['comm'], r['pid'], r['tid'], r['self_weight']) for r in rows(said.stdout)]
    tap.ok(got == [(':-1', '0', '0', '5')], 'perf.data: a task of no number', f'{got} {done.stderr}{said.stderr}')


def out_of_order(tap, kin, folder):
    """A sample of V8 stands for the time to the next one, in the order of time; together they stand for the whole recording."""
    got = functions(kin, folder, os.path.join(CORPUS, 'cpuprofile', 'unordered'))
    want = {'a': .0002, 'b': .0001, 'c': .0001}
    tap.ok(got.keys() == want.keys() and all(abs(got[n][0] - want[n]) < 1e-9 for n in want),
           'cpuprofile: samples before those that stand before them', str(got))


def main():
    tap = Tap()
    kin = os.path.join(os.path.abspath(sys.argv[1]), 'kin')
    with tempfile.TemporaryDirectory() as folder:
        callgrind(tap, kin, folder)
        gperftools(tap, kin, folder)
        corpora(tap, kin, folder)
        round_trips(tap, kin, folder)
        several_events(tap, kin, folder)
        without_stacks(tap, kin, folder)
        callgrind_cut(tap, kin, folder)
        no_addresses(tap, kin, folder)
        without_threads(tap, kin, folder)
        out_of_order(tap, kin, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

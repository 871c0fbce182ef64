"""What changed, by cause: the parts of a change by calls, by callers and by cost add up to it, and are what they should be.

    causes.py BUILD

Random programs of known calls: a function is called by several others, and the cost of a call depends on the caller.
The parts are computed here from the same numbers, exactly.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from tap import Tap

COLUMNS = 'name,before,after,change,calls_before,calls_after,by_calls,by_callers,by_cost,caller'


def write(path, program):
    """Writes a file as callgrind does. `program`: {function: {caller: (number of calls, cost of one)}}."""
    callers = sorted({c for calls in program.values() for c in calls})
    text = ['# callgrind format', 'events: Ir', '', 'fn=main', '1 10']
    for c in callers:
        below = sum(n * t for calls in program.values() for k, (n, t) in calls.items() if k == c)
        text += [f'cfn={c}', 'calls=1 1', f'2 {below + 5}']
    for c in callers:
        text += ['', f'fn={c}', '1 5']
        for f, calls in program.items():
            if c in calls:
                text += [f'cfn={f}', f'calls={calls[c][0]} 1', f'2 {calls[c][0] * calls[c][1]}']
    for f, calls in program.items():
        text += ['', f'fn={f}', f'1 {sum(n * t for n, t in calls.values())}']
    with open(path, 'w') as out:
        out.write('\n'.join(text) + '\n')


def mean(programs):
    """Calls and time of each arc of a run, on average: {f: {caller: (calls, time)}}."""
    sums = {}
    for program in programs:
        for f, calls in program.items():
            for c, (n, t) in calls.items():
                old = sums.setdefault(f, {}).get(c, (0, 0))
                sums[f][c] = (old[0] + Fraction(n, len(programs)), old[1] + Fraction(n * t, len(programs)))
    return sums


def causes(before, after):
    """The change of one function by calls, by callers, by cost; and the caller with the largest part in the second."""
    n0, n1 = (sum(n for n, t in x.values()) for x in (before, after))
    average = sum(t for n, t in before.values()) / n0
    cost = lambda x, c, other: x[c][1] / x[c][0] if c in x else other
    part = lambda x, c, n: (x[c][0] if c in x else 0) / n
    everyone = set(before) | set(after)
    mix = {c: n1 * (part(after, c, n1) - part(before, c, n0)) * (cost(before, c, average) - average) for c in everyone}
    dearer = sum(n1 * part(after, c, n1) * (cost(after, c, 0) - cost(before, c, average)) for c in after)
    most = max(everyone, key=lambda c: abs(mix[c]))
    ties = [c for c in everyone if abs(mix[c]) == abs(mix[most])]
    return (n1 - n0) * average, sum(mix.values()), dearer, most if len(ties) == 1 and mix[most] else None


def random_program(r):
    return {f'f{i}': {f'c{k}': (r.randint(1, 1000), r.randint(1, 50)) for k in range(6) if r.random() < 0.7}
            for i in range(r.randint(1, 4))}


def variant(r, program):
    """The same some time later: callers come and go, calls move from one to another, costs change."""
    new = {}
    for f, calls in program.items():
        new[f] = {c: (max(1, int(n * r.choice([1, 1, 0.2, 3]))), r.choice([t, t, t + 3])) for c, (n, t) in calls.items()
                  if r.random() < 0.9}
        if r.random() < 0.3:
            new[f]['new'] = (r.randint(1, 900), r.randint(1, 50))
    return new


def renamed(program, name, other):
    return {f: {other if c == name else c: x for c, x in calls.items()} for f, calls in program.items()}


def rows(kin, folder, *words):
    done = subprocess.run([kin, 'diff', '--format=json', '--all', f'--columns={COLUMNS}', *words], cwd=folder,
                          capture_output=True, text=True)
    return {r['name']: r for r in json.loads(done.stdout)['rows']} if not done.returncode else done.stderr


def near(got, want):
    return got is not None and abs(got - want) <= 1e-6 * max(1, abs(want))


def differs(got, before, after):
    """The first difference from the expected parts, in words; '' if there is none."""
    for f in before:
        if not before[f] or not after.get(f):
            continue
        row, want = got.get(f, {}), causes(before[f], after[f])
        parts = [row.get(k) for k in ('by_calls', 'by_callers', 'by_cost')]
        if not all(near(g, float(w)) for g, w in zip(parts, want)):
            return f'{f}: {parts}, not {[float(w) for w in want[:3]]}'
        if not near(sum(parts), row['change']):
            return f'{f}: {parts} is not {row["change"]}'
        if want[3] and (row.get('caller') or '').rsplit(' ', 2)[0] != want[3]:
            return f'{f}: {row.get("caller")}, not {want[3]}'
    return ''


RENAMED = """
#include <stdio.h>
volatile double sink;
double table[64] = {1.5, 2.5};
#define LOOP(name, term) \\
    __attribute__((noinline, noclone)) double name(int n) \\
    { double s = 0; for (int i = 1; i < n; i++) s += term; if (s == 0.125) puts("x"); return s; }
#ifdef OTHER_PLACES /* all that follows lies elsewhere */
const char text[5000] = "text";
__attribute__((noinline, used)) void pad(int x) { if (x) puts(text + x); }
#endif
LOOP(KEPT, table[i & 63] / i + 0.25)
LOOP(CHANGED, i * 0.5 - MASKED(table[i & 31]))
#ifdef TWINS
LOOP(TWIN_A, table[i & 15] - i)
LOOP(TWIN_B, table[i & 15] - i)
#endif
int main(void)
{
    for (int i = 0; i < 20; i++) {
        sink += KEPT(1000) + CHANGED(1000);
#ifdef TWINS
        sink += TWIN_A(1000) + TWIN_B(1000);
#endif
    }
    return 0;
}
"""
NEW = '-DKEPT=kept_new -DCHANGED=changed_new -DMASKED(x)=(x)*i -DTWIN_A=twin_1 -DTWIN_B=twin_2 -DOTHER_PLACES'.split()
OLD = '-DKEPT=kept -DCHANGED=changed -DMASKED(x)=(x) -DTWIN_A=twin_a -DTWIN_B=twin_b'.split()


def renamed_code(tap, kin, build_id):
    """A renamed function is recognised by its instructions, if there is one such function on each side."""
    with tempfile.TemporaryDirectory() as folder:
        what = ', without build ids' if build_id == 'none' else ''
        with open(os.path.join(folder, 'prog.c'), 'w') as f:
            f.write(RENAMED)
        for name, flags in (('old', OLD), ('new', NEW)):
            subprocess.run(['gcc', '-O1', '-pg', '-DTWINS', *flags, f'-Wl,--build-id={build_id}', '-o', name, 'prog.c'], cwd=folder, check=True)
            subprocess.run([kin, 'run', '-q', '--sample=off', '--no-gmon', '-o', name + '.kin', './' + name], cwd=folder, check=True)

        def fates(old):
            done = subprocess.run([kin, 'diff', '--format=json', '--all', '--columns=name,what', old, 'new.kin'], cwd=folder, capture_output=True, text=True)
            table = json.loads(done.stdout)
            unread = [n for n in table['notes'] if n.startswith('renamed functions are not recognised')]
            return {'unread': unread, **{r['name']: r.get('what') for r in table['rows']}}

        def tells(got, which):
            tap.ok(got.get('kept_new') == 'was kept (same code)' and 'kept' not in got and not got['unread'],
                   f'a function of another name and the same code is one{which}', got)
            tap.ok(got.get('changed_new') == 'new' and got.get('changed') == 'gone', f'one of another name and other code is not{which}', got)
            tap.ok(got.get('twin_1') == got.get('twin_2') == 'new' and got.get('twin_a') == 'gone', f'two with the same code are not told apart{which}', got)
        tells(fates('old.kin'), what)
        subprocess.run([kin, 'pack', '-o', 'packed.kin', 'old.kin'], cwd=folder, check=True, capture_output=True)
        for action in ('gone', 'replaced'):
            os.remove(os.path.join(folder, 'old'))
            if action == 'replaced':
                shutil.copy(os.path.join(folder, 'new'), os.path.join(folder, 'old'))
            got = fates('old.kin')
            tap.ok(got.get('kept_new') == 'new' and got.get('kept') == 'gone' and len(got['unread']) == 1 and 'of 4 functions' in got['unread'][0],
                   f'a program that is {action}: nothing is said of its code, and that is said{what}', got)
            tells(fates('packed.kin'), f', a program that is {action} and was packed{what}')
            open(os.path.join(folder, 'old'), 'a').close()


STATIC = """static volatile int x;
static __attribute__((noipa)) void helper(void) { x++; }
void NAME(int n) { while (n--) helper(); }
"""


def static_functions(tap, kin):
    """Static functions of one name are told apart by their files, also if one of them has nothing on one side."""
    with tempfile.TemporaryDirectory() as folder:
        for name in 'ab':
            with open(os.path.join(folder, name + '.c'), 'w') as f:
                f.write(STATIC.replace('NAME', name))
        with open(os.path.join(folder, 'm.c'), 'w') as f:
            f.write('#include <stdlib.h>\nvoid a(int n), b(int n);\n'
                    'int main(int n, char **v) { a(atoi(v[1])); b(atoi(v[2])); return n < 0; }\n')
        subprocess.run(['gcc', '-O1', '-g', '-pg', '-o', 'm', 'm.c', 'a.c', 'b.c'], cwd=folder, check=True)
        for side, counts in (('old', '30 20'), ('new', '20 30'), ('less', '0 30')):
            subprocess.run([kin, 'run', '-q', '--sample=off', '--no-gmon', '-o', side + '.kin', './m', *counts.split()], cwd=folder, check=True)

        def calls(old, new):
            done = subprocess.run([kin, 'diff', '--format=json', '--all', '--columns=name,calls_before,calls_after', old, new],
                                  cwd=folder, capture_output=True, text=True)
            return {r['name']: (r.get('calls_before'), r.get('calls_after')) for r in json.loads(done.stdout)['rows'] if 'helper' in r['name']}
        got = calls('old.kin', 'new.kin')
        tap.ok(got == {'helper (a.c)': (30, 20), 'helper (b.c)': (20, 30)}, 'static functions of one name are two', got)
        got = calls('old.kin', 'less.kin')
        tap.ok(got == {'helper (a.c)': (30, None), 'helper (b.c)': (20, 30)}, 'and if one is not called on one side', got)
        done = subprocess.run([kin, 'graph', '--format=csv', '--columns=name', 'new.kin', 'helper (b.c)'], cwd=folder, capture_output=True, text=True)
        tap.ok('helper (b.c)' in done.stdout and '(a.c)' not in done.stdout, 'the name with its file names one of them', done.stdout + done.stderr)


def main():
    kin, tap = os.path.join(os.path.abspath(sys.argv[1]), 'kin'), Tap()
    for seed in range(40):
        r = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            first = random_program(r)
            sides = []
            for side, start in (('before', first), ('after', variant(r, first))):
                runs = [start] + [variant(r, start) for _ in range(r.choice([0, 0, 2]))]
                os.mkdir(os.path.join(folder, side))
                for i, program in enumerate(runs):
                    written = program if side == 'before' else renamed(program, 'c1', 'c1.constprop.0')
                    write(os.path.join(folder, side, str(i)), written)
                sides.append(mean(runs))
            before, after = sides[0], renamed(sides[1], 'c1', 'c1.constprop.0')
            both = renamed(before, 'c1', 'c1.constprop.0') if any('c1' in x for x in sides[1].values()) else before
            for more in ([], ['--inclusive']):
                got = rows(kin, folder, *more, 'before', 'after')
                wrong = got if isinstance(got, str) else differs(got, both, after)
                tap.ok(not wrong, f'seed {seed} {" ".join(more)}: the parts are what they should be, and add up', wrong)
    renamed_code(tap, kin, 'sha1')
    renamed_code(tap, kin, 'none')
    static_functions(tap, kin)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

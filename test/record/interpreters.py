"""Scripts under kin record: their functions, in whole stacks. Started by record.py; missing interpreters are skipped, with a message."""
import os
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
from chance import best
from terminal import on_terminal

PYTHON = '''
import time
def leaf(n):
    s = 0
    for i in range(n):
        s += i ^ (s & 7)
    return s
def middle(n):
    return sum(leaf(200) for _ in range(n))
class Thing:
    def method(self, n):
        return middle(n)
def main():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        Thing().method(10)
main()
'''
NODE = '''
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 3) % 1000003; return s; }
function middle(a, b) { return leaf(2000) + (a - b); }
function main() { const end = Date.now() + 1500; while (Date.now() < end) [3, 1, 2].sort(middle); }
main();
'''
# Node calls what is behind the await, not the script.
NODE_WAITS = '''
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 3) % 1000003; return s; }
async function waits() { await new Promise(r => setImmediate(r)); return leaf(200000); }
(async function () { const end = Date.now() + 1500; while (Date.now() < end) await waits(); })();
'''
# Its functions take hardly any time themselves, but all time is spent in their calls.
NODE_CALLER = '''
const text = JSON.stringify([...Array(500).keys()].map(i => 'k' + i));
function parse() { return JSON.parse(text).length; }
function some(n) { let s = 0; for (let i = 0; i < n; i++) s += parse(); return s; }
const end = Date.now() + 1000;
while (Date.now() < end) some(100);
'''
JAVA = '''
public class W {
	static long leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s = (s + i * 3) % 1000003; return s; }
	static long middle(int n) { long t = 0; for (int i = 0; i < n; i++) t += leaf(2000); return t; }
	public static void main(String[] x) {
		long end = System.currentTimeMillis() + 1500, t = 0;
		while (System.currentTimeMillis() < end)
			t += middle(20);
		System.out.println(t);
	}
}
'''


def pythons(older=()):
    """{version: path} of the Pythons that can write down their functions, or are one of these versions."""
    found = {}
    home = os.path.expanduser('~/.pyenv/versions')
    paths = [shutil.which('python3'), '/usr/bin/python3'] + [os.path.join(home, v, 'bin', 'python3') for v in
                                         (sorted(os.listdir(home)) if os.path.isdir(home) else [])]
    for path in filter(lambda p: p and os.path.exists(p), paths):
        said = subprocess.run([path, '-c', 'import sys; print(sys.version_info[:2], hasattr(sys, "activate_stack_trampoline") '
                                           'and sys.activate_stack_trampoline("perf") is None, sys.executable)'],
                              capture_output=True, text=True)
        m = re.match(r'\((\d+), (\d+)\) (True|False) (.*)', said.stdout)
        if m and ((int(m[1]), int(m[2])) in older if older else m[3] == 'True'):
            found.setdefault((int(m[1]), int(m[2])), m[4])
    return found


def write(box, name, text):
    with open(os.path.join(box.folder, name), 'w') as f:
        f.write(text)


def check_inside(tap, box, name, words, chain):
    """The same from inside: most stacks with one of these functions are whole."""
    def run(*how):
        p = box.run(*how, '-o', 'script.kin', *words)
        lines = [line.rsplit(' ', 1) for line in box.run(box.kin, 'export', '--to=folded', 'script.kin').out.splitlines()]
        there = sum(int(n) for stack, n in lines if re.search(chain[-1], stack))
        whole = sum(int(n) for stack, n in lines if re.search('(_start|clone).*;.*' + '.*;.*'.join(chain), stack))
        return whole > there / 2 > 0, f'{whole} of {there}\n{p.err}{lines[:20]}'
    ways = {'kin run': [box.kin, 'run']}
    if box.run('./prog', 'refused', '/bin/true').returncode != 98:
        ways['without permission'] = ['./prog', 'refused', box.kin, 'record']
    for way, how in ways.items():
        passed, said = best(lambda how=how: run(*how))
        tap.ok(passed, f'{name}, {way}: functions of the script, in whole stacks', said)


def check(tap, box, name, words, chain):
    """Checks for whole stacks with these functions in this order, possibly with others between."""
    write(box, 'w.py', PYTHON)
    write(box, 'w.js', NODE)

    def run():
        p = box.record('-o', 'script.kin', *words)
        complete = re.search(r'stacks: ([\d.]+) % complete', p.err)
        folded = box.run(box.kin, 'export', '--to=folded', 'script.kin').out
        lines = [line.rsplit(' ', 1) for line in folded.splitlines()]
        in_order = sum(int(n) for stack, n in lines if re.search('_start.*;.*' + '.*;.*'.join(chain), stack)
                       or re.search('clone.*;.*' + '.*;.*'.join(chain), stack))
        total = sum(int(n) for _, n in lines)
        good = complete and float(complete[1]) >= 98 and in_order > total / 3
        return good, f'{in_order} of {total}\n{p.err}{folded[:2000]}'
    passed, said = best(run)
    tap.ok(passed, f'{name}: functions of the script, in whole stacks', said)


def check_perf(tap, box, name, words, chain):
    """perf's copies of stacks are walked through that code, too."""
    refused = not shutil.which('perf') or box.run('perf', 'record', '-q', '-o', 'x.data', 'true').returncode
    if refused:
        tap.skip(f'{name}, a perf.data with stack dumps', 'no perf, or no right to record')
        return

    def run():
        box.run('perf', 'record', '-q', '-k', '1', '-F', '299', '--call-graph', 'dwarf', '-o', 'x.data', *words)
        info = box.run(box.kin, 'info', 'x.data')
        ended = re.findall(r'stacks (?:complete|guessed) .*?([\d.]+) % of all', info.out)
        every = re.search(r'stacks complete +\d+ *$', info.out, re.M)
        stacks = box.run(box.kin, 'export', '--to=folded', 'x.data').out
        whole = re.search('(_start|clone).*;.*' + '.*;.*'.join(chain), stacks)
        return (every or sum(map(float, ended)) >= 95) and whole, info.out + info.err + stacks[:2000]
    passed, said = best(run)
    tap.ok(passed, f'{name}, a perf.data with stack dumps: functions of the script, in whole stacks', said)


def test_python(tap, box):
    found = pythons()
    chain = ['py::<module>', 'py::main', 'py::Thing.method', 'py::middle', 'py::leaf']
    for version, path in found.items():
        name = 'python {}.{}'.format(*version)
        check(tap, box, f'{name}, --python', ['--python', path, 'w.py'], chain)
        if version >= (3, 13):
            check(tap, box, f'{name}, -X perf_jit', [path, '-X', 'perf_jit', 'w.py'], chain)
            check_perf(tap, box, f'{name}, -X perf_jit', [path, '-X', 'perf_jit', 'w.py'], chain)
        check_perf(tap, box, f'{name}, -X perf', [path, '-X', 'perf', 'w.py'], chain)
        check_inside(tap, box, f'{name}, -X perf', [path, '-X', 'perf', 'w.py'], chain)
    if not found:
        tap.skip('functions of python', 'no python from 3.12 on that has them')


CALLS = '''
import os, sys, threading, time
def spin(n):
    s = 0
    for i in range(n):
        s += i ^ (s & 7)
    return s
def key(x): return spin(30) - x
def sorts(): return sorted([3, 1, 2], key=key)
def gen():
    for i in range(3):
        yield spin(20)
def uses_gen(): return sum(gen())
def fails(n):
    if n == 0: raise ValueError('x')
    try: fails(n - 1)
    finally: spin(20)
def catches():
    try: fails(5)
    except ValueError: return spin(5)
class Ä:
    def __lt__(self, other): return spin(10) < 0
def mäßig(): return max([Ä(), Ä(), Ä()])
def recursive(n): return recursive(n - 1) + 1 if n else spin(10)
def made(): eval(compile('lambda: spin(9)', 'made', 'eval'))()
def all_of_it(): sorts(); uses_gen(); catches(); mäßig(); recursive(40); made()
def loop():
    end = time.thread_time() + 0.4
    while time.thread_time() < end: all_of_it()
def main():
    t = threading.Thread(target=loop)
    t.start()
    loop()
    t.join()
    child = os.fork()
    if not child:
        loop()
        os._exit(0)
    os.waitpid(child, 0)
main()
'''
# Who may call whom; the names of 3.11 have the class before them.
CALLERS = {'spin': {'key', 'gen', 'fails', 'catches', '__lt__', 'recursive', '<lambda>'}, 'key': {'sorts'},
           'gen': {'uses_gen'}, 'fails': {'fails', 'catches'}, '__lt__': {'mäßig'}, 'recursive': {'recursive', 'all_of_it'},
           '<lambda>': {'made'}, 'all_of_it': {'loop'}, 'loop': {'main', 'run'}, 'main': {'<module>'},
           **{name: {'all_of_it'} for name in ('sorts', 'uses_gen', 'catches', 'mäßig', 'made')}}


def test_older_python(tap, box):
    """Pythons whose frames the runtime reads: no function has an impossible caller, and most samples have functions of scripts."""
    write(box, 'w.py', PYTHON)
    write(box, 'calls.py', CALLS)
    found = pythons({(3, 10), (3, 11)})
    for version, path in found.items():
        name = 'python {}.{}'.format(*version)
        check_inside(tap, box, name, [path, 'w.py'], ['py::<module>', 'py::main', 'py::(Thing.)?method', 'py::middle', 'py::leaf'])
        p = box.run(box.kin, 'run', '-q', '-o', 'calls.kin', path, 'calls.py')
        lines = box.run(box.kin, 'export', '--to=folded', 'calls.kin').out.splitlines()
        wrong = []
        for line in lines:
            names = [re.sub(r'^py::(?:[^:]*\.)?(.*?):.*', r'\1', f) for f in line.rsplit(' ', 1)[0].split(';') if f.startswith('py::')]
            wrong += [(a, b) for a, b in zip(names, names[1:]) if b in CALLERS and a not in CALLERS[b] and 'calls.py' in line]
        tap.ok(p.returncode == 0 and not p.err and lines and not wrong, f'{name}: who calls whom', f'{p.err}{wrong[:9]}')
        files = sorted(f for f in os.listdir(box.folder) if f.startswith('calls') and f.endswith('.kin'))
        tap.ok(any('py::' in box.run(box.kin, 'export', '--to=folded', f).out for f in files), f'{name}: its functions have names', files)
        env = {**os.environ, 'KIN_OPTIONS': 'python=off'}
        subprocess.run([box.kin, 'run', '-q', '-o', 'off.kin', path, 'calls.py'], cwd=box.folder, env=env, check=True)
        tap.ok('py::' not in box.run(box.kin, 'export', '--to=folded', 'off.kin').out, f'{name}: python=off')
    if not found:
        tap.skip('functions of older pythons', 'no python 3.10 or 3.11')


def test_node(tap, box):
    if not shutil.which('node'):
        tap.skip('functions of node', 'no node')
        return
    write(box, 'caller.js', NODE_CALLER)
    for named in (True, False):
        box.record('-o', 'caller.kin', *['--node'] * named, 'node', 'caller.js')
        p = box.run(box.kin, 'report', 'caller.kin')
        hinted = re.search('hint: functions that Node.js interprets have no names .*--node', p.err)
        tap.ok(bool(hinted) != named, 'node: a hint ' + ('is not needed with --node' if named else 'of callers without names'),
               p.err)
    for columns, rows in ((100, 30), (100, 24), (40, 30)):
        text, _ = on_terminal([box.kin, 'report', '--no-pager', 'caller.kin'], box.folder, rows=rows, columns=columns)
        tap.ok('hint: ' in text and len(text.splitlines()) < rows, f'node: a page and its hint fit {columns}x{rows}',
               f'{len(text.splitlines())} lines\n{text}')
    chain = [r'JS:\S*main', r'JS:\S*middle']
    check(tap, box, 'node, --node', ['--node', 'node', 'w.js'], chain)
    write(box, 'waits.js', NODE_WAITS)
    check(tap, box, 'node, behind an await', ['--node', 'node', 'waits.js'], [r'JS:\S*waits', r'JS:\S*leaf'])
    check(tap, box, 'node, a jitdump', ['node', '--perf-prof', 'w.js'], chain)
    check_perf(tap, box, 'node, a jitdump', ['node', '--perf-prof', 'w.js'], chain)
    check_inside(tap, box, 'node, a map', ['node', '--perf-basic-prof', '--interpreted-frames-native-stack', 'w.js'], chain)
    check_inside(tap, box, 'node, a jitdump', ['node', '--perf-prof', 'w.js'], chain)


def test_java(tap, box):
    write(box, 'W.java', JAVA)
    if not shutil.which('javac') or box.run('javac', 'W.java').returncode:
        tap.skip('methods of java', 'no java')
        return
    check(tap, box, 'java, --java', ['--java', 'java', 'W'], [r'W\.middle'])
    check_inside(tap, box, 'java, a map', ['java', '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit',
                                           '-XX:+PreserveFramePointer', 'W'], [r'W\.middle'])


def test_jitted(tap, box):
    """A program that makes code: each of its samples has the callers that it must have, or none."""
    if platform.machine() != 'x86_64':
        tap.skip('code made at run time', 'the program makes that of x86-64')
        return
    program = os.path.join(box.folder, 'jitted')
    subprocess.run(['gcc', '-O2', '-g', '-o', program, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'jitted.c')],
                   check=True)
    ways = {'kin record': [box.kin, 'record'], 'kin run': [box.kin, 'run']}
    if box.run('./prog', 'refused', '/bin/true').returncode != 98:
        ways['without permission'] = ['./prog', 'refused', box.kin, 'record']
    for way, how in ways.items():
        for code, said, above in (('framed', 'map', 'framed'), ('framed', 'dump', 'framed'), ('framed', 'none', r'\[anon\]'),
                                  ('bare', 'dump', 'bare'), ('bare', 'none', r'\[anon\]')):
            # The call-frame information of a dump is for the recorder; without any, nothing is made up.
            known = code == 'framed' or (said == 'dump' and way == 'kin record')
            p = box.run(*how, '-q', '-o', 'jitted.kin', './jitted', code, said, '0.2')
            lines = box.run(box.kin, 'export', '--to=folded', 'jitted.kin').out.splitlines()
            spins = [line for line in lines if ';spin' in line]
            wanted = f'^jitted;.*main;{above};spin' if known else rf'^jitted;\[cut\];{above};spin'
            wrong = [line for line in spins if not re.search(wanted, line)]
            tap.ok(p.returncode == 0 and not wrong, f'{way}: callers of code made at run time, {code}, {said}',
                   f'{p.err}{wrong[:5]}')


TESTS = (test_jitted, test_python, test_older_python, test_node, test_java)

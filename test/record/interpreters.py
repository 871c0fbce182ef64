"""Scripts under kin record: their functions, in whole stacks. record.py runs it; what is not installed is skipped, and said."""
import os
import re
import shutil
import subprocess

from chance import best

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


def pythons():
    """Those that write down their functions: {version: path}."""
    found = {}
    home = os.path.expanduser('~/.pyenv/versions')
    paths = [shutil.which('python3')] + [os.path.join(home, v, 'bin', 'python3') for v in
                                         (sorted(os.listdir(home)) if os.path.isdir(home) else [])]
    for path in filter(lambda p: p and os.path.exists(p), paths):
        said = subprocess.run([path, '-c', 'import sys; print(sys.version_info[:2], hasattr(sys, "activate_stack_trampoline") '
                                           'and sys.activate_stack_trampoline("perf") is None, sys.executable)'],
                              capture_output=True, text=True)
        m = re.match(r'\((\d+), (\d+)\) True (.*)', said.stdout)
        if m:
            found.setdefault((int(m[1]), int(m[2])), m[3])
    return found


def write(box, name, text):
    with open(os.path.join(box.folder, name), 'w') as f:
        f.write(text)


def check(tap, box, name, words, chain):
    """Whole stacks, in which these come after each other, with others between."""
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


def test_python(tap, box):
    found = pythons()
    chain = ['py::<module>', 'py::main', 'py::Thing.method', 'py::middle', 'py::leaf']
    for version, path in found.items():
        name = 'python {}.{}'.format(*version)
        check(tap, box, f'{name}, --python', ['--python', path, 'w.py'], chain)
        if version >= (3, 13):
            check(tap, box, f'{name}, -X perf_jit', [path, '-X', 'perf_jit', 'w.py'], chain)
    if not found:
        tap.skip('functions of python', 'no python from 3.12 on that has them')


def test_node(tap, box):
    if not shutil.which('node'):
        tap.skip('functions of node', 'no node')
        return
    chain = [r'JS:\S*main', r'JS:\S*middle']
    check(tap, box, 'node, --node', ['--node', 'node', 'w.js'], chain)
    check(tap, box, 'node, a jitdump', ['node', '--perf-prof', 'w.js'], chain)


def test_java(tap, box):
    write(box, 'W.java', JAVA)
    if not shutil.which('javac') or box.run('javac', 'W.java').returncode:
        tap.skip('methods of java', 'no java')
        return
    check(tap, box, 'java, --java', ['--java', 'java', 'W'], [r'W\.middle'])


TESTS = (test_python, test_node, test_java)

"""The questions of doc/views.md, asked of three recordings in kin's page, in speedscope and in pprof's page, by clicking.

    clicks.py BUILD [--pictures]

Records a g++ run, redis-server under load (--wall) and a Java program (--wall), writes kin's page, speedscope's and pprof's files of
each, and walks to each answer in Chromium with a mouse that counts: a click is one, dragging is one, choosing from a list is two, what is
typed is free. Each walk ends with what is read there, so that one sees whether it is an answer. Takes speedscope (npm, in NODE_PATH) and
`go tool pprof` (golang-go, whose first page takes graphviz too); what is not installed is left out. Files go to BENCH_DIR (BUILD/bench).
--pictures takes those of doc/ instead.
"""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.join(HERE, '..', 'test')
sys.path.insert(0, os.path.join(TEST, 'lib'))
sys.path.insert(0, os.path.join(TEST, 'perf'))
sys.path.insert(0, os.path.join(TEST, 'page'))
import chromium
from page import Visitor

CXX = '''#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main() {
	std::map<std::string, std::vector<int>> m;
	std::regex r("a+b");
	for (int i = 0; i < 10; i++) m[std::to_string(i)].push_back(i);
	std::cout << m.size() << std::regex_match("aab", r);
}
'''
JAVA = '''import java.util.*;
public class Work {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] a) throws Exception {
		Thread t = new Thread(() -> {
			Random r = new Random(1);
			for (int i = 0; i < 300; i++) {
				Arrays.sort(r.ints(20000).toArray());
				try { Thread.sleep(2); } catch (InterruptedException e) { }
			}
		});
		t.start();
		System.out.println(fib(40));
		Map<String, Integer> m = new HashMap<>();
		for (int i = 0; i < 2000000; i++) m.merge("k" + i % 1000, 1, Integer::sum);
		t.join();
	}
}
'''
REDIS = '''redis-server --port 7399 --save "" --appendonly no >/dev/null &
for i in 1 2 3 4 5 6 7 8 9; do redis-cli -p 7399 ping >/dev/null 2>&1 && break; sleep .3; done
redis-benchmark -p 7399 -n 100000 -q -t set,get,lpush,lrange_100 >/dev/null; redis-cli -p 7399 shutdown nosave; wait'''


def record(kin, folder, only=None):
    """The named recordings, or all; those whose program is not installed are left out."""
    for name, text in (('big.cc', CXX), ('Work.java', JAVA), ('redis.sh', REDIS)):
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    env = {**os.environ, 'PATH': os.path.dirname(kin) + ':' + os.environ['PATH']}
    made = []
    for name, needs, options, command in (
            ('g++', 'g++', ['--mark'], ['sh', '-c', 'kin mark first; g++ -O1 -c big.cc; kin mark second; g++ -O1 -g -c big.cc']),
            ('g++-O2', 'g++', [], ['g++', '-O2', '-g', '-c', 'big.cc']),
            ('redis', 'redis-server', ['--wall'], ['sh', 'redis.sh']), ('java', 'javac', ['--wall'], ['java', '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit', '-XX:+PreserveFramePointer', 'Work'])):
        if not shutil.which(needs) or (only and name not in only):
            continue
        path = os.path.join(folder, name + '.kin')
        if not os.path.exists(path):
            if name == 'java':
                subprocess.run(['javac', 'Work.java'], cwd=folder, check=True)
            subprocess.run([kin, 'record', '-q', '-o', path, *options, *command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        made.append(name)
    return made


class Walk:
    """Somebody with a mouse in another program's page."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def go(self, url, ready):
        self.page.ask('Page.navigate', url='about:blank')
        self.page.ask('Page.navigate', url=url)
        if not self.page.wait(ready, 20):
            raise LookupError(f'{ready}: not there')

    def click(self, script):
        if not self.page.wait(script, 5):
            raise LookupError(f'{script}: not there')
        self.clicks += 1
        self.page.click_on(script)
        time.sleep(.5)

    def type(self, text):
        for key in text:
            self.page.key(key)
        time.sleep(.5)

    def text(self, script='document.body.innerText'):
        return self.page.run(script)


def kin_ways(page, url, name, difference):
    """For each question (question, clicks, the text at the end)."""
    def visit(where=url):
        return Visitor(page, where)

    def read(script):
        return page.run(script)

    v = visit()
    has = {f: read(f'!!document.querySelector({json.dumps(s)})') for f, s in (('cycle', 'main a[href*=cycle]'), ('events', '#filters select'))}
    yield 'where', v.clicks, ' '.join(v.row()[4:])
    v = visit()
    v.type('/', *'malloc', 'Enter')
    yield 'malloc', v.clicks, read('document.querySelector("h2").textContent') + ' by ' + v.row(0)[-1]
    v = visit()
    v.type('/', *'/malloc/')
    yield 'share', v.clicks, read('document.querySelector("main .tools").innerText.trim()')
    v = visit()
    v.view('Timeline')
    v.drag(0, .2, .8)
    yield 'stretch', v.clicks, ' '.join(v.row(1)[:1] + v.row(1)[4:])
    page.run('document.querySelector(".flame canvas").focus()')  # keys cost no clicks, nor does typed text
    v.type('ArrowDown', 'ArrowDown', 'ArrowDown')
    yield 'order', v.clicks, read('document.getElementById("frame").innerText')[:60]
    v = visit()
    v.view('Timeline')
    if read('!!document.querySelector(".strip a")'):
        v.click('document.querySelector(".strip a")')
        yield 'markers', v.clicks, read('document.querySelector("#filters .chip").innerText.trim()')
    v = visit()
    v.click('document.querySelector("[aria-label=\\"Hottest lines\\"] a")')
    yield 'line', v.clicks, read('(r => document.querySelector("h2").textContent.split("/").pop() + ":" + r.querySelector(".n.soft").innerText + " " + r.cells[0].innerText)(document.querySelector("tr.self"))')
    v = visit()
    v.click('document.querySelector("[aria-label=\\"Hottest instructions\\"] a")')
    yield 'instruction', v.clicks, read('(r => r.cells[0].innerText + " " + r.querySelector(".code").innerText)(document.getElementById("hottest"))')
    if has['cycle']:
        v = visit()
        v.click('[...document.querySelectorAll("main a")].find(a => /^↻ Cycle/.test(a.textContent))')
        yield 'cycle', v.clicks, read('document.querySelector(".card p").innerText')
    if has['events'] and name != 'g++':
        v = visit()
        yield 'wait', v.clicks, ' '.join(read('[...document.querySelector("[aria-label=\\"Where it waits, and for whom\\"] tbody tr").cells].map(c => c.innerText.trim())'))
    if difference and name == 'g++':
        v = visit(difference)
        yield 'slower', v.clicks, ' '.join(v.row())


def speedscope_ways(page, url):
    tab = '[...document.querySelectorAll("div")].find(e => /Sandwich$/.test(e.innerText) && e.innerText.length < 12)'

    def begin(nth=0):
        """Goes to a thread: the one with the most time, or the one after it."""
        w = Walk(page)
        w.go(url, tab)
        title = '[...document.querySelectorAll("div, span")].find(e => /^[^\\n]+ \\(\\d+\\/\\d+\\)$/.test(e.innerText) && e.children.length < 2)'
        if not page.run(f'!!{title}'):
            return w  # there is only one thread
        w.click(title)
        seconds = 't => parseFloat(t) * (/[µu]s$/.test(t) ? 1e-6 : /ms$/.test(t) ? 1e-3 : /min$/.test(t) ? 60 : 1)'
        w.click(f'[...document.querySelectorAll("tr")].filter(r => /^\\d/.test(r.innerText) && r.cells.length > 2).map(r => [({seconds})(r.cells[r.cells.length - 1].innerText.trim()), r])'
                f'.sort((a, b) => b[0] - a[0]).map(x => x[1])[{nth}]')
        return w

    w = begin()
    w.click(tab)
    yield 'where', w.clicks, w.text('[...document.querySelectorAll("tr")].map(r => r.innerText).find(t => /%/.test(t))').replace('\n', ' ') + ' (of one thread)'
    w = begin(1)
    x, y, width = page.run('(b => [b.left, b.top, b.width])(document.querySelector("canvas").getBoundingClientRect())')
    page.drag(x + width * .4, y + 60, x + width * .6, y + 60)
    w.clicks += 1
    yield 'stretch', w.clicks, 'drawn; no sums of it'
    yield 'order', w.clicks, 'the same picture'
    w = begin()
    w.click(tab)
    page.key('f', 2)
    w.type('malloc')
    w.click('[...document.querySelectorAll("tr")].find(r => /(^|\\s)malloc$/.test(r.innerText.trim()))')
    yield 'malloc', w.clicks, 'its callers drawn (of one thread)'


def pprof_ways(page, url):
    def begin():
        w = Walk(page)
        w.go(url + '/ui/flamegraph', 'document.querySelector("#view")')
        return w

    def choose(w, menu, entry):
        w.click(f'document.querySelector("#{menu} .menu-name")')
        there = page.run(f'document.querySelector("#{entry}").pathname')
        w.click(f'document.querySelector("#{entry}")')
        page.wait(f'location.pathname === "{there}" && document.readyState === "complete" && document.body.innerText.length > 400', 20)

    w = begin()
    choose(w, 'view', 'topbtn')
    yield 'where', w.clicks, w.text('(r => r && r.innerText)(document.querySelector("#rows tr"))').replace('\t', ' ')
    w = begin()
    page.run('document.querySelector("#search").focus()')
    w.type('malloc')  # its pattern is matched with the name followed by the file
    choose(w, 'view', 'peek')
    lines = w.text().split('\n')
    at = next((i for i, l in enumerate(lines) if re.search(r'\| malloc( |$)', l)), 0)
    callers = [l for l in lines[:at] if '|   ' in l]
    yield 'malloc', w.clicks, ' '.join(callers[-1].split()) if callers else 'nothing'
    w = begin()
    page.run('document.querySelector("#search").focus()')
    w.type('malloc')
    choose(w, 'view', 'peek')
    yield 'share', w.clicks, next((l for l in w.text().split('\n') if 'Showing' in l), 'nothing')
    for what, entry in (('line', 'list'), ('instruction', 'disasm')):
        w = begin()
        page.run('document.querySelector("#search").focus()')
        w.type('^_int_malloc$')
        choose(w, 'view', entry)
        text = w.text()
        yield what, w.clicks, 'of the function that was typed' if '_int_malloc' in text.split('Total', 1)[-1] else 'nothing'


def speedscope_page(folder, name):
    root = next((os.path.join(r, 'speedscope', 'dist', 'release') for r in (os.environ.get('NODE_PATH', ''), '/usr/lib/node_modules', '/usr/local/lib/node_modules')
                 if r and os.path.exists(os.path.join(r, 'speedscope', 'dist', 'release', 'index.html'))), None)
    if not root:
        return None
    with open(os.path.join(folder, name + '.speedscope.json'), 'rb') as f:
        data = base64.b64encode(f.read()).decode()
    path = os.path.join(folder, name + '.speedscope.js')
    with open(path, 'w') as f:
        f.write(f'speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(data)})')
    return f'file://{os.path.abspath(root)}/index.html#localProfilePath={path}'


class Pprof:
    """Serves pprof's page; None if pprof is not installed."""

    def __init__(self, path, port):
        self.url, self.process = f'http://localhost:{port}', None
        if shutil.which('go'):
            self.process = subprocess.Popen(['go', 'tool', 'pprof', f'-http=localhost:{port}', '-no_browser', path], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(3)

    def __enter__(self):
        return self.url if self.process else None

    def __exit__(self, *what):
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def take_pictures(page, path):
    """The pictures in doc/views.md: a flame graph, the call graph of a gmon.out, and a stretch of a thread."""
    for name, scheme, height, address in (('flame', 'light', 520, path('g++.html') + '#flame?q=expand'), ('callgraph', 'light', 760, path('lua.html') + '#graph?n=20'),
                                          ('timeline', 'dark', 520, path('redis.html') + '#timeline')):
        page.size(900, height)
        page.scheme(scheme)
        page.ask('Page.navigate', url='about:blank')
        page.go(f'file://{address}')
        page.wait('document.querySelector("main canvas, main .picture")')
        time.sleep(1)
        if name == 'timeline':
            x, y, width = page.run('(b => [b.left, b.top, b.width])(document.querySelector("canvas.lane").getBoundingClientRect())')
            page.drag(x + width * .3, y + 10, x + width * .5, y + 10)
            time.sleep(1)
        box = '(b => ({ x: b.x, y: b.y, width: b.width, height: b.height }))(document.querySelector(".graph").getBoundingClientRect())'
        page.picture(os.path.join(HERE, '..', 'doc', name + '.png'), **(page.run(box) if name == 'callgraph' else {}))


def main():
    kin = os.path.join(os.path.abspath(sys.argv[1]), 'kin')
    folder = os.path.abspath(os.environ.get('BENCH_DIR', os.path.join(sys.argv[1], 'bench')))
    os.makedirs(folder, exist_ok=True)
    there = record(kin, folder)
    path = lambda name: os.path.join(folder, name)
    quiet = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    subprocess.run([kin, 'diff', '--format=html', '-o', path('diff.html'), path('g++.kin'), path('g++-O2.kin')], **quiet)
    if '--pictures' in sys.argv:
        lua = os.path.join(HERE, '..', 'test', 'cases', '17-lua')
        for name, *data in (('g++', path('g++.kin')), ('redis', path('redis.kin')), ('lua', f'{lua}/prog', f'{lua}/gmon.out')):
            subprocess.run([kin, 'html', '-o', path(name + '.html'), *data], **quiet)
        with chromium.Chromium() as browser:
            take_pictures(browser.open(), path)
        return
    print('| recording | question | page | clicks | read there |\n|---|---|---|---|---|')
    with chromium.Chromium() as browser:
        page = browser.open()
        page.size(1400, 900)
        for number, name in enumerate(n for n in there if n != 'g++-O2'):
            subprocess.run([kin, 'html', '-o', path(name + '.html'), path(name + '.kin')], **quiet)
            for form, end in (('speedscope', '.speedscope.json'), ('pprof', '.pb.gz')):
                subprocess.run([kin, 'export', f'--to={form}', '-o', path(name + end), path(name + '.kin')], **quiet)
            shown = speedscope_page(folder, name)
            with Pprof(path(name + '.pb.gz'), 7821 + number) as served:
                for who, ways in (('kin', kin_ways(page, 'file://' + path(name + '.html'), name, 'file://' + path('diff.html'))),
                                  ('speedscope', speedscope_ways(page, shown) if shown else ()), ('pprof', pprof_ways(page, served) if served else ())):
                    try:
                        for question, clicks, seen in ways:
                            print(f'| {name} | {question} | {who} | {clicks} | {" ".join(seen.split())[:90]} |', flush=True)
                    except LookupError as e:
                        print(f'| {name} | | {who} | – | {str(e)[:90]} |', flush=True)


if __name__ == '__main__':
    main()

"""kin html: one file, whole, safe, and true: a browser shows the same figures as the reports.

    page.py BUILD
"""
import decimal
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
sys.path.insert(0, os.path.join(HERE, '..', 'perf'))
sys.path.insert(0, HERE)
import chromium
import made
from pages import Document, unpack
from tap import Tap

CASES = os.path.join(HERE, '..', 'cases')
CODE = os.path.join(HERE, '..', '..', 'src', 'page', 'html')
HOSTILE = ['</script><script>document.title="taken"</script>', '<!-- <b>', '"quoted" & \'so\'', '<img src=x onerror=1>',
           'caf\xe9 \u65e5\u672c', 'right\u202eleft', 'back\\slash\\u003c']


def rows(table):
    return [dict(zip(table['columns'], r)) for r in table['rows']]


def run(kin, folder, *args):
    return subprocess.run([kin, *args], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)


def write(tap, kin, folder, name, *args):
    path = os.path.join(folder, name)
    done = run(kin, folder, 'html', '-o', path, *args)
    tap.ok(done.returncode == 0 and not done.stderr, f'kin html {" ".join(map(os.path.basename, args))}', done.stderr)
    return open(path, encoding='utf-8').read() if os.path.exists(path) else ''


def test_file(tap, text, name):
    page = Document(text)
    tap.ok(len(page.scripts) == 2 and len(page.styles) == 1, f'{name}: data, code and style', str(page.tags))
    policy = [a.get('content', '') for t, a in page.tags if t == 'meta' and 'http-equiv' in a]
    tap.ok(policy and "default-src 'none'" in policy[0] and 'unsafe' not in policy[0], f'{name}: nothing may be fetched, and no other code run', str(policy))
    linked = [(t, a) for t, a in page.tags if {'src', 'href', 'srcset', 'data'} & set(a)]
    code = page.scripts[1].replace('http://www.w3.org/2000/svg', '')  # a name
    tap.ok(not linked and 'url(' not in text and '@import' not in text and '://' not in code, f'{name}: nothing outside is named', str(linked))
    return unpack(text)


# ---- the file

def test_counts(tap, kin, folder):
    case = os.path.join(CASES, '03-mutual')
    data = test_file(tap, write(tap, kin, folder, 'counts.html', f'{case}/prog', f'{case}/gmon.out'), 'gmon.out')
    tap.ok('columns' not in data, 'gmon.out: no stacks, no flame graph')
    tap.ok(any('estimated' in n for n in data['tables']['graph']['notes']), 'gmon.out: said to be estimated')
    flat = json.loads(run(kin, folder, 'flat', '-f', 'json', '-c', 'all', f'{case}/prog', f'{case}/gmon.out').stdout)
    mine = {(r['name'], round(r['self'], 6), r['calls']) for r in rows(data['tables']['functions'])}
    theirs = {(r['name'], round(r['self'], 6), r['calls']) for r in flat['rows']}
    tap.ok(mine == theirs and mine, 'the functions of kin flat', f'{mine}\n{theirs}')
    tap.ok(sum(r['kind'] == 'cycle' for r in rows(data['tables']['cycles'])) == 2, 'cycles are there')


def test_hostile(tap, kin, folder):
    with open(os.path.join(folder, 'hostile.folded'), 'w', encoding='utf-8') as f:
        for i, name in enumerate(HOSTILE):
            f.write(f'prog;main;{name.replace(";", ":")} {10 * (i + 1)}\n')
        f.write('prog;main;f;f;f 100\n')
    text = write(tap, kin, folder, 'stacks.html', 'hostile.folded')
    data = test_file(tap, text, 'stacks')
    tap.ok(set(HOSTILE) <= set(data['functions']['name']), 'names are what they were', str(data['functions']['name']))
    columns = data['columns']
    tap.ok(len(columns['node_up']) == len(columns['node_function']) and sum(columns['sample_weight']) == 380, 'nodes and samples', str(columns))
    shutil.copy(os.path.join(folder, 'hostile.folded'), os.path.join(folder, '@data@<b>.folded'))
    title = Document(write(tap, kin, folder, 'title.html', '@data@<b>.folded')).title
    tap.ok(title == '@data@<b>.folded', 'a title is a text', title)
    tap.ok(write(tap, kin, folder, 'again.html', 'hostile.folded') == text, 'the same data gives the same bytes')
    done = run(kin, folder, 'html', '-o', 'hostile.folded', 'hostile.folded')
    tap.ok(done.returncode == 2 and 'would replace' in done.stderr, 'data is not replaced', done.stderr)
    run(kin, folder, 'html', 'hostile.folded')
    tap.ok(os.path.exists(os.path.join(folder, 'profile.html')), 'it is called profile.html')


def test_size(tap, kin, folder):
    """A large one becomes no larger than it may, and functions lose nothing."""
    rand = random.Random(7)
    with open(os.path.join(folder, 'large.folded'), 'w') as f:
        for i in range(60000):
            tail = rand.choice(['memset', 'malloc;_int_malloc', 'malloc;_int_malloc;sysmalloc', 'free', f'leaf{i % 7}'])
            path = ';'.join(f'{level}{rand.randrange(13)}' for level in 'pqrst')
            f.write(f'prog;main;{path}{";again" if i % 5 == 0 else ""};{tail} 1\n')
    for name, size in (('whole', '50M'), ('large', '150K')):
        text = write(tap, kin, folder, f'{name}.html', f'--max-size={size}', 'large.folded')
        data = test_file(tap, text, name)
        tap.ok((data['left_out'] > 0) == (name == 'large') and (name == 'whole' or 75000 < len(text) <= 150 << 10),
               f'{name}: frames are left out of one that would be too large', f"{data['left_out']} {len(text)}")
        tap.ok(sum(data['columns']['sample_weight']) == 60000, f'{name}: all weights are there')
    with open(os.path.join(folder, 'thin.folded'), 'w') as f:
        f.write('prog;main;wide 1000000\nprog;main;thin 6\nprog;main;thinner 4\n')
    for name, size, left_out, lost in (('thin', [], 1, [4]), ('thin-whole', ['--max-size=50M'], 0, [])):
        data = test_file(tap, write(tap, kin, folder, f'{name}.html', *size, 'thin.folded'), name)
        columns = data['columns']
        tap.ok((data['left_out'], columns['lost_self'], columns['lost_total'], sum(columns['sample_weight'])) == (left_out, lost, lost, 1000010),
               f'{name}: frames that no screen shows are left out unless a size is given, and their functions lose nothing',
               f"{data['left_out']} {columns}")


def test_folders(tap, kin, folder):
    """Functions of one name in two libraries of one name are two functions, unless the libraries are in different profiles."""
    for i, paths in enumerate((('/old', '/new'), ('/old',), ('/new',))):
        with open(os.path.join(folder, f'libraries{i}.script'), 'w') as f:
            f.writelines(f'p 1 1.0: 5 cycles: \n\t10 work+0x1 ({path}/libx.so)\n\t20 main+0x1 (/bin/p)\n\n' for path in paths)
    functions = unpack(write(tap, kin, folder, 'libraries.html', 'libraries0.script'))['functions']
    tap.ok(functions['name'].count('work') == 2, 'functions of one name in libraries of one name are two', str(functions))
    run(kin, folder, 'diff', '--format=html', '-o', 'moved.html', 'libraries1.script', 'libraries2.script')
    names = unpack(open(os.path.join(folder, 'moved.html'), encoding='utf-8').read())['functions']['name']
    tap.ok(names.count('work') == 1, 'a library that is in another folder now is the same', str(names))


def test_programs(tap, kin, folder):
    """Functions of one name in two programs are two functions, as in kin flat."""
    for i, name in enumerate(('alpha', 'beta')):
        with open(os.path.join(folder, f'{name}.c'), 'w') as f:
            f.write('volatile long x;\nstatic __attribute__((noinline)) void work(void)\n{\n\tfor (long i = 0; i < %d00000000; i++)\n\t\tx += i;\n}\n'
                    'int main(void)\n{\n\twork();\n\treturn 0;\n}\n' % (i + 1))
        built = subprocess.run(['cc', '-O1', '-g', '-o', name, f'{name}.c'], cwd=folder, capture_output=True, text=True)
        run(kin, folder, 'run', '-q', '-o', f'{name}.kin', f'./{name}')
        if built.returncode or not os.path.exists(os.path.join(folder, f'{name}.kin')):
            tap.skip('two programs in a page', 'no compiler, or nothing could be measured')
            return
    data = unpack(write(tap, kin, folder, 'programs.html', 'alpha.kin', 'beta.kin'))
    functions = data['functions']
    where = [os.path.basename(data['objects'][o]) for n, o in zip(functions['name'], functions['object']) if n == 'work']
    tap.ok(sorted(where) == ['alpha', 'beta'], 'functions of one name in two programs are two', str(where))
    done = run(kin, folder, 'diff', '--format=html', '-o', 'builds.html', 'alpha.kin', 'beta.kin')
    names = unpack(open(os.path.join(folder, 'builds.html'), encoding='utf-8').read())['functions']['name']
    tap.ok(names.count('work') == 1, 'the programs of the two sides of a comparison are one', f'{names} {done.stderr}')


def test_code(tap, folder):
    page = Document(open(os.path.join(folder, 'stacks.html'), encoding='utf-8').read())
    size = len(page.scripts[1].encode()) + len(page.styles[0].encode())
    tap.ok(size <= 100000, 'code and style are 100 KB at most', str(size))
    if not shutil.which('node'):
        tap.skip('the code of the page', 'node is not installed')
        return
    for name in sorted(os.listdir(CODE)):
        if name.endswith('.js'):
            done = subprocess.run(['node', '--check', os.path.join(CODE, name)], capture_output=True, text=True)
            tap.ok(done.returncode == 0, f'{name} is well formed', done.stderr)
    with open(os.path.join(folder, 'page_code.js'), 'w', encoding='utf-8') as f:
        f.write(page.scripts[1])
    done = subprocess.run(['node', '--check', f.name], capture_output=True, text=True)
    tap.ok(done.returncode == 0, 'so is all of it, without its blanks', done.stderr)
    code = open(os.path.join(CODE, 'format.js'), encoding='utf-8').read() + \
        'console.log([99.96, 1, .99962, .9994, .0123456, 9.9962e-4, 9.994e-4, -9.9962e-7, 9.994e-7, 4e-9, 0].map(seconds).join("; "))'
    done = subprocess.run(['node', '-e', code], capture_output=True, text=True)
    tap.ok(done.stdout.strip() == '99.960 s; 1.000 s; 1.000 s; 999 ms; 12.3 ms; 1.00 ms; 999 µs; -1.00 µs; 999 ns; 4.00 ns; 0',
           'times are in a unit of which there are less than 1000', done.stdout + done.stderr)


# ---- the page in a browser

THREADS = 3
SECONDS = 4


def write_recording(folder):
    """Stacks of three threads over four seconds, with recursion, a cycle and a second event."""
    rand, out = random.Random(3), []
    where = {name: 0x1000 * (i + 1) for i, name in enumerate(
        ['main', 'work', 'parse', 'malloc', 'memset', 'ping', 'pong', 'fib', 'idle', 'hash', 'k_read'])}
    shapes = ['main;work;parse;malloc;memset', 'main;work;parse;memset', 'main;work;hash;memset', 'main;work;hash',
              'main;ping;pong;ping;pong', 'main;ping', 'main;fib;fib;fib;fib', 'main;fib;fib', 'main;idle', 'main;work;k_read']
    for i in range(1200):
        time, tid = 5 + i * SECONDS / 1200, 101 + i % THREADS
        stack = shapes[rand.randrange(len(shapes))] if tid != 103 or 6 <= time < 7 else 'main;idle'
        event = 'task-clock' if i % 7 else 'cache-misses'
        out.append(f'prog 100/{tid} {time:.6f}: {rand.randrange(900000, 1100000)} {event}:\n')
        for name in reversed(stack.split(';')):
            object_name = '[kernel.kallsyms]' if name == 'k_read' else '/lib/libheap.so' if name in ('malloc', 'memset') else '/bin/prog'
            out.append(f'\t {where[name]:x} {name}+0x0 ({object_name})\n')
        out.append('\n')
    out.append('# marker 6.000000: load\n# marker 7.500000: query <b>\n# marker 99.000000: late\n')
    path = os.path.join(folder, 'threads.script')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(out))
    return path


def reported(kin, folder, *args):
    """(self, total) of each function, by kin report; and the total that shares refer to."""
    done = run(kin, folder, 'report', '--format=json', '-s', 'sym', '-g', 'none', *args)
    found = json.loads(done.stdout)
    return {r['symbol']: (r['self_weight'] or 0, r['children_weight'] or 0) for r in found['rows'] if r.get('kind') in (None, 'plain')}


CELLS = '[...document.querySelectorAll("main tbody tr")].map(r => [...r.cells].map(c => (c.querySelector("a[href*=function]") || c).innerText.trim()))'


def shown(page, kept='Function'):
    """Rows of the first table: of each function (self, total) as texts."""
    page.run('[...document.querySelectorAll("main .more")].forEach(b => { while (!b.hidden) b.click(); })')
    heads = page.run('[...document.querySelector("main table").querySelectorAll("th")].map(h => h.innerText.trim().replace(/ [▾▴]$/, ""))')
    at = heads.index(kept)
    return {r[at]: r for r in page.run(CELLS) if len(r) == len(heads)}


def percent(part, whole):
    """As the page has it: halves are rounded up."""
    return f'{decimal.Decimal(100 * (part / whole)).quantize(decimal.Decimal(".01"), decimal.ROUND_HALF_UP)} %'


def settle(page):
    """Until all that the page does soon is done."""
    page.run('new Promise(done => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 30)), 30))')


def look(page, address):
    page.run(f'location.hash = {json.dumps(address)}')
    settle(page)


def compare(tap, page, name, want, whole):
    """Self and Children of all functions that are shown are those that were reported."""
    got = {f: (r[0], r[1]) for f, r in shown(page).items() if f}
    expected = {f: (percent(s, whole), percent(t, whole)) for f, (s, t) in want.items() if t}
    tap.ok(got == expected and got, name, f'{got}\n{expected}')


def test_numbers(tap, kin, folder, page, url):
    write_recording(folder)
    write(tap, kin, folder, 'threads.html', '--own=no', 'threads.script')
    page.go(url.format('threads.html') + '#functions')
    settle(page)
    all_of = {e: reported(kin, folder, '--event', e, 'threads.script') for e in ('task-clock', 'cache-misses')}
    whole = {e: sum(s for s, _ in of.values()) for e, of in all_of.items()}
    event = page.run('document.querySelector("#filters select").value')
    other = next(e for e in all_of if e != event)
    compare(tap, page, f'functions of {event}: each number is that of kin report', all_of[event], whole[event])
    look(page, f'#functions?e={other}')
    compare(tap, page, f'functions of {other}', all_of[other], whole[other])
    # A stretch of time, and some threads; shares still refer to the whole.
    look(page, '#functions?t=1-2')
    compare(tap, page, 'functions in a stretch of time', reported(kin, folder, '--event', event, '--time', '6,6.9999995', 'threads.script'), whole[event])
    threads = page.run('location.hash = "#timeline", new Promise(done => setTimeout(() => done([...document.querySelectorAll("main th label")].map(e => e.innerText.trim())), 300))')
    tap.ok(sorted(threads) == ['prog 101', 'prog 102', 'prog 103'], 'threads are rows', str(threads))
    page.click_on(f'document.querySelectorAll("main th input")[{threads.index("prog 103")}]')
    settle(page)
    address = page.run('location.hash')
    look(page, '#functions?' + address.split('?')[1] + '&t=1-2')
    compare(tap, page, 'functions of a thread in a stretch of time', reported(
        kin, folder, '--event', event, '--thread', '103', '--time', '6,6.9999995', 'threads.script'), whole[event])
    look(page, '#functions?' + address.split('?')[1] + '&t=1-2&rel=1')
    part = reported(kin, folder, '--event', event, '--thread', '103', '--time', '6,6.9999995', 'threads.script')
    compare(tap, page, 'the same as shares of the part', part, sum(s for s, _ in part.values()))
    # Of a library, alone and in a stretch of time.
    look(page, '#functions')
    library = page.run('(o => [...o.options].find(x => x.textContent === "libheap.so").value)(document.querySelectorAll("#filters select")[1])')
    page.run(f'(e => {{ e.value = "{library}"; e.dispatchEvent(new Event("change")); }})(document.querySelectorAll("#filters select")[1])')
    settle(page)
    compare(tap, page, 'functions of samples in a library', reported(kin, folder, '--event', event, '--object', 'libheap.so', 'threads.script'), whole[event])
    tap.ok(page.run('location.hash') == f'#functions?o={library}', 'a library is in the address', page.run('location.hash'))
    look(page, f'#functions?o={library}&t=1-2')
    compare(tap, page, '... in a stretch of time', reported(kin, folder, '--event', event, '--object', 'libheap.so', '--time', '6,6.9999995', 'threads.script'), whole[event])
    test_relatives(tap, kin, folder, page, event)
    test_search(tap, page, all_of[event], whole[event], event)


def test_relatives(tap, kin, folder, page, event):
    """Callers and callees of each function are the same as in kin graph."""
    graph = json.loads(run(kin, folder, 'graph', '-f', 'json', '--event', event, '-d', 'threads.script').stdout)
    total = graph['properties']['total']
    groups = {}
    for r in graph['rows']:
        groups.setdefault(r['group'], []).append(r)
    plain = lambda name: re.sub(r' <cycle \d+>$', '', name)
    for group in groups.values():
        head = next((r for r in group if r.get('kind') == 'function'), None)
        if not head:
            continue
        name = plain(head['name'])
        look(page, '#functions')
        page.run(f'[...document.querySelectorAll("main td.name a")].find(a => a.textContent === {json.dumps(name)}).click()')
        settle(page)
        got = page.run('[...document.querySelectorAll("main h2")].filter(h => /^Called by|^Calls/.test(h.textContent)).map(h => '
                       '[...h.nextElementSibling.querySelectorAll("tbody tr")].map(r => [r.cells[r.cells.length - 1].querySelector("div").title, '
                       'r.cells[0].innerText.trim()]))')
        for k, kind in enumerate(('caller', 'callee')):
            want = {plain(r['name']): percent((r['self'] or 0) + (r['children'] or 0), total) for r in group
                    if r.get('kind') == kind and (r['self'] or r['children']) and plain(r['name']) != name}
            have = {n: s for n, s in got[k] if n != name and n != '<spontaneous>'} if len(got) > k else {}
            want.pop('<spontaneous>', None)
            tap.ok(have == want, f'{kind}s of {name}', f'{have}\n{want}')


def test_search(tap, page, want, whole, event):
    """A search states the share of the time, however often a name is on a stack."""
    look(page, '#flame?q=memset')
    said = page.run('document.getElementById("matched").textContent')
    tap.ok(said == f'{percent(want["memset"][1], whole)} have it', "a search: 'memset'", said)
    look(page, '#flame?q=' + '%2F%5E(ping%7Cpong)%24%2F')
    said = page.run('document.getElementById("matched").textContent')
    tap.ok(said == f'{percent(want["ping"][1], whole)} have it', 'a search by an expression', said)
    look(page, '#flame?q=%2F(%2F')
    said = page.run('document.getElementById("matched").textContent')
    tap.ok('no regular expression' in said, 'what is no expression is called so', said)


def test_left_out(tap, kin, folder, page, url):
    """The sums include frames that were left out of the file."""
    want = reported(kin, folder, 'large.folded')
    whole = sum(s for s, _ in want.values())
    for name in ('whole', 'large'):
        page.go(url.format(f'{name}.html') + '#functions')
        settle(page)
        compare(tap, page, f'{name}: functions are those of kin report', want, whole)
        look(page, '#flame?q=memset')
        said = page.run('document.getElementById("matched").textContent')
        tap.ok(said == f'{percent(want["memset"][1], whole)} have it', f"{name}: a search for 'memset'", said)
    look(page, '#flame?q=malloc')
    said = page.run('document.getElementById("matched").textContent')
    low, high = [float(x) for x in re.findall(r'[\d.]+(?= %)', said)]
    truth = 100 * want['malloc'][1] / whole
    tap.ok(low - .005 <= truth <= high + .005, 'of several names left out the bounds are said', f'{said} {truth}')


def write_stacks_of_others(folder, name, samples, depth):
    """Random stacks of own code, libraries and the kernel, with recursion."""
    rand = random.Random(11)
    places = [(f'{kind}{i}', 0x1000 * at + 0x40 * i, path) for at, (kind, path, n) in enumerate(
        (('own', '/opt/app/prog', 9), ('sort', '/usr/lib/libsort.so', 7), ('copy', '/usr/lib/libc.so.6', 7), ('enter', '[kernel.kallsyms]', 3)), 1)
        for i in range(n)]
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
        for i in range(samples):
            own, others, kernel = places[:9], places[9:-3], places[-3:]
            users = own + others if rand.random() < .9 else others
            stack = [rand.choice(kernel)] * (rand.random() < .2) + [rand.choice(users) for _ in range(rand.randrange(1, depth))]
            f.write(f'prog 7/7 {5 + i / 1000:.6f}: {rand.randrange(1, 2000)} {rand.choice(("cpu-clock", "faults"))}:\n')
            f.writelines(f'\t{address:x} {function}+0x0 ({path})\n' for function, address, path in stack)
            f.write('\n')


OWN = 'document.querySelector("#filters label[aria-keyshortcuts=o] input")'


def test_own(tap, kin, folder, page, url):
    """The page folds the code of others as kin report does, in the browser, with all that it can select."""
    own = ['--own=/opt/app', '--foreign=/usr/lib']
    write_stacks_of_others(folder, 'others.script', 3000, 12)
    write_stacks_of_others(folder, 'others-large.script', 20000, 6)
    data = test_file(tap, write(tap, kin, folder, 'others.html', *own, '--max-size=50M', 'others.script'), 'own code')
    large = unpack(write(tap, kin, folder, 'others-large.html', *own, '--max-size=210K', 'others-large.script'))
    tap.ok(large['left_out'] > 1000 and not data['left_out'], 'own code: frames are left out of the large one', f"{large['left_out']} {data['left_out']}")
    for name, options, address in (
            ('others', [], ''), ('others', ['--event', 'faults'], 'e=faults'), ('others', ['--time', '6,6.9999995'], 't=1-2'),
            ('others', ['--object', 'libc.so.6'], f'o={[os.path.basename(o) for o in data["objects"]].index("libc.so.6")}'),
            ('others-large', [], ''), ('others-large', ['--event', 'faults'], 'e=faults')):
        event = options if options[:1] == ['--event'] else ['--event', 'cpu-clock']
        page.go(url.format(f'{name}.html') + f'#functions?{address or "e=cpu-clock"}' + ('' if 'e=' in address else '&e=cpu-clock'))
        settle(page)
        whole = sum(s for s, _ in reported(kin, folder, *event, f'{name}.script').values())
        for mine, chosen in ((True, own), (False, ['--own=no'])):
            compare(tap, page, f'{name}, {" ".join(options) or "all"}: {"own code" if mine else "all functions"} as in kin report',
                    reported(kin, folder, *chosen, *event, *(options if event != options else []), f'{name}.script'), whole)
            page.key('o')
            settle(page)
    page.go(url.format('others.html'))
    settle(page)
    first = page.run(CELLS)
    begins = page.run(f'[{OWN}.checked, document.querySelector("main h2 + p").textContent]')
    tap.ok(begins[0] and begins[1].startswith('Own code') and all(re.match(r'own\d|\[', r[4]) for r in first if len(r) > 4), 'the summary leads with own code', f'{begins} {first}')
    page.click_on(OWN)
    settle(page)
    tap.ok(page.run('location.hash') == '#summary?own=0' and any(r[4].startswith('sort') for r in page.run(CELLS) if len(r) > 4), 'a click shows all functions', page.run('location.hash'))
    for options, name, begins in ((['--own=no'], 'others.script', False), (own, 'others.script', True), ([], 'others.script', True), ([], 'hostile.folded', False),
                                  (['--own'], 'hostile.folded', True)):
        run(kin, folder, 'html', '-o', 'begins.html', *options, name)
        found = unpack(open(os.path.join(folder, 'begins.html'), encoding='utf-8').read())['own']['begins']
        tap.ok(found == begins, f'{name} {" ".join(options)}: the page begins {"with own code" if begins else "with all functions"}', str(found))


PROGRAM_WITH_LIBRARY = '''#include <stdio.h>
#include <stdlib.h>
#include "lib.h"
__attribute__((noipa)) unsigned inlines(unsigned n) {
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += mix(i); /* inlined */
	return s;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noipa)) int sorts(int n) {
	int *a = malloc(n * sizeof(*a));
	for (int i = 0; i < n; i++)
		a[i] = i * 7919 % 10007;
	qsort(a, n, sizeof(*a), order); /* called */
	return a[n / 2];
}
int main(void) { return printf("%u %d\\n", inlines(400000), sorts(400000)) < 0; }
'''


def test_own_program(tap, kin, folder, page, url):
    """The same of a real program: functions of others are inlined, and call back."""
    os.makedirs(os.path.join(folder, 'lib'), exist_ok=True)
    with open(os.path.join(folder, 'lib', 'lib.h'), 'w') as f:
        f.write('static inline __attribute__((always_inline)) unsigned mix(unsigned x) { for (int i = 0; i < 100; i++) x = x * 1664525 + 1013904223; return x; }\n')
    with open(os.path.join(folder, 'calls.c'), 'w') as f:
        f.write(PROGRAM_WITH_LIBRARY)
    built = subprocess.run(['cc', '-O2', '-g', '-Ilib', '-o', 'calls', 'calls.c'], cwd=folder, capture_output=True)
    run(kin, folder, 'record', '-q', '-o', 'calls.kin', './calls')
    if built.returncode or not os.path.exists(os.path.join(folder, 'calls.kin')):
        tap.skip('own code of a program', 'no compiler, or nothing could be measured')
        return
    foreign = '--foreign=' + os.path.join(folder, 'lib')
    for inlines in ([], ['--no-inline']):
        run(kin, folder, 'html', '-o', 'calls.html', foreign, *inlines, 'calls.kin')
        page.go(url.format('calls.html') + '#functions')
        settle(page)
        want = reported(kin, folder, foreign, *inlines, 'calls.kin')
        compare(tap, page, f'own code of a program {" ".join(inlines)}', want, sum(s for s, _ in want.values()))
    run(kin, folder, 'html', '-o', 'calls.html', foreign, 'calls.kin')
    page.go(url.format('calls.html'))
    settle(page)
    paid = page.run('Object.fromEntries([...document.querySelectorAll("main .paid")].map(p => [p.parentNode.firstChild.textContent, p.textContent]))')
    tap.ok(paid.get('inlines', '').startswith('mix ') and paid.get('sorts', '').startswith('qsort'), 'functions say what they pay for', str(paid))
    lines = page.run('[...[...document.querySelectorAll("main h2")].find(h => h.textContent === "Lines of own code").nextSibling.querySelectorAll("tr")].map(r => '
                     '[parseFloat(r.innerText), r.cells[2].innerText.trim()])')
    want = run(kin, folder, 'report', foreign, 'calls.kin').stdout.split('Lines of own code')[1]
    for share, text in lines[:2]:
        tap.ok(f'{share:.2f}%' in want and text in want, f'lines of own code are those of kin report: {text}', f'{lines}\n{want}')


def without_recursion(stack, _):
    path, outermost = [], {}
    for f in stack:
        path = outermost[f] = outermost.get(f, path + [f])
    return path


REWRITES = {
    'x': lambda stack, f: None if f in stack else stack,
    'm': lambda stack, f: [x for x in stack if x != f],
    'r': lambda stack, f: stack[stack.index(f):] if f in stack else None,
    'c': without_recursion,
}


def test_rewrites(tap, kin, folder, page, url):
    """Functions that are left out, merged or made the root, and recursion that is folded: the times are those of such stacks."""
    rand, stacks, shapes = random.Random(5), [], 'abcdefg'
    for _ in range(400):
        stacks.append((['main'] + [rand.choice(shapes) for _ in range(rand.randrange(9))], rand.randrange(1, 500)))
    with open(os.path.join(folder, 'rewrites.folded'), 'w') as f:
        f.writelines(f'{";".join(stack)} {weight}\n' for stack, weight in stacks)
    data = unpack(write(tap, kin, folder, 'rewrites.html', '--max-size=50M', 'rewrites.folded'))
    number, whole = {n: i for i, n in enumerate(data['functions']['name'])}, sum(w for _, w in stacks)
    for chain in ('xc', 'mc', 'rc', 'ca', 'xb.ma', 'ma.rb', 'rb.mc.xd.c'):
        left = stacks
        for kind, name in [(step[0], step[1:]) for step in chain.split('.')]:
            left = [(REWRITES[kind](stack, name), weight) for stack, weight in left]
            left = [(stack, weight) for stack, weight in left if stack is not None]
        want = {}
        for stack, weight in left:
            for f in set(stack):
                self, total = want.get(f, (0, 0))
                want[f] = (self + weight * (f == stack[-1]), total + weight)
        page.go(url.format('rewrites.html') + '#functions?tr=' + '.'.join(s[0] + (str(number[s[1:]]) if s[0] != 'c' else '') for s in chain.split('.')))
        settle(page)
        compare(tap, page, f'stacks rewritten by {chain}', want, whole)
    chips = page.run('[...document.querySelectorAll(".chip")].map(c => c.firstChild.textContent)')
    tap.ok(chips == ['from b on', 'c in its callers', 'without d', 'recursion folded'], 'what rewrites them is named, and can be taken away', str(chips))
    page.go(url.format('rewrites.html') + '#flame')
    settle(page)
    page.run('document.querySelector("canvas").focus()')
    for key in ('ArrowDown', 'ArrowDown'):
        page.key(key)
    name = page.run(FRAME).split(' – ')[0]
    page.key('m')
    settle(page)
    tap.ok(page.run('location.hash') == f'#flame?tr=m{number[name]}' and page.run('document.querySelector(".chip").innerText').startswith(f'{name} in its callers'),
           'a key of the flame graph rewrites them', page.run('location.hash'))


TREE_ROWS = '[...document.querySelectorAll(".tree tbody tr[aria-level]")].map(r => [r.ariaLevel, r.ariaExpanded, r.cells[r.cells.length - 1].querySelector("a").textContent, r.cells[0].innerText.trim()])'


def test_tree(tap, kin, folder, page, url):
    """Rows of the call tree open by mouse and keys, in both directions, and have the times of such stacks."""
    stacks = {'main;read;parse;copy': 40, 'main;read;parse': 20, 'main;read': 10, 'main;write;copy': 25, 'main': 5}
    with open(os.path.join(folder, 'tree.folded'), 'w') as f:
        f.writelines(f'{stack} {weight}\n' for stack, weight in stacks.items())
    write(tap, kin, folder, 'tree.html', 'tree.folded')
    page.go(url.format('tree.html') + '#tree')
    settle(page)
    rows = page.run(TREE_ROWS)
    tap.ok(rows == [['1', 'true', 'main', '100.00 %'], ['2', 'true', 'read', '70.00 %'], ['3', 'true', 'parse', '60.00 %'], ['4', None, 'copy', '40.00 %'],
                    ['2', 'false', 'write', '25.00 %']], 'the call tree is open along the way with most time', str(rows))
    page.run('document.querySelector(".tree tbody tr").focus()')
    for key in ('ArrowDown', 'ArrowLeft', 'ArrowDown', 'ArrowRight', 'ArrowRight'):
        page.key(key)
    rows = page.run(TREE_ROWS)
    tap.ok([r[2] for r in rows] == ['main', 'read', 'write', 'copy'] and page.run('document.activeElement.innerText.trim()').endswith('copy'),
           'arrow keys close and open rows', f'{rows} {page.run("document.activeElement.innerText")}')
    page.key('ArrowLeft')
    page.click_on('document.activeElement.querySelector("button")')
    tap.ok(len(page.run(TREE_ROWS)) == 3, 'so does a click', str(page.run(TREE_ROWS)))
    look(page, '#tree?how=inverted')
    rows = page.run(TREE_ROWS)
    tap.ok([r[1:] for r in rows] == [['false', 'copy', '65.00 %'], ['false', 'parse', '20.00 %'], ['false', 'read', '10.00 %'], [None, 'main', '5.00 %']],
           'inverted, it begins where the time was spent', str(rows))
    page.run('document.querySelector(".tree tbody tr").focus()')
    page.key('ArrowRight')
    rows = page.run(TREE_ROWS)
    tap.ok([r[2:] for r in rows[1:3]] == [['parse', '40.00 %'], ['write', '25.00 %']], 'and opens to the callers', str(rows))
    page.key('Enter')
    settle(page)
    tap.ok(page.run('document.querySelector("h2").textContent') == 'copy', 'Enter shows the function')
    with open(os.path.join(folder, 'broad.folded'), 'w') as f:
        f.writelines(f'main;leaf{i:03} {100 + i}\n' for i in range(120))
    write(tap, kin, folder, 'broad.html', 'broad.folded')
    page.go(url.format('broad.html') + '#tree')
    settle(page)
    page.run('document.querySelector(".tree tbody tr").focus()')
    page.key('ArrowRight')
    before = len(page.run(TREE_ROWS))
    more = page.run('document.querySelector(".tree .more").textContent')
    page.click_on('document.querySelector(".tree .more")')
    tap.ok((before, more.split()[0], len(page.run(TREE_ROWS))) == (41, '80', 121), 'many rows open by two clicks', f'{before} {more} {len(page.run(TREE_ROWS))}')


# The text that the page shows for the selected frame of the flame graph: its name, then its figures, which stand before it.
FRAME = '(f => `${f.children[1].textContent} – ${f.firstChild.textContent}`)(document.getElementById("frame"))'


def test_axis(tap, kin, folder, page, url):
    """The scale of the timeline; the wheel zooms, and rows, marks and what is chosen follow."""
    page.go(url.format('threads.html') + '#timeline')
    settle(page)
    marks = '[...document.querySelectorAll(".axis span")].map(s => [s.textContent, Math.round(s.getBoundingClientRect()[s.className ? "right" : "left"] - s.parentNode.getBoundingClientRect().left)])'
    width = page.run('document.querySelector(".axis").clientWidth')

    def is_scale(found, start, size):
        return len(found) > 2 and all(abs((float(text.split()[0]) - start) / size * width - x) < 3 for text, x in found)
    found, end = page.run(marks), SECONDS - SECONDS / 1200
    tap.ok(is_scale(found, 0, end), 'the scale has its marks where their times are', f'{found} {width}')
    x, y = page.run('(b => [b.left + b.width / 2, b.top + 9])(document.querySelector(".lane").getBoundingClientRect())')
    for _ in range(6):
        page.mouse('mouseWheel', x, y, deltaX=0, deltaY=-100, modifiers=2)
    settle(page)
    start, stop = map(float, re.search(r'v=([\d.]+)-([\d.]+)', page.run('location.hash')).groups())
    tap.ok(abs(start + stop - end) < .02 and 1 < (stop - start) / end / .8 ** 6 < 1.1, 'Ctrl and the wheel zoom around the pointer', f'{start} {stop}')
    tap.ok(is_scale(page.run(marks), start, stop - start), 'the scale follows', str(page.run(marks)))
    left, right = page.run('(b => [b.left, b.right])(document.querySelector(".lane").getBoundingClientRect())')
    page.drag(left + (right - left) * .25, y, left + (right - left) * .75, y)
    settle(page)
    chosen = [float(v) for v in re.search(r't=([\d.]+)-([\d.]+)', page.run('location.hash')).groups()]
    size = stop - start
    tap.ok(abs(chosen[0] - start - size / 4) < .02 and abs(chosen[1] - stop + size / 4) < .02, 'what is chosen is where it was dragged', f'{chosen} {start} {stop}')
    look(page, '#timeline?t=1-1.5')
    page.run('[...document.querySelectorAll("main a")].find(a => a.textContent === "Zoom to it").click()')
    settle(page)
    tap.ok('v=1-1.5' in page.run('location.hash') and is_scale(page.run(marks), 1, .5), 'a link zooms to it', page.run('location.hash'))


def test_open(tap, kin, folder):
    """kin html --open: the user's browser, or a line that says why not."""
    browser, seen = os.path.join(folder, 'browser'), os.path.join(folder, 'seen')
    with open(browser, 'w') as f:
        f.write(f'#!/bin/sh\necho "$@" >{seen}.new\nmv {seen}.new {seen}\n')
    os.chmod(browser, 0o755)
    page = os.path.join(os.path.realpath(folder), 'open.html')
    bare = {k: v for k, v in os.environ.items() if k not in ('DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER', 'CI')}
    for given, want, said in (({'DISPLAY': ':9', 'BROWSER': browser}, page, 'opened by'), ({'WAYLAND_DISPLAY': 'w', 'BROWSER': f'/no/such:{browser} --at=%s'}, f'--at={page}', 'opened by'),
                              ({'BROWSER': browser}, None, 'no display'), ({'DISPLAY': ':9', 'BROWSER': browser, 'CI': '1'}, None, 'no display'),
                              ({'DISPLAY': ':9', 'BROWSER': '/no/such'}, None, '$BROWSER names cannot be started'), ({'DISPLAY': ':9', 'PATH': '/nowhere'}, None, 'xdg-open is not installed')):
        if os.path.exists(seen):
            os.remove(seen)
        done = subprocess.run([kin, 'html', '--open', '-o', 'open.html', 'hostile.folded'], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**bare, **given})
        end = time.monotonic() + 20
        while want and not os.path.exists(seen) and time.monotonic() < end:
            time.sleep(.02)
        got = open(seen).read().strip() if os.path.exists(seen) else None
        tap.ok(done.returncode == 0 and got == want and said in done.stderr and done.stderr.count('\n') == 1, f'--open: {said} ({" ".join(given)})', f'{got} {done.stderr}')
    done = run(kin, folder, 'html', '--open', '-o', '-', 'hostile.folded')
    tap.ok(done.returncode == 2 and 'a file' in done.stderr and not done.stdout, '--open of standard output is refused', done.stderr)


def test_source_url(tap, kin, folder, page, url):
    """Links to a forge: of lines and functions, escaped, and only to the web."""
    source = os.path.join(folder, 'a b#&.c')
    with open(source, 'w') as f:
        f.write('volatile long x;\nint main(void)\n{\n\tfor (long i = 0; i < 200000000; i++)\n\t\tx += i;\n\treturn 0;\n}\n')
    built = subprocess.run(['cc', '-O1', '-g', '-o', 'forge', source], cwd=folder, capture_output=True)
    run(kin, folder, 'run', '-q', '-o', 'forge.kin', './forge')
    if built.returncode or not os.path.exists(os.path.join(folder, 'forge.kin')):
        tap.skip('links to a forge', 'no compiler, or nothing could be measured')
        return
    with open(os.path.join(folder, '.kinconfig'), 'w') as f:
        f.write('[code]\n\tsource-url = http://forge.example/set/{file}\n')
    whole = '/'.join(map(urllib.parse.quote, source.lstrip('/').split('/')))
    home = {**os.environ, 'HOME': folder}
    for options, want in ((['--source-url=https://forge.example/x/{file}#L{line}'], f'https://forge.example/x/{whole}#L5'),
                          (['--source-url=https://forge.example/x/{file}#L{line}', f'--own={folder}'], 'https://forge.example/x/a%20b%23%26.c#L5'),
                          (['--source-url=https://forge.example/x/{file}', '--own=/somewhere'], None), ([], f'http://forge.example/set/{whole}')):
        subprocess.run([kin, 'html', '-o', 'forge.html', *options, 'forge.kin'], cwd=folder, env=home, capture_output=True)
        page.go(url.format('forge.html'))
        settle(page)
        found = set(page.run('[...document.querySelectorAll(".forge")].map(a => a.href)'))
        tap.ok(want in found if want else not found, f'a line on the forge: {" ".join(options).replace(folder, "FOLDER")}', f'{found} {want}')
    for bad in ('javascript:alert(1)//{file}', 'https://forge.example/', 'https://forge.example/ {file}', 'data:{file}'):
        done = run(kin, folder, 'html', f'--source-url={bad}', '-o', 'bad.html', 'forge.kin')
        tap.ok(done.returncode == 2 and 'https://HOST' in done.stderr and not os.path.exists(os.path.join(folder, 'bad.html')), f'{bad} is refused', done.stderr)
    with open(os.path.join(folder, '.kinconfig'), 'w') as f:
        f.write('[code]\n\tsource-url = javascript:{file}\n')
    done = subprocess.run([kin, 'html', '-o', 'forge.html', 'forge.kin'], cwd=folder, env=home, capture_output=True, text=True)
    tap.ok('code.source-url' in done.stderr and 'source_url' not in unpack(open(os.path.join(folder, 'forge.html'), encoding='utf-8').read()), 'so it is as a setting', done.stderr)


def test_left_out_of_library(tap, kin, folder, page, url):
    """Samples whose function was left out of the file still count for their library."""
    rand = random.Random(9)
    with open(os.path.join(folder, 'libraries.script'), 'w') as f:
        for i in range(20000):
            f.write(f'prog 1/1 [000] {i / 1000:.6f}: 1000000 cpu-clock:\n')
            library = rand.choice(('/lib/liba.so', '/lib/libb.so'))
            f.write(f'\t{0x1000 + rand.randrange(60):x} leaf{rand.randrange(60)}+0x0 ({library})\n')
            f.write(''.join(f'\t{0x9000 + level * 64:x} {level}{rand.randrange(9)}+0x0 (/bin/prog)\n' for level in range(5)) + '\t1 main+0x0 (/bin/prog)\n\n')
    data = test_file(tap, write(tap, kin, folder, 'libraries.html', '--max-size=150K', 'libraries.script'), 'libraries')
    tap.ok(data['left_out'] > 1000, 'libraries: frames are left out', str(data['left_out']))
    page.go(url.format('libraries.html') + '#functions')
    for number, path in enumerate(data['objects']):
        name, whole = os.path.basename(path), 20000 * 1000000
        want = reported(kin, folder, '--object', name, 'libraries.script')
        if not want:
            continue
        look(page, f'#flame?o={number}')
        page.run('document.querySelector("canvas").focus()')
        page.key('Home')
        said, share = page.run(FRAME), percent(want['main'][1], whole)
        tap.ok(share in said, f'{name}: all of its samples', f'{share}: {said}')
        look(page, f'#functions?o={number}')
        got = {f: (r[0], r[1]) for f, r in shown(page).items() if f}
        exact = {f: (percent(s, whole), percent(t, whole)) for f, (s, t) in want.items()}
        wrong = {f: v for f, v in got.items() if not v[0].startswith('≥') and v != exact.get(f)}
        least = {f: v for f, v in got.items() if v[0].startswith('≥') and float(v[1].split()[1]) > float(exact[f][1].split()[0])}
        tap.ok(got and not wrong and not least, f'{name}: what is said to be exact is, and the rest is no more', f'{wrong} {least}')


def test_flame(tap, kin, folder, page, url):
    page.go(url.format('threads.html') + '#flame')
    settle(page)
    page.run('document.querySelector("canvas").focus()')
    for key, begins in (('ArrowDown', 'main – '), ('ArrowDown', 'work – '), ('Enter', 'work – '), ('ArrowDown', 'parse – ')):
        page.key(key)
        tap.ok(page.run(FRAME).startswith(begins), f'flame graph: {key}', page.run(FRAME))
    zoomed = page.run('location.hash')
    tap.ok('z=' in zoomed, 'the zoom is in the address', zoomed)
    page.run('history.back()')
    settle(page)
    tap.ok(page.run('location.hash') == '#flame' and page.run(FRAME).startswith('all – '), 'Back zooms out', page.run(FRAME))
    page.run('history.forward()')
    settle(page)
    tap.ok(page.run('location.hash') == zoomed and page.run(FRAME).startswith('work – '), 'and forward in again', page.run(FRAME))
    page.key('Escape')
    page.key('Escape')
    tap.ok(page.run(FRAME).startswith('all – '), 'Escape zooms out', page.run(FRAME))
    x, y, width = page.run('(() => { const b = document.querySelector("canvas").getBoundingClientRect(); return [b.left, b.top, b.width]; })()')
    page.click(x + width / 2, y + 18 + 9)
    settle(page)
    tap.ok(page.run(FRAME).startswith('main – '), 'a click zooms', page.run(FRAME))
    page.mouse('mouseMoved', x + 40, y + 2 * 18 + 9)
    tip = page.run('(() => { const t = document.querySelector(".tip"); return t.hidden ? "" : t.innerText; })()')
    tap.ok(tip.startswith('work'), 'a tooltip', tip)
    tips = set()
    for part in range(20):
        page.mouse('mouseMoved', x + width * (part + .5) / 20, y + 2 * 18 + 9)
        tips.add(page.run('document.querySelector(".tip").innerText'))
    own = [t for t in tips if t.endswith(' in it itself')]
    tap.ok(own and not [t for t in own if not re.search(r'\n[\d,.]+ m?s in it itself$', t)], 'a tooltip of a frame with time of its own', str(tips))
    for how, first in (('inverted', 'idle'), ('folded', 'main'), ('time', 'prog 101'), ('down', 'main')):
        look(page, f'#flame?how={how}')
        page.run('document.querySelector("canvas").focus()')
        page.key('ArrowDown')
        said = page.run(FRAME)
        tap.ok(said.startswith(first) or how == 'time' and said.startswith('prog 10'), f'flame graph: {how}', said)
        for key in ('ArrowRight', 'ArrowDown', 'Enter'):
            page.key(key)
        said, zoomed = page.run(FRAME), page.run('location.hash')
        page.go(url.format('stacks.html'))
        look(page, '#flame')
        page.go(url.format('threads.html') + zoomed)
        settle(page)
        page.run('document.querySelector("canvas").focus()')
        page.key('Home')
        tap.ok('z=' in zoomed and page.run(FRAME) == said, f'... its zoom is found again by its address: {zoomed}', f'{said}\n{page.run(FRAME)}')
    look(page, '#functions')
    page.run('[...document.querySelectorAll("main td.name a")].find(a => a.textContent === "memset").click()')
    settle(page)
    page.run('[...document.querySelectorAll("main a")].find(a => a.textContent === "Flame graph of its callers").click()')
    settle(page)
    page.run('document.querySelector("canvas").focus()')
    page.key('ArrowDown')
    page.key('ArrowDown')
    said = page.run(FRAME)
    tap.ok(said.startswith('malloc – '), 'callers of a function', said)


def test_timeline(tap, kin, folder, page, url):
    page.go(url.format('threads.html') + '#timeline')
    settle(page)
    rows = json.loads(run(kin, folder, 'report', '--format=json', '-s', 'tid', '-g', 'none', '--event=task-clock', 'threads.script').stdout)['rows']
    times = {r['tid'].split(':')[0]: f"{r['self_weight'] / 1e6:.0f} ms" for r in rows}
    got = {name.split(' ')[-1]: time for name, time in page.run('[...document.querySelectorAll(".time tbody tr")].map(r => [r.cells[0].innerText.trim(), r.cells[1].innerText])')}
    tap.ok(got == times and len(got) == THREADS, "a thread's CPU time is without other events", f'{got} {times}')
    x, y, width, height = page.run('(() => { const b = document.querySelector("canvas.lane").getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()')
    page.drag(x + width * .25, y + height / 2, x + width * .5, y + height / 2)
    settle(page)
    address = page.run('location.hash')
    chosen = re.search(r't=([\d.]+)-([\d.]+)', address)
    tap.ok(chosen and abs(float(chosen[1]) - 1) < .05 and abs(float(chosen[2]) - 2) < .05 and 'th=' in address, 'a stretch of a thread by the mouse', address)
    page.run('history.back()')
    settle(page)
    tap.ok(page.run('location.hash') == '#timeline', 'Back takes it away', page.run('location.hash'))
    page.run('document.querySelector("canvas.lane").focus()')
    page.key('+')
    settle(page)
    first = page.run('location.hash')
    page.key('ArrowRight')
    settle(page)
    second = page.run('location.hash')
    tap.ok('t=' in first and 't=' in second and first != second, 'a stretch by keys', f'{first} {second}')
    page.key('Escape')
    settle(page)
    tap.ok('t=' not in page.run('location.hash'), 'Escape: all of the time', page.run('location.hash'))
    markers = dict(page.run('[...document.querySelectorAll(".strip > *")].map(e => [e.textContent, e.getBoundingClientRect()[e.className === "before" ? "right" : "left"]])'))
    places = {'load': x + width * 1 / SECONDS, 'query <b>': x + width * 2.5 / SECONDS, 'late': x + width}
    tap.ok(set(markers) == set(places) and all(abs(markers[m] - places[m]) < 4 for m in places), 'markers stand where they were', f'{markers} {places}')
    page.click_on('document.querySelector(".strip a")')
    settle(page)
    tap.ok(page.run('location.hash') == '#timeline?t=1-2.5', 'a marker: the time to the next one', page.run('location.hash'))
    listed = page.run('[...document.querySelectorAll("main details li")].map(e => e.textContent)')
    tap.ok(listed == ['load, from 1.000 s to 2.500 s', 'query <b>, from 2.500 s to 3.997 s', 'late, at 3.997 s'], 'and all are listed', str(listed))


# ---- the call graph

LAYOUT = """
// Graphs of up to 80 nodes: trees, cycles, a hub, and what chance makes. What the layout must hold for each.
let seed = 5;
const random = n => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0, seed / 4294967296 * n), bad = [];
let naive = 0, least = 0;
for (let round = 0; round < 150; round++) {
    const n = 1 + Math.floor(random(80)), room = 300 + random(1200), known = new Set(), arcs = [];
    const sizes = Array.from({ length: n }, () => ({ w: 60 + random(200), h: 25 + random(40) }));
    for (let k = Math.floor(random(3 * n)); k > 0; k--) {
        const from = Math.floor(random(round % 3 ? n : 2)), to = Math.floor(random(n));
        if (from !== to && !known.has(from * n + to))
            arcs.push({ from, to, weight: random(1) });
        known.add(from * n + to);
    }
    const focus = round % 2 ? Math.floor(random(n)) : undefined, plan = layers(sizes, arcs, room, focus), say = text => bad.push(`${round}: ${text}`);
    const left = i => plan.x[i] - sizes[i].w / 2, top = i => plan.y[i] - sizes[i].h / 2, used = [];
    for (let i = 0; i < n; i++) {
        used[plan.layer[i]] = (used[plan.layer[i]] || []).concat(i);
        if (left(i) < -.01 || left(i) + sizes[i].w > plan.width + .01 || top(i) < -.01 || top(i) + sizes[i].h > plan.height + .01)
            say("a node outside");
        for (let k = 0; k < i; k++)
            if (left(i) < left(k) + sizes[k].w && left(k) < left(i) + sizes[i].w && top(i) < top(k) + sizes[k].h && top(k) < top(i) + sizes[i].h)
                say(`nodes ${i} and ${k} overlap`);
    }
    if (Array.from(used).some(row => !row))
        say("a layer without a node");
    if (used.some(row => row && row.length > 1 && row.reduce((sum, i) => sum + sizes[i].w, 0) > room))
        say("a layer too wide");
    arcs.forEach((arc, k) => {
        const way = plan.ways[k], [first, last] = [way[0], way[way.length - 1]], down = plan.layer[arc.to] > plan.layer[arc.from];
        if (plan.layer[arc.to] === plan.layer[arc.from] || (arc.to === focus && !down && !known.has(focus * n + arc.from)))
            say("a caller not above");
        const y = (i, lower) => plan.y[i] + (lower ? 1 : -1) * sizes[i].h / 2;
        if (Math.abs(first[1] - y(arc.from, down)) > .01 || Math.abs(last[1] - y(arc.to, !down)) > .01 ||
            Math.abs(first[0] - plan.x[arc.from]) > sizes[arc.from].w / 2 || Math.abs(last[0] - plan.x[arc.to]) > sizes[arc.to].w / 2)
            say("an arc that does not begin and end at its nodes");
        // Between two layers a way is inside of the gap; across a layer it is straight, and through no node.
        for (let s = 1; s < way.length; s++)
            for (let i = 0; i < n; i++)
                if (way[s][0] === way[s - 1][0] && i !== arc.from && i !== arc.to && way[s][0] > left(i) && way[s][0] < left(i) + sizes[i].w &&
                    Math.min(way[s][1], way[s - 1][1]) < top(i) + sizes[i].h && Math.max(way[s][1], way[s - 1][1]) > top(i))
                    say("an arc through a node");
    });
    const links = without_cycles(n, arcs, focus), items = items_of(sizes, links, layers_of(sizes, links, room));
    naive += crossings_of(first_order(items));
    least += crossings_of(ordered(items));
}
console.log(JSON.stringify({ bad: bad.slice(0, 10), naive, least }));
"""


def test_layout(tap):
    if not shutil.which('node'):
        tap.skip('the layout of call graphs', 'node is not installed')
        return
    code = open(os.path.join(CODE, 'layers.js'), encoding='utf-8').read()
    done = subprocess.run(['node', '-'], input=code + LAYOUT, capture_output=True, text=True)
    found = json.loads(done.stdout) if done.stdout else {}
    tap.ok(found and not found['bad'], 'layouts: no overlap, no arc through a node, callers above callees but in cycles', str(found) + done.stderr)
    tap.ok(found and found['least'] < .6 * found['naive'], 'layouts: less than 60 % of the crossings of an order that is not sought', str(found))


PICTURE = """({
    nodes: [...document.querySelectorAll(".picture .node")].map(e => [e.querySelector("title").textContent.split("\\n")[0], (b => [b.x, b.y, b.width, b.height])(e.querySelector(".box").getBBox())]),
    calls: [...document.querySelectorAll(".picture .call > title")].map(e => e.textContent),
    guessed: document.querySelectorAll(".picture .guess").length, width: Number(document.querySelector(".picture").getAttribute("width")),
    focus: (e => e && e.querySelector("title").textContent.split(":")[0])(document.activeElement.closest(".node")),
})"""
LEAST_NODE, LEAST_CALL = .005, .001


def first_number(cell):
    """3 of "3 of 7", 10 of "3 + 7"."""
    return cell['of'][0] if isinstance(cell, dict) and 'of' in cell else sum(cell['plus']) if isinstance(cell, dict) else cell or 0


def drawn(kin, folder, *args):
    """Nodes and calls that kin graph has, as the page words them: {text: share}, {text: (caller, callee, share or None)}."""
    graph = json.loads(run(kin, folder, 'graph', '-f', 'json', '-c', 'all', *args).stdout)
    total, nodes, calls, names, above = graph['properties']['total'], {}, {}, {}, []
    plain = lambda name: re.sub(r' <cycle \d+>$', '', name)
    time = lambda r: None if r['self'] is None else r['self'] + r['children']
    times = lambda r: f', {first_number(r["called"]):,} call{"" if first_number(r["called"]) == 1 else "s"}' if first_number(r['called']) else ''
    rows = graph['rows']
    for r in rows:
        if r['kind'] == 'function':
            cycle = f', in cycle {r["cycle"]}' if r['cycle'] else ''
            names[r['index']] = text = f'{plain(r["name"])}: Children {percent(time(r), total)}, Self {percent(r["self"], total)}{times(r)}{cycle}'
            nodes[text] = time(r) / total
    for r in rows:
        if r['kind'] in ('function', 'cycle'):
            for caller in above if r['kind'] == 'function' else []:
                if caller['index'] in names and caller['index'] != r['index']:
                    share = None if time(caller) is None else time(caller) / total
                    text = f'{plain(caller["name"])} \u2192 {plain(r["name"])}: {"within a cycle" if share is None else percent(time(caller), total)}{times(caller)}'
                    calls[text] = (names[caller['index']], names[r['index']], share)
            above = []
        elif r['kind'] == 'caller':
            above.append(r)
        else:
            above = []
    return nodes, calls


def compare_graph(tap, page, name, want, size):
    """The picture has the functions with most time, and all calls between them that are not too small."""
    nodes, calls = want
    got = page.run(PICTURE)
    have = [n for n, _ in got['nodes']]
    worth = sorted((s for s in nodes.values() if s >= LEAST_NODE), reverse=True)[:size]
    tap.ok(sorted((round(nodes.get(n, -1), 6) for n in have), reverse=True) == [round(s, 6) for s in worth] and worth,
           f'{name}: {len(have)} functions with the figures of kin graph', f'{set(have) - set(nodes)}\n{have}\n{nodes}')
    between = {c for c, (a, b, share) in calls.items() if a in have and b in have and (share is None or share >= LEAST_CALL)}
    tap.ok(set(got['calls']) == between and between, f'{name}: {len(between)} calls with those of kin graph',
           f'{set(got["calls"]) - between}\n{between - set(got["calls"])}')
    boxes = [b for _, b in got['nodes']]
    over = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]]
    tap.ok(not over, f'{name}: no box over another one', str(over))
    return got


def node(name):
    return f'[...document.querySelectorAll(".picture .node")].find(e => e.querySelector("title").textContent.startsWith({json.dumps(name + ":")}))'


def test_graph(tap, kin, folder, page, url):
    page.go(url.format('threads.html') + '#graph')
    settle(page)
    event = page.run('document.querySelector("#filters select").value')
    got = compare_graph(tap, page, 'call graph', drawn(kin, folder, '--event', event, '-d', 'threads.script'), 40)
    tap.ok(not got['guessed'], 'call graph: measured times are drawn through')
    grounds = page.run('[...document.querySelectorAll(".cluster")].map(c => [c.firstChild.textContent, c.querySelectorAll("rect").length, c.querySelectorAll("path").length])')
    tap.ok(grounds == [['Cycle 1', 2, 2]], 'call graph: a cycle has one ground, of its functions and calls', str(grounds))
    look(page, '#graph?t=1-2')
    nodes = {n for n, _ in page.run(PICTURE)['nodes']}
    part, whole = reported(kin, folder, '--event', event, '--time', '6,6.9999995', 'threads.script'), sum(s for s, _ in reported(kin, folder, '--event', event, 'threads.script').values())
    tap.ok(nodes and all(any(n.startswith(f'{f}: Children {percent(t, whole)}, Self {percent(s, whole)}') for n in nodes) for f, (s, t) in part.items() if t >= LEAST_NODE * whole),
           'call graph of a stretch of time', f'{nodes}\n{part}')
    for case, size, guessed in (('03-mutual', 40, True), ('17-lua', 80, True)):
        path = os.path.join(CASES, case)
        write(tap, kin, folder, f'{case}.html', f'{path}/prog', f'{path}/gmon.out')
        page.go(url.format(f'{case}.html') + f'#graph?n={size}')
        settle(page)
        got = compare_graph(tap, page, case, drawn(kin, folder, f'{path}/prog', f'{path}/gmon.out'), size)
        tap.ok(got['guessed'] == len(got['calls']), f'{case}: estimated times are dashed', str(got['guessed']))
    test_graph_keys(tap, page, url)
    page.go(url.format('stacks.html') + '#graph')
    settle(page)
    names = {n.split(': Children')[0] for n, _ in page.run(PICTURE)['nodes']}
    tap.ok(set(HOSTILE) < names and page.run('document.title') == 'hostile.folded', 'call graph: hostile names are texts', str(names))
    test_large_graph(tap, kin, folder, page, url)


def test_graph_keys(tap, page, url):
    page.go(url.format('threads.html') + '#graph')
    settle(page)
    stops = page.run('document.querySelectorAll(".picture [tabindex=\'0\']").length')
    tap.ok(stops == 1, 'one stop of Tab in the picture', str(stops))
    page.run('document.querySelector(".picture [tabindex=\'0\']").focus()')
    for key, want in (('ArrowDown', 'work'), ('ArrowDown', 'parse'), ('ArrowUp', 'work')):
        page.key(key)
        tap.ok(page.run(PICTURE)['focus'] == want, f'call graph: {key}', page.run(PICTURE)['focus'])
    on = page.run('[...document.querySelectorAll(".picture .on > title")].map(t => t.textContent.split(":")[0])')
    tap.ok(on and all('work' in c for c in on) and page.run('document.getElementById("frame").textContent').startswith('work: Children'), 'its calls are marked, and it is described', str(on))
    page.key('ArrowRight')
    beside = page.run(PICTURE)['focus']
    page.key('ArrowLeft')
    tap.ok(beside != 'work' and page.run(PICTURE)['focus'] in ('work', beside), 'left and right in a layer', beside)
    width = page.run(PICTURE)['width']
    page.key('+')
    tap.ok(page.run(PICTURE)['width'] > width * 1.2, 'plus zooms in')
    page.key('-')
    tap.ok(abs(page.run(PICTURE)['width'] - width) < 1, 'and minus out')
    x, y = page.run('(b => [b.left + b.width / 2, b.top + 40])(document.querySelector(".graph").getBoundingClientRect())')
    for modifiers, more in ((0, False), (2, True)):
        page.ask('Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=0, deltaY=-100, modifiers=modifiers)
        settle(page)
        tap.ok((page.run(PICTURE)['width'] > width * 1.2) == more, f'the wheel {"with Ctrl zooms" if more else "does not zoom"}', str(page.run(PICTURE)['width']))
    # The focus: by a click, then in other views, away by Escape.
    page.click_on(node('parse'))
    settle(page)
    address = page.run('location.hash')
    tap.ok(re.fullmatch(r'#graph\?f=\d+', address) and page.run('document.querySelector(".here title").textContent').startswith('parse:'), 'a click sets the focus', address)
    names = {n.split(':')[0] for n, _ in page.run(PICTURE)['nodes']}
    tap.ok(names == {'main', 'work', 'parse', 'malloc', 'memset'}, 'and draws the neighbourhood of two calls', str(names))
    page.run('(e => { e.value = "1"; e.dispatchEvent(new Event("change")); })([...document.querySelectorAll(".tools select")][1])')
    settle(page)
    names = {n.split(':')[0] for n, _ in page.run(PICTURE)['nodes']}
    tap.ok(names == {'work', 'parse', 'malloc', 'memset'}, 'or of one', str(names))
    hidden = page.run('[...document.querySelectorAll(".picture .hidden")].map(e => e.getAttribute("aria-label"))')
    tap.ok('+3 more callers and callees of work' in hidden, 'what is hidden is counted', str(hidden))
    page.run(node('work') + '.focus()')
    page.key('m')
    settle(page)
    names = {n.split(':')[0] for n, _ in page.run(PICTURE)['nodes']}
    tap.ok(names == {'main', 'work', 'parse', 'malloc', 'memset', 'hash', 'k_read'} and 'more=' in page.run('location.hash'), 'and shown by more', str(names))
    page.run('[...document.querySelectorAll("#views a")].find(a => a.textContent === "Flame graph").click()')
    settle(page)
    tap.ok(page.run('document.getElementById("matched").textContent').endswith('% have parse'), 'the flame graph marks the function in focus', page.run('document.getElementById("matched").textContent'))
    page.run('[...document.querySelectorAll("#views a")].find(a => a.textContent === "Call graph").click()')
    settle(page)
    page.run(node('parse') + '.focus()')
    page.key('Enter')
    settle(page)
    tap.ok(page.run('document.querySelector("h2").textContent') == 'parse', 'Enter at the function in focus: its callers and callees')
    page.run('[...document.querySelectorAll("#views a")].find(a => a.textContent === "Call graph").click()')
    settle(page)
    tap.ok(page.run('document.querySelector(".here title").textContent').startswith('parse:'), 'which the call graph begins with')
    page.run(node('parse') + '.focus()')
    page.key('Escape')
    settle(page)
    tap.ok(page.run('location.hash') == '#graph', 'Escape takes the focus away', page.run('location.hash'))
    page.key('/')
    for key in 'mem':
        page.key(key)
    found = page.run('[...document.querySelectorAll(".found title")].map(e => e.textContent.split(":")[0])')
    tap.ok(found == ['memset'], 'a search marks', str(found))
    page.key('Enter')
    settle(page)
    tap.ok('f=' in page.run('location.hash') and page.run('document.querySelector(".here title").textContent').startswith('memset:'), 'and Enter sets the focus')
    look(page, '#graph')
    page.media('print')
    width, room, high = page.run('(b => [b.width, innerWidth, document.querySelector(".graph").clientHeight >= b.height - 1])(document.querySelector(".picture").getBoundingClientRect())')
    page.media('')
    tap.ok(0 < width <= room and high, 'the whole picture is printed', f'{width} {room} {high}')


def blocks_run(page):
    """How many blocks of code ran since the last call: work, without a clock."""
    return sum(r['count'] for s in page.ask('Profiler.takePreciseCoverage')['result'] for f in s['functions'] for r in f['ranges'])


def test_large_graph(tap, kin, folder, page, url):
    """Ten thousand functions: at most 80 of them, and little work."""
    rand = random.Random(4)
    with open(os.path.join(folder, 'many.folded'), 'w') as f:
        for i in range(10000):
            f.write(f'main;hub{i % 20};mid{rand.randrange(40)};shared{rand.randrange(20)};leaf{i} {rand.randrange(90, 100)}\n')
    write(tap, kin, folder, 'many.html', '--max-size=20M', 'many.folded')
    page.ask('Profiler.enable')
    page.ask('Profiler.startPreciseCoverage', callCount=True, detailed=True)  # counts in what is compiled from now on
    page.go(url.format('many.html') + '#timeline')
    settle(page)
    for address, most in (('#graph', 40), ('#graph?n=80', 80), ('#graph?n=100000', 80)):
        blocks_run(page)
        look(page, address)
        work, got = blocks_run(page), page.run(PICTURE)
        tap.ok(len(got['nodes']) == most and got['calls'], f'many functions, {address}: {most} are drawn', str(len(got['nodes'])))
        tap.ok(1e5 < work < 3e6, f'... with the work of less than half a second: {work / 1e6:.1f} million blocks of code', str(work))
    page.ask('Profiler.disable')
    boxes = [b for _, b in got['nodes']]
    tap.ok(not any(a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3] for i, a in enumerate(boxes) for b in boxes[:i]),
           '... without overlap')
    page.run('document.querySelector(".picture .hidden").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))')
    settle(page)
    tap.ok('more=' in page.run('location.hash') and len(page.run(PICTURE)['nodes']) == 80, '... and never more than 80', page.run('location.hash'))


PROGRAM = """
volatile unsigned long sink;
__attribute__((noinline)) void spin(int n) { for (int i = 0; i < n; i++) { sink += i; if (sink % 7 == 3) sink ^= i; } }
int main(int argc, char **argv) { (void)argv; for (int i = 0; i < 4000; i++) spin(argc * 20000); }
"""


def test_machine_code(tap, kin, folder, page, url):
    """Instructions with arrows from jumps to where they go, their lines, and the way back."""
    with open(os.path.join(folder, 'spin.c'), 'w') as f:
        f.write(PROGRAM)
    built = subprocess.run(['cc', '-O1', '-g', '-o', 'spin', 'spin.c'], cwd=folder, capture_output=True, text=True)
    run(kin, folder, 'run', '-q', '-o', 'spin.kin', './spin')
    if built.returncode or not os.path.exists(os.path.join(folder, 'spin.kin')):
        tap.skip('instructions in the page', 'no compiler, or nothing could be measured')
        return
    write(tap, kin, folder, 'spin.html', 'spin.kin')
    page.go(url.format('spin.html') + '#code')
    settle(page)
    page.run('[...document.querySelectorAll("main a")].find(a => a.textContent === "spin").click()')
    settle(page)
    places = page.run("""(() => {
        const rows = [...document.querySelectorAll("main tbody tr")], texts = rows.map(r => r.querySelector(".code").textContent);
        const address = rows.map(r => r.querySelector(".name.soft").textContent), top = document.querySelector(".jumps").getBoundingClientRect().top;
        const height = rows[0].getBoundingClientRect().height, at = y => Math.floor((y - 0) / height);
        return { texts, address, arrows: [...document.querySelectorAll(".jumps path")].map(p => {
            const [, from, to] = /^M[\\d.]+ ([\\d.]+)H[\\d.-]+V([\\d.]+)H/.exec(p.getAttribute("d"));
            return [at(from), at(to)];
        }), fits: Math.abs(rows[0].getBoundingClientRect().top - top) < 4 };
        })()""")
    jumps = {(i, places['address'].index(m[1])) for i, t in enumerate(places['texts']) for m in [re.match(r'j\w+ +0x0*([0-9a-f]+)', t)]
             if m and m[1] in places['address']}
    tap.ok(jumps and {tuple(a) for a in places['arrows']} == jumps and places['fits'], 'an arrow for each jump, from its row to where it goes', f'{jumps} {places}')
    page.run('[...document.querySelectorAll("main tbody td:last-child a")][0].click()')
    settle(page)
    seen = page.run('[document.querySelector("h2").textContent.split("/").pop(), document.querySelector("tr.self .code").textContent.slice(0, 30)]')
    tap.ok(seen[0] == 'spin.c' and 'noinline' in seen[1], 'its line leads to the source', str(seen))
    page.run('document.querySelector("tr.self a").click()')
    settle(page)
    tap.ok(page.run('document.querySelector("h2").textContent') == 'spin', 'and the line back')


INLINED = """
volatile unsigned long sink;
static inline __attribute__((always_inline)) void add(int i) { sink += i; }
static inline __attribute__((always_inline)) void step(int i) {
	add(i);
	if (sink % 7 == 3)
		sink ^= i;
}
__attribute__((noinline)) void spin(int n) {
	for (int i = 0; i < n; i++)
		step(i);
}
int main(int argc, char **argv) { (void)argv; spin(argc); }
"""


def write_hits(folder):
    """Writes a recording with known places of its samples: all instructions of a function, two events, three threads."""
    with open(os.path.join(folder, 'inlined.c'), 'w') as f:
        f.write(INLINED)
    program = os.path.join(folder, 'inlined')
    built = subprocess.run(['cc', '-O1', '-g', '-no-pie', '-o', program, 'inlined.c'], cwd=folder, capture_output=True, text=True)
    code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], capture_output=True, text=True) if shutil.which('objdump') else built
    if built.returncode or code.returncode or '<spin>:' not in code.stdout:
        return None
    addresses = [int(a, 16) for a in re.findall(r'^ *([0-9a-f]+):', code.stdout.split('<spin>:')[1].split('\n\n')[0], re.M)]
    rand, r = random.Random(1), made.Recording(made.BASIC, events=2)
    for tid in (101, 102, 103):
        r.comm(100, 'inlined', tid)
    page = min(addresses) & ~0xfff
    r.mmap(100, page, 0x2000, program, page & 0xffff)
    for i in range(1200):
        r.sample(100, rand.choice(addresses), rand.randrange(900000, 1100000), tid=101 + i % 3, event=0 if i % 7 else 1, step=SECONDS * 10**9 // 1200)
    r.write(os.path.join(folder, 'hits.data'))
    return addresses


def test_hits(tap, kin, folder, page, url):
    """Lines and instructions of a stretch, a thread and an event are the same as in kin annotate with the same filters."""
    if not write_hits(folder):
        tap.skip('lines and instructions of a part', 'no compiler, or no objdump: NOT TESTED')
        return
    write(tap, kin, folder, 'hits.html', 'hits.data')
    annotated = lambda *args: json.loads(run(kin, folder, 'annotate', '-f', 'json', '-c', 'all', *args, 'hits.data').stdout)['rows']
    events = ('cpu-clock', 'task-clock')
    whole = {e: sum(s for s, _ in reported(kin, folder, '--event', e, 'hits.data').values()) for e in events}
    start = 1 + 4e-6 + SECONDS / 1200  # time of the first sample, which comes after four records of a microsecond
    span = ['--time', f'{start + 1.001:.6f},{start + 2.001:.6f}']  # between samples, which are 3.3 ms apart
    numbers = {}
    for name, keys, filters, event in (('all', '', [], events[0]), ('the other event', 'e=task-clock', [], events[1]),
                                       ('a thread', 'th=TH', ['--thread', '102'], events[0]),
                                       ('a stretch', 't=1.001-2.001', span, events[0]),
                                       ('a stretch of a thread, of the other event', 't=1.001-2.001&th=TH&e=task-clock', ['--thread', '102', *span], events[1])):
        page.go(url.format('hits.html') + '#code')
        settle(page)
        numbers = dict(page.run('[...document.querySelectorAll("main td a")].map(a => [a.textContent, a.hash.replace(/[?].*/, "")])'))
        threads = [t[2] for t in unpack(open(os.path.join(folder, 'hits.html'), encoding='utf-8').read())['threads']]
        look(page, f'{numbers["spin"]}?{keys.replace("TH", str(threads.index(102)))}')
        got = page.run('[...document.querySelectorAll("main tbody tr")].map(r => [r.querySelector(".name.soft").textContent, r.cells[0].innerText.trim(), '
                       'r.querySelector(".share") ? [...r.querySelectorAll(".n")].find((c, i) => i && /^[0-9]+$/.test(c.innerText)).innerText : ""])')
        want = [[r['address'][2:], percent(r['self'] * 1e9, whole[event]) if r['self'] else '', str(r['samples']) if r['self'] else '']
                for r in annotated('--asm', '--event', event, *filters) if r['kind'] == 'plain']
        tap.ok(got == want and any(g[1] for g in got), f'instructions of {name}: the shares and samples of kin annotate --asm', f'{got}\n{want}')
        file = next(v for k, v in numbers.items() if k.endswith('inlined.c'))
        look(page, f'{file}?{keys.replace("TH", str(threads.index(102)))}')
        got = page.run('[...document.querySelectorAll("main tbody tr")].filter(r => r.querySelector(".share")).map(r => '
                       '[r.querySelector(".n.soft").textContent, r.cells[0].innerText.trim()])')
        want = [[str(r['line']), percent(r['self'] * 1e9, whole[event])] for r in annotated('--event', event, *filters) if r['self'] and r['line']]
        tap.ok(got == want and got, f'lines of {name}: the shares of kin annotate', f'{got}\n{want}')
    look(page, numbers['spin'])
    seen = page.run('[...document.querySelectorAll("main tbody td:last-child")].map(c => c.title)')
    tap.ok('add < step' in seen and '' in seen, 'the functions inlined at each instruction', str(seen))
    size = os.path.getsize(os.path.join(folder, 'hits.html')) >> 10
    small = os.path.join(folder, 'small.html')
    for kib in range(size, size // 2, -1):
        run(kin, folder, 'html', '-o', small, f'--max-size={kib}K', 'hits.data')
        data = unpack(open(small, encoding='utf-8').read())
        if not len(data['columns']['place_line']):
            break
    tap.ok(not len(data['columns']['place_line']) and not data['left_out'], 'where there is no room, samples are not told apart by instruction', str(kib))
    page.go(url.format('small.html') + f'{numbers["spin"]}?t=1-2')
    settle(page)
    tap.ok('of the whole recording' in page.run('document.querySelector("main").innerText'), '... and the page says so')


class Visitor:
    """Somebody with a mouse and a keyboard, whose clicks are counted."""

    def __init__(self, page, url):
        self.page, self.clicks = page, 0
        page.go(url)
        settle(page)

    def click(self, script):
        self.clicks += 1
        self.page.click_on(script)
        settle(self.page)

    def link(self, text, within='main'):
        self.click(f'[...document.querySelectorAll("{within} a")].find(a => a.textContent === {json.dumps(text)})')

    def view(self, name):
        self.link(name, '#views')

    def choose(self, value):
        """From a list: one click opens it, one takes the entry."""
        self.clicks += 2
        self.page.run(f'(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event("change")); }})(document.querySelector("#filters select"))')
        settle(self.page)

    def type(self, *keys):
        for key in keys:
            self.page.key(key)
        settle(self.page)

    def drag(self, row, start, end):
        self.clicks += 1
        x, y, width, height = self.page.run(f'(b => [b.left, b.top, b.width, b.height])(document.querySelectorAll("canvas.lane")[{row}].getBoundingClientRect())')
        self.page.drag(x + width * start, y + height / 2, x + width * end, y + height / 2)
        settle(self.page)

    def row(self, n=0):
        """The texts of a table's first row, below the n-th heading."""
        return self.page.run(f'[...document.querySelectorAll("main table")[{n}].querySelector("tbody tr").cells].map(c => c.innerText.trim())')

    def has(self, text):
        return text in self.page.run('document.querySelector("main").innerText')


def test_questions(tap, kin, folder, page, url):
    """Answers the questions of doc/views.md, in as many clicks as the page says."""
    told = {}
    with open(os.path.join(HERE, '..', '..', 'doc', 'views.md'), encoding='utf-8') as f:
        for line in f:
            found = re.match(r'\| (.*\?)[^|]* \|.* \| ([0-9, ]+) \|$', line)
            if found:
                told.setdefault(found[1], [int(n) for n in found[2].split(',')])  # the first table is kin's

    def answered(question, visitor, good):
        tap.ok(good and visitor.clicks in told.get(question, []), f'{question} {visitor.clicks}',
               f'{told.get(question)} clicks; {page.run("location.hash")}\n{page.run("document.body.innerText")[:1500]}')

    threads, hits = url.format('threads.html'), url.format('hits.html')
    v = Visitor(page, threads)
    want = reported(kin, folder, '--event', page.run('document.querySelector("#filters select").value'), 'threads.script')
    answered('Where is the time spent?', v, max(want, key=lambda f: want[f][0]) in v.row())
    v = Visitor(page, threads)
    v.type('/', *'malloc', 'Enter')
    answered('Who calls malloc most?', v, v.has('Called by (1)') and 'parse' in v.row(0))
    v = Visitor(page, threads)
    v.view('Functions')
    v.type('/', *'m', 'Enter')
    tap.ok(page.run('document.querySelector("h2").textContent') == max((f for f in want if 'm' in f), key=lambda f: want[f][0]), 'Enter: the first function found')
    share = percent(want['malloc'][1], sum(s for s, _ in want.values()))
    v = Visitor(page, threads)
    v.type('/', *'/^malloc$/')
    answered('How much of the time has malloc on the stack, by whatever name?', v, f': {share} have one on the stack' in page.run('document.querySelector(".tools").innerText'))
    tap.ok(v.row()[4] == 'malloc' and page.run('location.hash').endswith('q=%2F%5Emalloc%24%2F'), '... and they are listed', str(v.row()))
    v = Visitor(page, threads)
    v.view('Flame graph')
    v.type('/', *'/malloc/')
    tap.ok(page.run('document.getElementById("matched").textContent').startswith(share), '... as the flame graph says')
    v = Visitor(page, threads)
    v.view('Call graph')
    calls = page.run(PICTURE)['calls']
    answered('Which calls does the time go along?', v, any(c.startswith('main \u2192 work: ') for c in calls))
    v.click(node('parse'))
    answered('Which calls does the time go along?', v, page.run('document.querySelector(".here title").textContent').startswith('parse:'))
    v = Visitor(page, threads)
    v.view('Timeline')
    v.drag(2, .5, .75)
    answered('What does thread 3 do between second 2 and 3?', v, re.search(r't=2\.?\d*-\d.*th=|th=.*t=2\.?\d*-\d|t=1\.99\d*-', page.run('location.hash')) and v.has('What was done there'))
    answered('In which order did it do that?', v, v.has('In the order of time') and page.run('(b => b.height > 30 && b.width > 300)(document.querySelector(".flame canvas").getBoundingClientRect())'))
    v.link('in the order of time')
    tap.ok('how=time' in page.run('location.hash') and 't=' in page.run('location.hash'), '... and for itself')
    v = Visitor(page, threads)
    v.view('Timeline')
    v.click('document.querySelector(".strip a")')
    answered('What was done between two moments that the program named?', v, 't=1-2.5' in page.run('location.hash'))
    v = Visitor(page, url.format('difference.html'))
    answered('What got slower, and is it chance?', v, v.has('Slower') and 'memset' in v.row())
    v = Visitor(page, threads)
    v.link('↻ Cycle 1')
    answered('Is this cycle real?', v, v.has('confirmed: sampled stacks go round it'))
    if os.path.exists(os.path.join(folder, 'hits.html')):
        v = Visitor(page, hits)
        v.click('document.querySelector("[aria-label=\\"Hottest lines\\"] a")')
        answered('Which line?', v, page.run('(r => r && r.querySelector(".share") && r.getBoundingClientRect().top < innerHeight)(document.querySelector("tr.self"))'))
        v = Visitor(page, hits)
        v.click('document.querySelector("[aria-label=\\"Hottest instructions\\"] a")')
        answered('Which instruction?', v, page.run('document.getElementById("hottest").getBoundingClientRect().top < innerHeight') and 'h=1' in page.run('location.hash'))
    with open(os.path.join(folder, 'waits.script'), 'w') as f:
        for i in range(20):
            f.write(f'prog 1/1 [000] {i}.5: 1000000 cpu-clock:\n\t401000 work+0x0 (/bin/prog)\n\n'
                    f'prog 1/1 [000] {i}.7: 1000000 blocked:\n\tffffffff81000000 schedule+0x0 ([kernel.kallsyms])\n\t402000 read_lock+0x0 (/lib/libc.so.6)\n'
                    f'\t402100 lock+0x0 (/lib/libc.so.6)\n\t403000 take_turn+0x0 (/bin/prog)\n\n')
    write(tap, kin, folder, 'waits.html', 'waits.script')
    v = Visitor(page, url.format('waits.html'))
    answered('Where does it wait, and for whom?', v, v.row(1) == ['100.00 %', '20.0 ms', 'prog 1', 'read_lock', 'take_turn'])
    v.link('take_turn')
    tap.ok('e=blocked' in page.run('location.hash') and v.has('100.00 %') and 'lock' in page.run('[...document.querySelectorAll("main table")].pop().innerText'),
           '... and its function, of that time', page.run('document.body.innerText'))
    v = Visitor(page, url.format('waits.html'))
    v.choose('blocked')
    tap.ok(v.row()[4].startswith('schedule') and not v.has('for whom'), 'of that event, it is the first table')


def test_print(tap, page, url):
    """A printed page has the view that was shown, without controls."""
    page.go(url.format('threads.html') + '#functions')
    settle(page)
    page.media('print')
    shown = page.run('["nav", ".tools", "#filters", "main table", "h1"].map(s => [s, [...document.querySelectorAll(s)].some(e => e.getClientRects().length)])')
    page.media('')
    tap.ok(dict(shown) == {'nav': False, '.tools': False, '#filters': False, 'main table': True, 'h1': True}, 'print', str(shown))


def test_shown(tap, kin, folder, page, url):
    """Names are shown as text; deep graphs; lists that Back restores; narrow screens."""
    page.go(url.format('stacks.html') + '#functions')
    settle(page)
    text = page.run('document.querySelector("main").innerHTML')
    tap.ok('&lt;img src=x onerror=1&gt;' in text and '<img' not in text and page.run('document.title') == 'hostile.folded', 'names are text', text[-3000:])
    with open(os.path.join(folder, 'deep.folded'), 'w') as f:
        f.write('main;' + ';'.join(f'level{i}' for i in range(4000)) + ' 50\nmain;other 10\n')
    write(tap, kin, folder, 'deep.html', 'deep.folded')
    page.size(1200, 800, 2)
    page.go(url.format('deep.html') + '#flame')
    settle(page)
    seen = page.run("""(async () => {
        const c = document.querySelector("canvas"), at = c.getContext("2d").getImageData(9, 9, 1, 1).data;
        for (let i = 0; i < 200; i++)
            c.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
        await new Promise(done => setTimeout(done, 100));
        const box = document.querySelector(".stuck").getBoundingClientRect();
        return `${at[3]} ${c.height < 5000} ${scrollY > 2000} ${box.top} ${document.querySelector("#frame b").textContent}`;
        })()""")
    tap.ok(seen == '255 true true 0 level198', 'thousands of frames deep: drawn, the frame at hand and its name in sight', seen)
    page.size(1200, 800)
    look(page, '#functions')
    tap.ok(page.run('document.querySelectorAll("tbody tr").length') == 300, 'a part of a long list')
    page.run('document.querySelector(".more").click()')
    tap.ok(page.run('document.querySelectorAll("tbody tr").length') == 1300, 'and more of it')
    page.key('/')
    for letter in 'LEVEL39':
        page.key(letter)
    page.run('document.querySelectorAll("th button")[1].click(), scrollTo(0, 300)')
    settle(page)
    page.run('document.querySelector("td.name a").click()')
    settle(page)
    there = page.run('document.querySelector("h2").textContent')
    page.run('history.back()')
    settle(page)
    seen = page.run('`${document.querySelector("main input").value} ${document.querySelectorAll("tbody tr").length} ${document.querySelectorAll("th")[1].ariaSort} ${scrollY}`')
    tap.ok(there.startswith('level39') and seen == 'LEVEL39 111 descending 300', '/ searches; Back finds the list as it was', f'{there} {seen}')
    for width in (360, 1200, 2560):
        page.size(width, 800)
        for scheme in ('light', 'dark'):
            page.scheme(scheme)
            for name, view in (*(('threads', v) for v in ('summary', 'functions', 'flame', 'timeline', 'function/2')),
                               *(('hits', v) for v in ('code', 'code/f0?t=1-2', 'code/s0'))):
                page.go(url.format(f'{name}.html') + f'#{view}')
                settle(page)
                fits = page.run('document.documentElement.scrollWidth <= innerWidth')
                if not fits or page.errors:
                    tap.ok(False, f'{view} fits {width} pixels', str(page.errors))
    tap.ok(True, 'all views in three widths and both schemes')
    page.size(360, 800)
    page.go(url.format('threads.html') + '#functions')
    settle(page)
    heads = page.run('[...document.querySelectorAll("th")].filter(h => getComputedStyle(h).display !== "none").map(h => h.textContent).join("; ")')
    tap.ok(heads == 'Self ▾; Children; Function', 'on a narrow screen the name is seen', heads)
    page.size(1200, 800)


def test_code_of_counts(tap, page, url):
    """A page of a histogram has times of functions, but not of instructions."""
    page.go(url.format('counts.html'))
    look(page, '#code')
    lists = page.run('[...document.querySelectorAll("main h2")].map(h => [h.textContent, h.nextElementSibling.querySelector("tbody td").innerText.trim()])')
    tap.ok(lists == [['Source files', '100.00 %'], ['Instructions of functions', '']], 'no share of instructions where none was measured', str(lists))
    look(page, '#code/f0')
    said = page.run('document.querySelector("main h2").nextElementSibling.innerText')
    tap.ok(said == 'prog', 'nor a hottest one', said)


def test_summary_of_folded(tap, kin, folder, page, url):
    """Stacks with nothing but weights, and a profile without stacks."""
    for name, weight, figures in (('some', 7, '7\nin all\n7\nsamples\n1\nfunctions'), ('none', 0, '0\nin all\n0\nsamples\n0\nfunctions')):
        with open(os.path.join(folder, f'{name}.folded'), 'w') as f:
            f.write(f'prog;main {weight}\n')
        run(kin, folder, 'html', '-o', f'{name}.html', f'{name}.folded')
        page.go(url.format(f'{name}.html'))
        settle(page)
        big, text = page.run('[document.querySelector("main .big").innerText, document.querySelector("main").innerText]')
        tap.ok(re.sub(r'\n+', '\n', big) == figures, f'{name}: numbers of samples', big)
        tap.ok('estimated' not in text, f'{name}: nothing is estimated where no calls were counted', text)
        tap.ok('What stands out' not in text, f'{name}: of few samples nothing stands out', text)
    with open(os.path.join(folder, 'many.folded'), 'w') as f:
        f.write('prog;main;<b>parse;malloc 300\nprog;main 700\n')
    run(kin, folder, 'html', '-o', 'many.html', 'many.folded')
    page.go(url.format('many.html'))
    settle(page)
    said = page.run('[...document.querySelectorAll("main li")].map(x => x.textContent)')
    tap.ok(said == ['allocating and freeing memory takes 30 % of the time (± 3): for <b>parse 30 %'], 'what stands out is a sentence', said)


def test_twins(tap, kin, folder, page, url):
    """Static functions of one name in two files are two, each with its own calls. One of them may have no samples."""
    twin = '%s volatile long x;\nstatic __attribute__((noipa)) void twin(long n) { for (long i = 0; i < n; i++) x += i; }\n' \
           'void %s(void) { for (int i = 0; i < %d; i++) twin(%d); }\n'
    for name, text in (('one', twin % ('', 'one', 2000, 60000)), ('two', twin % ('extern', 'two', 3000, 30000)),
                       ('three', twin % ('extern', 'three', 5, 1)),
                       ('twins', 'void one(void), two(void), three(void);\nint main(void) { one(); two(); three(); return 0; }\n')):
        with open(os.path.join(folder, f'{name}.c'), 'w') as f:
            f.write(text)
    built = subprocess.run(['cc', '-O1', '-g', '-pg', '-o', 'twins', 'twins.c', 'one.c', 'two.c', 'three.c'], cwd=folder, capture_output=True)
    run(kin, folder, 'run', '-q', '-o', 'twins.kin', './twins')
    if built.returncode or not os.path.exists(os.path.join(folder, 'twins.kin')):
        tap.skip('functions of one name in two files', 'no compiler, or nothing could be measured')
        return
    rows = json.loads(run(kin, folder, 'flat', '--format=json', 'twins.kin').stdout)['rows']
    run(kin, folder, 'html', '-o', 'twins.html', 'twins.kin')
    page.go(url.format('twins.html') + '#functions')
    settle(page)
    shown = [(cells[1], cells[4]) for cells in page.run(CELLS) if any(cell.startswith('twin (') for cell in cells)]
    wanted = [(f'{100 * r["share"]:.2f} %', f'{r["calls"]:,}') for r in rows if r['name'].startswith('twin (')]
    tap.ok(sorted(shown) == sorted(wanted) and len(shown) == 3, 'functions of one name in two files are apart, with their calls', f'{shown} {wanted}')


LISTED = '[...document.querySelectorAll("td.function")].map(c => [c.querySelector("a").textContent, c.firstChild.title, c.offsetHeight < 40])'


def test_names(tap, kin, folder, page, url):
    """Functions have the form for people, one line each, and their whole names on hover."""
    tree = 'std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, std::allocator<int>>'
    names = {f'void f<{tree}>({"int, " * 99}int)': 'f<std::_Rb_tree<int, int>>',
             'int twin<int>(int)': 'int twin<int>(int)', 'long twin<int>(int)': 'long twin<int>(int)', 'g.isra.0': 'g (isra)',
             'constructor': 'constructor', '__proto__': '__proto__'}
    with open(os.path.join(folder, 'people.folded'), 'w') as f:
        f.write(''.join(f'p;main;{name} {len(names) - i}\n' for i, name in enumerate(names)) + 'p;main;main;main 1\n')
    run(kin, folder, 'html', '-o', 'people.html', 'people.folded')
    page.go(url.format('people.html') + '#functions')
    settle(page)
    want = [[shown, name, True] for name, shown in [*names.items(), ('main', 'main')]]
    got = page.run(LISTED)
    tap.ok(sorted(got) == sorted(want), 'functions by their forms for people, with whole names on hover', str(got))
    for text in ('std::less', 'f<std::_Rb_tree<int, int>>'):
        look(page, '#functions?q=' + text)
        settle(page)
        tap.ok([name for _, name, _ in page.run(LISTED)] == [list(names)[0]], f'a search by either form: {text}')
    look(page, '#flame?how=folded')
    page.key('ArrowDown')
    settle(page)
    said = page.run(FRAME)
    tap.ok(said.startswith('main ×3 – '), 'recursion that is folded has its depth', said)
    run(kin, folder, 'html', '--full-names', '-o', 'whole.html', 'people.folded')
    page.go(url.format('whole.html') + '#functions')
    settle(page)
    tap.ok(all(text == name for text, name, _ in page.run(LISTED)), '--full-names: whole names')


def test_difference(tap, kin, folder, page, url):
    """Lists and changes of the page of a difference are the same as in kin diff."""
    rand = random.Random(5)
    for name, slow in (('before', 1), ('after', 3)):
        with open(os.path.join(folder, f'{name}.folded'), 'w') as f:
            for path, n in (('main;parse;memset', 400 * slow), ('main;parse', 300), ('main;sort', 900 // slow), ('main;idle', 500)):
                f.write(f'prog;{path} {n + rand.randrange(10)}\n')
    done = run(kin, folder, 'diff', '--format=html', '-o', 'difference.html', 'before.folded', 'after.folded')
    tap.ok(done.returncode == 0 and not done.stderr, 'kin diff --format=html', done.stderr)
    told = json.loads(run(kin, folder, 'diff', '-f', 'json', 'before.folded', 'after.folded').stdout)['rows']
    page.go(url.format('difference.html'))
    settle(page)
    lists = page.run('[...document.querySelectorAll("main h2")].map(h => [h.textContent, [...h.nextElementSibling.querySelectorAll("tbody td.name")].map(c => c.innerText)])')
    want = [['Slower', [r['name'] for r in told if r['change'] > 0]], ['Faster', [r['name'] for r in told if r['change'] < 0]]]
    tap.ok(lists == want and want[0][1] and want[1][1], 'slower and faster are those of kin diff', f'{lists} {want}')
    before, after = (sum(int(line.rsplit(' ', 1)[1]) for line in open(os.path.join(folder, f'{n}.folded'))) for n in ('before', 'after'))
    said, row = page.run('[document.querySelector("main .big").innerText, document.querySelector("main tbody td").innerText]')
    tap.ok(said.startswith(f'{before:,} events\nbefore\n{after:,} events\nafter\n') and ' s' not in row, 'numbers of events are no seconds', f'{said} {row}')
    page.size(320, 800)
    tap.ok(page.run('document.documentElement.scrollWidth <= innerWidth'), 'a difference in a narrow window')
    page.size(1200, 800)
    look(page, '#flame')
    scale = page.run('[...[...document.querySelectorAll("label")].find(e => e.textContent.startsWith("Full color")).querySelectorAll("option")].map(e => e.text)')
    tap.ok(scale == ['the largest', '1', '1,000', '1,000,000', '1,000,000,000'], 'full color of numbers of events is at no time', str(scale))
    page.run('document.querySelector("canvas").focus()')
    page.key('ArrowDown')
    page.key('ArrowDown')
    before, after = (sum(int(line.rsplit(' ', 1)[1]) for line in open(os.path.join(folder, f'{n}.folded')) if ';parse' in line) for n in ('before', 'after'))
    said = page.run(FRAME)
    tap.ok(said.startswith(f'parse – {after:,}, +{after - before:,} after, '), 'the flame graph of the difference', said)
    open(os.path.join(folder, 'nothing.folded'), 'w').write('prog;main 0\n')
    run(kin, folder, 'diff', '--format=html', '-o', 'nothing.html', 'nothing.folded', 'after.folded')
    page.go(url.format('nothing.html'))
    settle(page)
    said = page.run('document.querySelector("main .big").innerText')
    tap.ok('in all' in said and '%' not in said, 'nothing before is no base of a percentage', said)
    done = run(kin, folder, 'diff', '--format=html', '--shares', '-o', 'no.html', 'before.folded', 'after.folded')
    tap.ok(done.returncode == 2 and 'leave out --shares' in done.stderr, 'shares have no page', done.stderr)


def axe():
    """The code of axe-core, which finds problems of accessibility; None if npm has not installed it."""
    roots = [os.environ.get('NODE_PATH', ''), '/usr/lib/node_modules', '/usr/local/lib/node_modules']
    paths = [os.path.join(r, 'axe-core', 'axe.min.js') for r in roots if r]
    path = next(filter(os.path.exists, paths), None)
    return open(path, encoding='utf-8').read() if path else None


def test_access(tap, page, url):
    code = axe()
    if not code:
        tap.skip('what axe-core says of the page', 'no npm package axe-core: NOT TESTED for people who see little or use no mouse')
        return
    page.ask('Page.setBypassCSP', enabled=True)  # which lets no other code in
    for scheme in ('light', 'dark'):
        page.scheme(scheme)
        for where in ('threads.html#summary', 'threads.html#functions', 'threads.html#flame', 'threads.html#timeline?t=1-2&th=1', 'threads.html#function/2',
                      'threads.html#cycle/1', 'threads.html#graph', 'threads.html#graph?f=2', '03-mutual.html#graph', 'hits.html#code', 'hits.html#code/f0?t=1-2', 'hits.html#code/s0', 'difference.html', 'difference.html#flame', 'counts.html', 'counts.html#function/1'):
            page.ask('Page.navigate', url='about:blank')
            page.go(url.format(where))
            settle(page)
            page.run(code + ';0')
            found = page.run('axe.run(document).then(r => r.violations.map(v => `${v.id} (${v.impact}): ${v.nodes[0].html.slice(0, 200)}`))')
            tap.ok(not found, f'axe-core: {where}, {scheme}', '\n'.join(found))
    page.scheme('light')
    page.ask('Page.setBypassCSP', enabled=False)


def test_old(tap, kin, folder, page, url):
    page.go(url.format('counts.html') + '#function/1')
    settle(page)
    text = page.run('document.querySelector("main").innerText')
    tap.ok('Called by' in text and 'Calls' in text, 'counts: callers and callees', text)
    page.go(url.format('counts.html'))
    settle(page)
    text = page.run('document.body.innerText')
    tap.ok('estimated' in text and 'How far to trust this' in text and 'Flame graph' not in text and 'Cycle' in text, 'counts: the summary', text)


def main():
    kin, tap = os.path.join(os.path.abspath(sys.argv[1]), 'kin'), Tap()
    with tempfile.TemporaryDirectory(prefix='kin-html.', ignore_cleanup_errors=True) as folder:
        tap.part(test_counts, tap, kin, folder)
        tap.part(test_hostile, tap, kin, folder)
        tap.part(test_size, tap, kin, folder)
        tap.part(test_folders, tap, kin, folder)
        tap.part(test_programs, tap, kin, folder)
        tap.part(test_code, tap, folder)
        tap.part(test_layout, tap)
        tap.part(test_open, tap, kin, folder)
        if not chromium.found():
            tap.skip('the page in a browser', 'chromium is not installed: what the page SHOWS was not tested')
            return tap.done()
        url = 'file://' + folder + '/{}'
        with chromium.Chromium() as browser:
            page = browser.open()
            page.size(1200, 800)
            tap.part(test_numbers, tap, kin, folder, page, url)
            tap.part(test_left_out, tap, kin, folder, page, url)
            tap.part(test_left_out_of_library, tap, kin, folder, page, url)
            tap.part(test_own, tap, kin, folder, page, url)
            tap.part(test_own_program, tap, kin, folder, page, url)
            tap.part(test_rewrites, tap, kin, folder, page, url)
            tap.part(test_tree, tap, kin, folder, page, url)
            tap.part(test_source_url, tap, kin, folder, page, url)
            tap.part(test_flame, tap, kin, folder, page, url)
            tap.part(test_axis, tap, kin, folder, page, url)
            tap.part(test_graph, tap, kin, folder, page, url)
            tap.part(test_timeline, tap, kin, folder, page, url)
            tap.part(test_machine_code, tap, kin, folder, page, url)
            tap.part(test_hits, tap, kin, folder, page, url)
            tap.part(test_print, tap, page, url)
            tap.part(test_shown, tap, kin, folder, page, url)
            tap.part(test_old, tap, kin, folder, page, url)
            tap.part(test_code_of_counts, tap, page, url)
            tap.part(test_summary_of_folded, tap, kin, folder, page, url)
            tap.part(test_twins, tap, kin, folder, page, url)
            tap.part(test_names, tap, kin, folder, page, url)
            tap.part(test_difference, tap, kin, folder, page, url)
            tap.part(test_questions, tap, kin, folder, page, url)
            tap.part(test_access, tap, page, url)
            tap.ok(not page.errors, 'no errors in scripts, nothing that the policy forbids', '\n'.join(page.errors))
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

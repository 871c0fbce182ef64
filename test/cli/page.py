"""kin html: one file, whole, safe, and shown by a browser.

    page.py BUILD
"""
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

CASES = os.path.join(HERE, '..', 'cases')
PAGE = os.path.join(HERE, '..', '..', 'src', 'export', 'html', 'page.js')
SEARCH = os.path.join(HERE, '..', '..', 'src', 'export', 'html', 'search.js')
HOSTILE = ['</script><script>document.title="taken"</script>', '<!-- <b>', '"quoted" & \'so\'', '<img src=x onerror=1>',
           'caf\xe9 \u65e5\u672c', 'right\u202eleft', 'back\\slash\\u003c']


class Page(html.parser.HTMLParser):
    """Tags, and what is in script and style elements."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.styles, self.title = [], [], [], ''
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == 'script':
            self.scripts.append('')
        if tag == 'style':
            self.styles.append('')

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == 'script':
            self.scripts[-1] += data
        elif self.inside == 'style':
            self.styles[-1] += data
        elif self.inside == 'title':
            self.title += data


def rows(table):
    return [dict(zip(table['columns'], r)) for r in table['rows']]


def write(tap, kin, folder, name, *args):
    path = os.path.join(folder, name)
    done = subprocess.run([kin, 'html', '-o', path, *args], cwd=folder, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    tap.ok(done.returncode == 0 and not done.stderr, f'kin html {" ".join(map(os.path.basename, args))}', done.stderr)
    return open(path, encoding='utf-8').read() if os.path.exists(path) else ''


def test_file(tap, text, name):
    page = Page(text)
    tap.ok(len(page.scripts) == 2 and len(page.styles) == 1, f'{name}: data, code and style', str(page.tags))
    policy = [a.get('content', '') for t, a in page.tags if t == 'meta' and 'http-equiv' in a]
    tap.ok(policy and "default-src 'none'" in policy[0], f'{name}: nothing may be fetched', str(policy))
    linked = [(t, a) for t, a in page.tags if {'src', 'href', 'srcset', 'data'} & set(a)]
    tap.ok(not linked and 'url(' not in text and '@import' not in text and '://' not in page.scripts[1],
           f'{name}: nothing outside is named', str(linked))
    return json.loads(page.scripts[0]) if page.scripts else {}


def test_counts(tap, kin, folder):
    case = os.path.join(CASES, '03-mutual')
    text = write(tap, kin, folder, 'counts.html', f'{case}/prog', f'{case}/gmon.out')
    data = test_file(tap, text, 'gmon.out')
    tap.ok(data['flames'] == [], 'gmon.out: no stacks, no flame graph')
    tap.ok(any('estimated' in n for n in data['graph']['notes']), 'gmon.out: said to be estimated',
           str(data['graph']['notes']))
    flat = json.loads(subprocess.run([kin, 'flat', '-f', 'json', '-c', 'all', f'{case}/prog', f'{case}/gmon.out'],
                                     capture_output=True, text=True).stdout)
    mine = {(r['name'], round(r['self'], 6), r['calls']) for r in rows(data['functions'])}
    theirs = {(r['name'], round(r['self'], 6), r['calls']) for r in flat['rows']}
    tap.ok(mine == theirs and mine, 'the functions of kin flat', f'{mine}\n{theirs}')
    cycles = [r for r in rows(data['graph']) if r['kind'] == 'cycle']
    tap.ok(len(cycles) == 2, 'cycles are there', str(cycles))


def test_stacks(tap, kin, folder):
    with open(os.path.join(folder, 'hostile.folded'), 'w', encoding='utf-8') as f:
        for i, name in enumerate(HOSTILE):
            f.write(f'prog;main;{name.replace(";", ":")} {10 * (i + 1)}\n')
        f.write('prog;main;f;f;f 100\n')
    text = write(tap, kin, folder, 'stacks.html', 'hostile.folded')
    data = test_file(tap, text, 'stacks')
    names = {r['name'] for r in rows(data['functions'])}
    # A name may be cut at what would be its parameters only in the flame graph of other formats.
    tap.ok(set(HOSTILE) <= names, 'names are what they were', str(sorted(set(HOSTILE) - names)))
    flame, = data['flames']
    n = len(flame['parent'])
    tap.ok(n == len(flame['name']) == len(flame['total']) and all(flame['parent'][i] < i for i in range(1, n)),
           'the tree is one', str(flame))
    below = [0] * n
    for i in range(1, n):
        below[flame['parent'][i]] += flame['total'][i]
    tap.ok(all(below[i] <= flame['total'][i] for i in range(n)) and flame['total'][0] == 380,
           'parts are no more than the whole', str(flame))
    shutil.copy(os.path.join(folder, 'hostile.folded'), os.path.join(folder, '@data@<b>.folded'))
    title = Page(write(tap, kin, folder, 'title.html', '@data@<b>.folded')).title
    tap.ok(title == '@data@<b>.folded', 'a title is a text', title)
    again = write(tap, kin, folder, 'again.html', 'hostile.folded')
    tap.ok(again == text, 'the same data gives the same bytes')
    done = subprocess.run([kin, 'html', '-o', 'hostile.folded', 'hostile.folded'], cwd=folder, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    tap.ok(done.returncode == 2 and 'would replace' in done.stderr, 'data is not replaced', done.stderr)


TWO_EVENTS = '''prog 7 1.000000: 3000 cache-misses:
\t 1000 miss+0x0 (/bin/prog)
\t 2000 main+0x0 (/bin/prog)

prog 7 1.000001: 50 task-clock:
\t 3000 spin+0x0 (/bin/prog)
\t 2000 main+0x0 (/bin/prog)

'''


def test_events(tap, kin, folder):
    """A flame graph of each event, that of the tables first."""
    with open(os.path.join(folder, 'events.script'), 'w', encoding='utf-8') as f:
        f.write(TWO_EVENTS)
    data = test_file(tap, write(tap, kin, folder, 'events.html', 'events.script'), 'events')
    seen = [(f['event'], [n.split('_[')[0] for n in f['names'][1:]], f['total'][0]) for f in data['flames']]
    flat = [r['name'] for r in rows(data['functions'])]
    want = [('cache-misses', ['prog', 'main', 'miss'], 3000), ('task-clock', ['prog', 'main', 'spin'], 50)]
    tap.ok(seen == want and 'miss' in flat and 'spin' not in flat, 'a flame graph of each event', f'{seen} {flat}')
    subprocess.run([kin, 'html', 'events.script'], cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page = Page(open(os.path.join(folder, 'profile.html'), encoding='utf-8').read())
    tap.ok(page.title == 'events.script', 'it is called profile.html', page.title)


def folded_share(folded, pattern):
    """Which part of folded stacks has a frame with the pattern in its name."""
    sums = [0, 0]
    for line in folded.splitlines():
        stack, n = line.rsplit(' ', 1)
        sums[any(pattern in re.sub(r'_\[[kij]\]$', '', name).lower() for name in stack.split(';')[1:])] += int(n)
    return sums[1] / sum(sums)


def searched(folder, flame, patterns):
    """What the page's search says of each: (low, high)."""
    code = os.path.join(folder, 'search.js')
    with open(code, 'w', encoding='utf-8') as f:
        f.write(open(SEARCH, encoding='utf-8').read() + f"""
            const f = {json.dumps(flame)}, tree = make_tree(f);
            console.log(JSON.stringify({json.dumps(patterns)}.map(p => search_share(f, tree, p))));
            """)
    done = subprocess.run(['node', code], capture_output=True, text=True, timeout=60)
    return [(r['low'] / flame['total'][0], r['high'] / flame['total'][0]) for r in json.loads(done.stdout or '[]')]


def test_search(tap, kin, folder):
    """Shares found by search are those of the stacks, whether or not their frames are in the file."""
    if not shutil.which('node'):
        tap.skip('search in the flame graph', 'node is not installed')
        return
    rand = random.Random(7)
    with open(os.path.join(folder, 'large.folded'), 'w') as f:
        for i in range(160000):
            tail = rand.choice(['memset', 'malloc;_int_malloc', 'malloc;_int_malloc;sysmalloc', 'free', f'leaf{i % 7}'])
            path = ';'.join(f'{level}{rand.randrange(13)}' for level in 'pqrst')
            f.write(f'prog;main;{path}{";again" if i % 5 == 0 else ""};{tail} 1\n')
    text = write(tap, kin, folder, 'large.html', 'large.folded')
    flame, = test_file(tap, text, 'large')['flames']
    folded = subprocess.run([kin, 'script', '--folded', 'large.folded'], cwd=folder, capture_output=True, text=True).stdout
    tap.ok(flame['left_out'] > 0 and len(text) < 6e6, 'frames are left out of a large one', f"{flame['left_out']} {len(text)}")
    below = [0] * len(flame['parent'])
    for i in range(1, len(below)):
        below[flame['parent'][i]] += flame['total'][i]
    callers = [i for i in set(flame['parent']) if flame['names'][flame['name'][i]] != '_int_malloc'] # has samples of its own
    tap.ok(all(below[i] == flame['total'][i] for i in callers), 'others stand for them')
    exact = ['memset', 'sysmalloc', 'free', 'leaf3', 'again', 'main', 'no such']
    found = searched(folder, flame, exact + ['malloc', 'leaf', 'p1'])
    for pattern, (low, high) in zip(exact, found):
        want = folded_share(folded, pattern)
        tap.ok(abs(low - want) < 1e-9 and low == high, f"'{pattern}' is in {want:.2%}", f'{low} {high}')
    for pattern, (low, high) in zip(['malloc', 'leaf', 'p1'], found[len(exact):]):
        want = folded_share(folded, pattern)
        tap.ok(low <= want <= high and low > 0, f"'{pattern}', of several names: at least that", f'{low} {want} {high}')
    with open(os.path.join(folder, 'small.folded'), 'w') as f:
        f.write('prog;main;f;malloc;_int_malloc 3\nprog;main;g;_int_malloc 2\nprog;main;f 95\nprog;malloc_all;free 10\n')
    small, = test_file(tap, write(tap, kin, folder, 'small.html', 'small.folded'), 'small')['flames']
    tap.ok(searched(folder, small, ['malloc', '_int_malloc']) == [(15 / 110, 15 / 110), (5 / 110, 5 / 110)],
           'where nothing is left out all shares are exact', str(searched(folder, small, ['malloc', '_int_malloc'])))


def test_cycle_notes(tap, kin, folder):
    """What is said of a cycle is for the functions in it, not for all."""
    with open(os.path.join(folder, 'cycles.folded'), 'w') as f:
        f.write('prog;main;ping;pong;ping 30\nprog;main;left;right;left 20\nprog;main;alone 50\n')
    data = test_file(tap, write(tap, kin, folder, 'cycles.html', 'cycles.folded'), 'cycles')
    said_of = [n for n in data['graph']['notes'] if n.startswith('cycle ')]
    tap.ok(len(said_of) == 2, 'two notes on cycles', str(data['graph']['notes']))
    if not shutil.which('node'):
        return
    code = open(PAGE, encoding='utf-8').read()
    function, = re.findall(r'^const about_cycle = .*?;\n', code, re.M)
    done = subprocess.run(['node', '-e', function + f"""
        const notes = {json.dumps(data['graph']['notes'])};
        console.log(JSON.stringify([undefined, 1, 2].map(c => notes.filter(n => about_cycle(n, c)))));"""],
                          capture_output=True, text=True)
    got = json.loads(done.stdout or '[]')
    rest = [n for n in data['graph']['notes'] if n not in said_of]
    tap.ok(got == [rest, [n for n in data['graph']['notes'] if n != said_of[1]], [n for n in data['graph']['notes'] if n != said_of[0]]],
           'each where that cycle is looked at', done.stdout + done.stderr)


def test_code(tap, folder):
    if not shutil.which('node'):
        tap.skip('the code of the page', 'node is not installed')
        return
    path = os.path.join(folder, 'code.js')
    open(path, 'w', encoding='utf-8').write(
        Page(open(os.path.join(folder, 'stacks.html'), encoding='utf-8').read()).scripts[1])
    done = subprocess.run(['node', '--check', path], capture_output=True, text=True)
    tap.ok(done.returncode == 0, 'the code of the page is well formed', done.stderr)


def dump(browser, folder, url, *args):
    """What the page is once its code has run."""
    profile = os.path.join(folder, 'browser')
    done = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={profile}',
                           '--virtual-time-budget=2000', *args, '--dump-dom', url],
                          capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=120)
    return re.sub(r'<script.*?</script>', '', done.stdout, flags=re.S)


def said(browser, folder, page, where, script, *args):
    """What somebody who does that finds: `script` is the body of an async function, and returns a text."""
    whole = open(os.path.join(folder, page), encoding='utf-8').read()
    code = ('<script>const soon = () => new Promise(done => setTimeout(done, 100));'
            'const press = (key, on) => (on || document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, '
            'cancelable: true })); const find = what => document.querySelector(what);'
            'setTimeout(async () => { let text; try { text = await (async () => {' + script + '})(); } catch (e) { text = e; }'
            'document.body.setAttribute("data-found", String(text)); }, 200);</script>')
    with open(os.path.join(folder, 'driven.html'), 'w', encoding='utf-8') as f:
        f.write(whole.replace('</body>', code + '</body>'))
    text = dump(browser, folder, 'file://' + os.path.join(folder, 'driven.html') + where, *args)
    found = re.search('data-found="([^"]*)"', text)
    return found.group(1) if found else text[-3000:]


def test_use(tap, kin, folder):
    """What people do with the page, and would miss."""
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    with open(os.path.join(folder, 'deep.folded'), 'w') as f:
        f.write('main;' + ';'.join(f'level{i}' for i in range(4000)) + ' 50\nmain;other 10\n')
    write(tap, kin, folder, 'deep.html', 'deep.folded')
    if not browser:
        return
    seen = said(browser, folder, 'deep.html', '#flame', """
        const c = find("canvas"), at = c.getContext("2d").getImageData(9, 9, 1, 1).data;
        for (let i = 0; i < 200; i++) press("ArrowDown", c);
        await soon();
        const box = find(".stuck").getBoundingClientRect();
        return `${at[3]} ${c.height < 5000} ${scrollY > 2000} ${box.top} ${find("#frame").textContent.split(" ")[0]}`;
        """, '--force-device-scale-factor=2')
    tap.ok(seen == '255 true true 0 level197', 'thousands of frames deep: drawn, the frame at hand and its name in sight', seen)
    seen = said(browser, folder, 'deep.html', '#functions', """
        press("/");
        const search = find("input"), first = document.activeElement === search;
        search.value = "LEVEL39";
        search.dispatchEvent(new Event("input"));
        document.querySelectorAll("th button")[1].click();
        scrollTo(0, 300);
        await soon();
        location.hash = find("td.name a").hash;
        await soon();
        const there = `${find("h2").textContent} ${scrollY}`;
        history.back();
        await soon();
        await soon();
        return `${first} ${there} ${find("input").value} ${document.querySelectorAll("tbody tr").length} ` +
            `${document.querySelectorAll("th")[1].ariaSort} ${scrollY}`;
        """)
    tap.ok(seen == 'true Called by 0 level39 111 descending 300', '/ searches; Back finds the list as it was', seen)
    seen = said(browser, folder, 'deep.html', '#functions', """
        const n = () => document.querySelectorAll("tbody tr").length, all = [n()];
        find(".more").click();
        all.push(n(), find(".more").textContent);
        find("input").value = "no such function";
        find("input").dispatchEvent(new Event("input"));
        return all.concat(find("tbody").textContent).join("; ");
        """)
    tap.ok(seen == '300; 1300; 1,000 of 2,702 more; None.', 'more rows; no rows', seen)
    seen = said(browser, folder, 'deep.html', '#functions', """
        const heads = [...document.querySelectorAll("th")].filter(h => getComputedStyle(h).display !== "none");
        return heads.map(h => h.textContent).join("; ") + ` ${document.documentElement.scrollWidth <= innerWidth}`;
        """, '--window-size=500,800')
    tap.ok(seen == 'Self ▾; Total; Function true', 'on a narrow screen the name is seen', seen)


def test_browser(tap, folder):
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    if not browser:
        tap.skip('the page in a browser', 'chromium is not installed: what the page SHOWS was not tested')
        return
    url = 'file://' + os.path.join(folder, '{}')
    text = dump(browser, folder, url.format('stacks.html') + '#functions')
    tap.ok('&lt;img src=x onerror=1&gt;' in text and '<img' not in text, 'names are text', text[-3000:])
    tap.ok('<title>hostile.folded</title>' in text, 'and are not run', text[:3000])
    tap.ok(text.count('aria-sort') == 1 and '26.32 %' in text, 'functions, sorted', text[-3000:])
    text = dump(browser, folder, url.format('stacks.html') + '#flame/f')
    tap.ok('<canvas' in text and '% have it' in text and '100.00 % of all' in text, 'the flame graph', text[-3000:])
    # The same page with somebody at the keys: down to the widest frame, there, and back out.
    keys = ''.join(f"press('{k}');" for k in ('ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter', 'ArrowDown'))
    script = ('<script>setTimeout(() => { const c = document.querySelector("canvas");'
              'const press = key => c.dispatchEvent(new KeyboardEvent("keydown", { key }));' + keys +
              'const kept = document.getElementById("frame").textContent;'
              "press('Escape'); press('Escape'); press('ArrowLeft');"
              'document.getElementById("said").textContent = kept; }, 200);</script>')
    whole = open(os.path.join(folder, 'stacks.html'), encoding='utf-8').read()
    open(os.path.join(folder, 'keys.html'), 'w', encoding='utf-8').write(whole.replace('</body>', script + '</body>'))
    text = dump(browser, folder, url.format('keys.html') + '#flame')
    said = re.search('id="said"[^>]*>([^<]*)<', text)
    tap.ok(said and said.group(1).startswith('f – 100') and '100.00 % of its caller' in said.group(1),
           'the flame graph by keys', said.group(1) if said else text[-3000:])
    choose = ('<script>setTimeout(() => { const s = document.querySelector("select"); s.selectedIndex = 1;'
              's.dispatchEvent(new Event("change")); }, 200);</script>')
    whole = open(os.path.join(folder, 'events.html'), encoding='utf-8').read()
    open(os.path.join(folder, 'choice.html'), 'w', encoding='utf-8').write(whole.replace('</body>', choose + '</body>'))
    text = dump(browser, folder, url.format('choice.html') + '#flame')
    tap.ok('(task-clock)' in text and 'all – 50.0 ns' in text, 'another event is chosen', text[-3000:])
    text = dump(browser, folder, url.format('counts.html') + '#function/1')
    tap.ok('cycle 1' in text and '#function/' in text and '>Calls</h2>' in text and '&lt;spontaneous&gt;' in text,
           'callers and callees, cycles marked', text[-3000:])
    text = dump(browser, folder, url.format('counts.html'))
    tap.ok('estimated' in text and 'How far to trust this' in text and 'Flame graph' not in text, 'the summary',
           text[-3000:])


def main():
    kin, tap = os.path.join(os.path.abspath(sys.argv[1]), 'kin'), Tap()
    with tempfile.TemporaryDirectory(prefix='kin-html.', ignore_cleanup_errors=True) as folder:
        test_counts(tap, kin, folder)
        test_stacks(tap, kin, folder)
        test_events(tap, kin, folder)
        test_search(tap, kin, folder)
        test_cycle_notes(tap, kin, folder)
        test_code(tap, folder)
        test_browser(tap, folder)
        test_use(tap, kin, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

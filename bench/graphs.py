"""The call graph that kin's page draws, beside pprof's and Graphviz's, of the same recordings: doc/views.md.

    graphs.py BUILD RECORDING...

For each recording and 40 and 80 functions: lines that cross, in the page's layers (in the order of a walk along the calls, and as they are
drawn) and in the picture itself, beside the picture that Graphviz makes of the same boxes and lines; and whether the arcs of `go tool pprof
-dot` are the page's, with their shares. Lines are taken as they run, and those that share an end do not cross there. What is not
installed is left out: chromium, node, dot (graphviz), go (golang-go).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = os.path.join(HERE, '..', 'src', 'page', 'html')
sys.path.insert(0, os.path.join(HERE, '..', 'test', 'page'))
import chromium

SIZES, WIDTH = (40, 80), 1400
PARTS = 24  # straight parts that a curve is taken as

# The boxes and lines of the page's picture; lines as points.
DRAWN = r'''(() => {
	const points = path => { const n = %d * 4, size = path.getTotalLength(); return Array.from({ length: n + 1 }, (_, i) => { const p = path.getPointAtLength(size * i / n); return [p.x, p.y]; }); };
	const box = document.querySelector(".picture").viewBox.baseVal;
	return {
		size: [box.width, box.height],
		nodes: [...document.querySelectorAll(".picture a.node")].map(a => { const r = a.querySelector("rect"); return { id: a.dataset.id, text: a.querySelector("title").textContent.split("\n")[0], w: Number(r.getAttribute("width")), h: Number(r.getAttribute("height")) }; }),
		calls: [...document.querySelectorAll(".picture .call")].map(g => ({ ends: g.dataset.ends.split(" "), text: g.querySelector("title").textContent, points: points(g.querySelector(".line")) })).reverse(),
	};
})()''' % PARTS

LAYERS = r'''
const { sizes, arcs, room } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const links = without_cycles(sizes.length, arcs), items = items_of(sizes, links, layers_of(sizes, links, room));
console.log(crossings_of(first_order(items)), crossings_of(ordered(items)));
'''


def run(*args, **more):
    return subprocess.run(args, capture_output=True, text=True, stdin=None if 'input' in more else subprocess.DEVNULL, **more)


def crossings(lines):
    """How often lines cross: [(ends, points)]. Lines with an end in common meet there, which is no crossing."""
    def boxes(points):
        return min(x for x, _ in points), max(x for x, _ in points), min(y for _, y in points), max(y for _, y in points)

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    n, areas = 0, [boxes(p) for _, p in lines]
    for i, (ends, points) in enumerate(lines):
        for k in range(i):
            a, b = areas[i], areas[k]
            if set(ends) & set(lines[k][0]) or a[0] > b[1] or b[0] > a[1] or a[2] > b[3] or b[2] > a[3]:
                continue
            n += sum(side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0
                     for p, q in zip(points, points[1:]) for r, s in zip(lines[k][1], lines[k][1][1:])
                     if max(p[0], q[0]) >= min(r[0], s[0]) and max(r[0], s[0]) >= min(p[0], q[0]) and max(p[1], q[1]) >= min(r[1], s[1]) and max(r[1], s[1]) >= min(p[1], q[1]))
    return n


def by_graphviz(drawn):
    """Crossings and size of dot's picture of the same boxes and lines."""
    text = 'digraph { node [shape=box fixedsize=true];\n' + ''.join(f'n{n["id"]} [label="" width={n["w"] / 72} height={n["h"] / 72}];\n' for n in drawn['nodes']) + \
        ''.join(f'n{c["ends"][0]} -> n{c["ends"][1]};\n' for c in drawn['calls']) + '}\n'
    lines, size = [], None
    for words in map(str.split, run('dot', '-Tplain', input=text).stdout.splitlines()):
        if words[0] == 'graph':
            size = [round(float(v) * 72) for v in words[2:4]]
        elif words[0] == 'edge':
            at = [float(v) * 72 for v in words[4:4 + 2 * int(words[3])]]
            knots, points = list(zip(at[::2], at[1::2])), []
            for i in range(0, len(knots) - 3, 3):
                for t in (step / PARTS for step in range(PARTS + 1)):
                    points.append(tuple(sum(c * p[axis] for c, p in zip(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3), knots[i:i + 4])) for axis in (0, 1)))
            lines.append((words[1:3], points))
    return crossings(lines), size


def of_pprof(kin, recording, folder):
    """The arcs of pprof: (caller, callee) -> share; and its total."""
    path = os.path.join(folder, 'profile.pb.gz')
    if run(kin, 'export', '--format=pprof', '-o', path, recording).returncode:
        return None
    done = run('go', 'tool', 'pprof', '-dot', '-nodecount=100000', '-nodefraction=0', '-edgefraction=0', '-unit=ns', path, env={**os.environ, 'HOME': folder})
    total = re.search(r'Total (?:samples|of) = ([\d.]+)|accounting for [\d.]+\w*, [\d.]+% of ([\d.]+)', done.stdout)
    arcs = {}
    for caller, callee, weight in re.findall(r' tooltip="([^"]+?) -> ([^"]+) \(([\d.]+)ns\)"', done.stdout):
        arcs[caller, callee] = arcs.get((caller, callee), 0) + float(weight)
    whole = float(total.group(1) or total.group(2)) if total else max(arcs.values(), default=1)
    return {ends: weight / whole for ends, weight in arcs.items()}


def plain(name):
    return re.sub(r' \(inlined\)$', '', name)


def compare(drawn, arcs):
    """How many of the page's arcs are pprof's, with the same share; those that are not."""
    good, odd = 0, []
    for call in drawn['calls']:
        caller, callee, share = re.match(r'(.+) → (.+): ([\d.]+) %', call['text']).groups()
        theirs = arcs.get((plain(caller), plain(callee)))
        if theirs is not None and abs(100 * theirs - float(share)) < .011:
            good += 1
        else:
            odd.append((call['text'], theirs and round(100 * theirs, 2)))
    return good, odd


def main():
    kin, recordings = os.path.join(os.path.abspath(sys.argv[1]), 'kin'), sys.argv[2:]
    print('| recording | boxes, lines | walk | page | lines of the page, of Graphviz that cross | page\'s size | Graphviz\'s size | arcs of pprof |\n|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory(prefix='kin-graphs.') as folder, chromium.Chromium() as browser:
        page = browser.open()
        page.size(WIDTH, 900)
        for at, recording in enumerate(recordings):
            run(kin, 'html', '--own=no', '--full-names', '-o', os.path.join(folder, f'page{at}.html'), recording)
            arcs = of_pprof(kin, recording, folder) if shutil.which('go') else None
            for size in SIZES:
                page.go(f'file://{folder}/page{at}.html#graph?n={size}')
                page.wait('document.querySelector(".picture")')
                drawn = page.run(DRAWN)
                number = {n['id']: i for i, n in enumerate(drawn['nodes'])}
                share = lambda c: min(1, float((re.search(r': ([\d.]+) %', c['text']) or [0, 0])[1]) / 100)
                layers = ['', '']
                if shutil.which('node'):
                    given = {'sizes': drawn['nodes'], 'room': WIDTH - 80, 'arcs': [{'from': number[c['ends'][0]], 'to': number[c['ends'][1]], 'weight': share(c)} for c in drawn['calls']]}
                    layers = run('node', '-e', open(os.path.join(CODE, 'layers.js'), encoding='utf-8').read() + LAYERS, input=json.dumps(given)).stdout.split()
                mine = crossings([(c['ends'], c['points']) for c in drawn['calls']])
                theirs, room = by_graphviz(drawn) if shutil.which('dot') else ('', ['', ''])
                same, odd = compare(drawn, arcs) if arcs else ('', [])
                print(f'| {os.path.basename(recording)} | {len(drawn["nodes"])}, {len(drawn["calls"])} | {layers[0]} | {layers[1]} | {mine}, {theirs} | '
                      f'{drawn["size"][0]:.0f} × {drawn["size"][1]:.0f} | {room[0]} × {room[1]} | {same} of {len(drawn["calls"])} |', flush=True)
                for text, share_there in odd[:5]:
                    print(f'    {text}: pprof has {share_there}')


if __name__ == '__main__':
    main()

"""How long Chromium takes to show the page of many distinct stacks.

    show.py BUILD [STACKS...]

Makes folded stacks, all different, 10 to 26 frames deep, of functions that call up to six others; writes the page without a
limit of size, and as `kin html` limits it, and opens each view anew. Measured are the time from the address to the drawn view, and the
CPU time of the page's main thread. Prints a Markdown table of the lower of three. Files go to
BENCH_DIR (BUILD/bench).
"""
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'test', 'page'))
import chromium

TRIES = 3
VIEWS = ('#summary', '#functions', '#function/50', '#flame', '#flame?how=inverted', '#flame?how=folded', '#flame?how=callers&f=50')


def make_stacks(path, n):
    rand, seen = random.Random(11), set()
    with open(path, 'w') as f:
        while len(seen) < n:
            at, frames = rand.randrange(40), ['prog', 'main']
            for level in range(rand.randrange(8, 24)):
                at = (at * 7 + rand.randrange(6) + level) % 3000
                frames.append(f'function_{at}')
            stack = ';'.join(frames)
            if stack not in seen:
                seen.add(stack)
                f.write(f'{stack} {rand.randrange(1, 50)}\n')


def cpu_of(page):
    return next(m['value'] for m in page.ask('Performance.getMetrics')['metrics'] if m['name'] == 'TaskDuration')


def show(page, url):
    """(seconds, CPU seconds) until it is drawn."""
    page.ask('Page.navigate', url='about:blank')
    time.sleep(.3)
    start, before = time.monotonic(), cpu_of(page)
    page.ask('Page.navigate', url=url)
    page.wait('document.querySelector("main canvas, main table") && document.querySelector("#views a")', 120)
    page.run('new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))')
    return time.monotonic() - start, cpu_of(page) - before


def main():
    kin = os.path.join(os.path.abspath(sys.argv[1]), 'kin')
    folder = os.path.abspath(os.environ.get('BENCH_DIR', os.path.join(sys.argv[1], 'bench')))
    os.makedirs(folder, exist_ok=True)
    print(f'{os.getloadavg()[0]:.1f} other programs at work\n\n| stacks | file | view | shown after, s | CPU, s |\n|---|---|---|---|---|')
    for n in map(int, sys.argv[2:] or ('100000', '1000000')):
        stacks = os.path.join(folder, f'show-{n}.folded')
        if not os.path.exists(stacks):
            make_stacks(stacks, n)
        for limit in ('5M', '1G'):
            path = os.path.join(folder, f'show-{n}-{limit}.html')
            subprocess.run([kin, 'html', f'--max-size={limit}', '-o', path, stacks], check=True)
            with chromium.Chromium() as browser:
                page = browser.open()
                page.size(1400, 900)
                page.ask('Performance.setTimeDomain', timeDomain='threadTicks')
                page.ask('Performance.enable')
                for view in VIEWS:
                    wall, cpu = (min(v) for v in zip(*(show(page, f'file://{path}{view}') for _ in range(TRIES))))
                    print(f'| {n} | {os.path.getsize(path) / 1e6:.1f} MB | `{view}` | {wall:.2f} | {cpu:.2f} |', flush=True)


if __name__ == '__main__':
    main()

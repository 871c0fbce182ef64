"""The pictures of the terminal in doc/: what tmux shows, drawn by Chromium.

    screens.py BUILD

Records a g++ run as clicks.py does, walks through it in `kin browse`, and writes what the screen shows to doc/. Takes tmux and Chromium.
"""
import html
import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ('lib', 'page', 'tui'):
    sys.path.insert(0, os.path.join(HERE, '..', 'test', folder))
import chromium
from run import Terminal
import clicks  # behind that: it looks for a run.py, too

COLUMNS, ROWS = 110, 26
BACK, TEXT = '#16191d', '#dfe3e8'
SCREENS = (('browse', ('s',), 'when each function was on the stack'),
           ('browse-flame', ('f', 'Down', 'Down', 'Down', 'Down', 'Down', 'Down', 'Enter', 'Down', 'Right'), 'a flame graph, zoomed'))
BASIC = ('#2b2f36', '#e5534b', '#57ab5a', '#d4a72c', '#539bf5', '#b083f0', '#39c5cf', '#c5ccd3',
         '#6a737d', '#ff7b72', '#7ee787', '#f2cc60', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff')
SGR = re.compile(r'\x1b\[([\d;]*)m')


def color(n):
    """Of the 256, as terminals have them."""
    if n < 16:
        return BASIC[n]
    if n >= 232:
        return '#' + f'{8 + 10 * (n - 232):02x}' * 3
    level = lambda v: 55 + 40 * v if v else 0
    return '#' + ''.join(f'{level((n - 16) // by % 6):02x}' for by in (36, 6, 1))


class Style:
    def __init__(self):
        self.front = self.back = None
        self.bold = self.dim = self.turned = False

    def take(self, codes):
        """Applies the numbers of one escape sequence."""
        while codes:
            n = codes.pop(0)
            if n in (38, 48):
                what = codes.pop(0)
                to = color(codes.pop(0)) if what == 5 else '#' + ''.join(f'{codes.pop(0):02x}' for _ in range(3))
                setattr(self, 'front' if n == 38 else 'back', to)
            elif n == 0:
                self.__init__()
            elif n in (1, 2, 7):
                setattr(self, {1: 'bold', 2: 'dim', 7: 'turned'}[n], True)
            elif n in (22, 27):
                self.bold, self.dim, self.turned = (False, False, self.turned) if n == 22 else (self.bold, self.dim, False)
            elif n in (39, 49):
                setattr(self, 'front' if n == 39 else 'back', None)
            elif n % 10 < 8 and n // 10 in (3, 4, 9, 10):
                setattr(self, 'front' if n // 10 in (3, 9) else 'back', BASIC[n % 10 + (8 if n >= 90 else 0)])

    def css(self):
        front, back = self.front or TEXT, self.back
        if self.turned:
            front, back = back or BACK, front
        return f'color:{front};' + (f'background:{back};' if back else '') + ('font-weight:700;' if self.bold else '') + ('opacity:.7;' if self.dim else '')


def page_of(screen):
    """HTML of the text that tmux shows, whose colours are escape sequences."""
    style, out = Style(), []
    for line in screen.rstrip('\n').split('\n'):
        cells = 0
        for i, part in enumerate(SGR.split(line)):
            if i % 2:
                style.take([int(n or 0) for n in part.split(';')])
            elif part:
                out.append(f'<span style="{style.css()}">{html.escape(part)}</span>')
                cells += len(part)
        out.append(f'<span style="{style.css()}">{" " * (COLUMNS - cells)}</span>\n' if cells < COLUMNS else '\n')
    # Spans as high as their lines: inline ones are lower, and the next line's would cover underscores.
    return (f'<meta charset="utf-8"><style>span {{ display: inline-block; height: 19px; vertical-align: top }}</style>'
            f'<body style="margin:0;background:{BACK}"><pre id="screen" style="display:inline-block;margin:0;padding:10px 12px;'
            f'font:14px/19px \'DejaVu Sans Mono\',monospace">{"".join(out)}</pre>')


def main():
    build = os.path.abspath(sys.argv[1])
    folder = os.path.abspath(os.environ.get('BENCH_DIR', os.path.join(build, 'bench')))
    os.makedirs(folder, exist_ok=True)
    clicks.record(os.path.join(build, 'kin'), folder, ('g++',))
    with tempfile.TemporaryDirectory() as home, chromium.Chromium() as browser:
        page = browser.open()
        page.size(1200, 700)
        for name, keys, _ in SCREENS:
            t = Terminal(home, build, COLUMNS, ROWS, COLORTERM='truecolor')
            t.run(f'kin browse {os.path.join(folder, "g++.kin")}')
            t.wait(r'q quit')
            time.sleep(2)  # times of functions come a moment later
            for key in keys:
                t.keys(key)
                t.settled()
            path = os.path.join(home, 'screen.html')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(page_of(t.screen('-e')))
            t.close()
            page.go('file://' + path)
            x, y, width, height = page.run('(b => [b.left, b.top, b.width, b.height])(document.getElementById("screen").getBoundingClientRect())')
            page.picture(os.path.join(HERE, '..', 'doc', name + '.png'), x=x, y=y, width=width, height=height, scale=1)


if __name__ == '__main__':
    main()

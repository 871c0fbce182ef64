"""weight.py ROOT BUILD [--renew] - no figure of the table "Weight" in doc/design.md has grown by more than 3 %.

Whoever makes something heavier on purpose renews the table in the same commit, and says there what it gives. Lines are
those of all code, with its comments; sizes are those of stripped files, compared where the compiler and its options are
those that the table names."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = os.path.realpath(sys.argv[1])
sys.path[:0] = [os.path.join(ROOT, 'test', 'lib'), os.path.join(ROOT, 'bench')]
from guard import environment  # noqa: E402
from tap import Tap  # noqa: E402

MORE = 1.03
CODE = ('.c', '.h', '.S', '.js', '.css', '.cpp', '.py', '.sh')
FILES = {'kin': 'kin', 'libkinrt': 'runtime/libkinrt.so.0'}
BEGIN, END = '<!-- weight -->\n', '<!-- end of weight -->'


def lines(folder):
    count = 0
    for where, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in names:
            if name.endswith(CODE):
                with open(os.path.join(where, name), 'rb') as f:
                    count += f.read().count(b'\n')
    return count


def stripped(path):
    """KiB"""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(['strip', '-o', out.name, path], check=True)
        return os.path.getsize(out.name) // 1024


def table(figures):
    """In three columns beside each other."""
    rows = -(-len(figures) // 3)
    cells = [f'`{what}` | {n}' for what, n in figures.items()] + 2 * [' | ']
    return '| | | | | | |\n|---|--:|---|--:|---|--:|\n' + ''.join(
        f'| {" | ".join(cells[i::rows][:3])} |\n' for i in range(rows))


def main():
    build = Path(sys.argv[2])
    page = os.path.join(ROOT, 'doc', 'design.md')
    with open(page, encoding='utf-8') as f:
        before, rest = f.read().split(BEGIN)
    old, after = rest.split(END)
    rooms = [f'src/{name}' for name in sorted(os.listdir(os.path.join(ROOT, 'src'))) if os.path.isdir(os.path.join(ROOT, 'src', name))]
    weights = {room: lines(room) for room in [*rooms, 'runtime']}
    total = sum(weights.values())
    weights.update({room: lines(room) for room in ('include', 'test', 'bench')})
    sizes = {name: stripped(build / path) for name, path in FILES.items()}
    here = environment(build)
    if '--renew' in sys.argv:
        new = (f'{total} lines in `src` and `runtime`. KiB of `kin` and `libkinrt`, stripped, are of {here}.\n\n' +
               table({**weights, **sizes}))
        with open(page, 'w', encoding='utf-8') as f:
            f.write(before + BEGIN + new + END + after)
        return
    tap = Tap()
    known = {what: int(n) for what, n in re.findall(r'`([\w/]+)` \| (\d+)', old)}
    for what, n in {**weights, **(sizes if here in old else {})}.items():
        tap.ok(n <= known.get(what, 0) * MORE, f'{what} is no heavier than doc/design.md says',
               f'{n}, was {known.get(what, 0)}: say why, and test/check/weight.py . BUILD --renew')
    if here not in old:
        tap.skip('sizes', f'the table is not of {here}')
    sys.exit(tap.done())


if __name__ == '__main__':
    main()

"""Golden tests: what GNU gprof 2.40 printed for stored programs, data files and options.

    run.py SUBJECT [CASE...]        test
    run.py --record [CASE...]       write expected.txt anew, with the installed GNU gprof
"""
import argparse
import glob
import os
import shlex
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from observe import difference, observe, output
from subject import Subject, gnu
from tap import Tap

PROGRAM = './prog'


def read_options(case):
    """The option sets of a case: [(name, arguments, arguments for recording)], and its data files."""
    sets, data = [], []

    def read(path):
        for line in open(path):
            line = line.rstrip('\n')
            if line.startswith('data '):
                data.extend(line.split()[1:])
            elif line == 'common':
                read(os.path.join(HERE, 'options'))
            elif line and not line.startswith('#'):
                name, args, *record = line.split('|')
                sets.append((name, args, record[0] if record else args))
    read(os.path.join(HERE, case, 'options'))
    return sets, data


def words_of(args, data):
    """Split like a shell would; without %P the program and the data files are appended."""
    words = []
    for w in shlex.split(args):
        words += [PROGRAM] if w == '%P' else data if w == '%G' else [w]
    stdin = None
    if '<' in words:
        i = words.index('<')
        stdin = words[i + 1]
        del words[i:i + 2]
    return words if '%P' in args else words + [PROGRAM] + data, stdin


# expected.txt: records "== SET STREAM SIZE" + SIZE bytes, or "== SET STREAM = OTHER-SET". gmon.sum is
# in hexadecimal. No stdout or stderr: it is empty. "outline" instead of "stdout": GNU
# prints explanatory texts there; these are the other lines, which must occur in this order.
def read_expected(case):
    data, at, ret = open(os.path.join(HERE, case, 'expected.txt'), 'rb').read(), 0, {}
    while at < len(data):
        end = data.index(b'\n', at)
        _, name, stream, *rest = data[at:end].decode().split(' ')
        at = end + 1
        seen = ret.setdefault(name, {})
        if rest[0] == '=':
            seen[stream] = ret[rest[1]][stream]
            continue
        text = data[at:at + int(rest[0])]
        at += int(rest[0]) + 1
        seen[stream] = bytes.fromhex(text.decode()) if stream == 'gmon.sum' else text
    return ret


def write_expected(case, recorded):
    known = {}
    with open(os.path.join(HERE, case, 'expected.txt'), 'wb') as f:
        for name, seen in recorded.items():
            for stream, text in seen.items():
                same = known.setdefault((stream, text), name)
                if same != name:
                    f.write(f'== {name} {stream} = {same}\n'.encode())
                    continue
                if stream == 'gmon.sum':
                    text = b'\n'.join(text[i:i + 48].hex().encode() for i in range(0, len(text), 48))
                f.write(f'== {name} {stream} {len(text)}\n'.encode() + text + b'\n')


def outline(text, brief):
    """The lines of `brief` that are in `text` too."""
    lines = set(text.split(b'\n'))
    return b'\n'.join(l for l in brief.split(b'\n') if l in lines)


def missing_line(text, wanted):
    """The first line of `wanted` that does not follow the ones before it in `text`, or None."""
    lines = iter(text.split(b'\n'))
    for w in wanted.split(b'\n'):
        if not any(l == w for l in lines):
            return w
    return None


def record(case, folder):
    sets, data = read_options(case)
    recorded = {}
    for name, _, args in sets:
        seen = observe(gnu(), folder, *words_of(args, data))
        brief = observe(gnu(), folder, *words_of('-b ' + args, data))
        if seen.get('stdout', b'') != brief.get('stdout', b''):
            seen['outline'] = outline(seen.pop('stdout'), brief['stdout'])
        recorded[name] = seen
    write_expected(case, recorded)


def compare(seen, want):
    """What differs, as text; '' if nothing does."""
    if 'outline' not in want:
        return difference(seen, want)
    seen, want = dict(seen), dict(want)
    line = missing_line(seen.pop('stdout', b''), want.pop('outline'))
    lost = '' if line is None else f'stdout: not there, or not in this place: {line!r}\n'
    return lost + difference(seen, want)


def test(tap, subject, case, folder):
    expected = read_expected(case)
    sets, data = read_options(case)
    for name, args, recorded_as in sets:
        title = f'{case} {name}: gprof {args}'
        if subject.is_gnu and args != recorded_as:
            tap.skip(title, 'GNU prints internals here')
            continue
        want = expected[name]
        diff = compare(observe(subject, folder, *words_of(args, data)), want)
        tap.ok(not diff, title, diff)
        if want['status'] == b'0':
            seen = observe(subject, folder, *words_of(args, data), compat=None)
            diff = compare(output(seen), output(want))
            tap.ok(not diff, f'{title} (by default)', diff)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--record', action='store_true')
    ap.add_argument('rest', nargs='*')
    a = ap.parse_args()
    subject = gnu() if a.record else Subject(a.rest.pop(0))
    every = sorted(os.path.dirname(p) for p in glob.glob('*/options', root_dir=HERE))
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-cases.') as top:
        shutil.copytree(HERE, top, dirs_exist_ok=True, ignore=shutil.ignore_patterns('expected.txt'))
        for case in a.rest or every:
            if a.record:
                record(case, os.path.join(top, case))
            else:
                test(tap, subject, case, os.path.join(top, case))
    sys.exit(0 if a.record else tap.done())


main()

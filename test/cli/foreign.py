"""Files as other programs and people leave them: small ones that unfold to much, and ones that are not quite as specified.

    foreign.py BUILD
"""
import csv
import gzip
import io
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

MB = 1 << 20


class Kin:
    def __init__(self, tap, build, folder):
        self.tap, self.folder = tap, folder
        self.program = os.path.join(os.path.abspath(build), 'kin')

    def run(self, *args, most=None):
        """With `most`: in so many bytes of address space, and seconds of CPU time that no correct run needs."""
        def limit():
            if most:
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
                resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        return subprocess.run([self.program, *args], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors='replace', timeout=300, preexec_fn=limit, env={**os.environ, 'LC_ALL': 'C'})

    def file(self, name, data):
        with open(os.path.join(self.folder, name), 'wb') as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return name

    def flat(self, name):
        """{function: (self, inclusive)}"""
        done = self.run('flat', '--format=csv', '--columns=name,self,inclusive', name)
        return {r['name']: (float(r['self'] or 0), float(r['inclusive'] or 0)) for r in csv.DictReader(io.StringIO(done.stdout))}

    def reads(self, what, name, data, expected, status=0, says=''):
        """The file is read with these times and this status."""
        done = self.run('info', self.file(name, data))
        found = self.flat(name)
        self.tap.ok(found == expected and done.returncode == status and says in done.stderr and (status or not done.stderr), what,
                    f'{found}\n{done.returncode} {done.stderr}')


# ---- what unfolds ----

def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field, n):
    return varint(field << 3) + varint(n)


def pprof(strings, *parts):
    return b''.join([message(1, number(1, 1) + number(2, 2)), *(message(6, s) for s in [b'', b'samples', b'count', *strings]), *parts])


def repeated_lines(locations, lines, samples=1):
    """Each sample repeats a location that has many inlined functions."""
    location = message(4, number(1, 1) + message(4, number(1, 1)) * lines)
    sample = message(2, message(1, varint(1) * locations) + message(2, varint(1)))
    return gzip.compress(pprof([b'f'], message(5, number(1, 1) + number(2, 3)), location, sample * samples))


def one_long_string(n):
    """Everything refers to a name of 1 MB."""
    parts = [message(5, number(1, i) + number(2, 3)) + message(4, number(1, i) + message(4, number(1, i))) +
             message(2, number(1, i) + number(2, 1) + message(3, number(1, 4) + number(2, 3))) + message(3, number(1, i) + number(5, 3))
             for i in range(1, n)]
    return pprof([b'x' * 1000000, b'comm'], *parts)


def open_frames(n):
    events = [{'type': 'O', 'frame': 0, 'at': i} for i in range(n)] + [{'type': 'C', 'frame': 0, 'at': n + i} for i in range(n)]
    return json.dumps({'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'f'}]},
                       'profiles': [{'type': 'evented', 'name': 'x', 'unit': 'none', 'startValue': 0, 'endValue': 2 * n, 'events': events}]})


def tables_in_turns(n):
    """Threads with tables of their own, and with common ones, in turns; one name of 1 MB."""
    many = list(range(50000))
    common = {'stringArray': ['a' * 1000000], 'funcTable': {'name': [0] * 50000, 'fileName': [0] * 50000},
              'frameTable': {'func': many, 'line': many}, 'stackTable': {'frame': many, 'prefix': [None] * 50000}}
    samples = {'stack': [0], 'time': [1]}
    own = {'name': 'u', 'stackTable': {'frame': [0], 'prefix': [None]}, 'frameTable': {'func': [0]}, 'funcTable': {'name': [0]},
           'samples': samples}
    return json.dumps({'meta': {'preprocessedProfileVersion': 55, 'startTime': 1}, 'libs': [], 'shared': common,
                       'threads': [{'name': 't', 'samples': samples}, own] * n})


def long_names(n):
    lines = ['# callgrind format\nevents: Ir\n', *(f'{key}=(1) {key * 400000}\n' for key in ('fl', 'ob', 'fn'))]
    lines += [f'fn=(1)\n{i % 1000} 1\ncfn=(1)\ncalls=1 1\n{i % 1000} 1\n' for i in range(n)]
    return ''.join(lines)


def callers_of(n, callee, link):
    """Many callers, each of one member of a long chain, or of a ring, of functions."""
    lines = ['# callgrind format\nevents: Ir\n', *(f'fn=c{i}\n1 1\ncfn=l{callee(i)}\ncalls=1 1\n1 5\n' for i in range(n))]
    lines += [f'fn=l{i}\n1 1\ncfn=l{link(i)}\ncalls=1 1\n1 {n * 4 - i}\n' for i in range(n)]
    return ''.join(lines)


def unfolds(kin):
    for what, name, data, status in (
            ('a location repeated in a stack, with many inlined lines', 'repeated.pb.gz', repeated_lines(100000, 100000), 1),
            ('the same in many stacks', 'cycle.pb.gz', repeated_lines(10000, 500, samples=200), 1),
            ('one long string, of which everything refers to', 'string.pb', one_long_string(100000), 0),
            ('open frames of an evented profile', 'open.speedscope.json', open_frames(60000), 0),
            ('tables of a Firefox profile in turns', 'turns.json', tables_in_turns(20000), 0),
            ('long names in each line of callgrind data', 'name.callgrind', long_names(60000), 0),
            ('a chain of functions below many callers', 'chain.callgrind', callers_of(20000, lambda i: 0, lambda i: i + 1), 0),
            ('a ring of functions below many callers', 'ring.callgrind', callers_of(20000, lambda i: i, lambda i: (i + 1) % 20000), 0)):
        done = kin.run('info', kin.file(name, data), most=640 * MB)
        said = status == 0 or 'damaged' in done.stderr
        kin.tap.ok(done.returncode == status and said, f'{what}: bounded', f'{done.returncode} {done.stderr[:2000]}')


# ---- V8 ----

def v8(kin):
    frame = {'functionName': 'f', 'url': '', 'lineNumber': 1}
    for what, ups in (('ring', [5, 1, 2, 3, 4]), ('node that is its own caller', [1])):
        nodes = [{'id': i + 1, 'callFrame': {**frame, 'functionName': f'f{i}'}, 'parent': up} for i, up in enumerate(ups)]
        data = {'nodes': nodes, 'startTime': 1, 'endTime': 9, 'samples': [1], 'timeDeltas': [1]}
        done = kin.run('info', kin.file('ring.cpuprofile', json.dumps(data)))
        kin.tap.ok(done.returncode == 1 and 'their own callers' in done.stderr, f'a .cpuprofile with a {what} is damaged', done.stderr)
    leaf = {**frame, 'functionName': 'leaf', 'id': 3, 'hitCount': 6, 'children': []}
    work = {**frame, 'functionName': 'work', 'id': 2, 'hitCount': 14, 'children': [leaf]}
    head = {**frame, 'functionName': '(root)', 'id': 1, 'hitCount': 0, 'children': [work]}
    old = {'head': head, 'startTime': 10, 'endTime': 10.02, 'samples': [2, 3], 'timestamps': [10000000, 10001000]}
    kin.reads("V8's profile of old, a tree without nodes", 'old.cpuprofile', json.dumps(old), {'work': (14, 20), 'leaf': (6, 6)})


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        kin = Kin(tap, sys.argv[1], folder)
        unfolds(kin)
        v8(kin)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""Files as other programs and people leave them: small ones that unfold to much, and ones that are not quite as specified.

    foreign.py BUILD
"""
import csv
import gzip
import io
import json
import os
import re
import resource
import struct
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


# ---- large numbers ----

def large(kin):
    """A sum beyond 64 bits is one total everywhere, and said."""
    n = 1 << 64
    for what, name, data in (
            ('two weights', 'sum.folded', f'a;b {n // 2 + 5}\na;c {n // 2 + 5}\n'),
            ('a weight that does not fit', 'weight.folded', f'a;b {n * 5}\na;c 5\n'),
            ('costs', 'costs.callgrind', f'# callgrind format\nevents: Ir\nfn=f\n1 {n - 1}\nfn=g\n1 7\n'),
            ('calls', 'calls.callgrind', '# callgrind format\nevents: Ir\n' + ''.join(
                f'fn=f\n{i} 1\ncfn=g\ncalls={n - 1} 1\n{i} 1\n' for i in (1, 2)) + 'fn=g\n1 2\n'),
            ('nanoseconds', 'time.pb', pprof([b'seconds', b'f'], message(1, number(1, 3) + number(2, 3)),
                                             message(5, number(1, 1) + number(2, 4)), message(4, number(1, 1) + message(4, number(1, 1))),
                                             message(2, message(1, varint(1)) + message(2, varint(1) + varint(1 << 62))))),
            ('nested frames of V8', 'hits.cpuprofile', json.dumps({'nodes': [
                {'id': i, 'hitCount': n - 9, 'callFrame': {'functionName': f'f{i}', 'url': '', 'lineNumber': 1}} for i in range(3)]}))):
        kin.file(name, data)
        info = kin.run('info', '--strict', name)
        kin.tap.ok(info.returncode == 1 and re.search('a sum was too large +yes', info.stdout), f'{what}: said', info.stdout + info.stderr)
        for command in (['flat'], ['graph'], ['report', '--stdio', '-g', 'none'], ['report', '--stdio', '-g', 'caller']):
            shares = [float(s) for s in re.findall(r'([\d.]+)%', kin.run(*command, name).stdout)]
            kin.tap.ok(shares and max(shares) <= 100 and min(shares) >= 0, f'{what}: {" ".join(command)}: no share above 100 %', str(shares))


# ---- texts ----

FRAMES = 'app 1 1.000100: 250000 cpu-clock:u: \n\t 55d0c0de1139 work+0x10 (/app)\n\t 55d0c0de1180 main+0x20 (/app)\n\n'


def texts(kin):
    folded = 'main;parse;lex 7\nmain;parse;token 3\nmain;emit 5'
    times = {'lex': (7, 7), 'token': (3, 3), 'emit': (5, 5), 'parse': (0, 10), 'main': (0, 15)}
    kin.reads('folded stacks without a newline at the end', 'end.folded', folded, times)
    kin.reads('folded stacks of Windows', 'crlf.folded', folded.replace('\n', '\r\n'), times)
    kin.tap.ok(re.search('last line +without an end', kin.run('info', 'end.folded').stdout), 'kin info notes that the last line has no end')
    said = kin.run('script', '-C', '0', 'end.folded').stderr
    kin.tap.ok("no processor '0': the profile records none" in said, 'processors that the data does not have', said)
    calls = 'version: 1\ncreator: hand\nevents: Instructions\n\nfl=a.c\nfn=main\n16 20\ncfi=b.c\ncfn=work\ncalls=2 40\n17 600\n\nfl=b.c\nfn=work\n40 600'
    for name, text in ('end.callgrind', calls), ('crlf.callgrind', calls.replace('\n', '\r\n')):
        kin.reads(f'callgrind data, {name}', name, text, {'work': (600, 600), 'main': (20, 620)})
    half = {'work': (0.0005, 0.0005), 'main': (0, 0.0005)}
    for name, text in ('end.script', (FRAMES * 2).rstrip('\n')), ('crlf.script', (FRAMES * 2).replace('\n', '\r\n')):
        kin.reads(f'perf script, {name}', name, text, half)
    bad = FRAMES + FRAMES.replace('55d0c0de1139 work+0x10 (/app)', 'NOT A FRAME') + FRAMES
    kin.reads('perf script with a line that is no frame', 'bad.script', bad,
              {'work': (0.0005, 0.0005), '[unknown]': (0.00025, 0.00025), 'main': (0, 0.00075)}, 1, 'line 6')
    bare = ('java 42 cycles:\nffffffff8103d0ca write_reg ([kernel.kallsyms])\n7f00dead0010 Lorg/app/Main;::run (/tmp/perf-42.map)\n'
            '7f00dead0400 start_thread (/lib/libpthread.so.0)\n\n'
            'java 42 cycles:\n7f00dead0010 Lorg/app/Main;::run (/tmp/perf-42.map)\n7f00dead0400 start_thread (/lib/libpthread.so.0)\n\n')
    kin.reads('perf script whose frames are not indented', 'bare.script', bare,
              {'write_reg': (1, 1), 'Lorg/app/Main;::run': (1, 2), 'start_thread': (0, 2)})
    kin.reads("simpleperf's report_sample.py", 'simpleperf.script',
              'Game\t2512 [007] 115539.936601:\t\t1000000 task-clock:u:\n\tb3cea6c4\tLock::unlock() (/system/lib/libc.so)\n'
              '\tb3cea535\tallow() (/system/lib/libc.so)\n\n', {'Lock::unlock()': (0.001, 0.001), 'allow()': (0, 0.001)})


def relatives(kin):
    """What kin does not read, and what makes files of it that kin reads."""
    for name, data, way in (
            ('prof.out', b'{\xa9\x03z\x04a.py' + bytes(30), 'py-spy'), ('ruby.dump', b'\x04\b{\x07:\fversion' + bytes(30), '--stackcollapse'),
            ('v8.log', b'v8-version,10,2,154,26,-node.22,0\n', '--cpu-prof'), ('sample.txt', b'Analysis of sampling app (pid 1)\n', 'collapse-sample'),
            ('bpftrace.txt', b'Attaching 1 probe...\n\n@[\n    read+12\n    main+3\n]: 5\n', 'stackcollapse-bpftrace'),
            ('dtrace.txt', b'\n              unix`idle+0x6\n              unix`main+0x3\n               55\n', 'collapse-dtrace'),
            ('prof.csv', b'Level,Function Name,Inclusive\n1,main,2\n', 'collapse-vsprof'),
            ('ghc.prof', b'\tThu Jan  1 00:00 2026 Time and Allocation Profiling Report  (Final)\n', 'collapse-ghcprof'),
            ('jstack.txt', b'2026-01-01 00:00:00\nFull thread dump OpenJDK 64-Bit\n', 'stackcollapse-jstack')):
        done = kin.run('flat', kin.file(name, data))
        kin.tap.ok(done.returncode == 1 and way in done.stderr, f'{name}: {way}', done.stderr + done.stdout)


# ---- gprof's listings ----

FLAT = """Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total           
 time   seconds   seconds    calls  ms/call  ms/call  name    
 70.00      0.70     0.70      100     7.00     7.00  leaf(int, char const*)
 20.00      0.90     0.20       10    20.00    20.00  odd
 10.00      1.00     0.10                             main
  0.00      1.00     0.00       11     0.00    60.00  even
"""
GRAPH = """\t\t     Call graph (explanation follows)


granularity: each sample hit covers 2 byte(s) for 1.00% of 1.00 seconds

index % time    self  children    called     name
                                                 <spontaneous>
[1]    100.0    0.10    0.90                 main [1]
                0.20    0.56       1/1           even <cycle 1> [4]
                0.14    0.00      20/100         leaf(int, char const*) [3]
-----------------------------------------------
[2]     76.0    0.20    0.56       1+20      <cycle 1 as a whole> [2]
                0.20    0.56      10             odd <cycle 1> [5]
                0.00    0.00      11             even <cycle 1> [4]
-----------------------------------------------
                0.14    0.00      20/100         main [1]
                0.56    0.00      80/100         odd <cycle 1> [5]
[3]     70.0    0.70    0.00     100         leaf(int, char const*) [3]
-----------------------------------------------
                                  10             odd <cycle 1> [5]
                0.20    0.56       1/1           main [1]
[4]      0.0    0.00    0.00      11+3       even <cycle 1> [4]
                                  10             odd <cycle 1> [5]
-----------------------------------------------
                                  10             even <cycle 1> [4]
[5]     76.0    0.20    0.56      10         odd <cycle 1> [5]
                0.56    0.00      80/100         leaf(int, char const*) [3]
                                  10             even <cycle 1> [4]
-----------------------------------------------
"""
EXPLAINED = """
 This table describes the call tree of the program, and was sorted by
 the total amount of time spent in each function and its children.

     index\tA unique number given to each element of the table.

\f
Index by function name

   [4] even                   [3] leaf(int, char const*) [1] main
"""


def as_bsd(graph):
    """The same in BSD's layout."""
    heading = ('\n                                  called/total       parents \nindex  %time    self descendents  called+self    name    \tindex\n'
               '                                  called/total       children\n\n')
    lines = graph.split('\n')
    at = next(i for i, line in enumerate(lines) if line.startswith('index'))
    body = [re.sub(r'^(.{17,19}\.\d\d)( +\d+\.\d\d)', r'\1    \2', line) for line in lines[at + 1:]]
    return 'granularity: each sample hit covers 4 byte(s) for 1.00% of 1.00 seconds\n' + heading + \
        '\n'.join(line + '\n' if line.startswith('---') else line for line in body)


def listings(kin):
    both = {'leaf(int, char const*)': (0.7, 0.7), 'odd': (0.2, 0.76), 'main': (0.1, 1.0), 'even': (0, 0.76)}
    for name, text in (('both', FLAT + '\n' + GRAPH), ('explained', FLAT + '\f\n %         the percentage of the total running\n\n' + GRAPH + EXPLAINED),
                       ('graph', GRAPH), ('crlf', GRAPH.replace('\n', '\r\n')), ('bsd', as_bsd(GRAPH)), ('both of BSD', as_bsd(GRAPH) + '\f\n' + FLAT)):
        kin.reads(f"gprof's listing, {name}", 'listing.txt', text, both)
        done = kin.run('graph', '--format=csv', '--columns=name,called', 'listing.txt')
        kin.tap.ok(all(re.search(row, done.stdout, re.M) for row in (r'^function.*leaf.*,100$', r'^caller.*main,20/100$', r'^caller.*odd.*,80/100$',
                                                                             r'^function.*even.*,1\+3$')),
                   f"gprof's listing, {name}: its calls", done.stdout + done.stderr)
    done = kin.run('flat', '--format=csv', '--columns=name,self,calls', kin.file('flat.txt', FLAT))
    found = {r['name']: (float(r['self']), r['calls']) for r in csv.DictReader(io.StringIO(done.stdout))}
    kin.tap.ok(found == {'leaf(int, char const*)': (0.7, '100'), 'odd': (0.2, '10'), 'main': (0.1, ''), 'even': (0.0, '11')} and
               not done.returncode, "gprof's flat profile alone has times and calls", f'{found} {done.stderr}')
    for what, name, text, says in (
            ('that is cut off', 'cut.txt', GRAPH[:GRAPH.index('[3]     70.0')], 'cut off in line 17'),
            ('with a line that is none', 'bad.txt', GRAPH.replace('                0.56    0.00      80/100         odd', ' what is'), 'line 17')):
        done = kin.run('flat', kin.file(name, text))
        kin.tap.ok(done.returncode == 1 and says in done.stderr and 'main' in done.stdout, f"gprof's listing {what}", done.stderr)
    slower = kin.file('slower.txt', FLAT.replace('0.20       10    20.00    20.00  odd', '0.90       10    90.00    90.00  odd'))
    done = kin.run('diff', 'flat.txt', slower)
    kin.tap.ok('odd' in done.stdout, 'two listings are compared', done.stdout + done.stderr)


# ---- perf.data of a newer perf ----

def perf_data(sample_type, read_format, records, features=()):
    """A file of one event, of records (kind, misc, body), and features (number, bytes)."""
    attr = struct.pack('<IIQQQQQ', 1, 136, 0, 1000, sample_type, read_format, 0).ljust(136, b'\0') + struct.pack('<QQ', 0, 0)
    data = b''.join(struct.pack('<IHH', kind, misc, 8 + len(body)) + body for kind, misc, body in records)
    head = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0)
    bits, sections, texts = 0, b'', b''
    for number, body in sorted(features):
        bits |= 1 << number
        sections += struct.pack('<QQ', 104 + len(attr) + len(data) + 16 * len(features) + len(texts), len(body))
        texts += body
    return head[:72] + bits.to_bytes(32, 'little') + attr + data + sections + texts


SIMPLEPERF = '/data/app/libgame.so', 2, 0x2000, [(0x2010, 0x20, b'_ZN4game4drawEi'), (0x2030, 0x10, b'tick')], 0x1000
IN_KERNEL = '[kernel.kallsyms]', 0, 0, [(0xffffffff81000000, 0x100, b'do_work')], None


def in_plain(path, kind, addr, functions, offset):
    body = path.encode() + b'\0' + struct.pack('<IQI', kind, addr, len(functions))
    body += b''.join(struct.pack('<QI', a, n) + name + b'\0' for a, n, name in functions)
    body += b'' if offset is None else struct.pack('<Q', offset)
    return struct.pack('<I', len(body)) + body


def in_messages(path, kind, addr, functions, offset):
    body = message(1, path.encode()) + number(2, kind) + number(3, addr)
    body += b''.join(message(4, number(1, a) + number(2, n) + message(3, name)) for a, n, name in functions)
    body += b'' if offset is None else message(6, number(1, offset))
    return struct.pack('<I', len(body)) + body


def simpleperf(kin):
    """Functions of files of a phone, in its data."""
    path = SIMPLEPERF[0].encode().ljust(24, b'\0')
    records = [(1, 2, struct.pack('<IIQQQ', 5, 5, 0x70001000, 0x2000, 0x1000) + path),
               (1, 1, struct.pack('<IIQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x1000, 0) + b'[kernel.kallsyms]'.ljust(24, b'\0')),
               *[(9, 2, struct.pack('<QII', ip, 5, 5)) for ip in (0x70001010, 0x7000102f, 0x70001030, 0x70001040)],
               (9, 1, struct.pack('<QII', 0xffffffff81000010, 5, 5))]
    for number_of, how in ((128, in_plain), (132, in_messages)):
        whole = how(*SIMPLEPERF) + how(*IN_KERNEL)
        name = kin.file('phone.data', perf_data(3, 0, records, [(number_of, whole)]))
        rows = {r['name']: r['self'] for r in json.loads(kin.run('flat', '-f', 'json', name).stdout)['rows']}
        kin.tap.ok({k: rows.get(k) for k in ('game::draw(int)', 'tick', 'do_work')} == {'game::draw(int)': 2e-6, 'tick': 1e-6, 'do_work': 1e-6},
                   f"simpleperf's functions, feature {number_of}", str(rows))
        for cut in (3, 30, len(whole) // 2, len(whole) - 1):
            name = kin.file('cut.data', perf_data(3, 0, records, [(number_of, whole[:cut])]))
            done = kin.run('flat', name)
            kin.tap.ok('the list of functions is damaged' in done.stdout, f'... cut off at {cut} bytes: said', done.stdout + done.stderr)


def fifos(kin):
    """A FIFO is read as a pipe is, once: whatever the command."""
    text = 'main;parse 7\nmain;emit 5\n'
    plain = kin.file('plain.folded', text)
    fifo = os.path.join(kin.folder, 'a.fifo')
    os.mkfifo(fifo)
    for words in (['report'], ['flat'], ['graph'], ['info'], ['script'], ['diff', plain], ['check', plain], ['merge', '-o', 'sum.kin'],
                  ['export', '--to=speedscope', '-o', 'out.json'], ['html', '-o', 'out.html'], ['report', '-i']):
        with subprocess.Popen(['sh', '-c', 'sleep 0.1; exec cat "$0" > "$1"', os.path.join(kin.folder, plain), fifo], stderr=subprocess.PIPE) as writer:
            done = kin.run(*words, 'a.fifo')
            writer.kill()
        direct = kin.run(*words, plain)
        same = done.stdout.replace('a.fifo', 'plain.folded') == direct.stdout or words[0] == 'info'
        kin.tap.ok(done.returncode == direct.returncode and same, f'a FIFO: kin {" ".join(words)}',
                   f'{done.returncode}, not {direct.returncode}\n{done.stdout}{done.stderr}\n{direct.stdout}{direct.stderr}')
    done = kin.run('flat', 'a.fifo')
    kin.tap.ok(done.returncode == 1 and 'a.fifo: 0 bytes are too short' in done.stderr, 'a FIFO without a writer is not waited for',
               done.stdout + done.stderr)


def newer_perf(kin):
    ip_tid, chain, read, unknown_bit = 3, 1 << 5, 1 << 4, 1 << 25
    sample = lambda more=b'': (9, 2, struct.pack('<QII', 0x1000, 5, 5) + more)
    deferred = struct.pack('<QQQQ', 3, (1 << 64) - 512, (1 << 64) - 640, 77)
    for what, data, says in (
            ('all of it is known', perf_data(ip_tid, 0, [sample(), sample()]), None),
            ('a kind of record that is not known', perf_data(ip_tid, 0, [sample(), (23, 0, bytes(8)), sample()]), '1 records of a kind'),
            ("another, of perf's own", perf_data(ip_tid, 0, [sample(), (200, 0, bytes(8)), (201, 0, bytes(8))]), 'first: 200'),
            ('a field of samples that is not known', perf_data(ip_tid | unknown_bit, 0, [sample(bytes(8))]), 'a field that kin does not know'),
            ('a deferred stack that never came', perf_data(ip_tid | chain, 0, [sample(deferred)]), '1 samples lack the part'),
            ('losses that only the counters have', perf_data(ip_tid | read | 1 << 16, 4 | 16, [(9, 2, struct.pack(
                '<QQIIQQQ', 1, 0x1000, 5, 5, 10, 1, 3))]).replace(struct.pack('<QQ', 0, 0), struct.pack('<QQ', 0, 0)), None)):
        name = kin.file('newer.data', data)
        done = kin.run('info', '--strict', name)
        good = says in done.stdout + done.stderr and done.returncode == 1 if says else not done.returncode
        kin.tap.ok(good, f'perf.data, {what}', f'{done.returncode} {done.stdout} {done.stderr}')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        kin = Kin(tap, sys.argv[1], folder)
        unfolds(kin)
        v8(kin)
        large(kin)
        simpleperf(kin)
        fifos(kin)
        texts(kin)
        relatives(kin)
        listings(kin)
        newer_perf(kin)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

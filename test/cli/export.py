"""What kin export writes, by what other programs read out of it.

    export.py BUILD

Programs that are not installed are skipped, and said: go (golang-go), callgrind_annotate (valgrind), protoc
(protobuf-compiler), node with speedscope's schema.
"""
import collections
import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

FORMATS = ['pprof', 'callgrind', 'speedscope', 'firefox', 'chrome-trace', 'cpuprofile', 'otlp', 'folded', 'json', 'kin', 'jsonl', 'csv', 'rowbinary']


def run(folder, *args, text=True, env=None, **kw):
    return subprocess.run(args, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=text, timeout=120,
                          env={**os.environ, **(env or {})}, **kw)


def samples(seed):
    """As perf script prints them: two events, threads, libraries, recursion, roots that are called elsewhere."""
    rng = random.Random(seed)
    names = ['main', 'parse', 'eval', 'walk', 'gc', 'read', 'write', 'std::sort<int>', 'operator()(char)', 'a b']
    objects = {n: rng.choice(['/bin/prog', '/lib/libc.so.6']) for n in names}
    text = ''
    for n in range(400):
        stack = [rng.choice(names) for _ in range(rng.randint(1, 7))] + (['main'] if rng.random() < .8 else [])
        tid = rng.choice([10, 11, 12])
        text += f'prog 10/{tid} [000] {n}.{rng.randint(0, 999999):06}: {rng.randint(1, 1000)} ' \
                f'{rng.choice(["cycles", "cycles", "faults"])}:\n'
        text += ''.join(f'\t{rng.randint(4096, 99999):x} {f}+0x1 ({objects[f]})\n' for f in stack) + '\n'
    return text


def truth(text):
    """{event: {function: (self, inclusive)}}, each sample once."""
    own, all_of = (collections.defaultdict(collections.Counter) for _ in range(2))
    for block in text.split('\n\n'):
        lines = block.splitlines()
        if not lines:
            continue
        weight, event = re.search(r': (\d+) (\w+):$', lines[0]).groups()
        stack = [re.fullmatch(r'\t\w+ (.*)\+0x1 \(.*\)', line).group(1) for line in lines[1:]]
        own[event][stack[0]] += int(weight)
        for f in set(stack):
            all_of[event][f] += int(weight)
    return {e: {f: (own[e][f], all_of[e][f]) for f in all_of[e]} for e in all_of}


def of_pprof(folder, event):
    """Flat and cum by go tool pprof, without conversion of units."""
    done = run(folder, 'go', 'tool', 'pprof', '-top', '-nodecount=0', '-nodefraction=0', '-unit=minimum',
               f'-sample_index={event}', 'x.pb.gz', env={'HOME': folder})
    rows = re.findall(r'^ *(-?[\d.]+)\w* +[\d.]+% +[\d.]+% +(-?[\d.]+)\w* +[\d.]+%  (.*)$', done.stdout, re.M)
    return {name.replace(' (inline)', ''): (int(own), int(both)) for own, both, name in rows}


def of_callgrind(folder, column, inclusive):
    done = run(folder, 'callgrind_annotate', '--threshold=100', '--auto=no', f'--inclusive={inclusive}',
               os.path.join(folder, 'x.callgrind'), env={'LC_ALL': 'C'})
    rows = re.findall(r'^ *([\d,.]+(?: *\([\d. ]+%\))?) +([\d,.]+(?: *\([\d. ]+%\))?)  \?\?\?:(.*?)(?: \[.*\])?$',
                      done.stdout, re.M)
    costs = collections.Counter()
    for row in rows:
        costs[row[2]] += int(re.sub(r'\(.*|\D', '', row[column]) or 0)
    return costs


def of_speedscope(data):
    sums = {}
    for p in data['profiles']:
        event = p['name'].split(': ')[1]
        own, both = sums.setdefault(event, (collections.Counter(), collections.Counter()))
        assert len(p['samples']) == len(p['weights']) and p['endValue'] == sum(p['weights'])
        for stack, weight in zip(p['samples'], p['weights']):
            names = [data['shared']['frames'][f]['name'] for f in stack]
            own[names[-1]] += weight
            for f in set(names):
                both[f] += weight
    return {e: {f: (own[f], both[f]) for f in both} for e, (own, both) in sums.items()}


def of_v8(profile):
    """As VS Code's viewer does it: timeDeltas[0] is before the first sample, the last sample has the rest."""
    nodes = {n['id']: n for n in profile['nodes']}
    up = {child: n['id'] for n in profile['nodes'] for child in n['children']}
    times = profile['timeDeltas'][1:] + [profile['endTime'] - profile['startTime'] - sum(profile['timeDeltas'])]
    own, both = collections.Counter(), collections.Counter()
    for sample, time_us in zip(profile['samples'], times):
        names = []
        while sample in up:
            names.append(nodes[sample]['callFrame']['functionName'])
            sample = up[sample]
        names = [n for n in names if not re.fullmatch(r'\(prog/1\d\)', n)]
        own[names[0]] += time_us
        for name in set(names):
            both[name] += time_us
    return {f: (own[f], both[f]) for f in both}


def columns_agree(table):
    return all(len(v) == table['length'] for v in table.values() if isinstance(v, list))


def messages(text):
    """What protoc --decode prints: {field: [number, string or message]}."""
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith('{'):
            inner = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == '}':
            stack.pop()
        else:
            key, value = line.split(': ', 1)
            stack[-1][key].append(value[1:-1] if value.startswith('"') else int(value))
    assert len(stack) == 1
    return stack[0]


def one(message, key):
    """A field that is there at most once; of numbers 0 is not written."""
    values = message[key]
    assert len(values) <= 1
    return values[0] if values else 0


def of_otlp(text):
    """({event: {function: (self, inclusive)}}, {attribute of a sample})"""
    data = messages(text)
    tables = data['dictionary'][0]
    strings = tables['string_table']
    for name, table in tables.items():
        assert not table[0], name  # the first of each is empty
    sums, seen = {}, set()
    for profile in data['resource_profiles'][0]['scope_profiles'][0]['profiles']:
        own, both = collections.Counter(), collections.Counter()
        for sample in profile['samples']:
            names = []
            for location in tables['stack_table'][one(sample, 'stack_index')]['location_indices']:
                for line in tables['location_table'][location]['lines']:
                    names.append(strings[one(tables['function_table'][one(line, 'function_index')], 'name_strindex')])
            weight, = sample['values']
            own[names[0]] += weight
            for f in set(names):
                both[f] += weight
            for i in sample['attribute_indices']:
                a = tables['attribute_table'][i]
                value = one(a, 'value')
                seen.add((strings[one(a, 'key_strindex')], one(value, 'string_value') or one(value, 'int_value')))
        event = strings[one(one(profile, 'sample_type'), 'type_strindex')]
        sums[event] = {f: (own[f], both[f]) for f in both}
    return sums, seen


def of_firefox(data):
    sums = {}
    for t in data['threads']:
        assert all(columns_agree(t[k]) for k in ('samples', 'frameTable', 'stackTable', 'funcTable', 'resourceTable'))
        event = (t['name'].split(': ') + ['cycles'])[1]
        own, both = sums.setdefault(event, (collections.Counter(), collections.Counter()))
        for stack, weight in zip(t['samples']['stack'], t['samples']['weight']):
            names = []
            while stack is not None:
                function = t['frameTable']['func'][t['stackTable']['frame'][stack]]
                names.append(t['stringArray'][t['funcTable']['name'][function]])
                caller = t['stackTable']['prefix'][stack]
                assert caller is None or caller < stack
                stack = caller
            own[names[0]] += weight
            for f in set(names):
                both[f] += weight
    return {e: {f: (own[f], both[f]) for f in both} for e, (own, both) in sums.items()}


def check_type(schema, value, root, where='$'):
    """Checks a value by the part of JSON Schema that speedscope's schema uses. The first mismatch, or None."""
    if '$ref' in schema:
        return check_type(root['definitions'][schema['$ref'].split('/')[-1]], value, root, where)
    if 'anyOf' in schema or 'oneOf' in schema:
        tries = [check_type(s, value, root, where) for s in schema.get('anyOf', schema.get('oneOf'))]
        return None if None in tries else tries[0]
    if 'enum' in schema:
        return None if value in schema['enum'] else f'{where}: {value}'
    if 'const' in schema:
        return None if value == schema['const'] else f'{where}: {value}'
    kind = {'object': dict, 'array': list, 'string': str, 'number': (int, float), 'boolean': bool}.get(schema.get('type'))
    if kind and not isinstance(value, kind):
        return f'{where}: not {schema["type"]}'
    if isinstance(value, dict):
        missing = [k for k in schema.get('required', []) if k not in value]
        if missing:
            return f'{where}: no {missing}'
        for key, of in schema.get('properties', {}).items():
            bad = key in value and check_type(of, value[key], root, f'{where}.{key}')
            if bad:
                return bad
    if isinstance(value, list) and isinstance(schema.get('items'), dict):
        for i, item in enumerate(value):
            bad = check_type(schema['items'], item, root, f'{where}[{i}]')
            if bad:
                return bad
    return None


def slices_nest(events):
    """Slices of a thread lie within each other or apart."""
    threads = collections.defaultdict(list)
    for e in events:
        if e['ph'] == 'X':
            threads[e['pid'], e['tid']].append((round(e['ts'] * 1000), round((e['ts'] + e['dur']) * 1000)))
    for slices in threads.values():
        open_ends = []
        for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < end:
                return False
            open_ends.append(end)
    return bool(threads)


def rows_of_rowbinary(data):
    """Decodes rows into the same objects as those of jsonl."""
    at = 0

    def take(n):
        nonlocal at
        at += n
        return data[at - n:at]

    def number(n):
        return int.from_bytes(take(n), 'little')

    def length():
        n, shift = 0, 0
        while True:
            byte = number(1)
            n, shift = n | (byte & 127) << shift, shift + 7
            if byte < 128:
                return n

    def text():
        return take(length()).decode()

    rows = []
    while at < len(data):
        row = {'time': time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(number(4))), 'event': text(), 'unit': text(),
               'comm': text(), 'weight': number(8), 'count': number(8)}
        for key, read in [('functions', text), ('files', text), ('lines', lambda: number(4)), ('objects', text),
                          ('build_ids', text), ('inlined', lambda: number(1))]:
            row[key] = [read() for _ in range(length())]
        rows.append(row)
    assert at == len(data)
    return rows


def rows_of_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return [{k: v if k in ('time', 'event', 'unit', 'comm') else json.loads(v) for k, v in row.items()} for row in rows]


def rows_agree(tap, kin, folder, want):
    """Sums by stack, for databases."""
    read = lambda name: open(os.path.join(folder, name), 'rb').read()
    rows = [json.loads(line) for line in read('x.jsonl').splitlines()]
    sums = {e: (collections.Counter(), collections.Counter()) for e in want}
    for row in rows:
        own, both = sums[row['event']]
        own[row['functions'][-1]] += row['weight']
        for f in set(row['functions']):
            both[f] += row['weight']
    tap.ok({e: {f: (own[f], both[f]) for f in both} for e, (own, both) in sums.items()} == want, 'jsonl: own and inclusive weights')
    tap.ok(sum(row['count'] for row in rows) == 400 and
           all(len(row[k]) == len(row['functions']) for row in rows for k in ('files', 'lines', 'objects', 'build_ids', 'inlined')),
           'jsonl: all samples; lists are as long as the stack')
    tap.ok(rows_of_csv(read('x.csv').decode()) == rows, 'csv: the same')
    tap.ok(rows_of_rowbinary(read('x.rowbinary')) == rows, 'rowbinary: the same')
    open(os.path.join(folder, 'h.script'), 'w').write('=a,"b 1/1 [000] 1.0: 10 cycles:\n\t1000 f"\x1b,\\n]+0x1 (/bin/a"b)\n\n')
    text = run(folder, kin, 'export', '--to=csv', 'h.script').stdout
    row, = rows_of_csv(text)
    tap.ok(row['comm'] == '\'=a,"b' and row['functions'] == ['f"\x1b,\\n]'] and '\x1b' not in text, 'csv: hostile names are fields', text)


def others_agree(tap, kin, folder, want):
    if tap_has(tap, 'go', 'go tool pprof'):
        for event in want:
            got = of_pprof(folder, event)
            tap.ok(got == want[event], f'go tool pprof: flat and cum of {event}', lambda: f'{got}\n{want[event]}')
        done = run(folder, 'go', 'tool', 'pprof', '-peek', '^eval$', '-sample_index=cycles', 'x.pb.gz', env={'HOME': folder})
        tap.ok(done.returncode == 0 and 'eval' in done.stdout, 'go tool pprof -peek', done.stdout + done.stderr)
        tap.ok('tid' in run(folder, 'go', 'tool', 'pprof', '-tags', 'x.pb.gz', env={'HOME': folder}).stdout,
               'go tool pprof -tags has the threads')
    if tap_has(tap, 'protoc', 'protoc --decode_raw'):
        with gzip.open(os.path.join(folder, 'x.pb.gz')) as f:
            done = subprocess.run(['protoc', '--decode_raw'], input=f.read(), capture_output=True)
        tap.ok(done.returncode == 0 and b'std::sort<int>' in done.stdout, 'protoc decodes the pprof file', done.stderr)
        with open(os.path.join(folder, 'x.otlp'), 'rb') as f:
            done = subprocess.run(['protoc', '--decode=ProfilesData', '-I', HERE, 'otlp.proto'], input=f.read(), capture_output=True)
        tap.ok(done.returncode == 0 and not re.search(rb'^ *[0-9]+[:{ ]', done.stdout, re.M), 'otlp: protoc knows all fields', done.stderr)
        sums, seen = of_otlp(done.stdout.decode())
        tap.ok(sums == want, 'otlp: own and inclusive weights', lambda: f'{sums}\n{want}')
        tap.ok(seen == {('thread.name', 'prog'), ('process.pid', 10), *(('thread.id', n) for n in (10, 11, 12))},
               'otlp: threads of samples', seen)
        with open(os.path.join(folder, 'odd.script'), 'wb') as f:
            f.write(b'a\xff 1/1 [000] 1.0: 10 cycles:\n\t1000 f\xe9\xc3\xa9+0x1 (/bin/\xffa)\n\n')
        done = run(folder, kin, 'export', '--to=otlp', '-o', 'odd.otlp', 'odd.script')
        with open(os.path.join(folder, 'odd.otlp'), 'rb') as f:
            done = subprocess.run(['protoc', '--decode=ProfilesData', '-I', HERE, 'otlp.proto'], input=f.read(), capture_output=True)
        tap.ok(done.returncode == 0 and rb'"f\357\277\275\303\251"' in done.stdout, 'otlp: names that are no UTF-8 are made so',
               done.stderr + done.stdout)
    if tap_has(tap, 'callgrind_annotate', 'callgrind_annotate'):
        events = next(line for line in open(os.path.join(folder, 'x.callgrind')) if line.startswith('events:')).split()[1:]
        for i, event in enumerate(events):
            got = of_callgrind(folder, i, 'yes')
            got.pop('[root]', None)
            inclusive = collections.Counter({f: both for f, (_, both) in want[event].items()})
            tap.ok(got == inclusive, f'callgrind_annotate: inclusive costs of {event}', lambda: f'{got}\n{inclusive}')
            own = collections.Counter({f: mine for f, (mine, _) in want[event].items()})
            tap.ok(+of_callgrind(folder, i, 'no') == +own, f'callgrind_annotate: own costs of {event}')


def tap_has(tap, program, what):
    if shutil.which(program):
        return True
    tap.skip(what, f'{program} is not installed')
    return False


def speedscope_schema():
    """Where npm puts it; published with the program."""
    roots = [os.environ.get('NODE_PATH', ''), '/usr/lib/node_modules', '/usr/local/lib/node_modules']
    paths = [os.path.join(r, 'speedscope/dist/release/file-format-schema.json') for r in roots if r]
    return next((p for p in paths if os.path.exists(p)), None)


def files_agree(tap, folder, want):
    load = lambda name: json.load(open(os.path.join(folder, name)))
    speedscope, firefox, trace = load('x.speedscope.json'), load('x.profile.json'), load('x.trace.json')
    tap.ok(of_speedscope(speedscope) == want, 'speedscope: own and inclusive weights')
    active = speedscope['profiles'][speedscope['activeProfileIndex']]['name']
    tap.ok(active.endswith(': cycles'), 'speedscope: the event that times are of is shown first', active)
    schema = speedscope_schema()
    if schema:
        bad = check_type({'$ref': '#/definitions/FileFormat.File'}, speedscope, json.load(open(schema)))
        tap.ok(bad is None, 'speedscope: as its schema has it', bad)
    else:
        tap.skip('speedscope: as its schema has it', 'no npm package speedscope')
    tap.ok(of_firefox(firefox) == want, 'firefox: own and inclusive weights')
    tap.ok({lib['path'] for lib in firefox['libs']} >= {'/bin/prog', '/lib/libc.so.6'}, 'firefox: libraries')
    tap.ok(slices_nest(trace['traceEvents']), 'chrome-trace: slices nest')
    lines = load('x.json')['samples']
    tap.ok(sum(s['period'] for s in lines) == sum(own for e in want.values() for own, _ in e.values()), 'json: all weights')


CPU_PROFILE = {
    'nodes': [{'id': 1, 'callFrame': {'functionName': '(root)', 'url': '', 'lineNumber': -1}, 'children': [2]},
              {'id': 2, 'callFrame': {'functionName': 'a', 'url': 'file:///x.js', 'lineNumber': 0}, 'children': [3, 4]},
              {'id': 3, 'callFrame': {'functionName': 'b', 'url': 'file:///x.js', 'lineNumber': 4}},
              {'id': 4, 'callFrame': {'functionName': '', 'url': 'file:///x.js', 'lineNumber': 8}}],
    'startTime': 1000, 'endTime': 8000, 'samples': [3, 2, 4], 'timeDeltas': [0, 1000, 4000]}
OF_CPU_PROFILE = {'b': (.001, .001), 'a': (.004, .007), '(anonymous):9': (.002, .002)}


def heap_node(name, line, size, *children):
    return {'callFrame': {'functionName': name, 'url': 'file:///a.js', 'lineNumber': line}, 'selfSize': size, 'children': children}


# node --heap-prof: nodes are inside each other.
HEAP = {'head': heap_node('(root)', -1, 0,
                          heap_node('main', 3, 10, heap_node('f', 7, 300, heap_node('main', 3, 5))), heap_node('', -1, 7)),
        'samples': [{'size': 300, 'nodeId': 3, 'ordinal': 1}]}


def trace_of(profile):
    """A trace with the same profile in pieces, among other events; the id of a piece's owner follows the piece."""
    nodes = [dict(n, parent={2: 1, 3: 2, 4: 2}.get(n['id'], 0)) for n in profile['nodes']]
    nodes = [{k: v for k, v in n.items() if k != 'children'} for n in nodes]
    own = {'cat': 'disabled-by-default-v8.cpu_profiler', 'id': '0x1', 'ph': 'P', 'pid': 7}
    return {'traceEvents': [
        {'args': {'name': 'CrRendererMain'}, 'name': 'thread_name', 'ph': 'M', 'pid': 7, 'tid': 8, 'ts': 0},
        {'args': {'data': {'startTime': profile['startTime']}}, **own, 'name': 'Profile', 'tid': 8, 'ts': 1},
        {'args': {'data': {'startTime': 'no number', 'nodes': 3}}, 'name': 'other', 'ph': 'X', 'pid': 7, 'tid': 8, 'ts': 1},
        {'args': {'data': {'cpuProfile': {'nodes': nodes[:3], 'samples': profile['samples'][:1]}, 'lines': [3],
                           'timeDeltas': profile['timeDeltas'][:1]}}, **own, 'name': 'ProfileChunk', 'tid': 9, 'ts': 2},
        {**own, 'name': 'ProfileChunk', 'tid': 9, 'ts': 3,
         'args': {'data': {'timeDeltas': profile['timeDeltas'][1:],
                           'cpuProfile': {'nodes': nodes[3:], 'samples': profile['samples'][1:]}}}},
        {'args': {'data': {'endTime': profile['endTime']}}, **own, 'name': 'ProfileChunk', 'tid': 9, 'ts': 4}],
        'metadata': {}}


def field(number, value):
    """Of a protobuf message."""
    def varint(v):
        ret = b''
        while v > 127:
            ret += bytes([v & 127 | 128])
            v >>= 7
        return ret + bytes([v])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def heap_profile(default, unit='bytes'):
    """As Go writes it of the heap: no type of values is called the default one, but in newer versions."""
    texts = ['', 'alloc_objects', 'count', 'inuse_space', unit, 'f', 'g']
    types = [(1, 2), (3, 4)]
    ret = b''.join(field(1, field(1, name) + field(2, unit)) for name, unit in types)
    for function, values in ((1, (10, 100)), (2, (1, 5000))):
        stack = b''.join(field(1, i) for i in range(function, 3))
        ret += field(2, stack + b''.join(field(2, v) for v in values))
        ret += field(4, field(1, function) + field(4, field(1, function))) + field(5, field(1, function) + field(2, 4 + function))
    return ret + b''.join(field(6, t) for t in texts) + (field(14, texts.index(default)) if default else b'')


EVENTED = {
    '$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'a'}, {'name': 'b'}]},
    'profiles': [{'type': 'evented', 'name': 'main', 'unit': 'milliseconds', 'startValue': 0, 'endValue': 14, 'events': [
        {'type': 'O', 'frame': 0, 'at': 0}, {'type': 'O', 'frame': 1, 'at': 2.5}, {'type': 'C', 'frame': 1, 'at': 5},
        {'type': 'C', 'frame': 0, 'at': 14}]}]}


def flat(kin, folder, path, *more):
    """{function: (self, inclusive)} and their order."""
    done = run(folder, kin, 'flat', '--format=csv', '-c', 'self,inclusive,name', *more, path)
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return {name: (float(own), float(both)) for own, both, name in rows}, done


def reads(tap, kin, folder, text, want):
    """Exported files are read again with the same result; laws 1 and 2 hold."""
    for event in want:
        total = sum(own for own, _ in want[event].values())
        before, _ = flat(kin, folder, 'x.script', '--event', event)
        for path in ['x.pb.gz']:
            got, done = flat(kin, folder, path, '--event', event)
            tap.ok(got == before, f'{path}: {event} as before', lambda: f'{got}\n{before}\n{done.stderr}')
            tap.ok(sum(own for own, _ in got.values()) == total, f'{path}: own times add up')
            tap.ok(all(own <= both <= total for own, both in got.values()), f'{path}: no more than all')
    # Functions that the data marks as inlined are at one location with those that they are inlined into.
    with open(os.path.join(folder, 'inlined.script'), 'w', encoding='ascii') as f:
        f.write('prog 10/10 [000] 1.000000: 7 cycles:\n\t1000 in2 (inlined)\n\t1000 in1 (inlined)\n\t1000 f+0x1 (/bin/prog)\n'
                '\t2000 main+0x1 (/bin/prog)\n\nprog 10/10 [000] 2.000000: 5 cycles:\n\t1000 in1 (inlined)\n\t1000 g+0x1 (/bin/prog)\n\n')
    before, _ = flat(kin, folder, 'inlined.script')
    for path, of in (('inlined.pb', 'inlined.script'), ('again.pb', 'inlined.pb')):
        run(folder, kin, 'export', '-o', path, of)
        got, done = flat(kin, folder, path)
        tap.ok(got == before and 'in1 (inlined)' in got, f'{path}: inlined functions are marked', f'{got}\n{before}\n{done.stderr}')
    if tap_has(tap, 'protoc', 'locations of otlp'):
        run(folder, kin, 'export', '--to=otlp', '-o', 'inlined.otlp', 'inlined.script')
        with open(os.path.join(folder, 'inlined.otlp'), 'rb') as f:
            decoded = subprocess.run(['protoc', '--decode=ProfilesData', '-I', HERE, 'otlp.proto'], input=f.read(),
                                  capture_output=True, check=True).stdout.decode()
        places = messages(decoded)['dictionary'][0]['location_table']
        tap.ok(sorted(len(at.get('lines', [])) for at in places) == [0, 1, 2, 3], 'otlp: they are at one location with them', decoded)
    run(folder, kin, 'export', '-o', 'y.pb.gz', 'x.pb.gz')
    one, two = (gzip.open(os.path.join(folder, f)).read() for f in ('x.pb.gz', 'y.pb.gz'))
    tap.ok(abs(len(one) - len(two)) < 100, 'pprof: exported again it is as large', f'{len(one)} {len(two)}')
    open(os.path.join(folder, 'plain.pb'), 'wb').write(one)
    tap.ok(flat(kin, folder, 'plain.pb')[0] == flat(kin, folder, 'x.pb.gz')[0], 'pprof is read without gzip, too')
    run(folder, kin, 'export', '-o', 'x.speedscope.json.gz', 'x.script')
    plain = gzip.open(os.path.join(folder, 'x.speedscope.json.gz')).read()
    tap.ok(plain == open(os.path.join(folder, 'x.speedscope.json'), 'rb').read(), 'a name that ends in .gz is packed')
    tap.ok(flat(kin, folder, 'x.speedscope.json')[0] == flat(kin, folder, 'x.speedscope.json.gz')[0] != {}, '... and read as it is')
    if shutil.which('zstd'):
        run(folder, 'zstd', '-q', 'x.speedscope.json', 'x.script')
        for name in ('x.speedscope.json', 'x.script'):
            tap.ok(flat(kin, folder, name)[0] == flat(kin, folder, name + '.zst')[0] != {}, f'{name}, packed by zstd')
        with open(os.path.join(folder, 'x.script.zst'), 'rb') as f:
            packed = f.read()
        open(os.path.join(folder, 'cut.zst'), 'wb').write(packed[:-100])
        done = run(folder, kin, 'flat', 'cut.zst')
        tap.ok(done.returncode == 1 and done.stderr.count('\n') == 1, '... and cut off', done.stderr)
    with open(os.path.join(folder, 'x.speedscope.json.gz'), 'rb') as f:
        packed = f.read()
    open(os.path.join(folder, 'cut.gz'), 'wb').write(packed[:len(packed) * 2 // 3])
    done = run(folder, kin, 'flat', 'cut.gz')
    tap.ok(done.returncode == 1 and 'cut' in done.stderr and done.stderr.count('\n') == 1, '... if it is whole', done.stderr)
    for path in ('one.speedscope.json', 'one.cpuprofile'):
        run(folder, kin, 'export', '--event=cycles', '-o', path, 'x.script')
    # Time is shown wherever its event stands in the file: kin's own files sort events by name, callgrind's names may have a colon.
    for path in ('t.kin', 't.callgrind', 't.pb.gz', 't.profile.json'):
        open(os.path.join(folder, 't.script'), 'w').write(text.replace(' cycles:', ' task-clock:u:'))
        before, _ = flat(kin, folder, 't.script')
        run(folder, kin, 'export', '-o', path, 't.script')
        got, done = flat(kin, folder, path)
        alone = [{f: own for f, (own, _) in times.items()} for times in (got, before)]  # callgrind has no stacks
        tap.ok(alone[0] == alone[1] != {} and sum(alone[0].values()) < 1e-3, f'{path}: times are shown', f'{got}\n{before}\n{done.stderr}')
    # Time off a CPU is no CPU time, wherever its event stands.
    open(os.path.join(folder, 'off.script'), 'w').write(''.join(
        f'app 7/8 1.{i}: {weight} {event}:\n\t{i}0 {function} (/p/app)\n\t50 main (/p/app)\n\n'
        for i, (weight, event, function) in enumerate([(900, 'blocked', 'sleep'), (500, 'waiting', 'spin'), (30, 'task-clock', 'spin')])))
    for path in ('off.kin', 'off.pb.gz', 'off.profile.json', 'off.speedscope.json'):
        run(folder, kin, 'export', '-o', path, 'off.script')
        off = [{n: own for n, (own, _) in flat(kin, folder, path, *more)[0].items() if own} for more in ((), ('--event=blocked',))]
        tap.ok(off == [{'spin': 30e-9}, {'sleep': 900e-9}], f'{path}: time off a CPU is an event of its own', off)
    got, _ = flat(kin, folder, 'one.speedscope.json')
    tap.ok(got == {f: (float(own), float(both)) for f, (own, both) in want['cycles'].items()},
           'speedscope: exported and read', str(got))
    v8 = json.load(open(os.path.join(folder, 'one.cpuprofile')))
    ids = [n['id'] for n in v8['nodes']]
    tap.ok(of_v8(v8) == want['cycles'], 'cpuprofile: own and inclusive weights, as VS Code adds them up', str(of_v8(v8)))
    tap.ok(ids == list(range(1, len(ids) + 1)) and v8['nodes'][0]['callFrame']['functionName'] == '(root)' and
           sorted(sum((n['children'] for n in v8['nodes']), [])) == ids[1:] and set(v8['samples']) <= set(ids) and
           len(v8['samples']) == len(v8['timeDeltas']) == sum(n['hitCount'] for n in v8['nodes']),
           'cpuprofile: one tree below (root), as many times as samples')
    got, _ = flat(kin, folder, 'one.cpuprofile')
    got = {f: (round(own * 1e6), round(both * 1e6)) for f, (own, both) in got.items() if not re.fullmatch(r'\(prog/1\d\)', f)}
    tap.ok(got == want['cycles'], 'cpuprofile: exported and read', str(got))
    threads = lambda *data: run(folder, kin, 'report', '--no-children', '-g', 'none', '-s', 'comm,tid', '-f', 'csv', *data).stdout
    before, after = ([line.split(',')[:3] for line in threads(*data).splitlines()]
                     for data in (('--event=cycles', '-i', 'x.script'), ('-i', 'one.speedscope.json')))
    tap.ok(before == after and len(before) == 4, 'speedscope: threads are what they were', f'{before}\n{after}')
    for name, data, expected in [
            ('n.cpuprofile', CPU_PROFILE, OF_CPU_PROFILE),
            ('answer.json', {'id': 1, 'result': {'profile': CPU_PROFILE}}, OF_CPU_PROFILE),
            ('trace.json', trace_of(CPU_PROFILE), OF_CPU_PROFILE),
            ('events.json', trace_of(CPU_PROFILE)['traceEvents'], OF_CPU_PROFILE),
            ('heap.json', HEAP, {'main': (15, 315), 'f': (300, 305), '(anonymous)': (7, 7)}),
            ('e.json', EVENTED, {'a': (.0115, .014), 'b': (.0025, .0025)})]:
        text = json.dumps(data)
        open(os.path.join(folder, name), 'w').write(text)
        got, done = flat(kin, folder, name)
        tap.ok(got == expected, f'{name} is read', str(got) + done.stderr)
        open(os.path.join(folder, 'cut'), 'w').write(text[:-20])
        got, done = flat(kin, folder, 'cut')
        tap.ok(done.returncode == 1 and 'cut off' in done.stderr and done.stderr.count('\n') == 1, f'{name}, cut off',
               done.stdout + done.stderr)
    for default, unit, expected in ((None, 'bytes', 100), ('alloc_objects', 'bytes', 10), ('inuse_space', 'bytes', 100),
                                    ('alloc_objects', 'nanoseconds', 10), (None, 'nanoseconds', 1e-7)):
        open(os.path.join(folder, 'heap.pb'), 'wb').write(heap_profile(default, unit))
        got, done = flat(kin, folder, 'heap.pb')
        tap.ok(got.get('f') == (expected, expected), f'pprof: what is shown first is the default, or the last: {default}',
               str(got) + done.stderr)
    names = run(folder, kin, 'report', '--no-children', '-s', 'comm,pid', '-f', 'csv', '-i', 'trace.json').stdout
    tap.ok('CrRendererMain,7,' in names, 'a trace: its threads', names)
    json.dump({'traceEvents': [{'name': 'x', 'ph': 'X', 'ts': 1, 'dur': 2, 'pid': 1, 'tid': 1}]}, open(os.path.join(folder, 'slices.json'), 'w'))
    done = run(folder, kin, 'flat', 'slices.json')
    tap.ok(done.returncode == 1 and 'slices are not samples' in done.stderr, 'a trace without samples is told so', done.stderr)
    open(os.path.join(folder, 'cut'), 'wb').write(open(os.path.join(folder, 'x.pb.gz'), 'rb').read()[:-3000])
    got, done = flat(kin, folder, 'cut')
    tap.ok(done.returncode == 1 and done.stderr.count('\n') == 1, 'pprof, cut off', done.stderr)
    # cat a b >c: the second file is not lost without a message, nor mixed with the first.
    for name, want in [('x.pb.gz', 'several profiles'), ('x.speedscope.json', 'only a part of it was read'),
                       ('x.profile.json', 'only a part of it was read'), ('trace.json', 'only what stands before was read')]:
        text = open(os.path.join(folder, name), 'rb').read()
        open(os.path.join(folder, 'twice'), 'wb').write(text + text)
        got, done = flat(kin, folder, 'twice')
        tap.ok(done.returncode == 1 and want in done.stderr and done.stderr.count('\n') == 1, f'two of {name} in one file', done.stderr)
        tap.ok(got in ({}, flat(kin, folder, name)[0]), '... are not mixed', got)


def wrong_use(tap, kin, folder):
    done = run(folder, kin, 'export', '--to=nonsense', 'x.script')
    tap.ok(done.returncode == 2 and 'unknown format' in done.stderr and 'callgrind' in done.stderr,
           'an unknown format is told those that are known', done.stderr)
    done = run(folder, kin, 'export', 'x.script')
    tap.ok(done.returncode == 2 and '--to=FORMAT' in done.stderr, 'no format is a usage error', done.stderr)
    done = run(folder, 'script', '-qec', f'{kin} export --to=pprof x.script', '/dev/null')
    tap.ok('nothing to be read on a terminal' in done.stdout + done.stderr, 'nothing binary goes to a terminal',
           done.stdout + done.stderr)
    case = os.path.join(HERE, '..', 'cases', '01-basic')
    done = run(folder, kin, 'export', '--to=pprof', '-e', os.path.join(case, 'prog'), os.path.join(case, 'gmon.out'))
    tap.ok(done.returncode == 1 and 'no samples with stacks' in done.stderr, 'counts alone are no samples', done.stderr)
    open(os.path.join(folder, 'names.folded'), 'w').write('main;work 3\n')
    done = run(folder, kin, 'export', '--to=perf.data', 'names.folded')
    tap.ok(done.returncode == 1 and 'no addresses' in done.stderr and done.stderr.count('\n') == 1 and not done.stdout,
           'perf.data: names alone are an error', done.stderr)
    for name in FORMATS:
        done = run(folder, 'sh', '-c', f'{kin} export --to={name} x.script >/dev/full')
        tap.ok(done.returncode == 1 and 'No space left' in done.stderr and done.stderr.count('\n') == 1,
               f'{name}: a full disk is told', done.stderr)
        done = run(folder, 'bash', '-c', f'set -o pipefail; {kin} export --to={name} x.script | true')
        tap.ok(all(': warning: ' in line for line in done.stderr.splitlines()), f'{name}: a reader that goes away is no error to be told', done.stderr)


def deep_stacks(tap, kin, folder):
    open(os.path.join(folder, 'deep.folded'), 'w').write(';'.join(f'f{i}' for i in range(100000)) + ' 1\n')
    for name in FORMATS:
        done = run(folder, 'sh', '-c', f'ulimit -t 15; exec {kin} export --to={name} -o deep-{name} deep.folded')
        tap.ok(done.returncode == 0 and not done.stderr, f'{name}: a stack of 100000 functions', done.stderr)


def pictures(tap, kin, folder):
    """dot draws what kin graph -f dot writes, and kin graph -f svg says so where it is not installed."""
    dot = run(folder, kin, 'graph', '-f', 'dot', '--min-share=0', 'x.script')
    rows = list(csv.DictReader(run(folder, kin, 'graph', '-f', 'csv', '-c', 'index,name', 'x.script').stdout.splitlines()))
    calls = {(r['group'], r['kind'], r['name']) for r in rows if r['kind'] == 'callee'}
    tap.ok(dot.stdout.count('->') == len(calls) and calls, 'a picture has each call once', f'{len(calls)}\n{dot.stdout}{dot.stderr}')
    if shutil.which('dot'):
        done = run(folder, kin, 'graph', '-f', 'svg', '--min-share=0', 'x.script')
        nodes = [g for g in ElementTree.fromstring(done.stdout).iter('{http://www.w3.org/2000/svg}g') if g.get('class') == 'node']
        functions = [r for r in rows if r['kind'] == 'function']
        tap.ok(len(nodes) == len(functions), 'each function is in the SVG', f'{len(nodes)}, not {len(functions)}')
    else:
        tap.skip('each function is in the SVG', 'Graphviz is not installed')
    done = subprocess.run([kin, 'graph', '-f', 'svg', '-o', 'none.svg', 'x.script'], cwd=folder, env={'PATH': folder}, capture_output=True, text=True)
    tap.ok(done.returncode == 1 and '--format=dot' in done.stderr and not os.path.exists(os.path.join(folder, 'none.svg')), 'without dot that is said, and no file is left', done.stderr)


def main():
    kin = os.path.abspath(os.path.join(sys.argv[1], 'kin'))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        text = samples(1)
        want = truth(text)
        open(os.path.join(folder, 'x.script'), 'w').write(text)
        for name, path in [('pprof', 'x.pb.gz'), ('callgrind', 'x.callgrind'), ('speedscope', 'x.speedscope.json'),
                           ('firefox', 'x.profile.json'), ('chrome-trace', 'x.trace.json'), ('json', 'x.json'),
                           ('otlp', 'x.otlp'), ('jsonl', 'x.jsonl'), ('csv', 'x.csv'), ('rowbinary', 'x.rowbinary')]:
            done = run(folder, kin, 'export', '-o', path, 'x.script')
            tap.ok(done.returncode == 0 and not done.stderr, f'kin export -o {path}', done.stderr)
            plain = run(folder, kin, 'export', f'--to={name}', 'x.script', text=False)
            tap.ok(plain.stdout == open(os.path.join(folder, path), 'rb').read(), f'{name} is what that wrote')
            again = run(folder, kin, 'export', '-o', path, 'x.script')
            tap.ok(again.returncode == 0, f'{path} may be written anew', again.stderr)
        others_agree(tap, kin, folder, want)
        files_agree(tap, folder, want)
        rows_agree(tap, kin, folder, want)
        reads(tap, kin, folder, text, want)
        wrong_use(tap, kin, folder)
        deep_stacks(tap, kin, folder)
        pictures(tap, kin, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

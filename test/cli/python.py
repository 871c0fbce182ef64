"""The Python module kin, with the library of a build: its answers are those of the commands.

    python.py BUILD

/usr/bin/python3 runs it, where there is one: no compiler, nothing but ctypes. Without pandas its part is skipped.
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
sys.path[:0] = [os.path.join(HERE, '..', 'lib'), os.path.join(ROOT, 'python')]
SYSTEM = '/usr/bin/python3'
CASE = os.path.join(HERE, '..', 'cases', '01-basic')
TWO = 'p 1/1 1.0: 5 cycles:\n\t10 f (p)\n\np 1/1 2.0: 3 faults:\n\t10 f (p)\n\np 2/2 3.0: 4 faults:\n\t20 g (p)\n\n'
STACKS = 'prog;main;a;b 60\nprog;main;a 30\nprog;main;a;b;a 10\n'


def tried(call, kind):
    try:
        call()
    except kind as e:
        return e
    return None


def tables(tap, kin, path):
    with kin.open(path) as profile:
        flat = profile.report('flat')
        tap.ok([(r['name'], r['self'], r['share']) for r in flat] == [('b', 60, .6), ('a', 40, .4), ('main', 0, 0)], 'flat', flat)
        tap.ok([c.key for c in flat.columns] == list(flat[0]) and flat.name == 'flat' and flat.title and
               all(c.help for c in flat.columns), 'a table says what its columns are')
        some = profile.report('flat', columns=['name', 'share'], sort='name')
        tap.ok([list(r.items()) for r in some] == [[('name', 'a'), ('share', .4)], [('name', 'b'), ('share', .6)], [('name', 'main'), ('share', 0)]],
               'columns, sort', some)
        hists = profile.report('hists', sort='sym', call_graph='none', weights=True)
        tap.ok([(r['symbol'], r['children_weight'], r['self_weight']) for r in hists] ==
               [('a', 100, 40), ('main', 100, 0), ('b', 70, 60)], 'hists', hists)
        graph = profile.report('graph')
        tap.ok({r.kind for r in graph} >= {'caller', 'function', 'callee'}, 'graph: rows say of what kind they are')
        alike = kin.diff(profile, profile, all=True)
        tap.ok(not [r for r in alike if r.get('change')] and alike.name, 'diff of a profile with itself', alike)
    with kin.open(os.path.join(CASE, 'gmon.out'), executable=os.path.join(CASE, 'prog')) as profile:
        calls = {r['name']: r['calls'] for r in profile.report('flat')}
        tap.ok(calls.get('leaf') == 100 and not profile.is_sampled, 'calls of a gmon.out', calls)


def samples(tap, kin, path):
    with kin.open(path) as profile:
        found = [(s.weight, [f.name for f in s.stack], s.thread, s.cpu) for s in profile.samples()]
        tap.ok(found == [(60, ['b', 'a', 'main'], 'prog', None), (30, ['a', 'main'], 'prog', None),
                         (10, ['a', 'b', 'a', 'main'], 'prog', None)], 'samples', found)
        walk = profile.samples()
        next(walk)
    tap.ok(len(list(walk)) == 2, 'samples outlive the profile')
    deep = path + '.deep'
    open(deep, 'w').write(';'.join(f'f{i}' for i in range(20000)) + ' 1\n')
    with kin.open(deep) as profile:
        stack = next(profile.samples()).stack
        tap.ok(len(stack) > 10000 and stack[0].name == 'f19999', 'a stack of 20,000 functions', len(stack))


def errors(tap, kin, path):
    e = tried(lambda: kin.open(path + '.not'), kin.Error)
    tap.ok(e and e.kind == 'os' and 'No such file' in str(e), 'a file that is not there', e)
    with kin.open([path]) as profile:
        e = tried(lambda: profile.report('nonsense'), kin.Error)
        tap.ok(e and e.kind == 'usage', 'a report that is not there', e)
        e = tried(lambda: profile.report('flat', nonsense=1), TypeError)
        tap.ok(e and 'nonsense' in str(e), 'an option that is not there', e)
        e = tried(lambda: profile.export('nonsense'), kin.Error)
        tap.ok(e and e.kind == 'usage', 'a format that is not there', e)
        e = tried(lambda: profile.export('json', '/nonsense/x'), OSError)
        tap.ok(e, 'a file that cannot be written', e)
    e = tried(profile.samples, ValueError)
    tap.ok(e, 'a profile that was closed', e)


def structs(tap, kin):
    """Each member of the headers' structs is there, in its place."""
    text = ''.join(open(os.path.join(ROOT, 'include', 'kin', name)).read() for name in ('kin.h', 'table.h', 'samples.h'))
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    kinds = {'size_t': ctypes.c_size_t, 'bool': ctypes.c_bool, 'double': ctypes.c_double, 'unsigned': ctypes.c_uint32,
             'uint32_t': ctypes.c_uint32, 'uint64_t': ctypes.c_uint64, 'const char *': ctypes.c_char_p,
             'const char *const *': ctypes.POINTER(ctypes.c_char_p)}
    library = kin._library
    for name, made in [('open_opts', library.OpenOpts), ('hists_opts', library.HistsOpts), ('report_opts', library.ReportOpts),
                       ('diff_opts', library.DiffOpts), ('export_opts', library.ExportOpts), ('format', library.Format),
                       ('column', library.ColumnStruct), ('event', library.Event), ('thread', library.Thread),
                       ('object', library.Object), ('function', library.Function), ('line', library.Line),
                       ('location', library.Location), ('stack', library.Stack), ('sample', library.SampleStruct)]:
        want = []
        for line in re.search(r'struct kin_%s \{(.*?)\};' % name, text, re.S).group(1).split(';')[:-1]:
            kind, names = re.fullmatch(r'\s*((?:const )?(?:(?:struct|enum) )?\w+ (?:\*(?:const \*)?)?)(.*)', line, re.S).groups()
            kind = ctypes.c_int if kind.startswith('enum') else kinds.get(kind.strip(), ctypes.c_void_p)
            want += [(re.search(r'\w+$', n.strip()).group(), kind) for n in names.split(',')]
        tap.ok(made._fields_ == want, f'struct kin_{name}', f'{made._fields_}\n{want}')


def options(tap, kin, path):
    with kin.open(path + '.two', with_hooks=True) as profile:
        own = lambda **how: [(r['symbol'], r['self_weight']) for r in profile.report('hists', sort='sym', call_graph='none', weights=True, **how)]
        tap.ok(own(event=1) == [('g', 4), ('f', 3)] and own(event=1, symbols='g') == [('g', 4)] and own(event=0, pids='1') == [('f', 5)],
               'event, symbols and pids of hists', own(event=1))


def exports(tap, kin, path):
    private, kept = path + '.private', path + '.kept'
    with open(path) as f, open(private, 'w', opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
        out.write(f.read())
    with open(kept, 'w') as f:
        f.write('what was there')
    with kin.open(private) as profile:
        profile.export('json', private + '.json')
        tap.ok(os.stat(private + '.json').st_mode & 0o777 == 0o600, 'a file is no more readable than its data')
        tried(lambda: profile.export('nonsense', kept), kin.Error)
    tried(lambda: profile.export('json', kept), ValueError)
    tap.ok(open(kept).read() == 'what was there', 'a file stays if nothing can be written')
    tap.ok(tried(lambda: kin.open(path + '\0.json'), ValueError) and tried(lambda: kin.open(path, comms=['a\0b']), ValueError),
           'text with a null byte is not cut there')
    with kin.open(path) as profile:
        tap.ok(sorted(profile.export('folded').decode().splitlines()) == sorted(STACKS.splitlines()), 'export as bytes')
        profile.export('pprof', path + '.pb.gz')
    with kin.open(path + '.pb.gz') as profile:
        tap.ok({r['name']: r['self'] for r in profile.report('flat')} == {'a': 40, 'b': 60, 'main': 0}, 'export to a file')
    tap.ok({f['name'] for f in kin.formats() if f['is_written']} >= {'pprof', 'json'}, 'formats')


def frames(tap, kin, path):
    try:
        import pandas
    except ImportError:
        tap.skip('a DataFrame', 'no pandas (python3-pandas)')
        return
    with kin.open(path) as profile:
        flat, every = profile.report('flat').to_pandas(), profile.samples_to_pandas()
        tap.ok(isinstance(flat, pandas.DataFrame) and flat['self'].sum() == 100 and list(flat['name']) == ['b', 'a', 'main'],
               'a table as a DataFrame', flat)
        tap.ok(every.groupby('function').weight.sum().to_dict() == {'a': 40, 'b': 60} and every['stack'][0] == 'main;a;b',
               'samples as a DataFrame', every)


def example(tap, path):
    done = subprocess.run([sys.executable, os.path.join(ROOT, 'doc', 'examples', 'slowest.py'), path], capture_output=True,
                          text=True, env={**os.environ, 'PYTHONPATH': os.path.join(ROOT, 'python')})
    tap.ok(done.stdout == 'all: 100.000\nprog\n            60  b, mostly called by a\n            40  a, mostly called by main\n',
           'doc/examples/slowest.py', done.stdout + done.stderr)


def remarks(tap, kin, path):
    """Doubts are those of damaged data, and what is sound has none."""
    with kin.open(path) as sound:
        tap.ok(sound.warnings == [] and sound.doubts == [], 'no remarks on sound data', f'{sound.warnings} {sound.doubts}')
    bare = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'corpus', 'kin')
    said = []
    for name in sorted(os.listdir(bare)):
        try:
            with kin.open(os.path.join(bare, name)) as p:
                said += p.doubts
        except kin.Error:
            pass
    tap.ok(said and all(isinstance(x, str) and x for x in said), 'doubts are sentences', said)


def main():
    from tap import Tap
    tap = Tap()
    os.environ['KIN_LIBRARY'] = os.path.join(os.path.abspath(sys.argv[1]), 'libkin.so.0')
    import kin
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'app.folded')
        open(path, 'w').write(STACKS)
        open(path + '.two', 'w').write(TWO)
        structs(tap, kin)
        tables(tap, kin, path)
        options(tap, kin, path)
        samples(tap, kin, path)
        errors(tap, kin, path)
        exports(tap, kin, path)
        remarks(tap, kin, path)
        frames(tap, kin, path)
        example(tap, path)
    return tap.done()


if __name__ == '__main__':
    if sys.executable != SYSTEM and os.path.exists(SYSTEM) and 'again' not in sys.argv:
        os.execv(SYSTEM, [SYSTEM, os.path.abspath(__file__), *sys.argv[1:], 'again'])
    sys.exit(main())

"""Hostile names of symbols, source files and data files: no output passes on a terminal's control sequences."""
import csv
import io
import json
import os
import re

from gmonlib import Arc, Elf, Hist, Symbol, gmon, save
from subject import run

NAMES = [b'\33]0;title\7', b'\33[31mred', b'\33]52;c;aGVsbG8=\7', b'\33]8;;http://x\33\\link', b'a\rb',
         b'a\bb', b'bell\7', b'line\nbreak', b'tab\tstop', b'\x9b31m', b'\xc2\x9b31m', b'\xff\xfe',
         b'\xe2\x80\xaetxt', b'\xe2\x81\xa6iso', b'del\x7f', b'<script>alert(1)</script>',
         b'"quoted"', b"it's", b'a;b', b'a,b', b'=1+1', b']]>', b'a\\b', b'%s%n', b'$(id)', b'`id`',
         b'-b', b'', b' ', b'[1]', b'(2)', b'<cycle 1>', b'<spontaneous>', b'a/b', b'a:b',
         b'x' * 100000, b'_Z' + b'N' * 10000, b'_Z' + b'1aIN' * 3000 + b'E', b'_Z1f' + b'P' * 20000 + b'i',
         b'_RNvC' + b'I' * 5000, b'_D' + b'4test' * 4000 + b'FZv', b'?f@@YAXXZ', b'_ZN' + b'1a' * 20000 + b'E']
# Control characters but newline, tab and form feed; DEL; C1; direction overrides.
BAD_TEXT = re.compile('[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]')


def harm(raw):
    """The first thing in the output that no output may have; or ''."""
    try:
        text = raw.decode('utf-8')
    except UnicodeDecodeError as e:
        return f'invalid UTF-8 at byte {e.start}: {raw[max(0, e.start - 20):e.start + 20]!r}'
    if 'line\nbreak' in text:
        return 'a name with a line break in it'
    m = BAD_TEXT.search(text)
    return f'{m[0]!r} in {text[max(0, m.start() - 20):m.start() + 20]!r}' if m else ''


def parses(command, raw):
    """Why output of --format=json or csv cannot be read back; or ''."""
    try:
        if 'json' in command.template:
            json.loads(raw)
        elif 'csv' in command.template:
            width = {len(row) for row in csv.reader(io.StringIO(raw.decode()), strict=True) if row}
            return '' if len(width) == 1 else f'rows of {sorted(width)} columns'
    except (ValueError, csv.Error) as e:
        return str(e)
    return ''


def files_written(folder, before):
    for name in sorted(set(os.listdir(folder)) - before):
        with open(os.path.join(folder, name), 'rb') as f:
            if name != 'gmon.sum':
                yield name, f.read()


def look(tap, box, what, commands, prog, path, cwd):
    for command in commands:
        before = set(os.listdir(cwd))
        r = command.run(prog, path, **box.limits(cwd))
        fault = box.fault(r) or harm(r.out) or harm(r.err) or parses(command, r.out)
        for name, text in files_written(cwd, before):
            fault = fault or harm(text)
            os.unlink(os.path.join(cwd, name))
        tap.ok(not fault, f'{what}: {command}', f'{fault}: {r.describe()[:1500]}')


def symbols(tap, box):
    step, base = 32, 0x1000
    made = [Symbol(n, base + i * step, step, 'global' if i % 2 else 'local')
            for i, n in enumerate(NAMES)] + [Symbol('end', base + len(NAMES) * step, 64)]
    size = (len(NAMES) + 2) * step
    n = size // 4
    bins = [(1 if i % 3 == 0 and i < n - 32 else 0) for i in range(n)]
    arcs = [Arc(base + i * step + 4, base + ((i + 1) % len(NAMES)) * step, i + 1)
            for i in range(len(NAMES))]
    folder = os.path.join(box.folder, 'names')
    os.mkdir(folder)
    prog = save(os.path.join(folder, 'prog'), Elf(made, size=size).bytes())
    cyclic = save(os.path.join(folder, 'cyclic'), gmon([Hist(base, base + size, bins), *arcs]))
    tree = save(os.path.join(folder, 'tree'), gmon([Hist(base, base + size, bins), *arcs[:-1]]))
    options = ['-b', '-b -T', '-b -q -z', '-C -z', '-r', '-b -l', '-b --no-demangle -p', '-s', '-b -a',
               '-b --inline-file-names', '-A']
    for path in (cyclic, tree):
        look(tap, box, f'hostile symbols, {os.path.basename(path)}', box.commands(*options), prog,
             path, folder)


def sources(tap, box):
    """Source paths in the debug information."""
    code = b'static volatile unsigned long s;\n'
    for i, name in enumerate(NAMES):
        if b'\n' in name or len(name) > 4000 or b'\0' in name:
            continue
        quoted = b''.join(b'\\%03o' % c if c < 32 or c > 126 or c in b'"\\' else bytes([c])
                          for c in name)
        code += b'#line 7 "%s.c"\nvoid f%d(void) { for (int i = 0; i < 2000; i++) s += i; }\n' % (
            quoted, i)
    code += b'#line 1 "main.c"\nint main(void) { for (int i = 0; i < 300; i++) {\n' + b''.join(
        b'f%d();\n' % i for i in range(len(NAMES)) if b'void f%d(' % i in code) + b'} return 0; }\n'
    folder = os.path.join(box.folder, 'sources')
    os.mkdir(folder)
    prog = box.compile(code, '-g', '-O1', '-pg', '-fno-inline', name='sources/prog')
    if not prog:
        tap.skip('hostile source names', 'no gcc')
        return
    run(['./prog'], cwd=folder)
    for name in NAMES:      # some exist
        try:
            save(os.path.join(folder, os.fsdecode(name) + '.c'), b'text of a source\n' * 20)
        except (OSError, ValueError):
            pass
    look(tap, box, 'hostile source names',
         box.commands('-b -l', '-A', '-C', '-b -L -l', '-b --inline-file-names', '-y -A', '-b -q'),
         prog, os.path.join(folder, 'gmon.out'), folder)


def paths(tap, box):
    """Names on the command line, in messages and in -i."""
    folder, prog, path = box.case('01-basic')
    with open(path, 'rb') as f:
        data = f.read()
    with open(prog, 'rb') as f:
        program = f.read()
    for i, name in enumerate(n for n in NAMES if 0 < len(n) < 200 and b'/' not in n and n[:1] != b'-'):
        odd = os.path.join(folder, os.fsdecode(name) + 'x')
        problems = []
        for content, args in [(data, ['-b', '-i', prog, odd]), (data[:100], ['-b', prog, odd]),
                              (b'junk', ['-b', prog, odd]), (None, ['-b', prog, odd]),
                              (program, ['-b', odd, 'absent']), (b'junk', ['-b', odd]),
                              (None, ['-b', odd])]:
            if content is None:
                os.unlink(odd)
            else:
                save(odd, content)
            r = box.subject.run(args, compat=None, **box.limits(folder))
            fault = box.fault(r) or harm(r.out) or harm(r.err)
            if fault:
                problems.append(f'{fault}: {args} {r.describe()[:400]}')
        tap.ok(not problems, f'hostile path {name!r} in messages', '\n'.join(problems[:2]))


def test(tap, box):
    symbols(tap, box)
    sources(tap, box)
    paths(tap, box)

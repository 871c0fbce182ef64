"""Mutated data files and executables: no crash, no hang, no blow-up, no failure without a word."""
import collections
import os

from box import CASES
from mutate import mutate

OPTIONS = {'data': ['-b', '-b -l', '-b -T -z', '-s', '-A -x -l', '-C -z', '-b -r', '-i'],
           'program': ['-b', '-b -l', '-A', '-b -c -z', '-b -q -z --inline-file-names']}


def seeds(box):
    for case, data, kinds in [('01-basic', 'gmon.out', ['mix', 'gmon', 'int', 'field', 'block']),
                              ('12-bbcount', 'gmon.bb', ['mix', 'int']),
                              ('15-bsd', 'gmon.44bsd', ['mix', 'int']),
                              ('15-bsd', 'gmon.oldbsd', ['mix', 'int'])]:
        folder, prog, path = box.case(case, data)
        yield 'data', f'{case}/{data}', folder, prog, path, kinds
    folder, prog, path = box.case('22-lines')
    yield 'program', '22-lines/prog', folder, prog, path, ['mix', 'int', 'field', 'block', 'string']


def test(tap, box):
    per_seed = 2000 if box.full else 40
    for which, name, folder, prog, path, kinds in seeds(box):
        with open(path if which == 'data' else prog, 'rb') as f:
            original = f.read()
        mutant = os.path.join(folder, 'mutant')
        for command in box.commands(*OPTIONS[which]):
            found = collections.Counter()
            notes = []
            for i in range(per_seed):
                kind = kinds[i % len(kinds)]
                with open(mutant, 'wb') as f:
                    f.write(mutate(i, kind, original))
                r = command.run(prog if which == 'data' else mutant,
                                mutant if which == 'data' else path, **box.limits(folder))
                fault = box.fault(r)
                if fault:
                    found[fault] += 1
                    if found[fault] <= 3:
                        notes.append(f'{fault}: mutate({i}, {kind!r}, {name}): {r.describe()}')
            tap.ok(not found, f'{per_seed} mutants of {name}: {command}',
                   f'{dict(found)}\n' + '\n'.join(notes))

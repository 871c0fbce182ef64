"""Names with which a program's functions, files and lines can be selected, from its profile."""
import os
import random
import re

from subject import gnu


def of_program(folder, program, data, limit=40):
    """Raw function names, base names of files and 'file:line's that GNU gprof knows of, those with
    time or calls first; each sorted, at most `limit`."""
    flat = gnu().run(['-b', '-p', '--no-demangle', program] + data, cwd=folder).out.decode('latin-1')
    functions = [l[54:] for l in flat.split('\n')[5:] if len(l) > 54]
    counts = gnu().run(['-b', '-C', program] + data, cwd=folder).out.decode('latin-1')
    files, lines = set(), set()
    for m in re.finditer(r'^(.*):(\d+): \(', counts, re.M):
        if m[1] != '<unknown>':
            files.add(os.path.basename(m[1]))
            lines.add(f'{os.path.basename(m[1])}:{m[2]}')
    return functions[:limit], sorted(files)[:limit], sorted(lines)[:limit]


def option_sets(seed, functions, files, lines):
    """Option sets that name functions, files, lines and arcs, each with -b."""
    r = random.Random(seed)
    functions = functions or ['main']
    f = lambda: r.choice(functions)
    arc = lambda: f'{f()}/{f()}'
    where = lambda: r.choice(lines or files or functions)
    sets = []
    for option in ['-p', '-P', '-q', '-Q', '-C', '-Z', '-A', '-J']:
        sets += [[option + f()], [option + where()]]
        if files:
            sets.append([option + r.choice(files)])
            sets.append([f'{option}{r.choice(files)}:{f()}'])
    for option in ['-e', '-E', '-f', '-F', '-n', '-N']:
        sets += [[option, f()], [option, f(), option, f()]]
    sets += [['-n', f(), '-N', f()], ['-F', f(), '-E', f()], ['-f', f(), '-e', f()],
             ['-k', arc()], ['-k', arc(), '-k', arc()], ['-k', '/' + f()], ['-k', f() + '/'],
             ['-q' + arc()], ['-Q' + arc()], ['-q' + arc(), '-q' + arc()], ['-q' + f() + '/'],
             ['-Q/' + f()], ['-p', '-n', f(), '-z'], ['-l', '-p' + where()], ['-l', '-q' + f()],
             ['-l', '-k', arc()], ['-T', '-E', f()], ['-T', '-k', arc()], ['-a', '-q' + f()],
             ['-c', '-q' + f(), '-z'], ['-pno_such_name'], ['-q', '-e', 'no_such_name'],
             ['-C' + f(), '-z'], ['-A' + f(), '-x'], ['-A', '-I', '.', '-L'], ['-q', '-w', '1']]
    flags = ['-a', '-c', '-D', '-l', '-L', '-T', '-z', '-p', '-q', '-C', '-A', '-r', '-i', '-x', '-y',
             '-P', '-Q', '--inline-file-names', '--no-demangle', '-w60', '-m2', '-t4', '-B',
             '-E' + f(), '-F' + f(), '-k' + arc(), '-p' + f(), '-n' + f(), '-N' + f()]
    sets += [r.sample(flags, r.choice([2, 3, 4])) for _ in range(14)]
    return [['-b'] + s for s in sets]

"""Things that are no files where a file is expected: nothing waits for them or reads them for ever."""
import os
import socket

from subject import run

KINDS = {
    'a FIFO': lambda p: os.mkfifo(p),
    'a directory': lambda p: os.mkdir(p),
    'an endless device': lambda p: os.symlink('/dev/zero', p),
    'an empty device': lambda p: os.symlink('/dev/null', p),
    'a random device': lambda p: os.symlink('/dev/urandom', p),
    'a socket': lambda p: bind(p),
    'a link to nothing': lambda p: os.symlink('nothing', p),
    'a link to itself': lambda p: os.symlink(os.path.basename(p), p),
    'an empty file': lambda p: open(p, 'wb').close(),
    'a sparse file of 8 GB': lambda p: sparse(p),
}


def bind(path):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))     # the name of a socket is short
    socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
    os.chdir(here)


def sparse(path):
    with open(path, 'wb') as f:
        f.truncate(8 << 30)


def as_input(tap, box):
    for place in ('data file', 'executable'):
        for kind, make in KINDS.items():
            folder, prog, path = box.case('01-basic')
            odd = os.path.join(folder, 'odd')
            make(odd)
            for command in box.commands('-b', '-s'):
                r = command.run(prog if place == 'data file' else odd,
                                odd if place == 'data file' else path, **box.limits(folder))
                fault = box.fault(r) or ('' if r.status == 1 and b'odd' in r.err else 'no message')
                tap.ok(not fault, f'{place} is {kind}: {command}', f'{fault}: {r.describe()}')


def as_source(tap, box):
    """A source file that the debug information names."""
    for kind, make in list(KINDS.items()) + [('a line of 100 MB', long_line)]:
        folder, prog, path = box.case('22-lines')
        source = os.path.join(folder, 'main.c')
        os.unlink(source)
        make(source)
        for command in box.commands('-A', '-y -A', '-A -x -l'):
            for ann in [f for f in os.listdir(folder) if f.endswith('-ann')]:
                os.unlink(os.path.join(folder, ann))
            r = command.run(prog, path, **box.limits(folder))
            fault = box.fault(r) or ('' if r.status in (0, 1) else 'status')
            written = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)
                          if f.endswith('-ann'))
            if written > 16 << 20:
                fault = 'wrote it all'
            tap.ok(not fault, f'source is {kind}: {command}', f'{fault}: {r.describe()}')


def long_line(path):
    with open(path, 'wb') as f:
        f.truncate(100 << 20)


def pipes(tap, box):
    """Data may come through a pipe."""
    folder, prog, path = box.case('01-basic')
    want = box.subject.run(['-b', prog, path], compat=None).out
    head = [box.subject.path] + box.subject.words[1:]
    r = run(['/bin/sh', '-c', 'cat gmon.out | "$@" -b ./prog -', 'sh', *head], cwd=folder)
    tap.ok(r.out == want and want and not r.status, 'data from a pipe: gprof -b ./prog -',
           r.describe())
    for script in ('cat gmon.out | "$@" -b ./prog /dev/stdin', '"$@" -b ./prog <(cat gmon.out)'):
        r = run(['/bin/bash', '-c', script, 'bash', *head], cwd=folder)
        tap.ok(r.out == want and not r.status, f'data from a pipe: {script}', r.describe())
    os.symlink(prog, os.path.join(folder, 'link'))
    os.symlink(path, os.path.join(folder, 'gmon.link'))
    r = box.subject.run(['-b', 'link', 'gmon.link'], cwd=folder, compat=None)
    tap.ok(r.out == want and not r.status, 'symbolic links to the files: gprof -b', r.describe())


def test(tap, box):
    as_input(tap, box)
    as_source(tap, box)
    pipes(tap, box)

"""Output that cannot be written: status 1 and a message, whatever prints it."""
import os
import resource
import signal

OPTIONS = ['-b', '-p', '-q', '-i', '-A', '-C -z', '-b -T', '-r', '-b -l -p', '--help', '--version']


def complains(r):
    return r.status == 1 and r.err and not r.sanitizer


def printing(box, *options):
    """The commands that write to standard output."""
    return [c for c in box.commands(*options) if ' -o ' not in c.template]


def full_disk(tap, box):
    folder, prog, path = box.case('22-lines')
    for command in printing(box, *OPTIONS):
        with open('/dev/full', 'wb') as full:
            r = command.run(prog, path, stdout=full, **box.limits(folder))
        tap.ok(complains(r), f'output to /dev/full: {command}', r.describe())


def closed_output(tap, box):
    folder, prog, path = box.case('22-lines')
    for command in printing(box, '-b', '-i', '-A', '--help'):
        r = command.run(prog, path, preexec=lambda: os.close(1), **box.limits(folder))
        tap.ok(complains(r), f'standard output is closed: {command}', r.describe())
    # The next file that is opened must not become standard output: it would be written to.
    with open(prog, 'rb') as f:
        before = f.read()
    for command in box.commands('-b', '-s', '-y -A'):
        command.run(prog, path, preexec=lambda: (os.close(0), os.close(1), os.close(2)),
                    **box.limits(folder))
        with open(prog, 'rb') as f:
            same = f.read() == before
        total = os.path.join(folder, 'gmon.sum')
        if os.path.exists(total):
            with open(total, 'rb') as f:
                same = same and f.read(4) == b'gmon'
        tap.ok(same, f'no standard descriptors at all, files stay what they are: {command}')


def disk_fills_up(tap, box):
    """The disk is full after some bytes: simulated by a limit on the size of files."""
    folder, prog, path = box.case('17-lua')
    out = os.path.join(box.folder, 'out')
    for command in printing(box, '-b', '-r', '-C'):
        for limit in (1, 100, 4096, 5000, 20000):
            def limited(limit=limit):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            with open(out, 'wb') as f:
                r = command.run(prog, path, stdout=f, preexec=limited, **box.limits(folder))
            # The message is a file here, too, and must fit.
            passed = r.status == 1 and not r.sanitizer and (r.err or limit < 100)
            if not r.status and os.path.getsize(out) < limit:
                passed = True   # it was enough
            tap.ok(passed, f'disk full after {limit} bytes: {command}', r.describe())


def writers(box):
    """(the file that is written, the commands that write it)"""
    all_of = box.commands('-s', '-y -A')
    yield 'gmon.sum', [c for c in all_of if ' -s ' in c.template or 'gmon.sum' in c.template]
    yield 'main.c-ann', [c for c in all_of if ' -y ' in c.template]
    yield 'report', [c for c in all_of if '-o report' in c.template]


def other_files(tap, box):
    """gmon.sum, the -ann files and the file of -o."""
    for make, how in [(lambda p: os.mkdir(p), 'a directory'),
                      (lambda p: os.symlink('/dev/full', p), '/dev/full'),
                      (lambda p: os.mkfifo(p), 'a FIFO')]:
        for name, commands in writers(box):
            folder, prog, path = box.case('22-lines')
            make(os.path.join(folder, name))
            for command in commands:
                r = command.run(prog, path, **box.limits(folder))
                tap.ok(complains(r) and not box.fault(r), f'{name} is {how}: {command}',
                       r.describe())


def planted_links(tap, box):
    """In a folder where everybody may write, somebody made a link where we will."""
    if os.geteuid():
        tap.skip('links that somebody else planted', 'needs two users: run as root')
        return
    for name, commands in writers(box):
        folder, prog, path = box.case('22-lines')
        victim = box.file('victim', b'precious')
        link = os.path.join(folder, name)
        os.chmod(folder, 0o1777)
        os.symlink(victim, link)
        os.lchown(link, 65534, 65534)
        for command in commands:
            r = command.run(prog, path, **box.limits(folder))
            with open(victim, 'rb') as f:
                whole = f.read() == b'precious'
            tap.ok(complains(r) and whole, f'{name} is a planted link: {command}', r.describe())


def reader_goes_away(tap, box):
    folder, prog, path = box.case('17-lua')
    for command in printing(box, '-b'):
        out, keep = os.pipe()
        os.close(out)
        with os.fdopen(keep, 'wb') as pipe:
            r = command.run(prog, path, stdout=pipe, **box.limits(folder),
                            preexec=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        tap.ok((r.status == -signal.SIGPIPE or r.status == 1) and r.cpu < 2,
               f'nobody reads the pipe: {command}', r.describe())
        out, keep = os.pipe()
        os.close(out)
        with os.fdopen(keep, 'wb') as pipe:
            r = command.run(prog, path, stdout=pipe, **box.limits(folder),
                            preexec=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        tap.ok(r.status == 1 and r.cpu < 2, f'nobody reads the pipe, SIGPIPE ignored: {command}',
               r.describe())


def test(tap, box):
    full_disk(tap, box)
    closed_output(tap, box)
    disk_fills_up(tap, box)
    other_files(tap, box)
    planted_links(tap, box)
    reader_goes_away(tap, box)

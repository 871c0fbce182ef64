"""Every allocation, mapping, open and read fails in turn: a message and status 1, or the full answer."""
import collections
import errno
import os
import shutil
import subprocess

from box import HERE
from subject import environment

CODES = {'alloc': errno.ENOMEM, 'mmap': errno.ENOMEM, 'open': errno.EMFILE, 'read': errno.EIO,
         'write': errno.ENOSPC}


def injected(box, command, library, prog, path, cls, n, mode, folder):
    report = os.path.join(box.folder, 'injected')
    if os.path.exists(report):
        os.unlink(report)
    env = environment(LD_PRELOAD=library, FI_CLASS=cls, FI_N=str(n), FI_MODE=mode,
                      FI_ERRNO=str(CODES[cls]), FI_REPORT=report)
    r = command.run(prog, path, env=env, **box.limits(folder))
    try:
        with open(report) as f:
            calls, failed = map(int, f.read().split())
    except (OSError, ValueError):
        calls = failed = 0
    return r, calls, failed


def verdict(box, r, base):
    """'' if the failure was handled."""
    fault = box.fault(r)
    if fault:
        return fault
    if not r.status and r.out != base.out and r.err == base.err:
        return 'different output without a word'
    if r.status not in (0, 1, 2):
        return f'status {r.status}'
    return ''


def test(tap, box):
    if box.subject.is_sanitized:
        tap.skip('injected faults', 'the sanitizer has its own allocator')
        return
    if not shutil.which('gcc'):
        tap.skip('injected faults', 'no gcc')
        return
    library = os.path.join(box.folder, 'failinj.so')
    subprocess.run(['gcc', '-O2', '-fPIC', '-shared', '-o', library,
                    os.path.join(HERE, 'failinj.c'), '-ldl'], check=True)
    folder, prog, path = box.case('22-lines')
    commands = box.commands('-b', '-b -l', '-A', '-s', '-b -c', '-y -A')
    fail_all(tap, box, library, commands, folder, prog, path)
    if shutil.which('objcopy'):
        folder, prog, path = box.case('22-lines')
        separate_debug(prog)
        commands = [c for c in box.commands('-b', '-b -l') if 'merge' not in c.template]
        fail_all(tap, box, library, commands, folder, prog, path, ' (separate debug file)')


def separate_debug(prog):
    debug = prog + '.debug'
    subprocess.run(['objcopy', '--only-keep-debug', prog, debug], check=True)
    subprocess.run(['objcopy', '--strip-all', '--add-gnu-debuglink=' + debug, prog], check=True)


def fail_all(tap, box, library, commands, folder, prog, path, where=''):
    most = 4000 if box.full else 60
    for command in commands:
        for cls in CODES:
            base, calls, _ = injected(box, command, library, prog, path, cls, 0, 'once', folder)
            if not calls:
                tap.skip(f'{cls} fails: {command}{where}', 'it makes no such call that can be replaced')
                continue
            for mode in ('once', 'on'):
                found, notes = collections.Counter(), []
                step = max(1, calls // most)
                for k in [*range(1, min(calls, 20) + 1), *range(21, calls + 1, step)]:
                    r, _, failed = injected(box, command, library, prog, path, cls, k, mode, folder)
                    # Threads may come to a different number of calls: then there was no fault.
                    bad = verdict(box, r, base) if failed or r.status < 0 else ''
                    if bad:
                        found[bad] += 1
                        if found[bad] <= 2:
                            notes.append(f'{cls} number {k}: {bad}: {r.describe()}')
                title = 'each' if mode == 'once' else 'everything from each on'
                tap.ok(not found, f'{cls} fails, {title} of {calls}: {command}{where}',
                       f'{dict(found)}\n' + '\n'.join(notes))

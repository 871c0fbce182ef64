"""Everything that comes out of one run of a gprof, and how two runs differ.

An observation is {stream: bytes}: stdout and stderr (if not empty), status, gmon.sum and every
*-ann file that was written.
"""
import glob
import os

from subject import environment
from tap import first_difference


def observe(subject, folder, words, stdin=None, perturb=255, **how):
    """`perturb`: the byte that glibc fills fresh memory with, inverted. 255 gives zeros, which the
    comparison with GNU gprof's -R, and with its last symbol, needs."""
    made = lambda: glob.glob(os.path.join(folder, '*-ann')) + glob.glob(os.path.join(folder, 'gmon.sum'))
    for f in made():
        os.unlink(f)
    r = subject.run(words, cwd=folder, stdin=stdin and os.path.join(folder, stdin),
                    env=environment(MALLOC_PERTURB_=str(perturb)), **how)
    seen = {'stdout': r.out, 'stderr': r.err, 'status': b'%d' % r.status}
    for f in made():
        with open(f, 'rb') as file:
            text = file.read()
        if f.endswith('gmon.sum') and text.startswith(b'gmon'):
            text = text[:8] + bytes(12) + text[20:]  # GNU never sets these
        seen[os.path.basename(f)] = text
    return {k: v for k, v in seen.items() if v or k not in ('stdout', 'stderr')}


def output(seen):
    """The observation without messages and exit status."""
    return {k: v for k, v in seen.items() if k not in ('stderr', 'status')}


def difference(seen, want):
    """The differences as text; '' if there are none."""
    diff = []
    for stream in sorted(set(seen) | set(want)):
        got, exp = seen.get(stream, b''), want.get(stream, b'')
        if got != exp:
            diff.append(f'{stream}: ' + first_difference(got, exp))
        elif (stream in seen) != (stream in want):
            diff.append(f'{stream}: ' + ('not expected' if stream in seen else 'not written'))
    return '\n'.join(diff)

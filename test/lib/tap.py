"""Test Anything Protocol for the drivers written in Python.

    tap = Tap()
    tap.ok(a == b, 'a is b', detail='a: 1\nb: 2')
    tap.skip('c is d', 'no compiler for c')
    sys.exit(tap.done())
"""
import os
import signal
import sys
import traceback

os.environ.pop('COLUMNS', None)  # which says how wide output is
os.umask(0o022)  # programs are for other users, too, and chmod heeds it

# Shells start background jobs with interrupts ignored, and all that a driver starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Tap:
    def __init__(self, out=sys.stdout):
        self.out = out
        self.count = self.failed = self.skipped = 0

    def ok(self, passed, name, detail=''):
        """One point. `detail` (text or a function making it) is shown when it fails."""
        self.count += 1
        print(f'{"" if passed else "not "}ok {self.count} - {clean(name)}', file=self.out)
        if not passed:
            self.failed += 1
            self.note(detail() if callable(detail) else detail)
        self.out.flush()
        return bool(passed)

    def skip(self, name, reason):
        """A point that could not be tried here; the reason is shown in the summary."""
        self.count += 1
        self.skipped += 1
        print(f'ok {self.count} - {clean(name)} # SKIP {clean(reason)}', file=self.out, flush=True)

    def part(self, test, *args):
        """Returns test(*args). An exception is one failed point, so that the parts after it are not lost."""
        try:
            return test(*args)
        except Exception:
            self.ok(False, f'{test.__module__}, {test.__name__}: goes to its end', traceback.format_exc())
            return None

    def note(self, text):
        for line in str(text).splitlines():
            print('# ' + visible(line), file=self.out)

    def done(self):
        """Print the plan; the exit status: 1 if a point failed or there was none."""
        print(f'1..{self.count}', file=self.out, flush=True)
        return 1 if self.failed or not self.count else 0


def clean(text):
    """Escapes "#", which TAP would read in a name as the start of a directive."""
    return visible(str(text)).replace('#', '\\#')


def visible(text):
    return ''.join(c if c.isprintable() or c == '\t' else f'\\x{ord(c):02x}' for c in text)


def first_difference(got, want, context=2, most=8):
    """The first differing lines of two byte strings, as text."""
    a, b = got.split(b'\n'), want.split(b'\n')
    i = 0
    while i < len(a) and i < len(b) and a[i] == b[i]:
        i += 1
    if i == len(a) == len(b):
        return 'no difference'
    show = lambda mark, lines: [mark + repr(l)[2:-1][:200] for l in lines]
    return '\n'.join([f'first difference in line {i + 1} (got {len(got)} bytes, want {len(want)}):']
                     + show('  ', a[max(0, i - context):i])
                     + show('- got:  ', a[i:i + most // 2] or [b'<end>'])
                     + show('+ want: ', b[i:i + most // 2] or [b'<end>']))

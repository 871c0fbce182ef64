"""Run a test driver that prints TAP, and say what came of it.

    summary.py NAME LOG COMMAND...      run, keep the output in LOG, show failures and a line of counts
    summary.py --total                  "N passed, N failed, N skipped" over all runs so far

The counts of every run, and the first line of each failure, are added to the file named by $TEST_TOTALS;
the failures are said once more at the end, where nobody has to look for them. A driver that prints no plan,
or another number of points than planned, or ends with another status than its points explain, has one
failure more.
"""
import collections
import os
import re
import resource
import subprocess
import sys
import time

SHOWN_FAILURES, SHOWN_LINES = 25, 14
FAILURE = '! '                      # begins a line of $TEST_TOTALS that names a failure
POINT = re.compile(r'(not )?ok\b *\d* *-? *(.*?)(?: # (SKIP|TODO)\b *(.*))?$', re.I)


class Summary:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.planned = None
        self.failures = []          # lists of lines
        self.skips = collections.OrderedDict()

    def read(self, lines):
        current = None
        for line in lines:
            m = POINT.match(line)
            if m:
                current = None
                if m[3]:
                    self.skipped += 1
                    self.skips.setdefault(m[4] or '(no reason)', []).append(m[2])
                elif m[1]:
                    self.failed += 1
                    current = [line]
                    self.failures.append(current)
                else:
                    self.passed += 1
            elif re.match(r'1\.\.\d+', line):
                plan = re.match(r'1\.\.(\d+)(?: *# *SKIP *(.*))?', line, re.I)
                self.planned = int(plan[1])
                if not self.planned:
                    self.skipped += 1
                    self.skips.setdefault(plan[2] or '(no reason)', []).append('everything')
                current = None
            elif current is not None:
                current.append(line)

    def fail(self, why):
        self.failed += 1
        self.failures.append([why])


def run(name, log, command):
    start, s = time.monotonic(), Summary()
    os.makedirs(os.path.dirname(log) or '.', exist_ok=True)
    with open(log, 'wb') as out:
        status = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT)
    with open(log, encoding='utf-8', errors='replace') as f:
        lines = f.read().split('\n')
    s.read(lines)
    points = s.passed + s.failed + s.skipped
    if s.planned is None or (s.planned and s.planned != points):
        s.fail(f'{points} points, planned {s.planned}; status {status}; the last lines:\n'
               + '\n'.join(lines[-20:]))
    elif status and not s.failed:
        s.fail(f'all points passed, but the status is {status}')

    for failure in s.failures[:SHOWN_FAILURES]:
        print(f'{name}: ' + '\n'.join(line[:400] for line in failure[:SHOWN_LINES]))
    if len(s.failures) > SHOWN_FAILURES:
        print(f'{name}: ... and {len(s.failures) - SHOWN_FAILURES} more')
    for reason, names in s.skips.items():
        print(f'{name}: skipped {len(names)}, e.g. {names[0]!r}: {reason}')
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'{name}: {s.passed} passed, {s.failed} failed, {s.skipped} skipped '
          f'({time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU, {log})', flush=True)
    with open(os.environ['TEST_TOTALS'], 'a') as f:
        f.write(f'{s.passed} {s.failed} {s.skipped}\n')
        for failure in s.failures:
            f.write(f'{FAILURE}{name}: ' + failure[0].split('\n')[0][:400] + '\n')
    return 1 if s.failed else 0


def total():
    counts, failures = [(0, 0, 0)], []
    with open(os.environ['TEST_TOTALS']) as f:
        for line in f:
            if line.startswith(FAILURE):
                failures.append(line[len(FAILURE):].rstrip('\n'))
            else:
                counts.append(tuple(map(int, line.split())))
    passed, failed, skipped = map(sum, zip(*counts))
    for failure in failures[:SHOWN_FAILURES]:
        print(f'failed: {failure}')
    print(f'{passed} passed, {failed} failed, {skipped} skipped', flush=True)
    return 1 if failed or not passed else 0


if sys.argv[1:] == ['--total']:
    sys.exit(total())
sys.exit(run(sys.argv[1], sys.argv[2], sys.argv[3:]))

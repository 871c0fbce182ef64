"""Run tests that meson knows, and print all their points as one TAP stream.

    meson_tap.py BUILD NAME [argument of meson test]...     NAME: of the log
"""
import json
import os
import subprocess
import sys

from tap import Tap

build, name, *args = sys.argv[1:]
log = os.path.join(build, 'meson-logs', f'testlog-{name}.json')
if os.path.exists(log):
    os.unlink(log)
# Time limits are for hanging tests: the machine may be busy.
ran = subprocess.run(['meson', 'test', '-C', build, '--logbase', f'testlog-{name}', '--num-processes', '2', '--timeout-multiplier', '5', *args],
                     capture_output=True, text=True)
tap = Tap()
if not os.path.exists(log):
    tap.ok(False, 'meson test runs', ran.stdout + ran.stderr)
    sys.exit(tap.done())
with open(log) as f:
    tests = [json.loads(line) for line in f]
for t in tests:
    failed, note = 0, []
    lines = t.get('stdout', '').split('\n')
    points = [i for i, l in enumerate(lines) if l.startswith(('ok ', 'not ok '))]
    for i, end in zip(points, points[1:] + [len(lines)]):
        ok, _, rest = lines[i].partition('ok ')
        name = rest.partition('- ')[2] or rest
        if ' # SKIP' in name.upper():
            name, reason = name.split(' # ', 1)
            tap.skip(f'{t["name"]}: {name}', reason[4:].strip())
            continue
        failed += bool(ok)
        tap.ok(not ok, f'{t["name"]}: {name}', '\n'.join(lines[i + 1:end] if ok else []))
    # Whatever else meson holds against it: a signal, a time-out, a status, a leak.
    if t['result'] == 'SKIP':
        tap.skip(t['name'], 'skipped by itself')
    elif not points or (t['result'] not in ('OK', 'EXPECTEDFAIL') and not failed):
        tap.ok(t['result'] == 'OK', f'{t["name"]}: {t["result"]}',
               (t.get('stdout', '')[-1000:] + t.get('stderr', ''))[-4000:])
sys.exit(tap.done())

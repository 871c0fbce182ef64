"""Input that is cut, grown or rewritten while it is being read: any answer, but no crash."""
import collections
import os
import random
import threading
import time


def disturb(path, whole, stop, how):
    r = random.Random(how)
    with open(path, 'r+b') as f:
        while not stop.is_set():
            if how == 'truncated':
                f.truncate(r.randrange(len(whole)))
                time.sleep(.0002)
            os.pwrite(f.fileno(), whole if how == 'truncated' else r.randbytes(2000),
                      0 if how == 'truncated' else r.randrange(len(whole)))
            time.sleep(r.random() * .002)


def test(tap, box):
    rounds = 1000 if box.full else 60
    folder, prog, path = box.case('17-lua')
    for target, what in [(path, 'data file'), (prog, 'executable')]:
        with open(target, 'rb') as f:
            whole = f.read()
        for how in ('truncated', 'rewritten'):
            for command in box.commands('-b -p'):
                stop = threading.Event()
                thread = threading.Thread(target=disturb, args=(target, whole, stop, how))
                thread.start()
                found, notes = collections.Counter(), []
                try:
                    for _ in range(rounds):
                        r = command.run(prog, path, **box.limits(folder))
                        fault = box.fault(r)
                        if fault:
                            found[fault] += 1
                            notes.append(f'{fault}: {r.describe()}')
                finally:
                    stop.set()
                    thread.join()
                with open(target, 'wb') as f:
                    f.write(whole)
                tap.ok(not found, f'{what} {how} while read, {rounds} times: {command}',
                       f'{dict(found)}\n' + '\n'.join(notes[:3]))

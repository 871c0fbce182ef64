"""The same thing is asked for in the same words in every command that reports.

    words.py BUILD

A command that knows one spelling of a word knows all of them, and they mean the same; every report
knows every word.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

# Of the text below: two threads of one process, in a program and a library; two events.
DATA = ''.join(f'prog {pid}/{tid} [000] {n}.0{n}: 1000000 {event}:\n{"".join(f"{frame}" for frame in stack)}\n'
               for n, (pid, tid, event, stack) in enumerate([
                   (10, 10, 'cycles', ['\t1234 work+0x4 (/bin/prog)\n', '\t1100 main+0x10 (/bin/prog)\n']),
                   (10, 11, 'cycles', ['\t2234 copy+0x4 (/lib/libc.so)\n', '\t1200 fill+0x10 (/bin/prog)\n']),
                   (10, 11, 'faults', ['\t2234 copy+0x4 (/lib/libc.so)\n', '\t1200 fill+0x10 (/bin/prog)\n']),
                   (20, 20, 'cycles', ['\t1234 work+0x4 (/bin/prog)\n', '\t1100 main+0x10 (/bin/prog)\n'])], 1))

# Spellings; the first is the word of the documentation.
WORDS = [
    ['--input', '--data'],
    ['--event'],
    ['--thread', '--tid'],
    ['--comm', '--comms'],
    ['--object', '--dsos'],
    ['--columns', '--fields'],
    ['--min-share', '--percent-limit'],
    ['--by'],
    ['--sort'],
]
REPORTS = ['report', 'flat', 'graph', 'lines', 'annotate', 'counts', 'cycles', 'diff']
WITH_INPUT = REPORTS + ['script', 'html', 'info', 'latency', 'browse', 'merge']
COLUMNS = {'report': 'overhead,sym', 'script': 'comm,ip,sym', 'flat': 'self,name', 'graph': 'self,name', 'diff': 'before,name'}


def options(kin, command):
    text = subprocess.run([kin, 'help', 'all', command], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    return set(re.findall(r'^ +(?:-\w, )?(--[\w-]+)', text, re.M))


def run(kin, folder, command, *words, data=True):
    files = ([] if not data else ['app.data', 'app.data'] if command == 'diff' else ['app.data'])
    if command == 'diff' and '--all' not in words:
        words += ('--all',)
    done = subprocess.run([kin, command, *words, *files], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors='replace', timeout=60)
    return done.returncode, done.stdout, done.stderr


def main():
    kin = os.path.abspath(os.path.join(sys.argv[1], 'kin'))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, 'app.data'), 'w').write(DATA)
        known = {c: options(kin, c) for c in set(WITH_INPUT + ['top', 'record'])}

        for spellings in WORDS:
            for command in sorted(set(WITH_INPUT + ['top'])):
                has = [s for s in spellings if s in known[command]]
                tap.ok(not has or has == spellings, f'kin {command} knows all of {" ".join(spellings)}, or none', str(has))
        for command in REPORTS:
            sections = {'--by'} if command == 'diff' else set()  # two are compared as one table
            missing = [s for spellings in WORDS for s in spellings if s not in known[command] | sections]
            tap.ok(not missing, f'kin {command} knows all shared words', str(missing))
        for command in WITH_INPUT:
            tap.ok({'--input', '--data'} <= known[command], f'kin {command} takes --input and --data')
        missing = [s for spellings in WORDS[1:] for s in spellings if s not in known['top']]
        tap.ok(not missing, 'kin top knows all shared words but those for files', str(missing))

        for command in ['report', 'script', 'flat', 'graph']:
            whole = run(kin, folder, command)
            tap.ok(whole[0] == 0 and 'work' in whole[1], f'kin {command} reads the data', str(whole))
            for word in ['--input', '--data']:
                got = run(kin, folder, command, word, 'app.data', data=False)
                tap.ok(got == whole, f'kin {command} {word} is the same as an operand', str(got))
            # What is left is that of the thread, event or object; the rest is gone.
            for words, there, gone in [(['--thread', '11'], 'copy', 'work'), (['--tid', '11'], 'copy', 'work'),
                                       (['--comm', 'prog'], 'work', 'nothing'), (['--comms', 'prog'], 'work', 'nothing'),
                                       (['--object', 'prog'], 'work', 'copy'), (['--dsos', 'prog'], 'work', 'copy'),
                                       (['--event', 'faults'], 'copy', 'work')]:
                code, out, err = run(kin, folder, command, *words)
                tap.ok(code == 0 and there in out and gone not in out, f'kin {command} {" ".join(words)}', out + err)
            first = run(kin, folder, command, '--columns', COLUMNS[command])
            tap.ok(first[0] == 0 and first != whole, f'kin {command} --columns', str(first))
            tap.ok(run(kin, folder, command, '--fields', COLUMNS[command]) == first, f'kin {command} --fields is --columns')
        for command in ['report', 'flat', 'graph', 'lines', 'cycles', 'annotate']:
            plain, limited, perfs = (run(kin, folder, command, '--event', 'cycles', *w)
                                      for w in [(), ('--min-share', '60'), ('--percent-limit', '60')])
            tap.ok(limited == perfs, f'kin {command} --percent-limit is --min-share', f'{limited}\n{perfs}')
            if command in ('report', 'flat'):
                tap.ok('copy' in plain[1] and 'work' in limited[1] and 'copy' not in limited[1],
                       f'kin {command} --min-share hides', limited[1])
        for command in ['flat', 'graph', 'lines']:
            for word, more in [('--thread', '--tid'), ('--comm', '--comms'), ('--object', '--dsos')]:
                arg = {'--thread': '11', '--comm': 'prog', '--object': 'libc.so'}[word]
                one = run(kin, folder, command, word, arg)
                tap.ok(run(kin, folder, command, more, arg) == one, f'kin {command} {more} is {word}', str(one))
        two = run(kin, folder, 'flat', '--thread', '10', '--thread', '11')
        tap.ok(run(kin, folder, 'flat', '--tid', '10,11') == two and two[0] == 0, 'a list of threads is each of them', str(two))
        # By thread: the numbers of the threads appear, in sections or in rows.
        for command in ['report', 'flat', 'graph']:
            code, out, err = run(kin, folder, command, '--by', 'thread')
            tap.ok(code == 0 and all(re.search(rf'\b{t}\b', out) for t in (10, 11, 20)), f'kin {command} --by thread', out + err)
            code, out, err = run(kin, folder, command, '--by', 'place')
            tap.ok(code == 2 and 'thread' in err, f'kin {command} --by names what is valid', err)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

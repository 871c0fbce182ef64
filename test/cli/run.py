"""Golden sessions: commands and what they print, as a person would see it.

    run.py BUILD [--update] [SESSION...]

A session is a file of sessions/: "@ CASE" copies that case of test/cases into the session's empty
folder, "@ fuzz/FORMAT/NAME" that file of a fuzz corpus, without the byte in front of a perf.data that
is the fuzzer's own; "# ..." is a comment, "$ COMMAND" is run by sh there, and the lines up to the next
command are its output (standard error after standard output), with "[N]" for an exit status other than 0.
--update writes what is printed now: read the difference as a user would.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

LIMIT = 60  # seconds for one command


def environment(build, folder):
    return {'PATH': os.path.abspath(build) + ':' + os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C',
            'TERM': 'dumb', **{k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')}}


def run(command, folder, env):
    done = subprocess.run(['sh', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT)
    text = (done.stdout + done.stderr).decode('utf-8', 'backslashreplace')
    if text and not text.endswith('\n'):
        text += '\n'
    return text + (f'[{done.returncode}]\n' if done.returncode else '')


def copy_corpus(name, folder):
    with open(os.path.join(HERE, '..', 'fuzz', 'corpus', *name.split('/')[1:]), 'rb') as f:
        data = f.read()
    with open(os.path.join(folder, os.path.basename(name)), 'wb') as f:
        f.write(data[max(data.find(b'PERFILE2'), 0):])


def copy_case(case, folder):
    if case.startswith('fuzz/'):
        return copy_corpus(case, folder)
    source = os.path.join(HERE, '..', 'cases', case)
    for name in os.listdir(source):
        if name not in ('expected.txt', 'options') and os.path.isfile(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), folder)
            os.chmod(os.path.join(folder, name), 0o755)


def blocks(text):
    """[(line, expected output)]: comments and "@" are lines without output."""
    result = []
    for line in text.splitlines(keepends=True):
        if line.startswith(('$ ', '@ ', '#')):
            result.append([line, ''])
        elif result and result[-1][0].startswith('$ '):
            result[-1][1] += line
        elif line.strip():
            raise SystemExit(f'not part of a session: {line!r}')
        else:
            result.append([line, ''])
    return result


def play(path, build, tap, update):
    written, name = '', os.path.basename(path)
    with tempfile.TemporaryDirectory(prefix='kin-cli.') as folder:
        env = environment(build, folder)
        for line, expected in blocks(open(path, encoding='utf-8').read()):
            written += line
            if line.startswith('@ '):
                copy_case(line[2:].strip(), folder)
            if not line.startswith('$ '):
                continue
            # Blank lines before the next comment belong to the layout of the session.
            body = expected.rstrip('\n')
            got = run(line[2:].rstrip('\n'), folder, env)
            if not update:
                tap.ok(body == got.rstrip('\n'), f'{name}: {line[2:].strip()}',
                       lambda: f'expected:\n{expected}\ngot:\n{got}')
            written += got.rstrip('\n') + '\n' * (got.rstrip('\n') != '')
            written += '\n' * (len(expected) - len(body) - (body != ''))
    if update:
        open(path, 'w', encoding='utf-8').write(written)


def main():
    args = [a for a in sys.argv[1:] if a != '--update']
    build, names = args[0], args[1:]
    sessions = os.path.join(HERE, 'sessions')
    paths = [name if '/' in name else os.path.join(sessions, name) for name in names] or sorted(glob.glob(os.path.join(sessions, '*')))
    tap = Tap()
    for path in paths:
        play(path, build, tap, '--update' in sys.argv)
    return 0 if '--update' in sys.argv else tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""Man pages and completions say what the program does.

    docs.py BUILD
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap


def output(*args, **kw):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, **kw).stdout


def complete(build, folder, *words):
    """What bash offers after these words, the last of which is being typed."""
    # As readline splits them: "=" is a word of its own.
    split = [w for word in words for w in (re.split('(=)', word) if '=' in word else [word])]
    if len(split) > 1 and split[-1] == '' and split[-2] == '=':
        split.pop()
    script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _kin; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return output('bash', '-c', script, 'bash', os.path.join(build, 'doc', 'kin'), *split, cwd=folder).split()


def main():
    build = os.path.abspath(sys.argv[1])
    kin, doc = os.path.join(build, 'kin'), os.path.join(build, 'doc')
    tap = Tap()
    names = re.findall(r'^  (\w+) ', output(kin, 'help'), re.M)
    tap.ok(len(names) >= 9, 'kin help lists the commands', str(names))

    for page in ['kin'] + ['kin-' + n for n in names]:
        path = os.path.join(doc, page + '.1')
        if not tap.ok(os.path.exists(path), f'{page}.1 is there'):
            continue
        if shutil.which('man'):
            done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', path], text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            tap.ok(done.returncode == 0 and not done.stderr, f'{page}.1 formats cleanly', done.stderr)
        else:
            tap.skip(f'{page}.1 formats cleanly', 'man is not installed')

    for name in names:
        text = output(kin, name, '--help')
        options = set(re.findall(r'^ +(?:-\w, )?--([\w-]+)', text, re.M))
        page = open(os.path.join(doc, f'kin-{name}.1')).read().replace('\\-', '-')
        missing = sorted(o for o in options if f'--{o}\\fR' not in page)
        tap.ok(options and not missing, f'kin-{name}.1 has the options of kin {name} --help', str(missing))
        with tempfile.TemporaryDirectory() as folder:
            offered = {o.rstrip('=') for o in complete(build, folder, 'kin', name, '--')}
            missing = sorted(o for o in options if '--' + o not in offered)
            tap.ok(not missing, f'bash completes the options of kin {name}', str(missing))

    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, 'gmon.out'), 'w').close()
        os.mkdir(os.path.join(folder, 'src'))
        for words, want in [
                (['kin', 'fl'], ['flat']), (['kin', 'help', 'gr'], ['graph']), (['kin', 'flat', '--form'], ['--format=']),
                (['kin', 'flat', '--format=j'], ['json']), (['kin', 'flat', '--format='], ['text', 'json', 'csv']),
                (['kin', 'flat', '--color', 'a'], ['auto', 'always']), (['kin', 'flat', 'gm'], ['gmon.out']),
                (['kin', 'flat', '-e', 'gm'], ['gmon.out']), (['kin', 'annotate', '--source-dir='], ['src']),
                (['kin', 'order', '--for=m'], ['mold']), (['gprof', '--flat'], ['--flat-profile=']),
                (['gprof', 'gm'], ['gmon.out']), (['kin', 'flat', '-f', ''], ['text', 'json', 'csv']),
                (['gprof', '--flat-profile', 'gm'], ['gmon.out']), (['gprof', '--demangle', 'gm'], ['gmon.out']),
                (['gprof', '--demangle=r'], ['rust']), (['gprof', '-p', 'gm'], ['gmon.out']),
                (['gprof', '-I', ''], ['src']), (['gprof', '-t', ''], []), (['gprof', '--dialect=o'], ['openbsd'])]:
            got = complete(build, folder, *words)
            tap.ok(sorted(got) == sorted(want), 'bash: ' + ' '.join(words) + '<Tab>', f'{got} instead of {want}')

    for shell, name in [('bash', 'kin'), ('zsh', '_kin'), ('fish', 'kin.fish')]:
        if shutil.which(shell):
            done = subprocess.run([shell, '-n', os.path.join(doc, name)], capture_output=True, text=True)
            tap.ok(done.returncode == 0, f'{shell} can parse its completion', done.stderr)
        else:
            tap.skip(f'{shell} can parse its completion', f'{shell} is not installed')
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

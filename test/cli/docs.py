"""Man pages and completions say what the program does.

    docs.py BUILD
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
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
    return output('bash', '-c', script, 'bash', os.path.join(build, 'doc', 'kin'), *split, cwd=folder).strip('\n').splitlines()


def of_help(text):
    """{'-o', '--output' ...}"""
    return set(re.findall(r'^ +(-\w)\b', text, re.M)) | set(re.findall(r'^ +(?:-\w, )?(--[\w-]+)', text, re.M))


def of_man(page, name):
    part = re.split(r'^\.SH ', page.replace('\\-', '-').split('.SH OPTIONS\n')[1], flags=re.M)[0]
    heads = re.findall(r'^\.TP\n(.*)', part, re.M)
    return {o for head in heads for o in re.findall(r'\\fB(-[\w-]+)\\fR', head)}


def keys_of_tables(tap, kin):
    """The public header lists the columns that the reports have."""
    header = open(os.path.join(ROOT, 'include', 'kin', 'table.h')).read()
    listed = header.split('Keys by report')[1].split('*/')[0]
    listed = re.sub(r'\n \*\t {10}', ' ', listed)
    case = os.path.join(HERE, '..', 'cases', '01-basic')
    for report in ('flat', 'graph', 'lines', 'annotate', 'cycles', 'counts', 'latency', 'info'):
        done = subprocess.run([kin, report, '-c', 'nonsense', os.path.join(case, 'prog'), os.path.join(case, 'gmon.out')],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        there = re.search(r': it has (.*)', done.stderr)
        want = there.group(1).split(', ') if there else None
        line = re.search(rf'^ \*\t{report} +(.*)$', listed, re.M)
        tap.ok(line and line.group(1).split() == want, f'kin/table.h lists the columns of {report}',
               f'{want}, but {line and line.group(1)}')


def of_zsh(script, name):
    part = script.split(f'\n    {name})\n')[1].split(';;\n')[0]
    return {'-' + o.rstrip('=-+') for o in re.findall(r"^ +'\*-([\w=+-]+)\[", part, re.M)}


def of_fish(script, name):
    lines = re.findall(rf"^complete -c kin -n '__fish_seen_subcommand_from {name}'(.*?) (?:-d|-[xr] )", script, re.M)
    return {('-' if kind == 's' else '--') + o for line in lines for kind, o in re.findall(r' -([sl]) (\S+)', line)}


PLACES = [('the man page', 'kin-{}.1', of_man), ('zsh', '_kin', of_zsh), ('fish', 'kin.fish', of_fish)]


def commands_in(text):
    """(command, long option) of each "kin COMMAND --option" in a text; what follows "--" is another program's."""
    for command, rest in re.findall(r'\bkin (\w+)( [^`\n;|&"()]*)', text.replace('\\-', '-')):
        words = rest.split(' kin ')[0].split(' ./')[0].split()
        for word in words[:words.index('--') if '--' in words else None]:
            if word.startswith('--'):
                yield command, re.match(r'[\w-]+', word).group()


@functools.lru_cache
def options_of(kin, command):
    return of_help(output(kin, 'help', 'all', command))


def known(kin, command, option):
    return any(o.startswith(option) for o in options_of(kin, command)) or option == '--help'


def main():
    build = os.path.abspath(sys.argv[1])
    kin, doc = os.path.join(build, 'kin'), os.path.join(build, 'doc')
    tap = Tap()
    names = re.findall(r'^  (\w+) ', output(kin, 'help', 'all'), re.M)
    tap.ok(len(names) >= 9, 'kin help all lists the commands', str(names))

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
        options = options_of(kin, name)
        tap.ok(options, f'kin help all {name} has options')
        for place, text, find in PLACES:
            found = find(open(os.path.join(doc, text.format(name))).read(), name)
            differ = sorted(options ^ found)
            tap.ok(not differ, f'{place} has the options of kin help all {name}, and no others', str(differ))
        with tempfile.TemporaryDirectory() as folder:
            offered = {o.rstrip('=') for o in complete(build, folder, 'kin', name, '-')}
            missing = sorted(o for o in options if o.startswith('--') and o not in offered)
            tap.ok(not missing, f'bash completes the options of kin {name}', str(missing))

    for path in sorted(glob.glob(os.path.join(ROOT, '*.md')) + glob.glob(os.path.join(ROOT, '*', '*.md')) +
                       glob.glob(os.path.join(doc, '*.1'))):
        unknown = [f'kin {c} {o}' for c, o in commands_in(open(path).read()) if c in names and not known(kin, c, o)]
        tap.ok(not unknown, f'{os.path.basename(path)} names no options that commands do not have', str(unknown))

    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, 'gmon.out'), 'w').close()
        os.mkdir(os.path.join(folder, 'src'))
        for name in ('two words.kin', '*.kin'):
            open(os.path.join(folder, name), 'w').close()
        for words, want in [
                (['kin', 'fl'], ['flat']), (['kin', 'help', 'gr'], ['graph']), (['kin', 'flat', '--form'], ['--format=']),
                (['kin', 'flat', '--format=j'], ['json']), (['kin', 'flat', '--format='], ['text', 'json', 'csv']),
                (['kin', 'flat', '--color', 'a'], ['auto', 'always']), (['kin', 'flat', 'gm'], ['gmon.out']),
                (['kin', 'flat', '-e', 'gm'], ['gmon.out']), (['kin', 'annotate', '--source-dir='], ['src']),
                (['gprof', '--flat'], ['--flat-profile=']),
                (['gprof', 'gm'], ['gmon.out']), (['kin', 'flat', '-f', ''], ['text', 'json', 'csv']),
                (['gprof', '--flat-profile', 'gm'], ['gmon.out']), (['gprof', '--demangle', 'gm'], ['gmon.out']),
                (['gprof', '--demangle=r'], ['rust']), (['gprof', '-p', 'gm'], ['gmon.out']),
                (['kin', 'flat', 'two'], ['two words.kin']), (['kin', 'flat', '-i', '*'], ['*.kin']), (['kin', './t'], ['./two words.kin']),
                (['gprof', '-I', ''], ['src']), (['gprof', '-t', ''], []), (['gprof', '--dialect=o'], ['openbsd'])]:
            got = complete(build, folder, *words)
            tap.ok(sorted(got) == sorted(want), 'bash: ' + ' '.join(words) + '<Tab>', f'{got} instead of {want}')

    keys_of_tables(tap, kin)

    for shell, name in [('bash', 'kin'), ('zsh', '_kin'), ('fish', 'kin.fish')]:
        if shutil.which(shell):
            done = subprocess.run([shell, '-n', os.path.join(doc, name)], capture_output=True, text=True)
            tap.ok(done.returncode == 0, f'{shell} can parse its completion', done.stderr)
        else:
            tap.skip(f'{shell} can parse its completion', f'{shell} is not installed')
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""Files of a folder of src/ do not call each other in a circle: a file does not depend on its users.

    circles.py ROOT

Exceptions are listed below, with the reason. Calls through function pointers, as in tables, do not count.
"""
import collections
import fnmatch
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(ROOT, 'test', 'lib'))
from tap import Tap

# Files that may be in one circle.
ALLOWED = {
    # A table of all commands or renderers, and helpers that its entries call.
    'cli': [{'command.c', 'help.c', 'prefix.c', 'cmd_*.c'}],
    'table': [{'render.c', 'order.c', 'table_csv.c', 'table_json.c', 'table_text.c'}],
    # GNU's matching of names is a variant of ours, and chosen at the start of ours.
    'gnu': [{'symspec.c', 'symspec_gnu.c'}],
    # One module, divided by steps: an object file that is opened, read and closed, or answers from its cache.
    'object': [{'answered_file.c', 'debugfile.c', 'elf_machine.c', 'kept_object.c', 'lines.c', 'lines_index.c', 'lines_split.c', 'lines_unit.c', 'object.c'}],
    'symbolize': [{'aliases.c', 'symbols.c'}],
    'formats/kin': [{'kin.c', 'kin_names.c', 'kin_stream.c', 'kin_tables.c'}, {'kin_write.c', 'kin_names_write.c'}],
    'formats/perfdata': [{'perf_file.c', 'perf_machine.c', 'perf_records.c'}, {'perf_object.c', 'perf_dwarf.c'}],
}
FUNCTION = re.compile(r'^(?!static\b|typedef\b|extern\b)[a-z][\w ]*?[ *](\w+)\([^;]*?\)\n\{', re.M | re.S)
DATA = re.compile(r'^(?!static\b|typedef\b|extern\b)[a-z][\w *]*?[ *](\w+)(?:\[\w*\])* = ', re.M)


def code_of(path):
    with open(path, encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', ' ', f.read(), flags=re.S)
    return re.sub(r'\b(?:struct|union|enum) \w+', 'struct', text)


def calls_of(folder):
    """{file: {files of the folder with something that it names}}"""
    code = {f: code_of(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith('.c')}
    owner = {name: f for f, text in code.items() for pattern in (FUNCTION, DATA) for name in pattern.findall(text)}
    return {f: {owner[w] for w in set(re.findall(r'\w+', text)) if w in owner} - {f} for f, text in code.items()}


def circles(calls):
    """Files that reach each other."""
    reach = {}
    for f in calls:
        todo, reach[f] = [f], set()
        while todo:
            new = calls[todo.pop()] - reach[f]
            reach[f] |= new
            todo += new
    found = collections.OrderedDict()
    for f in calls:
        if f in reach[f]:
            found[frozenset(g for g in reach[f] if f in reach[g])] = None
    return list(found)


def is_among(files, patterns):
    return all(any(fnmatch.fnmatch(f, p) for p in patterns) for f in files)


def main():
    tap, src = Tap(), os.path.join(ROOT, 'src')
    for folder, _, files in sorted(os.walk(src)):
        name = os.path.relpath(folder, src)
        if any(f.endswith('.c') for f in files):
            wrong = [c for c in circles(calls_of(folder)) if not any(is_among(c, names) for names in ALLOWED.get(name, []))]
            tap.ok(not wrong, f'src/{name} has no circles', '\n'.join(' '.join(sorted(c)) for c in wrong))
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

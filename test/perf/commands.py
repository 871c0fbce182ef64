#!/usr/bin/env python3
"""Every command with random options, over recordings with every kind of record: none ends by a signal, and each
prints something, or says why it does not.

    commands.py KIN [--from SEED] [--count N]    recordings made up, 20 command lines for each
    commands.py KIN --live [--count N]           recordings made here by perf, N times 20 for each"""
import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import kinds
import live

EACH = 20

KEYS = ('comm,dso,sym', 'sym', 'dso', 'comm', 'pid', 'tid', 'cpu', 'socket', 'time', 'cgroup', 'parallelism', 'parent',
        'symoff,sym', 'symbol_size,sym', 'srcline', 'srcfile', 'weight', 'transaction', 'run', 'code_page_size', '+cpu')
BRANCH_KEYS = ('dso_from,dso_to', 'symbol_from,symbol_to', 'mispredict', 'cycles', 'addr_from', 'srcline_to')
MEMORY_KEYS = ('mem', 'symbol_daddr', 'dso_daddr', 'phys_daddr', 'snoop,tlb', 'symbol_iaddr')
COLUMNS = ('overhead,sym', 'overhead_children,overhead,dso', 'sample,period,comm', 'latency,sym', 'overhead_sys,overhead_us,sym')
CALLS = ('none', 'caller', 'callee', 'fractal', 'flat,count', 'folded', 'graph,5,2,callee,srcline', 'address')
NAMES = ('main', 'copy,f1', 'nobody', 'sys_open')
EVENTS = ('blocked', 'waiting', 'cpu-clock', 'nosuch')
TIMES = ('1.0,1.001', '1.0005,', ',1.001', '10%-60%', '5,4')

OPTIONS = { # an option, and its possible arguments
    'report': [('--stdio',), ('--stdio',), ('-s', *KEYS), ('-F', *COLUMNS), ('-g', *CALLS), ('-g',), ('-f',), ('-G',), ('--no-children',), ('-U',),
               ('--max-stack', '0', '1', '2', '5'), ('-n',), ('--hierarchy',), ('--group',), ('--latency',), ('-b',), ('--mem-mode',),
               ('-b -s', *BRANCH_KEYS), ('--mem-mode -s', *MEMORY_KEYS), ('--percent-limit', '0', '10'), ('--time', *TIMES),
               ('--percentage', 'relative'), ('-S', *NAMES), ('-c', 'perf', 'x'), ('-d', 'prog', '[kernel.kallsyms]'),
               ('-p', 'main'), ('-x',), ('--ignore-callees', 'main|f1'), ('--inline',), ('--no-inline',), ('-C', '0', '1'),
               ('-f', 'json', 'csv', 'text'), ('--stats',), ('--header',), ('-w', '5,10'), ('-q',)],
    'script': [('-F', 'comm,pid,tid,time,event', '+srcline', 'ip,sym,dso', '-time', '+count', '+iregs,uregs',
                '+brstack', '+brstacksym', '+brstackinsn,brstackinsnlen', '+srccode', '+synth,ipc', 'brstackoff,dso', '+data_src,data_page_size,code_page_size', '+insn,insnlen', '+tod',
                'sw:comm,time,ip -F trace:', 'hw:+addr,weight -F sw:-time'), ('-G',), ('-f', 'json'),
               ('--max-stack', '0', '1', '3'), ('--ns',), ('--stop-bt', *NAMES),
               ('--dsos', 'prog', 'libc.so.6'), ('--header',), ('--full-source-path',), ('-f',), ('--reltime',), ('--deltatime',), ('-S', *NAMES), ('--event', *EVENTS),
               ('--time', *TIMES), ('--folded',), ('--count',), ('-C', '0')],
    'annotate': [('--asm',), ('-c', 'all'), ('--event', *EVENTS)],
    'diff': [('--event', *EVENTS), ('-f', 'json', 'csv')],
    'info': [('--strict',), ('-f', 'json')],
    'graph': [('-f', 'json', 'csv'), ('--event', *EVENTS), ('--by', 'thread', 'event')],
    'flat': [('-f', 'json', 'csv'), ('--event', *EVENTS), ('--by', 'thread', 'event', 'object')],
    'lines': [('-f', 'json'), ('--event', *EVENTS)],
    'cycles': [('-f', 'json')],
    'html': [('-o', '/dev/null'), ('--max-size', '100K', '1K'), ('--no-code',), ('--event', *EVENTS), ('--time', *TIMES)],
    'merge': [],
    'counts': [('-f', 'json')],
    'latency': [],
}
# Each ended by a signal once.
PAST = ['script', 'script -F ip,sym,dso,srcline', 'script -G', 'script --event blocked', 'report --stdio --max-stack 1 -U',
        'report --stdio --max-stack 1 -U -g callee', 'report --stdio --max-stack 1 -U --no-children',
        'report --stdio --max-stack 1 -U -g callee -s comm --event blocked', 'report --stdio -C 4000', 'report --stdio -C 4000 -g callee']
SILENT = ('html', 'merge', 'script') # have no words of their own
COMMANDS = ['report'] * 10 + ['script'] * 4 + [c for c in OPTIONS if c not in ('report', 'script')]


def command_line(x, data, other):
    command = x.choice(COMMANDS)
    line = [command]
    for option, *values in x.sample(OPTIONS[command], min(len(OPTIONS[command]), x.choice((0, 1, 2, 3, 5)))):
        line += option.split() + (x.choice(values).split() if values else [])
    if command == 'merge':
        line += ['-o', 'merged.kin']
    return line + (['-i', data] if command in ('report', 'script') else [data, other] if command == 'diff' else [data])


def problem(kin, line, folder):
    """None, or the error."""
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'KIN_CACHE_DIR': folder}
    done = subprocess.run([kin, *line], cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode < 0:
        return f'ends by signal {-done.returncode}'
    if done.returncode and not done.stderr:
        return f'status {done.returncode}, and nothing is said'
    if not done.stdout and not done.stderr and '-q' not in line and line[0] not in SILENT:
        return 'prints nothing'
    return None


def problems(kin, seed, data, other, folder):
    x = random.Random(seed * 7919)
    for _ in range(EACH):
        line = command_line(x, data, other)
        wrong = problem(kin, line, folder)
        if wrong:
            yield f'seed {seed}: {wrong}: {shlex.join(line)}'


def of_seeds(kin, folder, first, n):
    """(seed, problems)"""
    before = None
    for seed in range(first, first + n):
        data = kinds.write(os.path.join(folder, str(seed)), seed)
        yield seed, list(problems(kin, seed, data, before or data, folder))
        before = data


def of_live(kin, folder, n):
    """(how, problems): of recordings made here."""
    if not live.has_peer():
        return
    for how, data in kinds.live(folder):
        found = []
        for seed in range(n):
            found += problems(kin, seed, data, data, folder)
        yield how, found


def test_past(tap, kin, folder):
    data = kinds.write_unseen(os.path.join(folder, 'unseen'))
    for line in PAST:
        wrong = problem(kin, [*line.split(), '-i', data], folder)
        tap.ok(not wrong, 'threads and callers that nobody saw: ' + line, wrong or '')


def test(tap, kin, folder, full=False):
    test_past(tap, kin, folder)
    for seed, found in of_seeds(kin, folder, 1, 500 if full else 15):
        tap.ok(not found, f'random commands on recording {seed}', '\n'.join(found))
    for how, found in of_live(kin, folder, 5 if full else 0):
        tap.ok(not found, f'random commands on perf record {how}', '\n'.join(found))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('kin')
    p.add_argument('--from', dest='first', type=int, default=1)
    p.add_argument('--count', type=int, default=15)
    p.add_argument('--live', action='store_true')
    a = p.parse_args()
    a.kin, bad = os.path.abspath(a.kin), 0
    with tempfile.TemporaryDirectory() as folder:
        results = of_live(a.kin, folder, a.count) if a.live else of_seeds(a.kin, folder, a.first, a.count)
        for _, found in results:
            bad += len(found)
            if found:
                print(*found, sep='\n', flush=True)
    print(f'{bad} wrong')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())

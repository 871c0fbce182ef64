"""Recordings made here by perf: kin report --stdio next to perf report, byte for byte.

The program has no libraries and no names but its own, and is recorded in user mode only, so only
the numbers depend on chance. Skipped where there is no perf 6.1, or it may not record."""
import os
import re
import subprocess
import time

PROGRAM = r"""
static volatile unsigned long sink;
#define FUNCTION static void __attribute__((noinline))
FUNCTION burn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * i; __asm__ volatile(""); }
FUNCTION foo(void) { burn(30000); sink++; }
FUNCTION bar(void) { burn(10000); foo(); sink++; }
FUNCTION odd(unsigned n);
FUNCTION even(unsigned n) { burn(4000); if (n) odd(n - 1); sink++; }
FUNCTION odd(unsigned n) { burn(7000 + 1000 * n); if (n) even(n - 1); sink++; }
FUNCTION work(void) { foo(); bar(); even(5); odd(3); sink++; }
__attribute__((force_align_arg_pointer)) void _start(void)
{
	for (unsigned i = 0; i < 1500; i++)
		work();
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
}
"""

RECORDINGS = {
    'frame pointers': ['-e', 'cpu-clock:u', '-g'],
    'no stacks': ['-e', 'cpu-clock:u'],
    'stack dumps': ['-e', 'cpu-clock:u', '--call-graph', 'dwarf,1024'],
    'two events': ['-e', 'cpu-clock:u,task-clock:u', '-g'],
    'a group': ['-e', '{cpu-clock:u,task-clock:u}', '-g'],
    'processors and times': ['-e', 'cpu-clock:u', '-g', '-T', '--sample-cpu'],
    'packed': ['-e', 'cpu-clock:u', '-g', '-z'],
}

OPTIONS = [line.split() for line in '''\
--no-children
-g caller
-g callee
--no-children -G
-g none
-g fractal
-g flat,count --no-children
-g folded,0.5,caller,period --no-children
-g graph,2,3
-s comm,dso -g none
-s sym
-s dso,sym -n --show-total-period -g none
-F overhead,sym,sample -g none
-F overhead_children,overhead,comm -g none
-s sym -p ^(foo|even)$ -s parent,sym -g none
--hierarchy --no-children -g none
--hierarchy
--max-stack 3
--percent-limit 10
--percentage relative -S foo -g none --no-children
-t ; -g none
-q
-w 10,20 -g none
--group -g none
--no-group -s sym -g none
--time 20%-60% -g none
--symbol-filter=o -g none
--ignore-callees foo -g none
--header-only -I
--header -g none
--stats
-U -g none
-s time --time-quantum 10ms -g none --no-children
-s symbol_size,sym -g none
--show-cpu-utilization -g none'''.splitlines()]


# perf looks for these in the stacks that the kernel walked only.
UNWOUND = {'-p', '--ignore-callees', '--max-stack'}


LEFT_OUT = {
    'two events': '--symbol-filter=o',  # makes perf's columns wider for rows that are not shown, but for the first event
    'a group': '-w',  # is the width of all events' figures together in perf's header, and of each in its rows
    'packed': '--time',  # in percent asks perf for a part of the file that it does not write then
}


def report(program, options, data, folder):
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'PAGER': 'cat'}
    done = subprocess.run([program, 'report', '--stdio', '--no-inline', *options, '-i', data], cwd=folder, env=env,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    # perf says "of events" of a single one, too, if it was counted in a group.
    return [re.sub("of events ('[^,{]*')$", r'of event \1', line)
            for line in done.stdout.decode(errors='replace').splitlines()
            if not line.startswith(('# (Tip:', '# (Cannot'))]


def blocks(lines):
    return sorted('\n'.join(lines).split('\n\n'))


def needs_stacks(options):
    """perf refuses these where there are none, or prints "N/A"."""
    line = ' '.join(options)
    return ('-g' in options and '-g none' not in line) or '-p' in options or 'overhead_children' in line


def compare(tap, kin, name, data, folder):
    for options in [[]] + OPTIONS:
        if name == 'no stacks' and needs_stacks(options):
            continue
        if LEFT_OUT.get(name) in options:
            continue
        if name == 'stack dumps' and UNWOUND.intersection(options):
            continue
        a, b = report('perf', options, data, folder), report(kin, options, data, folder)
        # equal figures of different rows may stand in any order
        good = bool(a) and (a == b or blocks(a) == blocks(b) or sorted(a) == sorted(b))
        problem = ''
        if not good:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            problem = f'line {at + 1}: perf prints {a[at:at + 1]}, kin {b[at:at + 1]}'
        tap.ok(good, f'{name}: {" ".join(options) or "no options"}', problem)


def script(program, data, folder):
    """Where in which function each frame is."""
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'PAGER': 'cat'}
    done = subprocess.run([program, 'script', '--no-inline', '-F', 'ip,sym,symoff', '-i', data], cwd=folder, env=env,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    return re.findall(r'\S+[+]0x[0-9a-f]+', done.stdout.decode(errors='replace'))


def test_access(tap, kin, folder):
    """Samples with details of their memory access."""
    data = os.path.join(folder, 'access.live')
    why = record(['-e', 'page-faults', '-d', '-W', '--phys-data'], '/bin/true', data, folder)
    if why:
        tap.skip('fields of accesses to memory', f'NOT TESTED: {why}')
        return
    for field in 'addr', 'weight', 'ins_lat', 'phys_addr', 'misc', 'flags':
        a, b = ([line.rstrip() for line in subprocess.run(
            [program, 'script', '-F', f'comm,tid,event,{field}', '-i', data], cwd=folder, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False).stdout.splitlines()] for program in ('perf', kin))
        tap.ok(a and a == b, f'script -F {field} as perf prints it', f'{a[:2]} {b[:2]}')


def compare_script(tap, kin, name, data, folder):
    a, b = script('perf', data, folder), script(kin, data, folder)
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    tap.ok(a and a == b, f'{name}: script', f'frame {at + 1}: perf prints {a[at:at + 1]}, kin {b[at:at + 1]}')


def build(folder):
    source, program = os.path.join(folder, 'live.c'), os.path.join(folder, 'live')
    with open(source, 'w', encoding='ascii') as f:
        f.write(PROGRAM)
    subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-fasynchronous-unwind-tables', '-nostdlib',
                    '-static', '-Wl,--eh-frame-hdr', '-o', program, source], check=True)
    return program


def last_line(text):
    lines = text.decode(errors='replace').split('\n')
    return next((line.strip() for line in reversed(lines) if line.strip()), 'it does not say why')


def record(how, program, data, folder):
    """'', or why perf has no recording with samples that it reads itself: it may not record at all, and next to
    other recorders some versions abort, or write files that they cannot read."""
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C'}
    why = ''
    for attempt in range(3):
        time.sleep(attempt)
        if os.path.exists(data):
            os.unlink(data)
        done = subprocess.run(['perf', 'record', '-q', '-F', '400', *how, '-o', data, program], cwd=folder, env=env,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        if done.returncode or not os.path.exists(data):
            why = f'perf record ends in {done.returncode}: {last_line(done.stderr)}'
            continue
        read = subprocess.run(['perf', 'report', '--stdio', '-g', 'none', '-i', data], cwd=folder, env=env,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        if not read.returncode and re.search(rb'^ +[0-9.]+%', read.stdout, re.M):
            return ''
        why = f'perf report ends in {read.returncode}, without a sample: {last_line(read.stderr)}'
    return why


def has_peer():
    try:
        done = subprocess.run(['perf', '--version'], capture_output=True, check=False)
    except OSError:
        return False
    return done.stdout.startswith(b'perf version 6.1')


def kernel_names(kin, data, folder):
    """Of functions of the kernel, in perf's report and in kin's."""
    return [{line.split('[k] ')[1].strip() for line in report(program, ['-s', 'sym', '-g', 'none'], data, folder)
             if '[k] ' in line} for program in ('perf', kin)]


def kernel_addresses():
    """The names that are once in the kernel's list, with an address of their own: of several names of one address perf and
    kin choose differently."""
    found = {}
    with open('/proc/kallsyms', encoding='ascii', errors='replace') as f:
        for line in f:
            address, _, name = line.split()[:3]
            found[name] = address if name not in found else name
    return found


def test_kernel(tap, kin, folder):
    """A recording that is packed or comes through a pipe does not say the kernel's build id."""
    at = kernel_addresses()
    for name, how in (('packed', '-z -o k.data dd'), ('a pipe', '-o - dd of=/dev/null')):
        command = f'perf record -q -F 2000 -e cpu-clock -g {how} if=/dev/zero bs=1k count=400000'
        data = os.path.join(folder, 'k.data')
        with open(data if name == 'a pipe' else os.devnull, 'wb') as f:
            done = subprocess.run(command.split() + (['of=/dev/null'] if name == 'packed' else []), cwd=folder,
                                  stdout=f, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)
        theirs, ours = kernel_names(kin, data, folder) if done.returncode == 0 else (set(), set())
        named = {n for n in theirs if not n.startswith('0x')}
        if not named:
            tap.skip(f'functions of the kernel, {name}', f'NOT TESTED: perf does not name the kernel here, its record '
                     f'ended in {done.returncode}: {last_line(done.stderr)}')
            continue
        places = {at.get(n, n) for n in ours}
        missing = sorted(n for n in named if at.get(n, n) not in places)
        tap.ok(len(missing) < len(named) * 0.1, f'functions of the kernel, {name}',
               f'not there: {missing[:5]}; instead: {sorted(ours - named)[:5]}')


def test(tap, kin, folder):
    if not has_peer():
        tap.skip('recordings made here', 'NOT TESTED: no perf 6.1')
        return
    program = build(folder)
    for name, how in RECORDINGS.items():
        data = os.path.join(folder, name.replace(' ', '_') + '.live')
        why = record(how, program, data, folder)
        if why:
            tap.skip(name, f'NOT TESTED: {why}')
        else:
            compare(tap, kin, name, data, folder)
            compare_script(tap, kin, name, data, folder)
    test_access(tap, kin, folder)
    test_kernel(tap, kin, folder)

"""kin's output for made-up recordings where perf prints nothing, or where perf is not the reference."""
import os
import random
import re
import struct
import subprocess

import kinds
import made
from kinds import words
from made import BASIC, CHAIN, KERNEL, LIBRARY_AT, PROGRAM_AT, USER

KERNEL_AT = 0xffffffff81000000
IN_KERNEL, IN_USER = (-128) & (2**64 - 1), (-512) & (2**64 - 1)
SWITCH, SWITCH_CPU_WIDE, SWITCH_OUT, PREEMPTED, SWITCHES = 14, 15, 1 << 13, 1 << 14, 1 << 26
MAIN, PARSE, INSERT, COPY = PROGRAM_AT + 0x510, PROGRAM_AT + 0x310, PROGRAM_AT + 0x410, LIBRARY_AT + 0x310


def run(kin, folder, *line, given=None, env=None):
    """Status, output, messages."""
    where = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', **(env or {})}
    how = {'input': given} if given is not None else {'stdin': subprocess.DEVNULL}
    done = subprocess.run([kin, *line], cwd=folder, env=where, capture_output=True, timeout=60, **how)
    return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


def written(r, folder):
    path = os.path.join(folder, 'perf.data')
    r.write(path)
    return path


class OneName(made.Recording):
    """All events are cpu-clock."""

    def attr(self, i):
        attr = super().attr(i)
        return attr[:8] + struct.pack('<Q', 0) + attr[16:]


def test_one_name(tap, kin, folder):
    r = made.machine(folder, BASIC)
    r.__class__, r.events = OneName, 2
    for i in range(8):
        r.sample(100, MAIN, 1000000, event=i % 2)
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-i', data)
    tap.ok(re.findall('# Samples: .*', out) == ["# Samples: 4  of event 'cpu-clock'"] * 2,
           'two events of one name are two', out)
    _, out, _ = run(kin, folder, 'info', data)
    tap.ok(re.search('CPU time sampled +0.004000 s', out) and 'cpu-clock#2' in out,
           'the time of two events of one name is not added up', out)
    _, out, _ = run(kin, folder, 'script', '-i', data)
    tap.ok(out.count(' cpu-clock: ') == 8, 'script calls both as perf does', out)
    status, out, err = run(kin, folder, 'flat', '--event=cpu-clock#2', '-f', 'csv', data)
    tap.ok(not status and 'main' in out, 'the second of a name can be asked for', out + err)
    _, out, _ = run(kin, folder, 'flat', data)
    tap.ok(out.splitlines()[1:2] == ['  times are those of cpu-clock; --event NAME shows the others: cpu-clock#2'],
           'of several events it is said which one is shown', out)
    _, out, _ = run(kin, folder, 'report', data)
    tap.ok('  1 more event below' in out.splitlines()[:4], 'or that the others follow', out)


class Copies(kinds.Full):
    """Copies of the stacks of 32-bit programs, and of threads without any."""

    def registers(self, ip):
        return words(0) if ip == COPY else words(1, *[0] * kinds.N_REGS)

    def sprinkle(self, *_):
        pass


def test_stacks_of_others(tap, kin, folder):
    r = made.machine(folder, BASIC | kinds.REGS_USER | kinds.STACK_USER)
    r.__class__, r.x, r.group, r.same_name = Copies, random.Random(1), False, False
    for ip in (PARSE, PARSE, COPY):
        r.sample(100, ip, 1000000)
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'export', '--to=folded', data)
    tap.ok(sorted(line.split(';', 1)[1].split('`')[-1] for line in out.splitlines()) == ['[cut];parse 2000000', 'copy 1000000'],
           'callers that nobody here can find are cut, and not said to be none', out)
    status, _, err = run(kin, folder, 'info', '--strict', data)
    tap.ok(status == 1 and err.count('callers are not known: copies of stacks of 32-bit programs cannot') == 1 and '100.0 % of the stacks' in err,
           '... which is said once', err)


def test_nowhere(tap, kin, folder):
    r = made.machine(folder, BASIC)
    for ip in (MAIN, 0x7fb04430dad7, 0):
        r.sample(100, ip, 1000000)
    data, again = written(r, folder), os.path.join(folder, 'again.data')
    run(kin, folder, 'export', '--to=perf.data', '-o', again, data)
    before, after = (run(kin, folder, 'flat', '-c', 'self,name', '--format=csv', name)[1] for name in (data, again))
    tap.ok(before == after and '0x00007fb04430dad7' in after and ',0000000000000000' in after, 'an address where nothing is known to be keeps it when it is exported; so does 0, of a call through a null pointer', before + after)


def test_kernel_names(tap, kin, folder):
    names = os.path.join(folder, 'kallsyms')
    with open(names, 'w', encoding='ascii') as f:
        for at, name in ((0, '_text'), (0x100, 'move'), (0x200, 'other'), (0x300, 'move'), (0x100000, '_etext')):
            f.write(f'{KERNEL_AT + at:x} T {name}\n')
    r = made.machine(folder, BASIC)
    r.kernel()
    for at in (0x110, 0x310, 0x310, 0x120):
        r.sample(100, KERNEL_AT + at, 1000, KERNEL)
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-s', 'sym', '-g', 'none', '--kallsyms', names, '-i', data)
    tap.ok(out.count('50.00%  [k] move') == 2, 'functions of the kernel of one name are rows of their own', out)
    _, out, _ = run(kin, folder, 'script', '-F', 'ip,sym,symoff', '--kallsyms', names, '-i', data)
    tap.ok(out.count('move+0x10') == 3 and out.count('move+0x20') == 1, 'how far into them is said of each', out)


def test_kernel_unknown(tap, kin, folder):
    """Code far behind the last symbol of a list, such as modules behind System.map, has no name."""
    names = os.path.join(folder, 'System.map')
    with open(names, 'w', encoding='ascii') as f:
        for at, name in ((0, '_text'), (0x100, 'work'), (0x200, 'last')):
            f.write(f'{KERNEL_AT + at:x} T {name}\n')
    r = made.machine(folder, BASIC)
    r.kernel()
    for at in (0x110, 0x210, 0x700000, 0x800000):
        r.sample(100, KERNEL_AT + at, 1000, KERNEL)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-s', 'sym', '-g', 'none', '--kallsyms', names, '-i', written(r, folder))
    shown = sorted(line.split()[-1] for line in out.splitlines() if '[k]' in line)
    tap.ok(shown == [f'0x{KERNEL_AT + 0x700000:x}', f'0x{KERNEL_AT + 0x800000:x}', 'last', 'work'],
           'code far behind the last symbol of the kernel has no name', out)


def test_kernel_aliases(tap, kin, folder):
    """A system call is called as the kernel's documentation does."""
    names = os.path.join(folder, 'kallsyms')
    aliases = [('__do_sys_getppid', '__ia32_sys_getppid', '__x64_sys_getppid'), ('__pi_memcpy', 'memcpy'), ('first', 'second')]
    with open(names, 'w', encoding='ascii') as f:
        f.write(f'{KERNEL_AT:x} T _text\n')
        for i, group in enumerate(aliases):
            for name in group:
                f.write(f'{KERNEL_AT + 0x100 * (i + 1):x} T {name}\n')
        f.write(f'{KERNEL_AT + 0x100000:x} T _etext\n')
    r = made.machine(folder, BASIC)
    r.kernel()
    for i in range(3):
        r.sample(100, KERNEL_AT + 0x100 * (i + 1) + 4, 1000, KERNEL)
    _, out, _ = run(kin, folder, 'report', '-s', 'sym', '-f', 'csv', '-g', 'none', '--kallsyms', names, '-i', written(r, folder))
    shown = sorted(line.split(',')[1] for line in out.splitlines()[1:])
    tap.ok(shown == ['__x64_sys_getppid', 'first', 'memcpy'], 'of names of one address in the kernel the usual one is shown', out)


def test_aliases(tap, kin, folder):
    """A function has the name that people call, and is found by all it has."""
    r = made.machine(folder, BASIC | CHAIN)
    path = os.path.join(folder, 'libfiles.so')
    names = [('__libc_pwrite', 'pwrite64', '__pwrite', 'pwrite'), ('pread', 'pread64', '__libc_pread'),
             ('_ZN4file4stepIiEEvv', '_ZN4file6walkedEi')]
    made.write_elf(path, [(name, 0x300 + 0x100 * i, 0x40) for i, group in enumerate(names) for name in group])
    start = 0x20000000
    r.mmap(100, start, 0x2000, path)
    for i in range(len(names)):
        r.sample(100, start + 0x310 + 0x100 * i, chain=[start + 0x310 + 0x100 * i, MAIN])
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'report', '-s', 'sym', '-f', 'csv', '-g', 'none', '--no-children', data)
    tap.ok(all(f',{name},' in out for name in ('pwrite', 'pread', 'void file::step<int>()')),
           'of names of one address the plain one is shown', out)
    for shown, *others in (('pwrite', 'pwrite64', '__pwrite', '__libc_pwrite'), ('pread', '__libc_pread'),
                           ('void file::step<int>()', 'file::walked', 'walked', 'file::step', 'walked(int)')):
        for name in (shown, *others):
            for command in (('report',), ('graph',), ('lines', '--by=object')):
                status, out, err = run(kin, folder, *command, data, name)
                tap.ok(not status and not err, f'{command[0]} finds {shown} by the name {name}', out + err)
            _, out, _ = run(kin, folder, 'report', '-S', name, '-s', 'sym', '--no-children', '--full-names', data)
            tap.ok(f'33.33%  {shown}\n' in out and out.count('%') == 1, f'-S {name} has the samples of {shown}', out)
    for name in ('pwrite', '__libc_pwrite', 'file::step<int>'):
        _, out, _ = run(kin, folder, 'report', '--stdio', '-S', name, '-s', 'sym', '-g', 'none', '-i', data)
        tap.ok(out.count('33.33%    33.33%') == 1, f"perf's -S {name} has its samples", out)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-S', 'step', '-s', 'sym', '-g', 'none', '-i', data)
    tap.ok('%' not in out, "perf's -S takes names with their scope", out)
    status, _, err = run(kin, folder, 'report', data, '__libc_nothing')
    tap.ok(status and 'no function' in err, 'what no function is called is not found', err)


def test_switches(tap, kin, folder):
    r = made.machine(folder, BASIC)
    r.flags = SWITCHES
    for pid in (100, 200):
        r.sample(pid, MAIN, 1000000)
        for misc in (SWITCH_OUT, 0, SWITCH_OUT | PREEMPTED, 0):
            r.record(SWITCH, misc, r.trailer(pid))
            r.time += 1000000
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-i', data)
    tap.ok(re.findall('# Samples: .*', out) == ["# Samples: 2  of event 'cpu-clock'"],
           "perf's layout has no events that were not recorded", out)
    _, out, _ = run(kin, folder, 'report', '-i', data)
    tap.ok('of blocked (place estimated)' in out and 'of waiting (place estimated)' in out,
           'places of time off the CPU are said to be estimated', out)
    _, out, _ = run(kin, folder, 'script', '-i', data)
    tap.ok(len(out.splitlines()) == 2, 'script prints samples that were taken', out)
    status, out, err = run(kin, folder, 'script', '--event', 'blocked', '-F', 'event,time', '-i', data)
    tap.ok(not status and out.count('blocked (place estimated)') == 2, 'and the others if they are asked for', out + err)


def test_switches_of_cpus(tap, kin, folder):
    """The place of time off the CPU does not depend on which samples a report needs one by one."""
    r = made.machine(folder, BASIC | CHAIN)
    r.flags = SWITCHES
    for at in (MAIN, PARSE, INSERT) * 20:
        r.sample(100, at, 1000000, chain=[at, MAIN + 1])
        for misc in (SWITCH_OUT, 0):
            r.record(SWITCH_CPU_WIDE, misc, struct.pack('<II', 0, 0) + r.trailer(100))
            r.time += 1000000
    data = written(r, folder)
    for command in (('flat',), ('graph',), ('report', '-s', 'sym', '-g', 'none'), ('report', '-s', 'sym', '-g', 'none', '--no-children')):
        line = (*command, '--event', 'blocked', '--format', 'csv')
        (_, out, _), (_, one_by_one, _) = run(kin, folder, *line, data), run(kin, folder, *line, '--time', '0%-100%', data)
        tap.ok(out == one_by_one and out.count('0.333333') >= 2, f'{" ".join(command)}: where threads were when a CPU left them', out + one_by_one)


def test_exec(tap, kin, folder):
    """While the kernel starts a program its caller is in the old one."""
    r = made.machine(folder, BASIC | CHAIN)
    new = os.path.join(folder, 'new')
    made.write_elf(new, [('begin', 0x300, 0x40)])
    r.kernel()

    def starting():
        r.sample(100, KERNEL_AT + 0x10, 1000, KERNEL, stack=[IN_KERNEL, KERNEL_AT + 0x10, IN_USER, COPY])

    starting()
    r.comm(100, 'new')
    starting()
    r.mmap(100, 0x10000000, 0x2000, new)
    starting()
    r.sample(100, 0x10000310, 1000, stack=[IN_USER, 0x10000310])
    starting()
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'script', '-F', 'ip,sym', '-i', data)
    callers = re.findall(r' (copy|begin|\[unknown\])\n\n', out)
    tap.ok(callers == ['copy', 'copy', 'copy', 'begin', '[unknown]'], 'the caller of exec is known until the new program runs',
           f'{callers}\n{out}')


def options_of(command):
    """The options in perf's help."""
    done = subprocess.run(['perf', command, '-h'], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    text = (done.stdout + done.stderr).decode(errors='replace')
    for letter, name in re.findall(r'^    (?:-(.), )? *--([a-z][-A-Za-z0-9]*)', text, re.M):
        yield from ([f'-{letter}'] if letter else []) + [f'--{name}']


def test_options(tap, kin, folder):
    for command in ('report', 'script', 'annotate', 'diff'):
        try:
            options = list(options_of(command))
        except OSError:
            options = []
        if not options:
            tap.skip(f'options of perf {command}', 'NOT TESTED: no perf')
            continue
        unknown = [o for o in options if 'unknown option' in run(kin, folder, command, o)[2]]
        tap.ok(not unknown, f'options of perf {command} are there, or it is said what to do instead', ' '.join(unknown))


def test_pipe(tap, kin, folder):
    other, r = made.machine(folder, BASIC), made.machine(folder, BASIC)
    other.sample(100, PARSE)
    r.sample(100, MAIN)
    data = written(r, folder)
    with open(data, 'rb') as f:
        piped = f.read()
    written(other, folder)
    for line in (['report', '--stdio'], ['script']):
        _, out, err = run(kin, folder, *line, given=piped)
        tap.ok('main' in out and 'parse' not in out, f'kin {" ".join(line)} reads a pipe on standard input', out + err)
        _, out, err = run(kin, folder, *line, given=b'')
        tap.ok('parse' in out, f'kin {" ".join(line)} takes the recording here if the pipe is empty', out + err)


def test_damage(tap, kin, folder):
    r = made.machine(folder, BASIC)
    for i in range(4):
        r.sample(100, MAIN + i)
    data = written(r, folder)
    with open(data, 'rb') as f:
        whole = bytearray(f.read())

    def damaged(content, words, what):
        path = os.path.join(folder, 'damaged.data')
        with open(path, 'wb') as f:
            f.write(content)
        status, _, err = run(kin, folder, 'info', '--strict', path)
        tap.ok(status == 1 and words in err, what, f'status {status}: {err}')

    damaged(whole[:48] + bytes(8) + whole[56:], 'the recorder was killed', 'a recording without its size was not finished')
    for less in (1, 8, 100):
        damaged(whole[:-less], 'cut off in the description', f'{less} bytes of the description are missing')
    kind = whole.index(struct.pack('<Q', BASIC))
    damaged(whole[:kind] + struct.pack('<Q', BASIC & ~made.PERIOD) + whole[kind + 8:], 'longer than the fields',
            'samples are longer than their event says')
    status, _, err = run(kin, folder, 'info', data)
    tap.ok(not status and 'damaged' not in err, 'a whole recording is no damaged one', err)


def test_folder(tap, kin, folder):
    """A folder as perf record --threads writes it."""
    r = made.machine(folder, BASIC)
    r.features[24] = struct.pack('<Q', 1)
    inside = os.path.join(folder, 'perf.data')
    os.mkdir(inside)
    r.write(os.path.join(inside, 'data'))
    before = len(r.data)
    for i in range(3):
        r.sample(100, MAIN + i)
    with open(os.path.join(inside, 'data.0'), 'wb') as f:
        f.write(r.data[before:])
    _, out, err = run(kin, folder, 'report', '--stdio', '-i', 'perf.data')
    tap.ok("# Samples: 3  of event 'cpu-clock'" in out, 'a folder of perf record --threads is read', out + err)
    _, out, err = run(kin, folder, 'report', '--stdio')
    tap.ok("# Samples: 3  of event 'cpu-clock'" in out, 'and found', out + err)
    _, out, err = run(kin, folder, 'report', '--header-only', 'perf.data')
    tap.ok('# directory data version : 1' in out, 'and its header', out + err)


def test_header(tap, kin, folder):
    r = made.machine(folder, BASIC)
    r.features[23] = struct.pack('<Q', 1)
    r.features[29] = struct.pack('<IIQQ', 1, 1, 1795398485219285000, 3113891434945)
    r.sample(100, MAIN)
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'report', '--header-only', data, env={'TZ': 'UTC'})
    tap.ok('# clockid frequency: 1000 MHz\n' in out and '# clockid: monotonic (1)\n' in out and
           '# reference time: 2026-11-23 01:48:05.219285 = 1795398485.219285 (TOD) = 3113.891434945 (monotonic)\n' in out,
           'the clock of a recording is described', out)
    _, alone, _ = run(kin, folder, 'script', '--header-only', data, env={'TZ': 'UTC'})
    _, first, _ = run(kin, folder, 'script', '--header', data, env={'TZ': 'UTC'})
    tap.ok(alone == out and first.startswith(out) and 'main' in first, 'script has the header, too', first)
    _, out, _ = run(kin, folder, 'report', '--stdio', '-q', '--header', data)
    tap.ok('#' not in out and 'main' in out, '-q --header is quiet', out)


def test_script(tap, kin, folder):
    r = made.machine(folder, BASIC | CHAIN)
    r.sample(100, COPY, chain=[COPY, INSERT, PARSE, MAIN])
    r.sample(100, PARSE, chain=[PARSE, MAIN])
    data = written(r, folder)
    _, out, _ = run(kin, folder, 'script', '-F', 'comm,ip,sym', '--max-stack', '0', data)
    tap.ok(out == 'first \n\nfirst \n\n', '--max-stack 0 prints no frames', out)
    _, out, _ = run(kin, folder, 'script', '-F', 'sym', '--stop-bt', 'insert,parse', data)
    tap.ok(re.findall(r'\w+', out) == ['copy', 'insert', 'parse'], '--stop-bt ends stacks', out)
    _, out, _ = run(kin, folder, 'script', '-F', 'sym', '--dsos', 'libone.so', data)
    tap.ok(re.findall(r'\w+', out) == ['copy', 'insert', 'parse', 'main'], '--dsos has the samples of a library', out)
    _, out, _ = run(kin, folder, 'report', '--stdio', '--max-stack', '0', '-s', 'sym', '-i', data)
    rows = [line.split() for line in out.splitlines() if line and line[0] != '#']
    tap.ok(rows == [['50.00%', '50.00%', '[.]', 'copy'], ['50.00%', '50.00%', '[.]', 'parse']],
           'report --max-stack 0 has no callers', out)


def test_no_time(tap, kin, folder):
    r = made.machine(folder, BASIC)
    r.sample(100, MAIN)
    data = written(r, folder)
    with open(data, 'rb') as f:
        whole = f.read()
    body = struct.pack('<QQIIIIQ', 7, MAIN, 100, 100, 0, 0, 1000)
    sample = struct.pack('<IHH', 9, USER, 8 + len(body)) + body
    start, size = struct.unpack_from('<QQ', whole, 40)
    kind = whole.index(struct.pack('<Q', BASIC))
    content = bytearray(whole[:start] + sample) # this sample alone: the other records had times
    struct.pack_into('<Q', content, kind, BASIC & ~made.TIME)
    struct.pack_into('<Q', content, 48, len(sample))
    content[72:104] = bytes(32)
    with open(data, 'wb') as f:
        f.write(content)
    _, out, _ = run(kin, folder, 'script', '-F', 'comm,tid,time,event', data)
    tap.ok(re.fullmatch(r' *:100 +100 cpu-clock: \n', out), 'samples without a time are printed without one', out)


TESTS = [test_folder, test_header, test_script, test_no_time, test_damage, test_options, test_pipe, test_one_name, test_stacks_of_others, test_nowhere,
         test_kernel_names, test_kernel_unknown, test_kernel_aliases, test_aliases, test_switches,
         test_switches_of_cpus, test_exec]


def test(tap, kin, folder):
    for i, one in enumerate(TESTS):
        where = os.path.join(folder, str(i))
        os.mkdir(where)
        one(tap, kin, where)

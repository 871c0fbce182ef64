"""kin script -F: registers, branches, accesses, instructions, times of day, and fields of events of one type, next to
perf script of the same recordings: made up for hardware that is not available here, and recorded here."""
import json
import os
import random
import re
import subprocess

import kinds
import live
import made
from made import ADDR, BASIC, BRANCHES, CHAIN, CODE_PAGE, DATA_PAGE, DATA_SRC, PHYS, PROGRAM_AT, WEIGHTS

SAMPLES = 16  # all in one function
STATE = kinds.REGS_USER | kinds.REGS_INTR
ACCESS = ADDR | DATA_SRC | PHYS | WEIGHTS | DATA_PAGE | CODE_PAGE


class Accesses(kinds.Full):
    """One sample for each way to access memory."""

    def accesses(self, pid, ip):
        names = [0, *[1 << i for i in range(43)], *[i << 33 for i in range(16)], *[1 << 37 | i << 33 for i in range(16)],
                 *[i << 43 for i in range(5)], *[2 << 5 | 1 << i for i in range(7, 19)], *[5 << 5 | 1 << i for i in range(7, 19)]]
        for data_src in names:
            self.time += 1000
            self.record(9, made.USER, kinds.words(7, ip) + kinds.struct.pack('<II', pid, pid) + kinds.words(self.time) +
                        kinds.struct.pack('<II', 0, 0) + kinds.words(1000, data_src))


class Jumps(kinds.Full):
    """Samples with these branches, the last one first: (from, to, flags)."""

    def branches(self, ip):
        return kinds.words(len(self.list)) + b''.join(kinds.words(*branch) for branch in self.list)


def jumps_of(program):
    """(from, to) of all jumps and calls in its code that say where they go."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], capture_output=True, text=True, check=True).stdout
    return [tuple(int(v, 16) for v in found)
            for found in re.findall(r'^ *([0-9a-f]+):\s+(?:bnd )?(?:j\w+|call) +([0-9a-f]+) <', text, re.M)]


def test_code(tap, kin, folder):
    """The code between branches: some that follow one another, and some that cannot."""
    program, x = live.build(folder), random.Random(5)
    jumps = jumps_of(program)
    start = min(at for pair in jumps for at in pair) & ~0xfff
    r = Jumps(BRANCHES | BASIC, x, layout='none')
    r.comm(100, 'first')
    r.mmap(100, start, 0x2000, program, start & 0xffff)
    for _ in range(40):
        at, r.list = start, []
        for _ in range(x.randrange(6)):
            source, target = x.choice([j for j in jumps if 0 <= j[0] - at < 40] or jumps)
            r.list.insert(0, (source, target, x.choice((0, 1, 2, 2 | 4, 2 | 8)) | x.randrange(4) << 4))
            at = target
        r.sample(100, at + x.choice((0, 0, 1, 5, 9, -3)))
    data = os.path.join(folder, 'code.made')
    r.write(data)
    for fields in ('ip,sym,brstackinsn', 'comm,ip,sym,brstackinsnlen'):
        compare(tap, kin, 'code', data, fields, folder)


def write(folder, name, kind, stacks=False):
    """A recording of samples with these fields."""
    path = os.path.join(folder, name)
    os.makedirs(path)
    program = os.path.join(path, 'prog')
    made.write_elf(program, made.FUNCTIONS, made.OBJECTS)
    r = Accesses(kind | BASIC | (CHAIN if stacks else 0), random.Random(len(name)), layout='none')
    r.comm(100, 'first')
    r.mmap(100, PROGRAM_AT, 0x2000, program)
    if kind == DATA_SRC:
        r.accesses(100, PROGRAM_AT + 0x300)
    for i in range(0 if kind == DATA_SRC else SAMPLES):
        ip = PROGRAM_AT + 0x300 + 8 * i
        r.sample(100, ip, stack=[ip, PROGRAM_AT + 0x400])
    data = os.path.join(path, 'perf.data')
    r.write(data)
    return data


def script(program, data, options, folder):
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'TZ': 'Asia/Kolkata', 'PAGER': 'cat'}
    done = subprocess.run([program, 'script', '--no-inline', '-i', data, *options], cwd=folder, env=env,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


def same_text(text):
    """Without addresses of frames: perf's are offsets in the file."""
    return [re.sub(r'^\t *[0-9a-f]+', '', line.rstrip()) for line in text.splitlines()]


def compare(tap, kin, name, data, fields, folder):
    options = [word for f in fields.split(' ') for word in ('-F', f)]
    a, b = (same_text(script(program, data, options, folder)[1]) for program in ('perf', kin))
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    tap.ok(a and a == b, f'script -F {fields} as perf prints it: {name}',
           f'line {at + 1}: perf prints {a[at:at + 1]}, kin {b[at:at + 1]}')


MADE = { # name: fields of samples, with stacks, and lists of fields
    'branches': (BRANCHES, False, ('comm,brstack', 'time,brstack', 'brstacksym', 'comm,brstackinsn')),
    'branches and stacks': (BRANCHES, True, ('comm,ip,sym,brstack', 'ip,sym,dso,brstack', 'ip,sym,symoff,dso,brstacksym')),
    'registers': (STATE, False, ('comm,iregs', 'uregs,time', 'iregs,uregs')),
    'registers and stacks': (STATE, True, ('comm,ip,sym,iregs,uregs',)),
    'all': (STATE | BRANCHES | ACCESS, True,
            ('addr,weight,ins_lat,ip,sym,uregs,brstack,phys_addr,data_page_size,code_page_size', 'addr,sym,ip', 'phys_addr')),
    'accesses': (DATA_SRC, False, ('data_src', 'comm,tid,data_src')),
}
LIVE = { # name: options of perf record, and lists of fields
    'registers': ('-e cpu-clock --intr-regs --user-regs=ip,sp,ax', ('iregs', 'comm,uregs', 'comm,time,insn,insnlen')),
    'registers and stacks': ('-e cpu-clock --intr-regs -g', ('comm,ip,iregs', 'ip,sym,insn', '-comm,-time,+insnlen')),
    'accesses': ('-e page-faults -d -W --phys-data --data-page-size --code-page-size',
                 ('comm,addr,data_src,weight,phys_addr', 'data_page_size,code_page_size')),
    'sources': ('-e cpu-clock', ('ip,sym,srccode', 'comm,tid,ip,sym,srccode', 'comm,ip,insn,srccode')),
    'sources and stacks': ('-e cpu-clock -g', ('ip,sym,srccode', 'comm,ip,sym,synth,callindent,ipc,metric')),
    'time of day': ('-e cpu-clock -k mono', ('comm,tod', 'tod,time,event')),
    'two types': ('-e cpu-clock -g', ('sw:comm,time,ip,sym', 'hw:comm', 'sw:comm,ip trace:ip', 'trace:comm sw:+insn',
                                      'comm,ip sw:-comm,+tid')),
}


def test_made(tap, kin, folder):
    for name, (kind, stacks, lists) in MADE.items():
        data = write(folder, name.replace(' ', '_') + '.made', kind, stacks)
        for fields in lists:
            compare(tap, kin, name, data, fields, folder)


def test_live(tap, kin, folder):
    program = live.build(folder)
    for name, (how, lists) in LIVE.items():
        data = os.path.join(folder, name.replace(' ', '_') + '.live')
        why = live.record(how.split(), program, data, folder)
        if why:
            tap.skip(f'fields of {name}', f'NOT TESTED: {why}')
            continue
        for fields in lists:
            compare(tap, kin, name, data, fields, folder)


def test_no_frames(tap, kin, folder):
    """Of a dump that is not walked the leaf is known; its address, at the time of the run, is perf's alone."""
    data = os.path.join(folder, 'dumps.live')
    why = live.record(['-e', 'cpu-clock:u', '--call-graph', 'dwarf'], live.build(folder), data, folder)
    if why:
        tap.skip('--max-stack 0 of dumps', f'NOT TESTED: {why}')
        return
    a, b = ([re.sub(r' +[0-9a-f]+ (\S+)$', r' \1', line)
             for line in script(program, data, ['-F', 'comm,ip,sym', '--max-stack', '0'], folder)[1].splitlines()]
            for program in ('perf', kin))
    different = [pair for pair in zip(a, b) if pair[0] != pair[1]]
    tap.ok(a and len(a) == len(b) and not different, '--max-stack 0 of dumps as perf prints it', different[:3])


def test_json(tap, kin, folder):
    data = write(folder, 'json', STATE | BRANCHES | ACCESS, True)
    _, out, err = script(kin, data, ['-f', 'json', '-F', '+iregs,uregs,brstacksym,data_src,code_page_size,insnlen'], folder)
    samples = json.loads(out)['samples'] if out else []
    with_registers = [s for s in samples if 'iregs' in s]
    branches = [b for s in samples for b in s['brstack']]
    tap.ok(len(samples) == SAMPLES and with_registers and branches, 'json: registers and branches', err)
    tap.ok(all(s['iregs']['abi'] == 2 and s['iregs']['IP'] == hex(PROGRAM_AT + 0x300 + 8 * samples.index(s))
               for s in with_registers), 'json: registers by name', with_registers[:1])
    tap.ok(all(b.get('from_sym') in ('parse', 'lookup') and b['cycles'] == 17 and b['mispredicted'] is False
               for b in branches), 'json: ends of branches',
           [b for b in branches if b.get('from_sym') not in ('parse', 'lookup') or b['cycles'] != 17][:2])


def test_refused(tap, kin, folder):
    """For fields that the recording lacks, a message says how to record them, or that kin does not have them."""
    data = write(folder, 'plain', 0)
    for fields, said in (('iregs', 'kin record --intr-regs'), ('sw:comm,uregs', 'perf record --user-regs'),
                         ('+brstack', 'kin record -b'), ('brstackinsn', 'kin record -b'), ('data_src', 'kin record -d'), ('tod', 'perf record -k monotonic'),
                         ('code_page_size', 'kin record --code-page-size'), ('bpf-output', 'perf script'),
                         ('xw:comm', '(hw, sw, trace'), ('hw:nosuch', "unknown field 'nosuch'")):
        status, out, err = script(kin, data, ['-F', fields], folder)
        tap.ok(status and not out and said in err and err.count('\n') == 1, f'-F {fields} is answered with a remedy', f'{status} {err}')
    status, out, err = script(kin, data, ['-F', '+srccode'], folder)
    tap.ok(not status and out and '|' not in out, '-F srccode shows nothing where there is no source', f'{status} {out[:80]} {err}')
    status, out, err = script(kin, data, ['-F', 'sw:'], folder)
    tap.ok(not status and not out, '-F sw: leaves these events out', f'{status} {out} {err}')
    status, out, err = script(kin, data, ['-F', 'insnlen,comm'], folder)
    tap.ok(not status and len(re.findall(r'^ +first +ilen: \d+$', out, re.M)) == SAMPLES, '-F insnlen', f'{out[:80]} {err}')


def test(tap, kin, folder):
    test_json(tap, kin, folder)
    test_refused(tap, kin, folder)
    if not live.has_peer():
        tap.skip('fields next to perf', 'NOT TESTED: no perf 6.1')
        return
    test_made(tap, kin, folder)
    test_code(tap, kin, folder)
    test_live(tap, kin, folder)
    test_no_frames(tap, kin, folder)

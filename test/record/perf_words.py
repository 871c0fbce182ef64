"""kin record with the words of perf record: attaching, events, filters, delays, options.

    perf_words.py BUILD         alone; record.py runs it with the rest
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from chance import best
from waiting import wait_until


def script(box, path, *more):
    """The samples of a recording."""
    text = box.run(box.kin, 'script', '-f', 'json', *more, path).out
    return json.loads(text)['samples'] if text.strip() else []


def test_attach_with_command(tap, box):
    """-p with a command: the process is recorded, for as long as the command runs."""
    p = box.popen('./fast', 'spin', '600000')
    try:
        for words in (['-p', str(p.pid)], ['-gp', str(p.pid)], ['-t', str(p.pid)]):
            r = box.record('-o', 'attach.kin', *words, '--', 'sh', '-c', 'sleep 0.5; exit 3')
            samples = script(box, 'attach.kin')
            tap.ok(r.returncode == 3 and samples and {s['comm'] for s in samples} == {'fast'},
                   f'{words[0]} with a command: the process, as long as the command runs',
                   f'{r.returncode} {r.err} {samples[:2]}')
        tap.ok(p.poll() is None, 'what was attached to goes on')
    finally:
        p.kill()
        p.communicate()


def test_user(tap, box):
    p = box.popen('./fast', 'spin', '600000', user=65534)
    try:
        r = box.record('-o', 'user.kin', '-u', '65534', '--', 'sleep', '0.5')
        samples = script(box, 'user.kin')
        mine = [s for s in samples if s['comm'] == 'fast']
        tap.ok(r.returncode == 0 and mine, '-u: the processes of a user', r.err)
    finally:
        p.kill()
        p.communicate()


def test_fallback(tap, box):
    """Machines without counters have a clock in their place, and say so."""
    for words in (['-c', '1000000'], ['-e', 'cycles'], ['-e', 'cycles:u']):
        r = box.record('-o', 'cycles.kin', *words, './fast', 'spin', '100')
        info = box.run(box.kin, 'info', 'cycles.kin').out
        samples = script(box, 'cycles.kin')
        clock = 'task-clock' in info
        tap.ok(r.returncode == 0 and samples and ('does not count cycles' in r.err) == clock and
               (re.search(r'not counted +cycles', info) is not None) == clock,
               f'{" ".join(words)}: recorded, and said by what', r.err + info)
        if clock and words[0] == '-c':
            tap.ok({s['period'] for s in samples} == {1000000}, '-c: exactly that period', samples[:3])


def test_periods(tap, box):
    """No program stays in step: periods differ from run to run, and samples are weighted by their period."""
    seen = set()
    for i in range(4):
        r = box.record('-e', 'task-clock', '-o', 'period.kin', './fast', 'spin', '60')
        seen |= {s['period'] for s in script(box, 'period.kin')}
    nominal = 1e9 / 999
    tap.ok(len(seen) >= 3, 'periods of a clock differ', seen)
    tap.ok(seen and all(0.0099 < abs(p / nominal - 1) < 0.0801 for p in seen), '... by 1 to 8 %', seen)
    box.record('-e', 'task-clock', '-c', '700000', '-o', 'period.kin', './fast', 'spin', '60')
    seen = {s['period'] for s in script(box, 'period.kin')}
    tap.ok(seen == {700000}, '-c keeps to its period', seen)


def test_each_and_every(tap, box):
    """Page faults: of a fixed number one is sampled; of all that come at once hardly one is lost."""
    n = 20000

    def recorded(*words):
        r = box.record('-q', '-e', 'page-faults', *words, '-o', 'faults.kin', './fast', 'touch', str(n))
        samples = [s for s in script(box, 'faults.kin') if any(f['sym'] == 'touch_pages' for f in s['frames'])]
        return r, samples

    r, samples = recorded('-c', '100')
    tap.ok(r.returncode == 0 and {s['period'] for s in samples} == {100} and 0.9 * n < 100 * len(samples) < 1.1 * n,
           'page-faults -c 100: one sample for a hundred', f'{r.err} {len(samples)} {samples[:1]}')

    def all_of_them():
        r, samples = recorded('-c', '1')
        return r.returncode == 0 and {s['period'] for s in samples} == {1} and len(samples) > 0.6 * n, f'{r.err} {len(samples)}'
    passed, said = best(all_of_them, 10)
    tap.ok(passed, 'page-faults -c 1: each of a flood', said)


def test_events(tap, box):
    r = box.record('-o', 'group.kin', '-e', '{task-clock,page-faults},cpu-clock/period=500000,name=mine/u', './prog',
                   'foobar', '100')
    events = {s['event'] for s in script(box, 'group.kin')}
    mine = {s['period'] for s in script(box, 'group.kin') if s['event'] == 'mine'}
    tap.ok(r.returncode == 0 and {'task-clock', 'page-faults', 'mine'} <= events and mine == {500000},
           'groups and terms of events', f'{r.err} {events} {mine}')
    r = box.record('-o', 'pmu.kin', '-e', 'software/task-clock,period=1000000/', './fast', 'spin', '50')
    tap.ok(r.returncode == 0 and {s['period'] for s in script(box, 'pmu.kin')} == {1000000}, 'unit/event,period=N/', r.err)
    r = box.record('-o', 'bare.kin', '-e', 'task-clock/call-graph=no/', './prog', 'foobar', '100')
    samples = script(box, 'bare.kin')
    tap.ok(samples and all(len(s['frames']) <= 1 or s['frames'][-1]['sym'] != 'main' for s in samples) and
           max(len({f['ip'] for f in s['frames'] if 'kernel' not in f['dso']}) for s in samples) <= 1,  # of inlined ones, too
           'call-graph=no: no callers', f'{r.err} {max(samples, key=lambda s: len(s["frames"]), default=None)}')
    r = box.record('-o', 'dummy.kin', '-e', 'dummy', './fast', 'exit', '4')
    tap.ok(r.returncode == 4, 'dummy is an event', r.err)
    r = box.record('--all-user', '-o', 'user.kin', '-e', 'task-clock', './fast', 'spin', '50')
    samples = script(box, 'user.kin')
    tap.ok(samples and not any('kernel' in s['frames'][0]['dso'] for s in samples), '--all-user: user mode alone', r.err)


def test_same_name(tap, box):
    """Two events of one name stay two events: nothing is counted twice."""
    def apart():
        r = box.record('-e', 'cpu-clock', '-e', '{cpu-clock,task-clock}', '-o', 'two.kin', './fast', 'spin', '200')
        seen = collections.Counter(s['event'] for s in script(box, 'two.kin'))
        alike = max(seen.values(), default=0) < 1.2 * min(seen.values(), default=0)
        return sorted(seen) == ['cpu-clock', 'cpu-clock#2', 'task-clock'] and alike, f'{r.err} {seen}'
    passed, said = best(apart)
    info = box.run(box.kin, 'info', '--strict', 'two.kin')
    tap.ok(passed, 'events of one name are told apart', said)
    tap.ok('samples stand for' not in info.err and info.returncode == 0, '... and CPU time is not doubled', info.err + info.out)


def test_leader_sampling(tap, box):
    """{a,b}:S: b is read when a is sampled, and charged to a's place; every count of b is in one sample."""
    r = box.record('-e', '{task-clock,page-faults}:S', '-F', '2000', '-o', 'read.kin', 'sh', '-c',
                   './fast spin 100; ./fast spin 100; true')
    if r.returncode and 'this kernel reads groups' in r.err:
        tap.skip('{...}:S with what the command starts', 'an older kernel')
        r = box.record('-i', '-e', '{task-clock,page-faults}:S', '-F', '2000', '-o', 'read.kin', './fast', 'spin', '100')
    samples = script(box, 'read.kin')
    clock = {(s['tid'], s['time']): s['frames'] for s in samples if s['event'] == 'task-clock'}
    faults = [s for s in samples if s['event'] == 'page-faults']
    tap.ok(r.returncode == 0 and len(clock) > 50 and faults and
           all(clock.get((s['tid'], s['time'])) == s['frames'] for s in faults),
           '{a,b}:S: where a is sampled', f'{r.err} {len(clock)} {faults[:2]}')
    tap.ok(0 < len(faults) < len(clock) and sum(s['period'] for s in faults) < 20000,
           '... what b has counted since, and none of nothing', [s['period'] for s in faults])
    info = box.run(box.kin, 'info', 'read.kin').out
    tap.ok('task-clock' in info and 'page-faults' in info, '... two events', info)
    r = box.record('-a', '-e', '{cpu-clock,context-switches}:S', '-o', 'all.kin', '--', './fast', 'spin', '100')
    events = {s['event'].split(':')[0] for s in script(box, 'all.kin')}
    tap.ok('-a' in r.err or 'sudo' in r.err or 'cpu-clock' in events, '... of the machine', f'{r.err} {events}')


# Prints how many of its 25 accesses to a variable the kernel counts.
COUNTED = '''
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int cell;
int main(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_BREAKPOINT, .size = sizeof(a), .bp_type = HW_BREAKPOINT_W,
				     .bp_addr = (uintptr_t)&cell, .bp_len = 4, .exclude_kernel = 1, .exclude_hv = 1 };
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	uint64_t n = 0;
	for (int i = 0; i < 25; i++)
		cell = i;
	return fd < 0 || read(fd, &n, sizeof(n)) < 0 || printf("%d\\n", (int)n) < 0;
}
'''


def test_breakpoint(tap, box):
    """Of a variable of a program at a fixed address: each of its accesses."""
    source = ('volatile int cell; int main(void) { for (int i = 0; i < 25; i++) cell = i; return 6; }\n')
    open(os.path.join(box.folder, 'cell.c'), 'w').write(source)
    box.run('gcc', '-O1', '-g', '-no-pie', '-fno-pie', '-o', 'cell', 'cell.c')
    address = re.search(r'^([0-9a-f]+) \w cell$', box.run('nm', 'cell').out, re.M)[1]
    r = box.record('-o', 'cell.kin', '-e', f'mem:0x{address}/4:w', './cell')
    samples = script(box, 'cell.kin')
    if 'Permission' in r.err or 'cannot count' in r.err:
        tap.skip('breakpoints', r.err)
        return
    open(os.path.join(box.folder, 'counted.c'), 'w').write(COUNTED)
    box.run('gcc', '-O1', '-o', 'counted', 'counted.c')
    counted = box.run('./counted').out.strip()
    if counted != '25':
        tap.skip('breakpoints', f'NOT TESTED: this machine counts {counted or "none"} of 25 accesses')
        return
    mine = [s for s in samples if s['frames'][0]['sym'] == 'main']  # the kernel cleared it first
    tap.ok(r.returncode == 6 and len(mine) == 25, 'mem:ADDRESS:w: each access is a sample',
           f'{r.returncode} {r.err} {len(mine)} of {len(samples)}')


def mount_tracefs():
    if not os.path.exists('/sys/kernel/tracing/events') and os.geteuid() == 0:
        subprocess.run(['mount', '-t', 'tracefs', 'nodev', '/sys/kernel/tracing'], stderr=subprocess.DEVNULL)
    return os.access('/sys/kernel/tracing/events/sched', os.R_OK)


def test_trace_points(tap, box):
    """Their fields, as the kernel describes them and perf prints them."""
    if not mount_tracefs():
        tap.skip('trace points', 'no tracefs')
        return
    r = box.record('-q', '-o', 'exec.kin', '-e', 'sched:sched_process_exec', 'sh', '-c', './fast exit 0; ./fast exit 9')
    traces = [s.get('trace', '') for s in script(box, 'exec.kin')]
    tap.ok(r.returncode == 9 and sum(t.startswith('filename=./fast pid=') for t in traces) == 2,
           'a trace point: each time, with its fields', f'{r.returncode} {r.err} {traces}')
    text = box.run(box.kin, 'script', 'exec.kin').out
    tap.ok(re.search(r'\]\s+[\d.]+:\s+sched:sched_process_exec: filename=\./fast pid=\d+ old_pid=\d+$', text, re.M),
           'kin script: fields, and no period', text)
    text = box.run(box.kin, 'report', '--stdio', '-g', 'none', '-s', 'trace', 'exec.kin').out
    tap.ok('Trace output' in text and re.search(r'%  filename=\./fast pid=', text), 'kin report -s trace', text)
    text = box.run(box.kin, 'report', '--stdio', '-g', 'none', 'exec.kin').out
    tap.ok('Trace output' in text and 'Shared Object' not in text, 'with --stdio by default, as perf report', text)
    r = box.record('-q', '-o', 'calls.kin', '-e', 'syscalls:sys_enter_exit_gr*,sched:sched_process_e*', '--filter',
                   'pid > 0', './fast', 'exit', '0')
    tap.ok('--filter' in r.err and r.returncode == 125, '--filter: a field that not all of them have', r.err)
    r = box.record('-q', '-o', 'calls.kin', '-e', 'syscalls:sys_enter_exit_gr*', '--filter', 'error_code == 3', 'sh', '-c',
                   './fast exit 3; ./fast exit 4; exit 5')
    traces = [s.get('trace', '') for s in script(box, 'calls.kin')]
    tap.ok(r.returncode == 5 and traces == ['error_code: 0x00000003'], '--filter: only these', f'{r.err} {traces}')
    connect = 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); ' \
              'socket.create_connection(s.getsockname())'
    box.record('-q', '-o', 'net.kin', '-e', 'sock:inet_sock_set_state,rcu:rcu_utilization', sys.executable, '-c', connect)
    traces = [s.get('trace', '') for s in script(box, 'net.kin')]
    tap.ok(any('saddrv6=::ffff:127.0.0.1 ' in t for t in traces), 'kin script: addresses of sockets', str(traces[:3]))
    tap.ok('End context switch' in traces or 'Start context switch' in traces or 'Start scheduler-tick' in traces,
           "kin script: the kernel's texts", str(traces[:3]))
    none = os.path.join(box.folder, 'none')
    os.mkdir(none)
    open(os.path.join(none, 'libtraceevent.so.1'), 'w').close()
    r = box.run('env', f'LD_LIBRARY_PATH={none}', box.kin, 'script', '-F', 'trace', 'net.kin')
    tap.ok(' sport=' in r.out and 'saddr_v6=ARRAY[00' in r.out and 'as the kernel stored them: libtraceevent.so.1' in r.err,
           'without libtraceevent: fields as they were stored', r.out[:200] + r.err)
    r = box.record('-q', '-o', 'calls.kin', '-e', 'cpu-clock', '--filter', 'pid > 0', './fast', 'exit', '0')
    tap.ok("only trace points can be filtered, 'cpu-clock' is none" in r.err and r.returncode == 125,
           '--filter: an event that has none', r.err)
    r = box.record('-e', 'list')
    names = r.out.split()
    tap.ok(r.returncode == 0 and {'cpu-clock', 'L1-dcache-load-misses', 'sched:sched_switch'} <= set(names), '-e list',
           f'{len(names)} names {r.err}')
    r = box.record('-e', 'sched:no_such', './fast', 'exit', '0')
    tap.ok(r.returncode == 125 and "no trace point 'sched:no_such'" in r.err, 'a trace point that there is not', r.err)
    if os.geteuid():
        return
    r = box.run('unshare', '-m', 'sh', '-c', 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug 2>/dev/null; '
                f'{box.kin} record -e sched:sched_switch ./fast exit 0')
    tap.ok(r.returncode == 125 and 'mount -t tracefs' in r.err, 'not mounted: it says how to', r.err)
    if not box.opens_to(65534):
        tap.skip('not permitted: said, and the program runs', f'NOT TESTED: nobody else may run {box.kin}')
        return
    r = box.record('-e', 'sched:sched_switch', '-o', 'nobody.kin', './fast', 'exit', '6', user=65534)
    tap.ok(r.returncode == 6 and 'trace points take root' in r.err, 'not permitted: said, and the program runs', r.err)


def test_trace_points_of_perf(tap, box):
    """The same text for each sample of a perf.data, but for names of functions."""
    if not shutil.which('perf') or not mount_tracefs():
        tap.skip("trace points of perf.data", 'no perf, or no tracefs')
        return
    events = ('sched:sched_switch', 'sched:sched_process_exec', 'syscalls:sys_enter_openat', 'syscalls:sys_exit_openat',
              'kmem:mm_page_alloc', 'signal:signal_generate', 'irq:softirq_entry', 'task:task_newtask')
    made = box.run('perf', 'record', '-q', '--buildid-mmap', '-o', 'trace.data', *[w for e in events for w in ('-e', e)], 'sh', '-c', './fast spin 20; true')
    theirs = box.run('perf', 'script', '-i', 'trace.data')
    mine = box.run(box.kin, 'script', '-i', 'trace.data').out

    def lines(text):
        return [' '.join(line.split()) for line in text.splitlines()]

    differ = [(a, b) for a, b in zip(lines(mine), lines(theirs.out)) if a != b]
    tap.ok(len(lines(theirs.out)) > 20 and len(lines(mine)) == len(lines(theirs.out)) and not differ,
           'kin script prints trace points as perf script does', f'{made.err} {theirs.err} {len(lines(mine))} {len(lines(theirs.out))} {differ[:3]}')
    piped = box.run('sh', '-c', f'perf record -q -o - -e sched:sched_process_exec true | {box.kin} script -i -').out
    tap.ok('filename=' in piped, '... and from a pipe', piped)


def test_no_inherit(tap, box):
    """Threads and processes that the first thread starts are neither recorded nor counted."""
    r = box.record('-i', '-o', 'first.kin', './fast', 'threads', '20')
    tap.ok(r.returncode == 0 and '1 process, 1 thread\n' in r.err, '-i: it is one thread', r.err)


def test_delay(tap, box):
    """Nothing outside of the spans is recorded, but earlier mappings are known."""
    r = box.record('-D', '600000', '-o', 'late.kin', './fast', 'spin', '50')
    tap.ok(r.returncode == 0 and not script(box, 'late.kin'), '-D: nothing of before', r.err)
    r = box.record('-D', '-1', '-o', 'never.kin', './fast', 'spin', '50')
    tap.ok(r.returncode == 0 and not script(box, 'never.kin'), '-D -1: nothing until somebody says so', r.err)
    p = box.popen('./fast', 'spin', '600000')

    def spans():
        r = box.record('-D', '200-400,600-700', '-o', 'spans.kin', '-p', str(p.pid), '--', 'sleep', '1')
        times = [float(s['time']) for s in script(box, 'spans.kin')]
        used = float(re.search(r'CPU time ([\d.]+) s', r.err)[1])
        share = re.search(r'on a CPU for ([\d.]+) %', r.err)
        return (times and max(times) - min(times) < 0.9 and (not share or float(share[1]) > 100 * used / 0.5),
                times[:1] + times[-1:] + [r.err])
    try:
        passed, seen = best(spans)
        tap.ok(passed, '-D FROM-TO: only in these spans, and of what was on a CPU, too', seen)
    finally:
        p.kill()
        p.communicate()
    r = box.record('-r', '2', '-D', '50', '-o', 'runs.kin', './fast', 'spin', '200')
    threads = [t[3] for t in box.info('runs.kin') if t[0] == 'thread' and 'sampled' in t[3]]
    tap.ok(len(threads) == 2, '-r -D: from then on in each run', f'{r.err} {threads}')

    def asleep():
        box.record('--wall', '-D', '200-300,500-600', '-o', 'asleep.kin', '--', 'sleep', '0.8')
        samples = [s for s in script(box, 'asleep.kin') if s['event'] == 'blocked']
        ns = sum(int(s['period']) for s in samples)
        return 150e6 < ns < 280e6 and all(len(s['frames']) > 3 for s in samples), (ns, samples)
    passed, seen = best(asleep)
    tap.ok(passed, '--wall -D: of time asleep what is in these spans, and where', seen)


def test_control(tap, box):
    """Commands through a pipe, answered through another."""
    fifo, ack = (os.path.join(box.folder, n) for n in ('control', 'answers'))
    os.mkfifo(fifo)
    os.mkfifo(ack)
    p = box.popen('./fast', 'spin', '600000')
    try:
        r = box.popen(box.kin, 'record', '-D', '-1', f'--control=fifo:{fifo},{ack}', '-o', 'control.kin', '-p', str(p.pid))
        answers = os.open(ack, os.O_RDWR)
        with open(fifo, 'w') as control:
            for word in ('ping', 'enable', 'disable', 'enable'):
                control.write(word + '\n')
                control.flush()
                said = os.read(answers, 4)
                tap.ok(said == b'ack\n', f'--control: {word} is answered', said)
                time.sleep(0.3 if word == 'enable' else 0)
            control.write('stop\n')
            control.flush()
            _, err = r.communicate(timeout=300)
        os.close(answers)
        samples = script(box, 'control.kin')
        tap.ok(r.returncode == 0 and samples, '--control: recorded while enabled, until stop', err)
        wrong = box.record('--control=fd:77', './fast', 'exit', '0')
        tap.ok(wrong.returncode == 125 and 'fd:N' in wrong.err, '--control: pipes that are not there', wrong.err)
    finally:
        p.kill()
        p.communicate()


def markers(box, name):
    """Names and seconds since the first sample; NaN in a file without samples."""
    return [(fact, float(value.split()[0] if value else 'nan')) for about, fact, value, _ in box.info(name) if about == 'marker']


def test_mark(tap, box):
    """Moments are named by the command, by a signal, and through the pipe of --control."""
    r = box.record('--mark', '-o', 'marked.kin', 'sh', '-c', './fast spin 100; "$0" mark load data; ./fast spin 100; kill -USR2 $PPID; ./fast spin 100', box.kin)
    named = markers(box, 'marked.kin')
    tap.ok(r.returncode == 0 and [n for n, _ in named] == ['load data', 'mark1'] and 0 < named[0][1] < named[1][1] and 'mark1, ' in r.err,
           '--mark: kin mark, and SIGUSR2', f'{r.err} {named}')
    first = min(float(s['time']) for s in script(box, 'marked.kin'))
    inside = [float(s['time']) - first for s in script(box, 'marked.kin', '--time', 'load data,mark1')]
    tap.ok(inside and named[0][1] - .00001 < min(inside) and max(inside) < named[1][1] + .00001, '... between which --time is', f'{named} {inside}')
    r = box.record('--mark', '-q', '-o', 'many.kin', 'sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do "$0" mark same; done; kill -USR2 $PPID; ./fast spin 50', box.kin)
    tap.ok(r.returncode == 0 and not r.err and [n for n, _ in markers(box, 'many.kin')] == 8 * ['same'] + ['mark1'], '... in their order, silently with -q',
           f'{r.err} {markers(box, "many.kin")}')
    r = box.record('--mark', '--overwrite', '-o', 'recent.kin', 'sh', '-c', './fast spin 50; "$0" mark kept; ./fast spin 50', box.kin)
    tap.ok([n for n, _ in markers(box, 'recent.kin')] == ['kept'], '... with --overwrite', f'{r.err} {markers(box, "recent.kin")}')
    r = box.record('--mark', '--switch-output', '-o', 'parts.kin', 'sh', '-c', '"$0" mark one; kill -USR2 $PPID; ./fast spin 400; "$0" mark two', box.kin)
    named = [n for part in parts_of(box, 'parts.kin') for n, _ in markers(box, part)]
    tap.ok(r.returncode == 0 and named == ['one', 'two'], '... with --switch-output, whose signal begins a file', f'{r.err} {named}')
    fifo = os.path.join(box.folder, 'marks')
    os.mkfifo(fifo)
    p = box.popen('./fast', 'spin', '600000')
    try:
        r = box.popen(box.kin, 'record', '--mark', f'--control=fifo:{fifo}', '-o', 'attached.kin', '-p', str(p.pid))
        with open(fifo, 'w') as control:
            wait_until(lambda: os.path.exists(os.path.join(box.folder, 'attached.kin')) and script(box, 'attached.kin'))
            control.write('mark by pipe\n')
            control.flush()
            wait_until(lambda: markers(box, 'attached.kin'))
            done = box.run(box.kin, 'mark', '-p', str(r.pid), 'by', 'process')
            tap.ok(done.returncode == 0, 'kin mark -p', done.err)
            wait_until(lambda: len(markers(box, 'attached.kin')) == 2)
            control.write('stop\n')
        r.communicate(timeout=300)
        tap.ok([n for n, _ in markers(box, 'attached.kin')] == ['by pipe', 'by process'], '... and mark of --control', markers(box, 'attached.kin'))
        done = box.run(box.kin, 'mark', '-p', str(r.pid), 'late')
        tap.ok(done.returncode == 1 and 'no recorder that listens' in done.err, '... and when it has ended', done.err)
    finally:
        p.kill()
        p.communicate()


def test_limits(tap, box):
    r = box.record('--max-size', '5K', '-z22', '-o', 'small.kin', '-F', '5000', './fast', 'spin', '3000')
    tap.ok('--max-size' in r.err and os.path.getsize(os.path.join(box.folder, 'small.kin')) < 60000,
           '--max-size ends the recording', r.err)
    r = box.record('-m', '64K', '--call-graph', 'dwarf,1024', '-o', 'few.kin', './fast', 'spin', '50')
    tap.ok(r.returncode == 0 and script(box, 'few.kin'), '-m and --call-graph dwarf,BYTES', r.err)
    r = box.record('-F', 'max', '-e', 'task-clock', '-o', 'max.kin', './fast', 'spin', '30')
    with open('/proc/sys/kernel/perf_event_max_sample_rate', encoding='ascii') as f:
        most = 0.03 * int(f.read())  # in that time; the kernel lowers it where sampling takes it long
    n = len(script(box, 'max.kin'))
    tap.ok(r.returncode == 0 and n > min(100, most / 4), '-F max', f'{n} samples of {most} {r.err}')
    r = box.record('--strict-freq', '-F', '1000000', './fast', 'exit', '0')
    tap.ok(r.returncode == 125 and 'perf_event_max_sample_rate' in r.err, '--strict-freq: more than the kernel permits', r.err)
    r = box.record('-C', '0', '-o', 'cpu.kin', '--', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    if 'does not let' not in r.err:
        cpus = {s['cpu'] for s in script(box, 'cpu.kin')}
        tap.ok(cpus <= {0}, '-C: one processor', f'{r.err} {cpus}')
    r = box.record('--timestamp-filename', '-q', '-o', 'dated.kin', './fast', 'exit', '0')
    dated = [f for f in os.listdir(box.folder) if re.fullmatch(r'dated\.kin\.\d{14}', f)]
    tap.ok(len(dated) == 1, '--timestamp-filename', r.err)


def parts_of(box, name):
    """The files of a series, in order."""
    return sorted(f for f in os.listdir(box.folder) if f.startswith(name + '.') and not f.endswith('.tmp'))


def record_series(box, pid, name, n, *words):
    """A recording that begins a new file n times, each time after it has samples."""
    r = box.popen(box.kin, 'record', '--switch-output', *words, '-o', name, '-p', str(pid))
    for i in range(n):
        wait_until(lambda: os.path.exists(os.path.join(box.folder, name)) and script(box, name))
        before = parts_of(box, name)
        r.send_signal(signal.SIGUSR2)
        wait_until(lambda: parts_of(box, name) != before)
    wait_until(lambda: os.path.exists(os.path.join(box.folder, name)) and script(box, name))
    r.send_signal(signal.SIGINT)
    _, r.err = r.communicate(timeout=300)
    return r


def test_switch_output(tap, box):
    """Each file of a series is a whole recording, and begins where the previous one ends."""
    p = box.popen('./fast', 'spin', '600000')
    try:
        r = record_series(box, p.pid, 'series.kin', 2)
        parts = parts_of(box, 'series.kin')
        samples = [script(box, f) for f in parts]
        tap.ok(r.returncode == 0 and len(parts) == 3 and
               all(re.fullmatch(r'series\.kin\.\d{16}(\.\d+)?', f) for f in parts) and
               all(f'-> {f}\n' in r.err for f in parts), '--switch-output: a file at each SIGUSR2', f'{r.err} {parts}')
        tap.ok(not os.path.exists(os.path.join(box.folder, 'series.kin')), '... all with names of their own', parts)
        tap.ok(all({s['comm'] for s in part} == {'fast'} for part in samples) and
               all('loop' in box.flat(f) for f in parts), '... whose threads and functions are known', samples[-1][:2])
        said = re.search(r'(\d+) samples in', r.err)
        tap.ok(said and int(said[1]) == sum(map(len, samples)), '... no sample in two, or in none', f'{r.err} {[len(s) for s in samples]}')
        times = [[float(s['time']) for s in part] for part in samples]
        tap.ok(all(max(a) <= min(b) for a, b in zip(times, times[1:])), '... one after the other')
        cpu = [float(v.split()[0]) for f in parts for _, fact, v, _ in box.info(f) if fact == 'CPU time by the kernel']
        stand_for = [sum(s['period'] for s in part) / 1e9 for part in samples]
        tap.ok(len(cpu) == 3 and all(abs(c - s) < 0.25 * c + 0.05 for c, s in zip(cpu, stand_for)),
               '... with the CPU time of each', f'{cpu} {stand_for}')
        r = record_series(box, p.pid, 'two.kin', 3, '--switch-max-files=2', '-q')
        tap.ok(r.returncode == 0 and len(parts_of(box, 'two.kin')) == 2 and '->' not in r.err,
               '--switch-max-files: the newest', f'{r.err} {parts_of(box, "two.kin")}')
        r = box.record('--switch-output=1s', '-o', 'timed.kin', '-p', str(p.pid), '--duration', '2.5')
        tap.ok(len(parts_of(box, 'timed.kin')) >= 2, '--switch-output=TIME', r.err)
        r = box.record('--every=1s', '-o', 'of/timed/', '-p', str(p.pid), '--duration', '2.5')
        parts = [os.path.join('of/timed', f) for f in os.listdir(os.path.join(box.folder, 'of/timed'))]
        tap.ok(all('/profile.kin.' in f for f in parts) and sum(bool(script(box, f)) for f in parts) >= 2,
               '--every=TIME, into a directory that is made', f'{r.err} {parts}')
        tap.ok(len(script(box, 'of/timed')) == sum(len(script(box, f)) for f in parts), '... which stands for all of them', parts)
        r = box.record('--switch-output=5K', '-F', '5000', '-o', 'sized.kin', '-p', str(p.pid), '--duration', '4')
        tap.ok(len(parts_of(box, 'sized.kin')) >= 2, '--switch-output=SIZE', r.err)
        r = box.record('--switch-output', '-o', 'own.kin', 'sh', '-c', 'kill -USR2 $PPID; exit 4')
        tap.ok(r.returncode == 4 and parts_of(box, 'own.kin'), '... with a command', r.err)
    finally:
        p.kill()
        p.communicate()
    for words in (['--switch-output=5x'], ['--switch-output=0s'], ['--switch-output=-1s'], ['--every=0s'], ['--every=5K'], ['--switch-max-files=3'],
                  ['--switch-max-files=0', '--switch-output'], ['--overwrite', '--switch-output=1M'],
                  ['--overwrite', '-o', '-'], ['--switch-output', '-o', '-']):
        r = box.record(*words, './fast', 'exit', '0')
        tap.ok(r.returncode in (2, 125) and words[0].split('=')[0] in r.err, f'{" ".join(words)} is refused', r.err)


def test_overwrite(tap, box):
    """In memory until the end, or until SIGUSR2."""
    r = box.record('--overwrite', '-o', 'recent.kin', './fast', 'spin', '200')
    info = box.info('recent.kin')
    tap.ok(r.returncode == 0 and script(box, 'recent.kin') and 'loop' in box.flat('recent.kin') and
           any(fact == 'samples' and 'most recent' in value for _, fact, value, _ in info),
           '--overwrite: written at the end, and the file says so', f'{r.err} {info}')
    r = box.record('--overwrite', '--wall', '-o', 'wall.kin', 'sh', '-c', './fast spin 50; sleep 0.1')
    events = {s['event'].split()[0] for s in script(box, 'wall.kin')}
    tap.ok(r.returncode == 0 and 'blocked' in events, '... with time off the CPU', f'{r.err} {events}')
    p = box.popen('./fast', 'spin', '600000')
    try:
        r = box.popen(box.kin, 'record', '--overwrite', '--switch-output', '-o', 'now.kin', '-p', str(p.pid))
        wait_until(lambda: os.path.exists(os.path.join(box.folder, 'now.kin')))
        for _ in range(60):
            n = len(parts_of(box, 'now.kin'))
            time.sleep(0.5)
            r.send_signal(signal.SIGUSR2)
            wait_until(lambda: len(parts_of(box, 'now.kin')) > n)
            if any(script(box, f) for f in parts_of(box, 'now.kin')):
                break
        at_signal = len(parts_of(box, 'now.kin'))
        r.send_signal(signal.SIGINT)
        _, err = r.communicate(timeout=300)
        parts = parts_of(box, 'now.kin')
        tap.ok(r.returncode == 0 and at_signal and len(parts) == at_signal + 1 and
               any(script(box, f) for f in parts[:at_signal]), '... and at SIGUSR2', f'{err} {parts}')
    finally:
        p.kill()
        p.communicate()
    with open(os.path.join(box.folder, 'notes'), 'w') as f:
        f.write('not a recording\n')
    r = box.record('--overwrite', '-o', 'notes', './fast', 'exit', '3')
    tap.ok(r.returncode == 3 and open(os.path.join(box.folder, 'notes')).read() == 'not a recording\n',
           '... never over a file that is something else', r.err)


def is_kernel(frame):
    return bool(int(frame.get('ip', '0'), 16) >> 63)


def test_callchains(tap, box):
    """The part in user mode, or in the kernel; the place itself in either case."""
    words = ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do ./fast spin 10; done']
    seen = {}
    for part in ('--user-callchains', '--kernel-callchains'):
        r = box.record('-F', '5000', part, '-o', 'chains.kin', *words)
        seen[part] = [[f for f in s['frames'] if not f.get('inlined')] for s in script(box, 'chains.kin')]
        tap.ok(r.returncode == 0 and seen[part], f'{part}: samples', r.err)
    both = box.record('--user-callchains', '--kernel-callchains', './fast', 'exit', '0')
    tap.ok(both.returncode in (2, 125) and 'one or the other' in both.err, '... not both', both.err)
    chains = seen['--user-callchains']
    tap.ok(not any(is_kernel(f) for c in chains for f in c[1:]) and any(len(c) > 1 for c in chains),
           '--user-callchains: no callers in the kernel', chains[:2])
    chains = seen['--kernel-callchains']
    tap.ok(not any(not is_kernel(f) for c in chains for f in c[1:]), '--kernel-callchains: none in user mode',
           chains[:2])
    tap.ok(' cut' not in r.err, '... and no stack is cut for that', r.err)


def test_pipe(tap, box):
    """-o -: a recording through a pipe, without the program's output."""
    r = box.run('sh', '-c', f'{box.kin} record -q -o - sh -c "echo hello; ./fast spin 100; exit 5" | {box.kin} info -')
    tap.ok('exited with status 5' in r.out and 'hello' in r.err and 'damaged' not in r.err, '-o -: a whole recording',
           r.out + r.err)
    def kept():
        box.run('sh', '-c', f'{box.kin} record -q -o - ./fast spin 100 > piped.kin')
        strict = box.run(box.kin, 'info', '--strict', 'piped.kin')
        return script(box, 'piped.kin') and not strict.returncode, strict.err
    passed, said = best(kept)  # lost ticks are a doubt
    tap.ok(passed, '... which is as good when it is kept in a file', said)
    whole = open(os.path.join(box.folder, 'piped.kin'), 'rb').read()
    open(os.path.join(box.folder, 'cut.kin'), 'wb').write(whole[:4096])
    r = box.run(box.kin, 'info', '--strict', 'cut.kin')
    tap.ok(r.returncode == 1 and 'not ended' in r.err, '... and in doubt where its end is missing', r.err)
    r = box.run('sh', '-c', f'{{ {box.kin} record -q -o - ./fast exit 3; echo $? >&2; }} | true')
    tap.ok(r.err.strip().endswith('3'), '... and nobody reads it: the program runs on', r.err)


def test_children(tap, box):
    """-i leaves out processes that the command starts."""
    box.record('-i', '-o', 'one.kin', 'sh', '-c', './fast spin 100; :')
    names = {s['comm'] for s in script(box, 'one.kin')}
    tap.ok('fast' not in names, '-i: not what it starts', names)


DETAILS = ['-d', '-W', '-I', '--phys-data', '--data-page-size', '--code-page-size', '--transaction']
OF_DETAILS = 'comm,addr,data_src,weight,phys_addr,data_page_size,code_page_size,iregs'


def test_details(tap, box):
    """Details of samples are the same in the .kin file and in a merged one."""
    def shown(program, path, fields=OF_DETAILS):
        return sorted(box.run(program, 'script', '-F', fields, '-i', path).out.splitlines())

    r = box.record('-e', 'page-faults', '-c', '7', *DETAILS, '-o', 'details.kin', './fast', 'spin', '50')
    mine = shown(box.kin, 'details.kin')
    tap.ok(len(mine) > 5 and all('ABI:2' in line and ' SP:0x' in line for line in mine), 'samples have registers', r.err)
    tap.ok(any(re.search(r'^ *\S+ +[1-9a-f][0-9a-f]{6,} ', line) for line in mine), '... and addresses', mine[:3])
    merged = box.run(box.kin, 'merge', '-o', 'once.kin', 'details.kin')
    tap.ok(shown(box.kin, 'once.kin') == mine, '... and in a merged file', merged.err)
    if shutil.which('perf'):
        point = '... and in one that is made of a perf.data: as perf reads it'
        made = box.run('perf', 'record', '-q', '--buildid-mmap', '-e', 'page-faults', '-c', '7', *DETAILS, '-o', 'details.data', './fast', 'spin', '50')
        theirs = shown('perf', 'details.data')
        if made.returncode < 0 or not theirs: # perf 6.1 dies of some build ids, and of page sizes
            tap.skip(point, f'perf cannot do it here: {made.err}')
        else:
            box.run(box.kin, 'merge', '-o', 'of_perf.kin', 'details.data')
            tap.ok(len(theirs) > 5 and shown(box.kin, 'of_perf.kin') == theirs, point,
                   f"{made.err} {list(zip(shown(box.kin, 'of_perf.kin'), theirs))[:3]}")
    box.run(box.kin, 'pack', '-o', 'packed.kin', 'details.kin')
    tap.ok(shown(box.kin, 'packed.kin') == mine, '... and in a packed one')
    r = box.record('-e', 'page-faults', '-c', '7', *DETAILS, '--overwrite', '-o', 'kept.kin', './fast', 'spin', '50')
    tap.ok(len(shown(box.kin, 'kept.kin')) > 5 and all('ABI:2' in line for line in shown(box.kin, 'kept.kin')), '--overwrite keeps them', r.err)
    text = box.run(box.kin, 'report', '-s', 'comm,code_page_size', 'details.kin')
    tap.ok(re.search(r'(4K|N/A|2M)', text.out), 'kin report -s code_page_size', text.out + text.err)
    box.record('-Isp,AX', '-e', 'task-clock', '-o', 'some.kin', './fast', 'spin', '50')
    some = shown(box.kin, 'some.kin', 'iregs')
    tap.ok(some and all(re.fullmatch(r' *ABI:2 +AX:0x[0-9a-f]+ +SP:0x[0-9a-f]+ *', line) for line in some), '-I: these registers', some[:2])
    r = box.record('--intr-regs=AX,NO', './fast', 'exit', '0')
    tap.ok(r.returncode == 2 and "'NO' is no register" in r.err and ' R15' in r.err, '-I: no such register', f'{r.returncode} {r.err}')
    r = box.record('-j', 'any_call,odd', './fast', 'exit', '0')
    tap.ok(r.returncode == 2 and "'odd' is no kind" in r.err, '-j: no such kind', f'{r.returncode} {r.err}')
    for words in (['-b'], ['-j', 'any_call,u']):
        r = box.record(*words, '-o', 'branches.kin', './fast', 'spin', '100')
        branches = r.returncode == 0 and ''.join(shown(box.kin, 'branches.kin', 'brstack'))
        tap.ok((r.returncode == 125 and 'keeps no record of the branches' in r.err) or '/' in branches,
               f'{words[0]}: branches, or a line that says why not', f'{r.returncode} {r.err}')
    r = box.record('-e', 'task-clock', '-o', 'plain.kin', './fast', 'spin', '50')
    r = box.run(box.kin, 'script', '-F', 'iregs', 'plain.kin')
    tap.ok(r.returncode and 'kin record --intr-regs records it' in r.err, 'what was not recorded is said', r.err)


def options_of(command):
    """perf's options: letters and names."""
    text = subprocess.run(['perf', command, '-h'], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    for line in text.splitlines():
        found = re.match(r'    (?:-(\w), |    )--([\w-]+)', line) or re.match(r'    -(\w) ()', line)
        if found:
            yield found[1], found[2]


def test_all_options(tap, box):
    """Every option of perf exists, or a message says what to do instead."""
    if not shutil.which('perf'):
        tap.skip("perf's options are known", 'no perf')
        return
    for command, least in (('record', 75), ('top', 60), ('report', 70), ('script', 55), ('annotate', 30), ('diff', 25)):
        unknown, n = [], 0
        for letter, name in options_of(command):
            for word in ([f'-{letter}'] if letter else []) + ([f'--{name}'] if name else []):
                n += 1
                # If the first word is accepted, the last one is the error; so it is if it is taken as an argument.
                err = box.run(box.kin, command, word, '--no-such-option', '--no-such-option').err
                if f"unknown option '{word}'" in err or 'is short for several' in err:
                    unknown.append(word)
        tap.ok(n > least and not unknown, f"each of perf {command}'s options is there, or says what to do instead",
               f'{n}: {unknown}')


TESTS = (test_attach_with_command, test_user, test_fallback, test_periods, test_each_and_every, test_events, test_same_name, test_leader_sampling, test_breakpoint, test_trace_points,
         test_trace_points_of_perf, test_no_inherit, test_delay,
         test_control, test_mark, test_limits, test_switch_output, test_overwrite, test_callchains, test_pipe, test_children, test_details,
         test_all_options)


if __name__ == '__main__':
    from record import Box, Tap
    t, b = Tap(), Box(sys.argv[1])
    try:
        for test in TESTS:
            if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]:
                test(t, b)
    finally:
        shutil.rmtree(b.folder, ignore_errors=True)
    sys.exit(t.done())

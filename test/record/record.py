"""kin record on real programs: it sees what they do, and they do not notice.

    record.py BUILD

If the kernel permits no sampling, everything is skipped, with a message.
"""
import collections
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
sys.path.insert(0, HERE)
import interpreters
import perf_words
import top
from chance import best, deviation
from tap import Tap
from waiting import wait_until

LIMIT = 300  # seconds for one command: the machine may be busy
NOBODY = 65534
FULL = bool(os.environ.get('KIN_FULL'))


def heed_signals():
    """Under nohup, and in the background of a script, some are ignored, and would be by all that is started here."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


SMALL = """#include <pthread.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void work(void) { for (long i = 0; i < 100000000; i++) sink += i; sink++; }
static void *thread(void *arg) { work(); sink++; return arg; }
int main(void) { pthread_t t; pthread_create(&t, 0, thread, 0); work(); pthread_join(t, 0); return 0; }
"""

SMALL_GO = """package main
var kept [1000][]byte
func main() { for i := 0; i < 2000000; i++ { kept[i%1000] = make([]byte, 512+i%4096) } }
"""


class Box:
    """A folder with the programs, and kin."""

    def __init__(self, build):
        self.kin = os.path.join(os.path.abspath(build), 'kin')
        self.folder = tempfile.mkdtemp(prefix='kin-record-')
        os.chmod(self.folder, 0o777)
        self.env = {**os.environ, 'HOME': self.folder, 'LC_ALL': 'C'}
        self.env.pop('XDG_CACHE_HOME', None)
        source = os.path.join(HERE, 'programs.c')
        for name, flags in (('prog', ['-O0', '-fno-omit-frame-pointer']), ('fast', ['-O2'])):
            subprocess.run(['gcc', '-g', *flags, '-o', os.path.join(self.folder, name), source, '-lpthread'],
                           check=True)

    def popen(self, *words, user=None, **more):
        more = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **more}
        if user is not None:
            more.update(user=user, group=user, extra_groups=[])
        more.setdefault('preexec_fn', heed_signals)
        return subprocess.Popen(words, cwd=more.pop('cwd', self.folder), env=self.env, text=True, **more)

    def run(self, *words, **more):
        p = self.popen(*words, **more)
        p.out, p.err = p.communicate(timeout=LIMIT)
        return p

    def opens_to(self, user):
        """Whether another user may run kin where it was built."""
        try:
            return self.run(self.kin, '--version', user=user).returncode == 0
        except PermissionError:
            return False

    def record(self, *words, **more):
        return self.run(self.kin, 'record', *words, **more)

    def info(self, path):
        """[(about, fact, value, detail)]"""
        text = self.run(self.kin, 'info', '-f', 'json', path).out
        return [[row.get(k, '') for k in ('about', 'fact', 'value', 'detail')] for row in rows(text)]

    def graph(self, path, *more):
        return self.run(self.kin, 'graph', *more, path).out

    def flat(self, path):
        """{name: seconds of its own}"""
        text = self.run(self.kin, 'flat', '-f', 'json', path).out
        return {r.get('name'): r.get('self', r.get('self_s', 0)) for r in rows(text)}

    def samples(self, path):
        """Of its clock."""
        return sum(int(r[2]) for r in self.info(path) if r[0] == 'samples' and ('clock' in r[1] or r[1] == 'cycles'))

    def wait_for(self, path):
        """Until a recorder has its file: it takes its signals by then."""
        wait_until(lambda: os.path.exists(os.path.join(self.folder, path)))

    def remove(self, path):
        path = os.path.join(self.folder, path)
        if os.path.exists(path):
            os.remove(path)


def rows(text):
    """Of the first event, if there are several."""
    data = json.loads(text)
    return (data[0] if isinstance(data, list) else data)['rows']


def sampled(audit):
    """Percent of CPU time, and of complete stacks."""
    time_part = re.search(r'sampled [\d.]+ s \(([\d.]+) %\)', audit)
    complete = re.search(r'stacks: ([\d.]+) % complete', audit)
    return float(time_part[1]) if time_part else -1, float(complete[1]) if complete else -1


def share(graph, name):
    """Percent of the time of a function and what it calls, in kin graph's text, of the time that interrupts did not take:
    they take several percent where other programs are busy."""
    found = re.search(r'^ *\d+ +([\d.]+)% .* ' + re.escape(name) + r'$', graph, re.M)
    interrupts = re.search(r'^  interrupts took ([\d.]+) %', graph, re.M)
    return float(found[1]) / (1 - (float(interrupts[1]) / 100 if interrupts else 0)) if found else -1


def test_attribution(tap, box):
    for mode in ('auto', 'dwarf', 'fp'):
        p = box.record('-g', mode, '-o', f'{mode}.kin', './prog', 'foobar', '150')
        graph = box.graph(f'{mode}.kin')
        bar, foo = share(graph, 'bar'), share(graph, 'foo')
        tap.ok(p.returncode == 0 and bar > 97, f'-g {mode}: bar is on the stack all the time', p.err + graph)
        n = box.samples(f'{mode}.kin')
        tap.ok(abs(foo / 100 - .6) < .03 + deviation(.6, n), f'-g {mode}: foo for three fifths of it', f'{foo} % of {n} samples\n' + graph)
    p = box.record('-g', 'fp', '-o', 'none.kin', './fast', 'foobar', '150')
    strict, folded = box.run(box.kin, 'info', '--strict', 'none.kin'), box.run(box.kin, 'script', '--folded', 'none.kin').out
    tap.ok(sampled(p.err)[1] < 5 and strict.returncode == 1 and ';[cut];' in folded,
           '-g fp, a program without frame pointers: stacks are cut, and in doubt', p.err + strict.err + folded)
    remedy = 'without -g fp stacks need no frame pointers'
    tap.ok(remedy in p.err, 'and the remedy is named', p.err)
    def trusted():
        p = box.record('-g', 'fp', '-o', 'fp.kin', './prog', 'foobar', '150')
        strict = box.run(box.kin, 'info', '--strict', 'fp.kin')
        return sampled(p.err)[1] > 98 and strict.returncode == 0 and remedy not in p.err, p.err + strict.err
    passed, said = best(trusted)  # lost ticks are in doubt, too
    tap.ok(passed, '-g fp, a program with them: stacks are complete', said)
    # Called by the dynamic linker, whose outermost calls differ from main()'s.
    source = os.path.join(box.folder, 'early.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write('static volatile long x;\n__attribute__((constructor)) static void early(void) { for (long i = 0; i < 20000000; i++) x++; }\n')
    box.run('gcc', '-O1', '-fno-omit-frame-pointer', '-shared', '-fPIC', '-o', 'early.so', source)
    def trusted_later():
        p = box.record('-g', 'fp', '-o', 'early.kin', 'env', f'LD_PRELOAD={box.folder}/early.so', './prog', 'foobar', '150')
        return sampled(p.err)[1] > 90, p.err
    passed, said = best(trusted_later)
    tap.ok(passed, '... whatever ran while it was loaded', said)
    tap.ok(sampled(box.record('./fast', 'spin', '400').err)[1] >= 98, 'stacks of optimised code are complete')

    def counted():
        part = sampled(box.record('./fast', 'spin', '400').err)[0]
        return 90 <= part <= 101, f'{part} %'
    passed, said = best(counted)
    tap.ok(passed, 'samples stand for the CPU time that the kernel counted', said)


def test_deep(tap, box):
    p = box.record('-o', 'deep.kin', './fast', 'deep', '40')
    graph = box.graph('deep.kin')
    if os.geteuid() or os.cpu_count() > 8:
        tap.skip('stacks of 25 KiB reach main', 'the buffers may be too small for copies of that size')
    else:
        tap.ok(share(graph, 'main') > 80, 'stacks of 25 KiB reach main', p.err + graph)
    p = box.record('-o', 'deeper.kin', './fast', 'deep', '200')
    graph = box.graph('deeper.kin')
    cut = re.search(r'([\d.]+) % of the stacks could not be walked to their end', graph)
    tap.ok(share(graph, 'deep') > 95 and share(graph, 'main') < 5 and cut and float(cut[1]) > 95 and re.search(r' \[cut\]$', graph, re.M),
           'what lies beyond the largest copy is cut, and shown as cut', p.err + graph)
    strict = box.run(box.kin, 'info', '--strict', 'deeper.kin')
    tap.ok(strict.returncode == 1 and 'could not be walked to their end' in strict.err,
           'kin info --strict doubts it', strict.err)
    tap.ok('go beyond what the kernel copies' in p.err and 'kin run' in p.err and 'go beyond what the kernel copies' in graph,
           'kin record and its reports say that kin run walks such stacks', p.err + graph)
    merged = box.run(box.kin, 'merge', '-o', 'twice.kin', 'deeper.kin', 'deeper.kin')
    once, twice = ([int(r[2]) for r in box.info(name) if r[1] == 'of them beyond the copy'] for name in ('deeper.kin', 'twice.kin'))
    tap.ok(once and twice == [2 * once[0]], 'a sum of recordings knows how many', f'{once} {twice} {merged.err}')
    box.run(box.kin, 'run', '-q', '--no-gmon', '-o', 'walked.kin', './fast', 'deep', '200')
    graph = box.graph('walked.kin')
    tap.ok(share(graph, 'main') > 90, 'kin run does', graph)


def test_status(tap, box):
    for status in (0, 1, 42, 255):
        p = box.record('./prog', 'exit', str(status))
        tap.ok(p.returncode == status, f'exit status {status} is passed on', f'{p.returncode}\n{p.err}')
    for name in ('SEGV', 'KILL', 'TERM', 'ABRT'):
        number = getattr(signal, 'SIG' + name)
        p = box.record('-q', './prog', 'die', str(int(number)))
        tap.ok(p.returncode == -number, f'death by SIG{name} is passed on', f'{p.returncode}\n{p.err}')
    box.remove('profile.kin')
    for command, status in (('./nothing-here', 127), ('/etc/passwd', 126)):
        p = box.record(command)
        tap.ok(p.returncode == status, f'{command}: status {status}', f'{p.returncode}\n{p.err}')
    tap.ok(not os.path.exists(os.path.join(box.folder, 'profile.kin')), 'what never ran leaves no file')
    p = box.record('')
    tap.ok(p.returncode == 127 and "the command ''" in p.err, 'an empty name is named', p.err)
    for way in ['record'], ['top'], ['compare', '-r', '2']:
        p = box.run(box.kin, *way, 'prog')
        tap.ok(p.returncode in (127, 3) and './prog is here' in p.err, f'kin {way[0]}: a program of this folder without ./', p.err)
    p = box.record('-o', '/dev/full', './prog', 'exit', '3')
    tap.ok(p.returncode == 3 and 'no regular file' in p.err and 'stays' not in p.err and 'remove' not in p.err,
           'a device is nothing to record to, and stays what it is', p.err)
    tap.ok(box.record().returncode == 2, 'nothing to record is a wrong command line')
    p = box.record('-e', 'no-such-event', './prog', 'exit', '3')
    tap.ok(p.returncode == 125 and 'no-such-event' in p.err, 'an event that there is not: status 125', p.err)


def test_unnoticed(tap, box):
    for prefix, name in (([], 'as usual'), (['sh', '-c', 'trap "" HUP INT CHLD; exec "$@"', 'sh'], 'when ignored')):
        plain = box.run(*prefix, './prog', 'dispositions').out
        seen = box.run(*prefix, box.kin, 'record', '-q', './prog', 'dispositions')
        tap.ok(plain == seen.out, f'signals {name}: the program sees what it sees without us', plain + seen.out)
    p = box.record('-q', 'sh', '-c', 'echo out; echo err >&2')
    tap.ok((p.out, p.err) == ('out\n', 'err\n'), '-q: no line but the program\'s', p.out + p.err)


def is_pending(process, number):
    """Whether a signal to the process is pending: a second one would then be lost. If the signal ended the process, it may
    be pending for ever."""
    with open(f'/proc/{process.pid}/status', encoding='ascii') as f:
        facts = dict(line.split(':', 1) for line in f)
    waiting = int(facts['SigPnd'], 16) | int(facts['ShdPnd'], 16)
    return facts['State'].split()[0] != 'Z' and waiting >> (number - 1) & 1


def test_signals(tap, box):
    for name in ('INT', 'TERM', 'HUP', 'QUIT', 'USR1'):
        number = getattr(signal, 'SIG' + name)
        p = box.popen(box.kin, 'record', '-q', './prog', 'wait')
        p.stdout.readline()
        p.send_signal(number)
        p.communicate(timeout=LIMIT)
        tap.ok(p.returncode == 50 + number, f'SIG{name} is passed on to the program', p.returncode)
    p = box.popen(box.kin, 'record', '-o', 'int.kin', 'sh', '-c', 'trap "" INT; echo $$; exec ./prog spin 4000')
    pid = int(p.stdout.readline())
    for _ in range(2):
        p.send_signal(signal.SIGINT)
        while is_pending(p, signal.SIGINT):
            time.sleep(0.01)
    p.wait(LIMIT)
    alive = os.path.exists(f'/proc/{pid}')
    os.kill(pid, signal.SIGKILL)
    p.communicate()
    tap.ok(p.returncode == -signal.SIGINT and alive, 'a second one ends the recording, the program goes on',
           f'{p.returncode} {alive}')
    tap.ok(any(r[0] == 'samples' for r in box.info('int.kin')), 'and the file is there')


def count(box, path, about):
    return len({r[3] for r in box.info(path) if r[0] == about})


def seen(box, name, text, least, *words, status=0):
    """A point: a recording says the text, and has samples of so many percent of the CPU time."""
    def record():
        p = box.record(*words)
        return p.returncode == status and text in p.err and sampled(p.err)[0] > least, p.err
    passed, said = best(record)
    return passed, name, said


def test_trees(tap, box):
    tap.ok(*seen(box, 'all threads', '17 threads', 60, '-o', 'threads.kin', './prog', 'threads', '16'))
    p = box.record('-o', 'forks.kin', './prog', 'forks', '100')
    n = count(box, 'forks.kin', 'thread')
    tap.ok(p.returncode == 7 and '101 processes' in p.err and n >= 100, 'a hundred children, each of them seen',
           f'{n}\n{p.err}')
    n = 10000 if FULL else 1500
    p = box.record('-o', 'storm.kin', './prog', 'storm', str(n))
    tap.ok(p.returncode == 7 and f'{n + 1} processes' in p.err and 'LOST' not in p.err, f'{n} processes that end at once', p.err)

    def all_that_ends():
        """A thread that has ended still has samples, and leaves its CPU once more."""
        p = box.record('-a', '--wall', '-g', 'fp', '-o', 'all.kin', './prog', 'storm', '500')
        tables = json.loads(box.run(box.kin, 'report', '-g', 'none', '-s', 'comm', '--format=json', 'all.kin').out)
        nameless = {t['properties']['event']: sum(r['self'] for r in t['rows'] if r['comm'] == '[unknown]') for t in tables}
        said = re.search(r'(\d+) processes', p.err)
        return p.returncode == 7 and nameless.get('blocked', 1) < .5 and said and 500 < int(said[1]) < 900, f'{nameless}\n{p.err}'
    passed, said = best(all_that_ends)
    tap.ok(passed, '-a --wall: what has ended is neither a process of its own nor blocked', said)
    tap.ok('PID namespace' not in p.err, 'nothing is said of PID namespaces where all processes are seen', p.err)
    if os.geteuid() or not shutil.which('unshare'):
        tap.skip('-a in a PID namespace', 'takes root, and unshare')
    else:
        beside = box.popen('./prog', 'spin', '60000')
        p = box.run('unshare', '-mpf', '--mount-proc', box.kin, 'record', '-a', '-o', 'all.kin', './prog', 'spin', '300')
        beside.kill()
        beside.communicate()
        tap.ok(re.search(r'\d+ samples? of processes outside of this PID namespace: they are \[unknown\]', p.err),
               '-a in a PID namespace: that processes outside are not told apart is said', p.err)
        p = box.run('unshare', '-m', 'sh', '-c', f'mount -t tmpfs none /proc && exec {box.kin} run -o noproc.kin ./prog spin 100')
        tap.ok(p.returncode == 0 and share(box.graph('noproc.kin'), 'spin') > 50, 'kin run where /proc is not mounted', p.err)
    p = box.run('sh', '-c', f'{box.kin} record -o - ./prog spin 50 | cat >piped.kin')
    tap.ok('-> standard output;' in p.err and os.path.getsize(os.path.join(box.folder, 'piped.kin')) > 1000,
           '-o -: the recording is on standard output, of a size that is not known', p.err)
    box.remove('all.kin')
    box.remove('storm.kin')
    n = 1000
    tap.ok(*seen(box, f'{n} threads', f'{n + 1} threads', 50, '-o', 'threads.kin', './prog', 'threads', str(n)))
    p = box.record('-o', 'daemon.kin', './prog', 'daemon')
    tap.ok(share(box.graph('daemon.kin'), 'daemon_work') > 50, 'a daemon, after its parent has gone', p.err)
    p = box.run('sh', '-c', f'trap "" XFSZ; ulimit -f 16; exec {box.kin} record -F 999 -o small.kin ./prog spin 4000')
    tap.ok(p.returncode == 0 and 'recording no more' in p.err and 'is in no file' in p.err,
           'a file that cannot grow: the program goes on, and the summary says that there is less', p.err)
    said = re.search(r'(\d+) of (\d+) samples in', p.err)
    has = re.search(r'"samples":(\d+)', box.run(box.kin, 'report', '-g', 'none', '--format=json', 'small.kin').out)
    tap.ok(bool(said and has) and int(said[1]) == int(has[1]) < int(said[2]), '... how many it has, and of how many', f'{p.err}\n{has}')
    tap.ok(*seen(box, 'a chain of ten execs', '', 70, '-o', 'chain.kin', './prog', 'chain', '10', status=9))
    # The thread that calls exec takes over the number of the first thread, which is gone.
    p = box.record('--wall', '-o', 'became.kin', './prog', 'thread_executes')
    tap.ok(p.returncode == 0 and '1 process, 2 threads' in p.err, 'exec in a second thread: it is one process', p.err)
    page = box.run(box.kin, 'report', '--all-rows', 'became.kin').out
    tap.ok(re.findall(r'(\S+) +prog +before_exec$', page, re.M)[:1] == ['prog'], '... what it ran before is of the program of before', page)
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'comm,parallelism', '--format=json', 'became.kin').out)
    ran = {(r['comm'], r['parallelism']) for r in found if r['self'] > 0.02}
    tap.ok(ran == {('prog', '1'), ('fast', '1')}, '... and it is one thread', ran)
    p = box.record('-o', 'first.kin', './fast', 'first_ends')
    tap.ok(sampled(p.err)[1] > 90, 'the first thread has ended: stacks are read by another', p.err)
    target = box.popen('./fast', 'first_ends')
    time.sleep(0.1)
    p = box.record('--wall', '-o', 'first.kin', '-p', str(target.pid))
    target.wait()
    blocked = re.search(r'blocked ([\d.]+) s', p.err)
    tap.ok(share(box.graph('first.kin'), 'on_large_stack') > 90, '... of a process that runs already, too', p.err)
    tap.ok(bool(blocked) and float(blocked[1]) < .2, '... and what has ended is not blocked', p.err)
    # While the kernel starts a program, the old program, which called exec, is the caller; afterwards stacks begin in the
    # new program. kin itself, which starts the first one, is not recorded.
    p = box.record('-o', 'execs.kin', '-F', '20000', 'sh', '-c', 'for i in $(seq 500); do ./prog exit 0; done')
    entered = re.findall(r'((?: \S+ \(\[kernel.kallsyms\]\)\n\s+\w+)+) (\S+) ', box.run(box.kin, 'script', '-F', '+ip,sym,dso', 'execs.kin').out)
    entered = [(kernel, user.split('+')[0]) for kernel, user in entered if ' entry_SYSCALL' in kernel]
    callers = {user for kernel, user in entered if re.search(r' (?:__x64_sys|__do_sys|do)_execve', kernel)}
    tap.ok('execve' in callers and callers <= {'execve', '_start', '[cut]'} and all(user != '[unknown]' for kernel, user in entered),
           'the caller of exec is known', f'{p.err}\n{callers}\n{sorted({user for kernel, user in entered})}')
    by_kin = sum(user == '[cut]' for kernel, user in entered if re.search(r' (?:__x64_sys|__do_sys|do)_execve', kernel))
    tap.ok(by_kin < .1 * len(entered), '... but that of the first, which is not recorded', f'{by_kin} of {len(entered)}')
    tap.ok(*seen(box, '-r 3: three runs in one file', '3 processes', 70, '-o', 'runs.kin', '-r', '3', './prog', 'spin', '50'))
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'run', '--format=json', 'runs.kin').out)
    tap.ok(sorted(str(r['run']) for r in found) == ['1', '2', '3'] and all(r['self'] > .05 for r in found), 'kin report -s run: one row each',
           str(found))
    text = box.run(box.kin, 'flat', '--by', 'run', 'runs.kin').out
    tap.ok(sorted(set(re.findall(r'^run \d+', text, re.M))) == ['run 1', 'run 2', 'run 3'], 'kin flat --by run: a section each', text)
    box.record('-o', 'slower.kin', '-r', '3', './prog', 'spin', '150')
    p = box.run(box.kin, 'diff', '--inclusive', '--format=json', '--fail-above=5', 'runs.kin', 'slower.kin')
    main = [r for r in rows(p.out) if r['name'] == 'main']
    tap.ok(p.returncode == 1 and 'has grown by' in p.err and len(main) == 1 and .07 < main[0]['change'] < .13 and
           .03 < main[0]['before'] < .08, 'kin diff: the mean of three runs each', p.out[-2000:] + p.err)
    # Also of runs that happened to have equally many samples.
    tap.ok(len(main) == 1 and main[0]['chance'] > .001, 'whose chance is that of sampling, at least', p.out[-2000:])
    p = box.run(box.kin, 'diff', 'runs.kin', 'slower.kin')
    tap.ok(re.search(r'after: \+[\d.]+ % \([+-]', p.out) and 'not recorded in turns' in p.out, 'and of the total an interval', p.out)
    box.record('-o', 'single.kin', './prog', 'spin', '50')
    p = box.run(box.kin, 'diff', 'single.kin', 'slower.kin')
    tap.ok('the total has no interval' in p.out and 'only shows in repetitions' in p.out, 'which one run does not have', p.out)


def test_attach(tap, box):
    target = box.popen('./prog', 'workers', '32', stdin=subprocess.PIPE)
    target.stdout.readline()
    p = box.record('-o', 'attach.kin', '-p', str(target.pid), '--duration', '300ms')
    target.communicate('\n', timeout=LIMIT)
    tap.ok(p.returncode == 0 and share(box.graph('attach.kin'), 'works') > 90, 'threads of a running process', p.err)
    tap.ok(target.returncode == 0, 'which goes on undisturbed', target.returncode)
    target = box.popen('./prog', 'workers', '1', stdin=subprocess.PIPE)
    p = box.popen(box.kin, 'record', '-o', 'end.kin', '-p', str(target.pid))
    box.wait_for('end.kin')
    target.communicate('\n')
    _, err = p.communicate(timeout=LIMIT)
    tap.ok(p.returncode == 0, 'recorded until it ends', err)
    target = box.popen('./prog', 'spin', '60000')
    p = box.popen(box.kin, 'record', '-o', 'int2.kin', '-p', str(target.pid))
    box.wait_for('int2.kin')
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=LIMIT)
    tap.ok(p.returncode == 0 and target.poll() is None, 'or until an interrupt', err)
    chain = box.popen('./fast', 'chain', '400')
    p = box.record('-g', 'fp', '-o', 'both.kin', '-p', str(chain.pid), '--duration', '1s')
    chain.kill()
    chain.communicate()
    ends = re.findall(r'ended in (.*)', p.err)
    tap.ok(any(e.endswith('/fast') for e in ends) and len(ends) == len(set(ends)),
           'stacks that ended in a file, mapped before it was attached to or after, are counted in one line', p.err)
    pid = str(target.pid)
    p = box.record('-o', 'twice.kin', '-p', f'{pid},{pid}', '-t', pid, '--duration', '500ms')
    used = re.search(r'in ([\d.]+) s .*CPU time ([\d.]+) s', p.err, re.DOTALL)
    tap.ok(used and float(used[2]) < 1.2 * float(used[1]), 'a thread that is named more than once is sampled once', p.err)
    script = f'"$0" record -q -o int3.kin -p {target.pid} & while [ ! -e int3.kin ]; do sleep 0.1; done; kill -INT $!; wait $!'
    p = box.popen('sh', '-c', script, box.kin)
    try:
        _, err = p.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        err = 'it went on'
    tap.ok(p.returncode == 0 and target.poll() is None, 'also in the background of a script, where they are ignored',
           err)
    target.kill()
    target.communicate()
    p = box.record('-p', '999999999')
    tap.ok(p.returncode not in (0, -6, -11) and 'No such process' in p.err, 'a process that there is not', p.err)


def test_churn(tap, box):
    """A process whose threads come and go all the time is one process."""
    target = box.popen('./prog', 'churn')
    target.stdout.readline()
    said = []
    for _ in range(12):
        p = box.record('-o', 'churn.kin', '-p', str(target.pid), '--duration', '100ms')
        said += re.findall(r'\d+ process(?:es)?', p.err)
    target.kill()
    target.communicate()
    tap.ok(said == ['1 process'] * 12, 'threads that come and go are no processes', said)


PHASES = """#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long s;
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
#define PHASE(f) __attribute__((noinline)) void f(void) { double end = cpu() + .0006; while (cpu() < end) for (int i = 0; i < 300; i++) s++; s++; }
PHASE(first) PHASE(second) PHASE(third)
static void *task(void *arg) { first(); second(); third(); return arg; }
static void in_process(void) { pid_t p = fork(); if (!p) { task(0); _exit(0); } waitpid(p, 0, 0); }
static void in_thread(void) { pthread_t t; pthread_create(&t, 0, task, 0); pthread_join(t, 0); }
static void in_burst(int n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	for (int i = 0; i < n; i++) pthread_create(&t[i], 0, task, 0);
	for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}
int main(int n, char **v)
{
	for (int i = 0; n == 2 && i < 400; i++) *v[1] == 'p' ? in_process() : in_thread();
	if (n > 2) in_burst(atoi(v[2]));
	return 0;
}
"""


def test_short_tasks(tap, box):
    """Threads and processes of three phases that take a third of their time each, all less than two periods."""
    with open(os.path.join(box.folder, 'phases.c'), 'w') as f:
        f.write(PHASES)
    box.run('gcc', '-O2', '-g', '-o', 'phases', 'phases.c', '-lpthread')
    if box.record('-a', '-o', 'all.kin', '--', 'true').returncode:
        tap.skip('short tasks', 'the clocks of CPUs')
        return
    for words in (['threads'], ['processes'], ['burst', '600']):
        p = box.record('-o', 'phases.kin', './phases', *words)
        graph, n = box.graph('phases.kin'), box.samples('phases.kin')
        parts = [share(graph, name) / 100 for name in ('first', 'second', 'third')]
        whole = sum(parts)
        tap.ok(whole > .5 and all(abs(part / whole - 1 / 3) < deviation(1 / 3, n * whole) for part in parts),
               f'{words[0]} shorter than two periods: each of their phases has its share', f'{parts} of {n}\n{p.err}')
        off = deviation(.5, n)
        tap.ok(abs(sampled(p.err)[0] / 100 - 1) < max(off, .05) and 'LOST' not in p.err,
               'and samples stand for their CPU time', p.err)


def test_too_fast(tap, box):
    """A rate of which the kernel's work for a sample takes longer than a period."""
    p = box.record('-F', 'max', '-o', 'fast.kin', './fast', 'foobar', '150')
    tap.ok(p.returncode == 0 and box.samples('fast.kin') > 0, '-F max: the program makes progress', p.err)


def test_killed(tap, box):
    target = box.popen('./prog', 'foobar', '600000')
    for _ in range(3):
        box.remove('killed.kin')
        p = box.popen(box.kin, 'record', '-o', 'killed.kin', '-p', str(target.pid))
        box.wait_for('killed.kin')
        time.sleep(6)
        p.kill()
        p.communicate()
        seconds = [float(r[2].split()[0]) for r in box.info('killed.kin') if r[1] == 'duration']
        if seconds and seconds[0] >= 5:
            break  # else the machine was too busy to let it write
    tap.ok(target.poll() is None, 'kill -9 of the recorder: the program goes on')
    target.kill()
    target.communicate()
    ahead = [r for r in box.info('killed.kin') if r[0] == 'audit' and float((re.findall(r'([\d.]+) %', r[3] or '') or [0])[0]) > 100]
    tap.ok(not ahead, 'and nothing is more than the whole', ahead)
    tap.ok(seconds and seconds[0] >= 5, 'after 6 s at least 5 s are in the file', seconds)
    p = box.run(box.kin, 'graph', 'killed.kin')
    tap.ok(share(p.out, 'bar') > 97 and p.returncode == 0 and 'was not ended' in p.err,
           'a report of what there is, which says that it was not ended', p.out + p.err)


def test_audit(tap, box):
    """The recorder's last lines have the same figures as the file."""
    p = box.record('-v', '-o', 'audit.kin', './fast', 'spin', '500')
    facts = {r[1]: float(str(r[2]).split()[0]) for r in box.info('audit.kin') if r[0] == 'audit'}
    said = {name: re.search(pattern, p.err) for name, pattern in (
        ('CPU time by the kernel', r'CPU time ([\d.]+) s'), ('CPU time sampled', r'sampled ([\d.]+) s'),
        ('preemptions', r'preempted (\d+) times'))}
    wrong = [n for n, m in said.items() if m and abs(float(m[1]) - facts.get(n, -1)) > 0.0011]
    tap.ok(facts.get('CPU time by the kernel', 0) > 0.49 and said['CPU time sampled'] and not wrong,
           'the audit is in the file', f'{wrong} {facts} {p.err}')
    own = next(int(r[2]) for r in box.info('audit.kin') if r[:2] == ['program', 'functions'])
    tap.ok(0 < own < 100, "functions of the program are not those of its libraries", own)
    samples = [r[2] for r in box.info('audit.kin') if r[0] == 'samples' and 'clock' in r[1] or r[1] == 'cycles']
    ends = sum(facts.get(f'stacks {end}', 0) for end in ('complete', 'guessed', 'cut short'))
    tap.ok(samples and samples[0] == ends, 'every stack is complete, guessed or cut', f'{samples} {facts}')
    if os.path.exists(os.path.join(box.folder, 'killed.kin')):
        p = box.run(box.kin, 'info', '--strict', 'killed.kin')
        tap.ok(p.returncode == 1 and 'was not ended' in p.err, 'kin info --strict doubts what was not ended', p.err)


def test_wall(tap, box):
    def sleeps():
        p = box.record('--wall', '-o', 'wall.kin', './prog', 'sleeper')
        found = re.search(r'blocked ([\d.]+) s', p.err)
        return found and 0.29 < float(found[1]) < 0.9, p.err
    passed, said = best(sleeps)
    tap.ok(passed, '--wall: 0.3 s of sleep are 0.3 s', said)
    counted = re.search(r'; (\d+) switch(?:es)?, of them (\d+) preemptions?', said)
    facts = {r[1]: r[2] for r in box.info('wall.kin') if r[0] == 'audit'}
    tap.ok(counted and [float(n) for n in counted.groups()] == [facts.get(n, 0) for n in ('context switches', 'preemptions')],
           'switches are counted, each once', f'{said} {facts}')
    for events in ('task-clock,context-switches', '{task-clock,context-switches}', 'cs'):
        box.record('--wall', '-e', events, '-o', 'both.kin', './prog', 'sleeper')
        rows = csv.DictReader(box.run(box.kin, 'flat', '--event=blocked', '--format=csv', 'both.kin').out.splitlines())
        slept = {r['name']: float(r['inclusive']) for r in rows}
        tap.ok(slept.get('nap', 0) > 0.29 and slept.get('spin', 0) < 0.1,
               f'-e {events}: what sleeps is who slept, not who ran before', slept)
    target = box.popen('./prog', 'waiting')
    target.stdout.readline()
    p = box.record('--wall', '-o', 'waits.kin', '-p', str(target.pid), '--duration', '300ms')
    target.kill()
    target.communicate()
    text = box.run(box.kin, 'script', 'waits.kin').out
    tap.ok('waits_for_ever+' in text and 'waiting+' in text and text.count('pause+') == 2,
           '--wall -p: threads that only wait have the place where they do', f'{text} {p.err}')

    def flood_of_switches():
        """However often threads switch, they run, sleep or wait at each time. Of a switch itself, some 0.7 µs count twice:
        the kernel's clock of CPU time runs on, and the thread is asleep already."""
        r = box.record('--wall', '-o', 'pingpong.kin', './fast', 'pingpong', '150000')
        facts = {x[1]: x[2] for x in box.info('pingpong.kin') if x[0] == 'audit'}
        lived = 2 * float(str(facts['duration']).split()[0])
        cpu, sampled = (float(x) for x in re.search(r'CPU time ([\d.]+) s, sampled ([\d.]+) s', r.err).groups())
        said = re.search(r'blocked ([\d.]+) s, waiting for a CPU ([\d.]+) s; (\d+) switches', r.err)
        apart = sum(float(x) for x in said.groups()[:2])
        lost = re.search(r'LOST (\d+)', r.err)
        kept = not lost or int(lost[1]) < 0.1 * int(said[3])
        return kept and sampled > 0.6 * cpu and 0.5 * lived < cpu + apart < 1.25 * lived, f'{lived}\n{r.err}'
    passed, said = best(flood_of_switches)
    tap.ok(passed, '--wall of threads that switch all the time: their lives, and hardly anything is lost', said)
    test_parallelism(tap, box)


def record_pair(box):
    """Shares of (symbol, threads that ran), of two threads that have work at once."""
    box.record('--wall', '-o', 'pair.kin', './prog', 'pair')
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'sym,parallelism', '--format=json', 'pair.kin').out)
    self_of = collections.Counter()
    for r in found:
        self_of[r['symbol'], int(r['parallelism'])] += r['self']
    return self_of


def test_parallelism(tap, box):
    """Where other programs are busy two threads may run one after the other."""
    for attempt in range(10):
        self_of = record_pair(box)
        if self_of['loop', 2] > .3:
            break
    ran = {n for _, n in self_of}
    tap.ok(ran <= {1, 2} and self_of['loop', 1] > 0, 'no more threads ran at a time than there were', f'{self_of}')
    if self_of['loop', 2] <= .3:
        why = ('one CPU' if len(os.sched_getaffinity(0)) < 2 else
               'NOT TESTED: the machine is too busy: in ten tries it hardly ran both threads at once')
        tap.skip('how many threads ran at a time', why)
        return
    tap.ok(True, 'how many threads ran at a time')
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'sym', '--latency', '--format=json', 'pair.kin').out)
    wall = {r['symbol']: r['latency_children'] for r in found}
    cpu = {r['symbol']: r['children'] for r in found}
    tap.ok(wall['alone'] > cpu['alone'] > 0 and wall['together'] < cpu['together'], '--latency: what ran beside others took a smaller share of the time',
           f'{wall} {cpu}')


def test_jit(tap, box):
    p = box.record('-o', 'jit.kin', './prog', 'jit')
    if not p.out.strip():
        tap.skip('names of code made at run time', 'not on this machine')
        return
    os.remove(p.out.strip())
    graph = box.graph('jit.kin')
    tap.ok(share(graph, 'made_at_run_time') > 50, 'code made at run time has its name, written after it ran',
           p.err + graph)
    tap.ok(share(graph, 'main') > 90, 'and its callers', graph)


def test_in_memory(tap, box):
    """A program that runs from memory has no file to be read later."""
    script = ('import os, sys; fd = os.memfd_create("hidden"); os.write(fd, open("./prog", "rb").read()); '
              'os.execve(fd, ["prog", "spin", "300"], os.environ)')
    p = box.record('-o', 'hidden.kin', sys.executable, '-c', script)
    graph = box.graph('hidden.kin')
    tap.ok(share(graph, 'spin') > 60 and share(graph, '_start') > 60, 'a program in memory has its names, and its callers', p.err + graph)


def test_vdso(tap, box):
    p = box.record('-o', 'clock.kin', './fast', 'clock', '300')
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'dso,sym', '--format=json', 'clock.kin').out)
    inside = [r for r in found if (r['dso'] or '').startswith('[vdso')]
    if sum(r['self'] for r in inside) < 0.2:
        tap.skip('names of the vdso', 'NOT TESTED: clocks are not read there on this machine')
        return
    # Functions that clock_gettime() calls have no names in some kernels.
    named = sum(r['children'] for r in inside if 'gettime' in r['symbol'])
    tap.ok(named > 0.9 * sum(r['self'] for r in inside), 'the vdso has its names', p.err + str(found))
    box.run(box.kin, 'run', '-q', '-o', 'clock.kin', './fast', 'clock', '300')
    found = rows(box.run(box.kin, 'report', '-g', 'none', '-s', 'dso', '--format=json', 'clock.kin').out)
    tap.ok('[vdso]' in [r['dso'] for r in found], '... and the same name itself under kin run', found)


def test_files(tap, box):
    box.record('-o', 'mode.kin', './prog', 'exit', '0')
    mode = os.stat(os.path.join(box.folder, 'mode.kin')).st_mode & 0o777
    tap.ok(mode == 0o600, 'recordings are their owner\'s alone', oct(mode))
    precious = os.path.join(box.folder, 'precious')
    with open(precious, 'w') as f:
        f.write('text')
    for option in ('-o', '--perf-data'):
        p = box.record(option, 'precious', './prog', 'exit', '5')
        with open(precious) as f:
            text = f.read()
        tap.ok(p.returncode == 5 and text == 'text' and 'precious' in p.err,
               f'{option}: nothing else is overwritten, and the program runs', p.err)
    p = box.record('-o', 'no/such/folder.kin', './prog', 'exit', '6')
    tap.ok(p.returncode == 6 and p.err.count('\n') == 1, 'no place for the file: one line, and the program runs', p.err)
    p = box.run('sh', '-c', f'ulimit -f 1; exec {box.kin} record -o small.kin ./prog exit 4')
    tap.ok(p.returncode == 4, 'no space for the file: the program runs', f'{p.returncode} {p.err}')
    p = box.run('sh', '-c', f'exec {box.kin} record -o closed.kin ./prog exit 8 <&- >&- 2>&-')
    tap.ok(p.returncode == 8, 'closed standard files', p.returncode)


def test_unprivileged(tap, box):
    if os.geteuid():
        tap.skip('another user', 'not root: all of the above was')
        return
    if not box.opens_to(NOBODY):
        tap.skip('another user', f'NOT TESTED: nobody else may run {box.kin}')
        return
    folder = os.path.join(box.folder, 'theirs')
    os.mkdir(folder)
    os.chown(folder, NOBODY, NOBODY)
    p = box.record('../prog', 'foobar', '100', cwd=folder, user=NOBODY)
    if 'does not let' in p.err:
        tap.skip('another user', 'kernel.perf_event_paranoid')
        return
    graph = box.graph('theirs/profile.kin')
    tap.ok(share(graph, 'bar') > 97, 'unprivileged: bar is on the stack all the time', p.err + graph)
    tap.ok('user mode alone' in p.err and 'LOST' not in p.err, 'unprivileged: user mode, and it is said', p.err)
    test_placeless(tap, box, folder)
    p = box.record('-o', 'x.kin', '--all-kernel', '../prog', 'exit', '3', cwd=folder, user=NOBODY)
    tap.ok(p.returncode == 3 and ('-> x.kin' in p.err and 'from inside' not in p.err or
                                  "kernel's functions take root" in p.err and 'without --all-kernel' in p.err),
           'unprivileged: --all-kernel takes more, and what is measured instead is said', p.err)
    p = box.record('-o', 'x.kin', '-e', 'task-clock:k', '../prog', 'exit', '3', cwd=folder, user=NOBODY)
    tap.ok(p.returncode == 3 and ('-> x.kin' in p.err and 'from inside' not in p.err or
                                  "kernel's functions take root" in p.err and 'without -e' in p.err),
           'unprivileged: so does an event of the kernel alone', p.err)
    p = box.record('-o', 'x.kin', '-p', '1', cwd=folder, user=NOBODY)
    tap.ok(p.returncode == 125 and 'it takes root' in p.err, 'somebody else\'s process: said in one line', p.err)
    p = box.record('-a', cwd=folder, user=NOBODY)
    tap.ok(p.returncode == 125 and 'sysctl' in p.err, '-a: what to do', p.err)


def test_placeless(tap, box, folder):
    """Without a sample (at one a second) no place can stand for where it blocked."""
    p = box.record('--wall', '-F', '1', '-o', 'asleep.kin', 'sleep', '0.3', cwd=folder, user=NOBODY)
    strict = box.run(box.kin, 'info', '--strict', 'theirs/asleep.kin')
    tap.ok(strict.returncode == 1 and re.search(r"% of the time 'blocked.*has no place", strict.err),
           'unprivileged --wall: time without a place is a doubt', p.err + strict.err)
    text = box.run(box.kin, 'graph', '--event', 'blocked (place estimated)', 'theirs/asleep.kin').out
    tap.ok('has no place' in text, 'and the call graph of that event says it', text)


def test_refused(tap, box):
    p = box.run('./prog', 'refused', box.kin, 'record', '-o', 'inside.kin', './prog', 'exit', '5')
    if p.returncode == 98:
        tap.skip('perf_event_open refused', 'no seccomp here')
        return
    tap.ok('does not let this user sample' in p.err and 'seccomp' in p.err, 'no permission: why, and what to do', p.err)
    tap.ok(p.returncode == 5 and 'from inside' in p.err and '-> inside.kin' in p.err,
           'then measured from inside, and it is said where that is', f'{p.returncode} {p.err}')
    p = box.run('./prog', 'refused', box.kin, 'compare', '-r', '2', '--warmup=0', './prog', 'exit', '0', '--', './prog', 'exit', '0')
    tap.ok(p.err.count('does not let this user sample') == 1 and p.err.count('from inside') == 1, 'kin compare: said once, not for each run', p.err)
    p = box.run('./prog', 'refused', box.kin, 'record', '-p', '1')
    tap.ok(p.returncode == 125, 'a running process: status 125', f'{p.returncode} {p.err}')


def test_sanitized(tap, box):
    """gcc's AddressSanitizer wants to be the first library."""
    with open(os.path.join(box.folder, 'asan.c'), 'w') as f:
        f.write('__attribute__((noinline)) static int f(int x) { volatile char a[4] = {0}; return a[x & 3] + x; }\n'
                'int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += f(i); return s == 1; }\n')
    built = subprocess.run(['gcc', '-fsanitize=address', '-g', '-pg', '-o', 'asan', 'asan.c'], cwd=box.folder, stderr=subprocess.DEVNULL)
    if built.returncode or box.run('./asan').returncode:
        tap.skip('kin run: a program with AddressSanitizer', 'gcc has none here')
        return
    p = box.run(box.kin, 'run', '-q', '-o', 'asan.kin', './asan')
    rows = {r['name']: r['calls'] for r in csv.DictReader(box.run(box.kin, 'flat', '-f', 'csv', 'asan.kin').out.splitlines())}
    tap.ok(p.returncode == 0 and rows.get('f') == '1000', 'kin run: a program with AddressSanitizer', f'{p.err} {rows}')
    p = box.run(box.kin, 'run', '-o', '-', './asan')
    tap.ok(p.returncode == 2 and './-' in p.err and not os.path.exists(os.path.join(box.folder, '-')), 'kin run -o - is refused', p.err)


def test_folder(tap, box):
    """-o DIRECTORY/ is the same file for all that write one."""
    for way in (['record'], ['run']):
        p = box.run(box.kin, *way, '-q', '-o', f'{way[0]}s/new/', './prog', 'foobar', '100')
        tap.ok(share(box.graph(f'{way[0]}s/new/profile.kin'), 'bar') > 97, f'kin {way[0]} -o DIRECTORY/', p.err)
    p = box.run(box.kin, 'run', '-o', 'runs', './prog', 'exit', '5')
    tap.ok(p.returncode == 5 and 'is a directory: -o runs/' in p.err, 'kin run -o DIRECTORY: it says how to write in it', p.err)


def test_inside(tap, box):
    """Without permission it is as with it: one recording, in the file that was named."""
    def inside(*words):
        return box.run('./prog', 'refused', box.kin, 'record', *words)

    def files(stem):
        return sorted(f for f in os.listdir(box.folder) if f.startswith(stem))
    if box.run('./prog', 'refused', '/bin/true').returncode == 98:
        tap.skip('recordings from inside', 'no seccomp here')
        return
    inside('-o', 'again.kin', './fast', 'spin', '100')
    p = inside('-o', 'again.kin', './prog', 'foobar', '200')
    tap.ok(p.returncode == 0 and files('again') == ['again.kin'] and share(box.graph('again.kin'), 'bar') > 97,
           'from inside: an older recording is replaced', f'{files("again")} {p.err}')
    def trusted():
        p = inside('-o', 'again.kin', './prog', 'foobar', '200')
        return min(sampled(p.err)) > 80 and '-> again.kin' in p.err, p.err
    passed, said = best(trusted)
    tap.ok(passed, 'from inside: the last lines say how far to trust it', said)
    p = inside('-o', 'again.kin', './nothing-here')
    tap.ok(p.returncode == 127 and share(box.graph('again.kin'), 'bar') > 97, 'from inside: what never ran replaces nothing', p.err)
    inside('-r', '3', '-o', 'runs.kin', './prog', 'foobar', '100')
    rows = csv.DictReader(box.run(box.kin, 'report', '-s', 'run', '-g', 'none', '-f', 'csv', '-i', 'runs.kin').out.splitlines())
    tap.ok(sorted(r['run'] for r in rows) == ['1', '2', '3'], 'from inside: runs of -r are told apart', box.run(box.kin, 'info', 'runs.kin').out[:2000])
    with open(os.path.join(box.folder, 'seldom.c'), 'w') as f:
        f.write('#include <time.h>\n#include <unistd.h>\n__attribute__((noinline)) void seldom(void) { __asm__ volatile(""); }\n'
                'int main(void) { while (clock() < 30000); if (!unlink("first")) seldom(); return 0; }\n')
    subprocess.run(['gcc', '-pg', '-O1', '-o', 'seldom', 'seldom.c'], cwd=box.folder, check=True)
    for name in ('one.kin', 'other.kin'):
        open(os.path.join(box.folder, 'first'), 'w').close()
        inside('-q', '-r', '3', '-o', name, './seldom')
    p = box.run(box.kin, 'check', 'one.kin', 'other.kin', '--time=off')
    tap.ok(p.returncode == 0 and 'calls of 2 functions checked' in p.out,
           'kin check: what one of the runs in a recording calls has not grown in another such', f'{p.returncode} {p.out} {p.err}')
    def joined():
        p = inside('-o', 'many.kin', 'sh', '-c', './prog foobar 200 & ./fast spin 200 & wait')
        names = box.flat('many.kin')
        seen = {'bar', 'spin'} <= set(names)
        return seen and (p.returncode, files('many'), '3 processes' in p.err) == (0, ['many.kin'], True), f'{files("many")} {names} {p.err}'
    passed, said = best(joined)  # the kernel's tick seldom meets a program that reads its clock all the time while others wait for the processor
    tap.ok(passed, 'from inside: processes that it starts are in the same file', said)
    p = inside('-o', 'chain.kin', './prog', 'chain', '3')
    tap.ok(p.returncode == 9 and files('chain') == ['chain.kin'] and '1 process, 1 thread' in p.err,
           'from inside: a process that executes other programs is one', f'{p.returncode} {files("chain")} {p.err}')
    p = inside('-q', '-r', '3', '-o', '100%p.kin', './prog', 'foobar', '50')
    pids = {r[3].split(',')[0] for r in box.info('100%p.kin') if r[0] == 'thread'}
    tap.ok(p.returncode == 0 and files('100') == ['100%p.kin'] and len(pids) == 3, 'from inside: -r, and a name as it is',
           f'{files("100")} {pids} {p.err}')
    p = box.run('sh', '-c', f'./prog refused {box.kin} record -o - sh -c "./prog foobar 200; exit 5" >piped.kin; echo $?')
    tap.ok(p.out == '5\n' and share(box.graph('piped.kin'), 'bar') > 97 and '-> standard output' in p.err and not files('-'),
           'from inside: -o - is a recording on standard output', f'{p.out} {p.err}')
    p = inside('-o', 'lacks.kin', '--wall', '--perf-data', 'x.data', './prog', 'exit', '6')
    tap.ok(p.returncode == 6 and 'without --wall' in p.err, 'from inside: what cannot be known is said', p.err)
    with open(os.path.join(box.folder, 'text'), 'w') as f:
        f.write('text')
    p = inside('-o', 'text', './prog', 'exit', '7')
    tap.ok(p.returncode == 7 and 'not a profile' in p.err, 'from inside: nothing else is overwritten, and the program runs', p.err)
    p = box.run('./prog', 'untimed', box.kin, 'record', '-o', 'untimed.kin', './prog', 'foobar', '50')
    tap.ok(p.returncode == 0 and 'recorded: timer for sampling' in p.err and 'too little' not in p.err,
           'from inside: why there are no samples', p.err)
    p = box.run('./prog', 'untimed', box.kin, 'run', '-o', 'untimed.kin', './prog', 'foobar', '50')
    tap.ok(p.returncode == 0 and 'untimed.kin: while it was recorded: timer for sampling' in p.err, 'kin run says it, too', p.err)
    p = inside('-o', '/nowhere/at/all.kin', './prog', 'foobar', '20')
    tap.ok(p.returncode == 0 and 'there is no recording: cannot write' in p.err, 'from inside: no place for the file', p.err)
    source = os.path.join(box.folder, 'seven.c')
    with open(source, 'w') as f:
        f.write('int main(void) { return 7; }')
    if subprocess.run(['gcc', '-static', '-o', os.path.join(box.folder, 'seven'), source], stderr=subprocess.DEVNULL).returncode:
        tap.skip('from inside: a static program', 'no static libc')
        return
    p = inside('-o', 'seven.kin', './seven')
    tap.ok(p.returncode == 7 and 'linked statically' in p.err and 'or use kin record' not in p.err,
           'from inside: a static program runs, and it is said that nothing is measured', f'{p.returncode} {p.err}')
    for way, p in ('kin record', inside('-o', 'again.kin', './seven')), ('kin run', box.run(box.kin, 'run', '-o', 'many.kin', './seven')):
        name = 'again.kin' if way == 'kin record' else 'many.kin'
        tap.ok(p.returncode == 7 and f'the older {name} is removed' in p.err and not files(name),
               f'{way}: where nothing is measured, no older recording passes for the new one', f'{files(name)} {p.err}')


def test_counts(tap, box):
    """kin run says whether calls were counted."""
    source = os.path.join(HERE, 'programs.c')
    subprocess.run(['gcc', '-pg', '-O0', '-o', os.path.join(box.folder, 'prog.pg'), source, '-lpthread'], check=True)
    for program, more, counted in (('./prog', [], False), ('./prog.pg', [], True), ('./prog', ['--no-calls'], True)):
        p = box.run(box.kin, 'run', *more, '-o', 'counts.kin', program, 'foobar', '50')
        tap.ok(('no calls were counted' in p.err) != counted and 'counts.kin' in p.err,
               f'kin run {" ".join(more)} {program}: it says {"nothing" if counted else "that no calls were counted"}', p.err)


def test_idle(tap, box):
    """Where a program uses hardly any CPU time, kin run and the reports say that this is why there is nothing."""
    p = box.run(box.kin, 'run', '-o', 'idle.kin', 'sleep', '0')
    tap.ok('no samples were taken' in p.err and 'too little CPU time' in p.err and 'no calls were counted' in p.err, 'kin run of a program that only waits', p.err)
    for report in 'flat', 'graph', 'report':
        p = box.run(box.kin, report, 'idle.kin')
        tap.ok('used little CPU time' in p.out and '--wall' in p.out, f'kin {report} of its recording', p.out)
    box.record('-o', 'part.kin', './prog', 'foobar', '100')
    p = box.run(box.kin, 'flat', '--object=libc.so.6', 'part.kin')
    tap.ok('used little' not in p.out + p.err, 'not of a part of one that has samples', p.out + p.err)


def test_two(tap, box):
    """Two recordings into one file at a time: one of them says that it cannot."""
    ways = {'kin record': [box.kin, 'record'], 'kin run': [box.kin, 'run']}
    for first in ways:
        for second in ways:
            box.remove('two.kin')
            a = box.popen(*ways[first], '-o', 'two.kin', 'sh', '-c', 'echo; read line; exec ./prog foobar 100', stdin=subprocess.PIPE)
            a.stdout.readline()
            box.wait_for('two.kin')
            b = box.run(*ways[second], '-o', 'two.kin', './fast', 'exit', '3')
            a.communicate('\n', timeout=LIMIT)
            others = [f for f in os.listdir(box.folder) if re.match(r'two\..*(kin|old|tmp)', f)]
            graph = ''.join(box.graph(f) for f in others)
            tap.ok(b.returncode == 3 and 'is being written by' in b.err and share(graph, 'bar') > 97,
                   f'{second} into the file of a {first} that goes on: it says so, and nothing is lost', f'{b.err} {others} {graph}')
            for f in others:
                box.remove(f)


def test_parent(tap, box):
    """Signals that end the program, but not the recorder: the program ends as without the recorder, for each."""
    def alarm(seconds=0.3):
        heed_signals()
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def blocked():
        heed_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        os.kill(os.getpid(), signal.SIGALRM)
    pending = ['python3', '-c', 'import signal; print(signal.SIGALRM in signal.sigpending())']
    ways = ([box.kin, 'record', '-q'], [box.kin, 'run', '-q'], ['./prog', 'refused', box.kin, 'record', '-q'])
    for way in ways:
        name = ' '.join(way[-2:]) + (' from inside' if 'refused' in way else '')
        p = box.run(*way, './prog', 'spin', '20000', preexec_fn=alarm)
        tap.ok(p.returncode == -signal.SIGALRM, f'{name}: an alarm that was set before ends the program', f'{p.returncode} {p.err}')
        p = box.run(*way, *pending, preexec_fn=blocked)
        tap.ok(p.out == 'True\n' and p.returncode == 0, f'{name}: a signal that waits goes on to the program', f'{p.returncode} {p.out} {p.err}')
        script = f'ulimit -n 5; exec {" ".join(way)} ./prog exit 4'
        p = box.run('bash', '-c', script)
        tap.ok(p.returncode == 4 and 'Too many open files' in p.err, f'{name}: the program runs though there is no descriptor left',
               f'{p.returncode} {p.err}')
    box.record('-q', '-o', 'old.kin', './prog', 'exit', '0')
    p = box.run('bash', '-c', f'ulimit -n 5; exec {box.kin} record -o old.kin ./prog exit 4')
    tap.ok('older old.kin is removed' in p.err and not os.path.exists(os.path.join(box.folder, 'old.kin')),
           'no older recording stands for one that was not made', p.err)
    for number in (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGPWR, signal.SIGRTMIN + 3):
        p = box.popen(box.kin, 'record', '-q', 'sh', '-c', 'echo; exec ./prog spin 20000')
        p.stdout.readline()
        p.send_signal(number)
        p.communicate(timeout=LIMIT)
        tap.ok(p.returncode == -number, f'signal {int(number)} to the recorder ends the program, too', p.returncode)
    p = box.popen(box.kin, 'record', './prog', 'spin', '300', stderr=subprocess.PIPE)
    p.stderr.close()
    p.stderr = None
    p.communicate(timeout=LIMIT)
    tap.ok(p.returncode == 0, 'nobody reads the last lines: the status is the program\'s', p.returncode)
    target = box.popen('./prog', 'spin', '60000')
    for seconds in (0.3, 1, 5):  # before it has begun, an alarm ends it as any other program
        p = box.run(box.kin, 'record', '-q', '-o', 'alarm.kin', '-p', str(target.pid), preexec_fn=lambda after=seconds: alarm(after))
        if p.returncode != -signal.SIGALRM:
            break
    tap.ok(p.returncode == 0 and target.poll() is None, 'an alarm ends a recording of what runs already', f'{p.returncode} {p.err}')
    target.kill()
    target.communicate()


def test_memory(tap, box):
    """Each allocation of kin's fails once: it does its work all the same, or says why not."""
    library = os.path.join(box.folder, 'failinj.so')
    source = os.path.join(HERE, '..', 'reliability', 'failinj.c')
    subprocess.run(['gcc', '-O2', '-fPIC', '-shared', '-w', '-o', library, source, '-ldl'], check=True)

    def without(n, words):
        """The n-th; none if that is 0. And how many there are."""
        p = box.run('env', f'LD_PRELOAD={library}', 'FI_CLASS=alloc', f'FI_N={n}', 'FI_MODE=once', 'FI_ERRNO=12',
                    f'FI_REPORT={box.folder}/calls', box.kin, *words)
        with open(os.path.join(box.folder, 'calls')) as f:
            return p, int(f.read().split()[0])
    box.record('-q', '-o', 'memory.kin', './prog', 'exit', '0')
    for words in (['merge', '-o', 'sum.kin', 'memory.kin'], ['record', '-q', '-o', 'small.kin', './prog', 'exit', '0']):
        bad, total = [], without(0, words)[1]
        for k in range(1, total + 1, 1 if FULL else 1 + total // 250):
            box.remove('sum.kin')
            p, _ = without(k, words)
            sound = p.returncode == 0 or (0 < p.returncode < 128 and p.err)
            if p.returncode == 0 and words[0] == 'merge':
                sound = box.run(box.kin, 'info', 'sum.kin').returncode == 0
            if not sound:
                bad.append(f'call {k}: {p.returncode} {p.err}')
        tap.ok(not bad and total > 50, f'kin {words[0]} without memory for one of its allocations: an error, or none', '\n'.join(bad))


def symbols(text):
    """{(command, symbol): share}, as perf report --stdio --no-children -g none prints them; names without the versions that
    perf has where a symbol of a library is not a default one."""
    return {(c, name): float(share) for share, c, name in
            re.findall(r'^ +([\d.]+)% +(\S+) +\S+ +\[[.k]\] ([^\s@]+)', text, re.M)}


def test_perf_data(tap, box):
    """Files by --perf-data and by export --to=perf.data give the same results as the recording, in kin and in perf."""
    box.record('--perf-data', 'p.data', './prog', 'foobar', '100')
    box.run(box.kin, 'export', '--to=perf.data', '-o', 'later.data')
    same = [open(os.path.join(box.folder, name), 'rb').read() for name in ('p.data', 'later.data')]
    tap.ok(same[0] and same[0] == same[1], '--perf-data: what kin export writes')
    box.record('--wall', '-o', 'w.kin', '--perf-data', 'w.data', 'sh', '-c', './prog foobar 100; sleep .1; ./prog threads 3')
    keys = ('-c', 'self,inclusive,name', '--format=csv')
    for event in ('task-clock', 'blocked', 'waiting'):  # which stacks are cut it cannot say
        before, after = (sorted(line for line in box.run(box.kin, 'flat', *keys, f'--event={event}', name).out.splitlines() if '[cut]' not in line)
                         for name in ('w.kin', 'w.data'))
        tap.ok(before == after and len(before) > 3, f'a perf.data of kin says what the recording does: {event}', f'{before}\n{after}')
    before, after = (sorted(box.run(box.kin, 'script', '-F', 'comm,pid,tid,cpu,time,event,period,sym', name).out.replace('\t[cut]\n', '').split('\n\n'))
                     for name in ('w.kin', 'w.data'))
    tap.ok(before == after and len(before) > 20, '... of each sample, too', f'{before[:9]}\n{after[:9]}')
    p = box.run(box.kin, 'record', '-o', '-', '--perf-data', 'x.data', './prog')
    tap.ok(p.returncode == 2 and 'kin export' in p.err, '--perf-data takes one file', p.err)
    p = box.run('sh', '-c', f'{box.kin} export --to=perf.data w.kin >/dev/full')
    tap.ok(p.returncode == 1 and 'No space left' in p.err, 'export --to=perf.data: a full disk is told', p.err)
    if not shutil.which('perf'):
        tap.skip('perf reads what --perf-data writes', 'no perf')
        return
    def perf(*words):
        return box.run('perf', 'report', '-f', '--stdio', '--no-children', '-g', 'none', *words)
    text = box.run('perf', 'report', '-f', '-i', 'p.data', '--stdio', '--children', '-g', 'none', '-s', 'sym').out
    found = re.search(r'([\d.]+)% +[\d.]+% +\[\.\] bar\s*$', text, re.M)
    tap.ok(found and float(found[1]) > 97, 'perf reads what --perf-data writes: bar 100 %', text[:2000])
    ours = symbols(box.run(box.kin, 'report', '--stdio', '--no-children', '-g', 'none', 'profile.kin').out)
    theirs = symbols(perf('-i', 'p.data').out)
    tap.ok(ours and ours == theirs, 'the same shares', f'{ours}\n{theirs}')
    text = box.run('perf', 'report', '-f', '-i', 'w.data', '--header-only').out
    tap.ok(all(word in text for word in ('cmdline : sh', 'perf version : kin', 'name = blocked', 'clockid: monotonic', 'time of first sample',
                                         'os release', 'nrcpus avail')), 'its header has what perf shows', text)
    build_ids = box.run('perf', 'buildid-list', '-f', '-i', 'p.data').out
    notes = box.run('readelf', '-n', './prog').out
    tap.ok(notes.split('Build ID: ')[1].split()[0] in build_ids, '... and build ids', build_ids)
    parts = [symbols(perf('-i', 'p.data', '-C', str(cpu)).out) for cpu in range(os.cpu_count())]
    tap.ok(any(parts), 'perf report -C on it', str(parts))
    p = perf('-i', 'p.data', '--time', '10%-20%')
    tap.ok(symbols(p.out), 'perf report --time 10%-20% on it', p.out + p.err)
    p = perf('-i', 'w.data')
    tap.ok("of event 'blocked" in p.out, 'blocked time is an event', p.out[:3000])


MOVED = """
volatile unsigned long sink;
__attribute__((noipa)) void burn(long n) { while (n--) sink += n; }
int main(void) { burn(1000000000); }
"""


def test_symfs(tap, box):
    """The program is not where it ran any more, and its addresses are not offsets in its file."""
    folder = os.path.realpath(box.folder)
    open(os.path.join(folder, 'moved.c'), 'w').write(MOVED)
    box.run('gcc', '-O1', '-no-pie', '-o', 'moved', 'moved.c')
    box.record('-o', 'moved.kin', '--perf-data', 'moved.data', os.path.join(folder, 'moved'))
    os.makedirs(f'{folder}/root/{folder}')
    shutil.move(f'{folder}/moved', f'{folder}/root/{folder}/moved')
    for data in ('moved.kin', 'moved.data'):
        p = box.run(box.kin, 'report', '--symfs', 'root', '-s', 'sym', '--no-children', data)
        tap.ok(re.search(r'9\d\.\d+% +burn|100\.00% +burn', p.out), f'--symfs: names, of {data}', p.out + p.err)


CALLERS = """
#include <pthread.h>
volatile double sink;
__attribute__((noipa)) double helper(int n) { double s = 0; for (int i = 1; i < n; i++) s += 1.0 / i; return s; }
__attribute__((noipa)) void cheap(void) { for (int i = 0; i < 50000; i++) sink = helper(10); }
__attribute__((noipa)) void dear(void) { for (int i = 0; i < 500; i++) sink = helper(300000); }
void *other(void *arg) { dear(); return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	cheap();
	pthread_join(t, 0);
}
"""


def view(box, *words):
    return rows(box.run(box.kin, *words, '-f', 'json').out)


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-9)


def test_views(tap, box):
    """Parts add up to the whole; instructions to their function."""
    box.record('-o', 'parts.kin', './prog', 'foobar', '150')
    whole = sum(r['self'] for r in view(box, 'flat', 'parts.kin'))
    for by in ('thread', 'process', 'event', 'object'):
        parts = sum(r['self'] for r in view(box, 'flat', 'parts.kin', '--by', by))
        tap.ok(near(whole, parts) and whole > 0, f'--by {by}: adds up to the whole', f'{whole} {parts}')
    halves = [sum(r['self'] for r in view(box, 'flat', 'parts.kin', '--time', span))
              for span in ('50%/1', '50%/2')]
    text = box.run(box.kin, 'script', '-G', '--ns', '-F', 'time,period', 'parts.kin').out
    lines = [line.split() for line in text.splitlines() if line.strip()]
    times = [(float(time.rstrip(':')), int(period) / 1e9) for time, period in lines]
    middle = (times[0][0] + times[-1][0]) / 2
    first = sum(period for time, period in times if time <= middle)
    tap.ok(whole <= sum(halves) + 1e-9 <= whole + 0.01 and abs(halves[0] - first) < 0.01, 'two halves of the time',
           f'{whole} {halves} {first}')
    own = {r['name']: r['self'] for r in view(box, 'flat', 'parts.kin')}
    for name in ('bar',):
        lines = view(box, 'annotate', '--asm', 'parts.kin', name, '-c', 'all')
        code = [r for r in lines if r.get('address') is not None]
        tap.ok(near(sum(r['self'] or 0 for r in code), own[name]) and len(code) > 3,
               f'--asm: the instructions of {name} add up to it', f'{own[name]} {lines[:5]}')
    done = box.run(box.kin, 'info', '--strict', 'parts.kin')
    tap.ok(done.returncode == ('can be trusted' in done.out and 'in doubt' in done.out), 'info --strict',
           done.out + done.err)


def test_callers(tap, box):
    """Exact calls, and the measured time of a call by caller, which gprof cannot know."""
    open(os.path.join(box.folder, 'callers.c'), 'w').write(CALLERS)
    box.run('gcc', '-O1', '-g', '-pg', '-o', 'callers', 'callers.c', '-lpthread')
    p = box.run(box.kin, 'run', '-q', '-o', 'callers.kin', './callers')
    at = {r['name']: r for r in view(box, 'graph', 'callers.kin', 'helper') if r['kind'] == 'caller'}
    calls = {name: at[name]['called']['of'][0] for name in at if at[name]['called']}
    tap.ok(calls.get('cheap') == 50000 and calls.get('dear') == 500, 'calls by caller are exact', f'{p.err} {at}')
    dear, cheap = (at.get(n, {}).get('per_call') or 0 for n in ('dear', 'cheap'))
    tap.ok(dear > 1000 * cheap and dear > 1e-5, 'the time of one call is that of its caller', f'{dear} {cheap}')
    box.run(box.kin, 'run', '-q', '--sample=off', '-o', 'calls.kin', './callers')
    both = view(box, 'graph', 'callers.kin', 'calls.kin', 'helper') + view(box, 'flat', 'callers.kin', 'calls.kin')
    counts = [r['calls'] for r in both if r['name'] == 'helper' and r.get('calls')]
    tap.ok(counts == [101000] and not any(r.get('per_call') or r.get('self_per_call') for r in both),
           'no time per call where only some of the runs have time', both)
    code = view(box, 'annotate', '--asm', 'callers.kin', 'dear', '-c', 'all')
    tap.ok(500 in [r['calls'] for r in code], 'calls beside the instruction that made them', code)


def test_names(tap, box):
    """Messages of kin run about files with given names."""
    shutil.copy(os.path.join(box.folder, 'callers'), os.path.join(box.folder, 'named'))
    said = []
    for name in ('n1.%e.%p.kin', 'n2.%e.kin', 'n2.%e.kin'):
        said.append(re.sub(r'\d{2,}', 'PID', box.run(box.kin, 'run', '--sample=off', '-o', name, './named').err.split('\n')[0]))
    tap.ok(said == ['kin run: a profile: kin flat n1.*.*.kin shows it', 'kin run: a profile: kin flat n2.*.kin shows it',
                    'kin run: a profile: kin flat n2.named.PID.kin shows it'], 'kin run finds files with the process in their names', said)
    p = box.run(box.kin, 'run', '-o', 'n3.%p.kin', 'sh', '-c', './named; ./named; exit 3')
    tap.ok(p.returncode == 3 and p.err == 'kin run: 3 profiles: kin flat n3.*.kin shows all of them\n', 'and counts them', p.err)
    p = box.run(box.kin, 'run', '-o', 'n3.%p.kin', 'sh', '-c', './named; exit 3')
    tap.ok(p.err == 'kin run: 2 profiles: kin flat n3.*.kin shows all of them, and 3 of other runs, if they are not removed first\n',
           'and those of other runs', p.err)
    for more in ('', ', and 2 of other runs, if they are not removed first'):
        p = box.run(box.kin, 'run', '-o', 'n4.kin', 'sh', '-c', './named; ./named; exit 3')
        tap.ok(p.err.split('\n')[0] == 'kin run: n4.kin, and 2 more of other processes: kin flat n4.kin shows it, '
               f'kin flat n4.kin n4.*.kin all of them{more}', 'also where the first process has the name that was asked for', p.err)
    p = box.run(box.kin, 'run', '-o', "n 5's.kin", 'sh', '-c', './named; exit 3')
    command = re.search(r'kin (flat [^,]*) all of them', p.err)
    p = box.run('sh', '-c', f'{box.kin} {command.group(1)}') if command else p
    tap.ok(command and p.returncode == 0 and 'main' in p.out, 'the command that is named works with spaces and quotes in the name', p.out + p.err)
    shutil.copy(os.path.join(box.folder, 'prog'), os.path.join(box.folder, 'odd\nname'))
    box.run(box.kin, 'record', '-o', 'odd.kin', './odd\nname', 'spin', '50')
    box.run(box.kin, 'export', '-o', 'odd.callgrind', 'odd.kin')
    p = box.run(box.kin, 'flat', 'odd.callgrind')
    tap.ok(p.returncode == 0 and ' spin' in p.out, 'a name of a program with a line feed: its callgrind.out is read', p.out + p.err)


def test_became(tap, box):
    """kin run names the profile of the program that COMMAND becomes, and says if that is not measured."""
    def said(*command, env=()):
        for f in os.listdir(box.folder):
            if f.startswith('became.'):
                box.remove(f)
        p = box.run('env', *env, box.kin, 'run', '-o', 'became.kin', *command)
        return re.sub(r'became\.\d+(\.\d+)?\.kin', 'became.PID.kin', p.err).replace(box.folder, 'HERE')
    with open(os.path.join(box.folder, 'shim'), 'w') as f:
        f.write('#!/bin/sh\nexec ./callers "$@"\n')
    os.chmod(os.path.join(box.folder, 'shim'), 0o755)
    text = 'became HERE/callers: kin flat became.PID.kin shows it, kin flat became.kin became.*.kin all 2 profiles\n'
    for command in (['./shim'], ['env', 'A=1', './callers']):
        p = said(*command)
        tap.ok(p == f'kin run: {command[0]} {text}', f'kin run {" ".join(command)}: the profile of what it became', p)
    newest = box.run(box.kin, 'flat').out
    tap.ok('cheap' in newest, 'views show that one', newest)
    pair, named = f'{box.kin} run -o became.kin ./callers & {box.kin} run -o became.kin ./callers & wait', ''
    for _ in range(20):
        for f in os.listdir(box.folder):
            if f.startswith('became.'):
                box.remove(f)
        named += box.run('sh', '-c', pair).err
    tap.ok(' became ' not in named, 'of two runs at once none became the other', named)
    p = said('env', '-i', './callers')
    tap.ok(p == "kin run: env became ./callers, which is not measured: its environment is without kin run's LD_PRELOAD; "
           'became.kin holds what ran before\n', 'an environment without the runtime', p)
    info = box.run(box.kin, 'info', 'became.kin').out
    tap.ok('became another program: ./callers' in info, 'kin info says what it became', info)
    p = said('sh', '-c', 'env -i ./callers; env -i ./callers; exit')
    tap.ok("kin run: 2 other processes became programs that are not measured: their environments are without kin run's LD_PRELOAD "
           '(./callers ...)\n' in p, 'of other processes, too', p)
    for env, told in (('{}', True), ('os.environ', False)):
        p = said(sys.executable, '-c', f'import os; os.waitpid(os.posix_spawn("./prog", ["./prog", "foobar", "300"], {env}), 0)')
        found = re.search(r'^kin run: ([\d.]+) of ([\d.]+) s of CPU time are in no profile: programs that did not load', p, re.M)
        tap.ok(found and 0.5 < float(found[1]) / float(found[2]) <= 1 if told else not found,
               f'time of a spawned program {"without" if told else "with"} the runtime', p)
    if os.geteuid():
        tap.skip('a child that cannot write its profile', 'takes root, for chroot')
    else:
        os.makedirs(os.path.join(box.folder, 'empty'), exist_ok=True)
        child = 'import os\nos.chroot("empty")\nif not os.fork():\n for i in range(10**7): pass\n os._exit(0)\nos.wait()'
        p = said(sys.executable, '-c', child)
        tap.ok('in no profile' in p and 'could not write a profile (as another user, or after chroot)' in p and 'freeing their memory' in p,
               'a child that cannot write its profile', p)
    p = said('sh', '-c', 'exec /nowhere/at/all')
    tap.ok('became.kin: kin flat' in p and 'not measured' not in p, 'an exec that fails changes nothing', p)
    p = said('env', box.folder + '/seven')
    tap.ok(not os.path.exists(box.folder + '/seven') or 'env became HERE/seven, which is not measured: it is linked statically' in p,
           'a program that cannot load it', p)
    with open(os.path.join(box.folder, 'ends.c'), 'w') as f:
        f.write('#include <unistd.h>\n__attribute__((noinline)) void f(void) { __asm__(""); }\nint main(void) { f(); execl("/bin/true", "true", NULL); }\n')
    for flags, told in (['-pg'], False), ([], True):
        box.run('gcc', '-w', *flags, '-o', 'ends', 'ends.c')
        p = said('./ends')
        tap.ok('./ends became ' in p and ('no calls were counted' in p) == told,
               f'that no calls were counted is {"" if told else "not "}said of a program that counted {"none" if told else "some, and became another"}', p)
    p = said('./callers', env=['KIN_OPTIONS=output=mine.kin,verbose'])
    tap.ok(p.startswith('kin run: became.kin: ') and not os.path.exists(box.folder + '/mine.kin'), 'kin run -o wins over KIN_OPTIONS', p)
    p = box.run('env', 'KIN_OPTIONS=stacks=on,output=mine.kin', box.kin, 'run', './callers')
    tap.ok(p.err.startswith('kin run: KIN_OPTIONS: output=mine.kin does not count under kin run: the profile is profile.kin, -o names another\n'
                            'kin run: profile.kin: '), 'and so does its default, which is said', p.err)
    box.remove('inner.kin')
    p = said(box.kin, 'run', '-o', 'inner.kin', './callers')
    tap.ok('kin run: inner.kin: ' in p and re.search('kin run: became.kin[:,] ', p) and 'KIN_OPTIONS' not in p, 'one kin run in another', p)


def test_linked(tap, box):
    """Programs made by kin cc have calls and time in their profiles, without kin run."""
    box.run(box.kin, 'cc', 'gcc', '-O1', '-o', 'linked', 'callers.c', '-lpthread')
    box.run('env', 'KIN_OPTIONS=output=linked.kin', './linked')
    rows = {r['name']: r for r in view(box, 'flat', 'linked.kin')}
    tap.ok(rows['helper']['calls'] == 50500 and rows['dear']['inclusive'] > 0.5 * sum(r['self'] for r in rows.values()) > 0,
           'kin cc: calls and time', rows)
    p = box.run(box.kin, 'gprof', '-b', '-p', 'linked', 'gmon.out')
    q = box.run('sh', '-c', f'mkdir alone && cd alone && sleep .1 && ../linked && {box.kin} graph helper')
    tap.ok('times are measured' in q.out, 'kin cc: what is looked at is the profile with stacks', q.out + q.err)
    words = box.run(box.kin, 'cc', '--print', 'gcc', '-finstrument-functions', 'callers.c')
    both = box.run(box.kin, 'cc', '--print', '--latency', 'gcc', '-pg', 'callers.c')
    tap.ok(' -pg ' not in words.out and not words.err and ' -pg ' in both.out and 'counts once' in both.err,
           'kin cc: no -pg beside -finstrument-functions, or it is said', words.out + words.err + both.out + both.err)
    tap.ok(p.out.count(' 50500 ') == 1 and 'no time accumulated' not in p.out, 'kin cc: gmon.out has both, too', p.out + p.err)
    box.run(box.kin, 'cc', '--latency', 'gcc', '-o', 'timed', 'callers.c')
    said = [box.run(box.kin, 'run', '--latency', '-o', f'{prog}.d.kin', f'./{prog}').err for prog in ('linked', 'timed')]
    tap.ok('no durations were measured' in said[0] and 'no durations' not in said[1],
           'kin run --latency: that there are none, as of a program compiled for calls alone, is said', said)
    runtime = os.path.join(os.path.dirname(os.path.abspath(box.kin)), 'runtime')
    p = box.run('sh', '-c', f'mkdir hand && cd hand && gcc -pg -c ../callers.c && gcc -o shared callers.o -L{runtime} -lkinrt -lpthread && '
                f'gcc -static -o static callers.o {runtime}/libkinrt.a -lpthread && '
                f'for prog in shared static; do {box.kin} gprof $prog; done')
    tap.ok('run shared first' in p.err and 'run static first' in p.err, 'linked by hand: gprof knows that it leaves a gmon.out', p.err)


def test_compilers(tap, box):
    """Compilers accept the options that kin cc adds without a message, wherever makefiles call them."""
    open(os.path.join(box.folder, 'part.c'), 'w').write('int part(void) { return 1; }\n')
    open(os.path.join(box.folder, 'part.s'), 'w').write('.globl f\nf: ret\n.section .note.GNU-stack,"",@progbits\n')
    for compiler in ('gcc', 'clang'):
        if not shutil.which(compiler):
            tap.skip(f'{compiler}: flags', f'no {compiler}')
            continue
        wrong = []
        for words in ('-fPIC -c part.c -o part.o', '-c part.s -o asm.o', '-shared part.o -o part.so', '-r part.o asm.o -o both.o',
                      '-nostdlib -r part.o -o more.o', '-nostdlib -shared part.o -o bare.so',
                      '-O2 -fomit-frame-pointer -c part.c -o bare.o', '-E part.c -o part.i'):
            for option in ([], ['--latency'], ['--blocks']):
                p = box.run(box.kin, 'cc', *option, compiler, *words.split())
                if p.returncode or p.err:
                    wrong.append((option, words, p.returncode, p.err))
        box.run('sh', '-c', f'echo "int main(void) {{ return 0; }}" | {box.kin} cc {compiler} -x c - -o from_stdin')
        p = box.run('ldd', './from_stdin')
        tap.ok(not wrong and 'libkinrt' in p.out, f'{compiler}: flags', f'{wrong} {p.out}')


LINES = """
volatile int sink;
static int odd(int i)
{
	if (i % 3 == 0)
		return 1;
	sink = i;
	return 0;
}
int main(void)
{
	int n = 0;
	for (int i = 0; i < 1000; i++) {
		if (odd(i))
			n++;
		else if (i > 500)
			n += 2;
	}
	while (n > 7)
		n -= 7;
	return n == 100;
}
"""


def test_lines(tap, box):
    """Executions of lines by counted blocks, and by gcov."""
    path = os.path.join(box.folder, 'lines.c')
    open(path, 'w').write(LINES)
    box.run(box.kin, 'cc', '--blocks', 'gcc', '-O0', '-g', '-o', 'lines', 'lines.c')
    p = box.run(box.kin, 'run', '-q', '-o', 'lines.kin', './lines')
    box.run('gcc', '-O0', '--coverage', '-o', 'covered', 'lines.c')
    box.run('./covered')
    box.run('gcov', '--json-format', 'covered-lines.gcda')
    blocks = {r['line']: r['count'] for r in view(box, 'annotate', 'lines.kin', 'lines.c') if r['count'] is not None}
    whole = {r['line']: r['count'] for r in view(box, 'annotate', '-x', 'lines.kin', 'lines.c') if r['count'] is not None}
    tap.ok(blocks and all(whole.get(i) == blocks[i] for i in blocks) and whole.get(19) == 143,
           '-x: what blocks say of lines stays', f'{blocks} {whole}')
    gcov = {r['line']: r['count'] for r in view(box, 'annotate', 'lines.kin', 'lines.c', '--gcov',
                                                'covered-lines.gcov.json.gz') if r['count'] is not None}
    statements = [i + 1 for i, line in enumerate(LINES.split('\n')) if line.rstrip().endswith(';') and i > 2]
    tap.ok(len(gcov) > 10 and gcov.get(6) == 334 and gcov.get(7) == 666, 'gcov: executions of lines', gcov)
    if shutil.which('clang'):
        for static in ([], ['-static']):
            box.run('sh', '-c', 'rm -f *.gcda')
            q = box.run(box.kin, 'cc', '--blocks', 'clang', '-O0', *static, '-o', 'lines.clang', 'lines.c')
            q = box.run(box.kin, 'run', '-q', '-o', 'clang.kin', './lines.clang') if not q.returncode else q
            seen = {r['line']: r['count'] for r in view(box, 'annotate', 'clang.kin', 'lines.c') if r['count'] is not None}
            tap.ok(all(seen.get(i) == gcov[i] for i in statements if i in gcov),
                   f'clang: counted blocks and gcov agree {static}', f'{q.err} {seen} {gcov}')
    else:
        tap.skip('clang: counted blocks and gcov agree', 'no clang')
    wrong = {i: (blocks[i], gcov.get(i)) for i in statements if i in blocks and blocks[i] != gcov.get(i)}
    tap.ok(not wrong and len(set(statements) & set(blocks)) > 4, 'counted blocks and gcov agree',
           f'{p.err} {wrong} {blocks} {gcov}')


# A negative constant of 64 bits (DW_FORM_sdata) before the functions, one of which is looked up as inlined.
LOWEST = '''
#include <limits.h>
static inline int within(int n) { volatile int x = n; for (int i = 0; i < 1000; i++) x ^= i; return x; }
__attribute__((noinline)) int behind(int n) { return within(n) + 1; }
__attribute__((noinline)) int before(int n) { const long lowest = LONG_MIN + 1; volatile int x = n; for (int i = 0; i < 100; i++) x += i; return x; }
int main(void) { int n = 0; for (int i = 0; i < 60000; i++) n += behind(i) + before(i); return n == 1; }
'''


def test_lowest(tap, box):
    """Debug information is read on behind a very low constant."""
    open(os.path.join(box.folder, 'lowest.c'), 'w').write(LOWEST)
    box.run('gcc', '-O2', '-g', '-o', 'lowest', 'lowest.c')
    p = box.record('--no-names', '-o', 'lowest.kin', './lowest')
    names = [r['name'] for r in view(box, 'flat', 'lowest.kin')]
    tap.ok('within (inlined)' in names, 'inlined functions behind a very low constant', f'{names} {p.err}')


def as_recorded(box, path):
    """The stacks of samples, the outermost function first."""
    # Functions inlined into an interrupted one are known with it: without them a frame is one name.
    samples = box.run(box.kin, 'script', '--no-inline', path).out.split('\n\n')
    return [re.findall(r'^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \(', s, re.M)[::-1] for s in samples]


def test_signal_stack(tap, box):
    """Of a handler on another stack the function that was interrupted is known, and its callers are not."""
    p = box.record('-o', 'signal.kin', './fast', 'interrupted')
    handled = [['fast', *s] for s in as_recorded(box, 'signal.kin') if 'handles' in s]
    tap.ok(handled and all(s[s.index('handles') - 1] == '__restore_rt' for s in handled),
           'a handler on a stack of its own', p.err)
    above = [s[1:s.index('__restore_rt')] for s in handled if '__restore_rt' in s]
    wrong = [a for a in above if a[0] == '[cut]' and len(a) > 2 or a[0] != '[cut]' and 'main' not in a]
    tap.ok(not wrong, '... what it interrupted is there, and callers only if they are known', wrong)
    if all(a[0] == '[cut]' for a in above):
        tap.ok('stacks cut' in p.err, '... and that is said', p.err)


HANDLER = """
#include <signal.h>
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noipa)) void spin(long n) { while (n--) sink++; }
static unsigned next = 1;
static long some(void) { return (long)((next = next * 1664525 + 1013904223) >> 9); } /* out of step with the kernel's tick */
__attribute__((noipa)) void handles(int s) { spin(some()); sink += (unsigned long)s; }
__attribute__((noipa)) void works(long n) { spin(n); kill(getpid(), SIGUSR1); sink++; }
int main(void)
{
    signal(SIGUSR1, handles);
    for (int i = 0; i < 40; i++)
        works(some());
}
"""


def test_handlers(tap, box):
    """Nobody calls a signal's handler: it is no callee of what it interrupted, and not in its time."""
    open(os.path.join(box.folder, 'handler.c'), 'w').write(HANDLER)
    box.run('gcc', '-O1', '-g', '-o', 'handler', 'handler.c')
    ways = {'record.kin': [box.kin, 'record'], 'run.kin': [box.kin, 'run']}
    if shutil.which('perf'):
        ways['perf.data'] = ['perf', 'record', '-q', '-e', 'cpu-clock', '--call-graph', 'dwarf']
    for path, how in ways.items():
        p = box.run(*how, '-o', path, './handler')
        stacks = [re.sub(r' \d+$', '', s).split(';') for s in box.run(box.kin, 'script', '--folded', path).out.splitlines()]
        handled = [s for s in stacks if 'handles' in s]
        tap.ok(any('spin' in s for s in handled) and all(s[1:3] == ['[interrupted]', 'handles'] for s in handled),
               f'handlers have stacks of their own: {path}', f'{stacks}\n{p.err}')
        recorded = [s for s in as_recorded(box, path) if 'handles' in s]
        tap.ok(recorded and all(s.index('kill') < s.index('handles') and 'works' in s for s in recorded),
               f'... script has them as recorded: {path}', recorded)
        text = box.run(box.kin, 'graph', path).out
        part = re.search(r'handlers of signals took (\d+)\.\d %: they were called by nobody', text)
        tap.ok(part and 30 < int(part[1]) < 70, f'... a line says how much they took: {path}', text)
    box.run(box.kin, 'merge', '-o', 'both.kin', 'record.kin', 'run.kin')
    text = box.run(box.kin, 'graph', 'both.kin').out
    tap.ok('handlers of signals took' in text, '... in a sum, too', text)


def test_outermost(tap, box):
    """Whole stacks whose end is not marked in call-frame information."""
    p = box.record('-o', 'context.kin', './fast', 'coroutines')
    folded = box.run(box.kin, 'script', '--folded', 'context.kin').out
    tap.ok(sampled(p.err)[1] > 95 and ';turns;spin;loop' in folded, 'stacks of makecontext() are complete', p.err + folded)
    p = box.run(box.kin, 'run', '-o', 'inside.kin', './fast', 'coroutines')
    folded = box.run(box.kin, 'script', '--folded', 'inside.kin').out
    turns = [line for line in folded.splitlines() if ';turns;' in line]
    tap.ok(turns and not any('[cut]' in line for line in turns), '... from inside, too', p.err + folded)

    source = os.path.join(box.folder, 'small.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(SMALL)
    for flags in ([], ['-static']):
        name = 'a static program of musl' if flags else "a program with musl's shared library"
        try:
            box.run('musl-gcc', '-O2', *flags, '-o', 'small', source)
        except FileNotFoundError:
            tap.skip(name, 'no musl-gcc')
            continue
        p = box.record('-o', 'small.kin', './small')
        folded = box.run(box.kin, 'script', '--folded', 'small.kin').out
        tap.ok(sampled(p.err)[1] > 95 and ';main;work' in folded and ';thread;work' in folded,
               f'stacks of {name} are complete', p.err + folded)


def go_names(folded):
    """The functions of stacks, but for the kernel's, as Go's own table names them."""
    names = {name for line in folded.splitlines() for name in line.rsplit(' ', 1)[0].split(';')[1:]}
    return {re.sub(r'\.abi0$', '', name) for name in names}


def test_go(tap, box):
    """Names and whole stacks of programs in Go, stripped or not."""
    with open(os.path.join(box.folder, 'small.go'), 'w', encoding='ascii') as f:
        f.write(SMALL_GO)
    box.env['GOCACHE'] = os.path.join(box.folder, 'go')
    try:
        built = box.run('go', 'build', '-o', 'small', 'small.go')
    except FileNotFoundError:
        tap.skip('programs in Go', 'no go')
        return
    p = box.record('-o', 'small.kin', './small')
    folded = box.run(box.kin, 'script', '--folded', 'small.kin').out
    on_system = [line for line in folded.splitlines() if ';runtime.systemstack' in line]
    # While it switches stacks itself, an interrupt may be all that is below it.
    tap.ok(on_system and not any(re.search(r';\[cut\];runtime.systemstack[^;]*;(runtime|main)\.', line) for line in on_system),
           'stacks of a program in Go are complete, on its system stacks, too', built.err + p.err + folded)
    tap.ok(sampled(p.err)[1] > 95 and re.search(r';runtime.goexit(\.abi0)?;runtime.main;main.main', folded),
           '... and begin where goroutines do', p.err + folded)
    names = {re.sub(r'\.abi0$', '', line.split(' ', 2)[2]) for line in box.run('nm', 'small').out.splitlines()}
    for flags in ([], ['-buildmode=pie']):
        what = ', position-independent' if flags else ''
        built = box.run('go', 'build', '-ldflags=-s -w', *flags, '-o', 'bare', 'small.go')
        p = box.record('-o', 'bare.kin', './bare')
        folded = box.run(box.kin, 'script', '--folded', 'bare.kin').out
        tap.ok(sampled(p.err)[1] > 95 and ';runtime.goexit;runtime.main;main.main' in folded,
               f'stacks of a stripped program in Go are complete{what}', built.err + p.err + folded)
        own = {name for name in go_names(folded) if re.match(r'(main|runtime)\.|.*0x', name)}
        tap.ok('main.main' in own and own <= names, f'... and its functions have the names of symbols{what}', own - names)
    p = box.run(os.path.join(os.path.dirname(box.kin), 'test', 'go_compare'), 'small')
    tap.ok(p.returncode == 0, 'rows from the table of Go are those of its call-frame information', p.out)


# Each function calls the C library, and has callers that are known.
BARE = r'''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile int sink;
static char to[1 << 14], from[1 << 14];
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
__attribute__((noinline)) static void use_malloc(void)
{
	for (double end = now() + 0.15; now() < end; sink++)
		for (int i = 0; i < 20; i++) {
			void *p[50];
			for (int k = 0; k < 50; k++)
				p[k] = malloc(16 + k * 37 % 700);
			for (int k = 0; k < 50; k++)
				free(p[k]);
		}
}
__attribute__((noinline)) static void use_qsort(void)
{
	static int v[2000];
	for (double end = now() + 0.15; now() < end; sink++) {
		for (int i = 0; i < 2000; i++)
			v[i] = i * 7919 % 2003;
		qsort(v, 2000, sizeof(*v), compare);
	}
}
__attribute__((noinline)) static void use_printf(void)
{
	char text[200];
	for (double end = now() + 0.15; now() < end; sink++)
		for (int i = 0; i < 50; i++)
			snprintf(text, sizeof(text), "%d %s %g %x\n", i, "abc", i * 1.7, i);
}
__attribute__((noinline)) static void use_memcpy(void)
{
	for (double end = now() + 0.15; now() < end; sink++)
		for (int i = 0; i < 100; i++) {
			memcpy(to, from, sizeof(to));
			to[i]++;
		}
}
__attribute__((noinline)) static void *thread(void *arg)
{
	use_malloc();
	use_memcpy();
	sink++;
	return arg;
}
int main(void)
{
	pthread_t t;
	use_malloc();
	use_qsort();
	use_printf();
	use_memcpy();
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
'''

# Operations of an interpreter, in assembly without call-frame information: they have the frame of interpret(), at whose end lies
# the address behind decoy()'s call.
OPERATIONS = r'''
#include <stdlib.h>
volatile long sink;
long interpret(unsigned char *code, long n);
__attribute__((noinline)) long called(long n) { return sink += n; }
__asm__(".text\n"
	"decoy: sub $8, %rsp; call called\n"
	".Lbehind: add $8, %rsp; ret\n"
	".globl interpret\n.type interpret, @function\n"
	"interpret: push %r14; push %r13; push %r12; sub $32, %rsp\n"
	"lea .Lbehind(%rip), %rax; mov %rax, (%rsp); mov %rdi, %r13; mov %rsi, %r12; lea table(%rip), %r14\n"
	"movzbl (%r13), %eax; inc %r13; jmp *(%r14,%rax,8)\n.size interpret, . - interpret\n"
	".type op_add, @function\n"
	"op_add: imul $3, %r12, %rdx; add %rdx, %r12; imul $3, %rdx, %rdx; imul $3, %rdx, %rdx; imul $3, %rdx, %rdx\n"
	"movzbl (%r13), %eax; inc %r13; jmp *(%r14,%rax,8)\n.size op_add, . - op_add\n"
	".type op_end, @function\n"
	"op_end: mov %r12, %rax; add $32, %rsp; pop %r12; pop %r13; pop %r14; ret\n.size op_end, . - op_end\n"
	".data\n.balign 8\ntable: .quad op_add, op_end\n.text\n");
static unsigned char code[100001];
int main(int argc, char **argv)
{
	code[100000] = 1;
	for (int i = atoi(argv[1]); i--;)
		sink += interpret(code, argc);
	return 0;
}
'''

# The functions below each of them, if the C library has names.
BARE_BELOW = {'use_malloc': r'(__libc_)?(malloc|free)(_impl)?', 'use_qsort': 'qsort(_r)?', 'use_printf': 'snprintf', 'use_memcpy': 'memcpy'}


def bare_stacks(box, *command):
    """(percent of whole stacks, stacks with a wrong caller)."""
    p = box.record('-F', '999', '-o', 'bare.kin', *command)
    wrong = []
    for line in box.run(box.kin, 'script', '--folded', 'bare.kin').out.splitlines():
        frames = line.rsplit(' ', 1)[0].split(';')
        users = [i for i, name in enumerate(frames) if name.startswith('use_')]
        if '[cut]' in frames or not users:
            continue
        at = users[-1]
        known = ('main', 'thread') if frames[at] in ('use_malloc', 'use_memcpy') else ('main', )
        below = frames[at + 1:at + 2] + ['clock_gettime']
        if len(users) > 1 or frames[at - 1] not in known or (
                'static' in command[0] and not re.fullmatch(BARE_BELOW[frames[at]] + '|clock_gettime|now|__vdso.*|asm_.*', below[0])):
            wrong.append(line)
    return sampled(p.err)[1], wrong, p.err


def test_bare_code(tap, box):
    """Functions without call-frame information: of musl, and of programs compiled without."""
    source = os.path.join(box.folder, 'bare.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(BARE)
    without = ['-fno-asynchronous-unwind-tables', '-fno-unwind-tables', '-fomit-frame-pointer', '-pthread']
    for compiler, program, flags in (('gcc', 'bare_libc', without), ('musl-gcc', 'bare_musl', []), ('musl-gcc', 'bare_static', ['-static']),
                                     ('musl-gcc', 'bare_both', ['-static', *without])):
        name = f'stacks of {program} are complete, and as they are'
        try:
            box.run(compiler, '-O2', *flags, '-o', program, source)
        except FileNotFoundError:
            tap.skip(name, 'no musl-gcc')
            continue
        whole, wrong, err = bare_stacks(box, './' + program)
        tap.ok(whole > 90 and not wrong, name, f'{whole} {wrong[:5]} {err}')
    if os.path.exists(os.path.join(box.folder, 'bare_static')):
        box.run('strip', '-o', 'bare_stripped', 'bare_static')
        whole, wrong, err = bare_stacks(box, './bare_stripped')
        tap.ok(whole > 80 and not wrong, 'most stacks of a stripped program, too', f'{whole} {err}')
    source = os.path.join(box.folder, 'operations.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(OPERATIONS)
    box.run('gcc', '-O2', '-o', 'operations', source)
    for rounds, about in ('1000', ''), ('100', ', of a process that has ended'):
        box.record('-F', '999', '-o', 'operations.kin', './operations', rounds)
        folded = box.run(box.kin, 'script', '--folded', 'operations.kin').out
        tap.ok('op_add' in folded and 'decoy' not in folded, f"operations of an interpreter have no callers{about}", folded)


# lying() pushes an address that no call stands before, and does not describe it.
LYING = r'''
#include <stdlib.h>
volatile long sink;
void lying(long n, void *address);
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) long other(long n) { leaf(n); sink += n; sink *= 3; leaf(n); return sink; }
__asm__(".text\nlying:\n.cfi_startproc\npush %rsi; call leaf; pop %rsi; ret\n.cfi_endproc\n.size lying, . - lying\n");
int main(int argc, char **argv)
{
	for (int i = atoi(argv[1]); i--; sink += argc)
		lying(100000, (char *)other + 20);
	return 0;
}
'''


TWINS = r'''
volatile long sink;
#ifdef LARGE
#define ROOM volatile char room[200]; room[sink & 63] = 1;
#else
#define ROOM
#endif
__attribute__((noinline)) void hash(void) { ROOM for (int i = 0; i < 20000; i++) sink += i; }
__attribute__((noinline)) void parse(void) { ROOM hash(); sink++; }
__attribute__((noinline)) void page(void) { ROOM parse(); sink++; }
int main(void) { ROOM for (int i = 0; i < 3000; i++) page(); return 0; }
'''


def test_twins(tap, box):
    """Files of one build id, whose tables are cached: each has its own."""
    source = os.path.join(box.folder, 'twins.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(TWINS)

    def whole(program):
        box.record('-F', '999', '-o', 'twins.kin', program)
        lines = [line.rsplit(' ', 1) for line in box.run(box.kin, 'script', '--folded', 'twins.kin').out.splitlines()]
        hashes = {stack: int(ns) for stack, ns in lines if stack.endswith('hash')}
        right = sum(ns for stack, ns in hashes.items() if stack.endswith(';main;page;parse;hash') and '_start;' in stack)
        return right > 0.95 * sum(hashes.values()) > 0, hashes
    for name, flags in ('small', []), ('large', ['-DLARGE']):
        box.run('gcc', '-O2', '-Wl,--build-id=0x1234567890abcdef', *flags, '-o', name, source)
    for name in 'small', 'large', 'small':
        good, seen = whole('./' + name)
        tap.ok(good, f'stacks of one of two programs with one build id: {name}', seen)
    box.run('gcc', '-O2', '-Wl,--build-id=0x234567890abcdef1', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables', '-o', 'unstripped', source)
    box.run('strip', '-o', 'stripped', 'unstripped')
    box.record('-q', '-o', 'stripped.kin', './stripped')
    good, seen = whole('./unstripped')
    tap.ok(good, 'stacks of a program whose stripped twin was recorded before', seen)


def test_ended(tap, box):
    """Stacks of a process that has ended when they are walked: its code is that of its files."""
    source = os.path.join(box.folder, 'lying.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(LYING)
    box.run('gcc', '-O2', '-o', 'lying', source)
    seen = []
    for _ in range(5):
        box.record('-F', '3999', '-o', 'lying.kin', './lying', '20')
        seen += box.run(box.kin, 'script', '--folded', 'lying.kin').out.splitlines()
    tap.ok(any(';leaf' in s for s in seen) and not any('other' in s for s in seen),
           'a return address that no call stands before is none, when the process has ended, too', seen)


# Loads two libraries in turn, whose code lies at the same addresses: a call of the one is no call of the other.
PLUGINS = r'''
#include <dlfcn.h>
volatile long sink;
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 300000; i++) sink += i; }
int main(void)
{
	for (int i = 0; i < 400; i++) {
		void *plugin = dlopen(i % 2 ? "./odd.so" : "./even.so", RTLD_NOW);
		((void (*)(void (*)(void)))dlsym(plugin, "use"))(work);
		dlclose(plugin);
	}
	return 0;
}
'''
PLUGIN = r'''
volatile long used;
__attribute__((noinline)) static void pass(void (*work)(void)) { ROOM work(); used++; }
void use(void (*work)(void)) { pass(work); used++; }
'''


def test_plugins(tap, box):
    """Code is that which was mapped at the time of the sample."""
    for name, text in ('plugins.c', PLUGINS), ('plugin.c', PLUGIN):
        with open(os.path.join(box.folder, name), 'w', encoding='ascii') as f:
            f.write(text)
    box.run('gcc', '-O2', '-o', 'plugins', 'plugins.c', '-ldl')
    for name, room in ('odd.so', ''), ('even.so', '__asm__ volatile(".fill 7, 1, 0x90");'):
        box.run('gcc', '-O2', '-shared', '-fPIC', f'-DROOM={room}', '-o', name, 'plugin.c')
    p = box.record('-F', '999', '-o', 'plugins.kin', './plugins')
    stacks = [line.rsplit(' ', 1) for line in box.run(box.kin, 'script', '--folded', 'plugins.kin').out.splitlines()]
    works = [(stack, int(ns)) for stack, ns in stacks if stack.endswith(';work')]
    whole = sum(ns for stack, ns in works if stack.endswith(';main;use;pass;work'))
    tap.ok(whole > 0.99 * sum(ns for _, ns in works) > 0, 'stacks through libraries that come and go are complete', f'{works} {p.err}')


def test_packed_frames(tap, box):
    """Call-frame information in debug information alone, and packed."""
    source = os.path.join(box.folder, 'small.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(SMALL)
    box.run('gcc', '-O2', '-g', '-gz', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables', '-o', 'small', source, '-lpthread')
    p = box.record('-o', 'small.kin', './small')
    folded = box.run(box.kin, 'script', '--folded', 'small.kin').out
    tap.ok(sampled(p.err)[1] > 95 and ';main;work' in folded and ';thread;work' in folded,
           'stacks by packed call-frame information are complete', p.err + folded)


def test_turns(tap, box):
    """The events of kin compare and of kin record --against."""
    events = ['-e', 'task-clock', '-e', 'page-faults']
    for how in (['compare', '-o', 'turns', *events], ['record', '-o', 'against', *events, '--against']):
        p = box.run(box.kin, how[0], '-r', '2', *how[1:], '--warmup=0', './prog', 'exit', '0', '--', './prog', 'exit', '0')
        got = [r[1] for r in box.info(f'{how[2]}/before/01.kin') if r[0] == 'samples']
        tap.ok({'task-clock', 'page-faults'} <= set(got), f'kin {how[0]}: events of each -e', f'{got} {p.err}')


def main():
    tap, box = Tap(), Box(sys.argv[1])
    try:
        first = box.record('./prog', 'exit', '0')
        if 'does not let' in first.err:
            tap.skip('kin record', 'PERF_EVENT_OPEN IS REFUSED HERE: nothing of it was tested')
            return tap.done()
        for test in (test_attribution, test_deep, test_status, test_unnoticed, test_signals, test_trees, test_attach, test_short_tasks, test_too_fast,
                     test_churn, test_killed, test_audit, test_wall, test_jit, test_in_memory, test_vdso, test_files, test_unprivileged, test_refused, test_folder,
                     test_sanitized, test_inside, test_counts, test_idle, test_two, test_parent, test_memory, test_perf_data, test_symfs, test_views, test_callers, test_names, test_became, test_turns, test_linked,
                     test_compilers, test_lines, test_lowest, test_signal_stack, test_handlers, test_outermost, test_go, test_bare_code, test_twins, test_ended, test_plugins, test_packed_frames, top.test_memory, top.test_inlined, top.test_made_at_run_time, top.test_unnamed, *interpreters.TESTS, *perf_words.TESTS):
            tap.part(test, tap, box)
    finally:
        shutil.rmtree(box.folder, ignore_errors=True)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

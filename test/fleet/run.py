"""Many recordings in ClickHouse: kin push, and every report from there, on servers of the test's own.

    run.py BUILD [--seeds N]

A report from the store is the report of the sum of the recordings (kin merge), to the last unit; and no fault makes
it a silently smaller or larger one.
"""
import base64
import http.client
import http.server
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
sys.path.insert(0, HERE)
import servers
from tap import Tap
from waiting import wait_until

PROGRAM = '''
#include <stdio.h>
#include <stdlib.h>
static inline int add(int a, int b) { volatile int x = a; for (int i = 0; i < 20; i++) x += b; return x; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : add(fib(n - 1), fib(n - 2)); }
__attribute__((noinline)) int other(int n) { return add(fib(n), n); }
int main(int c, char **v) { int n = 0; for (int i = 0; i < atoi(v[1]); i++) n += i & 1 ? fib(20) : other(19); return n == 1; }
'''
# Names that would be something else in SQL, in a URL, in a row.
HOSTILE = ["x' OR 1=1 --", 'a\\', "\\'", 'tab\\tname', '{db}', '%s%n', 'ünï', '";DROP TABLE samples', "') UNION ALL SELECT 1",
           'a`b', '\x01\x7f', '\\x27', 'a&b=c', '#', '%27', '$(id)']


class Kin:
    def __init__(self, build, folder):
        self.kin, self.folder = os.path.join(os.path.abspath(build), 'kin'), folder

    def __call__(self, *words, env=None, timeout=600):
        done = subprocess.run([self.kin, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors='replace', timeout=timeout, env=env or servers.environment())
        return done.returncode, done.stdout, done.stderr


def random_recording(r, names):
    """As perf script prints it: events, threads, objects, and stacks that share their beginnings."""
    text = []
    for _ in range(r.randint(1, 60)):
        comm, pid = r.choice(['web', 'web', 'db', 'sh x']), r.randint(1, 3)
        event = r.choice(['cycles', 'cycles', 'cycles', 'faults'])
        frames = [r.choice(names) for _ in range(r.randint(1, 8))]
        text.append(f'{comm} {pid}/{pid} [000] {r.randint(1, 99)}.{r.randint(0, 999999):06}: '
                    f'{r.choice([1, 7, 1000000, 2**40 + r.randint(0, 9)])} {event}:\n')
        text += [f'\t{0x1000 + 16 * names.index(n):x} {n}+0x4 ({"/bin/web" if names.index(n) % 3 else "/lib/libc.so"})\n'
                 for n in frames]
        text.append('\n')
    return ''.join(text)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as f:
        f.write(text)
    return path


def rows_of(kin, data, *command):
    """The rows of a report, in an order of their own: equal ones may come in any."""
    status, out, err = kin(*command, '--format=json', data)
    if status:
        raise RuntimeError(f'{command}: {err}')
    tables = json.loads(out)
    tables = tables if isinstance(tables, list) else [tables]  # one for each event
    # Equal ones may be in any order, which the sums down to each depend on.
    return sorted(json.dumps({k: v for k, v in row.items() if k != 'cumulative'}, sort_keys=True)
                  for t in tables for row in t.get('rows', []))


def stacks_of(kin, data, *more):
    status, out, err = kin('export', '--to=folded', *more, data)
    return sorted(out.splitlines()) if not status else [f'status {status}', err]


def sampled_of(kin, *data):
    """Without CPU time that was not sampled, which a store does not know of, and without the files of functions whose
    namesakes have no sample: a store knows only of functions that have some."""
    return [re.sub(r' \(dl-[\w-]+\.c\)', '', x) for x in stacks_of(kin, *data) if '[not sampled]' not in x]


VIEWS = [('report', '--all-rows'), ('report', '--no-children', '-s', 'comm,dso,sym'), ('flat',), ('graph',), ('lines',)]


def same_views(kin, merged, url, views=VIEWS):
    """The differences between the sum and the store, in words; '' if there are none."""
    for view in views:
        want, got = ([x for x in rows_of(kin, data, *view) if '"ld-linux' not in x] for data in (merged, url))
        if want != got:
            only = [x for x in want if x not in got][:3] + ['-- store:'] + [x for x in got if x not in want][:3]
            return f'{view}: {len(want)} rows, {len(got)} of the store\n' + '\n'.join(only)
    if stacks_of(kin, merged) != stacks_of(kin, url):
        return 'stacks differ'
    return ''


def test_sums(tap, kin, shards, seeds):
    names = ['main', 'run', 'serve', 'parse', 'free<int>::x(int)', 'write', 'read', 'lock', 'asm_sysvec_call_function'] + \
            [n for n in HOSTILE if ' ' not in n and '\x01' not in n]
    url = shards.url('sums')
    for seed in range(seeds):
        r = random.Random(seed)
        files = [write(kin.folder, f's{seed}-{i}.script', random_recording(r, names)) for i in range(r.randint(1, 5))]
        for f in files:
            status, out, err = kin('push', '-q', f'--host=h{r.randint(0, 20)}', f'--service=s{seed}', url, f)
            if status:
                tap.ok(False, f'seed {seed} is sent', err)
        merged = os.path.join(kin.folder, f's{seed}.kin')
        kin('merge', '-o', merged, *files)
        diff = same_views(kin, merged, f'{url}?service=s{seed}')
        tap.ok(not diff, f'seed {seed}: {len(files)} recordings in the store are their sum', diff)


def test_recordings(tap, kin, shards, folder):
    url = shards.url('real')
    files = []
    for i, n in enumerate([30, 60]):
        path = os.path.join(folder, f'r{i}.kin')
        status, out, err = kin('record', '-q', '-o', path, os.path.join(folder, 'prog'), str(n * 20))
        if not os.path.exists(path):
            tap.skip('recordings in the store are their sum', 'nothing can be recorded here')
            return
        account(path, 1)
        files.append(path)
    status, out, err = kin('push', '--label=run=1', url, *files)
    tap.ok(status == 0 and err.count('samples in') == 2, 'two recordings are sent', err)
    merged = os.path.join(folder, 'r.kin')
    kin('merge', '-o', merged, *files)
    diff = same_views(kin, merged, url + '?service=prog&from=-1d', VIEWS[:-1])
    tap.ok(not diff, 'recordings in the store are their sum, by what their programs are called', diff)
    own = [[row for row in rows_of(kin, data, 'lines', '--columns=self,file,line,name') if 'prog.c' in row] for data in (merged, url)]
    tap.ok(own[0] and own[0] == own[1], 'so they are by source line', f'{own[0]}\n{own[1]}')
    for words in (['html', '-o', os.path.join(folder, 'page.html')], ['browse', '--help'], ['info'], ['script'],
                  ['annotate', 'fib'], ['cycles'], ['export', '--to=pprof', '-o', os.path.join(folder, 'x.pb.gz')],
                  ['diff', url], ['merge', '-o', os.path.join(folder, 'from-store.kin')]):
        status, out, err = kin(*words, url)
        tap.ok(status == 0, f'kin {words[0]} reads a store', f'{status} {err}')
    diff = same_views(kin, merged, os.path.join(folder, 'from-store.kin'), VIEWS[:-1])
    tap.ok(not diff, 'what kin merge makes of a store is the same sum', diff)
    test_together(tap, kin, shards, folder)
    before = rows_of(kin, url, 'flat')
    status, out, err = kin('push', url, *files, '--label=run=1')
    tap.ok(status == 0 and err.count('already') == 2 and rows_of(kin, url, 'flat') == before,
           'what is sent twice counts once', err)


# Of two functions each recording has one, below a function that jumps there.
EITHER = '''
#include <stdlib.h>
__attribute__((noinline)) int first(int n) { volatile int x = n; for (int i = 0; i < 1000; i++) x += i; return x; }
__attribute__((noinline)) int second(int n) { volatile int x = n; for (int i = 0; i < 1000; i++) x ^= i; return x; }
__attribute__((noinline)) int jumps1(int n) { return first(n + 1); }
__attribute__((noinline)) int jumps2(int n) { return second(n + 1); }
int main(int c, char **v) { int n = 0; for (int i = 0; i < 150000; i++) n += c > 1 ? jumps2(i) : jumps1(i); return n == 1; }
'''


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def account(path, times):
    """Has the kernel's accounting say that the program took so many times what samples stand for (kin/format.h): above 1
    a part of its time has no sample."""
    cpu, sampled, crc = 72, 80, 472
    with open(path, 'r+b') as f:
        page = bytearray(f.read(4096))
        struct.pack_into('<Q', page, cpu, times * struct.unpack_from('<Q', page, sampled)[0])
        struct.pack_into('<I', page, crc, 0)
        struct.pack_into('<I', page, crc, crc32c(page))
        f.seek(0)
        f.write(page)


def test_together(tap, kin, shards, folder):
    """One report of answers of several URLs, of files made from them, and of recordings: each numbers the functions of a
    program in its own way."""
    url, program = shards.url('together'), os.path.join(folder, 'either')
    subprocess.run(['cc', '-g', '-O2', '-o', program, write(folder, 'either.c', EITHER)], check=True)
    parts, urls = [os.path.join(folder, f'either{i}.kin') for i in range(2)], []
    for i, f in enumerate(parts):
        kin('record', '-q', '-o', f, program, *['other'] * i)
        account(f, 2)
    for i, f in enumerate(parts):
        kin('push', '-q', f'--service=s{i}', url, f)
        urls.append(f'{url}?service=s{i}')
        kin('merge', '-o', os.path.join(folder, f'part{i}.kin'), urls[i])
    made = [os.path.join(folder, f'part{i}.kin') for i in range(2)]
    want = sampled_of(kin, *parts)
    tap.ok(len(stacks_of(kin, *parts)) > len(want), 'a sum of recordings has a row of CPU time that was not sampled', want)
    bad = [pair for pair in itertools.product((parts[0], urls[0], made[0]), (parts[1], urls[1], made[1]))
           if pair != tuple(parts) and sampled_of(kin, *pair) != want]
    tap.ok(all(x in ''.join(want) for x in ('jumps1;first', 'jumps2;second')) and not bad, 'URLs, files made of them and recordings add up in any combination', bad)
    both, bad = os.path.join(folder, 'both.kin'), []
    for pair in (made, [urls[0], parts[1]], [parts[0], made[1]]):
        kin('merge', '-o', both, *pair)
        bad += [pair] if sampled_of(kin, both) != want else []
    tap.ok(not bad, '... also as one file', bad)
    ids = lambda *data: sorted(re.findall(r'build id +([0-9a-f]+)', kin('info', *data)[1]))
    tap.ok(set(ids(*urls)) == set(ids(*parts)) and 'several builds' not in kin('flat', *urls)[1] + kin('flat', *urls)[2],
           'a build id is that of the file', f'{ids(*urls)} {ids(*parts)}')
    tap.ok(rows_of(kin, urls[0], 'flat', program) == rows_of(kin, urls[0], 'flat'), 'who names the program gets the same names')
    made_up = [words for words in (('report', '-s', 'symoff'), ('report', '-s', 'sym,srcline'), ('script', '-F', 'ip,sym,symoff'))
               if re.search(r'[+]0?x?[0-9]', kin(*words, urls[0])[1])]
    ips = re.findall(r'^\t +([0-9a-f]+) ', kin('script', '-F', 'ip,sym', urls[0])[1], re.M)
    tap.ok(not made_up and 'unknown' in kin('report', '-s', 'sym,symbol_size', urls[0])[1] and set(ips) == {'0'},
           'offsets in functions, their sizes and addresses are not known', f'{made_up} {ips[:9]}')


def test_events(tap, kin, shards, folder):
    """They are in one order, whatever they are called: those that count time first."""
    url = shards.url('events')
    text = ''.join(f'web 1/1 [000] 1.0: 10 {name}:\n\t1000 {name[0]}+0x1 (/bin/web)\n\n'
                   for name in ('faults', 'blocked', 'zz', 'cycles', 'cpu-clock', 'aa'))
    script, merged = write(folder, 'events.script', text), os.path.join(folder, 'events.kin')
    kin('push', '-q', url, script)
    kin('merge', '-o', merged, script)
    events = lambda data: re.findall('samples? of ([^ \n]*)', kin('report', data)[1])
    first = lambda data: kin('flat', data)[1].splitlines()[1]
    tap.ok(len(events(url)) == 6 and events(url) == events(merged) and first(url) == first(merged),
           'events are in the order of those of a sum', f'{events(url)} {events(merged)} {first(url)}')


class Mute:
    """A server that takes connections and says nothing, and the commands that wait for it meanwhile."""

    def __init__(self, kin):
        self.listener = socket.create_server(('127.0.0.1', 0))
        url = f'http://127.0.0.1:{self.listener.getsockname()[1]}/mute'
        secure = url.replace('http:', 'https:')
        script = write(kin.folder, 'mute.script', 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 f+0x1 (/bin/web)\n\n')
        self.began = time.monotonic()
        self.waiting = [subprocess.Popen([kin.kin, *words], env=servers.environment(), stdin=subprocess.DEVNULL, text=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                        for words in (['report', url], ['push', url, script], ['tidy', url], ['report', secure],
                                      ['push', secure, script])]

    def check(self, tap):
        said = [(p.communicate(timeout=600)[1], p.returncode) for p in self.waiting]
        took = time.monotonic() - self.began
        tap.ok(all(status == 1 and 'no answer within 30 s' in err for err, status in said[:3]), 'a server that says nothing is not waited for',
               f'{took} {said}')
        tap.ok(all(status == 1 and 'timeout: is https spoken at that port?' in err for err, status in said[3:]),
               'nor one that says nothing to https', f'{said}')
        self.listener.close()


def test_example(tap, kin, folder):
    """doc/examples/store.sh starts, can be used with the lines that it prints, and ends."""
    port = next(p for p in range(20000 + os.getpid() % 10000, 60000, 7)
                if all(socket.socket().connect_ex(('127.0.0.1', p + i)) for i in (0, 1, 1000, 1001)))
    script = os.path.join(HERE, '..', '..', 'doc', 'examples', 'store.sh')
    p = subprocess.Popen(['sh', script, os.path.join(folder, 'try it'), '2', str(port)], stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    said = [p.stdout.readline() for _ in range(2)]
    pushed = ['', '']
    if 'KIN_STORE_LOGIN=' in said[0]:
        login = said[0].split('=', 1)[1].strip().strip("'")
        env = {k: v for k, v in servers.environment(KIN_STORE_LOGIN=login).items() if k not in ('KIN_STORE_USER', 'KIN_STORE_PASSWORD')}
        url = said[1].split()[2]
        pushed = [kin('push', url, write(folder, 'try.script', random_recording(random.Random(7), ['main', 'f'])), env=env)[2],
                  kin('export', '--to=folded', url, env=env)[1]]
    p.terminate()
    err = p.communicate(timeout=600)[1]
    tap.ok('samples in' in pushed[0] and 'attempt' not in pushed[0] and 'main' in pushed[1],
           'doc/examples/store.sh starts a store that is used as it says', f'{said} {pushed} {err}')
    tap.ok(all(socket.socket().connect_ex(('127.0.0.1', port + i)) for i in (0, 1)), 'it ends its servers', err)


def test_other_engines(tap, kin, shards, folder):
    """The server reads the output of kin export unchanged, into the table of doc/fleet.md."""
    one, page = shards[0], open(os.path.join(HERE, '..', '..', 'doc', 'fleet.md')).read()
    create = re.search(r'CREATE TABLE profile \(.*?ORDER BY [^\n]*', page, re.S)[0]
    script = write(folder, 'engines.script', random_recording(random.Random(5), ['main', 'a"b', "it's", 'x,y', 'n\\t', 'z']))
    want = sorted(map(tuple, re.findall(r'(.*) (\d+)$', kin('export', '--to=folded', '--event=cycles', script)[1], re.M)))
    for name, form in (('rowbinary', 'RowBinary'), ('jsonl', 'JSONEachRow'), ('csv', 'CSVWithNames')):
        one.ask('CREATE DATABASE IF NOT EXISTS engines')
        one.ask('DROP TABLE IF EXISTS engines.profile')
        one.ask(create.replace('profile', 'engines.profile', 1) if name != 'csv' else
                re.sub(r'Array\(\w+\)', 'String', create).replace('profile', 'engines.profile', 1))
        path = os.path.join(folder, f'x.{name}')
        kin('export', '-o', path, script)
        one.ask(f'INSERT INTO engines.profile FORMAT {form}', data=open(path, 'rb').read())
        rows = json.loads(one.ask("SELECT comm, functions, toString(sum(weight)) AS w FROM engines.profile "
                                  "WHERE event = 'cycles' GROUP BY comm, functions FORMAT JSON"))['data']
        names = json.loads if name == 'csv' else list  # a column of text there
        got = sorted((';'.join([r['comm'], *names(r['functions'])]), r['w']) for r in rows)
        tap.ok(got == want, f'{name} is read by ClickHouse, and has the same sums', f'{got[:3]}\n{want[:3]}')


def test_long_recordings(tap, kin, shards, day):
    """Recordings of two hours each, made from others by moving their rows, are only in the sum of their day."""
    one, url = shards[0], shards.url('long', shards[:1])
    kin('push', '-q', url, write(kin.folder, 'begin.script', random_recording(random.Random(1), ['main', 'run'])))  # makes the tables
    for table in ('stacks', 'frames', 'functions', 'events', 'samples', 'receipts'):
        one.ask(f'TRUNCATE TABLE long.{table}')
    for table in ('stacks', 'frames', 'functions', 'events'):
        one.ask(f'INSERT INTO long.{table} SELECT * FROM tidy.{table}')
    for more in (0, 3600):
        one.ask(f'INSERT INTO long.samples SELECT toDateTime(toUInt32(bucket) + {more}), service, event, stack, batch, weight, count '
                f'FROM tidy.samples WHERE bucket >= toDateTime({day}) AND bucket < toDateTime({day + 6 * 3600})')
    one.ask(f'INSERT INTO long.receipts SELECT low, toDateTime(toUInt32(high) + 3600), content, batch, service, version, host, labels, '
            f'2 * rows, 2 * samples, doubts FROM tidy.receipts WHERE low >= toDateTime({day}) AND low < toDateTime({day + 6 * 3600})')
    answers = lambda: [stacks_of(kin, url + span) for span in ('', f'?from={day}&to={day + 86400}', f'?from={day + 4000}', f'?to={day + 6 * 3600}')]
    before, status = answers(), kin('tidy', url)
    made = re.search(r'0 sums of hours and ([1-9]\d*) of days', status[2])
    tap.ok(made and before[0] and answers() == before, 'recordings of several hours are in sums of days', status)
    one.ask('TRUNCATE TABLE long.samples')
    service, version = one.ask('SELECT service, version FROM long.day_rollup_receipts LIMIT 1').split()
    of_sums = f'?service={service}&version={version}&from={day}&to={day + 86400}'
    tap.ok('main' in ''.join(stacks_of(kin, url + of_sums)), 'a report of that day reads the sum')


def test_tidy(tap, kin, shards, folder, seeds=4):
    """Sums of hours and days, made between pushes, by two at a time, or not to their end, change no report."""
    names, url = ['main', 'run', 'serve', 'parse', 'write', 'lock'], shards.url('tidy')
    hour = int(time.time()) // 3600 * 3600
    day = hour // 86400 * 86400 - 2 * 86400  # is over, wherever the hour is
    hours = [hour - 2 * 3600, hour - 3 * 3600, hour - 3 * 3600, hour - 4 * 3600, day, day + 5 * 3600, day + 5 * 3600, day + 23 * 3600,
             day - 3600]
    made = {'hours': 0, 'days': 0}
    for seed in range(seeds):
        r = random.Random(1000 + seed)
        sent = []  # (file, version, host, time)
        for step in range(4):
            for i in range(r.randint(1, 5)):
                f = write(folder, f't{seed}-{step}-{i}.script', random_recording(r, names))
                when = r.choice(hours) + r.choice([0, 1, 600, 3599])
                os.utime(f, (when, when))
                sent.append((f, r.choice('78'), r.choice('abcd'), when))
            for f, version, host, when in sent[-5:]:  # some of them again
                kin('push', '-q', f'--service=t{seed}', f'--service-version={version}', f'--host={host}', url, f)
            tidying = [subprocess.Popen([kin.kin, 'tidy', url], env=servers.environment(), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True) for _ in range(r.choice([0, 1, 2]))]
            for p in tidying:
                err = p.communicate(timeout=600)[1]
                for what, n in (('hours', r'(\d+) sums? of hours'), ('days', r'and (\d+) of days')):
                    made[what] += int((re.search(n, err) or [0, 0])[1])
                if p.returncode:
                    tap.ok(False, f'seed {seed} is tidied', err)
        first = hour - 3 * 3600
        for what, query, files in (
                ('all', '', sent),
                ('a version', '&version=7', [x for x in sent if x[1] == '7']),
                ('a host', '&host=a', [x for x in sent if x[2] == 'a']),
                ('an hour', f'&from={first}&to={first + 3600}', [x for x in sent if first <= x[3] < first + 3600]),
                ('half an hour', f'&from={first}&to={first + 1800}', [x for x in sent if first <= x[3] < first + 1800]),
                ('a day', f'&from={day}&to={day + 86400}', [x for x in sent if day <= x[3] < day + 86400]),
                ('an hour of a day', f'&from={day + 18000}&to={day + 21600}', [x for x in sent if day + 18000 <= x[3] < day + 21600]),
                ('from an hour on', f'&from={day - 1800}&version=8', [x for x in sent if day - 1800 <= x[3] and x[1] == '8']),
                ('from noon on', f'&from={day + 43200}', [x for x in sent if day + 43200 <= x[3]])):
            merged = os.path.join(folder, f't{seed}.kin')
            if files:
                kin('merge', '-o', merged, *[x[0] for x in files])
                diff = same_views(kin, merged, f'{url}?service=t{seed}{query}', VIEWS[1:2])
                tap.ok(not diff, f'seed {seed}, tidied: {what} of it is what was sent', diff)
    tap.ok(made['hours'] > seeds and made['days'] > seeds, 'hours and days were summed up', made)
    begun = [s for s in shards if int(s.ask("SELECT count() FROM system.databases WHERE name = 'tidy'"))]
    rows = {s.port: s.ask('SELECT count() FROM tidy.rollups') for s in begun}
    before = stacks_of(kin, url)
    for s, span in itertools.product(begun, ('', 'day_')):
        # One without a receipt; and all once more, as by somebody who did it at the same time.
        s.ask(f'INSERT INTO tidy.{span}rollups SELECT bucket, service, event, stack, 77, low, high, count FROM tidy.{span}rollups')
        s.ask(f'INSERT INTO tidy.{span}rollup_batches SELECT bucket, 77, content, batch FROM tidy.{span}rollup_batches')
        for table, columns in (('rollups', 'bucket, service, event, stack, bitXor(rollup, 5), low, high, count'),
                               ('rollup_batches', 'bucket, bitXor(rollup, 5), content, batch'),
                               ('rollup_receipts', 'bucket, bitXor(rollup, 5), service, version, recordings')):
            s.ask(f'INSERT INTO tidy.{span}{table} SELECT {columns} FROM tidy.{span}{table}')
    tap.ok(stacks_of(kin, url) == before, 'what was not finished, or was made twice, does not count', rows)
    for s in begun:  # as a store is that no kin has tidied since there are sums of days
        for table in ('rollups', 'rollup_batches', 'rollup_receipts'):
            s.ask(f'DROP TABLE tidy.day_{table}')
    tap.ok(stacks_of(kin, url) == before, 'without tables of days it is the same')
    test_long_recordings(tap, kin, shards, day)
    killed = random.Random(3)
    for i in range(3):
        f = write(folder, f'late{i}.script', random_recording(killed, names))
        os.utime(f, (hour - 7200 + i, hour - 7200 + i))
        for host in 'abc':
            kin('push', '-q', '--service=late', f'--host={host}', url, f)
        kill = threading.Timer(killed.uniform(0, 0.3), shards[0].kill)
        kill.start()
        kin('tidy', url)
        kill.join()
        shards[0].start()
    merged = os.path.join(folder, 'late.kin')
    kin('merge', '-o', merged, *[os.path.join(folder, f'late{i}.script') for i in range(3)] * 3)
    diff = same_views(kin, merged, f'{url}?service=late', VIEWS[1:2])
    tap.ok(not diff, 'a server that is killed meanwhile changes nothing', diff)
    old = write(folder, 'days.script', random_recording(random.Random(1), names))
    for days in (40, 29):
        os.utime(old, (hour - days * 86400, hour - days * 86400))
        kin('push', '-q', '--service=days', f'--host=d{days}', url, old)
    before, status = stacks_of(kin, url + '?service=days&host=d29'), kin('tidy', '--keep=30d', url)
    tap.ok(status[0] == 0 and '1 day dropped' in status[2] and stacks_of(kin, url + '?service=days') == before,
           'days that are older than --keep go, others stay', status)
    tap.ok(kin('tidy', url + '?service=x')[0] == 2 and kin('tidy', '--keep=soon', url)[0] == 2, 'what makes no sense is refused')


def test_kept_stacks(tap, kin, shards, folder, rounds=24):
    """Stacks are cached after the first request: reports are the same with the cache, without it, and with a damaged one."""
    url, r = shards.url('kept'), random.Random(11)
    names = [f'f{i}' for i in range(40)]
    first, second = (write(folder, f'kept{i}.script', random_recording(r, names) + random_recording(r, names)) for i in range(2))
    bare = servers.environment(KIN_CACHE='off')
    kept = lambda: sorted(os.scandir(os.path.join(folder, 'cache', 'kin', 'stacks')), key=lambda e: e.stat().st_mtime)[-1].path
    answer = lambda **k: kin('report', '--all-rows', '--format=json', url + k.pop('query', ''), **k)
    kin('push', '-q', '--host=a', '--service=one', url, first)
    same = [answer(query='?service=one')[1] for _ in range(2)]
    kin('push', '-q', '--host=b', '--service=two', url, second)
    want = answer(env=bare)
    samples = [kin('script', url, env=env)[1] for env in (bare, None, None)]  # the second time some are kept, then all
    tap.ok(samples[0] == samples[1] == samples[2] != '', 'samples have one order, whatever of their stacks is kept')
    same += [answer()[1], answer()[1]]
    tap.ok(same[0] == same[1] and same[2] == same[3] == want[1] != same[0], 'stacks that are kept are those of the store', want[2])
    file = kept()
    tap.ok(os.stat(file).st_mode & 0o077 == 0, 'nobody else reads what is kept')
    for s in shards:
        if int(s.ask("SELECT count() FROM system.tables WHERE database = 'kept' AND name = 'stacks'")):
            s.ask('TRUNCATE TABLE kept.stacks')
    had, none = answer(), answer(env=bare)
    tap.ok(had[:2] == want[:2], 'they are not asked for again', had[2])
    tap.ok(none[0] == 1 and 'names are missing' in none[2], 'without them the store is asked', none[2])
    whole, wrong = open(file, 'rb').read(), ''
    for i in range(rounds):
        data = bytearray(whole)
        for _ in range(r.choice([1, 1, 4])):
            data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        with open(file, 'wb') as f:
            f.write(data[:r.choice([len(data), len(data), r.randrange(len(data))])])
        status, out, err = answer()
        if not (status == 1 and 'names are missing' in err):
            wrong += f'{status} {err}'
    tap.ok(not wrong, 'a damaged file does not count', wrong)


def test_ranks(tap, kin, shards, folder):
    """Files of a job are found by rank and job."""
    url, job = shards.url('ranks'), {'OMPI_COMM_WORLD_SIZE': '2', 'PMIX_NAMESPACE': 'job.7'}
    for rank in '01':
        kin('record', '-q', '-o', os.path.join(folder, 'ranked.kin'), os.path.join(folder, 'prog'), '600',
            env=servers.environment(OMPI_COMM_WORLD_RANK=rank, **job))
    files = [os.path.join(folder, f'ranked.{rank}.kin') for rank in '01']
    if not all(map(os.path.exists, files)):
        tap.skip('ranks are found in a store', 'nothing can be recorded here')
        return
    for f in files:
        account(f, 2)
    status, out, err = kin('push', url, *files)
    own = [sampled_of(kin, f'{url}?rank={rank}&job=job.7') for rank in '01']
    want = [sampled_of(kin, f) for f in files]
    tap.ok(status == 0 and own == want, 'ranks are found by number and job', f'{err} {own}')
    tap.ok(kin('report', f'{url}?rank=0&job=other')[0] == 1, 'those of another job are not there')


def test_sql(tap, kin, shards):
    """The SQL of doc/fleet.md gives the same figures as kin."""
    page = open(os.path.join(HERE, '..', '..', 'doc', 'fleet.md')).read()
    sql = re.search(r'```sql\n(SELECT name, sum\(w\) AS self.*?)```', page, re.S)[1]
    sql = re.sub(r'bucket >= .*', "bucket >= toDateTime(0) AND bucket < toDateTime(4294967295)", sql)
    sql = re.sub(r'(FROM|JOIN \(SELECT [^)]*? FROM) (samples|receipts|stacks|functions)', r'\1 sql.\2', sql)
    sql = sql.replace("service = 'web' AND version = '7'", "service = 'sql'").replace(' LIMIT 20', '')
    names, one = ['main', 'run', 'serve', 'parse', 'write', 'lock'], shards[:1]
    url = shards.url('sql', one)
    for i in range(4):
        text = random_recording(random.Random(70 + i), names).replace(' faults:', ' cycles:')
        kin('push', '-q', '--service=sql', url, write(kin.folder, f'sql{i}.script', text))
    rows = lambda *command: [json.loads(x) for x in rows_of(kin, url, *command)]
    for what, column, query in (('own time', 'self', sql),
                                ('time with callees', 'inclusive', sql.replace('functions[-1]', 'arrayDistinct(functions)').replace(
                                    'SELECT function, sum(w) AS w FROM (', 'SELECT arrayJoin(function) AS function, sum(w) AS w FROM ('))):
        want = {r['name']: r[column] for r in rows('flat', '-c', 'self,inclusive,name') if r[column]}
        got = {r['name']: int(r['self']) for r in json.loads(one[0].ask(query + ' FORMAT JSON'))['data']}
        tap.ok(want and got == want, f'SQL and kin flat agree on {what}', f'{got}\n{want}')


def test_tls(tap, kin, shards, folder):
    """https: who shows no certificate that is trusted hears no password."""
    if subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
                       'subjectAltName=DNS:localhost', '-keyout', 'tls.key', '-out', 'tls.pem'], cwd=folder,
                      capture_output=True).returncode:
        tap.skip('https', 'no openssl')
        return
    heard = []
    proxy = Liar(shards[0].port, lambda status, body: heard.append(1) or (status, {}, body),
                 [os.path.join(folder, 'tls.pem'), os.path.join(folder, 'tls.key')])
    url, pem = f'https://localhost:{proxy.server_address[1]}/tls', os.path.join(folder, 'tls.pem')
    path = write(folder, 'tls.script', 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 f+0x1 (/bin/web)\n\n')
    status, out, err = kin('push', url, path)
    tap.ok(status == 1 and 'certificate' in err and not heard, 'a certificate that nobody vouches for ends it', err)
    status, out, err = kin('push', url, path, env=servers.environment(KIN_STORE_CA=pem))
    tap.ok(status == 0 and heard and stacks_of(kin, shards.url('tls', shards[:1])) == ['web;f 10'], 'one of KIN_STORE_CA does', err)
    status, out, err = kin('report', url.replace('localhost', '127.0.0.1'), env=servers.environment(KIN_STORE_CA=pem))
    tap.ok(status == 1, 'the certificate of another host does not', err)
    status, out, err = kin('report', shards.url('tls', shards[:1]).replace('http:', 'https:'))
    tap.ok(status == 1 and 'is https spoken at that port?' in err, 'https where http is spoken is said', err)
    proxy.shutdown()
    proxy.server_close()


def test_filters(tap, kin, shards):
    url = shards.url('filters')
    one = 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 f+0x1 (/bin/web)\n\n'
    for i, text in enumerate(HOSTILE):
        path = write(kin.folder, f'f{i}.script', one.replace('10 cycles', f'{i + 1} cycles'))
        status, out, err = kin('push', '-q', '--service', text, '--service-version', text, '--host', text, '--label',
                               f'k={text}', url, path)
        if status:
            tap.ok(False, f'{text!r} is sent', err)
    quote = lambda t: ''.join(f'%{b:02x}' for b in t.encode())
    bad = [(key, text) for i, text in enumerate(HOSTILE) for key in ('service', 'version', 'host', 'k')
           if stacks_of(kin, f'{url}?{key}={quote(text)}') != [f'web;f {i + 1}']]
    tap.ok(not bad, 'hostile names find what they were sent with, and nothing else', bad)
    both = stacks_of(kin, f'{url}?service={quote(HOSTILE[0])}&service={quote(HOSTILE[2])}')
    tap.ok(both == ['web;f 4'], 'a key that is there twice means either', both)
    none = kin('report', f'{url}?service={quote(HOSTILE[0])}&version={quote(HOSTILE[1])}')
    tap.ok(none[0] == 1 and 'nothing in the store fits' in none[2], 'two keys mean both', none)
    said = kin('diff', url, os.path.join(kin.folder, 'f0.script'))[1]
    tap.ok('before is a sum of recordings, after one run' in said and 'a sum grows' in said, 'a store is not taken for one run', said)
    none = kin('diff', url, url + '?version=none')
    tap.ok(none[0] == 3 and none[2].startswith(f'kin diff: {url}?version=none: nothing'), 'of two URLs the one that nothing fits is named', none)
    status, out, err = kin('report', f'{url}?from=-1h&to=-2h')
    tap.ok(status == 2 and 'ends before' in err, 'a time that ends before it begins is told', err)
    old = write(kin.folder, 'old.script', one)
    os.utime(old, (1700000000, 1700000000))
    kin('push', '-q', '--service=old', url, old)
    tap.ok(stacks_of(kin, f'{url}?service=old&from=2023-11-14&to=2023-11-15') == ['web;f 10'], 'a day finds what was recorded then')
    tap.ok(kin('report', f'{url}?service=old&from=-1d')[0] == 1, 'another one does not')


def test_login(tap, kin, shards, folder):
    url, path = shards.url('login'), write(kin.folder, 'l.script', 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 f+0x1 (/bin/web)\n\n')
    wrong = servers.environment(KIN_STORE_PASSWORD='wrong secret')
    for words in (['push', url, path], ['report', url]):
        status, out, err = kin(*words, env=wrong)
        tap.ok(status == 1 and 'password' in err and 'wrong secret' not in err, f'kin {words[0]}: a wrong password is told', err)
    tap.ok('3 of 3 shards' in err and all(f':{s.port}' in err for s in shards), 'kin report names every shard that refuses it', err)
    status, out, err = kin('tidy', url, env=wrong)
    tap.ok(status == 1 and all(f':{s.port} does not let' in err for s in shards), 'kin tidy tells it of each shard', err)
    status, out, err = kin('push', url.replace('http://', 'http://kin:secret@'), path)
    tap.ok(status == 2 and 'secret' not in err and 'environment' in err, 'a password in the URL is refused, and not repeated', err)
    login = write(folder, 'login', f'user {servers.USER}\npassword {servers.PASSWORD}\n')
    env = {k: v for k, v in servers.environment(KIN_STORE_LOGIN=login).items() if k not in ('KIN_STORE_USER', 'KIN_STORE_PASSWORD')}
    os.chmod(login, 0o644)
    status, out, err = kin('push', url, path, env=env)
    tap.ok(status == 2 and 'chmod 600' in err, 'a file that others may read is refused', err)
    os.chmod(login, 0o600)
    status, out, err = kin('push', url, path, env=env)
    tap.ok(status == 0, 'the password may be in a file', err)
    tap.ok('1 sample in 1 row, 1 new stack\n' in err, 'one is not many', err)
    write(folder, 'login', f'# of the store\n\nusr {servers.USER}\npassword {servers.PASSWORD}\n')
    status, out, err = kin('push', url, path, env=env)
    tap.ok(status == 2 and 'login: line 3 is not understood' in err and servers.PASSWORD not in err, 'a word in it that means nothing is told', err)


def test_push_of_files(tap, kin, shards, folder):
    """A file that is missing, or has nothing to send, is named, and the others are sent; if the store is away, the command ends."""
    url, one = shards.url('files'), 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 f+0x1 (/bin/web)\n\n'
    good = [write(folder, f'good{i}.script', one.replace('10', str(i + 1))) for i in range(3)]
    damaged = write(folder, 'damaged.kin', 'no profile')
    status, out, err = kin('push', '--host=a', url, 'nosuch.kin', good[0], damaged, good[1], 'nosuch too.kin')
    tap.ok(status == 1 and err.count('nosuch.kin: No such file') == err.count('1 sample in') // 2 == 1 and 'damaged.kin: ' in err
           and 'nosuch too.kin: No such file' in err and stacks_of(kin, url) == ['web;f 3'], 'files that cannot be read are said, and the others sent', err)
    nothing = write(folder, 'nothing.json', '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[]},'
                    '"profiles":[{"type":"sampled","name":"","unit":"none","startValue":0,"endValue":0,"samples":[],"weights":[]}]}')
    status, out, err = kin('push', '--host=a', url, nothing, good[2])
    tap.ok(status == 1 and 'nothing.json: ' in err and '1 sample in' in err, 'a file without samples is named', err)
    several = os.path.join(folder, 'several.kin')
    kin('record', '-q', '-o', several, 'sh', '-c', f'{folder}/prog 300; seq 100000 | sort -R >/dev/null; {folder}/prog 300')
    if os.path.exists(several):
        kin('push', '-q', shards.url('several'), several)
        stored, recorded = sampled_of(kin, shards.url('several') + '?service=sh'), sampled_of(kin, several)
        tap.ok(stored == recorded, 'of several programs the command is the service', f'{stored}\n{recorded}')
    whole, cut = os.path.join(folder, 'whole.kin'), os.path.join(folder, 'cut.kin')
    kin('record', '-q', '-o', whole, 'sh', '-c', f'for i in 1 2 3 4; do {folder}/prog 900; sleep 0.6; done')
    if os.path.exists(whole):
        data = open(whole, 'rb').read()
        with open(cut, 'wb') as f:
            f.write(data[:len(data) * 3 // 4])
        status, out, err = kin('push', shards.url('cut'), whole, cut)
        notes = json.loads(kin('flat', '-f', 'json', shards.url('cut'))[1])['notes']
        tap.ok(status == 1 and err.count('samples in') == 2 and '1 recording was damaged' in ' '.join(notes) and
               kin('flat', '--strict', shards.url('cut'))[0] == 1, 'a report says that a recording in it was damaged', f'{err} {notes}')
    os.mkdir(os.path.join(folder, 'parts'))
    each = [os.path.join('parts', os.path.basename(f) + '.kin') for f in good]
    for f, part in zip(good, each):
        kin('merge', '-o', part, f)
    of_parts = shards.url('parts')
    sent = [kin('push', of_parts, *operands) for operands in (('parts',), each, ('parts/*.kin',))]
    tap.ok([s[0] for s in sent] == [0, 0, 0] and sent[0][2].count('1 sample in') == 3 and
           [s[2].count('already') for s in sent[1:]] == [3, 3] and stacks_of(kin, of_parts) == ['web;f 6'],
           'the recordings of a directory count once each', sent)
    for words in (['push', url, url, good[0]], ['push', url + '?from=-1h', good[0]], ['tidy', url + '?from=-9000w'],
                  ['tidy', '--keep=1.5d', url]):
        status, out, err = kin(*words)
        tap.ok(status == 2 and err.count('\n') == 1, f'what cannot be meant is refused: {words[:2]}', f'{status} {err}')
    status, out, err = kin('push', '--host=a', 'http://127.0.0.1:1/files', *good)
    tap.ok(status == 1 and 'good0.script and what follows is not sent' in err and 'good1' not in err, 'a store that is away ends it', err)
    status, out, err = kin('pack', url)
    tap.ok(status == 2 and 'kin merge -o FILE URL' in err, 'kin pack says what makes a recording of a store', err)


def big_recording(folder, seed, n=3000):
    r = random.Random(seed)
    return write(folder, f'big{seed}.folded', ''.join(
        f'main;{";".join(f"f{r.randint(0, 400)}" for _ in range(r.randint(3, 20)))};leaf{i} {r.randint(1, 1000)}\n' for i in range(n)))


def test_kills(tap, kin, shards, folder, rounds=6):
    """A server that is killed while it is sent to."""
    one, r = shards[:1], random.Random(1)
    url = shards.url('kills', one)
    files = [big_recording(folder, i) for i in range(rounds)]
    attempts = failed = 0
    for f in files:
        started = threading.Timer(r.uniform(0, 0.12), one[0].kill)
        started.start()
        status, out, err = kin('push', '-q', '--host=h', url, f)
        started.join()
        while True:
            attempts += 1
            one[0].start()
            status, out, err = kin('push', '-q', '--host=h', url, f)
            if not status:
                break
            failed += 1
            if attempts > 10 * rounds:
                break
    merged = os.path.join(folder, 'kills.kin')
    kin('merge', '-o', merged, *files)
    diff = same_views(kin, merged, url, VIEWS[1:3])
    tap.ok(not diff, f'{rounds} recordings count once, though the server was killed at each', diff)


class Cutter:
    """Between kin and a server: passes on so many bytes of a connection, either way, and ends it."""

    def __init__(self, port, limits):
        self.port, self.limits = port, list(limits)
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.here = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            up, down = self.limits.pop(0) if self.limits else (None, None)
            server = socket.create_connection(('127.0.0.1', self.port))
            for a, b, most in ((client, server, up), (server, client, down)):
                threading.Thread(target=self.pass_on, args=(a, b, most), daemon=True).start()

    def pass_on(self, a, b, most):
        left = most if most is not None else 1 << 60
        try:
            while left > 0:
                data = a.recv(min(65536, left))
                if not data:
                    break
                b.sendall(data)
                left -= len(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def test_cuts(tap, kin, shards, folder):
    """Connections that end anywhere: the sender does not know what was sent, and whether it arrived."""
    r = random.Random(2)
    files, direct = [], shards.url('cuts', shards[:1])
    for i in range(12):
        f = big_recording(folder, 100 + i, 300)
        files.append(f)
        limits = [(r.choice([None, r.randint(1, 60000)]), r.choice([None, r.randint(0, 1500)])) for _ in range(r.randint(1, 3))]
        cutter = Cutter(shards[0].port, limits)
        url = f'http://127.0.0.1:{cutter.here}/cuts'
        for _ in range(10):
            status, out, err = kin('push', '-q', '--host=h', url, f)
            if not status:
                break
        cutter.close()
        if status:
            tap.ok(False, f'{f} is sent in the end', err)
    merged = os.path.join(folder, 'cuts.kin')
    kin('merge', '-o', merged, *files)
    diff = same_views(kin, merged, direct, VIEWS[1:3])
    tap.ok(not diff, f'{len(files)} recordings count once, though connections were cut', diff)
    orphans = shards[0].ask('SELECT uniqExact(batch) FROM cuts.samples') + shards[0].ask('SELECT count() FROM cuts.receipts')
    tap.note(f'batches, receipts: {orphans.split()}')
    bad, total = [], sum(json.loads(row)['self'] for row in rows_of(kin, merged, 'flat'))
    for n in (0, 1, 100, 300, 400, 1000, 5000, 20000):
        cutter = Cutter(shards[0].port, [(None, n)] * 20)
        status, out, err = kin('flat', '--format=json', f'http://127.0.0.1:{cutter.here}/cuts')
        cutter.close()
        if not status and sum(row['self'] for row in json.loads(out)['rows']) != total:
            bad.append(n)
    tap.ok(not bad, 'an answer that is cut off is an error, or was whole', bad)


class Liar(http.server.ThreadingHTTPServer):
    """A proxy between kin and a server: lie(status, body) turns the server's answer into the one that is sent on, with headers."""
    daemon_threads = True

    def __init__(self, port, lie, certificate=None, greets=False):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                request = self.rfile.read(int(self.headers['Content-Length']))
                link = http.client.HTTPConnection('127.0.0.1', port)
                link.request('POST', self.path, request, {k: v for k, v in self.headers.items() if k != 'Host'})
                answer = link.getresponse()
                told = answer.status, answer.read()
                is_greeting = greets and request.startswith(b'SELECT toUInt64(')
                status, headers, body = (told[0], {}, told[1]) if is_greeting else lie(*told)
                link.close()
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    if isinstance(body, bytes):
                        self.send_header('Content-Length', str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)
                    else:  # without an end
                        self.end_headers()
                        for piece in body:
                            self.wfile.write(piece)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        super().__init__(('127.0.0.1', 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # a client that has heard enough

    def url(self, database):
        return f'http://127.0.0.1:{self.server_address[1]}/{database}'


def damaged(r, body):
    body = bytearray(body)
    for _ in range(r.choice([1, 1, 3, 30])):
        at = r.randint(0, max(0, len(body) - 1))
        how = r.randint(0, 4)
        if how == 0 and body:
            body[at] ^= 1 << r.randint(0, 7)
        elif how == 1:
            del body[at:at + r.randint(1, 200)]
        elif how == 2:
            body[at:at] = r.choice([b'\xff' * 10, b'\0' * 8, b'\x1b[2J', r.randbytes(r.randint(1, 100))])
        elif how == 3:
            body[at:at + 8] = b'\xff' * 8
        else:
            body += body[:at]
    return bytes(body)


def test_lies(tap, kin, shards, folder):
    """A server that answers anything at all."""
    kin('push', '-q', '--host=h', shards.url('lies', shards[:1]), big_recording(folder, 400, 200))
    f, bad, statuses = big_recording(folder, 401, 20), [], set()

    def ask(what, lie, *words, env=None, greets=True):
        liar = Liar(shards[0].port, lie, greets=greets)
        words = [w.replace('URL', liar.url('lies')) for w in words]
        status, out, err = kin(*words, env=env)
        liar.shutdown()
        liar.server_close()
        statuses.add(status)
        control = re.search(r'[\x00-\x08\x0b-\x1f\x7f]', err + out)
        if status not in (0, 1) or control or servers.PASSWORD in err or (status and not err) or err.count('\n') > 20:
            bad.append(f'{what}: {words} {status} {err[:500]!r}')
        return status, err

    for seed in range(40):
        r = random.Random(seed)
        views = (['report', 'URL'], ['flat', 'URL'], ['export', '--to=folded', 'URL'], ['lines', 'URL'])
        ask(f'damage {seed}', lambda status, body: (status, {}, damaged(r, body)), *(r.choice(views)))
    for text in (b'', b'Code: 60\n', b'Code: 99999999999999999999, \x1b[2J\x07 evil\r\n' * 9, b'x' * 100000, b'\0\xff' * 50):
        for status in (200, 204, 302, 401, 404, 500, 599):
            for words in (['report', 'URL'], ['push', '-q', 'URL', f]):
                ask(f'{status} {text[:20]}', lambda *_: (status, {'Location': 'http://127.0.0.1:1/'}, text), *words)
    tap.ok(not bad and statuses <= {0, 1}, 'whatever a server answers, kin ends with a message', '\n'.join(bad[:5]))
    for greets in (False, True):
        lies = [(text, words[0], ask('taken', lambda *_: (200, {}, text), *words, greets=greets))
                for text in (b'', b'Ok.\n', b'0\n', b'{}', b'<html>Welcome</html>\n', b'\xff' * 1000)
                for words in (['push', '-q', 'URL', f], ['report', 'URL'])]
        taken = [x for x in lies if x[2][0] == 0 or (x[1] == 'push' and 'does not answer as ClickHouse does' not in x[2][1])]
        tap.ok(not taken, 'what is no store confirms nothing' + ', even if it knows numbers' * greets, taken)
    status, err = ask('lost', lambda status, body: (status, {}, bytes(8) if len(body) == 8 else body), 'push', '-q', 'URL', f)
    tap.ok(status == 1 and 'does not have it' in err, 'what was confirmed is looked for', err)
    heard = []
    other = Liar(shards[0].port, lambda *x: heard.append(1) or (x[0], {}, x[1]))
    status, err = ask('redirect', lambda *_: (307, {'Location': other.url('lies')}, b''), 'report', 'URL')
    other.shutdown()
    other.server_close()
    tap.ok(not heard and not bad and 'to another address (HTTP 307)' in err, 'nobody else is asked because a server says so',
           '\n'.join([*bad, err]))


def test_one_lie(tap, kin, shards, folder):
    """A proxy before several servers, one of which is not ClickHouse: one of the answers that a command gets is empty."""
    direct, two, bare = shards.url('one_lie', shards[:1]), shards.url('one_lie', shards[:2]), servers.environment(KIN_CACHE='off')
    for i in range(8):
        kin('push', '-q', f'--host=h{i}', two, big_recording(folder, 410 + i, 30))

    def ask(n, text, *words):
        count = itertools.count()
        liar = Liar(shards[0].port, lambda status, body: (status, {}, text if next(count) == n else body), greets=True)
        ret = kin(*[w.replace('LIAR', f'127.0.0.1:{liar.server_address[1]}') for w in words], env=bare)
        liar.shutdown()
        liar.server_close()
        return ret

    lies, want = list(itertools.product(range(9), (b'', b'Ok.\n'))), stacks_of(kin, two)
    url = f'http://LIAR,127.0.0.1:{shards[1].port}/one_lie'
    said = {lie: ask(*lie, 'export', '--to=folded', url) for lie in lies}
    taken = [x for x in said.items() if x[1][0] == 0 and sorted(x[1][1].splitlines()) != want]
    tap.ok(len(want) == 240 and not taken, 'no question of a report takes nothing for an answer', taken)
    sent = [ask(*lie, 'push', '-q', 'http://LIAR/one_lie', big_recording(folder, 420 + i, 30)) for i, lie in enumerate(lies)]
    status, out, err = kin('report', direct, env=bare)
    tap.ok(status == 0 and not any(s[0] for s in sent), 'so it is with kin push, which asks again', f'{err} {sent}')


def test_doubles(tap, kin, shards, folder):
    """A recording that two shards have counts once: a server with two names, recordings sent by a URL with other shards."""
    one, url = shards.url('doubles', shards[:1]), shards.url('doubles')
    files = [big_recording(folder, 450 + i, 50) for i in range(9)]
    for i, f in enumerate(files):
        kin('push', '-q', f'--host=h{i}', one, f)
    want, named = stacks_of(kin, one), one.replace('/doubles', f',localhost:{shards[0].port}/doubles')
    tap.ok(len(want) > 300 and stacks_of(kin, named) == want, 'a server of two names counts once', named)
    for i, f in enumerate(files):
        kin('push', '-q', f'--host=h{i}', url, f)
    kin('tidy', url)
    rows = [s.ask('SELECT count() FROM doubles.receipts') for s in shards]
    tap.ok(stacks_of(kin, url) == want and min(map(int, rows)), 'so do recordings that were sent by URLs of one shard and of three', rows)
    tap.ok(stacks_of(kin, url + '?' + '&'.join(f'host=h{i}' for i in range(9))) == want, '... of those that are asked for')
    shards[0].ask("INSERT INTO doubles.receipts SELECT toDateTime(1700000000), toDateTime(1700000000), cityHash64(number), number, 's', '', "
                  "'h', emptyArrayString(), 1, 1, emptyArrayString() FROM system.numbers LIMIT 70000")
    status, out, err = kin('report', named)
    tap.ok(status == 1 and 'shard 2 of 2' in err and 'is it the same server?' in err, 'too many to compare are an error', f'{status} {err}')


def test_endless_answers(tap, kin, shards):
    """An answer that does not end takes no more memory than there may be."""
    liar = Liar(shards[0].port, lambda *_: (200, {'Connection': 'close'}, itertools.repeat(b'x' * (1 << 20))))
    most = 400 << 20
    done = subprocess.run([kin.kin, 'report', liar.url('lies')], cwd=kin.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, env=servers.environment(),
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    liar.shutdown()
    liar.server_close()
    tap.ok(done.returncode == 1 and 'memory' in done.stderr, 'an answer without an end is an error', f'{done.returncode} {done.stderr[:300]}')


def test_shard_down(tap, kin, shards, folder):
    url = shards.url('down')
    files = {f'h{i}': big_recording(folder, 200 + i, 50) for i in range(9)}
    for host, f in files.items():
        kin('push', '-q', '--host', host, url, f)
    whole = stacks_of(kin, url)
    merged = os.path.join(folder, 'down.kin')
    kin('merge', '-o', merged, *files.values())
    tap.ok(whole == stacks_of(kin, merged), 'three shards are one store')
    shards[1].kill()
    for words in (['report'], ['flat'], ['export', '--to=folded'], ['html', '-o', os.path.join(folder, 'p.html')]):
        status, out, err = kin(*words, url)
        tap.ok(status == 1 and 'shard 2 of 3' in err and f':{shards[1].port}' in err,
               f'kin {words[0]} names the shard that is down', f'{status} {err}')
    page = open(os.path.join(folder, 'p.html')).read()
    page = zlib.decompress(base64.b64decode(re.search('id="data">([^<]*)', page)[1]))
    part = os.path.join(folder, 'part.kin')
    kin('merge', '-o', part, url)
    notes = [json.loads(kin('flat', '-f', 'json', path)[1])['notes'] for path in (url, part)]
    tap.ok(b'shard 2 of 3' in page and all('shard 2 of 3' in ' '.join(n) for n in notes), 'so does what is kept of it: page, notes, recording', notes)
    tap.ok(kin('flat', '--strict', part)[0] == 1, '... and it is no reliable recording')
    f = big_recording(folder, 300, 50)
    results = {}
    for i in range(12):
        results[i] = kin('push', '-q', '--host', f'new{i}', url, f)
    bad = [x for x in results.values() if x[0] and f':{shards[1].port}' not in x[2]]
    old = write(folder, 'old.script', random_recording(random.Random(2), ['main', 'run']))
    for day in (29, 28):
        os.utime(old, (time.time() - day * 86400,) * 2)
        for host in files:
            kin('push', '-q', '--service=behind', '--host', host, shards.url('down', [shards[2]]), old)
    rows = lambda: int(shards[2].ask("SELECT count() FROM down.receipts WHERE service = 'behind'"))
    before, tidied = rows(), kin('tidy', '--keep=10d', url)
    tap.ok(tidied[0] == 1 and f':{shards[1].port}' in tidied[2] and '2 days dropped' in tidied[2] and before and not rows(),
           'kin tidy names the shard that is down, and tidies those behind it', (tidied, before))
    failed = [i for i, x in results.items() if x[0]]
    tap.ok(failed and len(failed) < 12 and not bad, 'what belongs to that shard is not sent, and it is told', results)
    shards[1].start()
    tap.ok(stacks_of(kin, url + ''.join(f'{"&" if i else "?"}host=h{i}' for i in range(9))) == whole, 'it is whole again when the shard is')
    for i in range(12):
        kin('push', '-q', '--host', f'new{i}', url, f)
    hosts = sum(int(s.ask('SELECT count() FROM down.receipts')) for s in shards)
    tap.ok(hosts == 9 + 12, 'then all can be sent, and what was there is not sent again', hosts)
    shards[1].ask('DROP TABLE down.receipts')
    status, out, err = kin('report', url)
    tap.ok(status == 1 and 'shard 2 of 3' in err and 'receipts' in err, 'a shard that lost a table is not an empty one', f'{status} {err}')
    for shard in shards:
        shard.ask('DROP DATABASE down')
    for words in (['report'], ['tidy']):
        status, out, err = kin(*words, url)
        tap.ok(status == 1 and "no database 'down'" in err, f'kin {words[0]} says that there is no such store', f'{status} {err}')
    tap.ok(not int(shards[0].ask("SELECT count() FROM system.databases WHERE name = 'down'")), '... and makes none')


def waiting(spool):
    return [f for f in os.listdir(spool) if f.startswith('recording.kin.')]


def end_agent(agent):
    agent.send_signal(signal.SIGTERM)
    return agent.communicate(timeout=600)[1]


def test_agent(tap, kin, shards, folder):
    one, spool = shards[:1], os.path.join(folder, 'spool')
    url = shards.url('agent', one)

    def agent(*words, stderr=subprocess.PIPE):
        return subprocess.Popen([kin.kin, 'agent', url, '--every=1s', '--spool', spool, *words], cwd=folder, env=servers.environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, text=True)

    first = agent()
    time.sleep(3)
    if first.poll() is not None:
        tap.skip('an agent records the machine', first.communicate()[1])
        return
    second = subprocess.run([kin.kin, 'agent', url, '--spool', spool], env=servers.environment(), capture_output=True, text=True)
    tap.ok(second.returncode == 2 and 'another kin agent' in second.stderr, 'two agents do not share a spool', second.stderr)
    said = end_agent(first)
    tap.ok(first.returncode == 0 and 'recording took' in said and '0 wait' in said and not waiting(spool),
           'an agent sends all that it recorded, and says what it costs', said)
    both = agent('-e', 'page-faults', '-e', 'cpu-clock')
    events = lambda: one[0].ask('SELECT DISTINCT name FROM agent.events ORDER BY name').split()
    wait_until(lambda: {'cpu-clock', 'page-faults'} <= set(events()), 20)
    said = end_agent(both)
    tap.ok({'cpu-clock', 'page-faults'} <= set(events()), 'each -e of an agent counts', f'{events()} {said}')
    sent = int(one[0].ask('SELECT count() FROM agent.receipts'))
    killed = agent('--every=10m')
    recording, sizes = os.path.join(spool, 'recording.kin'), set()
    # The file is whole up to the last second.
    wait_until(lambda: os.path.exists(recording) and (sizes.add(os.path.getsize(recording)) or len(sizes) > 3))
    killed.kill()
    killed.communicate()
    tap.ok(os.path.exists(os.path.join(spool, 'recording.kin')), 'a killed agent leaves its recording')
    count = lambda: int(one[0].ask('SELECT count() FROM agent.receipts'))
    said = end_agent_after(agent, lambda: count() > sent)
    now = int(one[0].ask('SELECT count() FROM agent.receipts'))
    tap.ok(now > sent and 'dropped' not in said, 'the next one sends it', said)
    one[0].kill()
    away = agent()
    enough = wait_until(lambda: len(waiting(spool)) >= 3)
    said = end_agent(away)
    left = len(waiting(spool))
    tap.ok(enough and left >= 3 and 'recordings wait in' in said, 'what cannot be sent waits', f'{left} {said}')
    tap.ok(servers.PASSWORD not in said, 'the password is in no message')
    one[0].start()
    said = end_agent_after(agent, lambda: count() >= now + left)
    after = int(one[0].ask('SELECT count() FROM agent.receipts'))
    tap.ok(after >= now + left - 1 and not waiting(spool), 'it is sent when the store is there again', f'{now} {left} {after} {said}')
    liar = Liar(shards[0].port, lambda *_: (200, {}, b'Ok.\n'))
    fooled = subprocess.Popen([kin.kin, 'agent', liar.url('agent'), '--every=1s', '--spool', spool], cwd=folder, env=servers.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(waiting(spool)) >= 2)
    said = end_agent(fooled)
    tap.ok(len(waiting(spool)) >= 2 and 'does not answer as ClickHouse does' in said, 'it waits as well if what confirms is no store', said)
    liar.shutdown()
    liar.server_close()
    one[0].kill()
    with open(os.path.join(folder, 'full-spool.err'), 'w+') as err:
        full = agent('--spool-size=1K', stderr=err)
        said = lambda: err.seek(0) or err.read()
        dropped = wait_until(lambda: 'no more room' in said())
        left = len(waiting(spool))
        end_agent(full)
        odd = re.search(r'\b1 recordings|\b(?!1 )\d+ recording is', said())
        tap.ok(dropped and left <= 1 and not odd, 'a full spool drops the oldest, and says so', f'{left} {said()}')
    one[0].start()


def test_agent_on_a_full_disk(tap, kin, shards, folder):
    """The spool's disk fills up while the store is away, and is free again later."""
    disk = os.path.join(folder, 'disk')
    os.mkdir(disk)
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'none', disk], stderr=subprocess.DEVNULL).returncode:
        tap.skip('an agent whose disk is full', 'no file system can be mounted here')
        return
    url = shards.url('full', shards[:1])
    said = os.path.join(folder, 'full-disk.err')
    try:
        shards[0].kill()
        with open(said, 'w') as err:
            agent = subprocess.Popen([kin.kin, 'agent', url, '--every=1s', '--spool', os.path.join(disk, 'spool')], cwd=folder,
                                     env=servers.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        heard = lambda words: words in open(said).read()
        has_begun = lambda: os.path.isdir(os.path.join(disk, 'spool')) and bool(waiting(os.path.join(disk, 'spool')))
        wait_until(lambda: has_begun() or agent.poll() is not None)
        begun = has_begun()
        if not begun and agent.poll() is not None:
            tap.skip('an agent whose disk is full', 'nothing can be recorded here')
            return
        with open(os.path.join(disk, 'other'), 'wb', buffering=0) as f:
            try:
                while True:
                    f.write(bytes(1 << 16))
            except OSError:
                pass
        dropped = wait_until(lambda: heard('no more room'))
        time.sleep(2)
        tap.ok(begun and dropped and agent.poll() is None, 'on a full disk an agent drops what waits, says so, and goes on', open(said).read())
        os.unlink(os.path.join(disk, 'other'))
        shards[0].start()
        count = lambda: int(shards[0].ask("SELECT sum(rows) FROM system.parts WHERE active AND database = 'full' AND table = 'receipts'"))
        sent = wait_until(lambda: count() >= 2)
        agent.send_signal(signal.SIGTERM)
        tap.ok(sent and agent.wait(600) == 0, 'when there is room again it records and sends', open(said).read())
        doubted = kin('report', url)
        tap.ok(doubted[0] == 0, 'what it sent is whole', doubted[2])
    finally:
        if agent.poll() is None:
            agent.kill()
            agent.wait()
        subprocess.run(['umount', '-l', disk])


CLOCK = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* The clock of this process: as many seconds from the real one as the file says. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	long off = 0;
	FILE *f;
	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int ret = real(clock, t);
	if (clock == CLOCK_REALTIME && (f = fopen(getenv("CLOCK_OFF"), "r"))) {
		if (fscanf(f, "%ld", &off) == 1)
			t->tv_sec += off;
		fclose(f);
	}
	return ret;
}
time_t time(time_t *ret)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return ret ? (*ret = t.tv_sec) : t.tv_sec;
}
'''


def test_agent_and_clock(tap, kin, shards, folder):
    """The clock is set while an agent records: an hour back, then two days on."""
    write(folder, 'clock.c', CLOCK)
    off = write(folder, 'clock.off', '0')
    if subprocess.run(['cc', '-shared', '-fPIC', '-o', 'clock.so', 'clock.c', '-ldl'], cwd=folder).returncode:
        tap.skip('an agent whose clock is set', 'no compiler')
        return
    one, url = shards[0], shards.url('clock', shards[:1])
    spool = os.path.join(folder, 'clock-spool')
    env = servers.environment(LD_PRELOAD=os.path.join(folder, 'clock.so'), CLOCK_OFF=off)
    agent = subprocess.Popen([kin.kin, 'agent', url, '--every=1s', '--spool', spool], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def count(low, high):
        try:
            now = int(time.time())
            return int(one.ask(f'SELECT count() FROM clock.receipts WHERE low >= toDateTime({now + low - 90}) AND low < toDateTime({now + high})'))
        except urllib.error.HTTPError:  # no table yet
            return 0

    moves, reached = [0, -3600, 2 * 86400], []
    for move in moves:
        write(folder, 'new.off', str(move))
        os.rename(os.path.join(folder, 'new.off'), off)
        reached.append(wait_until(lambda: count(move, move + 300) >= 2 or agent.poll() is not None))
    agent.send_signal(signal.SIGTERM)
    said = agent.communicate(timeout=600)[1]
    if agent.returncode and 'cannot' in said:
        tap.skip('an agent whose clock is set', said)
        return
    all_of = int(one.ask('SELECT sum(samples) FROM clock.receipts'))
    told = re.search(r'sent (\d+) samples', said)
    tap.ok(agent.returncode == 0 and all(reached) and not waiting(spool) and told and all_of == int(told[1]),
           'the clock may be set: all is sent, under the time that was', f'{reached} {all_of} {said}')
    total = lambda span: sum(int(x.rsplit(' ', 1)[1]) for x in stacks_of(kin, url + span, '--event=' + event))
    event = one.ask('SELECT any(name) FROM clock.events').strip()
    now = int(time.time())
    parts = [total(f'?from={now + move - 1800}&to={now + move + 1800}') for move in moves]
    tap.ok(all(parts) and sum(parts) == total(''), 'each time has its own, and together they are all', parts)


def end_agent_after(agent, condition):
    a = agent()
    wait_until(lambda: os.path.exists(os.path.join(a.args[a.args.index('--spool') + 1], 'recording.kin')))
    wait_until(condition)
    return end_agent(a)


def test_alone(tap, build, folder):
    """kin where kin-fleet is not installed."""
    alone, store = os.path.join(folder, 'alone'), 'http://localhost:1/profiles?service=web'
    os.mkdir(alone)
    shutil.copy(os.path.join(build, 'kin'), alone)
    run = lambda *words: subprocess.run([os.path.join(alone, 'kin'), *words], env={'PATH': alone}, stdin=subprocess.DEVNULL,
                                        capture_output=True, text=True)
    for words in (('report', store), ('report', '-i', store), ('flat', '--input=' + store), ('check', store, store), ('gprof', 'a.out', store),
                  ('push', store, 'a.kin'), ('agent', '--help'), ('help', 'tidy'), ('help', 'all', 'push')):
        done = run(*words)
        tap.ok(done.returncode == 1 and not done.stdout and done.stderr.count('\n') == 1 and 'install the package kin-fleet' in done.stderr,
               f'without kin-fleet: kin {words[0]} {words[1]}', done.stdout + done.stderr)
    for words in (('record', '-o', '/', 'true', store), ('check', 'a.gmon', '--', 'true', store), ('cc', 'true', store)):
        done = run(*words)
        tap.ok('kin-fleet' not in done.stderr, f'a URL that is a program\'s word concerns nobody: kin {words[0]}', done.stderr)
    said = run('help', 'all').stdout
    tap.ok(all(re.search(rf'^  {word} ', said, re.M) for word in ('push', 'agent', 'tidy')), 'the commands of kin-fleet are listed', said)


def main():
    args = sys.argv[1:]
    seeds = int(args[args.index('--seeds') + 1]) if '--seeds' in args else 12
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='kin-fleet-') as folder:
        tap.part(test_alone, tap, args[0], folder)
    why = servers.missing()
    if why:
        tap.skip('recordings in a store', why)
        return tap.done()
    with tempfile.TemporaryDirectory(prefix='kin-fleet-') as folder:
        kin = Kin(args[0], folder)
        write(folder, 'prog.c', PROGRAM)
        subprocess.run(['cc', '-g', '-O1', '-o', 'prog', 'prog.c'], cwd=folder, check=True)
        os.environ['XDG_CACHE_HOME'] = os.path.join(folder, 'cache')
        mute = Mute(kin)
        with servers.Servers(3, folder) as shards:
            tap.part(test_recordings, tap, kin, shards, folder)
            tap.part(test_sums, tap, kin, shards, seeds)
            tap.part(test_events, tap, kin, shards, folder)
            tap.part(test_example, tap, kin, folder)
            tap.part(mute.check, tap)
            tap.part(test_other_engines, tap, kin, shards, folder)
            tap.part(test_tidy, tap, kin, shards, folder)
            tap.part(test_kept_stacks, tap, kin, shards, folder)
            tap.part(test_ranks, tap, kin, shards, folder)
            tap.part(test_sql, tap, kin, shards)
            tap.part(test_tls, tap, kin, shards, folder)
            tap.part(test_filters, tap, kin, shards)
            tap.part(test_login, tap, kin, shards, folder)
            tap.part(test_push_of_files, tap, kin, shards, folder)
            tap.part(test_cuts, tap, kin, shards, folder)
            tap.part(test_lies, tap, kin, shards, folder)
            tap.part(test_one_lie, tap, kin, shards, folder)
            tap.part(test_doubles, tap, kin, shards, folder)
            tap.part(test_endless_answers, tap, kin, shards)
            tap.part(test_kills, tap, kin, shards, folder)
            tap.part(test_shard_down, tap, kin, shards, folder)
            with subprocess.Popen(['sh', '-c', 'while :; do :; done'], stdin=subprocess.DEVNULL) as busy:  # an idle machine has nothing to send
                tap.part(test_agent, tap, kin, shards, folder)
                busy.kill()
            tap.part(test_agent_on_a_full_disk, tap, kin, shards, folder)
            tap.part(test_agent_and_clock, tap, kin, shards, folder)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

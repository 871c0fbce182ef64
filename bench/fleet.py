"""A store of many hosts: what it takes on disk, and how long kin takes for reports of it.

    fleet.py BUILD [--hosts N] [--hours N] [--shards N] [--rounds N] [--day]
    fleet.py BUILD --agent SECONDS

ClickHouse servers on the loopback hold, for each host and ten minutes, 3,200 samples drawn by Zipf's law from 200,000
stacks of 25 frames (30,000 functions, 90,000 lines): some 1,900 rows. Every query of a server has the 128 MiB that
doc/fleet.md says it needs, and fails beyond. Prints a table. --day: also reports of a day: of sums of hours, which are
copies of the first one, and of their sum. --agent: what kin agent says that it costs while two programs do nothing but compute.

The yardstick of a machine is how long the servers alone take for the sum of each stack in that hour, whatever receipts say. It
is taken before each report of an hour. A second table has the medians, and how many times the yardstick that is.
"""
import argparse
import collections
import concurrent.futures
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'test', 'fleet'))
import servers

STACKS, DEPTH, FUNCTIONS, FRAMES, DRAWS, BUCKET = 200000, 25, 30000, 90000, 3200, 600
BEGIN = 1700002800  # a whole hour
QUERY_BYTES = 128 << 20
SCRIPT = 'web 1/1 [000] 1.0: 10 cycles:\n\t1000 first+0x1 (/bin/web)\n\n'


def kin(build, *words):
    """Status, wall time in s, processor time in s, largest memory in MiB, standard error."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as err:
        p = subprocess.Popen([os.path.join(os.path.abspath(build), 'kin'), *words], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=err, env=servers.environment())
        _, status, usage = os.wait4(p.pid, 0)
        err.seek(0)
        text = err.read().decode(errors='replace')
    p.returncode = os.waitstatus_to_exitcode(status)
    return p.returncode, time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def fill_by(shard, sql):
    """Fills a table by a query, which may take more memory than kin's queries."""
    try:
        shard.ask(sql, max_memory_usage='4000000000')
    except urllib.error.HTTPError as e:
        raise SystemExit(f'{sql}: {e.read().decode(errors="replace")}')


def fill_names(shard, db):
    fill_by(shard, f"INSERT INTO {db}.functions SELECT intHash64(number + 1), concat('function_', toString(number)), "
              f"concat('source', toString(number % 900), '.c'), toUInt32(number % 5000 + 1), "
              f"concat('/usr/lib/lib', toString(number % 40), '.so'), 'a1b2c3', 0, 0, toUInt64(4096 + 64 * number) "
              f'FROM numbers({FUNCTIONS})')
    fill_by(shard, f"INSERT INTO {db}.frames SELECT intHash64(number + 1000001), intHash64(number % {FUNCTIONS} + 1), "
              f"concat('source', toString(number % {FUNCTIONS} % 900), '.c'), toUInt32(number % 5000 + 7), "
              f'0, 0 FROM numbers({FRAMES})')
    # Callers are shared: neighbours have the same ones but for the last levels.
    frame = f'intHash64(l * 1000003 + bitShiftRight(number, toUInt8(l < 18 ? 18 - l : 0))) % {FRAMES}'
    fill_by(shard, f"INSERT INTO {db}.stacks SELECT intHash64(number + 2000001), 'web', 0, "
              f'arrayMap(l -> intHash64({frame} + 1000001), range({DEPTH})), '
              f'arrayMap(l -> intHash64({frame} % {FUNCTIONS} + 1), range({DEPTH})) FROM numbers({STACKS})')


def fill_hour(shard, db, service, event, hosts):
    step, buckets = 20, 3600 // BUCKET
    for i in range(0, len(hosts), step):
        some = hosts[i:i + step]
        host = f'arrayElement([{",".join(map(str, some))}], toUInt32(number % {len(some)} + 1))'
        bucket = f'toUInt32({BEGIN} + intDiv(number, {len(some)}) % {buckets} * {BUCKET})'
        stack = f'toUInt64(pow({STACKS}, intHash64(number + {some[0] * 100000}) / 18446744073709551616.)) - 1'
        fill_by(shard, f'INSERT INTO {db}.samples SELECT toDateTime(b), {service}, {event}, intHash64(s + 2000001), '
                       f'intHash64(b * 100000 + h), sum(20000000 + intHash32(n) % 1000000), count() FROM '
                       f'(SELECT {host} AS h, {bucket} AS b, {stack} AS s, number AS n FROM '
                       f'numbers({len(some) * buckets * DRAWS})) GROUP BY b, h, s')
    fill_by(shard, f"INSERT INTO {db}.receipts SELECT toDateTime(b), toDateTime(b), intHash64(b * 100000 + h), "
                   f"intHash64(b * 100000 + h), 'scale', '7', concat('host', toString(h)), emptyArrayString(), 0, {DRAWS}, "
                   f'emptyArrayString() FROM (SELECT arrayJoin([{",".join(map(str, hosts))}]) AS h, '
                   f'toUInt32({BEGIN} + number * {BUCKET}) AS b FROM numbers({buckets}))')


def copy_hour(shard, db, hour):
    """The first one again, later."""
    later = hour * 3600
    fill_by(shard, f'INSERT INTO {db}.samples SELECT bucket + {later}, service, event, stack, bitXor(batch, {hour}), weight, count '
                   f'FROM {db}.samples WHERE bucket >= toDateTime({BEGIN}) AND bucket < toDateTime({BEGIN + 3600})')
    fill_by(shard, f'INSERT INTO {db}.receipts SELECT low + {later}, high + {later}, bitXor(content, {hour}), '
                   f'bitXor(batch, {hour}), service, version, host, labels, rows, samples, doubts FROM {db}.receipts '
                   f'WHERE low >= toDateTime({BEGIN}) AND low < toDateTime({BEGIN + 3600})')


def copy_sums(shard, db, hour):
    """Copies the sum of the first hour, with its receipts, to a later hour; the rows that were summed are not copied."""
    later, first = hour * 3600, f'bucket = toDateTime({BEGIN})'
    fill_by(shard, f'INSERT INTO {db}.rollups SELECT bucket + {later}, service, event, stack, bitXor(rollup, {hour}), low, high, count '
                   f'FROM {db}.rollups WHERE {first}')
    fill_by(shard, f'INSERT INTO {db}.rollup_batches SELECT bucket + {later}, bitXor(rollup, {hour}), bitXor(content, {hour}), '
                   f'bitXor(batch, {hour}) FROM {db}.rollup_batches WHERE {first}')
    fill_by(shard, f'INSERT INTO {db}.rollup_receipts SELECT bucket + {later}, bitXor(rollup, {hour}), service, version, recordings '
                   f'FROM {db}.rollup_receipts WHERE {first}')
    fill_by(shard, f'INSERT INTO {db}.receipts SELECT low + {later}, high + {later}, bitXor(content, {hour}), bitXor(batch, {hour}), '
                   f'service, version, host, labels, rows, samples, doubts FROM {db}.receipts '
                   f'WHERE low >= toDateTime({BEGIN}) AND low < toDateTime({BEGIN + 3600})')


def sum_day(shard, db, day):
    """The sum of a day as kin tidy makes it, but from the sums of hours, because copied hours have no single rows."""
    hours, head = f'bucket >= toDateTime({day}) AND bucket < toDateTime({day + 86400})', f'toDateTime({day})'
    fill_by(shard, f'INSERT INTO {db}.day_rollups SELECT {head}, service, event, stack, toUInt64({day}), sum(low), sum(high), sum(count) '
                   f'FROM {db}.rollups WHERE {hours} GROUP BY service, event, stack')
    fill_by(shard, f'INSERT INTO {db}.day_rollup_batches SELECT {head}, toUInt64({day}), content, batch FROM {db}.rollup_batches WHERE {hours}')
    fill_by(shard, f'INSERT INTO {db}.day_rollup_receipts SELECT {head}, toUInt64({day}), service, version, sum(recordings) '
                   f'FROM {db}.rollup_receipts WHERE {hours} GROUP BY service, version')


def fill(build, shards, db, hosts, hours):
    for i, shard in enumerate(shards):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'one.script')
            with open(path, 'w') as f:
                f.write(SCRIPT)
            status, *_, err = kin(build, 'push', '-q', '--service=scale', shards.url(db, [shard]), path)
        if status:
            raise SystemExit(err)
        service, event = shard.ask(f'SELECT service, event FROM {db}.samples').split()
        fill_names(shard, db)
        fill_hour(shard, db, service, event, list(range(i, hosts, len(shards))))
        for hour in range(1, hours):
            copy_hour(shard, db, hour)
        for table in ('samples', 'stacks', 'frames', 'functions'):
            fill_by(shard, f'OPTIMIZE TABLE {db}.{table} FINAL')


def sizes(shards, db):
    for table in ('samples', 'stacks'):
        rows, size = (sum(x) for x in zip(*(map(int, s.ask(
            f"SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = '{db}' AND table = '{table}'").split())
            for s in shards)))
        print(f'| {table} | {rows:,} rows, {size / rows:.1f} bytes each |')


def cpu_of(shards):
    """Processor time of the servers, in s."""
    ticks = 0
    for s in shards:
        with open(f'/proc/{s.process.pid}/stat') as f:
            ticks += sum(map(int, f.read().rsplit(')', 1)[1].split()[11:13]))
    return ticks / os.sysconf('SC_CLK_TCK')


def measure(build, shards, what, *words):
    """Prints a row. Wall time in s; None if it failed."""
    before = cpu_of(shards)
    status, wall, cpu, memory, err = kin(build, *words)
    print(f'| {what} | {wall:.2f} s | {cpu_of(shards) - before:.2f} s | {cpu:.2f} s | {memory:.0f} MiB |' + (f' FAILED: {err.strip()}' if status else ''))
    return None if status else wall


def yardstick(shards, db):
    """Wall time in s of the servers' answers, each for its part, at the same time."""
    sql = (f'SELECT stack, sum(weight) FROM {db}.samples WHERE bucket >= toDateTime({BEGIN}) AND bucket < toDateTime({BEGIN + 3600}) '
           'GROUP BY stack FORMAT RowBinary')
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(shards)) as pool:
        list(pool.map(lambda shard: shard.ask(sql), shards))
    return time.monotonic() - began


def measure_hour(build, shards, db, folder, rounds):
    """Reports of the hour in turn. Whether all went well."""
    url = f'{shards.url(db)}?service=scale&from={BEGIN}&to={BEGIN + 3600}'
    views = (['report'], ['flat'], ['graph'], ['graph', '--min-share=0'], ['html', '-o', os.path.join(folder, 'page.html')],
             ['export', '--to=folded'], ['diff', url])
    ok = measure(build, shards, 'an hour, stacks not cached yet: kin report', 'report', url) is not None
    alone, walls = [], collections.defaultdict(list)
    for _ in range(rounds):
        for view in views:
            name = 'kin ' + ' '.join(w for w in view if not w.startswith(('http', '/')))
            alone.append(yardstick(shards, db))
            walls[name].append(measure(build, shards, f'an hour: {name}', *view, url))
    print(f'\nThe servers alone: {statistics.median(alone):.2f} s ({min(alone):.2f} to {max(alone):.2f})\n')
    print('| an hour | elapsed, median | times the servers alone |\n|---|---|---|')
    for name, all_of_it in walls.items():
        if None in all_of_it:
            ok = False
            continue
        print(f'| {name} | {statistics.median(all_of_it):.2f} s | {statistics.median(all_of_it) / statistics.median(alone):.1f} |')
    return ok


def measure_agent(build, shards, seconds):
    """Beside a busy loop for each of two cores; the agent's own words, and the load."""
    with tempfile.TemporaryDirectory() as spool:
        busy = [subprocess.Popen(['sh', '-c', 'while :; do :; done'], stdin=subprocess.DEVNULL) for _ in range(2)]
        try:
            agent = subprocess.Popen([os.path.join(os.path.abspath(build), 'kin'), 'agent', '--spool', spool, shards.url('agent')],
                                     stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=servers.environment())
            time.sleep(seconds)
            agent.send_signal(signal.SIGINT)
            err = agent.communicate()[1]
        finally:
            for b in busy:
                b.kill()
                b.wait()
    print(f'{seconds} s, two busy loops, load average {os.getloadavg()[0]:.1f}\n{err}', end='')
    return agent.returncode == 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument('build')
    p.add_argument('--hosts', type=int, default=1000)
    p.add_argument('--hours', type=int, default=1)
    p.add_argument('--shards', type=int, default=3)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--day', action='store_true')
    p.add_argument('--agent', type=int, metavar='SECONDS')
    args = p.parse_args()
    why = servers.missing()
    if why:
        raise SystemExit(why)
    ok = True
    with tempfile.TemporaryDirectory(prefix='kin-fleet-') as folder, servers.Servers(args.shards, folder, QUERY_BYTES) as shards:
        if args.agent:
            return 0 if measure_agent(args.build, shards, args.agent) else 1

        def went_well(what, *words):
            return measure(args.build, shards, what, *words) is not None

        began = time.monotonic()
        fill(args.build, shards, 'scale', args.hosts, args.hours)
        print(f'{args.hosts} hosts, {args.hours} h, {args.shards} shards; filled in {time.monotonic() - began:.0f} s\n')
        sizes(shards, 'scale')
        head = '| | elapsed | CPU, servers | CPU, kin | memory, kin |\n|---|---|---|---|---|'
        print('\n' + head)
        ok &= measure_hour(args.build, shards, 'scale', folder, args.rounds)
        print('\n' + head)
        span = f'&from={BEGIN}&to={BEGIN + 3600}'
        url = shards.url('scale') + '?service=scale'
        ok &= went_well('an hour of one host', 'report', url + span + '&host=host7')
        ok &= went_well(f'{args.hours} h: kin report', 'report', url)
        ok &= went_well(f'{args.hours} h: kin tidy', 'tidy', shards.url('scale'))
        ok &= went_well(f'{args.hours} h, tidied: kin report', 'report', url)
        for view in (['report'], ['graph'], ['graph', '--min-share=0'], ['export', '--to=folded']):
            ok &= went_well(f'an hour, tidied: kin {" ".join(view)}', *view, url + span)
        if args.day:
            first = -(-(BEGIN + 3600 * args.hours) // 86400) * 86400  # the next midnight
            span = f'&from={first}&to={first + 86400}'
            for hour in range((first - BEGIN) // 3600, (first - BEGIN) // 3600 + 24):
                for shard in shards:
                    copy_sums(shard, 'scale', hour)
            for view in ('report', 'graph'):
                ok &= went_well(f'a day, sums of hours: kin {view}', view, url + span)
            for shard in shards:
                sum_day(shard, 'scale', first)
            for view in ('report', 'graph'):
                ok &= went_well(f'a day, its sum: kin {view}', view, url + span)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())

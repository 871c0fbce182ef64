"""Names, lines and sources from debuginfod servers: elfutils' own on the loopback, and ones that misbehave.

    debuginfod.py BUILD
"""
import collections
import ctypes
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

LIMIT = 120  # seconds for one command: the machine may be busy

SOURCE = r'''
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x) { x ^= x << 13; return x ^ x >> 17; }
static __attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned s = 1;
	for (unsigned i = 0; i < n; i++)
		s += mix(s + i);
	return s;
}
int main(int argc, char **argv)
{
	(void)argv;
	return printf("%u\n", work(200000000u + argc)) < 0;
}
'''


class Box:
    def __init__(self, build):
        self.kin = os.path.join(os.path.abspath(build), 'kin')
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix='kin-debuginfod-'))
        self.caches = 0
        for name in 'here', 'served':
            os.mkdir(self.at(name))
        with open(self.at('served/work.c'), 'w') as f:
            f.write(SOURCE)
        self.tool('gcc', '-g', '-O2', '-Wl,--build-id', '-o', self.at('served/prog'), self.at('served/work.c'))
        self.tool('strip', '-o', self.at('here/prog'), self.at('served/prog'))
        notes = self.tool('readelf', '-n', self.at('served/prog')).stdout.decode()
        self.id = notes.split('Build ID: ')[1].split()[0]

    def tool(self, *words):
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, env={**os.environ, 'LC_ALL': 'C'})

    def at(self, name):
        return os.path.join(self.folder, name)

    def new_cache(self):
        self.caches += 1
        return self.at(f'cache{self.caches}')

    def run(self, *words, urls=None, cache=None, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(('DEBUGINFOD', 'XDG_'))}
        env.update(HOME=self.folder, LC_ALL='C', **more)
        if urls:
            env.update(DEBUGINFOD_URLS=urls, DEBUGINFOD_CACHE_PATH=cache or self.new_cache())
        return subprocess.run([self.kin, *words], cwd=self.at('here'), env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def done(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Debuginfod:
    """elfutils' server of one folder; ready when it has indexed the files there."""

    def __init__(self, box):
        self.url = f'http://127.0.0.1:{free_port()}'
        self.process = subprocess.Popen(
            ['debuginfod', '-F', '-p', self.url.rsplit(':', 1)[1], '-d', box.at('served.sqlite'), box.at('served')],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=box.folder,
            env={k: v for k, v in os.environ.items() if not k.startswith('DEBUGINFOD')})
        end = time.monotonic() + LIMIT
        while not self.has(f'/buildid/{box.id}/debuginfo') and time.monotonic() < end:
            time.sleep(0.1)

    def has(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def done(self):
        self.process.terminate()
        self.process.wait()


class Odd:
    """A server that answers every request with a status and some bytes, and counts the requests."""

    def __init__(self, status, body=b'', announced=None, endless=False):
        """announced: the Content-Length, if not that of the body."""
        asked = self.asked = collections.Counter()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked[self.path] += 1
                self.send_response(status)
                if not endless:
                    self.send_header('Content-Length', str(announced or len(body)))
                self.end_headers()
                self.wfile.write(body)
                try:
                    while endless:
                        self.wfile.write(bytes(1 << 20))
                except OSError:
                    pass # the client has enough

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def done(self):
        self.server.shutdown()
        self.server.server_close()


def shown(r):
    return lambda: f'status {r.returncode}\n{r.stdout.decode()[:3000]}\n{r.stderr.decode()[:1000]}'


def names_of(r):
    return {name for name in (b'work', b'mix') if b' ' + name in r.stdout}


def test_server(tap, box):
    server = Debuginfod(box)
    report = lambda *words, **how: box.run('report', '-g', 'none', *words, 'p.kin', **how)
    try:
        tap.ok(not names_of(report()), 'the program is stripped: no names', shown(report()))
        r = report(urls=server.url)
        tap.ok(names_of(r) == {b'work', b'mix'} and not r.stderr, 'its server has its names, inlined ones too', shown(r))
        r = report('--no-debuginfod', urls=server.url)
        tap.ok(not names_of(r), '--no-debuginfod: the server is not asked', shown(r))
        r = box.run('lines', 'p.kin', urls=server.url)
        tap.ok(b'work.c' in r.stdout, 'and its lines', shown(r))
        os.rename(box.at('here/prog'), box.at('here/gone'))
        r = report(urls=server.url)
        tap.ok(names_of(r) == {b'work', b'mix'} and not r.stderr, 'a program that is gone comes from there, too', shown(r))
        os.rename(box.at('here/gone'), box.at('here/prog'))
        # The server reads sources where they were when the program was built; so they go when it has sent them.
        cache = box.new_cache()
        subprocess.run(['debuginfod-find', 'source', box.id, box.at('served/work.c')], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL,
                       env={**os.environ, 'DEBUGINFOD_URLS': server.url, 'DEBUGINFOD_CACHE_PATH': cache})
        os.rename(box.at('served/work.c'), box.at('work.c'))
        r = box.run('annotate', 'work', 'p.kin', urls=server.url, cache=cache)
        tap.ok(b's += mix(s + i);' in r.stdout, 'source text comes from there, too', shown(r))
        r = box.run('pack', '-o', box.at('packed.kin'), 'p.kin', urls=server.url)
        r = box.run('report', '-g', 'none', box.at('packed.kin'))
        tap.ok(names_of(r) == {b'work', b'mix'}, 'kin pack keeps what came from there', shown(r))
        box.run('pack', '-o', box.at('whole.kin'), 'p.kin', urls=server.url, cache=cache)
        r = box.run('annotate', 'work', box.at('whole.kin'))
        tap.ok(b's += mix(s + i);' in r.stdout, 'and the sources', shown(r))
    finally:
        server.done()


def test_odd(tap, box):
    with open(box.kin, 'rb') as f:
        other = Odd(200, f.read())
    r = box.run('report', '-g', 'none', 'p.kin', urls=other.url)
    tap.ok(not names_of(r) and other.asked and not r.returncode, 'another build that a server sends is not used', shown(r))
    other.done()
    other = Odd(200, b'\x7fELF' + bytes(200))
    r = box.run('report', '-g', 'none', 'p.kin', urls=other.url)
    tap.ok(not names_of(r) and other.asked and not r.returncode, 'nor damaged files', shown(r))
    other.done()

    none = Odd(404)
    r = box.run('diff', 'p.kin', 'p.kin', urls=none.url)
    tap.ok(none.asked and max(none.asked.values()) == 1 and not r.returncode and b'debuginfod: ' not in r.stderr,
           'what a server does not have it is asked for once', lambda: f'{none.asked}\n{shown(r)()}')
    none.done()

    no_one = f'http://127.0.0.1:{free_port()}'
    short = Odd(200, b'\x7fELF', announced=1000)
    huge = Odd(200, b'\x7fELF', announced=1 << 60)
    endless = Odd(200, b'\x7fELF', endless=True)
    broken, none = Odd(500), Odd(404)
    for what, urls, why in (('refuses', no_one, b'Connection refused'), ('fails', broken.url, b'500'),
                            ('hangs up', short.url, b'bytes remaining'), ('announces too much', huge.url, b'an answer is too large'),
                            ('sends without end', endless.url, b'an answer is too large'),
                            ('is one of two and refuses', f'{no_one} {none.url}', b'connect to')):
        cache = box.new_cache()
        r = box.run('report', '-g', 'none', 'p.kin', urls=urls, cache=cache, DEBUGINFOD_RETRY_LIMIT='1')
        tap.ok(b'the servers in DEBUGINFOD_URLS could not be asked: ' in r.stderr and why in r.stderr and
               b'do not have' not in r.stderr + r.stdout, f'a server that {what} could not be asked', shown(r))
        kept = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(cache) for f in files)
        tap.ok(kept < 1 << 20, f'a server that {what}: nothing large stays', str(kept))
    r = box.run('report', '-g', 'none', 'p.kin', urls=none.url)
    tap.ok(b'as the servers in DEBUGINFOD_URLS do not have them' in r.stderr + r.stdout, 'what servers say they do not have', shown(r))
    for server in short, huge, endless, broken, none:
        server.done()

    broken = Odd(500)
    os.environ['DEBUGINFOD_RETRY_LIMIT'] = '1'
    r = box.run('report', '-g', 'none', 'p.kin', urls=broken.url)
    tap.ok(not r.returncode and max(broken.asked.values()) <= 2, 'a server that fails is asked once',
           lambda: f'{broken.asked}\n{shown(r)()}')
    broken.done()

    with socket.socket() as silent:  # takes calls, and says nothing
        silent.bind(('127.0.0.1', 0))
        silent.listen(50)
        r = box.run('report', '-g', 'none', 'p.kin', urls=f'http://127.0.0.1:{silent.getsockname()[1]}')
        tap.ok(not r.returncode and r.stderr.count(b'could not be asked: no answer in time') == 1 and r.stdout,
               'a server that does not answer is given up, once', shown(r))


def test_system(tap, box):
    """The distribution's servers are asked when that is chosen. A namespace has an /etc with a list of one."""
    odd = Odd(404)
    etc = box.at('etc')
    copy = subprocess.run(['cp', '-a', '/etc', etc], stderr=subprocess.DEVNULL)
    os.makedirs(os.path.join(etc, 'debuginfod'), exist_ok=True)
    with open(os.path.join(etc, 'debuginfod', 'one.urls'), 'w') as f:
        f.write(odd.url + '\n')
    run = ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc && exec "$@"', etc]
    if copy.returncode or subprocess.run([*run, 'true'], stderr=subprocess.DEVNULL).returncode:
        tap.skip("the distribution's servers", 'no mount namespace')
        odd.done()
        return

    def asked(*words, config='', **env):
        odd.asked.clear()
        with open(box.at('.kinconfig'), 'w') as f:
            f.write(config)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(('DEBUGINFOD', 'XDG_'))}
        done = subprocess.run([*run, box.kin, 'report', *words, 'p.kin'], cwd=box.at('here'), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT,
                              env={**kept, 'HOME': box.folder, 'DEBUGINFOD_CACHE_PATH': box.new_cache(), **env})
        return bool(odd.asked) and not done.returncode
    system = '[debuginfod]\nsystem = true\n'
    tap.ok(not asked(), "the distribution's servers are not asked by themselves")
    tap.ok(asked('--debuginfod'), '--debuginfod: they are')
    tap.ok(asked(config=system), 'debuginfod.system = true in ~/.kinconfig: they are')
    tap.ok(not asked('--no-debuginfod', config=system), '--no-debuginfod: they are not')
    tap.ok(not asked('--debuginfod', DEBUGINFOD_URLS='http://127.0.0.1:9'), 'DEBUGINFOD_URLS names others')
    os.remove(box.at('.kinconfig'))
    odd.done()


def has_library():
    try:
        ctypes.CDLL('libdebuginfod.so.1')
    except OSError:
        return False
    return True


def main():
    tap, box = Tap(), Box(sys.argv[1])
    try:
        r = box.run('run', '--no-names', '-o', 'p.kin', './prog')
        if not os.path.exists(box.at('here/p.kin')):
            tap.ok(False, 'a recording is made', shown(r))
            return tap.done()
        if shutil.which('debuginfod') and shutil.which('debuginfod-find'):
            test_server(tap, box)
        else:
            tap.skip('names, lines and sources come from a server', 'no debuginfod: apt install debuginfod')
        if has_library():
            test_odd(tap, box)
            test_system(tap, box)
        else:
            tap.skip('servers that misbehave do no harm', 'no libdebuginfod.so.1: apt install libdebuginfod1')
    finally:
        box.done()
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())

"""ClickHouse servers of a test's own, on the loopback.

    with Servers(3, folder) as shards:
        shards.url('profiles')      # http://127.0.0.1:P1,127.0.0.1:P2,127.0.0.1:P3/profiles
        shards[1].kill()
        shards[1].start()
"""
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

USER, PASSWORD = 'kin', 'a secret <&> word'

CONFIG = '''<yandex><logger><level>warning</level><log>{0}/server.log</log><errorlog>{0}/err.log</errorlog></logger>
<http_port>{1}</http_port><tcp_port>{2}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>268435456</mark_cache_size></yandex>
'''
USERS = '''<yandex><profiles><default><max_memory_usage>{0}</max_memory_usage><max_threads>2</max_threads></default></profiles>
<users><kin><password>a secret &lt;&amp;&gt; word</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></kin>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default/></quotas></yandex>
'''


def missing():
    """Why there can be no servers here; None if there can."""
    return None if shutil.which('clickhouse-server') else 'clickhouse-server is not installed'


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    def __init__(self, folder, query_bytes):
        self.folder = folder
        self.port, self.tcp = free_ports(2)
        self.process = None
        os.makedirs(os.path.join(folder, 'data'))
        os.makedirs(os.path.join(folder, 'tmp'))
        with open(os.path.join(folder, 'config.xml'), 'w') as f:
            f.write(CONFIG.format(folder, self.port, self.tcp))
        with open(os.path.join(folder, 'users.xml'), 'w') as f:
            f.write(USERS.format(query_bytes))

    def start(self):
        with open(os.path.join(self.folder, 'out'), 'ab') as out:
            self.process = subprocess.Popen(['clickhouse-server', '--config-file=' + os.path.join(self.folder, 'config.xml')],
                                            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            start_new_session=True)
        for _ in range(600):
            try:
                if self.ask('SELECT 1') == '1\n':
                    return
            except (OSError, urllib.error.URLError):
                time.sleep(0.1)
            if self.process.poll() is not None:
                break
        raise RuntimeError('the server did not start: ' + open(os.path.join(self.folder, 'out'), errors='replace').read()[-2000:])

    def kill(self, how=signal.SIGKILL):
        if self.process:
            os.kill(self.process.pid, how)
            self.process.wait()
        self.process = None

    def ask(self, sql, data=b' ', **params):
        params['query'] = sql
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}/?{urllib.parse.urlencode(params)}', data=data,
                                         headers={'X-ClickHouse-User': USER, 'X-ClickHouse-Key': PASSWORD})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.read().decode(errors='replace')


class Servers(list):
    """`query_bytes` is the memory that a query may take."""

    def __init__(self, n, folder, query_bytes=4000000000):
        super().__init__(Server(os.path.join(folder, f'shard{i}'), query_bytes) for i in range(n))

    def __enter__(self):
        for s in self:
            s.start()
        return self

    def __exit__(self, *_):
        for s in self:
            s.kill()

    def url(self, database, shards=None):
        return 'http://' + ','.join(f'127.0.0.1:{s.port}' for s in (shards or self)) + '/' + database


def environment(**more):
    """As somebody who knows the password, and nothing of this machine's user."""
    e = {k: v for k, v in os.environ.items() if not k.startswith('KIN_')}
    return {**e, 'KIN_STORE_USER': USER, 'KIN_STORE_PASSWORD': PASSWORD, **more}

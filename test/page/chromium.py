"""Drives Chromium over its debugging protocol, by a WebSocket (RFC 6455) of its own.

    with Chromium() as browser:
        page = browser.open('file:///tmp/profile.html#flame')
        page.run('document.title')
"""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')


def found():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Socket:
    def __init__(self, url):
        host, path = url[len('ws://'):].split('/', 1)
        name, port = host.split(':')
        self.to = socket.create_connection((name, int(port)), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        self.to.sendall((f'GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                         f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n').encode())
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            head += self.exactly(1)
        if b' 101 ' not in head.split(b'\r\n', 1)[0]:
            raise OSError(f'no WebSocket: {head!r}')

    def exactly(self, n):
        data = bytearray()
        while len(data) < n:
            more = self.to.recv(min(n - len(data), 1 << 20))
            if not more:
                raise OSError('the browser has closed the connection')
            data += more
        return bytes(data)

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        size = bytes([0x80 | n]) if n < 126 else b'\xfe' + struct.pack('>H', n) if n < 65536 else b'\xff' + struct.pack('>Q', n)
        pad = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(data, 'big') ^ int.from_bytes(pad, 'big')).to_bytes(n, 'big')
        self.to.sendall(b'\x81' + size + mask + masked)

    def receive(self):
        text = b''
        while True:
            first, second = self.exactly(2)
            n = second & 127
            if n == 126:
                n, = struct.unpack('>H', self.exactly(2))
            elif n == 127:
                n, = struct.unpack('>Q', self.exactly(8))
            data = self.exactly(n)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return text.decode()
            elif first & 15 == 8:
                raise OSError('the browser has closed the connection')


class Page:
    """A tab. Errors of its scripts, and violations of its policy, are in `errors`."""

    def __init__(self, url):
        self.socket, self.last, self.errors = Socket(url), 0, []
        for domain in ('Page', 'Runtime', 'Log'):
            self.ask(f'{domain}.enable')

    def ask(self, method, **params):
        self.last += 1
        self.socket.send(json.dumps({'id': self.last, 'method': method, 'params': params}))
        while True:
            told = json.loads(self.socket.receive())
            if told.get('id') == self.last:
                if 'error' in told:
                    raise RuntimeError(f'{method}: {told["error"]}')
                return told['result']
            self.note(told)

    def note(self, told):
        params = told.get('params', {})
        if told.get('method') == 'Runtime.exceptionThrown':
            details = params['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description') or details['text'])
        elif told.get('method') == 'Log.entryAdded' and params['entry']['level'] == 'error':
            self.errors.append(params['entry']['text'])

    def run(self, script):
        """The value of an expression, or of a promise."""
        done = self.ask('Runtime.evaluate', expression=script, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in done:
            details = done['exceptionDetails']
            raise RuntimeError(details.get('exception', {}).get('description') or details['text'])
        return done['result'].get('value')

    def wait(self, condition, seconds=60):
        """Until the expression is true. False if it never was."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f'!!({condition})'):
                return True
            time.sleep(.03)
        return False

    def go(self, url):
        self.ask('Page.navigate', url=url)
        return self.wait('document.readyState === "complete" && document.querySelector("#views a")')

    def size(self, width, height=900, scale=1):
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def scheme(self, name):
        self.ask('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def media(self, name):
        self.ask('Emulation.setEmulatedMedia', media=name)

    def key(self, key, modifiers=0):
        """Alt 1, Ctrl 2, Shift 8."""
        text = key if len(key) == 1 else {'Enter': '\r'}.get(key)
        event = {'key': key, 'modifiers': modifiers, 'windowsVirtualKeyCode': {'Tab': 9, 'Enter': 13, 'Escape': 27}.get(key, 0)}
        self.ask('Input.dispatchKeyEvent', type='keyDown' if text else 'rawKeyDown', **event, **({'text': text} if text else {}))
        self.ask('Input.dispatchKeyEvent', type='keyUp', **event)

    def mouse(self, kind, x, y, buttons=0, **more):
        self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left' if kind != 'mouseMoved' or buttons else 'none', buttons=buttons,
                 clickCount=0 if kind == 'mouseMoved' else 1, **more)

    def click(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, 1)
        self.mouse('mouseReleased', x, y)

    def drag(self, x1, y1, x2, y2):
        self.mouse('mouseMoved', x1, y1)
        self.mouse('mousePressed', x1, y1, 1)
        for part in (.3, .7, 1):
            self.mouse('mouseMoved', x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, 1)
        self.mouse('mouseReleased', x2, y2)

    def click_on(self, script):
        """On the middle of the element that the expression is."""
        x, y = self.run(f'(() => {{ const e = {script}; e.scrollIntoView({{ block: "center" }}); const b = e.getBoundingClientRect(); '
                        'return [b.left + b.width / 2, b.top + b.height / 2]; })()')
        self.click(x, y)

    def picture(self, path, **clip):
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.ask('Page.captureScreenshot', format='png', **({'clip': {'scale': 1, **clip}} if clip else {}))['data']))


class Chromium:
    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='kin-chromium.')
        self.process = subprocess.Popen([found(), '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
                                         '--hide-scrollbars', '--remote-debugging-port=0', f'--user-data-dir={self.folder}', 'about:blank'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path, end = os.path.join(self.folder, 'DevToolsActivePort'), time.monotonic() + 120
        while not (os.path.exists(path) and '\n' in open(path).read()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise OSError('the browser does not start')
            time.sleep(.05)
        self.port = int(open(path).read().split('\n', 1)[0])
        return self

    def __exit__(self, *what):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, url=None):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/json') as answer:
            tab = next(t for t in json.load(answer) if t['type'] == 'page')
        page = Page(tab['webSocketDebuggerUrl'])
        if url:
            page.go(url)
        return page

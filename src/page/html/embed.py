"""Makes the page's files into a C header: embed.py OUTPUT FILE...

All code is one text, page_js, in a scope of its own, without indentation and lines of comments; the
other files are texts of their names.
"""
import base64
import hashlib
import os
import sys

def text(data):
    """A C string over many lines, each below what compilers must take."""
    lines = []
    for line in data.decode('utf-8').splitlines(keepends=True):
        for at in range(0, len(line), 400):
            out = ''
            for byte in line[at:at + 400].encode():
                c = chr(byte)
                out += {'"': '\\"', '\\': '\\\\', '\n': '\\n', '?': '\\?'}.get(c) or \
                    (c if 32 <= byte < 127 else '\\%03o' % byte)
            lines.append('\t"' + out + '"')
    return '\n'.join(lines)

def read(path):
    with open(path, 'rb') as f:
        return f.read()


def code(data):
    lines = [line.strip() for line in data.splitlines()]
    return b''.join(line + b'\n' for line in lines if line and not line.startswith(b'//'))


texts = {os.path.basename(p).replace('.', '_'): read(p) for p in sys.argv[2:] if not p.endswith('.js')}
texts['page_js'] = b'"use strict";\n(function () {\n' + b''.join(code(read(p)) for p in sys.argv[2:] if p.endswith('.js')) + b'}());\n'


def digest(data):
    """By which the page's policy knows its own code and style."""
    return b'sha256-' + base64.b64encode(hashlib.sha256(data).digest())


texts['page_html'] = texts['page_html'].replace(b'@code-hash@', digest(texts['page_js'])).replace(
    b'@style-hash@', digest(texts['page_css']))
with open(sys.argv[1], 'w') as header:
    header.write('/* Made from the files of src/page/html. */\n')
    for name, data in texts.items():
        header.write('static const char %s[] =\n%s;\n' % (name, text(data)))

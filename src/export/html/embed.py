"""Makes the page's files into a C header: embed.py OUTPUT FILE..."""
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

with open(sys.argv[1], 'w') as header:
    header.write('/* Made from the files of src/export/html. */\n')
    for path in sys.argv[2:]:
        name = os.path.basename(path).replace('.', '_')
        header.write('static const char %s[] =\n%s;\n' % (name, text(open(path, 'rb').read())))

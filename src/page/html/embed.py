"""Turns the page's files into a C header: embed.py OUTPUT FILE...

All code becomes one string, page_js, in a scope of its own: without comments, without unnecessary blanks and line ends
(every statement ends with a semicolon), and with short names for what the files declare. Each other file becomes a
string with the file's name.
"""
import base64
import hashlib
import os
import re
import sys

# Tokens: a string, a template up to its end or its first expression, a regular expression ("/" after the
# characters in BEFORE_REGULAR can only begin one), a comment, blanks.
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
TEMPLATE = re.compile(r'[^`\\$]*(?:(?:\\.|\$(?!\{))[^`\\$]*)*(`|\$\{)', re.S)
REGULAR = re.compile(r'/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*')
COMMENT = re.compile(r'//[^\n]*')
BLANKS = re.compile(r'\s+')
WORD = re.compile(r'[A-Za-z_$][\w$]*')
DECLARED = re.compile(r'\b(?:function|const|let) (\w{3,})')
BEFORE_REGULAR = '(,=:[!&|?{};>\n'


def without_blanks(text):
    """The same JavaScript without blanks and comments, as a list of tokens."""
    out, at, depths = [], 0, []  # depths: open braces in each open template

    def template(at):
        found = TEMPLATE.match(text, at)
        out.append(found[0])
        if found[1] == '${':
            depths.append(0)
        return found.end()

    while at < len(text):
        c, last = text[at], out[-1][-1] if out else '\n'
        found = STRING.match(text, at) or COMMENT.match(text, at) or BLANKS.match(text, at) or WORD.match(text, at)
        if not found and c == '/' and last in BEFORE_REGULAR:
            found = REGULAR.match(text, at)
        if c == '`':
            out.append(c)
            at = template(at + 1)
        elif c == '}' and depths and not depths[-1]:
            depths.pop()
            out.append(c)
            at = template(at + 1)
        elif not found:
            if c == '}' and last == ';':
                out.pop()
            if depths:
                depths[-1] += (c == '{') - (c == '}')
            out.append(c)
            at += 1
        else:
            at = found.end()
            word = re.compile(r'[\w$]').match
            if found.re is BLANKS:
                after = text[at:at + 1]
                if (word(last) and word(after)) or (last in '+-' and after == last):
                    out.append(' ')
            elif found.re is not COMMENT:
                out.append(found[0])
    return out


def short_names(tokens, names):
    """The tokens with short forms of `names`, except names that are also used for a property."""
    uses, short = {}, {}
    for i, t in enumerate(tokens):
        if t in names:
            uses.setdefault(t, []).append((''.join(tokens[max(i - 3, 0):i]), tokens[i + 1]))
    words = set(tokens)
    free = (n for n in map('${:x}'.format, range(1 << 16)) if n not in words)
    for name in sorted(uses, key=lambda n: -len(uses[n])):
        if not any((before[-1:] == '.' and before != '...') or (before[-1:] in ('{', ',') and after in (':', ',', '}')) for before, after in uses[name]):
            short[name] = next(free)
    return [short.get(t, t) for t in tokens]


def style_without_blanks(text):
    return re.sub(r'\s*([{};])\s*|([:,])\s+|\s+', lambda m: m[1] or m[2] or ' ', text)


def text(data):
    """A C string in many lines, each shorter than the limit that compilers must support."""
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


def code_of(paths):
    sources = [read(p).decode() for p in paths]
    names = {n for text in sources for n in DECLARED.findall(text)}
    return ''.join(short_names([t for text in sources for t in without_blanks(text)], names)).encode()


texts = {os.path.basename(p).replace('.', '_'): read(p) for p in sys.argv[2:] if not p.endswith('.js')}
texts['page_js'] = b'"use strict";\n(function () {\n' + code_of([p for p in sys.argv[2:] if p.endswith('.js')]) + b'}());\n'


def digest(data):
    """The hash by which the page's content security policy permits its own code and style."""
    return b'sha256-' + base64.b64encode(hashlib.sha256(data).digest())


texts['page_css'] = style_without_blanks(texts['page_css'].decode()).encode()
texts['page_html'] = texts['page_html'].replace(b'@code-hash@', digest(texts['page_js'])).replace(
    b'@style-hash@', digest(texts['page_css']))
with open(sys.argv[1], 'w') as header:
    header.write('/* Made from the files of src/page/html. */\n')
    for name, data in texts.items():
        header.write('static const char %s[] =\n%s;\n' % (name, text(data)))

"""Turns the page's files into a C header: embed.py OUTPUT FILE...

All code becomes one string, page_js, in a scope of its own: without comments, without unnecessary blanks and line ends
(every statement ends with a semicolon), and with short names for all that the files declare. Each other file becomes a
string with the file's name.
"""
import base64
import collections
import hashlib
import itertools
import os
import re
import string
import sys

# Tokens: a string, a template up to its end or its first expression, a number, a regular expression ("/" after the
# characters in BEFORE_REGULAR can only begin one), a comment, blanks.
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
TEMPLATE = re.compile(r'[^`\\$]*(?:(?:\\.|\$(?!\{))[^`\\$]*)*(`|\$\{)', re.S)
REGULAR = re.compile(r'/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*')
COMMENT = re.compile(r'//[^\n]*')
NUMBER = re.compile(r'\d[\w.]*(?:(?<=e)[+-]\d+)?')
BLANKS = re.compile(r'\s+')
WORD = re.compile(r'[A-Za-z_$][\w$]*')
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
        found = STRING.match(text, at) or COMMENT.match(text, at) or BLANKS.match(text, at) or WORD.match(text, at) or \
            NUMBER.match(text, at)
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


BEFORE_OBJECT = set('=([,:?.|&') | {'return', 'const', 'let'}  # a brace after one of these is an object or a pattern, and no block
NEVER = {'of', 'async', 'await', 'get', 'set', 'static'}  # words of the language where it wants them
OPEN, CLOSE = ('(', '[', '{'), (')', ']', '}')
LETTERS = string.ascii_letters + '_$'


class Names:
    """The names that the code declares, and which of its words are no such names but properties."""

    def __init__(self, tokens):
        self.tokens, self.declared, self.ends = tokens, set(), {}
        self.properties, self.both = set(), set()  # numbers of tokens: "{ name: 1 }", "x.name"; "{ name }" names a property and a variable
        self.match()
        for i, t in enumerate(self.tokens):
            self.look_at(i, t)

    def match(self):
        """Finds the end of each bracket, and the properties in objects."""
        stack, at = [], self.tokens
        for i, t in enumerate(at):
            if t in OPEN or t.endswith('${'):
                stack.append((i, t == '{' and i and at[i - 1] in BEFORE_OBJECT))
            elif t in CLOSE:
                self.ends[stack.pop()[0]] = i
            elif WORD.fullmatch(t) and stack and stack[-1][1] and at[i - 1] in ('{', ','):
                (self.properties if at[i + 1] in (':', '(') else self.both).add(i)

    def look_at(self, i, t):
        at = self.tokens
        if t in ('const', 'let'):
            self.declaration(i + 1)
        elif t == 'function' and WORD.fullmatch(at[i + 1]):
            self.declared.add(at[i + 1])
        elif t == '(' and (at[self.ends[i] + 1:self.ends[i] + 3] == ['=', '>'] or at[i - 1] in ('function', 'catch') or at[i - 2] == 'function'):
            self.elements(i)
        elif WORD.fullmatch(t):
            if at[i + 1:i + 3] == ['=', '>']:
                self.declared.add(t)
            if at[i - 1] == '.' and at[i - 3:i] != ['.', '.', '.']:
                self.properties.add(i)

    def declaration(self, i):
        while True:
            i = self.after(self.pattern(i))
            if self.tokens[i] != ',':
                return
            i += 1

    def after(self, i):
        """Behind the value that a name gets, if it gets one."""
        if self.tokens[i] != '=':
            return i
        while self.tokens[i] not in (',', ';', *CLOSE):
            i = self.ends.get(i, i) + 1
        return i

    def pattern(self, i):
        at = self.tokens
        while at[i] == '.':
            i += 1
        if at[i] in OPEN:
            return self.elements(i)
        self.declared.add(at[i])
        return i + 1

    def elements(self, i):
        end, i = self.ends[i], i + 1
        while i < end:
            if self.tokens[i] == ',':
                i += 1
                continue
            if self.tokens[i + 1] == ':':
                i += 2
            i = self.after(self.pattern(i))
        return end + 1


def short_names(tokens):
    """The code with short forms of all names that it declares."""
    found = Names([t for t in tokens if t != ' '])
    is_name = lambda i, t: t in found.declared and i not in found.properties
    uses = collections.Counter(t for i, t in enumerate(found.tokens) if is_name(i, t))
    kept = NEVER.union(t for i, t in enumerate(found.tokens) if not is_name(i, t))
    short = (n for size in (1, 2, 3) for n in map(''.join, itertools.product(LETTERS, repeat=size)) if n not in kept)
    forms = {name: next(short) for name in sorted(uses.keys() - NEVER, key=lambda n: (-uses[n] * len(n), n))}
    out, i = [], 0
    for t in tokens:
        out.append(t if t == ' ' or i in found.properties else (f'{t}:' if i in found.both and t in forms else '') + forms.get(t, t))
        i += t != ' '
    return out


def joined(tokens):
    """The code with declarations that follow each other as one, and without commas before the end of a list."""
    out, statements = [], [None]  # const or let, if a statement at that depth is such a declaration
    begins = True  # a statement begins here
    for t in tokens:
        if t in CLOSE and out[-1] == ',':
            out.pop()
        if t in OPEN or t.endswith('${'):
            statements.append(None)
        elif t in CLOSE:
            statements.pop()
        if begins and t in ('const', 'let') and t == statements[-1]:
            out[-1] = ','  # the semicolon before it
        elif not (t == ' ' and out[-1] == ','):
            out.append(t)
        if begins or t == ';':
            statements[-1] = t if t in ('const', 'let') else statements[-1] if t == ';' else None
        begins = t in (';', '{') or (t == '}' and not statements[-1])  # declarations end with a semicolon
    return out


def style_without_blanks(text):
    return re.sub(r'\s*([{};])\s*|([:,])\s+|\s+', lambda m: m[1] or m[2] or ' ', text).replace(';}', '}')


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
    return ''.join(joined(short_names([t for p in paths for t in without_blanks(read(p).decode())]))).encode()


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

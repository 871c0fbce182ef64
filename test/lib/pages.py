"""The HTML page as a file: its elements, and its data (src/page/page.h).

    unpack(text)['tables']['info']['rows']
"""
import base64
import html.parser
import json
import zlib

from pprof_files import read_varint


class Document(html.parser.HTMLParser):
    """Tags, and the contents of script and style elements."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.styles, self.title = [], [], [], ''
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == 'script':
            self.scripts.append('')
        if tag == 'style':
            self.styles.append('')

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == 'script':
            self.scripts[-1] += data
        elif self.inside == 'style':
            self.styles[-1] += data
        elif self.inside == 'title':
            self.title += data


def unpack(text):
    """The data of a page: its JSON, with columns as lists of numbers."""
    raw = zlib.decompress(base64.b64decode(Document(text).scripts[0]))
    head, body = raw.split(b'\0', 1)
    data = json.loads(head)
    for key, (n, at) in data.get('columns', {}).items():
        column = []
        for _ in range(n):
            value, at = read_varint(body, at)
            column.append(value)
        data['columns'][key] = column
    return data

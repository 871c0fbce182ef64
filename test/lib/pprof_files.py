"""Files of pprof (profile.proto): written from stacks, and read as stacks."""
import gzip

SAMPLE_TYPE, SAMPLE, LOCATION, FUNCTION, STRING = 1, 2, 4, 5, 6


def varint(number):
    out = b''
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def read_varint(data, at):
    """The number there, and where the next one begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return block(field, b''.join(varint(v) for v in values))


def encode(events, locations, samples):
    """events: [(name, unit)]. locations: [[(function, file, line)]], at each the functions, outermost first, all but
    the first inlined. samples: [([index of a location, outermost first], [value per event])]."""
    strings, functions = [''], []

    def string(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    def function(name, file):
        if (name, file) not in functions:
            functions.append((name, file))
        return functions.index((name, file)) + 1

    out = b''.join(block(SAMPLE_TYPE, number(1, string(name)) + number(2, string(unit))) for name, unit in events)
    for i, calls in enumerate(locations):
        text = number(1, i + 1) + number(3, 0x1000 + 16 * i)
        for name, file, line in reversed(calls):
            text += block(4, number(1, function(name, file)) + number(2, line))
        out += block(LOCATION, text)
    for path, values in samples:
        out += block(SAMPLE, packed(1, [i + 1 for i in reversed(path)]) + packed(2, values))
    for i, (name, file) in enumerate(functions):
        out += block(FUNCTION, number(1, i + 1) + number(2, string(name)) + number(4, string(file)))
    return out + b''.join(block(STRING, text.encode()) for text in strings)


def fields(data):
    """[(field, number or bytes)]"""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def unpacked(content):
    """The numbers of a packed field, or the number of a plain field."""
    if isinstance(content, int):
        return [content]
    ret, at = [], 0
    while at < len(content):
        value, at = read_varint(content, at)
        ret.append(value)
    return ret


def decode(data):
    """{event: [([function, outermost first], value)]}"""
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    top = list(fields(data))
    strings = [v.decode() for f, v in top if f == STRING]
    events = [strings[dict(fields(v))[1]] for f, v in top if f == SAMPLE_TYPE]
    names, calls, out = {}, {}, {e: [] for e in events}
    for f, v in top:
        if f == FUNCTION:
            function = dict(fields(v))
            names[function[1]] = strings[function[2]]
    for f, v in top:
        if f == LOCATION:
            parts = list(fields(v))
            calls[dict(parts)[1]] = [names[dict(fields(line))[1]] for k, line in parts if k == 4]
    for f, v in top:
        if f != SAMPLE:
            continue
        path = [name for k, ids in fields(v) if k == 1 for i in unpacked(ids) for name in calls[i]]
        values = [x for k, all_of in fields(v) if k == 2 for x in unpacked(all_of)]
        for event, value in zip(events, values):
            out[event].append((path[::-1], value))
    return out

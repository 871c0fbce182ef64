"""libkin by ctypes: its structs, functions and errors. Only for the module kin."""
import ctypes
import glob
import os
import shutil
import tempfile
from ctypes import POINTER, Structure, Union, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p

import kin

SONAME = 'libkin.so.0'
KINDS = ('plain', 'caller', 'function', 'callee', 'cycle', 'member')
NOT_KNOWN = 0xffffffff  # value of an unknown CPU


class Error(Exception):
    """An error of libkin; its message is one line. `kind` is 'os', 'format', 'unsupported', 'mismatch' or 'usage'."""
    KINDS = ('os', 'format', 'unsupported', 'mismatch', 'usage')

    def __init__(self, message, kind):
        super().__init__(message)
        self.kind = kind


class PartialData(UserWarning):
    """A file is damaged: the profile has what could be read."""


def load():
    """Loads the library that KIN_LIBRARY names, else the one below this module's prefix, else the system's."""
    named = os.environ.get('KIN_LIBRARY')
    if named:
        return ctypes.CDLL(named)
    prefix = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
    for place in ('lib', 'lib/*', 'lib64'):
        for path in glob.glob(os.path.join(glob.escape(prefix), place, SONAME)):
            return ctypes.CDLL(path)
    return ctypes.CDLL(SONAME)


# ---- structs of kin.h, table.h and samples.h ----

def members(text):
    """Fields for a Structure from names with type letters: 'size:n executable:s lines:b'."""
    types = {'n': c_size_t, 's': c_char_p, 'b': c_bool, 'l': POINTER(c_char_p), 'd': c_double, 'p': c_void_p, 'i': c_uint32,
             'q': c_uint64, 'e': c_int}
    return [(m.split(':')[0], types[m.split(':')[1]]) for m in text.split()]


class OpenOpts(Structure):
    _fields_ = members('size:n executable:s debug_dir:s demangle:s lines:b threads:l comms:l objects:l events:l time:s gcov:l '
                       'symfs:s kallsyms:s details:b trace_fields:b branches:b branches_if_recorded:b for_writing:b '
                       'no_names:b no_inlines:b debuginfod:p cpu_state:b no_callers:b no_times:b by_function:b ranks:l '
                       'sum_ranks:b one_by_one:b with_hooks:b seen_only:b no_hooks_note:b '
                       'stacks_as_recorded:b not_sampled:b not_sampled_all:b own:e own_dirs:l foreign_dirs:l reserve_heap:b counters:b '
                       'findings:b')


class HistsOpts(Structure):
    _fields_ = members('size:n sort:s fields:s call_graph:s no_children:b latency:b inlines:b self_physical:b rules:s '
                       'hierarchy:b group:b relative:b show_samples:b show_period:b weights:b exclude_other:b parent:s '
                       'ignore_callees:s max_stack:i has_percent_limit:b percent_limit:d max_rows:n comms:s dsos:s symbols:s '
                       'symbol_filter:s pids:s tids:s cpus:s times:s parallelism:s function:s below_only:b event:n branches:b '
                       'accesses:b levels:b hide_unresolved:b nanoseconds:b time_quantum_ns:q socket:s no_kernel:b no_user:b '
                       'headed:b no_group:b no_callers:b overview:b all_rows:b first_rows:n again:p')


class ReportOpts(Structure):
    _fields_ = members('size:n columns:l sort:s subjects:l min_share:d source_dirs:l by:s hists:p with_source:b '
                       'all_lines:b intel:b of_function:b max_threads:n every_row:b to_read:b intervals:b')


class DiffOpts(Structure):
    _fields_ = members('size:n columns:l sort:s min_share:d inclusive:b shares:b all:b limited:b limit:d paired:b lines:b '
                       'by_percent:b detect:d for_page:b')


class ExportOpts(Structure):
    _fields_ = members('size:n title:s gzip:b')


class Format(Structure):
    _fields_ = members('name:s what:s endings:l is_read:b is_written:b is_recorded:b is_binary:b is_packed:b')


class Text(Structure):
    _fields_ = [('text', c_void_p), ('length', c_size_t)]


class Pair(Structure):
    _fields_ = [('a', c_uint64), ('b', c_uint64)]


class Value(Union):
    _fields_ = [('count', c_uint64), ('number', c_double), ('text', Text), ('pair', Pair)]


class Cell(Structure):
    _fields_ = [('type', c_int), ('value', Value)]


class ColumnStruct(Structure):
    _fields_ = members('key:s title:s help:s type:e tree:b hidden:b si:b change:b function:b')


class RowStruct(Structure):
    _fields_ = [('kind', c_int), ('depth', c_uint32), ('group', c_uint32), ('cells', POINTER(Cell))]


class Property(Structure):
    _fields_ = [('key', c_char_p), ('value', Cell)]


class Event(Structure):
    _fields_ = members('name:s unit:s kind:e period:q frequency:q counts_time:b')


class Thread(Structure):
    _fields_ = members('name:s pid:i tid:i run:i start_ns:q end_ns:q rank:i command:s')


class Object(Structure):
    _fields_ = members('path:s build_id:s kind:e is_main:b low:q high:q')


class Function(Structure):
    _fields_ = members('name:s linkage_name:s file:s line:i object:i address:q is_unnamed:b')


class Line(Structure):
    _fields_ = members('function:i line:i file:s is_inlined:b')


class Location(Structure):
    _fields_ = members('address:q object:i is_return:b is_kernel:b')


class Stack(Structure):
    _fields_ = members('caller:i location:i caller_is_guessed:b')


class SampleStruct(Structure):
    _fields_ = members('event:i thread:i stack:i cpu:i weight:q count:q time_ns:q is_cut:b is_guessed:b recording:i')


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fdopen.restype = LIBC.open_memstream.restype = c_void_p
LIBC.fdopen.argtypes = [c_int, c_char_p]
LIBC.open_memstream.argtypes = [c_void_p, c_void_p]
LIBC.fclose.argtypes = LIBC.free.argtypes = [c_void_p]
LIB = load()


def declare(result, names, *arguments):
    for name in names.split():
        function = getattr(LIB, 'kin_' + name)
        function.restype, function.argtypes = result, list(arguments)


declare(c_int, 'error_kind', c_void_p)
declare(c_char_p, 'error_message', c_void_p)
declare(None, 'error_free profile_free table_free samples_free table_rewind', c_void_p)
declare(c_void_p, 'profile_open', POINTER(c_char_p), c_size_t, POINTER(OpenOpts), POINTER(c_void_p))
declare(c_bool, 'profile_is_sampled', c_void_p)
declare(c_uint32, 'profile_file_mode', c_void_p)
declare(c_size_t, 'table_n_notes table_n_properties table_n_columns samples_n_stacks', c_void_p)
declare(c_char_p, 'profile_remark', c_void_p, c_int, POINTER(c_size_t))
declare(c_char_p, 'table_note_at', c_void_p, c_size_t)
declare(c_void_p, 'report', c_void_p, c_char_p, POINTER(ReportOpts), POINTER(c_void_p))
declare(c_void_p, 'diff', c_void_p, c_void_p, POINTER(DiffOpts), POINTER(c_void_p))
declare(c_char_p, 'table_name table_title', c_void_p)
declare(c_double, 'table_rate', c_void_p)
declare(POINTER(Property), 'table_property_at', c_void_p, c_size_t)
declare(POINTER(ColumnStruct), 'table_column', c_void_p, c_size_t)
declare(c_bool, 'table_next', c_void_p, POINTER(RowStruct))
declare(c_void_p, 'table_error samples_error', c_void_p)
declare(c_void_p, 'samples_new', c_void_p, POINTER(c_void_p))
declare(POINTER(SampleStruct), 'samples_next', c_void_p)
declare(POINTER(Event), 'samples_event', c_void_p, c_uint32)
declare(POINTER(Thread), 'samples_thread', c_void_p, c_uint32)
declare(POINTER(Object), 'samples_object', c_void_p, c_uint32)
declare(POINTER(Stack), 'samples_stack', c_void_p, c_uint32)
declare(POINTER(Location), 'samples_location', c_void_p, c_uint32)
declare(POINTER(Function), 'samples_function', c_void_p, c_uint32)
declare(POINTER(Line), 'samples_lines', c_void_p, c_uint32, POINTER(c_size_t))
declare(POINTER(Format), 'format_at', c_size_t)
declare(c_void_p, 'export', c_void_p, c_char_p, POINTER(ExportOpts), c_void_p)


# ---- texts, options, errors ----

def text_of(value):
    return None if value is None else value.decode('utf-8', 'surrogateescape')


def bytes_of(value):
    value = value if isinstance(value, bytes) or value is None else str(value).encode('utf-8', 'surrogateescape')
    if value and b'\0' in value:
        raise ValueError('embedded null byte')  # C would stop there
    return value


def list_of(values):
    """A NULL-terminated array."""
    if isinstance(values, (str, bytes)):
        values = [values]
    values = [bytes_of(v) for v in values]
    return (c_char_p * (len(values) + 1))(*values, None)


def options_of(struct, options):
    """A struct made from `options`; options that are not its members stay in `options`."""
    made = struct()
    made.size = ctypes.sizeof(struct)
    for name, kind in struct._fields_[1:]:
        if kind is c_void_p or options.get(name) is None:
            options.pop(name, None)
            continue
        value = options.pop(name)
        if kind is c_char_p:
            setattr(made, name, bytes_of(value))
        elif kind is POINTER(c_char_p):
            array = list_of(value)
            made.__dict__.setdefault('kept', []).append(array)
            setattr(made, name, ctypes.cast(array, kind))
        else:
            setattr(made, name, value)
    return made


def refuse(options):
    if options:
        raise TypeError('no option ' + ', '.join(sorted(options)))


def error_of(err):
    """The exception for an error, which is freed."""
    found = Error(text_of(LIB.kin_error_message(err)), Error.KINDS[LIB.kin_error_kind(err)])
    LIB.kin_error_free(err)
    return found


def check(err):
    if err:
        raise error_of(err)


def is_open(handle):
    if not handle:
        raise ValueError('the profile was closed')
    return handle


# ---- profiles ----

def open_profile(paths, options):
    """The handle, and the problem with the data: one line, or None."""
    opts, names, ret = options_of(OpenOpts, options), list_of(paths), c_void_p()
    refuse(options)
    err = LIB.kin_profile_open(names, len(paths), ctypes.byref(opts), ctypes.byref(ret))
    problem = error_of(err) if err else None
    if not ret.value:
        raise problem
    return ret.value, problem and str(problem)


def free_profile(handle):
    LIB.kin_profile_free(handle)


def is_sampled(handle):
    return LIB.kin_profile_is_sampled(is_open(handle))


WARNING, DOUBT = 1, 2  # enum kin_remark


def remarks(handle, kind):
    handle, i = is_open(handle), c_size_t(0)
    return [text_of(text) for text in iter(lambda: LIB.kin_profile_remark(handle, kind, ctypes.byref(i)), None)]


def formats():
    made = []
    while True:
        at = LIB.kin_format_at(len(made))
        if not at:
            return made
        f = at.contents
        made.append({'name': text_of(f.name), 'what': text_of(f.what), 'is_read': f.is_read, 'is_written': f.is_written})


def write(out, handle, format, title):
    """Exports to a FILE, and closes it."""
    try:
        opts = options_of(ExportOpts, {'title': title})
        err = LIB.kin_export(handle, bytes_of(format), ctypes.byref(opts), out)
    finally:
        LIBC.fclose(out)
    check(err)


def export_bytes(handle, format, title):
    handle, buffer, size = is_open(handle), c_void_p(), c_size_t()
    try:
        write(LIBC.open_memstream(ctypes.byref(buffer), ctypes.byref(size)), handle, format, title)
        return ctypes.string_at(buffer, size.value)
    finally:
        LIBC.free(buffer)


def export_file(handle, format, path, title):
    """An existing file is only overwritten once the export is complete. A new file is no more readable than the data."""
    handle = is_open(handle)
    with tempfile.TemporaryFile() as made:
        write(LIBC.fdopen(os.dup(made.fileno()), b'we'), handle, format, title)
        made.seek(0)
        mode = LIB.kin_profile_file_mode(handle)
        with open(path, 'wb', opener=lambda name, flags: os.open(name, flags, mode)) as out:
            shutil.copyfileobj(made, out)


# ---- tables ----

def report(handle, name, options):
    opts, ret = ReportOpts(), c_void_p()
    if name == 'hists':
        hists = options_of(HistsOpts, options)
        opts = options_of(ReportOpts, options)
        opts.hists = ctypes.cast(ctypes.pointer(hists), c_void_p)
    else:
        opts = options_of(ReportOpts, options)
    refuse(options)
    check(LIB.kin_report(is_open(handle), bytes_of(name), ctypes.byref(opts), ctypes.byref(ret)))
    return ret.value


def diff(before, after, options):
    opts, ret = options_of(DiffOpts, options), c_void_p()
    refuse(options)
    check(LIB.kin_diff(is_open(before), is_open(after), ctypes.byref(opts), ctypes.byref(ret)))
    return ret.value


def cell_of(cell, rate):
    """The value of a cell; the numbers are those of enum kin_cell_type."""
    v = cell.value
    if cell.type == 0:
        return None
    if cell.type == 2:
        return v.number / rate
    if cell.type in (3, 4):
        return v.number
    if cell.type == 6:
        return text_of(ctypes.string_at(v.text.text, v.text.length))
    return v.count if cell.type in (1, 5) else (v.pair.a, v.pair.b)


def read_table(handle):
    """Reads the whole table, and frees it."""
    try:
        rate = LIB.kin_table_rate(handle)
        columns = [LIB.kin_table_column(handle, i).contents for i in range(LIB.kin_table_n_columns(handle))]
        properties = [LIB.kin_table_property_at(handle, i).contents for i in range(LIB.kin_table_n_properties(handle))]
        made = kin.Table(text_of(LIB.kin_table_name(handle)), text_of(LIB.kin_table_title(handle)),
                         [kin.Column(text_of(c.key), text_of(c.title), text_of(c.help), c.hidden) for c in columns],
                         [text_of(LIB.kin_table_note_at(handle, i)) for i in range(LIB.kin_table_n_notes(handle))],
                         {text_of(p.key): cell_of(p.value, rate) for p in properties})
        keys = [c.key for c in made.columns]
        at = RowStruct()
        LIB.kin_table_rewind(handle)
        while LIB.kin_table_next(handle, ctypes.byref(at)):
            row = kin.Row((key, cell_of(at.cells[i], rate)) for i, key in enumerate(keys))
            row.kind, row.depth, row.group = KINDS[at.kind], at.depth, at.group
            made.append(row)
        problem = LIB.kin_table_error(handle)
        if problem:
            raise Error(text_of(LIB.kin_error_message(problem)), Error.KINDS[LIB.kin_error_kind(problem)])
        return made
    finally:
        LIB.kin_table_free(handle)


# ---- samples ----

class Names:
    """Frames by location, and stacks; each is made once."""

    def __init__(self, handle):
        self.handle, self.frames, self.stacks = handle, {}, {0: ()}

    def frames_at(self, location):
        if location not in self.frames:
            n = c_size_t()
            lines = LIB.kin_samples_lines(self.handle, location, ctypes.byref(n))
            at = LIB.kin_samples_location(self.handle, location).contents
            address, where = at.address, text_of(LIB.kin_samples_object(self.handle, at.object).contents.path)
            self.frames[location] = tuple(
                kin.Frame(text_of(LIB.kin_samples_function(self.handle, lines[i].function).contents.name),
                          text_of(lines[i].file), lines[i].line, where, address, lines[i].is_inlined) for i in range(n.value))
        return self.frames[location]

    def stack(self, stack):
        """The frames of a stack. Callers' stacks are made first, without recursion, because stacks may be deep."""
        todo = []
        while stack not in self.stacks:
            at = LIB.kin_samples_stack(self.handle, stack).contents
            todo.append((stack, at.location, at.caller))
            stack = at.caller
        for stack, location, caller in reversed(todo):
            self.stacks[stack] = self.frames_at(location) + self.stacks[caller]
        return self.stacks[todo[0][0] if todo else stack]


class Samples:
    """An iterator over samples."""

    def __init__(self, profile):
        ret = c_void_p()
        check(LIB.kin_samples_new(is_open(profile), ctypes.byref(ret)))
        self.handle = ret.value
        self.names, self.events, self.threads = Names(self.handle), {}, {}

    def __iter__(self):
        return self

    def __del__(self):
        if getattr(self, 'handle', None):
            LIB.kin_samples_free(self.handle)

    def event(self, event):
        if event not in self.events:
            self.events[event] = text_of(LIB.kin_samples_event(self.handle, event).contents.name)
        return self.events[event]

    def thread(self, thread):
        if thread not in self.threads:
            t = LIB.kin_samples_thread(self.handle, thread).contents
            self.threads[thread] = text_of(t.name), t.pid, t.tid
        return self.threads[thread]

    def __next__(self):
        at = LIB.kin_samples_next(self.handle)
        if not at:
            problem = LIB.kin_samples_error(self.handle)
            if problem:
                raise Error(text_of(LIB.kin_error_message(problem)), Error.KINDS[LIB.kin_error_kind(problem)])
            raise StopIteration
        s = at.contents
        return kin.Sample(self.event(s.event), *self.thread(s.thread), None if s.cpu == NOT_KNOWN else s.cpu, s.weight,
                          s.count, s.time_ns or None, s.is_cut, self.names.stack(s.stack))

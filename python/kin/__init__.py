"""Profiles: what kin recorded, or any other format that it reads.

    import kin

    with kin.open('app.kin') as profile:
        for row in profile.report('flat')[:10]:
            print(row['name'], row['self'])              # times are seconds, shares 0..1
        for sample in profile.samples():
            print(sample.weight, [frame.name for frame in sample.stack])
        profile.report('flat').to_pandas()               # if pandas is installed
        profile.export('pprof', 'app.pb.gz')

Reports are those of the commands: 'flat', 'graph', 'hists' (kin report), 'lines', 'annotate', 'asm', 'cycles',
'counts', 'latency', 'index', 'info'. kin/table.h lists the keys of their columns; Table.columns also has
their meanings. libkin reads the data, through ctypes, so no compiler is needed; its headers are the manual of the
options. Errors are raised as kin.Error.
"""
import collections
import os
import warnings

from kin import _library
from kin._library import Error, PartialData

__all__ = ['open', 'diff', 'formats', 'Profile', 'Table', 'Row', 'Column', 'Sample', 'Frame', 'Error', 'PartialData']

Column = collections.namedtuple('Column', 'key title help is_hidden')
Sample = collections.namedtuple('Sample', 'event thread pid tid cpu weight count time_ns is_cut stack')
Sample.__doc__ = """weight is in the event's unit: nanoseconds for times. cpu and time_ns are None if not known. stack is a
tuple of Frame, innermost first."""
Frame = collections.namedtuple('Frame', 'name file line object address is_inlined')
Frame.__doc__ = """A function on a stack. file, line (0: not known) and address (0: not known) are the place within it; object
is the path of its program or library."""


class Row(dict):
    """A row of a table: values by the keys of its columns. Times are seconds if the table's unit is time. Shares are
    0..1, missing values are None, "3/7" and "3+7" are pairs. `kind` is 'plain', 'caller', 'function', 'callee', 'cycle'
    or 'member'. `depth` is 0 at top level. Rows of one block have the same `group`."""
    __slots__ = ('kind', 'depth', 'group')


class Table(list):
    """A report: a list of rows, with its `name`, `title`, `notes` (sentences), `properties` (a dict) and `columns` (a
    list of Column, in order)."""

    def __init__(self, name, title, columns, notes, properties):
        super().__init__()
        self.name, self.title, self.columns, self.notes, self.properties = name, title, columns, notes, properties

    def to_pandas(self):
        """The rows as a DataFrame. ImportError: pandas is not installed."""
        import pandas
        return pandas.DataFrame.from_records(list(self), columns=[c.key for c in self.columns])


def formats():
    """The file formats, a list of dicts: name, what (a description), is_read, is_written."""
    return _library.formats()


def open(paths=(), **options):
    """Opens the profile in a file, or the sum of several; without paths the last recording in the current directory.

    Options are the members of struct kin_open_opts: executable, debug_dir, demangle, symfs, kallsyms, time, lines,
    no_inlines ..., and the lists threads, comms, objects and events, which filter the samples and calls. Of a damaged
    file the profile has what could be read, and a warning PartialData is issued."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    handle, problem = _library.open_profile([os.fspath(p) for p in paths], options)
    if problem:
        warnings.warn(problem, PartialData, stacklevel=2)
    return Profile(handle)


def diff(before, after, **options):
    """Compares two profiles: a Table of what takes more or less time in `after`. Options: struct kin_diff_opts."""
    return _library.read_table(_library.diff(before._handle, after._handle, options))


class Profile:
    """The result of kin.open(). Close it, or use `with`. Only one thread at a time may use it."""

    def __init__(self, handle):
        self._handle = handle

    def close(self):
        _library.free_profile(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, '_handle', None):
            self.close()

    @property
    def is_sampled(self):
        """Whether the profile has samples with stacks, and not only counts."""
        return _library.is_sampled(self._handle)

    @property
    def warnings(self):
        """Oddities of the data: a list of sentences."""
        return _library.remarks(self._handle, _library.WARNING)

    @property
    def doubts(self):
        """Reasons not to rely on the data: a list of sentences."""
        return _library.remarks(self._handle, _library.DOUBT)

    def report(self, name, **options):
        """Makes a report: a Table. Options: the members of struct kin_report_opts (columns, sort, subjects, min_share, by
        ...), and for 'hists' also those of struct kin_hists_opts (sort, fields, call_graph, no_children ...). Without
        `columns` the table has all columns, including those that commands hide."""
        return _library.read_table(_library.report(self._handle, name, options))

    def samples(self):
        """An iterator over the samples: Sample tuples, in the data's order. Equal stacks are the same tuple."""
        return _library.Samples(self._handle)

    def samples_to_pandas(self):
        """A DataFrame with one row per sample. Its column `stack` has the functions, outermost first, joined by
        semicolons; `function` is the innermost one."""
        import pandas
        rows = [s._asdict() | {'stack': ';'.join(f.name for f in reversed(s.stack)),
                               'function': s.stack[0].name if s.stack else None} for s in self.samples()]
        return pandas.DataFrame.from_records(rows, columns=[*Sample._fields, 'function'])

    def export(self, format, path=None, title=None):
        """Writes the profile in a format of kin.formats() to `path`; without a path returns bytes."""
        if path is None:
            return _library.export_bytes(self._handle, format, title)
        _library.export_file(self._handle, format, path, title)
        return None
